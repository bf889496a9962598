"""Routes for machines that watch machines."""

from __future__ import annotations

from starlette.responses import Response

from askone.server._services import Call, away, reply
from askone.server.ops.metrics import CONTENT_TYPE


async def live(_: Call) -> Response:
    """The process answers."""
    return reply({"status": "live"})


async def ready(call: Call) -> Response:
    """The store answers as well, and what asks is loaded."""
    await away(call.store.ping)
    await call.services.able.wait()
    return reply({"status": "ready"})


async def metrics(call: Call) -> Response:
    """Numbers of this process, for Prometheus."""
    numbers = call.services.metrics
    numbers.campaigns.set(len(call.services.workers))
    return Response(numbers.text(), 200, {"Content-Type": CONTENT_TYPE})


async def description(call: Call) -> Response:
    """This API, as OpenAPI."""
    return reply(call.request.app.description)
