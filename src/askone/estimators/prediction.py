"""What a saved model says of columns of cells: light enough to be loaded by many processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from askone._common.types import Array
from askone.encoding.embedders import name_embedder
from askone.encoding.encoder import Encoder, as_floats
from askone.estimators.base import OneBitEstimator
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.loading import load
from askone.estimators.regressor import OneBitRegressor
from askone.learners import abilities

Columns = dict[str, list[Any]]


def predicted(model: bytes, cells: Mapping[str, list[Any]], level: float, embedders: Sequence[str] = ()) -> Columns:
    """Return what a saved model says of the cells of some columns, as plain values.

    Intervals hold ``level`` of the labels, unless the model was made for another; ``embedders`` as in
    ``name_embedder``.
    """
    for embedder in embedders:
        name_embedder(embedder)
    estimator, _ = loaded(model)
    count = len(next(iter(cells.values()), []))
    with threadpool_limits(1, user_api="blas"):  # there is a process for each core
        return _predictions(estimator, _rows(estimator.encoder, cells, count), level)


def _rows(encoder: Encoder | None, cells: Mapping[str, list[Any]], count: int) -> Array:
    if encoder is None:
        return np.column_stack([as_floats(values, name) for name, values in cells.items()])
    return encoder.encode_columns(cells, count).astype(np.float64)


def said_of(estimator: OneBitEstimator) -> list[tuple[str, Literal["text", "float", "json"]]]:
    """Return the columns that it says, with their types."""
    if isinstance(estimator, OneBitRegressor):
        several = estimator.stream_.learner.space.m > 1
        return [("prediction", "json" if several else "float"), *((name, "float") for name in ("low", "high"))]
    if isinstance(estimator, OneBitClassifier):
        texts = all(isinstance(name, str) for name in estimator.classes_.tolist())
        return [("prediction", "text" if texts else "json"), ("probability", "float")]
    return [("prediction", "json")]


def _predictions(estimator: OneBitEstimator, X: Array, usual: float) -> Columns:
    stream, nothing = estimator.stream_, [None] * len(X)
    if isinstance(estimator, OneBitRegressor):
        level = usual if estimator.interval is None else estimator.interval
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
def loaded(model: bytes) -> tuple[OneBitEstimator, list[str]]:
    """Return a model, which will be given arrays, and the columns that it reads."""
    estimator: OneBitEstimator = load(BytesIO(model))
    encoder, names = estimator.encoder, estimator.__dict__.pop("feature_names_in_", ())
    return estimator, list(map(str, names)) if encoder is None else list(encoder.columns)
