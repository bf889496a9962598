"""Load on a server, over loopback only, bounded in time.

    python benchmarks/server.py [--quick] [--only sqlite,postgresql,large,start] [--seconds 60] [--flat 30] [--rate 300]

`askone serve` runs as a process of its own on a fresh database, with durable commits; 64 people with tokens answer.
It has been up for five seconds; after five more at 60 answers a second, 300 answers a second are offered for a minute,
at times fixed beforehand: the latency of an answer is from when it was due until the next question has come.  Then all
answer flat out for half a minute.  After each load the log is checked: no row is served twice, no answer is there
twice, none that was acknowledged is lost, and a fresh fold of the log gives the model's state bit for bit.  Where other
machines share the processors, what they took meanwhile is said.  Then a million rows (``--million``).  Writes
results/server.json and docs/benchmarks-server.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from page import HERE, arguments, grid, machine
from server_load import Person, Place, Record, load
from server_places import (
    Server,
    Task,
    checked,
    classes,
    command,
    cpu_seconds,
    family,
    faults,
    make,
    memory,
    people_of,
    postgres,
    prices,
    serving,
    stolen_seconds,
)  # fmt: skip

PAGE = HERE.parent / "docs" / "benchmarks-server.md"
PARTS = ("sqlite", "postgresql", "large", "start")
TASKS = {"prices": prices, "classes": classes}


def main(given: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(given)
    if chosen.quick:
        chosen.rows, chosen.million, chosen.seconds, chosen.flat, chosen.rate, chosen.people = 2_000, 5_000, 1, 1, 40, 8
    parts, campaigns = _chosen(chosen.only, PARTS, chosen.quick), _chosen(chosen.campaigns, TASKS, chosen.quick)
    results: dict[str, Any] = {"machine": machine(), "loads": [], "large": None, "start": None}
    results["setting"] = {name: vars(chosen)[name] for name in ("rows", "million", "seconds", "flat", "rate", "people")}
    with tempfile.TemporaryDirectory(prefix="askone-bench-") as folder:
        for name in ("sqlite", "postgresql"):
            for task in [TASKS[one] for one in campaigns] if name in parts else ():
                results["loads"].append(_load(name, task(Path(folder), chosen.rows), chosen, Path(folder)))
        if "large" in parts:
            results["large"] = _large(prices(Path(folder), chosen.million), Path(folder))
        if "start" in parts:
            results["start"] = _start(prices(Path(folder), chosen.rows), Path(folder), 2 if chosen.quick else 7)
    wrong = [fault for one in results["loads"] for fault in one["faults"]]
    keeps = not chosen.quick or chosen.out
    wrong += _keep(results, Path(chosen.out) if chosen.out else None) if keeps else _odd(results)
    print("\n".join(wrong) or "No fault was found.")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    numbers = {"rows": 100_000, "million": 1_000_000, "seconds": 60.0, "flat": 30.0, "rate": 300.0, "people": 64}
    parser = arguments(__doc__, quick=False, **numbers)
    parser.add_argument("--only", help=f"some of {', '.join(PARTS)} (default: all; --quick: the first)")
    parser.add_argument("--campaigns", help=f"some of {', '.join(TASKS)} (default: all; --quick: the first)")
    parser.add_argument("--out", default=None, help="directory for server.json and the page, instead of their places")
    return parser


def unmeasured(found: Any, name: str = "") -> Iterator[str]:
    """Yield the names of figures that are no numbers: what was to be measured did not happen.

    >>> list(unmeasured({"large": {"latency_ms": float("nan"), "started": 1.0}}))
    ['large latency_ms']
    """
    if isinstance(found, float) and not np.isfinite(found):
        yield name
    each = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, one in each:
        yield from unmeasured(one, f"{name} {key}".strip())


def _odd(results: dict[str, Any]) -> list[str]:
    return [f"{name}: not a number, so nothing is written" for name in unmeasured(results)]


def _chosen(given: str | None, every: Iterable[str], quick: bool) -> list[str]:
    """What was named; else all, or the first for a quick look."""
    return list(every)[: 1 if quick else None] if given is None else given.split(",")


# -- loads ----------------------------------------------------------------------------------------------


def _load(database: str, task: Task, chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One campaign in one database: at a rate, flat out, and the checks."""
    processes = 2 if database == "postgresql" else 1
    with ExitStack() as stack:
        url, backend = str(folder / f"{task.name}.db"), None
        if database == "postgresql":
            url, backend = stack.enter_context(postgres())
        made, people = make(url, task, chosen.people)
        result: dict[str, Any] = {"database": database, "processes": processes, "campaign": task.name, "made": made}
        print(f"{database}, {processes} process(es), {task.name}: {chosen.rows} rows made in {made:.1f} s", flush=True)
        served: dict[int, str] = {}
        loads = []
        with serving(url, folder, processes) as server:
            time.sleep(min(5.0, chosen.seconds))  # a server is ready before all of it is loaded
            # No campaign begins with a rush: its first answers, while all filters are in, come at a walk.
            walk = ("warm", min(5.0, chosen.seconds), min(60.0, chosen.rate))
            plan = (walk, ("rate", chosen.seconds, chosen.rate), ("flat", chosen.flat, None))
            for name, seconds, rate in plan:
                record = Record(served=served)
                place = Place(task.name, server.port, name)
                result[name] = _measured(server, backend, people, place, task, record, seconds, rate)
                loads.append(record)
                print("  " + _said(name, result[name]), flush=True)
            result["memory_mib"] = memory(family(server.pid))
        result["checks"] = checked(url, task.name, loads)
    result["faults"] = [f"{database} {task.name}: {fault}" for fault in faults(result["checks"])]
    print(f"  checks: {result['checks']}", flush=True)
    return result


def _measured(
    server: Server,
    backend: int | None,
    people: Sequence[tuple[str, str]],
    place: Place,
    task: Task,
    record: Record,
    seconds: float,
    rate: float | None,
) -> dict[str, Any]:
    everybody = [Person(name, token, place, task.decide, record) for name, token in people]

    used: list[tuple[float, float, float]] = []

    def look() -> None:
        stored = 0.0 if backend is None else cpu_seconds(family(backend))
        used.append((cpu_seconds(family(server.pid)), stored, stolen_seconds()))

    asyncio.run(load(everybody, seconds, rate, look))
    look()
    answers, times = len(record.latencies), np.array(record.measured(f"{place.campaign}, {place.load}")) * 1000
    return {
        "offered": rate,
        "answers": answers,
        "seconds": record.seconds,
        "per_second": answers / record.seconds,
        "latency_ms": {name: float(np.percentile(times, q)) for name, q in _PERCENTS.items()},
        "unsent": record.unsent,
        "problems": dict(record.problems),
        "without_question": dict(record.empty),
        "server_cpu_ms": 1000 * (used[1][0] - used[0][0]) / max(answers, 1),
        "database_cpu_ms": 1000 * (used[1][1] - used[0][1]) / max(answers, 1),
        "stolen": (used[1][2] - used[0][2]) / record.seconds,
        "generator_cpu_ms": 1000 * record.generator_cpu / max(answers, 1),
    }


_PERCENTS = {"p50": 50, "p95": 95, "p99": 99, "max": 100}


def _said(name: str, found: dict[str, Any]) -> str:
    times = ", ".join(f"{key} {value:.1f}" for key, value in found["latency_ms"].items())
    return (
        f"{name}: {found['per_second']:.0f} answers/s, latency in ms {times}; errors {found['problems'] or 0}; unsent "
        f"{found['unsent']}; CPU ms per answer: server {found['server_cpu_ms']:.2f}, database "
        f"{found['database_cpu_ms']:.2f}, generator {found['generator_cpu_ms']:.2f}; others took {found['stolen']:.2f} "
        "of a processor"
    )


# -- a large campaign -----------------------------------------------------------------------------------


def _large(task: Task, folder: Path) -> dict[str, Any]:
    """A campaign of very many rows: made, opened, asked, exported, by the commands that people use."""
    url = str(folder / "large.db")
    labels = ("--kind", "number", "--low", "0", "--high", "1000", "--unit", "EUR", "--name", "large")
    labels += ("--key", "row", "--show", "row")  # people go by what they see, and a key alone they would not
    result: dict[str, Any] = {"made": command("new", str(task.file), *labels, "--store", url)}
    print(f"large: made {result['made']}", flush=True)
    store_people = people_of(url, "large", 4)
    with serving(url, folder) as server:
        result["started"] = server.started
        result["memory_start_mib"] = memory([server.pid])
        place = Place("large", server.port, "first")
        for name, one in zip(("first_question", "next_question"), store_people, strict=False):
            result[name] = asyncio.run(_first(Person(*one, place, task.decide, Record())))
        record = Record()
        everybody = [Person(*one, Place("large", server.port, "rate"), task.decide, record) for one in store_people]
        asyncio.run(load(everybody, 5.0, 40.0))
        result["latency_ms"] = float(np.median(record.measured("large"))) * 1000
        result["memory_mib"], result["peak_mib"] = memory([server.pid]), memory([server.pid], "VmHWM")
    for what in ("answers", "predictions"):
        result[what] = command("export", "large", "--what", what, "--out", str(folder / f"{what}.csv"), "--store", url)
    print(f"large: {result}", flush=True)
    return result


async def _first(person: Person) -> float:
    """Seconds until somebody has a question."""
    begin = time.perf_counter()
    await person.connect()
    person.ask()
    while person.waiting:
        await asyncio.sleep(0.001)
    person.close()
    return time.perf_counter() - begin


# -- starting -------------------------------------------------------------------------------------------


def _start(task: Task, folder: Path, times: int) -> list[dict[str, Any]]:
    """Commands that do little, and the server until it is ready: the best of several, since starting varies little."""
    empty, full = str(folder / "empty.db"), str(folder / "start.db")
    make(full, task, 1)
    found = []
    for words in (("--version",), ("--help",), ("users", "list", "--store", full), ("status", "--store", full)):
        taken = [command(*words) for _ in range(times)]
        line = {name: min(one[name] for one in taken) for name in ("seconds", "cpu", "peak_mib")}
        found.append({"what": f"`askone {' '.join(words).partition(' --store')[0]}`", **line})
    for url, what in ((empty, "no campaign"), (full, "a campaign")):
        found.append({"what": f"`askone serve` until it is ready, with {what}", **_readied(url, folder, times)})
    for line in found:
        print(f"start: {line}", flush=True)
    return found


def _readied(url: str, folder: Path, times: int) -> dict[str, float]:
    found = []
    for _ in range(times + 1):  # what is compiled when it is first used is there from the second time on
        with serving(url, folder) as server:
            found.append((server.started, server.cpu, memory([server.pid])))
    seconds, cpu, peak = (min(one) for one in zip(*found[1:], strict=True))
    return {"seconds": seconds, "cpu": cpu, "peak_mib": peak}


# -- the page -------------------------------------------------------------------------------------------


def _keep(results: dict[str, Any], out: Path | None) -> list[str]:
    """Write figures and page, unless some are no numbers; return which."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    kept = HERE / "results" / "server.json" if out is None else out / "server.json"
    page = PAGE if out is None else out / PAGE.name
    if kept.exists():  # parts that were left out stay as they were
        before = json.loads(kept.read_text())
        results |= {part: before.get(part) for part in ("loads", "large", "start") if not results[part]}
        results["setting"] = before["setting"] if results["loads"] is before["loads"] else results["setting"]
    if odd := _odd(results):
        return odd
    kept.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
    page.write_text(written(results))
    print(f"written: {kept}, {page}")
    return []


def written(results: dict[str, Any]) -> str:
    """The page."""
    setting, taken = results["setting"], results["machine"]
    return _PAGE.format(
        **setting,
        taken=f"{taken['date']}, {taken['cpu']} ({taken['cores']} cores, shared by server, database and load), "
        f"Python {taken['python']}, askone {taken['askone']}",
        loads=_loads(results["loads"]),
        checks=_checks(results["loads"]),
        large=_large_table(results["large"], setting["million"]),
        start=_start_table(results.get("start")),
    )


def _loads(loads: Sequence[dict[str, Any]]) -> str:
    head = ("database", "campaign", "load", "answers/s", "p50", "p95", "p99", "max", "errors", "CPU ms: server")
    head += ("database", "load", "others")
    rows = []
    for one in loads:
        for name, shown in (("rate", "offered"), ("flat", "flat out")):
            found = one[name]
            load = f"{shown} {found['offered']:g}/s" if found["offered"] else shown
            cpu = (
                found["server_cpu_ms"],
                found["database_cpu_ms"] or None,
                found["generator_cpu_ms"],
                found.get("stolen"),
            )
            errors = sum(found["problems"].values()) + found["unsent"]
            rows.append(
                (_place(one), one["campaign"], load, found["per_second"], *found["latency_ms"].values(), errors, *cpu)
            )
    return grid(head, rows) if rows else "Not measured."


def _checks(loads: Sequence[dict[str, Any]]) -> str:
    head = ("database", "campaign", "acknowledged", "lost", "duplicates", "rows twice", "hash chain", "replay")
    rows = []
    for one in loads:
        found = one["checks"]
        twice = found["rows_asked_twice"] + found["rows_served_twice"] + found["questions_answered_twice"]
        chain, replay = (("right" if found[name] else "WRONG") for name in ("chain_valid", "replay_same"))
        counts = (found[name] for name in ("acknowledged", "lost", "duplicates"))
        rows.append((_place(one), one["campaign"], *counts, twice, chain, replay))
    return grid(head, rows) if rows else "Not measured."


def _place(one: dict[str, Any]) -> str:
    return "SQLite" if one["database"] == "sqlite" else f"PostgreSQL, {one['processes']} servers"


def _large_table(found: dict[str, Any] | None, rows: int) -> str:
    if found is None:
        return "Not measured."
    lines: list[tuple[Any, ...]] = [
        (f"`askone new` from a CSV file of {rows:,} rows", found["made"]["seconds"], found["made"]["peak_mib"]),
        ("`askone serve` until it is ready", found["started"], found["memory_start_mib"]),
        ("the first question, which opens the campaign", found["first_question"], found["peak_mib"]),
        ("the first question of the next person", found["next_question"], None),
        ("an answer and the next question (median)", _seconds(found["latency_ms"]), found["memory_mib"]),
        ("`askone export --what answers`", found["answers"]["seconds"], found["answers"]["peak_mib"]),
        ("`askone export --what predictions`", found["predictions"]["seconds"], found["predictions"]["peak_mib"]),
    ]
    return grid(("what", "seconds", "MiB"), lines)


def _seconds(milliseconds: float | None) -> float | None:
    """None: it was not measured."""
    return None if milliseconds is None else milliseconds / 1000


def _start_table(found: Sequence[dict[str, Any]] | None) -> str:
    lines = [(one["what"], one["seconds"], one["cpu"], one["peak_mib"]) for one in found or ()]
    return grid(("what", "seconds", "CPU seconds", "MiB"), lines) if lines else "Not measured."


_PAGE = """# The server under load

Written by `make bench-server` (`benchmarks/server.py`): {taken}.

`askone serve` on a database with durable commits, over loopback; {people} people with tokens in a campaign of {rows:,}
rows. The server has been up for five seconds. After five more at 60 answers a second (no campaign begins with a rush;
the first hundred answers cost most),
{rate:g} answers a second are offered for {seconds:g} seconds, at times fixed beforehand: the latency, in
milliseconds, is from when an answer was due until the next question has come. Then all of them answer as fast as they
can for {flat:g} seconds. *CPU ms* is the time on processors for one answer: of the server, of the database and of the
load itself; *others* is how many processors other virtual machines had meanwhile, of the two that are wanted.

{loads}

After each load the log is read: whatever was acknowledged is in it, once; no row went to two people; the hash chain is
right; and a model that learns from the log anew is, bit for bit, the one that the server had.

{checks}

A large campaign of numbers, by the commands that people use; memory is what the process holds, or held at most.

{large}

From the start of a process until its end, or until `/health/ready` answers: the best of several. Commands load what
they need and no more. The server is ready when what asks is loaded; what predicts is loaded after that.

{start}
"""


if __name__ == "__main__":
    sys.exit(main())
