"""Prediction intervals: they hold what they say, the banks keep to their own answers, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

import askone
from askone import Filters, Real
from askone._common import random_table
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import Intercept, Linear
from askone.features.scaling import Scaler
from askone.learners import abilities
from askone.learners.kalman.prediction_intervals import Intervals
from askone.learners.kalman.regressor import BankState, FilterLearner
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


LAWS = {
    "normal": (stats.norm(0, 0.4), 4),
    "Laplace": (stats.laplace(0, 0.3), 4),
    "Cauchy": (stats.cauchy(0, 0.1), 8),
    "skewed": (stats.expon(0, 0.5), 4),
    "uneven": (stats.norm(0, 1), 4),
}


def held(law, T, seed, new=80, **options):
    """The share of labels in the interval (below the quantile), by the true law, over new rows."""
    noise, reach = LAWS[law]
    rng = np.random.default_rng([seed, 1])
    X, Z = rng.uniform(-2, 2, size=(T, 1)), rng.uniform(-2, 2, size=(new, 1))

    def scale(rows):
        return 0.1 + 0.3 * np.abs(rows[:, 0]) if law == "uneven" else 1.0

    def below(ends):
        return noise.cdf((ends - np.sin(2 * Z[:, 0])) / scale(Z))

    choice = Filters(n_components=25, quantile=options.pop("quantile", 0.5))
    model = askone.OneBitRegressor(-reach, reach, learner=choice, decimals=None, random_state=seed, **options)
    model.fit(X, np.sin(2 * X[:, 0]) + scale(X) * noise.ppf(rng.uniform(size=T)))
    if not options:
        return np.mean(below(model.predict(Z)))
    low, high = model.predict_interval(Z)
    return np.mean(below(high) - below(low))


@pytest.mark.seeded
@pytest.mark.filterwarnings("ignore::askone.estimators.row_order.LabelRangeWarning")
@pytest.mark.parametrize("law", LAWS)
def test_they_hold_what_they_say(law):
    """Nine in ten at 1,000 answers, within .02 and what a mean of runs may be off by.

    An end is asked about n = T/4 times, so that its share is known to sqrt(tau (1 - tau) / n) at best: .0138 for each
    end of a run and .0195 for both; the mean of the runs may be off by two and a half times as much, over their root.
    """
    level, T, runs = 0.9, 1000, 8
    found = np.mean([held(law, T, seed, interval=level) for seed in range(runs)])
    tau = (1 - level) / 2
    assert abs(found - level) < 0.02 + 2.5 * math.sqrt(2 * tau * (1 - tau) / (T / 4)) / math.sqrt(runs)


@pytest.mark.filterwarnings("ignore::askone.estimators.row_order.LabelRangeWarning")
@pytest.mark.parametrize("law", ["normal", "Cauchy"])
def test_a_far_quantile_is_reached(law):
    """As above, with all questions about one end: of 1,000 labels 10 lie beyond."""
    tau, T, runs = 0.99, 1000, 4
    found = np.mean([held(law, T, seed, quantile=tau) for seed in range(runs)])
    assert abs(found - tau) < 0.01 + 2.5 * math.sqrt(tau * (1 - tau) / T / runs)


def test_a_forecast_interval_holds_the_noise_of_labels():
    """Not asked about, and so of normal labels only, and where the noise was met: the median of ten runs.

    A run holds .87 with a deviation of .02, other than one in ten that took the noise for less.
    """
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = sample("normal", 800, rng)
        model = askone.OneBitRegressor(-3, 4, learner=Filters(n_components=25), random_state=seed).fit(X, y)
        X, y = sample("normal", 2000, rng)
        ends = abilities.interval(model.stream_.learner, model.stream_.state, X, 0.9)
        shares.append(np.mean((ends[0][:, 0] <= y) & (y <= ends[1][:, 0])))
        deviation = model.predict(X, return_std=True)[1]
        assert (ends[1] - ends[0] > 2 * deviation[:, None]).all()
    assert abs(np.median(shares) - 0.9) < 0.05


def test_one_filter_holds_what_it_says_on_average():
    """p = 1: the expected coverage of the tail is within five errors of the runs of what is asked for."""
    tau, T, runs, sigma = 0.1, 400, 60, 0.3
    learner = FilterLearner(
        askone.Real(-1, 1, decimals=None), (Intercept(1),), (sigma,), (1.0,), quantile=tau, wary=0.0
    )
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
    at, spread = learner.filters.seen(bank, learner.filters.features(X, [0]))
    ends, noise = learner.space.to_unit(learner.forecast(state, X))[:, 0], learner.grid[bank.alive, 2, None]
    for wider in (1.0, 1.4):
        z = (ends - at + noise * ndtri(0.2)) / np.sqrt(wider * spread + noise**2)
        below = bank.weights @ ndtr(z)
        assert (below <= 0.2 + 1e-9).all()  # with the variance that the filters claim it lies further out
    inside = np.abs(ends) < 1.0  # beyond the range nothing is forecast
    assert inside.sum() > 0.9 * len(X)
    assert np.allclose(below[inside], 0.2, atol=1e-9)
    lone = FilterLearner(askone.Real(-1, 1), (Intercept(1),), (0.3,), (0.5,), quantile=0.9, wary=0.0)
    wanted = ndtri(0.9) * (math.sqrt(1.4 * 0.25 + 0.09) - 0.3)
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
    ends = model.predict_interval(X, 0.95)
    wider, narrower = (np.subtract(*model.predict_interval(X, level)[::-1]) for level in (0.95, 0.5))
    stretch = ndtri(0.975) / ndtri(0.9)
    assert (narrower <= high - low + 1e-9).all()
    inside = (low < middle) & (middle < high)
    assert inside.any()
    both = (inside & (ends[0] > -2) & (ends[1] < 2)).all(axis=1)  # no end leaves the range
    assert both.any()
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
    # The share held by a run has a deviation of .02 (eight other seeds).
    assert abs(np.mean((low <= 1e4 + 1e3 * y) & (1e4 + 1e3 * y <= high)) - 0.8) < 3 * 0.02


@pytest.mark.parametrize("slope", [-4.0, -1.0, 0.3, 2.0, 5.0])
def test_what_lies_beyond_the_range_is_not_in_an_interval(slope):
    """One filter that has learnt nothing: its normal law, cut off at the ends of the range; without a range, whole."""
    space = Real(0, 10)
    for found in (False, True):
        known = replace(space, is_found=found)
        learner = FilterLearner(known, (Linear(Scaler.identity(1)),), noises=(0.5,), priors=(0.8,))
        (bank,) = learner.init().banks
        mean = np.zeros_like(bank.mean)
        mean[:, 0] = slope
        state = BankState((replace(bank, mean=mean),), 0, (None,))
        x = np.array([[1.0]])
        features = learner.maps[0](x)[0]
        center, deviation = slope * features[0], math.sqrt(0.25 + 0.64 * features @ features)
        ends = (-math.inf, math.inf) if found else ((-1 - center) / deviation, (1 - center) / deviation)
        law = stats.truncnorm(*ends, loc=center, scale=deviation)
        for level in (0.5, 0.9):
            low, high = learner.interval(state, x, level)
            wanted = known.from_unit(law.ppf([[0.5 - level / 2], [0.5 + level / 2]]))
            assert np.allclose([low[0], high[0]], wanted, atol=1e-6)
            assert high > low
