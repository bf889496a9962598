"""Programs answer as people do and are measured like them, but are no people at work."""

import math
from dataclasses import replace

import numpy as np
import pytest

from askone.campaign.engine.commands import PROGRAM, Answer, Next, Skip
from askone.errors import InvalidArgument
from staged import PRICES, assert_same_for_all, one, price, stage


def played(campaign, answers, noise=0.3):
    """Two people and a program, which errs now and then, in turn."""
    lots = np.random.default_rng(0)
    for n in range(answers):
        who = ("ann", "bob", "net")[n % 3]
        found = one(campaign, Next(who), 60.0 + n).question
        truth = found.question.answer(price(found.row))
        program = {"kind": PROGRAM, "cost": 0.002} if who == "net" else {}
        slip = who == "net" and lots.random() < noise
        one(campaign, Answer(who, found.lease, truth != slip, f"a{n}", 2.0, **program), 60.0 + n)


@pytest.fixture
def campaign(store):
    return stage(store, replace(PRICES, ask=replace(PRICES.ask, exam_share=0.0, price=0.05, currency="EUR")), rows=130)


def test_programs_are_no_people_at_work_and_have_no_speed_nor_pay(campaign):
    played(campaign, 30)
    found = {one["id"]: one for one in campaign.people()}
    assert {who: one["kind"] for who, one in found.items()} == {"ann": "person", "bob": "person", "net": "program"}
    assert found["net"]["median_seconds"] is None
    assert found["net"]["cost"] == pytest.approx(0.002)
    status, spent = campaign.status(90.0), campaign.dashboard(90.0)["spent"]
    assert status["answers"] == 30
    assert status["people_active"] == 2
    assert status["rate_per_minute"] == 20
    assert spent["money"] == pytest.approx(20 * 0.05 + 10 * 0.002)
    assert spent["hours"] == pytest.approx(20 * 2 / 3600)


def test_what_a_bit_costs_follows_from_rates_and_costs(campaign):
    played(campaign, 120)
    for found in campaign.people():
        price = 0.002 if found["id"] == "net" else 0.05
        assert found["cost_per_bit"] == pytest.approx(price / found["rates"]["bits"])
    assert_same_for_all(campaign)


def test_a_program_that_skips_is_none_at_work_either(campaign):
    held = one(campaign, Next("net"), 1.0).question
    one(campaign, Skip("net", held.lease, "s1", kind=PROGRAM), 2.0)
    assert campaign.status(3.0)["people_active"] == 0


@pytest.mark.parametrize(
    ("more", "argument"),
    [({"kind": "robot"}, "kind"), ({"cost": -1.0}, "cost"), ({"cost": math.nan}, "cost"), ({"cost": 1e12}, "cost")],
)
def test_bad_kinds_and_costs_are_refused(campaign, more, argument):
    held = one(campaign, Next("net"), 1.0).question
    with pytest.raises(InvalidArgument, match=f"^{argument} must be"):
        one(campaign, Answer("net", held.lease, True, "a1", **more), 2.0)
    assert campaign.status(3.0)["answers"] == 0
