"""Jobs on many cores or machines, kept as they finish, so that a stop loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from askone.errors import MissingExtra
from askone.paper.base import Job

try:
    from distributed import Client
except ImportError:  # only --cluster needs it
    Client = None


def execute(
    jobs: Sequence[Job], kept: Path, done: Callable[[int], None], workers: int | None = None, cluster: str | None = None
) -> list[Any]:
    """The results of all jobs, in their order: read where they were kept, else computed and kept.

    ``done`` is told how many more have finished.  A job is a function of its arguments alone, so the
    numbers are the same for any number of workers.
    """
    kept.mkdir(parents=True, exist_ok=True)
    results: dict[int, Any] = {i: found for i, job in enumerate(jobs) if (found := _read(kept, job)) is not None}
    done(len(results))
    missing = [i for i in range(len(jobs)) if i not in results]
    for i, value in _computed([(i, jobs[i]) for i in missing], workers, cluster):
        results[i] = value
        _keep(kept, jobs[i], value)
        done(1)
    return [results[i] for i in range(len(jobs))]


def _computed(
    numbered: Sequence[tuple[int, Job]], workers: int | None, cluster: str | None
) -> Iterator[tuple[int, Any]]:
    if not numbered:
        return
    count = workers or os.cpu_count() or 1
    if cluster is None and count == 1:
        for i, job in numbered:
            yield i, job()
        return
    with _backend(cluster):
        parallel = Parallel(n_jobs=-1 if cluster else count, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_numbered)(i, job) for i, job in numbered)


@contextmanager
def _backend(cluster: str | None) -> Iterator[None]:
    if cluster is None:
        with parallel_config(backend="loky"):
            yield
        return
    if Client is None:
        raise MissingExtra("a cluster needs Dask: pip install 'askone[cluster]'")
    with Client(cluster, set_as_default=True), parallel_config(backend="dask"):
        yield


def _numbered(i: int, job: Job) -> tuple[int, Any]:
    return i, job()


def _read(kept: Path, job: Job) -> Any:
    try:
        return json.loads((kept / f"{job.key}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # a file that was cut off is computed again
        return None


def _keep(kept: Path, job: Job, value: Any) -> None:
    target = kept / f"{job.key}.json"
    partial = target.with_name(target.name + ".partial")
    partial.write_text(json.dumps(value), encoding="utf-8")
    partial.replace(target)
