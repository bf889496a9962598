"""Backups that strangers wrote, every hash right: what nobody here could have typed is refused, and nothing stays."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from answered import KINDS, answer, make
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Exclude, Flag, Next
from askone.campaign.output.backup import LEARNER, LOG, MANIFEST, SIGNATURE, backup, is_signed, restore
from askone.campaign.tables.safe_images import drawn
from askone.errors import InvalidArgument, InvalidFile
from askone.questions.subset import Subset
from askone.session.log import Asked
from askone.store.entries import BEGINNING, as_json, chain
from askone.store.open import open_store
from askone.store.verification import verify

resource = pytest.importorskip("resource", reason="processes of POSIX")


def taken(store, name="c", key=None):
    out = io.BytesIO()
    backup(store, name, out, key)
    return out.getvalue()


@pytest.fixture(scope="module")
def good():
    with open_store("memory:") as store:
        campaign = make(store)
        store.add_media("c", [("r1", "image/png", drawn(np.eye(4), 32))])
        answer(campaign, 6)
        campaign.serve([Exclude("admin", "x-1", "bob")], 303.0)
        [serving] = campaign.serve([Next("cat")], 304.0)
        campaign.serve([Flag("cat", serving.question.lease, "f-1", "odd")], 305.0)
        campaign.serve([Answer("cat", serving.question.lease, True, "c-1", 2.0)], 306.0)
        return taken(store)


@pytest.fixture
def here():
    with open_store("memory:") as store:
        yield store


def parts_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, **told):
    """A backup of these parts, with all its hashes right."""
    manifest = json.loads(parts[MANIFEST])
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items() if name != MANIFEST}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            if name != MANIFEST:
                archive.writestr(name, data)
        archive.writestr(MANIFEST, json.dumps({**manifest, **told}))
    out.seek(0)
    return out


def forged(data, edit, **told):
    """The same with an edited log, chained anew."""
    parts, before = parts_of(data), BEGINNING
    entries = [json.loads(line) for line in parts[LOG].splitlines()]
    entries, lines = edit(entries) or entries, []
    for seq, entry in enumerate(entries, start=1):
        entry.pop("hash", None)
        entry["seq"] = seq
        before = chain(before, as_json(entry))
        lines.append(as_json({**entry, "hash": before}))
    parts[LOG] = ("\n".join(lines) + "\n").encode()
    return packed(parts, hash=before, seq=len(entries), **told)


def nth(kind, n=0):
    """A function that changes the n-th entry of a kind."""

    def of(change):
        def edit(entries):
            found = [entry for entry in entries if entry["event"]["kind"] == kind]
            change(found[n])

        return edit

    return of


def put(place, value):
    *path, last = place.split(".")

    def change(entry):
        for name in path:
            entry = entry[name]
        entry[last] = value

    return change


def notice(**event):
    return {"who": "", "at": 1.0, "event": {"format": 1, **event}}


LOGS = {
    "a position beyond the table": nth("asked")(put("aside.position", 10**10)),
    "a position beyond all numbers": nth("asked")(put("aside.position", 2**63)),
    "a position before the table": nth("asked")(put("aside.position", -1)),
    "a position that is a text": nth("asked")(put("aside.position", "7")),
    "a position ahead": nth("asked")(put("aside.ahead", [1, 10**10, "", None])),
    "a number ahead": nth("asked")(put("aside.ahead", [10**15, 1, "", None])),
    "ahead of a wrong shape": nth("asked")(put("aside.ahead", {"a": 1})),
    "a number beyond the log": nth("asked")(put("event.question.number", 10**9)),
    "a number that is another's": nth("asked", 1)(put("event.question.number", 0)),
    "a role": nth("asked")(put("aside.role", "boss")),
    "scores": nth("asked")(put("aside.score", ["a", "b"])),
    "scores whose sum is no number": nth("asked")(put("aside.score", [1e308, -1e308])),
    "something else aside": nth("asked")(put("aside.html", "<script>")),
    "much aside": nth("asked")(put("aside.predicted", "x" * 100_000)),
    "learnt": nth("asked")(put("event.learnt", -5)),
    "a name of a million": nth("answered")(put("who", "x" * 10**6)),
    "a name in several lines": nth("answered")(put("who", "ann\nbob")),
    "a name that is none": nth("answered")(put("who", {"a": 1})),
    "an id": nth("answered")(put("event.id", "x" * 1000)),
    "an id twice": nth("answered", 1)(put("event.id", "a-0")),
    "an answer that is none": nth("answered")(put("event.answer", ["yes"])),
    "an answer to nothing": nth("answered")(put("event.asked", "ask-77")),
    "a time": nth("answered")(put("at", 1e300)),
    "a time before all": nth("answered")(put("at", -1e9)),
    "a time that is a text": nth("answered")(put("at", "now")),
    "seconds": nth("answered")(put("took", 1e300)),
    "a reason": nth("flagged")(put("event.reason", "x" * 10**6)),
    "a person": nth("excluded")(put("event.person", ["bob"])),
    "rows": nth("began")(put("event.rows", 10**12)),
    "no rows": nth("began")(put("event.rows", -3)),
    "a title": nth("began")(put("event.settings.title", "x" * 10**6)),
    "two beginnings": lambda entries: [*entries, entries[0] | {"event": {**entries[0]["event"], "id": "b2"}}],
    "a status": lambda entries: [*entries, notice(kind="turned", id="t", status="gone")],
    "a budget": lambda entries: [*entries, notice(kind="limited", id="l", budget="all")],
}  # fmt: skip


@pytest.mark.parametrize("known", [None, ()], ids=["own", "stranger's"])
@pytest.mark.parametrize("what", LOGS)
def test_a_log_that_nobody_wrote_here(good, here, what, known):
    file = forged(good, LOGS[what])
    with pytest.raises((InvalidFile, InvalidArgument)) as refusal:
        restore(here, file, known=known)
    assert len(str(refusal.value)) < 1000
    assert here.campaigns() == []


def test_a_question_of_another_kind_does_not_stay(good, here):
    file = forged(good, nth("asked")(put("event.question", Subset(("cat",), number=0).to_json())))
    with pytest.raises(InvalidFile, match="no campaign can be made of it"):
        restore(here, file, known=())
    assert here.campaigns() == []


MANIFESTS = {
    "a title": {"title": "x" * 31_000_000},
    "a title in lines": {"title": "a\nb"},
    "rows": {"rows": 10**9},
    "rows of a kind": {"rows": True},
    "an owner": {"owner": "x" * 10_000},
    "media": {"media": -1},
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_nobody_wrote_here(good, here, what):
    rows = MANIFESTS[what].get("rows")
    edit = (lambda entries: None) if rows is None else nth("began")(put("event.rows", rows))
    with pytest.raises(InvalidFile):
        restore(here, forged(good, edit, **MANIFESTS[what]), known=())
    assert here.campaigns() == []


def bomb(size):
    """A learner whose model unpacks to so many zeros."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": (size,)})
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("askone.json", b'{"format": 1}')
        with archive.open("arrays/a.npy", "w") as member:
            member.write(head.getvalue())
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("model.zip", inner.getvalue())
        archive.writestr("encoder.json", b"null")
    return outer.getvalue()


def test_a_model_that_grows_a_thousandfold(good, here):
    parts = {**parts_of(good), LEARNER: bomb(600 << 20)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InvalidFile, match="would take"):
        restore(here, packed(parts), known=())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_a_model_of_another_kind_does_not_stay(good, here):
    with open_store("memory:") as other:
        make(other, "class")
        learner = other.learner("c")
    with pytest.raises(InvalidFile, match="no campaign can be made of it"):
        restore(here, packed({**parts_of(good), LEARNER: learner}), known=())
    assert here.campaigns() == []


HTML = b"<html><script>alert(1)</script></html>"


@pytest.mark.parametrize("known", [None, ()], ids=["own", "stranger's"])
@pytest.mark.parametrize("kind", ["image/png", "text/html", "image/svg+xml"])
def test_a_page_is_no_picture(good, here, kind, known):
    parts = parts_of(good)
    parts["media/0"] = HTML
    parts["media.jsonl"] = as_json({"key": "r1", "type": kind}).encode() + b"\n"
    with pytest.raises(InvalidFile):
        restore(here, packed(parts), known=known)
    assert here.campaigns() == []


def test_of_a_picture_its_pixels_stay(good, here):
    parts = parts_of(good)
    parts["media/0"] += HTML
    restore(here, packed(parts), known=())
    kind, data = here.media("c", "r1")
    assert kind == "image/png"
    assert data.startswith(b"\x89PNG")
    assert b"script" not in data


def test_people_of_a_stranger_are_strangers(good, here):
    restore(here, io.BytesIO(good), known={"cat"}, owner="eve")
    campaign = Campaign.open(here, "c")
    ids = {person["id"] for person in campaign.people()}
    assert "cat" in ids
    assert sum(one.startswith("stranger-") for one in ids) == 2
    entries = list(here.entries("c"))
    assert not {entry.who for entry in entries} & {"ann", "bob", "admin"}
    assert len(campaign.projection.excluded & ids) == 1  # the same name as in the answers
    assert verify(here, "c").valid
    assert [entry.event.question for entry in entries if isinstance(entry.event, Asked)]


def test_nobody_can_tell_who_a_stranger_was(good):
    names = []
    for _ in range(2):
        with open_store("memory:") as store:
            restore(store, io.BytesIO(good), known=())
            names.append({entry.who for entry in store.entries("c")} - {""})
    assert not names[0] & names[1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_here_is_taken(here, kind):
    """A campaign with known labels, several people and all else that happens passes every check."""
    with open_store("memory:") as store:
        campaign = make(store, kind)
        answer(campaign, 8)
        data = taken(store)
    assert restore(here, io.BytesIO(data), known={"ann", "bob"}) == "c"
    assert Campaign.open(here, "c").status(0.0)["answers"] == campaign.status(0.0)["answers"]


# -- signed -----------------------------------------------------------------------------------------

KEY = b"0123456789abcdef0123456789abcdef"


def test_a_signature_shows_who_wrote_it(here):
    with open_store("memory:") as store:
        answer(make(store), 3)
        signed, plain = taken(store, key=KEY), taken(store)
    assert is_signed(io.BytesIO(signed))
    assert not is_signed(io.BytesIO(plain))
    assert restore(here, io.BytesIO(signed), key=KEY) == "c"
    assert restore(here, io.BytesIO(signed), name="d") == "d"  # without the key it is as good as any
    for file, key, reason in (
        (io.BytesIO(signed), b"another key of some length", "not signed with this key"),
        (io.BytesIO(plain), KEY, "is not signed"),
        (forged(signed, nth("answered")(put("who", "eve"))), KEY, "not signed with this key"),
        (packed(parts_of(signed), **{SIGNATURE: 7}), KEY, "is not signed"),
    ):
        with pytest.raises(InvalidFile, match=reason):
            restore(here, file, name="e", key=key)
