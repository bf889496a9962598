"""What the columns of a row are: rows are vectors of one width, whatever a table holds.

::

    | numbers, marks, levels one by one, pictures | categories by place | terms, 1 + place | their values |
    |<---------------- dense -------------------->|<-- len(levels) ---->|<---- pairs ---->|<-- pairs --->|

Kernels and lines see the dense columns; trees see these, but a category by its place instead of level by level;
lines see the terms of texts as well.  A row has few of the many terms there are, so only these are in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

from askone._common.validate import as_count
from askone.errors import InvalidArgument


@final
@dataclass(frozen=True)
class RowLayout:
    """The columns of a row: so many dense ones, a place among ``levels[j]`` for category j, ``pairs`` of ``terms``.

    ``hidden``: the dense columns that say a category level by level.  A place is -1 where a category is missing or
    another; a term is 0 where there is none.

    >>> layout = RowLayout(dense=4, hidden=(1, 2, 3), levels=(3,), pairs=8, terms=20_000)
    >>> layout.columns, RowLayout.plain(4).columns
    (21, 4)
    """

    dense: int
    hidden: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
    pairs: int = 0
    terms: int = 0

    def __post_init__(self) -> None:
        as_count(self.dense, "dense", 0)
        as_count(self.pairs, "pairs", 0)
        as_count(self.terms, "terms", 0)
        for name in ("hidden", "levels"):
            object.__setattr__(self, name, tuple(int(one) for one in getattr(self, name)))
        if any(not 0 <= place < self.dense for place in self.hidden):
            raise InvalidArgument("hidden", f"places of the {self.dense} dense columns", self.hidden)
        if any(count < 1 for count in self.levels):
            raise InvalidArgument("levels", "how many each category has, at least 1", self.levels)

    @classmethod
    def plain(cls, columns: int) -> Self:
        """Return the layout of a matrix of numbers."""
        return cls(columns)

    @property
    def columns(self) -> int:
        """Width of a row."""
        return self.dense + len(self.levels) + 2 * self.pairs
