"""What each request does, at the state of the log: an entry for the log, and the seats that it changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from askone._common.validate import as_choice, as_number
from askone.campaign.engine import commands
from askone.campaign.engine._annotator_statistics import Undoable
from askone.campaign.engine.batch import Batch
from askone.campaign.engine.commands import Done, Request, Result, Serving
from askone.campaign.engine.projection import FIT, PAUSED, STOPPED
from askone.campaign.engine.second_opinions import refuse_auto
from askone.errors import (
    AskoneError,
    BudgetSpent,
    CampaignClosed,
    InvalidArgument,
    LeaseLost,
    NotPrivate,
    StoreUnavailable,
    UnknownQuestion,
)
from askone.learners.person import as_person
from askone.session.bags import LARGEST, Bag
from askone.session.log import Answered, Fitted, Retracted, Skipped
from askone.store.entries import Entry, Seat
from askone.store.notices import (
    STATUSES,
    Changed,
    Excluded,
    Flagged,
    Included,
    Limited,
    Reopened,
    Resolved,
    ResumedPerson,
    Ruled,
    StatusChanged,
)

_LONGEST = 2000
MOST_FLAGS = 5
"""How often a person may flag one question."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
_OURS = "ask-", STOPPED, FIT, PAUSED
_DAY = 86_400.0


# -- what a person says ---------------------------------------------------------------------------


def _next_question(batch: Batch, request: commands.Next) -> Serving:
    return batch.serving(request.person, request.ahead)


def _answer(batch: Batch, request: commands.Answer) -> Serving:
    privacy = batch.planner.whole.privacy
    _refuse_epsilon(request.epsilon, privacy.epsilon)
    if _repeated(batch, request.id, request.person, Answered):
        _refuse_another(batch, request)
        return batch.serving(request.person, duplicate=True)
    seat = _seat(batch, request.person, request.lease)
    asking = batch.projection.asked[seat.number]
    accepted = bool(asking.question.accept(request.answer))
    if privacy.answers is not None and batch.projection.person(request.person).answers >= privacy.answers:
        raise BudgetSpent(f"an answer of epsilon {privacy.epsilon} is wanted, {privacy.budget:g} are spent")
    event = Answered(request.id, f"ask-{seat.number}", accepted)
    aside = {"learnt": batch.projection.learnt, **_kind(request.kind)}
    if request.cost is not None:
        cost = as_number(request.cost, "cost", 0.0, commands.MOST_COST)
        aside |= {} if batch.private else {"cost": cost}  # it may depend on the true answer, as the time does
    took = None if batch.private else _seconds(request.took)
    batch.note(Entry(event, request.person, batch.now, took, aside))
    batch.seats.leave(seat, free=request.person in batch.projection.excluded)  # it does not count: another is asked
    batch.measured = batch.measured or asking.score is not None
    return batch.after(seat, request.person, "yes" if accepted else "no")


def _answer_bag(batch: Batch, request: commands.AnswerBag) -> Serving:
    _refuse_telling(batch, "questions are answered one by one")
    if not 0 < len(request.leases) == len(request.answers) == len(set(request.leases)) <= LARGEST:
        came = f"{len(set(request.leases))} leases and {len(request.answers)} answers"
        raise InvalidArgument("answers", f"one for each of up to {LARGEST} leases", came)
    _check_id(request.id)
    if any(name in batch.known for name in request.ids):
        for name, said in zip(request.ids, request.answers, strict=True):
            event = batch.known[name].event if name in batch.known else None
            mine = name in batch.known and batch.known[name].who == request.person
            if not mine or not isinstance(event, Answered) or event.answer != said:
                raise InvalidArgument("id", "new: each bag of answers has one of its own", repr(request.id))
        if batch.seats.own(request.person, request.leases):  # another bag, which would be lost unseen
            raise InvalidArgument("id", "new: each bag of answers has one of its own", repr(request.id))
        return batch.serving(request.person, duplicate=True)
    seats = [_seat(batch, request.person, lease) for lease in request.leases]
    asked = [batch.projection.asked[seat.number] for seat in seats]
    if asked[0].bag is None or any(one.bag != asked[0].bag for one in asked):
        raise InvalidArgument("leases", "those of one bag", "others")
    accepted = [bool(one.question.accept(said)) for one, said in zip(asked, request.answers, strict=True)]
    known, first = batch.projection.asked, asked[0].bag
    whole = {n for n in range(first, first + LARGEST) if n in known and known[n].bag == first}
    looked = None
    if whole == {seat.number for seat in seats}:  # how it was split follows from the answers
        bag = Bag.of(len(accepted))
        while bag.asked:
            bag = bag.told(all(accepted[place] for place in bag.asked))
        looked = [bag.questions, bag.looks, _seconds(request.took)]
    for place, (name, seat, said) in enumerate(zip(request.ids, seats, accepted, strict=True)):
        aside = {
            "learnt": batch.projection.learnt,
            **_kind(request.kind),
            **({} if place or looked is None else {"looked": looked}),
        }
        batch.note(Entry(Answered(name, f"ask-{seat.number}", said), request.person, batch.now, None, aside))
        batch.seats.leave(seat, free=request.person in batch.projection.excluded)
    return batch.serving(request.person)


def _skip(batch: Batch, request: commands.Skip) -> Serving:
    _refuse_telling(batch, "a question cannot be skipped: the toss of a coin is sent instead of an answer")
    if _repeated(batch, request.id, request.person, Skipped):
        _refuse_another(batch, request)
        return batch.serving(request.person, duplicate=True)
    as_choice(request.reason, "reason", commands.REASONS)
    seat = _seat(batch, request.person, request.lease)
    event = Skipped(request.id, f"ask-{seat.number}")
    batch.note(Entry(event, request.person, batch.now, aside={"reason": request.reason, **_kind(request.kind)}))
    batch.seats.leave(seat, free=True)
    return batch.after(seat, request.person, None)


def _flag(batch: Batch, request: commands.Flag) -> Serving:
    _refuse_telling(batch, "notes about questions are not taken")
    if _repeated(batch, request.id, request.person, Flagged):
        return batch.serving(request.person, duplicate=True)
    if not 0 < len(request.reason.strip()) <= _LONGEST:
        raise InvalidArgument("reason", f"a text of up to {_LONGEST} characters", repr(request.reason[:40]))
    seat = _seat(batch, request.person, request.lease)
    event = Flagged(request.id, f"ask-{seat.number}", request.reason.strip())
    mine = (flag.event for flag in batch.projection.flags if flag.who == request.person)
    if sum(isinstance(one, Flagged) and one.asked == event.asked for one in mine) >= MOST_FLAGS:
        raise InvalidArgument("lease", f"of a question that you flagged less than {MOST_FLAGS} times", request.lease)
    batch.note(Entry(event, request.person, batch.now))
    return batch.with_question(batch.seats.give(seat, request.person), request.person)


def _undo(batch: Batch, request: commands.Undo) -> Serving:
    _refuse_telling(batch, "an answer cannot be taken back, nor given twice")
    if _repeated(batch, request.id, request.person, Retracted | Reopened):
        return batch.serving(request.person, duplicate=True)
    _refuse_closed(batch)
    done = batch.projection.people[request.person].done if request.person in batch.projection.people else []
    if not done:
        raise UnknownQuestion("there is nothing to take back")
    last = done[-1]
    if last.skipped and last.number in batch.projection.closed and not batch.affordable():
        why = "another question was asked instead, and the budget is spent"
        raise UnknownQuestion(f"this skip cannot be taken back: {why}")
    event = Reopened(request.id, last.id) if last.skipped else Retracted(request.id, last.id)
    placed, seat = batch.note(Entry(event, request.person, batch.now)), None
    for place, one in enumerate(together := _answered_with(batch, done, last)):
        retracted = Retracted(f"{request.id}/undo-{place}", one.id)
        placed = batch.note(Entry(retracted, request.person, batch.now))
    for one in (last, *together):
        batch.seats.reseat([one.number], placed.seq)
        seat = batch.seats.reclaimed(one.number, request.person) or seat
    # Somebody else may have the question by now: then it does not come back; during a pause, after the pause.
    if seat is None or batch.projection.status != "running" or request.person in batch.projection.paused:
        return batch.serving(request.person)
    return batch.with_question(seat, request.person)


def _answered_with(batch: Batch, done: Sequence[Undoable], last: Undoable) -> list[Undoable]:
    """Return what else was answered at once with the last answer, which was taken back: the rest of its bag."""
    bag, (stem, slash, _) = batch.projection.asked[last.number].bag, last.id.rpartition("/")
    if bag is None or last.skipped or not slash:
        return []
    return [one for one in done if batch.projection.asked[one.number].bag == bag and one.id.startswith(f"{stem}/")][
        ::-1
    ]


def _hold(batch: Batch, request: commands.Renew | commands.Release) -> Done:
    """See ``Renew`` and ``Release``: whoever held it may still answer, until somebody else has it."""
    mine = batch.seats.own(request.person, request.leases)
    for seat in mine:
        if isinstance(request, commands.Renew):
            batch.seats.give(seat, request.person)
        else:
            batch.seats.put(replace(seat, expires=0.0))
    return Done(len(mine))


# -- what a manager says ----------------------------------------------------------------------


def _set_status(batch: Batch, request: commands.SetStatus) -> Done:
    as_choice(request.status, "status", STATUSES)
    if not _repeated(batch, request.id, request.who, StatusChanged) and request.status != batch.projection.status:
        batch.note(Entry(StatusChanged(request.id, request.status), request.who, batch.now))
    return Done(1)


def _set_budget(batch: Batch, request: commands.SetBudget) -> Done:
    budget = request.budget
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise InvalidArgument("budget", "a whole number from 1, or nothing for no limit", repr(budget))
    if not _repeated(batch, request.id, request.who, Limited):
        batch.note(Entry(Limited(request.id, budget), request.who, batch.now))
    return Done(1)


def _change_settings(batch: Batch, request: commands.ChangeSettings) -> Done:
    if not request.settings:
        raise InvalidArgument("settings", "at least one to change", "none")
    refuse_auto(batch.planner.whole.changed(request.settings), batch.planner.learner)
    if not _repeated(batch, request.id, request.who, Changed):
        batch.note(Entry(Changed(request.id, request.settings), request.who, batch.now))
    return Done(1)


def _exclude_or_include(batch: Batch, request: commands.Exclude | commands.Include) -> Done:
    """See ``Exclude`` and ``Include``: each answer or skip that does not count leaves a seat for somebody else."""
    projection, kind = batch.projection, Excluded if isinstance(request, commands.Exclude) else Included
    if request.person not in projection.people:
        raise UnknownQuestion(f"nobody called {request.person!r} answered here")
    person, is_out = projection.people[request.person], request.person in projection.excluded
    if not _repeated(batch, request.id, request.who, kind) and is_out == (kind is Included):
        placed = batch.note(Entry(kind(request.id, request.person), request.who, batch.now))
        batch.seats.reseat(sorted({one.number for one in person.done}), placed.seq)
    return Done(person.answers)


def _resume_person(batch: Batch, request: commands.ResumePerson) -> Done:
    if request.person not in batch.projection.people:
        raise UnknownQuestion(f"nobody called {request.person!r} answered here")
    repeated = _repeated(batch, request.id, request.who, ResumedPerson)
    if not repeated and request.person in batch.projection.paused:
        batch.note(Entry(ResumedPerson(request.id, request.person), request.who, batch.now))
    return Done(batch.projection.people[request.person].answers)


def _rule(batch: Batch, request: commands.Rule) -> Done:
    asking = batch.projection.asked.get(request.number)
    if asking is None or asking.role == "gold":
        raise UnknownQuestion(f"there is no question {request.number} to be decided")
    if not _repeated(batch, request.id, request.who, Ruled):
        placed = batch.note(Entry(Ruled(request.id, f"ask-{request.number}", request.answer), request.who, batch.now))
        batch.seats.reseat([request.number], placed.seq)
        batch.measured = batch.measured or asking.score is not None
    return Done(1)


def _resolve(batch: Batch, request: commands.Resolve) -> Done:
    if not any(flag.id == request.flag for flag in batch.projection.flags):
        raise UnknownQuestion(f"there is no flag {request.flag!r}")
    if not _repeated(batch, request.id, request.who, Resolved) and request.flag not in batch.projection.resolved:
        batch.note(Entry(Resolved(request.id, request.flag), request.who, batch.now))
    return Done(1)


# -- what the model says ----------------------------------------------------------------------


def _take_fit(batch: Batch, request: commands.TakeFit) -> Done:
    wanted = batch.projection.trainer.accepts(request.due)
    if wanted:
        event = Fitted(f"{FIT}{batch.projection.seq + 1}", request.due.learnt, request.fit.hash, request.due.after)
        batch.note(Entry(event, at=batch.now))
        batch.fits.append(request.fit)
    return Done(int(wanted))


# -- checks -----------------------------------------------------------------------------------


def _check_id(event: object) -> None:
    if not isinstance(event, str) or not _ID.fullmatch(event) or event.startswith(_OURS):
        allowed = f"up to 100 letters, digits and . _ : -, not beginning with one of {', '.join(_OURS)}"
        raise InvalidArgument("id", allowed, repr(event))


def _repeated(batch: Batch, event: str, who: str, kind: Any) -> bool:
    """Return whether this has happened already; an id that names something else is refused."""
    _check_id(event)
    found = batch.known.get(event)
    if found is not None and (found.who != who or not isinstance(found.event, kind)):
        raise InvalidArgument("id", "new: each request has one of its own", repr(event))
    return found is not None


def _refuse_another(batch: Batch, request: commands.Answer | commands.Skip) -> None:
    """What is sent again is the same, and its lease went with the first time; else it would be lost unseen."""
    event = batch.known[request.id].event
    said = request.answer if isinstance(request, commands.Answer) and isinstance(request.answer, bool) else None
    other = said is not None and isinstance(event, Answered) and event.answer != said
    if other or batch.seats.own(request.person, (request.lease,)):
        raise InvalidArgument("id", "new: each answer and each skip has one of its own", repr(request.id))


def _kind(kind: str) -> dict[str, Any]:
    """Return what the log says of who answers: of a person, nothing."""
    return {} if as_choice(kind, "kind", commands.ANNOTATORS) == commands.PERSON else {"program": True}


def _refuse_epsilon(claimed: float | None, wanted: float | None) -> None:
    """An answer that was flipped otherwise than the model reckons with would teach it what is wrong."""
    if claimed != wanted:
        flipped = "left out: answers to this campaign are not flipped"
        raise InvalidArgument("epsilon", flipped if wanted is None else f"{wanted:g}, as the campaign has it", claimed)


def _refuse_telling(batch: Batch, why: str) -> None:
    """Whether somebody skips, flags or takes back may depend on the true answer."""
    if batch.private:
        raise NotPrivate(f"in a private campaign {why}")


def _refuse_closed(batch: Batch) -> None:
    if batch.projection.status == "closed":
        raise CampaignClosed("this campaign is closed: nothing more is recorded")


def _seat(batch: Batch, person: str, lease: str) -> Seat:
    """Return the seat that this person holds; an expired lease is honoured while nobody else has the seat."""
    _refuse_closed(batch)
    found = batch.seats.own(person, (lease,))
    if not found:
        raise LeaseLost("this question is no longer yours: it was answered, or went to somebody else")
    return found[0]


_HANDLERS: dict[type, Callable[[Batch, Any], Result]] = {
    commands.Next: _next_question,
    commands.Answer: _answer,
    commands.AnswerBag: _answer_bag,
    commands.Skip: _skip,
    commands.Flag: _flag,
    commands.Undo: _undo,
    commands.Renew: _hold,
    commands.Release: _hold,
    commands.SetStatus: _set_status,
    commands.SetBudget: _set_budget,
    commands.ChangeSettings: _change_settings,
    commands.Exclude: _exclude_or_include,
    commands.Include: _exclude_or_include,
    commands.ResumePerson: _resume_person,
    commands.Rule: _rule,
    commands.Resolve: _resolve,
    commands.TakeFit: _take_fit,
}


def decide(batch: Batch, request: Request) -> Result | AskoneError:
    """Return the result of one request, or why it is refused; a store that fails ends the transaction instead."""
    try:
        if isinstance(request, commands.Said):
            as_person(request.person)
        return _HANDLERS[type(request)](batch, request)
    except StoreUnavailable:
        raise  # the request may have happened by half: with the transaction, none of it has
    except AskoneError as error:
        return error


def _seconds(took: float | None) -> float | None:
    """Return a time that a page measured, if it makes sense."""
    if took is None or not math.isfinite(took) or not 0 <= took <= _DAY:
        return None
    return round(float(took), 3)
