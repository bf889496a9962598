"""Routes for people who answer."""

from __future__ import annotations

from askone.campaign.engine.commands import PROGRAM, Answer, AnswerBag, Flag, Next, Release, Renew, Request, Skip, Undo
from askone.server._context import RequestContext
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
