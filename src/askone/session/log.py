"""Events of an answer log.  The log is the only truth; state is a fold of it.

>>> from askone.questions.half_space import HalfSpace
>>> asked = Asked("a1", row="customer-17", question=HalfSpace((1.0,), 37.0, number=0), learnt=0)
>>> event_from_json(asked.to_json()) == asked
True
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, final, get_args

import numpy as np

from askone._common.atomic_write import write_text
from askone._common.packed_arrays import digest
from askone._common.types import Array, Key, Record
from askone.errors import InvalidFile
from askone.questions.base import Answer, Question
from askone.questions.registry import question_from_json

FORMAT = 1
AUTOMATIC = "~"
"""How names begin that rows without a key have in the log: ~17."""


def given_key(name: Key) -> Key | None:
    """Return the key that a row was given, if it was.

    >>> given_key("ann"), given_key("~17")
    ('ann', None)
    """
    return None if isinstance(name, str) and name.startswith(AUTOMATIC) else name


_Convert = Callable[[Any], Any] | None


@dataclass(frozen=True)
class LogRecord:
    """A line of a log: what happened, under a name (``id``) that the log has once.

    Its fields are written in their order; one that has its default is left out.
    """

    id: str
    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind

    def to_json(self) -> Record:
        """Return plain JSON values."""
        record: Record = {"format": FORMAT, "kind": self.kind}
        for name, default, write, _ in self.columns():
            value = getattr(self, name)
            if value is not default:
                record[name] = value if write is None else write(value)
        return record

    @classmethod
    @cache
    def columns(cls) -> tuple[tuple[str, object, _Convert, _Convert], ...]:
        """Return each field's name, its default, and how its values are written and read (None: as they are)."""
        return tuple((f.name, f.default, f.metadata.get("write"), f.metadata.get("read")) for f in fields(cls))


_R = TypeVar("_R", bound=LogRecord)


def record_from_json(record: Record, kinds: Mapping[str, type[_R]]) -> _R:
    """Return the inverse of ``to_json``, for these kinds of records."""
    cls = kinds.get(str(record.get("kind")))
    if cls is None or record.get("format") != FORMAT:
        raise InvalidFile(f"an event of kind {record.get('kind')!r}, format {record.get('format')} cannot be read")
    values = {}
    try:
        for name, default, _, read in cls.columns():
            value = record[name] if default is MISSING else record.get(name, default)
            values[name] = value if read is None or value is default else read(value)
    except (KeyError, TypeError) as error:
        raise InvalidFile(f"an event of kind {cls.kind!r} lacks or misstates a field: {error!r}") from error
    return cls(**values)


@final
@dataclass(frozen=True)
class Choice:
    """The choice of a row: by which rule, from how many free rows, of which so many were looked at.

    ``worth`` is what its answer was expected to be worth (see ``Forecasts.worth``); with the probability ``share`` a
    random row, each as likely as any other, was asked about instead (rule "random").
    """

    rule: str
    pool: int
    looked: int
    worth: float
    share: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; ``share`` only where there is one, as logs of before do not have it."""
        return {name: value for name, value in asdict(self).items() if name != "share" or value}


@final
@dataclass(frozen=True)
class Asked(LogRecord, kind="asked"):
    """A question was put about a row, when the asker had learnt from so many answers.

    ``choice`` is there if the row was chosen from a pool, and not where it came by itself.
    """

    row: Key
    question: Question = field(metadata={"write": lambda one: one.to_json(), "read": question_from_json})
    learnt: int
    choice: Choice | None = field(
        default=None, metadata={"write": lambda one: one.to_json(), "read": lambda one: Choice(**one)}
    )


@final
@dataclass(frozen=True)
class Answered(LogRecord, kind="answered"):
    """The question of event ``asked`` was answered, by somebody who may be named."""

    asked: str
    answer: Answer = field(
        metadata={
            "write": lambda one: one if isinstance(one, bool) else list(one),
            "read": lambda one: one if isinstance(one, bool) else tuple(one),
        }
    )
    person: str | None = None


@final
@dataclass(frozen=True)
class Skipped(LogRecord, kind="skipped"):
    """The question of event ``asked`` was left unanswered on purpose."""

    asked: str


@final
@dataclass(frozen=True)
class Retracted(LogRecord, kind="retracted"):
    """The answer of event ``answered`` was taken back."""

    answered: str


@final
@dataclass(frozen=True)
class Revisited(LogRecord, kind="revisited"):
    """A row whose label is known came again: nobody was asked, the model learnt from it once more."""

    row: Key


@final
@dataclass(frozen=True)
class Fitted(LogRecord, kind="fitted"):
    """A fit took effect (see ``Refits``), made of the first so many answers; ``hash`` is that of its packed arrays.

    It falls out of the fold when an answer that came before it is taken back after it.  In a campaign's log one that
    is made in its place says behind which entry it takes effect (``after``).
    """

    learnt: int
    hash: str
    after: int | None = None


Event = Asked | Answered | Skipped | Retracted | Revisited | Fitted
EVENTS: dict[str, type[Event]] = {cls.kind: cls for cls in get_args(Event)}


def event_from_json(record: Record) -> Event:
    """Return the inverse of each event's ``to_json``."""
    return record_from_json(record, EVENTS)


Fits = Mapping[str, bytes]
"""Fits of a log, packed, by their hashes."""
_FIT, _ROWS = "fit", "rows"  # lines that are no events: a fit itself, and the hash of the rows that were asked about


def write_log(
    path: str | os.PathLike[str], events: Iterable[Event], fits: Fits | None = None, rows: str | None = None
) -> None:
    """Write a log as JSON lines, one event in each, then its fits; ``read_log`` and ``read_fits`` read them back.

    ``rows`` is a hash of the rows that it is about, which ``read_rows_hash`` reads.
    """
    records = [event.to_json() for event in events]
    records += [] if rows is None else [{"format": FORMAT, "kind": _ROWS, "hash": rows}]
    records += [
        {"format": FORMAT, "kind": _FIT, "hash": name, "data": base64.b64encode(packed).decode()}
        for name, packed in (fits or {}).items()
    ]
    write_text(path, "".join(json.dumps(record, allow_nan=False) + "\n" for record in records))


def read_log(path: str | os.PathLike[str]) -> list[Event]:
    """Return the events of a file of JSON lines; empty lines are passed over."""
    return [event_from_json(record) for record in _records(path) if record.get("kind") not in (_FIT, _ROWS)]


def read_rows_hash(path: str | os.PathLike[str]) -> str | None:
    """Return the hash of the rows that a log is about, where it has one."""
    return next((str(record.get("hash")) for record in _records(path) if record.get("kind") == _ROWS), None)


def read_fits(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the fits that were written with a log; one that is damaged is refused."""
    fits = {}
    for record in _records(path):
        if record.get("kind") == _FIT:
            try:
                fits[str(record["hash"])] = base64.b64decode(record["data"], validate=True)
            except (KeyError, TypeError, binascii.Error) as error:
                raise InvalidFile(f"a fit of the log cannot be read: {error!r}") from error
    require_whole(fits)
    return fits


def require_whole(fits: Fits) -> None:
    """Refuse fits whose bytes are not those of their hashes."""
    for name, packed in fits.items():
        if digest(packed) != name:
            raise InvalidFile(f"the fit {name} is damaged: its bytes have another hash")


def _records(path: str | os.PathLike[str]) -> Iterator[Record]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{os.fspath(path)} is not a log in JSON lines: {error}") from error
    return (_read_line(number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _read_line(number: int, line: str) -> Record:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidFile(f"line {number} of the log is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidFile(f"line {number} of the log must be a JSON object; got {type(record).__name__}")
    return record


@final
class Kept:
    """A log in memory, with its rows and fits: ``Stream(learner, log=kept.note, rows=kept.rows, fits=kept.fits)``."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.rows: dict[Key, Array] = {}
        self.fits: dict[str, bytes] = {}

    def note(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    def to_json(self) -> dict[str, Any]:
        """Return events and rows as plain JSON values."""
        rows = [[name, row.tolist()] for name, row in self.rows.items()]
        return {"events": [event.to_json() for event in self.events], "rows": rows}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Kept:
        """Return the inverse of ``to_json``."""
        kept = cls()
        kept.events = [event_from_json(event) for event in record["events"]]
        kept.rows = {name: np.array(row) for name, row in record["rows"]}
        return kept
