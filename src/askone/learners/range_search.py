"""A learner without a declared range: its first questions find location and scale, counted.

For one output at a time it asks "is the value above c?", about whichever row comes.  ``_range_law`` says where to ask,
when enough is known, and mu and s of the labels; the range is mu -+ 4 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeGuard, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_choice, as_count, as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument
from askone.labels.number import Real, sensible_decimals
from askone.learners import abilities
from askone.learners._range_law import chance_above, known, locate, next_threshold
from askone.learners.base import Learner, marked, of_family, unmarked, wrong_family
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace

_SCALES = 4.0
PURPOSE = "range"


def _about_the_range(question: Question) -> TypeGuard[HalfSpace]:
    return isinstance(question, HalfSpace) and question.purpose == PURPOSE


@final
@dataclass(frozen=True, eq=False)
class CalibratedState:
    """Bits so far (output, threshold, answer) and their rows, then the range found and the inner state."""

    bits: Array
    rows: Array
    space: Real | None
    inner: Any


@final
@dataclass(frozen=True, eq=False)
class Calibrated(
    abilities.HasDeviation[CalibratedState],
    abilities.HasInterval[CalibratedState],
    abilities.TakesRanges[CalibratedState],
    abilities.Hindsight[CalibratedState],
    abilities.AsksMany[CalibratedState],
    abilities.TellsMany[CalibratedState],
    abilities.Refits[CalibratedState],
    abilities.Streams[CalibratedState],
    abilities.FindsRange[CalibratedState],
    abilities.Blends[CalibratedState],
    abilities.Wraps[CalibratedState],
):
    """A learner whose range is found by the first ``questions`` answers, or ``at_most`` (twenty times as many).

    ``template`` is the learner to start then; of its space only names, unit and number of outputs
    count.  ``decimals`` rounds its thresholds; "auto" to suit the range.  A template with a likelihood
    learns from the answers about the range, too.
    """

    template: abilities.HasRange[Any]
    questions: int = 60
    decimals: int | str | None = "auto"
    at_most: int | None = None

    def __post_init__(self) -> None:
        as_count(self.questions, "calibration", self.template.space.m)
        if self.template.space.bundles:
            raise IncompatibleParts("bundles", "left out where the range is sought, output by output", "some")
        if isinstance(self.decimals, str):
            as_choice(self.decimals, "decimals", ("auto",))

    spreads_batches: ClassVar[bool] = True
    adds: ClassVar[tuple[type[Learner[Any]], ...]] = (abilities.FindsRange,)

    @property
    def wrapped(self) -> tuple[Learner[Any], ...]:
        return (self.template,)

    def range_at(self, state: CalibratedState) -> Real | None:
        return state.space

    def std(self, state: CalibratedState, X: ArrayLike) -> Array | None:
        """As the inner learner has it; None while the range is sought."""
        learner, inner = self._inner(state)
        return None if inner is None else abilities.deviation(learner, inner, X)

    def interval(self, state: CalibratedState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
        """As the inner learner has it; None while the range is sought."""
        learner, inner = self._inner(state)
        return None if inner is None else abilities.interval(learner, inner, X, level)

    def chance(self, state: CalibratedState, x: ArrayLike, question: Question) -> float:
        """Return p(yes): of the inner learner; before there is a range, from what is plausible of labels at large."""
        inner = self._forecaster(state)
        if inner is not None:
            return inner.chance(state.inner, x, question)
        question = of_family(question, HalfSpace)
        output = int(np.argmax(np.abs(question.direction)))
        along = question.direction[output]
        above = chance_above(*_bits_of(state.bits, output), question.threshold / along)
        return above if along > 0 else 1 - above

    def hindsight(
        self, state: CalibratedState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the inner learner says, once there is a range."""
        learner, inner = self._inner(state)
        return None if inner is None else abilities.hindsight(learner, inner, X, questions, answers)

    def full_hindsight(
        self, state: CalibratedState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        learner, inner = self._inner(state)
        if inner is None or not abilities.able(learner, abilities.Hindsight):
            return None
        return learner.full_hindsight(inner, X, questions, answers)

    def relearnt(
        self, state: CalibratedState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> CalibratedState:
        learner, inner = self._inner(state)
        return (
            state if inner is None else replace(state, inner=abilities.relearnt(learner, inner, X, questions, answers))
        )

    def blend(self, state: CalibratedState) -> list[tuple[str, float]]:
        learner, inner = self._inner(state)
        return [("", 1.0)] if inner is None else abilities.blend(learner, inner)

    def worth(self, state: CalibratedState, X: ArrayLike) -> Array:
        """As the inner learner has it; while the range is sought every row is as good as another."""
        inner = self._forecaster(state)
        return np.ones(len(as_rows(X, self.columns))) if inner is None else inner.worth(state.inner, X)

    def _forecaster(self, state: CalibratedState) -> abilities.Forecasts[Any] | None:
        learner, inner = self._inner(state)
        if not abilities.able(learner, abilities.Forecasts):
            raise InvalidArgument("learner", "one that forecasts answers", type(learner).__name__)
        return None if inner is None else learner

    @property
    def space(self) -> Real:  # type: ignore[override]  # the range is not known yet
        """Names and unit; the range is in the state."""
        return self.template.space

    @cached_property
    def width(self) -> int:
        """Uniforms per question: two while the range is sought."""
        return max(self.template.width, 2)

    def init(self) -> CalibratedState:
        return CalibratedState(np.empty((0, 3)), np.empty((0, self.columns)), None, None)

    def ask(self, state: CalibratedState, x: ArrayLike, uniform: Array) -> Question:
        """Return a question about the range, or the inner learner's."""
        learner, inner = self._inner(state)
        if inner is not None:
            return learner.ask(inner, x, uniform[: learner.width])
        as_row(x, self.columns)
        return self._range_question(state, uniform, 0)

    def ask_many(self, state: CalibratedState, X: ArrayLike, uniform: Array) -> list[Question]:
        learner, inner = self._inner(state)
        if inner is not None:
            return abilities.ask_many(learner, inner, X, uniform[:, : learner.width])
        rows = as_rows(X, self.columns)
        return [self._range_question(state, uniform[i], i) for i in range(len(rows))]

    def tell(self, state: CalibratedState, x: ArrayLike, question: Question, answer: Answer) -> CalibratedState:
        """Learn an answer about the range, or a step of the learner inside once the range is found.

        A late answer about the range teaches the learner inside if it forecasts, and is dropped else.
        """
        learner, inner = self._inner(state)
        if _about_the_range(question):
            bit, row = question.accept(answer), as_row(x, self.columns)
            if len(question.direction) != self.space.m or max(question.direction) != 1.0:
                raise InvalidArgument("question", f"about one of {self.space.m} output(s)", question.direction)
            if inner is None:
                return self._with_bit(state, row, question, bit)
            if not self._replays:
                return state
            return replace(state, inner=self._replayed(inner, state.space, question, row[0], bit))
        if inner is None and isinstance(question, HalfSpace):
            allowed = "one about the range while that is sought (a declared range learns from any)"
            raise InvalidArgument("question", allowed, str(question))
        if inner is None:
            raise wrong_family(HalfSpace, question)
        return replace(state, inner=learner.tell(inner, x, question, answer))

    def tell_many(
        self, state: CalibratedState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> CalibratedState:
        """See ``TellsMany.tell_many``: at once from where no more is asked about the range."""
        rows = as_rows(X, self.columns)
        alone = max((i + 1 for i, one in enumerate(questions) if _about_the_range(one)), default=0)
        for i in range(len(rows)):
            if i >= alone and state.inner is not None:
                learner, inner = self._inner(state)
                return replace(state, inner=abilities.tell_many(learner, inner, rows[i:], questions[i:], answers[i:]))
            state = self.tell(state, rows[i], questions[i], answers[i])
        return state

    def due(self, state: CalibratedState) -> bool:
        """As the inner learner has it; not while the range is sought."""
        return state.inner is not None and self._fitter(state).due(state.inner)

    def fit(self, state: CalibratedState) -> dict[str, Array]:
        return self._fitter(state).fit(state.inner)

    def adopt(self, state: CalibratedState, fit: dict[str, Array]) -> CalibratedState:
        return replace(state, inner=self._fitter(state).adopt(state.inner, fit))

    def _fitter(self, state: CalibratedState) -> abilities.Refits[Any]:
        learner, _ = self._inner(state)
        if not abilities.able(learner, abilities.Refits):
            raise InvalidArgument("learner", "one that is fitted to its answers", type(learner).__name__)
        return learner

    def predict(self, state: CalibratedState, X: ArrayLike) -> Array:
        """Return the inner prediction; before, the best guess at the median."""
        learner, inner = self._inner(state)
        if inner is not None:
            return learner.predict(inner, X)
        rows = as_rows(X, self.columns)
        centers = [locate(*_bits_of(state.bits, j))[0] for j in range(self.space.m)]
        return np.tile(centers, (len(rows), 1))

    def count(self, state: CalibratedState) -> int:
        """Return bits about the range and answers learnt."""
        if state.inner is None:
            return len(state.bits)
        return self.template.count(state.inner) + (0 if self._replays else len(state.bits))

    def to_arrays(self, state: CalibratedState) -> dict[str, Array]:
        inner = {} if state.inner is None else self.template.to_arrays(state.inner)
        return {"bits": state.bits, "rows": state.rows, **marked("inner.", inner)}

    def from_arrays(self, arrays: dict[str, Array]) -> CalibratedState:
        """See ``Learner.from_arrays``: the range is folded from the bits again."""
        state = self._finished(arrays["bits"], arrays["rows"])
        inner = unmarked("inner.", arrays)
        return replace(state, inner=self.template.from_arrays(inner)) if inner else state

    def stream(self, state: CalibratedState, X: Array, task: StreamTask) -> CalibratedState:
        """Row by row while the range is sought, then as the inner learner does."""
        done = 0
        while done < len(X) and state.inner is None:
            state = abilities.row_by_row(self, state, X[done : done + 1], task.part(done, done + 1))
            done += 1
        learner, inner = self._inner(state)
        if inner is None:
            return state
        return replace(state, inner=abilities.stream(learner, inner, X[done:], task.part(done).narrowed(learner.width)))

    @property
    def _replays(self) -> bool:
        return abilities.able(self.template, abilities.Forecasts)

    def _inner(self, state: CalibratedState) -> tuple[Learner[Any], Any]:
        return (self.template if state.space is None else self.template.within(state.space)), state.inner

    def _range_question(self, state: CalibratedState, uniform: Array, place: int) -> HalfSpace:
        asked = np.bincount(state.bits[:, 0].astype(int), minlength=self.space.m)
        j = int(np.argsort(asked, kind="stable")[place % self.space.m])
        direction = tuple(float(k == j) for k in range(self.space.m))
        threshold = next_threshold(*_bits_of(state.bits, j), uniform, place // self.space.m)
        return HalfSpace(direction, threshold, wording=self.space.words, purpose=PURPOSE)

    def _with_bit(self, state: CalibratedState, x: Array, question: HalfSpace, bit: bool) -> CalibratedState:
        told = [float(np.argmax(question.direction)), question.threshold, float(bit)]
        return self._finished(np.vstack([state.bits, told]), np.vstack([state.rows, x]))

    def _finished(self, bits: Array, rows: Array) -> CalibratedState:
        outputs = [_bits_of(bits, j) for j in range(self.space.m)]
        at_most = 20 * self.questions if self.at_most is None else self.at_most
        wait = len(bits) < self.questions
        if wait or (len(bits) < at_most and not all(known(*output) for output in outputs)):
            return CalibratedState(bits, rows, None, None)
        found = np.array([locate(*output) for output in outputs])
        reach = np.maximum(_SCALES * found[:, 1], 1e-9 * np.abs(found[:, 0]) + 1e-300)
        low, high = (found[:, 0] - reach).tolist(), (found[:, 0] + reach).tolist()
        decimals = sensible_decimals(low, high) if isinstance(self.decimals, str) else self.decimals
        space = replace(self.space, low=low, high=high, decimals=decimals, is_found=True)
        return CalibratedState(bits, rows, space, self._begun(space, bits, rows))

    def _begun(self, space: Real, bits: Array, rows: Array) -> Any:
        state: Any = self.template.within(space).init()
        for (output, threshold, bit), row in zip(bits.tolist(), rows, strict=True) if self._replays else ():
            axis = tuple(float(k == int(output)) for k in range(space.m))
            state = self._replayed(state, space, HalfSpace(axis, threshold), row, bool(bit))
        return state

    def _replayed(self, inner: Any, space: Real | None, question: HalfSpace, row: Array, bit: bool) -> Any:
        """Return the inner state after a bit about the range.

        That a label lies above a threshold beyond the range is only taken to mean that it lies above the
        range: a single one far out would drag along every filter.
        """
        assert space is not None
        j = int(np.argmax(question.direction))
        least, most = space.lows[j], space.highs[j]
        threshold = min(question.threshold, most) if bit else max(question.threshold, least)
        return self.template.within(space).tell(inner, row, HalfSpace(question.direction, threshold), bit)


def _bits_of(bits: Array, output: int) -> tuple[Array, Array]:
    mine = bits[bits[:, 0] == output]
    return mine[:, 1], mine[:, 2] > 0
