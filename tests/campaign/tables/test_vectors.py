"""Vectors of one's own: a list column of Parquet, a .npy beside a table."""

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from askone.campaign.create import add_rows, create_campaign, with_columns
from askone.campaign.engine.model_builder import unpack
from askone.campaign.settings.settings import ClassNames, Numbers, RowSettings, Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.open import open_table
from askone.campaign.tables.vectors import with_vectors
from askone.encoding.columns import vector_column
from askone.errors import InvalidArgument, InvalidFile

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(30, 6)).astype(np.float32)
KINDS = [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float32(), 6), pa.list_(pa.float16())]


def written(path, vectors, kind=None, **columns):
    made = {"v": pa.array(vectors, kind)} | columns
    parquet.write_table(pa.table({"size": list(range(len(vectors))), **made}), path, row_group_size=7)
    return path


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_list_column_of_one_length_is_vectors(store, tmp_path, kind):
    table = open_table(written(tmp_path / "a.parquet", [*VECTORS.astype(np.float16).tolist(), None], kind))
    assert table.columns[1] == vector_column("v", 6)
    settings = suggest(table)
    assert settings.rows.show == ("size",)
    assert settings.rows.learn == ("size", "v")
    create_campaign(store, "a", Settings("A", Numbers(0, 9)), table, "", 0.0)
    rows = list(store.rows("a", range(31)))
    assert [row.content for row in rows] == [{"size": i} for i in range(31)]
    assert (np.array([row.features[-6:] for row in rows[:30]]) == VECTORS.astype(np.float16)).all()
    assert not rows[30].features[-6:].any()
    more = open_table(written(tmp_path / "b.parquet", VECTORS[:3].tolist()))
    assert add_rows(store, "a", more, 1.0, "") == 3
    assert (next(iter(store.rows("a", [32]))).features[-6:] == VECTORS[1]).all()
    narrow = open_table(written(tmp_path / "c.parquet", VECTORS[:3, :4].tolist()))
    with pytest.raises(InvalidFile, match="column 'v': 6 finite numbers is needed; got shape \\(4,\\)"):
        add_rows(store, "a", narrow, 1.0, "")
    texts = open_table(written(tmp_path / "d.parquet", ["no", "vectors"]))
    with pytest.raises(InvalidFile, match="column 'v': 6 finite numbers is needed; got 'no'"):
        add_rows(store, "a", texts, 1.0, "")


def test_lists_of_different_lengths_stay_texts(tmp_path):
    table = open_table(written(tmp_path / "a.parquet", [[1.0], [1.0, 2.0], None]))
    assert table.columns[1].kind == "text"
    assert open_table(written(tmp_path / "b.parquet", [["a", "b"], ["c", "d"]])).columns[1].kind == "text"


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_a_vector_with_a_number_that_is_none_is_refused(tmp_path, bad):
    with pytest.raises(InvalidFile, match="a.parquet: row 20, column 'v': 2 finite numbers are needed"):
        open_table(written(tmp_path / "a.parquet", [*[[0.0, 1.0]] * 10, *[None] * 9, [1.0, bad]]))


def test_nobody_reads_vectors(tmp_path):
    table = open_table(written(tmp_path / "a.parquet", VECTORS.tolist()))
    for rows in (RowSettings(key="v"), RowSettings(show=("v",)), RowSettings(gold="v")):
        with pytest.raises(InvalidArgument, match="a column that people can read, not of vectors; got 'v'"):
            with_columns(Settings("A", Numbers(0, 9), rows), table)


@pytest.mark.parametrize("name", ["label", "id"])
def test_vectors_are_no_labels_and_no_keys(tmp_path, name):
    table = open_table(
        written(tmp_path / "a.parquet", VECTORS[:5].tolist(), **{name: [*VECTORS[:2].tolist(), *[None] * 3]})
    )
    assert (suggest(table).rows.key, suggest(table).rows.gold) == (None, None)


# -- beside a table -------------------------------------------------------------------------------


def test_a_npy_beside_a_table_is_a_column_of_it(store, tmp_path):
    (tmp_path / "homes.csv").write_text("id,size\n" + "".join(f"h{i},{i}\n" for i in range(30)))
    np.save(tmp_path / "seen.npy", VECTORS.astype(np.float64))
    table = with_vectors(open_table(tmp_path / "homes.csv"), tmp_path / "seen.npy")
    assert table.columns[-1] == vector_column("seen", 6)
    create_campaign(store, "a", Settings("A", Numbers(0, 9), RowSettings(key="id")), table, "", 0.0)
    rows = list(store.rows("a", range(30)))
    assert (np.array([row.features[-6:] for row in rows]) == VECTORS).all()
    assert [part.kind for part in unpack(store.learner("a")).encoder.parts] == ["number", "vector"]


def test_vectors_of_pictures_are_learnt_in_place_of_them(store, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(5):
        Image.fromarray(RNG.integers(0, 256, (9, 9, 3), dtype=np.uint8)).save(folder / f"{i}.png")
    np.save(tmp_path / "deep.npy", VECTORS[:5])
    table = with_vectors(open_table(folder), tmp_path / "deep.npy")
    assert suggest(table).rows.learn == ("deep",)
    create_campaign(store, "a", Settings("A", ClassNames(("cat", "dog"))), table, "", 0.0)
    rows = list(store.rows("a", range(5)))
    assert [row.key for row in rows] == [f"{i}.png" for i in range(5)]
    assert (np.array([row.features for row in rows]) == VECTORS[:5]).all()
    assert store.media("a", "3.png") is not None


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (VECTORS[:4], "5 rows, as the table has, of 1 to 8192 numbers are needed; got 4 rows of 6"),
        (VECTORS[:5, 0], "rows of numbers are needed; got float32 \\(5,\\)"),
        (np.array([["a"]] * 5), "rows of numbers are needed"),
        (np.array([[1.0]] * 4 + [[np.nan]]), "row 5: finite numbers are needed"),
        (np.array([[{}]] * 5, dtype=object), "cannot be read as an array of NumPy"),
    ],
    ids=["rows", "flat", "texts", "nan", "objects"],
)
def test_other_arrays_are_refused(tmp_path, array, reason):
    (tmp_path / "a.csv").write_text("x\n" + "1\n" * 5)
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(InvalidFile, match=f"v.npy: {reason}"):
        with_vectors(open_table(tmp_path / "a.csv"), tmp_path / "v.npy")


def test_a_npy_is_not_called_as_a_column_is(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    np.save(tmp_path / "x.npy", VECTORS[:1])
    with pytest.raises(InvalidFile, match="x.npy: .*same name 'x'"):
        with_vectors(open_table(tmp_path / "a.csv"), tmp_path / "x.npy")
