"""Routes for machines that watch machines."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from starlette.responses import Response

from askone.server._context import RequestContext
from askone.server._errors import ApiError
from askone.server._responses import HealthResponse
from askone.server.ops.metrics import CONTENT_TYPE


async def live(_: RequestContext) -> HealthResponse:
    """Say that the process answers."""
    return HealthResponse(status="live")


async def ready(ctx: RequestContext) -> HealthResponse:
    """Say that the store answers and takes what is written, that what asks is loaded, and that all loops run."""
    await to_thread(ctx.store.ping)
    await ctx.services.write_probe.check()
    await ctx.services.ready.wait()
    ended = sorted(ctx.services.background.ended)
    if ended:
        raise ApiError(503, "not_ready", f"Ended, and about to be started again: {', '.join(ended)}.", wait=1.0)
    return HealthResponse(status="ready")


async def metrics(ctx: RequestContext) -> Response:
    """Return numbers of this process, for Prometheus."""
    numbers = ctx.services.metrics
    numbers.campaigns.set(len(ctx.services.workers))
    return Response(numbers.text(), 200, {"Content-Type": CONTENT_TYPE})


async def description(ctx: RequestContext) -> dict[str, Any]:
    """This API, as OpenAPI."""
    description: dict[str, Any] = ctx.request.app.description
    return description
