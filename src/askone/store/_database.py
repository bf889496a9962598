"""Connections to a database, and what its errors mean: the same few verbs for SQLite and PostgreSQL.

Statements are plain SQL with ? for their values and go straight to the driver: a transaction is a handful of them, and
each would cost ten times as much through the layers above it.  SQLAlchemy keeps the pool, reads addresses and writes
the tables' definitions.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, TypeVar, final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoneFree

from askone.errors import InvalidFile, StoreUnavailable

Record = tuple[Any, ...]
Values = Sequence[Any]
T = TypeVar("T")
ENTRY_COLUMNS = "seq, id, kind, who, at, number, body, hash"
SEAT_COLUMNS = "number, seat, position, person, lease, expires, ahead"
ADD_CAMPAIGN = """
INSERT INTO campaigns (title, owner, created, row_count, fingerprint, dtype, width, learner, maker, touched)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
PUT_OVER = """
ON CONFLICT (campaign, number, seat) DO UPDATE SET position = excluded.position, person = excluded.person,
  lease = excluded.lease, expires = excluded.expires, ahead = excluded.ahead
"""
"""How a seat comes in the place of the old one."""
WAIT = 30.0
"""How long to wait for another writer, or for a connection, in seconds."""
STATEMENT, LONG = 15.0, 900.0
"""Seconds that an answer to a statement may take, and to one that touches a whole campaign."""


@final
class Session:
    """A connection while a piece of work has it."""

    __slots__ = ("_clocked", "_several", "_sql", "cursor", "failed", "seconds")

    def __init__(self, cursor: Any, database: Database, seconds: float = STATEMENT) -> None:
        self.cursor, self._sql, self._several, self.failed = cursor, database.sql, database.several, False
        self._clocked, self.seconds = database.clocked, seconds

    def fetch(self, text: str, values: Values = ()) -> list[Record]:
        """Return all records that a query gives."""
        self.run(text, values)
        found: list[Record] = self.cursor.fetchall()
        return found

    def run(self, text: str, values: Values = ()) -> int:
        """Return how many records a statement touched."""
        self._tried(self.cursor.execute, self._sql(text), values)
        return int(self.cursor.rowcount)

    def several(self, queries: Sequence[tuple[str, Values]]) -> list[list[Record]]:
        """Return what each of these queries gives: in one round trip, where there are any."""
        found: list[list[Record]] = self._tried(self._several, self.cursor, queries)
        return found

    def many(self, text: str, records: Sequence[Values]) -> None:
        """Run a statement for each of several records."""
        if records:
            self._tried(self.cursor.executemany, self._sql(text), records)

    def _tried(self, call: Any, *values: Any) -> Any:
        try:
            return self._clocked(self.cursor, self.seconds, call, *values)
        except BaseException:
            self.failed = True
            raise


class Database(ABC):
    """A database of one dialect: reading, transactions, and the few statements that dialects spell differently."""

    dialect: ClassVar[str]
    among_texts: ClassVar[str]
    """"is one of these texts", with ? for what ``listed`` makes of them."""
    among_numbers: ClassVar[str]
    """"is one of these numbers"."""
    by: ClassVar[str]
    """How a query says which index to use, with {} for its name: SQLite knows too little of a table to see it."""

    def __init__(self, engine: sa.Engine, secrets: Sequence[str] = ()) -> None:
        self.engine = engine
        sa.event.listen(engine, "connect", self._prepared)
        self._secrets = [secret for secret in secrets if secret]
        driver: Any = engine.dialect.dbapi
        self._driver = driver
        self._closed, self._closing = False, threading.Lock()
        self.conflict: type[BaseException] = self._driver.IntegrityError
        """What the driver raises when a record would break a rule of its table."""

    def _prepared(self, connection: Any, _: object) -> None:
        try:
            self.prepare(connection)
        except BaseException:
            # The pool never saw it, so nobody else would close it.
            connection.close()
            raise

    @property
    @abstractmethod
    def address(self) -> str | None:
        """See ``Store.address``."""

    @abstractmethod
    def prepare(self, connection: Any) -> None:
        """Make the settings of a new connection."""

    @abstractmethod
    def sql(self, text: str) -> str:
        """Return a statement in the driver's spelling of ?."""

    @abstractmethod
    def listed(self, values: Sequence[str] | Sequence[int]) -> Any:
        """Return texts or numbers as one value of a statement."""

    def several(self, cursor: Any, queries: Sequence[tuple[str, Values]]) -> list[list[Record]]:
        return [cursor.execute(self.sql(text), values).fetchall() for text, values in queries]

    def clocked(self, cursor: Any, seconds: float, call: Callable[..., T], *values: Any) -> T:
        """Return what a call of the driver gives; one that has no answer after so many seconds is ended."""
        return call(*values)

    @abstractmethod
    def begin(self, session: Session, lock: str | None) -> None:
        """Begin to write; nobody else writes under the same lock until the transaction ends."""

    @abstractmethod
    def append(
        self, session: Session, campaign: int, entries: list[Record], put: list[Record], drop: list[Record]
    ) -> None:
        """Entries into the log, seats put and seats dropped, in as few round trips as may be."""

    @abstractmethod
    def add_rows(self, session: Session, records: list[Record]) -> None:
        """Many rows at once."""

    @abstractmethod
    def add_campaign(self, session: Session, record: Record) -> int:
        """Return the number of a new campaign."""

    @abstractmethod
    def tables(self, session: Session) -> list[str]:
        """Return the names of the tables that there are."""

    @abstractmethod
    def repeats(self, error: Any) -> bool:
        """Return whether a conflict is that the log has an event's id already."""

    @abstractmethod
    def guard(self, writing: bool) -> AbstractContextManager[object]:
        """Return what threads of this process hold while they read or write."""

    def keep_aside(self, number: int) -> None:  # noqa: B027 (a server's database is for its keeper to copy)
        """Copy the database before it is changed from this version."""

    def checkpoint(self) -> None:  # noqa: B027 (a server does this by itself)
        """Bring what was written to its place, beside those who write."""

    def scrub(self) -> None:  # noqa: B027 (a server's files are for its keeper)
        """Leave nothing in the database's files of what was deleted, as far as nobody reads it at the moment."""

    def read(self, text: str, values: Values = ()) -> list[Record]:
        """Return all records that a query gives; a connection that was lost meanwhile is made anew."""
        with self.guard(writing=False):
            for last in (False, True):
                connection = self._connected()
                try:
                    return Session(connection.cursor(), self).fetch(text, values)
                except self._driver.Error as error:
                    if last or not self._lost(connection):
                        self._tell(error)
                finally:
                    self._release(connection)
        raise AssertionError("unreachable")

    @contextmanager
    def transaction(self, lock: str | None = None, seconds: float = STATEMENT) -> Iterator[Session]:
        """Statements that all happen, durably, or none of them does; each has so many seconds.

        Its COMMIT is where an answer becomes durable.
        """
        with self.guard(writing=True):
            connection, session = self._begun(lock)
            session.seconds = seconds
            try:
                yield session
                if session.failed:
                    # Half of it may have happened, and PostgreSQL would take COMMIT for ROLLBACK without a word.
                    raise StoreUnavailable("a statement failed before, so nothing of this transaction is kept")
                session.run("COMMIT")
            except self._driver.Error as error:
                self._undo(connection)
                self._tell(error)
            except BaseException:
                self._undo(connection)
                raise
            finally:
                # Who keeps a session beyond its transaction would write without one.
                session.cursor.close()
                self._release(connection)

    def close(self) -> None:
        """Close all connections: those in use when their work is done."""
        self._closed = True
        self._dispose()

    def _dispose(self) -> None:
        # A memory's threads share one connection, which must not be closed under one of them.
        with self.guard(writing=False), self._closing:
            self.engine.pool.dispose()

    def _release(self, connection: Any) -> None:
        """Give a connection back to the pool, which keeps none once it is closed."""
        connection.close()
        if self._closed:
            # A thread of a server may be in the midst of its work when the server ends.
            self._dispose()

    def _begun(self, lock: str | None) -> tuple[Any, Session]:
        for last in (False, True):
            connection = self._connected()
            session = Session(connection.cursor(), self)
            try:
                self.begin(session, lock)
            except self._driver.Error as error:
                lost = self._lost(connection)
                self._undo(connection)
                self._release(connection)
                if last or not lost:
                    self._tell(error)
            except BaseException:
                self._undo(connection)
                self._release(connection)
                raise
            else:
                return connection, session
        raise AssertionError("unreachable")

    def _connected(self) -> Any:
        try:
            return self.engine.raw_connection()
        except self._driver.Error as error:
            self._tell(error)
        except DBAPIError as error:
            self._tell(error.orig)
        except NoneFree:
            raise StoreUnavailable(f"no connection to the database was free for {WAIT:g} s") from None

    def _lost(self, connection: Any) -> bool:
        """Return whether a connection is gone; then so are, most likely, all others that wait in the pool."""
        if not connection.is_valid or not self.gone(connection.driver_connection):
            return False
        connection.invalidate()
        self.engine.dispose()
        return True

    def gone(self, driver: Any) -> bool:
        """Return whether the driver's connection can be of no use any more."""
        return False

    def _undo(self, connection: Any) -> None:
        if not connection.is_valid or self._lost(connection):
            return
        try:
            self.clocked(connection.cursor(), STATEMENT, connection.rollback)
        except self._driver.Error:
            connection.invalidate()

    def away(self, error: Any) -> bool:
        """Return whether a driver's error means that the same may work at another time."""
        return isinstance(error, self._driver.OperationalError | self._driver.InterfaceError)

    def spoilt(self, error: Any) -> bool:
        """Return whether a driver's error means that this is no database, or one that is damaged."""
        return False

    def _tell(self, error: BaseException | None) -> Any:
        """Raise what a driver's error means."""
        if self.away(error):
            text = " ".join(str(error).split())
            for secret in self._secrets:
                text = text.replace(secret, "***")
            raise StoreUnavailable(f"the database cannot be used now: {text}") from None
        if self.spoilt(error):
            raise InvalidFile(f"the database cannot be read: {error}") from None
        assert error is not None
        raise error


@final
class TimedLock:
    """A lock between threads, or a semaphore, that is waited for so long and no longer."""

    def __init__(self, lock: threading.RLock | threading.Semaphore) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=WAIT):
            raise StoreUnavailable(f"other threads have been writing for {WAIT:g} s")

    def __exit__(self, *_: object) -> None:
        self._lock.release()
