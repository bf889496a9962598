"""What a dashboard says of a model that is a mixture, and of its questions."""

from types import SimpleNamespace

import numpy as np
import pytest

from askone.campaign.output import dashboard
from askone.store.entries import Row
from staged import PRICES, play, price, stage


@pytest.mark.parametrize(
    ("blended", "told"),
    [
        ([("", 1.0)], None),
        ([("", 0.5), ("LinearMember", 0.2), ("TreeMember", 0.0), ("LinearMember", 0.3)], [0.5, 0.5, 0.0]),
        ([("LinearMember", 0.75), ("LinearMember", 0.125), ("", 0.125)], [0.875, 0.125]),
    ],
)
def test_models_that_read_alike_have_one_share(monkeypatch, blended, told):
    monkeypatch.setattr(dashboard, "blend", lambda learner, state: blended)
    found = dashboard.models(SimpleNamespace(learner=None, state=None))
    assert (found if found is None else [one["share"] for one in found]) == told
    assert found is None or len({one["name"] for one in found}) == len(found)


def test_the_cloud_is_drawn_along_the_column_that_tells_most(store):
    """Prices rise with the size, which is the second column; the first is noise."""
    rows = [Row(i, f"r{i}", {"noise": i * 7 % 11, "size": i, "name": f"n{i}"}, np.zeros(1)) for i in range(60)]
    campaign = stage(store, PRICES, rows=60)
    play(campaign, ["ann"], price, 50)
    projection, labels = campaign.projection, campaign.settings.labels

    def drawn(column, predicted):
        return dashboard.cloud(projection, labels, lambda places: [rows[p] for p in places], predicted, column)

    found = drawn(None, lambda places: [2.0 * place for place in places])
    assert (found["x"]["name"], found["columns"]) == ("size", ["noise", "size"])
    assert found["prediction"] == sorted([float(p), 2.0 * p] for p in {one["position"] for one in found["points"]})
    assert drawn("noise", lambda places: [2.0 * place for place in places])["x"]["name"] == "noise"
    assert drawn(None, lambda places: [7.0 for _ in places])["x"]["name"] == "noise"  # nothing is known yet
    assert campaign.dashboard(100.0)["cloud"]["prediction"]
