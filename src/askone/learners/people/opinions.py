"""What several people's answers to one question say together.

They share one unknown truth t of the question.  With b_i what person i said,

    L_t = prod_i P(b_i | t) ,     P(all of them) = L_0 + (L_1 - L_0) p ,     p the chance that t is yes:

up to a factor the likelihood of one answer, of somebody who errs with e = min(L_0, L_1) / (L_0 + L_1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, final

from askone._common.types import Array
from askone.questions.base import ErrorRates

_LEAST = 0.01  # Nobody errs less often: two people who never err cannot differ.


@final
class JointEvidence(NamedTuple):
    """How likely it is what people said where no is true, and where yes is: L_0 and L_1.

    >>> twice = JointEvidence.of([(ErrorRates(0.2, 0.2), True), (ErrorRates(0.2, 0.2), True)])
    >>> rates, answer = twice.answer
    >>> round(rates.yes, 3), answer
    (0.059, True)
    """

    no: float = 1.0
    yes: float = 1.0

    @classmethod
    def of(cls, opinions: Iterable[tuple[ErrorRates | Array, bool]]) -> JointEvidence:
        """Return the evidence of opinions: how often each person errs, and what they said."""
        found = cls()
        for rates, bit in opinions:
            found = found.after(rates, bit)
        return found

    def after(self, rates: ErrorRates | Array, bit: bool) -> JointEvidence:
        """Return the evidence after one opinion more, by somebody with these rates."""
        g, no = (max(float(rate), _LEAST) for rate in rates)
        most = max(1.0, g + no)
        g, no = g / most, no / most  # at the worst, it says nothing
        return JointEvidence(self.no * (g if bit else 1.0 - g), self.yes * (1.0 - no if bit else no))

    @property
    def answer(self) -> tuple[ErrorRates, bool]:
        """What it comes to: one answer, and how often whoever gives it errs."""
        wrong = min(self) / (self.no + self.yes)
        return ErrorRates(wrong, wrong), self.yes >= self.no

    def chance(self, p: float) -> float:
        """Return the chance of yes, which was p before."""
        return p * self.yes / (p * self.yes + (1.0 - p) * self.no)
