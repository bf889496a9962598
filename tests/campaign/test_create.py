"""From a table to a campaign in a store, and images made safe."""

import io
import json
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image

from askone.campaign.create import add_rows, create_campaign, require_labels, with_columns
from askone.campaign.engine.model_builder import make_estimator, pack, unpack
from askone.campaign.output.export import begun_settings
from askone.campaign.settings.settings import (
    AskSettings,
    ClassNames,
    Items,
    LearnerSettings,
    Numbers,
    QuestionSettings,
    RowSettings,
    Settings,
)
from askone.campaign.tables.base import Limits
from askone.campaign.tables.open import open_table
from askone.campaign.tables.safe_images import safe_image
from askone.encoding.encoder import Encoder
from askone.encoding.images import ImagePart
from askone.errors import AlreadyExists, InvalidArgument, InvalidFile
from askone.estimators import model_file
from askone.features.pictures import picture_features
from askone.store.notices import Began, Grown

HOMES = "id,size,colour,note,page,label\n" + "".join(
    f"h{i},{i * 1.5},{colour},a {size} house,https://a.org/{i},{i if i % 5 == 0 else ''}\n"
    for i, colour, size in zip(range(40), ["red", "blue"] * 20, ["small"] * 21 + ["big"] * 19, strict=True)
)
PRICES = Settings("Prices", Numbers(0, 100), RowSettings(key="id", gold="label"), ask=AskSettings(gold_share=0.1))


@pytest.fixture
def homes(tmp_path):
    path = tmp_path / "homes.csv"
    path.write_text(HOMES)
    return open_table(path)


def table_of(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text)
    return open_table(tmp_path / name)


# -- campaigns ------------------------------------------------------------------------------------


def test_a_campaign_has_its_rows_settings_and_model(store, homes):
    seen = []
    create_campaign(store, "homes", PRICES, homes, "ann", 5.0, lambda done, rows: seen.append((done, rows)))
    record = store.campaign("homes")
    assert (record.title, record.owner, record.rows) == ("Prices", "ann", 40)
    assert seen == [(40, 40)]
    [first] = store.entries("homes")
    assert isinstance(first.event, Began)
    assert (first.who, first.at, first.event.rows, first.event.fingerprint) == ("ann", 5.0, 40, record.fingerprint)
    settings = begun_settings(store, "homes")
    assert settings.rows.show == ("size", "colour", "note", "page")
    assert settings.rows.learn == ("size", "colour", "note")
    estimator, encoder = unpack(store.learner("homes"))
    [row] = store.rows("homes", [10])
    assert row.key == "h10"
    assert row.content == {
        "size": 15.0,
        "colour": "red",
        "note": "a small house",
        "page": "https://a.org/10",
    }
    assert row.gold == 10.0
    assert (row.features == encoder.encode([row.content])[0]).all()
    assert store.gold("homes") == list(range(0, 40, 5))
    question = estimator.ask(row.features.astype(np.float64))
    assert str(question) == "Is the value above 50?"
    estimator.tell(question, True)
    assert estimator.predict(row.features[None])[0] > 50


def test_the_same_table_makes_the_same_campaign(store, homes):
    for name in ("a", "b"):
        create_campaign(store, name, PRICES, homes, "", 0.0)
    assert store.learner("a") == store.learner("b")
    assert store.campaign("a").fingerprint == store.campaign("b").fingerprint
    with pytest.raises(AlreadyExists):
        create_campaign(store, "a", PRICES, homes, "", 0.0)


def test_rows_without_a_key_are_numbered_also_those_that_come_later(store, tmp_path):
    table = table_of(tmp_path, "size\n1\n2\n3\n")
    create_campaign(store, "a", Settings("A", Numbers(0, 9)), table, "", 0.0)
    assert add_rows(store, "a", table_of(tmp_path, "more,size\nx,7\ny,\n", "more.csv"), 3.0, "bob") == 2
    rows = store.rows("a", range(5))
    assert [row.key for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row.content for row in rows[3:]] == [{"size": 7}, {"size": None}]
    grown = list(store.entries("a"))[-1]
    assert isinstance(grown.event, Grown)
    assert (grown.event.rows, grown.who, grown.at) == (2, "bob", 3.0)


def test_rows_to_add_have_the_columns_of_the_first_ones(store, tmp_path, homes):
    create_campaign(store, "a", PRICES, homes, "", 0.0)
    with pytest.raises(InvalidArgument, match="table must be a column of the table \\(did you mean 'sizes'"):
        add_rows(store, "a", table_of(tmp_path, HOMES.replace("size", "sizes").replace("h", "x"), "b.csv"), 0.0, "")
    with pytest.raises(InvalidFile, match="rows 1 to 40, column 'size': a number is needed; got 'many'"):
        add_rows(store, "a", table_of(tmp_path, HOMES.replace("4.5", "many"), "c.csv"), 0.0, "")
    with pytest.raises(InvalidArgument, match="rows must be keys that the campaign does not have"):
        add_rows(store, "a", homes, 0.0, "")
    assert store.campaign("a").rows == 40
    assert len(list(store.entries("a"))) == 1


def test_an_order_needs_no_table(store):
    settings = Settings("Drinks", Items(("tea", "coffee", "milk")))
    create_campaign(store, "drinks", settings, None, "ann", 0.0)
    [row] = store.rows("drinks", [0])
    assert (row.key, row.content, row.features.tolist(), row.gold) == ("all", {}, [0.0], None)
    packed = unpack(store.learner("drinks"))
    assert packed.encoder is None
    assert str(packed.estimator.ask()) == "Do you prefer milk or coffee?"
    with pytest.raises(InvalidArgument, match="rows must be a table"):
        create_campaign(store, "x", Settings("X", Numbers(0, 1)), None, "", 0.0)


def test_an_order_may_depend_on_rows(store, tmp_path):
    table = table_of(tmp_path, "hour,best\n" + "".join(f"{h},{'tea > milk' if h == 3 else ''}\n" for h in range(24)))
    settings = Settings("Drinks", Items(("tea", "milk")), RowSettings(gold="best"))
    create_campaign(store, "drinks", settings, table, "", 0.0)
    assert store.rows("drinks", [3])[0].gold == ["tea", "milk"]
    packed = unpack(store.learner("drinks"))
    row = store.rows("drinks", [5])[0].features
    assert str(packed.estimator.ask(row.astype(np.float64))).startswith("Do you prefer")


@pytest.mark.parametrize("labels", [Numbers(0, 9), Numbers(), ClassNames(("a", "b", "c")), Items(("a", "b"))])
@pytest.mark.parametrize("text", ["x\n1\n", "x\n1\n1\n1\n", "x,y\n1,a\n2,b\n"], ids=["one", "alike", "two"])
def test_small_tables_make_campaigns(store, tmp_path, labels, text):
    create_campaign(store, "a", Settings("A", labels), table_of(tmp_path, text), "", 0.0)
    packed = unpack(store.learner("a"))
    row = store.rows("a", [0])[0].features.astype(np.float64)
    packed.estimator.tell(packed.estimator.ask(row), True)


def test_a_model_that_could_not_be_opened_leaves_no_campaign(store, homes, monkeypatch):
    """It grows with classes times columns: 1000 classes of 60 columns are too many."""
    monkeypatch.setattr(model_file, "_SMALLEST", 1 << 20)
    monkeypatch.setattr(model_file, "_RATIO", 1)
    settings = Settings("Many", ClassNames(tuple(f"c{i}" for i in range(300))))
    with pytest.raises(InvalidArgument, match="labels must be of fewer classes, or with fewer columns"):
        create_campaign(store, "many", settings, homes, "", 0.0)
    assert store.campaigns() == []


def test_nothing_to_learn_from_is_one_constant(store, homes):
    for labels in (Numbers(0, 9), ClassNames(("a", "b")), Items(("a", "b"))):
        settings = Settings("A", labels, RowSettings(learn=(), gold=None))
        create_campaign(store, labels.kind, settings, homes, "", 0.0)
        assert store.rows(labels.kind, [7])[0].features.tolist() == [0.0]


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (RowSettings(key="ID"), "rows.key"),
        (RowSettings(show=("sise",)), "rows.show"),
        (RowSettings(learn=("size", "nothing")), "rows.learn"),
        (RowSettings(gold="lable"), "rows.gold"),
    ],
)
def test_columns_that_are_not_there_are_refused(store, homes, rows, place):
    with pytest.raises(InvalidArgument, match="must be a column of the table") as refused:
        create_campaign(store, "a", Settings("A", Numbers(0, 9), rows), homes, "", 0.0)
    assert refused.value.argument == place
    assert store.campaigns() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,x\na,1\nb,2\na,3\n", "rows.key must be a column of keys that differ.*'a' twice in 'id': rows 1 and 3"),
        ("id,x\na,1\n,2\n", "row 2, column 'id': a key of 1 to 500 characters"),
        (f"id,x\na,1\n{'b' * 501},2\n", "row 2, column 'id': a key"),
    ],
)
def test_bad_keys_are_named_and_leave_nothing(store, tmp_path, text, reason):
    settings = Settings("A", Numbers(0, 9), RowSettings(key="id"))
    with pytest.raises((InvalidArgument, InvalidFile), match=reason):
        create_campaign(store, "a", settings, table_of(tmp_path, text), "", 0.0)
    assert store.campaigns() == []


def test_known_labels():
    numbers, classes, orders = Numbers(0, 9), ClassNames(("cat", 3, 4.5)), Items(("tea", "milk", 7))
    assert numbers.as_label("4.5") == 4.5
    assert numbers.as_label(4) == 4.0
    assert [classes.as_label(given) for given in ("cat", " cat ", "3", 3, 4.5)] == ["cat", "cat", 3, 3, 4.5]
    assert orders.as_label("milk > 7 > tea") == orders.as_label('["milk", 7, "tea"]') == ["milk", 7, "tea"]
    for labels, bad in [(numbers, "x"), (numbers, "inf"), (classes, "dog"), (orders, "milk > tea"), (orders, "[1"),
                          (orders, "milk > milk > tea"), (orders, '[["tea"]]')]:  # fmt: skip
        with pytest.raises(InvalidArgument, match="label must be"):
            labels.as_label(bad)


def test_a_bad_known_label_is_named(store, tmp_path):
    settings = Settings("A", ClassNames(("cat", "dog")), RowSettings(gold="y"))
    with pytest.raises(InvalidFile, match="row 2, column 'y': label must be one of: cat, dog; got 'cow'"):
        create_campaign(store, "a", settings, table_of(tmp_path, "x,y\n1,cat\n2,cow\n"), "", 0.0)
    settings = Settings("A", Numbers(0, 3000), RowSettings(gold="y"))
    rows = table_of(tmp_path, 'x,y\n1,"1.200,50 €"\n2,\n3,"3.500 €"\n')
    beyond = "row 3, column 'y': label must be a number from 0 to 3,?000, the range of labels; got '3.500 €'"
    with pytest.raises(InvalidFile, match=beyond):
        create_campaign(store, "a", settings, rows, "", 0.0)
    with pytest.raises(InvalidFile, match=beyond):
        require_labels(settings, rows)


def test_known_labels_are_read_as_their_column(store, tmp_path):
    settings = Settings("A", Numbers(0, 3000), RowSettings(gold="y"))
    create_campaign(store, "a", settings, table_of(tmp_path, 'x,y\n1,"1.200,50 €"\n2,\n3,"1.500 €"\n'), "", 0.0)
    assert [row.gold for row in store.rows("a", [0, 1, 2])] == [1200.5, None, 1500.0]


# -- the model ------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize(
    "settings",
    [
        Settings("A", Numbers(0, 9, "€", 1, "price"), question=QuestionSettings("Sold for {threshold}?")),
        Settings("A", Numbers(), ask=AskSettings(budget=40)),
        Settings("A", Numbers(0, 9), learner=LearnerSettings(interval=0.9, flip=0.1)),
        Settings("A", Numbers(0, 9), learner=LearnerSettings(loss="squared", learner="rls")),
        Settings("A", Numbers(0, 9), learner=LearnerSettings(learner="sgd", loss="huber")),
        Settings("A", ClassNames(("a", "b", "c")), ask=AskSettings(order="random")),
        Settings("A", ClassNames(("a", 2, 3.5), {"x": ["a", 2], "y": [2, 3.5]}), question=QuestionSettings()),
        Settings("A", ClassNames(("a", "b")), learner=LearnerSettings(learner="sgd")),
        Settings("A", Items(("a", "b", 3)), question=QuestionSettings("{first} or {second}?")),
        Settings("A", Items(("a", "b", 3)), learner=LearnerSettings(flip=0.05)),
        Settings("A", Items(("a", "b")), learner=LearnerSettings(learner="rls")),
    ],
    ids=[
        "priced", "unranged", "interval", "rls", "huber", "by lot", "attributes", "gradients", "worded", "flipped",
        "recursive",
    ],
)  # fmt: skip
def test_models_are_made_and_packed_exactly(settings):
    estimator = make_estimator(settings, X)
    assert estimator.budget is None
    for i in range(5):
        estimator.tell(estimator.ask(X[i]), i % 2 == 0)
    encoder = Encoder((ImagePart("image"),))
    packed = pack(estimator, encoder)
    again, same = unpack(packed)
    assert same == encoder
    assert pack(again, same) == packed
    assert str(again.ask(X[7])) == str(estimator.ask(X[7]))


def test_the_budget_bounds_the_search_for_a_range():
    few = make_estimator(Settings("A", Numbers(), ask=AskSettings(budget=80, overlap=2)), X).stream_.learner.base
    many = make_estimator(Settings("A", Numbers()), X).stream_.learner.base
    assert few.questions == 10
    assert many.questions == 60


@pytest.mark.parametrize("data", [b"", b"PK", b"x" * 100])
def test_what_is_no_packed_model_is_refused(data):
    with pytest.raises(InvalidFile):
        unpack(data)


# -- images ---------------------------------------------------------------------------------------


def image(mode="RGB", size=(40, 30), kind="PNG", **options):
    random = np.random.default_rng(0)
    pixels = random.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, kind, **options)
    return out.getvalue()


def bomb(width, height):
    """A PNG file that says how large it is, and holds next to nothing."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (image(), "image/png"),
        (image("L"), "image/png"),
        (image("P", kind="GIF"), "image/png"),
        (image("RGBA"), "image/png"),
        (image("1"), "image/png"),
        (image("CMYK", kind="JPEG"), "image/jpeg"),
        (image(kind="JPEG"), "image/jpeg"),
        (image(kind="WEBP"), "image/jpeg"),
        (image(kind="BMP"), "image/png"),
        (image(size=(3000, 20)), "image/png"),
        (image(size=(1, 1)), "image/png"),
    ],
)
def test_images_are_written_anew(data, kind):
    safe = safe_image(data)
    assert safe.kind == kind
    assert safe.gray.shape == (256,)
    assert safe.gray.min() >= 0
    assert safe.gray.max() <= 1
    with Image.open(io.BytesIO(safe.data)) as again:
        assert again.mode in ("RGB", "L")
        assert max(again.size) <= 1600
        assert Image.MIME[again.format] == kind
        assert not again.getexif()
    assert safe_image(data).data == safe.data


def test_gray_values_are_light():
    out = io.BytesIO()
    Image.fromarray(np.repeat(np.array([[0, 255]], dtype=np.uint8), 2, axis=0)).save(out, "PNG")
    gray = safe_image(out.getvalue()).gray.reshape(16, 16)
    assert (gray[:, :8] == 0).all()
    assert (gray[:, 8:] == 1).all()
    deep = io.BytesIO()
    Image.fromarray(np.full((4, 4), 65535, dtype=np.uint16)).save(deep, "PNG")
    assert (safe_image(deep.getvalue()).gray == 1).all()


def test_what_is_attached_is_left_behind_and_images_stand_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # held on its side
    exif[0x010E] = "secret place"
    data = image(kind="JPEG", exif=exif, comment=b"secret comment")
    safe = safe_image(data)
    assert b"secret" in data
    assert b"secret" not in safe.data
    with Image.open(io.BytesIO(safe.data)) as again:
        assert again.size == (30, 40)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not an image",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html><script>alert(1)</script></html>",
        b"GIF89a" + b"<script>",
        image()[:200],
        image(kind="JPEG")[:300],
        image(kind="TIFF"),
        bomb(100, 100),
    ],
)
def test_what_is_no_image_is_refused(data):
    with pytest.raises(InvalidFile, match="'x.png': is not an image that can be read"):
        safe_image(data, origin="'x.png'")


@pytest.mark.parametrize("size", [(8000, 8000), (30_000, 30_000), (2_000_000, 100), (0, 5)])
def test_bombs_are_refused_before_they_are_decoded(size):
    with pytest.raises(InvalidFile, match="pixels are allowed|not an image"):
        safe_image(bomb(*size))
    with pytest.raises(InvalidFile, match="at most 10 bytes"):
        safe_image(b"x" * 11, Limits(image=10))


def test_sixteen_bits_a_pixel_take_no_more_memory_than_eight():
    """A file of 34 kB may have 16 million pixels: as floats, all at once, they would take 128 MB and more."""
    deep = io.BytesIO()
    Image.fromarray(np.full((4000, 4000), 65535, dtype=np.uint16)).save(deep, "PNG")
    tracemalloc.start()
    try:
        safe_image(deep.getvalue())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64e6


def test_a_folder_becomes_a_campaign_with_its_images(store, tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.png").write_bytes(image(size=(10 + i, 10)))
    settings = Settings("Pictures", ClassNames(("cat", "dog")))
    create_campaign(store, "a", settings, open_table(tmp_path), "", 0.0)
    [row] = store.rows("a", [3])
    assert (row.key, row.content) == ("3.png", {"image": "3.png"})
    safe = safe_image((tmp_path / "3.png").read_bytes())
    assert (row.features == picture_features(safe.small(32))).all()
    assert store.media("a", "3.png") == (safe.kind, safe.data)
    assert store.media("a", "../3.png") is None
    more = tmp_path / "more"
    more.mkdir()
    (more / "9.png").write_bytes(image())
    assert add_rows(store, "a", open_table(more), 1.0, "") == 1
    assert store.media("a", "9.png") is not None


def test_one_bad_image_leaves_no_campaign(store, tmp_path):
    (tmp_path / "1.png").write_bytes(image())
    (tmp_path / "2.png").write_bytes(b"<svg/>")
    with pytest.raises(InvalidFile, match="'2.png': is not an image"):
        create_campaign(store, "a", Settings("A", Numbers(0, 9)), open_table(tmp_path), "", 0.0)
    assert store.campaigns() == []


def test_all_bad_images_are_named_at_once(store, tmp_path):
    for i in range(6):
        (tmp_path / f"{i}.png").write_bytes(b"<svg/>" if i in (1, 3, 4) else image())
    with pytest.raises(InvalidFile, match=r"'1.png': is not an image .*; nor can '3.png', '4.png': take these out"):
        create_campaign(store, "a", Settings("A", Numbers(0, 9)), open_table(tmp_path), "", 0.0)


def test_columns_are_named_as_they_will_be_used(homes, tmp_path):
    named = with_columns(Settings("A", Numbers(0, 9), RowSettings(show=("note",), learn=("size",))), homes)
    assert named.rows == RowSettings(None, ("note",), ("size",), None, None)
    assert with_columns(named, homes) == named
    assert json.loads(json.dumps(named.to_json())) == named.to_json()
