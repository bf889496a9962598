"""What a dashboard says of a model that is a mixture, and of its questions."""

from types import SimpleNamespace

import numpy as np
import pytest

from askone.campaign.engine.commands import Exclude
from askone.campaign.engine.stopping import scored
from askone.campaign.output import dashboard
from askone.store.entries import Row
from staged import PRICES, asking, one, play, price, stage


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


def test_an_exam_that_is_asked_again_stands_where_it_was_asked(store):
    campaign = stage(store, asking(PRICES, exam_share=0.5), rows=60)
    play(campaign, ["ann", "bob"], price, 40)
    one(campaign, Exclude("boss", "x1", "bob"), 900.0)
    play(campaign, ["ann"], price, 40, start=1000.0)
    projection = campaign.projection
    numbers = [lesson.number for lesson in projection.lessons.all]
    assert numbers != sorted(numbers)  # some of bob's were asked again, after later ones
    exams = {n: projection.asked[n].score for n in numbers if projection.asked[n].score is not None}
    bits = {lesson.number: lesson.answer for lesson in projection.lessons.all}
    assert [found.score for found in scored(projection, as_asked=True)] == [exams[n][bits[n]] for n in sorted(exams)]
    assert [found.score for found in scored(projection)] == [exams[n][bits[n]] for n in numbers if n in exams]
