"""A stream in a saved model: what it asked, what is open, what may still be asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from askone.learners.base import Learner
from askone.questions.registry import question_from_json
from askone.session.budget import Budget
from askone.session.stream import Stream


def to_record(stream: Stream) -> dict[str, Any]:
    """Return all but the learner and its state as plain JSON values."""
    return {
        "seed": stream.seed,
        "asked": stream.asked,
        "keys": sorted(stream.keys, key=lambda key: (str(type(key)), key)),
        "open": [[n, row.tolist(), question.to_json(), name] for n, row, question, name in stream.open_questions()],
        "budget": None if stream.budget is None else [stream.budget.questions, stream.budget.spent],
        "visits": stream.visits,
        "fits": stream.fits,
        "skipped": stream.skipped(),
        "retractions": [[number, times] for number, times in stream.retractions.items()],
    }


def from_record(
    record: dict[str, Any], learner: Learner[Any], state: Any, resample: bool, notes: dict[str, Any]
) -> Stream:
    """Return the stream of ``to_record``; ``notes`` are where it writes what happens."""
    budget = None if record["budget"] is None else Budget(*record["budget"])
    stream = Stream(
        learner, **notes, seed=record["seed"], resample=resample, budget=budget, state=state, asked=record["asked"]
    )
    stream.keys.update(record["keys"])
    for number, row, question, *name in record["open"]:
        stream.reopen(number, np.array(row), question_from_json(question), *name)
    stream.visits = record.get("visits", 0)  # older files lack this and what follows
    stream.fits = record.get("fits", 0)
    stream.retractions.update(record.get("retractions", []))
    for place in record.get("skipped", []):
        stream.pass_over(place)
    return stream


def plain(value: Any) -> Any:
    """Return NumPy's numbers and arrays as Python's, also within a list, a range or a dictionary."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple | range | set | frozenset) else value
