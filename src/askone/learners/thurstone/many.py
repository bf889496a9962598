"""Orders of very many items: Thurstone's model with a mean and a variance for each item, and all comparisons kept.

A covariance of m items is m^2 numbers to change with every answer, 800 MB for 10,000 of them.  Here comparisons are
a graph.  An answer changes its two items, then their neighbours as far as it matters (``_local``): what the whole
posterior would say of an item, near enough, at a cost that does not grow with m.  The scale of utilities, flips, the
side and the margin of ties are weighed as in ``ranker``.

The joint posterior, which intervals of ranks take, is N(u, P^-1) with
P = I / tau^2 + sum_e p_e (e_i - e_j)(e_i - e_j)^T.  It is drawn from when it is wanted:
P^-1 (z / tau + sum_e sqrt(p_e) z_e (e_i - e_j)) with normal z has this covariance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array

from askone._common.types import Array
from askone._common.validate import as_rows
from askone.errors import InvalidArgument
from askone.labels.ranking import Ranking
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.thurstone import _local
from askone.learners.thurstone.banks import PairBank
from askone.learners.thurstone.base import SMALL, Heard, PairLearner

_ROUNDS, _CLOSE = 500, 1e-4  # steps of conjugate gradients, and the residual at which they end


@final
@dataclass(frozen=True, eq=False)
class ManyItemsState:
    """Means and variances of the utilities, filters x m; the comparisons, and the last one of each item, or -1."""

    means: Array
    variances: Array
    head: Array
    told: Buffer
    evidence: Array
    traits: Array
    count: int = 0


@final
@dataclass(frozen=True, eq=False)
class ManyItemsLearner(PairLearner[ManyItemsState]):
    """One order of very many items, from comparisons that it chooses.  Nothing to tune.

    >>> from askone.features.maps import Intercept
    >>> names = Ranking(tuple(range(5000)), embedding="items")
    >>> learner = ManyItemsLearner(names, (PairBank(Intercept(1), (1.0, 3.0), (0.0, 0.0)),))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.1, 0.9, 0.5, 0.7]))
    >>> state = learner.tell(state, [0.0], question, True)
    >>> int(learner.predict(state, [[0.0]]).argmax()) == question.first
    True
    """

    space: Ranking
    banks: tuple[PairBank, ...]
    discount: float = 0.9999  # a thousand answers are few for thousands of items
    side: float = 0.0
    ties: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.banks) != 1 or self.banks[0].features.size != 1:
            raise InvalidArgument("banks", "one, of a constant: many items have no context", self.banks)

    @property
    def width(self) -> int:
        return 4

    def init(self) -> ManyItemsState:
        """Return N(0, tau^2) for every item in every filter."""
        shape = len(self.banks[0].scales), self.space.size
        variances = np.repeat(np.array(self.banks[0].scales)[:, None] ** 2, shape[1], axis=1)
        head = np.full(shape[1], -1, np.int64)
        return ManyItemsState(np.zeros(shape), variances, head, Buffer(_local.COLUMNS), *self._begun())

    def _pair(self, state: ManyItemsState, at: int, k: int, phi: Array, uniform: Array) -> tuple[int, int, float]:
        return self._drawn(state.means[k], lambda items: state.variances[k][items], uniform)

    # -- learning ---------------------------------------------------------------------------------

    def _copied(self, state: ManyItemsState, items: set[int]) -> ManyItemsState:
        own = {name: getattr(state, name).copy() for name in ("means", "variances", "head", "evidence", "traits")}
        return replace(state, **own)

    def _learnt(self, state: ManyItemsState, phis: list[Array], told: Heard) -> ManyItemsState:
        state = replace(state, told=self._with(state, told), count=state.count + 1)
        state.head[[told.first, told.second]] = state.count - 1
        self._weigh(state, self._told(state, state.told.view(state.count), learn=True))
        return state

    def _with(self, state: ManyItemsState, told: Heard) -> Buffer:
        """Return the comparisons, with one more."""
        return state.told.extended(state.count, self._row(state, told))

    def _row(self, state: ManyItemsState, told: Heard) -> Array:
        return np.array([[*told, state.head[told.first], state.head[told.second]]], float)

    def _logs(self, state: ManyItemsState, phis: list[Array], told: Heard) -> Array:
        return self._told(state, self._row(state, told), learn=False)

    def _told(self, state: ManyItemsState, told: Array, learn: bool) -> Array:
        """Return log Z of every filter for the last comparison; where they learn, in place."""
        bank, logs = self.banks[0], np.empty(len(state.evidence))
        priors = np.array(bank.scales) ** -2.0
        _local.tell_local(state.means, state.variances, state.head, told, priors, bank.rates, state.traits, learn, logs)
        return logs

    # -- what is known ----------------------------------------------------------------------------

    def predict(self, state: ManyItemsState, X: ArrayLike) -> Array:
        """Return mean utilities, in units of the noise, n x m."""
        mean = self.weights(state) @ state.means
        return np.repeat(mean[None, :], len(as_rows(X, self.columns)), axis=0)

    def std(self, state: ManyItemsState, X: ArrayLike) -> Array:
        """Return standard deviations of the utilities, n x m: each item's against the mean of all."""
        centered = state.means - state.means.mean(axis=1, keepdims=True)
        weights = np.where(self.weights(state) > SMALL, self.weights(state), 0.0)
        away = centered - self.weights(state) @ centered
        found = np.sqrt(weights @ (state.variances + away**2) / weights.sum())
        return np.repeat(found[None, :], len(as_rows(X, self.columns)), axis=0)

    def _difference(
        self, state: ManyItemsState, at: int, k: int, phi: Array, i: int, j: int
    ) -> tuple[float, float, float]:
        u, (one, other) = state.means[k], state.variances[k][[i, j]]
        return float(u[i] - u[j]), float(one + other), float((one * one + other * other) / (one + other) ** 2)

    def worth(self, state: ManyItemsState, X: ArrayLike) -> Array:
        """Return what the best of some candidates should tell the leading filter, in nats: the same for all rows."""
        k = self._lead(state)[1]
        most = self._most(state.means[k], lambda items: state.variances[k][items], self.banks[0].flips[k])
        return np.full(len(as_rows(X, self.columns)), most)

    def _draws(self, state: ManyItemsState, at: int, k: int, phi: Array, which: range) -> Array:
        told, m, T = state.told.view(state.count), self.space.size, state.count
        scale, p = self.banks[0].scales[k], np.empty(T)
        _local.weigh(state.means[k], state.variances[k], told, self.banks[0].flips[k], state.traits[k], p)
        i, j = told[:, _local.FIRST].astype(int), told[:, _local.SECOND].astype(int)
        edges = np.repeat(np.arange(T), 2), np.stack([i, j], 1).ravel()
        roots = csr_array((np.stack([np.sqrt(p), -np.sqrt(p)], 1).ravel(), edges), shape=(T, m))
        precision = (roots.T @ roots + diags_array(np.full(m, scale**-2.0))).tocsr()
        z = self._normals(which, m + T).T
        return np.asarray(state.means[k] + solved(precision, z[:m] / scale + roots.T @ z[m:]).T)

    # -- saving -----------------------------------------------------------------------------------

    def to_arrays(self, state: ManyItemsState) -> dict[str, Array]:
        return super().to_arrays(replace(state, told=state.told.view(state.count)))  # type: ignore[arg-type]  # its rows

    def from_arrays(self, arrays: dict[str, Array]) -> ManyItemsState:
        told = Buffer(_local.COLUMNS).extended(0, arrays["told"])
        plain = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array.ndim}
        return ManyItemsState(**{**plain, "told": told}, count=int(arrays["count"]))  # type: ignore[arg-type]


def solved(A: csr_array, B: Array) -> Array:
    """Return X with A X = B for a positive A: conjugate gradients for all columns at once, scaled by the diagonal.

    >>> solved(csr_array(np.array([[2.0, 1.0], [1.0, 2.0]])), np.array([[3.0], [3.0]])).round(3).tolist()
    [[1.0], [1.0]]
    """
    inverse = 1.0 / A.diagonal()[:, None]
    X, R = np.zeros_like(B), B.copy()
    P = inverse * R
    size = first = (R * P).sum(axis=0)
    for _ in range(_ROUNDS):
        if (size <= _CLOSE**2 * first).all():
            break
        AP = A @ P
        step = size / np.maximum((P * AP).sum(axis=0), 1e-300)
        X += step * P
        R -= step * AP
        before, size = size, (R * inverse * R).sum(axis=0)
        P = inverse * R + size / np.maximum(before, 1e-300) * P
    return X
