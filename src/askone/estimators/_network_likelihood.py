"""Likelihoods of answers given a model's predictions: one per family of questions.

Each question becomes a vector and a number, so that a batch of them is two arrays; the formulas are
those of ``networks``.  The array library comes as an argument: nothing here imports torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.base import of_family
from askone.questions.base import Question
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace, in_unit_labels
from askone.questions.subset import Subset

_IMPOSSIBLE = -1e4  # log of what never happens: finite, for gradients


class Likelihood(ABC):
    """log P(yes) and log P(no) of a batch of questions, given n x outputs predictions."""

    space: Real | FiniteSpace | Ranking

    @property
    def outputs(self) -> int:
        """How many numbers a model predicts: one per output, class or item."""
        return self.space.m if isinstance(self.space, Real) else self.space.size

    @abstractmethod
    def encode(self, question: Question) -> tuple[list[float], float]:
        """Return a question as a vector (outputs) and a number."""

    @abstractmethod
    def logs(self, torch: Any, values: Any, vectors: Any, numbers: Any, noise: Any) -> tuple[Any, Any]:
        """Return log P(yes), log P(no): n each."""


@final
@dataclass(frozen=True)
class _HalfSpaces(Likelihood):
    """Phi((<f, u> - c) / s_u), in unit labels."""

    space: Real

    def encode(self, question: Question) -> tuple[list[float], float]:
        """Return u and c."""
        return in_unit_labels(self.space, of_family(question, HalfSpace))

    def logs(self, torch: Any, values: Any, vectors: Any, numbers: Any, noise: Any) -> tuple[Any, Any]:
        spread = torch.sqrt(((vectors * noise) ** 2).sum(dim=1))
        ahead = ((values * vectors).sum(dim=1) - numbers) / spread
        return torch.special.log_ndtr(ahead), torch.special.log_ndtr(-ahead)


@final
@dataclass(frozen=True)
class _Sets(Likelihood):
    """The sum over the set of the softmax."""

    space: FiniteSpace

    def encode(self, question: Question) -> tuple[list[float], float]:
        """Return 1 for members, else 0."""
        return self.space.inside(of_family(question, Subset).members, "question").tolist(), 0.0

    def logs(self, torch: Any, values: Any, vectors: Any, numbers: Any, noise: Any) -> tuple[Any, Any]:
        logs = torch.log_softmax(values, dim=1)
        inside, outside = (torch.where(side, logs, _IMPOSSIBLE) for side in (vectors > 0.5, vectors < 0.5))
        return torch.logsumexp(inside, dim=1), torch.logsumexp(outside, dim=1)


@final
@dataclass(frozen=True)
class _Pairs(Likelihood):
    """Bradley and Terry's: the sigmoid of a difference of scores."""

    space: Ranking

    def encode(self, question: Question) -> tuple[list[float], float]:
        """Return 1 for the first item, -1 for the second, else 0."""
        question = of_family(question, Prefer)
        first, second = (self.space.index(name, "question") for name in (question.first, question.second))
        return [float(k == first) - float(k == second) for k in range(self.space.size)], 0.0

    def logs(self, torch: Any, values: Any, vectors: Any, numbers: Any, noise: Any) -> tuple[Any, Any]:
        ahead = (values * vectors).sum(dim=1)
        return torch.nn.functional.logsigmoid(ahead), torch.nn.functional.logsigmoid(-ahead)


def likelihood_of(space: Space) -> Likelihood:
    """Return the likelihood of the answers about labels of a space.

    >>> likelihood_of(Real(0, 100)).encode(HalfSpace((1.0,), 75.0))
    ([1.0], 0.5)
    """
    if isinstance(space, Real):
        return _HalfSpaces(space)
    if isinstance(space, FiniteSpace):
        return _Sets(space)
    if isinstance(space, Ranking):
        return _Pairs(space)
    raise InvalidArgument("space", "a Real, Classes, Finite or Ranking", type(space).__name__)
