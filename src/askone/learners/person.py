"""What is known of somebody's answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any, final

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.questions.base import ErrorRates

Ends = tuple[float, float]
_LONGEST = 200  # characters of a name


def as_person(person: object) -> str:
    """Return somebody's name, or refuse it.

    >>> as_person("ann")
    'ann'
    """
    if isinstance(person, str) and len(person.strip()) > 0 and len(person) <= _LONGEST and person.isprintable():
        return person
    shown = repr(person)
    allowed = f"a text of 1 to {_LONGEST} characters that can be printed"
    raise InvalidArgument("person", allowed, shown if len(shown) <= _LONGEST else f"{shown[:40]}…")


@final
@dataclass(frozen=True)
class Person:
    """How often somebody is right where yes is true, and where no is, each with the ends of a 95 % interval.

    >>> ann = Person("ann", 40, 0.9, 0.9, (0.8, 0.95), (0.8, 0.95))
    >>> ann.yes_bias, round(ann.bits, 2)
    (0.0, 0.53)
    """

    name: str
    answers: int
    sensitivity: float
    specificity: float
    sensitivity_interval: Ends
    specificity_interval: Ends

    @classmethod
    def of(cls, name: str, answers: int, rates: Array, ends: Array) -> Person:
        """Return a person by how often they say yes, and no, whatever is true, and the intervals of these (2 x 2)."""
        yes, no = rates.tolist()
        (yes_low, yes_high), (no_low, no_high) = ends.tolist()
        return cls(name, answers, 1 - no, 1 - yes, (1 - no_high, 1 - no_low), (1 - yes_high, 1 - yes_low))

    @property
    def yes_bias(self) -> float:
        """By how much more often than half they say yes where yes and no are equally often true."""
        return (self.sensitivity - self.specificity) / 2

    @property
    def bits(self) -> float:
        """What an answer of theirs tells where yes and no are equally likely: I = H(answer) - H(answer | truth)."""
        return information(ErrorRates(1 - self.specificity, 1 - self.sensitivity), 0.5)


def rates_to_json(person: Person) -> dict[str, Any]:
    """Return what is known of how somebody answers, as JSON values."""
    return {
        "sensitivity": person.sensitivity,
        "specificity": person.specificity,
        "sensitivity_interval": list(person.sensitivity_interval),
        "specificity_interval": list(person.specificity_interval),
        "yes_bias": person.yes_bias,
        "bits": person.bits,
    }


def information(rates: ErrorRates, p: float) -> float:
    """Return what somebody's answer tells of a truth that is yes with chance p, in bits: H(answer) - H(answer | truth).

    >>> information(ErrorRates(), 0.5), information(ErrorRates(0.5, 0.5), 0.5)
    (1.0, 0.0)
    """
    return _entropy(rates.heard(True, p)) - p * _entropy(rates.no) - (1 - p) * _entropy(rates.yes)


def _entropy(p: float) -> float:
    return 0.0 if p <= 0.0 or p >= 1.0 else -p * log2(p) - (1 - p) * log2(1 - p)
