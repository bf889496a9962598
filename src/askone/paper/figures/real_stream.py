"""What the runs on real streams share: variants, the figure, the words of a claim."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, final

import numpy as np

from askone.paper._base import Claim, Job, Numbers, Run, graded
from askone.paper._plots import COLOURS, Axes, Figure, band, panels
from askone.paper._stream_trial import LEAK, NO_LEAK, RANGES, SHRUNK, Setting, baseline, stream_trial
from askone.session.simulation import checkpoints

FAMILIES = ("active", "passive")
PAPER, TUNED = "the paper's step", "tuned step"
_STYLES = {PAPER: "-", TUNED: "-.", LEAK: "--", SHRUNK: ":"}
_NAMES = {LEAK: "leaking start and scale", SHRUNK: "leaking, the code's average"}
COMPETITIVE = 1.05  # within five percent of the baseline


@final
@dataclass(frozen=True)
class Variant:
    """A panel (kernel width, parametrisation) and what is drawn in it: step or leak."""

    bandwidth: float
    whiten: bool
    kind: str

    def setting(self, family: str, gamma: float) -> dict[str, Any]:
        """What a trial takes."""
        leak = self.kind if self.kind in (LEAK, SHRUNK) else NO_LEAK
        return asdict(Setting(self.bandwidth, self.whiten, family, None if self.kind == TUNED else gamma, leak))

    @property
    def panel(self) -> str:
        """The title of the panel."""
        return f"{'whitened features' if self.whiten else 'sections k(x, xᵢ), as in the paper'}, σ = {self.bandwidth:g}"


class RealStreamRun(Run):
    """A panel of the paper's figure on real streams, for each parametrisation."""

    rows: ClassVar[tuple[int, int]]
    """Questions in a quick look, and in full."""
    seeds: ClassVar[int] = 5
    gamma: ClassVar[float]
    variants: ClassVar[tuple[Variant, ...]]
    unit: ClassVar[str]
    line: ClassVar[str]
    limits: ClassVar[tuple[float, float]]

    def _keys(self, quick: bool) -> list[tuple[Variant, str]]:
        return [(variant, family) for variant in self.variants for family in FAMILIES]

    def _common(self, quick: bool) -> dict[str, Any]:
        rows = self.rows[0 if quick else 1]
        return {"data": self.name, "rows": rows, "at": checkpoints(rows, 4)}

    def jobs(self, quick: bool) -> list[Job]:
        """The baseline, then a job for each curve and seed."""
        common = self._common(quick)
        trials = [
            Job(stream_trial, {**common, "seed": seed, "setting": variant.setting(family, self.gamma)})
            for variant, family in self._keys(quick)
            for seed in range(1 if quick else self.seeds)
        ]
        return [Job(baseline, {"data": self.name, "rows": common["rows"]}), *trials]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Every curve with its runs (seeds x checkpoints, in the labels' units) and steps, and the baseline."""
        each = 1 if quick else self.seeds
        curves = []
        for i, (variant, family) in enumerate(self._keys(quick)):
            runs = results[1 + i * each : 1 + (i + 1) * each]
            steps = {"gammas": [run["gamma"] for run in runs], "at": runs[0]["at"]}
            curves.append({**asdict(variant), "family": family, **steps, "runs": [run["errors"] for run in runs]})
        low, high = RANGES[self.name]
        return {"baseline": results[0], "declared": [low, high], "curves": curves}

    @abstractmethod
    def claims(self, numbers: Numbers) -> list[Claim]:
        """The verdicts."""

    def draw(self, numbers: Numbers) -> Figure:
        """A panel for each parametrisation and width, both axes logarithmic, the baseline dashed."""
        titles = list(dict.fromkeys(variant.panel for variant in self.variants))
        figure, axes = panels(2, len(titles) // 2, width=5.0, height=4.0)
        for one, title in zip(axes, titles, strict=True):
            for curve in numbers["curves"]:
                if _variant(curve).panel == title:
                    self._curve(one, curve)
            one.axhline(numbers["baseline"], color="black", linewidth=1, label=self.line)
            one.set(title=title, xlabel="questions T", ylabel=f"mean absolute test error, {self.unit}")
            one.set_ylim(*self.limits)
            # The very first predictions of a long step are off the page; the paper's axes leave them out, too.
            one.set_xlim(10, self._last(numbers))
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, fontsize=8, loc="outside lower center", ncols=4)
        return figure

    def _last(self, numbers: Numbers) -> int:
        return max(int(curve["at"][-1]) for curve in numbers["curves"])

    def _curve(self, axes: Axes, curve: dict[str, Any]) -> None:
        kind, family = curve["kind"], curve["family"]
        said = f"γ₀ = {self.gamma:g}" if kind == PAPER else _NAMES.get(kind, kind)
        band(
            axes, curve["at"], curve["runs"], f"{family}, {said}", COLOURS[FAMILIES.index(family)], style=_STYLES[kind]
        )


def _variant(curve: dict[str, Any]) -> Variant:
    return Variant(curve["bandwidth"], curve["whiten"], curve["kind"])


def short_name(variant: Variant) -> str:
    """Return what a variant is called in a claim."""
    return f"σ = {variant.bandwidth:g}, {'whitened' if variant.whiten else 'sections'}, {variant.kind}"


def without_leaks(numbers: Numbers) -> list[Variant]:
    """The variants that see no label."""
    return [v for v in dict.fromkeys(map(_variant, numbers["curves"])) if v.kind in (PAPER, TUNED)]


def mean_curve(numbers: Numbers, variant: Variant, family: str) -> dict[str, Any]:
    """Return the mean over seeds of one curve, at its checkpoints."""
    (curve,) = [c for c in numbers["curves"] if _variant(c) == variant and c["family"] == family]
    return {"at": curve["at"], "mean": np.mean(curve["runs"], axis=0)}


def nearest(at: list[int], wanted: int) -> int:
    """Return the place of the checkpoint nearest to this many questions."""
    return int(np.argmin(np.abs(np.log(at) - np.log(wanted))))


def first_reached(curve: dict[str, Any], target: float) -> float:
    """The first checkpoint with an error of at most the target."""
    return next((float(t) for t, error in zip(curve["at"], curve["mean"], strict=True) if error <= target), np.inf)


def count_text(questions: float) -> str:
    """Return a number of questions in words."""
    return "never" if questions == np.inf else f"{questions:,.0f}"


def ends_below(numbers: Numbers, unit: str) -> Claim:
    """Return the claim that active curves end below passive ones."""
    ends = {
        short_name(v): [float(mean_curve(numbers, v, family)["mean"][-1]) for family in FAMILIES]
        for v in without_leaks(numbers)
    }
    said = "; ".join(f"{name}: {active:.2f} and {passive:.2f}" for name, (active, passive) in ends.items())
    return Claim(
        "The active strategy ends below the passive one",
        "the active curve lies below, after the first samples",
        f"error at the end in {unit}, active and passive, no label used: {said}",
        graded([active < passive for active, passive in ends.values()]),
        _order_depends(ends),
    )


def _order_depends(ends: dict[str, list[float]]) -> str:
    behind = [name for name, (active, passive) in ends.items() if active >= passive]
    return (
        f"which is lower depends on parametrisation and step: passive ends lower for {'; '.join(behind)}"
        if behind
        else ""
    )
