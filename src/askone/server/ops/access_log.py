"""Around every request: is it meant for this host, how long did it take, and a line in the log.

A line has the route as the table writes it, never the path or the query as they came: so nothing that a
sender writes, no name of a person and no secret gets into the log.
"""

from __future__ import annotations

import logging
import re
import time
from typing import final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askone.server._errors import ApiError
from askone.server._routing import ROUTE, error_response
from askone.server.config import ServerConfig
from askone.server.ops.metrics import Metrics

log = logging.getLogger("askone.access")
_HOST = re.compile(r"(\[[0-9a-f:.]*\]|[a-z0-9._-]*)(?::[0-9]{1,5})?")
"""A name or an address, and perhaps a port: what else a host may look like ends up in links."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@final
class AccessLogMiddleware:
    """Host check, access log and metrics."""

    def __init__(self, app: ASGIApp, config: ServerConfig, metrics: Metrics) -> None:
        self._app, self._config, self._metrics, self._names = app, config, metrics, config.names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._welcome(scope):
                await self._app(scope, receive, sending)
            else:
                refusal = ApiError(421, "unknown_host", "This server does not go by that name.")
                await error_response(refusal)(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _welcome(self, scope: Scope) -> bool:
        host = _HOST.fullmatch(Headers(scope=scope).get("host", "").lower())
        return host is not None and ("*" in self._names or host[1] in self._names)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(scope.get(ROUTE, "unknown"))
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.request(method, route, status, seconds)
        if self._config.access_log and log.isEnabledFor(logging.INFO):
            # JSON, written by hand: routes and methods are ours, and need no escapes.
            log.info(
                f'{{"at": {time.time():.3f}, "method": "{method}", "route": "{route}", '
                f'"status": {status}, "ms": {1000 * seconds:.2f}}}'
            )
