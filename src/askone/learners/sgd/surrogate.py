"""Discrete labels by stochastic gradients: a surrogate in R^m, one question per row.

    theta <- theta - eta_t G,     E[G | Y = y] = gradient of the surrogate at y

with a model of m scores; the strategy (``gradients``) makes the question and the gradient, and all
that steps, averages and predicts is that of ``SGDLearner``; so are flips and slips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.errors import InvalidArgument
from askone.labels.base import Discrete
from askone.labels.number import Real
from askone.learners.abilities import AsksMany, HasProbabilities, TakesSlopes
from askone.learners.base import as_uniform
from askone.learners.gradients.base import Strategy
from askone.learners.models.base import Model
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.step_rules import Average, InverseSqrt, StepRule, Uniform
from askone.questions.base import HONEST, Answer, Question


@final
@dataclass(frozen=True, eq=False)
class Surrogate(AsksMany[SGDState], HasProbabilities[SGDState], TakesSlopes[SGDState]):
    """Stochastic gradient descent on a surrogate of a discrete problem.

    >>> import numpy as np
    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> from askone.learners.gradients.subset import Singletons
    >>> from askone.labels.losses import Logistic
    >>> from askone.learners.models.linear import FeatureModel
    >>> animals = Classes(("cat", "lion", "caracal"))
    >>> learner = Surrogate(Singletons(animals, Logistic()), FeatureModel(Linear(Scaler.identity(1))))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.5]))
    >>> str(question)
    'Is it lion?'
    >>> state = learner.tell(state, [0.0], question, True)
    >>> animals.decode(learner.predict(state, [[0.0]]), np.zeros((1, 1))).tolist()
    [['lion']]
    """

    strategy: Strategy
    model: Model[Any]
    step: StepRule = InverseSqrt()
    average: Average = Uniform()
    ridge: float = 0.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.strategy, Strategy):
            raise InvalidArgument("strategy", "a Strategy", type(self.strategy).__name__)
        if not isinstance(self.model, Model):
            raise InvalidArgument("model", "a Model", type(self.model).__name__)
        _ = self._core  # what does not fit together is refused here

    @property
    def space(self) -> Discrete:  # type: ignore[override]  # the strategy's
        return self.strategy.space

    @property
    def local(self) -> bool:
        """See ``TakesSlopes.local``: where the question carries its gradient."""
        return self.strategy.late

    @cached_property
    def _core(self) -> SGDLearner:
        m, steps = self.space.m, (self.step, self.average, self.ridge)
        return SGDLearner(Real((-1.0,) * m, (1.0,) * m), self.model, self.strategy, *steps, self.flip)

    @property
    def columns(self) -> int:
        return self.model.columns

    @cached_property
    def width(self) -> int:
        return self.strategy.width

    def init(self) -> SGDState:
        """Return the model's zero: scores at the strategy's origin."""
        return self._core.init()

    def ask(self, state: SGDState, x: ArrayLike, uniform: Array) -> Question:
        """Return the strategy's question at the present scores."""
        z = self.scores(state, as_row(x, self.columns))[0]
        return self.strategy.ask(z, as_uniform(uniform, self.width), self.count(state))

    def ask_many(self, state: SGDState, X: ArrayLike, uniform: Array) -> list[Question]:
        Z = self.scores(state, as_rows(X, self.columns))
        drawn = as_uniform(uniform, len(Z), self.width)
        return [self.strategy.ask(z, u, self.count(state)) for z, u in zip(Z, drawn, strict=True)]

    def tell(self, state: SGDState, x: ArrayLike, question: Question, answer: Answer) -> SGDState:
        """Return one step against the gradient that the answer gives."""
        row = as_row(x, self.columns)
        gradient = self._taught(question, question.accept(answer), self.scores(state, row)[0])
        late = self.strategy.late and question.learnt is not None
        behind = max(0, self.count(state) - (question.learnt or 0)) if late else 0
        return self._core.descend(state, row, gradient, behind)

    def _taught(self, question: Question, answer: Answer, z: Array) -> Array:
        """Return the gradient that an answer gives: unbiased, however often it is flipped or wrong."""
        rates = question.slips.flipped(self.flip)
        if rates == HONEST or not isinstance(answer, bool):
            return self.strategy.teach(question, answer, z)
        yes, no = rates.unbiased(*(self.strategy.teach(question, bit, z) for bit in (True, False)))
        return np.asarray(yes if answer else no)

    def descend(self, state: SGDState, row: Array, gradient: Array) -> SGDState:
        """Return one step against a gradient of the surrogate that is known."""
        return self._core.descend(state, row, gradient)

    def scores(self, state: SGDState, rows: Array) -> Array:
        """Return the scores at which questions are asked: those of the present iterate, n x m."""
        return self._core.iterate(state, rows) + self.strategy.origin

    def predict(self, state: SGDState, X: ArrayLike) -> Array:
        return self._core.predict(state, X) + self.strategy.origin

    def probabilities(self, state: SGDState, X: ArrayLike) -> Array | None:
        return self.strategy.probabilities(self.predict(state, X))

    def count(self, state: SGDState) -> int:
        return self._core.count(state)

    def to_arrays(self, state: SGDState) -> dict[str, Array]:
        return self._core.to_arrays(state)

    def from_arrays(self, arrays: dict[str, Array]) -> SGDState:
        return self._core.from_arrays(arrays)
