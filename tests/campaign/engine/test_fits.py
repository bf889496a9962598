"""Fits of a campaign are entries of its log: kept in the store, adopted by every fold, gone with an answer."""

import io
import logging
import zipfile

import numpy as np
import pytest

from askone._common.packed_arrays import digest, pack
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Exclude, Include, TakeFit, Undo
from askone.campaign.engine.training_set import teaches
from askone.campaign.output.backup import backup, restore
from askone.errors import InvalidArgument, InvalidFile
from askone.session.checkpoints import Fit, fit_of, learnt
from askone.session.log import Fitted
from askone.store.open import open_store
from askone.store.verification import verify
from refitting import FittedMean
from staged import fits_of, one, play, price, stage_fitted

pytestmark = pytest.mark.usefixtures("fitted")


@pytest.fixture
def campaign(store):
    return stage_fitted(store)


def state_of(campaign):
    arrays = campaign.projection.learner.to_arrays(campaign.projection.state)
    return {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}


def folded(campaign):
    """The campaign as somebody else has it: from the log, and from what was kept of it."""
    campaign.keep()
    others = [Campaign.open(campaign.store, campaign.name, fresh=fresh) for fresh in (True, False)]
    assert all(state_of(other) == state_of(campaign) for other in others)
    return others[0]


def by_itself(campaign):
    """The state of a learner that heard the answers that count, and was fitted whenever that was due."""
    learner, trainer = campaign.projection.learner, campaign.projection.trainer
    state = learner.init()
    for told in trainer.told(10**6):
        if teaches(learner, told.asking):
            state = learnt(learner, state, told.example)
        while learner.due(state):
            state = learnt(learner, state, fit_of(learner, state))
    return {name: (array.dtype, array.tobytes()) for name, array in learner.to_arrays(state).items()}


def test_a_fit_is_made_logged_and_kept(campaign, monkeypatch):
    play(campaign, ["ann", "bob"], price, 30)
    entries = fits_of(campaign)
    learnt = [entry.event.learnt for entry in entries]
    assert learnt == sorted(set(learnt))
    assert 5 < len(learnt) < 12
    assert [entry.id for entry in entries] == [f"fit-{entry.seq}" for entry in entries]
    assert campaign.projection.state.at > 0
    assert folded(campaign).projection.lessons.fits == campaign.projection.lessons.fits
    # What is kept is adopted, and not computed again.
    monkeypatch.delattr(FittedMean, "fit")
    folded(campaign)
    assert verify(campaign.store, campaign.name).valid


def test_a_fit_falls_out_with_an_answer(campaign):
    play(campaign, ["ann"], price, 20)
    play(campaign, ["bob"], price, 11, start=100.0)
    before = len(campaign.projection.lessons.fits)
    one(campaign, Exclude("boss", "x1", "bob"), 200.0)
    kept = campaign.projection.lessons.fits
    assert len(kept) < before
    assert all(fit.learnt <= 20 for fit in kept)
    folded(campaign)
    one(campaign, Include("boss", "i1", "bob"), 201.0)
    assert fits_of(campaign)[-1].at == 201.0  # of all answers again
    folded(campaign)
    one(campaign, Exclude("boss", "x2", "ann"), 202.0)
    assert [fit.learnt for fit in campaign.projection.lessons.fits] == [6, 8, 11]
    folded(campaign)
    play(campaign, ["eve"], price, 12, start=300.0)
    for n in range(3):
        one(campaign, Undo("eve", f"u{n}"), 400.0 + n)
        folded(campaign)


def test_fits_that_fell_out_are_made_where_they_were_due(campaign):
    play(campaign, ["ann", "bob"], price, 30)
    assert state_of(campaign) == by_itself(campaign)
    before, fits = state_of(campaign), [one[1:] for one in campaign.projection.lessons.fits]
    one(campaign, Exclude("boss", "x1", "bob"), 200.0)
    assert 3 < len(campaign.projection.lessons.fits) < len(fits)
    assert state_of(campaign) == by_itself(campaign)
    folded(campaign)
    one(campaign, Include("boss", "i1", "bob"), 201.0)
    assert [one[1:] for one in campaign.projection.lessons.fits] == fits
    assert state_of(campaign) == before
    folded(campaign)


def test_no_model_is_handed_out_before_its_fits_are_made_anew(campaign):
    play(campaign, ["ann", "bob"], price, 30)
    before, other = state_of(campaign), Campaign.open(campaign.store, campaign.name)
    campaign.serve([Exclude("boss", "x1", "bob")], 200.0, learn=False)
    campaign.learn()
    learnt, of = campaign.anew
    assert 0 < learnt < of == 15
    assert state_of(campaign) == before  # people go on with what there was, and whoever looks is told
    campaign.patience = 0.0
    assert campaign.dashboard(201.0)["anew"] == {"learnt": learnt, "of": of}
    # Another process takes the model away: it makes what is due, and the first one takes that over.
    other.refresh()
    assert other.anew is None
    assert state_of(other) != before
    campaign.refresh()
    campaign.learn()
    assert campaign.anew is None
    assert state_of(campaign) == state_of(other)
    told = []
    campaign.serve([Include("boss", "i1", "bob")], 202.0, learn=False)
    campaign.complete(lambda *far: told.append(far))
    assert told[0] < told[-1] <= (38, 38)
    assert state_of(campaign) == before
    folded(campaign)


def test_a_model_whose_fits_cannot_be_made_anew_goes_on_without(campaign, monkeypatch, caplog):
    play(campaign, ["ann", "bob"], price, 30)
    monkeypatch.setattr(FittedMean, "fit", lambda self, state: 1 / 0)
    campaign.serve([Exclude("boss", "x1", "bob")], 200.0, learn=False)
    with caplog.at_level(logging.ERROR):
        campaign.complete()
    assert campaign.anew is None
    assert campaign.projection.trainer.pending == 0
    assert "is tried again later" in caplog.text


def test_a_fit_made_elsewhere_takes_effect_where_it_is_written(campaign):
    play(campaign, ["ann"], price, 5)
    answers = campaign.serve
    campaign.serve = lambda requests, now: answers(requests, now, learn=False)
    play(campaign, ["ann"], price, 1, start=10.0)
    campaign.learn()
    due = campaign.due_fit()
    assert due.learnt == 6
    play(campaign, ["ann"], price, 4, start=20.0)
    campaign.learn()
    made = fit_of(due.learner, due.state)
    other = Campaign.open(campaign.store, campaign.name)
    [done] = answers([TakeFit(due, made)], 30.0, learn=False)
    assert done.count == 1
    assert campaign.due_fit() is None  # it is on its way
    campaign.learn()
    [entry] = fits_of(campaign)
    assert entry.event == Fitted(f"fit-{entry.seq}", 6, made.hash)
    assert campaign.projection.state.at > 6
    folded(campaign)
    # Another process that made one comes too late, and goes on with this one.
    due = other.due_fit()
    [done] = other.serve([TakeFit(due, fit_of(due.learner, due.state))], 31.0)
    assert done.count == 0
    assert state_of(other) == state_of(campaign)
    assert len(fits_of(campaign)) == 1


def test_a_fit_of_an_answer_taken_back_meanwhile_is_let_go(campaign):
    answers = campaign.serve
    campaign.serve = lambda requests, now: answers(requests, now, learn=False)
    play(campaign, ["ann"], price, 7)
    campaign.learn()
    due = campaign.due_fit()
    one(campaign, Undo("ann", "u1"), 50.0)
    [done] = answers([TakeFit(due, fit_of(due.learner, due.state))], 51.0, learn=False)
    assert done.count == 0
    assert not fits_of(campaign)
    assert campaign.store.fit(campaign.name, fit_of(due.learner, due.state).hash) is None


def test_a_fit_that_fails_stops_nobody(campaign, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("no fit")

    made = FittedMean.fit
    monkeypatch.setattr(FittedMean, "fit", fail)
    with caplog.at_level(logging.ERROR):
        play(campaign, ["ann"], price, 30)
    assert campaign.projection.answers == 30
    assert not fits_of(campaign)
    assert [record.getMessage() for record in caplog.records] == [
        "a fit of campaign c failed, and is tried again later"
    ]
    monkeypatch.setattr(FittedMean, "fit", made)
    play(campaign, ["ann"], price, 5, start=100.0)
    assert fits_of(campaign)
    folded(campaign)


def spoil(store, mark, data=None):
    with store._database.transaction() as session:
        session.run("DELETE FROM fits WHERE hash = ?", (mark,))
        if data is not None:
            session.run("INSERT INTO fits VALUES (1, ?, ?)", (mark, data))


@pytest.mark.parametrize("data", [None, b"damaged"])
def test_a_fit_that_is_missing_is_told(campaign, data, caplog):
    play(campaign, ["ann"], price, 20)
    kept, seq = fits_of(campaign)[-1].event, fits_of(campaign)[-1].seq
    spoil(campaign.store, kept.hash, data)
    assert verify(campaign.store, campaign.name).unfitted == (seq,)
    assert not verify(campaign.store, campaign.name).valid
    with caplog.at_level(logging.ERROR):
        other = Campaign.open(campaign.store, campaign.name, fresh=True)
    assert [record.getMessage() for record in caplog.records] == [
        f"the fit of entry {seq} is missing or damaged: the model goes on without it"
    ]
    play(other, ["ann"], price, 5, start=100.0)
    other.keep()
    assert not other.store.snapshots(other.name)  # such a state is no state of this log


def test_backups_have_fits(campaign):
    play(campaign, ["ann", "bob"], price, 25)
    out = io.BytesIO()
    backup(campaign.store, "c", out)
    with open_store("memory:") as store:
        for n, known in enumerate((None, {"ann"})):
            name = restore(store, io.BytesIO(out.getvalue()), f"again{n}", known=known)
            again = Campaign.open(store, name)
            assert state_of(again) == state_of(campaign)
            assert verify(store, name).valid
            store.delete(name)
        assert store._database.read("SELECT count(*) FROM fits") == [(0,)]


def test_fits_of_strangers_are_checked(campaign, store):
    play(campaign, ["ann"], price, 8)
    out = io.BytesIO()
    backup(store, "c", out)
    mark = fits_of(campaign)[0].event.hash
    for member, data, told in (
        (f"fits/{mark}", b"[]\n", "is not what it was"),
        (f"fits/{'0' * 64}", b"[]\n", "is not what it was"),
        ("fits/../x", b"", "refused"),
    ):
        changed = io.BytesIO()
        with zipfile.ZipFile(out) as source, zipfile.ZipFile(changed, "w") as copy:
            members = {name: source.read(name) for name in source.namelist()} | {member: data}
            for name, content in members.items():
                copy.writestr(name, content)
        with pytest.raises(InvalidFile, match=told):
            restore(store, changed, "other")
    assert [record.name for record in store.campaigns()] == ["c"]


def test_a_fit_that_its_learner_cannot_take_is_refused(campaign, store):
    serve, odd = campaign.serve, pack({"other": np.zeros(3)})
    campaign.serve = lambda requests, now: serve(requests, now, learn=False)
    play(campaign, ["ann"], price, 8)
    campaign.learn()
    serve([TakeFit(campaign.due_fit(), Fit(digest(odd), odd))], 20.0, learn=False)
    out = io.BytesIO()
    backup(store, "c", out)
    with pytest.raises(InvalidFile, match="no campaign can be made of it"):
        restore(store, out, "other", known=set())
    assert [record.name for record in store.campaigns()] == ["c"]


def test_nobody_else_names_an_event_as_a_fit(campaign):
    play(campaign, ["ann"], price, 2)
    with pytest.raises(InvalidArgument, match="not beginning with"):
        one(campaign, Undo("ann", "fit-9"), 9.0)


def test_older_stores_get_a_place_for_fits(store_url):
    if store_url == "memory:":
        return
    with open_store(store_url) as store:
        stage_fitted(store)
        with store._database.transaction() as session:
            session.run("DROP TABLE fits")
            session.run("DELETE FROM migrations WHERE number > 1")
    with open_store(store_url) as store:
        campaign = Campaign.open(store, "c")
        play(campaign, ["ann"], price, 10)
        assert fits_of(campaign)
        folded(campaign)
        store.delete("c")
        assert store._database.read("SELECT count(*) FROM fits") == [(0,)]
