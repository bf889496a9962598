"""Several questions per row until its label is known: the supervised baseline of section 7.2.

Reals: halve the range of each output until it is within the precision, log2(range / 2 eps) questions.
Classes: a Huffman code of the present prediction, at most H(p) + 1 questions on average if it is
right.  The known label is then learnt as in full supervision.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast, final

import numpy as np

from askone._common.compiled import times
from askone._common.types import Array
from askone.errors import incompatible
from askone.learners.gradients.half_space import FullGradient
from askone.learners.gradients.subset import FullLabel
from askone.learners.repeated._base import ClassRows, Known, NumberRows, RowsState
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.sgd.surrogate import Surrogate
from askone.questions.base import Question
from askone.questions.half_space import HalfSpace, half_space
from askone.questions.reveal import Reveal
from askone.questions.subset import Subset


@final
@dataclass(frozen=True, eq=False)
class BisectedReal(NumberRows):
    """Dichotomy of each output, within its range, up to +-``precision`` in half ranges.

    A label beyond the range is taken for its end.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.number import Real
    >>> from askone.learners.models.linear import FeatureModel
    >>> model = FeatureModel(Linear(Scaler.identity(1)))
    >>> learner = BisectedReal(SGDLearner(Real(0, 64), model, FullGradient()), 1 / 64)
    >>> state, asked = learner.init(), []
    >>> while learner.wants(state, [0.0]):
    ...     asked.append(learner.ask(state, [0.0], np.empty(0)))
    ...     state = learner.tell(state, [0.0], asked[-1], asked[-1].answer(41.6))
    >>> [q.threshold for q in asked], learner.rows_known(state)
    ([32.0, 48.0, 40.0, 44.0, 42.0, 41.0], 1)
    """

    inner: SGDLearner
    precision: float = 0.05
    patient: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.inner.gradient, FullGradient):
            raise incompatible("questions", self.inner.gradient.family, "labels found by bisection", ["full"])

    @cached_property
    def nothing(self) -> Known:
        """Each output within its range: lower ends, then upper ends, in unit labels."""
        return (-1.0,) * self.space.m + (1.0,) * self.space.m

    @cached_property
    def _width(self) -> float:
        """How narrow is narrow enough: not finer than thresholds are rounded."""
        return max(2 * self.precision, 1.01 * self.grain) * (1 + 1e-9)

    def open(self, known: Known) -> bool:
        """Return whether some output is not within the precision."""
        return max(self._widths(known)) > self._width

    def _widths(self, known: Known) -> list[float]:
        m = self.space.m
        return [high - low for low, high in zip(known[:m], known[m:], strict=True)]

    def question(self, state: RowsState, row: Array, known: Known, uniform: Array) -> HalfSpace:
        """Return whether the output with the widest interval lies above its middle, as a question."""
        m, widths = self.space.m, self._widths(known)
        j = widths.index(max(widths))
        direction = [float(i == j) for i in range(m)]
        return half_space(self.space, direction, (known[j] + known[m + j]) / 2, 1.0, state.answers)

    def narrowed(self, known: Known, question: Question, bit: bool) -> Known:
        """Move one end to the threshold (which stays within the other)."""
        j, c, bit = self.told(question, bit)
        ends = list(known)
        moved, other = (j, self.space.m + j) if bit else (self.space.m + j, j)
        ends[moved] = min(max(c, ends[moved]), ends[other]) if bit else max(min(c, ends[moved]), ends[other])
        return tuple(ends)

    def learnt(self, state: RowsState, row: Array, known: Known, question: Question, bit: bool) -> SGDState:
        """Return the middle of what is left, as the label, once it is narrow."""
        if self.open(known):
            return state.inner
        m = self.space.m
        middle = self.space.from_unit([(a + b) / 2 for a, b in zip(known[:m], known[m:], strict=True)])
        return self.inner.tell(state.inner, row[0], Reveal(m), tuple(middle.tolist()))


@final
@dataclass(frozen=True, eq=False)
class BisectedClasses(ClassRows):
    """Twenty questions by a Huffman code of the present prediction; only allowed sets, if some are.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> from askone.learners.models.linear import FeatureModel
    >>> strategy = FullLabel(Classes(("cat", "lion", "caracal", "owl")))
    >>> learner = BisectedClasses(Surrogate(strategy, FeatureModel(Linear(Scaler.identity(1)))))
    >>> str(learner.ask(learner.init(), [0.0], np.empty(0)))
    'Is it one of: cat, lion?'
    """

    inner: Surrogate
    patient: ClassVar[bool] = True
    width: ClassVar[int] = 0  # nothing is drawn

    def __post_init__(self) -> None:
        if not isinstance(self.inner.strategy, FullLabel):
            raise incompatible("questions", self.inner.strategy.family, "labels found by bisection", ["full"])

    def question(self, state: RowsState, row: Array, known: Known, uniform: Array) -> Subset:
        """Return the next split of the code."""
        left = np.flatnonzero(known)
        strategy = cast(FullLabel, self.inner.strategy)
        p = strategy.working_model(self.inner.scores(state.inner, row)[0])
        allowed, most = self.space.allowed, self.space.drawn_size
        if allowed is None:
            inside = np.zeros(self.space.size)
            split = huffman_split(p[left]) if most is None else small_split(p[left], most)
            inside[[left[i] for i in split]] = 1.0
            return strategy.about(inside, learnt=state.answers)
        halves = np.abs(times(allowed.inside[:, left], p[left]) / p[left].sum() - 0.5)
        cut = allowed.inside[:, left].any(axis=1) & ~allowed.inside[:, left].all(axis=1)
        which = int(np.where(cut, halves, np.inf).argmin())
        return strategy.about(allowed.inside[which], title=allowed.titles[which], learnt=state.answers)

    def learnt(self, state: RowsState, row: Array, known: Known, question: Question, bit: bool) -> SGDState:
        """Return the label, once it is known."""
        if self.open(known):
            return state.inner
        name = self.space.names[known.index(1.0)]
        return self.inner.tell(state.inner, row[0], Reveal(1, names=self.space.names), (name,))


def huffman_split(p: Array) -> list[int]:
    """Return the branch with fewer symbols at the root of a Huffman tree (the lighter one, if they are as many).

    >>> huffman_split(np.array([0.5, 0.2, 0.2, 0.1]))
    [0]
    """
    heap: list[tuple[float, int, list[int]]] = [(float(weight), i, [i]) for i, weight in enumerate(p)]
    heapq.heapify(heap)
    while len(heap) > 2:
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (first[0] + second[0], len(p) + first[1], first[2] + second[2]))
    branches: list[list[int]] = [entry[2] for entry in heap]
    fewer: list[int] = min(branches, key=len)
    return sorted(fewer)


def small_split(p: Array, most: int) -> list[int]:
    """Return at most so many of the likeliest symbols, together as near to half of the probability as they come.

    >>> small_split(np.array([0.1, 0.3, 0.2, 0.4]), 3)
    [3]
    """
    order = np.argsort(-p, kind="stable")[: min(most, len(p) - 1)]
    mass = np.cumsum(p[order]) / p.sum()
    return sorted(order[: 1 + int(np.argmin(np.abs(mass - 0.5)))].tolist())
