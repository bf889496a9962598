"""People at their keyboards, many and cheap: HTTP/1.1 over kept connections, nothing but asyncio and json.

Open loop: each person answers at times that are fixed beforehand.  An answer that cannot be sent in time, since the
question has not come, is sent late and its latency counts from when it was due.  Flat out: each answers at once.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Decide = Callable[[dict[str, Any]], bool]
_AGAIN = 0.2  # seconds until somebody without a question asks again
_LAST = 15.0  # seconds that answers on their way may take at the end


@dataclass
class Record:
    """What a load found; positions and ids are checked against the log afterwards."""

    latencies: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    served: dict[int, str] = field(default_factory=dict)
    twice: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    unsent: int = 0
    last: float = 0.0
    seconds: float = 0.0
    generator_cpu: float = 0.0

    def measured(self, load: str) -> list[float]:
        """The latencies; a load in which nobody was answered is an error, and no figure of it can be told."""
        if not self.latencies:
            raise RuntimeError(f"{load}: nobody was answered (problems {dict(self.problems)}, unsent {self.unsent})")
        return self.latencies


@dataclass(frozen=True)
class Place:
    """A campaign at a port of this machine, and what the load is called: ids of answers begin with it."""

    campaign: str
    port: int
    load: str


class Connection(asyncio.Protocol):
    """One connection: bytes in, whole responses out."""

    def __init__(self, person: Person) -> None:
        self._person, self._bytes = person, bytearray()

    def data_received(self, data: bytes) -> None:
        self._bytes += data
        while (end := self._bytes.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._bytes[:end]).lower()
            start = head.index(b"content-length:") + 15
            length = int(head[start : head.find(b"\r\n", start) if b"\r\n" in head[start:] else len(head)])
            if len(self._bytes) < end + 4 + length:
                return
            body = bytes(self._bytes[end + 4 : end + 4 + length])
            del self._bytes[: end + 4 + length]
            self._person.received(int(head[9:12]), body)

    def connection_lost(self, error: Exception | None) -> None:
        self._person.lost()


class Person:
    """Somebody who answers: holds one question and at most one request."""

    def __init__(self, name: str, token: str, place: Place, decide: Decide, record: Record) -> None:
        self.name, self.record, self._decide, self._place = name, record, decide, place
        head = (
            "POST /api/v1/campaigns/{}/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
            "Content-Type: application/json\r\nContent-Length: {{}}\r\n\r\n"
        )
        self._next = head.format(place.campaign, "next", place.port, token)
        self._answers = head.format(place.campaign, "answers", place.port, token)
        self._transport: asyncio.Transport | None = None
        self._question: dict[str, Any] | None = None
        self._due: deque[float] = deque()
        self._sent: tuple[str, float] | None = None  # the answer on its way and when it was due
        self.waiting = False  # for a request on its way
        self._count = 0
        self.flat = self.over = False

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_connection(lambda: Connection(self), "127.0.0.1", self._place.port)

    def ask(self) -> None:
        """A question, if there is none."""
        if not self.waiting and self._question is None and not self.over:
            self._write(self._next, b"{}")

    def due(self, at: float) -> None:
        """It is time for an answer."""
        self._due.append(at)
        self.go()

    def left(self) -> int:
        """Answers that were due and are not sent."""
        return len(self._due)

    def go(self) -> None:
        """Answers, if it is time and there is a question."""
        if self.waiting or self._question is None or self.over or not (self.flat or self._due):
            return
        at = time.perf_counter() if self.flat else self._due.popleft()
        self._count += 1
        name, question = f"{self._place.load}-{self.name}-{self._count}", self._question
        body = {"lease": question["lease"], "answer": self._decide(question), "id": name, "took": 1.0}
        self._sent, self._question = (name, at), None
        self._write(self._answers, json.dumps(body).encode())

    def _write(self, head: str, body: bytes) -> None:
        self.waiting = True
        assert self._transport is not None
        self._transport.write(head.format(len(body)).encode() + body)

    def received(self, status: int, body: bytes) -> None:
        now, sent, record = time.perf_counter(), self._sent, self.record
        self.waiting, self._sent = False, None
        if status != 200:
            record.problems[f"{status} {json.loads(body)['error']['code']}"] += 1
            asyncio.get_running_loop().call_later(_AGAIN, self.ask)
            return
        if sent is not None:
            record.latencies.append(now - sent[1])
            record.acknowledged.append(sent[0])
            record.last = now
        serving = json.loads(body)
        self._question = serving["question"]
        if self._question is None:
            record.empty[serving["state"]] += 1
            asyncio.get_running_loop().call_later(_AGAIN, self.ask)
            return
        # The same person may have it again: what was on its way when a load ended.
        if record.served.setdefault(self._question["number"], self.name) != self.name:
            record.twice += 1
        self.go()

    def lost(self) -> None:
        if not self.over:
            self.record.problems["connection lost"] += 1
            self.over = True

    def close(self) -> None:
        self.over = True
        if self._transport is not None:
            self._transport.close()


async def load(
    people: Sequence[Person], seconds: float, rate: float | None, begun: Callable[[], object] = time.time
) -> Record:
    """People answer for so long, ``rate`` answers a second together, or flat out; one record for all of them."""
    record, wrong = people[0].record, list[BaseException]()
    # What goes wrong in a callback would end in a line that nobody reads, and somebody who never answers.
    asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(_error_of(context)))
    await asyncio.gather(*(person.connect() for person in people))
    for person in people:
        person.ask()
    await _settled(people)  # the first questions: what is opened and compiled is no part of the load
    begun()
    cpu, started = time.process_time(), time.perf_counter()
    if rate is None:
        for person in people:
            person.flat = True
            person.go()
    else:
        _plan(people, seconds, rate, started, random.Random(0))
    await asyncio.sleep(seconds)
    for person in people:
        person.flat = False
    record.seconds = time.perf_counter() - started
    record.generator_cpu = time.process_time() - cpu
    if rate is not None:
        await _settled(people, answers=True)
    await _settled(people)
    record.seconds = max(record.seconds, record.last - started)  # with answers that were due and came late
    record.unsent = sum(person.left() for person in people)
    for person in people:
        person.close()
    if wrong:
        raise wrong[0]
    return record


def _error_of(context: dict[str, Any]) -> BaseException:
    found = context.get("exception")
    return found if isinstance(found, BaseException) else RuntimeError(str(context["message"]))


def _plan(people: Sequence[Person], seconds: float, rate: float, started: float, chance: random.Random) -> None:
    """Times of answers, fixed beforehand: each person's are evenly spaced and shaken by half of the distance."""
    loop, gap = asyncio.get_running_loop(), len(people) / rate
    offset = loop.time() - time.perf_counter()
    for person in people:
        at = started + gap * chance.random()
        while at < started + seconds:
            shaken = at + gap * chance.uniform(-0.5, 0.5)
            if shaken >= started:
                loop.call_at(shaken + offset, person.due, shaken)
            at += gap


async def _settled(people: Sequence[Person], answers: bool = False) -> None:
    """Until nothing is on its way; with ``answers``, nor anything due."""
    end = time.perf_counter() + _LAST
    while time.perf_counter() < end and any(one.waiting or (answers and one.left()) for one in people if not one.over):
        await asyncio.sleep(0.02)
