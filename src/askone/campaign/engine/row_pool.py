"""The rows of a campaign: which had their question, and which are kept for exams.

A row has one question, ever, so an exam cannot be about a row that was asked before; and the rows that are left are
not like all rows unless the order is random.  So each row is kept for exams with the probability ``exam_share``, by a
random number of its own (seed, row): whatever the order of the others, exams are about rows drawn at random from all
that there are, and rows that are added later join in the same share.

>>> pool = RowPool(seed=0, exam_share=0.15)
>>> pool.grow(1000)
>>> len(pool.free(exams=True)), pool.next_in_file(), pool.next_in_file(besides=0)
(150, 0, 1)
"""

from __future__ import annotations

from typing import final

import numpy as np

from askone._common import random_table
from askone._common.types import Array

DRAWS = 64
"""Rows that are looked at for one that is free, before all of them are: with one in ten free that is once in 800."""


@final
class RowPool:
    """See the module."""

    def __init__(self, seed: int = 0, exam_share: float = 0.0) -> None:
        self.rows = 0
        self._seed, self._share, self._cursor = seed, exam_share, 0
        self._taken = self._kept = np.zeros(0, dtype=np.bool_)  # as long as needed, or longer
        self._left = {False: 0, True: 0}

    def grow(self, rows: int) -> None:
        """So many rows are added at the end."""
        first, self.rows = self.rows, self.rows + rows
        self._make_room(self.rows)
        new = slice(first, self.rows)
        for exams in (False, True):
            self._left[exams] += int(np.count_nonzero(~self._taken[new] & (self._kept[new] == exams)))

    def _make_room(self, rows: int) -> None:
        have = len(self._taken)
        if rows > have:
            more = max(rows, 2 * have) - have
            uniform = random_table.uniforms(self._seed, have, more, 1, random_table.KEEP)[:, 0]
            self._taken = np.concatenate([self._taken, np.zeros(more, dtype=np.bool_)])
            self._kept = np.concatenate([self._kept, uniform < self._share])

    def take(self, position: int) -> None:
        """This row has its question, or is not to have one; it may be there before ``grow`` says so."""
        self._make_room(position + 1)
        if not self._taken[position] and position < self.rows:
            self._left[bool(self._kept[position])] -= 1
        self._taken[position] = True

    def to_arrays(self) -> dict[str, Array]:
        """Return what happened to the rows: equal for equal logs."""
        taken = np.flatnonzero(self._taken)
        room = max(self.rows, int(taken[-1]) + 1 if len(taken) else 0)
        return {"pool": np.array([self.rows, room]), "taken": np.packbits(self._taken[:room])}

    def adopt(self, arrays: dict[str, Array]) -> None:
        """Bring a pool without rows to where ``to_arrays`` was called."""
        self.rows, room = arrays["pool"].tolist()
        self._make_room(room)
        self._taken[:room] = np.unpackbits(arrays["taken"], count=room).astype(np.bool_)
        free = ~self._taken[: self.rows]
        for exams in (False, True):
            self._left[exams] = int(np.count_nonzero(free & (self._kept[: self.rows] == exams)))

    def any_left(self, exams: bool | None = None) -> bool:
        """Return whether there are rows without a question: for exams, for learning, or any (None)."""
        return any(self._left.values()) if exams is None else self._left[exams] > 0

    def next_in_file(self, besides: int | None = None) -> int | None:
        """Return the first row for learning that is free, other than ``besides``."""
        place = self._cursor
        while place < self.rows and (self._taken[place] or self._kept[place] or place == besides):
            if place == self._cursor and place != besides:
                self._cursor += 1
            place += 1
        return place if place < self.rows else None

    def drawn(self, number: int, exams: bool, besides: int | None = None) -> int | None:
        """Return a free row for question ``number``, each as likely as any other; None: there is none."""
        if not self._left[exams]:
            return None
        uniform = random_table.uniforms(self._seed, number, 1, DRAWS + 1, random_table.DRAW)[0]
        places = (uniform[:DRAWS] * self.rows).astype(np.int64)
        fit = ~self._taken[places] & (self._kept[places] == exams) & (places != (-1 if besides is None else besides))
        if fit.any():
            return int(places[int(np.argmax(fit))])
        free = self.free(exams, besides)
        return int(free[int(uniform[DRAWS] * len(free))]) if len(free) else None

    def free(self, exams: bool = False, besides: int | None = None) -> Array:
        """Return all rows without a question that are for exams, or for learning, other than ``besides``."""
        free = np.flatnonzero(~self._taken[: self.rows] & (self._kept[: self.rows] == exams))
        return free if besides is None else free[free != besides]
