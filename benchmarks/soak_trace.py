"""Who waited while a soak lasted, for what, and what the server and the machine did at that time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from killing import Person, Server, Wait, Worker

PATIENCE = 1.0
"""Seconds of a wait after which the server is asked what it does, again and again until it ends."""
_MOST, _NAMED = 200, 3  # notes of what the server did; requests that are named with a wait


class Canary:
    """A process of ``soak_canary``, and how late it woke."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("soak_canary.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._late: list[tuple[float, float]] = []

    def longest(self, begun: float = 0.0, ended: float = float("inf")) -> float:
        """Seconds by which the machine was late at most between two moments."""
        return max((late for at, late in self._late if begun < at and at - late < ended), default=0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask no longer; what was noted is known from now on."""
        if self._process.poll() is None:
            said, _ = self._process.communicate()
            self._late = [(at, late) for at, late in json.loads(said)]


class Watcher(Worker):
    """Has the server write down the stacks of its threads while somebody waits for long and all is well.

    They are in the server's log.  Who else of the server's processes is there, and who holds the database's lock, is
    noted here.
    """

    def __init__(self, server: Server, people: Sequence[Person], well: Callable[[], bool], file: Path | None) -> None:
        super().__init__("watcher", "", 0)
        self._server, self._people, self._well, self._file = server, people, well, file
        self.notes: list[tuple[float, str]] = []

    def work(self) -> None:
        asked = 0.0
        while not self.over.wait(0.1):
            now = time.monotonic()
            begun = [one.began for one in self._people]
            waiting = any(one is not None and now - one > PATIENCE for one in begun)
            if waiting and self._well() and now > asked + PATIENCE and len(self.notes) < _MOST:
                asked = now
                with suppress(OSError):  # it was killed just now
                    self.notes.append((now, self._look()))
                    os.kill(self._server.pid, signal.SIGUSR1)

    def _look(self) -> str:
        processes = "; ".join(_processes(self._server.pid))
        holders = [] if self._file is None else _writers(self._file)
        return f"{processes}" + (f"; the database is locked by {', '.join(holders)}" if holders else "")


def _processes(pid: int) -> Iterator[str]:
    """A process and those that it started: what each is, how it is scheduled, and whether it runs."""
    place = Path(f"/proc/{pid}")
    command = place.joinpath("cmdline").read_text().split("\0")
    module = command[command.index("-m") + 1] if "-m" in command else "server"
    state = place.joinpath("stat").read_text().rpartition(")")[2].split()
    yield f"{pid} {module} nice {state[16]} {state[0]}"
    for child in place.joinpath(f"task/{pid}/children").read_text().split():
        with suppress(OSError):  # it ended
            yield from _processes(int(child))


def _writers(file: Path) -> list[str]:
    """Processes that hold the lock of an SQLite file's one writer: byte 120 of the file beside it."""
    beside = Path(f"{file}-shm").stat().st_ino
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return [f"{one[4]}" for one in locks if one[5].endswith(f":{beside}") and one[6:] == ["120", "120"]]


class Served(NamedTuple):
    """A line of the server's access log."""

    begun: float
    ended: float
    what: str
    status: int


def served(log: Path, wall: float) -> list[Served]:
    """What a server did by its log; ``wall`` is what its clock shows more than the monotonic one."""
    found = []
    for line in log.read_text(errors="replace").splitlines():
        with suppress(ValueError, KeyError, TypeError):
            one: dict[str, Any] = json.loads(line)
            ended = one["at"] - wall
            found.append(Served(ended - one["ms"] / 1000, ended, f"{one['method']} {one['route']}", one["status"]))
    return found


def told(wait: Wait, since: str, requests: Sequence[Served], canary: Canary, notes: Sequence[tuple[float, str]]) -> str:
    """A wait in words, with the slowest requests at that time."""
    # 400: connections that are never used well are given up after some seconds.
    beside = [one for one in requests if one.status != 400 and one.begun < wait.ended and one.ended > wait.begun]
    slowest = sorted(beside, key=lambda one: one.begun - one.ended)[:_NAMED]
    slow = "; ".join(f"{one.what} {one.ended - one.begun:.2f} s ({one.status})" for one in slowest)
    seen = [note for at, note in notes if wait.begun < at < wait.ended][-1:]
    tries = ", ".join(map(str, wait.told)) or "nothing"
    return (
        f"{wait.seconds:.2f} s: {wait.who} for {wait.verb}, {since}, was told {tries}; the machine woke sleepers "
        f"{canary.longest(wait.begun, wait.ended):.2f} s late; slowest at the server: {slow or 'nothing'}"
        + "".join(f"; seen: {note}" for note in seen)
    )
