"""Two verbs and a value: the contract of every learner.

::

    state = learner.init()
    question = learner.ask(state, x, uniform)      # uniform: the randomness, a row of draws.uniforms
    state = learner.tell(state, x, question, answer)
    prediction = learner.predict(state, X)

All four are pure: nothing is remembered outside the state, and ``tell`` gives a new one.  The
randomness comes in as an argument, and only ``ask`` takes it.  A question may be told late, out of
order or never.  ``stream`` does ask, answer, tell for many rows in a row, as a simulation wants it;
it is the same mathematics in blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.learners.simulating import Task, heard
from askone.questions.base import Answer, Question

S = TypeVar("S")


class Learner(ABC, Generic[S]):
    """A frozen configuration; S is the type of its states."""

    space: Space
    spreads_batches: ClassVar[bool] = False
    """Whether questions of one batch are told apart by their place in it, beside their draw."""
    several: ClassVar[bool] = False
    """Whether it may ask several questions about a row, until it ``wants`` no more."""
    patient: ClassVar[bool] = False
    """Whether the questions about a row should follow each other."""
    forecasts: ClassVar[bool] = False
    """Whether it has a likelihood: ``chance`` and ``worth`` answer."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Width of a row."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many uniforms one question uses."""

    @property
    def local(self) -> bool:
        """Whether an answer is a slope at its own prediction: then another model's questions teach it falsely."""
        return False

    @abstractmethod
    def init(self) -> S:
        """The state before any answer."""

    @abstractmethod
    def ask(self, state: S, x: ArrayLike, uniform: Array) -> Question:
        """The question for one row."""

    @abstractmethod
    def ask_many(self, state: S, X: ArrayLike, uniform: Array) -> list[Question]:
        """One question for each row, all at this state (uniform: n x width)."""

    @abstractmethod
    def tell(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> S:
        """The state after an answer."""

    @abstractmethod
    def predict(self, state: S, X: ArrayLike) -> Array:
        """Predictions, n x m: in the user's units, or scores that a discrete space decodes."""

    @abstractmethod
    def count(self, state: S) -> int:
        """How many answers the state has learnt from."""

    @abstractmethod
    def to_arrays(self, state: S) -> dict[str, Array]:
        """The state as plain arrays, for saving."""

    @abstractmethod
    def from_arrays(self, arrays: dict[str, Array]) -> S:
        """The inverse of ``to_arrays``."""

    def ask_row(self, state: S, x: ArrayLike, uniform: Array, key: Key | None) -> Question:
        """``ask`` for a row that is known by a key: for learners that ask ``several``."""
        return self.ask(state, x, uniform)

    def tell_row(self, state: S, x: ArrayLike, question: Question, answer: Answer, key: Key | None) -> S:
        """``tell`` for a row that is known by a key."""
        return self.tell(state, x, question, answer)

    def wants(self, state: S, x: ArrayLike, key: Key | None = None) -> bool:
        """Whether another question about a row is of use (for learners that ask ``several``)."""
        return True

    def revisit(self, state: S, x: ArrayLike, key: Key | None = None) -> S:
        """The state after a row came again that has no question left: a step that costs none."""
        return state

    def chance(self, state: S, x: ArrayLike, question: Question) -> float:
        """P(yes) as the state has it, for any question of its family, whoever asked it (learners that ``forecasts``).

        Said before the answer is learnt, it is what a model can be judged by without a label:
        progressive validation is the mean of -log chance(what was answered).
        """
        raise InvalidArgument("learner", "one that forecasts answers", type(self).__name__)

    def worth(self, state: S, X: ArrayLike) -> Array:
        """How much the answer about each row should tell of the model, in nats (learners that ``forecasts``)."""
        raise InvalidArgument("learner", "one that forecasts answers", type(self).__name__)

    def learnt_and_said(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> tuple[float, S]:
        """``chance`` of what was answered, before it is learnt, and ``tell``: at once, where that is cheaper."""
        bit = bool(question.accept(answer))
        yes = self.chance(state, x, question)
        return (yes if bit else 1.0 - yes), self.tell(state, x, question, answer)

    def stream(self, state: S, X: Array, task: Task) -> S:
        """Ask and tell about rows X, one after the other."""
        for i, x in enumerate(X):
            question = self.ask(state, x, task.draw(task.first + i, 1)[0])
            answer = task.respondent.respond(int(task.rows[i]), question)
            if answer is not None:
                state = self.tell(state, x, question, answer)
            if task.listen is not None:
                task.listen(heard(int(task.rows[i]), question, answer))
        return state


def wrong_family(expected: type[Question], question: object) -> InvalidArgument:
    """The error for a question that this learner does not ask."""
    return InvalidArgument("question", f"a {expected.__name__}", type(question).__name__)
