"""New rows scored by a saved model: read in pieces, predicted in several processes or on a cluster, in order.

A number has a prediction and, if the learner knows one, an interval that holds 0.9 of the labels (or what was asked
for); a class its most likely name and the chance of it; an order the items, best first.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

from askone._common.cluster import distributed
from askone._common.types import Array
from askone.campaign.create import seen_images
from askone.campaign.kinds.base import LEVEL, CellType
from askone.campaign.output._formats import column_file
from askone.campaign.tables.base import Table
from askone.campaign.tables.image_tables import ImageTable
from askone.encoding.embedders import name_embedder
from askone.encoding.encoder import Encoder, as_floats
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.loading import load
from askone.estimators.regressor import OneBitRegressor
from askone.learners import abilities

Columns = dict[str, list[Any]]
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

    @cached_property
    def columns(self) -> tuple[tuple[str, CellType], ...]:
        """Names and types: the table's, apart from vectors, then the model's."""
        shown = [column for column in self.table.columns if column.kind != "vector"]
        types: dict[str, CellType] = {one.name: "float" if one.kind == "number" else "text" for one in shown}
        types |= {name: "int" for name, kind in types.items() if kind == "float" and self.table.is_whole(name)}
        said = _said(_loaded(self.model)[0])
        return *types.items(), *((self._own(name), kind) for name, kind in said)

    def _own(self, name: str) -> str:
        """Return a name that no column of the table has."""
        return self._own(f"{name}_") if self.table.column(name) is not None else name

    def pieces(self, executor: Executor | None) -> Iterator[Columns]:
        """Yield columns, some rows at a time, in order; without an executor they are predicted here."""
        waiting: deque[tuple[Columns, Any]] = deque()
        for cells in self._read():
            if executor is None:
                yield self._joined(cells, predicted(self.model, self._wanted(cells), self.embedders))
                continue
            waiting.append((cells, executor.submit(predicted, self.model, self._wanted(cells), self.embedders)))
            while len(waiting) > _AHEAD * workers():
                done, future = waiting.popleft()
                yield self._joined(done, future.result())
        for done, future in waiting:
            yield self._joined(done, future.result())

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
        estimator, names = _loaded(self.model)
        lacking = [name for name in names if name not in cells]
        if lacking or not names:
            shown = ", ".join(map(repr, lacking))
            allowed = f"one with the columns {', '.join(map(repr, names))}" if names else "rows of numbers, in Python"
            raise InvalidArgument("table", allowed, f"none with {shown}" if names else "one for a model without names")
        wanted = {name: cells[name] for name in names}
        if isinstance(self.table, ImageTable) and estimator.encoder is not None:
            wanted |= seen_images(self.table, wanted, estimator.encoder)
        return wanted

    def _joined(self, cells: Columns, said: Columns) -> Columns:
        shown = {name: cells[name] for name, _ in self.columns if name in cells}
        return shown | {self._own(name): values for name, values in said.items()}


def predicted(model: bytes, cells: Mapping[str, list[Any]], embedders: Sequence[str] = ()) -> Columns:
    """Return what a saved model says of the cells of some columns; ``embedders`` as in ``name_embedder``."""
    for embedder in embedders:
        name_embedder(embedder)
    estimator, _ = _loaded(model)
    count = len(next(iter(cells.values()), []))
    with threadpool_limits(1, user_api="blas"):  # there is a process for each core
        return _predictions(estimator, _rows(estimator.encoder, cells, count))


def _rows(encoder: Encoder | None, cells: Mapping[str, list[Any]], count: int) -> Array:
    if encoder is None:
        return np.column_stack([as_floats(values, name) for name, values in cells.items()])
    return encoder.encode_columns(cells, count).astype(np.float64)


def _said(estimator: OneBitEstimator) -> list[tuple[str, CellType]]:
    if isinstance(estimator, OneBitRegressor):
        several = estimator.stream_.learner.space.m > 1
        return [("prediction", "json" if several else "float"), *((name, "float") for name in ("low", "high"))]
    if isinstance(estimator, OneBitClassifier):
        texts = all(isinstance(name, str) for name in estimator.classes_.tolist())
        return [("prediction", "text" if texts else "json"), ("probability", "float")]
    return [("prediction", "json")]


def _predictions(estimator: OneBitEstimator, X: Array) -> Columns:
    stream, nothing = estimator.stream_, [None] * len(X)
    if isinstance(estimator, OneBitRegressor):
        level = LEVEL if estimator.interval is None else estimator.interval
        values, ends = abilities.predict_within(stream.learner, stream.state, X, level)
        if estimator.low is not None:
            values = np.clip(values, estimator.low, estimator.high)
        if values.shape[1] > 1:
            return {"prediction": values.tolist(), "low": nothing, "high": nothing}
        low, high = (nothing, nothing) if ends is None else (end[:, 0].tolist() for end in ends)
        return {"prediction": values[:, 0].tolist(), "low": low, "high": high}
    values = estimator.predict(X)
    if isinstance(estimator, OneBitClassifier):
        found = abilities.probabilities(stream.learner, stream.state, X)
        if found is None:
            return {"prediction": values.tolist(), "probability": nothing}
        places = {name: place for place, name in enumerate(estimator.classes_.tolist())}
        which = np.array([places[name] for name in values.tolist()], dtype=np.int64)
        return {"prediction": values.tolist(), "probability": found[np.arange(len(X)), which].tolist()}
    return {"prediction": values.tolist()}


@lru_cache(maxsize=2)
def _loaded(model: bytes) -> tuple[OneBitEstimator, list[str]]:
    """Return a model, which will be given arrays, and the columns that it reads."""
    estimator: OneBitEstimator = load(BytesIO(model))
    encoder, names = estimator.encoder, estimator.__dict__.pop("feature_names_in_", ())
    return estimator, list(map(str, names)) if encoder is None else list(encoder.columns)


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
    """Yield the bytes of a CSV, JSON lines or Parquet file of scored rows."""

    def pieces() -> Iterator[Columns]:
        done = 0
        for piece in scoring.pieces(executor):
            yield piece
            done += len(next(iter(piece.values())))
            if progress is not None:
                progress(done, scoring.table.rows)

    return column_file(pieces(), scoring.columns, form)
