"""Tables in databases, by a query.  Addresses are named by whoever runs a command, and never through a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from askone._common.lazy_import import lazy_import
from askone.campaign.tables._values import ValueTable
from askone.campaign.tables.base import LIMITS, Limits, Table, heading, rows_at_once
from askone.errors import InvalidArgument

if TYPE_CHECKING:
    from askone.store import foreign
else:
    foreign = lazy_import("askone.store.foreign")


def open_query(url: str, query: str | None, beside: Path = Path(), limits: Limits = LIMITS) -> Table:
    """Return the table that a query selects; a relative path of a SQLite file is seen from ``beside``."""
    database = foreign.ForeignDatabase(url, beside)
    if query is None:
        tables = ", ".join(database.tables()[:20]) or "no tables"
        raise InvalidArgument("--query", 'given, such as "SELECT * FROM ..."; there are ' + tables, "nothing")
    return SqlTable(database, query, limits)


def without_secrets(file: str) -> str:
    """Return the name of a file, or the address of a database without its password: it is kept with the campaign."""
    return foreign.without_secrets(file) if "://" in file else file


@final
class SqlTable(ValueTable):
    """The rows that a query selects; it is run each time that they are read."""

    def __init__(self, database: foreign.ForeignDatabase, query: str, limits: Limits) -> None:
        super().__init__(Path(), database.name, limits)
        self._database, self._query = database, query
        self._names = heading(database.columns(query), database.name, limits)
        self._scan()

    def _records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        return enumerate(self._database.rows(self._query, rows_at_once(len(self._names))), start=1)

    def _where(self, place: int, column: int) -> str:
        return f"{self._origin}: row {place}, column {self._names[column]!r}"
