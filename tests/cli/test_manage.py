"""What managers and people do without a server: pause, invite, people, delete, answer; and programs as people."""

import json
import re
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

from askone.store.open import open_store
from commands import ask
from listening import Handler, listening

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = "id,size,price\n" + "".join(f"r{i},{i / 10},{100 + 10 * i if i % 4 == 0 else ''}\n" for i in range(24))
ROBOT = """
def answer(question):
    return {"answer": question.holds(100 + 100 * float(question.row["size"])), "tokens": 50, "cost": 0.002}
def skips(question):
    return None
def words(question):
    return question.answers[1]
def raves(question):
    return "perhaps"
nothing = 3
"""


@pytest.fixture(autouse=True)
def campaign(here):
    """Bikes, of which every fourth has a known price."""
    (here / "bikes.csv").write_text(ROWS)
    (here / "robot_person.py").write_text(ROBOT)
    kind = ("--kind", "number", "--low", 0, "--high", 1000, "--unit", "EUR", "--gold", "price")
    ask("new", "bikes.csv", *kind, "--name", "bikes", "--title", "Used bikes", "--set", "ask.gold_share=0.6")
    yield
    sys.modules.pop("robot_person", None)
    sys.modules.pop("language_model", None)


@pytest.fixture
def typing(monkeypatch):
    def types(*lines, terminal=True):
        left = list(lines)
        monkeypatch.setattr("builtins.input", lambda _="": left.pop(0) if left else (_ for _ in ()).throw(EOFError))
        monkeypatch.setattr("sys.stdin.isatty", lambda: terminal, raising=False)

    return types


def test_pause_and_resume():
    assert "bikes is paused; go on with: askone resume bikes" in ask("pause", "bikes").out
    assert "bikes was paused already." in ask("pause", "bikes").out
    assert re.search(r"bikes.*paused.*not yet.*askone resume bikes", ask("status").out)
    assert "The campaign is paused: askone resume bikes." in ask("label", "bikes", "--as", "Ann").out
    assert "bikes is running." in ask("resume", "bikes").out
    assert "there is no campaign 'cars'; there are: bikes" in ask("pause", "cars", status=2).err


def test_an_invitation_is_one_that_the_server_takes():
    link = ask("invite", "bikes", "--url", "https://ask.example.org/", "--uses", 2).out.strip()
    assert link.startswith("https://ask.example.org/join#")
    with closing(open_store("askone.db")) as store:
        [kept] = store.accounts.invitations("bikes")
    assert kept.most_uses == 2
    assert link.rpartition("#")[2] not in repr(kept)
    for wrong, message in (
        (("bikes", "--hours", 0), "--hours must be"),
        (("bikes", "--uses", 0), "--uses must be"),
        (("bikes", "--url", "here"), "--url must be an address"),
        (("cars",), "no campaign 'cars'"),
    ):
        assert message in ask("invite", *wrong, status=2).err


def test_deleting_is_said_twice(typing):
    typing(terminal=False)
    assert "--yes must be given where nobody can be asked" in ask("delete", "bikes", status=2).err
    typing("bike")
    assert "nothing was deleted; got bike" in ask("delete", "bikes", status=2).err
    typing("bikes")
    assert "bikes is deleted: 24 rows and 0 answers." in ask("delete", "bikes").out
    ask("delete", "bikes", "--yes", status=2)


def test_answering_in_the_terminal(typing):
    typing("u", "y", "what?", "n", "u", "2", "s", "Yes", "q")
    out = ask("label", "bikes", "--as", "Ann").out
    assert "There is nothing to take back." in out.replace("there is", "There is")
    assert "Please type y, n, s, u or q." in out
    assert "3 answers of yours in Used bikes." in out
    assert re.search(r"Ann .* 3 .* 1 .* unknown", ask("people", "bikes").out)
    typing()  # the end of a pipe
    assert "3 answers of yours" in ask("label", "bikes", "--as", "ann").out  # the same person
    with closing(open_store("askone.db")) as store:
        assert [user.name for user in store.accounts.users()] == ["Ann"]
        store.accounts.disable_user(store.accounts.users()[0].id)
    assert "--as must be somebody who is not disabled" in ask("label", "bikes", "--as", "Ann", status=2).err


def test_private_answers_in_the_terminal(typing, monkeypatch):
    """What is typed is flipped before the store sees it; a skip is the toss of a coin; nothing is taken back."""
    monkeypatch.setattr("askone.privacy.secrets.randbelow", lambda most: 0)  # always below: flipped, and a no
    kind = ("--kind", "number", "--low", 0, "--high", 1000, "--set", "privacy.epsilon=1", "--set", "privacy.budget=3")
    ask("new", "bikes.csv", *kind, "--gold", "price", "--name", "private")
    typing("y", "u", "n", "s")
    out = ask("label", "private", "--as", "Ann").out
    assert "turned into its opposite at random, in 27 % of cases," in out.replace("\n", " ")
    assert "You have spent 0 of 3." in out.replace("\n", " ")
    assert "in a private campaign an answer cannot be taken back" in out.replace("\n", " ")
    assert "There is nothing left to ask you." in out
    with closing(open_store("askone.db")) as store:
        logged = [entry for entry in store.entries("private") if entry.event.kind == "answered"]
        assert [entry.event.answer for entry in logged] == [False, True, False]
        assert all(entry.took is None and entry.at % 60 == 0 for entry in logged)


def test_people_before_there_are_any():
    assert "Nobody has answered yet: askone invite bikes makes a link." in ask("people", "bikes").out


def test_a_program_is_a_person():
    for command in (["answer", "bikes", "--with", "robot_person:answer"], ["label", "bikes"]):
        said = ask(*command, "--as", "", status=2).err
        assert said == "askone: --as must be a name of 1 to 100 characters; got 0 characters\n"
    out = ask("answer", "bikes", "--with", "robot_person:answer", "--most", 5).out
    assert "5 answers, 0 skips. As many as it was to give." in out
    out = ask("answer", "bikes", "--with", "robot_person:answer").out
    assert "There is nothing left to ask you." in out
    right, asked = map(int, re.search(r"Right in (\d+) of (\d+) questions whose answer is known", out).groups())
    assert right == asked > 1
    assert re.search(r"An answer costs 50 tokens and 0.002, and tells some 0\.\d+ bits: [\d,]+ tokens and", out)
    assert "0 answers" in ask("answer", "bikes", "--with", "robot_person:skips", "--as", "Skipper").out
    out = ask("status", "bikes").out
    assert "Used bikes (bikes) is finished, all rows asked." in out
    assert "Next: every row was asked about: askone export bikes, or add rows in the browser." in out
    assert "Without ROBOT_person:answer: " in ask("replay", "bikes", "--without", "ROBOT_person:answer").out
    said = ask("replay", "bikes", "--without", "Eve", status=2).err
    assert "somebody who answered in this campaign: robot_person:answer; got Eve" in said


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("robot_person", "--with must be module:function"),
        ("robot_person:", "--with must be module:function"),
        ("robot_person:nothing", "--with must be a function of the module robot_person; got nothing"),
        ("robot_person:none", "--with must be a function of the module robot_person; got none"),
        ("no_such_robot:answer", "--with must be a module that can be imported, or lies here; got no_such_robot"),
        ("robot_person:raves", "answer must be True or False; got 'perhaps'"),
    ],
)
def test_programs_that_are_none(program, message):
    assert message in ask("answer", "bikes", "--with", program, status=2).err


def test_words_are_answers_too():
    ask("answer", "bikes", "--with", "robot_person:words", "--most", 2)
    assert re.search(r"robot_person:words .* 2 .* 0 % ", ask("people", "bikes").out)


@pytest.fixture
def chat():
    """A server of chat completions on loopback, which reads a bike's size and knows its price; its requests."""
    heard = []

    class Chat(Handler):
        def do_POST(self):
            body = json.loads(self.body())
            heard.append((self.path, self.headers.get("Authorization"), body))
            text = body["messages"][0]["content"]
            price = 100 + 100 * float(re.search(r"size: ([\d.]+)", text)[1])
            asked = re.search(r"above ([\d.]+)", text)
            said = "I cannot tell." if asked is None else "Yes." if price > float(asked[1]) else "no"
            reply = {"choices": [{"message": {"content": said}}], "usage": {"total_tokens": 90}}
            self.reply(200, json.dumps(reply).encode())

    with listening(Chat) as port:
        yield f"http://127.0.0.1:{port}/v1", heard


def test_a_language_model_is_a_person(here, chat, monkeypatch):
    url, heard = chat
    shutil.copy(EXAMPLES / "language_model.py", here)
    monkeypatch.setenv("ASKONE_CHAT_URL", url)
    monkeypatch.setenv("ASKONE_CHAT_MODEL", "small")
    monkeypatch.setenv("ASKONE_CHAT_KEY", "secret")
    out = ask("answer", "bikes", "--with", "language_model:answer", "--as", "small model", "--most", 8).out
    path, key, body = heard[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer secret", "small")
    assert "Answer with one of these and nothing else: Yes / No / cannot tell" in body["messages"][0]["content"]
    assert "8 answers, " in out
    assert re.search(r"An answer costs [\d.]+ tokens", out)
    assert re.search(r"small model .* 8 ", ask("people", "bikes").out)
