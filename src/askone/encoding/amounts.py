"""Numbers as people write them: "€3,089", "1.234,50 EUR", "54 m²", "5 %"; in a column of one unit.

Which sign parts the decimals, only a whole column tells: see ``reading_of``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from askone._common.types import Array

MISSING: Final = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "none", "-", "?")
_CURRENCIES: Final = "EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|MXN|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|ZAR|KRW"
_BLANKS: Final = " \u00a0\u2009\u202f"
# A sign, a currency, digits with points, commas, apostrophes or blanks among them, and a unit.
_AMOUNT: Final = re.compile(
    rf"(?P<sign>[+\-\u2212]?)\s?(?P<before>[A-Z]{{0,3}}[$€£¥₹₽₩₺₫₪₴₦]|{_CURRENCIES}|Rs\.?|Fr\.?|kr\.?)?\s?"
    rf"(?P<second>[+\-\u2212]?)(?P<digits>[0-9](?:[0-9.,'’{_BLANKS}]*[0-9])?|[.,][0-9]+)"
    r"\s?(?P<after>[^\d\s.,'’:;/()\-][^\d\n]{0,10}[23]?)?"
)
_THOUSANDS: Final = rf"[1-9][0-9]{{0,2}}(?:[%s'’{_BLANKS}][0-9]{{3}})+"
_PLACES: Final = {  # in India, figures before the last thousand are parted by two
    ".": re.compile(rf"(?:{_THOUSANDS % ','}|[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}|[0-9]*)(?:\.[0-9]+)?"),
    ",": re.compile(rf"(?:{_THOUSANDS % '.'}|[0-9]*)(?:,[0-9]+)?"),
}
_OTHER: Final = {".": ",", ",": "."}
_CODE: Final = re.compile(r"0[0-9]|[0-9]{16}")  # 007 and long numbers are names
_HOUSE: Final = re.compile(r"[0-9]+[A-Za-z]")  # and so are 12 and 12a
MOSTLY: Final = 0.9
"""Share of a column's cells that are amounts, or dates; others, such as "on request", count as missing."""


@final
@dataclass(frozen=True)
class Reading:
    """How a column's amounts are read: the sign of decimals, and the unit that all have, if they have one."""

    decimal: str
    unit: str = ""

    def number(self, cell: Any) -> float:
        """Return the number that a cell says; NaN where it says none, or one of another unit.

        >>> reading = Reading(",", "€")
        >>> [reading.number(cell) for cell in ("1.234,5 €", "-7", 12, "on request", "5 $")]
        [1234.5, -7.0, 12.0, nan, nan]
        """
        if not isinstance(cell, str):
            return _finite(cell)
        found = _AMOUNT.fullmatch(cell.strip())
        if found is None or _unit(found) not in ("", self.unit) or not _PLACES[self.decimal].fullmatch(found["digits"]):
            return math.nan
        digits = "".join(sign for sign in found["digits"] if sign.isdecimal() or sign == self.decimal)
        number = _finite(digits.replace(",", "."))
        return -number if found["sign"] + found["second"] in ("-", "\u2212") else number

    def numbers(self, cells: Sequence[Any]) -> Array:
        """Return the numbers of some cells; a text that comes again is read once."""
        read = {text: self.number(text) for text in {cell for cell in cells if isinstance(cell, str)}}
        return np.array(
            [read[cell] if isinstance(cell, str) else self.number(cell) for cell in cells], dtype=np.float64
        )


def reading_of(cells: Sequence[Any]) -> Reading | None:
    """Return how a column of amounts is read; None if it is none: few are amounts, or codes, or of several units.

    Of points and commas that is the sign of decimals by which more cells are numbers; where both could be, the one by
    which more cells have parted thousands.

    >>> reading_of(["€3,089", "€950"]), reading_of(["1.234 kg", "999 kg", "?"]), reading_of(["1,5", "12"])
    (Reading(decimal='.', unit='€'), Reading(decimal=',', unit='kg'), Reading(decimal=',', unit=''))
    >>> reading_of(["10,308 km", "9,120 km", "231.829 km"]), reading_of(["0.250 kg", "0.125 kg"])
    (Reading(decimal='.', unit='km'), Reading(decimal='.', unit='kg'))
    >>> reading_of(["5 kg", "5 lb"]), reading_of(["007", "12"]), reading_of(["A1", "A2"]), reading_of(["12", "12a"])
    (None, None, None, None)
    """
    known = [text for cell in cells if cell is not None and (text := str(cell).strip()) not in MISSING]
    matches = [one for one in map(_AMOUNT.fullmatch, known) if one is not None]
    units = Counter(filter(None, map(_unit, matches))).most_common(1)  # spreadsheets have numbers without it beside
    unit = units[0][0] if units else ""
    found = [one for one in matches if _unit(one) in ("", unit)]
    if not found or len(found) < MOSTLY * len(known) or any(_CODE.match(one["digits"]) for one in found):
        return None
    if any(not _unit(one) for one in found) and any(_HOUSE.fullmatch(one[0]) for one in found):
        return None
    digits = Counter(one["digits"] for one in found)
    votes = {decimal: _votes(digits, decimal) for decimal in _PLACES}
    best = max(votes, key=lambda decimal: votes[decimal])
    return Reading(best, unit) if votes[best][0] >= MOSTLY * len(known) else None


def _votes(digits: Counter[str], decimal: str) -> tuple[int, int]:
    """Return how many cells are numbers by a sign of decimals, and in how many the other sign parts thousands."""
    read = {text: count for text, count in digits.items() if _PLACES[decimal].fullmatch(text)}
    return sum(read.values()), sum(count for text, count in read.items() if _OTHER[decimal] in text)


def mixed(cells: Sequence[Any], reading: Reading) -> tuple[str, str] | None:
    """Return two cells of which one is read wrongly, if both were meant alike; None: there are none.

    One has three decimals, which thousands have as well, and no other sign; in the other one thousands are parted.

    >>> mixed(["10,308 km", "9,120 km", "231.829 km"], Reading(".", "km"))
    ('231.829 km', '10,308 km')
    >>> mixed(["10,308 km", "9,120.5 km", "7.25 km"], Reading(".", "km"))
    """
    matches = [one for cell in cells if isinstance(cell, str) and (one := _AMOUNT.fullmatch(cell.strip()))]
    other = _OTHER[reading.decimal]
    parted = re.compile(rf"[1-9][0-9]{{0,2}}{re.escape(reading.decimal)}[0-9]{{3}}")
    decimals = next((one[0] for one in matches if parted.fullmatch(one["digits"])), None)
    thousands = next((one[0] for one in matches if {".", ","} & {*one["digits"]} == {other}), None)
    return None if decimals is None or thousands is None else (decimals, thousands)


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _unit(found: re.Match[str]) -> str:
    return " ".join(part.strip() for part in (found["before"], found["after"]) if part)
