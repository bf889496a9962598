"""What privacy costs: errors by flipped answers, of which there are kappa^2 times as many, over those by plain ones.

    python benchmarks/privacy.py [--seeds N]
    python benchmarks/privacy.py --quick      some seconds: few and short runs; prints and writes nothing

Answers are flipped with 1 / (1 + e^epsilon), and the default learner knows it.  With kappa^2 times the answers it
should know as much as without flips: kappa = (e^epsilon + 1) / (e^epsilon - 1).  Numbers: the mean absolute error of
the noiseless label; classes: the share of wrong predictions on fresh rows.  Writes docs/privacy.md and
results/privacy.json.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np
from page import Array, arguments, grid, keep_page, machine, taken_with
from people import sine, six_inputs
from rich.progress import track

from askone import OneBitClassifier, OneBitRegressor, Oracle
from askone.privacy import answers_needed, flip_probability

EPSILONS = (None, 3.0, 1.0)
CENTRES = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [1.5, 1.5]])
NUMBERS = {"sine": sine, "six inputs": six_inputs}
_TEST, _NOISE = 4000, 0.3


def clusters(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Four classes that overlap: the best rule is wrong in three of ten cases."""
    y = rng.integers(0, len(CENTRES), n)
    return CENTRES[y] + 0.8 * rng.normal(size=(n, 2)), y


def error(task: str, answers: int, epsilon: float | None, seed: int) -> float:
    """Return the error after so many answers, kappa^2 times as many where they are flipped."""
    flip = 0.0 if epsilon is None else flip_probability(epsilon)
    n = answers if epsilon is None else round(answers * answers_needed(epsilon))
    rng = np.random.default_rng([seed, 9])
    if task == "clusters":
        test, truth = clusters(rng, _TEST)
        X, y = clusters(rng, n)
        classifier = OneBitClassifier(range(4), flip=flip, random_state=seed, keep_log=False)
        return float(np.mean(classifier.fit(X, Oracle(y, flip=flip, seed=seed)).predict(test) != truth))
    test, truth = NUMBERS[task](rng, _TEST)
    X, f = NUMBERS[task](rng, n)
    labels = f + _NOISE * rng.normal(size=n)
    regressor = OneBitRegressor(-2.5, 2.5, flip=flip, random_state=seed, keep_log=False)
    return float(np.abs(regressor.fit(X, Oracle(labels, flip=flip, seed=seed)).predict(test) - truth).mean())


def measured(tasks: Sequence[tuple[str, int]], seeds: int) -> dict[str, dict[str, list[float]]]:
    """Return errors of each task by epsilon; those of the sine are quick, and have four times the seeds."""
    found: dict[str, dict[str, list[float]]] = {}
    for task, answers in tasks:
        for epsilon in EPSILONS:
            runs = range(4 * seeds if task == "sine" else seeds)
            errors = [error(task, answers, epsilon, s) for s in track(runs, f"{task} {epsilon}", transient=True)]
            found.setdefault(f"{task}, {answers} answers", {})[str(epsilon)] = errors
    return found


def page(found: dict[str, dict[str, list[float]]], seeds: int) -> str:
    rows = []
    for task, errors in found.items():
        plain, *private = (np.array(errors[str(epsilon)]) for epsilon in EPSILONS)
        rows.append((task, f"{plain.mean():.4f}", *(_ratio(one, plain) for one in private)))
    head = ("", "error without flips", "ε = 3, κ² times the answers", "ε = 1, κ² times the answers")
    return f"""# What privacy costs

Written by `make bench-privacy` ({taken_with(machine())}), means of {seeds} seeds,
{4 * seeds} for the sine.  Answers are flipped with 1/(1+e^ε), and there are κ² times as many of them: 1.2
times for ε = 3 and 4.7 times for ε = 1.  Errors over those without flips, with their standard errors.

{grid(head, rows)}

The law of κ² is that of answers which are close to a toss-up, as those at a good prediction are.  Of answers
that are nearly sure, as many are while little is known, a flip takes more.

How the problems are made: see `benchmarks/privacy.py`.
"""


def _ratio(private: Array, plain: Array) -> str:
    ratio = private.mean() / plain.mean()
    spread = np.hypot(*(one.std(ddof=1) / one.mean() / np.sqrt(len(one)) for one in (private, plain)))
    return f"{ratio:.2f} ± {ratio * spread:.2f}"


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(__doc__, seeds=8, quick=False).parse_args(given)
    warnings.simplefilter("ignore")
    if chosen.quick:
        print(page(measured([("sine", 30), ("clusters", 30)], 2), 2))
        return 0
    tasks = [("sine", 300), ("sine", 1000), ("six inputs", 300), ("six inputs", 1000), ("clusters", 300)]
    found = measured(tasks, chosen.seeds)
    keep_page("privacy", found, page(found, chosen.seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
