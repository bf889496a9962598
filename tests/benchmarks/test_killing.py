"""What is looked at after kills and a soak: each thing that must not be is noticed."""

from __future__ import annotations

import importlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Next, SetStatus, Skip, Undo
from askone.store.open import open_store

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def killing(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("killing")


@pytest.fixture
def crowd(killing, tmp_path):
    """People whose answers were granted, and the log of them; no server is needed for that."""
    crowd = killing.Crowd(str(tmp_path / "a.db"), tmp_path, people=2, rows=60)
    crowd.people = [killing.Person(who, token, [0], 0) for who, token in crowd.tokens.items() if who != "boss"]
    with closing(open_store(crowd.url)) as store:
        campaign = Campaign.open(store, killing.NAME)
        for n in range(20):
            one = crowd.people[n % 2]
            [serving] = campaign.serve([Next(one.who)], 2.0 * n)
            lease, key = serving.question.lease, f"{one.who}-{n}"
            if n % 9 == 8:
                campaign.serve([Skip(one.who, lease, key)], 2.0 * n + 1)
                one.granted[key] = ("skips", None)
                continue
            campaign.serve([Answer(one.who, lease, n % 3 == 0, key)], 2.0 * n + 1)
            one.granted[key] = ("answers", n % 3 == 0)
        campaign.serve([Undo("p1", "p1-undo")], 50.0)
        crowd.people[1].granted["p1-undo"] = ("undo", None)
        campaign.keep()
    return crowd


def entries_of(killing, crowd):
    with closing(open_store(crowd.url)) as store:
        return list(store.entries(killing.NAME))


def lost(crowd, entries):
    crowd.people[0].granted["p0-99"] = ("answers", True)


def another(crowd, entries):
    verb, answer = crowd.people[0].granted["p0-0"]
    crowd.people[0].granted["p0-0"] = (verb, not answer)


def somebody_else(crowd, entries):
    crowd.people[1].granted["p0-0"] = crowd.people[0].granted.pop("p0-0")


def untold(crowd, entries):
    del crowd.people[0].granted["p0-0"]


def refused(crowd, entries):
    crowd.people[0].refused.add("p0-0")


def no_time(crowd, entries):
    crowd.people[0].unsaid.append("answers")


def twice(crowd, entries):
    entries.append(next(entry for entry in entries if entry.id == "p0-0"))


def asked_twice(crowd, entries):
    asked = next(entry for entry in entries if entry.event.kind == "asked")
    entries.append(replace(asked, event=replace(asked.event, id="ask-999")))


WRONG = (lost, another, somebody_else, untold, refused, no_time, twice, asked_twice)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: one.__name__)
def test_what_must_not_be_is_noticed(killing, crowd, wrong):
    entries = entries_of(killing, crowd)
    killing.check_log(crowd, entries)
    wrong(crowd, entries)
    with pytest.raises(AssertionError):
        killing.check_log(crowd, entries)


def test_a_state_that_is_no_replay_is_noticed_and_named(killing, crowd, monkeypatch):
    with closing(open_store(crowd.url)) as store:
        killing.check_kept(store)
        bits, states = killing.bits, []

        def other(campaign):
            states.append(bits(campaign))
            return {**states[-1], "crowd": b"other"} if len(states) == 1 else states[-1]

        monkeypatch.setattr(killing, "bits", other)
        with pytest.raises(AssertionError, match=r"differs from a replay at entry [0-9]+: \['crowd'\]"):
            killing.check_kept(store)


def test_what_came_in_between_is_no_difference(killing, crowd, monkeypatch):
    """The server notes a fit after one of the two was read: both are read again."""
    with closing(open_store(crowd.url)) as store:
        opened, open_campaign = [], Campaign.open

        def meanwhile(store, name, fresh=False):
            opened.append(fresh)
            campaign = open_campaign(store, name, fresh)
            if len(opened) == 1:
                open_campaign(store, name).serve([SetStatus("boss", "m-1", "paused")], 1000.0)
            return campaign

        monkeypatch.setattr(Campaign, "open", meanwhile)
        killing.check_kept(store)
        assert opened == [False, True, False, True]
