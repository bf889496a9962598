"""A normal distribution of rows for each class: what a few answers say of many columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dtrtri
from scipy.special import gammaln, softmax

from askone._common import random_table
from askone._common.arithmetic import log
from askone._common.compiled import jit
from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.features.scaling import Scaler
from askone.learners.mixture.bits import BitLikelihood
from askone.learners.mixture.members import Fit, FittedMember, require_array, require_scaler

_ROUNDS, _SETTLED = 30, 0.01  # of the alternation; the largest change of a chance after which it ends
_RIDGE = 0.05  # variance, in scaled columns, that so many rows as there are components are taken to have
_TEMPERATURES = (0.06, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)
_TINY = 1e-300
_LARGEST = 1024  # components
_SURPRISE = 1e-3  # answers are not forecast to be less likely: one slip among thousands would make all scores next to 0


@final
@dataclass(frozen=True, eq=False)
class DiscriminantMember(FittedMember):
    """F_k = log pi_k + log t(z; m_k, S_k, f_k), z the first principal components of a row, at most ``size`` of them.

    Answers leave sets of classes, with chances b of the answer by each class.  In turn are found

        r_ik  ~  b_ik pi_k N(z_i; m_k, S_k) ,     n_k = sum_i r_ik ,
        m_k   =  sum_i r_ik z_i / (n_k + 1) ,
        S_k   =  (sum_i r_ik (z_i - m_k)(z_i - m_k)^T + nu S) / (n_k + nu) ,   nu = ``prior`` x components,

    with S the covariance within all classes: a quadratic discriminant, of next to no answers a linear one.  Twenty
    classes of normal distributions in twenty columns have an error of .35 after 3,000 answers by kernels, and of .11
    by this.  S_k is an estimate, so that new rows have Student's t, with f_k = n_k + nu - q + 1 for q components.  And
    rows are never quite normal, so that many columns together are too sure: the scores are tempered by what half of
    the rows say of the answers about the other half.
    """

    layout: RowLayout
    scaler: Scaler
    size: int = 32
    prior: float = 2.0
    most: int = 5000
    seed: int = 0
    first: ClassVar[int] = 64

    def __post_init__(self) -> None:
        require_scaler(self.scaler, self.layout)
        as_count(self.size, "size", 1, _LARGEST)

    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        lots = random_table.uniforms(self.seed, 0, 1, len(X), random_table.DESIGN)[0]
        chosen = np.argsort(lots, kind="stable")[: self.most]  # halves by lot: tables come sorted
        rows, half = self._scaled(X[chosen]), len(chosen) // 2
        chances = np.maximum(flip + (1.0 - 2.0 * flip) * bits[chosen, : likelihood.outputs], _TINY)
        V = _components(rows, self.size)
        Z, nu = rows @ V, self.prior * V.shape[1]
        heat = _temperature(_normals(Z[:half], chances[:half], nu), Z[half:], chances[half:])
        found = _normals(Z, chances, nu)
        return {
            "components": V, "means": found.means, "factors": found.factors, "freedom": found.freedom,
            "constants": heat * found.constants, "heat": np.array(heat),
        }  # fmt: skip

    def _scaled(self, X: Array) -> Array:
        dense = np.ascontiguousarray(X[:, : self.layout.dense], dtype=np.float64)
        return np.ascontiguousarray(np.clip(self.scaler(dense), -10.0, 10.0))

    def check(self, fit: Fit, outputs: int) -> None:
        q = min(self.layout.dense, self.size)
        require_array(fit, "components", "f8", self.layout.dense, q)
        require_array(fit, "means", "f8", outputs, q)
        require_array(fit, "factors", "f8", outputs, q, q)
        require_array(fit, "constants", "f8", outputs)
        if require_array(fit, "heat", "f8") <= 0.0 or (require_array(fit, "freedom", "f8", outputs) <= 0.0).any():
            raise InvalidArgument("fit", "positive degrees of freedom, and heat", (fit["freedom"].min(), fit["heat"]))

    def scores(self, fit: Fit, X: Array) -> Array:
        names = ("components", "means", "factors", "constants", "freedom")
        return _scores(self._scaled(X), *(np.ascontiguousarray(fit[name]) for name in names), fit["heat"].item())


@final
class _Normals(NamedTuple):
    """Means m, inverses A of the triangles of S = L L^T, log pi - log |L|, degrees of freedom f."""

    means: Array
    factors: Array
    logs: Array
    freedom: Array

    def distances(self, Z: Array) -> Array:
        """Return (z - m)^T S^-1 (z - m)."""
        found = [((Z - m) @ A.T) ** 2 for m, A in zip(self.means, self.factors, strict=True)]
        return np.column_stack([one.sum(axis=1) for one in found])

    @property
    def constants(self) -> Array:
        """Student's t at the mean, without the factors that all classes share."""
        f, q = self.freedom, self.means.shape[1]
        return np.asarray(self.logs + gammaln(0.5 * (f + q)) - gammaln(0.5 * f) - 0.5 * q * np.log(0.5 * f))


def _components(rows: Array, most: int) -> Array:
    """Return the directions in which rows differ most, as columns: all that there are where these are few."""
    d = rows.shape[1]
    if d <= most:
        return np.eye(d)
    centred = rows - rows.mean(axis=0)
    return np.ascontiguousarray(eigh(centred.T @ centred, subset_by_index=(d - most, d - 1))[1])


def _normals(Z: Array, chances: Array, nu: float) -> _Normals:
    """Return the normal distributions of rows by what their answers leave: see ``DiscriminantMember``."""
    (n, q), K = Z.shape, chances.shape[1]
    r, rounds = chances / chances.sum(axis=1, keepdims=True), 0
    while True:
        held = r.sum(axis=0)
        means = (r.T @ Z) / (held + 1.0)[:, None]
        spread = np.empty((K, q, q))
        for k in range(K):
            there = r[:, k] > _SETTLED / n
            D = Z[there] - means[k]
            spread[k] = (r[there, k, None] * D).T @ D
        pooled = (spread.sum(axis=0) + _RIDGE * q * np.eye(q)) / (n + q)
        factors, logs = np.empty((K, q, q)), np.log((held + 1.0) / (n + K))
        triangles = np.linalg.cholesky((spread + nu * pooled) / (held + nu)[:, None, None])
        for k in range(K):
            factors[k] = dtrtri(triangles[k], lower=1)[0]
            logs[k] -= np.log(np.diag(triangles[k])).sum()
        found, rounds = _Normals(means, factors, logs, held + nu - q + 1.0), rounds + 1
        after = softmax(logs - 0.5 * found.distances(Z) + np.log(chances), axis=1)
        if rounds == _ROUNDS or np.abs(after - r).max(initial=0.0) < _SETTLED:
            return found
        r = after


def _temperature(found: _Normals, Z: Array, chances: Array) -> float:
    """Return by which factor scores forecast answers about other rows best."""
    f, q = found.freedom, Z.shape[1]
    scores = found.constants - 0.5 * (f + q) * np.log1p(found.distances(Z) / f)

    def likely(heat: float) -> float:
        inside = (softmax(heat * scores, axis=1) * chances).sum(axis=1)
        return float(np.log(np.maximum(inside, _SURPRISE)).sum())

    return max(_TEMPERATURES, key=likely)


@jit
def _scores(
    rows: Array, components: Array, means: Array, factors: Array, constants: Array, freedom: Array, heat: float
) -> Array:
    (n, d), (K, q) = rows.shape, means.shape
    out, z = np.empty((n, K)), np.empty(q)
    for i in range(n):
        for j in range(q):
            z[j] = 0.0
        for c in range(d):
            for j in range(q):
                z[j] += rows[i, c] * components[c, j]
        for k in range(K):
            distance = 0.0
            for a in range(q):
                v = 0.0
                for b in range(a + 1):
                    v += factors[k, a, b] * (z[b] - means[k, b])
                distance += v * v
            out[i, k] = constants[k] - heat * 0.5 * (freedom[k] + q) * log(1.0 + distance / freedom[k])
    return out
