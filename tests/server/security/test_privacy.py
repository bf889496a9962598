"""What is kept of people and of secrets: canaries, forgetting, and what time takes away."""

import io
import json
import logging
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next
from askone.cli.main import main
from askone.errors import AskoneError
from askone.server.app import ROUTES
from askone.server.runner import setup_link
from askone.server.security.tokens import digest, new_secret
from askone.store import _schema
from askone.store.open import open_store
from calling import API, body_of, path_of
from commands import ask
from sites import DRINKS, LOOSE, Site
from waiting import until

NAME = "Wilhelmina Canary"


def tables(store):
    """All that a database holds, whatever it is."""
    return "".join(repr(store._database.read(f"SELECT * FROM {name}")) for name in _schema.METADATA.tables)


def files(site):
    """The database, what is beside it and uploads, as they lie on the disk."""
    folder = Path(site.url).parent
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def opened(content):
    """A response's bytes, and those of what is packed in it."""
    if content[:2] != b"PK":
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def everything(client):
    """All that can be read by somebody who may read everything: pages, lists, exports in every format, backups."""
    parts = []
    for row in ROUTES:
        if row.method == "GET":
            for campaign in ("drinks", "prices"):
                asked = ("?what=mean", "?what=accuracy") if row.path.endswith("/estimate") else ("",)
                responses = [client.get(path_of(row, campaign) + query) for query in asked]
                assert any(one.status_code in (200, 404) for one in responses), (row, responses[0].text)
                parts += [opened(one.content) for one in responses]
    kinds = ("csv", "jsonl", "parquet", "label-studio")
    parts += [client.get(f"{API}/campaigns/drinks/export/answers?format={kind}").content for kind in kinds]
    return b"".join(parts)


def errors(client):
    """What is said when requests are wrong: bodies that are none, fields too many, things that are missing."""
    parts = []
    for row in ROUTES:
        path = path_of(row, "nowhere", id="nobody", u="nothing", position="99999")
        tries = [{"content": b"{"}, {"json": {**body_of(row), "extra": 1}}, {"json": []}]
        for options in tries if row.method not in ("GET", "DELETE") else [{}]:
            if row.path in (f"{API}/me", f"{API}/logout"):
                continue
            parts.append(client.request(row.method, path, **options).content)
    return b"".join(parts)


def test_secrets_are_nowhere(tmp_path, caplog, capfd):
    """A canary of each kind of secret: not in the database or its files, logs, errors, exports, backups, metrics."""
    caplog.set_level(logging.DEBUG)
    site = Site(tmp_path, LOOSE, people=False)
    setup = setup_link(site.store).split("#")[1]
    client, password = site.client(), "canary-password-1"
    made = client.post(f"{API}/setup", json={"token": setup, "name": "ann", "password": password})
    assert made.status_code == 200
    client.headers["X-CSRF-Token"] = csrf = made.json()["csrf"]
    for name in ("drinks", "prices"):
        create_campaign(site.store, name, DRINKS, None, "first", 0.0)
    session = client.cookies["askone_session"]
    token = client.post(f"{API}/tokens", json={"scopes": ["read", "answer", "manage"]}).json()["token"]
    invitation = client.post(f"{API}/campaigns/drinks/invitations", json={}).json()["link"].split("#")[1]
    program = site.client(Authorization=f"Bearer {token}")
    lease = site.question(program)["lease"]
    body = {"lease": lease, "answer": True, "id": "a-1", "took": 2.0}
    assert program.post(f"{API}/campaigns/drinks/answers", json=body).status_code == 200
    held = site.question(program)["lease"]
    guest = site.client()
    joined = guest.post(f"{API}/join", json={"invitation": invitation, "name": "gus"})
    other = guest.cookies["askone_session"]
    wrong = site.client(Authorization=f"Bearer {token}x")
    told = b"".join(
        [
            everything(program), errors(program), errors(client), errors(wrong), errors(site.client()),
            client.post(f"{API}/login", json={"name": "ann", "password": password + "x"}).content,
            client.post(f"{API}/me/password", json={"old": password + "x", "new": password}).content,
            client.get(f"{API}/nowhere?token={token}&password={password}").content,
        ]
    )  # fmt: skip
    lines = "".join(record.getMessage() for record in caplog.records if not record.name.startswith("http"))
    out = "".join(capfd.readouterr())
    kept = tables(site.store).encode() + files(site) + lines.encode() + out.encode()
    site.close()
    for secret in (setup, password, session, csrf, token, invitation, other, joined.json()["csrf"]):
        assert secret.encode() not in told + kept, secret[:6]
    assert held.encode() not in told  # a lease is its holder's; the database has to know it
    assert digest(token).encode() in kept
    assert digest(token).encode() not in told
    assert b"argon2" not in told


def test_an_address_of_a_store_is_nowhere(tmp_path, postgres_url, caplog, capsys):
    """The password of a PostgreSQL store, and the address with it."""
    caplog.set_level(logging.DEBUG)
    site = Site(tmp_path, LOOSE, postgres_url)
    client = site.session("admin")
    told = everything(client) + errors(client) + tables(site.store).encode()
    assert "canary" not in repr(site.store)
    site.close()
    away = "postgresql://ann:canary@127.0.0.1:1/askone"
    assert main(["status", "--store", away]) == 2
    with pytest.raises(AskoneError) as refused:
        open_store(away)
    said = "".join(capsys.readouterr()) + str(refused.value) + "".join(record.getMessage() for record in caplog.records)
    assert "canary" not in said
    assert b":canary@" not in told
    assert b"postgresql://" not in told


# -- people ---------------------------------------------------------------------------------------------


def guest_of(site, campaign="drinks", name=NAME):
    secret = new_secret()
    site.accounts.add_invitation(new_secret()[:8], digest(secret), campaign, time.time() + 3600, 1, "")
    guest = site.client()
    joined = guest.post(f"{API}/join", json={"invitation": secret, "name": name}).json()
    guest.headers["X-CSRF-Token"] = joined["csrf"]
    return guest, joined["user"]["id"]


def test_the_log_knows_people_by_ids_alone(alone):
    """No name in entries, seats, exports for programs or backups: what is chained never has to be changed."""
    guest, person = guest_of(alone)
    body = {"lease": alone.question(guest)["lease"], "answer": True, "id": "w-1"}
    assert guest.post(f"{API}/campaigns/drinks/answers", json=body).status_code == 200
    alone.question(guest)
    admin = alone.session("admin")
    taken = opened(admin.get(f"{API}/campaigns/drinks/export/backup").content)
    for kind in ("csv", "jsonl", "label-studio"):
        taken += admin.get(f"{API}/campaigns/drinks/export/answers?format={kind}").content
    with closing(sqlite3.connect(alone.url)) as database:
        kept = repr([database.execute(f"SELECT * FROM {name}").fetchall() for name in _schema.KEPT])
    assert person in kept
    assert person.encode() in taken
    assert NAME not in kept
    assert NAME.encode() not in taken


@pytest.mark.parametrize("by", ["themselves", "an administrator", "the command line"])
def test_who_is_forgotten_is_nowhere(alone, by, capsys):
    """Name, password, sessions, tokens and memberships go, from the files as well; answers stay under the id."""
    guest, person = guest_of(alone)
    body = {"lease": alone.question(guest)["lease"], "answer": True, "id": "w-1"}
    assert guest.post(f"{API}/campaigns/drinks/answers", json=body).status_code == 200
    token = guest.post(f"{API}/tokens", json={"scopes": ["answer"]}).json()["token"]
    before, head = Campaign.open(alone.store, "drinks").projection.answers, alone.store.head("drinks")
    assert NAME.encode() in files(alone)
    if by == "themselves":
        assert guest.delete(f"{API}/me").status_code == 200
    elif by == "an administrator":
        assert alone.session("admin").delete(f"{API}/users/{person}").status_code == 200
    else:
        assert main(["users", "remove", NAME, "--store", alone.url]) == 0
        alone.services.auth.clear_cache()
    assert NAME.encode() not in files(alone)
    assert NAME.casefold().encode() not in files(alone)
    for client in (guest, alone.client(Authorization=f"Bearer {token}")):
        assert client.get(f"{API}/campaigns").status_code == 401
    assert (alone.accounts.tokens(person), alone.accounts.campaigns_of(person)) == ([], [])
    assert (Campaign.open(alone.store, "drinks").projection.answers, alone.store.head("drinks")) == (before, head)
    people = alone.session("manager").get(f"{API}/campaigns/drinks/people").json()
    assert [(one["id"], one["answers"]) for one in people] == [(person, 1)]
    assert NAME not in json.dumps(people)
    assert main(["verify", "drinks", "--store", alone.url]) == 0


def test_time_takes_away_what_nobody_needs(any_store, tmp_path):
    """The retention job: what expired, what could not be delivered, and guests who cannot come back."""
    accounts, day, now = any_store.accounts, 86400.0, 1e9
    create_campaign(any_store, "drinks", DRINKS, None, "", 0.0)
    people = {
        "guest": (None, None), "lately": (None, None), "here": (None, now + 1), "program": (None, None),
        "keeps": ("a hash", None), "apart": (None, None), "silent": (None, None),
    }  # fmt: skip
    for name, (password, end) in people.items():
        accounts.add_user(name, f"{name} canary", "annotator", password)
        if name != "apart":  # made by an administrator, who has not given it a password yet
            accounts.add_member("drinks", name, "annotator")
        accounts.add_session(f"old {name}", name, "", now - 1)
        if end is not None:
            accounts.add_session(f"new {name}", name, "", end)
    accounts.add_token("t1", "h1", "", "program", ("answer",), None, "")
    accounts.add_token("t2", "h2", "", "keeps", ("answer",), now - 1, "")
    accounts.add_invitation("i1", "h1", "drinks", now - 1, 9, "")
    accounts.add_invitation("i2", "h2", "drinks", now + 1, 9, "")
    accounts.add_webhook("w1", "drinks", "https://example.org/", "s", ("answer",))
    accounts.queue_delivery("d1", "w1", "{}", now - 91 * day)
    accounts.queue_delivery("d2", "w1", "{}", now - 1 * day)
    campaign = Campaign.open(any_store, "drinks")
    for name, at in (("guest", now - 100 * day), ("lately", now - 80 * day)):
        [serving] = campaign.serve([Next(name)], at)
        campaign.serve([Answer(name, serving.question.lease, True, f"a-{name}", 1.0)], at)
    head = any_store.head("drinks")
    assert accounts.prune(now, now - 90 * day) == (2, 7 + 1 + 1 + 1)
    names = {user.id: user.name for user in accounts.users()}
    assert {name for name in people if names[name] == f"forgotten {name}"} == {"guest", "silent"}
    assert [one.id for one in accounts.invitations("drinks")] == ["i2"]
    assert [one.id for one in accounts.due_deliveries(now, 9)] == ["d2"]
    assert [one.id for one in accounts.tokens("program") + accounts.tokens("keeps")] == ["t1"]
    assert any_store.head("drinks") == head
    assert accounts.prune(now, now - 90 * day) == (0, 0)


def test_pruning_from_the_command_line(alone, capsys):
    _, person = guest_of(alone)
    alone.accounts.end_access(person)
    assert "Guests forgotten: 1;" in ask("users", "prune", "--days", "90", "--store", alone.url).out
    assert NAME.encode() not in files(alone)
    assert "--days must be" in ask("users", "prune", "--days", "-1", "--store", alone.url, status=2).err


def test_a_running_server_removes_what_has_expired(tmp_path, monkeypatch):
    """Once a minute, without being told, when its clock has been steady: here at its start."""
    monkeypatch.setattr("askone.server.ops.steady_clock.GRACE", 0.0)
    url = str(tmp_path / "askone.db")
    store = open_store(url)
    store.accounts.add_user("a", "ann", "admin", None)
    store.accounts.add_session("old", "a", "", time.time() - 1)
    store.close()
    site = Site(tmp_path, LOOSE, url, people=False)
    until(lambda: site.store._database.read("SELECT count(*) FROM sessions") == [(0,)])
    site.close()
