"""What the learners of Thurstone's model share: a bank of filters, questions about pairs, forecasts of answers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from askone._common import random_table
from askone._common.arithmetic import exps, normal_quantiles, softmax
from askone._common.compiled import dot
from askone._common.types import Array
from askone._common.validate import as_flag, as_number, as_row, as_rows
from askone.errors import InvalidArgument, incompatible
from askone.labels.ranking import Ranking
from askone.learners.abilities import DrawsScores, HasDeviation, Hindsight, Streams, tell_many
from askone.learners.base import as_uniform
from askone.learners.cavity import without
from askone.learners.streaming import StreamTask
from askone.learners.thurstone import _compiled
from askone.learners.thurstone._candidates import CANDIDATES, candidates, draw_candidate, gains
from askone.learners.thurstone.banks import PairBank
from askone.questions.base import Answer, Question
from askone.questions.comparison import Prefer, PreferOrTie

MANY = 200  # items: with more, pairs are candidates, since m^2 of them take too long to look at
LAPSE = 0.01  # no answer counts for more than log(100) against a filter
SMALL = 1e-3  # filters of less weight do not enter the spread of predictions
CHUNK = 256
_MARGIN = math.log(0.5)  # of "about equal", at first, with a deviation of 1: in units of the noise


@final
class Heard(NamedTuple):
    """An answer as filters take it: its items, 1 for the first, -1 for the second or 0 for neither, and from whom."""

    first: int
    second: int
    heard: float
    ties: bool
    floor: float
    trust: float


class PairState(Protocol):
    """What all states have: log weights, side and margin of each filter, and how many answers there were."""

    @property
    def evidence(self) -> Array: ...
    @property
    def traits(self) -> Array: ...
    @property
    def count(self) -> int: ...


T = TypeVar("T", bound=PairState)
Variances = Callable[[Array], Array]
"""The variances of the utilities of some items."""


class PairLearner(HasDeviation[T], Hindsight[T], Streams[T], DrawsScores[T]):
    """A bank of filters that chooses pairs of items.  See ``ThurstoneLearner`` and ``ManyItemsLearner``."""

    space: Ranking
    banks: tuple[PairBank, ...]
    discount: float
    side: float
    ties: bool

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
        as_number(self.side, "side", 0.0)
        as_flag(self.ties, "ties")

    @property
    def columns(self) -> int:
        return self.banks[0].features.columns

    @property
    def width(self) -> int:
        """Which candidates, which pair of them, and which of the two comes first; of few items all are candidates."""
        return 4 if self.space.size > MANY else 2

    def _begun(self) -> tuple[Array, Array]:
        """Return evidence and traits before any answer: no side effect, N(0, side^2)."""
        K = sum(len(bank.scales) for bank in self.banks)
        precision = math.inf if self.side == 0.0 else self.side**-2
        return np.zeros(K), np.tile([0.0, precision, _MARGIN, 1.0], (K, 1))

    # -- asking -----------------------------------------------------------------------------------

    def ask(self, state: T, x: ArrayLike, uniform: Array) -> Prefer | PreferOrTie:
        """Return the pair that should tell most, or another nearly as good."""
        at, k = self._lead(state)
        return self._question(state, at, k, self.banks[at](as_row(x, self.columns))[0], uniform)

    def _lead(self, state: T) -> tuple[int, int]:
        """Return the filter of greatest weight: its bank, and its place there."""
        at, k = 0, int(state.evidence.argmax())
        while k >= len(self.banks[at].scales):
            at, k = at + 1, k - len(self.banks[at].scales)
        return at, k

    def _question(self, state: T, at: int, k: int, phi: Array, uniform: Array) -> Prefer | PreferOrTie:
        uniform = as_uniform(uniform, self.width)
        first, second, chance = self._pair(state, at, k, phi, uniform)
        if uniform[-1] < 0.5:
            first, second = second, first
        names = self.space.items[first], self.space.items[second]
        return self._any.like(first=names[0], second=names[1], probability=min(chance, 1.0), learnt=state.count)

    @cached_property
    def _any(self) -> Prefer | PreferOrTie:
        """A question as this learner asks them, checked once."""
        family, (one, other) = PreferOrTie if self.ties else Prefer, self.space.items[:2]
        return family(one, other, wording=self.space.wording)

    @abstractmethod
    def _pair(self, state: T, at: int, k: int, phi: Array, uniform: Array) -> tuple[int, int, float]:
        """Return the items of a pair, and its probability, by a filter."""

    def _near(self, utilities: Array, uniform: Array) -> tuple[Array, Array, Array, Array]:
        """Return the order, candidates, and how often each is expected among them."""
        lot = self.space.scrambled  # among equals: how items are listed may tell how near they are
        order = lot[np.argsort(-utilities[lot], kind="stable")]
        first, second, often = (np.empty(CANDIDATES, kind) for kind in (np.int64, np.int64, np.float64))
        candidates(order, uniform[0], uniform[1], first, second, often)
        return order, first, second, often

    def _drawn(self, utilities: Array, variances: Variances, uniform: Array) -> tuple[int, int, float]:
        """Return a pair of many items, and its probability."""
        order, first, second, often = self._near(utilities, uniform)
        gain = np.empty(CANDIDATES)
        gains(order, utilities, self._known(variances, first, second), first, second, gain)
        c, chance = draw_candidate(gain, often, uniform[2])
        return int(first[c]), int(second[c]), chance

    def _most(self, utilities: Array, variances: Variances, flip: float) -> float:
        """Return what the best of some candidates should tell, in nats."""
        _, first, second, _ = self._near(utilities, np.full(2, 0.5))
        return _compiled.most_worth(utilities, self._known(variances, first, second), first, second, flip)

    def _known(self, variances: Variances, first: Array, second: Array) -> Array:
        """Return the variances of candidates, in their places."""
        items, known = np.union1d(first, second), np.zeros(self.space.size)
        known[items] = variances(items)
        return known

    # -- learning ---------------------------------------------------------------------------------

    def tell(self, state: T, x: ArrayLike, question: Question, answer: Answer) -> T:
        """Return one step of every filter; whoever asked, and whenever."""
        told, row = self._heard(question, question.accept(answer)), as_row(x, self.columns)
        return self._learnt(self._copied(state, {told.first, told.second}), self._phis(row), told)

    def _heard(self, question: Question, answer: Answer) -> Heard:
        first, second = self._places(question)
        ties, slips = isinstance(question, PreferOrTie), question.slips
        if isinstance(answer, tuple):
            return Heard(first, second, 0.0, ties, 0.0, slips.trust)
        return Heard(first, second, 1.0 if answer else -1.0, ties, slips.floor(bool(answer)), slips.trust)

    def _places(self, question: Question) -> tuple[int, int]:
        if not isinstance(question, Prefer | PreferOrTie):
            raise InvalidArgument("question", "a Prefer", type(question).__name__)
        return self.space.index(question.first, "question"), self.space.index(question.second, "question")

    def _phis(self, row: Array) -> list[Array]:
        return [bank(row)[0] for bank in self.banks]

    @abstractmethod
    def _copied(self, state: T, items: set[int]) -> T:
        """Return a state that may be written to where these items are concerned."""

    @abstractmethod
    def _learnt(self, state: T, phis: list[Array], told: Heard) -> T:
        """Write into the arrays of a state that was copied for it."""

    @abstractmethod
    def _logs(self, state: T, phis: list[Array], told: Heard) -> Array:
        """Return log Z of every filter."""

    def _weigh(self, state: T, logs: Array) -> None:
        """Write the evidence after an answer with these log Z."""
        _compiled.weigh(state.evidence, logs, self.discount, LAPSE)

    def stream(self, state: T, X: Array, task: StreamTask) -> T:
        """Ask and tell about rows X, into one copy of the state."""
        state = self._copied(state, set(range(self.space.size)))
        for start in range(0, len(X), CHUNK):
            features = [bank(X[start : start + CHUNK]) for bank in self.banks]
            for n in range(start, min(start + CHUNK, len(X))):
                phis = [phi[n - start] for phi in features]
                at, k = self._lead(state)
                question = self._question(state, at, k, phis[at], task.draw(task.first + n, 1)[0])
                answer = task.answer(n, question)
                if answer is not None:
                    state = self._learnt(state, phis, self._heard(question, answer))
        return state

    # -- what is known ----------------------------------------------------------------------------

    def weights(self, state: T) -> Array:
        """Return how much each filter counts; they sum to 1."""
        return np.asarray(softmax(state.evidence))

    def _by_bank(self, state: T) -> list[Array]:
        ends = np.cumsum([len(bank.scales) for bank in self.banks])[:-1]
        return list(np.split(self.weights(state), ends))

    def chance(self, state: T, x: ArrayLike, question: Question) -> float:
        """Return p(first), by all filters with their weights."""
        return self._said(state, x, question, True)

    def _said(self, state: T, x: ArrayLike, question: Question, answer: Answer) -> float:
        """Return the chance of an answer."""
        logs = self._logs(state, self._phis(as_row(x, self.columns)), self._heard(question, answer))
        return min(max(float(dot(self.weights(state), exps(logs))), 0.0), 1.0)

    def learnt_and_said(self, state: T, x: ArrayLike, question: Question, answer: Answer) -> tuple[float, T]:
        return self._said(state, x, question, question.accept(answer)), self.tell(state, x, question, answer)

    def hindsight(self, state: T, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]) -> Array | None:
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
        slips = flip + (1.0 - 2.0 * flip) * floor, trust * (1.0 - 2.0 * flip)
        side = state.traits[int(state.evidence.argmax()), 0]  # no part of what is honest
        m_c, q_c = without(delta, q, 1.0, np.where(trust == 1.0, -side, 0.0), e, *slips, share)
        return np.asarray(ndtr(m_c / np.sqrt(q_c + 1.0)))

    @abstractmethod
    def _difference(self, state: T, at: int, k: int, phi: Array, i: int, j: int) -> tuple[float, float, float]:
        """Return mean and variance q of the difference of two utilities, by one filter, and its share (``without``).

        Of two items apart, q = q_i + q_j becomes q - b (q_i^2 + q_j^2) with an answer.
        """

    def relearnt(self, state: T, X: Array, questions: Sequence[Question], answers: Sequence[bool]) -> T:
        again: T = tell_many(self, self.init(), X, questions, answers)
        return again

    def score_draws(self, state: T, X: ArrayLike, count: int) -> Array:
        """Return utilities drawn from the filters, in proportion to their weights: count x n x m."""
        rows, weights = as_rows(X, self.columns), self.weights(state)
        ends = np.round(np.cumsum(weights) * count).astype(np.int64)
        drawn, k = np.empty((count, len(rows), self.space.size)), 0
        for at, bank in enumerate(self.banks):
            phi = bank(rows)
            for place in range(len(bank.scales)):
                some = range(ends[k - 1] if k else 0, ends[k])
                for n, row in enumerate(phi if len(some) else ()):
                    drawn[some.start : some.stop, n] = self._draws(state, at, place, row, some)
                k += 1
        return drawn

    @abstractmethod
    def _draws(self, state: T, at: int, k: int, phi: Array, which: range) -> Array:
        """Return some draws of the utilities at phi from one filter."""

    def _normals(self, which: range, width: int) -> Array:
        """Return rows of a table of normal numbers, the same whenever they are asked for."""
        table = random_table.uniforms(0, which.start, len(which), width, random_table.INTERVAL)
        return np.asarray(normal_quantiles(table.ravel())).reshape(len(which), width)
