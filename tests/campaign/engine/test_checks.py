"""Questions whose answer is all but known: they show how often people err."""

import numpy as np
import pytest

from askone import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.kinds.base import UNSURE, ExamPlan, Sat
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.kinds.number import Numbers
from askone.campaign.kinds.order import Items
from askone.questions.between import Between
from samples import taught
from staged import PRICES, asking, one, price, stage

ROWS = np.random.default_rng(0).normal(size=(80, 2))
ITEMS = ("a", "b", "c", "d", "e")


PLAN = ExamPlan([Sat(Between(40 - d, 40 + d), 40.0, d > 1) for d in (0.5, 0.8, 1.2, 2.0, 3.0) * 8])


def checks(model, kind, label, questions):
    """What is asked of whoever knows the label of all rows, by ten draws."""
    learner, state = taught(model, ROWS, label, questions)
    draws = np.random.default_rng(1).random((10, 3))
    return [kind.sure_question(learner, state, ROWS[0], uniform, PLAN) for uniform in draws]


@pytest.mark.parametrize(
    ("model", "kind", "label"),
    [
        (OneBitRegressor(0, 100, random_state=0), Numbers(0, 100), 40.0),
        (OneBitRegressor(0, 100, learner="sgd", random_state=0), Numbers(0, 100), 40.0),
        (OneBitClassifier(list(ITEMS), random_state=0), ClassNames(ITEMS), "b"),
        (OneBitRanker(list(ITEMS), random_state=0), Items(ITEMS), list(ITEMS)),
    ],
    ids=["filters", "sgd", "classes", "orders"],
)
def test_whoever_knows_the_label_answers_as_the_model_is_sure_they_will(model, kind, label):
    found = [check for check in checks(model, kind, label, 80) if check is not None]
    assert found
    for check in found:
        assert check.question.answer(label) == (check.chance > 0.5)
        assert min(check.chance, 1 - check.chance) <= UNSURE + 1e-12


def test_a_model_that_is_sure_of_nothing_checks_nobody():
    assert set(checks(OneBitClassifier(list(ITEMS), random_state=0), ClassNames(ITEMS), "b", 0)) == {None}
    found = checks(OneBitRegressor(0, 100, random_state=0), Numbers(0, 100), 40.0, 0)
    assert {(check.question, check.score) for check in found} == {(None, (0.0, 0.0))}  # exams ask about all the range
    seeking = OneBitRegressor(random_state=0)
    assert set(checks(seeking, Numbers(), 40.0, 0)) == {None}


@pytest.mark.parametrize("careful", [True, False])
def test_slips_at_checks_are_seen_and_known_to_whoever_reads_the_log(store, careful):
    campaign = stage(store, asking(PRICES, exam_share=0.9), rows=240)
    for i in range(220):
        served = one(campaign, Next("ann"), 1.0 + i).question
        role = campaign.projection.asked[served.number].role
        slip = role == "check" and not careful
        bit = bool(served.question.answer(price(served.row))) != slip
        one(campaign, Answer("ann", served.lease, bit, f"a{i}"), 1.5 + i)
    assert len(campaign.projection.checks) >= 3
    slips = campaign.projection.slips
    assert slips.rate < 0.05 if careful else slips.rate > 0.15
    assert slips.least == 0.0
    assert Campaign.open(store, "c", fresh=True).projection.slips == slips


def test_where_there_is_gold_nobody_is_checked(store):
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.2, exam_share=0.7), rows=80, gold={3: 50.0})
    for i in range(60):
        served = one(campaign, Next("ann"), 1.0 + i).question
        one(campaign, Answer("ann", served.lease, bool(served.question.answer(price(served.row))), f"a{i}"), 1.5 + i)
    assert campaign.projection.checks == []
    asked = campaign.projection.asked.values()
    assert all(one.chance is None and one.is_far for one in asked if one.role == "check")
    assert any(one.role == "check" for one in asked)  # what is far off is asked about all the same
