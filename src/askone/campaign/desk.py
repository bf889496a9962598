"""Where people are served: requests in, results out, one durable turn of the store for a batch of them.

In a turn the log is caught up with, every request is decided at the book's state, and what happened is written
with the seats it changed.  Nothing has happened before the turn is committed: if it fails, the book is read
anew.  A question without an answer has a seat for each person who is to answer it; a seat that is not held,
or whose lease has run out, goes to whoever comes next, with the question that was asked.  So a row is asked once.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, final

from askone.campaign.asking import QUIET, Asker, Drafted, Plan
from askone.campaign.book import STOPPED, Book
from askone.campaign.requests import (
    REASONS,
    Ahead,
    Answer,
    Done,
    Exclude,
    Flag,
    Include,
    Next,
    Release,
    Renew,
    Request,
    Result,
    Served,
    Serving,
    SetBudget,
    SetStatus,
    Skip,
    State,
    Undo,
    ids_of,
    leases_of,
    people_of,
)
from askone.errors import AskoneError, CampaignClosed, InvalidArgument, LeaseLost, UnknownQuestion
from askone.events import Answered, Retracted, Skipped
from askone.store.entries import Entry, Seat
from askone.store.notices import STATUSES, Excluded, Flagged, Included, Limited, Reopened, Turned
from askone.store.store import Turn

UNDOABLE = 20
"""How far back a person may undo."""
_PAGES, _MANY, _LONGEST = 5, 500, 2000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
_DAY = 86_400.0


@final
class Sitting:
    """One batch of requests: what the store has for them, and what is to be written."""

    def __init__(self, asker: Asker, turn: Turn, requests: Sequence[Request], now: float) -> None:
        self.asker, self.book, self.turn, self.now = asker, asker.book, turn, now
        people, leases = sorted(set(people_of(requests))), sorted(set(leases_of(requests)))
        self.known: dict[str, Entry] = turn.known(ids_of(requests)) if ids_of(requests) else {}
        found = turn.seats(people=people, leases=leases) if people or leases else []
        self.seats = {(seat.number, seat.seat): seat for seat in found}
        self.entries: list[Entry] = []
        self.put: dict[tuple[int, int], Seat] = {}
        self.drop: set[tuple[int, int]] = set()
        self.measured = False
        """Whether the error of the model is known better than before."""
        self._drafts: dict[tuple[int, int], tuple[Drafted, Drafted]] = {}
        self._free: list[Seat] = []
        self._after: tuple[int, int] | None = (-1, -1)
        self._batch = 8 + 2 * len(requests)
        self._quiet = self.book.active(now) <= QUIET

    # -- changes ----------------------------------------------------------------------------------

    def note(self, entry: Entry) -> Entry:
        """It happens: the book learns of it, and it will be written."""
        placed = replace(entry, seq=self.book.seq + 1)
        self.book.note(placed)
        self.entries.append(entry)
        self.known[entry.id] = placed
        return placed

    def seat(self, seat: Seat) -> Seat:
        """A seat that is new or has changed."""
        place = (seat.number, seat.seat)
        self.seats[place] = self.put[place] = seat
        self.drop.discard(place)
        return seat

    def leave(self, seat: Seat) -> None:
        """A seat that is no longer."""
        place = (seat.number, seat.seat)
        self.seats.pop(place, None)
        self.put.pop(place, None)
        self.drop.add(place)

    def _learn(self) -> None:
        """Before a question is made, where few are at work; among many, what was just said is one bit of dozens."""
        if self._quiet:
            self.book.learning.settle()

    # -- serving a person -------------------------------------------------------------------------

    def serving(self, person: str, ahead: bool = True, duplicate: bool = False) -> Serving:
        """What this person has before them now."""
        book = self.book
        if book.status != "running":
            return self._without(person, book.status, duplicate)
        most = self.asker.settings.per_person
        if person in book.excluded or (most is not None and book.person(person).answers >= most):
            return self._without(person, "done", duplicate)
        seat = self._held(person) or self._left_over(person) or self._fresh(person, ahead) or self._last(person)
        if seat is None:
            return self._without(person, self._why(person), duplicate)
        return self.with_question(seat, person, ahead, duplicate)

    def with_question(self, seat: Seat, person: str, ahead: bool = True, duplicate: bool = False) -> Serving:
        """A seat's question, held for its person."""
        book, row = self.book, self.asker.tray.row(seat.position)
        following = self._following(person, seat.number)
        if ahead and seat.ahead is None and seat.seat == 0 and following is not None:
            seat = self._look_ahead(seat, following)
        served = Served(seat.lease, seat.number, book.asked[seat.number].question, row, seat.expires)
        return Serving("question", served, self._ahead(seat) if ahead else None, *self._counts(person), duplicate)

    def _without(self, person: str, state: State, duplicate: bool) -> Serving:
        mine, left, undoable = self._counts(person)
        return Serving(state, None, None, mine, 0 if state == "spent" else left, undoable, duplicate)

    def _counts(self, person: str) -> tuple[int, int | None, int]:
        book, known = self.book, self.book.people.get(person)
        left = None if book.budget is None else max(0, book.budget - book.answers)
        return (0, left, 0) if known is None else (known.answers, left, min(len(known.done), UNDOABLE))

    def _ahead(self, seat: Seat) -> Ahead | None:
        if seat.ahead is None or seat.number not in self.book.reserved:
            return None
        row = self.asker.tray.row(self.book.reserved[seat.number][1])
        each = [self._draft(seat, bit) for bit in ("yes", "no")]
        yes, no = (Served(seat.ahead["lease"], d.plan.number, d.question, row, seat.expires) for d in each)
        return Ahead(yes, no)

    def _draft(self, seat: Seat, bit: str) -> Drafted:
        """What the seat has for after an answer; a no that is not there is as the yes."""
        ahead = seat.ahead or {}
        fresh = self._drafts.get((seat.number, seat.seat))
        if fresh is not None:
            return fresh[bit == "yes"]
        return Drafted.from_json(ahead["no"] if bit == "no" and "no" in ahead else ahead["yes"])

    def _lease(self, seat: Seat, person: str) -> Seat:
        expires = self.now + self.asker.settings.lease_seconds
        if seat.person == person and seat.lease:
            return self.seat(replace(seat, expires=expires))
        return self.seat(replace(seat, person=person, lease=secrets.token_urlsafe(16), expires=expires, ahead=None))

    def _held(self, person: str) -> Seat | None:
        """What this person has had before, and not answered."""
        for seat in sorted((s for s in self.seats.values() if s.person == person), key=lambda s: (s.number, s.seat)):
            if seat.number in self.book.closed:
                self.leave(seat)
            else:
                return self._lease(seat, person)
        return None

    def _left_over(self, person: str) -> Seat | None:
        """A question that was asked and that nobody holds, if this person has not had it."""
        found = self._find_left_over(person)
        return None if found is None else self._lease(found, person)

    def _find_left_over(self, person: str) -> Seat | None:
        holding = {seat.number for seat in self.seats.values() if seat.person == person}
        for seat in self._free:
            if self._suits(seat, person, holding):
                return seat
        for _ in range(_PAGES):
            if self._after is None:
                return None
            page = self.turn.free(self.now, self._batch, self._after)
            self._after = (page[-1].number, page[-1].seat) if len(page) == self._batch else None
            fresh = [seat for seat in page if not self._gone(seat)]
            self._free += fresh
            for seat in fresh:
                if self._suits(seat, person, holding):
                    return seat
        return None

    def _last(self, person: str) -> Seat | None:
        """The same however far the search must go: there is nothing else for this person."""
        numbers = sorted(number for number in self.book.touched if self.book.open_to(person, number))
        for start in range(0, len(numbers), _MANY):
            for seat in self._seats_of(numbers[start : start + _MANY]):
                if seat.expires <= self.now:
                    return self._lease(seat, person)
        return None

    def _gone(self, seat: Seat) -> bool:
        """Whether a seat, as the store has it, was changed in this sitting or its question is closed."""
        place = (seat.number, seat.seat)
        if place in self.put or place in self.drop:
            return True
        if seat.number in self.book.closed:
            self.leave(seat)
            return True
        return False

    def _suits(self, seat: Seat, person: str, holding: set[int]) -> bool:
        place = (seat.number, seat.seat)
        if place in self.put or place in self.drop or seat.number in holding:
            return False
        return self.book.open_to(person, seat.number)

    def _fresh(self, person: str, ahead: bool) -> Seat | None:
        """A question that was not asked before."""
        book = self.book
        plan = self._orphan(person, book.closed)
        if plan is None and self._affordable():
            plan = self.asker.plan(person, book.numbers)
        if plan is None and book.reserved:
            held = {seat.number for seat in self._seats_of(book.reserved) if seat.seat == 0 and seat.expires > self.now}
            plan = self._orphan(person, book.reserved.keys() - held)
        if plan is None:
            return None
        self._learn()
        return self._ask(self.asker.draft(plan, book.state), person, ahead)

    def _orphan(self, person: str, before: Collection[int]) -> Plan | None:
        """What was set aside to come after one of these questions, and will not come by itself."""
        plans = (self._following(person, number) for number in self.book.reserved if number in before)
        return next((plan for plan in plans if plan is not None), None)

    def _seats_of(self, numbers: Iterable[int]) -> list[Seat]:
        """The seats of these questions as they are now."""
        wanted = set(numbers)
        found = {(seat.number, seat.seat): seat for seat in self.turn.seats(numbers=sorted(wanted))}
        found |= {place: seat for place, seat in self.put.items() if seat.number in wanted}
        return [seat for place, seat in found.items() if place not in self.drop]

    def _affordable(self, more: int = 1) -> bool:
        book = self.book
        return book.budget is None or book.seats_asked + (len(book.reserved) + more) * book.overlap <= book.budget

    def _ask(self, draft: Drafted, person: str, ahead: bool, lease: str = "") -> Seat:
        """Put a question: it is logged with what is to follow it, and has its seats."""
        book, plan = self.book, draft.plan
        fresh = plan.number >= book.numbers
        following = None
        # Questions that nobody holds come first: then nothing is set aside, and they are found next time.
        if ahead and self._affordable(2 if fresh else 1) and self._find_left_over(person) is None:
            number = max(book.numbers, plan.number + 1)
            following = self.asker.plan(person, number, plan.position)
        self.note(draft.entry(self.asker.tray.row(plan.position).key, person, self.now, following))
        for extra in range(1, book.seats(plan.number)):
            self.seat(Seat(plan.number, extra, plan.position))
        expires = self.now + self.asker.settings.lease_seconds
        return self.seat(Seat(plan.number, 0, plan.position, person, lease or secrets.token_urlsafe(16), expires))

    def _following(self, person: str, number: int) -> Plan | None:
        """What is set aside to come after a question, unless this person has had that row."""
        plan, seen = self.book.reserved.get(number), self.book.person(person).gold_seen
        return None if plan is None or (plan[2] == "gold" and plan[1] in seen) else Plan(*plan)

    def _look_ahead(self, seat: Seat, following: Plan) -> Seat:
        self._learn()
        no, yes = self.asker.drafts(seat.number, following, self._quiet)
        ahead = {"lease": secrets.token_urlsafe(16), "yes": yes.to_json()}
        ahead |= {} if no is yes else {"no": no.to_json()}
        self._drafts[seat.number, seat.seat] = (no, yes)
        return self.seat(replace(seat, ahead=ahead))

    def _why(self, person: str) -> State:
        """Why there is no question: others may still give some back, the budget is spent, or there is none left."""
        book = self.book
        if any(book.open_to(person, number) for number in book.touched) or self._orphan(person, book.reserved):
            return "waiting"
        return "done" if self._affordable() else "spent"

    # -- what a person says -----------------------------------------------------------------------

    def next(self, request: Next) -> Serving:
        """See ``Next``."""
        return self.serving(request.person, request.ahead)

    def answer(self, request: Answer) -> Serving:
        """See ``Answer``."""
        if self._repeated(request.id, request.person, Answered):
            self._refuse_another(request)
            return self.serving(request.person, duplicate=True)
        seat = self._seat(request.person, request.lease)
        question = self.book.asked[seat.number].question
        accepted = bool(question.accept(request.answer))
        event = Answered(request.id, f"ask-{seat.number}", accepted)
        aside = {"learnt": self.book.learnt}
        self.note(Entry(event, request.person, self.now, _seconds(request.took), aside))
        if request.person in self.book.excluded and seat.number not in self.book.closed:
            self.seat(Seat(seat.number, seat.seat, seat.position))  # it does not count: somebody else is asked
        else:
            self.leave(seat)
        self.measured = self.measured or self.book.asked[seat.number].role == "exam"
        return self._after_it(seat, request.person, "yes" if accepted else "no")

    def _after_it(self, seat: Seat, person: str, bit: str | None) -> Serving:
        """What was set aside to come after a question, if it still is; else whatever is next.

        It was shown to whoever has the question's first seat: of several people one can have it.
        """
        book, following = self.book, self._following(person, seat.number)
        most = self.asker.settings.per_person
        may = book.status == "running" and person not in book.excluded
        may = may and (most is None or book.person(person).answers < most)
        held = any(other.person == person for other in self.seats.values())
        if following is None or not may or held or (seat.seat and seat.number not in book.closed):
            return self.serving(person)
        if bit is not None and seat.ahead is not None and seat.ahead["yes"]["plan"][0] == following.number:
            draft = self._draft(seat, bit)
            return self.with_question(self._ask(draft, person, True, seat.ahead["lease"]), person)
        self._learn()
        return self.with_question(self._ask(self.asker.draft(following, book.state), person, True), person)

    def skip(self, request: Skip) -> Serving:
        """See ``Skip``."""
        if self._repeated(request.id, request.person, Skipped):
            self._refuse_another(request)
            return self.serving(request.person, duplicate=True)
        if request.reason not in REASONS:
            raise InvalidArgument("reason", f"one of: {', '.join(map(repr, REASONS))}", repr(request.reason))
        seat = self._seat(request.person, request.lease)
        event = Skipped(request.id, f"ask-{seat.number}")
        self.note(Entry(event, request.person, self.now, aside={"reason": request.reason}))
        if seat.number not in self.book.closed:
            self.seat(Seat(seat.number, seat.seat, seat.position))
        else:
            self.leave(seat)
        return self._after_it(seat, request.person, None)

    def flag(self, request: Flag) -> Serving:
        """See ``Flag``."""
        if self._repeated(request.id, request.person, Flagged):
            return self.serving(request.person, duplicate=True)
        if not 0 < len(request.reason.strip()) <= _LONGEST:
            raise InvalidArgument("reason", f"a text of up to {_LONGEST} characters", repr(request.reason[:40]))
        seat = self._seat(request.person, request.lease)
        event = Flagged(request.id, f"ask-{seat.number}", request.reason.strip())
        self.note(Entry(event, request.person, self.now))
        return self.with_question(self._lease(seat, request.person), request.person)

    def undo(self, request: Undo) -> Serving:
        """See ``Undo``."""
        if self._repeated(request.id, request.person, Retracted | Reopened):
            return self.serving(request.person, duplicate=True)
        self._refuse_closed()
        done = self.book.people[request.person].done if request.person in self.book.people else []
        if not done:
            raise UnknownQuestion("there is nothing to take back")
        last = done[-1]
        if last.skipped and last.number in self.book.closed and not self._affordable():
            raise UnknownQuestion(
                "this skip cannot be taken back: another question was asked instead, and the budget is spent"
            )
        event = Reopened(request.id, last.id) if last.skipped else Retracted(request.id, last.id)
        placed = self.note(Entry(event, request.person, self.now))
        self._reseat([last.number], placed.seq)
        seat = self._reclaimed(last.number, request.person)
        # Somebody else may have the question by now: then it does not come back.
        return self.serving(request.person) if seat is None else self.with_question(seat, request.person)

    def _reseat(self, numbers: Sequence[int], seq: int) -> None:
        """Each of these questions has as many seats as it lacks answers, unless others hold more of them."""
        here: dict[int, list[Seat]] = {number: [] for number in numbers}
        for seat in self._seats_of(here):
            here[seat.number].append(seat)
            self.seats[seat.number, seat.seat] = seat
        for number, seats in here.items():
            lacking, position = self.book.lacking(number), self.book.asked[number].position
            spare = sorted((seat for seat in seats if seat.expires <= self.now), key=lambda seat: seat.person != "")
            for seat in spare[: max(0, len(seats) - lacking)]:
                self.leave(seat)
            for extra in range(lacking - len(seats)):
                # The place of the entry makes a number that no other seat of this question has.
                self.seat(Seat(number, self.book.overlap * (1 + seq) + extra, position))

    def _reclaimed(self, number: int, person: str) -> Seat | None:
        """A seat of this question for somebody who gave it up, if nobody else holds them all."""
        book = self.book
        if number in book.closed or person in book.excluded:
            return None
        mine = [seat for seat in self.seats.values() if seat.number == number]
        for seat in sorted(mine, key=lambda seat: (seat.person != person, seat.person != "", seat.seat)):
            if seat.person == person or seat.expires <= self.now:
                return self._lease(seat, person)
        return None

    def renew(self, request: Renew) -> Done:
        """See ``Renew``."""
        mine = self._own(request.person, request.leases)
        for seat in mine:
            self._lease(seat, request.person)
        return Done(len(mine))

    def release(self, request: Release) -> Done:
        """See ``Release``: whoever held it may still answer, until somebody else has it."""
        mine = self._own(request.person, request.leases)
        for seat in mine:
            self.seat(replace(seat, expires=0.0))
        return Done(len(mine))

    # -- what a manager says ----------------------------------------------------------------------

    def set_status(self, request: SetStatus) -> Done:
        """See ``SetStatus``."""
        if request.status not in STATUSES:
            raise InvalidArgument("status", f"one of: {', '.join(map(repr, STATUSES))}", repr(request.status))
        if not self._repeated(request.id, request.who, Turned) and request.status != self.book.status:
            self.note(Entry(Turned(request.id, request.status), request.who, self.now))
        return Done(1)

    def set_budget(self, request: SetBudget) -> Done:
        """See ``SetBudget``."""
        budget = request.budget
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
            raise InvalidArgument("budget", "a whole number from 1, or nothing for no limit", repr(budget))
        if not self._repeated(request.id, request.who, Limited):
            self.note(Entry(Limited(request.id, budget), request.who, self.now))
        return Done(1)

    def exclude(self, request: Exclude) -> Done:
        """See ``Exclude``: each of their answers and skips leaves a seat for somebody else."""
        book = self.book
        if request.person not in book.people:
            raise UnknownQuestion(f"nobody called {request.person!r} answered here")
        if self._repeated(request.id, request.who, Excluded) or request.person in book.excluded:
            return Done(book.people[request.person].answers)
        placed = self.note(Entry(Excluded(request.id, request.person), request.who, self.now))
        self._reseat(self._questions_of(request.person), placed.seq)
        return Done(book.people[request.person].answers)

    def _questions_of(self, person: str) -> list[int]:
        """The questions whose seats hang on what this person said or left."""
        return sorted({one.number for one in self.book.people[person].done})

    def include(self, request: Include) -> Done:
        """See ``Include``."""
        if request.person not in self.book.people:
            raise UnknownQuestion(f"nobody called {request.person!r} answered here")
        if not self._repeated(request.id, request.who, Included) and request.person in self.book.excluded:
            placed = self.note(Entry(Included(request.id, request.person), request.who, self.now))
            self._reseat(self._questions_of(request.person), placed.seq)
        return Done(self.book.people[request.person].answers)

    # -- checks -----------------------------------------------------------------------------------

    def _repeated(self, event: str, who: str, kind: Any) -> bool:
        """Whether this has happened already; an id that names something else is refused."""
        if not isinstance(event, str) or not _ID.fullmatch(event) or event.startswith(("ask-", STOPPED)):
            allowed = f"up to 100 letters, digits and . _ : -, not beginning with 'ask-' or {STOPPED!r}"
            raise InvalidArgument("id", allowed, repr(event))
        if event not in self.known:
            return False
        found = self.known[event]
        if found.who != who or not isinstance(found.event, kind):
            raise InvalidArgument("id", "new: each request has one of its own", repr(event))
        return True

    def _refuse_another(self, request: Answer | Skip) -> None:
        """What is sent again is the same, and its lease went with the first time; else it would be lost unseen."""
        event = self.known[request.id].event
        said = request.answer if isinstance(request, Answer) and isinstance(request.answer, bool) else None
        other = said is not None and isinstance(event, Answered) and event.answer != said
        if other or self._own(request.person, (request.lease,)):
            raise InvalidArgument("id", "new: each answer and each skip has one of its own", repr(request.id))

    def _refuse_closed(self) -> None:
        if self.book.status == "closed":
            raise CampaignClosed("this campaign is closed: nothing more is recorded")

    def _seat(self, person: str, lease: str) -> Seat:
        """The seat that this person holds; an expired lease is honoured while nobody else has the seat."""
        self._refuse_closed()
        found = self._own(person, (lease,))
        if not found:
            raise LeaseLost("this question is no longer yours: it was answered, or went to somebody else")
        return found[0]

    def _own(self, person: str, leases: Sequence[str]) -> list[Seat]:
        wanted = set(leases)
        return [seat for seat in self.seats.values() if seat.lease in wanted and seat.person == person and seat.lease]


_HANDLERS: dict[type, Callable[[Sitting, Any], Result]] = {
    Next: Sitting.next,
    Answer: Sitting.answer,
    Skip: Sitting.skip,
    Flag: Sitting.flag,
    Undo: Sitting.undo,
    Renew: Sitting.renew,
    Release: Sitting.release,
    SetStatus: Sitting.set_status,
    SetBudget: Sitting.set_budget,
    Exclude: Sitting.exclude,
    Include: Sitting.include,
}


def decide(sitting: Sitting, request: Request) -> Result | AskoneError:
    """The result of one request, or why it is refused."""
    try:
        return _HANDLERS[type(request)](sitting, request)
    except AskoneError as error:
        return error


def _seconds(took: float | None) -> float | None:
    """A time that a page measured, if it makes sense."""
    if took is None or not math.isfinite(took) or not 0 <= took <= _DAY:
        return None
    return round(float(took), 3)


__all__ = ["UNDOABLE", "Book", "Sitting", "decide"]
