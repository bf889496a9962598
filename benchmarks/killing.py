"""Servers killed while people answer: a real `askone serve`, threads that never give up, and what must hold."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import AskSettings, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.server.security.tokens import issue_token
from askone.session.log import Answered, Asked, Retracted, Skipped
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.users import MemberRole
from askone.store.notices import Excluded, Reopened
from askone.store.open import open_store
from askone.store.store import Store
from askone.store.verification import verify

NAME, OVERLAP = "sizes", 2
AWAY = (OSError, http.client.HTTPException)
JSON = {"Content-Type": "application/json"}
HANGS = 900.0
"""Seconds that nothing takes unless it hangs, however busy the machine is."""


def free_port() -> int:
    """One of those that the system gives to nobody by itself: still free when a server starts, and starts again."""
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(15_000, 32_000)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


class Nursery:
    """A process that has loaded everything and splits off servers: what takes seconds is done once for all of them.

    Each is a process of its own with the command line's main function in it, and dies like any other.
    """

    def __init__(self) -> None:
        # Not this file as a program: each process that a server starts would load all of it.
        begin = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import killing; killing._nurse()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
        )

    def start(self, arguments: Sequence[str], said: Path) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(said), *arguments]).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()


def _nurse() -> None:
    from askone.cli.main import main  # noqa: PLC0415  # in this process alone
    from askone.cli.serve import run_serve  # noqa: F401, PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, _say_stacks)
    while line := sys.stdin.readline():
        said, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            out = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os._exit(main(arguments))
        print(child, flush=True)


def _say_stacks(*_: object) -> None:
    """Where each thread of this process is: for whoever wants to know what a server does.

    Not by faulthandler, which looks at frames while they are let go of, and may end the process.
    """
    names, frames = {one.ident: one.name for one in threading.enumerate()}, sys._current_frames()
    for thread, frame in frames.items():
        places = [f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in traceback.extract_stack(frame)[-12:]]
        line = f"stack of {names.get(thread)}: {' < '.join(places[::-1])}\n"
        with suppress(OSError):  # its disk may be full; and not by sys.stderr, in which this may have come just now
            os.write(2, line.encode())


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


class Server:
    """A process that serves a store; it may be killed and started again on the same port.

    It is started by a nursery, or by itself as anybody would.
    """

    def __init__(
        self, url: str, folder: Path, nursery: Nursery | None = None, processes: int = 1, options: Sequence[str] = ()
    ) -> None:
        self.port, self.nursery, self.pid = free_port(), nursery, 0
        self.arguments = ["serve", "--store", url, "--port", str(self.port), "--processes", str(processes), *options]
        self.said = folder / f"server-{self.port}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self.nursery is not None:
            self.pid = self.nursery.start(self.arguments, self.said)
            return
        with self.said.open("ab") as out:
            command = [sys.executable, "-m", "askone", *self.arguments]
            self._process = subprocess.Popen(command, stdout=out, stderr=out, env=_environment())
        self.pid = self._process.pid

    @property
    def alive(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return self.pid > 0

    def wait(self) -> None:
        """Until it and its store answer."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end and self.alive:
            try:
                if exchange(self.port, "GET", "/health/ready")[0] == 200:
                    return
            except AWAY:
                pass
            time.sleep(0.03)
        raise RuntimeError(f"the server does not come up:\n{self.words()}")

    def end(self, sign: signal.Signals) -> bool:
        """Whether it is gone."""
        os.kill(self.pid, sign)
        end = time.monotonic() + 120
        while self.alive and time.monotonic() < end:
            time.sleep(0.005)
        return not self.alive

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        assert self.end(signal.SIGKILL), "it does not die"

    def words(self) -> str:
        return self.said.read_text(errors="replace")[-3000:] if self.said.exists() else ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.alive and not self.end(signal.SIGTERM):
            self.kill()


def request(
    port: int, method: str, path: str, body: bytes | None = None, token: str = "", **headers: str
) -> tuple[int, Any, bytes]:
    """One request on a connection of its own: status, headers, body."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as link:
        link.request(method, path, body, headers | ({"Authorization": f"Bearer {token}"} if token else {}))
        response = link.getresponse()
        return response.status, response.headers, response.read()


def exchange(port: int, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any, Any]:
    """The same with JSON."""
    sent = None if body is None else json.dumps(body).encode()
    status, headers, text = request(port, method, path, sent, token, **({} if body is None else JSON))
    return status, headers, json.loads(text)


class Worker(threading.Thread):
    """Does one thing after the other until it is ``over``; what goes wrong is told by whoever waits for it."""

    def __init__(self, name: str, token: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.token, self.random, self.over = token, random.Random(f"{name}-{seed}"), threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:  # noqa: BLE001  # see above
            self.failure = error

    def work(self) -> None:
        raise NotImplementedError


class Wait(NamedTuple):
    """From when something was first sent until it was granted or refused, and the statuses that came back."""

    begun: float
    ended: float
    who: str
    verb: str
    told: tuple[int, ...]
    """0: the connection broke."""

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


class Person(Worker):
    """Answers, skips and takes back, each under an id that stays the same until the server said yes or no to it."""

    def __init__(self, who: str, token: str, ports: Sequence[int], seed: int) -> None:
        super().__init__(who, token, seed)
        self.who, self.ports = who, list(ports)
        self.granted: dict[str, tuple[str, Any]] = {}
        self.refused: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self.repeated = self.count = self.broken = 0
        self.pause = 0.0
        """Seconds before each answer, about."""
        self.waits: list[Wait] = []
        self.began: float | None = None
        """When what is waited for was first sent."""
        self.told: list[int] = []
        self.unsaid: list[str] = []

    def work(self) -> None:
        serving: Any = None
        while not self.over.is_set():
            serving = self.turn(serving)

    def turn(self, serving: Any) -> Any:
        question = serving and serving["question"]
        if question is None:
            if serving is not None:
                self.over.wait(0.05)
            return self.send("next", {}) or None
        self.over.wait(self.pause * self.random.uniform(0.5, 1.5))
        self.count += 1
        body = {"lease": question["lease"], "id": f"{self.who}-{self.count}"}
        chance = self.random.random()
        if chance < 0.08 and serving["undoable"]:
            return self.send("undo", {"id": body["id"]})
        if chance < 0.14:
            return self.send("skips", {**body, "reason": self.random.choice(["skip", "cannot tell"])})
        return self.send("answers", {**body, "answer": self.random.random() < 0.5, "took": 1.0})

    def send(self, verb: str, body: dict[str, Any]) -> Any:
        """Until it is granted or refused, or all is over."""
        begun = self.began = time.monotonic()
        self.told = []
        try:
            return self._send(verb, body)
        finally:
            self.began = None
            self.waits.append(Wait(begun, time.monotonic(), self.who, verb, tuple(self.told)))

    def _send(self, verb: str, body: dict[str, Any]) -> Any:
        key, tries = body.get("id"), 0
        while not self.over.is_set() or (key and tries):
            tries += 1
            port = self.ports[(self.count + tries) % len(self.ports)]
            try:
                status, headers, said = exchange(port, "POST", f"/api/v1/campaigns/{NAME}/{verb}", body, self.token)
            except AWAY:
                self.broken += 1
                self.told.append(0)
                time.sleep(0.1 * self.random.random())
                continue
            self.told.append(status)
            self.statuses[status] += 1
            if status in (429, 503):
                if "Retry-After" not in headers:
                    self.unsaid.append(verb)
                time.sleep(0.1)
                continue
            if status == 200:
                if key:
                    self.granted[key] = (verb, body.get("answer"))
                    self.repeated += bool(said["duplicate"])
                return said
            assert status == 409, (status, said)
            if key:
                self.refused.add(key)
            return None
        return None


def enrolled(
    accounts: Accounts, campaign: str, who: str, role: MemberRole = "annotator", scopes: Sequence[str] = ("answer",)
) -> str:
    """A person of this role in a campaign; their token."""
    if accounts.user(who) is None:
        accounts.add_user(who, who, role, None)
    accounts.add_member(campaign, who, role)
    return issue_token(accounts, who, scopes, time.time() + 1e6, "benchmark")[1]


class Crowd:
    """A campaign in a store, and people at the servers of it."""

    def __init__(self, url: str, folder: Path, people: int = 4, rows: int = 4000, seed: int = 0) -> None:
        self.url, self.seed, self.tokens = url, seed, {}
        path = folder / "sizes.csv"
        path.write_text("id,size,width\n" + "".join(f"r{i},{i % 97},{i * i % 89}\n" for i in range(rows)))
        # Short leases: questions that somebody held when a server died come round again.
        ask = AskSettings(overlap=OVERLAP, exam_share=0.1, lease_seconds=3.0)
        settings = Settings("Sizes", Numbers(0, 100, name="size"), rows=RowSettings(key="id"), ask=ask)
        with closing(open_store(url)) as store:
            create_campaign(store, NAME, settings, open_table(path), "boss", time.time())
            self.tokens["boss"] = enrolled(store.accounts, NAME, "boss", "manager", ("read", "answer", "manage"))
            for who in (f"p{i}" for i in range(people)):
                self.tokens[who] = enrolled(store.accounts, NAME, who)
        self.people: list[Person] = []

    def come(self, ports: Sequence[int]) -> None:
        for who, token in self.tokens.items():
            if who != "boss":
                self.people.append(Person(who, token, ports, self.seed))
                self.people[-1].start()

    @property
    def granted(self) -> int:
        return sum(len(one.granted) for one in self.people)

    def progress(self, events: int, seconds: float = HANGS) -> None:
        """Until so many more were granted."""
        until, end = self.granted + events, time.monotonic() + seconds
        while self.granted < until:
            failures = [one.failure for one in self.people if one.failure]
            if failures:
                raise failures[0]
            if time.monotonic() > end:
                raise RuntimeError(f"nobody gets on: {self.granted} granted, {[p.statuses for p in self.people]}")
            time.sleep(0.01)

    def leave(self) -> None:
        for one in self.people:
            one.over.set()
        for one in self.people:
            one.join(HANGS)
            if one.failure:
                raise one.failure
            assert not one.is_alive()

    def statuses(self) -> Counter[int]:
        return sum((one.statuses for one in self.people), Counter())

    def faults(self) -> set[int]:
        return set(self.statuses()) - {200, 409, 429, 503}


def check(crowd: Crowd, port: int) -> dict[str, int]:
    """Everything that was granted happened once, nothing else did, and the model is what the log says."""
    end = time.monotonic() + HANGS
    while exchange(port, "GET", f"/api/v1/campaigns/{NAME}", token=crowd.tokens["boss"])[2].get("pending", 1):
        assert time.monotonic() < end, "there is always something left to learn"
        time.sleep(0.1)
    with closing(open_store(crowd.url)) as store:
        live, replayed = _predicted(crowd, port), Campaign.open(store, NAME, fresh=True)
        patience = time.monotonic() + HANGS
        # JSON has the shortest text that reads back as the same float: equal text, equal bits.
        while (again := json.loads(json.dumps(replayed.predictions(range(50))))) != live:
            # A fit that was under way may have taken effect between the two.
            differ = [pair for pair in zip(again, live, strict=True) if pair[0] != pair[1]][:3]
            assert time.monotonic() < patience, differ
            time.sleep(1.0)
            live, replayed = _predicted(crowd, port), Campaign.open(store, NAME, fresh=True)
        verdict = verify(store, NAME)
        assert verdict.valid, verdict
        entries = list(store.entries(NAME))
        check_log(crowd, entries)
        check_kept(store)
        return {"entries": len(entries), "granted": crowd.granted, "answers": replayed.projection.answers}


def check_kept(store: Store, patience: float = HANGS) -> None:
    """What was kept, continued, is the fold of the whole log, bit for bit; both of the same log."""
    end = time.monotonic() + patience
    while True:
        kept, replayed = Campaign.open(store, NAME), Campaign.open(store, NAME, fresh=True)
        if kept.projection.seq == replayed.projection.seq:
            break
        # The server noted a fit in between: it has one made while it has nothing else to do.
        assert time.monotonic() < end, "the log grows and grows though nobody answers"
    both, again = bits(kept), bits(replayed)
    differ = sorted(name for name in both.keys() | again.keys() if both.get(name) != again.get(name))
    assert not differ, f"what was kept differs from a replay at entry {kept.projection.seq}: {differ}"


def _predicted(crowd: Crowd, port: int) -> Any:
    """What the server predicts now."""
    status, _, live = exchange(
        port, "GET", f"/api/v1/campaigns/{NAME}/predictions?first=50", token=crowd.tokens["boss"]
    )
    assert status == 200, live
    return live


def bits(campaign: Campaign) -> dict[str, bytes]:
    """The state of a campaign's model."""
    return {
        name: array.tobytes()
        for name, array in campaign.projection.learner.to_arrays(campaign.projection.state).items()
    }


def check_log(crowd: Crowd, entries: Sequence[Any]) -> None:
    assert not _twice(entry.id for entry in entries), "in the log twice"
    kinds = {"answers": (Answered,), "skips": (Skipped,), "undo": (Retracted, Reopened)}
    by_id = {entry.id: entry for entry in entries}
    for one in crowd.people:
        for key, (verb, answer) in one.granted.items():
            assert key in by_id, f"{key} was granted and is not in the log"
            event = by_id[key].event
            assert isinstance(event, kinds[verb]), (key, verb, event)
            assert by_id[key].who == one.who, (key, by_id[key])
            assert verb != "answers" or event.answer == answer, (key, answer, event)
        assert not one.refused & set(by_id), "refused, but in the log"
        assert not one.unsaid, "503 without Retry-After"
    mine = {key for one in crowd.people for key in one.granted}
    theirs = {e.id for e in entries if isinstance(e.event, Answered | Skipped | Retracted | Reopened)}
    assert theirs == mine, theirs ^ mine
    _check_overlap(entries)


def _twice(values: Iterable[Any]) -> list[Any]:
    return [value for value, count in Counter(values).items() if count > 1]


def _check_overlap(entries: Sequence[Any]) -> None:
    """No row is asked twice, and no more answers stand for it than there are seats.

    Answers of somebody who was ever excluded are not counted: others are asked instead.
    """
    out = {entry.event.person for entry in entries if isinstance(entry.event, Excluded)}
    assert not _twice(entry.event.row for entry in entries if isinstance(entry.event, Asked)), "a row was asked twice"
    standing: Counter[str] = Counter()
    asked_of = {}
    people = set()
    for entry in entries:
        event = entry.event
        if isinstance(event, Answered):
            assert (entry.who, event.asked) not in people, "asked the same person twice"
            people.add((entry.who, event.asked))
            standing[event.asked] += entry.who not in out
            asked_of[event.id] = (entry.who, event.asked)
            assert standing[event.asked] <= OVERLAP, f"{event.asked} has more answers than seats"
        elif isinstance(event, Retracted) and event.answered in asked_of:
            standing[asked_of[event.answered][1]] -= asked_of[event.answered][0] not in out
            people.discard(asked_of[event.answered])


def killed(
    url: str,
    folder: Path,
    kills: int,
    seed: int = 0,
    servers: int = 1,
    nursery: Nursery | None = None,
    say: Callable[[str], None] | None = None,
) -> dict[str, int]:
    """People answer at one or several servers; one is killed at a random moment and started again, over and over."""
    crowd, chance = Crowd(url, folder, seed=seed), random.Random(seed)
    with ExitStack() as stack:
        running = [stack.enter_context(Server(url, folder, nursery)) for _ in range(servers)]
        for server in running:
            server.wait()
        crowd.come([server.port for server in running])
        for kill in range(kills):
            crowd.progress(chance.randint(1, 30))
            time.sleep(chance.uniform(0.0, 0.05))
            victim = chance.choice(running)
            victim.kill()
            if servers > 1:
                crowd.progress(2)  # the others go on
            victim.start()
            victim.wait()
            if say is not None:
                say(f"{kill + 1} of {kills}: {crowd.granted} granted")
        crowd.progress(10)
        crowd.leave()
        found = check(crowd, running[-1].port)
        assert not crowd.faults(), (crowd.statuses(), [server.words() for server in running])
        return {**found, "kills": kills, "broken": sum(p.broken for p in crowd.people),
                "repeated": sum(p.repeated for p in crowd.people)}  # fmt: skip


def bereft(
    url: str, folder: Path, postgres: Any, stops: int, seed: int = 0, nursery: Nursery | None = None
) -> dict[str, int]:
    """The database is stopped and started under load; the server recovers by itself."""
    crowd, chance = Crowd(url, folder, seed=seed), random.Random(seed)
    with Server(url, folder, nursery) as server:
        server.wait()
        crowd.come([server.port])
        for _ in range(stops):
            crowd.progress(5)
            time.sleep(chance.uniform(0.0, 0.3))
            before = crowd.statuses()[503]
            postgres.stop()
            end = time.monotonic() + HANGS
            while crowd.statuses()[503] == before and time.monotonic() < end:
                time.sleep(0.02)
            away = crowd.statuses()[503] - before
            postgres.start()
            assert away, "nobody was told that the store is away"
        crowd.progress(20)
        crowd.leave()
        found = check(crowd, server.port)
        assert not crowd.faults(), (crowd.statuses(), server.words())
        return {**found, "stops": stops, "told to wait": crowd.statuses()[503]}
