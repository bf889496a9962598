"""Who forecasts best: discounted losses of several forecasters, and how sure their differences are.

With l_it = -log P_i(answer t) and weights w_t that fall with age,

    L_i = sum of w_t l_it ,   z_i = mean(l_i - l_best) / sqrt(var(l_i - l_best) / n) ,   n = (sum w)^2 / sum w^2 ,

z_i is how many standard errors of the paired difference forecaster i is behind the best one, and exp(-z_i) its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from askone._common.arithmetic import softmax
from askone._common.types import Array

_MEMORY, _LEAST = 0.5, 50.0  # of all answers: forecasts older than these count little, as forecasters improve
_TINY, _FAR = 1e-12, 50.0


@final
class Scores(NamedTuple):
    """The discounted losses, the squares of their differences, and the sums of the discounts and of their squares."""

    losses: Array
    squares: Array
    weights: tuple[float, float]

    @classmethod
    def none(cls, forecasters: int) -> Scores:
        """Return those of forecasters that have said nothing."""
        return cls(np.zeros(forecasters), np.zeros((forecasters, forecasters)), (0.0, 0.0))

    def after(self, losses: Array, heard: int) -> Scores:
        """Return the scores after one more loss of each, when so many answers have been heard."""
        keep = 1.0 - 1.0 / max(_MEMORY * heard, _LEAST)
        total, squared = self.weights
        apart = losses[:, None] - losses[None, :]
        weights = (keep * total + 1.0, keep * keep * squared + 1.0)
        return Scores(keep * self.losses + losses, keep * self.squares + apart * apart, weights)

    def faded(self, share: float) -> Scores:
        """Return scores in which what was said so far counts for less."""
        total, squared = self.weights
        return Scores(share * self.losses, share * self.squares, (share * total, share * share * squared))

    def best(self, places: Sequence[int]) -> int:
        """Return which of some forecasters has the least loss; ties are the first one's."""
        return min(places, key=lambda i: float(self.losses[i]))

    def behind(self, rival: int) -> Array:
        """Return how far each mean loss is above a rival's, in standard errors of the paired difference."""
        total, squared = max(self.weights[0], 1.0), self.weights[1]
        gap = (self.losses - self.losses[rival]) / total
        variance = np.maximum(self.squares[:, rival] / total - gap * gap, 0.0)
        return np.asarray(gap / np.maximum(np.sqrt(variance * squared) / total, _TINY))

    def shares(self, places: Sequence[int], doubts: Array | None = None) -> list[float]:
        """Return the share of each of some forecasters, exp(-z - doubt), which add up to 1."""
        behind = np.minimum(self.behind(self.best(places))[list(places)], _FAR)
        shares: list[float] = softmax(-behind if doubts is None else -behind - doubts).tolist()
        return shares
