import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.errors import InvalidAnswer, InvalidArgument, InvalidFile
from askone.labels.number import Real
from askone.labels.wording import Wording
from askone.questions.half_space import HalfSpace, half_space, in_unit_labels
from askone.questions.registry import FAMILIES, question_from_json
from askone.questions.reveal import Reveal

vectors = (
    st.integers(1, 5)
    .flatmap(lambda m: st.lists(st.floats(-10, 10), min_size=m, max_size=m))
    .filter(lambda v: np.linalg.norm(v) > 1e-3)
)


@given(v=vectors, c=st.floats(-1e6, 1e6), density=st.floats(1e-6, 1e6), number=st.none() | st.integers(0, 10**9))
def test_half_spaces_survive_json_and_hash(v, c, density, number):
    u = np.array(v) / np.linalg.norm(v)
    question = HalfSpace(tuple(u), c, density, number, Wording(unit="kg"), "range")
    back = question_from_json(json.dumps(question.to_json(), allow_nan=False))
    assert back == question
    assert hash(back) == hash(question)
    assert str(back) == str(question)


@given(v=vectors, c=st.floats(-10, 10))
def test_holds_is_the_strict_half_space(v, c):
    u = np.array(v) / np.linalg.norm(v)
    question = HalfSpace(tuple(u), c)
    assert question.holds(u * (c + 1e-3))
    assert not question.holds(u * (c - 1e-3))


def test_the_boundary_is_outside():
    assert not HalfSpace((1.0,), 2.0).holds(2.0)


@given(
    v=vectors,
    c=st.floats(-3, 3),
    low=st.floats(-100, 100),
    lengths=st.lists(st.floats(0.1, 1000), min_size=5, max_size=5),
    z=st.lists(st.floats(-2, 2), min_size=5, max_size=5),
)
def test_a_half_space_means_the_same_in_both_units(v, c, low, lengths, z):
    m = len(v)
    space = Real([low] * m, [low + length for length in lengths[:m]])
    u = np.array(v) / np.linalg.norm(v)
    question = half_space(space, u, c)
    back, threshold = in_unit_labels(space, question)
    assert np.allclose(back, u, atol=1e-9)
    assert threshold == pytest.approx(c, abs=1e-6)
    label = np.array(z[:m])
    if abs(label @ u - c) > 1e-6:
        assert question.holds(space.from_unit(label)) == bool(label @ u > c)


def test_the_logged_threshold_is_the_one_shown():
    question = half_space(Real(-30, 45, decimals=1), np.ones(1), 0.371234)
    assert str(question) == f"Is the value above {question.threshold}?"
    assert question.threshold == 21.4


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        (((1.0, 1.0), 0.0), "direction"),
        (((0.0,), 0.0), "direction"),
        (((np.nan,), 0.0), "direction"),
        (((), 0.0), "direction"),
        (((1.0,), np.nan), "threshold"),
        (((1.0,), np.inf), "threshold"),
        (((1.0,), 0.0, 0.0), "density"),
        ((("a",), 0.0), "direction"),
        (((1.0,), None), "threshold"),
        (((1.0,), 0.0, 1.0, None, Wording(("a", "b"))), "names"),
    ],
)
def test_bad_half_spaces(fields, argument):
    with pytest.raises(InvalidArgument) as caught:
        HalfSpace(*fields)
    assert caught.value.argument == argument


@pytest.mark.parametrize("answer", [1, 0, "yes", None, 1.0, [True], np.array([True])])
def test_an_answer_is_yes_or_no(answer):
    with pytest.raises(InvalidAnswer, match="answer must be True or False"):
        HalfSpace((1.0,), 0.0).accept(answer)


def test_numpy_bools_are_bools():
    assert HalfSpace((1.0,), 0.0).accept(np.bool_(True)) is True


@pytest.mark.parametrize("label", [[1, 2], np.nan, "x", None])
def test_labels_are_checked(label):
    with pytest.raises(InvalidArgument, match="label must be"):
        HalfSpace((1.0,), 0.0).holds(label)


def test_reveal():
    question = Reveal(2, 7)
    assert question.answer([1, 2]) == (1.0, 2.0)
    assert question_from_json(question.to_json()) == question
    for answer in (True, "1", None, [1.0], [np.nan, 1.0]):
        with pytest.raises(InvalidArgument):
            question.accept(answer)


@pytest.mark.parametrize("record", [{}, {"kind": "half-space"}, {"kind": "half-space", "format": 2},
                                    {"kind": "half-space", "format": 1}])  # fmt: skip
def test_unreadable_records(record):
    with pytest.raises(InvalidFile):
        question_from_json(record)


def test_every_family_has_its_kind():
    assert all(family.kind == kind for kind, family in FAMILIES.items())


@pytest.mark.parametrize("record", ["nope", "[]", None, 5])
def test_what_is_no_record(record):
    with pytest.raises(InvalidFile, match="a question must be"):
        question_from_json(record)
