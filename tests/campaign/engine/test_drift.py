"""Drift is found where there is some, and seldom where there is none."""

import numpy as np

from askone.campaign.engine.drift import FEWEST, drift


def exams(rng, later=1.0, learning=0.0, n=400):
    """Scores of exams as they are: zeros, and here and there a weight; rows come in order."""
    error = (1 + learning * np.linspace(1, 0, n)) * np.where(np.arange(n) < n // 2, 1.0, later)
    return [(place, float(value)) for place, value in enumerate(error * 5.0 * (rng.random(n) < 0.2))]


def found(rng, **how):
    """Whether drift is said at any of many looks."""
    given = exams(rng, **how)
    return any(drift(given[:end]) is not None for end in range(2 * FEWEST, len(given) + 1, 10))


def test_drift_is_seldom_seen_where_there_is_none_however_often_one_looks():
    rng = np.random.default_rng(0)
    assert sum(found(rng) for _ in range(200)) <= 10  # of 200 campaigns at most 1 in 20
    assert sum(found(rng, learning=2.0) for _ in range(200)) <= 6  # errors that fall are no drift


def test_drift_is_seen_where_errors_treble():
    rng = np.random.default_rng(1)
    assert sum(found(rng, later=3.0) for _ in range(100)) >= 85
    assert drift([(0, 1.0)] * 10) is None
