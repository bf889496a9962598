"""Settings: TOML and JSON round trips, and every refusal names its place."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askone.campaign.settings._toml import to_toml
from askone.campaign.settings.settings import (
    AskSettings,
    ClassNames,
    Items,
    LearnerSettings,
    Numbers,
    QuestionSettings,
    RowSettings,
    Settings,
)
from askone.errors import InvalidArgument
from askone.labels.classes import Classes
from askone.labels.number import Real
from askone.labels.ranking import Ranking

# -- round trips ----------------------------------------------------------------------------------

letters = st.characters(exclude_categories=["Cs", "Cc"])
lines = st.text(letters, min_size=1, max_size=20).filter(str.strip)
prose = st.text(letters | st.sampled_from("\n\t"), max_size=40)
names = st.lists(lines | st.integers(-99, 99) | st.floats(-9, 9), min_size=2, max_size=5, unique_by=str).filter(
    lambda given: len(set(given)) == len(given)
)
finite = st.floats(-1e9, 1e9)
ranged = st.tuples(finite, finite).filter(lambda ends: ends[0] < ends[1])
columns = st.none() | st.lists(lines, unique=True, max_size=3).map(tuple)


def numbers():
    ends = st.just((None, None)) | ranged
    build = lambda ends, unit, decimals, name: Numbers(*ends, unit, decimals, name)  # noqa: E731
    return st.builds(build, ends, st.just("") | lines, st.none() | st.integers(-3, 3), st.just("") | lines)


labels = numbers() | names.map(ClassNames) | names.map(Items)
asking = st.builds(
    AskSettings,
    budget=st.none() | st.integers(1, 10**9),
    overlap=st.integers(1, 5),
    exam_share=st.floats(0, 0.9),
    order=st.sampled_from(["auto", "random", "file", "stream", "uncertain"]),
    lease_seconds=st.floats(1, 1000),
    per_person=st.none() | st.integers(1, 100),
    target=st.none() | st.floats(1e-6, 10),
    price=st.none() | st.floats(0, 10),
    currency=st.just("") | st.text(letters, max_size=5),
    seconds=st.floats(0.1, 100),
)
learners = st.builds(LearnerSettings, flip=st.floats(0, 0.4), seed=st.integers(0, 2**32 - 1))
wordings = {
    "number": ["", "Is {amount} {side} {threshold}?", "Über {threshold} «€»?"],
    "class": ["", "Ist es eines von {set}?"],
    "order": ["", 'Rather "{first}" or {second}?'],
}


@st.composite
def settings(draw):
    label = draw(labels)
    wording = draw(st.sampled_from(wordings[label.kind]))
    answers = draw(st.sampled_from([("yes", "no"), ("bought it", "did not")]))
    key, gold = draw(st.sampled_from([(None, None), ("id", None), ("a key", "truth")]))
    shown = draw(columns.filter(lambda names: gold not in (names or ())))
    rows = RowSettings(key, shown, None, gold, draw(st.none() | lines))
    question = QuestionSettings(wording, draw(prose), answers)
    return Settings(draw(lines), label, rows, question, draw(asking), draw(learners))


@given(settings())
def test_settings_survive_toml_and_json_exactly(one):
    assert Settings.from_toml(one.to_toml()) == one
    assert Settings.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False))) == one
    assert hash(Settings.from_json(one.to_json())) == hash(one)


plain = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.integers() | st.floats(allow_nan=False,
    allow_infinity=False) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
tables = st.recursive(
    st.dictionaries(st.text(max_size=5).filter(lambda t: t.isprintable()), plain, max_size=3),
    lambda inner: st.dictionaries(st.text("ab.\"' ", max_size=4), plain | inner, max_size=3),
    max_leaves=5,
)


@given(tables)
def test_any_table_survives_toml(table):
    assert tomllib.loads(to_toml(table)) == table


def test_attributes_survive_in_their_order():
    text = """
title = "Cats"
[labels]
kind = "class"
classes = ["cat", "caracal", "owl"]
[labels.attributes]
"tufted ears" = ["caracal", "owl"]
feline = ["cat", "caracal"]
"""
    one = Settings.from_toml(text)
    assert one.labels.attributes == (("tufted ears", ("caracal", "owl")), ("feline", ("cat", "caracal")))
    assert Settings.from_toml(one.to_toml()) == one
    assert list(one.to_json()["labels"]["attributes"]) == ["tufted ears", "feline"]
    assert one.labels == ClassNames(
        ("cat", "caracal", "owl"), {"tufted ears": ["caracal", "owl"], "feline": ["cat", "caracal"]}
    )


def test_what_is_left_out_has_its_default():
    one = Settings.from_toml('title = "A"\n[labels]\nkind = "order"\nitems = ["tea", "milk"]')
    assert one == Settings("A", Items(("tea", "milk")))
    assert one.ask == AskSettings()
    assert isinstance(one.space(), Ranking)
    assert isinstance(Settings("A", Numbers(0, 9)).space(), Real)
    assert isinstance(Settings("A", ClassNames(("a", "b"))).space(), Classes)


# -- refusals -------------------------------------------------------------------------------------

NUMBER = {"title": "T", "labels": {"kind": "number", "low": 0, "high": 9}}
CLASS = {"title": "T", "labels": {"kind": "class", "classes": ["a", "b", "c"]}}
ORDER = {"title": "T", "labels": {"kind": "order", "items": ["a", "b", "c"]}}


def changed(base, place, value):
    record = json.loads(json.dumps(base))
    inner, *parts = record, *place.split(".")
    for part in parts[:-1]:
        inner = inner.setdefault(part, {})
    inner[parts[-1]] = value
    return record


@pytest.mark.parametrize(
    ("base", "place", "value"),
    [
        (NUMBER, "title", ""),
        (NUMBER, "title", "two\nlines"),
        (NUMBER, "title", "\x00"),
        (NUMBER, "title", "\ud800"),
        (NUMBER, "title", "x" * 2000),
        (NUMBER, "title", 3),
        (NUMBER, "labels", 3),
        (NUMBER, "labels", None),
        (NUMBER, "labels.kind", "price"),
        (NUMBER, "labels.kind", None),
        (NUMBER, "labels.kind", ["number"]),
        (NUMBER, "labels.low", "0"),
        (NUMBER, "labels.low", None),
        (NUMBER, "labels.low", float("nan")),
        (NUMBER, "labels.low", 10**400),
        (NUMBER, "labels.high", 0),
        (NUMBER, "labels.high", True),
        (NUMBER, "labels.decimals", 99),
        (NUMBER, "labels.unit", 5),
        (CLASS, "labels.classes", ["a"]),
        (CLASS, "labels.classes", ["a", "a"]),
        (CLASS, "labels.classes", ["a", 1, "1"]),
        (CLASS, "labels.classes", ["a", True]),
        (CLASS, "labels.classes", ["a", {"b": 1}]),
        (CLASS, "labels.classes", "abc"),
        (CLASS, "labels.classes", [str(i) for i in range(3000)]),
        (CLASS, "labels.max_set_size", 3),
        (CLASS, "labels.attributes", {}),
        (CLASS, "labels.attributes", [3]),
        (CLASS, "labels.attributes", {"x": ["a"]}),  # tells b and c not apart
        (ORDER, "labels.items", ["a", " "]),
        (NUMBER, "question.wording", "Is it {x.__class__}?"),
        (NUMBER, "question.wording", "Is it {threshold.__class__}?"),
        (NUMBER, "question.wording", "Is it {threshold!r}?"),
        (NUMBER, "question.wording", "Is it {threshold:>99999999}?"),
        (NUMBER, "question.wording", "Is it above?"),
        (NUMBER, "question.wording", "Is it {0}?"),
        (NUMBER, "question.wording", "Is it {threshold"),
        (CLASS, "question.wording", "Is it {set.__class__}?"),
        (CLASS, "question.wording", "Is it {set} {threshold}?"),
        (ORDER, "question.wording", "Is it {first} or {second.x}?"),
        (ORDER, "question.wording", "Is it {first} or {second} }?"),
        (ORDER, "question.wording", "Is it {first}?"),
        (NUMBER, "question.answers", ["yes"]),
        (NUMBER, "question.answers", ["yes", "yes "]),
        (NUMBER, "question.answers", "yn"),
        (NUMBER, "question.instructions", "\x1b[2J"),
        (NUMBER, "question.instructions", "x" * 30_000),
        (NUMBER, "ask.budget", 0),
        (NUMBER, "ask.budget", 1.5),
        (NUMBER, "ask.overlap", 0),
        (NUMBER, "ask.gold_share", 0.1),  # without a gold column
        (NUMBER, "ask.exam_share", 1.0),
        (NUMBER, "ask.order", "sorted"),
        (NUMBER, "ask.lease_seconds", 0),
        (NUMBER, "ask.target", 0),
        (NUMBER, "ask.price", -1),
        (NUMBER, "ask.seconds", 0),
        (NUMBER, "learner.flip", 0.5),
        (NUMBER, "learner.seed", -1),
        (NUMBER, "learner.interval", 1),
        (NUMBER, "learner.loss", "hinge"),
        (NUMBER, "learner.learner", "thurstone"),
        (CLASS, "learner.loss", "squared"),
        (CLASS, "learner.interval", 0.9),
        (NUMBER, "rows.show", ["a", "a"]),
        (NUMBER, "rows.show", "a"),
        (NUMBER, "rows.key", ""),
        (NUMBER, "rows.file", "\x00"),
    ],
)
def test_a_refusal_names_its_place(base, place, value):
    with pytest.raises(InvalidArgument) as refused:
        Settings.from_json(changed(base, place, value))
    assert refused.value.argument == place


@pytest.mark.parametrize(
    ("place", "near"),
    [("titel", "title"), ("asks", "ask"), ("ask.budgte", "budget"), ("labels.lo", "low"), ("rows.shown", "show")],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(place, near):
    with pytest.raises(InvalidArgument, match=f"did you mean '{near}'") as refused:
        Settings.from_json(changed(NUMBER, place, 1))
    assert refused.value.argument == place


def test_gold_is_neither_shown_nor_learnt():
    for field in ("show", "learn"):
        with pytest.raises(InvalidArgument, match=f"rows.{field} must be other columns"):
            RowSettings(gold="y", **{field: ("x", "y")})
    with pytest.raises(InvalidArgument, match="rows.gold must be another column"):
        RowSettings(key="y", gold="y")
    Settings("T", Numbers(0, 9), RowSettings(gold="y"), ask=AskSettings(gold_share=0.1))


@pytest.mark.parametrize(
    ("learner", "place"),
    [
        (LearnerSettings(flip=0.1, learner="rls", loss="squared"), "learner.flip"),
        (LearnerSettings(interval=0.9, loss="squared"), "learner.interval"),
        (LearnerSettings(loss="squared", learner="filters"), "learner.loss"),
        (LearnerSettings(learner="rls"), "learner.loss"),
        (LearnerSettings(loss="huber"), "labels.low"),
    ],
)
def test_what_the_estimators_would_refuse_is_refused_before_there_are_rows(learner, place):
    with pytest.raises(InvalidArgument) as refused:
        Settings("T", Numbers(), learner=learner)
    assert refused.value.argument == place


@pytest.mark.parametrize(
    "text",
    [
        "title = ",
        "title = 'a'\ntitle = 'b'",
        "x = " + "[" * 100_000,
        "a." * 2000 + "b = 1",
        "n = " + "9" * 5000,
        "x" * 2_000_000,
        "[labels]\nkind = 'number'",
        "title = 'T'",
        "title = 1979-05-27\n[labels]\nkind = 'number'",
    ],
    ids=["broken", "twice", "nested", "dotted", "digits", "long", "untitled", "unlabelled", "date"],
)
def test_a_bad_file_is_refused_cleanly(text):
    with pytest.raises(InvalidArgument):
        Settings.from_toml(text)


def test_settings_are_a_table():
    for record in (None, [], "x", {1: 2}):
        with pytest.raises(InvalidArgument, match="settings must be a table"):
            Settings.from_json(record)
