"""Warnings of fit: rows that come sorted or in groups, labels outside the range; none where all is well."""

import warnings
from math import comb

import numpy as np
import pytest

from askone import LabelRangeWarning, OneBitClassifier, OneBitRegressor, Oracle, SortedRowsWarning
from askone.estimators import row_order
from askone.estimators.row_order import sorted_column


@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_that_rises_or_falls_is_named(sign):
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    assert sorted_column(rows) is None
    assert sorted_column(rows[np.argsort(sign * rows[:, 2])]) == 2
    nearly = rows[np.argsort(rows[:, 2] + 0.5 * rows[:, 0])]
    assert sorted_column(nearly) == 2


def test_rows_that_come_class_by_class_are_noticed():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 30))
    assert sorted_column(np.repeat(centres, 200, axis=0) + rng.normal(size=(2000, 30))) is not None


def test_rows_in_random_order_are_left_in_peace():
    """The statistic of a continuous column has deviation 1/sqrt(n), so seven of them are a chance of 1e-12."""
    rng = np.random.default_rng(1)
    ranks = np.argsort(rng.random((4000, 200)), axis=1)
    steps = (np.diff(ranks, axis=1) ** 2).sum(axis=1)
    likeness = 1 - steps / (2 * ((np.arange(200) - 99.5) ** 2).sum())
    assert np.abs(likeness).max() * np.sqrt(200) < 5
    assert abs(likeness.std() * np.sqrt(200) - 1) < 0.05
    odd = [rng.integers(0, 2, (500, 9)), rng.poisson(0.1, (500, 9)), np.zeros((500, 9)), rng.normal(size=(20, 9))]
    assert all(sorted_column(np.asarray(rows, dtype=float)) is None for rows in odd)


@pytest.mark.parametrize("n", [100, 200, 400, 1000])
def test_a_column_of_two_values_seems_sorted_by_chance_with_less_than_1e_6_in_200_columns(n):
    """Exactly: k rows of n have the rarer value, in g groups, with the chance C(k-1, g-1) C(n-k+1, g) / C(n, k)."""
    bound = max(row_order._LEAST, row_order._SIGMAS / np.sqrt(n))
    for k in range(row_order._VARIED, n // 2 + 1, 10):
        chances = [comb(k - 1, g - 1) * comb(n - k + 1, g) / comb(n, k) for g in range(1, k + 1)]
        # Each group has two ends where neighbours differ (one, at the ends of the table).
        alike = [1 - (2 * g - 2) / (2 * k * (n - k) / n) for g in range(1, k + 1)]
        assert 200 * sum(p for p, r in zip(chances, alike, strict=True) if r > bound) < 1e-6


def test_fit_warns():
    X = np.random.default_rng(0).normal(size=(300, 2))
    rows = X[np.argsort(X[:, 1])]
    with pytest.warns(SortedRowsWarning, match=r"column 1.*shuffle"):
        OneBitRegressor(-3, 3, learner="sgd", random_state=0).fit(rows, rows[:, 1])
    with pytest.warns(LabelRangeWarning, match="50 % of labels lie far outside the range from 0 to 9"):
        OneBitRegressor(0, 9, learner="sgd", random_state=0).fit(X, np.where(np.arange(300) % 2, 5.0, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OneBitRegressor(-3, 3, learner="sgd", random_state=0).fit(X, X[:, 1])
        OneBitRegressor(-3, 3, learner="sgd", resample=True, random_state=0).fit(rows, rows[:, 1])


def test_fit_warns_of_labels_that_come_sorted_where_no_column_does():
    rng = np.random.default_rng(2)
    X, names = rng.normal(size=(300, 2)), rng.permutation(np.repeat(["bad", "good"], 150))
    with pytest.warns(SortedRowsWarning, match=r"by the labels y, .*shuffle"):
        OneBitClassifier(["bad", "good"], learner="sgd", random_state=0).fit(X, np.sort(names))
    with pytest.warns(SortedRowsWarning, match="by the labels y"):
        OneBitRegressor(-9, 9, learner="sgd", random_state=0).fit(X, np.sort(rng.normal(size=300)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OneBitClassifier(["bad", "good"], learner="sgd", random_state=0).fit(X, names)
        OneBitClassifier(["bad", "good"], learner="sgd", random_state=0).fit(X, Oracle(np.sort(names)))
