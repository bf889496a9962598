"""Campaigns for tests, made straight from arrays."""

from dataclasses import replace

import numpy as np

from askone.campaign.campaign import Campaign
from askone.campaign.engine import model_builder, projection_arrays
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.settings.settings import (
    AskSettings,
    ClassNames,
    Items,
    LearnerSettings,
    Numbers,
    RowSettings,
    Settings,
)
from askone.store.entries import Entry, Row
from askone.store.notices import Began

PRICES = Settings("Prices", Numbers(0, 100, unit="EUR", name="price"))
ANIMALS = Settings("Animals", ClassNames(("cat", "lion", "owl", "emu")))
DRINKS = Settings("Drinks", Items(("tea", "coffee", "milk", "water")))


def asking(settings, gold=None, **changes):
    """The same settings, asked otherwise."""
    rows = RowSettings(gold=gold) if gold else settings.rows
    return Settings(settings.title, settings.labels, rows, settings.question, AskSettings(**changes), settings.learner)


def price(row):
    """The label of a row of ``PRICES``."""
    return 50 + 20 * row.content["size"]


def begun(store, settings, rows, model, name="c", who="", at=0.0):
    """A campaign over some rows, opened."""

    def began(count, mark):
        return Entry(Began("began", settings.to_json(), count, mark), who, at)

    store.create(name, settings.title, who, model_builder.pack(model, None), began, [rows[:7], rows[7:]])
    return Campaign.open(store, name)


def stage(store, settings=PRICES, rows=40, name="c", gold=None, columns=2):
    """A campaign over some rows, opened; gold: {position: label}."""
    X = np.random.default_rng(1).normal(size=(rows, columns)).astype(np.float32)
    known, rowless = gold or {}, isinstance(settings.labels, Items)
    made = [Row(i, f"r{i}", {"size": float(x[0]), "note": f"row {i}"}, x, known.get(i)) for i, x in enumerate(X)]
    if rowless:
        made = [Row(0, "all", {}, np.zeros(1, dtype=np.float32))]
    return begun(store, settings, made, model_builder.make_estimator(settings, None if rowless else X), name)


def stage_fitted(store):
    """A campaign whose learner is fitted now and then (see ``refitting``)."""
    return stage(store, replace(PRICES, learner=LearnerSettings(learner="fitted")), rows=60)


def fits_of(campaign):
    """The entries of its log that are fits."""
    return list(campaign.store.entries(campaign.name, kinds=("fitted",)))


def one(campaign, request, now=1.0):
    """The result of one request; an error is raised."""
    [result] = campaign.serve([request], now)
    if isinstance(result, Exception):
        raise result
    return result


def play(campaign, people, label_of, answers, start=1.0, seconds=1.0):
    """People in turn answer truthfully; the results."""
    now, found, current, i = start, [], {}, 0
    while len(found) < answers and i < answers + 100:
        i += 1
        person = people[i % len(people)]
        serving = current.pop(person, None) or one(campaign, Next(person), now)
        if serving.question is None:
            continue
        truth = serving.question.question.answer(label_of(serving.question.row))
        now += seconds
        current[person] = one(
            campaign, Answer(person, serving.question.lease, truth, f"a{start:g}-{i}-{person}", seconds), now
        )
        found.append(serving)
    return found


def state_of(campaign):
    """The model's state as bytes, and all else that the projection knows: equal for equal logs."""
    projection = campaign.projection
    arrays, known = projection.learner.to_arrays(projection.state), projection_arrays.to_arrays(projection)
    return (
        {name: array.tobytes() for name, array in arrays.items()},
        list(projection.lessons.all),
        {name: array.tobytes() for name, array in known.items()},
    )


def assert_same_for_all(campaign):
    """Whoever opens it has the same, from its log or from what is kept of it."""
    campaign.keep()
    fresh, kept = (Campaign.open(campaign.store, campaign.name, fresh=one) for one in (True, False))
    assert state_of(fresh) == state_of(kept) == state_of(campaign)
    assert fresh.people() == kept.people() == campaign.people()
