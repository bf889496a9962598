"""The base of tables: named columns of a kind, rows in chunks, limits; whatever file they are read from.

Cells are data and nothing else: formulas, markup and directions of writing are kept as they are.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from askone.encoding.amounts import MISSING as MISSING
from askone.encoding.columns import Column as Column
from askone.encoding.columns import column_of as column_of
from askone.encoding.columns import kind_of_texts as kind_of_texts
from askone.errors import InvalidFile

Cells = dict[str, Any]

SAMPLE: Final = 5_000  # rows that are looked at before the others
NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CODE: Final = re.compile(r"[+-]?(?:0\d|\d{16})")  # 007 and long numbers are names, which arithmetic would change
_ROOM: Final = 50_000_000  # characters of a sample
MANY: Final = 100
"""Rows from which one cell in a hundred is taken for a slip."""


@final
@dataclass(frozen=True)
class Limits:
    """Limits of a table: rows, columns, cells in all, bytes of a cell, of a line and in all, depth of JSON, images."""

    rows: int = 20_000_000
    columns: int = 1_000
    cells: int = 2_000_000_000
    cell: int = 1 << 20
    line: int = 1 << 22
    total: int = 10 << 30
    depth: int = 20
    images: int = 1_000_000
    image: int = 50 << 20
    pixels: int = 50_000_000


LIMITS: Final = Limits()


@final
@dataclass(frozen=True)
class ReadOptions:
    """Which part of a file is read (a sheet, a split), and whether its first line names columns (None: as it looks)."""

    part: str | None = None
    header: bool | None = None


PLAIN: Final = ReadOptions()


class Table(ABC):
    """Rows from somewhere: ``sample`` is up to 5000 of them, evenly spread; ``chunks`` are all, again and again.

    ``part`` is which one of several ``parts`` of a file it is: sheets or splits.
    """

    title: str
    columns: tuple[Column, ...]
    rows: int
    sample: list[Cells]
    part: str = ""
    parts: tuple[str, ...] = ()

    @abstractmethod
    def chunks(self) -> Iterator[list[Cells]]:
        """Return all rows, some at a time: dictionaries of numbers and texts by column, None where a cell is empty."""

    def column_chunks(self) -> Iterator[dict[str, list[Any]]]:
        """Yield the same column by column: the cells of each."""
        for chunk in self.chunks():
            yield {column.name: [cells.get(column.name) for cells in chunk] for column in self.columns}

    def is_whole(self, name: str) -> bool:
        """Return whether all numbers of a column are known to be whole ones."""
        return False

    def column(self, name: str) -> Column | None:
        """Return the column of this name."""
        return next((column for column in self.columns if column.name == name), None)


class FileTable(Table):
    """A table that is read from a file, which is called ``origin`` where something is wrong with it."""

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, self._origin, self._limits = path, origin, limits
        self.title, self.rows = table_title(origin), 0

    def _refusal(self, reason: str) -> InvalidFile:
        return InvalidFile(f"{self._origin}: {reason}")

    def _require_room(self, rows: int, columns: int) -> None:
        """Refuse more rows or cells than are allowed: what a file costs is told by them, and not by its bytes."""
        if rows > self._limits.rows:
            raise self._refusal(f"at most {self._limits.rows} rows are allowed; got {rows} or more")
        if rows * columns > self._limits.cells:
            most = f"at most {self._limits.cells} cells are allowed"
            raise self._refusal(f"{most}; got {rows} rows or more of {columns} columns")

    def _require_some(self) -> None:
        if self.rows == 0:
            raise self._refusal("has no rows, only the names of columns")


@final
class Spread:
    """A sample of a stream of unknown length, evenly spread and without chance: every 2^k-th row.

    >>> spread = Spread(most=3)
    >>> for first in range(0, 100, 10):
    ...     spread.add(first, list(range(first, first + 10)), 0)
    >>> spread.rows
    [0, 32, 64, 96]
    """

    def __init__(self, most: int = SAMPLE) -> None:
        self.rows: list[Any] = []
        self._most, self._step, self._size = most, 1, 0

    def places(self, first: int, count: int) -> range:
        """Return which rows of a chunk that begins with row ``first`` are wanted."""
        return range(-first % self._step, count, self._step)

    def add(self, first: int, rows: Sequence[Any], size: int) -> None:
        """Take a chunk in whole, of so many characters."""
        self.take([rows[place] for place in self.places(first, len(rows))], size)

    def take(self, wanted: Iterable[Any], size: int) -> None:
        """Take the wanted rows of a chunk."""
        self.rows += wanted
        self._size += size // self._step
        while len(self.rows) > 2 * self._most or (self._size > _ROOM and len(self.rows) > 1):
            self.rows, self._size, self._step = self.rows[::2], self._size // 2, self._step * 2

    def evenly(self) -> list[Any]:
        """Return at most as many as were wanted, evenly spaced."""
        return self.rows if len(self.rows) <= self._most else self.rows[::2]


def heading(names: Sequence[str], origin: str, limits: Limits) -> tuple[str, ...]:
    """Return names of columns, tidied: one line each, different from each other; a number in place of a blank one.

    >>> heading(["size\\n(m²)", "", " price"], "homes.csv", Limits())
    ('size (m²)', 'column 2', 'price')
    >>> heading(["a", "b", "a"], "homes.csv", Limits())
    Traceback (most recent call last):
    askone.errors.InvalidFile: homes.csv: line 1: columns 1 and 3 have the same name 'a'
    """
    if len(names) > limits.columns:
        raise InvalidFile(f"{origin}: at most {limits.columns} columns are allowed; got {len(names)}")
    tidy = tuple(" ".join(name.split()) or f"column {place}" for place, name in enumerate(names, 1))
    for place, name in enumerate(tidy, 1):
        if len(name) > 200 or not name.isprintable():
            raise InvalidFile(f"{origin}: line 1, column {place}: a name of up to 200 printable characters is needed")
        if tidy.index(name) + 1 < place:
            twice = f"columns {tidy.index(name) + 1} and {place}"
            raise InvalidFile(f"{origin}: line 1: {twice} have the same name {name!r}")
    return tidy


def refuse_row(names: Sequence[str], below: Sequence[Sequence[str]], where: str) -> None:
    """Refuse names of columns that look like a row: numbers above numbers, or texts that come again below.

    Texts do so if each does that stands above cells which come again themselves.  Counted names, such as years, are
    names; so is whatever stands above a column of numbers.

    >>> refuse_row(["id", "2019", "2020"], [["a", "1", "2"]], "a.csv: line 1")
    >>> refuse_row(["12.5", "red"], [["13", "blue"], ["11", "red"]], "a.csv: line 1")
    Traceback (most recent call last):
    askone.errors.InvalidFile: a.csv: line 1: looks like a row ('12.5', 'red') and not like names of columns; ...
    """
    texts, numbers, again = 0, list[float](), set[bool]()
    for place, name in enumerate(map(str.strip, names)):
        cells = [row[place].strip() for row in below if place < len(row) and list(row) != list(names)]
        cells = [cell for cell in cells if cell not in MISSING]
        counts = bool(cells) and all(map(looks_like_number, cells))
        if looks_like_number(name):
            numbers += [float(name)] if counts or not cells else []
        elif name and counts:
            return
        else:
            texts += bool(name)
            again |= {name in cells} if name not in MISSING and len(set(cells)) < len(cells) else set()
    steps = {after - before for before, after in pairwise(numbers)}
    years = texts > 0 and (steps == {1} or all(1900 <= one <= 2100 and one.is_integer() for one in numbers))
    if again == {True} or (numbers and not years):
        shown = ", ".join(repr(name[:20]) for name in names[:3]) + (", …" if len(names) > 3 else "")
        advice = "put names above it (or askone new --no-header; --header if these are names)"
        raise InvalidFile(f"{where}: looks like a row ({shown}) and not like names of columns; {advice}")


def looks_like_number(text: str) -> bool:
    """Return whether a cell's text is a number and not a code such as 007."""
    return NUMBER.fullmatch(text) is not None and _CODE.match(text) is None


def listed(numbers: Any, whole: bool) -> list[Any]:
    """Return numbers as Python's, whole ones without a point, None for NaN."""
    missing = np.isnan(numbers)
    if not missing.any():
        return list((numbers.astype(np.int64) if whole else numbers).tolist())
    values = np.where(missing, 0, numbers)
    plain = (values.astype(np.int64) if whole else values).tolist()
    return [None if gone else value for gone, value in zip(missing.tolist(), plain, strict=True)]


def rows_at_once(columns: int) -> int:
    """Return how many rows are taken at a time: up to 5000, fewer where they are wide, as memory is for cells.

    >>> rows_at_once(6), rows_at_once(1000)
    (5000, 500)
    """
    return max(1, min(5_000, 500_000 // max(columns, 1)))


def table_title(name: str) -> str:
    """Return a title from the name of a file.

    >>> table_title("house_prices-2024.csv")
    'House prices 2024'
    """
    words = re.sub(r"[\W_]+", " ", name.rsplit(".", 1)[0] if "." in name[1:] else name).strip()
    return (words[:1].upper() + words[1:])[:200] or "Campaign"
