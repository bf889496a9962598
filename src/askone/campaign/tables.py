"""Tables in files: CSV, JSON lines, Parquet, a folder of images; with ``datasets.formats``, a door to pyarrow.

A file is read twice, each time in pieces: once when it is opened, so that all that is wrong with it is said
before anything is made of it, and again for its rows.  A column whose first rows are numbers, all or all but one
in a hundred, is a column of numbers: a text further down is an error that names its line, not a missing value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from askone.campaign.columns import (
    LIMITS,
    MISSING,
    NUMBER,
    Cells,
    Column,
    Kind,
    Limits,
    Spread,
    Table,
    examples,
    heading,
    kind_of_texts,
    looks_like_number,
    rows_at_once,
    table_title,
)
from askone.campaign.delimited import Layout, layout_of, line_of
from askone.campaign.folders import Folder
from askone.campaign.jsonlines import JsonLines, as_cell
from askone.errors import InvalidFile, MissingExtra

try:
    import pyarrow as pa
    from pyarrow import compute, csv, parquet
except ImportError:  # open_table says so
    pa = None

_BLOCK: Final = 1 << 21
_PARQUET: Final = b"PAR1"
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_PART: Final = 1 << 29  # bytes of one column of one row group, unpacked
_SURE: Final = r"^[+-]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*)?|\.[0-9]+)$"
_MANY: Final = 100  # rows from which one cell in a hundred is taken for a slip


def open_table(path: str | os.PathLike[str], limits: Limits = LIMITS, name: str | None = None) -> Table:
    """The table in a file or folder, checked from beginning to end; ``name`` is the file's, if not its path's.

    What it is, is told by its content: Parquet, JSON lines (it begins with "{"), else CSV.
    """
    place = Path(path)
    origin = Path(name if name is not None else place.name).name or "file"
    if place.is_dir():
        return Folder(place, origin, limits)
    try:
        size = place.stat().st_size
        with place.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise InvalidFile(f"{origin}: cannot be read: {error.strerror}") from error
    if size > limits.total:
        raise InvalidFile(f"{origin}: at most {limits.total} bytes are allowed; got {size}")
    if start.startswith((_GZIP, _ZIP)):
        raise InvalidFile(f"{origin}: is a packed file; unpack it first (CSV, JSON lines or Parquet are read)")
    if not start.startswith(_PARQUET) and start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return JsonLines(place, origin, limits)
    if pa is None:
        raise MissingExtra("tables need pyarrow: pip install 'askone[server]'")
    return ParquetTable(place, origin, limits) if start.startswith(_PARQUET) else CsvTable(place, origin, limits)


# -- CSV ----------------------------------------------------------------------------------------------


@final
@dataclass(eq=False)
class _Found:
    """What is known of a column so far: whether it is of numbers, with which decimal sign, and whether whole ones."""

    number: bool = True
    comma: bool = False
    whole: bool = True
    decided: bool = field(default=False)


@final
class CsvTable(Table):
    """Rows of a CSV file."""

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, self._origin, self._limits = path, origin, limits
        self._layout: Layout = layout_of(path, origin, limits)
        self._found = [_Found() for _ in self._layout.names]
        self.title, self.rows = table_title(origin), 0
        spread = Spread()
        for batch in self._batches():
            self._learn(batch)
            wanted = batch.take(pa.array(spread.places(self.rows, batch.num_rows), pa.int64()))
            spread.take(zip(*(cells.to_pylist() for cells in wanted.columns), strict=True), batch.nbytes)
            self.rows += batch.num_rows
            if self.rows > limits.rows:
                raise InvalidFile(f"{origin}: at most {limits.rows} rows are allowed")
        if self.rows == 0:
            raise InvalidFile(f"{origin}: has no rows, only the names of columns")
        kept = [pa.array(cells, pa.string()) for cells in zip(*spread.evenly(), strict=True)]
        self.sample = self._typed(pa.record_batch(kept, names=list(self._layout.names)), 0)
        self.columns = tuple(
            self._column(name, found) for name, found in zip(self._layout.names, self._found, strict=True)
        )

    def chunks(self) -> Iterator[list[Cells]]:
        """See ``Table.chunks``."""
        first = 0
        for batch in self._batches():
            step = rows_at_once(len(self._layout.names))
            for start in range(0, batch.num_rows, step):
                piece = batch.slice(start, step)
                yield self._typed(piece, first)
                first += piece.num_rows

    def _batches(self) -> Iterator[Any]:
        layout = self._layout
        places = [str(place) for place in range(len(layout.names))]
        # A line with another number of cells stops the reader, which knows the record but not the line.
        odd: list[Any] = []

        def note(row: Any) -> str:
            odd.append(row)
            return "error"

        options = {
            "read_options": csv.ReadOptions(
                column_names=places, skip_rows=layout.blank, skip_rows_after_names=1, block_size=_BLOCK,
                use_threads=False,
            ),
            "parse_options": csv.ParseOptions(
                delimiter=layout.delimiter, newlines_in_values=True,
                invalid_row_handler=note,
            ),
            "convert_options": csv.ConvertOptions(
                column_types={place: pa.string() for place in places}, null_values=[""], strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        }  # fmt: skip
        last = None
        try:
            with self._path.open("rb") as file:
                stream = pa.PythonFile(file, mode="r")
                if layout.encoding != "utf-8":
                    stream = pa.transcoding_input_stream(stream, layout.encoding, "utf-8")
                for batch in csv.open_csv(stream, **options):
                    if batch.num_rows:
                        last = batch
                        yield batch
        except pa.ArrowInvalid as error:
            raise self._explained(error, odd) from error
        if last is not None and layout.unbalanced:
            self._refuse_open_quote(last)

    def _explained(self, error: Exception, odd: list[Any]) -> InvalidFile:
        if odd:
            line = line_of(self._path, self._layout, odd[0].number - self._layout.blank)
            wanted, got = odd[0].expected_columns, odd[0].actual_columns
            return InvalidFile(
                f"{self._origin}: line {line}: {wanted} cells are needed, as in the first line; got {got}"
            )
        if "straddling" in str(error):
            return InvalidFile(f"{self._origin}: a row is longer than {_BLOCK} bytes, or a quote is not closed")
        return InvalidFile(f"{self._origin}: cannot be read as CSV: {error}")

    def _refuse_open_quote(self, batch: Any) -> None:
        cells = batch.slice(batch.num_rows - 1, 1).to_pylist()[0].values()
        if any(cell is not None and "\n" in cell for cell in cells):
            raise InvalidFile(f"{self._origin}: a quote is not closed: the last row takes in all lines after it")

    def _learn(self, batch: Any) -> None:
        """Check a batch, and what kind its columns are."""
        for place, found in enumerate(self._found):
            cells = batch.column(place)
            longest = compute.max(compute.binary_length(cells)).as_py() or 0
            if longest > self._limits.cell:
                row = int(np.argmax(compute.binary_length(cells).fill_null(0).to_numpy(zero_copy_only=False)))
                raise self._at(self.rows + row, place, f"at most {self._limits.cell} bytes are allowed; got {longest}")
            if not found.decided:
                self._decide(cells, place, found)
            elif found.number:
                self._numbers(cells, place, self.rows)

    def _decide(self, cells: Any, place: int, found: _Found) -> None:
        if _plain_numbers(cells):
            found.decided = True
            self._numbers(cells, place, self.rows)
            return
        texts = [text.strip() for text in cells.to_pylist() if text is not None]
        texts = [text for text in texts if text not in MISSING]
        if not texts:
            return  # an empty column, so far
        bad = [text for text in texts if not looks_like_number(text)]
        if bad and self._layout.delimiter != ",":
            other = [text for text in texts if "." in text or not looks_like_number(text.replace(",", ".", 1))]
            found.comma, bad = (True, other) if len(other) < len(bad) else (False, bad)
        slips = len(texts) >= _MANY and len(bad) * 100 <= len(texts)
        found.decided, found.number = True, not bad or slips
        if found.number:
            self._numbers(cells, place, self.rows)

    def _numbers(self, cells: Any, place: int, first: int) -> Any:
        """Numbers of a column, NaN where there is none; the first text is an error."""
        found = self._found[place]
        texts = compute.utf8_trim_whitespace(cells)
        texts = compute.if_else(compute.is_in(texts, value_set=pa.array(MISSING)), pa.scalar(None, pa.string()), texts)
        if found.comma:
            texts = compute.replace_substring(texts, ",", ".", max_replacements=1)
        try:
            numbers = compute.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as error:
            raise self._not_numbers(texts, cells, place, first) from error
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise self._at(first + row, place, f"a finite number is needed; got {cells[row].as_py()!r}")
        if found.whole:
            known = numbers[~np.isnan(numbers)]
            found.whole = bool((known == np.floor(known)).all() and (np.abs(known) < 2**53).all())
        return numbers

    def _not_numbers(self, texts: Any, cells: Any, place: int, first: int) -> InvalidFile:
        for row, text in enumerate(texts.to_pylist()):
            if text is not None and NUMBER.fullmatch(text) is None:
                reason = f"a number is needed, as in other rows, or nothing; got {cells[row].as_py()[:60]!r}"
                return self._at(first + row, place, reason)
        return InvalidFile(f"{self._origin}: column {self._layout.names[place]!r}: numbers are needed")

    def _at(self, row: int, place: int, reason: str) -> InvalidFile:
        line = line_of(self._path, self._layout, row + 2)
        return InvalidFile(f"{self._origin}: line {line}, column {self._layout.names[place]!r}: {reason}")

    def _typed(self, batch: Any, first: int) -> list[Cells]:
        columns = []
        for place, found in enumerate(self._found):
            if found.number and found.decided:
                numbers = self._numbers(batch.column(place), place, first)
                columns.append(_listed(numbers, found.whole))
            else:
                columns.append(batch.column(place).to_pylist())
        names = self._layout.names
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _column(self, name: str, found: _Found) -> Column:
        values = [row[name] for row in self.sample]
        if found.number and found.decided:
            return Column(name, "number", examples(values))
        return Column(name, kind_of_texts([value for value in values if value is not None]), examples(values))


def _plain_numbers(cells: Any) -> bool:
    """Whether all are numbers beyond doubt: in digits as in ``NUMBER``, none that looks like a code, some there."""
    known = compute.drop_null(cells)
    if not len(known):
        return False
    return bool(compute.all(compute.match_substring_regex(known, _SURE)).as_py())


def _listed(numbers: Any, whole: bool) -> list[Any]:
    """Numbers as Python's, whole ones without a point, None for NaN."""
    missing = np.isnan(numbers)
    if not missing.any():
        return list((numbers.astype(np.int64) if whole else numbers).tolist())
    values = np.where(missing, 0, numbers)
    plain = (values.astype(np.int64) if whole else values).tolist()
    return [None if gone else value for gone, value in zip(missing.tolist(), plain, strict=True)]


# -- Parquet ------------------------------------------------------------------------------------------


@final
class ParquetTable(Table):
    """Rows of a Parquet file."""

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, self._origin, self._limits = path, origin, limits
        self.title = table_title(origin)
        with self._open() as file:
            schema, meta = file.schema_arrow, file.metadata
            self._refuse_large(meta)
            self._names = heading(schema.names, origin, limits)
            self._kinds = [self._kind(name, schema.field(place).type) for place, name in enumerate(self._names)]
        self.rows, unpacked, spread = 0, 0, Spread()
        for chunk, size in self._typed():
            spread.add(self.rows, chunk, size)
            self.rows, unpacked = self.rows + len(chunk), unpacked + size
            if unpacked > limits.total:
                raise InvalidFile(f"{origin}: unpacks to more than {limits.total} characters")
        if self.rows == 0:
            raise InvalidFile(f"{origin}: has no rows, only the names of columns")
        self.sample = spread.evenly()
        self.columns = tuple(self._column(name, kind) for name, kind in zip(self._names, self._kinds, strict=True))

    def chunks(self) -> Iterator[list[Cells]]:
        """See ``Table.chunks``."""
        for chunk, _ in self._typed():
            yield chunk

    def _open(self) -> Any:
        try:
            with parquet.ParquetFile(self._path) as file:
                names = [one.name for one in file.schema_arrow if _is_text(one.type)]
            return parquet.ParquetFile(self._path, read_dictionary=names)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InvalidFile(f"{self._origin}: cannot be read as Parquet: {error}") from error

    def _refuse_large(self, meta: Any) -> None:
        if meta.num_rows > self._limits.rows:
            raise InvalidFile(f"{self._origin}: at most {self._limits.rows} rows are allowed; got {meta.num_rows}")
        groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
        parts = [group.column(j) for group in groups for j in range(group.num_columns)]
        sizes = [part.total_uncompressed_size for part in parts]
        if max(sizes, default=0) > _PART or sum(sizes) > self._limits.total:
            allowed = f"{_PART} bytes in a part, {self._limits.total} in all"
            raise InvalidFile(f"{self._origin}: unpacks to more than is allowed ({allowed})")
        if any(part.num_values > 10 * self._limits.rows for part in parts):
            raise InvalidFile(f"{self._origin}: holds lists that are too long")

    def _kind(self, name: str, kind: Any) -> str:
        types = pa.types
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        if _is_text(kind) or types.is_boolean(kind) or types.is_temporal(kind) or types.is_null(kind):
            return "text"
        if types.is_nested(kind):
            return "nested"
        raise InvalidFile(f"{self._origin}: column {name!r}: numbers or texts are needed; got {kind}")

    def _typed(self) -> Iterator[tuple[list[Cells], int]]:
        """Rows and how many characters they have."""
        first = 0
        try:
            with self._open() as file:
                for batch in file.iter_batches(batch_size=rows_at_once(len(self._names)), use_threads=False):
                    sizes: list[int] = []
                    columns = [
                        self._cells(batch.column(place), place, first, sizes) for place in range(len(self._names))
                    ]
                    rows = [dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True)]
                    yield rows, sum(sizes)
                    first += len(rows)
        except (pa.ArrowException, OSError) as error:
            raise InvalidFile(f"{self._origin}: cannot be read as Parquet: {error}") from error

    def _cells(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        kind = cells.type
        if self._kinds[place] == "nested":
            return [
                as_cell(value, self._limits, self._where(first + row, place))
                for row, value in enumerate(cells.to_pylist())
            ]
        if pa.types.is_dictionary(kind):
            return self._texts(cells, place, first, sizes)
        if self._kinds[place] == "text":
            plain = compute.cast(cells, pa.string()).to_pylist()
            sizes.append(20 * len(plain))
            return list(plain)
        if pa.types.is_integer(kind):
            return list(cells.to_pylist())
        numbers = compute.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise InvalidFile(f"{self._where(first + row, place)}: a finite number is needed; got {numbers[row]}")
        return _listed(numbers, whole=False)

    def _texts(self, cells: Any, place: int, first: int, sizes: list[int]) -> list[Any]:
        """Texts of a column; one that comes again is kept once, so that few bytes cannot become many."""
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

    def _column(self, name: str, kind: str) -> Column:
        values = [row[name] for row in self.sample]
        found: Kind = "number" if kind == "number" else kind_of_texts([text for text in values if text is not None])
        return Column(name, found, examples(values))


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
