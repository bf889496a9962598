import numpy as np
import pytest

from askone.errors import InvalidArgument
from askone.learners.sgd import SGD
from askone.oracles import Oracle
from askone.simulation import checkpoints, simulate
from askone.spaces import Real
from samples import models, small_labels, small_rows

LEARNER = SGD(Real(-2, 2), models()["nystroem"])
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


def test_more_rows_than_labels():
    with pytest.raises(InvalidArgument, match="at most 10 rows"):
        simulate(LEARNER, X, Oracle(Y[:10]))
