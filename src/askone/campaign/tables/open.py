"""Tables in files: CSV, spreadsheets, JSON lines, Parquet, datasets on disk, images in a folder or a zip file.

A file is read twice, each time in pieces: once when it is opened, so that all that is wrong with it is said
before anything is made of it, and again for its rows.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from askone._common.lazy_import import lazy_import
from askone.campaign.tables._csv import CsvTable
from askone.campaign.tables._json_lines import JsonLines
from askone.campaign.tables._parquet import DatasetFolder, ParquetTable, is_dataset
from askone.campaign.tables.base import LIMITS, PLAIN, Limits, ReadOptions, Table
from askone.campaign.tables.image_tables import ImageFolder, ImageZip, member_names
from askone.errors import InvalidArgument, InvalidFile, MissingExtra

if TYPE_CHECKING:
    from askone.campaign.tables import _spreadsheet
else:
    _spreadsheet = lazy_import("askone.campaign.tables._spreadsheet")

_PARQUET, _ZIP, _OLD_OFFICE = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_JSON: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")
_READ: Final = "CSV, .xlsx, JSON lines or Parquet are read"
_IMAGES: Final = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_REFUSED: Final[dict[bytes | tuple[bytes, ...], str]] = {
    b"\x1f\x8b": f"is a packed file; unpack it first ({_READ})",
    _OLD_OFFICE: "is an old or encrypted office file; save it as .xlsx, without a password, or as CSV",
    b"SQLite format 3\0": 'is a database; on the command line: askone new sqlite:///{origin} --query "..."',
    _IMAGES: "is one image; the folder that images lie in is needed, or a zip file of them",
    b"%PDF-": f"is a PDF; {_READ}",
}
"""How files begin that hold no table, and what is said of them."""


def open_table(
    path: str | os.PathLike[str], limits: Limits = LIMITS, name: str | None = None, options: ReadOptions = PLAIN
) -> Table:
    """Return the table in a file or folder, checked from beginning to end; ``name`` is the file's, if not its path's.

    What it is, is told by its content: Parquet, a spreadsheet, a zip file of images, JSON (it begins with "{", or
    with "[" and "{"), else CSV.
    """
    table = _opened(path, limits, name, options)
    if options.part is not None and not table.parts:
        raise InvalidArgument("rows.part", "left out: it is for sheets and splits", repr(options.part))
    return table


def _opened(path: str | os.PathLike[str], limits: Limits, name: str | None, options: ReadOptions) -> Table:
    place = Path(path)
    origin = Path(name if name is not None else place.name).name or "file"
    if place.is_dir() and is_dataset(place):
        return DatasetFolder(place, origin, limits, options)
    if place.is_dir():
        return ImageFolder(place, origin, limits)
    try:
        size = place.stat().st_size
        with place.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise InvalidFile(f"{origin}: cannot be read: {error.strerror}") from error
    if size > limits.total:
        raise InvalidFile(f"{origin}: at most {limits.total} bytes are allowed; got {size}")
    if start.startswith(_ZIP):
        return _unpacked(place, origin, limits, options)
    if Path(origin).suffix.lower() == ".zip":
        raise InvalidFile(f"{origin}: is called a zip file and is none; {_READ}")
    if Path(origin).suffix.lower() == ".xlsx" and not start.startswith(_OLD_OFFICE):
        raise InvalidFile(f"{origin}: is called a spreadsheet and is none, or was cut off; {_READ}")
    reason = next((reason for beginnings, reason in _REFUSED.items() if start.startswith(beginnings)), None)
    if reason is not None:
        raise InvalidFile(f"{origin}: {reason.format(origin=origin)}")
    if _is_json(start, origin):
        return JsonLines(place, origin, limits)
    if find_spec("pyarrow") is None:
        raise MissingExtra("tables need pyarrow: pip install 'askone[server]'")
    if start.startswith(_PARQUET):
        return ParquetTable(place, origin, limits)
    return CsvTable(place, origin, limits, options)


def _is_json(start: bytes, origin: str) -> bool:
    """Return whether a file holds JSON objects, one per line or in a list; a name in brackets may begin a CSV file."""
    named = Path(origin).suffix.lower() == ".json" and start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return named or _JSON.match(start) is not None


def _unpacked(place: Path, origin: str, limits: Limits, options: ReadOptions) -> Table:
    """Return the table in a zip file: a spreadsheet is one too."""
    names = member_names(place, origin)
    if "xl/workbook.xml" in names:
        if find_spec("openpyxl") is None:
            raise MissingExtra("spreadsheets need openpyxl: pip install 'askone[server]'")
        return _spreadsheet.Spreadsheet(place, origin, limits, options)
    if "xl/workbook.bin" in names or "content.xml" in names:
        raise InvalidFile(f"{origin}: is a spreadsheet of another kind; save it as .xlsx or CSV")
    return ImageZip(place, origin, limits)
