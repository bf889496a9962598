"""Simulated people who answer through the server, at a human pace, each with a token of their own."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from askone.cli.demo.base import Knowledge
from askone.client.client import Client
from askone.client.question import Posed
from askone.errors import RequestRefused, ServerUnavailable

_PATIENCE = 5.0  # seconds until a server that is away is given up
_OVER = ("closed", "spent", "done")


@final
@dataclass(frozen=True)
class SimulatedPerson:
    """Somebody with a token for a campaign, and what they know."""

    campaign: str
    token: str
    knowledge: Knowledge
    seed: int


@final
class Crowd:
    """All of them, at work in threads of this process until ``stop`` or until each has given so many answers."""

    def __init__(self, hired: Iterable[SimulatedPerson], answers: int, seconds: float) -> None:
        self._hired: Sequence[SimulatedPerson] = list(hired)
        self._answers, self._seconds = answers, seconds
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
        chance = random.Random(one.seed)
        try:
            with Client(url, one.token, one.campaign, patience=_PATIENCE) as client:
                self._answer(client, one.knowledge, chance)
        except ServerUnavailable:
            return  # it has stopped before us

    def _answer(self, client: Client, knowledge: Knowledge, chance: random.Random) -> None:
        given = 0
        while given < self._answers and not self._stopping.is_set():
            question = self._asked(client)
            if client.state in _OVER:
                return
            pause = self._seconds * chance.uniform(0.5, 1.5)
            if self._stopping.wait(pause):
                return
            if question is not None:
                given += self._told(client, question, knowledge.answer(question, chance))

    def _asked(self, client: Client) -> Posed | None:
        try:
            return client.ask()
        except RequestRefused:
            return None  # asked again later

    def _told(self, client: Client, question: Posed, answer: bool) -> bool:
        try:
            client.tell(question, answer)
        except RequestRefused:
            return False  # the question went to somebody else
        return True
