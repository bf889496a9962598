"""Zip files from strangers, read within limits.

Nothing is ever unpacked to disk.  Members must have expected names, none twice, and may say how long they are
only up to a limit, alone, together and against their packed length: zipfile reads no more than that.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, final

from askone.errors import InvalidFile

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_LINK, _TYPE = 0o120000, 0o170000
_SMALL = 1 << 20
_ENTRY = 160  # bytes of the directory for a member, which is 46 and its name, for names of usual length
_END, _END_64, _LOCATOR = b"PK\5\6", b"PK\6\6", b"PK\6\7"
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, struct.error,
)  # fmt: skip
"""What zipfile raises for a file that is damaged or made to mislead."""


@final
@dataclass(frozen=True)
class ArchiveLimits:
    """The most that is read: bytes in all, members, bytes of a line, and how many times a member may grow."""

    total: int = 16 << 30
    members: int = 2_000_000
    line: int = 64 << 20
    ratio: float = 250.0


@final
class Archive:
    """A zip file whose members' names match ``names``; use ``opened``."""

    def __init__(self, archive: zipfile.ZipFile, names: str, limits: ArchiveLimits, size: int) -> None:
        self._archive, self.limits, self.names = archive, limits, frozenset(archive.namelist())
        check_whole(archive.infolist(), limits, size)
        for name in archive.namelist():
            if not re.fullmatch(names, name):
                refuse(f"it has a member {name[:100]!r}, which has no place in it")

    def read(self, name: str, most: int) -> bytes:
        """Return a whole member of at most so many bytes."""
        if self.size(name) > most:
            refuse(f"{name} has {self.size(name)} bytes, more than {most}")
        with _explained(name), self._open(name) as member:
            return member.read()

    def json(self, name: str, most: int) -> dict[str, Any]:
        """Return a whole member that is a JSON object."""
        return parsed(self.read(name, most), name)

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of a member, one in a line."""
        with _explained(name), self._open(name) as member:
            count = 0
            while line := member.readline(self.limits.line + 1):
                count += 1
                if len(line) > self.limits.line:
                    refuse(f"line {count} of {name} is longer than {self.limits.line} bytes")
                yield parsed(line, f"line {count} of {name}")

    def digest(self, name: str) -> str:
        """Return the SHA-256 of a member."""
        told = hashlib.sha256()
        for piece in self.pieces(name):
            told.update(piece)
        return told.hexdigest()

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member, some at a time."""
        with _explained(name), self._open(name) as member:
            while piece := member.read(_SMALL):
                yield piece

    def _open(self, name: str) -> IO[bytes]:
        self.size(name)
        return self._archive.open(name)

    def size(self, name: str) -> int:
        """Return how many bytes a member has, unpacked."""
        if name not in self.names:
            refuse(f"it has no {name}")
        return self._archive.getinfo(name).file_size


@contextmanager
def opened(file: BinaryIO | str, names: str, limits: ArchiveLimits = ArchiveLimits()) -> Iterator[Archive]:
    """A zip file, if it is one that keeps the limits and has no other members than those that match ``names``."""
    with ExitStack() as stack:
        source = stack.enter_context(Path(file).open("rb")) if isinstance(file, str) else file
        try:
            require_small_directory(source, limits.members)
            archive = stack.enter_context(zipfile.ZipFile(source))
        except UNREADABLE as error:
            raise InvalidFile(f"this is not a zip file that can be read: {error}") from error
        yield Archive(archive, names, limits, source.seek(0, os.SEEK_END))


def parsed(text: bytes, place: str) -> dict[str, Any]:
    """Return a JSON object without NaN, of any depth that can be read."""
    try:
        record = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{place} is not JSON: {error}") from error
    if not isinstance(record, dict):
        refuse(f"{place} must be a JSON object; got {type(record).__name__}")
    return record


def refuse(reason: str) -> NoReturn:
    """This file is not taken."""
    raise InvalidFile(f"the file is refused: {reason}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def require_small_directory(file: BinaryIO, members: int) -> None:
    """Refuse a zip file whose directory is too long for so many members: zipfile reads all of it at once."""
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - (1 << 16) - 200))
    tail = file.read()
    at = len(tail) - 22
    if not (tail[at : at + 4] == _END and tail.endswith(b"\0\0")):
        at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        return  # not a zip file, as zipfile will say
    told = [struct.unpack_from("<L", tail, at + 12)[0]]
    if tail[max(0, at - 20) :][:4] == _LOCATOR:
        # The longer form of the end is said to be somewhere, and is just before.
        place = struct.unpack_from("<Q", tail, at - 20 + 8)[0] - start
        told = [_directory(tail, at - 76), *([_directory(tail, place)] if place > 0 else [])]
    if max(told) > members * _ENTRY:
        refuse(f"it has more than {members} members, or names that are too long")
    file.seek(0)


def _directory(tail: bytes, at: int) -> int:
    found = at >= 0 and tail[at : at + 4] == _END_64 and len(tail) >= at + 56
    return int(struct.unpack_from("<Q", tail, at + 40)[0]) if found else 0


def check_whole(members: Sequence[zipfile.ZipInfo], limits: ArchiveLimits, size: int) -> None:
    """Refuse what a zip file's directory should not say; ``size`` is how long the file is."""
    if len(members) > limits.members:
        refuse(f"it has {len(members)} members, more than {limits.members}")
    seen: set[str] = set()
    for member in members:
        if member.filename in seen:
            refuse(f"it has a member {member.filename[:100]!r} twice")
        seen.add(member.filename)
        _check_member(member, limits)
    total = sum(member.file_size for member in members)
    if total > limits.total:
        refuse(f"it would take {total} bytes, more than {limits.total}")
    if sum(member.compress_size for member in members) > size:
        refuse("its members overlap")


def _check_member(member: zipfile.ZipInfo, limits: ArchiveLimits) -> None:
    name = member.filename[:100]
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _PLAIN:
        refuse(f"{name} is encrypted or packed in an unusual way")
    if (member.external_attr >> 16) & _TYPE == _LINK:
        refuse(f"{name} is a link")
    if member.file_size > max(_SMALL, limits.ratio * member.compress_size):
        refuse(f"{name} would grow from {member.compress_size} to {member.file_size} bytes")


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except InvalidFile:
        raise
    except UNREADABLE as error:
        raise InvalidFile(f"the file is refused: {name} cannot be read: {error}") from error
