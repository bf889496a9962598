"""Prediction intervals: they hold what they say, the banks keep to their own answers, what is refused."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import askone
from askone import Filters
from askone._common import random_table
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import Intercept, Linear
from askone.features.scaling import Scaler
from askone.learners.kalman.intervals import Intervals
from askone.learners.kalman.regressor import FilterLearner
from samples import small_labels, small_rows

LINE = Linear(Scaler.from_rows(small_rows()))
FEW = {"noises": (0.03, 0.1, 0.3, 1.0), "priors": (0.5, 2.0)}


def sample(kind, n, rng):
    X = rng.uniform(-2, 2, size=(n, 1))
    noise = {
        "normal": lambda: 0.4 * rng.normal(size=n),
        "uneven": lambda: (0.1 + 0.3 * np.abs(X[:, 0])) * rng.normal(size=n),
        "skewed": lambda: 0.5 * rng.exponential(size=n),
    }[kind]()
    return X, np.sin(2 * X[:, 0]) + noise


@pytest.mark.parametrize("kind", ["normal", "uneven", "skewed"])
def test_they_hold_what_they_say(kind):
    """The ends' own error moves the coverage of a run: its deviation is measured over runs.

    A tail is asked about n = T/4 = 300 times for p effective features, so its chance is known to about
    sqrt(p tau (1 - tau) / n); with p at most 12 that is 0.06 for each end, and 0.085 for both.
    """
    level, T, runs = 0.8, 1200, 3
    found = []
    for seed in range(100, 100 + runs):
        rng = np.random.default_rng(seed)
        model = askone.OneBitRegressor(-3, 4, interval=level, learner=Filters(n_components=25), random_state=seed)
        model.fit(*sample(kind, T, rng))
        X, y = sample(kind, 2000, rng)
        low, high = model.predict_interval(X)
        found.append(np.mean((low <= y) & (y <= high)))
    assert abs(np.mean(found) - level) < 2 * 0.085 / math.sqrt(runs)


def test_one_filter_holds_what_it_says_on_average():
    """p = 1: the expected coverage of the tail is within five errors of the runs of what is asked for."""
    tau, T, runs, sigma = 0.1, 400, 60, 0.3
    learner = FilterLearner(askone.Real(-1, 1, decimals=None), (Intercept(1),), (sigma,), (1.0,), quantile=tau)
    chances = []
    for seed in range(runs):
        y = sigma * np.random.default_rng(seed).normal(size=T)
        state = askone.simulate(learner, np.zeros((T, 1)), askone.Oracle(y), seed=seed, at=[]).state
        chances.append(ndtr(learner.forecast(state, [[0.0]]).item() / sigma))
    assert abs(np.mean(chances) - tau) < 5 * np.std(chances, ddof=1) / math.sqrt(runs) + 1 / T


def test_an_end_is_the_quantile_of_the_mixture():
    learner = FilterLearner(askone.Real(-2, 2, decimals=None), (LINE,), quantile=0.2, **FEW)
    state, X = learner.init(), small_rows()
    for i, x in enumerate(X):
        state = learner.tell(state, x, learner.ask(state, x, np.empty(0)), i % 5 > 0)
    bank = state.banks[0]
    at, spread = bank.seen(learner._features(X, [0]), learner._places(bank))
    ends, noise = learner.space.to_unit(learner.forecast(state, X))[:, 0], learner.grid[bank.alive, 2, None]
    for wider in (1.0, 2.0):
        z = (ends - at + noise * ndtri(0.2)) / np.sqrt(wider * spread + noise**2)
        below = bank.weights @ ndtr(z)
        assert (below <= 0.2 + 1e-9).all()  # with the variance that the filters claim it lies further out
    assert np.allclose(below, 0.2, atol=1e-9)
    lone = FilterLearner(askone.Real(-1, 1), (Intercept(1),), (0.3,), (0.5,), quantile=0.9)
    wanted = ndtri(0.9) * (math.sqrt(2 * 0.25 + 0.09) - 0.3)
    assert lone.forecast(lone.init(), [[0.0]]).item() == pytest.approx(wanted)


def test_each_bank_learns_what_it_asked():
    learner = Intervals(FilterLearner(askone.Real(-2, 2), (LINE,), **FEW), 0.8)
    state, x = learner.init(), small_rows()[0]
    assert [bank.quantile for bank in learner.banks] == pytest.approx([0.5, 0.1, 0.9])
    for u, purpose, which in ((0.1, "", 0), (0.6, "lower", 1), (0.9, "upper", 2)):
        question = learner.ask(state, x, np.array([u]))
        assert question.purpose == purpose
        assert learner.chance(state, x, question) == learner.banks[which].chance(state.parts[which], x, question)
        told = learner.tell(state, x, question, True)
        assert [part.answers for part in told.parts] == [int(i == which) for i in range(3)]
        assert learner.count(told) == 1
    stranger = learner.tell(state, x, askone.HalfSpace((1.0,), 0.5, purpose="range"), True)
    assert stranger.parts[0].answers == 1
    with pytest.raises(InvalidArgument, match="question must be a HalfSpace"):
        learner.tell(state, x, askone.Reveal(1), (0.5,))


def test_half_of_the_questions_go_to_the_median():
    learner = Intervals(FilterLearner(askone.Real(-2, 2), (LINE,), **FEW), 0.8)
    T = 2000
    which = [learner._which(u) for u in random_table.uniforms(0, 0, T, 1)[:, 0]]
    shares = np.bincount(which, minlength=3) / T
    assert (np.abs(shares - [0.5, 0.25, 0.25]) < 5 * np.sqrt(0.25 / T)).all()


def test_the_ends_lie_on_both_sides_and_another_level_stretches_them():
    X, y = small_rows(300), small_labels(2, 300)
    model = askone.OneBitRegressor([-2, -2], 2, interval=0.8, learner=Filters(model="linear"), random_state=0)
    model.fit(X, y + 0.2 * np.random.default_rng(0).normal(size=y.shape))
    middle, (low, high) = model.predict(X), model.predict_interval(X)
    assert low.shape == high.shape == middle.shape == (300, 2)
    assert ((low <= middle) & (middle <= high)).all()
    wider, narrower = (np.subtract(*model.predict_interval(X, level)[::-1]) for level in (0.95, 0.5))
    stretch = ndtri(0.975) / ndtri(0.9)
    assert (narrower <= high - low + 1e-9).all()
    inside = (low < middle) & (middle < high)
    assert inside.any()
    both = inside.all(axis=1)
    assert np.allclose(wider[both], stretch * (high - low)[both])
    predicted, deviation = model.predict(X, return_std=True)
    assert np.array_equal(predicted, middle)
    assert (deviation > 0).all()


def test_what_is_refused():
    X, y = small_rows(), small_labels(1)[:, 0]
    with pytest.raises(InvalidArgument, match="interval must be a level such as 0.9 from the start"):
        askone.OneBitRegressor(-2, 2, random_state=0).fit(X, y).predict_interval(X)
    for level in (0.0, 1.0, 1.5, -0.1, "0.9"):
        with pytest.raises(InvalidArgument, match="interval must be"):
            askone.OneBitRegressor(-2, 2, interval=level).fit(X, y)
    model = askone.OneBitRegressor(-2, 2, interval=0.9, random_state=0).fit(X, y)
    for level in (0.0, 1.0, "0.9"):
        with pytest.raises(InvalidArgument, match="level must be"):
            model.predict_interval(X, level)
    with pytest.raises(IncompatibleParts, match="interval"):
        askone.OneBitRegressor(-2, 2, learner=Filters(quantile=0.9), interval=0.9).fit(X, y)
    with pytest.raises(IncompatibleParts, match="bundles"):
        askone.OneBitRegressor([0, 0], 9, bundles=[(1, 0), (0, 1)], interval=0.9).start(X)
    searching = askone.OneBitRegressor(interval=0.9, random_state=0).start(X)
    with pytest.raises(InvalidArgument, match="after the range is found"):
        searching.predict_interval(X)
    with pytest.raises(InvalidArgument, match="return_std"):
        searching.predict(X, return_std=True)
    with pytest.raises(askone.AskoneError):
        askone.OneBitRegressor(-2, 2, interval=0.9).predict_interval(X)


def test_no_range_is_needed():
    rng = np.random.default_rng(0)
    X, y = sample("normal", 1200, rng)
    model = askone.OneBitRegressor(interval=0.8, learner=Filters(n_components=20), random_state=0).fit(X, 1e4 + 1e3 * y)
    X, y = sample("normal", 2000, rng)
    low, high = model.predict_interval(X)
    assert abs(np.mean((low <= 1e4 + 1e3 * y) & (1e4 + 1e3 * y <= high)) - 0.8) < 2 * 0.085
