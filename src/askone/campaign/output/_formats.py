"""Records as files that stream: CSV for spreadsheets, JSON lines and Parquet for programs.  A door to pyarrow.

A record is a dict of plain values; a file comes as pieces of bytes, a page of records in each, so that memory
does not grow with the number of records.

**CSV is made safe for spreadsheets.**  A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``
as a formula.  Text of which the first character, apart from blanks and quotes, is one of these gets an
apostrophe in front, and so does text that begins with an apostrophe, a tab or a line break.  So the way back is
exact: take one apostrophe from the front of each text that has one.  Numbers and true/false are not text and stay
as they are.  The file is UTF-8 with a byte order mark, which Excel needs.  JSON lines and Parquet hold every
value as it is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, final

from askone._common.validate import as_choice
from askone.campaign.kinds.base import CellType
from askone.errors import MissingExtra
from askone.store.entries import as_json

try:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet
except ImportError:  # only Parquet files and columns need it, and their writer says so
    pa = parquet = None

Record = dict[str, Any]
Column = tuple[str, CellType]
_Item = TypeVar("_Item")
FORMATS = ("csv", "jsonl", "parquet")
PAGE = 1_000
_GROUP = 20_000  # records in a row group of Parquet
_DIGITS = 6  # of predictions in CSV, which people read
_BOM = "\ufeff"
# Also their wide forms, which some spreadsheets take for the plain ones.
_FORMULA = frozenset("=+-@＝＋－＠")
_FIRST = frozenset("'\t\r\n")


def safe_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula; without the first apostrophe, if any, it is as it was.

    >>> [safe_cell(text) for text in ("=1+1", '"=1+1', "-5", "tea", "'tea")]
    ["'=1+1", '\\'"=1+1', "'-5", 'tea', "''tea"]
    """
    bare = text.lstrip(" \"'\t\r\n\u00a0")
    return "'" + text if text[:1] in _FIRST or bare[:1] in _FORMULA else text


def pages(records: Iterable[_Item], size: int = PAGE) -> Iterator[list[_Item]]:
    """Yield records in lists of ``size``, the last one shorter; no list is empty."""
    stream = iter(records)
    while page := list(islice(stream, size)):
        yield page


def file_chunks(records: Iterable[Record], columns: Sequence[Column], form: str) -> Iterator[bytes]:
    """Return the records as the bytes of a file, in pieces; the columns of CSV and Parquet in this order."""
    if as_choice(form, "format", FORMATS) == "csv":
        return _csv_chunks(records, columns)
    size = _GROUP if form == "parquet" else PAGE
    return column_file((_as_columns(page, columns, form) for page in pages(records, size)), columns, form)


def rounded(value: Any) -> Any:
    """Return a number that a model says, or named ones, with the digits that mean something; others as they are.

    >>> rounded(155812.4837612), rounded({"cat": 0.123456789}), rounded("1.23456789"), rounded(None)
    (155812.0, {'cat': 0.123457}, '1.23456789', None)
    """
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _as_columns(page: list[Record], columns: Sequence[Column], form: str) -> dict[str, list[Any]]:
    """Return records as columns; what is JSON is text in Parquet."""
    found = {name: [record[name] for record in page] for name, _ in columns}
    texts = [name for name, kind in columns if kind == "json" and form == "parquet"]
    return found | {name: [None if value is None else as_json(value) for value in found[name]] for name in texts}


def column_file(pieces: Iterable[dict[str, list[Any]]], columns: Sequence[Column], form: str) -> Iterator[bytes]:
    """Return a file made of columns, which come some rows at a time: a million rows in seconds."""
    if as_choice(form, "format", FORMATS) == "jsonl":
        names = [name for name, _ in columns]
        for piece in pieces:
            rows = zip(*(piece[name] for name in names), strict=True)
            yield "".join([as_json(dict(zip(names, row, strict=True))) + "\n" for row in rows]).encode()
        return
    schema, sink = _schema(columns), Sink()
    if form == "parquet":
        with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
            for piece in pieces:
                writer.write_batch(_batch(piece, columns, schema))
                yield sink.take()
        yield sink.take()
        return
    header = pa.schema([(safe_cell(name), kind.type) for name, kind in zip(schema.names, schema, strict=True)])
    yield _BOM.encode()
    with arrow_csv.CSVWriter(sink, header) as writer:
        for piece in pieces:
            safe = {name: piece[name] if kind in ("int", "float") else _safe(piece[name]) for name, kind in columns}
            writer.write_batch(_batch(safe, columns, schema).rename_columns(header.names))
            yield sink.take()
    yield sink.take()


def _safe(cells: list[Any]) -> list[Any]:
    texts = (cell if isinstance(cell, str) or cell is None else as_json(cell) for cell in cells)
    return [None if text is None else safe_cell(text) for text in texts]


def _batch(piece: dict[str, list[Any]], columns: Sequence[Column], schema: Any) -> Any:
    arrays = []
    for (name, kind), field in zip(columns, schema, strict=True):
        cells = piece[name]
        if kind == "json":
            cells = [cell if isinstance(cell, str) or cell is None else as_json(cell) for cell in cells]
        arrays.append(pa.array(cells, field.type))
    return pa.record_batch(arrays, schema=schema)


def _schema(columns: Sequence[Column]) -> Any:
    if parquet is None:
        raise MissingExtra("Parquet files need pyarrow: pip install 'askone[server]'")
    text = pa.string()
    types = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "text": text, "json": text}
    return pa.schema([(name, types[kind]) for name, kind in columns])


def _csv_chunks(records: Iterable[Record], columns: Sequence[Column]) -> Iterator[bytes]:
    yield (_BOM + _csv_text([[safe_cell(name) for name, _ in columns]])).encode()
    for page in pages(records):
        cells = [_csv_cells([one[name] for one in page], kind) for name, kind in columns]
        yield _csv_text(zip(*cells, strict=True)).encode()


def _csv_cells(values: list[Any], kind: CellType) -> list[Any]:
    if kind in ("int", "float"):  # as they are: the writer leaves None empty
        return values
    return ["" if value is None else _CELLS[kind](value) for value in values]


def _csv_text(table: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(table)
    return text.getvalue()


_CELLS: dict[CellType, Callable[[Any], Any]] = {
    "bool": lambda value: "true" if value else "false",
    "text": lambda value: safe_cell(str(value)),
    "json": lambda value: safe_cell(as_json(value)),
}


@final
class Sink(io.RawIOBase):
    """A file that is only written, in order, and whose bytes are taken as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._kept = bytearray()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Keep the bytes until they are taken."""
        self._kept += data
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken, self._kept = bytes(self._kept), bytearray()
        return taken
