"""What was known of a value before an answer about it: the cavity of expectation propagation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from askone._common.types import Array

_CAVITIES, _TAKEN = 40, 0.9  # steps towards it, and what an answer took of a variance at most
_ROOT = math.sqrt(2 * math.pi)


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
    c, e, floor, trust, share = (np.asarray(one) for one in (c, e, floor, trust, share))
    m_c, q_c = m.copy(), q.copy()
    for _ in range(_CAVITIES):
        v = q_c + noise
        z = e * (m_c - c) / np.sqrt(v)
        chance = np.maximum(floor + trust * ndtr(z), 1e-12)
        h = trust * np.exp(-0.5 * z * z) / (_ROOT * chance)
        taken = np.clip(share * h * (h + z) * q_c / v, 0.0, _TAKEN)  # of the variance
        q_c = 0.5 * (q_c + q / (1.0 - taken))
        m_c = 0.5 * (m_c + m - e * h / np.sqrt(v) * q_c)
    return np.array([m_c, q_c])
