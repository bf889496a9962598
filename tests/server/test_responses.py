"""Questions as responses: what the client reads is what the server's models have, and nothing of it is guessed."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from askone.campaign.engine.commands import Ahead, Served, Serving
from askone.campaign.settings.settings import ClassNames, Items, Numbers
from askone.client.question import Posed
from askone.labels.wording import Wording
from askone.questions.comparison import BestOf, Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset
from askone.server._responses import (
    CellResponse,
    PairResponse,
    QuestionResponse,
    RowResponse,
    ServingResponse,
    ThresholdResponse,
)
from askone.server._routing import JsonResponse
from askone.server.app import ROUTES
from askone.server.serializers import QuestionSerializer
from askone.store.entries import Row

UNREAD = {"expires_in", "row.image", "row.fields.kind", "template", "threshold.name", "title"}
"""What pages show and the client leaves in ``record``."""
QUESTIONS = {
    "threshold": HalfSpace((1.0,), 37.0, wording=Wording(("price",), "EUR")),
    "set": Subset(("cat", "dog")),
    "pair": Prefer("tea", "milk"),
}
LABELS = {HalfSpace: Numbers(), Subset: ClassNames(("cat", "dog")), Prefer: Items(("tea", "milk"))}


class Noted(dict):
    """A record that notes which of its fields are read, however deep."""

    def __init__(self, record, read, path=""):
        super().__init__(record)
        self._read, self._path = read, path

    def __getitem__(self, name):
        self._read.add(self._path + name)
        return self._wrapped(super().__getitem__(name), f"{self._path}{name}.")

    def get(self, name, default=None):
        return default if name not in self else self[name]  # noqa: SIM401

    def _wrapped(self, value, path):
        if isinstance(value, dict):
            return Noted(value, self._read, path)
        return [self._wrapped(one, path) for one in value] if isinstance(value, list) else value


def served(question):
    return Served("l", 3, question, Row(2, "a", {"size": 7.5}, np.array([7.5])), 60.0)


def shown(question):
    labels = LABELS.get(type(question), LABELS[Prefer])
    return QuestionSerializer("c", labels, None).question(served(question), 1.0)


def fields(model, path=""):
    return {path + name for name in model.model_fields}


def test_the_client_reads_what_the_server_has():
    read = set()
    for kind, question in QUESTIONS.items():
        posed = Posed.from_json(Noted(shown(question).model_dump(), read))
        assert (posed.kind, posed.lease, posed.number) == (kind, "l", 3)
        assert (posed.sentence, posed.row) == (str(question), {"size": "7.5"})
        assert {"threshold": posed.threshold, "set": posed.classes, "pair": posed.pair}[kind] is not None
        assert (posed.side, posed.unit) == (("above", "EUR") if kind == "threshold" else (None, None))
    sent = fields(QuestionResponse) | fields(RowResponse, "row.") | fields(CellResponse, "row.fields.")
    sent |= fields(ThresholdResponse, "threshold.") | fields(PairResponse, "pair.")
    assert read == sent - UNREAD


def test_the_json_of_a_serving():
    question = served(QUESTIONS["pair"])
    serving = Serving("question", question, Ahead(question, question), 4, None, 1)
    model = QuestionSerializer("c", LABELS[Prefer], None).serving(serving, 58.75)
    asked = {
        "kind": "pair", "sentence": "Do you prefer tea or milk?", "template": "Do you prefer {first} or {second}?",
        "answers": ["tea", "milk"], "threshold": None, "range": None, "set": None, "title": None,
        "pair": {"left": "tea", "right": "milk"}, "lease": "l", "number": 3, "expires_in": 1.25,
        "row": {"fields": [{"name": "size", "value": "7.5", "kind": "number"}], "image": None},
    }  # fmt: skip
    expected = {"state": "question", "mine": 4, "left": None, "undoable": 1, "duplicate": False, "question": asked}
    expected |= {"ahead": {"yes": asked, "no": asked}, "privacy": None, "bag": []}
    text = JsonResponse(model).body.decode()
    assert text == json.dumps(expected, separators=(",", ":"))


def test_questions_of_other_kinds_go_by_their_own():
    model = shown(BestOf(("a", "b", "c")))
    assert (model.kind, model.threshold, model.set, model.pair) == (BestOf(("a", "b", "c")).kind, None, None, None)


def test_a_field_that_is_not_described_cannot_be_sent():
    with pytest.raises(ValidationError, match="score"):
        CellResponse(name="size", value="7.5", kind="number", score=1.0)
    with pytest.raises(ValidationError, match="state"):
        ServingResponse(state="gone", mine=0, left=None, undoable=0, duplicate=False, question=None, ahead=None)


def test_what_a_route_returns_is_read_from_its_handler():
    returned = {(route.method, route.path): route.returns for route in ROUTES}
    assert returned["POST", "/api/v1/campaigns/{c}/answers"] is ServingResponse
    assert returned["GET", "/static/{path:path}"] is None
