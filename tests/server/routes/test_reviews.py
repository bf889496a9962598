"""Answers and flags as a manager looks through them, and what is decided."""

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Flag, Next
from askone.campaign.engine.projection_arrays import to_arrays
from askone.campaign.settings.settings import AskSettings, Numbers, RowSettings, Settings
from sites import code, ok

API = "/api/v1/campaigns"
PEOPLE = ("ann", "bob", "cid")


@pytest.fixture
def site(alone):
    lines = [f"n{n:02},{n},{n if n < 3 else ''}" for n in range(24)]
    ask = AskSettings(overlap=2, gold_share=0.2)
    settings = Settings("Sizes", Numbers(0, 24), rows=RowSettings(key="id", gold="known"), ask=ask)
    alone.campaign("sizes", settings, ["id,size,known", *lines])
    campaign = Campaign.open(alone.store, "sizes")
    for n in range(60):
        who = PEOPLE[n % 3]
        [serving] = campaign.serve([Next(who)], 10.0 * n)
        held = serving.question
        if held is None:
            continue
        truth = bool(held.question.answer([float(held.row.position)]))
        said = truth if who != "cid" else n % 2 == 0
        if n == 9:
            campaign.serve([Flag(who, held.lease, "f-1", "blurred")], 10.0 * n)
        campaign.serve([Answer(who, held.lease, said, f"a-{n}", 1.0 + n % 7)], 10.0 * n + 5)
    return alone


def test_answers_are_filtered(site):
    manager, path = site.session("manager"), f"{API}/sizes/answers"
    every = ok(manager.get(f"{path}?first=200"))
    assert every["total"] == len(every["answers"]) > 20
    times = [max(given["at"] for given in one["given"]) for one in every["answers"]]
    assert times == sorted(times, reverse=True)
    split = ok(manager.get(f"{path}?which=disagreement&first=200"))["answers"]
    assert split
    assert all({given["answer"] for given in one["given"]} == {True, False} for one in split)
    mine = ok(manager.get(f"{path}?person=cid&first=200"))["answers"]
    assert all("cid" in {given["who"] for given in one["given"]} for one in mine)
    wrong = ok(manager.get(f"{path}?which=wrong"))["answers"]
    assert all(one["gold"] is not None and any(g["answer"] != one["gold"] for g in one["given"]) for one in wrong)
    slow = [max(given["took"] for given in one["given"]) for one in ok(manager.get(f"{path}?which=slow"))["answers"]]
    assert slow == sorted(slow, reverse=True)
    odd = [one["chance"] for one in ok(manager.get(f"{path}?which=surprising"))["answers"]]
    assert odd == sorted(odd)
    assert all(chance < 0.5 for chance in odd)
    assert code(manager.get(f"{path}?which=odd"), 422) == "invalid"


def test_a_manager_decides_and_the_log_keeps_it(site):
    manager = site.session("manager")
    split = ok(manager.get(f"{API}/sizes/answers?which=disagreement&first=200"))["answers"]
    one = next(one for one in split if one["gold"] is None)
    assert one["decided"] is None  # two people, two answers
    path = f"{API}/sizes/questions/{one['number']}/ruling"
    ok(manager.post(path, json={"answer": False}))
    row = ok(manager.get(f"{API}/sizes/rows/{one['position']}/history"))
    [now] = [asked for asked in row["asked"] if asked["number"] == one["number"]]
    assert (now["decided"], now["ruling"], len(now["given"])) == (False, False, 2)
    live, fresh = Campaign.open(site.store, "sizes"), Campaign.open(site.store, "sizes", fresh=True)
    assert live.projection.lessons.answer_to(one["number"]) is False
    live.keep()
    found = [to_arrays(each.projection) for each in (fresh, Campaign.open(site.store, "sizes"))]
    assert all(found[0][name].tobytes() == found[1][name].tobytes() for name in found[0])
    ok(manager.post(path, json={"answer": None}))
    again = ok(manager.get(f"{API}/sizes/rows/{one['position']}/history"))["asked"][0]
    assert (again["decided"], again["ruling"]) == (None, None)
    [first, last] = [entry for entry in site.store.entries("sizes") if entry.event.kind == "ruled"]
    assert (first.who, first.event.answer, last.event.answer) == ("manager", False, None)
    for wrong in ("questions/999/ruling", "questions/x/ruling"):
        assert code(manager.post(f"{API}/sizes/{wrong}", json={"answer": True}), 404)
    assert code(manager.get(f"{API}/sizes/rows/999/history"), 404) == "not_found"


def test_a_flag_is_seen_to(site):
    manager = site.session("manager")
    [flag] = ok(manager.get(f"{API}/sizes/flags"))
    assert (flag["resolved"], flag["reason"]) == (False, "blurred")
    assert ok(manager.get(f"{API}/sizes/answers?which=flagged"))["answers"][0]["number"] == flag["number"]
    ok(manager.post(f"{API}/sizes/flags/{flag['id']}/resolve", json={}))
    assert ok(manager.get(f"{API}/sizes/flags"))[0]["resolved"] is True
    assert ok(manager.get(f"{API}/sizes/answers?which=flagged"))["total"] == 0
    assert ok(manager.get(f"{API}/sizes/dashboard"))["flags"] == 0
    assert code(manager.post(f"{API}/sizes/flags/none/resolve", json={}), 404)
