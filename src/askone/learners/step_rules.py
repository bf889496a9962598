"""Step sizes and averages.

A rule says how far to go along -G, an average which iterates to predict with.  Step sizes are in
Algorithm 1's units: the true gradient is B times longer (1/c2 for the median), so the update is
theta <- theta - (gamma_t / B) G, and the same gamma means the same for every loss and every m.
The ridge, in contrast, is in true gradient units: it minimises risk + lambda |theta|^2.

Here rules are configured; the steps themselves are computed in ``step_loops`` (``_learning_rate``).
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, fields
from typing import ClassVar, final

import numpy as np

from askone import theory
from askone._common.types import Array
from askone._common.validate import as_count, as_number
from askone.learners import step_loops


class StepRule(ABC):
    """A rule for the length of steps."""

    name: ClassVar[str]
    code: ClassVar[int]
    diagonal: ClassVar[bool] = False
    takes_ridge: ClassVar[bool] = True
    power: ClassVar[float] = 0.0
    gamma: float = 1.0
    first: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # every rule is a dataclass, of positive numbers
            as_number(getattr(self, field.name), field.name, 0.0, strict=True)


@final
@dataclass(frozen=True)
class InverseSqrt(StepRule):
    """gamma_t = gamma / sqrt(t): no horizon needed; the paper's experiments."""

    gamma: float = 1.0
    power: ClassVar[float] = 0.5
    name: ClassVar[str] = "sqrt"
    code: ClassVar[int] = step_loops.SCHEDULE


@final
@dataclass(frozen=True)
class Constant(StepRule):
    """gamma_t = gamma."""

    gamma: float = 0.1
    name: ClassVar[str] = "constant"
    code: ClassVar[int] = step_loops.SCHEDULE


@final
@dataclass(frozen=True)
class Theorem(StepRule):
    """Theorem 1's constant step M / (kappa sqrt(T)) for a budget of T questions.

    >>> Theorem(horizon=400, norm=2.0).gamma
    0.1
    """

    horizon: int
    norm: float = 1.0
    kappa: float = 1.0
    name: ClassVar[str] = "theorem"
    code: ClassVar[int] = step_loops.SCHEDULE

    def __post_init__(self) -> None:
        as_count(self.horizon, "horizon", 1)
        super().__post_init__()

    @property
    def gamma(self) -> float:  # type: ignore[override]  # computed here, a field elsewhere
        return theory.step(self.kappa, self.norm, self.horizon)


@final
@dataclass(frozen=True)
class AdaGrad(StepRule):
    """eta_t = gamma / sqrt(sum of |G_i|^2): one step size for all coordinates."""

    gamma: float = 1.0
    name: ClassVar[str] = "adagrad"
    code: ClassVar[int] = step_loops.ADAGRAD


@final
@dataclass(frozen=True)
class DiagonalAdaGrad(StepRule):
    """The same with a step size of its own for each parameter; needs a model with coordinates."""

    gamma: float = 0.1
    name: ClassVar[str] = "adagrad-diagonal"
    code: ClassVar[int] = step_loops.ADAGRAD
    diagonal: ClassVar[bool] = True
    takes_ridge: ClassVar[bool] = False


@final
@dataclass(frozen=True)
class DoG(StepRule):
    """Distance over gradients: eta_t = max_i |theta_i - theta_0| / sqrt(sum of |G_i|^2).

    Ivgi, Hinder and Carmon (2023): within logarithms of the best step for convex losses and bounded
    stochastic gradients, with high probability, if the steps are a little shorter (by logarithms) than
    these.  Nothing to tune; ``first`` stands for the distance until there is one.
    """

    first: float = 1e-2
    name: ClassVar[str] = "dog"
    code: ClassVar[int] = step_loops.DOG


@final
@dataclass(frozen=True)
class DoWG(StepRule):
    """Distance over weighted gradients: eta_t = r_t^2 / sqrt(sum of r_i^2 |G_i|^2), r_t = max_i |theta_i - theta_0|.

    Khaled, Mishchenko and Jin (2023): as fast as the best constant step, up to logarithms, for convex losses
    on a bounded set with exact gradients, Lipschitz or smooth; from stochastic ones, as here, it has no
    theorem (DoG has), and forgets a bad ``first`` distance sooner than DoG.
    """

    first: float = 1e-2
    name: ClassVar[str] = "dowg"
    code: ClassVar[int] = step_loops.DOWG


@final
@dataclass(frozen=True)
class CoinBetting(StepRule):
    """The Krichevsky-Trofimov bettor: theta_t = (wealth_t / t) times the sum of -G_i / max|G|.

    Orabona and Pal (2016): regret of O(|theta| sqrt(T log(1 + |theta| T))) for bounded gradients, so the
    uniform average is within that over T of the best.  Nothing to tune; ``first`` is the purse it starts
    with.  It has no step size, so no ridge.
    """

    first: float = 1.0
    name: ClassVar[str] = "coin"
    code: ClassVar[int] = step_loops.COIN
    takes_ridge: ClassVar[bool] = False


class Average(ABC):
    """Which combination of the iterates predicts.

    The accumulators (``copies``) are A with theta = s A, B of the closed form in ``step_loops``,
    and for a tail the sums up to two marks.
    """

    name: ClassVar[str]
    code: ClassVar[int] = step_loops.UNIFORM
    copies: ClassVar[int] = 2
    eta: float = 0.0
    start: bool = False

    def mix(self, S: Array) -> Array:
        """Return weights of the accumulators whose sum is the averaged parameter."""
        return np.asarray(np.array([S[step_loops.CUM], -1.0]) / S[step_loops.WSUM])


@final
@dataclass(frozen=True)
class NoAverage(Average):
    """The last iterate."""

    name: ClassVar[str] = "none"
    code: ClassVar[int] = step_loops.NO_AVERAGE
    copies: ClassVar[int] = 1

    def mix(self, S: Array) -> Array:
        """Return theta = s A."""
        return np.array([S[step_loops.SCALE]])


@final
@dataclass(frozen=True)
class Uniform(Average):
    """The mean of theta_1 .. theta_t, or with ``start`` of theta_0 .. theta_{t-1} (Theorem 1)."""

    start: bool = False
    name: ClassVar[str] = "uniform"


@final
@dataclass(frozen=True)
class Polynomial(Average):
    """Polynomial decay: a_t = (1 - r) a_{t-1} + r theta_t, r = (eta+1)/(t+eta)."""

    eta: float = 8.0
    name: ClassVar[str] = "polynomial"
    code: ClassVar[int] = step_loops.POLYNOMIAL

    def __post_init__(self) -> None:
        as_number(self.eta, "eta", 0.0, 30.0)  # weights grow as t^eta: beyond, they overflow


@final
@dataclass(frozen=True)
class Tail(Average):
    """The mean of the iterates since a power of two: of the last half to three quarters."""

    name: ClassVar[str] = "tail"
    copies: ClassVar[int] = 4

    def mix(self, S: Array) -> Array:
        """Return (C A - B - the sum up to the older mark) / (W - its weight)."""
        sums = np.array([S[step_loops.CUM], -1.0, -1.0, 0.0])
        return np.asarray(sums / (S[step_loops.WSUM] - S[step_loops.MARK_OLD]))


STEP_RULES: dict[str, type[StepRule]] = {
    rule.name: rule for rule in (InverseSqrt, Constant, Theorem, AdaGrad, DiagonalAdaGrad, DoG, DoWG, CoinBetting)
}
AVERAGES: dict[str, type[Average]] = {one.name: one for one in (NoAverage, Uniform, Polynomial, Tail)}


def packed(rule: StepRule, average: Average, bound: float, ridge: float) -> Array:
    """Return the vector R of ``step_loops``."""
    R = np.zeros(step_loops.RULE_SIZE)
    R[step_loops.RULE], R[step_loops.GAMMA], R[step_loops.POWER] = rule.code, rule.gamma, rule.power
    R[step_loops.BOUND], R[step_loops.RIDGE], R[step_loops.FIRST] = bound, ridge, rule.first
    R[step_loops.AVERAGE], R[step_loops.ETA], R[step_loops.START] = average.code, average.eta, average.start
    return R


def start(rule: StepRule) -> Array:
    """Return the vector S of ``step_loops`` before any answer."""
    S = np.zeros(step_loops.STATE_SIZE)
    S[step_loops.SCALE] = S[step_loops.LATE] = 1.0
    if rule.code == step_loops.COIN:
        S[step_loops.WEALTH] = S[step_loops.SCALE] = rule.first
    return S
