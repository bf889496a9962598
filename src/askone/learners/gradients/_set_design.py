"""Which sets to ask, and what a bit about a set teaches: unbiased pseudo-labels of least variance.

A set S cuts the labels into two cells, S and its complement.  Draw S with probability q_S, observe
the cell C that holds Y, and put

    w = M^-1 1_C / P(C),    M = sum_S q_S [1_S 1_S^T / P(S) + 1_{S^c} 1_{S^c}^T / P(S^c)],

with P the probabilities of a working model p.  Then E[w | Y = y] = e_y *whatever p is*: w is an
unbiased one-hot label, and G^T w an unbiased gradient for the rows g_y of G.  If p is right, no
unbiased estimator from one bit has a smaller second moment than tr(G^T M^-1 G), which is convex in
q; the multiplicative updates q_S <- q_S sqrt(tr(M^-1 G G^T M^-1 M_S)) lead to the best q.

Where the sets do not span R^K, all of this happens in their span, and E[w | Y = y] is the
projection of e_y on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from askone._common.compiled import times
from askone._common.decomposition import inverse
from askone._common.types import Array


@final
@dataclass(frozen=True, eq=False)
class Design:
    """Sets (rows of 0 and 1), the probabilities they are drawn with, a working model, a basis of their span.

    >>> singletons = Design(np.eye(3), np.full(3, 1 / 3), np.array([0.5, 0.3, 0.2]), np.eye(3))
    >>> yes, no = singletons.pseudo_labels(0)
    >>> both = [sum(singletons.q[s] * singletons.pseudo_labels(s)[int(s != y)] for s in range(3)) for y in range(3)]
    >>> bool(np.allclose(both, np.eye(3)))
    True
    """

    inside: Array
    q: Array
    p: Array
    basis: Array

    @cached_property
    def mass(self) -> Array:
        """P(S) of each set, kept off 0 and 1."""
        return np.asarray(np.clip(times(self.inside, self.p), 1e-9, 1 - 1e-9))

    @cached_property
    def inverse(self) -> Array:
        """M^-1 on the span, K x K."""
        # 1_{S^c} = 1 - 1_S, multiplied out: one product of matrices in place of two.
        yes, no = self.q / self.mass, self.q / (1 - self.mass)
        shared = times(no, self.inside)
        M = times(self.inside.T * (yes + no), self.inside) - shared[:, None] - shared + no.sum()
        if len(M) == self.basis.shape[1]:  # all of the space: the basis is that of the classes
            found = inverse(M)
            return np.asarray(0.5 * (found + found.T))
        inner = inverse(times(times(self.basis.T, M), self.basis))
        return times(times(self.basis, 0.5 * (inner + inner.T)), self.basis.T)

    def pseudo_labels(self, which: int) -> tuple[Array, Array]:
        """Return w for the answers yes and no to a set."""
        row, mass = self.inside[which], self.mass[which]
        return times(self.inverse, row) / mass, times(self.inverse, 1.0 - row) / (1 - mass)

    def second_moment(self, G: Array) -> float:
        """Return tr(G^T M^-1 G): of the gradient, if the working model is right."""
        return float(np.einsum("ij,ik,kj->", G, self.inverse, G))

    def improved(self, G: Array) -> Array:
        """Return one multiplicative update of q, for gradients G (K x m)."""
        A = times(G.T, self.inverse)
        total = A.sum(axis=1, keepdims=True)
        yes = times(A, self.inside.T)
        gain = (yes * yes).sum(axis=0) / self.mass + np.square(total - yes).sum(axis=0) / (1 - self.mass)
        q = self.q * np.sqrt(gain)
        return np.asarray(q / q.sum()) if q.sum() > 0 else self.q


def best_design(inside: Array, p: Array, G: Array, basis: Array, updates: int = 4, spread: float = 0.05) -> Design:
    """Return a design close to the best for gradients G under the model p.

    A few updates come within two percent of it; ``spread`` of the probability stays on all sets alike, so that a
    wrong model costs variance and nothing else.
    """
    n = len(inside)
    design = Design(inside, np.full(n, 1 / n), p, basis)
    for _ in range(updates):
        q = (1 - spread) * design.improved(G) + spread / n
        design = Design(inside, q, p, basis)
    return design
