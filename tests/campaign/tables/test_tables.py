"""Tables: what is read, what is refused, and that an error names the place."""

import contextlib
import csv
import gzip
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from askone.campaign.create import with_columns
from askone.campaign.settings.settings import ClassNames, Numbers, RowSettings, Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables import _csv
from askone.campaign.tables.base import Limits, ReadOptions, Spread, kind_of_texts
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, InvalidFile


@pytest.fixture
def table(tmp_path):
    def write(data, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return open_table(path, **options)

    return write


def rows_of(table):
    rows = [row for chunk in table.chunks() for row in chunk]
    assert len(rows) == table.rows
    assert rows == [row for chunk in table.chunks() for row in chunk]  # again and again
    return rows


def kinds(table):
    return {column.name: column.kind for column in table.columns}


# -- CSV ------------------------------------------------------------------------------------------


def test_a_csv_file_has_kinds_examples_and_typed_cells(table):
    text = "id,size,price,colour,note,page\n" + "".join(
        f'{i},{"" if i == 3 else i * 1.5},{i * 10},{["red", "blue"][i % 2]},"text {i}, with ""quotes""",https://a.org/{i}\n'
        for i in range(10)
    )
    homes = table(text, "house_prices.csv")
    assert homes.title == "House prices"
    assert kinds(homes) == {
        "id": "number", "size": "number", "price": "number", "colour": "category", "note": "text", "page": "url",
    }  # fmt: skip
    rows = rows_of(homes)
    assert rows[3] == {
        "id": 3, "size": None, "price": 30, "colour": "blue", "note": 'text 3, with "quotes"', "page": "https://a.org/3",
    }  # fmt: skip
    assert type(rows[3]["price"]) is int
    assert rows[4]["size"] == 6.0
    assert homes.sample == rows
    assert homes.column("colour").examples == ("red", "blue")
    assert homes.column("none") is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_and_line_ends_are_found(table, delimiter, newline):
    lines = [["name", "text, with comma", "n"], ["a", '"x\ny"', "1"], ["b", '""', "2"]]
    lines[0][1] = '"text, with comma"'
    found = rows_of(table(newline.join(delimiter.join(line) for line in lines)))
    assert found == [
        {"name": "a", "text, with comma": "x\ny", "n": 1},
        {"name": "b", "text, with comma": None, "n": 2},
    ]


def test_decimal_commas_are_numbers_where_commas_do_not_part_cells(table):
    assert [row["x"] for row in rows_of(table("x;y\n1,5;a\n2;b\n-0,25;c\n"))] == [1.5, 2.0, -0.25]


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("cp1252", b"")])
def test_encodings(table, encoding, mark):
    rows = rows_of(table(mark + "Größe,Straße\n1,Äpfel €\n2,Öl\n".encode(encoding)))
    assert rows == [{"Größe": 1, "Straße": "Äpfel €"}, {"Größe": 2, "Straße": "Öl"}]


def test_cells_are_data_and_nothing_else(table):
    cells = [
        "=1+1",
        "@SUM(A1)",
        "<script>alert(1)</script>",
        "\u202etxt",
        "{threshold}",
        "'; DROP TABLE x; --",
        "🏠" * 3,
    ]
    text = "a,b\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells))
    assert [row["b"] for row in rows_of(table(text))] == cells


def test_codes_and_long_numbers_stay_texts_and_words_for_nothing_are_missing_numbers(table):
    text = "zip,account,n,word\n" + "".join(
        f"0{i}123,1234567890123456{i},{n},NA\n" for i, n in enumerate(["1", "NA", "n/a", "-", "2"])
    )
    found = table(text)
    assert kinds(found) == {"zip": "text", "account": "text", "n": "number", "word": "category"}
    assert [row["n"] for row in rows_of(found)] == [1, None, None, None, 2]
    assert rows_of(found)[0] == {"zip": "00123", "account": "12345678901234560", "n": 1, "word": "NA"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("\n\n  \n", "is empty"),
        ("a,b", "no rows"),
        ("a,b\n", "no rows"),
        ("a,b\n\n\n", "no rows"),
        ("a,b,a\n1,2,3\n", "line 1: columns 1 and 3 have the same name 'a'"),
        ("a, a\n1,2\n", "columns 1 and 2 have the same name"),
        ("1,2\n3,4\n", "line 1: looks like a row \\('1', '2'\\) and not like names of columns"),
        ("a,b\n1,2\n3\n", "line 3: 2 cells are needed, as in the first line; got 1"),
        ('a,b\n1,"x\n\ny"\n3,4,5\n6,7\n', "line 5: 2 cells are needed, as in the first line; got 3"),
        ("\n\na,b\n1,2\n3\n", "line 5: 2 cells"),
        ('a,b\n1,2\n3,"4\n5,6\n7,8\n', "line 3: a quote is not closed: the row takes in all lines after it"),
        (b"a,b\n1,\0\n", "without NUL is needed; got one at byte 6"),
        ("a,b\n1,2".encode("utf-16")[:-1], "is not in UTF-16, though it begins so"),
        ("a,Ā\n1,\0".encode("utf-16"), "without NUL is needed; got one at byte 14"),
        ('a,b\n1,2\n3,"4\n5,6\n'.encode("utf-16"), "line 3: a quote is not closed"),
        (b"a,b\n1,\x81\xff\n", "neither in UTF-8 nor in Windows-1252"),
        ("a\x07,b\n1,2", "line 1, column 1: a name"),
        ("a" * 300 + ",b\n1,2\n", "a name of up to 200"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "packed file"),
        ("a,b\n1,1e999\n" + "2,3\n" * 99, "line 2, column 'b': a finite number"),
    ],
)
def test_bad_files_are_refused_with_the_place(table, text, reason):
    with pytest.raises(InvalidFile, match=reason) as refused:
        table(text)
    assert str(refused.value).startswith("data.csv: ")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_as_spreadsheets_write_it(table, monkeypatch, codec):
    """With tabs and a mark; cells have signs of two units, which blocks may cut."""
    cells = ["Škoda", "🏠 big", 'said "no"', "two\nlines", "Ā"] * 40
    text = "n\tname\n" + "".join('{}\t"{}"\n'.format(i, cell.replace('"', '""')) for i, cell in enumerate(cells))
    monkeypatch.setattr(_csv, "_READ", 10)
    monkeypatch.setattr(_csv, "_BLOCK", 256)
    found = table(("\ufeff" + text).encode(codec))
    assert [(row["n"], row["name"]) for row in rows_of(found)] == list(enumerate(cells))


def test_one_row_is_enough(table):
    assert rows_of(table("a,b\n1,x")) == [{"a": 1, "b": "x"}]


def test_tidied_names(table):
    assert list(rows_of(table(',"size\n(m²)", b \n1,2,3\n'))[0]) == ["column 1", "size (m²)", "b"]


def test_a_text_far_down_in_a_column_of_numbers_is_an_error_with_its_line(table, monkeypatch):
    monkeypatch.setattr(_csv, "_BLOCK", 200)
    text = "a,b\n" + "".join(f"{i},x\n" for i in range(500)) + "oops,x\n" + "7,x\n" * 10
    with pytest.raises(InvalidFile, match="line 502, column 'a': a number is needed, as in other rows.*'oops'"):
        table(text)


def test_one_slip_among_a_hundred_numbers_is_an_error_but_a_mixed_column_is_text(table):
    with pytest.raises(InvalidFile, match="line 152, column 'a'.*12a"):
        table("a,b\n" + "1,x\n" * 150 + "12a,x\n")
    assert kinds(table("a,b\n" + "1,x\n" * 50 + "12a,x\n"))["a"] == "category"


@pytest.mark.parametrize("title", ["Report of March", "Report of March;;", "Report; of March", '"Report, of March"'])
def test_a_title_above_the_names_is_refused_with_advice(table, title):
    with pytest.raises(InvalidFile, match="line [12].*remove what stands above the names of columns"):
        table(f"{title}\na;b;c\n" + "1;x;2\n" * 30)


def test_texts_with_delimiters_are_no_titles(table):
    assert table("text\n" + '"one; two; three"\n' * 30).rows == 30
    assert table("text\n" + "one; two\n" * 30).columns[0].name == "text"
    assert [column.name for column in table(",x\n" + "1,2\n" * 30).columns] == ["column 1", "x"]


def test_the_line_that_tells_spreadsheets_the_delimiter_is_obeyed(table):
    found = table("sep=|\r\na|b,c\r\n1|2\r\n" + "1|5,x\r\n" * 3)
    assert rows_of(found)[:2] == [{"a": 1, "b,c": "2"}, {"a": 1, "b,c": "5,x"}]
    with pytest.raises(InvalidFile, match="line 4: 2 cells are needed"):
        table("sep=;\na;b\n1;2\n1;2;3\n")


def test_blocks_change_nothing(table, monkeypatch):
    text = "a,b,c\n" + "".join(f'{i},"x\n{i % 3}",{i / 4}\n' for i in range(400))
    whole = rows_of(table(text))
    monkeypatch.setattr(_csv, "_BLOCK", 256)
    monkeypatch.setattr(_csv, "rows_at_once", lambda columns: 7)
    assert rows_of(table(text)) == whole


def test_limits(table):
    small = Limits(rows=3, columns=3, cell=20, total=2000)
    with pytest.raises(InvalidFile, match="at most 3 rows"):
        table("a\nx\ny\nz\nv\n", limits=small)
    with pytest.raises(InvalidFile, match="at most 3 columns"):
        table("a,b,c,d\n1,2,3,4\n", limits=small)
    with pytest.raises(InvalidFile, match="line 3, column 'b': at most 20 bytes"):
        table("a,b\n1,2\n1," + "x" * 21 + "\n", limits=small)
    with pytest.raises(InvalidFile, match="at most 2000 bytes"):
        table("a,b\n1,2\n" * 1000, limits=small)
    with pytest.raises(InvalidFile, match="longer than|cell"):
        table(b"a,b\n1," + b"x" * 10_000_000 + b"\n")
    with pytest.raises(InvalidFile, match="longer than|quote"):
        table(b'a,b\n1,"' + b"x,\n" * 2_000_000)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be read"):
        open_table(tmp_path / "none.csv")


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=8))
def test_any_texts_survive(tmp_path_factory, cells):
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([("first", "second"), *cells])
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_bytes(out.getvalue().encode())
    try:
        found = open_table(path)
    except InvalidFile as error:  # a column of numbers but for one in a hundred, or an infinite number
        assert "number" in str(error)  # noqa: PT017
        return
    for name, column in zip(("first", "second"), zip(*cells, strict=True), strict=True):
        if found.column(name).kind != "number":
            assert [row[name] for row in rows_of(found)] == [cell or None for cell in column]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_bytes(data)
    with contextlib.suppress(InvalidFile):
        rows_of(open_table(path))


# -- JSON lines -----------------------------------------------------------------------------------


def test_json_lines_have_all_columns_that_occur(table):
    lines = [{"a": 1, "b": "x"}, {"a": 2.5, "c": [1, {"d": "é"}]}, {"b": None, "c": True}]
    found = table("\n".join(map(json.dumps, lines)) + "\n\n", "t.jsonl")
    assert kinds(found) == {"a": "number", "b": "text", "c": "text"}
    assert rows_of(found) == [
        {"a": 1, "b": "x", "c": None},
        {"a": 2.5, "b": None, "c": '[1, {"d": "é"}]'},
        {"a": None, "b": None, "c": "true"},
    ]


def test_rows_inside_an_object_are_refused_by_its_name(table):
    with pytest.raises(InvalidFile, match="holds one object, whose 'data' is a list of others: save that list"):
        table('{"page": 1, "data": [{"a": 1}, {"a": 2}]}', "t.json")
    assert rows_of(table('{"a": 1, "tags": ["x"]}', "t.json")) == [{"a": 1, "tags": '["x"]'}]


def test_mixed_json_columns_are_texts(table):
    assert [row["a"] for row in rows_of(table('{"a": 1}\n{"a": "x"}\n', "t.jsonl"))] == ["1", "x"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": 1', "line 2: a JSON object is needed"),
        ("[1]", "line 2: a JSON object is needed"),
        ('{"a": NaN}', "line 2: .*NaN is not JSON"),
        ('{"a": 1, "a": 2}', "line 2: .*twice"),
        ('{"a": 1e999}', "line 2, column 'a': a finite number"),
        ('{"a": ' + "9" * 400 + "}", "line 2, column 'a': a finite number"),
        ('{"a": "\\u0000"}', "line 2, column 'a': a text without NUL"),
        ('{"a": "\\ud800"}', "line 2, column 'a': half of a surrogate"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 2: .*"),
        ('{"a": ' + "[" * 30 + "]" * 30 + "}", "line 2, column 'a': nested more than 20"),
        ('{"a": "' + "x" * 2_000_000 + '"}', "line 2, column 'a': at most"),
        ('{"a": "' + "x" * 10_000_000 + '"}', "line 2: at most"),
        (json.dumps({f"c{i}": 1 for i in range(2000)}), "line 2: at most 1000 columns"),
        (b'{"a": "\xff"}', "line 2: UTF-8"),
    ],
)
def test_bad_json_lines_are_refused_with_the_line(table, line, reason):
    with pytest.raises(InvalidFile, match=reason):
        table(b'{"a": 1}\n' + (line if isinstance(line, bytes) else line.encode()) + b"\n", "t.jsonl")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.txt"])
def test_one_list_of_json_objects_is_read_as_lines_are(table, indent, name):
    records = [{"a": i, "b": "[é," * (i % 7), "c": "x" * (200_000 if i == 1 else 1)} for i in range(900)]
    text = json.dumps(records, indent=indent, ensure_ascii=False)
    assert rows_of(table(b"\xef\xbb\xbf" + text.encode(), name)) == records


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "is empty"),
        ("[1, 2]", "line 1: a JSON object is needed; got 1"),
        ('[{"a": 1},\n{"a": 2}', "line 2: the list is not closed"),
        ('[{"a": 1}\n{"a": 2}]', "line 2: a comma or the end of the list is needed; got {"),
        ('[{"a": 1}]\n{"a": 2}', "line 2: nothing may come after the list; got {"),
        ('[{"a": 1},\n{"a": ', "line 2: a JSON object is needed"),
        ('[{"a": 1},\n]', "line 2: a JSON object is needed"),
        ('[{"a": 1},\n{"a": "' + "x" * 10_000_000 + '"}]', "line 2: at most"),
        (b'[{"a": "\xff"}]', "UTF-8 is needed"),
    ],
)
def test_bad_lists_of_json_objects_are_refused(table, text, reason):
    with pytest.raises(InvalidFile, match=reason):
        table(text, "t.json")


def test_a_name_in_brackets_begins_a_csv_file(table):
    assert kinds(table("[a],[b]\n1,x\n2,y\n")) == {"[a]": "number", "[b]": "text"}


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (b"\xff\xd8\xff\xe0", "is one image; the folder"),
        (b"\x89PNG\r\n\x1a\n", "is one image"),
        (b"%PDF-1.7", "is a PDF"),
    ],
)
def test_files_that_are_no_tables_are_called_what_they_are(table, start, reason):
    with pytest.raises(InvalidFile, match=reason):
        table(start + b"\0" * 100, "data.csv")


def test_a_text_far_down_in_json_numbers_is_an_error(table):
    lines = ['{"a": 1}'] * 10_001 + ['{"a": "x"}']
    with pytest.raises(InvalidFile, match="line 10002, column 'a': a number is needed"):
        table("\n".join(lines), "t.jsonl")


# -- Parquet --------------------------------------------------------------------------------------


def parquet_bytes(**columns):
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def test_parquet(table):
    data = parquet_bytes(
        n=pa.array([1, None, 3]),
        x=pa.array([0.5, float("nan"), 2.0]),
        t=pa.array(["a", None, "a"]),
        flag=pa.array([True, False, None]),
        day=pa.array(np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")),
        many=pa.array([[1, 2], None, []]),
    )
    found = table(data, "t.parquet")
    assert kinds(found) == {
        "n": "number",
        "x": "number",
        "t": "category",
        "flag": "text",
        "day": "date",
        "many": "text",
    }
    assert rows_of(found)[0] == {"n": 1, "x": 0.5, "t": "a", "flag": "true", "day": "2024-01-01", "many": "[1, 2]"}
    assert rows_of(found)[1] == {"n": None, "x": None, "t": None, "flag": "false", "day": "2024-01-02", "many": None}


def test_bad_parquet_is_refused(table):
    good = parquet_bytes(a=pa.array([1, 2]))
    for data in (good[:-10], b"PAR1" + b"\0" * 100, good[:20] + b"\xff" * 20 + good[40:]):
        with pytest.raises(InvalidFile):
            table(data, "t.parquet")
    with pytest.raises(InvalidFile, match="column 'b': numbers or texts are needed; got binary"):
        table(parquet_bytes(b=pa.array([b"x"])), "t.parquet")
    with pytest.raises(InvalidFile, match="row 2, column 'a': a finite number"):
        table(parquet_bytes(a=pa.array([1.0, float("inf")])), "t.parquet")
    with pytest.raises(InvalidFile, match="row 2, column 'a': a text without NUL"):
        table(parquet_bytes(a=pa.array(["x", "a\0b"])), "t.parquet")
    with pytest.raises(InvalidFile, match="no rows"):
        table(parquet_bytes(a=pa.array([], pa.int64())), "t.parquet")
    with pytest.raises(InvalidFile, match="same name"):
        table(parquet_bytes(**{"a": pa.array([1]), " a": pa.array([1])}), "t.parquet")


def test_a_parquet_bomb_stays_small(table):
    """Many rows that share one long text are a few bytes in the file, and refused or shared when read."""
    long = "x" * 900_000
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000), [long])
    data = parquet_bytes(a=shared)
    assert len(data) < 200_000
    found = table(data, "t.parquet")
    chunk = next(found.chunks())
    assert len({id(row["a"]) for row in chunk}) == 1
    assert len({id(row["a"]) for row in found.sample}) <= 2
    with pytest.raises(InvalidFile, match="unpacks to more"):
        table(data, "t.parquet", limits=Limits(total=10**9))
    with pytest.raises(InvalidFile, match="bytes are allowed in a cell"):
        table(parquet_bytes(a=pa.array(["x" * 2_000_000])), "t.parquet")
    with pytest.raises(InvalidFile, match="at most 5 rows"):
        table(parquet_bytes(a=pa.array([1] * 6)), "t.parquet", limits=Limits(rows=5))
    with pytest.raises(InvalidFile, match="unpacks to more"):
        table(parquet_bytes(a=pa.array([0.5 * i for i in range(50_000)])), "t.parquet", limits=Limits(total=400_000))


# -- folders, samples, suggestions ----------------------------------------------------------------


def test_a_folder_of_images_is_a_table(tmp_path):
    for name in ("b.png", "a.JPG", "c.txt", ".hidden.png"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "inner").mkdir()
    found = open_table(tmp_path)
    assert rows_of(found) == [{"image": "a.JPG"}, {"image": "b.png"}]
    assert kinds(found) == {"image": "image"}
    assert found.image("b.png") == b"x"
    for name in ("c.txt", "../a.JPG", "/etc/passwd", "inner", "b.png\0"):
        with pytest.raises(InvalidFile, match="is no image of this folder"):
            found.image(name)


def test_links_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(InvalidFile, match="holds no images"):
        open_table(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_bytes(b"secret")
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"a")
    found = open_table(folder)
    (folder / "a.png").unlink()
    (folder / "a.png").symlink_to(secret)  # after it was opened
    with pytest.raises(InvalidFile, match="cannot be read"):
        found.image("a.png")
    with pytest.raises(InvalidFile, match="'a.png' is a link"):
        open_table(folder)
    (folder / "a.png").unlink()
    (folder / "a.png").mkdir()
    with pytest.raises(InvalidFile, match="'a.png' is a link or no file"):
        open_table(folder)


def test_images_in_folders_have_the_folder_as_a_column(tmp_path):
    for name in ("cats/2.png", "dogs/1.JPG", "dogs/read me.txt", ".git/a.png", "__MACOSX/cats/2.png", "none/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    found = open_table(tmp_path)
    assert rows_of(found) == [{"image": "cats/2.png", "folder": "cats"}, {"image": "dogs/1.JPG", "folder": "dogs"}]
    assert found.image("cats/2.png") == b"cats/2.png"
    guessed = suggest(found)
    assert guessed.labels == ClassNames(("cats", "dogs"))
    assert (guessed.rows.show, guessed.rows.learn, guessed.rows.gold) == (("image",), ("image",), None)
    (tmp_path / "3.png").write_bytes(b"x")  # of this one the label is not known
    assert suggest(open_table(tmp_path)).rows.gold == "folder"
    assert suggest(open_table(tmp_path), gold="").rows.gold is None
    with pytest.raises(InvalidArgument, match="rows.learn must be other columns than 'folder'"):
        with_columns(Settings("A", ClassNames(("cats", "dogs")), RowSettings(learn=("folder",))), found)
    (tmp_path / "cats").rename(tmp_path / "elsewhere")
    (tmp_path / "cats").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidFile, match="its folder has become a link"):
        found.image("cats/2.png")
    with pytest.raises(InvalidFile, match="'cats' is a link"):
        open_table(tmp_path)


def test_a_large_image_and_a_bad_name_are_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x" * 100)
    with pytest.raises(InvalidFile, match="at most 50 bytes"):
        open_table(tmp_path, replace(Limits(), image=50)).image("a.png")
    (tmp_path / "a\nb.png").write_bytes(b"x")
    with pytest.raises(InvalidFile, match="printable"):
        open_table(tmp_path)


@given(st.integers(1, 3000), st.integers(1, 50), st.integers(1, 100))
def test_a_sample_is_evenly_spread(count, most, size):
    spread = Spread(most)
    for first in range(0, count, size):
        spread.add(first, list(range(first, min(first + size, count))), 0)
    found = spread.evenly()
    steps = set(np.diff(found).tolist())
    assert found[0] == 0
    assert min(count, most // 2 + 1) <= len(found) <= most
    assert len(steps) <= 1
    assert not steps or count - found[-1] <= max(steps)


def test_a_sample_of_long_texts_is_smaller():
    spread = Spread(1000)
    for first in range(100):
        spread.add(first, ["x"], 5_000_000)
    assert 5 <= len(spread.evenly()) <= 20


def test_kinds_of_texts():
    assert kind_of_texts([]) == "text"
    assert kind_of_texts(["x"]) == "text"
    assert kind_of_texts([str(i) for i in range(100)]) == "amount"
    assert kind_of_texts(["yes", "no"] * 50) == "category"
    assert kind_of_texts(["a" * 200, "b"] * 50) == "text"


def test_settings_are_suggested(table):
    lines = [f"h{i},{i},{'rb'[i % 2]},https://a.org,{['cat', 'dog', ''][i % 3]}\n" for i in range(9)]
    found = suggest(table("id,size,colour,page,label\n" + "".join(lines), "my-animals.csv"))
    assert found.title == "My animals"
    assert found.labels == ClassNames(("cat", "dog"))
    assert (found.rows.key, found.rows.gold) == ("id", "label")
    assert found.rows.show == ("size", "colour", "page")
    assert found.rows.learn == ("size", "colour")
    plain = suggest(table("id,size\n1,2\n1,3\n"))
    assert plain.rows.key is None  # not all differ
    assert plain.labels == Numbers()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("12.5,red\n13,blue\n11,red\n", False),
        ("red,small\nblue,large\nred,large\nblue,small\n", False),
        ("5,Great phone\n1,Broke at once\n", False),
        ("1,2\n3,4\n", False),
        ("id,2019,2020\na,1,2\nb,3,4\n", True),
        ("name,1,2,3\nann,5,4,4\n", True),
        ("text,2019\na,1\n", True),
        ("class,size\nred,3\nblue,4\n", True),
        ("a,b\na,b\nx,y\n", True),  # two files put together
        ("size,colour\n5,size\n", True),
        ("a,kind\na,x\na,x\na,y\n", True),
        ("text,label\nHello,\nBye,\n", True),
    ],
)
def test_a_table_without_names_is_noticed(table, text, names):
    if names:
        found = table(text)
        assert [one.name for one in found.columns] == text.split("\n")[0].split(",")
    else:
        with pytest.raises(InvalidFile, match=r"data.csv: line 1: looks like a row \(.*\(or askone new --no-header"):
            table(text)
    assert table(text, options=ReadOptions(header=True)).rows == text.count("\n") - 1
    bare = table("\n" + text, options=ReadOptions(header=False))
    assert bare.rows == text.count("\n")
    assert [one.name for one in bare.columns][:2] == ["column 1", "column 2"]


def test_lines_are_counted_where_there_are_no_names(table):
    text = "\n" + "5,6\n" * 200 + "7,many\n"
    with pytest.raises(InvalidFile, match="line 202, column 'column 2': a number is needed"):
        table(text, options=ReadOptions(header=False))


def test_a_zip_is_no_table(table):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    with pytest.raises(InvalidFile, match="packed file"):
        table(out.getvalue(), "a.zip")
