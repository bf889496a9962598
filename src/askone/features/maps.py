"""Finite feature maps: linear, Nyström and random Fourier features of a row."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.arithmetic import cosines
from askone._common.compiled import long_product
from askone._common.types import Array
from askone._common.validate import as_count, as_rows, require_floats
from askone.features import compiled
from askone.features.kernels import Gaussian, Kernel, Points, kernel_named, median_distance
from askone.features.scaling import Scaler

_NOTHING = np.empty((0, 0))


class FeatureMap(ABC):
    """phi: rows of ``columns`` numbers -> ``size`` features."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def columns(self) -> int:
        """Width of a row."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of features p."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return phi(x_i), n x p, contiguous."""

    def times(self, X: Array, W: Array) -> Array:
        """Return <phi(x_i), w_j>, n x k: as of the features themselves, but for rounding, where that is cheaper."""
        return np.asarray(long_product(self(X), W))


@final
@dataclass(frozen=True, eq=False)
class Intercept(FeatureMap):
    """1, whatever the row: a model without context."""

    inputs: int
    name: ClassVar[str] = "intercept"
    size: ClassVar[int] = 1

    @property
    def columns(self) -> int:
        return self.inputs

    def __call__(self, X: Array) -> Array:
        return np.ones((len(X), 1))


@final
@dataclass(frozen=True, eq=False)
class Front(FeatureMap):
    """A map of the first columns of rows that have ``inputs`` of them.

    >>> Front(Linear(Scaler.identity(1)), 3)(np.array([[1.0, 7.0, 8.0]])).round(3).tolist()
    [[0.707, 0.707]]
    """

    inner: FeatureMap
    inputs: int
    name: ClassVar[str] = "front"

    @property
    def columns(self) -> int:
        return self.inputs

    @property
    def size(self) -> int:
        return self.inner.size

    def __call__(self, X: Array) -> Array:
        return self.inner(np.ascontiguousarray(X[:, : self.inner.columns]))

    def times(self, X: Array, W: Array) -> Array:
        return self.inner.times(np.ascontiguousarray(X[:, : self.inner.columns]), W)


class ScaledMap(FeatureMap):
    """Features of rows that are scaled first."""

    scaler: Scaler

    @property
    def columns(self) -> int:
        return self.scaler.columns


@final
@dataclass(frozen=True, eq=False)
class Linear(ScaledMap):
    """(1, x) / sqrt(d + 1) of the scaled row: a linear model with intercept.

    >>> Linear(Scaler.identity(3))(np.ones((1, 3))).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """

    scaler: Scaler
    name: ClassVar[str] = "linear"

    @property
    def size(self) -> int:
        return self.scaler.columns + 1

    def __call__(self, X: Array) -> Array:
        features = np.empty((len(X), self.size))
        features[:, 0] = 1.0
        np.divide(X - self.scaler.center, self.scaler.scale, out=features[:, 1:])
        features /= math.sqrt(self.size)
        return features


@final
@dataclass(frozen=True, eq=False)
class Nystroem(ScaledMap):
    """phi(x) = K_ZZ^{-1/2} k_Z(x) for p representers Z among the unlabelled rows.

    For these whitened features |theta| is the norm of the function, as Theorem 1 wants it.
    Without a ``whitener`` phi(x) = k_Z(x), the reference code's parametrisation, which squares the
    conditioning: cheaper per row (p instead of p^2), slower to learn.
    """

    kernel: Kernel
    scaler: Scaler
    representers: Array
    whitener: Array | None
    name: ClassVar[str] = "nystroem"

    def __post_init__(self) -> None:
        require_floats(self.representers, "representers", None, self.scaler.columns)
        if self.whitener is not None:
            require_floats(self.whitener, "whitener", len(self.representers), None)

    @classmethod
    def from_rows(
        cls, X: Array, size: int = 100, kernel: str = "gaussian", bandwidth: float | None = None,
        *, whiten: bool = True, scaler: Scaler | None = None, seed: int = 0,
    ) -> Nystroem:  # fmt: skip
        """Draw representers from unlabelled rows; without a bandwidth the median distance is it.

        Eigenvalues below 1e-10 of the largest are dropped, so duplicated rows do no harm.
        """
        scaler, rows, chosen = _designed(X, kernel, bandwidth, scaler)
        size = min(as_count(size, "size", 1), len(rows))
        order = np.argsort(random_table.uniforms(seed, 0, 1, len(rows), random_table.DESIGN)[0], kind="stable")
        Z = np.ascontiguousarray(rows[np.sort(order[:size])])
        whitener = None
        if whiten:
            eigenvalues, vectors = np.linalg.eigh(chosen.matrix(Z, Z))
            kept = eigenvalues > 1e-10 * eigenvalues[-1]
            whitener = np.ascontiguousarray(vectors[:, kept] / np.sqrt(eigenvalues[kept]))
        return cls(chosen, scaler, Z, whitener)

    @property
    def size(self) -> int:
        """p (fewer where representers nearly coincide)."""
        return len(self.representers) if self.whitener is None else self.whitener.shape[1]

    @cached_property
    def _points(self) -> Points:
        return Points(self.representers)

    def __call__(self, X: Array) -> Array:
        if len(X) == 1 and isinstance(self.kernel, Gaussian):
            return self._row(X, self.kernel.bandwidth)
        sections = self.kernel.matrix(self.scaler(X), self._points)
        return sections if self.whitener is None else np.asarray(long_product(sections, self.whitener))

    def times(self, X: Array, W: Array) -> Array:
        # k_Z(x) (K^{-1/2} W): p k numbers a row in place of p^2.
        sections = self.kernel.matrix(self.scaler(X), self._points)
        return np.asarray(long_product(sections, W if self.whitener is None else long_product(self.whitener, W)))

    def _row(self, X: Array, bandwidth: float) -> Array:
        # One compiled call in place of a dozen NumPy calls: somebody is waiting for the question.
        sections = np.empty((1, len(self.representers)))
        whitener = _NOTHING if self.whitener is None else self.whitener
        out = sections if self.whitener is None else np.zeros((1, whitener.shape[1]))
        scaler, Z = self.scaler, self._points
        parts = (X, scaler.center, scaler.scale, Z.columns, Z.squares, bandwidth, whitener, sections, out)
        compiled.nystroem_row(*parts)
        return out


@final
@dataclass(frozen=True, eq=False)
class Fourier(ScaledMap):
    """sqrt(2/p) cos(<w_j, x> + b_j): random features whose inner product is the kernel."""

    scaler: Scaler
    frequencies: Array
    phases: Array
    name: ClassVar[str] = "fourier"

    def __post_init__(self) -> None:
        require_floats(self.phases, "phases", None)
        require_floats(self.frequencies, "frequencies", len(self.phases), self.scaler.columns)

    @classmethod
    def from_rows(
        cls, X: Array, size: int = 100, kernel: str = "gaussian", bandwidth: float | None = None,
        *, scaler: Scaler | None = None, seed: int = 0,
    ) -> Fourier:  # fmt: skip
        """Draw frequencies; without a bandwidth the median distance of the rows is it."""
        scaler, rows, chosen = _designed(X, kernel, bandwidth, scaler)
        size, d = as_count(size, "size", 1), rows.shape[1]
        uniform = random_table.uniforms(seed, 1, size, d + 1, random_table.DESIGN)
        return cls(scaler, chosen.frequencies(uniform[:, :d]), 2 * math.pi * uniform[:, d])

    @property
    def size(self) -> int:
        return len(self.phases)

    def __call__(self, X: Array) -> Array:
        angles = long_product(self.scaler(X), self._columns) + self.phases
        return np.asarray(math.sqrt(2 / self.size) * cosines(angles.ravel()).reshape(angles.shape))

    @cached_property
    def _columns(self) -> Array:
        return np.ascontiguousarray(self.frequencies.T)


def _designed(X: Array, kernel: str, bandwidth: float | None, scaler: Scaler | None) -> tuple[Scaler, Array, Kernel]:
    X = as_rows(X)
    scaler = scaler or Scaler.from_rows(X)
    rows = scaler(X)
    return scaler, rows, kernel_named(kernel, median_distance(rows, kernel) if bandwidth is None else bandwidth)
