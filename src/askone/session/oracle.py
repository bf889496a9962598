"""Oracles answer in simulations: they hold the labels; what leaves them is one bit per question.

It counts what it is asked, and answers one question per row unless told that rows may be asked
again.  What a learner learns from is bools (the fully supervised baseline, which asks for labels by
name, excepted and counted apart); in a simulation the compiled loop takes the bits itself, by
comparing sealed projections with thresholds.  ``tests/learners/test_leaks.py`` proves it for every learner:
other labels that answer alike leave the same state, bit for bit.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_count, as_flag, as_hidden, as_number, as_seed
from askone.errors import AlreadyAsked, InvalidArgument
from askone.labels.base import Space
from askone.labels.ranking import Ranking
from askone.learners.streaming import Respondent, Sealed, SealedOrders
from askone.questions.base import Answer, Question
from askone.questions.reveal import Reveal


@final
class Oracle(Respondent):
    """Answers about hidden labels, exactly, or with flips and skips at given rates.

    ``flip`` is the probability that a bit comes out wrong, ``skip`` that none comes; both depend
    on (seed, row) alone.  Counters: ``questions`` (all), ``skips``, ``labels_revealed``.

    >>> from askone.questions.half_space import HalfSpace
    >>> oracle = Oracle([10.0, 40.0])
    >>> oracle.respond(1, HalfSpace((1.0,), 37.0)), oracle.questions
    (True, 1)
    >>> oracle.respond(1, HalfSpace((1.0,), 42.0))
    Traceback (most recent call last):
    askone.errors.AlreadyAsked: row 1 had its one question; Oracle(..., resample=True) allows several
    """

    def __init__(
        self, labels: ArrayLike, *, flip: float = 0.0, skip: float = 0.0, seed: int = 0, resample: bool = False
    ) -> None:
        self.__labels = as_hidden(labels).copy()
        if self.__labels.size == 0:
            raise InvalidArgument("y", "at least one label", f"shape {self.__labels.shape}")
        flips, skips = as_number(flip, "flip", 0.0, 0.5), as_number(skip, "skip", 0.0, 1.0)
        self._rates = {random_table.FLIP: flips, random_table.SKIP: skips}
        self._seed, self._resample = as_seed(seed), as_flag(resample, "resample")
        self._times = np.zeros(len(self.__labels), dtype=np.int64)
        self.questions = self.skips = self.labels_revealed = 0

    def __len__(self) -> int:
        return len(self._times)

    def __repr__(self) -> str:
        return f"Oracle({len(self)} hidden labels, {self.questions} questions answered)"

    @property
    def outputs(self) -> int:
        """Numbers or names in one label."""
        return int(self.__labels.shape[1])

    def fits(self, space: Space) -> None:
        """Raise unless every label is one of the space's."""
        if self.outputs != space.entries:
            raise InvalidArgument("oracle", f"one with {space.entries} output(s)", f"{self.outputs} output(s)")
        space.labels(self.__labels)

    def respond(self, row: int, question: Question) -> Answer | None:
        row = as_count(row, "row", 0, len(self) - 1)
        answer = question.answer(self.__labels[row])  # before it counts: a question may not fit
        if self._rates[random_table.FLIP] > 0 and not isinstance(answer, bool) and not isinstance(question, Reveal):
            raise InvalidArgument("question", "one about a bit: no other answer can be flipped", str(question))
        flipped, skipped = self._admit_one(row)
        if skipped:
            return None
        if isinstance(question, Reveal):
            self.labels_revealed += 1
            return answer
        return answer != flipped if isinstance(answer, bool) else answer

    def seal(self, rows: Array, directions: Array) -> Sealed:
        flips, skipped = self._admit(rows)
        return Sealed(np.einsum("ij,ij->i", self.__labels[rows], directions), flips, skipped)

    def seal_orders(self, rows: Array, space: Ranking) -> SealedOrders:
        ranks = space.ranks(self.__labels[rows])  # before they count: an order may not fit
        return SealedOrders(ranks, *self._admit(rows))

    def reveal(self, rows: Array) -> tuple[Array, Array]:
        _, skipped = self._admit(rows)
        self.labels_revealed += int(len(rows) - skipped.sum())
        labels = self.__labels[rows]
        labels[skipped] = None if labels.dtype == object else np.nan
        return labels, skipped

    def check(self, rows: Array) -> None:
        """Raise if some of these rows may not be asked."""
        outside = (rows < 0) | (rows >= len(self))
        if outside.any():
            raise InvalidArgument("row", f"a whole number from 0 to {len(self) - 1}", int(rows[outside][0]))
        times = self._times[rows]
        if not self._resample and (times.any() or len(set(rows.tolist())) < len(rows)):
            raise self._refusal(int(rows[times > 0][0] if times.any() else rows[0]))

    def _refusal(self, row: int) -> AlreadyAsked:
        return AlreadyAsked(f"row {row} had its one question; Oracle(..., resample=True) allows several")

    def require_resampling(self) -> None:
        """Raise unless rows may be asked more than once."""
        if not self._resample:
            raise AlreadyAsked("each row has one question here; Oracle(..., resample=True) allows several")

    def _admit(self, rows: Array) -> tuple[Array, Array]:
        """Count questions about some rows and draw who flips and who skips."""
        self.check(rows)
        times = self._times[rows]
        if self._resample:  # the same row may come several times within a block
            order = np.argsort(rows, kind="stable")
            fresh = np.concatenate([[True], np.diff(rows[order]) > 0])
            starts = np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), 0))
            times[order] += np.arange(len(rows)) - starts
        flips, skipped = self._chance(rows, times, random_table.FLIP), self._chance(rows, times, random_table.SKIP)
        self._times[rows] = times + 1
        self.questions += len(rows)
        self.skips += int(skipped.sum())
        return flips, skipped

    def _admit_one(self, row: int) -> tuple[bool, bool]:
        """Do the same for one row: without arrays, which take ten times as long."""
        times = int(self._times[row])
        if times and not self._resample:
            raise self._refusal(row)
        flipped, skipped = self._lot(row, times, random_table.FLIP), self._lot(row, times, random_table.SKIP)
        self._times[row] = times + 1
        self.questions += 1
        self.skips += skipped
        return flipped, skipped

    def _chance(self, rows: Array, times: Array, purpose: int) -> Array:
        if self._rates[purpose] == 0.0:
            return np.zeros(len(rows), dtype=np.bool_)
        each = zip(rows.tolist(), times.tolist(), strict=True)
        return np.array([self._lot(row, time, purpose) for row, time in each], dtype=np.bool_)

    def _lot(self, row: int, times: int, purpose: int) -> bool:
        """Return whether the lot of a question falls so; the k-th about a row has a draw of its own: row + k x rows."""
        rate, draw = self._rates[purpose], row + times * len(self)
        return rate > 0.0 and bool(random_table.uniforms(self._seed, draw, 1, 1, purpose)[0, 0] < rate)
