import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.errors import InvalidArgument
from askone.labels.number import Real, sensible_decimals
from askone.labels.wording import Wording, number_text

finite = st.floats(-1e6, 1e6)


@given(low=finite, length=st.floats(1e-3, 1e6), y=finite)
def test_unit_labels_and_back(low, length, y):
    space = Real(low, low + length)
    assert space.from_unit(space.to_unit([[y]])) == pytest.approx(y, abs=1e-6)
    assert np.allclose(space.to_unit([[low], [low + length]]).ravel(), [-1, 1], atol=1e-6)


def test_a_range_for_each_output():
    space = Real([0, -1], 10)
    assert space.m == 2
    assert space.center.tolist() == [5, 4.5]
    assert space.scale.tolist() == [5, 5.5]


@pytest.mark.parametrize(
    ("low", "high", "argument"),
    [(1, 1, "high"), (2, 1, "high"), (np.nan, 1, "low"), (0, np.inf, "high"), ([0, 0], [1, 1, 1], "high"),
     ([], 1, "low"), ("0", 1, "low"), (-1e308, 1e308, "high")],
)  # fmt: skip
def test_an_empty_or_odd_range_is_refused(low, high, argument):
    with pytest.raises(InvalidArgument) as caught:
        Real(low, high)
    assert caught.value.argument == argument


def test_names_match_the_outputs():
    assert Real([0, 0], 1, names=("a", "b")).names == ("a", "b")
    for names in (("a",), ("a", "a")):
        with pytest.raises(InvalidArgument, match="names must be 2 different"):
            Real([0, 0], 1, names=names)


@pytest.mark.parametrize("wording", ["{price}", "{", "{0}", "{threshold.real}", "{threshold:.2f}", "Buy?", 5])
def test_a_wording_has_known_placeholders_only(wording):
    with pytest.raises(InvalidArgument, match="wording must be"):
        Real(0, 1, wording=wording)


def test_sentences():
    words = Wording(("apples", "pears", "plums"), "€")
    assert words.sentence((0.6, -0.8, 0.0), 37.0) == "Is 0.6 apples - 0.8 pears above 37 €?"
    assert words.sentence((-0.6, 0.8, 0.0), -2.5) == "Is -0.6 apples + 0.8 pears above -2.5 €?"
    assert Wording().sentence((0.6, 0.8), 1.0) == "Is 0.6 y1 + 0.8 y2 above 1?"
    assert Wording(("price",)).sentence((-1.0,), -3.0) == "Is the price below 3?"
    assert words.sentence((-0.6, -0.8, 0.0), -3.0) == "Is 0.6 apples + 0.8 pears below 3 €?"
    assert words.sentence((0.0, 1.0, 0.0), 2.0) == "Is pears above 2 €?"
    assert Wording(("a", "b")).sentence((1.0, 9.6123e-7), 0.5) == "Is 1 a + 9.61e-07 b above 0.5?"
    pay = Wording(("apples", "pears"), "", "Would you pay more than {threshold} for {amount}?")
    assert pay.sentence((0.6, 0.8), 37.0) == "Would you pay more than 37 for 0.6 apples + 0.8 pears?"


@pytest.mark.parametrize(
    "template", ["", "More than {threshold}?", "{amount} over {threshold}?", "Is {amount} {side} {threshold}?"]
)
@pytest.mark.parametrize("u", [1.0, -1.0])
def test_a_sentence_never_says_the_opposite(template, u):
    """Whatever the wording, "yes" to the sentence is "yes" to the half-space."""
    sentence = Wording(("price",), "", template).sentence((u,), 300.0 * u)
    for_more = ("above", "More than", "over")
    if u > 0:
        assert any(word in sentence for word in for_more)
        assert "below" not in sentence
        assert "300" in sentence
    else:  # -price > -300
        assert sentence in ("Is the price below 300?", "minus the price over -300?")


@given(st.floats(-1e15, 1e15))
def test_numbers_read_back_exactly(value):
    assert float(number_text(value)) == value


@given(low=finite, length=st.floats(1e-6, 1e9))
def test_sensible_decimals_make_100_to_1000_steps(low, length):
    steps = length * 10.0 ** sensible_decimals(low, low + length)
    assert 99 < steps < 1001


def test_a_range_of_which_a_part_is_nothing_is_refused():
    with pytest.raises(InvalidArgument, match=r"high must be at least 1e-300 above low"):
        Real(0.0, 5e-324)
