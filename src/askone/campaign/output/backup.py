"""A whole campaign in one file, and back.

The file is a zip: ``log.jsonl`` (every entry with its hash), ``rows.jsonl``, ``media.jsonl`` and ``media/0``,
``media/1``, ... where there are images, ``fits/HASH`` where the model was fitted, ``learner.zip`` (what the model was
before the first answer) and, last, ``manifest.json`` with counts and the SHA-256 of each.  No pickle.  State, seats and
snapshots are not in it: they follow from the log.  Neither are accounts: people are in it by the ids that the log has.

A log only grows, and so do rows: a backup is taken up to the entry that is last when it begins, without stopping
anybody.  Restoring checks every hash of the chain, the fingerprint of the rows, and each value as if a stranger had
typed it: hashes show accidents, and anybody can compute them.  A backup that was signed with a key (HMAC-SHA256 over
the manifest, which has the hash of all else) shows to who has that key that nobody else wrote it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import Any, BinaryIO

import numpy as np

from askone._common.packed_arrays import digest, unpack
from askone._common.validate import as_choice, as_count
from askone._common.zip_archive import Archive, ArchiveLimits, opened, refuse
from askone.campaign.campaign import Campaign
from askone.campaign.engine import model_builder
from askone.campaign.engine.projection import Projection
from askone.campaign.kinds.base import Kind
from askone.campaign.output._backup_checks import (
    HASH,
    WRONG,
    EntryChecks,
    Pseudonyms,
    as_line,
    check_manifest,
    check_row,
)
from askone.campaign.output._formats import PAGE, Record, Sink, pages
from askone.campaign.output.export import log_line, until
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import LIMITS
from askone.campaign.tables.safe_images import safe_image
from askone.errors import AskoneError, InvalidArgument, InvalidFile, StoreUnavailable, UnknownCampaign
from askone.session.log import Fitted
from askone.store.entries import BEGINNING, Entry, Row, Seat, as_json, body, chain, entry_from_json
from askone.store.notices import Began, Grown
from askone.store.store import Store
from askone.version import __version__

FORMAT = 1
MANIFEST, LOG, ROWS, MEDIA, LEARNER = "manifest.json", "log.jsonl", "rows.jsonl", "media.jsonl", "learner.zip"
_NAMES = r"manifest\.json|log\.jsonl|rows\.jsonl|media\.jsonl|learner\.zip|media/(0|[1-9][0-9]{0,8})"
_NAMES += f"|fits/{HASH}"
_MANIFEST_BYTES, _LEARNER_BYTES, _FIT_BYTES = 256 << 20, 1 << 30, 256 << 20
SIGNATURE = "hmac-sha256"
"""The manifest's field with its signature."""
PICTURES = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff"}
"""The types that pictures are kept in, and how their bytes begin."""
_TRIED = 5  # rows


def backup_chunks(store: Store, name: str, key: bytes | None = None) -> Iterator[bytes]:
    """Yield a campaign as the bytes of a backup, in pieces; signed, if there is a key."""
    record, learner, extent = store.campaign(name), store.learner(name), _extent(store, name)
    sink, sums = Sink(), dict[str, str]()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        media: list[tuple[str, str]] = []
        lines = (log_line(entry).encode() for entry in until(store.entries(name), extent["seq"]))
        yield from _member(archive, sink, LOG, lines, sums)
        yield from _member(archive, sink, ROWS, _row_texts(store, name, extent["rows"]), sums)
        yield from _member(archive, sink, LEARNER, iter([learner]), sums)
        for picture in store.media_keys(name):
            found = store.media(name, picture)
            if found is not None:
                yield from _member(archive, sink, f"media/{len(media)}", iter([found[1]]), sums)
                media.append((picture, found[0]))
        for mark in _fits(until(store.entries(name, kinds=(Fitted.kind,)), extent["seq"])):
            fit = store.fit(name, mark)
            if fit is not None:  # one that is missing here is missing there
                yield from _member(archive, sink, f"fits/{mark}", iter([fit]), sums)
        lines = (as_json({"key": picture, "type": kind}).encode() + b"\n" for picture, kind in media)
        yield from _member(archive, sink, MEDIA, lines, sums)
        told = {"name": name, "title": record.title, "owner": record.owner, "created": record.created}
        head = {"format": FORMAT, "askone": __version__}
        manifest = {**head, **told, **extent, "media": len(media), "sha256": sums}
        if key is not None:
            manifest[SIGNATURE] = signature(manifest, key)
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
    yield sink.take()


def backup(store: Store, name: str, out: BinaryIO, key: bytes | None = None) -> None:
    """Write a campaign's backup into a binary file; signed, if there is a key."""
    out.writelines(backup_chunks(store, name, key))


def signature(manifest: Record, key: bytes) -> str:
    """Return the HMAC-SHA256 of a manifest without its signature, as sorted JSON.

    >>> signature({"b": 1, "a": 2}, b"k" * 16) == signature({"a": 2, "b": 1, SIGNATURE: "?"}, b"k" * 16)
    True
    """
    text = as_json({name: manifest[name] for name in sorted(manifest) if name != SIGNATURE})
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def is_signed(file: BinaryIO) -> bool:
    """Return whether a backup says that it is signed."""
    with opened(file, _NAMES) as archive:
        return SIGNATURE in archive.json(MANIFEST, _MANIFEST_BYTES)


def _extent(store: Store, name: str) -> Record:
    """Return the extent of a campaign when its backup begins, as the manifest has it."""
    seq, mark = store.head(name)
    rows, fingerprint = 0, ""
    for entry in until(store.entries(name, kinds=("began", "grown")), seq):
        if isinstance(entry.event, Began | Grown):
            rows, fingerprint = rows + entry.event.rows, entry.event.fingerprint
    if not seq:
        raise UnknownCampaign(name)
    return {"seq": seq, "hash": mark, "rows": rows, "fingerprint": fingerprint}


def _fits(entries: Iterable[Entry]) -> list[str]:
    """Return the hashes of the fits that entries speak of."""
    return list(dict.fromkeys(entry.event.hash for entry in entries if isinstance(entry.event, Fitted)))


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


def _row_texts(store: Store, name: str, count: int) -> Iterator[bytes]:
    for page in store.row_pages(name, PAGE):
        for row in page:
            if row.position >= count:
                return
            yield as_json(row_record(row)).encode() + b"\n"


def row_record(row: Row) -> Record:
    """Return a row as JSON values; its features as the bytes they are."""
    little = row.features.astype(row.features.dtype.newbyteorder("<"), copy=False)
    features: dict[str, Any] = {"dtype": little.dtype.str, "bytes": base64.b64encode(little.tobytes()).decode()}
    gold = {} if row.gold is None else {"gold": row.gold}
    return {"key": row.key, "content": dict(row.content), "features": features, **gold}


def restore(
    store: Store,
    file: BinaryIO | str,
    name: str | None = None,
    owner: str | None = None,
    limits: ArchiveLimits = ArchiveLimits(),  # noqa: B008
    key: bytes | None = None,
    known: Collection[str] | None = None,
) -> str:
    """Make a campaign of a backup, all or nothing of it, under its name or another; returns the name.

    With a ``key`` it must be signed with that.  ``known`` are people whom the backup of a stranger may speak for: all
    others get pseudonyms, pictures are encoded anew, and the campaign is tried before it stays (None: a backup of one's
    own, which becomes what it was to the bit).
    """
    with opened(file, _NAMES, limits) as archive:
        manifest = _manifest(archive, key)
        learner = archive.read(LEARNER, _LEARNER_BYTES)
        first, parts, seats = _surveyed(archive, manifest, learner)
        people = None if known is None else Pseudonyms(known)
        log: Iterator[Entry] = islice(_entries(archive), 1, None)
        if people is not None:
            first, log = people.entry(first), map(people.entry, log)
        chosen = manifest["name"] if name is None else name
        labels = Settings.from_json(_settings(first)).labels
        store.create(
            chosen,
            _free_title(store, manifest["title"]),
            manifest["owner"] if owner is None else owner,
            learner,
            _same(first, manifest),
            _row_pages(archive, parts, labels, lambda: _add_files(store, chosen, archive, manifest, known is not None)),
            pages(log),
            seats,
            parts,
        )
    if known is not None:
        _try(store, chosen)
    return str(chosen)


def _settings(first: Entry) -> Record:
    return first.event.settings if isinstance(first.event, Began) else {}


def _try(store: Store, name: str) -> None:
    """Look at a campaign as people here will; one that cannot be looked at does not stay."""
    try:
        made = Campaign.open(store, name, fresh=True)
        made.warm()
        rows = range(min(_TRIED, store.campaign(name).rows))
        seen = [made.status(0.0), made.dashboard(0.0), made.people(), made.flags(), made.predictions(rows)]
        seen += [made.answers("all", None, _TRIED, 0), made.answers("slow", None, _TRIED, 0)]
        seen += [made.history(position) for position in rows]
        json.dumps(seen, allow_nan=False, default=str)  # pages cannot say that a number is none
    except (*WRONG, ArithmeticError, AskoneError, MemoryError) as error:
        store.delete(name)
        if isinstance(error, MemoryError | StoreUnavailable):
            raise
        raise InvalidFile(f"the file is refused: no campaign can be made of it: {error!r:.300}") from error


def _free_title(store: Store, title: str) -> str:
    """Return the title, with a note where a campaign has it already: two of one title could not be told apart."""
    taken = {record.title for record in store.campaigns()}
    plain = re.sub(r" \(restored( [0-9]+)?\)$", "", title)
    others = (f"{plain} (restored{f' {n}' if n > 1 else ''})" for n in count(1))
    return title if title not in taken else next(one for one in others if one not in taken)


def _manifest(archive: Archive, key: bytes | None) -> Record:
    manifest = archive.json(MANIFEST, _MANIFEST_BYTES)
    if key is not None:
        told = manifest.get(SIGNATURE)
        if not isinstance(told, str):
            refuse("it is not signed")
        if not hmac.compare_digest(told.encode(errors="replace"), signature(manifest, key).encode()):
            refuse("it was not signed with this key, or was changed since")
    if manifest.get("format") != FORMAT:
        refuse(f"its format is {manifest.get('format')!r}, and this askone reads {FORMAT}")
    texts, counts = ("name", "title", "owner", "hash", "fingerprint"), ("seq", "rows", "media")
    sums = manifest.get("sha256")
    good = isinstance(sums, dict) and all(isinstance(manifest.get(field), str) for field in texts)
    if not good or not all(isinstance(manifest.get(field), int) for field in counts):
        refuse(f"{MANIFEST} lacks or misstates a field")
    with _refusing(MANIFEST):
        check_manifest(manifest, archive.size(ROWS))
    for member in sorted(archive.names - {MANIFEST}):
        if sums.get(member) != archive.digest(member):  # type: ignore[union-attr]
            refuse(f"{member} is not what it was when the backup was made")
    missing = set(sums) - archive.names  # type: ignore[arg-type]
    if missing:
        refuse(f"it has no {min(missing)}")
    return manifest


def _entries(archive: Archive) -> Iterator[Entry]:
    """Yield the log, every hash checked."""
    before = BEGINNING
    for seq, record in enumerate(archive.lines(LOG), start=1):
        mark = record.pop("hash", None)
        try:
            entry = entry_from_json(record, str(mark))
        except (KeyError, TypeError) as error:
            raise InvalidFile(f"entry {seq} of the backup's log cannot be read: {error!r}") from error
        if entry.seq != seq or mark != chain(before, body(entry)):
            refuse(f"entry {seq} of its log was changed, or does not follow the one before")
        before = entry.hash
        yield entry


def _surveyed(archive: Archive, manifest: Record, learner: bytes) -> tuple[Entry, list[int], list[Seat]]:
    """Return the first entry, where the table grew, and the seats of questions without an answer."""
    projection, first, parts, count, entry, check = None, None, [], 0, None, None
    for entry in _entries(archive):
        event = entry.event
        if projection is None or check is None:
            if not isinstance(event, Began):
                refuse("its log does not begin with the campaign's settings")
            settings = Settings.from_json(event.settings)
            with _refusing(LEARNER):
                begun = model_builder.unpack(learner).estimator.stream_.learner
                rowless = settings.is_rowless(as_count(event.rows, "rows"))
            projection, first = Projection(begun, _none, settings.ask.overlap, rowless), entry
            check = EntryChecks(settings, manifest["rows"])
        elif isinstance(event, Grown):
            parts.append(count)
        with _refusing(f"entry {entry.seq} of its log"):
            check(entry)
            projection.note(entry)
        count += event.rows if isinstance(event, Began | Grown) else 0
    if first is None or projection is None or entry is None:
        refuse("its log is empty")
    if (entry.seq, entry.hash, count) != (manifest["seq"], manifest["hash"], manifest["rows"]):
        refuse("its log does not end as the manifest says")
    return first, parts, open_seats(projection)


@contextmanager
def _refusing(place: str) -> Iterator[None]:
    """Say where something is that nobody here could have written."""
    try:
        yield
    except InvalidFile:
        raise
    except WRONG as error:
        told = str(error) if isinstance(error, AskoneError) else repr(error)
        raise InvalidFile(f"the file is refused: {place} makes no sense: {told[:300]}") from error


def _none(positions: Sequence[int]) -> Any:
    raise InvalidArgument("positions", "left alone: nothing is learnt here", len(positions))


def open_seats(projection: Projection) -> list[Seat]:
    """Return a free seat for every answer that questions still wait for."""
    seats = []
    for number in sorted(projection.touched):
        given = sum(one.who not in projection.excluded for one in projection.asked[number].given)
        seats += [
            Seat(number, seat, projection.asked[number].position) for seat in range(projection.seats(number) - given)
        ]
    return seats


def _same(first: Entry, manifest: Record) -> Any:
    def began(rows: int, fingerprint: str) -> Entry:
        if (rows, fingerprint) != (manifest["rows"], manifest["fingerprint"]):
            refuse("its rows are not those that the log speaks of")
        return first

    return began


def _row_pages(archive: Archive, parts: Sequence[int], labels: Kind, begun: Any) -> Iterator[list[Row]]:
    """Yield rows in pages that do not go across where the table grew; media come first, while the campaign is made."""
    begun()
    page: list[Row] = []
    for place, record in enumerate(archive.lines(ROWS)):
        if page and (len(page) == PAGE or place in parts):
            yield page
            page = []
        page.append(_row(place, record, labels))
    yield page


def _row(place: int, record: Record, labels: Kind) -> Row:
    with _refusing(f"row {place + 1}"):
        told = record["features"]
        if told["dtype"] not in ("<f4", "<f8"):
            raise ValueError(f"features are {told['dtype']!r}")
        features = np.frombuffer(base64.b64decode(told["bytes"], validate=True), told["dtype"])
        row = Row(place, record["key"], dict(record["content"]), features, record.get("gold"))
        check_row(row, labels)
        return row


def _add_files(store: Store, name: str, archive: Archive, manifest: Record, anew: bool) -> None:
    marks = set(_fits(_entries(archive)))
    fits = {member.removeprefix("fits/") for member in archive.names if member.startswith("fits/")}
    if not fits <= marks:
        refuse("it has a fit that its log does not speak of")
    store.add_fits(name, ((mark, _fit(archive, mark)) for mark in sorted(fits)))
    told = list(archive.lines(MEDIA))
    if len(told) != manifest["media"]:
        refuse(f"{MEDIA} does not say what its files are")
    store.add_media(name, (_picture(archive, n, one, anew) for n, one in enumerate(told)))


def _fit(archive: Archive, mark: str) -> bytes:
    """Return a fit, which is one and has the hash that the log says."""
    packed = archive.read(f"fits/{mark}", _FIT_BYTES)
    if digest(packed) != mark:
        refuse(f"fits/{mark} is not the fit that it is said to be")
    with _refusing(f"fits/{mark}"):
        unpack(packed)
    return packed


def _picture(archive: Archive, number: int, told: Record, anew: bool) -> tuple[str, str, bytes]:
    """Return a picture's key, type and bytes; ``anew``: only its pixels, whatever else came with them."""
    member = f"media/{number}"
    with _refusing(member):
        key, kind = as_line(told["key"], "key", 500, 1), as_choice(told["type"], "type", PICTURES)
    data = archive.read(member, LIMITS.image)
    if not anew:
        if not data.startswith(PICTURES[kind]):
            refuse(f"{member} is not the picture that it is said to be")
        return key, kind, data
    safe = safe_image(data, origin=member)
    return key, safe.kind, safe.data
