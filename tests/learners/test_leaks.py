"""No learner reaches a label: labels that answer alike teach alike, bit for bit."""

import numpy as np
import pytest

from askone import SGD
from askone._common import random_table
from askone.estimators import OneBitRegressor
from askone.labels.losses import LOSSES
from askone.labels.number import Real
from askone.learners.gradients import PAIRS, WeakGradient, pair
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.generic import GenericSGD
from askone.learners.range_search import Calibrated
from askone.learners.sgd.sgd import SGDLearner
from askone.session.log import Answered, Asked
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.simulation import simulate
from samples import assert_sees_bits_only, models, other_labels, same, small_labels, small_rows

MODELS = models()
WEAK = [
    (*key, m)
    for key, cls in PAIRS.items()
    for m in (1, 3)
    if issubclass(cls, WeakGradient) and (m == 1 or not cls.single_output)
]


@pytest.mark.parametrize("model", ["linear", "nystroem", "kernel"])
@pytest.mark.parametrize(("loss", "family", "m"), WEAK)
def test_labels_that_answer_alike_teach_alike(loss, family, m, model):
    X, y = small_rows(120), small_labels(m, 120)
    learner = SGDLearner(Real([-2] * m, 2), MODELS[model], pair(LOSSES[loss](), family, m))
    assert_sees_bits_only(learner, X, y)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("loss", ["median", "squared"])
def test_bundles_that_answer_alike_teach_alike(loss, decimals):
    X, y = small_rows(120), small_labels(2, 120)
    space = Real([-2, -4], 2, decimals=decimals, bundles=((1, 0), (2, 1), (0.5, 3)))
    learner = SGDLearner(space, MODELS["nystroem"], pair(LOSSES[loss](), "bundles", 2, bundles=space.unit_bundles))
    assert_sees_bits_only(learner, X, y)


def test_the_ellipsoid_sees_bits_only():
    X, y = small_rows(120), small_labels(1, 120)
    learner = EllipsoidLearner(Real(-2, 2, decimals=1), MODELS["linear"].features)
    assert_sees_bits_only(learner, X, y)


def test_the_search_for_a_range_sees_bits_only():
    X, y = small_rows(120), small_labels(1, 120)
    learner = Calibrated(SGDLearner(Real(-1, 1), MODELS["nystroem"]), 40)
    assert_sees_bits_only(learner, X, y)


@pytest.mark.parametrize(
    "learner",
    [SGDLearner(Real([-2, -2], 2), MODELS["kernel"]), GenericSGD(Real(-2, 2), MODELS["linear"]),
     EllipsoidLearner(Real(-2, 2), MODELS["linear"].features),
     Calibrated(SGDLearner(Real(-1, 1), MODELS["linear"]), 20)],
    ids=lambda learner: type(learner).__name__,
)  # fmt: skip
def test_the_state_is_a_fold_of_bits(learner):
    """Replaying questions and bools, with no oracle in sight, gives the state exactly."""
    X, y = small_rows(60), small_labels(learner.space.m, 60)
    oracle, state, log = Oracle(y), learner.init(), []
    for i, x in enumerate(X):
        question = learner.ask(state, x, random_table.uniforms(0, i, 1, learner.width)[0])
        answer = oracle.respond(i, question)
        assert type(answer) is bool
        state = learner.tell(state, x, question, answer)
        log += [Asked(f"a{i}", str(i), question, i), Answered(f"b{i}", f"a{i}", answer)]
    rows = {str(i): x for i, x in enumerate(X)}
    assert same(learner, fold(learner, rows, log), state)


@pytest.mark.filterwarnings("ignore::askone.LabelRangeWarning")
@pytest.mark.parametrize(
    "options", [{"low": -2, "high": 2}, {}, {"low": -2, "high": 2, "learner": SGD(loss="squared")}], ids=str
)
def test_the_estimator_does_not_look_at_labels_either(options):
    """The first fit tells which questions were asked; labels that answer them alike fit alike."""
    X, y = small_rows(80), small_labels(1, 80)
    model = OneBitRegressor(random_state=0, **options).fit(X, y[:, 0])
    again = simulate(model.stream_.learner, X, Oracle(y), seed=model.stream_.seed, at=[], keep=True)
    others = other_labels(again.blocks, np.random.default_rng(0))
    assert np.abs(others - y).mean() > 50
    assert np.array_equal(OneBitRegressor(random_state=0, **options).fit(X, others[:, 0]).predict(X), model.predict(X))


def test_an_oracle_keeps_its_labels_to_itself():
    y = np.array([1.0, 2.0])
    oracle = Oracle(y, skip=0.5, seed=3)
    y[:] = 99.0  # it has its own copy
    labels, skipped = oracle.reveal(np.arange(2))
    assert np.isnan(labels[skipped]).all()
    assert set(labels[~skipped].ravel()) <= {1.0, 2.0}
    assert "1.0" not in repr(oracle)


def test_only_the_supervised_baseline_is_given_labels():
    X, y = small_rows(30), small_labels(1, 30)
    revealed = {}
    for family in ("active", "passive", "full"):
        oracle = Oracle(y)
        simulate(SGDLearner(Real(-2, 2), MODELS["linear"], pair(LOSSES["median"](), family)), X, oracle)
        revealed[family] = (oracle.questions, oracle.labels_revealed)
    assert revealed == {"active": (30, 0), "passive": (30, 0), "full": (30, 30)}
