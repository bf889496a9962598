"""Files from strangers: good ones with bytes changed, cut, doubled or put in, and bytes of any kind.

Each importer gives what it gives, or one of our own errors; never another exception, whatever is in the file.
"""

import contextlib
import csv
import io
import json
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pyarrow import parquet

import askone
from answered import answer, make
from askone.campaign.engine import model_builder
from askone.campaign.output.backup import backup_chunks, restore
from askone.campaign.output.export import model_bytes
from askone.campaign.output.label_studio import import_tasks, task_chunks
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.open import open_table
from askone.campaign.tables.safe_images import safe_image
from askone.errors import AskoneError, InvalidFile
from askone.estimators import model_file
from askone.store.open import open_store

ODD = (b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b",", b"\r", b"\n", b"{", b"[", b"\x1f\x8b", b"PK\x03\x04",
       b"PAR1", b"-1", b"1e999", b"NaN", b"null", b"../", b"\xed\xa0\x80", b"9" * 40, b"[" * 200)  # fmt: skip
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "double", "put", "drop"]),
        st.floats(0, 1, allow_nan=False),
        st.integers(1, 60),
        st.one_of(st.sampled_from(ODD), st.binary(min_size=1, max_size=12)),
    ),
    min_size=1,
    max_size=4,
)


def edited(data, edits):
    """The file with some of it changed."""
    for kind, where, size, piece in edits:
        at = int(where * len(data))
        match kind:
            case "flip":
                data = data[:at] + piece + data[at + len(piece) :]
            case "cut":
                data = data[:at]
            case "double":
                data = data[:at] + data[at : at + size] * 2 + data[at + size :]
            case "put":
                data = data[:at] + piece + data[at:]
            case "drop":
                data = data[:at] + data[at + size :]
    return data


def table_bytes(kind):
    rows = [
        {"id": f"r{i}", "size": i * 1.5, "colour": 'red, "or" ü' if i % 2 else "blue", "flag": i > 3} for i in range(9)
    ]
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if kind == "parquet":
        out = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(rows), out)
        return out.getvalue()
    if kind == "xlsx":
        out, book = io.BytesIO(), openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(out)
        return out.getvalue()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t" if kind == "tsv" else ",")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def image_bytes(kind):
    out = io.BytesIO()
    Image.linear_gradient("L").resize((12, 9)).convert("RGB").save(out, kind)
    return out.getvalue()


class Bench:
    """Good files, and what reads each kind."""

    def __init__(self, folder):
        self.folder, self.store = folder, open_store("memory:")
        campaign = make(self.store)
        answer(campaign, 4)
        tasks = b"".join(task_chunks(self.store, "c"))
        toml = b'title = "T"\n[labels]\nkind = "number"\nlow = 0\nhigh = 9\n[ask]\noverlap = 3\n'
        self.good = {
            **{f"table.{kind}": table_bytes(kind) for kind in ("csv", "tsv", "jsonl", "parquet", "xlsx")},
            **{f"image.{kind}": image_bytes(kind) for kind in ("png", "jpeg", "gif", "webp")},
            "backup": b"".join(backup_chunks(self.store, "c")),
            "tasks": tasks, "model": model_bytes(campaign), "learner": self.store.learner("c"), "settings": toml,
        }  # fmt: skip

    def read(self, kind, data):
        name, _, ending = kind.partition(".")
        if name == "table":
            path = self.folder / f"t.{ending}"
            path.write_bytes(data)
            for chunk in open_table(path).chunks():
                assert chunk
        elif name == "image":
            safe_image(data)
        elif name == "backup":
            with contextlib.closing(open_store("memory:")) as store:
                restore(store, io.BytesIO(data))
        elif name == "tasks":
            with contextlib.closing(open_store("memory:")) as store:
                import_tasks(make(store), io.BytesIO(data), 9.0)
        elif name == "model":
            path = self.folder / "m.askone"
            path.write_bytes(data)
            askone.load(path)
        elif name == "learner":
            model_builder.unpack(data)
        else:
            Settings.from_toml(data.decode("utf-8", "replace"))


KINDS = ("table.csv", "table.tsv", "table.jsonl", "table.parquet", "table.xlsx", "image.png", "image.jpeg",
         "image.gif", "image.webp", "backup", "tasks", "model", "learner", "settings")  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("bench"))
    yield bench
    bench.store.close()


def test_every_kind_has_a_good_file(bench):
    assert set(bench.good) == set(KINDS)
    for kind in KINDS:
        bench.read(kind, bench.good[kind])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_a_changed_file_is_read_or_refused(bench, kind, edits):
    with contextlib.suppress(AskoneError):
        bench.read(kind, edited(bench.good[kind], edits))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_read_or_refused(bench, kind, data):
    with contextlib.suppress(AskoneError):
        bench.read(kind, data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("title", "labels", "rows", "question", "ask", "learner", "kind", "low", "high", "classes", "items", "overlap")


def leaves(value, path=()):
    """The places of a JSON value."""
    yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(part, (*path, key))


def planted(value, path, new):
    """A JSON value with another at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = planted(copy[path[0]], path[1:], new)
    return copy


@settings(max_examples=150)
@given(data=st.data())
def test_a_model_that_says_something_else_is_read_or_refused(bench, data):
    """The document within a saved model, with a value changed anywhere, in a zip that is whole."""
    with zipfile.ZipFile(io.BytesIO(bench.good["model"])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts["askone.json"])
    path = data.draw(st.sampled_from(list(leaves(document))))
    parts["askone.json"] = json.dumps(planted(document, path, data.draw(VALUES))).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with contextlib.suppress(AskoneError):
        bench.read("model", out.getvalue())


def test_an_array_that_promises_more_than_it_has_is_refused(tmp_path):
    """Its head alone would take all memory."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"shape": (1 << 40,), "fortran_order": False, "descr": "<f8"})
    path = tmp_path / "m.askone"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("askone.json", '{"format": 1}')
        archive.writestr("arrays/x.npy", head.getvalue() + bytes(64))
    with pytest.raises(InvalidFile, match="longer or shorter than it says"):
        askone.load(path)


def test_a_bomb_within_a_packed_model_is_refused(monkeypatch, bench):
    """A zip in a zip: what the inner one unpacks to counts."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("askone.json", b" " * 3_000_000)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("model.zip", inner.getvalue())
        archive.writestr("encoder.json", "null")
    monkeypatch.setattr(model_file, "_SMALLEST", 1_000_000)
    assert len(outer.getvalue()) < 10_000
    with pytest.raises(InvalidFile, match="more than 1000000"):
        model_builder.unpack(outer.getvalue())


@given(st.dictionaries(st.sampled_from(NAMES), VALUES | st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)))
def test_settings_of_any_values_are_taken_or_refused(values):
    with contextlib.suppress(AskoneError):
        Settings.from_json(values)
    with contextlib.suppress(AskoneError):
        Settings.from_json({"title": "T", "labels": {"kind": "number"}, **values})
