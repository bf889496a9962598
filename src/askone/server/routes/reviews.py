"""Routes by which a manager looks through answers and flags, and decides."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from askone.campaign.engine.commands import Resolve, Rule
from askone.server._context import RequestContext
from askone.server._errors import not_found
from askone.server._requests import AnswersQuery, Ruling
from askone.server._responses import OkResponse
from askone.server.routes.managers import user_names
from askone.server.security.tokens import new_id


async def answers(ctx: RequestContext, query: AnswersQuery) -> dict[str, Any]:
    """Return a page of questions with their answers."""
    chosen = (query.which, query.person, query.first, query.skip)
    found: dict[str, Any] = await ctx.worker.run(lambda service: service.refreshed().answers(*chosen))
    return {**found, "answers": await _named(ctx, found["answers"])}


async def history(ctx: RequestContext) -> dict[str, Any]:
    """Return a row, what is predicted of it, and all that was asked about it."""
    position = int(ctx.path_param("position"))
    if position >= (await to_thread(ctx.store.campaign, ctx.campaign_name)).rows:
        raise not_found("row")
    found: dict[str, Any] = await ctx.worker.run(lambda service: service.refreshed().history(position))
    return {**found, "asked": await _named(ctx, found["asked"])}


async def _named(ctx: RequestContext, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return questions with the names of those who answered."""
    names = await user_names(ctx)
    return [
        {**one, "given": [{**given, "name": names.get(given["who"], "")} for given in one["given"]]} for one in asked
    ]


async def rule(ctx: RequestContext, body: Ruling) -> OkResponse:
    """Decide a question, whatever people said."""
    number = int(ctx.path_param("number"))
    if not await ctx.worker.run(lambda service: service.can_rule(number)):
        raise not_found("question")
    await ctx.worker.put(Rule(ctx.user.id, new_id("m"), number, body.answer))
    return OkResponse()


async def flags(ctx: RequestContext) -> list[dict[str, Any]]:
    """Return what people found wrong."""
    found, names = await ctx.worker.run(lambda service: service.refreshed().flags()), await user_names(ctx)
    return [{**flag, "who": names.get(flag["who"], flag["who"])} for flag in found]


async def resolve(ctx: RequestContext) -> OkResponse:
    """Note that a flag was seen to."""
    known = {flag["id"] for flag in await ctx.worker.run(lambda service: service.refreshed().flags())}
    if ctx.path_param("id") not in known:
        raise not_found("flag")
    await ctx.worker.put(Resolve(ctx.user.id, new_id("m"), ctx.path_param("id")))
    return OkResponse()
