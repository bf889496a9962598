"""Connections that mean no good: each ends by itself, and those of others go on meanwhile."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import httpx
import pytest
import uvicorn
import uvloop

from askone.server.config import ServerConfig
from askone.server.ops.http_protocol import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MIN_READ_BYTES,
    Connections,
    LimitedProtocol,
    allow_files,
)
from askone.server.runner import uvicorn_config
from calling import is_up
from waiting import HANGS, until

HOST = b"Host: 127.0.0.1\r\n"
LIVE = b"GET /health/live HTTP/1.1\r\n" + HOST
NOBODY = b"POST /api/v1/campaigns/drinks/next HTTP/1.1\r\n" + HOST
LOGIN = b"POST /api/v1/login HTTP/1.1\r\n" + HOST


class Running:
    """A server on loopback in a thread; its clocks are moved, not waited for: a machine may stall at any moment."""

    def __init__(self, site, loop="uvloop", app=None, **limits):
        patient = dict.fromkeys(("header_seconds", "body_seconds", "upload_seconds", "write_seconds"), HANGS)
        self.config = uvicorn_config(app or site.app, replace(site.config, **{**patient, **limits}))
        self.config.loop, self.config.lifespan, self.config.log_level = loop, "off", "critical"
        self.config.timeout_keep_alive, self._moved = HANGS, 0
        self.server, self.connections = uvicorn.Server(self.config), self.config.http
        self._run = uvloop.run if loop == "uvloop" else asyncio.run

    def __enter__(self):
        self._listening = socket.socket()
        self._listening.bind(("127.0.0.1", 0))
        self.address = self._listening.getsockname()
        self._thread = threading.Thread(target=lambda: self._run(self._serve()))
        self._thread.start()
        until(lambda: self.server.started)
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self._thread.join()

    def later(self):
        """So much later that each clock is over that runs now."""
        self._moved += 10 * HANGS
        self._loop.call_soon_threadsafe(self._look)

    def _look(self):
        for one in list(self.connections._all):
            one.check_clock(self._loop.time() + self._moved)

    async def _serve(self):
        self._loop = asyncio.get_running_loop()
        await self.server.serve([self._listening])

    def connect(self, source="127.0.0.1", small=False):
        """A connection; a ``small`` one takes in little that is not read."""
        made = socket.socket()
        if small:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(HANGS)
        made.bind((source, 0))
        made.connect(self.address)
        return made


def ended(connection):
    """Whether the other side ends the connection, whatever it sends before."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def ended_in_time(running, connection):
    """The same, when its time is over: the server may still be busy with what it got when the clocks are moved."""

    def over():
        running.later()
        with contextlib.suppress(TimeoutError):
            return ended(connection)

    connection.settimeout(0.05)
    return until(over)


def status(connection):
    """The status of the next answer, which is read to its end."""
    head, body = b"", b""
    while not head.endswith(b"\r\n\r\n"):
        head += (got := connection.recv(1))
        assert got, head
    left = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < left:
        body += connection.recv(left - len(body))
    return int(head.split()[1])


@pytest.fixture
def got(monkeypatch):
    """Bytes that servers got, by the port of who sent them."""
    count, receive = Counter(), LimitedProtocol.data_received

    def counted(self, data):
        receive(self, data)
        count[self.client[1]] += len(data)

    monkeypatch.setattr(LimitedProtocol, "data_received", counted)
    return count


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def running(site, request):
    with Running(site, request.param) as found:
        yield found


@pytest.mark.parametrize(
    ("sent", "first"),
    [
        (b"", None),
        (LIVE + b"X-Slow: a", None),
        (LIVE + b"Content-Length: 9\r\n\r\na", 200),
        (LIVE + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", 200),
        (NOBODY + b"Content-Length: 9\r\n\r\na", 401),
        (LOGIN + b"Content-Length: 999999999\r\n\r\na", 413),
        (LOGIN + b"Content-Length: 9\r\n\r\na", None),
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", None),
        (b"\r\n", None),
        (LIVE + b"\r\n" + LIVE[:20], 200),
    ],
)
def test_nothing_is_waited_for_for_ever(running, got, sent, first):
    with running.connect() as slow:
        until(lambda: len(running.connections) == 1)
        slow.sendall(sent)
        if first is not None:
            assert status(slow) == first
            with contextlib.suppress(ConnectionError):
                slow.sendall(b"a")  # a sign of life is not enough
        until(lambda: got[slow.getsockname()[1]] >= len(sent) + (first is not None))
        assert ended_in_time(running, slow)


CHUNKED = LIVE + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "more"),
    [(CHUNKED + b"0\r\n", b"A: b\r\n"), (CHUNKED + b"0\r\nA: ", b"b"), (CHUNKED + b"1;", b"a=b;"), (CHUNKED, b"0")],
    ids=["trailers", "a long trailer", "extensions of a chunk", "a long length"],
)
def test_nothing_beside_a_body_goes_on_for_ever(running, head, more):
    with running.connect() as one, contextlib.suppress(ConnectionError):
        one.settimeout(HANGS / 2)  # before any clock is over
        one.sendall(head)
        for _ in range(64):
            one.sendall(more * (MAX_HEAD_BYTES // len(more)))
        assert status(one) == 200
        assert ended(one)


def test_headers_are_counted_and_a_body_in_small_pieces_is_whole(running):
    pieces = b"1\r\n \r\n" * 60_000 + b"2\r\n{}\r\n0\r\nA: b\r\n\r\n"
    with running.connect() as one:
        one.sendall(LOGIN + b"Transfer-Encoding: chunked\r\n\r\n" + pieces)
        assert status(one) == 422  # it was read: it names nobody
        one.sendall(LIVE + b"A: b\r\n" * (MAX_HEADERS - 1) + b"\r\n")
        assert status(one) == 200
        one.sendall(LIVE + b"A: b\r\n" * MAX_HEADERS + b"\r\n")
        assert status(one) == 400
        assert ended(one)


def test_the_clocks_go_by_themselves(site):
    with Running(site, header_seconds=0.5) as running, running.connect() as silent:
        assert ended(silent)


def test_a_body_that_nobody_wants_may_still_come(site):
    """Programs send the body after the head, even where the head is refused: the connection goes on."""
    with Running(site) as running, running.connect() as late:
        for _ in range(3):
            late.sendall(LIVE + b"Content-Length: 9\r\n\r\n")
            assert status(late) == 200
            late.sendall(b"123456789")
        assert ended_in_time(running, late)  # for then it is silent


ASKED = threading.Event()


async def large(scope, receive, send):
    """More than the buffers of two systems hold, at once or with an end that has to wait."""
    size = 32 << 20
    ASKED.set()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
    await send({"type": "http.response.body", "body": bytes(size), "more_body": scope["path"] == "/more"})
    if scope["path"] == "/more":
        await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("asked", [b"GET /more", b"GET /"])
@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"])
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_answers_that_are_not_read_are_not_kept(site, loop, close, asked):
    """Neither while they are made nor when they are, whether the connection was to stay or not."""
    with Running(site, loop, app=large) as running, running.connect(small=True) as deaf:
        ASKED.clear()
        deaf.sendall(asked + b" HTTP/1.1\r\n" + HOST + close + b"\r\n")
        assert ASKED.wait(HANGS)
        until(lambda: running.later() or len(running.connections) == 0)
        until(lambda: not running.server.server_state.tasks)


def test_of_many_requests_at_once_two_are_answered(running):
    """One may be on its way when the end of an answer is; the rest is not answered."""
    with running.connect() as many:
        many.sendall((LIVE + b"\r\n") * 20)
        assert [status(many), status(many)] == [200, 200]
        assert many.recv(1) == b""
    with running.connect() as two:
        for _ in range(3):
            two.sendall((LIVE + b"\r\n") * 2)
            assert [status(two), status(two)] == [200, 200]


def test_who_comes_anew_takes_the_place_of_who_was_silent_longest(site):
    limits = {"connections": 8, "connections_per_address": 4}
    with Running(site, **limits) as running, contextlib.ExitStack() as stack:
        crowd = []
        for n in range(1, 5):
            crowd.append(stack.enter_context(running.connect("127.0.0.2")))
            until(lambda n=n: len(running.connections) == n)  # in this order
        crowd[0].sendall(LIVE + b"\r\n")
        assert status(crowd[0]) == 200
        fifth = stack.enter_context(running.connect("127.0.0.2"))
        fifth.sendall(LIVE + b"\r\n")
        assert status(fifth) == 200
        assert ended(crowd[1])  # the first one has asked for something since
        for n in range(3, 7):
            one = stack.enter_context(running.connect(f"127.0.0.{n}"))
            one.sendall(LIVE + b"\r\n")
            assert status(one) == 200
        last = stack.enter_context(running.connect("127.0.0.9"))
        last.sendall(LIVE + b"\r\n")
        assert status(last) == 200
        assert ended(crowd[2])
        assert len(running.connections) == 8


def test_a_trusted_proxy_brings_as_many_as_it_likes(site):
    limits = {"connections_per_address": 2, "trusted_proxies": ("127.0.0.0/24",)}
    with Running(site, **limits) as running, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(running.connect()) for _ in range(9)]
        for one in crowd:
            one.sendall(LIVE + b"\r\n")
            assert status(one) == 200


class FakeTransport:
    """A connection to somebody who reads as the test says."""

    def __init__(self):
        self.unread, self.said = 0, []

    def get_write_buffer_size(self):
        return self.unread

    def is_closing(self):
        return bool(self.said)

    def get_extra_info(self, name):
        return None

    def close(self):
        self.said.append("close")

    def abort(self):
        self.said.append("abort")


def test_who_reads_slowly_is_left_alone(site):
    """A large answer may take as long as it likes while some of it is read."""
    loop = asyncio.new_event_loop()
    config = uvicorn_config(site.app, ServerConfig())
    one = LimitedProtocol(
        Connections(ServerConfig()), config=config, server_state=uvicorn.Server(config).server_state, app_state={},
        _loop=loop,
    )  # fmt: skip
    transport = FakeTransport()
    one.connection_made(transport)
    transport.unread = 10 * MIN_READ_BYTES
    one.pause_writing()
    now = loop.time()
    for n in range(1, 10):
        transport.unread -= MIN_READ_BYTES
        one.check_clock(now + 31 * n)
        assert transport.said == []
    transport.unread -= 1
    one.check_clock(now + 31 * 10)
    assert transport.said == ["abort"]
    one.connection_lost(None)
    loop.close()


FULL = """
import resource, sys
from askone.server.config import ServerConfig
from askone.server import runner
resource.setrlimit(resource.RLIMIT_NOFILE, (90, 90))
runner.allow_files = lambda connections: connections  # as if other files took all the room
runner.serve(sys.argv[1], ServerConfig(port=0, access_log=False), lambda line: print(line, flush=True))
"""


def test_when_files_run_out_it_recovers_by_itself(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.db")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = running.stdout.readline().split()[-1]
        with httpx.Client(base_url=url, timeout=HANGS) as client:
            until(lambda: is_up(client))
        host, port = url.removeprefix("http://").split(":")
        crowd = [socket.create_connection((host, int(port))) for _ in range(200)]
        try:
            for one in crowd:
                one.settimeout(0.01)
            until(lambda: any(map(_refused, crowd)))
        finally:
            for one in crowd:
                one.close()
        with httpx.Client(base_url=url, timeout=HANGS) as client:
            until(lambda: is_up(client))
    finally:
        running.terminate()
        running.communicate(timeout=HANGS)


def _refused(connection):
    with contextlib.suppress(TimeoutError):
        return ended(connection)


def test_connections_leave_room_for_files(monkeypatch):
    kept = []
    monkeypatch.setattr("resource.getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr("resource.setrlimit", lambda _, both: kept.append(both))
    assert (allow_files(600), kept) == (600, [])
    assert (allow_files(3000), kept) == (3000, [(4001, 4096)])
    assert allow_files(9000) == 3072
