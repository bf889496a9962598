"""Several people's answers to one question share its truth: together they are one answer with rates of its own."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import askone
from askone.learners.people.habits import KnownHabits
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
    for n, (x, label) in enumerate(zip(X[:-1], y[:-1], strict=True)):  # one more, and all would be learnt anew
        question = model.ask(x)
        model.tell(question, bool(question.answer(label)), person=list(RATES)[n % 3])
    habits = KnownHabits(np.array([RATES[who] for who in model.people_]))
    return model.stream_.learner, replace(model.stream_.state, habits=habits), model.ask(X[5] + 0.1)


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


def test_a_second_opinion_is_learnt_with_the_first_when_all_is_learnt_anew(crowd):
    learner, state, question = crowd
    said = (("bob", True), ("ann", False), ("cid", False))
    together = learner.tell_opinions(state, X[5], question, said)
    by_turns = state
    for n in range(3):
        by_turns = learner.tell_opinions(by_turns, X[5], question, said[: n + 1], n)
    assert learner.count(by_turns) == learner.count(together) == len(by_turns.told)
    assert by_turns.added == 1  # cid says nothing
    assert by_turns.answers.tolist() == together.answers.tolist()
    (one, told), (other, same) = (learner._relearnt(after, state.habits) for after in (by_turns, together))
    assert told[-1] == same[-1]
    assert np.allclose(learner.base.predict(one, X), learner.base.predict(other, X), atol=0.1)  # weights may differ
    loaded = learner.from_arrays(learner.to_arrays(by_turns))
    assert (list(loaded.told), loaded.added, loaded.due) == (list(by_turns.told), 1, by_turns.due)


def test_opinions_that_came_later_are_learnt_by_a_fit(crowd):
    learner, state, _ = crowd
    for n in range(12):
        question = learner.ask(state, X[n], np.full(learner.width, 0.3)).numbered(500 + n)
        state = learner.tell_opinions(state, X[n], question, (("bob", True),))
        state = learner.tell_opinions(state, X[n], question, (("bob", True), ("ann", False)), 1)
    assert learner.due(state)
    fit = learner.fit(state)
    assert fit["anew"].item() == 1
    after = learner.adopt(state, fit)
    assert after.added == 0
    assert [len(said) for said, *_ in list(after.told)[-12:]] == [2] * 12
    assert not np.array_equal(learner.predict(after, X), learner.predict(state, X))


def test_truths_are_before_and_after_what_was_said(crowd):
    learner, state, question = crowd
    told = learner.tell_opinions(state, X[5], question, (("ann", True), ("bob", False)))
    [before], [after] = learner.truths(told, X[5:6], [question], [(("ann", True), ("bob", False))])
    assert before < after  # ann is the better one
    odds = (after / (1 - after)) / (before / (1 - before))
    assert odds == pytest.approx(0.95 / 0.02 * 0.1 / 0.7, rel=1e-6)


def test_people_who_never_erred_may_differ(crowd):
    learner, state, question = crowd
    state = replace(state, habits=KnownHabits(np.zeros((3, 2))))
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
    errors = found.habits.rates.mean(axis=1)
    assert errors[:3].max() < 0.1
    assert errors[3] > 0.35
    apart = rates_of(places, bits, np.full(480, 0.5), 4)
    assert apart.habits.rates.mean(axis=1)[3] < 0.35
