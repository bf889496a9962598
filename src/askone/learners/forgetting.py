"""A learner that forgets when its answers say that what it has learnt is no longer so.

Whether a concept has changed is found by forecasts alone, in three steps:

1. *Surprise.*  With P the chance that the learner gave to what was then answered, a doubter says (P + 1/2) / 2.  Its
   lead, C <- max(0, C + log((P + 1/2) / 2P)), grows only while sure forecasts fail: if the learner is right about
   itself, C passes ``alarm`` at most once in exp(alarm) answers (the ratio has mean 1: Lorden's bound).  It costs nothing.
2. *Duel.*  From then on a young learner, begun anew, hears the same answers, and both forecast them:
   D = sum of w_t (log P_young - log P_old), with w_t falling with age.  When D exceeds ``lead``, the old one is
   dropped; when the young one has not won after as many answers as the old one had, it is.
3. *Rows.*  Rows that come sorted surprise, too, but what was learnt of others is still so.  If the columns' means in
   the duel are not those of before (mean square of their differences in standard errors above ``shift``), the old one stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_number, as_row
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.learners.abilities import (
    AsksAgain,
    AsksMany,
    Forecasts,
    HasDeviation,
    HasProbabilities,
    Streams,
    Wraps,
    able,
    ask_many,
    deviation,
    probabilities,
    row_by_row,
)
from askone.learners.base import marked, unmarked
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question

_LAPSE = 0.01  # an answer may be a slip: no forecast is ever quite wrong
_SOON = 32  # answers before a duel ends
_SHORT, _LONG = 256, 4096  # how long a duel may last


@final
@dataclass(frozen=True, eq=False)
class Inputs:
    """How many rows there were, the means of their columns, and the sums of the squared deviations."""

    count: int
    mean: Array
    squares: Array

    def met(self, row: Array) -> Inputs:
        """Return the same with one more row."""
        count = self.count + 1
        apart = row - self.mean
        mean = self.mean + apart / count
        return Inputs(count, mean, self.squares + apart * (row - mean))

    def shifted(self, other: Inputs) -> float:
        """Return the mean over columns of (difference of the means / its standard error)^2: about 1 where none is."""
        spread = (self.squares + other.squares) / max(self.count + other.count - 2, 1)
        error = spread * (1.0 / max(self.count, 1) + 1.0 / max(other.count, 1))
        apart, total, used = self.mean - other.mean, 0.0, 0
        for gap, scale in zip(apart.tolist(), error.tolist(), strict=True):
            if scale > 0.0:
                total, used = total + gap * gap / scale, used + 1
        return total / max(used, 1)


@final
@dataclass(frozen=True, eq=False)
class ForgettingState:
    """The learner's state, and in a duel the young one's; all answers; the doubter's lead; the young one's lead.

    ``inputs`` are the rows of before a duel and in it.
    """

    old: Any
    young: Any
    told: int
    surprise: float
    lead: float
    inputs: tuple[Inputs, Inputs]


@final
@dataclass(frozen=True, eq=False)
class Forgetting(
    HasDeviation[ForgettingState],
    HasProbabilities[ForgettingState],
    Forecasts[ForgettingState],
    AsksMany[ForgettingState],
    Streams[ForgettingState],
    Wraps[ForgettingState],
):
    """A learner that forecasts, begun anew when its forecasts say that the concept has changed."""

    learner: Forecasts[Any]
    alarm: float = 8.0
    lead: float = 8.0
    shift: float = 6.0

    def __post_init__(self) -> None:
        if not able(self.learner, Forecasts) or isinstance(self.learner, AsksAgain):
            raise InvalidArgument("learner", "one that forecasts answers", type(self.learner).__name__)
        for name in ("alarm", "lead", "shift"):
            as_number(getattr(self, name), name, 0.0, strict=True)

    # -- what the learner says --------------------------------------------------------------------

    @property
    def space(self) -> Space:  # type: ignore[override]  # the learner's
        return self.learner.space

    @property
    def columns(self) -> int:
        return self.learner.columns

    @property
    def width(self) -> int:
        return self.learner.width

    @property
    def wrapped(self) -> tuple[Forecasts[Any], ...]:
        return (self.learner,)

    def init(self) -> ForgettingState:
        none = Inputs(0, np.zeros(self.columns), np.zeros(self.columns))
        return ForgettingState(self.learner.init(), None, 0, 0.0, 0.0, (none, none))

    def ask(self, state: ForgettingState, x: ArrayLike, uniform: Array) -> Question:
        return self.learner.ask(self._asking(state), x, uniform)

    def ask_many(self, state: ForgettingState, X: ArrayLike, uniform: Array) -> list[Question]:
        return ask_many(self.learner, self._asking(state), X, uniform)

    def _asking(self, state: ForgettingState) -> Any:
        return state.young if state.lead > 0.0 or state.inputs[1].count % 2 else state.old

    def predict(self, state: ForgettingState, X: ArrayLike) -> Array:
        return self.learner.predict(state.old, X)

    def probabilities(self, state: ForgettingState, X: ArrayLike) -> Array | None:
        return probabilities(self.learner, state.old, X)

    def std(self, state: ForgettingState, X: ArrayLike) -> Array | None:
        return deviation(self.learner, state.old, X)

    def chance(self, state: ForgettingState, x: ArrayLike, question: Question) -> float:
        return self.learner.chance(state.old, x, question)

    def worth(self, state: ForgettingState, X: ArrayLike) -> Array:
        return self.learner.worth(state.old, X)

    def count(self, state: ForgettingState) -> int:
        return state.told

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer) -> ForgettingState:
        return self.learnt_and_said(state, x, question, answer)[1]

    def learnt_and_said(
        self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, ForgettingState]:
        """See ``Forecasts.learnt_and_said``."""
        before, during = state.inputs
        row = as_row(x, self.columns)[0]
        said, old = self.learner.learnt_and_said(state.old, x, question, answer)
        if state.young is None:
            surprise = max(0.0, state.surprise + math.log(0.5 + 0.25 / _slipped(said)))
            young = self.learner.init() if surprise > self.alarm else None
            return said, replace(
                state, old=old, young=young, told=state.told + 1, surprise=surprise, inputs=(before.met(row), during)
            )
        rival, young = self.learner.learnt_and_said(state.young, x, question, answer)
        during = during.met(row)
        lead = max(0.0, state.lead + math.log(_slipped(rival) / _slipped(said)))
        state = ForgettingState(old, young, state.told + 1, state.surprise, lead, (before, during))
        return said, self._ended(state) if during.count >= _SOON else state

    def stream(self, state: ForgettingState, X: Array, task: StreamTask) -> ForgettingState:
        state = row_by_row(self, state, X, task)
        return state

    def _ended(self, state: ForgettingState) -> ForgettingState:
        """Return the state after a duel, if it is over."""
        before, during = state.inputs
        last = min(max(_SHORT, before.count), _LONG)
        none = Inputs(0, np.zeros(self.columns), np.zeros(self.columns))
        both = before
        if during.shifted(before) > 1.0 + self.shift / math.sqrt(min(self.columns, 16)):
            print("shift", state.told, state.lead, during.count, during.shifted(before))
            return replace(state, young=None, surprise=0.0, lead=0.0, inputs=(both, none))
        if state.lead > self.lead:
            print("won", state.told, during.count, during.shifted(before))
            return replace(state, old=state.young, young=None, surprise=0.0, lead=0.0, inputs=(during, none))
        if during.count >= last:
            print("lost", state.told, state.lead)
            return replace(state, young=None, surprise=0.0, lead=0.0, inputs=(both, none))
        return state


def _slipped(chance: float) -> float:
    return (1.0 - _LAPSE) * chance + 0.5 * _LAPSE
