"""The filters of one output and their arrays: with full covariances, or only their diagonals.

A bank is a value.  ``opened`` copies what is to be written into, and ``learnt`` writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from askone._common.types import Array
from askone.learners.kalman import _compiled
from askone.learners.streaming import NOBODY, Beside

Numbers = tuple[Any, ...]
MANY = 512  # rows that are seen together
CHUNK = 4096  # rows looked at in one go


@final
class Judging(NamedTuple):
    """Which answers leave the evidence as it is (empty: none), where what is predicted of rows goes (empty: nowhere).

    And who forecasts beside.
    """

    quiet: Array
    said: Array
    beside: Beside = NOBODY

    @property
    def arrays(self) -> Numbers:
        """In the order of the compiled loop."""
        return self.quiet, self.said, *self.beside.arrays

    def part(self, start: int, stop: int) -> Judging:
        """Return that of some of the answers, where nobody is beside."""
        return Judging(self.quiet[start:stop], self.said[start:stop])


ALONE = Judging(np.zeros(0, np.bool_), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Bank(ABC):
    """Answers learnt, which filters of the grid are alive, their means, and their evidence."""

    count: int
    alive: Array
    evidence: Array
    mean: Array
    _blends: dict[int, Array] = field(init=False, repr=False, default_factory=dict)
    _looks: dict[bytes, tuple[Array, Array]] = field(init=False, repr=False, default_factory=dict)
    parts: ClassVar[tuple[str, ...]]
    """The names of all arrays, with one entry for each filter."""

    @classmethod
    @abstractmethod
    def begun(cls, alive: Array, priors: Array, size: int) -> Self:
        """Return mu = 0, S = prior^2 I."""

    @abstractmethod
    def means(self) -> Array:
        """Return mu of every filter, now."""

    @abstractmethod
    def seen(self, features: Array, place: Array) -> tuple[Array, Array]:
        """Return <x, mu> and x^T S x at some rows, K x n (features: maps x n x p; place: each filter's map)."""

    @abstractmethod
    def roots(self, k: int, features: Array) -> Array:
        """Return y_i with <y_i, y_j> the covariance of filter k at rows i and j (features: n x p)."""

    @abstractmethod
    def opened(self, rows: int) -> Self:
        """Return a copy of whatever so many answers change."""

    @abstractmethod
    def learnt(
        self, features: Array, place: Array, law: Numbers, about: Numbers, asked: Numbers, judged: Judging
    ) -> Self:
        """Return the bank, written into, after at most PENDING - pending rows (see ``_compiled.advance``)."""

    @abstractmethod
    def sharpened(self, ratio: Array) -> Self:
        """Return the same with L times a number for each filter."""

    @property
    def pending(self) -> int:
        """Answers since the last multiple of PENDING."""
        return self.count % _compiled.PENDING

    @property
    def weights(self) -> Array:
        """What each filter's word counts."""
        out = np.empty(len(self.evidence))
        _compiled.weights_of(self.evidence, out)
        return out

    def blended(self, place: Array, maps: int) -> Array:
        """Return theta of each map: the filters' means, by weight (place: each filter's map).

        Computed once: a bank that has been handed out is not written into, and many are asked at one state.
        """
        if maps not in self._blends:
            theta = np.zeros((maps, self.mean.shape[1]))
            _compiled.blend(place, self.weights, self.means(), theta)
            self._blends[maps] = theta
        return self._blends[maps]

    def seen_at(self, row: Array, features: Callable[[], Array], place: Array) -> tuple[Array, Array]:
        """Return ``seen`` of one row, kept until there is another: exams want many chances at the same row."""
        key = row.tobytes()
        found = self._looks.get(key)
        if found is None:
            found = self.seen(features(), place)
            self._looks.clear()
            self._looks[key] = found
        return found  # another thread may have looked elsewhere by now

    def arrays(self) -> dict[str, Any]:
        """Return all arrays by name."""
        return {name: getattr(self, name) for name in self.parts}

    def taken(self, places: Array) -> Self:
        """Return the filters at these places."""
        chosen: dict[str, Any] = {name: np.ascontiguousarray(array[places]) for name, array in self.arrays().items()}
        return replace(self, **chosen)

    def joined(self, other: Self) -> Self:
        """These filters and those."""
        pairs = zip(self.arrays().items(), other.arrays().values(), strict=True)
        both: dict[str, Any] = {name: np.concatenate([mine, theirs]) for (name, mine), theirs in pairs}
        return replace(self, **both)


@final
@dataclass(frozen=True, eq=False)
class FullBank(Bank):
    """S = L L^T; the last few updates are kept beside L (see ``_compiled``)."""

    factor: Array
    steps: Array
    gains: Array
    moved: Array
    parts: ClassVar[tuple[str, ...]] = ("alive", "evidence", "mean", "factor", "steps", "gains", "moved")

    @classmethod
    def begun(cls, alive: Array, priors: Array, size: int) -> FullBank:
        K, B = len(alive), _compiled.PENDING
        factor = priors[:, None, None] * np.eye(size)
        zeros = np.zeros((K, B, size)), np.zeros((K, B)), np.zeros((K, size))
        return cls(0, alive, np.zeros(K), np.zeros((K, size)), factor, *zeros)

    @property
    def _compiled(self) -> Numbers:
        return self.mean, self.factor, self.steps, self.gains, self.moved

    def means(self) -> Array:
        """Return mu + L r."""
        return np.asarray(self.mean + _compiled.moved_by(self.factor, self.moved))

    def seen(self, features: Array, place: Array) -> tuple[Array, Array]:
        if features.shape[1] >= MANY:
            return self._seen_together(features, place)
        at, spread = (np.empty((len(place), features.shape[1])) for _ in "ab")
        _compiled.look(features, place, *self._compiled, self.pending, at, spread)
        return at, spread

    def _seen_together(self, features: Array, place: Array) -> tuple[Array, Array]:
        """Return the same of many rows: a product for each map, variances to seven digits, in a tenth of the time."""
        mean, factor, steps, gains, moved = (one.copy() for one in self._compiled)
        if self.pending:
            _compiled.settle(mean, factor, steps, gains, moved, self.pending)
        at, spread = (np.empty((len(place), features.shape[1])) for _ in "ab")
        for g in np.unique(place):
            which = np.flatnonzero(place == g)
            at[which] = (features[g] @ mean[which].T).T
            wide = np.ascontiguousarray(factor[which].transpose(1, 0, 2), dtype=np.float32).reshape(mean.shape[1], -1)
            Y = (features[g].astype(np.float32) @ wide).reshape(features.shape[1], len(which), -1)
            spread[which] = np.einsum("nkp,nkp->kn", Y, Y)
        return at, spread

    def roots(self, k: int, features: Array) -> Array:
        """See ``Bank.roots``: L^T x."""
        return _compiled.pulled(features, self.factor[k], self.steps[k], self.gains[k], self.pending)

    def opened(self, rows: int) -> FullBank:
        """Copy the matrices only if they are due to change."""
        due = self.pending + rows >= _compiled.PENDING
        mean, factor = (self.mean.copy(), self.factor.copy()) if due else (self.mean, self.factor)
        beside = self.steps.copy(), self.gains.copy(), self.moved.copy()
        return FullBank(self.count, self.alive, self.evidence.copy(), mean, factor, *beside)

    def learnt(
        self, features: Array, place: Array, law: Numbers, about: Numbers, asked: Numbers, judged: Judging
    ) -> FullBank:
        """See ``Bank.learnt``; L is brought up to date when enough is pending."""
        before = self.pending
        given = (features, place, *law, *self._compiled, self.evidence, before, *about, *asked)
        after = _compiled.advance(*judged.arrays, *given)
        if after == _compiled.PENDING:
            _compiled.settle(*self._compiled, after)
        return FullBank(self.count + after - before, self.alive, self.evidence, *self._compiled)

    def sharpened(self, ratio: Array) -> FullBank:
        """See ``Bank.sharpened``: of a bank without pending updates."""
        return replace(self, factor=self.factor * ratio[:, None, None])


@final
@dataclass(frozen=True, eq=False)
class DiagonalBank(Bank):
    """S = diag(deviation^2): p numbers a filter and O(p) an answer, at the price of questions.

    What features have in common is then forgotten.  Kernel features are decorrelated on their representers,
    which is why it works at all.
    """

    deviation: Array
    parts: ClassVar[tuple[str, ...]] = ("alive", "evidence", "mean", "deviation")

    @classmethod
    def begun(cls, alive: Array, priors: Array, size: int) -> DiagonalBank:
        K = len(alive)
        return cls(0, alive, np.zeros(K), np.zeros((K, size)), np.repeat(priors[:, None], size, axis=1))

    def means(self) -> Array:
        return self.mean

    def seen(self, features: Array, place: Array) -> tuple[Array, Array]:
        at, spread = (np.empty((len(place), features.shape[1])) for _ in "ab")
        _compiled.look_diagonal(features, place, self.mean, self.deviation, at, spread)
        return at, spread

    def roots(self, k: int, features: Array) -> Array:
        return np.asarray(features * self.deviation[k])

    def opened(self, rows: int) -> DiagonalBank:
        return replace(self, **{name: array.copy() for name, array in self.arrays().items()})

    def learnt(
        self, features: Array, place: Array, law: Numbers, about: Numbers, asked: Numbers, judged: Judging
    ) -> DiagonalBank:
        """See ``Bank.learnt``; answers that are judged come one by one."""
        before = self.evidence.copy()
        arrays = self.mean, self.deviation, self.evidence
        more = _compiled.advance_diagonal(features, place, *law, *arrays, *about, *asked)
        quiet = len(judged.quiet) > 0 and judged.quiet.all()
        return replace(self, count=self.count + more, evidence=before if quiet else self.evidence)

    def sharpened(self, ratio: Array) -> DiagonalBank:
        return replace(self, deviation=self.deviation * ratio[:, None])
