"""State as a fold over the log: no clock, no randomness, no asking."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone._common.validate import as_flag, as_rows
from askone.errors import InvalidArgument, InvalidFile
from askone.learners.abilities import Refits, able, is_local
from askone.learners.base import Learner
from askone.session.checkpoints import Example, Fit, Fold, Visit, due_fit, fit_of, stays
from askone.session.log import (
    AUTOMATIC,
    Answered,
    Asked,
    Event,
    Fits,
    Fitted,
    Retracted,
    Revisited,
    given_key,
    require_whole,
)
from askone.session.stream import Stream

_BLOCK = 512  # answers that are learnt at once
Rows = Mapping[Key, Any] | ArrayLike
"""Rows by key: a mapping, a table whose index holds the keys, or an array whose row numbers are the keys."""


@final
class RefitWarning(UserWarning):
    """A learner was taught by questions that another asked, of which it takes false slopes."""


def fold(learner: Learner[Any], rows: Rows, events: Iterable[Event], fits: Fits | None = None, own: bool = True) -> Any:
    """Return the state after all answers of a log that were not taken back, in the log's order.

    Fits of the log are taken from ``fits``, or computed anew at their places where they are not there.  If another
    learner wrote the log (not ``own``), its fits say nothing, and this one is fitted when it is due.
    """
    return relearnt(Fold(learner, keep=False), as_table(rows), events, fits, own)[0].state


def teach(stream: Stream, rows: Rows, events: Iterable[Event], own: bool = False, fits: Fits | None = None) -> Stream:
    """Return a stream that has asked nothing, after a log: its state is the fold, and it can go on asking.

    ``own`` says that its learner is the one who asked, and so the one whose ``fits`` these are.
    """
    table = as_table(rows)
    if is_local(stream.learner) and not as_flag(own, "own"):
        warnings.warn(
            f"{type(stream.learner).__name__} takes slopes at its own predictions, or needs questions of its own, so "
            "those that another model asked mislead it: refit with a default learner, or say own=True if the "
            "questions are its own",
            RefitWarning,
            stacklevel=4,
        )
    result, log, made = relearnt(Fold(stream.learner), table, events, fits, own)
    stream.resume(result.past(), log, table, made)
    return stream


def relearnt(
    result: Fold, rows: Rows, events: Iterable[Event], fits: Fits | None, own: bool
) -> tuple[Fold, list[Event], dict[str, bytes]]:
    """Return the fold, which was empty, after a log, the log with the fits that are in its state, and these fits.

    It keeps the states that it would have if the answers had come one by one.
    """
    log, table, learner = _checked(events), as_table(rows), result.learner
    total = sum(isinstance(event, Answered | Revisited | Fitted) for event in log)
    stops = {count for count in range(total if result.keeps else 0) if stays(count, total)}
    noted, used = list[Event](), dict[str, bytes]()
    made, heard = 0, list[Example]()
    most = 1 if able(learner, Refits) and not own else _BLOCK  # after any answer a fit may be due
    for event, lesson, spoilt in zip(log, _lessons(log, table), _spoilt(log), strict=True):
        fit, name = None, f"fit-{made}"
        if isinstance(lesson, Example):
            heard.append(lesson)
        stop = result.count + len(heard) in stops
        if len(heard) >= most or stop or not isinstance(event, Asked | Answered):
            result.learn_many(heard)
            heard.clear()
        if not isinstance(event, Fitted):
            noted.append(event)
            if isinstance(lesson, Visit):
                result.learn(lesson)
            if not own and not spoilt and isinstance(event, Answered | Retracted | Revisited):
                fit = due_fit(learner, result.state)
        elif own and spoilt:
            noted.append(event)
        elif own and able(learner, Refits):
            fit, name = _given(event, fits or {}) or fit_of(learner, result.state), event.id
        if fit is not None:
            noted.append(Fitted(name, learner.count(result.state), fit.hash))
            used[fit.hash], made = fit.packed, made + 1
            result.learn(fit)
    result.learn_many(heard)
    return result, noted, used


def _given(event: Fitted, fits: Fits) -> Fit | None:
    if event.hash not in fits:
        return None
    require_whole({event.hash: fits[event.hash]})
    return Fit(event.hash, fits[event.hash])


def _spoilt(log: list[Event]) -> Iterator[bool]:
    """Yield of each event whether an answer that came before it, or that it is, was taken back after it.

    A fit that was made there has the answer in it, so that it falls out with it.
    """
    place = {event.id: n for n, event in enumerate(log) if isinstance(event, Answered)}
    steps = [0] * (len(log) + 1)
    for n, event in enumerate(log):
        if isinstance(event, Retracted) and place[event.answered] < n:
            steps[place[event.answered]] += 1
            steps[n] -= 1
    return (depth > 0 for depth in list(accumulate(steps))[:-1])


def lessons(rows: Rows, events: Iterable[Event]) -> Iterator[Example | Visit]:
    """Yield what a log teaches anyone, in its order; a log that does not hold together is refused before the first."""
    log = _checked(events)
    return (lesson for lesson in _lessons(log, as_table(rows)) if lesson is not None)


def _lessons(log: list[Event], table: Mapping[Key, Any]) -> Iterator[Example | Visit | None]:
    """Yield what each event teaches."""
    gone = {event.answered for event in log if isinstance(event, Retracted)}
    asked = {event.id: event for event in log if isinstance(event, Asked)}
    for event in log:
        if isinstance(event, Revisited):
            if event.row not in table:
                raise InvalidFile(f"event {event.id!r} visits {event.row!r}, a row that is not here")
            yield Visit(event.row, table[event.row])
        elif not isinstance(event, Answered) or event.id in gone:
            yield None
        elif event.asked not in asked or asked[event.asked].row not in table:
            raise InvalidFile(_missing(event, asked.get(event.asked)))
        else:
            question = asked[event.asked]
            yield Example(question.row, table[question.row], question.question, event.answer, event.person)


def answers(rows: Rows, events: Iterable[Event]) -> list[Example]:
    """Return the answers of a log that were not taken back, in its order."""
    return [step for step in lessons(rows, events) if isinstance(step, Example)]


def as_table(rows: Rows) -> Mapping[Key, Any]:
    """Return rows by key.

    >>> as_table([[1.0], [2.0]])[1].tolist()
    [2.0]
    """
    if isinstance(rows, Mapping):
        return rows
    pandas = sys.modules.get("pandas")  # nobody holds a DataFrame who has not imported pandas
    numbers = as_rows(rows, argument="rows")
    if pandas is None or not isinstance(rows, pandas.DataFrame):
        return dict(enumerate(numbers))
    if not rows.index.is_unique:
        raise InvalidArgument("rows", "a table whose index names each row once", "an index with repetitions")
    return dict(zip(rows.index.tolist(), numbers, strict=True))


def _checked(events: Iterable[Event]) -> list[Event]:
    log = list(events)
    for event in log:
        if not isinstance(event, Event):
            raise InvalidArgument("events", "events (event_from_json reads them)", type(event).__name__)
    answered = [event.id for event in log if isinstance(event, Answered)]
    known = set(answered)
    stray = [e.answered for e in log if isinstance(e, Retracted) and e.answered not in known]
    if stray:
        raise InvalidFile(f"the log takes back answers that it does not hold: {stray}")
    gone = {event.answered for event in log if isinstance(event, Retracted)}
    told = [event.asked for event in log if isinstance(event, Answered) and event.id not in gone]
    if len(known) < len(answered) or len(set(told)) < len(told):
        raise InvalidFile("the log answers a question twice")
    return log


def _missing(event: Answered, asked: Asked | None) -> str:
    said = f"event {event.id!r} answers {event.asked!r}, whose question or row is not here"
    if asked is None or given_key(asked.row) is not None:
        return said
    return f"{said} (rows that were asked without a key go by {AUTOMATIC}0, {AUTOMATIC}1, ... in the order of asking)"


def stacked(rows: Rows) -> Array:
    """Return all rows of a table, one above the other."""
    table = as_table(rows)
    return as_rows([np.asarray(row, dtype=np.float64) for row in table.values()], argument="rows")
