"""Compiled choice of a pair among many items: candidates that are near in rank, and what each should gain.

Of m items sorted by utility, candidate c is the pair at ranks r and r + d (mod m), with r uniform and d of the law
P(d) = log(1 + 1/d) / log m on 1, ..., m - 1: half of them are within sqrt(m) ranks, and every pair may come.  Both are
lattices that the question's own uniforms shift, so that ranks are covered evenly and a replay draws the same.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp, log, normal, power
from askone._common.compiled import jit, total
from askone._common.types import Array

CANDIDATES = 128
_SHARP, _EXPLORE = 10.0, 0.01  # candidates are drawn by gain^10; one in a hundred is any of them
_RANKS, _DISTANCES = 0.6180339887498949, 0.7548776662466927  # steps of the lattices
_WINDOW, _SOFT = 20, 0.1  # a density is taken over a tenth of the ranks, and a tenth of a deviation


@jit
def candidates(order: Array, u: float, w: float, first: Array, second: Array, often: Array) -> None:
    """Write pairs into first and second; often: how many times each is expected among them."""
    m, count = order.shape[0], first.shape[0]
    whole = log(float(m))
    for c in range(count):
        r = min(int((u + c * _RANKS) % 1.0 * m), m - 1)
        d = min(max(int(exp((w + c * _DISTANCES) % 1.0 * whole)), 1), m - 1)
        first[c], second[c] = order[r], order[(r + d) % m]
        both = log(1.0 + 1.0 / d) + log(1.0 + 1.0 / (m - d))  # r + d, or from the other item around
        often[c] = count * both / (whole * m)


@jit
def gains(order: Array, utilities: Array, variances: Array, first: Array, second: Array, out: Array) -> None:
    """Write what each candidate should gain of Kendall's tau, up to a factor.

    An answer takes b v_i^2 of the variance of U_i, b = N(z)^2 / (Phi(z) Phi(-z) (v_i + v_j + 1)).  The expected number
    of wrong pairs falls by rho(mu_i) / sqrt(v_i + v) for each unit of that, where rho is the density of means at mu_i
    and v the variance of others: where there are no items near, it does not matter which value one has.
    """
    m = order.shape[0]
    places = np.empty(m, np.int64)
    for r in range(m):
        places[order[r]] = r
    mean = 0.5 * (total(variances[first]) + total(variances[second])) / first.shape[0]
    for c in range(first.shape[0]):
        i, j = first[c], second[c]
        v = variances[i] + variances[j] + 1.0
        density, below = normal(-abs(utilities[i] - utilities[j]) / math.sqrt(v))
        b = density * density / (max(below * (1.0 - below), 1e-300) * v)
        out[c] = 0.0
        for item in (i, j):
            low, high = max(places[item] - m // _WINDOW, 0), min(places[item] + m // _WINDOW, m - 1)
            apart = utilities[order[low]] - utilities[order[high]] + _SOFT * math.sqrt(mean)
            q = variances[item]
            out[c] += b * q * q * (high - low) / (apart * math.sqrt(q + mean))


@jit
def draw_candidate(worths: Array, often: Array, u: float) -> tuple[int, float]:
    """Return a candidate, and the probability of its pair: that of the draw, times how often it is expected there.

    So sums over all pairs are estimated without bias by what was drawn over its probability.
    """
    count, most, sum_ = worths.shape[0], worths.max(), 0.0
    chances = np.empty(count)
    for c in range(count):
        chances[c] = power(max(worths[c] / most, 1e-300), _SHARP) if most > 0.0 else 1.0
        sum_ += chances[c]
    left, at, chance = u, count - 1, 0.0
    for c in range(count):
        chance = (1.0 - _EXPLORE) * chances[c] / sum_ + _EXPLORE / count
        left -= chance
        if left < 0.0:
            at = c
            break
    return at, chance * often[at]
