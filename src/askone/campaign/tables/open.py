"""Tables in files: CSV, JSON lines, Parquet, images in a folder or a zip file.

A file is read twice, each time in pieces: once when it is opened, so that all that is wrong with it is said
before anything is made of it, and again for its rows.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from askone.campaign.tables._csv import CsvTable
from askone.campaign.tables._json_lines import JsonLines
from askone.campaign.tables._parquet import ParquetTable
from askone.campaign.tables.base import LIMITS, Limits, Table
from askone.campaign.tables.image_tables import ImageFolder, ImageZip
from askone.errors import InvalidFile, MissingExtra

_PARQUET: Final = b"PAR1"
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"


def open_table(path: str | os.PathLike[str], limits: Limits = LIMITS, name: str | None = None) -> Table:
    """Return the table in a file or folder, checked from beginning to end; ``name`` is the file's, if not its path's.

    What it is, is told by its content: Parquet, a zip file of images, JSON lines (it begins with "{"), else CSV.
    """
    place = Path(path)
    origin = Path(name if name is not None else place.name).name or "file"
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
        return ImageZip(place, origin, limits)
    if Path(origin).suffix.lower() == ".zip":
        reason = "is called a zip file and is none; tables are read from CSV, JSON lines or Parquet"
        raise InvalidFile(f"{origin}: {reason}")
    if start.startswith(_GZIP):
        raise InvalidFile(f"{origin}: is a packed file; unpack it first (CSV, JSON lines or Parquet are read)")
    if not start.startswith(_PARQUET) and start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return JsonLines(place, origin, limits)
    if find_spec("pyarrow") is None:
        raise MissingExtra("tables need pyarrow: pip install 'askone[server]'")
    return ParquetTable(place, origin, limits) if start.startswith(_PARQUET) else CsvTable(place, origin, limits)
