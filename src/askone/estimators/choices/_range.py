"""The search for a range, before learners of numbers that were told none."""

from __future__ import annotations

from typing import Any

from askone._common.validate import as_count
from askone.estimators.choices.base import Setup
from askone.learners.base import Learner
from askone.learners.kalman.filters import FilterLearner
from askone.learners.kalman.intervals import Intervals
from askone.learners.range_search import Calibrated
from askone.learners.sgd.sgd import SGDLearner


def calibrated(learner: SGDLearner | FilterLearner | Intervals, calibration: int, setup: Setup) -> Learner[Any]:
    """Return the learner, or, without a declared range, one that finds it first."""
    m, wanted = learner.space.m, as_count(calibration, "calibration", 1) * learner.space.m
    if setup.ranged:
        return learner
    if setup.horizon is None:
        return Calibrated(learner, wanted, setup.decimals)
    quarter = max(m, setup.horizon // 4)
    return Calibrated(learner, min(wanted, quarter), setup.decimals, min(20 * wanted, quarter))
