"""Randomised response: as private as it says, unbiased, and refused where it makes no sense."""

import math
import random

import numpy as np
import pytest
from scipy.stats import binom

import askone
from askone import checks, privacy
from askone.errors import AskoneError, BudgetSpent, InvalidArgument


@pytest.fixture(autouse=True)
def seeded(monkeypatch):
    """Secure random numbers from a seed, so that a test which passes passes everywhere."""
    lots = random.Random(7)
    monkeypatch.setattr("askone.privacy.secrets.randbelow", lots.randrange)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0, 10.0])
def test_the_ratio_of_chances_is_e_to_the_epsilon(epsilon):
    pi = privacy.flip_probability(epsilon)
    assert math.isclose((1 - pi) / pi, math.exp(epsilon), rel_tol=1e-9)
    assert math.isclose(privacy.kappa(epsilon), 1 / (1 - 2 * pi), rel_tol=1e-9)


@pytest.mark.parametrize("slip", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_scaled_answers_are_unbiased(epsilon, slip):
    """By enumeration: slip first, then flip; kappa (2 b - 1) / (1 - 2 s) averages to the true sign."""
    wrong = privacy.with_slips(epsilon, slip)
    pi = privacy.flip_probability(epsilon)
    assert math.isclose(wrong, sum(p for p in (slip * (1 - pi), (1 - slip) * pi)), rel_tol=1e-12)
    if slip < 0.5:
        for sign in (1.0, -1.0):
            mean = sum(p * value for p, value in ((1 - wrong, sign), (wrong, -sign)))
            assert math.isclose(privacy.kappa(epsilon) * mean / (1 - 2 * slip), sign, rel_tol=1e-9)


@pytest.mark.parametrize("answer", [True, False])
def test_answers_are_flipped_as_often_as_they_should(answer):
    """Within what 20,000 draws allow in all but one of a million cases."""
    n, pi = 20_000, privacy.flip_probability(1.0)
    flips = sum(privacy.randomized(answer, 1.0) != answer for _ in range(n))
    assert binom.ppf(5e-7, n, pi) <= flips <= binom.ppf(1 - 5e-7, n, pi)


def test_the_audit_tells_private_mechanisms_from_others():
    checks.check_private(lambda answer: privacy.randomized(answer, 1.0), 1.0)
    checks.check_private(lambda _: True, 0.1)
    for mechanism in (lambda answer: answer, lambda answer: privacy.randomized(answer, 1.5)):
        with pytest.raises(AssertionError, match="is not 1-private"):
            checks.check_private(mechanism, 1.0)


def test_a_poll_of_flipped_answers_learns_the_same():
    """The median of 4,000 people who flip at epsilon 1 is found: within 4 deviations of what flips leave."""
    rng = np.random.default_rng(0)
    labels = rng.normal(40, 10, size=4000)
    poll = askone.OneBitRegressor(0, 100, flip=privacy.flip_probability(1.0), random_state=0, keep_log=False)
    poll.start(np.zeros((3, 1)))
    for label in labels:
        question = poll.ask([0.0])
        poll.tell(question, privacy.randomized(bool(question.holds(label)), 1.0))
    deviation = privacy.kappa(1.0) * 10 * math.sqrt(math.pi / 2 / len(labels))
    assert abs(poll.predict([[0.0]]).item() - 40) < 4 * deviation


def test_a_budget_is_spent_once():
    ann = privacy.PrivacyBudget(3.0)
    for _ in range(3):
        ann.spend(1.0)
    with pytest.raises(BudgetSpent, match=r"an answer of epsilon 1.0 is wanted, 0 of 3 left"):
        ann.spend(1.0)
    assert ann.spent == 3.0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "one", None, 31])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    for call in (privacy.flip_probability, privacy.kappa, privacy.PrivacyBudget):
        with pytest.raises((InvalidArgument, AskoneError), match="epsilon"):
            call(epsilon)
