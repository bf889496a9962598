"""fig2-left: regression error against the number of questions, active and passive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone.paper._base import FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._fits import slope
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._synthetic import sine_trial
from askone.session.simulation import checkpoints

_CHUNK = 5


@final
class RegressionCurves(Run):
    """Figure 2, left."""

    name: ClassVar[str] = "fig2-left"
    title: ClassVar[str] = "Regression: error against T, active and passive"
    caption: ClassVar[str] = (
        "Mean and one standard deviation over the trials; gamma = 1/sqrt(t), bandwidth .2, uniform average."
    )

    def _settings(self, quick: bool) -> dict[str, Any]:
        return {"trials": 10, "questions": 1000} if quick else {"trials": 100, "questions": 10_000}

    def jobs(self, quick: bool) -> list[Job]:
        """Return chunks of trials for each strategy."""
        chosen = self._settings(quick)
        at = checkpoints(chosen["questions"], 8)
        parts = [list(range(i, min(i + _CHUNK, chosen["trials"]))) for i in range(0, chosen["trials"], _CHUNK)]
        common = {"questions": chosen["questions"], "gamma": 1.0, "bandwidth": 0.2, "at": at}
        return [Job(sine_trials, {**common, "family": f, "seeds": p}) for f in ("active", "passive") for p in parts]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return errors, trials x checkpoints, of both strategies, and the slope of the active one."""
        half = len(results) // 2
        at = checkpoints(self._settings(quick)["questions"], 8)
        active, passive = ([row for chunk in part for row in chunk] for part in (results[:half], results[half:]))
        tail = [i for i, t in enumerate(at) if t >= at[-1] / 30]
        fitted = slope([at[i] for i in tail], np.array(active)[:, tail])
        return {"at": at, "active": active, "passive": passive, "slope": fitted}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the rate, and active against passive."""
        rate, low, high = numbers["slope"]
        ratio = np.mean(numbers["passive"], axis=0)[-1] / np.mean(numbers["active"], axis=0)[-1]
        return [
            Claim(
                "The error of the active strategy decreases as T^(-1/2)",
                "slope -1/2",
                f"slope {rate:.2f} [{low:.2f}, {high:.2f}]",
                HOLDS if high < -0.4 else FAILS,
                "without noise it may be faster than the worst case" if high < -0.5 else "",
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
        for family, colour in zip(("active", "passive"), COLOURS, strict=False):
            band(axes, numbers["at"], numbers[family], family, colour)
        axes.set(xlabel="questions T", ylabel="mean absolute error", title="regression, γ₀ = 1")
        axes.legend(frameon=False)
        return figure


def sine_trials(
    seeds: list[int], questions: int, family: str, gamma: float, bandwidth: float, at: list[int]
) -> list[list[float]]:
    """Return several trials, one row of errors each."""
    return [sine_trial(seed, questions, family, gamma, bandwidth, at) for seed in seeds]
