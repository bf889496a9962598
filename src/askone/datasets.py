"""The real data of the experiments, by name: read from a directory, from the cache, or from their home.

Not loaded by ``import askone``; ``from askone import datasets`` is what loads it.

>>> list(DATASETS)
['pendigits', 'usps']
>>> load("mnist")
Traceback (most recent call last):
askone.errors.InvalidArgument: name must be one of: 'pendigits', 'usps'; got 'mnist'

A data set is one or more files; their rows, one file after the other, are the data, and the first of
them are for training.  Whatever was read is compared with a checksum of its content
(``content_checksum``), so the same name is the same numbers from every place and in every format.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import pooch
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import load_svmlight_file

from askone.errors import DownloadFailed, InvalidArgument, InvalidFile, MissingExtra, WrongType
from askone.inputs import as_choice, as_labels, as_rows

try:
    from pyarrow import parquet
except ImportError:  # only Parquet files need it, and their reader says so
    parquet = None

Array = NDArray[Any]
Pathlike = str | os.PathLike[str]
Parser = Callable[[bytes, int], tuple[Array, Array]]

ENVIRONMENT = "ASKONE_DATA"
_GZIP = b"\x1f\x8b"
_LABEL = "label"
# What a reader raises for bytes that are not what they should be: a damaged archive, text, or table.
_UNREADABLE = (ValueError, KeyError, EOFError, OSError, NotImplementedError, zlib.error)


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and labels to learn from, rows and labels to measure with, and where they come from.

    >>> data = Dataset("toy", np.zeros((2, 1)), np.zeros(2), np.zeros((1, 1)), np.zeros(1), ("x",))
    >>> data
    Dataset(name='toy', classes=None, source='', licence='', split='')
    """

    name: str
    X: Array = field(repr=False)
    y: Array = field(repr=False)
    X_test: Array = field(repr=False)
    y_test: Array = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    classes: tuple[int, ...] | None = None
    source: str = ""
    licence: str = ""
    split: str = ""


@final
@dataclass(frozen=True)
class File:
    """One file of a data set: its name at home and as Parquet, and the checksum of what it holds.

    ``sha256`` is of the original's bytes, or None where the home gives none to rely on.
    """

    original: str
    parquet: str
    content: str
    sha256: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
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
    """What there is to know about a data set: its home, its files, how to read them, how many rows train."""

    home: str
    files: tuple[File, ...]
    parse: Parser
    feature_names: tuple[str, ...]
    classes: tuple[int, ...] | None
    training: int
    source: str
    licence: str
    split: str


def load(name: str, directory: Pathlike | None = None) -> Dataset:
    """A data set by name.

    Looked for in ``directory`` and nowhere else if it is given; otherwise in the directory that the
    environment variable ASKONE_DATA names, then in the user's cache, and then downloaded into it from
    its home.  A directory may hold the original files (packed by gzip or not) or Parquet files.
    """
    recipe = DATASETS[as_choice(name, "name", DATASETS)]
    tables = [_read(path, file, recipe) for path, file in zip(_locate(recipe, directory), recipe.files, strict=True)]
    X = np.concatenate([rows for rows, _ in tables])
    y = np.concatenate([labels for _, labels in tables])
    y = y if recipe.classes is None else y.astype(np.int64)
    train, test = slice(recipe.training), slice(recipe.training, None)
    about = (recipe.feature_names, recipe.classes, recipe.source, recipe.licence, recipe.split)
    return Dataset(name, X[train], y[train], X[test], y[test], *about)


def content_checksum(X: ArrayLike, y: ArrayLike) -> str:
    """The sha256 of the numbers in a table, whatever file they came from.

    Over the text "rows columns" and a line feed, then the rows, row after row, then the labels, all as
    little-endian 64-bit floats without negative zeros.

    >>> content_checksum([[1, -0.0]], [3])[:16] == content_checksum([[1.0, 0.0]], [3.0])[:16]
    True
    """
    rows, labels = _table(X, y)
    digest = hashlib.sha256(f"{rows.shape[0]} {rows.shape[1]}\n".encode())
    for array in (rows, labels):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def _locate(recipe: Recipe, directory: Pathlike | None) -> list[Path]:
    if directory is not None:
        return _in_named(recipe, directory)
    cache = Path(pooch.os_cache("askone"))
    places = [*_from_environment(), cache]
    # Each file by itself: its content is checked, so files from two places belong together.
    return [_find(file, *places) or _download(recipe, file, cache) for file in recipe.files]


def _in_named(recipe: Recipe, directory: Pathlike) -> list[Path]:
    if not isinstance(directory, str | os.PathLike):
        raise WrongType("directory", "a path or None", directory)
    paths = [_find(file, Path(directory).expanduser()) for file in recipe.files]
    missing = [" or ".join(file.names) for file, path in zip(recipe.files, paths, strict=True) if path is None]
    if missing:
        wanted = ", and ".join(missing)
        raise InvalidArgument("directory", f"a directory that holds {wanted}", repr(os.fspath(directory)))
    return [path for path in paths if path]


def _from_environment() -> list[Path]:
    named = os.environ.get(ENVIRONMENT)
    if not named:
        return []
    place = Path(named).expanduser()
    if not place.is_dir():
        raise InvalidArgument(ENVIRONMENT, "a directory", repr(named))
    return [place]


def _find(file: File, *places: Path) -> Path | None:
    paths = (place / name for place in places for name in file.names)
    return next((path for path in paths if path.is_file()), None)


def _read(path: Path, file: File, recipe: Recipe) -> tuple[Array, Array]:
    return _checked(path.read_bytes(), file, recipe, str(path))


def _checked(data: bytes, file: File, recipe: Recipe, origin: str) -> tuple[Array, Array]:
    try:
        rows, labels = _parsed(data, recipe)
    except _UNREADABLE as error:
        raise InvalidFile(f"{origin} cannot be read as {' or '.join(file.names)}: {error}") from error
    content = content_checksum(rows, labels)
    if content != file.content:
        raise InvalidFile(
            f"{origin} does not hold the numbers of {file.original} from {recipe.home}: expected the content "
            f"checksum {file.content}, got {content} ({len(rows)} rows of {rows.shape[1]} columns)"
        )
    return rows, labels


def _parsed(data: bytes, recipe: Recipe) -> tuple[Array, Array]:
    if data.startswith(b"PAR1"):
        return _table(*_from_parquet(data, recipe.feature_names))
    # By its first bytes, not by its name: some servers unpack a .gz file on its way.
    text = gzip.decompress(data) if data.startswith(_GZIP) else data
    if not text.strip():
        raise ValueError("it is empty")
    return _table(*recipe.parse(text, len(recipe.feature_names)))


def _table(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    # Adding zero turns -0.0 into 0.0, which sparse text cannot tell apart.
    return as_rows(X) + 0.0, as_labels(y, 1)[:, 0] + 0.0


def _from_parquet(data: bytes, feature_names: tuple[str, ...]) -> tuple[Array, Array]:
    if parquet is None:
        raise MissingExtra("Parquet files need pyarrow: pip install 'askone[parquet]'")
    table = parquet.read_table(io.BytesIO(data), columns=[*feature_names, _LABEL])
    return np.column_stack([table[name].to_numpy() for name in feature_names]), table[_LABEL].to_numpy()


def _from_libsvm(text: bytes, columns: int) -> tuple[Array, Array]:
    X, y = load_svmlight_file(io.BytesIO(text), n_features=columns, dtype=np.float64, zero_based=False)
    return X.toarray(), y


def _from_label_first(text: bytes, columns: int) -> tuple[Array, Array]:
    table = np.loadtxt(io.BytesIO(text), dtype=np.float64, ndmin=2)
    if table.shape[1] != columns + 1:
        raise ValueError(f"a line must hold a label and {columns} numbers; got {table.shape[1]} numbers")
    return table[:, 1:], table[:, 0]


def _download(recipe: Recipe, file: File, cache: Path) -> Path:
    def fetch(url: str, target: str, registry: object) -> None:
        # Checked before pooch moves it into the cache: what the cache holds was good when it came.
        pooch.HTTPDownloader()(url, target, registry)
        _checked(Path(target).read_bytes(), file, recipe, url)

    url = recipe.home + file.original
    try:
        return Path(pooch.retrieve(url, file.sha256, fname=file.original, path=cache, downloader=fetch))
    except OSError as error:  # the errors of requests are OSErrors
        raise DownloadFailed(
            f"{url} could not be downloaded ({error}); download {_urls(recipe)} by hand, and put the files into "
            f"{cache}, or into a directory named by {ENVIRONMENT} or by the argument directory"
        ) from error
    except ValueError as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{url} is not the file it was, with the sha256 {file.sha256}: {error}") from error


def _urls(recipe: Recipe) -> str:
    return " and ".join(recipe.home + file.original for file in recipe.files)


def _numbered(columns: int) -> tuple[str, ...]:
    return tuple(f"x{column:03d}" for column in range(columns))


DATASETS: dict[str, Recipe] = {
    "pendigits": Recipe(
        home="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/",
        files=(
            File(
                "pendigits",
                "pendigits-train.parquet",
                content="e2851ec4a4ebcb04a986c76dd6f50b7f5cb0e1660e892d1ccc5e246fcba6b99b",
                sha256="f3823d204ed5a3e9088267b4e141aac32503b8f2eb18c3469ad1212235db5ee6",
            ),
            File(
                "pendigits.t",
                "pendigits-test.parquet",
                content="6ef25ca65c65e3b595c995d927eb4657e68300ffd5f794018f1f64e96e00a393",
                sha256="8a5f65e742447d6b6d77d4e0cf70714f75d2801966ebfe492d7ffaf24acd9d9f",
            ),
        ),
        parse=_from_libsvm,
        feature_names=_numbered(16),
        classes=tuple(range(10)),
        training=7494,
        source="Alpaydin and Alimoglu, Pen-Based Recognition of Handwritten Digits, UCI; LIBSVM's copy",
        licence="CC BY 4.0",
        split="the source's: 7494 rows by 30 writers to train, 3498 by 14 others to test",
    ),
    "usps": Recipe(
        home="https://hastie.su.domains/ElemStatLearn/datasets/",
        files=(
            File(
                "zip.train.gz",
                "usps-train.parquet",
                content="5ec433502c488b0d40cbd6f5d5d29b0272ab6a7bcd46b0cbe9e634aa393f5994",
            ),
            File(
                "zip.test.gz",
                "usps-test.parquet",
                content="1015ee532045e46218f2b66634fea2432c147a1be2cd668e11d41a0421b3447e",
            ),
        ),
        parse=_from_label_first,
        feature_names=_numbered(256),
        classes=tuple(range(10)),
        training=7291,
        source="Le Cun et al. (1990), ZIP code digits of the US Postal Service; The Elements of Statistical Learning",
        licence="no explicit licence",
        split="the source's: 7291 rows to train, 2007 to test",
    ),
}
