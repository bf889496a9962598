"""Datasets that Hugging Face's library saved to disk: Arrow files with what they mean beside them."""

import json
import struct

import pyarrow as pa
import pytest

from askone.campaign.settings.settings import ClassNames
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Limits, ReadOptions
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, InvalidFile

LABEL = {"names": ["bad", "good"], "_type": "ClassLabel"}


def saved(folder, columns, features=None, parts=2, **state):
    """A folder as ``Dataset.save_to_disk`` writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    files = [f"data-{n:05}-of-{parts:05}.arrow" for n in range(parts)]
    step = -(-table.num_rows // parts)
    for n, name in enumerate(files):
        with pa.OSFile(str(folder / name), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table.slice(n * step, step), max_chunksize=7)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": one} for one in files], **state}))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features or {}}))
    return folder


def reviews(n=40):
    return {
        "text": pa.array([f"a review of {i}" for i in range(n)]),
        "long": pa.array([f"t{i % 3}" for i in range(n)], pa.large_string()),
        "stars": pa.array([None if i == 3 else i / 2 for i in range(n)]),
        "label": pa.array([i % 4 - 2 if i % 4 < 2 else i % 2 for i in range(n)], pa.int64()),
    }


def test_a_dataset_is_a_table(tmp_path):
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": LABEL}
    found = open_table(saved(tmp_path / "my_reviews", reviews(), features))
    assert (found.rows, found.title) == (40, "My reviews")
    assert [(one.name, one.kind) for one in found.columns] == [
        ("text", "text"), ("long", "category"), ("stars", "number"), ("label", "category")
    ]  # fmt: skip
    rows = [row for chunk in found.chunks() for row in chunk]
    assert rows == found.sample
    assert rows[2] == {"text": "a review of 2", "long": "t2", "stars": 1.0, "label": "bad"}
    assert rows[0]["label"] is None  # -1 and below: not known
    guessed = suggest(found)
    assert guessed.labels == ClassNames(("bad", "good"))
    assert guessed.rows.gold == "label"


PLACES = struct.pack("<4i", 0, 5, 10, 15)
WRONG = {
    "a place far away": (PLACES, struct.pack("<4i", 0, 1 << 29, 10, 15)),  # once the end of the process
    "an end far away": (PLACES, struct.pack("<4i", 0, 5, 10, 1 << 30)),
    "no text": (b"abcde", b"ab\xff\xfee"),
    "a word far away": (struct.pack("<3i", 0, 1, 1), struct.pack("<3i", 0, 1 << 28, 1)),
    "a vector far away": (struct.pack("<4i", 0, 2, 4, 6), struct.pack("<4i", 0, 1 << 26, (1 << 26) + 2, 6)),
}


@pytest.mark.parametrize("what", WRONG)
def test_places_in_a_file_that_lead_out_of_it_are_not_followed(tmp_path, what):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), pa.array(["x", "y"]))
    vectors = pa.array([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]])
    columns = {"t": pa.array(["abcde", "fghij", "klmno"]), "w": words, "v": vectors}
    folder = saved(tmp_path / "a", columns, parts=1)
    file = folder / "data-00000-of-00001.arrow"
    content = file.read_bytes()
    assert content.count(WRONG[what][0]) == 1
    file.write_bytes(content.replace(*WRONG[what]))
    with pytest.raises(InvalidFile, match="a: cannot be read as Arrow"):
        open_table(folder)


@pytest.mark.parametrize(
    ("features", "state"),
    [
        ([1], {}),
        ({"n": {"_type": "ClassLabel", "names": 7}}, {}),
        ({}, {"_data_files": [7]}),
        ({}, {"_data_files": [{}]}),
    ],
)
def test_what_is_said_of_a_dataset_may_be_anything(tmp_path, features, state):
    with pytest.raises(InvalidFile, match="is not as the library writes it"):
        open_table(saved(tmp_path / "a", {"n": [1]}, features, 1, **state))
    (tmp_path / "a" / "dataset_dict.json").write_text('{"splits": [".."]}')
    with pytest.raises(InvalidFile, match="'..' is not in this folder"):
        open_table(tmp_path / "a")


def test_splits_are_chosen(tmp_path):
    for name in ("train", "test"):
        saved(tmp_path / name, reviews(5 if name == "test" else 9), parts=1)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(InvalidArgument, match="--split must be given, one of 'train', 'test'"):
        open_table(tmp_path)
    with pytest.raises(InvalidArgument, match="rows.part must be one of 'train', 'test'; got 'dev'"):
        open_table(tmp_path, options=ReadOptions("dev"))
    found = open_table(tmp_path, options=ReadOptions("test"))
    assert (found.rows, found.part, found.parts) == (5, "test", ("train", "test"))
    with pytest.raises(InvalidArgument, match="rows.part must be left out"):
        open_table(tmp_path / "train", options=ReadOptions("train"))


def test_what_cannot_be_read_is_named(tmp_path):
    image = saved(tmp_path / "a", {"n": [1]}, {"photo": {"_type": "Image"}}, 1)
    with pytest.raises(InvalidFile, match="a: column 'photo' holds image files; save images into folders instead"):
        open_table(image)
    with pytest.raises(InvalidFile, match="flatten_indices"):
        open_table(saved(tmp_path / "b", {"n": [1]}, parts=1, _indices_data_files=[{"filename": "i.arrow"}]))
    away = saved(tmp_path / "c", {"n": [1]}, parts=1, _data_files=[{"filename": "../a/data-00000-of-00001.arrow"}])
    with pytest.raises(InvalidFile, match="is not in this folder"):
        open_table(away)
    broken = saved(tmp_path / "d", {"n": [1, 2]}, parts=1)
    (broken / "data-00000-of-00001.arrow").write_bytes(b"no arrow")
    with pytest.raises(InvalidFile, match="d: cannot be read as Arrow"):
        open_table(broken)
    (broken / "state.json").write_text("[]")
    with pytest.raises(InvalidFile, match="d: state.json: a JSON object is needed"):
        open_table(broken)
    with pytest.raises(InvalidFile, match="at most 5 rows"):
        open_table(saved(tmp_path / "e", reviews()), Limits(rows=5))
    with pytest.raises(InvalidFile, match="f: cannot be read as Arrow|f: column 'label'"):
        open_table(saved(tmp_path / "f", {"label": [0, 7]}, {"label": LABEL}, 1))
