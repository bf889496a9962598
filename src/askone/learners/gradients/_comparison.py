"""Rankings learnt from comparisons: the gradient is taken at the scores of the day the bit is told.

The table of all ranking strategies is in ``pairs``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument, incompatible
from askone.labels.losses import Loss, SignLogistic, Squared
from askone.labels.ranking import Ranking
from askone.learners.gradients.base import Strategy
from askone.questions.base import Answer, Question
from askone.questions.comparison import Prefer


class RankStrategy(Strategy):
    """Base of strategies for orders: no item is ahead at the start; pairs are drawn and turned by lot.

    ``bound`` is the length of G over that of an embedded label: scores have that far to go, so gamma = 1
    is near the best step for few items and for many.
    """

    space: Ranking
    loss: Loss
    embedding: ClassVar[str] = "pairs"
    compares: ClassVar[bool] = False
    """Whether a comparison that was not drawn here can be learnt from."""

    def __post_init__(self) -> None:
        if self.space.embedding != self.embedding:
            raise incompatible("embedding", self.space.embedding, f"{self.family!r} questions", [self.embedding])

    @cached_property
    def origin(self) -> Array:
        return np.zeros(self.space.m)

    def draw(self, uniform: Array, learnt: int) -> Prefer:
        """Return a pair, all alike, from one uniform; which of the two is named first, from another."""
        pair = int(uniform[0] * self.space.P)
        first, second = (int(places[pair]) for places in self.space.pairs)
        if uniform[1] < 0.5:
            first, second = second, first
        names = self.space.items[first], self.space.items[second]
        return Prefer(*names, probability=1.0 / self.space.P, learnt=learnt, wording=self.space.wording)


class PairStrategy(RankStrategy):
    """A pair is asked, and its gradient taken at the scores of the day it is told."""

    compares: ClassVar[bool] = True
    width: ClassVar[int] = 2  # which pair, and which of the two comes first

    def ask(self, z: Array, uniform: Array, learnt: int) -> Prefer:
        return self.draw(uniform, learnt)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return the gradient for s = phi_ij."""
        asked = prefer(question)
        pair, turned = self.space.pair(asked.first, asked.second)
        return self.gradient(pair, turned if answer else -turned, asked.probability, z)

    @abstractmethod
    def gradient(self, pair: int, s: float, probability: float, z: Array) -> Array:
        """Return G for phi_ij = s of a pair that was drawn with this probability, at scores z."""


def prefer(question: Question) -> Prefer:
    """Return the question, if it is about a pair."""
    if not isinstance(question, Prefer):
        raise InvalidArgument("question", "a Prefer", type(question).__name__)
    return question


@final
@dataclass(frozen=True)
class BordaPairs(PairStrategy):
    """Scores of items, least squares on the Borda vector, from an unbiased pseudo-label:

        G = z - b^,   b^ = b_h + (s - h_ij) (e_i - e_j) / ((m-1) pi_ij),

    where h is a guess of phi (from z, clipped to [-1, 1]) and b_h its Borda vector.  Whatever h is,
    E[b^ | y] = b(y); a good guess makes the variance small.

    >>> drinks = Ranking(("tea", "coffee", "milk"), embedding="items")
    >>> BordaPairs(drinks).teach(Prefer("tea", "coffee", 1 / 3), True, np.zeros(3)).tolist()
    [-1.5, 1.5, 0.0]
    """

    space: Ranking
    loss: Squared = Squared()
    slope: float = 1.0
    family: ClassVar[str] = "borda"
    embedding: ClassVar[str] = "items"

    def bound(self, m: int) -> float:
        """Return sqrt(3m/2): |G| at z = 0 is m / sqrt(2), |b(y)| about sqrt(m/3)."""
        return math.sqrt(1.5 * m)

    def gradient(self, pair: int, s: float, probability: float, z: Array) -> Array:
        h = np.clip(self.slope * (z @ self.space.incidence), -1.0, 1.0)
        surprise = (s - h[pair]) / probability
        b = (self.space.incidence @ h + surprise * self.space.incidence[:, pair]) / (self.space.size - 1)
        return np.asarray(z - b)


@final
@dataclass(frozen=True)
class BradleyTerry(PairStrategy):
    """Scores of items, the logistic loss of their differences, sum_ij log(1 + exp(-2 s_ij (z_i - z_j))):

        G = (tanh(z_i - z_j) - s) (e_i - e_j) / pi_ij.

    If i is preferred to j with probability 1 / (1 + exp(-2 (z_i - z_j))) for some z (the
    Bradley-Terry model), this finds z.

    >>> drinks = Ranking(("tea", "coffee", "milk"), embedding="items")
    >>> BradleyTerry(drinks).teach(Prefer("coffee", "tea", 1 / 3), True, np.zeros(3)).tolist()
    [3.0, -3.0, 0.0]
    """

    space: Ranking
    loss: SignLogistic = SignLogistic()
    family: ClassVar[str] = "bradley-terry"
    embedding: ClassVar[str] = "items"

    def bound(self, m: int) -> float:
        """Return P sqrt(6/m): |G| at z = 0 is P sqrt(2); scores are taken to be as long as a Borda vector."""
        return self.space.P * math.sqrt(6.0 / m)

    def gradient(self, pair: int, s: float, probability: float, z: Array) -> Array:
        direction = self.space.incidence[:, pair]
        return np.asarray((np.tanh(z @ direction) - s) / probability * direction)


@final
@dataclass(frozen=True)
class ExactPairs(PairStrategy):
    """Scores of pairs, least squares or logistic: the drawn pair's derivative stands for all.

        G = e_ij (z_ij - s) / pi_ij        or        G = e_ij (tanh(z_ij) - s) / pi_ij

    >>> ExactPairs(Ranking(("tea", "coffee", "milk"))).teach(Prefer("milk", "tea", 1 / 3), True, np.zeros(3)).tolist()
    [0.0, 3.0, 0.0]
    """

    space: Ranking
    loss: Squared | SignLogistic = Squared()
    family: ClassVar[str] = "pairs"

    def bound(self, m: int) -> float:
        """Return sqrt(P): |G| at z = 0 is P, |phi| is sqrt(P)."""
        return math.sqrt(m)

    def gradient(self, pair: int, s: float, probability: float, z: Array) -> Array:
        gradient = np.zeros(len(z))
        at = z[pair] if isinstance(self.loss, Squared) else np.tanh(z[pair])
        gradient[pair] = (at - s) / probability
        return gradient
