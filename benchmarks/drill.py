"""Connections that mean no good, while people answer: `make bench-drill`.

    python benchmarks/drill.py [--quick] [--only KIND] [--bad 2000] [--people 20] [--seconds 30] [--rate 40]

A real `askone serve` on this machine may open 1,024 files.  For each kind of bad connection, 2,000 are held open from
200 loopback addresses, ten each, so that no limit of an address helps; one that is ended comes again after
fifteen seconds.  When all have come, 20 people come, too, and answer at times fixed beforehand: the latency of an
answer is from when it was due until the next question has come.  Bad connections are a process of their own.  It ends
with an error if the p95 of the people is 200 ms or more, if somebody got no answer, or if the log is not what was
acknowledged.  Writes docs/drill.md.  All people together give ``--rate`` answers a second, for ``--seconds`` with each
kind; ``--quick`` is a look whether it works, and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from drill_crowd import AGAIN, KINDS, allow_files
from page import HERE, arguments, grid, machine
from server_load import Person, Place, Record, load
from server_places import checked, faults, make, memory, prices, serving

PAGE = HERE.parent / "docs" / "drill.md"
BAR = 200.0
"""Milliseconds that the p95 of the people has to stay under."""
FILES = 1024


# -- bad connections, in a process of their own ----------------------------------------------------------


@contextmanager
def attacked(kind: str, port: int, count: int) -> Iterator[dict[str, Any]]:
    """Bad connections of a kind until the end of the block; then how they fared."""
    command = [sys.executable, str(HERE / "drill_crowd.py"), kind, str(port), str(count)]
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


def main(given: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(given)
    allow_files()
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
    parser = arguments(__doc__, quick=False, bad=2000, people=20, seconds=30.0, rate=40.0, rows=20_000)
    parser.add_argument("--only", choices=list(KINDS), help="one kind; writes nothing")
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
