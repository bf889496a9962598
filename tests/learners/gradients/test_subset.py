"""Set questions, tested as statistics: exact enumeration of every draw, to 1e-10."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr

from askone import SGD, OneBitClassifier, Reveal, Subset
from askone._common import random_table
from askone.errors import IncompatibleParts, InvalidArgument
from askone.labels.classes import Classes, Finite
from askone.labels.losses import SURROGATES, Logistic, Median, Squared
from askone.learners.gradients._set_design import Design, best_design
from askone.learners.gradients._set_strategy import on_simplex
from askone.learners.gradients.subset import SET_PAIRS, Coordinates, Designed, Passive, Singletons, Sphere, set_strategy
from askone.learners.paper.equilibrium import equilibrium, gap, payoff
from askone.learners.paper.game import GameLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import InverseSqrt, Polynomial
from askone.session.oracle import Oracle
from askone.session.simulation import simulate
from samples import constant_model

BITS = {"low": [1, 3], "high": [2, 3], "odd one": [0, 4], "first": [0]}
SPACES = {
    "three": Classes(("a", "b", "c")),
    "six": Classes(tuple(range(6))),
    "attributes that span": Classes(tuple(range(5)), attributes=BITS),
    "explicit sets": Classes(tuple("abcd"), sets=[["a", "b"], ["b", "c"], ["a", "b", "c"]]),
    "at most two": Classes(tuple(range(6)), max_set_size=2),
    "drawn": Classes(tuple(range(40)), max_set_size=3),
    "costs": Finite(tuple("abcd"), loss=np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) ** 1.5),
}


def points(space, count=5, seed=0):
    """Scores near a corner, inside and outside the hull."""
    rng = np.random.default_rng(seed)
    inside = rng.dirichlet(np.ones(space.size), count) @ space.embedding
    return np.vstack([inside, inside + rng.normal(size=inside.shape), 0.9 * space.embedding[:1] + 0.1 * inside[:1]])


def all_questions(strategy, z, uniform):
    """Every question that the last uniform can lead to, by walking over the logged probabilities."""
    start = 0.0
    while start < 1 - 1e-12:
        question = strategy.ask(z, np.append(uniform, start + 1e-13), 0)
        yield question.probability, question
        start += question.probability


def expected(strategy, z, name, questions):
    total = np.zeros(len(z))
    for probability, question in questions:
        total += probability * strategy.teach(question, question.answer(name), z)
    return total


def enumerated(strategy, z, uniform=()):
    return list(all_questions(strategy, z, np.asarray(uniform)))


ENUMERATED = [
    (loss, family, space)
    for loss, family in SET_PAIRS
    for space in SPACES
    if family in ("singletons", "designed")
    and not (family == "singletons" and space in ("attributes that span", "explicit sets"))  # not asked alone
    and not (loss != "squared" and space == "costs")  # a loss matrix goes with least squares
]


@pytest.mark.parametrize(("loss", "family", "space"), ENUMERATED)
def test_every_pair_is_exactly_unbiased(loss, family, space):
    where = SPACES[space]
    strategy = set_strategy(where, SURROGATES[loss](), family)
    assert strategy.unbiased
    lots = random_table.uniforms(3, 0, 1, strategy.width - 1)[0]
    for z in points(where, 2 if space == "drawn" else 5):
        target, questions = strategy.gradients(z), enumerated(strategy, z, lots)
        for k, name in enumerate(where.names[:6]):
            assert expected(strategy, z, name, questions) == pytest.approx(target[k], abs=1e-10), name


def test_the_estimator_offers_every_family():
    for family in sorted({family for _, family in SET_PAIRS}):
        model = OneBitClassifier(range(3), learner=SGD(questions=family), random_state=0).start(np.eye(3))
        assert isinstance(model.stream_.learner, Surrogate)
        assert model.stream_.learner.strategy.family == family
    assert {"game", "bisection"} <= set(OneBitClassifier._learners)


# -- the sphere: two and three classes by exact quadrature, more by Monte Carlo ----------------------


def ask_along(strategy, z, u):
    return strategy.ask(z, np.append(ndtr(u), 0.5), 0)


@pytest.mark.parametrize("shift", [0.0, 0.4, 2.0])
def test_two_classes_have_two_directions(shift):
    space = Classes(("no", "yes"))
    strategy = Sphere(space, directions=1)
    z = np.array([0.3 + shift, 0.7 - shift])
    for name in space.names:
        total = np.zeros(2)
        for sign in (1.0, -1.0):
            question = ask_along(strategy, z, sign * np.array([1.0, -1.0]))
            total += 0.5 * strategy.teach(question, question.answer(name), z)
        assert total == pytest.approx(strategy.gradients(z)[space.index(name)], abs=1e-12)


@pytest.mark.parametrize("outside", [False, True])
def test_three_classes_are_a_circle_of_directions(outside):
    space = Classes(("a", "b", "c"))
    strategy = Sphere(space, directions=1)
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    z = np.array([0.2, 0.5, 0.3]) + (np.array([0.6, 0.3, -0.9]) if outside else 0.0)
    plane = (z - np.eye(3)) @ basis.T
    sides = ((-plane[:, 0], plane[:, 1]), (plane[:, 0], -plane[:, 1]))
    breaks = np.sort(np.concatenate([np.arctan2(*side) for side in sides]))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    trivial = 0
    for name in space.names:
        total = np.zeros(3)
        for low, high in zip(breaks, np.append(breaks[1:], breaks[0] + 2 * np.pi), strict=True):
            for node, weight in zip((low + high) / 2 + (high - low) / 2 * nodes, weights, strict=True):
                question = ask_along(strategy, z, np.array([np.cos(node), np.sin(node)]) @ basis)
                trivial += question.yes == question.no
                share = weight * (high - low) / 2 / (2 * np.pi)
                total += share * strategy.teach(question, question.answer(name), z)
        assert total == pytest.approx(strategy.gradients(z)[space.index(name)], abs=1e-10)
    assert (trivial > 0) == outside  # inside the hull every direction cuts


def test_several_directions_are_averaged_whatever_their_bits():
    """Given the directions, asking one of the undecided for all of them loses nothing on average."""
    space = Classes(tuple(range(6)))
    strategy = Sphere(space, directions=4)
    rng = np.random.default_rng(1)
    for z in points(space):
        normals = rng.normal(size=(4, 6))
        alone = Sphere(space, directions=1)
        for k in range(6):
            parts = []
            for u in normals:
                question = ask_along(alone, z, u)
                parts.append(alone.teach(question, question.answer(k), z))
            picks = (np.arange(12) + 0.5) / 12  # 12 is a multiple of 1, 2, 3 and 4
            questions = [strategy.ask(z, np.append(ndtr(normals).ravel(), pick), 0) for pick in picks]
            mean = np.mean([strategy.teach(q, q.answer(k), z) for q in questions], axis=0)
            assert mean == pytest.approx(np.mean(parts, axis=0), abs=1e-10)


@pytest.mark.seeded
def test_ten_classes_by_monte_carlo():
    space = Classes(tuple(range(10)))
    strategy = Sphere(space)
    z = points(space, 1)[0]
    table = random_table.uniforms(5, 0, 20_000, strategy.width)
    sample = np.array([strategy.teach(q, q.answer(4), z) for q in (strategy.ask(z, u, 0) for u in table)])
    error = sample.std(axis=0) / np.sqrt(len(sample))
    off = np.abs(sample.mean(axis=0) - strategy.gradients(z)[4])
    assert (off < 5 * error).all()
    assert error.max() < 0.02  # so that the bound says something


def test_the_sphere_asks_the_smaller_side_and_never_a_trivial_set():
    space = Classes(tuple(range(7)))
    strategy = Sphere(space)
    for z in points(space, 20):
        for u in random_table.uniforms(0, 0, 20, strategy.width):
            assert 1 <= len(strategy.ask(z, u, 0).members) <= 3


# -- designs --------------------------------------------------------------------------------------


def test_pseudo_labels_are_unbiased_for_any_working_model():
    rng = np.random.default_rng(0)
    for space in (SPACES["attributes that span"], SPACES["explicit sets"], SPACES["at most two"]):
        sets, K = space.allowed, space.size
        for _ in range(10):
            design = Design(sets.inside, rng.dirichlet(np.ones(len(sets))), rng.dirichlet(np.ones(K)), sets.span)
            for y in range(K):
                cells = [design.pseudo_labels(s)[int(not sets.inside[s, y])] for s in range(len(sets))]
                assert design.q @ np.array(cells) == pytest.approx(np.eye(K)[y], abs=1e-10)


def test_without_a_span_they_are_unbiased_for_the_projection():
    space = Classes(tuple(range(8)), attributes={f"bit {b}": [y for y in range(8) if y >> b & 1] for b in range(3)})
    strategy = Designed(space, Squared())
    z = np.random.default_rng(0).normal(size=8)
    for k, name in enumerate(space.names):
        assert expected(strategy, z, name, enumerated(strategy, z)) == pytest.approx(z - space.embedding[k], abs=1e-10)
    for family in ("designed", "full", "passive"):
        with pytest.raises(IncompatibleParts, match="span 4 of 8 dimensions"):
            set_strategy(space, Median(), family)


def test_no_unbiased_estimator_has_a_smaller_second_moment():
    """Perturbed estimators that stay unbiased are never better; the formula is their second moment."""
    rng = np.random.default_rng(2)
    space = SPACES["at most two"]
    inside, K = space.allowed.inside, space.size
    p, q, G = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(len(inside))), rng.normal(size=(K, 3))
    design = Design(inside, q, p, np.eye(K))
    cells = np.concatenate([inside, 1 - inside])
    weight = np.concatenate([q * design.mass, q * (1 - design.mass)])
    labels = [design.pseudo_labels(s) for s in range(len(inside))]
    values = np.array([G.T @ yes for yes, _ in labels] + [G.T @ no for _, no in labels])
    moment = float(weight @ np.sum(values**2, axis=1))
    assert moment == pytest.approx(design.second_moment(G), rel=1e-10)
    constraint = (cells * np.concatenate([q, q])[:, None]).T  # E[. | Y = y] of a function of the cells
    _, singular, right = np.linalg.svd(constraint)
    null = right[(singular > 1e-10).sum() :]
    for _ in range(50):
        nudge = null.T @ rng.normal(size=(len(null), 3)) * 0.1
        assert constraint @ nudge == pytest.approx(np.zeros((K, 3)), abs=1e-9)
        assert float(weight @ np.sum((values + nudge) ** 2, axis=1)) >= moment - 1e-9


def test_the_updates_lead_to_the_best_design():
    rng = np.random.default_rng(3)
    inside = SPACES["at most two"].allowed.inside
    p, G = rng.dirichlet(np.ones(6)), rng.normal(size=(6, 6))

    def moment(logits):
        q = np.exp(logits - logits.max())
        return Design(inside, q / q.sum(), p, np.eye(6)).second_moment(G)

    best = min(minimize(moment, rng.normal(size=len(inside)), method="BFGS").fun for _ in range(2))
    uniform = moment(np.zeros(len(inside)))
    few = best_design(inside, p, G, np.eye(6)).second_moment(G)
    many = best_design(inside, p, G, np.eye(6), updates=2000, spread=0.0).second_moment(G)
    assert many == pytest.approx(best, rel=1e-3)
    assert few < best + 0.5 * (uniform - best)


# -- the surrogates' minimisers ---------------------------------------------------------------------


def geometric_median(p):
    """argmin_z sum_y p_y |z - e_y|, by smoothing."""
    K = len(p)
    start = p.copy()
    for smooth in (1e-2, 1e-4, 1e-6):
        found = minimize(
            lambda z, s=smooth: p @ np.sqrt(np.sum((z - np.eye(K)) ** 2, axis=1) + s**2), start, method="BFGS"
        )
        start = found.x
    return start


@pytest.mark.parametrize(("K", "threshold"), [(3, 0.4641), (10, 0.4271), (100, 0.4154)])
def test_the_vertex_condition(K, threshold):
    """e_k is the geometric median iff p_k^2 >= ((1 - p_k)^2 + sum of the others' squares) / 2."""
    strategy = Sphere(Classes(tuple(range(K))))
    for first in (threshold - 0.002, threshold + 0.002):
        p = np.full(K, (1 - first) / (K - 1))
        p[0] = first
        # At the vertex the other classes pull with |sum_y p_y g_y|; it holds against p_0.
        pull = np.linalg.norm(p[1:] @ strategy.gradients(np.eye(K)[0])[1:])
        formula = p[0] ** 2 >= 0.5 * ((1 - p[0]) ** 2 + np.sum(p[1:] ** 2))
        assert (pull <= p[0]) == formula == (first > threshold)


def test_the_geometric_median_of_one_one_two_cos_of_thirty_degrees_is_a_vertex():
    weights = np.array([1.0, 1.0, 2 * np.cos(np.pi / 6)])
    pull = weights[:2] @ Sphere(Classes(("a", "b", "c"))).gradients(np.eye(3)[2])[:2]
    assert np.linalg.norm(pull) == pytest.approx(weights[2], abs=1e-12)  # exactly on the edge
    assert geometric_median(weights / weights.sum()) == pytest.approx([0, 0, 1], abs=0.02)
    assert geometric_median(np.array([1, 1, 1.6]) / 3.6)[2] < 0.95


def test_the_median_keeps_the_order_where_coordinates_do_not():
    """p = (.4, .3, .3): the sphere's target is (.516, .242, .242), that of coordinates is zero."""
    p = np.array([0.4, 0.3, 0.3])
    assert geometric_median(p) == pytest.approx([0.516, 0.242, 0.242], abs=2e-3)
    space = Classes(("a", "b", "c"))
    strategy = Coordinates(space)
    z = np.full(3, 1 / 3)
    for t in range(1500):
        questions = enumerated(strategy, z)
        z = z - 0.3 / (t + 1) ** 0.7 * sum(p[k] * expected(strategy, z, n, questions) for k, n in enumerate("abc"))
    assert np.abs(z).max() < 0.01
    for k, name in enumerate(space.names):  # and it is exactly unbiased for the l1 loss
        point = np.array([0.2, 0.7, -0.3])
        questions = enumerated(strategy, point)
        assert expected(strategy, point, name, questions) == pytest.approx(np.sign(point - np.eye(3)[k]), abs=1e-12)
    assert not strategy.unbiased


@pytest.mark.seeded
@pytest.mark.parametrize("strategy", ["sphere", "singletons"])
def test_the_stream_finds_the_geometric_median(strategy):
    """Five streams: the mean lies within five of its standard errors, and they are small."""
    space = Classes(("a", "b", "c"))
    learner = Surrogate(set_strategy(space, Median(), strategy), constant_model(), InverseSqrt(1.0), Polynomial())
    found = []
    for seed in range(5):
        y = np.random.default_rng(seed).choice(list("abc"), p=[0.4, 0.3, 0.3], size=2000)
        state = simulate(learner, np.zeros((2000, 1)), Oracle(y), seed=seed, at=[]).state
        found.append(learner.predict(state, [[0.0]])[0])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(5)
    assert error.max() < 0.1
    assert (np.abs(np.mean(found, axis=0) - [0.516, 0.242, 0.242]) < 5 * error).all()


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_the_stream_finds_the_probabilities(loss):
    space = Classes(("a", "b", "c"))
    p = np.array([0.5, 0.3, 0.2])
    y = np.random.default_rng(0).choice(list("abc"), p=p, size=6000)
    strategy = Singletons(space, loss)
    learner = Surrogate(strategy, constant_model(), InverseSqrt(1.0), Polynomial())
    state = simulate(learner, np.zeros((6000, 1)), Oracle(y), at=[]).state
    assert strategy.probabilities(learner.predict(state, [[0.0]]))[0] == pytest.approx(p, abs=0.06)


def test_on_simplex():
    rng = np.random.default_rng(0)
    for _ in range(100):
        z = rng.normal(size=5)
        nearest = on_simplex(z)
        assert nearest.sum() == pytest.approx(1.0)
        assert nearest.min() >= 0
        for other in rng.dirichlet(np.ones(5), 20):
            assert (z - nearest) @ (other - nearest) <= 1e-9


# -- the passive baseline ---------------------------------------------------------------------------


def test_passive_sets_are_balanced_and_learnt_by_the_infimum_loss():
    space = Classes(tuple(range(5)))
    strategy = Passive(space)
    sizes = np.zeros(5)
    for u in random_table.uniforms(0, 0, 4000, strategy.width):
        members = strategy.ask(np.zeros(5), u, 0).members
        assert 1 <= len(members) <= 2
        sizes[list(members)] += 1
    # A class is in the smaller side with one probability for all: five standard deviations.
    assert np.ptp(sizes) < 10 * np.sqrt(4000 * 0.25)
    z = np.array([0.5, 0.1, 0.3, 0.05, 0.05])
    question = strategy.ask(z, np.array([0.9, 0.1, 0.1, 0.9, 0.9, 0.5]), 0)
    assert question.members == (1, 2)
    assert strategy.teach(question, True, z) == pytest.approx(strategy.gradients(z)[2])
    assert strategy.teach(question, False, z) == pytest.approx(strategy.gradients(z)[0])


# -- the game of proposition 3 ----------------------------------------------------------------------


def test_the_counter_example():
    found = equilibrium([0.4, 0.3, 0.3], np.eye(3))
    assert found.value == pytest.approx(-0.1, abs=1e-9)
    assert found.mu == pytest.approx([0.5, 0.25, 0.25], abs=1e-9)
    assert found.v == pytest.approx([0.25, 0.375, 0.375], abs=1e-9)
    assert gap(payoff([0.4, 0.3, 0.3], np.eye(3)), found.v, found.mu) == pytest.approx(0, abs=1e-9)


def test_proposition_3_with_an_argmax():
    rng = np.random.default_rng(0)
    for K in (2, 3, 6):
        for _ in range(20):
            p = 0.45 * rng.dirichlet(np.ones(K))
            p[rng.integers(K)] += 0.55
            assert equilibrium(p, np.eye(K)).v == pytest.approx(np.eye(K)[p.argmax()], abs=1e-7)


@pytest.mark.seeded
def test_the_players_find_the_equilibrium():
    """One context, five games of 4000 bits: the value -.1 and both strategies, within their noise."""
    p, T, games = np.array([0.4, 0.3, 0.3]), 4000, 5
    learner = GameLearner(Classes(("a", "b", "c")), constant_model(), InverseSqrt(3.0))
    played = []
    for seed in range(games):
        y = np.random.default_rng(seed).choice(list("abc"), p=p, size=T)
        state = simulate(learner, np.zeros((T, 1)), Oracle(y), seed=seed, at=[]).state
        played.append(np.concatenate(learner.play(state)))
    error = np.std(played, axis=0, ddof=1) / np.sqrt(games)
    mean = np.mean(played, axis=0)
    assert error.max() < 0.08
    assert (np.abs(mean - [0.25, 0.375, 0.375, 0.5, 0.25, 0.25]) < 5 * error + 0.01).all()
    A = payoff(p, np.eye(3))
    assert float(mean[3:] @ A @ mean[:3]) == pytest.approx(-0.1, abs=0.02)
    assert gap(A, mean[:3], mean[3:]) < gap(A, np.eye(3)[0], np.eye(3)[0]) / 4


def test_the_players_gradients_are_unbiased():
    space = Classes(("a", "b", "c"))
    learner = GameLearner(space, constant_model())
    state = learner.init()
    for u, answer in ((0.1, True), (0.8, False), (0.5, True)):
        state = learner.tell(state, [0.0], learner.ask(state, [0.0], np.array([u])), answer)
    row = np.zeros((1, 1))

    def logits(at):
        players = learner._prediction.iterate(at.prediction, row), learner._query.iterate(at.query, row)
        return np.concatenate(players, axis=None)

    v, mu = learner.players(state, row)
    p = np.array([0.2, 0.5, 0.3])
    moves = np.zeros(6)
    for k, name in enumerate(space.names):
        start = 0.0
        while start < 1 - 1e-12:
            question = learner.ask(state, [0.0], np.array([start + 1e-13]))
            start += question.probability
            after = learner.tell(state, [0.0], question, question.answer(name))
            moved = logits(after) - logits(state)
            moves += p[k] * question.probability * moved
    A = payoff(p, np.eye(3))
    t = learner.count(state) + 1
    gamma = 0.5 * learner.step.gamma / np.sqrt(t)  # |phi|^2 = 1/2
    assert moves[:3] == pytest.approx(-gamma * (mu @ A), abs=1e-10)
    assert moves[3:] == pytest.approx(gamma / 3 * (A @ v), abs=1e-10)


# -- bad input --------------------------------------------------------------------------------------


def test_what_does_not_fit_says_what_would():
    restricted = SPACES["attributes that span"]
    with pytest.raises(IncompatibleParts, match="'designed', 'passive', 'full'"):
        set_strategy(restricted, Median(), "sphere")
    with pytest.raises(IncompatibleParts, match="may not be asked alone"):
        set_strategy(restricted, Median(), "singletons")
    with pytest.raises(IncompatibleParts, match=r"'squared' \(a loss matrix\)"):
        set_strategy(SPACES["costs"], Logistic(), "designed")
    with pytest.raises(InvalidArgument, match="questions must be one of: 'sphere'"):
        set_strategy(restricted, Median(), "mind reading")


WRONG = [Subset(("dog",)), Subset(("a", "b"), yes=(1.0,), no=(1.0,)), Reveal(3)]


@pytest.mark.parametrize("question", WRONG, ids=["unknown class", "another lesson", "another family"])
@pytest.mark.parametrize("family", ["sphere", "coordinates", "singletons", "designed", "full"])
def test_a_strategy_refuses_questions_that_are_not_its_own(family, question):
    with pytest.raises(InvalidArgument):
        set_strategy(SPACES["three"], Median(), family).teach(question, True, np.zeros(3))


def test_the_passive_strategy_learns_from_any_set_of_known_classes():
    strategy = Passive(SPACES["three"])
    for question in (Subset(("dog",)), Reveal(3), Subset(("a", "b", "c"))):
        with pytest.raises(InvalidArgument):
            strategy.teach(question, False, np.zeros(3))
