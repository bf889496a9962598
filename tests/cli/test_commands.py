"""The commands about campaigns, from a table to a model, as they are typed."""

import csv
import io
import json
import os
import re
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest
from rich.console import Console

import askone
from answered import answer
from askone.campaign.campaign import Campaign
from askone.campaign.settings.settings import SECTIONS, ClassNames, Items, Numbers, Settings
from askone.cli.main import CAMPAIGNS, parser, run_campaigns
from askone.cli.settings_file import commented, name_of
from askone.store.open import open_store
from commands import ask

ROWS = "id,size,colour,price\n" + "".join(
    f"r{i},{i / 10},{'red' if i % 2 else 'blue'},{'' if i % 5 else 100 + i}\n" for i in range(40)
)


@pytest.fixture(autouse=True)
def table(here):
    (here / "bikes.csv").write_text(ROWS)


def make(*options, status=0):
    return ask(
        "new", "bikes.csv", "--kind", "number", "--low", 0, "--high", 2000, "--unit", "EUR", *options, status=status
    )


@pytest.fixture
def made(table):
    make()


def answered(count=12, name="bikes"):
    with closing(open_store("askone.db")) as store:
        campaign = Campaign.open(store, name)
        answer(campaign, count)
        campaign.keep()
        return [one["prediction"] for one in campaign.predictions(range(40))]


def test_estimates_of_the_whole_table(here):
    make("--name", "bikes", "--set", "ask.exams=mean", "--set", "ask.exam_share=0.9")
    answered(38)
    out = ask("estimate", "bikes", "mean", "--by", "colour").out
    assert re.search(r"red.* to .* to ", out)
    assert re.search(r"blue.* to .* to ", out)
    assert "all rows" in ask("estimate", "bikes", "share above 1000").out
    for arguments, message in (
        (("average",), "what must be 'mean'"),
        (("mean", "--by", "weight"), "by must be one of"),
    ):
        assert message in ask("estimate", "bikes", *arguments, status=2).err


def test_other_models_are_compared_by_the_answers(here):
    make("--name", "bikes", "--set", "ask.gold_share=0")
    assert "There are too few answers to compare models: 0 of 30." in ask("compare", "bikes").out
    answered(36)
    out = ask("compare", "bikes").out
    assert re.search(r"Linear.*bits per answer.*±.*±.*36", out)
    assert "No other model" in out or "would have forecast better" in out
    told = json.loads(ask("compare", "bikes", "--json").out)
    assert told["verdict"] in out
    own, line = told["models"][0], next(one for one in told["models"] if one["name"] == "Linear")
    assert (own["name"], own["answers"], own["difference"]) == ("This campaign's model", 36, 0.0)
    assert line["difference"] == pytest.approx(line["value"] - own["value"])


# -- making ---------------------------------------------------------------------------------------


def test_from_csv_to_model(here):
    out = make(
        "--gold", "price", "--title", "Used bikes", "--name", "bikes", "--budget", 500, "--set", "ask.overlap=1"
    ).out
    assert "Campaign bikes: 40 rows, in askone.db." in out
    assert "askone serve" in out
    truth = answered()
    assert re.search(r"bikes.*Used bikes.*running.*12.*500.*40", ask("status").out)
    assert "12" in ask("status", "bikes").out
    ask("export", "bikes")
    table = io.StringIO((here / "bikes-answers.csv").read_text(encoding="utf-8-sig"), newline="")
    assert len(list(csv.DictReader(table))) == 12
    ask("export", "bikes", "--what", "predictions", "--out", "p.jsonl")
    lines = [json.loads(line) for line in (here / "p.jsonl").read_text().splitlines()]
    assert [one["prediction"] for one in lines] == pytest.approx(truth, rel=1e-9)
    ask("export", "bikes", "--what", "model", "--out", "bikes.askone")
    store = open_store("askone.db")
    X = np.array([row.features for row in store.rows("bikes", range(40))], dtype=float)
    cells = [row.content for row in store.rows("bikes", range(40))]
    began = next(store.entries("bikes")).event.settings
    store.close()
    assert askone.load(here / "bikes.askone").predict(X) == pytest.approx(truth, rel=1e-9)
    encoded = askone.load(here / "bikes.askone").encoder.encode(cells)
    assert encoded.tobytes() == X.astype(np.float32).tobytes()
    assert began["rows"] | {"file": None} == {
        "key": "id", "show": ["size", "colour"], "learn": ["size", "colour"], "gold": "price", "file": None,
        "part": None, "query": None, "header": None,
    }  # fmt: skip
    assert not list(here.glob("*.partial"))


def test_settings_are_written_for_editing(here):
    make("--out", "campaign.toml")
    assert not (here / "askone.db").exists()
    text = (here / "campaign.toml").read_text()
    assert '# stands behind thresholds\nunit = "EUR"' in text
    assert "# budget = 2000  # answers in all" in text
    (here / "campaign.toml").write_text(text.replace('title = "Bikes"', 'title = "Bikes of 2026"'))
    said = ask("new", "campaign.toml", "--store", "sqlite:///other.db").out
    assert "Campaign bikes-of-2026: 40 rows, in sqlite:///other.db" in said
    said = ask("new", "campaign.toml", "--store", "other.db", status=2).err
    assert "there is a campaign 'bikes-of-2026' already" in said
    (here / "deep").mkdir()
    make("--out", "deep/campaign.toml", "--store", "both.db", "--name", "b")
    ask("new", "deep/campaign.toml", "--name", "c", "--store", "both.db")
    assert len(re.findall(r"│ [bc] ", ask("status", "--store", "both.db").out)) == 2


def test_other_kinds(here):
    ask("new", "bikes.csv", "--classes", "cheap,dear", "--name", "classes")
    ask("new", "--items", "tea, coffee ,milk", "--title", "Drinks")
    (here / "rows.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "b", "n": 2}\n{"text": "c", "n": 3}\n')
    columns, wording = ("--show", "text", "--learn", "n"), "question.wording=Above {threshold}?"
    ask("new", "rows.jsonl", "--low", 0, "--high", 9, *columns, "--set", wording)
    out = ask("status").out
    assert all(name in out for name in ("classes", "drinks", "rows"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "bikes.csv"], "--kind must be number (with --low and --high), class (with --classes) or order"),
        (["new", "bikes.csv", "--kind", "class"], "--classes must be given, for --kind class"),
        (["new", "bikes.csv", "--kind", "class", "--low", "3"], "--low must be left out for --kind class"),
        (["new", "bikes.csv", "--kind", "number", "--low", "3"], "--high must be given, as the other end is"),
        (["new", "bikes.csv", "--kind", "number", "--low", "3", "--high", "1"], "must be"),
        (["new", "bikes.csv", "--kind", "number", "--key", "sise"], "--key must be a column of the table"),
        (["new", "bikes.csv", "--kind", "number", "--set", "ask.overlpa=3"], "--set ask.overlpa must be a known name"),
        (["new", "bikes.csv", "--kind", "number", "--set", "overlap"], "--set must be SECTION.NAME=VALUE"),
        (["new", "bikes.csv", "--kind", "number", "--name", "../x"], "--name must be"),
        (["new", "nothing.csv", "--kind", "number"], "nothing.csv"),
        (["new", "nothing.toml"], "nothing.toml"),
        (["new", "--kind", "number"], "file must be a table of rows"),
        (["new", "--kind", "number", "--out", "no/where.toml", "bikes.csv"], "out must be a file in a directory"),
        (["status"], "store must be a database that exists (see --store and ASKONE_STORE); got askone.db"),
        (["export", "x", "--store", "mysql://u:canary@h/x"], "must be a path, sqlite:///path"),
        (["restore", "nothing.zip"], "nothing.zip"),
        (["simulate", "nothing.toml"], "nothing.toml"),
    ],
)
def test_errors_are_one_line_that_names_the_argument(arguments, message, here):
    err = ask(*arguments, status=2).err
    assert err.startswith("askone: ")
    assert err.count("\n") == 1
    assert message in err
    assert "canary" not in err
    assert not (here / "askone.db").exists() or arguments[0] == "new"


def test_unknown_campaigns(made, here):
    for command in ("export", "replay", "verify", "backup", "status"):
        assert "there is no campaign 'nothing'" in ask(command, "nothing", status=2).err
    ask("export", "bikes", "--what", "log", "--format", "csv", status=2)
    ask("export", "bikes", "--what", "predictions", "--format", "label-studio", status=2)
    ask("export", "bikes", "--out", "no/where.csv", status=2)
    assert sorted(path.name for path in here.iterdir() if not path.name.startswith("askone.db")) == ["bikes.csv"]


def test_notes_on_every_setting():
    labels = (Numbers(0, 1), ClassNames(("a", "b")), Items(("a", "b")))
    for part in (Settings, *filter(None, SECTIONS.values()), *labels):
        infos = {name: info for name, info in part.__pydantic_fields__.items() if name not in SECTIONS}
        assert [name for name, info in infos.items() if not info.description] == ["high"] * (part == labels[0])
    for kind in labels:
        settings = Settings("T # [x]", kind)
        text = commented(settings)
        assert Settings.from_toml(text) == settings
        lively = re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)
        assert lively.count("\n") == text.count("\n")
    assert name_of("  ") == "campaign"


def test_the_examples_in_a_file_can_be_used():
    text = commented(Settings("T", Numbers(0, 1, decimals=1)))
    for name in ("budget", "per_person", "target", "price", "interval", "file", "key", "epsilon"):
        changed = re.sub(rf"^# ({name} = .*)$", r"\1", text, count=1, flags=re.MULTILINE)
        assert changed != text, name
        assert Settings.from_toml(changed) != Settings.from_toml(text)


# -- looking --------------------------------------------------------------------------------------


def test_replay_is_the_same_bit_for_bit(made, here):
    answered(30)
    out = ask("replay", "bikes").out
    assert "the same, bit for bit" in out
    said = ask("replay", "bikes", "--without", "bob", "--out", "without.askone").out
    assert "Without bob: 15 answers; 30 lessons become 15." in said
    store = open_store("askone.db")
    campaign = Campaign.open(store, "bikes")
    assert not campaign.projection.excluded
    X = np.array([row.features for row in store.rows("bikes", range(40))], dtype=float)
    assert (askone.load(here / "without.askone").predict(X) != campaign.model().predict(X)).any()
    store.close()
    assert "--without must be somebody who answered" in ask("replay", "bikes", "--without", "eve", status=2).err


def test_replay_finds_a_state_that_is_not_the_logs(made, monkeypatch):
    answered(30)
    store = open_store("askone.db")
    seq, mark, blob = store.snapshots("bikes")[-1]
    with np.load(io.BytesIO(blob)) as arrays:
        kept = {name: arrays[name].copy() for name in arrays.files}
    name = next(name for name, array in kept.items() if array.dtype.kind == "f" and array.size)
    kept[name].flat[0] = np.nextafter(kept[name].flat[0], np.inf)
    out = io.BytesIO()
    np.savez(out, **kept)
    store.keep_snapshot("bikes", seq, mark, out.getvalue())
    store.close()
    assert "DIFFERS" in ask("replay", "bikes", status=1).out


def test_verify_finds_what_was_changed(made, here):
    answered(10)
    assert "bikes: as written; " in ask("verify").out
    with sqlite3.connect(here / "askone.db") as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("""UPDATE entries SET body = replace(body, '"answer":true', '"answer":false') WHERE seq = 3""")
    database.close()
    assert "bikes: BROKEN at entry 3" in ask("verify", "bikes", status=1).out


def test_simulate(here):
    make("--out", "campaign.toml", "--budget", 60, "--set", "ask.price=0.05", "--set", 'ask.currency="EUR"')
    out = ask("simulate", "campaign.toml", "--answers", 60).out
    assert "mean error in EUR" in out
    assert "40 answers, which is all that the rows give: 3 minutes of people's time, 2.00 EUR." in out
    assert "5 % of answers wrong" in out


def test_simulate_with_people(here):
    make("--out", "campaign.toml", "--budget", 40)
    out = ask("simulate", "campaign.toml", "--people", "2 careful, 1 spammer").out
    assert re.findall(r"(?:careful|spammer) \d", out) == ["careful 1", "careful 2", "spammer 1"]
    assert "98 %" in out
    assert "and people as above" in out.replace("\n", " ")
    assert "people must be such as" in ask("simulate", "campaign.toml", "--people", "2 strangers", status=2).err
    said = ask("simulate", "campaign.toml", "--people", "2 careful", "--flip", 0.1, status=2).err
    assert "--flip must be left out" in said


# -- taking ---------------------------------------------------------------------------------------


def test_backup_and_restore(made, here):
    answered(12)
    ask("backup", "bikes")
    assert os.name != "posix" or (here / "bikes-backup.zip").stat().st_mode & 0o077 == 0
    ask("restore", "bikes-backup.zip", "--store", "other.db")
    assert "Campaign copy: 40 rows, " in ask("restore", "bikes-backup.zip", "--name", "copy").out
    ask("verify", "copy")
    ask("replay", "bikes", "--store", "other.db")
    for place, name in (("askone.db", "bikes"), ("askone.db", "copy"), ("other.db", "bikes")):
        ask("export", name, "--what", "log", "--store", place, "--out", f"{name}-{place}.jsonl")
    assert len({path.read_bytes() for path in here.glob("*.jsonl")}) == 1
    assert "there is a campaign 'bikes' already" in ask("restore", "bikes-backup.zip", status=2).err
    (here / "bad.zip").write_bytes((here / "bikes-backup.zip").read_bytes()[:-100])
    ask("restore", "bad.zip", "--name", "bad", status=2)


def test_a_backup_can_be_signed(made, here):
    (here / "key").write_text("0123456789abcdef0123456789abcdef\n")
    (here / "other").write_text("fedcba9876543210fedcba9876543210\n")
    (here / "short").write_text("0123\n")
    ask("backup", "bikes", "--sign", "key", "--out", "signed.zip")
    ask("backup", "bikes", "--out", "plain.zip")
    assert "The signature holds" in ask("restore", "signed.zip", "--name", "a", "--key", "key").out
    assert "It is signed, which was not checked" in ask("restore", "signed.zip", "--name", "b").out
    for name, key, reason in (
        ("signed", "other", "this key"),
        ("plain", "key", "not signed"),
        ("plain", "short", "16"),
    ):
        assert reason in ask("restore", f"{name}.zip", "--name", "c", "--key", key, status=2).err
    ask("backup", "bikes", "--sign", "nothing", status=2)
    ask("status", "c", status=2)


def test_standard_output(made, here):
    answered(3)
    out = ask("export", "bikes", "--out", "-", "--format", "jsonl").out
    assert len([json.loads(line) for line in out.splitlines()]) == 3
    ask("export", "bikes", "--out", "tasks.json")
    assert json.loads((here / "tasks.json").read_text())[0]["data"]["askone_campaign"] == "bikes"


def test_an_export_that_fails_leaves_no_file(made, here, monkeypatch):

    def broken(*arguments):
        yield b"half"
        raise OSError("the disk is full")

    monkeypatch.setattr("askone.campaign.output.export.answer_chunks", broken)
    assert "the disk is full" in ask("export", "bikes", status=2).err
    assert not list(here.glob("bikes-*"))


@pytest.mark.parametrize("command", sorted(CAMPAIGNS))
def test_a_stop_is_clean(command, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("askone.cli.main.run_campaigns", stop)
    needed = {
        "simulate": ["f"],
        "estimate": ["c", "mean"],
        "compare": ["c"],
        "predict": ["m", "t", "--out", "o.csv"],
        "export": ["c"],
        "decide": ["c"],
        "replay": ["c"],
        "backup": ["c"],
        "restore": ["f"],
        "users": ["list"],
        "answer": ["c", "--with", "m:f"],
        **{name: ["c"] for name in ("delete", "invite", "label", "pause", "people", "resume")},
    }
    assert ask(command, *needed.get(command, []), status=130).err == "askone: stopped\n"


# -- users ----------------------------------------------------------------------------------------


def test_users(monkeypatch, here):
    for name, role in (("ann", "an admin"), ("bob", "a manager")):
        monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
        assert ask("users", "add", name, "--role", role.split()[1]).out == f"{name} is {role}.\n"
    token = ask("users", "token", "bob", "--scopes", "read,manage", "--days", 2).out.strip()
    assert token.startswith("ask1_")
    assert token.encode() not in (here / "askone.db").read_bytes()
    assert re.search(r"bob.*manager.*1", ask("users", "list").out)
    ask("users", "revoke", "bob")
    ask("users", "token", "bob")
    ask("users", "disable", "bob")
    assert re.search(r"bob.*manager \(disabled\).*1", ask("users", "list").out)
    ask("users", "enable", "bob")
    monkeypatch.setattr("sys.stdin", io.StringIO("another horse battery\n"))
    ask("users", "password", "bob")
    assert re.search(r"bob.*manager .*0", ask("users", "list").out), "a new password ends tokens"
    ask("users", "remove", "bob")
    assert "bob" not in ask("users", "list").out
    for arguments, message in (
        (("remove", "ann"), "last administrator"),
        (("disable", "ann"), "last administrator"),
        (("remove", "eve"), "name must be that of a user"),
        (("token", "ann", "--scopes", "all"), "--scopes must be some of read,answer,manage"),
        (("token", "ann", "--days", 0), "--days must be"),
    ):
        assert message in ask("users", *arguments, status=2).err
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    assert "password must be" in ask("users", "add", "cat", status=2).err


# -- serving --------------------------------------------------------------------------------------


def test_serve_hands_on_what_was_asked_for(monkeypatch):
    served = []
    monkeypatch.setattr("askone.cli.serve.serve", lambda url, config, say: served.append((url, config)) or 0)
    ask("serve", "--store", "x.db", "--port", 8123, "--processes", 2, "--public-url", "https://ask.example")
    [(url, config)] = served
    assert (url, config.host, config.port, config.processes, config.tls) == ("x.db", "127.0.0.1", 8123, 2, True)
    assert "port must be" in ask("serve", "--port", 99999, status=2).err


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for loaded in [name for name in sys.modules if name.startswith(("askone.store.", "askone.cli."))]:
        monkeypatch.delitem(sys.modules, loaded)
    assert ask("status", status=2).err == "askone: askone status needs sqlalchemy: pip install 'askone[server]'\n"


def test_a_console_may_be_handed_in(made):
    out = io.StringIO()
    chosen = parser().parse_args(["status"])
    assert run_campaigns(chosen, Console(file=out, width=100)) == 0
    assert "bikes" in out.getvalue()


def test_what_is_asked_can_be_said_in_words(here):
    ask("new", "bikes.csv", "--kind", "number", "--low", "0", "--high", "900", "--label", "price", "--name", "named")
    ask("new", "bikes.csv", "--low", "0", "--high", "900", "--wording", "More than {threshold}?", "--name", "worded")
    with closing(open_store("askone.db")) as store:
        named, worded = (Settings.from_json(next(store.entries(n)).event.settings) for n in ("named", "worded"))
    assert named.labels.name == "price"
    assert worded.question.wording == "More than {threshold}?"
    said = ask("new", "bikes.csv", "--classes", "a,b", "--label", "price", status=2).err
    assert "--label must be left out for --kind class" in said


def test_a_misspelled_kind_is_what_is_wrong(here):
    assert "--kind must be one of" in ask("new", "bikes.csv", "--kind", "clas", "--classes", "a,b", status=2).err


@pytest.mark.parametrize("text", ["nonsense", "10.0.0.300", "10.0.0.1/8"])
def test_a_proxy_that_is_no_address_is_refused(here, text):
    assert "--trust-proxy must be an IP address or network" in ask("serve", "--trust-proxy", text, status=2).err


def test_a_file_of_settings_is_named_with_what_is_wrong(here):
    (here / "bad.toml").write_text('title = "x"\n[labels\n')
    assert "bad.toml: settings must be a TOML file" in ask("new", "bad.toml", status=2).err


def test_what_is_called_a_spreadsheet_and_is_none(here):
    (here / "cut.xlsx").write_bytes(b"\x00\x01" * 200)
    assert "is called a spreadsheet and is none" in ask("new", "cut.xlsx", status=2).err


def test_prices_by_options(here):
    make("--goal", "revenue", "--name", "earning")
    with closing(open_store("askone.db")) as store:
        assert Campaign.open(store, "earning").settings.labels.goal == "revenue"
    assert "--quantile must be" in make("--quantile", 1.5, "--name", "dear", status=2).err
