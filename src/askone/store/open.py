"""Open a store by its address: a file, memory, or a PostgreSQL server."""

from __future__ import annotations

import time
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from askone.errors import InvalidArgument, InvalidFile
from askone.store import _campaigns, _schema
from askone.store._database import LONG, Database, Session
from askone.store._postgresql import SECRET, PostgreSQL
from askone.store._sqlite import SQLite
from askone.store.store import Store

_ALLOWED = "a path, sqlite:///path, memory: or postgresql://user@host/name"


def open_store(url: str) -> Store:
    """Return the store at an address; an empty database gets its tables, an older one is brought up to date.

    Whoever opens a store closes it:

    >>> with open_store("memory:") as store:
    ...     store
    Store('memory:')
    """
    database, shown = _database(url)
    try:
        _migrate(database)
        _campaigns.sweep(database)
    except BaseException:
        database.close()
        raise
    return Store(database, shown)


def _database(url: str) -> tuple[Database, str]:
    if url in ("memory:", "sqlite://", "sqlite:///:memory:"):
        return SQLite(None), "memory:"
    if "://" not in url:
        return _file(url, url)
    try:
        address = sa.make_url(url)
    except (ArgumentError, ValueError):
        # The text may hold a password: it is not shown.
        raise InvalidArgument("url", _ALLOWED, url.split("://")[0] + "://…") from None
    kind = address.drivername.split("+")[0]
    if kind == "sqlite" and address.database:
        return _file(address.database, url)
    if kind in ("postgresql", "postgres"):
        return PostgreSQL(address), address.difference_update_query(SECRET).render_as_string(hide_password=True)
    raise InvalidArgument("url", _ALLOWED, f"{address.drivername}://…")


def _file(path: str, url: str) -> tuple[Database, str]:
    place = Path(path).expanduser()
    if not place.parent.is_dir() or place.is_dir():
        raise InvalidArgument("url", "a file in a directory that exists", path)
    return SQLite(place), url


def _migrate(database: Database) -> None:
    """Take all steps that a database lacks, in one transaction, each with the record that it was done."""
    with database.transaction(lock="migrations", seconds=LONG) as session:
        tables = database.tables(session)
        if _schema.MIGRATED.name in tables:
            _upgrade(database, session)
            return
        if tables and database.dialect == "sqlite":
            raise InvalidFile("this file is the database of another program: it has tables, and none of askone's")
        for text in _schema.whole(database.engine.dialect):
            session.cursor.execute(text)
        for number in range(1, _schema.version() + 1):
            _note(session, number)


def _upgrade(database: Database, session: Session) -> None:
    found: int = session.fetch("SELECT max(number) FROM migrations")[0][0] or 0
    if found > _schema.version():
        raise InvalidFile(
            f"the database has version {found} of its tables, and this askone knows {_schema.version()}: "
            "it was written by a newer askone, which is needed to open it"
        )
    if found == _schema.version():
        return
    database.keep_aside(found)
    for number in range(found + 1, _schema.version() + 1):
        for text in _schema.MIGRATIONS[number - 2](database.dialect):
            session.cursor.execute(text)
        _note(session, number)


def _note(session: Session, number: int) -> None:
    session.run("INSERT INTO migrations VALUES (?, ?)", (number, time.time()))
