"""Rows at hand: fetched from the store, in runs where they are asked in order, a few thousand of them kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from askone._common.types import Array
from askone.store.entries import Row
from askone.store.store import Store

_MOST, _RUN = 4096, 128
_NUMBERS = 4_000_000  # of rows that were candidates


@final
class RowCache:
    """Rows never change once they are in a campaign, so keeping them is safe."""

    def __init__(self, store: Store, name: str, in_runs: bool = True) -> None:
        self._store, self._name, self._in_runs = store, name, in_runs
        self._kept: dict[int, Row] = {}
        self._looked: dict[int, Array] = {}
        self.count = 0
        """How many rows there are."""

    def row(self, position: int) -> Row:
        """Return one row; ``in_runs``: those that follow it are fetched with it, as they are likely next."""
        if position not in self._kept:
            self._fetch(self._run(position))
        return self._kept[position]

    def features(self, positions: Sequence[int]) -> Array:
        """Return rows as the model sees them, n x columns."""
        missing = [position for position in positions if position not in self._kept]
        if len(missing) > _RUN:  # a log that is learnt anew: nobody will look at so many rows
            return self._store.features(self._name, positions)
        if missing:
            self._fetch(self._run(missing[0]) if len(missing) == 1 else missing, spare=positions)
        return np.array([self._kept[position].features for position in positions], dtype=np.float64)

    def candidates(self, positions: Sequence[int]) -> Array:
        """Return rows as the model sees them, n x columns, of which most will be looked at again."""
        missing = [position for position in positions if position not in self._looked]
        if missing:
            found = self._store.features(self._name, missing)
            if (len(self._looked) + len(missing)) * found.shape[1] > _NUMBERS:
                self._looked = {position: self._looked[position] for position in positions if position in self._looked}
            self._looked.update(zip(missing, found, strict=True))
        return np.array([self._looked[position] for position in positions])

    def _run(self, position: int) -> range:
        run = _RUN if self._in_runs else 1
        return range(position, max(position + 1, min(position + run, self.count)))

    def _fetch(self, positions: Sequence[int], spare: Sequence[int] = ()) -> None:
        if len(self._kept) + len(positions) > _MOST:
            self._kept = {position: self._kept[position] for position in spare if position in self._kept}
        self._kept.update({row.position: row for row in self._store.rows(self._name, list(positions))})
