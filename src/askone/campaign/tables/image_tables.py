"""Images as a table, one row each, in the order of their names: those of a folder or a zip file.

A zip file may come from a stranger: nothing of it is unpacked to disk.  Names of members are keys of rows and never
paths; what they say of themselves is held to the limits of ``zip_archive`` before the first of them is read, and each
image to those of ``images``.
"""

from __future__ import annotations

import os
import stat
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, final

from askone._common.zip_archive import UNREADABLE, ArchiveLimits, check_whole, require_small_directory
from askone.campaign.tables.base import SAMPLE, Cells, Column, Limits, Table, table_title
from askone.errors import InvalidFile

IMAGE, FOLDER = "image", "folder"
"""The columns: an image's name, and the folder that it lies in, if some lie in one."""
SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
OTHER_SUFFIXES: Final = (".heic", ".heif", ".avif", ".jxl", ".tif", ".tiff", ".svg", ".dng", ".cr2", ".nef", ".arw")
"""Of pictures that are not read, and of which it is said that they were passed over."""
_CHUNK: Final = 200
MEMBERS: Final = 200_000
_MACOS: Final = "__MACOSX"
_LONGEST: Final = 500  # characters of a name
_PACKED: Final = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".zst", ".jar")


class ImageTable(Table):
    """Images by name; their bytes are read one at a time, and made safe by ``images``.

    ``passed`` are pictures beside them of a kind that is not read.
    """

    def __init__(self, names: Iterable[str], origin: str, limits: Limits, passed: Iterable[str] = ()) -> None:
        self.names, self._origin, self.limits, self.passed = sorted(names), origin, limits, sorted(passed)
        if not self.names:
            came = f"; {self.passed[0]!r} is of another kind: save it anew" if self.passed else ""
            raise InvalidFile(f"{origin}: holds no images ({', '.join(SUFFIXES)}){came}")
        if len(self.names) > limits.images:
            raise InvalidFile(f"{origin}: at most {limits.images} images are allowed")
        for name in self.names:
            if not name.isprintable() or len(name) > _LONGEST:
                raise InvalidFile(f"{origin}: {name!r}: a name of up to {_LONGEST} printable characters is needed")
        self.title, self._set, self.rows = table_title(origin), frozenset(self.names), len(self.names)
        folders = tuple(dict.fromkeys(filter(None, map(folder_of, self.names))))
        self.columns = (Column(IMAGE, "image", tuple(self.names[:5])),)
        if folders:
            self.columns += (Column(FOLDER, "category", folders[:5]),)
        self.sample = [self._cells(name) for name in self.names[:: -(-self.rows // SAMPLE)]]

    def chunks(self) -> Iterator[list[Cells]]:
        for first in range(0, self.rows, _CHUNK):
            yield [self._cells(name) for name in self.names[first : first + _CHUNK]]

    def _cells(self, name: str) -> Cells:
        return {IMAGE: name, FOLDER: folder_of(name)} if len(self.columns) > 1 else {IMAGE: name}

    def image(self, name: str) -> bytes:
        """Return the bytes of an image of this table."""
        if name not in self._set:
            raise InvalidFile(f"{self._origin}: {name!r} is no image of this {self._place}")
        return self._read(name)

    _place = "table"

    @abstractmethod
    def _read(self, name: str) -> bytes:
        """Return the bytes of an image that is there; at most ``limits.image`` of them."""


def folder_of(name: str) -> str | None:
    """Return the folder that an image lies in, by which many collections are sorted.

    >>> folder_of("train/cats/Tom.jpg"), folder_of("Tom.jpg")
    ('cats', None)
    """
    return name.rpartition("/")[0].rpartition("/")[2] or None


def is_image(name: str) -> bool:
    """Return whether a file's name is that of an image, and not of a hidden file.

    >>> is_image("cats/Tom.JPG"), is_image("cats/._Tom.jpg"), is_image("cats.txt")
    (True, False, False)
    """
    return not name.rpartition("/")[2].startswith(".") and name.lower().endswith(SUFFIXES)


def is_other_image(name: str) -> bool:
    """Return whether a file's name is that of an image of a kind that is not read, and not of a hidden file."""
    return not name.rpartition("/")[2].startswith(".") and name.lower().endswith(OTHER_SUFFIXES)


@final
class ImageFolder(ImageTable):
    """Images of a folder and of those in it; other files and hidden ones are passed over, links refused.

    Names are seen from the folder, as cats/1.png; what a link leads to lies elsewhere.
    """

    _place = "folder"

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, self._real, names, inner = path, path.resolve(), list[str](), [""]
        passed = list[str]()
        while inner:
            folder = inner.pop()
            for entry in self._entries(folder, origin):
                name = folder + entry.name
                if entry.name.startswith(".") or entry.name == _MACOS:
                    continue
                if entry.is_dir(follow_symlinks=False) and not is_image(name):
                    inner.append(f"{name}/")
                elif is_image(name) or entry.is_dir():
                    if not entry.is_file(follow_symlinks=False):
                        raise InvalidFile(f"{origin}: {name!r} is a link or no file; images themselves are needed")
                    names.append(name)
                elif is_other_image(name):
                    passed.append(name)
                if len(names) + len(inner) > limits.images:
                    raise InvalidFile(f"{origin}: at most {limits.images} images are allowed")
        super().__init__(names, origin, limits, passed)

    def _entries(self, folder: str, origin: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._path / folder) as entries:
                return list(entries)
        except OSError as error:
            raise InvalidFile(f"{origin}: {folder!r} cannot be read: {error.strerror}") from error

    def _read(self, name: str) -> bytes:
        if (self._path / name).parent.resolve() != (self._real / name).parent:
            raise InvalidFile(f"{self._origin}: {name!r} cannot be read: its folder has become a link")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)  # it may have become a link since
        try:
            with os.fdopen(os.open(self._path / name, flags), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > self.limits.image:
                    reason = f"a file of at most {self.limits.image} bytes is needed"
                    raise InvalidFile(f"{self._origin}: {name!r}: {reason}")
                return file.read(self.limits.image + 1)
        except OSError as error:
            raise InvalidFile(f"{self._origin}: {name!r} cannot be read: {error.strerror}") from error


@final
class ImageZip(ImageTable):
    """Images of a zip file; other files are passed over, packed ones refused.  A folder of all is no part of names."""

    _place = "zip file"

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        allowed = ArchiveLimits(total=limits.total, members=min(MEMBERS, limits.images))
        try:
            with path.open("rb") as file:
                require_small_directory(file, allowed.members)
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
            reason = "is a packed file without images; unpack it first (CSV, .xlsx, JSON lines or Parquet are read)"
            raise InvalidFile(f"{origin}: {reason}")
        common = _common([one.filename for one in images])
        self._members = {one.filename[common:]: one for one in images}
        passed = [one.filename for one in found if is_other_image(one.filename)]
        super().__init__(self._members, origin, limits, passed)
        for name, one in self._members.items():
            if one.file_size > limits.image:
                raise InvalidFile(f"{origin}: {name!r}: at most {limits.image} bytes are allowed; got {one.file_size}")

    def _read(self, name: str) -> bytes:
        try:
            with self._archive.open(self._members[name]) as member:
                return member.read(self.limits.image + 1)
        except UNREADABLE as error:
            raise InvalidFile(f"{self._origin}: {name!r} cannot be read: {error}") from error


def member_names(path: Path, origin: str) -> frozenset[str]:
    """Return the names of a zip file's members, by which it is told what it is; they are not yet checked."""
    try:
        with path.open("rb") as file:
            require_small_directory(file, MEMBERS)
            with zipfile.ZipFile(file) as archive:
                return frozenset(archive.namelist())
    except UNREADABLE as error:
        raise InvalidFile(f"{origin}: is not a zip file that can be read: {error}") from error


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
    return not member.is_dir() and is_image(name) and parts[0] != _MACOS


def _common(names: list[str]) -> int:
    """Return how many characters the folders have that all names begin with.

    >>> _common(["photos/cats/1.png", "photos/dogs/1.png"]), _common(["1.png", "a/1.png"])
    (7, 0)
    """
    return os.path.commonprefix(names).rfind("/") + 1  # noqa: RUF071 (characters are what is counted)
