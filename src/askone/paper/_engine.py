"""Jobs on many cores or machines, kept as they finish, so that a stop loses nothing."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from askone._common.atomic_write import write_text
from askone._common.cluster import distributed
from askone.paper._base import Job

Record = dict[str, Any]
"""What is kept of a job: its value and the seconds it took."""
Computed = Generator[tuple[int, Record], None, None]


def execute(
    jobs: Sequence[Job],
    kept: Path,
    done: Callable[[int], None],
    workers: int | None = None,
    cluster: str | None = None,
) -> list[Any]:
    """Return the results of all jobs, in their order: read where they were kept, else computed and kept.

    ``done`` is told how many more have finished.  A job is a function of its arguments alone, so the
    numbers are the same for any number of workers.  Jobs on a worker that dies are given to another; those
    on a device are computed here, all that differ in their trials alone at once.
    """
    kept.mkdir(parents=True, exist_ok=True)
    records: dict[int, Record] = {i: found for i, job in enumerate(jobs) if (found := _read(kept, job)) is not None}
    done(len(records))
    missing = [(i, job) for i, job in enumerate(jobs) if i not in records]
    with _stoppable(_computed(missing, workers, cluster)) as computed:
        for i, record in computed:
            records[i] = _keep(kept, jobs[i], record)
            done(1)
    return [records[i]["value"] for i in range(len(jobs))]


def reach(cluster: str) -> None:
    """Raise unless there is a Dask scheduler at this address."""
    with _backend(cluster):
        pass


def seconds(jobs: Sequence[Job], kept: Path) -> float:
    """Return what the jobs took when they were computed, all together."""
    return sum(float(record["seconds"]) for job in jobs if (record := _read(kept, job)) is not None)


def _computed(numbered: Sequence[tuple[int, Job]], workers: int | None, cluster: str | None) -> Computed:
    yield from _together([(i, job) for i, job in numbered if "device" in job.arguments])
    numbered = [(i, job) for i, job in numbered if "device" not in job.arguments]
    count = min(workers or os.cpu_count() or 1, max(len(numbered), 1))
    if not numbered or (cluster is None and count == 1):
        for i, job in numbered:
            yield _timed(i, job)
        return
    with _backend(cluster):
        parallel = Parallel(n_jobs=-1 if cluster else count, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_timed)(i, job) for i, job in numbered)


def _together(numbered: Sequence[tuple[int, Job]]) -> Computed:
    """Compute jobs that are alike but for their trials in one call, and part what comes back among them."""
    alike: dict[str, list[tuple[int, Job]]] = {}
    for i, job in numbered:
        alike.setdefault(replace(job, arguments={**job.arguments, job.trials: []}).key, []).append((i, job))
    for same in alike.values():
        _, first = same[0]
        every = [trial for _, job in same for trial in job.arguments[first.trials]]
        _, record = _timed(0, replace(first, arguments={**first.arguments, first.trials: every}))
        start = 0
        for i, job in same:
            stop = start + len(job.arguments[first.trials])
            yield i, {"seconds": round(record["seconds"] / len(same), 3), "value": _part(record["value"], start, stop)}
            start = stop


def _part(value: Any, start: int, stop: int) -> Any:
    """Return the trials from start to stop of what a job found.

    >>> _part({"active": [0.3, 0.2, 0.1]}, 1, 3)
    {'active': [0.2, 0.1]}
    """
    if isinstance(value, dict):
        return {name: _part(each, start, stop) for name, each in value.items()}
    return value[start:stop]


@contextmanager
def _stoppable(computed: Computed) -> Iterator[Computed]:
    try:
        yield computed
    finally:
        with warnings.catch_warnings():
            # joblib warns that tasks are cancelled, in case it was a mistake: here somebody stopped them.
            warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
            computed.close()


@contextmanager
def _backend(cluster: str | None) -> Iterator[None]:
    if cluster is None:
        with parallel_config(backend="loky"), warnings.catch_warnings():
            # A process that has grown is replaced, and its job done again: nothing to tell a user.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            yield
        return
    library = distributed()
    with library.Client(cluster, set_as_default=True), parallel_config(backend="dask"):
        try:
            yield
        except library.KilledWorker as error:  # a job that took several workers with it
            raise BrokenExecutor(str(error)) from error


def _timed(i: int, job: Job) -> tuple[int, Record]:
    begin = time.perf_counter()
    # One BLAS thread everywhere: how many there are changes the last digits of a product.
    with threadpool_limits(1, user_api="blas"):
        value = job()
    return i, {"seconds": round(time.perf_counter() - begin, 3), "value": value}


def _read(kept: Path, job: Job) -> Record | None:
    try:
        found = json.loads((kept / f"{job.key}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # a file that was cut off is computed again
        return None
    return found if isinstance(found, dict) and found.keys() == {"seconds", "value"} else None


def _keep(kept: Path, job: Job, record: Record) -> Record:
    """Written whole or not at all; what comes back is what a second call would read."""
    text = json.dumps(record)
    write_text(kept / f"{job.key}.json", text)
    return dict(json.loads(text))
