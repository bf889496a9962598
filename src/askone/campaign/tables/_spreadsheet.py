"""Tables in spreadsheets (.xlsx), read row by row.  The one door to openpyxl.

A cell is what the program that wrote it shows: a formula's value, a date as text; merged cells have the value of the
first.  A spreadsheet is a zip file of XML, which may come from a stranger: it keeps the limits of ``zip_archive``
before anything of it is read, and XML that defines words of its own, by which few bytes become many, is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, final
from xml.etree.ElementTree import ParseError, iterparse  # nosec B405
from xml.parsers import expat  # nosec B407

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.worksheet._reader import FORMULA_TAG, MERGE_TAG, ROW_TAG, WorkSheetParser

from askone._common.zip_archive import UNREADABLE, ArchiveLimits, opened, refuse
from askone.campaign.tables._values import ValueTable, plain_value
from askone.campaign.tables.base import LIMITS, Limits, ReadOptions, heading, refuse_row
from askone.errors import AskoneError, InvalidArgument, InvalidFile

# What bandit would warn of is what _refuse_definitions refuses, before anything else is read.
# What openpyxl raises for a file that is not what it should be.
_BROKEN = (*UNREADABLE, ParseError, LookupError, TypeError, AttributeError, OverflowError, Warning)
_MEMBERS, _BLOCK = 10_000, 1 << 20
_TOTAL: Final = 1 << 30  # bytes of XML, of which a cell takes some forty
_WHOLE: Final = 1 << 26  # bytes of a part that is read at once
_XML: Final = (".xml", ".rels")
_STREAMED: Final = ("xl/worksheets/", "xl/sharedStrings")
_FIRST: Final = 50  # rows by which it is told whether the first is one of names
Merged = tuple[int, int, int, int]
"""The first row, last row, first and last column of merged cells."""


@final
class _SheetParser(WorkSheetParser):  # type: ignore[misc]
    """Rows of a sheet and the cells that are merged, without what else openpyxl makes of it."""

    def rows(self) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """Yield the number and the cells of each row."""
        self.merged: list[Merged] = []
        for _, element in iterparse(self.source):  # nosec B314
            if element.tag == ROW_TAG:
                yield self.parse_row(element)
                element.clear()
            elif element.tag == MERGE_TAG:
                for one in element:
                    left, first, right, last = range_boundaries(one.get("ref", ""))
                    self.merged.append((first, last, left, right))

    def parse_cell(self, element: Any) -> dict[str, Any]:
        """Return a cell, of type "f" if it has a formula and no value: no program has computed it."""
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["value"] is None and element.get("t") != "str" and element.find(FORMULA_TAG) is not None:
            cell["data_type"] = "f"
        return cell


@final
class Spreadsheet(ValueTable):
    """Rows of a sheet, the first one or that of a name; rows without any value are passed over."""

    def __init__(self, path: Path, origin: str, limits: Limits, options: ReadOptions) -> None:
        super().__init__(path, origin, limits)
        self._options = options
        self._refuse_large()
        self._merged = self._find_merged()
        self._names, self._header, self._first = self._heading()
        self._scan()

    def _refuse_large(self) -> None:
        allowed = ArchiveLimits(total=min(self._limits.total, _TOTAL), members=_MEMBERS)
        try:
            with opened(str(self._path), r"[\s\S]*", allowed) as archive:
                for name in archive.names:
                    if not name.startswith(_STREAMED) and name.endswith(_XML) and archive.size(name) > _WHOLE:
                        refuse(f"{name} has {archive.size(name)} bytes, more than {_WHOLE}")
                    _refuse_definitions(archive.pieces(name))
        except InvalidFile as error:
            raise self._refusal(str(error)) from error

    def _find_merged(self) -> list[Merged]:
        """Return cells that are merged: a sheet tells them behind its rows."""
        with self._parser() as parser:
            if not _holds(parser.source, b"mergeCell"):
                return []
        with self._parser() as parser:
            parser.parse_row = lambda _: (0, [])
            for _ in parser.rows():
                pass
            return sorted(parser.merged)

    def _heading(self) -> tuple[tuple[str, ...], int, bool]:
        """Return the names of columns, the row that they are in, and whether it is a row like the others."""
        rows = self._filled()
        header, cells = next(rows, (0, {}))
        if not cells:
            raise self._refusal(f"the sheet {self.part!r} is empty; there are {', '.join(map(repr, self.parts))}")
        width = max(cells)
        if width > self._limits.columns:
            raise self._refusal(f"at most {self._limits.columns} columns are allowed; got {width}")
        below = [
            [_told(more.get(column)) for column in range(1, width + 1)]
            for (_, more), _ in zip(rows, range(_FIRST), strict=False)
        ]
        names = [_told(cells.get(column)) for column in range(1, width + 1)]
        if self._options.header is False:
            widest = max([width, *(max(more) for _, more in self._filled())])
            return heading([""] * widest, self._origin, self._limits), header, True
        if self._options.header is None:
            refuse_row(names, below, f"{self._origin}: row {header}")
        for first, last, left, right in self._merged:
            if first <= header <= last:
                where = f"{get_column_letter(left)}{first}:{get_column_letter(right)}{last}"
                raise self._refusal(
                    f"cells {where} are merged: row {header} is to name each column; remove what stands above the names"
                )
        return heading(names, self._origin, self._limits), header, False

    def _require_some(self) -> None:
        if self.rows == 0:
            others = [repr(name) for name in self.parts if name != self.part]
            advice = f"; other sheets: {', '.join(others)} (askone new --sheet NAME)" if others else ""
            raise self._refusal(f"the sheet {self.part!r} has no rows, only the names of columns{advice}")

    def _records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        width, merged, active = len(self._names), self._merged[::-1], list[Merged]()
        kept: dict[Merged, Any] = {}
        for number, cells in self._filled():
            if number < self._header or (number == self._header and not self._first):
                continue
            if max(cells) > width:
                where = f"cell {get_column_letter(max(cells))}{number}"
                advice = "; if that row is a title, remove what stands above the names" if len(cells) > width else ""
                raise self._refusal(f"{where}: its column has no name in row {self._header}{advice}")
            active = [one for one in active if one[1] >= number]
            while merged and merged[-1][0] <= number:
                active.append(merged.pop())
            if len(active) > self._limits.columns:
                raise self._refusal("merged cells overlap")
            values = [cells.get(column) for column in range(1, width + 1)]
            for one in active:
                first, _, left, right = one
                if first == number and left <= width:
                    kept[one] = values[left - 1]
                for column in range(left, min(right, width) + 1):
                    values[column - 1] = kept.get(one)
            yield number, values

    def _filled(self) -> Iterator[tuple[int, dict[int, Any]]]:
        """Yield the number of each row that is not empty, and its values by column, from 1 on."""
        with self._parser() as parser:
            for number, cells in parser.rows():
                values = {
                    one["column"]: self._value(one)
                    for one in cells
                    if one["value"] is not None or one["data_type"] == "f"
                }
                values = {column: value for column, value in values.items() if value not in (None, "")}
                if values:
                    yield number, values

    def _value(self, cell: dict[str, Any]) -> Any:
        where = f"{self._origin}: cell {get_column_letter(cell['column'])}{cell['row']}"
        if cell["data_type"] == "f":
            reason = "its formula has no value; open the file in a spreadsheet program, save it, and it has"
            raise InvalidFile(f"{where}: {reason}")
        if cell["data_type"] == "e":
            if cell["value"] == "#N/A":  # not available: a missing value
                return None
            raise InvalidFile(f"{where}: shows the error {cell['value']}; mend or empty it")
        return cell["value"]

    @contextmanager
    def _parser(self) -> Iterator[_SheetParser]:
        try:
            with self._path.open("rb") as file:
                with warnings.catch_warnings():  # of what openpyxl would lose if it wrote the file
                    warnings.simplefilter("ignore")
                    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
                sheet = self._sheet(book)
                with sheet._get_source() as source:
                    yield _SheetParser(
                        source, sheet._shared_strings, data_only=True, epoch=book.epoch,
                        date_formats=book._date_formats, timedelta_formats=book._timedelta_formats,
                    )  # fmt: skip
        except AskoneError:
            raise
        except _BROKEN as error:
            raise self._refusal(f"cannot be read as a spreadsheet (.xlsx): {error}") from error

    def _sheet(self, book: Any) -> Any:
        """Return the sheet of the name that was given, or the first that is not hidden."""
        sheets = {one.title: one for one in book.worksheets}
        visible = [one.title for one in book.worksheets if one.sheet_state == "visible"]
        self.parts = tuple(sheets)
        self.part = self._options.part or (visible or [*sheets, ""])[0]
        if self.part not in sheets:
            raise InvalidArgument("rows.part", f"one of {', '.join(map(repr, sheets))}", repr(self.part))
        return sheets[self.part]

    def _where(self, place: int, column: int) -> str:
        return f"{self._origin}: cell {get_column_letter(column + 1)}{place}"


def _refuse_definitions(pieces: Iterator[bytes]) -> None:
    """Refuse XML that has a document type: spreadsheets have none, and entities could be defined there."""
    inside: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda *_: refuse("its XML defines words of its own")
    parser.StartElementHandler = lambda name, _: inside.append(name)
    try:
        while not inside and (piece := next(pieces, b"")):
            parser.Parse(piece)
    except expat.ExpatError:  # no XML; whoever needs it to be will say so
        return


def _holds(source: Any, word: bytes) -> bool:
    before = b""
    while block := source.read(_BLOCK):
        if word in before + block:
            return True
        before = block[-len(word) :]
    return False


def _told(value: Any) -> str:
    return "" if value is None else str(plain_value(value, LIMITS))
