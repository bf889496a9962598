"""What happened: the records of an answer log.  The log is the only truth; state is a fold of it.

>>> asked = Asked("a1", row="customer-17", question=HalfSpace((1.0,), 37.0, number=0), learnt=0)
>>> event_from_json(asked.to_json()) == asked
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from askone.errors import InvalidFile
from askone.questions import Answer, HalfSpace, Question, Record, question_from_json

__all__ = ["Answered", "Asked", "Event", "HalfSpace", "Key", "Retracted", "Revisited", "Skipped", "event_from_json"]

FORMAT = 1
Key = str | int
"""What names a row."""
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
class Asked:
    """A question was put about a row, when the asker had learnt from so many answers."""

    id: str
    row: Key
    question: Question
    learnt: int
    kind: ClassVar[str] = "asked"

    def to_json(self) -> Record:
        """Plain JSON values."""
        fields = {"id": self.id, "row": self.row, "question": self.question.to_json(), "learnt": self.learnt}
        return {"format": FORMAT, "kind": self.kind, **fields}


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
        return Asked(record["id"], record["row"], question_from_json(record["question"]), record["learnt"])
    if record["kind"] == "answered":
        answer = record["answer"]
        return Answered(record["id"], record["asked"], answer if isinstance(answer, bool) else tuple(answer))
    if record["kind"] == "skipped":
        return Skipped(record["id"], record["asked"])
    if record["kind"] == "revisited":
        return Revisited(record["id"], record["row"])
    return Retracted(record["id"], record["answered"])
