"""What campaigns of very many rows rest on: columns, gathered transactions, pages; the same bits as row by row."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.output import export
from askone.campaign.settings.settings import ClassNames, Items, Numbers, Settings
from askone.campaign.tables._csv import _plain_numbers
from askone.campaign.tables.base import looks_like_number, rows_at_once
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument
from askone.server.app import create_app
from askone.server.ops import memory
from askone.store import _campaigns
from askone.store._codec import Packer
from askone.store.entries import Entry, Row, RowBlock
from askone.store.notices import Began
from askone.store.open import open_store


def rows(n, first=0):
    return [
        Row(i, f"kä{i}", {"a": i, "b": "ü" * (i % 3)}, np.array([i, 0.5], np.float32), i if i % 4 == 0 else None)
        for i in range(first, first + n)
    ]


def block(some):
    features = np.array([row.features for row in some])
    return RowBlock([row.key for row in some], [row.content for row in some], features, [row.gold for row in some])


def began(count, mark):
    return Entry(Began("b", {}, count, mark))


def test_rows_in_columns_are_packed_as_rows_are():
    one, other = Packer(), Packer()
    assert one.pack(7, rows(20)) + one.pack(7, rows(5, 20)) == other.pack(7, block(rows(25)))
    assert (one.fingerprint, one.count, one.size) == (other.fingerprint, 25, other.size)
    assert one.size > 25 * 8


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", 3], ids=["nul", "half", "number"])
def test_a_bad_key_among_many_is_named(bad):
    some = [*rows(3), Row(3, bad, {}, np.zeros(2, np.float32))]
    with pytest.raises(InvalidArgument, match="key must be text"):
        Packer().pack(1, some)


@pytest.mark.parametrize("gathered", [1, 7, 20_000])
def test_however_rows_are_gathered_the_table_is_the_same(store, monkeypatch, gathered):
    monkeypatch.setattr(_campaigns, "CHUNK", gathered)
    chunks = [rows(3), block(rows(10, 3)), [], rows(4, 13)]
    store.create("c", "", "", b"", began, chunks, parts=[13])
    packer = Packer()
    packer.pack(1, rows(13))
    packer.part()
    packer.pack(1, rows(4, 13))
    assert (store.campaign("c").rows, store.campaign("c").fingerprint) == (17, packer.fingerprint)
    assert [row.key for row in store.rows("c", range(17))] == [row.key for row in rows(17)]


def test_wide_rows_and_slow_ones_do_not_wait_for_others(store, monkeypatch):
    monkeypatch.setattr(_campaigns, "_ROOM", 100)
    seen = []

    def chunks():
        for first in range(0, 30, 10):
            yield rows(10, first)
            seen.append(store._database.read("SELECT count(*) FROM table_rows")[0][0])

    store.create("a", "", "", b"", began, chunks())
    monkeypatch.setattr(_campaigns, "_ROOM", 1 << 20)
    monkeypatch.setattr(_campaigns, "_SIGN", -1.0)
    store.create("b", "", "", b"", began, chunks())
    assert seen == [10, 20, 30, 40, 50, 60]


def test_media_are_gathered_and_the_last_of_a_name_stays(store, monkeypatch):
    store.create("c", "", "", b"", began, [rows(1)])
    monkeypatch.setattr(_campaigns, "_ROOM", 1000)
    items = [(str(i % 40), "image/png", bytes([i]) * 90) for i in range(100)]
    store.add_media("c", iter(items))
    assert store.media_keys("c") == sorted({key for key, _, _ in items})
    assert store.media("c", "3") == ("image/png", bytes([83]) * 90)
    assert store.media("c", "39") == ("image/png", bytes([79]) * 90)


def test_features_come_in_pages(store):
    store.create("c", "", "", b"", began, [rows(25)])
    pages = list(store.feature_pages("c", 10))
    assert [len(keys) for keys, _ in pages] == [10, 10, 5]
    assert list(itertools.chain.from_iterable(keys for keys, _ in pages)) == [row.key for row in rows(25)]
    found = np.concatenate([features for _, features in pages])
    assert found.dtype == np.float32
    assert np.array_equal(found, [row.features for row in rows(25)])


@pytest.mark.parametrize(
    "labels",
    [Numbers(0, 9), Numbers(), ClassNames(("x", "y", "z")), Items(("p", "q", "r"))],
    ids=["numbers", "range unknown", "classes", "orders"],
)
def test_exported_predictions_are_those_of_single_rows(store, tmp_path, labels):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(30)))
    create_campaign(store, "c", Settings("A", labels), open_table(path), "", 0.0)
    campaign = Campaign.open(store, "c")
    [served] = campaign.serve([Next("ann")], 1.0)
    for i in range(5):
        [served] = campaign.serve([Answer("ann", served.question.lease, i % 2 == 0, f"a-{i}")], 2.0 + i)
    told: list[tuple[int, int]] = []
    found = list(export.predictions(campaign, 7, lambda done, rows: told.append((done, rows))))
    assert told == [(7, 30), (14, 30), (21, 30), (28, 30), (30, 30)]
    single = [campaign.predictions([place])[0] for place in range(30)]
    assert [one["row"] for one in found] == [one["key"] for one in single]
    if isinstance(labels, Numbers):
        for name in ("prediction", "std", "low", "high"):
            values = [[one[name] for one in each] for each in (found, single)]
            assert values[0] == pytest.approx(values[1])
    else:
        assert [one["prediction"] for one in found] == [one["prediction"] for one in single]
    assert {tuple(one) for one in found} == {tuple(name for name, _ in export.prediction_columns(Numbers()))}


def test_what_is_a_number_beyond_doubt_is_a_number():
    texts = [
        "1",
        "-1",
        "+2.",
        ".5",
        "0",
        "-0.25",
        "123456789012345",
        "007",
        "1234567890123456",
        "1e5",
        "",
        "-",
        ".",
        "a",
    ]
    texts += ["1\n", " 1", "٣", "1,5", "--1", "0x1", "1.2.3", "nan", "inf", "00", "0.0"]
    sure = [text for text in texts if _plain_numbers(pa.array([text]))]
    assert sure == ["1", "-1", "+2.", ".5", "0", "-0.25", "123456789012345", "0.0"]
    assert all(map(looks_like_number, sure))
    assert not _plain_numbers(pa.array(["1", "x"]))
    assert not _plain_numbers(pa.array([None], pa.string()))


def test_wide_tables_are_read_in_smaller_pieces():
    assert [rows_at_once(columns) for columns in (1, 100, 1000, 10**6)] == [5000, 5000, 500, 1]


def test_garbage_is_looked_for_when_nobody_waits():
    before, garbage = gc.get_threshold(), memory.GarbageCollector()
    with garbage.rarely():
        assert gc.get_threshold()[2] > 10_000
        garbage.freeze()
        assert gc.get_freeze_count() > 0
        assert not garbage.collect(busy=True)
        assert garbage.collect(busy=False)
        garbage._looked -= 3600
        assert garbage.collect(busy=True)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_two_servers_of_one_process_leave_it_as_it_was():
    """Whichever ends first: what the second found was the first one's."""

    async def scenario():
        with closing(open_store("memory:")) as one, closing(open_store("memory:")) as other:
            first, second = ((app := create_app(store)).router.lifespan_context(app) for store in (one, other))
            await first.__aenter__()
            await second.__aenter__()
            await first.__aexit__(None, None, None)
            assert gc.get_threshold()[2] > 10_000
            await second.__aexit__(None, None, None)

    before = gc.get_threshold(), sys.getswitchinterval()
    asyncio.run(scenario())
    assert (gc.get_threshold(), sys.getswitchinterval()) == before


def test_memory_is_given_back_where_the_library_can():
    memory.give_back_large()
    memory.give_back_rest()
    memory._call("no_such_function", 1)
