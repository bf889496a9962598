"""Comparisons of models: made once for many who ask, in a process beside, and anew when answers have grown."""

import asyncio

import pytest

from askone.campaign.output.comparison import compare_models
from askone.encoding import embedders
from askone.errors import InvalidFile
from askone.learners import registry
from askone.server._errors import ApiError
from askone.server._responses import ComparisonResponse
from askone.server.heavy.child import TOO_LARGE
from askone.server.heavy.comparisons import KeptComparisons
from askone.server.heavy.work import HeavyWork
from askone.store.open import open_store
from calling import API
from sites import LOOSE, code, ok
from staged import ANIMALS, play, stage
from waiting import HANGS


class Maker:
    """Makes comparisons, and counts them."""

    def __init__(self):
        self.made, self.held = 0, asyncio.Event()
        self.held.set()

    def of(self, answers):
        async def make():
            self.made += 1
            await self.held.wait()
            return ComparisonResponse(answers=answers, models=[], verdict=str(self.made))

        return make


def test_one_is_kept_until_answers_have_grown_by_a_fifth():
    async def story():
        kept, maker = KeptComparisons(), Maker()
        said = [(await kept.of(1, n, maker.of(n))).verdict for n in (100, 101, 120, 121, 145, 146, 100, 0, 1)]
        other = (await kept.of(2, 100, maker.of(100))).verdict
        return said, other

    assert asyncio.run(story()) == (["1", "1", "1", "2", "2", "3", "4", "5", "6"], "7")


def test_one_at_a_time_and_whoever_waited_takes_it():
    async def story():
        kept, maker = KeptComparisons(), Maker()
        maker.held.clear()
        first = asyncio.create_task(kept.of(1, 100, maker.of(100)))
        others = [asyncio.create_task(kept.of(1, 100, maker.of(100))) for _ in range(3)]
        elsewhere = asyncio.create_task(kept.of(2, 100, maker.of(100)))
        while maker.made < 2:
            await asyncio.sleep(0)
        first.cancel()  # who asked first is gone: the next one has it made
        maker.held.set()
        return [one.verdict for one in await asyncio.gather(*others, elsewhere)]

    assert asyncio.run(story()) == ["3", "3", "3", "2"]


def test_a_process_beside_says_what_is_said_here(tmp_path, monkeypatch):
    class Sender:
        async def receive(self):
            await asyncio.Event().wait()

    monkeypatch.setattr(registry, "names", tuple)  # what other tests registered
    monkeypatch.setattr(embedders, "unnamed", list)
    with open_store(str(tmp_path / "s.db")) as store:
        campaign = stage(store, ANIMALS, rows=50)
        play(campaign, ["ann"], lambda row: "cat", 32)

        async def told():
            work = HeavyWork(store, LOOSE)
            try:
                async with asyncio.timeout(HANGS):
                    return await work.run(Sender(), "ann", "compare", name="c"), len(work._idle)
            finally:
                work.close()

        found, processes = asyncio.run(told())
        here = compare_models(campaign).to_json()
    assert (found["answers"], found["verdict"], processes) == (32, here["verdict"], 1)
    for name in ("name", "value", "difference"):
        there, now = ([one[name] for one in told["models"]] for told in (found, here))
        assert there == (now if name == "name" else pytest.approx(now))


def test_a_manager_asks_and_refusals_are_said(site, monkeypatch):
    other, stranger, path = site.session("other"), site.session("stranger"), f"{API}/campaigns/prices"
    found = ok(other.get(f"{path}/comparison"))
    assert (found["models"], found["verdict"]) == ([], "There are too few answers to compare models: 0 of 30.")
    assert code(stranger.get(f"{path}/comparison"), 403) == "forbidden"

    async def failing(request, person, job, **values):
        raise refusals.pop()

    refusals = [ApiError(422, "too_slow", "This takes longer than 3 seconds."), InvalidFile(TOO_LARGE)]
    monkeypatch.setattr(site.services.heavy, "run", failing)
    question = site.question(stranger, "prices")
    ok(stranger.post(f"{path}/answers", json={"lease": question["lease"], "answer": True, "id": "a"}))
    question = site.question(stranger, "prices")
    ok(stranger.post(f"{path}/answers", json={"lease": question["lease"], "answer": True, "id": "b"}))
    assert code(other.get(f"{path}/comparison"), 422) == "too_large"
    assert code(other.get(f"{path}/comparison"), 422) == "too_slow"
