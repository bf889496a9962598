"""Bodies of requests: read whole or piece by piece, up to a size and a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import ClientDisconnect, Request

from askone.server._errors import ApiError, too_large


def check_length(request: Request, limit: int) -> None:
    """Refuse a body that is announced as too large, before any of it is read."""
    length = request.headers.get("content-length")
    if length is not None and (not length.isdigit() or len(length) > 15 or int(length) > limit):
        raise too_large(limit)


async def stream_body(request: Request, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
    """Yield the body piece by piece, up to a size and a time."""
    check_length(request, limit)
    clock = asyncio.get_running_loop().time
    size, until = 0, clock() + seconds
    try:
        async with aclosing(request.stream()) as pieces:
            while True:
                # Around each piece: a timeout around a yield would end whatever is done with the piece meanwhile.
                async with asyncio.timeout_at(until):
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                if clock() > until:  # a piece that is there already is not waited for
                    raise TimeoutError
                size += len(piece)
                if size > limit:
                    raise too_large(limit)
                yield piece
    except ClientDisconnect as gone:
        raise ApiError(400, "disconnected", "The connection ended within the body.") from gone


async def read_body(request: Request, limit: int, seconds: float) -> bytes:
    """Return the body; ``stream_body`` without its generators, since this is done for every answer."""
    check_length(request, limit)
    body = bytearray()
    async with asyncio.timeout(seconds):
        while True:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ApiError(400, "disconnected", "The connection ended within the body.")
            body += message.get("body", b"")
            if len(body) > limit:
                raise too_large(limit)
            if not message.get("more_body", False):
                return bytes(body)
