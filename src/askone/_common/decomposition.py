"""Small matrices taken apart by +, -, *, / and sqrt alone: LAPACK's bits, and signs, are other ones on each machine."""

from __future__ import annotations

import math

import numpy as np

from askone._common.compiled import dot, jit
from askone._common.types import Array

_SWEEPS = 60
_EVEN = 1e-9
_NONE = 1e-15  # the cosine of two columns that count as orthogonal


@jit
def _orthogonalised(columns: Array, turns: Array) -> None:
    """One-sided Jacobi: rotate pairs of rows until all are orthogonal; the same rotations in ``turns``."""
    n = columns.shape[0]
    for _ in range(_SWEEPS):
        turned = False
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = dot(columns[i], columns[i]), dot(columns[j], columns[j]), dot(columns[i], columns[j])
                if abs(c) <= _NONE * math.sqrt(a * b) or abs(c) < 1e-300:
                    continue
                turned = True
                half = (b - a) / (2.0 * c)
                t = math.copysign(1.0, half) / (abs(half) + math.sqrt(1.0 + half * half))
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = cosine * t
                for part in (columns, turns):
                    for k in range(part.shape[1]):
                        x, y = part[i, k], part[j, k]
                        part[i, k] = cosine * x - sine * y
                        part[j, k] = sine * x + cosine * y
        if not turned:
            return


def svd(A: Array) -> tuple[Array, Array, Array]:
    """Return U, the singular values (falling) and V^T with A = U diag(s) V^T, as many as A has columns.

    The entries of each row of V^T sum to less than 0, as old files have it; where they sum to 0 the first of the
    largest is positive.  Where s is 0 so is U.

    >>> U, s, Vt = svd(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> U.tolist(), s.tolist(), Vt.tolist()
    ([[-1.0, 0.0], [0.0, -1.0]], [2.0, 1.0], [[0.0, -1.0], [-1.0, 0.0]])
    """
    columns, turns = np.array(A.T, dtype=np.float64, order="C"), np.eye(A.shape[1])
    _orthogonalised(columns, turns)
    sizes = np.array([math.sqrt(dot(one, one)) for one in columns])
    order = np.argsort(-sizes, kind="stable")
    columns, turns, sizes = columns[order], turns[order], sizes[order]
    signs = np.array([_sign(one) for one in turns])[:, None]
    units = np.divide(columns, sizes[:, None], out=np.zeros_like(columns), where=sizes[:, None] > 0)
    return np.ascontiguousarray((units * signs + 0.0).T), sizes, turns * signs + 0.0  # no -0


def _sign(vector: Array) -> float:
    total, sizes = math.fsum(vector), np.abs(vector)
    if abs(total) > _EVEN:
        return -1.0 if total > 0 else 1.0
    return 1.0 if vector[int(np.argmax(sizes > sizes.max() - _EVEN))] > 0 else -1.0


@jit
def inverse(A: Array) -> Array:
    """Return the inverse of a positive definite matrix, by Gauss and Jordan.

    >>> inverse(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    n = A.shape[0]
    left, right = A.copy(), np.eye(n)
    for i in range(n):
        pivot = left[i, i]
        for k in range(n):
            left[i, k] /= pivot
            right[i, k] /= pivot
        for j in range(n):
            if j != i:
                factor = left[j, i]
                for k in range(n):
                    left[j, k] -= factor * left[i, k]
                    right[j, k] -= factor * right[i, k]
    return right
