"""Compiled kernels: Gaussian and Laplacian sections of rows, in blocks and one row at a time."""

from __future__ import annotations

import math

import numpy as np

from askone._common.arithmetic import exp
from askone._common.compiled import add_product, add_row_product, jit, paired_dots, total
from askone._common.types import Array

MANY_DIMENSIONS = 12  # from here on a matrix product beats the loop over coordinates


@jit
def gaussian(X: Array, Z: Array, bandwidth: float, out: Array) -> None:
    """out[i, j] = exp(-|x_i - z_j|^2 / (2 sigma^2)); Z holds one column per point (d x n)."""
    n, p, d = X.shape[0], Z.shape[1], X.shape[1]
    factor = -0.5 / (bandwidth * bandwidth)
    for i in range(n):
        if d == 1:  # one pass over the row, not three: half of the time
            x = X[i, 0]
            for j in range(p):
                difference = x - Z[0, j]
                out[i, j] = exp(factor * (difference * difference))
            continue
        for j in range(p):
            out[i, j] = 0.0
        for k in range(d):
            x = X[i, k]
            for j in range(p):
                difference = x - Z[k, j]
                out[i, j] += difference * difference
        for j in range(p):
            out[i, j] = exp(factor * out[i, j])


@jit
def gaussian_line(X: Array, Z: Array, bandwidth: float, a: Array, out: Array) -> None:
    """out[i] = sum_j exp(-(x_i - z_j)^2 / (2 sigma^2)) a_j in one dimension, in the order of j, without the matrix."""
    factor, section = -0.5 / (bandwidth * bandwidth), np.empty(Z.shape[1])
    for i in range(X.shape[0]):
        x = X[i, 0]
        for j in range(Z.shape[1]):
            difference = x - Z[0, j]
            section[j] = exp(factor * (difference * difference)) * a[j]
        out[i] = total(section)


@jit
def gaussian_from_products(out: Array, x2: Array, z2: Array, bandwidth: float) -> None:
    """The same from out = X Z^T by |x - z|^2 = |x|^2 + |z|^2 - 2<x, z>: for many dimensions."""
    factor = -0.5 / (bandwidth * bandwidth)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = exp(factor * max(x2[i] + z2[j] - 2.0 * out[i, j], 0.0))


@jit
def nystroem_row(
    X: Array, center: Array, scale: Array, Z: Array, z2: Array, bandwidth: float, whitener: Array, sections: Array,
    out: Array,
) -> None:  # fmt: skip
    """Scaling, Gaussian sections and (unless it is empty) the whitener for one row, in one call.

    By products or not goes by the number of dimensions alone: a row is the same, whatever other rows there are.
    """
    row = np.empty((1, X.shape[1]))
    for k in range(X.shape[1]):
        row[0, k] = (X[0, k] - center[k]) / scale[k]
    if X.shape[1] < MANY_DIMENSIONS:
        gaussian(row, Z, bandwidth, sections)
    else:
        for j in range(sections.shape[1]):
            sections[0, j] = 0.0
        add_row_product(row[0], Z, sections[0])
        gaussian_from_products(sections, paired_dots(row, row), z2, bandwidth)
    if whitener.shape[0]:
        add_row_product(sections[0], whitener, out[0])


@jit
def laplacian(X: Array, Z: Array, bandwidth: float, out: Array) -> None:
    """out[i, j] = exp(-|x_i - z_j|_1 / sigma); Z holds one column per point (d x n)."""
    n, p, d = X.shape[0], Z.shape[1], X.shape[1]
    for i in range(n):
        for j in range(p):
            out[i, j] = 0.0
        for k in range(d):
            x = X[i, k]
            for j in range(p):
                out[i, j] += abs(x - Z[k, j])
        for j in range(p):
            out[i, j] = exp(-out[i, j] / bandwidth)


@jit
def neighbours(X: Array, Z: Array, z2: Array, spread: Array, values: Array, k: int) -> Array:
    """Return sum_j w_ij values_j over the k nearest of the points Z (d x n), w_ij = exp(-d_ij^2 / (s_i s_j)).

    s_i is the distance to the k-th, s_j = ``spread``; of equal distances the first counts.
    """
    n, p = X.shape[0], Z.shape[1]
    k = min(k, p)
    out, apart, x2 = np.zeros((n, values.shape[1])), np.zeros((n, p)), paired_dots(X, X)
    add_product(X, Z, apart)
    near, least = np.empty(k, dtype=np.int64), np.empty(k)
    for i in range(n):
        held = 0
        for j in range(p):
            d2 = max(x2[i] + z2[j] - 2.0 * apart[i, j], 0.0)
            if held == k and d2 >= least[k - 1]:
                continue
            place = held if held < k else k - 1
            while place > 0 and least[place - 1] > d2:
                least[place], near[place] = least[place - 1], near[place - 1]
                place -= 1
            least[place], near[place] = d2, j
            held = min(held + 1, k)
        own = max(math.sqrt(least[k - 1]), 1e-12)
        for h in range(k):
            w = exp(-least[h] / (own * spread[near[h]]))
            for c in range(values.shape[1]):
                out[i, c] += w * values[near[h], c]
    return out
