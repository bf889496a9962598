"""A concept that changes is found by forecasts, rows that are sorted are no change, and nothing is lost otherwise."""

import numpy as np
import pytest

from askone import Classes, Oracle, Real
from askone.checks import check_learner
from askone.errors import InvalidArgument
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.learners.contest import Contest
from askone.learners.forgetting import _SOON, Forgetting, _doubt
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.row_shift import RowMoments
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.questions.base import ErrorRates
from askone.session.simulation import simulate
from learner_samples import NAMES, five
from samples import models, same, small_labels, small_rows

LINE = Linear(Scaler.identity(2))
CORNERS = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * 2.0
SPACE = Classes(("a", "b", "c", "d"))
INNER = SetLikelihoodLearner(SPACE, LINE)
LEARNER = Forgetting(INNER)


def corners(n, seed, turn=0):
    """Rows about the four corners of a square, and their classes, turned by so many corners."""
    rng = np.random.default_rng(seed)
    which = rng.integers(4, size=n)
    return CORNERS[which] + rng.normal(size=(n, 2)), np.array(SPACE.names)[(which + turn) % 4]


def changed(before, after, seed, turn=1):
    (X, y), (Z, z) = corners(before, seed), corners(after, seed + 1000, turn)
    return np.vstack([X, Z]), np.concatenate([y, z])


def error(learner, state, seed=99, turn=1):
    X, y = corners(2000, seed, turn)
    return float(np.mean(np.array(SPACE.names)[learner.probabilities(state, X).argmax(axis=1)] != y))


@pytest.mark.parametrize(
    "learner",
    [
        Forgetting(
            Contest(tuple(SetLikelihoodLearner(Classes(NAMES), models()[n].features) for n in ("linear", "fourier")))
        ),
        Forgetting(SetLikelihoodLearner(Classes(NAMES), models()["linear"].features), alarm=1.01, odds=1.01),
    ],
    ids=["contest", "always in a duel"],
)
def test_contracts(learner):
    check_learner(learner, small_rows(), five(40)[1])


def test_any_learner_that_forecasts_may_forget():
    bank = FilterLearner(Real(-2, 2), (models()["linear"].features,))
    check_learner(Forgetting(bank, alarm=1.01), small_rows(), small_labels(1, 40))
    with pytest.raises(InvalidArgument, match="learner must be one that forecasts"):
        Forgetting(SGDLearner(Real(-2, 2), models()["linear"]))
    for option in ("alarm", "odds"):
        with pytest.raises(InvalidArgument, match=option):
            Forgetting(bank, **{option: 1.0})


def test_it_is_a_fold_through_every_phase():
    """In a stream, answer by answer, and by way of arrays at every step: before, in and after a duel the same bits."""
    X, y = changed(300, 200, 0)
    run = simulate(LEARNER, X, Oracle(y), keep=True, at=[])
    state, phases = LEARNER.init(), []
    for x, one in zip(X, run.blocks, strict=True):
        state = LEARNER.from_arrays(LEARNER.to_arrays(LEARNER.tell(state, x, one.question, one.answer)))
        phases.append(state.young is not None)
    assert sum(phases) >= _SOON
    assert not phases[-1]
    assert (LEARNER.known(state) < 200, LEARNER.count(state)) == (True, 500)
    assert same(LEARNER, state, run.state)


@pytest.mark.parametrize("before", [300, 1500])
def test_after_a_change_it_is_as_one_that_was_started_then(before):
    """Within 1.3 times of it on 300 answers, mean over seeds; without forgetting most are wrong."""
    found, fresh, stuck = [], [], []
    for seed in range(4):
        X, y = changed(before, 300, seed)
        found.append(error(LEARNER, simulate(LEARNER, X, Oracle(y), at=[], seed=seed).state))
        stuck.append(error(INNER, simulate(INNER, X, Oracle(y), at=[], seed=seed).state))
        fresh.append(error(INNER, simulate(INNER, X[before:], Oracle(y[before:]), at=[], seed=seed).state))
    assert np.mean(found) < 1.3 * np.mean(fresh) < 0.3 < np.mean(stuck)


def test_where_nothing_changes_it_asks_and_says_the_same():
    """With an alarm that cannot ring, bit for bit the learner inside; with the usual one, at most one duel, not won."""
    deaf = Forgetting(INNER, alarm=1e300)
    for seed in range(3):
        X, y = corners(1500, seed)
        plain = simulate(INNER, X, Oracle(y), at=[], seed=seed).state
        assert same(INNER, plain, simulate(deaf, X, Oracle(y), at=[], seed=seed).state.old)
        state = simulate(LEARNER, X, Oracle(y), at=[], seed=seed).state
        assert LEARNER.known(state) == 1500


def test_a_learner_that_is_right_about_itself_is_seldom_surprised():
    """Answers drawn by its own forecasts: R passes ``alarm`` at most once in so many, by Lorden's bound."""
    rng, alarms, n = np.random.default_rng(0), 0, 20_000
    surprise, alarm = (1.0, 1.0), 50.0
    for _ in range(n):
        p = rng.uniform()
        surprise = _doubt(surprise, p if rng.uniform() < p else 1.0 - p)
        if max(surprise) > alarm:
            alarms, surprise = alarms + 1, (1.0, 1.0)
    assert 0 < alarms <= 2 * n / alarm  # one bound for each doubter


def test_where_others_know_better_its_own_failures_are_no_surprise():
    learner = Forgetting(SetLikelihoodLearner(Classes(("cat", "owl")), Linear(Scaler.identity(1))))
    before = learner.init()
    for _ in range(100):
        question = learner.ask(before, [1.0], np.full(2, 0.5))
        before = learner.tell(before, [1.0], question, question.holds("cat"))
    for share, others, surprised in ((1.0, 0.0, True), (0.0, 0.9, False)):
        state = learner.opened(before)
        for _ in range(30):
            question = learner.ask(state, [1.0], np.full(2, 0.5))
            _, state = learner.learnt_beside(state, [1.0], question, question.holds("owl"), share, others)
        assert (state.young is not None) == surprised
    assert learner.count(before) == 100
    assert learner.probabilities(before, [[1.0]])[0, 0] > 0.8


def test_rows_that_come_sorted_are_not_forgotten():
    """Class after class: each is a surprise, but those before are still what they were.

    On average: which questions a duel asks is chance, and in one of these tables much is missed either way.
    """
    errors = []
    for seed in range(4):
        X, y = corners(1200, seed)
        order = np.argsort(y, kind="stable")
        run = simulate(LEARNER, X[order], Oracle(y[order]), at=[], seed=seed)
        plain = simulate(INNER, X[order], Oracle(y[order]), at=[], seed=seed)
        assert LEARNER.known(run.state) == 1200
        errors.append((error(LEARNER, run.state, turn=0), error(INNER, plain.state, turn=0)))
    forgetting, plain_error = np.mean(errors, axis=0)
    assert forgetting < plain_error + 0.03


def test_rows_of_one_kind_seldom_differ_and_others_do():
    """2,000 pairs of 64 and 500 rows: as rare as chi-squared says for one column, rarer than 1 in 100 for many."""
    rng = np.random.default_rng(0)
    for columns, most in ((1, 0.02), (30, 0.005)):
        none, wrong = RowMoments.none(columns), 0
        for _ in range(2000):
            early, late = rng.normal(size=(500, columns)), rng.normal(size=(_SOON, columns))
            wrong += none.met(early).differ(none.met(late))
        assert wrong / 2000 < most
        assert none.met(early).differ(none.met(late + 1.0))
    one, block = RowMoments.none(3), rng.normal(size=(40, 3))
    for row in block:
        one = one.met(row[None])
    many = RowMoments.none(3).met(block)
    assert np.array_equal(one.mean, many.mean)
    assert np.array_equal(one.squares, many.squares)
    assert not many.differ(RowMoments.none(3))


def test_learning_anew_ends_a_duel():
    """Somebody who presses keys at random surprises as a change does, until it is known what they are like."""
    X, y = corners(80, 3)
    learner, rng = Forgetting(INNER), np.random.default_rng(4)
    state, told = learner.init(), []
    for i in range(len(X)):
        question = learner.ask(state, X[i], rng.uniform(size=learner.width))
        answer = not question.holds(y[i]) if i >= 60 else bool(question.holds(y[i]))
        state = learner.tell(state, X[i], question, answer)
        told.append((question.put_to(ErrorRates(0.5, 0.5)) if i >= 60 else question, answer))
    assert state.young is not None
    again = learner.relearnt(state, X, *map(list, zip(*told, strict=True)))
    assert again.young is None
    assert again.surprise == (1.0, 1.0)
    assert learner.count(again) == 80
    assert learner.known(again) == 80
    assert error(learner, again, turn=0) < error(learner, state, turn=0)
