"""Stochastic gradient descent from one bit per row: Algorithm 1 and its relatives.

    theta <- theta - eta_t G,     G = g u pulled back through the model (see ``gradients``)

for any model, loss, family, step rule and average that fit together.

Where answers are flipped with a known probability pi, or whoever gives them errs at known rates (``Question.slips``),
the two values of g are set apart so that the mean of G is what it was (``ErrorRates.unbiased``): for flips alone they
are 1 / (1 - 2 pi) times as large, and steps as much shorter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.compiled import dot, paired_dots, times
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import Diverged, IncompatibleParts, InvalidArgument, incompatible
from askone.labels.number import Real
from askone.learners import step_loops, step_rules
from askone.learners.abilities import AsksMany, HasRange, Streams, TakesSlopes
from askone.learners.base import as_uniform, of_family
from askone.learners.gradients import BundleGradient, Gradient, MedianSphere, Plan, WeakGradient
from askone.learners.models.base import Model, Point
from askone.learners.models.linear import FeatureModel, FeatureParams, FeaturePoint
from askone.learners.step_rules import STEP_RULES, Average, InverseSqrt, StepRule, Uniform
from askone.learners.streaming import Sealed, StreamBlock, StreamTask
from askone.questions.base import HONEST, Answer, Question
from askone.questions.half_space import HalfSpace, bundle_question, half_space, in_unit_labels
from askone.questions.reveal import Reveal

_ROWS_DIRECT, _ROWS_BLOCK = 512, 64
_UNROUNDED = 99
_UP = (1.0,)
_FAR = 1e24  # |theta|^2 in unit labels: no function of interest is a million million ranges high

# What the compiled loops read, and never write, about one answer that is known.
_ZERO, _ONE, _OFF = np.zeros(1), np.ones(1), np.zeros(1, dtype=np.bool_)
_NO, _YES = np.zeros(1, dtype=np.int8), np.ones(1, dtype=np.int8)


@final
@dataclass(frozen=True, eq=False)
class SGDState:
    """Accumulators of the model and the vector S of ``step_loops``."""

    params: Any
    S: Array


@final
class _Asked(NamedTuple):
    """A block of half-space questions laid out for the compiled loops, in their order of arguments."""

    U: Array
    offset: Array
    yes: Array
    no: Array
    shift: Array
    stretch: Array
    hidden: Array
    flips: Array
    thresholds: Array
    answers: Array


@final
@dataclass(frozen=True, eq=False)
class SGDLearner(AsksMany[SGDState], Streams[SGDState], TakesSlopes[SGDState], HasRange[SGDState]):
    """Algorithm 1: one question per row, one stochastic gradient step per answer.

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = SGDLearner(Real(0, 100), FeatureModel(Linear(Scaler.identity(1))))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.empty(0))
    >>> str(question)
    'Is the value above 50?'
    >>> state = learner.tell(state, [0.0], question, True)
    >>> learner.predict(state, [[0.0]]).item()
    75.0
    """

    space: Real
    model: Model[Any]
    gradient: Gradient = MedianSphere()
    step: StepRule = InverseSqrt()
    average: Average = Uniform()
    ridge: float = 0.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        as_number(self.ridge, "ridge", 0.0)
        as_number(self.flip, "flip", 0.0, 0.49)
        self._match_bundles()
        if self.flip and self._asks_bits and self._mode != step_loops.AT_PREDICTION:
            raise incompatible("flip", self.flip, "questions that do not look at the prediction", [0.0])
        if self.gradient.single_output and self.space.m > 1:
            raise incompatible("gradient", type(self.gradient).__name__, f"{self.space.m} outputs", ["MedianSphere"])
        if self.step.diagonal and not self.model.has_coordinates:
            fits = [name for name, rule in STEP_RULES.items() if not rule.diagonal]
            raise incompatible("step", self.step.name, "a model that grows has no fixed coordinates", fits)
        if self.step.code == step_loops.COIN and not self.model.linear:
            fits = [name for name, rule in STEP_RULES.items() if rule.code != step_loops.COIN]
            raise incompatible("step", self.step.name, "a network cannot start at zero", fits)
        if self.ridge > 0 and not self.step.takes_ridge:
            fits = [name for name, rule in STEP_RULES.items() if rule.takes_ridge]
            raise incompatible("step", self.step.name, "with a ridge", fits)

    def _match_bundles(self) -> None:
        """Where a space lists bundles nothing else is asked, and of a gradient's they are the space's."""
        gradient = self.gradient
        if not isinstance(gradient, BundleGradient):
            if self.space.bundles and isinstance(gradient, WeakGradient):
                fits = ["BundleSign", "BundleThreshold", "FullGradient"]
                raise incompatible("gradient", type(gradient).__name__, "a space that lists bundles", fits)
        elif gradient.bundles != self.space.unit_bundles:
            allowed = "one of the space's bundles, in unit labels: space.unit_bundles"
            raise IncompatibleParts("gradient", allowed, gradient.bundles)

    # -- configuration, laid out once ---------------------------------------------------------

    @cached_property
    def columns(self) -> int:
        return self.model.columns

    @cached_property
    def width(self) -> int:
        return self._weak.width(self.space.m) if self._asks_bits else 0

    @property
    def local(self) -> bool:
        """See ``TakesSlopes.local``: all but those that are told where the threshold was."""
        return self._asks_bits and self._mode == step_loops.AT_PREDICTION

    @cached_property
    def _asks_bits(self) -> bool:
        return isinstance(self.gradient, WeakGradient)

    @cached_property
    def _plain(self) -> bool:
        """Whether every question is "is the value above the prediction?"."""
        if not self._asks_bits or self.space.m > 1 or self.width or self._mode != step_loops.AT_PREDICTION:
            return False
        plan = self._weak.plan(1, np.empty((1, 0)))
        return bool(plan.directions[0, 0] == 1.0 and plan.offset[0] == 0.0 and plan.density[0] == 1.0)

    @property
    def _weak(self) -> WeakGradient:
        return cast(WeakGradient, self.gradient)

    @cached_property
    def _R(self) -> Array:
        return step_rules.packed(self.step, self.average, self._bound, self.ridge)

    @property
    def _bound(self) -> float:
        """What the gradient's length is at most, flips included."""
        return self.gradient.bound(self.space.m) / (1.0 - 2.0 * self.flip)

    @cached_property
    def _mode(self) -> int:
        return self._weak.mode if self._asks_bits else step_loops.AT_PREDICTION

    @cached_property
    def _direct(self) -> bool:
        return isinstance(self.model, FeatureModel) and not self.step.diagonal and not self._interpreted

    @cached_property
    def _interpreted(self) -> bool:
        """Whether labels are learnt through a loss that the compiled loop does not know."""
        return not self._asks_bits and self.gradient.loss.code < 0

    @cached_property
    def _block_rows(self) -> int:
        if self.step.diagonal or not self.model.linear or self._interpreted:
            return 1
        return _ROWS_DIRECT if self._direct and self._asks_bits else _ROWS_BLOCK

    # -- the four functions ---------------------------------------------------------------------

    def init(self) -> SGDState:
        """Return theta = 0 (a network: its own start)."""
        params = self.model.init(self.space.m, self.average.copies, self.step.diagonal)
        return SGDState(params, step_rules.start(self.step))

    def within(self, space: Real) -> SGDLearner:
        return replace(self, space=space)

    def ask(self, state: SGDState, x: ArrayLike, uniform: Array) -> Question:
        """Return the question at the current iterate."""
        row = as_row(x, self.columns)
        if not self._plain:
            return self._questions(state, row, np.asarray(uniform)[None])[0]
        # Most of live use, in plain floats.
        at = self.model.at(state.params, row).values(state.S.item(step_loops.SCALE)).item()
        return half_space(self.space, _UP, at, 1.0, self.count(state))

    def ask_many(self, state: SGDState, X: ArrayLike, uniform: Array) -> list[Question]:
        return self._questions(state, as_rows(X, self.columns), uniform)

    def tell(self, state: SGDState, x: ArrayLike, question: Question, answer: Answer) -> SGDState:
        """Return one step against the gradient that the answer gives."""
        row = as_row(x, self.columns)
        if not self._asks_bits:
            question = of_family(question, Reveal)
            label = self.space.to_unit([question.accept(answer)])
            return self._learn_labels(state, row, label, np.zeros(1, dtype=np.bool_))
        question = of_family(question, HalfSpace)
        u, c = in_unit_labels(self.space, question)
        bit = question.accept(answer)
        here = question.learnt is None or self._mode != step_loops.AT_PREDICTION  # a slope taken now is not late
        late = 0 if here else max(0, self.count(state) - cast(int, question.learnt))
        return self._learn(state, row, self._told(u, c, question, bit), late)

    def iterate(self, state: SGDState, rows: Array) -> Array:
        """Return the present iterate at some rows (checked before), in unit labels: where questions are asked."""
        return self.model.at(state.params, rows).values(state.S[step_loops.SCALE])

    def descend(self, state: SGDState, row: Array, gradient: Array, late: int = 0) -> SGDState:
        """Return one step against a gradient in label space that is known: for surrogates that make their own."""
        # A known gradient is a weak one whose direction is its own.
        norm = math.sqrt(dot(gradient, gradient))
        u = gradient / norm if norm > 0 else np.eye(self.space.m)[0]
        slope = np.array([norm])
        asked = _Asked(u[None, :], _ZERO, slope, slope, _ZERO, _ONE, _ZERO, _OFF, _ZERO, _YES)
        return self._bounded(self._learn(state, row, asked, late))

    def _bounded(self, state: SGDState) -> SGDState:
        if not state.S[step_loops.DIST2] < _FAR:
            raise Diverged(f"the model grew out of bounds in {self.count(state)} answers: take shorter steps (gamma)")
        return state

    def predict(self, state: SGDState, X: ArrayLike) -> Array:
        """Return the averaged function, in the user's units."""
        mix = self.average.mix(state.S) if state.S[step_loops.T] > 0 else self._mix_now(state)
        return self.space.from_unit(self.model.evaluate(state.params, as_rows(X, self.columns), mix))

    def count(self, state: SGDState) -> int:
        return int(state.S[step_loops.T])

    def to_arrays(self, state: SGDState) -> dict[str, Array]:
        return {"S": state.S, **self.model.to_arrays(state.params)}

    def from_arrays(self, arrays: dict[str, Array]) -> SGDState:
        return SGDState(self.model.from_arrays(arrays), arrays["S"])

    def stream(self, state: SGDState, X: Array, task: StreamTask) -> SGDState:
        """See ``Streams.stream``: exact, in blocks."""
        if self._direct:  # the loop below writes into the accumulators; this copy is its own
            state = SGDState(FeatureParams(state.params.arrays.copy(), None), state.S)
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
            while done < len(X):
                rows = X[done : done + self._rows_at_once(state)]
                state = self._bounded(self._learn_block(state, rows, task.part(done, done + len(rows))))
                done += len(rows)
        return state

    def _learn_block(self, state: SGDState, rows: Array, task: StreamTask) -> SGDState:
        if not self._asks_bits:
            labels, skipped = task.respondent.reveal(task.rows)
            return self._learn_labels(state, rows, self.space.to_unit(labels), skipped)
        asked = self._planned(task)
        state = self._learn(state, rows, asked, owned=self._direct)
        if task.listen is not None:
            task.listen(self._heard(task.rows, asked))
        return state

    # -- questions ------------------------------------------------------------------------------

    def _mix_now(self, state: SGDState) -> Array:
        mix = np.zeros(self.average.copies)
        mix[0] = state.S[step_loops.SCALE]
        return mix

    def _questions(self, state: SGDState, rows: Array, uniform: Array) -> list[Question]:
        if not self._asks_bits:
            return [Reveal(self.space.m) for _ in rows]
        plan = self._weak.plan(self.space.m, as_uniform(uniform, len(rows), self.width))
        c = plan.offset
        if self._mode == step_loops.AT_PREDICTION:
            z = self.model.at(state.params, rows).values(state.S[step_loops.SCALE])
            c = (z * plan.directions).sum(axis=1) - c
        learnt = self.count(state)
        turned = np.zeros(len(rows), dtype=np.bool_) if plan.turned is None else plan.turned
        along = plan.directions if plan.bundle is None else plan.bundle
        build: Callable[..., Question] = half_space if plan.bundle is None else bundle_question
        asked = zip(along.tolist(), c.tolist(), plan.density.tolist(), turned.tolist(), strict=True)
        return [build(self.space, u, threshold, density, learnt, mirror) for u, threshold, density, mirror in asked]

    @cached_property
    def _plain_yes(self) -> _Asked:
        return _Asked(np.ones((1, 1)), _ZERO, *self._unweighted, _ZERO, _ONE, _ZERO, _OFF, _ZERO, _YES)

    @cached_property
    def _plain_no(self) -> _Asked:
        return self._plain_yes._replace(answers=_NO)

    @cached_property
    def _unweighted(self) -> tuple[Array, Array]:
        return HONEST.flipped(self.flip).unbiased(*self._weak.values(self.space.m, _ONE))

    def _told(self, u: list[float], c: float, question: HalfSpace, bit: bool) -> _Asked:
        density = question.density
        weighted = density != 1.0 or question.turned or question.slips != HONEST
        if self._plain and u[0] == 1.0 and not weighted:
            return self._plain_yes if bit else self._plain_no
        yes, no = self._unweighted
        if weighted:
            if question.slips != HONEST and self._mode != step_loops.AT_PREDICTION:
                raise InvalidArgument("question", "put to somebody honest, away from the prediction", question.slips)
            slopes = self._weak.slopes(self.space.m, np.array([density]), np.array([question.turned]))
            yes, no = question.slips.flipped(self.flip).unbiased(*slopes)
        return _Asked(np.array([u]), _ZERO, yes, no, _ZERO, _ONE, _ZERO, _OFF, np.array([c]), _YES if bit else _NO)

    def _planned(self, task: StreamTask) -> _Asked:
        plan = self._weak.plan(self.space.m, task.draw(task.first, len(task.rows)))
        yes, no = HONEST.flipped(self.flip).unbiased(*self._weak.slopes(self.space.m, plan.density, plan.turned))
        weights, shift, stretch = self._shown(plan)
        sealed: Sealed = task.respondent.seal(task.rows, weights)
        answers = np.where(sealed.skipped, step_loops.SKIPPED, step_loops.UNKNOWN).astype(np.int8)
        return _Asked(plan.directions, plan.offset, yes, no, shift, stretch,
                      sealed.projections, sealed.flips, np.zeros(len(answers)), answers)  # fmt: skip

    def _shown(self, plan: Plan) -> tuple[Array, Array, Array]:
        """Return (w, shift, stretch): <unit label, u> > c is <y, w> > (c + shift) stretch, which is what is shown."""
        if plan.bundle is None:
            weights = plan.directions / self.space.scale
            stretch = 1.0 / _lengths(weights)
            return weights * stretch[:, None], times(weights, self.space.center), stretch
        weights = np.array(self.space.askable)[plan.bundle]
        stretch = _lengths(weights * self.space.scale)
        return weights, times(weights, self.space.center) / stretch, stretch

    def _heard(self, rows: Array, asked: _Asked) -> StreamBlock:
        directions = asked.U / self.space.scale
        length = _lengths(directions)
        thresholds = (asked.thresholds + asked.shift) / length
        return StreamBlock(rows, directions / length[:, None], thresholds, asked.answers)

    # -- steps ----------------------------------------------------------------------------------

    def _learn(self, state: SGDState, rows: Array, asked: _Asked, late: int = 0, owned: bool = False) -> SGDState:
        # A gradient taken k answers ago is one of about k at the same place: its step is shorter by
        # sqrt(1 + k), as that of one row in a mini-batch of k + 1 is.
        S = state.S.copy()
        S[step_loops.LATE] = 1.0 / math.sqrt(1 + late)
        decimals = _UNROUNDED if self.space.decimals is None else self.space.decimals
        point = self.model.at(state.params, rows)
        if self._direct:
            assert type(point) is FeaturePoint
            arrays = point.params.arrays if owned else point.params.arrays.copy()
            step_loops.stream_features(point.features, arrays, *asked, self._mode, decimals, S, self._R)
            return self._marked(SGDState(FeatureParams(arrays, None), S))
        base, squares = np.ascontiguousarray(point.values(1.0)), point.squares(asked.U)
        gram = point.gram() if len(rows) > 1 else np.zeros((1, 1))
        if not self.model.linear:
            S[step_loops.DIST2] = point.distance2(S[step_loops.SCALE])
        V, before = np.empty(base.shape), np.empty(len(rows))
        parts = (base, gram, squares, *asked, self._mode, decimals, S, self._R, V, before)
        done = step_loops.stream_block(*parts)
        if self.step.diagonal:
            return self._step_diagonally(state, point, asked, dot(base[0], asked.U[0]), S, before)
        state = self._stepped(state, rows[:done], V[:done], before[:done], S)
        if done == len(rows):
            return state
        return self._learn(state, rows[done:], _Asked(*[one[done:] for one in asked]), late)

    def _learn_labels(self, state: SGDState, rows: Array, labels: Array, skipped: Array) -> SGDState:
        loss = self.gradient.loss
        if self.step.diagonal or not self.model.linear or self._interpreted:  # then there is one row
            if skipped[0]:
                return state
            return self.descend(state, rows, loss.gradient(self.iterate(state, rows), labels)[0])
        point, S, labels = self.model.at(state.params, rows), state.S.copy(), np.ascontiguousarray(labels)
        law = (labels, skipped, loss.code, loss.parameter, S, self._R)
        if self._direct:
            assert type(point) is FeaturePoint
            arrays = point.params.arrays.copy()
            step_loops.stream_feature_labels(point.features, arrays, *law)
            return self._marked(SGDState(FeatureParams(arrays, None), S))
        steps, before = np.empty(labels.shape), np.empty(len(rows))
        done = step_loops.stream_labels(point.values(1.0), point.gram(), *law, steps, before)
        state = self._stepped(state, rows[:done], steps[:done], before[:done], S)
        return state if done == len(rows) else self._learn_labels(state, rows[done:], labels[done:], skipped[done:])

    def _stepped(self, state: SGDState, rows: Array, V: Array, before: Array, S: Array) -> SGDState:
        params = self.model.at(state.params, rows).stepped(V, self._weights(before))
        # The ridge shrinks s; what it took is moved into A in time (and at once for a model that is
        # not linear, whose Jacobian is taken at A).
        scale = S[step_loops.SCALE]
        if self.step.code != step_loops.COIN and (
            scale < step_loops.SHRUNK or (scale != 1.0 and not self.model.linear)
        ):
            params = self.model.rescaled(params, scale, S[step_loops.CUM])
            S[step_loops.CUM], S[step_loops.SCALE] = 0.0, 1.0
        return self._marked(SGDState(params, S))

    def _step_diagonally(
        self, state: SGDState, point: Point[Any], asked: _Asked, base: float, S: Array, before: Array
    ) -> SGDState:
        if asked.answers[0] == step_loops.SKIPPED:
            return state
        g = step_loops.slope(0, base, self._mode, asked.yes, asked.no, asked.thresholds, asked.answers)
        v = np.asarray(g * asked.U)
        params = point.stepped_diagonally(
            v, S[step_loops.SCALE], self.step.gamma * S[step_loops.LATE], self._weights(before)
        )
        return self._marked(SGDState(params, S))

    def _weights(self, before: Array) -> Array:
        weights = np.zeros((len(before), self.average.copies))
        weights[:, 0] = 1.0
        if self.average.copies > 1:
            weights[:, 1] = before
        return weights

    # -- marks of a tail average ------------------------------------------------------------------

    def _rows_at_once(self, state: SGDState) -> int:
        """As many rows as fit before a mark falls due or the ridge has shrunk theta by a half."""
        rows, t = self._block_rows, int(state.S[step_loops.T])
        if self.average.copies == 4:
            rows = min(rows, (1 << t.bit_length()) - t)
        if self.ridge > 0 and not self._direct:
            rows = min(rows, max(1, int(0.35 / (self.ridge * self._largest_step(state.S) + 1e-300))))
        return rows

    def _largest_step(self, S: Array) -> float:
        """Return a bound on the true step sizes to come."""
        if self.step.code == step_loops.SCHEDULE:
            return float(self.step.gamma * (S[step_loops.T] + 1) ** -self.step.power / self._bound)
        if self.step.code == step_loops.ADAGRAD and S[step_loops.SUMSQ] > 0:
            return self.step.gamma / float(np.sqrt(S[step_loops.SUMSQ]))
        return float("inf")

    def _marked(self, state: SGDState) -> SGDState:
        if self.average.copies < 4:
            return state
        t = int(state.S[step_loops.T])
        if t == 0 or t & (t - 1) or state.S[step_loops.MARK_NEW] == t:
            return state
        S = state.S.copy()
        S[step_loops.MARK_OLD], S[step_loops.MARK_NEW] = S[step_loops.MARK_NEW], S[step_loops.WSUM]
        mix = np.array([S[step_loops.CUM], -1.0, 0.0, 0.0])
        return SGDState(self.model.marked(state.params, mix), S)


def _lengths(vectors: Array) -> Array:
    return np.asarray(np.sqrt(paired_dots(vectors, vectors)))
