"""The training set: what a campaign's answers teach, and in which order.

A question that k people are to answer is decided by the answer that most of them gave, as soon as that is certain.
It teaches then, too: k identical answers about one label are one bit of evidence, not k.  A learner that knows people
is told who said what until then, and after it what each further opinion adds; another one the decision alone.  Answers
that were taken back, or whose author is excluded, do not count; gold questions measure people and teach nothing.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple, cast, final

from askone.campaign.kinds.base import ErrorPart
from askone.learners.abilities import Forecasts, Refits, TakesRanges, able
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.questions.between import Between
from askone.session.checkpoints import Example

MOST_OPINIONS = 5
"""So many people are asked one question, at most, where campaigns choose which are asked again."""
_SEQ = attrgetter("seq")
_WATCHES = 4  # at most: a fit is let go when so many others were begun after it


@final
class Lesson(NamedTuple):
    """The answer to a question, decided by the entry ``seq`` of the log.

    ``said`` are the entries of the answers that it teaches, of none where a manager decided; None: its own alone.
    """

    seq: int
    number: int
    answer: bool
    said: tuple[int, ...] | None = None


@final
class LateLesson(NamedTuple):
    """What people who ``said`` something to a question teach beyond the first ``known`` of them; it decides nothing."""

    seq: int
    number: int
    answer: bool
    said: tuple[int, ...]
    known: int


@final
class FitLesson(NamedTuple):
    """The fit of a hash, made of the first ``learnt`` lessons, which takes effect with the entry ``seq`` of the log.

    One that is made in the place of others that fell out stands behind the answer of the entry ``seq``.
    """

    seq: int
    learnt: int
    hash: str


Step = Lesson | LateLesson | FitLesson


@final
class GivenAnswer(NamedTuple):
    """One person's answer to a question."""

    seq: int
    id: str
    who: str
    answer: bool


QuestionReader = Callable[[Sequence[int]], Sequence[Question]]
"""Reads questions by their numbers, from a log."""


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
    bag: int | None = None
    """The first question of those that were asked at once."""
    expected: float | None = None
    """The error that the model expected of an exam's row."""
    part: ErrorPart | None = None
    """Which part of the error its score measures; None: all there is, or nobody asked beyond (older logs)."""
    given: list[GivenAnswer] = field(default_factory=list)

    @property
    def is_far(self) -> bool:
        """Whether it measured the error beyond what exams ask about."""
        return self.part is not None and self.part.far

    @property
    def question(self) -> Question:
        """What was asked."""
        [question] = questions_of([self])
        return question


@final
class ToldLesson(NamedTuple):
    """An answer that is learnt from, what was asked, and what it teaches."""

    lesson: Lesson | LateLesson
    asking: AskedQuestion
    example: Example


def teaches(learner: Learner[Any], asking: AskedQuestion) -> bool:
    """Return whether a learner can learn from an answer: an exam is not asked at the prediction, where a slope must be.

    From a question with two ends only those learn that have a likelihood of it.
    """
    return asking.role not in ("exam", "check") or able(
        learner, TakesRanges if isinstance(asking.question, Between) else Forecasts
    )


def questions_of(asked: Sequence[AskedQuestion]) -> list[Question]:
    """Return what was asked; those that are not at hand are read at once."""
    for reader, away in groupby((one for one in asked if not isinstance(one.source, Question)), lambda one: one.source):
        wanted = list(away)
        for one, question in zip(wanted, cast(QuestionReader, reader)([one.number for one in wanted]), strict=True):
            one.source = question
    return [cast(Question, one.source) for one in asked]


def number_of(asked: str) -> int:
    """Return the number of the question that an event asked.

    >>> number_of("ask-17")
    17
    """
    return int(asked.removeprefix("ask-"))


def decided(counted: Iterable[GivenAnswer], most: int) -> tuple[int, bool] | None:
    """Return when, and with which answer, the majority of ``most`` people was certain; None: it is not.

    >>> yes, no = GivenAnswer(1, "a", "ann", True), GivenAnswer(2, "b", "bob", False)
    >>> decided([yes, no], 1), decided([yes, no], 3)
    ((1, True), None)
    """
    votes = [0, 0]
    for one in counted:
        votes[one.answer] += 1
        if 2 * votes[one.answer] > most:
            return one.seq, one.answer
    return None


def late_lessons(number: int, counted: Sequence[GivenAnswer], known: int) -> tuple[LateLesson, ...]:
    """Return what each answer after the first so many teaches; without these, all together."""
    said = tuple(one.seq for one in counted)
    ends = range(known, len(counted)) if known else [len(counted) - 1]
    return tuple(
        LateLesson(said[end], number, counted[end].answer, said[: end + 1], end if known else 0) for end in ends
    )


def opinions_of(
    asked: AskedQuestion, lesson: Lesson | LateLesson, named: Callable[[GivenAnswer], str]
) -> tuple[tuple[str, bool], ...]:
    """Return whose word a lesson is: who said what, as the learner calls them (``named``)."""
    said = (lesson.seq,) if lesson.said is None else lesson.said
    return tuple((named(one), one.answer) for one in asked.given if one.seq in said)


def in_stint(who: str, stint: int) -> str:
    """Return what the learner calls somebody: another name after each pause, since they may do better.

    >>> in_stint("ann", 0), in_stint("ann", 1)
    ('ann', 'ann (2)')
    """
    return who if stint == 0 else f"{who} ({stint + 1})"


@final
class TrainingSet:
    """Lessons in the order in which they were decided; says from where on they changed.

    Fits stand among the ``steps``.  One that is made of an answer which was taken back, or that does not count any
    more, falls out; so does one before which an answer counts again.  Others are made in their places: as if the
    answers had always been what they are now.
    """

    def __init__(self) -> None:
        self.all: list[Lesson] = []
        """What was decided."""
        self.fits: list[FitLesson] = []
        self.steps: list[Step] = []
        """All, and what came late, in their order."""
        self._of: dict[int, Lesson] = {}
        self.late: dict[int, tuple[LateLesson, ...]] = {}
        """Question: what was said to it beside what decided it."""
        self.changed = 0
        """Steps before this place are as they were when this was last set."""
        self.gap: tuple[int, int] | None = None
        """The first and the last entry between which fits fell out, and others are to be where they are due."""
        self._watches: list[StepWatch] = []
        self._mark, self._marked = hashlib.sha256(), 0

    def adopt(
        self,
        lessons: list[Lesson],
        fits: list[FitLesson],
        late: Iterable[LateLesson],
        gap: tuple[int, int] | None = None,
    ) -> None:
        """Take over what was kept, into a set that has nothing."""
        self.gap = gap
        self.all, self._of, self.fits = lessons, {lesson.number: lesson for lesson in lessons}, fits
        for one in late:
            self.late[one.number] = (*self.late.get(one.number, ()), one)
        rest: list[Step] = sorted(chain(*self.late.values(), fits), key=_SEQ)
        self.steps = list(merge(lessons, rest, key=_SEQ)) if rest else list(lessons)

    def fit(self, fit: FitLesson) -> None:
        """Note a fit, after all that there is: where some fell out before it, none was made in their places."""
        self.fits.append(fit)
        self.steps.append(fit)
        self.gap = None

    def fit_in_place(self, fit: FitLesson) -> None:
        """Note a fit that is made in the place of others, which fell out."""
        bisect.insort_right(self.fits, fit, key=_SEQ)
        place = bisect.bisect_right(self.steps, fit.seq, key=_SEQ)
        self.steps.insert(place, fit)
        self._change(place)

    @property
    def gap_places(self) -> tuple[int, int]:
        """The first and the last place where a fit is to be that is due there; none: (0, -1)."""
        if self.gap is None:
            return 0, -1
        first, last = self.gap
        return bisect.bisect_left(self.steps, first, key=_SEQ), bisect.bisect_right(self.steps, last, key=_SEQ)

    def set(self, number: int, new: Lesson | None, late: tuple[LateLesson, ...] = ()) -> None:
        """Set what a question teaches now."""
        old, before = self._of.get(number), self.late.get(number, ())
        if old == new and before == late:
            return
        if old is not None and old != new:
            del self.all[_place(self.all, old)], self._of[number]
            self._remove(old)
        for one in before:  # what goes, before what comes in its place
            if one not in late:
                self._remove(one)
        if new is not None and old != new:
            self.all.insert(_place(self.all, new), new)
            self._of[number] = new
            self._insert(new)
        for one in late:
            if one not in before:
                self._insert(one)
        self.late[number] = late
        if not late:
            del self.late[number]

    def _remove(self, step: Lesson | LateLesson) -> None:
        place = self._without_fits(step)
        del self.steps[place]
        self._change(place)

    def _insert(self, step: Lesson | LateLesson) -> None:
        place = self._without_fits(step)
        self.steps.insert(place, step)
        self._change(place)

    def _without_fits(self, lesson: Lesson | LateLesson) -> int:
        """Take out the fits after a lesson that changes; return its place among the steps."""
        place = _place(self.steps, lesson)
        if self.fits and self.fits[-1].seq >= lesson.seq:
            first, last = (lesson.seq, 0) if self.gap is None else self.gap
            self.gap = min(first, lesson.seq), max(last, self.steps[-1].seq)
            self.fits = [fit for fit in self.fits if fit.seq < lesson.seq]
            self.steps[place:] = [step for step in self.steps[place:] if not isinstance(step, FitLesson)]
        return place

    def watch(self, steps: int) -> StepWatch:
        """Return what notices if one of the first so many steps changes from here on."""
        self._watches = [*self._watches[1 - _WATCHES :], StepWatch(steps, steps)]
        return self._watches[-1]

    def watches(self, watch: StepWatch) -> bool:
        """Return whether it is still told of changes."""
        return watch in self._watches

    def answer_to(self, number: int) -> bool | None:
        """Return how a question is decided now; None: it is not.

        Where one answer is enough and others were asked for all the same, by most of them, or else by the first.
        """
        lesson, late = self._of.get(number), self.late.get(number)
        if lesson is None or lesson.said is not None or late is None:
            return None if lesson is None else lesson.answer
        yes = lesson.answer + sum(one.answer for one in late)
        return lesson.answer if 2 * yes == 1 + len(late) else 2 * yes > 1 + len(late)

    def _change(self, place: int) -> None:
        self.changed = min(self.changed, place)
        for watch in self._watches:
            watch.untouched = min(watch.untouched, place)
        if place < self._marked:
            self._mark, self._marked = hashlib.sha256(), 0

    def digest(self, count: int) -> str:
        """Return a mark of the first so many steps: a state that was kept belongs to these and no others."""
        known = count >= self._marked  # it goes on where it ended: but for a few, lessons come at the end
        mark = self._mark if known else hashlib.sha256()
        for step in self.steps[self._marked if known else 0 : count]:
            if isinstance(step, FitLesson):
                mark.update(f"{step.seq},{step.learnt},{step.hash};".encode())
                continue
            mark.update(b"%d,%d,%d;" % step[:3])
            if step.said is not None:
                mark.update(repr(step[3:]).encode())
        if known:
            self._marked = min(count, len(self.steps))
        return mark.hexdigest()


@final
@dataclass(eq=False)
class StepWatch:
    """The first ``steps`` of the lessons, of which so many are as they were."""

    steps: int
    untouched: int


@final
class DueFit(NamedTuple):
    """A fit to be made: of this state, after the steps that are watched, of which ``learnt`` are answers.

    It takes effect when it is made; or ``after`` an entry, in the place of one that fell out.
    """

    learner: Refits[Any]
    state: Any
    watch: StepWatch
    learnt: int
    after: int | None = None


def _place(steps: Sequence[Step], lesson: Lesson | LateLesson) -> int:
    """Return where a lesson is, or would be: at the end, as a rule."""
    if not steps or steps[-1].seq < lesson.seq:
        return len(steps)
    return bisect.bisect_left(steps, lesson.seq, key=_SEQ)
