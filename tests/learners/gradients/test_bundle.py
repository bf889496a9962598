"""Prices: answers in words, bundles that somebody chose, and the ellipsoid."""

import itertools
import json
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pytest

from askone import SGD, Ellipsoid, Filters
from askone._common import random_table
from askone.checks import check_gradient_unbiased, check_learner, check_loss_gradient
from askone.errors import IncompatibleParts, InvalidAnswer, InvalidArgument
from askone.estimators import OneBitRegressor
from askone.features.maps import FeatureMap, Linear
from askone.features.scaling import Scaler
from askone.labels.losses import LOSSES, Bundled, Huber, Median, Squared
from askone.labels.number import Real
from askone.labels.wording import Wording
from askone.learners.abilities import ask_many
from askone.learners.gradients import BundleSign, BundleThreshold, MedianSphere, SquaredThreshold, draws_of, pair
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.generic import GenericSGD
from askone.learners.range_search import Calibrated
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import AVERAGES, InverseSqrt
from askone.questions.half_space import HalfSpace, bundle_question, in_unit_labels
from askone.questions.registry import question_from_json
from askone.questions.reveal import Reveal
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from askone.session.stream import Stream
from samples import models, reloaded, small_labels, small_rows

MODELS = models()
BOUGHT = ("bought", "did not buy")
FRUIT = Real(
    0, [10, 40], ("apples", "pears"), "€", 1, "Would you pay more than {threshold} for {amount}?",
    bundles=((1, 0), (2, 1), (0.5, 3)),
)  # fmt: skip


# -- answers in words -----------------------------------------------------------------------------


@pytest.mark.seeded
def test_one_product_priced():
    space = Real(0, 100, unit="€", wording="Would you buy it for {threshold}?", answers=BOUGHT)
    stream = Stream(SGDLearner(space, MODELS["linear"]))
    question = stream.ask([0.0, 0.0])
    assert str(question) == "Would you buy it for 50 €?"
    assert question.answers == BOUGHT
    assert question.accept("bought") is True
    assert question.accept("did not buy") is False
    assert question.accept(True) is True
    log = []
    stream = Stream(SGDLearner(space, MODELS["linear"]), log=log.append)
    stream.tell(stream.ask([0.0, 0.0]), "bought")
    assert log[-1].answer is True
    assert stream.predict([[0.0, 0.0]])[0, 0] > 50


@pytest.mark.parametrize("answer", ["yes", "Bought", "", None, 1])
def test_other_words_are_refused(answer):
    question = HalfSpace((1.0,), 37.0, wording=Wording(answers=BOUGHT))
    with pytest.raises(InvalidAnswer, match="True or False"):
        question.accept(answer)
    with pytest.raises(InvalidAnswer, match="'bought', 'did not buy', True or False; got 'maybe'"):
        question.accept("maybe")


@pytest.mark.parametrize(
    "answers", [("a", "a"), ("", "no"), (" ", "no"), ("a", " a "), ("yes",), ("a", "b", "c"), "no", None, (1, 2)]
)
def test_bad_words(answers):
    for make in (lambda: Real(0, 1, answers=answers), lambda: Wording(answers=answers)):
        with pytest.raises(InvalidArgument, match="answers must be two different words"):
            make()
    with pytest.raises(InvalidArgument, match="answers must be two different words"):
        OneBitRegressor(0, 1, wording=Wording(answers=answers)).start(small_rows())


def test_words_of_ones_own_never_mean_the_opposite():
    """ "bought" says above: a question with such words is not turned into "below"."""
    for template in ("", "Would you buy it for {threshold}?"):
        words = Wording(("price",), "", template, BOUGHT)
        assert words.sentence((-1.0,), -3.0) == "Is minus the price above -3?"
    assert Wording(("a", "b"), answers=BOUGHT).sentence((-0.6, -0.8), -3.0) == "Is -0.6 a - 0.8 b above -3?"
    assert Wording(template="{side} {threshold}", answers=BOUGHT).sentence((-1.0,), -3.0) == "above -3"


def test_a_mean_price_is_asked_from_above_only():
    """With one output the squared loss, too, asks "above", so that "bought" is always yes."""
    learner = SGDLearner(Real(0, 100, answers=BOUGHT), MODELS["linear"], SquaredThreshold())
    questions = ask_many(learner, learner.init(), small_rows(), random_table.uniforms(0, 0, 40, learner.width))
    assert {q.direction for q in questions} == {(1.0,)}
    assert 10 < sum(q.turned for q in questions) < 30
    for question in questions:  # a turned question lies above the prediction, the others below it
        assert (question.threshold > 50) == question.turned


# -- bundles: what is shown -----------------------------------------------------------------------


def test_a_bundle_reads_as_it_was_given():
    question = bundle_question(FRUIT, 1, 0.3)
    assert question.quantities == (2.0, 1.0)
    assert np.allclose(question.direction, np.array([2, 1]) / np.sqrt(5))
    assert str(question) == f"Would you pay more than {question.shown} € for 2 apples + 1 pears?"
    assert question.shown == round(question.shown, 1)
    assert str(bundle_question(FRUIT, 0, 0.0)) == "Would you pay more than 5 € for 1 apples?"
    assert str(bundle_question(FRUIT, 2, 0.0)) == "Would you pay more than 62.5 € for 0.5 apples + 3 pears?"
    assert str(bundle_question(Real(0, 10, bundles=((3,),)), 0, 0.4)) == "Is 3 times the value above 21?"


@pytest.mark.parametrize("k", range(3))
def test_a_bundle_means_the_same_in_both_units(k):
    for c in np.linspace(-1.5, 1.5, 61):
        question = bundle_question(replace(FRUIT, decimals=None), k, c)
        u, back = in_unit_labels(FRUIT, question)
        vector = np.array(FRUIT.unit_bundles[k])
        assert np.allclose(u, vector / np.linalg.norm(vector), atol=1e-12)
        assert back == pytest.approx(c, abs=1e-12)
        shown = bundle_question(FRUIT, k, c)
        assert float(f"{shown.shown:.1f}") == shown.shown  # to the last digit, after the way through the length
        assert abs(shown.shown - question.shown) <= 0.05 + 1e-12


def test_a_tie_is_a_no_however_the_length_rounds():
    """Whole prices on a whole grid: 2 x 11 + 15 is not above 37, live and in the compiled loop."""
    for bundle in ((2, 1), (3, 7), (1, 1), (0.1, 0.3), (5, 13)):
        space = Real([-100, -100], 100, decimals=0, bundles=(bundle, (1, 0)))
        vector = np.array(space.unit_bundles[0])
        for y in ([11.0, 15.0], [7.0, 31.0], [10.0, 20.0]):
            at = float(np.dot(bundle, y)) / np.linalg.norm(vector)
            question = bundle_question(space, 0, at)
            if question.shown == np.dot(bundle, y):
                assert not question.holds(y)
                assert question.holds([y[0] + 1e-9, y[1]])


def test_records_with_and_without_the_new_fields():
    question = replace(bundle_question(FRUIT, 1, 0.3, 0.25, 7, True), number=3)
    back = question_from_json(json.dumps(question.to_json(), allow_nan=False))
    assert back == question
    assert str(back) == str(question)
    assert back.shown == question.shown
    worded = HalfSpace((1.0,), 37.0, wording=Wording(answers=BOUGHT))
    assert question_from_json(worded.to_json()).answers == BOUGHT
    old = {
        "format": 1, "kind": "half-space", "direction": [0.6, 0.8], "threshold": 37.0, "density": 1.0, "number": None,
        "names": ["apples", "pears"], "unit": "€", "wording": "", "purpose": "", "learnt": None,
    }  # fmt: skip
    read = question_from_json(old)
    assert read == HalfSpace((0.6, 0.8), 37.0, wording=Wording(("apples", "pears"), "€"))
    assert (read.answers, read.quantities, read.turned) == (("yes", "no"), (), False)
    assert str(read) == "Is 0.6 apples + 0.8 pears above 37 €?"


@pytest.mark.parametrize(
    ("field", "value"),
    [("quantities", (1.0, 1.0)), ("quantities", (1.0,)), ("quantities", (-3.0, -4.0)), ("quantities", (0.0, 0.0)),
     ("quantities", (np.nan, 1.0)), ("turned", 1), ("turned", "no")],
)  # fmt: skip
def test_bad_fields(field, value):
    with pytest.raises(InvalidArgument, match=f"{field} must be"):
        HalfSpace((0.6, 0.8), 37.0, **{field: value})


@pytest.mark.parametrize(
    ("bundles", "reason"),
    [
        (((1, 0),), "nothing of pears"),
        (((1, 1), (2, 2)), "nothing of 1 apples - 1 pears"),
        (((2, 1),), "nothing of 1 apples - 2 pears"),
        (((1, 0, 0), (0, 1, 0)), "2 quantities"),
        (((0, 0), (1, 0)), "not all 0"),
        (((1, -1), (1, 0)), "at least 0"),
        (((1, np.inf), (1, 0)), "at least 0"),
        (((1, 0), (1, 0), (0, 1)), "different"),
        ((1, 2), "2 quantities"),
        ("ab", "a list of bundles"),
        (5, "a list of bundles"),
        (((1, "b"), (0, 1)), "at least 0"),
        (((1e308, 1), (0, 1)), "fit the range"),
    ],
)
def test_bad_bundles(bundles, reason):
    with pytest.raises(InvalidArgument, match=reason) as caught:
        Real([0, 0], 40, ("apples", "pears"), bundles=bundles)
    assert caught.value.argument == "bundles"


def test_three_outputs_need_three_bundles():
    with pytest.raises(InvalidArgument, match="nothing of"):
        Real([0] * 3, 1, bundles=((1, 1, 0), (0, 1, 1)))
    assert Real([0] * 3, 1, bundles=((1, 1, 0), (0, 1, 1), (1, 0, 1))).m == 3


# -- bundles: what is learnt ----------------------------------------------------------------------

SETS = [
    ((1.0, 0.0), (2.0, 1.0), (0.0, 1.0)),
    ((3.0, 1.0), (1.0, 5.0)),
    ((0.2, 0.2), (0.0, 7.0), (1.0, 0.0), (2.0, 3.0)),
]


@pytest.mark.parametrize("bundles", SETS)
def test_exactly_unbiased_for_the_declared_loss(bundles):
    for gradient in (
        BundleSign(bundles=bundles),
        BundleThreshold(bundles=bundles),
        BundleThreshold(bundles=bundles, limit=2.0),
        BundleThreshold(bundles=bundles, spread=0.3),
    ):
        check_gradient_unbiased(gradient, 2)
        declared = gradient.declared(2)
        check_loss_gradient(declared, 2)
        assert np.linalg.norm(declared.bundles, axis=1).max() == pytest.approx(1.0)


@pytest.mark.parametrize("bundles", SETS)
def test_the_mean_by_hand(bundles):
    """E[G] summed over bundles and sides, int dv 1{v < |r|} in closed form: no part of the checks is used."""
    vectors = np.array(bundles) / np.linalg.norm(bundles, axis=1).max()
    z, y = np.array([0.3, -0.2]), np.array([-0.5, 0.4])
    r = vectors @ (z - y)
    squared = BundleThreshold(bundles=bundles, limit=2.0)
    # V is uniform: the mean over a midpoint grid of v is exact up to one cell per jump.
    v = (np.arange(20_000) + 0.5) / 20_000
    total = np.zeros(2)
    for lead in squared.atoms(2):
        total += draws_of(squared, z, y, np.column_stack([np.tile(lead, (len(v), 1)), v])).mean(axis=0)
    assert np.allclose(total / len(squared.atoms(2)), r @ vectors / len(vectors), atol=1e-3)
    sign = BundleSign(bundles=bundles)
    mean = draws_of(sign, z, y, sign.atoms(2)).mean(axis=0)
    assert np.allclose(mean, np.sign(r) @ vectors / len(vectors), atol=1e-12)


def test_a_biased_bundle_gradient_is_found():
    with pytest.raises(AssertionError, match="but the gradient is"):
        check_gradient_unbiased(BundleThreshold(bundles=SETS[0], limit=0.1), 2)


@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("loss", ["median", "squared"])
@pytest.mark.parametrize("model", ["linear", "nystroem", "kernel"])
def test_the_contract(loss, decimals, model):
    space = replace(FRUIT, decimals=decimals)
    learner = SGDLearner(space, MODELS[model], pair(LOSSES[loss](), "bundles", 2, bundles=space.unit_bundles))
    check_learner(learner, small_rows(), 5 + 3 * small_labels(2))


def test_only_bundles_are_asked_live_and_simulated():
    X, y = small_rows(200), np.round(5 + 3 * small_labels(2, 200))
    learner = SGDLearner(FRUIT, MODELS["linear"], BundleThreshold(bundles=FRUIT.unit_bundles))
    units = [np.array(b) / np.linalg.norm(b) for b in FRUIT.bundles]
    run = simulate(learner, X, Oracle(y), at=[], keep=True)
    for block in run.blocks:
        for direction, threshold in zip(block.directions, block.thresholds, strict=True):
            (k,) = [k for k, u in enumerate(units) if np.allclose(direction, u, atol=1e-12)]
            shown = threshold * np.linalg.norm(FRUIT.bundles[k])
            assert shown == pytest.approx(round(shown, 1), abs=1e-9)
    state, oracle = learner.init(), Oracle(y)
    for i, x in enumerate(X):
        question = learner.ask(state, x, random_table.uniforms(0, i, 1, learner.width)[0])
        assert question.quantities in FRUIT.bundles
        assert question.shown == round(question.shown, 1)
        state = learner.tell(state, x, question, oracle.respond(i, question))
    assert np.allclose(learner.predict(state, X), learner.predict(run.state, X), atol=1e-9)


def test_the_minimisers_are_the_mean_and_the_bundles_medians():
    rng = np.random.default_rng(3)
    y = np.column_stack([rng.exponential(2.0, 60_000), 15 + 5 * rng.normal(size=60_000)])
    X, model = np.zeros((len(y), 1)), FeatureModel(Linear(Scaler.identity(1)))
    space = Real([0, 0], 30, bundles=((1, 0), (2, 1), (0, 1)))
    found = {}
    for loss in (Squared(), Median()):
        gradient = pair(loss, "bundles", 2, bundles=space.unit_bundles)
        learner = SGDLearner(space, model, gradient, InverseSqrt(3.0), AVERAGES["tail"]())
        found[loss.name] = learner.predict(simulate(learner, X, Oracle(y), at=[]).state, X[:1])[0]
    assert np.abs(found["squared"] - y.mean(axis=0)).max() < 0.4
    risk, units = Bundled(space.unit_bundles, 1), space.to_unit(y)

    def excess(point):
        near = [point, *(point + step for step in ([0.5, 0], [-0.5, 0], [0, 0.5], [0, -0.5]))]
        values = [risk.value(np.tile(space.to_unit(p), (len(y), 1)), units).mean() for p in near]
        return values[0] - min(values)

    assert excess(found["median"]) < 0.25 * excess(y.mean(axis=0))


@pytest.mark.seeded
def test_the_estimator_asks_about_bundles():
    X = small_rows(3000)
    y = np.column_stack([5 + X[:, 0], 20 + 4 * X[:, 1]])
    model = OneBitRegressor(
        0, [10, 40], wording=Wording(("apples", "pears"), answers=["pays", "does not"]),
        bundles=[(1, 0), (2, 1), (0, 1)], learner=Filters(model="linear"), random_state=0,
    )  # fmt: skip
    question = model.start(X).ask(X[0])
    assert question.quantities in ((1.0, 0.0), (2.0, 1.0), (0.0, 1.0))
    model.tell(question, "pays")
    loaded = reloaded(model)
    assert loaded.ask(X[1]) == model.ask(X[1])
    assert loaded.wording.answers == ("pays", "does not")
    fitted = OneBitRegressor(**model.get_params(deep=False)).fit(X, y)
    assert np.abs(fitted.predict(X) - y).mean(axis=0)[0] < 0.5
    live = OneBitRegressor(0, 40, bundles=np.array([[1, 0], [1, 1]]), random_state=0)
    assert live.predict([[0.0]]).shape == (1, 2)


def test_what_does_not_go_with_bundles():
    X, y = small_rows(), small_labels(2)
    bundles = {"low": [-2, -2], "high": 2, "bundles": [(1, 0), (1, 1)]}
    with pytest.raises(IncompatibleParts, match=r"loss must be one of: 'median', 'squared' \('bundles' questions"):
        OneBitRegressor(**bundles, learner=SGD(loss=Huber(0.5))).fit(X, y)
    with pytest.raises(IncompatibleParts, match=r"questions must be one of: 'active', 'full' \(bundles\)"):
        OneBitRegressor(**bundles, learner=SGD(questions="passive")).fit(X, y)
    for learner in ("generic", "ellipsoid", "rls"):
        with pytest.raises(IncompatibleParts, match="bundles"):
            OneBitRegressor(**bundles, learner=learner).fit(X, y)
    with pytest.raises(InvalidArgument, match="low must be given: a range cannot be sought through bundles"):
        OneBitRegressor(bundles=[(1, 0), (1, 1)]).fit(X, y)
    with pytest.raises(InvalidArgument, match="bundles must be bundles of 1 quantities"):
        OneBitRegressor(-2, 2, bundles=[(1, 0), (1, 1)]).fit(X, y[:, 0])
    with pytest.raises(InvalidArgument, match="bundles must be a list of bundles"):
        OneBitRegressor(-2, 2, bundles=5).start(X)
    assert OneBitRegressor(**bundles, learner=SGD(questions="full")).fit(X, y).predict(X).shape == (40, 2)
    assert OneBitRegressor(**bundles, learner=SGD(loss="squared", limit=4)).fit(X, y).predict(X).shape == (40, 2)
    with pytest.raises(IncompatibleParts, match="BundleSign"):
        SGDLearner(FRUIT, MODELS["linear"], MedianSphere())
    with pytest.raises(IncompatibleParts, match="space.unit_bundles"):
        SGDLearner(FRUIT, MODELS["linear"], BundleSign(bundles=FRUIT.bundles))
    with pytest.raises(IncompatibleParts, match="bundles must be left out where the range is sought"):
        Calibrated(SGDLearner(FRUIT, MODELS["linear"], BundleSign(bundles=FRUIT.unit_bundles)))
    with pytest.raises(IncompatibleParts, match="bundles must be left out"):
        GenericSGD(FRUIT, MODELS["linear"])
    with pytest.raises(IncompatibleParts, match="'median', 'squared'"):
        pair(Huber(), "bundles", 1)


def test_a_refused_call_leaves_the_estimator_alone():
    X = small_rows()
    model = OneBitRegressor(-2, 2, wording=Wording(answers=BOUGHT), random_state=0).start(X)
    question = model.ask(X[0])
    before = model.predict(X)
    for answer in ("yes", "", None):
        with pytest.raises(InvalidAnswer):
            model.tell(question, answer)
    assert np.array_equal(model.predict(X), before)
    assert model.tell(question, "bought").stream_.answered == 1


# -- the ellipsoid --------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Plain(FeatureMap):
    """The row itself."""

    width: int

    @property
    def columns(self):
        return self.width

    @property
    def size(self):
        return self.width

    def __call__(self, X):
        return np.ascontiguousarray(X)


def position(state, theta):
    """Where theta lies: at most 1 inside the ellipsoid."""
    return float(np.linalg.norm(np.linalg.solve(state.factor, theta - state.center)))


def volume(state):
    return np.linalg.slogdet(state.factor)[1]


def campaign(d, questions, seed=0, **options):
    """Noiseless answers about random rows: the learner, the truth, and a state after each answer."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=d)
    theta *= 0.8 / np.linalg.norm(theta)
    learner = EllipsoidLearner(Real(0, 100, decimals=options.pop("decimals", None)), Plain(d), radius=1.0, **options)
    X = rng.normal(size=(questions, d)) / np.sqrt(d)
    y = learner.space.from_unit((X @ theta)[:, None])[:, 0]
    states, asked = [learner.init()], []
    for x, value in zip(X, y, strict=True):
        asked.append(learner.ask(states[-1], x, np.empty(0)))
        states.append(learner.tell(states[-1], x, asked[-1], asked[-1].holds(value)))
    return learner, theta, X, y, states, asked


@pytest.mark.parametrize("decimals", [None, 1, -1])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_truth_never_leaves_the_ellipsoid(d, decimals):
    for seed in range(3):
        learner, theta, X, y, states, _ = campaign(d, 20 * d * d + 40, seed, decimals=decimals)
        for before, after in itertools.pairwise(states):
            assert position(after, theta) <= 1 + 1e-6
            assert volume(after) <= volume(before) + 1e-12
            assert np.linalg.eigvalsh(after.matrix)[0] > 0
            assert np.array_equal(after.matrix, after.matrix.T)
        assert states[-1].contradictions == 0
        low, high = learner.interval(states[-1], X)
        assert (low <= y + 1e-6).all()
        assert (y <= high + 1e-6).all()
        assert np.allclose(learner.predict(states[-1], X)[:, 0], (low + high) / 2)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_prices_are_found_in_d_squared_log_questions(d):
    """10 d^2 + 10 questions for a hundredth of the range, and as many again for a ten-thousandth."""
    n = 10 * d * d + 10
    learner, _, X, y, states, _ = campaign(d, 2 * n + 200)
    errors = [np.abs(learner.predict(states[k], X[-200:])[:, 0] - y[-200:]).max() for k in (n, 2 * n)]
    assert errors[0] < 1.0
    assert errors[1] < 0.05


@pytest.mark.parametrize("alpha", [-0.3, 0.0, 0.4, 0.9])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_cut_is_the_textbooks(d, alpha):
    rng = np.random.default_rng(d)
    learner = EllipsoidLearner(Real(-1, 1), Plain(d))
    state = replace(learner.init(), center=rng.normal(size=d), factor=rng.normal(size=(d, d)))
    x, A = rng.normal(size=d), state.matrix
    half = np.sqrt(x @ A @ x)
    question = HalfSpace((1.0,), float(state.center @ x - alpha * half))  # answered no: <theta, x> below it
    after = learner.tell(state, x, question, False)
    if alpha <= -1 / d:
        assert np.array_equal(after.factor, state.factor)
        return
    b = A @ x / half
    expected = (
        d * d * (1 - alpha**2) / (d * d - 1) * (A - 2 * (1 + d * alpha) / ((d + 1) * (1 + alpha)) * np.outer(b, b))
    )
    assert np.allclose(after.center, state.center - (1 + d * alpha) / (d + 1) * b)
    assert np.allclose(after.matrix, expected)
    # No point of the half that is left is lost.
    points = rng.normal(size=(2000, d))
    points = state.center + (points / np.linalg.norm(points, axis=1, keepdims=True)) @ state.factor.T
    kept = points[points @ x <= question.threshold]
    assert max(position(after, theta) for theta in kept) <= 1 + 1e-9


def test_one_feature_is_bisection():
    states = campaign(1, 12)[4]
    lengths = [state.factor[0, 0] for state in states]
    assert np.allclose(np.array(lengths[1:]) / lengths[:-1], 0.5)


def test_late_answers_in_any_order_stay_valid():
    learner, theta, X, y, _, asked = campaign(3, 60)
    late = ask_many(learner, learner.init(), X, np.empty((60, 0)))
    for order in (range(60), reversed(range(60))):
        state = learner.init()
        for i in order:
            for question in (late[i], asked[i]):
                state = learner.tell(state, X[i], question, question.holds(y[i]))
            assert position(state, theta) <= 1 + 1e-9
        assert state.contradictions == 0
        assert state.count == 120
        assert volume(state) < volume(learner.init())
    below = HalfSpace((-1.0,), -asked[0].threshold)
    mirrored = [
        learner.tell(learner.init(), X[0], asked[0], True),
        learner.tell(learner.init(), X[0], below, False),
    ]
    assert np.allclose(mirrored[0].matrix, mirrored[1].matrix)
    assert np.allclose(mirrored[0].center, mirrored[1].center)


def test_contradictions_are_counted_and_change_nothing_else():
    learner, _, X, y, states, _ = campaign(2, 60)
    state = states[-1]
    low, high = learner.interval(state, X[:1])
    for threshold, answer in ((low[0] - 5, False), (high[0] + 5, True)):
        after = learner.tell(state, X[0], HalfSpace((1.0,), float(threshold)), answer)
        assert (after.contradictions, after.count) == (1, 61)
        assert np.array_equal(after.factor, state.factor)
        assert np.array_equal(after.center, state.center)
        agreeing = learner.tell(state, X[0], HalfSpace((1.0,), float(threshold)), not answer)
        assert agreeing.contradictions == 0
        assert np.array_equal(agreeing.factor, state.factor)
    learner, rng = replace(learner, space=Real(0, 100, decimals=0)), np.random.default_rng(0)
    noisy = learner.init()
    for i in range(400):
        x, value = X[i % 60], y[i % 60] + 10 * rng.normal()
        question = learner.ask(noisy, x, np.empty(0))
        noisy = learner.tell(noisy, x, question, question.holds(value))
    assert noisy.contradictions > 5
    assert np.isfinite(noisy.factor).all()


@pytest.mark.parametrize("decimals", [None, 0, 1])
def test_a_safe_price_sells(decimals):
    learner, _, X, y, states, asked = campaign(2, 200, decimals=decimals, margin=8.0)
    safe = 0
    for x, value, state, question in zip(X, y, states[:-1], asked, strict=True):
        low, high = learner.interval(state, [x])
        if high[0] - low[0] < 8.0:
            safe += 1
            assert question.threshold <= low[0] + 1e-9
            assert question.threshold > low[0] - (0 if decimals is None else 10.0**-decimals) - 1e-6
            assert question.holds(value)
            assert learner.tell(state, x, question, False).contradictions == 1
        else:
            assert question.threshold == pytest.approx((low[0] + high[0]) / 2, abs=0.5 + 1e-9)
    assert safe > 100


def test_the_ellipsoids_contract():
    for decimals in (None, 1):
        space = Real(-2, 2, decimals=decimals)
        check_learner(EllipsoidLearner(space, MODELS["linear"].features), small_rows(), small_labels(1))
        check_learner(EllipsoidLearner(space, MODELS["linear"].features, 3.0, 0.5), small_rows(), small_labels(1))
    check_learner(EllipsoidLearner(Real(-2, 2), MODELS["nystroem"].features), small_rows(), small_labels(1))


def test_bad_ellipsoids_and_bad_calls():
    features = MODELS["linear"].features
    for radius in (0, -1, np.nan, np.inf, "1", True):
        with pytest.raises(InvalidArgument, match="radius must be"):
            EllipsoidLearner(Real(0, 1), features, radius=radius)
        with pytest.raises(InvalidArgument, match="margin must be"):
            EllipsoidLearner(Real(0, 1), features, margin=radius)
    for space in (Real([0, 0], 1), Real(0, 1, bundles=((2,),))):
        with pytest.raises(IncompatibleParts, match="one output"):
            EllipsoidLearner(space, features)
    with pytest.raises(InvalidArgument, match="features must be a FeatureMap"):
        EllipsoidLearner(Real(0, 1), MODELS["linear"])
    learner = EllipsoidLearner(Real(0, 1), features)
    state = learner.init()
    for question, answer in ((Reveal(1), (1.0,)), (HalfSpace((0.6, 0.8), 0.0), True), (HalfSpace((1.0,), 0.0), "yes")):
        with pytest.raises(InvalidArgument):
            learner.tell(state, [0.0, 0.0], question, answer)
    for rows in ([[np.nan, 0.0]], [[0.0]], [0.0, 0.0]):
        with pytest.raises(InvalidArgument):
            learner.interval(state, rows)


def test_the_estimator_prices_by_ellipsoid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * [1, 10, 0.1]
    y = 40 + X @ [5.0, -0.8, 30.0]
    model = OneBitRegressor(0, 80, learner="ellipsoid", random_state=0).fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 0.5
    low, high = model.stream_.learner.interval(model.stream_.state, X)
    assert ((low <= y) & (y <= high)).all()
    loaded = reloaded(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.stream_.state.count == 300
    named = OneBitRegressor(0, 80, learner=Ellipsoid(model="linear"), wording=Wording(answers=BOUGHT)).start(X)
    assert named.tell(named.ask(X[0]), "bought").stream_.answered == 1


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"low": None, "high": None}, "low"), ({"low": [0, 0]}, "space"),
     ({"learner": Ellipsoid(model="kernel")}, "model"), ({"learner": Ellipsoid(model="forest")}, "model")],
)  # fmt: skip
def test_what_does_not_go_with_an_ellipsoid(options, argument):
    model = OneBitRegressor(**{"low": 0, "high": 80, "learner": "ellipsoid", **options})
    with pytest.raises(InvalidArgument) as caught:
        model.start(small_rows())
    assert caught.value.argument == argument
    assert model._stream() is None
