"""One contract for memory, SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra server")

from askone.errors import AlreadyExists, DuplicateEvent, InvalidArgument, InvalidFile, StoreUnavailable, UnknownCampaign
from askone.questions.half_space import HalfSpace
from askone.session.log import Answered, Asked
from askone.store import _campaigns, _schema
from askone.store.entries import BEGINNING, Entry, Row, Seat, body, chain
from askone.store.notices import Began, Grown, StatusChanged
from askone.store.open import open_store
from askone.store.transactions import HEAD, Transaction
from askone.store.verification import verify
from stores import at_once
from waiting import HANGS


def some_rows(n, start=0, dtype=np.float32):
    return [
        Row(-1, f"k{i}", {"size": i, "name": "Zoë\n\0"}, np.array([i, 0.1], dtype), i if i % 3 == 0 else None)
        for i in range(start, start + n)
    ]


def began(n, mark):
    return Entry(Began("begin", {"a": 0.1}, n, mark), "ann", 5.0)


def make(store, name="c", n=5):
    store.create(name, "Title", "ann", b"learner", began, [some_rows(n)])


@pytest.fixture
def made(any_store):
    """A store with a campaign."""
    make(any_store)
    return any_store


@pytest.fixture
def far(postgres_url):
    """A store in PostgreSQL."""
    with open_store(postgres_url) as store:
        yield store


def note(i):
    return Entry(StatusChanged(f"t{i}", "paused"), "bob", float(i))


def write(store, entries, name="c", **seats):
    with store.transaction(name) as transaction:
        return transaction.write(entries, **seats)


def check_chain(store, name="c"):
    lines = list(store.lines(name))
    before = BEGINNING
    for seq, line in enumerate(lines, start=1):
        assert line.seq == seq
        before = chain(before, line.body)
        assert line.hash == before
        assert body(line.entry()) == line.body
    assert store.head(name) == (len(lines), before)
    return lines


def test_a_campaign_is_made_and_read(any_store):
    any_store.ping()
    assert any_store.campaigns() == []
    make(any_store)
    record = any_store.campaign("c")
    assert (record.name, record.title, record.owner, record.created, record.rows) == ("c", "Title", "ann", 5.0, 5)
    assert any_store.campaigns() == [record]
    assert any_store.learner("c") == b"learner"
    (first,) = any_store.entries("c")
    assert first.event == Began("begin", {"a": 0.1}, 5, record.fingerprint)
    check_chain(any_store)


def test_rows_come_back_as_they_went(any_store):
    any_store.create("c", "", "", b"", began, [some_rows(4), [], some_rows(3, 4)])
    for row, wanted in zip(any_store.rows("c", [6, 0, 6]), (6, 0, 6), strict=True):
        assert (row.position, row.key, row.content) == (wanted, f"k{wanted}", {"size": wanted, "name": "Zoë\n\0"})
        assert row.features.dtype == np.float32
        np.testing.assert_array_equal(row.features, np.array([wanted, 0.1], np.float32))
        assert row.gold == wanted
    assert any_store.rows("c", []) == []
    numbers = any_store.features("c", [6, 0, 6])
    assert np.array_equal(numbers, [row.features for row in any_store.rows("c", [6, 0, 6])])
    assert any_store.gold("c") == [0, 3, 6]
    pages = list(any_store.row_pages("c", size=3, after=0))
    assert [[row.position for row in page] for page in pages] == [[1, 2, 3], [4, 5, 6]]
    assert any_store.row_by_key("c", "k5").position == 5
    assert any_store.row_by_key("c", "no") is None
    with pytest.raises(InvalidArgument, match="positions must be below 7"):
        any_store.rows("c", [7])
    with pytest.raises(InvalidArgument, match="positions must be below 7"):
        any_store.features("c", [0, 7])
    with pytest.raises(InvalidArgument, match="positions must be below 7"):
        any_store.rows("c", [10**30])


def test_the_fingerprint_is_that_of_the_rows_however_chunked(any_store):
    any_store.create("a", "", "", b"", began, [some_rows(7)])
    any_store.create("b", "", "", b"", began, [some_rows(3), some_rows(4, 3)])
    any_store.create("d", "", "", b"", began, [some_rows(6)])
    marks = [any_store.campaign(name).fingerprint for name in "abd"]
    assert marks[0] == marks[1] != marks[2]


BAD_ROWS = [
    (Row(0, "x", {"a": math.nan}, np.zeros(2)), "content"),
    (Row(0, "x", {"a": "\ud800"}, np.zeros(2)), "content"),
    (Row(0, "x\0", {}, np.zeros(2)), "key"),
    (Row(0, "x", {}, np.array([1.0, math.inf])), "features"),
    (Row(0, "x", {}, np.zeros(3)), "features"),
    (Row(0, "x", {}, np.array(["a", "b"])), "features"),
    (Row(0, "x", {}, np.zeros(2), math.nan), "gold"),
    (Row(0, "k1", {}, np.zeros(2)), "rows"),
]


def test_bad_rows_are_refused_and_nothing_is_left(any_store):
    for row, argument in BAD_ROWS:
        with pytest.raises(InvalidArgument) as caught:
            any_store.create("c", "", "", b"", began, [some_rows(3, dtype=np.float64), [row]])
        assert caught.value.argument == argument
        assert any_store.campaigns() == []
        assert any_store._database.read("SELECT count(*) FROM table_rows") == [(0,)]
        assert any_store._database.read("SELECT count(*) FROM campaigns") == [(0,)]
    make(any_store)


def test_names(made):
    with pytest.raises(AlreadyExists):
        make(made)
    for name in ("", "a/b", "../a", "a b", "é", "x" * 101, ".a", "a\0", "a'; DROP TABLE campaigns; --"):
        with pytest.raises(InvalidArgument):
            make(made, name)
        for read in (made.campaign, made.learner, made.head, made.delete, made.gold):
            with pytest.raises(UnknownCampaign):
                read(name)
        with pytest.raises(UnknownCampaign), made.transaction(name):
            pass
    for use in (
        lambda: list(made.entries("no")),
        lambda: made.row_by_key("no", "a"),
        lambda: made.rows("no", [0]),
        lambda: list(made.row_pages("no")),
        lambda: made.keep_snapshot("no", 1, "", b""),
        lambda: made.add_media("no", [("a", "b", b"")]),
        lambda: made.grow("no", [], began),
    ):
        with pytest.raises(UnknownCampaign, match="there is no campaign 'no'"):
            use()


def test_two_that_make_the_same_name(any_store):
    def rows():
        yield some_rows(2)
        any_store.create("c", "first", "", b"", began, [some_rows(1)])
        yield some_rows(2, 2)

    with pytest.raises(AlreadyExists):
        any_store.create("c", "second", "", b"", began, rows())
    assert any_store.campaign("c").title == "first"
    assert any_store._database.read("SELECT count(*) FROM table_rows") == [(1,)]


def test_a_turn_appends_and_numbers(made):
    question = HalfSpace((1.0,), 0.1 + 0.2, number=3)
    asked = Entry(Asked("q", "k1", question, 0), "bob", 1.7e9 + 0.1, aside={"role": "exam", "é": None})
    answered = Entry(Answered("a", "q", True), "bob", 2.0, took=0.1)
    with made.transaction("c") as transaction:
        first = transaction.write([asked])
        second = transaction.write([answered, note(1)])
        assert transaction.head == (4, second[-1].hash)
        assert transaction.tail(1) == [*first, *second]
    assert [entry.seq for entry in (*first, *second)] == [2, 3, 4]
    assert list(made.entries("c", after=1)) == [*first, *second]
    assert check_chain(made)[1].number == 3
    with made.transaction("c") as transaction:
        assert transaction.tail(4) == []
        assert transaction.known(["a", "no", "q", "a"]) == {"a": second[0], "q": first[0]}
        assert transaction.known([]) == {}
    assert made.times("c", ["a", "no", "q"]) == {
        event: one.took for event, one in made.known("c", ["a", "no", "q"]).items() if one.took
    }
    assert made.times("c", []) == {}


def test_reading_by_kind_and_limit(made):
    with made.transaction("c") as transaction:
        for i in range(10):
            transaction.write([note(i), Entry(Answered(f"a{i}", "q", True))])
    seqs = [entry.seq for entry in made.entries("c", after=1, limit=4)]
    assert seqs == [2, 3, 4, 5]
    assert [entry.id for entry in made.entries("c", kinds=["turned"])] == [f"t{i}" for i in range(10)]
    both = [entry.seq for entry in made.entries("c", kinds=["began", "answered", "no"], limit=3)]
    assert both == [1, 3, 5]
    assert list(made.entries("c", kinds=[])) == []


def test_reading_in_pages_sees_the_log_as_it_was(any_store, monkeypatch):
    monkeypatch.setattr("askone.store.store.PAGE", 3)
    make(any_store)
    write(any_store, [note(i) for i in range(10)])
    reading = any_store.entries("c")
    seen = [next(reading).seq]
    write(any_store, [note(99)])
    assert seen + [entry.seq for entry in reading] == list(range(1, 12))
    reading = any_store.entries("c")
    next(reading)
    any_store.delete("c")
    with pytest.raises(UnknownCampaign):
        list(reading)


def test_a_turn_that_raises_leaves_nothing(made):
    with pytest.raises(ZeroDivisionError), made.transaction("c") as transaction:
        assert transaction.write([note(1)], put=[Seat(1, 0, 0)]) == 1 / 0
    assert made.head("c")[0] == 1
    with made.transaction("c") as transaction:
        assert transaction.seats(numbers=[1]) == []


def test_a_turn_in_which_a_write_failed_is_not_kept(any_store):
    def swallow():
        with any_store.transaction("c") as transaction:
            transaction.write([note(1)])
            with contextlib.suppress(DuplicateEvent):
                transaction.write([note(2), note(1)])

    make(any_store)
    with pytest.raises(StoreUnavailable, match="nothing of this transaction is kept"):
        swallow()
    assert len(check_chain(any_store)) == 1


def test_a_turn_is_over_when_it_is_over(made):
    with made.transaction("c") as transaction:
        transaction.write([note(1)])
    with pytest.raises(made._database._driver.Error, match="closed"):
        transaction.write([note(2)])
    assert made.head("c")[0] == 2


def test_what_is_in_use_when_a_store_is_closed_is_closed_afterwards(tmp_path):
    used = []
    with open_store(str(tmp_path / "s.db")) as store:
        with store._database.transaction() as session:
            used.append(session.cursor.connection)
            store.close()
        with store._database.transaction() as session:
            used.append(session.cursor.connection)
    for connection in used:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_a_new_file_is_opened_by_many_at_once(tmp_path):
    stores = at_once(lambda _: open_store(str(tmp_path / "s.db")), 6)
    make(stores[0])
    for store in stores:
        assert store.campaign("c").rows == 5
        store.close()


def test_an_id_is_logged_once(made):
    make(made, "d")
    for name in "cd":
        write(made, [note(1)], name=name)
    for again, which in (([note(1)], "t1"), ([note(2), note(1)], "t1"), ([note(3), note(3)], "t3")):
        with pytest.raises(DuplicateEvent) as caught, made.transaction("c") as transaction:
            transaction.write(again)
        assert str(caught.value) == f"the log has an event '{which}' already"
    assert [line.id for line in check_chain(made)] == ["begin", "t1"]


BAD_ENTRIES = [
    Entry(StatusChanged("x", "paused"), "ann", math.nan),
    Entry(StatusChanged("x", "paused"), "ann", 1.0, took=math.inf),
    Entry(StatusChanged("x", "paused"), "ann", 1.0, aside={"p": math.nan}),
    Entry(StatusChanged("x", "paused"), "ann", 1.0, aside={"p": {1, 2}}),
    Entry(StatusChanged("x\0", "paused"), "ann", 1.0),
    Entry(StatusChanged("x", "paused"), "a\0n", 1.0),
    Entry(StatusChanged("x", "paused"), "\udfff", 1.0),
]


def test_what_a_log_cannot_hold_is_refused(made):
    for bad in BAD_ENTRIES:
        with pytest.raises(InvalidArgument), made.transaction("c") as transaction:
            transaction.write([note(1), bad])
    with pytest.raises(InvalidArgument), made.transaction("c") as transaction:
        transaction.write([note(1)], put=[Seat(1, 0, 0, expires=math.inf)])
    assert made.head("c")[0] == 1


def test_seats(made):
    make(made, "d")
    seats = [
        Seat(1, 0, 4, "ann", "l1", 10.0, {"yes": [1.5], "no": None, "é": '\0"\\'}),
        Seat(1, 1, 4, "bob", "l2", 20.0),
        Seat(2, 0, 3),
        Seat(3, 0, 2, "ann", "l3", 30.0),
    ]
    write(made, [], put=seats)
    write(made, [], put=[Seat(7, 0, 0, "ann", "l1")], name="d")
    with made.transaction("c") as transaction:
        assert transaction.seats() == []
        assert transaction.seats(people=["ann"]) == [seats[0], seats[3]]
        assert transaction.seats(leases=["l2", "no"]) == [seats[1]]
        assert transaction.seats(numbers=[1, 9]) == seats[:2]
        assert transaction.seats(["bob", "ann"], ["l1"], [1, 2]) == seats
        assert transaction.free(15.0, 10) == [seats[0], seats[2]]
        assert transaction.free(15.0, 1) == [seats[0]]
        assert transaction.free(15.0, 10, after=(1, 0)) == [seats[2]]
        moved = Seat(2, 0, 3, "eve", "l4", 40.0)
        transaction.write([note(1)], put=[Seat(2, 0, 9), moved], drop=[(1, 0), (1, 0), (2, 0), (8, 8)])
        assert transaction.seats(numbers=[1, 2, 3]) == [seats[1], moved, seats[3]]


def test_rows_are_added(made):
    before = made.campaign("c").fingerprint
    added = made.grow("c", [some_rows(2, 5), some_rows(2, 7)], lambda n, mark: Entry(Grown("g", n, mark)))
    assert added == 4
    record = made.campaign("c")
    assert record.rows == 9
    assert record.fingerprint != before
    assert [row.key for row in made.rows("c", range(9))] == [f"k{i}" for i in range(9)]
    assert list(made.entries("c"))[-1].event == Grown("g", 4, record.fingerprint)
    grown = lambda n, mark: Entry(Grown("h", n, mark))  # noqa: E731
    with pytest.raises(InvalidArgument, match="keys that the campaign does not have"):
        made.grow("c", [some_rows(1, 8)], grown)
    with pytest.raises(InvalidArgument, match="features"):
        made.grow("c", [[Row(0, "w", {}, np.zeros(3, np.float32))]], grown)
    assert made.campaign("c") == record
    assert made._database.read("SELECT count(*) FROM table_rows") == [(9,)]
    check_chain(made)


def test_a_campaign_without_rows_gets_them_later(any_store):
    any_store.create("c", "", "", b"", began, [])
    assert any_store.campaign("c").rows == 0
    assert list(any_store.row_pages("c")) == []
    any_store.grow("c", [some_rows(2, dtype=np.float64)], lambda n, mark: Entry(Grown("g", n, mark)))
    assert any_store.rows("c", [1])[0].features.dtype == np.float64


def test_a_campaign_from_elsewhere_keeps_its_log(made):
    write(made, [note(i) for i in range(5)])
    entries = list(made.entries("c"))
    made.create("d", "", "", b"", lambda n, mark: entries[0], [some_rows(5)], [entries[1:3], entries[3:], []])
    assert list(made.lines("d")) == list(made.lines("c"))


def test_media(any_store):
    def rows():
        yield some_rows(1)
        any_store.add_media("c", [("early", "image/png", b"\0\1")])

    any_store.create("c", "", "", b"", began, rows())
    any_store.add_media("c", [("a", "image/png", b"1"), ("a", "image/jpeg", b"2")])
    assert any_store.media("c", "a") == ("image/jpeg", b"2")
    assert any_store.media("c", "early") == ("image/png", b"\0\1")
    assert any_store.media("c", "b") is None
    assert any_store.media("no", "a") is None
    assert any_store.media_keys("c") == ["a", "early"]


def test_the_last_two_snapshots_stay(made):
    assert made.snapshots("c") == []
    for seq in (1, 5, 3, 9):
        made.keep_snapshot("c", seq, f"f{seq}", bytes([seq]))
    made.keep_snapshot("c", 9, "again", b"x")
    assert made.snapshots("c")[-1] == (9, "again", b"x")
    assert made._database.read("SELECT seq FROM snapshots ORDER BY seq") == [(3,), (9,)]
    assert made.snapshots("c") == [(3, "f3", b"\3"), (9, "again", b"x")]
    made.keep_snapshot("c", 4, "less", b"y")  # after answers were taken back: what has more would hide it
    assert made.snapshots("c")[-1] == (4, "less", b"y")


def test_a_campaign_is_deleted_with_all_it_has(any_store, monkeypatch):
    monkeypatch.setattr(_campaigns, "CHUNK", 3)
    make(any_store, "c", 10)
    make(any_store, "d")
    write(any_store, [note(i) for i in range(8)], put=[Seat(i, 0, 0) for i in range(7)])
    any_store.add_media("c", [(str(i), "t", b"") for i in range(5)])
    any_store.keep_snapshot("c", 1, "", b"")
    any_store.delete("c")
    assert [record.name for record in any_store.campaigns()] == ["d"]
    for table in _schema.KEPT:
        assert any_store._database.read(f"SELECT count(*) FROM {table} WHERE campaign = 1") == [(0,)]
    check_chain(any_store, "d")
    make(any_store, "c")
    with pytest.raises(UnknownCampaign):
        any_store.delete("no")


GENERAL = ["UPDATE entries SET who = 'eve' WHERE seq = 2", "UPDATE entries SET body = body", "DELETE FROM campaigns"]
GENERAL += ["DELETE FROM entries WHERE seq = 2", "DELETE FROM entries"]
_COLUMNS = "campaign, {}, id, kind, 'eve', at, number, body, hash"
SPECIAL = {
    "postgresql": ["TRUNCATE entries", "TRUNCATE campaigns CASCADE"],
    "sqlite": [
        f"INSERT OR REPLACE INTO entries SELECT {_COLUMNS.format(seq)} FROM entries" for seq in ("seq", "3", "seq + 5")
    ],
}


def test_the_log_is_append_only(made):
    write(made, [note(1)])
    kept = list(made.lines("c"))
    for statement in (*GENERAL, *SPECIAL[made.dialect]):
        with pytest.raises(made._database.conflict), made._database.transaction() as session:
            session.run(statement)
        assert list(made.lines("c")) == kept


def test_verify_finds_what_was_changed(made):
    made.grow("c", [some_rows(2, 5)], lambda n, mark: Entry(Grown("g", n, mark)))
    write(made, [note(i) for i in range(4)])
    good = verify(made, "c")
    assert (good.valid, good.entries, good.rows, good.head) == (True, 6, 7, made.head("c")[1])
    changes = [
        ("UPDATE entries SET body = replace(body, 'paused', 'closed') WHERE seq = 4", 4, "hash"),
        ("UPDATE entries SET who = 'eve' WHERE seq = 5", 5, "columns"),
        ("DELETE FROM entries WHERE seq = 3", 3, "missing"),
        ("DELETE FROM entries", 1, "missing"),
        ("UPDATE table_rows SET content = '{}' WHERE position = 2", 1, "rows"),
        ("UPDATE table_rows SET gold = '1' WHERE position = 5", 2, "rows"),
        ("UPDATE table_rows SET position = 99 WHERE position = 6", None, ""),
    ]
    for statement, broken, reason in changes:
        check_change(made, statement, broken, reason)
    assert verify(made, "c") == good


def check_change(store, statement, broken, reason):
    """What a check says after a change by somebody who can also take the triggers away; then all is put back."""
    off = ["DROP TRIGGER entries_stay", "DROP TRIGGER entries_remain", "DROP TRIGGER entries_follow"]
    if store.dialect == "postgresql":
        off = [f"{text} ON entries" for text in off[:2]]
    saved = {table: store._database.read(f"SELECT * FROM {table}") for table in ("entries", "table_rows")}
    with store._database.transaction() as session:
        for text in [*off, statement]:
            session.run(text)
    if broken is None:
        with pytest.raises(UnknownCampaign):
            verify(store, "c")
    else:
        verdict = verify(store, "c")
        assert (verdict.valid, verdict.broken) == (False, broken), statement
        assert reason in verdict.reason
    with store._database.transaction() as session:
        for table, records in saved.items():
            session.run(f"DELETE FROM {table}")
            session.many(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in records[0])})", records)
        for text in [text for text in _schema.whole(store._database.engine.dialect) if "CREATE TRIGGER" in text]:
            session.cursor.execute(text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))


def test_threads_append_and_a_reader_misses_nothing(made):
    threads, each, seen, done = 4, 15, [], threading.Event()

    def append(name):
        for i in range(each):
            write(made, [Entry(StatusChanged(f"{name}-{i}", "paused"), name)], put=[Seat(i, 0, 0, name)])

    def read():
        while not done.is_set() or len(seen) < 1 + threads * each:
            seen.extend(entry.seq for entry in made.entries("c", after=len(seen)))

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=append, args=(f"w{i}",)) for i in range(threads)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert seen == list(range(1, 2 + threads * each))
    assert len(check_chain(made)) == 1 + threads * each


def test_one_of_many_threads_with_the_same_event_wins(made):

    def append(_):
        try:
            write(made, [note(1)])
        except DuplicateEvent:
            return "twice"
        return "in"

    assert sorted(at_once(append, 8)) == ["in"] + ["twice"] * 7


def test_processes_are_killed_and_nothing_acknowledged_is_lost(tmp_path, postgres_url):
    script = str(Path(__file__).resolve().parents[1] / "helpers" / "crashing.py")
    done = subprocess.run(
        [sys.executable, script, str(tmp_path / "s.db"), postgres_url], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "all there\n"), done.stderr


def test_what_a_dead_maker_left_is_taken_away_in_time(any_store, monkeypatch):
    database = any_store._database
    number = _campaigns._hidden(database)
    assert _campaigns.sweep(database) == 0, "made by this very process"
    monkeypatch.setattr(_campaigns, "_PROCESS", "another")
    assert _campaigns._is_dead(f"{os.getpid()} before {platform.node()}"), "this number, another process"
    assert not _campaigns._is_dead(f"{os.getppid()} other {platform.node()}")
    assert not _campaigns._is_dead("1 other elsewhere")
    with database.transaction() as session:
        session.run("UPDATE campaigns SET maker = '1 other elsewhere' WHERE id = ?", (number,))
    assert _campaigns.sweep(database, time.time() + _campaigns.LONG_GONE - 60) == 0
    assert _campaigns.sweep(database, time.time() + _campaigns.LONG_GONE + 60) == 1
    assert database.read("SELECT count(*) FROM campaigns") == [(0,)]


lasting = pytest.mark.parametrize("store_url", ["sqlite", "postgresql"], indirect=True)


@lasting
def test_a_store_is_opened_again(store_url):
    store = open_store(store_url)
    make(store)
    kept = list(store.lines("c"))
    store.close()
    store = open_store(store_url)
    assert list(store.lines("c")) == kept
    assert store._database.read("SELECT max(number) FROM migrations") == [(_schema.version(),)]
    store.close()


@lasting
def test_a_newer_database_is_refused(store_url):
    store = open_store(store_url)
    with store._database.transaction() as session:
        session.run("INSERT INTO migrations VALUES (?, 0)", (_schema.version() + 1,))
    store.close()
    with pytest.raises(InvalidFile, match="written by a newer askone"):
        open_store(store_url)


@lasting
def test_an_older_database_is_brought_up_to_date(store_url, tmp_path, monkeypatch):
    store = open_store(store_url)
    make(store)
    kept = list(store.lines("c"))
    store.close()
    steps, last = _schema.MIGRATIONS, _schema.version()
    broken = [*steps, lambda dialect: ["ALTER TABLE campaigns ADD COLUMN more TEXT", "broken"]]
    monkeypatch.setattr(_schema, "MIGRATIONS", broken)
    with pytest.raises(Exception, match="syntax error"):
        open_store(store_url)
    monkeypatch.setattr(_schema, "MIGRATIONS", [*steps, lambda dialect: ["ALTER TABLE campaigns ADD COLUMN more TEXT"]])
    store = open_store(store_url)
    assert store._database.read("SELECT name, more FROM campaigns") == [("c", None)]
    assert store._database.read("SELECT max(number) FROM migrations") == [(last + 1,)]
    assert list(store.lines("c")) == kept
    store.close()
    if store.dialect == "sqlite":
        monkeypatch.setattr(_schema, "MIGRATIONS", steps)
        copies = sorted(tmp_path.glob(f"store.db.version-{last}*"))
        assert [path.name for path in copies] == [f"store.db.version-{last}", f"store.db.version-{last}.2"]
        assert stat.S_IMODE(copies[1].stat().st_mode) == 0o600
        copy = open_store(str(copies[1]))
        assert list(copy.lines("c")) == kept
        copy.close()


def test_files_are_for_their_owner_alone(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/s.db")
    make(store)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert {path.name for path in tmp_path.iterdir()} == {"s.db", "s.db-wal", "s.db-shm"}
    assert store._database.read("PRAGMA journal_mode") == [("wal",)]
    assert store._database.read("PRAGMA synchronous") == [(2,)]
    assert store._database.read("PRAGMA foreign_keys") == [(1,)]
    store.close()


def test_addresses(tmp_path):
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE things (a)")
    other.close()
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(InvalidFile, match="of another program"):
        open_store(str(tmp_path / "other.db"))
    with pytest.raises(InvalidFile, match="not a database"):
        open_store(str(tmp_path / "text.db"))
    for url in (str(tmp_path), str(tmp_path / "no" / "s.db"), "mysql://u:canary@h/d", "postgresql://u:canary@h:port/d"):
        with pytest.raises(InvalidArgument, match="url must be") as caught:
            open_store(url)
        assert "canary" not in str(caught.value)


def test_a_password_is_never_shown(far):
    assert "canary" not in repr(far) + far.url + repr(vars(far)) + repr(far._database.engine)
    for url in ("postgresql://u:canary@127.0.0.1:1/d", "postgresql://u@127.0.0.1:1/d?password=canary"):
        with pytest.raises(StoreUnavailable) as caught:
            open_store(url)
        assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_was_away_is_used_again(far, postgres):
    make(far)
    postgres.stop()
    for use in (far.ping, lambda: list(far.entries("c")), lambda: far.campaigns()):
        with pytest.raises(StoreUnavailable):
            use()
    with pytest.raises(StoreUnavailable), far.transaction("c"):
        pass
    postgres.start()
    write(far, [note(1)])
    far.ping()
    with pytest.raises(StoreUnavailable), far.transaction("c") as transaction:
        assert [transaction.write([note(2)]), postgres.stop()]
    postgres.start()
    assert [line.id for line in check_chain(far)] == ["begin", "t1"]


def test_connections_that_were_cut_while_idle_are_made_anew(far, postgres):
    make(far)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'askone'"
    postgres.run(cut)
    assert far.campaign("c").rows == 5
    postgres.run(cut)
    write(far, [note(1)])
    assert far.head("c")[0] == 2


def test_however_many_write_there_is_a_connection_to_read_by(far, monkeypatch):
    """Whoever has a turn reads rows by another connection."""
    monkeypatch.setattr(far._database.engine.pool, "_timeout", HANGS)
    names = [f"c{i}" for i in range(24)]
    for name in names:
        make(far, name)
    together = threading.Barrier(16)

    def take_turn(n):
        with far.transaction(names[n]):
            with contextlib.suppress(threading.BrokenBarrierError):
                together.wait(0.5)
            return far.rows(names[n], [0])[0].position

    read = at_once(take_turn, len(names))
    assert read == [0] * len(names)


@pytest.mark.parametrize("how", ["terminate", "cancel"])
def test_a_connection_that_is_cut_between_several_answers_does_no_harm(far, postgres, how):
    make(far)
    write(far, [note(1)])

    def be_cut(session):
        cut, over = f"SELECT pg_{how}_backend({session.cursor.connection.info.backend_pid})", threading.Event()

        def again():  # the first time may be too early, when there is nothing to cancel yet
            while not over.wait(0.2):
                postgres.run(cut)

        cutting = threading.Thread(target=again)
        cutting.start()
        try:
            session.several([("SELECT 1", ()), ("SELECT pg_sleep(60)", ()), ("SELECT 2", ())])
        finally:
            over.set()
            cutting.join()

    with pytest.raises(StoreUnavailable), far.transaction("c") as transaction:
        be_cut(transaction._session)
    for i in range(2, 12):
        with far.transaction("c") as transaction:
            assert len(transaction.look(0, ["t1"], ["ann"], [], 1.0, 5).tail) == i
            transaction.write([note(i)])
    assert far._database.engine.pool.checkedout() == 0


def test_a_busy_database_is_said_to_be_so(tmp_path, monkeypatch):
    monkeypatch.setattr("askone.store._sqlite.WAIT", 0.05)
    monkeypatch.setattr("askone.store._database.WAIT", 0.05)
    store = open_store(str(tmp_path / "s.db"))
    make(store)
    other = open_store(str(tmp_path / "s.db"))
    with store.transaction("c") as transaction:
        transaction.write([note(1)])
        assert other.head("c")[0] == 1, "readers do not wait"
        with pytest.raises(StoreUnavailable, match="locked"), other.transaction("c"):
            pass
    with other.transaction("c") as transaction:
        assert transaction.head[0] == 2
    store.close()
    other.close()


def test_the_end_of_a_log_is_found_without_sorting_it(any_store):
    if any_store.dialect == "postgresql":
        make(any_store)
        plan = any_store._database.read(f"EXPLAIN {HEAD}", ("c",))
        assert not any("Sort" in line for (line,) in plan), plan


def test_a_statement_finds_its_records_by_an_index():
    """However long a log is, a turn costs the same."""
    store = open_store("memory:")
    make(store)
    asked = []
    with store._database.transaction(lock="c") as session:
        fetch = session.fetch
        transaction = Transaction(
            SimpleNamespace(fetch=lambda text, values=(): asked.append((text, values)) or fetch(text, values)),
            store._database,
            "c",
        )
        transaction.tail(0)
        transaction.known(["a", "b"])
        transaction.seats(["a"], ["b"], [1])
        transaction.free(0.0, 1)
    for text, values in asked:
        plan = [record[3] for record in store._database.read(f"EXPLAIN QUERY PLAN {text}", values)]
        steps = [step for step in plan if "json_each" not in step and ("SCAN" in step or "SEARCH" in step)]
        assert steps
        assert all("=?" in step for step in steps), plan
        whole = [step for step in steps if step.endswith("(campaign=?)") and "LEFT-JOIN" not in step]
        assert not whole or "SELECT max(seq)" in text, plan  # that is read off the end of the index
    store.close()


def test_a_memory_is_not_closed_under_a_thread_that_reads_it():
    for _ in range(100):
        store, over = open_store("memory:"), threading.Event()

        def read(store=store, over=over):
            with contextlib.suppress(StoreUnavailable, sqlite3.OperationalError):  # the memory is gone
                while not over.is_set():
                    store.campaigns()

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        store.close()
        over.set()
        for thread in threads:
            thread.join()


def test_a_checkpoint_brings_what_was_written_to_its_place(made):
    """Without the files beside it, the database then has all of it."""
    made.checkpoint()
    path = made.address
    if path is not None and "://" not in path:
        copy = Path(path).with_name("copy.db")
        copy.write_bytes(Path(path).read_bytes())
        with open_store(str(copy)) as other:
            assert list(other.lines("c")) == list(made.lines("c"))
