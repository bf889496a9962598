"""The demonstration: it learns in a terminal, and it serves, is answered and ends in a process of its own."""

import io
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from askone.cli.demo import run
from askone.cli.demo.annotators import make, play
from askone.cli.demo.headless import headless
from askone.cli.demo.run import Demo, _listening
from askone.cli.demo.tasks import HIGH, LIKED, LOW, digits, drinks, flats, flats_and_prices
from askone.cli.main import main
from askone.client.question import Posed
from askone.errors import InvalidArgument
from askone.store.open import open_store
from calling import is_up
from waiting import HANGS, until

ROOT = Path(__file__).resolve().parents[3]


def test_headless_measures_what_is_true(tmp_path):
    text = io.StringIO()
    assert headless(240, 400, Console(file=text, width=100)) == 0
    shown = text.getvalue().replace("anything", "9,999,999").splitlines()
    lines = [re.findall(r"[\d,]+", line) for line in shown if re.match(r"│ +\d", line)]
    told = [[float(number.replace(",", "")) for number in line] for line in lines]
    for _, *measured, _, true in (line for line in told if len(line) > 2):  # people's guesses are off by some 12 000
        if len(measured) == 1:  # at most so much
            assert true < measured[0] + 20_000
        else:
            assert abs(measured[0] - true) < 2 * measured[1] + 20_000
    answers, *_, true = told[-1]
    assert answers == 240
    assert true < 60_000  # a constant is some 130 000 off


def test_headless_is_a_command(capsys):
    assert main(["demo", "--headless", "--answers", "3"]) == 2
    assert "answers must be a whole number" in capsys.readouterr().err
    assert main(["demo", "--seconds-per-answer", "-1"]) == 2
    assert "seconds_per_answer must be" in capsys.readouterr().err


def test_prices_are_what_somebody_might_pay():
    rows, prices = flats_and_prices(500)
    assert len({row[0] for row in rows}) == 500
    assert ((prices >= LOW) & (prices <= HIGH)).all()
    assert (prices % 1000 == 0).all()
    assert 150_000 < prices.mean() < 450_000
    sizes = [row[3] for row in rows]
    assert (
        sum(price for price, size in zip(prices, sizes, strict=True) if size > 90) / sum(size > 90 for size in sizes)
        > 330_000
    )


@pytest.mark.parametrize("kind", ["digits", "flats", "drinks"])
def test_tasks_can_be_answered(kind, tmp_path):
    task = {"digits": lambda: digits(tmp_path, 40), "flats": lambda: flats(tmp_path, 40), "drinks": drinks}[kind]()
    store = open_store("memory:")
    campaign = make(store, task, 0.0)
    assert list(play(campaign, task.knowledge, ("ann", "bob"), 20))[-1] == 20
    assert campaign.status(0.0)["answers"] == 20
    if task.table is not None:
        assert (
            list(play(campaign, task.knowledge, ("cid", "dan"), 10_000))[-1] == 16
        )  # two hold one each, with one to follow
    store.close()


def test_drinkers_mostly_agree():
    drinker, chance = drinks().knowledge, random.Random(0)
    record = {"lease": "l", "number": 0, "kind": "pair", "sentence": "", "answers": ["coffee", "tomato juice"]}
    question = Posed.from_json({**record, "row": {"fields": []}})
    assert sum(drinker.answer(question, "all", chance) for _ in range(200)) > 180
    assert LIKED["coffee"] > LIKED["tomato juice"]


@contextmanager
def demo() -> Iterator[tuple[subprocess.Popen, str, dict[str, str]]]:
    """A demonstration in a process of its own: its address and links."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    code = (
        "from askone.cli.demo.run import Demo, run; import sys; from functools import partial;"
        "sys.exit(run(Demo(port=0, digits=40, flats=60, people=1, seconds=0.05), partial(print, flush=True)))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=environment, cwd=ROOT,
    )  # fmt: skip
    said: list[str] = []
    timer = threading.Timer(HANGS, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            said.append(line)
            if "Ctrl-C" in line:
                break
        text = "".join(said)
        address = re.search(r"askone serves (\S+)", text)
        assert address, text
        links = dict(re.findall(r"/(setup|join)#(\S+)", text))
        yield process, address[1], links
    finally:
        timer.cancel()
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def test_it_serves_is_answered_and_ends(tmp_path):
    with demo() as (process, address, links):
        page = httpx.Client(base_url=address, headers={"Origin": address}, timeout=HANGS)
        with page, httpx.Client(base_url=address, headers={"Origin": address}, timeout=HANGS) as guest:
            until(lambda: is_up(page))
            told = {"token": links["setup"], "name": "Boss", "password": "a rather long password"}
            assert page.post("/api/v1/setup", json=told).json()["user"]["role"] == "admin"
            for name in ("digits", "flats", "drinks"):
                until(lambda name=name: page.get(f"/api/v1/campaigns/{name}/dashboard").json()["answers"] >= 3)
            me = guest.post("/api/v1/join", json={"invitation": links["join"]}).json()
            assert me["campaign"] == "digits"
            secret = {"X-CSRF-Token": me["csrf"]}
            question = guest.post("/api/v1/campaigns/digits/next", json={}, headers=secret).json()["question"]
            image = guest.get(question["row"]["image"])
            assert image.headers["content-type"] == "image/png"
            body = {"lease": question["lease"], "answer": False, "id": "mine-1", "took": 1.0}
            answered = guest.post("/api/v1/campaigns/digits/answers", json=body, headers=secret)
            assert answered.json()["mine"] == 1
            people = page.get("/api/v1/campaigns/digits/people").json()
            assert {person["name"].endswith("(simulated)") for person in people} == {True, False}
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=HANGS)
        assert process.returncode == 0, rest
        assert rest.strip().splitlines()[-1] == "Stopped."
        assert "Traceback" not in rest


def test_it_goes_on_in_a_store_that_is_kept(tmp_path):
    store, tasks = open_store("memory:"), [flats(tmp_path, 40), drinks()]
    for _ in range(2):
        run.make_missing(store, tasks)
        hired = run.hired(store, tasks, Demo(people=2))
        assert len({one.token for one in hired}) == 4
    assert [record.name for record in store.campaigns()] == ["drinks", "flats"]
    assert [user.role for user in store.accounts.users()] == ["annotator", "annotator"]
    store.close()


def test_a_port_that_is_taken_is_passed_over_unless_it_was_chosen(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr("askone.cli.demo.run._PORT", port)
        assert _listening(Demo()).port == 0
        with pytest.raises(InvalidArgument, match="port must be one that can be listened at"):
            _listening(Demo(port=port))
    assert _listening(Demo()).port == port
