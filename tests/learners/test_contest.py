"""Learners judged by their forecasts: the contract, the rule by which they leave, who leads, the classifier."""

import math

import numpy as np
import pytest

from askone import Classes, OneBitClassifier, Oracle, Real, SetLikelihood, Subset
from askone.checks import check_learner
from askone.errors import InvalidArgument
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.learners.contest import Contest
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.session.simulation import simulate
from learner_samples import KNOWN_BY, NAMES, five
from samples import assert_sees_bits_only, models, reloaded, same, small_labels, small_rows

SPACE = Classes(NAMES)
KERNEL, LINE, WAVES = (
    SetLikelihoodLearner(SPACE, models()[name].features) for name in ("nystroem", "linear", "fourier")
)
ASKED = Classes(NAMES, attributes=KNOWN_BY)
ALL = {
    "long": Contest((KERNEL, LINE, WAVES), quick=(1,)),
    "short": Contest((KERNEL, LINE, WAVES), quick=(1,), first=4, last=20),
    "soon one": Contest((KERNEL, LINE), first=8, last=8),
    "one": Contest((KERNEL,)),
    "attributes": Contest(
        tuple(SetLikelihoodLearner(ASKED, models()[n].features) for n in ("linear", "fourier")), last=256
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_contracts(name):
    check_learner(ALL[name], small_rows(), five(40)[1])


def test_any_learner_that_forecasts_may_take_part():
    space = Real(-2, 2)
    members = tuple(FilterLearner(space, (models()[name].features,)) for name in ("linear", "nystroem"))
    check_learner(Contest(members, first=8, last=32), small_rows(), small_labels(1, 40))


def test_the_state_is_a_fold_of_the_answers():
    """The same questions and answers, told again, and with a trip through arrays at every step."""
    X, y = five(60)
    learner = ALL["short"]
    first = simulate(learner, X, Oracle(y), keep=True, at=[])
    state = again = learner.init()
    for x, one in zip(X, first.blocks, strict=True):
        state = learner.tell(state, x, one.question, one.answer)
        again = learner.from_arrays(learner.to_arrays(learner.tell(again, x, one.question, one.answer)))
    assert same(learner, state, again)
    assert learner.alive(state) == learner.alive(first.state)
    assert len(learner.alive(state)) == 1
    assert learner.count(state) == 60


def test_losses_and_standard_errors_are_those_of_the_forecasts():
    """Against plain sums over all answers, with their weights."""
    X, y = five(30)
    learner, rng = Contest((KERNEL, LINE)), np.random.default_rng(0)
    state, losses, keeps = learner.init(), [], []
    for x, label in zip(X, y, strict=True):
        question = learner.ask(state, x, rng.uniform(size=learner.width))
        answer = question.holds(label)
        keeps.append(1 - 1 / max(0.5 * learner.count(state), 50.0))
        yes = np.array([one.chance(part, x, question) for one, part in zip(learner.members, state.parts, strict=True)])
        said = yes if answer else 1 - yes
        losses.append(-np.log(0.99 * said + 0.005))
        state = learner.tell(state, x, question, answer)
    weights = np.array([math.prod(keeps[t + 1 :]) for t in range(30)])
    assert state.scores.losses == pytest.approx(weights @ np.array(losses))
    apart = np.array(losses)[:, 1] - np.array(losses)[:, 0]
    mean = weights @ apart / weights.sum()
    variance = weights @ (apart - mean) ** 2 / weights.sum()
    error = math.sqrt(variance * (weights**2).sum()) / weights.sum()
    assert state.scores.behind(0) == pytest.approx([0.0, mean / error])
    shares = np.exp(-state.scores.behind(int(np.argmin(state.scores.losses))))
    assert [w for w, _, _ in learner.weighted(state)] == pytest.approx(shares / shares.sum())
    mixed = sum(w * one.predict(part, X) for w, one, part in learner.weighted(state))
    assert learner.predict(state, X) == pytest.approx(mixed)


def coin(scale):
    """One feature, two classes, one prior: of a tiny scale it never leaves 1/2."""
    space = Classes(("yes", "no"))
    return SetLikelihoodLearner(space, Linear(Scaler.identity(1)), scales=(scale,), temperatures=(1.0,))


def told(learner, chance, n, seed):
    state, question, rng = learner.init(), Subset(("yes",)), np.random.default_rng(seed)
    for answer in rng.uniform(size=n) < chance:
        state = learner.tell(state, [1.0], question, bool(answer))
    return state


def test_the_truth_is_seldom_put_out_and_the_others_are():
    """A fair coin: the member that says 1/2 is true, the other one learns chance deviations.  And a coin of 0.95.

    With the fair coin the true member loses nothing to learn, so its expected gap is negative at every look; by the
    normal law, it is out at one of two looks with probability below 2 Phi(-2) < 0.046: the bound is five deviations
    above.  At 0.95 the gap is log 2 - 0.2 = 0.49 nats with deviation 0.64: 7 errors after 96 answers.
    """
    frozen, free = coin(1e-9), coin(3.0)
    learner = Contest((frozen, free), first=32, last=4096)
    wrong = sum(0 not in learner.alive(told(learner, 0.5, 64, seed)) for seed in range(20))
    assert wrong < 20 * 0.046 + 5 * math.sqrt(20 * 0.046 * 0.954)
    assert all(learner.alive(told(learner, 0.95, 128, seed)) == (1,) for seed in range(4))


def test_the_lead_changes_and_the_quick_put_nobody_out_before_the_end():
    frozen, free = coin(1e-9), coin(3.0)
    learner = Contest((frozen, free), first=4, last=64)
    state = told(learner, 0.9, 3, 0)
    assert learner.leading(learner.init())[0] is frozen
    assert learner.leading(state)[0] is free
    patient = Contest((frozen, free), quick=(1,), first=4, last=64)
    before, after = told(patient, 0.9, 63, 0), told(patient, 0.9, 64, 0)
    assert patient.alive(before) == (0, 1)
    assert patient.leading(before)[0] is free
    assert patient.alive(after) == (1,)
    assert patient.alive(told(patient, 0.9, 80, 0)) == (1,)


def test_who_may_yet_overtake_a_quick_leader_stays_after_the_end():
    """Answers are a coin's: whoever leads is not clearly ahead, and the other is not put out at ``last``."""
    near, far = coin(1e-9), coin(1e-8)
    learner = Contest((near, far), quick=(1,), first=4, last=64)
    for seed in range(8):
        state = told(learner, 0.5, 100, seed)
        leader = learner.leading(state)[0]
        assert learner.alive(state) == ((0, 1) if leader is far else (0,))


def test_labels_that_answer_alike_teach_alike():
    X, y = five(80)
    learner = ALL["short"]
    assert_sees_bits_only(learner, X, y, NAMES)


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"members": ()}, "members"), ({"members": 3}, "members"), ({"errors": -1.0}, "errors"), ({"first": 0}, "first"),
     ({"first": 8, "last": 4}, "last"), ({"quick": (2,)}, "quick"),
     ({"members": (KERNEL, SetLikelihoodLearner(Classes(("a", "b")), models()["linear"].features))}, "members"),
     ({"members": (SGDLearner(Real(-1, 1), models()["linear"]),)}, "members")],
)  # fmt: skip
def test_the_right_argument_is_named(options, argument):
    with pytest.raises(InvalidArgument) as refused:
        Contest(**{"members": (KERNEL, LINE)} | options)
    assert refused.value.argument == argument


# -- the classifier --------------------------------------------------------------------------------


def test_the_classifier_holds_one_unless_told_what_to_use():
    X, y = five(60)
    model = OneBitClassifier(NAMES, learner=SetLikelihood(n_components=30), random_state=0).fit(X, y)
    assert isinstance(model.stream_.learner.base.base.learner, Contest)
    for options in ({"bandwidth": 1.0}, {"model": "nystroem"}, {"model": "linear"}, {"kernel": "linear"}):
        learner = OneBitClassifier(NAMES, learner=SetLikelihood(**options)).start(X).stream_.learner
        assert isinstance(learner.base.learner, SetLikelihoodLearner)
    p = model.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(np.ones(60))
    back = reloaded(model)
    assert np.array_equal(back.predict_proba(X), p)
    question, same = model.ask(X[0]), back.ask(X[0])
    assert question == same
    assert np.array_equal(back.tell(same, True).predict_proba(X), model.tell(question, True).predict_proba(X))


@pytest.mark.parametrize("fine", [False, True])
def test_the_answers_choose_the_scale(fine):
    """Stripes finer than the median distance, and a slope among columns that do not matter."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1200, 1 if fine else 30))
    y = np.floor(8 * X[:, 0]).astype(int) % 2 if fine else (X[:, 0] > 0.2).astype(int)
    model = OneBitClassifier([0, 1], learner=SetLikelihood(n_components=60, fitted=False), random_state=0).start(X)
    learner, narrow = model.stream_.learner.base.learner, 2
    line = len(learner.members) - 1
    assert isinstance(learner.members[narrow].features, Nystroem)
    state = simulate(learner, X, Oracle(y), at=[]).state
    assert learner._leader(state) == (narrow if fine else line)


@pytest.mark.parametrize(("m", "first"), [(2, 256), (10, 256), (15, 576), (20, 1024), (40, 1024)])
def test_many_classes_are_judged_later(m, first):
    model = OneBitClassifier([f"class {k}" for k in range(m)], learner=SetLikelihood(fitted=False))
    contest = model.start(np.random.default_rng(0).normal(size=(80, 2))).stream_.learner.base.learner
    assert (contest.first, contest.last) == (first, 8 * first)
