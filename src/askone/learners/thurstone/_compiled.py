"""Compiled loops of the Thurstone filter: utilities of m items, Gaussian, compared two at a time.

A factor R of the covariance, S = R^T R, is kept and never S: it stays positive by form.  R has nothing above its
diagonal, which is half of the work.  With x the row of a comparison, g = R x, and a bit that takes b |g|^2 of the
variance along x, S - b S x x^T S = R'^T R', where row r becomes (Carlson)

    R'_r = (k_r / k_r+1) R_r - b g_r / (k_r k_r+1)  sum_{s < r} g_s R_s ,     k_r^2 = 1 - b sum_{s >= r} g_s^2 .

``joint`` factors hold all items at once, (m p) x (m p); ``apart``, one p x p factor for each item, what
is left when the covariances between items are dropped (their variances stay exact).
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp, hazard, log, log1p, normal, normal_cdf, power
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
def compare(
    delta: float, v: float, heard: float, margin: float, flip: float, floor: float, trust: float
) -> tuple[float, float, float, float]:
    """Return log Z, a, b and d log Z / d margin for an answer: 1 for the first, -1 for the second, 0 for neither.

    With r = sqrt(v), an honest answer has Phi((delta - margin) / r), Phi((-delta - margin) / r), or what is left of 1.
    Who slips names one of the two, so that "about equal" is honest.
    """
    if heard != 0.0:
        log_z, a, b = bit(heard * delta - margin, v, flip, floor, trust)
        return log_z, heard * a, b, -a
    root, sign = math.sqrt(v), 1.0 if delta > 0.0 else -1.0
    far, near = (abs(delta) + margin) / root, (abs(delta) - margin) / root
    log_far, h_far, _ = hazard(-far)
    log_near, h_near, _ = hazard(-near)
    ratio = exp(log_far - log_near)  # Z = Phi(-near) - Phi(-far)
    left = max(1.0 - ratio, 1e-12)
    at_far, at_near = h_far * ratio / left, h_near / left
    a = (at_far - at_near) / root
    b = a * a + (far * at_far - near * at_near) / v
    honest = log(max(trust * (1.0 - 2.0 * flip), 1e-300))
    return honest + log_near + log(left), sign * a, b, (at_far + at_near) / root


@jit
def adapt(traits: Array, delta: float, v: float, a: float, c: float, margin: float, flip: float, fair: bool) -> None:
    """Take one step of side and margin, in place: by the score, over all the information there was of it.

    ``traits`` are the side effect and its precision, the logarithm of the margin and its precision.  What is learnt of
    them and of the items at once is nearly independent, as lots decide who comes first.
    """
    root = math.sqrt(v)
    if fair and traits[1] < math.inf:
        density, p = normal(delta / root)
        slope, p = (1.0 - 2.0 * flip) * density / root, flip + (1.0 - 2.0 * flip) * p
        traits[1] += slope * slope / max(p * (1.0 - p), 1e-12)
        traits[0] += a / traits[1]
    if margin > 0.0:
        above, p = normal((delta - margin) / root)
        below, q = normal((-delta - margin) / root)
        known = above * above / max(p, 1e-12) + below * below / max(q, 1e-12)
        known += (above + below) ** 2 / max(1.0 - p - q, 1e-12)
        traits[3] += margin * margin * known / v
        traits[2] += min(max(margin * c / traits[3], -1.0), 1.0)


@jit
def roots(R: Array, phi: Array, first: int, out: Array) -> float:
    """Return out = R x for x that is phi from entry ``first`` on and 0 elsewhere; |out|^2."""
    p = phi.shape[0]
    for r in range(min(first, R.shape[0])):
        out[r] = 0.0
    for r in range(first, R.shape[0]):
        width = min(((r - first) | 7) + 1, p)  # whole lanes: what is above the diagonal is 0
        out[r] = dot(R[r, first : first + width], phi[:width])
    return dot(out, out)


@jit
def shrink(R: Array, g: Array, q: float, b: float, step: float, mean: Array) -> None:
    """mean += step S x and S <- S - b S x x^T S, in place, for g = R x and q = |g|^2."""
    if q <= 0.0:
        return
    n, left = R.shape[0], 0.0
    b = min(b, (1.0 - _LEAST) / q)
    keeps, takes, along = np.empty(n + 1), np.empty(n), np.zeros(n)
    for r in range(n - 1, -1, -1):
        left += g[r] * g[r]
        takes[r] = left
    keeps[n] = 1.0
    for r in range(n):  # loops of their own: roots and quotients are taken several at a time
        keeps[r] = math.sqrt(max(1.0 - b * takes[r], _LEAST))
    for r in range(n):
        takes[r] = b * g[r] / (keeps[r] * keeps[r + 1])
    for r in range(n):
        keeps[r] = keeps[r] / keeps[r + 1]
    for r in range(n):
        w, row, keep, take = g[r], R[r], keeps[r], takes[r]
        if w == 0.0:
            continue
        for c in range(min((r | 7) + 1, n)):
            before = row[c]
            row[c] = keep * before - take * along[c]
            along[c] += w * before
    for c in range(n):
        mean[c] += step * along[c]


@jit
def triangular(L: Array) -> Array:
    """Return R of R^T R = L L^T with nothing above its diagonal, for L with numbers anywhere: by Gram and Schmidt.

    >>> triangular(np.array([[1.0, 2.0], [0.0, 2.0]])).tolist()
    [[1.0, 0.0], [2.0, 2.0]]
    """
    n, left = L.shape[0], L.copy()
    R = np.zeros((n, n))
    for r in range(n - 1, -1, -1):
        R[r, r] = math.sqrt(dot(left[r], left[r]))
        if R[r, r] == 0.0:
            continue
        for c in range(n):
            left[r, c] /= R[r, r]
        for s in range(r):
            R[r, s] = dot(left[r], left[s])
            for c in range(n):
                left[s, c] -= R[r, s] * left[r, c]
    return R


@jit
def gap_joint(R: Array, phi: Array, i: int, j: int, g: Array, h: Array) -> float:
    """Return g = R x for x = (e_i - e_j) (x) phi; |g|^2, the variance of the difference (h: room to work)."""
    p = phi.shape[0]
    roots(R, phi, i * p, g)
    roots(R, phi, j * p, h)
    for c in range(g.shape[0]):
        g[c] -= h[c]
    return dot(g, g)


@jit
def tell_joint(
    means: Array, factors: Array, flips: Array, traits: Array, phi: Array, i: int, j: int, heard: float, ties: bool,
    floor: float, trust: float, learn: bool, logs: Array,
) -> None:  # fmt: skip
    """Tell one answer to all filters of a feature map, in place; logs: log Z of each (before: -inf where one is out).

    ``learn`` False: only logs.
    """
    K, m, p = means.shape
    g, h = np.empty(m * p), np.empty(m * p)
    for k in range(K):
        if logs[k] == -np.inf:
            continue
        q = gap_joint(factors[k], phi, i, j, g, h)
        delta = dot(means[k, i], phi) - dot(means[k, j], phi) + (traits[k, 0] if trust == 1.0 else 0.0)
        margin = exp(traits[k, 2]) if ties else 0.0
        logs[k], a, b, c = compare(delta, q + 1.0, heard, margin, flips[k], floor, trust)
        if learn:
            shrink(factors[k], g, q, b, a, means[k].reshape(m * p))
            adapt(traits[k], delta, q + 1.0, a, c, margin, flips[k], trust == 1.0)


@jit
def tell_apart(
    means: Array, first: Array, second: Array, flips: Array, traits: Array, phi: Array, i: int, j: int, heard: float,
    ties: bool, floor: float, trust: float, learn: bool, logs: Array,
) -> None:  # fmt: skip
    """The same with one factor per item: those of the two items that are compared."""
    K, _, p = means.shape
    g, h = np.empty(p), np.empty(p)
    for k in range(K):
        if logs[k] == -np.inf:
            continue
        q, r = roots(first[k], phi, 0, g), roots(second[k], phi, 0, h)
        delta = dot(means[k, i], phi) - dot(means[k, j], phi) + (traits[k, 0] if trust == 1.0 else 0.0)
        margin = exp(traits[k, 2]) if ties else 0.0
        logs[k], a, b, c = compare(delta, q + r + 1.0, heard, margin, flips[k], floor, trust)
        if learn:
            shrink(first[k], g, q, b, a, means[k, i])
            shrink(second[k], h, r, b, -a, means[k, j])
            adapt(traits[k], delta, q + r + 1.0, a, c, margin, flips[k], trust == 1.0)


@jit
def spread_joint(R: Array, phi: Array, out: Array) -> None:
    """out = the m x m covariance of the utilities at phi."""
    G = np.empty((out.shape[0], R.shape[0]))
    for i in range(out.shape[0]):
        out[i, i] = roots(R, phi, i * phi.shape[0], G[i])
        for j in range(i):
            out[i, j] = dot(G[i], G[j])
            out[j, i] = out[i, j]


@jit
def spread_apart(R: Array, phi: Array, i: int, out: Array) -> None:
    """out[i, i] = the variance of one item's utility at phi."""
    out[i, i] = roots(R, phi, 0, np.empty(phi.shape[0]))


@jit
def entropy(p: float) -> float:
    """Return -p log p - (1-p) log(1-p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * log(p) - (1.0 - p) * log1p(-p)


@jit
def information(gap: float, q: float, flip: float) -> float:
    """Return what a comparison should tell, in nats, of a difference D ~ N(gap, q).

    With p(D) = flip + (1 - 2 flip) Phi(D) this is H(E p) - E H(p), where H(p(D)) is taken for
    H(flip) + (log 2 - H(flip)) exp(-D^2 / 2C), of the same height and curvature at 0.
    """
    least, slope, d2 = entropy(flip), 1.0 - 2.0 * flip, gap * gap
    curve = 0.5 * math.pi * (_LOG_2 - least) / (slope * slope)
    p = flip + slope * normal_cdf(-math.sqrt(d2 / (q + 1.0)))
    known = least + (_LOG_2 - least) * math.sqrt(curve / (q + curve)) * exp(-0.5 * d2 / (q + curve))
    return max(entropy(p) - known, 0.0)


@jit
def worth(utilities: Array, covariance: Array, flip: float, out: Array) -> float:
    """Write what a comparison of each pair i < j should tell; return the largest."""
    at, most = 0, 0.0
    for i in range(utilities.shape[0]):
        for j in range(i + 1, utilities.shape[0]):
            q = max(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0)
            out[at] = information(utilities[i] - utilities[j], q, flip)
            most = max(most, out[at])
            at += 1
    return most


@jit
def most_worth(utilities: Array, variances: Array, first: Array, second: Array, flip: float) -> float:
    """Return the largest of what a comparison of these pairs should tell."""
    most = 0.0
    for k in range(first.shape[0]):
        i, j = first[k], second[k]
        most = max(most, information(utilities[i] - utilities[j], variances[i] + variances[j], flip))
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


@jit
def pair_by(
    utilities: Array, spread: Array, flip: float, sharpness: float, explore: float, u: float
) -> tuple[int, float]:
    """Return a pair and its probability, from utilities at a row and their covariance."""
    m = utilities.shape[0]
    worths = np.empty(m * (m - 1) // 2)
    most = worth(utilities, spread, flip, worths)
    return draw(worths, most, sharpness, explore, u)


@jit
def utilities_at(mean: Array, phi: Array, out: Array) -> None:
    """out = the mean utilities at phi, summed in its order."""
    for i in range(mean.shape[0]):
        total = 0.0
        for j in range(mean.shape[1]):
            total += mean[i, j] * phi[j]
        out[i] = total


@jit
def draw_joint(
    mean: Array, R: Array, phi: Array, flip: float, sharpness: float, explore: float, u: float
) -> tuple[int, float]:
    """Return a pair and its probability, by one filter with a factor of all items."""
    m = mean.shape[0]
    utilities, spread = np.empty(m), np.empty((m, m))
    utilities_at(mean, phi, utilities)
    spread_joint(R, phi, spread)
    return pair_by(utilities, spread, flip, sharpness, explore, u)


@jit
def draw_apart(
    mean: Array, factors: Array, k: int, phi: Array, flip: float, sharpness: float, explore: float, u: float
) -> tuple[int, float]:
    """Return the same by filter k of those with one factor per item (factors: items x filters x p x p)."""
    m = mean.shape[0]
    utilities, spread = np.empty(m), np.zeros((m, m))
    utilities_at(mean, phi, utilities)
    for i in range(m):
        spread_apart(factors[i, k], phi, i, spread)
    return pair_by(utilities, spread, flip, sharpness, explore, u)


@jit
def weigh(evidence: Array, logs: Array, discount: float, lapse: float) -> None:
    """Write the evidence of filters after an answer with these log Z, which was a slip with some chance."""
    for k in range(evidence.shape[0]):
        evidence[k] = discount * evidence[k] + log((1.0 - 2.0 * lapse) * exp(logs[k]) + lapse)


@jit
def ready(evidence: Array, logs: Array) -> None:
    """Write -inf where a filter is out, else 0."""
    for k in range(evidence.shape[0]):
        logs[k] = -np.inf if evidence[k] == -np.inf else 0.0


@jit
def thin(evidence: Array, sizes: Array, simplest: int, near: float, far: float) -> None:
    """Put out filters: those ``near`` nats behind the best of their bank, and banks ``far`` behind the best of all.

    The simplest bank stays: where others know more at first, it may come back.
    """
    best, first = np.max(evidence), 0
    for b in range(len(sizes)):
        part = evidence[first : first + sizes[b]]
        top = np.max(part)
        for k in range(len(part)):
            if (top < best - far and b != simplest) or part[k] < top - near:
                part[k] = -np.inf
        first += sizes[b]


@jit
def stream(
    banks: Array, means: Array, factors: Array, evidence: Array, traits: Array, flips: Array, Phi: Array,
    uniform: Array, ranks: Array, turned: Array, skipped: Array, ties: bool, heard: int, first: Array, second: Array,
    told: Array, chances: Array, rules: tuple[float, float, float, float, int, int, float, float],
) -> int:  # fmt: skip
    """Ask about rows, compare the places in their sealed orders, and tell all filters; return the answers by then.

    ``banks`` has filters, features and whether they are joint; means and factors follow each other, those of items
    apart as items x filters x p x p.  ``told`` is what was answered, -1 where nothing was.
    """
    sharpness, explore, discount, lapse, soon, every, near, far = rules
    m, logs = ranks.shape[1], np.empty(evidence.shape[0])
    sizes, simplest = np.ascontiguousarray(banks[:, 0]), np.argmin(banks[:, 1])
    for n in range(Phi.shape[0]):
        lead = np.argmax(evidence)
        filters, entries, mean, factor = 0, 0, 0, 0
        pair, chance = 0, 0.0
        for b in range(banks.shape[0]):  # who leads asks
            K, p, joint = banks[b]
            size = K * m * m * p * p if joint else m * K * p * p
            if filters <= lead < filters + K:
                k, phi = lead - filters, Phi[n, entries : entries + p]
                M = means[mean : mean + K * m * p].reshape(K, m, p)
                if joint:
                    R = factors[factor : factor + size].reshape(K, m * p, m * p)
                    pair, chance = draw_joint(M[k], R[k], phi, flips[lead], sharpness, explore, uniform[n, 0])
                else:
                    F = factors[factor : factor + size].reshape(m, K, p, p)
                    pair, chance = draw_apart(M[k], F, k, phi, flips[lead], sharpness, explore, uniform[n, 0])
            filters, entries, mean, factor = filters + K, entries + p, mean + K * m * p, factor + size
        i, j = 0, pair
        while j >= m - 1 - i:  # pairs are listed i < j, row by row
            j -= m - 1 - i
            i += 1
        j += i + 1
        if uniform[n, 1] < 0.5:
            i, j = j, i
        first[n], second[n], chances[n], told[n] = i, j, min(chance, 1.0), -1
        if skipped[n]:
            continue
        above = (ranks[n, i] < ranks[n, j]) != turned[n]
        told[n] = 1 if above else 0
        ready(evidence, logs)
        filters, entries, mean, factor = 0, 0, 0, 0
        for b in range(banks.shape[0]):
            K, p, joint = banks[b]
            size = K * m * m * p * p if joint else m * K * p * p
            end, phi, e = filters + K, Phi[n, entries : entries + p], 1.0 if above else -1.0
            M = means[mean : mean + K * m * p].reshape(K, m, p)
            rates, marks, out = flips[filters:end], traits[filters:end], logs[filters:end]
            if joint:
                R = factors[factor : factor + size].reshape(K, m * p, m * p)
                tell_joint(M, R, rates, marks, phi, i, j, e, ties, 0.0, 1.0, True, out)
            else:
                F = factors[factor : factor + size].reshape(m, K, p, p)
                tell_apart(M, F[i], F[j], rates, marks, phi, i, j, e, ties, 0.0, 1.0, True, out)
            filters, entries, mean, factor = end, entries + p, mean + K * m * p, factor + size
        weigh(evidence, logs, discount, lapse)
        heard += 1
        if heard >= soon and heard % every == 0:
            thin(evidence, sizes, simplest, near, far)
    return heard
