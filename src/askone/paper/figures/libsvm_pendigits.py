"""libsvm-pendigits: active against passive sets on pen strokes, over random splits."""

from __future__ import annotations

import math
from typing import ClassVar, final

from askone.paper._base import Claim, Numbers, graded
from askone.paper._split_trial import ACTIVE, PASSIVE
from askone.paper.figures.libsvm import IMPORTANT, Bandwidth, Splits, default_claim, gains_of, gains_text


@final
class Pendigits(Splits):
    """Pen digits."""

    name: ClassVar[str] = "libsvm-pendigits"
    title: ClassVar[str] = "LIBSVM's pen digits: test error, active and passive sets"
    caption: ClassVar[str] = (
        "Random splits, two thirds to learn from; step sizes of the paper; designed sets are askone's own "
        "and not in the paper. Dotted: chance."
    )
    needs: ClassVar[tuple[str, ...]] = ("pendigits",)
    rows: ClassVar[int] = 7494
    widths: ClassVar[tuple[Bandwidth, ...]] = (
        Bandwidth("d/5 = 3.2 (the text)", 16 / 5),
        Bandwidth(".2√d = 0.8 (the code)", 0.2 * math.sqrt(16)),
    )
    steps: ClassVar[dict[str, float]] = {ACTIVE: 7.5, PASSIVE: 30.0}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Hardly any gain."""
        gains = gains_of(numbers)
        little = [gain < IMPORTANT for gain in gains.values()]
        return [
            Claim(
                "The active strategy is not that useful on pen digits",
                "both curves close to each other",
                gains_text(numbers, gains),
                graded(little),
                "it depends on the bandwidth: with the code's narrower kernel the active strategy gains"
                if any(little) and not all(little)
                else "",
            ),
            *default_claim(numbers),
        ]
