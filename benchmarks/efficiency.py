"""How many fewer questions the default estimators need than Algorithm 1.

    python benchmarks/efficiency.py                 every task and the speeds; rewrites
                                                    benchmarks/results/efficiency.json, docs/efficiency.md
                                                    and docs/figures/
    python benchmarks/efficiency.py --only sine,weather   some tasks; the others' figures stay
    python benchmarks/efficiency.py --quick         short streams, two seeds, made-up data unless --only names
                                                    others: prints and writes nothing
    python benchmarks/efficiency.py --speed         only the times per answer, and of a first use

Finished jobs are kept in benchmarks/results/efficiency/ until their sources change, so a run that was
stopped goes on where it was.  Real data: a directory named by ASKONE_DATA.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Read once, when the libraries below are loaded; workers inherit them.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

from efficiency_jobs import fingerprints, measure
from efficiency_page import page, row_of, table
from efficiency_plots import draw_digits, draw_tasks
from efficiency_speed import speeds
from efficiency_tasks import TASKS, Task
from page import HERE, arguments, machine
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from askone import datasets
from askone.errors import AskoneError
from askone.paper._plots import save_svg

STOPPED = 130
JOBS = HERE / "results" / "efficiency"


def chosen(only: str, quick: bool = False) -> list[Task]:
    """Tasks by name or by what comes before the first hyphen; without names all, or those of made-up data if quick."""
    wanted = [name for name in only.split(",") if name]
    for name in wanted:
        if not any(name in (task.name, task.group) for task in TASKS):
            raise SystemExit(f"--only: {name!r} is none of {', '.join(task.name for task in TASKS)}")
    if not wanted:
        return [task for task in TASKS if not quick or task.data is None]
    return [task for task in TASKS if task.name in wanted or task.group in wanted]


def missing(task: Task) -> str | None:
    """Why a task cannot be measured here."""
    if task.data is None:
        return None
    try:
        datasets.load(task.data)
    except (AskoneError, OSError):
        return f"not measured: data set {task.data} not found (set ASKONE_DATA)"
    return None


def run_tasks(tasks: Sequence[Task], quick: bool, jobs: int, kept: Path, console: Console) -> dict[str, Any]:
    """The rows of the table."""
    rows: dict[str, Any] = {}
    columns = (TextColumn("{task.description:20s}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for task in tasks:
            why = missing(task)
            if why is not None:
                rows[task.name] = {"title": task.title, "missing": why}
                console.print(f"{task.name}: {why}", highlight=False)
                continue
            bar = progress.add_task(task.name, total=None)

            def done(more: int, total: int, bar: Any = bar) -> None:
                progress.update(bar, advance=more, total=total)

            results, seconds = measure(task.name, quick, kept, jobs, done)
            shown = task.quick() if quick else task
            rows[task.name] = row_of(shown, results, seconds) | {"taken with": machine(), "sources": fingerprints()}
            console.print(
                table({task.name: rows[task.name]}, head=False), highlight=False, soft_wrap=True, markup=False
            )
    return rows


def write(results: dict[str, Any], out: Path | None) -> None:
    """The figures, the page and the numbers: in their places, or all below one folder."""
    docs, kept = (HERE.parent / "docs", HERE / "results") if out is None else (out / "docs", out)
    for folder in (docs / "figures", kept):
        folder.mkdir(parents=True, exist_ok=True)
    (kept / "efficiency.json").write_text(json.dumps(results, indent=1) + "\n")
    rows = {name: row for name, row in results["tasks"].items() if "curves" in row}
    if rows:
        save_svg(draw_tasks(rows), docs / "figures" / "efficiency.svg")
    if "pendigits" in rows:
        save_svg(draw_digits(rows["pendigits"]), docs / "figures" / "pendigits.svg")
    (docs / "efficiency.md").write_text(page(results))


def earlier(out: Path | None) -> dict[str, Any]:
    """What was measured before, so that a part can be measured anew."""
    path = (HERE / "results" if out is None else out) / "efficiency.json"
    return dict(json.loads(path.read_text())) if path.exists() else {"tasks": {}, "speed": None}


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print and write; 130 if stopped."""
    parser, console = arguments(__doc__, quick=False, speed=False, jobs=os.cpu_count() or 1), Console()
    parser.add_argument("--only", default="", metavar="NAMES", help="tasks, separated by commas: sine,weather")
    parser.add_argument("--out", type=Path, help="write everything below this folder (also with --quick)")
    options = parser.parse_args(given)
    results = earlier(options.out) if not options.quick or options.out else {"tasks": {}, "speed": None}
    try:
        if not options.speed:
            with ExitStack() as stack:
                kept = JOBS if options.out is None else options.out / "jobs"
                if options.quick and options.out is None:
                    kept = Path(stack.enter_context(TemporaryDirectory(prefix="askone-bench-")))
                tasks = chosen(options.only, options.quick)
                found = run_tasks(tasks, options.quick, options.jobs, kept, console)
            measured = results["tasks"] | found
            results["tasks"] = {task.name: measured[task.name] for task in TASKS if task.name in measured}
        if options.speed or not (options.only or options.quick):
            results["speed"] = speeds(options.quick)
    except KeyboardInterrupt:
        console.print("stopped; finished jobs are kept, and the same command goes on from there")
        return STOPPED
    results["machine"] = machine(jobs=str(options.jobs))
    console.print(page(results), highlight=False, soft_wrap=True, markup=False)
    if options.out or not options.quick:
        write(results, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
