"""A question as it comes from a server: what is asked, in words and in parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from askone.errors import InvalidArgument
from askone.questions.base import yes_or_no

Record = dict[str, Any]


@final
@dataclass(frozen=True)
class Posed:
    """A question as this person has it: answer it with ``Client.tell``.

    ``answers`` are the words for True and False; ``row`` maps the names of what is shown to values as text.  By
    ``kind`` there is one of

    - "threshold": ``threshold`` in the labels' own units, ``side`` ("above" or "below") and ``unit``;
    - "range": ``ends``, between which a yes says that the label lies (above the one, not above the other);
    - "set": ``classes``, the names that are asked about (None where an attribute is asked about by its title);
    - "pair": ``pair``, the two items, the first of which is meant by True.

    Which row it is, the server does not say: known labels could be told from others by it.  A column that names rows is
    in ``row`` if the campaign shows it.

    >>> posed = Posed.from_json({"lease": "l", "number": 0, "kind": "set", "sentence": "Is it one of: 3, 5?",
    ...     "answers": ["Yes", "No"], "set": ["3", "5"],
    ...     "row": {"fields": [{"name": "text", "value": "hi"}], "image": None}})
    >>> str(posed), posed.row, posed.classes, posed.holds(3)
    ('Is it one of: 3, 5?', {'text': 'hi'}, ('3', '5'), True)
    """

    sentence: str
    answers: tuple[str, str]
    kind: str
    number: int
    row: Mapping[str, str]
    lease: str = field(repr=False)
    record: Record = field(repr=False, compare=False)
    """All that the server sent of it."""

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def from_json(cls, record: Record) -> Posed:
        """Read the server's question."""
        yes, no = record["answers"]
        row = {cell["name"]: cell["value"] for cell in record["row"]["fields"]}
        return cls(record["sentence"], (yes, no), record["kind"], record["number"], row, record["lease"], record)

    @property
    def threshold(self) -> float | None:
        """The number asked about, as it is shown."""
        return float(self.record["threshold"]["shown"]) if self.record.get("threshold") else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The two numbers asked about, as they are shown."""
        part = self.record.get("range")
        return None if part is None else (float(part["low"]), float(part["high"]))

    @property
    def side(self) -> str | None:
        """Which side of the threshold a yes means: "above" or "below"."""
        return str(self.record["threshold"]["side"]) if self.record.get("threshold") else None

    @property
    def unit(self) -> str | None:
        """The unit of the threshold, or of the ends."""
        part = self.record.get("threshold") or self.record.get("range")
        return str(part["unit"]) if part else None

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The classes asked about, as texts."""
        names = self.record.get("set")
        return None if names is None else tuple(names)

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two items asked about; True is for the first."""
        part = self.record.get("pair")
        return None if part is None else (str(part["left"]), str(part["right"]))

    def bit(self, said: object) -> bool:
        """Return what one of the ``answers`` means, or whatever else is a yes or a no."""
        return said == self.answers[0] if isinstance(said, str) and said in self.answers else yes_or_no(said)

    def holds(self, label: Any) -> bool:
        """Return what somebody who knows the label says: a number, a class, or all items in order, the best first.

        >>> row = {"fields": []}
        >>> number = Posed.from_json({"lease": "l", "number": 0, "kind": "threshold", "answers": ["Yes", "No"],
        ...     "sentence": "Is the value above 37?", "row": row,
        ...     "threshold": {"shown": "37", "unit": "", "name": "value", "side": "above"}})
        >>> number.holds(40), number.holds(37)
        (True, False)
        """
        if self.threshold is not None:
            value = _number(label)
            return value < self.threshold if self.side == "below" else value > self.threshold
        if self.ends is not None:
            return self.ends[0] < _number(label) <= self.ends[1]
        if self.classes is not None:
            return str(label) in self.classes
        if self.pair is not None:
            first, second = self.pair
            order = [str(item) for item in label] if isinstance(label, Sequence) and not isinstance(label, str) else []
            if first not in order or second not in order:
                raise InvalidArgument("label", f"items in order, {first!r} and {second!r} among them", repr(label)[:60])
            return order.index(first) < order.index(second)
        raise InvalidArgument("label", "left out: what is asked is in the sentence alone", repr(label)[:60])


def _number(label: Any) -> float:
    try:
        value = float(label)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidArgument("label", "a finite number", repr(label)[:60])
    return value
