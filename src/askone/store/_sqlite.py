"""SQLite: a file in WAL mode, or memory."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, ClassVar, final

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool, StaticPool

from askone.errors import StoreUnavailable
from askone.store._database import ADD_CAMPAIGN, PUT_OVER, WAIT, Database, Record, Session, TimedLock

# What is deleted is overwritten: a name that was forgotten is not to be found in the file.
PRAGMAS = ("synchronous=FULL", "foreign_keys=ON", "cache_size=-16384", "secure_delete=ON", "wal_autocheckpoint=4000")
_PUT = f"INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?) {PUT_OVER}"


@final
class SQLite(Database):
    """A file, or with None a memory that its threads share one connection to."""

    dialect: ClassVar[str] = "sqlite"
    among_texts: ClassVar[str] = "IN (SELECT value FROM json_each(?))"
    among_numbers: ClassVar[str] = "IN (SELECT value FROM json_each(?))"
    by: ClassVar[str] = " INDEXED BY {}"

    def __init__(self, path: Path | None) -> None:
        self.path = path
        options: dict[str, Any] = {"timeout": WAIT, "check_same_thread": False, "isolation_level": None}
        pool: dict[str, Any] = {"poolclass": StaticPool, "pool_reset_on_return": None}
        if path is not None:
            # Made here, so that nobody else can read it for a moment; the files beside it get the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            pool = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": 56, "pool_timeout": WAIT}
        url = sa.URL.create("sqlite", database=":memory:" if path is None else str(path))
        engine = sa.create_engine(url, connect_args=options, hide_parameters=True, **pool)
        super().__init__(engine)
        self._lock = TimedLock(threading.RLock())
        if path is not None:
            self._use_wal()

    def _use_wal(self) -> None:
        # Of several that open a new file at once, those that come too early are refused without a wait.
        end = time.monotonic() + WAIT
        while True:
            try:
                self.read("PRAGMA journal_mode=WAL")
                return
            except StoreUnavailable:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    @property
    def address(self) -> str | None:
        return None if self.path is None else str(self.path.absolute())

    def prepare(self, connection: Any) -> None:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    def sql(self, text: str) -> str:
        return text

    def listed(self, values: Sequence[str] | Sequence[int]) -> str:
        """Return one value, whatever their number: SQLite allows only so many ?."""
        return json.dumps(list(values), ensure_ascii=False)

    def begin(self, session: Session, lock: str | None) -> None:
        """Begin the one writer's transaction of the whole file."""
        session.cursor.execute("BEGIN IMMEDIATE")

    def guard(self, writing: bool) -> AbstractContextManager[object]:
        """Threads queue here rather than poll the file's lock; all that use a memory share its connection."""
        return self._lock if writing or self.path is None else nullcontext()

    def repeats(self, error: Any) -> bool:
        """See ``Database.repeats``; the trigger comes before the index."""
        return "the log is append-only" in str(error)

    def away(self, error: Any) -> bool:
        """See ``Database.away``; code 1 is for statements that are wrong."""
        return super().away(error) and error.sqlite_errorcode & 0xFF != 1

    def spoilt(self, error: Any) -> bool:
        """See ``Database.spoilt``: codes SQLITE_CORRUPT and SQLITE_NOTADB."""
        return isinstance(error, self._driver.DatabaseError) and error.sqlite_errorcode & 0xFF in (11, 26)

    def append(
        self, session: Session, campaign: int, entries: list[Record], put: list[Record], drop: list[Record]
    ) -> None:
        session.many("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(campaign, *one) for one in entries])
        session.many(
            "DELETE FROM seats WHERE campaign = ? AND number = ? AND seat = ?", [(campaign, *one) for one in drop]
        )
        session.many(_PUT, [(campaign, *one) for one in put])

    def add_rows(self, session: Session, records: list[Record]) -> None:
        session.many("INSERT INTO table_rows VALUES (?, ?, ?, ?, ?, ?)", records)

    def add_campaign(self, session: Session, record: Record) -> int:
        session.run(ADD_CAMPAIGN, record)
        return int(session.cursor.lastrowid)

    def tables(self, session: Session) -> list[str]:
        found = session.fetch("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return [name for (name,) in found]

    def checkpoint(self) -> None:
        """See ``Database.checkpoint``.  Left to SQLite, a commit does it for a thousand pages, and somebody waits.

        The more entries there are, the further apart are the places of their ids in the index: of a thousand pages
        in the log a few are the same where there are thousands of entries, none where there are millions.
        """
        if self.path is not None:
            self.read("PRAGMA wal_checkpoint(PASSIVE)")

    def scrub(self) -> None:
        """Scrub the file beside the database, which still has pages as they were."""
        if self.path is not None:
            self.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def keep_aside(self, number: int) -> None:
        """Copy the file beside itself, under the version that it has."""
        if self.path is None:
            return
        place = self.path.with_name(f"{self.path.name}.version-{number}")
        more = 1
        while place.exists():
            more += 1
            place = self.path.with_name(f"{self.path.name}.version-{number}.{more}")
        os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(self._driver.connect(self.path)) as source, closing(self._driver.connect(place)) as copy:
            source.backup(copy)
