"""Predictions of a campaign's model, with how sure it is, as plain JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.estimators import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.estimators.base import OneBitEstimator
from askone.labels.classes import FiniteSpace
from askone.learners.base import Learner


def predicted(estimator: OneBitEstimator, X: Array, rowless: bool = False) -> list[dict[str, Any]]:
    """One record for each row: "prediction", and "std", "low", "high", "probabilities" where the model has them."""
    columns = predicted_columns(estimator, X, rowless)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def predicted_columns(estimator: OneBitEstimator, X: Array, rowless: bool = False) -> dict[str, list[Any]]:
    """The same of many rows: a list for each name.

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
    try:
        values, deviations = estimator.predict(X, return_std=True)
    except InvalidArgument:  # stochastic gradients, or before the range is found
        unknown, values = [None] * len(X), _within(estimator, estimator.predict(X))
        return {"prediction": values.tolist(), "std": unknown, "low": unknown, "high": unknown}
    ends = [_within(estimator, end) for end in _ends(estimator, X, values, deviations)]
    columns = {"prediction": _within(estimator, values), "std": deviations, "low": ends[0], "high": ends[1]}
    return {name: column.tolist() for name, column in columns.items()}


def _within(estimator: OneBitRegressor, values: Array) -> Array:
    low, high = estimator.low, estimator.high
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return values
    return np.clip(values, float(low), float(high))


def _ends(estimator: OneBitRegressor, X: Array, values: Array, deviations: Array) -> tuple[Array, Array]:
    """The interval of the labels where it was asked about, else two deviations of the predicted median."""
    if estimator.interval is not None:
        return estimator.predict_interval(X)
    return values - 2 * deviations, values + 2 * deviations


def _classes(estimator: OneBitClassifier, X: Array) -> dict[str, list[Any]]:
    best = estimator.predict(X).tolist()
    learner: Learner[Any] = estimator.stream_.learner
    if not learner.forecasts or not isinstance(learner.space, FiniteSpace):
        return {"prediction": best, "probabilities": [None] * len(best)}
    names = [str(name) for name in learner.space.names]
    chances = estimator.predict_proba(X).tolist()
    return {"prediction": best, "probabilities": [dict(zip(names, row, strict=True)) for row in chances]}


def _orders(estimator: OneBitRanker, X: Array | None) -> dict[str, list[Any]]:
    orders = estimator.predict(X)
    return {"prediction": [list(order) for order in ([orders.tolist()] if X is None else orders.tolist())]}
