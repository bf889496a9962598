"""HTTP connections that do not wait for ever, and of which there are not too many.

uvicorn itself closes a connection that is silent between two requests.  Here whatever else a connection waits for has a
time: the head of a request, the rest of its body, somebody who reads the answer.  Where there are as many as allowed,
the one that was silent longest makes room: whoever comes anew is let in.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections import OrderedDict
from typing import Any, Final, final

import httptools
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from askone.server.config import ServerConfig
from askone.server.security.rate_limits import network_of

if sys.platform != "win32":
    import resource

MAX_HEAD_BYTES = 64 * 1024
"""Bytes that the head of a request may have."""
MAX_HEADERS = 200
"""Headers of a request: each takes some two hundred bytes here, however short it is."""
MIN_READ_BYTES = 16 * 1024
"""Bytes of an answer that have to be read within ``write_seconds``."""
_TICK: Final = 0.5  # seconds between two looks at the clocks of all connections


def allow_files(connections: int) -> int:
    """Let this process open a third more files than connections if it may; return how many connections fit."""
    if sys.platform == "win32":
        return connections
    wanted = connections * 4 // 3 + 1
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    return connections if soft == resource.RLIM_INFINITY else min(connections, soft * 3 // 4)


@final
class Connections:
    """The connections of a process, for uvicorn to make them: how long each may wait, and how many there may be.

    One too many, of an address or in all, takes the place of the one that was silent longest; requests that are
    whole and being answered are left alone.  Proxies that are trusted may have as many as there are.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.header_seconds, self.write_seconds = config.header_seconds, config.write_seconds
        # Routes have clocks of their own for bodies, with an answer that says so: those should come first.
        self.body_seconds = max(config.body_seconds, config.upload_seconds) + config.header_seconds
        self.most, self._per_address = config.connections, config.connections_per_address
        self._proxies = list(config.trusted_proxies)
        self._all: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._by_address: dict[str, OrderedDict[LimitedProtocol, None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, **named: Any) -> LimitedProtocol:
        """Return the protocol of a new connection."""
        return LimitedProtocol(self, **named)

    def __len__(self) -> int:
        return len(self._all)

    def add(self, one: LimitedProtocol) -> bool:
        """Take a connection in; return whether there was room, or room was made."""
        own = self._by_address.get(one.address, OrderedDict())
        crowded = len(own) >= self._per_address and not self._trusted(one)
        if (crowded or len(self._all) >= self.most) and not self._make_room(own if crowded else self._all):
            return False
        self._all[one] = self._by_address.setdefault(one.address, OrderedDict())[one] = None
        if self._timer is None:
            self._timer = one.loop.call_later(_TICK, self._look, one.loop)
        return True

    def seen(self, one: LimitedProtocol) -> None:
        """Note that a connection is of use: all others make room before it."""
        if one in self._all:
            self._all.move_to_end(one)
            self._by_address[one.address].move_to_end(one)

    def remove(self, one: LimitedProtocol) -> None:
        """Forget a connection that is gone."""
        if one in self._all:
            del self._all[one], self._by_address[one.address][one]
            if not self._by_address[one.address]:
                del self._by_address[one.address]

    def _trusted(self, one: LimitedProtocol) -> bool:
        # uvicorn's own rule, for names, addresses and networks; made when it is needed, since it cannot go to
        # another process.
        trusted = ProxyHeadersMiddleware(service_unavailable, self._proxies).trusted_hosts
        return one.client is not None and one.client[0] in trusted

    def _make_room(self, group: OrderedDict[LimitedProtocol, None]) -> bool:
        silent = next((one for one in group if not one.working), None)
        if silent is None:
            return False
        self.remove(silent)
        silent.transport.abort()
        return True

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for one in list(self._all):
            one.check_clock(now)
        self._timer = loop.call_later(_TICK, self._look, loop) if self._all else None


@final
class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a clock that always runs, unless the server is at work."""

    def __init__(self, connections: Connections, **named: Any) -> None:
        super().__init__(**named)
        self.address = ""
        self._connections, self._deadline = connections, math.inf
        self._head_bytes = self._beside = self._unread = 0
        self._in_body = self._deaf = False

    @property
    def working(self) -> bool:
        """Whether the server works on a whole request, and what it writes is read."""
        waits = self.cycle is None or self.cycle.response_complete or self._in_body or self.flow.write_paused
        return not waits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a connection in, which must say something soon."""
        super().connection_made(transport)
        self.address = network_of(self.client[0] if self.client else "")
        self._set_clock()
        if not self._connections.add(self):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Count bytes of a head."""
        if self._deaf:
            return
        if self._in_body and not self.cycle.response_complete:
            self._connections.seen(self)  # a file on its way; letters of a head are of no use by themselves
        if self._in_body:
            self._beside += len(data)
        else:
            begins = not self._head_bytes
            self._head_bytes += len(data)
            if begins:
                self._set_clock()
        super().data_received(data)
        if (self._beside if self._in_body else self._head_bytes) > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those that come after a body are of no use to anybody."""
        if self._in_body:
            return
        if len(self.headers) >= MAX_HEADERS:
            raise httptools.HttpParserError("too many headers")
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Something of the body came: what is sent beside, in chunks and after the last one, may not go on for long."""
        self._beside = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head is whole: the body must be, in time."""
        if self.pipeline:
            # One may wait behind the one that is being answered, for the answer may be whole before its end is known.
            # The rest is dropped and the connection closed: who sends more has to expect that (RFC 9112, 9.3.2).
            self.cycle.keep_alive, self._deaf = False, True
            raise httptools.HttpParserError("too many requests at once")  # makes the parser stop
        self._in_body, self._head_bytes, self._beside = True, 0, 0
        super().on_headers_complete()
        self._set_clock()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; what comes after the last request that is taken is not answered at all."""
        if not self._deaf:
            super().send_400_response(msg)

    def on_message_complete(self) -> None:
        """The request is whole: it is the server's turn, or another request may come."""
        self._in_body = False
        super().on_message_complete()
        self._set_clock()

    def on_response_complete(self) -> None:
        """The answer is written: what is left of the body has little time, for nobody wants it."""
        super().on_response_complete()
        self._connections.seen(self)
        self._set_clock()

    def pause_writing(self) -> None:
        """Somebody does not read what they asked for."""
        super().pause_writing()
        self._set_clock()

    def resume_writing(self) -> None:
        """They do."""
        super().resume_writing()
        self._connections.seen(self)
        self._set_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def check_clock(self, now: float) -> None:
        """End a connection whose time is over, unless somebody reads, if slowly."""
        if self._deadline == math.inf and self.transport.is_closing():
            self._set_clock()  # closed by an error in the middle of an answer: the rest of it must be read as well
        if now < self._deadline:
            return
        unread = self.transport.get_write_buffer_size()
        read_slowly = 0 < unread <= self._unread - MIN_READ_BYTES
        if not read_slowly and (unread or self.transport.is_closing()):
            self.transport.abort()  # to close would wait until all is read
        elif not unread:
            self.transport.close()
        self._unread, self._deadline = unread, now + self._connections.write_seconds

    def _set_clock(self) -> None:
        """Set the time for what the connection waits for now."""
        limits = self._connections
        if self.flow.write_paused or self.transport.is_closing():
            seconds = limits.write_seconds
        elif self.working:
            seconds = math.inf
        elif self._in_body:
            seconds = limits.header_seconds if self.cycle.response_complete else limits.body_seconds
        else:
            idle = self.cycle is not None and not self._head_bytes
            seconds = self.timeout_keep_alive if idle else limits.header_seconds
        self._unread = self.transport.get_write_buffer_size()
        self._deadline = self.loop.time() + seconds
