"""Warnings of ``fit`` about its data: rows that come sorted, labels outside the declared range.

Rows are asked about in the order they come in.  For each column (of 200 at most, in 1,000 rows, evenly spaced) ranks R
of neighbours are compared (von Neumann's ratio, of ranks):

    r = 1 - sum (R_i - R_{i+1})^2 / (2 sum (R_i - mean)^2),

about normal with mean 0 and deviation 1/sqrt(n) for rows in random order, near 1 for sorted ones, and the share of the
column's variance that lies between groups where rows come group by group.

>>> rows = np.random.default_rng(0).normal(size=(500, 3))
>>> sorted_column(rows), sorted_column(rows[np.argsort(rows[:, 1])])
(None, 1)
"""

from __future__ import annotations

import warnings
from typing import Final, final

import numpy as np
from scipy import stats

from askone._common.types import Array
from askone.labels.number import Real
from askone.labels.wording import percent_text

_ROWS: Final = 1_000
_COLUMNS: Final = 200
_LEAST: Final = 0.3  # r: less does little harm
_SIGMAS: Final = 7.0  # of r, for a column in random order: with 200 columns less than 1e-6, also for rare values
_VARIED: Final = 60  # rows that differ from the commonest value: fewer come together by chance
_FAR: Final = 0.1  # of the range, beyond its ends
_MANY: Final = 0.01  # of the labels


@final
class SortedRowsWarning(UserWarning):
    """Rows are asked about in order, and they come sorted."""


@final
class LabelRangeWarning(UserWarning):
    """Labels lie far outside the range that was declared."""


def sorted_column(rows: Array) -> int | None:
    """Return the column by which rows seem to be sorted or grouped, most of all; None: by none."""
    step, stride = -(-len(rows) // _ROWS), -(-rows.shape[1] // _COLUMNS)
    looked = rows[::step, ::stride]
    n = len(looked)
    ranks = stats.rankdata(looked, axis=0)
    spread = ((ranks - ranks.mean(axis=0)) ** 2).sum(axis=0)
    varied = [n - np.unique(column, return_counts=True)[1].max() >= _VARIED for column in looked.T]
    if not any(varied):
        return None
    steps = (np.diff(ranks, axis=0) ** 2).sum(axis=0)
    likeness = np.where(varied, 1 - steps / (2 * np.where(varied, spread, 1.0)), 0.0)
    found = int(np.argmax(likeness))
    return found * stride if likeness[found] > max(_LEAST, _SIGMAS / np.sqrt(n)) else None


def warn_of_sorted(rows: Array, labels: Array | None = None) -> None:
    """Warn if rows, which are asked about in order, come sorted, by a column or by labels that may be looked at."""
    column = sorted_column(rows)
    by = None if column is None else f"column {column}"
    if by is None and labels is not None and sorted_column(_as_numbers(labels)) is not None:
        by = "the labels y"  # of texts, no column is sorted
    if by is not None:
        warnings.warn(
            f"rows seem to be sorted or grouped by {by}, and are asked about in this order: "
            "shuffle them first (sklearn.utils.shuffle(X, y)), unless they are a stream that comes like this",
            SortedRowsWarning,
            stacklevel=5,
        )


def _as_numbers(labels: Array) -> Array:
    """Return some labels, evenly spaced, as columns of numbers: names by their place in the alphabet."""
    looked = labels[:: -(-len(labels) // _ROWS)]
    columns = looked.reshape(len(looked), -1).T
    return np.column_stack(
        [np.unique(one.astype(str), return_inverse=True)[1] if one.dtype.kind not in "biuf" else one for one in columns]
    )


def warn_of_labels(labels: Array, space: Real) -> None:
    """Warn if more than one label in a hundred lies farther outside the range than a tenth of it."""
    low, high = np.array(space.lows), np.array(space.highs)
    outside = np.maximum(low - labels, labels - high) > _FAR * (high - low)
    if outside.mean() > _MANY:
        warnings.warn(
            f"{percent_text(outside.mean())} of labels lie far outside the range from {space.lows[0]:g} to "
            f"{space.highs[0]:g}: predictions stay within it; declare low and high by what labels may be",
            LabelRangeWarning,
            stacklevel=5,
        )
