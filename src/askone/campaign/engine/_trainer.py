"""The model's state after a campaign's lessons and fits: brought up to date when there is time for it.

The state after the first k lessons is a fold and depends on nothing else; how large k is at a moment depends on how
much time there was.  So people are served while a few answers are still being learnt from, and what a question
was made at stands in the log.

Where lessons changed that the state has, as when somebody is excluded, it is folded anew beside: people are asked by
the state that there is, and by the new one as soon as it has learnt all.  Fits with the old lessons in them fell out;
the fold stops wherever one is due until it was made, so that the new state is what it would have been all along.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, final

from askone._common.types import Array
from askone.campaign.engine.training_set import (
    AskedQuestion,
    DueFit,
    FitLesson,
    GivenAnswer,
    LateLesson,
    Lesson,
    Step,
    ToldLesson,
    TrainingSet,
    in_stint,
    opinions_of,
    questions_of,
    teaches,
)
from askone.learners.abilities import Refits, able
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.session.checkpoints import Example, Fit, Fold, fit_of, learnt
from askone.session.log import AUTOMATIC

Features = Callable[[Sequence[int]], Array]
"""Rows as the model sees them, by position."""
FitReader = Callable[[str], bytes | None]
"""Fits by their hashes; None: it is missing or damaged."""
log = logging.getLogger("askone.campaign")
_CHUNK, _BLOCK = 512, 64  # lessons whose rows are read at once; those that are learnt at once where nobody waits
_SLICE = 32  # lessons whose rows are read at once where somebody may come
_LONG, _LATELY = 0.1, 3  # seconds of a processor for a lesson, if each of so many took as long or longer


@final
class Slice(NamedTuple):
    """Some lessons after the first ``start`` of a fold, and what they teach; ``took``: seconds of the latest ones."""

    fold: Fold
    start: int
    steps: Sequence[Step]
    taught: Sequence[Example | Fit | None]
    took: deque[float]

    def after(self, place: int, state: Any) -> Any:
        """Return the state after one more lesson; nothing else changes, so others may go on meanwhile."""
        lesson = self.taught[place]
        if lesson is None:
            return state
        began = time.thread_time()
        state = learnt(self.fold.learner, state, lesson)
        self.took.append(time.thread_time() - began)
        self.fold.weigh(state, self.start + place + 1)
        return state


@final
class Trainer:
    """See the module: a fold of the lessons, which may be taken back."""

    def __init__(
        self,
        learner: Learner[Any],
        features: Features,
        asked: Mapping[int, AskedQuestion],
        lessons: TrainingSet,
        fits: FitReader | None,
    ) -> None:
        self._features, self._asked, self.lessons, self._fits = features, asked, lessons, fits
        self.made: dict[str, bytes] = {}
        """Fits that were made here and are not kept, by their hashes."""
        self.lost: set[str] = set()
        """Fits that the log speaks of and that are missing or damaged: the state is without them."""
        self.returns: dict[str, list[int]] = {}
        """Person who was paused: the entries by which they are asked again."""
        self.fold = Fold(learner)
        self._beside: Fold | None = None
        self._passed: tuple[int, int] | None = None
        self._took = deque[float](maxlen=_LATELY)

    @property
    def slow(self) -> bool:
        """Whether lessons take so long, as those of hundreds of classes, that nobody should wait for one."""
        return len(self._took) == _LATELY and min(self._took) > _LONG

    def supposed(self, x: Array, question: Question, answer: bool) -> Any:
        """Return the state as it would be after an answer."""
        began = time.thread_time()
        state = self.fold.learner.tell(self.fold.state, x, question, answer)
        self._took.append(time.thread_time() - began)
        return state

    @property
    def _newest(self) -> Fold:
        """The fold that learns: the one beside, if there is one."""
        return self.fold if self._beside is None else self._beside

    @property
    def pending(self) -> int:
        """Lessons that are still to be learnt, or to be learnt anew."""
        return len(self.lessons.steps) - min(self._newest.count, self.lessons.changed)

    @property
    def learnt(self) -> int:
        """Lessons that the state has, fits included."""
        return self.fold.count

    @property
    def valid(self) -> bool:
        """Whether the state's lessons are still as they were; if not, it is folded anew beside, and will be."""
        return self._beside is None and self.lessons.changed >= self.learnt

    @property
    def anew(self) -> tuple[int, int] | None:
        """How many lessons are learnt of how many, while the state is folded anew; None: it is as its lessons are."""
        count = min(self._newest.count, self.lessons.changed)
        last = -1 if self.lessons.gap == self._passed else self.lessons.gap_places[1]
        if self.valid and (count > last or (count == last and not self._lacks_fit(self.fold))):
            return None
        return count, len(self.lessons.steps)

    def _lacks_fit(self, fold: Fold) -> bool:
        """Return whether a fit is due where some fell out: the fold goes on when it was made."""
        lessons, learner, at = self.lessons, fold.learner, fold.count
        if lessons.gap == self._passed or not able(learner, Refits):
            return False
        first, last = lessons.gap_places
        there = at < len(lessons.steps) and isinstance(lessons.steps[at], FitLesson)
        return first <= at <= last and not there and learner.due(fold.state)

    def pass_over(self) -> None:
        """Go on without the fits that fell out: one of them cannot be made."""
        self._passed = self.lessons.gap

    def settle(self) -> None:
        """Learn what the lessons teach, from where they changed if they did, up to a fit that is to be made anew."""
        self._turn_back()
        fold = self._newest
        while fold.count < len(self.lessons.steps) and not self._lacks_fit(fold):
            self._learn(fold.count, fold.count + _CHUNK)
        self._arrive()

    def _arrive(self) -> None:
        """Let the new state take the place of the old one, which has no other lessons than it."""
        if self._newest.count == len(self.lessons.steps) and not self._lacks_fit(self._newest):
            self.fold, self._beside = self._newest, None

    def _turn_back(self) -> None:
        """Go back to before the first lesson that changed, beside."""
        lessons = self.lessons
        if lessons.changed < self._newest.count:
            self._beside = self._newest.back_to(lessons.changed)
            lessons.changed = self._beside.count

    def next_slice(self) -> Slice | None:
        """Return some lessons to be learnt one by one, while others go on, and taken in.

        None: all are learnt, or a fit is to be made first.
        """
        self._turn_back()
        fold = self._newest
        steps = [] if self._lacks_fit(fold) else self.lessons.steps[fold.count : fold.count + _SLICE]
        if not steps:
            self._arrive()
            return None
        return Slice(fold, fold.count, steps, self._taught(fold, steps), self._took)

    def take(self, part: Slice, place: int, state: Any) -> bool:
        """Go on to the state after the lesson at this place of a slice; return whether the next one may follow.

        Not if lessons changed meanwhile, or if a fit is to be made first.
        """
        fold, lessons, at = part.fold, self.lessons, part.start + place
        same = fold is self._newest and fold.count == at <= lessons.changed
        if not same or lessons.steps[at : at + 1] != part.steps[place : place + 1]:
            return False
        fold.advance(state)
        lessons.changed = fold.count
        return not self._lacks_fit(fold)

    def _learn(self, start: int, end: int) -> None:
        """Learn lessons from ``start`` on, up to ``end`` or to a fit that is to be made anew."""
        chunk, fold = self.lessons.steps[start:end], self._newest
        taught, done = self._taught(fold, chunk), 0
        first, last = (0, -1) if self.lessons.gap == self._passed else self.lessons.gap_places
        while done < len(taught) and not self._lacks_fit(fold):
            # Where fits fell out one may be due after any lesson.
            size = 1 if first <= fold.count <= last else _BLOCK
            if fold.count < first:
                size = min(_BLOCK, first - fold.count)
            block, began = taught[done : done + size], time.thread_time()
            fold.learn_many(block)
            self._took.append((time.thread_time() - began) / len(block))
            self.lessons.changed, done = fold.count, done + len(block)

    def _taught(self, fold: Fold, chunk: Sequence[Step]) -> list[Example | Fit | None]:
        """Return what lessons teach, with their rows and questions."""
        told = self._examples([one for one in chunk if not isinstance(one, FitLesson)])
        examples = (example if teaches(fold.learner, asking) else None for _, asking, example in told)
        return [self._fit(one) if isinstance(one, FitLesson) else next(examples) for one in chunk]

    def told(self, most: int) -> Iterator[ToldLesson]:
        """Yield the first so many answers that are learnt from, in their order, learnt or not."""
        steps = [one for one in self.lessons.steps if not isinstance(one, FitLesson)][:most]
        for start in range(0, len(steps), _CHUNK):
            yield from self._examples(steps[start : start + _CHUNK])

    def _examples(self, told: Sequence[Lesson | LateLesson]) -> Iterator[ToldLesson]:
        """Return what some answers teach; their questions and rows are read at once."""
        asked = [self._asked[lesson.number] for lesson in told]
        rows = self._features([asking.position for asking in asked]) if asked else ()
        return (
            ToldLesson(lesson, asking, self._example(lesson, asking, x, question))
            for lesson, asking, x, question in zip(told, asked, rows, questions_of(asked), strict=True)
        )

    def _example(self, lesson: Lesson | LateLesson, asking: AskedQuestion, x: Array, question: Question) -> Example:
        opinions, question = opinions_of(asking, lesson, self._name), question.of_row(asking.position)
        if len(opinions) == 1:
            return Example(AUTOMATIC, x, question, lesson.answer, opinions[0][0])
        known = lesson.known if isinstance(lesson, LateLesson) else 0
        return Example(AUTOMATIC, x, question, lesson.answer, None, opinions, known)

    def _name(self, given: GivenAnswer) -> str:
        returns = self.returns.get(given.who, ())
        return in_stint(given.who, sum(given.seq > one for one in returns))

    def name_now(self, who: str) -> str:
        """Return what the learner calls somebody's next answers."""
        return in_stint(who, len(self.returns.get(who, ())))

    @property
    def fits_learnt(self) -> int:
        """Fits that the state has; fewer than there are while the last one is still to be learnt."""
        steps, fits = self.lessons.steps[max(0, self.learnt - 1) : self.learnt], self.lessons.fits
        return sum(fit.seq <= steps[0].seq for fit in fits) if steps else 0

    def _fit(self, lesson: FitLesson) -> Fit | None:
        packed = self.made.get(lesson.hash) or (None if self._fits is None else self._fits(lesson.hash))
        if packed is None and lesson.hash not in self.lost:
            self.lost.add(lesson.hash)
            log.error("the fit of entry %d is missing or damaged: the model goes on without it", lesson.seq)
        return None if packed is None else Fit(lesson.hash, packed)

    def due(self) -> DueFit | None:
        """Return the fit that is due at the state, unless one is on its way; first those that fell out."""
        fold = self._newest
        if self.lessons.changed >= fold.count and self._lacks_fit(fold) and able(fold.learner, Refits):
            fits = sum(isinstance(one, FitLesson) for one in self.lessons.steps[: fold.count])
            after = self.lessons.steps[fold.count - 1].seq if fold.count else 0
            return DueFit(fold.learner, fold.state, self.lessons.watch(fold.count), fold.count - fits, after)
        learner, lessons, steps = self.fold.learner, self.lessons, self.learnt
        coming = bool(lessons.fits) and lessons.fits[-1] in lessons.steps[steps:]
        waits = coming or not self.valid or self.anew is not None
        if not able(learner, Refits) or waits or not learner.due(self.fold.state):
            return None
        return DueFit(learner, self.fold.state, lessons.watch(steps), steps - len(lessons.fits))

    def remade(self) -> Iterator[tuple[FitLesson, Fit, Any]]:
        """Yield each fit, made anew of the lessons that it is made of, and their state; all is folded anew."""
        learner = self.fold.learner
        self.fold, self._beside, self.lessons.changed = Fold(learner), None, 0
        self.lost.clear()
        self.pass_over()  # those that there are, and no others
        for before, fit in enumerate(self.lessons.fits):
            end = min(fit.learnt + before, self.lessons.steps.index(fit))
            while self.fold.count < end:
                self._learn(self.fold.count, min(end, self.fold.count + _CHUNK))
            if able(learner, Refits):
                yield fit, fit_of(learner, self.fold.state), self.fold.state
        self._passed = None
        self.settle()

    def accepts(self, due: DueFit) -> bool:
        """Return whether a fit is still wanted: its lessons are as they were, and no other fit came first."""
        lessons, watch = self.lessons, due.watch
        same = lessons.watches(watch) and watch.untouched == watch.steps
        later = lessons.steps[watch.steps :]
        return same and not any(isinstance(one, FitLesson) for one in later[: None if due.after is None else 1])

    def adopt(self, state: Any, count: int) -> None:
        """Go on from a state that was kept after the first ``count`` lessons (see ``TrainingSet.digest``)."""
        self.fold, self._beside = self._newest, None
        self.fold.adopt(state, count)
        self.lessons.changed = count

    def stand_in(self, state: Any, count: int) -> None:
        """Let people be asked by the state after other lessons, such as those before somebody was excluded.

        These here are learnt beside, and then switched to.
        """
        self._beside, self.fold = self._newest, Fold(self.fold.learner)
        self.fold.adopt(state, count)

    def take_over(self, other: Trainer, written: int) -> None:
        """Go on from what another trainer has, as far as its lessons are the same here.

        Entries after ``written`` are perhaps others.
        """
        same, most = 0, min(len(self.lessons.steps), other.lessons.changed)
        for ours, theirs in zip(self.lessons.steps[:most], other.lessons.steps, strict=False):
            if ours != theirs or ours.seq > written:
                break
            same += 1
        if same >= self._newest.count:
            self.fold, self.lessons.changed = other.fold.copy(), same
            self._beside = None if other._beside is None else other._beside.copy()
            self.lost |= other.lost
        elif other.learnt:
            self.stand_in(other.fold.state, other.learnt)
