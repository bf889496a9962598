"""Servers and databases that die under load: what was granted stands once, and nothing else does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from journeys import killing
from listening import Handler, listening
from waiting import HANGS, until


def test_a_server_on_a_file_is_killed(nursery, tmp_path):
    found = killing.killed(str(tmp_path / "store.db"), tmp_path, kills=3, seed=1, nursery=nursery)
    assert found["answers"] > 0


def test_one_of_two_servers_on_postgresql_is_killed(nursery, tmp_path, postgres_url):
    found = killing.killed(postgres_url, tmp_path, kills=3, seed=2, servers=2, nursery=nursery)
    assert found["answers"] > 0


def test_the_database_goes_away_and_comes_back(nursery, tmp_path, postgres, postgres_url):
    found = killing.bereft(postgres_url, tmp_path, postgres, stops=1, seed=3, nursery=nursery)
    assert found["told to wait"] > 0


def test_one_process_of_a_server_is_killed(nursery, tmp_path):
    """`--processes 2`: the other process goes on, the parent starts a new one, and nothing is lost."""
    url = str(tmp_path / "store.db")
    # Rows for as long as a busy machine takes to start a process.
    crowd = killing.Crowd(url, tmp_path, people=3, rows=8000, seed=4)
    with killing.Server(url, tmp_path, nursery, processes=2) as server:
        until(lambda: ready(server.port))
        first = until(lambda: found if len(found := workers(server.pid)) == 2 else None)
        crowd.come([server.port])
        crowd.progress(10, HANGS)
        os.kill(min(first), signal.SIGKILL)
        crowd.progress(10, HANGS)  # by the other, or by the new one: people notice nothing but connections that end
        now = until(lambda: found if len(found := workers(server.pid) - {min(first)}) == 2 else None)
        assert max(first) in now
        crowd.progress(10, HANGS)
        crowd.leave()
        found = killing.check(crowd, server.port)
        assert found["answers"] > 0
        assert not set(crowd.statuses()) - {200, 409, 429, 503}, (crowd.statuses(), server.words())


def workers(parent: int) -> set[int]:
    """The processes that serve, of the one that started them."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return {int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


TELLING = """
import sys
from askone.server.config import Rates, ServerConfig
from askone.server.runner import serve
store, port, told = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
loose = Rates(10000, 1000.0)
serve(store, ServerConfig(port=port, webhooks=True, webhook_schemes=("http",), webhook_ports=(told,),
                          webhook_loopback=True, answers=loose, calls=loose), lambda line: None)
"""


@pytest.fixture
def listener() -> Iterator[Any]:
    """Notes the deliveries that it gets."""
    bodies: dict[str, bytes] = {}

    class Hook(Handler):
        def do_POST(self) -> None:
            bodies[self.headers["webhook-id"]] = self.body()
            self.reply(204)

    def answers() -> list[str]:
        return [one["id"] for body in list(bodies.values()) for one in json.loads(body)["answers"]]

    with listening(Hook) as port:
        yield SimpleNamespace(port=port, answers=answers)


def test_webhooks_are_told_of_what_was_granted_before_a_kill(tmp_path, listener):
    """The server dies right after an answer was granted: after its restart every answer is told, each once."""
    url = str(tmp_path / "store.db")
    crowd = killing.Crowd(url, tmp_path, people=1, rows=300, seed=5)
    store = killing.open_store(url)
    store.accounts.add_webhook("w1", killing.NAME, f"http://127.0.0.1:{listener.port}/", "s", ("answer",))
    store.close()
    port, token, granted = killing.free_port(), crowd.tokens["p0"], []
    root = f"/api/v1/campaigns/{killing.NAME}"
    for life in range(2):
        with (tmp_path / "said.log").open("ab") as out:
            command = [sys.executable, "-c", TELLING, url, str(port), str(listener.port)]
            server = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            until(lambda: ready(port))
            for n in range(6):
                question = killing.exchange(port, "POST", f"{root}/next", {}, token)[2]["question"]
                body = {"lease": question["lease"], "answer": True, "id": f"life-{life}-{n}"}
                assert killing.exchange(port, "POST", f"{root}/answers", body, token)[0] == 200
                granted.append(body["id"])
            if life == 1:
                until(lambda: len(listener.answers()) >= len(granted))
        finally:
            server.kill()
            server.wait()
    assert sorted(listener.answers()) == sorted(granted)


def ready(port: int) -> bool | None:
    try:
        return killing.exchange(port, "GET", "/health/ready")[0] == 200 or None
    except killing.AWAY:
        return None
