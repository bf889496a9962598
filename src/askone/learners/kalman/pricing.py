"""Prices that earn most, by what a bank of filters knows of the value that somebody sets on an offer.

Whoever values an offer at Y > c buys it at the price c.  Filter k says Y ~ N(m_k, q_k + s_k^2), m_k and q_k the mean
and the variance of what it predicts, s_k its noise, so that by all filters, of weights w_k, a price earns

    r(c) = c D(c),   D(c) = sum_k w_k Phi((m_k - c) / sqrt(q_k + s_k^2)).

Always the best price by what is believed may never be found out to be a poor one: answers there say nothing of other
prices.  So one offer in four is Thompson's: the best price if one filter, drawn by weight, is right, and its prediction
is one drawn from N(m_k, q_k).  Such offers differ as long as something that matters is unknown, and no longer.
"""

from __future__ import annotations

import numpy as np

from askone._common.arithmetic import normal_cdf, normal_quantile
from askone._common.compiled import jit
from askone._common.types import Array
from askone.labels.number import Real

UNIFORMS = 3
"""That an offer takes: whether it explores, by which filter, and how far from its mean."""
_EXPLORES = 0.25  # chosen on simulated shops beside all, half and none of the offers (see docs/prices.md)
_FAINT = 1e-6  # a weight that does not count
_STEPS = 200  # prices that are compared: what the best of them earns is next to what the best of all does


def offered(space: Real) -> Array:
    """Return the prices that are compared, in the user's units: those that can be shown, from the range.

    >>> offered(Real(0, 5, decimals=0)).tolist(), len(offered(Real(10, 20)))
    ([1.0, 2.0, 3.0, 4.0, 5.0], 201)
    """
    low, high = space.lows[0], space.highs[0]
    prices = low + (high - low) * np.arange(_STEPS + 1) / _STEPS
    if space.decimals is not None:
        prices = np.unique(np.round(prices, space.decimals))
    return np.asarray(prices[(prices > 0.0) & (prices >= low) & (prices <= high)])


@jit
def best_of(prices: Array, places: Array, weights: Array, middle: Array, deviation: Array, out: Array) -> None:
    """Write the price that earns most at each row, and D of it, into out, 2 x n (middle and deviation: K x n).

    ``places`` are the prices in unit labels, as the filters have them.
    """
    for i in range(middle.shape[1]):
        most = -1.0
        for j in range(len(prices)):
            taken = 0.0
            for k in range(len(weights)):
                if weights[k] < _FAINT:  # nobody hears it, and there are many
                    continue
                taken += weights[k] * normal_cdf((middle[k, i] - places[j]) / deviation[k, i])
            if prices[j] * taken > most:
                most = prices[j] * taken
                out[0, i], out[1, i] = prices[j], taken


def imagined(uniform: Array, weights: Array, middle: Array, spread: Array, noise: Array) -> tuple[Array, Array] | None:
    """Return the value that Thompson's rule takes for true at a row, and its noise; None: the offer does not explore.

    >>> one = np.ones(1)
    >>> imagined(np.array([0.9, 0.5, 0.5]), one, 3 * one, one, one) is None
    True
    >>> value, noise = imagined(np.array([0.1, 0.5, 0.5]), one, 3 * one, one, 2 * one)
    >>> value.item(), noise.item()
    (3.0, 2.0)
    """
    explores, which, where = uniform.tolist()
    if explores >= _EXPLORES:
        return None
    k = min(int(np.searchsorted(np.cumsum(weights), which * weights.sum(), side="right")), len(weights) - 1)
    drawn = middle[k] + np.sqrt(spread[k]) * normal_quantile(min(max(where, 1e-12), 1.0 - 1e-12))
    return np.full((1, 1), drawn), np.full((1, 1), noise[k])
