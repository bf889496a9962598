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
less and less.  The pair comes from the filter of greatest weight: in proportion to the fourth power of what
its answer should tell, in nats.  So equal people asked at the same time are asked different things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from askone._common.arithmetic import exps, softmax
from askone._common.arithmetic import logs as all_logs
from askone._common.compiled import dot, times
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import InvalidArgument, incompatible
from askone.features.maps import FeatureMap
from askone.labels.ranking import Ranking
from askone.learners.abilities import HasDeviation, Hindsight, Streams, tell_many
from askone.learners.base import as_uniform, of_family
from askone.learners.cavity import without
from askone.learners.streaming import StreamTask
from askone.learners.thurstone import _compiled
from askone.questions.base import HONEST, Answer, ErrorRates, Question
from askone.questions.comparison import Prefer

_JOINT = 200  # so many entries of W and a filter keeps their whole covariance
_SHARP, _EXPLORE = 4.0, 0.01  # pairs are drawn by worth^4; one in a hundred is any pair
_LAPSE = 0.01  # no answer counts for more than log(100) against a filter
_LARGEST = 1e6  # entries of phi: a row far out of all proportion is brought back
_SMALL = 1e-3  # filters of less weight do not enter the spread of predictions
_CHUNK = 256
_FEW = 40  # features: with more, fewer filters


@final
@dataclass(frozen=True, eq=False)
class PairBank:
    """Filters with one feature map: for each, tau and pi."""

    features: FeatureMap
    scales: tuple[float, ...]
    flips: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.features, FeatureMap):
            raise InvalidArgument("features", "a FeatureMap", type(self.features).__name__)
        object.__setattr__(self, "scales", tuple(as_number(s, "scales", 0.0, strict=True) for s in self.scales))
        object.__setattr__(self, "flips", tuple(as_number(f, "flips", 0.0, 0.49) for f in self.flips))
        if not self.scales or len(self.scales) != len(self.flips):
            raise InvalidArgument("flips", f"{len(self.scales)} numbers, one for each of the scales", self.flips)

    @cached_property
    def rates(self) -> Array:
        """The flips as an array."""
        return np.array(self.flips)

    def __call__(self, rows: Array) -> Array:
        """Return phi(x_i), n x p."""
        phi = self.features(rows)
        largest = np.abs(phi).max(axis=1, keepdims=True, initial=0.0)
        return phi if largest.max(initial=0.0) <= _LARGEST else phi * (_LARGEST / np.maximum(largest, _LARGEST))


@final
@dataclass(frozen=True, eq=False)
class ThurstoneState:
    """For each bank: means (filters x m x p) and factors (filters x n x n, one for all items or each); log weights."""

    means: tuple[Array, ...]
    factors: tuple[tuple[Array, ...], ...]
    evidence: Array
    count: int = 0


@final
@dataclass(frozen=True, eq=False)
class ThurstoneLearner(HasDeviation[ThurstoneState], Hindsight[ThurstoneState], Streams[ThurstoneState]):
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
    width: ClassVar[int] = 2  # which pair, and which of the two comes first

    def __post_init__(self) -> None:
        if not isinstance(self.space, Ranking):
            raise InvalidArgument("space", "a Ranking", type(self.space).__name__)
        if self.space.embedding != "items":
            raise incompatible("embedding", self.space.embedding, "Thurstone's model", ["items"])
        object.__setattr__(self, "banks", tuple(self.banks))
        if not self.banks or not all(isinstance(bank, PairBank) for bank in self.banks):
            raise InvalidArgument("banks", "one or more of PairBank", self.banks)
        if len({bank.features.columns for bank in self.banks}) > 1:
            raise InvalidArgument("banks", "of feature maps for the same rows", "rows of different widths")
        as_number(self.discount, "discount", 0.0, 1.0)

    @property
    def columns(self) -> int:
        return self.banks[0].features.columns

    def init(self) -> ThurstoneState:
        """Return N(0, tau^2 I) in every filter, all of one weight."""
        m = self.space.size
        means = [np.zeros((len(bank.scales), m, bank.features.size)) for bank in self.banks]
        factors = [self._prior(bank) for bank in self.banks]
        return ThurstoneState(tuple(means), tuple(factors), np.zeros(sum(len(bank.scales) for bank in self.banks)))

    def _prior(self, bank: PairBank) -> tuple[Array, ...]:
        p, m = bank.features.size, self.space.size
        size, copies = (m * p, 1) if self._joint(bank) else (p, m)
        scales = np.array(bank.scales)[:, None, None]
        return tuple(scales * np.eye(size) for _ in range(copies))

    def _joint(self, bank: PairBank) -> bool:
        return bank.features.size == 1 or bank.features.size * self.space.size <= _JOINT

    # -- asking -----------------------------------------------------------------------------------

    def ask(self, state: ThurstoneState, x: ArrayLike, uniform: Array) -> Prefer:
        """Return the pair that should tell most, or another nearly as good."""
        at, k = self._lead(state)
        return self._question(state, at, k, self.banks[at](as_row(x, self.columns))[0], uniform)

    def _lead(self, state: ThurstoneState) -> tuple[int, int]:
        """Return the filter of greatest weight: its bank, and its place there."""
        at, k = 0, int(state.evidence.argmax())
        while k >= len(self.banks[at].scales):
            at, k = at + 1, k - len(self.banks[at].scales)
        return at, k

    def _question(self, state: ThurstoneState, at: int, k: int, phi: Array, uniform: Array) -> Prefer:
        uniform = as_uniform(uniform, self.width)
        worths, most = self._worths(state, at, k, phi)
        pair, chance = _compiled.draw(worths, most, _SHARP, _EXPLORE, uniform[0])
        first, second = (int(places[pair]) for places in self.space.pairs)
        if uniform[1] < 0.5:
            first, second = second, first
        names = self.space.items[first], self.space.items[second]
        return Prefer(*names, probability=min(chance, 1.0), learnt=state.count, wording=self.space.wording)

    def _worths(self, state: ThurstoneState, at: int, k: int, phi: Array) -> tuple[Array, float]:
        out = np.empty(self.space.P)
        utilities = times(state.means[at][k], phi)
        most = _compiled.worth(utilities, self._spread(state, at, k, phi), self.banks[at].flips[k], out)
        return out, most

    def _spread(self, state: ThurstoneState, at: int, k: int, phi: Array) -> Array:
        """Return the covariance of the utilities at phi, m x m."""
        out = np.zeros((self.space.size, self.space.size))
        if self._joint(self.banks[at]):
            _compiled.spread_joint(state.factors[at][0][k], phi, out)
            return out
        for i, factor in enumerate(state.factors[at]):
            _compiled.spread_apart(factor[k], phi, i, out)
        return out

    # -- learning ---------------------------------------------------------------------------------

    def tell(self, state: ThurstoneState, x: ArrayLike, question: Question, answer: Answer) -> ThurstoneState:
        """Return one step of every filter; whoever asked, and whenever."""
        i, j = self._places(question)
        bit, row = bool(question.accept(answer)), as_row(x, self.columns)
        phis = [bank(row)[0] for bank in self.banks]
        return self._learnt(self._copied(state, {i, j}), phis, i, j, bit, question.slips)

    def _places(self, question: Question) -> tuple[int, int]:
        question = of_family(question, Prefer)
        return self.space.index(question.first, "question"), self.space.index(question.second, "question")

    def _copied(self, state: ThurstoneState, items: set[int]) -> ThurstoneState:
        """Return a state that may be written to where these items are concerned."""
        factors = [
            tuple(f.copy() if len(part) == 1 or i in items else f for i, f in enumerate(part)) for part in state.factors
        ]
        means = tuple(mean.copy() for mean in state.means)
        return replace(state, means=means, factors=tuple(factors), evidence=state.evidence.copy())

    def _learnt(
        self, state: ThurstoneState, phis: list[Array], i: int, j: int, bit: bool, slips: ErrorRates = HONEST
    ) -> ThurstoneState:
        """Write into the arrays of a state that was copied for it."""
        logs = self._logs(state, phis, i, j, bit, slips, learn=True)
        state.evidence[:] = self.discount * state.evidence + all_logs((1 - 2 * _LAPSE) * exps(logs) + _LAPSE)
        return replace(state, count=state.count + 1)

    def _logs(
        self, state: ThurstoneState, phis: list[Array], i: int, j: int, bit: bool, slips: ErrorRates, learn: bool
    ) -> Array:
        """Return log Z of every filter; where they learn, in place."""
        logs, first, heard = np.empty(len(state.evidence)), 0, (bit, slips.floor(bit), slips.trust)
        for bank, means, factors, phi in zip(self.banks, state.means, state.factors, phis, strict=True):
            out = logs[first : first + len(means)]
            if self._joint(bank):
                _compiled.tell_joint(means, factors[0], bank.rates, phi, i, j, *heard, learn, out)
            else:
                _compiled.tell_apart(means, factors[i], factors[j], bank.rates, phi, i, j, *heard, learn, out)
            first += len(means)
        return logs

    def stream(self, state: ThurstoneState, X: Array, task: StreamTask) -> ThurstoneState:
        """Ask and tell about rows X, into one copy of the state."""
        state = self._copied(state, set(range(self.space.size)))
        for start in range(0, len(X), _CHUNK):
            features = [bank(X[start : start + _CHUNK]) for bank in self.banks]
            for n in range(start, min(start + _CHUNK, len(X))):
                phis = [phi[n - start] for phi in features]
                state = self._exchanged(state, phis, n, task)
        return state

    def _exchanged(self, state: ThurstoneState, phis: list[Array], n: int, task: StreamTask) -> ThurstoneState:
        at, k = self._lead(state)
        question = self._question(state, at, k, phis[at], task.draw(task.first + n, 1)[0])
        answer = task.answer(n, question)
        return state if answer is None else self._learnt(state, phis, *self._places(question), bool(answer))

    # -- what is known ----------------------------------------------------------------------------

    def weights(self, state: ThurstoneState) -> Array:
        """Return how much each filter counts; they sum to 1."""
        return np.asarray(softmax(state.evidence))

    def _by_bank(self, state: ThurstoneState) -> list[Array]:
        ends = np.cumsum([len(bank.scales) for bank in self.banks])[:-1]
        return list(np.split(self.weights(state), ends))

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
            for k in np.flatnonzero(weights[at] > _SMALL):
                utilities = phi @ state.means[at][k].T
                away = utilities - utilities.mean(axis=1, keepdims=True) - center
                spread = np.array([self._centered(self._spread(state, at, int(k), row)) for row in phi])
                total, left = total + weights[at][k] * (spread.reshape(away.shape) + away**2), left + weights[at][k]
        return np.asarray(np.sqrt(total / left))

    def _centered(self, covariance: Array) -> Array:
        """Return variances of U_i - mean(U)."""
        return np.asarray(np.diag(covariance) - 2 * covariance.mean(axis=1) + covariance.mean())

    def chance(self, state: ThurstoneState, x: ArrayLike, question: Question) -> float:
        """Return p(first), by all filters with their weights."""
        i, j = self._places(question)
        row = as_row(x, self.columns)
        logs = self._logs(state, [bank(row)[0] for bank in self.banks], i, j, True, question.slips, learn=False)
        return min(max(float(dot(self.weights(state), exps(logs))), 0.0), 1.0)

    def hindsight(
        self, state: ThurstoneState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """See ``Hindsight.hindsight``: by the leading filter, each comparison without its answer."""
        at, k = self._lead(state)
        phis, flip = self.banks[at](as_rows(X, self.columns)), self.banks[at].flips[k]
        told = np.array(
            [
                (*self._difference(state, at, k, phi, *self._places(one)), one.slips.floor(bit), one.slips.trust)
                for phi, one, bit in zip(phis, questions, answers, strict=True)
            ]
        )
        delta, q, share, floor, trust = told.T
        e = np.where(np.asarray(answers), 1.0, -1.0)
        m_c, q_c = without(delta, q, 1.0, 0.0, e, flip + (1.0 - 2.0 * flip) * floor, trust * (1.0 - 2.0 * flip), share)
        return np.asarray(ndtr(m_c / np.sqrt(q_c + 1.0)))

    def relearnt(
        self, state: ThurstoneState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> ThurstoneState:
        again: ThurstoneState = tell_many(self, self.init(), X, questions, answers)
        return again

    def _difference(
        self, state: ThurstoneState, at: int, k: int, phi: Array, i: int, j: int
    ) -> tuple[float, float, float]:
        """Return mean and variance q of the difference of two utilities, by one filter, and its share (``without``).

        Of two items apart, q = q_i + q_j becomes q - b (q_i^2 + q_j^2) with an answer.
        """
        mean, factors = state.means[at][k], state.factors[at]
        g, h = np.empty(factors[0].shape[-1]), np.empty(factors[0].shape[-1])
        if self._joint(self.banks[at]):
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
        return np.array([self._worths(state, at, k, row)[1] for row in phi])

    def to_arrays(self, state: ThurstoneState) -> dict[str, Array]:
        arrays = {f"means-{at}": means for at, means in enumerate(state.means)}
        arrays |= {f"factors-{at}": np.stack(factors) for at, factors in enumerate(state.factors)}
        return arrays | {"evidence": state.evidence, "count": np.array(state.count)}

    def from_arrays(self, arrays: dict[str, Array]) -> ThurstoneState:
        banks = range(len(self.banks))
        means = tuple(np.ascontiguousarray(arrays[f"means-{at}"]) for at in banks)
        factors = tuple(tuple(np.ascontiguousarray(arrays[f"factors-{at}"])) for at in banks)
        return ThurstoneState(means, factors, arrays["evidence"], int(arrays["count"]))


def default_bank(features: FeatureMap, flip: float = 0.0) -> PairBank:
    """Return the filters that suit nearly anything: noise of a tenth to three times utilities' spread; odd answers.

    For many features fewer of them, as each costs p^2 an answer.  ``flip`` is what is known of flips; more of them are
    thought possible.

    >>> from askone.features.maps import Intercept
    >>> default_bank(Intercept(1), 0.2).flips
    (0.2, 0.2, 0.2, 0.2, 0.2, 0.25, 0.25)
    """
    few = features.size > _FEW
    scales = (1.0, 3.0, 10.0) if few else (1.0, 3.0, 0.3, 10.0, 30.0)
    grid = [(scale, flip) for scale in scales]
    grid += [(scale, rate) for rate in (0.1, 0.25) if rate > flip for scale in ((3.0,) if few else (3.0, 10.0))]
    return PairBank(features, tuple(s for s, _ in grid), tuple(f for _, f in grid))
