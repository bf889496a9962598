"""Routes for pictures of rows, to whoever may see them."""

from __future__ import annotations

from asyncio import to_thread

from starlette.responses import Response

from askone.campaign.output.views import held_position, picture_of
from askone.server._context import RequestContext
from askone.server._errors import not_found


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
