"""Models: forward map, pull-back, and states that share memory without sharing fate."""

import numpy as np
import pytest

from askone.features.kernels import Gaussian
from askone.features.scaling import Scaler
from askone.labels.number import Real
from askone.learners.models.kernel_expansion import Buffer, KernelExpansion
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import NoAverage, Tail
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from samples import models, small_labels, small_rows

X, Y = small_rows(), small_labels(2)
MODELS = models()


@pytest.mark.parametrize("name", MODELS)
def test_the_pull_back_is_the_adjoint_of_the_forward_map(name):
    """f after a step v at x moves by <phi(x), phi(x')> v at x': what SGD in function space is."""
    model = MODELS[name]
    params = model.init(2, 1)
    weights, V = np.ones((3, 1)), np.random.default_rng(0).normal(size=(3, 2))
    stepped = model.at(params, X[:3]).stepped(V, weights)
    moved = model.evaluate(stepped, X, np.ones(1)) - model.evaluate(params, X, np.ones(1))
    gram = model.at(params, X).gram()
    assert np.allclose(moved, gram[:, :3] @ V, atol=1e-10)
    U = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    squares = (gram[:3, :3] * (U @ U.T)).diagonal()
    assert np.allclose(model.at(params, X[:3]).squares(U), squares, atol=1e-12)
    assert model.at(stepped, X).distance2(1.0) == pytest.approx(np.sum(V * (gram[:3, :3] @ V)))


@pytest.mark.parametrize("name", MODELS)
def test_two_futures_of_one_state(name):
    """A growing buffer is shared: answering yes in one branch must not reach the other."""
    learner = SGDLearner(Real([-2, -2], 2), MODELS[name], average=Tail())
    state = simulate(learner, X[:20], Oracle(Y)).state
    before = learner.predict(state, X)
    uniform = np.full(2, 0.3)
    question = learner.ask(state, X[20], uniform)
    yes, no = (learner.tell(state, X[20], question, answer) for answer in (True, False))
    again = learner.tell(state, X[20], question, True)
    assert np.array_equal(learner.predict(state, X), before)
    assert np.array_equal(learner.predict(yes, X), learner.predict(again, X))
    assert not np.array_equal(learner.predict(yes, X), learner.predict(no, X))


def test_buffers_share_until_they_must_not():
    empty = Buffer(2)
    one = empty.extended(0, np.ones((1, 2)))
    two = one.extended(1, np.full((1, 2), 2.0))
    assert two is one is empty
    other = two.extended(1, np.full((1, 2), 3.0))
    assert other is not two
    assert two.view(2)[1].tolist() == [2.0, 2.0]
    assert other.view(2)[1].tolist() == [3.0, 3.0]
    assert two.extended(1, np.full((1, 2), 2.0)) is two  # the same again, as after a look ahead
    assert other.extended(1, np.full((1, 2), 3.0)) is other
    zero = other.extended(2, np.zeros((1, 2)))
    assert other.extended(2, -np.zeros((1, 2))) is not zero  # bit for bit


def test_large_predictions_are_made_in_parts(monkeypatch):
    monkeypatch.setattr("askone.learners.models.kernel_expansion._CHUNK", 50)
    model = KernelExpansion(Gaussian(1.0), Scaler.identity(2))
    learner = SGDLearner(Real([-2, -2], 2), model, average=NoAverage())
    state = simulate(learner, X, Oracle(Y)).state
    single = np.vstack([learner.predict(state, X[i : i + 1]) for i in range(len(X))])
    assert np.allclose(learner.predict(state, X), single)
    with pytest.raises(TypeError, match="no coordinates"):
        model.at(state.params, X[:1]).stepped_diagonally(X[:1], 1.0, 1.0, np.ones((1, 1)))
