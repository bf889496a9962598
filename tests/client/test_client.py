"""The client against a small server of the same shape: retries, errors, files."""

import contextlib
import itertools
import json
import random
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

import askone
from askone import checks
from askone.client.question import Posed
from askone.errors import InvalidAnswer, InvalidArgument, RequestRefused, ServerUnavailable
from askone.server.app import create_app
from askone.server.security.tokens import TOKEN, digest, new_secret
from askone.store.open import open_store
from listening import Handler, listening
from sites import LOOSE, table
from waiting import HANGS

BASE = "/api/v1/campaigns/prices"


class Desk:
    """Questions 0, 1, 2, ...; notes what arrives; troubles are played before anything is served."""

    def __init__(self):
        self.arrived, self.answers, self.troubles, self.number = [], {}, [], 0

    def question(self):
        row = {"fields": [{"name": "size", "value": "37"}], "image": f"/images/{self.number}" if self.number else None}
        words = {"kind": "threshold", "sentence": "Is the price above 37 EUR?", "answers": ["Yes", "No"]}
        return {"lease": f"lease-{self.number}", "number": self.number, "row": row, **words}

    def serving(self, duplicate=False):
        served = self.number < 3
        state, question = ("question", self.question()) if served else ("spent", None)
        mine = len(self.answers)
        return {"state": state, "mine": mine, "duplicate": duplicate, "question": question, "ahead": None}

    def __call__(self, method, path, query, body, headers):
        if headers.get("Authorization") != "Bearer ask1_secret":
            return 401, {"error": {"code": "unauthorized", "message": "Sign in.", "argument": None}}
        if "/export/" in path or path.startswith("/images/"):
            return 200, b"seq\r\n" * 10_000
        if path.endswith("/next"):
            return 200, self.serving()
        if path.endswith("/answers"):
            told = json.loads(body)
            known = told["id"] in self.answers
            if not known:
                if told["lease"] != f"lease-{self.number}":
                    return 409, {"error": {"code": "lease_lost", "message": "Too late.", "argument": None}}
                self.answers[told["id"]] = told
                self.number += 1
            return 200, self.serving(known)
        if path.endswith("/undo"):
            self.number -= 1
            return 200, self.serving()
        if path.endswith("/predictions"):
            return 200, [{"key": key, "prediction": 1.0} for key in query["keys"][0].split(",")]
        if path.endswith("/comparison"):
            return 200, {"answers": 40, "models": [], "verdict": "None is better."}
        if path.endswith("/uploads"):
            return 200, {"upload": f"u-{len(body)}"}
        if path == "/api/v1/campaigns" and method == "POST":
            return 201, {"name": "prices"}
        if path.endswith("/invitations"):
            return 200, {"id": "i", "link": "/join#secret"}
        return 200, {"released": 1, "answers": 4, "status": "running"}


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def url(desk):
    class Served(Handler):
        protocol_version = "HTTP/1.1"

        def serve(self):
            parts = urlsplit(self.path)
            body = self.body()
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            desk.arrived.append((self.command, parts.path, body))
            trouble = desk.troubles.pop(0) if desk.troubles else None
            if trouble == "drop before":
                self.drop()
                return
            status, told = desk(self.command, parts.path, parse_qs(parts.query), body, self.headers)
            if trouble == "drop after":
                self.drop()
                return
            if isinstance(trouble, int):
                status, told = trouble, {"error": {"code": "away", "message": "Later.", "argument": None}}
            content = told if isinstance(told, bytes) else json.dumps(told).encode()
            if trouble == "cut":
                self.send_response(status)
                self.send_header("Content-Length", str(len(content) + 1000))
                self.end_headers()
                self.wfile.write(content)
                self.drop()
                return
            self.reply(status, content)

        def drop(self):
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

        do_GET = do_POST = do_PATCH = do_DELETE = serve

    with listening(Served) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def client(url):
    with askone.Client(url, "ask1_secret", "prices", patience=HANGS) as client:
        yield client


def test_ask_and_tell_until_the_budget_is_spent(client, desk):
    asked = []
    while (question := client.ask()) is not None:
        assert client.ask() == question
        asked.append(question.number)
        assert client.picture(question) == (b"seq\r\n" * 10_000 if question.number else None)
        client.tell(question, "No" if question.number else True)
    assert asked == [0, 1, 2]
    assert client.state == "spent"
    assert client.mine == 3
    assert [told["answer"] for told in desk.answers.values()] == [True, False, False]
    assert sum(path.endswith("/next") for _, path, _ in desk.arrived) == 2  # one at the start, one after the end


@pytest.mark.parametrize("trouble", ["drop before", "drop after", 503, 502])
def test_an_answer_is_sent_again_under_its_id(client, desk, trouble):
    question = client.ask()
    desk.troubles = [trouble, trouble]
    client.tell(question, True, took=1.5)
    sent = [json.loads(body) for _, path, body in desk.arrived if path.endswith("/answers")]
    assert len(sent) == 3
    assert len({one["id"] for one in sent}) == 1
    assert len(desk.answers) == 1
    assert sent[0]["took"] == 1.5
    assert client.ask().number == 1


def test_refusals_name_the_code_and_are_not_repeated(client, desk, url):
    question = client.ask()
    client.tell(question, True)
    before = len(desk.arrived)
    with pytest.raises(RequestRefused, match="Too late.*409, lease_lost"):
        client.tell(question, True)
    assert len(desk.arrived) == before + 1
    assert client.ask().number == 1  # asked anew
    with askone.Client(url, "ask1_other", "prices") as other, pytest.raises(RequestRefused) as refused:
        other.ask()
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")


def test_a_server_that_is_not_there():
    nowhere = askone.Client("http://127.0.0.1:9", "t", "c", patience=0.2)
    with nowhere, pytest.raises(ServerUnavailable, match="cannot be reached"):
        nowhere.ask()


def test_an_address_at_which_nobody_was_met_is_given_up_soon(monkeypatch):
    slept = []
    monkeypatch.setattr("askone.client.client.time.sleep", lambda seconds: slept.append(seconds))
    monkeypatch.setattr("askone.client.client.time.monotonic", lambda: sum(slept))
    words = r"http://127.0.0.1:9 cannot be reached \(.*refused.*\): is the server running"
    with askone.Client("http://127.0.0.1:9", "t", "c") as nowhere:
        with pytest.raises(ServerUnavailable, match=words):
            nowhere.ask()
        assert 1 < sum(slept) <= 5
        nowhere._met = True  # a server that was there may be on its way back
        with pytest.raises(ServerUnavailable, match="cannot be reached"):
            nowhere.ask()
        assert 30 < sum(slept) <= 66


ROW = {"fields": []}


@pytest.mark.parametrize(
    ("parts", "expected", "held"),
    [
        (
            {"threshold": {"shown": "-2.5", "unit": "C", "name": "value", "side": "above"}},
            {"threshold": -2.5, "side": "above", "unit": "C", "classes": None, "pair": None},
            {-2: True, -2.5: False, "-3": False},
        ),
        (
            {"threshold": {"shown": "7", "unit": "", "name": "", "side": "below"}},
            {"side": "below"},
            {6: True, 7: False},
        ),
        ({"set": ["3", "cat"]}, {"classes": ("3", "cat"), "threshold": None}, {3: True, "cat": True, "dog": False}),
        (
            {"pair": {"left": "tea", "right": "7"}},
            {"pair": ("tea", "7")},
            {("tea", 7): True, ("milk", 7, "tea"): False},
        ),
    ],
)
def test_a_question_in_parts(parts, expected, held):
    record = {"lease": "l", "number": 0, "kind": "k", "sentence": "?", "answers": ["Yes", "No"], "row": ROW, **parts}
    posed = Posed.from_json(record)
    assert {name: getattr(posed, name) for name in expected} == expected
    assert {label: posed.holds(label) for label in held} == held


def test_a_label_that_a_question_is_not_about():
    record = {"lease": "l", "number": 0, "kind": "k", "sentence": "?", "answers": ["Yes", "No"], "row": ROW}
    number = {"threshold": {"shown": "7", "unit": "", "name": "", "side": "above"}}
    for parts, label in (
        (number, "many"),
        (number, float("nan")),
        ({"pair": {"left": "a", "right": "b"}}, ["a"]),
        ({}, 1),
    ):
        with pytest.raises(InvalidArgument, match="label must be"):
            Posed.from_json(record | parts).holds(label)


def test_arguments(client):
    question = client.ask()
    for wrong in ("yes!", 1, None):
        with pytest.raises(InvalidAnswer):
            client.tell(question, wrong)
    with pytest.raises(InvalidArgument, match="reason"):
        client.skip(question, "bored")
    with pytest.raises(InvalidArgument, match="url"):
        askone.Client("ftp://host", "t")
    for token in ("", " ", "a token", "a\nb", "ü"):
        with pytest.raises(InvalidArgument, match="token must be one that") as refused:
            askone.Client("http://127.0.0.1:9", token)
        assert "a token" not in str(refused.value)
    with pytest.raises(InvalidArgument, match="campaign must be the name of a campaign, or None; got ''"):
        askone.Client("http://127.0.0.1:9", "t", "")
    with askone.Client("http://127.0.0.1:9", "t") as nowhere, pytest.raises(InvalidArgument, match="campaign"):
        nowhere.ask()


def test_undo_and_the_rest(client, desk, tmp_path):
    client.tell(client.ask(), True)
    assert client.undo().number == 0
    for wrong in ("a7", [{"size": 1}]):
        with pytest.raises(InvalidArgument, match=r"keys must be a list of keys .*askone.load"):
            client.predict(wrong)
    assert client.predict(["a", 7]) == [{"key": "a", "prediction": 1.0}, {"key": "7", "prediction": 1.0}]
    assert client.compare()["verdict"] == "None is better."
    assert client.exclude("ann/b") == 4
    assert desk.arrived[-1][1] == f"{BASE}/people/ann%2Fb/exclude"
    rows = tmp_path / "rows.csv"
    rows.write_text("size\n1\n")
    assert client.create({"title": "Prices"}, rows, "prices") == "prices"
    assert json.loads(desk.arrived[-1][2]) == {"settings": {"title": "Prices"}, "upload": "u-7", "name": "prices"}
    assert client.invite().endswith("/join#secret")
    client.set_budget(10)
    assert desk.arrived[-1][::2] == ("PATCH", b'{"budget": 10}')


def test_what_is_not_repeatable_is_not_repeated(client, desk):
    desk.troubles = ["drop after"]
    with pytest.raises(ServerUnavailable):
        client.create({"title": "Prices"})
    assert len([1 for method, path, _ in desk.arrived if path == "/api/v1/campaigns"]) == 1


def test_exports_appear_whole_or_not_at_all(client, desk, tmp_path):
    path = tmp_path / "answers.csv"
    assert client.export("answers", path).read_bytes() == b"seq\r\n" * 10_000
    desk.troubles = ["cut"]
    with pytest.raises(ServerUnavailable, match="broke off"):
        client.export("answers", tmp_path / "again.csv")
    desk.troubles = [404]
    with pytest.raises(RequestRefused):
        client.export("model", tmp_path / "model")
    assert [p.name for p in tmp_path.iterdir()] == ["answers.csv"]
    for wrong in (("answers", "x.docx"), ("nothing", "x.csv")):
        with pytest.raises(InvalidArgument):
            client.export(wrong[0], tmp_path / wrong[1])


def test_an_open_question_is_given_back(url, desk):
    with askone.Client(url, "ask1_secret", "prices") as client:
        client.ask()
    assert desk.arrived[-1] == ("POST", f"{BASE}/leases/release", b'{"leases": ["lease-0"]}')


def test_a_client_does_not_show_its_token(url):
    with askone.Client(url, "ask1_secret", "prices") as client:
        assert repr(client) == f"Client({url!r}, campaign='prices')"


def test_only_the_client_loads_httpx():
    code = (
        "import sys, askone\nassert 'httpx' not in sys.modules\n"
        "sys.modules['httpx'] = None\n"
        "try: askone.Client\nexcept askone.AskoneError as error: print(type(error).__name__, error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "MissingExtra askone.Client needs httpx: pip install 'askone[client]'\n"


# -- the real server ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server on a port of its own, a token for a manager, and a table."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs the extra server")
    folder = tmp_path_factory.mktemp("served")
    store = open_store(str(folder / "askone.db"))
    config = replace(LOOSE, directory=folder / "uploads")
    store.accounts.add_user("m", "manager", "manager", None)
    token = new_secret(TOKEN)
    scopes = ("read", "answer", "manage")
    store.accounts.add_token("t", digest(token), token[:9], "m", scopes, time.time() + 1000, "tests")
    settings = uvicorn.Config(create_app(store, config), host="127.0.0.1", port=0, log_level="error", access_log=False)
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}", token, table(folder)
    server.should_exit = True
    thread.join()
    store.close()


def test_a_whole_campaign_on_the_real_server(served, tmp_path):
    url, token, rows = served
    with askone.Client(url, token, patience=HANGS) as client:
        assert client.me()["user"]["name"] == "manager"
        labels = {"kind": "number", "low": 0, "high": 100, "unit": "EUR", "name": "price"}
        settings = {"title": "Prices", "labels": labels, "rows": {"key": "id", "gold": "known"}}
        assert client.create(settings, rows, "prices") == "prices"
        client.set_budget(12)
        for i in range(11):
            question = client.ask()
            assert question.kind in ("threshold", "range")
            assert "EUR" in question.sentence
            assert set(question.row) == {"size", "colour"}
            client.tell(question, i % 2 == 0)
        assert client.undo().number == question.number
        client.tell(client.ask(), "Yes")
        client.flag(client.ask(), "blurred")
        client.tell(client.ask(), False)
        assert client.ask() is None
        assert client.state == "spent"
        assert client.mine == 12
        assert [one["name"] for one in client.campaigns()] == ["prices"]
        assert client.status()["answers"] == 12
        assert client.dashboard()["answers"] == 12
        [person] = client.people()
        assert (person["name"], person["answers"], person["rates"]) == ("manager", 12, None)
        [told] = client.predict(["r3"])
        assert (told["key"], told["std"] > 0) == ("r3", True)
        for what, name in (("answers", "a.csv"), ("answers", "a.parquet"), ("predictions", "p.jsonl"), ("log", "log")):
            assert client.export(what, tmp_path / name).stat().st_size > 100
        model = askone.load(client.export("model", tmp_path / "model"))
        assert model.n_features_in_ >= 1
        tasks = json.loads(client.export("answers", tmp_path / "tasks.json", "label-studio").read_text())
        assert sum(len(task["annotations"]) for task in tasks) == 12
        client.export("backup", tmp_path / "backup.zip")
        assert client.restore(tmp_path / "backup.zip", "copy") == "copy"
        assert client.status()["answers"] == 12
        assert "/join#" in client.invite("helpers")
        client.set_status("closed")
        assert client.ask() is None
        assert client.state == "closed"
        assert client.exclude(person["id"]) == 12
        assert client.include(person["id"]) == 12
        with pytest.raises(RequestRefused) as refused:
            client.set_status("open")
        assert refused.value.status == 422
        client.campaign = "nothing"
        with pytest.raises(RequestRefused) as refused:
            client.status()
        assert refused.value.status == 404


def test_a_private_campaign_on_the_real_server(served):
    """The client flips: what crosses the wire is as private as it says, and the server never sees another bit."""
    url, token, _ = served
    sent = []

    class Wire(httpx.HTTPTransport):
        def handle_request(self, request):
            if request.url.path.endswith("/answers"):
                sent.append(json.loads(request.content))
            return super().handle_request(request)

    settings = {"title": "Drinks", "labels": {"kind": "order", "items": ["tea", "coffee", "milk"]}}
    settings["privacy"] = {"epsilon": 1, "budget": 4}
    with askone.Client(url, token, patience=HANGS, transport=Wire()) as client:
        client.create(settings, None, "private")
        for wrong, said in (({"epsilon": -1}, "epsilon"), ({"epsilon": 1, "budget": 0.5}, "budget")):
            with pytest.raises(RequestRefused, match=said):
                client.create(settings | {"privacy": wrong}, None, "other")
        question = client.ask()
        assert (client.epsilon, client.spent) == (1.0, (0.0, 4.0))
        for claimed in (2.0, None):  # a client that goes by another epsilon, or by none
            with askone.Client(url, token, "private", patience=HANGS, epsilon=claimed) as other:
                other.ask()
                other._serving["privacy"] = None
                with pytest.raises(RequestRefused, match="epsilon must be 1"):
                    other.tell(question, True)
        assert client.status()["answers"] == 0
        client.campaign = "private"
        client.tell(client.ask(), True, took=3.0)
        client.skip(client.ask())
        assert client.spent == (2.0, 4.0)
        for call in (client.undo, lambda: client.flag(client.ask(), "odd")):
            with pytest.raises(RequestRefused, match="not_private"):
                call()
        assert [set(body) for body in sent] == [{"lease", "answer", "id", "epsilon"}] * 2
        client.tell(client.ask(), True)
        client.tell(client.ask(), True)
        assert client.ask() is None
        assert client.state == "done"
        [person] = client.people()
        assert person["privacy"] == {"epsilon": 1.0, "spent": 4.0, "budget": 4.0}


def test_what_the_client_sends_is_as_private_as_it_says(client, desk, monkeypatch):
    """By the bodies that a server receives, of numbers from a seed."""
    lots = random.Random(3)
    monkeypatch.setattr("askone.privacy.secrets.randbelow", lots.randrange)
    client._epsilon, arrived = 1.0, []
    monkeypatch.setattr(client, "_json", lambda method, path, body: arrived.append(body) or desk.serving())
    places = itertools.count()

    def mechanism(truth):
        client.tell(replace(client_question(desk), lease=f"l{next(places)}"), truth)
        return arrived[-1]["answer"]

    checks.check_private(mechanism, 1.0, trials=5000)
    with pytest.raises(AssertionError, match=r"is not 0\.8-private"):
        checks.check_private(mechanism, 0.8, trials=5000)


def client_question(desk):
    return Posed.from_json(desk.question())


def test_a_private_answer_that_is_told_again_is_the_same(client, desk):
    client._epsilon = 1.0
    question = client.ask()
    desk.troubles = ["drop after"]
    client.tell(question, True)
    for truth in (True, False) * 5:
        with contextlib.suppress(RequestRefused):
            client.tell(question, truth)
    sent = [json.loads(body) for _, path, body in desk.arrived if path.endswith("/answers")]
    assert len(sent) == 12
    assert all(body == sent[0] for body in sent)
    for wrong in (0, -1, float("nan"), 31, "1"):
        with pytest.raises(InvalidArgument, match="epsilon"):
            askone.Client("http://127.0.0.1:9", "t", "c", epsilon=wrong)
