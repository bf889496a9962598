"""Step rules and averages against a plain implementation that keeps every iterate."""

import math

import numpy as np
import pytest

from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.kernels import Dot, Gaussian
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.losses import LOSSES
from askone.labels.number import Real
from askone.learners.gradients import MedianSphere, pair
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import (
    AVERAGES,
    STEP_RULES,
    AdaGrad,
    CoinBetting,
    Constant,
    DiagonalAdaGrad,
    DoG,
    DoWG,
    InverseSqrt,
    NoAverage,
    Polynomial,
    Tail,
    Theorem,
    Uniform,
)
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from samples import small_labels, small_rows

FIXED = [InverseSqrt(0.7), Constant(0.05), Theorem(100, 2.0)]
RULES = [*FIXED, AdaGrad(0.8), DiagonalAdaGrad(0.2), DoG(), DoWG(), CoinBetting()]
RIDGED = [(rule, ridge) for rule in RULES for ridge in (0.0, 0.3) if rule.takes_ridge or not ridge]
KINDS = [NoAverage(), Uniform(), Uniform(start=True), Polynomial(3.0), Tail()]


def iterates(rule, ridge, features, directions, labels, bound):
    """theta_0 .. theta_T of SGD written out, on unit labels."""
    m, p = labels.shape[1], features.shape[1]
    theta = np.zeros((m, p))
    out, total, squares = [theta], 0.0, np.zeros((m, p))
    far, weighted, summed, wealth, largest = 0.0, 0.0, np.zeros((m, p)), 1.0, 0.0
    for t, (phi, u, y) in enumerate(zip(features, directions, labels, strict=True), start=1):
        e = 1.0 if y @ u > (theta @ phi) @ u else -1.0
        G = -e * bound * np.outer(u, phi)
        total, squares = total + (G**2).sum(), squares + G**2
        if isinstance(rule, CoinBetting):
            largest = max(largest, math.sqrt((G**2).sum()))
            wealth -= (G * theta).sum() / largest
            summed = summed - G / largest
            theta = wealth / (t + 1) * summed
        elif isinstance(rule, DiagonalAdaGrad):
            theta = theta - rule.gamma * np.divide(G, np.sqrt(squares), out=np.zeros_like(G), where=squares > 0)
        else:
            far = max(far, rule.first, np.linalg.norm(theta))
            weighted += far**2 * (G**2).sum()
            eta = {
                "sqrt": rule.gamma / math.sqrt(t) / bound,
                "constant": rule.gamma / bound,
                "theorem": rule.gamma / bound,
                "adagrad": rule.gamma / math.sqrt(total),
                "dog": far / math.sqrt(total),
                "dowg": far**2 / math.sqrt(weighted) if weighted else 0.0,
            }[rule.name]
            theta = (theta - eta * G) / (1 + 2 * eta * ridge)
        out.append(theta)
    return np.array(out)


def averaged(kind, thetas):
    T = len(thetas) - 1
    if isinstance(kind, NoAverage):
        return thetas[-1]
    if isinstance(kind, Uniform):
        return thetas[:-1].mean(axis=0) if kind.start else thetas[1:].mean(axis=0)
    if isinstance(kind, Tail):
        mark = 1 << (T.bit_length() - 1)
        return thetas[mark // 2 + 1 :].mean(axis=0)
    mean = thetas[1]
    for t in range(2, T + 1):
        rho = (kind.eta + 1) / (t + kind.eta)
        mean = (1 - rho) * mean + rho * thetas[t]
    return mean


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("rule", "ridge"), RIDGED, ids=str)
def test_rules_and_averages(rule, kind, ridge, m):
    X, y = small_rows(100), small_labels(m, 100)
    features = FeatureModel(Nystroem.from_rows(X, 8))
    learner = SGDLearner(Real([-1] * m, 1), features, MedianSphere(), rule, kind, ridge)
    outcome = simulate(learner, X, Oracle(y), seed=3)
    blocks = simulate(learner, X, Oracle(y), seed=3, at=[], keep=True).blocks
    directions = np.concatenate([block.directions for block in blocks])
    bound = MedianSphere().bound(m)
    thetas = iterates(rule, ridge, features.features(X), directions, y, bound)
    for T in (1, 2, 3, 63, 64, 100):
        state = simulate(learner, X[:T], Oracle(y), seed=3, at=[1, 2, 7]).state
        expected = features.features(X) @ averaged(kind, thetas[: T + 1]).T
        assert np.allclose(learner.predict(state, X), expected, rtol=1e-9, atol=1e-9), T
    assert np.allclose(learner.predict(outcome.state, X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("rule", [r for r in RULES if not r.diagonal], ids=lambda r: r.name)
def test_a_growing_expansion_agrees_with_explicit_features(rule, kind):
    """The linear kernel, once by its features and once as an expansion: the same function."""
    X, y = small_rows(90), small_labels(2, 90)
    d = X.shape[1]  # (1 + <x, z>) / 3 is the inner product of Linear's features
    ridge = 0.2 if rule.takes_ridge else 0.0
    dot = KernelExpansion(Dot(math.sqrt(2.0)), Scaler.identity(d))
    by_features = SGDLearner(
        Real([-1, -1], 1), FeatureModel(Linear(Scaler.identity(d))), MedianSphere(), rule, kind, ridge
    )
    by_kernel = SGDLearner(Real([-1, -1], 1), dot, MedianSphere(), rule, kind, ridge)
    states = [simulate(one, X, Oracle(y), seed=1).state for one in (by_features, by_kernel)]
    assert np.allclose(by_features.predict(states[0], X), by_kernel.predict(states[1], X), atol=1e-9)


@pytest.mark.parametrize("m", [1, 2, 6])
def test_the_same_ridge_means_the_same_for_every_m(m):
    # |theta - y| + lambda |theta|^2 with |y| far: |theta*| = 1/(2 lambda), whatever m is.
    ridge, T = 1.0, 20000
    constant = FeatureModel(Linear(Scaler(np.zeros(1), np.ones(1))))
    y = np.tile(np.eye(m)[0] * 3.0, (T, 1))
    X = np.ones((T, 1))  # features (1, 1)/sqrt(2): |phi| = 1
    learner = SGDLearner(Real([-1] * m, 1), constant, MedianSphere(), InverseSqrt(1.0), Polynomial(8.0), ridge)
    state = simulate(learner, X, Oracle(y), at=[]).state
    prediction = learner.predict(state, X[:1])[0]
    assert np.linalg.norm(prediction) == pytest.approx(1 / (2 * ridge), abs=0.03)


def test_a_ridge_so_large_that_scales_underflow():
    X, y = small_rows(400), small_labels(1, 400)
    for model in (FeatureModel(Nystroem.from_rows(X, 8)), KernelExpansion(Gaussian(1.0), Scaler.identity(2))):
        learner = SGDLearner(Real(-1, 1), model, MedianSphere(), Constant(1.0), Uniform(), 1e3)
        state = simulate(learner, X, Oracle(y)).state
        assert np.isfinite(learner.predict(state, X)).all()


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: InverseSqrt(0), "gamma"),
        (lambda: Constant(-1), "gamma"),
        (lambda: AdaGrad(np.nan), "gamma"),
        (lambda: DoG(0), "first"),
        (lambda: DoWG(0), "first"),
        (lambda: CoinBetting(-1), "first"),
        (lambda: Theorem(0), "horizon"),
        (lambda: Polynomial(-1), "eta"),
        (lambda: Polynomial(300), "eta"),
    ],
)
def test_bad_parameters(make, argument):
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert caught.value.argument == argument


def test_parts_that_do_not_fit():
    growing = KernelExpansion(Gaussian(1.0), Scaler.identity(2))
    with pytest.raises(IncompatibleParts, match="step must be one of: 'sqrt'.*grows has no fixed coordinates"):
        SGDLearner(Real(), growing, step=DiagonalAdaGrad())
    with pytest.raises(IncompatibleParts, match="step must be one of.*with a ridge"):
        SGDLearner(Real(), growing, step=CoinBetting(), ridge=0.1)
    with pytest.raises(IncompatibleParts, match="2 outputs"):
        SGDLearner(Real([0, 0], 1), growing, pair(LOSSES["huber"](), "active"))
    with pytest.raises(InvalidArgument, match="ridge must be"):
        SGDLearner(Real(), growing, ridge=-1)


def test_registries_are_complete():
    assert {type(rule) for rule in RULES} == set(STEP_RULES.values())
    assert {type(kind) for kind in KINDS} == set(AVERAGES.values())
