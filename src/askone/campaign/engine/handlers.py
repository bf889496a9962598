"""Where people are served: requests in, results out, one durable transaction of the store for a batch of them.

In a transaction the log is caught up with, every request is decided at the book's state, and what happened is written
with the seats it changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from askone.campaign.engine.batch import Sitting
from askone.campaign.engine.commands import (
    REASONS,
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
    Serving,
    SetBudget,
    SetStatus,
    Skip,
    Undo,
)
from askone.campaign.engine.projection import STOPPED
from askone.errors import AskoneError, CampaignClosed, InvalidArgument, LeaseLost, StoreUnavailable, UnknownQuestion
from askone.session.log import Answered, Retracted, Skipped
from askone.store.entries import Entry, Seat
from askone.store.notices import STATUSES, Excluded, Flagged, Included, Limited, Reopened, StatusChanged

_LONGEST = 2000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
_DAY = 86_400.0


# -- what a person says ---------------------------------------------------------------------------


def next_question(sitting: Sitting, request: Next) -> Serving:
    """See ``Next``."""
    return sitting.serving(request.person, request.ahead)


def answer(sitting: Sitting, request: Answer) -> Serving:
    """See ``Answer``."""
    if _repeated(sitting, request.id, request.person, Answered):
        _refuse_another(sitting, request)
        return sitting.serving(request.person, duplicate=True)
    seat = _seat(sitting, request.person, request.lease)
    question = sitting.book.asked[seat.number].question
    accepted = bool(question.accept(request.answer))
    event = Answered(request.id, f"ask-{seat.number}", accepted)
    aside = {"learnt": sitting.book.learnt}
    sitting.note(Entry(event, request.person, sitting.now, _seconds(request.took), aside))
    if request.person in sitting.book.excluded and seat.number not in sitting.book.closed:
        sitting.seats.put(Seat(seat.number, seat.seat, seat.position))  # it does not count: somebody else is asked
    else:
        sitting.seats.leave(seat)
    sitting.measured = sitting.measured or sitting.book.asked[seat.number].role == "exam"
    return sitting.after(seat, request.person, "yes" if accepted else "no")


def skip(sitting: Sitting, request: Skip) -> Serving:
    """See ``Skip``."""
    if _repeated(sitting, request.id, request.person, Skipped):
        _refuse_another(sitting, request)
        return sitting.serving(request.person, duplicate=True)
    if request.reason not in REASONS:
        raise InvalidArgument("reason", f"one of: {', '.join(map(repr, REASONS))}", repr(request.reason))
    seat = _seat(sitting, request.person, request.lease)
    event = Skipped(request.id, f"ask-{seat.number}")
    sitting.note(Entry(event, request.person, sitting.now, aside={"reason": request.reason}))
    if seat.number not in sitting.book.closed:
        sitting.seats.put(Seat(seat.number, seat.seat, seat.position))
    else:
        sitting.seats.leave(seat)
    return sitting.after(seat, request.person, None)


def flag(sitting: Sitting, request: Flag) -> Serving:
    """See ``Flag``."""
    if _repeated(sitting, request.id, request.person, Flagged):
        return sitting.serving(request.person, duplicate=True)
    if not 0 < len(request.reason.strip()) <= _LONGEST:
        raise InvalidArgument("reason", f"a text of up to {_LONGEST} characters", repr(request.reason[:40]))
    seat = _seat(sitting, request.person, request.lease)
    event = Flagged(request.id, f"ask-{seat.number}", request.reason.strip())
    sitting.note(Entry(event, request.person, sitting.now))
    return sitting.with_question(sitting.seats.give(seat, request.person), request.person)


def undo(sitting: Sitting, request: Undo) -> Serving:
    """See ``Undo``."""
    if _repeated(sitting, request.id, request.person, Retracted | Reopened):
        return sitting.serving(request.person, duplicate=True)
    _refuse_closed(sitting)
    done = sitting.book.people[request.person].done if request.person in sitting.book.people else []
    if not done:
        raise UnknownQuestion("there is nothing to take back")
    last = done[-1]
    if last.skipped and last.number in sitting.book.closed and not sitting.affordable():
        raise UnknownQuestion(
            "this skip cannot be taken back: another question was asked instead, and the budget is spent"
        )
    event = Reopened(request.id, last.id) if last.skipped else Retracted(request.id, last.id)
    placed = sitting.note(Entry(event, request.person, sitting.now))
    sitting.seats.reseat([last.number], placed.seq)
    seat = sitting.seats.reclaimed(last.number, request.person)
    # Somebody else may have the question by now: then it does not come back; during a pause, after the pause.
    if seat is None or sitting.book.status != "running":
        return sitting.serving(request.person)
    return sitting.with_question(seat, request.person)


def renew(sitting: Sitting, request: Renew) -> Done:
    """See ``Renew``."""
    mine = sitting.seats.own(request.person, request.leases)
    for seat in mine:
        sitting.seats.give(seat, request.person)
    return Done(len(mine))


def release(sitting: Sitting, request: Release) -> Done:
    """See ``Release``: whoever held it may still answer, until somebody else has it."""
    mine = sitting.seats.own(request.person, request.leases)
    for seat in mine:
        sitting.seats.put(replace(seat, expires=0.0))
    return Done(len(mine))


# -- what a manager says ----------------------------------------------------------------------


def set_status(sitting: Sitting, request: SetStatus) -> Done:
    """See ``SetStatus``."""
    if request.status not in STATUSES:
        raise InvalidArgument("status", f"one of: {', '.join(map(repr, STATUSES))}", repr(request.status))
    if not _repeated(sitting, request.id, request.who, StatusChanged) and request.status != sitting.book.status:
        sitting.note(Entry(StatusChanged(request.id, request.status), request.who, sitting.now))
    return Done(1)


def set_budget(sitting: Sitting, request: SetBudget) -> Done:
    """See ``SetBudget``."""
    budget = request.budget
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise InvalidArgument("budget", "a whole number from 1, or nothing for no limit", repr(budget))
    if not _repeated(sitting, request.id, request.who, Limited):
        sitting.note(Entry(Limited(request.id, budget), request.who, sitting.now))
    return Done(1)


def exclude(sitting: Sitting, request: Exclude) -> Done:
    """See ``Exclude``: each of their answers and skips leaves a seat for somebody else."""
    book = sitting.book
    if request.person not in book.people:
        raise UnknownQuestion(f"nobody called {request.person!r} answered here")
    if _repeated(sitting, request.id, request.who, Excluded) or request.person in book.excluded:
        return Done(book.people[request.person].answers)
    placed = sitting.note(Entry(Excluded(request.id, request.person), request.who, sitting.now))
    sitting.seats.reseat(_questions_of(sitting, request.person), placed.seq)
    return Done(book.people[request.person].answers)


def _questions_of(sitting: Sitting, person: str) -> list[int]:
    """The questions whose seats hang on what this person said or left."""
    return sorted({one.number for one in sitting.book.people[person].done})


def include(sitting: Sitting, request: Include) -> Done:
    """See ``Include``."""
    if request.person not in sitting.book.people:
        raise UnknownQuestion(f"nobody called {request.person!r} answered here")
    if not _repeated(sitting, request.id, request.who, Included) and request.person in sitting.book.excluded:
        placed = sitting.note(Entry(Included(request.id, request.person), request.who, sitting.now))
        sitting.seats.reseat(_questions_of(sitting, request.person), placed.seq)
    return Done(sitting.book.people[request.person].answers)


# -- checks -----------------------------------------------------------------------------------


def _repeated(sitting: Sitting, event: str, who: str, kind: Any) -> bool:
    """Whether this has happened already; an id that names something else is refused."""
    if not isinstance(event, str) or not _ID.fullmatch(event) or event.startswith(("ask-", STOPPED)):
        allowed = f"up to 100 letters, digits and . _ : -, not beginning with 'ask-' or {STOPPED!r}"
        raise InvalidArgument("id", allowed, repr(event))
    if event not in sitting.known:
        return False
    found = sitting.known[event]
    if found.who != who or not isinstance(found.event, kind):
        raise InvalidArgument("id", "new: each request has one of its own", repr(event))
    return True


def _refuse_another(sitting: Sitting, request: Answer | Skip) -> None:
    """What is sent again is the same, and its lease went with the first time; else it would be lost unseen."""
    event = sitting.known[request.id].event
    said = request.answer if isinstance(request, Answer) and isinstance(request.answer, bool) else None
    other = said is not None and isinstance(event, Answered) and event.answer != said
    if other or sitting.seats.own(request.person, (request.lease,)):
        raise InvalidArgument("id", "new: each answer and each skip has one of its own", repr(request.id))


def _refuse_closed(sitting: Sitting) -> None:
    if sitting.book.status == "closed":
        raise CampaignClosed("this campaign is closed: nothing more is recorded")


def _seat(sitting: Sitting, person: str, lease: str) -> Seat:
    """The seat that this person holds; an expired lease is honoured while nobody else has the seat."""
    _refuse_closed(sitting)
    found = sitting.seats.own(person, (lease,))
    if not found:
        raise LeaseLost("this question is no longer yours: it was answered, or went to somebody else")
    return found[0]


_HANDLERS: dict[type, Callable[[Sitting, Any], Result]] = {
    Next: next_question,
    Answer: answer,
    Skip: skip,
    Flag: flag,
    Undo: undo,
    Renew: renew,
    Release: release,
    SetStatus: set_status,
    SetBudget: set_budget,
    Exclude: exclude,
    Include: include,
}


def decide(sitting: Sitting, request: Request) -> Result | AskoneError:
    """The result of one request, or why it is refused; a store that fails is no refusal, and ends the transaction."""
    try:
        return _HANDLERS[type(request)](sitting, request)
    except StoreUnavailable:
        raise  # the request may have happened by half: with the transaction, none of it has
    except AskoneError as error:
        return error


def _seconds(took: float | None) -> float | None:
    """A time that a page measured, if it makes sense."""
    if took is None or not math.isfinite(took) or not 0 <= took <= _DAY:
        return None
    return round(float(took), 3)
