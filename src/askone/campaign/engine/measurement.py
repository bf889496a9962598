"""Questions that measure: the error of the model from answers alone.

A question at the model's own prediction is a coin toss: it teaches most, and says nothing of how good the model
is.  So a part of the questions (``exam_share``) is drawn to measure, at the state of the moment, before the
answer is learnt.  Each answer has a *score*, fixed when the question is asked, whose mean is the error: see
``Kind.exam``.

Answers are wrong now and then.  With a the score of what was answered and b that of the other answer, wrong with a
probability e, a + (a - b) e / (1 - 2 e) has the mean that a has without slips.  What is known of e comes from other
answers, never from exams (see ``slips``).

A learner with a likelihood learns from these answers as from any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from scipy.special import stdtrit

from askone._common.types import Array
from askone.campaign.engine.slips import NONE, Slips

_STAKES = np.array([1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.8])
ALPHA = 0.05
"""The probability that a target is taken for reached which is not."""
_PROOF = 1 / 0.04  # what bets must make of 1: the rest of ALPHA is for slips that are rarer than they seem
FIRST = 10
"""Scores before a curve begins: fewer say next to nothing."""
_LEVEL = 0.975  # of one end of an interval


@final
class Scored(NamedTuple):
    """An exam that was answered: after how many answers, what it scores, and what the other answer would have scored.

    ``most`` and ``heaviest``: see ``Exam``.
    """

    n: int
    score: float
    other: float
    most: float = 1.0
    heaviest: float = 1.0


@final
class Measured(NamedTuple):
    """The measured error after so many answers, with an interval that holds the true one in 95 of 100 campaigns."""

    n: int
    value: float
    low: float
    high: float


def corrected(score: float, other: float, slip: float) -> float:
    """Return a score whose mean does not depend on how often answers are wrong.

    >>> e, right, wrong = 0.1, 1.0, 0.0
    >>> round((1 - e) * corrected(right, wrong, e) + e * corrected(wrong, right, e), 12)
    1.0
    """
    return score + (score - other) * slip / (1 - 2 * slip)


def curve(scores: Sequence[Scored], slips: Slips = NONE, share: bool = False, most: int = 40) -> list[Measured]:
    """Return the measured error along the campaign: at each point, of the later half of the scores so far.

    A ``share`` lies between 0 and 1.

    >>> curve([Scored(n, 1.0, 0.0) for n in range(10, 60)], share=True)[-1].high
    1.0
    """
    if len(scores) < FIRST:
        return []
    values = np.array([(one.score, one.other) for one in scores])
    ends = sorted({round(FIRST * (len(scores) / FIRST) ** (i / max(most - 1, 1))) for i in range(most)})
    return [_point(scores[end - 1].n, values[min(end // 2, end - FIRST) : end], slips, share) for end in ends]


def _point(n: int, pairs: Array, slips: Slips, share: bool) -> Measured:
    """Return the mean of corrected scores, and its interval: by Student's t, by Wilson for a share.

    How far other rates of slips, up to the ends of theirs, would move the mean is in it.
    """
    count, e = len(pairs), slips.rate
    gaps = pairs[:, 0] - pairs[:, 1]
    values = pairs[:, 0] + gaps * e / (1 - 2 * e)
    mean, z = float(values.mean()), float(stdtrit(count - 1, _LEVEL))
    if share:
        raw = float(pairs[:, 0].mean())
        middle = (raw + z * z / (2 * count)) / (1 + z * z / count)
        half = z * math.sqrt(raw * (1 - raw) / count + z * z / (4 * count * count)) / (1 + z * z / count)
        below, above = (abs((end - e) / (1 - 2 * e) - mean) for end in (middle - half, middle + half))
    else:
        # Half of one more score of the usual weight in the variance: else a run of equal ones would claim to be exact.
        square = float(((values - mean) ** 2).sum() + (gaps**2).mean() / 2)
        below = above = z * math.sqrt(square / (count * (count - 1)))
    low, high = mean - below, mean + above
    for end in (slips.low, slips.high):
        moved = float(gaps.mean()) * (end / (1 - 2 * end) - e / (1 - 2 * e))
        # Independent errors add up by their squares; but that nobody errs is a case of its own, and a likely one.
        half = above if moved > 0 else below
        far = abs(moved) + half if end == 0 else math.hypot(moved, half)
        low, high = (low, mean + far) if moved > 0 else (mean - far, high)
    most = 1.0 if share else math.inf
    return Measured(n, *(min(max(value, 0.0), most) for value in (mean, low, high)))


def reached(errors: Sequence[Scored], target: float, slip: float = 0.0) -> bool:
    """Return whether scored errors say: their mean is below the target.

    Somebody bets against "the mean error m is at least t".  At the score e_i, at most M_i, a stake of l / M_i makes
    1 + l (t - e_i) / M_i of what they have, which is no gain on average while m >= t.  So whoever looks however often
    sees it grow to 1 / alpha with a probability of at most alpha (Ville's inequality), here 1 in 25.  As the error
    falls during a campaign, the bets begin at several places; the money is divided between them and between stakes.

    ``slip`` is how often answers are wrong for certain (``Slips.least``).  Less is on the safe side: slips that are not
    corrected make errors seem larger, as long as they are below the middle of what can be scored.

    >>> good, bad = Scored(0, 0.0, 1.0), Scored(0, 1.0, 0.0)
    >>> reached([good] * 40, 0.1), reached([good] * 90, 0.1), reached([good, bad] * 90, 0.1)
    (False, True, False)
    """
    if not errors:
        return False
    values = [corrected(one.score, one.other, slip) for one in errors]
    most = [one.most + one.heaviest * slip / (1 - 2 * slip) for one in errors]
    return _wealth(np.array(values), np.array(most), target) >= _PROOF


def _wealth(values: Array, most: Array, target: float) -> float:
    """Return what 1 has become by these bets; scores below 0 only make it more."""
    growth = np.log1p(_STAKES[:, None] * (target - values) / np.maximum(most, target))
    wealth = np.concatenate([np.zeros((len(_STAKES), 1)), np.cumsum(growth, axis=1)], axis=1)
    places = np.unique([0, *(2.0 ** np.arange(0.0, math.log2(len(values)) + 1e-9, 0.5)).astype(np.int64)])
    begun = places[places < len(values)]
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
