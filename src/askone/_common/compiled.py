"""Compiled code: the one door to numba; whoever has inner loops takes ``jit`` and ``jit_sum`` from here."""

from __future__ import annotations

import math

import numba
import numpy as np

from askone._common.types import Array

_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding it rounds a double to an integer in its low bits

# Compiled code is kept between runs.  Contraction (fused multiply-add) and, for the sums,
# reassociation let LLVM use vector instructions; no NaN ever reaches these loops.
jit = numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
jit_sum = numba.njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})


@jit
def exp(x: float) -> float:
    """Return exp(x) for x <= 0 within 1 ulp or so; unlike libm's, LLVM can vectorise it."""
    x = max(x, -708.0)
    shifted = x * 1.4426950408889634 + _MAGIC
    k = shifted - _MAGIC
    r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power_of_two = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
    return p * power_of_two.view(np.float64)


@jit
def rounded(value: float, decimals: int) -> float:
    """Return the value to so many decimals, as the nearest double to what a person reads.

    >>> rounded(21.38, 1), rounded(1234.0, -2)
    (21.4, 1200.0)
    """
    power = 10.0 ** abs(decimals)
    if decimals >= 0:
        return np.rint(value * power) / power
    return np.rint(value / power) * power


_FAR = -6.0  # from here on Phi(z) is taken from the continued fraction
_ROOT_2, _LOG_ROOT_2PI = math.sqrt(2.0), 0.5 * math.log(2.0 * math.pi)


@jit
def hazard(z: float) -> tuple[float, float, float]:
    """Return log Phi(z), h = N(z) / Phi(z) and h + z, as far out as one likes."""
    if z > _FAR:
        p = 0.5 * math.erfc(-z / _ROOT_2)
        h = math.exp(-0.5 * z * z - _LOG_ROOT_2PI) / p
        return math.log(p), h, h + z
    fraction = -z
    for k in range(40, 1, -1):
        fraction = -z + k / fraction
    h = -z + 1.0 / fraction
    return -0.5 * z * z - _LOG_ROOT_2PI - math.log(h), h, 1.0 / fraction  # h + z would be a difference of large numbers


@jit_sum
def dot(a: Array, b: Array) -> float:
    """Return <a, b>."""
    total = 0.0
    for c in range(a.shape[0]):
        total += a[c] * b[c]
    return total
