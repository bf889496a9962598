"""Intervals of predictions: for the label and, apart, for what is predicted; stretched by bits of exams."""

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Undo
from askone.campaign.engine.coverage import stretched
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace
from staged import ANIMALS, PRICES, asking, one, play, price, stage, state_of


def answered(campaign):
    """The questions about intervals that were answered, and whether the label lay outside."""
    projection = campaign.projection
    said = {number: projection.lessons.answer_to(number) for number in projection.outside}
    return [(n, said[n] == outside) for n, outside in projection.outside.items() if said[n] is not None]


def test_some_exams_ask_whether_the_label_lies_in_its_interval(store):
    campaign = stage(store, asking(PRICES, exam_share=0.8), rows=120)
    play(campaign, ["ann"], price, 100)
    asked = [campaign.projection.asked[number] for number, _ in answered(campaign)]
    assert 8 <= len(asked) <= 45  # three in ten of some 80
    assert all(isinstance(one.question, Between | HalfSpace) and one.score is None for one in asked)
    assert all(one.role == "exam" for one in asked)
    outside = [bit for _, bit in answered(campaign)]
    slip = campaign.projection.slips.rate
    assert campaign.projection.stretch(0.1) == pytest.approx(stretched(outside, 0.1, slip))
    again = Campaign.open(store, "c", fresh=True)
    assert state_of(again) == state_of(campaign)
    assert again.projection.outside == campaign.projection.outside


def test_predictions_have_an_interval_for_the_label_and_one_for_the_median(store):
    campaign = stage(store, PRICES, rows=120)
    play(campaign, ["ann"], price, 60)
    for told in campaign.predictions(range(20)):
        assert 0 <= told["low"] <= told["prediction"] <= told["high"] <= 100
        assert told["prediction_low"] <= told["prediction"] <= told["prediction_high"]
    k = campaign.projection.stretch(0.1)
    [plain] = campaign.predictions([0])
    campaign.projection.stretch = lambda alpha: 1.5 * k
    [wide] = campaign.predictions([0])
    for end in ("low", "high"):
        expected = plain["prediction"] + 1.5 * (plain[end] - plain["prediction"])
        assert wide[end] == pytest.approx(min(max(expected, 0.0), 100.0))
    assert (wide["prediction_low"], wide["prediction_high"]) == (plain["prediction_low"], plain["prediction_high"])


def test_a_bit_that_is_taken_back_counts_no_more(store):
    campaign = stage(store, asking(PRICES, exam_share=0.9), rows=80)
    play(campaign, ["ann"], price, 60)
    before = len(answered(campaign))
    for i in range(60):
        one(campaign, Undo("ann", f"u{i}"), 100.0 + i)
    assert before > 0
    assert not answered(campaign)
    assert campaign.projection.stretch(0.1) == 1.0


def test_classes_have_no_intervals(store):
    campaign = stage(store, asking(ANIMALS, exam_share=0.9), rows=40)
    play(campaign, ["ann"], lambda row: "cat", 30)
    assert not campaign.projection.outside
