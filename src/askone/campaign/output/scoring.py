"""New rows scored by a saved model: read in pieces, predicted in several processes or on a cluster, in order.

A number has a prediction and, if the learner knows one, an interval that holds 0.9 of the labels (or what was asked
for); a class its most likely name and the chance of it; an order the items, best first.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, final

from askone._common.cluster import distributed
from askone.campaign.create import seen_images
from askone.campaign.kinds.base import LEVEL, CellType, listed
from askone.campaign.output._formats import column_file, rounded
from askone.campaign.tables.base import Table
from askone.campaign.tables.image_tables import ImageTable
from askone.encoding.unread import UnreadCells
from askone.errors import InvalidArgument
from askone.estimators.prediction import Columns, loaded, predicted, said_of

_ROWS: Final = 25_000  # rows of one job: a tenth of a second
_IMAGES: Final = 500
_CELLS: Final = 2_000_000
_ENOUGH: Final = 100_000  # rows from which processes are worth their start
_AHEAD: Final = 3  # jobs in work for each worker


@final
@dataclass(frozen=True)
class Scoring:
    """The rows of a table and what a model says of them; ``columns`` are those of the file that is made."""

    model: bytes
    table: Table
    embedders: tuple[str, ...] = ()
    unread: dict[str, UnreadCells] = field(default_factory=dict, init=False)
    """Cells that could not be read, by column, of the rows that were scored."""

    @cached_property
    def columns(self) -> tuple[tuple[str, CellType], ...]:
        """Names and types: the table's, apart from vectors, then the model's."""
        shown = [column for column in self.table.columns if column.kind != "vector"]
        types: dict[str, CellType] = {one.name: "float" if one.kind == "number" else "text" for one in shown}
        types |= {name: "int" for name, kind in types.items() if kind == "float" and self.table.is_whole(name)}
        return *types.items(), *self._said()

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The columns of numbers that the model says: names of classes may be numbers, too, and are not among them."""
        return tuple(name for name, kind in self._said() if kind == "float")

    def _said(self) -> Iterator[tuple[str, CellType]]:
        return ((self._own(name), kind) for name, kind in said_of(loaded(self.model)[0]))

    def _own(self, name: str) -> str:
        """Return a name that no column of the table has."""
        return self._own(f"{name}_") if self.table.column(name) is not None else name

    def pieces(self, executor: Executor | None) -> Iterator[Columns]:
        """Yield columns, some rows at a time, in order; without an executor they are predicted here."""
        waiting: deque[tuple[Columns, Any]] = deque()
        self.unread.clear()
        for cells in self._read():
            wanted = self._wanted(cells)
            self._count(wanted)
            if executor is None:
                yield self._joined(cells, predicted(self.model, wanted, LEVEL, self.embedders))
                continue
            waiting.append((cells, executor.submit(predicted, self.model, wanted, LEVEL, self.embedders)))
            while len(waiting) > _AHEAD * workers():
                done, future = waiting.popleft()
                yield self._joined(done, future.result())
        for done, future in waiting:
            yield self._joined(done, future.result())

    def _count(self, cells: Columns) -> None:
        """Note the cells that cannot be read."""
        encoder = loaded(self.model)[0].encoder
        for name, one in ({} if encoder is None else encoder.unread(cells)).items():
            self.unread[name] = self.unread[name].and_later(one) if name in self.unread else one

    def _read(self) -> Iterator[Columns]:
        """Yield the table's cells, enough at a time for a job to be worth its way."""
        most = _IMAGES if isinstance(self.table, ImageTable) else _ROWS
        rows = max(1, min(most, _CELLS // max(1, len(self.table.columns))))
        kept: Columns = {}
        for chunk in self.table.column_chunks():
            for name, cells in chunk.items():
                kept.setdefault(name, []).extend(cells)
            if len(next(iter(kept.values()))) >= rows:
                yield kept
                kept = {}
        if kept:
            yield kept

    def _wanted(self, cells: Columns) -> Columns:
        """Return the columns that the model reads; images as it sees them."""
        estimator, names = loaded(self.model)
        lacking = [name for name in names if name not in cells]
        if lacking or not names:
            if not names:
                raise InvalidArgument("table", "rows of numbers, in Python", "one for a model without names")
            verb = "is" if len(lacking) == 1 else "are"
            came = f"{listed(list(cells))}: {listed(lacking)} {verb} missing"
            raise InvalidArgument("table", f"one with the columns {listed(names)}", came)
        wanted = {name: cells[name] for name in names}
        if isinstance(self.table, ImageTable) and estimator.encoder is not None:
            wanted |= seen_images(self.table, wanted, estimator.encoder)
        return wanted

    def _joined(self, cells: Columns, said: Columns) -> Columns:
        shown = {name: cells[name] for name, _ in self.columns if name in cells}
        return shown | {self._own(name): values for name, values in said.items()}


def workers() -> int:
    """Return how many processes predict: one for each core."""
    return os.cpu_count() or 1


@contextmanager
def predicting(rows: int, dask: str | None = None) -> Iterator[Executor | None]:
    """Open who predicts: a Dask cluster at this address, else a process for each core, or nobody for few rows."""
    if dask is not None:
        with distributed().Client(dask) as client, client.get_executor() as executor:
            yield executor
    elif rows < _ENOUGH or workers() == 1:
        yield None
    else:
        # Begun anew and not as copies: those would hang where a library had threads.
        with ProcessPoolExecutor(workers(), multiprocessing.get_context("spawn")) as executor:
            yield executor


def scored_chunks(
    scoring: Scoring, form: str, executor: Executor | None, progress: Callable[[int, int], None] | None = None
) -> Iterator[bytes]:
    """Yield the bytes of a CSV, JSON lines or Parquet file of scored rows; CSV has rounded numbers of the model."""
    shown = scoring.said if form == "csv" else ()

    def pieces() -> Iterator[Columns]:
        done = 0
        for piece in scoring.pieces(executor):
            yield piece | {name: [rounded(value) for value in piece[name]] for name in shown}
            done += len(next(iter(piece.values())))
            if progress is not None:
                progress(done, scoring.table.rows)

    return column_file(pieces(), scoring.columns, form)
