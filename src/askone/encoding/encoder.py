"""From a table's cells to a model's numbers: fitted once on a sample, then a pure function of each row.

- a number x becomes (x - median) / scale, with scale = IQR / 1.349 (the standard deviation of normal numbers),
  within +-10; a missing one becomes 0, with a column that says so if the sample lacks some;
- a category becomes one column for each of its 20 most frequent values, and one for the others if there are any;
- a text becomes 64 numbers: h R with h its hashed words (length 1) and R random signs / 8, which keeps the
  products of texts: E <hR, h'R> = <h, h'>;
- an image becomes what ``features.pictures`` says of 32 x 32 of its pixels; in campaigns of the first version, 256
  gray values.

>>> columns = [Column("size", "number"), Column("colour", "category")]
>>> rows = [{"size": 1, "colour": "red"}, {"size": 2, "colour": "blue"}, {"size": None, "colour": "red"}]
>>> encoder = fit_encoder(columns, rows)
>>> encoder.encode([{"size": 1.5, "colour": "blue"}]).tolist(), encoder.names
([[0.0, 0.0, 0.0, 1.0]], ('size', 'size missing', 'colour: red', 'colour: blue'))
>>> Encoder.from_json(encoder.to_json()) == encoder
True
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from askone._common import random_table
from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.encoding.columns import Column
from askone.errors import InvalidArgument, InvalidFile
from askone.features import pictures

if TYPE_CHECKING:
    from sklearn.feature_extraction import text
else:
    text = lazy_import("sklearn.feature_extraction.text")

Record = dict[str, Any]

FORMAT: Final = 1
LEVELS: Final = 20
PIXELS: Final = 256
_TEXT, _HASHES, _LONG = 64, 4096, 10_000
_FAR: Final = 10.0
_NAMED: Final = 10  # names in an error


class Part(ABC):
    """The encoding of one column."""

    kind: ClassVar[str]
    column: str

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its numbers."""

    @abstractmethod
    def encode(self, cells: Sequence[Any]) -> Array:
        """Return numbers, n x names."""

    def to_json(self) -> Record:
        """Return plain JSON values."""
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return {"kind": self.kind, **fields}


@final
@dataclass(frozen=True)
class NumberPart(Part):
    """A number, shifted and scaled."""

    column: str
    center: float
    scale: float
    missing: bool
    kind: ClassVar[str] = "number"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column, f"{self.column} missing") if self.missing else (self.column,)

    def encode(self, cells: Sequence[Any]) -> Array:
        values = as_floats(cells, self.column)
        gone = np.isnan(values)
        with np.errstate(over="ignore"):  # what overflows is far
            scaled = np.clip((np.where(gone, self.center, values) - self.center) / self.scale, -_FAR, _FAR)
        return np.column_stack([scaled, gone]) if self.missing else scaled[:, None]


@final
@dataclass(frozen=True)
class CategoryPart(Part):
    """A category, one column per level."""

    column: str
    levels: tuple[str, ...]
    other: bool
    kind: ClassVar[str] = "category"

    @property
    def names(self) -> tuple[str, ...]:
        named = tuple(f"{self.column}: {level}" for level in self.levels)
        return (*named, f"{self.column}: other") if self.other else named

    def encode(self, cells: Sequence[Any]) -> Array:
        places = {level: place for place, level in enumerate(self.levels)}
        width, n = len(self.names), len(cells)
        other = len(self.levels) if self.other else width
        found = [width if cell is None else places.get(str(cell), other) for cell in cells]
        out = np.zeros((n, width + 1), dtype=np.float32)  # the last column takes what has no other
        out[np.arange(n), found] = 1.0
        return out[:, :width]


@final
@dataclass(frozen=True)
class TextPart(Part):
    """A text, by its words."""

    column: str
    kind: ClassVar[str] = "text"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}: words {place}" for place in range(_TEXT))

    def encode(self, cells: Sequence[Any]) -> Array:
        texts = ["" if cell is None else str(cell)[:_LONG] for cell in cells]
        return np.asarray(_vectorizer().transform(texts) @ _signs())


@final
@dataclass(frozen=True)
class ImagePart(Part):
    """An image, by its edges and colours, or by the gray values that were made of it."""

    column: str
    seen: str = "gray"  # what parts say that were written when there was nothing else
    kind: ClassVar[str] = "image"

    @property
    def side(self) -> int | None:
        """Pixels on each side of what a cell holds; None: 16 x 16 gray values as one row."""
        return None if self.seen == "gray" else pictures.SIDE

    @property
    def names(self) -> tuple[str, ...]:
        if self.side is None:
            return tuple(f"{self.column}: pixel {place}" for place in range(PIXELS))
        return tuple(f"{self.column}: {name}" for name in pictures.NAMES)

    def encode(self, cells: Sequence[Any]) -> Array:
        shape = (PIXELS,) if self.side is None else (self.side, self.side, 3)
        what = f"{PIXELS} gray values" if self.side is None else "x".join(map(str, shape)) + " colours"
        if any(isinstance(cell, str) for cell in cells):
            raise InvalidArgument(self.column, what, "a name: an image is encoded by its content")
        pixels = [None if cell is None else np.asarray(cell, dtype=np.float64) for cell in cells]
        if any(one is not None and (one.shape != shape or not np.isfinite(one).all()) for one in pixels):
            raise InvalidArgument(self.column, f"finite {what}", "others")
        nothing = np.zeros(len(self.names))
        values = pictures.picture_features if self.side is not None else np.asarray
        rows = [nothing if one is None else values(one) for one in pixels]
        return np.array(rows).reshape(len(cells), len(nothing))


PARTS: dict[str, type[Part]] = {one.kind: one for one in (NumberPart, CategoryPart, TextPart, ImagePart)}


@final
@dataclass(frozen=True)
class Encoder:
    """The encoding of all columns that are learnt from; without any, one constant."""

    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers."""
        return tuple(name for part in self.parts for name in part.names) or ("constant",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(part.column for part in self.parts)

    def encode(self, contents: Sequence[Mapping[str, Any]]) -> Array:
        """Return one row of finite numbers for each content, float32; a cell may be None or left out."""
        if not self.parts:
            return np.zeros((len(contents), 1), dtype=np.float32)
        self._require_columns(contents)
        out = np.empty((len(contents), len(self.names)), dtype=np.float32)
        first = 0
        for part in self.parts:
            cells = [content.get(part.column) for content in contents]
            width = len(part.names)
            out[:, first : first + width] = part.encode(cells)
            first += width
        return out

    def _require_columns(self, contents: Sequence[Mapping[str, Any]]) -> None:
        """Refuse to be without a column in all contents: its name may be mistyped."""
        lacking = [name for name in self.columns if contents and not any(name in content for content in contents)]
        if not lacking:
            return
        others = [str(name) for name in dict.fromkeys(name for content in contents for name in content)]
        unknown = [name for name in others if name not in self.columns][:_NAMED]
        allowed = f"rows with the columns {_quoted(self.columns)} (None where a cell is empty)"
        came = f"none with {_quoted(lacking)}" + (f", and unknown ones: {_quoted(unknown)}" if unknown else "")
        raise InvalidArgument("contents", allowed, came)

    def to_json(self) -> Record:
        """Return plain JSON values."""
        return {"format": FORMAT, "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Encoder:
        """Return the inverse of ``to_json``."""
        try:
            if record["format"] != FORMAT:
                raise InvalidFile(f"an encoder of format {record['format']} cannot be read, only {FORMAT}")
            return cls(tuple(_part(one) for one in record["parts"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidFile(f"an encoder lacks or misstates a field: {error!r}") from error


def fit_encoder(columns: Sequence[Column], sample: Sequence[Mapping[str, Any]]) -> Encoder:
    """Return the encoder of some columns, for rows like those of a sample."""
    return Encoder(tuple(_fitted(column, [row.get(column.name) for row in sample]) for column in columns))


def _fitted(column: Column, cells: Sequence[Any]) -> Part:
    if column.kind == "image":
        return ImagePart(column.name, "edges")
    if column.kind == "number":
        return _fitted_number(column.name, as_floats(cells, column.name))
    if column.kind == "category":
        counts = Counter(str(cell) for cell in cells if cell is not None)
        levels = sorted(counts, key=lambda level: (-counts[level], level))
        return CategoryPart(column.name, tuple(levels[:LEVELS]), len(levels) > LEVELS)
    return TextPart(column.name)


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
    """Return numbers, NaN where there is none; a text that is no number is refused."""
    try:
        values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.array([_as_float(cell, column) for cell in cells])
    if values.shape != (len(cells),) or np.isinf(values).any():
        raise InvalidArgument(column, "finite numbers", "another value")
    return values


def _as_float(cell: Any, column: str) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(column, "a number", repr(cell)[:60]) from None


def _part(record: Mapping[str, Any]) -> Part:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    return PARTS[str(fields.pop("kind"))](**fields)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")


@lru_cache(maxsize=1)
def _vectorizer() -> Any:
    return text.HashingVectorizer(token_pattern=r"(?u)\w+", n_features=_HASHES, norm="l2", dtype=np.float32)


@lru_cache(maxsize=1)
def _signs() -> Array:
    uniform = random_table.uniforms(0, 0, _HASHES, _TEXT)
    return np.where(uniform < 0.5, -1.0, 1.0).astype(np.float32) / np.float32(math.sqrt(_TEXT))
