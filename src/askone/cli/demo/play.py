"""Simulated people at a campaign, without a server: the functions that a server calls, as fast as they run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next, Served
from askone.campaign.output.views import shown_row
from askone.campaign.tables.open import open_table
from askone.cli.demo.base import DemoTask, Knowledge
from askone.client.question import Posed
from askone.errors import AskoneError
from askone.store.store import Store

_SECONDS = 4.0  # that an answer takes, on the clock of the simulation


def make(store: Store, task: DemoTask, at: float) -> Campaign:
    """Return the task's campaign in a store."""
    table = None if task.table is None else open_table(str(task.table))
    create_campaign(store, task.name, task.settings, table, "", at)
    return Campaign.open(store, task.name)


def play(campaign: Campaign, knowledge: Knowledge, people: Sequence[str], answers: int, seed: int = 0) -> Iterator[int]:
    """Let everybody answer at the same time, again and again; yields the number of answers until there are enough."""
    chance, now, given = random.Random(seed), 0.0, 0
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
    view = campaign.settings.labels.view(served.question)
    told = {"kind": view.kind, "sentence": str(served.question), "answers": view.answers or ("Yes", "No"), **view.parts}
    shown = {"lease": served.lease, "number": served.number, "row": shown_row(served.row, None, None), **told}
    answer = knowledge.answer(Posed.from_json(shown), chance)
    return Answer(person, served.lease, answer, f"told-{served.lease}", _SECONDS)


def _fine(results: Sequence[Any]) -> list[Any]:
    for result in results:
        if isinstance(result, AskoneError):
            raise result
    return list(results)
