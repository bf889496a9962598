"""The min-max game of proposition 3: a prediction player v, a query player mu, one bit between them.

    min_v max_mu  sum_S mu_S E[L(v, S, eps)],   L = eps (1 - 2 v(S)) = -eps (v(S) - v(S^c)),

eps = 1 if Y in S, else -1.  (The paper's appendix lacks the minus sign, and its f* is an argmax of v*,
not an argmin.)  If one class has a probability above 1/2 and may be asked alone, v* is that class;
if not, v* need not even favour the likeliest class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.lazy import optimize
from askone._common.types import Array
from askone.errors import InvalidArgument


@final
@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Value of a game, and how both players play it."""

    value: float
    v: Array
    mu: Array


def payoff(p: ArrayLike, inside: ArrayLike) -> Array:
    """Return what the query player gains: -(2 P(S) - 1)(2 1{y in S} - 1) for each set S (rows) and class y.

    >>> payoff([0.4, 0.3, 0.3], np.eye(3)).round(12).tolist()
    [[0.2, -0.2, -0.2], [-0.4, 0.4, -0.4], [-0.4, -0.4, 0.4]]
    """
    p, inside = np.asarray(p, dtype=np.float64), np.asarray(inside, dtype=np.float64)
    if p.ndim != 1 or (p < 0).any() or abs(p.sum() - 1) > 1e-9 or inside.shape[1:] != p.shape:
        raise InvalidArgument("p", "probabilities of the classes that the sets are made of", p)
    return np.asarray(-(2 * inside @ p - 1)[:, None] * (2 * inside - 1))


def equilibrium(p: ArrayLike, inside: ArrayLike) -> Equilibrium:
    """Return the exact solution for known probabilities, by linear programming.

    >>> found = equilibrium([0.4, 0.3, 0.3], np.eye(3))       # the paper's counter-example
    >>> round(found.value, 9), found.mu.round(9).tolist(), found.v.round(9).tolist()
    (-0.1, [0.5, 0.25, 0.25], [0.25, 0.375, 0.375])
    """
    A = payoff(p, inside)
    v, value = _solved(A)
    mu, _ = _solved(-A.T)
    return Equilibrium(value, v, mu)


def gap(A: Array, v: Array, mu: Array) -> float:
    """Return how much the players could gain by deviating, together: 0 at an equilibrium."""
    return float((A @ v).max() - (mu @ A).min())


def _solved(A: Array) -> tuple[Array, float]:
    """Return min_v max_i (A v)_i over the simplex: minimise t with A v <= t."""
    rows, columns = A.shape
    cost = np.append(np.zeros(columns), 1.0)
    bounds = [(0, None)] * columns + [(None, None)]
    total = np.append(np.ones(columns), 0.0)[None]
    found = optimize.linprog(cost, np.hstack([A, -np.ones((rows, 1))]), np.zeros(rows), total, [1.0], bounds)
    return np.asarray(found.x[:-1]), float(found.x[-1])
