"""Events of a campaign beside questions and answers: records of the same log.

>>> notice = StatusChanged("t1", "paused")
>>> logged_from_json(notice.to_json()) == notice
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

from askone._common.types import Record
from askone.session.log import Event, LogRecord, record_from_json

Status = Literal["running", "paused", "closed"]
STATUSES: tuple[Status, ...] = ("running", "paused", "closed")


@final
@dataclass(frozen=True)
class Began(LogRecord, kind="began"):
    """A campaign was made, with these settings and so many rows, whose contents have this fingerprint."""

    settings: Record
    rows: int
    fingerprint: str


@final
@dataclass(frozen=True)
class Grown(LogRecord, kind="grown"):
    """Rows were added at the end; all rows together have this fingerprint."""

    rows: int
    fingerprint: str


@final
@dataclass(frozen=True)
class StatusChanged(LogRecord, kind="turned"):
    """The campaign runs, pauses or is closed from here on."""

    status: Status


@final
@dataclass(frozen=True)
class Limited(LogRecord, kind="limited"):
    """The budget is this from here on: so many questions may be asked in all (None: no limit)."""

    budget: int | None


@final
@dataclass(frozen=True)
class Changed(LogRecord, kind="changed"):
    """These settings are so from here on, as in the settings' JSON; what is not named stays."""

    settings: Record


@final
@dataclass(frozen=True)
class Flagged(LogRecord, kind="flagged"):
    """A person says that something is wrong with the question of event ``asked``, or with its row."""

    asked: str
    reason: str


@final
@dataclass(frozen=True)
class Reopened(LogRecord, kind="reopened"):
    """The skip of event ``skipped`` was taken back."""

    skipped: str


@final
@dataclass(frozen=True)
class Excluded(LogRecord, kind="excluded"):
    """Nothing that this person answered counts, before or after, until a later ``Included``."""

    person: str


@final
@dataclass(frozen=True)
class Included(LogRecord, kind="included"):
    """A person's answers count again."""

    person: str


@final
@dataclass(frozen=True)
class PausedPerson(LogRecord, kind="paused_person"):
    """A person is asked no more: an answer of theirs tells at most ``bits``, which is less than ``below``.

    That is by their last ``answers`` answers, which count as before.
    """

    person: str
    bits: float
    below: float
    answers: int


@final
@dataclass(frozen=True)
class ResumedPerson(LogRecord, kind="resumed_person"):
    """A person who was paused is asked again; what they say from here on is judged by itself."""

    person: str


@final
@dataclass(frozen=True)
class Ruled(LogRecord, kind="ruled"):
    """A manager decides the question of event ``asked``, whatever people said (None: what people said counts again).

    It teaches as what is certain, and measures who answered.
    """

    asked: str
    answer: bool | None


@final
@dataclass(frozen=True)
class Reasked(LogRecord, kind="reasked"):
    """One person more is asked the question of event ``asked``: a second opinion, or another one."""

    asked: str


@final
@dataclass(frozen=True)
class Resolved(LogRecord, kind="resolved"):
    """What the event ``flagged`` says was seen to."""

    flagged: str


Notice = (
    Began | Grown | StatusChanged | Limited | Changed | Flagged | Reopened | Excluded | Included | Ruled | Reasked
    | Resolved | PausedPerson | ResumedPerson
)  # fmt: skip
Logged = Event | Notice
KINDS: dict[str, type[Logged]] = {cls.kind: cls for cls in get_args(Logged)}


def logged_from_json(record: Record) -> Logged:
    """Return the inverse of each ``to_json``, of events and notices alike."""
    return record_from_json(record, KINDS)
