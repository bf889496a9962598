"""A store: campaigns with their logs, rows, seats and snapshots, in one database.

>>> import numpy as np
>>> from askone.store.open import open_store
>>> from askone.store.notices import Began, StatusChanged
>>> store = open_store("memory:")
>>> rows = [[Row(0, "a", {"size": 3}, np.zeros(1)), Row(1, "b", {"size": 5}, np.ones(1))]]
>>> store.create("demo", "Demo", "ann", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), rows)
>>> with store.transaction("demo") as transaction:
...     placed = transaction.write([Entry(StatusChanged("t1", "paused"), who="ann", at=1.0)])
>>> [(entry.seq, entry.event.kind) for entry in store.entries("demo")]
[(1, 'began'), (2, 'turned')]
>>> store.campaign("demo").rows, store.row_by_key("demo", "b").content
(2, {'size': 5})
>>> store.close()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import islice
from typing import final

import numpy as np

from askone._common.packed_arrays import digest
from askone._common.types import Array
from askone.errors import InvalidArgument, UnknownCampaign
from askone.store._campaigns import CampaignRecord, CampaignWriter, keep_fits, keep_media, sweep
from askone.store._codec import (
    ROW_COLUMNS,
    Line,
    as_texts,
    is_name,
    packed_snapshot,
    row_of,
    seat_of,
    snapshot_of,
)
from askone.store._database import ENTRY_COLUMNS, SEAT_COLUMNS, Database, Record
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.webhooks import PUT_SETTING
from askone.store.entries import BEGINNING, Entry, Row, Seat, Snapshot
from askone.store.transactions import HEAD, Transaction, known_query

__all__ = ["CampaignRecord", "Line", "Store", "Transaction"]

_ID = "(SELECT id FROM campaigns WHERE name = ?)"
_RECORD = "SELECT name, title, owner, created, row_count, fingerprint FROM campaigns WHERE name "
_ROW = "r." + ROW_COLUMNS.replace(", ", ", r.")
_ROWS = f"SELECT c.dtype, {_ROW} FROM campaigns c JOIN table_rows r ON r.campaign = c.id WHERE c.name = ? AND "
_SNAPSHOTS = f"SELECT seq, fingerprint, data FROM snapshots WHERE campaign = {_ID} AND seq "
PAGE = 1000
"""Entries that are read at once."""


@final
class Store(CampaignWriter):
    """Everything that is kept.  Any thread may read and write; ``transaction`` is the one way to write events."""

    def __init__(self, database: Database, url: str) -> None:
        super().__init__(database)
        self.url, self.dialect, self.accounts = url, database.dialect, Accounts(database)

    def __repr__(self) -> str:
        return f"Store({self.url!r})"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; ``with`` does so at its end."""
        self._database.close()

    @property
    def address(self) -> str | None:
        """Where another process of this machine finds it, secrets included; None: it is in this one's memory."""
        return self._database.address

    def sweep(self) -> None:
        """Take away what was left behind by makers of campaigns that are gone."""
        sweep(self._database)

    def checkpoint(self) -> None:
        """Bring what was written to its place in the file, so that nobody's answer has to wait for it."""
        self._database.checkpoint()

    def ping(self) -> None:
        """Raise ``StoreUnavailable`` if the database does not answer."""
        self._database.read("SELECT 1")

    def check_writable(self) -> None:
        """Raise ``StoreUnavailable`` if nothing can be written, such as to a full disk; nothing is changed."""
        with self._database.transaction() as session:
            session.run(PUT_SETTING, ("probe", ""))
            session.run("DELETE FROM settings WHERE name = ?", ("probe",))

    def campaigns(self) -> list[CampaignRecord]:
        """Return all campaigns, by their names."""
        return [CampaignRecord(*record) for record in self._database.read(_RECORD + "IS NOT NULL ORDER BY name")]

    def campaign(self, name: str) -> CampaignRecord:
        """Return one campaign."""
        return CampaignRecord(*self._one(_RECORD + "= ?", name))

    def number(self, name: str) -> int:
        """Return a campaign's number, which no other has: a name may be used again."""
        return int(self._one(HEAD, name)[0])

    def learner(self, name: str) -> bytes:
        """Return what was given as the learner when the campaign was made."""
        return bytes(self._one("SELECT learner FROM campaigns WHERE name = ?", name)[0])

    def head(self, name: str) -> tuple[int, str]:
        """Return the number and the hash of the last entry."""
        _, seq, mark = self._one(HEAD, name)
        return seq or 0, mark or BEGINNING

    def entries(
        self, name: str, after: int = 0, limit: int | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[Entry]:
        """Yield the log after an entry's number, as it is when the reading begins, in pages."""
        for line in self.lines(name, after, limit, kinds):
            yield line.entry()

    def lines(
        self, name: str, after: int = 0, limit: int | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[Line]:
        """Yield the same as it is kept: texts and hashes."""
        number, last, _ = self._one(HEAD, name)
        pages = [self._pages(number, after, last or 0, kind) for kind in ([None] if kinds is None else set(kinds))]
        yield from islice(pages[0] if len(pages) == 1 else merge(*pages), limit)
        if self._one(HEAD, name)[0] != number:
            raise UnknownCampaign(name)

    def _pages(self, number: int, after: int, last: int, kind: str | None) -> Iterator[Line]:
        """Yield the log of a campaign, or what is of one kind in it; each page is a statement of its own."""
        only = "" if kind is None else " AND kind = ?"
        by = "" if kind is None else self._database.by.format("entries_by_kind")
        where = f"campaign = ?{only} AND seq > ? AND seq <= ? ORDER BY seq LIMIT {PAGE}"
        query = f"SELECT {ENTRY_COLUMNS} FROM entries{by} WHERE {where}"
        values = (number,) if kind is None else (number, kind)
        while after < last:
            found = self._database.read(query, (*values, after, last))
            yield from map(Line._make, found)
            after = found[-1][0] if len(found) == PAGE else last

    def known(self, name: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries of these events, as far as the log has them."""
        as_texts("ids", ids)
        number, query = self._one(HEAD, name)[0], known_query(self._database)
        found = self._database.read(query, (number, self._database.listed(ids))) if ids else []
        return {record[1]: Line(*record).entry() for record in found}

    def times(self, name: str, ids: Sequence[str]) -> dict[str, float]:
        """Return how long these answers took, in seconds, of those that were timed: no event is made of an entry."""
        as_texts("ids", ids)
        number, query = self._one(HEAD, name)[0], known_query(self._database)
        found = self._database.read(query, (number, self._database.listed(ids))) if ids else []
        timed = ((record[1], Line(*record).took()) for record in found)
        return {event: seconds for event, seconds in timed if seconds is not None}

    def rows(self, name: str, positions: Sequence[int]) -> list[Row]:
        """Return rows by their positions, in the order asked for."""
        wanted = [int(position) for position in positions]
        among = f"r.position {self._database.among_numbers}"
        inside = [position for position in wanted if 0 <= position < 2**62]
        found = self._rows(name, among, self._database.listed(inside)) if inside else []
        rows = {row.position: row for row in found}
        missing = [position for position in wanted if position not in rows]
        if missing:
            raise InvalidArgument("positions", f"below {self.campaign(name).rows} and not negative", missing[0])
        return [rows[position] for position in wanted]

    def features(self, name: str, positions: Sequence[int]) -> Array:
        """Return rows by their positions as the model sees them, n x columns, in the order asked for."""
        dtype, number = self._one("SELECT dtype, id FROM campaigns WHERE name = ?", name)
        where = f"campaign = ? AND position {self._database.among_numbers}"
        query = f"SELECT position, features FROM table_rows WHERE {where}"
        found: dict[int, bytes] = dict(self._database.read(query, (number, self._database.listed(list(positions)))))
        missing = [position for position in positions if position not in found]
        if missing:
            raise InvalidArgument("positions", f"below {self.campaign(name).rows} and not negative", missing[0])
        numbers = np.frombuffer(b"".join(found[position] for position in positions), dtype or "<f8")
        return numbers.reshape(len(positions), -1).astype(np.float64)

    def seats_of(self, name: str, person: str) -> list[Seat]:
        """Return the questions that a person holds."""
        as_texts("person", [person])
        by = self._database.by.format("seats_by_person")
        query = f"SELECT {SEAT_COLUMNS} FROM seats{by} WHERE campaign = {_ID} AND person = ? ORDER BY number, seat"
        return [seat_of(record) for record in self._found(query, name, person)]

    def row_pages(self, name: str, size: int = 10_000, after: int = -1) -> Iterator[list[Row]]:
        """Yield all rows after a position, as they are when the reading begins, page by page."""
        count = self.campaign(name).rows
        while after < count - 1:
            last = min(after + size, count - 1)
            page = self._rows(name, "r.position > ? AND r.position <= ? ORDER BY r.position", after, last)
            if len(page) < last - after:
                raise UnknownCampaign(name)
            yield page
            after = last

    def feature_pages(self, name: str, size: int = 10_000) -> Iterator[tuple[list[str], Array]]:
        """Yield keys and features (n x columns) of all rows, in order, page by page: what a model needs of them."""
        (count, dtype, number) = self._one("SELECT row_count, dtype, id FROM campaigns WHERE name = ?", name)
        query = (
            "SELECT key, features FROM table_rows "
            "WHERE campaign = ? AND position >= ? AND position < ? ORDER BY position"
        )
        for first in range(0, count, size):
            last = min(first + size, count)
            page = self._database.read(query, (number, first, last))
            if len(page) < last - first:
                raise UnknownCampaign(name)
            numbers = np.frombuffer(b"".join(features for _, features in page), dtype or "<f8")
            yield [key for key, _ in page], numbers.reshape(len(page), -1)

    def row_by_key(self, name: str, key: str) -> Row | None:
        """Return the row of a key, if there is one."""
        as_texts("key", [key])
        found = self._rows(name, "r.key = ?", key)
        if not found:
            self.campaign(name)
        return found[0] if found else None

    def gold(self, name: str) -> list[int]:
        """Return the positions of rows whose label is known."""
        self.campaign(name)
        query = f"SELECT position FROM table_rows WHERE campaign = {_ID} AND gold IS NOT NULL ORDER BY position"
        return [position for (position,) in self._database.read(query, (name,))]

    def add_media(self, name: str, items: Iterable[tuple[str, str, bytes]]) -> None:
        """Keep files (key, media type, bytes); also while ``create`` takes this campaign's rows."""
        number = self._making.get(name) or self._one(HEAD, name)[0]
        keep_media(self._database, number, items)

    def media(self, name: str, key: str) -> tuple[str, bytes] | None:
        """Return a file's media type and bytes, if there is one under this key."""
        as_texts("key", [key])
        found = self._found(f"SELECT kind, data FROM media WHERE campaign = {_ID} AND key = ?", name, key)
        return (found[0][0], bytes(found[0][1])) if found else None

    def media_keys(self, name: str) -> list[str]:
        """Return the keys of all files."""
        found = self._found(f"SELECT key FROM media WHERE campaign = {_ID} ORDER BY key", name)
        return [key for (key,) in found]

    def add_fits(self, name: str, items: Iterable[tuple[str, bytes]]) -> None:
        """Keep fits (hash, bytes) of entries that the log has; also while ``create`` takes this campaign's rows."""
        keep_fits(self._database, self._making.get(name) or self._one(HEAD, name)[0], items)

    def fit(self, name: str, mark: str) -> bytes | None:
        """Return the fit of a hash; None if there is none, or what there is has another hash."""
        as_texts("hash", [mark])
        found = self._found(f"SELECT data FROM fits WHERE campaign = {_ID} AND hash = ?", name, mark)
        data = bytes(found[0][0]) if found else b""
        return data if digest(data) == mark else None

    def snapshots(self, name: str) -> list[Snapshot]:
        """Return the states that were kept, the latest last."""
        return [snapshot_of(record) for record in self._found(_SNAPSHOTS + ">= 0 ORDER BY seq", name)]

    def projection(self, name: str) -> Snapshot | None:
        """Return what was kept of the log up to an entry, if there is anything; its number is negative."""
        found = self._found(_SNAPSHOTS + "< 0", name)
        return snapshot_of(found[0]) if found else None

    def keep_projection(self, name: str, seq: int, fingerprint: str, blob: bytes) -> None:
        """Keep what the log says up to an entry, in the place of the one before: a cache as well."""
        number = self._one(HEAD, name)[0]
        with self._database.transaction() as session:
            session.run("DELETE FROM snapshots WHERE campaign = ? AND seq < 0", (number,))
            record = packed_snapshot(Snapshot(-seq, fingerprint, blob))
            session.run("INSERT INTO snapshots VALUES (?, ?, ?, ?)", (number, *record))

    def keep_snapshot(self, name: str, seq: int, fingerprint: str, blob: bytes) -> None:
        """Keep a state that is only a cache, with its hash: the last two stay."""
        number = self._one(HEAD, name)[0]
        older = "SELECT seq FROM snapshots WHERE campaign = ? AND seq >= 0 ORDER BY seq DESC LIMIT 1 OFFSET 2"
        put = (
            "INSERT INTO snapshots VALUES (?, ?, ?, ?) ON CONFLICT (campaign, seq) "
            "DO UPDATE SET fingerprint = excluded.fingerprint, data = excluded.data"
        )
        with self._database.transaction() as session:
            # What has more was made before answers were taken back: it is of no use, and would hide this one.
            session.run("DELETE FROM snapshots WHERE campaign = ? AND seq > ?", (number, seq))
            session.run(put, (number, *packed_snapshot(Snapshot(seq, fingerprint, blob))))
            for (upto,) in session.fetch(older, (number,)):
                session.run("DELETE FROM snapshots WHERE campaign = ? AND seq BETWEEN 0 AND ?", (number, upto))

    def drop_snapshot(self, name: str, seq: int) -> None:
        """Drop a state that is of no use."""
        number = self._one(HEAD, name)[0]
        with self._database.transaction() as session:
            session.run("DELETE FROM snapshots WHERE campaign = ? AND seq = ?", (number, seq))

    @contextmanager
    def transaction(self, name: str) -> Iterator[Transaction]:
        """The right to write to a campaign's log, for one at a time; durable when it ends, undone if it raises."""
        if not is_name(name):
            raise UnknownCampaign(name)
        with self._database.transaction(lock=name) as session:
            yield Transaction(session, self._database, name)

    def _found(self, query: str, name: str, *values: object) -> list[Record]:
        return self._database.read(query, (name, *values)) if is_name(name) else []

    def _one(self, query: str, name: str) -> Record:
        found = self._found(query, name)
        if not found:
            raise UnknownCampaign(name)
        return found[0]

    def _rows(self, name: str, where: str, *values: object) -> list[Row]:
        found = self._found(_ROWS + where, name, *values)
        return [row_of(record[1:], record[0]) for record in found]
