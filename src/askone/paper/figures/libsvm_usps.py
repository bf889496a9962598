"""libsvm-usps: active against passive sets on handwritten digits, over random splits."""

from __future__ import annotations

import math
from typing import ClassVar, final

from askone.paper._base import Claim, Numbers, graded
from askone.paper._split_trial import ACTIVE, PASSIVE
from askone.paper.figures.libsvm import IMPORTANT, Bandwidth, Splits, default_claim, gains_of, gains_text


@final
class Usps(Splits):
    """USPS."""

    name: ClassVar[str] = "libsvm-usps"
    title: ClassVar[str] = "LIBSVM's USPS: test error, active and passive sets"
    caption: ClassVar[str] = (
        "Random splits, two thirds to learn from; step sizes of the paper; designed sets are askone's own "
        "and not in the paper. Dotted: chance."
    )
    needs: ClassVar[tuple[str, ...]] = ("usps-libsvm",)
    rows: ClassVar[int] = 7291
    widths: ClassVar[tuple[Bandwidth, ...]] = (
        Bandwidth("d/5 = 51.2 (the text)", 256 / 5),
        Bandwidth(".2√d = 3.2 (the code)", 0.2 * math.sqrt(256)),
        Bandwidth("50/5 = 10 (the text's d = 50)", 10.0, splits=20),
    )
    steps: ClassVar[dict[str, float]] = {ACTIVE: 15.0, PASSIVE: 60.0}

    def claims(self, numbers: Numbers) -> list[Claim]:
        """Large gains."""
        gains = gains_of(numbers)
        return [
            Claim(
                "The active strategy leads to important gains on USPS",
                "the active curve lies well below",
                gains_text(numbers, gains),
                graded([gain > IMPORTANT for gain in gains.values()]),
                "" if min(gains.values()) > IMPORTANT else "the gain grows with T and depends on the bandwidth",
            ),
            *default_claim(numbers),
        ]
