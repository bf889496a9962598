"""Classes by a learner and fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log, logs, softmax
from askone._common.types import Array
from askone._common.validate import as_row, as_rows
from askone.features.layout import RowLayout
from askone.labels.classes import FiniteSpace
from askone.learners.abilities import HasProbabilities, learnt_beside
from askone.learners.margins import doubts
from askone.learners.mixture.base import Mixture, MixtureState, Scored
from askone.learners.mixture.bits import ClassBits
from askone.learners.mixture.discriminant import DiscriminantMember
from askone.learners.mixture.members import FittedMember
from askone.learners.one_label import said_before
from askone.learners.scores import slipped
from askone.learners.streaming import Exchange, StreamBlock
from askone.questions.base import Answer, Question

_TRUST, _TRIED = 1.0, 20.0  # of a model that alone reads texts (see ``Mixture``)
_FULL, _SOON = 1.0, 50.0  # of normal distributions: that they are of another kind is what makes them worth having


@final
@dataclass(frozen=True, eq=False)
class ClassMixture(Mixture, HasProbabilities[MixtureState]):
    """Classification by a learner with probabilities and fitted models."""

    base: Any
    members: tuple[FittedMember, ...]
    layout: RowLayout
    flip: float = 0.0
    turns: ClassVar[int] = 1 << 60

    @cached_property
    def likelihood(self) -> ClassBits:
        return ClassBits(self.base.space)

    def _said(self, state: MixtureState, X: Array) -> Array:
        return np.asarray(self.base.probabilities(state.base, self._front(X)))

    def _blend(self, state: MixtureState, said: Array, scores: Scored, shares: list[float]) -> Array:
        blended = shares[0] * said
        for share, (i, F) in zip(shares[1:], scores.items(), strict=True):
            if share:
                blended = blended + share * self.likelihood.probabilities(F, softmax(state.heat[i]))
        return blended

    def hindsight(
        self, state: MixtureState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the learner says; nothing where others read texts, of which it sees nothing.

        Whoever is right about texts would seem to err as often as it knows no better.
        """
        if any(member.reads_texts for member in self.members):
            return None
        return super().hindsight(state, X, questions, answers)

    def _caution(self, i: int) -> tuple[float, float]:
        if self.members[i].reads_texts:
            return _TRUST, _TRIED
        return (_FULL, _SOON) if isinstance(self.members[i], DiscriminantMember) else super()._caution(i)

    def chance(self, state: MixtureState, x: ArrayLike, question: Question) -> float:
        """Return p(yes), by weight."""
        row, bit = as_row(x, self.columns), self.likelihood.bit(question, True)
        said = [self.base.chance(state.base, row[0, : self.base.columns], question)]
        said += [one for one, _ in self._foretold(state, bit, self._scored(state, row)).values()]
        return float(sum(share * one for share, one in zip(self.shares(state)[1], said, strict=True)))

    def _foretold(self, state: MixtureState, bit: Array, scores: Scored) -> dict[int, tuple[float, Array]]:
        """Return the chance of a bit by each fitted model, and by each of its temperatures."""
        said, row = {}, bit[-1]
        cells = state.store.view(state.kept)[:, self.columns :]
        before = said_before(cells, state.store.last(state.kept, row)) if row else None
        for i, F in scores.items():
            chances = self.likelihood.chances(F[0], 1.0, bit if before is None else np.append(before * bit[:-1], row))
            if before is not None:
                chances = chances / self.likelihood.chances(F[0], 1.0, np.append(before, row))
            chances = self.flip + (1.0 - 2.0 * self.flip) * chances
            said[i] = (float((softmax(state.heat[i]) * chances).sum()), chances)
        return said

    def _learnt(
        self, state: MixtureState, row: Array, question: Question, answer: Answer, bit: Array, scores: Scored
    ) -> tuple[MixtureState, Any]:
        front = row[0, : self.base.columns]
        foretold, (there, shares) = self._foretold(state, bit, scores), self.shares(state)
        others = sum(share * foretold[i][0] for i, share in zip(there, shares[1:], strict=True))
        own, base = learnt_beside(self.base, state.base, front, question, answer, shares[0], others)
        heat, keep = state.heat.copy(), 1.0 - 1.0 / max(0.5 * self._known(state), 50.0)
        losses = np.full(len(state.fits) + 1, -log(slipped(own)))
        for i, (said, chances) in foretold.items():
            losses[1 + i] = -log(slipped(said))
            heat[i] = keep * heat[i] + logs(slipped(chances))
        return replace(self._judged_by(state, losses), heat=heat), base

    def _scale(self, state: MixtureState) -> float:
        return 1.0

    def probabilities(self, state: MixtureState, X: ArrayLike) -> Array:
        """Return p(y|x), by weight."""
        return self.believed(state, X)

    def worth(self, state: MixtureState, X: ArrayLike) -> Array:
        """See ``margins``: by whoever has the largest share, as somebody waits for the question."""
        there, shares = self.shares(state)
        leader = int(np.argmax(shares))
        if leader == 0:
            return super().worth(state, X)
        i = there[leader - 1]
        scores = self._scores_of(state, i, as_rows(X, self.columns))
        return doubts(self.likelihood.probabilities(scores, softmax(state.heat[i])))

    def predict(self, state: MixtureState, X: ArrayLike) -> Array:
        space: FiniteSpace = self.base.space
        return np.asarray(self.believed(state, X) @ space.embedding)

    def _heard(self, rows: Array, heard: Sequence[StreamBlock | Exchange]) -> tuple[Array, Array]:
        told = [(k, one) for k, one in enumerate(heard) if isinstance(one, Exchange) and one.answer is not None]
        bits = [self.likelihood.bit(one.question, one.answer) for _, one in told if one.answer is not None]
        return np.array([k for k, _ in told], dtype=np.int64), np.array(bits).reshape(len(bits), self.likelihood.width)
