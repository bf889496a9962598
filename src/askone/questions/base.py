"""Questions: frozen values that hold all that is needed to show, answer, log and learn from them.

A question goes to JSON and back, says what a truthful respondent answers (``answer``), refuses an
answer of the wrong kind (``accept``) and reads as a sentence (``str``).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Record
from askone.errors import InvalidAnswer
from askone.labels.base import Name

Answer = bool | tuple[Name, ...]

FORMAT = 1


class Question(ABC):
    """A question about one row."""

    kind: ClassVar[str]

    @abstractmethod
    def answer(self, label: ArrayLike) -> Answer:
        """Return what somebody who knows the label says."""

    @abstractmethod
    def accept(self, answer: object) -> Answer:
        """Return the answer, checked; raises InvalidAnswer if it is of the wrong kind."""

    @abstractmethod
    def to_json(self) -> Record:
        """Return a record of plain JSON values; ``question_from_json`` reads it back."""

    @classmethod
    @abstractmethod
    def from_json(cls, record: Record) -> Question:
        """Return the inverse of ``to_json`` (call ``question_from_json``, which also checks the format)."""

    @abstractmethod
    def numbered(self, number: int) -> Question:
        """Return the same question, carrying the number it was asked under."""

    number: int | None
    """Which ask it came from."""
    learnt: int | None = None
    """How many answers its asker had learnt from, where that matters."""


def listed(names: Iterable[Name], most: int | None = None) -> str:
    """Return names in a row; one that holds a comma or a quote is quoted, so that no two lists read alike.

    >>> listed(["cat", "salt, pepper", 7])
    'cat, "salt, pepper", 7'
    """
    texts = [str(name) for name in names]
    clear = [
        json.dumps(t, ensure_ascii=False) if set(t) & set(',"…') or t != t.strip() or " or " in t else t for t in texts
    ]
    return ", ".join(clear[:most])


def yes_or_no(answer: object) -> bool:
    """Return a bool as it came; anything else is refused."""
    if answer is True or answer is False:
        return answer
    if isinstance(answer, np.bool_):
        return bool(answer)
    raise InvalidAnswer("answer", "True or False", repr(answer))
