"""Export a campaign's answers, predictions, log and model as files.

Each comes as pieces of bytes, for a stream over HTTP or ``file.writelines``.  Memory does not grow with the number of
answers, but for the names of those taken back.  An export is what the log was when it began: answers that come
meanwhile are not in it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, final

from askone.campaign.kinds.base import Kind
from askone.campaign.output._formats import Column, Record, file_chunks, pages, rounded
from askone.campaign.settings.settings import Settings
from askone.errors import InvalidFile
from askone.session.log import Answered, Asked, Retracted
from askone.store.entries import Entry, body
from askone.store.notices import Began, Excluded, Included
from askone.store.store import Store

if TYPE_CHECKING:  # it comes opened: answers and the log are written without what learns
    from askone.campaign.campaign import Campaign

ANSWER_COLUMNS: tuple[Column, ...] = (
    ("seq", "int"),
    ("time", "text"),
    ("at", "float"),
    ("person", "text"),
    ("row", "text"),
    ("number", "int"),
    ("kind", "text"),
    ("sentence", "text"),
    ("answer", "bool"),
    ("said", "text"),
    ("seconds", "float"),
    ("probability", "float"),
    ("density", "float"),
    ("learnt", "int"),
    ("stale", "int"),
    ("role", "text"),
    ("retracted", "bool"),
    ("excluded", "bool"),
    ("id", "text"),
    ("question", "json"),
)
"""What is said of each answer; docs/campaigns.md explains the columns."""

Progress = Callable[[int, int], None]
"""Called with how many rows are done and how many there are."""
BLOCK = 4096
"""Rows that are predicted at once."""
PREDICTION_COLUMNS: tuple[Column, ...] = (
    ("row", "text"),
    ("prediction", "json"),
    ("std", "float"),
    ("low", "float"),
    ("high", "float"),
    ("prediction_low", "float"),
    ("prediction_high", "float"),
    ("probability", "float"),
    ("probabilities", "json"),
)
"""What every file of predictions has, empty where the kind of label has no such thing."""


def begun_settings(store: Store, name: str) -> Settings:
    """Return the settings that a campaign began with."""
    first = next(store.entries(name, limit=1))
    if not isinstance(first.event, Began):
        raise InvalidFile(f"the log of {name!r} does not begin with its settings")
    return Settings.from_json(first.event.settings)


@final
@dataclass(frozen=True)
class Fate:
    """What became of answers by the end: which were taken back, and who counts no more; and the settings."""

    retracted: frozenset[str]
    excluded: frozenset[str]
    settings: Settings


def fate(store: Store, name: str, end: int) -> Fate:
    """Return what entries up to number ``end`` say of answers before them."""
    retracted: set[str] = set()
    excluded: set[str] = set()
    for entry in until(store.entries(name, kinds=("retracted", "excluded", "included")), end):
        match entry.event:
            case Retracted(answered=answered):
                retracted.add(answered)
            case Excluded(person=person):
                excluded.add(person)
            case Included(person=person):
                excluded.discard(person)
    return Fate(frozenset(retracted), frozenset(excluded), begun_settings(store, name))


def until(entries: Iterable[Entry], end: int) -> Iterator[Entry]:
    """Return entries up to number ``end``: what a log held when reading began."""
    return takewhile(lambda entry: entry.seq <= end, entries)


def answers(store: Store, name: str) -> Iterator[Record]:
    """Yield every answer of a campaign, those taken back as well, with its question; keys as in ANSWER_COLUMNS."""
    end, _ = store.head(name)
    known = fate(store, name, end)
    for page in pages(until(store.entries(name, kinds=("answered",)), end)):
        asked = store.known(name, list({entry.event.asked for entry in page if isinstance(entry.event, Answered)}))
        for entry in page:
            yield answer_record(entry, asked, known)


def answer_record(entry: Entry, asked: dict[str, Entry], known: Fate) -> Record:
    """Return one answer, from its entry and that of its question."""
    answered = entry.event
    source = asked.get(answered.asked) if isinstance(answered, Answered) else None
    if not isinstance(answered, Answered) or source is None or not isinstance(source.event, Asked):
        raise InvalidFile(f"entry {entry.seq} of the log answers a question that is not in it")
    question, learnt = source.event.question, source.event.learnt
    now, view = entry.aside.get("learnt"), known.settings.labels.view(question)
    return {
        "seq": entry.seq,
        "time": iso(entry.at),
        "at": entry.at,
        "person": entry.who,
        "row": str(source.event.row),
        "number": question.number,
        "kind": view.kind,
        "sentence": str(question),
        "answer": answered.answer,
        "said": (view.answers or known.settings.question.answers)[answered.answer is not True],
        "seconds": entry.took,
        "probability": view.probability,
        "density": view.density,
        "learnt": learnt,
        "stale": None if now is None else max(0, now - learnt),
        "role": source.aside.get("role") or "normal",
        "retracted": answered.id in known.retracted,
        "excluded": entry.who in known.excluded,
        "id": answered.id,
        "question": question.to_json(),
    }


def iso(at: float) -> str:
    """Return seconds since the epoch as UTC.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def answer_chunks(store: Store, name: str, form: str) -> Iterator[bytes]:
    """Return all answers as the bytes of a CSV, JSON lines or Parquet file."""
    return file_chunks(answers(store, name), ANSWER_COLUMNS, form)


def predictions(campaign: Campaign, size: int = BLOCK, progress: Progress | None = None) -> Iterator[Record]:
    """Yield what the model says of every row; keys as in ``prediction_columns``, None where a kind has none."""
    rows, done = campaign.store.campaign(campaign.name).rows, 0
    names = [name for name, _ in prediction_columns(campaign.settings.labels)]
    for keys, told in campaign.prediction_pages(size):
        columns = {**dict.fromkeys(names, [None] * len(keys)), "row": keys, **told}
        for values in zip(*(columns[name] for name in names), strict=True):
            yield dict(zip(names, values, strict=True))
        done += len(keys)
        if progress is not None:
            progress(done, rows)


def prediction_columns(labels: Kind) -> tuple[Column, ...]:
    """Return the columns of predictions: those that every file has, and what else the kind of label has."""
    return tuple((dict(PREDICTION_COLUMNS) | dict(labels.columns)).items())


def prediction_chunks(campaign: Campaign, form: str, progress: Progress | None = None) -> Iterator[bytes]:
    """Return all predictions as the bytes of a CSV, JSON lines or Parquet file; CSV has rounded numbers."""
    records = predictions(campaign, progress=progress)
    if form == "csv":
        records = (rounded(record) for record in records)
    return file_chunks(records, prediction_columns(campaign.settings.labels), form)


def log_line(entry: Entry) -> str:
    """Return an entry as a line: the text that is chained, with its hash as the last field."""
    return f'{body(entry)[:-1]},"hash":"{entry.hash}"}}\n'


def log_chunks(store: Store, name: str) -> Iterator[bytes]:
    """Yield the whole log as JSON lines."""
    end, _ = store.head(name)
    for page in pages(until(store.entries(name), end)):
        yield "".join(map(log_line, page)).encode()


def model_bytes(campaign: Campaign) -> bytes:
    """Return the model as it is now, with what makes its inputs of a row's cells, as ``askone.load`` reads it."""
    out = io.BytesIO()
    campaign.model().save(out)
    return out.getvalue()
