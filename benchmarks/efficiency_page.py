"""The page of ``efficiency.py``: tables with a sentence for each column."""

from __future__ import annotations

from typing import Any

from efficiency_tasks import ALGORITHM, DEFAULT, FULL, PASSIVE
from page import grid

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


def _number(mean: float, error: float | None = None) -> str:
    if error is None:
        return _short(mean)
    return f"{_short(mean)} ± {_short(error)}"


def _short(value: float) -> str:
    """Two figures, or 0."""
    if value == 0:
        return "0"
    return f"{value:.1e}" if value < 1e-4 else f"{float(f'{value:.2g}'):.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    return max(0, len(f"{float(f'{value:.2g}'):.6f}".rstrip("0").split(".")[1]))


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
        first = _number(curves[DEFAULT]["mean"][k], curves[DEFAULT]["error"][k])
        others = [_number(curves[c]["mean"][k]) if c in curves else None for c in (ALGORITHM, PASSIVE, FULL)]
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


def speed_table(speed: dict[str, Any]) -> str:
    head = ("default learner", "µs per answer", "plain NumPy µs", "NumPy / askone")
    return grid(head, [(one["what"], one["us"], one["numpy"], one["ratio"]) for one in speed["learners"]])


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
    rows, of = results["tasks"], results["machine"]
    pictures = "![Error against number of questions, task by task](figures/efficiency.svg)\n" if rows else ""
    speed = f"\n## Time per answer\n\n{speed_table(results['speed'])}\n{_ABOUT_SPEED}" if results["speed"] else ""
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

## What the baselines chose, after all questions

{_settings(rows)}

- *seconds*: of one core, for all seeds and settings.
{speed}
{of["date"]}, {of["cpu"]}, {of["cores"]} cores, Python {of["python"]}, NumPy {of["numpy"]}, numba {of["numba"]},
askone {of["askone"]}.
"""


_ABOUT_SPEED = """
- *µs per answer*: question, answer and update in `simulate`, best of several runs; *plain NumPy*: the update alone,
  written in a few NumPy calls, timed in turn.
"""
