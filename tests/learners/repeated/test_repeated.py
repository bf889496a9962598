"""Several questions per row: bisection until the label is known, and Algorithm 1 with memory."""

import json

import numpy as np
import pytest

from askone import SGD, Bisection, Classes, OneBitClassifier, OneBitRegressor, Stream
from askone._common import random_table
from askone.checks import check_learner
from askone.errors import AlreadyAsked, IncompatibleParts, InvalidArgument
from askone.labels.losses import Logistic
from askone.labels.number import Real
from askone.learners.gradients import FullGradient, MedianSphere, SquaredThreshold
from askone.learners.gradients.subset import FullLabel, Singletons, Sphere
from askone.learners.repeated.bisection import BisectedClasses, BisectedReal, huffman_split
from askone.learners.repeated.memory import RememberedClasses, RememberedReal
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import InverseSqrt, Polynomial
from askone.questions.half_space import HalfSpace
from askone.session.log import event_from_json
from askone.session.oracle import Oracle
from askone.session.replay import fold
from askone.session.simulation import resampled, simulate
from learner_samples import LETTERS as NAMES
from learner_samples import MODEL, classes_of
from learner_samples import REPEATED as LEARNERS
from samples import constant_model, models, small_labels, small_rows


def labels_for(learner, n=40):
    return small_labels(learner.space.m, n) if isinstance(learner.space, Real) else classes_of(n)


@pytest.mark.parametrize("name", LEARNERS)
def test_contracts(name):
    learner = LEARNERS[name]
    check_learner(learner, small_rows(), labels_for(learner))


@pytest.mark.parametrize("name", LEARNERS)
def test_no_answer_is_ever_implied_by_earlier_ones(name):
    """Both answers are possible for some label that agrees with all that was said about the row."""
    learner = LEARNERS[name]
    X, y = small_rows(12), labels_for(learner, 12)
    order = np.repeat(np.arange(12), 1) if learner.patient else resampled(12, 200)
    outcome = simulate(learner, X, Oracle(y, resample=True), order=order, keep=True, at=[])
    said = {i: [] for i in range(12)}
    for one in outcome.blocks:
        if isinstance(learner.space, Real):
            row, sign = int(one.rows[0]), (1 if one.answers[0] else -1)
            u, c = one.directions[0], one.thresholds[0]
            j = int(np.argmax(np.abs(u)))
            for before in said[row]:
                k, level, above = before
                assert k != j or (c > level if above else c < level)
            said[row].append((j, c, sign > 0))
        else:
            left = set(NAMES)
            for question, answer in said[one.row]:
                left &= set(question.members) if answer else set(NAMES) - set(question.members)
            inside = left & set(one.question.members)
            assert 0 < len(inside) < len(left)
            said[one.row].append((one.question, one.answer))
    assert outcome.asked == len(outcome.blocks)


def test_reals_are_found_to_the_precision_by_a_counted_number_of_questions():
    learner = BisectedReal(SGDLearner(Real([0, -5], [64, 5]), MODEL, FullGradient()), 1 / 16)
    X, y = small_rows(30), np.column_stack([np.linspace(1, 63, 30), np.linspace(-4, 4, 30)])
    oracle = Oracle(y, resample=True)
    outcome = simulate(learner, X, oracle, at=[])
    assert outcome.asked == oracle.questions == 30 * 2 * 4  # log2(2 / (2/16)) = 4 for each of two outputs
    assert oracle.labels_revealed == 0
    assert learner.rows_known(outcome.state) == 30
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        known = np.array(learner.known(outcome.state, x, i)).reshape(2, 2)
        middle = learner.space.from_unit(known.mean(axis=0))
        assert (np.abs(middle - label) <= [2.0 + 1e-9, 5 / 16 + 1e-9]).all()


def test_bisection_learns_what_full_labels_teach():
    """With labels on the grid that bisection ends on, its model is that of full supervision."""
    X = small_rows(50)
    y = np.round(small_labels(1, 50) * 8) / 8 + 1 / 16  # midpoints of cells of width 1/8 in [-2, 2]
    inner = SGDLearner(Real(-2, 2), MODEL, FullGradient())
    outcome = simulate(BisectedReal(inner, 1 / 32), X, Oracle(y, resample=True), at=[])
    full = simulate(inner, X, Oracle(y), at=[])
    assert np.allclose(inner.predict(outcome.state.inner, X), inner.predict(full.state, X), atol=1e-9)
    space = Classes(NAMES)
    surrogate = Surrogate(FullLabel(space, Logistic()), MODEL)
    names = classes_of(50)
    found = simulate(BisectedClasses(surrogate), X, Oracle(names, resample=True), at=[])
    revealed = simulate(surrogate, X, Oracle(names), at=[])
    assert np.allclose(surrogate.predict(found.state.inner, X), surrogate.predict(revealed.state, X))


def expected_questions(p):
    """Mean number of questions that repeated splits ask."""
    if len(p) < 2:
        return 0.0
    split = huffman_split(p)
    rest = [i for i in range(len(p)) if i not in split]
    return p.sum() + expected_questions(p[split]) + expected_questions(p[rest])


def test_huffman_costs_at_most_the_entropy_and_one():
    rng = np.random.default_rng(0)
    for K in (2, 3, 5, 10, 40):
        for concentration in (0.05, 0.5, 5.0):
            p = rng.dirichlet(np.full(K, concentration)) + 1e-12
            p /= p.sum()
            entropy = -(p * np.log2(p)).sum()
            assert entropy - 1e-9 <= expected_questions(p) <= entropy + 1 + 1e-9


def test_a_good_model_makes_one_question_enough():
    space, rng = Classes(("left", "middle", "right")), np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] < -0.5, "left", np.where(X[:, 0] > 0.5, "right", "middle"))
    learner = BisectedClasses(Surrogate(FullLabel(space), models()["nystroem"]))
    outcome = simulate(learner, X, Oracle(y, resample=True), keep=True, at=[])
    per_row = np.bincount([one.row for one in outcome.blocks])
    assert per_row[:20].mean() > 1.3
    assert per_row[-200:].mean() < 1.25


def test_memory_knows_rows_in_the_end_and_stops_asking():
    learner = LEARNERS["remembered classes"]
    X, y = small_rows(10), classes_of(10)
    oracle = Oracle(y, resample=True)
    outcome = simulate(learner, X, oracle, order=resampled(10, 500), at=[])
    assert learner.rows_known(outcome.state) == 10
    assert outcome.asked == oracle.questions < 10 * 6  # never more than K - 1 each
    for i, (x, name) in enumerate(zip(X, y, strict=True)):
        known = learner.known(outcome.state, x, i)
        assert [NAMES[k] for k in range(7) if known[k]] == [name]
        assert not learner.wants(outcome.state, x, i)
        assert learner.wants(outcome.state, x)  # without its key it is another row


def test_given_memory_the_gradient_is_still_exactly_unbiased():
    """Directions fixed, the pick enumerated: the mean over picks is the mean over directions."""
    space = Classes(NAMES)
    strategy, alone = Sphere(space, directions=3), Sphere(space, directions=1)
    left = np.array([True, False, True, True, False, False, True])
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = space.embedding.mean(axis=0) + 0.3 * rng.normal(size=7)
        uniform = rng.uniform(size=(3, 7))
        for k in np.flatnonzero(left):
            parts = [alone.ask(z, np.append(u, 0.5), 0) for u in uniform]
            target = np.mean([alone.teach(q, q.answer(NAMES[k]), z) for q in parts], axis=0)
            picks = [strategy.ask_among(z, np.append(uniform.ravel(), (i + 0.5) / 6), 0, left) for i in range(6)]
            mean = np.mean([strategy.teach(q, q.answer(NAMES[k]), z) for q in picks], axis=0)
            assert mean == pytest.approx(target, abs=1e-12)
            assert all(set(q.members) <= {NAMES[i] for i in np.flatnonzero(left)} for q in picks)


def test_memory_of_reals_takes_the_known_sign():
    learner = RememberedReal(SGDLearner(Real(-2, 2), MODEL))
    state, x = learner.init(), small_rows(1)[0]
    state = learner.tell(state, x, learner.ask(state, x, np.empty(0)), True)  # the label lies above 0
    before = learner.predict(state, [x])
    question = learner.ask(state, x, np.empty(0))
    assert question.threshold > 0
    state = learner.tell(state, x, question, False)
    assert learner.known(state, x)[0] == 0.0
    assert learner.predict(state, [x]) != before


def test_an_oracle_must_allow_it():
    learner = LEARNERS["bisected classes"]
    with pytest.raises(AlreadyAsked, match="resample=True"):
        simulate(learner, small_rows(3), Oracle(classes_of(3)))


def test_a_budget_ends_it_and_skips_pass_on():
    learner = LEARNERS["bisected classes"]
    X, y = small_rows(40), classes_of(40)
    oracle = Oracle(y, resample=True, skip=0.3, seed=1)
    outcome = simulate(learner, X, oracle, questions=50, at=[10, 20])
    assert outcome.asked == oracle.questions == 50
    assert learner.count(outcome.state) == 50 - oracle.skips


def test_wrong_answers_leave_something_to_know():
    learner = LEARNERS["bisected reals"]
    outcome = simulate(learner, small_rows(20), Oracle(small_labels(2, 20), resample=True, flip=0.3), at=[])
    assert np.isfinite(learner.predict(outcome.state, small_rows(20))).all()
    learner = LEARNERS["bisected classes"]
    outcome = simulate(learner, small_rows(20), Oracle(classes_of(20), resample=True, flip=0.3), at=[])
    assert learner.rows_known(outcome.state) == 20


@pytest.mark.parametrize("name", LEARNERS)
def test_a_question_of_another_family_is_refused(name):
    learner = LEARNERS[name]
    wrong = Singletons(Classes(NAMES)).ask(np.full(7, 1 / 7), np.array([0.5]), 0)
    other = wrong if isinstance(learner.space, Real) else HalfSpace((1.0,), 0.0)
    with pytest.raises(InvalidArgument):
        learner.tell(learner.init(), small_rows(1)[0], other, True)


def test_what_does_not_fit_is_refused():
    with pytest.raises(IncompatibleParts, match="'full'"):
        BisectedReal(SGDLearner(Real(-1, 1), MODEL, MedianSphere()))
    with pytest.raises(IncompatibleParts, match="'full'"):
        BisectedClasses(Surrogate(Sphere(Classes(NAMES)), MODEL))
    with pytest.raises(IncompatibleParts, match="'median', 'quantile'"):
        RememberedReal(SGDLearner(Real(-1, 1), MODEL, SquaredThreshold()))
    with pytest.raises(IncompatibleParts, match="'sphere'"):
        RememberedClasses(Surrogate(Singletons(Classes(NAMES)), MODEL))
    with pytest.raises(InvalidArgument, match="precision"):
        BisectedReal(SGDLearner(Real(-1, 1), MODEL, FullGradient()), 0.0)


def test_draws_are_those_of_the_questions():
    learner = LEARNERS["remembered classes"]
    X, y = small_rows(5), classes_of(5)
    outcome = simulate(learner, X, Oracle(y, resample=True), order=[0, 1, 2], keep=True, at=[], seed=9)
    state = learner.init()
    for i, one in enumerate(outcome.blocks):
        question = learner.ask(state, X[one.row], random_table.uniforms(9, i, 1, learner.width)[0])
        assert question == one.question
        state = learner.tell(state, X[one.row], question, one.answer)


def test_equal_rows_keep_their_own_labels():
    """Two contexts, four labels in five alike: rows are told apart by their number, not by their content."""
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0], size=(400, 1))
    y = np.where(rng.uniform(size=400) < 0.8, "a", "b")
    model = OneBitClassifier(["a", "b"], learner=Bisection(SGD(model="linear", step="sqrt")), random_state=0).fit(X, y)
    assert model.stream_.asked == 400
    share = np.mean(y[X[:, 0] == 0] == "a")
    assert model.predict_proba([[0.0]])[0, 0] == pytest.approx(share, abs=0.1)
    numbers = np.where(y == "a", 30.0, 70.0)
    halved = OneBitRegressor(0, 100, learner="bisection", decimals=None, random_state=0).fit(X, numbers)
    assert halved.stream_.asked == 400 * 5


def test_every_row_counts_alike_with_memory():
    """Rows whose labels are soon known are revisited: the geometric median is found as without memory."""
    p, names = [0.55, 0.15, 0.15, 0.15], list("abcd")
    strategy = Sphere(Classes(tuple(names)))
    found = []
    for seed in range(3):
        y = np.random.default_rng(seed).choice(names, p=p, size=300)
        learner = RememberedClasses(Surrogate(strategy, constant_model(), InverseSqrt(1.0), Polynomial()))
        order = resampled(300, 1500, seed)
        state = simulate(learner, np.zeros((300, 1)), Oracle(y, resample=True), order=order, seed=seed, at=[]).state
        found.append(learner.predict(state, [[0.0]])[0])
    # The target is the vertex (1, 0, 0, 0); without revisits it was (.73, .09, .09, .09).
    assert np.mean(found, axis=0)[0] > 0.87


def test_rounded_thresholds_never_turn_a_step_round():
    """A step goes towards the label, or the label lies within the rounding."""
    learner = RememberedReal(SGDLearner(Real(0, 100, decimals=0), MODEL))
    X, y = small_rows(30), 50 + 20 * small_labels(1, 30)
    state, grain = learner.init(), 1 / 50
    for i in resampled(30, 600).tolist():
        if not learner.wants(state, X[i], i):
            continue
        z = float(learner.inner.iterate(state.inner, X[i : i + 1])[0, 0])
        question = learner.ask(state, X[i], np.empty(0), i)
        state = learner.tell(state, X[i], question, question.answer(y[i]), i)
        moved = float(learner.inner.iterate(state.inner, X[i : i + 1])[0, 0]) - z
        residual = learner.space.to_unit(y[i])[0] - z
        assert moved * residual > 0 or abs(residual) <= 2 * grain


@pytest.mark.parametrize("questions", ["passive", "bisection", "designed", "singletons"])
def test_sets_too_many_to_list_keep_their_size(questions):
    X, names = small_rows(30), [f"c{i}" for i in range(40)]
    learner = "bisection" if questions == "bisection" else SGD(questions=questions)
    model = OneBitClassifier(names, max_set_size=3, learner=learner, random_state=0).start(X)
    assert all(len(question.members) <= 3 for question in model.ask(X))


def test_a_revisit_is_logged_and_replayed():
    learner, log = LEARNERS["remembered classes"], []
    stream = Stream(learner, resample=True, log=log.append)
    x = small_rows(1)[0]
    while stream.wants(x, "ann"):
        question = stream.ask(x, key="ann")
        stream.tell(question, question.answer("c"))
    before = stream.predict([x])
    stream.revisit(x, "ann")
    assert not np.array_equal(stream.predict([x]), before)
    events = [event_from_json(json.loads(json.dumps(event.to_json()))) for event in log]
    replayed = fold(learner, {"ann": x}, events)
    assert np.array_equal(learner.predict(replayed, [x]), stream.predict([x]))
