"""The training set: what a campaign's answers teach, and in which order.

A question that k people are to answer teaches once, with the answer that most of them gave, as soon as
that is certain: k identical answers about one label are one bit of evidence, not k.  Answers that were
taken back, or whose author is excluded, do not count; gold questions measure people and teach nothing.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, Protocol, cast, final

from askone.questions.base import Question


@final
class Lesson(NamedTuple):
    """The answer that a question teaches, decided by the entry ``seq`` of the log."""

    seq: int
    number: int
    answer: bool


@final
class GivenAnswer(NamedTuple):
    """One person's answer to a question."""

    seq: int
    id: str
    who: str
    answer: bool


class QuestionReader(Protocol):
    """Reads questions by their numbers, from a log."""

    def __call__(self, numbers: Sequence[int]) -> Sequence[Question]:
        """Return the questions of these numbers."""


@final
@dataclass(slots=True)
class AskedQuestion:
    """A question that was asked: about which row, for what, and its answers.

    Its ``role`` is "" where it only teaches, "exam" (it measures the model), "check" or "gold" (it measures people).
    ``source`` is the question, or who reads it when it is wanted: most are never wanted again.
    """

    number: int
    position: int
    source: Question | QuestionReader
    learnt: int
    role: str = ""
    score: tuple[float, float] | None = None
    truth: bool | None = None
    most: float | None = None
    heaviest: float | None = None
    """What an exam could have scored at most, and how far apart its scores could have been (see ``Exam``)."""
    predicted: Any = None
    aim: str = "error"
    """What the model predicted when an exam was made, and what that was to measure."""
    chance: float | None = None
    """Of a yes, for a question that checks people."""
    given: list[GivenAnswer] = field(default_factory=list)

    @property
    def question(self) -> Question:
        """What was asked."""
        [question] = questions_of([self])
        return question


def questions_of(asked: Sequence[AskedQuestion]) -> list[Question]:
    """Return what was asked; those that are not at hand are read at once."""
    for reader, away in groupby((one for one in asked if not isinstance(one.source, Question)), lambda one: one.source):
        wanted = list(away)
        for one, question in zip(wanted, cast(QuestionReader, reader)([one.number for one in wanted]), strict=True):
            one.source = question
    return [cast(Question, one.source) for one in asked]


def decided(given: Iterable[GivenAnswer], most: int, excluded: set[str]) -> tuple[int, bool] | None:
    """Return when, and with which answer, the majority of ``most`` people was certain; None: it is not.

    >>> yes, no = GivenAnswer(1, "a", "ann", True), GivenAnswer(2, "b", "bob", False)
    >>> decided([yes, no], 1, set()), decided([yes, no], 3, set()), decided([yes, no], 1, {"ann"})
    ((1, True), None, (2, False))
    """
    votes = [0, 0]
    for one in given:
        if one.who in excluded:
            continue
        votes[one.answer] += 1
        if 2 * votes[one.answer] > most:
            return one.seq, one.answer
    return None


@final
class TrainingSet:
    """Lessons in the order in which they were decided; says from where on they changed."""

    def __init__(self) -> None:
        self.all: list[Lesson] = []
        self._of: dict[int, Lesson] = {}
        self.changed = 0
        """Lessons before this place are as they were when this was last set."""
        self._mark, self._marked = hashlib.sha256(), 0

    def adopt(self, lessons: list[Lesson]) -> None:
        """Take over lessons that were kept, into a set that has none."""
        self.all, self._of = lessons, {lesson.number: lesson for lesson in lessons}

    def set(self, number: int, decision: tuple[int, bool] | None) -> None:
        """Set what a question teaches now."""
        old = self._of.get(number)
        new = None if decision is None else Lesson(decision[0], number, decision[1])
        if old == new:
            return
        if old is not None:
            place = bisect.bisect_left(self.all, old)
            del self.all[place]
            del self._of[number]
            self._change(place)
        if new is not None:
            place = bisect.bisect_left(self.all, new)
            self.all.insert(place, new)
            self._of[number] = new
            self._change(place)

    def answer_to(self, number: int) -> bool | None:
        """Return what a question teaches now; None: nothing yet."""
        lesson = self._of.get(number)
        return None if lesson is None else lesson.answer

    def _change(self, place: int) -> None:
        self.changed = min(self.changed, place)
        if place < self._marked:
            self._mark, self._marked = hashlib.sha256(), 0

    def digest(self, count: int) -> str:
        """Return a mark of the first so many lessons: a state that was kept belongs to these and no others."""
        known = count >= self._marked  # it goes on where it ended: but for a few, lessons come at the end
        mark = self._mark if known else hashlib.sha256()
        for lesson in self.all[self._marked if known else 0 : count]:
            mark.update(b"%d,%d,%d;" % lesson)
        if known:
            self._marked = min(count, len(self.all))
        return mark.hexdigest()
