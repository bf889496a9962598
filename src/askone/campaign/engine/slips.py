"""How often answers are wrong: one rate for everybody, from what other answers than exams say.

- gold: an answer about a known label is wrong with the probability e;
- overlap: of m answers to one question, j say one thing and m - j the other with a probability in proportion to
  e^j (1 - e)^(m - j) + e^(m - j) (1 - e)^j, whichever is true; two differ with the probability 2 e (1 - e);
- checks: questions whose answer the model is all but sure of (``Kind.sure_question``): with p its chance of a yes, the
  answer is yes with the probability e + (1 - 2 e) p.

The rate is the mean of the posterior on a grid, under a prior of mean .05 that counts as six answers.  Private answers
are flipped after that with a probability pi that is known: they are wrong with pi + (1 - 2 pi) e.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc

from askone._common.types import Array

_MEAN, _STRENGTH = 0.05, 6.0  # of the prior
_GRID = np.linspace(0.0, 0.45, 91)
_LEVEL = 0.02  # of either end
_CERTAIN = 0.002  # the chance that the rate is below the least one


@final
class Slips(NamedTuple):
    """How often an answer is wrong, between which ends that lies in 96 of 100 cases, and the least it can be.

    ``least`` is by gold and overlap alone, and for certain.  ``shown`` is the lower end by these alone: a check about a
    number cannot tell a slip from a label that is far off.
    """

    rate: float = 0.0
    low: float = 0.0
    high: float = 0.0
    least: float = 0.0
    shown: float = 0.0

    @property
    def deviation(self) -> float:
        """How well the rate is known, as a standard deviation."""
        return (self.high - self.low) / 4

    def of_majority(self, people: int) -> Slips:
        """Return the slips of a majority: how often most of ``people`` are wrong at once.

        >>> round(Slips(0.1).of_majority(3).rate, 9)
        0.028
        """
        return self if people == 1 else Slips(*(_majority(people, rate) for rate in self))


NONE = Slips()
"""Nobody errs."""


@final
class Evidence(NamedTuple):
    """Answers to gold questions, of which some were wrong; how many said yes and no to each question with several."""

    gold: int = 0
    wrong: int = 0
    splits: Sequence[tuple[int, int]] = ()


def slip_rate(evidence: Evidence, chances: Sequence[tuple[float, bool]] = (), flip: float = 0.0) -> Slips:
    """Return the posterior of the rate; ``chances`` are those of a yes in checks, and what was answered.

    ``flip`` is how often answers are flipped to be private; it is in the rates that are returned.

    >>> [round(slip_rate(Evidence(gold, wrong)).rate, 2) for gold, wrong in ((0, 0), (30, 0), (1000, 150))]
    [0.05, 0.01, 0.15]
    """
    wrong = flip + (1 - 2 * flip) * _GRID
    proved = _log(wrong, evidence.wrong, evidence.gold) + _log_of_splits(wrong, evidence.splits)
    known = seen = proved + np.log(_prior())
    if chances:
        p, bits = np.array(chances).T
        yes = wrong[:, None] + (1 - 2 * wrong[:, None]) * np.clip(p, 0.0, 1.0)
        seen = seen + np.log(np.maximum(np.where(bits > 0, yes, 1 - yes), 1e-12)).sum(axis=1)
    weights = _normalised(seen)
    mean = float(weights @ wrong)
    low, high = (_quantile(wrong, weights, level) for level in (_LEVEL, 1 - _LEVEL))
    least = _quantile(wrong, _normalised(proved), _CERTAIN) if evidence.gold or evidence.splits else flip
    shown = min(low, _quantile(wrong, _normalised(known), _LEVEL))
    return Slips(mean, min(low, mean), max(high, mean), least, shown)


def _quantile(wrong: Array, weights: Array, level: float) -> float:
    return float(wrong[int(np.argmax(np.cumsum(weights) >= level))])


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


def _log_of_splits(rate: Array, splits: Sequence[tuple[int, int]]) -> Array:
    """Return the log likelihood of a rate; pairs of m answers would be m - 1 times as many as they tell."""
    found = np.zeros(len(rate))
    with np.errstate(divide="ignore"):
        for (few, many), questions in Counter((min(split), max(split)) for split in splits).items():
            found += questions * np.log(rate**few * (1 - rate) ** many + rate**many * (1 - rate) ** few)
    return found


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
