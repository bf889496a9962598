"""Inputs scaled to mean 0 and deviation 1: each column, or, where they have one unit, on the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_rows, require_floats

_FEW, _MOST = 8, 0.75  # of so many columns at least, such a share has half of the largest range where all have one unit


def have_one_unit(ranges: Array) -> bool:
    """Return whether columns with these ranges (max - min) are taken for measurements in one unit.

    >>> have_one_unit(np.full(64, 16.0)), have_one_unit(np.array([1.0, 9.0] * 8)), have_one_unit(np.ones(3))
    (True, False, False)
    """
    return len(ranges) >= _FEW and float(np.mean(2.0 * ranges >= ranges.max())) >= _MOST


@final
@dataclass(frozen=True, eq=False)
class Scaler:
    """Columns shifted and scaled: x -> (x - center) / scale.

    >>> Scaler.from_rows(np.array([[0.0, 7.0], [2.0, 7.0]]))(np.array([[2.0, 8.0]])).tolist()
    [[1.0, 1.0]]
    """

    center: Array
    scale: Array

    def __post_init__(self) -> None:
        require_floats(self.center, "center", None)
        require_floats(self.scale, "scale", len(self.center))

    @classmethod
    def from_rows(cls, X: Array) -> Scaler:
        """Return mean 0 and standard deviation 1 on these rows; a constant column is only shifted."""
        X = as_rows(X)
        deviation = X.std(axis=0)
        tiny = 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
        return cls(X.mean(axis=0), np.where(deviation > tiny, deviation, 1.0))

    @classmethod
    def by_range(cls, X: Array) -> Scaler:
        """Return the same, but where columns have one unit, (max - min) / c, with c such that their mean square is 1.

        Pixels at the border of a picture are seldom anything but white.  Divided by its own deviation each counts as
        much as one in the middle, and distances are noise: among standardised digits the nearest neighbour is of
        another class twice as often.  Units are unknown, but columns of different ones have different ranges: if
        there are many, that they are alike is no accident.

        >>> rows = np.tile([[0.0], [8.0], [0.0], [8.0]], 8)
        >>> rows[1:, 7] = 0.0, 0.0, 8.0
        >>> Scaler.by_range(rows).scale[6:].round(3).tolist()
        [3.937, 3.937]
        >>> Scaler.by_range(rows * [1, 1, 1, 1, 1, 9, 9, 9]).scale[6:].round(3).tolist()
        [36.0, 31.177]
        """
        each, ranges = cls.from_rows(X), np.ptp(X, axis=0)
        varying = ranges > each.scale  # the range is at least twice the deviation, unless that is only rounding
        if not have_one_unit(ranges[varying]):
            return each
        root = np.sqrt(np.mean((each.scale[varying] / ranges[varying]) ** 2))
        return cls(each.center, np.where(varying, ranges * root, each.scale))

    @classmethod
    def identity(cls, columns: int) -> Scaler:
        """Return rows as they come."""
        return cls(np.zeros(columns), np.ones(columns))

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.center)

    def __call__(self, X: Array) -> Array:
        return np.ascontiguousarray((X - self.center) / self.scale)
