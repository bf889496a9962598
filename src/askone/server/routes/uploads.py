"""Routes from a file to a campaign: upload, look, preview its first questions, forecast, create, add rows."""

from __future__ import annotations

import base64
import re
from asyncio import to_thread
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import lru_cache
from typing import Any, final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from askone.campaign.engine.commands import Next
from askone.campaign.lazy import campaign, tables
from askone.campaign.lazy import create as creation
from askone.campaign.lazy import forecast as forecasting
from askone.campaign.output.views import held_position
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import suggest
from askone.campaign.tables.base import Cells, Table
from askone.campaign.tables.image_tables import IMAGE, ImageTable
from askone.server._campaign_service import CampaignService
from askone.server._context import RequestContext
from askone.server._errors import conflict, invalid
from askone.server._requests import ForecastBody, MoreRows, NewCampaign, SettingsBody
from askone.server._responses import (
    AddedRowsResponse,
    CampaignNameResponse,
    PreviewResponse,
    QuestionResponse,
    ServingResponse,
    UploadResponse,
)
from askone.server._upload_folder import Upload
from askone.server.routes.annotators import picture_of
from askone.server.security.rate_limits import stream_body
from askone.server.security.tokens import new_id
from askone.store.open import open_store
from askone.store.store import Store

NONE = "none"
"""What the upload of a campaign without a table is called."""
RESERVED = frozenset({"new"})
"""Names that are pages already."""
_PIECE = 1 << 20
QUESTIONS, ROWS, IMAGES = 5, 200, 40
"""What a preview has at most."""


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
        return await to_thread(_described, upload)
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


def _described(upload: Upload) -> UploadResponse:
    table = _table(upload)
    return UploadResponse(
        upload=upload.id,
        rows=table.rows,
        columns=[column.to_json() for column in table.columns],
        sample=table.sample[:5],
        suggested=suggest(table).to_json(),
    )


@lru_cache(maxsize=4)
def _table(upload: Upload) -> Table:
    # A file is read from end to end to be opened, and looked at several times before it becomes a campaign.
    return tables.open_table(upload.path, name=upload.title)


async def preview(ctx: RequestContext, body: SettingsBody) -> PreviewResponse:
    """Return the first questions that a campaign would ask, and its settings as they are understood."""
    upload = _find(ctx, ctx.path_param("u"))
    async with ctx.services.heavy_slots:
        return await to_thread(_previewed, upload, body.settings)


def _previewed(upload: Upload | None, given: dict[str, Any]) -> PreviewResponse:
    settings = Settings.from_json(given)
    table = None if upload is None else _sample(_table(upload))
    return PreviewResponse(questions=_questions(settings, table), settings=settings.to_json(), toml=settings.to_toml())


@final
class SampleTable(Table):
    """The sample of a table as a table."""

    def __init__(self, table: Table, rows: int = ROWS) -> None:
        step = max(1, len(table.sample) // rows)
        self.title, self.columns = table.title, table.columns
        self.sample = table.sample[::step][:rows]
        self.rows = len(self.sample)

    def chunks(self) -> Iterator[list[Cells]]:
        yield self.sample


@final
class SampleImages(ImageTable):
    """Some images of a table as a table."""

    def __init__(self, table: ImageTable, count: int = IMAGES) -> None:
        self._table = table
        names = [row[IMAGE] for row in table.sample[:: max(1, len(table.sample) // count)]][:count]
        super().__init__(names, table.title, table.limits)

    def _read(self, name: str) -> bytes:
        return self._table.image(name)


def _sample(table: Table) -> Table:
    return SampleImages(table) if isinstance(table, ImageTable) else SampleTable(table)


def _questions(settings: Settings, table: Table | None) -> list[QuestionResponse]:
    """Return the first questions of a campaign in memory."""
    with open_store("memory:") as store:
        creation.create_campaign(store, "preview", settings, table, "", 0.0)
        service = CampaignService(campaign.Campaign.open(store, "preview"))
        people = [f"p{n}" for n in range(QUESTIONS)]
        served = service.serve([Next(person, ahead=False) for person in people], 1.0)
        found = [
            (one.question, person)
            for one, person in zip(served, people, strict=True)
            if isinstance(one, ServingResponse) and one.question is not None
        ]
        return [_with_picture(question, person, store) for question, person in found]


def _with_picture(question: QuestionResponse, person: str, store: Store) -> QuestionResponse:
    """Put the picture itself in place of its address: the campaign that has it is gone when the page looks."""
    row, position = question.row, held_position(store.seats_of("preview", person), question.lease)
    kept = None if row.image is None or position is None else picture_of(store, "preview", position)
    image = None if kept is None else f"data:{kept[0]};base64,{base64.b64encode(kept[1]).decode()}"
    return question.model_copy(update={"row": row.model_copy(update={"image": image})})


async def forecast(ctx: RequestContext, body: ForecastBody) -> dict[str, Any]:
    """Return how well a campaign would do, simulated with made-up answers about the real rows."""
    upload = _find(ctx, ctx.path_param("u"))
    async with ctx.services.heavy_slots:
        return await to_thread(_forecast, upload, body)


def _forecast(upload: Upload | None, body: ForecastBody) -> dict[str, Any]:
    settings = Settings.from_json(body.settings)
    found = forecasting.forecast(settings, None if upload is None else _table(upload), body.answers, body.flip)
    return found.to_json()


async def create(ctx: RequestContext, body: NewCampaign) -> CampaignNameResponse:
    """Make a campaign; whoever makes it manages it."""
    settings = Settings.from_json(body.settings)
    upload = _find(ctx, body.upload or NONE)
    taken = {record.name for record in await to_thread(ctx.store.campaigns)}
    name = body.name or _free_name(settings.title, taken)
    if name in RESERVED or name in taken:
        raise conflict("A campaign of this name exists.", "name_taken")
    async with ctx.services.heavy_slots:
        await to_thread(_create, ctx, name, settings, upload)
    return CampaignNameResponse(name=name)


def _create(ctx: RequestContext, name: str, settings: Settings, upload: Upload | None) -> None:
    table = None if upload is None else _table(upload)
    creation.create_campaign(ctx.store, name, settings, table, ctx.user.id, ctx.now)
    ctx.accounts.add_member(name, ctx.user.id, "manager")
    if upload is not None:
        _remove(ctx, upload)


async def add_rows(ctx: RequestContext, body: MoreRows) -> AddedRowsResponse:
    """Add the rows of an upload to a campaign, which goes on meanwhile."""
    upload = ctx.services.uploads.find(body.upload, ctx.user.id)
    async with ctx.services.heavy_slots:
        return AddedRowsResponse(added=await to_thread(_add, ctx, upload))


def _add(ctx: RequestContext, upload: Upload) -> int:
    added = creation.add_rows(ctx.store, ctx.campaign_name, _table(upload), ctx.now, ctx.user.id)
    _remove(ctx, upload)
    return added


def _remove(ctx: RequestContext, upload: Upload) -> None:
    """Remove an upload: its file is of no use any more, and no table keeps it open."""
    _table.cache_clear()
    ctx.services.uploads.remove(upload)


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
