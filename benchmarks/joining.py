"""A thousand people who join within ten seconds: `make bench-joining`.

    python benchmarks/joining.py [--quick] [--people 1000] [--seconds 10]

A link is read out to a full hall, or sent to a panel: everybody takes up the same invitation at a `askone serve` on
this machine, on a new connection, looks at what they are invited to, joins, reads the brief and asks for a question,
as the pages do.  Once all come from one address, as from a hall, once from 250.  A wait is from the first request of
somebody until they have a question.  It ends with an error if somebody has none, or if anybody waited for more
than five seconds.  Writes its part of docs/benchmarks.md; ``--quick`` is thirty people, for a look whether it works,
and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from drill_crowd import allow_files
from page import arguments, grid, keep, machine, taken_with
from server_places import make, memory, prices, serving

from askone.server.security.tokens import digest
from askone.store.open import open_store

LONGEST = 5.0
"""Seconds that nobody should wait for longer than."""
ADDRESSES = {"one": 1, "250": 250}
_API = "/api/v1"


@dataclass
class Found:
    """Seconds that each waited, what other statuses there were, and whose question it was."""

    waits: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    questions: Counter[int] = field(default_factory=Counter)


class Guest:
    """Somebody with a link, on a connection of their own."""

    def __init__(self, port: int, address: str, found: Found) -> None:
        self._port, self._address, self._found = port, address, found
        self._headers = f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"

    async def come(self, at: float, invitation: str, campaign: str) -> None:
        await asyncio.sleep(max(0.0, at - time.perf_counter()))
        begun, where = time.perf_counter(), f"{_API}/campaigns/{campaign}"
        link = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(self._address, 0))
        try:
            await self._ask(link, "GET", f"{_API}/me")
            await self._ask(link, "POST", f"{_API}/invited", {"invitation": invitation})
            head, me = await self._ask(link, "POST", f"{_API}/join", {"invitation": invitation})
            cookie = re.search(r"(?im)^set-cookie: ([^;]+)", head)
            assert cookie is not None, head
            self._headers += f"Cookie: {cookie[1]}\r\nX-CSRF-Token: {me['csrf']}\r\n"
            self._headers += f"Origin: http://127.0.0.1:{self._port}\r\n"
            await self._ask(link, "GET", f"{where}/brief")
            _, serving = await self._ask(link, "POST", f"{where}/next", {})
            self._found.questions[serving["question"]["number"]] += 1
            self._found.waits.append(time.perf_counter() - begun)
        finally:
            link[1].close()

    async def _ask(self, link: Any, method: str, path: str, body: Any = None) -> tuple[str, Any]:
        """One request; told to come again, it does."""
        reader, writer = link
        while True:
            text = b"" if body is None else json.dumps(body).encode()
            writer.write(
                f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(text)}\r\n\r\n".encode() + text
            )
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            status, length = int(head[9:12]), re.search(r"(?im)^content-length: (\d+)", head)
            said = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            if status == 200:
                return head, said
            self._found.problems[f"{status} {said['error']['code']}"] += 1
            if status not in (429, 503):
                raise RuntimeError(f"{method} {path}: {said}")
            await asyncio.sleep(0.2)


async def _crowd(port: int, campaign: str, secret: str, addresses: int, chosen: argparse.Namespace) -> Found:
    found, chance = Found(), np.random.default_rng(0)
    begun = time.perf_counter() + 0.5
    await asyncio.gather(*(
        Guest(port, f"127.0.1.{1 + n % addresses}", found).come(begun + at, secret, campaign)
        for n, at in enumerate(chosen.seconds * chance.random(chosen.people))
    ))  # fmt: skip
    return found


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(__doc__, quick=False, people=1000, seconds=10.0).parse_args(given)
    allow_files()
    if chosen.quick:
        chosen.people, chosen.seconds = 30, 1.0
    results, wrong = {}, []
    for name, addresses in ADDRESSES.items():
        found, used = _measured(addresses, chosen)
        results[name] = {"waits": np.percentile(found.waits, (50, 95, 100)).tolist(), "memory_mib": used,
                         "people": len(found.waits), "problems": dict(found.problems)}  # fmt: skip
        wrong += [f"{name}: {count} people have one question" for count in found.questions.values() if count > 1]
        if max(found.waits) > LONGEST and not chosen.quick:  # how fast a quick look is says nothing
            wrong.append(f"{name}: somebody waited for {max(found.waits):.1f} s")
    table = grid(HEAD, [_row(name, one) for name, one in results.items()])
    print(f"{TITLE}\n\n{table}\n" + "\n".join(wrong))
    if not chosen.quick:
        of = machine()
        keep("joining", {"machine": of, "results": results}, _section(of, table, chosen))
    return 1 if wrong else 0


def _measured(addresses: int, chosen: argparse.Namespace) -> tuple[Found, float]:
    with tempfile.TemporaryDirectory(prefix="askone-joining-") as name:
        folder, secret = Path(name), secrets.token_urlsafe(24)
        task, url = prices(folder, max(200, 5 * chosen.people)), str(folder / "joining.db")
        make(url, task, 1)
        with closing(open_store(url)) as store:
            store.accounts.add_invitation("hall", digest(secret), task.name, time.time() + 3600, chosen.people, "")
        with serving(url, folder) as server:
            time.sleep(1.0 if chosen.quick else 5.0)  # a server is ready before all of it is loaded
            found = asyncio.run(_crowd(server.port, task.name, secret, addresses, chosen))
            return found, memory([server.pid], "VmHWM")


TITLE = "## People who join at once"
HEAD = ("addresses", "people", "p50 s", "p95", "longest", "told to come again", "server MiB")


def _row(name: str, one: dict[str, Any]) -> tuple[Any, ...]:
    return (name, one["people"], *one["waits"], sum(one["problems"].values()), one["memory_mib"])


def _section(of: dict[str, Any], table: str, chosen: argparse.Namespace) -> str:
    return f"""{TITLE}

Written by `make bench-joining` (`benchmarks/joining.py`): {taken_with(of)}.

{chosen.people:,} people with one link come within {chosen.seconds:g} seconds, each at a moment by lot and on a new
connection, to `askone serve` on SQLite, which shares the processors with them. From the first request until the
first question, in seconds: who one is, the invitation, joining (an account, a membership and a session, which are
durable), the brief, the question. All from one address, and from 250. The bar is {LONGEST:g} seconds for everybody.

{table}"""


if __name__ == "__main__":
    sys.exit(main())
