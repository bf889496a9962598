"""What fitted models say of answers in hindsight has these answers not in it, and rates by it are those of people."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from askone import OneBitClassifier, OneBitRegressor
from askone.learners.abilities import refitted
from askone.learners.mixture.cross_fit import by_the_others, halves, weights

RATES = np.array([[0.02, 0.02], [0.02, 0.02], [0.02, 0.02], [0.15, 0.15], [0.35, 0.0], [0.5, 0.5]])
WORDS = ["invoice refund paid bill", "parcel courier late address", "password login locked reset"]
COMMON = "the my is to and please hello thanks"


def messages(rng, n):
    labels = rng.integers(0, 3, n)
    texts = [[*rng.choice(WORDS[one].split(), 3), *rng.choice(COMMON.split(), 5)] for one in labels]
    return pd.DataFrame({"text": [" ".join(words) for words in texts]}), labels, OneBitClassifier(range(3))


def categories(rng, n):
    worth = np.random.default_rng(0).choice([-1.5, -0.5, 0.5, 1.5], size=(8, 3))
    region, kind = rng.integers(0, 8, n), rng.integers(0, 3, n)
    y = worth[region, kind] + 0.1 * rng.normal(size=n)
    return pd.DataFrame({"region": [f"r{one}" for one in region], "kind": [f"k{one}" for one in kind]}), y, numbers()


def sine(rng, n):
    X = rng.uniform(-1, 1, (n, 1))
    return X, np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=n), numbers()


def blobs(rng, n):
    labels = rng.integers(0, 3, n)
    X = 3.0 * np.eye(3, 4)[labels] + rng.normal(size=(n, 4))
    return X, labels, OneBitClassifier(range(3))


def numbers():
    return OneBitRegressor(-3.0, 3.0)


def asked(made, seed, n):
    """Return the learner's state after answers of a crowd, the learner, and the bits."""
    rng = np.random.default_rng(seed)
    X, labels, model = made(rng, n)
    model.set_params(random_state=seed).start(X)
    rows = X if model.encoder is None else model._inputs.rows(X)
    learner, state, bits = model.stream_.learner, model.stream_.state, []
    for row, label in zip(rows, labels, strict=True):
        question = learner.ask(state, row, rng.uniform(size=learner.width))
        place, u = rng.integers(len(RATES)), rng.uniform()
        yes, no = RATES[place]
        bits.append(bool(u < yes or (u < 1 - no and question.holds(label))))
        state = refitted(learner, learner.tell_by(state, row, question, bits[-1], str(place)))
    return learner, state, bits


@pytest.mark.parametrize(("made", "n"), [(sine, 400), (categories, 500), (messages, 300), (blobs, 400)])
def test_intervals_hold_the_rates_of_people(made, n):
    """Of the ends for six people in three crowds as many hold as of 90 % would in all but one of 1000 cases."""
    inside, found = [], []
    for seed in range(3):
        learner, state, _ = asked(made, seed, n)
        for person in learner.people_now(state):
            yes, no = RATES[int(person.name)]
            for ends, right in ((person.sensitivity_interval, 1 - no), (person.specificity_interval, 1 - yes)):
                inside.append(ends[0] <= right <= ends[1])
            found.append((int(person.name), person.bits))
    assert sum(inside) >= binom.ppf(0.001, len(inside), 0.9)
    bits = [np.mean([one for place, one in found if place == k]) for k in range(len(RATES))]
    assert min(bits[:3]) > bits[3] > bits[5]


def test_an_answer_has_no_part_in_its_own_chance():
    """Turned round it moves what the other half is fitted to, and the weights of forecasters by one answer of 200."""
    learner, state, bits = asked(messages, 1, 200)
    rows, questions = state.store.view(200), [question for _, question, _ in state.told]
    said = learner.base.full_hindsight(state.base, rows, questions, bits)
    for place in (7, 120, 199):
        turned = [bit ^ (n == place) for n, bit in enumerate(bits)]
        again = learner.base.full_hindsight(state.base, rows, questions, turned)
        assert np.abs(again[place] - said[place]).max() < 0.03
        assert np.abs(again - said).max() > np.abs(again[place] - said[place]).max()


def test_halves_keep_answers_about_one_row_together():
    rows = np.array([3, 0, 3, 5, 0, 5, 0])
    found = halves(rows)
    assert found[0] == found[2]
    assert found[3] == found[5]
    assert found[[1, 4, 6]].tolist() == [True, False, False]


def test_what_is_said_of_each_half_comes_from_the_other():
    def say(known, places):
        return np.array([[known.sum(), place] for place in places])

    said = by_the_others(np.array([True, False, True, False]), say)
    assert said.tolist() == [[4, 0], [2, 1], [4, 2], [2, 3]]


def test_forecasters_are_weighed_by_the_answers():
    """One knows the chances, one says less than is true, and one says nothing: the first is believed."""
    rng = np.random.default_rng(0)
    p = rng.uniform(size=4000)
    bits = rng.uniform(size=4000) < p
    each = np.column_stack([p, 0.5 + 0.3 * (p - 0.5), np.full(4000, 0.5)])
    assert weights(np.where(bits[:, None], each, 1 - each))[0] > 0.9
