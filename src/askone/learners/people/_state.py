"""What a crowd learner knows: of people and their answers, and its arrays in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_rows
from askone.errors import InvalidArgument
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.people.habits import KnownHabits
from askone.questions.base import ErrorRates, Question
from askone.questions.registry import question_from_json
from askone.questions.subset import Subset

Said = tuple[tuple[int, bool], ...]
"""What people said to a question, by their places."""
Told = tuple[Said, Question, bool]
_TEXT = json.JSONEncoder().encode
_TAKING = Lock()  # the place behind the last answer: two threads may go on from one state


@final
class Answers:
    """Answers that only grow.  States share a list of them; writing behind an older state makes a copy.

    >>> one = Answers(["a"])  # they would be told: what they are does not matter here
    >>> two, other = one.after("b"), one.after("c")
    >>> list(one), list(two), list(other)
    (['a'], ['a', 'b'], ['a', 'c'])
    """

    def __init__(self, told: Iterable[Told] = ()) -> None:
        self._shared = list(told)
        self._count = len(self._shared)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> Told:
        return self._shared[range(self._count)[place]]

    def __iter__(self) -> Iterator[Told]:
        return iter(self._shared[: self._count])

    def after(self, one: Told) -> Answers:
        """Return these and one more."""
        after = Answers()
        with _TAKING:
            after._shared = self._shared if len(self._shared) == self._count else self._shared[: self._count]
            after._shared.append(one)
        after._count = self._count + 1
        return after


@final
@dataclass(frozen=True, eq=False)
class CrowdState:
    """The learner's state; people, how often each answered, their habits, intervals of rates, and the crowd's mean.

    ``told`` are the answers that rates are found by, as (who said what, question, answer), their rows in ``store``;
    nobody said what has no name.
    ``due`` is after how many answers of people the rates are found anew, ``anew`` after how many all is learnt anew;
    ``added`` are the opinions that came after others were learnt, and change what these say.
    """

    base: Any
    people: tuple[str, ...]
    answers: Array
    habits: KnownHabits
    intervals: Array
    common: float
    told: Answers
    store: Buffer
    due: int
    anew: int
    added: int = 0

    @cached_property
    def heard(self) -> int:
        """How many answers of people there were."""
        return int(self.answers.sum())

    def noted(self, base: Any, answers: Array, told: Answers, store: Buffer) -> CrowdState:
        """Return the state with these, in a third of the time of ``replace``: it is made for each answer."""
        known = self.people, answers, self.habits, self.intervals, self.common
        return CrowdState(base, *known, told, store, self.due, self.anew, self.added)

    def to_arrays(self) -> dict[str, Array]:
        """Return all but the learner's state as arrays."""
        # Answer by answer: all at once, as many as there are, the encoder would let no other thread go on meanwhile.
        told = [_TEXT([said, question.to_json(), _unsaid(question), bit]) for said, question, bit in self.told]
        texts = f"[{_TEXT(self.people)}, [{', '.join(told)}]]"
        return {
            "people": np.frombuffer(texts.encode(), np.uint8),
            "answers": self.answers,
            **self.habits._asdict(),
            "intervals": self.intervals,
            "crowd": np.array([self.common, self.due, self.anew, self.added]),
            "rows": self.store.view(len(told)).copy(),
        }

    @classmethod
    def from_arrays(cls, columns: int, arrays: dict[str, Array]) -> CrowdState:
        """Return the state of ``to_arrays``, still without the learner's; what does not fit together is refused."""
        people, told = json.loads(arrays["people"].tobytes())
        each = [
            (tuple((place, bool(b)) for place, b in said), _with_unsaid(question_from_json(one), unsaid), bool(bit))
            for said, one, unsaid, bit in told
        ]
        common, *counts = arrays["crowd"].tolist()
        n, shapes = len(people), {name: arrays[name].shape for name in ("answers", "rates", "intervals", "rows")}
        expected = {"answers": (n,), "rates": (n, 2), "intervals": (n, 2, 2), "rows": (len(told), columns)}
        if shapes != expected or not all(0 <= place < n for said, *_ in each for place, _ in said):
            raise InvalidArgument("people", f"arrays of shapes {expected}, and answers of these", shapes)
        rows = as_rows(arrays["rows"], columns) if len(told) else np.zeros((0, columns))
        store, habits = Buffer(columns).extended(0, rows), KnownHabits.of_fit(arrays)
        known = arrays["answers"], habits, arrays["intervals"], common
        return cls(None, tuple(people), *known, Answers(each), store, *map(int, counts))


def _unsaid(question: Question) -> list[Any]:
    """Return what is known of a question beyond what is asked."""
    return [list(question.slips), *([question.row, question.confused] if isinstance(question, Subset) else [])]


def _with_unsaid(question: Question, unsaid: list[Any]) -> Question:
    slips = ErrorRates(*unsaid[0])
    if not isinstance(question, Subset) or len(unsaid) < 3:
        return question.put_to(slips)
    return question.put_to(slips, tuple(unsaid[2]), int(unsaid[1]))
