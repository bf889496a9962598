"""Several people's answers to one question share its truth: together they are one answer with rates of its own."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import askone
from askone.learners.people.opinions import JointEvidence
from askone.learners.people.rates import rates_of
from askone.questions.base import HONEST, ErrorRates

RATES = {"ann": ErrorRates(0.02, 0.05), "bob": ErrorRates(0.3, 0.1), "cid": ErrorRates(0.5, 0.5)}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


def labels(kind):
    if kind == "number":
        return askone.OneBitRegressor(-6, 6, random_state=0), 2 * X[:, 0]
    if kind == "classes":
        return askone.OneBitClassifier(list("abc"), random_state=0), np.array(list("abc"))[np.argmax(X, axis=1)]
    return askone.OneBitRanker(list("abc"), random_state=0), [[list("abc")[i] for i in np.argsort(-row)] for row in X]


@pytest.fixture(scope="module", params=["number", "classes", "order"])
def crowd(request):
    """A learner, its state after some answers by three people of known rates, and a question about a new row."""
    model, y = labels(request.param)
    model.start(X)
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        question = model.ask(x)
        model.tell(question, bool(question.answer(label)), person=list(RATES)[n % 3])
    rates = np.array([RATES[who] for who in model.people_])
    return model.stream_.learner, replace(model.stream_.state, rates=rates), model.ask(X[5] + 0.1)


def test_opinions_are_one_answer_up_to_a_factor(crowd):
    learner, state, question = crowd
    p, whole = learner.chance(state, X[5] + 0.1, question.put_to(HONEST)), 0.0
    for bits in product((False, True), repeat=3):
        each = list(zip(RATES.values(), bits, strict=True))
        exact = [np.prod([rates.heard(bit, truth == bit) for rates, bit in each]) for truth in (False, True)]
        found = JointEvidence.of(each)
        assert found == pytest.approx(exact)
        slips, bit = found.answer
        yes = learner.chance(state, X[5] + 0.1, question.put_to(slips))
        heard = (yes if bit else 1 - yes) * sum(found)
        assert heard == pytest.approx((1 - p) * exact[0] + p * exact[1], abs=1e-6)
        whole += heard
    assert whole == pytest.approx(1.0, abs=1e-6)


def test_a_second_opinion_adds_what_it_has_to(crowd):
    """One after the other, two opinions teach about what they teach together."""
    learner, state, _ = crowd
    rng, off = np.random.default_rng(3), []
    for bits in product((False, True), repeat=2):
        for n in range(6):
            x = rng.normal(size=3)
            question = learner.ask(state, x, rng.uniform(size=learner.width)).numbered(1000 + n)
            said, near = tuple(zip(("bob", "ann"), bits, strict=True)), x + 0.1 * rng.normal(size=(20, 3))
            first = learner.tell_opinions(state, x, question, said[:1])
            added = learner.tell_opinions(first, x, question, said, 1)
            apart = learner.tell_by(first, x, question, bits[1], "ann")
            together = learner.tell_opinions(state, x, question, said)
            assert added.answers.tolist() == together.answers.tolist()
            exact = learner.predict(together, near)
            off.append([np.abs(learner.predict(one, near) - exact).mean() for one in (added, first, apart)])
    added, first, apart = np.mean(off, axis=0)
    assert added < 0.6 * first
    assert added < 0.95 * apart


def test_what_is_learnt_anew_has_each_question_once(crowd):
    learner, state, question = crowd
    said = (("bob", True), ("ann", False), ("cid", False))
    at_once = learner.tell_opinions(state, X[5], question, said)
    by_turns = state
    for n in range(3):
        by_turns = learner.tell_opinions(by_turns, X[5], question, said[: n + 1], n)
    assert by_turns.added == 1  # cid says nothing
    put = learner._put(by_turns, by_turns.rates)
    assert [question.slips for _, question, _ in put[-3:-1]] == [ErrorRates(0.5, 0.5)] * 2
    assert put[-1][1:] == learner._put(at_once, at_once.rates)[-1][1:]
    loaded = learner.from_arrays(learner.to_arrays(by_turns))
    assert (loaded.told, loaded.added, loaded.due) == (by_turns.told, 1, by_turns.due)


def test_people_who_never_erred_may_differ(crowd):
    learner, state, question = crowd
    state = replace(state, rates=np.zeros((3, 2)))
    after = learner.tell_opinions(state, X[5], question, (("ann", True), ("bob", False)))
    assert after.told[-1][1].slips == ErrorRates(0.5, 0.5)
    silent, one = (learner.predict(told, X) for told in (after, learner.tell_by(state, X[5], question, True, "ann")))
    before = learner.predict(state, X)
    assert np.abs(silent - before).max() < 0.2 * np.abs(one - before).max()


def test_agreement_tells_who_errs():
    """Where the model knows nothing, people are known by each other."""
    rng = np.random.default_rng(1)
    wrong = np.array([0.03, 0.03, 0.03, 0.5])
    truth = rng.integers(2, size=120).astype(bool)
    bits = np.array([[t ^ (rng.uniform() < e) for e in wrong] for t in truth]).ravel()
    places, questions = np.tile(np.arange(4), 120), np.repeat(np.arange(120), 4)
    found = rates_of(places, bits, np.full(480, 0.5), 4, questions)
    errors = found.means.mean(axis=1)
    assert errors[:3].max() < 0.1
    assert errors[3] > 0.35
    apart = rates_of(places, bits, np.full(480, 0.5), 4)
    assert apart.means.mean(axis=1)[3] < 0.35
