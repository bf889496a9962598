"""Tables in CSV files: how a file is written is told by its content, then it is read in pieces.  A door to pyarrow.

A column whose first rows are numbers, all or all but one in a hundred, is a column of numbers: a text further down
is an error that names its line, not a missing value.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from csv import Error, reader
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from askone.campaign.tables.base import (
    MANY,
    MISSING,
    NUMBER,
    PLAIN,
    Cells,
    FileTable,
    Limits,
    ReadOptions,
    Spread,
    column_of,
    heading,
    listed,
    looks_like_number,
    refuse_row,
    rows_at_once,
)
from askone.errors import InvalidFile

try:
    import pyarrow as pa
    from pyarrow import compute, csv
except ImportError:  # tables.open_table says so
    pa = None

_BLOCK: Final = 1 << 21
_SURE: Final = r"^[+-]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*)?|\.[0-9]+)$"
_READ: Final = 1 << 20
_HEAD: Final = 1 << 16  # characters by which the delimiter is told
_RECORDS: Final = 50
_ABOVE: Final = "remove what stands above the names of columns"
_SEPARATOR: Final = re.compile(r"sep=(.)\r?\n")  # a line for spreadsheet programs
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@final
@dataclass(frozen=True)
class CsvDialect:
    """The dialect of a file: ``blank`` lines without names come first; ``unbalanced`` if its quotes are odd in number.

    ``header`` is how many records hold names: one or none.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    blank: int
    unbalanced: bool
    header: int


@final
@dataclass(eq=False)
class _FoundTable:
    """The kind of a column as far as it was read: numbers or not, the decimal sign, whole numbers or not."""

    number: bool = True
    comma: bool = False
    whole: bool = True
    decided: bool = False


@final
class CsvTable(FileTable):
    """Rows of a CSV file."""

    def __init__(self, path: Path, origin: str, limits: Limits, options: ReadOptions = PLAIN) -> None:
        super().__init__(path, origin, limits)
        self._layout: CsvDialect = layout_of(path, origin, limits, options.header)
        self._found = [_FoundTable() for _ in self._layout.names]
        spread = Spread()
        for batch in self._batches():
            self._learn(batch)
            wanted = batch.take(pa.array(spread.places(self.rows, batch.num_rows), pa.int64()))
            spread.take(zip(*(cells.to_pylist() for cells in wanted.columns), strict=True), batch.nbytes)
            self.rows += batch.num_rows
            self._require_room(self.rows, len(self._found))
        self._require_some()
        kept = [pa.array(cells, pa.string()) for cells in zip(*spread.evenly(), strict=True)]
        sample = self._columns(pa.record_batch(kept, names=list(self._layout.names)), 0)
        self.sample = [dict(zip(sample, row, strict=True)) for row in zip(*sample.values(), strict=True)]
        kinds = zip(self._layout.names, self._found, strict=True)
        self.columns = tuple(column_of(name, self.sample, one.number and one.decided) for name, one in kinds)

    def chunks(self) -> Iterator[list[Cells]]:
        for columns in self.column_chunks():
            yield [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def column_chunks(self) -> Iterator[dict[str, list[Any]]]:
        first = 0
        for batch in self._batches():
            step = rows_at_once(len(self._layout.names))
            for start in range(0, batch.num_rows, step):
                piece = batch.slice(start, step)
                yield self._columns(piece, first)
                first += piece.num_rows

    def is_whole(self, name: str) -> bool:
        found = self._found[self._layout.names.index(name)]
        return found.number and found.decided and found.whole

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
                column_names=places, skip_rows=layout.blank, skip_rows_after_names=layout.header, block_size=_BLOCK,
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
        last, records = None, layout.header
        try:
            with self._path.open("rb") as file:
                stream = pa.PythonFile(file, mode="r")
                if layout.encoding != "utf-8":
                    stream = pa.transcoding_input_stream(stream, layout.encoding, "utf-8")
                for batch in csv.open_csv(stream, **options):
                    if batch.num_rows:
                        last, records = batch, records + batch.num_rows
                        yield batch
        except pa.ArrowInvalid as error:
            raise self._explained(error, odd) from error
        if last is not None and layout.unbalanced:
            self._refuse_open_quote(last, records)

    def _explained(self, error: Exception, odd: list[Any]) -> InvalidFile:
        if odd:
            line = line_of(self._path, self._layout, odd[0].number - self._layout.blank)
            wanted, got = odd[0].expected_columns, odd[0].actual_columns
            advice = f"; {_ABOVE}" if line == self._layout.blank + 2 and got > wanted else ""
            return self._refusal(f"line {line}: {wanted} cells are needed, as in the first line; got {got}{advice}")
        if "straddling" in str(error):
            return self._refusal(f"a row is longer than {_BLOCK} bytes, or a quote is not closed")
        return self._refusal(f"cannot be read as CSV: {error}")

    def _refuse_open_quote(self, batch: Any, records: int) -> None:
        cells = batch.slice(batch.num_rows - 1, 1).to_pylist()[0].values()
        if any(cell is not None and "\n" in cell for cell in cells):
            line = line_of(self._path, self._layout, records)
            raise self._refusal(f"line {line}: a quote is not closed: the row takes in all lines after it")

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

    def _decide(self, cells: Any, place: int, found: _FoundTable) -> None:
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
        slips = len(texts) >= MANY and len(bad) * 100 <= len(texts)
        found.decided, found.number = True, not bad or slips
        if found.number:
            self._numbers(cells, place, self.rows)

    def _numbers(self, cells: Any, place: int, first: int) -> Any:
        """Return numbers of a column, NaN where there is none; the first text is an error."""
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
        return self._refusal(f"column {self._layout.names[place]!r}: numbers are needed")

    def _at(self, row: int, place: int, reason: str) -> InvalidFile:
        line = line_of(self._path, self._layout, row + 1 + self._layout.header)
        return self._refusal(f"line {line}, column {self._layout.names[place]!r}: {reason}")

    def _columns(self, batch: Any, first: int) -> dict[str, list[Any]]:
        columns = {}
        for place, (name, found) in enumerate(zip(self._layout.names, self._found, strict=True)):
            cells = batch.column(place)
            is_number = found.number and found.decided
            columns[name] = listed(self._numbers(cells, place, first), found.whole) if is_number else cells.to_pylist()
        return columns


def _plain_numbers(cells: Any) -> bool:
    """Return whether there are cells, all of them numbers beyond doubt: none that looks like a code."""
    known = compute.drop_null(cells)
    return len(known) > 0 and bool(compute.all(compute.match_substring_regex(known, _SURE)).as_py())


def layout_of(path: Path, origin: str, limits: Limits, header: bool | None) -> CsvDialect:
    """Return how a CSV file is written; the whole file is read once for its encoding."""
    encoding, unbalanced = _encoding(path, origin)
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
        head = file.read(_HEAD)
    told = _SEPARATOR.match(head)
    text = head[told.end() if told else 0 :].lstrip("\r\n")
    blank = len(head[: len(head) - len(text)].splitlines())
    if not text.strip():
        raise InvalidFile(f"{origin}: is empty")
    delimiter = told[1] if told else _delimiter(text)
    records = list(_records(text, delimiter))
    names = records[0] if records else []
    if not any(name.strip() for name in names):
        raise InvalidFile(f"{origin}: line {blank + 1}: names of columns are needed")
    if header is None:
        _refuse_title(text, delimiter, f"{origin}: line {blank + 1}")
        refuse_row(names, records[1:], f"{origin}: line {blank + 1}")
    tidy = heading([""] * len(names) if header is False else names, origin, limits)
    if header is not False and len(head) < _HEAD and not any(records[1:]):
        raise InvalidFile(f"{origin}: has no rows, only the names of columns")
    return CsvDialect(encoding, delimiter, tidy, blank, unbalanced, int(header is not False))


def _refuse_title(text: str, delimiter: str, where: str) -> None:
    """Refuse a first record of one cell above records of three or more, by this delimiter or another: it is a title."""
    for sign in dict.fromkeys((delimiter, ";", "\t", ",", "|")):
        first, *others = ([cell.strip() for cell in cells] for cells in _records(text, sign))
        widths = {len(cells) for cells in others if cells}
        named = list(filter(None, first))
        if len(named) == 1 and len(others) > 1 and len(widths) == 1 and max(widths) > 2:
            raise InvalidFile(f"{where}: {named[0][:60]!r} does not name {max(widths)} columns; {_ABOVE}")


def line_of(path: Path, layout: CsvDialect, record: int) -> int:
    """Return the line on which a record begins (the first is record 1); cells may hold line breaks."""
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    with path.open(encoding=encoding, newline="") as file:
        for _ in range(layout.blank):
            next(file)
        records, begins, found = reader(file, delimiter=layout.delimiter), layout.blank + 1, 0
        try:
            for cells in records:
                found += bool(cells)
                if found >= record:
                    return begins
                begins = layout.blank + records.line_num + 1
        except Error:  # a cell beyond what this reader takes: it is near
            pass
    return begins


def _encoding(path: Path, origin: str) -> tuple[str, bool]:
    """Return UTF-16 if a mark says so, UTF-8, or else Windows-1252; and whether the quotes are odd in number."""
    quotes, offset = 0, 0
    with path.open("rb") as file:
        block = file.read(_READ)
        marked = block.startswith(_UTF16)
        names, unit = (("utf-16",), 2) if marked else (("utf-8", "cp1252"), 1)
        decoders = {name: codecs.getincrementaldecoder(name)() for name in names}
        while decoders:
            texts = {name: _decoded(one, block) for name, one in decoders.items()}
            decoders = {name: one for name, one in decoders.items() if texts[name] is not None}
            text = next((text for text in texts.values() if text is not None), "")
            if "\0" in text:
                place = next(i for i in range(0, len(block), unit) if not any(block[i : i + unit]))
                raise InvalidFile(f"{origin}: a text file without NUL is needed; got one at byte {offset + place}")
            quotes, offset = quotes + text.count('"'), offset + len(block)
            if not block:
                break
            block = file.read(_READ)
    if not decoders:
        what = "is not in UTF-16, though it begins so" if marked else "is neither in UTF-8 nor in Windows-1252"
        raise InvalidFile(f"{origin}: {what}; save it as UTF-8")
    return next(iter(decoders)), quotes % 2 == 1


def _decoded(decoder: codecs.IncrementalDecoder, block: bytes) -> str | None:
    """Return the text of a block, of none what was kept back; None if it cannot be read."""
    try:
        return decoder.decode(block, final=not block)
    except UnicodeDecodeError:
        return None


def _delimiter(text: str) -> str:
    """Return the one that cuts the first records into the same number of cells, as many as possible."""
    best, score = ",", (0.0, 0)
    for delimiter in (",", ";", "\t", "|"):
        counts = [len(cells) for cells in _records(text, delimiter) if cells]
        if not counts or counts[0] < 2:
            continue
        same = sum(count == counts[0] for count in counts) / len(counts)
        if (same, counts[0]) > score:
            best, score = delimiter, (same, counts[0])
    return best


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the first records, without the last of a text that was cut."""
    before: list[str] | None = None
    for count, cells in enumerate(reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        if before is not None:
            yield before
        before = cells
        if count == _RECORDS:
            return
    if before is not None and len(text) < _HEAD:
        yield before
