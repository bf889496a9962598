"""The encoder: a pure function of each row, written to JSON exactly."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.encoding.columns import Column
from askone.encoding.encoder import PIXELS, CategoryPart, Encoder, NumberPart, TextPart, fit_encoder
from askone.errors import InvalidArgument, InvalidFile
from askone.features.pictures import SIDE, picture_features

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
    assert X.shape == (len(rows), len(encoder.names))
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


def test_categories_have_twenty_columns_and_one_for_the_others():
    rows = [{"c": f"level {i}"} for i in range(30) for _ in range(30 - i)]
    encoder = fit_encoder([Column("c", "category")], rows)
    assert encoder.names[:2] == ("c: level 0", "c: level 1")
    assert len(encoder.names) == 21
    X = encoder.encode([{"c": "level 0"}, {"c": "level 29"}, {"c": "never seen"}, {"c": None}, {"c": 7}])
    assert [np.flatnonzero(x).tolist() for x in X] == [[0], [20], [20], [], [20]]
    few = CategoryPart("c", ("a", "b"), False)
    assert few.encode(["a", "z", None]).tolist() == [[1, 0], [0, 0], [0, 0]]


def test_texts_keep_their_products_on_average():
    """E <hR, h'R> = <h, h'>, with variance below 2/64 for texts of length 1: over many pairs the mean is near."""
    random = np.random.default_rng(0)
    words = [f"word{i}" for i in range(400)]
    texts = [" ".join(random.choice(words, 12, replace=False)) for _ in range(60)]
    X = TextPart("t").encode(texts)
    lengths = np.sum(X**2, axis=1)
    assert abs(lengths.mean() - 1) < 5 * math.sqrt(2 / 64 / 60)
    same = TextPart("t").encode([texts[0], texts[0].upper(), "", None, "!!!"])
    assert (same[0] == same[1]).all()
    assert not same[2:].any()
    near = TextPart("t").encode(["red wine from France", "red wine from Spain"])
    far = TextPart("t").encode(["a", "b"])
    assert near[0] @ near[1] > 0.4
    assert abs(far[0] @ far[1]) < 0.6


def test_long_texts_take_no_longer_than_their_beginning():
    text = "word " * 2000
    X = TextPart("t").encode([text, text + "other " * 200_000])
    assert (X[0] == X[1]).all()


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
        {"format": 2, "parts": []},
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
    assert encoder.encode([{"size": 1, "colour": None, "brand": "A"}, {}]).shape == (2, 2)
    assert encoder.encode([]).shape == (0, 2)
