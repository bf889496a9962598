"""A campaign finds out who answers at random, and says so; others are not suspected."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import askone
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, ChangeSettings, Exclude, Include, Next, ResumePerson, Undo
from askone.campaign.output.export import model_bytes
from askone.campaign.settings.settings import PeopleSettings
from askone.errors import InvalidArgument, UnknownQuestion
from askone.people import SimulatedCrowd
from askone.store.open import open_store
from staged import ANIMALS, DRINKS, PRICES, asking, assert_same_for_all, one, price, stage, state_of

PEOPLE = ("ann", "bob", "cid", "dee", "eve")


def answered(store, seed, presses=True):
    """A campaign of 530 rows, answered by four careful people and, if she ``presses`` keys, by eve, who does not look.

    The four give the same number of answers, and err in the same ones, with her and without.
    """
    campaign = stage(store, asking(PRICES, exam_share=0, order="random"), rows=530)
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


# -- pausing --------------------------------------------------------------------------------------


def played(campaign, answers, seed=0, start=0, skip=()):
    """Everybody in turn answers, eve by lot; who was told to rest."""
    lots, rested = np.random.default_rng(seed), set()
    for n in range(start, start + answers):
        who = PEOPLE[n % 5]
        found = one(campaign, Next(who), float(n))
        if found.question is None:
            rested.add((who, found.state))
            continue
        truth = bool(lots.integers(2)) if who == "eve" else found.question.question.answer(price(found.question.row))
        one(campaign, Answer(who, found.question.lease, truth, f"a{n}"), n + 0.5)
    return rested


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    store = open_store(str(tmp_path_factory.mktemp("paused") / "a.db"))
    settings = replace(asking(PRICES, exam_share=0), people=PeopleSettings(pause_below=0.3))
    campaign = stage(store, settings, rows=900)
    yield campaign, played(campaign, 310)
    store.close()


def test_who_answers_at_random_is_paused_and_nobody_else(paused):
    campaign, rested = paused
    assert rested == {("eve", "resting")}
    found = {one["id"]: one for one in campaign.people()}
    assert [who for who in PEOPLE if found[who]["paused"]] == ["eve"]
    assert found["eve"]["paused"]["bits"] < found["eve"]["paused"]["below"] == 0.3
    assert 40 <= found["eve"]["paused"]["answers"] == found["eve"]["answers"] < found["ann"]["answers"]
    assert not campaign.may_ask("eve")
    assert campaign.may_ask("ann")
    [entry] = campaign.store.entries("c", kinds=("paused_person",))
    assert (entry.event.person, entry.who) == ("eve", "")


def test_a_pause_is_the_same_in_replay(paused):
    campaign, _ = paused
    assert_same_for_all(campaign)


def test_what_a_paused_person_has_in_hand_counts_and_undo_asks_nothing(store):
    campaign = stage(store, PRICES)
    held = one(campaign, Next("eve"), 1.0).question
    campaign.projection.paused["eve"] = None
    told = one(campaign, Answer("eve", held.lease, True, "a1"), 2.0)
    assert (told.state, told.question, told.mine) == ("resting", None, 1)
    told = one(campaign, Undo("eve", "u1"), 3.0)
    assert (told.state, told.question, told.mine) == ("resting", None, 0)
    assert one(campaign, Next("ann"), 4.0).question.number == held.number


def test_who_is_brought_back_begins_anew(paused):
    campaign, _ = paused
    with pytest.raises(UnknownQuestion):
        one(campaign, ResumePerson("boss", "m0", "nobody"))
    assert one(campaign, ResumePerson("boss", "m1", "eve"), 500.0).count > 0
    assert one(campaign, ResumePerson("boss", "m1", "eve"), 500.0).count > 0  # sent again
    assert one(campaign, ResumePerson("boss", "m2", "ann"), 500.0).count > 0  # who is not paused stays so
    [entry] = campaign.store.entries("c", kinds=("resumed_person",))
    assert (entry.event.person, entry.who) == ("eve", "boss")
    assert one(campaign, Next("eve"), 501.0).question is not None
    assert {one["id"]: one["rates"] for one in campaign.people()}["eve"] is None  # nothing is known of what comes
    before = {one["id"]: one["answers"] for one in campaign.people()}["eve"]
    played(campaign, 20, seed=1, start=510)
    found = {one["id"]: one for one in campaign.people()}["eve"]
    assert (found["paused"], found["answers"]) == (None, before + 4)
    assert [one.name for one in campaign.projection.learner.people(campaign.projection.state)][-1] == "eve (2)"
    campaign.keep()
    assert state_of(Campaign.open(campaign.store, "c", fresh=True)) == state_of(Campaign.open(campaign.store, "c"))


def test_nobody_is_paused_by_default_nor_with_few_answers(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=200)
    assert campaign.settings.people == PeopleSettings(None, 40)
    assert played(campaign, 120) == set()
    one(campaign, ChangeSettings("boss", "m1", {"people": {"pause_below": 0.9}}), 200.0)
    assert played(campaign, 60, start=300) == set()  # 36 answers each
    with pytest.raises(InvalidArgument, match="people.pause_below must be a number above 0"):
        one(campaign, ChangeSettings("boss", "m2", {"people": {"pause_below": 0.0}}))


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "an\x00n", "an\nn", 7])
def test_a_person_nobody_could_be_is_refused(any_store, name):
    campaign = stage(any_store, PRICES)
    held = one(campaign, Next("ann"), 1.0).question
    for request in (Next(name), Answer(name, held.lease, True, "a1"), Undo(name, "u1")):
        with pytest.raises(InvalidArgument, match="person must be a text of 1 to 200 characters"):
            one(campaign, request)
    assert campaign.status(2.0)["answers"] == 0
    assert one(campaign, Next("ann"), 2.0).question.number == held.number


# -- agreeing with oneself ------------------------------------------------------------------------


def at_odds(campaign):
    return {one["id"]: (one["contradictions"], one["contradictions_of"]) for one in campaign.people()}


def test_who_contradicts_their_own_answers_about_a_row_is_counted(store):
    campaign = stage(store, asking(PRICES, exam_share=0, per_row=3), rows=6)
    for n in range(18):
        found = one(campaign, Next("ann"), float(n)).question
        one(campaign, Answer("ann", found.lease, found.question.answer(price(found.row)), f"a{n}"), float(n))
    assert at_odds(campaign) == {"ann": (0, 18)}
    one(campaign, Undo("ann", "u1"), 20.0)
    last = one(campaign, Next("ann"), 21.0).question
    others = [one for one in campaign.projection.asked.values() if one.position == last.row.position and one.given]
    ends = [(one.question.shown, one.given[0].answer) for one in others]
    said = any(last.question.shown > end for end, answer in ends if not answer)  # it is implied, or else it is now
    one(campaign, Answer("ann", last.lease, said, "z"), 22.0)
    contrary = any(end > last.question.shown for end, answer in ends if answer) and not said
    assert at_odds(campaign)["ann"] == (int(said or contrary), 18)


@pytest.mark.parametrize("settings", [ANIMALS, DRINKS], ids=["classes", "orders"])
def test_contradictions_in_sets_and_cycles_of_preferences_are_counted(store, settings):
    campaign = stage(store, asking(settings, exam_share=0, per_row=8), rows=4)
    truth = settings.labels.classes[0] if settings is ANIMALS else list(settings.labels.items)
    for n in range(28):
        for who in ("ann", "eve"):
            found = one(campaign, Next(who), float(n)).question
            if found is not None:
                answer = found.question.answer(truth) if who == "ann" else n % 3 == 0
                one(campaign, Answer(who, found.lease, answer, f"{who}{n}"), float(n))
    odd = at_odds(campaign)
    assert odd["ann"][0] == 0 < odd["ann"][1]
    assert odd["eve"][0] > 0


def test_nobody_is_asked_about_a_row_twice_by_default(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=9)
    one(campaign, Answer("ann", one(campaign, Next("ann")).question.lease, True, "a"))
    assert at_odds(campaign) == {"ann": (0, 0)}


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
    assert_same_for_all(campaign)
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
    out = io.BytesIO(model_bytes(campaign))
    with zipfile.ZipFile(out) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
    arrays = campaign.projection.learner.to_arrays(campaign.projection.state)
    assert b"cid" in arrays["people"].tobytes()  # the campaign itself goes on knowing them
    assert not [who for who in PEOPLE if f'"{who}"'.encode() in whole]
    model, X = askone.load(out), np.random.default_rng(5).normal(size=(50, 2))
    assert (model.predict(X) == campaign.predict(X)).all()
    assert model.people_ == {}
    for who in ("ann", "fay"):  # and it goes on learning, of whomever it meets
        model.tell(model.ask(X[0], key=who), True, person=who)
    assert [*model.people_] == ["ann", "fay"]
