"""lower-bound: Theorem 2 by the exact Bayes risk of a hard problem, and Algorithm 1 on that problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from askone import theory
from askone._common import random_table
from askone._common.types import Array
from askone.learners.step_rules import Theorem, Uniform
from askone.paper._base import FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._synthetic import kernel_learner
from askone.paper._trials import chunks, joined, parted, slope
from askone.paper.figures.theorem1 import excess
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_PAPER = 2.0**-11
_APART = 0.05  # the bandwidth of a kernel under which whole numbers have nothing in common: phi(i) = e_i
_SIGNS, _NOISE = 1 << 43, 1 << 44


def least_excess(T: int, places: int, noise: float) -> float:
    """Return a bound that no algorithm beats from T labels, with kappa = M = 1, averaged over signs.

    X is uniform on k places, f*(i) = a s_i with signs s_i by lot and a = 1/sqrt(k), the noise is normal.  An excess
    risk is at least c d^2 for errors |d| <= 2a, c = excess(2a) / 4a^2, and the least mean of d^2 at a place seen n
    times is a^2 (1 - E tanh(r + sqrt(r) Z)), r = n a^2 / noise^2.
    """
    a = places**-0.5
    n = np.arange(int(binom.ppf(1 - 1e-9, T, 1 / places)) + 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    r = (n * a * a / noise**2)[:, None]
    unknown = 1 - np.tanh(r + np.sqrt(r) * nodes) @ (weights / weights.sum())
    c = excess(np.array([[2 * a]]), noise) / (4 * a * a)
    return float(c * a * a * (binom.pmf(n, T, 1 / places) @ unknown))


def hardest(T: int) -> dict[str, float]:
    """Return the places and the noise with the largest such bound, and the bound."""
    tried = [
        (least_excess(T, k, noise), k, noise)
        for noise in (1.0, 2.0, 4.0)
        for k in sorted({max(1, round(u * math.sqrt(T) / noise)) for u in np.geomspace(0.25, 4, 25)})
    ]
    bound, places, noise = max(tried)
    return {"T": T, "bound": bound, "places": places, "noise": noise}


def hard_trials(seeds: list[int], T: int) -> list[float]:
    """Return the excess risk of Algorithm 1 on the hardest problem of T questions, for each seed."""
    found = hardest(T)
    return [_trial(seed, T, int(found["places"]), found["noise"]) for seed in seeds]


def _trial(seed: int, T: int, places: int, noise: float) -> float:
    X = np.floor(places * random_table.uniforms(seed, 0, T, 1, random_table.DESIGN))
    drawn = random_table.uniforms(seed, _SIGNS, 1, places, random_table.DESIGN)[0]
    target: Array = np.where(drawn < 0.5, -1.0, 1.0) / math.sqrt(places)
    errors = noise * ndtri(random_table.uniforms(seed, _NOISE, T, 1, random_table.DESIGN))[:, 0]
    y = target[X[:, 0].astype(int)] + errors
    learner = kernel_learner(1, "active", Theorem(T), _APART, average=Uniform(start=True))
    state = simulate(learner, X, Oracle(y), seed=seed, at=[T]).state
    predicted = learner.predict(state, np.arange(places, dtype=float)[:, None])
    return excess(predicted - target[:, None], noise)


@final
class LowerBound(Run):
    """Theorem 2, measured: kappa = M = 1, one output."""

    name: ClassVar[str] = "lower-bound"
    title: ClassVar[str] = "Theorem 2: what no algorithm beats, and Algorithm 1 on the same problem"
    caption: ClassVar[str] = (
        "Lowest line: the paper's constant 2^-11. Dashed: no algorithm, from full labels and knowing the prior, has a "
        "smaller mean excess risk on the hardest of these problems. Solid: Algorithm 1 on it, with its bound above."
    )

    def _horizons(self, quick: bool) -> list[int]:
        return [100, 400, 1600] if quick else [100, 316, 1000, 3162, 10_000]

    def jobs(self, quick: bool) -> list[Job]:
        """Return the hardest problems, then Algorithm 1 on them."""
        trials = chunks(8 if quick else 40, 8 if quick else 10)
        known = [Job(hardest, {"T": T}) for T in self._horizons(quick)]
        return known + [Job(hard_trials, {"T": T, "seeds": part}) for T in self._horizons(quick) for part in trials]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return bounds, and excess risks, trials x horizons."""
        Ts = self._horizons(quick)
        runs = parted(results[len(Ts) :], map(str, Ts)).values()
        measured = np.array([joined(part) for part in runs]).T
        return {"horizons": Ts, "hardest": list(results[: len(Ts)]), "excess": measured.tolist()}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the rate of the lower bound, and how far Algorithm 1 is from it."""
        Ts, bounds = np.array(numbers["horizons"]), np.array([one["bound"] for one in numbers["hardest"]])
        constants, mean = bounds * np.sqrt(Ts), np.mean(numbers["excess"], axis=0)
        rate = slope(numbers["horizons"], [bounds, bounds])[0]
        factors = mean / bounds
        holds = abs(rate + 0.5) < 0.02 and constants.min() > _PAPER and (factors > 1).all()
        return [
            Claim(
                "No algorithm beats c3 kappa M / sqrt(T) in the worst case, even from full labels",
                "c3 = 2^-11 = 0.0005",
                f"an exact bound of {constants.min():.3f} to {constants.max():.3f} kappa M / sqrt(T) for T = {Ts[0]} "
                f"to {Ts[-1]} (slope {rate:.3f}): c3 is at least {constants.min() / _PAPER:.0f} times the paper's",
                HOLDS if holds else FAILS,
                "Bayes risk of signs on about sqrt(T) places under normal noise, one output",
            ),
            Claim(
                "So Algorithm 1 is minimax optimal up to constants",
                "constants not given",
                f"on that problem its excess risk is {factors.min():.1f} to {factors.max():.1f} times what is "
                f"possible; its bound is {theory.bound(1.0, 1.0, 1, 1) / constants.min():.1f} times",
                HOLDS if factors.max() < 10 else FAILS,
                "one output; for m outputs both grow, the bound as sqrt(m)",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return four lines over T, both axes logarithmic."""
        figure, (axes,) = panels(1)
        Ts = np.array(numbers["horizons"])
        axes.plot(Ts, Ts**-0.5, ":", color=COLOURS[1], label="bound of Algorithm 1, κM/√T")
        band(axes, numbers["horizons"], numbers["excess"], "Algorithm 1, measured", COLOURS[0])
        axes.plot(Ts, [one["bound"] for one in numbers["hardest"]], "--", color=COLOURS[2], label="no algorithm below")
        axes.plot(Ts, _PAPER * Ts**-0.5, "-.", color=COLOURS[3], label="the paper's 2⁻¹¹ κM/√T")
        axes.set(xlabel="questions T", ylabel="excess risk", title="the hardest problem for each T")
        axes.legend(frameon=False, fontsize=8)
        return figure
