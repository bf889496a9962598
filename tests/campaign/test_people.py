"""A campaign finds out who answers at random, and says so; others are not suspected."""

import io
import zipfile

import numpy as np
import pytest

import askone
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Exclude, Include, Next, Undo
from askone.campaign.output.model_file import write_model
from askone.people import SimulatedCrowd
from askone.store.open import open_store
from staged import PRICES, asking, one, price, stage, state_of

PEOPLE = ("ann", "bob", "cid", "dee", "eve")


def answered(store, seed, presses=True):
    """A campaign of 530 rows, answered by four careful people and, if she ``presses`` keys, by eve, who does not look.

    The four give the same number of answers, and err in the same ones, with her and without.
    """
    campaign = stage(store, asking(PRICES, exam_share=0), rows=530)
    crowd, serving = SimulatedCrowd({who: "spammer" if who == "eve" else "careful" for who in PEOPLE}, seed), {}
    for n in range(520):  # the last rows are held by others
        [who] = crowd.coming()
        if who == "eve" and not presses:
            continue
        found = serving.pop(who, None) or one(campaign, Next(who), float(n))
        bit = crowd.answer(who, n, found.question.question.answer(price(found.question.row)))
        serving[who] = one(campaign, Answer(who, found.question.lease, bit, f"a{n}"), float(n) + 0.5)
    campaign.keep()
    return campaign


def error(campaign):
    X = np.random.default_rng(5).normal(size=(400, 2))
    return float(np.abs(np.array(campaign.predict(X)) - 50 - 20 * X[:, 0]).mean())


@pytest.fixture(scope="module")
def campaign():
    with open_store("memory:") as store:
        yield answered(store, 0)


def test_who_answers_at_random_is_found(campaign):
    rates = {one["id"]: one["rates"] for one in campaign.people()}
    assert min(rates, key=lambda who: rates[who]["bits"]) == "eve"
    assert rates["eve"]["bits"] < 0.3
    assert min(rates[who]["bits"] for who in PEOPLE[:4]) > 0.5


def test_it_ends_as_if_she_had_not_been_there(campaign):
    """Two runs, within 10 %; benchmarks/key_presser.py has ten of each of several tasks."""
    errors = {True: [error(campaign)], False: []}
    for seed, presses in ((0, False), (1, True), (1, False)):
        with open_store("memory:") as store:
            errors[presses].append(error(answered(store, seed, presses)))
    assert np.mean(errors[True]) < 1.1 * np.mean(errors[False])


def test_what_is_kept_and_what_is_folded_anew_is_the_same(campaign):
    fresh = Campaign.open(campaign.store, "c", fresh=True)
    assert state_of(fresh) == state_of(campaign)
    assert fresh.people() == campaign.people()


def told_of(campaign):
    """How many answers of each person the learner was told."""
    return {one.name: one.answers for one in campaign.projection.learner.people(campaign.projection.state)}


def test_all_opinions_teach_as_their_peoples(store):
    campaign = stage(store, asking(PRICES, exam_share=0, overlap=3), rows=20)
    lots, now = np.random.default_rng(1), 0.0
    for n in range(80):
        who, now = PEOPLE[n % 5], now + 1
        found = one(campaign, Next(who), now)
        if found.question is not None:
            truth = bool(found.question.question.answer(price(found.question.row))) ^ bool(lots.uniform() < 0.2)
            one(campaign, Answer(who, found.question.lease, truth, f"a{n}"), now)
    assert campaign.projection.answers == 60
    campaign.projection.trainer.settle()
    given = {who: person.answers for who, person in campaign.projection.people.items()}
    assert told_of(campaign) == given
    assert len(campaign.projection.lessons.all) == 20

    one(campaign, Exclude("boss", "x1", "eve"), 100.0)
    campaign.projection.trainer.settle()
    assert "eve" not in told_of(campaign)
    for n, who in enumerate(PEOPLE[:4] * 8):  # her questions are asked of others, and count as theirs
        found = one(campaign, Next(who), 101.0 + n)
        if found.question is not None:
            one(campaign, Answer(who, found.question.lease, True, f"b{n}"), 101.0 + n)
    one(campaign, Undo("ann", "u"), 200.0)
    campaign.projection.trainer.settle()
    assert sum(told_of(campaign).values()) >= 58
    campaign.keep()
    fresh, kept = Campaign.open(store, "c", fresh=True), Campaign.open(store, "c")
    assert state_of(fresh) == state_of(campaign) == state_of(kept)
    one(campaign, Include("boss", "x2", "eve"), 300.0)
    campaign.projection.trainer.settle()
    assert told_of(campaign)["eve"] == given["eve"]


def test_what_differs_without_a_majority_teaches_by_who_said_it(store):
    campaign = stage(store, asking(PRICES, exam_share=0, overlap=2), rows=4)
    for person, answer in (("ann", True), ("bob", False)):
        one(campaign, Answer(person, one(campaign, Next(person)).question.lease, answer, person))
    campaign.projection.trainer.settle()
    assert campaign.projection.lessons.all == []  # nothing is decided
    assert told_of(campaign) == {"ann": 1, "bob": 1}


def test_a_model_that_leaves_the_campaign_knows_of_nobody(campaign):
    out = io.BytesIO()
    write_model(campaign, out)
    with zipfile.ZipFile(out) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
    arrays = campaign.projection.learner.to_arrays(campaign.projection.state)
    assert b"cid" in arrays["people"].tobytes()  # the campaign itself goes on knowing them
    assert not [who for who in PEOPLE if f'"{who}"'.encode() in whole]
    out.seek(0)
    model, X = askone.load(out), np.random.default_rng(5).normal(size=(50, 2))
    assert (model.predict(X) == campaign.predict(X)).all()
    assert model.people_ == {}
    for who in ("ann", "fay"):  # and it goes on learning, of whomever it meets
        model.tell(model.ask(X[0], key=who), True, person=who)
    assert [*model.people_] == ["ann", "fay"]
