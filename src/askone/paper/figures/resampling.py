"""resampling: labels found by dichotomy against one question at a time, for the same number of questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.learners.base import Learner
from askone.learners.repeated.bisection import BisectedReal
from askone.learners.repeated.memory import RememberedReal
from askone.paper._base import FAILS, HOLDS, IN_PART, Claim, Job, Numbers, Run
from askone.paper._plots import COLOURS, Figure, band, panels
from askone.paper._synthetic import kernel_learner, sine, uniform_rows
from askone.paper._trials import best_step, parted, ratio
from askone.session.oracle import Oracle
from askone.session.simulation import resampled, simulate

_SIGMA, _SPREAD, _POOL = 0.2, 1.0, 2
_GRID = np.linspace(0, 1, 101)[:, None]
_NOISE = 1 << 42  # a part of the table of draws that no input uses
_STRATEGIES = {
    "dichotomy": "dichotomy up to ±1/√T, then SGD",
    "once": "Algorithm 1, a row once",
    "resampled": f"Algorithm 1, T/{_POOL} rows with replacement",
    "memory": "the same with memory",
}


def precision(questions: int) -> float:
    """Return 1/sqrt(T), in half ranges: finer than the statistical error, so that it does not matter."""
    return 1 / math.sqrt(questions)


def per_row(questions: int) -> int:
    """Return questions of one dichotomy: the least k with 2^-k <= precision.

    >>> per_row(100), per_row(10_000)
    (4, 7)
    """
    return math.ceil(-math.log2(precision(questions)) - 1e-9)


def _learner(strategy: str, gamma: float, questions: int) -> Learner[Any]:
    family = "full" if strategy == "dichotomy" else "active"
    sgd = kernel_learner(1, family, gamma, _SIGMA, half_range=1.0 + _SPREAD)
    if strategy == "dichotomy":
        return BisectedReal(sgd, precision(questions))
    return RememberedReal(sgd, precision(questions)) if strategy == "memory" else sgd


def _order(strategy: str, questions: int, seed: int) -> Array | None:
    """Return which rows to ask about; with memory some have no question left, so more are drawn."""
    if strategy in ("once", "dichotomy"):
        return None
    many = questions if strategy == "resampled" else 4 * questions
    return resampled(questions // _POOL, many, seed)


def error(seed: int, strategy: str, gamma: float, questions: int) -> float:
    """Return mean |f(x) - f*(x)| after T questions about the sine with uniform noise."""
    X = uniform_rows(seed, questions)
    noise = _SPREAD * (2 * random_table.uniforms(seed, _NOISE, questions, 1, random_table.DESIGN) - 1)
    learner, oracle = _learner(strategy, gamma, questions), Oracle(sine(X) + noise, resample=True)
    order = _order(strategy, questions, seed)
    outcome = simulate(learner, X, oracle, seed=seed, order=order, at=[questions], questions=questions)
    if oracle.questions > questions:
        raise AssertionError(f"{oracle.questions} questions were asked, not {questions}")
    return float(np.abs(learner.predict(outcome.state, _GRID) - sine(_GRID)).mean())


def tuned_errors(
    strategy: str, questions: int, gammas: list[float], tuning: int, trials: int
) -> dict[str, float | list[float]]:
    """Return errors with the step size that did best on the tuning seeds."""
    best, tried = best_step(gammas, tuning, lambda seed, gamma: error(seed, strategy, gamma, questions))
    return {"gamma": best, "tuning": tried, "errors": [error(s, strategy, best, questions) for s in range(trials)]}


@final
class Resampling(Run):
    """Section 7.2: the supervised baseline with several questions per row."""

    name: ClassVar[str] = "resampling"
    title: ClassVar[str] = "Dichotomy against Algorithm 1, with resampling and with memory"
    caption: ClassVar[str] = (
        "The same number of questions for all; dichotomy spends several on each row and then learns from its label."
    )

    def _settings(self, quick: bool) -> dict[str, Any]:
        if quick:
            return {"horizons": [100, 400], "tuning": 1, "trials": 10}
        return {"horizons": [100, 300, 1000, 3000, 10_000], "tuning": 3, "trials": 20}

    def jobs(self, quick: bool) -> list[Job]:
        """Return each strategy at each horizon."""
        chosen = self._settings(quick)
        common = {"gammas": [0.2, 0.5, 1.25], "tuning": chosen["tuning"], "trials": chosen["trials"]}
        return [
            Job(tuned_errors, {**common, "strategy": s, "questions": T})
            for s in _STRATEGIES
            for T in chosen["horizons"]
        ]

    def numbers(self, quick: bool, results: Sequence[Any]) -> Numbers:
        """Return errors (trials x horizons) and step sizes by strategy; ratios to dichotomy; the factor expected."""
        Ts = self._settings(quick)["horizons"]
        parts = parted(results, _STRATEGIES)
        errors = {s: np.transpose([one["errors"] for one in part]).tolist() for s, part in parts.items()}
        over = np.transpose(errors["dichotomy"])
        return {
            "horizons": Ts,
            "errors": errors,
            "gammas": {s: [one["gamma"] for one in part] for s, part in parts.items()},
            "ratios": {s: list(map(ratio, over, np.transpose(errors[s]))) for s in _STRATEGIES if s != "dichotomy"},
            "memory": ratio(np.array(errors["resampled"])[:, -1], np.array(errors["memory"])[:, -1]),
            "expected": [math.sqrt(per_row(T)) for T in Ts],
        }

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Return the factor, and whether resampling or memory keeps it."""
        T, expected = numbers["horizons"][-1], numbers["expected"][-1]
        return [
            _claim("Algorithm 1 needs less: dichotomy loses a factor log(T)^(1/2)", numbers, "once", T, expected),
            _claim("The same holds for Algorithm 1 with resampling", numbers, "resampled", T, expected),
            _memory(numbers),
        ]

    def draw(self, numbers: Numbers) -> Figure:
        """Return errors against T, and their ratios with the factor expected."""
        figure, (left, right) = panels(2)
        for (strategy, name), colour in zip(_STRATEGIES.items(), COLOURS, strict=False):
            band(left, numbers["horizons"], numbers["errors"][strategy], name, colour)
            if strategy == "dichotomy":
                continue
            middle, low, high = np.transpose(numbers["ratios"][strategy])
            right.plot(numbers["horizons"], middle, "o-", color=colour)
            right.fill_between(numbers["horizons"], low, high, color=colour, alpha=0.2, linewidth=0)
        right.plot(numbers["horizons"], numbers["expected"], "k--", label="√(questions per dichotomy)")
        right.axhline(1, color="gray", linewidth=0.8)
        left.set(xlabel="questions T", ylabel="mean |f(x) - f*(x)|", title="sine with noise")
        right.set(xlabel="questions T", ylabel="error of dichotomy / error", xscale="log", title="what dichotomy loses")
        left.set_ylim(bottom=left.get_ylim()[0] / 2)  # room for the legends
        right.set_ylim(top=1.15 * right.get_ylim()[1])
        left.legend(frameon=False, fontsize=7, loc="lower left")
        right.legend(frameon=False, fontsize=7, loc="upper left")
        return figure


def _claim(text: str, numbers: Numbers, strategy: str, T: int, expected: float) -> Claim:
    middle, low, high = numbers["ratios"][strategy][-1]
    near = 0.5 * expected < low and high < 2 * expected
    return Claim(
        text,
        "factor log(T)^(1/2)",
        f"at T = {T} dichotomy's error is {middle:.2f} [{low:.2f}, {high:.2f}] times as large; expected {expected:.2f}",
        (HOLDS if near else IN_PART) if low > 1 else FAILS,
        "a bit is worth a label here (one output), and dichotomy sees fewer rows; T/2 rows carry less than T"
        if strategy == "resampled"
        else "a bit is worth a label here (one output), and dichotomy sees fewer rows",
    )


def _memory(numbers: Numbers) -> Claim:
    middle, low, high = numbers["memory"]
    return Claim(
        "Remembering what earlier answers say about a row restricts the questions of Algorithm 1",
        "an idea, without a figure",
        f"error without memory / with, at T = {numbers['horizons'][-1]}: {middle:.2f} [{low:.2f}, {high:.2f}]",
        HOLDS if low > 1.05 else FAILS,
        "" if low > 1.05 else "perhaps as rows come again twice on average: little is implied by what is known",
    )
