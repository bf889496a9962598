"""States that are kept are a cache: whatever happens to one, the log says the same."""

import sqlite3
from contextlib import closing

import pytest

from askone.campaign.campaign import Campaign
from askone.store.open import open_store
from askone.store.verification import verify
from commands import ask
from staged import PRICES, play, price, stage, state_of


def flipped(url, place, campaign="c", order="DESC"):
    """Flip a bit of the state that was kept last, or of what was kept of the log."""
    chosen = "campaign = (SELECT id FROM campaigns WHERE name = ?)"
    with closing(sqlite3.connect(url)) as database, database:
        [(seq, data)] = database.execute(
            f"SELECT seq, data FROM snapshots WHERE {chosen} ORDER BY seq {order} LIMIT 1", (campaign,)
        )
        bad = bytearray(data)
        bad[place] ^= 1
        database.execute(f"UPDATE snapshots SET data = ? WHERE {chosen} AND seq = ?", (bytes(bad), campaign, seq))


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "askone.db")


@pytest.fixture
def store(url):
    """A store with two campaigns, whose states were kept."""
    with open_store(url) as store:
        for name in ("c", "d"):
            campaign = stage(store, PRICES, name=name)
            play(campaign, ["ann"], price, 12)
            campaign.keep()
        yield store


@pytest.mark.parametrize("place", [0, 300, -300, -1], ids=str)
def test_a_damaged_state_is_dropped_with_a_word_and_folded_anew(store, url, place, caplog):
    expected = state_of(Campaign.open(store, "c", fresh=True))
    flipped(url, place)
    verdict = verify(store, "c")
    assert (verdict.valid, verdict.broken, verdict.damaged) == (False, None, (12,))
    assert state_of(Campaign.open(store, "c")) == expected
    assert "campaign c: what was kept of its first 12 lessons is damaged" in caplog.text
    assert store.snapshots("c") == []
    assert verify(store, "c").valid


@pytest.mark.parametrize("how", ["flipped", "unreadable"])
def test_what_was_kept_of_the_log_is_dropped_if_it_is_damaged(store, url, how, caplog):
    expected, seq = state_of(Campaign.open(store, "c", fresh=True)), store.head("c")[0]
    if how == "flipped":
        flipped(url, -300, order="ASC")
        assert verify(store, "c").damaged == (seq,)
    else:
        store.keep_projection("c", seq, store.projection("c").fingerprint, b"PK no archive")
    assert state_of(Campaign.open(store, "c")) == expected
    assert "campaign c: what was kept of its log is damaged" in caplog.text
    assert store.projection("c") is None


def test_what_was_kept_of_another_log_is_not_used(store):
    """A store that was put back to an earlier time may go on otherwise: the hash of the last entry tells."""
    snapshot, other = store.projection("c"), stage(store, PRICES, name="e")
    play(other, ["bob"], price, 12)
    store.keep_projection("e", -snapshot.seq, snapshot.fingerprint, snapshot.data)
    assert state_of(Campaign.open(store, "e")) == state_of(other)


def test_opening_reads_only_what_came_after_what_was_kept(store, monkeypatch):
    seq, after = store.head("c")[0], []
    play(Campaign.open(store, "c"), ["bob"], price, 3, start=100.0)
    entries = type(store).entries

    def noted(one, name, **more):
        after.append(more.get("after", 0))
        return entries(one, name, **more)

    monkeypatch.setattr(type(store), "entries", noted)
    again = Campaign.open(store, "c")
    assert after == [0, seq]  # the settings, and what came later
    assert again.projection.seq == store.head("c")[0]
    assert [str(one.question) for one in again.projection.asked.values()] == [
        str(one.question) for one in Campaign.open(store, "c", fresh=True).projection.asked.values()
    ]


def test_a_state_that_was_moved_to_another_place_is_damaged(store, url):
    with closing(sqlite3.connect(url)) as database, database:
        database.execute("UPDATE snapshots SET seq = seq - 1")
    assert verify(store, "c").damaged == (11, store.head("c")[0] + 1)


def test_a_state_kept_without_a_hash_belongs_to_nothing(store, url, caplog):
    expected = state_of(Campaign.open(store, "c", fresh=True))
    with closing(sqlite3.connect(url)) as database, database:
        database.execute("UPDATE snapshots SET fingerprint = substr(fingerprint, 1, 64)")
    assert verify(store, "c").valid
    assert state_of(Campaign.open(store, "c")) == expected
    assert not caplog.text


def test_a_state_that_cannot_be_read_is_dropped_though_it_is_as_it_was_kept(store, caplog):
    [snapshot] = store.snapshots("c")
    store.keep_snapshot("c", snapshot.seq, snapshot.fingerprint, b"PK no archive")
    assert state_of(Campaign.open(store, "c")) == state_of(Campaign.open(store, "c", fresh=True))
    assert "is dropped" in caplog.text


def test_status_and_verify_look_at_all_campaigns_though_one_is_broken(store, url):
    flipped(url, -300, "d")
    assert "DAMAGED is what was kept at 12" in " ".join(ask("verify", "--store", url, status=1).out.split())
    with closing(sqlite3.connect(url)) as database, database:
        database.execute("UPDATE campaigns SET learner = ? WHERE name = 'c'", (b"no learner",))
    out = ask("status", "--store", url, status=1).out
    assert "broken" in out
    assert "│ d " in out
