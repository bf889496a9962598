"""``askone reproduce``: which runs, how far they are, and what became of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from askone import datasets
from askone._common.validate import as_choice, as_count
from askone.errors import AskoneError
from askone.paper._base import Job, Run
from askone.paper._catalogue import RUNS
from askone.paper._engine import execute, reach, seconds
from askone.paper._many_trials import as_device
from askone.paper._page import write_page
from askone.paper._report import has_run, write_report, write_run

ALL = "all"
COMPLETE, INCOMPLETE, STOPPED = 0, 1, 130


@final
@dataclass(frozen=True)
class Order:
    """The runs that were asked for, and how."""

    runs: tuple[Run, ...]
    quick: bool
    out: Path
    workers: int | None = None
    cluster: str | None = None
    device: str | None = None

    def jobs(self, run: Run) -> list[Job]:
        """Return the jobs of a run, on the device those that can be there."""
        jobs, device = run.jobs(self.quick), self.device
        return [job.on(device) if device is not None and job.trials else job for job in jobs]


@final
@dataclass(eq=False)
class Tally:
    """Counts of the runs so far."""

    finished: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def listing(console: Console | None = None) -> int:
    """Print every run: its name, what it shows, and the data it needs."""
    table = Table("run", "shows", "data")
    for run in RUNS.values():
        table.add_row(run.name, run.title, ", ".join(run.needs) or "–")
    (console or Console()).print(table)
    return COMPLETE


def reproduce(
    names: Sequence[str],
    quick: bool,
    out: Path,
    workers: int | None = None,
    cluster: str | None = None,
    directory: str | None = None,
    page: str | None = None,
    device: str | None = None,
    console: Console | None = None,
) -> int:
    """Make runs by name (none or "all": every one) and their report; returns the exit status.

    With a ``page`` (docs/paper.md) the verdicts of all full runs in ``out`` are put between its markers; rows of runs
    that are not there stay as they are, with their dates.

    On a ``device`` of torch, such as "cuda", all trials of a stream are computed at once, where a run has many.

    0: all are in the report; 1: some were skipped or failed, by name, with the reason; 130: stopped,
    what was finished is kept.
    """
    count = workers if workers is None else as_count(workers, "workers", 1)
    order = Order(chosen(names), quick, out, count, cluster, device if device is None else as_device(device))
    if directory is not None:
        # Jobs run in other processes, which inherit the environment and nothing else.
        os.environ[datasets.ENVIRONMENT] = str(Path(directory).expanduser().resolve())
    if cluster is not None:
        reach(cluster)
    console, tally = console or Console(), Tally()
    try:
        _make(order, tally, console)
    except KeyboardInterrupt:
        _stopped(order, tally, console)
        return STOPPED
    console.print(f"report: {write_report(list(RUNS), tally.missing, out)}", soft_wrap=True)
    if page is not None:
        console.print(f"{page}: {', '.join(write_page(list(RUNS), out, Path(page))) or 'no full run'}", soft_wrap=True)
    return INCOMPLETE if tally.missing else COMPLETE


def chosen(names: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs of these names, in the catalogue's order.

    >>> [run.name for run in chosen(["minmax", "simplex"])]
    ['simplex', 'minmax']
    """
    for name in names:
        as_choice(name, "run", (*RUNS, ALL))
    every = not names or ALL in names
    return tuple(run for run in RUNS.values() if every or run.name in names)


def _make(order: Order, tally: Tally, console: Console) -> None:
    jobs = {run.name: order.jobs(run) for run in order.runs}
    columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=console) as progress:
        bars = {name: progress.add_task(name, start=False, total=len(parts)) for name, parts in jobs.items()}
        for run in order.runs:
            progress.start_task(bars[run.name])
            said = _attempt(order, run, tally, progress, bars[run.name])
            progress.stop_task(bars[run.name])
            console.print(f"{run.name}: {said}", soft_wrap=True, markup=False, highlight=False)


def _attempt(order: Order, run: Run, tally: Tally, progress: Progress, bar: TaskID) -> str:
    """Return one run; what to say of it.  Trouble with one does not keep the others from theirs."""
    try:
        for name in run.needs:
            datasets.load(name)
    except (AskoneError, OSError) as error:
        tally.missing[run.name] = f"skipped, no data: {error}"
        return tally.missing[run.name]
    try:
        jobs, kept = order.jobs(run), order.out / "jobs"
        results = execute(jobs, kept, partial(progress.advance, bar), order.workers, order.cluster)
        record = write_run(run, order.quick, results, seconds(jobs, kept), order.out, order.device)
    except (AskoneError, BrokenExecutor) as error:
        tally.missing[run.name] = f"failed: {error}"
        return tally.missing[run.name]
    tally.finished.append(run.name)
    return ", ".join(claim["verdict"] for claim in record["claims"])


def _stopped(order: Order, tally: Tally, console: Console) -> None:
    left = [run.name for run in order.runs if run.name not in tally.finished and run.name not in tally.missing]
    new = [name for name in left if not has_run(name, order.out)]
    reasons = tally.missing | dict.fromkeys(new, "stopped before it was finished")
    path = write_report(list(RUNS), reasons, order.out)
    console.print(f"stopped. Finished: {', '.join(tally.finished) or 'no run'}; to do: {', '.join(left)}.")
    console.print(f"Finished jobs are kept: the same command goes on from there. So far: {path}", soft_wrap=True)
