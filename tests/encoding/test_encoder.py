"""The encoder: a pure function of each row, written to JSON exactly."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.encoding.columns import Column
from askone.encoding.encoder import CategoryPart, Encoder, NumberPart, fit_encoder
from askone.encoding.images import PIXELS
from askone.errors import InvalidArgument, InvalidFile
from askone.features.layout import RowLayout
from askone.features.pictures import SIDE, picture_features
from askone.features.scaling import Scaler

COLUMNS = [Column("n", "number"), Column("c", "category"), Column("t", "text"), Column("u", "url")]
cells = st.fixed_dictionaries(
    {
        "n": st.none() | st.floats(-1e300, 1e300) | st.integers(-(10**18), 10**18),
        "c": st.none() | st.sampled_from("abc") | st.text(max_size=3),
        "t": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "u": st.none() | st.just("https://a.org/x"),
    }
)


@given(st.lists(cells, min_size=1, max_size=8), st.lists(cells, min_size=1, max_size=8))
def test_rows_are_encoded_one_by_one_to_finite_numbers(sample, rows):
    encoder = fit_encoder(COLUMNS, sample)
    X = encoder.encode(rows)
    assert X.dtype == np.float32
    assert X.shape == (len(rows), encoder.layout.columns)
    assert np.isfinite(X).all()
    for row, x in zip(rows, X, strict=True):  # the company a row is in changes nothing
        assert (encoder.encode([row])[0] == x).all()
    assert fit_encoder(COLUMNS, sample) == encoder
    again = Encoder.from_json(json.loads(json.dumps(encoder.to_json(), allow_nan=False)))
    assert again == encoder
    assert (again.encode(rows) == X).all()


def test_numbers_have_median_0_and_scale_1_whatever_their_tails():
    random = np.random.default_rng(0)
    values = 50 + 20 * random.standard_normal(4000)
    values[:40] = 1e9
    encoder = fit_encoder([Column("n", "number")], [{"n": v} for v in values])
    x = encoder.encode([{"n": v} for v in values])[:, 0]
    assert abs(np.median(x)) < 1e-6
    # The interquartile range of 4000 normal numbers: its relative deviation is 0.79 / sqrt(4000) (1.25 %).
    assert abs(np.quantile(x, 0.75) - np.quantile(x, 0.25) - 1.349) < 1e-5
    assert abs(encoder.parts[0].scale - 20) < 20 * 5 * 0.0125
    assert x.max() == 10.0


def _pixels(count: int = 200) -> np.ndarray:
    """Return rows of 16 columns from 0 to 16, of which the last is seldom anything but 0."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 17, (count, 16)).astype(float)
    rows[:, 15] = np.where(rng.random(count) < 0.05, rows[:, 15], 0.0)
    rows[0, 15] = 16.0
    return rows


def _encoded(rows: np.ndarray) -> np.ndarray:
    names = [f"p{place}" for place in range(rows.shape[1])]
    sample = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    return fit_encoder([Column(name, "number") for name in names], sample).encode(sample).astype(float)


def test_columns_of_one_unit_keep_it():
    """Classes see them as they would see the array itself: the scale of the table changes nothing."""
    rows = _pixels()
    encoded = _encoded(rows)
    assert np.allclose(np.ptp(encoded, axis=0) * 16 / np.ptp(rows, axis=0), np.ptp(encoded[:, 0]) * 16 / 16, rtol=1e-6)
    expected, found = (Scaler.by_range(X)(X) for X in (rows, encoded))
    assert np.allclose(found, expected, atol=1e-5)
    assert not np.allclose(expected, Scaler.from_rows(rows)(rows), atol=0.1)


def test_columns_of_several_units_are_scaled_one_by_one():
    rows = _pixels() * np.array([1, 3] * 8)
    encoded = _encoded(rows)
    assert np.allclose(encoded[:, 0].std(), encoded[:, 1].std(), rtol=0.2)


def test_missing_numbers_have_a_column_only_if_the_sample_lacks_some():
    without = fit_encoder([Column("n", "number")], [{"n": 1}, {"n": 3}])
    assert without.encode([{"n": None}, {}, {"n": 2}]).tolist() == [[0.0], [0.0], [0.0]]
    with_some = fit_encoder([Column("n", "number")], [{"n": 1}, {"n": 3}, {"n": None}])
    assert with_some.names == ("n", "n missing")
    assert with_some.encode([{}, {"n": 2}]).tolist() == [[0.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize("values", [[5.0] * 9, [None] * 4, [0.0] * 9 + [1.0], [1e-320, 2e-320], [1e300, -1e300]])
def test_odd_columns_of_numbers(values):
    part = fit_encoder([Column("n", "number")], [{"n": v} for v in values]).parts[0]
    assert isinstance(part, NumberPart)
    assert part.scale > 0
    assert math.isfinite(part.scale)
    assert np.isfinite(part.encode([*values, 1e308, -1e308])).all()


def test_categories_have_twenty_columns_one_for_the_others_and_a_place():
    rows = [{"c": f"level {i}"} for i in range(30) for _ in range(30 - i)]
    encoder = fit_encoder([Column("c", "category")], rows)
    assert encoder.names[:2] == ("c: level 0", "c: level 1")
    assert encoder.layout == RowLayout(21, tuple(range(21)), (30,))
    X = encoder.encode([{"c": "level 0"}, {"c": "level 29"}, {"c": "never seen"}, {"c": None}, {"c": 7}])
    assert [np.flatnonzero(x).tolist() for x in X[:, :21]] == [[0], [20], [20], [], [20]]
    assert X[:, 21].tolist() == [0, 29, -1, -1, -1]
    few = CategoryPart("c", ("a", "b"), False)
    assert few.encode(["a", "z", None]).tolist() == [[1, 0], [0, 0], [0, 0]]


def test_a_category_has_at_most_255_places():
    encoder = fit_encoder([Column("c", "category")], [{"c": f"{i:03}"} for i in range(300)])
    assert encoder.layout.levels == (255,)
    assert encoder.encode([{"c": "254"}, {"c": "255"}])[:, -1].tolist() == [254, -1]


def test_an_encoder_of_an_older_campaign_encodes_as_it_did():
    """Format 1: no places of categories, and 64 numbers of a text."""
    record = {
        "format": 1,
        "parts": [
            {"kind": "number", "column": "n", "center": 1.0, "scale": 2.0, "missing": False},
            {"kind": "category", "column": "c", "levels": ["a", "b"], "other": True},
            {"kind": "text", "column": "t"},
        ],
    }
    encoder = Encoder.from_json(record)
    assert encoder.layout == RowLayout.plain(1 + 3 + 64)
    X = encoder.encode([{"n": 3, "c": "b", "t": "red wine from France"}, {"c": "z", "t": "red wine from Spain"}])
    assert X[:, :4].tolist() == [[1, 0, 1, 0], [0, 0, 0, 1]]
    assert np.flatnonzero(X[0, 4:] > 0)[:5].tolist() == [0, 2, 5, 6, 13]
    assert X[0, 4:] @ X[1, 4:] > 0.4
    assert Encoder.from_json(encoder.to_json()) == encoder


def test_images_are_encoded_by_their_edges_and_colours():
    encoder = fit_encoder([Column("image", "image")], [])
    pixels = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    X = encoder.encode([{"image": pixels}, {"image": None}])
    assert (X[0] == picture_features(pixels)).all()
    assert not X[1].any()
    assert Encoder.from_json(encoder.to_json()) == encoder
    for bad in ("a.png", pixels[:5], pixels * np.nan):
        with pytest.raises(InvalidArgument, match="32x32x3 colours"):
            encoder.encode([{"image": bad}])


def test_images_of_the_first_version_are_encoded_by_their_gray_values():
    encoder = Encoder.from_json({"format": 1, "parts": [{"kind": "image", "column": "image"}]})
    gray = np.linspace(0, 1, PIXELS)
    assert np.allclose(encoder.encode([{"image": gray}, {}])[0], gray)
    for bad in ("a.png", gray[:5], gray * np.nan):
        with pytest.raises(InvalidArgument, match="256 gray values"):
            encoder.encode([{"image": bad}])


def test_without_columns_there_is_one_constant():
    assert fit_encoder([], [{"a": 1}]).encode([{}, {}]).tolist() == [[0.0], [0.0]]
    assert fit_encoder([], []).names == ("constant",)


@pytest.mark.parametrize("bad", ["abc", [1], {}, 10**400, float("inf"), "1e999"])
def test_what_is_no_number_is_refused_by_column(bad):
    encoder = fit_encoder([Column("size", "number")], [{"size": 1}])
    with pytest.raises(InvalidArgument, match="size must be"):
        encoder.encode([{"size": 3}, {"size": bad}])
    assert encoder.encode([{"size": "1.5"}, {"size": " "}, {"size": None}]).tolist() == [[0.5], [0.0], [0.0]]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"format": 3, "parts": []},
        {"format": 1, "parts": [{"kind": "x"}]},
        {"format": 1, "parts": [{"kind": "number"}]},
        {"format": 1, "parts": 3},
    ],
)
def test_a_damaged_record_is_refused(record):
    with pytest.raises(InvalidFile, match="encoder"):
        Encoder.from_json(record)


def test_a_column_that_no_row_has_is_refused_by_name():
    encoder = fit_encoder([Column("size", "number"), Column("colour", "category")], [{"size": 1, "colour": "red"}] * 3)
    with pytest.raises(InvalidArgument, match=r"the columns 'size', 'colour' .* none with 'colour'.*: 'color'"):
        encoder.encode([{"size": 1, "color": "red"}, {"size": 2}])
    assert encoder.encode([{"size": 1, "colour": None, "brand": "A"}, {}]).shape == (2, 3)
    assert encoder.encode([]).shape == (0, 3)
