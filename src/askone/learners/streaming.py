"""What a learner sees of a simulation: rows in a stream, who answers about them, and who listens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.labels.ranking import Ranking
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace

Draw = Callable[[int, int], Array]
"""(first, count) -> uniforms of these questions, count x width."""


@final
@dataclass(frozen=True, eq=False)
class Sealed:
    """Committed answers to a block of half-space questions, for the compiled loop only.

    ``projections`` are <y_i, u_i> in the user's units; the loop compares them with the threshold
    and keeps the bit.  No learner reads them.
    """

    projections: Array
    flips: Array
    skipped: Array


@final
class SealedOrders(NamedTuple):
    """Committed answers about orders, for the compiled loop only: the places of all items in them, n x items.

    The loop compares two of them and keeps the bit.  No learner reads them.
    """

    ranks: Array
    flips: Array
    skipped: Array


class Respondent(ABC):
    """A respondent in a simulation, row by row."""

    @abstractmethod
    def respond(self, row: int, question: Question) -> Answer | None:
        """Return the answer about a row, or None for a skip."""

    @abstractmethod
    def seal(self, rows: Array, directions: Array) -> Sealed:
        """Commit to answers about these rows along directions in the user's units."""

    @abstractmethod
    def seal_orders(self, rows: Array, space: Ranking) -> SealedOrders:
        """Commit to answers about pairs of items of these rows."""

    @abstractmethod
    def reveal(self, rows: Array) -> tuple[Array, Array]:
        """Return labels and skips of some rows: for the fully supervised baseline."""


@final
@dataclass(frozen=True, eq=False)
class StreamBlock:
    """Some consecutive questions of a stream and their answers (2: skipped), in the user's units.

    ``unit``: the thresholds in unit labels as they were learnt, to the last digit, where that is another number.
    """

    rows: Array
    directions: Array
    thresholds: Array
    answers: Array
    unit: Array | None = None


@final
@dataclass(frozen=True, eq=False)
class Exchange:
    """One question of a stream that is not a half-space, and its answer (None: skipped)."""

    row: int
    question: Question
    answer: Answer | None


Listener = Callable[[StreamBlock | Exchange], None]


@final
@dataclass(frozen=True, eq=False)
class StreamTask:
    """The respondent, the draws and the row numbers of a simulation."""

    rows: Array
    respondent: Respondent
    draw: Draw
    first: int = 0
    listen: Listener | None = None

    def part(self, start: int, stop: int | None = None) -> StreamTask:
        """Return the task for some of the rows."""
        return replace(self, rows=self.rows[start:stop], first=self.first + start)

    def narrowed(self, width: int) -> StreamTask:
        """Return the task for a learner that takes only so many of the uniforms."""
        return replace(self, draw=lambda first, count: self.draw(first, count)[:, :width])

    def answer(self, place: int, question: Question) -> Answer | None:
        """Ask about the row at a place; whoever listens hears it."""
        row = int(self.rows[place])
        answer = self.respondent.respond(row, question)
        if self.listen is not None:
            self.listen(heard(row, question, answer))
        return answer


def heard(row: int, question: Question, answer: Answer | None) -> StreamBlock | Exchange:
    """Return one question and its answer, as a listener gets them."""
    if not isinstance(question, HalfSpace):
        return Exchange(row, question, answer)
    code = 2 if answer is None else int(bool(answer))
    return StreamBlock(
        np.array([row]), np.array([question.direction]), np.array([question.threshold]), np.array([code])
    )


@final
@dataclass(frozen=True, eq=False)
class Beside:
    """Fitted models beside a learner of numbers, while it asks about rows: who says what, and who was right.

    Models do not learn from single answers, so that what they say of rows is known before any is asked.  All arrays
    are written into.  The learner is in place 0.
    ``said`` has what each says of the rows, in unit labels, n x (1 + models); the learner's is written when it is
    asked, and who is not there has the learner's; None: nobody is beside.
    ``places`` are those who are there, ``doubts`` theirs after so many
    more answers, (n + 1) x places (see ``Scores.shares``).  Then the scores, and how many answers they are of;
    ``learnt`` the learner's own count: of ``turns`` questions one is its own, which judges nobody.
    ``faint`` is the share below which nobody is heard.
    """

    said: Array | None
    places: Array
    doubts: Array
    losses: Array
    squares: Array
    weights: Array
    known: int
    learnt: int
    turns: int
    faint: float

    @property
    def arrays(self) -> tuple[Array | int | float | None, ...]:
        """In the order of the compiled loop."""
        scored = self.losses, self.squares, self.weights
        return self.said, self.places, self.doubts, *scored, self.known, self.learnt, self.turns, self.faint

    def later(self, part: slice, heard: int, known: int, learnt: int) -> Beside:
        """Return that of some of the rows, after so many answers about those before, with these counts."""
        assert self.said is not None
        return replace(self, said=self.said[part], doubts=self.doubts[heard:], known=known, learnt=learnt)


NOBODY = Beside(None, np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)), np.zeros(2), 0, 0, 1, 0.0)
"""A learner alone."""
