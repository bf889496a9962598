"""Compiled loops of the Thurstone filter: utilities of m items, Gaussian, compared two at a time.

A factor L of the covariance, S = L L^T, is kept and never S: it stays positive by form.  With
x the row of a comparison, g = L^T x, and a bit that takes the fraction c = b |g|^2 of the variance along x,

    S - b S x x^T S = L' L'^T,     L' = L - (1 - sqrt(1 - c)) / |g|^2  (L g) g^T        (Potter).

``joint`` factors hold all items at once, (m p) x (m p); ``apart``, one p x p factor for each item, what
is left when the covariances between items are dropped (their variances stay exact).
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp, hazard, log, log1p, normal_cdf, power
from askone._common.compiled import dot, jit
from askone._common.types import Array

_LEAST = 1e-12  # what is left of a variance after one answer, at least
_LOG_2 = 0.6931471805599453


@jit
def bit(delta: float, v: float, flip: float, floor: float, trust: float) -> tuple[float, float, float]:
    """Return log Z, a and b for the answer "first" at a difference N(delta, v - 1): see the learner's formulas.

    ``floor`` is the chance of the answer whatever is true, ``trust`` what is left of an honest one.
    """
    root = math.sqrt(v)
    log_phi, ratio, excess = hazard(delta / root)
    floor, trust = flip + (1.0 - 2.0 * flip) * floor, trust * (1.0 - 2.0 * flip)
    if floor == 0.0 and trust == 1.0:
        return log_phi, ratio / root, ratio * excess / v
    phi = exp(log_phi)
    Z = floor + trust * phi
    a = trust * ratio * phi / (Z * root)
    return log(Z), a, a * a + a * delta / v


@jit
def roots(L: Array, phi: Array, first: int, out: Array) -> float:
    """Return out = L^T x for x that is phi from entry ``first`` on and 0 elsewhere; |out|^2."""
    n, p = L.shape[1], phi.shape[0]
    for c in range(n):
        out[c] = 0.0
    for r in range(p):
        w = phi[r]
        if w != 0.0:
            for c in range(n):
                out[c] += w * L[first + r, c]
    return dot(out, out)


@jit
def shrink(L: Array, g: Array, q: float, b: float, step: float, mean: Array) -> None:
    """mean += step S x and S <- S - b S x x^T S, in place, for g = L^T x and q = |g|^2."""
    if q <= 0.0:
        return
    gamma = (1.0 - math.sqrt(max(1.0 - b * q, _LEAST))) / q
    for r in range(L.shape[0]):
        along = dot(L[r], g)
        mean[r] += step * along
        along *= gamma
        for c in range(L.shape[1]):
            L[r, c] -= along * g[c]


@jit
def gap_joint(L: Array, phi: Array, i: int, j: int, g: Array, h: Array) -> float:
    """Return g = L^T x for x = (e_i - e_j) (x) phi; |g|^2, the variance of the difference (h: room to work)."""
    p = phi.shape[0]
    roots(L, phi, i * p, g)
    roots(L, phi, j * p, h)
    for c in range(g.shape[0]):
        g[c] -= h[c]
    return dot(g, g)


@jit
def tell_joint(
    means: Array, factors: Array, flips: Array, phi: Array, i: int, j: int, yes: bool, floor: float, trust: float,
    learn: bool, logs: Array,
) -> None:  # fmt: skip
    """Tell one answer to all filters of a feature map, in place; logs: log Z of each.  ``learn`` False: only logs."""
    K, m, p = means.shape
    g, h = np.empty(m * p), np.empty(m * p)
    sign = 1.0 if yes else -1.0
    for k in range(K):
        q = gap_joint(factors[k], phi, i, j, g, h)
        delta = dot(means[k, i], phi) - dot(means[k, j], phi)
        logs[k], a, b = bit(sign * delta, q + 1.0, flips[k], floor, trust)
        if learn:
            shrink(factors[k], g, q, b, sign * a, means[k].reshape(m * p))


@jit
def tell_apart(
    means: Array, first: Array, second: Array, flips: Array, phi: Array, i: int, j: int, yes: bool, floor: float,
    trust: float, learn: bool, logs: Array,
) -> None:  # fmt: skip
    """The same with one factor per item: those of the two items that are compared."""
    K, _, p = means.shape
    g, h = np.empty(p), np.empty(p)
    sign = 1.0 if yes else -1.0
    for k in range(K):
        q, r = roots(first[k], phi, 0, g), roots(second[k], phi, 0, h)
        delta = dot(means[k, i], phi) - dot(means[k, j], phi)
        logs[k], a, b = bit(sign * delta, q + r + 1.0, flips[k], floor, trust)
        if learn:
            shrink(first[k], g, q, b, sign * a, means[k, i])
            shrink(second[k], h, r, b, -sign * a, means[k, j])


@jit
def spread_joint(L: Array, phi: Array, out: Array) -> None:
    """out = the m x m covariance of the utilities at phi."""
    G = np.empty((out.shape[0], L.shape[0]))
    for i in range(out.shape[0]):
        out[i, i] = roots(L, phi, i * phi.shape[0], G[i])
        for j in range(i):
            out[i, j] = dot(G[i], G[j])
            out[j, i] = out[i, j]


@jit
def spread_apart(L: Array, phi: Array, i: int, out: Array) -> None:
    """out[i, i] = the variance of one item's utility at phi."""
    out[i, i] = roots(L, phi, 0, np.empty(phi.shape[0]))


@jit
def entropy(p: float) -> float:
    """Return -p log p - (1-p) log(1-p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * log(p) - (1.0 - p) * log1p(-p)


@jit
def worth(utilities: Array, covariance: Array, flip: float, out: Array) -> float:
    """Return what a comparison of each pair i < j should tell, in nats; the largest of them.

    With the difference D ~ N(delta, q) and p(D) = flip + (1 - 2 flip) Phi(D) this is H(E p) - E H(p), where
    H(p(D)) is taken for H(flip) + (log 2 - H(flip)) exp(-D^2 / 2C), of the same height and curvature at 0.
    """
    least, slope, at, most = entropy(flip), 1.0 - 2.0 * flip, 0, 0.0
    curve = 0.5 * math.pi * (_LOG_2 - least) / (slope * slope)
    for i in range(utilities.shape[0]):
        for j in range(i + 1, utilities.shape[0]):
            d2 = (utilities[i] - utilities[j]) ** 2
            q = max(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0)
            p = flip + slope * normal_cdf(-math.sqrt(d2 / (q + 1.0)))
            known = least + (_LOG_2 - least) * math.sqrt(curve / (q + curve)) * exp(-0.5 * d2 / (q + curve))
            out[at] = max(entropy(p) - known, 0.0)
            most = max(most, out[at])
            at += 1
    return most


@jit
def draw(worths: Array, most: float, sharpness: float, explore: float, u: float) -> tuple[int, float]:
    """Return a pair and its probability: by worth^sharpness, now and then (``explore``) any, from one uniform."""
    P = worths.shape[0]
    chances, total = np.empty(P), 0.0
    for k in range(P):
        chances[k] = power(max(worths[k] / most, 1e-300), sharpness) if most > 0.0 else 1.0
        total += chances[k]
    left, chance = u, 0.0
    for k in range(P):
        chance = (1.0 - explore) * chances[k] / total + explore / P
        left -= chance
        if left < 0.0:
            return k, chance
    return P - 1, chance
