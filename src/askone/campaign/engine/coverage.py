"""Intervals that hold as many labels as they say, by one bit each: online conformal calibration.

A model's interval [low, high] of a level 1 - alpha is stretched by a factor k around the prediction f,

    [f - k (f - low),  f + k (high - f)],

and some of the exams ask whether the label lies in it.  With b = 1 where it does not, an answer that is wrong with the
probability e, and b' = (b - e) / (1 - 2 e), the factor after the i-th such bit is

    k <- k exp(h (b' - alpha)),    h = max((i + 3)^-0.6, 0.05),    k = 1 at first.

From the 145th bit on h is 0.05, and the sum of these lines says: of the n bits that follow, the share outside differs
from alpha by |log k_n - log k_0| / (0.05 n), whatever rows and labels come, sorted or drifting (Gibbs and Candes 2021).

>>> round(stretched([True] + [False] * 9, 0.1), 3), round(stretched([False] * 10, 0.1), 3)
(1.15, 0.744)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

SHARE: Final = 0.3
"""Of exams that ask about intervals; the others measure the error."""
LEAST: Final = 0.05
"""The shortest step: intervals follow labels that drift, and k varies by some 10 % where none do."""


def step(i: int) -> float:
    """Return the length of the i-th step."""
    return max(float((i + 3) ** -0.6), LEAST)


def stretched(outside: Sequence[bool], alpha: float, slip: float = 0.0) -> float:
    """Return the factor after these bits; ``slip``: how often a bit is wrong."""
    bits = np.array(outside, dtype=np.float64)
    steps = np.maximum(np.arange(4, len(bits) + 4, dtype=np.float64) ** -0.6, LEAST)
    return math.exp(float(steps @ ((bits - slip) / (1 - 2 * slip) - alpha)))
