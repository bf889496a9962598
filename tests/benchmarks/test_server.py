"""The benchmark of the server: latency counts from when an answer was due, faults are named, and a small run works."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

BODY = {"state": "question", "question": {"lease": "l", "number": 0}}


async def answered(part, stall: float, seconds: float, rate: float | None):
    """A load on a server made of a few lines, which once keeps everybody waiting."""
    loads = part("server_load")
    stalled, served = False, []

    async def serve(reader, writer):
        nonlocal stalled
        while head := await reader.readuntil(b"\r\n\r\n"):
            body = await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
            if b"/answers" in head and not stalled:
                stalled = True
                await asyncio.sleep(stall)
            assert json.loads(body) == {} or json.loads(body)["lease"] == "l"
            text = json.dumps(BODY).encode()
            # In pieces, as networks deliver.
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nx: y\r\n\r\n" % len(text) + text[:5])
            await asyncio.sleep(0)
            writer.write(text[5:])

    async def quiet(reader, writer):
        served.append(asyncio.current_task())
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(quiet, "127.0.0.1", 0)
    place = loads.Place("c", server.sockets[0].getsockname()[1], "a")
    record = loads.Record()
    async with server:
        await loads.load([loads.Person("p", "token", place, lambda _: True, record)], seconds, rate)
        await asyncio.gather(*served)
    return record


def test_an_answer_that_had_to_wait_is_late(part):
    record = asyncio.run(answered(part, 0.5, 1.0, 20.0))
    # Ten answers or so were due while the first one was on its way: all of them were late, not one.
    assert sum(latency > 0.1 for latency in record.latencies) >= 5
    assert 18 <= len(record.latencies) <= 22
    assert record.unsent == 0
    assert not record.problems
    assert len(set(record.acknowledged)) == len(record.acknowledged) == len(record.latencies)


def test_flat_out_is_one_after_the_other(part):
    records = (asyncio.run(answered(part, 0.0, 0.2, None)) for _ in range(10))  # a machine may stall meanwhile
    assert any(len(record.latencies) > 20 and record.twice == 0 for record in records)


def test_faults_are_named(part):
    checks = part("server_places")
    fine = dict.fromkeys(
        ("lost", "duplicates", "questions_answered_twice", "rows_asked_twice", "rows_served_twice"), 0
    ) | {"chain_valid": True, "replay_same": True}
    assert checks.faults(fine) == []
    assert checks.faults(fine | {"lost": 2, "replay_same": False}) == ["lost: 2", "replay_same"]


def test_processes_and_their_families_are_measured(part):
    places = part("server_places")
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    assert os.getpid() in places.family(os.getppid())
    assert places.cpu_seconds([os.getpid()]) > 0
    assert places.memory([os.getpid()]) > 10
    assert places.cpu_seconds([2**22 + 1]) == 0  # no such process


def test_a_small_run_finds_no_fault_and_writes_a_page(part, tmp_path, capsys):
    arguments = ["--quick", "--only", "sqlite", "--campaigns", "prices", "--out", str(tmp_path)]
    assert part("server").main(arguments) == 0, capsys.readouterr().out
    found = json.loads((tmp_path / "server.json").read_text())
    (one,) = found["loads"]
    assert one["checks"]["acknowledged"] == one["checks"]["answers"] > 40
    assert one["rate"]["problems"] == one["flat"]["problems"] == {}
    assert one["rate"]["server_cpu_ms"] > 0
    page = (tmp_path / "benchmarks-server.md").read_text()
    assert "| SQLite   | prices   | flat out" in page
    assert page.count("Not measured.") == 2


def test_what_is_no_number_is_not_written(part, tmp_path, monkeypatch, capsys):
    """Neither a figure of this run nor one that was kept: the page once said nan."""
    server = part("server")
    line = {"what": "`askone --version`", "seconds": float("nan"), "cpu": 0.1, "peak_mib": 20.0}
    monkeypatch.setattr(server, "_start", lambda task, folder, times: [line])
    arguments = ["--quick", "--only", "start", "--out", str(tmp_path)]
    assert server.main(arguments) == 1
    assert "start 0 seconds: not a number, so nothing is written" in capsys.readouterr().out
    line["seconds"] = 0.2
    before = '{"loads": [], "large": {"latency_ms": NaN}, "setting": {}}'
    (tmp_path / "server.json").write_text(before)
    assert server.main(arguments) == 1
    assert "large latency_ms: not a number" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]
    assert (tmp_path / "server.json").read_text() == before
    with pytest.raises(RuntimeError, match="large: nobody was answered .problems ..401 unauthorized.: 3., unsent 7"):
        part("server_load").Record(problems=Counter({"401 unauthorized": 3}), unsent=7).measured("large")


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md")), ids=lambda path: path.name
)
def test_no_page_has_a_figure_that_is_no_number(path):
    assert not re.search(r"\|\s*-?(nan|inf)\s*\|", path.read_text(), re.IGNORECASE)


def test_what_is_left_out_stays_as_it_was(part, tmp_path, monkeypatch, capsys):
    server = part("server")
    line = {"what": "`askone --version`", "seconds": 0.2, "cpu": 0.1, "peak_mib": 20.0}
    monkeypatch.setattr(server, "_start", lambda task, folder, times: [line])
    before = {"loads": [], "large": None, "setting": dict.fromkeys(("rows", "million", "people"), 7)}
    before["setting"] |= dict.fromkeys(("seconds", "flat", "rate"), 7.0)
    (tmp_path / "server.json").write_text(json.dumps(before))
    assert server.main(["--quick", "--only", "start", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "server.json").read_text())
    assert found["setting"] == before["setting"]
    assert found["start"] == [line]
    assert "| `askone --version` | 0.200   | 0.100" in (tmp_path / "benchmarks-server.md").read_text()
