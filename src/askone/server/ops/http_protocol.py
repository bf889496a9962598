"""HTTP connections that do not wait for ever: heads of requests that trickle in are cut off."""

from __future__ import annotations

import asyncio
from typing import Any, final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PATIENCE = 15.0
"""Seconds until the head of a request must be whole, from the connection or its first byte on."""
MOST = 64 * 1024
"""Bytes that the head of a request may have."""


@final
class Impatient(HttpToolsProtocol):
    """uvicorn's protocol with a time and a size for the heads of requests; bodies have theirs in ``limits``."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._clock: asyncio.TimerHandle | None = None
        self._head = 0
        self._within = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection must say something soon."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Bytes of a head count."""
        if not self._within:
            self._head += len(data)
            self._start()
        super().data_received(data)
        if not self._within and self._head > MOST:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._within, self._head = True, 0
        self._stop()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head may come."""
        self._within = False
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(PATIENCE, self._end)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _end(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
