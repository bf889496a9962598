"""Prices that earn most, by what a bank of filters knows of the value that somebody sets on an offer.

Whoever values an offer at Y > c buys it at the price c.  Filter k says Y ~ N(m_k, q_k + s_k^2), m_k and q_k the mean
and the variance of what it predicts, s_k its noise, so that by all filters, of weights w_k, a price earns

    r(c) = c D(c),   D(c) = sum_k w_k Phi((m_k - c) / sqrt(q_k + s_k^2)).

Always the best price by what is believed may never be found out to be a poor one: answers there say nothing of other
prices.  So one offer in four is Thompson's: the best price if one filter, drawn by weight, is right, and its prediction
is one drawn from N(m_k, q_k).  Such offers differ as long as something that matters is unknown, and no longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from askone._common.arithmetic import normal_cdf, normal_quantile
from askone._common.compiled import jit
from askone._common.types import Array
from askone.labels.number import Real
from askone.learners.kalman._bank import Bank
from askone.learners.kalman._grid import FilterGrid

UNIFORMS = 3
"""That an offer takes: whether it explores, by which filter, and how far from its mean."""
_EXPLORES = 0.25  # chosen on simulated shops beside all, half and none of the offers (see docs/prices.md)
_FAINT = 1e-6  # a weight that does not count
_FINEST = 1e4  # the least price that is compared, as a part of the highest
_STEPS = 200  # prices that are compared: what the best of them earns is next to what the best of all does


@final
@dataclass(frozen=True, eq=False)
class Prices:
    """The prices of one output, and which of them earns most by the filters of its bank.

    >>> from askone.learners.kalman.regressor import FilterLearner
    >>> from askone.features.maps import Intercept
    >>> shop = FilterLearner(Real(0, 5, decimals=0), (Intercept(1),), goal="revenue")
    >>> Prices(shop.filters, shop.space).offers[0].tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """

    grid: FilterGrid
    space: Real

    @cached_property
    def offers(self) -> tuple[Array, Array]:
        """The prices that are compared: those that can be shown, from the range; and the same in unit labels."""
        low, high = self.space.lows[0], self.space.highs[0]
        even = low + (high - low) * (np.arange(_STEPS + 1) / _STEPS)
        prices = np.union1d(even, high / _FINEST ** (np.arange(_STEPS // 2) / (_STEPS // 2)))  # most may pay little
        if self.space.decimals is not None:
            prices = np.unique(np.round(prices, self.space.decimals))
        prices = prices[(prices > 0.0) & (prices >= low) & (prices <= high)]
        return prices, self.space.to_unit(prices[:, None])[:, 0].copy()

    def best(self, bank: Bank, at: Array, spread: Array) -> Array:
        """Return the price that earns most at each row, and the chance that it is paid, 2 x n."""
        noise = self.grid.noise(bank)[:, None]
        return self._best(bank.weights, at - self.grid.lean * noise, np.sqrt(spread + noise**2))

    def offer(self, bank: Bank, row: Array, uniform: Array) -> float:
        """Return the price to offer to whom a row describes."""
        at, spread = bank.seen_at(row, lambda: self.grid.features(row, self.grid.in_use(bank)), self.grid.places(bank))
        tried = imagined(uniform, bank.weights, at[:, 0], spread[:, 0], self.grid.noise(bank))
        found = self.best(bank, at, spread) if tried is None else self._best(np.ones(1), *tried)
        return float(found[0, 0])

    def _best(self, weights: Array, middle: Array, deviation: Array) -> Array:
        out = np.empty((2, middle.shape[1]))
        best_of(*self.offers, weights, middle, deviation, out)
        return out


@jit
def best_of(prices: Array, places: Array, weights: Array, middle: Array, deviation: Array, out: Array) -> None:
    """Write the price that earns most at each row, and D of it, into out, 2 x n (middle and deviation: K x n).

    ``places`` are the prices in unit labels, as the filters have them.
    """
    for i in range(middle.shape[1]):
        most = -1.0
        out[0, i], out[1, i] = prices[0], 0.0
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
