"""A thread for each campaign in use: what people do at the same time becomes one durable batch.

Routes are asynchronous and put commands into a queue.  The thread takes all that wait, serves them as one
batch (one transaction, one flush to disk), and hands the results back; meanwhile the next batch gathers.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, final

from askone.errors import AskoneError, StoreUnavailable, UnknownCampaign

OnResults = Callable[[Sequence[Any], Sequence[Any]], None]
T = TypeVar("T")
_BUSY, _GATHER, _RECENT = 0.02, (0.004, 0.01), 2.0  # seconds
_LESSONS = 0.1
"""Seconds at most that people who wait leave to the lessons of a turn.  Else as long as the turn took, which may have
been very long: the campaign was opened in it, or the store was away."""
log = logging.getLogger("askone.worker")


class BatchService(Protocol):
    """What a worker runs; ``CampaignService`` is one."""

    def serve(self, commands: Sequence[Any], now: float) -> Sequence[Any]:
        """Serve commands as one durable batch; return a value or an error for each."""

    def learn(self, go_on: Callable[[], bool]) -> None:
        """Learn from what was said, as long as ``go_on`` says so."""


@final
@dataclass(frozen=True, eq=False)
class _Job:
    """A command, or a function of the campaign, and who waits for it."""

    waiting: asyncio.Future[Any]
    command: Any = None
    call: Callable[[Any], Any] | None = None


@contextmanager
def _errors_to(jobs: Sequence[_Job]) -> Iterator[None]:
    """Hand whatever goes wrong inside to those who wait, and not up the thread."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, AskoneError):
            log.error("a turn failed", exc_info=error)
        _settle(jobs, [error] * len(jobs))


@final
class _Learning:
    """The thread in which a campaign's model learns while nobody is being served: one lesson may take very long."""

    def __init__(self, name: str, is_idle: Callable[[], bool]) -> None:
        self._is_idle, self._campaign, self._until = is_idle, cast(BatchService | None, None), 0.0
        self._paused = self._over = False
        self._wanted, self._resting = threading.Event(), threading.Event()
        self._resting.set()
        self._thread = threading.Thread(target=self._run, name=f"learning {name}", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Learn nothing more for now, after the lesson that is being learnt: people are served."""
        self._paused = True

    def go_on(self, campaign: BatchService | None, seconds: float) -> None:
        """Learn, now that everybody has a next question: for so long if others wait already.

        Whoever serves waits as long; but not for a lesson that was begun before people were served and is not done.
        """
        is_long = not self._resting.is_set()
        self._resting.clear()
        self._campaign, self._until, self._paused = campaign, time.perf_counter() + seconds, False
        self._wanted.set()
        if not is_long and not self._is_idle():
            self._resting.wait(seconds)

    def end(self) -> None:
        """End when the lesson that is being learnt is learnt."""
        self._paused = self._over = True
        self._wanted.set()
        self._thread.join()

    def _run(self) -> None:
        while self._wanted.wait() and not self._over:
            self._wanted.clear()
            campaign = self._campaign
            if campaign is not None:
                try:
                    campaign.learn(self._may)
                except StoreUnavailable:
                    log.warning("learning is put off: the store is away")
                except BaseException as error:  # as with whatever goes wrong in a turn, the thread lives
                    log.error("learning failed", exc_info=error)
            self._resting.set()

    def _may(self) -> bool:
        return not self._paused and (self._is_idle() or time.perf_counter() < self._until)


@final
class Worker:
    """The thread of one campaign, which opens it, serves it and is the only one that touches it."""

    def __init__(
        self,
        name: str,
        open_campaign: Callable[[str], BatchService],
        patience: float = 2.0,
        batch: int = 256,
        on_results: OnResults | None = None,
        on_batch: Callable[[int, float], None] | None = None,
    ) -> None:
        self.name = name
        self.used = time.monotonic()
        self._open, self._patience, self._batch = open_campaign, patience, batch
        self._on_results, self._on_batch = on_results, on_batch
        self._campaign: BatchService | None = None
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._ended, self._took = -_BUSY, 0.0
        self._learning = _Learning(name, self._queue.empty)
        self._thread = threading.Thread(target=self._run, name=f"campaign {name}", daemon=True)
        self._thread.start()

    def put(self, command: Any) -> asyncio.Future[Any]:
        """Put a command into the next batch; return its result, or the error it ends in."""
        return self._enqueue(_Job(asyncio.get_running_loop().create_future(), command=command))

    def run(self, call: Callable[[Any], T]) -> asyncio.Future[T]:
        """Call a function of the campaign's service between batches: reading belongs to the thread as well."""
        return self._enqueue(_Job(asyncio.get_running_loop().create_future(), call=call))

    def _enqueue(self, job: _Job) -> asyncio.Future[Any]:
        self.used = time.monotonic()
        self._queue.put(job)
        return job.waiting

    def stop(self) -> None:
        """End after what waits; returns at once."""
        self._queue.put(None)

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the end, after ``stop``; return whether it came."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop_retrying(self) -> None:
        """Stop retrying: the server is about to end."""
        self._stopping.set()

    def _run(self) -> None:
        while (jobs := self._gather()) is not None:
            self._learning.pause()
            with _errors_to(jobs):
                self._retried(self._campaign_service)
                commands = [job for job in jobs if job.call is None]
                if commands:
                    with _errors_to(commands):
                        self._serve(commands)
                for job in jobs:
                    if job.call is not None:
                        with _errors_to([job]):
                            _settle([job], [self._with(job.call)])
                if commands:
                    self._ended = time.monotonic()
            self._learning.go_on(self._campaign, min(self._took, _LESSONS))
        self._refuse_late()
        self._learning.end()

    def _refuse_late(self) -> None:
        """Tell who came after the end was announced to come again."""
        late: list[_Job] = []
        while not self._queue.empty():
            job = self._queue.get()
            if job is not None:
                late.append(job)
        _settle(late, [StoreUnavailable("this campaign is being let go: try again")] * len(late))

    def _campaign_service(self) -> BatchService:
        self._campaign = self._campaign or self._open(self.name)
        return self._campaign

    def _with(self, step: Callable[[Any], T]) -> T:
        """Run a step at the campaign; if that is gone, at the one that was made under its name since."""
        try:
            return self._retried(lambda: step(self._campaign_service()))
        except UnknownCampaign:
            self._campaign = None
            return self._retried(lambda: step(self._campaign_service()))

    def _gather(self) -> list[_Job] | None:
        first = self._queue.get()
        if first is None:
            return None
        if time.monotonic() < self._ended + _BUSY:
            # There is a rush, and a batch of several costs hardly more than one of one.
            time.sleep(min(max(self._took / 2, _GATHER[0]), _GATHER[1]))
        jobs = [first]
        while len(jobs) < self._batch:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._queue.put(None)
                break
            jobs.append(job)
        return jobs

    def _serve(self, jobs: Sequence[_Job]) -> None:
        commands = [job.command for job in jobs]
        started = time.perf_counter()
        results = self._with(lambda campaign: campaign.serve(commands, time.time()))
        _settle(jobs, results)
        took = self._took = time.perf_counter() - started
        if self._on_batch is not None:
            self._on_batch(len(jobs), took)
        if self._on_results is not None:
            self._on_results(commands, results)

    def _retried(self, step: Callable[[], T]) -> T:
        """Run a step, again and again while the store is away: events have their own ids, so that twice is once."""
        until, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                return step()
            except StoreUnavailable:
                if time.monotonic() + pause > until or self._stopping.is_set():
                    raise
            time.sleep(pause)
            pause *= 2


def _settle(jobs: Sequence[_Job], results: Sequence[Any]) -> None:
    """Hand results to those who wait: one call into each event loop, which wakes it once."""
    if jobs:
        pairs = list(zip((job.waiting for job in jobs), results, strict=True))
        loop = jobs[0].waiting.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(_set_results, pairs)


def _set_results(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for waiting, result in pairs:
        if waiting.done():
            continue
        if isinstance(result, BaseException):
            waiting.set_exception(result)
        else:
            waiting.set_result(result)


@final
class Workers:
    """The workers of a process, one for each campaign in use; what idles for long is let go."""

    def __init__(self, make: Callable[[str], Worker], idle: float) -> None:
        self._make, self._idle = make, idle
        self._workers: dict[str, Worker] = {}

    def __len__(self) -> int:
        return len(self._workers)

    def __getitem__(self, campaign: str) -> Worker:
        worker = self._workers.get(campaign)
        if worker is None:
            worker = self._workers[campaign] = self._make(campaign)
        return worker

    @property
    def busy(self) -> bool:
        """Whether somebody was served a moment ago."""
        lately = time.monotonic() - _RECENT
        return any(worker.used > lately for worker in self._workers.values())

    def release(self, campaign: str) -> None:
        """Let go of a campaign that is gone, or to be opened anew."""
        worker = self._workers.pop(campaign, None)
        if worker is not None:
            worker.stop()

    def sweep(self) -> None:
        """Let go of campaigns that nobody used for a while."""
        old = time.monotonic() - self._idle
        for name in [name for name, worker in self._workers.items() if worker.used < old]:
            self.release(name)

    async def close(self, seconds: float = 10.0) -> None:
        """Serve what waits, then end the threads."""
        workers, self._workers = list(self._workers.values()), {}
        for worker in workers:
            worker.stop_retrying()
            worker.stop()
        for worker in workers:
            await asyncio.to_thread(worker.join, seconds)
