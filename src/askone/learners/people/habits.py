"""How people answer, as far as it is known: by rates of yes and no, and of classes by which they take for which."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from askone._common.compiled import times
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.learners.mixture.members import require_array
from askone.questions.base import HONEST, ErrorRates, Question
from askone.questions.subset import Subset

_NONE = np.zeros((0, 0, 0))


@final
class KnownHabits(NamedTuple):
    """Of each person the rates (n x 2); of classes also confusions ((k + 1) x m x m) and their weights (k + 1).

    Of the confusions the last is the crowd's, for whoever came later; a weight is that of confusions against rates.
    """

    rates: Array
    matrices: Array = _NONE
    weights: Array = np.zeros(0)

    @classmethod
    def of_fit(cls, fit: dict[str, Array], mark: str = "") -> KnownHabits:
        """Return what a fit has, checked: files of strangers have fits."""
        rates = require_array(fit, f"{mark}rates", "f8", None, 2)
        weights = require_array(fit, f"{mark}weights", "f8", None)
        matrices = require_array(fit, f"{mark}matrices", "f8", len(weights), None, None)
        for name, array in (("rates", rates), ("weights", weights), ("matrices", matrices)):
            if ((array < 0.0) | (array > 1.0)).any():
                raise InvalidArgument(f"fit[{mark + name!r}]", "numbers from 0 to 1", array.tolist())
        return cls(rates, matrices, weights)

    def with_newcomer(self, rate: float) -> KnownHabits:
        """Return the habits with one person more, of whom nothing is known but the crowd's rate."""
        return self._replace(rates=np.vstack([self.rates, np.full((1, 2), rate)]))

    def over(self, before: KnownHabits) -> KnownHabits:
        """Return what is known anew of those who were there, and of later ones what was known before."""
        known = min(len(self.rates), len(before.rates))
        return self._replace(rates=np.vstack([self.rates[:known], before.rates[known:]]))

    def slips(self, place: int, careful: float) -> ErrorRates:
        """Return how answers are taken of somebody: at the worst, as saying nothing, and below ``careful``, as true."""
        yes, no = self.rates[place].tolist()
        most = max(1.0, yes + no)
        return HONEST if max(yes, no) / most < careful else ErrorRates(yes / most, no / most)

    def put(self, question: Question, inside: Array | None, place: int, careful: float) -> Question:
        """Return a question as put to somebody; ``inside`` has 1 for the classes of a set."""
        slips = self.slips(place, careful)
        at = min(place, len(self.weights) - 1)
        if inside is None or at < 0 or not isinstance(question, Subset):
            return question.put_to(slips)
        coins = slips.yes + slips.trust * inside
        mixed = (1.0 - self.weights[at]) * coins + self.weights[at] * times(self.matrices[at], inside)
        return question.put_to(slips, tuple(mixed.tolist()))
