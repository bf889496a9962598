"""The learner by the likelihood of sets: derivatives, fits, bounded memory, questions, forecasts, the estimator."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import askone
import askone.datasets
from askone import Classes, OneBitClassifier, Oracle, SetLikelihood, Subset
from askone.checks import check_learner
from askone.errors import InvalidArgument
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.learners.abilities import Forecasts, able
from askone.learners.forgetting import Forgetting
from askone.learners.mixture.classes import ClassMixture
from askone.learners.people.crowd import CrowdLearner
from askone.learners.softmax import _compiled, classifier
from askone.learners.softmax._compiled import Prior
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.session.simulation import simulate
from learner_samples import BY_LIKELIHOOD as ALL
from learner_samples import FEATURES, KNOWN_BY, NAMES, PAIRS, five
from samples import assert_sees_bits_only, reloaded, small_rows


@pytest.mark.parametrize("name", ALL)
def test_contracts(name):
    check_learner(ALL[name], small_rows(), five(40)[1])


@pytest.mark.parametrize("name", ALL)
def test_what_is_known_ahead_asks_and_teaches_the_same(name):
    """To the last bit, while a state that was not opened stays as it was."""
    learner, (X, y), rng = ALL[name], five(40), np.random.default_rng(0)
    state, known = learner.init(), learner.ahead(X)
    first, written = state, learner.opened(state)
    for x, phi, label in zip(X, known, y, strict=True):
        uniform = rng.uniform(size=learner.width)
        question = learner.ask(state, x, uniform)
        assert learner.ask_ahead(written, phi, uniform) == question
        said, state = learner.learnt_and_said(state, x, question, question.holds(label))
        again, written = learner.learnt_ahead(written, phi, question, question.holds(label))
        assert again == said
    for one, other in ((state, written), (first, learner.init())):
        arrays = learner.to_arrays(one)
        assert all(np.array_equal(array, arrays[key]) for key, array in learner.to_arrays(other).items())


def problem(n=30, p=4, K=2, m=5, seed=0):
    rng = np.random.default_rng(seed)
    Phi, W = rng.normal(size=(n, p)), rng.normal(size=(p, K, m))
    cells = (rng.uniform(size=(n, m)) < 0.5).astype(float)
    cells[:, 0], cells[:, 1] = 1.0, 0.0
    precision = np.broadcast_to(np.array([0.5, 4.0])[:K, None], (p, K, m)).copy()
    return Phi, cells, W, Prior(precision, rng.normal(size=(p, K, m)))


@pytest.mark.parametrize("flip", [0.0, 0.2])
def test_gradients_are_those_of_the_loss(flip):
    Phi, cells, W, prior = problem()
    cells = flip + (1 - 2 * flip) * cells
    gradient = _compiled.terms_of(Phi, cells, W, prior).gradient
    for place in np.ndindex(W.shape):
        nudge = np.zeros_like(W)
        nudge[place] = 1e-6
        up, down = (_compiled.terms_of(Phi, cells, W + s * nudge, prior).value[place[1]] for s in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("flip", [0.0, 0.2])
def test_the_information_is_the_mean_square_of_the_gradient(flip):
    """f d d^T is E[g g^T] over the two answers, exactly."""
    z, inside = np.array([[[0.3, -1.0, 0.8, 0.1]]]), np.array([[1.0, 0.0, 1.0, 0.0]])
    p = np.exp(z[0, 0]) / np.exp(z[0, 0]).sum()
    inside = flip + (1 - 2 * flip) * inside
    yes = float(p @ inside[0])
    mean, phi = np.zeros((4, 4)), np.ones((1, 1))
    for chance, cell in ((yes, inside), (1 - yes, 1 - inside)):
        terms = _compiled.terms_of(phi, cell, z.reshape(1, 1, 4), None)
        g = terms.gradient[0, 0]
        mean += chance * np.outer(g, g)
        assert terms.value[0] == pytest.approx(-np.log(chance))
    assert mean == pytest.approx(terms.F[0, 0] * np.outer(terms.D[0, 0], terms.D[0, 0]))


def test_a_newton_step_is_that_of_the_dense_matrix(monkeypatch):
    """Enough conjugate gradients solve (prior + information) step = -gradient, in float64."""
    Phi, cells, W, prior = problem(K=1, p=1, m=5)  # five unknowns, six iterations
    terms = _compiled.terms_of(Phi, cells, W, prior)
    dense = np.diag(prior.precision[0, 0]) + sum(
        f * x * x * np.outer(d, d) for f, d, x in zip(terms.F[:, 0], terms.D[:, 0], Phi[:, 0], strict=True)
    )
    diagonal = prior.precision + _compiled.information(Phi.T.copy(), terms.F, terms.D)
    assert diagonal[0, 0] == pytest.approx(np.diag(dense))
    monkeypatch.setattr(_compiled, "_ENOUGH", 0.0)
    step, _ = _compiled._newton_step(Phi, Phi.T.copy(), terms, prior, diagonal)
    assert step[0, 0] == pytest.approx(np.linalg.solve(dense, -terms.gradient[0, 0]), rel=1e-6, abs=1e-9)


def test_a_refit_never_climbs_and_ends_at_the_maximum():
    Phi, cells, W, prior = problem(n=200)
    values = []
    for _ in range(100):
        values.append(_compiled.terms_of(Phi, cells, W, prior).value)
        W = _compiled.refit(Phi, cells, W, prior).W
    assert (np.diff(values, axis=0) <= 1e-9).all()
    assert np.abs(_compiled.terms_of(Phi, cells, W, prior).gradient).max() < 1e-4


def test_one_step_is_the_damped_natural_gradient():
    Phi, cells, W, _ = problem(n=1)
    K, m = W.shape[1:]
    variance, damping = np.random.default_rng(1).uniform(0.1, 2.0, size=W.shape), np.array([1.0, 3.0])
    terms = _compiled.terms_of(Phi, cells, W, None)
    v = np.einsum("i,ikj->kj", Phi[0] ** 2, variance)
    believed = terms.F[0] * np.sum(terms.D[0] ** 2 * v, axis=1)
    expected = W - variance * terms.gradient / (damping * (1 + believed))[:, None]
    moved = W.copy()
    Z = np.einsum("i,ikj->kj", Phi[0], W)[None]
    _compiled.step_once(moved.reshape(-1, K * m), variance.reshape(-1, K * m), Phi[0], cells[0], damping, Z)
    assert moved == pytest.approx(expected)


def test_memory_is_bounded_and_what_is_forgotten_still_counts(monkeypatch):
    """A store of 256 bits for 3000 answers: nearly as good as keeping all, positive precisions, no drift."""
    X, y = five(3000)
    whole = SetLikelihoodLearner(Classes(NAMES), Nystroem.from_rows(X, 40))
    everything = simulate(whole, X, Oracle(y), at=[]).state
    monkeypatch.setattr(classifier, "_STORED", 1)
    small = SetLikelihoodLearner(Classes(NAMES), Nystroem.from_rows(X, 40))
    assert small.capacity == 256 < 3000 < whole.capacity
    state = simulate(small, X, Oracle(y), at=[]).state
    assert small.to_arrays(state)["store"].shape[0] < 256
    assert small.count(state) == 3000
    test, truth = five(1000, 9)
    error, best = (
        np.mean(one.space.decode(one.predict(s, test), test)[:, 0] != truth)
        for one, s in ((small, state), (whole, everything))
    )
    assert best < 0.08
    assert error < best + 0.05
    assert all((np.isfinite(array).all()) for array in small.to_arrays(state).values())
    assert (state.prior.precision > 1 / 80 - 1e-12).all()
    assert (state.variance > 0).all()


def test_forgetting_does_not_move_the_fit():
    X, y = five(300)
    learner = ALL["classes"]
    state = simulate(learner, X, Oracle(y), at=[]).state
    before, after = state, learner._forgotten(state)

    def gradient(state):
        rows = state.store.view(state.counts[3])
        p = learner.features.size
        return _compiled.terms_of(rows[:, :p], rows[:, p:], state.W, state.prior).gradient

    assert after.counts[3] == 150
    assert gradient(after) == pytest.approx(gradient(before), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_extreme_priors_and_contradictions_stay_finite(scale):
    """The same row with opposite answers, thousands of times, under absurd priors."""
    learner = SetLikelihoodLearner(Classes(("a", "b", "c")), Linear(Scaler.identity(1)), scales=(scale,))
    state, question = learner.init(), Subset(("a",))
    for i in range(600):
        state = learner.tell(state, [1e3 if i % 3 else 1.0], question, i % 2 == 0)
    assert np.isfinite(learner.predict(state, [[1e3], [1.0], [-1e3]])).all()
    assert (state.variance > 0).all()


@pytest.mark.parametrize("name", ["classes", "attributes", "sets", "flips", "costs"])
def test_labels_that_answer_alike_teach_alike(name):
    learner = ALL[name]
    X, y = five(80)
    assert_sees_bits_only(learner, X, y, NAMES)


def test_only_allowed_sets_are_asked():
    X, _ = five(60)
    rng = np.random.default_rng(0)
    for name, allowed in (
        ("attributes", {frozenset(v) for v in KNOWN_BY.values()}),
        ("sets", set(map(frozenset, PAIRS))),
    ):
        learner = ALL[name]
        state = simulate(learner, X, Oracle(five(60)[1]), at=[]).state
        asked = learner.ask_many(state, X, rng.uniform(size=(60, learner.width)))
        assert {frozenset(q.members) for q in asked} <= allowed
        assert all(0 < q.probability < 1 for q in asked)
    asked = ALL["small sets"].ask_many(ALL["small sets"].init(), X, rng.uniform(size=(60, 5)))
    assert {len(q.members) for q in asked} == {1}
    assert len({q.members for q in asked}) == 5


def test_listed_sets_are_drawn_with_their_probability():
    """The unit interval is cut in lengths that are the probabilities said."""
    learner = ALL["attributes"]
    state = simulate(learner, *_seen(60), at=[]).state
    grid = (np.arange(2000) + 0.5)[:, None] / 2000
    asked = learner.ask_many(state, np.tile(small_rows(1), (2000, 1)), grid)
    for title in KNOWN_BY:
        said = {q.probability for q in asked if q.title == title}
        assert len(said) == 1
        assert np.mean([q.title == title for q in asked]) == pytest.approx(said.pop(), abs=1e-3)


def _seen(n):
    X, y = five(n)
    return X, Oracle(y)


@pytest.mark.parametrize("name", ["classes", "flips", "costs"])
def test_chances_are_those_of_one_distribution(name):
    learner = ALL[name]
    state = simulate(learner, *_seen(100), at=[]).state
    x = small_rows(1)[0]
    singles = np.array([learner.chance(state, x, Subset((name,))) for name in NAMES])
    flip = learner.flip
    p = (singles - flip) / (1 - 2 * flip)
    assert p.sum() == pytest.approx(1.0)
    assert (p > 0).all()
    assert learner.chance(state, x, Subset(NAMES[:2])) == pytest.approx(flip + (1 - 2 * flip) * p[:2].sum())
    assert able(learner, Forecasts)
    worth = learner.worth(state, small_rows(20))
    p = np.sort(learner.probabilities(state, small_rows(20)), axis=1)
    assert worth == pytest.approx(1 - p[:, -1] + p[:, -2], rel=1e-9)


def test_every_row_is_as_good_as_another_while_nothing_is_known():
    X, y = five(400)
    learner = SetLikelihoodLearner(Classes(NAMES), Nystroem.from_rows(X, 60))
    assert not learner.worth(learner.init(), X).any()
    assert learner.worth(simulate(learner, X, Oracle(y), at=[]).state, X).any()


def test_questions_of_others_are_learnt_in_any_order():
    """Single classes asked by somebody else, told in reverse, teach the same law."""
    X, y = five(600)
    learner = SetLikelihoodLearner(Classes(NAMES), Nystroem.from_rows(X, 60))
    state, rng = learner.init(), np.random.default_rng(0)
    for i in reversed(range(600)):
        question = Subset((str(rng.choice(NAMES)),), learnt=i)
        state = learner.tell(state, X[i], question, question.holds(y[i]))
    test, truth = five(500, 9)
    assert np.mean(learner.space.decode(learner.predict(state, test), test)[:, 0] == truth) > 0.75


def test_wrong_questions_are_refused():
    learner, x = ALL["classes"], small_rows(1)[0]
    for question in (Subset(("unicorn",)), Subset(NAMES), askone.HalfSpace((1.0,), 0.0)):
        with pytest.raises(InvalidArgument, match="question"):
            learner.tell(learner.init(), x, question, True)


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"flip": 0.5}, "flip"), ({"scales": ()}, "scales"), ({"scales": (0.0,)}, "scales"),
     ({"temperatures": 3}, "temperatures"), ({"features": None}, "features"), ({"space": None}, "space")],
)  # fmt: skip
def test_the_right_argument_is_named(options, argument):
    with pytest.raises(InvalidArgument) as refused:
        SetLikelihoodLearner(**{"space": Classes(NAMES), "features": FEATURES} | options)
    assert refused.value.argument == argument


# -- the estimator ---------------------------------------------------------------------------------


def test_it_is_the_default():
    X, _ = five(30)
    learner = OneBitClassifier(NAMES).start(X).stream_.learner.base
    assert isinstance(learner, ClassMixture)
    assert all(isinstance(member, SetLikelihoodLearner) for member in learner.base.learner.members)
    plain = OneBitClassifier(NAMES, learner=SetLikelihood(fitted=False)).start(X).stream_.learner
    assert isinstance(plain.base, Forgetting)
    for learner in ("sgd", "rls", "game", "bisection", "memory"):
        model = OneBitClassifier(NAMES, learner=learner).start(X)
        assert not isinstance(model.stream_.learner, Forgetting | CrowdLearner)


def test_growing_models_are_refused_by_the_likelihood():
    with pytest.raises(InvalidArgument, match="model must be one of: 'linear', 'nystroem', 'fourier'"):
        OneBitClassifier(NAMES, learner=SetLikelihood(model="kernel")).start(five(30)[0])


def test_other_wrong_arguments():
    for options, argument in (
        ({"learner": "best"}, "learner"),
        ({"flip": 0.7}, "flip"),
        ({"flip": 0.1, "learner": "rls"}, "flip"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            OneBitClassifier(NAMES, **options).start(five(30)[0])
        assert refused.value.argument == argument


def test_flips_that_are_known_are_allowed_for():
    """One answer in five is wrong: forecasts say so, and the classes are still found."""
    X, y = five(1500)
    model = OneBitClassifier(NAMES, flip=0.2, learner=SetLikelihood(n_components=60), random_state=0).fit(
        X, Oracle(y, flip=0.2, seed=1)
    )
    assert model.score(*five(1000, 9)) > 0.8
    learner, state = model.stream_.learner, model.stream_.state
    chances = [learner.chance(state, x, Subset((name,))) for x in X[:20] for name in NAMES]
    assert 0.2 - 1e-9 <= min(chances) <= max(chances) <= 0.8 + 1e-9


def test_probabilities_follow_the_truth():
    """A coin with a known bias on each side: within five standard errors of a fit to labels, times two for bits."""
    rng, n = np.random.default_rng(0), 4000
    X = rng.choice([-1.0, 1.0], size=(n, 1))
    p = np.where(X > 0, [[0.7, 0.2, 0.1]], [[0.1, 0.3, 0.6]])
    y = np.array(["a", "b", "c"])[(rng.uniform(size=(n, 1)) > np.cumsum(p, axis=1)).sum(axis=1)]
    model = OneBitClassifier(["a", "b", "c"], learner=SetLikelihood(model="linear"), random_state=0).fit(X, y)
    bound = 2 * 5 * np.sqrt(0.25 / (n / 2))
    assert model.predict_proba([[1.0], [-1.0]]) == pytest.approx(
        np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), abs=bound
    )


def test_few_rows_and_no_rows():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    few = OneBitClassifier(random_state=0).fit(X[order[:100]], y[order[:100]])  # fewer rows than components
    assert few.score(X[order[100:]], y[order[100:]]) > 0.8
    model = OneBitClassifier(["a", "b"], random_state=0)
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        question = model.ask([0.5])
    model.tell(question, True)
    open_ = model.ask([-1.0])
    back = reloaded(model)
    grid = np.linspace(-2, 2, 9)[:, None]
    assert np.array_equal(back.tell(open_, False).predict_proba(grid), model.tell(open_, False).predict_proba(grid))


def test_two_classes_with_labels_nobody_tuned_on():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    model = OneBitClassifier(learner=SetLikelihood(n_components=100), random_state=0).fit(
        X[order[:380]], y[order[:380]]
    )
    assert model.score(X[order[380:]], y[order[380:]]) > 0.88
    assert ((model.decision_function(X) > 0) == (model.predict(X) == 1)).all()


@pytest.mark.parametrize("data", ["pendigits"])
def test_real_digits_from_a_thousand_bits(data, data_directory):
    rows = askone.datasets.load(data, data_directory)
    X, y = rows.X[:1000], rows.y[:1000].astype(int)
    model = OneBitClassifier(range(10), learner=SetLikelihood(n_components=300), random_state=0).fit(X, y)
    assert (
        np.mean(model.predict_proba(rows.X[1000:4000]).argmax(axis=1) != rows.y[1000:4000]) < 0.08
    )  # 0.035 on average; stochastic gradients: 0.13
