"""A campaign rehearsed: errors shrink with answers, more so if fewer are wrong; money and hours add up."""

import json

import numpy as np
import pytest

from askone.campaign.forecast import _wrong_together, forecast, smooth
from askone.campaign.settings.settings import AskSettings, ClassNames, Items, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("forecast") / "t.csv"
    lines = [f"{random.normal():.3f},{'abc'[random.integers(3)]},word{random.integers(5)}," for _ in range(300)]
    path.write_text("x,c,t,known\n" + "\n".join(lines))
    return open_table(path)


@pytest.mark.parametrize(
    ("labels", "measure", "better"),
    [
        (Numbers(0, 100, unit="€"), "mean error in €", -1),
        (Numbers(0, 100), "mean error", -1),
        (Numbers(), "mean error in parts of the labels' spread", -1),
        (ClassNames(("a", "b", "c")), "share right", 1),
        (Items(("a", "b", "c")), "share of pairs in the right order", 1),
    ],
)
def test_answers_help(table, labels, measure, better):
    settings = Settings("A", labels, RowSettings(learn=("x",)))
    found = forecast(settings, table, 160, 0.02)
    counts, low, middle, high = zip(*found.points, strict=True)
    assert found.measure == measure
    assert counts[-1] == 160
    assert list(counts) == sorted(set(counts))
    assert all(a <= b <= c for a, b, c in zip(low, middle, high, strict=True))
    assert better * (middle[-1] - middle[0]) > 0
    record = found.to_json()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert set(record) == {"points", "measure", "cost", "answers", "people", "times"}


def test_wrong_answers_hurt(table):
    settings = Settings("A", Numbers(0, 100), RowSettings(learn=("x",)))
    assert forecast(settings, table, 50, 0.1) == forecast(settings, table, 50, 0.1)  # no chance but that of the seeds
    ends = [forecast(settings, table, 400, flip).points[-1][2] for flip in (0.0, 0.4)]
    assert ends[0] < ends[1]


def test_people_answer(table):
    settings = Settings("A", Numbers(0, 100), RowSettings(learn=("x",)))
    found = forecast(settings, table, 240, people="2 careful, 1 spammer")
    assert found == forecast(settings, table, 240, people=["careful", "careful", "spammer"])
    assert [one.name for one in found.people] == ["careful 1", "careful 2", "spammer 1"]
    assert sum(one.answers for one in found.people) == pytest.approx(240, abs=2)  # means of three truths, rounded
    assert [one.true for one in found.people] == [pytest.approx((right, right)) for right in (0.98, 0.98, 0.5)]
    assert sum(found.people[2].found) < min(sum(one.found) for one in found.people[:2]) - 0.2
    record = found.to_json()
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_several_people_answer_each_question(table):
    ask = AskSettings(overlap=3)
    settings = Settings("A", Numbers(0, 100), RowSettings(learn=("x",)), ask=ask)
    found = forecast(settings, table, 60, people="3 careful")
    assert min(min(one.found) for one in found.people) > 0.8
    assert sum(one.answers for one in found.people) == 60
    with pytest.raises(InvalidArgument, match="people must be at least 3"):
        forecast(settings, table, 60, people="2 careful")


def test_all_columns_and_one_order_without_rows(table):
    assert forecast(Settings("A", Numbers(0, 1)), table, 20).points
    found = forecast(Settings("A", Items(("a", "b", "c", "d"))), None, 100)
    assert found.points[-1][2] > 0.6


def test_costs(table):
    ask = AskSettings(price=0.05, currency="EUR", seconds=3.6, overlap=15, gold_share=0.1)
    settings = Settings("A", Numbers(0, 1), RowSettings(learn=("x",), gold="known"), ask=ask)
    found = forecast(settings, table, 2 * Numbers.rehearsed)
    assert found.cost.price == pytest.approx(0.05 * 2 * Numbers.rehearsed)
    assert found.cost.hours == pytest.approx(2 * Numbers.rehearsed / 1000)
    assert found.to_json()["cost"]["currency"] == "EUR"
    assert found.points[-1][0] == Numbers.rehearsed  # rehearsed no further
    assert forecast(settings, table, 1).points[-1][0] == 1


@pytest.mark.parametrize("per_row", [1, 3])
def test_rows_give_as_many_answers_as_they_have_questions(table, per_row):
    """A campaign without a budget ends when each of 300 rows was asked about so often."""
    ask = AskSettings(price=1.0, per_row=per_row, exam_share=0.0)
    found = forecast(Settings("A", Numbers(0, 1), RowSettings(learn=("x",)), ask=ask), table, 5000)
    assert (found.answers, found.cost.price, found.points[-1][0]) == (300 * per_row, 300.0 * per_row, 300 * per_row)


def test_majorities():
    assert _wrong_together(0.1, 1) == pytest.approx(0.1)
    assert _wrong_together(0.1, 2) == pytest.approx(0.1)  # a tie is broken by lot
    assert _wrong_together(0.1, 3) == pytest.approx(0.1**3 + 3 * 0.1**2 * 0.9)
    assert _wrong_together(0.0, 5) == 0.0


def test_made_up_functions_are_scaled_and_smooth():
    X = np.random.default_rng(1).normal(size=(200, 3))
    f = smooth(X, 4, np.random.default_rng(2))
    assert np.allclose(f.mean(axis=0), 0)
    assert np.allclose(f.std(axis=0), 1)
    near = smooth(np.vstack([X, X + 1e-6]), 1, np.random.default_rng(2))[:, 0]
    assert np.abs(near[:200] - near[200:]).max() < 1e-4
    alike = smooth(np.zeros((5, 2)), 1, np.random.default_rng(0))
    assert np.ptp(alike) < 1e-12  # rows of one product may be summed in different orders


@pytest.mark.parametrize(
    ("argument", "value"), [("answers", 0), ("flip", 0.5), ("truth", "real"), ("people", "3 strangers")]
)
def test_bad_arguments(table, argument, value):
    given = {"answers": 10, "flip": 0.0, "truth": "synthetic", argument: value}
    with pytest.raises(InvalidArgument) as refused:
        forecast(Settings("A", Numbers(0, 1)), table, **given)
    assert refused.value.argument == argument


def test_people_err_by_themselves(table):
    with pytest.raises(InvalidArgument, match="flip must be"):
        forecast(Settings("A", Numbers(0, 1)), table, 10, 0.1, people="2 careful")


def test_there_are_no_more_answers_than_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    settings = Settings("Few", Numbers(0, 10), ask=AskSettings(overlap=2, seconds=30.0))
    found = forecast(settings, open_table(str(path)), 1000)
    assert found.points[-1][0] <= found.answers == 120
    assert found.cost.hours == pytest.approx(1.0)


def test_rows_whose_labels_are_known_give_fewer(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i if i % 4 == 0 else ''}\n" for i in range(60)))
    ask = AskSettings(overlap=2, gold_share=0.1)
    settings = Settings("Few", Numbers(0, 60), RowSettings(learn=("a",), gold="b"), ask=ask)
    assert forecast(settings, open_table(str(path)), 1000).answers == 100  # 45 rows, twice, and a tenth of gold
