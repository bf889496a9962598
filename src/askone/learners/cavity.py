"""What was known of a value before an answer about it: the cavity of expectation propagation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import normal
from askone._common.compiled import jit
from askone._common.types import Array

_STEPS, _SETTLED = 200, 1e-6  # steps towards it at most, and what the last one moves
_TAKEN = 0.9  # what an answer took of a variance at most


def without(
    m: Array, q: Array, noise: float, c: ArrayLike, e: ArrayLike, floor: ArrayLike, trust: ArrayLike,
    share: ArrayLike = 1.0,
) -> Array:  # fmt: skip
    """Return mean and variance, before an answer, of what is N(m, q) after it: the fixed point of

        q = q_c - share b q_c^2 ,   m = m_c + a q_c ,

    with a and b those of an answer at c (e: 1 above, -1 below) to N(m_c, q_c) under this noise variance (see
    ``kalman.regressor``; floor and trust: ``questions.base.ErrorRates``).  The ``share`` is below 1 where q is a sum of
    variances that shrink apart from each other.

    >>> q = 1.0 - 2 / np.pi / 1.25
    >>> without(np.array([np.sqrt(2 / np.pi / 1.25)]), np.array([q]), 0.25, 0.0, 1.0, 0.0, 1.0).round(2).tolist()
    [[0.0], [1.0]]
    """
    given = [one.ravel() for one in np.broadcast_arrays(m, q, noise, c, e, floor, trust, share)]
    return _without(np.ascontiguousarray(given, dtype=np.float64)).reshape(2, *m.shape)


@jit
def _without(given: Array) -> Array:
    n = given.shape[1]
    out = np.empty((2, n))
    for i in range(n):
        m, q, noise, c, e, floor, trust, share = given[:, i]
        m_c, q_c = m, q
        for _ in range(_STEPS):
            before, v = m_c, q_c + noise
            root = math.sqrt(v)
            z = e * (m_c - c) / root
            density, below = normal(z)
            h = trust * density / max(floor + trust * below, 1e-12)
            taken = min(max(share * h * (h + z) * q_c / v, 0.0), _TAKEN)  # of the variance
            wider = q / (1.0 - taken)
            apart = wider - q_c
            q_c = 0.5 * (q_c + wider)
            m_c = 0.5 * (m_c + m - e * h / root * q_c)
            if abs(m_c - before) + abs(apart) < _SETTLED:
                break
        out[0, i], out[1, i] = m_c, q_c
    return out
