"""Learners that may ask about a row again: what they know of each row's label, beside the model.

A row is known by its key; without one by its content, so that equal rows share what is known.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast, final

import numpy as np
from immutables import Map
from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone._common.validate import as_number, as_row
from askone.errors import InvalidArgument
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.learners.abilities import AsksAgain, HasProbabilities
from askone.learners.base import marked, of_family, unmarked
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.sgd.surrogate import Surrogate
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace, in_unit_labels
from askone.questions.subset import Subset

Known = tuple[float, ...]


@final
@dataclass(frozen=True, eq=False)
class RowsState:
    """The model's state, what is known of each row (by its name), and how many answers were told."""

    inner: SGDState
    known: Map[str, Known]
    answers: int


class RowLearner(AsksAgain[RowsState]):
    """A learner around another, which learns from rows as they become known."""

    inner: SGDLearner | Surrogate

    @property
    @abstractmethod
    def nothing(self) -> Known:
        """What is known of a row before its first question."""

    @abstractmethod
    def question(self, state: RowsState, row: Array, known: Known, uniform: Array) -> Question:
        """Return what to ask about a row (1 x columns) of which so much is known."""

    @abstractmethod
    def narrowed(self, known: Known, question: Question, bit: bool) -> Known:
        """Return what is known after an answer."""

    @abstractmethod
    def open(self, known: Known) -> bool:
        """Return whether there is more to know."""

    @abstractmethod
    def learnt(self, state: RowsState, row: Array, known: Known, question: Question, bit: bool) -> SGDState:
        """Return the model after an answer about a row of which now so much is known."""

    @property
    def columns(self) -> int:
        return self.inner.columns

    def init(self) -> RowsState:
        return RowsState(self.inner.init(), Map(), 0)

    def known(self, state: RowsState, x: ArrayLike, key: Key | None = None) -> Known:
        """Return what is known of one row."""
        return state.known.get(_name(as_row(x, self.columns), key), self.nothing)

    def wants(self, state: RowsState, x: ArrayLike, key: Key | None = None) -> bool:
        return self.open(self.known(state, x, key))

    def ask(self, state: RowsState, x: ArrayLike, uniform: Array, key: Key | None = None) -> Question:
        """Return the next question about a row; a row that is known has none."""
        known = self.known(state, x, key)
        if not self.open(known):
            raise InvalidArgument("x", "a row whose label is not known yet (wants tells)", "one that is known")
        return self.question(state, as_row(x, self.columns), known, np.asarray(uniform))

    def tell(
        self, state: RowsState, x: ArrayLike, question: Question, answer: Answer, key: Key | None = None
    ) -> RowsState:
        """Narrow what is known of the row, and learn from it."""
        row, bit = as_row(x, self.columns), bool(question.accept(answer))
        before = self.known(state, x, key)
        after = self.narrowed(before, question, bit)
        inner = self.learnt(state, row, after, question, bit) if self.open(before) else state.inner
        return RowsState(inner, state.known.set(_name(row, key), after), state.answers + 1)

    def revisit(self, state: RowsState, x: ArrayLike, key: Key | None = None) -> RowsState:
        """Return the state as it is: the row has nothing to teach any more."""
        return state

    def predict(self, state: RowsState, X: ArrayLike) -> Array:
        return self.inner.predict(state.inner, X)

    def count(self, state: RowsState) -> int:
        return state.answers

    def rows_known(self, state: RowsState) -> int:
        """Return how many rows have no question left."""
        return sum(not self.open(known) for known in state.known.values())

    def to_arrays(self, state: RowsState) -> dict[str, Array]:
        names = sorted(state.known)
        known = np.array([state.known[name] for name in names]).reshape(len(names), len(self.nothing))
        inner = marked("inner-", self.inner.to_arrays(state.inner))
        return {"rows": np.array(names, dtype=np.str_), "known": known, "answers": np.array(state.answers), **inner}

    def from_arrays(self, arrays: dict[str, Array]) -> RowsState:
        pairs = zip(arrays["rows"].tolist(), arrays["known"].tolist(), strict=True)
        known: Map[str, Known] = Map({name: tuple(values) for name, values in pairs})
        return RowsState(self.inner.from_arrays(unmarked("inner-", arrays)), known, int(arrays["answers"]))


def _name(row: Array, key: Key | None) -> str:
    """Return what a row is called in the state: its key, else its content (-0.0 is 0.0)."""
    return f"row {(row + 0.0).tobytes().hex()}" if key is None else f"key {json.dumps(key)}"


class NumberRows(RowLearner):
    """A learner of numbers, each to be known up to +-``precision`` in half ranges."""

    inner: SGDLearner
    precision: float
    width: ClassVar[int] = 0  # nothing is drawn

    def __post_init__(self) -> None:
        as_number(self.precision, "precision", 0.0, 1.0, strict=True)

    @property
    def space(self) -> Real:  # type: ignore[override]  # the inner learner's
        return self.inner.space

    @cached_property
    def grain(self) -> float:
        """How finely thresholds are rounded, in half ranges."""
        decimals = self.space.decimals
        return 0.0 if decimals is None else 10.0**-decimals / min(self.space.scales)

    def told(self, question: Question, bit: bool) -> tuple[int, float, bool]:
        """Return which output an answer is about, the threshold in unit labels, and whether the label is above it."""
        u, c = in_unit_labels(self.space, of_family(question, HalfSpace))
        j = int(np.argmax(np.abs(u)))
        if abs(abs(u[j]) - 1) > 1e-6:
            raise InvalidArgument("question", "about one output", str(question))
        return (j, c, bit) if u[j] > 0 else (j, -c, not bit)


class ClassRows(RowLearner, HasProbabilities[RowsState]):
    """A learner of classes: 1 for each class that a row's label may be."""

    inner: Surrogate

    @property
    def space(self) -> FiniteSpace:  # type: ignore[override]  # the inner learner's
        return cast(FiniteSpace, self.inner.space)

    @cached_property
    def nothing(self) -> Known:
        return (1.0,) * self.space.size

    def open(self, known: Known) -> bool:
        """Return whether more than one class is left."""
        return sum(known) > 1

    def probabilities(self, state: RowsState, X: ArrayLike) -> Array | None:
        return self.inner.probabilities(state.inner, X)

    def narrowed(self, known: Known, question: Question, bit: bool) -> Known:
        """Return the classes that fit an answer to a set question; an answer that none fits changes nothing."""
        inside = self.space.inside(of_family(question, Subset).members, "question").tolist()
        left = tuple(float(k > 0 and bool(i) == bit) for i, k in zip(inside, known, strict=True))
        return left if any(left) else known
