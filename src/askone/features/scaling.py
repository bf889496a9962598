"""Inputs scaled to mean 0 and deviation 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_rows, require_floats


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
    def identity(cls, columns: int) -> Scaler:
        """Return rows as they come."""
        return cls(np.zeros(columns), np.ones(columns))

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.center)

    def __call__(self, X: Array) -> Array:
        return np.ascontiguousarray((X - self.center) / self.scale)
