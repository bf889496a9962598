"""Where labels lie at large, from yes and no to "is the value above c?": location and scale by a logistic law.

Questions go outwards by powers of ten first, until labels lie within, then to thresholds drawn from what is still
plausible.  The law allows for a few wrong answers,

    P(Y > c) = .03 + .94 / (1 + exp((c - mu) / s)),

and its posterior on a grid also says when it is known well enough.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp, exps, log, logs, softmax
from askone._common.compiled import dot, jit
from askone._common.types import Array

_LAPSE = 0.03
_REACHES = [float(f"1e{k}") for k in range(16)]


def next_threshold(thresholds: Array, answers: Array, uniform: Array, place: int = 0) -> float:
    """Return where to ask next, from thresholds asked and answers ("above") so far; four digits.

    First at -+1, -+10, ... until two labels lie within on either side (``place`` is the question's
    place in a batch); then at mu + s logit(V) for the median of mu and a scale s drawn from the
    upper half of its posterior: what might still be far is asked about.  Bisection would not do, as
    no answer inside the bracket that it leaves can contradict an earlier one.

    >>> none = np.array([]), np.array([], bool)
    >>> next_threshold(*none, np.full(2, 0.5)), next_threshold(np.ones(1), np.ones(1, bool), np.full(2, 0.5))
    (1.0, 10.0)
    """
    if _reach(thresholds, answers) is None:
        return _outwards(thresholds, answers, place)
    mu, log_s, posterior = _posterior(thresholds, answers)
    middle, large = _quantile(posterior.sum(axis=1), 0.5), _quantile(posterior.sum(axis=0), 0.5 + 0.5 * uniform[0])
    s = exp(log_s[large])
    return float(f"{mu[middle] + s * log(uniform[1] / (1 - uniform[1])):.4g}")


def _beyond(thresholds: Array, answers: Array, reach: float) -> tuple[Array, Array]:
    """Return whether labels lay above ``reach``, and below -``reach``, as far as was asked."""
    return answers[thresholds >= reach], ~answers[thresholds <= -reach]


def _within(beyond: Array) -> bool:
    outside = int(beyond.sum())
    return len(beyond) - outside >= 2 and len(beyond) > 3 * outside


def _reach(thresholds: Array, answers: Array) -> float | None:
    """Return the least power of ten within which labels lie, by at least two answers on either side."""
    for reach in _REACHES:
        if all(_within(side) for side in _beyond(thresholds, answers, reach)):
            return reach
    return None


def _outwards(thresholds: Array, answers: Array, place: int) -> float:
    for reach in _REACHES:
        up, down = _beyond(thresholds, answers, reach)
        if not any(side.any() and not _within(side) for side in (up, down)):
            break
    side = 1.0 if (len(up) + place) % 2 == len(down) % 2 else -1.0
    return side * min(reach * _REACHES[place // 4 % 6], _REACHES[-1])


def locate(thresholds: Array, answers: Array) -> tuple[float, float]:
    """Return the posterior median of mu, and an s that is not exceeded with 85 % of the posterior.

    Too narrow a range costs more than one a little too wide.

    >>> mu, s = locate(np.array([0.0, 4.0, 8.0, 12.0]), np.array([True, True, False, False]))
    >>> 0 < mu < 12
    True
    """
    if _unanimous(answers):
        return 0.0, max(1.0, float(np.abs(thresholds).max(initial=0.0)))
    mu, log_s, posterior = _posterior(thresholds, answers)
    middle, large = _quantile(posterior.sum(axis=1), 0.5), _quantile(posterior.sum(axis=0), 0.85)
    return float(mu[middle]), exp(float(log_s[large]))


def _quantile(weights: Array, level: float) -> int:
    return min(int(np.searchsorted(np.cumsum(weights), level)), len(weights) - 1)


def known(thresholds: Array, answers: Array) -> bool:
    """Return whether the posterior pins location and scale down to about a factor of two."""
    if _unanimous(answers) or _reach(thresholds, answers) is None:
        return False
    mu, log_s, posterior = _posterior(thresholds, answers)
    of_mu, of_s = posterior.sum(axis=1), posterior.sum(axis=0)
    middle_s, middle_mu = dot(of_s, log_s), dot(of_mu, mu)
    spread = math.sqrt(max(dot(of_s, log_s * log_s) - middle_s * middle_s, 0.0))
    deviation = math.sqrt(max(dot(of_mu, mu * mu) - middle_mu * middle_mu, 0.0))
    at_the_edge = posterior[:, -4:].sum() > 0.2  # the likeliest scales are the largest looked at
    return not at_the_edge and spread < 0.8 and deviation < 2 * exp(middle_s)


def _posterior(thresholds: Array, answers: Array) -> tuple[Array, Array, Array]:
    """Return a grid of mu and log s around the bits, and the posterior on it (mu x s).

    The prior is 1/(|mu| + reach/1000) in mu, so that a point weighs what its cell is wide: a
    bracket that chance has narrowed is no more plausible for being finely looked at.
    """
    reach = _reach(thresholds, answers) or max(1.0, float(np.abs(thresholds).max()))
    ends = thresholds[answers].max(), thresholds[~answers].min()
    a, b = min(ends), max(ends)
    width = max(b - a, 1e-9 * reach)
    outside = 0.02 * width * exps(np.linspace(0.0, 1.0, 31) * log((2 * reach + width) / (0.02 * width)))
    mu = np.concatenate([a - outside[::-1], np.linspace(a, b, 41), b + outside])
    log_s = np.linspace(log(1e-3 * width), log(2 * reach), 31)
    prior = logs(np.maximum(np.gradient(mu), 1e-12 * reach)) - logs(np.abs(mu) + 1e-3 * reach)
    likely = _log_likelihoods(mu, exps(log_s), thresholds, np.where(answers, 1.0, -1.0))
    return mu, log_s, softmax((likely + prior[:, None]).ravel()).reshape(likely.shape)


@jit
def _above(difference: float) -> float:
    """Return how likely a label is above a threshold that is so many scales below the middle."""
    return _LAPSE + (1.0 - 2.0 * _LAPSE) / (1.0 + exp(-difference))


@jit
def _log_likelihoods(mu: Array, s: Array, thresholds: Array, signs: Array) -> Array:
    out = np.zeros((mu.shape[0], s.shape[0]))
    for i in range(mu.shape[0]):
        for j in range(s.shape[0]):
            for t in range(thresholds.shape[0]):
                out[i, j] += log(_above(signs[t] * (mu[i] - thresholds[t]) / s[j]))
    return out


def chance_above(thresholds: Array, answers: Array, c: float) -> float:
    """Return P(Y > c) by the posterior; a half where nothing is known.

    >>> bits = np.array([0.0, 8.0]), np.array([True, False])
    >>> 1 > chance_above(*bits, 1.0) > chance_above(*bits, 7.0) > 0
    True
    """
    if _unanimous(answers):
        return 0.5
    mu, log_s, posterior = _posterior(thresholds, answers)
    differences = (mu[:, None] - c) / exps(log_s)
    return math.fsum(p * _above(d) for p, d in zip(posterior.flat, differences.flat, strict=True))


def _unanimous(answers: Array) -> bool:
    return bool(answers.all() or not answers.any())
