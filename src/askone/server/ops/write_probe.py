"""Whether anything can be written: a full disk reads well, and whoever answers would be the first to know."""

from __future__ import annotations

import asyncio
import time
from typing import Final, final

from askone.errors import StoreUnavailable
from askone.server._upload_folder import Uploads
from askone.store.store import Store

EVERY: Final = 5.0
"""Seconds for which a look holds: anybody may ask, and a write costs a flush to disk."""


@final
class WriteProbe:
    """Writes a few bytes to the store and to the folder of uploads, now and then."""

    def __init__(self, store: Store, uploads: Uploads, every: float = EVERY) -> None:
        self._store, self._uploads, self._every = store, uploads, every
        self._lock, self._due = asyncio.Lock(), 0.0
        self._fault: BaseException | None = None

    async def check(self) -> None:
        """Raise ``StoreUnavailable`` where the last look could not write."""
        async with self._lock:
            if time.monotonic() >= self._due:
                [self._fault] = await asyncio.gather(asyncio.to_thread(self._write), return_exceptions=True)
                self._due = time.monotonic() + self._every
        if self._fault is not None:
            raise StoreUnavailable(f"nothing can be written: {self._fault}")

    def _write(self) -> None:
        self._store.check_writable()
        self._uploads.check_writable()
