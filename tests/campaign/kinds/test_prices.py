"""Campaigns that ask at prices, and campaigns of another quantile: settings, questions, predictions, files."""

import numpy as np
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next, Serving
from askone.campaign.output import export
from askone.campaign.settings.settings import AskSettings, LearnerSettings, Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument

ROWS = 150


def worth(position):
    return 20 + 60 * position / ROWS


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text("age\n" + "\n".join(f"{n / ROWS:.4f}" for n in range(ROWS)))
    return path


def answered(store, table, labels, count, **ask):
    """A campaign after so many truthful answers, its questions and its answers."""
    settings = Settings("Shop", labels, ask=AskSettings(**{"exam_share": 0.0, **ask}), learner=LearnerSettings(seed=1))
    create_campaign(store, "shop", settings, open_table(table), "", 1.0)
    campaign, seen = Campaign(store, "shop"), []
    [serving] = campaign.serve([Next("ann")], 2.0)
    for n in range(count):
        assert isinstance(serving, Serving)
        asked = serving.question
        bit = bool(worth(asked.row.position) > asked.question.threshold)
        seen.append((asked.row.position, asked.question.threshold, bit))
        [serving] = campaign.serve([Answer("ann", asked.lease, bit, f"a{n}", 2.0)], 3.0 + n)
    return campaign, seen


def predictions(campaign):
    lines = list(export.predictions(campaign))
    return {name: np.array([line[name] for line in lines]) for name in lines[0]}


def test_people_are_asked_at_prices_that_earn(table, store):
    campaign, seen = answered(store, table, Numbers(0, 100, goal="revenue"), 120)
    earned = sum(price for _, price, bit in seen if bit)
    best = max(price * sum(worth(position) > price for position, _, _ in seen) for price in range(1, 100))
    assert earned > best  # of a price for all, known beforehand
    said = predictions(campaign)
    assert np.all((said["paid"] > 0) & (said["paid"] <= 1))
    truth = worth(np.arange(ROWS))
    assert np.mean(said["price"] <= truth) > 0.8
    assert np.mean(said["price"]) > 0.75 * truth.mean()


def test_another_quantile_is_predicted_and_has_no_exams(table, store):
    campaign, _ = answered(store, table, Numbers(0, 100, quantile=0.9), 60, exam_share=0.5)
    assert campaign.settings.labels.likelihood(campaign.settings, None).quantile == 0.9
    assert not any(one.role == "exam" for one in campaign.projection.asked.values())
    assert set(predictions(campaign)["low"]) == {None}
    with pytest.raises(InvalidArgument, match=r"what must be asked where labels.quantile is 0.5"):
        campaign.estimate("mean")


def test_every_question_of_a_shop_is_an_offer(table, store):
    campaign, _ = answered(store, table, Numbers(0, 100, goal="revenue"), 60, exam_share=0.5)
    assert {one.role for one in campaign.projection.asked.values()} == {""}


def test_columns_of_prices_are_those_of_the_goal():
    assert "price" not in dict(Numbers(0, 9).columns)
    assert list(dict(Numbers(0, 9, goal="revenue").columns))[-2:] == ["price", "paid"]
    assert dict(export.prediction_columns(Numbers(0, 9, goal="revenue")))["paid"] == "float"


@pytest.mark.parametrize(
    ("labels", "learner", "said"),
    [
        ({"goal": "revenue"}, {}, "labels.low must be given"),
        ({"low": -1, "high": 9, "goal": "revenue"}, {}, "labels.low must be given, and at least 0"),
        ({"low": 0, "high": 9, "goal": "revenue", "quantile": 0.9}, {}, "labels.quantile must be 0.5"),
        ({"low": 0, "high": 9, "goal": "revenue"}, {"learner": "sgd"}, "labels.goal must be 'value'"),
        ({"low": 0, "high": 9, "quantile": 0.9}, {"interval": 0.8}, "labels.quantile must be 0.5"),
        ({"low": 0, "high": 9, "quantile": 1.0}, {}, "labels.quantile must be a number above 0 and below 1"),
        ({"low": 0, "high": 9, "goal": "profit"}, {}, "labels.goal must be"),
    ],
)
def test_what_does_not_fit_is_refused(labels, learner, said):
    with pytest.raises(InvalidArgument, match=said):
        Settings("Shop", Numbers(**labels), learner=LearnerSettings(**learner))


def test_an_error_that_is_not_measured_is_no_target():
    with pytest.raises(InvalidArgument, match=r"ask.target must be none"):
        Settings("Shop", Numbers(0, 9, goal="revenue"), ask=AskSettings(target=1.0))
