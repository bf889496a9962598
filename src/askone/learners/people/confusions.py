"""Which classes each person takes for which others, from yes and no alone.

Somebody who would call a thing of class y a k with chance C_a[y, k] says yes to a set S with chance
A(y) = sum of C_a[y, k] over S.  Neither y nor k is known; with q(y) what is believed of y without the answer,

    w_i(y, k)  proportional to  q_i(y) C_a[y, k] [k in S_i, or not in it]
    C_a        proportional to  sum_i w_i + 4 M ,

M the matrix of the crowd: expectation and maximisation, a few rounds.  The doubt d, q = (1 - d) q_model + d / m, is the
model's own share in what looks like confusion (see ``rates``).
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from scipy.special import expit, logit, softmax

from askone._common.types import Array
from askone.learners.people.habits import KnownHabits
from askone.learners.people.rates import CrowdRates

_STRENGTH = 4.0  # answers about each class that the crowd's matrix counts for
_RIGHT, _FEW = 0.9, 50.0  # a crowd that nobody knows, and the answers about each class that this counts for
_ROUNDS = 8
_DOUBTS = (0.0, 0.05, 0.1, 0.2, 0.4)
_LEAST = 1e-4  # nobody is quite sure to tell two classes apart
_TINY = 1e-6
_MANY = 20  # classes at most: of more, people are known by their rates


@final
class Confusions(NamedTuple):
    """Of each person C, and behind them that of the crowd ((people + 1) x m x m); log-chances of answers by the rest.

    ``foretold`` has the sum of these for each person.
    """

    matrices: Array
    foretold: Array


def confusions_of(
    places: Array, bits: Array, inside: Array, believed: Array, people: int, flip: float = 0.0
) -> Confusions:
    """Return the confusions of so many people by answers: whose each is, its bit, its set (1, 0) and q(y), n x m.

    ``flip`` is how often what they said was flipped.

    >>> rng = np.random.default_rng(0)
    >>> y, inside = rng.integers(3, size=900), rng.permuted(np.tile([1.0, 0.0, 0.0], (900, 1)), axis=1)
    >>> said = np.where((y == 2) & (rng.uniform(size=900) < 0.5), 1, y)  # half of the third is taken for the second
    >>> bits = inside[np.arange(900), said] > 0
    >>> confusions_of(np.zeros(900, int), bits, inside, np.eye(3)[y], 1).matrices[0].round(1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    """
    left = flip + (1.0 - 2.0 * flip) * np.where(bits[:, None], inside, 1.0 - inside)
    found = [_confusions_at(places, left, (1.0 - d) * believed + d / left.shape[1], people) for d in _DOUBTS]
    return max(found, key=lambda one: one.foretold.sum())


def _confusions_at(places: Array, left: Array, q: Array, people: int) -> Confusions:
    """Return the confusions by what is believed, doubts included, and by the classes that answers leave."""
    m = left.shape[1]
    first = _RIGHT * np.eye(m) + (1.0 - _RIGHT) / m
    common, matrices = first, np.broadcast_to(first, (people, m, m))
    for _ in range(_ROUNDS):
        each = q[:, :, None] * matrices[places] * left[:, None, :]
        each /= np.maximum(each.sum(axis=(1, 2), keepdims=True), 1e-300)
        counts = np.zeros((people, m, m))
        np.add.at(counts, places, each)
        common = _normal(counts.sum(axis=0) + _FEW * first)
        matrices = _normal(counts + _STRENGTH * common)
    without = _normal(counts[places] - each + _STRENGTH * common)
    chances = np.einsum("ny,nyk,nk->n", q, without, left)
    foretold = np.bincount(places, np.log(np.clip(chances, 1e-12, 1.0)), people)
    return Confusions(np.concatenate([matrices, common[None]]), foretold)


def _normal(counts: Array) -> Array:
    kept = np.maximum(counts, 0.0) + _LEAST
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def with_confusions(
    rates: CrowdRates, places: Array, bits: Array, inside: Array, believed: Array, flip: float = 0.0
) -> CrowdRates:
    """Return rates with confusions beside them, weighed by how well each foretold a person's answers.

    The prior weight is the mean over the crowd: with few answers of each, all of them together say which it is.
    """
    people, m = len(rates.habits.rates), inside.shape[1]
    if not 2 < m <= _MANY:
        return rates
    if rates.sharpness != 1.0:
        believed = softmax(rates.sharpness * np.log(np.maximum(believed, _TINY)), axis=1)
    found = confusions_of(places, bits, inside, believed, people, flip)
    better, share = found.foretold - rates.foretold, 0.5
    for _ in range(5):
        weights = expit(better + logit(share))
        share = float((weights.sum() + 1.0) / (people + 2.0))
    weights = np.append(expit(better + logit(share)), share)
    evidence = np.logaddexp(np.log1p(-share) + rates.foretold, np.log(share) + found.foretold).sum()
    habits = KnownHabits(rates.habits.rates, found.matrices, weights)
    return rates._replace(habits=habits, evidence=float(evidence))
