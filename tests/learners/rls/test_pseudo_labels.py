"""Pseudo-labels are unbiased, exactly; recursive least squares is ridge regression, exactly."""

import itertools
import math

import numpy as np
import pytest

import askone
from askone import SGD, RecursiveLeastSquares
from askone._common import random_table
from askone.checks import check_gradient_unbiased, check_learner
from askone.errors import IncompatibleParts, InvalidAnswer, InvalidArgument
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.classes import Classes, Finite
from askone.labels.losses import Logistic, Median, Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.gradients import HalfCauchy
from askone.learners.gradients.ranking import rank_strategy
from askone.learners.gradients.subset import set_strategy
from askone.learners.rls import _compiled
from askone.learners.rls.pseudo_labels import PseudoLabels, PseudoMeans, RecursiveState
from askone.questions.half_space import HalfSpace, half_space
from askone.questions.subset import Subset
from askone.session.log import Answered, Asked
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.simulation import simulate
from samples import same, small_labels, small_rows

FEATURES = Linear(Scaler.from_rows(small_rows()))
NAMES = ("a", "b", "c", "d")
ATTRIBUTES = {"first": ["a", "b"], "odd": ["a", "c"], "last": ["d"]}
SPACES = {
    "all": Classes(NAMES),
    "pairs at most": Classes(NAMES, max_set_size=2),
    "spanning": Classes(NAMES, attributes=ATTRIBUTES),
    "not spanning": Classes(NAMES, attributes={"first": ["a", "b"], "odd": ["a", "c"]}),
    "costs": Finite(NAMES, loss=np.abs(np.subtract.outer(np.arange(4), np.arange(4)))),
}
SETS = [("all", "singletons"), ("costs", "singletons"), *((name, "designed") for name in SPACES), ("all", "full")]
ITEMS = Ranking(("tea", "coffee", "milk"))


def classes(name, family):
    return PseudoLabels(set_strategy(SPACES[name], Squared(), family), FEATURES)


def orders(family):
    return PseudoLabels(rank_strategy(ITEMS, Squared(), family), FEATURES)


def every_order():
    return [list(order) for order in itertools.permutations(ITEMS.items)]


def sample(learner, n=40):
    """Labels for the rows of ``small_rows``, in the learner's space."""
    rng = np.random.default_rng(3)
    if isinstance(learner.space, Real):
        return small_labels(learner.space.m, n)
    if isinstance(learner.space, Ranking):
        return learner.space.from_scores(small_rows(n) @ rng.normal(size=(2, 3)) + rng.normal(size=(n, 3)))
    return np.array(NAMES)[np.digitize(small_rows(n)[:, 0], [-0.7, 0.0, 0.7])]


LEARNERS = {
    "designed": classes("pairs at most", "designed"),
    "attributes": classes("spanning", "designed"),
    "singletons": classes("all", "singletons"),
    "costs": classes("costs", "designed"),
    "borda": orders("borda"),
    "pairs": orders("pairs"),
    "mean": PseudoMeans(Real(-2, 2), FEATURES),
    "rounded mean": PseudoMeans(Real(-2, 2, decimals=1), Nystroem.from_rows(small_rows(), 12)),
    "three means": PseudoMeans(Real([-2.0] * 3, [2.0, 3.0, 4.0]), FEATURES),
}


def uniforms(learner, i):
    return random_table.uniforms(5, i, 1, learner.width)[0]


def run(learner, n=40):
    """(state before, phi, z, question, answer) of every row, and the last state."""
    X, y, state, steps = small_rows(n), sample(learner, n), learner.init(), []
    oracle = Oracle(learner.space.labels(y))
    for i, x in enumerate(X):
        question = learner.ask(state, x, uniforms(learner, i))
        answer, phi = oracle.respond(i, question), learner.features(x[None])[0]
        steps.append((state, phi, state.theta @ phi + learner.origin(), question, answer))
        state = learner.tell(state, x, question, answer)
    return steps, state


# -- unbiased, whatever z is -----------------------------------------------------------------------


def every_question(strategy, z, lead):
    """The questions that may be asked at z (other draws than the last given), with their probabilities."""
    if strategy.width == 0:
        return [(strategy.ask(z, np.empty(0), 0), 1.0)]
    grid = (np.arange(250) + 0.5) / 250  # every set has a share of one in two hundred
    asked = {}
    for v in grid:
        question = strategy.ask(z, np.array([*lead, v]), 0)
        asked[question.members if isinstance(question, Subset) else (question.first, question.second)] = question
    return [(question, question.probability) for question in asked.values()]


@pytest.mark.parametrize(("space", "family"), SETS)
@pytest.mark.parametrize("late", [False, True])
def test_pseudo_labels_of_classes_are_unbiased(space, family, late):
    learner = classes(space, family)
    points, rng = learner.space.embedding, np.random.default_rng(0)
    state = learner.init()
    for _ in range(2):
        z, lead = rng.normal(size=learner.space.m), rng.uniform(size=max(learner.width - 1, 0))
        now = rng.normal(size=learner.space.m) if late else z  # where the answer finds the model
        asked = every_question(learner.strategy, z, lead)
        assert sum(q for _, q in asked) == pytest.approx(1.0, abs=1e-12)
        for label, point in zip(NAMES, points, strict=True):
            lessons = [q * (now + learner.lesson(state, now, a, a.accept(a.answer(label)))[0]) for a, q in asked]
            assert np.sum(lessons, axis=0) == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("family", ["borda", "pairs", "full"])
def test_pseudo_labels_of_orders_are_unbiased(family):
    learner, rng = orders(family), np.random.default_rng(1)
    state, space = learner.init(), learner.space
    ways = [(0.1, 0.2), (0.1, 0.8), (0.5, 0.2), (0.5, 0.8), (0.9, 0.2), (0.9, 0.8)]  # three pairs, two turns
    for order in every_order():
        z, now = rng.normal(size=(2, space.m))
        if family == "full":
            ways = [()]
        asked = [learner.question(state, z, np.array(way)) for way in ways]
        mean = np.mean([now + learner.lesson(state, now, a, a.accept(a.answer(order)))[0] for a in asked], axis=0)
        assert mean == pytest.approx(space.points([order])[0], abs=1e-12)


@pytest.mark.parametrize("scale", [0.01, 0.3, 20.0])
@pytest.mark.parametrize("moved", [0.0, 0.7, -0.2])
def test_pseudo_means_are_unbiased(scale, moved):
    """One output: both sides, and V by quadrature between its jumps; also where the model has moved since."""
    learner, (nodes, weights) = LEARNERS["mean"], np.polynomial.legendre.leggauss(5)
    state = RecursiveState(np.zeros((1, 3)), np.eye(3), 0, scale)
    for z, y in ((0.1, 0.6), (0.4, -3.0), (-0.2, -0.2001)):
        now, total = z + moved, 0.0
        for side in (0.25, 0.75):
            jumps = sorted(abs(c - z) for c in (y, now))
            for a, b in itertools.pairwise([0.0, *jumps, 100.0]):
                for V, weight in zip(a + (b - a) * (nodes + 1) / 2, (b - a) / 2 * weights, strict=True):
                    v = 2 / math.pi * math.atan(V / scale)
                    question = learner.question(state, np.array([z]), np.array([side, v]))
                    assert question.density == pytest.approx(2 / (math.pi * scale * (1 + (V / scale) ** 2)), rel=1e-6)
                    answer = question.holds(learner.space.from_unit([[y]])[0])
                    lesson = learner.lesson(state, np.array([now]), question, answer)[0]
                    total += 0.5 * weight * question.density * lesson[0]
        assert now + total == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_half_cauchy_thresholds_are_unbiased(spread):
    check_gradient_unbiased(HalfCauchy(spread=spread))


@pytest.mark.seeded
def test_half_cauchy_thresholds_are_unbiased_for_several_outputs():
    check_gradient_unbiased(HalfCauchy(spread=0.7), outputs=2)


@pytest.mark.parametrize(("spread", "r"), [(0.5, 0.3), (1.0, 2.0), (0.2, 1.0)])
def test_the_second_moment_is_the_one_written_down(spread, r):
    gradient, (nodes, weights) = HalfCauchy(spread=spread), np.polynomial.legendre.leggauss(200)
    end = 2 / math.pi * math.atan(r / spread)
    v = end * (nodes + 1) / 2
    plan = gradient.plan(1, np.column_stack([np.full(len(v), 0.9), v]))
    moment = 0.5 * end / 2 * weights @ gradient.values(1, plan.density)[1] ** 2
    assert moment == pytest.approx(math.pi * (spread * r + r**3 / (3 * spread)), rel=1e-9)


# -- recursive least squares -----------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_the_state_is_the_ridge_regression_of_its_pseudo_labels(name):
    learner = LEARNERS[name]
    steps, state = run(learner)
    p, m = learner.features.size, learner.space.m
    A, B = learner.lambda_ * np.eye(p), np.zeros((p, m))
    for before, phi, z, question, answer in steps:
        residual, weight, _ = learner.lesson(before, z, question, answer)
        A += weight * np.outer(phi, phi)
        B += weight * np.outer(phi, z + residual - learner.origin())
    exact = np.linalg.solve(A, B).T
    assert state.theta == pytest.approx(exact, rel=1e-8, abs=1e-8 * np.abs(exact).max())
    assert state.factor @ state.factor.T == pytest.approx(np.linalg.inv(A), rel=1e-8, abs=1e-12)


def test_the_covariance_stays_positive_and_exact_over_many_rows_of_extreme_scales():
    p, n, rng = 5, 30_000, np.random.default_rng(0)
    columns = 10.0 ** np.array([-4, -2, 0, 2, 4])
    features = rng.normal(size=(n, p)) * columns
    weights = 10.0 ** rng.uniform(-6, 6, size=n)
    truth = rng.normal(size=p) / columns
    theta, factor = np.zeros((1, p)), np.eye(p)
    for phi, weight in zip(features, weights, strict=True):
        _compiled.learn(theta, factor, phi, truth @ phi - theta @ phi, weight)
    # The same in columns of one scale, where solving it at once is exact.
    scaled = features / columns
    A = np.diag(columns**-2.0) + scaled.T @ (weights[:, None] * scaled)
    exact = np.linalg.solve(A, scaled.T @ (weights * (features @ truth)))
    assert theta[0] * columns == pytest.approx(exact, rel=1e-8)
    covariance = columns[:, None] * (factor @ factor.T) * columns
    assert covariance == pytest.approx(np.linalg.inv(A), rel=1e-6, abs=1e-6 * np.linalg.inv(A).max())
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_weights_look_at_the_past_alone():
    """The same weight for both answers, and whatever the row and the draw are."""
    for learner in LEARNERS.values():
        (state, _, z, question, _), *_ = run(learner, 12)[0][::-1]
        weights = {learner.lesson(state, z + d, question, bit)[1] for d in (0.0, 0.3) for bit in (True, False)}
        assert len(weights) == 1
        assert next(iter(weights)) > 0


def test_the_scale_of_thresholds_follows_the_errors():
    """Normal errors of deviation .05 in half ranges: s settles near .82 of it, from a range 20 times too wide."""
    rng = np.random.default_rng(0)
    learner = PseudoMeans(Real(-1, 1), Linear(Scaler.identity(1)))
    X = np.zeros((4000, 1))
    state = simulate(learner, X, Oracle(0.05 * rng.normal(size=4000)), at=[]).state
    assert 0.02 < state.scale < 0.1
    # The mean of weighted answers of variance 6 s^2 or less.
    assert abs(learner.predict(state, X[:1]).item()) < 5 * math.sqrt(6 * 0.1**2 / 4000) * 2


def test_the_mean_is_learnt_and_not_the_median():
    rng = np.random.default_rng(1)
    y = rng.exponential(size=6000)  # mean 1, median .69
    learner = PseudoMeans(Real(-4, 4), Linear(Scaler.identity(1)))
    state = simulate(learner, np.zeros((6000, 1)), Oracle(y), at=[]).state
    assert abs(learner.predict(state, np.zeros((1, 1))).item() - 1.0) < 5 * math.sqrt(6.0 / 6000)


def test_one_large_batch_does_no_harm():
    """A thousand answers at one state: the scale moves as by a few, and the pseudo-labels stay exact."""
    rng, learner = np.random.default_rng(2), PseudoMeans(Real(-1, 1), Linear(Scaler.identity(1)))
    X, y = np.zeros((1000, 1)), 0.4 + 0.1 * rng.normal(size=1000)
    state = learner.init()
    asked = learner.ask_many(state, X, random_table.uniforms(0, 0, 1000, learner.width))
    for x, question, label in zip(X, asked, y, strict=True):
        state = learner.tell(state, x, question, question.holds(label))
    assert 0.05 < state.scale < 5
    # The first moment around z = 0: pi (s|r| + |r|^3/3s) with s = 1 and |r| near .4.
    assert abs(learner.predict(state, X[:1]).item() - 0.4) < 5 * math.sqrt(math.pi * 0.45 / 1000) + 0.02


# -- the contract ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_the_contract(name):
    check_learner(LEARNERS[name], small_rows(), sample(LEARNERS[name]))


@pytest.mark.parametrize("name", LEARNERS)
def test_the_state_is_a_fold_of_bits(name):
    learner = LEARNERS[name]
    steps, state = run(learner)
    log = []
    for i, (_, _, _, question, answer) in enumerate(steps):
        assert type(answer) is bool
        log += [Asked(f"a{i}", str(i), question, i), Answered(f"b{i}", f"a{i}", answer)]
    again = fold(learner, {str(i): x for i, x in enumerate(small_rows())}, log)
    assert same(learner, state, again)


@pytest.mark.parametrize("name", ["mean", "rounded mean", "three means"])
def test_labels_that_answer_alike_teach_alike(name):
    learner, rng = LEARNERS[name], np.random.default_rng(0)
    X, y, others = small_rows(80), small_labels(learner.space.m, 80), []
    first = simulate(learner, X, Oracle(y), at=[], keep=True)
    for block in first.blocks:
        for u, c, answer in zip(block.directions, block.thresholds, block.answers, strict=True):
            across = 100 * rng.normal(size=len(u))
            side = (1e-6 + rng.exponential(1000.0)) * (1.0 if answer else -1.0)
            others.append(u * (c + side) + across - (across @ u) * u)
    assert np.abs(np.array(others) - y).mean() > 50
    second = simulate(learner, X, Oracle(np.array(others)), at=[])
    assert same(learner, first.state, second.state)


def test_orders_that_answer_alike_teach_alike():
    learner, X = LEARNERS["borda"], small_rows()
    first = simulate(learner, X, Oracle(sample(learner)), at=[], keep=True)
    others = []
    for told in first.blocks:
        pair = [told.question.first, told.question.second]
        rest = [item for item in ITEMS.items if item not in pair]
        others.append(rest + (pair if told.answer else pair[::-1]))
    assert (np.array(others) != sample(learner)).any(axis=1).mean() > 0.3
    second = simulate(learner, X, Oracle(np.array(others, dtype=object)), at=[])
    assert np.array_equal(first.state.theta, second.state.theta)


# -- estimators ------------------------------------------------------------------------------------


def fitted(kind, options=None, **arguments):
    X = small_rows(60)
    learner = RecursiveLeastSquares(n_components=20, **arguments)
    shared = {"learner": learner, "random_state": 0, **(options or {})}
    if kind == "regressor":
        return askone.OneBitRegressor(**{"low": -2, "high": 2, **shared}).fit(X, small_labels(1, 60)[:, 0]), X
    if kind == "classifier":
        return askone.OneBitClassifier(NAMES, **shared).fit(X, sample(LEARNERS["designed"], 60)), X
    return askone.OneBitRanker(ITEMS.items, **shared).fit(X, sample(LEARNERS["borda"], 60)), X


@pytest.mark.parametrize("kind", ["regressor", "classifier", "ranker"])
def test_estimators_save_and_load(kind, tmp_path):
    model, X = fitted(kind)
    path = tmp_path / "model.askone"
    model.save(path)
    loaded = askone.load(path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    question = loaded.ask(X[0])
    assert question == model.ask(X[0])
    loaded.tell(question, True)
    model.tell(question, True)
    assert np.array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("questions", "attributes"), [("auto", None), ("singletons", None), ("full", None), ("auto", ATTRIBUTES)]
)
def test_every_question_of_the_classifier_that_fits(questions, attributes):
    model, X = fitted("classifier", {"attributes": attributes}, questions=questions)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))


def test_a_ranker_without_rows_and_the_best_of_three():
    poll = askone.OneBitRanker(ITEMS.items, learner="rls", random_state=0)
    for k in (2, 3) * 60:
        question = poll.ask_best(k=k)
        poll.tell(question, question.answer(["milk", "tea", "coffee"]))
    assert poll.predict().tolist() == ["milk", "tea", "coffee"]


def test_rows_that_nobody_showed_make_a_linear_model():
    model = askone.OneBitRegressor(-2, 2, learner="rls", random_state=0)
    with pytest.warns(askone.estimators.InputScaleWarning):
        question = model.ask([0.0, 1.0])
    model.tell(question, True)
    assert isinstance(model.stream_.learner.features, Linear)


def test_recursive_least_squares_learns_faster_than_gradients():
    """The sine with a little noise, 800 questions: the mean error falls by far more than half."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(800, 1))
    f = np.sin(2 * np.pi * X[:, 0])
    y = f + 0.1 * rng.normal(size=800)
    errors = [
        np.abs(askone.OneBitRegressor(-1, 1, learner=learner, random_state=0).fit(X, y).predict(X) - f)
        for learner in (SGD(loss="squared"), "rls")
    ]
    assert errors[1].mean() < 0.3 * errors[0].mean()


REFUSED = [
    ("regressor", {"questions": "passive"}, "questions"),
    ("regressor", {"questions": "ellipsoid"}, "questions"),
    ("regressor", {"options": {"bundles": [(1.0,), (2.0,)]}}, "bundles"),
    ("regressor", {"options": {"low": None, "high": None}}, "low"),
    ("regressor", {"model": "kernel"}, "model"),
    ("classifier", {"questions": "sphere"}, "questions"),
    ("classifier", {"questions": "bisection"}, "questions"),
    ("classifier", {"model": "kernel"}, "model"),
    ("ranker", {"questions": "bradley-terry"}, "loss"),
    ("ranker", {"questions": "thresholded"}, "questions"),
    ("ranker", {"model": "kernel"}, "model"),
]


@pytest.mark.parametrize(("kind", "options", "argument"), REFUSED, ids=str)
def test_what_does_not_fit_is_refused(kind, options, argument):
    with pytest.raises(InvalidArgument, match=f"^{argument} "):
        fitted(kind, **options)


def test_nothing_is_left_to_choose():
    for name in ("loss", "step", "gamma", "average", "ridge", "limit"):
        with pytest.raises(TypeError, match=name):
            RecursiveLeastSquares(**{name: 1.0})


def test_more_is_refused_by_name():
    X, y = small_rows(), small_labels(1)[:, 0]
    for model in (askone.OneBitRegressor, askone.OneBitClassifier):
        with pytest.raises(InvalidArgument, match="^learner must be one of"):
            model(learner="newton").fit(X, np.sign(y))
    with pytest.raises(InvalidArgument, match="^learner must be one of"):
        askone.OneBitRanker(ITEMS.items, learner="newton").fit(None, every_order())


@pytest.mark.parametrize("loss", [Median(), Logistic()])
def test_a_strategy_of_another_loss_is_refused(loss):
    with pytest.raises(IncompatibleParts, match="loss must be one of: 'squared'"):
        PseudoLabels(set_strategy(SPACES["all"], loss, "singletons"), FEATURES)


def test_parts_of_the_wrong_kind_are_refused():
    designed = set_strategy(SPACES["all"], Squared(), "designed")
    for build, argument in (
        (lambda: PseudoLabels("designed", FEATURES), "strategy"),
        (lambda: PseudoLabels(designed, "linear"), "features"),
        (lambda: PseudoLabels(designed, FEATURES, ridge=0.0), "ridge"),
        (lambda: PseudoMeans(SPACES["all"], FEATURES), "space"),
        (lambda: PseudoMeans(Real(-1, 1, bundles=((1.0,),)), FEATURES), "bundles"),
        (lambda: PseudoLabels(rank_strategy(ITEMS, Squared(), "thresholded"), FEATURES), "questions"),
        (lambda: HalfCauchy(spread=0.0), "spread"),
    ):
        with pytest.raises(InvalidArgument, match=f"^{argument} "):
            build()
    mean = LEARNERS["mean"]
    with pytest.raises(InvalidArgument, match="^question must be a HalfSpace"):
        mean.tell(mean.init(), [0.0, 0.0], Subset(("a",)), True)
    with pytest.raises(InvalidAnswer):
        mean.tell(mean.init(), [0.0, 0.0], HalfSpace((1.0,), 0.0), 1)
    with pytest.raises(InvalidArgument, match="^uniform "):
        mean.ask(mean.init(), [0.0, 0.0], np.empty(5))


def test_a_question_of_ones_own_is_learnt_from():
    """Whoever drew the threshold, with a density that is told, gives a pseudo-label that is as good."""
    learner = LEARNERS["mean"]
    question = half_space(learner.space, [1.0], 0.3, density=0.5)
    state = learner.tell(learner.init(), [0.0, 0.0], question, True)
    assert learner.count(state) == 1
    assert (learner.predict(state, [[0.0, 0.0]]) > 0).all()
