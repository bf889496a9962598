"""Models that are fitted to all answers at once: what a mixture wants of them, and the linear one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from askone._common.compiled import jit
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.features.scaling import Scaler
from askone.learners.mixture.bits import BitLikelihood

_HUGE = 1e12  # fits are in units of their scale

Fit = dict[str, Array]
"""A fitted model as plain arrays."""


class FittedMember(ABC):
    """A frozen configuration; what it learns is a ``Fit``."""

    layout: RowLayout
    """The columns of the rows that it is given."""
    first: ClassVar[int]
    """Answers before its first fit."""

    @property
    def ready(self) -> bool:
        """Whether it can be fitted here."""
        return True

    @property
    def reads_texts(self) -> bool:
        """Whether it reads texts, which the learner beside it never sees."""
        return False

    @property
    def quick(self) -> FittedMember:
        """One that is fitted in less time, and hardly worse: for what is found in hindsight."""
        return self

    @abstractmethod
    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        """Return the model of bits about rows, in units of their scale; ``before`` is the one of fewer bits."""

    @abstractmethod
    def scores(self, fit: Fit, X: Array) -> Array:
        """Return scores in units of the scale, n x outputs: the same on every processor."""

    @abstractmethod
    def check(self, fit: Fit, outputs: int) -> None:
        """Refuse arrays that are no model of this kind: files of strangers have fits, and compiled loops trust them."""


def require_scaler(scaler: Scaler, layout: RowLayout) -> None:
    """Refuse a scaler of other columns than the dense ones of rows."""
    if scaler.columns != layout.dense:
        raise InvalidArgument("scaler", f"of {layout.dense} columns", scaler.columns)


def require_array(fit: Fit, name: str, kind: str, *shape: int | None) -> Array:
    """Return an array of a fit that has this type and shape (None: any), and numbers that no sum makes infinite."""
    array = fit.get(name)
    sizes = () if array is None else array.shape
    fits = len(sizes) == len(shape) and all(want in (None, size) for size, want in zip(sizes, shape, strict=True))
    if array is None or array.dtype.str[1:] != kind or not fits or not (np.abs(array) < _HUGE).all():
        raise InvalidArgument(f"fit[{name!r}]", f"numbers of type {kind} and shape {shape}, not huge", sizes)
    return array


def likeliest(
    likelihood: BitLikelihood, A: Array | csr_matrix, bits: Array, flip: float, tau: float, start: Array | None = None
) -> Array:
    """Return argmin over W = (w, b) of the loss of bits at scores A w + b, + |w|^2 / (2 tau^2), by L-BFGS.

    For classes b ~ N(0, 1).  Without it a class that was right by chance in none of the first few answers gets a chance
    of nothing, is in no set from then on, and a no to all others then teaches nothing of it.
    """
    start = np.zeros((A.shape[1] + 1, likelihood.outputs)) if start is None else start
    ridge = np.full((len(start), 1), 1.0 / tau**2)
    ridge[-1] = 1.0 if likelihood.outputs > 1 else 0.0

    def value(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(start.shape)
        slopes = likelihood.slopes(A @ W[:-1] + W[-1], bits, flip)
        gradient = np.vstack([A.T @ slopes.gradient, slopes.gradient.sum(axis=0)]) + ridge * W
        return slopes.losses.sum() + 0.5 * (ridge * W**2).sum(), gradient.ravel()

    options = {"maxiter": 50, "maxcor": 8, "gtol": 1e-5 * A.shape[0]}
    found = minimize(value, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x.reshape(start.shape))


@final
@dataclass(frozen=True, eq=False)
class LinearMember(FittedMember):
    """F = W x + b of scaled columns and of terms, with w ~ N(0, tau^2): see ``likeliest``.

    Columns are (x - center) / scale / sqrt(d), and at most 10 of their scales away.
    """

    layout: RowLayout
    scaler: Scaler
    tau: float
    first: ClassVar[int] = 64

    def __post_init__(self) -> None:
        require_scaler(self.scaler, self.layout)

    @property
    def reads_texts(self) -> bool:
        return self.layout.terms > 0

    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        return {
            "W": likeliest(likelihood, self._matrix(X), bits, flip, self.tau, None if before is None else before["W"])
        }

    def _dense(self, X: Array) -> Array:
        scaled = self.scaler(np.ascontiguousarray(X[:, : self.layout.dense], dtype=np.float64))
        return np.clip(scaled, -10.0, 10.0) / math.sqrt(max(self.layout.dense, 1))

    def _matrix(self, X: Array) -> csr_matrix:
        layout, dense = self.layout, self._dense(X)
        if not layout.pairs:
            return dense
        n, after = len(X), layout.columns - 2 * layout.pairs
        terms, values = X[:, after : after + layout.pairs].astype(np.int64), X[:, after + layout.pairs :]
        rows, places = np.nonzero(terms)
        d = layout.dense
        row = np.concatenate([np.repeat(np.arange(n), d), rows])
        column = np.concatenate([np.tile(np.arange(d), n), d + terms[rows, places] - 1])
        data = np.concatenate([dense.ravel(), values[rows, places]])
        return csr_matrix((data, (row, column)), shape=(n, d + layout.terms))

    def check(self, fit: Fit, outputs: int) -> None:
        require_array(fit, "W", "f8", self.layout.dense + (self.layout.terms if self.layout.pairs else 0) + 1, outputs)

    def scores(self, fit: Fit, X: Array) -> Array:
        layout = self.layout
        after = layout.columns - 2 * layout.pairs
        packed = np.ascontiguousarray(X[:, after:], dtype=np.float64)
        return _linear_scores(self._dense(X), packed, layout.pairs, fit["W"])


@jit
def _linear_scores(dense: Array, packed: Array, pairs: int, W: Array) -> Array:
    n, d = dense.shape
    out = np.empty((n, W.shape[1]))
    for i in range(n):
        for k in range(W.shape[1]):  # a slice at once would take numba twenty seconds to compile
            out[i, k] = W[-1, k]
        for j in range(d):
            for k in range(W.shape[1]):
                out[i, k] += dense[i, j] * W[j, k]
        for j in range(pairs):
            term = int(packed[i, j])
            if 0 < term < len(W) - d:  # rows of strangers may have any
                for k in range(W.shape[1]):
                    out[i, k] += packed[i, pairs + j] * W[d + term - 1, k]
    return out
