"""Waiting for what comes soon: other threads and processes take the time that they take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

HANGS = 900.0
"""Seconds that nothing takes unless it hangs, however busy the machine is."""


def until(true: Callable[[], Any], wait: Callable[[], Any] = lambda: time.sleep(0.01)) -> Any:
    """What a function gives, once that is something."""
    end = time.monotonic() + HANGS
    while not (found := true()):
        assert time.monotonic() < end, "it never came"
        wait()
    return found


async def soon(true: Callable[[], Any]) -> None:
    """The same within an event loop, for as long as a test may take."""
    while not true():
        await asyncio.sleep(0.001)
