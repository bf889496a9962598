"""Cells that say something of which nothing is made: they count as missing, which somebody should be told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, final

from askone.encoding.amounts import MISSING


@final
class UnreadCellsWarning(UserWarning):
    """Cells of a table could not be read, and count as missing."""


@final
class UnreadCells(NamedTuple):
    """How many cells of a column could not be read, and the first of them."""

    cells: int
    first: str

    def and_later(self, later: UnreadCells) -> UnreadCells:
        """Return those of some rows and of later ones."""
        return UnreadCells(self.cells + later.cells, self.first)


def unread(cells: Sequence[Any], number: Callable[[Any], float]) -> UnreadCells | None:
    """Return the cells that are not missing and of which no number is made.

    >>> unread(["1", "n/a", None, "two", "two"], lambda cell: float(cell) if cell.isdecimal() else math.nan)
    UnreadCells(cells=2, first='two')
    >>> unread(["1", ""], float)
    """
    given = [cell for cell in cells if _says_something(cell)]
    failed = {cell for cell in set(given) if math.isnan(number(cell))}
    found = [cell for cell in given if cell in failed]
    return UnreadCells(len(found), str(found[0])) if found else None


def _says_something(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip() not in MISSING
    return cell is not None and not (isinstance(cell, float) and math.isnan(cell))


def told(found: Mapping[str, UnreadCells]) -> str:
    """Return what could not be read, in words.

    >>> told({"price": UnreadCells(17, "on request"), "since": UnreadCells(1, "May")})
    "17 cells of 'price' (such as 'on request') and 1 cell of 'since' ('May') cannot be read and count as missing"
    >>> told({"since": UnreadCells(1, "May")})
    "1 cell of 'since' ('May') cannot be read and counts as missing"
    """
    each = [
        f"{one.cells:,} cell{'s' if one.cells > 1 else ''} of {name!r} "
        f"({'such as ' if one.cells > 1 else ''}{one.first[:60]!r})"
        for name, one in found.items()
    ]
    listed = f"{', '.join(each[:-1])} and {each[-1]}" if len(each) > 1 else each[0]
    count = "count" if sum(one.cells for one in found.values()) > 1 else "counts"
    return f"{listed} cannot be read and {count} as missing"
