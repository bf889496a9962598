"""One learner that learns with each answer, models fitted to all answers now and then, and weights that say who is right.

A kernel knows smooth functions, a line many columns, trees tables with categories: which of them a table needs, nobody
knows before.  Questions are asked at the weighted mean of all, with the shares of ``Scores``, where the loss of each is

    classes   -log P_i(answer)
    numbers   -e (f_i - c) ,   with e = 1 for "above c" and -1 for "not":

an answer at c is the slope of the absolute error there, |y - f| >= |y - c| - e (f - c), so that the shares descend the
error of the mean, and two models that err in different places are better together than the better one.  (The
likelihood of such an answer would say little: asked at the median, yes and no are equally likely by all.)

A fit is due when the answers have grown by a fifth.  Models whose shares came to nothing sleep until the next one: an
answer then costs what it costs the learner alone.  Each time a model sleeps it is fitted more seldom.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log, logs, softmax
from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.labels.base import Space
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.learners.abilities import (
    AsksAt,
    AsksMany,
    Forecasts,
    HasDeviation,
    HasInterval,
    HasProbabilities,
    HasRange,
    Refits,
    Streams,
    TakesRanges,
    TellsMany,
    ask_many,
    deviation,
    interval,
    probabilities,
    stream,
    tell_many,
)
from askone.learners.base import marked, of_family, unmarked
from askone.learners.mixture.bits import ClassBits, Likelihood, NumberBits
from askone.learners.mixture.members import Fit, Member
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.scores import Scores
from askone.learners.streaming import Exchange, StreamBlock, StreamTask
from askone.questions.base import Answer, Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset

_LAPSE = 0.01  # an answer may be a slip: no forecast is ever quite wrong
_GROWTH = 1.2  # of the answers, from fit to fit
_SELDOM = 3  # times that a model may sleep and be fitted the more seldom, at last when the answers have doubled
_TRUST, _TRIED = (
    0.3,
    100.0,
)  # of the learner's weight that an equal has at most, and forecasts by which it has half of it
_LOOK = 64  # answers from one look at the shares to the next
_ASLEEP = 0.03  # the share of all fitted models below which they sleep
_ROOM = 4_000_000  # numbers that are kept of answers and their rows
_SCALE, _SCALES, _SHOWN = 0.2, (0.01, 0.5), 64  # of labels around predictions, in unit labels, and rows to see it by
_NARROW = 2.0  # times as wide: by narrower bits, fits stay near what was asked, by much wider ones they overshoot
_DOUBT = 1.0  # nats against twice, or half, the temperature of a fit


@final
@dataclass(frozen=True, eq=False)
class MixtureState:
    """The learner's state, the fits (None: not yet), and who forecast how well.

    ``heat`` has the evidence of each model's temperatures.  ``store`` has rows and bits, ``kept`` of them.  ``turns``
    are answers at which each model was first fitted, is due, and how often it slept: 3 x members.  ``told``: all answers;
    ``awake``: since when the fitted models forecast, -1 while they sleep.
    """

    base: Any
    fits: tuple[Fit | None, ...]
    scores: Scores
    heat: Array
    turns: Array
    store: Buffer
    kept: int
    told: int
    awake: int


class Mixture(
    AsksMany[MixtureState], TellsMany[MixtureState], Streams[MixtureState], Refits[MixtureState],
    Forecasts[MixtureState],
):  # fmt: skip
    """See the module.  ``base`` sees the dense columns of a row, the members all that they know of."""

    base: AsksAt[Any]
    members: tuple[Member, ...]
    layout: RowLayout
    flip: float
    turns: ClassVar[int]

    @property
    @abstractmethod
    def likelihood(self) -> Likelihood:
        """What answers say of scores."""

    @abstractmethod
    def _blend(self, state: MixtureState, X: Array, said: Array, shares: list[float]) -> Array:
        """Return what is believed of rows, by weight: predictions in the user's units, or probabilities."""

    @abstractmethod
    def _said(self, state: MixtureState, X: Array) -> Array:
        """Return what the learner believes of rows."""

    # -- shape ------------------------------------------------------------------------------------

    @property
    def space(self) -> Space:  # type: ignore[override]  # the learner's
        return self.base.space

    @property
    def columns(self) -> int:
        return self.layout.columns

    @property
    def width(self) -> int:
        return self.base.width

    def init(self) -> MixtureState:
        K = len(self.members)
        turns = np.array([[0] * K, [one.first for one in self.members], [0] * K], dtype=np.int64).reshape(3, K)
        store = Buffer(self.columns + self.likelihood.width)
        scores, heat = Scores.none(K + 1), np.tile(self._cool, (K, 1))
        return MixtureState(self.base.init(), (None,) * K, scores, heat, turns, store, 0, 0, -1)

    @cached_property
    def _cool(self) -> Array:
        """The evidence of temperatures before anything was forecast."""
        return np.array([-_DOUBT * abs(log(one)) / log(2.0) for one in self.likelihood.temperatures])

    def _front(self, X: Array) -> Array:
        """Return the columns that the learner sees."""
        return np.ascontiguousarray(X[:, : self.base.columns])

    def _there(self, state: MixtureState) -> list[int]:
        """Return the places of the fitted models that forecast."""
        return [] if state.awake < 0 else [i for i, fit in enumerate(state.fits) if fit is not None]

    def shares(self, state: MixtureState) -> tuple[list[int], list[float]]:
        """Return the places of the fitted models that forecast, and the shares: first the learner's, then theirs."""
        there = self._there(state)
        if not there:
            return there, [1.0]
        tried = [state.told - int(state.turns[0, i]) for i in there]
        doubts = [log((n + _TRIED) / (_TRUST * max(n, 1e-3))) for n in tried]
        return there, state.scores.shares([0, *(1 + i for i in there)], np.array([0.0, *doubts]))

    def count(self, state: MixtureState) -> int:
        return self.base.count(state.base)

    # -- what is believed -------------------------------------------------------------------------

    def _scored(self, state: MixtureState, i: int, X: Array) -> Array:
        """Return the scores of a fitted model at rows, in unit labels."""
        fit = state.fits[i]
        assert fit is not None
        return self.members[i].scores(fit, X) * fit["scale"].item()

    def believed(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return predictions in the user's units, or probabilities, by all, weighted."""
        rows = as_rows(X, self.columns)
        said, (there, shares) = self._said(state, rows), self.shares(state)
        return self._blend(state, rows, said, shares) if there else said

    def ask(self, state: MixtureState, x: ArrayLike, uniform: Array) -> Question:
        row = as_row(x, self.columns)
        if state.awake < 0 or self._own(self.count(state)):
            return self.base.ask(state.base, row[0, : self.base.columns], uniform)
        return self.base.ask_at(self.believed(state, row), np.asarray(uniform)[None], self.count(state))[0]

    def ask_many(self, state: MixtureState, X: ArrayLike, uniform: Array) -> list[Question]:
        rows = as_rows(X, self.columns)
        if state.awake < 0 or self._own(self.count(state)):
            return ask_many(self.base, state.base, self._front(rows), uniform)
        return self.base.ask_at(self.believed(state, rows), np.asarray(uniform), self.count(state))

    def worth(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return what an answer should tell the learner."""
        return self.base.worth(state.base, self._front(as_rows(X, self.columns)))

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: MixtureState, x: ArrayLike, question: Question, answer: Answer) -> MixtureState:
        """Return the state after all that are awake were judged by the answer and the learner has learnt it."""
        row, bit = as_row(x, self.columns), self.likelihood.bit(question, answer)
        front = row[0, : self.base.columns]
        if not self._there(state):
            return self._kept(state, self.base.tell(state.base, front, question, answer), row, bit[None])
        if self._own(question.learnt):
            base = self.base.tell(state.base, front, question, answer)
        else:
            base = self.base.tell_asked(state.base, front, question, answer)
            state = self._judged(state, row, question, bit)
        return self._kept(self._looked(state), base, row, bit[None])

    def _own(self, learnt: int | None) -> bool:
        """Return whether a question is the learner's own though others are awake: it must go on to know itself."""
        return learnt is None or learnt % self.turns == 0

    @abstractmethod
    def _judged(self, state: MixtureState, row: Array, question: Question, bit: Array) -> MixtureState:
        """Return the state with the scores after an answer, which nobody has learnt yet."""

    def tell_many(
        self, state: MixtureState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> MixtureState:
        """See ``TellsMany.tell_many``: at once while the fitted models sleep."""
        rows = as_rows(X, self.columns)
        if self._there(state):
            for x, question, answer in zip(rows, questions, answers, strict=True):
                state = self.tell(state, x, question, answer)
            return state
        bits = np.array([self.likelihood.bit(*one) for one in zip(questions, answers, strict=True)])
        base = tell_many(self.base, state.base, self._front(rows), questions, answers)
        return self._kept(state, base, rows, bits) if len(rows) else state

    def _kept(self, state: MixtureState, base: Any, rows: Array, bits: Array) -> MixtureState:
        """Return the state with some more answers in store; where that is full, the older half goes."""
        store, kept = state.store, state.kept
        most = max(_ROOM // (self.columns + self.likelihood.width), 1000)
        if kept + len(rows) > most:
            half = min(kept, most // 2)
            store, kept = (
                Buffer(self.columns + self.likelihood.width).extended(0, store.view(kept)[kept - half :]),
                half,
            )
        store = store.extended(kept, np.hstack([rows, bits]))
        return replace(state, base=base, store=store, kept=kept + len(rows), told=state.told + len(rows))

    def _looked(self, state: MixtureState) -> MixtureState:
        """Let the fitted models sleep if their shares have come to nothing."""
        since = state.told + 1 - state.awake
        if since % _LOOK or self.shares(state)[1][0] < 1.0 - _ASLEEP:
            return state
        return replace(state, awake=-1)

    # -- fits -------------------------------------------------------------------------------------

    def _wanted(self, state: MixtureState) -> list[int]:
        return [i for i, one in enumerate(self.members) if state.told >= state.turns[1, i] and one.ready]

    def due(self, state: MixtureState) -> bool:
        return bool(self._wanted(state))

    def fit(self, state: MixtureState) -> Fit:
        """Return the models that are due, fitted to all answers that are kept."""
        X, bits = np.split(state.store.view(state.kept), [self.columns], axis=1)
        fits: Fit = {"told": np.array(state.told)}
        scale = self._scale(state)
        scaled = self.likelihood.scaled(bits, scale)
        for i in self._wanted(state):
            before = state.fits[i]
            found = self.members[i].fit(self.likelihood, X, scaled, self.flip, before)
            fits |= marked(f"{i}-", {**found, "scale": np.array(scale)})
        return fits

    @abstractmethod
    def _scale(self, state: MixtureState) -> float:
        """Return the scale of bits that models are fitted with."""

    def adopt(self, state: MixtureState, fit: Fit) -> MixtureState:
        """Return the state whose new models forecast from now on."""
        fits, turns = list(state.fits), state.turns.copy()
        there, shares = self.shares(state)
        earned = dict(zip(there, shares[1:], strict=True))
        for i in range(len(fits)):
            found = unmarked(f"{i}-", fit)
            if not found:
                continue
            if fits[i] is None:
                turns[0, i] = state.told
            else:
                turns[2, i] = 0 if earned.get(i, 0.0) >= _ASLEEP else min(turns[2, i] + 1, _SELDOM)
            fits[i] = found
            growth = _GROWTH ** (1 + int(turns[2, i]))
            turns[1, i] = max(int(fit["told"].item() * growth), state.told + 1)
        return replace(state, fits=tuple(fits), turns=turns, awake=state.told)

    # -- streams ----------------------------------------------------------------------------------

    def stream(self, state: MixtureState, X: Array, task: StreamTask) -> MixtureState:
        """Return the same for many rows: while the fitted models sleep, by the learner's own stream."""
        i = 0
        while i < len(X):
            if self._there(state):
                question = self.ask(state, X[i], task.draw(task.first + i, 1)[0])
                answer = task.answer(i, question)
                if answer is not None:
                    state = self.tell(state, X[i], question, answer)
                i += 1
            else:
                ready = [int(due) for due, one in zip(state.turns[1], self.members, strict=True) if one.ready]
                end = min([len(X), *(i + max(due - state.told, 1) for due in ready)])
                state = self._alone(state, X[i:end], task.part(i, end))
                i = end
            if self.due(state):
                state = self.adopt(state, self.fit(state))
        return state

    def _alone(self, state: MixtureState, X: Array, task: StreamTask) -> MixtureState:
        """Return the state after rows that only the learner asks about; what it hears is kept for the next fit."""
        heard: list[StreamBlock | Exchange] = []

        def listen(block: StreamBlock | Exchange) -> None:
            heard.append(block)
            if task.listen is not None:
                task.listen(block)

        base = stream(self.base, state.base, self._front(X), replace(task, listen=listen))
        places, bits = self._heard(task.rows, heard)
        return self._kept(state, base, X[places], bits) if len(places) else replace(state, base=base)

    @abstractmethod
    def _heard(self, rows: Array, heard: Sequence[StreamBlock | Exchange]) -> tuple[Array, Array]:
        """Return the places of rows that were answered, and their bits."""

    # -- the state as a value ---------------------------------------------------------------------

    def to_arrays(self, state: MixtureState) -> dict[str, Array]:
        arrays = {
            **state.scores._asdict(), "weights": np.array(state.scores.weights), "heat": state.heat,
            "turns": state.turns, "store": state.store.view(state.kept).copy(),
            "counts": np.array([state.told, state.awake]),
        }  # fmt: skip
        for i, fit in enumerate(state.fits):
            arrays |= {} if fit is None else marked(f"fit-{i}-", fit)
        return arrays | marked("base-", self.base.to_arrays(state.base))

    def from_arrays(self, arrays: dict[str, Array]) -> MixtureState:
        fits = tuple(unmarked(f"fit-{i}-", arrays) or None for i in range(len(self.members)))
        total, squared = arrays["weights"].tolist()
        scores = Scores(arrays["losses"], arrays["squares"], (total, squared))
        told, awake = arrays["counts"].tolist()
        kept = arrays["store"]
        store = Buffer(kept.shape[1]).extended(0, kept)
        base = self.base.from_arrays(unmarked("base-", arrays))
        return MixtureState(base, fits, scores, arrays["heat"], arrays["turns"], store, len(kept), told, awake)


def _moved(question: Question, by: float) -> Question:
    """Return a question about a label that is larger by so much."""
    if isinstance(question, Between):
        return replace(question, low=question.low + by, high=question.high + by)
    question = of_family(question, HalfSpace)
    return replace(question, threshold=question.threshold + question.direction[0] * by)


def _checked(mixture: Mixture) -> None:
    if mixture.base.columns > mixture.layout.columns:
        raise InvalidArgument("layout", f"rows of at least {mixture.base.columns} columns", mixture.layout.columns)


@final
@dataclass(frozen=True, eq=False)
class NumberMixture(
    Mixture, HasDeviation[MixtureState], HasInterval[MixtureState], TakesRanges[MixtureState], HasRange[MixtureState]
):
    """Regression to the median by a learner and fitted models."""

    base: Any
    members: tuple[Member, ...]
    layout: RowLayout
    flip: float = 0.0
    turns: ClassVar[int] = 4

    def __post_init__(self) -> None:
        _checked(self)

    @cached_property
    def likelihood(self) -> NumberBits:
        return NumberBits(self.base.space)

    def within(self, space: Real) -> Self:
        return replace(self, base=self.base.within(space))

    def _said(self, state: MixtureState, X: Array) -> Array:
        return self.base.predict(state.base, self._front(X))

    def _blend(self, state: MixtureState, X: Array, said: Array, shares: list[float]) -> Array:
        blended = shares[0] * said
        for i, share in zip(self._there(state), shares[1:], strict=True):
            blended = blended + share * self._clipped(self._scored(state, i, X))
        return blended

    def _clipped(self, F: Array) -> Array:
        return self.base.space.clipped(self.base.space.from_unit(F))

    def predict(self, state: MixtureState, X: ArrayLike) -> Array:
        return self.believed(state, X)

    def std(self, state: MixtureState, X: ArrayLike) -> Array | None:
        """Return sqrt(s^2 + sum of w_i (f_i - f)^2), with s the learner's own and f the weighted mean."""
        rows = as_rows(X, self.columns)
        own = deviation(self.base, state.base, self._front(rows))
        there, shares = self.shares(state)
        if own is None or not there:
            return own
        said = [self._said(state, rows), *(self._clipped(self._scored(state, i, rows)) for i in there)]
        middle = sum(share * one for share, one in zip(shares, said, strict=True))
        return np.sqrt(own**2 + sum(share * (one - middle) ** 2 for share, one in zip(shares, said, strict=True)))

    def interval(self, state: MixtureState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
        """Return the learner's interval for labels, moved to where all predict."""
        rows = as_rows(X, self.columns)
        own = interval(self.base, state.base, self._front(rows), level)
        if own is None or not self._there(state):
            return own
        moved = self.believed(state, rows) - self._said(state, rows)
        low, high = (self.base.space.clipped(end + moved) for end in own)
        return low, high

    def chance(self, state: MixtureState, x: ArrayLike, question: Question) -> float:
        """Return p(yes) by the learner's law of labels, moved to where all predict."""
        row = as_row(x, self.columns)
        moved = (self.believed(state, row) - self._said(state, row)).item() if self._there(state) else 0.0
        return self.base.chance(
            state.base, row[0, : self.base.columns], _moved(question, -moved) if moved else question
        )

    def _judged(self, state: MixtureState, row: Array, question: Question, bit: Array) -> MixtureState:
        if not isinstance(question, HalfSpace):
            return state
        (c, _, above), there = bit.tolist(), self._there(state)
        space = self.base.space
        unit = [space.to_unit(self._said(state, row)).item(), *(self._unit(state, i, row) for i in there)]
        losses = np.full(len(state.fits) + 1, unit[0])
        losses[[1 + i for i in there]] = unit[1:]
        losses = (c - losses) if above else (losses - c)
        return replace(state, scores=state.scores.after(losses, state.told))

    def _unit(self, state: MixtureState, i: int, row: Array) -> float:
        """Return a model's prediction within the range, in unit labels."""
        return float(self.base.space.to_unit(self._clipped(self._scored(state, i, row))).item())

    def _scale(self, state: MixtureState) -> float:
        """Return the logistic scale whose quartiles are those of labels by the learner: too large, and fits overshoot."""
        rows = state.store.view(state.kept)[-_SHOWN:, : self.columns]
        ends = interval(self.base, state.base, self._front(rows), 0.5)
        if ends is None:
            return _SCALE
        width = float(np.median((ends[1] - ends[0]) / self.base.space.scale))
        return float(np.clip(_NARROW * width / (2.0 * log(3.0)), *_SCALES))

    def _heard(self, rows: Array, heard: Sequence[StreamBlock | Exchange]) -> tuple[Array, Array]:
        blocks = [one for one in heard if isinstance(one, StreamBlock)]
        if not blocks:
            return np.empty(0, dtype=np.int64), np.empty((0, 3))
        thresholds, answers = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("thresholds", "answers"))
        places = np.flatnonzero(answers != 2)
        c = self.base.space.to_unit(thresholds[places, None])[:, 0]
        return places, np.column_stack([c, np.full(len(c), np.inf), answers[places] == 1])


@final
@dataclass(frozen=True, eq=False)
class ClassMixture(Mixture, HasProbabilities[MixtureState]):
    """Classification by a learner with probabilities and fitted models."""

    base: Any
    members: tuple[Member, ...]
    layout: RowLayout
    flip: float = 0.0
    turns: ClassVar[int] = 1 << 60

    def __post_init__(self) -> None:
        _checked(self)

    @cached_property
    def likelihood(self) -> ClassBits:
        return ClassBits(self.base.space)

    def _said(self, state: MixtureState, X: Array) -> Array:
        said = probabilities(self.base, state.base, self._front(X))
        assert said is not None
        return said

    def _blend(self, state: MixtureState, X: Array, said: Array, shares: list[float]) -> Array:
        blended = shares[0] * said
        for i, share in zip(self._there(state), shares[1:], strict=True):
            p = self.likelihood.probabilities(self._scored(state, i, X), softmax(state.heat[i]))
            blended = blended + share * p
        return blended

    def chance(self, state: MixtureState, x: ArrayLike, question: Question) -> float:
        """Return p(yes), by weight."""
        row, bit = as_row(x, self.columns), self.likelihood.bit(question, True)
        said = [one for one, _ in self._foretold(state, row, question, bit)]
        return sum(share * one for share, one in zip(self.shares(state)[1], said, strict=True))

    def _foretold(self, state: MixtureState, row: Array, question: Question, bit: Array) -> list[tuple[float, Array]]:
        """Return the chance of a bit by the learner and by each model, and by each temperature."""
        yes = self.base.chance(state.base, row[0, : self.base.columns], question)
        told = bool((bit > 0)[self.base.space.inside(of_family(question, Subset).members, "question") > 0].all())
        said = [(yes if told else 1.0 - yes, np.empty(0))]
        for i in self._there(state):
            chances = self.likelihood.chances(self._scored(state, i, row)[0], 1.0, bit)
            chances = self.flip + (1.0 - 2.0 * self.flip) * chances
            said.append((float((softmax(state.heat[i]) * chances).sum()), chances))
        return said

    def _judged(self, state: MixtureState, row: Array, question: Question, bit: Array) -> MixtureState:
        said, heat, there = self._foretold(state, row, question, bit), state.heat.copy(), self._there(state)
        loss = [-log((1.0 - _LAPSE) * one + 0.5 * _LAPSE) for one, _ in said]
        losses = np.full(len(state.fits) + 1, loss[0])
        losses[[1 + i for i in there]] = loss[1:]
        keep = 1.0 - 1.0 / max(0.5 * state.told, 50.0)
        for i, (_, chances) in zip(there, said[1:], strict=True):
            heat[i] = keep * heat[i] + logs((1.0 - _LAPSE) * chances + 0.5 * _LAPSE)
        return replace(state, scores=state.scores.after(losses, state.told), heat=heat)

    def _scale(self, state: MixtureState) -> float:
        return 1.0

    def probabilities(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return p(y|x), by weight."""
        return self.believed(state, X)

    def predict(self, state: MixtureState, X: ArrayLike) -> Array:
        space: FiniteSpace = self.base.space
        return np.asarray(self.believed(state, X) @ space.embedding)

    def _heard(self, rows: Array, heard: Sequence[StreamBlock | Exchange]) -> tuple[Array, Array]:
        told = [(k, one) for k, one in enumerate(heard) if isinstance(one, Exchange) and one.answer is not None]
        bits = [self.likelihood.bit(one.question, one.answer) for _, one in told if one.answer is not None]
        return np.array([k for k, _ in told], dtype=np.int64), np.array(bits).reshape(len(bits), self.likelihood.width)
