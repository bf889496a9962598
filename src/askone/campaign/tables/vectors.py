"""Vectors in a file of NumPy beside a table: one row of numbers for each row of the table, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from askone.campaign.tables.base import LIMITS, Cells, Spread, Table, heading
from askone.campaign.tables.image_tables import ImageTable
from askone.encoding.columns import vector_column
from askone.encoding.vectors import WIDEST
from askone.errors import InvalidFile


def with_vectors(table: Table, path: Path) -> Table:
    """Return the table with one more column, called as the file is, of vectors; of images their order is by name."""
    vectors = _Vectors(table, path)
    return ImagesWithVectors(table, vectors) if isinstance(table, ImageTable) else TableWithVectors(table, vectors)


@final
class _Vectors:
    """The vectors of a file, which stay in it until they are wanted."""

    def __init__(self, table: Table, path: Path) -> None:
        origin = path.name
        try:
            values: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise InvalidFile(f"{origin}: cannot be read as an array of NumPy (.npy): {error}") from error
        if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiu":
            what = f"{values.dtype} {values.shape}" if isinstance(values, np.ndarray) else "several arrays"
            raise InvalidFile(f"{origin}: rows of numbers are needed; got {what}")
        if len(values) != table.rows or not 1 <= values.shape[1] <= WIDEST:
            wanted = f"{table.rows} rows, as the table has, of 1 to {WIDEST} numbers are needed"
            raise InvalidFile(f"{origin}: {wanted}; got {len(values)} rows of {values.shape[1]}")
        names = [column.name for column in table.columns]
        self.name = heading([*names, path.stem], origin, LIMITS)[-1]
        self.values, self._origin = values, origin

    def beside(self, chunks: Iterator[list[Cells]]) -> Iterator[list[Cells]]:
        """Yield rows with their vectors."""
        first = 0
        for chunk in chunks:
            yield [{**cells, self.name: one} for cells, one in zip(chunk, self._part(first, len(chunk)), strict=True)]
            first += len(chunk)

    def _part(self, first: int, count: int) -> Sequence[Any]:
        part = np.array(self.values[first : first + count], dtype=np.float32)
        bad = ~np.isfinite(part).all(axis=1)
        if bad.any():
            raise InvalidFile(f"{self._origin}: row {first + int(bad.argmax()) + 1}: finite numbers are needed")
        return list(part)


@final
class TableWithVectors(Table):
    """A table with vectors from beside it."""

    def __init__(self, table: Table, vectors: _Vectors) -> None:
        self._table, self._vectors = table, vectors
        self.title, self.rows = table.title, table.rows
        self.columns = (*table.columns, vector_column(vectors.name, vectors.values.shape[1]))
        self.sample = _sampled(self)

    def chunks(self) -> Iterator[list[Cells]]:
        return self._vectors.beside(self._table.chunks())


@final
class ImagesWithVectors(ImageTable):
    """Images with vectors from beside them."""

    def __init__(self, table: ImageTable, vectors: _Vectors) -> None:
        self._table, self._vectors = table, vectors
        super().__init__(table.names, table.title, table.limits, table.passed)
        self.columns = (*table.columns, vector_column(vectors.name, vectors.values.shape[1]))
        self.sample = _sampled(self)

    def chunks(self) -> Iterator[list[Cells]]:
        return self._vectors.beside(self._table.chunks())

    def _read(self, name: str) -> bytes:
        return self._table.image(name)


def _sampled(table: Table) -> list[Cells]:
    spread, first = Spread(), 0
    for chunk in table.chunks():
        spread.add(first, chunk, 0)
        first += len(chunk)
    return spread.evenly()
