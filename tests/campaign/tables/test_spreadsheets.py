"""Spreadsheets: what people see in a cell is what is read, an error names the cell, and bombs are refused."""

import contextlib
import datetime as dt
import io
import re
import zipfile

import openpyxl
import pytest

from askone.campaign.tables.base import LIMITS, Limits, ReadOptions
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, InvalidFile
from sites import Site, code, ok


def written(*rows, change=lambda sheet: None, title="Data", more=()):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    change(sheet)
    for name in more:
        book.create_sheet(name).append(["a", "b"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def rewritten(data, name, change):
    """The file with one part changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for one in old.namelist():
            new.writestr(one, change(old.read(one)) if one == name else old.read(one))
    return out.getvalue()


@pytest.fixture
def opened(tmp_path):
    def open_it(data, limits=LIMITS, **options):
        path = tmp_path / "homes.xlsx"
        path.write_bytes(data)
        return open_table(path, limits, options=ReadOptions(**options))

    return open_it


def rows_of(table):
    found = [row for chunk in table.chunks() for row in chunk]
    assert found == table.sample
    assert len(found) == table.rows
    return found


def test_cells_are_what_people_see(opened):
    noon = dt.datetime(2026, 3, 1, 12, 30)
    found = opened(
        written(
            [],
            ["id", "text", "size", "day", "at", "flag", "typed", "code", "", "end"],
            [1, "a nice home", 80.5, dt.date(2026, 3, 1), noon, True, "12", "007", "x", 5],
            [],  # passed over
            [2, "näher am See", None, dt.date(2026, 3, 2), dt.time(8, 0), False, " 1.5 ", "011", None, 6],
            [3, "1 = one", 90, None, None, True, "-", "012", "y", 7],
        )
    )
    assert [(one.name, one.kind) for one in found.columns] == [
        ("id", "number"), ("text", "text"), ("size", "number"), ("day", "date"), ("at", "text"),
        ("flag", "category"), ("typed", "number"), ("code", "text"), ("column 9", "text"), ("end", "number"),
    ]  # fmt: skip
    assert list(rows_of(found)[0].values()) == [
        1, "a nice home", 80.5, "2026-03-01", "2026-03-01 12:30:00", "true", 12, "007", "x", 5
    ]  # fmt: skip
    assert found.sample[1]["at"] == "08:00:00"
    assert found.sample[1]["typed"] == 1.5
    assert found.sample[2]["typed"] is None
    assert (found.title, found.part, found.parts) == ("Homes", "Data", ("Data",))


def test_a_formula_is_its_value(opened):
    plain = written(["n", "twice", "word"], [1, "=A2*2", '=IF(A2>3,"x","")'])
    with pytest.raises(InvalidFile, match=r"homes.xlsx: cell B2: its formula has no value; open the file in a"):
        opened(plain)

    def computed(xml):
        xml = re.sub(rb"(<f>A2\*2</f>)<v ?/>", rb"\1<v>2</v>", xml)
        return re.sub(rb'(<c r="C2")([^>]*>.*?</f>)<v ?/>', rb'\1 t="str"\2<v></v>', xml)

    found = opened(rewritten(plain, "xl/worksheets/sheet1.xml", computed))
    assert rows_of(found) == [{"n": 1, "twice": 2, "word": None}]


def test_errors_in_cells_are_named_and_na_is_missing(opened):
    def as_error(sheet):
        for place in ("A3", "A4"):
            sheet[place].data_type = "e"

    assert rows_of(
        opened(written(["n"], [1], ["#N/A"], [3], change=lambda sheet: setattr(sheet["A3"], "data_type", "e")))
    )
    with pytest.raises(InvalidFile, match=r"cell A4: shows the error #DIV/0!; mend or empty it"):
        opened(written(["n", "m"], [1, 1], ["#N/A", 2], ["#DIV/0!", 3], change=as_error))


def test_merged_cells_have_the_value_of_the_first(opened):
    rows = [["town", "street", "n"], ["Rome", "a", 1], [None, "b", 2], ["Oslo", "c", 3], [None, None, 4]]

    def merge(sheet):
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("A4:B4")

    found = rows_of(opened(written(*rows, change=merge)))
    assert [row["town"] for row in found] == ["Rome", "Rome", "Oslo", None]
    assert [row["street"] for row in found] == ["a", "b", "Oslo", None]
    with pytest.raises(InvalidFile, match=r"cells A1:C1 are merged: row 1 is to name each column; remove what"):
        opened(written(["All homes"], *rows, change=lambda sheet: sheet.merge_cells("A1:C1")))


def test_sheets(opened):
    data = written(["n"], [1], more=("Notes", "More"))
    assert opened(data).part == "Data"
    with pytest.raises(InvalidArgument, match="rows.part must be one of 'Data', 'Notes', 'More'; got 'data'"):
        opened(data, part="data")
    message = (
        r"'More' has no rows, only the names of columns; other sheets: 'Data', 'Notes' \(askone new --sheet NAME\)"
    )
    with pytest.raises(InvalidFile, match=message):
        opened(data, part="More")
    with pytest.raises(InvalidFile, match="the sheet 'Data' is empty"):
        opened(written())
    hidden = written(["n"], [1], more=("Seen",), change=lambda sheet: setattr(sheet, "sheet_state", "hidden"))
    with pytest.raises(InvalidFile, match="only the names"):  # of the one that can be seen
        opened(hidden)


def test_what_is_odd_is_named(opened):
    with pytest.raises(InvalidFile, match="cell C3: its column has no name in row 1"):
        opened(written(["a", "b"], [1, 2], [1, None, 3]))
    with pytest.raises(InvalidFile, match="cell C2: its column has no name in row 1; if that row is a title, remove"):
        opened(written(["Stock"], ["a", "b", "c"], [1, 2, 3]))
    rows = [[n, f"t{n}"] for n in range(200)]
    with pytest.raises(InvalidFile, match=r"cell A202: a number is needed, as in other rows, or nothing; got 'many'"):
        opened(written(["n", "t"], *rows, ["many", "x"]))
    with pytest.raises(InvalidFile, match=r"row 1: looks like a row \('1', 'red'\) and not like names of columns"):
        opened(written([1, "red"], [2, "blue"], [3, "red"]))
    found = opened(written([1, "red"], [2, "blue", 7], [3, "red"]), header=False)
    assert rows_of(found)[1] == {"column 1": 2, "column 2": "blue", "column 3": 7}
    with pytest.raises(InvalidFile, match="at most 2 rows"):
        opened(written(["n"], [1], [2], [3]), Limits(rows=2))
    with pytest.raises(InvalidFile, match="at most 3 columns"):
        opened(written(list("abcd"), [1, 2, 3, 4]), Limits(columns=3))
    with pytest.raises(InvalidFile, match="a date is far|cannot be read|shows the error"):
        opened(written(["day"], [1e9], change=lambda sheet: setattr(sheet["A2"], "number_format", "yyyy-mm-dd")))


def test_files_of_other_programs_are_refused_with_advice(tmp_path):
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InvalidFile, match="old or encrypted office file; save it as .xlsx"):
        open_table(tmp_path / "a.xls")
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("content.xml", "<a/>")
    with pytest.raises(InvalidFile, match="a spreadsheet of another kind; save it as .xlsx"):
        open_table(tmp_path / "a.ods")


SHEET = "xl/worksheets/sheet1.xml"


def test_bombs_are_refused(opened):
    good = written(["n"], [1])
    with pytest.raises(InvalidFile, match=r"would grow from \d+ to \d+ bytes"):
        opened(rewritten(good, SHEET, lambda xml: xml.replace(b"<sheetData>", b"<sheetData>" + b" " * 50_000_000)))
    laughs = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + b"ha" * 500 + b'"><!ENTITY c "&b;&b;&b;&b;">]>'
    for name in (SHEET, "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml"):
        with pytest.raises(InvalidFile, match="its XML defines words of its own"):
            opened(rewritten(good, name, lambda xml: laughs + re.sub(rb"<\?xml.*?\?>", b"", xml)))
    with pytest.raises(InvalidFile, match="its XML defines words of its own"):
        opened(
            rewritten(
                good,
                SHEET,
                lambda xml: (
                    (laughs + re.sub(rb"<\?xml.*?\?>", b"", xml))
                    .decode()
                    .replace('"1.0"', '"1.0" encoding="utf-16"', 1)
                    .encode("utf-16")
                ),
            )
        )
    # One cell far away does not make all between: it is a column without a name.
    with pytest.raises(InvalidFile, match="cell XFD1048576: its column has no name"):
        opened(
            rewritten(
                good,
                SHEET,
                lambda xml: xml.replace(
                    b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
                ),
            )
        )
    many = b"</sheetData><mergeCells>" + b'<mergeCell ref="A1:XFD1048576"/>' * 2000 + b"</mergeCells>"
    with pytest.raises(InvalidFile, match="are merged"):
        opened(rewritten(good, SHEET, lambda xml: xml.replace(b"</sheetData>", many)))
    below = many.replace(b"A1:", b"A2:")
    with pytest.raises(InvalidFile, match="merged cells overlap"):
        opened(rewritten(good, SHEET, lambda xml: xml.replace(b"</sheetData>", below)))


@pytest.mark.parametrize("piece", [b"", b"\xff\xfe", b"<sheetData>", b'r="A99999999999999999999"', b's="77"', b't="s"'])
@pytest.mark.parametrize("where", [b'r="A2"', b"<sheetData>", b"<v>1</v>"])
def test_damaged_sheets_are_refused_or_read(opened, piece, where):
    with contextlib.suppress(InvalidFile):
        opened(rewritten(written(["n"], [1]), SHEET, lambda xml: xml.replace(where, piece)))


def test_a_spreadsheet_becomes_a_campaign_through_the_server(tmp_path):
    with Site(tmp_path) as site:
        manager = site.session("manager")
        data = written(["id", "text", "size"], *([f"h{n}", f"a home of {n} rooms", n] for n in range(30)))
        made = ok(manager.post("/api/v1/uploads", content=data, headers={"X-File-Name": "My homes.xlsx"}), 201)
        assert made["rows"] == 30
        assert made["suggested"]["rows"]["key"] == "id"
        settings = {**made["suggested"], "labels": {"kind": "number", "low": 0, "high": 30}}
        # A database is named by whoever runs a command, not by whoever sends settings.
        settings["rows"] = {**settings["rows"], "file": "sqlite:////etc/passwd", "query": "SELECT 1"}
        preview = ok(manager.post(f"/api/v1/uploads/{made['upload']}/preview", json={"settings": settings}))
        assert preview["doubts"] == []
        body = {"settings": settings, "upload": made["upload"], "name": "homes"}
        ok(manager.post("/api/v1/campaigns", json=body), 201)
        assert site.store.campaign("homes").rows == 30
        bomb = rewritten(data, SHEET, lambda xml: xml.replace(b"<sheetData>", b"<sheetData>" + b" " * 50_000_000))
        answer = manager.post("/api/v1/uploads", content=bomb, headers={"X-File-Name": "bomb.xlsx"})
        assert code(answer, 422) == "invalid_file"
