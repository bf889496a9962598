"""Real labels, questions about bundles that somebody chose: quantities of each output, never negative.

In unit labels a bundle is a vector B_k, the longest of length 1.  One is drawn, uniformly, and

=========  ======================  ==========================  =======================================
loss       cut along u = B_k/|B_k|  g if yes / no               E[G] for any label, the gradient of
=========  ======================  ==========================  =======================================
median     <z, u>                  -|B_k|  /  |B_k|            mean_k |<z - y, B_k>|
squared    <z, u> - V              0  /  2 |B_k|^2 / q(V)      mean_k <z - y, B_k>^2 / 2
\\ turned   <z, u> + V              -2 |B_k|^2 / q(V)  /  0     (a fair coin turns it)
=========  ======================  ==========================  =======================================

A question's ``density`` is what the bit is divided by: 1/|B_k|, and q(V)/|B_k|^2.  If the bundles
span all outputs, the minimiser of the squared one is the mean: its gradient is M (z - E Y) with
M = mean_k B_k B_k^T of full rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_number
from askone.labels.losses import Bundled, Median, Squared
from askone.learners.gradients.half_space import PAIRS, Plan, WeakGradient, cut_law

Bundles = tuple[tuple[float, ...], ...]


class BundleGradient(WeakGradient):
    """A pair that asks about one of some bundles, in unit labels; without any, about one of each output."""

    bundles: Bundles
    family: ClassVar[str] = "bundles"

    def declared(self, m: int) -> Bundled:
        """Return mean_k |<z - y, B_k>|, or mean_k <z - y, B_k>^2 / 2 of the squared loss."""
        return Bundled(tuple(map(tuple, self.vectors(m).tolist())), 1 if isinstance(self.loss, Median) else 2)

    @cached_property
    def _declared_vectors(self) -> Array:
        vectors = np.array(self.bundles, dtype=np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1).max())

    def vectors(self, m: int) -> Array:
        """Return b_k as rows, the longest of length 1."""
        return self._declared_vectors if self.bundles else np.eye(m)

    def drawn(self, m: int, uniform: Array) -> tuple[Array, Array, Array]:
        """Return numbers of bundles from uniforms, their directions and their lengths."""
        vectors = self.vectors(m)
        number = np.minimum((uniform * len(vectors)).astype(np.int64), len(vectors) - 1)
        length = np.linalg.norm(vectors, axis=1)[number]
        return number, vectors[number] / length[:, None], length

    def choices(self, m: int) -> Array:
        """Return a uniform for each bundle."""
        count = len(self.vectors(m))
        return np.asarray((np.arange(count) + 0.5) / count)


@final
@dataclass(frozen=True)
class BundleSign(BundleGradient):
    """The median through bundles: the cut at the prediction.

    >>> gradient = BundleSign(bundles=((1.0, 0.0), (2.0, 1.0)))
    >>> gradient.plan(2, np.array([[0.2]])).directions.tolist(), gradient.bound(2)
    ([[1.0, 0.0]], 1.0)
    """

    loss: Median = Median()
    bundles: Bundles = ()

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: one, for which bundle."""
        return 1

    def plan(self, m: int, uniform: Array) -> Plan:
        number, directions, length = self.drawn(m, uniform[:, 0])
        return Plan(directions, np.zeros(len(uniform)), 1.0 / length, bundle=number)

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        value = 1.0 / np.asarray(density)
        return -value, value

    def atoms(self, m: int) -> Array:
        return self.choices(m)[:, None]

    def bound(self, m: int) -> float:
        """Return 1: the longest bundle."""
        return 1.0


@final
@dataclass(frozen=True)
class BundleThreshold(BundleGradient):
    """Least squares through bundles: the cut V below the prediction, or, turned, above it.

    ``limit`` and ``spread`` as in ``SquaredThreshold``.

    >>> plan = BundleThreshold(limit=1.0).plan(1, np.array([[0.5, 0.2, 0.25], [0.5, 0.8, 0.25]]))
    >>> plan.directions.ravel().tolist(), plan.offset.tolist(), plan.turned.tolist()
    ([1.0, 1.0], [0.5, -0.5], [False, True])
    """

    loss: Squared = Squared()
    bundles: Bundles = ()
    limit: float | None = None
    spread: float = 1.0

    def __post_init__(self) -> None:
        if self.limit is not None:
            as_number(self.limit, "limit", 0.0, strict=True)
        as_number(self.spread, "spread", 0.0, strict=True)

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: for which bundle, which side, how far."""
        return 3

    def plan(self, m: int, uniform: Array) -> Plan:
        """Return V from its law, on the side that the coin says."""
        number, directions, length = self.drawn(m, uniform[:, 0])
        turned = uniform[:, 1] >= 0.5
        v, density = cut_law(uniform[:, 2], self.limit, self.spread)
        return Plan(directions, np.where(turned, -v, v), density / length**2, turned, number)

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        """Return 0 and 2 |B_k|^2 / q(V)."""
        return np.zeros(len(density)), 2.0 / np.asarray(density)

    def atoms(self, m: int) -> Array:
        """Return every bundle, either side."""
        return np.array([[choice, side] for choice in self.choices(m) for side in (0.25, 0.75)])

    def bound(self, m: int) -> float:
        """Return 4 M for the longest bundle; without a limit the same with M = spread, which is typical."""
        return 4.0 * (self.limit or self.spread)


PAIRS.update({("median", BundleGradient.family): BundleSign, ("squared", BundleGradient.family): BundleThreshold})
