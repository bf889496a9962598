"""Saddle-point updates of the min-max game (see ``equilibrium``): exponentiated gradients for both players.

With v = softmax(a(x)) and mu = softmax(b(x)), S drawn from q = (1 - delta) mu + delta / #sets:

    a <- a + eta (mu_S / q_S) eps (1_S - 1_{S^c}),      b <- b + eta L(v, S, eps) / q_S e_S,

both unbiased for the players' gradients in v and mu.  The average play converges to an equilibrium
where there is one context; with many it is a heuristic, as the paper says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import softmax
from askone._common.compiled import dot
from askone._common.types import Array
from askone._common.validate import as_number, as_row
from askone.errors import InvalidArgument, incompatible
from askone.labels.classes import Allowed, Classes
from askone.labels.losses import Loss, Median
from askone.labels.number import Real
from askone.learners.base import Learner, as_uniform, marked, of_family, unmarked
from askone.learners.gradients.base import Gradient
from askone.learners.models.base import Model
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.step_rules import Average, InverseSqrt, StepRule, Uniform
from askone.questions.base import Answer, Question
from askone.questions.subset import Subset


@final
@dataclass(frozen=True, eq=False)
class GameState:
    """Both players' models, and the sums of v and mu over the rows told so far."""

    prediction: SGDState
    query: SGDState
    played: Array


@final
@dataclass(frozen=True)
class _Player(Gradient):
    """A player's gradient, made elsewhere; ``size`` is what step sizes are measured in."""

    size: float
    loss: Loss = Median()
    family: ClassVar[str] = "game"

    def bound(self, m: int) -> float:
        return self.size


@final
@dataclass(frozen=True, eq=False)
class GameLearner(Learner[GameState]):
    """Proposition 3's game, played on the sets that may be asked (single classes where all may).

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.learners.models.linear import FeatureModel
    >>> learner = GameLearner(Classes(("cat", "lion", "caracal")), FeatureModel(Linear(Scaler.identity(1))))
    >>> question = learner.ask(learner.init(), [0.0], np.array([0.9]))
    >>> str(question), round(question.probability, 3)
    ('Is it caracal?', 0.333)
    """

    space: Classes
    model: Model[Any]
    step: StepRule = InverseSqrt()
    average: Average = Uniform()
    ridge: float = 0.0
    explore: float = 0.1
    width: ClassVar[int] = 1  # which set

    def __post_init__(self) -> None:
        as_number(self.explore, "explore", 0.0, 1.0, strict=True)
        if not isinstance(self.space, Classes) or self.space.drawn_size is not None:
            raise incompatible("questions", "game", "sets that can be listed", ["designed", "singletons"])
        if self.space.allowed is not None and not self.space.allowed.spans:
            raise incompatible("questions", "game", "sets that do not span", ["designed", "bisection", "full"])
        _ = self._prediction, self._query

    @cached_property
    def sets(self) -> Allowed:
        """The query player's choices."""
        return self.space.allowed or Allowed(np.eye(self.space.size), ("",) * self.space.size)

    @cached_property
    def _prediction(self) -> SGDLearner:
        return self._player(self.space.size, 1.0)

    @cached_property
    def _query(self) -> SGDLearner:
        return self._player(len(self.sets), float(len(self.sets)))

    def _player(self, m: int, size: float) -> SGDLearner:
        space = Real((-1.0,) * m, (1.0,) * m)
        return SGDLearner(space, self.model, _Player(size), self.step, self.average, self.ridge)

    @property
    def columns(self) -> int:
        return self.model.columns

    def init(self) -> GameState:
        return GameState(self._prediction.init(), self._query.init(), np.zeros(self.space.size + len(self.sets)))

    def players(self, state: GameState, row: Array) -> tuple[Array, Array]:
        """Return v and mu at one row (1 x columns)."""
        a, b = self._prediction.iterate(state.prediction, row)[0], self._query.iterate(state.query, row)[0]
        return softmax(a), softmax(b)

    def play(self, state: GameState) -> tuple[Array, Array]:
        """Return the average of v and of mu over all rows told."""
        t = max(self.count(state), 1)
        return state.played[: self.space.size] / t, state.played[self.space.size :] / t

    def ask(self, state: GameState, x: ArrayLike, uniform: Array) -> Question:
        """Return a set drawn by the query player."""
        _, mu = self.players(state, as_row(x, self.columns))
        q = (1 - self.explore) * mu + self.explore / len(mu)
        which = min(int(np.searchsorted(np.cumsum(q), as_uniform(uniform, 1)[0])), len(q) - 1)
        members = tuple(self.space.names[i] for i in np.flatnonzero(self.sets.inside[which]))
        drawn = {"probability": float(q[which]), "learnt": self.count(state), "wording": self.space.wording}
        return Subset(members, self.sets.titles[which], **drawn)  # type: ignore[arg-type]  # named fields

    def tell(self, state: GameState, x: ArrayLike, question: Question, answer: Answer) -> GameState:
        """Let both players move; see the module."""
        row = as_row(x, self.columns)
        question = of_family(question, Subset)
        sign, which = (1.0 if question.accept(answer) else -1.0), self._which(question)
        (v, mu), q = self.players(state, row), question.probability
        side = 2 * self.sets.inside[which] - 1
        gain = np.zeros(len(mu))
        gain[which] = -sign * dot(side, v) / q
        return GameState(
            self._prediction.descend(state.prediction, row, -sign * mu[which] / q * side),
            self._query.descend(state.query, row, -gain),
            state.played + np.concatenate([v, mu]),
        )

    def _which(self, question: Subset) -> int:
        inside = self.space.inside(question.members, "question")
        found = np.flatnonzero((self.sets.inside == inside).all(axis=1))
        if len(found) == 0:
            raise InvalidArgument("question", "about a set that may be asked", str(question))
        return int(found[0])

    def predict(self, state: GameState, X: ArrayLike) -> Array:
        """Return the prediction player's averaged scores (v = softmax of them), n x K."""
        return self._prediction.predict(state.prediction, X)

    def count(self, state: GameState) -> int:
        return self._prediction.count(state.prediction)

    def to_arrays(self, state: GameState) -> dict[str, Array]:
        prediction, query = self._prediction.to_arrays(state.prediction), self._query.to_arrays(state.query)
        return {"played": state.played, **marked("prediction-", prediction), **marked("query-", query)}

    def from_arrays(self, arrays: dict[str, Array]) -> GameState:
        prediction = self._prediction.from_arrays(unmarked("prediction-", arrays))
        return GameState(prediction, self._query.from_arrays(unmarked("query-", arrays)), arrays["played"])
