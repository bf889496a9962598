"""Estimates of a campaign's table: groups, kinds, slips."""

import numpy as np
import pytest

from askone.errors import InvalidArgument
from staged import ANIMALS, DRINKS, PRICES, asking, play, price, stage


def test_a_mean_is_that_of_all_rows_and_of_groups(store):
    campaign = stage(store, asking(PRICES, exams="mean", exam_share=0.8), rows=200)
    play(campaign, ["ann"], price, 120)
    labels = np.array([price(row) for row in store.rows("c", range(200))])
    found = campaign.estimate("mean")
    assert found.low <= labels.mean() <= found.high
    assert (found.rows, found.bits > 40) == (200, True)  # a third of the exams are about intervals
    assert campaign.estimate("median").low <= np.median(labels) <= campaign.estimate("median").high
    share = campaign.estimate("share above 50")
    assert share.always_low <= np.mean(labels > 50) <= share.always_high


def test_groups_are_the_values_of_a_column(store):
    campaign = stage(store, asking(PRICES, exams="mean"), rows=12)
    groups = campaign.estimate("mean", by="note")
    assert sorted(groups) == sorted(f"row {i}" for i in range(12))
    assert all((one.rows, one.low) == (1, None) for one in groups.values())
    with pytest.raises(InvalidArgument, match="by must be one of the columns size, note"):
        campaign.estimate("mean", by="weight")


def test_exams_of_the_error_alone_give_no_interval_of_the_mean(store):
    campaign = stage(store, asking(PRICES, exam_share=0.8), rows=100)
    play(campaign, ["ann"], price, 60)
    found = campaign.estimate("mean")
    assert (found.bits, found.low) == (0, None)


@pytest.mark.parametrize("settings", [ANIMALS, DRINKS])
def test_other_kinds_have_an_accuracy(store, settings):
    campaign = stage(store, asking(settings, exam_share=0.8), rows=100)
    label = "cat" if settings is ANIMALS else list(settings.labels.items)
    play(campaign, ["ann"], lambda row: label, 80)
    found = campaign.estimate("accuracy")
    assert 0.5 < found.low < found.value <= 1.0
    with pytest.raises(InvalidArgument, match="what must be 'accuracy'"):
        campaign.estimate("mean")
