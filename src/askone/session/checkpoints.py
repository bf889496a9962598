"""State as a fold over lessons, with checkpoints on the way.

A state cannot unlearn.  To take a lesson back is to go to the last checkpoint before it and to learn anew what came
after; the further back, the fewer checkpoints there are, so that this costs about twice what came after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.packed_arrays import digest, pack, unpack
from askone._common.types import Key
from askone.errors import IncompatibleParts, InvalidArgument
from askone.learners.abilities import KnowsPeople, Opinions, Refits, TellsMany, able, revisit, tell_row
from askone.learners.base import Learner
from askone.questions.base import Answer, Question
from askone.session.log import given_key

_RECENT, _DENSE = 8, 3
_ROOM = 256 << 20  # bytes of checkpoints: a state may be large, and then there are fewer


@final
class Example(NamedTuple):
    """An answer that was not taken back, its question, its row, what the log calls the row, and who gave it.

    Where it is that of several people, ``opinions`` say who said what; the first so many are ``known``.
    """

    name: Key
    x: Any
    question: Question
    answer: Answer
    person: str | None = None
    opinions: Opinions = ()
    known: int = 0


@final
class Visit(NamedTuple):
    """A row that came again without a question."""

    name: Key
    x: Any


@final
class Fit(NamedTuple):
    """A fit of the learner to what came before (see ``Refits``), packed, and its hash."""

    hash: str
    packed: bytes


def fit_of(learner: Refits[Any], state: Any) -> Fit:
    """Return the fit of a state."""
    packed = pack(learner.fit(state))
    return Fit(digest(packed), packed)


def due_fit(learner: Learner[Any], state: Any) -> Fit | None:
    """Return the fit of a state where one is due."""
    return fit_of(learner, state) if able(learner, Refits) and learner.due(state) else None


def learnt(learner: Learner[Any], state: Any, lesson: Example | Visit | Fit) -> Any:
    """Return the state after one lesson; a fit is of use to a learner that refits alone."""
    if isinstance(lesson, Fit):
        # Whoever made it takes what everybody else will take from its bytes.
        return learner.adopt(state, unpack(lesson.packed)) if able(learner, Refits) else state
    if isinstance(lesson, Visit):
        return revisit(learner, state, lesson.x, lesson.name)
    with _saying(learner, lesson.question):
        key = given_key(lesson.name)
        if lesson.opinions and isinstance(learner, KnowsPeople):
            question = lesson.question if key is None else lesson.question.of_row(key)
            return learner.tell_opinions(state, lesson.x, question, lesson.opinions, lesson.known)
        return tell_row(learner, state, lesson.x, lesson.question, lesson.answer, key, lesson.person)


@contextmanager
def _saying(learner: Learner[Any], question: Question) -> Iterator[None]:
    """Say of a learner that it does not learn from a log's questions, such as this one."""
    try:
        yield
    except InvalidArgument as error:
        if error.argument != "question":
            raise
        asked = f"{question.kind}, such as {str(question)!r}"
        allowed = f"one that learns from the log's questions: {asked} (it takes {error.allowed})"
        raise IncompatibleParts("learner", allowed, type(learner).__name__) from error


def stays(count: int, now: int) -> bool:
    """Return whether the state after ``count`` lessons is kept: the further back, the fewer, by powers of two.

    So there are about log n of them, and to take back what was learnt k lessons ago takes fewer than 2k.
    """
    back = now - count
    return back <= _RECENT or back <= _DENSE * (count & -count)


@final
class Fold:
    """The state after ``count`` lessons, and a few of those on the way to it (none with ``keep=False``)."""

    def __init__(self, learner: Learner[Any], state: Any = None, keep: bool = True) -> None:
        self.learner, self.count = learner, 0
        self.state = learner.init() if state is None else state
        self._states: dict[int, Any] = {0: self.state} if keep else {}
        self._given = {0}
        self._most = self._weighed = 0

    @property
    def keeps(self) -> bool:
        """Whether states on the way are kept."""
        return bool(self._states)

    def learn(self, lesson: Example | Visit | Fit | None) -> None:
        """Go on by one lesson; None teaches nothing and counts."""
        self.advance(self.state if lesson is None else learnt(self.learner, self.state, lesson))

    def learn_many(self, lessons: Sequence[Example | Fit | None]) -> None:
        """Go on by some lessons, with a checkpoint after the last: in less time if the learner ``TellsMany``."""
        told = [one for one in lessons if isinstance(one, Example)]
        apart = any(isinstance(one, Fit) or (one is not None and one.opinions) for one in lessons)
        if len(told) < 2 or apart or not able(self.learner, TellsMany):
            for one in lessons:
                self.learn(one)
            return
        with _saying(self.learner, told[0].question):
            keys, answers = [given_key(one.name) for one in told], [one.answer for one in told]
            each = zip(told, keys, strict=True)
            questions = [one.question if key is None else one.question.of_row(key) for one, key in each]
            rows, people = np.array([one.x for one in told]), [one.person for one in told]
            if isinstance(self.learner, KnowsPeople):
                state = self.learner.tell_many_by(self.state, rows, questions, answers, people)
            else:
                state = self.learner.tell_many(self.state, rows, questions, answers)
        self.advance(state, len(lessons))

    def advance(self, state: Any, by: int = 1) -> None:
        """Go on to the state after one more lesson, or some."""
        before, self.state, self.count = self.count, state, self.count + by
        if not self._states:
            return
        self._states[self.count] = state
        self.weigh(state, self.count)
        if self.count // _RECENT > before // _RECENT or len(self._states) > self._most:
            # Where room is short, the first stays, and those after a round number of lessons.
            kept = [one for one in self._states if stays(one, self.count) or one in self._given]
            kept.sort(key=lambda one: (one > 0, -(one & -one)))
            self._states = {count: self._states[count] for count in kept[: self._most]}

    def weigh(self, state: Any, count: int) -> None:
        """Find for how many states there is room, where their ``count`` of lessons has doubled: they may grow.

        That takes a while where a state has much, so that who holds others up has it done before ``advance``.
        """
        if self._states and count.bit_length() > self._weighed.bit_length():
            size = sum(array.nbytes for array in self.learner.to_arrays(state).values())
            self._most, self._weighed = max(2, _ROOM // max(size, 1)), count

    def past(self) -> list[Any]:
        """Return the states that are still there, the oldest first, and the present one."""
        return [self._states[count] for count in sorted(self._states) if count < self.count] + [self.state]

    def adopt(self, state: Any, count: int) -> None:
        """Go to the state after ``count`` lessons, which was kept elsewhere."""
        self.state, self.count, self._states[count] = state, count, state
        self._given.add(count)

    def copy(self) -> Fold:
        """Return the same, to go on for itself."""
        other = Fold(self.learner, self.state)
        other.count, other._states, other._given = self.count, dict(self._states), set(self._given)
        other._most, other._weighed = self._most, self._weighed
        return other

    def back_to(self, count: int) -> Fold:
        """Return the fold at its last checkpoint that has at most ``count`` lessons."""
        past = Fold(self.learner, self.state)
        past.count = max(one for one in self._states if one <= count)
        past._states = {one: state for one, state in self._states.items() if one <= past.count}
        past.state, past._given = past._states[past.count], {one for one in self._given if one <= past.count}
        return past
