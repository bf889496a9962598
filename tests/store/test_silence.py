"""A database that goes silent: whoever waits for it is told so in time, and it is used again when it is back."""

import contextlib
import socket
import threading
import time
from types import SimpleNamespace

import pytest

from askone.errors import StoreUnavailable
from askone.store import _database, _postgresql, _statement_clock
from askone.store._statement_clock import StatementClock
from askone.store.open import open_store
from silence import SilentProxy
from waiting import HANGS


@pytest.fixture
def proxy(postgres):
    def connect():
        there = socket.socket(socket.AF_UNIX)
        there.connect(str(postgres.directory / ".s.PGSQL.5432"))
        return there

    with SilentProxy(connect) as proxy:
        yield proxy


@pytest.fixture
def far(proxy, postgres_url):
    schema = postgres_url.partition("options=")[2]
    store = open_store(f"postgresql://postgres:canary@127.0.0.1:{proxy.port}/postgres?options={schema}")
    yield store
    store.close()


@contextlib.contextmanager
def silence(proxy):
    """Nothing comes through for a while, for which clocks are short: who can be reached has the usual time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(_postgresql._SILENT, "connect_timeout", 2)
        patched.setattr(_postgresql, "_PING", 0.5)
        patched.setattr(_database.Session.__init__, "__defaults__", (0.5,))
        proxy.silent.set()
        yield
    proxy.silent.clear()


def refused(call):
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        call()
    assert time.monotonic() - began < HANGS


def test_a_read_in_silence_ends(far, proxy):
    far.ping()
    with silence(proxy):
        refused(far.ping)
    far.ping()


def test_a_connection_that_idled_is_asked_first(far, proxy, monkeypatch):
    far.ping()
    monkeypatch.setattr(_postgresql, "_IDLE", 0.0)
    with silence(proxy):
        refused(far.ping)
    far.ping()


def test_a_transaction_in_silence_ends_and_is_undone(far, proxy):
    def write():
        with far._database.transaction() as session:
            session.run("INSERT INTO settings VALUES ('a', 'b')")
            session.seconds = 0.5
            proxy.silent.set()
            session.run("INSERT INTO settings VALUES ('c', 'd')")

    refused(write)
    proxy.silent.clear()
    assert far._database.read("SELECT * FROM settings") == []


def test_no_thread_is_left(far):
    far.ping()
    assert "statements" in {thread.name for thread in threading.enumerate()}
    far.close()
    assert "statements" not in {thread.name for thread in threading.enumerate()}


def test_a_clock_ends_what_waits_and_nothing_else(monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(_statement_clock, "time", SimpleNamespace(monotonic=lambda: now))
    watch = StatementClock(tick=0.01)
    one, other = socket.socketpair()
    still, peer = socket.socketpair()
    with one, other, still, peer:
        watch.begin(one.fileno(), 5.0)
        watch.end(watch.begin(still.fileno(), 5.0))
        now += 6.0
        assert one.recv(1) == b""  # shut by the clock: nobody sent anything
        peer.send(b"x")
        assert still.recv(1) == b"x"
    watch.close()
