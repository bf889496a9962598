"""How unsure a model is between the two likeliest classes of a row: the smaller the margin, the more an answer tells.

Margins of a model that knows nothing are noise, and rows chosen by them are worse than rows at random: while it is
sure of little, every row is as good as another.
"""

from __future__ import annotations

import numpy as np

from askone._common.types import Array

SURE = 0.2
"""How sure a model must be of some rows, from 0 (all classes alike) to 1, before its margins count."""


def doubts(P: Array, sure: float = SURE) -> Array:
    """Return 1 - (p_(1) - p_(2)) of each row of probabilities; all 0 while the model is sure of little.

    With m classes it is sure of (E p_(1) - 1/m) / (1 - 1/m) on average.

    >>> doubts(np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]])).round(3).tolist()
    [0.5, 0.9]
    >>> doubts(np.array([[0.4, 0.3, 0.3], [0.35, 0.35, 0.3]])).tolist()
    [0.0, 0.0]
    """
    two = np.sort(np.partition(P, -2, axis=1)[:, -2:], axis=1)
    alike = 1.0 / P.shape[1]
    if two[:, 1].mean() - alike < sure * (1.0 - alike):
        return np.zeros(len(P))
    return np.asarray(1.0 - (two[:, 1] - two[:, 0]))
