"""PostgreSQL, through psycopg."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, ClassVar, final

import sqlalchemy as sa
from sqlalchemy.exc import InvalidatePoolError

from askone.errors import MissingExtra
from askone.store._database import (
    ADD_CAMPAIGN,
    ENTRY_COLUMNS,
    LONG,
    PUT_OVER,
    SEAT_COLUMNS,
    STATEMENT,
    WAIT,
    Database,
    Record,
    Session,
    T,
    TimedLock,
    Values,
)
from askone.store._statement_clock import StatementClock

_USED = "used"
SECRET = ("password", "sslpassword", "passfile")
"""Parameters of an address that are not to be seen."""
_KEPT, _MORE, _WRITERS = 8, 8, 12
"""Connections that stay, those that come for a rush, and how many of both may write at a time.

Whoever writes reads rows meanwhile, by another connection: with none left, all would wait for each other.
"""
SETTINGS = (
    "SET synchronous_commit = on",
    f"SET lock_timeout = '{WAIT:g}s'",
    # A client that hangs inside a transaction gives the campaign back.
    "SET idle_in_transaction_session_timeout = '5min'",
    f"SET statement_timeout = '{LONG:g}s'",
    "SET default_transaction_isolation = 'read committed'",
)
_IDLE, _PING = 5.0, 3.0
"""Seconds after which a connection that was not used is asked whether it is there, and how long it has to say so."""
_SILENT = {
    # What the system does about a peer whose machine or network is gone: seconds; the last in milliseconds.
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}  # fmt: skip
# One round trip, and one value for each part whatever it holds.  The parts touch different records, so their order does
# not matter.
_APPEND = f"""
WITH logged AS (
  INSERT INTO entries SELECT ?::bigint, * FROM json_to_recordset(?::json) AS e(
    seq bigint, id text, kind text, who text, at float8, number bigint, body text, hash text)
), dropped AS (
  DELETE FROM seats WHERE campaign = ? AND (number, seat) IN (
    SELECT * FROM json_to_recordset(?::json) AS d(number bigint, seat bigint))
)
INSERT INTO seats SELECT ?::bigint, * FROM json_to_recordset(?::json) AS s(
  number bigint, seat bigint, position bigint, person text, lease text, expires float8, ahead text)
{PUT_OVER}"""


@final
class PostgreSQL(Database):
    """A database of a server."""

    dialect: ClassVar[str] = "postgresql"
    among_texts: ClassVar[str] = "= ANY(?::text[])"
    among_numbers: ClassVar[str] = "= ANY(?::bigint[])"
    by: ClassVar[str] = ""

    def __init__(self, url: sa.URL) -> None:
        options = {**_SILENT, "client_encoding": "utf8", "application_name": "askone"}
        given = {name: value for name, value in options.items() if name not in url.query}
        try:
            engine = sa.create_engine(
                url.set(drivername="postgresql+psycopg"),
                connect_args=given,
                hide_parameters=True,
                pool_size=_KEPT,
                max_overflow=_MORE,
                pool_timeout=WAIT,
                pool_recycle=1800,
            )
        except ModuleNotFoundError as error:
            raise MissingExtra('PostgreSQL needs psycopg: pip install "askone[postgres]"') from error
        self._lock, self._watch = TimedLock(threading.Semaphore(_WRITERS)), StatementClock()
        sa.event.listen(engine, "checkin", _returned)
        sa.event.listen(engine, "checkout", self._taken)
        super().__init__(engine, [str(url.password or ""), *(str(url.query.get(name, "")) for name in SECRET)])

    @property
    def address(self) -> str | None:
        return self.engine.url.render_as_string(hide_password=False)

    def prepare(self, connection: Any) -> None:
        with self._watch.limit(connection.fileno, STATEMENT):
            connection.autocommit = True
            connection.execute("; ".join(SETTINGS))

    def _taken(self, connection: Any, record: Any, _: object) -> None:
        """Ask a connection that idled whether it is there, before somebody counts on it."""
        if time.monotonic() < record.info.get(_USED, math.inf) + _IDLE:
            return
        try:
            with self._watch.limit(connection.fileno, _PING):
                connection.execute("SELECT 1")
        except self._driver.Error as error:
            # So are, most likely, all others that idle in the pool: each is made anew.
            raise InvalidatePoolError from error

    def clocked(self, cursor: Any, seconds: float, call: Callable[..., T], *values: Any) -> T:
        file = self._watch.begin(cursor.connection.fileno(), seconds)
        try:
            return call(*values)
        finally:
            self._watch.end(file)

    def close(self) -> None:
        super().close()
        self._watch.close()

    def sql(self, text: str) -> str:
        return _spelt(text)

    def listed(self, values: Sequence[str] | Sequence[int]) -> list[str] | list[int]:
        """Return an array."""
        return list(values)  # type: ignore[return-value]

    def several(self, cursor: Any, queries: Sequence[tuple[str, Values]]) -> list[list[Record]]:
        """See ``Session.several``: all are sent before the first answer is read."""
        connection = cursor.connection
        with connection.pipeline():
            sent = [connection.execute(self.sql(text), values) for text, values in queries]
            return [one.fetchall() for one in sent]

    def begin(self, session: Session, lock: str | None) -> None:
        """Under an advisory lock that the transaction's end gives back.

        What follows is read by statements of their own, and so sees all that the last holder committed.
        """
        text = "BEGIN" if lock is None else f"BEGIN; SELECT pg_advisory_xact_lock({lock_number(lock)})"
        with self._watch.limit(session.cursor.connection.fileno, WAIT + _PING):
            session.cursor.execute(text, prepare=False)

    def repeats(self, error: Any) -> bool:
        return bool(error.diag.constraint_name == "entries_by_id")

    def guard(self, writing: bool) -> AbstractContextManager[object]:
        """Return a connection, so that some are left to read by; the server sees to the rest."""
        return self._lock if writing else nullcontext()

    def gone(self, driver: Any) -> bool:
        return bool(driver.closed)

    def append(
        self, session: Session, campaign: int, entries: list[Record], put: list[Record], drop: list[Record]
    ) -> None:
        logged, seated = _listed(ENTRY_COLUMNS, entries), _listed(SEAT_COLUMNS, put)
        session.run(_APPEND, (campaign, logged, campaign, _listed("number, seat", drop), campaign, seated))

    def add_rows(self, session: Session, records: list[Record]) -> None:
        with (
            self._watch.limit(session.cursor.connection.fileno, LONG),
            session.cursor.copy("COPY table_rows FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int8", "int8", "text", "text", "bytea", "text"])
            for record in records:
                copy.write_row(record)

    def add_campaign(self, session: Session, record: Record) -> int:
        return int(session.fetch(f"{ADD_CAMPAIGN} RETURNING id", record)[0][0])

    def tables(self, session: Session) -> list[str]:
        found = session.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return [name for (name,) in found]


def lock_number(name: str) -> int:
    """Return the number of an advisory lock: 64 bits of a hash of its name.

    >>> -(2**63) <= lock_number("cats") < 2**63
    True
    """
    return int.from_bytes(hashlib.sha256(f"askone {name}".encode()).digest()[:8], "big", signed=True)


def _returned(_: Any, record: Any) -> None:
    record.info[_USED] = time.monotonic()


@cache
def _spelt(text: str) -> str:
    return text.replace("?", "%s")


def _listed(columns: str, records: list[Record]) -> str:
    names = columns.split(", ")
    return json.dumps([dict(zip(names, record, strict=True)) for record in records], ensure_ascii=False)
