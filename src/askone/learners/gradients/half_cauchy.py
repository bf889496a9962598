"""Least squares without a bound, thresholds at the scale of the errors.

    G = 2 m 1{<z - Y, u> >= V} / q(V) u,     u on the sphere,   V half-Cauchy of scale s:

    q(v) = 2 / (pi s (1 + (v/s)^2)),     E[G | Y = y] = z - y  for every label and every s.

The second moment for one output is  2 E int_0^|r| dv/q(v) = pi E[s |r| + |r|^3 / (3 s)],  r = z - Y: finite
if E|Y|^3 is, and for normal errors of deviation rho least at s = .82 rho, 4.1 rho^2 (no law of V does better
than 3.4 rho^2; labels themselves have rho^2).  A scale twice too large or too small costs a quarter more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from askone._common.random_table import sphere
from askone._common.types import Array
from askone._common.validate import as_number
from askone.labels.losses import Squared
from askone.learners.gradients.half_space import Plan, WeakGradient


@final
@dataclass(frozen=True)
class HalfCauchy(WeakGradient):
    """The cut V below the prediction, V half-Cauchy of scale ``spread``, in half ranges.

    >>> gradient = HalfCauchy(spread=0.5)
    >>> plan = gradient.plan(1, np.array([[0.9, 0.5]]))
    >>> plan.offset.round(6).tolist(), plan.density.round(6).tolist()       # the median of V is its scale
    ([0.5], [0.63662])
    """

    loss: Squared = Squared()
    spread: float = 1.0
    family: ClassVar[str] = "active"

    def __post_init__(self) -> None:
        as_number(self.spread, "spread", 0.0, strict=True)

    def width(self, m: int) -> int:
        """Return a direction and a threshold."""
        return m + 1

    def plan(self, m: int, uniform: Array) -> Plan:
        """Return u on the sphere; for one output always "above", half of them turned."""
        directions, half_turn = sphere(uniform[:, :m]), 0.5 * math.pi * uniform[:, m]
        offset = self.spread * np.tan(half_turn)
        density = np.cos(half_turn) ** 2 * (2 / (math.pi * self.spread))
        if m > 1:
            return Plan(directions, offset, density)
        return Plan(np.ones((len(offset), 1)), directions[:, 0] * offset, density, directions[:, 0] < 0)

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        return np.zeros(len(density)), 2 * m / np.asarray(density)

    def bound(self, m: int) -> float:
        """Return 4 m s: typical of |G|, which has no bound."""
        return 4 * m * self.spread
