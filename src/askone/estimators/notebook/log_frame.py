"""A log as a data frame: a line for each question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askone._common.notebooks import pandas
from askone.questions.half_space import HalfSpace
from askone.session.log import Answered, Asked, Event, Retracted, Skipped


def log_frame(log: Iterable[Event]) -> Any:
    """Return a data frame with a line for each question, as it stands: its row, sentence, answer, who gave it
    and its status.

    ``threshold`` is that of a question about one number; ``learnt`` is how many answers the model knew when it asked.
    """
    lines: dict[str, dict[str, Any]] = {}
    told: dict[str, str] = {}
    for event in log:
        if isinstance(event, Asked):
            lines[event.id] = _line(event)
        elif isinstance(event, Answered):
            told[event.id] = event.asked
            lines[event.asked] |= {"answer": event.answer, "person": event.person, "status": "answered"}
        elif isinstance(event, Skipped):
            lines[event.asked]["status"] = "skipped"
        elif isinstance(event, Retracted):
            lines[told[event.answered]] |= {"answer": None, "person": None, "status": "open"}
    frames = pandas()
    columns = ("number", "row", "question", "threshold", "answer", "person", "status", "learnt")
    frame = frames.DataFrame(list(lines.values()), columns=list(columns))
    if all(line["answer"] in (True, False, None) for line in lines.values()):
        frame["answer"] = frame["answer"].astype("boolean")
    return frame.astype({"threshold": "float64"})


def _line(asked: Asked) -> dict[str, Any]:
    question = asked.question
    one = isinstance(question, HalfSpace) and len(question.direction) == 1
    return {
        "number": question.number,
        "row": asked.row,
        "question": str(question),
        "threshold": question.threshold if one else None,  # type: ignore[attr-defined]  # a half-space's
        "answer": None,
        "person": None,
        "status": "open",
        "learnt": asked.learnt,
    }
