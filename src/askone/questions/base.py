"""Questions: frozen values that hold all that is needed to show, answer, log and learn from them.

A question goes to JSON and back, says what a truthful respondent answers (``answer``), refuses an
answer of the wrong kind (``accept``) and reads as a sentence (``str``).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Record
from askone._common.validate import as_number
from askone.errors import InvalidAnswer, InvalidArgument
from askone.labels.base import Name

Answer = bool | tuple[Name, ...]

FORMAT = 1
UNSAID = ("slips", "row", "confused")
"""Fields that say who answers about which row: no part of what is asked, and of no log."""


@final
class ErrorRates(NamedTuple):
    """How often whoever answers says yes, and how often no, whatever is true.

    P(yes) = yes + (1 - yes - no) p, with p the chance of an honest yes.

    >>> ErrorRates(0.25, 0.5).trust, ErrorRates(0.25, 0.5).heard(True, 0.5)
    (0.25, 0.375)
    """

    yes: float = 0.0
    no: float = 0.0

    @property
    def trust(self) -> float:
        """What is left of an honest answer."""
        return 1.0 - self.yes - self.no

    def floor(self, bit: bool) -> float:
        """Return the chance of this answer whatever is true."""
        return self.yes if bit else self.no

    def heard(self, bit: bool, p: float) -> float:
        """Return the chance of an answer that is honest with chance p."""
        return self.floor(bit) + self.trust * p

    def flipped(self, flip: float) -> ErrorRates:
        """Return the rates of answers that are flipped so often after they were given."""
        return self.then(ErrorRates(flip, flip))

    def then(self, later: ErrorRates) -> ErrorRates:
        """Return the rates of answers that err in this way first, and after that in another one, (g, l).

        P(yes) = g + (1 - g - l) (yes + (1 - yes - no) p) .

        >>> ErrorRates(0.5, 0.0).then(ErrorRates(0.0, 0.5))
        ErrorRates(yes=0.25, no=0.5)
        """
        return ErrorRates(later.yes + later.trust * self.yes, later.no + later.trust * self.no)

    def unbiased(self, yes: Any, no: Any) -> tuple[Any, Any]:
        """Return what a yes and a no stand for, so that the mean is what honest answers have as ``yes`` and ``no``.

        yes + (yes - no) l / t  and  no - (yes - no) g / t ,  t = 1 - g - l ; for g = l they are k = 1 / t times as far
        apart.

        >>> ErrorRates(0.25, 0.25).unbiased(1.0, -1.0)
        (2.0, -2.0)
        """
        if self == HONEST:
            return yes, no
        if self.trust <= 0.0:
            raise InvalidArgument("slips", "rates of yes and no below 1 together", tuple(self))
        apart = (yes - no) / self.trust
        return yes + apart * self.no, no - apart * self.yes


HONEST = ErrorRates()


def known_rates(guess: object, lapse: object) -> ErrorRates:
    """Return how often an answer is yes, and how often no, whatever is true, checked.

    >>> known_rates(0.5, 0.02)
    ErrorRates(yes=0.5, no=0.02)
    """
    rates = ErrorRates(as_number(guess, "guess", 0.0), as_number(lapse, "lapse", 0.0))
    if rates.trust <= 0.0:
        raise InvalidArgument("guess" if rates.yes > rates.no else "lapse", "below 1, the two together", sum(rates))
    return rates


class Question(ABC):
    """A question about one row: a frozen dataclass."""

    kind: ClassVar[str]

    @abstractmethod
    def answer(self, label: ArrayLike) -> Answer:
        """Return what somebody who knows the label says."""

    @abstractmethod
    def accept(self, answer: object) -> Answer:
        """Return the answer, checked; raises InvalidAnswer if it is of the wrong kind."""

    def to_json(self) -> Record:
        """Return a record of plain JSON values, its fields; ``question_from_json`` reads it back."""
        own: Any = self
        values = {field.name: getattr(self, field.name) for field in fields(own) if field.name not in UNSAID}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {"format": FORMAT, "kind": self.kind, **plain}

    @classmethod
    def from_json(cls, record: Record) -> Self:
        """Return the inverse of ``to_json`` (call ``question_from_json``, which also checks the format)."""
        values = {name: value for name, value in record.items() if name not in ("format", "kind")}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    def numbered(self, number: int) -> Self:
        """Return the same question, carrying the number it was asked under."""
        return self.like(number=number)

    def like(self, **fields: Any) -> Self:
        """Return the same question but for these fields, which are not checked: for whoever knows that they fit."""
        # What was checked once need not be checked again: a third of the time of asking one question.
        changed = object.__new__(type(self))
        changed.__dict__.update(self.__dict__, **fields)
        return changed

    number: int | None
    """Which ask it came from."""
    learnt: int | None = None
    """How many answers its asker had learnt from, where that matters."""
    slips: ErrorRates = HONEST
    """What is known of whoever answers it (see ``UNSAID``)."""

    def put_to(self, slips: ErrorRates) -> Self:
        """Return the same question, answered by somebody of whom this is known."""
        return self if slips == self.slips else self.like(slips=slips)

    def of_row(self, key: int | str) -> Self:
        """Return the same question about a row with this key: where it matters, its questions share one label."""
        return self


class YesNo(Question):
    """A question that holds for a label, or does not."""

    @abstractmethod
    def holds(self, label: ArrayLike) -> bool:
        """Return whether it holds for a label."""

    def answer(self, label: ArrayLike) -> bool:
        return self.holds(label)

    def accept(self, answer: object) -> bool:
        return yes_or_no(answer)


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
