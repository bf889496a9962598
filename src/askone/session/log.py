"""What happened: the records of an answer log.  The log is the only truth; state is a fold of it.

>>> asked = Asked("a1", row="customer-17", question=HalfSpace((1.0,), 37.0, number=0), learnt=0)
>>> event_from_json(asked.to_json()) == asked
True
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from askone._common.types import Array, Key, Record
from askone.errors import InvalidFile
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace
from askone.questions.registry import question_from_json

__all__ = [
    "Answered",
    "Asked",
    "Choice",
    "Event",
    "HalfSpace",
    "Kept",
    "Key",
    "Retracted",
    "Revisited",
    "Skipped",
    "event_from_json",
    "read_log",
    "write_log",
]

FORMAT = 1
AUTOMATIC = "~"
"""How names begin that rows without a key have in the log: ~17."""


def given_key(name: Key) -> Key | None:
    """The key that a row was given, if it was.

    >>> given_key("ann"), given_key("~17")
    ('ann', None)
    """
    return None if isinstance(name, str) and name.startswith(AUTOMATIC) else name


@final
@dataclass(frozen=True)
class Choice:
    """How a row came to be asked: by which rule, from how many free rows, of which so many were looked at.

    ``worth`` is what its answer was expected to tell, in nats (see ``Forecasts.worth``).
    """

    rule: str
    pool: int
    looked: int
    worth: float


@final
@dataclass(frozen=True)
class Asked:
    """A question was put about a row, when the asker had learnt from so many answers.

    ``choice`` is there if the row was chosen from a pool, and not where it came by itself.
    """

    id: str
    row: Key
    question: Question
    learnt: int
    choice: Choice | None = None
    kind: ClassVar[str] = "asked"

    def to_json(self) -> Record:
        """Plain JSON values."""
        fields = {"id": self.id, "row": self.row, "question": self.question.to_json(), "learnt": self.learnt}
        chosen = {} if self.choice is None else {"choice": asdict(self.choice)}
        return {"format": FORMAT, "kind": self.kind, **fields, **chosen}


@final
@dataclass(frozen=True)
class Answered:
    """The question of event ``asked`` was answered."""

    id: str
    asked: str
    answer: Answer
    kind: ClassVar[str] = "answered"

    def to_json(self) -> Record:
        """Plain JSON values."""
        answer = self.answer if isinstance(self.answer, bool) else list(self.answer)
        return {"format": FORMAT, "kind": self.kind, "id": self.id, "asked": self.asked, "answer": answer}


@final
@dataclass(frozen=True)
class Skipped:
    """The question of event ``asked`` was left unanswered on purpose."""

    id: str
    asked: str
    kind: ClassVar[str] = "skipped"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return {"format": FORMAT, "kind": self.kind, "id": self.id, "asked": self.asked}


@final
@dataclass(frozen=True)
class Retracted:
    """The answer of event ``answered`` was taken back."""

    id: str
    answered: str
    kind: ClassVar[str] = "retracted"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return {"format": FORMAT, "kind": self.kind, "id": self.id, "answered": self.answered}


@final
@dataclass(frozen=True)
class Revisited:
    """A row whose label is known came again: nobody was asked, the model learnt from it once more."""

    id: str
    row: Key
    kind: ClassVar[str] = "revisited"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return {"format": FORMAT, "kind": self.kind, "id": self.id, "row": self.row}


Event = Asked | Answered | Skipped | Retracted | Revisited
_KINDS = ("asked", "answered", "skipped", "retracted", "revisited")


def event_from_json(record: Record) -> Event:
    """The inverse of each ``to_json``."""
    if record.get("format") != FORMAT or record.get("kind") not in _KINDS:
        raise InvalidFile(f"an event of kind {record.get('kind')!r}, format {record.get('format')} cannot be read")
    try:
        return _read(record)
    except (KeyError, TypeError) as error:
        raise InvalidFile(f"an event of kind {record['kind']!r} lacks a field: {error!r}") from error


def _read(record: dict[str, Any]) -> Event:
    if record["kind"] == "asked":
        choice = None if record.get("choice") is None else Choice(**record["choice"])
        return Asked(record["id"], record["row"], question_from_json(record["question"]), record["learnt"], choice)
    if record["kind"] == "answered":
        answer = record["answer"]
        return Answered(record["id"], record["asked"], answer if isinstance(answer, bool) else tuple(answer))
    if record["kind"] == "skipped":
        return Skipped(record["id"], record["asked"])
    if record["kind"] == "revisited":
        return Revisited(record["id"], record["row"])
    return Retracted(record["id"], record["answered"])


def write_log(path: str | os.PathLike[str], events: Iterable[Event]) -> None:
    """A log as JSON lines, one event in each; ``read_log`` reads it back."""
    lines = [json.dumps(event.to_json(), allow_nan=False) + "\n" for event in events]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_log(path: str | os.PathLike[str]) -> list[Event]:
    """The events of a file of JSON lines; empty lines are passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{os.fspath(path)} is not a log in JSON lines: {error}") from error
    return [_read_line(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _read_line(number: int, line: str) -> Event:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidFile(f"line {number} of the log is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidFile(f"line {number} of the log must be a JSON object; got {type(record).__name__}")
    return event_from_json(record)


@final
class Kept:
    """A log in memory, with the rows it is about: ``Stream(learner, log=kept.note, rows=kept.rows)``."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.rows: dict[Key, Array] = {}

    def note(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [[name, row.tolist()] for name, row in self.rows.items()]
        return {"events": [event.to_json() for event in self.events], "rows": rows}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Kept:
        """The inverse of ``to_json``."""
        kept = cls()
        kept.events = [event_from_json(event) for event in record["events"]]
        kept.rows = {name: np.array(row) for name, row in record["rows"]}
        return kept
