"""Images as a table, one row each, in the order of their names: those of a folder, or wherever else they come from."""

from __future__ import annotations

import os
import stat
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, final

from askone.campaign.tables.base import SAMPLE, Cells, Column, Limits, Table, table_title
from askone.errors import InvalidFile

IMAGE: Final = "image"
SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_CHUNK: Final = 200


class ImageTable(Table):
    """Images by name; their bytes are read one at a time, and made safe by ``images``."""

    def __init__(self, names: Iterable[str], origin: str, limits: Limits) -> None:
        self.names, self._origin, self.limits = sorted(names), origin, limits
        if not self.names:
            raise InvalidFile(f"{origin}: holds no images ({', '.join(SUFFIXES)})")
        if len(self.names) > limits.images:
            raise InvalidFile(f"{origin}: at most {limits.images} images are allowed")
        for name in self.names:
            if not name.isprintable() or len(name) > 255:
                raise InvalidFile(f"{origin}: {name!r}: a name of printable characters is needed")
        self.title, self._set, self.rows = table_title(origin), frozenset(self.names), len(self.names)
        self.columns = (Column(IMAGE, "image", tuple(self.names[:5])),)
        step = -(-self.rows // SAMPLE)
        self.sample = [{IMAGE: name} for name in self.names[::step]]

    def chunks(self) -> Iterator[list[Cells]]:
        for first in range(0, self.rows, _CHUNK):
            yield [{IMAGE: name} for name in self.names[first : first + _CHUNK]]

    def image(self, name: str) -> bytes:
        """Return the bytes of an image of this table."""
        if name not in self._set:
            raise InvalidFile(f"{self._origin}: {name!r} is no image of this {self._place}")
        return self._read(name)

    _place = "table"

    @abstractmethod
    def _read(self, name: str) -> bytes:
        """Return the bytes of an image that is there; at most ``limits.image`` of them."""


def is_image(name: str) -> bool:
    """Return whether a file's name is that of an image, and not of a hidden file.

    >>> is_image("cats/Tom.JPG"), is_image("cats/._Tom.jpg"), is_image("cats.txt")
    (True, False, False)
    """
    return not name.rpartition("/")[2].startswith(".") and name.lower().endswith(SUFFIXES)


@final
class ImageFolder(ImageTable):
    """Images of a folder; other files and hidden ones are passed over, links refused: they lie elsewhere."""

    _place = "folder"

    def __init__(self, path: Path, origin: str, limits: Limits) -> None:
        self._path, names = path, []
        with os.scandir(path) as entries:
            for entry in entries:
                if not is_image(entry.name):
                    continue
                if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
                    raise InvalidFile(f"{origin}: {entry.name!r} is a link or no file; images themselves are needed")
                names.append(entry.name)
                if len(names) > limits.images:
                    raise InvalidFile(f"{origin}: at most {limits.images} images are allowed")
        super().__init__(names, origin, limits)

    def _read(self, name: str) -> bytes:
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
