"""A zip file of images as a table.  It may come from a stranger: nothing of it is unpacked to disk.

Names of members are keys of rows and never paths; what they say of themselves is held to the limits of ``archives``
before the first of them is read, and each image to those of ``images``.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Final, final

from askone.campaign.tables.base import Limits
from askone.campaign.tables.image_folder import ImageTable, is_image
from askone.campaign.tables.zip_archive import UNREADABLE, ArchiveLimits, check_whole, require_small_directory
from askone.errors import InvalidFile

MEMBERS: Final = 200_000
_PACKED: Final = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".zst", ".jar")


@final
class ImageZip(ImageTable):
    """Images of a zip file; other files are passed over, packed ones refused.  A folder of all is no part of names."""

    _place = "zip file"

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        members = min(MEMBERS, limits.images)
        allowed = ArchiveLimits(total=limits.total, members=members)
        try:
            with path.open("rb") as file:
                require_small_directory(file, members)
            # It stays open, for there may be very many members to find; whoever drops the table closes it.
            self._archive = zipfile.ZipFile(path)
            found = self._archive.infolist()
            check_whole(found, allowed, path.stat().st_size)
            images = [one for one in found if _is_wanted(one)]
        except InvalidFile as error:
            raise InvalidFile(f"{origin}: {error}") from error
        except UNREADABLE as error:
            raise InvalidFile(f"{origin}: is not a zip file that can be read: {error}") from error
        if not images:
            reason = "is a packed file without images; unpack it first (CSV, JSON lines or Parquet are read)"
            raise InvalidFile(f"{origin}: {reason}")
        common = _common([one.filename for one in images])
        self._members = {one.filename[common:]: one for one in images}
        super().__init__(self._members, origin, limits)
        for name, one in self._members.items():
            if one.file_size > limits.image:
                raise InvalidFile(f"{origin}: {name!r}: at most {limits.image} bytes are allowed; got {one.file_size}")

    def _read(self, name: str) -> bytes:
        try:
            with self._archive.open(self._members[name]) as member:
                return member.read(self.limits.image + 1)
        except UNREADABLE as error:
            raise InvalidFile(f"{self._origin}: {name!r} cannot be read: {error}") from error


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    """Return whether a member is an image; one that has no business in a file of images is refused."""
    name = member.filename
    # Windows' own tools write no other sign than /, so that a \\ or a drive is somebody's attempt.
    parts = name.rstrip("/").split("/")
    if name != member.orig_filename or "\\" in name or ":" in parts[0] or not all(parts) or {".", ".."} & {*parts}:
        raise InvalidFile(f"the file is refused: it has a member {name[:100]!r}, which leads out of it")
    if name.lower().endswith(_PACKED):
        raise InvalidFile(f"the file is refused: it has a packed file in it, {name[:100]!r}; unpack that first")
    # Beside each file macOS puts one of its own, of the same ending.
    return not member.is_dir() and is_image(name) and parts[0] != "__MACOSX"


def _common(names: list[str]) -> int:
    """Return how many characters the folders have that all names begin with.

    >>> _common(["photos/cats/1.png", "photos/dogs/1.png"]), _common(["1.png", "a/1.png"])
    (7, 0)
    """
    return os.path.commonprefix(names).rfind("/") + 1  # noqa: RUF071 (characters are what is counted)
