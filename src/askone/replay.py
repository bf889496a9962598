"""State as a fold over the log: no clock, no randomness, no asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from askone.errors import InvalidFile
from askone.events import Answered, Asked, Event, Retracted
from askone.learners.base import Learner


def fold(learner: Learner[Any], rows: Mapping[str, ArrayLike], events: Iterable[Event]) -> Any:
    """The state after all answers of a log that were not taken back, in the log's order."""
    log = list(events)
    gone = {event.answered for event in log if isinstance(event, Retracted)}
    asked = {event.id: event for event in log if isinstance(event, Asked)}
    state = learner.init()
    for event in log:
        if not isinstance(event, Answered) or event.id in gone:
            continue
        if event.asked not in asked or asked[event.asked].row not in rows:
            raise InvalidFile(f"event {event.id!r} answers {event.asked!r}, whose question or row is not here")
        question = asked[event.asked]
        state = learner.tell(state, rows[question.row], question.question, event.answer)
    return state
