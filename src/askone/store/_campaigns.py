"""Create, grow and delete campaigns: in chunks, so that others can write meanwhile, unseen until all is there.

A campaign has its name only while it is whole.  One whose making or deletion was cut short has none; the next opening
of the store that finds its maker gone takes it away.
"""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import final

from askone.errors import AlreadyExists, InvalidArgument, UnknownCampaign
from askone.store._codec import Packer, as_texts, grown, is_name, packed_entries, packed_seat
from askone.store._database import LONG, Database, Record, Session
from askone.store._schema import KEPT
from askone.store.entries import BEGINNING, Entry, Row, RowBlock, Seat
from askone.store.notices import Began, Grown
from askone.store.transactions import PUT_FIT, Transaction

Rows = Iterable[RowBlock | Sequence[Row]]
Mark = Callable[[int, str], Entry]
CHUNK = 5_000
"""Rows or entries that are written at once: who writes to the same SQLite file waits meanwhile."""
_ROOM = 2 << 20
"""Bytes of rows or media that are gathered for a transaction."""
_SIGN = 30.0
"""Seconds after which a maker shows that it is there, however few rows it has."""
LONG_GONE = 900.0
"""Seconds without a sign after which a maker is taken for dead where that cannot be seen."""
_PROCESS = secrets.token_hex(8)
_STEPS = dict(zip(KEPT, ("seq", "position", "number", "key", "seq", "hash"), strict=True))


@final
@dataclass(frozen=True)
class CampaignRecord:
    """A campaign's record in the store, beside its log and its rows."""

    name: str
    title: str
    owner: str
    created: float
    rows: int
    fingerprint: str


class CampaignWriter:
    """Base of ``Store``: makes, grows and deletes campaigns."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._making: dict[str, int] = {}

    def create(
        self,
        name: str,
        title: str,
        owner: str,
        learner: bytes,
        began: Mark,
        rows: Rows,
        log: Iterable[Sequence[Entry]] = (),
        seats: Sequence[Seat] = (),
        parts: Sequence[int] = (),
    ) -> None:
        """Create a campaign, seen by nobody before all of it is there.

        ``rows`` come in chunks and get their positions in their order; ``began`` makes the first entry from their
        number and fingerprint.  Where a campaign comes from elsewhere, ``log`` is what follows, ``seats`` are those of
        questions without an answer, and ``parts`` say after how many rows the table grew: no chunk goes across.
        """
        if not is_name(name):
            allowed = "at most 100 letters, digits, '-', '_' and '.', a letter or digit first"
            raise InvalidArgument("name", allowed, name)
        as_texts("title", [title])
        as_texts("owner", [owner])
        if self._database.read("SELECT 1 FROM campaigns WHERE name = ?", (name,)):
            raise AlreadyExists(f"there is a campaign {name!r} already: give this one another name or title")
        number = self._making[name] = _hidden(self._database, title, owner, learner)
        try:
            packer = Packer()
            _stage(self._database, number, rows, packer, parts)
            _log(self._database, number, began(packer.count, packer.fingerprint), packer, log)
            _seat(self._database, number, seats)
            _show(self._database, number, name)
        except BaseException:
            _vanish(self._database, number)
            raise
        finally:
            self._making.pop(name, None)

    def grow(self, name: str, rows: Rows, grown: Mark) -> int:
        """Add rows at the end, and the entry that ``grown`` makes of their number and the whole fingerprint.

        The new rows wait in a campaign without a name until they are moved in one step.
        """
        query = "SELECT dtype, width FROM campaigns WHERE name = ?"
        found = self._database.read(query, (name,)) if is_name(name) else []
        if not found:
            raise UnknownCampaign(name)
        number = _hidden(self._database)
        try:
            packer = Packer(*found[0])
            _stage(self._database, number, rows, packer)
            _move(self._database, name, number, packer, grown)
        finally:
            _vanish(self._database, number)
        return packer.count

    def delete(self, name: str) -> None:
        """Delete a whole campaign with its log: the one deletion of a log."""
        if not is_name(name):
            raise UnknownCampaign(name)
        with self._database.transaction(lock=name) as session:
            found = session.fetch("SELECT id FROM campaigns WHERE name = ?", (name,))
            if not found:
                raise UnknownCampaign(name)
            hide = "UPDATE campaigns SET name = NULL, maker = ?, touched = ? WHERE id = ?"
            session.run(hide, (_maker(), time.time(), found[0][0]))
        _vanish(self._database, found[0][0])


def sweep(database: Database, now: float | None = None) -> int:
    """Take away what makers left behind that are gone; how many campaigns that were."""
    found = database.read("SELECT id, maker, touched FROM campaigns WHERE name IS NULL")
    time_now = time.time() if now is None else now
    left = [number for number, maker, touched in found if _is_dead(maker) or touched < time_now - LONG_GONE]
    for number in left:
        _vanish(database, number)
    return len(left)


def _maker() -> str:
    return f"{os.getpid()} {_PROCESS} {platform.node()}"


def _is_dead(maker: str) -> bool:
    """Return whether it is certain that the process is gone that wrote this."""
    pid, process, node = maker.split(" ", 2)
    if int(pid) == os.getpid():
        return node == platform.node() and process != _PROCESS
    if node != platform.node() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _hidden(database: Database, title: str = "", owner: str = "", learner: bytes = b"") -> int:
    now = time.time()
    with database.transaction() as session:
        return database.add_campaign(session, (title, owner, now, 0, "", "", 0, learner, _maker(), now))


def _stage(database: Database, number: int, rows: Rows, packer: Packer, parts: Sequence[int] = ()) -> None:
    """Rows into a campaign that nobody sees: gathered, as a transaction costs, and packed before it begins."""
    left = list(parts)
    waiting: list[Record] = []
    written, size = time.monotonic(), 0
    for chunk in rows:
        _part(packer, left)
        before = packer.size
        waiting += packer.pack(number, chunk)
        size += packer.size - before
        if len(waiting) >= CHUNK or size >= _ROOM or time.monotonic() > written + _SIGN:
            _insert(database, number, waiting)
            waiting, written, size = [], time.monotonic(), 0
    _part(packer, left)
    _insert(database, number, waiting)


def _part(packer: Packer, left: list[int]) -> None:
    while left and left[0] == packer.count:
        packer.part()
        del left[0]


def _insert(database: Database, number: int, records: list[Record]) -> None:
    try:
        for start in range(0, len(records), CHUNK):
            with database.transaction() as session:
                session.run("UPDATE campaigns SET touched = ? WHERE id = ?", (time.time(), number))
                database.add_rows(session, records[start : start + CHUNK])
    except database.conflict as error:
        raise InvalidArgument("rows", "keys that differ", "a key that came before") from error


def keep_fits(database: Database, number: int, items: Iterable[tuple[str, bytes]]) -> None:
    """See ``Store.add_fits``: each in a transaction, since they are large and few."""
    for name, data in items:
        as_texts("hash", [name])
        with database.transaction() as session:
            session.run("UPDATE campaigns SET touched = ? WHERE id = ?", (time.time(), number))
            session.run(PUT_FIT, (number, name, data))


def keep_media(database: Database, number: int, items: Iterable[tuple[str, str, bytes]]) -> None:
    """See ``Store.add_media``: several files in a transaction, as many as fit into some room."""
    waiting: dict[str, Record] = {}
    size = 0
    for key, kind, data in items:
        as_texts("key", [key, kind])
        waiting[key] = (number, key, kind, data)
        size += len(data)
        if size >= _ROOM or len(waiting) >= CHUNK:
            _put_media(database, number, list(waiting.values()))
            waiting, size = {}, 0
    if waiting:
        _put_media(database, number, list(waiting.values()))


def _put_media(database: Database, number: int, records: list[Record]) -> None:
    with database.transaction() as session:
        session.run("UPDATE campaigns SET touched = ? WHERE id = ?", (time.time(), number))
        session.many("DELETE FROM media WHERE campaign = ? AND key = ?", [record[:2] for record in records])
        session.many("INSERT INTO media VALUES (?, ?, ?, ?)", records)


def _log(database: Database, number: int, began: Entry, packer: Packer, log: Iterable[Sequence[Entry]]) -> None:
    if not isinstance(began.event, Began):
        raise InvalidArgument("began", "an entry with a Began", began.event)
    seq, mark = 0, BEGINNING
    with database.transaction() as session:
        values = (packer.count, packer.fingerprint, packer.dtype, packer.width, began.at, number)
        session.run(
            "UPDATE campaigns SET row_count = ?, fingerprint = ?, dtype = ?, width = ?, created = ? WHERE id = ?",
            values,
        )
        seq, mark = _append(database, session, number, [began], seq, mark)
    for entries in log:
        with database.transaction() as session:
            session.run("UPDATE campaigns SET touched = ? WHERE id = ?", (time.time(), number))
            seq, mark = _append(database, session, number, entries, seq, mark)


def _seat(database: Database, number: int, seats: Sequence[Seat]) -> None:
    for start in range(0, len(seats), CHUNK):
        with database.transaction() as session:
            database.append(session, number, [], [packed_seat(seat) for seat in seats[start : start + CHUNK]], [])


def _append(
    database: Database, session: Session, number: int, entries: Sequence[Entry], seq: int, mark: str
) -> tuple[int, str]:
    records, placed = packed_entries(entries, seq, mark)
    if not placed:
        return seq, mark
    database.append(session, number, records, [], [])
    return placed[-1].seq, placed[-1].hash


def _show(database: Database, number: int, name: str) -> None:
    try:
        with database.transaction(lock=name) as session:
            session.run("UPDATE campaigns SET name = ? WHERE id = ?", (name, number))
    except database.conflict as error:
        raise AlreadyExists(f"there is a campaign {name!r} already: give this one another name or title") from error


def _move(database: Database, name: str, staged: int, packer: Packer, mark: Mark) -> None:
    columns = "id, row_count, fingerprint, dtype"
    try:
        with database.transaction(lock=name, seconds=LONG) as session:
            transaction = Transaction(session, database, name)
            number, count, before, dtype = session.fetch(f"SELECT {columns} FROM campaigns WHERE name = ?", (name,))[0]
            if dtype not in ("", packer.dtype):
                raise InvalidArgument("features", f"{dtype}, as in other rows", packer.dtype)
            session.run(
                "UPDATE table_rows SET campaign = ?, position = position + ? WHERE campaign = ?",
                (number, count, staged),
            )
            whole = grown(before, packer.fingerprint)
            values = (count + packer.count, whole, packer.dtype, packer.width, number)
            session.run(
                "UPDATE campaigns SET row_count = ?, fingerprint = ?, dtype = ?, width = ? WHERE id = ?", values
            )
            entry = mark(packer.count, whole)
            if not isinstance(entry.event, Grown):
                raise InvalidArgument("grown", "an entry with a Grown", entry.event)
            transaction.write([entry])
    except database.conflict as error:
        raise InvalidArgument("rows", "keys that the campaign does not have", "a key that it has") from error


def _vanish(database: Database, number: int) -> None:
    """Delete a campaign without a name, in steps."""
    for table in KEPT:
        column = _STEPS[table]
        step = f"SELECT {column} FROM {table} WHERE campaign = ? ORDER BY {column} LIMIT 1 OFFSET {CHUNK}"
        found = [(None,)]
        while found:
            with database.transaction(seconds=LONG) as session:
                found = session.fetch(step, (number,))
                upto = f" AND {column} < ?" if found else ""
                session.run(f"DELETE FROM {table} WHERE campaign = ?{upto}", (number, *(one[0] for one in found)))
    with database.transaction() as session:
        session.run("DELETE FROM campaigns WHERE id = ? AND name IS NULL", (number,))
