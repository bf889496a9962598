"""What else happens in a campaign, beside questions and answers: records of the same log.

>>> notice = Turned("t1", "paused")
>>> record_from_json(notice.to_json()) == notice
True
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, final

from askone.errors import InvalidFile
from askone.session.log import FORMAT, Event, event_from_json

Record = dict[str, Any]
Status = Literal["running", "paused", "closed"]
STATUSES: tuple[Status, ...] = ("running", "paused", "closed")


@final
@dataclass(frozen=True)
class Began:
    """A campaign was made, with these settings and so many rows, whose contents have this fingerprint."""

    id: str
    settings: Record
    rows: int
    fingerprint: str
    kind: ClassVar[str] = "began"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Grown:
    """So many rows were added at the end; all rows together have this fingerprint."""

    id: str
    rows: int
    fingerprint: str
    kind: ClassVar[str] = "grown"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Turned:
    """The campaign runs, pauses or is closed from here on."""

    id: str
    status: Status
    kind: ClassVar[str] = "turned"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Limited:
    """The budget is this from here on: so many questions may be asked in all (None: no limit)."""

    id: str
    budget: int | None
    kind: ClassVar[str] = "limited"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Flagged:
    """Somebody says that something is wrong with the question of event ``asked``, or with its row."""

    id: str
    asked: str
    reason: str
    kind: ClassVar[str] = "flagged"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Reopened:
    """The skip of event ``skipped`` was taken back."""

    id: str
    skipped: str
    kind: ClassVar[str] = "reopened"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Excluded:
    """Nothing that this person answered counts, before or after, until a later ``Included``."""

    id: str
    person: str
    kind: ClassVar[str] = "excluded"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


@final
@dataclass(frozen=True)
class Included:
    """What this person answered counts again."""

    id: str
    person: str
    kind: ClassVar[str] = "included"

    def to_json(self) -> Record:
        """Plain JSON values."""
        return _plain(self)


Notice = Began | Grown | Turned | Limited | Flagged | Reopened | Excluded | Included
Logged = Event | Notice
NOTICES: dict[str, type[Notice]] = {
    cls.kind: cls for cls in (Began, Grown, Turned, Limited, Flagged, Reopened, Excluded, Included)
}


def record_from_json(record: Record) -> Logged:
    """The inverse of each ``to_json``, of events and notices alike."""
    cls = NOTICES.get(str(record.get("kind")))
    if cls is None:
        return event_from_json(record)
    if record.get("format") != FORMAT:
        raise InvalidFile(f"a notice of kind {record['kind']!r}, format {record.get('format')} cannot be read")
    try:
        return cls(**{name: value for name, value in record.items() if name not in ("format", "kind")})
    except TypeError as error:
        raise InvalidFile(f"a notice of kind {record['kind']!r} lacks or misstates a field: {error}") from error


def _plain(notice: Notice) -> Record:
    return {"format": FORMAT, "kind": notice.kind, **asdict(notice)}
