"""A backup is the campaign: restored anywhere it is the same bit for bit; what was tampered with is refused."""

import io
import json
import stat
import threading
import warnings
import zipfile

import numpy as np
import pytest

from answered import KINDS, answer, grow, make
from askone._common.zip_archive import ArchiveLimits, opened
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Exclude, Next, Skip, Undo
from askone.campaign.output import backup as module
from askone.campaign.output.backup import LOG, MANIFEST, ROWS, backup, backup_chunks, restore
from askone.errors import AlreadyExists, InvalidArgument, InvalidFile, UnknownCampaign
from askone.store.open import open_store
from askone.store.verification import verify


@pytest.fixture
def other():
    store = open_store("memory:")
    yield store
    store.close()


def busy(store, kind="number"):
    """A campaign in which everything has happened that can."""
    campaign = make(store, kind)
    store.add_media(
        "c", [("r1", "image/png", b"\x89PNG..."), ("r2", "image/jpeg", b"\xff\xd8\xff" + bytes(range(256)) * 50)]
    )
    answer(campaign, 8)
    grow(store)
    campaign.refresh()
    answer(campaign, 3, start=100, now=100.0)
    campaign.serve([Undo("ann", "u-1")], 300.0)
    [serving] = campaign.serve([Next("cat")], 301.0)
    campaign.serve([Skip("cat", serving.question.lease, "s-1")], 302.0)
    campaign.serve([Exclude("boss", "x-1", "bob")], 303.0)
    grow(store, count=2)
    campaign.refresh()
    campaign.keep()
    return campaign


def taken(store, name="c"):
    out = io.BytesIO()
    backup(store, name, out)
    out.seek(0)
    return out


def arrays(campaign):
    """The state of the model, as bytes."""
    state = campaign.projection.learner.to_arrays(campaign.projection.state)
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in state.items()}


def same(store, other, name="c", renamed="c"):
    assert list(store.lines(name)) == list(other.lines(renamed))
    mine, theirs = (next(s.row_pages(n)) for s, n in ((store, name), (other, renamed)))
    for one, two in zip(mine, theirs, strict=True):
        assert (one.position, one.key, one.content, one.gold) == (two.position, two.key, two.content, two.gold)
        assert (one.features.dtype, one.features.tobytes()) == (two.features.dtype, two.features.tobytes())
    assert store.media_keys(name) == other.media_keys(renamed)
    for key in store.media_keys(name):
        assert store.media(name, key) == other.media(renamed, key)
    assert store.learner(name) == other.learner(renamed)
    before, after = store.campaign(name), other.campaign(renamed)
    told = [(one.created, one.rows, one.fingerprint) for one in (before, after)]
    assert told[0] == told[1]
    assert after.title == (f"{before.title} (restored)" if store is other else before.title)
    live, restored = Campaign.open(store, name), Campaign.open(other, renamed)
    assert arrays(live) == arrays(restored) == arrays(Campaign.open(other, renamed, fresh=True))
    assert live.predictions(range(5)) == restored.predictions(range(5))


@pytest.mark.parametrize("kind", KINDS)
def test_the_round_trip(store, other, kind):
    busy(store, kind)
    assert restore(other, taken(store)) == "c"
    same(store, other)
    again = taken(other)
    with zipfile.ZipFile(taken(store)) as one, zipfile.ZipFile(again) as two:
        for name in one.namelist():
            assert one.read(name) == two.read(name), name


def test_between_sqlite_and_postgresql(tmp_path, postgres_url):
    file, server = open_store(str(tmp_path / "a.db")), open_store(postgres_url)
    back = open_store(str(tmp_path / "b.db"))
    try:
        busy(file)
        restore(server, taken(file))
        same(file, server)
        restore(back, taken(server))
        same(file, back)
    finally:
        for store in (file, server, back):
            store.close()


def test_open_questions_wait_for_somebody_and_the_campaign_goes_on(store, other):
    campaign = make(store, "class")  # two people answer each question
    answer(campaign, 3)
    [held] = campaign.serve([Next("cat")], 50.0)
    restore(other, taken(store))
    restored = Campaign.open(other, "c")
    assert set(restored.projection.touched) == set(campaign.projection.touched)
    wanted = sum(
        restored.projection.seats(n) - len(restored.projection.asked[n].given) for n in restored.projection.touched
    )
    with other.transaction("c") as transaction:
        free = transaction.free(0.0, 100)
    assert len(free) == wanted > 0
    assert not any(seat.person or seat.lease for seat in free)
    served = set()
    for person in ("cat", "dog"):
        for i in range(wanted):
            [serving] = restored.serve([Next(person)], 60.0)
            served.add(serving.question.number)
            restored.serve([Answer(person, serving.question.lease, True, f"{person}-{i}")], 61.0)
    assert set(campaign.projection.touched) <= served
    assert held.question.number in served
    assert arrays(restored) == arrays(Campaign.open(other, "c", fresh=True))


def test_another_name_beside_the_old_one(store):
    busy(store)
    assert restore(store, taken(store), name="copy", owner="eve") == "copy"
    same(store, store, "c", "copy")
    assert store.campaign("copy").owner == "eve"
    with pytest.raises(AlreadyExists):
        restore(store, taken(store))
    for wrong in ("../c", "", "a/b", "x" * 200):
        with pytest.raises(InvalidArgument, match="name"):
            restore(store, taken(store), name=wrong)
    assert [one.name for one in store.campaigns()] == ["c", "copy"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_under_load_it_is_the_log_up_to_an_entry(tmp_path, kind, request):
    """Rows and answers come while the backup is read, piece by piece: it is what the log was at its head.

    What is restored has the model that the campaign had at that moment, bit for bit.
    """
    store = open_store(str(tmp_path / "a.db") if kind == "sqlite" else request.getfixturevalue("postgres_url"))
    campaign = make(store)
    answer(campaign, 5)
    stop, trouble = threading.Event(), []
    states = {len(campaign.projection.lessons.all): arrays(campaign)}

    def work():
        try:
            for i in range(1000):
                if stop.is_set():
                    return
                answer(campaign, 1, start=10 * i + 100, now=1000.0 + i)
                states[len(campaign.projection.lessons.all)] = arrays(campaign)
                grow(store, count=1)
                campaign.refresh()
        except Exception as error:  # noqa: BLE001  # told to the test
            trouble.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        files = [io.BytesIO(b"".join(backup_chunks(store, "c"))) for _ in range(4)]
    finally:
        stop.set()
        worker.join()
    assert not trouble
    lines = list(store.lines("c"))
    for i, file in enumerate(files):
        other = open_store("memory:")
        restore(other, file)
        kept = list(other.lines("c"))
        assert kept == lines[: len(kept)]
        restored = Campaign.open(other, "c")
        assert other.campaign("c").rows == restored.projection.rows
        assert arrays(restored) == states[len(restored.projection.lessons.all)]
        assert verify(other, "c").valid
        assert i == 0 or len(kept) > 0
        other.close()
    store.close()


def test_unknown_campaigns(store):
    with pytest.raises(UnknownCampaign):
        list(backup_chunks(store, "nothing"))


def test_no_secrets_in_it(store):
    busy(store)
    with zipfile.ZipFile(taken(store)) as archive:
        names = archive.namelist()
        assert sorted(names) == sorted([LOG, MANIFEST, ROWS, "media.jsonl", "learner.zip", "media/0", "media/1"])
        manifest = json.loads(archive.read(MANIFEST))
        whole = b"".join(archive.read(name) for name in names)
    with store.transaction("c") as transaction:
        leases = [seat.lease for seat in transaction.seats(people=["ann", "bob", "cat"]) if seat.lease]
    assert leases
    assert not any(lease.encode() in whole for lease in leases)
    assert set(manifest["sha256"]) == set(names) - {MANIFEST}


# -- refused --------------------------------------------------------------------------------------


def changed(file, name, edit):
    """The same zip with a member edited (None: left out; a new name: added), its checksum in the manifest too."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        parts = {one: source.read(one) for one in source.namelist()}
        after = edit(parts.get(name, b""))
        if after is None:
            del parts[name]
        else:
            parts[name] = after
        manifest = json.loads(parts[MANIFEST])
        if name != MANIFEST and after is not None:
            manifest["sha256"][name] = module.hashlib.sha256(after).hexdigest()
            parts[MANIFEST] = json.dumps(manifest).encode()
        for one, data in parts.items():
            target.writestr(one, data)
    out.seek(0)
    return out


def line_edit(number, edit):
    def edited(data):
        lines = data.splitlines(keepends=True)
        lines[number] = edit(lines[number])
        return b"".join(lines)

    return edited


TAMPERED = {
    "an answer": (LOG, lambda data: data.replace(b'"answer":true', b'"answer":false', 1), "was changed"),
    "who": (LOG, lambda data: data.replace(b'"who":"bob"', b'"who":"eve"', 1), "was changed"),
    "a line gone": (LOG, line_edit(3, lambda line: b""), "was changed, or does not follow"),
    "the end gone": (LOG, line_edit(-1, lambda line: b""), "does not end"),
    "two lines": (LOG, line_edit(3, lambda line: line + line), "was changed, or does not follow"),
    "no log": (LOG, lambda data: b"", "empty"),
    "a strange event": (LOG, line_edit(2, lambda line: line.replace(b'"kind":"a', b'"kind":"b', 1)), "cannot be read"),
    "not JSON": (LOG, line_edit(2, lambda line: b"{]\n"), "line 3 of log.jsonl is not JSON"),
    "NaN": (ROWS, line_edit(2, lambda line: b'{"key":NaN}\n'), "not JSON"),
    "deep": (ROWS, line_edit(2, lambda line: b'{"a":' * 200_000 + b"\n"), "not JSON"),
    "a cell": (ROWS, lambda data: data.replace(b'"size":', b'"Size":', 1), "rows are not those"),
    "a row gone": (ROWS, line_edit(4, lambda line: b""), "rows are not those"),
    "other features": (
        ROWS,
        lambda data: data.replace(b'"dtype":"<f4"', b'"dtype":"|O8"', 1),
        "row 1 makes no sense",
    ),
    "no features": (ROWS, line_edit(0, lambda line: b'{"key":"a","content":{}}\n'), "row 1 makes no sense"),
    "format": (MANIFEST, lambda data: data.replace(b'"format": 1', b'"format": 9'), "format"),
    "manifest": (MANIFEST, lambda data: b'{"format": 1}', "misstates"),
    "no manifest": (MANIFEST, lambda data: b"[]", "JSON object"),
    "a learner": ("learner.zip", lambda data: b"PK nothing", "zip"),
    "no learner": ("learner.zip", lambda data: None, "learner.zip"),
    "no media": ("media/1", lambda data: None, "no media/1"),
    "media": ("media.jsonl", lambda data: b"", "media"),
}


@pytest.fixture(scope="module")
def good():
    store = open_store("memory:")
    busy(store)
    yield taken(store).getvalue()
    store.close()


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_found(good, other, what):
    name, edit, reason = TAMPERED[what]
    file = changed(io.BytesIO(good), name, edit)
    with pytest.raises(InvalidFile, match=reason):
        restore(other, file)
    assert other.campaigns() == []


def test_a_checksum_that_does_not_fit(good, other):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as source, zipfile.ZipFile(file, "w") as target:
        for one in source.namelist():
            target.writestr(one, source.read(one) + (b"x" if one == "media/0" else b""))
    file.seek(0)
    with pytest.raises(InvalidFile, match="media/0 is not what it was"):
        restore(other, file)


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "media/../../x", "media/01", "media\\1", "C:evil", "x\0y"])
def test_strange_members_are_refused(good, other, name):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as source, zipfile.ZipFile(file, "w") as target:
        for one in source.namelist():
            target.writestr(one, source.read(one))
        target.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(InvalidFile):
        restore(other, file)
    assert other.campaigns() == []


def test_links_and_members_twice_are_refused(good):
    link = zipfile.ZipInfo("media/0")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for member in (link, zipfile.ZipInfo(MANIFEST)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as target, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.writestr(MANIFEST, "{}")
            target.writestr(member, "/etc/passwd")
        with pytest.raises(InvalidFile, match="link|twice"), opened(file, r"manifest\.json|media/0"):
            pass


def test_bombs_are_refused(other):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(ROWS, b"\0" * (8 << 20))
    with pytest.raises(InvalidFile, match="would grow"):
        restore(other, bomb)
    with (
        pytest.raises(InvalidFile, match="would take"),
        opened(bomb, r"rows\.jsonl", ArchiveLimits(1 << 20, ratio=1e9)),
    ):
        pass
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as target:
        for i in range(30):
            target.writestr(f"media/{i}", b"")
    with pytest.raises(InvalidFile, match="30 members"), opened(many, r"media/[0-9]+", ArchiveLimits(members=20)):
        pass
    long = io.BytesIO()
    with zipfile.ZipFile(long, "w") as target:
        target.writestr(ROWS, b'{"a":"' + b"x" * 5000 + b'"}')
    with opened(long, r"rows\.jsonl", ArchiveLimits(line=1000)) as archive, pytest.raises(InvalidFile, match="longer"):
        list(archive.lines(ROWS))


@pytest.mark.parametrize("cut", [0, 10, 1000, -30, -2000])
def test_damaged_files_are_refused(good, other, cut):
    with pytest.raises(InvalidFile):
        restore(other, io.BytesIO(good[:cut]))
    assert other.campaigns() == []


def test_flipped_bytes_never_pass(good, other):
    """Wherever a byte is flipped the restored campaign is either refused or the same."""
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(good), 40):
        data = bytearray(good)
        data[place] ^= 0x55
        try:
            name = restore(other, io.BytesIO(bytes(data)))
        except (InvalidFile, InvalidArgument):
            assert other.campaigns() == []
        else:
            kept = taken(other, name)
            with zipfile.ZipFile(io.BytesIO(good)) as one, zipfile.ZipFile(kept) as two:
                assert all(one.read(member) == two.read(member) for member in (LOG, ROWS, "learner.zip"))
            other.delete(name)
