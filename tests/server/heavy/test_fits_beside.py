"""Fits are made beside: people are served meanwhile, and the log says where a fit took effect."""

import logging
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Exclude, Next
from askone.learners import registry
from askone.server._campaign_service import CampaignService
from askone.server._upload_folder import Uploads
from askone.server.heavy import fits_beside
from askone.server.heavy.fits_beside import FitsBeside
from refitting import FittedMean
from sites import LOOSE
from staged import fits_of, play, price, stage_fitted
from waiting import HANGS, until

pytestmark = pytest.mark.usefixtures("fitted")


@pytest.fixture
def beside():
    fits = FitsBeside(LOOSE)
    yield fits
    fits.close()


@pytest.fixture
def campaign(store):
    return stage_fitted(store)


def answered(service, count, start=0):
    """Somebody answers so many questions, one after the other, as the worker of a server has it."""
    [serving] = service.serve([Next("ann")], 1.0)
    for n in range(start, start + count):
        [serving] = service.serve([Answer("ann", serving.question.lease, n % 3 == 0, f"a{n}")], 2.0 + n)
        service.learn(lambda: True)


def same(campaign, other):
    states = [one.projection.learner.to_arrays(one.projection.state) for one in (campaign, other)]
    return all(states[0][name].tobytes() == array.tobytes() for name, array in states[1].items())


def test_nobody_waits_for_a_fit(any_store, beside, monkeypatch):
    campaign = stage_fitted(any_store)
    go_on, made = threading.Event(), FittedMean.fit

    def slow(self, state):
        assert go_on.wait(HANGS)
        return made(self, state)

    monkeypatch.setattr(FittedMean, "fit", slow)
    service = CampaignService(campaign, beside.consider)
    answered(service, 20)
    assert campaign.projection.answers == 20
    assert not fits_of(campaign)
    go_on.set()
    until(lambda: fits_of(campaign))
    [entry] = fits_of(campaign)[:1]
    assert entry.event.learnt < 12 < entry.seq  # made of fewer answers than there were when it took effect
    answered(service, 10, start=20)
    until(lambda: not beside._begun)
    service.learn(lambda: True)
    until(lambda: not beside._begun)
    campaign.learn()
    assert same(campaign, Campaign.open(campaign.store, campaign.name, fresh=True))


def test_a_process_of_its_own_makes_them(campaign, beside, monkeypatch, tmp_path):
    """It knows the learner by what Python loads at its start."""
    (tmp_path / "sitecustomize.py").write_text("import refitting; refitting.register()\n")
    helpers = Path(__file__).parents[2] / "helpers"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(helpers), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(FittedMean, "fit", None)  # not here
    with monkeypatch.context() as nobody:
        nobody.setattr(registry, "names", tuple)
        answered(CampaignService(campaign, beside.consider), 8)
        until(lambda: fits_of(campaign))
        until(lambda: not beside._begun)
    campaign.learn()
    assert campaign.projection.state.at >= 6
    assert same(campaign, Campaign.open(campaign.store, campaign.name, fresh=True))
    beside.sweep()
    assert beside._thread.submit(lambda: beside._child).result() is not None  # for the next one
    monkeypatch.setattr(fits_beside, "_IDLE", 0.0)
    beside.sweep()
    assert beside._thread.submit(lambda: beside._child).result() is None


def test_what_a_killed_server_left_of_a_fit_is_swept(tmp_path):
    uploads = Uploads(replace(LOOSE, directory=tmp_path))
    for name in ("old", "new"):
        (tmp_path / f"{fits_beside.FIT}{name}").mkdir()
        (tmp_path / f"{fits_beside.FIT}{name}" / "state").write_bytes(b"...")
    os.utime(tmp_path / f"{fits_beside.FIT}old", (0.0, 0.0))
    uploads.sweep()
    uploads.close()
    assert [path.name for path in tmp_path.iterdir()] == [f"{fits_beside.FIT}new"]


def test_a_model_is_made_anew_though_nobody_comes_any_more(campaign, beside, monkeypatch):
    monkeypatch.setattr(fits_beside, "_NEXT", 0.001)  # there is hardly time for what comes after a fit
    play(campaign, ["ann", "bob"], price, 30)
    service = CampaignService(campaign, beside.consider)
    service.serve([Exclude("boss", "x1", "bob")], 99.0)
    assert service.anew() is not None
    service.learn(lambda: True)
    until(lambda: service.anew() is None)
    assert same(campaign, Campaign.open(campaign.store, campaign.name, fresh=True))
    assert len(campaign.projection.lessons.fits) > 3


def test_one_that_fails_is_told_and_stops_nobody(campaign, beside, monkeypatch, caplog):
    monkeypatch.setattr(FittedMean, "fit", None)
    service = CampaignService(campaign, beside.consider)
    with caplog.at_level(logging.ERROR):
        answered(service, 7)
        until(lambda: not beside._begun)
        assert campaign.due_fit() is None  # not before there are more answers
        answered(service, 8, start=7)
        until(lambda: not beside._begun)
    assert [record.getMessage() for record in caplog.records] == [
        "a fit of campaign c failed, and is tried again later"
    ]
    assert campaign.projection.answers == 15


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of threads are Linux's")
def test_the_thread_that_waits_for_it_is_as_quick_as_others(beside):
    """It holds the interpreter now and then: one that gave way meanwhile would keep whoever serves waiting."""

    def priority():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert beside._thread.submit(priority).result() == priority()


def test_a_server_that_ends_does_not_wait_for_a_process(campaign, monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(600)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(registry, "names", tuple)
    fits = FitsBeside(LOOSE)
    answered(CampaignService(campaign, fits.consider), 8)
    until(lambda: fits._child)
    fits.close()
    assert not fits_of(campaign)
    assert not fits._begun
