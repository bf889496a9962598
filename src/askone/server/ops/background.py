"""Loops for as long as the server runs: one that ends is logged and started again, and meanwhile it is not ready."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, final

WELL: Final = 30.0
"""Seconds after which a loop that was started again counts as well."""
PAUSES: Final = (1.0, 60.0)
"""Seconds before a loop is started again: the first time, and at most; twice as long each time that it ends soon."""
log = logging.getLogger("askone.server")


@final
class BackgroundLoops:
    """The loops of one server process."""

    def __init__(self, well: float = WELL, pauses: tuple[float, float] = PAUSES) -> None:
        self.ended: set[str] = set()
        """Those that ended, and are not well again yet."""
        self._well, self._pauses = well, pauses

    async def keep_running(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Run a loop, and run it again whatever ends it."""
        least, most = self._pauses
        pause = least
        while True:
            started = time.monotonic()
            well = asyncio.get_running_loop().call_later(self._well, self.ended.discard, name)
            try:
                [error] = await asyncio.gather(loop(), return_exceptions=True)
            finally:
                well.cancel()
            self.ended.add(name)
            if time.monotonic() > started + self._well:
                pause = least
            log.error("the loop %r ended; it is started again in %g s", name, pause, exc_info=error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, most)
