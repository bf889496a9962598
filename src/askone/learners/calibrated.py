"""A learner without a declared range: its first questions find location and scale, counted.

For one output at a time it asks "is the value above c?", which row it is being of no matter: first
outwards by powers of ten until the answers differ, then around the middle and the quartiles by a
staircase.  A logistic law fitted to all bits gives the range:

    P(Y > c) = 1 / (1 + exp((c - mu) / s)),     range = mu -+ 4 s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askone.inputs import as_count, as_row, as_rows
from askone.learners.base import Learner, Task, wrong_family
from askone.learners.sgd import SGD, SGDState
from askone.questions import Answer, HalfSpace, Question
from askone.spaces import Real, sensible_decimals

Array = NDArray[Any]
_SCALES = 4.0
_RATE = 0.5
_PRIOR = 1.5
PURPOSE = "range"


@final
@dataclass(frozen=True, eq=False)
class CalibratedState:
    """Bits so far (output, threshold, answer), then the range found and the inner state."""

    bits: Array
    space: Real | None
    inner: SGDState | None


@final
@dataclass(frozen=True, eq=False)
class Calibrated(Learner[CalibratedState]):
    """SGD whose range is found by the first ``questions`` answers.

    ``template`` is the learner to start then; of its space only names, unit and number of outputs
    count.  With ``rounds`` its thresholds are rounded to suit the range.
    """

    template: SGD
    questions: int = 60
    rounds: bool = True

    def __post_init__(self) -> None:
        as_count(self.questions, "calibration", self.template.space.m)

    @property
    def space(self) -> Real:  # type: ignore[override]  # the range is not known yet
        """Names and unit; the range is in the state."""
        return self.template.space

    @property
    def columns(self) -> int:
        """Width of a row."""
        return self.template.columns

    @cached_property
    def width(self) -> int:
        """Uniforms per question."""
        return self.template.width

    def init(self) -> CalibratedState:
        """No bit yet."""
        return CalibratedState(np.empty((0, 3)), None, None)

    def ask(self, state: CalibratedState, x: ArrayLike, uniform: Array) -> Question:
        """A question about the range, or the inner learner's."""
        learner, inner = self._inner(state)
        if inner is not None:
            return learner.ask(inner, x, uniform)
        as_row(x, self.columns)
        return self._range_question(state)

    def ask_many(self, state: CalibratedState, X: ArrayLike, uniform: Array) -> list[Question]:
        """See ``Learner.ask_many``."""
        learner, inner = self._inner(state)
        if inner is not None:
            return learner.ask_many(inner, X, uniform)
        return [self._range_question(state)] * len(as_rows(X, self.columns))

    def tell(self, state: CalibratedState, x: ArrayLike, question: Question, answer: Answer) -> CalibratedState:
        """One more bit about the range, or one more step; a late bit about the range is let go."""
        learner, inner = self._inner(state)
        if isinstance(question, HalfSpace) and question.purpose == PURPOSE:
            bit = question.accept(answer)
            as_row(x, self.columns)
            return state if inner is not None else self._with_bit(state, question, bit)
        if inner is None:
            raise wrong_family(HalfSpace, question)
        return replace(state, inner=learner.tell(inner, x, question, answer))

    def predict(self, state: CalibratedState, X: ArrayLike) -> Array:
        """The inner prediction; before, the best guess at the median."""
        learner, inner = self._inner(state)
        if inner is not None:
            return learner.predict(inner, X)
        rows = as_rows(X, self.columns)
        centers = [locate(*_bits_of(state, j))[0] for j in range(self.space.m)]
        return np.tile(centers, (len(rows), 1))

    def count(self, state: CalibratedState) -> int:
        """Bits about the range and answers learnt."""
        return len(state.bits) + (0 if state.inner is None else self.template.count(state.inner))

    def to_arrays(self, state: CalibratedState) -> dict[str, Array]:
        """See ``Learner.to_arrays``."""
        inner = {} if state.inner is None else self.template.to_arrays(state.inner)
        return {"bits": state.bits, **{f"inner.{name}": array for name, array in inner.items()}}

    def from_arrays(self, arrays: dict[str, Array]) -> CalibratedState:
        """See ``Learner.from_arrays``: the range is folded from the bits again."""
        state = self._finished(arrays["bits"])
        inner = {name.removeprefix("inner."): a for name, a in arrays.items() if name.startswith("inner.")}
        return replace(state, inner=self.template.from_arrays(inner)) if inner else state

    def stream(self, state: CalibratedState, X: Array, task: Task) -> CalibratedState:
        """Row by row while the range is sought, then as the inner learner does."""
        done = 0
        while done < len(X) and state.inner is None:
            state = Learner.stream(self, state, X[done : done + 1], task.part(done, done + 1))
            done += 1
        learner, inner = self._inner(state)
        return state if inner is None else replace(state, inner=learner.stream(inner, X[done:], task.part(done)))

    def _inner(self, state: CalibratedState) -> tuple[SGD, SGDState | None]:
        return (self.template if state.space is None else replace(self.template, space=state.space)), state.inner

    def _range_question(self, state: CalibratedState) -> HalfSpace:
        asked = state.bits[:, 0]
        j = int(np.argmin([np.sum(asked == k) for k in range(self.space.m)]))
        direction = tuple(float(k == j) for k in range(self.space.m))
        threshold = next_threshold(*_bits_of(state, j))
        return HalfSpace(direction, threshold, wording=self.space.words, purpose=PURPOSE)

    def _with_bit(self, state: CalibratedState, question: HalfSpace, bit: bool) -> CalibratedState:
        row = [float(np.argmax(question.direction)), question.threshold, float(bit)]
        return self._finished(np.vstack([state.bits, row]))

    def _finished(self, bits: Array) -> CalibratedState:
        state = CalibratedState(bits, None, None)
        if len(bits) < self.questions:
            return state
        found = np.array([locate(*_bits_of(state, j)) for j in range(self.space.m)])
        low, high = found[:, 0] - _SCALES * found[:, 1], found[:, 0] + _SCALES * found[:, 1]
        decimals = sensible_decimals(low.tolist(), high.tolist()) if self.rounds else None
        space = replace(self.space, low=low.tolist(), high=high.tolist(), decimals=_clipped(decimals))
        return CalibratedState(bits, space, replace(self.template, space=space).init())


def _clipped(decimals: int | None) -> int | None:
    return None if decimals is None else max(-15, min(15, decimals))


def _bits_of(state: CalibratedState, output: int) -> tuple[Array, Array]:
    mine = state.bits[state.bits[:, 0] == output]
    return mine[:, 1], mine[:, 2] > 0


def next_threshold(thresholds: Array, answers: Array) -> float:
    """Where to ask next, from thresholds asked and answers ("above") so far; three digits.

    >>> next_threshold(np.array([]), np.array([], bool)), next_threshold(np.array([0.0]), np.array([True]))
    (0.0, 1.0)
    """
    if len(thresholds) == 0:
        return 0.0
    if answers.all() or not answers.any():
        side = 1.0 if answers.all() else -1.0
        return side * max(1.0, 10.0 * float(np.abs(thresholds).max()))
    mu, d, turn, _ = _staircase(thresholds, answers)
    value = mu + (0.0, d, -d)[turn]
    return float(round(value, max(-300, min(300, 2 - math.floor(math.log10(d))))))


def _staircase(thresholds: Array, answers: Array) -> tuple[float, float, int, float]:
    """Centre, distance, whose turn it is (centre, upper, lower), and the mean of late distances.

    An answer beyond mu + d or mu - d triples the logarithmic step that an answer within takes off
    d, so d settles where one in four lies beyond.  It forgets, hence it never collapses: bisection
    would, as no answer inside the bracket that it leaves can contradict an earlier one.
    """
    changed = int(np.flatnonzero(answers != answers[0])[0])
    outer, inner = thresholds[changed], thresholds[changed - 1] if changed else 0.0
    mu, d, turn = (outer + inner) / 2, max(abs(outer - inner) / 2, 1e-3), 0
    recent = [math.log(d)]
    for above in answers[changed + 1 :]:
        if turn == 0:
            mu += d if above else -d
        else:
            beyond = above if turn == 1 else not above
            d *= math.exp(3 * _RATE if beyond else -_RATE)
            recent.append(math.log(d))
        turn = (turn + 1) % 3
    return float(mu), float(d), turn, math.exp(float(np.mean(recent[-8:])))


def locate(thresholds: Array, answers: Array) -> tuple[float, float]:
    """The posterior median of mu and geometric mean of s, on a grid around the bits.

    The grid is the prior: mu evenly inside the bracket that the answers leave and logarithmically
    outside it, s logarithmically from a thousandth of the bracket to all that was ever asked.

    >>> mu, s = locate(np.array([0.0, 4.0, 8.0, 12.0]), np.array([True, True, False, False]))
    >>> 4 < mu < 8 and s < 4
    True
    """
    if len(thresholds) == 0:
        return 0.0, 1.0
    if answers.all() or not answers.any():
        return float(thresholds[np.abs(thresholds).argmax()]), max(1.0, float(np.abs(thresholds).max()))
    return _posterior(thresholds, answers)


def _posterior(thresholds: Array, answers: Array) -> tuple[float, float]:
    reach = max(1.0, float(np.abs(thresholds).max()))
    mu, log_s = _grid(thresholds, answers, reach)
    sign = np.where(answers, 1.0, -1.0)
    z = sign * (mu[:, None, None] - thresholds) / np.exp(log_s)[None, :, None]
    # A lapse of one in a hundred keeps a single odd row from dragging the law along.
    log_likelihood = np.log(0.01 + 0.98 / (1.0 + np.exp(-np.clip(z, -500, 500)))).sum(axis=2)
    # By luck a step function may fit all bits; the staircase knows how far out it had to look.
    usual = math.log(_staircase(thresholds, answers)[3] / math.log(3))
    log_posterior = log_likelihood - 0.5 * ((log_s - usual) / _PRIOR) ** 2
    posterior = np.exp(log_posterior - log_posterior.max())
    of_mu, of_s = posterior.sum(axis=1) / posterior.sum(), posterior.sum(axis=0) / posterior.sum()
    median = float(mu[np.searchsorted(np.cumsum(of_mu), 0.5)])
    return median, math.exp(float(of_s @ log_s))


def _grid(thresholds: Array, answers: Array, reach: float) -> tuple[Array, Array]:
    ends = thresholds[answers].max(), thresholds[~answers].min()
    a, b = min(ends), max(ends)
    width = max(b - a, 1e-9 * reach)
    outside = np.geomspace(0.05 * width, 2 * reach, 40)
    mu = np.concatenate([a - outside[::-1], np.linspace(a, b, 61), b + outside])
    return mu, np.log(np.geomspace(1e-3 * width, 2 * reach, 49))
