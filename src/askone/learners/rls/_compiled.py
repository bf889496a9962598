"""Recursive least squares, compiled: one weighted row at a time, in square-root form.

The minimiser theta of  lambda |theta|^2 + sum_t w_t |b_t - theta phi_t|^2  and the covariance
S = (lambda I + sum_t w_t phi_t phi_t^T)^-1, one for all outputs, kept as a factor, S = L L^T
(Potter's form: symmetric and positive by form, however many rows there are):

    a = L^T phi,   d = 1 + w |a|^2,   theta += (w/d) r (L a)^T,   L -= w/(d + sqrt d) (L a) a^T

with r = b - theta phi.  O(p^2 + p m) for p features and m outputs.
"""

from __future__ import annotations

import math

import numpy as np

from askone._common.compiled import add_product, dot, jit
from askone._common.types import Array


@jit
def learn(theta: Array, factor: Array, phi: Array, residual: Array, weight: float) -> None:
    """Learn one row into theta (m x p) and L (p x p), in place.

    >>> theta, factor = np.zeros((1, 2)), np.eye(2)
    >>> learn(theta, factor, np.array([1.0, 0.0]), np.array([3.0]), 2.0)     # 3 w / (1 + w)
    >>> theta.tolist(), round((factor @ factor.T).item(0), 12)
    ([[2.0, 0.0]], 0.333333333333)
    """
    p, m = factor.shape[0], theta.shape[0]
    a, b = np.zeros(p), np.empty(p)
    add_product(phi.reshape(1, p), factor, a.reshape(1, p))
    d = 1.0 + weight * dot(a, a)
    shrink = weight / (d + math.sqrt(d))
    for i in range(p):
        b[i] = dot(factor[i], a)
        step = shrink * b[i]
        for k in range(p):
            factor[i, k] -= step * a[k]
    for j in range(m):
        gain = weight / d * residual[j]
        for k in range(p):
            theta[j, k] += gain * b[k]
