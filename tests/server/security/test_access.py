"""Who may do what to whose: every route, every kind of person, with ids that exist.

``MATRIX`` names every route of the table; one that is added without a line here fails.  All objects (invitation,
webhook, upload, lease, account ...) are made for the request, those of "prices" by its own people, so that a refusal
is never a refusal of an id that leads nowhere: who may gets what was refused to the others.
"""

import hmac
import itertools
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import AsyncMock

import pytest

from askone.campaign.create import create_campaign
from askone.campaign.output.backup import backup_chunks
from askone.campaign.settings.settings import AskSettings, ClassNames, QuestionSettings, Settings
from askone.campaign.tables.open import open_table
from askone.server.app import ROUTES
from askone.server.security import tokens
from askone.server.security.passwords import Passwords
from askone.server.security.tokens import TOKEN, digest, new_secret
from askone.store._database import Session
from calling import API, assert_error, body_of, dump, image, path_of
from sites import DRINKS, PASSWORD, QUICK, Site, ok, shades

PEOPLE = ("nobody", "annotator", "manager", "stranger", "other", "admin")
"""Nobody in particular; two of the campaign drinks; two of prices, whose things are asked for; the administrator."""
ANSWERING = "401 404 404 ok ok ok"
MANAGING = "401 404 404 403 ok ok"
MAKING = "401 403 ok 403 ok ok"
UPLOADED = "401 403 404 403 ok 404"
OWNED = "401 404 404 404 ok 404"
RULING = "401 403 403 403 403 ok"
SIGNED_IN = "401 ok ok ok ok ok"
ANYBODY = "ok ok ok ok ok ok"
SET_UP_ALREADY = "409 409 409 409 409 409"
C, OUT = f"{API}/campaigns/{{c}}", f"{API}/campaigns/{{c}}/export"
PAGES = ("/", "/setup", "/login", "/join", "/account", "/manage", "/manage/new", "/manage/{c}", "/answer/{c}")
MATRIX = {
    **{f"POST {C}/{verb}": ANSWERING for verb in ("answers", "bags", "next", "skips", "flags", "undo")},
    f"POST {C}/leases/renew": ANSWERING,
    f"POST {C}/leases/release": ANSWERING,
    f"GET {C}/brief": ANSWERING,
    f"GET {C}/leases/{{lease}}/image": ANSWERING,
    f"GET {C}/examples/{{position}}/image": ANSWERING,
    f"GET {C}/rows/{{position}}/image": MANAGING,
    f"GET {API}/me": ANYBODY,
    f"POST {API}/setup": SET_UP_ALREADY,
    f"POST {API}/login": ANYBODY,
    f"POST {API}/join": ANYBODY,
    f"POST {API}/invited": ANYBODY,
    f"POST {API}/logout": SIGNED_IN,
    f"POST {API}/me/password": SIGNED_IN,
    f"DELETE {API}/me": SIGNED_IN,
    f"GET {API}/tokens": SIGNED_IN,
    f"POST {API}/tokens": SIGNED_IN,
    f"DELETE {API}/tokens/{{id}}": OWNED,
    f"GET {API}/users": RULING,
    f"POST {API}/users": RULING,
    f"PATCH {API}/users/{{id}}": RULING,
    f"DELETE {API}/users/{{id}}": RULING,
    f"DELETE {API}/users/{{id}}/tokens": RULING,
    f"POST {API}/uploads": MAKING,
    f"POST {API}/uploads/{{u}}/preview": UPLOADED,
    f"POST {API}/uploads/{{u}}/forecast": UPLOADED,
    f"POST {API}/campaigns": MAKING,
    f"POST {API}/restore": MAKING,
    f"GET {API}/campaigns": SIGNED_IN,
    **{f"{method} {C}": MANAGING for method in ("GET", "PATCH", "DELETE")},
    f"GET {C}/rows": MANAGING,
    f"POST {C}/rows": MANAGING,
    **{
        f"GET {C}/{what}": MANAGING
        for what in ("dashboard", "predictions", "estimate", "comparison", "people", "flags")
    },
    f"GET {C}/answers": MANAGING,
    f"GET {C}/rows/{{position}}/history": MANAGING,
    f"POST {C}/questions/{{number}}/ruling": MANAGING,
    f"POST {C}/flags/{{id}}/resolve": MANAGING,
    f"POST {C}/people/{{id}}/exclude": MANAGING,
    f"POST {C}/people/{{id}}/include": MANAGING,
    f"POST {C}/people/{{id}}/resume": MANAGING,
    f"GET {C}/members": MANAGING,
    f"DELETE {C}/members/{{id}}": MANAGING,
    **{f"{method} {C}/{what}": MANAGING for method in ("GET", "POST") for what in ("invitations", "webhooks")},
    f"DELETE {C}/invitations/{{id}}": MANAGING,
    f"DELETE {C}/webhooks/{{id}}": MANAGING,
    **{f"GET {OUT}/{what}": MANAGING for what in ("answers", "predictions", "model", "log", "backup")},
    f"POST {C}/import/label-studio": MANAGING,
    "GET /health/live": ANYBODY,
    "GET /health/ready": ANYBODY,
    "GET /metrics": MAKING,
    f"GET {API}/openapi.json": SIGNED_IN,
    **{f"GET {path}": ANYBODY for path in PAGES},
    "GET /static/{path:path}": ANYBODY,
}
TABLE = b"id,size,colour,known\nx%d,3,red,\ny%d,5,blue,\n"
ORDER = {"title": "Colours", "labels": {"kind": "order", "items": ["red", "green", "blue"]}}
NUMBER = {"title": "Sizes", "labels": {"kind": "number", "low": 0, "high": 9}, "rows": {"key": "id"}}


def name_of(row):
    return f"{row.method} {row.path}"


@dataclass
class Asked:
    """A request that its rightful sender would be granted."""

    row: Any
    campaign: str = "prices"
    parts: dict[str, str] = field(default_factory=dict)
    query: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    client: Any = None

    def send(self, client, campaign=None, **more):
        path = path_of(self.row, campaign or self.campaign, **self.parts) + self.query
        return (self.client or client).request(self.row.method, path, **{**self.options, **more})


class World:
    """A site, and requests to it that hold ids of things that exist."""

    def __init__(self, folder):
        self.site = site = Site(folder)
        site.services.webhooks.check = AsyncMock()  # what is tested is who may, not where to
        self._numbers = itertools.count(1)
        pictures = shades(folder / "pictures", 24)
        shown = QuestionSettings(instructions="![](p0.png) ![](p1.png)")
        digits = Settings("D", ClassNames(("1", "2")), question=shown)
        create_campaign(site.store, "digits", digits, open_table(pictures), "other", 0.0)
        create_campaign(site.store, "door", DRINKS, None, "other", 0.0)
        rows = [f"{9 * (n % 2) + n % 7 / 10},{n % 5}" for n in range(400)]
        (folder / "halves.csv").write_text("\n".join(["a,b", *rows]))
        halves = Settings("H", ClassNames(("low", "high")), ask=AskSettings(bag=9, exam_share=0.0))
        create_campaign(site.store, "walls", halves, open_table(folder / "halves.csv"), "other", 0.0)
        self.own("digits")
        self.own("walls")
        site.accounts.add_user("worker", "worker", "annotator", None)
        site.accounts.add_member("prices", "worker", "annotator")
        self.undoable(Asked(None), "worker", 0)
        self.kept = b"".join(backup_chunks(site.store, "drinks"))

    def own(self, campaign):
        self.site.accounts.add_member(campaign, "other", "manager")
        self.site.accounts.add_member(campaign, "stranger", "annotator")

    def client(self, person):
        return self.site.client() if person == "nobody" else self.site.session(person)

    def asked(self, row, person):
        """The request of a row as this person could send it."""
        asked, number = Asked(row), next(self._numbers)
        if row.body is not None:
            asked.options = {"json": body_of(row)}
        fill = FILLS.get(name_of(row))
        if fill is not None:
            fill(self, asked, person, number)
        return asked

    # What it takes to be granted, route by route.

    def lease(self, asked, person, number, **more):
        lease = self.site.question(self.client(person), "prices")["lease"]
        asked.options = {"json": {**body_of(asked.row), "lease": lease, "id": f"e{number}", **more}}

    def bag(self, asked, person, number):
        """Answer about single rows until several are asked about at once."""
        asked.campaign, client = "walls", self.client(person)
        served = ok(client.post(f"{API}/campaigns/walls/next", json={}))
        for n in range(60):
            leases = [one["lease"] for one in (served["question"], *served["bag"])]
            if len(leases) > 1:
                break
            shown = {one["name"]: one["value"] for one in served["question"]["row"]["fields"]}
            answer = ("high" if float(shown["a"]) > 5 else "low") in served["question"]["set"]
            body = {"lease": leases[0], "answer": answer, "id": f"s{number}-{n}", "took": 2.0}
            served = ok(client.post(f"{API}/campaigns/walls/answers", json=body))
        assert len(leases) > 1
        asked.options = {"json": {"leases": leases, "answers": [True] * len(leases), "id": f"b{number}", "took": 4.0}}

    def undoable(self, asked, person, number):
        client = self.client(person)
        body = {"lease": self.site.question(client, "prices")["lease"], "answer": True, "id": f"u{number}"}
        assert client.post(f"{API}/campaigns/prices/answers", json=body).status_code == 200
        asked.options = {"json": {"id": f"e{number}"}}

    def leases(self, asked, person, number):
        asked.options = {"json": {"leases": [self.site.question(self.client(person), "prices")["lease"]]}}

    def picture(self, asked, person, number):
        asked.campaign = "digits"

    def held_picture(self, asked, person, number):
        asked.campaign = "digits"
        asked.parts = {"lease": self.site.question(self.client(person), "digits")["lease"]}

    def mean(self, asked, person, number):
        asked.query = "?what=mean"

    def account(self, number):
        self.site.accounts.add_user(f"x{number}", f"somebody {number}", "annotator", QUICK.hash(PASSWORD))
        return f"x{number}"

    def someone(self, asked, person, number):
        asked.parts = {"id": self.account(number)}

    def member(self, asked, person, number):
        self.someone(asked, person, number)
        self.site.accounts.add_member("prices", f"x{number}", "annotator")

    def in_person(self, asked, person, number):
        """About oneself: an account that is not needed afterwards."""
        asked.client = self.site.session(self.account(number))
        if asked.row.path.endswith("password"):
            asked.options = {"json": {"old": PASSWORD, "new": PASSWORD + "2"}}

    def sign_in(self, asked, person, number):
        asked.options = {"json": {"name": "admin", "password": PASSWORD}}

    def newcomer(self, asked, person, number):
        asked.options = {"json": {"name": f"newcomer {number}", "role": "annotator"}}

    def take_up(self, asked, person, number):
        secret = new_secret()
        self.site.accounts.add_invitation(f"d{number}", digest(secret), "door", time.time() + 9999, 1, "")
        asked.options = {"json": {"invitation": secret, "name": f"guest {number}"}}

    def invited(self, asked, person, number):
        self.take_up(asked, person, number)
        del asked.options["json"]["name"]

    def token(self, asked, person, number):
        self.site.accounts.add_token(f"t{number}", f"hash {number}", "ask1_", person, ("read",), time.time() + 9999, "")
        asked.parts = {"id": f"t{number}"}

    def file(self, asked, person, number):
        asked.options = {"content": TABLE % (number, number), "headers": {"X-File-Name": "t.csv"}}

    def upload(self, person, number):
        file = {"content": TABLE % (number, number), "headers": {"X-File-Name": "t.csv"}}
        made = self.client(person).post(f"{API}/uploads", **file)
        assert made.status_code == 201, made.text
        return made.json()["upload"]

    def look(self, asked, person, number):
        asked.parts = {"u": self.upload(person, number)}
        answers = {"answers": 5} if asked.row.path.endswith("forecast") else {}
        asked.options = {"json": {"settings": NUMBER, **answers}}

    def more_rows(self, asked, person, number):
        asked.options = {"json": {"upload": self.upload(person, number)}}

    def campaign(self, asked, person, number):
        asked.options = {"json": {"settings": ORDER, "name": f"n{number}"}}

    def restored(self, asked, person, number):
        asked.query, asked.options = f"?name=r{number}", {"content": self.kept}

    def doomed(self, asked, person, number):
        asked.campaign = f"doomed{number}"
        create_campaign(self.site.store, asked.campaign, DRINKS, None, "other", 0.0)
        self.own(asked.campaign)

    def budget(self, asked, person, number):
        asked.options = {"json": {"budget": 1000 + number}}

    def place(self, asked, person, number):
        asked.parts = {"position": "5"}

    def decidable(self, asked, person, number):
        entries = [entry for entry in self.site.store.entries("prices") if entry.event.kind == "asked"]
        teaching = next(entry for entry in entries if entry.aside.get("role") != "gold")
        asked.parts = {"number": teaching.event.id.removeprefix("ask-")}
        asked.options = {"json": {"answer": True}}

    def flagged(self, asked, person, number):
        client = self.site.session("worker")
        lease = self.site.question(client, "prices")["lease"]
        body = {"lease": lease, "id": f"f{number}", "reason": "odd"}
        answer = client.post(f"{API}/campaigns/prices/flags", json=body)
        if answer.status_code != 200:  # five flags of one question are enough
            ok(client.post(f"{API}/campaigns/prices/skips", json={"lease": lease, "id": f"s{number}"}))
            body["lease"] = self.site.question(client, "prices")["lease"]
            ok(client.post(f"{API}/campaigns/prices/flags", json=body))
        asked.parts = {"id": f"f{number}"}

    def answerer(self, asked, person, number):
        asked.parts = {"id": "worker"}

    def invitation(self, asked, person, number):
        self.site.accounts.add_invitation(f"i{number}", f"hash {number}", "prices", time.time() + 9999, 1, "")
        asked.parts = {"id": f"i{number}"}

    def webhook(self, asked, person, number):
        self.site.accounts.add_webhook(f"w{number}", "prices", "https://example.org/", "s", ("answer",))
        asked.parts = {"id": f"w{number}"}

    def tasks(self, asked, person, number):
        asked.options = {"content": b"[]"}


FILLS = {
    **{f"POST {C}/{verb}": World.lease for verb in ("answers", "skips", "flags")},
    f"POST {C}/bags": World.bag,
    f"POST {C}/undo": World.undoable,
    f"POST {C}/leases/renew": World.leases,
    f"POST {C}/leases/release": World.leases,
    f"GET {C}/leases/{{lease}}/image": World.held_picture,
    f"GET {C}/examples/{{position}}/image": World.picture,
    f"GET {C}/rows/{{position}}/image": World.picture,
    f"GET {C}/estimate": World.mean,
    f"POST {API}/login": World.sign_in,
    f"POST {API}/join": World.take_up,
    f"POST {API}/invited": World.invited,
    f"POST {API}/logout": World.in_person,
    f"POST {API}/me/password": World.in_person,
    f"DELETE {API}/me": World.in_person,
    f"DELETE {API}/tokens/{{id}}": World.token,
    f"POST {API}/users": World.newcomer,
    f"PATCH {API}/users/{{id}}": World.someone,
    f"DELETE {API}/users/{{id}}": World.someone,
    f"DELETE {API}/users/{{id}}/tokens": World.someone,
    f"POST {API}/uploads": World.file,
    f"POST {API}/uploads/{{u}}/preview": World.look,
    f"POST {API}/uploads/{{u}}/forecast": World.look,
    f"POST {API}/campaigns": World.campaign,
    f"POST {API}/restore": World.restored,
    f"PATCH {C}": World.budget,
    f"DELETE {C}": World.doomed,
    f"POST {C}/rows": World.more_rows,
    f"GET {C}/rows/{{position}}/history": World.place,
    f"POST {C}/questions/{{number}}/ruling": World.decidable,
    f"POST {C}/flags/{{id}}/resolve": World.flagged,
    f"POST {C}/people/{{id}}/exclude": World.answerer,
    f"POST {C}/people/{{id}}/include": World.answerer,
    f"POST {C}/people/{{id}}/resume": World.answerer,
    f"DELETE {C}/members/{{id}}": World.member,
    f"DELETE {C}/invitations/{{id}}": World.invitation,
    f"DELETE {C}/webhooks/{{id}}": World.webhook,
    f"POST {C}/import/label-studio": World.tasks,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.site.close()


def test_every_route_has_its_line():
    assert set(MATRIX) == {name_of(row) for row in ROUTES}
    assert {len(line.split()) for line in MATRIX.values()} == {len(PEOPLE)}
    assert set(FILLS) <= set(MATRIX)


@pytest.mark.parametrize("row", ROUTES, ids=name_of)
def test_roles_by_routes_by_objects(world, row):
    """ApiError first, without a trace in the database; then the same is granted to whom it belongs."""
    expected = dict(zip(PEOPLE, MATRIX[name_of(row)].split(), strict=True))
    for person in sorted(PEOPLE, key=lambda one: expected[one] == "ok"):
        granted = expected[person] == "ok"
        rightful = person if granted else "stranger" if MATRIX[name_of(row)] == ANSWERING else "other"
        asked = world.asked(row, rightful)
        if not granted:
            asked.client = None
        client, before = world.client(person), image(world.site)
        response = asked.send(client)
        if granted:
            assert response.status_code in (200, 201), (person, response.text)
        else:
            assert_error(response, int(expected[person]))
            # A session was begun for the request itself, before the dump.
            assert image(world.site) == before, person


@pytest.mark.parametrize("row", [row for row in ROUTES if row.access.session], ids=name_of)
def test_what_lets_people_in_is_not_changed_by_token(world, row):
    """Tokens, passwords, accounts and roles: a token that leaked would make others that outlive it."""
    asked, client = world.asked(row, "admin"), world.site.token("admin")
    before = image(world.site)
    assert_error(Asked(row, asked.campaign, asked.parts, asked.query, asked.options).send(client), 403)
    assert image(world.site) == before


def test_all_that_lets_people_in_wants_a_session():
    paths = (f"{API}/tokens", f"{API}/users", f"{API}/me", f"{API}/logout")
    changing = [row for row in ROUTES if row.path.startswith(paths) and row.method != "GET"]
    assert len(changing) == 9
    assert all(row.access.session for row in changing)


@pytest.mark.parametrize("row", [row for row in ROUTES if "{c}" in row.path and row.path.count("{") > 1], ids=name_of)
def test_ids_of_another_campaign_lead_nowhere(world, row):
    """A manager, at a campaign of their own, with the id of a thing of another campaign."""
    asked = world.asked(row, "other")
    client, before = world.client("manager"), image(world.site)
    assert_error(asked.send(client, campaign="drinks"), 404)
    assert image(world.site) == before
    assert asked.send(world.client("other")).status_code == 200


FOREIGN = (
    "role", "campaign_id", "campaign", "owner", "id", "user", "person", "who", "is_admin", "disabled", "hash", "uses",
    "password_hash", "created", "at", "seq", "csrf", "prefix", "scope", "secret", "__proto__", "model_config",
)  # fmt: skip
"""Fields that somebody might slip in; those that a body has are its own."""


@pytest.mark.parametrize("row", [row for row in ROUTES if row.body is not None], ids=name_of)
def test_bodies_take_no_field_that_is_not_theirs(world, row):
    """Mass assignment: a request that is granted as it is, is refused with one field more, and nothing changes."""
    person = "admin" if MATRIX[name_of(row)] == RULING else "other"
    asked = world.asked(row, person)
    client, asked.client = asked.client or world.client(person), None
    sent, before = asked.options["json"], image(world.site)
    for extra in FOREIGN:
        if extra in row.body.model_fields:
            continue
        for value in ("admin", None, {"role": "admin"}):
            refused = asked.send(client, json={**sent, extra: value})
            assert assert_error(refused, 422) == "invalid", extra
            assert refused.json()["error"]["argument"] == extra
    assert image(world.site) == before
    if row.path != f"{API}/setup":
        assert asked.send(client).status_code in (200, 201)


def test_settings_take_no_field_that_is_not_theirs(world):
    client, before = world.client("other"), image(world.site)
    for extra in FOREIGN:
        for settings in ({**ORDER, extra: "admin"}, {**ORDER, "labels": {**ORDER["labels"], extra: "admin"}}):
            assert_error(client.post(f"{API}/campaigns", json={"settings": settings, "name": "slipped"}), 422)
    assert image(world.site) == before


def test_a_role_is_never_one_s_own_to_give(world):
    """Nobody but an administrator gives roles; an invitation makes annotators, whatever else is sent."""
    before = image(world.site)
    for person in ("annotator", "manager", "stranger", "other"):
        client = world.client(person)
        now = image(world.site)
        for path in (f"{API}/users/{person}", f"{API}/users/admin"):
            assert_error(client.patch(path, json={"role": "admin"}), 403)
        assert_error(client.post(f"{API}/users", json={"name": "eve", "role": "admin"}), 403)
        assert image(world.site) == now
    assert before != image(world.site)  # sessions were begun: the comparison sees such things


def test_reading_changes_nothing_whoever_reads(world):
    """Every GET and HEAD, twice, with ids that exist, by everybody: the database is the same, to the byte."""
    rows = [row for row in ROUTES if row.method == "GET"]
    for row in rows:
        expected = dict(zip(PEOPLE, MATRIX[name_of(row)].split(), strict=True))
        asked = world.asked(row, "other")
        clients = {person: world.client(person) for person in PEOPLE}
        before = dump(world.site)  # in words: /health/ready tries to write, which leaves other bytes in free places
        for person, client in clients.items():
            statuses = {asked.send(client).status_code for _ in range(2)}
            held = person == "other" or "{lease}" not in row.path  # a question is one person's
            granted = 200 if held else 404
            assert statuses == {granted if expected[person] == "ok" else int(expected[person])}, (row.path, person)
            client.head(path_of(row, asked.campaign))
        assert dump(world.site) == before, row.path


# -- the same work for every refusal -------------------------------------------------------------------


REQUESTED = ContextVar("requested", default=False)
"""Whether what runs now belongs to a counted request: the server's own sweeping may come at any moment."""


class Work:
    """Counts what is done: statements, hashes of passwords, comparisons of secrets."""

    def __init__(self, site, monkeypatch):
        self.done, self._site = [], site
        work, run, compare = self, Session.run, hmac.compare_digest

        def counted(session, text, values=()):
            if REQUESTED.get():
                work.done.append(text)
            return run(session, text, values)

        def compared(one, other):
            work.done.append("compare")
            return compare(one, other)

        class Counting:
            def hash(self, password):
                return QUICK.hash(password)

            def verify(self, kept, password):
                work.done.append(f"verify {kept.split('$')[1:4]}")
                return QUICK.verify(kept, password)

        monkeypatch.setattr(Session, "run", counted)
        monkeypatch.setattr(tokens.hmac, "compare_digest", compared)
        object.__setattr__(site.services, "passwords", Passwords(Counting()))

    def of(self, client, method, path, **options):
        """What a refused request took, and what it said."""
        self._site.services.auth.clear_cache()
        self.done.clear()
        token = REQUESTED.set(True)  # a task has the context of whoever started it
        response = client.request(method, f"{API}/{path}", **options)
        REQUESTED.reset(token)
        return list(self.done), response.status_code, response.text


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A site whose campaigns are open: what is counted later is the request's own doing."""
    site = Site(tmp_path_factory.mktemp("quiet"))
    for campaign in ("drinks", "prices"):
        site.session("admin").get(f"{API}/campaigns/{campaign}")
    yield site
    site.close()


@pytest.fixture
def count(quiet, monkeypatch):
    return Work(quiet, monkeypatch)


def alike(found):
    assert all(one == found[0] for one in found), found
    assert found[0][0]
    assert found[0][1] == 401


def test_signing_in_takes_the_same_work_whoever_fails(quiet, count):
    """A name that nobody has, a wrong password, an account that is disabled, forgotten or without a password."""
    for name in ("gone", "off", "bare"):
        quiet.accounts.add_user(name, name, "annotator", None if name == "bare" else QUICK.hash(PASSWORD))
    quiet.accounts.disable_user("off")
    quiet.accounts.forget_user("gone")
    tries = [("nobody", PASSWORD), ("admin", "wrong password"), ("off", PASSWORD), ("off", "wrong password"),
             ("gone", PASSWORD), ("forgotten gone", PASSWORD), ("bare", PASSWORD), ("admin", "x" * 200)]  # fmt: skip
    client = quiet.client()
    alike([count.of(client, "POST", "login", json={"name": n, "password": p}) for n, p in tries])


def test_tokens_take_the_same_work_however_they_are_wrong(quiet, count):
    """One that nobody made, one that expired, was revoked, or whose owner is disabled."""
    quiet.accounts.add_user("idle", "idle", "admin", None)
    made = {}
    for name, owner, expires in (("late", "admin", -1), ("revoked", "admin", 99), ("disabled", "idle", 99)):
        made[name] = new_secret(TOKEN)
        quiet.accounts.add_token(name, digest(made[name]), "ask1_", owner, ("read",), time.time() + expires, "")
    quiet.accounts.revoke_token("revoked", "admin")
    quiet.accounts.disable_user("idle")
    found = [
        count.of(quiet.client(Authorization=f"Bearer {token}"), "GET", "campaigns")
        for token in (new_secret(TOKEN), *made.values())
    ]
    alike(found)


def test_sessions_take_the_same_work_however_they_are_wrong(quiet, count):
    quiet.accounts.add_user("away", "away", "admin", None)
    made = [new_secret() for _ in range(4)]
    for secret, owner, expires in zip(made[1:], ("admin", "admin", "away"), (-1, 99, 99), strict=True):
        quiet.accounts.add_session(digest(secret), owner, "", time.time() + expires)
    quiet.accounts.end_session(digest(made[2]))
    quiet.accounts.disable_user("away")
    found = []
    for secret in made:
        client = quiet.client()
        client.cookies.set("askone_session", secret)
        found.append(count.of(client, "GET", "campaigns"))
    alike(found)


def test_invitations_take_the_same_work_however_they_are_wrong(quiet, count):
    made = {}
    for name, expires, uses in (("late", -1, 9), ("revoked", 99, 9), ("used up", 99, 1)):
        made[name] = new_secret()
        quiet.accounts.add_invitation(name, digest(made[name]), "drinks", time.time() + expires, uses, "")
    quiet.accounts.revoke_invitation("revoked", "drinks")
    assert quiet.accounts.use_invitation(digest(made["used up"]), time.time()) == "drinks"
    client = quiet.client()
    alike(
        [
            count.of(client, "POST", "join", json={"invitation": secret, "name": "eve"})
            for secret in (new_secret(), *made.values())
        ]
    )


def test_second_secrets_are_compared_in_constant_time(quiet, count):
    """The header of a session, and the set-up token: one comparison each, however much of it is right."""
    client = quiet.session("admin")
    right = client.headers["X-CSRF-Token"]
    found = []
    for wrong in ("", "0" * 64, right[:-1] + ("0" if right[-1] != "0" else "1"), right + "0", right.upper() + "x"):
        client.headers["X-CSRF-Token"] = wrong
        done, status, _ = count.of(client, "POST", "tokens", json={"scopes": ["read"]})
        found.append((done.count("compare"), status))
    assert found == [(1, 403)] * 5
