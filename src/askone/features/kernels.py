"""Kernels between rows, and the bandwidth that fits them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone._common.arithmetic import normal_quantiles
from askone._common.compiled import long_product, paired_dots
from askone._common.types import Array
from askone._common.validate import as_number
from askone.errors import InvalidArgument, incompatible
from askone.features import compiled

_SAMPLE = 1000


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
        return np.asarray(paired_dots(self.rows, self.rows))


class Kernel(ABC):
    """A positive definite function of two rows."""

    name: ClassVar[str]
    bandwidth: float

    def __post_init__(self) -> None:
        as_number(self.bandwidth, "bandwidth", 0.0, strict=True)

    def matrix(self, X: Array, Z: Array | Points) -> Array:
        """Return k(x_i, z_j) for contiguous rows X and Z."""
        return self._matrix(X, Z if isinstance(Z, Points) else Points(Z))

    def dot(self, X: Array, Z: Array, a: Array) -> Array:
        """Return sum_j k(x_i, z_j) a_j in the order of j, for coefficients a (n x m)."""
        return np.asarray(long_product(self.matrix(X, Z), a))

    @abstractmethod
    def _matrix(self, X: Array, Z: Points) -> Array:
        """Return k(x_i, z_j), for points whose columns and squares are kept."""

    def frequencies(self, uniform: Array) -> Array:
        """Return frequencies (p x d) whose cosines have this kernel as their mean, from uniforms.

        There are none unless it is a function of x - z.
        """
        raise incompatible("kernel", self.name, "random Fourier features", ["gaussian", "laplacian"])


@final
@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-|x - z|^2 / (2 sigma^2)).

    >>> round(float(Gaussian(1.0).matrix(np.zeros((1, 2)), np.ones((1, 2)))[0, 0]), 6)
    0.367879
    """

    bandwidth: float = 1.0
    name: ClassVar[str] = "gaussian"

    def dot(self, X: Array, Z: Array, a: Array) -> Array:
        """For one input and one output in one pass, without the matrix: half of the time."""
        if X.shape[1] > 1 or a.shape[1] > 1:
            return super().dot(X, Z, a)
        out = np.empty((len(X), 1))
        compiled.gaussian_line(X, Z.T, self.bandwidth, np.ascontiguousarray(a[:, 0]), out[:, 0])
        return out

    def _matrix(self, X: Array, Z: Points) -> Array:
        """By coordinates for few of them, by a matrix product for many."""
        if X.shape[1] >= compiled.MANY_DIMENSIONS:
            out = long_product(X, Z.columns)
            compiled.gaussian_from_products(out, paired_dots(X, X), Z.squares, self.bandwidth)
            return out
        out = np.empty((len(X), len(Z.rows)))
        compiled.gaussian(X, Z.columns, self.bandwidth, out)
        return out

    def frequencies(self, uniform: Array) -> Array:
        """Return normal frequencies, over the bandwidth."""
        return np.asarray(normal_quantiles(uniform.ravel()).reshape(uniform.shape) / self.bandwidth)


@final
@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-|x - z|_1 / sigma).

    >>> round(float(Laplacian(2.0).matrix(np.zeros((1, 2)), np.ones((1, 2)))[0, 0]), 6)
    0.367879
    """

    bandwidth: float = 1.0
    name: ClassVar[str] = "laplacian"

    def _matrix(self, X: Array, Z: Points) -> Array:
        """By coordinates."""
        out = np.empty((len(X), len(Z.rows)))
        compiled.laplacian(X, Z.columns, self.bandwidth, out)
        return out

    def frequencies(self, uniform: Array) -> Array:
        """Return Cauchy in each coordinate, over the bandwidth."""
        return np.asarray(np.tan(math.pi * (uniform - 0.5)) / self.bandwidth)


@final
@dataclass(frozen=True)
class Dot(Kernel):
    """(1 + <x, z>) / (1 + sigma^2): the linear kernel with an intercept."""

    bandwidth: float = 1.0
    name: ClassVar[str] = "linear"

    def _matrix(self, X: Array, Z: Points) -> Array:
        """Return a matrix product."""
        return np.asarray((1.0 + long_product(X, Z.columns)) / (1.0 + self.bandwidth * self.bandwidth))


KERNELS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in (Gaussian, Laplacian, Dot)}


def median_distance(X: Array, kernel: str = "gaussian") -> float:
    """Return the bandwidth rule: the median distance between unlabelled rows.

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


def kernel_named(name: str, bandwidth: float) -> Kernel:
    """Return the kernel of this name."""
    if name not in KERNELS:
        raise InvalidArgument("kernel", "one of: " + ", ".join(map(repr, KERNELS)), name)
    return KERNELS[name](bandwidth)  # type: ignore[call-arg]  # every kernel has a bandwidth
