"""Algorithm 1 with memory: rows come again, and nothing is asked that earlier answers imply.

What is known of a row only ever narrows.  A direction (or threshold) whose bit follows from it gives
its gradient for free; the question goes to one whose bit does not, so every answer is news.  A row that
is known altogether and comes again gives its gradient without a question (``revisit``): without that,
rows whose labels are soon known would count less than others.  So every visit of a row gives an unbiased
gradient, as without memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, cast, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone._common.validate import as_row
from askone.errors import incompatible
from askone.learners.gradients.half_space import WeakGradient
from askone.learners.gradients.subset import Sphere
from askone.learners.repeated._base import ClassRows, Known, NumberRows, RowsState
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.sgd.surrogate import Surrogate
from askone.questions.base import Question
from askone.questions.half_space import HalfSpace, half_space
from askone.questions.subset import Subset


@final
@dataclass(frozen=True, eq=False)
class RememberedReal(NumberRows):
    """One real output: an interval for each row; asked at the prediction while that lies within it.

    Where the prediction has left the interval its sign is known: the step is taken, and the middle of
    the interval is asked, to know more the next time.
    """

    inner: SGDLearner
    precision: float = 0.01
    nothing: ClassVar[Known] = (-1e6, 1e6)  # a label may lie far outside the range, in unit labels

    def __post_init__(self) -> None:
        super().__post_init__()
        gradient = self.inner.gradient
        plain = isinstance(gradient, WeakGradient) and gradient.family == "active" and gradient.width(1) == 0
        if not plain or self.space.m > 1:
            raise incompatible("loss", gradient.loss.name, "memory of one output", ["median", "quantile"])

    def open(self, known: Known) -> bool:
        """Return whether the interval is wider than the precision, and than thresholds are rounded."""
        return known[1] - known[0] > max(2 * self.precision, 2 * self.grain)

    def question(self, state: RowsState, row: Array, known: Known, uniform: Array) -> HalfSpace:
        """Return the question at the prediction, or, where the label cannot be there, in the middle of what is left."""
        low, high = known
        z = float(self.inner.iterate(state.inner, row)[0, 0])
        margin = self._margin(low, high)
        c = z if low + margin < z < high - margin else self._middle(low, high)
        return half_space(self.space, (1.0,), c, 1.0, self.inner.count(state.inner))

    def _margin(self, low: float, high: float) -> float:
        """So near to an end of the interval a rounded threshold may fall on it, or beyond."""
        return min(self.grain, (high - low) / 4)

    def _middle(self, low: float, high: float) -> float:
        """Return the middle; of a half-open interval, as far on again as the range is wide."""
        if low <= -1e6:
            return min(high - 2.0, 0.0)
        return max(low + 2.0, 0.0) if high >= 1e6 else (low + high) / 2

    def narrowed(self, known: Known, question: Question, bit: bool) -> Known:
        """Move one end to the threshold."""
        _, c, bit = self.told(question, bit)
        low, high = known
        return (min(max(low, c), high), high) if bit else (low, max(min(high, c), low))

    def learnt(self, state: RowsState, row: Array, known: Known, question: Question, bit: bool) -> SGDState:
        """Return a step at the prediction if it is known on which side of it the label lies, else at the question."""
        side = self._side(state, row, known)
        late = 0 if side is not None else self.inner.count(state.inner) - (cast(HalfSpace, question).learnt or 0)
        return self._stepped(state, row, bit if side is None else side, max(late, 0))

    def revisit(self, state: RowsState, x: ArrayLike, key: Key | None = None) -> RowsState:
        """Return the known slope once more; none where the prediction lies within what is left."""
        row = as_row(x, self.columns)
        side = self._side(state, row, self.known(state, x, key))
        return state if side is None else replace(state, inner=self._stepped(state, row, side, 0))

    def _side(self, state: RowsState, row: Array, known: Known) -> bool | None:
        """Return whether the label lies above the prediction, where that is known (up to the rounding)."""
        z, margin = float(self.inner.iterate(state.inner, row)[0, 0]), self._margin(*known)
        if z <= known[0] + margin:
            return True
        return False if z >= known[1] - margin else None

    def _stepped(self, state: RowsState, row: Array, above: bool, late: int) -> SGDState:
        yes, no = cast(WeakGradient, self.inner.gradient).values(1, np.ones(1))
        return self.inner.descend(state.inner, row, yes if above else no, late)


@final
@dataclass(frozen=True, eq=False)
class RememberedClasses(ClassRows):
    """Classes: the set of labels a row may still have; half-spaces cut that set, see ``Sphere``."""

    inner: Surrogate

    def __post_init__(self) -> None:
        if not isinstance(self.inner.strategy, Sphere):
            raise incompatible("questions", self.inner.strategy.family, "memory of sets", ["sphere"])

    @property
    def width(self) -> int:
        """As for ``Sphere``."""
        return self.inner.width

    def question(self, state: RowsState, row: Array, known: Known, uniform: Array) -> Subset:
        """Return a half-space that splits the labels which are still possible."""
        strategy, left = cast(Sphere, self.inner.strategy), np.array(known) > 0
        return strategy.ask_among(self.inner.scores(state.inner, row)[0], uniform, self.inner.count(state.inner), left)

    def learnt(self, state: RowsState, row: Array, known: Known, question: Question, bit: bool) -> SGDState:
        """Return the gradient that the question carries."""
        return self.inner.tell(state.inner, row[0], question, bit)

    def revisit(self, state: RowsState, x: ArrayLike, key: Key | None = None) -> RowsState:
        """Return the gradient at the known label."""
        row, known = as_row(x, self.columns), self.known(state, x, key)
        if self.open(known):
            return state
        z = self.inner.scores(state.inner, row)[0]
        gradient = cast(Sphere, self.inner.strategy).gradients(z)[known.index(1.0)]
        return replace(state, inner=self.inner.descend(state.inner, row, gradient))
