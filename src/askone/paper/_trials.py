"""Trials in chunks, and what is said about their means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone.learners.base import Learner
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

TUNING = 1_000_000
"""Seeds from here on choose step sizes; no figure shows them."""


def chunks(trials: int, size: int = 5) -> list[list[int]]:
    """Return seeds of so many trials, some at a time.

    >>> chunks(5, 2)
    [[0, 1], [2, 3], [4]]
    """
    return [list(range(i, min(i + size, trials))) for i in range(0, trials, size)]


def parted(results: Sequence[Any], names: Iterable[str]) -> dict[str, Sequence[Any]]:
    """Return the results in as many equal parts as there are names, in their order.

    >>> parted([1, 2, 3, 4], ["a", "b"])
    {'a': [1, 2], 'b': [3, 4]}
    """
    keys = list(names)
    size = len(results) // len(keys)
    return {key: results[i * size : (i + 1) * size] for i, key in enumerate(keys)}


def joined(results: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the rows of all chunks."""
    return [row for chunk in results for row in chunk]


def errors_at(
    at: list[int], learner: Learner[Any], X: Array, labels: Array, seed: int, test: Array, error: Callable[[Any], float]
) -> list[float]:
    """Return the errors of one stream on the test rows, at the checkpoints."""
    outcome = simulate(learner, X, Oracle(labels), seed=seed, at=at, test=test, evaluate=error)
    return [value for _, value in outcome.curve]


def best_step(gammas: list[float], trials: int, error: Callable[[int, float], float]) -> tuple[float, list[float]]:
    """Return the step whose mean error(seed, step) on the tuning seeds is least, and those means."""
    means = [float(np.mean([error(TUNING + i, gamma) for i in range(trials)])) for gamma in gammas]
    return gammas[int(np.argmin(means))], means


def last(curves: Iterable[ArrayLike]) -> Array:
    """Return the last errors of several curves (trials x points each), trials x curves."""
    return np.array([np.asarray(runs)[:, -1] for runs in curves]).T


def slope(x: Sequence[float], runs: ArrayLike, seed: int = 0) -> list[float]:
    """Return the slope of log(mean of the runs) against log x, and its 95 % interval over resampled trials.

    >>> slope([1, 10, 100], [[1.0, 0.1, 0.01]] * 3)
    [-1.0, -1.0, -1.0]
    """
    values, at = np.asarray(runs, dtype=float), np.log(np.asarray(x, dtype=float))

    def fitted(mean: Array) -> float:
        return float(np.polyfit(at, np.log(np.maximum(mean, 1e-300)), 1)[0])

    chosen = np.random.default_rng(seed).integers(len(values), size=(400, len(values)))
    low, high = np.quantile([fitted(values[rows].mean(axis=0)) for rows in chosen], [0.025, 0.975])
    return [round(float(one), 12) for one in (fitted(values.mean(axis=0)), low, high)]


def ratio(over: ArrayLike, under: ArrayLike, seed: int = 0) -> list[float]:
    """Return the ratio of two means, and its 95 % interval over resampled trials.

    >>> ratio([2.0, 2.0], [1.0, 1.0])
    [2.0, 2.0, 2.0]
    """
    a, b = np.asarray(over, dtype=float), np.asarray(under, dtype=float)
    rng = np.random.default_rng(seed)
    means = [part[rng.integers(len(part), size=(1000, len(part)))].mean(axis=1).clip(1e-300) for part in (a, b)]
    low, high = np.quantile(means[0] / means[1], [0.025, 0.975])
    return [float(a.mean() / max(b.mean(), 1e-300)), float(low), float(high)]


def reached(at: Sequence[int], runs: ArrayLike, level: float) -> int | None:
    """Return the number of questions from which on the mean of the runs stays at or below a level.

    >>> reached([1, 10, 100], [[0.5, 0.2, 0.1]], 0.2), reached([1, 10], [[0.5, 0.4]], 0.2)
    (10, None)
    """
    above = np.flatnonzero(np.asarray(runs, dtype=float).mean(axis=0) > level)
    after = int(above[-1]) + 1 if len(above) else 0
    return at[after] if after < len(at) else None
