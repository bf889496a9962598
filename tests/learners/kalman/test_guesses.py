"""Guesses and lapses at known rates: exact by quadrature, asked where most is told, the same in every way to learn."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import askone
from askone import Filters, Real
from askone.campaign.engine.model_builder import make_estimator
from askone.campaign.settings.settings import ClassNames, LearnerSettings, Numbers, Settings
from askone.errors import InvalidArgument
from askone.features.maps import Intercept
from askone.learners.kalman.regressor import FilterLearner, most_telling
from askone.questions.base import HONEST, ErrorRates
from askone.questions.half_space import HalfSpace
from samples import reloaded

RATES = [(0.0, 0.0), (0.5, 0.0), (0.05, 0.3), (0.2, 0.2)]
GRID = np.linspace(-6, 6, 24001)


def one_filter(guess, lapse, noise=0.3, **options):
    """A normal value of deviation 1, and normal noise: a posterior that a grid has exactly."""
    return FilterLearner(
        Real(-1, 1), (Intercept(1),), noises=(noise,), priors=(1.0,), guess=guess, lapse=lapse, **options
    )


@pytest.mark.parametrize(("guess", "lapse"), RATES)
@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize(("flip", "slips"), [(0.0, HONEST), (0.1, ErrorRates(0.2, 0.05))])
def test_an_answer_has_the_chance_and_the_moments_of_a_grid(guess, lapse, answer, flip, slips):
    learner, scale = one_filter(guess, lapse, flip=flip), Intercept(1)(np.zeros((1, 1)))[0, 0]
    state, question = learner.init(), HalfSpace((1.0,), 0.4).put_to(slips)
    honest = ndtr((scale * GRID - 0.4) / 0.3)
    yes = slips.yes + slips.trust * (guess + (1 - guess - lapse) * honest)
    yes = flip + (1 - 2 * flip) * yes
    prior = np.exp(-(GRID**2) / 2)
    prior /= prior.sum()
    assert learner.chance(state, [0.0], question) == pytest.approx((prior * yes).sum(), abs=1e-9)
    posterior = prior * (yes if answer else 1 - yes)
    posterior /= posterior.sum()
    mean = (posterior * scale * GRID).sum()
    deviation = np.sqrt((posterior * (scale * GRID - mean) ** 2).sum())
    after = learner.tell(state, [0.0], question, answer)
    assert learner.std(after, [[0.0]]).item() == pytest.approx(deviation, abs=1e-7)
    assert learner.predict(after, [[0.0]]).item() == pytest.approx(np.clip(mean, -1, 1), abs=1e-7)
    many = learner.tell_many(state, [[0.0]], [question], [answer])
    assert learner.predict(many, [[0.0]]).item() == learner.predict(after, [[0.0]]).item()


@pytest.mark.parametrize(("guess", "lapse"), RATES)
def test_it_asks_where_the_answer_takes_most_variance(guess, lapse):
    learner = one_filter(guess, lapse)
    state = learner.init()
    asked = learner.ask(state, [0.0], np.empty(0)).threshold

    def left(c):
        """The variance that is expected after an answer about c."""
        question, out = HalfSpace((1.0,), float(c)), 0.0
        yes = learner.chance(state, [0.0], question)
        for answer, chance in ((True, yes), (False, 1 - yes)):
            out += chance * learner.std(learner.tell(state, [0.0], question, answer), [[0.0]]).item() ** 2
        return out

    elsewhere = [left(c) for c in np.linspace(-1, 1, 81)]
    assert left(asked) <= min(elsewhere) + 1e-6
    assert (asked == 0.0) == (guess == lapse)
    assert most_telling(ErrorRates(guess, lapse)) == -most_telling(ErrorRates(lapse, guess))


def listener(model, guess, lapse, rng, n, noise=5.0):
    X = rng.uniform(0, 1, (n, 1))
    model.start(X)
    for x in X:
        question = model.ask(x)
        honest = 30 + 40 * x[0] + noise * rng.normal() > question.shown
        u = rng.uniform()
        model.tell(question, u < guess or (u < 1 - lapse and bool(honest)))
    return model


@pytest.mark.parametrize(("guess", "lapse"), [(0.5, 0.02), (0.02, 0.5)])
def test_what_is_known_is_made_use_of(guess, lapse):
    """Two alternatives of which one is guessed: without the rates, the filters follow the guesses out of the range."""
    new = np.linspace(0.05, 0.95, 19)[:, None]
    errors = []
    for rates in ({"guess": guess, "lapse": lapse}, {}):
        each = []
        for seed in range(4):
            model = askone.OneBitRegressor(0, 100, learner=Filters(model="linear", **rates), random_state=seed)
            listener(model, guess, lapse, np.random.default_rng(seed), 200)
            each.append(np.abs(model.predict(new) - 30 - 40 * new[:, 0]).mean())
        errors.append(np.mean(each))
    assert errors[0] < 3.5
    assert errors[0] < 0.5 * errors[1]


def test_a_log_a_file_and_an_oracle_say_the_same():
    rates = Filters(guess=0.3, lapse=0.1)
    model = askone.OneBitRegressor(0, 100, learner=rates, random_state=0)
    listener(model, 0.3, 0.1, np.random.default_rng(0), 40)
    new = np.linspace(0, 1, 7)[:, None]
    again = model.refit(askone.OneBitRegressor(0, 100, learner=rates, random_state=0))
    assert np.array_equal(again.predict(new), model.predict(new))
    loaded = reloaded(model)
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert str(loaded.ask([0.3])) == str(model.ask([0.3]))
    X = np.random.default_rng(1).uniform(size=(60, 1))
    fitted = [
        askone.OneBitRegressor(0, 100, learner=rates, interval=0.8, keep_log=kept, random_state=0)
        for kept in (True, False)
    ]
    for one in fitted:
        one.fit(X, 50 + 20 * X[:, 0])
    assert np.array_equal(*[one.predict(new) for one in fitted])


@pytest.mark.parametrize(
    ("ends", "rates", "told"),
    [
        ((0, 1), {"guess": -0.1}, "guess must be a number at least 0; got -0.1"),
        ((0, 1), {"guess": 1.0}, "guess must be below 1"),
        ((0, 1), {"guess": 0.4, "lapse": 0.6}, "lapse must be below 1, the two together; got 1.0"),
        ((0, 1), {"lapse": "often"}, "lapse"),
        ((None, None), {"guess": 0.5}, "low must be given: with guess or lapse"),
    ],
)
def test_what_is_refused(ends, rates, told):
    model = askone.OneBitRegressor(*ends, learner=Filters(**rates))
    with pytest.raises((InvalidArgument, TypeError), match=told):
        model.start([[0.0], [0.5], [1.0]])


def test_a_grid_search_reaches_them():
    model = askone.OneBitRegressor(0, 1, random_state=0)
    found = clone(model).set_params(learner__guess=0.2, learner__lapse=0.1)
    assert model.learner == "auto"
    assert found.learner == Filters(guess=0.2, lapse=0.1)
    assert clone(found).get_params()["learner__guess"] == 0.2
    X = np.random.default_rng(0).uniform(size=(30, 1))
    search = GridSearchCV(model, {"learner__guess": [0.0, 0.2]}, cv=2).fit(X, X[:, 0])
    assert search.best_params_["learner__guess"] == search.best_estimator_.stream_.learner.base.guess


def test_a_campaign_is_told_too():
    learner = LearnerSettings(guess=0.5, lapse=0.02)
    told = Settings("Tones", Numbers(0, 100), learner=learner)
    assert Settings.from_toml(told.to_toml()) == told
    made = make_estimator(told, np.linspace(0, 1, 5)[:, None])
    assert made.learner == Filters(guess=0.5, lapse=0.02)
    assert made.ask([0.5]).shown < 50
    rivals = told.labels.rivals(told, 2, mixed=True)
    assert {(one.guess, one.lapse) for one in rivals.values()} == {(0.5, 0.02)}
    with pytest.raises(InvalidArgument, match="labels.low"):
        Settings("Tones", Numbers(), learner=learner)
    with pytest.raises(InvalidArgument, match="learner.guess"):
        Settings("Cats", ClassNames(("cat", "owl")), learner=learner)
    for other in ({"learner": "sgd"}, {"loss": "huber"}):
        with pytest.raises(InvalidArgument, match="learner.guess must be left alone, but for learner 'filters'"):
            Settings("Tones", Numbers(0, 100), learner=LearnerSettings(guess=0.5, **other))


def found(seed, guess, lapse, noise, answers=60):
    """Whether intervals of nine in ten hold thresholds at two levels and the noise, after some answers about a line."""
    rng = np.random.default_rng(seed)
    X, (a, b) = rng.uniform(0, 1, (answers, 1)), (rng.uniform(30, 60), rng.uniform(-20, 20))
    choice = Filters(guess=guess, lapse=lapse, model="linear", forgets=False)
    model = askone.OneBitRegressor(0, 100, learner=choice, random_state=seed, keep_log=False)
    model.start(X)
    for x in X:
        question, u = model.ask(x), rng.uniform()
        honest = a + b * x[0] + noise * rng.normal() > question.shown
        model.tell(question, u < guess or (u < 1 - lapse and bool(honest)))
    held = []
    for share in (0.5, 0.75):
        _, low, high = model.threshold([[0.5]], guess + (1 - guess - lapse) * share, interval=0.9)
        held.append(low[0] <= a + b / 2 - noise * ndtri(share) <= high[0])
    _, low, high = model.noise(interval=0.9)
    return [*held, low <= noise <= high]


@pytest.mark.parametrize(("guess", "lapse"), [(0.0, 0.0), (0.02, 0.5)])
def test_intervals_of_thresholds_and_of_noise_hold_them(guess, lapse):
    """Each in nine of ten of 60 runs, or as few as happen to once in ten thousand times if so many do."""
    runs = 60
    held = np.array([found(seed, guess, lapse, (3.0, 6.0, 12.0)[seed % 3]) for seed in range(runs)])
    assert (held.sum(axis=0) >= binom.ppf(1e-4, runs, 0.9)).all(), held.mean(axis=0)


def test_thresholds_are_those_of_the_filter():
    """With one filter, t = mu - s Phi^-1((level - guess) / (1 - guess - lapse)), and the noise is its own."""
    learner = one_filter(0.2, 0.1)
    state = learner.tell(learner.init(), [0.0], HalfSpace((1.0,), 0.1), True)
    at, spread = learner.predict(state, [[0.0]]).item(), learner.std(state, [[0.0]]).item()
    middle, low, high = learner.thresholds(state, [[0.0]], 0.2 + 0.7 * 0.8, 0.9)[:, 0, 0]
    assert middle == pytest.approx(at - 0.3 * ndtri(0.8), abs=1e-9)
    assert (high - low) / 2 == pytest.approx(-ndtri(0.05) * np.sqrt(1.4) * spread, abs=1e-8)
    halfway = learner.thresholds(state, [[0.0]], None, 0.9)[0, 0, 0]
    assert halfway == learner.thresholds(state, [[0.0]], 0.55, 0.9)[0, 0, 0] == pytest.approx(at, abs=1e-9)
    assert learner.noise(state, 0.9)[0, 0] == pytest.approx(0.3, rel=1e-6)
    for level in (0.15, 0.95, 1.0):
        with pytest.raises(InvalidArgument, match="level"):
            learner.thresholds(state, [[0.0]], level, 0.9)


def test_thresholds_of_a_model():
    model = listener(askone.OneBitRegressor(0, 100, random_state=0), 0.0, 0.0, np.random.default_rng(0), 60)
    new = np.linspace(0, 1, 5)[:, None]
    assert np.allclose(model.threshold(new), model.predict(new), atol=5)
    assert (model.threshold(new, 0.75) < model.threshold(new)).all()
    assert model.noise() > 0
    with pytest.raises(InvalidArgument, match="interval"):
        model.threshold(new, interval=1.0)
    several = askone.OneBitRegressor(0, 1, interval=0.8).start(np.eye(3))
    with pytest.raises(InvalidArgument, match="filters alone"):
        several.threshold(np.eye(3))
