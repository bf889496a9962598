"""Numbers with units and parted thousands: told by their cells, and learnt as numbers."""

import math

import numpy as np
import pandas as pd
import pytest

from askone.campaign.kinds.number import Numbers
from askone.encoding.amounts import Reading, reading_of
from askone.encoding.columns import Column
from askone.encoding.encoder import AmountPart, Encoder, as_floats, fit_encoder
from askone.encoding.frames import cells_of, columns_of
from askone.encoding.unread import UnreadCellsWarning
from askone.errors import InvalidArgument
from askone.estimators.regressor import OneBitRegressor


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["€3,089", "€950"], [3089, 950]),
        (["3.089 €", "950 €"], [3089, 950]),
        (["1.234,50 EUR", "7,5 EUR"], [1234.5, 7.5]),
        (["12.5 kg", "3.125 kg"], [12.5, 3.125]),
        (["1'250.00 CHF", "CHF 3"], [1250, 3]),
        (["US$ 1,200.50", "US$ 3"], [1200.5, 3]),
        (["1 234,5 €", "12\u00a0345 €"], [1234.5, 12345]),
        (["₹12,34,567", "₹5,000"], [1234567, 5000]),
        (["-€5", "+€6", "\u22127 €"], [-5, 6, -7]),
        (["54 m2", "60.5 m2"], [54, 60.5]),
        (["5 %", "12 %", ".5 %"], [5, 12, 0.5]),
        (["€5", "n/a", ""], [5, math.nan, math.nan]),
        ([*["€5"] * 9, "on request"], [*[5] * 9, math.nan]),
        (["10,308 km", "9,120 km", "231.829 km"], [10308, 9120, 231.829]),
        (["10.308 km", "9.120 km", "231,829 km"], [10308, 9120, 231.829]),
        (["0.250 kg", "0.125 kg"], [0.25, 0.125]),
        ([*["1,250 km"] * 9, "12,5 km"], [*[1.25] * 9, 12.5]),
        ([*["1,250 km"] * 9, "1.5 km", "12,5 km"], [*[1250] * 9, 1.5, math.nan]),
        (["1,250 €", "900", "1000", "80.5"], [1250, 900, 1000, 80.5]),
        (["€5", "on request"], None),
        (["1,234.5", "1.234,5"], None),
        (["€007"], None),
        (["1234567890123456 €"], None),
        (["FL-00916", "FL-00412"], None),
        (["Room 1", "Room 2"], None),
        (["3-4", "12:30", "1/2"], None),
        (["01.02.2026", "12.03.2026"], None),
        (["a", "b"], None),
    ],
)
def test_amounts_of_one_unit_are_read(cells, numbers):
    reading = reading_of(cells)
    assert (reading is None) == (numbers is None)
    if reading is not None:
        np.testing.assert_array_equal(reading.numbers(cells), numbers)


def test_what_is_no_number_of_the_unit_is_missing():
    cells = ["5 lb", "five", "", None, 10**400, "9" * 400 + " kg", "1,2,3 kg", "12,5 kg"]
    assert np.isnan(Reading(".", "kg").numbers(cells)).all()


def test_an_amount_is_encoded_as_its_number():
    amounts, numbers = [f"{n:,} €" for n in range(0, 9000, 100)], list(range(0, 9000, 100))
    found = [fit_encoder([Column("x", kind)], [{"x": cell} for cell in cells])
             for kind, cells in (("amount", amounts), ("number", numbers))]  # fmt: skip
    as_amounts, as_numbers = (one.encode([{"x": cell} for cell in cells])
                              for one, cells in zip(found, (amounts, numbers), strict=True))  # fmt: skip
    np.testing.assert_array_equal(as_amounts, as_numbers)
    assert isinstance(found[0].parts[0], AmountPart)
    assert Encoder.from_json(found[0].to_json()) == found[0]
    np.testing.assert_array_equal(found[0].encode([{"x": 1200}, {"x": "1200"}]), found[1].encode([{"x": 1200}] * 2))
    assert found[0].encode([{"x": "1,200 $"}]).tolist() == [[0.0]]  # missing, though the sample had none


def test_a_frame_of_amounts_predicts_numbers_as_well():
    rng = np.random.default_rng(0)
    values = rng.integers(1000, 9000, 300)
    frame = pd.DataFrame({"rent": [f"€{value:,}" for value in values], "rooms": rng.integers(1, 5, 300)})
    assert [column.kind for column in columns_of(cells_of(frame))] == ["amount", "number"]
    model = OneBitRegressor(0, 10, random_state=0).fit(frame, values / 1000)
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.assign(rent=values)))


def test_numbers_may_have_parted_thousands_and_what_is_missing_may_be_said():
    np.testing.assert_array_equal(as_floats(["1,200", "n/a", None, 3], "x"), [1200, math.nan, math.nan, 3])
    for cell in ("€5", "large", "1,2"):
        with pytest.raises(InvalidArgument, match="x must be a number"):
            as_floats([cell, "1.5"], "x")


def test_known_labels_may_have_a_unit():
    labels = Numbers(low=0, high=5000)
    assert [labels.as_label(text) for text in ("€1,200", "1.200,50 €", "37", 12.5)] == [1200, 1200.5, 37, 12.5]
    for text in ("cheap", "5 to 6"):
        with pytest.raises(InvalidArgument, match="label must be a number"):
            labels.as_label(text)


def test_what_cannot_be_read_is_told():
    prices = [f"{n:,} €" for n in range(900, 1100)]
    days = pd.date_range("2026-03-01", periods=203).strftime("%Y-%m-%d")
    rows = pd.DataFrame({"price": [*prices, "on request", "?", None], "since": days})
    model = OneBitRegressor(0, 1, random_state=0)
    with pytest.warns(UnreadCellsWarning, match=r"^1 cell of 'price' \('on request'\) cannot be read and counts"):
        model.start(rows)
    new = pd.DataFrame({"price": ["1,000 €", "5 $", "5 $"], "since": ["May", None, "2026-03-02"]})
    found = r"2 cells of 'price' \(such as '5 \$'\) and 1 cell of 'since' \('May'\) cannot be read and count as missing"
    with pytest.warns(UnreadCellsWarning, match=found):
        model.predict(new)
