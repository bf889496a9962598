"""Questions with two ends: what they say, show and refuse."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.campaign.kinds.number import Numbers
from askone.client.question import Posed
from askone.errors import InvalidAnswer, InvalidArgument
from askone.labels.wording import Wording
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace
from askone.questions.registry import question_from_json

numbers = st.floats(-1e6, 1e6)


@given(low=numbers, wide=st.floats(1e-3, 1e6), y=numbers, density=st.floats(1e-6, 1e6))
def test_it_says_what_two_half_spaces_say_together(low, wide, y, density):
    question = Between(low, low + wide, density, 7, Wording(("price",), "USD"), 3)
    for label in (y, question.low, question.high):
        above = [HalfSpace((1.0,), end).holds(label) for end in (question.low, question.high)]
        assert question.holds(label) == (above == [True, False])
    back = question_from_json(json.dumps(question.to_json(), allow_nan=False))
    assert (back, hash(back), str(back)) == (question, hash(question), str(question))
    assert question.numbered(9).number == 9


@pytest.mark.parametrize(
    ("fields", "argument"),
    [((3, 3), "high"), ((3, 2), "high"), ((0, float("inf")), "high"), ((0, 1, 0.0), "density"), ((None, 1), "low")],
)
def test_what_cannot_be_asked_is_refused(fields, argument):
    with pytest.raises(InvalidArgument, match=argument):
        Between(*fields)


def test_one_number_is_asked_about():
    with pytest.raises(InvalidArgument, match="names"):
        Between(0, 1, wording=Wording(("apples", "pears")))
    with pytest.raises(InvalidAnswer):
        Between(0, 1).accept("yes")


def test_words_that_cannot_say_between_are_not_used():
    buys = Wording(unit="€", template="Would you buy it for {threshold}?")
    assert not buys.says_ranges
    assert str(Between(3, 4.5, wording=buys)) == "Is the value between 3 and 4.5 €?"
    assert not Wording(answers=("bought", "did not buy")).says_ranges
    assert str(Between(3, 4, wording=Wording(template="{side} {threshold}?"))) == "between 3 and 4?"


def test_pages_and_programs_see_both_ends():
    question = Between(310, 390.5, 0.1, wording=Wording(("price",), "USD"))
    view = Numbers().view(question)
    assert view.kind == "range"
    assert view.mark == {"y": 350.25, "low": 310.0, "high": 390.5}
    assert view.density == 0.1
    record = {"lease": "l", "number": 0, "kind": view.kind, "answers": ["Yes", "No"], "sentence": str(question)}
    posed = Posed.from_json({**record, **view.parts, "row": {"key": "a", "fields": []}})
    assert (posed.ends, posed.unit, posed.threshold, posed.side) == ((310.0, 390.5), "USD", None, None)
    assert [posed.holds(y) for y in (310, 310.1, 390.5, 391)] == [question.holds(y) for y in (310, 310.1, 390.5, 391)]
