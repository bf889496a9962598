"""Estimators with scikit-learn's manners over the four pure functions."""

from askone.estimators.base import InputScaleWarning
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.loading import load
from askone.estimators.ranker import OneBitRanker
from askone.estimators.regressor import OneBitRegressor

__all__ = ["InputScaleWarning", "OneBitClassifier", "OneBitRanker", "OneBitRegressor", "load"]
