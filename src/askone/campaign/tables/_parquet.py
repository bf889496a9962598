"""Tables in Parquet files, and in datasets that Hugging Face's library saved, read in pieces.  A door to pyarrow.

Such a dataset is a folder with ``state.json``, ``dataset_info.json`` and Arrow files; one of several splits has a
folder for each, and ``dataset_dict.json``.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from askone.campaign.tables._json_lines import as_cell
from askone.campaign.tables.base import (
    Cells,
    FileTable,
    Limits,
    ReadOptions,
    Spread,
    column_of,
    heading,
    listed,
    rows_at_once,
)
from askone.encoding.columns import Column, vector_column
from askone.encoding.vectors import WIDEST
from askone.errors import InvalidArgument, InvalidFile, MissingExtra

try:
    import pyarrow as pa
    from pyarrow import compute, parquet
except ImportError:  # tables.open_table says so
    pa = None

_PART: Final = 1 << 29  # bytes of one column of one row group, unpacked
_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_MEDIA: Final = ("Image", "Audio", "Video", "Pdf")  # types of columns whose cells are files


class ArrowTable(FileTable):
    """A table that comes in Arrow's record batches."""

    _names: tuple[str, ...] = ()
    _widths: Mapping[int, int] = MappingProxyType({})

    def _scan(self, schema: Any) -> None:
        """Read all rows: what is wrong with them, and a sample."""
        self._names = heading(schema.names, self._origin, self._limits)
        self._kinds = [self._kind(name, schema.field(place).type) for place, name in enumerate(self._names)]
        whole = {name for name, one in zip(self._names, schema, strict=True) if pa.types.is_integer(one.type)}
        self._whole = whole - {name for name, one in zip(self._names, schema, strict=True) if one.type == pa.uint64()}
        self._widths = self._vectors([place for place, one in enumerate(schema) if _is_list(one.type)])
        unpacked, spread = 0, Spread()
        for chunk, size in self._typed():
            spread.add(self.rows, chunk, size)
            self.rows, unpacked = self.rows + len(chunk), unpacked + size
            self._require_room(self.rows, len(self._names) + sum(self._widths.values()))
            if unpacked > self._limits.total:
                raise self._refusal(f"unpacks to more than {self._limits.total} characters")
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

    def _vectors(self, lists: list[int]) -> dict[int, int]:
        """Return where there are lists of numbers which all are of one length, and that: they are vectors."""
        lengths: dict[int, set[int]] = {place: set() for place in lists}
        for batch in self._batches() if lists else ():
            for place, found in lengths.items():
                if len(found) < 2:
                    some = compute.unique(compute.list_value_length(batch.column(place)))
                    found.update(some.drop_null().to_pylist())
        return {place: min(found) for place, found in lengths.items() if len(found) == 1 and 1 < min(found) <= WIDEST}

    def _rows_at_once(self) -> int:
        return rows_at_once(len(self._names) + sum(self._widths.values()))

    @abstractmethod
    def _batches(self) -> Iterator[Any]:
        """Yield the record batches; what is wrong with them is refused."""

    def _kind(self, name: str, kind: Any) -> str:
        types = pa.types
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        if _is_text(kind) or types.is_boolean(kind) or types.is_temporal(kind) or types.is_null(kind):
            return "text"
        if types.is_nested(kind):
            return "nested"
        raise self._refusal(f"column {name!r}: numbers or texts are needed; got {kind}")

    def column_chunks(self) -> Iterator[dict[str, list[Any]]]:
        for columns, _ in self._columns():
            yield dict(zip(self._names, columns, strict=True))

    def is_whole(self, name: str) -> bool:
        return name in self._whole

    def _typed(self) -> Iterator[tuple[list[Cells], int]]:
        """Yield rows and how many characters they have."""
        for columns, size in self._columns():
            yield [dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True)], size

    def _columns(self) -> Iterator[tuple[list[list[Any]], int]]:
        """Yield the cells of each column and how many characters they have."""
        first = 0
        for batch in self._batches():
            sizes: list[int] = []
            columns = [self._cells(cells, place, first, sizes) for place, cells in enumerate(batch.columns)]
            yield columns, sum(sizes)
            first += batch.num_rows

    def _cells(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        kind = cells.type
        if place in self._widths:
            return self._vector_cells(cells, place, first, sizes)
        if self._kinds[place] == "nested":
            rows = enumerate(cells.to_pylist(), start=first)
            return [as_cell(value, self._limits, self._where(row, place)) for row, value in rows]
        if _is_text(kind):
            return self._texts(
                cells if pa.types.is_dictionary(kind) else cells.dictionary_encode(), place, first, sizes
            )
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


@final
class ParquetTable(ArrowTable):
    """Rows of a Parquet file."""

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        super().__init__(path, origin, limits)
        with self._open() as file:
            self._refuse_large(file.metadata)
            schema = file.schema_arrow
        self._scan(schema)

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

    def _batches(self) -> Iterator[Any]:
        try:
            with self._open() as file:
                yield from file.iter_batches(batch_size=self._rows_at_once(), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(f"cannot be read as Parquet: {error}") from error


@final
class DatasetFolder(ArrowTable):
    """Rows of a dataset that was saved to disk; numbers of classes are read as their names."""

    def __init__(self, path: Path, origin: str, limits: Limits, options: ReadOptions) -> None:
        if pa is None:
            raise MissingExtra("datasets need pyarrow: pip install 'askone[server]'")
        super().__init__(path, origin, limits)
        self._choose_split(options.part)
        state, info = self._json(_STATE), self._json(_INFO)
        if any(value for name, value in state.items() if name.startswith("_indices")):
            raise self._refusal("has rows picked from others; save it anew after dataset.flatten_indices()")
        try:
            self._files = [self._inside(str(one["filename"])) for one in state.get("_data_files") or ()]
            self._classes = dict(self._classes_of(info.get("features") or {}))
        except (TypeError, KeyError, AttributeError) as error:
            raise self._refusal(f"{_STATE} or {_INFO} is not as the library writes it: {error!r}") from error
        if sum(file.stat().st_size for file in self._files) > limits.total:
            raise self._refusal(f"at most {limits.total} bytes are allowed")
        first = next(self._batches(), None)
        if first is None:
            raise self._refusal("has no rows")
        self._scan(first.schema)

    def _choose_split(self, wanted: str | None) -> None:
        if not (self._path / _SPLITS).is_file():
            return
        self.parts = tuple(map(str, self._json(_SPLITS).get("splits") or ()))
        shown = ", ".join(map(repr, self.parts))
        if wanted is None and len(self.parts) != 1:
            raise InvalidArgument("--split", f"given, one of {shown}", "nothing")
        self.part = self.parts[0] if wanted is None else wanted
        if self.part not in self.parts:
            raise InvalidArgument("rows.part", f"one of {shown}", repr(self.part))
        self._path = self._inside(self.part)

    def _classes_of(self, features: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield the columns that hold numbers of classes, and what these are called."""
        for name, feature in features.items():
            kind = feature.get("_type") if isinstance(feature, dict) else None
            if kind in _MEDIA:
                raise self._refusal(f"column {name!r} holds {kind.lower()} files; save images into folders instead")
            if kind == "ClassLabel":
                yield name, list(map(str, feature.get("names") or ()))

    def _json(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self._path / name).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise self._refusal(f"{name} cannot be read: {error}") from error
        if not isinstance(found, dict):
            raise self._refusal(f"{name}: a JSON object is needed")
        return found

    def _inside(self, name: str) -> Path:
        if Path(name).name != name or name == ".." or not (self._path / name).exists():
            raise self._refusal(f"{name!r} is not in this folder")
        return self._path / name

    def _batches(self) -> Iterator[Any]:
        try:
            for path in self._files:
                with closing(pa.OSFile(str(path))) as file, pa.ipc.open_stream(file) as stream:
                    for batch in stream:
                        batch.validate(full=True)  # Arrow itself would read wherever a place in it leads to
                        step = self._rows_at_once()
                        for start in range(0, batch.num_rows, step):
                            yield self._named(batch.slice(start, step))
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(f"cannot be read as Arrow: {error}") from error

    def _named(self, batch: Any) -> Any:
        """Return a batch with the names of classes in place of their numbers; -1 is a label that is not known."""
        columns = []
        for name, cells in zip(batch.schema.names, batch.columns, strict=True):
            if name not in self._classes:
                columns.append(cells)
                continue
            names = pa.array(self._classes[name], pa.string())
            places = compute.if_else(compute.less(cells, 0), pa.scalar(None, cells.type), cells).cast(pa.int32())
            columns.append(pa.DictionaryArray.from_arrays(places, names))
        return pa.record_batch(columns, names=batch.schema.names)


def is_dataset(path: Path) -> bool:
    """Return whether a folder holds a dataset that was saved to disk."""
    return (path / _SPLITS).is_file() or ((path / _STATE).is_file() and (path / _INFO).is_file())


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: Any) -> bool:
    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))
