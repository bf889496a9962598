"""A learner that learns with each answer, models fitted to all answers now and then, and weights that say who is right.

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
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log, logs
from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.labels.base import Space
from askone.learners import abilities
from askone.learners.base import marked, unmarked
from askone.learners.mixture.bits import BitLikelihood
from askone.learners.mixture.cross_fit import by_the_others, halves, weights
from askone.learners.mixture.members import Fit, FittedMember, require_array
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.scores import Scores
from askone.learners.streaming import Exchange, StreamBlock, StreamTask
from askone.questions.base import Answer, Question

_GROWTH = 1.2  # of the answers, from fit to fit
_SELDOM = 3  # times that a model may sleep and be fitted the more seldom, at last when the answers have doubled
_TRUST, _TRIED = 0.3, 100.0  # see ``_caution``: the learner's own weight is 1, answers count from the first fit on
_EARLY = 8  # answers by output before the first fit of what alone reads texts: no other guess is any better
_LATE = 2  # a fit is not the first of its model if answers are so many times those that the first one takes
_ANEW = 512  # answers after a change of the concept by which models are fitted to those since
LOOK = 64  # answers from one look at the shares to the next
_ASLEEP = 0.03  # the share of all fitted models below which they sleep
FAINT = 1e-3  # the share below which a model is not asked what it says
_PARTED = 32  # answers from which on fitted models say something in hindsight
_ROOM = 4_000_000  # numbers that are kept of answers and their rows
_BLOCK = 256  # rows of a stream that fitted models score at once
_DOUBT = 1.0  # nats against twice, or half, the temperature of a fit


Scored = dict[int, Array]
"""The scores of some rows by fitted models, by their places."""


@final
@dataclass(frozen=True, eq=False)
class MixtureState:
    """The learner's state, the fits (None: not yet), and who forecast how well.

    ``heat`` has the evidence of each model's temperatures.  ``store`` has rows and bits, ``kept`` of them.  ``turns``
    are answers at which each model was first fitted, is due, how often it slept, and when the concept began that it was
    fitted to: 4 x members.  ``told``: all answers; ``awake``: since when the fitted models forecast, -1 while they
    sleep; ``began``: answers before the concept that ``scores`` are about.
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
    began: int
    moves: dict[bytes, float] = field(default_factory=dict, init=False, repr=False)
    """What was found of rows at this state: exams ask of one row again and again (see ``NumberMixture.chance``)."""


class Mixture(
    abilities.AsksMany[MixtureState],
    abilities.TellsMany[MixtureState],
    abilities.Streams[MixtureState],
    abilities.Refits[MixtureState],
    abilities.Hindsight[MixtureState],
    abilities.Forgets[MixtureState],
    abilities.Blends[MixtureState],
):
    """See the module.  ``base`` sees the dense columns of a row, the members all that they know of."""

    base: abilities.AsksAt[Any]
    members: tuple[FittedMember, ...]
    layout: RowLayout
    flip: float
    turns: ClassVar[int]
    """Of so many questions one is the learner's own while others are awake."""

    def __post_init__(self) -> None:
        if self.base.columns > self.layout.columns:
            raise InvalidArgument("layout", f"rows of at least {self.base.columns} columns", self.layout.columns)
        if any(one.layout != self.layout for one in self.members):
            raise InvalidArgument("members", "models of rows of the same layout", [one.layout for one in self.members])

    @property
    @abstractmethod
    def likelihood(self) -> BitLikelihood:
        """What answers say of scores."""

    @abstractmethod
    def _blend(self, state: MixtureState, said: Array, scores: Scored, shares: list[float]) -> Array:
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
        firsts = [self._first(i) for i in range(K)]
        turns = np.array([[0] * K, firsts, [0] * K, [0] * K], dtype=np.int64).reshape(4, K)
        store = Buffer(self.columns + self.likelihood.width)
        scores, heat = Scores.none(K + 1), np.tile(self._cool, (K, 1))
        return MixtureState(self.base.init(), (None,) * K, scores, heat, turns, store, 0, 0, -1, 0)

    @cached_property
    def _telling(self) -> float:
        """Return what an answer tells as a part of what it would without flips: (1 - 2 pi)^2 where it is a toss-up."""
        return (1.0 - 2.0 * self.flip) ** 2

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
        return self._shared(state, state.told, self._scores(state))

    def _shared(self, state: MixtureState, told: int, scores: Scores) -> tuple[list[int], list[float]]:
        """Return the same after so many answers, by these scores."""
        there = self._there(state)
        if not there:
            return there, [1.0]
        [doubts] = self._doubts(state, there, np.array([told]))
        return there, scores.shares([0, *(1 + i for i in there)], doubts, FAINT)

    def _doubts(self, state: MixtureState, there: list[int], told: Array) -> Array:
        """Return doubts of the learner and of these models, each time after so many answers (see ``Scores.shares``)."""
        n = np.maximum(self._telling * (told[:, None] - state.turns[0, there]), 1e-3)
        trust, tried = np.array([self._caution(i) for i in there]).T
        doubts = np.zeros((len(told), 1 + len(there)))
        doubts[:, 1:] = logs(((n + tried) / (trust * n)).ravel()).reshape(n.shape)
        return doubts

    def _caution(self, i: int) -> tuple[float, float]:
        """Return the weight at most of a model that is as good as the learner, and by when it has half of that."""
        return _TRUST, _TRIED

    def blend(self, state: MixtureState) -> list[tuple[str, float]]:
        there, shares = self.shares(state)
        return list(zip(["", *(type(self.members[i]).__name__ for i in there)], shares, strict=True))

    def known(self, state: MixtureState) -> int:
        return state.told - self._since(state)

    def count(self, state: MixtureState) -> int:
        return self.base.count(state.base)

    # -- what is believed -------------------------------------------------------------------------

    def _scored(self, state: MixtureState, X: Array) -> Scored:
        """Return the scores of the fitted models that forecast, in unit labels."""
        return {i: self._scores_of(state, i, X) for i in self._there(state)}

    def _scores_of(self, state: MixtureState, i: int, X: Array) -> Array:
        """Return the scores of one fitted model."""
        fit = state.fits[i]
        assert fit is not None
        return np.asarray(self.members[i].scores(fit, X) * fit["scale"].item())

    def believed(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return predictions in the user's units, or probabilities, by all, weighted."""
        rows = as_rows(X, self.columns)
        said, (there, shares) = self._said(state, rows), self.shares(state)
        return self._blend(state, said, self._scored(state, rows), shares) if there else said

    def ask(self, state: MixtureState, x: ArrayLike, uniform: Array) -> Question:
        row = as_row(x, self.columns)
        return self._asked(state, row, np.asarray(uniform), self._scored(state, row))

    def _asked(self, state: MixtureState, row: Array, uniform: Array, scores: Scored) -> Question:
        if state.awake < 0 or self._own(self.count(state)):
            return self.base.ask(state.base, row[0, : self.base.columns], uniform)
        shares = self.shares(state)[1]
        said = self._said(state, row) if shares[0] else np.zeros(())
        believed = self._blend(state, said, scores, shares)
        return self.base.ask_at(believed, uniform[None], self.count(state))[0]

    def ask_many(self, state: MixtureState, X: ArrayLike, uniform: Array) -> list[Question]:
        rows = as_rows(X, self.columns)
        if state.awake < 0 or self._own(self.count(state)):
            return abilities.ask_many(self.base, state.base, self._front(rows), uniform)
        return self.base.ask_at(self.believed(state, rows), np.asarray(uniform), self.count(state))

    def hindsight(
        self, state: MixtureState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the learner says: what a fitted model would say without an answer takes a fit."""
        return abilities.hindsight(self.base, state.base, self._front(as_rows(X, self.columns)), questions, answers)

    def full_hindsight(
        self, state: MixtureState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the learner says, and what leads of the fitted models where they know more (see ``cross_fit``).

        Of texts the learner sees nothing: until a model has read them, whoever is right would seem to err.
        """
        rows = as_rows(X, self.columns)
        own = abilities.hindsight(self.base, state.base, self._front(rows), questions, answers)
        there, shares = self.shares(state)
        more = len(there) > 0 and shares[0] < 0.5
        if own is None or not more or len(rows) < _PARTED:
            asleep = state.awake < 0 and any(fit is not None for fit in state.fits)
            return own if asleep or not (more or any(one.reads_texts for one in self.members)) else None
        leader = there[int(np.argmax(shares[1:]))]
        bits = np.array([self.likelihood.bit(*one) for one in zip(questions, answers, strict=True)])
        scale, second = self._scale(state), halves(self.likelihood.keys(bits))
        fitted = partial(self._fitted_to, self.members[leader].quick, rows, bits, scale)
        said = np.array([
            self.likelihood.as_said(own, bits, answers),
            *self.likelihood.foretold(by_the_others(second, fitted), scale, bits),
        ])  # fmt: skip
        chances = np.array([self.likelihood.of_bits(one, bits, self.flip) for one in said])
        return self.likelihood.as_said(np.tensordot(weights(chances.T), said, axes=1), bits, answers)

    def _fitted_to(
        self, member: FittedMember, X: Array, bits: Array, scale: float, known: Array, asked: Array
    ) -> Array:
        """Return the scores of some rows by a fit to the bits about others, in unit labels."""
        told = self.likelihood.in_turn(Buffer(self.likelihood.width), 0, bits[known])
        counts = self.likelihood.count(told)
        fit = member.fit(
            self.likelihood, X[known][counts], self.likelihood.scaled(told[counts], scale), self.flip, None
        )
        return np.asarray(member.scores(fit, X[asked]) * scale)

    def relearnt(
        self, state: MixtureState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> MixtureState:
        """See ``Hindsight.relearnt``: the learner's part, and the bits for the next fit."""
        base = self._base_relearnt(state, self._front(X), questions, answers)
        told = [self.likelihood.bit(*one) for one in zip(questions, answers, strict=True)][-state.kept :]
        kept = state.store.view(state.kept).copy()
        bits = np.array(told).reshape(len(told), self.likelihood.width)
        first = len(kept) - len(bits)
        store = Buffer(kept.shape[1]).extended(0, kept[:first])
        kept[first:, self.columns :] = self.likelihood.in_turn(store, first, bits)
        return replace(state, base=base, store=store.extended(first, kept[first:]))

    def _base_relearnt(
        self, state: MixtureState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Any:
        """Return the learner's state after all was learnt anew."""
        return abilities.relearnt(self.base, state.base, X, questions, answers)

    def worth(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return what an answer should tell the learner."""
        return self.base.worth(state.base, self._front(as_rows(X, self.columns)))

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: MixtureState, x: ArrayLike, question: Question, answer: Answer) -> MixtureState:
        """Return the state after all that are awake were judged by the answer and the learner has learnt it."""
        row = as_row(x, self.columns)
        scores = self._scored(state, row)
        return self._told(self._opened(state) if scores else state, row, question, answer, scores)

    def _opened(self, state: MixtureState) -> MixtureState:
        """Return a state that answers may be written into, for ``_told``."""
        return replace(state, base=abilities.opened(self.base, state.base))

    def _told(
        self, state: MixtureState, row: Array, question: Question, answer: Answer, scores: Scored
    ) -> MixtureState:
        """Return the state after an answer; one that was opened is used up."""
        bit, front = self.likelihood.bit(question, answer), row[0, : self.base.columns]
        if not scores:
            return self._kept(state, self.base.tell(state.base, front, question, answer), row, bit[None])
        state, base = self._learnt(state, row, question, answer, bit, scores)
        return self._kept(self._looked(state, state.told, self._scores(state)), base, row, bit[None])

    def _own(self, learnt: int | None) -> bool:
        """Return whether a question is the learner's own though others are awake: it must go on to know itself."""
        return learnt is None or learnt % self.turns == 0

    @abstractmethod
    def _learnt(
        self, state: MixtureState, row: Array, question: Question, answer: Answer, bit: Array, scores: Scored
    ) -> tuple[MixtureState, Any]:
        """Return the scores after an answer that nobody had learnt, in a state, and the learner's state after it."""

    def tell_many(
        self, state: MixtureState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> MixtureState:
        """See ``TellsMany.tell_many``: in blocks, at once while the fitted models sleep."""
        rows, done = as_rows(X, self.columns), 0
        while done < len(rows) and self._there(state):
            end = min(len(rows), done + LOOK - (state.told - state.awake) % LOOK)  # they may sleep from there on
            part = slice(done, end)
            state = self._told_many(state, rows[part], questions[part], answers[part])
            done = end
        return self._told_alone(state, rows[done:], questions[done:], answers[done:])

    def _told_many(
        self, state: MixtureState, rows: Array, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> MixtureState:
        """Return the state after some answers, up to the next look at the shares, while fitted models are awake."""
        scored = self._scored(state, rows)
        abilities.expect(self.base, self._front(rows))
        state = self._opened(state)
        for k, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            state = self._told(state, rows[k : k + 1], question, answer, {i: F[k : k + 1] for i, F in scored.items()})
        return state

    def _told_alone(
        self, state: MixtureState, rows: Array, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> MixtureState:
        """Return the state after some answers while the fitted models sleep."""
        if not len(rows):
            return state
        bits = np.array([self.likelihood.bit(*one) for one in zip(questions, answers, strict=True)])
        base = abilities.tell_many(self.base, state.base, self._front(rows), questions, answers)
        return self._kept(state, base, rows, bits)

    def _kept(self, state: MixtureState, base: Any, rows: Array, bits: Array) -> MixtureState:
        """Return the state with some more answers in store; where that is full, the older half goes."""
        store, kept, width = state.store, state.kept, self.columns + self.likelihood.width
        most = max(_ROOM // width, 1000)
        if kept + len(rows) > most:
            half = min(kept, most // 2)
            store, kept = Buffer(width).extended(0, store.view(kept)[kept - half :]), half
        bits = self.likelihood.in_turn(store, kept, bits)
        store = store.extended(kept, np.hstack([rows, bits]))
        return replace(state, base=base, store=store, kept=kept + len(rows), told=state.told + len(rows))

    def _known(self, state: MixtureState) -> int:
        """Return how many of the last answers are about the concept of now, by the learner."""
        return abilities.known(self.base, state.base)

    def _began(self, state: MixtureState) -> int:
        """Return the answers before the concept of now began, by the learner."""
        return state.told - self._known(state)

    def _since(self, state: MixtureState) -> int:
        """Return the answers before those that models are fitted to.

        The learner may begin anew because others ask where it errs.  While fitted models that know more hold their own
        against it, nothing has changed for them.
        """
        began = self._began(state)
        return began if state.awake < 0 else min(began, int(state.turns[3].max()))

    def _scores(self, state: MixtureState) -> Scores:
        """Return who forecast how well since the learner began anew, or came back to what it knew before."""
        return state.scores if state.began == self._began(state) else Scores.none(len(state.fits) + 1)

    def _judged_by(self, state: MixtureState, losses: Array) -> MixtureState:
        """Return the scores after one more loss of each."""
        scores = self._scores(state).after(losses, self._known(state))
        return replace(state, scores=scores, began=self._began(state))

    def _looked(self, state: MixtureState, told: int, scores: Scores) -> MixtureState:
        """Let the fitted models sleep if their shares have come to nothing, after one answer more than ``told``."""
        since = told + 1 - state.awake
        if since % LOOK or self._shared(state, told, scores)[1][0] < 1.0 - _ASLEEP:
            return state
        return replace(state, awake=-1)

    # -- fits -------------------------------------------------------------------------------------

    def _wanted(self, state: MixtureState) -> list[int]:
        return [i for i, one in enumerate(self.members) if state.told >= self._due_at(state, i) and one.ready]

    def _due_at(self, state: MixtureState, i: int) -> int:
        """Return the answers at which a fit is due; after a change not at once: it may have been none."""
        since = self._since(state)
        return int(state.turns[1, i]) if state.turns[3, i] == since else since + max(_ANEW, self._first(i))

    def _first(self, i: int) -> int:
        """Return the answers before the first fit of a model."""
        member = self.members[i]
        first = min(member.first, _EARLY * max(self.likelihood.outputs, 2)) if member.reads_texts else member.first
        return round(first / self._telling)

    def due(self, state: MixtureState) -> bool:
        return bool(self._wanted(state))

    def fit(self, state: MixtureState) -> Fit:
        """Return the models that are due, fitted to all answers that are kept since the concept changed."""
        since = self._since(state)
        X, bits = np.split(state.store.view(state.kept)[since - state.told :], [self.columns], axis=1)
        counts = self.likelihood.count(bits)
        X, bits = X[counts], bits[counts]
        fits: Fit = {"told": np.array(state.told), "since": np.array(since)}
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
        for name in ("told", "since"):
            require_array(fit, name, "i8")
        fits, turns, heat, scores = list(state.fits), state.turns.copy(), state.heat.copy(), state.scores
        there, shares = self.shares(state)
        told, since = int(fit["told"].item()), int(fit["since"].item())
        earned = dict(zip(there, shares[1:], strict=True))
        for i in range(len(fits)):
            found = unmarked(f"{i}-", fit)
            if not found:
                continue
            self._check(i, found)
            if fits[i] is None or turns[3, i] != since:
                # What a model said of another concept is not held against it.
                turns[0, i], turns[2, i], heat[i] = self._met(i, state.told, since), 0, self._cool
                scores = Scores.none(len(fits) + 1)
            else:
                turns[2, i] = 0 if earned.get(i, 0.0) >= _ASLEEP else min(turns[2, i] + 1, _SELDOM)
            fits[i], turns[3, i] = found, since
            growth = _GROWTH ** (1 + int(turns[2, i]))
            turns[1, i] = max(told + int((told - since) * (growth - 1.0)), state.told + 1)
        return replace(state, fits=tuple(fits), turns=turns, heat=heat, scores=scores, awake=state.told)

    def _met(self, i: int, told: int, since: int) -> int:
        """Return the answers from which on a model counts as known, which is fitted for the first time.

        One that comes late has lost its earlier fits, as when somebody's answers were left out: it is trusted as if it
        had been there and forecast as well as the learner, or texts that it alone reads would count for nothing.
        """
        first = self._first(i)
        return first if not since and told >= _LATE * first else told

    def _check(self, i: int, fit: Fit) -> None:
        require_array(fit, "scale", "f8")
        self.members[i].check(fit, self.likelihood.outputs)

    # -- streams ----------------------------------------------------------------------------------

    def stream(self, state: MixtureState, X: Array, task: StreamTask) -> MixtureState:
        """Return the same for many rows: while the fitted models sleep, by the learner's own stream."""
        i = 0
        while i < len(X):
            if self._there(state):
                end, state = self._together(state, X, task, i)
            else:
                ready = [self._due_at(state, k) for k, one in enumerate(self.members) if one.ready]
                end = min([len(X), *(i + max(due - state.told, 1) for due in ready)])
                state = self._alone(state, X[i:end], task.part(i, end))
            i = end
            if self.due(state):
                state = self.adopt(state, self.fit(state))
        return state

    def _together(self, state: MixtureState, X: Array, task: StreamTask, first: int) -> tuple[int, MixtureState]:
        """Return the row after some that all ask about, and the state: until a fit is due, or the models sleep."""
        ready = [self._due_at(state, k) - state.told for k, one in enumerate(self.members) if one.ready]
        block = X[first : first + max(min([_BLOCK, *ready]), 1)]
        scored, uniform = self._scored(state, block), task.draw(task.first + first, len(block))
        abilities.expect(self.base, self._front(block))
        state = self._opened(state)
        for k in range(len(block)):
            row, scores = block[k : k + 1], {i: one[k : k + 1] for i, one in scored.items()}
            question = self._asked(state, row, uniform[k], scores)
            answer = task.answer(first + k, question)
            if answer is not None:
                state = self._told(state, row, question, answer, scores)
            if state.awake < 0 or self.due(state):
                return first + k + 1, state
        return first + len(block), state

    def _alone(self, state: MixtureState, X: Array, task: StreamTask) -> MixtureState:
        """Return the state after rows that only the learner asks about; what it hears is kept for the next fit."""
        heard: list[StreamBlock | Exchange] = []
        base = abilities.stream(self.base, state.base, self._front(X), listened(task, heard))
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
            "counts": np.array([state.told, state.awake, state.began]),
        }  # fmt: skip
        for i, fit in enumerate(state.fits):
            arrays |= {} if fit is None else marked(f"fit-{i}-", fit)
        return arrays | marked("base-", self.base.to_arrays(state.base))

    def from_arrays(self, arrays: dict[str, Array]) -> MixtureState:
        fits = tuple(unmarked(f"fit-{i}-", arrays) or None for i in range(len(self.members)))
        for i, fit in enumerate(fits):
            if fit is not None:
                self._check(i, fit)
        total, squared = arrays["weights"].tolist()
        scores = Scores(arrays["losses"], arrays["squares"], (total, squared))
        told, awake, began = arrays["counts"].tolist()
        kept = self.likelihood.completed(arrays["store"], self.columns)
        store = Buffer(kept.shape[1]).extended(0, kept)
        base = self.base.from_arrays(unmarked("base-", arrays))
        return MixtureState(base, fits, scores, arrays["heat"], arrays["turns"], store, len(kept), told, awake, began)


def listened(task: StreamTask, heard: list[StreamBlock | Exchange]) -> StreamTask:
    """Return a task that writes down what is asked and answered, beside telling whoever listens."""

    def listen(block: StreamBlock | Exchange) -> None:
        heard.append(block)
        if task.listen is not None:
            task.listen(block)

    return replace(task, listen=listen)
