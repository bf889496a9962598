"""askone replay --refit: each fit is made anew, compared with the kept one, and kept again where that is missing."""

from contextlib import closing

import numpy as np
import pytest

import askone
from answered import answer
from askone.campaign.campaign import Campaign
from askone.store.open import open_store
from commands import ask
from refitting import FittedMean


@pytest.fixture(autouse=True)
def bikes(here, fitted):
    (here / "bikes.csv").write_text("id,size\n" + "".join(f"r{i},{i / 10}\n" for i in range(40)))
    made = ["new", "bikes.csv", "--kind", "number", "--low", "0", "--high", "2000", "--set", "learner.learner=fitted"]
    ask(*made)
    with closing(open_store("askone.db")) as store:
        campaign = Campaign.open(store, "bikes")
        answer(campaign, 20)
        campaign.keep()


def lose(data=None):
    with closing(open_store("askone.db")) as store:
        entry = list(store.entries("bikes", kinds=("fitted",)))[1]
        with store._database.transaction() as session:
            session.run("DELETE FROM fits WHERE hash = ?", (entry.event.hash,))
        return entry


def replayed(*options, status=0):
    return ask("replay", "bikes", *options, status=status).out


def test_fits_made_anew_are_the_same():
    out = replayed("--refit")
    assert out.count(": the same.") > 3
    assert "the state is the same, bit for bit" in out
    assert "fit" not in replayed()


def test_a_fit_that_is_missing_is_made_and_kept_again():
    entry = lose()
    assert f"MISSING or damaged is the fit of entry {entry.seq}" in " ".join(ask("verify", status=1).out.split())
    assert "the same: it was missing, and is kept again" in " ".join(replayed("--refit").split())
    assert "MISSING" not in ask("verify").out


def test_another_processor_is_told_by_how_much_it_differs(monkeypatch):
    made = FittedMean.fit
    monkeypatch.setattr(FittedMean, "fit", lambda self, state: {**made(self, state), "slope": np.array([0.75])})
    monkeypatch.setattr(FittedMean, "predict", lambda self, state, X: np.full((len(X), 1), state.slope[0]))
    out = " ".join(replayed("--refit").split())
    assert "another: predictions of 40 rows differ by at most 0." in out
    assert "the state is the same, bit for bit" in out
    lose()
    assert "MISSING, and made anew it is another" in " ".join(replayed("--refit", status=1).split())


def test_without_somebody_a_fit_is_made_of_the_others():
    out = replayed("--without", "bob", "--out", "without.askone")
    assert "Without bob" in out
    assert askone.load("without.askone").stream_.state.at > 0
