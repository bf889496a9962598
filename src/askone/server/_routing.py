"""A route of the table, what happens to every request before its handler sees it, and what is sent back.

In this order: who is it, may they, is it their own doing, how often, and only then the body.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, final, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from askone.server._bodies import read_body
from askone.server._context import RequestContext, Services
from askone.server._errors import ApiError, invalid, not_found, to_api_error
from askone.server._requests import EmptyBody
from askone.server._responses import ErrorDetail, ErrorResponse
from askone.server.security.access import Access
from askone.server.security.authentication import SAFE
from askone.server.security.rate_limits import client_address

T = TypeVar("T", covariant=True)
Handler = Callable[..., Awaitable[Any]]
LimitName = Literal["answers", "calls", "heavy", "joins", "sign_ins", "free"]
ROUTE = "askone.route"
"""Where the scope of a request holds its route's path, for logs and metrics."""
PARTS = {
    "c": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "u": r"[A-Za-z0-9_-]{1,64}",
    "id": r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}",
    "position": r"[0-9]{1,9}",
    "number": r"[0-9]{1,9}",
    "lease": r"[A-Za-z0-9_-]{1,64}",
}
"""What parts of a path may look like."""
_COMPILED = {name: re.compile(pattern) for name, pattern in PARTS.items()}
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=lambda model: model.model_dump()
)


@final
class JsonResponse(Response, Generic[T]):
    """A response whose body is a model, or plain JSON values; handlers that need no header return the body itself."""

    media_type = "application/json"

    def __init__(self, body: T, status: int = 200, known_tag: str | None = None) -> None:
        """``known_tag`` is the tag of what a page that polls has already: the same content is not sent again."""
        content, headers = _ENCODER.encode(body).encode("utf-8", "replace"), {}
        if known_tag is not None:
            headers["ETag"] = tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
            if known_tag.removeprefix("W/") == tag:  # a proxy that compresses makes the tag a weak one
                content, status = b"", 304
        super().__init__(content, status, headers)


@final
@dataclass(frozen=True)
class Route:
    """Method, path, who may, and what handles it.

    What goes in and out is read from the handler's annotations.  Its parameters ``body`` and ``query`` are models; a
    handler without ``body`` gets an empty object, or reads the request by itself if ``raw``.  What it returns, a model
    or plain JSON values, becomes a response with this ``status``, unless it is a response already.  ``limit`` names
    the rate limit that requests count towards.  With ``optional`` the sender of a public route is looked up as well.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    status: int = 200
    limit: LimitName = "calls"
    raw: bool = False
    optional: bool = False

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.handler)

    @property
    def body(self) -> type[BaseModel] | None:
        """The model of the body that is sent."""
        return self._hints.get("body", EmptyBody if self.method in ("POST", "PATCH") and not self.raw else None)

    @property
    def query(self) -> type[BaseModel] | None:
        """The model of the parameters behind the question mark."""
        return self._hints.get("query")

    @property
    def returns(self) -> Any:
        """The type of the JSON that is returned; None for files and pages."""
        hint = self._hints["return"]
        if get_origin(hint) is JsonResponse:
            return get_args(hint)[0]
        return None if isinstance(hint, type) and issubclass(hint, Response) else hint


def endpoint(route: Route, services: Services) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that serves a route."""
    names = [name for name in re.findall(r"{(\w+)}", route.path) if name in _COMPILED]
    body, query = route.body, route.query
    wanted = route.handler.__annotations__
    # All but people's answers may: roles go with campaigns.
    changes_accounts = route.method not in SAFE and route.access.campaign_role != "annotator"

    async def serve(request: Request) -> Response:
        request.scope[ROUTE] = route.path
        user = None
        if not route.access.public or route.optional:
            user = await services.auth.identify(request, required=not route.access.public)
        route.access.check(user)
        for name in names:
            if not _COMPILED[name].fullmatch(request.path_params[name]):
                raise not_found()
        role = None
        if route.access.campaign_role is not None and user is not None:
            role = await services.auth.role(request.path_params["c"], user)
            route.access.check_campaign(role)
        services.auth.check_csrf(request, user)
        if route.limit != "free":
            services.limiters[route.limit].spend(user.id if user else client_address(request))
        read: dict[str, BaseModel] = {}
        if query is not None:
            read["query"] = _query(request, query)
        if body is not None:
            text = await read_body(request, services.config.body_bytes, services.config.body_seconds)
            read["body"] = _body(request, text, body)
        given = {name: model for name, model in read.items() if name in wanted}
        result = await route.handler(RequestContext(request, services, user, role), **given)
        if changes_accounts:
            services.auth.clear_cache()
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
    """Return the first thing that is wrong; what came is not repeated, for it may be a secret."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200] or None
    return invalid(where, f"{where or 'The body'}: {first['msg']}")


def error_response(error: BaseException) -> Response:
    """Return the response to an exception.

    >>> from askone.server._errors import forbidden
    >>> error_response(forbidden("No.")).body
    b'{"error": {"code": "forbidden", "message": "No.", "argument": null}}'
    """
    problem = to_api_error(error)
    headers = {}
    if problem.wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(problem.wait)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    detail = ErrorDetail(code=problem.code, message=problem.message, argument=problem.argument)
    text = json.dumps(ErrorResponse(error=detail).model_dump(), ensure_ascii=True)
    return Response(text, problem.status, headers, "application/json")


async def handle_error(_: Request, error: Exception) -> Response:
    """Return the response to an exception; called by the framework."""
    return error_response(error)
