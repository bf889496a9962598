"""Predictions of a campaign's model, with how sure it is, as plain JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from askone.errors import InvalidArgument
from askone.estimators import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.estimators.base import OneBitEstimator
from askone.finite import FiniteSpace
from askone.learners.base import Learner

Array = NDArray[Any]


def predicted(estimator: OneBitEstimator, X: Array, rowless: bool = False) -> list[dict[str, Any]]:
    """One record for each row: "prediction", and "std", "low", "high", "probabilities" where the model has them.

    Numbers lie within the range that was declared: what cannot be is not said, however unsure the model is.
    """
    if isinstance(estimator, OneBitRegressor):
        return _numbers(estimator, X)
    if isinstance(estimator, OneBitClassifier):
        return _classes(estimator, X)
    if isinstance(estimator, OneBitRanker):
        return _orders(estimator, None if rowless else X)
    raise InvalidArgument("estimator", "one of askone's", type(estimator).__name__)


def _numbers(estimator: OneBitRegressor, X: Array) -> list[dict[str, Any]]:
    values = [_within(estimator, float(value)) for value in estimator.predict(X)]
    records: list[dict[str, Any]] = [{"prediction": v, "std": None, "low": None, "high": None} for v in values]
    try:
        deviations: Sequence[float] = [float(value) for value in estimator.predict(X, return_std=True)[1]]
    except InvalidArgument:  # stochastic gradients, or before the range is found
        return records
    lows, highs = _ends(estimator, X, values, deviations)
    for record, std, low, high in zip(records, deviations, lows, highs, strict=True):
        record.update(std=std, low=_within(estimator, low), high=_within(estimator, high))
    return records


def _within(estimator: OneBitRegressor, value: float) -> float:
    low, high = estimator.low, estimator.high
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return value
    return min(max(value, float(low)), float(high))


def _ends(
    estimator: OneBitRegressor, X: Array, values: Sequence[float], deviations: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The interval of the labels where it was asked about, else two deviations of the predicted median."""
    if estimator.interval is not None:
        low, high = estimator.predict_interval(X)
        return [float(v) for v in low], [float(v) for v in high]
    pairs = list(zip(values, deviations, strict=True))
    return [v - 2 * s for v, s in pairs], [v + 2 * s for v, s in pairs]


def _classes(estimator: OneBitClassifier, X: Array) -> list[dict[str, Any]]:
    best = estimator.predict(X).tolist()
    learner: Learner[Any] = estimator.stream_.learner
    if not learner.forecasts or not isinstance(learner.space, FiniteSpace):
        return [{"prediction": name, "probabilities": None} for name in best]
    names = [str(name) for name in learner.space.names]
    chances = estimator.predict_proba(X).tolist()
    return [
        {"prediction": name, "probabilities": dict(zip(names, row, strict=True))}
        for name, row in zip(best, chances, strict=True)
    ]


def _orders(estimator: OneBitRanker, X: Array | None) -> list[dict[str, Any]]:
    orders = estimator.predict(X)
    return [{"prediction": list(order)} for order in ([orders.tolist()] if X is None else orders.tolist())]
