"""HTTP connections that do not wait for ever: heads of requests that trickle in are cut off."""

from __future__ import annotations

import asyncio
from typing import Any, final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024
"""Bytes that the head of a request may have."""


@final
class HeaderTimeoutProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a time and a size for the heads of requests; bodies have theirs in ``rate_limits``.

    A head must be whole ``header_seconds`` after the connection or its first byte.
    """

    def __init__(self, *parts: Any, header_seconds: float, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._header_seconds = header_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection must say something soon."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Bytes of a head count."""
        if not self._in_body:
            self._head_bytes += len(data)
            self._start_timer()
        super().data_received(data)
        if not self._in_body and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_body, self._head_bytes = True, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head may come."""
        self._in_body = False
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self._header_seconds, self._abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abort(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
