"""What is guessed of a table: by names and cells together, never learnt where it only tells rows apart."""

import zipfile
from dataclasses import replace

import pytest

from askone.campaign.create import add_rows, create_campaign, with_columns
from askone.campaign.settings.doubts import doubts
from askone.campaign.settings.settings import ClassNames, Numbers, RowSettings, Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, InvalidFile
from askone.store.open import open_store


@pytest.fixture
def table(tmp_path):
    def make(head, row, count=40):
        path = tmp_path / "table.csv"
        path.write_text(head + "\n" + "".join(row(i) + "\n" for i in range(count)))
        return open_table(path)

    return make


@pytest.mark.parametrize(
    ("head", "cell", "taken"),
    [
        ("label", lambda i: "" if i % 2 else "cat", True),
        ("label", lambda i: "cat", False),  # nothing would be left to ask about
        ("y", lambda i: str(i / 7), False),  # a coordinate
        ("y", lambda i: "" if i % 10 == 0 else str(i / 7), False),  # with some missing
        ("answer", lambda i: "" if i % 2 else "Because " + "it is so " * 20, False),  # prose
        ("size", lambda i: "" if i % 2 else "cat", False),
        ("Price (known)", lambda i: "" if i % 2 else str(i), True),
    ],
)
def test_known_labels_are_taken_by_name_and_content(table, head, cell, taken):
    made = table(f"n,{head}", lambda i: f"{i},{cell(i)}")
    found = suggest(made).rows
    assert found.gold == (head if taken else None)
    assert (head in found.show, head in found.learn) == (not taken, not taken)
    none = suggest(made, gold="").rows
    assert none.gold is None
    assert head in none.show


@pytest.mark.parametrize(
    ("head", "cell", "taken"),
    [
        ("id", lambda i: f"a{i}", True),
        ("id", lambda i: f"a{i // 2}", False),
        ("index", lambda i: f"{1000 + i}.5", False),  # of prices
        ("name", lambda i: f"A bike that is number {i}", False),  # a text to learn from
        ("file", lambda i: f"My photo {i}.png", True),
        ("Nr", str, True),
        ("Offer no.", lambda i: f"J-{i}", True),
        ("price", lambda i: str(i), False),
    ],
)
def test_a_key_is_taken_by_name_and_content(table, head, cell, taken):
    made = table(f"{head},n", lambda i: f"{cell(i)},{i % 7}")
    assert suggest(made).rows.key == (head if taken else None)
    assert suggest(made, key="").rows.key is None
    assert suggest(made, key=head).rows.learn == ("n",)


@pytest.mark.parametrize(
    ("head", "cell", "learnt"),
    [
        ("order_id", str, False),
        ("code", lambda i: f"QX-{i * 7919}", False),
        ("", lambda i: str(i + 1), False),  # the numbers of rows that other programs write
        ("price", lambda i: str(i + 1), True),
        ("text", lambda i: f"a blue bike of {i}", True),
        ("text", lambda i: f"红色自行车{i}很新", True),
        ("kind", lambda i: f"QX-{i % 4}", True),
    ],
)
def test_what_only_tells_rows_apart_is_not_learnt(table, head, cell, learnt):
    made = table(f"{head},n", lambda i: f"{cell(i)},{i % 7}")
    name = head or "column 1"
    assert (name in suggest(made, key="").rows.learn) is learnt
    settings = with_columns(Settings("A", Numbers(0, 1)), made)  # as a TOML file that names no columns
    assert (name in settings.rows.learn) is learnt
    wanted = with_columns(Settings("A", Numbers(0, 1), RowSettings(learn=(name, "n"))), made)
    told = [one.text for one in doubts(wanted, made)]
    assert told == ([] if learnt else [f"The column {name!r} only tells rows apart, and the model learns from it."])


def test_a_column_that_tells_the_answers_is_named(table):
    def row(i):
        known = "" if i % 2 else ["cat", "dog"][i // 2 % 2]
        return f"{i},{i // 2 % 2},{['Cat', 'dog'][i // 2 % 2]},{i * 7 % 13},{known}"

    made = table("n,code,species,noise,label", row, 80)
    settings = suggest(made)
    assert settings.labels == ClassNames(("cat", "dog"))
    found = {one.column: one for one in doubts(settings, made)}
    assert found["code"].text == "The labels in 'label' follow exactly from 'code', which people and the model see."
    assert set(found) == {"code", "species"}
    plain = suggest(made, gold="")
    told = {
        one.column: one.option for one in doubts(with_columns(Settings("A", settings.labels, plain.rows), made), made)
    }
    assert told == {"species": "hide", "label": "hide"}


def test_points_and_commas_that_are_mixed_are_named(table):
    made = table("id,driven", lambda i: f'a{i},"{"231.829" if i == 30 else f"{10 + i},308"} km"')
    settings = with_columns(Settings("A", Numbers(0, 1), RowSettings(key="id")), made)
    [found] = doubts(settings, made)
    read = "'231.829 km' as 231.829 and '10,308 km' as 10308 are read"
    assert found.text == f"'driven' mixes points and commas: {read}; write them alike if that is wrong."


def test_doubled_keys_are_named(table):
    made = table("id,n", lambda i: f"a{4 if i == 37 else i},{i % 7}")
    settings = suggest(made)
    assert settings.rows.key is None
    [found] = doubts(settings, made)
    assert found.text == "The column 'id' is no key: 'a4' comes in rows 5 and 38. Rows are numbered."


def test_a_column_that_is_called_as_a_class_is_named(table):
    made = table("PassengerId,Survived,age", lambda i: f"{i},{i % 2},{i % 9}")
    settings = Settings("A", ClassNames(("died", "survived")), suggest(made).rows)
    assert (settings.rows.key, settings.rows.show) == ("PassengerId", ("Survived", "age"))
    assert [one.column for one in doubts(settings, made)] == ["Survived"]


def test_numbers_that_rise_with_the_labels_tell_them(table):
    made = table("n,tax,label", lambda i: f"{i * 7 % 41},{1.19 * i:.2f},{'' if i % 2 else i}", 80)
    assert [one.column for one in doubts(suggest(made), made)] == ["tax"]


def test_a_table_whose_labels_are_all_known_is_refused_wherever_it_comes_from(table):
    made = table("n,y", lambda i: f"{i},{i}", 6_000)  # beyond the sample
    settings = Settings("A", Numbers(0, 9_999), RowSettings(gold="y"))
    with open_store("memory:") as store:
        with pytest.raises(InvalidArgument, match="rows.gold must be a column that is empty in the rows to ask about"):
            create_campaign(store, "a", settings, made, "", 0.0)
        assert store.campaigns() == []


def test_a_key_that_the_campaign_has_is_named(table):
    settings = Settings("A", Numbers(0, 9), RowSettings(key="id"))
    with open_store("memory:") as store:
        create_campaign(store, "a", settings, table("id,n", lambda i: f"a{i},{i}"), "", 0.0)
        with pytest.raises(InvalidArgument, match="got 'a7' in row 2, which is row 8 of the campaign"):
            add_rows(store, "a", table("id,n", lambda i: f"{['b', 'a7'][i]},{i}", 2), 0.0, "")


def test_pictures_passed_over_and_folders_that_are_no_class_are_told(tmp_path):
    for name in ("cat/1.png", "dog/1.png", "owl/1.png", "owl/2.HEIC", "owl/.3.heic", "owl/note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    archive = tmp_path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as out:
        for path in tmp_path.rglob("*.*"):
            out.write(path, path.relative_to(tmp_path))
    for table in (open_table(tmp_path), open_table(archive)):
        named = suggest(table)
        passed, other = doubts(replace(named, labels=ClassNames(("Cat", "dog"))), table)
        assert passed.text.endswith("are read: 'owl/2.HEIC'.")
        assert other.text == "Folders that are called as no class is: 'owl'. Their rows are asked, too."
        assert len(doubts(named, table)) == 1
        assert len(doubts(replace(named, labels=ClassNames(("good", "bad"))), table)) == 1
    for path in tmp_path.rglob("*.png"):
        path.unlink()
    with pytest.raises(InvalidFile, match="holds no images .*'owl/2.HEIC' is of another kind"):
        open_table(tmp_path)


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        (lambda i: f"$1,{200 + i}.50", "amount"),
        (lambda i: f"{i} %", "amount"),
        (lambda i: f"{i}.{i} km/h", "amount"),
        (lambda i: f"€{i},000" if i % 15 else "on request", "amount"),
        (lambda i: i if i % 15 else "unknown", "amount"),
        (lambda i: f"{i} {'kg' if i % 2 else 'lb'}", "text"),
        (lambda i: f"A{i % 3}", "category"),
        (lambda i: f"{i % 3} rooms and more", "category"),
        (lambda i: str(i), "number"),
        (lambda i: f"{i:04}", "text"),
        (lambda i: f"{i % 12 + 1:02}:30", "category"),
    ],
)
def test_amounts_are_learnt_as_numbers(table, cell, kind):
    found = table("what;size", lambda i: f"{cell(i)};{i % 7}")
    assert found.columns[0].kind == kind
    assert kind == "text" or "what" in suggest(found).rows.learn


def test_empty_columns_are_passed_over(table):
    found = table("size;colour;", lambda i: f"{i % 7};;")
    assert [column.name for column in found.columns] == ["size", "colour", "column 3"]
    assert suggest(found).rows.show == suggest(found).rows.learn == ("size",)
