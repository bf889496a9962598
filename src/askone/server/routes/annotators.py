"""Routes for people who answer."""

from __future__ import annotations

from asyncio import to_thread

from starlette.responses import Response

from askone.campaign.engine.commands import PROGRAM, Answer, AnswerBag, Flag, Next, Release, Renew, Request, Skip, Undo
from askone.campaign.output.views import held_position, picture_of
from askone.server._context import RequestContext
from askone.server._errors import not_found
from askone.server._requests import AnswerBody, BagBody, FlagBody, LeasesBody, SkipBody, UndoBody
from askone.server._responses import BriefResponse, ReleaseResponse, RenewResponse, ServingResponse


async def brief(ctx: RequestContext) -> BriefResponse:
    """Return what one should know before the first question."""
    person = ctx.user.id
    return await ctx.worker.run(lambda service: service.brief(person))


async def next_question(ctx: RequestContext) -> ServingResponse:
    """Return a question, or why there is none."""
    return await _serve(ctx, Next(ctx.user.id))


async def _serve(ctx: RequestContext, command: Request) -> ServingResponse:
    served: ServingResponse = await ctx.worker.put(command)
    return served


def _kind(ctx: RequestContext, said: str) -> str:
    """Return whether a person answers or a program: an account that is a program's is never a person's."""
    return PROGRAM if ctx.user.role == PROGRAM else said


async def answer(ctx: RequestContext, body: AnswerBody) -> ServingResponse:
    """Take an answer in for good, and return the next question."""
    said = (body.lease, body.answer, body.id, body.took, body.epsilon)
    result = await _serve(ctx, Answer(ctx.user.id, *said, _kind(ctx, body.kind), body.cost))
    ctx.services.metrics.answers.inc()
    return result


async def answer_bag(ctx: RequestContext, body: BagBody) -> ServingResponse:
    """Take the answers of a bag in for good, and return the next question."""
    said = (tuple(body.leases), tuple(body.answers), body.id, body.took)
    result = await _serve(ctx, AnswerBag(ctx.user.id, *said, _kind(ctx, body.kind)))
    ctx.services.metrics.answers.inc(len(body.answers))
    return result


async def skip(ctx: RequestContext, body: SkipBody) -> ServingResponse:
    """Leave a question, and return the next one."""
    return await _serve(ctx, Skip(ctx.user.id, body.lease, body.id, body.reason, _kind(ctx, body.kind)))


async def flag(ctx: RequestContext, body: FlagBody) -> ServingResponse:
    """Note that something is wrong with a question; it stays."""
    return await _serve(ctx, Flag(ctx.user.id, body.lease, body.id, body.reason))


async def undo(ctx: RequestContext, body: UndoBody) -> ServingResponse:
    """Take the last answer or skip back; its question is open again."""
    return await _serve(ctx, Undo(ctx.user.id, body.id))


async def renew(ctx: RequestContext, body: LeasesBody) -> RenewResponse:
    """Renew the leases of questions that are still being looked at."""
    done = await ctx.worker.put(Renew(ctx.user.id, tuple(body.leases)))
    return RenewResponse(renewed=done.count)


async def release(ctx: RequestContext, body: LeasesBody) -> ReleaseResponse:
    """Release questions, so that somebody else may have them."""
    done = await ctx.worker.put(Release(ctx.user.id, tuple(body.leases)))
    return ReleaseResponse(released=done.count)


async def image(ctx: RequestContext) -> Response:
    """Return the picture of a question's row, to whoever holds the question."""
    seats = await to_thread(ctx.store.seats_of, ctx.campaign_name, ctx.user.id)
    return await _picture(ctx, held_position(seats, ctx.path_param("lease")))


async def example_image(ctx: RequestContext) -> Response:
    """Return the picture of a row that the guidelines or the training round show."""
    position = int(ctx.path_param("position"))
    is_shown = await ctx.worker.run(lambda service: position in service.example_positions)
    return await _picture(ctx, position if is_shown else None)


async def row_image(ctx: RequestContext) -> Response:
    """Return the picture of a row, to its manager."""
    return await _picture(ctx, int(ctx.path_param("position")))


async def _picture(ctx: RequestContext, position: int | None) -> Response:
    """Return a picture as it was encoded when it was taken in."""
    media = None if position is None else await to_thread(picture_of, ctx.store, ctx.campaign_name, position)
    if media is None or media[0] not in ("image/png", "image/jpeg"):
        raise not_found("picture")
    headers = {"Cache-Control": "private, max-age=86400, immutable", "Content-Disposition": "inline"}
    return Response(media[1], 200, headers, media[0])
