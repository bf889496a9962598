"""weather: one pass through a stream of temperatures, active and passive, with and without the leaks."""

from __future__ import annotations

from typing import ClassVar, final

from askone.paper._base import FAILS, IN_PART, Claim, Numbers, graded
from askone.paper._stream_trial import LEAK, SHRUNK
from askone.paper.figures.real_stream import (
    PAPER,
    TUNED,
    RealStreamRun,
    Variant,
    ends_below,
    mean_curve,
    nearest,
    short_name,
    without_leaks,
)


@final
class Weather(RealStreamRun):
    """Weather in Szeged."""

    name: ClassVar[str] = "weather"
    title: ClassVar[str] = "Weather: apparent temperature, one pass in file order"
    caption: ClassVar[str] = (
        "No label is used but through answers; the declared range is -35 to 45 °C, and gamma is in half ranges. "
        "Tuned: the best of 13 step sizes for each curve and seed, by the labels of every third row of the last 20,000 "
        "training rows (quick: of fewer), which the tuned streams then do not see. "
        "Leaking: the published script's start and scale, from true labels."
    )
    needs: ClassVar[tuple[str, ...]] = ("weather",)
    rows: ClassVar[tuple[int, int]] = (3000, 70_000)
    gamma: ClassVar[float] = 1e-2
    unit: ClassVar[str] = "°C"
    line: ClassVar[str] = "baseline: real temperature"
    limits: ClassVar[tuple[float, float]] = (0.3, 40.0)
    variants: ClassVar[tuple[Variant, ...]] = (
        *(Variant(10.0, False, kind) for kind in (PAPER, TUNED, LEAK, SHRUNK)),
        *(Variant(10.0, True, kind) for kind in (PAPER, TUNED)),
    )

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Active below passive; the transitory regime; what the leaking start is worth."""
        return [ends_below(numbers, "°C"), self._transitory(numbers), self._worth(numbers)]

    def _transitory(self, numbers: Numbers) -> Claim:
        right, shrunk = (mean_curve(numbers, Variant(10.0, False, kind), "active") for kind in (LEAK, SHRUNK))
        early, end = nearest(right["at"], 30), -1
        artefact = right["mean"][early] < 1.5 * right["mean"][end] < shrunk["mean"][early]
        return Claim(
            "The first 1,000 samples are used to calibrate the weights (a transitory regime)",
            "errors fall by an order of magnitude over the first 1,000 samples",
            f"from the code's start, active, after {right['at'][early]} questions: {right['mean'][early]:.2f} °C with "
            f"the mean of iterates, {shrunk['mean'][early]:.2f} °C with the code's average; at the end "
            f"{right['mean'][end]:.2f} and {shrunk['mean'][end]:.2f} °C",
            FAILS if artefact else IN_PART,
            "the code's average is shrunk by t/(t + 100), and its start, a fit of true labels, is as good as its end",
        )

    def _worth(self, numbers: Numbers) -> Claim:
        leaking = mean_curve(numbers, Variant(10.0, False, LEAK), "active")["mean"]
        honest = {short_name(v): mean_curve(numbers, v, "active")["mean"][-1] for v in without_leaks(numbers)}
        below = [error < numbers["baseline"] for error in honest.values()]
        said = "; ".join(f"{name}: {error:.2f} °C" for name, error in honest.items())
        return Claim(
            "One pass of the active strategy predicts better than the real temperature does",
            "drawn as the baseline; the text gives no number",
            f"baseline {numbers['baseline']:.2f} °C; from the code's start {leaking[-1]:.2f} °C; "
            f"without a label, from zero: {said}",
            graded(below),
            "" if all(below) else "without true labels at the start one pass is not enough at this kernel width",
        )
