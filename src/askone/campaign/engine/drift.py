"""Whether a stream drifts: are later rows predicted worse than earlier ones?

Learning makes errors fall, never rise: where the exams about the later half of the rows (by their place in the file)
have the larger errors, the rows differ, or the labels do.  Welch's test of the two means, one-sided:

    z = (later - earlier) / sqrt(s_later^2 / n_later + s_earlier^2 / n_earlier)  >=  3.3.

>>> drift([(place, float(place > 50)) for place in range(100)])
Drift(earlier=0.0, later=0.98)
>>> drift([(place, float(place % 3)) for place in range(100)]) is None
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, final

import numpy as np

FEWEST: Final = 15
"""Exams about each half of the rows, before anything is said."""
_CLEAR: Final = 3.3  # z: without drift some 2 % of campaigns ever see it, however often they look


@final
class Drift(NamedTuple):
    """The mean errors at the earlier and at the later rows."""

    earlier: float
    later: float


def drift(exams: Sequence[tuple[int, float]]) -> Drift | None:
    """Return the errors of both halves where the later is clearly larger; ``exams`` are (place of the row, error)."""
    if len(exams) < 2 * FEWEST:
        return None
    errors = np.array([error for _, error in sorted(exams)])
    halves = errors[: len(errors) // 2], errors[len(errors) // 2 :]
    earlier, later = (float(half.mean()) for half in halves)
    # One more exam with the error of all in each half: else errors that never vary would claim to be exact.
    spread = sum((float(half.var()) * len(half) + errors.mean() ** 2) / len(half) ** 2 for half in halves)
    return Drift(earlier, later) if later - earlier >= _CLEAR * math.sqrt(spread) and later > earlier else None
