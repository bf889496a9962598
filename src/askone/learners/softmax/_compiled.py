"""The likelihood of bits about classes, and the weights that make stored bits most likely.

A bit says that Y lies in a cell (the set that was asked, or its complement), of whom it may be known how often they
err: A_y is the chance of the answer if the class is y, and for those who never err 1 in the cell and 0 elsewhere.  For
K members of a bank, each a softmax of scores W_k^T phi,

    loss_k(W) = sum_i -log P_i + 1/2 sum precision (W - anchor)^2 ,     P_i = sum_y p(y|x_i) A_iy .

With Q = 1 - P and d_y = p_y (A_y / P - (1 - A_y) / Q):

    gradient in the scores   -Q d
    Fisher information       f d d^T,  f = P Q               (rank one, exact)

so a product with the information costs as much as a gradient, and conjugate gradients need no matrix of its size.
Weights are kept as p x K x m: one matrix product serves all members.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from askone._common.arithmetic import exp, log, softmax
from askone._common.compiled import add_row_product, dot, jit, jit_long, long_product
from askone._common.types import Array

_TINY = 1e-12
_LEVER = 0.9  # of what was said of a row on its own scores, at most
_CONJUGATE, _HALVINGS = 6, 8
_FEW = 500  # up to so many bits two Newton steps, which cost little then; later one, which starts near the end
_ENOUGH = 1e-2  # an inexact Newton step: the next refit starts where this one ends


@jit_long
def bit_terms(Z: Array, cells: Array, G: Array, F: Array, D: Array, loss: Array) -> None:
    """From scores Z (n x K x m) and cells A (n x m): gradients G, f and d of the information, summed losses (K)."""
    n, K, m = Z.shape
    for i in range(n):
        for k in range(K):
            top = Z[i, k, 0]
            for j in range(1, m):
                top = max(top, Z[i, k, j])
            total, P, Q = 0.0, 0.0, 0.0
            for j in range(m):
                e = exp(Z[i, k, j] - top)
                D[i, k, j] = e
                total += e
                P += e * cells[i, j]
                Q += e * (1.0 - cells[i, j])
            P, Q = max(P / total, _TINY), max(Q / total, _TINY)
            loss[k] -= log(P)
            F[i, k] = P * Q
            for j in range(m):
                D[i, k, j] *= (cells[i, j] / P - (1.0 - cells[i, j]) / Q) / total
                G[i, k, j] = -Q * D[i, k, j]


@jit_long
def push(moved: Array, F: Array, D: Array) -> None:
    """moved <- f <moved, d> d, in place (moved: n x Km)."""
    n, K, m = D.shape
    for i in range(n):
        for k in range(K):
            along = D[i, k, 0] * moved[i, k * m]
            for j in range(1, m):
                along += D[i, k, j] * moved[i, k * m + j]
            along *= F[i, k]
            for j in range(m):
                moved[i, k * m + j] = along * D[i, k, j]


@jit
def scores(phi: Array, W: Array) -> Array:
    """Return W^T phi of every member, K x m (W: p x K x m)."""
    p, K, m = W.shape
    out = np.zeros(K * m)
    add_row_product(phi, W.reshape(p, K * m), out)
    return out.reshape(K, m)


@jit
def judged(members: Array, cell: Array, evidence: Array, keep: float, lapse: float) -> Array:
    """Return keep times the evidence, and the logarithm of P(cell) at every member and temperature."""
    K, T, _ = members.shape
    out = np.empty((K, T))
    for k in range(K):
        for t in range(T):
            said = (1.0 - lapse) * dot(members[k, t], cell) + 0.5 * lapse
            out[k, t] = keep * evidence[k, t] + log(said)
    return out


@jit
def is_sure(cell: Array) -> bool:
    """Return whether every chance is 0 or 1."""
    between = 0
    for j in range(cell.shape[0]):
        between += cell[j] != 0.0 and cell[j] != 1.0
    return between == 0


@jit
def mixture(evidence: Array, members: Array) -> Array:
    """Return the members' class probabilities, weighted by exp(evidence)."""
    K, T, m = members.shape
    weights = softmax(evidence.reshape(K * T))
    out = np.zeros(m)
    add_row_product(weights, members.reshape(K * T, m), out)
    return out


@jit
def tempered(Z: Array, temperatures: Array, out: Array) -> None:
    """out[k, t] = softmax(tau_t z_k) for one row's scores Z (K x m)."""
    K, m = Z.shape
    for k in range(K):
        top = Z[k, 0]
        for j in range(1, m):
            top = max(top, Z[k, j])
        for t in range(temperatures.shape[0]):
            total = 0.0
            for j in range(m):
                e = exp(temperatures[t] * (Z[k, j] - top))
                out[k, t, j] = e
                total += e
            for j in range(m):
                out[k, t, j] /= total


@jit
def seen(phi: Array, W: Array, temperatures: Array) -> tuple[Array, Array]:
    """Return the scores of a row by every member, and p(y|x) at every temperature."""
    Z = scores(phi, W)
    out = np.empty((Z.shape[0], temperatures.shape[0], Z.shape[1]))
    tempered(Z, temperatures, out)
    return Z, out


@jit
def given(members: Array, before: Array) -> None:
    """members <- members * before, each summing to 1: Bayes' rule, after something that was said."""
    K, T, m = members.shape
    for k in range(K):
        for t in range(T):
            total = 0.0
            for j in range(m):
                members[k, t, j] *= before[j]
                total += members[k, t, j]
            for j in range(m):
                members[k, t, j] /= total


@jit
def step_once(
    W: Array, variance: Array, phi: Array, cell: Array, damping: Array, Z: Array
) -> None:  # fmt: skip
    """Take one natural-gradient step for one bit at scores Z (1 x K x m), in place (W: p x Km), damped as if implicit.

        W -= variance phi g / (damping (1 + f sum_j d_j^2 v_j)),   v_j = sum phi^2 variance_j

    so that a bit is not believed more than once.
    """
    K, m = Z.shape[1], Z.shape[2]
    G, F, D = np.empty((1, K, m)), np.empty((1, K)), np.empty((1, K, m))
    bit_terms(Z, cell.reshape(1, m), G, F, D, np.zeros(K))
    p, width = W.shape
    v, g = np.zeros(width), np.empty(width)
    for i in range(p):
        square = phi[i] * phi[i]
        for j in range(width):
            v[j] += square * variance[i, j]
    for k in range(K):
        believed = 0.0
        for j in range(m):
            believed += F[0, k] * D[0, k, j] * D[0, k, j] * v[k * m + j]
        eta = 1.0 / (damping[k] * (1.0 + believed))
        for j in range(m):
            g[k * m + j] = eta * G[0, k, j]
    for i in range(p):
        x = phi[i]
        for j in range(width):
            W[i, j] -= x * g[j] * variance[i, j]


@jit
def without_row(Z: Array, v: Array, cells: Array, others: Array, temperatures: Array, out: Array) -> None:
    """out[i, k, t] = p(y | x_i, what others said of the row), from scores Z and their variances v (n x K x m).

    All that was said of a row, ``cells``, is taken out by its leverage: with g its gradient in the scores, these are
    z + v g / (1 - f d^T v d) without it.  What others said comes in again by Bayes' rule.
    """
    n, K, m = Z.shape
    G, F, D = np.empty((n, K, m)), np.empty((n, K)), np.empty((n, K, m))
    bit_terms(Z, cells, G, F, D, np.zeros(K))
    left = np.empty((K, m))
    for i in range(n):
        for k in range(K):
            lever = 0.0
            for j in range(m):
                lever += F[i, k] * D[i, k, j] * D[i, k, j] * v[i, k, j]
            for j in range(m):
                left[k, j] = Z[i, k, j] + v[i, k, j] * G[i, k, j] / (1.0 - min(lever, _LEVER))
        tempered(left, temperatures, out[i])
        given(out[i], others[i])


@jit
def weighed(p: Array, weights: Array) -> Array:
    """Return the mean of p (n x T x m) over T, by weights."""
    n, T, m = p.shape
    out = np.zeros((n, m))
    for i in range(n):
        for t in range(T):
            for j in range(m):
                out[i, j] += weights[t] * p[i, t, j]
    return out


@jit
def half_set(p: Array, uniform: Array, most: int, floor: float, power: float, order: Array) -> int:
    """Draw classes by p^power without replacement, at most so many, while their mass nears 1/2; return how many.

    ``order`` gets the classes; the drawing is that of the largest of power log p + Gumbel noise.
    """
    m = p.shape[0]
    keys = np.empty(m)
    for j in range(m):
        keys[j] = power * log((1.0 - floor) * p[j] + floor / m) - log(-log(uniform[j]))
    mass, nearest, size = 0.0, 2.0, 1
    for place in range(most):
        best = 0
        for j in range(1, m):
            if keys[j] > keys[best]:
                best = j
        keys[best] = -np.inf
        order[place] = best
        mass += (1.0 - floor) * p[best] + floor / m
        if abs(mass - 0.5) < nearest:
            nearest, size = abs(mass - 0.5), place + 1
    return size


@final
class Prior(NamedTuple):
    """A prior beside the stored bits: independent normals, as precisions and means (p x K x m)."""

    precision: Array
    anchor: Array


@final
class Terms(NamedTuple):
    """The loss of each member, its gradient (p x K x m), and the information's factors f (n x K), d (n x K x m)."""

    value: Array
    gradient: Array
    F: Array
    D: Array


@final
class Refit(NamedTuple):
    """The weights, one over the diagonal of their precision, and how much that understates the whole of it."""

    W: Array
    variance: Array
    damping: Array


def terms_of(Phi: Array, cells: Array, W: Array, prior: Prior | None, across: Array | None = None) -> Terms:
    """Return the loss and its derivatives over rows of features Phi (n x p); ``across`` is Phi^T, where it is there.

    >>> one = terms_of(np.ones((1, 1)), np.array([[1.0, 0.0]]), np.zeros((1, 1, 2)), None)
    >>> one.gradient.ravel().tolist(), one.value.round(4).tolist()
    ([-0.5, 0.5], [0.6931])
    """
    p, K, m = W.shape
    n = len(Phi)
    Z = long_product(Phi, W.reshape(p, K * m)).reshape(n, K, m)
    G, F, D, value = np.empty((n, K, m)), np.empty((n, K)), np.empty((n, K, m)), np.zeros(K)
    bit_terms(Z, cells, G, F, D, value)
    across = np.ascontiguousarray(Phi.T) if across is None else across
    gradient = long_product(across, G.reshape(n, K * m)).reshape(p, K, m)
    if prior is not None:
        away = W - prior.anchor
        value += 0.5 * _inner(prior.precision * away, away)
        gradient += prior.precision * away
    return Terms(value, gradient, F, D)


def information(across: Array, F: Array, D: Array) -> Array:
    """Return the diagonal of the Fisher information of the bits, p x K x m, from Phi^T."""
    n, K, m = D.shape
    squares = (F[:, :, None] * D * D).reshape(n, K * m).astype(across.dtype, copy=False)
    return np.asarray(long_product(across * across, squares), dtype=np.float64).reshape(len(across), K, m)


def refit(Phi: Array, cells: Array, W: Array, prior: Prior) -> Refit:
    """Towards the most likely weights: a few Newton steps by conjugate gradients, each with a line search.

    Deterministic, and never above the loss it starts from.
    """
    across = np.ascontiguousarray(Phi.T)
    terms = terms_of(Phi, cells, W, prior, across)
    damping = np.ones(W.shape[1])
    single, single_across = Phi.astype(np.float32), across.astype(np.float32)  # a direction need not be exact
    for _ in range(2 if len(Phi) <= _FEW else 1):
        diagonal = prior.precision + information(single_across, terms.F, terms.D)
        step, largest = _newton_step(single, single_across, terms, prior, diagonal)
        damping = np.maximum(1.0, largest)
        W, terms, moved = _line_search(Phi, across, cells, W, prior, terms, step)
        if not moved:
            break
    return Refit(W, 1.0 / diagonal, damping)


def _newton_step(Phi: Array, across: Array, terms: Terms, prior: Prior, diagonal: Array) -> tuple[Array, Array]:
    """Return (prior + information)^-1 (-gradient), nearly; and the largest curvature met, in units of the diagonal.

    Products with Phi are in its precision, sums of them in double.
    """
    p, K, m = diagonal.shape
    F, D = terms.F.astype(Phi.dtype, copy=False), terms.D.astype(Phi.dtype, copy=False)
    step, residual = np.zeros_like(diagonal), -terms.gradient
    scaled = residual / diagonal
    direction, size = scaled.copy(), _inner(residual, scaled)
    first, largest = size.copy(), np.zeros(K)
    for _ in range(_CONJUGATE):
        moved = long_product(Phi, direction.reshape(p, K * m).astype(Phi.dtype, copy=False))
        push(moved, F, D)
        curved = long_product(across, moved).reshape(p, K, m) + prior.precision * direction
        bent = _inner(direction, curved)
        largest = np.maximum(largest, bent / np.maximum(_inner(direction, diagonal * direction), 1e-300))
        alpha = size / np.maximum(bent, 1e-300)
        step += alpha[:, None] * direction
        residual -= alpha[:, None] * curved
        scaled = residual / diagonal
        following = _inner(residual, scaled)
        if (following <= _ENOUGH * first).all():
            break
        direction = scaled + (following / np.maximum(size, 1e-300))[:, None] * direction
        size = following
    return step, largest


def _line_search(
    Phi: Array, across: Array, cells: Array, W: Array, prior: Prior, terms: Terms, step: Array
) -> tuple[Array, Terms, bool]:
    """Return each member's step is halved until its loss falls; one that never falls stays where it is."""
    length, slope = np.ones(W.shape[1]), _inner(terms.gradient, step)
    for _ in range(_HALVINGS):
        tried = W + length[:, None] * step
        new = terms_of(Phi, cells, tried, prior, across)
        worse = new.value > terms.value + 1e-4 * length * slope
        if not worse.any():
            return tried, new, bool((length > 0).any())
        length = np.where(worse, 0.5 * length, length)
    length = np.where(worse, 0.0, length)
    tried = W + length[:, None] * step
    return tried, terms_of(Phi, cells, tried, prior, across), bool((length > 0).any())


@jit_long
def _inner(a: Array, b: Array) -> Array:
    """Return <a_k, b_k> over the first and last index."""
    out = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            out[k] += dot(a[i, k], b[i, k])
    return out
