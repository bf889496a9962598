"""State as a fold over the log: no clock, no randomness, no asking."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone._common.validate import as_flag, as_rows
from askone.errors import InvalidArgument, InvalidFile
from askone.learners.abilities import is_local
from askone.learners.base import Learner
from askone.session.checkpoints import Example, Fold, Visit
from askone.session.log import AUTOMATIC, Answered, Asked, Event, Retracted, Revisited, given_key
from askone.session.stream import Stream

Rows = Mapping[Key, Any] | ArrayLike
"""Rows by key: a mapping, a table whose index holds the keys, or an array whose row numbers are the keys."""


@final
class RefitWarning(UserWarning):
    """A learner was taught by questions that another asked, of which it takes false slopes."""


def fold(learner: Learner[Any], rows: Rows, events: Iterable[Event]) -> Any:
    """The state after all answers of a log that were not taken back, in the log's order."""
    result = Fold(learner, keep=False)
    for lesson in lessons(rows, events):
        result.learn(lesson)
    return result.state


def teach(stream: Stream, rows: Rows, events: Iterable[Event], own: bool = False) -> Stream:
    """A stream that has asked nothing, after a log: its state is the fold, and it can go on asking.

    ``own`` says that its learner is the one who asked.
    """
    log, table = list(events), as_table(rows)
    if is_local(stream.learner) and not as_flag(own, "own"):
        warnings.warn(
            f"{type(stream.learner).__name__} takes slopes at its own predictions, or needs questions of its own, so "
            "those that another model asked mislead it: refit with a default learner, or say own=True if the "
            "questions are its own",
            RefitWarning,
            stacklevel=4,
        )
    stream.resume(fold(stream.learner, table, log), log, table)
    return stream


def lessons(rows: Rows, events: Iterable[Event]) -> Iterator[Example | Visit]:
    """What a log teaches, in its order; a log that does not hold together is refused before the first."""
    log, table = _checked(events), as_table(rows)
    gone = {event.answered for event in log if isinstance(event, Retracted)}
    asked = {event.id: event for event in log if isinstance(event, Asked)}
    for event in log:
        if isinstance(event, Revisited):
            if event.row not in table:
                raise InvalidFile(f"event {event.id!r} visits {event.row!r}, a row that is not here")
            yield Visit(event.row, table[event.row])
        if not isinstance(event, Answered) or event.id in gone:
            continue
        if event.asked not in asked or asked[event.asked].row not in table:
            raise InvalidFile(_missing(event, asked.get(event.asked)))
        question = asked[event.asked]
        yield Example(question.row, table[question.row], question.question, event.answer)


def answers(rows: Rows, events: Iterable[Event]) -> list[Example]:
    """The answers of a log that were not taken back, in its order."""
    return [step for step in lessons(rows, events) if isinstance(step, Example)]


def as_table(rows: Rows) -> Mapping[Key, Any]:
    """Rows by key.

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
    """All rows of a table, one above the other."""
    table = as_table(rows)
    return as_rows([np.asarray(row, dtype=np.float64) for row in table.values()], argument="rows")
