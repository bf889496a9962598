import numpy as np
import pytest

from askone.errors import AlreadyAsked, InvalidArgument
from askone.labels.number import Real
from askone.learners.sgd.sgd import SGDLearner
from askone.session.oracle import Oracle
from askone.session.simulation import checkpoints, resampled, simulate
from samples import models, small_labels, small_rows

LEARNER = SGDLearner(Real(-2, 2), models()["nystroem"])
X, Y = small_rows(200), small_labels(1, 200)


def test_checkpoints_do_not_change_the_result():
    results = [LEARNER.predict(simulate(LEARNER, X, Oracle(Y), at=at).state, X) for at in ([], [1, 7, 100], None)]
    assert np.allclose(results[0], results[1], atol=1e-12)
    assert np.allclose(results[0], results[2], atol=1e-12)


def test_a_curve_and_progress():
    seen = []
    outcome = simulate(
        LEARNER, X, Oracle(Y), at=[10, 50], test=X, evaluate=lambda p: float(np.abs(p - Y).mean()), progress=seen.append
    )
    assert [n for n, _ in outcome.curve] == seen == [10, 50, 200]
    assert outcome.curve[-1][1] < outcome.curve[0][1]


def test_going_on_from_a_state():
    whole = simulate(LEARNER, X, Oracle(Y)).state
    first = simulate(LEARNER, X[:90], Oracle(Y)).state
    rest = simulate(LEARNER, X[90:], Oracle(Y[90:]), state=first).state
    assert np.allclose(LEARNER.predict(whole, X), LEARNER.predict(rest, X), atol=1e-12)


def test_kept_questions_are_the_ones_ask_would_ask():
    blocks = simulate(LEARNER, X, Oracle(Y), keep=True).blocks
    assert sum(len(block.answers) for block in blocks) == 200
    answers = np.concatenate([b.answers for b in blocks])
    thresholds = np.concatenate([b.thresholds for b in blocks])
    assert np.array_equal(answers == 1, Y[:, 0] > thresholds)


def test_checkpoint_numbers():
    assert checkpoints(1) == [1]
    assert checkpoints(10**6)[-1] == 10**6
    assert len(checkpoints(10**4, 5)) <= 21


@pytest.mark.parametrize(
    ("options", "argument"), [({"evaluate": np.mean}, "test"), ({"test": [[0.0]], "evaluate": np.mean}, "test")]
)
def test_bad_arguments(options, argument):
    with pytest.raises(InvalidArgument) as caught:
        simulate(LEARNER, X, Oracle(Y), **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("at", [[0], [-1], [1.5]])
def test_bad_checkpoints(at):
    with pytest.raises(InvalidArgument, match="at must be a whole number from 1"):
        simulate(LEARNER, X, Oracle(Y), at=at)


def test_things_that_do_not_belong_together():
    with pytest.raises(InvalidArgument, match="oracle must be one with 1 output"):
        simulate(LEARNER, X, Oracle(np.hstack([Y, Y])))
    with pytest.raises(InvalidArgument, match="oracle must be an Oracle"):
        simulate(LEARNER, X, Y)
    with pytest.raises(InvalidArgument, match="learner must be a Learner"):
        simulate("learner", X, Oracle(Y))


def test_more_rows_than_labels():
    with pytest.raises(InvalidArgument, match="at most 10 rows"):
        simulate(LEARNER, X, Oracle(Y[:10]))


def test_resampling_asks_rows_again():
    order = resampled(200, 3000, seed=1)
    assert set(order) == set(range(200))
    oracle = Oracle(Y, resample=True)
    state = simulate(LEARNER, X, oracle, order=order).state
    assert oracle.questions == LEARNER.count(state) == 3000
    once = simulate(LEARNER, X, Oracle(Y)).state
    errors = [np.abs(LEARNER.predict(s, X) - Y).mean() for s in (once, state)]
    assert errors[1] < errors[0]
    with pytest.raises(AlreadyAsked):
        simulate(LEARNER, X, Oracle(Y), order=order)


@pytest.mark.parametrize("options", [{}, {"flip": 0.3}, {"skip": 0.3}])
def test_resampling_in_blocks_is_resampling_one_by_one(options):
    order = resampled(20, 300, seed=2)
    together = simulate(LEARNER, X, Oracle(Y, resample=True, **options), order=order).state
    oracle, state = Oracle(Y, resample=True, **options), LEARNER.init()
    for row in order:
        question = LEARNER.ask(state, X[row], np.empty(0))
        answer = oracle.respond(int(row), question)
        state = state if answer is None else LEARNER.tell(state, X[row], question, answer)
    assert np.allclose(LEARNER.predict(together, X), LEARNER.predict(state, X), atol=1e-12)


@pytest.mark.parametrize("order", [[], [0.5], [[0]], [-1], [200], "all"])
def test_bad_orders(order):
    with pytest.raises(InvalidArgument, match="order must be"):
        simulate(LEARNER, X, Oracle(Y), order=order)
