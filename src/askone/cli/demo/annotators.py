"""Simulated people who answer: through the server at a human pace, or without one, as fast as a campaign runs."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next, Served
from askone.campaign.tables.open import open_table
from askone.cli.answering import posed
from askone.cli.demo.tasks import DemoTask, Knowledge
from askone.client.client import Client
from askone.errors import AskoneError, RequestRefused, ServerUnavailable
from askone.session.log import Asked
from askone.store.store import Store

_PATIENCE = 5.0  # seconds until a server that is away is given up
_OVER = ("closed", "spent", "resting", "done")


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
    """All of them, at work in threads of this process until ``stop`` or until each has given so many answers.

    Nobody is told which row a question is about: in ``store`` they look up what a person would see.
    """

    def __init__(self, hired: Iterable[SimulatedPerson], answers: int, seconds: float, store: Store) -> None:
        self._hired, self._answers, self._seconds, self._store = list(hired), answers, seconds, store
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
            self._answer(client, one, random.Random(one.seed))

    def _answer(self, client: Client, one: SimulatedPerson, chance: random.Random) -> None:
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
                    key = self._key(one.campaign, question.number)
                    client.tell(question, one.knowledge.answer(question, key, chance))
                    given += 1

    def _key(self, campaign: str, number: int) -> str:
        asked = self._store.known(campaign, [f"ask-{number}"])[f"ask-{number}"].event
        assert isinstance(asked, Asked)
        return str(asked.row)


_SECONDS = 4.0  # that an answer takes, on the clock of the simulation


def make(store: Store, task: DemoTask, at: float) -> Campaign:
    """Return the task's campaign in a store."""
    table = None if task.table is None else open_table(str(task.table))
    create_campaign(store, task.name, task.settings, table, "", at)
    return Campaign.open(store, task.name)


def play(
    campaign: Campaign, knowledge: Knowledge, people: Sequence[str], answers: int, seed: int = 0, at: float = 0.0
) -> Iterator[int]:
    """Let everybody answer at the same time, again and again, from a time on; yield how many answers there are."""
    chance, now, given = random.Random(seed), at, 0
    before = _fine(campaign.serve([Next(person) for person in people], now))
    while given < answers:
        told = [
            _answer(campaign, person, serving.question, knowledge, chance)
            for person, serving in zip(people, before, strict=True)
            if serving.question is not None
        ][: answers - given]
        if not told:
            return
        now += _SECONDS
        results = dict(zip((one.person for one in told), _fine(campaign.serve(told, now)), strict=True))
        before = [results.get(person, serving) for person, serving in zip(people, before, strict=True)]
        given += len(told)
        yield given


def _answer(campaign: Campaign, person: str, served: Served, knowledge: Knowledge, chance: random.Random) -> Answer:
    answer = knowledge.answer(posed(campaign, served), served.row.key, chance)
    return Answer(person, served.lease, answer, f"told-{served.lease}", _SECONDS)


def _fine(results: Sequence[Any]) -> list[Any]:
    for result in results:
        if isinstance(result, AskoneError):
            raise result
    return list(results)
