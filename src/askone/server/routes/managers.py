"""Routes for those who run campaigns: look, steer, invite."""

from __future__ import annotations

import io
import time
from typing import Any

import segno
from starlette.responses import Response

from askone.campaign.engine.commands import Exclude, Include, SetBudget, SetStatus
from askone.errors import InvalidArgument
from askone.server._campaign_view import Front
from askone.server._errors import conflict, missing
from askone.server._requests import CampaignChange, DashboardQuery, NewInvitation, NewWebhook, PredictionsQuery
from askone.server._services import Call, away, reply, unless_known
from askone.server.routes.accounts import memberships
from askone.server.security.tokens import digest, fresh, fresh_id

MOST_KEYS = 100


async def list_campaigns(call: Call) -> Response:
    """The campaigns of whoever asks; an annotator's without numbers."""
    records = {record.name: record for record in await away(call.store.campaigns)}
    roles = await away(memberships, call.accounts, call.person.id, call.person.role, records)
    listed = []
    for name, role in roles.items():
        record = records[name]
        line = {"name": name, "title": record.title, "created": record.created, "role": role}
        if role == "manager":
            line |= await call.services.workers[name].run(_counts)
            line["rows"] = record.rows
        listed.append(line)
    return reply(listed)


def _counts(front: Front) -> dict[str, Any]:
    front.campaign.refresh()
    status = front.campaign.status(time.time())
    return {name: status.get(name) for name in ("status", "finished", "answers", "rows", "budget")}


async def show(call: Call) -> Response:
    """A campaign: how far it is, and its settings."""
    return reply(await call.worker.run(_described))


def _described(front: Front) -> dict[str, Any]:
    front.campaign.refresh()
    settings = front.campaign.settings
    status = front.campaign.status(time.time())
    return {**status, "settings": settings.to_json(), "toml": settings.to_toml()}


async def change(call: Call) -> Response:
    """Runs, pauses or closes a campaign; sets its budget (null: no limit)."""
    body: CampaignChange = call.body
    if not body.model_fields_set or ("status" in body.model_fields_set and body.status is None):
        raise InvalidArgument("status", "running, paused or closed, or left out for a budget", None)
    who = call.person.id
    if "budget" in body.model_fields_set:
        await call.worker.put(SetBudget(who, fresh_id("m"), body.budget))
    if body.status is not None:
        await call.worker.put(SetStatus(who, fresh_id("m"), body.status))
    return reply(await call.worker.run(_described))


async def delete(call: Call) -> Response:
    """Deletes a campaign, its rows and its log."""
    call.services.workers.release(call.campaign)
    await away(call.store.delete, call.campaign)
    call.services.workers.release(call.campaign)
    call.services.auth.forget()
    return reply({"ok": True})


async def dashboard(call: Call) -> Response:
    """All that a manager watches."""
    query: DashboardQuery = call.query
    column, keys = query.column, _keys(query.keys)

    def look(front: Front) -> dict[str, Any]:
        front.campaign.refresh()
        found: dict[str, Any] = front.campaign.dashboard(time.time(), column)
        return {**found, "predictions": _predicted(front, keys)} if keys else found

    return unless_known(call, await call.worker.run(look))


async def predictions(call: Call) -> Response:
    """What the model says about some rows."""
    query: PredictionsQuery = call.query
    keys = _keys(query.keys)

    def look(front: Front) -> list[dict[str, Any]]:
        front.campaign.refresh()
        if keys is not None:
            return _predicted(front, keys)
        rows = front.campaign.store.campaign(front.campaign.name).rows
        places = range(query.after + 1, min(rows, query.after + 1 + query.first))
        return front.campaign.predictions(list(places))

    return reply(await call.worker.run(look))


def _keys(text: str | None) -> list[str] | None:
    if text is None:
        return None
    keys = [key for key in text.split(",") if key]
    if len(keys) > MOST_KEYS:
        raise InvalidArgument("keys", f"at most {MOST_KEYS} keys", f"{len(keys)} keys")
    return keys


def _predicted(front: Front, keys: list[str]) -> list[dict[str, Any]]:
    campaign = front.campaign
    found = [campaign.store.row_by_key(campaign.name, key) for key in keys]
    return campaign.predictions([row.position for row in found if row is not None])


async def people(call: Call) -> Response:
    """Everybody who answered, with what their answers say of them."""
    found = await call.worker.run(_people)
    names = {user.id: user.name for user in await away(call.accounts.users)}
    return reply([{**person, "name": names.get(person["id"], "")} for person in found])


def _people(front: Front) -> list[dict[str, Any]]:
    front.campaign.refresh()
    return front.campaign.people()


async def exclude(call: Call) -> Response:
    """Nothing that a person answered counts any more."""
    return await _count_person(call, excluded=True)


async def include(call: Call) -> Response:
    """What a person answered counts again."""
    return await _count_person(call, excluded=False)


async def _count_person(call: Call, excluded: bool) -> Response:
    who, person = call.person.id, call.part("id")
    known = {one["id"]: one for one in await call.worker.run(_people)}
    if person not in known:
        raise missing("person")
    kind = Exclude if excluded else Include
    await call.worker.put(kind(who, fresh_id("m"), person))
    return reply({"excluded": excluded, "answers": known[person].get("answers", 0)})


async def flags(call: Call) -> Response:
    """What people found wrong."""
    found = await call.worker.run(_flags)
    names = {user.id: user.name for user in await away(call.accounts.users)}
    return reply([{**flag, "who": names.get(flag["who"], flag["who"])} for flag in found])


def _flags(front: Front) -> list[dict[str, Any]]:
    front.campaign.refresh()
    return front.campaign.flags()


async def list_invitations(call: Call) -> Response:
    """The invitations to a campaign, without their secrets."""
    found = await away(call.accounts.invitations, call.campaign)
    return reply(
        [{"id": i.id, "title": i.title, "expires": i.expires, "most_uses": i.most_uses, "uses": i.uses} for i in found]
    )


async def invite(call: Call) -> Response:
    """A link that makes annotators of this campaign; its secret is shown this once."""
    body: NewInvitation = call.body
    if len(await away(call.accounts.invitations, call.campaign)) >= 500:
        raise conflict("There are 500 invitations: revoke some first.")
    secret, name = fresh(), fresh_id("i")
    expires = call.now + 3600 * body.expires_hours
    await away(call.accounts.add_invitation, name, digest(secret), call.campaign, expires, body.most_uses, body.title)
    link = f"/join#{secret}"
    here = f"{call.request.url.scheme}://{call.request.headers['host']}"
    base = call.services.config.public_url.rstrip("/") or here
    return reply({"id": name, "link": link, "url": base + link, "qr": _code(base + link), "expires": expires}, 201)


def _code(text: str) -> str:
    """A text as a QR code in SVG, with its name space: without it browsers do not show it as a picture."""
    out = io.BytesIO()
    segno.make(text, error="m").save(out, kind="svg", scale=4, dark="#000", light="#fff", xmldecl=False, nl=False)
    return out.getvalue().decode()


async def uninvite(call: Call) -> Response:
    """Revokes an invitation; who took it up stays."""
    if not await away(call.accounts.revoke_invitation, call.part("id"), call.campaign):
        raise missing("invitation")
    return reply({"ok": True})


async def list_webhooks(call: Call) -> Response:
    """Where this campaign's events are sent, without the secrets."""
    found = await away(call.accounts.webhooks, call.campaign)
    return reply([{"id": h.id, "url": h.url, "events": list(h.events), "status": h.status} for h in found])


async def add_webhook(call: Call) -> Response:
    """Somewhere to send events to; the secret that signs them is shown this once."""
    body: NewWebhook = call.body
    await away(call.services.webhooks.check, body.url)
    if len(await away(call.accounts.webhooks, call.campaign)) >= 10:
        raise conflict("There are ten webhooks: remove one first.")
    name, secret = fresh_id("w"), fresh("whsec_")
    events = tuple(sorted(set(body.events)))
    await away(call.accounts.add_webhook, name, call.campaign, body.url, secret, events)
    return reply({"id": name, "secret": secret}, 201)


async def remove_webhook(call: Call) -> Response:
    """Sends nothing there any more."""
    if not await away(call.accounts.remove_webhook, call.part("id"), call.campaign):
        raise missing("webhook")
    return reply({"ok": True})
