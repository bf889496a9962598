"""Recursive least squares on unbiased pseudo-labels: nothing to tune, nothing biased.

``PseudoLabels`` for discrete labels, around any strategy of the squared loss (its gradient at z is
z - b^), ``PseudoMeans`` for real ones.

A pseudo-label b^ is made from one bit, with E[b^ | Y = y] the label's point in R^m exactly.  The state is
the minimiser of  lambda |theta|^2 + sum_t w_t |b^_t - theta phi_t|^2  (see ``_compiled``), where
w_t = 1 / (the variance of pseudo-labels, as known *before* answer t): a weight that looks neither at the
row nor at the draw, so every term stays an unbiased estimate of w_t times the risk, while the many noisy
answers of the beginning do not outweigh the few good ones of later.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import exp
from askone._common.compiled import dot, times
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument, incompatible
from askone.features.maps import FeatureMap
from askone.labels.base import Discrete
from askone.labels.classes import FiniteSpace
from askone.labels.losses import Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.abilities import AsksMany, HasProbabilities, Streams, TakesSlopes
from askone.learners.base import as_uniform, of_family
from askone.learners.gradients.base import Strategy
from askone.learners.gradients.half_space import HalfCauchy
from askone.learners.rls import _compiled
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace, half_space, in_unit_labels

_ROWS = 64  # features of so many rows are computed at once in a stream
_ORDERS = 4.0  # an order does not mind scores that are all too small, so it takes more ridge than a mean does
_WINDOW, _WARM = 3.0, 10.0  # the variance is a mean over about the last third of the answers, begun as if after ten
_LEAST = 1e-9  # of its first value: the variance of pseudo-labels counts as no smaller

_HITS = 0.2  # the share of answers that tell something, at which half-Cauchy thresholds suit the errors
_GAIN, _AFTER = 16.0, 40.0  # the logarithm of the scale moves by 16/(t + 40) times the surprise
_VARIANCE = 6.0  # of a pseudo-label, in squared scales, at that share (4.1 / .82^2)
_FINEST, _WIDEST = 1e-9, 1e9  # of the scale, in half ranges


@final
@dataclass(frozen=True, eq=False)
class RecursiveState:
    """theta (m x p), the factor L of the covariance (p x p), answers learnt, and how noisy they are."""

    theta: Array
    factor: Array
    count: int
    scale: float

    def copied(self) -> RecursiveState:
        """Return a copy of the state, whose arrays may be written into."""
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
        return times(state.theta, phi) + self.origin()

    def _told(self, state: RecursiveState, phi: Array, question: Question, answer: Answer) -> RecursiveState:
        """Return ``tell`` into arrays that are the caller's own."""
        residual, weight, scale = self.lesson(state, self._at(state, phi), question, question.accept(answer))
        _compiled.learn(state.theta, state.factor, phi, residual, weight)
        return RecursiveState(state.theta, state.factor, state.count + 1, scale)


@final
@dataclass(frozen=True, eq=False)
class PseudoLabels(Recursive, HasProbabilities[RecursiveState]):
    """Discrete labels: b^ = z - G with the gradient G of a strategy whose loss is squared.

    Designed sets and single classes (``gradients.subset``), pairs by Borda or one by one
    (``gradients.ranking``), full labels.  Whatever z is, E[b^ | Y = y] is the embedding of y; a good z
    makes its variance small.  The ridge is one over the variance of the embedded labels' coordinates
    (four times that for orders).

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> from askone.learners.gradients.subset import Singletons
    >>> animals = Classes(("cat", "lion", "caracal"))
    >>> learner = PseudoLabels(Singletons(animals, Squared()), Linear(Scaler.identity(1)))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.5]))
    >>> str(question)
    'Is it lion?'
    >>> state = learner.tell(state, [0.0], question, True)
    >>> animals.decode(learner.predict(state, [[0.0]]), np.zeros((1, 1))).tolist()
    [['lion']]
    """

    strategy: Strategy
    features: FeatureMap
    ridge: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.strategy, Strategy):
            raise InvalidArgument("strategy", "a Strategy", type(self.strategy).__name__)
        if not isinstance(self.strategy.loss, Squared):
            raise incompatible("loss", self.strategy.loss.name, "recursive least squares", ["squared"])
        if self.strategy.late or not self.strategy.unbiased:
            fits = ["designed", "singletons", "borda", "pairs", "full"]
            raise incompatible("questions", self.strategy.family, "recursive least squares", fits)

    @property
    def space(self) -> Discrete:  # type: ignore[override]  # the strategy's
        return self.strategy.space

    @cached_property
    def width(self) -> int:
        return self.strategy.width

    @cached_property
    def _variance(self) -> float:
        """Of a coordinate of embedded labels, all labels alike, around the origin."""
        space = self.space
        if isinstance(space, Ranking):  # the same for every order
            points = space.points([space.items])
        else:
            assert isinstance(space, FiniteSpace)
            points = space.embedding
        return float(np.mean((points - self.origin()) ** 2))

    @cached_property
    def lambda_(self) -> float:
        if self.ridge is not None:
            return self.ridge
        return (_ORDERS if isinstance(self.space, Ranking) else 1.0) / self._variance

    @property
    def first_scale(self) -> float:
        """m times the labels' variance: one bit stands for m coordinates."""
        return self.space.m * self._variance

    def origin(self) -> Array:
        return self.strategy.origin

    def question(self, state: RecursiveState, z: Array, uniform: Array) -> Question:
        return self.strategy.ask(z, uniform, state.count)

    def lesson(self, state: RecursiveState, z: Array, question: Question, answer: Answer) -> tuple[Array, float, float]:
        """Return b^ - z = -G; the scale is the running mean of |b^ - z|^2 / m."""
        residual = -self.strategy.teach(question, answer, z)
        rate = _WINDOW / (state.count + _WARM + _WINDOW)
        scale = state.scale + rate * (dot(residual, residual) / self.space.m - state.scale)
        return residual, 1.0 / state.scale, max(scale, _LEAST * self.first_scale)

    def probabilities(self, state: RecursiveState, X: ArrayLike) -> Array | None:
        return self.strategy.probabilities(self.predict(state, X))


@final
@dataclass(frozen=True, eq=False)
class PseudoMeans(Recursive):
    """Real labels: the mean, without a bound on them, from thresholds at the scale of the errors.

    A threshold c is drawn around the prediction along u, by the density q/2 of ``HalfCauchy``; then

        b^ = z + m (1{<Y, u> > c} - 1{<z, u> > c}) 2/q(c) u

    has mean y for *any* z that does not depend on the draw: that of the day the answer comes.  The scale of
    the thresholds follows the answers: it is such that one in five differs from what z says (beforehand
    known, so it costs no bias).  The ridge is 1 in unit labels.  Exact up to the rounding of thresholds.

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = PseudoMeans(Real(0, 100, decimals=1), Linear(Scaler.identity(1)))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.array([0.9, 0.25]))
    >>> str(question)
    'Is the value above 29.3?'
    >>> state = learner.tell(state, [0.0], question, False)      # less than it was thought
    >>> bool(learner.predict(state, [[0.0]]).item() < 50)
    True
    """

    space: Real
    features: FeatureMap
    ridge: float | None = None
    first_scale: ClassVar[float] = 1.0  # half the range

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.space, Real):
            raise InvalidArgument("space", "Real", type(self.space).__name__)
        if self.space.bundles:
            raise IncompatibleParts("bundles", "left out: recursive least squares", "some")

    @cached_property
    def width(self) -> int:
        """A direction and a threshold."""
        return self.space.m + 1

    @property
    def lambda_(self) -> float:
        """1: labels of the range's size."""
        return 1.0 if self.ridge is None else self.ridge

    def origin(self) -> Array:
        """Return the middle of the range."""
        return np.zeros(self.space.m)

    def question(self, state: RecursiveState, z: Array, uniform: Array) -> Question:
        """Is <y, u> above a threshold near <z, u>?"""
        plan = HalfCauchy(spread=state.scale).plan(self.space.m, uniform[None])
        u, turned = plan.directions[0], plan.turned is not None and bool(plan.turned[0])
        c = float(dot(z, u) - plan.offset[0])
        return half_space(self.space, u.tolist(), c, float(plan.density[0]), state.count, turned)

    def lesson(self, state: RecursiveState, z: Array, question: Question, answer: Answer) -> tuple[Array, float, float]:
        question = of_family(question, HalfSpace)
        u, c = in_unit_labels(self.space, question)
        surprise = float(bool(answer)) - float(dot(z, np.array(u)) > c)
        residual = surprise * (2 * self.space.m / question.density) * np.array(u)
        weight = 1.0 / (_VARIANCE * self.space.m * state.scale**2)
        # Answers of one batch were asked at one scale: together they move it as far as a few would.
        late = 0 if question.learnt is None else max(0, state.count - question.learnt)
        move = _GAIN / (state.count + _AFTER) / (1 + late) * (abs(surprise) - _HITS)
        return residual, weight, min(max(state.scale * exp(move), _FINEST), _WIDEST)

    def predict(self, state: RecursiveState, X: Any) -> Array:
        """Return the mean, in the user's units."""
        return self.space.from_unit(super().predict(state, X))
