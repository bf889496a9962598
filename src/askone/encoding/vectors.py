"""The encoding of vectors: numbers that somebody else made of a row, taken as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from askone._common.types import Array
from askone.encoding.base import Part
from askone.errors import InvalidArgument

WIDEST: Final = 8192
"""Numbers that a vector may have."""


@final
@dataclass(frozen=True)
class VectorPart(Part):
    """A vector of so many numbers; a missing one is zeros.

    >>> VectorPart("v", 2).encode([[1, 2], None]).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """

    column: str
    width: int
    kind: ClassVar[str] = "vector"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}: {place}" for place in range(self.width))

    def encode(self, cells: Sequence[Any]) -> Array:
        return stacked(cells, self.width, self.column)


def stacked(cells: Sequence[Any], width: int, column: str) -> Array:
    """Return vectors below each other, float32; one of another width, or with a number that is none, is refused."""
    out = np.zeros((len(cells), width), dtype=np.float32)
    for place, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            values = np.asarray(cell, dtype=np.float32)
        except (TypeError, ValueError):
            raise InvalidArgument(column, f"{width} finite numbers", repr(cell)[:60]) from None
        if values.shape != (width,) or not np.isfinite(values).all():
            came = f"shape {values.shape}" if values.shape != (width,) else "some that are not finite"
            raise InvalidArgument(column, f"{width} finite numbers", came)
        out[place] = values
    return out
