"""Tables of Python values, as spreadsheets and databases give them: which column is one of numbers is told by all rows.

Numbers that are written as texts count as numbers, unless they are codes such as 007.  Where all but one cell in a
hundred are numbers, a text among them is an error that names its place.  Times are written as in ISO 8601.
"""

from __future__ import annotations

import datetime as dt
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, final

from askone.campaign.tables._json_lines import as_cell
from askone.campaign.tables.base import (
    MANY,
    MISSING,
    Cells,
    FileTable,
    Limits,
    Spread,
    column_of,
    looks_like_number,
    rows_at_once,
)
from askone.errors import InvalidFile
from askone.labels.wording import number_text


@final
@dataclass(eq=False)
class _Tally:
    """What a column holds: how many numbers and other texts, and where the first of these is."""

    numbers: int = 0
    texts: int = 0
    first: tuple[int, str] = (0, "")

    def learn(self, cell: Any, place: int) -> None:
        """Take a cell into account."""
        if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
            return
        if isinstance(cell, str) and not looks_like_number(cell.strip()):
            self.first = self.first if self.texts else (place, cell)
            self.texts += 1
        else:
            self.numbers += 1

    @property
    def slips(self) -> bool:
        known = self.numbers + self.texts
        return self.texts > 0 and known >= MANY and self.texts * 100 <= known


class ValueTable(FileTable):
    """A table whose rows come as values, one for each of ``_names``."""

    _names: tuple[str, ...]

    @abstractmethod
    def _records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield the number of each row, as errors name it, and its values."""

    @abstractmethod
    def _where(self, place: int, column: int) -> str:
        """Return how a cell is called."""

    def _scan(self) -> None:
        """Read all rows: what is wrong with them, which columns are numbers, and a sample."""
        found, spread, size = [_Tally() for _ in self._names], Spread(), 0
        for chunk in self._cut():
            for place, cells in chunk:
                for one, cell in zip(found, cells, strict=True):
                    one.learn(cell, place)
            length = sum(len(cell) for _, cells in chunk for cell in cells if isinstance(cell, str))
            spread.add(self.rows, [cells for _, cells in chunk], length)
            self.rows, size = self.rows + len(chunk), size + length
            self._require_room(self.rows, len(self._names))
            if size > self._limits.total:
                raise self._refusal(f"holds more than {self._limits.total} characters")
        self._require_some()
        for column, one in enumerate(found):
            if one.slips:
                place, text = one.first
                reason = f"a number is needed, as in other rows, or nothing; got {text[:60]!r}"
                raise InvalidFile(f"{self._where(place, column)}: {reason}")
        self._numeric = [one.numbers > 0 and not one.texts for one in found]
        self.sample = [self._typed(cells) for cells in spread.evenly()]
        kinds = zip(self._names, self._numeric, strict=True)
        self.columns = tuple(column_of(name, self.sample, number) for name, number in kinds)

    def chunks(self) -> Iterator[list[Cells]]:
        for chunk in self._cut():
            yield [self._typed(cells) for _, cells in chunk]

    def _cut(self) -> Iterator[list[tuple[int, list[Any]]]]:
        """Yield rows of numbers and texts, some at a time."""
        chunk: list[tuple[int, list[Any]]] = []
        for place, values in self._records():
            chunk.append((place, [self._plain(value, place, column) for column, value in enumerate(values)]))
            if len(chunk) == rows_at_once(len(self._names)):
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _plain(self, value: Any, place: int, column: int) -> Any:
        if value is None:
            return None
        if isinstance(value, str):
            return as_cell(value, self._limits, self._where(place, column)) or None
        try:
            return plain_value(value, self._limits)
        except InvalidFile as error:
            raise InvalidFile(f"{self._where(place, column)}: {error}") from None

    def _typed(self, cells: Sequence[Any]) -> Cells:
        pairs = zip(cells, self._numeric, strict=True)
        typed = (_number(cell) if numeric else _text(cell) for cell, numeric in pairs)
        return dict(zip(self._names, typed, strict=True))


def plain_value(value: Any, limits: Limits) -> Any:
    """Return a value as a cell: a number, a text, or None where it is not known.

    >>> noon = dt.datetime(2026, 3, 1, 12, 30)
    >>> [plain_value(one, Limits()) for one in (Decimal("1.50"), noon, noon.date(), True, math.nan)]
    [1.5, '2026-03-01 12:30:00', '2026-03-01', 'true', None]
    """
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _finite(value)
    if isinstance(value, dt.datetime):
        midnight = value.timetz() == dt.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        raise InvalidFile("numbers or texts are needed; got bytes")
    if not isinstance(value, int | dict | list | tuple):
        value = str(value)
    return as_cell(value, limits, "a value")


def _finite(value: float | Decimal) -> float | None:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if math.isinf(number):
        raise InvalidFile("a finite number is needed")
    return None if math.isnan(number) else value if isinstance(value, int) else number


def _number(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if text in MISSING:
        return None
    value = float(text)
    return int(value) if value.is_integer() and text.lstrip("+-").isdecimal() else value


def _text(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else number_text(cell)
