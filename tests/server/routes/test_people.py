"""Programs and paused people through the API."""

from askone.store.entries import Entry
from askone.store.notices import PausedPerson
from sites import code, ok

API = "/api/v1/campaigns/drinks"


def answered(client, site, name, **more):
    body = {"lease": site.question(client)["lease"], "answer": True, "id": name, "took": 1.0, **more}
    return client.post(f"{API}/answers", json=body)


def test_an_account_of_a_program_answers_as_one_whatever_it_says(site):
    made = ok(site.session("admin").post("/api/v1/users", json={"name": "old net", "role": "program"}), 201)
    site.accounts.add_member("drinks", made["id"], "annotator")
    program, manager = site.token(made["id"], "answer"), site.session("manager")
    ok(answered(program, site, "p-1", kind="person", cost=0.002))
    ok(answered(site.session("annotator"), site, "a-1"))
    ok(program.post(f"{API}/skips", json={"lease": site.question(program)["lease"], "id": "p-2"}))
    people = {one["name"]: one for one in ok(manager.get(f"{API}/people"))}
    assert [people[name]["kind"] for name in ("old net", "annotator")] == ["program", "person"]
    assert (people["old net"]["cost"], people["annotator"]["cost"]) == (0.002, None)
    assert ok(manager.get(f"{API}/dashboard"))["people_active"] == 1
    assert code(program.get(f"{API}/people"), 403) == "forbidden"
    assert code(site.token(made["id"]).get(f"{API}/people"), 403) == "forbidden"
    assert code(site.token(made["id"]).post("/api/v1/campaigns", json={"settings": {}}), 403) == "forbidden"


def test_bad_kinds_and_costs_are_refused(site):
    client = site.session("annotator")
    for more in ({"kind": "robot"}, {"cost": -1}, {"cost": "much"}):
        assert code(answered(client, site, "a-2", **more), 422) == "invalid"


def test_who_is_paused_is_told_and_brought_back(site):
    client, manager = site.session("annotator"), site.session("manager")
    ok(answered(client, site, "a-3"))
    with site.store.transaction("drinks") as transaction:
        transaction.write([Entry(PausedPerson("paused-x", "annotator", 0.04, 0.2, 60), at=1.0)], [], [])
    assert ok(client.post(f"{API}/next", json={}))["state"] == "resting"
    assert [one["answerable"] for one in ok(client.get("/api/v1/campaigns")) if one["name"] == "drinks"] == [False]
    [paused] = [one["paused"] for one in ok(manager.get(f"{API}/people")) if one["paused"]]
    assert paused == {"at": 1.0, "bits": 0.04, "below": 0.2, "answers": 60}
    assert code(client.post(f"{API}/people/annotator/resume", json={}), 403) == "forbidden"
    assert code(manager.post(f"{API}/people/nobody/resume", json={}), 404) == "not_found"
    assert ok(manager.post(f"{API}/people/annotator/resume", json={})) == {"answers": 2}
    assert ok(client.post(f"{API}/next", json={}))["state"] == "question"


def test_a_threshold_is_set_while_it_runs(site):
    manager = site.session("manager")
    changed = ok(manager.patch(API, json={"settings": {"people": {"pause_below": 0.2}}}))
    assert changed["settings"]["people"] == {"pause_below": 0.2, "pause_after": 40}
    assert code(manager.patch(API, json={"settings": {"people": {"pause_below": 2}}}), 422) == "invalid"
