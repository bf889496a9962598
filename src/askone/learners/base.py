"""Two verbs and a value: the contract of every learner.

::

    state = learner.init()
    question = learner.ask(state, x, uniform)      # uniform: the randomness, a row of random_table.uniforms
    state = learner.tell(state, x, question, answer)
    prediction = learner.predict(state, X)

All four are pure: nothing is remembered outside the state, and ``tell`` gives a new one.  The
randomness comes in as an argument, and only ``ask`` takes it.  A question may be told late, out of
order or never.  What only some learners can do is in ``abilities``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_row as as_row  # for learners of one's own, too
from askone._common.validate import as_rows as as_rows
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.questions.base import Answer, Question

S = TypeVar("S")
Q = TypeVar("Q", bound=Question)


class Learner(ABC, Generic[S]):
    """A frozen configuration; S is the type of its states."""

    space: Space

    @property
    @abstractmethod
    def columns(self) -> int:
        """Width of a row."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many uniforms one question uses."""

    @abstractmethod
    def init(self) -> S:
        """Return the state before any answer."""

    @abstractmethod
    def ask(self, state: S, x: ArrayLike, uniform: Array) -> Question:
        """Return the question for one row."""

    @abstractmethod
    def tell(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> S:
        """Return the state after an answer."""

    @abstractmethod
    def predict(self, state: S, X: ArrayLike) -> Array:
        """Return predictions, n x m: in the user's units, or scores that a discrete space decodes."""

    def count(self, state: S) -> int:
        """Return how many answers the state has learnt from: its ``count``."""
        held: Any = state
        return int(held.count)

    def to_arrays(self, state: S) -> dict[str, Array]:
        """Return the state as plain arrays, for saving: the fields of a dataclass of arrays and numbers."""
        held: Any = state
        return {field.name: np.asarray(getattr(state, field.name)) for field in fields(held)}

    def from_arrays(self, arrays: dict[str, Array]) -> S:
        """Return the state of ``to_arrays``."""
        begun: Any = self.init()
        state: S = replace(begun, **{k: array.item() if array.ndim == 0 else array for k, array in arrays.items()})
        return state


def marked(mark: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return arrays of a part of a state under names that say which part."""
    return {f"{mark}{name}": array for name, array in arrays.items()}


def unmarked(mark: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays of that part, by their own names."""
    return {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}


def of_family(question: Question, family: type[Q]) -> Q:
    """Return a question of this family; another is refused."""
    if type(question) is not family and not isinstance(question, family):  # the second takes ten times as long
        raise wrong_family(family, question)
    return question


def wrong_family(expected: type[Question], question: object) -> InvalidArgument:
    """Return the error for a question that this learner does not ask."""
    return InvalidArgument("question", f"a {expected.__name__}", type(question).__name__)


def as_uniform(uniform: ArrayLike, *shape: int) -> Array:
    """Return the uniforms of one question, or of several, refused unless they are as many as it takes."""
    drawn = np.asarray(uniform)
    if drawn.shape != shape:
        raise InvalidArgument("uniform", f"of shape {shape}", f"shape {drawn.shape}")
    return drawn
