"""Compiled loops of the one-bit Kalman filters (``kalman.regressor`` says what they are).

K filters see every answer.  Filter k has mean mu and covariance S = L L^T, in square-root form: an
answer about a row x with a = L^T x, q = |a|^2 takes S to S - b S x x^T S, which is

    L <- L (I - g a a^T),     g = b / (1 + sqrt(1 - b q)),

so S is positive definite whatever is rounded.  The last few updates are kept beside L until there
are enough of them for one pass: with P = (I - g_1 a_1 a_1^T) ... (I - g_n a_n a_n^T),

    L_now = L P,     mu_now = mu + L r,     r = sum of the steps, in L's coordinates.

A learner that tells one answer then copies those few vectors and not K matrices, and a simulation
works on blocks of rows.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp, expm1, hazard, log, log1p, normal
from askone._common.compiled import add_product, dot, jit, product, rounded, row_dots
from askone._common.types import Array
from askone.learners.scores import asked_at, judge
from askone.learners.step_loops import SKIPPED, UNKNOWN

PENDING = 16
"""Updates that are kept beside L."""
_PINNED = 1e5  # deviations: beyond, a number is known to lie at the nearer end
_TAIL = -6.0  # below, h + z is a difference of nearly equal numbers


@jit
def answered(z: float, floor: float, trust: float) -> tuple[float, float, float]:
    """Return (Z, h, h (h + z)): the chance of an answer z deviations on the likely side, h = trust N(z) / Z.

    Z = floor + trust Phi(z), with ``floor`` the chance of this answer whatever is true: see ``ErrorRates``.

    >>> [round(value, 6) for value in answered(0.0, 0.0, 1.0)]
    [0.5, 0.797885, 0.63662]
    """
    if z < _TAIL and floor == 0.0:
        log_chance, h, excess = hazard(z)
        return trust * exp(log_chance), h, h * excess
    density, below = normal(z)
    chance = floor + trust * below
    h = trust * density / chance
    return chance, h, h * (h + z)


@jit
def answered_between(e: float, za: float, zb: float, floor: float, trust: float) -> tuple[float, float, float]:
    """Return (Z, slope, taken) of the answer (e: 1 or -1) whether a number lies between za and zb deviations.

    With P = Phi(zb) - Phi(za) for yes, 1 - P for no, and Z = floor + trust P, the derivatives of log Z by the mean,
    in deviations, move mean and variance as those of a half-space do:

        slope = e trust (N(za) - N(zb)) / Z ,     taken = slope^2 - e trust (za N(za) - zb N(zb)) / Z .

    "No" may leave more variance than there was: taken is below 0 then.

    >>> [round(value, 6) for value in answered_between(1.0, -1.0, 1.0, 0.0, 1.0)]
    [0.682689, 0.0, 0.708875]
    """
    if e > 0.0 and floor == 0.0 and max(za, -zb) > 0.0:  # in parts of the nearer end's tail, however far out it is
        mirror, near, far = (1.0, za, zb) if za > 0.0 else (-1.0, -zb, -za)
        log_near, h_near, _ = hazard(-near)
        log_far, h_far, _ = hazard(-far)
        inside = max(-expm1(log_far - log_near), 1e-300)
        h_far *= 1.0 - inside
        slope = (h_near - h_far) / inside
        taken = slope * slope - (near * h_near - far * h_far) / inside if near < _PINNED else 1.0
        return trust * exp(log_near) * inside, mirror * slope, min(max(taken, 0.0), 1.0)
    density_a, below_a = normal(za)
    density_b, below_b = normal(zb)
    inside = below_b - below_a if e > 0.0 else below_a + normal(-zb)[1]
    chance = floor + trust * inside
    if chance < 1e-290:  # outside of all that is plausible: beyond the nearer end
        side = 1.0 if zb < -za else -1.0
        chance, h, taken = answered(-zb if side > 0.0 else za, 0.0, 1.0)
        return chance, side * h, taken
    sure = e * trust / chance
    slope = sure * (density_a - density_b)
    return chance, slope, slope * slope - sure * (za * density_a - zb * density_b)


@jit
def _reflect(vector: Array, a: Array, g: float) -> None:
    """(I - g a a^T) vector, in place."""
    along = g * dot(a, vector)
    for i in range(a.shape[0]):
        vector[i] -= along * a[i]


@jit
def weights_of(evidence: Array, out: Array) -> None:
    """exp(evidence), normalised."""
    best, total = evidence[0], 0.0
    for k in range(evidence.shape[0]):
        best = max(best, evidence[k])
    for k in range(evidence.shape[0]):
        out[k] = exp(evidence[k] - best)
        total += out[k]
    for k in range(evidence.shape[0]):
        out[k] /= total


@jit
def blend(place: Array, weights: Array, means: Array, theta: Array) -> None:
    """Add the mean of each filter, by its weight, to that of its map."""
    for k in range(means.shape[0]):
        for i in range(means.shape[1]):
            theta[place[k], i] += weights[k] * means[k, i]


@jit
def moved_by(factor: Array, moved: Array) -> Array:
    """Return L r of every filter."""
    K, p = moved.shape
    out = np.empty((K, p))
    for k in range(K):
        for i in range(p):
            out[k, i] = dot(factor[k, i], moved[k])
    return out


@jit
def pulled(features: Array, factor: Array, steps: Array, gains: Array, done: int) -> Array:
    """L_now^T x of one filter at some rows."""
    Y = product(features, factor)
    for i in range(Y.shape[0]):
        for j in range(done):
            _reflect(Y[i], steps[j], gains[j])
    return Y


@jit
def told_of(Y: Array, Z: Array, noise: float) -> Array:
    """Return what a bit at each row tells of the predictions at others, in nats, mean over them (see ``worth``)."""
    r, out = np.empty(Z.shape[0]), np.zeros(Y.shape[0])
    for j in range(Z.shape[0]):
        r[j] = max(dot(Z[j], Z[j]), 1e-300)
    C = product(Y, np.ascontiguousarray(Z.T))
    for i in range(Y.shape[0]):
        v = max(dot(Y[i], Y[i]), 1e-300) + noise * noise
        for j in range(Z.shape[0]):
            out[i] -= 0.5 * log1p(-min(C[i, j] * C[i, j] / (v * r[j]), 1.0) * 2.0 / math.pi)
        out[i] /= Z.shape[0]
    return out


@jit
def look(
    features: Array, place: Array, mean: Array, factor: Array, steps: Array, gains: Array, moved: Array, done: int,
    at: Array, spread: Array,
) -> None:  # fmt: skip
    """<x, mu> and x^T S x of every filter at some rows: at and spread are K x n (features: maps x n x p)."""
    for k in range(place.shape[0]):
        Y = product(features[place[k]], factor[k])
        for i in range(Y.shape[0]):
            at[k, i] = dot(features[place[k], i], mean[k]) + dot(Y[i], moved[k])
            for j in range(done):
                _reflect(Y[i], steps[k, j], gains[k, j])
            spread[k, i] = dot(Y[i], Y[i])


@jit
def _put(
    i: int, believed: float,
    center: float, scale: float, low: float, high: float, decimals: int,
    hidden: Array, flips: Array, thresholds: Array, answers: Array,
) -> float:  # fmt: skip
    """Ask about row i where nobody has, and have it answered: 1 for yes, -1 for no, 0 for a skip."""
    if answers[i] == UNKNOWN or answers[i] == SKIPPED:
        asked = min(max(believed * scale + center, low), high)
        if decimals < 99:
            asked = rounded(asked, decimals)
        thresholds[i] = (asked - center) / scale
        if answers[i] == SKIPPED:
            return 0.0
        answers[i] = 1 if (hidden[i] > asked) != flips[i] else 0
    return 1.0 if answers[i] == 1 else -1.0


@jit
def _heard(
    e: float, at: float, root: float, threshold: float, upper: float, flip: float, yes: float, no: float
) -> tuple[float, float, float]:
    """Return (Z, slope, taken) of an answer: above the threshold, and below the upper end where there is one?"""
    left = 1.0 - yes - no
    floor, trust = flip + (1.0 - 2.0 * flip) * (yes if e > 0.0 else no), left * (1.0 - 2.0 * flip)
    if upper < np.inf:
        return answered_between(e, (threshold - at) / root, (upper - at) / root, floor, trust)
    chance, h, taken = answered(e * (at - threshold) / root, floor, trust)
    return chance, e * h, taken


@jit
def advance(
    quiet: Array, said: Array,
    others: Array | None, places: Array, doubts: Array, losses: Array, squares: Array, heard: Array,
    known: int, learnt: int, turns: int, faint: float,
    features: Array, place: Array, noise: Array, flip: Array, lean: float, lapse: float,
    mean: Array, factor: Array, steps: Array, gains: Array, moved: Array, evidence: Array, done: int,
    upper: float, extra: float, center: float, scale: float, low: float, high: float, decimals: int,
    hidden: Array, flips: Array, thresholds: Array, answers: Array, yes: Array, no: Array,
) -> int:  # fmt: skip
    """Learn about some rows, one after the other, in place; at most PENDING - done of them.

    A row whose answer is UNKNOWN is asked at the filters' mean, its threshold rounded in the user's
    units, c scale + center, within low and high, and answered by what is hidden.  ``lean`` is Phi^-1(tau),
    ``upper`` the other end of the question (inf: it has none), ``extra`` the variance of what else the answer
    depends on, ``yes`` and ``no`` how often it is that whatever is true.  Returns how many answers are pending.

    The evidence stays as it was after a row that is ``quiet`` (empty: none is).  ``said`` gets what all filters
    together predict of rows, before they are learnt, unless it is empty.  With ``others`` (see ``Beside``: from there
    to ``faint``) rows are asked at what all believe, all but the learner's own, and ``quiet`` is written; where it is
    None, as whenever somebody waits, nothing of that is compiled.
    """
    K, p = mean.shape
    n, count = features.shape[1], 0
    Y = np.zeros((K, n, p))
    for k in range(K):
        add_product(features[place[k]], factor[k], Y[k])
    at, weights, back = np.empty(K), np.empty(K), np.empty(p)
    for i in range(n):
        for k in range(K):
            at[k] = dot(features[place[k], i], mean[k]) + dot(Y[k, i], moved[k])
        weights_of(evidence, weights)
        own = dot(weights, at)
        believed = own
        if len(said):
            said[i] = own
        if others is not None:
            quiet[i] = (learnt + count) % turns != 0
            if quiet[i]:
                mine = (min(max(own * scale + center, low), high) - center) / scale
                believed = asked_at(mine, others[i], places, doubts[count], faint, losses, squares, heard)
        e = _put(i, believed, center, scale, low, high, decimals, hidden, flips, thresholds, answers)
        if e == 0.0:
            continue
        silent = len(quiet) > 0 and quiet[i]
        if others is not None:  # noqa: SIM102  # numba leaves out what follows only if this stands alone
            if silent:
                judge(e > 0.0, thresholds[i], known + count, others[i], losses, squares, heard)
        for k in range(K):
            y = Y[k, i]
            for j in range(done):
                _reflect(y, steps[k, j], gains[k, j])
            q = dot(y, y)
            v = q + noise[k] * noise[k] + extra
            middle = at[k] - lean * noise[k]
            chance, slope, taken = _heard(e, middle, math.sqrt(v), thresholds[i], upper, flip[k], yes[i], no[i])
            b = taken / v
            g = b / (1.0 + math.sqrt(max(1.0 - b * q, 1e-12)))
            for j in range(p):
                back[j] = y[j]
            for j in range(done - 1, -1, -1):
                _reflect(back, steps[k, j], gains[k, j])
            a = slope / math.sqrt(v)
            for j in range(p):
                steps[k, done, j] = y[j]
                moved[k, j] += a * back[j]
            gains[k, done] = g
            if not silent:
                evidence[k] += log((1.0 - 2.0 * lapse) * chance + lapse)
        done += 1
        count += 1
    return done


@jit
def settle(mean: Array, factor: Array, steps: Array, gains: Array, moved: Array, done: int) -> None:
    """mu <- mu + L r, L <- L P, in place; then nothing is pending.

    P = I - A^T T A for the rows a_j of A and a triangular T, so that two matrix products do it.
    """
    mean += moved_by(factor, moved)
    for k in range(mean.shape[0]):
        A = steps[k, :done]
        gram, T = row_dots(A, A), np.zeros((done, done))
        for j in range(done):
            g = gains[k, j]
            for i in range(j):
                along = 0.0
                for h in range(i, j):
                    along += T[i, h] * gram[h, j]
                T[i, j] = -g * along
            T[j, j] = g
        add_product(row_dots(factor[k], A), product(-T, A), factor[k])
        moved[k] = 0.0


@jit
def look_diagonal(features: Array, place: Array, mean: Array, deviation: Array, at: Array, spread: Array) -> None:
    """``look`` where S is diagonal, the squares of ``deviation`` (K x p)."""
    for k in range(place.shape[0]):
        for i in range(features.shape[1]):
            x = features[place[k], i]
            at[k, i] = dot(x, mean[k])
            y = deviation[k] * x
            spread[k, i] = dot(y, y)


@jit
def advance_diagonal(
    features: Array, place: Array, noise: Array, flip: Array, lean: float, lapse: float,
    mean: Array, deviation: Array, evidence: Array,
    upper: float, extra: float, center: float, scale: float, low: float, high: float, decimals: int,
    hidden: Array, flips: Array, thresholds: Array, answers: Array, yes: Array, no: Array,
) -> int:  # fmt: skip
    """Return ``advance`` where S is kept diagonal: O(p) an answer.  Returns how many answers were learnt.

    Of S - b S x x^T S the diagonal is kept, S_jj (1 - b S_jj x_j^2), which is positive as b x^T S x < 1.
    """
    K, p = mean.shape
    at, weights, y = np.empty(K), np.empty(K), np.empty(p)
    learnt = 0
    for i in range(features.shape[1]):
        for k in range(K):
            at[k] = dot(features[place[k], i], mean[k])
        weights_of(evidence, weights)
        believed = dot(weights, at)
        e = _put(i, believed, center, scale, low, high, decimals, hidden, flips, thresholds, answers)
        if e == 0.0:
            continue
        for k in range(K):
            x = features[place[k], i]
            for j in range(p):
                y[j] = deviation[k, j] * x[j]
            v = dot(y, y) + noise[k] * noise[k] + extra
            middle = at[k] - lean * noise[k]
            chance, slope, taken = _heard(e, middle, math.sqrt(v), thresholds[i], upper, flip[k], yes[i], no[i])
            a, b = slope / math.sqrt(v), taken / v
            for j in range(p):
                variance = deviation[k, j] * deviation[k, j]
                mean[k, j] += a * variance * x[j]
                deviation[k, j] *= math.sqrt(max(1.0 - b * variance * x[j] * x[j], 1e-12))
            evidence[k] += log((1.0 - 2.0 * lapse) * chance + lapse)
        learnt += 1
    return learnt
