"""One learner, its state, its open questions and its budget: what a program holds while it asks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askone import draws
from askone.errors import AlreadyAnswered, AlreadyAsked, BudgetSpent, InvalidArgument, UnknownQuestion
from askone.events import Answered, Asked, Event, Skipped
from askone.inputs import as_count, as_row, as_rows
from askone.learners.base import Learner
from askone.questions import Question

Array = NDArray[Any]


@final
class Budget:
    """How many questions may be asked; several streams may share one.

    >>> purse = Budget(2)
    >>> purse.spend()
    >>> purse.left
    1
    >>> purse.spend(2)
    Traceback (most recent call last):
    askone.errors.BudgetSpent: 2 more question(s) wanted, 1 of 2 left
    """

    def __init__(self, questions: int) -> None:
        self.questions = as_count(questions, "budget", 1)
        self.spent = 0

    def __repr__(self) -> str:
        return f"Budget({self.questions}, spent={self.spent})"

    @property
    def left(self) -> int:
        """Questions that may still be asked."""
        return self.questions - self.spent

    def spend(self, questions: int = 1) -> None:
        """Take questions out, all or none."""
        if questions > self.left:
            raise BudgetSpent(f"{questions} more question(s) wanted, {self.left} of {self.questions} left")
        self.spent += questions


@final
class Stream:
    """Ask and tell with memory: which rows were asked, which questions are open, what is left.

    A row with a ``key`` is asked once, ever, unless ``resample`` allows more; without a key every
    call is a new row.  Answers may come late, in any order or never.  A wrong call raises and
    changes nothing.  ``log`` is called with every event.

    >>> from askone.features import Linear, Scaler
    >>> from askone.learners.sgd import SGD
    >>> from askone.models.linear import FeatureModel
    >>> from askone.spaces import Real
    >>> stream = Stream(SGD(Real(0, 100), FeatureModel(Linear(Scaler.identity(1)))))
    >>> first, second = stream.ask_many([[0.0], [1.0]], keys=["ann", "bob"])
    >>> stream.tell(second, True)
    >>> stream.open
    [0]
    >>> stream.ask([0.0], key="ann")
    Traceback (most recent call last):
    askone.errors.AlreadyAsked: row 'ann' had its one question; resample=True allows several
    """

    def __init__(
        self,
        learner: Learner[Any],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        resample: bool = False,
        log: Callable[[Event], None] | None = None,
        state: Any = None,
        asked: int = 0,
    ) -> None:
        self.learner, self.budget, self.resample = learner, budget, resample
        self.seed, self.asked = as_count(seed, "seed"), as_count(asked, "asked")
        self.state = learner.init() if state is None else state
        self._log = log
        self._keys: set[Hashable] = set()
        self._open: dict[int, tuple[Array, Question]] = {}

    @property
    def open(self) -> list[int]:
        """Numbers of the questions without an answer."""
        return list(self._open)

    @property
    def answered(self) -> int:
        """Answers learnt from."""
        return self.learner.count(self.state)

    def ask(self, x: ArrayLike, key: Hashable = None) -> Question:
        """One question about one row."""
        row = as_row(x, self.learner.columns)[0]
        return self._put(row[None, :], [key], lambda u: [self.learner.ask(self.state, row, u[0])])[0]

    def ask_many(self, X: ArrayLike, keys: Sequence[Hashable] | None = None) -> list[Question]:
        """A question for each row, all from the present state."""
        rows = as_rows(X, self.learner.columns)
        names = list(keys) if keys is not None else [None] * len(rows)
        if len(names) != len(rows):
            raise InvalidArgument("keys", f"{len(rows)} keys, one per row", f"{len(names)} keys")
        return self._put(rows, names, lambda u: self.learner.ask_many(self.state, rows, u))

    def tell(self, question: Question | int, answer: object) -> None:
        """Learn from the answer to an open question, or to its number."""
        number, row, asked = self._find(question)
        accepted = asked.accept(answer)
        self.state = self.learner.tell(self.state, row, asked, accepted)
        del self._open[number]
        if self._log is not None:
            self._log(Answered(f"answer-{number}", f"ask-{number}", accepted))

    def skip(self, question: Question | int) -> None:
        """Close an open question without an answer; it stays counted."""
        number, _, _ = self._find(question)
        del self._open[number]
        if self._log is not None:
            self._log(Skipped(f"skip-{number}", f"ask-{number}"))

    def predict(self, X: ArrayLike) -> Array:
        """Predictions at the present state, n x m."""
        return self.learner.predict(self.state, X)

    def _put(self, rows: Array, keys: Sequence[Hashable], ask: Callable[[Array], list[Question]]) -> list[Question]:
        self._check_keys([key for key in keys if key is not None])
        uniform = draws.uniforms(self.seed, self.asked, len(rows), self.learner.width)
        questions = [q.numbered(self.asked + i) for i, q in enumerate(ask(uniform))]
        if self.budget is not None:
            self.budget.spend(len(questions))
        for row, key, question in zip(rows, keys, questions, strict=True):
            self._open[self.asked] = (row, question)
            if self._log is not None:
                name = f"row-{self.asked}" if key is None else str(key)
                self._log(Asked(f"ask-{self.asked}", name, question, self.answered))
            self.asked += 1
        self._keys.update(key for key in keys if key is not None)
        return questions

    def _check_keys(self, keys: list[Hashable]) -> None:
        if self.resample:
            return
        seen: set[Hashable] = set()
        for key in keys:
            if key in self._keys or key in seen:
                raise AlreadyAsked(f"row {key!r} had its one question; resample=True allows several")
            seen.add(key)

    def _find(self, question: Question | int) -> tuple[int, Array, Question]:
        number = question.number if isinstance(question, Question) else question
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < self.asked:
            raise UnknownQuestion(f"question {number!r} was never asked here; {self.asked} question(s) were")
        if number not in self._open:
            raise AlreadyAnswered(f"question {number} is closed: it was answered or skipped")
        row, asked = self._open[int(number)]
        if question is not asked and isinstance(question, Question) and question != asked:
            raise UnknownQuestion(f"question {number} was asked here, but not with these words: {asked}")
        return int(number), row, asked
