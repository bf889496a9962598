"""A step size without labels, and candidates compared by bits: what both are worth where the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from page import grid, spread

import askone
from askone import datasets
from askone._common.types import Array
from askone.labels.losses import Median
from askone.learners.exams import exam, exam_width, scores
from askone.learners.step_rules import Polynomial
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

GRID = tuple(3.0**k for k in range(-3, 4))
Problem = Callable[[int, int], tuple[Array, Array, Array, tuple[float, float]]]
"""(seed, rows) -> X, labels, what should be predicted, declared range."""


def sine(seed: int, rows: int, noise: float, wide: float = 1.0) -> tuple[Array, Array, Array, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 1))
    f = np.sin(2 * np.pi * X[:, 0])
    return X, f + noise * rng.normal(size=rows), f, (-1.5 * wide, 1.5 * wide)


def six_inputs(seed: int, rows: int) -> tuple[Array, Array, Array, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 6))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3])
    return X, f + 0.1 * rng.normal(size=rows), f, (-2.0, 2.5)


def weather(seed: int, rows: int) -> tuple[Array, Array, Array, tuple[float, float]]:
    data = datasets.load("weather")
    chosen = np.random.default_rng(seed).permutation(len(data.X))[:rows]
    return data.X[chosen], data.y[chosen], data.y[chosen], (-35.0, 45.0)


PROBLEMS: dict[str, Problem] = {
    "sine, noise 0": partial(sine, noise=0.0),
    "sine, noise 0.1": partial(sine, noise=0.1),
    "sine, noise 0.5": partial(sine, noise=0.5),
    "sine, noise 0.1, range 20 times too wide": partial(sine, noise=0.1, wide=20.0),
    "six inputs, noise 0.1": six_inputs,
    "weather, °C": weather,
}


def errors(problem: Problem, seed: int, T: int) -> list[float]:
    """Mean absolute errors after T answers: each step of the grid, with both averages, then the one that is chosen."""
    X, y, truth, limits = problem(seed, T + 1000)
    found = []
    tried = [askone.SGD(gamma=gamma, average=one) for one in ("auto", Polynomial(2.0)) for gamma in GRID]
    for one in (*tried, askone.SGD(gamma="auto")):
        options = {"learner": one, "budget": T, "random_state": seed}
        learner = askone.OneBitRegressor(*limits, **options).start(X[:T]).stream_.learner
        state = simulate(learner, X[:T], Oracle(y[:T]), seed=seed, at=[T]).state
        found.append(float(np.abs(learner.predict(state, X[T:])[:, 0] - truth[T:]).mean()))
    return found


def chosen_steps(quick: bool) -> str:
    seeds, T = (1, 100) if quick else (8, 3000)
    rows = []
    for name, problem in PROBLEMS.items():
        try:
            each = spread(quick, errors, [problem] * seeds, range(seeds), [T] * seeds)
        except (askone.AskoneError, OSError) as error:
            rows.append((name, f"no data: {type(error).__name__}", *["–"] * 5))
            continue
        found = np.array(each)
        *by_hand, auto = found.mean(axis=0)
        plain, same = by_hand[: len(GRID)], by_hand[len(GRID) :]
        best, usual = int(np.argmin(same)), plain[len(GRID) // 2]
        rows.append((name, usual, min(plain), f"{same[best]:.3g} (γ = {GRID[best]:.3g})", float(auto),
                     f"{usual / same[best]:.2f}", f"{auto / same[best]:.2f}"))  # fmt: skip
    head = (
        "problem",
        "default",
        "best by hand",
        "best by hand, auto's average",
        "auto",
        "default / best",
        "auto / best",
    )
    return f"{T} answers, {seeds} seeds.\n\n{grid(head, rows)}"


def estimated(seed: int, exams: int, m: int, slope: float) -> tuple[list[float], list[float], list[float]]:
    """The true risks of two models, their estimates from exam bits, and the standard errors; the difference last."""
    rng = np.random.default_rng(seed)
    space = askone.Real((-1.0,) * m, (1.0,) * m, decimals=None)
    y = np.clip(0.3 * rng.normal(size=(exams, m)), -1, 1)
    models = np.stack([np.full((exams, m), 0.1), slope * rng.normal(size=(exams, m))], axis=1).clip(-1, 1)
    uniform, loss = rng.random((exams, exam_width(space))), Median()
    found = np.empty((exams, 3))
    for i in range(exams):
        question = exam(space, models[i], uniform[i], wide=0.5)
        found[i, :2] = scores(space, loss, models[i], question, question.holds(y[i]))
    found[:, 2] = found[:, 0] - found[:, 1]
    truth = np.array([np.linalg.norm(models[:, k] - y, axis=1) for k in range(2)])
    true = [*truth.mean(axis=1), float((truth[0] - truth[1]).mean())]
    return true, found.mean(axis=0).tolist(), (found.std(axis=0, ddof=1) / np.sqrt(exams)).tolist()


def coverage(quick: bool) -> str:
    repeats, exams = (10, 50) if quick else (1000, 200)
    rows = []
    for m in (1, 3):
        each = np.array([estimated(seed, exams, m, 0.3) for seed in range(repeats)])
        inside = np.abs(each[:, 0] - each[:, 1]) <= 1.96 * each[:, 2]
        bias = (each[:, 1] - each[:, 0]).mean(axis=0)
        bound = 3 * (each[:, 1] - each[:, 0]).std(axis=0) / np.sqrt(repeats)
        for k, name in enumerate(("risk of one", "risk of the other", "their difference")):
            rows.append((f"{name}, m = {m}", each[:, 0, k].mean(), f"{bias[k]:+.4f} ± {bound[k]:.4f}",
                         each[:, 2, k].mean(), f"{100 * inside[:, k].mean():.1f} %"))  # fmt: skip
    head = ("estimated", "true", "bias (± 3 errors)", "standard error", "within 1.96 errors")
    return f"{exams} exam bits, {repeats} repetitions.\n\n{grid(head, rows)}"


def section(quick: bool) -> str:
    return f"""## A step size without labels, and candidates compared by bits

`SGD(gamma="auto")` tries seven step sizes on a fifth of its answers; exam bits, drawn between their predictions with a
known density, choose. Claimed: no label is used, and what is lost against the best step found by hand, on the labels,
is little where the default is good and much less than the default loses where it is not. Errors are mean absolute ones,
against what should be predicted (weather: against labels). "auto" also averages otherwise (`Polynomial(2)`, which
forgets the start); the ratios are to the best step by hand with that average, seen on the test labels.

{chosen_steps(quick)}

`compare` estimates any model's risk from such bits. Claimed: without bias, and about 95 % of intervals of ± 1.96
standard errors hold the truth, of risks and of paired differences (scores of several outputs are skewed: a few percent
fewer at 200 bits).

{coverage(quick)}
"""
