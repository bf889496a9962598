"""One contract for memory, SQLite and PostgreSQL."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra server")

from askone.errors import (
    AlreadyExists,
    DuplicateEvent,
    InvalidArgument,
    UnknownCampaign,
)
from askone.events import Answered, Asked
from askone.questions import HalfSpace
from askone.store import making, schema
from askone.store.entries import BEGINNING, Entry, Row, Seat, body, chain
from askone.store.notices import Began, Grown, Turned


def some_rows(n, start=0, dtype=np.float32):
    return [
        Row(-1, f"k{i}", {"size": i, "name": "Zoë\n\0"}, np.array([i, 0.1], dtype), i if i % 3 == 0 else None)
        for i in range(start, start + n)
    ]


def began(n, mark):
    return Entry(Began("begin", {"a": 0.1}, n, mark), "ann", 5.0)


def make(store, name="c", n=5):
    store.create(name, "Title", "ann", b"learner", began, [some_rows(n)])


def note(i):
    return Entry(Turned(f"t{i}", "paused"), "bob", float(i))


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
    assert any_store.gold("c") == [0, 3, 6]
    pages = list(any_store.row_pages("c", size=3, after=0))
    assert [[row.position for row in page] for page in pages] == [[1, 2, 3], [4, 5, 6]]
    assert any_store.row_by_key("c", "k5").position == 5
    assert any_store.row_by_key("c", "no") is None
    with pytest.raises(InvalidArgument, match="positions must be below 7"):
        any_store.rows("c", [7])


def test_the_fingerprint_is_that_of_the_rows_however_chunked(any_store):
    any_store.create("a", "", "", b"", began, [some_rows(7)])
    any_store.create("b", "", "", b"", began, [some_rows(3), some_rows(4, 3)])
    any_store.create("d", "", "", b"", began, [some_rows(6)])
    marks = [any_store.campaign(name).fingerprint for name in "abd"]
    assert marks[0] == marks[1] != marks[2]


@pytest.mark.parametrize(
    ("row", "argument"),
    [
        (Row(0, "x", {"a": math.nan}, np.zeros(2)), "content"),
        (Row(0, "x", {"a": "\ud800"}, np.zeros(2)), "content"),
        (Row(0, "x\0", {}, np.zeros(2)), "key"),
        (Row(0, "x", {}, np.array([1.0, math.inf])), "features"),
        (Row(0, "x", {}, np.zeros(3)), "features"),
        (Row(0, "x", {}, np.array(["a", "b"])), "features"),
        (Row(0, "x", {}, np.zeros(2), math.nan), "gold"),
        (Row(0, "k1", {}, np.zeros(2)), "rows"),
    ],
)
def test_bad_rows_are_refused_and_nothing_is_left(any_store, row, argument):
    with pytest.raises(InvalidArgument) as caught:
        any_store.create("c", "", "", b"", began, [some_rows(3, dtype=np.float64), [row]])
    assert caught.value.argument == argument
    assert any_store.campaigns() == []
    assert any_store._database.read("SELECT count(*) FROM table_rows") == [(0,)]
    assert any_store._database.read("SELECT count(*) FROM campaigns") == [(0,)]
    make(any_store)


def test_names(any_store):
    make(any_store)
    with pytest.raises(AlreadyExists):
        make(any_store)
    for name in ("", "a/b", "../a", "a b", "é", "x" * 101, ".a", "a\0", "a'; DROP TABLE campaigns; --"):
        with pytest.raises(InvalidArgument):
            make(any_store, name)
        for read in (any_store.campaign, any_store.learner, any_store.head, any_store.delete, any_store.gold):
            with pytest.raises(UnknownCampaign):
                read(name)
        with pytest.raises(UnknownCampaign), any_store.turn(name):
            pass
    for use in (
        lambda: list(any_store.entries("no")),
        lambda: any_store.row_by_key("no", "a"),
        lambda: any_store.rows("no", [0]),
        lambda: list(any_store.row_pages("no")),
        lambda: any_store.keep_snapshot("no", 1, "", b""),
        lambda: any_store.add_media("no", [("a", "b", b"")]),
        lambda: any_store.grow("no", [], began),
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


def test_a_turn_appends_and_numbers(any_store):
    make(any_store)
    question = HalfSpace((1.0,), 0.1 + 0.2, number=3)
    asked = Entry(Asked("q", "k1", question, 0), "bob", 1.7e9 + 0.1, aside={"role": "exam", "é": None})
    answered = Entry(Answered("a", "q", True), "bob", 2.0, took=0.1)
    with any_store.turn("c") as turn:
        first = turn.write([asked])
        second = turn.write([answered, note(1)])
        assert turn.head == (4, second[-1].hash)
        assert turn.tail(1) == [*first, *second]
    assert [entry.seq for entry in (*first, *second)] == [2, 3, 4]
    assert list(any_store.entries("c", after=1)) == [*first, *second]
    assert check_chain(any_store)[1].number == 3
    with any_store.turn("c") as turn:
        assert turn.tail(4) == []
        assert turn.known(["a", "no", "q", "a"]) == {"a": second[0], "q": first[0]}
        assert turn.known([]) == {}


def test_reading_by_kind_and_limit(any_store):
    make(any_store)
    with any_store.turn("c") as turn:
        for i in range(10):
            turn.write([note(i), Entry(Answered(f"a{i}", "q", True))])
    seqs = [entry.seq for entry in any_store.entries("c", after=1, limit=4)]
    assert seqs == [2, 3, 4, 5]
    assert [entry.id for entry in any_store.entries("c", kinds=["turned"])] == [f"t{i}" for i in range(10)]
    both = [entry.seq for entry in any_store.entries("c", kinds=["began", "answered", "no"], limit=3)]
    assert both == [1, 3, 5]
    assert list(any_store.entries("c", kinds=[])) == []


def test_reading_in_pages_sees_the_log_as_it_was(any_store, monkeypatch):
    monkeypatch.setattr("askone.store.store.PAGE", 3)
    make(any_store)
    with any_store.turn("c") as turn:
        turn.write([note(i) for i in range(10)])
    reading = any_store.entries("c")
    seen = [next(reading).seq]
    with any_store.turn("c") as turn:
        turn.write([note(99)])
    assert seen + [entry.seq for entry in reading] == list(range(1, 12))
    reading = any_store.entries("c")
    next(reading)
    any_store.delete("c")
    with pytest.raises(UnknownCampaign):
        list(reading)


def test_a_turn_that_raises_leaves_nothing(any_store):
    make(any_store)
    with pytest.raises(ZeroDivisionError), any_store.turn("c") as turn:
        assert turn.write([note(1)], put=[Seat(1, 0, 0)]) == 1 / 0
    assert any_store.head("c")[0] == 1
    with any_store.turn("c") as turn:
        assert turn.seats(numbers=[1]) == []


def test_an_id_is_logged_once(any_store):
    make(any_store)
    make(any_store, "d")
    for name in "cd":
        with any_store.turn(name) as turn:
            turn.write([note(1)])
    for again in ([note(1)], [note(2), note(1)], [note(3), note(3)]):
        with pytest.raises(DuplicateEvent, match="the log has an event"), any_store.turn("c") as turn:
            turn.write(again)
    assert [line.id for line in check_chain(any_store)] == ["begin", "t1"]


@pytest.mark.parametrize(
    "bad",
    [
        Entry(Turned("x", "paused"), "ann", math.nan),
        Entry(Turned("x", "paused"), "ann", 1.0, took=math.inf),
        Entry(Turned("x", "paused"), "ann", 1.0, aside={"p": math.nan}),
        Entry(Turned("x", "paused"), "ann", 1.0, aside={"p": {1, 2}}),
        Entry(Turned("x\0", "paused"), "ann", 1.0),
        Entry(Turned("x", "paused"), "a\0n", 1.0),
        Entry(Turned("x", "paused"), "\udfff", 1.0),
    ],
)
def test_what_a_log_cannot_hold_is_refused(any_store, bad):
    make(any_store)
    with pytest.raises(InvalidArgument), any_store.turn("c") as turn:
        turn.write([note(1), bad])
    assert any_store.head("c")[0] == 1


def test_seats(any_store):
    make(any_store)
    make(any_store, "d")
    seats = [
        Seat(1, 0, 4, "ann", "l1", 10.0, {"yes": [1.5], "no": None}),
        Seat(1, 1, 4, "bob", "l2", 20.0),
        Seat(2, 0, 3),
        Seat(3, 0, 2, "ann", "l3", 30.0),
    ]
    with any_store.turn("c") as turn:
        turn.write([], put=seats)
    with any_store.turn("d") as turn:
        turn.write([], put=[Seat(7, 0, 0, "ann", "l1")])
    with any_store.turn("c") as turn:
        assert turn.seats() == []
        assert turn.seats(people=["ann"]) == [seats[0], seats[3]]
        assert turn.seats(leases=["l2", "no"]) == [seats[1]]
        assert turn.seats(numbers=[1, 9]) == seats[:2]
        assert turn.seats(["bob", "ann"], ["l1"], [1, 2]) == seats
        assert turn.free(15.0, 10) == [seats[0], seats[2]]
        assert turn.free(15.0, 1) == [seats[0]]
        assert turn.free(15.0, 10, after=(1, 0)) == [seats[2]]
        moved = Seat(2, 0, 3, "eve", "l4", 40.0)
        turn.write([note(1)], put=[Seat(2, 0, 9), moved], drop=[(1, 0), (1, 0), (2, 0), (8, 8)])
        assert turn.seats(numbers=[1, 2, 3]) == [seats[1], moved, seats[3]]


def test_rows_are_added(any_store):
    make(any_store)
    before = any_store.campaign("c").fingerprint
    added = any_store.grow("c", [some_rows(2, 5), some_rows(2, 7)], lambda n, mark: Entry(Grown("g", n, mark)))
    assert added == 4
    record = any_store.campaign("c")
    assert record.rows == 9
    assert record.fingerprint != before
    assert [row.key for row in any_store.rows("c", range(9))] == [f"k{i}" for i in range(9)]
    assert list(any_store.entries("c"))[-1].event == Grown("g", 4, record.fingerprint)
    grown = lambda n, mark: Entry(Grown("h", n, mark))  # noqa: E731
    with pytest.raises(InvalidArgument, match="keys that the campaign does not have"):
        any_store.grow("c", [some_rows(1, 8)], grown)
    with pytest.raises(InvalidArgument, match="features"):
        any_store.grow("c", [[Row(0, "w", {}, np.zeros(3, np.float32))]], grown)
    assert any_store.campaign("c") == record
    assert any_store._database.read("SELECT count(*) FROM table_rows") == [(9,)]
    check_chain(any_store)


def test_a_campaign_without_rows_gets_them_later(any_store):
    any_store.create("c", "", "", b"", began, [])
    assert any_store.campaign("c").rows == 0
    assert list(any_store.row_pages("c")) == []
    any_store.grow("c", [some_rows(2, dtype=np.float64)], lambda n, mark: Entry(Grown("g", n, mark)))
    assert any_store.rows("c", [1])[0].features.dtype == np.float64


def test_a_campaign_from_elsewhere_keeps_its_log(any_store):
    make(any_store)
    with any_store.turn("c") as turn:
        turn.write([note(i) for i in range(5)])
    entries = list(any_store.entries("c"))
    any_store.create("d", "", "", b"", lambda n, mark: entries[0], [some_rows(5)], [entries[1:3], entries[3:], []])
    assert list(any_store.lines("d")) == list(any_store.lines("c"))


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


def test_the_last_two_snapshots_stay(any_store):
    make(any_store)
    assert any_store.snapshot("c") is None
    for seq in (1, 5, 3, 9):
        any_store.keep_snapshot("c", seq, f"f{seq}", bytes([seq]))
    any_store.keep_snapshot("c", 9, "again", b"x")
    assert any_store.snapshot("c") == (9, "again", b"x")
    assert any_store._database.read("SELECT seq FROM snapshots ORDER BY seq") == [(5,), (9,)]


def test_a_campaign_is_deleted_with_all_it_has(any_store, monkeypatch):
    monkeypatch.setattr(making, "CHUNK", 3)
    make(any_store, "c", 10)
    make(any_store, "d")
    with any_store.turn("c") as turn:
        turn.write([note(i) for i in range(8)], put=[Seat(i, 0, 0) for i in range(7)])
    any_store.add_media("c", [(str(i), "t", b"") for i in range(5)])
    any_store.keep_snapshot("c", 1, "", b"")
    any_store.delete("c")
    assert [record.name for record in any_store.campaigns()] == ["d"]
    for table in schema.KEPT:
        assert any_store._database.read(f"SELECT count(*) FROM {table} WHERE campaign = 1") == [(0,)]
    check_chain(any_store, "d")
    make(any_store, "c")
    with pytest.raises(UnknownCampaign):
        any_store.delete("no")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET who = 'eve' WHERE seq = 2",
        "UPDATE entries SET body = body",
        "DELETE FROM entries WHERE seq = 2",
        "DELETE FROM entries",
        "DELETE FROM campaigns",
    ],
)
def test_the_log_is_append_only(any_store, statement):
    make(any_store)
    with any_store.turn("c") as turn:
        turn.write([note(1)])
    kept = list(any_store.lines("c"))
    with pytest.raises(any_store._database.conflict), any_store._database.transaction() as session:
        session.run(statement)
    assert list(any_store.lines("c")) == kept


def test_the_log_is_append_only_in_each_dialect_s_own_way(any_store):
    make(any_store)
    with any_store.turn("c") as turn:
        turn.write([note(1)])
    kept = list(any_store.lines("c"))
    tricks = ["TRUNCATE entries", "TRUNCATE campaigns CASCADE"]
    if any_store.dialect == "sqlite":
        replace = (
            "INSERT OR REPLACE INTO entries SELECT campaign, {}, id, kind, 'eve', at, number, body, hash FROM entries"
        )
        tricks = [replace.format("seq"), replace.format("3"), replace.format("seq + 5")]
    for trick in tricks:
        with pytest.raises(any_store._database.conflict), any_store._database.transaction() as session:
            session.run(trick)
    assert list(any_store.lines("c")) == kept
