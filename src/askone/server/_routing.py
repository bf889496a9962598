"""A route of the table, and what happens to every request before its handler sees it.

In this order: who is it, may they, is it their own doing, how often, and only then the body.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, final

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from askone.server._context import JsonResponse, RequestContext, Services
from askone.server._errors import ApiError, invalid, not_found
from askone.server.security.access import Access
from askone.server.security.rate_limits import client_address, read_body

Handler = Callable[[RequestContext], Awaitable[Any]]
LimitName = Literal["answers", "calls", "heavy", "logins", "free"]
ROUTE = "askone.route"
"""Where the scope of a request holds its route's path, for logs and metrics."""
PARTS = {
    "c": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "u": r"[A-Za-z0-9_-]{1,64}",
    "id": r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}",
    "position": r"[0-9]{1,9}",
}
"""What parts of a path may look like."""
_COMPILED = {name: re.compile(pattern) for name, pattern in PARTS.items()}


@final
@dataclass(frozen=True)
class Route:
    """Method, path, who may, and what handles it.

    ``body`` and ``query`` are models; a handler without ``body`` reads the request by itself if ``raw``.
    What a handler returns, a model or plain JSON values, becomes a response with this ``status``, unless it is a
    response already; its annotation is the description of the response.  ``limit`` names the limit that
    requests count towards.  With ``optional`` the sender of a public route is looked up, if there are credentials.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    status: int = 200
    limit: LimitName = "calls"
    raw: bool = False
    optional: bool = False


def endpoint(route: Route, services: Services) -> Callable[[Request], Awaitable[Response]]:
    """The function that serves a route."""
    names = [name for name in re.findall(r"{(\w+)}", route.path) if name in _COMPILED]

    async def serve(request: Request) -> Response:
        request.scope[ROUTE] = route.path
        user = None
        if not route.access.public or route.optional:
            user = await services.auth.identify(request)
        route.access.check(user)
        for name in names:
            if not _COMPILED[name].fullmatch(request.path_params[name]):
                raise not_found()
        role = None
        if route.access.campaign_role is not None and user is not None:
            role = await services.auth.role(request.path_params["c"], user)
            route.access.check_campaign(role)
        services.auth.check_origin(request, user)
        if route.limit != "free":
            services.limiters[route.limit].spend(user.id if user else client_address(request))
        query = None if route.query is None else _query(request, route.query)
        body = None
        if route.body is not None:
            text = await read_body(request, services.config.body_bytes, services.config.body_seconds)
            body = _body(request, text, route.body)
        result = await route.handler(RequestContext(request, services, user, body, query, role))
        return result if isinstance(result, Response) else JsonResponse(result, route.status)

    return serve


def _body(request: Request, text: bytes, model: type[BaseModel]) -> BaseModel:
    kind = request.headers.get("content-type", "application/json")
    if not kind.startswith("application/json"):
        # Forms of other sites can send anything but this.
        raise ApiError(422, "invalid", "The body must be application/json.")
    try:
        return model.model_validate_json(text or b"{}")
    except ValidationError as error:
        raise _first_error(error) from None


def _query(request: Request, model: type[BaseModel]) -> BaseModel:
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) < len(pairs):
        raise invalid(None, "Each parameter may be given once.")
    try:
        return model.model_validate_strings(dict(pairs))
    except ValidationError as error:
        raise _first_error(error) from None


def _first_error(error: ValidationError) -> ApiError:
    """The first thing that is wrong; what came is not repeated, for it may be a secret."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200] or None
    return invalid(where, f"{where or 'The body'}: {first['msg']}")
