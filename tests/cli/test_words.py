"""What commands say, and what they do with what is not right."""

import io
import re
import sqlite3

import pytest

from askone.campaign.campaign import Campaign
from askone.store.open import open_store
from commands import ask

ROWS = "id,size,price\n" + "".join(f"r{i},{i / 10},{100 + i if i % 4 else ''}\n" for i in range(20))
NUMBERS = ("--kind", "number", "--low", "0", "--high", "2000", "--unit", "EUR")


@pytest.fixture(autouse=True)
def table(here):
    (here / "bikes.csv").write_text(ROWS)


def test_new_says_what_it_guessed():
    out = ask("new", "bikes.csv", *NUMBERS, "--label", "price").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "labels numbers from 0 to 2000 EUR" in lines
    assert "first asked Is the price above 1000 EUR?" in lines
    assert "key id (guessed; --key '' numbers the rows)" in lines
    assert "people see size, price" in lines
    assert "model sees size (number), price (number)" in lines
    assert "ends with the rows, each asked once of 1 person" in lines
    assert "The column 'price' is called as labels are, and people and the model see it" in out
    assert "If so: --gold price" in out
    assert "askone new --help" in out


def test_what_people_see_and_the_model_does_not_is_said(here):
    rows = "".join(f"P-{n * 37 % 1000:04},{n % 7}\n" for n in range(30))
    (here / "parts.csv").write_text(f"part,size\n{rows}")
    lines = [" ".join(line.split()) for line in ask("new", "parts.csv", *NUMBERS).out.splitlines()]
    assert "people see part, size" in lines
    assert "not learnt part" in lines


def test_a_guess_that_the_labels_speak_against_is_dropped(here):
    (here / "a.csv").write_text("size,label\n" + "".join(f"{i},{'' if i % 2 else 'cat'}\n" for i in range(20)))
    out = ask("new", "a.csv", "--classes", "cat,dog").out
    assert "known labels label (guessed; --gold '' if it holds none), asked about in 5 % of questions" in out
    out = ask("new", "a.csv", "--classes", "cheap,dear", "--name", "b").out
    assert "The column 'label' is called as labels are" in out
    assert "known labels" not in out
    out = ask("new", "a.csv", "--classes", "cat,dog", "--gold", "", "--name", "c", "--hide", "label").out
    assert "left out     label" in out
    assert "is called as labels are" not in out
    told = ask("new", "a.csv", "--classes", "cat,dog", "--hide", "lable", status=2).err
    assert "--hide must be columns that are shown or learnt: size" in told


def test_a_guessed_kind_gives_way_to_options(here):
    (here / "a.csv").write_text(
        "size,label\n" + "".join(f"{i},{'' if i % 2 else ['cat', 'dog'][i % 4 // 2]}\n" for i in range(20))
    )
    assert "one of 2 classes: cat, dog" in ask("new", "a.csv").out
    out = ask("new", "a.csv", "--low", "0", "--high", "9", "--name", "b").out
    assert "numbers from 0 to 9" in out
    assert "known labels" not in out


def test_where_there_is_no_store_it_is_said_what_makes_one(here):
    assert f"none is in {here} (askone new FILE and askone serve make one)" in ask("status", status=2).err


def test_known_labels_measure_people_unless_it_is_said_otherwise(here):
    out = ask("new", "bikes.csv", *NUMBERS, "--gold", "price", "--out", "c.toml").out
    assert "price, asked about in 5 % of questions" in out
    assert "gold_share = 0.05" in (here / "c.toml").read_text()
    out = ask("new", "bikes.csv", *NUMBERS, "--gold", "price", "--set", "ask.gold_share=0", "--name", "b").out
    assert "Nobody is measured by the known labels in 'price'" in out


def test_a_table_without_anything_to_ask_is_refused(here):
    (here / "full.csv").write_text("id,size,price\n1,2,3\n2,3,4\n")
    told = ask("new", "full.csv", *NUMBERS, "--gold", "price", status=2).err
    assert "--gold must be a column that is empty in the rows to ask about" in told
    assert "'price', filled in all 2 rows" in told
    assert not (here / "askone.db").exists()


def test_what_is_wrong_is_called_as_it_was_typed(here):
    told = ask("new", "bikes.csv", *NUMBERS, "--sheet", "Nope", status=2).err
    assert "--sheet must be left out: it is for sheets and splits; got 'Nope'" in told
    assert "--split must be left out" in ask("new", "bikes.csv", *NUMBERS, "--split", "test", status=2).err
    told = ask("new", "bikes.csv", *NUMBERS, "--goal", "revenue", "--quantile", 0.3, status=2).err
    assert '--quantile must be 0.5 with --goal "revenue"; got 0.3' in told
    assert "--learn must be a column of the table" in ask("new", "bikes.csv", *NUMBERS, "--learn", "x", status=2).err
    told = ask("new", "bikes.csv", *NUMBERS, "--set", "rows.learn=['x']", status=2).err
    assert "--set rows.learn must be a column of the table" in told
    ask("new", "bikes.csv", *NUMBERS, "--out", "c.toml")
    (here / "c.toml").write_text((here / "c.toml").read_text().replace('key = "id"', 'key = "idd"'))
    assert "rows.key must be a column of the table (did you mean 'id'?)" in ask("new", "c.toml", status=2).err
    assert "--key must be a column of the table" in ask("new", "c.toml", "--key", "ix", status=2).err


def test_options_go_over_a_toml_file(here):
    ask("new", "bikes.csv", *NUMBERS, "--out", "c.toml")
    out = ask("new", "c.toml", "--budget", 7, "--unit", "USD", "--set", "ask.overlap=3", "--title", "Other").out
    assert "Campaign other: 20 rows" in out
    assert "after 7 answers" in out
    assert "2000 USD" in out
    assert "--help" not in out
    text = (here / "c.toml").read_text()
    assert 'goal = "value"\n# decimals = 0' in text  # an example stands with its section


def test_items_alone():
    out = ask("new", "--items", "tea,milk", "--title", "Drinks").out
    assert "an order of 2 items: tea, milk" in out
    assert "Do you prefer" in out


def test_names_are_whole():
    name = "a-campaign-with-a-name-that-is-far-wider-than-any-window-of-eighty-characters-could-ever-show"
    ask("new", "--items", "tea,milk", "--title", "T " * 60, "--name", name)
    assert name in ask("status").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "bkes"], "there is no campaign 'bkes'; there are: bikes"),
        (["export", "bikes", "--out", "a.xlsx"], "--out must be a name that ends in one of .csv, .jsonl"),
        (["export", "bikes", "--out", "none/a.csv"], "--out must be a file in a directory that exists"),
        (["restore", "none.zip"], "file must be a backup that can be read; got none.zip: No such file"),
        (["simulate", "bikes.csv"], "file must be a TOML file of settings (askone new TABLE --out FILE.toml writes"),
        (["simulate", "none.toml"], "that can be read; got none.toml: No such file"),
        (["status", "--store", "none.db"], "--store must be a database that exists"),
        (["users", "join", "ann", "nope"], "name must be that of a user"),
    ],
)
def test_refusals_name_the_argument(arguments, message):
    ask("new", "bikes.csv", *NUMBERS)
    assert message in ask(*arguments, status=2).err


def test_answers_must_be_some(here):
    ask("new", "bikes.csv", *NUMBERS, "--out", "c.toml")
    said = ask("simulate", "c.toml", "--answers", 0, status=2).err
    assert "--answers must be a whole number from 1; got 0" in said
    assert "--flip must be a number" in ask("simulate", "c.toml", "--flip", 0.6, status=2).err


def test_a_user_joins(monkeypatch):
    ask("new", "bikes.csv", *NUMBERS)
    monkeypatch.setattr("sys.stdin", io.StringIO("a long enough password\n"))
    assert "ann is an annotator." in ask("users", "add", "ann").out
    assert "name must be one that no user has yet" in ask("users", "add", "Ann", status=2).err
    assert "ann is an annotator of bikes." in ask("users", "join", "ann", "bikes").out
    assert "there is no campaign 'b'; there are: bikes" in ask("users", "join", "ann", "b", status=2).err
    store = open_store("askone.db")
    user = store.accounts.user_by_name("ann")
    assert store.accounts.role_in("bikes", user.id) == "annotator"
    assert "ann is out of bikes" in ask("users", "leave", "ann", "bikes").out
    assert store.accounts.role_in("bikes", user.id) is None
    assert "that of a member of bikes" in ask("users", "leave", "ann", "bikes", status=2).err
    store.close()


def test_a_log_that_was_changed(here):
    ask("new", "bikes.csv", *NUMBERS)
    assert re.fullmatch(r"bikes: as written; 1 entry, 20 rows; head [0-9a-f]{64}\n", ask("verify").out)
    database = sqlite3.connect(here / "askone.db")
    database.execute("DROP TRIGGER entries_stay")
    database.execute("UPDATE entries SET body = replace(body, '2000', '2001')")
    database.commit()
    database.close()
    assert "BROKEN at entry 1" in ask("verify", status=1).out


def test_an_error_is_shown_with_its_band_and_no_forecast_is_worse(here, monkeypatch):
    ask("new", "bikes.csv", *NUMBERS)
    latest = {"value": 20.0, "low": 5.0, "high": 300.0}
    curve = {"latest": latest, "target": None, "measure": "mean error", "waiting": None, "points": []}
    for count, later, told in ((15, 54.0, False), (15, 15.0, True), (0, 15.0, False)):  # after 0 answers: it is passed
        found = {"curve": curve, "forecast": {"points": [[count, 0.0, later, 0.0]]}, "drift": None}
        monkeypatch.setattr(Campaign, "measured", lambda campaign, found=found: found)
        monkeypatch.setenv("COLUMNS", "300")
        assert "20 EUR (5 EUR to 300 EUR)" in ask("status").out
        out = ask("status", "bikes", "--store", "askone.db").out
        assert "Error: 20 EUR (5 EUR to 300 EUR in 95 of 100 cases)" in out
        assert ("If it goes on like this: 15 EUR after 15 answers" in out) == told
        assert ("If it goes on" in out) == told


@pytest.mark.parametrize(("beyond", "told"), [(56.0, "larger ones may add up to 56 EUR"), (None, "nobody was asked")])
def test_of_larger_errors_it_is_told_what_is_known(here, monkeypatch, beyond, told):
    ask("new", "bikes.csv", *NUMBERS)
    latest = {"value": 20.0, "low": 5.0, "high": 30.0, "window": 80.0, "beyond": beyond}
    curve = {"latest": latest, "target": None, "measure": "mean error", "waiting": None, "points": []}
    monkeypatch.setattr(Campaign, "measured", lambda _: {"curve": curve, "forecast": None, "drift": None})
    monkeypatch.setenv("COLUMNS", "300")
    for words in (ask("status").out, ask("status", "bikes", "--store", "askone.db").out):
        assert f", of errors up to 80 EUR; {told}" in words


def test_of_a_band_that_begins_at_nothing_its_end_is_told(here, monkeypatch):
    ask("new", "bikes.csv", *NUMBERS)
    curve = {"latest": {"value": 2.0, "low": 0.0, "high": 300.0}, "target": None, "measure": "mean error"}
    found = {"curve": {**curve, "waiting": None, "points": []}, "forecast": None, "drift": None}
    monkeypatch.setattr(Campaign, "measured", lambda campaign: found)
    monkeypatch.setenv("COLUMNS", "300")
    assert "at most 300 EUR" in ask("status").out
    out = ask("status", "bikes", "--store", "askone.db").out
    assert "Error: at most 300 EUR in 95 of 100 cases, measured on all rows" in out
    assert "2 EUR" not in out
