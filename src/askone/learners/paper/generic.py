"""The generic scheme of appendix B: any loss with a bounded gradient, asked in parameter space.

    theta <- theta - eta_t 2 B d 1{<U, grad_theta l> >= V} U,   U on the sphere of R^d, V ~ [0, B].

A proof of concept: the step is 2 B d long where Algorithm 1's is 1/c2 ~ sqrt(m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone import theory
from askone._common.arithmetic import power
from askone._common.compiled import dot, times
from askone._common.random_table import sphere
from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument, incompatible
from askone.labels.losses import LOSSES, Loss, Median
from askone.labels.number import Real
from askone.learners import step_loops
from askone.learners.base import Learner, as_uniform, of_family
from askone.learners.models.linear import FeatureModel
from askone.learners.step_rules import InverseSqrt, StepRule
from askone.questions.base import Answer, Question
from askone.questions.slope import Slope


@final
@dataclass(frozen=True, eq=False)
class GenericState:
    """theta, the sum of its iterates (both m x p), and the number of answers."""

    theta: Array
    total: Array
    t: int


@final
@dataclass(frozen=True, eq=False)
class GenericSGD(Learner[GenericState]):
    """SGD by slope questions, with the uniform average.

    B depends on the row: Lipschitz constant x |phi(x)| x half the range bounds |grad_theta l|.

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = GenericSGD(Real(0, 100), FeatureModel(Linear(Scaler.identity(1))))
    >>> question = learner.ask(learner.init(), [0.5], np.array([0.1, 0.2, 0.3]))
    >>> question.holds(20.0), question.holds(80.0)
    (False, True)
    """

    space: Real
    model: FeatureModel
    loss: Loss = Median()
    step: StepRule = InverseSqrt()

    def __post_init__(self) -> None:
        if self.loss.lipschitz(self.space.m) is None:
            fits = [name for name, loss in LOSSES.items() if loss().lipschitz(1) is not None]
            raise incompatible("loss", self.loss.name, "the generic scheme needs a bounded gradient", fits)
        if self.step.code != step_loops.SCHEDULE:
            raise incompatible("step", self.step.name, "generic questions", ["sqrt", "constant", "theorem"])
        if self.space.bundles:
            raise IncompatibleParts("bundles", "left out: slopes are not questions about bundles", self.space.bundles)
        if not isinstance(self.model, FeatureModel):
            raise InvalidArgument("model", "one with a fixed number of coordinates", type(self.model).__name__)

    @property
    def columns(self) -> int:
        return self.model.columns

    @property
    def dimension(self) -> int:
        """d = m p."""
        return self.space.m * self.model.features.size

    @property
    def width(self) -> int:
        """A direction in R^d and a level."""
        return self.dimension + 1

    @cached_property
    def _unit(self) -> float:
        """B of a row with |phi| = 1: what step sizes are measured in."""
        return (self.loss.lipschitz(self.space.m) or 1.0) * float(self.space.scale.max())

    def init(self) -> GenericState:
        zeros = np.zeros((self.space.m, self.model.features.size))
        return GenericState(zeros, zeros, 0)

    def ask(self, state: GenericState, x: ArrayLike, uniform: Array) -> Slope:
        """Return the question: is <U, grad_theta l> at least V?"""
        phi = self.model.features(as_row(x, self.columns))[0]
        uniform = as_uniform(uniform, self.width)
        U = sphere(uniform[None, :-1])[0]
        weights = self.space.scale * times(U.reshape(self.space.m, -1), phi)
        at = self.space.from_unit(times(state.theta, phi))
        bound = self._unit * max(math.sqrt(dot(phi, phi)), 1e-12)
        level = bound * float(uniform[-1])
        return Slope(self.loss, tuple(at.tolist()), tuple(weights.tolist()), level, tuple(U.tolist()), bound)

    def tell(self, state: GenericState, x: ArrayLike, question: Question, answer: Answer) -> GenericState:
        """Return a step against U if the answer is yes."""
        as_row(x, self.columns)
        question = of_family(question, Slope)
        if len(question.direction) != self.dimension:
            raise InvalidArgument("question", f"a direction in R^{self.dimension}", f"R^{len(question.direction)}")
        t = state.t + 1
        # In Algorithm 1's units the gradient 2 B d U of a row with |phi| = 1 has length 1.
        length = float(question.accept(answer)) * question.bound / self._unit
        gamma = self.step.gamma * power(float(t), -self.step.power) * length
        theta = state.theta - gamma * np.reshape(question.direction, state.theta.shape)
        return GenericState(theta, state.total + theta, t)

    def gradient(self, question: Slope, answer: bool) -> Array:
        """Return 2 B d 1{yes} U: unbiased for the gradient in theta."""
        return theory.generic_factor(self.dimension, question.bound) * answer * np.array(question.direction)

    def predict(self, state: GenericState, X: ArrayLike) -> Array:
        """Return the average of the iterates, in the user's units."""
        theta = state.total / state.t if state.t else state.theta
        return self.space.from_unit(self.model.features(as_rows(X, self.columns)) @ theta.T)

    def count(self, state: GenericState) -> int:
        return state.t
