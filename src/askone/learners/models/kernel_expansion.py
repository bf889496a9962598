"""The exact kernel model: f(x) = sum_i a_i k(x_i, x), growing by one term an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import ClassVar, final

import numpy as np

from askone._common.compiled import paired_dots
from askone._common.types import Array
from askone.features.kernels import Kernel
from askone.features.scaling import Scaler
from askone.learners.models.base import Model, Point

_CHUNK = 1 << 22  # kernel values held at a time while predicting
_TAKING = Lock()  # room in a buffer: two threads may go on from one state


@final
class Buffer:
    """Rows that only grow.  States share one; writing other rows behind an older state makes a copy."""

    def __init__(self, width: int, capacity: int = 64) -> None:
        self._rows = np.zeros((capacity, width))
        self._used = 0
        self._last, self._read = dict[float, int](), 0

    def view(self, n: int) -> Array:
        """Return the first n rows."""
        return self._rows[:n]

    def last(self, n: int, value: float) -> int | None:
        """Return the place of the last of the first n rows that ends in a value, by an index that grows with them."""
        with _TAKING:
            if n < self._read:  # an older state than the index
                found = np.flatnonzero(self._rows[:n, -1] == value)
                return int(found[-1]) if len(found) else None
            ends = self._rows[self._read : n, -1].tolist()
            self._last.update(zip(ends, range(self._read, n), strict=True))
            self._read = n
            return self._last.get(value)

    def extended(self, n: int, rows: Array) -> Buffer:
        """Return a buffer whose first n rows are these, followed by ``rows``."""
        total = n + len(rows)
        if self._took(n, rows):
            return self
        # Where others write behind the older state, it may be one of many copies, most of which never grow.
        room = 2 * total if total > len(self._rows) else total + total // 8
        target = Buffer(self._rows.shape[1], max(64, room))
        target._rows[:n], target._rows[n:total] = self._rows[:n], rows
        target._used = total
        return target

    def _took(self, n: int, rows: Array) -> bool:
        """Write rows after the first n, unless there is no room or it is taken by others than the same."""
        total = n + len(rows)
        with _TAKING:
            if self._used == n and total <= len(self._rows):
                self._rows[n:total], self._used = rows, total
                return True
            # What would come after an answer is looked at before it comes: then the same is written again.
            same = np.ascontiguousarray(rows, dtype=np.float64).view(np.int64)
            return self._used >= total and np.array_equal(self._rows[n:total].view(np.int64), same)


@final
@dataclass(frozen=True, eq=False)
class ExpansionParams:
    """n support rows and their coefficients, copies x m numbers for each."""

    support: Buffer
    coefficients: Buffer
    n: int
    copies: int
    outputs: int

    def stacked(self) -> Array:
        """Return the coefficients, n x copies x m."""
        return self.coefficients.view(self.n).reshape(self.n, self.copies, self.outputs)

    def combined(self, mix: Array) -> Array:
        """Return the coefficients of a combination of the accumulators, n x m."""
        stacked = self.stacked()
        return np.asarray(sum(weight * stacked[:, k] for k, weight in enumerate(mix.tolist())))


@final
@dataclass(frozen=True, eq=False)
class KernelExpansion(Model[ExpansionParams]):
    """The paper's kernel model without approximation: O(t) per answer and O(t) memory.

    Its average is in closed form: nothing is added up over old iterates.
    """

    kernel: Kernel
    scaler: Scaler
    linear: ClassVar[bool] = True
    has_coordinates: ClassVar[bool] = False

    @property
    def columns(self) -> int:
        return self.scaler.columns

    def init(self, outputs: int, copies: int, diagonal: bool = False) -> ExpansionParams:
        return ExpansionParams(Buffer(self.columns), Buffer(copies * outputs), 0, copies, outputs)

    def evaluate(self, params: ExpansionParams, X: Array, mix: Array) -> Array:
        """Return K(X, support) (sum_k mix_k a_k), some rows at a time."""
        coefficients = params.combined(mix)
        support, rows = params.support.view(params.n), self.scaler(X)
        out = np.zeros((len(X), coefficients.shape[1]))
        if params.n == 0:
            return out
        chunk = max(1, _CHUNK // params.n)
        for i in range(0, len(rows), chunk):
            out[i : i + chunk] = self.kernel.matrix(rows[i : i + chunk], support) @ coefficients
        return out

    def at(self, params: ExpansionParams, X: Array) -> ExpansionPoint:
        return ExpansionPoint(params, self.kernel, self.scaler(X))

    def marked(self, params: ExpansionParams, mix: Array) -> ExpansionParams:
        stacked = params.stacked().copy()
        stacked[:, 2] = stacked[:, 3]
        stacked[:, 3] = params.combined(mix)
        return self._with(params, stacked)

    def rescaled(self, params: ExpansionParams, scale: float, cumulated: float) -> ExpansionParams:
        stacked = params.stacked().copy()
        stacked[:, 1:2] -= cumulated * stacked[:, :1]
        stacked[:, 0] *= scale
        return self._with(params, stacked)

    def to_arrays(self, params: ExpansionParams) -> dict[str, Array]:
        return {
            "support": params.support.view(params.n).copy(),
            "coefficients": params.coefficients.view(params.n).copy(),
            "shape": np.array([params.copies, params.outputs]),
        }

    def from_arrays(self, arrays: dict[str, Array]) -> ExpansionParams:
        support, coefficients = arrays["support"], arrays["coefficients"]
        rows, terms = (Buffer(part.shape[1]).extended(0, part) for part in (support, coefficients))
        copies, outputs = (int(n) for n in arrays["shape"])
        return ExpansionParams(rows, terms, len(support), copies, outputs)

    def _with(self, params: ExpansionParams, stacked: Array) -> ExpansionParams:
        rows = stacked.reshape(params.n, params.copies * params.outputs)
        fresh = Buffer(rows.shape[1]).extended(0, rows)
        return replace(params, coefficients=fresh)


@final
@dataclass(frozen=True, eq=False)
class ExpansionPoint(Point[ExpansionParams]):
    """A kernel expansion around b scaled rows."""

    params: ExpansionParams
    kernel: Kernel
    rows: Array

    def values(self, scale: float) -> Array:
        n, m = self.params.n, self.params.outputs
        coefficients = self.params.coefficients.view(n)
        if n == 0:
            return np.zeros((len(self.rows), m))
        a = np.ascontiguousarray(coefficients[:, :m])
        return np.asarray(scale * self.kernel.dot(self.rows, self.params.support.view(n), a))

    def gram(self) -> Array:
        return self.kernel.matrix(self.rows, self.rows)

    def squares(self, U: Array) -> Array:
        return np.asarray(self.gram().diagonal() * paired_dots(U, U))

    def stepped(self, V: Array, weights: Array) -> ExpansionParams:
        params, n = self.params, self.params.n
        terms = (weights[:, :, None] * V[:, None, :]).reshape(len(V), -1)
        support, coefficients = params.support.extended(n, self.rows), params.coefficients.extended(n, terms)
        return ExpansionParams(support, coefficients, n + len(V), params.copies, params.outputs)

    def stepped_diagonally(self, v: Array, scale: float, gamma: float, weights: Array) -> ExpansionParams:
        raise TypeError("a kernel expansion has no coordinates")

    def distance2(self, scale: float) -> float:
        """Return |theta|^2 = sum a_i a_j k(x_i, x_j)."""
        a = self.params.combined(np.eye(self.params.copies)[0])
        support = self.params.support.view(self.params.n)
        return float(scale * scale * np.sum(a * (self.kernel.matrix(support, support) @ a)))
