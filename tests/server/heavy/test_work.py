"""Work on files: it comes to an end whatever the file does, and nobody who answers waits for it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from askone.campaign.create import create_campaign
from askone.campaign.output.backup import backup_chunks
from askone.campaign.settings.settings import Numbers, Settings
from askone.campaign.tables.base import Limits
from askone.campaign.tables.open import open_table
from askone.encoding import embedders
from askone.errors import AlreadyExists, InvalidArgument, InvalidFile
from askone.learners import registry
from askone.server._errors import ApiError
from askone.server.heavy import work as heavy_work
from askone.server.heavy.child import done
from askone.server.heavy.work import Child, HeavyWork
from askone.server.ops.threads import Threads
from askone.store.open import open_store
from sites import LOOSE, Site
from waiting import HANGS, until

CELLS = 1000


class Sender:
    """A request whose sender goes away when they are told to."""

    def __init__(self):
        self.gone = asyncio.Event()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}


@pytest.fixture(autouse=True)
def nobody_registered(monkeypatch):
    """What other tests of this process registered: with that there is no process for files."""
    monkeypatch.setattr(registry, "names", tuple)
    monkeypatch.setattr(embedders, "unnamed", list)


@pytest.fixture
def pipe(tmp_path):
    """A file that nobody ever opens at its other end: whoever reads it waits."""
    os.mkfifo(tmp_path / "never.csv")
    return (str(tmp_path / "never.csv"), "never.csv", CELLS)


@pytest.fixture
def good(tmp_path):
    (tmp_path / "good.csv").write_text("size,colour\n1,red\n2,blue\n")
    return (str(tmp_path / "good.csv"), "good.csv", CELLS)


@pytest.fixture
def children(monkeypatch):
    """Processes that are started."""
    found, begin = [], Child.__init__
    monkeypatch.setattr(Child, "__init__", lambda self, *given: (begin(self, *given), found.append(self))[0])
    return found


def working(tmp_path, story, url=None, **limits):
    """What a story gives that is told to the heavy work of a store, in a file unless it is elsewhere."""

    async def told():
        work = HeavyWork(store, replace(LOOSE, **limits))
        try:
            async with asyncio.timeout(HANGS):
                return await story(work)
        finally:
            work.close()

    with open_store(url or str(tmp_path / "s.db")) as store:
        return asyncio.run(told())


async def busy(work, count=1):
    while len(work._lines) < count or work._slots._value:
        await asyncio.sleep(0.01)


def test_a_file_is_described_and_errors_are_the_same_as_here(tmp_path, good):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1\n")

    async def story(work):
        found = await work.run(Sender(), "ann", "describe", file=good)
        with pytest.raises(InvalidFile) as refusal:
            await work.run(Sender(), "ann", "describe", file=(str(bad), "bad.csv", CELLS))
        assert len(work._idle) == 1  # one process did both
        return found, str(refusal.value)

    found, refusal = working(tmp_path, story)
    assert found["rows"] == 2
    assert [column["kind"] for column in found["columns"]] == ["number", "text"]
    with pytest.raises(InvalidFile) as here:
        open_table(bad, name="bad.csv")
    assert refusal == str(here.value)


def test_what_takes_too_long_is_ended(tmp_path, pipe, good):
    async def story(work):
        with pytest.raises(ApiError, match="longer than 3 seconds"):
            await work.run(Sender(), "ann", "describe", file=pipe)
        assert work._idle == []
        object.__setattr__(work._config, "heavy_seconds", float(HANGS))
        return await work.run(Sender(), "ann", "describe", file=good)

    assert working(tmp_path, story, heavy_seconds=3.0)["rows"] == 2


def test_what_nobody_waits_for_is_ended(tmp_path, pipe):
    async def story(work):
        sender = Sender()
        job = asyncio.create_task(work.run(sender, "ann", "describe", file=pipe))
        waiting = Sender()
        other = asyncio.create_task(work.run(waiting, "ann", "describe", file=pipe))
        await busy(work)
        waiting.gone.set()
        with pytest.raises(ApiError, match="connection ended"):
            await other
        sender.gone.set()
        with pytest.raises(ApiError, match="connection ended"):
            await job
        return work._slots._value, work._lines, work._idle

    assert working(tmp_path, story, heavy_processes=1) == (1, {}, [])


def test_who_is_told_twice_to_stop_leaves_nothing_open(tmp_path, pipe, children):
    async def story(work):
        job = asyncio.create_task(work._in_child("describe", {"file": pipe}))
        while not children:
            await asyncio.sleep(0.01)
        job.cancel()
        await asyncio.sleep(0)
        job.cancel()
        await asyncio.wait({job})
        return [(one._process.returncode, one._process.stdin.closed, one._process.stdout.closed) for one in children]

    [(code, *closed)] = working(tmp_path, story)
    assert code is not None
    assert closed == [True, True]


def test_nobody_waits_for_the_end_of_a_process(tmp_path, good, monkeypatch):
    """It gives way to others, and on a busy machine takes seconds to die."""
    monkeypatch.setattr(heavy_work, "_IDLE", -1.0)
    served, end = threading.Event(), Child.close

    def close(self):
        assert served.wait(HANGS)
        end(self)

    async def story(work):
        await work.run(Sender(), "ann", "describe", file=good)
        with monkeypatch.context() as slow:
            slow.setattr(Child, "close", close)
            sweeping = asyncio.create_task(work.sweep())
            while work._idle:
                await asyncio.sleep(0.01)
            served.set()
            await sweeping

    working(tmp_path, story)


def test_one_at_a_time_for_each_person(tmp_path, pipe, good):
    async def story(work):
        senders = [Sender() for _ in range(8)]
        jobs = [asyncio.create_task(work.run(one, "greedy", "describe", file=pipe)) for one in senders]
        while len(work._lines.get("greedy", (None, ()))[1]) < len(jobs):  # they came first
            await asyncio.sleep(0.01)
        found = await work.run(Sender(), "other", "describe", file=good)
        for one in senders:
            one.gone.set()
        await asyncio.gather(*jobs, return_exceptions=True)
        return found

    assert working(tmp_path, story, heavy_processes=2)["rows"] == 2


def test_somebody_who_sends_too_many_is_told_to_wait(tmp_path, pipe):
    async def story(work):
        senders = [Sender() for _ in range(20)]
        jobs = [asyncio.create_task(work.run(one, "greedy", "describe", file=pipe)) for one in senders]
        await busy(work)
        with pytest.raises(ApiError, match="Too many"):
            await work.run(Sender(), "greedy", "describe", file=pipe)
        for one in senders:
            one.gone.set()
        await asyncio.gather(*jobs, return_exceptions=True)

    working(tmp_path, story, heavy_processes=1)


def test_a_process_that_dies_is_an_error_of_the_file(tmp_path, pipe, children):
    async def story(work):
        job = asyncio.create_task(work.run(Sender(), "ann", "describe", file=pipe))
        await busy(work)
        [child] = children
        child.kill()
        with pytest.raises(InvalidFile, match="more memory"):
            await job

    working(tmp_path, story, heavy_processes=1)


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs Linux")
def test_memory_is_limited(good):
    child = Child(3 << 29)
    try:
        child.call("describe", None, {"file": good})
        limits = Path(f"/proc/{child._process.pid}/limits").read_text()
    finally:
        child.close()
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max data size")] == [str(3 << 29)]


def test_no_memory_is_said_in_words(monkeypatch):
    def greedy(_):
        raise MemoryError

    monkeypatch.setitem(sys.modules["askone.server.heavy.child"].READING, "greedy", greedy)
    assert done("greedy", None, {})["args"][0].startswith("this file takes more memory")


@pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")
def test_it_ends_with_its_server(pipe):
    text = (
        "import os, threading, time\nfrom askone.server.heavy.work import Child\nchild = Child(1 << 31)\n"
        f"threading.Thread(target=child.call, args=['describe', None, {{'file': {pipe!r}}}], daemon=True).start()\n"
        "print(child._process.pid, flush=True)\nos._exit(0)"
    )
    found = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, check=True, timeout=HANGS)
    until(lambda: not _runs(int(found.stdout)))


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_what_was_half_made_is_taken_away(tmp_path, good):
    """A process is ended while it makes a campaign: no part of it stays."""
    rows = tmp_path / "many.csv"
    rows.write_text("a,b\n" + "".join(f"{n},{n}\n" for n in range(400_000)))
    settings = {"title": "T", "labels": {"kind": "number", "low": 0, "high": 1}}

    async def story(work):
        sender = Sender()
        given = {"name": "half", "settings": settings, "owner": "ann", "at": 0.0}
        file = (str(rows), "many.csv", 10**9)
        job = asyncio.create_task(work.run(sender, "ann", "create", file=file, **given))
        query = "SELECT count(*) FROM table_rows"
        while work._store._database.read(query) == [(0,)]:
            await asyncio.sleep(0.01)
        sender.gone.set()
        with pytest.raises(ApiError):
            await job
        return work._store._database.read(query), work._store._database.read("SELECT name FROM campaigns")

    assert working(tmp_path, story) == ([(0,)], [])


def test_campaigns_are_made_in_every_store(tmp_path, store_url, good):
    settings = {"title": "T", "labels": {"kind": "number", "low": 0, "high": 1}}

    async def story(work):
        store, sender = work._store, Sender()
        store.accounts.add_user("ann", "ann", "manager", None)
        await work.run(sender, "ann", "create", name="c", settings=settings, file=good, owner="ann", at=1.0)
        added = await work.run(sender, "ann", "add_rows", name="c", file=good, who="ann", at=2.0)
        kept = tmp_path / "backup.zip"
        kept.write_bytes(b"".join(backup_chunks(store, "c")))
        name = await work.run(sender, "ann", "restore", path=str(kept), name="d", owner="ann")
        with pytest.raises(AlreadyExists, match="there is a campaign 'd' already"):
            await work.run(sender, "ann", "restore", path=str(kept), name="d", owner="ann")
        roles = [store.accounts.role_in(one, "ann") for one in ("c", "d")]
        return added, name, store.campaign("d").rows, roles

    assert working(tmp_path, story, store_url) == (2, "d", 4, ["manager", "manager"])


EMBEDDER = """
from sklearn.feature_extraction.text import HashingVectorizer
words = HashingVectorizer(n_features={width})
"""


def test_rows_are_added_with_embedders_of_who_starts_the_server(tmp_path, good, monkeypatch):
    """In the process for files, by what the server was told; a changed one is refused there as here."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the process that is started
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(embedders, "_USED", {})
    monkeypatch.setattr(embedders, "_NAMED", {})
    (tmp_path / "own_words_of_work.py").write_text(EMBEDDER.format(width=4))
    name = embedders.name_embedder("own_words_of_work:words")
    settings = Settings("T", Numbers(0, 1))

    async def story(work):
        store = work._store
        if not store.campaigns():
            create_campaign(store, "c", settings, open_table(good[0]), "", 1.0, embed={"colour": name})
        return await work.run(Sender(), "ann", "add_rows", name="c", file=good, who="ann", at=2.0)

    assert working(tmp_path, story, embedders=(name,)) == 2
    with pytest.raises(InvalidArgument, match="by which 'colour' is seen, named at the start"):
        working(tmp_path, story)
    (tmp_path / "own_words_of_work.py").write_text(EMBEDDER.format(width=5))
    with pytest.raises(InvalidArgument, match="as it was when the campaign began .* got a changed one"):
        working(tmp_path, story, embedders=(name,))


def test_vectors_are_described_and_learnt(tmp_path):
    """They go through JSON as a word on how wide they are; the questions of a preview are about rows that have them."""
    path = tmp_path / "deep.parquet"
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"size": [1, 2, 3], "deep": [[0.5, 1.0]] * 3})
    parquet.write_table(table, path)
    file = (str(path), "deep.parquet", CELLS)
    assert done("describe", None, {"file": file})["result"]["sample"][0] == {"size": 1, "deep": "2 numbers"}
    settings = {"title": "T", "labels": {"kind": "number", "low": 0, "high": 1}}
    looked = json.loads(json.dumps(done("preview", None, {"file": file, "settings": settings})))
    assert looked["result"]["questions"]


def test_many_cells_in_few_bytes_are_refused_unread(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    cells = pa.array([7] * 100_000)
    parquet.write_table(pa.table({f"c{n}": cells for n in range(60)}), path)
    with pytest.raises(InvalidFile, match="5000000 cells are allowed; got 100000 rows or more of 60"):
        open_table(path, Limits(cells=5_000_000))


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_cells_of_texts_are_counted(tmp_path, name):
    path, rows = tmp_path / name, range(200)
    lines = ["a,b"] + [f"{n},{n}" for n in rows] if name == "t.csv" else [f'{{"a":{n},"b":{n}}}' for n in rows]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidFile, match="399 cells are allowed"):
        open_table(path, Limits(cells=399))
    assert open_table(path, Limits(cells=400)).rows == 200


def test_people_answer_while_all_else_is_stuck(alone):
    """Every thread for files, names and exports waits for ever; a session that nobody knows yet gets its question."""
    free = threading.Event()
    stuck = [alone.services.heavy.threads, alone.services.heavy._files, alone.services.webhooks._names]
    stuck += [alone.services.webhooks._threads, alone.services.uploads._disk]

    async def block():
        return [asyncio.create_task(pool.run(free.wait)) for pool in stuck for _ in range(50)]

    tasks = alone.run(block())
    try:
        assert alone.question(alone.session("annotator"))
    finally:
        free.set()
        alone.run(gathered(tasks))


async def gathered(tasks):
    return await asyncio.gather(*tasks)


def test_a_name_that_nobody_answers_to_is_given_up(tmp_path):
    free = threading.Event()

    def silent(host, port):
        free.wait()
        return ["93.184.215.14"]

    with Site(tmp_path, replace(LOOSE, webhooks=True, webhook_seconds=0.2)) as site:
        site.services.webhooks._resolver = silent
        body = {"url": "https://silent.example/", "events": ["answer"]}
        try:
            response = site.session("manager").post("/api/v1/campaigns/drinks/webhooks", json=body)
        finally:
            free.set()
        assert response.status_code == 422
        assert "host is known" in response.json()["error"]["message"]


def test_threads_hand_out_pieces():
    async def story():
        threads = Threads("pieces", 1)
        try:
            return [piece async for piece in threads.pieces(iter([b"a", b"", b"b"]))]
        finally:
            threads.close()

    assert asyncio.run(story()) == [b"a", b"", b"b"]
