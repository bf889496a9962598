"""Several answers about one row: they share one unknown label.

Each answer is a cell, the chance of it by each class; answers that err independently multiply,

    P(all answers | y) = prod_i A_i(y) .

Stores only grow: each answer is kept with all that was said before about its row in it, and of several about one row
the last counts.  ``rows`` are numbers of rows with a key, 0 for those without one, which stand alone.
"""

from __future__ import annotations

import numpy as np

from askone._common.types import Array

_LEAST = 1e-9  # a class that two people have excluded, who never err: one of them erred


def joined(before: Array, cell: Array) -> Array:
    """Return two cells as one, scaled so that the largest chance is 1.

    >>> joined(np.array([1.0, 0.5, 0.1]), np.array([0.1, 0.8, 0.5])).round(3).tolist()
    [0.25, 1.0, 0.125]
    """
    both = np.maximum(before * cell, _LEAST)
    return np.asarray(both / both.max())


def said_before(stored: Array, place: int | None) -> Array | None:
    """Return the last cell about a row in a store of cells with the rows' numbers behind them, at its place, if any."""
    return None if place is None else np.maximum(stored[place, :-1], _LEAST)


def are_last(rows: Array) -> Array:
    """Return of each answer whether it stands alone, or is the last about its row.

    >>> are_last(np.array([7, 0, 8, 7, 0])).tolist()
    [False, True, True, True, True]
    """
    _, first = np.unique(rows[::-1], return_index=True)
    last = rows == 0
    last[len(rows) - 1 - first] = True
    return np.asarray(last)


def in_turn(cells: Array, rows: Array) -> Array:
    """Return each cell with those before it about its row in it."""
    out, at = cells.copy(), dict[float, int]()
    if not rows.any():
        return out
    for i in np.flatnonzero(_repeated(rows)).tolist():
        row = float(rows[i])
        if row in at:
            out[i] = joined(out[at[row]], cells[i])
        at[row] = i
    return out


def together(cells: Array, rows: Array) -> tuple[Array, Array]:
    """Return for each cell that of all answers about its row, and that of the others."""
    whole, others = cells.copy(), np.ones_like(cells)
    shared = _repeated(rows)
    for row in np.unique(rows[shared]):
        mine = np.flatnonzero(rows == row)
        logs = np.log(np.maximum(cells[mine], _LEAST))
        for out, summed in ((whole, np.broadcast_to(logs.sum(axis=0), logs.shape)), (others, logs.sum(axis=0) - logs)):
            out[mine] = np.exp(np.maximum(summed - summed.max(axis=1, keepdims=True), np.log(_LEAST)))
    return whole, others


def _repeated(rows: Array) -> Array:
    """Return which answers are about rows that have others."""
    _, back, counts = np.unique(rows, return_inverse=True, return_counts=True)
    return np.asarray((counts[back] > 1) & (rows != 0))
