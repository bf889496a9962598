"""What may not happen to a server: a test for each check."""

import asyncio
import json
import logging
import re
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from askone.errors import InvalidArgument
from askone.server import app as application
from askone.server._routing import PARTS
from askone.server._upload_folder import plain_title, suffix_of
from askone.server.app import ROUTES
from askone.server.config import Rates, ServerConfig
from askone.server.runner import require_admin, setup_link
from askone.server.security.authentication import Auth
from askone.server.security.headers import POLICY
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import RateLimiter
from askone.server.security.tokens import csrf_token, digest, new_secret
from askone.server.security.webhook_addresses import is_public, resolve
from calling import API, assert_error, body_of, dump, path_of, send
from sites import CANARY, LOOSE, PASSWORD, PEOPLE, QUICK, ok

OPEN = {
    ("GET", f"{API}/me"), ("POST", f"{API}/setup"), ("POST", f"{API}/login"), ("POST", f"{API}/join"),
    ("POST", f"{API}/invited"),
    ("GET", "/health/live"), ("GET", "/health/ready"), ("GET", "/static/{path:path}"),
    *(("GET", path) for path in ("/", "/setup", "/login", "/join", "/account", "/manage", "/manage/new")),
    ("GET", "/manage/{c}"), ("GET", "/answer/{c}"),
}  # fmt: skip
"""All that answers to nobody in particular."""
NASTY = (
    "' OR 1=1 --", '"; DROP TABLE users; --', "1); DELETE FROM entries; --", "%' AND password LIKE 'a%",
    "\\'; SELECT pg_sleep(9)--", "${7*7}", "{0.__class__}", "{{7*7}}", "<script>alert(1)</script>", "\u202egnp.exe",
    "a\r\nSet-Cookie: x=1", "../../etc/passwd", "a" * 5000, "\u0000", "\ufffe", "null", "-1", "NaN",
)  # fmt: skip
TRAVERSALS = (
    "../askone.db", "..%2faskone.db", "%2e%2e/%2e%2e/etc/passwd", "..\\..\\x", "..%5c..%5cx", "/etc/passwd",
    "%2fetc%2fpasswd", "....//....//etc/passwd", "js/../../app.py", "style.css%00.html", "..;/x", "CON", "C:/x",
    "%252e%252e%252fetc", ".", "..", "js", "__init__.py",
)  # fmt: skip


async def trickle(size):
    """A body that is not announced."""
    for _ in range(size // 500 + 1):
        yield b"x" * 500


# -- who is it ----------------------------------------------------------------------------------------


def test_nothing_but_a_short_list_answers_without_credentials(site):
    """No route but signing in, invitations, health and pages answers without credentials."""
    assert {(row.method, row.path) for row in ROUTES if row.access.public} == OPEN
    client = site.client()
    for row in ROUTES:
        if not row.access.public:
            assert assert_error(send(client, row), 401) == "unauthorized", row


def test_every_route_of_the_app_is_a_row_of_the_table(site):
    """Nothing can be served past the table: no documentation pages, no routes of libraries."""
    served = {(method, route.path) for route in site.app.routes for method in route.methods - {"HEAD"}}
    assert served == {(row.method, row.path) for row in ROUTES}


def test_there_are_no_default_credentials(site_of):
    """A new server has no account, and no name and password or token lets anybody in."""
    site = site_of(people=False)
    assert site.accounts.users() == []
    client = site.client()
    assert client.get(f"{API}/me").json()["needs_setup"] is True
    for name in ("admin", "root", "askone", "argilla"):
        for password in ("admin", "1234", "password", "askone"):
            assert_error(client.post(f"{API}/login", json={"name": name, "password": password}), 401)


def test_the_set_up_token_works_once(site_of):
    """The first administrator is made by whoever has the printed token, once; only its hash is kept."""
    site = site_of(people=False)
    token = setup_link(site.store).split("#")[1]
    assert token not in dump(site)
    client = site.client()
    body = {"token": "wrong", "name": "ann", "password": PASSWORD}
    assert_error(client.post(f"{API}/setup", json=body), 401)
    assert_error(client.post(f"{API}/setup", json={**body, "token": token, "password": "short"}), 422)
    done = client.post(f"{API}/setup", json={**body, "token": token})
    assert done.json()["user"]["role"] == "admin"
    assert_error(site.client().post(f"{API}/setup", json={**body, "token": token, "name": "eve"}), 409)
    assert setup_link(site.store) is None


def test_a_server_without_an_administrator_stays_on_its_machine(site_of):
    """Without an administrator no other address than loopback is bound."""
    site = site_of(people=False)
    require_admin(site.store, ServerConfig(host="127.0.0.1"))
    with pytest.raises(InvalidArgument, match="administrator"):
        require_admin(site.store, ServerConfig(host="0.0.0.0"))
    site.accounts.add_user("a", "ann", "admin", None)
    require_admin(site.store, ServerConfig(host="0.0.0.0"))
    assert ServerConfig().loopback


def test_secrets_are_kept_as_hashes(site_of, caplog):
    """Passwords, sessions, tokens and invitations are nowhere in the database, the log or errors; a canary each."""
    caplog.set_level(logging.DEBUG)
    site = site_of()
    admin = site.session("admin")
    password = "canary-password-1"
    assert admin.post(f"{API}/users", json={"name": "zoe", "role": "manager", "password": password}).status_code == 201
    client = site.client()
    client.post(f"{API}/login", json={"name": "zoe", "password": password})
    session = client.cookies["askone_session"]
    client.headers["X-CSRF-Token"] = csrf = client.get(f"{API}/me").json()["csrf"]
    token = client.post(f"{API}/tokens", json={"scopes": ["read"]}).json()["token"]
    invitation = admin.post(f"{API}/campaigns/drinks/invitations", json={}).json()["link"].split("#")[1]
    errors = [
        client.post(f"{API}/login", json={"name": "zoe", "password": password + "x", "extra": password}).text,
        client.post(f"{API}/join", json={"invitation": invitation, "name": 7}).text,
        client.get(f"{API}/campaigns", headers={"Authorization": f"Bearer {token}x"}).text,
        client.get(f"{API}/nowhere?token={token}").text,
    ]
    lines = "".join(record.getMessage() for record in caplog.records if not record.name.startswith("http"))
    kept = dump(site) + lines + "".join(errors) + admin.get("/metrics").text
    for secret in (password, session, csrf, token, invitation):
        assert secret not in kept
    assert digest(token) in kept
    assert "$argon2id$" in kept
    assert Passwords()._hasher.type.name == "ID"


def test_tokens_are_found_by_their_beginning_and_expire(site):
    """A token has a prefix that scanners know, an end, and is shown once."""
    client = site.session("manager")
    made = client.post(f"{API}/tokens", json={"title": "t", "scopes": ["read"], "expires_days": 1}).json()
    assert made["token"].startswith("ask1_")
    listed = next(one for one in client.get(f"{API}/tokens").json() if one["id"] == made["id"])
    assert "token" not in listed
    assert 0 < listed["expires"] - time.time() <= 86400
    late = Auth(site.store, site.config, clock=lambda: time.time() + 2 * 86400)
    assert late._by_token(digest(made["token"])) is None
    assert Auth(site.store, site.config)._by_token(digest(made["token"])).id == "manager"


def test_a_token_does_what_its_scopes_allow(site):
    """Each route asks for its scope, and a token cannot make one that allows more."""
    clients = {scope: site.token("admin", scope) for scope in ("read", "answer", "manage")}
    for row in ROUTES:
        for scope, client in clients.items():
            if row.access.scope is not None and scope != row.access.scope:
                assert assert_error(send(client, row), 403) == "forbidden", (row, scope)
    assert_error(clients["read"].post(f"{API}/tokens", json={"scopes": ["manage"]}), 403)
    for row in ROUTES:
        if row.access.session:
            assert_error(send(clients["manage"], row), 403)


def test_revocation_is_immediate(site):
    """A token that is revoked, a session that ends and an account that is gone let nobody in from then on."""
    owner = site.session("manager")
    made = owner.post(f"{API}/tokens", json={"scopes": ["read"]}).json()
    client = site.client(Authorization=f"Bearer {made['token']}")
    assert client.get(f"{API}/campaigns").status_code == 200
    assert owner.delete(f"{API}/tokens/{made['id']}").status_code == 200
    assert_error(client.get(f"{API}/campaigns"), 401)
    admin = site.session("admin")
    user = admin.post(f"{API}/users", json={"name": "brief", "role": "annotator", "password": PASSWORD}).json()["id"]
    guest = site.session(user)
    assert guest.get(f"{API}/campaigns").status_code == 200
    admin.delete(f"{API}/users/{user}")
    assert_error(guest.get(f"{API}/campaigns"), 401)


def test_another_process_revokes_within_seconds(site):
    """What another process of the store revoked is not used longer than remembered."""
    assert ServerConfig().remember_seconds <= 2
    client = site.token("manager", "read")
    assert client.get(f"{API}/campaigns").status_code == 200
    site.accounts.revoke_token(client.token_id, "manager")
    site.services.auth._kept = {mark: (0.0, person) for mark, (_, person) in site.services.auth._kept.items()}
    assert_error(client.get(f"{API}/campaigns"), 401)


def test_a_revocation_during_a_look_up_is_not_forgotten(site):
    """What was looked up before a change is not remembered after it."""
    client, auth = site.token("manager", "read"), site.services.auth
    kept, loaded = auth._by_token, []

    def slow(mark):
        loaded.append(mark)
        person = kept(mark)
        auth.clear_cache()
        return person

    auth._by_token = slow
    try:
        client.get(f"{API}/campaigns")
        assert loaded[0] not in auth._kept
    finally:
        auth._by_token = kept


def test_signing_in_is_rate_limited_by_address_and_account(site_of):
    """Too many failures are told to wait: by address, and by account from any address, however it is spelt."""
    site = site_of(replace(LOOSE, logins=Rates(4, 0.01)))
    wrong = {"name": "admin", "password": "wrong password"}
    client = site.client()
    statuses = [client.post(f"{API}/login", json=wrong).status_code for _ in range(6)]
    assert statuses == [401] * 4 + [429] * 2
    refused = client.post(f"{API}/login", json={**wrong, "name": "other"})
    assert int(refused.headers["Retry-After"]) > 1
    for spelling in ("ADMIN", " admin", "admin ", "\uff41\uff44\uff4d\uff49\uff4e"):
        site.services.limiters["logins"] = RateLimiter(Rates(10_000, 1000.0))  # as if from other addresses
        assert client.post(f"{API}/login", json={**wrong, "name": spelling}).status_code == 429


def test_signing_in_rightly_counts_for_nothing(site_of):
    """A classroom behind one address signs in; at the same time, too."""
    site = site_of(replace(LOOSE, logins=Rates(4, 0.001)))
    rightly = {"name": "annotator", "password": PASSWORD}
    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(site.client().post, f"{API}/login", json=rightly) for _ in range(3)]
        assert [one.result().status_code for one in tries] == [200] * 3
        people = ("admin", "manager", "annotator", "other", "stranger") * 4
        for start in range(0, len(people), 5):
            bodies = [{"name": name, "password": PASSWORD} for name in people[start : start + 5]]
            tries = [pool.submit(site.client().post, f"{API}/login", json=body) for body in bodies]
            assert [one.result().status_code for one in tries] == [200] * 5


def test_guesses_at_the_same_time_are_limited_as_well(site_of):
    """Of many guesses at many names at once, no more are looked at than one after the other."""
    site = site_of(replace(LOOSE, logins=Rates(4, 0.001)))
    with ThreadPoolExecutor(32) as pool:
        bodies = [{"name": f"somebody {n}", "password": "wrong password"} for n in range(32)]
        tries = [pool.submit(site.client().post, f"{API}/login", json=body) for body in bodies]
        statuses = [one.result().status_code for one in tries]
    assert set(statuses) == {401, 429}
    assert statuses.count(401) <= 4 + 2  # two hashes are compared at a time


def test_addresses_of_one_network_count_as_one(site_of):
    """Whoever has an IPv6 network has 2^64 addresses, each of which can be written in several ways."""
    site = site_of(replace(LOOSE, logins=Rates(4, 0.001)))
    hosts = [f"2001:db8:0:7::{n:x}" for n in range(4)] + ["2001:0DB8::7:0:0:0:9", "2001:db8:0:7:ffff:ffff::"]
    statuses = []
    for n, host in enumerate([*hosts, "2001:db8:0:8::1"]):
        transport = httpx.ASGITransport(site.app, client=(host, 1))
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        statuses.append(site.run(client.post(f"{API}/login", json={"name": f"n{n}", "password": "?"})).status_code)
    assert statuses == [401] * 4 + [429] * 2 + [401]


def test_nobody_is_shut_out_by_failures_at_their_address(site_of):
    """Bad cookies, tokens and invitations run into a limit; valid ones of the same address do not."""
    site = site_of(replace(LOOSE, failures=Rates(5, 0.001), logins=Rates(5, 0.001)))
    link = ok(site.session("manager").post(f"{API}/campaigns/drinks/invitations", json={"title": ""}), 201)["link"]
    for n in range(9):
        bad = site.client(Cookie=f"askone_session=guess{n}").get(f"{API}/campaigns")
        assert assert_error(bad, 401 if n < 5 else 429)
    assert_error(site.client(Authorization="Bearer ask1_guess").get(f"{API}/campaigns"), 429)
    for n in range(9):
        assert_error(site.client().post(f"{API}/join", json={"invitation": f"guess{n}"}), 401 if n < 5 else 429)
    for client in (site.session("annotator"), site.token("annotator")):
        ok(client.get(f"{API}/campaigns"))
        ok(client.post(f"{API}/campaigns/drinks/next", json={}))
    stale = site.client(Cookie="askone_session=from-last-week")
    assert ok(stale.get(f"{API}/me"))["user"] is None
    for client in (stale, site.client(), site.session("stranger")):
        ok(client.post(f"{API}/join", json={"invitation": link.split("#")[1]}))


def test_a_classroom_joins_from_one_address(site_of):
    """With the limits of a server as it comes."""
    site = site_of(ServerConfig(store_patience=5.0))
    made = site.session("manager").post(f"{API}/campaigns/drinks/invitations", json={"most_uses": 300})
    secret = ok(made, 201)["link"].split("#")[1]
    with ThreadPoolExecutor(16) as pool:
        tries = [pool.submit(site.client().post, f"{API}/join", json={"invitation": secret}) for _ in range(300)]
        assert {one.result().status_code for one in tries} == {200}


def test_guessing_tokens_and_invitations_is_rate_limited(site_of):
    """Wrong tokens, sessions and invitations run into a limit as well."""
    site = site_of(replace(LOOSE, failures=Rates(5, 0.01), logins=Rates(5, 0.01)))
    client = site.client()
    statuses = [
        client.get(f"{API}/campaigns", headers={"Authorization": f"Bearer ask1_{n}"}).status_code for n in range(9)
    ]
    assert statuses == [401] * 5 + [429] * 4
    joins = [client.post(f"{API}/join", json={"invitation": f"guess{n}"}).status_code for n in range(8)]
    assert joins == [401] * 5 + [429] * 3


def test_unknown_names_and_wrong_passwords_look_and_last_alike(site_of):
    """Nobody learns who has an account: the same words, and the same work is done."""
    site = site_of()
    hashed = []

    class Counting:
        def hash(self, password):
            return QUICK.hash(password)

        def verify(self, kept, password):
            hashed.append(kept[:9])
            return QUICK.verify(kept, password)

    object.__setattr__(site.services, "passwords", Passwords(Counting()))
    client = site.client()
    site.accounts.add_user("silent", "silent", "annotator", None)
    answers = [
        client.post(f"{API}/login", json={"name": n, "password": "wrong word"}) for n in ("admin", "no", "silent")
    ]
    assert len({answer.text for answer in answers}) == 1
    assert {answer.status_code for answer in answers} == {401}
    assert hashed == ["$argon2id"] * 3


def test_cookies_are_out_of_reach(site_of):
    """Session cookies are HttpOnly and SameSite=Strict, Secure under TLS, and new at each login."""
    site = site_of(replace(LOOSE, public_url="https://ask.example"))
    client, body = site.client(), {"name": "admin", "password": PASSWORD}
    first = client.post(f"{API}/login", json=body)
    cookie = first.headers["set-cookie"].lower()
    for flag in ("httponly", "samesite=strict", "secure", "path=/", "max-age="):
        assert flag in cookie
    assert "domain" not in cookie
    assert first.headers["strict-transport-security"].startswith("max-age=")
    old = first.headers["set-cookie"].split(";")[0].split("=")[1]
    again = client.post(f"{API}/login", json=body, headers={"Cookie": f"askone_session={old}"})
    assert again.headers["set-cookie"].split(";")[0].split("=")[1] != old
    assert_error(site.client(Cookie=f"askone_session={old}").get(f"{API}/campaigns"), 401)


def test_logging_out_ends_the_session_here(site):
    """A cookie that somebody kept is worth nothing after logout, or after a login that replaced it."""
    client = site.client()
    client.post(f"{API}/login", json={"name": "manager", "password": PASSWORD})
    kept = client.cookies["askone_session"]
    client.headers["X-CSRF-Token"] = csrf_token(kept)
    assert client.get(f"{API}/campaigns").status_code == 200
    assert client.post(f"{API}/logout", json={}).status_code == 200
    client.cookies.set("askone_session", kept)
    assert_error(client.get(f"{API}/campaigns"), 401)


def test_a_new_password_ends_other_sessions(site):
    """After a change of password only the one who changed it stays signed in."""
    user = site.session("admin").post(f"{API}/users", json={"name": "pia", "role": "manager", "password": PASSWORD})
    mine, other = site.session(user.json()["id"]), site.session(user.json()["id"])
    assert_error(mine.post(f"{API}/me/password", json={"old": "not it at all", "new": PASSWORD + "2"}), 403)
    assert mine.post(f"{API}/me/password", json={"old": PASSWORD, "new": PASSWORD + "2"}).status_code == 200
    assert_error(other.get(f"{API}/campaigns"), 401)
    assert mine.get(f"{API}/campaigns").status_code == 200


def test_there_is_no_key_to_leak(site):
    """Sessions and tokens are random and looked up; nothing is signed, so that no key can be known or short."""
    source = "".join(path.read_text() for path in Path(application.__file__).parent.rglob("*.py"))
    assert not re.search(r"(?i)secret_key\s*=|signing_key|jwt", source)
    assert len({new_secret() for _ in range(100)}) == 100


def test_sign_up_is_closed_and_invitations_are_narrow(site):
    """An invitation makes an annotator of one campaign, until it ends, is used up or revoked; a hash is kept."""
    manager = site.session("manager")
    made = manager.post(f"{API}/campaigns/drinks/invitations", json={"expires_hours": 1, "most_uses": 2}).json()
    secret = made["link"].split("#")[1]
    assert secret not in dump(site)
    assert "secret" not in json.dumps(manager.get(f"{API}/campaigns/drinks/invitations").json())
    guest = site.client()
    joined = guest.post(f"{API}/join", json={"invitation": secret, "name": "gus"}).json()
    assert joined["campaign"] == "drinks"
    assert joined["user"]["role"] == "annotator"
    assert [one["role"] for one in joined["campaigns"]] == ["annotator"]
    assert_error(guest.get(f"{API}/campaigns/prices/brief"), 404)
    assert site.client().post(f"{API}/join", json={"invitation": secret}).status_code == 200
    assert_error(site.client().post(f"{API}/join", json={"invitation": secret}), 401)
    other = manager.post(f"{API}/campaigns/drinks/invitations", json={}).json()
    assert manager.delete(f"{API}/campaigns/drinks/invitations/{other['id']}").status_code == 200
    assert_error(site.client().post(f"{API}/join", json={"invitation": other["link"].split("#")[1]}), 401)
    past = new_secret()
    site.accounts.add_invitation("i-past", digest(past), "drinks", time.time() - 1, 5, "")
    assert_error(site.client().post(f"{API}/join", json={"invitation": past}), 401)


# -- may they -----------------------------------------------------------------------------------------


def test_roles_by_routes_by_campaigns(site):
    """Every route that names a campaign: outsiders are told there is none, annotators may only answer."""
    people = {name: site.token(name) for name in PEOPLE}
    for row in (row for row in ROUTES if row.access.campaign_role is not None):
        for name in ("other", "stranger"):
            assert assert_error(send(people[name], row), 404) == "not_found", (row.path, name)
        for name in ("manager", "annotator"):
            assert assert_error(send(people[name], row, "prices"), 404) == "not_found", (row.path, name)
        for name in people:
            assert assert_error(send(people[name], row, "no-such"), 404) == "not_found", (row.path, name)
        if row.access.campaign_role == "manager":
            assert assert_error(send(people["annotator"], row), 403) == "forbidden", row.path


def test_roles_by_other_routes(site):
    """Accounts are the administrators', uploads and new campaigns the managers'."""
    for row in ROUTES:
        if row.access.campaign_role is None and row.access.least_role in ("manager", "admin"):
            assert_error(send(site.token("annotator"), row), 403)
            if row.access.least_role == "admin":
                assert_error(send(site.token("manager"), row), 403)


def test_ids_of_others_lead_nowhere(site, tmp_path):
    """Tokens, invitations, webhooks, uploads and leases of others: as if there were none, undo included."""
    other, manager = site.session("other"), site.session("manager")
    token = other.post(f"{API}/tokens", json={"scopes": ["read"]}).json()["id"]
    assert_error(manager.delete(f"{API}/tokens/{token}"), 404)
    invitation = other.post(f"{API}/campaigns/prices/invitations", json={}).json()["id"]
    assert_error(manager.delete(f"{API}/campaigns/drinks/invitations/{invitation}"), 404)
    site.accounts.add_webhook("w-other", "prices", "https://example.org/", "s", ("answer",))
    assert_error(manager.delete(f"{API}/campaigns/drinks/webhooks/w-other"), 404)
    upload = other.post(f"{API}/uploads", content=b"a,b\n1,2\n3,4\n", headers={"X-File-Name": "t.csv"}).json()["upload"]
    for action, body in (("preview", {"settings": {}}), ("forecast", {"settings": {}})):
        assert_error(manager.post(f"{API}/uploads/{upload}/{action}", json=body), 404)
    assert_error(manager.post(f"{API}/campaigns/drinks/rows", json={"upload": upload}), 404)
    settings = {"title": "T", "labels": {"kind": "number"}}
    assert_error(manager.post(f"{API}/campaigns", json={"settings": settings, "upload": upload}), 404)
    assert len(site.accounts.invitations("prices")) >= 1
    assert len(site.accounts.webhooks("prices")) == 1
    site.accounts.remove_webhook("w-other", "prices")


def test_a_lease_is_one_person_s(site):
    """A lease is not to be guessed, bound to its person and single-use; a replay gives the first result."""
    one, two = site.token("annotator"), site.token("manager")
    mine = site.question(one)
    assert len(mine["lease"]) >= 20
    body = {"lease": mine["lease"], "answer": True, "id": "lease-1"}
    assert assert_error(two.post(f"{API}/campaigns/drinks/answers", json=body), 409) == "lease_lost"
    assert_error(two.post(f"{API}/campaigns/drinks/skips", json={"lease": mine["lease"], "id": "x-1"}), 409)
    flagged = {"lease": mine["lease"], "id": "x-2", "reason": "odd"}
    assert_error(two.post(f"{API}/campaigns/drinks/flags", json=flagged), 409)
    first = one.post(f"{API}/campaigns/drinks/answers", json=body)
    again = one.post(f"{API}/campaigns/drinks/answers", json=body)
    assert (first.json()["duplicate"], again.json()["duplicate"]) == (False, True)
    assert first.json()["mine"] == again.json()["mine"]
    assert_error(one.post(f"{API}/campaigns/drinks/answers", json={**body, "id": "lease-2"}), 409)


def test_whoever_answers_sees_no_gold_no_scores_and_nobody_else(site):
    """What annotators get has a fixed set of fields; known labels, predictions and names of others are not there."""
    fields = {
        "state", "mine", "left", "undoable", "duplicate", "question", "ahead", "yes", "no", "lease", "number",
        "expires_in", "kind", "sentence", "answers", "threshold", "range", "low", "high", "set", "pair", "row",
        "fields", "image", "shown", "unit", "name", "side", "value", "right", "template", "title",
        "privacy", "bag",
    }  # fmt: skip

    def names(value):
        if isinstance(value, dict):
            yield from value
            for part in value.values():
                yield from names(part)
        elif isinstance(value, list):
            for part in value:
                yield from names(part)

    client = site.token("stranger")
    texts = [client.get(f"{API}/campaigns/prices/brief").text, client.get(f"{API}/campaigns").text]
    shown = client.post(f"{API}/campaigns/prices/next", json={})
    for n in range(25):
        assert set(names(shown.json())) <= fields
        texts.append(shown.text)
        if shown.json()["question"] is None:
            break
        body = {"lease": shown.json()["question"]["lease"], "answer": n % 2 == 0, "id": f"gold-{n}"}
        shown = client.post(f"{API}/campaigns/prices/answers", json=body)
    for text in texts:
        assert CANARY not in text
        assert '"known"' not in text
        assert not re.search(r"\br\d+\b", text), "neither where a row stands nor its key"
        assert not re.search(r'"(gold|role_|exam|score|probability|prediction|std|density)"', text)
        assert "other" not in text


def test_parameters_are_allow_listed(site):
    """There is no parameter to sort or filter by a column of our own: unknown ones are refused or change nothing."""
    client = site.token("admin")
    for row in ROUTES:
        if row.method == "GET" and row.path.startswith("/api"):
            for query in ("sort=password", "user__token__startswith=a", "order_by=secret", "fields=password_hash"):
                response = client.get(f"{path_of(row)}?{query}")
                assert response.status_code == 422 if row.query else response.status_code in (200, 404), row
                assert "argon2" not in response.text
    assert_error(client.get(f"{API}/campaigns/drinks/export/answers?format=pickle"), 422)
    assert_error(client.get(f"{API}/campaigns/drinks/predictions?first=5&first=6"), 422)


# -- other sites --------------------------------------------------------------------------------------


def test_unsafe_requests_by_cookie_need_the_second_secret_and_come_from_here(site):
    """Cross-site request forgery: without the token, with a wrong one, or from elsewhere, nothing happens."""
    client = site.session("admin")
    for row in ROUTES:
        if row.method == "GET" or row.access.public:
            continue
        for headers in ({"X-CSRF-Token": ""}, {"X-CSRF-Token": "0" * 64}):
            response = client.request(row.method, path_of(row), json=body_of(row), headers=headers)
            assert assert_error(response, 403) == "csrf", row
        for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://localhost:1"):
            response = client.request(row.method, path_of(row), json=body_of(row), headers={"Origin": origin})
            assert assert_error(response, 403) == "forbidden", row
    assert client.post(f"{API}/tokens", json={"scopes": ["read"]}).status_code == 201


def test_other_sites_cannot_sign_anybody_in(site):
    """Login, set-up and joining are refused from another origin, and to what forms can send."""
    client = site.client()
    for path in ("login", "setup", "join"):
        response = client.post(f"{API}/{path}", json={}, headers={"Origin": "https://evil.example"})
        assert_error(response, 403)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            text = json.dumps({"name": "admin", "password": PASSWORD, "token": "x", "invitation": "x"})
            response = client.post(f"{API}/{path}", content=text, headers={"Content-Type": kind})
            assert response.status_code == 422


def test_other_origins_are_not_let_in(site):
    """No response allows another origin, preflight or not."""
    client = site.session("admin")
    for row in ROUTES:
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": row.method}
        for method in ("OPTIONS", "GET"):
            response = client.request(method, path_of(row), headers=asked)
            assert not [name for name in response.headers if name.startswith("access-control")]


def test_every_response_has_the_headers(site, monkeypatch):
    """Content policy, nosniff, no framing, no referrer: on pages, API, redirects of none, and all errors."""
    client, admin = site.client(), site.session("admin")
    responses = [
        client.get("/"), client.get("/static/nothing.js"), client.get("/nowhere"), client.put(f"{API}/me"),
        client.get(f"{API}/me"), client.get(f"{API}/campaigns"), admin.get(f"{API}/campaigns"),
        client.post(f"{API}/login", content=b"{"), client.post(f"{API}/login", content=b"x" * 300_000),
        client.get("/health/live"), client.get("/", headers={"Host": "evil.example"}),
        admin.get(f"{API}/campaigns/drinks/export/log"), client.get("/health/live/"),
    ]  # fmt: skip
    monkeypatch.setattr(type(site.store), "campaigns", lambda self: 1 / 0)
    responses.append(admin.get(f"{API}/campaigns"))
    assert {response.status_code for response in responses} >= {200, 401, 404, 405, 413, 421, 422, 500}
    for response in responses:
        assert response.headers.get_list("content-security-policy") == [POLICY], response
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["x-frame-options"] == "DENY"
        assert "cache-control" in response.headers
        assert "server" not in response.headers
        if response.status_code >= 400:
            assert_error(response, response.status_code)
    assert "unsafe" not in POLICY
    assert "frame-ancestors 'none'" in POLICY


def test_what_breaks_says_nothing_of_itself(site, monkeypatch):
    """An error within is told without its words, its place or its values."""
    admin = site.session("admin")

    def broken(self):
        raise RuntimeError("password=hunter2 at /srv/secret.py")

    monkeypatch.setattr(type(site.store), "campaigns", broken)
    response = admin.get(f"{API}/campaigns")
    assert assert_error(response, 500) == "internal"
    assert "hunter2" not in response.text
    assert "Traceback" not in response.text


ODD = (
    "127.0.0.1:8701@evil.example", "127.0.0.1:@evil", "localhost:8000/evil", "localhost:80:80", "[::1]evil",
    "[::1]:80@evil", "localhost evil", "localhost#evil", "localhost:123456",
)  # fmt: skip


def test_hosts_are_names_even_where_any_is_welcome(site_of):
    """What is made of the host, such as the link of an invitation, leads nowhere else."""
    site = site_of(replace(LOOSE, host="0.0.0.0"))
    assert site.client().get(f"{API}/me", headers={"Host": "any.example:8000"}).status_code == 200
    for host in ODD:
        assert_error(site.client().get(f"{API}/me", headers={"Host": host}), 421)


def test_other_hosts_are_refused(site):
    """A name that somebody points at this address is not answered: no rebinding."""
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "", "127.0.0.1.nip.io", *ODD):
        assert assert_error(site.client().get(f"{API}/me", headers={"Host": host}), 421) == "unknown_host"
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert site.client().get(f"{API}/me", headers={"Host": host}).status_code == 200


# -- addresses and files ------------------------------------------------------------------------------

INWARD = (
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::", "2001:0:7f00:1::", "::127.0.0.1", "ff02::1", "2001:db8::1",
    "192.0.0.9", "192.0.0.192", "192.88.99.1", "::ffff:192.88.99.1", "fec0::1", "2001:20::1", "3fff::1", "5f00::1",
    "100::1", "4000::1",
)  # fmt: skip


def test_webhooks_are_off_unless_turned_on(site):
    """Nothing is sent anywhere by default, and no address of a store can be given through the API."""
    assert ServerConfig().webhooks is False
    client = site.session("manager")
    hook = {"url": "https://example.org/", "events": ["answer"]}
    assert_error(client.post(f"{API}/campaigns/drinks/webhooks", json=hook), 422)
    fields = {name for row in ROUTES if row.body is not None for name in row.body.model_fields}
    assert not fields & {"database", "dsn", "store", "bucket", "endpoint", "path", "file"}
    assert {row.body.__name__ for row in ROUTES if row.body is not None and "url" in row.body.model_fields} == {
        "NewWebhook"
    }


@pytest.mark.parametrize("address", INWARD)
def test_webhooks_do_not_lead_inward(address):
    """Private, local, link-local, metadata, mapped and carried addresses are refused, by name and as written."""
    config = replace(ServerConfig(), webhooks=True)
    assert not is_public(address)
    with pytest.raises(InvalidArgument, match="public internet"):
        resolve("https://innocent.example/hook", config, lambda host, port: [address])
    with pytest.raises(InvalidArgument, match="public internet"):
        resolve("https://innocent.example/hook", config, lambda host, port: ["93.184.215.14", address])
    written = f"[{address}]" if ":" in address else address
    with pytest.raises(InvalidArgument, match="public internet"):
        resolve(f"https://{written}/hook", config)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "https://",
        "https://example.org:22/", "https://example.org:0/", "https://u:p@example.org/", "https://u@example.org/",
        "https://example.org\\@127.0.0.1/", "https://127.0.0.1#@example.org/", "https://exa mple.org/",
        "https://exämple.org/", "https://[::1/", "//example.org/", "https://metadata.google.internal/",
        "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/", "https://127.1/", "https://localhost/",
        "https://localhost./", "https://example.org:99999/", "javascript:alert(1)", "https://example.org/\r\nX: y",
    ],
)  # fmt: skip
def test_webhooks_take_no_odd_addresses(url):
    """Schemes, ports, user names, tricks of spelling: refused before or after they are looked up."""

    def local(host, port):
        if host.startswith(("0x7f", "2130706433", "0177", "127.", "localhost")):
            return ["127.0.0.1"]
        raise OSError("unknown")

    with pytest.raises(InvalidArgument):
        resolve(url, replace(ServerConfig(), webhooks=True), local)


def test_paths_lead_nowhere_else(site):
    """No path of pages, pictures, exports or uploads leaves its place."""
    client = site.session("admin")
    for nasty in TRAVERSALS:
        for path in (
            f"/static/{nasty}", f"{API}/campaigns/drinks/rows/{nasty}/image", f"{API}/campaigns/{nasty}/export/log",
            f"{API}/campaigns/drinks/export/{nasty}", f"/answer/{nasty}/x", f"{API}/uploads/{nasty}/preview",
        ):  # fmt: skip
            response = client.get(path, raw=True)
            assert response.status_code in (404, 405, 422), (path, response.text)
            assert "root:" not in response.text
            assert "SQLite" not in response.text
        response = client.post(f"{API}/uploads/{nasty}/preview", raw=True, json={"settings": {}})
        assert response.status_code in (404, 405), nasty


def test_names_of_uploads_are_not_used_for_paths(site):
    """A file is kept under a name of our own, readable by nobody else, whatever its sender calls it."""
    client = site.session("manager")
    for nasty in (
        "../../evil.csv",
        "..%2f..%2fevil.csv",
        "C:\\evil.csv",
        "a%0d%0ab.csv",
        "%00.csv",
        "x" * 999 + ".csv",
    ):
        response = client.post(f"{API}/uploads", content=b"a,b\n1,2\n3,4\n", headers={"X-File-Name": nasty})
        assert response.status_code in (201, 422), response.text
    folder = site.config.directory
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert files
    for file in files:
        assert re.fullmatch(r"[A-Za-z0-9_-]+\.(csv|note|zip|json)", file.name)
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 or file.suffix == ".note"
    assert not list(folder.parent.glob("evil*"))
    assert plain_title("..%2F..%5Cevil%00.csv") == "evil.csv"
    for bad in ("x.exe", "x.html", "x.svg", "x", "x.csv.php"):
        with pytest.raises(Exception, match="must end in"):
            suffix_of(bad)


def test_files_that_do_not_arrive_whole_are_removed(site):
    """Too large, empty, or no table: nothing stays behind."""
    client, folder = site.session("manager"), site.config.directory
    before = set(folder.iterdir())
    assert_error(client.post(f"{API}/uploads", content=b"", headers={"X-File-Name": "t.csv"}), 422)
    assert_error(client.post(f"{API}/uploads", content=b"PK\x03\x04xx", headers={"X-File-Name": "t.csv"}), 422)
    assert_error(client.post(f"{API}/restore", content=b"PK\x03\x04xx"), 422)
    assert set(folder.iterdir()) == before


def test_downloads_are_named_by_us(site):
    """No part of a header is a sender's text; what is downloaded is not opened in the page."""
    client = site.session("admin")
    for path in ("answers", "log", "backup", "model"):
        response = client.get(f"{API}/campaigns/drinks/export/{path}")
        assert response.status_code == 200, response.text
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', response.headers["content-disposition"])
        assert "html" not in response.headers["content-type"]


# -- too much -----------------------------------------------------------------------------------------


def test_bodies_end(site_of):
    """A body beyond its limit is refused, announced or not, and nothing of it is kept."""
    site = site_of(replace(LOOSE, body_bytes=1000, upload_bytes=5000))
    client = site.session("admin")
    for row in ROUTES:
        if row.method in ("POST", "PATCH") and (row.body is not None or row.raw):
            sizes = 6000 if row.raw else 1001
            parts = {"u": "unknown-upload"}
            for content in (b"x" * sizes, trickle(sizes)):
                headers = {"Content-Type": "application/json", "X-File-Name": "t.csv"}
                response = client.request(row.method, path_of(row, **parts), content=content, headers=headers)
                assert assert_error(response, 413) == "too_large", (row, response.text)
    response = client.post(f"{API}/login", content=b"{}", headers={"Content-Length": "9" * 30})
    assert response.status_code in (400, 413)


def test_json_that_is_deep_or_odd_is_refused(site):
    """Deep nesting, other encodings, doubled keys, huge numbers: an error that names no internals."""
    client = site.session("admin")
    for text in (
        b"[" * 50_000, b'{"a":' * 50_000, b"\xff\xfe{\x00}\x00", b'{"scopes": ["read"], "expires_days": 1e999}',
        b'{"scopes": ["read"], "expires_days": NaN}', b"null", b"[]", b'"x"', b'{"scopes":["read"],"title":"\\ud800"}',
    ):  # fmt: skip
        assert_error(client.post(f"{API}/tokens", content=text, headers={"Content-Type": "application/json"}), 422)
    settings = {"a": 1}
    for _ in range(90):
        settings = {"a": settings}
    response = client.post(f"{API}/uploads/none/preview", json={"settings": settings})
    assert response.status_code == 422


def test_answers_have_a_pace(site_of):
    """Nobody sends more than their rate; others are not held up by it."""
    site = site_of(replace(LOOSE, answers=Rates(5, 0.01)))
    one, two = site.token("annotator"), site.token("manager")
    statuses = [one.post(f"{API}/campaigns/drinks/next", json={}).status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    assert two.post(f"{API}/campaigns/drinks/next", json={}).status_code == 200


def test_lists_have_a_most(site):
    """No query asks for everything at once, no person holds leases without end."""
    client = site.session("admin")
    assert_error(client.get(f"{API}/campaigns/prices/predictions?first=100000"), 422)
    assert_error(client.get(f"{API}/campaigns/prices/predictions?keys=" + ",".join("k" * 1 for _ in range(200))), 422)
    assert_error(client.post(f"{API}/campaigns/prices/leases/renew", json={"leases": ["x"] * 17}), 422)
    person = site.token("annotator")
    leases = {site.question(person)["lease"] for _ in range(10)}
    assert len(leases) == 1


def test_uploads_have_a_most(site_of):
    """Nobody fills the disk with files that wait."""
    site = site_of(replace(LOOSE, uploads_per_person=2))
    client = site.session("manager")
    for _ in range(2):
        sent = client.post(f"{API}/uploads", content=b"a,b\n1,2\n3,4\n", headers={"X-File-Name": "t.csv"})
        assert sent.status_code == 201, sent.text
    assert_error(client.post(f"{API}/uploads", content=b"a\n1\n", headers={"X-File-Name": "t.csv"}), 409)


def test_uploads_at_the_same_time_have_the_same_most(site_of):
    """All of them begin before any of them ends."""
    site = site_of(replace(LOOSE, uploads_per_person=2))
    clients, begun, go = [site.session("manager") for _ in range(6)], [], threading.Event()

    async def slowly():
        yield b"a,b\n"
        begun.append(1)
        while not go.is_set():
            await asyncio.sleep(0.01)
        yield b"1,2\n"

    def send(client):
        response = client.post(f"{API}/uploads", content=slowly(), headers={"X-File-Name": "t.csv"})
        begun.append(response.status_code)
        return response.status_code

    with ThreadPoolExecutor(6) as pool:
        tries = [pool.submit(send, client) for client in clients]
        while len(begun) < 6:
            time.sleep(0.01)
        go.set()
        statuses = sorted(one.result() for one in tries)
    assert statuses == [201] * 2 + [409] * 4
    assert len(list(site.config.directory.iterdir())) == 2 * 2  # a file and a note each; nothing of the others


# -- injection ----------------------------------------------------------------------------------------


def test_statements_in_texts_stay_texts(site_of):
    """A corpus of injections in every text of every route: no error within, no table touched."""
    site = site_of()
    client = site.session("admin")
    before = [user.id for user in site.accounts.users()], site.store.head("drinks"), len(site.store.campaigns())
    for nasty in NASTY:
        text = nasty.encode("utf-8", "replace").decode()
        quoted = "".join(f"%{byte:02x}" for byte in text.encode())
        for row in ROUTES:
            if row.path == f"{API}/me" and row.method == "DELETE":
                continue
            if "{" in row.path and "path:path" not in row.path:
                for name in re.findall(r"{(\w+)}", row.path):
                    assert send(client, row, **{name: quoted}).status_code < 500, (row, nasty)
            if row.body is not None and row.access.campaign_role is None and row.path != f"{API}/logout":
                sent = {key: nasty if isinstance(value, str) else value for key, value in body_of(row).items()}
                response = client.request(row.method, path_of(row), json=sent)
                assert response.status_code < 500, (row, nasty, response.text)
            if row.query is not None:
                for name in row.query.model_fields:
                    assert client.get(path_of(row), params={name: nasty}).status_code < 500, (row, nasty)
    added = {user.id for user in site.accounts.users()} - set(before[0])
    assert all(site.accounts.user(one).role == "annotator" for one in added)
    assert (site.store.head("drinks"), len(site.store.campaigns())) == before[1:]
    assert site.accounts.user("admin") is not None


def test_statements_are_not_built_from_texts():
    """The server writes no SQL at all."""
    for path in Path(application.__file__).parent.rglob("*.py"):
        assert not re.search(r"\b(SELECT|INSERT INTO|UPDATE .* SET|DELETE FROM)\b", path.read_text()), path


def test_the_log_is_ours(site, caplog):
    """A line for each request: JSON, without path, query, address, name or anything that a sender wrote."""
    caplog.set_level(logging.INFO, logger="askone.access")
    client = site.session("admin")
    paths = ('/x%0d%0a{"status":200}', "/static/a%0ab", f"{API}/campaigns/secret-name", "/nowhere?token=hunter2")
    for path in paths:
        client.get(path, headers={"User-Agent": "evil\tagent", "Referer": "http://x/hunter2"})
    client.request("EVIL", "/")
    lines = [record.getMessage() for record in caplog.records if record.name == "askone.access"]
    assert len(lines) == 5
    for line in lines:
        assert "\n" not in line
        assert set(json.loads(line)) == {"at", "method", "route", "status", "ms"}
        assert not re.search("hunter2|secret-name|evil|EVIL|localhost|testclient|admin", line)
    assert json.loads(lines[2])["route"] == f"{API}/campaigns/{{c}}"


def test_metrics_name_nobody(site):
    """Numbers are for managers; they name neither people nor campaigns."""
    assert_error(site.token("annotator").get("/metrics"), 403)
    site.token("admin").get(f"{API}/campaigns/drinks")
    text = site.token("manager", "read").get("/metrics").text
    assert 'route="/api/v1/campaigns/{c}"' in text
    assert not re.search("drinks|prices|annotator|stranger", text)


def test_my_data_is_deleted(site):
    """Who leaves is gone: name, password, sessions, tokens; the log keeps an id that leads nowhere."""
    manager = site.session("manager")
    link = manager.post(f"{API}/campaigns/drinks/invitations", json={}).json()["link"]
    guest = site.client()
    joined = guest.post(f"{API}/join", json={"invitation": link.split("#")[1], "name": "Wilhelmina Canary"}).json()
    guest.headers["X-CSRF-Token"] = joined["csrf"]
    question = site.question(guest)
    guest.post(f"{API}/campaigns/drinks/answers", json={"lease": question["lease"], "answer": True, "id": "w-1"})
    assert "Wilhelmina Canary" in dump(site)
    assert guest.delete(f"{API}/me").status_code == 200
    assert "Wilhelmina Canary" not in dump(site)
    assert_error(guest.get(f"{API}/campaigns"), 401)
    assert joined["user"]["id"] in {one["id"] for one in manager.get(f"{API}/campaigns/drinks/people").json()}


def test_somebody_administers(site):
    """The last administrator can neither leave nor be made less."""
    admin = site.session("admin")
    assert assert_error(admin.delete(f"{API}/me"), 409) == "last_admin"
    assert assert_error(admin.patch(f"{API}/users/admin", json={"role": "manager"}), 409) == "last_admin"
    assert assert_error(admin.delete(f"{API}/users/admin"), 409) == "last_admin"


def test_parts_of_paths_are_narrow():
    """What a path may hold: nothing that means something to a file system, a shell or a query."""
    for name, pattern in PARTS.items():
        for nasty in (
            "..",
            "../x",
            "a/b",
            "a\\b",
            "a b",
            "a%2f",
            "a'b",
            "a\n",
            "",
            "é",
            ".hidden",
            "-rf" if name == "c" else "..",
        ):
            assert not re.fullmatch(pattern, nasty), (name, nasty)
