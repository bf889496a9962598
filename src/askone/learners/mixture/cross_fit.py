"""What fitted models say of answers that they were not fitted to: one half of them by a fit to the other.

A model's own answer is in its fit, and nothing takes it out again as from a filter.  So answers are parted in two; with
p_k(i) what forecaster k says of i, by the half without i, the answers are foretold by

    P(i) = sum_k w_k p_k(i) ,     w = argmax sum_i log P(i) ,

where forecasters are the learner, by all answers but one, and each model at each of its temperatures.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askone._common.types import Array

_ROUNDS = 30
_SLIPS = 0.05  # of those whose rates nobody knows yet: one who throws coins would make all forecasts look too sure


def halves(rows: Array) -> Array:
    """Return which half each answer is in, by turns; all about one row (0: it has no number) are in the same.

    >>> halves(np.array([0, 0, 7, 0, 7])).astype(int).tolist()
    [0, 1, 0, 1, 0]
    """
    place, first, back = np.arange(len(rows)), *np.unique(rows, return_index=True, return_inverse=True)[1:]
    return np.asarray(np.where(rows == 0, place, first[back.ravel()]) % 2 == 1)


def by_the_others(second: Array, say: Callable[[Array, Array], Array]) -> Array:
    """Return what is said of each half by a fit to the other: ``say`` has the places to fit to, and those to speak of.

    >>> by_the_others(np.array([False, True, True]), lambda known, asked: np.full((len(asked), 1), len(known))).tolist()
    [[2], [1], [1]]
    """
    parts = np.flatnonzero(~second), np.flatnonzero(second)
    said = say(parts[1], parts[0]), say(parts[0], parts[1])
    out = np.empty((len(second), *said[0].shape[1:]), said[0].dtype)
    out[parts[0]], out[parts[1]] = said
    return out


def weights(chances: Array) -> Array:
    """Return w by the chance that each forecaster gave to each answer, n x forecasters: some rounds of EM.

    >>> weights(np.array([[0.9, 0.5], [0.8, 0.5], [0.9, 0.5]])).round(2).tolist()
    [1.0, 0.0]
    """
    chances = _SLIPS + (1.0 - 2.0 * _SLIPS) * chances
    w = np.full(chances.shape[1], 1.0 / chances.shape[1])
    for _ in range(_ROUNDS):
        each = w * chances
        w = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    return w
