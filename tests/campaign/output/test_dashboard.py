"""What a dashboard says of a model that is a mixture."""

from types import SimpleNamespace

import pytest

from askone.campaign.output import dashboard


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
