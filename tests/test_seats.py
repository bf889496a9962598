"""Seats, rows and the budget: whatever people do, each question reaches whoever should answer it."""

import pytest

from askone.campaign.requests import Answer, Exclude, Next, Skip
from askone.store.opening import open_store
from staged import PRICES, asking, one, play, stage


@pytest.fixture
def store():
    opened = open_store("memory:")
    yield opened
    opened.close()


def price(row):
    return 50 + 20 * row.content["size"]


def seats(store, numbers):
    with store.turn("c") as turn:
        return turn.seats(numbers=sorted(numbers))


@pytest.mark.parametrize("skips", [False, True])
def test_what_an_excluded_person_still_holds_goes_to_somebody_else(store, skips):
    campaign = stage(store, asking(PRICES, exam_share=0))
    first = one(campaign, Next("ann"))
    held = one(campaign, Answer("ann", first.question.lease, True, "a1"), 2.0).question
    one(campaign, Exclude("boss", "x1", "ann"), 3.0)
    late = Skip("ann", held.lease, "a2", "cannot tell") if skips else Answer("ann", held.lease, True, "a2")
    assert one(campaign, late, 4.0).state == "done"
    assert len(seats(store, [held.number])) == campaign.book.lacking(held.number) == 1
    assert {one(campaign, Next(who), 5.0).question.number for who in ("bob", "cid")} == {0, held.number}


def test_gold_that_an_excluded_person_answered_keeps_nobody_waiting(store):
    gold = dict.fromkeys(range(0, 12, 3), 75.0)
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.5, exam_share=0), rows=12, gold=gold)
    play(campaign, ["ann"], price, 100)
    assert campaign.book.people["ann"].gold_asked >= 4
    one(campaign, Exclude("boss", "x1", "ann"), 600.0)
    play(campaign, ["bob", "cid"], price, 100, start=1000.0)
    assert not campaign.book.touched
    assert one(campaign, Next("bob"), 9999.0).state == "done"


def test_what_an_excluded_person_could_not_tell_is_asked_of_others(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=10)
    serving = one(campaign, Next("ann"))
    for i in range(10):
        serving = one(campaign, Skip("ann", serving.question.lease, f"s{i}", "cannot tell"), 2.0 + i)
    assert serving.state == "done"
    one(campaign, Exclude("boss", "x1", "ann"), 20.0)
    assert len(play(campaign, ["bob"], price, 20, start=100.0)) == 10
