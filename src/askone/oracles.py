"""Who answers in a simulation.  An oracle holds the labels; what leaves it is one bit per question.

It counts what it is asked, and answers one question per row unless told that rows may be asked
again.  Learners never hold an oracle: they are told bools (the fully supervised baseline, which
asks for labels by name, excepted and counted apart).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askone import draws
from askone.errors import AlreadyAsked, InvalidArgument
from askone.inputs import as_count, as_labels, as_number
from askone.learners.base import Respondent, Sealed
from askone.questions import Answer, Question, Reveal

Array = NDArray[Any]


@final
class Oracle(Respondent):
    """Answers about hidden labels, exactly, or with flips and skips at given rates.

    ``flip`` is the probability that a bit comes out wrong, ``skip`` that none comes; both depend
    on (seed, row) alone.  Counters: ``questions`` (all), ``skips``, ``labels_revealed``.

    >>> from askone.questions import HalfSpace
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
        self.__labels = as_labels(labels)
        self._flip, self._skip = as_number(flip, "flip", 0.0, 0.5), as_number(skip, "skip", 0.0, 1.0)
        self._seed, self._resample = as_count(seed, "seed"), resample
        self._times = np.zeros(len(self.__labels), dtype=np.int64)
        self.questions = self.skips = self.labels_revealed = 0

    def __len__(self) -> int:
        return len(self._times)

    def __repr__(self) -> str:
        return f"Oracle({len(self)} hidden labels, {self.questions} questions answered)"

    @property
    def outputs(self) -> int:
        """Number of outputs m."""
        return int(self.__labels.shape[1])

    def respond(self, row: int, question: Question) -> Answer | None:
        """See ``Respondent.respond``."""
        flips, skipped = self._admit(row, 1)
        if skipped[0]:
            return None
        answer = question.answer(self.__labels[row])
        if isinstance(question, Reveal):
            self.labels_revealed += 1
            return answer
        return answer != bool(flips[0])

    def seal(self, first: int, directions: Array) -> Sealed:
        """See ``Respondent.seal``."""
        flips, skipped = self._admit(first, len(directions))
        labels = self.__labels[first : first + len(directions)]
        return Sealed(np.einsum("ij,ij->i", labels, directions), flips, skipped)

    def reveal(self, first: int, count: int) -> tuple[Array, Array]:
        """See ``Respondent.reveal``."""
        _, skipped = self._admit(first, count)
        self.labels_revealed += int(count - skipped.sum())
        return self.__labels[first : first + count], skipped

    def _admit(self, first: int, count: int) -> tuple[Array, Array]:
        if first < 0 or first + count > len(self):
            raise InvalidArgument("row", f"from 0 to {len(self) - 1}", first if first < 0 else first + count - 1)
        times = self._times[first : first + count]
        if not self._resample and times.any():
            row = first + int(np.flatnonzero(times)[0])
            raise AlreadyAsked(f"row {row} had its one question; Oracle(..., resample=True) allows several")
        flips, skipped = self._chance(first, count, draws.FLIP), self._chance(first, count, draws.SKIP)
        times += 1
        self.questions += count
        self.skips += int(skipped.sum())
        return flips, skipped

    def _chance(self, first: int, count: int, purpose: int) -> Array:
        rate = self._flip if purpose == draws.FLIP else self._skip
        if rate == 0.0:
            return np.zeros(count, dtype=np.bool_)
        rounds = self._times[first : first + count]
        uniform = [draws.uniforms(self._seed, first + int(k) * len(self), count, 1, purpose)[:, 0] for k in set(rounds)]
        by_round = dict(zip(set(rounds), uniform, strict=True))
        return np.array([by_round[k][i] < rate for i, k in enumerate(rounds)])
