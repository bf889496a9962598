"""Losses of regression: value and gradient, in unit labels.

Each loss is a frozen dataclass; ``LOSSES`` maps its name to it.  ``lipschitz`` bounds the norm of
the gradient for m outputs (None: unbounded).  ``code`` and ``parameter`` are what the compiled
loop of the fully supervised baseline needs to know.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from askone._common.lazy import arithmetic, compiled, special
from askone._common.types import Array
from askone._common.validate import as_count, as_number

MEDIAN, SQUARED, QUANTILE, HUBER, LOGCOSH = range(5)
"""How compiled loops know a loss."""


class Loss(ABC):
    """l(z, y) for rows of predictions z and labels y (n x m).

    A loss of one's own needs no more than the three methods; it works with ``questions="full"`` and,
    if its gradient is bounded, with ``questions="generic"``.
    """

    name: ClassVar[str] = "custom"
    code: ClassVar[int] = -1

    @abstractmethod
    def value(self, z: Array, y: Array) -> Array:
        """Return l(z_i, y_i), one number per row."""

    @abstractmethod
    def gradient(self, z: Array, y: Array) -> Array:
        """Return the gradient in z (a subgradient where there is a kink), n x m."""

    @abstractmethod
    def lipschitz(self, m: int) -> float | None:
        """Return a bound on the gradient's norm."""

    @property
    def parameter(self) -> float:
        """The loss's one number, where it has one."""
        return 0.0


@final
@dataclass(frozen=True)
class Median(Loss):
    """|z - y|, the Euclidean norm; its minimiser is the (geometric) median.

    >>> Median().value(np.array([[3.0, 4.0]]), np.zeros((1, 2))).item()
    5.0
    """

    name: ClassVar[str] = "median"
    code: ClassVar[int] = MEDIAN

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(np.linalg.norm(z - y, axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        """Return (z - y) / |z - y|, and 0 at z = y."""
        residual = z - y
        norm = np.linalg.norm(residual, axis=1, keepdims=True)
        return np.asarray(np.divide(residual, norm, out=np.zeros_like(residual), where=norm > 0))

    def lipschitz(self, m: int) -> float:
        return 1.0


@final
@dataclass(frozen=True)
class Squared(Loss):
    """|z - y|^2 / 2; its minimiser is the mean.

    >>> Squared().value(np.array([[3.0, 4.0]]), np.zeros((1, 2))).item()
    12.5
    """

    name: ClassVar[str] = "squared"
    code: ClassVar[int] = SQUARED

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(0.5 * np.sum((z - y) ** 2, axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        return np.asarray(z - y)

    def lipschitz(self, m: int) -> None:
        return


@final
@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss, summed over outputs; its minimiser is the tau-quantile.

    max(tau (y - z), (tau - 1)(y - z)).

    >>> Quantile(0.9).value(np.array([[0.0]]), np.array([[1.0]])).item()
    0.9
    """

    tau: float = 0.5
    name: ClassVar[str] = "quantile"
    code: ClassVar[int] = QUANTILE

    def __post_init__(self) -> None:
        as_number(self.tau, "tau", 0.0, 1.0, strict=True)

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(np.sum(np.maximum(self.tau * (y - z), (self.tau - 1) * (y - z)), axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        return np.asarray((y <= z) - self.tau)

    def lipschitz(self, m: int) -> float:
        return max(self.tau, 1 - self.tau) * math.sqrt(m)

    @property
    def parameter(self) -> float:
        return self.tau


@final
@dataclass(frozen=True)
class Huber(Loss):
    """r^2/2 for |r| <= delta, delta |r| - delta^2/2 beyond, summed over outputs.

    >>> Huber(1.0).value(np.array([[3.0]]), np.array([[0.0]])).item()
    2.5
    """

    delta: float = 0.1
    name: ClassVar[str] = "huber"
    code: ClassVar[int] = HUBER

    def __post_init__(self) -> None:
        as_number(self.delta, "delta", 0.0, strict=True)

    def value(self, z: Array, y: Array) -> Array:
        r = np.abs(z - y)
        d = self.delta
        return np.asarray(np.sum(np.where(r <= d, 0.5 * r * r, d * r - 0.5 * d * d), axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        return np.asarray(np.clip(z - y, -self.delta, self.delta))

    def lipschitz(self, m: int) -> float:
        return self.delta * math.sqrt(m)

    @property
    def parameter(self) -> float:
        return self.delta


@final
@dataclass(frozen=True)
class LogCosh(Loss):
    """s log cosh(r / s), summed over outputs: a smooth absolute value with slope tanh(r / s).

    >>> round(LogCosh(1.0).value(np.array([[2.0]]), np.array([[0.0]])).item(), 6)
    1.325003
    """

    scale: float = 0.1
    name: ClassVar[str] = "logcosh"
    code: ClassVar[int] = LOGCOSH

    def __post_init__(self) -> None:
        as_number(self.scale, "scale", 0.0, strict=True)

    def value(self, z: Array, y: Array) -> Array:
        r = np.abs(z - y) / self.scale
        return np.asarray(self.scale * np.sum(r + np.log1p(np.exp(-2 * r)) - math.log(2), axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        return _tanh((z - y) / self.scale)

    def lipschitz(self, m: int) -> float:
        return math.sqrt(m)

    @property
    def parameter(self) -> float:
        return self.scale


@final
@dataclass(frozen=True)
class Logistic(Loss):
    """log sum exp(z) - <z, y> for a class given as its one-hot vector y: a surrogate for classes.

    Its minimiser has softmax(z) = p(y|x).

    >>> round(Logistic().value(np.zeros((1, 4)), np.eye(4)[:1]).item(), 6)
    1.386294
    """

    name: ClassVar[str] = "logistic"

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(special.logsumexp(z, axis=1) - np.sum(z * y, axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        return np.array([arithmetic.softmax(row) for row in np.ascontiguousarray(z)]).reshape(z.shape) - y

    def lipschitz(self, m: int) -> float:
        """Return sqrt(2): the distance of two points of the simplex."""
        return math.sqrt(2.0)


@final
@dataclass(frozen=True)
class Bundled(Loss):
    """mean_k |<z - y, B_k>|^power / power over bundles B_k: what questions about bundles tell.

    >>> Bundled(((1.0, 0.0), (2.0, 1.0)), 1).value(np.array([[3.0, 4.0]]), np.zeros((1, 2))).item()
    6.5
    """

    bundles: tuple[tuple[float, ...], ...]
    power: int = 1
    name: ClassVar[str] = "bundled"

    def __post_init__(self) -> None:
        as_count(self.power, "power", 1, 2)

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(np.mean(np.abs((z - y) @ np.array(self.bundles).T) ** self.power, axis=1) / self.power)

    def gradient(self, z: Array, y: Array) -> Array:
        """Return mean_k sign(<z - y, B_k>) B_k, or mean_k <z - y, B_k> B_k."""
        vectors = np.array(self.bundles)
        r = compiled.times(z - y, vectors.T)
        return compiled.times(np.sign(r) if self.power == 1 else r, vectors) / len(vectors)

    def lipschitz(self, m: int) -> float | None:
        """Return the mean length of the bundles; the squared one is unbounded."""
        return float(np.mean(np.linalg.norm(self.bundles, axis=1))) if self.power == 1 else None


@final
@dataclass(frozen=True)
class SignLogistic(Loss):
    """log(1 + exp(-2 y z)), summed over outputs, for labels of -1 and +1: a surrogate for signs.

    Its minimiser has tanh(z) = E[Y | x].

    >>> round(SignLogistic().value(np.zeros((1, 3)), np.ones((1, 3))).item(), 6)
    2.079442
    """

    name: ClassVar[str] = "logistic"

    def value(self, z: Array, y: Array) -> Array:
        return np.asarray(np.sum(np.logaddexp(0.0, -2 * y * z), axis=1))

    def gradient(self, z: Array, y: Array) -> Array:
        """Return -2 y / (1 + exp(2 y z)), which is tanh(z) - y for y = -1, +1."""
        return np.asarray(_tanh(z) - y)

    def lipschitz(self, m: int) -> float:
        return 2.0 * math.sqrt(m)


def _tanh(z: Array) -> Array:
    return np.asarray(arithmetic.tanhs(np.ravel(z)).reshape(z.shape))


LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Median, Squared, Quantile, Huber, LogCosh)}

# What a discrete problem is turned into.
SURROGATES: dict[str, type[Loss]] = {loss.name: loss for loss in (Median, Squared, Logistic)}
