"""Rows as a manager looks through them."""

import asyncio
import threading

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Next
from askone.campaign.settings.settings import ClassNames, RowSettings, Settings
from askone.server.routes import managers
from sites import ok

API = "/api/v1/campaigns"


@pytest.fixture
def site(alone):
    return alone


def keys(found):
    return [row["key"] for row in found["rows"]]


def test_rows_are_searched_sorted_and_paged(site):
    lines = [f"n{n:03},{'Old Mill' if n % 5 == 0 else 'New Town'},{n}" for n in range(60)]
    settings = Settings("Places", ClassNames(("far", "near")), rows=RowSettings(key="id"))
    site.campaign("places", settings, ["id,place,size", *lines])
    campaign = Campaign.open(site.store, "places")
    [serving] = campaign.serve([Next("ann")], 1.0)
    for n in range(20):
        held = serving.question
        truth = "far" if held.row.position >= 30 else "near"
        said = held.question.holds(truth)
        [serving] = campaign.serve([Answer("ann", held.lease, said, f"a-{n}")], 2.0 + n)
    manager, path = site.session("manager"), f"{API}/places/rows"
    first = ok(manager.get(f"{path}?first=7&skip=14"))
    assert (first["total"], keys(first)) == (60, [f"n{n:03}" for n in range(14, 21)])
    found = ok(manager.get(f"{path}?search=old mill"))
    assert (found["total"], keys(found)) == (12, [f"n{n:03}" for n in range(0, 50, 5)])
    unsure = ok(manager.get(f"{path}?order=unsure&first=60"))
    chances = [row["probability"] for row in unsure["rows"]]
    assert chances == sorted(chances)
    assert sorted(keys(unsure)) == [f"n{n:03}" for n in range(60)]
    assert ok(manager.get(f"{path}?search=nowhere")) == {"total": 0, "weighed": 0, "rows": []}


def test_whoever_answers_does_not_wait_for_searches(site, monkeypatch):
    """A search of a large table takes a second or two: two dozen of them took all threads that find out who asks."""
    free = threading.Event()
    monkeypatch.setattr(managers, "found_rows", lambda *_: free.wait() and [])
    manager, path = site.session("manager"), f"{API}/drinks/rows?search=tea"

    async def search():
        return [asyncio.create_task(manager._http.get(path)) for _ in range(40)]

    searches = site.run(search())
    try:
        assert site.question(site.session("annotator"))
    finally:
        free.set()
        answers = site.run(gathered(searches))
    statuses = [answer.status_code for answer in answers]
    assert sorted(set(statuses)) == [200, 429]
    assert statuses.count(200) == 20


async def gathered(tasks):
    return await asyncio.gather(*tasks)


def test_the_chart_of_an_order_has_the_predicted_one(site):
    campaign = Campaign.open(site.store, "drinks")
    [serving] = campaign.serve([Next("ann")], 1.0)
    for n in range(8):
        [serving] = campaign.serve([Answer("ann", serving.question.lease, n % 3 > 0, f"a-{n}")], 2.0 + n)
    board = ok(site.session("manager").get(f"{API}/drinks/dashboard"))
    assert board["cloud"]["order"] == campaign.predictions([0])[0]["prediction"]
    assert board["models"] is None
