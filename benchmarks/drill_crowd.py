"""Connections that keep a server waiting, in a process of their own, which loads nothing that it can do without.

    python benchmarks/drill_crowd.py KIND PORT COUNT

They stay until the input is closed; then a line of JSON says how they fared.
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
import time
from statistics import median

AGAIN, BEAT = 15.0, 1.0
_HOST = b"HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_LIVE, _LOGIN = b"GET /health/live " + _HOST, b"POST /api/v1/login " + _HOST
_NEXT, _STYLE = b"POST /api/v1/campaigns/prices/next " + _HOST, b"GET /static/shared/style.css " + _HOST + b"\r\n"
# What each kind sends at first, once it is answered, and every second.
KINDS = {
    "idle body after 200": (_LIVE + b"Content-Length: 9\r\n\r\n", b"a", b""),
    "idle body after 401": (_NEXT + b"Content-Length: 9\r\n\r\n", b"a", b""),
    "idle body after 413": (_LOGIN + b"Content-Length: 999999999\r\n\r\n", b"a", b""),
    "stalled chunked body": (_LOGIN + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", b"", b""),
    "answers never read": (_STYLE * 2, b"", b"\r\n"),
    "slow heads": (_LIVE + b"X-Slow: ", b"", b"a"),
    "idle between requests": (_LIVE + b"\r\n", b"", b""),
}


class Bad(asyncio.Protocol):
    """One that keeps a server waiting."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd, self.begun, self.answered = crowd, time.monotonic(), False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self.crowd.first)
        if self.crowd.deaf:
            transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        if not self.answered:
            self.answered = True
            self.transport.write(self.crowd.then)

    def connection_lost(self, error: Exception | None) -> None:
        self.crowd.ended(self)


class Crowd:
    """So many of a kind, over and over."""

    def __init__(self, kind: str, port: int, count: int) -> None:
        self.first, self.then, self.beat = KINDS[kind]
        self.deaf = kind == "answers never read"
        self.port, self.count = port, count
        self.open: set[Bad] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.opened = self.refused = self.most = 0
        self.held: list[float] = []

    def come(self, number: int) -> None:
        task = asyncio.get_running_loop().create_task(self._come(number))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _come(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        link = socket.socket()
        link.setblocking(False)
        if self.deaf:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            link.bind((f"127.0.1.{1 + number % 200}", 0))
            await asyncio.wait_for(loop.sock_connect(link, ("127.0.0.1", self.port)), 10)
            _, made = await loop.create_connection(lambda: Bad(self), sock=link)
        except OSError:
            link.close()
            self.refused += 1
            loop.call_later(AGAIN, self.come, number)
            return
        made.number = number  # type: ignore[attr-defined]
        self.opened += 1
        self.open.add(made)
        self.most = max(self.most, len(self.open))

    def ended(self, one: Bad) -> None:
        if one in self.open:
            self.open.discard(one)
            self.held.append(time.monotonic() - one.begun)
            asyncio.get_running_loop().call_later(AGAIN, self.come, one.number)  # type: ignore[attr-defined]

    async def stay(self) -> None:
        """Until whoever started this process closes its input."""
        loop = asyncio.get_running_loop()
        for number in range(self.count):
            self.come(number)
            await asyncio.sleep(0.005)
        print("all came", flush=True)
        over = loop.run_in_executor(None, sys.stdin.read)
        while not over.done():
            await asyncio.sleep(BEAT)
            for one in list(self.open) if self.beat else ():
                one.transport.write(self.beat)
        left = len(self.open)
        print(json.dumps({"opened": self.opened, "refused": self.refused, "most": self.most, "left": left,
                          "ended": len(self.held), "held": median(self.held) if self.held else None}))  # fmt: skip


def allow_files() -> None:
    """Let this process open as many files as a drill may take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard if 0 <= hard < 8192 else 8192), hard))


if __name__ == "__main__":
    allow_files()
    asyncio.run(Crowd(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).stay())
