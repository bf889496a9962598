"""Small campaigns for tests: rows with features, a model, and people who answer."""

import numpy as np

from askone import OneBitClassifier, OneBitRanker, OneBitRegressor, Wording
from askone.campaign.engine.commands import Answer, Next, Serving
from askone.campaign.settings.settings import AskSettings, ClassNames, Items, Numbers, Settings
from askone.store.entries import Entry, Row
from askone.store.notices import Grown
from staged import begun

KINDS = {
    "number": Settings("Prices", Numbers(0.0, 1000.0, "EUR", 0, "price")),
    "class": Settings("Digits", ClassNames(("3", "5", "8")), ask=AskSettings(overlap=2)),
    "order": Settings("Drinks", Items(("tea", "coffee", "milk"))),
}


def rows_of(count, start=0, columns=3):
    """Rows of a table; every tenth has a text that a spreadsheet would run, and a known label."""
    X = np.random.default_rng(start).normal(size=(count, columns)).astype(np.float32)
    texts = [f"=cmd|'/c calc'!A{i}" if i % 10 == 0 else f'tea "{i}", ü\n€' for i in range(count)]
    return [Row(start + i, f"r{start + i}", {"size": float(X[i, 0]), "text": texts[i]}, X[i]) for i in range(count)]


def model_of(settings, X):
    labels = settings.labels
    if isinstance(labels, Numbers):
        wording = Wording((labels.name,), labels.unit)
        return OneBitRegressor(labels.low, labels.high, wording=wording, decimals=0).start(X)
    if isinstance(labels, ClassNames):
        return OneBitClassifier(classes=labels.classes).start(X)
    return OneBitRanker(items=labels.items).start(X)


def make(store, kind="number", name="c", count=30, settings=None):
    """A campaign in a store."""
    settings, rows = settings or KINDS[kind], rows_of(count)
    model = model_of(settings, np.array([row.features for row in rows], dtype=float))
    return begun(store, settings, rows, model, name, "ann", 1.0)


def grow(store, name="c", count=5):
    start = store.campaign(name).rows
    store.grow(name, [rows_of(count, start)], lambda n, mark: Entry(Grown(f"grow-{start}", n, mark), "ann", 2.0))


def answer(campaign, count, people=("ann", "bob"), start=0, now=10.0):
    """So many answers, by turns."""
    given = 0
    for i in range(start, start + 10 * count):
        person = people[i % len(people)]
        [serving] = campaign.serve([Next(person)], now + i)
        assert isinstance(serving, Serving), serving
        if serving.question is None:
            continue
        request = Answer(person, serving.question.lease, i % 3 == 0, f"a-{i}", 1.5)
        [served] = campaign.serve([request], now + i + 0.5)
        assert isinstance(served, Serving), served
        given += 1
        if given == count:
            break
    return given
