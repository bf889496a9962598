"""What is known of somebody's answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, log2
from typing import Any, TypeGuard, final

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.questions.base import ErrorRates

Ends = tuple[float, float]
_ANY: Ends = (0.0, 1.0)
_LONGEST = 200  # characters of a name


def is_person(person: object) -> TypeGuard[str]:
    """Return whether somebody can be called so."""
    return isinstance(person, str) and len(person.strip()) > 0 and len(person) <= _LONGEST and person.isprintable()


def as_person(person: object) -> str:
    """Return somebody's name, or refuse it.

    >>> as_person("ann")
    'ann'
    """
    if is_person(person):
        return person
    shown = repr(person)
    allowed = f"a text of 1 to {_LONGEST} characters that can be printed"
    raise InvalidArgument("person", allowed, shown if len(shown) <= _LONGEST else f"{shown[:40]}…")


@final
@dataclass(frozen=True)
class Person:
    """How often somebody is right where yes is true, and where no is, each with the ends of a 95 % interval.

    Both are None, and so is all that follows from them, while nothing is ``known``.

    >>> ann = Person("ann", 40, 0.9, 0.9, (0.8, 0.95), (0.8, 0.95))
    >>> ann.yes_bias, round(ann.bits, 2)
    (0.0, 0.53)
    """

    name: str
    answers: int
    sensitivity: float | None
    specificity: float | None
    sensitivity_interval: Ends
    specificity_interval: Ends

    @classmethod
    def of(cls, name: str, answers: int, rates: Array, ends: Array) -> Person:
        """Return a person by how often they say yes, and no, whatever is true, and the intervals of these (2 x 2)."""
        yes, no = rates.tolist()
        (yes_low, yes_high), (no_low, no_high) = ends.tolist()
        if (yes_low, yes_high) == (no_low, no_high) == _ANY:  # the rates are those of the crowd
            return cls(name, answers, None, None, _ANY, _ANY)
        return cls(name, answers, 1 - no, 1 - yes, (1 - no_high, 1 - no_low), (1 - yes_high, 1 - yes_low))

    @property
    def known(self) -> bool:
        """Whether anything was found of how often they err."""
        return self._slips is not None

    @property
    def _slips(self) -> ErrorRates | None:
        if self.sensitivity is None or self.specificity is None:
            return None
        return ErrorRates(1 - self.specificity, 1 - self.sensitivity)

    @property
    def yes_bias(self) -> float | None:
        """By how much more often than half they say yes where yes and no are equally often true."""
        return None if self._slips is None else (self._slips.yes - self._slips.no) / 2

    @property
    def bits(self) -> float | None:
        """What an answer of theirs tells where yes and no are equally likely: I = H(answer) - H(answer | truth)."""
        return None if self._slips is None else information(self._slips, 0.5)

    @property
    def bits_interval(self) -> Ends:
        """The same at the ends of what is known of both rates together.

        Both go towards their ends by the part at which J = sensitivity + specificity - 1 is at its own, if they err
        independently: with d and e the ways to these ends, by (d^2 + e^2)^(1/2) / (d + e).

        >>> [round(bits, 2) for bits in Person("ann", 40, 0.9, 0.9, (0.8, 0.95), (0.8, 0.95)).bits_interval]
        [0.34, 0.65]
        """
        slips = self._slips
        if slips is None:
            return _ANY
        low, high = (
            self._towards(slips, right - 1 + slips.no, other - 1 + slips.yes)
            for right, other in zip(self.sensitivity_interval, self.specificity_interval, strict=True)
        )
        return low, high

    def _towards(self, slips: ErrorRates, d: float, e: float) -> float:
        part = hypot(d, e) / abs(d + e) if d + e else 0.0
        yes, no = slips.yes - part * e, slips.no - part * d
        return information(ErrorRates(yes, min(no, 1 - yes)), 0.5)  # who is contrary tells nothing that is made use of


def rates_to_json(person: Person) -> dict[str, Any]:
    """Return what is known of how somebody answers, as JSON values."""
    return {
        "sensitivity": person.sensitivity,
        "specificity": person.specificity,
        "sensitivity_interval": list(person.sensitivity_interval),
        "specificity_interval": list(person.specificity_interval),
        "yes_bias": person.yes_bias,
        "bits": person.bits,
        "bits_interval": list(person.bits_interval),
    }


def information(rates: ErrorRates, p: float) -> float:
    """Return what somebody's answer tells of a truth that is yes with chance p, in bits: H(answer) - H(answer | truth).

    >>> information(ErrorRates(), 0.5), information(ErrorRates(0.5, 0.5), 0.5)
    (1.0, 0.0)
    """
    return _entropy(rates.heard(True, p)) - p * _entropy(rates.no) - (1 - p) * _entropy(rates.yes)


def _entropy(p: float) -> float:
    return 0.0 if p <= 0.0 or p >= 1.0 else -p * log2(p) - (1 - p) * log2(1 - p)
