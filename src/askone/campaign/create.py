"""From a table to a campaign: columns chosen, an encoder and a model made from a sample, all rows streamed in."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from askone.campaign.engine.model_builder import make_estimator, pack, unpack
from askone.campaign.engine.packed_model import require_small
from askone.campaign.kinds.base import listed
from askone.campaign.output.export import begun_settings
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import learnt_columns, shown_columns
from askone.campaign.tables.base import Cells, Column, Table
from askone.campaign.tables.image_tables import FOLDER, IMAGE, ImageTable
from askone.campaign.tables.safe_images import SafeImage, safe_image
from askone.encoding.embedders import EmbeddedPart
from askone.encoding.encoder import Encoder, fit_encoder
from askone.encoding.images import ImagePart
from askone.errors import InvalidArgument, InvalidFile
from askone.labels.wording import number_text
from askone.store.entries import Entry, Row, RowBlock
from askone.store.notices import Began, Grown
from askone.store.store import Store

Progress = Callable[[int, int], None]
"""Called with how many rows are in and how many there are."""

ROWLESS: Final = "all"
"""The key of the one row of a campaign without a table."""
_MOST_IMAGES: Final = 500  # by which a model is begun
_LONGEST_KEY: Final = 500  # characters
_NAMED, _LOOKED_AT = 10, 5_000  # images that cannot be read: named in an error, and looked for


def create_campaign(
    store: Store,
    name: str,
    settings: Settings,
    table: Table | None,
    owner: str,
    at: float,
    progress: Progress | None = None,
    embed: Mapping[str, str] | None = None,
) -> None:
    """Create a campaign about the rows of a table, or, for orders, about none: then all are asked about one row.

    ``embed`` says for some columns which embedder makes vectors of them (``encoding.embedders``).
    """

    def began(rows: int, fingerprint: str) -> Entry:
        return Entry(Began("began", chosen.to_json(), rows, fingerprint), who=owner, at=at)

    if table is None:
        chosen = settings
        learner = pack(make_estimator(settings, None), None)
        row = Row(0, ROWLESS, {}, np.zeros(1, dtype=np.float32))
        store.create(name, settings.title, owner, learner, began, [[row]])
        return
    chosen = with_columns(settings, table)  # columns are named in the log: rows added later are read alike
    sample, encoder = encoded_sample(chosen, table, embed=embed)
    learner = pack(make_estimator(chosen, sample, layout=encoder.layout), encoder)
    _require_small(learner)
    reading = _Reading(store, name, chosen, table, encoder, 0, progress)
    with _naming_doubles(reading):
        store.create(name, chosen.title, owner, learner, began, reading.chunks())


def add_rows(store: Store, name: str, table: Table, at: float, who: str, progress: Progress | None = None) -> int:
    """Add the rows of a table, which has the columns of the first one, at the end; how many there were."""
    encoder = unpack(store.learner(name)).encoder
    if encoder is None:
        raise InvalidArgument("table", "None: this campaign has no rows", "rows")
    encoder.require_embedders()
    settings = begun_settings(store, name)
    _require_columns(settings, table, encoder)
    reading = _Reading(store, name, settings, table, encoder, store.campaign(name).rows, progress)

    def grown(rows: int, fingerprint: str) -> Entry:
        return Entry(Grown(f"grown-{secrets.token_hex(8)}", rows, fingerprint), who=who, at=at)

    with _naming_doubles(reading):
        return store.grow(name, reading.chunks(), grown)


def _require_small(learner: bytes) -> None:
    """Refuse a campaign that could not be opened again: its model grows with classes times columns."""
    try:
        require_small(learner)
    except InvalidFile as error:
        allowed = "of fewer classes, or with fewer columns to learn from (rows.learn), for a model that can be opened"
        raise InvalidArgument("labels", allowed, f"one too large: {str(error).rpartition(': ')[2]}") from error


# -- which columns ------------------------------------------------------------------------------------


def with_columns(settings: Settings, table: Table) -> Settings:
    """Return the settings with all columns named; those that the table lacks are refused."""
    rows = settings.rows
    key = IMAGE if rows.key is None and isinstance(table, ImageTable) else rows.key
    for place, named in (("key", [key]), ("show", rows.show or ()), ("learn", rows.learn or ()), ("gold", [rows.gold])):
        for name in named:
            if name is None:
                continue
            if _require_column(table, name, f"rows.{place}").kind == "vector" and place != "learn":
                raise InvalidArgument(f"rows.{place}", "a column that people can read, not of vectors", repr(name))
    if isinstance(table, ImageTable) and FOLDER in (rows.learn or ()):
        raise InvalidArgument("rows.learn", f"other columns than {FOLDER!r}: it names labels", repr(FOLDER))
    show = shown_columns(table, key, rows.gold) if rows.show is None else rows.show
    learn = learnt_columns(table, key, rows.gold) if rows.learn is None else rows.learn
    return replace(settings, rows=replace(rows, key=key, show=show, learn=learn))


def _require_column(table: Table, name: str, place: str) -> Column:
    column = table.column(name)
    if column is not None:
        return column
    names = [column.name for column in table.columns]
    near = difflib.get_close_matches(name, names, 1)
    shown = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
    allowed = f"a column of the table (did you mean {near[0]!r}?)" if near else f"a column of the table: {shown}"
    raise InvalidArgument(place, allowed, repr(name))


def _require_columns(settings: Settings, table: Table, encoder: Encoder) -> None:
    """Raise unless a table that is added has the columns of the first one."""
    rows = settings.rows
    kinds = {part.column: part.of if isinstance(part, EmbeddedPart) else part.kind for part in encoder.parts}
    for name in dict.fromkeys([*filter(None, [rows.key]), *(rows.show or ()), *(rows.learn or ())]):
        column = _require_column(table, name, "table")
        if kinds.get(name) == "image" and not isinstance(table, ImageTable):
            raise InvalidArgument("table", "images in a folder or a zip file, as the first one", column.kind)


def encoded_sample(
    settings: Settings, table: Table, whole: bool = True, embed: Mapping[str, str] | None = None
) -> tuple[Any, Encoder]:
    """Return encoded rows of the table's sample, and the encoder that was fitted on them; settings with columns.

    ``whole``: the terms of texts are those of the whole table.
    """
    learnt = [_require_column(table, name, "rows.learn") for name in settings.rows.learn or ()]
    sample: Sequence[Mapping[str, Any]] = table.sample
    for name in embed or ():
        if name not in (settings.rows.learn or ()):
            raise InvalidArgument("embed", f"columns that are learnt: {listed(settings.rows.learn or ())}", repr(name))
    encoder = fit_encoder(learnt, sample, table.chunks() if whole else (), embed)
    if isinstance(table, ImageTable):
        step = -(-len(sample) // _MOST_IMAGES)
        sample = [{**row, IMAGE: _seen(_safe(table, row[IMAGE]), encoder)} for row in sample[::step]]
    return encoder.encode(sample), encoder


# -- rows ---------------------------------------------------------------------------------------------


@final
@dataclass(eq=False)
class _Reading:
    """Rows of a table on their way into a store."""

    store: Store
    name: str
    settings: Settings
    table: Table
    encoder: Encoder
    first: int
    progress: Progress | None

    def chunks(self) -> Iterator[RowBlock]:
        """Yield rows as a store takes them; images are kept as they come, before the campaign is seen."""
        done, columns = 0, self.settings.rows
        wanted = {*(columns.show or ()), *(columns.learn or ())}
        # Vectors are kept as what the model sees, and nobody reads them.
        kept = [one.name for one in self.table.columns if one.name in wanted and one.kind != "vector"]
        whole = len(kept) == len(self.table.columns)
        all_known = self.first == 0
        for chunk in self.table.chunks():
            contents = chunk if whole else [{name: cells[name] for name in kept} for cells in chunk]
            golds = self._golds(chunk, done)
            yield RowBlock(self._keys(chunk, done), contents, self._encoded(chunk, done), golds)
            done, all_known = done + len(chunk), all_known and None not in golds
            if self.progress is not None:
                self.progress(done, self.table.rows)
        if all_known:
            raise _nothing_to_ask(columns.gold, done)

    def _encoded(self, chunk: list[Cells], done: int) -> Any:
        try:
            if not isinstance(self.table, ImageTable):
                return self.encoder.encode(chunk)
            seen: list[Mapping[str, Any]] = []
            self.store.add_media(self.name, self._pictures(self.table, chunk, seen))
            return self.encoder.encode(seen)
        except InvalidArgument as error:
            where = f"rows {done + 1} to {done + len(chunk)}, column {error.argument!r}"
            raise InvalidFile(f"{where}: {error.allowed} is needed; got {error.got}") from error

    def _pictures(
        self, folder: ImageTable, chunk: list[Cells], seen: list[Mapping[str, Any]]
    ) -> Iterator[tuple[str, str, bytes]]:
        """Yield images made safe, one at a time; what the model sees of them goes to ``seen``."""
        for cells in chunk:
            safe = _safe(folder, cells[IMAGE])
            seen.append({**cells, IMAGE: _seen(safe, self.encoder)})
            yield cells[IMAGE], safe.kind, safe.data

    def _keys(self, chunk: list[Cells], done: int) -> list[str]:
        if self.settings.rows.key is None:
            first = self.first + done + 1
            return list(map(str, range(first, first + len(chunk))))
        return [self._key(cells, done + place) for place, cells in enumerate(chunk)]

    def _golds(self, chunk: list[Cells], done: int) -> list[Any]:
        if self.settings.rows.gold is None:
            return [None] * len(chunk)
        return [self._gold(cells, done + place) for place, cells in enumerate(chunk)]

    @cached_property
    def _as_label(self) -> Callable[[Any], Any]:
        return _label_reader(self.settings, self.table)

    def _key(self, cells: Cells, place: int) -> str:
        column = self.settings.rows.key
        value = None if column is None else cells[column]
        text = "" if value is None else value if isinstance(value, str) else number_text(value)
        if not text.strip() or len(text) > _LONGEST_KEY:
            raise InvalidFile(f"row {place + 1}, column {column!r}: a key of 1 to {_LONGEST_KEY} characters is needed")
        return text

    def _gold(self, cells: Cells, place: int) -> Any:
        column = self.settings.rows.gold
        value = None if column is None else cells.get(column)
        if not _is_known(value):
            return None
        try:
            return self._as_label(value)
        except InvalidArgument as error:
            raise InvalidFile(f"row {place + 1}, column {column!r}: {error}") from None

    def first_double(self) -> InvalidArgument | None:
        """Return what is wrong with the first key that comes twice in the table, or that the campaign has already."""
        seen, place = dict[str, int](), 0
        for chunk in self.table.chunks():
            for row, key in enumerate(self._keys(chunk, place), start=place + 1):
                if key in seen:
                    came = f"{key!r} twice in {self.settings.rows.key!r}: rows {seen[key]} and {row}"
                    return InvalidArgument("rows.key", "a column of keys that differ, or none: rows are numbered", came)
                seen[key] = row
            place += len(chunk)
        for key, row in seen.items() if self.first else ():
            there = self.store.row_by_key(self.name, key)
            if there is not None:
                came = f"{key!r} in row {row}, which is row {there.position + 1} of the campaign"
                return InvalidArgument("rows", "keys that the campaign does not have", came)
        return None


@contextmanager
def _naming_doubles(reading: _Reading) -> Iterator[None]:
    """Where the store says that a key came twice, say which: it is looked for only then."""
    try:
        yield
    except InvalidArgument as error:
        double = reading.first_double() if error.argument == "rows" and reading.settings.rows.key is not None else None
        raise error if double is None else double from error


def require_unknown(settings: Settings, table: Table) -> None:
    """Refuse a table in which every label is known, as far as its sample tells: there is nothing to ask about."""
    gold = settings.rows.gold
    if gold is not None and len(table.sample) == table.rows and all_known(settings, table):
        raise _nothing_to_ask(gold, table.rows)


def require_labels(settings: Settings, table: Table) -> None:
    """Refuse known labels that are none, as far as the table's sample tells."""
    gold, read = settings.rows.gold, _label_reader(settings, table)
    for place, row in enumerate(table.sample, start=1):
        try:
            if gold is not None and _is_known(row.get(gold)):
                read(row[gold])
        except InvalidArgument as error:
            where = f"row {place}, " if len(table.sample) == table.rows else ""
            raise InvalidFile(f"{where}column {gold!r}: {error}") from None


def _label_reader(settings: Settings, table: Table) -> Callable[[Any], Any]:
    return settings.labels.label_reader([row.get(settings.rows.gold or "") for row in table.sample])


def _is_known(cell: Any) -> bool:
    return cell is not None and bool(str(cell).strip())


def all_known(settings: Settings, table: Table) -> bool:
    """Return whether all labels of a table's sample are known."""
    gold = settings.rows.gold
    cells = [None] if gold is None else [row.get(gold) for row in table.sample]
    return all(map(_is_known, cells))


def are_labels(settings: Settings, table: Table) -> bool:
    """Return whether the known labels of a table's sample are labels indeed, of the kind that is asked for."""
    cells = [row.get(settings.rows.gold or "") for row in table.sample]
    try:
        for cell in cells:
            if _is_known(cell):
                settings.labels.as_label(cell)
    except InvalidArgument:
        return False
    return True


def _nothing_to_ask(gold: str | None, rows: int) -> InvalidArgument:
    allowed = "a column that is empty in the rows to ask about (a known label only measures people), or none"
    return InvalidArgument("rows.gold", allowed, f"{gold!r}, filled in all {rows} rows")


def _safe(table: ImageTable, name: str) -> SafeImage:
    try:
        return safe_image(table.image(name), table.limits, repr(name))
    except InvalidFile as error:
        others = _unreadable(table, after=name)
        if not others:
            raise
        raise InvalidFile(f"{error}; nor can {listed(others)}: take these out, or save them anew") from error


def _unreadable(table: ImageTable, after: str) -> list[str]:
    """Return further images that cannot be read, as far as a quick look tells, so that all are said at once."""
    found = list[str]()
    for name in [name for name in table.names if name != after][:_LOOKED_AT]:
        try:
            safe_image(table.image(name), table.limits)
        except InvalidFile:
            found.append(repr(name))
        if len(found) == _NAMED:
            break
    return found


def seen_images(table: ImageTable, cells: Mapping[str, Sequence[Any]], encoder: Encoder) -> dict[str, list[Any]]:
    """Return the images among the columns of a table as an encoder reads them."""
    return {IMAGE: [_seen(_safe(table, name), encoder) for name in cells[IMAGE]]} if IMAGE in cells else {}


def _seen(image: SafeImage, encoder: Encoder) -> Any:
    """Return the cell of an image: as many pixels as the encoder looks at."""
    part = next((part for part in encoder.parts if part.column == IMAGE), None)
    if not isinstance(part, ImagePart | EmbeddedPart):
        return None
    return image.gray if part.side is None else image.small(part.side)
