"""Too much, too slow, too fast, twice: what a server does with people and programs that mean no good."""

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from pydantic import TypeAdapter
from starlette.requests import Request

from askone.campaign.engine._annotator_statistics import FAST
from askone.server._bodies import stream_body
from askone.server._requests import Id, Lease, Name, Slug, Title
from askone.server._routing import PARTS
from askone.server.app import ROUTES
from askone.server.config import Rates, ServerConfig
from askone.server.security.rate_limits import RateLimiter
from askone.server.security.tokens import digest, new_secret
from askone.session.log import Answered
from calling import API, assert_error, path_of
from sites import LOOSE, Site

ADDRESS = "192.0.2.7"
"""Where requests of tests come from."""
FREE = {"GET /health/live", "GET /static/{path:path}"}
"""What may be asked for as often as one likes, beside pages: files of ours, and a word."""


# -- rates, sizes, times ----------------------------------------------------------------------------------


def test_everything_has_a_pace():
    """No route without a limit but files and pages, which cost nothing."""
    free = {f"{row.method} {row.path}" for row in ROUTES if row.limit == "free"}
    pages = {f"GET {row.path}" for row in ROUTES if not row.path.startswith(("/api", "/health", "/metrics", "/static"))}
    assert free == FREE | pages
    assert {row.limit for row in ROUTES} == {"answers", "calls", "heavy", "joins", "sign_ins", "free"}


@pytest.mark.parametrize("pace", ["answers", "calls", "heavy", "joins", "sign_ins"])
def test_every_route_runs_into_its_limit(site_of, pace):
    """429 with a time to wait, counted by person (or by address), over all routes of a pace together."""
    site = site_of()
    clients = {"admin": site.session("admin"), "other": site.token("other")}
    site.services.limiters[pace] = spent = RateLimiter(Rates(1, 0.001))
    assert (spent.wait("admin"), spent.wait(ADDRESS)) == (0.0, 0.0)
    for row in (row for row in ROUTES if row.limit == pace):
        response = clients["admin"].request(row.method, path_of(row), content=b"{}")
        assert assert_error(response, 429) == "too_many_requests", row
        assert int(response.headers["Retry-After"]) > 1
        if not row.access.public:  # who is not signed in counts by the address
            spent._full.pop("other", None)
            assert clients["other"].request(row.method, path_of(row, "prices"), content=b"{").status_code != 429


def test_the_limits_of_a_server_as_it_comes():
    """Nothing is unlimited unless somebody says so."""
    config = ServerConfig()
    assert config.logins.per_second <= 1
    assert config.body_bytes <= 1 << 20
    assert config.body_seconds <= 60
    for rates in (config.sign_ins, config.logins, config.failures, config.answers, config.calls, config.heavy):
        assert 1 <= rates.burst <= 1000
        assert rates.per_second <= 100
    # A thousand people of one hall: who they are, what they are invited to, joining.
    assert 3000 <= config.joins.burst <= 5000
    assert config.joins.per_second <= 100


def test_a_hall_full_of_people_joins_from_one_address(site_of):
    """By the limits of a server as it comes: what is asked before they are known is counted by the address."""
    site = site_of(ServerConfig())
    secret = new_secret()
    site.accounts.add_invitation("hall", digest(secret), "drinks", time.time() + 999, 300, "")
    for _ in range(150):  # more than the burst of calls
        guest = site.client()
        assert guest.get(f"{API}/me").status_code == 200
        assert guest.post(f"{API}/invited", json={"invitation": secret}).status_code == 200
        assert guest.post(f"{API}/join", json={"invitation": secret}).status_code == 200


def test_bodies_that_trickle_are_cut_off(site_of, tmp_path):
    """Slow-loris in the body: a time for the whole of it, for JSON and for files, and nothing is kept."""
    site = site_of(replace(LOOSE, body_seconds=0.2, upload_seconds=0.2))
    client = site.session("admin")

    async def slowly():
        yield b'{"scopes": ["re'
        await asyncio.sleep(300)
        yield b'ad"]}'

    started = time.monotonic()
    headers = {"Content-Type": "application/json", "X-File-Name": "t.csv"}
    for path in ("tokens", "uploads", "restore"):
        assert assert_error(client.post(f"{API}/{path}", content=slowly(), headers=headers), 503) == "too_slow"
    assert time.monotonic() - started < 300
    assert site.accounts.tokens("admin") == []
    assert [path for path in site.config.directory.rglob("*") if path.is_file()] == []


def test_time_that_is_up_while_a_piece_is_kept_is_time_that_is_up(monkeypatch):
    """Not the end of whoever keeps it: a disk may be slower than the limit."""

    async def receive():
        return {"type": "http.request", "body": b"piece", "more_body": True}

    async def keep():
        # The clock is moved, not waited for: a machine that stalls must not use the time up before the piece.
        loop, late = asyncio.get_running_loop(), [0]
        clock = loop.time
        monkeypatch.setattr(loop, "time", lambda: clock() + sum(late))
        request = Request({"type": "http", "method": "POST", "path": "/", "headers": []}, receive)
        async for piece in stream_body(request, 1000, 60):
            late.append(61)
            await asyncio.sleep(0)
            kept.append(piece)

    kept = []
    with pytest.raises(TimeoutError):
        asyncio.run(keep())
    assert kept == [b"piece"]


def test_nobody_holds_more_than_one_question(site_of):
    """However often, by however many tokens and sessions at once: one seat is held by a person."""
    site = site_of()
    clients = [site.token("stranger") for _ in range(4)] + [site.session("stranger") for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        leases = set(pool.map(lambda n: site.question(clients[n % 8], "prices")["lease"], range(40)))
    assert len(leases) == 1
    held = site.store._database.read("SELECT count(*) FROM seats WHERE person = 'stranger' AND lease <> ''")
    assert held == [(1,)]


def test_patterns_do_not_run_away():
    """Every pattern that a stranger's text meets is linear: there is nothing to go back over."""
    patterns = [*PARTS.values(), *map(_pattern, (Id, Lease, Name, Slug, Title))]
    for pattern in patterns:
        # Nothing repeated within something repeated, and no alternatives within a repetition.
        assert not re.search(r"\([^)]*[+*|][^)]*\)[+*{]", pattern), pattern
        assert re.fullmatch(pattern, "a" * 200_000 + "\x00") is None


def _pattern(kind):
    return TypeAdapter(kind).json_schema()["pattern"]


# -- answers ----------------------------------------------------------------------------------------------


def test_answers_faster_than_reading_are_counted_against_their_person(site_of):
    """Those who answer before they can have read are shown to managers; programs that give no time are not judged."""
    site = site_of()
    for person, took in (("stranger", FAST / 2), ("other", 3.0), ("admin", None)):
        client = site.token(person)
        for n in range(3):
            question = site.question(client, "prices")
            body = {"lease": question["lease"], "answer": True, "id": f"{person}-{n}", "took": took}
            assert client.post(f"{API}/campaigns/prices/answers", json=body).status_code == 200
    shown = {one["id"]: one for one in site.token("other").get(f"{API}/campaigns/prices/people").json()}
    assert {name: (one["fast"], one["median_seconds"], one["hasty"]) for name, one in shown.items()} == {
        "stranger": (3, FAST / 2, True), "other": (0, 3.0, False), "admin": (0, None, False),
    }  # fmt: skip


THREADS = 100


def sent_by_all(clients, bodies):
    """The same moment for everybody."""
    with ThreadPoolExecutor(THREADS) as pool:
        tries = [
            pool.submit(clients[n % len(clients)].post, f"{API}/campaigns/drinks/answers", json=body)
            for n, body in enumerate(bodies)
        ]
        return [one.result() for one in tries]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_answer_sent_by_a_hundred_threads_counts_once(tmp_path, kind, request):
    """Two servers on one store: the same answer a hundred times is one; a hundred answers to one question are one."""
    url = None if kind == "sqlite" else request.getfixturevalue("postgres_url")
    patient = replace(LOOSE, store_patience=10.0)
    one = Site(tmp_path, patient, url)
    two = Site(tmp_path, patient, one.url, people=False)
    try:
        person = one.token("annotator")
        clients = [person, two.client(Authorization=f"Bearer {person.token}")]
        same = {"lease": one.question(person)["lease"], "answer": True, "id": "same"}
        responses = sent_by_all(clients, [same] * THREADS)
        assert {response.status_code for response in responses} == {200}
        assert sorted(response.json()["duplicate"] for response in responses) == [False] + [True] * (THREADS - 1)
        lease = one.question(person)["lease"]
        bodies = [{"lease": lease, "answer": n % 2 == 0, "id": f"other-{n}"} for n in range(THREADS)]
        statuses = [response.status_code for response in sent_by_all(clients, bodies)]
        assert sorted(statuses) == [200] + [409] * (THREADS - 1)
        answers = [entry for entry in one.store.entries("drinks") if isinstance(entry.event, Answered)]
        assert len(answers) == 2
        assert answers[0].id == "same"
    finally:
        two.close()
        one.close()


def test_a_lease_that_ran_out_takes_no_answer(site_of, monkeypatch):
    """Where somebody else got the question; its id was never told to anybody."""
    site = site_of()
    client = site.token("stranger")
    lease = site.question(client, "prices")["lease"]
    with site.store.transaction("prices") as transaction:
        [seat] = transaction.seats(people=["stranger"])
        transaction.write([], put=[replace(seat, person="other", lease="another-lease", expires=time.time() + 99)])
    body = {"lease": lease, "answer": True, "id": "late"}
    assert assert_error(client.post(f"{API}/campaigns/prices/answers", json=body), 409) == "lease_lost"
    assert [entry for entry in site.store.entries("prices") if isinstance(entry.event, Answered)] == []
