"""simplex: classes without context, as points of the simplex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.paper._base import FAILS, HOLDS, IN_PART, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Axes, Figure, panels

PROBABILITIES = ((1.0, 0.0, 0.0), (0.45, 0.35, 0.2))
# e_1 below on the left, e_2 below on the right, e_3 on top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
_MARGINAL = 1e-9


def geometric_median(p: Array) -> Array:
    """argmin_z sum_y p_y |z - e_y|, by Weiszfeld's steps away from corners.

    It is the corner e_k iff p_k^2 >= [(1 - p_k)^2 + sum_{y != k} p_y^2] / 2.

    >>> geometric_median(np.array([0.5, 0.25, 0.25])).round(6).tolist()
    [1.0, 0.0, 0.0]
    >>> geometric_median(np.array([0.4, 0.3, 0.3])).round(3).tolist()
    [0.516, 0.242, 0.242]
    """
    k = int(p.argmax())
    rest = np.delete(p, k)
    if p[k] ** 2 >= ((1 - p[k]) ** 2 + rest @ rest) / 2:
        return np.asarray(np.eye(len(p))[k])
    z = np.array(p)
    for _ in range(100_000):
        weights = p / np.sqrt(np.maximum(z @ z + 1 - 2 * z, 1e-300))
        moved = weights / weights.sum()
        if np.abs(moved - z).max() < 1e-13:
            break
        z = moved
    return np.asarray(moved)


def margin(z: Array) -> float:
    """The distance to the nearest frontier between decoded classes: (z_(1) - z_(2)) / sqrt(2).

    >>> round(margin(np.array([0.5, 0.3, 0.2])), 4)
    0.1414
    """
    second, first = np.sort(z)[-2:]
    return float((first - second) / np.sqrt(2))


def pointwise(p: list[float]) -> dict[str, Any]:
    """z*, both margins."""
    z = geometric_median(np.array(p))
    return {"z": z.tolist(), "margins": [margin(np.array(p)), margin(z)]}


def margins_of(classes: int, count: int, seed: int) -> dict[str, Any]:
    """Random p: margins of eta and of z*, how often z* is a corner, whether it keeps the order of p."""
    normal = -np.log(random_table.uniforms(seed, 0, count, classes, random_table.DESIGN))
    p = normal / normal.sum(axis=1, keepdims=True)
    found = np.array([geometric_median(one) for one in p])
    margins = np.array([[margin(one), margin(z)] for one, z in zip(p, found, strict=True)])
    kept = (found.argmax(axis=1) == p.argmax(axis=1)).all()
    return {
        "p": p.tolist(),
        "margins": margins.tolist(),
        "corner": float((found.max(1) == 1).mean()),
        "kept": bool(kept),
    }


def decoded_alike(p: list[float], samples: int, trials: int, seed: int) -> dict[str, float]:
    """How often both surrogates, fitted to samples of Y, decode to the mode of p."""
    below = random_table.uniforms(seed, 0, trials, samples, random_table.DESIGN)[..., None] > np.cumsum(p)[:-1]
    counts = np.stack([(below.sum(axis=2) == y).sum(axis=1) for y in range(len(p))], axis=1)
    shares = counts[(np.sort(counts, axis=1)[:, -1] > np.sort(counts, axis=1)[:, -2])] / samples
    mode = int(np.argmax(p))
    medians = np.array([geometric_median(share) for share in shares]).argmax(axis=1)
    means = shares.argmax(axis=1)
    right = {"least squares": float((means == mode).mean()), "median": float((medians == mode).mean())}
    return {**right, "alike": float((means == medians).mean())}


@final
class SimplexLevels(Run):
    """Appendix: least squares and the median surrogate without context."""

    name: ClassVar[str] = "simplex"
    title: ClassVar[str] = "Level lines and decoding regions on the simplex"
    caption: ClassVar[str] = (
        "Left and middle: level lines of E‖z − e_Y‖, its minimiser z* (star), η = E e_Y (dot) and, dashed, the "
        "frontiers of the decoding, for p = (1, 0, 0) and p = (.45, .35, .2). Right: distance to the frontier of z* "
        "against that of η for random p; above the line z* is farther away."
    )

    def jobs(self, quick: bool) -> list[Job]:
        """Both p of the paper, many others, and samples."""
        points = [Job(pointwise, {"p": list(p)}) for p in PROBABILITIES]
        several = [Job(margins_of, {"classes": m, "count": 200 if quick else 2000, "seed": m}) for m in (3, 10)]
        samples = {"p": list(PROBABILITIES[1]), "samples": 100, "trials": 500 if quick else 5000, "seed": 0}
        return [*points, *several, Job(decoded_alike, samples)]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """As the jobs give them."""
        return {"points": results[:2], "three": results[2], "ten": results[3], "samples": results[4]}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Consistency, distance to the frontier, and what it is worth."""
        z, (eta_margin, z_margin) = numbers["points"][1]["z"], numbers["points"][1]["margins"]
        both = [numbers["three"], numbers["ten"]]
        closer = min(float(np.min(np.diff(one["margins"], axis=1))) for one in both)
        samples, total = numbers["samples"], sum(len(one["p"]) for one in both)
        return [
            Claim(
                "The median surrogate is consistent: z* has its largest coordinate at the mode of p",
                "proved",
                f"in all of {total} random p of 3 and 10 classes",
                HOLDS if all(one["kept"] for one in both) else FAILS,
                "the proof's x ↦ √(a−2x) decreases, where it says increases",
            ),
            Claim(
                "z* is always farther from the frontier of the decoding than η",
                "always",
                f"p = (.45, .35, .2): {z_margin:.3f} against {eta_margin:.3f}, "
                f"z* = ({', '.join(f'{c:.3f}' for c in z)}); over {total} random p the least gain is {closer:.1e}",
                HOLDS if closer > -_MARGINAL else FAILS,
                "equal where p has two modes or is a corner",
            ),
            Claim(
                "So that the error of the decoding is much smaller for the median surrogate",
                "much smaller, for a similar estimation error",
                f"right in {100 * samples['median']:.1f} % (median) and {100 * samples['least squares']:.1f} % (least "
                f"squares) of samples of 100; the same class in {100 * samples['alike']:.1f} %",
                IN_PART if samples["alike"] == 1 else HOLDS if samples["median"] > samples["least squares"] else FAILS,
                "without context both decode a sample to its most frequent class: the margin helps only where the "
                "surrogate is estimated with another error, as by smoothing over x or by single bits",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Two simplices with level lines, and the margins."""
        figure, axes = panels(3, width=3.8, height=3.4)
        for one, p, found in zip(axes, PROBABILITIES, numbers["points"], strict=False):
            frame(one)
            _levels(one, np.array(p))
            one.plot(*in_plane(np.array(p)), "o", color=COLOURS[1], markersize=7, label="η (least squares)")
            one.plot(*in_plane(np.array(found["z"])), "*", color=COLOURS[0], markersize=11, label="z* (median)")
            one.set_title(f"p = ({', '.join(f'{c:g}' for c in p)})")
            one.legend(frameon=False, fontsize=7, loc="upper right")
        self._margins(axes[2], numbers)
        return figure

    def _margins(self, axes: Axes, numbers: Numbers) -> None:
        for key, label, colour in (("three", "3 classes", COLOURS[0]), ("ten", "10 classes", COLOURS[2])):
            values = np.array(numbers[key]["margins"])
            axes.plot(values[:, 0], values[:, 1], ".", color=colour, markersize=3, alpha=0.5, label=label)
        axes.plot([0, 0.7], [0, 0.7], "--", color="0.4", linewidth=1)
        axes.set(xlabel="distance of η to the frontier", ylabel="distance of z*", title="random p")
        axes.legend(frameon=False, fontsize=7, loc="lower right")


def in_plane(z: Array) -> Array:
    """Return points of the simplex as points of the plane."""
    return np.asarray(z @ CORNERS)


def frame(axes: Axes) -> None:
    """Draw the triangle and the names of its corners."""
    axes.set(aspect="equal", xlim=(-0.16, 1.16), ylim=(-0.18, 1.04))
    axes.set_axis_off()
    axes.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="black", linewidth=1)
    center = CORNERS.mean(axis=0)
    for y, corner in enumerate(CORNERS):
        opposite = (CORNERS.sum(axis=0) - corner) / 2
        axes.plot(*np.vstack([center, opposite]).T, "--", color=COLOURS[1], linewidth=1)
        axes.annotate(f"$e_{y + 1}$", corner + 0.1 * (corner - center), ha="center", va="center")


def _levels(axes: Axes, p: Array) -> None:
    steps = np.linspace(0, 1, 101)
    z = np.array([[1 - a - b, a, b] for a in steps for b in steps if a + b <= 1 + 1e-12])
    value = sum(weight * np.linalg.norm(z - corner, axis=1) for weight, corner in zip(p, np.eye(3), strict=True))
    axes.tricontour(*in_plane(z).T, value, levels=12, colors="0.35", linewidths=0.8)
