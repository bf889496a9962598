"""Which classes each person takes for which others, from yes and no alone.

Somebody who would call a thing of class y a k with chance C_a[y, k] says yes to a set S with chance
A(y) = sum of C_a[y, k] over S.  Neither y nor k is known; with q(y) what is believed of y without the answer,

    w_i(y, k)  proportional to  q_i(y) C_a[y, k] [k in S_i, or not in it]
    C_a        proportional to  sum_i w_i + 4 M ,

M the matrix of the crowd: expectation and maximisation, a few rounds.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from askone._common.types import Array

_STRENGTH = 4.0  # answers about each class that the crowd's matrix counts for
_RIGHT, _FEW = 0.9, 4.0  # a crowd that nobody knows, and what it counts for
_ROUNDS = 12
_LEAST = 1e-4  # nobody is quite sure to tell two classes apart


@final
class Confusions(NamedTuple):
    """Of each person C (people x m x m), that of the crowd, and the chance of each answer by all others."""

    matrices: Array
    common: Array
    chances: Array


def confusions_of(places: Array, bits: Array, inside: Array, beliefs: Array, people: int) -> Confusions:
    """Return the confusions of so many people by answers: whose each is, its bit, its set (1, 0) and q(y), n x m.

    >>> rng = np.random.default_rng(0)
    >>> y, inside = rng.integers(3, size=900), rng.permuted(np.tile([1.0, 0.0, 0.0], (900, 1)), axis=1)
    >>> said = np.where((y == 2) & (rng.uniform(size=900) < 0.5), 1, y)  # half of the third is taken for the second
    >>> bits = inside[np.arange(900), said] > 0
    >>> confusions_of(np.zeros(900, int), bits, inside, np.eye(3)[y], 1).matrices[0].round(1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    """
    m = inside.shape[1]
    left = np.where(bits[:, None], inside, 1.0 - inside)
    first = _RIGHT * np.eye(m) + (1.0 - _RIGHT) / m
    common = first
    matrices = np.broadcast_to(common, (people, m, m))
    for _ in range(_ROUNDS):
        each = beliefs[:, :, None] * matrices[places] * left[:, None, :]
        each /= np.maximum(each.sum(axis=(1, 2), keepdims=True), 1e-300)
        counts = np.zeros((people, m, m))
        np.add.at(counts, places, each)
        common = _normal(counts.sum(axis=0) + _FEW * first)
        matrices = _normal(counts + _STRENGTH * common)
    without = _normal(counts[places] - each + _STRENGTH * common)
    chances = np.einsum("ny,nyk,nk->n", beliefs, without, left)
    return Confusions(matrices, common, np.clip(chances, 1e-12, 1.0))


def _normal(counts: Array) -> Array:
    kept = np.maximum(counts, 0.0) + _LEAST
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))
