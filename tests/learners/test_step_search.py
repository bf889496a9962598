"""A step size chosen from bits: the right one where it matters, the same state however it is reached."""

import numpy as np
import pytest

import askone
from askone import checks
from askone._common import random_table
from askone.errors import IncompatibleParts
from askone.learners.abilities import row_by_row
from askone.learners.exams import PURPOSE
from askone.learners.sgd.step_search import StepSearch
from askone.learners.streaming import StreamTask
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from samples import reloaded, same

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(1500, 1))
Y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * RNG.normal(size=1500)


def searching(low=-1.5, high=1.5, budget=1500, **options):
    learner = askone.SGD(gamma="auto", **options)
    return askone.OneBitRegressor(low, high, learner=learner, budget=budget, random_state=0).start(X)


def test_a_range_far_too_wide_is_found_out_without_a_label():
    """Thirty times too wide: the default step is 30 times too long, and a shorter one is chosen."""
    learner = searching(-45, 45).stream_.learner
    assert isinstance(learner, StepSearch)
    usual = askone.OneBitRegressor(-45, 45, learner=askone.SGD(), random_state=0).start(X).stream_.learner
    truth, errors = np.sin(2 * np.pi * X[:, 0]), []
    for seed in range(4):
        state = simulate(learner, X, Oracle(Y), seed=seed, at=[1500]).state
        assert len(learner.alive(state)) == 1
        assert learner.count(state) == 1500
        plain = simulate(usual, X, Oracle(Y), seed=seed, at=[1500]).state
        errors.append([np.abs(one.predict(s, X)[:, 0] - truth).mean() for one, s in ((learner, state), (usual, plain))])
    auto, default = np.mean(errors, axis=0)
    assert auto < 0.7 * default


def test_it_costs_no_more_than_a_fifth_of_the_answers():
    learner = searching().stream_.learner
    assert learner.bits == 300
    assert searching(budget=None).stream_.learner.bits == 600
    state = simulate(learner, X[:300], Oracle(Y[:300]), seed=0, at=[300]).state
    assert len(learner.alive(state)) == 1


def test_blocks_rows_and_arrays_agree():
    learner = searching(budget=200).stream_.learner
    rows, seed = X[:120], 3
    oracle = Oracle(Y[:120])
    whole = simulate(learner, rows, oracle, seed=seed, at=[120]).state

    def draw(first, count):
        return random_table.uniforms(seed, first, count, learner.width)

    task = StreamTask(np.arange(120), Oracle(Y[:120]), draw)
    plain = row_by_row(learner, learner.init(), rows[:70], task.part(0, 70))
    again = learner.from_arrays({name: array.copy() for name, array in learner.to_arrays(plain).items()})
    again = row_by_row(learner, again, rows[70:], task.part(70))
    assert same(learner, whole, again)


def test_the_contract():
    checks.check_learner(searching(budget=60).stream_.learner, X[:40], Y[:40])


def test_live_answers_late_answers_and_a_saved_model():
    model = searching(budget=300)
    late = []
    for i in range(150):
        question = model.ask(X[i])
        late.append((question, bool(Y[i] > question.threshold)))
        if len(late) > 3:
            model.tell(*late.pop(0))
    assert any(question.purpose == PURPOSE for question, _ in late) or model.stream_.answered > 100
    again = reloaded(model)
    assert np.array_equal(again.predict(X[:9]), model.predict(X[:9]))
    assert str(again.ask(X[200])) == str(model.ask(X[200]))


def test_without_a_range_and_with_two_outputs():
    free = askone.OneBitRegressor(learner=askone.SGD(gamma="auto", calibration=10), random_state=0).fit(
        X[:400], Y[:400]
    )
    assert np.isfinite(free.predict(X[:3])).all()
    both = askone.OneBitRegressor([-2, -2], [2, 2], learner=askone.SGD(gamma="auto"), random_state=0)
    assert both.fit(X[:300], np.c_[Y, -Y][:300]).predict(X[:3]).shape == (3, 2)
    mean = askone.OneBitRegressor(-2, 2, learner=askone.SGD(gamma="auto", loss="squared"), random_state=0)
    assert np.isfinite(mean.fit(X[:300], Y[:300]).predict(X[:3])).all()


@pytest.mark.parametrize("learner", [askone.SGD(gamma="auto", questions="full"), askone.SGD(gamma="auto", step="dog")])
def test_what_has_no_step_to_choose(learner):
    with pytest.raises((IncompatibleParts, askone.errors.InvalidArgument)):
        askone.OneBitRegressor(-2, 2, learner=learner).start(X)


def test_classes_have_no_such_choice():
    with pytest.raises(IncompatibleParts, match="gamma"):
        askone.OneBitClassifier(["a", "b"], learner=askone.SGD(gamma="auto")).start(X)
