"""A campaign's thread: batches, order, what happens when the store is away or something breaks."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from askone.errors import LeaseLost, StoreUnavailable, UnknownCampaign
from askone.server import worker as worker_module
from askone.server.worker import Worker, Workers
from waiting import HANGS, soon


class Fake:
    """Serves numbers: 13 is refused, 0 divides."""

    def __init__(self):
        self.batches, self.threads, self.away, self.gate = [], set(), 0, threading.Event()
        self.begun, self.learnt, self.forgets = threading.Event(), [], False
        self.gate.set()

    def serve(self, commands, now):
        self.begun.set()
        self.gate.wait(HANGS)
        self.threads.add(threading.current_thread().name)
        if self.away:
            self.away -= 1
            raise StoreUnavailable("away")
        self.batches.append(list(commands))
        return [LeaseLost("gone") if n == 13 else 1 / n for n in commands]

    def learn(self, go_on):
        self.learnt.append(go_on())
        if self.forgets:
            raise StoreUnavailable("away")


@pytest.fixture
def fake():
    return Fake()


def run(fake, scenario, **options):
    async def main():
        worker = Worker("c", lambda name: fake, **options)
        try:
            return await asyncio.wait_for(scenario(worker), HANGS)
        finally:
            worker.stop()
            assert worker.join(HANGS)

    return asyncio.run(main())


def test_what_waits_becomes_one_turn_in_order_in_one_thread(fake):

    async def scenario(worker):
        fake.gate.clear()
        first = worker.put(1)
        await soon(fake.begun.is_set)  # from here on the first batch takes no more
        rest = [worker.put(n) for n in (2, 4, 5)]
        fake.gate.set()
        return [await one for one in [first, *rest]]

    assert run(fake, scenario) == [1, 0.5, 0.25, 0.2]
    assert fake.batches == [[1], [2, 4, 5]]
    assert fake.threads == {"campaign c"}


def test_the_model_learns_after_each_turn_and_a_store_that_is_away_then_hurts_nobody(fake):
    fake.forgets = True

    async def scenario(worker):
        results = []
        for n in (1, 2, 4):
            results.append(await worker.put(n))
            # The result comes before the learning, which stops for whoever is quick to ask again.
            await soon(lambda: len(fake.learnt) == len(results))
        return results

    assert run(fake, scenario) == [1, 0.5, 0.25]
    assert len(fake.learnt) == 3
    assert all(fake.learnt)  # nobody waited


def test_nobody_waits_for_a_long_lesson():
    fake, gate = Fake(), threading.Event()
    learn = fake.learn

    def long(go_on):
        learn(go_on)
        gate.wait(HANGS)

    fake.learn = long

    async def scenario(worker):
        results = [await worker.put(1)]
        await soon(lambda: fake.learnt)  # and goes on
        results += [await worker.put(n) for n in (2, 4)]
        begun = len(fake.learnt)
        gate.set()
        return results, begun

    assert run(fake, scenario) == ([1, 0.5, 0.25], 1)


def test_after_a_turn_that_took_very_long_nobody_waits_as_long_for_lessons(fake, monkeypatch):
    """A campaign that is opened, or a store that comes back, takes its time; lessons are not given the same again."""
    passed, gate = [0.0], threading.Event()
    clock = SimpleNamespace(**vars(time) | {"perf_counter": lambda: time.perf_counter() + passed[0]})
    monkeypatch.setattr(worker_module, "time", clock)

    def long(go_on):
        fake.learnt.append(1)
        gate.wait(HANGS)

    fake.learn = long

    async def scenario(worker):
        fake.gate.clear()
        first = worker.put(1)
        await soon(fake.begun.is_set)
        second = worker.put(2)  # waits already when the first turn ends
        passed[0] += HANGS
        fake.gate.set()
        results = [await first, await second]
        gate.set()
        return results

    assert run(fake, scenario) == [1, 0.5]
    assert fake.learnt


def test_a_model_that_cannot_learn_hurts_nobody(fake, caplog):

    def broken(go_on):
        fake.learnt.append(go_on())
        raise ZeroDivisionError

    fake.learn = broken

    async def scenario(worker):
        results = []
        for n in (1, 2):
            results.append(await worker.put(n))
            await soon(lambda: len(fake.learnt) == len(results))
        return results

    assert run(fake, scenario) == [1, 0.5]
    assert "learning failed" in caplog.text


def test_a_batch_has_a_most(fake):

    async def scenario(worker):
        fake.gate.clear()
        waiting = [worker.put(n) for n in range(1, 8)]
        await soon(fake.begun.is_set)
        fake.gate.set()
        await asyncio.gather(*waiting)

    run(fake, scenario, batch=3)
    assert max(map(len, fake.batches)) <= 3
    assert sum(map(len, fake.batches)) == 7


def test_an_error_is_its_command_s_alone():
    async def scenario(worker):
        return await asyncio.gather(worker.put(2), worker.put(13), return_exceptions=True)

    fine, bad = run(Fake(), scenario)
    assert fine == 0.5
    assert isinstance(bad, LeaseLost)


def test_what_breaks_a_turn_reaches_all_of_it_and_the_thread_lives(caplog):
    async def scenario(worker):
        broken = await asyncio.gather(worker.put(0), return_exceptions=True)
        return broken, await worker.put(4)

    (broken,), after = run(Fake(), scenario)
    assert isinstance(broken, ZeroDivisionError)
    assert after == 0.25
    assert "a turn failed" in caplog.text


def test_a_store_that_comes_back_is_waited_for(fake):
    fake.away = 2

    async def scenario(worker):
        return await worker.put(2)

    assert run(fake, scenario, patience=HANGS) == 0.5


def test_a_store_that_stays_away_is_said_to_be(fake):
    fake.away = 10**6

    async def scenario(worker):
        with pytest.raises(StoreUnavailable):
            await worker.put(2)
        fake.away = 0
        return await worker.put(2)

    assert run(fake, scenario, patience=0.1) == 0.5


def test_opening_may_fail_and_succeed_later():
    fake, tries = Fake(), []

    def opening(name):
        tries.append(name)
        if len(tries) == 1:
            raise ValueError("not yet")
        return fake

    async def main():
        worker = Worker("c", opening)
        with pytest.raises(ValueError, match="not yet"):
            await worker.put(2)
        result = await worker.put(2)
        worker.stop()
        return result

    assert asyncio.run(main()) == 0.5
    assert tries == ["c", "c"]


def test_a_campaign_that_was_made_anew_is_opened_anew():
    class Gone(Fake):
        def serve(self, commands, now):
            raise UnknownCampaign("c")

    made = [Gone(), Fake()]

    async def main():
        worker = Worker("c", lambda name: made.pop(0))
        result = await worker.put(2)
        assert await worker.run(lambda campaign: type(campaign)) is Fake
        worker.stop()
        return result

    assert asyncio.run(main()) == 0.5


def test_calls_see_the_campaign_between_turns(fake):

    async def scenario(worker):
        await worker.put(2)
        with pytest.raises(KeyError):
            await worker.run(lambda campaign: {}["no"])
        return await worker.run(lambda campaign: (campaign is fake, threading.current_thread().name))

    assert run(fake, scenario) == (True, "campaign c")


def test_who_no_longer_waits_does_no_harm(fake):

    async def scenario(worker):
        fake.gate.clear()
        gone, stays = worker.put(2), worker.put(4)
        gone.cancel()
        fake.gate.set()
        return await stays

    assert run(fake, scenario) == 0.25
    assert [n for batch in fake.batches for n in batch] == [2, 4]


def test_what_a_turn_did_is_told_and_measured():
    told, watched = [], []

    async def scenario(worker):
        await worker.put(2)
        await worker.run(lambda _: None)

    run(Fake(), scenario, on_results=lambda c, r: told.append((c, r)), on_batch=lambda n, s: watched.append(n))
    assert told == [([2], [0.5])]
    assert watched == [1]


def test_closing_serves_what_waits(fake):

    async def main():
        workers = Workers(lambda name: Worker(name, lambda _: fake), idle=900)
        fake.gate.clear()
        waiting = [workers["c"].put(n) for n in range(1, 50)]
        closing = asyncio.create_task(workers.close())
        await asyncio.sleep(0)  # the end is announced, and waited for
        fake.gate.set()
        await closing
        return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), HANGS), len(workers)

    results, left = asyncio.run(main())
    assert len(results) == 49
    assert left == 0


def test_idle_campaigns_are_let_go_and_opened_again():
    opened = []

    def opening(name):
        opened.append(name)
        return Fake()

    async def main():
        workers = Workers(lambda name: Worker(name, opening), idle=0.02)
        await workers["c"].put(2)
        time.sleep(0.03)
        workers.sweep()
        assert len(workers) == 0
        await workers["c"].put(2)
        workers.release("c")
        await workers.close()

    asyncio.run(main())
    assert opened == ["c", "c"]
