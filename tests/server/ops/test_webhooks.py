"""Webhooks: signed, from a durable queue, tried again, and never to where they should not go."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.engine.commands import Answer, Next, SetStatus
from askone.errors import InvalidArgument, InvalidFile
from askone.server.config import ServerConfig
from askone.server.ops import webhooks
from askone.server.ops.metrics import Metrics
from askone.server.ops.webhooks import PAUSES, Webhooks, sign
from askone.server.security.webhook_addresses import resolve
from askone.store._database import Session
from listening import Handler, listening
from sites import DRINKS, LOOSE, Site
from stores import at_once
from waiting import until

API = "/api/v1"


@pytest.fixture
def receiver():
    """A server that notes what it gets and answers as told."""
    receiver = SimpleNamespace(got=[], statuses=[], location="")

    class Hook(Handler):
        def do_POST(self):
            receiver.got.append((self.path, dict(self.headers), self.body().decode()))
            status = receiver.statuses.pop(0) if receiver.statuses else 200
            elsewhere = receiver.location or f"http://127.0.0.1:{receiver.port}/elsewhere"
            self.reply(status, b"canary", **({"Location": elsewhere} if status in (301, 302, 307, 308) else {}))

        do_GET = do_POST

    with listening(Hook) as receiver.port:
        receiver.url = f"http://127.0.0.1:{receiver.port}/hook?a=1"
        yield receiver


def allowed(receiver):
    return replace(
        LOOSE, webhooks=True, webhook_schemes=("http",), webhook_ports=(receiver.port,), webhook_loopback=True
    )


@pytest.fixture
def site(receiver, tmp_path):
    with Site(tmp_path, allowed(receiver)) as site:
        yield site


def queued(site):
    site.accounts.queue_delivery("d1", "w1", json.dumps({"answers": [1]}), 0.0)


def answer(site, mark, person="annotator", campaign="drinks"):
    client = site.token(person)
    body = {"lease": site.question(client, campaign)["lease"], "answer": True, "id": mark}
    assert client.post(f"{API}/campaigns/{campaign}/answers", json=body).status_code == 200


def test_answers_and_ends_are_told_and_signed(site, receiver):
    manager, client = site.session("manager"), site.session("annotator")
    hooks = f"{API}/campaigns/drinks/webhooks"
    made = manager.post(hooks, json={"url": receiver.url, "events": ["answer", "closed", "spent"]}).json()
    assert made["secret"].startswith("whsec_")
    assert "secret" not in manager.get(hooks).json()[0]
    assert manager.patch(f"{API}/campaigns/drinks", json={"budget": 1}).status_code == 200
    question = site.question(client)
    body = {"lease": question["lease"], "answer": True, "id": "a-1"}
    assert client.post(f"{API}/campaigns/drinks/answers", json=body).status_code == 200
    client.post(f"{API}/campaigns/drinks/answers", json=body)
    assert client.post(f"{API}/campaigns/drinks/next", json={}).json()["state"] == "spent"
    manager.patch(f"{API}/campaigns/drinks", json={"status": "closed"})
    until(lambda: {json.loads(body)["event"] for _, _, body in receiver.got} == {"answer", "spent", "closed"})
    told = [json.loads(body) for _, _, body in receiver.got]
    answers = [one for event in told for one in event.get("answers", ())]
    assert answers == [{"id": "a-1", "person": "annotator", "answer": True}]
    path, headers, body = receiver.got[0]
    assert path == "/hook?a=1"
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
    mark = base64.b64encode(hmac.new(made["secret"].encode(), text.encode(), hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{mark}"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert manager.delete(f"{hooks}/{made['id']}").status_code == 200
    assert manager.get(hooks).json() == []


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def hooks(alone, receiver, now):
    alone.accounts.add_webhook("w1", "drinks", receiver.url, "s3cret", ("answer",))
    return Webhooks(alone.accounts, allowed(receiver), Metrics(), clock=lambda: now[0])


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(now, hooks, alone, receiver):
    queued(alone)
    receiver.statuses = [500] * (len(PAUSES) + 1)
    for pause in PAUSES:
        assert asyncio.run(hooks.send_due()) == 1
        assert asyncio.run(hooks.send_due()) == 0
        now[0] += pause + 61
    assert asyncio.run(hooks.send_due()) == 1
    now[0] += 10**7
    assert asyncio.run(hooks.send_due()) == 0
    assert len(receiver.got) == len(PAUSES) + 1
    assert len({headers["webhook-id"] for _, headers, _ in receiver.got}) == 1


def test_the_queue_outlives_the_process(now, hooks, alone, receiver):
    queued(alone)
    after = Webhooks(alone.accounts, allowed(receiver), Metrics(), clock=lambda: now[0])
    assert asyncio.run(after.send_due()) == 1
    assert json.loads(receiver.got[0][2])["answers"] == [1]


def test_redirects_are_not_followed_and_nothing_is_read(hooks, alone, receiver):
    queued(alone)
    receiver.statuses = [302]
    asyncio.run(hooks.send_due())
    assert [path for path, _, _ in receiver.got] == ["/hook?a=1"]
    assert "canary" not in str(alone.accounts.webhooks("drinks"))


@pytest.mark.parametrize("location", ["foo:bar", "http://[", "//", "http://x:99999/", "\x00", "http://" + "a" * 70_000])
def test_where_a_redirect_would_lead_is_not_even_read(hooks, alone, receiver, location):
    """A client of HTTP raises an error of its own for some of these, though it follows none."""
    queued(alone)
    receiver.statuses, receiver.location = [301], location
    assert asyncio.run(hooks.send_due()) == 1
    [(tries, due)] = alone.store._database.read("SELECT tries, due FROM deliveries")
    assert (tries, due) == (1, 1000.0 + PAUSES[0])


def test_no_delivery_ends_the_others_whatever_it_raises(hooks, alone, receiver, caplog):
    alone.accounts.add_webhook("w2", "drinks", receiver.url + "&b=2", "s3cret", ("answer",))
    queued(alone)
    alone.accounts.queue_delivery("d2", "w2", "{}", 0.0)
    post = hooks._post

    async def fails(target, delivery):
        if delivery.webhook == "w1":
            raise ZeroDivisionError("as nobody foresaw")
        return await post(target, delivery)

    hooks._post = fails
    assert asyncio.run(hooks.send_due()) == 2
    assert [path for path, _, _ in receiver.got] == ["/hook?a=1&b=2"]
    assert alone.store._database.read("SELECT id, tries FROM deliveries") == [("d1", 1)]
    assert "as nobody foresaw" in caplog.text


def test_a_log_that_cannot_be_read_keeps_no_other_campaign_waiting(hooks, alone, monkeypatch, caplog):
    alone.accounts.add_webhook("w0", "prices", "http://127.0.0.1:1/", "s3cret", ("answer",))
    answer(alone, "p-1", "stranger", "prices")
    answer(alone, "a-1")
    news = alone.accounts.news

    def damaged(place, *more):
        if place.campaign == "prices":
            raise InvalidFile("entry 2 of the log cannot be read")
        return news(place, *more)

    monkeypatch.setattr(alone.accounts, "news", damaged)
    assert [hooks.catch_up() for _ in range(3)] == [1, 0, 0]
    assert told(alone) == ["a-1"]
    assert caplog.text.count("the webhooks of campaign prices stand still") == 1


def test_a_name_that_leads_inward_at_the_second_look_up_is_not_followed(alone, receiver):
    """Rebinding: the address that was checked is the one that is connected to, and it is checked at every try."""
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    config = replace(allowed(receiver), webhook_loopback=False)
    hooks = Webhooks(alone.accounts, config, Metrics(), lambda host, port: next(answers))
    url = f"http://rebound.example:{receiver.port}/"
    asyncio.run(hooks.check(url))
    alone.accounts.add_webhook("w1", "drinks", url, "s", ("answer",))
    queued(alone)
    assert asyncio.run(hooks.send_due()) == 1
    assert receiver.got == []


def test_the_address_is_connected_to_under_its_name(receiver):
    config = allowed(receiver)
    target = resolve(f"http://named.example:{receiver.port}/x", config, lambda host, port: ["127.0.0.1"])
    assert (target.host, target.address, target.path) == ("named.example", "127.0.0.1", "/x")


def test_off_means_off(hooks, alone, receiver):
    answer(alone, "off-1")
    hooks = Webhooks(alone.accounts, ServerConfig(), Metrics())
    assert hooks.catch_up() == 0
    hooks.spent("drinks")
    assert alone.accounts.due_deliveries(time.time(), 10) == []
    with pytest.raises(InvalidArgument, match="turned off"):
        asyncio.run(hooks.check("https://example.org/"))


def test_events_that_nobody_wants_are_not_queued(now, hooks, alone):
    alone.session("manager").patch(f"{API}/campaigns/drinks", json={"status": "closed"})
    answer(alone, "p-1", "stranger", "prices")
    assert hooks.catch_up() == 0
    hooks.spent("drinks")
    assert alone.accounts.due_deliveries(now[0], 10) == []


# -- out of the log: nothing is lost, nothing is told twice ---------------------------------------------


def told(site, now=1e12):
    """The ids of the answers that wait to be told."""
    due = site.accounts.due_deliveries(now, 1000)
    return [one["id"] for delivery in due for one in json.loads(delivery.body).get("answers", ())]


def test_what_was_kept_before_a_crash_is_told_after_it(now, hooks, alone):
    """The process that took the answers never told anybody: the next one does, once."""
    for n in range(5):
        answer(alone, f"a-{n}")
    assert alone.accounts.due_deliveries(1e12, 10) == []
    assert hooks.catch_up() == 1
    assert hooks.catch_up() == 0
    assert told(alone) == [f"a-{n}" for n in range(5)]
    answer(alone, "a-5")
    after = Webhooks(alone.accounts, hooks._config, Metrics(), clock=lambda: now[0])
    assert (after.catch_up(), hooks.catch_up()) == (1, 0)


def test_a_crash_while_queueing_queues_nothing_and_forgets_nothing(hooks, alone, monkeypatch):
    answer(alone, "a-1")
    many = Session.many

    def dies(session, text, records):
        if "deliveries" in text:
            raise RuntimeError("as if killed here")
        many(session, text, records)

    monkeypatch.setattr(Session, "many", dies)
    with pytest.raises(RuntimeError):
        hooks.catch_up()
    monkeypatch.undo()
    assert told(alone) == []
    assert hooks.catch_up() == 1
    assert told(alone) == ["a-1"]


def test_of_several_processes_one_tells(hooks, alone):
    """Whoever comes second sees that it was done."""
    answer(alone, "a-1")
    [place] = alone.accounts.places()
    assert (place.webhook, place.campaign, place.spent, place.seq < place.head) == ("w1", "drinks", False, True)
    body = json.dumps({"answers": [{"id": "x"}]})
    results = at_once(lambda n: alone.accounts.tell(place, place.head, False, [(f"d{n}", body)], 0.0), 8)
    assert sorted(results) == [False] * 7 + [True]
    assert told(alone) == ["x"]
    assert hooks.catch_up() == 0


def test_a_long_log_is_told_in_pieces(hooks, alone, monkeypatch):
    monkeypatch.setattr(webhooks, "MOST", 2)
    for n in range(5):
        answer(alone, f"a-{n}")
    counts = []
    while queued_now := hooks.catch_up():
        counts.append(queued_now)
    assert counts == [1, 1, 1]
    assert sorted(told(alone)) == [f"a-{n}" for n in range(5)]


def test_a_spent_budget_is_told_once_until_there_is_another(hooks, alone):
    alone.accounts.add_webhook("w2", "drinks", "https://example.org/", "s", ("spent",))
    for _ in range(3):
        hooks.spent("drinks")
    assert [one.webhook for one in alone.accounts.due_deliveries(1e12, 10)] == ["w2"]
    alone.session("manager").patch(f"{API}/campaigns/drinks", json={"budget": 9})
    hooks.catch_up()
    hooks.spent("drinks")
    assert len(alone.accounts.due_deliveries(1e13, 10)) == 2


def test_a_webhook_is_told_from_its_beginning_on(hooks, alone):
    answer(alone, "a-1")
    alone.accounts.add_webhook("w2", "drinks", "https://example.org/", "s", ("answer",))
    answer(alone, "a-2")
    hooks.catch_up()
    bodies = {one.webhook: json.loads(one.body)["answers"] for one in alone.accounts.due_deliveries(1e12, 10)}
    assert {name: [one["id"] for one in answers] for name, answers in bodies.items()} == {
        "w1": ["a-1", "a-2"], "w2": ["a-2"],
    }  # fmt: skip


def test_what_is_gone_leaves_nothing(hooks, alone):
    alone.accounts.add_webhook("w2", "prices", "https://example.org/", "s", ("answer",))
    assert alone.accounts.get("told w2") is not None
    alone.accounts.remove_webhook("w1", "drinks")
    assert alone.accounts.get("told w1") is None
    alone.store.delete("prices")
    alone.accounts.drop_old(0.0)
    assert alone.accounts.get("told w2") is None


def test_places_in_any_store(any_store):
    """The statements are the same for SQLite and PostgreSQL."""
    create_campaign(any_store, "drinks", DRINKS, None, "", 0.0)
    accounts = any_store.accounts
    accounts.add_webhook("w1", "drinks", "https://example.org/", "s", ("answer", "closed"))
    campaign = Campaign.open(any_store, "drinks")
    for n in range(3):
        [serving] = campaign.serve([Next("ann")], 1.0)
        campaign.serve([Answer("ann", serving.question.lease, True, f"a-{n}", 0.1)], 1.0)
    campaign.serve([SetStatus("boss", "m-1", "closed")], 2.0)
    hooks = Webhooks(accounts, replace(LOOSE, webhooks=True), Metrics(), clock=lambda: 5.0)
    assert (hooks.catch_up(), hooks.catch_up()) == (2, 0)
    bodies = [json.loads(one.body) for one in accounts.due_deliveries(9.0, 10)]
    assert sorted(body["event"] for body in bodies) == ["answer", "closed"]
    assert accounts.drop_old(1000.0) == 2
    assert accounts.due_deliveries(1e9, 10) == []


def test_a_program_on_this_machine_is_allowed_by_its_port():
    def found(host, port):
        return ["127.0.0.1" if host in ("localhost", "127.0.0.1", "sly.example") else "93.184.215.14"]

    config = ServerConfig(webhooks=True, webhook_local=(9000,))
    assert resolve("http://127.0.0.1:9000/hook", config, found).address == "127.0.0.1"
    assert resolve("https://localhost:9000/", config, found).scheme == "https"
    assert resolve("https://example.org/", config, found).port == 443
    for url in (
        "http://127.0.0.1:9001/",  # another port
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "http://sly.example:9000/",  # a name that leads here
        "https://sly.example:9000/",
        "http://example.org:9000/",
        "ftp://127.0.0.1:9000/",
    ):
        with pytest.raises(InvalidArgument, match="url must be"):
            resolve(url, config, found)
    with pytest.raises(InvalidArgument, match="public internet"):
        resolve("http://localhost:9000/", config, lambda host, port: ["10.0.0.1"])
    with pytest.raises(InvalidArgument, match="webhook_local"):
        ServerConfig(webhook_local=(0,))


def test_the_receiver_of_the_guide(monkeypatch, capsys):
    """It runs as it is printed, but for the port."""
    guide = (Path(__file__).resolve().parents[3] / "docs" / "campaigns.md").read_text(encoding="utf-8")
    [source] = re.findall(r"^```py\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert source.rstrip().endswith('HTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()')
    monkeypatch.setenv("WEBHOOK_SECRET", "whsec_1")
    names = {}
    exec(source.rstrip().rsplit("\n", 1)[0], names)  # all but the last line, which waits for ever
    body, now = '{"event": "answer", "title": "\u00fc"}', int(time.time())
    tries = [("whsec_1", now, body), ("whsec_2", now, body), ("whsec_1", now - 900, body)]
    statuses = []
    with listening(names["Receiver"]) as port:
        for secret, at, text in tries:
            signature = sign(secret, "d1", at, text)
            headers = {"webhook-id": "d1", "webhook-timestamp": str(at), "webhook-signature": signature}
            statuses.append(httpx.post(f"http://127.0.0.1:{port}/", content=text, headers=headers).status_code)
    assert statuses == [204, 400, 400]
    assert capsys.readouterr().out.count("d1 {'event': 'answer'") == 1
