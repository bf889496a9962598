"""query-strategy: which half-spaces a question can cut the simplex into."""

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
from askone.paper.figures.simplex import CORNERS, frame, in_plane


def cuts(classes: int, count: int, seed: int, inward: float = 1e-6) -> dict[str, int]:
    """Algorithm 1's questions at a z next to e_1: how many ask about {1} or all others, how many split the others.

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
        """Questions next to a corner, for 3 classes and more."""
        count = 4000 if quick else 40_000
        parts = [Job(cuts, {"classes": 3, "count": count, "seed": seed}) for seed in range(4)]
        return parts + [Job(cuts, {"classes": m, "count": count, "seed": 0}) for m in (5, 10)]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Shares of both kinds of question, and the standard error for three classes."""
        total = sum(one["questions"] for one in results[:4])
        useful = sum(one["useful"] for one in results[:4]) / total
        more = {str(m): one["useful"] / one["questions"] for m, one in zip((5, 10), results[4:], strict=True)}
        return {"useful": useful, "error": (useful * (1 - useful) / total) ** 0.5, "questions": total, "more": more}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """The share is right, its explanation is not."""
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
        """The simplex with a cut through z, and the cuts at a corner."""
        figure, (left, right) = panels(2, width=3.8, height=3.4)
        frame(left)
        _cut(left, in_plane(np.array([0.45, 0.35, 0.2])), 100.0, COLOURS[0])
        left.plot(*in_plane(np.array([0.45, 0.35, 0.2])), "o", color=COLOURS[1], label="z")
        left.set_title("1{⟨e_Y − z, u⟩ > 0}")
        left.legend(frameon=False, fontsize=8)
        frame(right)
        right.fill(*(0.6 * CORNERS).T, color=COLOURS[5], alpha=0.35, linewidth=0)
        for angle in np.arange(0, 180, 20) + 10:
            _cut(right, CORNERS[0], float(angle), COLOURS[0] if angle < 60 else COLOURS[2])
        right.plot([], [], color=COLOURS[2], label="asks whether Y = 1")
        right.plot([], [], color=COLOURS[0], label="splits the others")
        right.plot(*CORNERS[0], "o", color=COLOURS[1], label="z = e₁")
        right.set_title(f"useful {numbers['useful']:.3f}, splitting {1 - numbers['useful']:.3f}")
        right.legend(framealpha=1, edgecolor="none", fontsize=8, loc="upper right")
        return figure


def _cut(axes: Axes, through: Array, angle: float, colour: str) -> None:
    direction = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    ends = np.array([through - 1.3 * direction, through + 1.3 * direction])
    axes.plot(*ends.T, color=colour, linewidth=1.2)
