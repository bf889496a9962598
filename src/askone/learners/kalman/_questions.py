"""Which questions a bank asks, and what any question says about each output, in unit labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, cast, final

import numpy as np
from scipy.special import ndtr

from askone._common.compiled import paired_dots
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.labels.number import Real
from askone.learners.base import as_uniform, of_family
from askone.questions.base import ErrorRates, Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace, bundle_question, half_space, in_unit_labels


@final
class Share(NamedTuple):
    """What a question asks about one output: is it above ``low`` (sign 1), below it (-1), or between both ends?

    ``extra`` is the variance of all the rest that the answer depends on.
    """

    output: int
    sign: float
    low: float
    high: float = math.inf
    extra: float = 0.0

    def told(self, bit: bool, slips: ErrorRates) -> tuple[float, ...]:
        """Return an answer as ``Watch`` keeps it."""
        return self.low, bit == (self.sign > 0), self.extra, self.high, *slips[:: int(self.sign)]


@final
@dataclass(frozen=True, eq=False)
class Questions:
    """The outputs and bundles that may be asked about, and how honest answers come out."""

    space: Real
    known: ErrorRates

    @cached_property
    def width(self) -> int:
        """Uniforms per question: one, to choose the output, where there are several."""
        return 0 if len(self.space.askable) == 1 else 1

    @cached_property
    def _directions(self) -> Array:
        bundles = np.array(self.space.unit_bundles)
        return np.asarray(bundles / np.linalg.norm(bundles, axis=1, keepdims=True))

    def chosen(self, uniform: Array) -> Array:
        """Return which output, or bundle, each question is about."""
        if self.width == 0:
            return np.zeros(len(uniform), dtype=np.int64)
        return (uniform[:, 0] * len(self.space.askable)).astype(np.int64)

    def priced(self, prices: Array, learnt: int) -> list[Question]:
        """Return an offer of the only output at each price, in the user's units."""
        values = self.space.to_unit(prices[:, None])[:, 0].tolist()
        return [half_space(self.space, [1.0], value, 1.0, learnt) for value in values]

    def at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        """Return one question for each row of a belief."""
        chosen = self.chosen(as_uniform(uniform, len(believed), self.width))
        values = self.space.to_unit(believed)
        if self.space.bundles:
            at = paired_dots(values, self._directions[chosen]).tolist()
            return [bundle_question(self.space, k, at[i], 1.0, learnt) for i, k in enumerate(chosen.tolist())]
        axes = np.eye(self.space.m).tolist()
        return [half_space(self.space, axes[k], values[i, k], 1.0, learnt) for i, k in enumerate(chosen.tolist())]

    def slips(self, question: Question) -> ErrorRates:
        """Return how an honest answer comes out: by what is known of all answers, then of whoever gives this one."""
        return self.known.then(question.slips) if self.known.trust < 1.0 else question.slips

    def share(self, question: Question) -> Share | None:
        """Return what a question asks about its only output; None: it is about several."""
        if isinstance(question, Between):
            if self.space.m > 1:
                raise InvalidArgument("question", "a HalfSpace where there are several outputs", str(question))
            return Share(0, 1.0, *self.space.to_unit([[question.low], [question.high]])[:, 0].tolist())
        u, c = self._told(question)
        if len(u) == 1:
            return Share(0, math.copysign(1.0, u[0]), c / u[0])
        inside = [j for j, weight in enumerate(u) if weight != 0.0]
        j = inside[0]
        return Share(j, math.copysign(1.0, u[j]), c / u[j]) if len(inside) == 1 else None

    def told(self, questions: Sequence[Question]) -> Array:
        """Return sign and ends of the ``share`` of each question about the only output, and its slips, n x 5."""
        if any(type(one) is not HalfSpace or len(one.direction) != 1 for one in questions):
            shared = [(self.share(one), self.slips(one)) for one in questions]
            return np.array([(one.sign, one.low, one.high, *slips) for one, slips in shared if one is not None])
        plain = [cast(HalfSpace, one) for one in questions]
        asked = np.array([(one.direction[0], one.threshold, *self.slips(one)) for one in plain]).reshape(-1, 4)
        u, c = asked[:, 0], (asked[:, 1] - asked[:, 0] * self.space.centers[0]) / self.space.scales[0]
        return np.column_stack([np.copysign(1.0, u), c / u, np.full(len(u), math.inf), asked[:, 2:]])

    def shares(self, question: Question, moments: Callable[[int], tuple[float, float]]) -> list[Share]:
        """Return what a question asks about each output in it: of <z, u> > c the others are taken at their moments."""
        one = self.share(question)
        if one is not None:
            return [one]
        u, c = self._told(question)
        known = {j: moments(j) for j, weight in enumerate(u) if weight != 0.0}
        middle = sum(u[j] * mean for j, (mean, _) in known.items())
        total = sum(u[j] * u[j] * variance for j, (_, variance) in known.items())
        out = []
        for j, (mean, variance) in known.items():
            rest = middle - u[j] * mean
            low, extra = (c - rest) / u[j], total / (u[j] * u[j]) - variance
            out.append(Share(j, math.copysign(1.0, u[j]), low, extra=extra))
        return out

    def _told(self, question: Question) -> tuple[list[float], float]:
        return in_unit_labels(self.space, of_family(question, HalfSpace))


@cache
def most_telling(rates: ErrorRates) -> float:
    """Return how many deviations below its mean a normal value is best asked about.

    An answer with P(yes) = g + t Phi(z), t = 1 - g - l, takes from the variance q of the mean in expectation

        (q^2 / v) t^2 N(z)^2 / (P(yes) (1 - P(yes))) ,

    at most where z = 0 if g = l; where a yes may be a guess, at a threshold so low that yes is likely.

    >>> most_telling(ErrorRates(0.1, 0.1)), round(most_telling(ErrorRates(0.5, 0.0)), 2)
    (0.0, 0.44)
    """
    if rates.yes == rates.no:
        return 0.0
    z = np.arange(-4000, 4001) / 1000.0
    yes = rates.yes + rates.trust * ndtr(z)
    return float(z[np.argmax(np.exp(-z * z) / (yes * (1.0 - yes)))])
