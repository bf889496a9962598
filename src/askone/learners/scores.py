"""Who forecasts best: discounted losses of several forecasters, and how sure their differences are.

With l_it = -log P_i(answer t) and weights w_t that fall with age,

    L_i = sum of w_t l_it ,   z_i = mean(l_i - l_best) / sqrt(var(l_i - l_best) / n) ,   n = (sum w)^2 / sum w^2 ,

z_i is how many standard errors of the paired difference forecaster i is behind the best one, and exp(-z_i) its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.arithmetic import softmax
from askone._common.compiled import jit
from askone._common.types import Array

_MEMORY, _LEAST = 0.5, 50.0  # of all answers: forecasts older than these count little, as forecasters improve
_TINY, _FAR = 1e-12, 50.0
_LAPSE = 0.01


def slipped(chance: Any) -> Any:
    """Return chances of an answer that may be a slip, too: no forecast is ever quite wrong.

    >>> slipped(0.0), slipped(1.0)
    (0.005, 0.995)
    """
    return (1.0 - _LAPSE) * chance + 0.5 * _LAPSE


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
        written = self.losses.copy(), self.squares.copy(), np.array(self.weights)
        hear(losses, heard, *written)
        return Scores(*written[:2], tuple(written[2].tolist()))

    def faded(self, share: float) -> Scores:
        """Return scores in which what was said so far counts for less."""
        total, squared = self.weights
        return Scores(share * self.losses, share * self.squares, (share * total, share * share * squared))

    def best(self, places: Sequence[int]) -> int:
        """Return which of some forecasters has the least loss; ties are the first one's."""
        return min(places, key=lambda i: float(self.losses[i]))

    def behind(self, rival: int) -> Array:
        """Return how far each mean loss is above a rival's, in standard errors of the paired difference."""
        return behind(rival, self.losses, self.squares, np.array(self.weights))

    def shares(self, places: Sequence[int], doubts: Array | None = None, faint: float = 0.0) -> list[float]:
        """Return the share of each of some forecasters, exp(-z - doubt), which add up to 1; of a faint one, nothing."""
        doubted = np.zeros(len(places)) if doubts is None else doubts
        found: list[float] = shares(
            np.array(places), doubted, faint, self.losses, self.squares, np.array(self.weights)
        ).tolist()
        return found


@jit
def hear(new: Array, heard: int, losses: Array, squares: Array, weights: Array) -> None:
    """See ``Scores.after``: in place."""
    keep = 1.0 - 1.0 / max(_MEMORY * heard, _LEAST)
    for i in range(len(new)):
        losses[i] = keep * losses[i] + new[i]
        for j in range(len(new)):
            apart = new[i] - new[j]
            squares[i, j] = keep * squares[i, j] + apart * apart
    weights[0], weights[1] = keep * weights[0] + 1.0, keep * keep * weights[1] + 1.0


@jit
def behind(rival: int, losses: Array, squares: Array, weights: Array) -> Array:
    """See ``Scores.behind``."""
    out, total = np.empty(len(losses)), max(weights[0], 1.0)
    for i in range(len(losses)):
        gap = (losses[i] - losses[rival]) / total
        variance = max(squares[i, rival] / total - gap * gap, 0.0)
        out[i] = gap / max(math.sqrt(variance * weights[1]) / total, _TINY)
    return out


@jit
def shares(places: Array, doubts: Array, faint: float, losses: Array, squares: Array, weights: Array) -> Array:
    """See ``Scores.shares``."""
    best, z = places[0], np.empty(len(places))
    for i in places:
        if losses[i] < losses[best]:
            best = i
    late = behind(best, losses, squares, weights)
    for k in range(len(places)):
        z[k] = -min(late[places[k]], _FAR) - doubts[k]
    found, heard = softmax(z), 0.0
    for k in range(len(places)):
        if found[k] <= faint:
            found[k] = 0.0
        heard += found[k]
    return found / heard if faint > 0.0 else found


@jit
def asked_at(
    own: float, said: Array, places: Array, doubts: Array, faint: float, losses: Array, squares: Array, weights: Array
) -> float:
    """Return what all believe of a row (said: 1 + models), in unit labels; who is not there says the same as it."""
    there = np.zeros(len(said), np.bool_)
    for i in places:
        there[i] = True
    said[0] = own
    for i in range(1, len(said)):
        if not there[i]:
            said[i] = own
    found, believed = shares(places, doubts, faint, losses, squares, weights), 0.0
    for k in range(len(places)):
        believed += found[k] * said[places[k]]
    return believed


@jit
def judge(above: bool, c: float, known: int, said: Array, losses: Array, squares: Array, weights: Array) -> None:
    """Write into the scores who was right about a row, by an honest answer whether its label is above c."""
    new = np.empty(len(said))
    for i in range(len(said)):
        new[i] = c - said[i] if above else said[i] - c
    hear(new, known, losses, squares, weights)
