import numpy as np
import pytest

from askone.errors import AlreadyAsked, InvalidArgument
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.labels.number import Real
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.questions.half_space import HalfSpace
from askone.questions.reveal import Reveal
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

ABOVE_ZERO = HalfSpace((1.0,), 0.0)


def test_exact_answers_and_counts():
    oracle = Oracle([-1.0, 1.0, 2.0])
    assert [oracle.respond(i, ABOVE_ZERO) for i in range(3)] == [False, True, True]
    assert (oracle.questions, oracle.skips, oracle.labels_revealed, len(oracle)) == (3, 0, 0, 3)


def test_one_question_per_row():
    oracle = Oracle([1.0, 2.0])
    oracle.respond(0, ABOVE_ZERO)
    with pytest.raises(AlreadyAsked, match="row 0 had its one question"):
        oracle.respond(0, ABOVE_ZERO)
    with pytest.raises(AlreadyAsked, match="row 0"):
        oracle.seal(np.arange(2), np.ones((2, 1)))
    assert oracle.questions == 1  # a refused call changes nothing
    assert oracle.respond(1, ABOVE_ZERO) is True


def test_a_question_that_does_not_fit_is_not_counted():
    oracle = Oracle([1.0, 2.0])
    with pytest.raises(InvalidArgument):
        oracle.respond(0, HalfSpace((0.6, 0.8), 0.0))
    assert oracle.questions == 0
    assert oracle.respond(0, ABOVE_ZERO) is True
    with pytest.raises(InvalidArgument, match="at least one label"):
        Oracle([])


def test_resampling_is_explicit():
    oracle = Oracle([1.0], resample=True)
    assert [oracle.respond(0, ABOVE_ZERO) for _ in range(3)] == [True] * 3


def test_flips_come_at_their_rate_and_are_seeded():
    n, rate = 20000, 0.2
    answers = [Oracle(np.ones(n), flip=rate, seed=s) for s in (1, 1, 2)]
    first, same, other = (np.array([o.respond(i, ABOVE_ZERO) for i in range(n)]) for o in answers)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    assert abs((~first).mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / n)


def test_a_resampled_flipping_oracle_flips_afresh():
    oracle = Oracle(np.ones(1), flip=0.5, resample=True)
    assert len({oracle.respond(0, ABOVE_ZERO) for _ in range(50)}) == 2


def test_skips_are_none_and_counted():
    n, rate = 5000, 0.3
    oracle = Oracle(np.ones(n), skip=rate)
    answers = [oracle.respond(i, ABOVE_ZERO) for i in range(n)]
    assert answers.count(None) == oracle.skips
    assert abs(oracle.skips / n - rate) < 5 * np.sqrt(rate * (1 - rate) / n)


@pytest.mark.parametrize("options", [{"flip": 0.2}, {"skip": 0.4}, {"flip": 0.1, "skip": 0.1}])
def test_sealed_answers_are_the_same_as_single_ones(options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    learner = SGDLearner(Real(-3, 3), FeatureModel(Linear(Scaler.identity(2))))
    together = simulate(learner, X, Oracle(y, seed=5, **options)).state
    oracle, state = Oracle(y, seed=5, **options), learner.init()
    for i, x in enumerate(X):
        question = learner.ask(state, x, np.empty(0))
        answer = oracle.respond(i, question)
        state = state if answer is None else learner.tell(state, x, question, answer)
    assert np.allclose(learner.predict(state, X), learner.predict(together, X))
    assert learner.count(state) == learner.count(together) == 300 - oracle.skips


def test_labels_are_revealed_only_by_name():
    oracle = Oracle([[1.0, 2.0]])
    assert oracle.respond(0, Reveal(2)) == (1.0, 2.0)
    assert oracle.labels_revealed == 1


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        (([np.nan],), "y"),
        (([1.0], {"flip": 0.6}), "flip"),
        (([1.0], {"skip": -0.1}), "skip"),
        (([["a"], ["b", "c"]],), "y"),
    ],
)
def test_bad_arguments(arguments, argument):
    with pytest.raises(InvalidArgument) as caught:
        Oracle(arguments[0], **(arguments[1] if len(arguments) > 1 else {}))
    assert caught.value.argument == argument


@pytest.mark.parametrize("row", [-1, 2, 0.0, True])
def test_rows_outside(row):
    with pytest.raises(InvalidArgument, match="row must be a whole number from 0 to 1"):
        Oracle([1.0, 2.0]).respond(row, ABOVE_ZERO)


def test_a_flipping_respondent_slows_learning_but_does_not_mislead_it():
    rng = np.random.default_rng(0)
    X = rng.random((20000, 1))
    y = 2 * X[:, 0] - 1
    learner = SGDLearner(Real(-1, 1), FeatureModel(Linear(Scaler.from_rows(X))))
    errors = [
        np.abs(learner.predict(simulate(learner, X, Oracle(y, flip=rate)).state, X)[:, 0] - y).mean()
        for rate in (0.0, 0.3)
    ]
    assert errors[0] < errors[1] < 0.1
