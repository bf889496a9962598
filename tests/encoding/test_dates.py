"""Columns of dates: told by their cells, and seen as time and its cycles."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.open import open_table
from askone.encoding.columns import Column, kind_of_texts
from askone.encoding.dates import WEEK, YEAR, as_days
from askone.encoding.encoder import DatePart, Encoder, fit_encoder
from askone.encoding.frames import cells_of, columns_of, fit_frame
from askone.estimators.regressor import OneBitRegressor

DAYS = [f"{day}" for day in np.arange("2024-01-01", "2025-06-01", dtype="datetime64[D]")]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0.0),
        (" 1969-12-31 ", -1.0),
        ("1970-01-02 06:00", 1.25),
        ("1970-01-02T06:00:00.123456789", 1.25 + 0.123456 / 86_400),
        ("1970-01-02 06:00:00Z", 1.25),
        ("1970-01-02 06:00+0600", 1.0),
        ("1970-01-02 06:00:00.000 -0600", 1.5),
        ("01.02.1970", 31.0),
        ("9999-12-31", 2932896.0),
        ("1970/01/02", 1.0),
        ("2.1.1970 06:00", 1.25),
        ("2 January 1970", 1.0),
        ("2-Jan-1970 18:00:00", 1.75),
        ("Jan 2, 1970 12:30 AM", 1 + 0.5 / 24),
        ("Sept 1, 1970", 243.0),
    ],
)
def test_dates_are_days(text, days):
    assert as_days(text) == pytest.approx(days, abs=1e-9)


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "2024-02-30",
        "2024-13-01",
        "2024",
        "20240101",
        "3/1/2024",
        "12:30",
        "1.2",
        "1.2.24",
        "2024-01-01 noon",
        "2024-01/01",
        "2 Janvier 2024",
        "1.1.2024 24:00",
        "1.1.2024 13:00 PM",
        2024,
        None,
    ],
)
def test_what_is_no_date(cell):
    assert math.isnan(as_days(cell))


def test_a_column_is_of_dates_if_nearly_all_its_cells_are():
    assert kind_of_texts(DAYS) == "date"
    assert kind_of_texts([*DAYS, "soon"]) == "date"
    assert kind_of_texts([*DAYS, *(f"soon, in {n} days" for n in range(len(DAYS)))]) == "text"
    assert kind_of_texts(["2024-01-01", "2024-01-02"] * 20) == "category"


@pytest.mark.parametrize(("pattern", "day_first"), [("{2}/{1}/{0}", True), ("{1}/{2}/{0}", False)])
def test_a_day_beyond_12_tells_how_dates_with_slashes_begin(pattern, day_first):
    slashed = [pattern.format(*day.split("-")) for day in DAYS]
    assert kind_of_texts(slashed) == "date"
    encoder = fit_encoder([Column("d", "date")], [{"d": day} for day in slashed])
    assert encoder.parts[0].day_first is day_first
    assert Encoder.from_json(encoder.to_json()) == encoder
    same = fit_encoder([Column("d", "date")], [{"d": day} for day in DAYS])
    rows = [encoder.encode([{"d": day} for day in slashed]), same.encode([{"d": day} for day in DAYS])]
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("slashed", [["3/1/2024", "4/2/2024"], ["25/1/2024", "1/25/2024"], ["25/1/2024", "25/1/24"]])
def test_slashes_that_say_nothing_or_two_things_are_texts(slashed):
    assert kind_of_texts(slashed) == "text"


def test_dates_become_time_and_cycles():
    encoder = fit_encoder([Column("d", "date")], [{"d": day} for day in DAYS])
    [part] = encoder.parts
    assert isinstance(part, DatePart)
    assert part.cycles == (YEAR, WEEK)
    assert encoder.names[:2] == ("d", "d, sine in 365.243 days")
    rows = encoder.encode(
        [{"d": "2024-03-04"}, {"d": "2024-03-11"}, {"d": "2024-03-04 00:00:00"}, {"d": None}, {"d": "soon"}]
    )
    assert rows[1, 0] > rows[0, 0]
    assert rows[1, 3:] == pytest.approx(rows[0, 3:], abs=1e-5)  # the same day of the week
    assert (rows[2] == rows[0]).all()
    assert (rows[3:] == 0).all()
    assert Encoder.from_json(encoder.to_json()) == encoder
    few = fit_encoder([Column("d", "date")], [{"d": "2024-01-01"}, {"d": None}])
    assert few.names == ("d", "d missing")
    assert few.encode([{"d": None}, {"d": "2024-01-01"}]).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_frames_and_files_have_the_same_dates(tmp_path):
    stamps = pd.DataFrame({"d": pd.to_datetime(DAYS)})
    frames = (stamps, pl.from_pandas(stamps), [{"d": day} for day in DAYS])
    encoders = [fit_frame(cells_of(frame)) for frame in frames]
    assert [columns_of(cells_of(frame))[0].kind for frame in frames] == ["date"] * 3
    assert encoders[0] == encoders[1] == encoders[2]
    for name in ("a.csv", "a.parquet"):
        path = tmp_path / name
        stamps.to_csv(path, index=False) if name == "a.csv" else stamps.to_parquet(path)
        table = open_table(path)
        assert table.columns[0].kind == "date"
        assert suggest(table).rows.learn == ("d",)  # though no two are the same


def test_a_season_is_learnt():
    days = np.array([as_days(day) for day in DAYS])
    labels = 10 + 8 * np.sin(2 * np.pi * days / YEAR)
    order = np.random.default_rng(0).permutation(len(DAYS))
    frame = pd.DataFrame({"d": DAYS}).iloc[order]
    model = OneBitRegressor(0, 20, random_state=0).fit(frame[:400], labels[order[:400]])
    assert model.score(frame[400:], labels[order[400:]]) > 0.9
