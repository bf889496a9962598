"""Compiled inner loops of stochastic gradient descent.

Every step of the stream is written once here and used twice: for one answer that a person gave
(a block of one row) and inside the loops of a simulation.  A learner packs its numbers into two
short vectors, so that compiled and interpreted code read the same state:

``S`` (what changes)                        ``R`` (what was configured)
    T     answers learnt so far                 RULE    which step rule
    SCALE s, with theta = s A                   GAMMA   gamma_0
    CUM   C = sum of w_t s_t                    POWER   gamma_t = gamma_0 t^-power
    WSUM  W = sum of w_t                        BOUND   B, a bound on the gradient's norm
    SUMSQ sum of |G_t|^2 (DoWG: weighted)       RIDGE   lambda of lambda |theta|^2
    DIST2 |theta - theta_0|^2                   AVERAGE which average
    FAR   the largest |theta - theta_0| yet     ETA     eta of the polynomial average
    WEALTH what the coin bettor has won         START   1: average theta_0 .. theta_{t-1}
    LARGEST the largest |G_t| yet               FIRST   first distance (DoG) or purse (coin)
    LATE  1/sqrt(1 + answers learnt since the question was asked): shortens the next step

A sum of steps has a closed-form average: with C_t = sum_{i<=t} w_i s_i and B_t = sum_i C_{i-1} dA_i,

    sum_{t<=T} w_t theta_t = C_T A_T - B_T,

so an average costs one more accumulator and no pass over old iterates, for any weights w.  Where a
ridge shrinks s, C A - B would become a difference of large numbers: as soon as s falls below 1/2,
B <- B - C A, A <- s A, C <- 0, s <- 1, which changes neither theta nor the sum.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import power, tanh
from askone._common.compiled import dot, jit, rounded
from askone._common.types import Array
from askone.labels.losses import HUBER, MEDIAN, QUANTILE, SQUARED

T, SCALE, CUM, WSUM, SUMSQ, DIST2, FAR, WEALTH, LARGEST, MARK_OLD, MARK_NEW, LATE = range(12)
STATE_SIZE = 12
RULE, GAMMA, POWER, BOUND, RIDGE, AVERAGE, ETA, START, FIRST = range(9)
RULE_SIZE = 9
SCHEDULE, ADAGRAD, DOG, COIN, DOWG = range(5)
NO_AVERAGE, UNIFORM, POLYNOMIAL = range(3)
UNKNOWN, SKIPPED = -1, 2
AT_PREDICTION, INFIMUM_MEDIAN, INFIMUM_SQUARED = range(3)
SHRUNK = 0.5


@jit
def _weigh(S: Array, R: Array, t: float) -> None:
    """Give the iterate theta = s A its weight in the average."""
    kind = R[AVERAGE]
    if kind == UNIFORM:
        weight = 1.0
    elif kind == POLYNOMIAL:  # a_t = (1 - rho) a_{t-1} + rho theta_t, rho = (eta+1)/(t+eta)
        total = 1.0 if t <= 1.0 else S[WSUM] * (t + R[ETA]) / (t - 1.0)
        weight = total - S[WSUM]
    else:
        weight = 0.0
    S[WSUM] += weight
    S[CUM] += weight * S[SCALE]


@jit
def _learning_rate(S: Array, R: Array, t: float, g2: float) -> float:
    rule = R[RULE]
    if rule == DOWG:  # the squares weighted by the distance they were taken at
        S[FAR] = max(S[FAR], R[FIRST], math.sqrt(S[DIST2]))
        S[SUMSQ] += S[FAR] * S[FAR] * g2
        return S[FAR] * S[FAR] / math.sqrt(S[SUMSQ]) if S[SUMSQ] > 0.0 else 0.0
    S[SUMSQ] += g2
    if rule == SCHEDULE:
        return R[GAMMA] * power(t, -R[POWER]) / R[BOUND]
    if S[SUMSQ] == 0.0:
        return 0.0
    if rule == ADAGRAD:
        return R[GAMMA] / math.sqrt(S[SUMSQ])
    S[FAR] = max(S[FAR], R[FIRST], math.sqrt(S[DIST2]))
    return S[FAR] / math.sqrt(S[SUMSQ])


@jit
def advance(S: Array, R: Array, g2: float, inner: float) -> tuple[float, float]:
    """Return one step of any scalar rule, from |G|^2 and <G, theta> alone.

    Returns (a, b): add a G to A, and a b G to B (see the module's docstring).  The ridge enters
    by its proximal map, theta <- (theta - eta G) / (1 + 2 eta lambda), stable for every lambda.
    """
    S[T] += 1.0
    t = S[T]
    if R[START] == 1.0:
        _weigh(S, R, t)
    before = S[CUM]
    if R[RULE] == COIN:  # theta_t = (wealth / t) sum of normalised -G: the KT bettor
        S[LARGEST] = max(S[LARGEST], math.sqrt(g2))
        a = -S[LATE] / S[LARGEST] if S[LARGEST] > 0.0 else 0.0
        S[WEALTH] = max(S[WEALTH] + a * inner, 1e-9 * R[FIRST])
        S[SCALE] = S[WEALTH] / (t + 1.0)
    else:
        eta = S[LATE] * _learning_rate(S, R, t, g2)
        shrink = 1.0 / (1.0 + 2.0 * R[RIDGE] * eta)
        S[DIST2] = max(shrink * shrink * (S[DIST2] - 2.0 * eta * inner + eta * eta * g2), 0.0)
        a = -eta / S[SCALE]
        S[SCALE] *= shrink
    if R[START] != 1.0:
        _weigh(S, R, t)
    return a, before


@jit
def _settle(
    i: int, at: float, kind: int, decimals: int, offset: Array, shift: Array, stretch: Array,
    hidden: Array, flips: Array, thresholds: Array, answers: Array,
) -> None:  # fmt: skip
    """Put the question of row i at the prediction ``at`` = <z, u> and have it answered.

    A threshold is rounded in the user's units, (c + shift) stretch, before it is compared.
    """
    if answers[i] != UNKNOWN:
        return
    c = at - offset[i] if kind == AT_PREDICTION else offset[i]
    asked = (c + shift[i]) * stretch[i]
    if decimals < 99:
        asked = rounded(asked, decimals)
    thresholds[i] = asked / stretch[i] - shift[i]
    yes = hidden[i] > asked
    answers[i] = 1 if yes != flips[i] else 0


@jit
def slope(i: int, at: float, kind: int, yes: Array, no: Array, thresholds: Array, answers: Array) -> float:
    """Return g such that the weak gradient of row i is g u: the answer's value, or the infimum loss's."""
    answered_yes = answers[i] == 1
    if kind == AT_PREDICTION:
        return yes[i] if answered_yes else no[i]
    distance = at - thresholds[i]
    if (answered_yes and distance >= 0.0) or (not answered_yes and distance <= 0.0):
        return 0.0
    if kind == INFIMUM_SQUARED:
        return distance
    return yes[i] if answered_yes else no[i]


@jit
def _add(arrays: Array, j: int, v: float, before: float, phi: Array) -> None:
    """A_j += v phi, and B_j += C v phi where there is an average."""
    for k in range(phi.shape[0]):
        arrays[0, j, k] += v * phi[k]
    if arrays.shape[0] > 1:
        w = before * v
        for k in range(phi.shape[0]):
            arrays[1, j, k] += w * phi[k]


@jit
def _rescale(arrays: Array, S: Array, R: Array) -> None:
    """Move s into A, where it has become small (see the module's docstring)."""
    if S[SCALE] < SHRUNK and R[RULE] != COIN:
        for j in range(arrays.shape[1]):
            for k in range(arrays.shape[2]):
                if arrays.shape[0] > 1:
                    arrays[1, j, k] -= S[CUM] * arrays[0, j, k]
                arrays[0, j, k] *= S[SCALE]
        S[CUM] = 0.0
        S[SCALE] = 1.0


@jit
def stream_features(
    features: Array, arrays: Array, U: Array, offset: Array, yes: Array, no: Array,
    shift: Array, stretch: Array, hidden: Array, flips: Array, thresholds: Array,
    answers: Array, kind: int, decimals: int, S: Array, R: Array,
) -> None:  # fmt: skip
    """Algorithm 1 over rows of features, one after the other, in place (arrays: copies x m x p)."""
    m, A = U.shape[1], arrays[0]
    for i in range(features.shape[0]):
        if answers[i] == SKIPPED:
            continue
        at, square = 0.0, dot(features[i], features[i])
        for j in range(m):
            at += dot(A[j], features[i]) * U[i, j]
        at *= S[SCALE]
        _settle(i, at, kind, decimals, offset, shift, stretch, hidden, flips, thresholds, answers)
        g = slope(i, at, kind, yes, no, thresholds, answers)
        a, before = advance(S, R, g * g * square, g * at)
        for j in range(m):
            _add(arrays, j, a * g * U[i, j], before, features[i])
        _rescale(arrays, S, R)


@jit
def stream_block(
    base: Array, gram: Array, squares: Array,
    U: Array, offset: Array, yes: Array, no: Array, shift: Array, stretch: Array,
    hidden: Array, flips: Array, thresholds: Array, answers: Array,
    kind: int, decimals: int, S: Array, R: Array, V: Array, before: Array,
) -> int:  # fmt: skip
    """Take the same steps through scalars only, for any model that is linear in its parameters.

    base_i = A phi_i at the block's start, K_ij = <phi_i, phi_j> and ``squares`` |u_i phi_i|^2: row i sees
    s <base_i + sum_{j<i} K_ij v_j, u_i>, summed in the order in which a growing model would sum it.  Writes
    v (add v_i phi_i to A) and C_{i-1}.  Returns how many rows it took: it stops where s is due to be moved into A.
    """
    for i in range(base.shape[0]):
        V[i] = 0.0
        before[i] = 0.0
        if answers[i] == SKIPPED:
            continue
        at = 0.0
        for o in range(base.shape[1]):
            value = base[i, o]
            for j in range(i):
                value += gram[i, j] * V[j, o]
            at += value * U[i, o]
        at *= S[SCALE]
        _settle(i, at, kind, decimals, offset, shift, stretch, hidden, flips, thresholds, answers)
        g = slope(i, at, kind, yes, no, thresholds, answers)
        a, before[i] = advance(S, R, g * g * squares[i], g * at)
        for o in range(base.shape[1]):
            V[i, o] = a * g * U[i, o]
        if S[SCALE] < SHRUNK and R[RULE] != COIN:
            return i + 1
    return base.shape[0]


@jit
def _label_slopes(z: Array, y: Array, loss: int, parameter: float, out: Array) -> None:
    """out = gradient of the loss in z, for a label that is known."""
    m = z.shape[0]
    if loss == MEDIAN:
        norm = 0.0
        for j in range(m):
            norm += (z[j] - y[j]) * (z[j] - y[j])
        norm = math.sqrt(norm)
        for j in range(m):
            out[j] = (z[j] - y[j]) / norm if norm > 0.0 else 0.0
        return
    for j in range(m):
        r = z[j] - y[j]
        if loss == SQUARED:
            out[j] = r
        elif loss == QUANTILE:
            out[j] = (1.0 if r >= 0.0 else 0.0) - parameter
        elif loss == HUBER:
            out[j] = min(max(r, -parameter), parameter)
        else:
            out[j] = tanh(r / parameter)


@jit
def stream_feature_labels(
    features: Array, arrays: Array, Y: Array, skipped: Array, loss: int, parameter: float, S: Array, R: Array
) -> None:
    """Run the fully supervised baseline over rows of features, one after the other, in place."""
    m = Y.shape[1]
    z, g = np.empty(m), np.empty(m)
    for i in range(features.shape[0]):
        if skipped[i]:
            continue
        for j in range(m):
            z[j] = dot(arrays[0, j], features[i]) * S[SCALE]
        _label_slopes(z, Y[i], loss, parameter, g)
        a, before = advance(S, R, dot(g, g) * dot(features[i], features[i]), dot(g, z))
        for j in range(m):
            _add(arrays, j, a * g[j], before, features[i])
        _rescale(arrays, S, R)


@jit
def stream_labels(
    base: Array, gram: Array, Y: Array, skipped: Array, loss: int, parameter: float,
    S: Array, R: Array, steps: Array, before: Array,
) -> int:  # fmt: skip
    """Run it over a block of a growing model: base_i = A phi_i.  Returns how many rows it took (``stream_block``)."""
    n, m = base.shape
    z, g = np.empty(m), np.empty(m)
    for i in range(n):
        before[i] = 0.0
        steps[i] = 0.0
        if skipped[i]:
            continue
        for j in range(m):
            value = base[i, j]
            for k in range(i):
                value += gram[i, k] * steps[k, j]
            z[j] = value * S[SCALE]
        _label_slopes(z, Y[i], loss, parameter, g)
        a, before[i] = advance(S, R, dot(g, g) * gram[i, i], dot(g, z))
        for j in range(m):
            steps[i, j] = a * g[j]
        if S[SCALE] < SHRUNK and R[RULE] != COIN:
            return i + 1
    return n
