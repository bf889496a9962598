"""Trials in chunks, and what is said about their means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

TUNING = 1_000_000
"""Seeds from here on choose step sizes; no figure shows them."""
_RESAMPLES = 1000


def chunks(trials: int, size: int = 5, first: int = 0) -> list[list[int]]:
    """Return seeds of so many trials, some at a time.

    >>> chunks(5, 2)
    [[0, 1], [2, 3], [4]]
    """
    seeds = list(range(first, first + trials))
    return [seeds[i : i + size] for i in range(0, trials, size)]


def joined(results: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the rows of all chunks."""
    return [row for chunk in results for row in chunk]


def ratio(over: ArrayLike, under: ArrayLike, seed: int = 0) -> list[float]:
    """Return the ratio of two means, and its 95 % interval over resampled trials.

    >>> ratio([2.0, 2.0], [1.0, 1.0])
    [2.0, 2.0, 2.0]
    """
    a, b = np.asarray(over, dtype=float), np.asarray(under, dtype=float)
    rng = np.random.default_rng(seed)
    means = [(part[rng.integers(len(part), size=(_RESAMPLES, len(part)))]).mean(axis=1).clip(1e-300) for part in (a, b)]
    low, high = np.quantile(means[0] / means[1], [0.025, 0.975])
    return [float(a.mean() / max(b.mean(), 1e-300)), float(low), float(high)]


def reached(at: Sequence[int], runs: ArrayLike, level: float) -> int | None:
    """Return the number of questions from which on the mean of the runs stays at or below a level.

    >>> reached([1, 10, 100], [[0.5, 0.2, 0.1]], 0.2), reached([1, 10], [[0.5, 0.4]], 0.2)
    (10, None)
    """
    above = np.flatnonzero(np.asarray(runs, dtype=float).mean(axis=0) > level)
    last = -1 if len(above) == 0 else int(above[-1])
    return None if last == len(at) - 1 else at[last + 1]
