"""Slopes with confidence intervals, by resampling trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askone._common.types import Array

_RESAMPLES = 400


def slope(x: Sequence[float], runs: Array, seed: int = 0) -> list[float]:
    """Return the slope of log(mean of the runs) against log x, and its 95 % interval over resampled trials.

    >>> slope([1, 10, 100], np.array([[1.0, 0.1, 0.01]] * 3))
    [-1.0, -1.0, -1.0]
    """
    values, at = np.asarray(runs, dtype=float), np.log(np.asarray(x, dtype=float))
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(values), size=(_RESAMPLES, len(values)))
    slopes = [_fitted(at, values[rows].mean(axis=0)) for rows in chosen]
    low, high = np.quantile(slopes, [0.025, 0.975])
    return [round(float(one), 12) for one in (_fitted(at, values.mean(axis=0)), low, high)]


def _fitted(at: Array, mean: Array) -> float:
    return float(np.polyfit(at, np.log(np.maximum(mean, 1e-300)), 1)[0])
