"""streaming-history: the sine, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone.learners.streaming import StreamBlock
from askone.paper._base import FAILS, HOLDS, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Figure, panels
from askone.paper._synthetic import kernel_learner, sine, uniform_rows
from askone.paper._trials import TUNING
from askone.paper.figures.fig1 import GRID, draw_questions, draw_signal, estimate, sine_learner
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_FRAMES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def frames(seed: int, gamma: float, decreasing: bool) -> list[dict[str, Any]]:
    """Twelve moments of one stream: the estimate before and after a question, and the questions so far."""
    learner, X = sine_learner("active", gamma, decreasing), uniform_rows(seed, _FRAMES[-1])
    shown = []
    for t in _FRAMES:
        outcome = simulate(learner, X[:t], Oracle(sine(X[:t])), seed=seed, keep=True)
        blocks = [block for block in outcome.blocks if isinstance(block, StreamBlock)]
        u, above = (np.concatenate([getattr(b, name) for b in blocks]).tolist() for name in ("thresholds", "answers"))
        before, after = (estimate(learner, X[:k], seed) for k in (t - 1, t))
        shown.append({"t": t, "x": X[:t, 0].tolist(), "u": u, "above": above, "before": before, "after": after})
    return shown


def bandwidth_errors(seeds: list[int], questions: int, sigma: float, gammas: list[float]) -> list[float]:
    """Mean absolute error of the average, for each seed, with the step size that did best on other seeds."""
    best = min(gammas, key=lambda g: np.mean([_error(TUNING + i, questions, sigma, g) for i in range(5)]))
    return [_error(seed, questions, sigma, best) for seed in seeds]


def _error(seed: int, questions: int, sigma: float, gamma: float) -> float:
    X, learner = uniform_rows(seed, questions), kernel_learner(1, "active", gamma, sigma)
    state = simulate(learner, X, Oracle(sine(X)), seed=seed, at=[questions]).state
    return float(np.abs(learner.predict(state, GRID) - sine(GRID)).mean())


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
        """The frames of both variants, then errors for every bandwidth and horizon."""
        shown = [Job(frames, {"seed": 3, "gamma": g, "decreasing": d}) for g, d in self._variants.values()]
        common = {"seeds": list(range(20)), "gammas": [0.3, 0.6, 1.2, 2.4]}
        errors = [(t, s) for t in self._horizons(quick) for s in self._sigmas]
        return shown + [Job(bandwidth_errors, {**common, "questions": t, "sigma": s}) for t, s in errors]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Frames by variant; errors, bandwidths x trials x horizons."""
        n, horizons = len(self._variants), self._horizons(quick)
        grouped = [list(results[n + i :: len(self._sigmas)]) for i in range(len(self._sigmas))]
        errors = {str(s): np.transpose(part).tolist() for s, part in zip(self._sigmas, grouped, strict=True)}
        return {"frames": dict(zip(self._variants, results[:n], strict=True)), "horizons": horizons, "errors": errors}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Whether the best bandwidth shrinks as the stream goes on."""
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
        """Three rows of four frames for each variant."""
        figure, axes = panels(4, 3 * len(numbers["frames"]), width=2.4, height=1.75)
        shown = [(name, frame) for name, history in numbers["frames"].items() for frame in history]
        for one, (name, frame) in zip(axes, shown, strict=True):
            draw_questions(one, frame["x"][:-1], frame["u"][:-1], frame["above"][:-1])
            draw_signal(one)
            one.plot(GRID[:, 0], frame["before"], "--", color=COLOURS[0], alpha=0.6, label="before")
            one.plot(GRID[:, 0], frame["after"], color=COLOURS[0], label="after")
            one.scatter(frame["x"][-1], frame["u"][-1], s=70, marker="*", color="black", label="the question", zorder=4)
            one.set(ylim=(-2.6, 2.6), xticks=[], yticks=[])
            one.set_title(f"T = {frame['t']}, {name}", fontsize=8)
        figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        return figure
