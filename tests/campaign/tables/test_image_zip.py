"""Zip files of images: campaigns are made of them through the server, and those that mislead are refused."""

from __future__ import annotations

import io
import stat
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from PIL import Image

from askone._common.zip_archive import require_small_directory
from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import ClassNames, Numbers, Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import LIMITS, Limits
from askone.campaign.tables.image_tables import ImageZip
from askone.campaign.tables.open import open_table
from askone.campaign.tables.safe_images import safe_image
from askone.errors import InvalidFile
from askone.store.open import open_store
from sites import Site, code, ok

API = "/api/v1"


def picture(n, kind="PNG", size=(24, 20)):
    pixels = np.random.default_rng(n).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def packed(members, pack=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", pack) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def photos(count=8):
    kinds = (("png", "PNG"), ("jpg", "JPEG"))
    return [(f"photos/p{n}.{kinds[n % 2][0]}", picture(n, kinds[n % 2][1])) for n in range(count)]


@pytest.fixture
def opened(tmp_path):
    def open_it(data, limits=LIMITS):
        path = tmp_path / "photos.zip"
        path.write_bytes(data)
        return open_table(path, limits)

    return open_it


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Site(tmp_path_factory.mktemp("albums")) as site:
        yield site


def test_a_zip_of_images_becomes_a_campaign_through_the_server(site):
    manager, client = site.session("manager"), site.session("annotator")
    extra = [
        ("photos/", b""),
        ("photos/read me.txt", b"hello"),
        ("photos/.hidden.png", b""),
        ("__MACOSX/photos/._p0.png", b""),
    ]
    data = packed([*extra, *photos()])
    made = ok(manager.post(f"{API}/uploads", content=data, headers={"X-File-Name": "My photos.zip"}), 201)
    assert made["rows"] == 8
    assert made["columns"] == [
        {"name": "image", "kind": "image", "examples": ["p0.png", "p1.jpg", "p2.png", "p3.jpg", "p4.png"]}
    ]
    settings = {**made["suggested"], "labels": {"kind": "class", "classes": ["cat", "dog"]}}
    assert settings["title"] == "My photos"
    preview = ok(manager.post(f"{API}/uploads/{made['upload']}/preview", json={"settings": settings}))
    assert preview["questions"][0]["row"]["image"].startswith("data:image/")
    body = {"settings": settings, "upload": made["upload"], "name": "photos"}
    ok(manager.post(f"{API}/campaigns", json=body), 201)
    site.accounts.add_member("photos", "annotator", "annotator")
    shown = client.get(site.question(client, "photos")["row"]["image"])
    with Image.open(io.BytesIO(shown.content)) as picture_shown:
        assert shown.headers["content-type"] == f"image/{picture_shown.format.lower()}"
        assert picture_shown.size == (24, 20)
    told = ok(manager.get(f"{API}/campaigns/photos/predictions"))
    assert [one["key"] for one in told] == [f"p{n}.{'jpg' if n % 2 else 'png'}" for n in range(8)]
    assert told[3]["image"] == f"{API}/campaigns/photos/rows/3/image"
    assert manager.get(told[3]["image"]).status_code == 200
    # More images come by another zip.
    more = packed([("more.png", picture(99))])
    upload = ok(manager.post(f"{API}/uploads", content=more, headers={"X-File-Name": "more.zip"}), 201)["upload"]
    assert ok(manager.post(f"{API}/campaigns/photos/rows", json={"upload": upload})) == {"added": 1}
    assert not list(site.config.directory.glob("*.zip")), "what became a campaign waits no more"


def test_a_text_that_is_called_image_is_a_text(site, tmp_path):
    manager = site.session("manager")
    content = b"image,size\n" + b"".join(b"pic %d,%d\n" % (n % 3, n) for n in range(9))
    made = ok(manager.post(f"{API}/uploads", content=content, headers={"X-File-Name": "a.csv"}), 201)
    body = {"settings": made["suggested"], "upload": made["upload"], "name": "texts"}
    ok(manager.post(f"{API}/campaigns", json=body), 201)
    told = ok(manager.get(f"{API}/campaigns/texts/predictions"))[0]
    assert told["image"] is None
    assert [one["name"] for one in told["row"]] == ["image", "size"]


def test_a_zip_that_cannot_become_a_campaign_is_refused_and_removed(site):
    manager = site.session("manager")
    for data in (packed([("../p.png", picture(0))]), packed(photos())[:-30], b"PK\3\4 and no more"):
        answer = manager.post(f"{API}/uploads", content=data, headers={"X-File-Name": "a.zip"})
        assert code(answer, 422) == "invalid_file"
    bad = packed([("a.png", picture(0)), ("b.png", b"no picture")])
    made = ok(manager.post(f"{API}/uploads", content=bad, headers={"X-File-Name": "a.zip"}), 201)
    body = {"settings": made["suggested"], "upload": made["upload"], "name": "bad"}
    answer = manager.post(f"{API}/campaigns", json=body)
    assert code(answer, 422) == "invalid_file"
    assert "b.png" in answer.text
    assert code(manager.get(f"{API}/campaigns/bad"), 404) == "not_found"
    assert [path.name for path in site.config.directory.glob("*.zip")] == [f"{made['upload']}.zip"]


def test_names_and_folders(opened):
    found = opened(packed([("a/b/2.png", b"2"), ("a/c/1.PNG", b"1"), ("a/note.txt", b"")]))
    assert isinstance(found, ImageZip)
    assert [row["image"] for chunk in found.chunks() for row in chunk] == ["b/2.png", "c/1.PNG"]
    assert found.image("b/2.png") == b"2"
    for name in ("a/b/2.png", "note.txt", "../b/2.png"):
        with pytest.raises(InvalidFile, match="is no image of this zip file"):
            found.image(name)


def test_folders_in_a_zip_name_classes_that_are_neither_shown_nor_learnt(opened):
    members = [(f"photos/{'cats' if n % 2 else 'dogs'}/p{n}.png", picture(n)) for n in range(6)]
    found = opened(packed([*members, ("photos/p6.png", picture(6))]))
    settings = suggest(found)
    assert settings.labels == ClassNames(("cats", "dogs"))
    assert settings.rows.gold == "folder"  # one lies in none
    with open_store("memory:") as store:
        create_campaign(store, "a", settings, found, "", 0.0)
        rows = {row.key: row for row in store.rows("a", range(7))}
        assert rows["p6.png"].gold is None
        assert rows["cats/p1.png"].gold == "cats"
        assert rows["cats/p1.png"].content == {"image": "cats/p1.png"}
        width = rows["p6.png"].features.shape
        create_campaign(store, "b", suggest(found, gold=""), found, "", 0.0)
        assert store.rows("b", [0])[0].features.shape == width
        assert store.gold("b") == []


def member(name, mode=0, flags=0):
    found = zipfile.ZipInfo(name)
    found.external_attr = mode << 16
    found.flag_bits = flags
    return found


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([("../a.png", b"x")], "leads out of it"),
        ([("/etc/a.png", b"x")], "leads out of it"),
        ([("a/../../b.png", b"x")], "leads out of it"),
        ([("a//b.png", b"x")], "leads out of it"),
        ([("C:/a.png", b"x")], "leads out of it"),
        ([("a\\..\\b.png", b"x")], "leads out of it"),
        ([("a.png", b"x"), ("b/more.zip", b"x")], "packed file in it"),
        ([("a.png", b"x"), ("more.tar.GZ", b"x")], "packed file in it"),
        ([(member("a.png", stat.S_IFLNK | 0o777), b"/etc/passwd")], "is a link"),
        ([("a.png", b"x"), ("a.png", b"y")], "twice"),
        ([("a.png", b"\0" * (4 << 20))], "would grow"),
        ([("a\x07.png", b"x")], "printable"),
        ([("a.csv", b"a,b\n1,2\n")], "packed file without images"),
    ],
    ids=["up", "root", "inside", "nothing", "drive", "back", "zip", "tar", "link", "twice", "bomb", "bell", "none"],
)
def test_members_that_mislead_are_refused(opened, members, said):
    with pytest.raises(InvalidFile, match=said):
        opened(packed(members))


def test_limits_of_all_members(opened):
    data = packed(photos(), zipfile.ZIP_STORED)
    with pytest.raises(InvalidFile, match="8 members, more than 7"):
        opened(data, Limits(images=7))
    with pytest.raises(InvalidFile, match="would take"):
        opened(packed([("a.png", b"\0" * 800_000)]), Limits(total=100_000))
    with pytest.raises(InvalidFile, match="at most 500 bytes"):
        opened(data, Limits(image=500))
    found = opened(data, Limits(pixels=400))
    store = open_store("memory:")
    with pytest.raises(InvalidFile, match="at most 400 pixels"):
        create_campaign(store, "c", Settings("A", Numbers(0, 1)), found, "", 0.0)
    store.close()


def test_a_member_that_lies_about_its_length_is_refused(opened):
    data = packed([("a.png", picture(0))])
    place = data.rindex(b"PK\1\2")
    short = data[: place + 24] + struct.pack("<L", 50) + data[place + 28 :]
    found = opened(short)
    with pytest.raises(InvalidFile, match="cannot be read"):
        found.image("a.png")


def test_members_that_overlap_are_refused(opened):
    data = packed([("a.png", picture(0)), ("b.png", picture(0))], zipfile.ZIP_STORED)
    first = data[: data.index(b"PK\3\4", 4)]
    begin, end = data.index(b"PK\1\2"), data.rindex(b"PK\5\6")
    directory = bytearray(data[begin:end])
    struct.pack_into("<L", directory, directory.rindex(b"PK\1\2") + 42, 0)  # both are where the first is
    tail = bytearray(data[end:])
    struct.pack_into("<L", tail, 16, len(first))
    with pytest.raises(InvalidFile, match="overlap"):
        opened(first + bytes(directory) + bytes(tail))


def test_a_directory_that_is_too_long_is_not_read():
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, 500 << 20, 0, 0)
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, 500 << 20, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    unsaid = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    for data in (end, b"x" * 200_000 + end, large + locator + unsaid):
        with pytest.raises(InvalidFile, match="more than 1000 members"):
            require_small_directory(io.BytesIO(data), 1000)
    require_small_directory(io.BytesIO(packed(photos())), 1000)
    require_small_directory(io.BytesIO(b"PK"), 1000)


def test_many_images_are_kept_in_few_transactions(tmp_path, monkeypatch):
    small = picture(1)
    (tmp_path / "photos.zip").write_bytes(packed([(f"{n}.png", small) for n in range(450)]))
    store = open_store(str(tmp_path / "a.db"))
    begun, before = [], store._database.begin

    def count(session, lock):
        begun.append(lock)
        before(session, lock)

    monkeypatch.setattr(store._database, "begin", count)
    create_campaign(store, "c", Settings("A", Numbers(0, 1)), open_table(tmp_path / "photos.zip"), "", 0.0)
    assert len(begun) < 10
    assert len(store.media_keys("c")) == 450
    store.close()


def test_a_making_that_is_interrupted_leaves_nothing_and_can_be_repeated(tmp_path):
    (tmp_path / "photos.zip").write_bytes(packed([(f"{n}.png", picture(1)) for n in range(250)]))
    found = open_table(tmp_path / "photos.zip")
    store = open_store(str(tmp_path / "a.db"))
    settings = Settings("A", Numbers(0, 1))

    def interrupt(done, rows):
        assert store._database.read("SELECT count(*) FROM media") == [(200,)]
        assert store.campaigns() == []
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_campaign(store, "c", settings, found, "", 0.0, interrupt)
    for kept in ("campaigns", "table_rows", "media", "entries"):
        assert store._database.read(f"SELECT count(*) FROM {kept}") == [(0,)]
    create_campaign(store, "c", settings, found, "", 0.0)
    assert store.campaign("c").rows == 250
    store.close()


def test_a_file_that_is_only_called_a_zip_file_is_told_as_such(tmp_path):
    place = tmp_path / "pictures.zip"
    place.write_text("no zip\n")
    with pytest.raises(InvalidFile, match="is called a zip file and is none"):
        open_table(place)


def test_sixteen_bits_take_no_floats_of_all_pixels():
    """Seven thousand lines of sixteen-bit grays are 95 kB; as floats they were 1.3 GB."""
    out = io.BytesIO()
    Image.fromarray(np.full((3000, 3000), 40_000, dtype=np.uint16)).save(out, "PNG")
    tracemalloc.start()
    try:
        safe = safe_image(out.getvalue())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 9_000_000  # a byte for each pixel, and some lines; floats are eight
    assert safe.gray == pytest.approx(40_000 / 65_535, abs=0.01)
