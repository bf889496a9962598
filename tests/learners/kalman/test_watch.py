"""Young filters beside a bank: a change is found, from the answers since, and the state stays a fold."""

import numpy as np
import pytest

from askone import Filters, OneBitRegressor, Oracle, Real
from askone.features.maps import Nystroem
from askone.learners.kalman import _watch
from askone.learners.kalman.regressor import FilterLearner
from askone.questions.base import ErrorRates
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace
from askone.session.simulation import simulate
from samples import same

RULES = {"turned": lambda f: -f, "shifted": lambda f: f + 0.5}
ROWS = np.linspace(-1, 1, 200)[:, None]


def rule(X):
    return np.sin(3 * X[:, 0])


def labels(X, noise, seed, change=None, at=0):
    y = rule(X)
    if change is not None:
        y = np.concatenate([y[:at], RULES[change](y[at:])])
    return y + noise * np.random.default_rng(seed + 50).standard_normal(len(X))


def rows(n, seed):
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, 1))


def learner(diagonal=False, outputs=1):
    maps = tuple(Nystroem.from_rows(ROWS, 20, "gaussian", width) for width in (0.3, 0.8))
    return FilterLearner(Real([-2] * outputs, 2, decimals=6), maps, diagonal=diagonal, forgets=True)


def answers_known(state):
    return [bank.count for bank in state.banks]


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize("change", RULES)
def test_after_a_change_a_bank_is_as_one_that_was_started_then(change, noise):
    """Within 1.3 times of it on as many answers as before, mean over seeds."""
    bank, before, errors = learner(), 1500, {"found": [], "fresh": []}
    for seed in range(4):
        X = rows(2 * before, seed)
        y = labels(X, noise, seed, change, before)[:, None]
        for name, start in (("found", 0), ("fresh", before)):
            state = simulate(bank, X[start:], Oracle(y[start:]), at=[], seed=seed).state
            errors[name].append(np.abs(bank.predict(state, ROWS)[:, 0] - RULES[change](rule(ROWS))).mean())
    assert np.mean(errors["found"]) < 1.3 * np.mean(errors["fresh"])


@pytest.mark.parametrize("diagonal", [False, True])
def test_it_is_a_fold_through_a_change(diagonal):
    """In blocks, answer by answer, and by way of arrays: the same bits before and after the bank begins anew."""
    bank, X = learner(diagonal), rows(900, 0)
    y = labels(X, 0.1, 0, "turned", 600)[:, None]
    run = simulate(bank, X, Oracle(y), keep=True, at=[])
    assert answers_known(run.state)[0] < 330
    state, asked = (
        bank.init(),
        [one for block in run.blocks for one in zip(block.thresholds, block.answers, strict=True)],
    )
    for i, (x, (threshold, bit)) in enumerate(zip(X, asked, strict=True)):
        question = bank.ask(state, x, np.empty(0))
        assert question.threshold == threshold
        state = bank.tell(state, x, question, bool(bit))
        if i % 50 == 0:
            state = bank.from_arrays(bank.to_arrays(state))
    assert answers_known(state) == answers_known(run.state)
    assert np.array_equal(bank.predict(state, ROWS), bank.predict(run.state, ROWS))


def test_each_output_forgets_by_itself():
    bank, X = learner(outputs=2), rows(3000, 1)
    y = np.column_stack([labels(X, 0.1, 1, "turned", 1500), labels(X, 0.1, 2)])
    first, second = answers_known(simulate(bank, X, Oracle(y), at=[]).state)
    assert first < 1000
    assert second > 1300


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_nothing_is_forgotten_where_nothing_changes(noise):
    """Nor where the rows come sorted: what was learnt of the others is still so."""
    for seed, order in enumerate((None, 0)):
        X = rows(6000, seed)
        X = X if order is None else np.sort(X, axis=0)
        state = simulate(learner(), X, Oracle(labels(X, noise, seed)[:, None]), at=[]).state
        assert answers_known(state) == [6000]


def test_what_changes_for_a_while_is_no_new_concept():
    """The former bank comes back, with all that it knew: as good as if nothing had happened but those answers."""
    bank, X = learner(), rows(6000, 3)
    y = labels(X, 0.1, 3)
    y[3000:3300] *= -1
    forgot = simulate(bank, X[:3300], Oracle(y[:3300, None]), at=[]).state
    assert answers_known(forgot)[0] < 600
    state = simulate(bank, X, Oracle(y[:, None]), at=[]).state
    assert answers_known(state) == [6000]


def test_few_rows_are_kept_of_wide_tables():
    X = np.random.default_rng(0).normal(size=(300, 3000))
    model = OneBitRegressor(-9, 9, learner=Filters(fitted=False), random_state=0).start(X[:50])
    for x in X:
        model.tell(model.ask(x), bool(x[0] > 0))
    (watch,) = model.stream_.state.base.watches
    assert watch.count < 2 * _watch.SHORT


@pytest.mark.parametrize("diagonal", [False, True])
def test_answers_told_at_once_are_those_told_one_by_one(diagonal):
    """Through a change and the trial after it, with questions of two ends among the others, in blocks of any size."""
    bank, X = learner(diagonal), rows(1200, 4)
    y = labels(X, 0.1, 4, "turned", 500)
    state, questions, answers = bank.init(), [], []
    for i, x in enumerate(X):
        question = Between(-0.4, 0.6) if i % 9 == 4 else bank.ask(state, x, np.empty(0))
        questions.append(question)
        answers.append(bool(question.answer(y[i])))
        state = bank.tell(state, x, question, answers[-1])
    assert answers_known(state)[0] < 800
    for size in (1, 7, 16, 500):
        together = bank.init()
        for first in range(0, len(X), size):
            part = slice(first, first + size)
            together = bank.tell_many(together, X[part], questions[part], answers[part])
        assert same(bank, together, state)


def test_to_learn_anew_is_no_change():
    """With what is known of a respondent by then all answers are less likely, or more: nothing has changed for that."""
    bank, X, lots = learner(), rows(300, 0), np.random.default_rng(0)
    questions = [HalfSpace((1.0,), c) for c in lots.uniform(-2, 2, len(X))]
    bits = [question.holds(label) for question, label in zip(questions, labels(X, 0.1, 0), strict=True)]
    state = bank.tell_many(bank.init(), X[:200], questions[:200], bits[:200])
    put = [question.put_to(ErrorRates(0.2, 0.2)) for question in questions]
    again = bank.relearnt(state, X[:200], put[:200], bits[:200])
    assert state.banks[0].evidence.max() - again.banks[0].evidence.max() > 15  # nats: more than an alarm takes
    again = bank.tell_many(again, X[200:], questions[200:], bits[200:])
    assert answers_known(again) == [300]
