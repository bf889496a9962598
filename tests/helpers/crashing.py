"""Processes that write to the stores whose addresses are the arguments, and are killed: run by test_store.py."""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable

import numpy as np

from askone.store import _campaigns
from askone.store.entries import Entry, Row, Seat
from askone.store.notices import Began, StatusChanged
from askone.store.open import open_store
from askone.store.verification import verify

TIMES = 4
WRITERS, EACH = 3, 25


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """A process that does some work with the end of a pipe; its number and the other end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        work(writing)
        os._exit(0)
    finally:
        os._exit(1)


def rows(start: int, n: int) -> list[Row]:
    return [Row(0, str(i), {}, np.zeros(2)) for i in range(start, start + n)]


def append(url: str, name: str, count: int | None) -> Callable[[int], None]:
    """Append and, when it is durable, say so."""

    def work(pipe: int) -> None:
        store = open_store(url)
        i = 0
        while count is None or i < count:
            with store.transaction("c") as transaction:
                entries = [Entry(StatusChanged(f"{name}-{i}-{part}", "running"), name) for part in "ab"]
                transaction.write(entries, put=[Seat(i, 0, 0, name)])
            os.write(pipe, f"{name}-{i}\n".encode())
            i += 1

    return work


def read_for(pipe: int, seconds: float) -> str:
    """What comes through a pipe: so long, but at least something; or all of it."""
    text, end = "", time.monotonic() + seconds
    while not text or (left := end - time.monotonic()) > 0:
        if select.select([pipe], [], [], 0.05 if not text else left)[0]:
            data = os.read(pipe, 65536)
            if not data:
                return text
            text += data.decode()
    return text


def check(url: str, acknowledged: list[str]) -> None:
    store = open_store(url)
    assert verify(store, "c").valid
    ids = [entry.id for entry in store.entries("c", after=1)]
    assert len(ids) == len(set(ids))
    assert {f"{one}-{part}" for one in acknowledged for part in "ab"} <= set(ids)
    # Both parts of a turn are there, or none.
    assert {one[:-1] + "b" for one in ids if one.endswith("a")} == {one for one in ids if one.endswith("b")}
    store.close()


def killed_while_appending(url: str) -> None:
    acknowledged: list[str] = []
    for turn in range(TIMES):
        pid, pipe = child(append(url, f"w{turn}", None))
        text = read_for(pipe, random.uniform(0.0, 0.15))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        text += read_for(pipe, 10.0)
        os.close(pipe)
        acknowledged += text.split()
        check(url, acknowledged)
    assert len(acknowledged) >= TIMES


def several_append(url: str) -> None:
    store, seen = open_store(url), []
    before = store.head("c")[0]
    store.close()
    children = [child(append(url, f"p{i}", EACH)) for i in range(WRITERS)]
    store = open_store(url)
    living = len(children)
    while living:
        # Whoever polls for what is new misses nothing, however late it was committed.
        seen += [entry.seq for entry in store.entries("c", after=before + len(seen))]
        done, status = os.waitpid(-1, os.WNOHANG)
        living -= done > 0
        assert status == 0
    seen += [entry.seq for entry in store.entries("c", after=before + len(seen))]
    assert seen == list(range(before + 1, before + 1 + 2 * WRITERS * EACH))
    check(url, [f"p{i}-{j}" for i in range(WRITERS) for j in range(EACH)])
    store.close()


def killed_while_making(url: str) -> None:
    def work(pipe: int) -> None:
        _campaigns.CHUNK = 50  # rows are gathered up to so many

        def chunks():
            yield rows(0, 50)
            yield rows(50, 50)
            os.write(pipe, b"half\n")
            time.sleep(600)

        open_store(url).create("half", "", "", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), chunks())

    pid, pipe = child(work)
    assert read_for(pipe, 0.0) == "half\n"
    other = open_store(url)
    counting = "SELECT count(*) FROM table_rows"
    assert other._database.read(counting) == [(101,)], "the maker lives: its rows stay"
    assert [record.name for record in other.campaigns()] == ["c"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert [record.name for record in other.campaigns()] == ["c"]
    other.close()
    store = open_store(url)
    assert store._database.read(counting) == [(1,)], "the next opening takes away what was left"
    store.create("half", "", "", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), [rows(0, 2)])
    store.close()


if __name__ == "__main__":
    for address in sys.argv[1:]:
        first = open_store(address)
        first.create("c", "", "", b"", lambda n, mark: Entry(Began("b", {}, n, mark)), [rows(0, 1)])
        first.close()
        killed_while_making(address)
        several_append(address)
        killed_while_appending(address)
    print("all there")
