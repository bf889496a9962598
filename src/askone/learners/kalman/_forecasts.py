"""What answers will be, would have been and would tell, by the filters of a bank."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from askone._common.arithmetic import normal_cdfs
from askone._common.compiled import dot
from askone._common.types import Array
from askone.learners.cavity import without
from askone.learners.kalman import _compiled
from askone.learners.kalman._bank import CHUNK, Bank
from askone.learners.kalman._grid import FilterGrid
from askone.learners.kalman._questions import Share
from askone.questions.base import ErrorRates

_OTHERS = 64  # rows that stand for all
_HEARD = 0.5  # of the largest weight: filters below it have no say in which row to ask about, as somebody waits
_HEAVY = 0.05  # of the largest weight: other filters have no say in hindsight


def moments(grid: FilterGrid, bank: Bank, features: Array) -> tuple[float, float]:
    """Return mean and variance of a label of one output at a row."""
    at, spread = grid.seen(bank, features)
    mean = float(dot(bank.weights, at[:, 0].copy()))
    return mean, float(dot(bank.weights, spread[:, 0] + grid.noise(bank) ** 2 + (at[:, 0] - mean) ** 2))


def chance(grid: FilterGrid, bank: Bank, row: Array, share: Share, slips: ErrorRates) -> float:
    """Return P(yes) at one row: the filters' word, by weight, where answers may be flipped."""
    chances = _above(grid, bank, row, share.low, share.extra)
    if share.high < math.inf:
        chances = chances - _above(grid, bank, row, share.high, share.extra)
    flip, right = grid.flips(bank), chances if share.sign > 0 else 1 - chances
    return float(dot(bank.weights, flip + (1 - 2 * flip) * (slips.yes + slips.trust * right)))


def _above(grid: FilterGrid, bank: Bank, row: Array, c: float, extra: float) -> Array:
    """Return P(label > c) of each filter, at one row."""
    at, spread = bank.seen_at(row, lambda: grid.features(row, grid.in_use(bank)), grid.places(bank))
    noise = grid.noise(bank)
    z = (at[:, 0] - grid.lean * noise - c) / np.sqrt(spread[:, 0] + noise * noise + extra)
    return normal_cdfs(z)


def hindsight(grid: FilterGrid, bank: Bank, rows: Array, told: Array) -> Array:
    """Return the chance of an honest yes to each question, by the filters of most weight, each without its answer.

    An answer is the sign and the ends of its ``Share``, the bit and its slips, n x 6.
    """
    bank = bank.taken(np.flatnonzero(bank.weights > _HEAVY * bank.weights.max()))
    seen = grid.seen(bank, grid.features(rows, grid.in_use(bank)))
    each = zip(*seen, grid.noise(bank).tolist(), grid.flips(bank).tolist(), strict=True)
    said = [_honest(at - grid.lean * s, q, s, pi, *told.T) for at, q, s, pi in each]
    return np.asarray(bank.weights @ np.array(said))


def _honest(
    m: Array, q: Array, s: float, flip: float, sign: Array, low: Array, high: Array, bit: Array, yes: Array, no: Array
) -> Array:
    """Return P(yes) by one filter that says N(m, q) of the value at each row, its answer in it (see ``without``)."""
    left = 1.0 - yes - no
    floor, trust = flip + (1.0 - 2.0 * flip) * np.where(bit > 0, yes, no), left * (1.0 - 2.0 * flip)
    ends = np.isfinite(high)  # of a range its own answer stays in: such questions are few
    m_c, q_c = without(m, q, s * s, low, np.where(bit > 0, sign, -sign), floor, trust)
    m_c, q_c = np.where(ends, m, m_c), np.where(ends, q, q_c)
    root = np.sqrt(q_c + s * s)
    above = ndtr(sign * (m_c - low) / root)
    return np.asarray(np.where(ends, above - ndtr((m_c - high) / root), above))


def worth(grid: FilterGrid, banks: tuple[Bank, ...], rows: Array) -> Array:
    """Return what the answer about each row tells of the predictions at all these rows, in nats, mean over them.

    With C the covariance of predictions at rows i and j, q_i = C_ii and noise s, a bit at the median of
    row i takes (2/pi) C_ij^2 / (q_i + s^2) from the variance at j, so it tells

        -log(1 - (2/pi) C_ij^2 / (q_j (q_i + s^2))) / 2

    of it.  The variance at the row itself would be a poor guide: it is largest far from all others.  Of
    many rows some, evenly spaced, stand for all.
    """
    wanted, some = grid.in_use(*banks), -(-len(rows) // _OTHERS)
    if len(rows) <= CHUNK:
        features = grid.features(rows, wanted)
        return _told_of(grid, banks, features, np.ascontiguousarray(features[:, ::some]))
    others = grid.features(rows[::some], wanted)
    chunks = [rows[first : first + CHUNK] for first in range(0, len(rows), CHUNK)]
    return np.concatenate([_told_of(grid, banks, grid.features(chunk, wanted), others) for chunk in chunks])


def _told_of(grid: FilterGrid, banks: tuple[Bank, ...], features: Array, others: Array) -> Array:
    """Return what an answer about each row tells of the predictions at others, by the filters that lead."""
    told = np.zeros(features.shape[1])
    for bank in banks:
        weights, noise, places = bank.weights, grid.noise(bank), grid.places(bank)
        for k in np.flatnonzero(weights >= _HEARD * weights.max()):
            Y, Z = (bank.roots(int(k), one[places[k]]) for one in (features, others))
            told += weights[k] * _compiled.told_of(Y, Z, noise[k])
    return told / len(banks)
