"""The Thurstone filter: exact moments, a dense reference, the contract, the choice of pairs, the estimator."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfcx
from scipy.stats import norm

import askone
from askone import SGD, Thurstone, checks
from askone._common import arithmetic, random_table
from askone._common.compiled import jit
from askone.errors import IncompatibleParts, InvalidAnswer, InvalidArgument
from askone.estimators import OneBitRanker
from askone.features.maps import Intercept, Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.ranking import Ranking
from askone.learners.abilities import ask_many
from askone.learners.gradients.ranking import rank_strategy
from askone.learners.models.linear import FeatureModel
from askone.learners.people.crowd import CrowdLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.thurstone import _compiled
from askone.learners.thurstone.banks import PairBank, default_bank
from askone.learners.thurstone.ranker import ThurstoneLearner
from askone.questions.comparison import BestOf, Prefer
from askone.session.log import Answered, Asked
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.simulation import simulate
from askone.session.stream import Stream
from samples import models, reloaded, same, small_rows

ITEMS = ("ant", "bee", "cow", "doe")
LINEAR = Linear(Scaler.from_rows(small_rows()))
KERNEL = Nystroem.from_rows(small_rows(100), 60, bandwidth=0.3)  # 4 x 60 > 200: each item by itself
MAPS = {
    "none": (Intercept(2),),
    "linear": (LINEAR,),
    "apart": (KERNEL,),
    "both": (LINEAR, KERNEL),
}


def learner(maps="linear", flip=0.0, items=ITEMS):
    return ThurstoneLearner(Ranking(items, embedding="items"), tuple(default_bank(one, flip) for one in MAPS[maps]))


def single(features, scale=2.0, flip=0.0, items=ITEMS):
    return ThurstoneLearner(Ranking(items, embedding="items"), (PairBank(features, (scale,), (flip,)),))


def orders(n=40, noise=0.0):
    rng = np.random.default_rng(3)
    utilities = small_rows(n) @ np.array([[1.0, -1.0, 0.3, 0.1], [0.2, 0.5, -1.0, 0.4]])
    return Ranking(ITEMS).from_scores(utilities + noise * rng.normal(size=(n, 4)))


def told(one, X, y, start=0):
    state, log, oracle = one.init(), [], Oracle(y)
    for i, x in enumerate(X):
        question = one.ask(state, x, random_table.uniforms(0, start + i, 1, one.width)[0])
        answer = oracle.respond(i, question)
        assert type(answer) is bool
        state = one.tell(state, x, question, answer)
        log.append((question, answer))
    return state, log


# -- one step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("flip", [0.0, 0.1, 0.4])
@pytest.mark.parametrize(("delta", "q"), [(0.0, 1.0), (1.3, 0.4), (-2.0, 5.0), (-4.0, 0.3), (3.0, 50.0), (-9.0, 2.0)])
def test_one_step_has_the_posterior_moments(delta, q, flip):
    """Against the integral of N(delta, q) times the likelihood, in one dimension."""
    root = math.sqrt(q)
    # Where the product has its mass: around the prior, or between it and 0.
    low, high = min(delta, 0.0) - 12 * root, max(delta, 0.0) + 12 * root

    def moment(power, center=0.0):
        def integrand(u):
            likelihood = flip + (1 - 2 * flip) * 0.5 * math.erfc(-u / math.sqrt(2))
            return (
                (u - center) ** power
                * math.exp(-((u - delta) ** 2) / (2 * q))
                * likelihood
                / math.sqrt(2 * math.pi * q)
            )

        points = sorted({low, delta, 0.0, high, *np.linspace(low, high, 9)})
        pieces = [quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(points)]
        return math.fsum(pieces)

    Z = moment(0)
    mean = moment(1) / Z
    variance = moment(2, mean) / Z
    log_z, a, b = _compiled.bit(delta, q + 1.0, flip, 0.0, 1.0)
    assert math.isclose(math.exp(log_z), Z, rel_tol=1e-8)
    assert math.isclose(delta + a * q, mean, rel_tol=1e-8, abs_tol=1e-8)
    assert math.isclose(q - b * q * q, variance, rel_tol=1e-8)


def test_far_out_nothing_breaks():
    for z in (-6.0001, -5.9999, -40.0, -1e4, -1e8, 40.0, 1e8):
        log_p, ratio, excess = arithmetic.hazard(z)
        exact = norm.pdf(z) if z > 0 else math.sqrt(2 / math.pi) / erfcx(-z / math.sqrt(2))
        assert math.isclose(log_p, norm.logcdf(z), rel_tol=1e-9, abs_tol=1e-300)
        assert math.isclose(ratio, exact, rel_tol=1e-9, abs_tol=1e-300)
        assert math.isclose(ratio, excess - z, rel_tol=1e-9, abs_tol=1e-300) or z > 0
        _, a, b = _compiled.bit(z * 3.0, 9.0, 0.0, 0.0, 1.0)
        assert math.isfinite(a)
        assert 0.0 <= b * 9.0 <= 1.0


def reference(means, covariance, flip, x, yes):
    """The formulas, densely."""
    e, v = (1.0 if yes else -1.0), x @ covariance @ x + 1.0
    z = e * (x @ means) / math.sqrt(v)
    Z = flip + (1 - 2 * flip) * norm.cdf(z)
    a = (1 - 2 * flip) * norm.pdf(z) / (Z * math.sqrt(v))
    b = a * a + a * z / math.sqrt(v)
    Sx = covariance @ x
    return means + e * a * Sx, covariance - b * np.outer(Sx, Sx), math.log(Z)


@pytest.mark.parametrize("flip", [0.0, 0.15])
@pytest.mark.parametrize("joint", [True, False])
def test_the_filter_is_the_dense_one(joint, flip):
    features = LINEAR if joint else KERNEL
    one, rng, p, m = single(features, 2.0, flip), np.random.default_rng(1), features.size, 4
    state, means, covariance, evidence = one.init(), np.zeros(m * p), 4.0 * np.eye(m * p), 0.0
    for x in small_rows(60):
        i, j = rng.choice(4, 2, replace=False)
        yes = bool(rng.uniform() < 0.5)
        asked = Prefer(ITEMS[i], ITEMS[j])
        row = np.zeros((m, p))
        row[i], row[j] = features(x[None])[0], -features(x[None])[0]
        chance = one.chance(state, x, asked)
        means, covariance, log_z = reference(means, covariance, flip, row.ravel(), yes)
        assert math.isclose(math.log(chance if yes else 1 - chance), log_z, rel_tol=1e-9)
        if not joint:  # covariances between items are dropped
            covariance *= np.kron(np.eye(m), np.ones((p, p)))
        evidence = 0.999 * evidence + math.log(0.98 * math.exp(log_z) + 0.01)
        state = one.tell(state, x, asked, yes)
    factors = [part[0] for part in state.factors[0]]
    dense = factors[0].T @ factors[0] if joint else np.kron(np.eye(m), np.ones((p, p))) * covariance
    for item, factor in enumerate([] if joint else factors):
        block = slice(item * p, (item + 1) * p)
        dense[block, block] = factor.T @ factor
    assert np.abs(state.means[0][0].ravel() - means).max() < 1e-10
    assert np.abs(dense - covariance).max() < 1e-10
    assert math.isclose(state.evidence[0], evidence, rel_tol=1e-9)


def test_the_spread_is_the_dense_one():
    one = single(LINEAR, 2.0)
    state, _ = told(one, small_rows(30), orders(30))
    R, phi = state.factors[0][0][0], LINEAR(small_rows(3))
    center = np.eye(4) - 0.25
    for row, found in zip(phi, one.std(state, small_rows(3)), strict=True):
        expand = np.kron(np.eye(4), row[None])  # W -> utilities
        utilities = expand @ R.T @ R @ expand.T
        assert np.allclose(one._spread(state, 0, 0, row), utilities, rtol=1e-10)
        assert np.allclose(found, np.sqrt(np.diag(center @ utilities @ center)), rtol=1e-9)


@pytest.mark.parametrize("joint", [True, False])
def test_states_of_before_are_read(joint):
    """They had another factor of the same covariance, with numbers everywhere."""
    one = single(LINEAR if joint else KERNEL, 2.0)
    state, _ = told(one, small_rows(30), orders(30))
    arrays, rng = one.to_arrays(state), np.random.default_rng(0)
    R = arrays.pop("roots-0")
    assert not np.triu(R, 1).any()
    turn = np.linalg.qr(rng.normal(size=R.shape[-2:]))[0]
    back = one.from_arrays(arrays | {"factors-0": np.swapaxes(R, -1, -2) @ turn})
    for mine, theirs in zip(state.factors[0], back.factors[0], strict=True):
        assert not np.triu(theirs, 1).any()
        assert np.allclose(np.swapaxes(theirs, 1, 2) @ theirs, np.swapaxes(mine, 1, 2) @ mine, rtol=0, atol=1e-12)
    assert np.allclose(one.predict(back, small_rows(5)), one.predict(state, small_rows(5)))


@jit
def _many(means, factors, flips, traits, Phi, picks, bits, rounds, logs):
    for _ in range(rounds):
        for t in range(len(Phi)):
            i, j, heard = picks[t, 0], picks[t, 1], 1.0 if bits[t] else -1.0
            _compiled.tell_joint(means, factors, flips, traits, Phi[t], i, j, heard, False, 0.0, 1.0, True, logs)


@pytest.mark.seeded
def test_positive_definite_after_a_million_answers():
    rng, m, p, n = np.random.default_rng(0), 2, 2, 5000
    scales = np.array([1.0, 1e4])
    means, factors = np.zeros((2, m, p)), scales[:, None, None] * np.eye(m * p)
    Phi = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-6, 6, size=(n, 1)) * np.array([1.0, 1e-4])
    picks = np.array([rng.choice(m, 2, replace=False) for _ in range(n)])
    traits = np.tile([0.0, np.inf, 0.0, 1.0], (2, 1))
    _many(means, factors, np.array([0.0, 0.2]), traits, Phi, picks, rng.uniform(size=n) < 0.5, 200, np.empty(2))
    assert np.isfinite(means).all()
    for R in factors:
        sizes = np.linalg.svd(R, compute_uv=False)
        assert np.isfinite(R).all()
        assert sizes[-1] > 0
    # The product R^T R is rounded, so its least eigenvalue is known to some eps of the largest only.
    squares = np.linalg.svd(factors[0], compute_uv=False)[::-1] ** 2
    assert (squares > 0).all()
    rounding = 8 * m * p * np.finfo(float).eps * squares[-1]
    assert np.allclose(np.linalg.eigvalsh(factors[0].T @ factors[0]), squares, rtol=0, atol=rounding)
    # The level of all items is never asked about: along it nothing was learnt, nor lost.
    assert factors.shape == (2, m * p, m * p)
    level = np.kron(np.ones(m) / math.sqrt(m), np.eye(p))
    for R, scale in zip(factors, scales, strict=True):
        assert np.allclose(level @ R.T @ R @ level.T, scale**2 * np.eye(p), rtol=1e-6, atol=1e-6 * scale**2)


def test_rows_out_of_all_proportion():
    one = learner("both")
    state = one.init()
    for size in (1e30, 1e150, 0.0):
        state = one.tell(state, np.array([size, -size]), Prefer("ant", "bee"), True)
    assert np.isfinite(one.predict(state, small_rows(5))).all()
    assert np.isfinite(one.std(state, small_rows(5))).all()


# -- the contract ---------------------------------------------------------------------------------


@pytest.mark.parametrize("flip", [0.0, 0.2])
@pytest.mark.parametrize("maps", MAPS)
def test_the_learner_keeps_the_contract(maps, flip):
    checks.check_learner(learner(maps, flip), small_rows(30), orders(30))


@pytest.mark.parametrize("maps", ["none", "both"])
def test_the_state_is_a_fold_of_bits(maps):
    one, X, y = learner(maps), small_rows(60), orders(60)
    state, log = told(one, X, y)
    events = []
    for i, (question, answer) in enumerate(log):
        events += [Asked(f"a{i}", str(i), question, i), Answered(f"b{i}", f"a{i}", answer)]
    assert same(one, fold(one, {str(i): x for i, x in enumerate(X)}, events), state)


@pytest.mark.parametrize("maps", ["none", "both"])
def test_orders_that_answer_alike_teach_alike(maps):
    one, X, y, rng = learner(maps), small_rows(60), orders(60), np.random.default_rng(0)
    first = simulate(one, X, Oracle(y), at=[], keep=True)
    others = []
    for exchange in first.blocks:
        order = rng.permutation(ITEMS)
        while exchange.question.answer(order) != exchange.answer:
            order = rng.permutation(ITEMS)
        others.append(order)
    assert np.mean((np.array(others) != y).any(axis=1)) > 0.8
    assert same(one, first.state, simulate(one, X, Oracle(others), at=[]).state)


def test_wrong_parts_are_refused():
    items = Ranking(ITEMS, embedding="items")
    for call, message in (
        (lambda: ThurstoneLearner(Ranking(ITEMS), (default_bank(LINEAR),)), "embedding must be"),
        (lambda: ThurstoneLearner(items, ()), "banks must be"),
        (
            lambda: ThurstoneLearner(items, (default_bank(LINEAR), default_bank(Intercept(3)))),
            "rows of different widths",
        ),
        (lambda: ThurstoneLearner(items, (default_bank(LINEAR),), 1.5), "discount must be"),
        (lambda: PairBank(LINEAR, (1.0, 0.0), (0.0, 0.0)), "scales must be"),
        (lambda: PairBank(LINEAR, (1.0,), (0.5,)), "flips must be"),
        (lambda: PairBank(LINEAR, (1.0, 2.0), (0.0,)), "flips must be 2 numbers"),
        (lambda: learner().tell(learner().init(), np.zeros(2), BestOf(("ant", "bee")), "ant"), "question must be"),
        (lambda: learner().tell(learner().init(), np.zeros(2), Prefer("ant", "elk"), True), "'elk'"),
        (lambda: learner().ask(learner().init(), np.zeros(2), np.zeros(3)), "uniform must be"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            call()


# -- forecasts and flips --------------------------------------------------------------------------


def test_chances_add_up_and_are_calibrated():
    """Said before each answer, -log chance averages to less than a coin's, by five standard errors."""
    one, X, y = learner("linear"), small_rows(400), orders(400, noise=0.3)
    state, oracle, losses = one.init(), Oracle(y), []
    for i, x in enumerate(X):
        question = one.ask(state, x, random_table.uniforms(0, i, 1, 2)[0])
        chance = one.chance(state, x, question)
        turned = one.chance(state, x, Prefer(question.second, question.first))
        assert math.isclose(chance + turned, 1.0, rel_tol=1e-9)
        answer = oracle.respond(i, question)
        losses.append(-math.log(chance if answer else 1 - chance))
        state = one.tell(state, x, question, answer)
    late = np.array(losses[100:])
    assert late.mean() + 5 * late.std() / math.sqrt(len(late)) < math.log(2)


@pytest.mark.parametrize("flip", [0.0, 0.05, 0.3])
def test_worth_is_what_the_answer_tells(flip):
    """Against H(E p) - E H(p) by quadrature."""

    def entropy(p):
        p = np.clip(p, 1e-300, 1 - 1e-16)
        return -p * np.log(p) - (1 - p) * np.log1p(-p)

    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    most = math.log(2) - float(entropy(np.array(flip)) if flip else 0.0)
    for delta in (0.0, 0.5, 2.0, 4.0):
        for q in (0.01, 0.5, 3.0, 30.0):
            p = flip + (1 - 2 * flip) * norm.cdf(delta + math.sqrt(q) * nodes)
            exact = float(entropy(np.array(weights @ p)) - weights @ entropy(p))
            out = np.empty(1)
            covariance = np.diag([q, 0.0])
            assert _compiled.worth(np.array([delta, 0.0]), covariance, flip, out) == out[0]
            assert abs(out[0] - exact) < 0.04 * most


def test_worth_falls_as_more_is_known():
    one = learner("linear")
    state, _ = told(one, small_rows(300), orders(300))
    before, after = one.worth(one.init(), small_rows(20)), one.worth(state, small_rows(20))
    assert (before > 0).all()
    assert (before < math.log(2)).all()
    assert after.mean() < 0.5 * before.mean()


def test_known_flips_are_allowed_for():
    """One contradiction after forty agreements: the less it moves the scores, the likelier a flip is."""
    moved = []
    for flip in (0.0, 0.2):
        one = single(Intercept(1), 3.0, flip, ("ant", "bee"))
        state = one.init()
        for _ in range(40):
            state = one.tell(state, [0.0], Prefer("ant", "bee"), True)
        before = one.predict(state, [[0.0]])[0]
        after = one.predict(one.tell(state, [0.0], Prefer("ant", "bee"), False), [[0.0]])[0]
        moved.append((before[0] - after[0]) / before[0])
        assert one.chance(state, [0.0], Prefer("ant", "bee")) <= 1 - flip
    assert 0 <= moved[1] < 0.3 * moved[0]


def test_flips_that_nobody_declared_are_noticed():
    rng, items = np.random.default_rng(0), tuple("abcdef")
    X = rng.normal(size=(1500, 2))
    y = Ranking(items).from_scores(X @ rng.normal(size=(2, 6)))
    model = OneBitRanker(items, learner=Thurstone(model="linear"), random_state=0).fit(X, Oracle(y, flip=0.25))
    one = model.stream_.learner.base
    weights = one.weights(model.stream_.state.base)
    assert weights[one.banks[0].rates > 0].sum() > 0.9


# -- which pair -----------------------------------------------------------------------------------


def test_pairs_are_drawn_as_they_say():
    one = learner("none")
    state, _ = told(one, small_rows(60), [["ant", "bee", "cow", "doe"]] * 60)
    n = 4000
    asked = ask_many(one, state, np.zeros((n, 2)), random_table.uniforms(0, 0, n, 2))
    chances = {frozenset((q.first, q.second)): q.probability for q in asked}
    counts = Counter(frozenset((q.first, q.second)) for q in asked)
    for pair, chance in chances.items():
        assert abs(counts[pair] - n * chance) < 5 * math.sqrt(n * chance * (1 - chance)) + 1
    turned = sum(one.space.pair(q.first, q.second)[1] > 0 for q in asked)
    assert abs(turned - n / 2) < 5 * math.sqrt(n / 4)


def test_a_batch_varies():
    """At the start all pairs are alike; later those that are settled are rare, and no pair is all of a batch."""
    one = learner("none")
    fresh = ask_many(one, one.init(), np.zeros((60, 2)), random_table.uniforms(0, 0, 60, 2))
    assert all(math.isclose(q.probability, 1 / 6) for q in fresh)
    rng, state = np.random.default_rng(0), one.init()
    for _ in range(200):  # ant is far above the others, which are alike
        i, j = rng.choice(4, 2, replace=False)
        yes = bool(i == 0 or (j != 0 and rng.uniform() < 0.5))
        state = one.tell(state, np.zeros(2), Prefer(ITEMS[i], ITEMS[j]), yes)
    batch = ask_many(one, state, np.zeros((100, 2)), random_table.uniforms(0, 0, 100, 2))
    counts = Counter(frozenset((q.first, q.second)) for q in batch)
    assert sum(count for pair, count in counts.items() if "ant" in pair) < 20
    assert max(counts.values()) < 70
    assert len(counts) >= 3


def test_answers_may_come_late_in_any_order_and_from_others():
    X, y = small_rows(400), orders(400)
    one = learner("linear")
    borda = Surrogate(rank_strategy(Ranking(ITEMS), None, "borda"), FeatureModel(LINEAR))
    asked = ask_many(borda, borda.init(), X, random_table.uniforms(0, 0, len(X), borda.width))
    states = []
    for turn in (1, -1):
        state = one.init()
        for i in range(len(X))[::turn]:
            state = one.tell(state, X[i], asked[i], asked[i].answer(y[i]))
        states.append(state)
        decoded = one.space.decode(one.predict(state, X), X)
        assert np.mean(one.space.embed(decoded) * one.space.embed(y)) > 0.9
    forth, back = (one.predict(state, X) for state in states)
    assert np.corrcoef(forth.ravel(), back.ravel())[0, 1] > 0.97  # not the same: a Gaussian stands for each posterior


# -- the estimator --------------------------------------------------------------------------------


LINES = Thurstone(model="linear")


def taus(learner, seeds, noise, T=400, m=8, d=3):
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, A = rng.normal(size=(T + 100, d)), rng.normal(size=(d, m))
        space = Ranking(tuple(range(m)))
        y = space.from_scores(X @ A + noise * rng.gumbel(size=(T + 100, m)))
        model = OneBitRanker(space.items, learner=learner, random_state=seed).fit(X[:T], y[:T])
        found.append(model.score(X[T:], space.from_scores(X[T:] @ A)))
    return np.array(found)


def test_it_learns_more_than_gradients_from_the_same_number_of_answers():
    """Paired over seeds: the mean difference is above 0 by five of its standard errors."""
    filtered, stepped = (
        taus(learner, range(8), 0.3) for learner in (LINES, SGD(questions="bradley-terry", model="linear"))
    )
    gain = filtered - stepped
    assert gain.mean() - 5 * gain.std(ddof=1) / math.sqrt(len(gain)) > 0
    assert filtered.mean() - 5 * filtered.std(ddof=1) / math.sqrt(len(filtered)) > 0.85


def test_noise_of_every_size():
    for noise, least in ((0.0, 0.93), (3.0, 0.35)):
        found = taus(LINES, range(5), noise)
        assert found.mean() - 5 * found.std(ddof=1) / math.sqrt(len(found)) > least - 0.15
        assert found.mean() > least


def test_curved_utilities_are_learnt_by_default():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1200, 1))
    space = Ranking(ITEMS)
    truth = space.from_scores(np.cos(2 * X + np.array([0.0, 1.5, 3.0, 4.5])))
    bent = OneBitRanker(ITEMS, random_state=0, learner=Thurstone(n_components=30)).fit(X[:1000], truth[:1000])
    straight = OneBitRanker(ITEMS, random_state=0, learner=LINES).fit(X[:1000], truth[:1000])
    assert bent.score(X[1000:], truth[1000:]) > 0.85 > 0.6 > straight.score(X[1000:], truth[1000:])


@pytest.mark.parametrize(
    "X",
    [
        np.repeat(small_rows(200), 3, axis=1),
        np.column_stack([small_rows(200), np.ones(200), small_rows(200).sum(axis=1)]),
        small_rows(200) * np.array([1e8, 1e-8]) + np.array([1e5, 0.0]),
        np.column_stack([small_rows(200), np.random.default_rng(0).normal(size=(200, 60))]),
    ],
    ids=["copies", "collinear", "scales", "many columns"],
)
def test_odd_inputs(X):
    model = OneBitRanker(ITEMS, random_state=0).fit(X, orders(200))
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, orders(200)) > (0.6 if X.shape[1] < 60 else 0.4)


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("model", ["auto", "linear", "fourier"])
def test_saved_and_loaded(model, rows):
    X, one = (small_rows(60), small_rows(60)[0]) if rows else (None, None)
    first = OneBitRanker(list(ITEMS), learner=Thurstone(model=model, n_components=20), flip=0.1, random_state=0).fit(
        X, orders(60)
    )
    first.ask(one)
    back = reloaded(first)
    assert (back.decision_function(X) == first.decision_function(X)).all()
    assert (back.predict_std(X) == first.predict_std(X)).all()
    assert back.stream_.open == [60]
    assert back.ask(one) == first.ask(one)


def test_the_best_of_a_few():
    model, order = OneBitRanker(ITEMS, random_state=0), ["cow", "ant", "doe", "bee"]
    for k in (2, 3) * 20:
        question = model.ask_best(k=k)
        model.tell(question, *question.answer(order))
    assert model.predict().tolist() == order
    assert model.stream_.answered == 60
    with pytest.raises(InvalidAnswer):
        model.tell(model.ask_best(k=2), True)


def test_uncertainty_shrinks():
    model = OneBitRanker(ITEMS, random_state=0)
    order, spreads = ["cow", "ant", "doe", "bee"], []
    for t in range(120):
        question = model.ask()
        model.tell(question, question.answer(order))
        if t in (5, 119):
            spreads.append(model.predict_std() / np.ptp(model.decision_function()))
    assert spreads[0].shape == (1, 4)
    assert (spreads[1] < 0.6 * spreads[0]).all()
    with pytest.raises(IncompatibleParts, match="standard deviations"):
        OneBitRanker(ITEMS, learner="sgd", random_state=0).fit(None, [order]).predict_std()


def test_live_before_any_rows_were_shown():
    model = OneBitRanker(ITEMS, random_state=0)
    with pytest.warns(askone.InputScaleWarning):
        question = model.ask(small_rows()[0])
    model.tell(question, True)
    X, y = small_rows(150), orders(150)
    for x, order in zip(X, y, strict=True):
        question = model.ask(x)
        model.tell(question, question.answer(order))
    assert model.score(X, y) > 0.7


def test_filters_without_hope_are_out_and_the_simplest_stay():
    evidence = np.array([-60.0, -1.0, -42.0, -70.0, -90.0, -50.0, 0.0])
    _compiled.thin(evidence, np.array([2, 3, 2]), 1, 40.0, 30.0)
    # The first of its bank is 59 behind; so is the last bank's.  The second bank, far behind the best, is the simplest.
    assert evidence.tolist() == [-np.inf, -1.0, -42.0, -70.0, -np.inf, -np.inf, 0.0]
    _compiled.thin(evidence, np.array([2, 3, 2]), 0, 40.0, 30.0)  # who is out stays out
    assert evidence.tolist() == [-np.inf, -1.0, *[-np.inf] * 4, 0.0]


@pytest.mark.parametrize("maps", MAPS)
def test_filters_are_out_at_the_same_answers_in_a_stream(maps, monkeypatch):
    monkeypatch.setattr("askone.learners.thurstone.ranker._NEAR", 2.0)
    monkeypatch.setattr("askone.learners.thurstone.ranker._FAR", 3.0)
    made, rows, labels = learner(maps, flip=0.05), small_rows(200), orders(200)
    streamed = simulate(made, rows, Oracle(labels), at=[], seed=2).state
    told = Stream(made, seed=2)
    for x, order in zip(rows, labels, strict=True):
        question = told.ask(x)
        told.tell(question, question.answer(order))
    assert np.isneginf(streamed.evidence).any()
    assert np.isfinite(streamed.evidence).any()
    assert same(made, streamed, told.state)


def test_a_stream_is_what_fit_does():
    X, y = small_rows(40), orders(40)
    fitted = OneBitRanker(ITEMS, random_state=0, learner=Thurstone(n_components=20)).fit(X, y)
    stream = Stream(fitted.stream_.learner, seed=fitted.stream_.seed)
    for x, order in zip(X, y, strict=True):
        question = stream.ask(x)
        stream.tell(question, question.answer(order))
    assert np.allclose(stream.predict(X), fitted.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, ThurstoneLearner),
        ({"learner": "thurstone"}, ThurstoneLearner),
        ({"learner": "sgd"}, Surrogate),
        ({"learner": LINES}, ThurstoneLearner),
        ({"learner": Thurstone(model=FeatureModel(LINEAR))}, ThurstoneLearner),
        ({"learner": SGD(model="kernel")}, Surrogate),
        ({"learner": SGD(model=models()["kernel"], questions="borda", loss="squared")}, Surrogate),
        ({"learner": SGD(step="sqrt", gamma=0.5, average="polynomial", ridge=0.1)}, Surrogate),
    ],
    ids=str,
)
def test_who_learns(options, kind):
    model = OneBitRanker(ITEMS, random_state=0, **options).start(small_rows())
    learner = model.stream_.learner
    assert isinstance(learner.base if isinstance(learner, CrowdLearner) else learner, kind)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "kalman"}, "learner must be one of"),
        ({"learner": "rls", "flip": 0.1}, "flip must be"),
        ({"flip": 0.5}, "flip must be"),
        ({"learner": Thurstone(model="forest")}, "model must be one of"),
        ({"learner": Thurstone(model="kernel")}, "model must be one of"),
        ({"learner": Thurstone(kernel="cosine")}, "kernel must be one of"),
        ({"learner": askone.Filters()}, "learner must be one of: 'Thurstone', 'SGD', 'RecursiveLeastSquares'"),
        ({"learner": SGD(limit=1.0)}, "limit must be one of: None"),
        ({"learner": SGD(calibration=10)}, "calibration must be one of: 60"),
    ],
    ids=str,
)
def test_the_estimator_refuses(options, message):
    with pytest.raises(InvalidArgument, match=message):
        OneBitRanker(ITEMS, **options).start(small_rows())


def test_many_items_take_fewer_features():
    model = OneBitRanker(list(range(400)), learner=Thurstone(n_components=200), random_state=0).start(
        np.random.default_rng(0).normal(size=(300, 2))
    )
    sizes = [bank.features.size for bank in model.stream_.learner.base.banks]
    assert sizes[0] == 3
    assert max(sizes) <= math.isqrt(2_000_000 // 400)


# -- ranks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "T", "worlds"), [(20, 120, 40), (220, 700, 8)], ids=["few", "many"])
def test_ranks_are_within_their_intervals(m, T, worlds):
    """As often as they say: the mean over worlds is at least the level, less five of its standard errors."""
    covered, widths = [], []
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        utilities = 2.0 * rng.normal(size=m)
        model = OneBitRanker(list(range(m)), random_state=seed)
        for _ in range(T):
            question = model.ask()
            gap = utilities[question.first] - utilities[question.second]
            model.tell(question, bool(gap + rng.normal() > 0))
        found, true = model.ranks(level=0.8), 1 + np.argsort(np.argsort(-utilities))
        assert ((found.best >= 1) & (found.best <= found.worst) & (found.worst <= m)).all()
        assert (found.shared <= found.best).all()
        covered.append(np.mean((found.best <= true) & (true <= found.worst)))
        widths.append(np.mean(found.worst - found.best))
    error = np.std(covered, ddof=1) / math.sqrt(worlds)
    assert error < 0.04  # so that the bound says something
    assert np.mean(covered) > 0.8 - 5 * error
    assert np.mean(widths) < 0.6 * m  # anything is within all ranks


def test_ranks_by_rows_and_what_is_refused():
    X, y = small_rows(200), orders(200)
    model = OneBitRanker(ITEMS, learner=LINES, random_state=0).fit(X, y)
    found = model.ranks(X[:3])
    assert len(found) == 3
    assert (model.ranks(X[:1])[0].best == found[0].best).all()
    narrow, wide = (model.ranks(X[:3], level=level) for level in (0.2, 0.99))
    assert all((a.worst - a.best <= b.worst - b.best).all() for a, b in zip(narrow, wide, strict=True))
    with pytest.raises(InvalidArgument, match="level must be"):
        model.ranks(X[:3], level=1.0)
    with pytest.raises(IncompatibleParts, match="intervals of ranks"):
        OneBitRanker(ITEMS, learner="sgd", random_state=0).fit(X, y).ranks(X[:1])
