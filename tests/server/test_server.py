"""The routes, as pages and programs use them; a real server on loopback at the end."""

import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from PIL import Image

from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import ClassNames, Settings
from askone.campaign.tables.open import open_table
from askone.errors import InvalidArgument, StoreUnavailable
from askone.server import _context
from askone.server._campaign_service import CampaignService
from askone.server.app import ROUTES
from askone.server.config import ServerConfig
from askone.server.routes.pages import ANSWER, SCRIPTED, load_files
from askone.server.runner import require_free, setup_link
from askone.server.security.rate_limits import RateLimiter
from calling import is_up
from journeys import killing
from sites import CANARY, LOOSE, PASSWORD, code, ok, shades, table
from waiting import until

API = "/api/v1"
DRINKS = f"{API}/campaigns/drinks"
PRICES = f"{API}/campaigns/prices"


# -- accounts -----------------------------------------------------------------------------------------


def test_set_up_log_in_and_out(site_of):
    site = site_of(people=False)
    client = site.client()
    assert ok(client.get(f"{API}/me"))["needs_setup"] is True
    token = setup_link(site.store).split("#")[1]
    me = ok(client.post(f"{API}/setup", json={"token": token, "name": "Ann", "password": PASSWORD}))
    assert (me["user"]["name"], me["user"]["role"], me["needs_setup"]) == ("Ann", "admin", False)
    assert ok(client.get(f"{API}/me"))["csrf"] == me["csrf"]
    client.headers["X-CSRF-Token"] = me["csrf"]
    ok(client.post(f"{API}/logout", json={}))
    assert ok(client.get(f"{API}/me"))["user"] is None
    assert code(client.post(f"{API}/login", json={"name": "Ann", "password": "wrong-password"}), 401) == "wrong_login"
    assert ok(client.post(f"{API}/login", json={"name": "ann", "password": PASSWORD}))["user"]["name"] == "Ann"


def test_me_lists_campaigns_with_roles(site):
    def mine(name):
        return {(one["name"], one["title"], one["role"]) for one in ok(site.token(name).get(f"{API}/me"))["campaigns"]}

    assert mine("annotator") == {("drinks", "Drinks", "annotator")}
    assert mine("other") == {("prices", "Prices", "manager")}
    assert mine("admin") == {("drinks", "Drinks", "manager"), ("prices", "Prices", "manager")}
    assert ok(site.token("other").get(f"{API}/me"))["csrf"] is None


def test_accounts_are_made_changed_and_deleted(site):
    admin = site.session("admin")
    made = ok(admin.post(f"{API}/users", json={"name": "Max", "role": "annotator", "password": PASSWORD}), 201)
    assert code(admin.post(f"{API}/users", json={"name": "max", "role": "annotator"}), 409) == "name_taken"
    assert ok(admin.patch(f"{API}/users/{made['id']}", json={"role": "manager"}))["role"] == "manager"
    assert code(admin.patch(f"{API}/users/{made['id']}", json={}), 422) == "invalid"
    client = site.client()
    ok(client.post(f"{API}/login", json={"name": "Max", "password": PASSWORD}))
    ok(admin.patch(f"{API}/users/{made['id']}", json={"password": PASSWORD + "!"}))
    assert code(client.get(f"{API}/campaigns"), 401) == "unauthorized"
    ok(admin.delete(f"{API}/users/{made['id']}"))
    assert code(admin.get(f"{API}/users/{made['id']}"), 405) == "method_not_allowed"
    assert code(admin.patch(f"{API}/users/nobody", json={"role": "admin"}), 404) == "not_found"


def test_invitations_bring_people(site):
    manager = site.session("manager")
    made = ok(manager.post(f"{DRINKS}/invitations", json={"title": "Team", "most_uses": 3}), 201)
    assert made["link"].startswith("/join#")
    assert made["qr"].startswith("<svg")
    assert made["url"] == "http://localhost" + made["link"]
    secret = made["link"].split("#")[1]
    names = [
        ok(site.client().post(f"{API}/join", json={"invitation": secret, "name": "Kim"}))["user"]["name"] for _ in "ab"
    ]
    assert names[0] == "Kim"
    assert names[1] != "Kim"
    member = site.session("stranger")
    assert ok(member.post(f"{API}/join", json={"invitation": secret}))["user"]["id"] == "stranger"
    assert ok(member.get(f"{DRINKS}/brief"))["title"] == "Drinks"
    listed = {one["id"]: one for one in ok(manager.get(f"{DRINKS}/invitations"))}
    assert (listed[made["id"]]["uses"], listed[made["id"]]["title"]) == (3, "Team")
    site.accounts.remove_member("drinks", "stranger")
    site.services.auth.clear_cache()


# -- answering ----------------------------------------------------------------------------------------


def test_answering_gives_the_question_that_was_shown_ahead(alone):
    client = alone.session("annotator")
    serving = ok(client.post(f"{DRINKS}/next", json={}))
    for n in range(6):
        question, answer = serving["question"], n % 2 == 0
        ahead = serving["ahead"]["yes" if answer else "no"]
        body = {"lease": question["lease"], "answer": answer, "id": f"a-{n}", "took": 1.5}
        serving = ok(client.post(f"{DRINKS}/answers", json=body))
        assert serving["question"]["lease"] == ahead["lease"]
        assert serving["question"]["sentence"] == ahead["sentence"]
        assert (serving["mine"], serving["undoable"], serving["duplicate"]) == (n + 1, n + 1, False)
    assert ok(client.get(f"{DRINKS}/brief"))["mine"] == 6


def test_skip_flag_undo_renew_release(alone):
    client = alone.session("annotator")
    first = alone.question(client)
    flagged = ok(client.post(f"{DRINKS}/flags", json={"lease": first["lease"], "id": "f-1", "reason": "odd\nwords"}))
    assert flagged["question"]["lease"] == first["lease"]
    skipped = ok(client.post(f"{DRINKS}/skips", json={"lease": first["lease"], "id": "s-1", "reason": "cannot tell"}))
    assert skipped["question"]["number"] != first["number"]
    back = ok(client.post(f"{DRINKS}/undo", json={"id": "u-1"}))
    assert back["question"]["number"] == first["number"]
    lease = back["question"]["lease"]
    assert ok(client.post(f"{DRINKS}/leases/renew", json={"leases": [lease, "unknown"]})) == {"renewed": 1}
    assert ok(client.post(f"{DRINKS}/leases/release", json={"leases": [lease]})) == {"released": 1}
    flags = ok(alone.session("manager").get(f"{DRINKS}/flags"))
    assert [(flag["reason"], flag["who"]) for flag in flags] == [("odd\nwords", "annotator")]


def test_bad_answers_are_refused(site):
    client = site.session("annotator")
    good = {"lease": "x", "answer": True, "id": "b-1", "took": None}
    for change, argument in (
        ({"answer": 1}, "answer"), ({"answer": "yes"}, "answer"), ({"id": ""}, "id"), ({"id": "a b"}, "id"),
        ({"lease": None}, "lease"), ({"took": -1}, "took"), ({"took": "1"}, "took"), ({"extra": 1}, "extra"),
    ):  # fmt: skip
        response = client.post(f"{DRINKS}/answers", json={**good, **change})
        assert code(response, 422) == "invalid"
        assert response.json()["error"]["argument"] == argument
    assert code(client.post(f"{DRINKS}/answers", json=good), 409) == "lease_lost"


def test_many_people_at_once(alone):
    """Sixteen people, each with a client of their own: every answer counts once, nobody gets another's question."""
    people = []
    for n in range(16):
        alone.accounts.add_user(f"p{n}", f"p{n}", "annotator", None)
        alone.accounts.add_member("prices", f"p{n}", "annotator")
        people.append(alone.token(f"p{n}"))
    seen, lock = [], threading.Lock()

    def work(n):
        client, answers = people[n], 0
        serving = ok(client.post(f"{PRICES}/next", json={}))
        while serving["question"] is not None and answers < 2:
            question = serving["question"]
            with lock:
                seen.append((question["number"], n))
            body = {"lease": question["lease"], "answer": True, "id": f"p{n}-{answers}"}
            serving = ok(client.post(f"{PRICES}/answers", json=body))
            answers += 1
        return answers

    with ThreadPoolExecutor(16) as pool:
        given = sum(pool.map(work, range(16)))
    assert ok(alone.token("other").get(PRICES))["answers"] == given
    assert len({number for number, _ in seen}) == len(seen)


# -- managing -----------------------------------------------------------------------------------------


def test_from_a_file_to_a_campaign(alone, tmp_path):
    manager = alone.session("manager")
    content = table(tmp_path).read_bytes()
    upload = ok(manager.post(f"{API}/uploads", content=content, headers={"X-File-Name": "house%20prices.csv"}), 201)
    assert (upload["rows"], [c["name"] for c in upload["columns"]]) == (30, ["id", "size", "colour", "known"])
    assert len(upload["sample"]) == 5
    assert upload["suggested"]["rows"]["key"] == "id"
    settings = {
        "title": "House prices",
        "labels": {"kind": "number", "low": 0, "high": 100, "unit": "EUR", "name": "the price"},
        "rows": {"key": "id", "gold": "known"},
    }
    looked = ok(manager.post(f"{API}/uploads/{upload['upload']}/preview", json={"settings": settings}))
    assert len(looked["questions"]) == 5
    assert looked["questions"][0]["kind"] == "threshold"
    assert 'unit = "EUR"' in looked["toml"]
    wrong = {**settings, "labels": {**settings["labels"], "high": "x"}}
    refused = manager.post(f"{API}/uploads/{upload['upload']}/preview", json={"settings": wrong})
    assert code(refused, 422) == "invalid"
    assert refused.json()["error"]["argument"] == "labels.high"
    asked = {"settings": settings, "answers": 20, "people": "1 careful, 1 spammer"}
    told = ok(manager.post(f"{API}/uploads/{upload['upload']}/forecast", json=asked))
    assert told["points"][-1][0] == 20
    assert [one["name"] for one in told["people"]] == ["careful 1", "spammer 1"]
    refused = manager.post(f"{API}/uploads/{upload['upload']}/forecast", json={**asked, "people": "1 stranger"})
    assert refused.json()["error"]["argument"] == "people"
    made = ok(manager.post(f"{API}/campaigns", json={"settings": settings, "upload": upload["upload"]}), 201)
    assert made == {"name": "house-prices"}
    assert code(manager.post(f"{API}/uploads/{upload['upload']}/preview", json={"settings": settings}), 404)
    shown = ok(manager.get(f"{API}/campaigns/house-prices"))
    assert (shown["status"], shown["settings"]["labels"]["unit"]) == ("running", "EUR")
    assert alone.question(manager, "house-prices")["threshold"]["unit"] == "EUR"
    again = {"settings": settings, "upload": None, "name": "house-prices"}
    assert code(manager.post(f"{API}/campaigns", json=again), 409) == "name_taken"
    assert code(manager.post(f"{API}/campaigns", json={**again, "name": "new"}), 409) == "name_taken"


def test_uploads_by_form_and_rows_added_later(alone, tmp_path):
    other = alone.session("other")
    more = b"id,size,colour,known\nx1,3,red,\nx2,5,blue,\n"
    upload = ok(other.post(f"{API}/uploads", files={"file": ("more.csv", io.BytesIO(more), "text/csv")}), 201)
    assert ok(other.post(f"{PRICES}/rows", json={"upload": upload["upload"]})) == {"added": 2}
    rows = [one for one in ok(other.get(f"{API}/campaigns")) if one["name"] == "prices"]
    assert rows[0]["rows"] == 32
    assert [one["key"] for one in ok(other.get(f"{PRICES}/predictions?keys=x1,nope,x2"))] == ["x1", "x2"]
    for form in (
        {"files": {"other": ("a.csv", b"a\n1\n")}},
        {"data": {"file": "text"}, "files": {"x": ("b.csv", b"b")}},
    ):
        assert code(other.post(f"{API}/uploads", **form), 422) == "invalid"
    broken = {"content": b"--x\r\nnonsense", "headers": {"Content-Type": "multipart/form-data; boundary=x"}}
    assert code(other.post(f"{API}/uploads", **broken), 422) == "invalid"


def test_an_order_needs_no_table(alone):
    manager = alone.session("manager")
    settings = {"title": "Colours", "labels": {"kind": "order", "items": ["red", "green", "blue"]}}
    looked = ok(manager.post(f"{API}/uploads/none/preview", json={"settings": settings}))
    assert looked["questions"][0]["kind"] == "pair"
    assert ok(manager.post(f"{API}/campaigns", json={"settings": settings, "upload": None}), 201) == {"name": "colours"}
    assert ok(manager.get(f"{API}/campaigns/colours"))["status"] == "running"


def test_pictures_are_shown(alone, tmp_path):
    folder = shades(tmp_path / "pictures", 6)
    create_campaign(
        alone.store, "digits", Settings("Digits", ClassNames(("1", "2"))), open_table(folder), "manager", 0.0
    )
    alone.accounts.add_member("digits", "annotator", "annotator")
    client = alone.session("annotator")
    question = alone.question(client, "digits")
    row = question["row"]
    assert row == {"fields": [], "image": f"/api/v1/campaigns/digits/leases/{question['lease']}/image"}
    picture = client.get(row["image"])
    assert (picture.status_code, picture.headers["content-type"]) in ((200, "image/png"), (200, "image/jpeg"))
    assert Image.open(io.BytesIO(picture.content)).size == (8, 8)
    assert code(alone.session("stranger").get(row["image"]), 404) == "not_found"
    assert code(client.get("/api/v1/campaigns/digits/rows/0/image"), 403) == "forbidden"
    assert alone.session("admin").get("/api/v1/campaigns/digits/rows/0/image").status_code == 200
    assert code(alone.session("admin").get("/api/v1/campaigns/digits/rows/99/image"), 404) == "not_found"


def test_steering(alone):
    manager, client = alone.session("manager"), alone.session("annotator")
    assert ok(manager.patch(DRINKS, json={"status": "paused"}))["status"] == "paused"
    assert ok(client.post(f"{DRINKS}/next", json={}))["state"] == "paused"
    assert ok(manager.patch(DRINKS, json={"status": "running", "budget": 1}))["budget"] == 1
    question = alone.question(client)
    ok(client.post(f"{DRINKS}/answers", json={"lease": question["lease"], "answer": True, "id": "st-1"}))
    assert ok(client.post(f"{DRINKS}/next", json={}))["state"] == "spent"
    assert ok(manager.patch(DRINKS, json={"budget": None}))["budget"] is None
    assert ok(client.post(f"{DRINKS}/next", json={}))["state"] == "question"
    for body in ({}, {"status": None}, {"status": "gone"}, {"budget": -1}, {"budget": 1.5}):
        assert code(manager.patch(DRINKS, json=body), 422) == "invalid"
    assert ok(manager.patch(DRINKS, json={"status": "closed"}))["status"] == "closed"
    assert ok(client.post(f"{DRINKS}/next", json={}))["state"] == "closed"
    ok(manager.delete(DRINKS))
    assert code(manager.get(DRINKS), 404) == "not_found"
    assert code(client.post(f"{DRINKS}/next", json={}), 404) == "not_found"


def test_watching(alone):
    other, client = alone.session("other"), alone.session("stranger")
    for n in range(4):
        question = alone.question(client, "prices")
        ok(
            client.post(
                f"{PRICES}/answers", json={"lease": question["lease"], "answer": n > 1, "id": f"w-{n}", "took": 2.0}
            )
        )
    board = ok(other.get(f"{PRICES}/dashboard?column=size&keys=r1"))
    assert (board["answers"], board["status"]) == (4, "running")
    assert {"curve", "cloud", "spent", "budget", "left", "rate_per_minute"} <= set(board)
    assert [one["key"] for one in board["predictions"]] == ["r1"]
    people = ok(other.get(f"{PRICES}/people"))
    assert [(one["id"], one["name"], one["answers"], one["excluded"]) for one in people] == [
        ("stranger", "stranger", 4, False)
    ]
    assert ok(other.post(f"{PRICES}/people/stranger/exclude", json={})) == {"excluded": True, "answers": 4}
    assert ok(client.post(f"{PRICES}/next", json={}))["state"] == "done"
    assert ok(other.get(f"{PRICES}/people"))[0]["excluded"] is True
    assert ok(other.post(f"{PRICES}/people/stranger/include", json={}))["excluded"] is False
    assert code(other.post(f"{PRICES}/people/nobody/exclude", json={}), 404) == "not_found"
    told = ok(other.get(f"{PRICES}/predictions?first=3"))
    assert [one["key"] for one in told] == ["r0", "r1", "r2"]
    assert len(ok(other.get(f"{PRICES}/predictions?first=1000&after=27"))) == 2
    whole = ok(other.get(f"{PRICES}/estimate?what=mean"))
    assert (whole["what"], whole["by"], [one["rows"] for one in whole["estimates"]]) == ("mean", None, [30])
    groups = ok(other.get(f"{PRICES}/estimate?what=share above 50&by=colour"))["estimates"]
    assert sum(one["rows"] for one in groups) == 30
    for query in ("what=average", "what=mean&by=weight", "by=colour"):
        assert code(other.get(f"{PRICES}/estimate?{query}"), 422) in ("invalid", "invalid_argument")


def test_what_is_taken_away_waits_for_a_model_that_is_made_anew(alone, monkeypatch):
    other, far = alone.session("other"), iter([(3, 9), (7, 9)])
    monkeypatch.setattr(CampaignService, "anew", lambda service: next(far, None))
    assert other.get(f"{PRICES}/export/predictions?format=jsonl").text.count("\n") == 30
    assert next(far, None) is None  # it looked until there was nothing left to wait for
    monkeypatch.setattr(CampaignService, "anew", lambda service: (7, 9))
    monkeypatch.setattr(_context, "_PATIENT", 0.0)
    for path in ("predictions?first=3", "estimate?what=mean"):
        late = other.get(f"{PRICES}/{path}")
        assert code(late, 503) == "made_anew"
        assert late.headers["Retry-After"] == "5"
        assert "7 of 9 steps are learnt" in late.json()["error"]["message"]


def test_everything_can_be_taken_away_and_brought_back(alone, tmp_path):
    other, client = alone.session("other"), alone.session("stranger")
    for n in range(3):
        question = alone.question(client, "prices")
        ok(client.post(f"{PRICES}/answers", json={"lease": question["lease"], "answer": True, "id": f"x-{n}"}))
    lines = other.get(f"{PRICES}/export/answers?format=jsonl").text.splitlines()
    assert len(lines) == 3
    assert other.get(f"{PRICES}/export/answers").text.count("\n") == 4
    assert other.get(f"{PRICES}/export/answers?format=parquet").content[:4] == b"PAR1"
    assert isinstance(ok(other.get(f"{PRICES}/export/answers?format=label-studio")), list)
    assert len(other.get(f"{PRICES}/export/predictions?format=jsonl").text.splitlines()) == 30
    log = [json.loads(line) for line in other.get(f"{PRICES}/export/log").text.splitlines()]
    assert [entry["seq"] for entry in log] == list(range(1, len(log) + 1))
    assert other.get(f"{PRICES}/export/model").content[:2] == b"PK"
    kept = other.get(f"{PRICES}/export/backup").content
    assert ok(other.post(f"{API}/restore?name=again", content=kept), 201) == {"name": "again"}
    assert ok(other.get(f"{API}/campaigns/again"))["answers"] == 3
    assert other.get(f"{API}/campaigns/again/export/log").text == other.get(f"{PRICES}/export/log").text
    assert code(other.post(f"{API}/restore?name=again", content=kept), 409) == "name_taken"
    assert code(other.post(f"{API}/restore?name=third", content=kept[:-100]), 422)


def test_people_of_a_backup_are_strangers_to_who_had_no_part_in_it(alone):
    """Nobody's name is learnt by a backup, and nobody's answers are forged: not an administrator's, above all."""
    for person in ("annotator", "admin"):
        client = alone.session(person)
        question = alone.question(client)
        done = {"lease": question["lease"], "answer": True, "id": f"by-{person}"}
        ok(client.post(f"{API}/campaigns/drinks/answers", json=done))
    kept = alone.session("manager").get(f"{API}/campaigns/drinks/export/backup").content
    found = {}
    for person in ("other", "manager", "admin"):
        client = alone.session(person)
        ok(client.post(f"{API}/restore?name=by-{person}", content=kept), 201)
        found[person] = {(one["id"], one["name"]) for one in ok(client.get(f"{API}/campaigns/by-{person}/people"))}
        assert ok(client.get(f"{API}/campaigns/by-{person}"))["answers"] == 2
        assert len(found[person]) == 2
    assert not [who for who, name in found["other"] | found["admin"] if name or not who.startswith("stranger-")]
    assert ("annotator", "annotator") in found["manager"]  # who takes part in what they manage
    assert "admin" not in {who for who, _ in found["manager"]}
    assert alone.accounts.role_in("by-other", "other") == "manager"


# -- the rest -----------------------------------------------------------------------------------------


def test_a_store_that_is_away_is_said_to_be(site, monkeypatch):
    def away(self):
        raise StoreUnavailable("gone: postgresql://u:secret@db")

    monkeypatch.setattr(type(site.store), "ping", away)
    response = site.client().get("/health/ready")
    assert code(response, 503) == "store_unavailable"
    assert int(response.headers["Retry-After"]) >= 1
    assert "secret" not in response.text
    assert ok(site.client().get("/health/live")) == {"status": "live"}


def test_health_and_metrics(site):
    assert ok(site.client().get("/health/ready")) == {"status": "ready"}
    text = site.token("admin", "read").get("/metrics").text
    assert re.search(r'askone_requests_total\{method="GET",route="/health/ready",status="200"\} \d', text)
    assert "askone_turn_seconds_bucket" in text


def test_pages_have_the_right_types(site, monkeypatch):
    for path in (ANSWER, *SCRIPTED):
        response = site.client().get(path.replace("{c}", "drinks"))
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        again = site.client().get(path.replace("{c}", "drinks"), headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    kinds = {name: file.kind for name, file in load_files().items()}
    for name, kind in kinds.items():
        assert site.client().get(f"/static/{name}").headers["content-type"] == kind


def test_links_and_odd_files_are_not_pages(tmp_path):
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text("1")
    (tmp_path / "secret.py").write_text("1")
    (tmp_path / ".env").write_text("1")
    (tmp_path / "link.css").symlink_to("/etc/passwd")
    assert set(load_files(tmp_path)) == {"js/a.js"}


def test_what_is_not_there_has_the_shape_of_errors(site):
    client = site.session("admin")
    assert code(client.get("/nowhere"), 404) == "not_found"
    assert code(client.put(f"{API}/me"), 405) == "method_not_allowed"
    assert code(client.post(f"{API}/tokens", content=b"{"), 422) == "invalid"
    assert client.get(f"{API}/me/").status_code == 404


def test_buckets_forget_and_do_not_grow():
    now = [0.0]
    few = RateLimiter(LOOSE.logins.__class__(1, 1.0), lambda: now[0], most=100)
    for n in range(1000):
        few.wait(n)
    assert len(few._full) <= 100
    now[0] = 5.0
    assert few.wait(999) == 0.0


@pytest.mark.parametrize(
    ("changes", "argument"),
    [({"port": 70000}, "port"), ({"processes": 0}, "processes"), ({"public_url": "ftp://x"}, "public_url"),
     ({"certificate": "x"}, "certificate_key")],
)  # fmt: skip
def test_configurations_that_cannot_be(changes, argument):
    with pytest.raises(InvalidArgument) as caught:
        replace(ServerConfig(), **changes)
    assert caught.value.argument == argument


def test_hosts_by_configuration():
    assert "*" in ServerConfig(host="0.0.0.0").names
    assert "*" not in ServerConfig(host="0.0.0.0", public_url="https://ask.example").names
    assert "ask.example" in ServerConfig(public_url="https://ask.example").names


def test_every_handler_says_what_it_does():
    assert all((row.handler.__doc__ or "").strip() for row in ROUTES)
    assert CANARY


# -- a real one ---------------------------------------------------------------------------------------

SCRIPT = """
import sys
from askone.server.config import ServerConfig
from askone.server.runner import serve
config = ServerConfig(port=int(sys.argv[2]), processes=int(sys.argv[3]))
serve(sys.argv[1], config, lambda line: print(line, flush=True))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_a_real_server(tmp_path, processes):
    """It prints where it is and how to set it up, serves, and ends in good order when told to."""
    port = killing.free_port()
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "a.db"), str(port), str(processes)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        lines = [running.stdout.readline() for _ in range(2)]
        assert lines[0] == f"askone serves http://127.0.0.1:{port}\n"
        token = lines[1].strip().split("/setup#")[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
            until(lambda: is_up(client))
            assert client.get("/health/ready").status_code == 200
            me = ok(client.post(f"{API}/setup", json={"token": token, "name": "Ann", "password": PASSWORD}))
            client.headers["X-CSRF-Token"] = me["csrf"]
            settings = {"title": "Colours", "labels": {"kind": "order", "items": ["red", "green", "blue"]}}
            ok(client.post(f"{API}/campaigns", json={"settings": settings}), 201)
            serving = ok(client.post(f"{API}/campaigns/colours/next", json={}))
            for n in range(5):
                body = {"lease": serving["question"]["lease"], "answer": True, "id": f"r-{n}"}
                serving = ok(client.post(f"{API}/campaigns/colours/answers", json=body))
            assert serving["mine"] == 5
            assert ok(client.get(f"{API}/campaigns/colours"))["answers"] == 5
            head = client.get("/health/live").headers
            assert "server" not in head
        with socket.create_connection(("127.0.0.1", port)) as odd:
            odd.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: " + b"a" * 200_000)
            odd.settimeout(600)
            got = b"x"
            try:
                while got:
                    got = odd.recv(1000)
            except ConnectionError:
                pass
    finally:
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=600)
    assert "Traceback" not in err, err
    assert token not in err
    assert '"route": "/api/v1/campaigns/{c}/answers", "status": 200' in err


def test_a_port_that_is_taken_is_named_before_any_work():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidArgument, match=rf"port must be one that can be listened at .*--port.* got {port}"):
            require_free(ServerConfig(port=port))
    require_free(ServerConfig(port=0))
