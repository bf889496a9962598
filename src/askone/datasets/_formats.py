"""From bytes to numbers: LIBSVM's text, text with the label first, CSV and Parquet, packed or not.

Data sets come in by this door to pyarrow.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib

import numpy as np
from sklearn.datasets import load_svmlight_file

from askone._common.types import Array
from askone.datasets._base import File, Names, Recipe, as_table, content_checksum
from askone.errors import InvalidFile, MissingExtra

try:
    from pyarrow import parquet
except ImportError:  # only Parquet files need it, and their reader says so
    parquet = None

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_MISSING = ("", "NA")
# What a reader raises for bytes that are not what they should be: a damaged archive, text, or table.
_UNREADABLE = (ValueError, KeyError, EOFError, OSError, NotImplementedError, zlib.error, csv.Error)


def checked(data: bytes, file: File, recipe: Recipe, origin: str) -> tuple[Array, Array]:
    """Return the inputs and outputs that a file holds, if they are what they should be."""
    try:
        rows, labels = _parsed(data, recipe)
    except _UNREADABLE as error:
        raise InvalidFile(f"{origin} cannot be read as {' or '.join(file.names)}: {error}") from error
    content = content_checksum(rows, labels) if file.content else None
    if content != file.content:
        raise InvalidFile(
            f"{origin} does not hold the numbers of {file.original} from {recipe.home}: expected the content "
            f"checksum {file.content}, got {content} ({len(rows)} rows of {rows.shape[1]} columns)"
        )
    return rows, labels


def _parsed(data: bytes, recipe: Recipe) -> tuple[Array, Array]:
    names = (recipe.feature_names, recipe.target_names)
    if data.startswith(_PARQUET):
        X, y = _from_parquet(data, *names)
    else:
        # By its first bytes, not by its name: some servers unpack a .gz file on its way.
        text = gzip.decompress(data) if data.startswith(_GZIP) else data
        if not text.strip():
            raise ValueError("it is empty")
        X, y = recipe.parse(text, *names)
    if recipe.complete:
        whole = ~np.isnan(np.column_stack([X, y])).any(axis=1)
        X, y = X[whole], y[whole]
    return as_table(X, y)


def _from_parquet(data: bytes, inputs: Names, outputs: Names) -> tuple[Array, Array]:
    if parquet is None:
        raise MissingExtra("Parquet files need pyarrow: pip install 'askone[parquet]'")
    table = parquet.read_table(io.BytesIO(data), columns=[*inputs, *outputs])
    X, y = (np.column_stack([table[name].to_numpy() for name in names]) for names in (inputs, outputs))
    return X, y


def from_libsvm(text: bytes, inputs: Names, _: Names) -> tuple[Array, Array]:
    """Return the text of LIBSVM's page: a label, and index:value for what is not zero."""
    X, y = load_svmlight_file(io.BytesIO(text), n_features=len(inputs), dtype=np.float64, zero_based=False)
    return X.toarray(), y


def from_label_first(text: bytes, inputs: Names, _: Names) -> tuple[Array, Array]:
    """Return a label and the inputs on every line, with spaces between them."""
    table = np.loadtxt(io.BytesIO(text), dtype=np.float64, ndmin=2)
    if table.shape[1] != len(inputs) + 1:
        raise ValueError(f"a line must hold a label and {len(inputs)} numbers; got {table.shape[1]} numbers")
    return table[:, 1:], table[:, 0]


def from_csv(text: bytes, inputs: Names, outputs: Names) -> tuple[Array, Array]:
    """Return columns by the names in the first line, among any others; an empty cell or NA is a missing number.

    >>> from_csv(b'a,text,b,c\\n1,"x, y",2,3\\n4,z,NA,6', ("b", "c"), ("a",))
    (array([[ 2.,  3.], [nan,  6.]]), array([[1.], [4.]]))
    """
    first, _, body = text.partition(b"\n")
    # Latin-1 reads every byte: units in other columns' names come in one encoding or another.
    header = next(csv.reader([first.removeprefix(codecs.BOM_UTF8).decode("latin-1").strip()]))
    missing = [name for name in (*inputs, *outputs) if name not in header]
    if missing:
        raise ValueError(f"its first line has no column {', '.join(missing)}")
    if not body.strip():
        raise ValueError("it has no rows")
    columns = [header.index(name) for name in (*inputs, *outputs)]
    table = np.loadtxt(
        io.BytesIO(body),
        delimiter=",",
        quotechar='"',
        comments=None,
        encoding="latin-1",
        usecols=columns,
        converters=_number,
        ndmin=2,
    )
    return table[:, : len(inputs)], table[:, len(inputs) :]


def _number(cell: str) -> float:
    return np.nan if cell.strip() in _MISSING else float(cell)
