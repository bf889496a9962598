"""What the filters of all banks say together: predictions, how sure they are, quantiles of labels and of thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtr

from askone._common.arithmetic import normal_quantile
from askone._common.compiled import times
from askone._common.types import Array
from askone._common.validate import as_number
from askone.labels.number import Real
from askone.learners.kalman._bank import CHUNK, Bank
from askone.learners.kalman._grid import FilterGrid
from askone.learners.kalman.pricing import Prices

_SEVERAL = 64  # rows from which on filters that nobody hears have no say in deviations and intervals
_FAINT = 1e-5  # of the largest weight: such filters are below it
_WIDER = 1.4  # for the variance that a filter claims of a quantile: chosen by coverage in simulations
_HALVINGS = 45
_NEAR = 1e-11  # of a quantile, in unit labels
_ROOT = math.sqrt(2 * math.pi)
_FAR = 10.0  # deviations from a filter's mean that no quantile is asked for


@final
@dataclass(frozen=True, eq=False)
class Predictive:
    """The predictive distribution at a state: a bank for each output."""

    grid: FilterGrid
    space: Real
    banks: tuple[Bank, ...]

    def mean(self, rows: Array) -> Array:
        """Return the mean of the filters, in the user's units."""
        values = np.zeros((len(rows), self.space.m))
        thetas = [bank.blended(self.grid.places(bank), len(self.grid.maps)) for bank in self.banks]
        for g in self.grid.in_use(*self.banks):
            features = self.grid.seen_by(g, rows)
            for j, theta in enumerate(thetas):
                values[:, j] += times(features, theta[g, : features.shape[1]])
        return self._shown(values)

    def std(self, rows: Array) -> Array:
        """Return the standard deviation of what is predicted (not of the labels), in the user's units, n x m."""

        def spread_of(bank: Bank, at: Array, spread: Array) -> Array:
            return np.asarray(np.sqrt(bank.weights @ (spread + (at - bank.weights @ at) ** 2)))

        return np.asarray(self._each(rows, spread_of) * self.space.scale)

    def doubt(self, rows: Array) -> Array:
        """Return sqrt(x^T S x + s^2), the mean of the filters, in unit labels, n x m."""

        def doubt_of(bank: Bank, _: Array, spread: Array) -> Array:
            return np.asarray(bank.weights @ np.sqrt(spread + self.grid.noise(bank)[:, None] ** 2))

        return self._each(rows, doubt_of)

    def forecast(self, rows: Array) -> Array:
        """Return the quantile of a label as far as it is known, n x m: t with P(Y <= t) = tau by weighted filters.

        Filter k says N(mu - s Phi^-1(tau), s^2 + 1.4 q).  More than q, its variance, is a rule of thumb: which filter
        is right, and that no feature map quite is, is not in q, and simulated intervals of q alone were too narrow.
        """

        def end_of(bank: Bank, at: Array, spread: Array) -> Array:
            return self._quantile_of(bank, at, _WIDER * spread, self.grid.quantile, math.inf)

        return self._shown(self._each(rows, end_of))

    def interval(self, rows: Array, level: float) -> tuple[Array, Array]:
        """Return ends that hold ``level`` of the labels by the filters' forecasts, n x m each.

        Filter k says N(mu - s Phi^-1(tau), s^2 + q), of which only what is within a declared range can be.  The noise
        s is what fits where it was asked: intervals that hold for any law of labels ask about their ends (see
        ``Intervals``).
        """
        end = math.inf if self.space.is_found else 1.0

        def ends_of(bank: Bank, at: Array, spread: Array) -> Array:
            return np.array([self._quantile_of(bank, at, spread, 0.5 + side * level / 2, end) for side in (-1, 1)])

        low, high = (self._shown(one) for one in self._each(rows, ends_of, 2))
        return low, high

    def thresholds(self, rows: Array, p: float, held: float) -> Array:
        """Return t with P(Y > t) = p, and ends that hold it with the chance ``held``, 3 x n x m.

        Filter k says N(mu - s (Phi^-1(tau) + Phi^-1(p)), 1.4 q) of it (1.4 as in ``forecast``), and all of them by
        weight.
        """
        aside, ends = self.grid.lean + normal_quantile(p), _tails(held)

        def ends_of(bank: Bank, at: Array, spread: Array) -> Array:
            noise, deviation = self.grid.noise(bank)[:, None], np.sqrt(_WIDER * spread)
            return np.array([_mixed(bank.weights, at - aside * noise, deviation, tau, math.inf) for tau in ends])

        return self.space.from_unit(self._each(rows, ends_of, 3))

    def noise(self, held: float) -> Array:
        """Return quantiles of the noise, 3 x m: of the weights, each spread evenly in log s towards its neighbours."""
        found, tails, noises = np.empty((3, self.space.m)), _tails(held), self.grid.noises
        for j, bank in enumerate(self.banks):
            logs, which = np.unique(np.log(self.grid.noise(bank)), return_inverse=True)
            between = (logs[1:] + logs[:-1]) / 2
            reach = math.log(noises[-1] / noises[0]) / max(len(noises) - 1, 1)  # half of a first step
            edges = np.concatenate([[logs[0] - reach], between, [logs[-1] + reach]])
            below = np.append(0.0, np.cumsum(np.bincount(which, bank.weights)))
            found[:, j] = np.exp(np.interp(tails, below, edges)) * self.space.scales[j]
        return found

    def prices(self, rows: Array, prices: Prices) -> Array:
        """Return the price that earns most at each row, and the chance that it is paid, 2 x n."""
        return np.asarray(self._each(rows, prices.best, 2)[:, :, 0])

    def _quantile_of(self, bank: Bank, at: Array, spread: Array, tau: float, end: float) -> Array:
        """Return t with P(Y <= t | -end <= Y <= end) = tau by weighted filters, in unit labels, for each row."""
        noise = self.grid.noise(bank)[:, None]
        return _mixed(bank.weights, at - self.grid.lean * noise, np.sqrt(spread + noise**2), tau, end)

    def _each(self, rows: Array, value: Callable[[Bank, Array, Array], Array], *more: int) -> Array:
        """Return a function of the filters' means and variances at each row, for each output, (more x) n x m."""
        banks = self.banks
        if len(rows) >= _SEVERAL:  # filters that nobody hears would take most of the time
            banks = tuple(bank.taken(np.flatnonzero(bank.weights > _FAINT * bank.weights.max())) for bank in banks)
        wanted = self.grid.in_use(*banks)
        out = np.empty((*more, len(rows), self.space.m))
        for first in range(0, len(rows), CHUNK):
            features = self.grid.features(rows[first : first + CHUNK], wanted)
            for j, bank in enumerate(banks):
                out[..., first : first + CHUNK, j] = value(bank, *self.grid.seen(bank, features))
        return out

    def _shown(self, values: Array) -> Array:
        """Return unit labels in the user's units, within the range."""
        return self.space.clipped(self.space.from_unit(values))


def _tails(held: float) -> tuple[float, float, float]:
    """Return the quantiles of the middle and of both ends of an interval."""
    tail = (1.0 - as_number(held, "interval", 0.0, 1.0, strict=True)) / 2
    return 0.5, tail, 1.0 - tail


def _mixed(weights: Array, middle: Array, deviation: Array, tau: float, end: float) -> Array:
    """Return t with P(Y <= t | -end <= Y <= end) = tau by weighted normal laws, K x n, for each row."""
    side = np.where(weights @ middle < 0, -1.0, 1.0)  # turned, so that small tails are those with digits
    middle = middle * side

    def below(t: Array | float) -> Array:
        return np.asarray(weights @ ndtr((t - middle) / deviation))

    share = np.where(side < 0, 1 - tau, tau)
    wanted = below(-end) * (1 - share) + below(end) * share
    low, high = np.full((2, middle.shape[1]), [[-end], [end]])
    if math.isinf(end):
        low, high = (middle - _FAR * deviation).min(axis=0), (middle + _FAR * deviation).max(axis=0)
    t = np.clip(weights @ middle, low, high)
    for _ in range(_HALVINGS):  # Newton's steps, or halves where these lead out of what is known
        z = (t - middle) / deviation
        excess = weights @ ndtr(z) - wanted
        low, high = np.where(excess <= 0, t, low), np.where(excess > 0, t, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = excess / (weights @ (np.exp(-0.5 * z * z) / (deviation * _ROOT)))
        near = np.abs(step) <= _NEAR  # whatever the other rows need
        inside = (t - step > low) & (t - step < high)
        after = np.where(near, t, np.where(inside, t - step, (low + high) / 2))
        if near.all() or (after == t).all():
            break
        t = after
    return np.asarray(side * t)
