"""From a table's cells to a model's numbers: fitted once on a sample, then a pure function of each row.

- a number x becomes (x - median) / scale, with scale = IQR / 1.349 (the standard deviation of normal numbers),
  within +-10; a missing one becomes 0, with a column that says so if the sample lacks some.  Columns of one unit, such
  as the pixels of a picture, keep it: they have one scale, so that models see which of them vary more;
- an amount, such as "€3,089" (see ``amounts``), becomes its number as one; what cannot be read counts as missing;
- a date becomes the days since 1970 as such a number, and its places in the year, the week and the day (see ``dates``),
  as far as the sample shows enough of these; a text that is no date counts as missing;
- a category becomes one column for each of its 20 most frequent values, and one for the others if there are any;
  beside these stands its place among the 255 most frequent;
- a text becomes its terms and their weights (see ``texts``);
- an image becomes what ``features.pictures`` says of it, and a vector stays as it is.

``layout`` says which column of a row is what.

>>> columns = [Column("size", "number"), Column("colour", "category")]
>>> rows = [{"size": 1, "colour": "red"}, {"size": 2, "colour": "blue"}, {"size": None, "colour": "red"}]
>>> encoder = fit_encoder(columns, rows)
>>> encoder.encode([{"size": 1.5, "colour": "blue"}]).tolist(), encoder.names
([[0.0, 0.0, 0.0, 1.0, 1.0]], ('size', 'size missing', 'colour: red', 'colour: blue'))
>>> encoder.layout
RowLayout(dense=4, hidden=(2, 3), levels=(2,), pairs=0, terms=0)
>>> Encoder.from_json(encoder.to_json()) == encoder
True
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from askone._common.types import Array
from askone.encoding import dates
from askone.encoding.amounts import MISSING, Reading, reading_of
from askone.encoding.base import Part, Record
from askone.encoding.columns import Column
from askone.encoding.embedders import EmbeddedPart, fit_embedded
from askone.encoding.images import ImagePart
from askone.encoding.texts import HashedTextPart, TermsPart, fit_texts, packed_terms, pairs_needed
from askone.encoding.unread import UnreadCells, unread
from askone.encoding.vectors import VectorPart
from askone.errors import InvalidArgument, InvalidFile
from askone.features.layout import RowLayout
from askone.features.scaling import have_one_unit

FORMAT: Final = 2
LEVELS: Final = 20
PLACES: Final = 255
_FAR: Final = 10.0
_NAMED: Final = 10  # names in an error


@dataclass(frozen=True)
class ScaledPart(Part):
    """A column whose cells say a number each, shifted and scaled."""

    column: str
    center: float
    scale: float
    missing: bool

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column, f"{self.column} missing") if self.missing else (self.column,)

    def scaled(self, values: Array) -> Array:
        """Return numbers shifted and scaled, and which are missing if the sample lacked some, n x 1 or n x 2."""
        gone = np.isnan(values)
        with np.errstate(over="ignore"):  # what overflows is far
            scaled = np.clip((np.where(gone, self.center, values) - self.center) / self.scale, -_FAR, _FAR)
        return np.column_stack([scaled, gone]) if self.missing else scaled[:, None]


@final
@dataclass(frozen=True)
class NumberPart(ScaledPart):
    """A number, shifted and scaled."""

    kind: ClassVar[str] = "number"

    def encode(self, cells: Sequence[Any]) -> Array:
        return self.scaled(as_floats(cells, self.column))


@final
@dataclass(frozen=True)
class DatePart(ScaledPart):
    """A date: the days since 1970, shifted and scaled, and its places in ``cycles`` of so many days.

    ``day_first`` says how dates with slashes begin, as those of the sample showed.
    """

    cycles: tuple[float, ...] = ()
    day_first: bool | None = None
    kind: ClassVar[str] = "date"

    @property
    def names(self) -> tuple[str, ...]:
        turns = (f"{self.column}, {side} in {cycle:g} days" for cycle in self.cycles for side in ("sine", "cosine"))
        return (*super().names, *turns)

    def encode(self, cells: Sequence[Any]) -> Array:
        days = dates.all_days(cells, self.day_first)
        return np.column_stack([self.scaled(days), *(dates.places_in(cycle, days) for cycle in self.cycles)])

    def unread(self, cells: Sequence[Any]) -> UnreadCells | None:
        return unread(cells, lambda cell: dates.as_days(cell, self.day_first))


@final
@dataclass(frozen=True)
class AmountPart(ScaledPart):
    """A number that is written with a unit or with parted thousands, shifted and scaled."""

    decimal: str
    unit: str
    kind: ClassVar[str] = "amount"

    def encode(self, cells: Sequence[Any]) -> Array:
        return self.scaled(Reading(self.decimal, self.unit).numbers(cells))

    def unread(self, cells: Sequence[Any]) -> UnreadCells | None:
        return unread(cells, Reading(self.decimal, self.unit).number)


@final
@dataclass(frozen=True)
class CategoryPart(Part):
    """A category: one column for each of the first levels, and (unless an older campaign made it) its place."""

    column: str
    levels: tuple[str, ...]
    other: bool
    placed: bool = False
    kind: ClassVar[str] = "category"

    @property
    def names(self) -> tuple[str, ...]:
        named = tuple(f"{self.column}: {level}" for level in self.levels[:LEVELS])
        return (*named, f"{self.column}: other") if self.other else named

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {level: place for place, level in enumerate(self.levels)}

    def places(self, cells: Sequence[Any]) -> Array:
        """Return the place of each cell's level: -1 where there is none, -2 where it is another."""
        found = self._places
        return np.array([-1 if cell is None else found.get(str(cell), -2) for cell in cells], dtype=np.int64)

    def encode(self, cells: Sequence[Any]) -> Array:
        return self.marks(self.places(cells))

    def marks(self, places: Array) -> Array:
        """Return one column per level, 1 where a row has it."""
        width = len(self.names)
        other = width - 1 if self.other else width  # a column that is cut off takes what has no other
        columns = np.where(places < 0, np.where(places == -2, other, width), np.minimum(places, other))
        out = np.zeros((len(places), width + 1), dtype=np.float32)
        out[np.arange(len(places)), columns] = 1.0
        return out[:, :width]


_KINDS = (
    NumberPart, AmountPart, DatePart, CategoryPart, TermsPart, HashedTextPart, ImagePart, VectorPart, EmbeddedPart,
)  # fmt: skip
PARTS: dict[str, type[Part]] = {one.kind: one for one in _KINDS}


@final
@dataclass(frozen=True)
class Encoder:
    """The encoding of all columns that are learnt from; a row holds ``pairs`` terms of texts."""

    parts: tuple[Part, ...]
    pairs: int = 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the dense numbers; without any, one constant."""
        return tuple(name for part in self.parts for name in part.names) or ("constant",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(part.column for part in self.parts))

    @cached_property
    def _placed(self) -> tuple[CategoryPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, CategoryPart) and part.placed)

    @cached_property
    def _texts(self) -> tuple[TermsPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, TermsPart))

    @cached_property
    def layout(self) -> RowLayout:
        """What the columns of an encoded row are."""
        owners = [part for part in self.parts for _ in part.names]
        hidden = tuple(place for place, part in enumerate(owners) if part in self._placed)
        levels = tuple(max(1, len(part.levels)) for part in self._placed)
        terms = sum(len(part.terms) for part in self._texts)
        return RowLayout(len(self.names), hidden, levels, self.pairs, terms)

    def encode(self, contents: Sequence[Mapping[str, Any]]) -> Array:
        """Return one row of finite numbers for each content, float32; a cell may be None or left out."""
        if contents and any(name not in contents[0] for name in self.columns):
            self.require_columns(dict.fromkeys(str(name) for content in contents for name in content), "contents")
        cells = {name: [content.get(name) for content in contents] for name in self.columns}
        return self.encode_columns(cells, len(contents))

    def encode_columns(self, cells: Mapping[str, Sequence[Any]], count: int) -> Array:
        """Return encoded rows from the cells of each column, ``count`` of them."""
        layout = self.layout
        out = np.zeros((count, layout.columns), dtype=np.float32)
        first, place = 0, layout.dense
        for part in self.parts:
            last = first + len(part.names)
            if isinstance(part, CategoryPart):
                places = part.places(cells[part.column])
                out[:, first:last] = part.marks(places)
                if part.placed:
                    out[:, place] = np.maximum(places, -1)
                    place += 1
            elif last > first:
                out[:, first:last] = part.encode(cells[part.column])
            first = last
        if self.pairs:
            out[:, place:] = packed_terms(self._texts, [cells[part.column] for part in self._texts], self.pairs)
        return out

    def unread(self, cells: Mapping[str, Sequence[Any]]) -> dict[str, UnreadCells]:
        """Return, by column, the cells that say something of which nothing is made: they count as missing."""
        found = {part.column: part.unread(cells[part.column]) for part in self.parts}
        return {name: one for name, one in found.items() if one is not None}

    def require_embedders(self) -> None:
        """Raise unless all embedders are here, as they were when the encoder was fitted."""
        for part in self.parts:
            if isinstance(part, EmbeddedPart):
                part.require()

    def require_columns(self, given: Collection[str], argument: str = "X") -> None:
        """Refuse to be without a column: its name may be mistyped."""
        lacking = [name for name in self.columns if name not in given]
        if not lacking:
            return
        unknown = [name for name in given if name not in self.columns][:_NAMED]
        allowed = f"rows with the columns {_quoted(self.columns)} (None where a cell is empty)"
        came = f"none with {_quoted(lacking)}" + (f", and unknown ones: {_quoted(unknown)}" if unknown else "")
        raise InvalidArgument(argument, allowed, came)

    def to_json(self) -> Record:
        """Return plain JSON values."""
        return {"format": FORMAT, "pairs": self.pairs, "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Encoder:
        """Return the inverse of ``to_json``."""
        try:
            if record["format"] not in (1, FORMAT):
                raise InvalidFile(f"an encoder of format {record['format']} cannot be read, only 1 and {FORMAT}")
            return cls(tuple(_part(one) for one in record["parts"]), record.get("pairs", 0))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidFile(f"an encoder lacks or misstates a field: {error!r}") from error


def fit_encoder(
    columns: Sequence[Column],
    sample: Sequence[Mapping[str, Any]],
    rows: Iterable[Sequence[Mapping[str, Any]]] = (),
    embed: Mapping[str, str] | None = None,
) -> Encoder:
    """Return the encoder of some columns, for rows like those of a sample.

    Terms of texts are counted in all ``rows``, some at a time, which are read only if there are texts (none: in the
    sample).  ``embed`` names the embedders of some columns (see ``embedders``); a text is seen by its terms as well.
    """
    embed, parts = embed or {}, list[Part]()
    names = [column.name for column in columns if column.kind in ("text", "url")]
    texts = {part.column: part for part in fit_texts(names, sample, rows)}
    plain = [column.name for column in columns if column.kind == "number" and column.name not in embed]
    numbers = _fitted_numbers({name: as_floats([row.get(name) for row in sample], name) for name in plain})
    for one in columns:
        if one.name in texts:
            parts.append(texts[one.name])
        if one.name in numbers:
            parts.append(numbers[one.name])
        elif one.name in embed or one.name not in texts:
            parts.append(_fitted(one, [row.get(one.name) for row in sample], embed.get(one.name)))
    return Encoder(tuple(parts), pairs_needed(list(texts.values()), sample))


def _fitted(column: Column, cells: Sequence[Any], embedder: str | None) -> Part:
    if embedder is not None:
        return fit_embedded(column.name, column.kind, embedder, cells)
    if column.kind == "image":
        return ImagePart(column.name, "edges")
    if column.kind == "vector":
        return VectorPart(column.name, next((len(cell) for cell in cells if cell is not None), 0))
    if column.kind == "amount":
        reading = reading_of(cells) or Reading(".")
        number = _fitted_number(column.name, reading.numbers(cells))
        return AmountPart(column.name, number.center, number.scale, number.missing, reading.decimal, reading.unit)
    if column.kind == "date":
        day_first = dates.has_day_first(cells)
        days = dates.all_days(cells, day_first)
        number = _fitted_number(column.name, days)
        return DatePart(column.name, number.center, number.scale, number.missing, dates.cycles_of(days), day_first)
    counts = Counter(str(cell) for cell in cells if cell is not None)
    levels = sorted(counts, key=lambda level: (-counts[level], level))
    return CategoryPart(column.name, tuple(levels[:PLACES]), len(levels) > LEVELS, True)


def _fitted_numbers(columns: Mapping[str, Array]) -> dict[str, NumberPart]:
    """Return each column's part; columns of one unit share the quadratic mean of their scales."""
    parts = {name: _fitted_number(name, values) for name, values in columns.items()}
    with np.errstate(over="ignore"):
        ranges = {name: np.ptp(known) for name, values in columns.items() if len(known := values[~np.isnan(values)])}
    varying = [name for name, width in ranges.items() if 0.0 < width < math.inf]
    if not have_one_unit(np.array([ranges[name] for name in varying])):
        return parts
    scales = np.array([parts[name].scale for name in varying])
    shared = float(scales.max() * np.sqrt(np.mean((scales / scales.max()) ** 2)))  # no square overflows
    return {name: replace(part, scale=shared) for name, part in parts.items()}


def _fitted_number(name: str, values: Array) -> NumberPart:
    known = values[~np.isnan(values)]
    if not len(known):
        return NumberPart(name, 0.0, 1.0, False)
    with np.errstate(over="ignore", invalid="ignore"):
        low, center, high = (4.0 * float(q) for q in np.quantile(known / 4, (0.25, 0.5, 0.75)))  # none overflows
        widths = ((high - low) / 1.349, float(known.std()))  # half of the numbers may be the same
    scale = next((width for width in widths if width > 1e-12 * max(abs(low), abs(high)) and math.isfinite(width)), 1.0)
    return NumberPart(name, center, scale, len(known) < len(values))


def as_floats(cells: Sequence[Any], column: str) -> Array:
    """Return numbers, NaN where there is none; thousands may be parted, and any other text is refused."""
    try:
        values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        reading = reading_of(cells)
        plain = Reading(".") if reading is None or reading.unit else reading
        values = np.array([_as_float(cell, column, plain) for cell in cells])
    if values.shape != (len(cells),) or np.isinf(values).any():
        raise InvalidArgument(column, "finite numbers", "another value")
    return values


def _as_float(cell: Any, column: str, reading: Reading) -> float:
    if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
        return math.nan
    if not math.isnan(number := reading.number(cell)):
        return number
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(column, "a number", repr(cell)[:60]) from None


def _part(record: Mapping[str, Any]) -> Part:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    return PARTS[str(fields.pop("kind"))](**fields)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
