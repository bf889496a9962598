"""Files on their way to become campaigns: kept under names of our own, for a day, for whoever sent them."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import final
from urllib.parse import unquote

from askone.server._errors import ApiError, invalid, not_found
from askone.server.config import ServerConfig
from askone.server.ops.threads import Threads
from askone.server.security.tokens import new_id

KINDS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xlsm", ".zip")
"""How names may end.  Nothing else of a sender's name is used for a path."""
FIT = "askone-fit-"
"""How the folders of fits begin that are made beside (see ``FitsBeside``)."""
_NAME = re.compile(r"[A-Za-z0-9_-]{8,64}")


@final
@dataclass(frozen=True)
class Upload:
    """A file that waits."""

    id: str
    owner: str
    title: str
    path: Path


def suffix_of(title: str) -> str:
    """Return the ending that says what a file is.

    >>> suffix_of("../../etc/My table.CSV")
    '.csv'
    """
    ending = PurePosixPath(title.replace("\\", "/")).suffix.lower()
    if ending not in KINDS:
        raise invalid("X-File-Name", f"The file's name must end in one of {', '.join(KINDS)}.")
    return ending


def plain_title(given: str) -> str:
    """Return a sender's file name as a short text without control characters, to be shown and never opened.

    >>> plain_title("%2e%2e%2fa%0d%0ab.csv")
    'ab.csv'
    """
    last = unquote(given, errors="replace").replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(char for char in last if char.isprintable())[:120] or "table"


@final
class Uploads:
    """A folder of uploads; its processes share it."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._folder, self._disk = config.directory, Threads("uploads", 4)
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        """Where they lie; nobody else on this machine may look in."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="askone-"))
        return self._folder

    async def receive(self, pieces: AsyncIterator[bytes], owner: str, title: str) -> Upload:
        """Take in a file as it comes; what does not arrive whole is removed."""
        title = plain_title(title)
        upload = new_id("u")
        path, part, note = (self.folder / f"{upload}{ending}" for ending in (suffix_of(title), ".part", ".note"))
        about = {"owner": owner, "title": title, "file": path.name, "at": time.time()}
        try:
            # Noted before it comes, and counted with its own note: none of several at once slips through.
            note.write_text(json.dumps(about), encoding="utf-8")
            self._check_room(owner)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                async for piece in pieces:
                    await self._disk.run(out.write, piece)
            if not part.stat().st_size:
                raise invalid(None, "The file is empty.")
            part.rename(path)
        except BaseException:
            for file in (note, part):
                file.unlink(missing_ok=True)
            raise
        return Upload(upload, owner, title, path)

    def find(self, upload: str, owner: str) -> Upload:
        """Return the upload of this name, if it is this person's."""
        note = self._note(upload) if _NAME.fullmatch(upload) else None
        path = None if note is None else self.folder / note["file"]
        if note is None or path is None or note["owner"] != owner or not path.exists():
            raise not_found("upload")
        return Upload(upload, owner, note["title"], path)

    def remove(self, upload: Upload) -> None:
        """Remove an upload that has become a campaign, or will not."""
        (self.folder / f"{upload.id}.note").unlink(missing_ok=True)
        upload.path.unlink(missing_ok=True)

    def close(self) -> None:
        """End the threads that write."""
        self._disk.close()

    def sweep(self) -> None:
        """Remove what waited for too long, and what was never whole."""
        if self._folder is None or not self._folder.is_dir():
            return
        old = time.time() - 3600 * self._config.upload_hours
        for path in self._folder.iterdir():
            if path.is_file() and path.stat().st_mtime < old:
                path.unlink(missing_ok=True)
            elif path.name.startswith(FIT) and path.stat().st_mtime < old:
                shutil.rmtree(path, ignore_errors=True)

    def check_writable(self) -> None:
        """Raise ``OSError`` if no file can be written."""
        if self._folder is not None:
            probe = self._folder / new_id("probe")
            try:
                probe.write_bytes(bytes(4096))
            finally:
                probe.unlink(missing_ok=True)

    def _note(self, upload: str) -> dict[str, str] | None:
        try:
            note: dict[str, str] = json.loads((self.folder / f"{upload}.note").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return note

    def _check_room(self, owner: str) -> None:
        notes = [note for path in self.folder.glob("*.note") if (note := self._note(path.stem)) is not None]
        if sum(note["owner"] == owner for note in notes) > self._config.uploads_per_person:
            raise ApiError(409, "too_many_uploads", "Too many files wait: make campaigns of them, or wait a day.")
