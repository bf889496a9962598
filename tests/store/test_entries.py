"""Entries as texts: logs are chained by hashes, so every byte of what was once written stays as it is."""

import json

import pytest

from askone.errors import InvalidFile
from askone.questions.half_space import HalfSpace
from askone.session.log import Answered, Asked, Choice, Fitted, Retracted, Revisited, Skipped, event_from_json
from askone.store.entries import Entry, body, chain, entry_from_json
from askone.store.notices import (
    KINDS,
    Began,
    Changed,
    Excluded,
    Flagged,
    Grown,
    Included,
    Limited,
    PausedPerson,
    Reasked,
    Reopened,
    Resolved,
    ResumedPerson,
    Ruled,
    StatusChanged,
    logged_from_json,
)

QUESTION = (
    '{"format":1,"kind":"half-space","direction":[1.0],"threshold":37.0,"density":1.0,"number":0,"names":[],"unit":"",'
    '"wording":"","answers":["yes","no"],"purpose":"","learnt":null,"quantities":[],"turned":false}'
)
ASKED = HalfSpace((1.0,), 37.0, number=0)
CHOICE = Choice("uncertain", 900, 200, 0.25)
SETTINGS = {"labels": {"low": 0.0, "high": None}, "ask": {"budget": 7}}
TEXTS = [
    (Asked("ask-0", "~0", ASKED, 0), f'"asked","id":"ask-0","row":"~0","question":{QUESTION},"learnt":0'),
    (
        Asked("ask-1", 17, ASKED, 4, CHOICE),
        f'"asked","id":"ask-1","row":17,"question":{QUESTION},"learnt":4,'
        '"choice":{"rule":"uncertain","pool":900,"looked":200,"worth":0.25}',
    ),
    (Answered("answer-0", "ask-0", True), '"answered","id":"answer-0","asked":"ask-0","answer":true'),
    (Answered("answer-1", "ask-1", (1.0, "späť")), '"answered","id":"answer-1","asked":"ask-1","answer":[1.0,"späť"]'),
    (Skipped("skip-2", "ask-2"), '"skipped","id":"skip-2","asked":"ask-2"'),
    (Retracted("retract-0", "answer-0"), '"retracted","id":"retract-0","answered":"answer-0"'),
    (Revisited("visit-0", "ann"), '"revisited","id":"visit-0","row":"ann"'),
    (Fitted("fit-0", 6, "ab12"), '"fitted","id":"fit-0","learnt":6,"hash":"ab12"'),
    (
        Began("began", SETTINGS, 3, "f0"),
        '"began","id":"began","settings":{"labels":{"low":0.0,"high":null},"ask":{"budget":7}},"rows":3,'
        '"fingerprint":"f0"',
    ),
    (Grown("g", 2, "f1"), '"grown","id":"g","rows":2,"fingerprint":"f1"'),
    (StatusChanged("t", "paused"), '"turned","id":"t","status":"paused"'),
    (Limited("l", None), '"limited","id":"l","budget":null'),
    (Limited("m", 30), '"limited","id":"m","budget":30'),
    (Changed("c", {"ask": {"target": 0.1}}), '"changed","id":"c","settings":{"ask":{"target":0.1}}'),
    (Flagged("f", "ask-2", "blurred"), '"flagged","id":"f","asked":"ask-2","reason":"blurred"'),
    (Reopened("o", "skip-2"), '"reopened","id":"o","skipped":"skip-2"'),
    (Excluded("x", "bob"), '"excluded","id":"x","person":"bob"'),
    (Included("i", "bob"), '"included","id":"i","person":"bob"'),
    (
        PausedPerson("p", "bob", 0.125, 0.25, 40),
        '"paused_person","id":"p","person":"bob","bits":0.125,"below":0.25,"answers":40',
    ),
    (ResumedPerson("p", "bob"), '"resumed_person","id":"p","person":"bob"'),
    (Reasked("r", "ask-3"), '"reasked","id":"r","asked":"ask-3"'),
    (Ruled("r", "ask-2", None), '"ruled","id":"r","asked":"ask-2","answer":null'),
    (Resolved("s", "f"), '"resolved","id":"s","flagged":"f"'),
]


@pytest.mark.parametrize(("event", "text"), TEXTS, ids=[f"{event.kind}-{event.id}" for event, _ in TEXTS])
def test_every_kind_of_record_is_written_and_read_as_it_always_was(event, text):
    written = (
        '{"seq":3,"who":"ann","at":1.5,"took":0.25,"aside":{"position":0},"event":{"format":1,"kind":' + text + "}}"
    )
    entry = Entry(event, "ann", 1.5, 0.25, {"position": 0}, 3)
    assert body(entry) == written
    assert entry_from_json(json.loads(written)) == entry


def test_there_is_a_text_of_every_kind():
    assert {event.kind for event, _ in TEXTS} == set(KINDS)


def test_a_hash_that_was_once_made():
    text = '{"seq":10,"who":"ann","at":1.5,"event":{"format":1,"kind":"turned","id":"t","status":"paused"}}'
    assert body(Entry(StatusChanged("t", "paused"), "ann", 1.5, seq=10)) == text
    assert chain("0" * 64, text).startswith("efb1c399afdb6c11")


def test_a_choice_that_is_null_is_none():
    record = {**Asked("a", "row", ASKED, 0).to_json(), "choice": None}
    assert event_from_json(record).choice is None


@pytest.mark.parametrize("record", [{"kind": "turned", "format": 2}, {"kind": "turned", "format": 1}, {"kind": ["a"]}])
def test_a_notice_that_cannot_be_read_is_refused(record):
    with pytest.raises(InvalidFile):
        logged_from_json(record)


def test_notices_are_no_events():
    """A file of answers holds no records of a campaign."""
    with pytest.raises(InvalidFile, match="'turned', format 1 cannot be read"):
        event_from_json(StatusChanged("t", "paused").to_json())
