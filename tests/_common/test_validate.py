import numpy as np
import pytest

from askone._common import validate
from askone.errors import InvalidArgument


@pytest.mark.parametrize("bad", [[1, 2], [[np.nan, 1]], [[np.inf, 1]], [["a", 1]], [[1j, 1]], 3, None, [[]]])
def test_rows_are_refused_with_the_arguments_name(bad):
    with pytest.raises(InvalidArgument, match="^X must be"):
        validate.as_rows(bad)


def test_rows_of_another_width_name_both_widths():
    with pytest.raises(InvalidArgument, match="X must be rows of 3 columns; got 2 columns"):
        validate.as_rows([[1, 2]], 3)


def test_huge_finite_numbers_are_finite():
    assert validate.as_rows([[1e308, 1e308, 1e308]]).shape == (1, 3)


@pytest.mark.parametrize("bad", [[[1, 2]], [], [np.nan], "x"])
def test_one_row(bad):
    with pytest.raises(InvalidArgument, match="^x must be"):
        validate.as_row(bad)


@pytest.mark.parametrize("bad", [True, "3", None, np.nan, np.inf, 1j, -1, 2])
def test_numbers(bad):
    with pytest.raises(InvalidArgument, match="tau must be a number above 0 and below 1"):
        validate.as_number(bad, "tau", 0, 1, strict=True)


@pytest.mark.parametrize("bad", [True, 1.0, "1", -1, None])
def test_counts(bad):
    with pytest.raises(InvalidArgument, match="n must be a whole number from 0"):
        validate.as_count(bad, "n")


def test_labels():
    assert validate.as_labels([1, 2]).shape == (2, 1)
    with pytest.raises(InvalidArgument, match="y must be labels with 2 outputs"):
        validate.as_labels([1, 2], 2)
