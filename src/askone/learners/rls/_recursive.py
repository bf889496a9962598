"""The base of learners by recursive least squares: pseudo-labels in, an exact ridge regression out.

A pseudo-label b^ is made from one bit, with E[b^ | Y = y] the label's point in R^m exactly.  The state is
the minimiser of  lambda |theta|^2 + sum_t w_t |b^_t - theta phi_t|^2  (see ``squares``), where
w_t = 1 / (the variance of pseudo-labels, as known *before* answer t): a weight that looks neither at the
row nor at the draw, so every term stays an unbiased estimate of w_t times the risk, while the many noisy
answers of the beginning do not outweigh the few good ones of later.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import InvalidArgument
from askone.features.maps import FeatureMap
from askone.learners.abilities import AsksMany, Streams, TakesSlopes
from askone.learners.base import as_uniform
from askone.learners.rls import _compiled
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question

_ROWS = 64  # features of so many rows are computed at once in a stream


@final
@dataclass(frozen=True, eq=False)
class RecursiveState:
    """theta (m x p), the factor L of the covariance (p x p), answers learnt, and how noisy they are."""

    theta: Array
    factor: Array
    count: int
    scale: float

    def copied(self) -> RecursiveState:
        """Return the same in arrays of its own."""
        return replace(self, theta=self.theta.copy(), factor=self.factor.copy())


class Recursive(AsksMany[RecursiveState], Streams[RecursiveState], TakesSlopes[RecursiveState]):
    """f(x) = theta phi(x) for fixed features; subclasses make questions and pseudo-labels."""

    features: FeatureMap
    ridge: float | None
    local: ClassVar[bool] = True  # the weight of a bit is that of its own draw

    def __post_init__(self) -> None:
        if not isinstance(self.features, FeatureMap):
            raise InvalidArgument("features", "a FeatureMap, such as Nystroem", type(self.features).__name__)
        if self.ridge is not None:
            as_number(self.ridge, "ridge", 0.0, strict=True)

    @property
    @abstractmethod
    def lambda_(self) -> float:
        """The ridge in use: 1 / (variance of a label's coordinate), unless it was given."""

    @property
    @abstractmethod
    def first_scale(self) -> float:
        """``scale`` before any answer."""

    @abstractmethod
    def origin(self) -> Array:
        """Return what theta = 0 stands for (m numbers)."""

    @abstractmethod
    def question(self, state: RecursiveState, z: Array, uniform: Array) -> Question:
        """Return the question at the prediction z."""

    @abstractmethod
    def lesson(self, state: RecursiveState, z: Array, question: Question, answer: Answer) -> tuple[Array, float, float]:
        """Return (b^ - z, its weight, the next ``scale``) from an answer, at the prediction z of this day."""

    @property
    def columns(self) -> int:
        return self.features.columns

    def init(self) -> RecursiveState:
        """Return theta = 0, S = I / lambda."""
        p = self.features.size
        factor = np.eye(p) / math.sqrt(self.lambda_)
        return RecursiveState(np.zeros((self.space.m, p)), factor, 0, self.first_scale)

    def ask(self, state: RecursiveState, x: ArrayLike, uniform: Array) -> Question:
        """Return the question at the present prediction."""
        phi = self.features(as_row(x, self.columns))[0]
        return self.question(state, self._at(state, phi), as_uniform(uniform, self.width))

    def ask_many(self, state: RecursiveState, X: ArrayLike, uniform: Array) -> list[Question]:
        features = self.features(as_rows(X, self.columns))
        drawn = as_uniform(uniform, len(features), self.width)
        return [self.question(state, self._at(state, phi), u) for phi, u in zip(features, drawn, strict=True)]

    def tell(self, state: RecursiveState, x: ArrayLike, question: Question, answer: Answer) -> RecursiveState:
        """Return one more pseudo-label; an answer that comes late is taken at the prediction of the day it comes."""
        phi = self.features(as_row(x, self.columns))[0]
        return self._told(state.copied(), phi, question, answer)

    def predict(self, state: RecursiveState, X: ArrayLike) -> Array:
        """Return theta phi(x), n x m."""
        return np.asarray(self.features(as_rows(X, self.columns)) @ state.theta.T + self.origin())

    def count(self, state: RecursiveState) -> int:
        return state.count

    def to_arrays(self, state: RecursiveState) -> dict[str, Array]:
        numbers = {"count": np.array(state.count), "scale": np.array(state.scale)}
        return {"theta": state.theta, "factor": state.factor, **numbers}

    def from_arrays(self, arrays: dict[str, Array]) -> RecursiveState:
        return RecursiveState(arrays["theta"], arrays["factor"], int(arrays["count"]), float(arrays["scale"]))

    def stream(self, state: RecursiveState, X: Array, task: StreamTask) -> RecursiveState:
        """See ``Streams.stream``: the same steps, written into one copy of the state."""
        state = state.copied()
        for start in range(0, len(X), _ROWS):
            features = self.features(X[start : start + _ROWS])
            uniform = task.draw(task.first + start, len(features))
            for i, phi in enumerate(features):
                question = self.question(state, self._at(state, phi), uniform[i])
                answer = task.answer(start + i, question)
                if answer is not None:
                    state = self._told(state, phi, question, answer)
        return state

    # -- parts ------------------------------------------------------------------------------------

    def _at(self, state: RecursiveState, phi: Array) -> Array:
        return np.asarray(state.theta @ phi + self.origin())

    def _told(self, state: RecursiveState, phi: Array, question: Question, answer: Answer) -> RecursiveState:
        """Return ``tell`` into arrays that are the caller's own."""
        residual, weight, scale = self.lesson(state, self._at(state, phi), question, question.accept(answer))
        _compiled.learn(state.theta, state.factor, phi, residual, weight)
        return RecursiveState(state.theta, state.factor, state.count + 1, scale)
