"""Values that a store keeps: entries of the log, rows, leases, states."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from askone._common.types import Array, Record
from askone.store.notices import Logged, logged_from_json

as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON: no NaN, letters as they are."""
BEGINNING = "0" * 64
"""What the first entry of a log is chained to."""


@final
@dataclass(frozen=True)
class Entry:
    """An event, who caused it, when, and where it stands in its campaign's log.

    ``took`` is how long an answer took, in seconds, as the page measured it.  ``aside`` holds what is known
    when something happens and is needed later, as JSON: that a question is for an exam or from gold, how many
    answers had been learnt when an answer came.  The fold that makes the model reads the event, and of the
    aside only its role.  ``seq`` counts 1, 2, ... without gaps; ``hash`` chains it to all before.
    """

    event: Logged
    who: str = ""
    at: float = 0.0
    took: float | None = None
    aside: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0
    hash: str = ""

    @property
    def id(self) -> str:
        """The event's own, made by whoever caused it: a log holds it once."""
        return self.event.id

    def to_json(self) -> Record:
        """Return plain JSON values, without the hash."""
        aside = {"aside": dict(self.aside)} if self.aside else {}
        took = {} if self.took is None else {"took": self.took}
        return {"seq": self.seq, "who": self.who, "at": self.at, **took, **aside, "event": self.event.to_json()}


def body(entry: Entry) -> str:
    """Return an entry as the text that is kept and chained: JSON, the shortest numbers that read back alike, no NaN."""
    return as_json(entry.to_json())


def chain(before: str, text: str) -> str:
    """Return the hash of an entry's text after the one before."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def entry_from_json(record: Record, mark: str = "") -> Entry:
    """Return the inverse of ``Entry.to_json``."""
    event = logged_from_json(record["event"])
    return Entry(event, record["who"], record["at"], record.get("took"), record.get("aside", {}), record["seq"], mark)


@final
@dataclass(frozen=True, eq=False)
class Row:
    """A row of a campaign: its place, its key, what people see, what the model sees, and its label if it is gold."""

    position: int
    key: str
    content: Mapping[str, Any]
    features: Array
    gold: Any = None


@final
@dataclass(frozen=True, eq=False)
class RowBlock:
    """Many rows on their way into a store, in columns: ``features`` is one table, n x columns."""

    keys: Sequence[str]
    contents: Sequence[Mapping[str, Any]]
    features: Array
    golds: Sequence[Any]

    def __len__(self) -> int:
        return len(self.keys)


@final
@dataclass(frozen=True)
class Seat:
    """A question that waits for an answer, or one of its seats where several people are to answer it.

    It is held until ``expires`` (seconds since the epoch; 0: by nobody) by ``person`` under the name ``lease``.
    ``ahead`` is what that person's page was told of the next question, as JSON.
    """

    number: int
    seat: int
    position: int
    person: str = ""
    lease: str = ""
    expires: float = 0.0
    ahead: Mapping[str, Any] | None = None


@final
class Snapshot(NamedTuple):
    """A state that was kept: after how many lessons, what it belongs to, and its bytes.

    Its bytes are None where they are not those that were kept: one bit of a disk may have changed.
    """

    seq: int
    fingerprint: str
    data: bytes | None
