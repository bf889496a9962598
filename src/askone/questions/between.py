"""Questions about numbers from two sides: does the value lie between these?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from numpy.typing import ArrayLike

from askone._common.types import Record
from askone._common.validate import as_label, as_number
from askone.errors import InvalidArgument
from askone.labels.wording import Wording, shared_wording
from askone.questions.base import FORMAT, HONEST, ErrorRates, YesNo


@final
@dataclass(frozen=True)
class Between(YesNo):
    """Does the number lie between two ends?  low < y <= high: it is above the one and not above the other.

    So it is what two half-spaces say together, ends included.  ``density`` is the density that its half-width was
    drawn with (1 where nothing was drawn), ``number`` and ``learnt`` are those of ``HalfSpace``.

    >>> q = Between(310, 390, wording=Wording(("price",), "USD"))
    >>> str(q), q.holds(311), q.holds(390), q.holds(310)
    ('Is the price between 310 and 390 USD?', True, True, False)
    >>> Between.from_json(q.to_json()) == q
    True
    """

    low: float
    high: float
    density: float = 1.0
    number: int | None = None
    wording: Wording = Wording()
    learnt: int | None = None
    slips: ErrorRates = field(default=HONEST, compare=False, repr=False)
    kind: ClassVar[str] = "between"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))
        if not self.low < self.high:
            raise InvalidArgument("high", f"a number above low, {self.low}", self.high)
        if not (math.isfinite(self.density) and self.density > 0):
            raise InvalidArgument("density", "a finite number above 0", self.density)
        if len(self.wording.names) > 1:
            raise InvalidArgument("names", "1 name: one number is asked about", self.wording.names)

    def __str__(self) -> str:
        return self.wording.range_sentence(self.low, self.high)

    def holds(self, label: ArrayLike) -> bool:
        """Return whether low < y <= high."""
        return bool(self.low < float(as_label(label, 1)[0]) <= self.high)

    def to_json(self) -> Record:
        words = self.wording
        return {
            "format": FORMAT,
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "density": self.density,
            "number": self.number,
            "names": list(words.names),
            "unit": words.unit,
            "wording": words.template,
            "learnt": self.learnt,
        }

    @classmethod
    def from_json(cls, record: Record) -> Between:
        wording = shared_wording(tuple(record["names"]), record["unit"], record["wording"])
        low, high, density, number = (record[name] for name in ("low", "high", "density", "number"))
        return cls(low, high, density, number, wording, record["learnt"])
