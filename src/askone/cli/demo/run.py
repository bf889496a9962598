"""askone demo: a server with three campaigns that are being answered, or one campaign in the terminal."""

from __future__ import annotations

import argparse
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

from rich.console import Console

from askone._common.validate import as_count, as_number
from askone.cli import console as printing
from askone.cli.compile import compile_ahead
from askone.cli.demo.annotators import Crowd, SimulatedPerson, make
from askone.cli.demo.headless import headless
from askone.cli.demo.tasks import FLIP, DemoTask, Flipping, digits, drinks, flats
from askone.errors import InvalidArgument
from askone.server.config import ServerConfig
from askone.server.runner import require_free, serve
from askone.server.security.tokens import digest, issue_token, new_id, new_secret
from askone.store.open import open_store
from askone.store.store import Store

_PORT = 8000
_HOURS = 24.0  # that tokens and the invitation last
_NAMES = ("Ada", "Emil", "Ida", "Juri", "Lea", "Max", "Nora", "Otto", "Rosa")


@final
@dataclass(frozen=True)
class Demo:
    """Options of the demonstration: where to listen (no port: 8000 if it is free, else any that is), where to keep it
    (None: nowhere), how busy people are.

    Each of ``people`` simulated people in each campaign gives at most ``answers`` answers, one in ``seconds``.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    store: str | None = None
    people: int = 3
    answers: int = 240
    seconds: float = 1.5
    digits: int = 800
    flats: int = 3000

    def __post_init__(self) -> None:
        as_count(self.people, "people", 0, len(_NAMES))
        as_count(self.answers, "answers", 0)
        as_number(self.seconds, "seconds_per_answer", 0.0)


def run_demo(chosen: argparse.Namespace, console: Console) -> int:
    """Show what askone does."""
    answers: dict[str, Any] = {} if chosen.answers is None else {"answers": chosen.answers}
    if chosen.headless:
        return headless(**answers, console=console)
    demo = Demo(chosen.host, chosen.port, chosen.store, seconds=chosen.seconds_per_answer, **answers)
    return run(demo, partial(printing.say, console))


def run(demo: Demo, say: Callable[[str], None] = print) -> int:
    """Serve until it is interrupted."""
    config = _listening(demo)
    with tempfile.TemporaryDirectory(prefix="askone-demo-") as folder, _ended_like_ctrl_c():
        url = demo.store or str(Path(folder) / "askone.db")
        say("Making three campaigns: handwritten digits, prices of flats, favourite drinks …")
        tasks = [digits(Path(folder), demo.digits), flats(Path(folder), demo.flats), drinks()]
        compile_ahead()
        with open_store(url) as store:
            make_missing(store, tasks)
            crowd = Crowd(hired(store, tasks, demo), demo.answers, demo.seconds, store)
            link = _invitation(store, "digits")

            def begun(address: str) -> None:
                say(f"Answer at once, without an account, at {address}{link}")
                if demo.people and demo.answers:
                    say(f"{demo.people} simulated people answer in each campaign. Ctrl-C ends it all.")
                crowd.start(address)

            try:
                with suppress(KeyboardInterrupt):  # a server that was interrupted may return, or raise
                    serve(url, config, say, begun)
            finally:
                crowd.stop()
        say("Stopped." if demo.store is None else f"Stopped; {demo.store} keeps what was answered.")
        return 0


def _listening(demo: Demo) -> ServerConfig:
    """Return where to listen; where nobody chose a port, one that is taken is no reason to stop."""
    usual = ServerConfig(host=demo.host, port=_PORT if demo.port is None else demo.port, access_log=False)
    try:
        require_free(usual)
    except InvalidArgument:
        if demo.port is not None:
            raise
        return replace(usual, port=0)
    return usual


def make_missing(store: Store, tasks: list[DemoTask]) -> None:
    """Make the tasks' campaigns that a store does not have."""
    there = {record.name for record in store.campaigns()}
    for task in tasks:
        if task.name not in there:
            make(store, task, time.time())


def hired(store: Store, tasks: list[DemoTask], demo: Demo) -> list[SimulatedPerson]:
    """Return simulated people: accounts without passwords, with a token each."""
    accounts, found = store.accounts, []
    for number, name in enumerate(_NAMES[: demo.people]):
        person = f"simulated-{number + 1}"
        if accounts.user(person) is None:
            accounts.add_user(person, f"{name} (simulated)", "annotator", None)
        for place, task in enumerate(tasks):
            if accounts.role_in(task.name, person) is None:
                accounts.add_member(task.name, person, "annotator")
            _, token = issue_token(accounts, person, ("answer",), time.time() + 3600 * _HOURS, "demonstration")
            knowledge = Flipping(task.knowledge, FLIP) if task.name == "digits" else task.knowledge
            found.append(SimulatedPerson(task.name, token, knowledge, 100 * number + place))
    return found


def _invitation(store: Store, campaign: str) -> str:
    secret, ends = new_secret(), time.time() + 3600 * _HOURS
    store.accounts.add_invitation(new_id("i"), digest(secret), campaign, ends, 100, "demonstration")
    return f"/join#{secret}"


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """A request to end (SIGTERM) is as good as Ctrl-C: files are taken away."""

    def end(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
