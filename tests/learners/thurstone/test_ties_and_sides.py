""" "About equal" as a third answer, and a liking for whatever is named first."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from askone import Thurstone, checks
from askone._common import random_table
from askone.errors import InvalidAnswer
from askone.estimators import OneBitRanker
from askone.features.maps import Intercept
from askone.labels.ranking import Ranking
from askone.learners.thurstone import _compiled
from askone.learners.thurstone.banks import default_bank
from askone.learners.thurstone.many import ManyItemsLearner
from askone.learners.thurstone.ranker import ThurstoneLearner
from askone.questions import question_from_json
from askone.questions.base import ErrorRates
from askone.questions.comparison import Prefer, PreferOrTie
from samples import reloaded

KINDS = (ThurstoneLearner, ManyItemsLearner)
NOWHERE = np.zeros(1)


def learner(kind, m, **options):
    return kind(Ranking(tuple(range(m)), embedding="items"), (default_bank(Intercept(1)),), **options)


def told(one, utilities, T, margin=None, side=0.0, seed=0):
    """Answers of people with noise 1, a margin within which items are about equal, and a liking for the first."""
    rng, state = np.random.default_rng(seed), one.init()
    for uniform in random_table.uniforms(seed, 0, T, one.width):
        question = one.ask(state, NOWHERE, uniform)
        gap = utilities[question.first] - utilities[question.second] + side + rng.normal()
        tie = margin is not None and abs(gap) < margin
        state = one.tell(state, NOWHERE, question, "about equal" if tie else bool(gap > 0))
    return state


@pytest.mark.parametrize(("delta", "q"), [(0.0, 1.0), (1.3, 0.4), (-2.0, 5.0), (4.0, 0.3), (-9.0, 2.0)])
@pytest.mark.parametrize("margin", [0.1, 0.7])
@pytest.mark.parametrize("heard", [1.0, 0.0, -1.0])
def test_one_step_has_the_posterior_moments(delta, q, margin, heard):
    """Against the integral of N(delta, q) times the likelihood; the slope in the margin by differences."""

    def chance(u, c):
        if heard == 0.0:
            return norm.cdf(c - abs(u)) - norm.cdf(-c - abs(u))
        return norm.cdf(heard * u - c)

    def moment(power, center=0.0, c=margin):
        ends = min(delta, 0.0) - 12 * math.sqrt(q), max(delta, 0.0) + 12 * math.sqrt(q)
        cuts = np.linspace(*ends, 25)

        def density(u):
            return (u - center) ** power * norm.pdf(u, delta, math.sqrt(q)) * chance(u, c)

        return math.fsum(quad(density, a, b, epsabs=0, epsrel=1e-9)[0] for a, b in pairwise(cuts))

    Z = moment(0)
    mean = moment(1) / Z
    log_z, a, b, slope = _compiled.compare(delta, q + 1.0, heard, margin, 0.0, 0.0, 1.0)
    assert math.isclose(math.exp(log_z), Z, rel_tol=1e-6)
    assert math.isclose(delta + a * q, mean, rel_tol=1e-6, abs_tol=1e-6)
    assert math.isclose(q - b * q * q, moment(2, mean) / Z, rel_tol=1e-5)
    nearby = [math.log(moment(0, c=margin + step)) for step in (-1e-4, 1e-4)]
    assert math.isclose(slope, (nearby[1] - nearby[0]) / 2e-4, rel_tol=1e-3, abs_tol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_margin_is_learnt_and_forecasts_add_up(kind):
    utilities = 2.0 * np.random.default_rng(1).normal(size=12)
    one = learner(kind, 12, ties=True)
    state = told(one, utilities, 600, margin=0.6)
    found = float(one.weights(state) @ np.exp(state.traits[:, 2]))
    assert 0.4 < found < 0.95
    question = PreferOrTie(0, 1)
    said = [one.learnt_and_said(state, NOWHERE, question, answer)[0] for answer in (True, "about equal", False)]
    assert math.isclose(sum(said), 1.0, rel_tol=1e-9)
    assert np.corrcoef(one.predict(state, [NOWHERE])[0], utilities)[0, 1] > 0.97


@pytest.mark.parametrize(("kind", "m"), [(ThurstoneLearner, 5), (ManyItemsLearner, 230)])
def test_the_contract_with_sides(kind, m):
    rng = np.random.default_rng(0)
    checks.check_learner(learner(kind, m, side=0.5), np.zeros((15, 1)), [rng.permutation(m) for _ in range(15)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", [0.0, 0.6])
def test_a_liking_for_the_first_is_learnt(kind, side):
    utilities = np.random.default_rng(1).normal(size=12)
    one = learner(kind, 12, side=0.5)
    state = told(one, utilities, 600, side=side)
    found = float(one.weights(state) @ state.traits[:, 0])
    assert abs(found - side) < 0.25
    there, back = (one.chance(state, NOWHERE, pair) for pair in (Prefer(0, 1), Prefer(1, 0)))
    assert (there + back > 1.1) == (side > 0)
    known = ErrorRates(0.1, 0.1)  # of people who are known, their rates say how they lean
    there, back = (one.chance(state, NOWHERE, pair.put_to(known)) for pair in (Prefer(0, 1), Prefer(1, 0)))
    assert math.isclose(there + back, 1.0, rel_tol=1e-9)


def test_ties_of_an_estimator():
    model = OneBitRanker(["tea", "coffee", "milk"], learner=Thurstone(ties=True), random_state=0)
    value = {"tea": 0.0, "coffee": 0.1, "milk": 3.0}
    for n in range(90):
        question = model.ask()
        gap = value[question.first] - value[question.second]
        answer = "about equal" if abs(gap) < 1 else (question.first if gap > 0 else question.second)
        model.tell(question, answer, person=("ann", "bob", None)[n % 3])
    assert question_from_json(question.to_json()) == question
    assert model.predict()[0] == "milk"
    assert model.ranks().shared.tolist() == [2, 2, 1]
    assert [model.people_[name].answers for name in ("ann", "bob")] == [30, 30]
    with pytest.raises(InvalidAnswer):
        model.tell(model.ask(), "both")
    assert (reloaded(model).decision_function() == model.decision_function()).all()
    again = model.refit(OneBitRanker(["tea", "coffee", "milk"], learner=Thurstone(ties=True), random_state=0))
    assert again.stream_.answered == 90
    assert again.predict()[0] == "milk"
