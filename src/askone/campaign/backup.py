"""A whole campaign in one file, and back.

The file is a zip: ``log.jsonl`` (every entry with its hash), ``rows.jsonl``, ``media.jsonl`` and ``media/0``,
``media/1``, ... where there are images, ``learner.zip`` (what the model was before the first answer) and, last,
``manifest.json`` with counts and the SHA-256 of each.  No pickle.  State, seats and snapshots are not in it: they
follow from the log.  Neither are accounts: people are in it by the ids that the log has.

A log only grows, and so do rows: a backup is taken up to the entry that is last when it begins, without stopping
anybody.  Restoring checks every hash of the chain, and the fingerprint of the rows.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, final

from askone.campaign.export import log_line, until
from askone.campaign.formats import PAGE, Record, Sink, as_json
from askone.errors import UnknownCampaign
from askone.store.entries import Row
from askone.store.notices import Began, Grown
from askone.store.store import Store
from askone.version import __version__

FORMAT = 1
MANIFEST, LOG, ROWS, MEDIA, LEARNER = "manifest.json", "log.jsonl", "rows.jsonl", "media.jsonl", "learner.zip"
_PIECE = 1 << 20


@final
@dataclass(frozen=True)
class _Extent:
    """What a campaign was when the backup began."""

    seq: int
    hash: str
    rows: int
    fingerprint: str


def backup_chunks(store: Store, name: str) -> Iterator[bytes]:
    """A campaign as the bytes of a backup, in pieces."""
    record, learner, extent = store.campaign(name), store.learner(name), _extent(store, name)
    sink, sums = Sink(), {}
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:  # type: ignore[type-var]
        media: list[tuple[str, str]] = []
        yield from _member(archive, sink, LOG, _log_texts(store, name, extent.seq), sums)
        yield from _member(archive, sink, ROWS, _row_texts(store, name, extent.rows), sums)
        yield from _member(archive, sink, LEARNER, iter([learner]), sums)
        for key in store.media_keys(name):
            found = store.media(name, key)
            if found is not None:
                yield from _member(archive, sink, f"media/{len(media)}", iter([found[1]]), sums)
                media.append((key, found[0]))
        lines = (as_json({"key": key, "type": kind}).encode() + b"\n" for key, kind in media)
        yield from _member(archive, sink, MEDIA, lines, sums)
        told = {"name": name, "title": record.title, "owner": record.owner, "created": record.created}
        held = {"seq": extent.seq, "hash": extent.hash, "rows": extent.rows, "fingerprint": extent.fingerprint}
        head = {"format": FORMAT, "askone": __version__}
        manifest = {**head, **told, **held, "media": len(media), "sha256": sums}
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
    yield sink.take()


def backup(store: Store, name: str, out: BinaryIO) -> None:
    """Write a campaign's backup into a binary file."""
    out.writelines(backup_chunks(store, name))


def _extent(store: Store, name: str) -> _Extent:
    seq, mark = store.head(name)
    rows, fingerprint = 0, ""
    for entry in until(store.entries(name, kinds=("began", "grown")), seq):
        if isinstance(entry.event, Began | Grown):
            rows, fingerprint = rows + entry.event.rows, entry.event.fingerprint
    if not seq:
        raise UnknownCampaign(f"the campaign {name!r} has no log")
    return _Extent(seq, mark, rows, fingerprint)


def _member(
    archive: zipfile.ZipFile, sink: Sink, name: str, parts: Iterator[bytes], sums: dict[str, str]
) -> Iterator[bytes]:
    told = hashlib.sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        for part in parts:
            told.update(part)
            member.write(part)
            if piece := sink.take():
                yield piece
    sums[name] = told.hexdigest()


def _log_texts(store: Store, name: str, end: int) -> Iterator[bytes]:
    for entry in until(store.entries(name), end):
        yield log_line(entry).encode()


def _row_texts(store: Store, name: str, count: int) -> Iterator[bytes]:
    for page in store.row_pages(name, PAGE):
        for row in page:
            if row.position >= count:
                return
            yield as_json(row_record(row)).encode() + b"\n"


def row_record(row: Row) -> Record:
    """A row as JSON values; its features as the bytes they are."""
    little = row.features.astype(row.features.dtype.newbyteorder("<"), copy=False)
    features: dict[str, Any] = {"dtype": little.dtype.str, "bytes": base64.b64encode(little.tobytes()).decode()}
    gold = {} if row.gold is None else {"gold": row.gold}
    return {"key": row.key, "content": dict(row.content), "features": features, **gold}
