"""The model of a campaign learns when there is time: late, bounded, and with the same result."""

import itertools
import threading
from types import SimpleNamespace

import pytest

from askone.campaign.campaign import LATE, Campaign
from askone.campaign.engine import _trainer
from askone.campaign.engine._trainer import Slice
from askone.campaign.engine.commands import Answer, Exclude, Next, Undo
from askone.errors import StoreUnavailable
from askone.session.checkpoints import Fold
from askone.store.transactions import Transaction
from staged import PRICES, asking, stage, state_of
from waiting import HANGS

PEOPLE = [f"p{i}" for i in range(8)]


def answer(campaign, answers, learn, start=0):
    """People answer in turn, so that many are at work; a threshold's answer depends on its number alone."""
    held = dict(zip(PEOPLE, campaign.serve([Next(who) for who in PEOPLE], 1.0, learn=learn), strict=True))
    for i in range(start, start + answers):
        who = PEOPLE[i % len(PEOPLE)]
        request = Answer(who, held[who].question.lease, held[who].question.number % 3 == 0, f"a{i}", 1.0)
        [held[who]] = campaign.serve([request], 2.0 + i, learn=learn)
    return held


def test_what_is_learnt_later_is_learnt_alike(any_store):
    campaign = stage(any_store, PRICES, rows=200)
    answer(campaign, 60, learn=False)
    assert campaign.projection.trainer.pending > 40  # the first few were alone, and their answers taught at once
    steps = iter(range(7))
    campaign.learn(lambda: next(steps, None) is not None)
    before = campaign.projection.trainer.pending
    assert before > 30
    campaign.learn()
    assert campaign.projection.trainer.pending == 0
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))


def test_no_more_than_so_many_answers_wait(any_store):
    campaign = stage(any_store, PRICES, rows=2 * LATE)
    for start in range(0, LATE + 80, 40):
        answer(campaign, 40, learn=False, start=start)
        assert campaign.projection.trainer.pending <= LATE + 1
    assert campaign.projection.trainer.pending > LATE - 40
    assert campaign.status(1000.0)["learnt"] == LATE + 80


def test_where_few_are_at_work_the_next_question_knows_the_last_answer(any_store):
    campaign = stage(any_store, asking(PRICES, exam_share=0.0), rows=30)
    [serving] = campaign.serve([Next("ann")], 1.0, learn=False)
    for i in range(12):
        request = Answer("ann", serving.question.lease, i % 2 == 0, f"a{i}", 1.0)
        [serving] = campaign.serve([request], 2.0 + i, learn=False)
        assert campaign.projection.asked[serving.question.number].learnt == i + 1


def test_nobody_waits_within_a_turn_for_lessons_that_take_long(any_store, monkeypatch):
    """One turn writes at a time, of whatever campaign, where all are in one file."""
    seconds = itertools.count()
    monkeypatch.setattr(_trainer, "time", SimpleNamespace(thread_time=lambda: float(next(seconds))))
    campaign = stage(any_store, asking(PRICES, exam_share=0.0), rows=30)
    trainer, learnt, alike = campaign.projection.trainer, [], []
    [serving] = campaign.serve([Next("ann")], 1.0, learn=False)
    for i in range(8):
        request = Answer("ann", serving.question.lease, i % 2 == 0, f"a{i}", 1.0)
        [serving] = campaign.serve([request], 2.0 + i, learn=False)
        learnt.append(trainer.learnt)
        alike.append(serving.ahead.yes.question == serving.ahead.no.question)
    assert learnt == [1] * 8  # with the two that were supposed before, it showed how long they take
    assert alike == [False] + [True] * 7
    campaign.learn(lambda: True)
    assert trainer.pending == 0
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))


def test_to_exclude_somebody_learns_nothing_within_the_turn(any_store):
    campaign = stage(any_store, PRICES, rows=200)
    answer(campaign, 80, learn=True)
    campaign.serve([Exclude("boss", "x1", "p0")], 500.0, learn=False)
    assert campaign.projection.trainer.pending > 60  # from the first of their answers on
    campaign.serve([Undo("p1", "u1")], 501.0, learn=False)
    assert state_of(Campaign.open(any_store, "c", fresh=True))[1:] == state_of(campaign)[1:]
    campaign.complete()
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))


def test_whoever_looks_sees_all_answers(any_store):
    campaign = stage(any_store, PRICES, rows=200)
    answer(campaign, 60, learn=False)
    assert campaign.projection.trainer.pending
    seen = campaign.predictions([0, 1])
    assert campaign.projection.trainer.pending == 0
    assert seen == Campaign.open(any_store, "c").predictions([0, 1])


def test_who_looks_does_not_wait_until_a_state_is_kept(any_store, monkeypatch):
    monkeypatch.setattr("askone.campaign.campaign.PAUSE", 0.0)
    monkeypatch.setattr("askone.campaign.campaign.KEEP", 1)
    campaign = stage(any_store, PRICES, rows=200)
    campaign.patience = HANGS
    answer(campaign, 20, learn=False)
    assert campaign.dashboard(100.0)["pending"] == 0
    assert any_store.snapshots("c") == []
    campaign.learn(lambda: True)
    assert any_store.snapshots("c")[-1][0] == 20


def test_a_state_is_kept_though_answers_always_wait(any_store, monkeypatch):
    """With many at work the model may never be quite up to date; a server that starts again then needs it most."""
    monkeypatch.setattr("askone.campaign.campaign.PAUSE", 0.0)
    monkeypatch.setattr("askone.campaign.campaign.KEEP", 20)
    campaign = stage(any_store, PRICES, rows=200)
    for start in range(0, 120, 30):
        answer(campaign, 30, learn=False, start=start)
        campaign.learn(lambda: campaign.projection.trainer.pending > 5)
        assert campaign.projection.trainer.pending == 5
    assert any_store.snapshots("c")[-1][0] == 115
    campaign.serve([Exclude("boss", "x1", "p0")], 500.0, learn=False)
    campaign.learn(lambda: False)
    assert any_store.snapshots("c")[-1][0] <= 115
    again = Campaign.open(any_store, "c")
    assert state_of(again) == state_of(Campaign.open(any_store, "c", fresh=True))


def test_nobody_waits_while_the_model_is_folded_anew_beside(any_store, monkeypatch):
    """To exclude somebody changes lessons from the first on: it is learnt anew beside, and then switched to."""
    monkeypatch.setattr("askone.campaign.campaign.LATE", 20)
    campaign = stage(any_store, PRICES, rows=300)
    held = answer(campaign, 100, learn=True)
    before = state_of(campaign)[0]
    taught = []
    advance = Fold.advance
    monkeypatch.setattr(Fold, "advance", lambda fold, *after: taught.append(1) or advance(fold, *after))
    campaign.serve([Exclude("boss", "x1", "p0")], 500.0, learn=False)
    for i in range(30):
        who = PEOPLE[1 + i % 7]
        request = Answer(who, held[who].question.lease, True, f"b{i}", 1.0)
        [held[who]] = campaign.serve([request], 501.0 + i, learn=False)
        campaign.learn(lambda: not taught)  # there is never time for more than one
        assert len(taught) == 1, i
        assert state_of(campaign)[0] == before  # people are asked by what there was
        taught.clear()
    campaign.patience = 0.0
    assert campaign.dashboard(600.0)["pending"] == campaign.projection.trainer.pending > 0
    campaign.complete()
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))
    assert state_of(campaign)[0] != before


def counted(monkeypatch):
    """Lessons that are learnt from here on, one for each."""
    taught, advance = [], Fold.advance
    monkeypatch.setattr(Fold, "advance", lambda fold, state, by=1: taught.extend([1] * by) or advance(fold, state, by))
    return taught


def test_a_server_that_starts_again_serves_by_what_was_kept_and_learns_the_rest_beside(any_store, monkeypatch):
    campaign = stage(any_store, PRICES, rows=300)
    held = answer(campaign, 60, learn=True)
    campaign.keep()
    kept = state_of(campaign)[0]
    for i in range(30):
        campaign.serve([Answer(f"p{i % 8}", held[f"p{i % 8}"].question.lease, True, f"b{i}", 1.0)], 100.0 + i)
        [held[f"p{i % 8}"]] = campaign.serve([Next(f"p{i % 8}")], 100.5 + i)
    taught = counted(monkeypatch)
    again = Campaign.open(any_store, "c", patience=0.0)
    again.serve([Next("new")], 200.0, learn=False)
    assert not taught
    assert state_of(again)[0] == kept
    again.learn(lambda: True)
    assert len(taught) == 30
    assert state_of(again) == state_of(Campaign.open(any_store, "c", fresh=True))


def test_where_somebody_was_excluded_the_state_from_before_stands_in(any_store, monkeypatch):
    """What was kept belongs to other lessons: as where the server goes on, people are asked by it meanwhile."""
    campaign = stage(any_store, PRICES, rows=300)
    answer(campaign, 60, learn=True)
    campaign.keep()
    kept = state_of(campaign)[0]
    campaign.serve([Exclude("boss", "x1", "p0")], 500.0, learn=False)
    taught = counted(monkeypatch)
    again = Campaign.open(any_store, "c", patience=0.0)
    [serving] = again.serve([Next("new")], 501.0, learn=False)
    assert serving.question is not None
    assert not taught
    assert state_of(again)[0] == kept
    again.learn(lambda: True)
    assert again.projection.trainer.valid
    assert state_of(again) == state_of(Campaign.open(any_store, "c", fresh=True))
    assert state_of(again)[0] != kept


def test_when_the_store_is_back_nothing_is_learnt_again(any_store, monkeypatch):
    campaign = stage(any_store, PRICES, rows=300)
    held = answer(campaign, 60, learn=True)
    campaign.patience = 0.0
    request = Answer("p1", held["p1"].question.lease, True, "b1", 1.0)
    with monkeypatch.context() as away:
        away.setattr(Transaction, "write", fails)
        with pytest.raises(StoreUnavailable):
            campaign.serve([request], 100.0, learn=False)
    taught = counted(monkeypatch)
    campaign.serve([request], 101.0, learn=False)
    campaign.learn(lambda: True)
    assert len(taught) == 1
    assert campaign.projection.trainer.pending == 0
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))


def fails(*_):
    raise StoreUnavailable("away")


def test_states_are_weighed_while_people_may_be_served(any_store, monkeypatch):
    """How large a state is takes long to say where it has all answers: whoever serves does not wait for it."""
    campaign = stage(any_store, PRICES, rows=200)
    answer(campaign, 60, learn=False)
    weighed, kind = [], type(campaign.projection.learner)
    to_arrays = kind.to_arrays

    def noted(learner, state):
        weighed.append(campaign._lock._is_owned())
        return to_arrays(learner, state)

    monkeypatch.setattr(kind, "to_arrays", noted)
    campaign.learn(lambda: True)
    assert campaign.projection.trainer.pending == 0
    assert len(weighed) >= 3  # at each power of two
    assert not any(weighed)


def test_people_are_served_while_what_they_need_is_loaded(store, monkeypatch):
    campaign = stage(store, PRICES)
    begun, gate, kind = threading.Event(), threading.Event(), type(campaign.projection.learner)
    tell, warming = kind.tell, threading.Thread(target=campaign.warm)

    def slow(*given):
        if threading.current_thread() is warming:
            begun.set()
            assert gate.wait(HANGS)
        return tell(*given)

    monkeypatch.setattr(kind, "tell", slow)
    before = state_of(campaign)
    warming.start()
    assert begun.wait(HANGS)
    [serving] = campaign.serve([Next("ann")], 1.0, learn=False)
    assert serving.question is not None
    gate.set()
    warming.join(HANGS)
    assert state_of(campaign)[0] == before[0]


def test_people_are_served_while_a_lesson_is_learnt_and_what_they_take_back_is_not_learnt(any_store, monkeypatch):
    """One lesson may be a fit of all answers: whoever serves goes on by the state that there is."""
    campaign = stage(any_store, PRICES, rows=200)
    held = answer(campaign, 60, learn=True)
    begun, gate, learnt = threading.Event(), threading.Event(), Slice.after

    def after(part, place, state):
        begun.set()
        assert gate.wait(HANGS)
        return learnt(part, place, state)

    def say(i):
        request = Answer(PEOPLE[i], held[PEOPLE[i]].question.lease, True, f"b{i}", 1.0)
        [held[PEOPLE[i]]] = campaign.serve([request], 100.0 + i, learn=False)

    say(0)
    before = campaign.projection.trainer.learnt
    monkeypatch.setattr(Slice, "after", after)
    beside = threading.Thread(target=campaign.learn, args=[lambda: True])
    beside.start()
    assert begun.wait(HANGS)
    say(1)
    campaign.learn(lambda: True)  # another thread is at it
    assert campaign.projection.trainer.learnt == before
    campaign.serve([Undo(PEOPLE[0], "u0")], 110.0, learn=False)
    gate.set()
    beside.join()
    assert campaign.projection.trainer.pending == 0
    assert campaign.projection.trainer.learnt == before + 1
    assert state_of(campaign) == state_of(Campaign.open(any_store, "c", fresh=True))
