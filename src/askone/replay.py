"""State as a fold over the log: no clock, no randomness, no asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from askone.errors import InvalidArgument, InvalidFile
from askone.events import Answered, Asked, Event, Key, Retracted, Revisited, given_key
from askone.learners.base import Learner


def fold(learner: Learner[Any], rows: Mapping[Key, ArrayLike], events: Iterable[Event]) -> Any:
    """The state after all answers of a log that were not taken back, in the log's order."""
    log = list(events)
    for event in log:
        if not isinstance(event, Event):
            raise InvalidArgument("events", "events (event_from_json reads them)", type(event).__name__)
    answered = [event.id for event in log if isinstance(event, Answered)]
    stray = [e.answered for e in log if isinstance(e, Retracted) and e.answered not in answered]
    if stray:
        raise InvalidFile(f"the log takes back answers that it does not hold: {stray}")
    gone = {event.answered for event in log if isinstance(event, Retracted)}
    told = [event.asked for event in log if isinstance(event, Answered) and event.id not in gone]
    if len(set(answered)) < len(answered) or len(set(told)) < len(told):
        raise InvalidFile("the log answers a question twice")
    asked = {event.id: event for event in log if isinstance(event, Asked)}
    state = learner.init()
    for event in log:
        if isinstance(event, Revisited):
            if event.row not in rows:
                raise InvalidFile(f"event {event.id!r} visits {event.row!r}, a row that is not here")
            state = learner.revisit(state, rows[event.row], event.row)
        if not isinstance(event, Answered) or event.id in gone:
            continue
        if event.asked not in asked or asked[event.asked].row not in rows:
            raise InvalidFile(f"event {event.id!r} answers {event.asked!r}, whose question or row is not here")
        question = asked[event.asked]
        x, key = rows[question.row], given_key(question.row)
        state = learner.tell_row(state, x, question.question, event.answer, key)
    return state
