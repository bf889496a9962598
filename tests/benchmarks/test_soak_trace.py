"""What is said of waits in a soak: who, for what, and what the server and the machine did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from waiting import until


@pytest.fixture
def trace(part):
    return part("soak_trace")


class Silent:
    """A machine that is never late."""

    def longest(self, begun: float, ended: float) -> float:
        return 0.0


LOG = """askone serves http://127.0.0.1:1
{"at": 1010.0, "method": "POST", "route": "/exclude", "status": 200, "ms": 4000.00}
{"at": 1012.5, "method": "GET", "route": "/people", "status": 200, "ms": 100.00}
{"at": 1010.5, "method": "POST", "route": "/answers", "status": 400, "ms": 9000.00}
{"at": 1020.0, "method": "GET", "route": "/later", "status": 200, "ms": 9000.00}
{"at": 1013.0, "met"""


def test_a_wait_is_told_with_the_slowest_requests_of_its_time(trace, part, tmp_path):
    log = tmp_path / "server.log"
    log.write_text(LOG)
    wait = part("killing").Wait(8.0, 10.75, "p3", "answers", (0, 503, 200))
    said = trace.told(wait, "3 s after the end of kills", trace.served(log, 1000.0), Silent(), [(9.0, "a note")])
    assert said == (
        "2.75 s: p3 for answers, 3 s after the end of kills, was told 0, 503, 200; the machine woke sleepers 0.00 s "
        "late; slowest at the server: POST /exclude 4.00 s (200); seen: a note"
    )


def test_the_canary_ends_and_says_how_late_it_woke(trace):
    with trace.Canary() as canary:
        pass
    assert 0.0 <= canary.longest() < 1e6
    canary._late = [(5.0, 0.5), (9.0, 0.2)]
    assert [canary.longest(*span) for span in ((0, 4), (0, 4.6), (5.5, 20), (9.5, 20))] == [0.0, 0.5, 0.2, 0.0]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs Linux")
def test_whoever_writes_to_a_file_is_named(trace, tmp_path):
    pytest.importorskip("sqlalchemy")
    from askone.store.open import open_store  # noqa: PLC0415

    with open_store(str(tmp_path / "a.db")) as store:
        with store._database.transaction():
            assert trace._writers(tmp_path / "a.db") == [str(os.getpid())]
        assert until(lambda: trace._writers(tmp_path / "a.db") == [])
    assert f"{os.getpid()} " in next(iter(trace._processes(os.getpid())))
