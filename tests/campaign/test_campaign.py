"""Campaigns: what people are served, what is recorded, what the model makes of it."""

import json
import sqlite3
from contextlib import closing, contextmanager

import numpy as np
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine._trainer import Trainer
from askone.campaign.engine.commands import (
    Answer,
    Exclude,
    Flag,
    Include,
    Next,
    Release,
    Renew,
    SetBudget,
    SetStatus,
    Skip,
    Undo,
)
from askone.campaign.engine.handlers import MOST_FLAGS
from askone.campaign.engine.row_cache import RowCache
from askone.campaign.settings.settings import Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.errors import CampaignClosed, InvalidArgument, LeaseLost, StoreUnavailable, UnknownCampaign, UnknownQuestion
from askone.questions.between import Between
from askone.store.entries import Entry, Row
from askone.store.notices import Grown, StatusChanged
from askone.store.open import open_store
from askone.store.transactions import Transaction
from staged import ANIMALS, DRINKS, PRICES, asking, one, play, price, stage, state_of


@pytest.fixture
def campaign(store):
    return stage(store)


def animal(row):
    return ("cat", "lion", "owl", "emu")[int(np.clip(row.content["size"] * 2 + 2, 0, 3))]


@contextmanager
def failing(monkeypatch, owner, name, error):
    """While this lasts a method raises an error."""

    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        yield


LABELS = {"Prices": price, "Animals": animal, "Drinks": lambda row: ["milk", "tea", "water", "coffee"]}


@pytest.mark.parametrize("settings", [PRICES, ANIMALS, DRINKS], ids=lambda s: s.title)
def test_people_answer_and_the_model_learns(store, settings):
    campaign = stage(store, settings, rows=60)
    served = play(campaign, ["ann", "bob"], LABELS[settings.title], 50)
    assert len(served) == 50
    assert campaign.status(60.0)["answers"] == 50
    assert campaign.projection.learnt == 50
    numbers = [serving.question.number for serving in served]
    assert len(set(numbers)) == 50
    if settings is not DRINKS:
        assert len({serving.question.row.position for serving in served}) == 50
    fresh = Campaign.open(store, "c", fresh=True)
    assert state_of(fresh) == state_of(campaign)


def test_one_person_sees_at_once_what_would_be_asked_after_the_answer(campaign):
    """Looking ahead, the next question is the one that the model asks after learning the answer."""
    serving = one(campaign, Next("ann"))
    for i in range(8):
        bit = i % 3 == 0
        expected = serving.ahead.yes if bit else serving.ahead.no
        serving = one(campaign, Answer("ann", serving.question.lease, bit, f"a{i}"), 2.0 + i)
        assert serving.question.lease == expected.lease
        assert serving.question.question == expected.question
        assert serving.question.row.position == expected.row.position
        if campaign.projection.asked[serving.question.number].role == "":
            assert serving.question.question.learnt == i + 1  # nothing is stale


def test_a_reload_gives_the_same_question(campaign):
    first = one(campaign, Next("ann"), 1.0)
    again = one(campaign, Next("ann"), 5.0)
    assert again.question.lease == first.question.lease
    assert again.question.expires > first.question.expires
    assert again.ahead == first.ahead or again.ahead.yes.question == first.ahead.yes.question


def test_an_answer_sent_twice_counts_once(campaign):
    first = one(campaign, Next("ann"))
    answer = Answer("ann", first.question.lease, True, "same")
    second = one(campaign, answer)
    again = one(campaign, answer)
    assert again.duplicate
    assert not second.duplicate
    assert again.question.lease == second.question.lease
    both = campaign.serve(
        [Answer("ann", second.question.lease, True, "b"), Answer("ann", second.question.lease, True, "b")], 3.0
    )
    assert [result.duplicate for result in both] == [False, True]
    assert campaign.projection.answers == 2
    with pytest.raises(InvalidArgument, match="id must be new"):
        one(campaign, Answer("bob", "x", True, "same"))


@pytest.mark.parametrize("event", ["", "ask-3", "a b", "x" * 101, "é"])
def test_ids_are_plain(campaign, event):
    lease = one(campaign, Next("ann")).question.lease
    with pytest.raises(InvalidArgument, match="id must be"):
        one(campaign, Answer("ann", lease, True, event))


def test_a_lease_is_bound_to_its_person_and_single_use(campaign):
    lease = one(campaign, Next("ann")).question.lease
    with pytest.raises(LeaseLost):
        one(campaign, Answer("bob", lease, True, "b1"))
    with pytest.raises(LeaseLost):
        one(campaign, Answer("ann", "made up", True, "a0"))
    one(campaign, Answer("ann", lease, True, "a1"))
    with pytest.raises(LeaseLost):
        one(campaign, Answer("ann", lease, False, "a2"))
    with pytest.raises(InvalidArgument):
        one(campaign, Answer("ann", one(campaign, Next("ann")).question.lease, "perhaps", "a3"))
    assert campaign.projection.answers == 1


def test_an_expired_question_goes_to_the_next_person_as_it_was_asked(store):
    campaign = stage(store, asking(PRICES, lease_seconds=60))
    first = one(campaign, Next("ann"), 0.0)
    other = one(campaign, Next("bob"), 30.0)
    assert other.question.number != first.question.number
    late = one(campaign, Next("cid"), 61.0)
    assert late.question.number == first.question.number
    assert late.question.question == first.question.question
    assert late.question.lease != first.question.lease
    with pytest.raises(LeaseLost):
        one(campaign, Answer("ann", first.question.lease, True, "a1"), 62.0)
    one(campaign, Answer("cid", late.question.lease, True, "c1"), 63.0)
    assert campaign.projection.answers == 1


def test_an_expired_lease_that_nobody_took_is_honoured_and_counted_as_stale(store):
    campaign = stage(store, asking(PRICES, exam_share=0))
    slow = one(campaign, Next("ann"), 0.0)
    play(campaign, ["bob"], price, 5, start=1.0)
    one(campaign, Answer("ann", slow.question.lease, True, "a1"), 50.0)
    assert campaign.status(50.0)["stale"]["most"] == 5
    assert campaign.projection.learnt == 6


def test_leases_are_renewed_and_released(store):
    campaign = stage(store, asking(PRICES, lease_seconds=60))
    lease = one(campaign, Next("ann"), 0.0).question.lease
    assert one(campaign, Renew("ann", (lease, "other")), 50.0).count == 1
    assert one(campaign, Renew("bob", (lease,)), 50.0).count == 0
    assert one(campaign, Next("bob"), 100.0).question.number > 0
    assert one(campaign, Release("ann", (lease,)), 101.0).count == 1
    assert one(campaign, Next("cid"), 102.0).question.number == 0


def test_undo_goes_several_back_and_the_model_is_as_if_it_never_happened(campaign, store):
    play(campaign, ["ann"], price, 5)
    before = state_of(campaign)[0]
    numbers = [done.number for done in campaign.projection.people["ann"].done]
    last = one(campaign, Next("ann"), 8.0)
    served = one(campaign, Answer("ann", last.question.lease, True, "slip"), 9.0)
    undone = one(campaign, Undo("ann", "u1"), 10.0)
    assert undone.question.number == last.question.number
    assert state_of(campaign)[0] == before
    assert one(campaign, Undo("ann", "u1"), 10.0).duplicate
    again = one(campaign, Undo("ann", "u2"), 11.0)
    assert again.question.number == numbers[-1]
    assert again.undoable == 4
    redone = one(campaign, Answer("ann", again.question.lease, False, "r1"), 12.0)
    assert redone.question.number == last.question.number  # what was taken back first is still open
    redone = one(campaign, Answer("ann", redone.question.lease, False, "r2"), 13.0)
    assert redone.question.number == served.question.number
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)
    with pytest.raises(UnknownQuestion, match="nothing to take back"):
        one(campaign, Undo("bob", "u3"))


def test_skips_go_to_others_and_come_back_on_undo(campaign):
    first = one(campaign, Next("ann"), 0.0)
    then = one(campaign, Skip("ann", first.question.lease, "s1"), 1.0)
    assert then.question.number != first.question.number
    back = one(campaign, Undo("ann", "u1"), 2.0)
    assert back.question.number == first.question.number
    assert one(campaign, Next("bob"), 3.0).question.number != first.question.number
    one(campaign, Skip("ann", back.question.lease, "s2"), 4.0)
    assert one(campaign, Next("cid"), 5.0).question.number == first.question.number
    # Now it is somebody else's: taking the skip back may not have it answered by both.
    assert one(campaign, Undo("ann", "u2"), 6.0).question.number != first.question.number
    with pytest.raises(InvalidArgument, match="reason must be one of"):
        one(campaign, Skip("bob", "x", "s3", "bored"))


def test_a_question_that_is_open_again_has_all_its_seats(store):
    campaign = stage(store, asking(PRICES, overlap=2))
    first = one(campaign, Next("ann"), 0.0)
    one(campaign, Skip("ann", first.question.lease, "s1", "cannot tell"), 1.0)
    assert one(campaign, Next("bob"), 2.0).question.number != first.question.number
    again = one(campaign, Undo("ann", "u1"), 3.0)
    assert again.question.number == first.question.number
    one(campaign, Answer("ann", again.question.lease, True, "a1"), 4.0)
    other = one(campaign, Next("cid"), 5.0)
    assert other.question.number == first.question.number
    one(campaign, Answer("cid", other.question.lease, True, "a2"), 6.0)
    assert first.question.number in campaign.projection.closed


def test_what_cannot_be_told_is_asked_of_nobody_else(campaign):
    first = one(campaign, Next("ann"), 0.0)
    one(campaign, Skip("ann", first.question.lease, "s1", "cannot tell"), 1.0)
    seen = {serving.question.number for serving in play(campaign, ["bob", "cid"], price, 20, start=100.0)}
    assert first.question.number not in seen
    assert one(campaign, Undo("ann", "u"), 500.0).question.number == first.question.number


def test_after_three_skips_a_question_is_left(campaign):
    for i, person in enumerate(["ann", "bob", "cid"]):
        serving = one(campaign, Next(person), float(i))
        assert serving.question.number == 0
        one(campaign, Skip(person, serving.question.lease, f"s{i}"), i + 0.5)
    assert 0 in campaign.projection.closed


@pytest.mark.parametrize("people", [2, 3, 5])
def test_overlap_serves_each_row_to_so_many_and_teaches_the_majority(store, people):
    campaign = stage(store, asking(PRICES, overlap=people, exam_share=0), rows=6)
    names = [f"p{i}" for i in range(people + 2)]
    served = play(campaign, names, price, 200)
    rows = [serving.question.row.position for serving in served]
    assert sorted(rows) == sorted(list(range(6)) * people)
    assert len(campaign.projection.lessons.all) == 6
    assert all(agree == of for agree, of in campaign.projection.agreement().values())
    assert one(campaign, Next("p0"), 999.0).state in ("done", "waiting")


def test_a_minority_is_outvoted(store):
    campaign = stage(store, asking(PRICES, overlap=3, exam_share=0), rows=1)
    for person, answer in (("ann", True), ("bob", False), ("cid", True)):
        one(campaign, Answer(person, one(campaign, Next(person)).question.lease, answer, person))
    assert [lesson.answer for lesson in campaign.projection.lessons.all] == [True]
    stats = {who["id"]: who for who in campaign.people()}
    assert stats["bob"]["agreement"] == 0
    assert stats["ann"]["agreement"] == 0.5
    one(campaign, Exclude("boss", "x1", "ann"), 5.0)
    assert campaign.projection.lessons.all == []  # one against one: not decided
    assert campaign.projection.agreement() == {"ann": (1, 2), "bob": (0, 1), "cid": (0, 1)}
    assert one(campaign, Next("dan"), 6.0).question.number == 0  # somebody else is asked instead
    one(campaign, Include("boss", "x2", "ann"), 7.0)
    assert [lesson.answer for lesson in campaign.projection.lessons.all] == [True]


def test_gold_questions_measure_people_and_teach_nothing(store):
    gold = dict.fromkeys(range(0, 40, 4), 75.0)
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.5, exam_share=0), gold=gold)
    play(campaign, ["ann", "bob"], lambda row: 75.0 if row.position in gold else price(row), 40)
    people = {who["id"]: who for who in campaign.people()}
    assert people["ann"]["gold_asked"] > 3
    assert people["ann"]["gold_right"] == people["ann"]["gold_asked"]
    asked = campaign.projection.asked.values()
    assert {one.position for one in asked if one.role == "gold"} <= set(gold)
    assert not {one.position for one in asked if one.role != "gold"} & set(gold)
    assert campaign.projection.learnt == sum(one.role != "gold" and bool(one.given) for one in asked)


def test_the_budget_is_kept(store):
    campaign = stage(store, asking(PRICES, budget=7))
    assert len(play(campaign, ["ann", "bob", "cid"], price, 20)) == 7
    serving = one(campaign, Next("ann"), 99.0)
    assert (serving.state, serving.left) == ("spent", 0)
    one(campaign, SetBudget("boss", "b1", 9), 100.0)
    assert len(play(campaign, ["ann", "bob"], price, 20, start=101.0)) == 2
    with pytest.raises(InvalidArgument, match="budget"):
        one(campaign, SetBudget("boss", "b2", 0))


def test_each_respondent_may_be_asked_one_thing(store):
    campaign = stage(store, asking(DRINKS, per_person=1))
    served = play(campaign, [f"p{i}" for i in range(30)], LABELS["Drinks"], 30)
    assert len(served) == 30
    assert one(campaign, Next("p0"), 99.0).state == "done"


def test_pause_and_close(campaign):
    lease = one(campaign, Next("ann")).question.lease
    one(campaign, SetStatus("boss", "s1", "paused"))
    assert one(campaign, Answer("ann", lease, True, "a1")).state == "paused"
    one(campaign, SetStatus("boss", "s2", "running"))
    lease = one(campaign, Next("ann")).question.lease
    one(campaign, SetStatus("boss", "s3", "closed"))
    assert one(campaign, Next("ann")).state == "closed"
    with pytest.raises(CampaignClosed):
        one(campaign, Answer("ann", lease, True, "a2"))
    with pytest.raises(CampaignClosed):
        one(campaign, Undo("ann", "u1"))
    assert campaign.projection.answers == 1


def test_flags_keep_the_question(campaign):
    first = one(campaign, Next("ann"))
    assert one(campaign, Flag("ann", first.question.lease, "f1", " blurred ")).question.lease == first.question.lease
    assert campaign.flags()[0]["reason"] == "blurred"
    with pytest.raises(InvalidArgument):
        one(campaign, Flag("ann", first.question.lease, "f2", " "))


def test_a_question_takes_some_flags_of_a_person_and_no_more(campaign, store):
    """Nobody can fill the log with them: also where they took an answer back, or the campaign is opened anew."""
    lease = one(campaign, Next("ann")).question.lease
    for n in range(MOST_FLAGS):
        one(campaign, Flag("ann", lease, f"f{n}", "blurred"))
    assert one(campaign, Flag("ann", lease, "f0", "blurred")).duplicate
    one(campaign, Answer("ann", lease, True, "a1", 1.0))
    lease = one(campaign, Undo("ann", "u1")).question.lease
    for opened in (campaign, Campaign.open(store, "c"), Campaign.open(store, "c", fresh=True)):
        with pytest.raises(InvalidArgument, match="flagged less than 5 times"):
            one(opened, Flag("ann", lease, "f9", "blurred"))
    assert len(campaign.flags()) == MOST_FLAGS


def test_an_excluded_person_leaves_no_trace_in_the_model(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=60)
    play(campaign, ["ann", "liar", "bob"], price, 30)
    counted = one(campaign, Exclude("boss", "x1", "liar"), 50.0).count
    assert counted == 10
    assert campaign.projection.learnt == 20
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)
    assert one(campaign, Next("liar"), 51.0).state == "done"
    reasked = {serving.question.number for serving in play(campaign, ["ann", "bob"], price, 12, start=200.0)}
    assert len(reasked & {done.number for done in campaign.projection.people["liar"].done}) >= 8


def test_two_processes_agree(store):
    first = stage(store, PRICES, rows=60)
    second = Campaign.open(store, "c")
    for i in range(20):
        play(first if i % 2 else second, [f"p{i % 3}"], price, 1 + i % 3, start=10.0 * i)
    first.refresh()
    second.refresh()
    assert state_of(first) == state_of(second)
    rows = [one.position for one in first.projection.asked.values()]
    assert len(rows) == len(set(rows))


def test_rows_that_help_most_are_chosen_and_the_choice_is_logged(store):
    campaign = stage(store, asking(PRICES, order="auto", exam_share=0), rows=300)
    served = play(campaign, ["ann"], price, 30)
    assert len({serving.question.row.position for serving in served}) == 30
    asked = [entry.event for entry in store.entries("c", kinds=["asked"])]
    rules = [event.choice.rule for event in asked[1:]]
    assert set(rules) == {"auto", "random"}
    assert all(event.choice.share == 0.2 for event in asked[1:])


def test_exams_are_about_rows_by_lot_however_others_are_chosen(store, monkeypatch):
    """The error of the rows that are least certain is not the error."""
    campaign = stage(store, asking(PRICES, order="auto", exam_share=0.5), rows=400)
    sizes = np.array([row.content["size"] for row in store.rows("c", range(400))])
    monkeypatch.setattr(type(campaign.projection.learner), "worth", lambda _, __, X: X[:, 0])
    play(campaign, ["ann"], price, 60)
    asked = campaign.projection.asked.values()
    chosen = [sizes[one.position] for one in asked if one.role == ""]
    drawn = [sizes[one.position] for one in asked if one.role == "exam"]
    assert np.mean(chosen) > sizes.mean() + 1
    assert abs(np.mean(drawn) - sizes.mean()) < 4 * sizes.std() / np.sqrt(len(drawn))
    assert all(one.choice is None for one in map(campaign._planner.plan, ["ann"] * 50, range(1000, 1050)) if one.role)
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)


def test_snapshot_and_tail_are_the_whole_log(store):
    campaign = stage(store, PRICES, rows=60)
    play(campaign, ["ann", "bob"], price, 20)
    campaign.keep()
    play(campaign, ["ann", "bob"], price, 5, start=100.0)
    for answers in range(3):
        again = Campaign.open(store, "c")
        assert state_of(again) == state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)
        one(campaign, Undo("ann", f"u{answers}"), 200.0)
    play(campaign, ["cid"], price, 3, start=300.0)
    assert state_of(Campaign.open(store, "c")) == state_of(campaign)


def test_after_an_undo_the_state_that_was_kept_before_is_used(store, monkeypatch):
    campaign = stage(store, PRICES, rows=60)
    for start in (1.0, 100.0):
        play(campaign, ["ann", "bob"], price, 20, start=start)
        campaign.keep()
    one(campaign, Undo("ann", "u1"), 200.0)
    adopted = []
    adopt = Trainer.adopt
    monkeypatch.setattr(Trainer, "adopt", lambda one, state, count: adopted.append(count) or adopt(one, state, count))
    assert state_of(Campaign.open(store, "c")) == state_of(campaign)
    assert adopted == [20]
    campaign.keep()
    assert state_of(Campaign.open(store, "c")) == state_of(campaign)
    assert adopted == [20, 20, 39]


def test_what_was_served_is_served_even_if_the_state_cannot_be_kept(campaign, store, monkeypatch, caplog):
    monkeypatch.setattr("askone.campaign.campaign.PAUSE", 0.0)
    monkeypatch.setattr("askone.campaign.campaign.KEEP", 3)
    with failing(monkeypatch, type(store), "keep_snapshot", StoreUnavailable("the disk is full")):
        assert len(play(campaign, ["ann"], price, 8)) == 8
    assert caplog.text.count("could not be kept") == 2
    play(campaign, ["ann"], price, 3, start=50.0)
    assert store.snapshots("c")[-1][0] == 9


def test_rows_that_came_while_the_store_failed_are_known_later(store, monkeypatch):
    campaign = stage(store, asking(PRICES, gold="price", gold_share=0.5, exam_share=0), rows=4, gold={0: 75.0})
    other = Campaign.open(store, "c")
    more = [Row(i, f"n{i}", {"size": 0.0}, np.zeros(2, dtype=np.float32), 50.0) for i in range(4)]
    store.grow("c", [more], lambda n, mark: Entry(Grown("grown", n, mark), at=2.0))
    with failing(monkeypatch, type(store), "gold", StoreUnavailable("away")), pytest.raises(StoreUnavailable):
        campaign.refresh()
    play(campaign, ["ann"], price, 20)
    assert campaign.projection.people["ann"].gold_seen <= {0, 4, 5, 6, 7}
    assert not {one.position for one in campaign.projection.asked.values() if one.role != "gold"} & {0, 4, 5, 6, 7}
    other.refresh()
    assert state_of(other) == state_of(campaign)


def test_a_campaign_under_the_name_of_a_deleted_one_is_another(store):
    """Somebody who still holds the old one does not write into the log of the new."""
    old = stage(store, PRICES)
    play(old, ["ann"], price, 5)
    store.delete("c")
    for act in (lambda: one(old, Next("ann"), 20.0), old.refresh):
        with pytest.raises(UnknownCampaign):
            act()
    new = stage(store, ANIMALS)
    play(new, ["bob"], animal, 4)
    before = store.head("c")
    for act in (lambda: one(old, Next("ann"), 20.0), old.refresh, lambda: one(old, Next("ann"), 21.0)):
        with pytest.raises(UnknownCampaign):
            act()
    assert store.head("c") == before


def test_dashboard_and_predictions_are_json(store):
    for settings in (PRICES, ANIMALS, DRINKS):
        campaign = stage(
            store, asking(settings, exam_share=0.5, price=0.1, currency="EUR"), rows=80, name=settings.title.lower()
        )
        play(campaign, ["ann", "bob"], LABELS[settings.title], 70, seconds=2.0)
        found = json.loads(json.dumps(campaign.dashboard(150.0), allow_nan=False))
        assert found["answers"] == 70
        assert found["curve"]["points"]
        assert found["cloud"]["points"]
        assert found["spent"]["money"] == pytest.approx(7.0)
        assert json.dumps(campaign.predictions([0]), allow_nan=False)
        assert json.dumps(campaign.people(), allow_nan=False)
        model = campaign.model()
        assert model.stream_.answered == 70


def test_a_turn_that_fails_leaves_nothing_behind(campaign, monkeypatch):
    first = one(campaign, Next("ann"))
    before = state_of(campaign)
    with (
        failing(monkeypatch, Transaction, "write", OSError("the disk is full")),
        pytest.raises(OSError, match="disk"),
    ):
        campaign.serve([Answer("ann", first.question.lease, True, "a1")], 2.0)
    campaign.refresh()
    assert state_of(campaign) == before
    assert not one(campaign, Answer("ann", first.question.lease, True, "a1"), 3.0).duplicate


def test_rows_that_come_twice_while_a_log_is_read_do_no_harm(store, monkeypatch):
    campaign = stage(store, asking(PRICES, gold="price"), rows=10, gold={0: 75.0})
    known, more = type(store).gold, iter([2, 2])

    def grown(*asked):
        for n in more:
            size = store.campaign("c").rows
            rows = [Row(i, f"n{size + i}", {"size": 0.0}, np.zeros(2, dtype=np.float32), 50.0) for i in range(n)]
            store.grow("c", [rows], lambda n, mark, size=size: Entry(Grown(f"grown-{size}", n, mark), at=2.0))
        return known(*asked)

    monkeypatch.setattr(type(store), "gold", grown)
    campaign = Campaign.open(store, "c")
    assert campaign.projection.rows == 10
    assert one(campaign, Next("ann")).question is not None
    assert campaign.projection.rows == 14


def test_a_store_that_fails_within_a_request_undoes_the_turn(store, monkeypatch):
    """An answer that was noted before its next row could not be read has not happened: it is not told as refused."""
    campaign = stage(store, asking(PRICES, exam_share=0))
    first, before = one(campaign, Next("ann")), store.head("c")
    campaign._row_cache._kept.clear()
    with failing(monkeypatch, type(store), "rows", StoreUnavailable("away")), pytest.raises(StoreUnavailable):
        campaign.serve([Answer("ann", first.question.lease, True, "a1")], 2.0, learn=False)
    assert store.head("c") == before
    assert not one(campaign, Answer("ann", first.question.lease, True, "a1"), 3.0).duplicate


@pytest.mark.parametrize("looks", [False, True])
def test_a_store_that_was_put_back_to_an_earlier_time_is_read_anew(tmp_path, looks):
    store = open_store(str(tmp_path / "store.db"))
    campaign = stage(store, asking(PRICES, exam_share=0))
    play(campaign, ["ann"], price, 5)
    with closing(sqlite3.connect(tmp_path / "store.db")) as here, closing(sqlite3.connect(":memory:")) as copy:
        here.backup(copy)
        play(campaign, ["ann"], price, 5, start=50.0)
        copy.backup(here)
    if looks:
        campaign.refresh()
        assert campaign.status(60.0)["answers"] == 5
    play(campaign, ["ann"], price, 3, start=100.0)
    assert campaign.status(200.0)["answers"] == 8
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)
    store.close()


def test_it_pauses_by_itself_when_it_is_good_enough(store):
    campaign = stage(store, asking(PRICES, target=25.0, exam_share=0.5), rows=300)
    play(campaign, ["ann", "bob"], price, 300)
    assert campaign.projection.status == "paused"
    latest = campaign.dashboard(999.0)["curve"]["latest"]
    assert latest["value"] <= 25.0  # that was all but certain; who held a question has answered since
    one(campaign, SetStatus("boss", "on", "running"), 1000.0)
    assert len(play(campaign, ["ann", "bob"], price, 20, start=1001.0)) == 20
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)


def test_a_target_whose_turn_failed_is_looked_at_again(store, monkeypatch):
    campaign = stage(store, asking(PRICES, target=25.0, exam_share=0.5), rows=300)
    written, failed = Transaction.write, []

    def failing(transaction, entries, *seats):
        if not failed and any(isinstance(entry.event, StatusChanged) for entry in entries):
            failed.append(len(campaign.projection.lessons.all))
            raise StoreUnavailable("away")
        return written(transaction, entries, *seats)

    monkeypatch.setattr(Transaction, "write", failing)
    serving = one(campaign, Next("ann"))
    for i in range(300):
        truth = serving.question.question.answer(price(serving.question.row))
        request = Answer("ann", serving.question.lease, truth, f"a{i}")
        try:
            serving = one(campaign, request, 2.0 + i)
        except StoreUnavailable:
            one(campaign, request, 2.0 + i)
            break
    assert failed == [len(campaign.projection.lessons.all)]
    assert campaign.projection.status == "paused"


def test_the_target_is_not_looked_at_after_each_of_many_answers(store, monkeypatch):
    campaign, looked = stage(store, asking(PRICES, target=0.001, exam_share=0.9), rows=40), []
    monkeypatch.setattr("askone.campaign.engine.stopping._PATIENCE", 10)
    monkeypatch.setattr("askone.campaign.engine.stopping.is_reached", lambda *_: looked.append(1))
    play(campaign, ["ann"], price, 40)
    assert 12 <= len(looked) <= 28


def test_nobody_is_asked_about_implausible_values(store):
    campaign = stage(store, asking(PRICES, exam_share=0), rows=200)
    served = play(campaign, ["ann"], lambda row: 0.0 if row.content["size"] < 0 else 100.0, 150)
    thresholds = [abs(serving.question.question.threshold) for serving in served]
    assert all(1 <= threshold <= 99 for threshold in thresholds)
    assert min(thresholds) == 1
    assert state_of(Campaign.open(store, "c", fresh=True)) == state_of(campaign)


def test_rows_that_are_wanted_together_are_there_together(store, monkeypatch):
    campaign = stage(store, PRICES, rows=60)
    monkeypatch.setattr("askone.campaign.engine.row_cache._MOST", 10)
    monkeypatch.setattr("askone.campaign.engine.row_cache._RUN", 4)
    row_cache = RowCache(store, "c")
    row_cache.count = 60
    whole = np.array([row.features for row in store.rows("c", list(range(60)))], dtype=float)
    for positions in (
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [1, 2, 40],
        [1, 2, 59],
        [0, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30],
    ):
        assert np.array_equal(row_cache.features(positions), whole[positions])
        assert row_cache.row(positions[0]).position == positions[0]
    assert len(play(campaign, ["ann", "bob"], price, 50)) == 50


def test_thresholds_lie_in_a_range_that_was_found(store, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "".join(f"{i / 200}\n" for i in range(200)))
    create_campaign(store, "c", Settings("A", Numbers()), open_table(path), "", 0.0)
    campaign, asked = Campaign.open(store, "c"), []
    [serving] = campaign.serve([Next("ann")], 1.0)
    for i in range(150):
        asked.append(serving.question.question)
        answer = asked[-1].answer(300 + 200 * serving.question.row.content["x"])
        [serving] = campaign.serve([Answer("ann", serving.question.lease, answer, f"a-{i}")], 2.0 + i)
    ranges = [question for question in asked[-60:] if isinstance(question, Between)]
    thresholds = [question for question in asked[-60:] if not isinstance(question, Between)]
    assert not any(question.purpose for question in thresholds)
    assert all(100 < question.threshold < 700 for question in thresholds)
    assert all(question.low < 500 and question.high > 300 for question in ranges)
