"""Simulated people who answer through the server, at a human pace, each with a token of their own."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import final

from askone.cli.demo.base import Knowledge
from askone.client.client import Client
from askone.errors import RequestRefused, ServerUnavailable

_PATIENCE = 5.0  # seconds until a server that is away is given up
_OVER = ("closed", "spent", "done")


@final
@dataclass(frozen=True)
class SimulatedPerson:
    """A simulated person with a token for a campaign, and what they know."""

    campaign: str
    token: str
    knowledge: Knowledge
    seed: int


@final
class Crowd:
    """All of them, at work in threads of this process until ``stop`` or until each has given so many answers."""

    def __init__(self, hired: Iterable[SimulatedPerson], answers: int, seconds: float) -> None:
        self._hired, self._answers, self._seconds = list(hired), answers, seconds
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, url: str) -> None:
        """They come in one after the other."""
        for place, one in enumerate(self._hired):
            thread = threading.Thread(target=self._work, args=(url, one, place), name=f"person {place}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """They leave; whoever is in the middle of a request finishes it."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(_PATIENCE + 5)

    def _work(self, url: str, one: SimulatedPerson, place: int) -> None:
        if self._stopping.wait(self._seconds * place / max(len(self._hired), 1)):
            return
        with (
            suppress(ServerUnavailable),  # it has stopped before us
            Client(url, one.token, one.campaign, patience=_PATIENCE) as client,
        ):
            self._answer(client, one.knowledge, random.Random(one.seed))

    def _answer(self, client: Client, knowledge: Knowledge, chance: random.Random) -> None:
        given = 0
        while given < self._answers and not self._stopping.is_set():
            question = None
            with suppress(RequestRefused):  # asked again later
                question = client.ask()
            if client.state in _OVER:
                return
            if self._stopping.wait(self._seconds * chance.uniform(0.5, 1.5)):
                return
            if question is not None:
                with suppress(RequestRefused):  # the question went to somebody else
                    client.tell(question, knowledge.answer(question, chance))
                    given += 1
