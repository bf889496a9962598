"""Dates and times of day as numbers: days since 1970, and where they stand in a year, a week and a day."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from askone._common.types import Array

# 2026-03-01, 2026-03-01 12:30:05.25+02:00, and 2026/03/01.  What has slashes and ends with the year begins with the day
# or with the month: which of them, only a whole column tells.
_ISO: Final = re.compile(r"\d{4}([-/])\d\d\1\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?")
_CLOCK: Final = r"(?:,? (?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?P<half>[AaPp])[Mm])?)?"
_WRITTEN: Final = [  # 1.3.2026 12:30, 1 March 2026, 1-Mar-2026, Mar 1, 2026
    re.compile(date + _CLOCK)
    for date in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})[ -](?P<year>\d{4})",
        r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    )
]
_SLASHED: Final = re.compile(r"(?P<first>\d{1,2})/(?P<then>\d{1,2})/(?P<year>\d{4})" + _CLOCK)
_NAMES: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS: Final = 12
_DAY: Final = 86_400.0
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
YEAR, WEEK, DAY = 365.2425, 7.0, 1.0


def as_days(cell: Any, day_first: bool | None = None) -> float:
    """Return the days since 1970 that a text says, by UTC where it names no zone; NaN for anything else.

    ``day_first`` says how dates with slashes begin; None: they are not read.

    >>> as_days("1970-01-02"), as_days("1970-01-02T12:00:00+02:00"), as_days("3.1.1970"), as_days("3/1/1970")
    (1.0, 1.4166666666666667, 2.0, nan)
    >>> as_days("3/1/1970", day_first=True), as_days("1/3/1970 6:00 PM", day_first=False)
    (2.0, 2.75)
    >>> as_days("3.1.1970 12:00"), as_days("Jan 3, 1970"), as_days("3-Jan-1970")
    (2.5, 2.0, 2.0)
    """
    if not isinstance(cell, str):
        return math.nan
    text = cell.strip()
    try:
        if _ISO.fullmatch(text):
            clock = text[11:].replace(" ", "")  # but for what parts day and time
            found = datetime.fromisoformat(text[:11].replace("/", "-") + clock)
        else:
            found = _written(text, day_first)
    except ValueError:  # the 30th of February
        return math.nan
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return (found - _EPOCH).total_seconds() / _DAY


def _written(text: str, day_first: bool | None) -> datetime:
    """Return a time as people write it; anything else raises ValueError."""
    if (found := _SLASHED.fullmatch(text)) is not None and day_first is not None:
        day, month = (int(found[name]) for name in (("first", "then") if day_first else ("then", "first")))
    else:
        found = next((one for form in _WRITTEN if (one := form.fullmatch(text)) is not None), None)
        if found is None:
            raise ValueError(text)
        name, day = found.groupdict().get("name"), int(found["day"])
        month = int(found["month"]) if name is None else _month(name.lower())
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "Pp") if 1 <= hour <= 12 else 24
    return datetime(int(found["year"]), month, day, hour, minute, second, tzinfo=UTC)


def _month(name: str) -> int:
    return next((place for place, full in enumerate(_NAMES, 1) if full.startswith(name)), 0)


def has_day_first(cells: Sequence[Any]) -> bool | None:
    """Return whether dates with slashes begin with the day, as one beyond 12 shows; None if none does, or both.

    >>> has_day_first(["3/1/2026", "25/1/2026"]), has_day_first(["3/1/2026", "1/25/2026"]), has_day_first(["3/1/2026"])
    (True, False, None)
    """
    found = [one for cell in cells if isinstance(cell, str) and (one := _SLASHED.fullmatch(cell.strip()))]
    beyond = {place for one in found for place in ("first", "then") if int(one[place]) > _MONTHS}
    return "first" in beyond if len(beyond) == 1 else None


def all_days(cells: Sequence[Any], day_first: bool | None = None) -> Array:
    """Return the days of each cell; a text that comes again is read once."""
    days = {text: as_days(text, day_first) for text in {cell for cell in cells if isinstance(cell, str)}}
    return np.array([days[cell] if isinstance(cell, str) else math.nan for cell in cells], dtype=np.float64)


def cycles_of(days: Array) -> tuple[float, ...]:
    """Return the cycles, in days, of which dates show enough to learn how labels follow them.

    >>> cycles_of(np.arange(400.0)), cycles_of(np.arange(20.0)), cycles_of(np.array([0.25, 3.5]))
    ((365.2425, 7.0), (7.0,), (1.0,))
    """
    known = days[~np.isnan(days)]
    span = float(np.ptp(known)) if len(known) else 0.0
    found = [cycle for cycle, least in ((YEAR, YEAR / 2), (WEEK, 2 * WEEK)) if span >= least]
    return (*found, DAY) if span >= 2 * DAY and (known % 1 != 0).any() else tuple(found)


def places_in(cycle: float, days: Array) -> Array:
    """Return where days stand in a cycle, as a point on a circle: two columns, zeros where there is no day."""
    angles = np.where(np.isnan(days), 0.0, 2 * math.pi * (days % cycle) / cycle)
    points = np.column_stack([np.sin(angles), np.cos(angles)])
    points[np.isnan(days)] = 0.0
    return points
