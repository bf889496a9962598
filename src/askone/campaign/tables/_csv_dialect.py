"""The dialect of a CSV file: encoding, delimiter, names of columns; and which line a record is on."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from askone.campaign.tables.base import Limits, heading, looks_like_number
from askone.errors import InvalidFile

_READ: Final = 1 << 20
_HEAD: Final = 1 << 16  # characters by which the delimiter is told
_RECORDS: Final = 50
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@final
@dataclass(frozen=True)
class CsvDialect:
    """The dialect of a file: ``blank`` lines come before the names; ``unbalanced`` if its quotes are odd in number."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    blank: int
    unbalanced: bool


def layout_of(path: Path, origin: str, limits: Limits) -> CsvDialect:
    """Return how a CSV file is written; the whole file is read once for its encoding."""
    encoding, unbalanced = _encoding(path, origin)
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
        head = file.read(_HEAD)
    text = head.lstrip("\r\n")
    blank = len(head[: len(head) - len(text)].splitlines())
    if not text.strip():
        raise InvalidFile(f"{origin}: is empty")
    delimiter = _delimiter(text)
    records = list(_records(text, delimiter))
    names = records[0] if records else []
    if not any(name.strip() for name in names):
        raise InvalidFile(f"{origin}: line {blank + 1}: names of columns are needed")
    if all(looks_like_number(name.strip()) for name in names if name.strip()):
        raise InvalidFile(f"{origin}: line {blank + 1}: names of columns are needed; got numbers")
    tidy = heading(names, origin, limits)
    if len(head) < _HEAD and not any(records[1:]):
        raise InvalidFile(f"{origin}: has no rows, only the names of columns")
    return CsvDialect(encoding, delimiter, tidy, blank, unbalanced)


def line_of(path: Path, layout: CsvDialect, record: int) -> int:
    """Return the line on which a record begins (the names are record 1); cells may hold line breaks."""
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    with path.open(encoding=encoding, newline="") as file:
        reader, begins, found = csv.reader(file, delimiter=layout.delimiter), 1, 0
        try:
            for cells in reader:
                found += bool(cells)
                if found >= record:
                    return begins
                begins = reader.line_num + 1
        except csv.Error:  # a cell beyond what this reader takes: it is near
            pass
    return begins


def _encoding(path: Path, origin: str) -> tuple[str, bool]:
    """Return UTF-8, or else Windows-1252; and whether the quotes are odd in number."""
    decoders = {name: codecs.getincrementaldecoder(name)() for name in ("utf-8", "cp1252")}
    quotes, offset = 0, 0
    with path.open("rb") as file:
        while block := file.read(_READ):
            if not offset and block.startswith(_UTF16):
                raise InvalidFile(f"{origin}: is in UTF-16; save it as UTF-8")
            nul = block.find(b"\0")
            if nul >= 0:
                raise InvalidFile(f"{origin}: a text file without NUL is needed; got one at byte {offset + nul}")
            quotes, offset = quotes + block.count(b'"'), offset + len(block)
            decoders = {name: one for name, one in decoders.items() if _decodes(one, block)}
    decoders = {name: one for name, one in decoders.items() if _decodes(one, b"", final=True)}
    if not decoders:
        raise InvalidFile(f"{origin}: is neither in UTF-8 nor in Windows-1252; save it as UTF-8")
    return next(iter(decoders)), quotes % 2 == 1


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before: list[str] | None = None
    for count, cells in enumerate(reader):
        if before is not None:
            yield before
        before = cells
        if count == _RECORDS:
            return
    if before is not None and len(text) < _HEAD:
        yield before
