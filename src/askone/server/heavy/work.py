"""Work on people's files: who waits for whom, and the processes that do it.

One job at a time for each person, a few in all, each with a time; what nobody waits for any more is ended.  A process
does several jobs one after the other, since it takes seconds to start, and is let go when there are no more.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess  # nosec B404
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, final

from starlette.requests import Request

import askone
from askone import errors
from askone.encoding import embedders
from askone.learners import registry
from askone.server._errors import ApiError, too_many_requests
from askone.server.config import ServerConfig
from askone.server.heavy import jobs
from askone.server.heavy.child import TOO_LARGE
from askone.server.ops.threads import Threads
from askone.store.store import Store

T = TypeVar("T")
_WAITING, _IDLE = 20, 120.0
"""Jobs of one person that may wait, and seconds after which a process without one is let go."""
_QUIET: Final = {
    # One thread each, and memory from the system alone, so that the limit of memory counts what is used.
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}  # fmt: skip
log = logging.getLogger("askone.heavy")


@final
class Child:
    """A process of ``child``."""

    def __init__(self, most: int, embedders: tuple[str, ...] = ()) -> None:
        self._embedders = embedders
        here = str(Path(str(askone.__file__)).parents[1])
        path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        # Our own module, by the interpreter that runs this: no word of a request is in the command.
        self._process = subprocess.Popen(  # nosec B603
            [sys.executable, "-P", "-m", "askone.server.heavy.child", str(most), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_QUIET, "PYTHONPATH": path},
        )
        self.used, self.last = time.monotonic(), False

    def call(self, job: str, store: str | None, values: dict[str, Any]) -> Any:
        """Return the result of a job, or raise its error; a process that ended in it was killed, or out of memory."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {"job": job, "store": store, "values": values, "embedders": self._embedders}
        line = json.dumps(told).encode() + b"\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            reply = json.loads(self._process.stdout.readline() or b"null")
        except (BrokenPipeError, ValueError):
            reply = None
        self.used, self.last = time.monotonic(), reply is None or reply["last"]
        if reply is None:
            raise self._ended()
        if "error" in reply:
            raise vars(errors)[reply["error"]](*reply["args"])
        return reply["result"]

    def _ended(self) -> Exception:
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = -1
        # 1 is Python's own, with a traceback in the log.  Others are from outside, or from a library without memory.
        return RuntimeError("the process for files failed") if code == 1 else errors.InvalidFile(TOO_LARGE)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End it for good."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@final
class HeavyWork:
    """See the module.  Where the store is in this process's memory, work on files is done here as well."""

    def __init__(self, store: Store, config: ServerConfig) -> None:
        self._store, self._config = store, config
        self.threads = Threads("heavy", config.heavy_processes)
        """For what is long and not about files: folds, exports."""
        self._searches = Threads("searches", 1)
        self._files = Threads("files", config.heavy_processes)
        self._slots = asyncio.Semaphore(config.heavy_processes)
        self._lines: dict[str, tuple[asyncio.Lock, list[str]]] = {}
        self._idle: list[Child] = []
        self._closed = False

    async def run(self, request: Request, person: str, job: str, **values: Any) -> Any:
        """Return the result of a job of ``jobs``, which is ended when the client disconnects."""
        work = asyncio.create_task(self._in_turn(person, job, values))
        gone = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ApiError(400, "disconnected", "The connection ended before the work was done.")
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def search(self, person: str, call: Callable[..., T], *values: object) -> T:
        """Return what a look through many rows gives: one at a time, and few of one person may wait."""
        async with self._line(f"searches of {person}"):
            return await self._searches.run(call, *values)

    async def _in_turn(self, person: str, job: str, values: dict[str, Any]) -> Any:
        async with self._line(person), self._slots:
            if self._store.address is None or registry.names() or embedders.unnamed():
                # Nobody else sees this memory, or knows what this program has registered.
                return await self._files.run(self._here, job, values)
            return await self._in_child(job, values)

    def _here(self, job: str, values: dict[str, Any]) -> Any:
        if job in jobs.READING:
            return jobs.READING[job](self._store, **values)
        for embedder in self._config.embedders:
            embedders.name_embedder(embedder)
        return jobs.STORED[job](self._store, **values)

    @asynccontextmanager
    async def _line(self, person: str) -> AsyncIterator[None]:
        lock, waiting = self._lines.setdefault(person, (asyncio.Lock(), []))
        if len(waiting) >= _WAITING:
            raise too_many_requests(10.0)
        waiting.append(person)
        try:
            async with lock:
                yield
        finally:
            waiting.pop()
            if not waiting:
                del self._lines[person]

    async def _in_child(self, job: str, values: dict[str, Any]) -> Any:
        store = self._store.address if job in jobs.STORED else None
        child = self._free() or Child(self._config.heavy_bytes, self._config.embedders)
        work = asyncio.ensure_future(self._files.run(child.call, job, store, values))
        try:
            await asyncio.wait({work}, timeout=self._config.heavy_seconds)
            if not work.done():
                raise ApiError(422, "too_slow", f"This takes longer than {self._config.heavy_seconds:g} seconds.")
            return work.result()
        finally:
            ended = not work.done()
            try:
                if ended:
                    child.kill()
                    await asyncio.gather(work, return_exceptions=True)
                    await self._clean_up(store)
            finally:  # also where whoever waits is told a second time not to
                if ended or child.last or self._closed:
                    await self._end(child)
                else:
                    self._idle.append(child)

    async def _end(self, child: Child) -> None:
        """End a process for good: one that gives way to all others may take seconds to die, and people are served."""
        child.kill()
        if self._closed:
            child.close()
            return
        try:
            await self._files.run(child.close)
        except asyncio.CancelledError:
            child.close()
            raise

    def _free(self) -> Child | None:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            child.close()
        return None

    async def _clean_up(self, store: str | None) -> None:
        """Take away what a process left behind that was ended in the midst of writing."""
        if store is not None and not self._closed:
            try:
                await self._files.run(self._store.sweep)
            except errors.StoreUnavailable:
                log.warning("what was half made is taken away when the store is opened next")

    async def sweep(self) -> None:
        """Let go of processes that had nothing to do for a while."""
        old = time.monotonic() - _IDLE
        for child in [one for one in self._idle if one.used < old]:
            self._idle.remove(child)
            await self._end(child)

    def close(self) -> None:
        """End all processes and threads; one that is at work ends when its caller stops waiting."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        for threads in (self.threads, self._files, self._searches):
            threads.close()


async def _disconnected(request: Request) -> None:
    """Wait until whoever sent a request, the body of which was read, is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
