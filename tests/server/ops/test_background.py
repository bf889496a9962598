"""Loops in the background: whatever ends one, it is said and started again, and the server is not ready meanwhile."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from askone.server.ops.background import BackgroundLoops
from waiting import HANGS, soon


@pytest.mark.parametrize("error", [ZeroDivisionError("odd"), OSError("away"), None], ids=repr)
def test_a_loop_that_ends_is_started_again_and_said(error, caplog):
    runs, stays = [], asyncio.Event()

    async def loop():
        runs.append(len(runs))
        if len(runs) > 2:
            await stays.wait()
        if error is not None:
            raise error

    async def main():
        loops = BackgroundLoops(well=0.2, pauses=(0.001, 0.002))
        task = asyncio.create_task(loops.keep_running("webhooks", loop))
        await soon(lambda: loops.ended)
        await soon(lambda: len(runs) == 3)
        await soon(lambda: not loops.ended)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(asyncio.wait_for(main(), HANGS))
    assert caplog.text.count("the loop 'webhooks' ended") == 2


def test_a_loop_that_ended_makes_the_server_say_that_it_is_not_ready(alone):
    client, ended = alone.client(), alone.services.background.ended
    assert client.get("/health/ready").status_code == 200
    ended.add("sweep")
    refused = client.get("/health/ready")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
    assert "sweep" in refused.json()["error"]["message"]
    ended.discard("sweep")
    assert client.get("/health/ready").status_code == 200


def test_answers_come_to_their_place_in_the_file_by_themselves(alone, tmp_path):
    """Nobody's answer waits for it, however many there are."""
    client, copy = alone.token("annotator"), tmp_path / "copy.db"
    lease = alone.question(client)["lease"]
    sent = client.post("/api/v1/campaigns/drinks/answers", json={"lease": lease, "answer": True, "id": "mine"})
    assert sent.status_code == 200

    def there():
        copy.write_bytes((tmp_path / "askone.db").read_bytes())  # without the log beside it
        try:
            with closing(sqlite3.connect(copy)) as database:
                return database.execute("SELECT 1 FROM entries WHERE id = 'mine'").fetchall()
        except sqlite3.DatabaseError:  # read while it was written
            return []

    asyncio.run(asyncio.wait_for(soon(there), HANGS))
