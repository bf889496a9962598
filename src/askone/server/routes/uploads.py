"""Routes from a file to a campaign: upload, look, preview its first questions, forecast, create, add rows."""

from __future__ import annotations

import re
from asyncio import to_thread
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from askone.campaign.settings.settings import Settings
from askone.server._bodies import stream_body
from askone.server._context import RequestContext
from askone.server._errors import conflict, invalid
from askone.server._requests import ForecastBody, MoreRows, NewCampaign, SettingsBody
from askone.server._responses import (
    AddedRowsResponse,
    CampaignNameResponse,
    PreviewResponse,
    UploadResponse,
)
from askone.server._upload_folder import Upload
from askone.server.heavy.jobs import File
from askone.server.security.tokens import new_id

NONE = "none"
"""What the upload of a campaign without a table is called."""
RESERVED = frozenset({"new"})
"""Names that are pages already."""
_PIECE = 1 << 20


async def receive(ctx: RequestContext) -> UploadResponse:
    """Take in a table: the body is the file, or a form with one."""
    config, headers = ctx.services.config, ctx.request.headers
    body = stream_body(ctx.request, config.upload_bytes, config.upload_seconds)
    if not headers.get("content-type", "").startswith("multipart/form-data"):
        return await _store(ctx, body, headers.get("x-file-name", "table.csv"))
    form = await _form(ctx, body)
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise invalid("file", "The form must have a file named file.")
        return await _store(ctx, _read(file), file.filename or "table.csv")
    finally:
        await form.close()


async def _store(ctx: RequestContext, body: AsyncIterator[bytes], title: str) -> UploadResponse:
    upload = await ctx.services.uploads.receive(body, ctx.user.id, title)
    try:
        return UploadResponse(upload=upload.id, **await _heavy(ctx, "describe", file=_file(ctx, upload)))
    except BaseException:
        await to_thread(ctx.services.uploads.remove, upload)
        raise


async def _form(ctx: RequestContext, body: AsyncGenerator[bytes, None]) -> FormData:
    parser = MultiPartParser(ctx.request.headers, body, max_files=1, max_fields=4)
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise invalid("file", "The form cannot be read.") from error


async def _read(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


def _file(ctx: RequestContext, upload: Upload | None) -> File | None:
    return None if upload is None else (str(upload.path), upload.title, ctx.services.config.upload_cells)


async def _heavy(ctx: RequestContext, job: str, **values: Any) -> Any:
    return await ctx.services.heavy.run(ctx.request, ctx.user.id, job, **values)


async def preview(ctx: RequestContext, body: SettingsBody) -> PreviewResponse:
    """Return the first questions that a campaign would ask, and its settings as they are understood."""
    file = _file(ctx, _find(ctx, ctx.path_param("u")))
    return PreviewResponse.model_validate(await _heavy(ctx, "preview", file=file, settings=body.settings))


async def forecast(ctx: RequestContext, body: ForecastBody) -> dict[str, Any]:
    """Return how well a campaign would do, simulated with made-up answers about the real rows."""
    file = _file(ctx, _find(ctx, ctx.path_param("u")))
    flip = body.flip if body.people is None else 0.0
    chosen = {"settings": body.settings, "answers": body.answers, "flip": flip, "people": body.people}
    found: dict[str, Any] = await _heavy(ctx, "forecast", file=file, **chosen)
    return found


async def create(ctx: RequestContext, body: NewCampaign) -> CampaignNameResponse:
    """Make a campaign; whoever makes it manages it."""
    settings = Settings.from_json(body.settings)
    upload = _find(ctx, body.upload or NONE)
    taken = {record.name for record in await to_thread(ctx.store.campaigns)}
    name = body.name or _free_name(settings.title, taken)
    if name in RESERVED or name in taken:
        raise conflict("A campaign of this name exists.", "name_taken")
    chosen = {"name": name, "settings": body.settings, "owner": ctx.user.id, "at": ctx.now}
    await _heavy(ctx, "create", file=_file(ctx, upload), **chosen)
    if upload is not None:
        await to_thread(ctx.services.uploads.remove, upload)
    return CampaignNameResponse(name=name)


async def add_rows(ctx: RequestContext, body: MoreRows) -> AddedRowsResponse:
    """Add the rows of an upload to a campaign, which goes on meanwhile."""
    upload = ctx.services.uploads.find(body.upload, ctx.user.id)
    given = {"name": ctx.campaign_name, "who": ctx.user.id, "at": ctx.now}
    added = await _heavy(ctx, "add_rows", file=_file(ctx, upload), **given)
    await to_thread(ctx.services.uploads.remove, upload)
    return AddedRowsResponse(added=added)


def _find(ctx: RequestContext, upload: str) -> Upload | None:
    return None if upload == NONE else ctx.services.uploads.find(upload, ctx.user.id)


def _free_name(title: str, taken: set[str]) -> str:
    """Return a name for an address, made of the title.

    >>> _free_name("Häuser & Preise!", {"h-user-preise"})
    'h-user-preise-2'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50] or "campaign"
    names = [plain, *(f"{plain}-{n}" for n in range(2, 100))]
    free = [name for name in names if name not in taken | RESERVED]
    return free[0] if free else f"{plain}-{new_id().lower().strip('-_')}"
