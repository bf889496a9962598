"""What a model sees of a row: scaled inputs, kernels, and finite feature maps.

Everything here is chosen from unlabelled rows.  Feature maps have |phi(x)| of about 1, so that
kappa = 1 in the paper's formulas.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from askone import draws, kernels
from askone.errors import InvalidArgument, incompatible
from askone.inputs import as_count, as_number, as_rows

Array = NDArray[Any]

_MANY_DIMENSIONS = 12  # from here on a matrix product beats the loop over coordinates
_SAMPLE = 1000
_NOTHING = np.empty((0, 0))


@final
@dataclass(frozen=True, eq=False)
class Scaler:
    """Columns shifted and scaled: x -> (x - center) / scale.

    >>> Scaler.from_rows(np.array([[0.0, 7.0], [2.0, 7.0]]))(np.array([[2.0, 8.0]])).tolist()
    [[1.0, 1.0]]
    """

    center: Array
    scale: Array

    @classmethod
    def from_rows(cls, X: Array) -> Scaler:
        """Mean 0 and standard deviation 1 on these rows; a constant column is only shifted."""
        X = as_rows(X)
        deviation = X.std(axis=0)
        tiny = 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
        return cls(X.mean(axis=0), np.where(deviation > tiny, deviation, 1.0))

    @classmethod
    def identity(cls, columns: int) -> Scaler:
        """Rows as they come."""
        return cls(np.zeros(columns), np.ones(columns))

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.center)

    def __call__(self, X: Array) -> Array:
        return np.ascontiguousarray((X - self.center) / self.scale)


@final
@dataclass(frozen=True, eq=False)
class Points:
    """Rows that a kernel is evaluated at again and again, with what depends on them alone."""

    rows: Array

    @cached_property
    def columns(self) -> Array:
        """The rows transposed, contiguous."""
        return np.ascontiguousarray(self.rows.T)

    @cached_property
    def squares(self) -> Array:
        """|z_j|^2."""
        return np.asarray(np.einsum("ij,ij->i", self.rows, self.rows))


class Kernel(ABC):
    """A positive definite function of two rows."""

    name: ClassVar[str]
    bandwidth: float

    def matrix(self, X: Array, Z: Array | Points) -> Array:
        """k(x_i, z_j) for contiguous rows X and Z."""
        return self._matrix(X, Z if isinstance(Z, Points) else Points(Z))

    def dot(self, X: Array, Z: Array, a: Array) -> Array:
        """sum_j k(x_i, z_j) a_j, for coefficients a (n x m)."""
        return np.asarray(self.matrix(X, Z) @ a)

    @abstractmethod
    def _matrix(self, X: Array, Z: Points) -> Array:
        """The same."""

    @abstractmethod
    def frequencies(self, uniform: Array) -> Array:
        """Frequencies (p x d) whose cosines have this kernel as their mean, from uniforms."""


@final
@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-|x - z|^2 / (2 sigma^2)).

    >>> round(float(Gaussian(1.0).matrix(np.zeros((1, 2)), np.ones((1, 2)))[0, 0]), 6)
    0.367879
    """

    bandwidth: float = 1.0
    name: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        as_number(self.bandwidth, "bandwidth", 0.0, strict=True)

    def dot(self, X: Array, Z: Array, a: Array) -> Array:
        """For one input and one output in one pass, without the matrix: half of the time."""
        if X.shape[1] > 1 or a.shape[1] > 1:
            return np.asarray(self.matrix(X, Z) @ a)
        out = np.empty((len(X), 1))
        kernels.gaussian_line(X, Z.T, self.bandwidth, np.ascontiguousarray(a[:, 0]), out[:, 0])
        return out

    def _matrix(self, X: Array, Z: Points) -> Array:
        """By coordinates for few of them, by a matrix product for many."""
        if X.shape[1] < _MANY_DIMENSIONS:
            out = np.empty((len(X), len(Z.rows)))
            kernels.gaussian(X, Z.columns, self.bandwidth, out)
            return out
        out = np.asarray(X @ Z.rows.T)
        kernels.gaussian_from_products(out, Points(X).squares, Z.squares, self.bandwidth)
        return out

    def frequencies(self, uniform: Array) -> Array:
        """Normal, over the bandwidth."""
        return np.asarray(ndtri(uniform) / self.bandwidth)


@final
@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-|x - z|_1 / sigma).

    >>> round(float(Laplacian(2.0).matrix(np.zeros((1, 2)), np.ones((1, 2)))[0, 0]), 6)
    0.367879
    """

    bandwidth: float = 1.0
    name: ClassVar[str] = "laplacian"

    def __post_init__(self) -> None:
        as_number(self.bandwidth, "bandwidth", 0.0, strict=True)

    def _matrix(self, X: Array, Z: Points) -> Array:
        """By coordinates."""
        out = np.empty((len(X), len(Z.rows)))
        kernels.laplacian(X, Z.columns, self.bandwidth, out)
        return out

    def frequencies(self, uniform: Array) -> Array:
        """Cauchy in each coordinate, over the bandwidth."""
        return np.asarray(np.tan(math.pi * (uniform - 0.5)) / self.bandwidth)


@final
@dataclass(frozen=True)
class Dot(Kernel):
    """(1 + <x, z>) / (1 + sigma^2): the linear kernel with an intercept."""

    bandwidth: float = 1.0
    name: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        as_number(self.bandwidth, "bandwidth", 0.0, strict=True)

    def _matrix(self, X: Array, Z: Points) -> Array:
        """A matrix product."""
        return np.asarray((1.0 + X @ Z.rows.T) / (1.0 + self.bandwidth**2))

    def frequencies(self, uniform: Array) -> Array:
        """There are none: it is not a function of x - z."""
        raise incompatible("kernel", self.name, "random Fourier features", ["gaussian", "laplacian"])


KERNELS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in (Gaussian, Laplacian, Dot)}


def median_distance(X: Array, kernel: str = "gaussian") -> float:
    """The bandwidth rule: the median distance between unlabelled rows.

    |x - x'|_2 for the Gaussian kernel, |x - x'|_1 for the Laplacian; for the linear kernel the
    root mean square of |x|.  At most a thousand rows, evenly spaced, are looked at.

    >>> median_distance(np.array([[0.0], [1.0], [2.0]]))
    1.0
    """
    rows = X[:: max(1, len(X) // _SAMPLE)]
    if kernel == "linear":
        return float(np.sqrt(np.mean(np.sum(rows**2, axis=1)))) or 1.0
    norm = 1 if kernel == "laplacian" else 2
    distances = np.concatenate([np.linalg.norm(rows[i + 1 :] - row, norm, axis=1) for i, row in enumerate(rows)])
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 1.0


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
        """phi(x_i), n x p, contiguous."""


@final
@dataclass(frozen=True, eq=False)
class Intercept(FeatureMap):
    """1, whatever the row: a model without context."""

    inputs: int
    name: ClassVar[str] = "intercept"

    @property
    def columns(self) -> int:
        """d."""
        return self.inputs

    @property
    def size(self) -> int:
        """1."""
        return 1

    def __call__(self, X: Array) -> Array:
        return np.ones((len(X), 1))


@final
@dataclass(frozen=True, eq=False)
class Linear(FeatureMap):
    """(1, x) / sqrt(d + 1) of the scaled row: a linear model with intercept.

    >>> Linear(Scaler.identity(3))(np.ones((1, 3))).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """

    scaler: Scaler
    name: ClassVar[str] = "linear"

    @property
    def columns(self) -> int:
        """d."""
        return self.scaler.columns

    @property
    def size(self) -> int:
        """d + 1."""
        return self.scaler.columns + 1

    def __call__(self, X: Array) -> Array:
        features = np.empty((len(X), self.size))
        features[:, 0] = 1.0
        np.divide(X - self.scaler.center, self.scaler.scale, out=features[:, 1:])
        features /= math.sqrt(self.size)
        return features


@final
@dataclass(frozen=True, eq=False)
class Nystroem(FeatureMap):
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
        order = np.argsort(draws.uniforms(seed, 0, 1, len(rows), draws.DESIGN)[0], kind="stable")
        Z = np.ascontiguousarray(rows[np.sort(order[:size])])
        whitener = None
        if whiten:
            eigenvalues, vectors = np.linalg.eigh(chosen.matrix(Z, Z))
            kept = eigenvalues > 1e-10 * eigenvalues[-1]
            whitener = np.ascontiguousarray(vectors[:, kept] / np.sqrt(eigenvalues[kept]))
        return cls(chosen, scaler, Z, whitener)

    @property
    def columns(self) -> int:
        """d."""
        return self.scaler.columns

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
        return sections if self.whitener is None else np.asarray(sections @ self.whitener)

    def _row(self, X: Array, bandwidth: float) -> Array:
        # One compiled call in place of a dozen NumPy calls: somebody is waiting for the question.
        sections = np.empty((1, len(self.representers)))
        whitener = _NOTHING if self.whitener is None else self.whitener
        out = sections if self.whitener is None else np.zeros((1, whitener.shape[1]))
        Z = self._points.columns
        kernels.nystroem_row(X, self.scaler.center, self.scaler.scale, Z, bandwidth, whitener, sections, out)
        return out


@final
@dataclass(frozen=True, eq=False)
class Fourier(FeatureMap):
    """sqrt(2/p) cos(<w_j, x> + b_j): random features whose inner product is the kernel."""

    scaler: Scaler
    frequencies: Array
    phases: Array
    name: ClassVar[str] = "fourier"

    @classmethod
    def from_rows(
        cls, X: Array, size: int = 100, kernel: str = "gaussian", bandwidth: float | None = None,
        *, scaler: Scaler | None = None, seed: int = 0,
    ) -> Fourier:  # fmt: skip
        """Draw frequencies; without a bandwidth the median distance of the rows is it."""
        scaler, rows, chosen = _designed(X, kernel, bandwidth, scaler)
        size, d = as_count(size, "size", 1), rows.shape[1]
        uniform = draws.uniforms(seed, 1, size, d + 1, draws.DESIGN)
        return cls(scaler, chosen.frequencies(uniform[:, :d]), 2 * math.pi * uniform[:, d])

    @property
    def columns(self) -> int:
        """d."""
        return self.scaler.columns

    @property
    def size(self) -> int:
        """p."""
        return len(self.phases)

    def __call__(self, X: Array) -> Array:
        angles = self.scaler(X) @ self.frequencies.T + self.phases
        return np.asarray(math.sqrt(2 / self.size) * np.cos(angles))


def kernel_named(name: str, bandwidth: float) -> Kernel:
    """The kernel of this name."""
    if name not in KERNELS:
        raise InvalidArgument("kernel", "one of: " + ", ".join(map(repr, KERNELS)), name)
    return KERNELS[name](bandwidth)  # type: ignore[call-arg]  # every kernel has a bandwidth


def _designed(X: Array, kernel: str, bandwidth: float | None, scaler: Scaler | None) -> tuple[Scaler, Array, Kernel]:
    X = as_rows(X)
    scaler = scaler or Scaler.from_rows(X)
    rows = scaler(X)
    return scaler, rows, kernel_named(kernel, median_distance(rows, kernel) if bandwidth is None else bandwidth)
