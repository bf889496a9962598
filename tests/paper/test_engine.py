"""Jobs: the same numbers however they are computed, and nothing lost when they are stopped."""

import json
import os
import signal

import pytest
from distributed import LocalCluster

from askone._common import cluster
from askone.errors import MissingExtra
from askone.paper._base import Job
from askone.paper._engine import execute, reach, seconds
from askone.paper.figures.fig2_left import sine_trials

COMMON = {"family": "active", "gamma": 1.0, "bandwidth": 0.2, "at": [10, 100, 400]}
JOBS = [Job(sine_trials, {**COMMON, "questions": 400, "seeds": [seed]}) for seed in range(12)]


def nothing(count):
    pass


@pytest.fixture(scope="module")
def expected():
    return [job() for job in JOBS]


def test_one_and_two_workers_give_the_same_numbers(tmp_path, expected):
    assert execute(JOBS, tmp_path / "one", nothing, workers=1) == expected
    assert execute(JOBS, tmp_path / "two", nothing, workers=2) == expected


class Stopped(Exception):
    pass


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_keeps_what_was_finished(tmp_path, expected, workers):
    seen = []

    def stop(count):
        seen.append(count)
        if sum(seen) == 4:
            raise Stopped

    with pytest.raises(Stopped):
        execute(JOBS, tmp_path, stop, workers=workers)
    assert len(list(tmp_path.glob("*.json"))) == 4
    again = []
    assert execute(JOBS, tmp_path, again.append, workers=workers) == expected
    assert again == [4] + [1] * 8


@pytest.mark.parametrize("text", ["", '{"seconds": 0.1, "val', "3", "[]", '{"value": 1}', None])
def test_a_kept_file_that_was_cut_off_is_computed_again(tmp_path, expected, text):
    execute(JOBS[:2], tmp_path, nothing, workers=1)
    path = tmp_path / f"{JOBS[0].key}.json"
    path.write_text(path.read_text()[:-9] if text is None else text)
    again = []
    assert execute(JOBS[:2], tmp_path, again.append, workers=1) == expected[:2]
    assert again == [1, 1]


def test_kept_jobs_know_their_time_and_nothing_half_written_stays(tmp_path):
    execute(JOBS[:2], tmp_path, nothing, workers=1)
    times = [json.loads(path.read_text())["seconds"] for path in tmp_path.iterdir()]
    assert seconds(JOBS[:2], tmp_path) == pytest.approx(sum(times))
    assert seconds(JOBS[:2], tmp_path / "elsewhere") == 0
    assert not list(tmp_path.glob("*.partial"))


def test_results_are_what_a_second_call_reads(tmp_path):
    """A tuple comes back as the list that JSON makes of it, at once and not only the second time."""
    jobs = [Job(divmod_of, {"a": 7, "b": 2})]
    assert execute(jobs, tmp_path, nothing, workers=1) == execute(jobs, tmp_path, nothing) == [[3, 1]]


def divmod_of(a, b):
    return divmod(a, b)


# Its own threads and processes end with warnings that are no concern of ours.
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_gives_the_same_numbers(tmp_path, expected):
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, processes=True, **options) as local:
        killed, finished = [], []

        def kill_one(count):
            finished.append(count)
            if sum(finished) == 1:
                killed.append(local.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        assert execute(JOBS, tmp_path, kill_one, cluster=local.scheduler_address) == expected
        assert killed
        assert finished == [0] + [1] * len(JOBS)


def test_without_dask_a_cluster_says_what_to_install(monkeypatch, tmp_path):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(cluster, "import_now", missing)
    with pytest.raises(MissingExtra, match=r"askone\[cluster\]"):
        reach("tcp://127.0.0.1:1")
