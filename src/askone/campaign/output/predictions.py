"""Predictions of a campaign's model, with how sure it is, as plain JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.estimators import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.estimators.base import OneBitEstimator
from askone.labels.classes import FiniteSpace
from askone.learners.abilities import deviation, interval, probabilities


def predicted(estimator: OneBitEstimator, X: Array, rowless: bool = False) -> list[dict[str, Any]]:
    """Return one record for each row: "prediction", and "std", "low", "high".

    "probabilities" where the model has them.
    """
    columns = predicted_columns(estimator, X, rowless)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def predicted_columns(estimator: OneBitEstimator, X: Array, rowless: bool = False) -> dict[str, list[Any]]:
    """Return the same of many rows: a list for each name.

    Numbers lie within the range that was declared: what cannot be is not said, however unsure the model is.
    """
    if isinstance(estimator, OneBitRegressor):
        return _numbers(estimator, X)
    if isinstance(estimator, OneBitClassifier):
        return _classes(estimator, X)
    if isinstance(estimator, OneBitRanker):
        return _orders(estimator, None if rowless else X)
    raise InvalidArgument("estimator", "one of askone's", type(estimator).__name__)


def _numbers(estimator: OneBitRegressor, X: Array) -> dict[str, list[Any]]:
    """Return the ends are those of the labels where they were asked about.

    Else two deviations from the predicted median.
    """
    learner, state, values = estimator.stream_.learner, estimator.stream_.state, estimator.predict(X)
    spread, ends = deviation(learner, state, X), interval(learner, state, X)
    if ends is None and spread is not None:
        ends = values[:, None] - 2 * spread, values[:, None] + 2 * spread
    low, high = (None, None) if ends is None else (_within(estimator, end) for end in ends)
    return {
        "prediction": _within(estimator, values).tolist(),
        **{name: _listed(column, len(X)) for name, column in {"std": spread, "low": low, "high": high}.items()},
    }


def _listed(column: Array | None, rows: int) -> list[Any]:
    return [None] * rows if column is None else column[:, 0].tolist()


def _within(estimator: OneBitRegressor, values: Array) -> Array:
    low, high = estimator.low, estimator.high
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return values
    return np.clip(values, float(low), float(high))


def _classes(estimator: OneBitClassifier, X: Array) -> dict[str, list[Any]]:
    stream, best = estimator.stream_, estimator.predict(X).tolist()
    chances = probabilities(stream.learner, stream.state, X)
    if chances is None or not isinstance(stream.learner.space, FiniteSpace):
        return {"prediction": best, "probabilities": [None] * len(best)}
    names = [str(name) for name in stream.learner.space.names]
    return {"prediction": best, "probabilities": [dict(zip(names, row, strict=True)) for row in chances.tolist()]}


def _orders(estimator: OneBitRanker, X: Array | None) -> dict[str, list[Any]]:
    orders = estimator.predict(X)
    return {"prediction": [list(order) for order in ([orders.tolist()] if X is None else orders.tolist())]}
