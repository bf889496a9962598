"""Prediction intervals from yes/no answers: three banks of filters, for the median and two quantiles.

Questions at the median say nothing of how far labels spread.  So half of the questions are at the
median, and a quarter each at the quantiles tau = (1 - level)/2 and 1 - tau; each answer is learnt by the
bank that asked.  An end of the interval is where the filters' forecast of a label has that quantile
(``FilterLearner.forecast``): for one filter, with mu the mean of the quantile and q its variance under noise s,

    mu + Phi^-1(tau) (sqrt(1.4 q + s^2) - s),

which is wider while little is known and mu in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, cast, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import normal_quantile
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import IncompatibleParts
from askone.labels.number import Real
from askone.learners import abilities
from askone.learners.base import marked, of_family, unmarked
from askone.learners.kalman._state import BankState
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace

_PURPOSES = ("", "lower", "upper")
_SHARES = (0.5, 0.75)


@final
@dataclass(frozen=True, eq=False)
class IntervalState:
    """The states of the banks: median, lower and upper end."""

    parts: tuple[BankState, BankState, BankState]


@final
@dataclass(frozen=True, eq=False)
class Intervals(
    abilities.HasDeviation[IntervalState],
    abilities.HasInterval[IntervalState],
    abilities.TakesRanges[IntervalState],
    abilities.Hindsight[IntervalState],
    abilities.Streams[IntervalState],
    abilities.TakesSlopes[IntervalState],
    abilities.HasRange[IntervalState],
):
    """A bank for the median and one for each end of an interval that holds ``level`` of the labels.

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = Intervals(FilterLearner(Real(0, 100), (Linear(Scaler.identity(1)),)), level=0.8)
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.6]))
    >>> str(question), question.purpose
    ('Is the value above 50?', 'lower')
    >>> low, high = learner.interval(learner.tell(state, [0.0], question, True), [[0.0]])
    >>> low.item() <= 50 < high.item()
    True
    """

    median: FilterLearner
    level: float = 0.9
    local: ClassVar[bool] = True  # another model's questions say nothing of the ends

    def __post_init__(self) -> None:
        as_number(self.level, "level", 0.0, 1.0, strict=True)
        if self.space.bundles:
            raise IncompatibleParts("bundles", "left out for intervals, which are output by output", "some")

    @property
    def space(self) -> Real:  # type: ignore[override]  # the banks'
        return self.median.space

    @property
    def columns(self) -> int:
        return self.median.columns

    @property
    def width(self) -> int:
        """Uniforms per question: one to choose the bank, before its own."""
        return 1 + self.median.width

    @cached_property
    def banks(self) -> tuple[FilterLearner, FilterLearner, FilterLearner]:
        """The three banks."""
        tail = (1 - self.level) / 2
        return self.median, replace(self.median, quantile=tail), replace(self.median, quantile=1 - tail)

    def within(self, space: Real) -> Intervals:
        return replace(self, median=self.median.within(space))

    def init(self) -> IntervalState:
        median, lower, upper = (bank.init() for bank in self.banks)
        return IntervalState((median, lower, upper))

    def ask(self, state: IntervalState, x: ArrayLike, uniform: Array) -> Question:
        """Return the question of one of the banks, drawn at random."""
        row, which = as_row(x, self.columns)[0], self._which(float(uniform[0]))
        question = self.banks[which].ask(state.parts[which], row, np.asarray(uniform)[1:])
        assert isinstance(question, HalfSpace)
        return replace(question, purpose=_PURPOSES[which], learnt=self.count(state))

    def tell(self, state: IntervalState, x: ArrayLike, question: Question, answer: Answer) -> IntervalState:
        """Learnt by the bank that asked; a question without a purpose, or with two ends, is the median's."""
        which = self._asked_by(question)
        parts = list(state.parts)
        parts[which] = self.banks[which].tell(parts[which], x, question, answer)
        return IntervalState((parts[0], parts[1], parts[2]))

    def predict(self, state: IntervalState, X: ArrayLike) -> Array:
        """Return the median, n x m."""
        return self.median.predict(state.parts[0], X)

    def std(self, state: IntervalState, X: ArrayLike) -> Array:
        """Return the standard deviation of the predicted median (see ``Filters.std``)."""
        return self.median.std(state.parts[0], X)

    def interval(self, state: IntervalState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array]:
        """Return lower and upper ends, n x m.

        Another level than the one asked about stretches both sides as it would for normal labels.
        """
        rows = as_rows(X, self.columns)
        middle = self.predict(state, rows)
        ends = [bank.forecast(part, rows) for bank, part in zip(self.banks[1:], state.parts[1:], strict=True)]
        wanted = self.level if level is None else as_number(level, "level", 0.0, 1.0, strict=True)
        stretch = normal_quantile(0.5 + wanted / 2) / normal_quantile(0.5 + self.level / 2)
        low, high = (self.space.clipped(middle + stretch * (end - middle)) for end in ends)
        return np.minimum(low, middle), np.maximum(high, middle)

    def count(self, state: IntervalState) -> int:
        return sum(part.answers for part in state.parts)

    def chance(self, state: IntervalState, x: ArrayLike, question: Question) -> float:
        """Return p(yes), as the bank that asked has it."""
        which = self._asked_by(question)
        return self.banks[which].chance(state.parts[which], x, question)

    def hindsight(
        self, state: IntervalState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the bank that asked says."""
        rows, out = as_rows(X, self.columns), np.full(len(questions), 0.5)
        which = np.array([self._asked_by(question) for question in questions], dtype=np.int64)
        for i, (bank, part) in enumerate(zip(self.banks, state.parts, strict=True)):
            mine = np.flatnonzero(which == i).tolist()
            said = bank.hindsight(part, rows[mine], [questions[n] for n in mine], [answers[n] for n in mine])
            out[mine] = 0.5 if said is None else said
        return out

    def relearnt(
        self, state: IntervalState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> IntervalState:
        again: IntervalState = abilities.tell_many(self, self.init(), X, questions, answers)
        return again

    def worth(self, state: IntervalState, X: ArrayLike) -> Array:
        """Return what an answer tells the median's bank."""
        return self.median.worth(state.parts[0], X)

    def to_arrays(self, state: IntervalState) -> dict[str, Array]:
        arrays: dict[str, Array] = {}
        for i, (bank, part) in enumerate(zip(self.banks, state.parts, strict=True)):
            arrays |= marked(f"{i}-", bank.to_arrays(part))
        return arrays

    def from_arrays(self, arrays: dict[str, Array]) -> IntervalState:
        median, lower, upper = (bank.from_arrays(unmarked(f"{i}-", arrays)) for i, bank in enumerate(self.banks))
        return IntervalState((median, lower, upper))

    def stream(self, state: IntervalState, X: Array, task: StreamTask) -> IntervalState:
        """See ``Streams.stream``: bank by bank, as none learns from the others' answers."""
        if self.median.guess or self.median.lapse:
            return cast(IntervalState, abilities.row_by_row(self, state, X, task))
        uniform = task.draw(task.first, len(X))
        exam = self.median.exam(X, task, uniform[:, 1:])
        which = np.searchsorted(_SHARES, uniform[:, 0], side="right")
        median, lower, upper = (
            bank.examined(part, exam, np.flatnonzero(which == i))
            for i, (bank, part) in enumerate(zip(self.banks, state.parts, strict=True))
        )
        exam.heard(task)
        return IntervalState((median, lower, upper))

    def _which(self, uniform: float) -> int:
        return sum(uniform >= share for share in _SHARES)

    def _asked_by(self, question: Question) -> int:
        if isinstance(question, Between):
            return 0
        question = of_family(question, HalfSpace)
        return _PURPOSES.index(question.purpose) if question.purpose in _PURPOSES else 0
