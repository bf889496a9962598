"""fig1: the sine, seen through thirty questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common.types import Array
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import Constant, InverseSqrt, NoAverage
from askone.learners.streaming import StreamBlock
from askone.paper._base import FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Axes, Figure, panels
from askone.paper._synthetic import kernel_learner, sine, uniform_rows
from askone.paper._trials import ratio
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_SIGMA, _T = 0.2, 30
GRID = np.linspace(0, 1, 201)[:, None]
_PAPER = ("active, γ = 0.3", "passive, γ = 0.3")
_CODE = "passive, γ = 0.7 (reference code)"
# What is drawn is one trial; verdicts are about many.
_VARIANTS = {_PAPER[1]: ("passive", 0.3), _PAPER[0]: ("active", 0.3), _CODE: ("passive", 0.7)}


def sine_learner(family: str, gamma: float, decreasing: bool = False) -> SGDLearner:
    """The last iterate, as these figures show it."""
    rule = InverseSqrt(gamma) if decreasing else Constant(gamma)
    return kernel_learner(1, family, rule, _SIGMA, average=NoAverage())


def estimate(learner: SGDLearner, X: Array, seed: int) -> list[float]:
    """The estimate on the grid after a question about each row."""
    state = simulate(learner, X, Oracle(sine(X)), seed=seed).state if len(X) else learner.init()
    return [round(float(value), 6) for value in learner.predict(state, GRID)[:, 0]]


def picture(seed: int, family: str, gamma: float) -> dict[str, Any]:
    """One reconstruction: its questions (x, u), answers and estimate."""
    learner, X = sine_learner(family, gamma), uniform_rows(seed, _T)
    outcome = simulate(learner, X, Oracle(sine(X)), seed=seed, keep=True)
    blocks = [block for block in outcome.blocks if isinstance(block, StreamBlock)]
    thresholds, answers = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("thresholds", "answers"))
    estimate = np.round(learner.predict(outcome.state, GRID)[:, 0], 6).tolist()
    return {"x": X[:, 0].tolist(), "u": thresholds.tolist(), "above": answers.tolist(), "estimate": estimate}


def reconstruction_errors(seeds: list[int], family: str, gamma: float) -> list[float]:
    """Mean absolute error after 30 questions, for each seed."""
    learner, truth = sine_learner(family, gamma), sine(GRID[:, 0])
    return [float(np.abs(np.array(estimate(learner, uniform_rows(s, _T), s)) - truth).mean()) for s in seeds]


@final
class Reconstruction(Run):
    """Figure 1."""

    name: ClassVar[str] = "fig1"
    title: ClassVar[str] = "The sine from 30 questions, active and passive"
    caption: ClassVar[str] = (
        "Noiseless sine, Gaussian kernel with bandwidth .2, 30 questions. Orange points lie below the signal, "
        "blue ones above. Left and middle: the text's step .3 for both; right: the reference code's .7 for "
        "the passive strategy."
    )

    def jobs(self, quick: bool) -> list[Job]:
        """The picture of each variant, then its error over many trials."""
        seeds = list(range(50 if quick else 1000))
        named = [{"family": family, "gamma": gamma} for family, gamma in _VARIANTS.values()]
        pictures = [Job(picture, {"seed": 0, **one}) for one in named]
        return pictures + [Job(reconstruction_errors, {"seeds": seeds, **one}) for one in named]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Pictures and errors by variant."""
        n = len(_VARIANTS)
        pictures, errors = (dict(zip(_VARIANTS, part, strict=True)) for part in (results[:n], results[n:]))
        return {"questions": _T, "bandwidth": _SIGMA, "pictures": pictures, "errors": errors}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Much better with the same hyper-parameters; and with those of the code."""
        errors = numbers["errors"]
        return [
            _better("with the same step size (text)", errors, _PAPER[1]),
            _better("with the step sizes of the reference code", errors, _CODE),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Passive left, active right, as in the paper; then the passive variant of the code."""
        figure, axes = panels(3, width=3.6)
        for one, (name, shown) in zip(axes, numbers["pictures"].items(), strict=True):
            draw_questions(one, shown["x"], shown["u"], shown["above"])
            draw_signal(one)
            one.plot(GRID[:, 0], shown["estimate"], color=COLOURS[0], label="reconstruction")
            one.set(title=name, xlabel="input", ylim=(-2.6, 2.6))
        axes[0].set_ylabel("output")
        axes[1].legend(frameon=False, fontsize=7, loc="lower left")
        return figure


def _better(how: str, errors: dict[str, list[float]], passive: str) -> Claim:
    middle, low, high = ratio(errors[passive], errors[_PAPER[0]])
    means = f"{np.mean(errors[_PAPER[0]]):.3f} against {np.mean(errors[passive]):.3f}"
    return Claim(
        f"With 30 questions the active strategy reconstructs the sine much better, {how}",
        "by eye, one trial",
        f"mean absolute error {means}; ratio {middle:.2f} [{low:.2f}, {high:.2f}], {len(errors[passive])} trials",
        HOLDS if low > 1.2 else FAILS,
        "" if low > 1.2 else "the ratio's interval does not clear 1.2",
    )


def draw_signal(axes: Axes) -> None:
    """Draw the sine, dashed."""
    axes.plot(GRID[:, 0], sine(GRID[:, 0]), "--", color=COLOURS[1], label="signal")


def draw_questions(axes: Axes, x: Sequence[float], u: Sequence[float], above: Sequence[int]) -> None:
    """Orange: u lies below the signal (the answer "above" was yes); blue: above it."""
    yes = np.array(above) == 1
    for chosen, colour, label in ((yes, COLOURS[0], "u below the signal"), (~yes, COLOURS[1], "u above the signal")):
        axes.scatter(np.array(x)[chosen], np.array(u)[chosen], s=14, color=colour, label=label, zorder=3)
