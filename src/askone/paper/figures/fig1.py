"""fig1 and streaming-history: the sine, seen through thirty questions, and question by question."""

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
from askone.paper._trials import best_step, parted, ratio
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_SIGMA, _T = 0.2, 30
_GRID = np.linspace(0, 1, 201)[:, None]
_PAPER = ("active, γ = 0.3", "passive, γ = 0.3")
_CODE = "passive, γ = 0.7 (reference code)"
_FRAMES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# What is drawn is one trial; verdicts are about many.
_VARIANTS = {_PAPER[1]: ("passive", 0.3), _PAPER[0]: ("active", 0.3), _CODE: ("passive", 0.7)}


def _learner(family: str, gamma: float, decreasing: bool = False) -> SGDLearner:
    """Return the last iterate, as these figures show it."""
    rule = InverseSqrt(gamma) if decreasing else Constant(gamma)
    return kernel_learner(1, family, rule, _SIGMA, average=NoAverage())


def _estimate(learner: SGDLearner, X: Array, seed: int) -> list[float]:
    """Return the estimate on the grid after a question about each row."""
    state = simulate(learner, X, Oracle(sine(X)), seed=seed).state if len(X) else learner.init()
    return [round(float(value), 6) for value in learner.predict(state, _GRID)[:, 0]]


def _questions(learner: SGDLearner, X: Array, seed: int) -> dict[str, Any]:
    """Return the questions (x, u) and their answers."""
    outcome = simulate(learner, X, Oracle(sine(X)), seed=seed, keep=True)
    blocks = [block for block in outcome.blocks if isinstance(block, StreamBlock)]
    u, above = (np.concatenate([getattr(b, name) for b in blocks]).tolist() for name in ("thresholds", "answers"))
    return {"x": X[:, 0].tolist(), "u": u, "above": above}


def picture(seed: int, family: str, gamma: float) -> dict[str, Any]:
    """Return one reconstruction: its questions (x, u), answers and estimate."""
    learner, X = _learner(family, gamma), uniform_rows(seed, _T)
    return {**_questions(learner, X, seed), "estimate": _estimate(learner, X, seed)}


def reconstruction_errors(seeds: list[int], family: str, gamma: float) -> list[float]:
    """Return mean absolute error after 30 questions, for each seed."""
    learner, truth = _learner(family, gamma), sine(_GRID[:, 0])
    return [float(np.abs(np.array(_estimate(learner, uniform_rows(s, _T), s)) - truth).mean()) for s in seeds]


def frames(seed: int, gamma: float, decreasing: bool) -> list[dict[str, Any]]:
    """Return twelve moments of one stream: the estimate before and after a question, and the questions so far."""
    learner, X = _learner("active", gamma, decreasing), uniform_rows(seed, _FRAMES[-1])
    estimates = {k: _estimate(learner, X[:k], seed) for t in _FRAMES for k in (t - 1, t)}
    return [
        {"t": t, **_questions(learner, X[:t], seed), "before": estimates[t - 1], "after": estimates[t]} for t in _FRAMES
    ]


def bandwidth_errors(seeds: list[int], questions: int, sigma: float, gammas: list[float]) -> list[float]:
    """Return mean absolute error of the average, for each seed, with the step size that did best on other seeds."""

    def error(seed: int, gamma: float) -> float:
        X, learner = uniform_rows(seed, questions), kernel_learner(1, "active", gamma, sigma)
        state = simulate(learner, X, Oracle(sine(X)), seed=seed, at=[questions]).state
        return float(np.abs(learner.predict(state, _GRID) - sine(_GRID)).mean())

    best, _ = best_step(gammas, 5, error)
    return [error(seed, best) for seed in seeds]


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
        """Return the picture of each variant, then its error over many trials."""
        seeds = list(range(50 if quick else 1000))
        named = [{"family": family, "gamma": gamma} for family, gamma in _VARIANTS.values()]
        pictures = [Job(picture, {"seed": 0, **one}) for one in named]
        return pictures + [Job(reconstruction_errors, {"seeds": seeds, **one}) for one in named]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return pictures and errors by variant."""
        found = {
            key: dict(zip(_VARIANTS, part, strict=True))
            for key, part in parted(results, ("pictures", "errors")).items()
        }
        return {"questions": _T, "bandwidth": _SIGMA, **found}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return verdicts: better with the same hyper-parameters, and with those of the code."""
        errors = numbers["errors"]
        return [
            _better("with the same step size (text)", errors, _PAPER[1]),
            _better("with the step sizes of the reference code", errors, _CODE),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return passive left, active right, as in the paper; then the passive variant of the code."""
        figure, axes = panels(3, width=3.6)
        for one, (name, shown) in zip(axes, numbers["pictures"].items(), strict=True):
            _draw_questions(one, shown["x"], shown["u"], shown["above"])
            _draw_signal(one)
            one.plot(_GRID[:, 0], shown["estimate"], color=COLOURS[0], label="reconstruction")
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


def _draw_signal(axes: Axes) -> None:
    """Draw the sine, dashed."""
    axes.plot(_GRID[:, 0], sine(_GRID[:, 0]), "--", color=COLOURS[1], label="signal")


def _draw_questions(axes: Axes, x: Sequence[float], u: Sequence[float], above: Sequence[int]) -> None:
    """Orange: u lies below the signal (the answer "above" was yes); blue: above it."""
    yes = np.array(above) == 1
    for chosen, colour, label in ((yes, COLOURS[0], "u below the signal"), (~yes, COLOURS[1], "u above the signal")):
        axes.scatter(np.array(x)[chosen], np.array(u)[chosen], s=14, color=colour, label=label, zorder=3)


@final
class StreamingHistory(Run):
    """The appendix's history of the active strategy."""

    name: ClassVar[str] = "streaming-history"
    title: ClassVar[str] = "Twelve frames of the active strategy"
    caption: ClassVar[str] = (
        "Each frame: the estimate before and after one question (star). First the text's constant step, then "
        "the reference code's."
    )

    _variants: ClassVar[dict[str, tuple[float, bool]]] = {"γ = 0.3": (0.3, False), "γ = 2/√t (code)": (2.0, True)}
    _sigmas: ClassVar[tuple[float, ...]] = (0.4, 0.2, 0.1, 0.05)

    def _horizons(self, quick: bool) -> list[int]:
        return [16, 256] if quick else [16, 64, 512, 4096]

    def jobs(self, quick: bool) -> list[Job]:
        """Return the frames of both variants, then errors for every bandwidth and horizon."""
        shown = [Job(frames, {"seed": 3, "gamma": g, "decreasing": d}) for g, d in self._variants.values()]
        common = {"seeds": list(range(20)), "gammas": [0.3, 0.6, 1.2, 2.4]}
        errors = [(t, s) for t in self._horizons(quick) for s in self._sigmas]
        return shown + [Job(bandwidth_errors, {**common, "questions": t, "sigma": s}) for t, s in errors]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return frames by variant; errors, bandwidths x trials x horizons."""
        n, horizons = len(self._variants), self._horizons(quick)
        grouped = [list(results[n + i :: len(self._sigmas)]) for i in range(len(self._sigmas))]
        errors = {str(s): np.transpose(part).tolist() for s, part in zip(self._sigmas, grouped, strict=True)}
        return {"frames": dict(zip(self._variants, results[:n], strict=True)), "horizons": horizons, "errors": errors}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return whether the best bandwidth shrinks as the stream goes on."""
        means = {s: np.mean(runs, axis=0) for s, runs in numbers["errors"].items()}
        names, table = list(means), np.array(list(means.values()))
        best = [names[i] for i in table.argmin(axis=0)]
        pairs = ", ".join(f"σ = {s} at T = {t}" for t, s in zip(numbers["horizons"], best, strict=True))
        smaller = float(best[-1]) < float(best[0])
        return [
            Claim(
                "A smaller bandwidth may help as the stream goes on",
                "suggested by eye",
                f"best of σ = {', '.join(means)}: {pairs}",
                HOLDS if smaller else FAILS,
                "" if smaller else "among these bandwidths; perhaps as the sine is smooth",
            )
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return three rows of four frames for each variant."""
        figure, axes = panels(4, 3 * len(numbers["frames"]), width=2.4, height=1.75)
        shown = [(name, frame) for name, history in numbers["frames"].items() for frame in history]
        for one, (name, frame) in zip(axes, shown, strict=True):
            _draw_questions(one, frame["x"][:-1], frame["u"][:-1], frame["above"][:-1])
            _draw_signal(one)
            one.plot(_GRID[:, 0], frame["before"], "--", color=COLOURS[0], alpha=0.6, label="before")
            one.plot(_GRID[:, 0], frame["after"], color=COLOURS[0], label="after")
            one.scatter(frame["x"][-1], frame["u"][-1], s=70, marker="*", color="black", label="the question", zorder=4)
            one.set(ylim=(-2.6, 2.6), xticks=[], yticks=[])
            one.set_title(f"T = {frame['t']}, {name}", fontsize=8)
        figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        return figure
