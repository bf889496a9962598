"""Questions that measure: the error of the model from answers alone.

A question at the model's own prediction is a coin toss: it teaches most, and says nothing of how good the model
is.  So a part of the questions (``exam_share``) is drawn to measure, at the state of the moment, before the
answer is learnt.  Each answer has a *score*, fixed when the question is asked, whose mean is the error: see
``Kind.exam``.

A learner with a likelihood learns from these answers as from any other.
"""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np

from askone._common.types import Array

_STAKES = np.array([1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.8])
ALPHA = 0.05
"""The probability that a target is taken for reached which is not."""
FIRST = 10
"""Scores before a curve begins: fewer say next to nothing."""


@final
class Measured(NamedTuple):
    """The measured error after so many answers, with an interval of two standard errors."""

    n: int
    value: float
    low: float
    high: float


def curve(scores: list[tuple[int, float, float]], most: int = 40, share: bool = False) -> list[Measured]:
    """Return the measured error along the campaign: at each point, of the later half of the scores so far.

    ``scores`` are (answers learnt, score, the most that it could have been); a ``share`` lies between 0 and 1, and
    its interval is Wilson's.

    >>> curve([(n, 1.0, 1.0) for n in range(10, 60)], share=True)[-1].high
    1.0
    """
    if len(scores) < FIRST:
        return []
    values = np.array([pair for _, *pair in scores])
    ends = sorted({round(FIRST * (len(scores) / FIRST) ** (i / max(most - 1, 1))) for i in range(most)})
    return [_point(scores[end - 1][0], values[min(end // 2, end - FIRST) : end], share) for end in ends]


def _point(n: int, pairs: Array, share: bool) -> Measured:
    values, weights = pairs.T
    mean, count = float(values.mean()), len(values)
    if share:
        z = 2.0
        middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
        half = z * math.sqrt(mean * (1 - mean) / count + z * z / (4 * count * count)) / (1 + z * z / count)
        return Measured(n, mean, max(0.0, min(middle - half, mean)), min(1.0, max(middle + half, mean)))
    # One more score of the usual weight in the variance: else a run of zeros would claim to be exact.
    square = float(((values - mean) ** 2).sum() + weights.mean() ** 2)
    error = 2.0 * math.sqrt(square / (count * (count - 1)))
    return Measured(n, mean, max(0.0, mean - error), mean + error)


def reached(errors: list[tuple[float, float]], target: float) -> bool:
    """Return whether scored errors, each with the most that it could have been, say: their mean is below the target.

    Somebody bets against "the mean error m is at least t".  At the score e_i, at most M_i, a stake of l / M_i makes
    1 + l (t - e_i) / M_i of what they have, which is no gain on average while m >= t.  So whoever looks however often
    sees it grow to 1 / alpha with a probability of at most alpha (Ville's inequality), here 1 in 20.  As the error
    falls during a campaign, the bets begin at several places; the money is divided between them and between stakes.

    >>> reached([(0.0, 1.0)] * 40, 0.1), reached([(0.0, 1.0)] * 90, 0.1), reached([(0.0, 1.0), (1.0, 1.0)] * 90, 0.1)
    (False, True, False)
    """
    return bool(errors) and _wealth(errors, target) >= 1 / ALPHA


def _wealth(errors: list[tuple[float, float]], target: float) -> float:
    """Return what 1 has become by these bets."""
    values, most = np.array(errors).T
    growth = np.log1p(_STAKES[:, None] * (target - values) / np.maximum(most, target))
    wealth = np.concatenate([np.zeros((len(_STAKES), 1)), np.cumsum(growth, axis=1)], axis=1)
    places = np.unique([0, *(2.0 ** np.arange(0.0, math.log2(len(errors)) + 1e-9, 0.5)).astype(np.int64)])
    begun = places[places < len(errors)]
    share = 1.0 / ((np.arange(len(begun)) + 1) * (np.arange(len(begun)) + 2))
    return float((share * np.exp(wealth[:, -1:] - wealth[:, begun]).mean(axis=0)).sum())


def continued(points: list[Measured], share: bool, times: float = 4.0) -> list[Measured] | None:
    """Return where the error is heading: log error on log answers, a line through the later half, of slope -1 to 0.

    None where there is too little to go by.  The interval is two standard errors of the line around it.
    """
    errors = [(point.n, 1 - point.value if share else point.value) for point in points[len(points) // 2 :]]
    known = np.array([(math.log(n), math.log(error)) for n, error in errors if n > 0 and error > 0])
    if len(known) < 5 or np.ptp(known[:, 0]) < 0.3:
        return None
    x, y = known.T
    slope = float(np.clip(np.cov(x, y)[0, 1] / np.var(x, ddof=1), -1.0, 0.0))
    middle = float(np.mean(y - slope * x))
    spread = float(np.std(y - slope * x - middle, ddof=2))
    last, ends = points[-1].n, []
    for step in np.linspace(0.0, 1.0, 9):
        n = last * times**step
        error = math.exp(middle + slope * math.log(n))
        far = (math.log(n) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
        wide = math.exp(2 * spread * math.sqrt(1 / len(x) + far))
        low, high = error / wide, error * wide
        if share:
            error, low, high = 1 - error, max(0.0, 1 - high), min(1.0, 1 - low)
        ends.append(Measured(round(n), error, low, high))
    return ends
