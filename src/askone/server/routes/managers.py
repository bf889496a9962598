"""Routes for those who run campaigns: look, steer, invite."""

from __future__ import annotations

import io
import logging
from asyncio import gather, to_thread
from collections.abc import Sequence
from functools import partial
from typing import Any

import segno

from askone.campaign.engine.commands import ChangeSettings, Exclude, Include, ResumePerson, SetBudget, SetStatus
from askone.campaign.output.browsing import found_rows, thinned
from askone.errors import InvalidArgument, StoreUnavailable
from askone.server._campaign_service import COUNTS, CampaignService
from askone.server._context import RequestContext
from askone.server._errors import conflict, forbidden, not_found
from askone.server._requests import (
    CampaignChange,
    DashboardQuery,
    NewInvitation,
    NewWebhook,
    PredictionsQuery,
    RowsQuery,
)
from askone.server._responses import (
    ExclusionResponse,
    InvitationResponse,
    NewInvitationResponse,
    NewWebhookResponse,
    OkResponse,
    ResumedResponse,
    RowsResponse,
    UserSummary,
    WebhookResponse,
)
from askone.server._routing import JsonResponse
from askone.server.routes.accounts import memberships
from askone.server.security.tokens import INVITATIONS, issue_invitation, new_id, new_secret

MOST_KEYS = 100
_AT_ONCE = 500  # rows whose doubts are reckoned without letting anybody in
log = logging.getLogger("askone.server")


async def list_campaigns(ctx: RequestContext) -> list[dict[str, Any]]:
    """Return the caller's campaigns; annotators see no other numbers than their own."""
    records = {record.name: record for record in await to_thread(ctx.store.campaigns)}
    roles = await to_thread(memberships, ctx.accounts, ctx.user.id, ctx.user.role, records)
    listed = []
    for name, role in roles.items():
        record = records[name]
        line = {"name": name, "title": record.title, "created": record.created, "role": role}
        line |= await _counts(ctx, name, role)
        listed.append({**line, "rows": record.rows} if role == "manager" else line)
    return listed


async def _counts(ctx: RequestContext, name: str, role: str) -> dict[str, Any]:
    """Return a campaign's numbers; of one that cannot be opened, that it is broken: it does not hide the others."""
    person, count = ctx.user.id, CampaignService.counts if role == "manager" else CampaignService.listed
    counting = ctx.services.workers[name].run(lambda service: count(service, person))
    found: dict[str, Any] | BaseException = (await gather(counting, return_exceptions=True))[0]
    if isinstance(found, StoreUnavailable):
        raise found
    if isinstance(found, BaseException):
        log.error("campaign %s cannot be opened", name, exc_info=found)
        return {**dict.fromkeys(COUNTS), "status": "broken"}
    return found


async def show(ctx: RequestContext) -> dict[str, Any]:
    """Return a campaign: how far it is, and its settings."""
    return await ctx.worker.run(CampaignService.describe)


async def change(ctx: RequestContext, body: CampaignChange) -> dict[str, Any]:
    """Run, pause or close a campaign; set its budget (null: no limit); change settings (see ``Settings.changed``)."""
    if not body.model_fields_set or ("status" in body.model_fields_set and body.status is None):
        raise InvalidArgument("status", "running, paused or closed, or left out for a budget or settings", None)
    who = ctx.user.id
    if body.settings is not None:
        await ctx.worker.put(ChangeSettings(who, new_id("m"), body.settings))
    if "budget" in body.model_fields_set:
        await ctx.worker.put(SetBudget(who, new_id("m"), body.budget))
    if body.status is not None:
        await ctx.worker.put(SetStatus(who, new_id("m"), body.status))
    return await ctx.worker.run(CampaignService.describe)


async def delete(ctx: RequestContext) -> OkResponse:
    """Delete a campaign, its rows and its log."""
    ctx.services.workers.release(ctx.campaign_name)
    await ctx.services.heavy.threads.run(ctx.store.delete, ctx.campaign_name)
    ctx.services.workers.release(ctx.campaign_name)
    return OkResponse()


async def dashboard(ctx: RequestContext, query: DashboardQuery) -> JsonResponse[dict[str, Any]]:
    """Return all that a manager watches."""
    keys = _keys(query.keys)
    found = await ctx.worker.run(lambda service: service.dashboard(query.column, keys))
    return JsonResponse(found, known_tag=ctx.request.headers.get("if-none-match", ""))


async def predictions(ctx: RequestContext, query: PredictionsQuery) -> list[dict[str, Any]]:
    """Return what the model says about some rows."""
    await ctx.whole_model()
    keys = _keys(query.keys)
    if keys is not None:
        return await ctx.worker.run(lambda service: service.predict(keys))
    return await ctx.worker.run(lambda service: service.predict_from(query.after + 1, query.first))


async def browse(ctx: RequestContext, query: RowsQuery) -> RowsResponse:
    """Return a page of rows with their predictions, searched and sorted."""
    places: Sequence[int] = range((await to_thread(ctx.store.campaign, ctx.campaign_name)).rows)
    if query.search.strip():
        wanted = (ctx.store, ctx.campaign_name, query.search.strip())
        places = await ctx.services.heavy.search(ctx.user.id, found_rows, *wanted)
    total, weighed = len(places), thinned(places) if query.order == "unsure" else places
    if query.order == "unsure":
        doubts: list[float] = []
        for start in range(0, len(weighed), _AT_ONCE):  # people who answer come in between
            part = weighed[start : start + _AT_ONCE]
            doubts += await ctx.worker.run(partial(CampaignService.doubts, positions=part))
        by_doubt = sorted(zip(doubts, weighed, strict=True), key=lambda one: -one[0])
        weighed = [place for _, place in by_doubt]
    page = list(weighed[query.skip : query.skip + query.first])
    rows = await ctx.worker.run(lambda service: service.refreshed().predictions(page))
    return RowsResponse(total=total, weighed=len(weighed), rows=rows)


def _keys(text: str | None) -> list[str] | None:
    if text is None:
        return None
    keys = [key for key in text.split(",") if key]
    if len(keys) > MOST_KEYS:
        raise InvalidArgument("keys", f"at most {MOST_KEYS} keys", f"{len(keys)} keys")
    return keys


async def people(ctx: RequestContext) -> list[dict[str, Any]]:
    """Return everybody who answered, with what their answers say of them."""
    found, names = await ctx.worker.run(lambda service: service.refreshed().people()), await user_names(ctx)
    return [{**person, "name": names.get(person["id"], "")} for person in found]


async def user_names(ctx: RequestContext) -> dict[str, str]:
    """Return what people are called, by their ids."""
    return {user.id: user.name for user in await to_thread(ctx.accounts.users)}


async def exclude(ctx: RequestContext) -> ExclusionResponse:
    """Let nothing that a person answered count any more."""
    return await _set_excluded(ctx, excluded=True)


async def include(ctx: RequestContext) -> ExclusionResponse:
    """Let what a person answered count again."""
    return await _set_excluded(ctx, excluded=False)


async def _set_excluded(ctx: RequestContext, excluded: bool) -> ExclusionResponse:
    person = await _who_answered(ctx)
    command = Exclude if excluded else Include
    done = await ctx.worker.put(command(ctx.user.id, new_id("m"), person))
    return ExclusionResponse(excluded=excluded, answers=done.count)


async def resume(ctx: RequestContext) -> ResumedResponse:
    """Ask a person again who was paused."""
    person = await _who_answered(ctx)
    done = await ctx.worker.put(ResumePerson(ctx.user.id, new_id("m"), person))
    return ResumedResponse(answers=done.count)


async def _who_answered(ctx: RequestContext) -> str:
    """Return the person whom the path names."""
    person = ctx.path_param("id")
    if not await ctx.worker.run(lambda service: person in service.refreshed().projection.people):
        raise not_found("person")
    return person


async def list_members(ctx: RequestContext) -> list[UserSummary]:
    """Return who has been let into a campaign, and as what; administrators need not be."""
    found, names = await to_thread(ctx.accounts.members, ctx.campaign_name), await user_names(ctx)
    return [UserSummary(id=one.user, name=names.get(one.user, ""), role=one.role) for one in found]


async def remove_member(ctx: RequestContext) -> OkResponse:
    """Take somebody out of a campaign; what they answered stays.  Managers leave, or an administrator removes them."""
    person = ctx.path_param("id")
    role = await to_thread(ctx.accounts.role_in, ctx.campaign_name, person)
    if role == "manager" and not ctx.user.admin and person != ctx.user.id:
        raise forbidden("Only an administrator removes another manager.")
    if not await to_thread(ctx.accounts.remove_member, ctx.campaign_name, person):
        raise not_found("member")
    return OkResponse()


async def list_invitations(ctx: RequestContext) -> list[InvitationResponse]:
    """Return the invitations to a campaign, without their secrets."""
    return [InvitationResponse.of(one) for one in await to_thread(ctx.accounts.invitations, ctx.campaign_name)]


async def invite(ctx: RequestContext, body: NewInvitation) -> NewInvitationResponse:
    """Make a link that makes annotators of this campaign; its secret is shown this once."""
    expires = ctx.now + 3600 * body.expires_hours
    terms = ctx.campaign_name, expires, body.most_uses, body.title
    made = await to_thread(issue_invitation, ctx.accounts, *terms)
    if made is None:
        raise conflict(f"There are {INVITATIONS} invitations: revoke some first.")
    name, secret = made
    link = f"/join#{secret}"
    here = f"{ctx.request.url.scheme}://{ctx.request.headers['host']}"
    base = ctx.services.config.public_url.rstrip("/") or here
    return NewInvitationResponse(id=name, link=link, url=base + link, qr=_qr_code(base + link), expires=expires)


def _qr_code(text: str) -> str:
    """Draw a text as a QR code in SVG, with its name space: without it browsers do not show it as a picture."""
    out = io.BytesIO()
    segno.make(text, error="m").save(out, kind="svg", scale=4, dark="#000", light="#fff", xmldecl=False, nl=False)
    return out.getvalue().decode()


async def uninvite(ctx: RequestContext) -> OkResponse:
    """Revoke an invitation; who took it up stays."""
    if not await to_thread(ctx.accounts.revoke_invitation, ctx.path_param("id"), ctx.campaign_name):
        raise not_found("invitation")
    return OkResponse()


async def list_webhooks(ctx: RequestContext) -> list[WebhookResponse]:
    """Return where this campaign's events are sent, without the secrets."""
    return [WebhookResponse.of(webhook) for webhook in await to_thread(ctx.accounts.webhooks, ctx.campaign_name)]


async def add_webhook(ctx: RequestContext, body: NewWebhook) -> NewWebhookResponse:
    """Somewhere to send events to; the secret that signs them is shown this once."""
    await ctx.services.webhooks.check(body.url)
    if len(await to_thread(ctx.accounts.webhooks, ctx.campaign_name)) >= 10:
        raise conflict("There are ten webhooks: remove one first.")
    name, secret = new_id("w"), new_secret("whsec_")
    events = tuple(sorted(set(body.events)))
    await to_thread(ctx.accounts.add_webhook, name, ctx.campaign_name, body.url, secret, events)
    return NewWebhookResponse(id=name, secret=secret)


async def remove_webhook(ctx: RequestContext) -> OkResponse:
    """Remove a webhook."""
    if not await to_thread(ctx.accounts.remove_webhook, ctx.path_param("id"), ctx.campaign_name):
        raise not_found("webhook")
    return OkResponse()
