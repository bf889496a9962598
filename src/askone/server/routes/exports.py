"""Routes to take everything away, and to bring it back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from askone._common.lazy_import import lazy_import
from askone.server._errors import conflict
from askone.server._requests import AnswersFormat, PredictionsFormat, Restoring
from askone.server._services import Call, away, reply
from askone.server.routes.downloads import stream
from askone.server.security.rate_limits import pieces
from askone.store.store import Store

if TYPE_CHECKING:
    from askone.campaign import campaign
    from askone.campaign.output import backup, export
    from askone.campaign.output import label_studio as labelstudio
    from askone.campaign.output import model_file as models
else:
    backup = lazy_import("askone.campaign.output.backup")
    campaign = lazy_import("askone.campaign.campaign")
    export = lazy_import("askone.campaign.output.export")
    labelstudio = lazy_import("askone.campaign.output.label_studio")
    models = lazy_import("askone.campaign.output.model_file")

KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "label-studio": "application/json",
}
_ENDINGS = {"label-studio": "json"}
_CHUNK = 1 << 16


async def answers(call: Call) -> Response:
    """All answers."""
    query: AnswersFormat = call.query
    if query.format == "label-studio":
        chunks = labelstudio.task_chunks(call.store, call.campaign)
    else:
        chunks = export.answer_chunks(call.store, call.campaign, query.format)
    name = f"{call.campaign}-answers.{_ENDINGS.get(query.format, query.format)}"
    return await stream(chunks, KINDS[query.format], name)


async def predictions(call: Call) -> Response:
    """A prediction for each row, by a fold of its own: people who answer do not wait for it."""
    query: PredictionsFormat = call.query
    async with call.services.room:
        opened = await away(_opened, call.store, call.campaign)
    chunks = export.prediction_chunks(opened, query.format)
    return await stream(chunks, KINDS[query.format], f"{call.campaign}-predictions.{query.format}")


async def model(call: Call) -> Response:
    """The model, in the format that ``askone.load`` reads."""
    async with call.services.room:
        path = await away(_saved, call.store, call.campaign)
    return await stream(_file(path), "application/zip", f"{call.campaign}.askone")


def _opened(store: Store, name: str) -> campaign.Campaign:
    return campaign.Campaign.open(store, name)


def _saved(store: Store, name: str) -> Path:
    with tempfile.NamedTemporaryFile(prefix="askone-", suffix=".askone", delete=False) as out:
        path = Path(out.name)
    try:
        with path.open("wb") as out:
            models.write_model(_opened(store, name), out)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _file(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as source:
            while piece := source.read(_CHUNK):
                yield piece
    finally:
        path.unlink(missing_ok=True)


async def log(call: Call) -> Response:
    """The log as it is, a JSON object in each line."""
    return await stream(export.log_chunks(call.store, call.campaign), KINDS["jsonl"], f"{call.campaign}-log.jsonl")


async def whole(call: Call) -> Response:
    """A backup of the whole campaign."""
    chunks = backup.backup_chunks(call.store, call.campaign)
    return await stream(chunks, "application/zip", f"{call.campaign}-backup.zip")


async def restore(call: Call) -> Response:
    """A campaign out of its backup."""
    query: Restoring = call.query
    config = call.services.config
    body = pieces(call.request, config.upload_bytes, config.upload_seconds)
    upload = await call.services.uploads.receive(body, call.person.id, "backup.zip")
    try:
        name = await away(_restored, call, upload.path, query.name)
    finally:
        await away(call.services.uploads.remove, upload)
    await away(call.accounts.add_member, name, call.person.id, "manager")
    call.services.auth.forget()
    return reply({"name": name}, 201)


def _restored(call: Call, path: Path, name: str | None) -> str:
    if name is not None and any(record.name == name for record in call.store.campaigns()):
        raise conflict("A campaign of this name exists.", "name_taken")
    with path.open("rb") as source:
        return backup.restore(call.store, source, name, call.person.id)


async def import_tasks(call: Call) -> Response:
    """Answers that were given in Label Studio."""
    config = call.services.config
    body = pieces(call.request, config.upload_bytes, config.upload_seconds)
    upload = await call.services.uploads.receive(body, call.person.id, "tasks.json")
    path, now = upload.path, call.now
    try:
        done = await call.worker.run(lambda front: _imported(front.campaign, path, now))
    finally:
        await away(call.services.uploads.remove, upload)
    return reply(done)


def _imported(into: campaign.Campaign, path: Path, now: float) -> dict[str, int]:
    with path.open("rb") as source:
        done = labelstudio.import_tasks(into, source, now)
    return {"answers": done.answers, "already": done.already, "unknown": done.unknown, "other": done.other}
