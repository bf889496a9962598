import numpy as np
import pytest

import askone
from askone.checks import check_learner
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import Linear
from askone.features.scaling import Scaler
from askone.labels.losses import Median
from askone.labels.number import Real
from askone.learners.gradients import pair
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import AVERAGES, STEP_RULES, CoinBetting, Theorem
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from samples import small_labels, small_rows

torch = pytest.importorskip("torch", reason="neural models need torch (make test installs it; TORCH= leaves it out)")
Neural = pytest.importorskip("askone.learners.models.neural").Neural
X = small_rows()


def network(outputs=1, columns=2, width=8):
    torch.manual_seed(0)
    layers = (torch.nn.Linear(columns, width), torch.nn.Tanh(), torch.nn.Linear(width, outputs))
    return torch.nn.Sequential(*layers).double()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("rule", [name for name in STEP_RULES if name != "coin"])
def test_contract(rule, average):
    step = Theorem(40) if rule == "theorem" else STEP_RULES[rule]()
    learner = SGDLearner(
        Real([-2, -2], 2), Neural(network(2), 2, "cpu"), pair(Median(), "active", 2), step, AVERAGES[average]()
    )
    check_learner(learner, X, small_labels(2))


@pytest.mark.parametrize("family", ["passive", "full"])
def test_baselines(family):
    check_learner(SGDLearner(Real(-2, 2), Neural(network(), 2, "cpu"), pair(Median(), family)), X, small_labels(1))


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("rule", ["sqrt", "adagrad", "dog", "adagrad-diagonal"])
def test_a_linear_network_is_the_linear_model(rule, ridge):
    """theta phi(x) with phi = (1, x)/sqrt(3), once as features and once through autograd."""
    if rule == "adagrad-diagonal" and ridge:
        return

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(2, 3, dtype=torch.double))

        def forward(self, x):
            ones = torch.ones(len(x), 1, dtype=x.dtype)
            return torch.cat([ones, x], dim=1) / 3**0.5 @ self.weight.T

    y, step = small_labels(2), STEP_RULES[rule]()
    by_features = SGDLearner(Real([-2, -2], 2), FeatureModel(Linear(Scaler.identity(2))), step=step, ridge=ridge)
    by_network = SGDLearner(Real([-2, -2], 2), Neural(Scaled(), 2, "cpu"), step=step, ridge=ridge)
    states = [simulate(learner, X, Oracle(y), seed=4).state for learner in (by_features, by_network)]
    assert np.allclose(by_features.predict(states[0], X), by_network.predict(states[1], X), atol=1e-9)


def test_a_network_learns_from_one_bit_per_row():
    rows = 2 * np.random.default_rng(0).random((2000, 1)) - 1
    y = np.sin(np.pi * rows)
    learner = SGDLearner(Real(-1, 1), Neural(network(1, 1, 32), 1, "cpu"), average=AVERAGES["polynomial"]())
    before = np.abs(learner.predict(learner.init(), rows) - y).mean()
    state = simulate(learner, rows, Oracle(y), at=[]).state
    assert np.abs(learner.predict(state, rows) - y).mean() < 0.3 * before


def test_the_module_is_copied():
    module = network()
    weights = [p.detach().clone() for p in module.parameters()]
    learner = SGDLearner(Real(-2, 2), Neural(module, 2, "cpu"))
    simulate(learner, X, Oracle(small_labels(1)))
    assert all(torch.equal(a, b) for a, b in zip(weights, module.parameters(), strict=True))


def test_save_and_load_with_the_network_handed_in(tmp_path):
    model = askone.OneBitRegressor(-2, 2, learner=askone.SGD(model=Neural(network(), 2, "cpu")), random_state=0)
    model.fit(X, small_labels(1)[:, 0])
    model.save(tmp_path / "net")
    with pytest.raises(InvalidArgument, match="the network this model was saved with"):
        askone.load(tmp_path / "net")
    back = askone.load(tmp_path / "net", model=Neural(network(), 2, "cpu"))
    assert np.allclose(back.predict(X), model.predict(X))


def test_frozen_parameters_stay_and_another_network_is_refused(tmp_path):
    module = network()
    module[0].weight.requires_grad_(False)
    model = Neural(module, 2, "cpu")
    assert len(model.init(1, 1).start) == sum(p.numel() for p in module.parameters() if p.requires_grad)
    check_learner(SGDLearner(Real(-2, 2), model), X, small_labels(1))
    fitted = askone.OneBitRegressor(-2, 2, learner=askone.SGD(model=model), random_state=0).fit(
        X, small_labels(1)[:, 0]
    )
    fitted.save(tmp_path / "net")
    with pytest.raises(InvalidArgument, match="parameters, as was saved"):
        askone.load(tmp_path / "net", model=Neural(network(width=5), 2, "cpu"))


def test_single_precision_and_the_default_device():
    learner = SGDLearner(Real(-2, 2), Neural(network().float(), 2))
    state = simulate(learner, X, Oracle(small_labels(1))).state
    assert np.isfinite(learner.predict(state, X)).all()


def test_refusals():
    with pytest.raises(InvalidArgument, match="module must be a torch.nn.Module"):
        Neural("net", 2)
    with pytest.raises(InvalidArgument, match="parameters to learn"):
        Neural(torch.nn.Tanh(), 2)
    with pytest.raises(InvalidArgument, match="to \\(1 x 3\\)"):
        SGDLearner(Real([0] * 3, 1), Neural(network(), 2, "cpu")).init()
    with pytest.raises(IncompatibleParts, match="a network cannot start at zero"):
        SGDLearner(Real(), Neural(network(), 2, "cpu"), step=CoinBetting())
