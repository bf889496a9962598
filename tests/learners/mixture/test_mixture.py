import dataclasses
from functools import partial
from itertools import pairwise
from operator import is_not

import numpy as np
import pytest

from askone import Classes, OneBitClassifier, Oracle, Real, SetLikelihood
from askone.features.layout import RowLayout
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.learners.abilities import refitted, row_by_row
from askone.learners.forgetting import Forgetting
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.mixture.classes import ClassMixture
from askone.learners.mixture.members import LinearMember
from askone.learners.mixture.number import NumberMixture
from askone.learners.mixture.trees import TreeMember
from askone.learners.scores import Scores
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.learners.streaming import StreamTask
from askone.questions.base import ErrorRates
from askone.questions.between import Between
from askone.session.log import Fitted
from askone.session.replay import fold, stacked
from askone.session.simulation import simulate
from askone.session.stream import Stream

pytest.importorskip("lightgbm")
N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + 300, 4))
STEPS = np.where(X[:, 0] > 0.3, 2.0, -1.0) * np.where(X[:, 1] > 0, 1.0, -1.0)
LAYOUT = RowLayout.plain(4)
SCALER = Scaler.from_rows(X)
MEMBERS = (TreeMember(LAYOUT), LinearMember(LAYOUT, SCALER, 3.0))
SIGNS = np.array(["low", "middle", "high"])[np.digitize(STEPS, [-1.5, 0.5])]


def numbers():
    maps = (Linear(SCALER), Nystroem.from_rows(X, 20, bandwidth=2.0, scaler=SCALER))
    return NumberMixture(FilterLearner(Real(-4, 4, decimals=3), maps, forgets=True), MEMBERS, LAYOUT)


def classes():
    space = Classes(("low", "middle", "high"))
    base = Forgetting(SetLikelihoodLearner(space, Nystroem.from_rows(X, 20, bandwidth=2.0, scaler=SCALER)))
    return ClassMixture(base, MEMBERS, LAYOUT)


KINDS = {"numbers": (numbers, STEPS[:, None]), "classes": (classes, SIGNS)}


def live(learner, labels, n):
    """The stream after asking and telling about n rows, one by one."""
    at = Stream(learner, seed=1)
    for i in range(n):
        question = at.ask(X[i])
        at.tell(question, question.answer(labels[i]))
    return at


@pytest.mark.parametrize("kind", list(KINDS))
def test_live_and_streamed_are_the_same_bit_for_bit(kind):
    make, labels = KINDS[kind]
    learner = make()
    at = live(learner, labels, N)
    whole = simulate(learner, X[:N], Oracle(labels[:N]), seed=1)
    one, other = (learner.to_arrays(state) for state in (at.state, whole.state))
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=True), name
    assert any(fit is not None for fit in at.state.fits)


def test_streams_are_row_by_row_bit_for_bit_with_skips_and_across_a_change():
    learner, labels = numbers(), np.where(np.arange(len(X)) < 400, STEPS, -STEPS)[:, None]
    states = []
    for way in (learner.stream, partial(row_by_row, learner)):
        oracle = Oracle(labels, flip=0.02, skip=0.1, seed=3)
        task = StreamTask(np.arange(len(X)), oracle, lambda first, count: np.empty((count, 0)))
        states.append(way(learner.init(), X, task))
    one, other = map(learner.to_arrays, states)
    assert not [name for name in one if not np.array_equal(one[name], other[name], equal_nan=True)]
    assert learner.base.known(states[0].base) < states[0].told  # the filters began anew on the way


def by_hand(learner, labels, n):
    """The state after each of n answers, one by one, and what was told: rows, questions, answers, with some ranges."""
    states, told = [learner.init()], []
    for i in range(n):
        uniform = np.full(learner.width, 0.5)
        question = learner.ask(states[-1], X[i], uniform)
        if i % 23 == 5 and labels.dtype.kind == "f":
            question = Between(-1.0, 1.5)
        question = question.put_to(ErrorRates(0.1, 0.05)) if i % 11 == 3 else question
        told.append((X[i], question, question.answer(labels[i])))
        states.append(refitted(learner, learner.tell(states[-1], *told[-1])))
    return states, told


@pytest.mark.parametrize("kind", [*KINDS, "diagonal"])
def test_answers_are_learnt_in_blocks_bit_for_bit_while_models_are_awake(kind):
    make, labels = KINDS.get(kind, KINDS["numbers"])
    learner = make()
    if kind == "diagonal":
        learner = dataclasses.replace(learner, base=dataclasses.replace(learner.base, diagonal=True))
    states, told = by_hand(learner, labels, 330)
    fitted = [i for i in range(1, len(states)) if any(map(is_not, states[i].fits, states[i - 1].fits))]
    assert sum(states[i].awake >= 0 for i in fitted) > 3
    for first, end in pairwise([*fitted, len(states)]):  # from fit to fit, across looks at the shares and updates of L
        last = end - 1
        rows, questions, answers = ([one[k] for one in told[first:last]] for k in range(3))
        before = learner.to_arrays(states[first])
        together = learner.tell_many(states[first], np.array(rows).reshape(-1, 4), questions, answers)
        for one, other in ((before, states[first]), (learner.to_arrays(together), states[last])):
            wanted = learner.to_arrays(other)
            assert not [name for name in wanted if not np.array_equal(one[name], wanted[name], equal_nan=True)]


def test_trees_are_found_where_steps_are():
    learner = numbers()
    alone = simulate(learner.base, X[:N], Oracle(STEPS[:N, None]), seed=1)
    both = simulate(learner, X[:N], Oracle(STEPS[:N, None]), seed=1)
    said = [learner.base.predict(alone.state, X[N:]), learner.predict(both.state, X[N:])]
    errors = [np.abs(one[:, 0] - STEPS[N:]).mean() for one in said]
    assert errors[1] < 0.85 * errors[0]
    there, shares = learner.shares(both.state)
    assert 0 in there
    assert shares[1] > 0.3
    assert sum(shares) == pytest.approx(1.0)


def test_classes_are_found_by_trees_too():
    learner = classes()
    both = simulate(learner, X[:N], Oracle(SIGNS[:N]), seed=1)
    p = learner.probabilities(both.state, X[N:])
    assert p.sum(axis=1) == pytest.approx(np.ones(300))
    alone = simulate(learner.base, X[:N], Oracle(SIGNS[:N]), seed=1)
    wrong = [
        (np.array(learner.space.names)[q.argmax(axis=1)] != SIGNS[N:]).mean()
        for q in (learner.base.probabilities(alone.state, X[N:]), p)
    ]
    assert wrong[1] < wrong[0]


def test_of_many_columns_few_may_count():
    rows = np.random.default_rng(0).normal(size=(900, 200))
    signs = 2 * (rows[:, 0] > 0) + (rows[:, 1] > 0)
    model, alone = (OneBitClassifier(range(4), learner=SetLikelihood(fitted=fitted), random_state=0)
                    for fitted in (True, False))  # fmt: skip
    right = [one.fit(rows[:600], signs[:600]).score(rows[600:], signs[600:]) for one in (model, alone)]
    assert right[0] > 0.8 > 0.6 > right[1]


def test_when_fits_happen_is_a_function_of_the_answers():
    learner = numbers()
    state, due = learner.init(), []
    for i in range(200):
        question = learner.ask(state, X[i], np.empty(0))
        state = learner.tell(state, X[i], question, question.answer(STEPS[i : i + 1]))
        if learner.due(state):
            due.append(i + 1)
            state = learner.adopt(state, learner.fit(state))
            assert not learner.due(state)
    assert due[0] == LinearMember.first
    assert TreeMember.first in due
    assert due == sorted(due)
    assert len(due) <= 2 * 7  # each of the two by a fifth: 64, 76, 91, 109, 130, 156, 187


def test_flipped_answers_count_for_what_they_tell():
    """With pi = .25 an answer tells a quarter: four times as many are due before a fit, and trusted as much after."""
    plain = numbers()
    private = dataclasses.replace(plain, base=dataclasses.replace(plain.base, flip=0.25), flip=0.25)
    assert [4 * first for first in plain.init().turns[1]] == private.init().turns[1].tolist() == [512, 256]
    after = [one._doubts(one.init(), [0, 1], np.array([told])) for one, told in ((plain, 400), (private, 4 * 400))]
    assert np.array_equal(*after)


def test_the_shares_descend_the_absolute_error_of_the_mean():
    """Of two forecasts that err to either side the mean is right: weighed by slopes, both stay; f = 0 is the truth."""
    rng = np.random.default_rng(3)
    scores, noise = Scores.none(2), 0.3
    for t in range(4000):
        shares = scores.shares([0, 1])
        c = 1.0 * shares[0] - 1.0 * shares[1]
        sign = 1.0 if noise * rng.normal() > c else -1.0
        scores = scores.after(np.array([-sign * (1.0 - c), -sign * (-1.0 - c)]), t)
    assert scores.shares([0, 1]) == pytest.approx([0.5, 0.5], abs=0.15)


def test_whoever_never_wins_sleeps_and_the_learner_is_as_it_was():
    """A plane without noise: filters know it by heart, and trees do not."""
    plane = X[:, :1] + 0.5 * X[:, 1:2]
    learner = numbers()
    both, alone = (simulate(one, X, Oracle(plane), seed=1).state for one in (learner, learner.base))
    said = [learner.predict(both, X), learner.base.predict(alone, X)]
    errors = [np.abs(one - plane).mean() for one in said]
    assert errors[0] < 2 * errors[1] + 1e-3
    assert learner.shares(both)[1][0] > 0.9
    assert both.turns[2].max() >= 1


def test_only_so_many_answers_are_kept(monkeypatch):
    monkeypatch.setattr("askone.learners.mixture.base._ROOM", 0)
    learner, n = numbers(), 1200
    rows = np.random.default_rng(4).normal(size=(n, 4))
    state = learner.init()
    for i in range(n):
        question = learner.ask(state, rows[i], np.empty(0))
        state = learner.tell(state, rows[i], question, question.answer(rows[i, :1]))
    assert (state.told, state.kept) == (n, 500 + n - 1000)
    assert np.array_equal(state.store.view(state.kept)[:, :4], rows[n - state.kept :])


def test_intervals_and_deviations_are_around_the_prediction():
    learner = numbers()
    at = live(learner, STEPS[:, None], 200)
    low, high = learner.interval(at.state, X[N:], 0.9)
    said, spread = learner.predict(at.state, X[N:]), learner.std(at.state, X[N:])
    assert ((low <= said) & (said <= high)).all()
    assert (spread > 0).all()
    assert low.min() >= -4
    assert high.max() <= 4


def test_without_lightgbm_the_rest_goes_on(monkeypatch):
    monkeypatch.setattr(TreeMember, "ready", property(lambda self: False))
    learner = numbers()
    at = live(learner, STEPS[:, None], 200)
    assert at.state.fits[0] is None
    assert at.state.fits[1] is not None


def test_a_layout_narrower_than_the_learner_is_refused():
    with pytest.raises(ValueError, match="layout"):
        dataclasses.replace(numbers(), layout=RowLayout.plain(2))


WORDS = {"bill": ["invoice", "charged", "refund", "paid"], "parcel": ["parcel", "courier", "late", "address"]}


def messages(n):
    rng = np.random.default_rng(0)
    labels = np.array(list(WORDS))[rng.integers(0, 2, n)]
    return [{"text": " ".join(rng.choice(WORDS[one], 3))} for one in labels], labels


def test_texts_are_read_by_a_fit_that_comes_after_all_answers():
    """As when somebody is left out: earlier fits had their answers in them, and the learner alone sees no text."""
    rows, labels = messages(200)
    model = OneBitClassifier(list(WORDS), random_state=0, keep_log=True).fit(rows, labels)
    learner, log = model.stream_.learner, [event for event in model.log_ if not isinstance(event, Fitted)]
    assert len(log) < len(model.log_)
    state = fold(learner, model.rows_, log)
    while learner.due(state):
        state = learner.adopt(state, learner.fit(state))
    said = learner.probabilities(state, stacked(model.rows_)).argmax(axis=1)
    assert np.mean(np.array(list(WORDS))[said] == labels) > 0.95


def test_of_people_nothing_is_known_before_a_model_has_read_the_texts():
    """The learner alone foretells all answers alike: whoever is always right would seem to err as often as it does."""
    rows, labels = messages(90)
    model = OneBitClassifier(list(WORDS), random_state=0).start(rows)
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        question = model.ask(row)
        model.tell(question, question.holds(label), person=f"person {i % 3}")
        if i < 14:
            assert not any(person.known for person in model.people_.values())
    for person in model.people_.values():
        assert min(person.sensitivity, person.specificity) > 0.9
