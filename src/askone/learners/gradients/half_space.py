"""Real labels, half-space questions: what to ask at the prediction z, what the bit teaches.

All weak gradients here have one shape, in unit labels: draw a direction u and an offset V, ask
"is <Y, u> above c?", and take G = g u, where g is one of two numbers chosen by the answer:

=========  ========  ==================  =======================  ==================================
loss       family    c                   g if yes / no            E[G] for any label
=========  ========  ==================  =======================  ==================================
median     active    <z, u>              -1/c2  /  1/c2           (z - y)/|z - y|
squared    active    <z, u> - V          0  /  2m / q(V)          z - y    (V has density q)
quantile   active    z                   -tau  /  1 - tau         1{y <= z} - tau   (one output)
huber      active    z - V, V ~ F        -delta  /  delta         clip(z - y)       (one output)
logcosh    active    z - V, V ~ F        -1  /  1                 tanh((z - y)/s)   (one output)
median     passive   V                   -1 / 1 if z is outside   that of the infimum loss
squared    passive   V                   distance if outside      that of the infimum loss
=========  ========  ==================  =======================  ==================================

``passive`` thresholds do not look at z.  Their infimum loss, the distance from z to the half-space
that the answer leaves, is *not* unbiased for the loss itself: with noise and thresholds drawn from
F its target is F^{-1}(E F(Y)).  The family ``full`` reveals labels: the supervised baseline.  The
family ``bundles`` is in ``_bundle``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from askone import theory
from askone._common.arithmetic import logs, normal_quantiles, sine_and_cosine
from askone._common.random_table import sphere
from askone._common.types import Array
from askone._common.validate import as_choice, as_number
from askone.errors import incompatible
from askone.labels.losses import LOSSES, Huber, LogCosh, Loss, Median, Quantile, Squared
from askone.learners import step_loops
from askone.learners.gradients.base import Gradient


@final
@dataclass(frozen=True)
class Plan:
    """Directions (n x m), offsets and densities of n questions, before any prediction is known.

    ``turned`` marks questions that stand for their mirror image: asked along u, where u must not be
    negative, for one along -u.  ``bundle`` numbers the bundle that each direction lies along.
    """

    directions: Array
    offset: Array
    density: Array
    turned: Array | None = None
    bundle: Array | None = None


class WeakGradient(Gradient):
    """A pair that learns from one bit; unless it says otherwise, from a sign: that of <Y - z, u>, u on the sphere."""

    family: ClassVar[str] = "active"
    mode: ClassVar[int] = step_loops.AT_PREDICTION

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: m, and 0 for one output, as u and -u are the same question."""
        return m if m > 1 else 0

    def plan(self, m: int, uniform: Array) -> Plan:
        """Turn rows of uniforms (n x width) into directions and offsets."""
        return Plan(_directions(m, uniform), np.zeros(len(uniform)), np.ones(len(uniform)))

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        """Return g for the answer yes, and for no: -B and B."""
        value = np.full(len(density), self.bound(m))
        return -value, value

    def slopes(self, m: int, density: Array, turned: Array | None = None) -> tuple[Array, Array]:
        """Return the same where some questions are turned: yes along u is no along -u, and g u = -g (-u)."""
        yes, no = self.values(m, density)
        if turned is None:
            return yes, no
        return np.where(turned, -no, yes), np.where(turned, -yes, no)

    def declared(self, m: int) -> Loss:
        """Return the loss whose gradient E[G] is: the pair's own, but for bundles."""
        return self.loss

    def atoms(self, m: int) -> Array | None:
        """Return leading uniforms, equally likely, that stand for all that is drawn but V; None if too many."""
        if m > 1:
            return None
        return np.array([[0.25], [0.75]]) if self.width(m) == 2 else np.empty((1, 0))


@final
@dataclass(frozen=True)
class MedianSphere(WeakGradient):
    """Algorithm 1: u uniform on the sphere, the cut at the prediction.

    >>> round(MedianSphere().bound(3), 12)
    2.0
    """

    loss: Median = Median()

    def bound(self, m: int) -> float:
        return 1.0 / theory.c2(m)


class ThresholdBelow(WeakGradient):
    """Least squares: u on the sphere, the cut V > 0 below the prediction, G = 2 m 1{<z - Y, u> >= V} / q(V) u."""

    loss: Squared
    spread: float

    def __post_init__(self) -> None:
        as_number(self.spread, "spread", 0.0, strict=True)

    @abstractmethod
    def cut(self, uniform: Array) -> tuple[Array, Array]:
        """Return V and its density q(V)."""

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: a direction's and a threshold's."""
        return m + 1

    def plan(self, m: int, uniform: Array) -> Plan:
        """Return u on the sphere, V from its law; for one output always "above", half of them turned."""
        directions, (offset, density) = sphere(uniform[:, :m]), self.cut(uniform[:, m])
        if m > 1:
            return Plan(directions, offset, density)
        return Plan(np.ones((len(offset), 1)), directions[:, 0] * offset, density, directions[:, 0] < 0)

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        return np.zeros(len(density)), 2 * m / np.asarray(density)


@final
@dataclass(frozen=True)
class SquaredThreshold(ThresholdBelow):
    """Least squares by uniform thresholds, or by weighted ones that need no bound.

    With a ``limit`` M on the norms of Y and of the prediction, V is uniform on [0, 2M] (c1 of the
    paper): unbiased while |z - Y| <= 2M.  Without, V has density q(v) = s/(s+v)^2 on all v > 0 and
    the bit is weighted by 1/q(V): unbiased for every label, and with E|Y|^3 finite of finite
    variance.  ``spread`` is s, in half ranges.

    >>> SquaredThreshold(limit=1.0).bound(2)
    8.0
    """

    loss: Squared = Squared()
    limit: float | None = None
    spread: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit is not None:
            as_number(self.limit, "limit", 0.0, strict=True)

    def cut(self, uniform: Array) -> tuple[Array, Array]:
        return cut_law(uniform, self.limit, self.spread)

    def bound(self, m: int) -> float:
        """Return 4 M m; without a limit the same with M = spread, which is typical, not a bound."""
        return 1.0 / theory.c1(m, self.limit or self.spread)


@final
@dataclass(frozen=True)
class HalfCauchy(ThresholdBelow):
    """Least squares without a bound, thresholds at the scale of the errors: V half-Cauchy of scale s = ``spread``.

        q(v) = 2 / (pi s (1 + (v/s)^2)),     E[G | Y = y] = z - y  for every label and every s.

    The second moment for one output is  2 E int_0^|r| dv/q(v) = pi E[s |r| + |r|^3 / (3 s)],  r = z - Y: finite
    if E|Y|^3 is, and for normal errors of deviation rho least at s = .82 rho, 4.1 rho^2 (no law of V does better
    than 3.4 rho^2; labels themselves have rho^2).  A scale twice too large or too small costs a quarter more.

    >>> gradient = HalfCauchy(spread=0.5)
    >>> plan = gradient.plan(1, np.array([[0.9, 0.5]]))
    >>> plan.offset.round(6).tolist(), plan.density.round(6).tolist()       # the median of V is its scale
    ([0.5], [0.63662])
    """

    loss: Squared = Squared()
    spread: float = 1.0

    def cut(self, uniform: Array) -> tuple[Array, Array]:
        sine, cosine = np.array([sine_and_cosine(0.5 * math.pi * u) for u in uniform.tolist()]).reshape(-1, 2).T
        return self.spread * sine / cosine, cosine * cosine * (2 / (math.pi * self.spread))

    def bound(self, m: int) -> float:
        """Return 4 m s: typical of |G|, which has no bound."""
        return 4 * m * self.spread


@final
@dataclass(frozen=True)
class QuantileThreshold(WeakGradient):
    """The pinball's slope 1{Y <= z} - tau is itself one bit.

    >>> yes, no = QuantileThreshold(Quantile(0.9)).values(1, np.ones(1))
    >>> yes.item(), round(no.item(), 12)
    (-0.9, 0.1)
    """

    loss: Quantile = Quantile()
    single_output: ClassVar[bool] = True

    def values(self, m: int, density: Array) -> tuple[Array, Array]:
        return np.full(len(density), -self.loss.tau), np.full(len(density), 1 - self.loss.tau)

    def bound(self, m: int) -> float:
        return max(self.loss.tau, 1 - self.loss.tau)


@final
@dataclass(frozen=True)
class DitheredSign(WeakGradient):
    """Any loss with slope k (2F - 1), F a symmetric cdf: k sign(z - Y - V) with V ~ F.

    Huber: k = delta, F uniform on [-delta, delta].  Log-cosh: k = 1, F logistic of scale s/2.

    >>> DitheredSign(Huber(0.25)).bound(1)
    0.25
    """

    loss: Huber | LogCosh = Huber()
    single_output: ClassVar[bool] = True

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: one, for V."""
        return 1

    def plan(self, m: int, uniform: Array) -> Plan:
        """Return V by the inverse of F."""
        n, v = len(uniform), uniform[:, 0]
        if isinstance(self.loss, Huber):
            offset = self.loss.delta * (2 * v - 1)
        else:
            offset = 0.5 * self.loss.scale * logs(v / (1 - v))
        return Plan(np.ones((n, 1)), offset, np.ones(n))

    def bound(self, m: int) -> float:
        return self.loss.delta if isinstance(self.loss, Huber) else 1.0


@final
@dataclass(frozen=True)
class RandomThreshold(WeakGradient):
    """The passive baseline: thresholds that ignore the prediction, and the infimum loss.

    ``law`` draws them: "normal" (the paper's, standard deviation ``spread``) or "uniform" on
    [-spread, spread], in half ranges.

    >>> RandomThreshold(law="uniform").plan(1, np.array([[0.75]])).offset.item()
    0.5
    """

    loss: Median | Squared = Median()
    law: str = "normal"
    spread: float = 1.0
    family: ClassVar[str] = "passive"
    unbiased: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_choice(self.law, "law", ("normal", "uniform"))
        as_number(self.spread, "spread", 0.0, strict=True)

    @property
    def mode(self) -> int:  # type: ignore[override]  # a constant in every other pair
        return step_loops.INFIMUM_MEDIAN if isinstance(self.loss, Median) else step_loops.INFIMUM_SQUARED

    def width(self, m: int) -> int:
        """Return how many uniforms one question uses: a direction's (of one output none) and a threshold's."""
        return m + 1 if m > 1 else 1

    def plan(self, m: int, uniform: Array) -> Plan:
        """Return directions with thresholds: here the offset *is* the threshold."""
        v = uniform[:, -1]
        offset = self.spread * (normal_quantiles(v.copy()) if self.law == "normal" else 2 * v - 1)
        return Plan(_directions(m, uniform[:, :-1]), offset, np.ones(len(v)))

    def bound(self, m: int) -> float:
        """Return 1: the distance to a half-space is 1-Lipschitz."""
        return 1.0


@final
@dataclass(frozen=True)
class FullGradient(Gradient):
    """The supervised baseline: the label is revealed and the loss's own gradient taken.

    >>> FullGradient(Median()).bound(7)
    1.0
    """

    loss: Loss = Median()
    family: ClassVar[str] = "full"


PAIRS: dict[tuple[str, str], type[Gradient]] = {
    ("median", "active"): MedianSphere,
    ("squared", "active"): SquaredThreshold,
    ("quantile", "active"): QuantileThreshold,
    ("huber", "active"): DitheredSign,
    ("logcosh", "active"): DitheredSign,
    ("median", "passive"): RandomThreshold,
    ("squared", "passive"): RandomThreshold,
    **{(name, "full"): FullGradient for name in LOSSES},
}
FAMILY_NAMES = tuple(dict.fromkeys(family for _, family in PAIRS))
"""What users type; the family of bundles goes with a space that lists some."""


def pair(loss: Loss, family: str, outputs: int = 1, **options: Any) -> Gradient:
    """Return the gradient of a loss through a question family; refused here if they do not fit.

    >>> pair(Median(), "active", 3)
    MedianSphere(loss=Median())
    >>> pair(Quantile(0.9), "passive")
    Traceback (most recent call last):
    askone.errors.IncompatibleParts: loss must be one of: 'median', 'squared' ...
    """
    if all(family != known for _, known in PAIRS):
        as_choice(family, "questions", FAMILY_NAMES)
    if family == "full":
        return FullGradient(loss)
    found = PAIRS.get((loss.name, family))
    if found is None or (found.single_output and outputs > 1):
        fits = [name for (name, fam), p in PAIRS.items() if fam == family and not (p.single_output and outputs > 1)]
        plural = "" if outputs == 1 else "s"
        raise incompatible("loss", loss.name, f"{family!r} questions about {outputs} output{plural}", fits)
    return found(loss=loss, **options)  # type: ignore[call-arg]  # every pair is a dataclass with a loss


def cut_law(uniform: Array, limit: float | None, spread: float) -> tuple[Array, Array]:
    """Return V > 0 and its density: uniform on [0, 2 limit], or s/(s+v)^2 without a limit."""
    if limit is not None:
        return 2 * limit * uniform, np.full(len(uniform), 0.5 / limit)
    v = spread * uniform / (1 - uniform)
    return v, spread / ((spread + v) * (spread + v))


def _directions(m: int, uniform: Array) -> Array:
    return np.ones((len(uniform), 1)) if m == 1 else sphere(uniform)


def draws_of(gradient: WeakGradient, z: Array, y: Array, uniform: Array) -> Array:
    """Return G for every row of uniforms, at one prediction z and one label y (n x m): for checks and plots."""
    m = len(z)
    plan = gradient.plan(m, uniform)
    c = plan.directions @ z - plan.offset if gradient.mode == step_loops.AT_PREDICTION else plan.offset
    yes, no = gradient.slopes(m, plan.density, plan.turned)
    g = np.where(plan.directions @ y > c, yes, no)
    return np.asarray(g[:, None] * plan.directions)
