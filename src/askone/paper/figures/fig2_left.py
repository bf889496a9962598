"""fig2-left: regression error against the number of questions, active and passive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common.types import Array
from askone.paper._base import FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._many_trials import StreamTrial, errors
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._rates import Rate, rate
from askone.paper._synthetic import kernel_learner, sine, uniform_rows
from askone.paper._trials import chunks, joined, parted, slope
from askone.session.simulation import checkpoints

_FAMILIES = ("active", "passive")


def sine_trials(
    seeds: list[int], questions: int, family: str, gamma: float, bandwidth: float, at: list[int],
    device: str | None = None,
) -> list[list[float]]:  # fmt: skip
    """Return mean absolute error on a grid against questions, for a stream of the noiseless sine per seed."""
    grid, learner = np.linspace(0, 1, 200)[:, None], kernel_learner(1, family, gamma, bandwidth)

    def error(predicted: Array) -> float:
        return float(np.abs(predicted - sine(grid)).mean())

    streams = {seed: uniform_rows(seed, questions) for seed in seeds}
    return errors(learner, [StreamTrial(seed, X, sine(X), grid, error) for seed, X in streams.items()], at, device)


@final
class RegressionCurves(Run):
    """Figure 2, left."""

    name: ClassVar[str] = "fig2-left"
    title: ClassVar[str] = "Regression: error against T, active and passive"
    caption: ClassVar[str] = (
        "Mean and one standard deviation over the trials; gamma = 1/sqrt(t), bandwidth .2, uniform average."
    )

    def jobs(self, quick: bool) -> list[Job]:
        """Return chunks of trials for each strategy."""
        trials, T = (10, 1000) if quick else (100, 10_000)
        common = {"questions": T, "gamma": 1.0, "bandwidth": 0.2, "at": checkpoints(T, 8)}
        parts = [(family, part) for family in _FAMILIES for part in chunks(trials)]
        return [Job(sine_trials, {**common, "family": family, "seeds": part}, "seeds") for family, part in parts]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return errors, trials x checkpoints, of both strategies, and the slope of the active one."""
        at = self.jobs(quick)[0].arguments["at"]
        curves = {family: joined(part) for family, part in parted(results, _FAMILIES).items()}
        tail = [i for i, t in enumerate(at) if t >= at[-1] / 30]
        law = rate(at, curves["active"])
        return {
            "at": at,
            **curves,
            "rate": law,
            "slope": slope([at[i] for i in tail], np.array(curves["active"])[:, tail]),
        }

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the rate, and active against passive."""
        middle, low, high = numbers["slope"]
        law = Rate(**numbers["rate"])
        ratio = np.mean(numbers["passive"], axis=0)[-1] / np.mean(numbers["active"], axis=0)[-1]
        return [
            Claim(
                "The error of the active strategy decreases as T^(-1/2)",
                "slope -1/2",
                f"slope {middle:.2f} [{low:.2f}, {high:.2f}]; {law.said()}",
                HOLDS if low < -0.5 else FAILS,
                "an upper bound: without noise it may be faster than the worst case" if high < -0.5 else "",
            ),
            Claim(
                "The active strategy needs fewer questions than the passive one",
                "the active curve lies below",
                f"at T = {numbers['at'][-1]} the passive error is {ratio:.1f} times the active one",
                HOLDS if ratio > 1 else FAILS,
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return two curves with bands, both axes logarithmic."""
        figure, (axes,) = panels(1)
        for family, colour in zip(_FAMILIES, COLOURS, strict=False):
            band(axes, numbers["at"], numbers[family], family, colour)
        axes.set(xlabel="questions T", ylabel="mean absolute error", title="regression, γ₀ = 1")
        axes.legend(frameon=False)
        return figure
