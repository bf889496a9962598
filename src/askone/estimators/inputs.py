"""What estimators make rows of: DataFrames with texts and categories, and sparse matrices."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from askone._common.lazy import sparse
from askone._common.types import Array
from askone._common.validate import dimensions
from askone.encoding import frames
from askone.encoding.encoder import Encoder
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout

_FEW: Final = 256  # columns up to which a sparse matrix is taken as a dense one
_PAIRS: Final = 512
TEXT: Final = "text"
"""The column that plain texts are."""


class Inputs(ABC):
    """What makes rows of whatever a model began with."""

    layout: RowLayout
    names: tuple[str, ...] | None
    columns: int

    @abstractmethod
    def rows(self, X: Any) -> Array:
        """Return rows as learners see them."""

    def _array(self, X: Any, allowed: str) -> Array:
        """Return rows that are encoded already, as a log has them."""
        try:
            rows = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidArgument("X", allowed, type(X).__name__) from None
        if rows.ndim != 2 or rows.shape[1] != self.layout.columns:
            raise InvalidArgument("X", f"{allowed}, or encoded rows of {self.layout.columns}", f"shape {rows.shape}")
        return rows


@final
@dataclass(frozen=True)
class FrameInputs(Inputs):
    """Tables with columns by name."""

    encoder: Encoder

    @property
    def layout(self) -> RowLayout:  # type: ignore[override]  # read only
        return self.encoder.layout

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]  # read only
        return self.encoder.columns

    @property
    def columns(self) -> int:  # type: ignore[override]  # read only
        return len(self.encoder.columns)

    def rows(self, X: Any) -> Array:
        X = named_texts(X, self.names[0] if len(self.names) == 1 else None)
        if not frames.is_frame(X):
            shown = ", ".join(map(repr, self.names[:10])) + (", …" if len(self.names) > 10 else "")
            return self._array(X, f"a DataFrame with the columns {shown}")
        try:
            return frames.encoded(self.encoder, X).astype(np.float64)
        except InvalidArgument as error:
            argument = f"X[{error.argument!r}]" if error.argument in self.names else "X"
            raise InvalidArgument(argument, error.allowed, error.got) from error


@final
@dataclass(frozen=True)
class SparseInputs(Inputs):
    """Sparse matrices: a row keeps its ``pairs`` greatest entries by absolute value."""

    columns: int
    pairs: int
    names = None

    @property
    def layout(self) -> RowLayout:  # type: ignore[override]  # read only
        return RowLayout(1, pairs=self.pairs, terms=self.columns)

    def rows(self, X: Any) -> Array:
        if not sparse.issparse(X):
            shape = np.shape(X)
            if len(shape) != 2 or shape[1] != self.columns:
                return self._array(X, f"a sparse matrix of {self.columns} columns")
            X = np.asarray(X, dtype=np.float64)
        matrix = _tidy(X)
        if matrix.shape[1] != self.columns:
            raise InvalidArgument("X", f"{self.columns} columns", f"{matrix.shape[1]}")
        counts = np.diff(matrix.indptr)
        if (counts > self.pairs).any():
            few, most = f"{(counts > self.pairs).sum()} row(s)", f"{self.pairs} greatest"
            warnings.warn(f"X: {few} have more entries than rows hold: the {most} are kept", UserWarning, stacklevel=3)
            matrix = _greatest(matrix, self.pairs)
            counts = np.diff(matrix.indptr)
        which = np.repeat(np.arange(matrix.shape[0]), counts)
        place = np.arange(len(matrix.data)) - matrix.indptr[which]
        out = np.zeros((matrix.shape[0], self.layout.columns))
        out[which, 1 + place] = matrix.indices + 1
        out[which, 1 + self.pairs + place] = matrix.data
        return out


def _tidy(X: Any) -> Any:
    """Return a sparse matrix in rows, sorted, of finite numbers, without zeros."""
    matrix = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.isfinite(matrix.data).all():
        place = int(matrix.indices[np.argmin(np.isfinite(matrix.data))])
        raise InvalidArgument(f"X[:, {place}]", "finite numbers (no NaN, no infinity)", "a value that is not finite")
    return matrix


def _greatest(matrix: Any, most: int) -> Any:
    kept = np.ones(len(matrix.data), dtype=bool)
    for first, last in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        if last - first > most:
            kept[first + np.argsort(-np.abs(matrix.data[first:last]), kind="stable")[most:]] = False
    matrix.data[~kept] = 0.0
    matrix.eliminate_zeros()
    return matrix


def inputs_for(X: Any) -> Inputs | None:
    """Return what makes rows of X and of others like it; None: it is rows of numbers."""
    if sparse.issparse(X):
        matrix = _tidy(X)
        pairs = max(1, min(_PAIRS, int(np.diff(matrix.indptr).max(initial=1))))
        few = matrix.shape[1] <= max(_FEW, 1 + 2 * pairs)
        return None if few else SparseInputs(matrix.shape[1], pairs)
    X = named_texts(X)
    if not frames.is_frame(X):
        return None
    cells = frames.cells_of(X)
    plain = not isinstance(X, list | tuple) and frames.first_odd(cells) is None
    return None if plain or not cells else FrameInputs(frames.fit_frame(cells, frames.declared_categories(X)))


def named_texts(X: Any, name: str | None = TEXT) -> Any:
    """Return plain texts as a table of one column, which has this name, and anything else as it is."""
    texts = None if name is None else frames.texts_of(X)
    return X if texts is None else [{name: text} for text in texts]


def require_plain(X: Any) -> None:
    """Name the column of a DataFrame that holds no numbers, for a model that began with numbers alone."""
    name = frames.first_odd(frames.cells_of(X)) if frames.is_frame(X) else None
    if name is not None:
        raise InvalidArgument(f"X[{name!r}]", "finite numbers, as in the rows that the model began with", "others")


def as_matrix(X: Any) -> Any:
    """Return a sparse matrix of few columns as a dense one, and anything else as it is."""
    return X.toarray() if sparse.issparse(X) else X


def is_named(x: Any) -> bool:
    """Return whether x is one row by name, a text, or one sparse row."""
    return isinstance(x, str) or _is_series(x) or isinstance(x, Mapping) or (sparse.issparse(x) and x.ndim == 1)


def is_one(x: Any) -> bool:
    """Return whether x is one row, and not several."""
    if type(x) is np.ndarray:
        return x.ndim == 1 and (x.dtype.kind in "fiu" or frames.texts_of(x) is None)  # the usual case at once
    if isinstance(x, str):
        return True
    many = frames.is_frame(x) or frames.texts_of(x) is not None or (sparse.issparse(x) and x.ndim == 2)
    return is_named(x) or (not many and dimensions(x, "x") == 1)


def as_table(x: Any) -> Any:
    """Return one row, with its column names if it has some, as a table of one row."""
    if isinstance(x, str):
        return [x]
    if _is_series(x):
        numbers = all(isinstance(cell, int | float | np.number) for cell in x)
        return x.to_frame().T.astype(float) if numbers else [{str(name): cell for name, cell in x.items()}]
    if isinstance(x, Mapping):
        return [x]
    return x.reshape(1, -1) if sparse.issparse(x) and x.ndim == 1 else np.asarray(x)[None]


def _is_series(x: Any) -> bool:
    pandas = sys.modules.get("pandas")  # nobody holds a Series who has not imported pandas
    return pandas is not None and isinstance(x, pandas.Series)
