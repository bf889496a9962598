"""Numbers by a learner and fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log
from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.features.layout import RowLayout
from askone.labels.number import Real
from askone.learners import abilities, step_loops
from askone.learners.base import of_family
from askone.learners.mixture.base import FAINT, LOOK, Mixture, MixtureState, Scored, listened
from askone.learners.mixture.bits import NumberBits
from askone.learners.mixture.members import FittedMember
from askone.learners.scores import Scores
from askone.learners.streaming import Beside, Exchange, StreamBlock, StreamTask
from askone.questions.base import HONEST, Answer, Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace

# The scale of labels around predictions, in unit labels, between which ends, and the rows to see it by.  Narrower bits
# have no curvature from afar, and a few hundred trees do not find their way to them; by wider ones they go far beyond
# all that was asked, as a bit near the prediction then says next to nothing against it.
_SCALE, _SCALES, _SHOWN = 0.2, (0.035, 0.2), 64
_HEARD = HONEST.yes, HONEST.trust
_MOVES = 64  # rows of which a state remembers where they are moved
_WIDER = 2.0  # times as wide: by narrower bits, fits stay near what was asked, by much wider ones they overshoot


@final
@dataclass(frozen=True, eq=False)
class NumberMixture(
    Mixture,
    abilities.HasDeviation[MixtureState],
    abilities.PredictsWithin[MixtureState],
    abilities.TakesRanges[MixtureState],
    abilities.HasRange[MixtureState],
):
    """Regression to the median by a learner and fitted models."""

    base: Any
    members: tuple[FittedMember, ...]
    layout: RowLayout
    flip: float = 0.0
    turns: ClassVar[int] = 4

    @cached_property
    def likelihood(self) -> NumberBits:
        return NumberBits(self.base.space)

    @property
    def space(self) -> Real:  # type: ignore[override]  # the learner's
        return self.base.space  # type: ignore[no-any-return]

    def within(self, space: Real) -> Self:
        return replace(self, base=self.base.within(space))

    def _said(self, state: MixtureState, X: Array) -> Array:
        return np.asarray(self.base.predict(state.base, self._front(X)))

    def _blend(self, state: MixtureState, said: Array, scores: Scored, shares: list[float]) -> Array:
        blended = shares[0] * said
        for share, F in zip(shares[1:], scores.values(), strict=True):
            if share:
                blended = blended + share * self._clipped(F)
        return blended

    def _clipped(self, F: Array) -> Array:
        return self.space.clipped(self.space.from_unit(F))

    def predict(self, state: MixtureState, X: ArrayLike) -> Array:
        return self.believed(state, X)

    def std(self, state: MixtureState, X: ArrayLike) -> Array | None:
        """Return sqrt(s^2 + sum of w_i (f_i - f)^2), with s the learner's own and f the weighted mean."""
        rows = as_rows(X, self.columns)
        own = abilities.deviation(self.base, state.base, self._front(rows))
        there, shares = self.shares(state)
        if own is None or not there:
            return own
        said = [self._said(state, rows), *map(self._clipped, self._scored(state, rows).values())]
        middle = sum(share * one for share, one in zip(shares, said, strict=True))
        return np.sqrt(own**2 + sum(share * (one - middle) ** 2 for share, one in zip(shares, said, strict=True)))

    def interval(self, state: MixtureState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
        """Return the learner's interval for labels, moved to where all predict."""
        return self.predict_within(state, X, level)[1]

    def predict_within(self, state: MixtureState, X: ArrayLike, level: float | None = None) -> abilities.Within:
        rows = as_rows(X, self.columns)
        said, (there, shares) = self._said(state, rows), self.shares(state)
        own = abilities.interval(self.base, state.base, self._front(rows), level)
        if not there:
            return said, own
        believed = self._blend(state, said, self._scored(state, rows), shares)
        if own is None:
            return believed, None
        low, high = (self.base.space.clipped(end + believed - said) for end in own)
        return believed, (low, high)

    def chance(self, state: MixtureState, x: ArrayLike, question: Question) -> float:
        """Return p(yes) by the learner's law of labels, moved to where all predict."""
        row = as_row(x, self.columns)
        moved = self._move(state, row) if self._there(state) else 0.0
        near = _moved(question, -moved) if moved else question
        return float(self.base.chance(state.base, row[0, : self.base.columns], near))

    def _move(self, state: MixtureState, row: Array) -> float:
        """Return from where the learner predicts to where all do; an exam asks for it at dozens of thresholds."""
        key = row.tobytes()
        found = state.moves.get(key)
        if found is None:
            said = self._said(state, row)
            found = (self._blend(state, said, self._scored(state, row), self.shares(state)[1]) - said).item()
            if len(state.moves) >= _MOVES:
                state.moves.clear()
            state.moves[key] = found
        return found

    def _learnt(
        self, state: MixtureState, row: Array, question: Question, answer: Answer, bit: Array, scores: Scored
    ) -> tuple[MixtureState, Any]:
        front = row[0, : self.base.columns]
        if self._own(question.learnt):
            return state, self.base.tell(state.base, front, question, answer)
        if abilities.able(self.base, abilities.TellsJudged):
            found = self.base.tell_judged(state.base, front[None], [question], [answer], np.ones(1, np.bool_))
            said, base = found.said, found.state
        else:
            said, base = self._said(state, row), self.base.tell_asked(state.base, front, question, answer)
        if not isinstance(question, HalfSpace):
            return state, base
        [losses] = self._losses(len(state.fits), said, bit[None], scores)
        return self._judged_by(state, losses), base

    def _losses(self, fits: int, said: Array, bits: Array, scores: Scored) -> Array:
        """Return the loss of everybody at each row, n x (1 + fits); who said nothing has the learner's."""
        values = self._values(fits, self.base.space.to_unit(said), scores)
        c, above, floor, trust = (bits[:, k : k + 1] for k in (0, 2, 3, 4))
        # E[(1 - floor) / trust] is the honest share of such answers; by trust^2, as far as one tells much.
        sure = trust * (2.0 * (1.0 - floor) - trust)
        return np.asarray(sure * np.where(above > 0, c - values, values - c))

    def _values(self, fits: int, said: Array, scores: Scored) -> Array:
        """Return what everybody says of each row, in unit labels; who said nothing has the learner's."""
        values = np.repeat(said, 1 + fits, axis=1)
        for i, F in scores.items():
            values[:, 1 + i] = self.base.space.to_unit(self._clipped(F))[:, 0]
        return values

    def _together(self, state: MixtureState, X: Array, task: StreamTask, first: int) -> tuple[int, MixtureState]:
        """See ``Mixture._together``: in compiled blocks, up to the next look at the shares."""
        if not abilities.able(self.base, abilities.TellsJudged):
            return super()._together(state, X, task, first)
        ready = [self._due_at(state, k) - state.told for k, one in enumerate(self.members) if one.ready]
        n = min([len(X) - first, LOOK - (state.told - state.awake) % LOOK, *ready])
        rows, heard = X[first : first + n], list[StreamBlock | Exchange]()
        beside = self._beside(state, rows)
        part = listened(task.part(first, first + n), heard)
        found = self.base.stream_beside(state.base, self._front(rows), part, beside)
        if found is None:
            return super()._together(state, X, task, first)
        places, bits = self._heard(task.rows, heard)
        if not len(places):
            return first + found[0], replace(state, base=found[1])
        total, squared = beside.weights.tolist()
        if any((self.count(state) + k) % self.turns for k in range(len(places))):
            state = replace(
                state, scores=Scores(beside.losses, beside.squares, (total, squared)), began=self._began(state)
            )
        looked = self._looked(state, state.told + len(places) - 1, self._scores(state))
        return first + found[0], self._kept(looked, found[1], rows[places], bits)

    def _beside(self, state: MixtureState, rows: Array) -> Beside:
        """Return what the fitted models say of rows, and the scores, to be written into."""
        there, scores = self._there(state), self._scores(state)
        said = self._values(len(state.fits), np.zeros((len(rows), 1)), self._scored(state, rows))
        doubts = self._doubts(state, there, state.told + np.arange(len(rows) + 1))
        places = np.array([0, *(1 + i for i in there)])
        written = scores.losses.copy(), scores.squares.copy(), np.array(scores.weights)
        return Beside(said, places, doubts, *written, 0, 0, self.turns, FAINT)

    def _told_many(
        self, state: MixtureState, rows: Array, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> MixtureState:
        if not abilities.able(self.base, abilities.TellsJudged):
            return super()._told_many(state, rows, questions, answers)
        bits = np.array([self.likelihood.bit(*one) for one in zip(questions, answers, strict=True)])
        quiet = np.array([not self._own(question.learnt) for question in questions])
        found = self.base.tell_judged(state.base, self._front(rows), questions, answers, quiet)
        losses = self._losses(len(state.fits), found.said, bits, self._scored(state, rows))
        scores, began = state.scores, state.began
        for k in np.flatnonzero(quiet).tolist():
            if isinstance(questions[k], HalfSpace):
                known = int(found.known[k])
                since = state.told + k - known
                scores = (scores if began == since else Scores.none(len(state.fits) + 1)).after(losses[k], known)
                began = since
        last, known = state.told + len(rows) - 1, int(found.known[-1])
        heard = scores if began == last - known else Scores.none(len(state.fits) + 1)
        looked = self._looked(replace(state, scores=scores, began=began), last, heard)
        return self._kept(looked, found.state, rows, bits)

    def _base_relearnt(
        self, state: MixtureState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Any:
        """Questions of others do not count in the learner's evidence, as when they were first learnt."""
        if state.awake < 0 or not abilities.able(self.base, abilities.TellsJudged):
            return super()._base_relearnt(state, X, questions, answers)
        since = int(state.turns[0][[fit is not None for fit in state.fits]].min())  # answers at the first fit of all
        quiet = [one.learnt is not None and one.learnt >= since and not self._own(one.learnt) for one in questions]
        return self.base.relearnt_judged(state.base, X, questions, answers, np.array(quiet, np.bool_))

    def _scale(self, state: MixtureState) -> float:
        """Return twice the logistic scale whose quartiles are those of labels by the learner."""
        rows = state.store.view(state.kept)[-_SHOWN:, : self.columns]
        ends = abilities.interval(self.base, state.base, self._front(rows), 0.5)
        if ends is None:
            return _SCALE
        width = float(np.median((ends[1] - ends[0]) / self.base.space.scale))
        return float(np.clip(_WIDER * width / (2.0 * log(3.0)), *_SCALES))

    def _heard(self, rows: Array, heard: Sequence[StreamBlock | Exchange]) -> tuple[Array, Array]:
        blocks = [one for one in heard if isinstance(one, StreamBlock)]
        if not blocks:
            return np.empty(0, dtype=np.int64), np.empty((0, self.likelihood.width))
        units = [self.space.to_unit(one.thresholds[:, None])[:, 0] if one.unit is None else one.unit for one in blocks]
        answers = np.concatenate([one.answers for one in blocks])
        places = np.flatnonzero(answers != step_loops.SKIPPED)
        c = np.concatenate(units)[places]
        bits = np.full((len(c), self.likelihood.width), (0.0, np.inf, 0.0, *_HEARD))
        bits[:, 0], bits[:, 2] = c, answers[places] == 1
        return places, bits


def _moved(question: Question, by: float) -> Question:
    """Return a question about a label that is larger by so much."""
    if isinstance(question, Between):
        return replace(question, low=question.low + by, high=question.high + by)
    question = of_family(question, HalfSpace)
    return replace(question, threshold=question.threshold + question.direction[0] * by)
