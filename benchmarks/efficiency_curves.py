"""From the runs of a task to its row: learning curves, goals, and how many fewer questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from efficiency_jobs import Results
from efficiency_tasks import ALGORITHM, DEFAULT, FULL, PASSIVE, Goal, Task

CURVES = (DEFAULT, ALGORITHM, PASSIVE, FULL)
Curve = dict[str, Any]
"""``at``, ``mean``, ``error`` (standard error of the mean) and ``setting``, each a list."""


def reached(at: Sequence[float], errors: Sequence[float], level: float) -> float | None:
    """The number of questions at which a curve first comes down to a level; None: it never does.

    Between two points a curve is straight on logarithmic axes (errors that end at zero: the later point).
    At or above all of its points: the first, so that nothing is claimed beyond what was measured.
    """
    previous: tuple[float, float] | None = None
    for t, error in zip(at, errors, strict=True):
        if error <= level:
            if previous is None or error <= 0 or level <= 0:
                return float(t)
            (s, above) = previous
            share = math.log(above / level) / math.log(above / error)
            return float(math.exp(math.log(s) + share * math.log(t / s)))
        previous = (float(t), float(error))
    return None


def fewer(at: Sequence[float], default: Sequence[float], other: Sequence[float]) -> dict[str, Any] | None:
    """How many times fewer questions the default needs to be where the other ends.

    ``least``: the default was there at its first point already, so that the ratio is at least this.  Where the
    default never gets there the ratio is turned round: how many times more it needs to be where itself ends.
    """
    level = float(other[-1])
    theirs, ours = reached(at, other, level), reached(at, default, level)
    if theirs is None:
        return None
    if ours is None:
        back = reached(at, other, float(default[-1]))
        ratio = None if back is None else back / float(at[-1])
        return {"level": level, "theirs": theirs, "ours": None, "ratio": ratio, "least": False}
    return {"level": level, "theirs": theirs, "ours": ours, "ratio": theirs / ours, "least": ours == float(at[0])}


def best_curves(task: Task, results: Results) -> dict[str, Curve]:
    """Of every curve the setting with the least mean error, in each column by itself."""
    runs: dict[str, dict[str, list[list[float]]]] = {}
    for width, curves in results:
        for curve, settings in curves.items():
            for setting, errors in settings.items():
                said = ", ".join(part for part in (setting, _width(width)) if part)
                values = [math.inf if error is None else error for error in errors]
                runs.setdefault(curve, {}).setdefault(said, []).append(values)
    return {curve: _best(task.at, runs[curve]) for curve in CURVES if curve in runs}


def _width(width: float | None) -> str:
    if width is None:
        return ""
    return f"σ {width:.3g}√d" if width else "linear"


def _best(at: list[int], runs: dict[str, list[list[float]]]) -> Curve:
    settings = list(runs)
    means = np.array([np.mean(runs[setting], axis=0) for setting in settings])
    chosen = means.argmin(axis=0).tolist()
    spread = [np.std(np.array(runs[settings[k]])[:, i], ddof=1) for i, k in enumerate(chosen)]
    return {
        "at": at,
        "mean": [float(means[k, i]) for i, k in enumerate(chosen)],
        "error": [float(s) / math.sqrt(len(runs[settings[k]])) for s, k in zip(spread, chosen, strict=True)],
        "setting": [settings[k] for k in chosen],
    }


def _at(curve: Curve, questions: int) -> tuple[float, float]:
    i = curve["at"].index(questions)
    return curve["mean"][i], curve["error"][i]


def judged(goal: Goal, curves: dict[str, Curve]) -> dict[str, Any]:
    """A goal with its limit in numbers, and whether it is reached."""
    value, error = _at(curves[DEFAULT], goal.questions)
    limit = goal.limit
    if limit is None:
        other, spread = _at(curves[goal.of], goal.questions)
        limit = goal.times * other + goal.errors * math.hypot(error, spread)
    return {"questions": goal.questions, "words": goal.words, "limit": limit, "value": value, "reached": value <= limit}


def row_of(task: Task, results: Results, seconds: dict[str, float]) -> dict[str, Any]:
    """All that the table and the figures say of a task."""
    curves = best_curves(task, results)
    ratio = fewer(task.at, curves[DEFAULT]["mean"], curves[ALGORITHM]["mean"])
    return {
        "title": task.title, "error": task.error, "questions": task.questions, "seeds": task.seeds,
        "columns": list(task.columns), "curves": curves, "goals": [judged(goal, curves) for goal in task.goals],
        "fewer": ratio, "seconds": seconds,
    }  # fmt: skip
