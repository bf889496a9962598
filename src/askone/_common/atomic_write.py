"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str], private: bool = False) -> Iterator[BufferedWriter]:
    """Open a file for writing that has its name only when all of it is there, on the disk.

    What was there before stays until then, and for good if something is raised; its mode is kept, and a file that is
    ``private`` can be read by its owner alone.  What is not a file, such as a pipe, is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as out:
            yield out
        return
    kept = 0o600 if private else stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # Several may write at a time.  Made by O_EXCL, so that a link that somebody planted is not followed.
    partial = target.with_name(f"{target.name}.{secrets.token_hex(8)}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        made = os.open(partial, flags, 0o666 if kept is None else kept)
    except OSError as error:
        error.filename = os.fspath(path)  # the one that somebody named
        raise
    try:
        with os.fdopen(made, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if kept is not None:
            partial.chmod(kept)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, in UTF-8, whole or not at all."""
    with atomic_write(path) as out:
        out.write(text.encode())


def _sync_folder(folder: Path) -> None:
    """Let the new name outlive a power cut, where a directory can be opened."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
