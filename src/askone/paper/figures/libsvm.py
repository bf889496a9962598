"""What the runs on LIBSVM's classes share: random splits, the figure, the words of a claim."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from askone.paper._base import Claim, Job, Numbers, Run, graded
from askone.paper._plots import COLOURS, Axes, Figure, band, panels
from askone.paper._split_trial import ACTIVE, DESIGNED, PASSIVE, split_errors, two_thirds
from askone.session.simulation import checkpoints

_CHUNK = 10
IMPORTANT = 1.3  # a passive error so many times the active one is an important gain
_LABELS = {
    ACTIVE: "active, γ₀ = {active:g}",
    PASSIVE: "passive, infimum loss, γ₀ = {passive:g}",
    DESIGNED: "designed sets (askone)",
}


@final
@dataclass(frozen=True)
class Bandwidth:
    """A kernel width, where it comes from, and over how many splits it is measured."""

    name: str
    sigma: float
    splits: int = 100


class Splits(Run):
    """A panel of the paper's figure on LIBSVM, for each bandwidth that could be meant."""

    rows: ClassVar[int]
    widths: ClassVar[tuple[Bandwidth, ...]]
    steps: ClassVar[dict[str, float]]

    def _settings(self, quick: bool) -> dict[str, Any]:
        rows = 3000 if quick else self.rows
        return {
            "rows": rows,
            "splits": 2 if quick else 100,
            # The default is several times slower than the rest: in a quick look one split at the code's width will do.
            "designed": [0, 1] if quick else [3] * len(self.widths),
            "at": checkpoints(two_thirds(rows), 4),
            "widths": self.widths[:2] if quick else self.widths,
        }

    def _parts(self, quick: bool) -> list[tuple[Bandwidth, dict[str, float], list[int]]]:
        chosen = self._settings(quick)
        parts: list[tuple[Bandwidth, dict[str, float], list[int]]] = []
        for width, designed in zip(chosen["widths"], chosen["designed"], strict=True):
            splits = list(range(min(chosen["splits"], width.splits)))
            parts += [(width, self.steps, splits[i : i + _CHUNK]) for i in range(0, len(splits), _CHUNK)]
            parts += [(width, {DESIGNED: 0.0}, [split]) for split in range(designed)]
        return parts

    def jobs(self, quick: bool) -> list[Job]:
        """Ten splits at a time for each bandwidth; the library's designed sets apart, on fewer splits."""
        chosen = self._settings(quick)
        common = {"data": self.needs[0], "rows": chosen["rows"], "at": chosen["at"]}
        return [
            Job(split_errors, {**common, "bandwidth": width.sigma, "steps": steps, "splits": splits})
            for width, steps, splits in self._parts(quick)
        ]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Test errors, splits x checkpoints, of each strategy and bandwidth, and the steps."""
        chosen = self._settings(quick)
        curves: dict[str, dict[str, list[list[float]]]] = {width.name: {} for width in chosen["widths"]}
        for (width, _, _), errors in zip(self._parts(quick), results, strict=True):
            for family, rows in errors.items():
                curves[width.name].setdefault(family, []).extend(rows)
        sigmas = {width.name: width.sigma for width in chosen["widths"]}
        return {"at": chosen["at"], "sigmas": sigmas, "steps": self.steps, "curves": curves}

    @abstractmethod
    def claims(self, numbers: Numbers) -> list[Claim]:
        """The verdicts."""

    def draw(self, numbers: Numbers) -> Figure:
        """A panel for each bandwidth, as in the paper: error against questions, linear axes, chance dotted."""
        figure, axes = panels(len(numbers["curves"]))
        for one, (name, curves) in zip(axes, numbers["curves"].items(), strict=True):
            self._panel(one, numbers, curves)
            one.set_title(f"σ = {name}", fontsize=10)
        axes[0].set_ylabel("test error")
        handles, labels = axes[1].get_legend_handles_labels()  # the code's width has every curve
        figure.legend(handles, labels, frameon=False, fontsize=8, loc="outside lower center", ncols=2)
        return figure

    def _panel(self, axes: Axes, numbers: Numbers, curves: dict[str, list[list[float]]]) -> None:
        for (family, runs), colour in zip(curves.items(), COLOURS, strict=False):
            label = _LABELS[family].format(**self.steps) + f" ({len(runs)} split{'s' if len(runs) > 1 else ''})"
            band(axes, numbers["at"], runs, label, colour, log=False)
        axes.axhline(0.9, color="black", linestyle=":", linewidth=1, label="chance, 1 - 1/m")
        axes.set(xlabel="questions T", ylim=(0, 1), xlim=(0, numbers["at"][-1]))


def _last(numbers: Numbers, name: str, family: str) -> float:
    return float(np.mean(numbers["curves"][name][family], axis=0)[-1])


def gains_of(numbers: Numbers) -> dict[str, float]:
    """Passive over active error after all questions, for each bandwidth."""
    return {name: _last(numbers, name, PASSIVE) / _last(numbers, name, ACTIVE) for name in numbers["curves"]}


def gains_text(numbers: Numbers, gains: dict[str, float]) -> str:
    """Return both errors and their ratio for each bandwidth, in words."""
    parts = [
        f"σ = {name}: {100 * _last(numbers, name, ACTIVE):.1f} % against {100 * _last(numbers, name, PASSIVE):.1f} % "
        f"({gain:.2f} times)"
        for name, gain in gains.items()
    ]
    return f"test error at T = {numbers['at'][-1]}, active against passive: " + "; ".join(parts)


def default_claim(numbers: Numbers) -> list[Claim]:
    """Not the paper's: the library's designed sets on the same rows, for scale."""
    ratios = {
        name: _last(numbers, name, ACTIVE) / _last(numbers, name, DESIGNED)
        for name, curves in numbers["curves"].items()
        if DESIGNED in curves
    }
    said = "; ".join(f"σ = {name}: {100 * _last(numbers, name, DESIGNED):.1f} %" for name in ratios)
    text = "askone's designed sets (least squares, no step to tune) asks better questions than both"
    return [Claim(text, "not in the paper", said, graded([ratio > 1 for ratio in ratios.values()]))]
