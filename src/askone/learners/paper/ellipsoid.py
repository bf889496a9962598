"""Pricing by ellipsoid (Cohen, Lobel, Paes Leme): answers without noise, values linear in features.

The value of a row is <theta, phi(x)> in unit labels.  All theta that the answers allow lie in an
ellipsoid {c + L p: |p| <= 1}, so that the value lies within <c, phi> -+ |L^T phi|.  The price in
the middle is asked; whoever answers cuts the ellipsoid in two, and the smallest ellipsoid around
what is left is the next.  With a the outward normal of the half that is gone, b = L p,
p = L^T a / |L^T a|, and alpha in (-1/d, 1) how deep the cut lies, in half widths:

    c <- c - (1 + d alpha)/(d + 1) b,
    L <- s (L - (1 - r/s) b p^T),   s^2 = d^2 (1 - alpha^2)/(d^2 - 1),   r = d (1 - alpha)/(d + 1),

which is the usual A <- d^2(1 - alpha^2)/(d^2 - 1) (A - 2(1 + d alpha)/((d + 1)(1 + alpha)) b b^T)
for A = L L^T, and keeps it symmetric and positive by form.  One feature: an interval, L <- r L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.compiled import dot, times
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import FeatureMap
from askone.labels.number import Real
from askone.learners.base import Learner, of_family
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace, half_space, in_unit_labels

_UP = (1.0,)
_FINEST = 1e-9  # in half ranges: a price known so well is not cut any finer, where rounding errors would count


@final
@dataclass(frozen=True, eq=False)
class EllipsoidState:
    """{center + factor p: |p| <= 1}, the number of answers, and of those that contradict the others."""

    center: Array
    factor: Array
    count: int = 0
    contradictions: int = 0

    @property
    def matrix(self) -> Array:
        """A: the ellipsoid is (theta - center)^T A^-1 (theta - center) <= 1."""
        return np.asarray(self.factor @ self.factor.T)


@final
@dataclass(frozen=True, eq=False)
class EllipsoidLearner(Learner[EllipsoidState]):
    """Prices that halve what is possible.  Not for noisy answers: each is taken at its word.

    A wrong answer is noticed only if it says what was no longer possible; the price in the middle
    always leaves both possible, so it shows late, as refused safe prices and prices rounded off.
    Then ``contradictions`` in the state counts it.

    ``radius`` bounds |theta| in half ranges; the default, 2 sqrt(d) for d features, suits rows scaled
    to variance 1 and a range that the values keep to.  Once a value is known to within ``margin`` (in
    the labels' units), the lower end of what is possible is asked: a price that sells for sure.

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = EllipsoidLearner(Real(0, 100, unit="€"), Linear(Scaler.identity(1)))
    >>> state, x = learner.init(), np.array([1.0])
    >>> for _ in range(40):
    ...     question = learner.ask(state, x, np.empty(0))
    ...     state = learner.tell(state, x, question, question.holds(37.0))
    >>> [round(end.item(), 1) for end in learner.interval(state, [x])], state.contradictions
    ([37.0, 37.0], 0)
    """

    space: Real
    features: FeatureMap
    radius: float | None = None
    margin: float | None = None
    width: ClassVar[int] = 0  # nothing is drawn

    def __post_init__(self) -> None:
        if self.space.m != 1 or self.space.bundles:
            raise IncompatibleParts(
                "space", "one output, without bundles: ellipsoid pricing", f"{self.space.m} outputs"
            )
        if not isinstance(self.features, FeatureMap):
            raise InvalidArgument("features", "a FeatureMap, such as Linear", type(self.features).__name__)
        for argument, value in (("radius", self.radius), ("margin", self.margin)):
            if value is not None:
                as_number(value, argument, 0.0, strict=True)

    @property
    def columns(self) -> int:
        return self.features.columns

    @property
    def dimension(self) -> int:
        """d, the number of features."""
        return self.features.size

    @cached_property
    def _below(self) -> float:
        """How far below the lower end a price is safe, in half ranges: rounding it then rounds it down."""
        step = 0.0 if self.space.decimals is None else 10.0**-self.space.decimals / self.space.scales[0]
        return 2 * _FINEST + step / 2

    def init(self) -> EllipsoidState:
        radius = 2 * math.sqrt(self.dimension) if self.radius is None else self.radius
        return EllipsoidState(np.zeros(self.dimension), radius * np.eye(self.dimension))

    def ask(self, state: EllipsoidState, x: ArrayLike, uniform: Array) -> Question:
        """Return the price in the middle, or the safe one."""
        middle, half = (float(v[0]) for v in self._reach(state, as_row(x, self.columns)))
        known = self.margin is not None and 2 * half * self.space.scales[0] < self.margin
        price = middle - half - self._below if known else middle
        return half_space(self.space, _UP, price, 1.0, state.count)

    def tell(self, state: EllipsoidState, x: ArrayLike, question: Question, answer: Answer) -> EllipsoidState:
        """Return a cut at the question's own price, however old it is; what contradicts the others is only counted."""
        row = as_row(x, self.columns)
        question = of_family(question, HalfSpace)
        u, c = in_unit_labels(self.space, question)
        above, price = question.accept(answer) == (u[0] > 0), c * u[0]
        middle, half = (float(v[0]) for v in self._reach(state, row))
        depth = price - middle if above else middle - price
        told = replace(state, count=state.count + 1)
        if depth > half + _FINEST:
            return replace(told, contradictions=state.contradictions + 1)
        if half <= _FINEST or not -half < self.dimension * depth < self.dimension * half:
            return told
        return self._cut(told, self.features(row)[0] * (-1.0 if above else 1.0), depth / half)

    def _cut(self, state: EllipsoidState, normal: Array, alpha: float) -> EllipsoidState:
        d, p = self.dimension, times(state.factor.T, normal)
        p = p / math.sqrt(dot(p, p))
        b = times(state.factor, p)
        r = d * (1 - alpha) / (d + 1)
        s = d * math.sqrt((1 - alpha * alpha) / (d * d - 1)) if d > 1 else r
        factor = s * state.factor - (s - r) * b[:, None] * p
        return replace(state, center=state.center - (1 + d * alpha) / (d + 1) * b, factor=factor)

    def _reach(self, state: EllipsoidState, rows: Array) -> tuple[Array, Array]:
        """Return the middle and half the width of what is possible, in unit labels."""
        features = self.features(rows)
        return times(features, state.center), np.linalg.norm(times(features, state.factor), axis=1)

    def interval(self, state: EllipsoidState, X: ArrayLike) -> tuple[Array, Array]:
        """Return the lowest and the highest value that the answers leave possible, in the labels' units."""
        middle, half = self._reach(state, as_rows(X, self.columns))
        ends = self.space.from_unit(np.concatenate([middle - half, middle + half])[:, None])[:, 0]
        return ends[: len(middle)], ends[len(middle) :]

    def predict(self, state: EllipsoidState, X: ArrayLike) -> Array:
        """Return the middle, in the labels' units."""
        middle, _ = self._reach(state, as_rows(X, self.columns))
        return self.space.from_unit(middle[:, None])
