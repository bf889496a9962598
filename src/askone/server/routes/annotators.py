"""Routes for people who answer."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from askone.campaign.engine.commands import Answer, Flag, Next, Release, Renew, Skip, Undo
from askone.server._campaign_view import Front
from askone.server._errors import missing
from askone.server._requests import AnswerBody, FlagBody, LeasesBody, SkipBody, UndoBody
from askone.server._services import Call, away, reply
from askone.store.store import Store


async def brief(call: Call) -> Response:
    """What one should know before the first question."""
    person = call.person.id
    return reply(await call.worker.run(lambda front: _brief(front, person)))


def _brief(front: Front, person: str) -> dict[str, Any]:
    front.campaign.refresh()  # another process may have written since
    settings, known = front.campaign.settings, front.campaign.book.people.get(person)
    return {
        "name": front.campaign.name,
        "title": front.campaign.title,
        "instructions": settings.question.instructions,
        "kind": settings.labels.kind,
        "answers": list(settings.question.answers),
        "mine": 0 if known is None else known.answers,
    }


async def next_question(call: Call) -> Response:
    """A question, or why there is none."""
    return reply(await call.worker.put(Next(call.person.id)))


async def answer(call: Call) -> Response:
    """Takes an answer in for good, and gives the next question."""
    body: AnswerBody = call.body
    result = await call.worker.put(Answer(call.person.id, body.lease, body.answer, body.id, body.took))
    call.services.metrics.answers.inc()
    return reply(result)


async def skip(call: Call) -> Response:
    """Leaves a question, and gives the next one."""
    body: SkipBody = call.body
    return reply(await call.worker.put(Skip(call.person.id, body.lease, body.id, body.reason)))


async def flag(call: Call) -> Response:
    """Notes that something is wrong with a question; it stays."""
    body: FlagBody = call.body
    return reply(await call.worker.put(Flag(call.person.id, body.lease, body.id, body.reason)))


async def undo(call: Call) -> Response:
    """Takes the last answer or skip back; its question is open again."""
    body: UndoBody = call.body
    return reply(await call.worker.put(Undo(call.person.id, body.id)))


async def renew(call: Call) -> Response:
    """Questions that are still being looked at."""
    body: LeasesBody = call.body
    done = await call.worker.put(Renew(call.person.id, tuple(body.leases)))
    return reply({"renewed": done.count})


async def release(call: Call) -> Response:
    """Questions that somebody else may have."""
    body: LeasesBody = call.body
    done = await call.worker.put(Release(call.person.id, tuple(body.leases)))
    return reply({"released": done.count})


async def image(call: Call) -> Response:
    """The picture of a row, as it was encoded when it was taken in."""
    media = await away(_picture, call.store, call.campaign, int(call.part("position")))
    if media is None or media[0] not in ("image/png", "image/jpeg"):
        raise missing("picture")
    headers = {"Cache-Control": "private, max-age=86400, immutable", "Content-Disposition": "inline"}
    return Response(media[1], 200, headers, media[0])


def _picture(store: Store, campaign: str, position: int) -> tuple[str, bytes] | None:
    if position >= store.campaign(campaign).rows:
        return None
    key = store.rows(campaign, [position])[0].content.get("image")
    return None if key is None else store.media(campaign, str(key))
