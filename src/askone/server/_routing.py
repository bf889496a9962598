"""A row of the route table, and what happens to every request before its handler sees it.

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

from askone.server._errors import Refused, invalid, missing
from askone.server._responses import Anything
from askone.server._services import Call, Services
from askone.server.security.access import Access
from askone.server.security.rate_limits import address, whole

Handler = Callable[[Call], Awaitable[Response]]
Pace = Literal["answers", "calls", "heavy", "logins", "free"]
ROUTE = "askone.route"
"""Where the scope of a request holds its row's path, for logs and metrics."""
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
class Row:
    """One route: method, path, who may, what handles it, what goes in and what comes out.

    ``body`` and ``query`` are models; a handler without ``body`` reads the request by itself if ``raw``.
    ``gives`` is the model of the response, for the description; None stands for files and pages.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    gives: Any = Anything
    status: int = 200
    pace: Pace = "calls"
    raw: bool = False
    optional: bool = False


def endpoint(row: Row, services: Services) -> Callable[[Request], Awaitable[Response]]:
    """The function that serves a row."""
    names = [name for name in re.findall(r"{(\w+)}", row.path) if name in _COMPILED]

    async def serve(request: Request) -> Response:
        request.scope[ROUTE] = row.path
        person = None
        if not row.access.anybody or row.optional:
            person = await services.auth.identify(request)
        row.access.admit(person)
        for name in names:
            if not _COMPILED[name].fullmatch(request.path_params[name]):
                raise missing()
        role = None
        if row.access.within is not None and person is not None:
            role = await services.auth.role(request.path_params["c"], person)
            row.access.admit_within(role)
        services.auth.guard(request, person)
        if row.pace != "free":
            services.rates[row.pace].spend(person.id if person else address(request))
        query = None if row.query is None else _query(request, row.query)
        body = None
        if row.body is not None:
            text = await whole(request, services.config.body_bytes, services.config.body_seconds)
            body = _body(request, text, row.body)
        return await row.handler(Call(request, services, person, body, query, role))

    return serve


def _body(request: Request, text: bytes, model: type[BaseModel]) -> BaseModel:
    kind = request.headers.get("content-type", "application/json")
    if not kind.startswith("application/json"):
        # Forms of other sites can send anything but this.
        raise Refused(422, "invalid", "The body must be application/json.")
    try:
        return model.model_validate_json(text or b"{}")
    except ValidationError as error:
        raise _first(error) from None


def _query(request: Request, model: type[BaseModel]) -> BaseModel:
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) < len(pairs):
        raise invalid(None, "Each parameter may be given once.")
    try:
        return model.model_validate_strings(dict(pairs))
    except ValidationError as error:
        raise _first(error) from None


def _first(error: ValidationError) -> Refused:
    """The first thing that is wrong; what came is not repeated, for it may be a secret."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200] or None
    return invalid(where, f"{where or 'The body'}: {first['msg']}")
