"""Data sets by name: the same numbers from every place and format, and nothing else accepted."""

import gzip
import hashlib
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler

import numpy as np
import pandas as pd
import pytest

from askone.datasets import DATASETS, ENVIRONMENT, File, Recipe, _formats, _loading, card, content_checksum, load
from askone.errors import AskoneError, DownloadFailed, InvalidArgument, InvalidFile, MissingExtra, WrongType
from listening import Handler, listening
from samples import real_file

X = np.array([[0.0, 100.0], [3.0, 0.0], [7.0, 8.0]])
Y = np.array([1.0, 0.0, 1.0])
NOWHERE = "http://127.0.0.1:9/"  # the discard port: nobody listens


def libsvm(rows, labels):
    lines = [
        " ".join([f"{label:g}", *(f"{i}:{value:g}" for i, value in enumerate(row, 1) if value)])
        for row, label in zip(rows, labels, strict=True)
    ]
    return "\n".join(lines).encode()


def label_first(rows, labels):
    table = np.column_stack([labels, rows])
    return "".join(" ".join(f"{value:.4f}" for value in row) + " \n" for row in table).encode()


def write_parquet(path, rows, labels, names=("x000", "x001")):
    pd.DataFrame(rows, columns=list(names)).assign(label=labels).to_parquet(path)


def toy_recipe(home=NOWHERE):
    text = (libsvm(X[:2], Y[:2]), libsvm(X[2:], Y[2:]))
    files = (
        File("toy", "toy-train.parquet", content_checksum(X[:2], Y[:2]), hashlib.sha256(text[0]).hexdigest()),
        File("toy.t.gz", "toy-test.parquet", content_checksum(X[2:], Y[2:])),
    )
    about = {"source": "nowhere", "licence": "none", "split": "two and one"}
    return Recipe(home, files, _formats.from_libsvm, ("x000", "x001"), (0, 1), 2, **about)


def write_originals(place):
    place.mkdir(exist_ok=True)
    (place / "toy").write_bytes(libsvm(X[:2], Y[:2]))
    (place / "toy.t.gz").write_bytes(gzip.compress(libsvm(X[2:], Y[2:]), mtime=0))
    return place


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.setenv("no_proxy", "*")  # the loopback server is asked directly
    monkeypatch.setattr(_loading.pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "askone"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(DATASETS, "toy", toy_recipe())


class Files(Handler, SimpleHTTPRequestHandler):
    """Files of a folder."""


@contextmanager
def served(place):
    with listening(partial(Files, directory=place)) as port:
        yield f"http://127.0.0.1:{port}/"


def check_toy(data):
    assert np.array_equal(data.X, X[:2])
    assert np.array_equal(data.X_test, X[2:])
    assert data.y.tolist() == [1, 0]
    assert data.y_test.tolist() == [1]
    assert data.y.dtype == np.int64


# Where it looks, and in which format


def test_originals_packed_or_not(toy, tmp_path):
    place = write_originals(tmp_path / "data")
    check_toy(load("toy", place))
    (place / "toy.t.gz").unlink()
    (place / "toy.t").write_bytes(libsvm(X[2:], Y[2:]))
    check_toy(load("toy", str(place)))


def test_a_gz_file_that_a_server_unpacked(toy, tmp_path):
    place = write_originals(tmp_path / "data")
    (place / "toy.t.gz").write_bytes(libsvm(X[2:], Y[2:]))
    check_toy(load("toy", place))


def test_label_first_text(monkeypatch, tmp_path):
    monkeypatch.setitem(DATASETS, "toy", replace(toy_recipe(), parse=_formats.from_label_first))
    (tmp_path / "toy").write_bytes(label_first(X[:2], Y[:2]))
    (tmp_path / "toy.t").write_bytes(label_first(X[2:], Y[2:]))
    check_toy(load("toy", tmp_path))
    (tmp_path / "toy").write_bytes(label_first(X[:2, :1], Y[:2]))
    with pytest.raises(InvalidFile, match="a label and 2 numbers; got 2 numbers"):
        load("toy", tmp_path)


def test_parquet_and_without_pyarrow(toy, tmp_path, monkeypatch):
    write_parquet(tmp_path / "toy-train.parquet", X[:2], Y[:2])
    write_parquet(tmp_path / "toy-test.parquet", X[2:], Y[2:])
    check_toy(load("toy", tmp_path))
    monkeypatch.setattr(_formats, "parquet", None)
    with pytest.raises(MissingExtra, match=r"pip install 'askone\[parquet\]'"):
        load("toy", tmp_path)


def test_environment_then_cache(toy, tmp_path, monkeypatch, cache):
    cache.parent.mkdir()
    write_originals(cache)
    check_toy(load("toy"))
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setenv(ENVIRONMENT, str(named))
    check_toy(load("toy"))  # what it lacks is in the cache
    (named / "toy").write_text("damaged")
    with pytest.raises(InvalidFile, match="named"):
        load("toy")
    check_toy(load("toy", cache))  # the argument comes first


def test_real_labels_stay_real(monkeypatch, tmp_path):
    monkeypatch.setitem(DATASETS, "toy", replace(toy_recipe(), classes=None))
    assert load("toy", write_originals(tmp_path)).y.dtype == np.float64


TABLE = b'\xef\xbb\xbfx000,"unit, \xb5mol",x001,label,more\r\n0,"a, b",100,1,2\r\n3,c,,0.5,\r\n3,"d",0,0,NA\r\n'


def csv_recipe(**changes):
    file = File("toy.csv", "toy.parquet", content_checksum(X[:2], Y[:2]))
    return replace(toy_recipe(), files=(file,), parse=_formats.from_csv, training=1, complete=True, **changes)


def test_csv_by_names_and_complete_rows(monkeypatch, tmp_path):
    monkeypatch.setitem(DATASETS, "toy", csv_recipe())
    (tmp_path / "toy.csv").write_bytes(TABLE)
    data = load("toy", tmp_path)
    assert (data.X.tolist(), data.X_test.tolist()) == (X[:1].tolist(), X[1:2].tolist())
    assert data.y.tolist() == [1]
    (tmp_path / "toy.csv").unlink()
    write_parquet(tmp_path / "toy.parquet", np.array([X[0], [5, np.nan], X[1]]), [1, 0.5, 0])
    assert load("toy", tmp_path).X_test.tolist() == X[1:2].tolist()
    monkeypatch.setitem(DATASETS, "toy", replace(csv_recipe(), complete=False))
    with pytest.raises(InvalidFile, match="finite"):
        load("toy", tmp_path)


def test_several_outputs(monkeypatch, tmp_path):
    free = File("toy.csv", "toy.parquet", None)
    recipe = replace(csv_recipe(), files=(free,), feature_names=("x001",), target_names=("label", "x000"), classes=None)
    monkeypatch.setitem(DATASETS, "toy", recipe)
    (tmp_path / "toy.csv").write_bytes(TABLE)
    data = load("toy", tmp_path)
    assert (data.y.tolist(), data.y_test.tolist()) == ([[1, 0]], [[0, 3]])
    assert data.target_names == ("label", "x000")
    assert content_checksum(data.X, data.y) != content_checksum(data.X, data.y[:, ::-1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x000,label\n1,2\n", "no column x001"),
        (b"x000,x001,label\n", "no rows"),
        (b"x000,x001,label\n1,2\n", "column"),
        (b"x000,x001,label\n1,two,3\n", "two"),
        (b"x000,x001,label\n1,inf,3\n", "finite"),
        (b"x000,x001,label\n0,100,1\n", "checksum"),
        (b"<html>sign in</html>", "no column"),
    ],
)
def test_other_csv_is_refused(monkeypatch, tmp_path, text, said):
    monkeypatch.setitem(DATASETS, "toy", csv_recipe())
    (tmp_path / "toy.csv").write_bytes(text)
    with pytest.raises(InvalidFile, match=said):
        load("toy", tmp_path)


def test_a_table_cut_short_is_refused_where_there_is_no_checksum(monkeypatch, tmp_path):
    monkeypatch.setitem(DATASETS, "toy", replace(csv_recipe(), files=(File("toy.csv", "toy.parquet", None),)))
    (tmp_path / "toy.csv").write_bytes(TABLE[: TABLE.index(b"3,c")])
    with pytest.raises(InvalidFile, match="1 rows, of which 1 train"):
        load("toy", tmp_path)


def test_what_changes_the_inputs_comes_after_the_check(monkeypatch, tmp_path):
    monkeypatch.setitem(DATASETS, "toy", replace(toy_recipe(), transform=lambda rows: rows + 1))
    assert np.array_equal(load("toy", write_originals(tmp_path)).X, X[:2] + 1)


# Cards


@pytest.mark.parametrize("name", list(DATASETS))
def test_cards_say_what_there_is_to_know(name):
    text, recipe = card(name), DATASETS[name]
    flat = " ".join(text.split())
    for part in (recipe.source, recipe.licence, recipe.split, recipe.home, *recipe.notes, *recipe.target_names):
        assert part in flat
    for file in recipe.files:
        assert all(one in flat for one in file.names)
    assert recipe.notes
    assert flat.startswith(f"{name} source: ")
    assert max(map(len, text.splitlines())) <= 120


# What it refuses


@pytest.mark.parametrize("call", [load, card])
@pytest.mark.parametrize("name", ["mnist", 3, None])
def test_unknown_name_lists_names(call, name):
    with pytest.raises(
        InvalidArgument, match="'pendigits', 'usps', 'usps-libsvm', 'weather', 'calcofi', 'calcofi-bottle'"
    ):
        call(name)


def test_directory_without_files_names_them(tmp_path):
    expected = "pendigits or pendigits.gz or pendigits-train.parquet, and pendigits.t or"
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidArgument, match=expected):
            load("pendigits", place)
    with pytest.raises(
        InvalidArgument, match="bottle.csv or bottle.csv.gz or bottle.parquet .*kaggle.com.*calcofi.org"
    ):
        load("calcofi-bottle", tmp_path)
    with pytest.raises(WrongType, match="a path or None"):
        load("pendigits", 3)


def test_environment_that_is_no_directory(monkeypatch, tmp_path):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "typo"))
    with pytest.raises(InvalidArgument, match="ASKONE_DATA must be a directory"):
        load("usps")


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"1 1:100",
        b"1 2:100\n0 1:4",
        b"1 2:100\n0 1:3\n0 1:3",
        b"<html>sign in</html>",
        b"1 9:100\n0 1:3",
        b"1 2:nan\n0 1:3",
        gzip.compress(libsvm(X[:2], Y[:2]), mtime=0)[:-9],
        b"\x1f\x8b and nothing more",
        b"PAR1 and nothing more",
    ],
)
def test_damaged_or_other_files_are_refused(toy, tmp_path, damaged):
    (write_originals(tmp_path) / "toy").write_bytes(damaged)
    with pytest.raises(InvalidFile, match="toy"):
        load("toy", tmp_path)


def test_parquet_damaged_anywhere_is_refused_or_harmless(toy, tmp_path):
    (tmp_path / "toy.t").write_bytes(libsvm(X[2:], Y[2:]))
    path = tmp_path / "toy-train.parquet"
    write_parquet(path, X[:2], Y[:2])
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), 29):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            check_toy(load("toy", tmp_path))
        except InvalidFile:
            refused += 1
    assert refused > 10


def test_other_columns_are_refused(toy, tmp_path):
    (tmp_path / "toy.t").write_bytes(libsvm(X[2:], Y[2:]))
    write_parquet(tmp_path / "toy-train.parquet", X[:2], Y[:2], names=("x000", "height"))
    with pytest.raises(InvalidFile, match="x001"):
        load("toy", tmp_path)


def test_what_was_expected_is_said(toy, tmp_path):
    (write_originals(tmp_path) / "toy").write_bytes(b"1 1:100")
    expected = DATASETS["toy"].files[0].content
    with pytest.raises(InvalidFile, match=f"expected the content checksum {expected}.*1 rows of 2 columns"):
        load("toy", tmp_path)


def test_the_checksum_sees_every_number():
    whole = content_checksum(X, Y)
    assert whole == content_checksum(np.asfortranarray(X), Y.astype(int))
    assert whole != content_checksum(X[::-1], Y)
    assert whole != content_checksum(X, 1 - Y)
    assert content_checksum(np.ones((2, 2)), [1, 1]) != content_checksum(np.ones((1, 5)), [1])
    by_hand = b"1 2\n" + np.array([1.5, 0.0, 7.0], dtype="<f8").tobytes()
    assert content_checksum([[1.5, -0.0]], [7]) == hashlib.sha256(by_hand).hexdigest()


# Downloads


def test_downloads_are_cached_and_checked(monkeypatch, tmp_path, cache):
    with served(write_originals(tmp_path / "home")) as url:
        monkeypatch.setitem(DATASETS, "toy", toy_recipe(url))
        check_toy(load("toy"))
    assert sorted(path.name for path in cache.iterdir()) == ["toy", "toy.t.gz"]
    check_toy(load("toy"))  # the server is gone


@pytest.mark.parametrize("name", ["toy", "toy.t.gz"])
def test_a_wrong_download_never_enters_the_cache(monkeypatch, tmp_path, cache, name):
    home = write_originals(tmp_path / "home")
    whole = (home / name).read_bytes()
    (home / name).write_bytes(b"1 1:5\n")
    with served(home) as url:
        monkeypatch.setitem(DATASETS, "toy", toy_recipe(url))
        with pytest.raises(InvalidFile, match=f"{url}{name}"):
            load("toy")
        assert name not in [path.name for path in cache.iterdir()]
        (home / name).write_bytes(whole)
        check_toy(load("toy"))


def test_the_bytes_of_a_download_are_checked_where_known(monkeypatch, tmp_path):
    home = write_originals(tmp_path / "home")
    (home / "toy").write_bytes(libsvm(X[:2], Y[:2]) + b"\n")  # the same numbers in other bytes
    with served(home) as url:
        monkeypatch.setitem(DATASETS, "toy", toy_recipe(url))
        with pytest.raises(InvalidFile, match="is not the file it was"):
            load("toy")


def test_no_network_says_what_to_do(toy, cache):
    with pytest.raises(DownloadFailed) as caught:
        load("toy")
    for part in (NOWHERE + "toy", NOWHERE + "toy.t.gz", str(cache), ENVIRONMENT):
        assert part in str(caught.value)
    assert isinstance(caught.value, AskoneError)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("weather", ("weatherHistory.csv", "weather.parquet", "kaggle.com/datasets/budincsevity/szeged-weather")),
        ("calcofi", ("calcofi.parquet", "calcofi4r", '"calcofi-bottle"')),
        ("calcofi-bottle", ("bottle.csv", "kaggle.com/datasets/sohier/calcofi", "calcofi.org/data")),
    ],
)
def test_what_no_program_can_fetch(monkeypatch, cache, name, parts):
    monkeypatch.setattr(_loading.pooch, "retrieve", None)
    with pytest.raises(DownloadFailed) as caught:
        load(name)
    for part in (*parts, str(cache), ENVIRONMENT):
        assert part in str(caught.value)


def test_a_file_that_moved_says_what_to_do(monkeypatch, tmp_path):
    with served(tmp_path) as url:
        monkeypatch.setitem(DATASETS, "toy", toy_recipe(url))
        with pytest.raises(DownloadFailed, match="404.*by hand"):
            load("toy")


# The real data


def real(name, data_directory):
    if not all(any((data_directory / n).is_file() for n in file.names) for file in DATASETS[name].files):
        pytest.skip(f"real data: {name} is not in {data_directory}")
    return load(name, data_directory)


@pytest.mark.parametrize(
    ("name", "rows", "test_rows", "columns", "low", "high"),
    [("pendigits", 7494, 3498, 16, 0, 100), ("usps", 7291, 2007, 256, -1, 1)],
)
def test_real_shapes(data_directory, name, rows, test_rows, columns, low, high):
    data = real(name, data_directory)
    assert data.X.shape == (rows, columns)
    assert data.X_test.shape == (test_rows, columns)
    assert data.y.shape == (rows,)
    assert data.y_test.shape == (test_rows,)
    assert len(data.feature_names) == columns
    assert data.classes == tuple(range(10)) == tuple(np.unique(data.y)) == tuple(np.unique(data.y_test))
    assert (data.X.min(), data.X.max()) == (low, high)
    assert content_checksum(data.X, data.y) == DATASETS[name].files[0].content
    assert content_checksum(data.X_test, data.y_test) == DATASETS[name].files[1].content
    assert data.source
    assert data.licence
    assert str(rows) in data.split


def test_real_pendigits_as_libsvm_text(data_directory, tmp_path, monkeypatch):
    data = real("pendigits", data_directory)
    home = tmp_path / "home"
    home.mkdir()
    for file, rows, labels in zip(
        DATASETS["pendigits"].files, (data.X, data.X_test), (data.y, data.y_test), strict=True
    ):
        text = libsvm(rows, labels)
        assert hashlib.sha256(text).hexdigest() == file.sha256  # byte for byte the file of LIBSVM's page
        (home / file.original).write_bytes(text)
    with served(home) as url:
        monkeypatch.setitem(DATASETS, "pendigits", replace(DATASETS["pendigits"], home=url))
        downloaded = load("pendigits")
    for one, other in ((downloaded, data), (load("pendigits", home), data)):
        assert (one.X == other.X).all()
        assert (one.y_test == other.y_test).all()


def test_real_usps_as_text(data_directory, tmp_path):
    data = real("usps", data_directory)
    (tmp_path / "zip.train.gz").write_bytes(gzip.compress(label_first(data.X, data.y), 1, mtime=0))
    (tmp_path / "zip.test").write_bytes(label_first(data.X_test, data.y_test))
    again = load("usps", tmp_path)
    assert (again.X == data.X).all()
    assert (again.X_test == data.X_test).all()


REGRESSION = [("weather", 70_000, 26_453, 6), ("calcofi", 500_000, 174_217, 5)]


@pytest.mark.parametrize(("name", "rows", "test_rows", "columns"), REGRESSION)
def test_real_regression(data_directory, name, rows, test_rows, columns):
    data, recipe = real(name, data_directory), DATASETS[name]
    assert (data.X.shape, data.X_test.shape) == ((rows, columns), (test_rows, columns))
    assert (data.y.shape, data.y_test.shape) == ((rows,), (test_rows,))
    assert {array.dtype for array in (data.X, data.y, data.X_test, data.y_test)} == {np.dtype(np.float64)}
    assert rows + test_rows == recipe.rows
    assert str(rows) in data.split
    assert str(test_rows) in data.split
    assert data.classes is None
    assert data.card == card(name)


def test_real_weather_from_the_original_table(data_directory, tmp_path):
    data = real("weather", data_directory)
    whole = np.vstack([data.X, data.X_test])
    assert np.count_nonzero(whole[:, data.feature_names.index("Pressure (millibars)")] == 0) == 1288
    assert np.count_nonzero(whole[:, data.feature_names.index("Humidity")] == 0) == 22
    table = pd.DataFrame(whole, columns=list(data.feature_names))
    table.insert(0, "Formatted Date", "2006-04-01 00:00:00.000 +0200")
    table.insert(2, "Apparent Temperature (C)", np.concatenate([data.y, data.y_test]))
    table.insert(7, "Loud Cover", 0.0)
    table["Daily Summary"] = "Foggy, then clear."
    table.to_csv(tmp_path / "weatherHistory.csv", index=False)
    again = load("weather", tmp_path)
    assert (again.X == data.X).all()
    assert (again.y_test == data.y_test).all()
    table.round(3).to_csv(tmp_path / "weatherHistory.csv", index=False)
    with pytest.raises(InvalidFile, match="checksum"):
        load("weather", tmp_path)


def test_real_bottles(data_directory, tmp_path, monkeypatch):
    path = real_file(data_directory, "calcofi-kaggle-fragments.parquet")
    table = pd.read_parquet(path)
    table.rename(columns={"O2Sat": "Oxy_µmol/Kg"}).to_csv(tmp_path / "bottle.csv", index=False, encoding="latin-1")
    with pytest.raises(InvalidFile, match="12982 rows, of which 500000 train"):
        load("calcofi-bottle", tmp_path)
    monkeypatch.setitem(DATASETS, "calcofi-bottle", replace(DATASETS["calcofi-bottle"], training=10_000))
    data = load("calcofi-bottle", tmp_path)
    names = [*data.feature_names, *data.target_names]
    assert names == ["R_Depth", "R_TEMP", "R_SALINITY", "R_SVA", "R_DYNHT", "R_O2", "R_O2Sat"]
    read = np.vstack([np.hstack([data.X, data.y]), np.hstack([data.X_test, data.y_test])])
    assert (read == table[names].dropna().to_numpy()).all()
    assert data.y.shape == (10_000, 2)
    (tmp_path / "bottle.csv").unlink()
    table.to_parquet(tmp_path / "bottle.parquet")
    assert (load("calcofi-bottle", tmp_path).X_test == data.X_test).all()
    table.drop(columns="R_SVA").to_csv(tmp_path / "bottle.csv", index=False)
    with pytest.raises(InvalidFile, match="no column R_SVA"):
        load("calcofi-bottle", tmp_path)


def test_real_blur_is_libsvms(data_directory):
    path = real_file(data_directory, "usps-libsvm-test.parquet")
    data, theirs = real("usps-libsvm", data_directory), pd.read_parquet(path)
    assert np.abs(data.X_test - theirs[list(data.feature_names)].to_numpy()).max() < 1.001e-6
    assert (data.y_test + 1 == theirs["label"]).all()
    plain = real("usps", data_directory)
    assert (plain.y == data.y).all()
    assert np.abs(plain.X - data.X).max() > 0.5


def test_importing_askone_does_not_load_it():
    code = (
        "import askone, sys; print([m for m in ('askone.datasets', 'pooch', 'sklearn.datasets') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
