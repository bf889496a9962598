"""Files that are sent while they are made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import StreamingResponse


async def stream(chunks: Iterator[bytes], kind: str, name: str) -> StreamingResponse:
    """Return a download; what goes wrong before its first bytes is still told as an error."""
    pieces = iterate_in_threadpool(chunks)
    first = await anext(pieces, b"")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_rest(first, pieces), 200, headers, kind)


async def _rest(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece
