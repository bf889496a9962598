"""The rows of a campaign: which had their questions, and which are kept for exams.

A row has ``per_row`` questions, in rounds: none has its second before all have had their first.  An exam cannot be
about a row that was asked before, and the rows that are left are not like all rows unless the order is random.  So each
row is kept for exams with the probability ``exam_share``, by a random number of its own (seed, row): whatever the order
of the others, exams are about rows drawn at random from all that there are, and rows that are added later join in the
same share.  Once it was asked, a row is there to learn from, in later rounds, unless it is left out because it is
known well enough.

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
from askone.session.row_selection import sampled

DRAWS = 64
"""Rows that are looked at for one that is free, before all of them are: with one in ten free that is once in 800."""
LOOKED = 32
"""Rows that are looked at to find one that is not known yet."""
_NEVER, _KNOWN = 255, 254  # questions about a row that is not to have any, or no more


@final
class RowPool:
    """See the module."""

    def __init__(self, seed: int = 0, exam_share: float = 0.0, per_row: int = 1) -> None:
        self.rows = 0
        self.per_row = per_row
        self._seed, self._share, self._cursor, self._round = seed, exam_share, 0, 1
        self._asked = np.zeros(0, dtype=np.uint8)  # questions about each row; as long as needed, or longer
        self._kept = np.zeros(0, dtype=np.bool_)
        self._left = {False: 0, True: 0}
        self._known = self._had = 0  # rows that are known, and the questions that they had

    def grow(self, rows: int) -> None:
        """So many rows are added at the end."""
        first, self.rows = self.rows, self.rows + rows
        self._make_room(self.rows)
        self._count(slice(first, self.rows))

    def _make_room(self, rows: int) -> None:
        have = len(self._asked)
        if rows > have:
            more = max(rows, 2 * have) - have
            uniform = random_table.uniforms(self._seed, have, more, 1, random_table.KEEP)[:, 0]
            self._asked = np.concatenate([self._asked, np.zeros(more, dtype=np.uint8)])
            self._kept = np.concatenate([self._kept, uniform < self._share])

    def _count(self, rows: slice) -> None:
        """Add those of these rows that are free to what is left."""
        free, exams = self._free(rows), self._exams(rows)
        for kind in (False, True):
            self._left[kind] += int(np.count_nonzero(free & (exams == kind)))

    def _free(self, rows: slice | Array) -> Array:
        """Return which of these rows are to have a question in this round."""
        return np.asarray(self._asked[rows] < self._round)

    def _exams(self, rows: slice | Array) -> Array:
        """Return which of these rows are kept for exams."""
        return np.asarray(self._kept[rows] & (self._asked[rows] == 0))

    def take(self, position: int) -> None:
        """This row has a question more; it may be there before ``grow`` says so."""
        self._make_room(position + 1)
        asked = int(self._asked[position])
        if asked < _KNOWN - 1:
            self._set(position, asked + 1)

    def leave(self, position: int) -> None:
        """This row is known well enough: it has no question more."""
        self._make_room(position + 1)
        asked = int(self._asked[position])
        if asked < _KNOWN:
            self._known, self._had = self._known + 1, self._had + asked
            self._set(position, _KNOWN)

    @property
    def is_later(self) -> bool:
        """Whether every row had its first question."""
        return self._round > 1

    @property
    def spared(self) -> int:
        """Questions that rows will not have because they are known."""
        return max(0, self._known * self.per_row - self._had)

    def withhold(self, position: int) -> None:
        """This row is not to have any question."""
        self._make_room(position + 1)
        self._set(position, _NEVER)

    def _set(self, position: int, asked: int) -> None:
        for step, count in ((-1, int(self._asked[position])), (1, asked)):
            if position < self.rows and count < self._round:
                self._left[bool(self._kept[position]) and count == 0] += step
        self._asked[position] = asked
        self._next_round()

    def allow(self, per_row: int) -> None:
        """Each row may have so many questions from here on."""
        self.per_row = per_row
        self._next_round()

    def _next_round(self) -> None:
        """Begin a round where one is over and another is to come."""
        while self._round < self.per_row and not any(self._left.values()) and self.rows:
            if not (self._asked[: self.rows] < self.per_row).any():
                return
            self._round, self._cursor = self._round + 1, 0
            self._count(slice(0, self.rows))

    def to_arrays(self) -> dict[str, Array]:
        """Return what happened to the rows: equal for equal logs."""
        touched = np.flatnonzero(self._asked)
        room = max(self.rows, int(touched[-1]) + 1 if len(touched) else 0)
        return {
            "pool": np.array([self.rows, self.per_row, self._round, self._known, self._had]),
            "asked_rows": self._asked[:room],
        }

    def adopt(self, arrays: dict[str, Array]) -> None:
        """Bring a pool without rows to where ``to_arrays`` was called."""
        self.rows, self.per_row, self._round, self._known, self._had = arrays["pool"].tolist()
        asked = arrays["asked_rows"].astype(np.uint8)
        self._make_room(len(asked))
        self._asked[: len(asked)] = asked
        self._count(slice(0, self.rows))

    def any_left(self, exams: bool | None = None) -> bool:
        """Return whether there are rows that lack a question: for exams, for learning, or any (None)."""
        return any(self._left.values()) if exams is None else self._left[exams] > 0

    def next_in_file(self, besides: int | None = None) -> int | None:
        """Return the first row for learning that is free, other than ``besides``."""
        place = self._cursor
        while place < self.rows and (not self._learns(place) or place == besides):
            if place == self._cursor and place != besides:
                self._cursor += 1
            place += 1
        return place if place < self.rows else None

    def _learns(self, place: int) -> bool:
        """Return whether a row is free for learning."""
        return bool(self._asked[place] < self._round) and not (self._kept[place] and self._asked[place] == 0)

    def drawn(self, number: int, exams: bool, besides: int | None = None) -> int | None:
        """Return a free row for question ``number``, each as likely as any other; None: there is none."""
        if not self._left[exams]:
            return None
        uniform = random_table.uniforms(self._seed, number, 1, DRAWS + 1, random_table.DRAW)[0]
        places = self._fit((uniform[:DRAWS] * self.rows).astype(np.int64), exams, besides)
        if len(places):
            return int(places[0])
        free = self.free(exams, besides)
        return int(free[int(uniform[DRAWS] * len(free))]) if len(free) else None

    def _fit(self, places: Array, exams: bool, besides: int | None) -> Array:
        """Return those of some rows that are free, other than ``besides``."""
        return np.asarray(places[self.are_free(places, exams, besides)])

    def are_free(self, places: Array, exams: bool = False, besides: int | None = None) -> Array:
        """Return which of some rows lack a question, for exams or for learning, other than ``besides``."""
        free = self._free(places) & (self._exams(places) == exams)
        return np.asarray(free & (places != (-1 if besides is None else besides)))

    def some(self, number: int, first: int) -> Array:
        """Return up to ``LOOKED`` free rows for learning: this one, and others drawn."""
        uniform = random_table.uniforms(self._seed, number, 1, DRAWS, random_table.DRAW)[0]
        drawn = self._fit((uniform * self.rows).astype(np.int64), False, first).tolist()
        return np.array(list(dict.fromkeys([first, *drawn]))[:LOOKED], dtype=np.int64)

    def candidates(self, uniform: Array, besides: int | None = None) -> Array:
        """Return some free rows for learning, at most as many as there are uniforms, by these: any may be among them.

        Where most rows are free this does not look at all of them.
        """
        drawn = self._fit((uniform * self.rows).astype(np.int64), False, besides)
        if 2 * len(drawn) >= len(uniform):
            return np.unique(drawn)
        free = self.free(besides=besides)
        return free if len(free) <= len(uniform) else free[sampled(uniform, len(free))]

    def left(self) -> int:
        """Return how many rows for learning lack a question."""
        return self._left[False]

    def free(self, exams: bool = False, besides: int | None = None) -> Array:
        """Return all rows that lack a question and are for exams, or for learning, other than ``besides``."""
        every = slice(0, self.rows)
        free = np.flatnonzero(self._free(every) & (self._exams(every) == exams))
        return free if besides is None else free[free != besides]
