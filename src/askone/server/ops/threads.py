"""Threads by what is waited for: what is slow in one way never makes others wait who wait in another way.

Look-ups of people (``asyncio.to_thread``), work on files, names of hosts and the book-keeping of webhooks have threads
of their own each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, final

T = TypeVar("T")
_LOOK_UPS = 24  # each is a few statements, on one of 16 connections where there is a server


@final
class Threads:
    """So many threads for one purpose; what comes on top waits for one of them."""

    def __init__(self, purpose: str, most: int) -> None:
        self._executor = ThreadPoolExecutor(most, thread_name_prefix=purpose)

    async def run(self, call: Callable[..., T], *values: object) -> T:
        """Return what a call gives."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *values)

    async def pieces(self, chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield pieces that are made one by one."""
        while (piece := await self.run(next, chunks, None)) is not None:
            yield piece

    def close(self) -> None:
        """End the threads when they have done what they are at; what waits is not begun."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def make_room_for_look_ups() -> None:
    """Give ``asyncio.to_thread`` of this event loop as many threads as look-ups need, however few cores there are."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_LOOK_UPS, thread_name_prefix="look-up"))
