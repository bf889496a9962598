"""How often answers are wrong: one rate for everybody, from what other answers than exams say.

- gold: an answer about a known label is wrong with the probability e;
- overlap: two answers to one question differ with the probability 2 e (1 - e);
- checks: questions whose answer the model is all but sure of (``Kind.sure_question``): with p its chance of a yes, a yes
  has the probability e + (1 - 2 e) p.

The rate is the mean of the posterior on a grid, under a prior of mean .04 that counts as ten answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc

from askone._common.types import Array

_MEAN, _STRENGTH = 0.04, 10.0  # of the prior
_GRID = np.linspace(0.0, 0.45, 91)
_CERTAIN = 0.002  # the chance that the rate is below the least one


@final
class Slips(NamedTuple):
    """How often an answer is wrong, how well that is known, and how often at least, by gold and overlap alone."""

    rate: float
    deviation: float
    least: float = 0.0

    def of_majority(self, people: int) -> Slips:
        """Return the same of what most of some people answer.

        >>> round(Slips(0.1, 0.01).of_majority(3).rate, 9)
        0.028
        """
        if people == 1:
            return self
        slope = (_majority(people, self.rate + 1e-4) - _majority(people, self.rate)) / 1e-4
        return Slips(_majority(people, self.rate), slope * self.deviation, _majority(people, self.least))


NONE = Slips(0.0, 0.0)
"""Nobody errs."""


@final
class Evidence(NamedTuple):
    """Answers to gold questions, of which some were wrong; pairs of answers to one question, of which some differ."""

    gold: int = 0
    wrong: int = 0
    pairs: int = 0
    differ: int = 0


def slip_rate(evidence: Evidence, chances: Sequence[tuple[float, bool]] = ()) -> Slips:
    """Return the posterior of the rate; ``chances`` are those of a yes in checks, and what was answered.

    >>> [round(slip_rate(Evidence(gold, wrong)).rate, 2) for gold, wrong in ((0, 0), (30, 0), (1000, 150))]
    [0.04, 0.01, 0.15]
    """
    proved = _log(_GRID, evidence.wrong, evidence.gold) + _log(2 * _GRID * (1 - _GRID), evidence.differ, evidence.pairs)
    seen = proved + np.log(_prior())
    if chances:
        p, bits = np.array(chances).T
        yes = _GRID[:, None] + (1 - 2 * _GRID[:, None]) * np.clip(p, 0.0, 1.0)
        seen = seen + np.log(np.maximum(np.where(bits > 0, yes, 1 - yes), 1e-12)).sum(axis=1)
    weights = _normalised(seen)
    mean = float(weights @ _GRID)
    deviation = math.sqrt(float(weights @ (_GRID - mean) ** 2))
    sure = np.cumsum(_normalised(proved)) if evidence.gold + evidence.pairs else np.ones(1)
    return Slips(mean, deviation, float(_GRID[int(np.argmax(sure > _CERTAIN))]))


@cache
def _prior() -> Array:
    edges = np.concatenate([[0.0], (_GRID[1:] + _GRID[:-1]) / 2, [1.0]])
    return np.asarray(np.maximum(np.diff(betainc(_MEAN * _STRENGTH, (1 - _MEAN) * _STRENGTH, edges)), 1e-300))


def _log(rate: Array, hits: int, of: int) -> Array:
    """Return the log likelihood of a rate; 0 log 0 = 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(
            (hits * np.log(rate) if hits else 0.0) + ((of - hits) * np.log1p(-rate) if of > hits else 0.0)
        )


def _normalised(logs: Array) -> Array:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _majority(people: int, rate: float) -> float:
    """Return how often most of some people err, where most of them say the same."""
    wrong, right = (
        sum(math.comb(people, k) * one**k * (1 - one) ** (people - k) for k in range(people // 2 + 1, people + 1))
        for one in (rate, 1 - rate)
    )
    return wrong / (wrong + right)
