"""The base of every (loss, question family) pair."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from askone._common.types import Array
from askone.labels.base import Discrete
from askone.labels.losses import Loss
from askone.questions.base import Answer, Question


class Gradient(ABC):
    """One (loss, family) pair."""

    family: ClassVar[str]
    unbiased: ClassVar[bool] = True
    single_output: ClassVar[bool] = False
    loss: Loss

    def bound(self, m: int) -> float:
        """Return B: a (typical, where there is none) bound on |g|; Algorithm 1's gamma is B times the true step.

        Where nothing is drawn it is the loss's Lipschitz constant (1 for least squares, which has none).
        """
        return self.loss.lipschitz(m) or 1.0


class Strategy(Gradient):
    """One pair on a discrete space: it makes whole questions at the scores z, and gradients in R^m.

    Where the gradient is fixed when the question is asked (``late``), the question carries it; else
    it carries what it was drawn with, and the gradient is taken at the scores of the day it is told.
    """

    space: Discrete
    late: ClassVar[bool] = False

    @property
    @abstractmethod
    def width(self) -> int:
        """How many uniforms one question uses."""

    @property
    @abstractmethod
    def origin(self) -> Array:
        """The scores before any answer (m numbers): what a model's zero stands for."""

    @abstractmethod
    def ask(self, z: Array, uniform: Array, learnt: int) -> Question:
        """Return the question at scores z, from a row of uniforms, after so many answers."""

    @abstractmethod
    def teach(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return the gradient (m numbers) that an accepted answer gives at scores z."""

    def probabilities(self, scores: Array) -> Array | None:
        """Return estimates of p(y|x), n x classes, where the surrogate has them."""
        return None
