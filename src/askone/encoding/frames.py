"""Tables in memory, column by column: a DataFrame of pandas or polars, or a list of dictionaries.

>>> cells = cells_of([{"size": 1, "colour": "red"}, {"size": None, "colour": "blue"}, {"colour": "red"}])
>>> cells["size"].tolist(), cells["colour"]
([1.0, nan, nan], ['red', 'blue', 'red'])
>>> [(column.name, column.kind) for column in columns_of(cells)]
[('size', 'number'), ('colour', 'category')]
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np

from askone._common.types import Array
from askone.encoding.base import Part
from askone.encoding.columns import Column, kind_of_texts
from askone.encoding.embedders import EmbeddedPart
from askone.encoding.encoder import CategoryPart, Encoder, fit_encoder
from askone.encoding.unread import UnreadCellsWarning, told
from askone.labels.wording import number_text

_SAMPLE: Final = 5_000
_CHUNK: Final = 5_000


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame, or a list of dictionaries: nobody holds one who has not imported its library."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], Mapping)
    return _is_of("pandas", X) or _is_of("polars", X)


def texts_of(X: Any) -> list[Any] | None:
    """Return the texts of a list, an array or a Series of them, None where there is none; None: it is none of these.

    >>> texts_of(["good", None, "bad"]), texts_of([1.0, 2.0]), texts_of("good")
    (['good', None, 'bad'], None, None)
    """
    if isinstance(X, np.ndarray):
        cells = X.tolist() if X.ndim == 1 and X.dtype.kind in "UOT" else []
    elif isinstance(X, list | tuple):
        cells = list(X)
    else:
        cells = list(X) if any(_is_of(library, X, "Series") for library in ("pandas", "polars")) else []
    texts = [None if _is_missing(cell) else cell for cell in cells if _is_missing(cell) or isinstance(cell, str)]
    return texts if len(texts) == len(cells) and any(text is not None for text in texts) else None


def _is_of(library: str, X: Any, kind: str = "DataFrame") -> bool:
    """Return whether X is a DataFrame, or a Series, of this library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(X, vars(module)[kind])


def cells_of(frame: Any, names: Sequence[str] | None = None, wide: Sequence[str] = ()) -> dict[str, Any]:
    """Return the cells of each column (or of those ``names`` that there are).

    Numbers come as an array, NaN where there is none; others as a list of texts, None where there is none; those in
    ``wide``, such as vectors, as they are.
    """
    if _is_of("pandas", frame):
        places = {str(name): place for place, name in enumerate(frame.columns)}
        wanted = [name for name in (places if names is None else names) if name in places]
        series = {name: frame.iloc[:, places[name]] for name in wanted}
        return {name: one.tolist() if name in wide else _pandas_cells(one) for name, one in series.items()}
    if _is_of("polars", frame):
        found = {name: frame.get_column(name).to_list() for name in frame.columns if names is None or name in names}
    else:
        known = dict.fromkeys(name for row in frame for name in row)
        wanted = [name for name in (known if names is None else names) if name in known]
        found = {name: [row.get(name) for row in frame] for name in wanted}
    return {name: cells if name in wide else _plain_cells(cells) for name, cells in found.items()}


def _pandas_cells(series: Any) -> Any:
    kind = getattr(series.dtype, "kind", "O")  # that of nullable numbers is theirs, too
    if kind in "iuf":
        return series.to_numpy(dtype=np.float64, na_value=math.nan)
    cells = series.astype(object).where(series.notna(), None).tolist()
    is_category = type(series.dtype).__name__ == "CategoricalDtype"
    return [None if cell is None else _text(cell) for cell in cells] if is_category else _plain_cells(cells)


def _plain_cells(cells: Sequence[Any]) -> Any:
    """Return numbers, if all cells are, or texts."""
    known = [cell for cell in cells if not _is_missing(cell)]
    if all(isinstance(cell, int | float | np.number) and not isinstance(cell, bool) for cell in known):
        return np.array([math.nan if _is_missing(cell) else float(cell) for cell in cells])
    return [None if _is_missing(cell) else _text(cell) for cell in cells]


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float | np.floating) and math.isnan(cell))


def _text(cell: Any) -> str:
    """Return a cell as a text; flags as Parquet files have them."""
    return str(cell).lower() if isinstance(cell, bool | np.bool_) else str(cell)


def columns_of(cells: Mapping[str, Any]) -> list[Column]:
    """Return the kind of each column, found from its cells as a campaign finds it."""
    return [Column(name, _kind(one)) for name, one in cells.items()]


def _kind(cells: Any) -> Any:
    if isinstance(cells, np.ndarray):
        return "number"
    step = max(1, -(-len(cells) // _SAMPLE))
    kind = kind_of_texts([cell for cell in cells[::step] if cell is not None])
    return "text" if kind == "url" else kind


def first_odd(cells: Mapping[str, Any]) -> str | None:
    """Return the first column that is not finite numbers."""
    return next((n for n, one in cells.items() if isinstance(one, list) or not np.isfinite(one).all()), None)


def fit_frame(cells: Mapping[str, Any], categories: Sequence[str] = ()) -> Encoder:
    """Return the encoder of a table's columns; those in ``categories`` are declared to be some."""
    columns = [Column(one.name, "category") if one.name in categories else one for one in columns_of(cells)]
    count = len(next(iter(cells.values()), ()))
    texts = {column.name: cells[column.name] for column in columns if column.kind == "text"}
    sample = next(records({name: one[:: max(1, -(-count // _SAMPLE))] for name, one in cells.items()}, count), [])
    return fit_encoder(columns, sample, records(texts, _CHUNK))


def declared_categories(frame: Any) -> list[str]:
    """Return the columns of a DataFrame that are categories by their type."""
    types = frame.dtypes.items() if _is_of("pandas", frame) else ()
    return [str(name) for name, kind in types if type(kind).__name__ == "CategoricalDtype"]


def records(cells: Mapping[str, Any], size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of some columns as dictionaries, so many at a time."""
    rows = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    while chunk := list(islice(rows, size)):
        yield chunk


def encoded(encoder: Encoder, frame: Any) -> Array:
    """Return the rows of a DataFrame, or of a list of dictionaries, encoded."""
    wide = [part.column for part in encoder.parts if _content(part) in ("image", "vector")]
    by_row = isinstance(frame, list | tuple)
    given = dict.fromkeys(name for row in frame for name in row) if by_row else frame.columns
    encoder.require_columns([str(name) for name in given])
    cells = cells_of(frame, encoder.columns, wide)
    fitting = {part.column: _fitting(part, cells[part.column]) for part in encoder.parts}
    lost = encoder.unread(fitting)
    if lost:
        warnings.warn(told(lost), UnreadCellsWarning, stacklevel=2)
    return encoder.encode_columns(fitting, len(frame))


def _content(part: Part) -> str:
    return part.of if isinstance(part, EmbeddedPart) else part.kind


def _fitting(part: Part, cells: Any) -> Any:
    """Return cells as a part reads them: texts, where numbers or flags were read from another file."""
    if _content(part) in ("number", "amount", "image", "vector"):
        return cells
    if isinstance(cells, np.ndarray):
        return [None if math.isnan(cell) else number_text(cell) for cell in cells.tolist()]
    spelled = {level.lower(): level for level in part.levels} if isinstance(part, CategoryPart) else {}
    if spelled.keys() <= {"true", "false"} and spelled:
        return [spelled.get(cell, cell) for cell in cells]
    return cells
