"""The time by which things are deleted: not by a wall clock that has just jumped."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, final

JUMP: Final = 60.0
"""Seconds by which the wall clock may part from the monotonic one between two looks."""
GRACE: Final = 3600.0
"""Seconds for which the clock has to be steady, after a jump and after the start, before anything is deleted by it."""
log = logging.getLogger("askone.server")


@final
class SteadyClock:
    """The wall clock, watched by the monotonic one, which nobody can set.

    What has expired is refused at once in any case; a clock that somebody sets right again has then deleted nothing.

    >>> wall, steady = iter([0.0, 3600.0, 8.6e6, 3720.0, 7320.0]), iter([0.0, 3600.0, 3660.0, 3720.0, 7320.0])
    >>> clock = SteadyClock(wall.__next__, steady.__next__)
    >>> [clock.now() for _ in range(4)]
    [3600.0, None, None, 7320.0]
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._since = monotonic()
        self._apart = wall() - self._since

    def now(self) -> float | None:
        """Return the time, or None within the grace time."""
        wall, steady = self._wall(), self._monotonic()
        jump = wall - steady - self._apart
        if abs(jump) > JUMP:
            log.warning("the clock jumped by %.0f s: nothing that has expired is deleted for %.0f s", jump, GRACE)
            self._since = steady
        self._apart = wall - steady
        return wall if steady - self._since >= GRACE else None
