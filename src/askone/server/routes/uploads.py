"""Routes from a file to a campaign: upload, look, preview, forecast, create, add rows."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from askone._common.lazy_import import lazy_import
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Table
from askone.server._errors import conflict, invalid
from askone.server._requests import ForecastBody, MoreRows, NewCampaign, SettingsBody
from askone.server._services import Call, away, reply
from askone.server._uploaded_files import Upload
from askone.server.routes.previews import previewed
from askone.server.security.rate_limits import pieces
from askone.server.security.tokens import fresh_id

if TYPE_CHECKING:
    from askone.campaign import create as intake
    from askone.campaign import forecast as forecasting
    from askone.campaign.tables import open as tables
else:
    forecasting = lazy_import("askone.campaign.forecast")
    intake = lazy_import("askone.campaign.create")
    tables = lazy_import("askone.campaign.tables.open")

NONE = "none"
"""What the upload of a campaign without a table is called."""
RESERVED = frozenset({"new"})
"""Names that are pages already."""
_PIECE = 1 << 20


async def receive(call: Call) -> Response:
    """Takes in a table: the body is the file, or a form with one."""
    config, headers = call.services.config, call.request.headers
    body = pieces(call.request, config.upload_bytes, config.upload_seconds)
    if not headers.get("content-type", "").startswith("multipart/form-data"):
        return await _take(call, body, headers.get("x-file-name", "table.csv"))
    form = await _form(call, body)
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise invalid("file", "The form must have a file named file.")
        return await _take(call, _read(file), file.filename or "table.csv")
    finally:
        await form.close()


async def _take(call: Call, body: AsyncIterator[bytes], title: str) -> Response:
    upload = await call.services.uploads.receive(body, call.person.id, title)
    try:
        return reply({"upload": upload.id, **await away(_looked_at, upload)}, 201)
    except BaseException:
        await away(call.services.uploads.remove, upload)
        raise


async def _form(call: Call, body: AsyncIterator[bytes]) -> FormData:
    parser = MultiPartParser(call.request.headers, _plain(body), max_files=1, max_fields=4)
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise invalid("file", "The form cannot be read.") from error


async def _plain(body: AsyncIterator[bytes]) -> Any:
    async for piece in body:
        yield piece


async def _read(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


def _looked_at(upload: Upload) -> dict[str, Any]:
    table = _table(upload)
    columns = [column.to_json() for column in table.columns]
    sample = table.sample[:5]
    return {"rows": table.rows, "columns": columns, "sample": sample, "suggested": suggest(table).to_json()}


def _table(upload: Upload) -> Table:
    return _opened(upload.path, upload.title)


@lru_cache(maxsize=4)
def _opened(path: Path, title: str) -> Table:
    # A file is read from end to end to be opened, and looked at several times before it becomes a campaign.
    return tables.open_table(path, name=title)


async def preview(call: Call) -> Response:
    """The first questions that a campaign with these settings would ask, and the settings as they are understood."""
    body: SettingsBody = call.body
    upload = _found(call, call.part("u"))
    async with call.services.room:
        return reply(await away(_previewed, upload, body.settings))


def _previewed(upload: Upload | None, given: dict[str, Any]) -> dict[str, Any]:
    settings = Settings.from_json(given)
    table = None if upload is None else _table(upload)
    return {"questions": previewed(settings, table), "settings": settings.to_json(), "toml": settings.to_toml()}


async def forecast(call: Call) -> Response:
    """How well a campaign would do, simulated with made-up answers about the real rows."""
    body: ForecastBody = call.body
    upload = _found(call, call.part("u"))
    async with call.services.room:
        return reply(await away(_forecast, upload, body))


def _forecast(upload: Upload | None, body: ForecastBody) -> dict[str, Any]:
    settings = Settings.from_json(body.settings)
    found = forecasting.forecast(settings, None if upload is None else _table(upload), body.answers, body.flip)
    return found.to_json()


async def create(call: Call) -> Response:
    """Makes a campaign; whoever makes it manages it."""
    body: NewCampaign = call.body
    settings = Settings.from_json(body.settings)
    upload = _found(call, body.upload or NONE)
    taken = {record.name for record in await away(call.store.campaigns)}
    name = body.name or _named(settings.title, taken)
    if name in RESERVED or name in taken:
        raise conflict("A campaign of this name exists.", "name_taken")
    async with call.services.room:
        await away(_created, call, name, settings, upload)
    call.services.auth.forget()
    return reply({"name": name}, 201)


def _created(call: Call, name: str, settings: Settings, upload: Upload | None) -> None:
    table = None if upload is None else _table(upload)
    intake.create_campaign(call.store, name, settings, table, call.person.id, call.now)
    call.accounts.add_member(name, call.person.id, "manager")
    if upload is not None:
        _removed(call, upload)


async def add_rows(call: Call) -> Response:
    """Adds the rows of an upload to a campaign, which goes on meanwhile."""
    body: MoreRows = call.body
    upload = call.services.uploads.find(body.upload, call.person.id)
    async with call.services.room:
        added = await away(_added, call, upload)
    return reply({"added": added})


def _added(call: Call, upload: Upload) -> int:
    added = intake.add_rows(call.store, call.campaign, _table(upload), call.now, call.person.id)
    _removed(call, upload)
    return added


def _removed(call: Call, upload: Upload) -> None:
    """Its file is of no use any more, and no table keeps it open."""
    _opened.cache_clear()
    call.services.uploads.remove(upload)


def _found(call: Call, upload: str) -> Upload | None:
    return None if upload == NONE else call.services.uploads.find(upload, call.person.id)


def _named(title: str, taken: set[str]) -> str:
    """A name for an address, made of the title.

    >>> _named("Häuser & Preise!", {"h-user-preise"})
    'h-user-preise-2'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50] or "campaign"
    names = [plain, *(f"{plain}-{n}" for n in range(2, 100))]
    free = [name for name in names if name not in taken | RESERVED]
    return free[0] if free else f"{plain}-{fresh_id().lower().strip('-_')}"
