"""Answers about one output as the compiled loop wants them: those that were told, and sealed ones of a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from askone._common.types import Array
from askone.labels.number import Real
from askone.learners import step_loops
from askone.learners.kalman._bank import ALONE, Judging
from askone.learners.streaming import StreamBlock, StreamTask


@final
@dataclass(frozen=True, eq=False)
class AnswerBlock:
    """Some questions about one output, and their answers.

    ``extra`` is the variance of what else the answers depend on, ``upper`` the other end of the questions.
    """

    hidden: Array
    flips: Array
    thresholds: Array
    answers: Array
    slips: Array
    extra: float = 0.0
    upper: float = math.inf
    judged: Judging = ALONE

    @classmethod
    def sealed(cls, n: int, task: StreamTask, directions: Array, judged: Judging = ALONE) -> AnswerBlock:
        """Return those that will be asked, and are answered by then."""
        sealed = task.respondent.seal(task.rows, directions)
        answers = np.where(sealed.skipped, step_loops.SKIPPED, step_loops.UNKNOWN).astype(np.int8)
        asked = np.zeros(n), answers, np.zeros((n, 2))
        return cls(np.ascontiguousarray(sealed.projections), sealed.flips, *asked, judged=judged)

    @classmethod
    def told(cls, told: Array, judged: Judging) -> AnswerBlock:
        """Return those that have been answered (told: see ``Watch``), all with one variance and one upper end."""
        n, (extra, upper) = len(told), told[0, 2:4].tolist()
        thresholds, above = np.ascontiguousarray(told[:, 0]), told[:, 1].astype(np.int8)
        return cls(np.zeros(n), np.zeros(n, np.bool_), thresholds, above, told[:, 4:], extra, upper, judged)

    def part(self, rows: Array) -> AnswerBlock:
        """Return those about some rows: copies."""
        asked = self.thresholds[rows], self.answers[rows], self.slips[rows]
        return AnswerBlock(self.hidden[rows], self.flips[rows], *asked)

    def unsaid(self) -> AnswerBlock:
        """Return the same for a bank whose predictions nobody wants to know."""
        return AnswerBlock(
            self.hidden, self.flips, self.thresholds, self.answers, self.slips, self.extra, self.upper,
            Judging(self.judged.quiet, ALONE.said),
        )  # fmt: skip

    @property
    def heard(self) -> Array:
        """Which were answered."""
        return np.asarray(self.answers != step_loops.SKIPPED)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """In the order of the compiled loop."""
        yes, no = np.ascontiguousarray(self.slips.T)
        return self.hidden, self.flips, self.thresholds, self.answers, yes, no


@final
@dataclass(frozen=True, eq=False)
class SealedStream:
    """Questions of a stream, one about each row: which output, and the sealed answers."""

    space: Real
    X: Array
    chosen: Array
    asked: AnswerBlock

    def heard(self, task: StreamTask) -> None:
        """Tell whoever listens what was asked and answered."""
        if task.listen is not None:
            shown = self.space.scale[self.chosen] * self.asked.thresholds + self.space.center[self.chosen]
            along, asked = np.eye(self.space.m)[self.chosen], self.asked
            task.listen(StreamBlock(task.rows, along, shown, asked.answers, asked.thresholds))
