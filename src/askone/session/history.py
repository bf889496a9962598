"""What a stream has learnt from, so that an answer can be taken back.

A state cannot unlearn: it is folded again, from where the history begins, without what was taken back.
That is as long as learning all of it was; rows and questions are held, states are not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, final

from askone._common.types import Array, Key
from askone.learners.abilities import revisit, tell_row
from askone.learners.base import Learner
from askone.questions.base import Answer, Question
from askone.session.log import given_key


@final
@dataclass(frozen=True, eq=False)
class Told:
    """An answer: of the event ``id``, to ``question``, which is what was asked or a comparison that it implies."""

    id: str
    number: int
    row: Array
    name: Key
    asked: Question
    question: Question
    answer: Answer


@final
@dataclass(frozen=True, eq=False)
class Visit:
    """A row that came again without a question."""

    row: Array
    key: Key


@final
class History:
    """Answers and visits since some state, in order."""

    def __init__(self, learner: Learner[Any]) -> None:
        self._learner = learner
        self._start: Any = None
        self._past: list[Told | Visit] = []

    def add(self, before: Any, entry: Told | Visit) -> None:
        """One more, which the state ``before`` has not learnt from; the first says where history begins."""
        if not self._past:
            self._start = before
        self._past.append(entry)

    def told(self, number: int) -> list[Told]:
        """The answers to a question that stand: one, several if it was the best of a few, or none."""
        return [entry for entry in self._past if isinstance(entry, Told) and entry.number == number]

    def drop(self, entry: Told) -> None:
        """Forget an answer."""
        self._past = [other for other in self._past if other is not entry]

    def without(self, gone: Collection[Told]) -> Any:
        """The state that has learnt from all but these."""
        state = self._start
        for entry in self._past:
            if isinstance(entry, Visit):
                state = revisit(self._learner, state, entry.row, entry.key)
            elif not any(entry is other for other in gone):
                key = given_key(entry.name)
                state = tell_row(self._learner, state, entry.row, entry.question, entry.answer, key)
        return state
