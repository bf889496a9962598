"""theory: Theorem 1's bound over the measured excess risk, and its growth in T and m."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from scipy.special import erf, ndtri

from askone import theory
from askone._common import random_table
from askone._common.types import Array
from askone.features.kernels import Gaussian
from askone.learners.step_rules import Theorem, Uniform
from askone.paper._base import CORRECTED, FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._synthetic import kernel_learner, uniform_rows
from askone.paper._trials import chunks, joined, last, parted, slope
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_SIGMA, _CENTRES = 0.2, 8
_GRID = np.linspace(0, 1, 101)[:, None]
_TARGET, _NOISE = 1 << 41, 1 << 42  # parts of the table of draws that no input uses


def target(seed: int, X: Array, outputs: int) -> Array:
    """Return f*(x) = sum_i a_i k(c_i, x) with random a, scaled so that its norm in the RKHS is M = 1 exactly."""
    centres, kernel = np.linspace(0, 1, _CENTRES)[:, None], Gaussian(_SIGMA)
    uniform = random_table.uniforms(seed, _TARGET, 1, _CENTRES * outputs, random_table.DESIGN)
    a = random_table.sphere(uniform).reshape(_CENTRES, outputs)
    norm2 = float(np.sum(a * (kernel.matrix(centres, centres) @ a)))
    return np.asarray(kernel.matrix(X, centres) @ a / math.sqrt(norm2))


def excess(difference: Array, noise: float) -> float:
    """Return e|d + xi| - E|xi| for normal xi of this standard deviation (one output), or |d| without noise.

    >>> round(excess(np.array([[0.5]]), 0.0), 12), round(excess(np.array([[0.1]]), 1.0), 6)
    (0.5, 0.003986)
    """
    d = np.linalg.norm(difference, axis=1)
    if noise == 0:
        return float(d.mean())
    r = d / noise
    folded = math.sqrt(2 / math.pi) * (np.exp(-r * r / 2) - 1) + r * erf(r / math.sqrt(2))
    return float(noise * folded.mean())


def theorem_trials(seeds: list[int], outputs: int, horizons: list[int], noise: float) -> list[list[float]]:
    """Return excess risk for each seed and horizon: step M/(kappa sqrt(T)), average of theta_0 .. theta_{T-1}."""
    return [[_trial(seed, outputs, T, noise) for T in horizons] for seed in seeds]


def _trial(seed: int, outputs: int, T: int, noise: float) -> float:
    X = uniform_rows(seed, T)
    Y = target(seed, X, outputs)
    if noise > 0:
        Y = Y + noise * ndtri(random_table.uniforms(seed, _NOISE, T, outputs, random_table.DESIGN))
    learner = kernel_learner(outputs, "active", Theorem(T), _SIGMA, average=Uniform(start=True))
    state = simulate(learner, X, Oracle(Y), seed=seed, at=[T]).state
    return excess(learner.predict(state, _GRID) - target(seed, _GRID, outputs), noise)


@final
class Bound(Run):
    """Theorem 1, measured: kappa = 1 (Gaussian kernel), M = 1 (by construction)."""

    name: ClassVar[str] = "theory"
    title: ClassVar[str] = "Theorem 1: the bound with its right constant, and the measured excess risk"
    caption: ClassVar[str] = (
        "A target of known norm M, the theorem's constant step and its average of theta_0 to theta_(T-1); "
        "dashed: kappa M / (c2 sqrt(T))."
    )

    def _settings(self, quick: bool) -> dict[str, Any]:
        if quick:
            return {"outputs": [1, 4, 16], "horizons": [100, 300, 1000], "trials": 8}
        return {"outputs": [1, 2, 5, 10, 20, 50], "horizons": [100, 316, 1000, 3162, 10_000], "trials": 40}

    def jobs(self, quick: bool) -> list[Job]:
        """Return every m without noise, then one output with noise."""
        chosen = self._settings(quick)
        cases = [(m, 0.0) for m in chosen["outputs"]] + [(1, 0.3)]
        return [
            Job(theorem_trials, {"outputs": m, "noise": noise, "horizons": chosen["horizons"], "seeds": part})
            for m, noise in cases
            for part in chunks(chosen["trials"], 10)
        ]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return excess risks (m: trials x horizons), the bounds, the largest share of the bound, slopes."""
        chosen = self._settings(quick)
        ms, Ts = chosen["outputs"], chosen["horizons"]
        *grouped, noisy = map(joined, parted(results, [*map(str, ms), "noisy"]).values())
        bounds = [[theory.bound(1.0, 1.0, m, T) for T in Ts] for m in ms]
        return {
            "outputs": ms,
            "horizons": Ts,
            "excess": {str(m): runs for m, runs in zip(ms, grouped, strict=True)},
            "noisy": noisy,
            "bounds": bounds,
            "share": max(
                _share(runs, limit) for runs, limit in zip([*grouped, noisy], [*bounds, bounds[0]], strict=True)
            ),
            "in_T": {str(m): slope(Ts, runs) for m, runs in zip(ms, grouped, strict=True)},
            "in_T_noisy": slope(Ts, noisy),
            "in_m": slope(ms, last(grouped)),
        }

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the bound, the rate in T, the growth with m."""
        slopes = numbers["in_T"]
        worst = max(slopes, key=lambda m: float(slopes[m][0]))
        rate, low, high = slopes[worst]
        noisy, nl, nh = numbers["in_T_noisy"]
        growth, gl, gh = numbers["in_m"]
        return [
            Claim(
                "The excess risk is at most 2 kappa M / (c2 sqrt(T)) <= kappa M m^(3/2) / sqrt(T)",
                "2 kappa M / (c2 sqrt(T)), with a c2 that is infinite at m = 1",
                f"at most {numbers['share']:.2f} of kappa M / (c2 sqrt(T)), upper ends of 95 % intervals",
                CORRECTED if numbers["share"] < 1 else FAILS,
                "the proof gives kappa M / (c2 sqrt(T)) <= sqrt(pi m / 2) kappa M / sqrt(T), c2 = E|<e1, U>|",
            ),
            Claim(
                "The excess risk decreases as T^(-1/2)",
                "slope -1/2",
                f"slowest: {rate:.2f} [{low:.2f}, {high:.2f}] (m = {worst}); "
                f"with noise, m = 1: {noisy:.2f} [{nl:.2f}, {nh:.2f}]",
                HOLDS if low <= -0.49 and nl <= -0.49 else FAILS,
                "an upper bound, kept where an interval reaches -0.49: with smooth noise the risk is flat at its "
                "minimum and the excess falls faster",
            ),
            Claim(
                "The excess risk grows with the number of outputs as m^(3/2)",
                "m^(3/2) in the bound",
                f"m^{growth:.2f} [{gl:.2f}, {gh:.2f}] at T = {numbers['horizons'][-1]}, with M fixed",
                CORRECTED if gh < 1 else FAILS,
                "the bound grows as 1/c2(m), about sqrt(m); what is measured stays below it",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Draw against T for a few m, the right bound dashed, and against m with both constants."""
        figure, (left, right) = panels(2)
        ms, Ts = numbers["outputs"], numbers["horizons"]
        for m, colour in zip((ms[0], ms[len(ms) // 2], ms[-1]), COLOURS, strict=False):
            band(left, Ts, numbers["excess"][str(m)], f"m = {m}", colour)
            left.plot(Ts, numbers["bounds"][ms.index(m)], "--", color=colour)
        band(left, Ts, numbers["noisy"], "m = 1, noise 0.3", COLOURS[3])
        band(right, ms, last(numbers["excess"].values()), "measured", COLOURS[0], style="o-")
        right.plot(ms, [row[-1] for row in numbers["bounds"]], "--", color=COLOURS[1], label="κM / (c₂√T), right c₂")
        right.plot(ms, [m**1.5 / math.sqrt(Ts[-1]) for m in ms], ":", color=COLOURS[6], label="paper: κM m^1.5 / √T")
        left.set(xlabel="questions T", ylabel="excess risk", title="solid: measured, dashed: bound")
        right.set(xlabel="outputs m", ylabel=f"excess risk at T = {Ts[-1]}", title="growth with m, κ = M = 1")
        left.set_ylim(bottom=left.get_ylim()[0] / 6)  # room for the legend
        left.legend(frameon=False, fontsize=8, loc="lower left", ncols=2)
        right.legend(frameon=False, fontsize=8)
        return figure


def _share(runs: Sequence[Sequence[float]], limit: Sequence[float]) -> float:
    """Return the largest (mean + 2 standard errors) / bound."""
    values = np.array(runs)
    upper = values.mean(axis=0) + 2 * values.std(axis=0) / math.sqrt(len(values))
    return float((upper / np.array(limit)).max())
