"""From the runs of a task of ``efficiency.py`` to its row, and from rows to the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from efficiency_jobs import Results
from efficiency_tasks import ALGORITHM, CHOSEN, DEFAULT, FULL, PASSIVE, Goal, Task
from page import grid, taken_with

CURVES = (CHOSEN, DEFAULT, ALGORITHM, PASSIVE, FULL)
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
    ends = {CHOSEN: task.chosen}
    at = {curve: [t for t in task.at if t <= ends.get(curve, task.questions)] for curve in CURVES}
    return {curve: _best(at[curve], runs[curve]) for curve in CURVES if curve in runs}


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
        "fewer": ratio, "seconds": seconds, "looks": list(task.looks),
    }  # fmt: skip


# -- the page ------------------------------------------------------------------------------------------

_HEAD = (
    "task",
    "questions",
    "default",
    "Algorithm 1",
    "passive",
    "all labels",
    "to reach",
    "reached",
    "fewer questions",
)


def _short(value: float) -> str:
    """Two figures, or 0."""
    if 0 < value < 1e-4:
        return f"{value:.1e}"
    return f"{float(f'{value:.2g}'):.6f}".rstrip("0").rstrip(".")


def _ratio(row: dict[str, Any]) -> str:
    found = row["fewer"]
    if found is None or found["ratio"] is None:
        return "–"
    ratio = f"{found['ratio']:.2g}" if found["ratio"] < 100 else f"{found['ratio']:.0f}"
    return f"≥ {ratio} ×" if found["least"] else f"{ratio} ×"


def lines(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A line for each number of questions of a task."""
    if "missing" in row:
        return [(row["title"], row["missing"], *[None] * (len(_HEAD) - 2))]
    curves, found = row["curves"], []
    for i, questions in enumerate(row["columns"]):
        k = curves[DEFAULT]["at"].index(questions)
        first = " ± ".join(_short(curves[DEFAULT][key][k]) for key in ("mean", "error"))
        others = [_short(curves[c]["mean"][k]) if c in curves else None for c in (ALGORITHM, PASSIVE, FULL)]
        goals = [goal for goal in row["goals"] if goal["questions"] == questions]
        asked = "; ".join(_goal(goal) for goal in goals) or None
        verdict = ("yes" if all(goal["reached"] for goal in goals) else "no") if goals else None
        last = _ratio(row) if i == len(row["columns"]) - 1 else None
        found.append((row["title"] if i == 0 else "", questions, first, *others, asked, verdict, last))
    return found


def _goal(goal: dict[str, Any]) -> str:
    limit = _short(goal["limit"])
    plain = goal["words"].replace(".", "").isdigit() or "e" in goal["words"][:6]
    return f"≤ {limit}" if plain else f"≤ {limit} ({goal['words']})"


def table(rows: dict[str, Any], head: bool = True) -> str:
    """The table, or its lines alone."""
    found = grid(_HEAD, [line for row in rows.values() for line in lines(row)])
    return found if head else "\n".join(found.splitlines()[2:])


def chosen_table(rows: dict[str, Any]) -> str:
    """The table with rows chosen."""
    found: list[tuple[Any, ...]] = []
    for row in rows.values():
        for i, questions in enumerate(row.get("looks", ())):
            means = [_short(_at(row["curves"][c], questions)[0]) for c in (DEFAULT, ALGORITHM, FULL)]
            ours = " ± ".join(_short(one) for one in _at(row["curves"][CHOSEN], questions))
            found.append((row["title"] if i == 0 else "", questions, ours, *means))
    return grid(("task", "questions", "rows chosen", "default, rows as they come", "Algorithm 1", "all labels"), found)


def speed_table(speed: dict[str, Any]) -> str:
    head = ("default learner", "µs per answer", "plain NumPy µs", "NumPy / askone")
    return grid(head, [(one["what"], one["us"], one["numpy"], one["ratio"]) for one in speed["learners"]])


def _speed(speed: dict[str, Any]) -> str:
    return f"\n## Time per answer\n\n{speed_table(speed)}\n{_ABOUT_SPEED}{_slow_table(speed)}"


def _slow_table(speed: dict[str, Any]) -> str:
    """Questions one by one; nothing of results that are older than it."""
    if "first" not in speed:
        return ""
    slow, times = ("median", "p99", "most"), ("cold", "cold clock", "kept", "kept clock")
    each = [(one["what"], *(one[name] for name in slow)) for one in speed["learners"]]
    first = [(one["what"], *(one[name] for name in times)) for one in speed["first"]]
    return f"""
{grid(("one by one, ms", "median", "slowest of a hundred", "slowest"), each)}

- Processor time of one question and its answer by `Stream`, as a program has it that asks a person: the slowest are
  those after which all answers are fitted again.

{grid(("first use, s", "nothing compiled", "by the clock", "compiled", "by the clock"), first)}

- From a new process to a prediction after one answer: processor time and by the clock, where numba has compiled nothing
  yet, and in the next process, which finds what it kept. Python's bytecode is there, as an installation leaves it.
"""


def _errors(rows: dict[str, Any]) -> str:
    said: dict[str, list[str]] = {}
    for row in rows.values():
        if "error" in row:
            said.setdefault(row["error"], []).append(row["title"])
    return "; ".join(f"{error} ({', '.join(titles)})" for error, titles in said.items())


def _settings(rows: dict[str, Any]) -> str:
    head = ("task", "questions", "Algorithm 1", "passive", "all labels", "seeds", "default s", "baselines s")
    found: list[tuple[Any, ...]] = []
    for row in rows.values():
        if "curves" not in row:
            continue
        last = [row["curves"][c]["setting"][-1] if c in row["curves"] else None for c in (ALGORITHM, PASSIVE, FULL)]
        times = [round(row["seconds"][part]) for part in ("default", "baselines")]
        found.append((row["title"], row["questions"], *last, row["seeds"], *times))
    return grid(head, found)


def page(results: dict[str, Any]) -> str:
    """docs/efficiency.md."""
    rows = results["tasks"]
    pictures = "![Error against number of questions, task by task](figures/efficiency.svg)\n" if rows else ""
    speed = (
        f"\n## Time per answer\n\n{speed_table(results['speed'])}\n{_ABOUT_SPEED}{_slow_table(results['speed'])}"
        if results["speed"]
        else ""
    )
    return f"""# How many questions it takes

The default estimators against Algorithm 1, passive questions and all labels, written by
`make bench-efficiency` (`benchmarks/efficiency.py`).

{pictures}
{table(rows)}

- *default*: mean error ± standard error of `OneBitRegressor(low, high)`, `OneBitClassifier(classes)` or
  `OneBitRanker(items)` with no other argument, after so many yes/no answers, one for each row.
- *Algorithm 1*, *passive*: stochastic gradients at the best step and kernel width of a grid, chosen in each column
  by the test error itself: better than anybody could choose them. (Orders: thresholded least squares on pairs;
  passive: Borda scores from random pairs. Classes, passive: random sets and the infimum loss.)
- *all labels*: least squares with a ridge on the labels themselves, ridge and width likewise the best.
- *to reach*: what the default is held to; *reached*: whether it keeps to it.
- *fewer questions*: those that Algorithm 1 needs to come to its last error over those after which the default is
  there, read off the curves (straight between points, on logarithmic axes). "≥": at the curve's first point already.
  Below 1: the default ends higher, and Algorithm 1 needs that share of the questions to come there.

Errors: {_errors(rows)}.

## With rows chosen

{chosen_table(rows)}

- *rows chosen*: the same estimators by `ask_from`, which also choose which row to ask about (`select="auto"`); all else
  is as above, and so are the rows. *All labels* are of rows as they come, by a learner that does not know of the other
  rows; askone's classes learn from their graph, too. [More data, and how much is due to what](rows.md).

## What the baselines chose, after all questions

{_settings(rows)}

- *seconds*: of one core, for all seeds and settings.
{speed}
{taken_with(results["machine"])}.
"""


_ABOUT_SPEED = """
- *µs per answer*: processor time of question, answer and update in `simulate`, best of several runs; *plain NumPy*:
  that of the update alone, written in a few NumPy calls, timed in turn.
"""
