"""Questions that measure: the error of the model from answers alone.

A question at the model's own prediction is a coin toss: it teaches most, and says nothing of how good the model
is.  So a part of the questions (``exam_share``) is drawn to measure, at the state of the moment, before the
answer is learnt.  Each answer has a *score*, fixed when the question is asked, whose mean is the error:

- numbers: with f the prediction and the threshold c of density q on [f - W, f + W], the score 1{y and f lie on
  different sides of c} / q(c) has the mean min(|y - f|, W).  W is five times the error of late: far larger errors
  count as W, and so does a slip of somebody's finger, which without W would count as the whole range;
- classes: "Is it f(x)?" is right as often as the model is; where only attributes or sets may be asked, one of
  them by lot agrees with the predicted class so often as the model knows them;
- orders: a pair drawn uniformly agrees with the predicted order as often as (1 + Kendall's tau) / 2.

A learner with a likelihood learns from these answers as from any other.  A threshold that is rounded to be shown moves
the mean by one step of the rounding at most.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, final

import numpy as np

from askone._common import compiled
from askone._common.types import Array
from askone.labels.base import Space
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.abilities import space_at
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset

WIDTH = 3
"""Uniforms that an exam takes."""
USUAL = 0.05
"""The error to expect before anything was measured, as a part of the range."""
_LEAST = 0.002
_WIDE = 2.5  # W in units of Laplace's scale
_STAKES = np.array([1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.8])
ALPHA = 0.05
"""The probability that a target is taken for reached which is not."""
FIRST = 10
"""Scores before a curve begins: fewer say next to nothing."""


@final
class Exam(NamedTuple):
    """A question, the score of a no and of a yes, and the most that any question drawn instead could have scored."""

    question: Question
    score: tuple[float, float]
    most: float = 1.0


def measure_of(space: Space) -> str:
    """Return what the mean score is.

    >>> measure_of(Real(0, 1))
    'mean error'
    """
    return "mean error" if isinstance(space, Real) else "agreement" if isinstance(space, Ranking) else "share right"


def exam(learner: Learner[Any], state: Any, x: Array, uniform: Array, error: float | None = None) -> Exam | None:
    """Return a question that measures, or None where there is none: before a range is known, or for several outputs.

    ``error`` is about how large the error of a number is.  Half of the thresholds are drawn around the prediction by
    Laplace's distribution of twice that scale (for errors that fall off exponentially that has the least variance),
    half uniformly.
    """
    space = space_at(learner, state)
    learnt = learner.count(state)
    if isinstance(space, Real):
        if space.m > 1:
            return None
        return _threshold(space, float(learner.predict(state, x[None])[0, 0]), uniform, learnt, error)
    if isinstance(space, Ranking):
        return _pair(space, list(space.decode(learner.predict(state, x[None]), x[None])[0]), uniform, learnt)
    if isinstance(space, FiniteSpace):
        return _set(space, space.decode(learner.predict(state, x[None]), x[None])[0, 0], uniform, learnt)
    return None


def _set(space: FiniteSpace, best: Any, uniform: Array, learnt: int) -> Exam:
    """Return the predicted class alone; where it is prescribed what may be asked, one of that by lot."""
    prescribed = [*space.attributes, *space.sets]
    if not prescribed:
        return Exam(Subset((best,), wording=space.wording, learnt=learnt), (0.0, 1.0))
    title, members = prescribed[min(int(uniform[0] * len(prescribed)), len(prescribed) - 1)]
    question = Subset(tuple(members), title, wording=space.wording, learnt=learnt)
    return Exam(question, (0.0, 1.0) if best in members else (1.0, 0.0))


def _threshold(space: Real, predicted: float, uniform: Array, learnt: int, error: float | None) -> Exam:
    low, high = space.lows[0], space.highs[0]
    f, usual = min(max(predicted, low), high), USUAL * (high - low) if error is None else error
    s = 2 * min(max(usual, _LEAST * (high - low)), 0.25 * (high - low))
    low, high = max(low, f - _WIDE * s), min(high, f + _WIDE * s)
    c = low + uniform[1] * (high - low) if uniform[0] < 0.5 else _laplace(f, s, low, high, float(uniform[1]))
    density = 0.5 / (high - low) + 0.5 * _density(float(c), f, s, low, high)
    shown = float(c) if space.decimals is None else float(compiled.rounded(float(c), space.decimals))
    question = HalfSpace((1.0,), shown, density=density, wording=space.words, learnt=learnt)
    weight = 1.0 / density
    # The uniform half alone has at least this density, so that no weight is larger.
    most = 2 * (high - low)
    return Exam(question, (0.0, weight) if shown >= f else (weight, 0.0), most)


def _laplace(f: float, s: float, low: float, high: float, u: float) -> float:
    """Return a draw from Laplace's distribution around f, within [low, high]."""
    below, above = _mass(f - low, s), _mass(high - f, s)
    t = u * (below + above) - below
    return f + math.copysign(-s * math.log1p(-min(abs(t), 1 - 1e-16)), t)


def _mass(length: float, s: float) -> float:
    return -math.expm1(-length / s)


def _density(c: float, f: float, s: float, low: float, high: float) -> float:
    return math.exp(-abs(c - f) / s) / s / (_mass(f - low, s) + _mass(high - f, s))


def _pair(space: Ranking, order: list[Any], uniform: Array, learnt: int) -> Exam:
    k = min(int(uniform[0] * space.P), space.P - 1)
    first, second = (space.items[int(places[k])] for places in space.pairs)
    if uniform[1] < 0.5:
        first, second = second, first
    question = Prefer(first, second, probability=1.0 / space.P, learnt=learnt, wording=space.wording)
    agrees = order.index(first) < order.index(second)
    return Exam(question, (0.0, 1.0) if agrees else (1.0, 0.0))


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
    """Return whether the errors that were scored, each with the most that it could have been, say: it is below the
    target.

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
    """Return where the error is heading if it goes on as it went: log error on log answers, a line through the later
    half.

    None where there is too little to go by.  The slope is taken between -1 and 0; the interval is two standard
    errors of the line around it.
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
        wide = math.exp(
            2 * spread * math.sqrt(1 / len(x) + (math.log(n) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
        )
        low, high = error / wide, error * wide
        if share:
            error, low, high = 1 - error, max(0.0, 1 - high), min(1.0, 1 - low)
        ends.append(Measured(round(n), error, low, high))
    return ends
