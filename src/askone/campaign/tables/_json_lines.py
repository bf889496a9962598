"""Tables of JSON: one object per line, or all of them in one list."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn, final

from askone.campaign.tables.base import SAMPLE, Cells, FileTable, Limits, Spread, column_of, heading
from askone.campaign.tables.json_list import list_elements
from askone.errors import InvalidFile

_CHUNK: Final = 5_000
_ROOM: Final = 1 << 23  # characters of a chunk
_READ: Final = 1 << 16


@final
class JsonLines(FileTable):
    """Rows of a file with one JSON object per line, or with a list of objects; its columns are all names that occur.

    A column whose first values are numbers is one of numbers: another value further down is an error.
    """

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        super().__init__(path, origin, limits)
        with path.open("rb") as file:
            self._in_list = file.read(_READ).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
        self._numbers, spread = dict[str, bool | None](), Spread()
        for chunk, lines, size in self._parsed():
            for cells, line in zip(chunk, lines, strict=True):
                self._learn(cells, line)
            spread.add(self.rows, chunk, size)
            self.rows += len(chunk)
            self._require_room(self.rows, len(self._numbers))
        if self.rows == 0:
            raise self._refusal("is empty")
        if self.rows == 1:
            self._refuse_wrapping(spread.rows[0])
        heading(list(self._numbers), origin, limits)
        self.sample = [self._typed(cells) for cells in spread.evenly()]
        self.columns = tuple(column_of(name, self.sample, number is True) for name, number in self._numbers.items())

    def _refuse_wrapping(self, cells: Cells) -> None:
        """Refuse one object that has the rows inside."""
        inside = next((name for name, cell in cells.items() if isinstance(cell, str) and cell.startswith("[{")), None)
        if inside is not None:
            raise self._refusal(f"holds one object, whose {inside!r} is a list of others: save that list by itself")

    def chunks(self) -> Iterator[list[Cells]]:
        for chunk, _, _ in self._parsed():
            yield [self._typed(cells) for cells in chunk]

    def _parsed(self) -> Iterator[tuple[list[Cells], list[int], int]]:
        """Yield rows, their lines, and how many characters they have."""
        chunk: list[Cells] = []
        lines: list[int] = []
        size = 0
        for line, text in self._elements() if self._in_list else self._lines():
            chunk.append(self._object(text, line))
            lines.append(line)
            size += len(text)
            if len(chunk) == _CHUNK or size > _ROOM:
                yield chunk, lines, size
                chunk, lines, size = [], [], 0
        if chunk:
            yield chunk, lines, size

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self._path.open("rb") as file:
            line = 0
            while data := file.readline(self._limits.line + 1):
                line += 1
                if len(data) > self._limits.line:
                    raise self._refusal(f"line {line}: at most {self._limits.line} bytes are allowed")
                try:
                    text = data.decode("utf-8-sig" if line == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise self._refusal(f"line {line}: UTF-8 is needed") from error
                if text:
                    yield line, text

    def _elements(self) -> Iterator[tuple[int, str]]:
        with self._path.open("rb") as file:
            yield from list_elements(file, self._refusal, self._limits.line)

    def _object(self, text: str, line: int) -> Cells:
        try:
            found = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise self._refusal(
                f"line {line}: a JSON object is needed, one per line or all in one list: {reason}"
            ) from error
        if not isinstance(found, dict):
            raise self._refusal(f"line {line}: a JSON object is needed; got {text[:60]}")
        if len(found) > self._limits.columns:
            raise self._refusal(f"line {line}: at most {self._limits.columns} columns are allowed")
        for name, value in found.items():
            if type(value) is not float and type(value) is not int and value is not None:
                found[name] = as_cell(value, self._limits, f"{self._origin}: line {line}, column {name!r}")
        return found

    def _learn(self, cells: Cells, line: int) -> None:
        for name, value in cells.items():
            if value is None:
                self._numbers.setdefault(name, None)
                continue
            number, before = not isinstance(value, str), self._numbers.get(name)
            if number:
                _require_finite(value, f"{self._origin}: line {line}, column {name!r}")
            if before is None:
                self._numbers[name] = number
            elif before and not number:
                if self.rows >= SAMPLE:
                    where = f"{self._origin}: line {line}, column {name!r}"
                    raise InvalidFile(f"{where}: a number is needed, as in the rows before; got {value[:60]!r}")
                self._numbers[name] = False
        if len(self._numbers) > self._limits.columns:
            raise self._refusal(f"line {line}: at most {self._limits.columns} columns are allowed")

    def _typed(self, cells: Cells) -> Cells:
        typed = {}
        for name, number in self._numbers.items():
            value = cells.get(name)
            typed[name] = value if number or value is None or isinstance(value, str) else json.dumps(value)
        return typed


def as_cell(value: Any, limits: Limits, where: str) -> Any:
    """Return a JSON value as a cell: a number or a text; flags, lists and objects as their JSON text."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        if _depth(value, limits.depth) > limits.depth:
            raise InvalidFile(f"{where}: nested more than {limits.depth} deep")
        value = json.dumps(value, ensure_ascii=False, default=str)
    if len(value) > limits.cell:
        raise InvalidFile(f"{where}: at most {limits.cell} characters are allowed; got {len(value)}")
    if "\0" in value:
        raise InvalidFile(f"{where}: a text without NUL is needed")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidFile(f"{where}: half of a surrogate pair is no text") from None
    return value


def _depth(value: Any, most: int) -> int:
    if not isinstance(value, dict | list | tuple) or most < 0:
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(one, most - 1) for one in inner), default=0)


def _require_finite(value: Any, where: str) -> None:
    try:
        finite = math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        finite = False
    if not finite:
        raise InvalidFile(f"{where}: a finite number is needed")


def _distinct(pairs: list[tuple[str, Any]]) -> Cells:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
