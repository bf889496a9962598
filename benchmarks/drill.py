"""Connections that mean no good, while people answer: `make bench-drill`.

    python benchmarks/drill.py [--quick] [--only KIND] [--bad 2000] [--people 20] [--seconds 30] [--rate 40]

A real `askone serve` on this machine may open 1,024 files.  For each kind of bad connection, 2,000 are held open from
200 loopback addresses, ten each, so that no limit of an address helps; one that is ended comes again after
fifteen seconds.  When all have come, 20 people come, too, and answer at times fixed beforehand: the latency of an
answer is from when it was due until the next question has come.  Bad connections are a process of their own.  It ends
with an error if the p95 of the people is 200 ms or more, if somebody got no answer, or if the log is not what was
acknowledged.  Writes docs/drill.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from page import HERE, grid, machine
from server_load import Person, Place, Record, load
from server_places import checked, faults, make, memory, prices, serving

PAGE = HERE.parent / "docs" / "drill.md"
BAR = 200.0
"""Milliseconds that the p95 of the people has to stay under."""
FILES, AGAIN, BEAT = 1024, 15.0, 1.0
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


# -- bad connections, in a process of their own ----------------------------------------------------------


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


@contextmanager
def attacked(kind: str, port: int, count: int) -> Iterator[dict[str, Any]]:
    """Bad connections of a kind until the end of the block; then how they fared."""
    command = [sys.executable, __file__, "--attack", kind, "--port", str(port), "--bad", str(count)]
    found: dict[str, Any] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "all came\n", f"{kind}: they did not come"
        yield found
        process.stdin.close()
        found |= json.loads(process.stdout.readline())


# -- people ----------------------------------------------------------------------------------------------


class Patient(Person):
    """Comes again where a connection is lost, and says again what was not answered: as the page does."""

    async def again(self) -> None:
        await self.connect()
        if self.waiting and self._transport is not None:
            self._transport.write(self._said)

    def _write(self, head: str, body: bytes) -> None:
        self._said = head.format(len(body)).encode() + body
        super()._write(head, body)

    def lost(self) -> None:
        if not self.over:
            self.record.problems["came again"] += 1
            self._coming = asyncio.get_running_loop().create_task(self.again())


def answered(people: Sequence[tuple[str, str]], place: Place, decide: Any, served: Any, chosen: Any) -> Record:
    """What people find who come now."""
    record = Record(served=served)
    return asyncio.run(load([Patient(*one, place, decide, record) for one in people], chosen.seconds, chosen.rate))


# -- the drill -------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard if 0 <= hard < 8192 else 8192), hard))
    if chosen.attack:
        asyncio.run(Crowd(chosen.attack, chosen.port, chosen.bad).stay())
        return 0
    if chosen.quick:
        chosen.bad, chosen.people, chosen.seconds, chosen.rate, chosen.rows = 40, 4, 1.0, 8.0, 500
    rows, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="askone-drill-") as name:
        folder = Path(name)
        task, url, served, loads = prices(folder, chosen.rows), str(folder / "drill.db"), {}, []
        _, people = make(url, task, chosen.people)
        with serving(url, folder, files=FILES) as server:
            time.sleep(min(5.0, chosen.seconds))  # a server is ready before all of it is loaded
            first = Place(task.name, server.port, "first")  # the first answers of a campaign cost most
            loads.append(answered(people, first, task.decide, served, chosen))
            for number, kind in enumerate(("none", chosen.only) if chosen.only else ("none", *KINDS)):
                place = Place(task.name, server.port, f"drill{number}")
                bad: dict[str, Any] = {}
                if kind == "none":
                    loads.append(answered(people, place, task.decide, served, chosen))
                else:
                    with attacked(kind, server.port, chosen.bad) as bad:
                        loads.append(answered(people, place, task.decide, served, chosen))
                rows.append(_row(kind, loads[-1], bad, memory([server.pid])))
                wrong += _wrong(kind, loads[-1], chosen)
                print(grid(HEAD, rows).splitlines()[-1], flush=True)
        wrong += faults(checked(url, task.name, loads))
    print(table := grid(HEAD, rows))
    print("\n".join(wrong) or "Everybody was served.")
    if not (chosen.quick or chosen.only):
        PAGE.write_text(_page(table, chosen))
        print(f"written: {PAGE}")
    return 1 if wrong else 0


HEAD = ("bad connections", "answers", "p50 ms", "p95", "max", "came again", "bad: opened", "refused", "open at most",
        "ended by the server", "after s", "open in the end", "server MiB")  # fmt: skip


def _row(kind: str, record: Record, bad: dict[str, Any], used: float) -> tuple[Any, ...]:
    milliseconds = (float(np.percentile(record.latencies, share)) * 1000 for share in (50, 95, 100))
    fate = (bad.get(name) for name in ("opened", "refused", "most", "ended", "held", "left"))
    return (kind, len(record.latencies), *milliseconds, record.problems["came again"], *fate, used)


def _wrong(kind: str, record: Record, chosen: argparse.Namespace) -> list[str]:
    found = [f"{kind}: {count} × {what}" for what, count in record.problems.items() if what != "came again"]
    if record.unsent:
        found.append(f"{kind}: {record.unsent} answers were not sent")
    slow = float(np.percentile(record.latencies, 95)) * 1000
    if slow >= BAR and not chosen.quick:  # how fast a quick look is says nothing
        found.append(f"{kind}: p95 is {slow:.0f} ms")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a look whether it works; writes nothing")
    parser.add_argument("--only", choices=list(KINDS), help="one kind; writes nothing")
    parser.add_argument("--bad", type=int, default=2000, help="connections of each kind")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0, help="of answering, for each kind")
    parser.add_argument("--rate", type=float, default=40.0, help="answers a second of all people together")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--attack", choices=list(KINDS), help=argparse.SUPPRESS)  # the process of the bad ones
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    return parser


def _page(table: str, chosen: argparse.Namespace) -> str:
    of = machine()
    return f"""# Connections that mean no good

Written by `make bench-drill` (`benchmarks/drill.py`): {of["date"]}, {of["cpu"]} ({of["cores"]} cores, shared by server,
people, bad connections and whatever else ran), Python {of["python"]}, askone {of["askone"]}.

`askone serve` on SQLite with durable commits may open {FILES:,} files, as most systems allow, of which it keeps a
quarter for itself. {chosen.bad:,} bad connections of each kind are held open from 200 loopback addresses (127.0.1.1 to
127.0.1.200), ten each, so that the limit of an address does not help; one that the server ends comes again after
{AGAIN:g} seconds. When all have come, {chosen.people} people come from 127.0.0.1, each on a new connection, and
answer for {chosen.seconds:g} seconds, {chosen.rate:g} answers a second together. Latencies are from when an answer was
due until the next question has come; the bar is a p95 under {BAR:g} ms. *Came again*: connections of people that made
room for others; the answer is sent again, and counts once. *After s* is how long an ended bad connection was held, the
median.

{table}

- *idle body*: a request is answered before its body has come, and the body never comes.
- *stalled chunked body*: the server waits for a body that stops within a piece.
- *answers never read*: two requests at once, as many as are taken, for 16 kB each, of which nothing is read; who does
  not read learns late that the connection is gone, and counts it as open until then.
- *slow heads*: a header that grows by a letter each second.
- *idle between requests*: an answer was read, and nothing follows.

After the drill the log is read: what was acknowledged is in it, once, no row went to two people, the hash chain is
right, and a model that learns from the log anew is, bit for bit, the one that the server had.
"""


if __name__ == "__main__":
    sys.exit(main())
