"""Who is at work while a soak lasts: managers, who uploads, who excludes others, and connections that mean ill."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from killing import AWAY, JSON, NAME, Worker, request

API = "/api/v1"
FINE = frozenset({200, 201, 304, 404, 409, 422, 429, 503, 507})
"""What a manager may be told; 503 and 507 while a fault lasts, which is looked at where the faults are known."""

AGAIN = "looks to come again"


class Actor(Worker):
    """Does one thing after the other until it is over; ``told`` are statuses with the time when they came."""

    def __init__(self, port: int, token: str, seed: int, pause: float) -> None:
        super().__init__(type(self).__name__, token, seed)
        self.port, self.pause = port, pause
        self.done: Counter[str] = Counter()
        self.told: list[tuple[float, int, str]] = []

    def work(self) -> None:
        while not self.over.wait(self.pause * self.random.uniform(0.5, 1.5)):
            try:
                self.act()
            except AWAY:  # the server was killed, or is just starting
                self.done["broken off"] += 1

    def act(self) -> None:
        raise NotImplementedError

    def ask(self, what: str, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        status, _, text = request(self.port, method, API + path, body, self.token, **headers)
        if status == 503 and b"made_anew" in text:  # as promised, while somebody is excluded over and over
            self.done.update((what, AGAIN))
            return status, text
        self.told.append((time.monotonic(), status, f"{method} {path}"))
        if status < 300:
            self.done[what] += 1
        return status, text


class Manager(Actor):
    """Looks at everything and takes everything away."""

    LOOKS = ("dashboard", "people", "predictions?first=20", "flags", "")
    EXPORTS = ("answers", "predictions", "log", "backup", "model")

    def act(self) -> None:
        if self.random.random() < 0.8:
            path = self.random.choice(("/campaigns", *(f"/campaigns/{NAME}/{look}".rstrip("/") for look in self.LOOKS)))
            self.ask("looks", "GET", path)
        else:
            self.ask("exports", "GET", f"/campaigns/{NAME}/export/{self.random.choice(self.EXPORTS)}")


class Uploader(Actor):
    """Sends tables, some of them no tables at all, and makes campaigns of them, most of which it deletes again."""

    def __init__(self, port: int, token: str, seed: int, pause: float, rows: int = 2000) -> None:
        super().__init__(port, token, seed, pause)
        self.rows = rows
        self.kept: set[str] = set()
        """Campaigns that it was told are there."""

    def act(self) -> None:
        if self.random.random() < 0.3:
            junk, name = self.random.randbytes(50_000), self.random.choice(("a.csv", "a.parquet", "a.zip", "a.jsonl"))
            self.ask("bad uploads", "POST", "/uploads", junk, **{"X-File-Name": name})
            return
        out = io.StringIO()
        csv.writer(out).writerows([("id", "size"), *((f"r{i}", self.random.random()) for i in range(self.rows))])
        status, text = self.ask("uploads", "POST", "/uploads", out.getvalue().encode(), **{"X-File-Name": "a.csv"})
        if status != 201:
            return
        settings = {"title": "Soaked", "labels": {"kind": "number", "low": 0, "high": 1}, "rows": {"key": "id"}}
        body = json.dumps({"settings": settings, "upload": json.loads(text)["upload"]}).encode()
        status, text = self.ask("campaigns made", "POST", "/campaigns", body, **JSON)
        if status == 201:
            name = json.loads(text)["name"]
            if self.random.random() < 0.8:
                self.ask("campaigns deleted", "DELETE", f"/campaigns/{name}")
            else:
                self.kept.add(name)


class Excluder(Actor):
    """Excludes some people and includes them again."""

    PEOPLE = ("p0", "p1")

    def act(self) -> None:
        verb, who = self.random.choice(("exclude", "include")), self.random.choice(self.PEOPLE)
        self.ask("exclusions", "POST", f"/campaigns/{NAME}/people/{who}/{verb}", b"{}")


class Attacker(Actor):
    """Opens connections and keeps them in ways that nobody should, a few dozen at a time."""

    MOST = 40

    def __init__(self, port: int, token: str, seed: int, pause: float) -> None:
        super().__init__(port, token, seed, pause)
        self._open: list[socket.socket] = []

    def act(self) -> None:
        one = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self._open.append(one)
        host = f"Host: 127.0.0.1:{self.port}\r\n"
        post = f"POST {API}/campaigns/{NAME}/answers HTTP/1.1\r\n{host}Authorization: Bearer {self.token}\r\n"
        wrong = (
            b"GET /health/live HTTP/1.1\r\n",  # and no more
            f"GET /health/live HTTP/1.1\r\n{host}Content-Length: 9\r\n\r\nx".encode(),
            f"{post}Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{{".encode(),
            f"{post}Transfer-Encoding: chunked\r\n\r\n5\r\nab".encode(),
            f"GET /health/live HTTP/1.1\r\n{host}\r\n".encode() * 50,  # whose answers nobody reads
            self.random.randbytes(2000),
            b"",
        )
        one.sendall(self.random.choice(wrong))
        self.done["bad connections"] += 1
        while len(self._open) > self.MOST:
            self._open.pop(0).close()

    def work(self) -> None:
        super().work()
        for one in self._open:
            one.close()


class SilentProxy:
    """Loopback in front of a database's socket, which can fall silent: connections stay, and nothing passes."""

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / ".s.PGSQL.5432")
        self._loop = asyncio.new_event_loop()
        self._passing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._joined, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.speak()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def speak(self) -> None:
        self._loop.call_soon_threadsafe(self._passing.set)

    def silence(self) -> None:
        self._loop.call_soon_threadsafe(self._passing.clear)

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, to_them = await asyncio.open_unix_connection(self._path)
        for source, sink in ((reader, to_them), (theirs, writer)):
            task = asyncio.create_task(self._pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                await self._passing.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()

    async def _ended(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def close(self) -> None:
        self._run(self._ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
