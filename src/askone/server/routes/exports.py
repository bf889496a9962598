"""Routes to take everything away, and to bring it back; and what is reckoned from all of it."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from starlette.responses import Response, StreamingResponse

from askone.campaign.lazy import backup, campaign, export, label_studio
from askone.errors import InvalidFile
from askone.server._bodies import stream_body
from askone.server._campaign_service import CampaignService
from askone.server._context import RequestContext
from askone.server._errors import ApiError, conflict
from askone.server._requests import AnswersFormat, EstimateQuery, PredictionsFormat, Restoring
from askone.server._responses import (
    CampaignNameResponse,
    ComparisonResponse,
    EstimateResponse,
    EstimatesResponse,
    ImportResponse,
)
from askone.server.heavy.child import TOO_LARGE
from askone.store.store import Store

KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "label-studio": "application/json",
}
_ENDINGS = {"label-studio": "json"}


async def _stream(ctx: RequestContext, chunks: Iterator[bytes], kind: str, name: str) -> StreamingResponse:
    """Return a file that is sent while it is made; what goes wrong before its first bytes is still told as an error."""
    pieces = ctx.services.heavy.threads.pieces(chunks)
    first = await anext(pieces, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return StreamingResponse(whole(), 200, {"Content-Disposition": f'attachment; filename="{name}"'}, kind)


async def answers(ctx: RequestContext, query: AnswersFormat) -> Response:
    """Return all answers."""
    if query.format == "label-studio":
        chunks = label_studio.task_chunks(ctx.store, ctx.campaign_name)
    else:
        chunks = export.answer_chunks(ctx.store, ctx.campaign_name, query.format)
    name = f"{ctx.campaign_name}-answers.{_ENDINGS.get(query.format, query.format)}"
    return await _stream(ctx, chunks, KINDS[query.format], name)


async def predictions(ctx: RequestContext, query: PredictionsFormat) -> Response:
    """Return a prediction for each row, by a fold of its own: people who answer do not wait for it."""
    await ctx.whole_model(for_file=True)
    opened = await ctx.services.heavy.threads.run(campaign.Campaign.open, ctx.store, ctx.campaign_name)
    chunks = export.prediction_chunks(opened, query.format)
    return await _stream(ctx, chunks, KINDS[query.format], f"{ctx.campaign_name}-predictions.{query.format}")


async def estimate(ctx: RequestContext, query: EstimateQuery) -> EstimatesResponse:
    """Return an estimate of the whole table, or of each group of rows that have the same value in a column."""
    await ctx.whole_model()
    return await ctx.services.heavy.threads.run(_estimates, ctx.store, ctx.campaign_name, query)


def _estimates(store: Store, name: str, query: EstimateQuery) -> EstimatesResponse:
    opened = campaign.Campaign.open(store, name)
    found = {"": opened.estimate(query.what)} if query.by is None else opened.estimate(query.what, query.by)
    lines = [EstimateResponse(group=group, **one.to_json()) for group, one in found.items()]
    return EstimatesResponse(what=query.what, by=query.by, estimates=lines)


async def compare(ctx: RequestContext) -> ComparisonResponse:
    """Return what other models would have made of the answers: by a process beside, unless it is known from lately."""
    campaign_number, answers = await ctx.worker.run(CampaignService.extent)
    return await ctx.services.comparisons.of(campaign_number, answers, partial(_compared, ctx))


async def _compared(ctx: RequestContext) -> ComparisonResponse:
    try:
        found = await ctx.services.heavy.run(ctx.request, ctx.user.id, "compare", name=ctx.campaign_name)
    except InvalidFile as error:  # what is said of files is not so here
        if error.args != (TOO_LARGE,):
            raise
        raise ApiError(
            422, "too_large", "Comparing these models takes more memory than there may be for it."
        ) from error
    return ComparisonResponse.model_validate(found)


async def model(ctx: RequestContext) -> Response:
    """Return the model, in the format that ``askone.load`` reads."""
    await ctx.whole_model(for_file=True)
    content = await ctx.services.heavy.threads.run(_model_file, ctx.store, ctx.campaign_name)
    return await _stream(ctx, iter([content]), "application/zip", f"{ctx.campaign_name}.askone")


def _model_file(store: Store, name: str) -> bytes:
    return export.model_bytes(campaign.Campaign.open(store, name))


async def log(ctx: RequestContext) -> Response:
    """Return the log as it is, a JSON object in each line."""
    chunks = export.log_chunks(ctx.store, ctx.campaign_name)
    return await _stream(ctx, chunks, KINDS["jsonl"], f"{ctx.campaign_name}-log.jsonl")


async def whole(ctx: RequestContext) -> Response:
    """Return a backup of the whole campaign."""
    chunks = backup.backup_chunks(ctx.store, ctx.campaign_name)
    return await _stream(ctx, chunks, "application/zip", f"{ctx.campaign_name}-backup.zip")


async def restore(ctx: RequestContext, query: Restoring) -> CampaignNameResponse:
    """Make a campaign out of its backup."""
    if query.name is not None and any(one.name == query.name for one in await to_thread(ctx.store.campaigns)):
        raise conflict("A campaign of this name exists.", "name_taken")
    async with _received(ctx, "backup.zip") as path:
        given = {"path": str(path), "name": query.name, "owner": ctx.user.id}
        return CampaignNameResponse(name=await ctx.services.heavy.run(ctx.request, ctx.user.id, "restore", **given))


async def import_tasks(ctx: RequestContext) -> ImportResponse:
    """Import answers that were given in Label Studio."""
    now = ctx.now
    counts, threads = asdict(label_studio.Imported()), ctx.services.heavy.threads
    async with _received(ctx, "tasks.json") as path:
        with path.open("rb") as source:
            pages = label_studio.annotation_pages(source, ctx.campaign_name, counts)
            while (page := await threads.run(next, pages, None)) is not None:
                # One after the other: people of this campaign are served in between.
                await ctx.worker.run(partial(CampaignService.take_page, page=page, now=now, counts=counts))
    return ImportResponse(**counts)


@asynccontextmanager
async def _received(ctx: RequestContext, title: str) -> AsyncIterator[Path]:
    """Keep the body as a file, for as long as it is needed."""
    config, uploads = ctx.services.config, ctx.services.uploads
    body = stream_body(ctx.request, config.upload_bytes, config.upload_seconds)
    upload = await uploads.receive(body, ctx.user.id, title)
    try:
        yield upload.path
    finally:
        await to_thread(uploads.remove, upload)
