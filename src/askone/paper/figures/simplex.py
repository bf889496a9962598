"""simplex and query-strategy: classes without context, as points of the simplex, and the cuts through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.labels.classes import Classes
from askone.learners.gradients.subset import Sphere
from askone.paper._base import CORRECTED, FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Axes, Figure, panels

_PROBABILITIES = ((1.0, 0.0, 0.0), (0.45, 0.35, 0.2))
# e_1 below on the left, e_2 below on the right, e_3 on top.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
_MARGINAL = 1e-9


def geometric_median(p: Array) -> Array:
    """Return argmin_z sum_y p_y |z - e_y|, by Weiszfeld's steps away from corners.

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
    """Return the distance to the nearest frontier between decoded classes: (z_(1) - z_(2)) / sqrt(2).

    >>> round(margin(np.array([0.5, 0.3, 0.2])), 4)
    0.1414
    """
    second, first = np.sort(z)[-2:]
    return float((first - second) / np.sqrt(2))


def pointwise(p: list[float]) -> dict[str, Any]:
    """Return z*, both margins."""
    z = geometric_median(np.array(p))
    return {"z": z.tolist(), "margins": [margin(np.array(p)), margin(z)]}


def margins_of(classes: int, count: int, seed: int) -> dict[str, Any]:
    """Return random p: margins of eta and of z*, how often z* is a corner, whether it keeps the order of p."""
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
    """Return how often both surrogates, fitted to samples of Y, decode to the mode of p."""
    below = random_table.uniforms(seed, 0, trials, samples, random_table.DESIGN)[..., None] > np.cumsum(p)[:-1]
    counts = np.stack([(below.sum(axis=2) == y).sum(axis=1) for y in range(len(p))], axis=1)
    shares = counts[(np.sort(counts, axis=1)[:, -1] > np.sort(counts, axis=1)[:, -2])] / samples
    mode = int(np.argmax(p))
    medians = np.array([geometric_median(share) for share in shares]).argmax(axis=1)
    means = shares.argmax(axis=1)
    right = {"least squares": float((means == mode).mean()), "median": float((medians == mode).mean())}
    return {**right, "alike": float((means == medians).mean())}


def cuts(classes: int, count: int, seed: int, inward: float = 1e-6) -> dict[str, int]:
    """Return Algorithm 1's questions at a z next to e_1: how many ask about {1} or all others, how many split the
    others.

    The sets are those of the library's strategy, {y : u_y > <z, u>}.
    """
    strategy = Sphere(Classes(tuple(range(classes))))
    z = np.full(classes, inward / (classes - 1))
    z[0] = 1 - inward
    uniform = random_table.uniforms(seed, 0, count, strategy.width)
    questions = [strategy.ask(z, one, 0) for one in uniform]
    useful = sum(set(question.members) in ({0}, set(range(1, classes))) for question in questions)
    return {"questions": count, "useful": useful, "splitting": count - useful}


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
        """Return both p of the paper, many others, and samples."""
        points = [Job(pointwise, {"p": list(p)}) for p in _PROBABILITIES]
        several = [Job(margins_of, {"classes": m, "count": 200 if quick else 2000, "seed": m}) for m in (3, 10)]
        samples = {"p": list(_PROBABILITIES[1]), "samples": 100, "trials": 500 if quick else 5000, "seed": 0}
        return [*points, *several, Job(decoded_alike, samples)]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """As the jobs give them."""
        return {"points": results[:2], "three": results[2], "ten": results[3], "samples": results[4]}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return verdicts on consistency, the distance to the frontier, and what it is worth."""
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
                HOLDS if samples["median"] > samples["least squares"] else FAILS,
                "no difference at all: without context both decode a sample to its most frequent class; a larger "
                "margin helps only where the surrogate is estimated with another error (smoothing over x, single "
                "bits), which median-vs-ls shows",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return two simplices with level lines, and the margins."""
        figure, axes = panels(3, width=3.8, height=3.4)
        for one, p, found in zip(axes, _PROBABILITIES, numbers["points"], strict=False):
            _frame(one)
            _levels(one, np.array(p))
            one.plot(*_in_plane(np.array(p)), "o", color=COLOURS[1], markersize=7, label="η (least squares)")
            one.plot(*_in_plane(np.array(found["z"])), "*", color=COLOURS[0], markersize=11, label="z* (median)")
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


def _in_plane(z: Array) -> Array:
    """Return points of the simplex as points of the plane."""
    return np.asarray(z @ _CORNERS)


def _frame(axes: Axes) -> None:
    """Draw the triangle and the names of its corners."""
    axes.set(aspect="equal", xlim=(-0.16, 1.16), ylim=(-0.18, 1.04))
    axes.set_axis_off()
    axes.plot(*np.vstack([_CORNERS, _CORNERS[:1]]).T, color="black", linewidth=1)
    center = _CORNERS.mean(axis=0)
    for y, corner in enumerate(_CORNERS):
        opposite = (_CORNERS.sum(axis=0) - corner) / 2
        axes.plot(*np.vstack([center, opposite]).T, "--", color=COLOURS[1], linewidth=1)
        axes.annotate(f"$e_{y + 1}$", corner + 0.1 * (corner - center), ha="center", va="center")


def _levels(axes: Axes, p: Array) -> None:
    steps = np.linspace(0, 1, 101)
    z = np.array([[1 - a - b, a, b] for a in steps for b in steps if a + b <= 1 + 1e-12])
    value = sum(weight * np.linalg.norm(z - corner, axis=1) for weight, corner in zip(p, np.eye(3), strict=True))
    axes.tricontour(*_in_plane(z).T, value, levels=12, colors="0.35", linewidths=0.8)


@final
class QueryStrategy(Run):
    """Appendix: the query strategy based on regression surrogates."""

    name: ClassVar[str] = "query-strategy"
    title: ClassVar[str] = "A random cut through the simplex"
    caption: ClassVar[str] = (
        "Left: the question is on which side of a random line through z the corner e_Y lies. Right: at z = e₁ a line "
        "that meets the opposite side (shaded: 60° of 180°) splits e₂ from e₃ and tells nothing of Y = 1; the others "
        "ask just that."
    )

    def jobs(self, quick: bool) -> list[Job]:
        """Return questions next to a corner, for 3 classes and more."""
        count = 4000 if quick else 40_000
        parts = [Job(cuts, {"classes": 3, "count": count, "seed": seed}) for seed in range(4)]
        return parts + [Job(cuts, {"classes": m, "count": count, "seed": 0}) for m in (5, 10)]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return shares of both kinds of question, and the standard error for three classes."""
        total = sum(one["questions"] for one in results[:4])
        useful = sum(one["useful"] for one in results[:4]) / total
        more = {str(m): one["useful"] / one["questions"] for m, one in zip((5, 10), results[4:], strict=True)}
        return {"useful": useful, "error": (useful * (1 - useful) / total) ** 0.5, "questions": total, "more": more}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the verdicts: the share is right, its explanation is not."""
        useful, error = numbers["useful"], 1.96 * numbers["error"]
        more = ", ".join(f"{share:.3f} for {m} classes" for m, share in numbers["more"].items())
        right = abs(useful - 2 / 3) < 5 * numbers["error"]
        return [
            Claim(
                "At z* = e_y the surrogate asks the useful question s = {y} two thirds of the time (three classes)",
                "2/3",
                f"{useful:.4f} ± {error:.4f} of {numbers['questions']} questions",
                HOLDS if right else FAILS,
                f"2/m for m classes: {more}",
            ),
            Claim(
                "Two thirds is the ratio of the solid angle of [e₂, e₃] from e₁ to π",
                "2/3",
                f"{1 - useful:.4f} ± {error:.4f}",
                CORRECTED if right else FAILS,
                "the angle is π/3, the ratio 1/3: the share of lines that split e₂ from e₃; one minus it is the 2/3",
            ),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return the simplex with a cut through z, and the cuts at a corner."""
        figure, (left, right) = panels(2, width=3.8, height=3.4)
        _frame(left)
        _cut(left, _in_plane(np.array([0.45, 0.35, 0.2])), 100.0, COLOURS[0])
        left.plot(*_in_plane(np.array([0.45, 0.35, 0.2])), "o", color=COLOURS[1], label="z")
        left.set_title("1{⟨e_Y − z, u⟩ > 0}")
        left.legend(frameon=False, fontsize=8)
        _frame(right)
        right.fill(*(0.6 * _CORNERS).T, color=COLOURS[5], alpha=0.35, linewidth=0)
        for angle in np.arange(0, 180, 20) + 10:
            _cut(right, _CORNERS[0], float(angle), COLOURS[0] if angle < 60 else COLOURS[2])
        right.plot([], [], color=COLOURS[2], label="asks whether Y = 1")
        right.plot([], [], color=COLOURS[0], label="splits the others")
        right.plot(*_CORNERS[0], "o", color=COLOURS[1], label="z = e₁")
        right.set_title(f"useful {numbers['useful']:.3f}, splitting {1 - numbers['useful']:.3f}")
        right.legend(framealpha=1, edgecolor="none", fontsize=8, loc="upper right")
        return figure


def _cut(axes: Axes, through: Array, angle: float, colour: str) -> None:
    direction = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    ends = np.array([through - 1.3 * direction, through + 1.3 * direction])
    axes.plot(*ends.T, color=colour, linewidth=1.2)
