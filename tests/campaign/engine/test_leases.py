"""Seats, rows and the budget: whatever people do, each question reaches whoever should answer it."""

import pytest

from askone.campaign.engine.commands import Answer, Exclude, Next, Skip, Undo
from askone.errors import InvalidArgument, UnknownQuestion
from staged import PRICES, asking, one, play, price, stage


def seats(store, numbers):
    with store.transaction("c") as transaction:
        return transaction.seats(numbers=sorted(numbers))


@pytest.mark.parametrize("skips", [False, True])
def test_what_an_excluded_person_still_holds_goes_to_somebody_else(store, skips):
    campaign = stage(store, asking(PRICES, exam_share=0))
    first = one(campaign, Next("ann"))
    held = one(campaign, Answer("ann", first.question.lease, True, "a1"), 2.0).question
    one(campaign, Exclude("boss", "x1", "ann"), 3.0)
    late = Skip("ann", held.lease, "a2", "cannot tell") if skips else Answer("ann", held.lease, True, "a2")
    assert one(campaign, late, 4.0).state == "done"
    assert len(seats(store, [held.number])) == campaign.projection.lacking(held.number) == 1
    assert {one(campaign, Next(who), 5.0).question.number for who in ("bob", "cid")} == {0, held.number}


def test_gold_that_an_excluded_person_answered_keeps_nobody_waiting(store):
    gold = dict.fromkeys(range(0, 12, 3), 75.0)
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.5, exam_share=0), rows=12, gold=gold)
    play(campaign, ["ann"], price, 100)
    assert campaign.projection.people["ann"].gold_asked == 4
    one(campaign, Exclude("boss", "x1", "ann"), 600.0)
    play(campaign, ["bob", "cid"], price, 100, start=1000.0)
    assert not campaign.projection.touched
    assert one(campaign, Next("bob"), 9999.0).state == "done"


def test_what_an_excluded_person_could_not_tell_is_asked_of_others(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=10)
    serving = one(campaign, Next("ann"))
    for i in range(10):
        serving = one(campaign, Skip("ann", serving.question.lease, f"s{i}", "cannot tell"), 2.0 + i)
    assert serving.state == "done"
    one(campaign, Exclude("boss", "x1", "ann"), 20.0)
    assert len(play(campaign, ["bob"], price, 20, start=100.0)) == 10


def test_among_several_people_the_one_who_saw_what_comes_next_gets_it(store):
    campaign = stage(store, asking(PRICES, overlap=3, exam_share=0))
    ann, bob = one(campaign, Next("ann")), one(campaign, Next("bob"))
    assert ann.question.number == bob.question.number == 0
    assert bob.ahead is None
    one(campaign, Answer("bob", bob.question.lease, True, "b1"), 2.0)
    then = one(campaign, Answer("ann", ann.question.lease, True, "a1"), 3.0)
    assert then.question.lease == ann.ahead.yes.lease
    assert then.question.row == ann.ahead.yes.row


@pytest.mark.parametrize(("overlap", "skips"), [(1, True), (3, False), (3, True)])
def test_one_person_sees_every_row(store, overlap, skips):
    """No row is kept for somebody who never comes."""
    campaign = stage(store, asking(PRICES, overlap=overlap, exam_share=0), rows=20)
    serving, seen = one(campaign, Next("ann")), []
    while serving.question is not None:
        seen.append(serving.question.row.position)
        lease, event = serving.question.lease, f"e{len(seen)}"
        request = Skip("ann", lease, event) if skips and len(seen) % 2 else Answer("ann", lease, True, event)
        serving = one(campaign, request, 1.0 + len(seen))
    assert sorted(seen) == list(range(20))


def test_a_row_that_was_kept_for_somebody_who_left_goes_to_others_in_the_end(store):
    campaign = stage(store, asking(PRICES, overlap=2, exam_share=0, lease_seconds=60, order="file"), rows=6)
    left = one(campaign, Next("ann"))
    assert left.ahead.yes.row.position == 1
    seen = {serving.question.row.position for serving in play(campaign, ["bob"], price, 20)}
    assert seen == {0, 2, 3, 4, 5}
    assert one(campaign, Next("bob"), 30.0).state == "waiting"
    assert one(campaign, Next("bob"), 99.0).question.row.position == 1


def test_a_free_question_is_found_behind_many_that_the_person_has_had(store):
    campaign = stage(store, asking(PRICES, overlap=3, exam_share=0, lease_seconds=60), rows=71)
    play(campaign, ["ann"], price, 70)
    left = one(campaign, Next("ann"), 100.0)
    play(campaign, ["bob"], price, 70, start=101.0)
    last = one(campaign, Next("bob"), 171.0)
    assert last.question.number == left.question.number
    one(campaign, Answer("bob", last.question.lease, True, "b-last"), 172.0)
    assert one(campaign, Next("ann"), 173.0).question.number == left.question.number


def test_nobody_is_asked_twice_about_a_row_with_a_known_label(store):
    """Who sees a row again knows that it is there to measure people."""
    gold = dict.fromkeys(range(0, 40, 4), 75.0)
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.6, exam_share=0), gold=gold)
    for turn in range(3):
        for who in ("ann", "bob", "cid"):
            left = one(campaign, Next(who), 500.0 * turn)  # and does not answer
            assert left.question is not None
        for serving in play(campaign, ["ann", "bob"], price, 12, start=500.0 * turn + 100):
            assert serving.question is not None
    for who in ("ann", "bob"):
        person, asked = campaign.projection.people[who], campaign.projection.asked
        rows = [asked[done.number].position for done in person.done]
        assert person.gold_asked > 4
        assert len(rows) == len(set(rows))


def test_what_nobody_can_tell_costs_no_budget(store):
    campaign = stage(store, asking(PRICES, budget=5, exam_share=0))
    serving = one(campaign, Next("ann"))
    for i in range(8):
        serving = one(campaign, Skip("ann", serving.question.lease, f"s{i}", "cannot tell"), 2.0 + i)
    assert serving.left == 5
    assert len(play(campaign, ["ann"], price, 20, start=50.0)) == 5
    assert one(campaign, Next("ann"), 99.0).state == "spent"
    one(campaign, Undo("ann", "u0"), 100.0)
    for i in range(4):
        one(campaign, Undo("ann", f"u{i + 1}"), 101.0)
    with pytest.raises(UnknownQuestion, match="the budget is spent"):
        one(campaign, Undo("ann", "u9"), 102.0)
    assert len(play(campaign, ["ann"], price, 20, start=200.0)) == 5


def test_an_id_that_was_used_for_another_answer_is_refused(store):
    campaign = stage(store, asking(PRICES, exam_share=0))
    first = one(campaign, Next("ann"))
    second = one(campaign, Answer("ann", first.question.lease, True, "same"), 2.0)
    with pytest.raises(InvalidArgument, match="id must be new"):
        one(campaign, Answer("ann", second.question.lease, True, "same"), 3.0)  # another question
    with pytest.raises(InvalidArgument, match="id must be new"):
        one(campaign, Answer("ann", first.question.lease, False, "same"), 3.0)  # another answer
    undone = one(campaign, Undo("ann", "u1"), 4.0)
    with pytest.raises(InvalidArgument, match="id must be new"):
        one(campaign, Answer("ann", undone.question.lease, True, "same"), 5.0)  # again after it was taken back
    assert one(campaign, Answer("ann", first.question.lease, True, "same"), 6.0).duplicate


def test_gold_is_not_told_by_what_comes_next(store):
    gold = dict.fromkeys(range(0, 40, 4), 75.0)
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.5, exam_share=0), gold=gold)
    alike = {"": [], "gold": []}
    serving = one(campaign, Next("ann"))
    for i in range(24):
        role = campaign.projection.asked[serving.question.number].role
        if serving.ahead is not None and i > 2:
            alike[role].append(serving.ahead.yes.question == serving.ahead.no.question)
        serving = one(campaign, Answer("ann", serving.question.lease, i % 2 == 0, f"g{i}"), 2.0 + i)
    assert alike["gold"]
    assert not any(alike["gold"])
    assert campaign.projection.learnt == sum(
        one.role != "gold" and bool(one.given) for one in campaign.projection.asked.values()
    )


def test_a_check_that_is_skipped_is_nobody_elses(store):
    """A question about a known label measures one person: if they skip it, the campaign waits for nobody."""
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.9, exam_share=0), gold={3: 75.0})
    check, turn = one(campaign, Next("ann"), 0.0), 0
    while check.question.row.position != 3:
        turn += 1
        check = one(campaign, Answer("ann", check.question.lease, True, f"a{turn}"), float(turn))
    one(campaign, Skip("ann", check.question.lease, "s1"), 50.0)
    assert check.question.number in campaign.projection.closed
    assert one(campaign, Undo("ann", "u1"), 51.0).question.number == check.question.number
