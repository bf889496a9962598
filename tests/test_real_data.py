"""The real data of the paper, where it can be had: one bit per row, in file order, no label seen."""

import numpy as np
import pandas as pd
import pytest

import askone
from askone.paper.strategies import CONTENDERS, measured, rows_of
from samples import real_file


@pytest.fixture(scope="module")
def weather(data_directory):
    path = real_file(data_directory, "weather.parquet")
    table = pd.read_parquet(path)
    return table.drop(columns=["Formatted Date", "Apparent Temperature (C)"]), table["Apparent Temperature (C)"]


@pytest.fixture(scope="module")
def calcofi(data_directory):
    path = real_file(data_directory, "calcofi.parquet")
    columns = ["depth_m", "t_degc", "salinity", "sva_derived", "dynht_derived", "o2sat"]
    table = pd.read_parquet(path, columns=columns).dropna()
    return table.drop(columns="o2sat"), table["o2sat"]


def error(model, X, y):
    return float(np.abs(model.predict(X) - y).mean() / y.std())


@pytest.mark.filterwarnings("ignore::askone.SortedRowsWarning")
def test_weather_in_file_order(weather):
    X, y = weather
    train, test = slice(60_000, 70_000), slice(70_000, None)
    model = askone.OneBitRegressor(-30, 45, unit="°C", random_state=0).fit(X[train], y[train])
    guess = float(np.abs(y[test] - y[test].median()).mean() / y[test].std())
    assert error(model, X[test], y[test]) < 0.07 < 0.1 * guess
    passive = askone.OneBitRegressor(-30, 45, learner=askone.SGD(questions="passive"), random_state=0).fit(
        X[train], y[train]
    )
    assert error(passive, X[test], y[test]) > error(model, X[test], y[test])


@pytest.mark.filterwarnings("ignore::askone.SortedRowsWarning")
def test_weather_without_a_range(weather):
    X, y = weather
    model = askone.OneBitRegressor(random_state=0).fit(X[60_000:70_000], y[60_000:70_000])
    space = model.stream_.state.base.space
    assert space.lows[0] < y.median() < space.highs[0]
    assert error(model, X[70_000:], y[70_000:]) < 0.1


@pytest.mark.parametrize(
    ("learner", "every", "most"), [(askone.SGD(), 1, 0.15), (askone.Filters(model="linear"), 10, 0.25)]
)
def test_calcofi_half_a_million_rows(calcofi, learner, every, most):
    """Gradients take all of them; for a line one in ten is enough."""
    (X, y), train = calcofi, slice(0, 500_000, every)
    model = askone.OneBitRegressor(0, 120, unit="%", learner=learner, random_state=0).fit(X[train], y[train])
    assert error(model, X[500_000:], y[500_000:]) < most


@pytest.mark.filterwarnings("ignore::askone.SortedRowsWarning")
def test_calcofi_by_default(calcofi):
    """One in forty of the rows, from all cruises before those that are predicted: all of them would take minutes."""
    X, y = calcofi
    train = slice(0, 500_000, 40)
    model = askone.OneBitRegressor(0, 120, unit="%", random_state=0).fit(X[train], y[train])
    assert error(model, X[500_000:], y[500_000:]) < 0.15


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda contender: contender.name)
def test_every_strategy_learns_pendigits(data_directory, contender):
    """After 600 questions: far below the nine in ten of guessing (the full table is in docs/strategies.md)."""
    (error,) = measured(contender, rows_of("pendigits", str(data_directory)), (600,), 0)
    weak = contender.learner in (askone.Game(), askone.SGD(questions="passive"), askone.SGD(questions="coordinates"))
    assert error < (0.7 if weak else 0.35)
