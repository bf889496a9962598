"""What askone 0.1 wrote is read by every version after it: models, logs, stores, backups, settings, exports.

``tests/data/v0.1/README.md`` says what each file is and how it came about.  The files stay as they are: a version that
reads them otherwise is wrong, and a newer format gets a folder of its own beside this one.

Numbers are compared to nine digits, since processors add in different orders; to five where a likelihood is fitted
anew.
"""

import ast
import asyncio
import csv
import io
import json
import math
import re
import shutil
import sqlite3
import time
import zipfile
from contextlib import closing
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest

import askone
from askone import OneBitClassifier, OneBitRanker, OneBitRegressor, question_from_json
from askone._common import decomposition
from askone.campaign.campaign import Campaign
from askone.campaign.create import add_rows
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.tables.open import open_table
from askone.campaign.tables.safe_images import safe_image
from askone.estimators.loading import modern
from askone.server.security.passwords import Passwords
from askone.server.security.tokens import digest
from askone.store.notices import logged_from_json
from askone.store.open import open_store
from commands import ask

OLD = Path(__file__).parent / "data" / "v0.1"
CAMPAIGNS = ("flats", "animals", "drinks", "shades")
PUBLIC = {"OneBitRegressor": OneBitRegressor, "OneBitClassifier": OneBitClassifier, "OneBitRanker": OneBitRanker}
POSITIONAL = {"OneBitRegressor": ("low", "high"), "OneBitClassifier": ("classes",), "OneBitRanker": ("items",)}


# -- all that is not public ---------------------------------------------------------------------------------------


def made(call, learner):
    """The estimator of a call as it was written then, when estimators had their learners' arguments."""
    node = ast.parse(call, mode="eval").body
    given = dict(zip(POSITIONAL[node.func.id], map(ast.literal_eval, node.args), strict=False))
    given |= {one.arg: ast.literal_eval(one.value) for one in node.keywords}
    return PUBLIC[node.func.id](**modern(given, learner))


def stored(url):
    """A store, to be closed."""
    return closing(open_store(url))


def served(url, name, request, now):
    """What a campaign answers to a request."""
    with stored(url) as store:
        [result] = Campaign.open(store, name).serve([request], now)
    assert not isinstance(result, Exception), result
    return result


def asks(url, name, person, now):
    """What somebody has before them."""
    return served(url, name, Next(person), now)


def answers(url, name, person, lease, answer, now):
    """Somebody's answer."""
    return served(url, name, Answer(person, lease, answer, "a-new-answer", 1.5), now)


def keep_states(url):
    """Keep the state of every model, learnt anew on this machine."""
    with stored(url) as store:
        for name in CAMPAIGNS:
            Campaign.open(store, name, fresh=True).keep()


def asked_of(model):
    """How many questions a model has asked, and how many answers it has learnt from."""
    return model.stream_.asked, model.stream_.answered


def is_password(kept, password):
    """Whether a password is that of a hash."""
    return asyncio.run(Passwords().verify(kept, password))


# -- comparing ----------------------------------------------------------------------------------------------------


def read(name):
    return json.loads((OLD / name).read_text(encoding="utf-8"))


def plain(value):
    """As JSON has it: lists for tuples and arrays."""
    return json.loads(json.dumps(value, default=lambda one: one.tolist()))


EXACT, FITTED = 1e-9, 1e-5
FILTERED, DOUBTED = 2e-2, 0.25
"""Filters weigh what they are told otherwise than in 0.1: intervals that cover, answers that may be wrong, noise and
scales that are likelier than others from the start.  Predictions are about the same, how sure they are is less so."""
"""Relative errors: a likelihood is fitted by steps until they are short, and processors stop at different ones."""


def alike(found, expected, within=EXACT):
    """Equal, but for the last digits of numbers."""
    if isinstance(expected, dict):
        same = isinstance(found, dict) and found.keys() == expected.keys()
        return same and all(alike(found[name], one, within) for name, one in expected.items())
    if isinstance(expected, list):
        return (
            isinstance(found, list) and len(found) == len(expected) and all(map(alike, found, expected, repeat(within)))
        )
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(found, expected, rel_tol=within, abs_tol=1e-12)
    return type(found) is type(expected) and found == expected


def value(text):
    """A cell of a CSV file: JSON where it is, else its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def table(data):
    """The rows of a CSV file, and numbers as numbers."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    return [{name: value(text) for name, text in row.items()} for row in rows]


def test_what_is_compared_could_differ():
    assert alike({"a": [1.0, "x", None]}, {"a": [1.0 + 1e-12, "x", None]})
    for other in ({"a": [1.0 + 1e-7, "x", None]}, {"a": [1.0, "y", None]}, {"a": [1.0, "x"]}, {"b": [1.0, "x", None]}):
        assert not alike({"a": [1.0, "x", None]}, other)
    assert not alike(True, 1)


# -- models -------------------------------------------------------------------------------------------------------

MODELS = read("models.json")


def rows_for(record):
    """The rows that were predicted; None where a model has no rows."""
    if not record["rows"]:
        return None
    if "columns" not in record:
        return np.array(MODELS["rows"])
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    return pandas.DataFrame(MODELS["rows"], columns=record["columns"])


def of_rows(method, rows, **options):
    return method(**options) if rows is None else method(rows, **options)


def expected_of(name, record):
    """What a model is to say: but for the ends of intervals, which are widened less than in 0.1."""
    return {key: one for key, one in record["told"].items() if (name, key) != ("number-interval", "interval")}


def said_by(model, rows, names):
    """What a model says of rows, by the names that are expected."""
    says = {
        "predict": lambda: of_rows(model.predict, rows),
        "interval": lambda: model.predict_interval(rows),
        "range": lambda: model.range_,
        "decision_function": lambda: of_rows(model.decision_function, rows),
        "predict_proba": lambda: model.predict_proba(rows),
        "std": lambda: (
            model.predict(rows, return_std=True)[1]
            if isinstance(model, OneBitRegressor)
            else of_rows(model.predict_std, rows)
        ),
    }
    return {name: plain(says[name]()) for name in names}


def check_the_basis(model, record):
    """A model with costs and gradients keeps its scores in a basis that is not saved with it."""
    if "basis" not in record:
        return
    cost = np.array(model.get_params()["cost"], dtype=float)
    _, sizes, basis = decomposition.svd(cost - cost.mean(axis=0))
    rank = int((sizes > 1e-9 * sizes[0]).sum())  # what lies beyond is multiplied by 0
    assert np.allclose(basis[:rank], np.array(record["basis"])[:rank])


def test_every_saved_model_is_here():
    assert {path.stem for path in (OLD / "models").iterdir()} == set(MODELS["models"])
    assert len(MODELS["models"]) > 70


@pytest.mark.parametrize("name", MODELS["models"])
def test_models(name, tmp_path):
    record = MODELS["models"][name]
    model, rows = askone.load(OLD / "models" / f"{name}.askone"), rows_for(record)
    assert type(model).__name__ == record["call"].partition("(")[0]
    assert asked_of(model) == (record["asked"], record["answered"])
    check_the_basis(model, record)
    told = expected_of(name, record)
    assert alike(said_by(model, rows, told), told)
    if record["events"] is not None:
        assert len(model.log_) == record["events"]
    model.save(tmp_path / "again.askone")
    again = askone.load(tmp_path / "again.askone")
    assert alike(said_by(again, rows, told), told)
    for one in (model, again):  # both go on as the model would have gone on
        question = one.ask() if rows is None else one.ask(rows[:1])[0]
        assert alike(plain(question.to_json()), record["next"])
        one.tell(question, question.answer(record["label"]))
        within = FILTERED if name == "number-filters-quantile" else EXACT
        assert alike(plain(of_rows(one.predict, rows)), record["then"], within)


@pytest.mark.parametrize("name", [name for name, one in MODELS["models"].items() if not one["parts"]])
def test_models_have_the_arguments_they_were_made_with(name):
    path = OLD / "models" / f"{name}.askone"
    with zipfile.ZipFile(path) as archive:
        learner = json.loads(archive.read("askone.json"))["learner"]
    fresh, model = made(MODELS["models"][name]["call"], learner), askone.load(path)
    ours, theirs = (dict(one.get_params(deep=False)) for one in (fresh, model))
    assert ours.pop("wording", "") == theirs.pop("wording", "")
    chosen, kept = ours.pop("learner"), theirs.pop("learner")
    assert type(chosen) is type(kept)
    usual = type(chosen)().get_params()
    given = {name: one for name, one in chosen.get_params().items() if repr(one) != repr(usual.get(name))}
    assert all(kept.get_params()[name] == one for name, one in given.items() if name != "learner")
    assert (ours.pop("budget") is None) == (theirs.pop("budget") is None)
    assert plain(ours) == {argument: one for argument, one in plain(theirs).items() if argument in ours}


def test_an_answer_of_a_saved_model_can_be_taken_back():
    record = MODELS["models"]["order-no-rows"]
    model = askone.load(OLD / "models" / "order-no-rows.askone")
    waiting = sorted(model.stream_.open)
    model.tell(waiting[0], True)
    assert not alike(said_by(model, None, record["told"]), record["told"])
    model.retract(waiting[0])
    assert alike(said_by(model, None, record["told"]), record["told"])


# -- logs of models -----------------------------------------------------------------------------------------------

LOGS = read("logs.json")
LIKELIHOODS = ("Contest", "SetLikelihood")


@pytest.mark.parametrize("name", LOGS["logs"])
def test_logs(name, tmp_path):
    record, path = LOGS["logs"][name], OLD / "logs" / f"{name}.jsonl"
    log = askone.read_log(path)
    assert len(log) == record["events"]
    kinds = [event.kind for event in log]
    kinds += [f"asked {event.question.kind}" for event in log if event.kind == "asked"]
    assert {kind: kinds.count(kind) for kind in kinds} == record["kinds"]
    askone.write_log(tmp_path / "again.jsonl", log)
    ours, theirs = ((at.read_text(encoding="utf-8").splitlines()) for at in (tmp_path / "again.jsonl", path))
    assert list(map(json.loads, ours)) == list(map(json.loads, theirs))


@pytest.mark.parametrize("name", LOGS["logs"])
def test_logs_teach_as_they_did(name):
    record, log = LOGS["logs"][name], askone.read_log(OLD / "logs" / f"{name}.jsonl")
    rows = {key: np.array(row) for key, row in record["rows"]}
    shown = np.array(LOGS["rows"]) if record["context"] else None
    for call, expected in record["refits"].items():
        model = askone.refit(log, rows, made(call, {"type": expected["learner"]}), own=expected["own"])
        within = {"Filters": FILTERED, **dict.fromkeys(LIKELIHOODS, FITTED)}.get(expected["learner"], EXACT)
        assert asked_of(model)[1] == expected["answered"]
        assert alike(plain(of_rows(model.predict, shown)), expected["predict"], within)
        if expected["scores"] is not None:
            assert alike(plain(of_rows(model.decision_function, shown)), expected["scores"], within)


# -- single records -----------------------------------------------------------------------------------------------

CODED = read("coded.json")


@pytest.mark.parametrize("place", range(len(CODED["questions"])))
def test_questions(place):
    record = CODED["questions"][place]
    for form in (record["json"], json.dumps(record["json"])):
        question = question_from_json(form)
        assert plain(question.to_json()) == record.get("reads", record["json"])
        assert str(question) == record["text"]
        assert plain([question.answer(label) for label in record["labels"]]) == record["answers"]


def test_every_family_of_questions_is_here():
    families = {"half-space", "reveal", "subset", "prefer", "best-of", "pair-sum", "slope"}
    assert {one["json"]["kind"] for one in CODED["questions"]} == families


def test_events(tmp_path):
    text = "".join(json.dumps(event) + "\n" for event in CODED["events"])
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    log = askone.read_log(tmp_path / "log.jsonl")
    assert {event.kind for event in log} == {"asked", "answered", "skipped", "retracted", "revisited"}
    assert [plain(event.to_json()) for event in log] == CODED["events"]
    assert [plain(logged_from_json(event).to_json()) for event in CODED["events"]] == CODED["events"]


def test_notices():
    kinds = {"began", "grown", "turned", "limited", "flagged", "reopened", "excluded", "included"}
    assert {one["kind"] for one in CODED["notices"]} == kinds
    assert [plain(logged_from_json(one).to_json()) for one in CODED["notices"]] == CODED["notices"]


# -- campaigns ----------------------------------------------------------------------------------------------------

TOLD = read("campaigns.json")


def from_sqlite(folder):
    shutil.copy(OLD / "campaigns" / "askone.db", folder / "askone.db")
    return str(folder / "askone.db")


def from_postgresql(url):
    driver = pytest.importorskip("psycopg", reason="needs psycopg")
    statements = (OLD / "campaigns" / "postgresql.sql").read_text(encoding="utf-8").strip().split("\n\n")
    assert len(statements) > 500
    with driver.connect(url) as connection:
        for statement in statements:
            connection.execute(statement)
    return url


def from_backups(folder):
    for name in CAMPAIGNS:
        ask("restore", OLD / "campaigns" / f"{name}-backup.zip", "--store", folder / "restored.db")
    return str(folder / "restored.db")


@pytest.fixture(params=["sqlite", "postgresql", "backups"])
def any_old(request, tmp_path):
    """A store that has the campaigns; but for the one from backups, as it was, accounts and open questions included."""
    if request.param == "postgresql":
        return from_postgresql(request.getfixturevalue("postgres_url"))
    return from_sqlite(tmp_path) if request.param == "sqlite" else from_backups(tmp_path)


as_it_was = pytest.mark.parametrize("any_old", ["sqlite", "postgresql"], indirect=True)


def old_log(name):
    """The log of a campaign, as its backup has it: what the export wrote, too."""
    with zipfile.ZipFile(OLD / "campaigns" / f"{name}-backup.zip") as archive:
        return archive.read("log.jsonl")


def test_exports(any_old, tmp_path):
    for name in CAMPAIGNS:
        for what in ("answers", "predictions"):
            ask("export", name, "--what", what, "--out", tmp_path / "out.csv", "--store", any_old)
            found = table((tmp_path / "out.csv").read_bytes())
            expected = table((OLD / "campaigns" / f"{name}-{what}.csv").read_bytes())
            assert len(found) == len(expected) > 0
            fitted = {"animals": FITTED, "shades": FITTED, "flats": FILTERED} if what == "predictions" else {}
            within = fitted.get(name, EXACT)
            for ours, theirs in zip(found, expected, strict=True):
                if what == "predictions":  # these were two deviations of what is predicted: now they are the label's
                    theirs |= {f"prediction_{end}": theirs.pop(end) for end in ("low", "high")}
                if within == FILTERED:
                    assert alike(ours["std"], theirs.pop("std"), DOUBTED)
                    del theirs["prediction_low"], theirs["prediction_high"]
                    assert ours["prediction_low"] < ours["prediction"] < ours["prediction_high"]
                assert alike({column: ours[column] for column in theirs}, theirs, within), (name, what)
        ask("export", name, "--what", "log", "--out", tmp_path / "out.jsonl", "--store", any_old)
        assert (tmp_path / "out.jsonl").read_bytes() == old_log(name)


def test_logs_of_campaigns_are_verified(any_old):
    said = " ".join(ask("verify", "--store", any_old).out.split())
    for name, told in TOLD.items():
        rows = f"{told['rows']} row" + "s" * (told["rows"] != 1)
        assert f"{name}: as written; {told['entries']} entries, {rows}; head {told['head']}" in said


def test_logs_of_campaigns_are_replayed(any_old, tmp_path):
    # A state that another processor kept may differ in its last bit: what is compared bit for bit is of this one.
    keep_states(any_old)
    for name, told in TOLD.items():
        said = " ".join(ask("replay", name, "--out", tmp_path / f"{name}.askone", "--store", any_old).out.split())
        assert f"{name}: {told['entries']} entries, {told['status']['learnt']} lessons learnt anew" in said
        assert "the state is the same, bit for bit" in said
        assert asked_of(askone.load(tmp_path / f"{name}.askone"))[1] == told["status"]["learnt"]


def test_status(any_old):
    for name, told in TOLD.items():
        with stored(any_old) as store:
            found = Campaign.open(store, name).status(time.time())
        assert {label: found[label] for label in told["status"]} == told["status"]
        said = ask("status", name, "--store", any_old).out  # in words
        assert said.startswith(f"{told['status']['title']} ({name}) is ")
        assert re.search(rf"\b{told['status']['answers']}( of \d+)? answers of \d people", said)
    listed = ask("status", "--store", any_old).out
    assert all(name in listed for name in CAMPAIGNS)


@as_it_was
def test_campaigns_go_on(any_old):
    """Who held a question has it still, and may answer it."""
    for name, told in TOLD.items():
        bob, entries = told["bob"], told["entries"]
        serving = asks(any_old, name, "p-bob", bob["at"])
        assert serving.state == bob["state"]
        if bob["question"] is None:
            assert serving.question is None
            continue
        held = serving.question
        assert plain(held.question.to_json()) == bob["question"]
        assert (str(held.question), held.row.key) == (bob["text"], bob["row"])
        after = answers(any_old, name, "p-bob", held.lease, True, bob["at"] + 1)
        assert after.question is None or after.question.number != held.number
        with stored(any_old) as store:
            assert store.head(name)[0] > entries
    ask("verify", "--store", any_old)


def test_restored_campaigns_go_on(tmp_path):
    url = from_backups(tmp_path)
    for name in ("flats", "animals", "drinks"):
        serving = asks(url, name, "p-bob", TOLD[name]["bob"]["at"])
        assert serving.state == "question"
        answers(url, name, "p-bob", serving.question.lease, False, TOLD[name]["bob"]["at"] + 1)
    ask("verify", "--store", url)


@as_it_was
def test_a_store_is_backed_up_as_it_was(any_old, tmp_path):
    for name in CAMPAIGNS:
        ask("backup", name, "--out", tmp_path / f"{name}.zip", "--store", any_old)
        with (
            zipfile.ZipFile(tmp_path / f"{name}.zip") as ours,
            zipfile.ZipFile(OLD / "campaigns" / f"{name}-backup.zip") as theirs,
        ):
            assert set(ours.namelist()) == set(theirs.namelist())
            for member in set(theirs.namelist()) - {"manifest.json"}:
                assert ours.read(member) == theirs.read(member), (name, member)


def test_images(any_old):
    with stored(any_old) as store:
        keys = store.media_keys("shades")
        found = [store.media("shades", key) for key in keys]
    assert len(found) == 4
    assert all(kind == "image/png" and data.startswith(b"\x89PNG") for kind, data in found)


def test_images_are_added_as_they_were_seen(any_old, tmp_path):
    """By 16 x 16 gray values; those of later campaigns are seen by their edges and colours."""
    with stored(any_old) as store:
        old = list(store.rows("shades", range(4)))
        first = store.media("shades", old[0].key)[1]
        (tmp_path / "new.png").write_bytes(first)
        add_rows(store, "shades", open_table(tmp_path), 1.0, "")
        [new] = store.rows("shades", [4])
    assert (new.features == safe_image(first).gray).all()
    assert (new.features == old[0].features).all()


@as_it_was
def test_accounts(any_old):
    said = ask("users", "list", "--store", any_old).out
    for name, role in (("Ann", "manager"), ("Bob", "annotator"), ("Cyd Ångström", "annotator"), ("Root", "admin")):
        assert any(name in line and role in line for line in said.splitlines())
    assert "forgotten p-gone" in said
    now = 1_700_000_000.0
    with stored(any_old) as store:
        accounts = store.accounts
        ann = accounts.user_by_name("ANN")
        assert (ann.id, ann.role, ann.disabled) == ("p-ann", "manager", False)
        assert is_password(ann.password_hash, "password of Ann")
        assert not is_password(ann.password_hash, "password of Bob")
        assert accounts.user("p-gone").disabled
        assert [accounts.role_in("flats", one) for one in ("p-ann", "p-bob", "p-root")] == [
            "manager",
            "annotator",
            None,
        ]
        assert accounts.session(digest("session of bob"), now).user == "p-bob"
        token = accounts.token(digest("ask1_token of ann"), now)
        assert (token.user, token.scopes, token.title) == ("p-ann", ("read", "manage"), "for scripts")
        [invitation] = accounts.invitations("animals")
        assert (invitation.most_uses, invitation.uses, invitation.title) == (5, 1, "class 7b")
        assert accounts.use_invitation(digest("invitation"), now) == "animals"


@as_it_was
def test_webhooks(any_old):
    with stored(any_old) as store:
        accounts = store.accounts
        [hook] = accounts.webhooks("flats")
        assert (hook.id, hook.url, hook.secret) == ("w-1", "https://example.org/hook", "a made-up secret")
        assert hook.events == ("answer", "status")
        [place] = accounts.places()
        assert (place.seq, place.head, place.spent) == (1, TOLD["flats"]["entries"], False)
        [delivery] = accounts.due_deliveries(1_700_000_001.0, 10)
        assert (delivery.id, delivery.body, delivery.tries) == ("d-1", '{"kind":"test"}', 0)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("flats", "Is the rent above 1050 EUR?"),
        ("animals", "Is this "),
        ("drinks", "Do you prefer "),
        ("shades", "Is it "),
    ],
)
def test_settings(name, first, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(OLD / "campaigns", folder)
    assert first in ask("new", folder / f"{name}.toml", "--name", "again", "--store", tmp_path / "new.db").out
    ask("verify", "--store", tmp_path / "new.db")
    ask("export", "again", "--what", "log", "--out", tmp_path / "log.jsonl", "--store", tmp_path / "new.db")
    logs = ((tmp_path / "log.jsonl").read_bytes(), old_log(name))
    ours, theirs = (json.loads(log.splitlines()[0])["event"] for log in logs)
    order = theirs["settings"]["ask"]["order"]  # as the files say; it is called otherwise now
    theirs["settings"]["ask"]["order"] = {"stream": "file", "uncertain": "auto"}.get(order, order)
    assert theirs["settings"].pop("title") == ours["settings"].pop("title")
    assert all(one.items() <= ours["settings"][part].items() for part, one in theirs["settings"].items())
    assert ours["rows"] == theirs["rows"]


def test_campaigns_keep_the_order_that_they_began_with(tmp_path):
    shutil.copy(OLD / "campaigns" / "askone.db", tmp_path)
    with stored(str(tmp_path / "askone.db")) as store:
        orders = {name: Campaign.open(store, name).settings.ask.order for name in CAMPAIGNS}
    assert orders == {"flats": "auto", "animals": "file", "drinks": "file", "shades": "file"}


def test_the_old_files_stay_as_they_are(tmp_path):
    """What the tests open is a copy: the file that is kept has no journal beside it, and is in the old format."""
    assert not list((OLD / "campaigns").glob("askone.db-*"))
    with closing(sqlite3.connect(f"file:{OLD / 'campaigns' / 'askone.db'}?mode=ro", uri=True)) as database:
        assert database.execute("SELECT max(number) FROM migrations").fetchall() == [(1,)]
