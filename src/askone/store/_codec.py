"""Entries, rows and seats as the records of tables, and back."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument, InvalidFile
from askone.session.log import Asked
from askone.store._database import Record
from askone.store.entries import Entry, Row, RowBlock, Seat, Snapshot, as_json, body, chain, entry_from_json

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
ROW_COLUMNS = "position, key, content, features, gold"


@final
class Line(NamedTuple):
    """An entry as it is kept: ``body`` is the very text that was hashed, the rest is for finding it."""

    seq: int
    id: str
    kind: str
    who: str
    at: float
    number: int | None
    body: str
    hash: str

    def entry(self) -> Entry:
        """Return the entry."""
        try:
            return entry_from_json(json.loads(self.body), self.hash)
        except (ValueError, KeyError, TypeError) as error:
            raise self._unread(error) from error

    def took(self) -> float | None:
        """Return how long an answer took, in a fifth of the time of ``entry``."""
        try:
            found: float | None = json.loads(self.body).get("took")
        except (ValueError, AttributeError) as error:
            raise self._unread(error) from error
        return found

    def _unread(self, error: Exception) -> InvalidFile:
        return InvalidFile(f"entry {self.seq} of the log cannot be read: {error!r}")


def is_name(name: str) -> bool:
    """Return whether a campaign can have this name: it stands in addresses and file names.

    >>> is_name("prices-2"), is_name("../prices"), is_name("")
    (True, False, False)
    """
    return _NAME.fullmatch(name) is not None


def packed_entries(entries: Sequence[Entry], seq: int, before: str) -> tuple[list[Record], list[Entry]]:
    """Return records for the log after entry ``seq`` whose hash is ``before``, and the entries with their places."""
    records: list[Record] = []
    placed: list[Entry] = []
    for place, entry in enumerate(entries, start=seq + 1):
        text, before = _chained(replace(entry, seq=place), before)
        event = entry.event
        number = event.question.number if isinstance(event, Asked) else None
        records.append((place, event.id, event.kind, entry.who, entry.at, number, text, before))
        placed.append(replace(entry, seq=place, hash=before))
    return records, placed


def _chained(entry: Entry, before: str) -> tuple[str, str]:
    """Return the ``body`` and ``chain`` of an entry, checked."""
    if not (isinstance(entry.at, int | float) and math.isfinite(entry.at)):
        raise InvalidArgument("at", "finite seconds since the epoch", entry.at)
    try:
        text = body(entry)
        mark = chain(before, text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArgument("entry", f"plain JSON with finite numbers ({error})", entry.event) from error
    as_texts("id", [entry.event.id])
    as_texts("who", [entry.who])
    return text, mark


def as_texts(argument: str, texts: Sequence[str]) -> None:
    """Refuse what a database cannot keep as text."""
    for text in texts:
        good = isinstance(text, str) and "\0" not in text
        if not good or not (text.isascii() or text.encode(errors="ignore").decode() == text):
            raise InvalidArgument(argument, "text without NUL and without half characters", text)


def packed_seat(seat: Seat) -> Record:
    """Return a record of the seats, without its campaign."""
    if not math.isfinite(seat.expires):
        raise InvalidArgument("expires", "finite seconds since the epoch", seat.expires)
    ahead = None if seat.ahead is None else _json("ahead", dict(seat.ahead))
    return (seat.number, seat.seat, seat.position, seat.person, seat.lease, seat.expires, ahead)


def seat_of(record: Record) -> Seat:
    """Return the inverse of ``packed_seat``."""
    number, seat, position, person, lease, expires, ahead = record
    told = None if ahead is None else json.loads(ahead)
    return Seat(number, seat, position, person, lease, expires, told)


def packed_snapshot(kept: Snapshot) -> Record:
    """Return a record of the snapshots, without its campaign: the hash of all of it stands behind the fingerprint."""
    return (kept.seq, f"{kept.fingerprint} {_snapshot_hash(kept.seq, kept.fingerprint, kept.data or b'')}", kept.data)


def snapshot_of(record: Record) -> Snapshot:
    """Return the inverse of ``packed_snapshot``; what an older version kept without a hash belongs to nothing."""
    seq, (fingerprint, _, mark), data = record[0], record[1].partition(" "), bytes(record[2])
    if not mark:
        return Snapshot(seq, "", data)
    return Snapshot(seq, fingerprint, data if _snapshot_hash(seq, fingerprint, data) == mark else None)


def _snapshot_hash(seq: int, fingerprint: str, data: bytes) -> str:
    return hashlib.sha256(b"%d %s\n%s" % (seq, fingerprint.encode(), data)).hexdigest()


@final
class Packer:
    """Packs chunks of rows, counts them and their bytes, and takes their fingerprint.

    The fingerprint of a table is SHA-256 over the key, content and gold as JSON, and the features' bytes of each row;
    that of a grown one is SHA-256 over the one before and the fingerprint of the new rows.
    """

    def __init__(self, dtype: str = "", width: int = 0) -> None:
        self.dtype, self.width, self.count, self.size = dtype, width, 0, 0
        self._digest = hashlib.sha256()
        self._before: str | None = None

    @property
    def fingerprint(self) -> str:
        """That of the rows so far."""
        own = self._digest.hexdigest()
        return own if self._before is None else grown(self._before, own)

    def part(self) -> None:
        """Rows from here on were added later."""
        self._before, self._digest = self.fingerprint, hashlib.sha256()

    def pack(self, campaign: int, rows: RowBlock | Sequence[Row]) -> list[Record]:
        """Return records of rows, which get the next positions."""
        if not rows:
            return []
        block = rows if isinstance(rows, RowBlock) else _block(rows)
        as_texts("key", block.keys)
        data = self._checked(block.features).tobytes()
        size = len(data) // len(block)
        features = [data[i * size : (i + 1) * size] for i in range(len(block))]
        plain = (one if type(one) is dict else dict(one) for one in block.contents)
        contents = [_json("content", one, key) for one, key in zip(plain, block.keys, strict=True)]
        known = zip(block.golds, block.keys, strict=True)
        golds = [None if one is None else _json("gold", one, key) for one, key in known]
        told: list[bytes] = []
        for key, content, gold, part in zip(block.keys, contents, golds, features, strict=True):
            told += (f"{key}\0{content}\0{gold or ''}\0".encode(), part)
        text = b"".join(told)
        self._digest.update(text)
        places = range(self.count, self.count + len(block))
        self.count, self.size = self.count + len(block), self.size + len(text)
        return list(zip(repeat(campaign, len(block)), places, block.keys, contents, features, golds, strict=True))

    def _checked(self, table: Array) -> Array:
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise InvalidArgument("features", "a vector of numbers", f"{table.dtype} of shape {table.shape[1:]}")
        if not self.dtype:
            self.dtype, self.width = "<f4" if table.dtype == np.float32 else "<f8", table.shape[1]
        if table.shape[1] != self.width:
            raise InvalidArgument("features", f"{self.width} numbers, as in other rows", table.shape[1])
        if self.dtype == "<f4" and table.dtype != np.float32:
            raise InvalidArgument("features", "float32, as in other rows", str(table.dtype))
        if not np.isfinite(table).all():
            raise InvalidArgument("features", "finite numbers", "NaN or infinity")
        return table.astype(self.dtype, copy=False)


def _block(rows: Sequence[Row]) -> RowBlock:
    """Return rows in columns."""
    try:
        features = np.stack([np.asarray(row.features) for row in rows])
    except ValueError as error:
        raise InvalidArgument("features", "of one shape in all rows", str(error)) from error
    return RowBlock([row.key for row in rows], [row.content for row in rows], features, [row.gold for row in rows])


def row_of(record: Record, dtype: str) -> Row:
    """Return the inverse of ``Packer.pack``; the features cannot be written to."""
    position, key, content, features, gold = record
    numbers = np.frombuffer(features, dtype or "<f8")
    return Row(position, key, json.loads(content), numbers, None if gold is None else json.loads(gold))


def grown(fingerprint: str, added: str) -> str:
    """Return the fingerprint of a table that has grown by rows of another."""
    return hashlib.sha256(f"{fingerprint}\n{added}".encode()).hexdigest()


def _json(argument: str, value: Any, key: str | None = None) -> str:
    try:
        text = as_json(value)
        if not text.isascii():
            text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        where = "" if key is None else f" (row {key!r}: {error})"
        raise InvalidArgument(argument, f"plain JSON with finite numbers{where}", value) from error
    return text
