"""The projection of a campaign's log: all that is known of it, as a fold over the entries.

``note`` does the book-keeping of one entry, ``trainer`` brings the model up to date.  No clock, no randomness:
whoever reads the same log has the same projection, and after as many lessons the same state bit for bit.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, cast, final

from askone.campaign.engine._annotator_statistics import Annotator, Undoable
from askone.campaign.engine._trainer import Features, FitReader, Trainer
from askone.campaign.engine.coverage import stretched
from askone.campaign.engine.row_pool import RowPool
from askone.campaign.engine.slips import Evidence, Slips, slip_rate
from askone.campaign.engine.training_set import (
    AskedQuestion,
    FitLesson,
    GivenAnswer,
    Lesson,
    TrainingSet,
    decided,
    late_lessons,
    number_of,
)
from askone.campaign.kinds.base import ErrorPart, Sat
from askone.errors import InvalidFile
from askone.learners.abilities import KnowsPeople
from askone.learners.base import Learner
from askone.session.bags import Pace
from askone.session.log import Answered, Asked, Choice, Fitted, Retracted, Skipped
from askone.store import notices
from askone.store.entries import Entry

STOPPED, FIT, PAUSED = "target-", "fit-", "paused-"
"""How the event begins that stops a campaign because its target is reached, that of a fit, and of a person's pause."""
Overlap = int | Literal["auto"]
TIRED = 3
"""After so many people skipped a question nobody else is asked."""


@final
class PlannedQuestion(NamedTuple):
    """A question to come: its number, its row, what it is for, and how the row was chosen.

    Rows that were ``passed`` over are known well enough: they have no question more.
    """

    number: int
    position: int
    role: str = ""
    choice: Choice | None = None
    passed: tuple[int, ...] = ()

    def to_json(self) -> list[Any]:
        """Return plain JSON values."""
        choice = None if self.choice is None else self.choice.to_json()
        return [self.number, self.position, self.role, choice, *([list(self.passed)] if self.passed else [])]

    @classmethod
    def from_json(cls, record: Sequence[Any]) -> PlannedQuestion:
        """Return the inverse of ``to_json``."""
        number, position, role, choice, *passed = record
        known = tuple(int(one) for one in passed[0]) if passed else ()
        return cls(int(number), int(position), str(role), None if choice is None else Choice(**choice), known)


@final
class Projection:
    """See the module.  ``overlap`` people are to answer each question; ``rowless``: all are about one row.

    With ``overlap="auto"`` it is one, and others are asked where a ``Reasked`` says so.
    ``flip`` is how often answers are flipped to be private, after people gave them.
    """

    def __init__(
        self,
        learner: Learner[Any],
        features: Features,
        overlap: Overlap = 1,
        rowless: bool = False,
        pool: RowPool | None = None,
        fits: FitReader | None = None,
        flip: float = 0.0,
    ) -> None:
        self.rowless, self.pool, self.flip = rowless, pool or RowPool(), flip
        self.overlaps = [(0, overlap)]
        """From which question on how many people answer each."""
        self.reasked: dict[int, int] = {}
        """Question: how many people more it was asked of."""
        self.opinions_left = True
        """Whether further opinions are of use where rows have run out, as far as was looked: no part of the fold."""
        self.changes: dict[str, Any] = {}
        """Settings that are no longer as at the beginning, as in their JSON."""
        self.seq = 0
        self.status: notices.Status = "running"
        self.stopped = False
        self.budget: int | None = None
        self.numbers = 0
        """Numbers that questions have, or that are set aside for them."""
        self.seats_asked = 0
        """Answers that there are or will be: what nobody could tell is no answer."""
        self.asked: dict[int, AskedQuestion] = {}
        self.reserved: dict[int, PlannedQuestion] = {}
        """Question: the one that follows it."""
        self.closed: set[int] = set()
        self.touched: dict[int, set[str]] = {}
        """Open question: who answered or skipped it."""
        self.people: dict[str, Annotator] = {}
        self.excluded: set[str] = set()
        self.paused: dict[str, Entry] = {}
        """Who is asked no more, by which entry."""
        self.flags: list[Entry] = []
        self.lessons = TrainingSet()
        self._knows_people = isinstance(learner, KnowsPeople)
        self.trainer = Trainer(learner, features, self.asked, self.lessons, fits)
        self.answers = self.skips = self.retractions = 0
        self.stale_count = self.stale_sum = self.stale_most = 0
        self.per_minute: Counter[int] = Counter()
        self.lately: deque[Sat] = deque(maxlen=64)
        """The latest exams."""
        self.checks: list[int] = []
        """Questions whose answer was all but known."""
        self.outside: dict[int, bool] = {}
        """Question about an interval: the answer that says "outside"."""
        self.several: set[int] = set()
        """Questions with more than one answer."""
        self.skipped_by: dict[int, dict[str, tuple[str, str]]] = {}
        """Question: its skips, with who and why."""
        self.rulings: dict[int, tuple[int, bool]] = {}
        """Question that a manager decided: by which entry, and how."""
        self.resolved: set[str] = set()
        """Flags that were seen to."""
        self.pace = Pace()
        """How long people take over one row, and over several at once."""
        self.lost: dict[int, int] = {}
        """Question that nobody else is asked: the answers that it lacks."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.pool.rows

    # -- book-keeping -----------------------------------------------------------------------------

    def apply(self, entries: Iterable[Entry]) -> None:
        """Note entries and learn what they teach."""
        for entry in entries:
            self.note(entry)
        self.trainer.settle()

    def note(self, entry: Entry) -> None:
        """Note one entry; the model learns later (see ``trainer``)."""
        if entry.seq != self.seq + 1:
            raise InvalidFile(f"entry {entry.seq} follows entry {self.seq}: the log has a gap")
        _NOTES[type(entry.event)](self, entry, entry.event)
        self.seq = entry.seq

    def person(self, who: str) -> Annotator:
        """Return what is known of somebody: nothing, if they did nothing yet."""
        return self.people.get(who) or Annotator()

    def _counted(self, who: str) -> Annotator:
        return self.people.setdefault(who, Annotator())

    def _began(self, entry: Entry, event: notices.Began) -> None:
        self.pool.grow(event.rows)
        self.budget = event.settings.get("ask", {}).get("budget")

    def _grown(self, entry: Entry, event: notices.Grown) -> None:
        self.pool.grow(event.rows)

    def _status_changed(self, entry: Entry, event: notices.StatusChanged) -> None:
        self.status = event.status
        self.stopped = self.stopped or event.id.startswith(STOPPED)

    def _limited(self, entry: Entry, event: notices.Limited) -> None:
        self.budget = event.budget

    def _changed(self, entry: Entry, event: notices.Changed) -> None:
        news = event.settings
        self.changes = {name: _merged(self.changes.get(name), news.get(name)) for name in {**self.changes, **news}}
        ask = news.get("ask", {})
        if "overlap" in ask:
            self.overlaps.append((self.numbers, ask["overlap"]))
        if "per_row" in ask:
            self.pool.allow(int(ask["per_row"]))

    def _asked(self, entry: Entry, event: Asked) -> None:
        number, position, aside = cast(int, event.question.number), int(entry.aside["position"]), entry.aside
        # Logs of older versions lack the last numbers: the bound then was that of the weight as well.
        score, *bounds = _pair(aside.get("score"))
        self.asked[number] = AskedQuestion(
            number,
            position,
            event.question,
            event.learnt,
            aside.get("role", ""),
            score,
            aside.get("truth"),
            bounds[0] if bounds else None,
            bounds[-1] if bounds else None,
            aside.get("predicted"),
            aside.get("aim", "error"),
            aside.get("chance"),
            aside.get("bag"),
            aside.get("expected"),
            None if aside.get("part") is None else ErrorPart(*aside["part"]),
        )
        if aside.get("chance") is not None:
            self.checks.append(number)
        self.seats_asked += self.seats(number)
        self.numbers = max(self.numbers, number + 1)
        self.touched[number] = set()
        if "outside" in aside:
            self.outside[number] = bool(aside["outside"])
        before = [before for before, following in self.reserved.items() if following.number == number]
        for one in before:
            del self.reserved[one]
        if not self.rowless and not before:  # its row was taken when it was set aside
            self._take(position, aside.get("passed", ()))
        if aside.get("ahead") is not None:
            plan = PlannedQuestion.from_json(aside["ahead"])
            self.reserved[number] = plan._replace(passed=())
            self.numbers = max(self.numbers, plan.number + 1)
            if not self.rowless:
                self._take(plan.position, plan.passed)

    def _take(self, position: int, passed: Sequence[int]) -> None:
        """Note that a row has a question more, and that others were passed over."""
        for known in passed:
            self.pool.leave(int(known))
        self.pool.take(position)

    def seats(self, number: int) -> int:
        """Return how many people are to answer a question."""
        if self.asked[number].role == "gold":
            return 1
        return self.overlap_of(number) + (self.reasked.get(number, 0) if self.reasked else 0)

    @property
    def overlap(self) -> int:
        """How many people answer each question that is asked now, at least."""
        return _people(self.overlaps[-1][1])

    @property
    def is_auto(self) -> bool:
        """Whether second opinions are asked for where they tell more than a question about another row."""
        return self.overlaps[-1][1] == "auto"

    def overlap_of(self, number: int) -> int:
        """Return how many people answer a question that is no gold: as many as when it got its number."""
        return _people(self._setting_of(number))

    def _setting_of(self, number: int) -> Overlap:
        if len(self.overlaps) == 1:  # as nearly always, and this is asked for every answer
            return self.overlaps[0][1]
        return next(overlap for first, overlap in reversed(self.overlaps) if first <= number)

    def opinions(self, number: int, most: int) -> list[GivenAnswer]:
        """Return what was said to a question that others may be asked, too, while it has fewer than ``most`` answers.

        None, if they may not: it only teaches, is closed, and nobody skipped or decided it.
        """
        free = self.asked[number].role == "" and number in self.closed and self._setting_of(number) == "auto"
        if not free or number in self.rulings or number in self.skipped_by:
            return []
        standing = self._standing(number)
        return standing if len(standing) < most else []

    def open_to(self, person: str, number: int) -> bool:
        """Return whether a question may go to somebody: it is open and new to them, and so is a row of gold."""
        asking = self.asked[number]
        seen = asking.role == "gold" and asking.position in self.person(person).gold_seen
        return not seen and number in self.touched and person not in self.touched[number]

    def waiting(self, most: int) -> list[int]:
        """Return the rows of the latest questions that are open."""
        return [self.asked[number].position for number in sorted(self.touched)[-most:]]

    def lacking(self, number: int) -> int:
        """Return how many answers are still to come to a question."""
        return 0 if number in self.closed else self.seats(number) - len(self._standing(number))

    def _standing(self, number: int) -> list[GivenAnswer]:
        """Return the answers that take a seat; gold measured its person, and is not asked of another instead."""
        asking = self.asked[number]
        return [given for given in asking.given if asking.role == "gold" or given.who not in self.excluded]

    def _answered(self, entry: Entry, event: Answered) -> None:
        number = number_of(event.asked)
        asking, answer = self.asked[number], bool(event.answer)
        given = GivenAnswer(entry.seq, event.id, entry.who, answer)
        asking.given.append(given)
        self.answers += 1
        person, by_program = self._counted(entry.who), bool(entry.aside.get("program"))
        person.program = person.program or by_program
        if not by_program:
            self.per_minute[int(entry.at // 60)] += 1
        person.answered(answer, None if by_program else entry.took, asking.truth)
        if entry.aside.get("cost") is not None:
            person.cost, person.priced = person.cost + float(entry.aside["cost"]), person.priced + 1
        person.done.append(Undoable(event.id, number, False))
        person.last_seen = entry.at
        if asking.role == "gold":
            person.gold_seen.add(asking.position)
        questions, looks, seconds = entry.aside.get("looked") or (1, 1, entry.took)
        if seconds is not None and not by_program:
            self.pace = self.pace.told(looks / questions, float(seconds) / questions, int(questions))
        late = int(entry.aside.get("learnt", asking.learnt)) - asking.learnt
        if late > 0:
            self.stale_count, self.stale_sum = self.stale_count + 1, self.stale_sum + late
            self.stale_most = max(self.stale_most, late)
        if asking.score is not None and not asking.is_far:
            self.lately.append(Sat(asking.question, asking.predicted, answer, asking.expected))
        if len(asking.given) > 1:
            self.several.add(number)
        self._refresh(number)
        self._decide(number)

    def _refresh(self, number: int) -> None:
        """Whether a question is still open, and for whom it is not."""
        standing, skips = self._standing(number), self.skipped_by.get(number, {})
        counted = [reason for who, reason in skips.values() if who not in self.excluded]
        most = 1 if self.asked[number].role == "gold" else TIRED  # a check is of one person: nobody else has to take it
        tired = len(counted) >= most or any(reason != "skip" for reason in counted) or number in self.rulings
        lost = max(0, self.seats(number) - len(standing)) if tired else 0
        self.seats_asked += self.lost.pop(number, 0) - lost
        if lost:
            self.lost[number] = lost
        if tired or len(standing) >= self.seats(number):
            self.closed.add(number)
            self.touched.pop(number, None)
            return
        self.closed.discard(number)
        self.touched[number] = {given.who for given in self.asked[number].given} | {who for who, _ in skips.values()}

    def _decide(self, number: int) -> None:
        asking = self.asked[number]
        if asking.role == "gold":
            return
        counted = self._standing(number)
        decision, ruling = decided(counted, self.overlap_of(number)), self.rulings.get(number)
        if ruling is not None:  # in the place of what people said, if they did
            self.lessons.set(number, Lesson((decision or ruling)[0], number, ruling[1], ()))
            return
        lesson, known = None, 0
        if decision is not None:
            known = next(n for n, one in enumerate(counted, 1) if one.seq == decision[0])
            said = None if known == 1 else tuple(one.seq for one in counted[:known])
            lesson = Lesson(decision[0], number, decision[1], said)
        # Where people are known, those who differ teach as well, and those who come after a decision.
        teach = self._knows_people and (known or (len(counted) > 1 and len(counted) >= self.seats(number)))
        self.lessons.set(number, lesson, late_lessons(number, counted, known) if teach else ())

    def _retracted(self, entry: Entry, event: Retracted) -> None:
        number = self._undone(entry, event.answered)
        asking = self.asked[number]
        given = next(one for one in asking.given if one.id == event.answered)
        asking.given.remove(given)
        self.answers, self.retractions = self.answers - 1, self.retractions + 1
        self.people[given.who].answered(given.answer, None, asking.truth, -1)
        if len(asking.given) < 2:
            self.several.discard(number)
        self._refresh(number)
        self._decide(number)

    def _skipped(self, entry: Entry, event: Skipped) -> None:
        number, reason = number_of(event.asked), str(entry.aside.get("reason", "skip"))
        self.skipped_by.setdefault(number, {})[event.id] = (entry.who, reason)
        self.skips += 1
        person = self._counted(entry.who)
        person.skips, person.last_seen = person.skips + 1, entry.at
        person.program = person.program or bool(entry.aside.get("program"))
        person.done.append(Undoable(event.id, number, True))
        self._refresh(number)

    def _reopened(self, entry: Entry, event: notices.Reopened) -> None:
        number = self._undone(entry, event.skipped)
        who, _ = self.skipped_by[number].pop(event.skipped)
        self.skips -= 1
        self.people[who].skips -= 1
        self._refresh(number)

    def _undone(self, entry: Entry, event: str) -> int:
        """Return the number of the question whose answer or skip is taken back, as a rule by who gave it."""
        others = (person for who, person in self.people.items() if who != entry.who)
        for person in chain([self.person(entry.who)], others):
            number = person.undo(event)
            if number is not None:
                return number
        raise InvalidFile(f"entry {entry.seq} takes back {event!r}, which the log does not have")

    def _flagged(self, entry: Entry, event: notices.Flagged) -> None:
        self.flags.append(entry)
        self._counted(entry.who).flags += 1

    def _ruled(self, entry: Entry, event: notices.Ruled) -> None:
        number = number_of(event.asked)
        if event.answer is None:
            self.rulings.pop(number, None)
        else:
            self.rulings[number] = entry.seq, bool(event.answer)
        asking, truth = self.asked[number], None if event.answer is None else bool(event.answer)
        for given in asking.given:  # it measures people from here on, as a label that was known does
            self.people[given.who].measure(given.answer, asking.truth, -1)
            self.people[given.who].measure(given.answer, truth)
        asking.truth = truth
        self._refresh(number)
        self._decide(number)

    def _reasked(self, entry: Entry, event: notices.Reasked) -> None:
        number = number_of(event.asked)
        self.reasked[number] = self.reasked.get(number, 0) + 1
        self.seats_asked += 1
        self._refresh(number)

    def _resolved(self, entry: Entry, event: notices.Resolved) -> None:
        self.resolved.add(event.flagged)

    def _excluded_or_included(self, entry: Entry, event: notices.Excluded | notices.Included) -> None:
        (self.excluded.add if isinstance(event, notices.Excluded) else self.excluded.discard)(event.person)
        for number in {done.number for done in self.person(event.person).done}:
            self._refresh(number)
            self._decide(number)

    def _paused(self, entry: Entry, event: notices.PausedPerson) -> None:
        self.paused[event.person] = entry

    def _resumed(self, entry: Entry, event: notices.ResumedPerson) -> None:
        person = self._counted(event.person)
        person.before = person.answers
        self.paused.pop(event.person, None)
        self.trainer.returns.setdefault(event.person, []).append(entry.seq)

    def _fitted(self, entry: Entry, event: Fitted) -> None:
        if event.after is None:
            self.lessons.fit(FitLesson(entry.seq, event.learnt, event.hash))
        else:
            self.lessons.fit_in_place(FitLesson(event.after, event.learnt, event.hash))

    # -- learning ---------------------------------------------------------------------------------

    @property
    def learner(self) -> Learner[Any]:
        """Who asks and learns."""
        return self.trainer.fold.learner

    @property
    def state(self) -> Any:
        """What was learnt so far."""
        return self.trainer.fold.state

    @property
    def learnt(self) -> int:
        """Answers that the state has learnt from, as the learner counts them."""
        return self.learner.count(self.state)

    def stretch(self, alpha: float) -> float:
        """Return by how much intervals that 1 - alpha of the labels should lie in are stretched (see ``coverage``)."""
        said = [(self.lessons.answer_to(number), outside) for number, outside in self.outside.items()]
        slip = self.slips.of_majority(self.overlap).rate
        return stretched([answer == outside for answer, outside in said if answer is not None], alpha, slip)

    # -- looking ----------------------------------------------------------------------------------

    def active(self, now: float, seconds: float = 60.0) -> int:
        """Return how many people answered or skipped lately; programs are none.

        Where answers are private, times are whole minutes.
        """
        seconds += 60.0 if self.flip else 0.0
        return sum(person.last_seen > now - seconds and not person.program for person in self.people.values())

    @property
    def slips(self) -> Slips:
        """How often an answer is wrong, as far as is known by now."""
        people = [person for who, person in self.people.items() if who not in self.excluded]
        # Second opinions are asked where the first ones are in doubt: these differ more often than others.
        splits = [self._split(number) for number in self.several - self.reasked.keys()]
        gold, right = (sum(getattr(person, name) for person in people) for name in ("gold_asked", "gold_right"))
        ruled = [
            one.answer == self.asked[number].truth
            for number in self.rulings
            for one in self.asked[number].given
            if one.who not in self.excluded
        ]  # what managers decide is doubtful more often than other questions: it would make everybody look worse
        gold, right = gold - len(ruled), right - sum(ruled)
        evidence = Evidence(gold, gold - right, [split for split in splits if sum(split) > 1])
        checks = [(self.asked[number].chance, self.asked[number].given) for number in self.checks]
        said = [(p, one.answer) for p, given in checks if p for one in given if one.who not in self.excluded]
        return slip_rate(evidence, said, self.flip)

    def _split(self, number: int) -> tuple[int, int]:
        """Return how many of those who count said yes to a question, and no."""
        said = [given.answer for given in self.asked[number].given if given.who not in self.excluded]
        yes = sum(said)
        return yes, len(said) - yes

    def agreement(self) -> dict[str, tuple[int, int]]:
        """Return how often each person agrees with others who answered the same questions, and of how many answers.

        Whoever is excluded is nobody to agree with, but is told how often they did.
        """
        found: dict[str, tuple[int, int]] = {}
        for number in self.several:
            given = self.asked[number].given
            for one in given:
                others = [other for other in given if other.who != one.who and other.who not in self.excluded]
                alike, of = found.get(one.who, (0, 0))
                found[one.who] = (alike + sum(o.answer == one.answer for o in others), of + len(others))
        return found


def _people(overlap: Overlap) -> int:
    return 1 if overlap == "auto" else int(overlap)


def _pair(score: Sequence[float] | None) -> tuple[Any, ...]:
    """Return the scores of a no and of a yes as a pair, and the bounds that stand behind them."""
    return (None,) if score is None else ((float(score[0]), float(score[1])), *map(float, score[2:]))


def _merged(old: Any, new: Any) -> Any:
    """Return a setting, or a table of them, after a change."""
    if new is None:
        return old
    return {**(old or {}), **new} if isinstance(new, dict) else new


_Note = Callable[[Projection, Entry, Any], None]
_NOTES: dict[type, _Note] = {
    notices.Began: Projection._began,
    notices.Grown: Projection._grown,
    notices.StatusChanged: Projection._status_changed,
    notices.Limited: Projection._limited,
    notices.Changed: Projection._changed,
    Asked: Projection._asked,
    Answered: Projection._answered,
    Retracted: Projection._retracted,
    Skipped: Projection._skipped,
    notices.Reopened: Projection._reopened,
    notices.Flagged: Projection._flagged,
    notices.Excluded: Projection._excluded_or_included,
    notices.Included: Projection._excluded_or_included,
    notices.PausedPerson: Projection._paused,
    notices.ResumedPerson: Projection._resumed,
    notices.Ruled: Projection._ruled,
    notices.Reasked: Projection._reasked,
    notices.Resolved: Projection._resolved,
    Fitted: Projection._fitted,
}
"""What each kind of entry does; ``Revisited`` belongs to learners that campaigns do not use."""
