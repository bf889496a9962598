"""A folder of images as a table: one row per image, in the order of their names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, final

from askone.campaign.columns import SAMPLE, Cells, Column, Limits, Table, table_title
from askone.errors import InvalidFile

IMAGE: Final = "image"
SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_CHUNK: Final = 200


@final
class Folder(Table):
    """Images by name; files that are no images by their suffix, and hidden ones, are passed over.

    A link is refused: what is in the folder is meant, not what lies elsewhere.
    """

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, self._origin, self._limits = path, origin, limits
        self.title, names = table_title(origin), []
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.lower().endswith(SUFFIXES):
                    continue
                if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
                    raise InvalidFile(f"{origin}: {entry.name!r} is a link or no file; images themselves are needed")
                names.append(entry.name)
                if len(names) > limits.images:
                    raise InvalidFile(f"{origin}: at most {limits.images} images are allowed")
        if not names:
            raise InvalidFile(f"{origin}: holds no images ({', '.join(SUFFIXES)})")
        self._names = sorted(names)
        for name in self._names:
            if not name.isprintable() or len(name) > 255:
                raise InvalidFile(f"{origin}: {name!r}: a name of printable characters is needed")
        self._set, self.rows = frozenset(self._names), len(self._names)
        self.columns = (Column(IMAGE, "image", tuple(self._names[:5])),)
        step = -(-self.rows // SAMPLE)
        self.sample = [{IMAGE: name} for name in self._names[::step]]

    def chunks(self) -> Iterator[list[Cells]]:
        """See ``Table.chunks``."""
        for first in range(0, self.rows, _CHUNK):
            yield [{IMAGE: name} for name in self._names[first : first + _CHUNK]]

    def image(self, name: str) -> bytes:
        """The bytes of an image of this folder."""
        if name not in self._set:
            raise InvalidFile(f"{self._origin}: {name!r} is no image of this folder")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)  # it may have become a link since
        try:
            number = os.open(self._path / name, flags)
            with os.fdopen(number, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > self._limits.image:
                    raise InvalidFile(
                        f"{self._origin}: {name!r}: a file of at most {self._limits.image} bytes is needed"
                    )
                return file.read(self._limits.image + 1)
        except OSError as error:
            raise InvalidFile(f"{self._origin}: {name!r} cannot be read: {error.strerror}") from error

    @property
    def limits(self) -> Limits:
        """How large an image may be."""
        return self._limits
