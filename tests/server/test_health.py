"""What a manager is told: when a campaign is at its end, what people said, what can be; and pages that are not."""

import errno
import io
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from answered import KINDS, answer, grow, make
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Next, SetBudget, SetStatus
from askone.campaign.output.backup import backup, restore
from askone.campaign.settings.settings import AskSettings, ClassNames, Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.store._database import Session
from askone.store.open import open_store
from sites import shades

API = "/api/v1"


def test_a_campaign_without_rows_is_finished_and_more_rows_make_it_go_on(store):
    campaign = make(store, count=8)
    assert answer(campaign, 7) == 7
    assert campaign.status(50.0)["finished"] is None
    answer(campaign, 1, start=7)
    assert campaign.status(60.0)["finished"] == "rows"
    assert campaign.dashboard(60.0)["finished"] == "rows"
    [serving] = campaign.serve([Next("cat")], 70.0)
    assert serving.state == "done"
    grow(store)
    campaign.refresh()
    assert campaign.status(80.0)["finished"] is None


def test_a_question_that_is_out_is_not_the_end(store):
    campaign = make(store, count=8)
    answer(campaign, 7)
    campaign.serve([Next("cat")], 80.0)
    assert campaign.status(81.0)["finished"] is None


def test_a_budget_that_is_spent_is_an_end_until_it_is_raised(store):
    settings = replace(KINDS["number"], ask=AskSettings(budget=7, overlap=2))
    campaign = make(store, settings=settings)
    assert answer(campaign, 7) == 6  # the seventh would be half a question
    assert campaign.status(200.0)["finished"] == "budget"
    campaign.serve([SetBudget("boss", "m-1", 20)], 201.0)
    assert campaign.status(202.0)["finished"] is None


def test_an_order_for_everybody_has_no_last_row(store):
    campaign = make(store, "order", count=1, settings=KINDS["order"])
    answer(campaign, 5)
    assert campaign.status(60.0)["finished"] is None


def test_a_target_that_is_reached_is_an_end_and_a_pause_is_none(store):
    settings = replace(KINDS["number"], ask=AskSettings(exam_share=0.9, target=1e6))
    campaign = make(store, settings=settings)
    answer(campaign, 30)
    told = campaign.status(100.0)
    assert (told["status"], told["finished"]) == ("paused", "target")
    other = make(store, name="d")
    other.serve([SetStatus("boss", "m-1", "paused")], 1.0)
    assert other.status(2.0)["finished"] is None
    other.serve([SetStatus("boss", "m-2", "closed")], 3.0)
    assert other.status(4.0)["finished"] is None


def test_what_people_said_is_counted(store):
    campaign = make(store)
    answer(campaign, 9)
    assert campaign.dashboard(60.0)["said"] == {"yes": 3, "no": 6}


def test_predictions_lie_in_the_declared_range():
    """Of several campaigns, as their lots differ: in some there must have been something to do."""
    settings = replace(KINDS["number"], labels=Numbers(0.0, 10.0, "EUR", 0, "price"))
    beyond = 0
    for _ in range(6):
        with closing(open_store("memory:")) as store:
            campaign = make(store, settings=settings)
            answer(campaign, 4)
            found = campaign.predictions(range(30))
            assert all(0 <= one["low"] <= one["prediction"] <= one["high"] <= 10 for one in found)
            beyond += any(one["prediction"] - 2 * one["std"] < 0 for one in found)
            assert all(0 <= value <= 10 for _, value in campaign.dashboard(60.0)["cloud"]["prediction"])
    assert beyond


def test_a_restored_copy_has_a_title_of_its_own(store):
    campaign = make(store)
    answer(campaign, 2)
    out = io.BytesIO()
    backup(store, "c", out)
    names = [restore(store, io.BytesIO(out.getvalue()), name) for name in ("c2", "c3")]
    assert [store.campaign(name).title for name in names] == ["Prices (restored)", "Prices (restored 2)"]
    copy = Campaign.open(store, "c2")
    assert copy.status(1.0)["title"] == "Prices (restored)"
    again = io.BytesIO()
    backup(store, "c2", again)
    restore(store, io.BytesIO(again.getvalue()), "c4")
    assert store.campaign("c4").title == "Prices (restored 3)"
    elsewhere = open_store("memory:")
    restore(elsewhere, io.BytesIO(out.getvalue()))
    assert elsewhere.campaign("c").title == "Prices"
    elsewhere.close()


def test_the_list_says_that_a_campaign_is_finished(alone):
    client = alone.session("manager")
    client.patch(f"{API}/campaigns/drinks", json={"budget": 1})
    lease = alone.question(client)["lease"]
    client.post(f"{API}/campaigns/drinks/answers", json={"lease": lease, "answer": True, "id": "a-1"})
    [line] = client.get(f"{API}/campaigns").json()
    assert (line["status"], line["finished"]) == ("running", "budget")


@pytest.mark.parametrize("learner", [b"no learner", b""], ids=["damaged", "empty"])
def test_one_broken_campaign_does_not_hide_the_others(alone, learner):
    with closing(sqlite3.connect(alone.url)) as database, database:
        database.execute("UPDATE campaigns SET learner = ? WHERE name = 'prices'", (learner,))
    listed = {line["name"]: line for line in alone.session("admin").get(f"{API}/campaigns").json()}
    assert (listed["prices"]["status"], listed["prices"]["answers"], listed["prices"]["rows"]) == ("broken", None, 30)
    assert (listed["drinks"]["status"], listed["drinks"]["answers"]) == ("running", 0)


def test_a_dashboard_that_is_known_is_not_sent_again(alone):
    client, path = alone.session("manager"), f"{API}/campaigns/drinks/dashboard"
    mark = client.get(path).headers["etag"]
    for tag in (mark, f"W/{mark}"):
        same = client.get(path, headers={"If-None-Match": tag})
        if same.status_code == 200:  # a minute has begun: the activity of the last hour is another
            mark = same.headers["etag"]
            same = client.get(path, headers={"If-None-Match": mark})
        assert (same.status_code, same.content) == (304, b"")
    question = alone.question(client)
    client.post(f"{API}/campaigns/drinks/answers", json={"lease": question["lease"], "answer": True, "id": "a-1"})
    fresh = client.get(path, headers={"If-None-Match": mark})
    assert fresh.status_code == 200
    assert fresh.json()["answers"] == 1


def test_predictions_lead_to_the_pictures_of_their_rows(alone, tmp_path):
    folder = shades(tmp_path / "pictures", 4)
    settings = Settings("Shades", ClassNames(("dark", "light")))
    create_campaign(alone.store, "shades", settings, open_table(folder), "admin", 0.0)
    client = alone.session("admin")
    found = client.get(f"{API}/campaigns/shades/predictions").json()
    assert [one["image"] for one in found] == [f"{API}/campaigns/shades/rows/{n}/image" for n in range(4)]
    assert client.get(found[0]["image"]).headers["content-type"] == "image/png"
    assert [one["image"] for one in client.get(f"{API}/campaigns/prices/predictions?first=2").json()] == [None, None]


def test_a_page_that_is_not_there_is_a_page_for_browsers_and_json_for_programs(alone):
    client = alone.client()
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nowhere", "/manage/a/b", "/answer/%00"):
        page = client.get(path, headers=browser)
        assert page.status_code == 404
        assert page.headers["content-type"].startswith("text/html")
        assert "There is no such page" in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "<script>" not in page.text
    for path, headers in (("/nowhere", {}), (f"{API}/nowhere", browser), ("/static/nothing.js", browser)):
        assert client.get(path, headers=headers).json()["error"]["code"] == "not_found"


def test_a_full_disk_is_said_and_makes_the_server_not_ready(alone, monkeypatch):
    client, probe = alone.session("manager"), alone.services.write_probe
    probe._every = 3600.0
    assert client.get("/health/ready").status_code == 200
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", raises(full))
        patch.setattr(Path, "write_text", raises(full))
        sent = client.post(f"{API}/uploads", content=b"a\n1\n", headers={"X-File-Name": "a.csv"})
        assert (sent.status_code, sent.json()["error"]["code"]) == (507, "storage_full")
        assert client.get("/health/ready").status_code == 200  # a look holds for a while
        probe._due = 0.0
        assert client.get("/health/ready").status_code == 503
    with monkeypatch.context() as patch:
        patch.setattr(
            Session, "run", raises(alone.store._database._driver.OperationalError("database or disk is full"))
        )
        patch.setattr(type(alone.store._database), "away", lambda *_: True)
        probe._due = 0.0
        refused = client.get("/health/ready")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    probe._due = 0.0
    assert client.get("/health/ready").status_code == 200


def raises(error):
    def fail(*_, **__):
        raise error

    return fail
