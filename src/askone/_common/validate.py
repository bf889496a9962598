"""Validate what callers hand in, once, and turn it into arrays: rows, labels, numbers, seeds."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone.errors import InvalidArgument


def as_rows(X: ArrayLike, columns: int | None = None, argument: str = "X") -> Array:
    """Return a finite float array of rows (n x columns).

    >>> as_rows([[1, 2]]).shape
    (1, 2)
    >>> as_rows([[1, float("nan")]])
    Traceback (most recent call last):
    askone.errors.InvalidArgument: X must be finite numbers (no NaN, no infinity); got a value that is not finite
    """
    rows = _floats(X, argument)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InvalidArgument(argument, "a table of rows (two dimensions)", f"shape {rows.shape}")
    if columns is not None and rows.shape[1] != columns:
        raise InvalidArgument(argument, f"rows of {columns} columns", f"{rows.shape[1]} columns")
    return _finite(rows, argument)


def as_row(x: ArrayLike, columns: int | None = None, argument: str = "x") -> Array:
    """Return one row as a (1 x columns) array."""
    if type(x) is np.ndarray and x.dtype == np.float64 and x.shape == (columns,) and math.isfinite(x.dot(x)):
        return x.reshape(1, -1)  # the usual case, in a microsecond
    row = _floats(x, argument)
    if row.ndim != 1 or row.size == 0:
        raise InvalidArgument(argument, "one row (one dimension)", f"shape {row.shape}")
    if columns is not None and row.size != columns:
        raise InvalidArgument(argument, f"a row of {columns} columns", f"{row.size} columns")
    return _finite(row, argument)[None, :]


def as_labels(y: ArrayLike, outputs: int | None = None, argument: str = "y") -> Array:
    """Return labels as a finite (n x m) array; one output may come as a flat list."""
    labels = _floats(y, argument)
    if labels.ndim == 1:
        labels = labels[:, None]
    if labels.ndim != 2 or (outputs is not None and labels.shape[1] != outputs):
        raise InvalidArgument(argument, f"labels with {outputs or 'm'} outputs", f"shape {labels.shape}")
    return _finite(labels, argument)


def as_hidden(y: ArrayLike, argument: str = "y") -> Array:
    """Return labels of any kind, n x entries: finite numbers, or an array of objects for names.

    >>> as_hidden(["cat", "lion"]).tolist()
    [['cat'], ['lion']]
    """
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InvalidArgument(argument, "labels of equal length", str(error)) from error
    if array.dtype.kind not in "USO":
        return as_labels(y, argument=argument)
    named = array.astype(object)
    if named.ndim == 1:
        named = named[:, None]
    if named.ndim != 2:
        raise InvalidArgument(argument, "a list of labels", f"shape {named.shape}")
    kinds = set(map(type, named.ravel().tolist()))  # most labels have no number in them: one look at each is enough
    numbered = any(issubclass(kind, float) for kind in kinds)
    if numbered and any(isinstance(name, float) and not math.isfinite(name) for name in named.flat):
        raise InvalidArgument(argument, "labels without NaN", "a missing label")
    return named


def as_label(y: ArrayLike, outputs: int, argument: str = "label") -> Array:
    """Return one label as a finite vector of m numbers; one output may come as a number."""
    label = _floats(y, argument).reshape(-1)
    if label.size != outputs:
        raise InvalidArgument(argument, f"a label with {outputs} output(s)", f"{label.size} number(s)")
    return _finite(label, argument)


def as_number(
    value: object, argument: str, low: float = -math.inf, high: float = math.inf, strict: bool = False
) -> float:
    """Return a finite number between two bounds (excluding them where ``strict``)."""
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, numbers.Real) else float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    inside = low < number < high if strict else low <= number <= high
    if not (math.isfinite(number) and inside):
        raise InvalidArgument(argument, _interval(low, high, strict), _shown(value))
    return number


def as_count(value: object, argument: str, low: int = 0, high: int | None = None) -> int:
    """Return a whole number not below ``low`` (nor above ``high``)."""
    number = None if isinstance(value, bool) or not isinstance(value, numbers.Integral) else int(value)
    if number is None or number < low or (high is not None and number > high):
        allowed = f"a whole number from {low}" + ("" if high is None else f" to {high}")
        raise InvalidArgument(argument, allowed, _shown(value))
    return number


def as_seed(value: object, argument: str = "seed") -> int:
    """Return a seed: a whole number below 2^63."""
    return as_count(value, argument, 0, 2**63 - 1)


def as_flag(value: object, argument: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(argument, "True or False", _shown(value))
    return bool(value)


def as_text(value: object, argument: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise InvalidArgument(argument, "a text", _shown(value))
    return value


def as_choice(value: object, argument: str, choices: Iterable[str]) -> str:
    """Return one of some names."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise InvalidArgument(argument, "one of: " + ", ".join(map(repr, names)), _shown(value))
    return value


def require_floats(array: object, argument: str, *shape: int | None) -> None:
    """Refuse whatever is no array of floats of this shape (None: any size), or has some that are no number.

    Compiled loops trust the shapes of what models are made of, and files of strangers have models.

    >>> require_floats(np.ones((2, 3)), "weights", None, 4)
    Traceback (most recent call last):
    askone.errors.InvalidArgument: weights must be floats, any number x 4 of them, none NaN; got (2, 3)
    """
    found = array.shape if isinstance(array, np.ndarray) else ()
    fits = len(found) == len(shape) and all(want in (None, size) for want, size in zip(shape, found, strict=True))
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not fits or np.isnan(array).any():
        sizes = " x ".join("any number" if want is None else str(want) for want in shape)
        raise InvalidArgument(argument, f"floats, {sizes} of them, none NaN", found)


def dimensions(values: ArrayLike, argument: str = "X") -> int:
    """Return how many dimensions some input has; a ragged list is refused."""
    try:
        return int(np.ndim(values))
    except ValueError as error:
        raise InvalidArgument(argument, "rows of equal length", f"{type(values).__name__} ({error})") from error


def _shown(value: object) -> object:
    return repr(value) if isinstance(value, str) else value


def _floats(values: ArrayLike, argument: str) -> Array:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise InvalidArgument(argument, "real numbers", "complex numbers")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(argument, "numbers", f"{type(values).__name__} ({error})") from error


def _finite(array: Array, argument: str) -> Array:
    if not np.isfinite(array).all():
        raise InvalidArgument(argument, "finite numbers (no NaN, no infinity)", "a value that is not finite")
    return array


def _interval(low: float, high: float, strict: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "a finite number"
    relation = ("above", "below") if strict else ("at least", "at most")
    parts = [f"{relation[0]} {low:g}"] * math.isfinite(low) + [f"{relation[1]} {high:g}"] * math.isfinite(high)
    return "a number " + " and ".join(parts)
