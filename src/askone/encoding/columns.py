"""Columns of a table: their name and kind, as their cells tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

from askone.encoding.amounts import MISSING, MOSTLY, reading_of
from askone.encoding.dates import as_days, has_day_first

Kind = Literal["number", "amount", "category", "date", "text", "image", "url", "vector"]

_LEVELS, _SHORT, _SHOWN = 50, 80, 100


@final
@dataclass(frozen=True)
class Column:
    """A column: its name, what its cells are, and a few of them."""

    name: str
    kind: Kind
    examples: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"name": self.name, "kind": self.kind, "examples": list(self.examples)}


def kind_of_texts(texts: Sequence[str]) -> Kind:
    """Return amount, category, url, date or text: by how texts read, how often they come again, how long they are.

    Numbers with a unit are amounts; those without one are, unless few of them come again and again.

    >>> kind_of_texts(["red", "blue", "red"]), kind_of_texts(["https://a.org"]), kind_of_texts(["a", "b"])
    ('category', 'url', 'text')
    >>> kind_of_texts(["2026-03-01", "2026-03-02 12:30", "?"])
    'date'
    >>> kind_of_texts(["€5", "€1,200", "n/a"]), kind_of_texts([f"{n:,}" for n in range(2000)])
    ('amount', 'amount')
    """
    if texts and all(text.startswith(("https://", "http://")) for text in texts):
        return "url"
    reading = reading_of(texts)
    if reading is not None and reading.unit:
        return "amount"
    levels = set(texts)
    again = len(levels) <= min(_LEVELS, 2 * len(texts) // 3) or (len(levels) <= 3 < len(texts))
    if texts and again and max(map(len, levels)) <= _SHORT:
        return "category"
    day_first, given = has_day_first(texts), [text for text in texts if text.strip() not in MISSING]
    if given and sum(not math.isnan(as_days(text, day_first)) for text in given) >= MOSTLY * len(given):
        return "date"
    return "text" if reading is None else "amount"


def column_of(name: str, sample: Sequence[Mapping[str, Any]], is_number: bool, count: int = 5) -> Column:
    """Return the column of this name, as its sampled cells tell: with a few different ones, shortened."""
    values = [row[name] for row in sample if row[name] is not None]
    found: dict[Any, None] = {}
    for value in values:
        long = isinstance(value, str) and len(value) > _SHOWN
        found.setdefault(value[: _SHOWN - 1] + "…" if long else value)
        if len(found) == count:
            break
    return Column(name, "number" if is_number else kind_of_texts(values), tuple(found))


def vector_column(name: str, width: int) -> Column:
    """Return a column of vectors, which nobody reads: an example says how wide they are."""
    return Column(name, "vector", (f"{width} numbers",))
