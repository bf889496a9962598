"""Whether rows are other rows than before: then surprising answers need not mean that old ones are wrong now."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from askone._common.compiled import jit
from askone._common.types import Array

_SURE = 6.0
_MANY = 16.0  # columns that may count as independent


@final
@dataclass(frozen=True, eq=False)
class RowMoments:
    """How many rows there were, the means of their columns, and the sums of squared deviations from them."""

    count: int
    mean: Array
    squares: Array

    @classmethod
    def none(cls, columns: int) -> RowMoments:
        """Return those of no rows."""
        return cls(0, np.zeros(columns), np.zeros(columns))

    def met(self, rows: Array) -> RowMoments:
        """Return those with more rows, one after the other."""
        mean, squares = self.mean.copy(), self.squares.copy()
        _meet(np.ascontiguousarray(rows), self.count, mean, squares)
        return RowMoments(self.count + len(rows), mean, squares)

    def differ(self, other: RowMoments) -> bool:
        """Return whether the rows of two times are of different kinds: clearly more so than chance would have it.

        z_j is the difference of the means of column j in standard errors; the mean of z_j^2 is 1 where nothing differs,
        give or take sqrt(2 / columns) if they are independent.

        >>> early, late = np.arange(40.0)[:, None], np.arange(40.0, 80.0)[:, None]
        >>> none = RowMoments.none(1)
        >>> none.met(early).differ(none.met(late)), none.met(early).differ(none.met(early[::-1] + 1))
        (True, False)
        """
        if min(self.count, other.count) < 2:
            return False
        found = _distance(self.mean, self.squares, self.count, other.mean, other.squares, other.count)
        return bool(found > 1.0 + _SURE / math.sqrt(min(len(self.mean), _MANY)))


@jit
def _meet(rows: Array, count: int, mean: Array, squares: Array) -> None:
    """Take rows into the moments, in place (Welford)."""
    for i in range(rows.shape[0]):
        count += 1
        for j in range(rows.shape[1]):
            apart = rows[i, j] - mean[j]
            mean[j] += apart / count
            squares[j] += apart * (rows[i, j] - mean[j])


@jit
def _distance(mean: Array, squares: Array, n: int, means: Array, sums: Array, k: int) -> float:
    """Return the mean of z^2 over the columns that are not constant."""
    total, used = 0.0, 0
    for j in range(mean.shape[0]):
        error = (squares[j] + sums[j]) / (n + k - 2) * (1.0 / n + 1.0 / k)
        if error > 0.0:
            total += (mean[j] - means[j]) * (mean[j] - means[j]) / error
            used += 1
    return total / max(used, 1)
