"""Tables in Parquet files, read in pieces.  A door to pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from askone.campaign.tables._json_lines import as_cell
from askone.campaign.tables.base import Cells, FileTable, Limits, Spread, column_of, heading, listed, rows_at_once
from askone.encoding.columns import Column, vector_column
from askone.encoding.vectors import WIDEST
from askone.errors import InvalidFile

try:
    import pyarrow as pa
    from pyarrow import compute, parquet
except ImportError:  # tables.open_table says so
    pa = None

_PART: Final = 1 << 29  # bytes of one column of one row group, unpacked


@final
class ParquetTable(FileTable):
    """Rows of a Parquet file."""

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        super().__init__(path, origin, limits)
        with self._open() as file:
            schema, meta = file.schema_arrow, file.metadata
            self._refuse_large(meta)
            self._names = heading(schema.names, origin, limits)
            self._kinds = [self._kind(name, schema.field(place).type) for place, name in enumerate(self._names)]
            self._widths = self._vectors(file, schema)
            self._require_room(meta.num_rows, meta.num_columns + sum(self._widths.values()))
        unpacked, spread = 0, Spread()
        for chunk, size in self._typed():
            spread.add(self.rows, chunk, size)
            self.rows, unpacked = self.rows + len(chunk), unpacked + size
            if unpacked > limits.total:
                raise self._refusal(f"unpacks to more than {limits.total} characters")
        self._require_some()
        self.sample = spread.evenly()
        self.columns = tuple(map(self._column, range(len(self._names))))

    def chunks(self) -> Iterator[list[Cells]]:
        for chunk, _ in self._typed():
            yield chunk

    def _column(self, place: int) -> Column:
        if place in self._widths:
            return vector_column(self._names[place], self._widths[place])
        return column_of(self._names[place], self.sample, self._kinds[place] == "number")

    def _open(self) -> Any:
        try:
            with parquet.ParquetFile(self._path) as file:
                names = [one.name for one in file.schema_arrow if _is_text(one.type)]
            return parquet.ParquetFile(self._path, read_dictionary=names)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._refusal(f"cannot be read as Parquet: {error}") from error

    def _refuse_large(self, meta: Any) -> None:
        self._require_room(meta.num_rows, meta.num_columns)
        groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
        parts = [group.column(j) for group in groups for j in range(group.num_columns)]
        sizes = [part.total_uncompressed_size for part in parts]
        if max(sizes, default=0) > _PART or sum(sizes) > self._limits.total:
            allowed = f"{_PART} bytes in a part, {self._limits.total} in all"
            raise self._refusal(f"unpacks to more than is allowed ({allowed})")
        if any(part.num_values > 10 * self._limits.rows for part in parts):
            raise self._refusal("holds lists that are too long")

    def _kind(self, name: str, kind: Any) -> str:
        types = pa.types
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        if _is_text(kind) or types.is_boolean(kind) or types.is_temporal(kind) or types.is_null(kind):
            return "text"
        if types.is_nested(kind):
            return "nested"
        raise self._refusal(f"column {name!r}: numbers or texts are needed; got {kind}")

    def _vectors(self, file: Any, schema: Any) -> dict[int, int]:
        """Return where there are lists of numbers which all are of one length, and that: they are vectors."""
        lengths: dict[int, set[int]] = {place: set() for place, one in enumerate(schema) if _is_list(one.type)}
        for place, found in lengths.items():
            for batch in file.iter_batches(rows_at_once(WIDEST), columns=[schema.names[place]], use_threads=False):
                cells = batch.column(0)
                found.update(compute.unique(compute.list_value_length(cells)).drop_null().to_pylist())
                if len(found) > 1:
                    break
        return {place: min(found) for place, found in lengths.items() if len(found) == 1 and 1 < min(found) <= WIDEST}

    def column_chunks(self) -> Iterator[dict[str, list[Any]]]:
        for columns, _ in self._columns():
            yield dict(zip(self._names, columns, strict=True))

    def is_whole(self, name: str) -> bool:
        with self._open() as file:
            kind = file.schema_arrow.field(self._names.index(name)).type
        return bool(pa.types.is_integer(kind) and kind != pa.uint64())

    def _typed(self) -> Iterator[tuple[list[Cells], int]]:
        """Yield rows and how many characters they have."""
        for columns, size in self._columns():
            yield [dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True)], size

    def _columns(self) -> Iterator[tuple[list[list[Any]], int]]:
        """Yield the cells of each column and how many characters they have."""
        first = 0
        try:
            with self._open() as file:
                width = len(self._names) + sum(self._widths.values())
                for batch in file.iter_batches(batch_size=rows_at_once(width), use_threads=False):
                    sizes: list[int] = []
                    columns = [self._cells(cells, place, first, sizes) for place, cells in enumerate(batch.columns)]
                    yield columns, sum(sizes)
                    first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(f"cannot be read as Parquet: {error}") from error

    def _cells(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        kind = cells.type
        if place in self._widths:
            return self._vector_cells(cells, place, first, sizes)
        if self._kinds[place] == "nested":
            rows = enumerate(cells.to_pylist(), start=first)
            return [as_cell(value, self._limits, self._where(row, place)) for row, value in rows]
        if pa.types.is_dictionary(kind):
            return self._texts(cells, place, first, sizes)
        if self._kinds[place] == "text":
            sizes.append(20 * len(cells))
            return list(compute.cast(cells, pa.string()).to_pylist())
        if pa.types.is_integer(kind):
            return list(cells.to_pylist())
        numbers = compute.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise InvalidFile(f"{self._where(first + row, place)}: a finite number is needed; got {numbers[row]}")
        return listed(numbers, whole=False)

    def _vector_cells(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        """Return vectors, float32; None for a list that is missing."""
        width = self._widths[place]
        numbers = compute.cast(compute.list_flatten(cells), pa.float32(), safe=False)
        vectors = numbers.to_numpy(zero_copy_only=False).reshape(-1, width)
        rows = np.flatnonzero(compute.is_valid(cells).to_numpy(zero_copy_only=False))
        bad = ~np.isfinite(vectors).all(axis=1)
        if bad.any():
            where = self._where(first + int(rows[bad.argmax()]), place)
            raise InvalidFile(f"{where}: {width} finite numbers are needed")
        sizes.append(vectors.size)
        out: list[Any] = [None] * len(cells)
        for row, vector in zip(rows.tolist(), vectors, strict=True):
            out[row] = vector
        return out

    def _texts(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        """Return texts of a column; one that comes again is kept once, so that few bytes cannot become many."""
        words, places = cells.dictionary, cells.indices.to_pylist()
        longest = compute.max(compute.binary_length(words)).as_py() or 0
        if longest > self._limits.cell:
            where = f"{self._origin}: column {self._names[place]!r}"
            raise InvalidFile(f"{where}: at most {self._limits.cell} bytes are allowed in a cell; got {longest}")
        texts = words.to_pylist()
        values = [None if which is None else texts[which] for which in places]
        if any(text is not None and "\0" in text for text in texts):
            row = next(row for row, value in enumerate(values) if value is not None and "\0" in value)
            raise InvalidFile(f"{self._where(first + row, place)}: a text without NUL is needed")
        sizes.append(sum(len(value) for value in values if value is not None))
        return values

    def _where(self, row: int, place: int) -> str:
        return f"{self._origin}: row {row + 1}, column {self._names[place]!r}"


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: Any) -> bool:
    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))
