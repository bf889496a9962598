"""A learner that begins anew when its answers say that what it has learnt is no longer so.

Whether a concept has changed is found by forecasts alone, with likelihood ratios that never fall below 1:

1. *Surprise.*  With P the chance that the learner, or a mixture that it is in, gave to what was then answered, two
   doubters say Q = 1/2 (good where little is known) and Q = (P + 1/2) / 2 (good where a few forecasts, but sure ones,
   fail).  For each,

       R <- max(1, R Q / P)

   grows while forecasts fail.  It costs next to nothing.  If the learner is right about itself, Q / P has mean 1, so
   that R passes ``alarm`` at most once in ``alarm`` answers (Lorden's bound); in fact much more seldom.
2. *Duel.*  Then a young learner begins beside the old one.  It asks, as it needs the answers more, both learn them, and

       D <- max(1, D P_young / P_old) .

   After 64 answers, and when D is above ``odds``, the old one is forgotten; a young one that has not won after as many
   answers as the old one had heard, or a thousand, is.

Rows that come sorted surprise, too, but what was learnt of the others is still so.  Where the rows of the duel are
other rows than those before (see ``RowMoments.differ``), the old learner stays.

Banks of filters have a way of their own (``learners.kalman._watch``): asked at their median they are never surprised,
and a young filter is so cheap that two always learn along.  A young learner of any other family would double the work,
so it waits for the alarm; and where only forecasts are known, answers cannot be learnt anew from where a change began.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_number, as_row
from askone.errors import InvalidArgument
from askone.learners import abilities
from askone.learners.base import marked, unmarked
from askone.learners.row_shift import RowMoments
from askone.learners.scores import slipped
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question

_SOON = 64  # answers before a duel ends: by then one sees whether the rows are others
_SHORT, _LONG = 256, 1024  # how long a duel may last


@final
@dataclass(frozen=True, eq=False)
class ForgettingState:
    """The states of the learner and, in a duel, of the young one; all answers; R of both doubters, and D.

    ``rows`` are the moments of the rows until the duel, and in it.
    """

    old: Any
    young: Any | None
    told: int
    surprise: tuple[float, float]
    odds: float
    rows: tuple[RowMoments, RowMoments]


@final
@dataclass(frozen=True, eq=False)
class Forgetting(
    abilities.HasDeviation[ForgettingState],
    abilities.HasProbabilities[ForgettingState],
    abilities.Hindsight[ForgettingState],
    abilities.AsksAt[ForgettingState],
    abilities.AsksMany[ForgettingState],
    abilities.Forgets[ForgettingState],
    abilities.LearnsBeside[ForgettingState],
    abilities.Streams[ForgettingState],
    abilities.Wraps[ForgettingState],
):
    """A learner that forecasts, begun anew when its forecasts say that the concept has changed.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> from askone.learners.softmax.classifier import SetLikelihoodLearner
    >>> learner = Forgetting(SetLikelihoodLearner(Classes(("cat", "owl")), Linear(Scaler.identity(1))))
    >>> state = learner.init()
    >>> for i in range(600):
    ...     row, animal = [1.0 if i % 2 else -1.0], "cat" if (i % 2 == 1) == (i < 400) else "owl"
    ...     question = learner.ask(state, row, np.full(2, 0.5))
    ...     state = learner.tell(state, row, question, animal in question.members)
    >>> learner.probabilities(state, [[1.0]]).round(1).tolist(), learner.known(state) < 200, learner.count(state)
    ([[0.0, 1.0]], True, 600)
    """

    learner: abilities.Forecasts[Any]
    alarm: float = 300.0
    odds: float = 3000.0

    def __post_init__(self) -> None:
        if not abilities.able(self.learner, abilities.Forecasts) or isinstance(self.learner, abilities.AsksAgain):
            raise InvalidArgument("learner", "one that forecasts answers", type(self.learner).__name__)
        as_number(self.alarm, "alarm", 1.0, strict=True)
        as_number(self.odds, "odds", 1.0, strict=True)

    # -- what the learner says --------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self.learner.width

    @property
    def wrapped(self) -> tuple[abilities.Forecasts[Any], ...]:
        return (self.learner,)

    def init(self) -> ForgettingState:
        return self._alone(self.learner.init(), 0, RowMoments.none(self.columns))

    def ask(self, state: ForgettingState, x: ArrayLike, uniform: Array) -> Question:
        """Return the learner's question, in a duel the young one's."""
        return self.learner.ask(self._asking(state), x, uniform)

    def ask_many(self, state: ForgettingState, X: ArrayLike, uniform: Array) -> list[Question]:
        return abilities.ask_many(self.learner, self._asking(state), X, uniform)

    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        return abilities.ask_at(self.learner, believed, uniform, learnt)

    def _asking(self, state: ForgettingState) -> Any:
        return state.old if state.young is None else state.young

    def hindsight(
        self, state: ForgettingState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        return abilities.hindsight(self.learner, state.old, X, questions, answers)

    def relearnt(
        self, state: ForgettingState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> ForgettingState:
        """See ``Hindsight.relearnt``: what surprised may have been somebody's slips, so a duel about it is over.

        If the concept did change, the alarm rings again.
        """
        known = self.learner.count(state.old)
        last = slice(len(questions) - known, None)
        old = abilities.relearnt(self.learner, state.old, X[last], questions[last], answers[last])
        return self._alone(old, state.told, state.rows[0])

    def predict(self, state: ForgettingState, X: ArrayLike) -> Array:
        """Return predictions of the learner that has not been forgotten."""
        return self.learner.predict(state.old, X)

    def probabilities(self, state: ForgettingState, X: ArrayLike) -> Array | None:
        return abilities.probabilities(self.learner, state.old, X)

    def std(self, state: ForgettingState, X: ArrayLike) -> Array | None:
        return abilities.deviation(self.learner, state.old, X)

    def chance(self, state: ForgettingState, x: ArrayLike, question: Question) -> float:
        return self.learner.chance(state.old, x, question)

    def worth(self, state: ForgettingState, X: ArrayLike) -> Array:
        """Return what an answer should tell whoever asks."""
        return self.learner.worth(self._asking(state), X)

    def count(self, state: ForgettingState) -> int:
        """Return answers told, the forgotten ones too."""
        return state.told

    def known(self, state: ForgettingState) -> int:
        return self.learner.count(state.old)

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer) -> ForgettingState:
        return self.learnt_and_said(state, x, question, answer)[1]

    def learnt_and_said(
        self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, ForgettingState]:
        return self._learnt(state, x, question, answer, self.learner.learnt_and_said, (1.0, 0.0))

    def opened(self, state: ForgettingState) -> ForgettingState:
        old, young = abilities.opened(self.learner, state.old), state.young
        return replace(state, old=old, young=None if young is None else abilities.opened(self.learner, young))

    def learnt_into(
        self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, ForgettingState]:
        return self.learnt_beside(state, x, question, answer, 1.0, 0.0)

    def learnt_beside(
        self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer, share: float, others: float
    ) -> tuple[float, ForgettingState]:
        """See ``LearnsBeside``: where others know better, that its own forecasts fail is no sign of a change."""
        learn = partial(abilities.learnt_into, self.learner)
        return self._learnt(state, x, question, answer, learn, (share, others))

    def _learnt(
        self, state: ForgettingState, x: ArrayLike, question: Question, answer: Answer,
        learn: Callable[[Any, ArrayLike, Question, Answer], tuple[float, Any]], among: tuple[float, float],
    ) -> tuple[float, ForgettingState]:  # fmt: skip
        """Return the chance of an answer and the state after it, learnt by ``learn``; ``among``: share and others."""
        row, (before, during) = as_row(x, self.columns), state.rows
        said, old = learn(state.old, x, question, answer)
        state = replace(state, old=old, told=state.told + 1)
        if state.young is None:
            surprise = _doubt(state.surprise, among[0] * said + among[1])
            return said, self._doubted(replace(state, rows=(before.met(row), during)), surprise)
        rival, young = learn(state.young, x, question, answer)
        odds = max(1.0, state.odds * slipped(rival) / slipped(said))
        return said, self._decided(replace(state, young=young, odds=odds, rows=(before, during.met(row))))

    def stream(self, state: ForgettingState, X: Array, task: StreamTask) -> ForgettingState:
        """Ask and learn about many rows: between duels by the learner's own stream."""
        done = 0
        while done < len(X):
            if state.young is not None:
                state, done = abilities.row_by_row(self, state, X[done : done + 1], task.part(done, done + 1)), done + 1
                continue
            watch, rest = _Watch(state.surprise, self.alarm, []), X[done:]
            met, old = abilities.stream_while(self.learner, state.old, rest, task.part(done), watch.heard)
            rows = (state.rows[0].met(rest[watch.places]), state.rows[1])
            told = state.told + len(watch.places)
            state, done = self._doubted(replace(state, old=old, told=told, rows=rows), watch.surprise), done + met
        return state

    def _doubted(self, state: ForgettingState, surprise: tuple[float, float]) -> ForgettingState:
        """Return the state with the surprise of now, and with a young learner if that is too much."""
        young = abilities.opened(self.learner, self.learner.init()) if max(surprise) > self.alarm else None
        return replace(state, surprise=surprise, young=young)

    def _decided(self, state: ForgettingState) -> ForgettingState:
        """Return the state after a duel, if it is over."""
        before, during = state.rows
        if during.count < _SOON:
            return state
        others = during.differ(before)
        if state.odds > self.odds and not others:
            return self._alone(state.young, state.told, during)
        if others or during.count >= min(max(_SHORT, before.count), _LONG):
            return self._alone(state.old, state.told, before)
        return state

    def _alone(self, learnt: Any, told: int, rows: RowMoments) -> ForgettingState:
        return ForgettingState(learnt, None, told, (1.0, 1.0), 1.0, (rows, RowMoments.none(self.columns)))

    # -- the state as a value ---------------------------------------------------------------------

    def to_arrays(self, state: ForgettingState) -> dict[str, Array]:
        before, during = state.rows
        arrays = {"told": np.array([state.told, before.count, during.count])}
        arrays["ratios"] = np.array([*state.surprise, state.odds])
        arrays["rows"] = np.array([before.mean, before.squares, during.mean, during.squares])
        arrays |= marked("old-", self.learner.to_arrays(state.old))
        return arrays if state.young is None else arrays | marked("young-", self.learner.to_arrays(state.young))

    def from_arrays(self, arrays: dict[str, Array]) -> ForgettingState:
        told, before, during = arrays["told"].tolist()
        blank, half, odds = arrays["ratios"].tolist()
        rows = (RowMoments(before, *arrays["rows"][:2]), RowMoments(during, *arrays["rows"][2:]))
        old, young = (unmarked(mark, arrays) for mark in ("old-", "young-"))
        states = (self.learner.from_arrays(old), self.learner.from_arrays(young) if young else None)
        return ForgettingState(*states, told, (blank, half), odds, rows)


@final
@dataclass(eq=False)
class _Watch:
    """Who listens to a learner's stream until it is too surprised."""

    surprise: tuple[float, float]
    alarm: float
    places: list[int]

    def heard(self, place: int, said: float) -> bool:
        """Return whether to go on, after an answer that was given this chance."""
        self.places.append(place)
        self.surprise = _doubt(self.surprise, said)
        return max(self.surprise) <= self.alarm


def _doubt(surprise: tuple[float, float], said: float) -> tuple[float, float]:
    """Return the doubters' likelihood ratios after an answer."""
    blank, half = surprise
    ratio = 0.5 / slipped(said)
    return max(1.0, blank * ratio), max(1.0, half * (0.5 + 0.5 * ratio))
