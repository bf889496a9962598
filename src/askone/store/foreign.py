"""Databases of other programs, from which tables are read: never written to, whatever the query says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, final
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from askone.errors import InvalidArgument, MissingExtra
from askone.store._postgresql import SECRET

_ALLOWED: Final = "a database: sqlite:///file or postgresql://user@host/name"
_READ_ONLY: Final = "-c default_transaction_read_only=on"  # also after a COMMIT in the query


@final
class ForeignDatabase:
    """A database by its address; a relative path of a file is seen from ``beside``."""

    def __init__(self, url: str, beside: Path = Path()) -> None:
        address = _parsed(url)
        kind, self._secrets = address.drivername.split("+")[0], _secrets(address)
        if kind == "sqlite" and address.database:
            path = beside / Path(address.database).expanduser()
            if not path.is_file():
                raise InvalidArgument("file", "a database that exists", str(path))
            self.name = path.name
            query = {"mode": "ro", "uri": "true"}
            address, options = sa.URL.create("sqlite", database=f"file:{quote(str(path.absolute()))}", query=query), {}
        elif kind in ("postgresql", "postgres") and address.database:
            self.name = address.database
            told = address.query.get("options", "")
            options = {"options": f"{told} {_READ_ONLY}", "client_encoding": "utf8"}
            address = address.set(drivername="postgresql+psycopg").difference_update_query(["options"])
        else:
            raise InvalidArgument("file", _ALLOWED, f"{address.drivername}://…")
        try:
            self._engine = sa.create_engine(address, poolclass=NullPool, connect_args=options, hide_parameters=True)
        except ModuleNotFoundError as error:
            raise MissingExtra('PostgreSQL needs psycopg: pip install "askone[postgres]"') from error

    def tables(self) -> list[str]:
        """Return the names of tables and views."""
        with self._explained("file", "a database that can be read"):
            found = sa.inspect(self._engine)
            return [*found.get_table_names(), *found.get_view_names()]

    def columns(self, query: str) -> tuple[str, ...]:
        """Return the names of a query's columns."""
        with self._result(query, 1) as result:
            return tuple(result.keys())

    def rows(self, query: str, size: int) -> Iterator[Sequence[Any]]:
        """Yield the rows of a query; so many are held at a time."""
        with self._result(query, size) as result:
            yield from result

    @contextmanager
    def _result(self, query: str, size: int) -> Iterator[Any]:
        options: dict[str, Any] = {"yield_per": size, "no_parameters": True}  # a colon or % is what it is
        with self._explained("rows.query", "a SELECT that the database can run"), self._engine.connect() as connection:
            result = connection.execution_options(**options).exec_driver_sql(query)
            if not result.returns_rows:
                raise InvalidArgument("rows.query", "a SELECT, which gives rows", repr(query[:100]))
            with result:
                yield result

    @contextmanager
    def _explained(self, argument: str, allowed: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            told = str(getattr(error, "orig", None) or error).strip()
            for secret in self._secrets:
                told = told.replace(secret, "…")
            raise InvalidArgument(argument, allowed, f"{self.name}: {told}") from None


def without_secrets(url: str) -> str:
    """Return an address without its password.

    >>> without_secrets("postgresql://ann:secret@db.example/shop")
    'postgresql://ann@db.example/shop'
    """
    one = _parsed(url).difference_update_query(SECRET)
    return sa.URL.create(
        one.drivername, one.username, None, one.host, one.port, one.database, one.query
    ).render_as_string()


def _parsed(url: str) -> sa.URL:
    try:
        return sa.make_url(url)
    except (ArgumentError, ValueError):  # the text may hold a password: it is not shown
        raise InvalidArgument("file", _ALLOWED, url.split("://")[0] + "://…") from None


def _secrets(address: sa.URL) -> list[str]:
    return [one for one in (str(address.password or ""), *(str(address.query.get(name, "")) for name in SECRET)) if one]
