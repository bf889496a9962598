"""Answers that respondents may deny: randomised response, what it costs, and what is left of a budget.

One bit about somebody is not private: whoever sees it knows it.  If the answer is flipped with the probability
pi = 1 / (1 + e^epsilon) before it leaves the respondent, every answer is nearly as likely under one truth as under
the other, by a factor of at most e^epsilon: it is epsilon-locally differentially private, whatever else is known.

>>> round(flip_probability(1.0), 3), round(answers_needed(1.0), 1)
(0.269, 4.7)

A learner is told how often answers are flipped, and learns the same from more of them:

>>> from askone import OneBitRegressor
>>> poll = OneBitRegressor(0, 100, flip=flip_probability(1.0), random_state=0)
"""

from __future__ import annotations

import math
import secrets
from typing import final

from askone._common.validate import as_flag, as_number
from askone.errors import BudgetSpent, InvalidArgument

_MOST = 1 << 53  # numbers that a uniform of full precision is drawn from


def flip_probability(epsilon: float) -> float:
    """Return pi = 1 / (1 + e^epsilon): how often randomised response says the contrary.

    >>> flip_probability(math.log(3))
    0.25
    """
    return 1.0 / (1.0 + math.exp(as_epsilon(epsilon)))


def kappa(epsilon: float) -> float:
    """Return (e^epsilon + 1) / (e^epsilon - 1) = 1 / (1 - 2 pi): by which gradients of flipped answers are scaled.

    With b the flipped answer, 2 b - 1 has the mean (1 - 2 pi) (2 y - 1), so kappa (2 b - 1) is unbiased for 2 y - 1.

    >>> round(kappa(math.log(3)), 12)
    2.0
    """
    return 1.0 / math.tanh(as_epsilon(epsilon) / 2.0)


def answers_needed(epsilon: float) -> float:
    """Return kappa^2: how many times as many answers are needed as without flips, for the same variance."""
    return kappa(epsilon) ** 2


def with_slips(epsilon: float, slip: float) -> float:
    """Return how often an answer is wrong that was wrong with the probability ``slip`` before it was flipped.

    pi (1 - s) + s (1 - pi)

    >>> round(with_slips(math.log(3), 0.1), 12)
    0.3
    """
    pi, s = flip_probability(epsilon), as_number(slip, "slip", 0.0, 1.0)
    return pi * (1.0 - s) + s * (1.0 - pi)


def randomized(answer: bool, epsilon: float) -> bool:
    """Return an answer that may be sent: flipped with 1 / (1 + e^epsilon), by the system's secure random numbers.

    No seed: whoever could draw the same numbers again would know the true answer.
    """
    return as_flag(answer, "answer") != (secrets.randbelow(_MOST) < flip_probability(epsilon) * _MOST)


def coin_toss() -> bool:
    """Return what is sent instead of an answer by somebody who gives none: as private as any, and told from none.

    Yes and no are as likely, which lies between what the two true answers make of them.
    """
    return bool(secrets.randbelow(2))


@final
class PrivacyBudget:
    """What somebody has spent: k answers of epsilon cost k epsilon, and beyond the budget nothing more is asked.

    >>> ann = PrivacyBudget(2.5)
    >>> ann.spend(1.0)
    >>> ann.spent, ann.left
    (1.0, 1.5)
    >>> ann.spend(2.0)
    Traceback (most recent call last):
    askone.errors.BudgetSpent: an answer of epsilon 2.0 is wanted, 1.5 of 2.5 left
    """

    def __init__(self, epsilon: float, spent: float = 0.0) -> None:
        self.epsilon = as_epsilon(epsilon)
        self.spent = as_number(spent, "spent", 0.0)

    @property
    def left(self) -> float:
        """What is left."""
        return max(0.0, self.epsilon - self.spent)

    def spend(self, epsilon: float) -> None:
        """Count an answer, or refuse it."""
        cost = as_epsilon(epsilon)
        if self.spent + cost > self.epsilon * (1.0 + 1e-12):
            raise BudgetSpent(f"an answer of epsilon {cost} is wanted, {self.left:g} of {self.epsilon:g} left")
        self.spent += cost


def as_epsilon(epsilon: object) -> float:
    """Return a privacy parameter, or refuse it."""
    found = as_number(epsilon, "epsilon", 0.0, strict=True)
    if not math.isfinite(found) or found > 30.0:
        raise InvalidArgument("epsilon", "a number above 0 and at most 30 (where nothing is flipped any more)", epsilon)
    return found
