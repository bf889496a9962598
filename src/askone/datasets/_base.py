"""Data sets and their cards, and the checksum of their numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_labels, as_rows

Names = tuple[str, ...]
# From a text, the names of its inputs and those of its outputs to inputs and outputs.
Parser = Callable[[bytes, Names, Names], tuple[Array, Array]]


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and labels to learn from, rows and labels to measure with, and where they come from.

    With several outputs, ``y`` has a column for each.  ``card`` says in words what this is.

    >>> data = Dataset("toy", np.zeros((2, 1)), np.zeros(2), np.zeros((1, 1)), np.zeros(1), ("x",))
    >>> data
    Dataset(name='toy', classes=None, source='', licence='', split='')
    """

    name: str
    X: Array = field(repr=False)
    y: Array = field(repr=False)
    X_test: Array = field(repr=False)
    y_test: Array = field(repr=False)
    feature_names: Names = field(repr=False)
    classes: tuple[int, ...] | None = None
    source: str = ""
    licence: str = ""
    split: str = ""
    target_names: Names = field(default=("label",), repr=False)
    card: str = field(default="", repr=False)


@final
@dataclass(frozen=True)
class File:
    """One file of a data set: its name at home and as Parquet, and the checksum of what it holds.

    ``content`` is None where every release of the file is welcome; ``sha256`` is of the original's bytes,
    or None where the home gives none to rely on.
    """

    original: str
    parquet: str
    content: str | None
    sha256: str | None = None

    @property
    def names(self) -> Names:
        """The names under which a directory may hold it, packed or not.

        >>> File("a.gz", "b.parquet", "").names
        ('a.gz', 'a', 'b.parquet')
        """
        plain = self.original.removesuffix(".gz")
        packed = plain + ".gz"
        other = plain if self.original == packed else packed
        return self.original, other, self.parquet


@final
@dataclass(frozen=True)
class Recipe:
    """A data set's card: its home, its files, how to read them, how many rows train.

    ``by_hand`` says how a person gets the files where no program can; ``complete`` leaves out rows that
    lack a number; ``transform`` makes the inputs out of what the files hold; ``rows`` is None where that
    depends on the release of the file.
    """

    home: str
    files: tuple[File, ...]
    parse: Parser
    feature_names: Names
    classes: tuple[int, ...] | None
    training: int
    source: str
    licence: str
    split: str
    rows: int | None = None
    target_names: Names = ("label",)
    complete: bool = False
    by_hand: str = ""
    transform: Callable[[Array], Array] | None = None
    notes: tuple[str, ...] = ()


def as_table(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return finite inputs and outputs without negative zeros; one output is a vector."""
    rows, labels = as_rows(X), as_labels(y)
    # Adding zero turns -0.0 into 0.0, which sparse text cannot tell apart.
    return rows + 0.0, (labels[:, 0] if labels.shape[1] == 1 else labels) + 0.0


def content_checksum(X: ArrayLike, y: ArrayLike) -> str:
    """Return the sha256 of the numbers in a table, whatever file they came from.

    Over the text "rows columns" and a line feed, then the rows, row after row, then the labels likewise, all
    as little-endian 64-bit floats without negative zeros.

    >>> content_checksum([[1, -0.0]], [3])[:16] == content_checksum([[1.0, 0.0]], [3.0])[:16]
    True
    """
    rows, labels = as_table(X, y)
    digest = hashlib.sha256(f"{rows.shape[0]} {rows.shape[1]}\n".encode())
    for array in (rows, labels):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()
