"""Orders of items by Thurstone's model: Gaussian utilities, filtered from comparisons, pairs chosen to tell most.

Items have utilities U(x) = W^T phi(x), W ~ N(0, tau^2 I) at the start.  Of (i, j), i is preferred with probability

    pi + (1 - 2 pi) Phi(<w, x>),     x = (e_i - e_j) (x) phi,

as only utilities relative to the noise can be known: the noise has scale 1, tau is what varies, and pi
is a probability of flips.  With N(mu, S) for w and e = +-1 for the answer, the moments of the next w are

    v = x^T S x + 1,   z = e <mu, x> / sqrt(v),   Z = pi + (1 - 2 pi) Phi(z),
    a = (1 - 2 pi) N(z) / (Z sqrt(v)),            b = a^2 + a z / sqrt(v),
    mu <- mu + e a S x,                           S <- S - b S x x^T S,

and a Gaussian with these moments stands for it (assumed-density filtering).  Several such filters, with their
own tau, pi and phi, learn from every answer; they are weighted by exp(sum of log Z), old answers counting
less and less.  From 128 answers on, filters that are far behind are out: they forecast and learn no more.
The pair comes from the filter of greatest weight: in proportion to the fourth power of what
its answer should tell, in nats.  So equal people asked at the same time are asked different things.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.compiled import dot, times
from askone._common.types import Array
from askone._common.validate import as_rows
from askone.labels.ranking import Ranking
from askone.learners.streaming import Exchange, StreamTask
from askone.learners.thurstone import _compiled
from askone.learners.thurstone.banks import PairBank
from askone.learners.thurstone.base import CHUNK, LAPSE, MANY, SMALL, Heard, PairLearner

_JOINT = 200  # so many entries of W and a filter keeps their whole covariance
_SHARP, _EXPLORE = 4.0, 0.01  # pairs are drawn by worth^4; one in a hundred is any pair
_SOON, _EVERY = 128, 64  # answers before filters are put out, and from one look to the next
_NEAR, _FAR = 40.0, 60.0  # nats behind the best of the bank, and of a bank behind the best of all, that are too many


@final
class AskedPairs(NamedTuple):
    """Questions of a stream: the places of both items, what was answered (-1: nothing), the chances of the pairs."""

    first: Array
    second: Array
    told: Array
    chances: Array

    @classmethod
    def none(cls, n: int) -> AskedPairs:
        """Return room for so many."""
        return cls(*(np.empty(n, kind) for kind in (np.int64, np.int64, np.int64, np.float64)))


@final
@dataclass(frozen=True, eq=False)
class ThurstoneState:
    """For each bank: means (filters x m x p) and factors (filters x n x n, one for all items or each); log weights.

    A factor is R of S = R^T R, with nothing above its diagonal.  The evidence of filters that are out is -inf.
    ``traits``: see ``_compiled.adapt``, filters x 4.
    """

    means: tuple[Array, ...]
    factors: tuple[tuple[Array, ...], ...]
    evidence: Array
    traits: Array
    count: int = 0


@final
@dataclass(frozen=True, eq=False)
class ThurstoneLearner(PairLearner[ThurstoneState]):
    """A bank of probit filters that chooses its pairs.  Nothing to tune.

    Where m p is at most 200, or p is 1, a filter has the covariance of all of W: an answer costs
    O((m p)^2) for each filter.  Beyond, that of each item alone, O(p^2) an answer and O(m p^2) a question.
    ``discount`` is what an answer's say in the weights keeps from one answer to the next.

    The mean is consistent where some filter's model holds; where none does, it heads for the likeliest one.  A
    filter's variances are those of its model, and too small where that is wrong.

    >>> from askone.features.maps import Intercept
    >>> drinks = Ranking(("tea", "coffee", "milk"), embedding="items")
    >>> learner = ThurstoneLearner(drinks, (PairBank(Intercept(1), (1.0, 3.0), (0.0, 0.0)),))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.1, 0.9]))
    >>> str(question), learner.chance(state, [0.0], question)
    ('Do you prefer tea or coffee?', 0.5)
    >>> state = learner.tell(state, [0.0], question, True)
    >>> drinks.decode(learner.predict(state, [[0.0]]), np.zeros((1, 1))).tolist()
    [['tea', 'milk', 'coffee']]
    """

    space: Ranking
    banks: tuple[PairBank, ...]
    discount: float = 0.999
    side: float = 0.0
    ties: bool = False

    def init(self) -> ThurstoneState:
        """Return N(0, tau^2 I) in every filter, all of one weight."""
        m = self.space.size
        means = [np.zeros((len(bank.scales), m, bank.features.size)) for bank in self.banks]
        factors = [self._prior(bank) for bank in self.banks]
        return ThurstoneState(tuple(means), tuple(factors), *self._begun())

    def _prior(self, bank: PairBank) -> tuple[Array, ...]:
        p, m = bank.features.size, self.space.size
        size, copies = (m * p, 1) if self._has_joint(bank) else (p, m)
        scales = np.array(bank.scales)[:, None, None]
        return tuple(scales * np.eye(size) for _ in range(copies))

    def _has_joint(self, bank: PairBank) -> bool:
        return bank.features.size == 1 or bank.features.size * self.space.size <= _JOINT

    @cached_property
    def _joint(self) -> tuple[bool, ...]:
        """Which banks have one factor for all items."""
        return tuple(map(self._has_joint, self.banks))

    # -- asking -----------------------------------------------------------------------------------

    def _pair(self, state: ThurstoneState, at: int, k: int, phi: Array, uniform: Array) -> tuple[int, int, float]:
        if self.space.size > MANY:
            utilities = times(state.means[at][k], phi)
            return self._drawn(utilities, lambda items: self._variances(state, at, k, phi, items), uniform)
        if self._joint[at]:
            own = state.means[at][k], state.factors[at][0][k]
            pair, chance = _compiled.draw_joint(*own, phi, self.banks[at].flips[k], _SHARP, _EXPLORE, uniform[0])
        else:
            utilities, spread = times(state.means[at][k], phi), self._spread(state, at, k, phi)
            flip = self.banks[at].flips[k]
            pair, chance = _compiled.pair_by(utilities, spread, flip, _SHARP, _EXPLORE, uniform[0])
        first, second = (int(places[pair]) for places in self.space.pairs)
        return first, second, chance

    def _worths(self, state: ThurstoneState, at: int, k: int, phi: Array) -> tuple[Array, float]:
        out = np.empty(self.space.P)
        utilities = times(state.means[at][k], phi)
        most = _compiled.worth(utilities, self._spread(state, at, k, phi), self.banks[at].flips[k], out)
        return out, most

    def _spread(self, state: ThurstoneState, at: int, k: int, phi: Array) -> Array:
        """Return the covariance of the utilities at phi, m x m."""
        out = np.zeros((self.space.size, self.space.size))
        if self._joint[at]:
            _compiled.spread_joint(state.factors[at][0][k], phi, out)
            return out
        for i, factor in enumerate(state.factors[at]):
            _compiled.spread_apart(factor[k], phi, i, out)
        return out

    def _variances(self, state: ThurstoneState, at: int, k: int, phi: Array, items: Array) -> Array:
        """Return the variances of the utilities of some items at phi."""
        factors, p = state.factors[at], len(phi)
        g = np.empty(factors[0].shape[-1])
        if self._joint[at]:
            return np.array([_compiled.roots(factors[0][k], phi, int(i) * p, g) for i in items])
        return np.array([_compiled.roots(factors[i][k], phi, 0, g) for i in items])

    # -- learning ---------------------------------------------------------------------------------

    def _copied(self, state: ThurstoneState, items: set[int]) -> ThurstoneState:
        factors = [
            tuple(f.copy() if len(part) == 1 or i in items else f for i, f in enumerate(part)) for part in state.factors
        ]
        means = tuple(mean.copy() for mean in state.means)
        evidence, traits = state.evidence.copy(), state.traits.copy()
        return replace(state, means=means, factors=tuple(factors), evidence=evidence, traits=traits)

    def _learnt(self, state: ThurstoneState, phis: list[Array], told: Heard) -> ThurstoneState:
        self._weigh(state, self._told(state, phis, told, learn=True))
        count = state.count + 1
        if count >= _SOON and count % _EVERY == 0:
            simplest = int(np.argmin([bank.features.size for bank in self.banks]))
            _compiled.thin(state.evidence, self._sizes, simplest, _NEAR, _FAR)
        return replace(state, count=count)

    def _logs(self, state: ThurstoneState, phis: list[Array], told: Heard) -> Array:
        return self._told(state, phis, told, learn=False)

    def _told(self, state: ThurstoneState, phis: list[Array], told: Heard, learn: bool) -> Array:
        """Return log Z of every filter; where they learn, in place."""
        logs, first, (i, j, *_) = np.empty(len(state.evidence)), 0, told
        _compiled.ready(state.evidence, logs)
        each = zip(self.banks, self._joint, state.means, state.factors, phis, strict=True)
        for bank, joint, means, factors, phi in each:
            part = slice(first, first + len(means))
            if joint:
                _compiled.tell_joint(means, factors[0], bank.rates, state.traits[part], phi, *told, learn, logs[part])
            else:
                pair, own = (factors[i], factors[j]), (bank.rates, state.traits[part])
                _compiled.tell_apart(means, *pair, *own, phi, *told, learn, logs[part])
            first += len(means)
        return logs

    @cached_property
    def _sizes(self) -> Array:
        """How many filters each bank has."""
        return np.array([len(bank.scales) for bank in self.banks])

    def stream(self, state: ThurstoneState, X: Array, task: StreamTask) -> ThurstoneState:
        """Ask and tell about rows: of few items in compiled code, into one copy of the state."""
        if self.space.size > MANY:
            return super().stream(state, X, task)
        means, factors = _flat(state.means), _flat(one for some in state.factors for one in some)
        evidence, traits, count = state.evidence.copy(), state.traits.copy(), state.count
        sizes = [bank.features.size for bank in self.banks]
        banks = np.column_stack([self._sizes, sizes, self._joint])
        flips = np.concatenate([bank.rates for bank in self.banks])
        rules = (_SHARP, _EXPLORE, self.discount, LAPSE, _SOON, _EVERY, _NEAR, _FAR)
        for start in range(0, len(X), CHUNK):
            rows, part = X[start : start + CHUNK], task.part(start, start + CHUNK)
            Phi = np.hstack([bank(rows) for bank in self.banks])
            uniform = np.ascontiguousarray(task.draw(part.first, len(rows)), dtype=np.float64)
            sealed, asked = task.respondent.seal_orders(part.rows, self.space), AskedPairs.none(len(rows))
            count = _compiled.stream(
                banks, means, factors, evidence, traits, flips, Phi, uniform, *sealed, self.ties, count, *asked, rules
            )
            self._say(part, asked, count)
        return self._apart(means, factors, evidence, traits, count)

    def _say(self, task: StreamTask, asked: AskedPairs, count: int) -> None:
        """Tell whoever listens what was asked and answered, the last of ``count`` answers."""
        if task.listen is None:
            return
        learnt = count - int((asked.told >= 0).sum())
        each = zip(task.rows.tolist(), *(one.tolist() for one in asked), strict=True)
        for row, first, second, told, chance in each:
            names = self.space.items[first], self.space.items[second]
            question = self._any.like(first=names[0], second=names[1], probability=chance, learnt=learnt)
            task.listen(Exchange(row, question, None if told < 0 else bool(told)))
            learnt += told >= 0

    def _apart(self, means: Array, factors: Array, evidence: Array, traits: Array, count: int) -> ThurstoneState:
        """Return the state whose means and factors follow each other in two arrays."""
        m, apart, parts, mean, factor = self.space.size, list[Array](), list[tuple[Array, ...]](), 0, 0
        for K, bank, joint in zip(self._sizes.tolist(), self.banks, self._joint, strict=True):
            p = bank.features.size
            shape = (1, K, m * p, m * p) if joint else (m, K, p, p)
            size = math.prod(shape)
            apart.append(means[mean : mean + K * m * p].reshape(K, m, p))
            parts.append(tuple(factors[factor : factor + size].reshape(shape)))
            mean, factor = mean + K * m * p, factor + size
        return ThurstoneState(tuple(apart), tuple(parts), evidence, traits, count)

    # -- what is known ----------------------------------------------------------------------------

    def predict(self, state: ThurstoneState, X: ArrayLike) -> Array:
        """Return mean utilities, in units of the noise, n x m."""
        rows = as_rows(X, self.columns)
        total = np.zeros((len(rows), self.space.size))
        for bank, means, weights in zip(self.banks, state.means, self._by_bank(state), strict=True):
            total += bank(rows) @ np.tensordot(weights, means, 1).T
        return total

    def std(self, state: ThurstoneState, X: ArrayLike) -> Array:
        """Return standard deviations of the utilities, each less the mean of all items', n x m."""
        rows, center, total = as_rows(X, self.columns), self.predict(state, X), 0.0
        center = center - center.mean(axis=1, keepdims=True)
        weights, left = self._by_bank(state), 0.0
        for at, bank in enumerate(self.banks):
            phi = bank(rows)
            for k in np.flatnonzero(weights[at] > SMALL):
                utilities = phi @ state.means[at][k].T
                away = utilities - utilities.mean(axis=1, keepdims=True) - center
                spread = np.array([self._centered(self._spread(state, at, int(k), row)) for row in phi])
                total, left = total + weights[at][k] * (spread.reshape(away.shape) + away**2), left + weights[at][k]
        return np.asarray(np.sqrt(total / left))

    def _centered(self, covariance: Array) -> Array:
        """Return variances of U_i - mean(U)."""
        return np.asarray(np.diag(covariance) - 2 * covariance.mean(axis=1) + covariance.mean())

    def _difference(
        self, state: ThurstoneState, at: int, k: int, phi: Array, i: int, j: int
    ) -> tuple[float, float, float]:
        mean, factors = state.means[at][k], state.factors[at]
        g, h = np.empty(factors[0].shape[-1]), np.empty(factors[0].shape[-1])
        if self._joint[at]:
            q, share = _compiled.gap_joint(factors[0][k], phi, i, j, g, h), 1.0
        else:
            one, other = (_compiled.roots(factors[n][k], phi, 0, g) for n in (i, j))
            q = one + other
            share = (one * one + other * other) / max(q * q, 1e-300)
        return float(dot(mean[i], phi) - dot(mean[j], phi)), float(q), float(share)

    def worth(self, state: ThurstoneState, X: ArrayLike) -> Array:
        """Return what the best pair for each row should tell the leading filter, in nats: at most log 2."""
        at, k = self._lead(state)
        phi = self.banks[at](as_rows(X, self.columns))
        return np.array([self._best(state, at, k, row) for row in phi])

    def _best(self, state: ThurstoneState, at: int, k: int, phi: Array) -> float:
        if self.space.size <= MANY:
            return self._worths(state, at, k, phi)[1]
        utilities = times(state.means[at][k], phi)
        return self._most(utilities, lambda items: self._variances(state, at, k, phi, items), self.banks[at].flips[k])

    def _draws(self, state: ThurstoneState, at: int, k: int, phi: Array, which: range) -> Array:
        utilities, m, p = times(state.means[at][k], phi), self.space.size, len(phi)
        if not self._joint[at]:
            spread = np.sqrt(self._variances(state, at, k, phi, np.arange(m)))
            return np.asarray(utilities + spread * self._normals(which, m))
        roots = np.einsum("nip,p->in", state.factors[at][0][k].reshape(m * p, m, p), phi)
        return np.asarray(utilities + self._normals(which, m * p) @ roots.T)

    def to_arrays(self, state: ThurstoneState) -> dict[str, Array]:
        arrays = {f"means-{at}": means for at, means in enumerate(state.means)}
        arrays |= {f"roots-{at}": np.stack(factors) for at, factors in enumerate(state.factors)}
        return arrays | {"evidence": state.evidence, "traits": state.traits, "count": np.array(state.count)}

    def from_arrays(self, arrays: dict[str, Array]) -> ThurstoneState:
        banks = range(len(self.banks))
        means = tuple(np.ascontiguousarray(arrays[f"means-{at}"]) for at in banks)
        factors = tuple(tuple(self._factors(arrays, at)) for at in banks)
        traits = arrays.get("traits", self._begun()[1])  # states of before had none
        return ThurstoneState(means, factors, arrays["evidence"], traits, int(arrays["count"]))

    def _factors(self, arrays: dict[str, Array], at: int) -> Array:
        """Return the factors of a bank; states of before have others, with numbers above the diagonal, too."""
        if f"roots-{at}" in arrays:
            return np.ascontiguousarray(arrays[f"roots-{at}"])
        before = np.ascontiguousarray(arrays[f"factors-{at}"])
        return np.array([[_compiled.triangular(L) for L in some] for some in before])


def _flat(arrays: Iterable[Array]) -> Array:
    """Return the numbers of arrays one after the other: a copy."""
    return np.concatenate([array.ravel() for array in arrays])
