"""JSON responses: of what handlers return, and of what goes wrong."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Generic, TypeVar, final

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from askone.server._errors import to_api_error
from askone.server._responses import ErrorDetail, ErrorResponse

T = TypeVar("T", covariant=True)


def _fields(model: BaseModel) -> dict[str, Any]:
    return model.model_dump()


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_fields)


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
    """For the framework: exceptions that come by way of it."""
    return error_response(error)
