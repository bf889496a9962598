"""Questions that measure: the error of the model from answers alone.

A question at the model's own prediction is a coin toss: it teaches most, and says nothing of how good the model
is.  So a part of the questions (``exam_share``) is drawn to measure, at the state of the moment, before the
answer is learnt.  Each answer has a *score*, fixed when the question is asked, whose mean is the error: see
``Kind.exam``.

Answers are wrong now and then.  With a the score of what was answered and b that of the other answer, wrong with a
probability e, a + (a - b) e / (1 - 2 e) has the mean that a has without slips.  What is known of e comes from other
answers, never from exams (see ``slips``).

A learner with a likelihood learns from these answers as from any other.

The error of numbers is measured in two parts: up to a window W, and beyond it, which few exams ask about.  Of n of the
latter, k were outside.  Each was so with a chance P, and what is beyond adds at most w (P - e) / (1 - 2 e), w the way
from W to the end of the range.  Clopper and Pearson's ends of P are the quantiles of Beta(k, n - k + 1) and
Beta(k + 1, n - k).  As long as the lower one can be slips, the value and its band are those of errors up to W, and it
is said what larger ones may add (``beyond``); else both parts are in the value and in its band.  What has not been
proved to be a slip, by gold or overlap, counts as a label: so the claim is of what people say, and of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from scipy.special import betaincinv, stdtrit

from askone._common.types import Array
from askone.campaign.engine.slips import NONE, Slips
from askone.campaign.kinds.base import ErrorPart

_STAKES = np.array([1 / 8, 1 / 4, 1 / 2, 0.9])
ALPHA = 0.05
"""The probability that a target is taken for reached which is not."""
_PROOF = 1 / 0.04  # what bets must make of 1: the rest of ALPHA is for slips that are rarer than they seem
FIRST = 10
"""Scores before a curve begins: fewer say next to nothing."""
_LEVEL = 0.975  # of one end of an interval
_NEAR_ENOUGH = 2.0  # windows of now, at most, that an exam about what is beyond began at: the model was another then


@final
class Scored(NamedTuple):
    """An exam that was answered: after how many answers, what it scores, and what the other answer would have scored.

    ``most`` and ``heaviest``: see ``Exam``; ``part``: None where it measures all of the error.
    """

    n: int
    score: float
    other: float
    most: float = 1.0
    heaviest: float = 1.0
    part: ErrorPart | None = None

    @property
    def is_far(self) -> bool:
        """Whether it measures the error beyond the window."""
        return self.part is not None and self.part.far


@final
class Measured(NamedTuple):
    """The measured error after so many answers, with an interval that holds the true one in 95 of 100 campaigns.

    Errors count up to the ``window`` (None: all of them); larger ones may add up to ``beyond`` (None: nobody knows).
    """

    n: int
    value: float
    low: float
    high: float
    window: float | None = None
    beyond: float | None = 0.0


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
    near = [one for one in scores if not one.is_far]
    far = [one for one in scores if one.is_far]
    if len(near) < FIRST:
        return []
    ends = sorted({round(FIRST * (len(near) / FIRST) ** (i / max(most - 1, 1))) for i in range(most)})
    found = []
    for end in ends:
        n = near[end - 1].n
        point = _point(n, _later(near[:end]), slips, share)
        beyond = [one for one in far if one.n <= n]
        found.append(point if share else _whole(point, _later(near[:end]), beyond, slips))
    return found


def _later(scores: Sequence[Scored]) -> Sequence[Scored]:
    """Return the later half of some scores, or the last ten."""
    return scores[max(min(len(scores) // 2, len(scores) - FIRST), 0) :]


def _point(n: int, scores: Sequence[Scored], slips: Slips, share: bool) -> Measured:
    """Return the mean of corrected scores, and its interval: by Student's t, by Wilson for a share.

    How far other rates of slips, up to the ends of theirs, would move the mean is in it.
    """
    pairs = np.array([(one.score, one.other) for one in scores])
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
    for end in (slips.low if share else slips.shown, slips.high):
        moved = float(gaps.mean()) * (end / (1 - 2 * end) - e / (1 - 2 * e))
        # Independent errors add up by their squares; but that nobody errs is a case of its own, and a likely one.
        half = above if moved > 0 else below
        far = abs(moved) + half if end == 0 else math.hypot(moved, half)
        low, high = (low, mean + far) if moved > 0 else (mean - far, high)
    most = 1.0 if share else math.inf
    return Measured(n, *(min(max(value, 0.0), most) for value in (mean, low, high)))


def _whole(point: Measured, near: Sequence[Scored], far: Sequence[Scored], slips: Slips) -> Measured:
    """Return a point with what is known of errors beyond the window."""
    windows = [one.part.window for one in near if one.part is not None]
    if not windows:  # an older log: errors counted up to what it does not say
        return point._replace(beyond=None)
    far = [one for one in far if one.part is not None and one.part.window <= _NEAR_ENOUGH * max(windows)]
    if not far:
        return point._replace(window=max(windows), beyond=None)
    count, hits = len(far), [one.score for one in far if one.score > 0]
    way = max(one.most for one in far)
    if not way:
        return point
    above = float(betaincinv(len(hits) + 1, count - len(hits), _LEVEL)) if len(hits) < count else 1.0
    below = float(betaincinv(len(hits), count - len(hits) + 1, 1 - _LEVEL)) if hits else 0.0
    high, low = (min(max((end - e) / (1 - 2 * e), 0.0), 1.0) for end, e in ((above, slips.shown), (below, slips.high)))
    if not low:
        return point._replace(window=max(windows), beyond=way * high)
    usual = float(np.mean(hits))
    added = usual * min(max((len(hits) / count - slips.rate) / (1 - 2 * slips.rate), low), high)
    value = point.value + added
    return Measured(
        point.n,
        value,
        max(value - math.hypot(point.value - point.low, added - usual * low), 0.0),
        value + math.hypot(point.high - point.value, way * high - added),
    )


def reached(errors: Sequence[Scored], target: float, slip: float = 0.0) -> bool:
    """Return whether scored errors say: their mean is below the target.

    Somebody bets against "the mean error m is at least t".  At the score e_i a stake of l / (M - t) makes
    1 + l (t - e_i) / (M - t) of what they have, which is no gain on average while m >= t.  So whoever looks however
    often sees it grow to 1 / alpha with a probability of at most alpha (Ville's inequality), here 1 in 25.  As the
    error falls during a campaign, the bets begin at several places; the money is divided between them and between
    stakes.

    M is the most that an exam since that place could have scored: by its own M_i, a row that may be far off would count
    for little.  An exam of a part that a share p of exams measure scores e_i / p: so the mean is that of all errors.

    ``slip`` is how often answers are wrong for certain (``Slips.least``).  Less is on the safe side: slips that are not
    corrected make errors seem larger, as long as they are below the middle of what can be scored.

    >>> good, bad = Scored(0, 0.0, 1.0), Scored(0, 1.0, 0.0)
    >>> reached([good] * 40, 0.1), reached([good] * 90, 0.1), reached([good, bad] * 90, 0.1)
    (False, True, False)
    """
    if not errors:
        return False
    shares = np.array([1.0 if one.part is None else one.part.share for one in errors])
    values = np.array([corrected(one.score, one.other, slip) for one in errors]) / shares
    most = np.array([one.most + one.heaviest * slip / (1 - 2 * slip) for one in errors]) / shares
    return _wealth(values, most, target) >= _PROOF


def _wealth(values: Array, most: Array, target: float) -> float:
    """Return what 1 has become by these bets; scores below 0 only make it more."""
    bounds = np.maximum(most, 2 * target)
    places = np.unique([0, *(2.0 ** np.arange(0.0, math.log2(len(values)) + 1e-9, 0.5)).astype(np.int64)])
    begun = places[places < len(values)]
    wealth = [
        np.log1p(_STAKES[:, None] * (target - values[place:]) / (np.maximum.accumulate(bounds[place:]) - target))
        for place in begun
    ]
    share = 1.0 / ((np.arange(len(begun)) + 1) * (np.arange(len(begun)) + 2))
    return float(share @ [np.exp(one.sum(axis=1)).mean() for one in wealth])


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
