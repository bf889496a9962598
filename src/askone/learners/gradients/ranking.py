"""Rankings, questions about pairs: what to ask at the scores z, what the bit teaches.

phi = phi(y) in {-1, 1}^P is the order's Kendall embedding, s = phi_ij the answer about a pair.

=============  =============  =====================================  ===============================
loss           family         question                               E[G | Y = y]
=============  =============  =====================================  ===============================
squared        borda          a pair                                 z - b(y), b the Borda vector
logistic       bradley-terry  a pair                                 that of sum log(1+e^-2s(zi-zj))
squared        pairs          a pair                                 z - phi
logistic       pairs          a pair                                 tanh(z) - phi
squared        thresholded    a pair, or known, by a threshold V     z - phi
median         sphere         sum_ij u_ij phi_ij > <z, u>            (z - phi) / |z - phi|
any            full           the order                              the loss's gradient
=============  =============  =====================================  ===============================

All are exactly unbiased (``thresholded`` while |z_ij| <= 2M - 1) when pairs are drawn here; not so for
the comparisons that a ``BestOf`` implies, see there.  There is no l1 loss of pairs: its minimiser is
the majority sign of each pair, which forgets how large the majority is, and so cannot say which
pair of a circle to give up.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from askone import theory
from askone._common.arithmetic import tanh
from askone._common.compiled import dot, times
from askone._common.random_table import sphere
from askone._common.types import Array
from askone._common.validate import as_choice, as_number
from askone.errors import InvalidArgument, incompatible
from askone.labels.losses import Loss, Median, SignLogistic, Squared
from askone.labels.ranking import Ranking
from askone.learners.base import of_family
from askone.learners.gradients.base import Strategy
from askone.questions.base import Answer, Question
from askone.questions.comparison import PairSum, Prefer
from askone.questions.reveal import Reveal


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
        asked = of_family(question, Prefer)
        pair, turned = self.space.pair(asked.first, asked.second)
        return self.gradient(pair, turned if answer else -turned, asked.probability, z)

    @abstractmethod
    def gradient(self, pair: int, s: float, probability: float, z: Array) -> Array:
        """Return G for phi_ij = s of a pair that was drawn with this probability, at scores z."""


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
        h = np.clip(self.slope * times(z, self.space.incidence), -1.0, 1.0)
        surprise = (s - h[pair]) / probability
        b = (times(self.space.incidence, h) + surprise * self.space.incidence[:, pair]) / (self.space.size - 1)
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
        return np.asarray((tanh(float(times(z, direction))) - s) / probability * direction)


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


@final
@dataclass(frozen=True)
class ThresholdedPairs(RankStrategy):
    """The paper's: u = +-e_ij, V uniform on [0, 2M], the bit <z - phi, u> >= V, least squares:

        G = 4 M P 1{<z - phi, u> >= V} u.

    For some V both answers give the same bit.  Then what is learnt is known beforehand, and the
    question, still asked, carries it for both answers.  Unbiased while |z_ij| <= 2M - 1; beyond, G is
    too short.  (With u = e_ij alone, as printed, only the positive parts of z - phi would be seen.)

    >>> strategy = ThresholdedPairs(Ranking(("tea", "coffee", "milk")))
    >>> question = strategy.ask(np.zeros(3), np.array([0.1, 0.9, 0.2, 0.4]), 0)
    >>> str(question), question.yes, question.no
    ('Do you prefer tea or coffee?', 0.0, 12.0)
    """

    space: Ranking
    loss: Squared = Squared()
    limit: float = 1.0
    family: ClassVar[str] = "thresholded"
    late: ClassVar[bool] = True
    width: ClassVar[int] = 4  # which pair, which comes first, the sign of u, and V

    def __post_init__(self) -> None:
        super().__post_init__()
        as_number(self.limit, "limit", 0.0, strict=True)

    def bound(self, m: int) -> float:
        """Return 4 M sqrt(P): |G| is 4MP or 0, |phi| is sqrt(P)."""
        return self._factor / math.sqrt(m)

    @property
    def _factor(self) -> float:
        return 1.0 / theory.c1(self.space.P, self.limit)

    def ask(self, z: Array, uniform: Array, learnt: int) -> Prefer:
        """Return the pair, with what each answer teaches along (first above second)."""
        question = self.draw(uniform, learnt)
        pair, turned = self.space.pair(question.first, question.second)
        side = turned if uniform[2] < 0.5 else -turned
        V, g = 2 * self.limit * uniform[3], side * self._factor
        yes, no = (g * float(side * (turned * z[pair] - s) >= V) for s in (1.0, -1.0))
        return replace(question, yes=yes, no=no)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return what the question carries."""
        asked = of_family(question, Prefer)
        lesson = asked.yes if answer else asked.no
        if lesson is None:
            raise InvalidArgument("question", "one that carries what its answers teach", str(question))
        pair, turned = self.space.pair(asked.first, asked.second)
        return np.asarray(turned * lesson * np.eye(self.space.P)[pair])


@final
@dataclass(frozen=True)
class PairSphere(RankStrategy):
    """Algorithm 1 in R^P: u uniform on the sphere, cut at the prediction; the geometric median.

        G = -u / c2  if  <phi, u> > <z, u>,  else  u / c2

    The questions weigh all pairs at once: fit for simulations, hard on people.
    """

    space: Ranking
    loss: Median = Median()
    family: ClassVar[str] = "sphere"
    late: ClassVar[bool] = True

    @property
    def width(self) -> int:
        return self.space.P

    def bound(self, m: int) -> float:
        """Return 1 / (c2 sqrt(P)), about sqrt(pi/2): |G| is 1/c2, |phi| is sqrt(P)."""
        return 1.0 / (theory.c2(m) * math.sqrt(m))

    def ask(self, z: Array, uniform: Array, learnt: int) -> PairSum:
        """Is <phi, u> above <z, u>?"""
        u = sphere(uniform[None, :])[0]
        return PairSum(self.space.items, tuple(u.tolist()), float(dot(u, z)), learnt=learnt)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return -+ u / c2."""
        if not isinstance(question, PairSum) or question.items != self.space.items:
            raise InvalidArgument("question", f"a PairSum about {self.space.size} items", str(question))
        u = np.array(question.weights)
        return np.asarray((-u if answer else u) / theory.c2(self.space.P))


@final
@dataclass(frozen=True)
class FullOrder(RankStrategy):
    """The supervised baseline: the whole order is asked for."""

    space: Ranking
    loss: Loss = Squared()
    family: ClassVar[str] = "full"
    width: ClassVar[int] = 0  # nothing is drawn

    def bound(self, m: int) -> float:
        """Return the loss's Lipschitz constant over |phi| (1 for least squares, which has none)."""
        limit = self.loss.lipschitz(m)
        return 1.0 if limit is None else limit / math.sqrt(m)

    def ask(self, z: Array, uniform: Array, learnt: int) -> Reveal:
        return Reveal(self.space.size, names=self.space.items)

    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return the loss's gradient at the order's embedding."""
        if not isinstance(question, Reveal) or isinstance(answer, bool):
            raise InvalidArgument("question", "a Reveal", type(question).__name__)
        return np.asarray(self.loss.gradient(z[None, :], self.space.points([answer]))[0])


RANK_PAIRS: dict[tuple[str, str], type[RankStrategy]] = {
    ("squared", "borda"): BordaPairs,
    ("logistic", "bradley-terry"): BradleyTerry,
    ("squared", "pairs"): ExactPairs,
    ("logistic", "pairs"): ExactPairs,
    ("squared", "thresholded"): ThresholdedPairs,
    ("median", "sphere"): PairSphere,
    **{(loss, "full"): FullOrder for loss in ("squared", "logistic", "median")},
}
RANK_FAMILIES = tuple(dict.fromkeys(family for _, family in RANK_PAIRS))
RANK_LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Squared, SignLogistic, Median)}


def rank_strategy(space: Ranking, loss: Loss | None, family: str) -> RankStrategy:
    """Return the strategy of a surrogate (None: the family's own) and a question family, scoring what it needs to.

    >>> rank_strategy(Ranking(("tea", "coffee")), None, "borda").space.embedding
    'items'
    >>> rank_strategy(Ranking(("tea", "coffee")), Median(), "borda")
    Traceback (most recent call last):
    askone.errors.IncompatibleParts: loss must be one of: 'squared' ('borda' questions); got median
    """
    as_choice(family, "questions", RANK_FAMILIES)
    fits = [name for name, fam in RANK_PAIRS if fam == family]
    chosen = RANK_LOSSES[fits[0]]() if loss is None else loss
    found = RANK_PAIRS.get((chosen.name, family))
    if found is None or type(chosen) is not RANK_LOSSES[chosen.name]:
        raise incompatible("loss", chosen.name, f"{family!r} questions", fits)
    scored = replace(space, embedding=found.embedding)
    return found(space=scored, loss=chosen)  # type: ignore[call-arg]  # every one is a dataclass with these
