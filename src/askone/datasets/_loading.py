"""A data set by name, or its card; its files from a directory, the cache, or their home.  The one door to pooch."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import TextWrapper

import numpy as np
import pooch

from askone._common.validate import as_choice
from askone.datasets._base import Dataset, File, Names, Recipe
from askone.datasets._formats import checked
from askone.datasets._registry import DATASETS
from askone.errors import DownloadFailed, InvalidArgument, InvalidFile, WrongType

Pathlike = str | os.PathLike[str]

ENVIRONMENT = "ASKONE_DATA"


def load(name: str, directory: Pathlike | None = None) -> Dataset:
    """Return a data set by name.

    Looked for in ``directory`` and nowhere else if it is given; otherwise in the directory that the
    environment variable ASKONE_DATA names, then in the user's cache, and then downloaded into it from
    its home, where that can be.  A directory may hold the original files (packed by gzip or not) or
    Parquet files.

    >>> load("mnist")
    Traceback (most recent call last):
    askone.errors.InvalidArgument: name must be one of: 'pendigits', 'usps', ...; got 'mnist'
    """
    recipe = DATASETS[as_choice(name, "name", DATASETS)]
    paths = _located(recipe, directory)
    pairs = zip(paths, recipe.files, strict=True)
    tables = [checked(path.read_bytes(), file, recipe, str(path)) for path, file in pairs]
    X, y = (np.concatenate(parts) for parts in zip(*tables, strict=True))
    if len(X) <= recipe.training:
        origin = " and ".join(map(str, paths))
        raise InvalidFile(f"{origin}: {len(X)} rows, of which {recipe.training} train: none would be left to test")
    X = X if recipe.transform is None else recipe.transform(X)
    y = y if recipe.classes is None else y.astype(np.int64)
    train, test = slice(recipe.training), slice(recipe.training, None)
    about = (recipe.feature_names, recipe.classes, recipe.source, recipe.licence, recipe.split, recipe.target_names)
    return Dataset(name, X[train], y[train], X[test], y[test], *about, card(name))


def card(name: str) -> str:
    """Return what a data set is, in words: source, licence, rows, columns, and what to beware of.

    Reads no data.

    >>> print(card("usps-libsvm").splitlines()[4])
    outputs (1): label; classes 0 to 9
    """
    recipe = DATASETS[as_choice(name, "name", DATASETS)]
    inputs, outputs, classes = recipe.feature_names, recipe.target_names, recipe.classes
    items = {
        "source": recipe.source,
        "licence": recipe.licence,
        f"inputs ({len(inputs)})": _listed(inputs),
        f"outputs ({len(outputs)})": _listed(outputs) + (f"; classes {classes[0]} to {classes[-1]}" if classes else ""),
        "rows": "as many as the release has" if recipe.rows is None else f"{recipe.rows}",
        "split": recipe.split,
        "files": "; ".join(" or ".join(file.names) for file in recipe.files),
        "home": recipe.by_hand or f"{recipe.home} (downloaded when needed)",
    }
    lines = [f"{key}: {text}" for key, text in items.items()] + [f"note: {note}" for note in recipe.notes]
    wrapped = TextWrapper(100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False).fill
    return "\n".join([name, *map(wrapped, lines)])


def _listed(names: Names, most: int = 8) -> str:
    return ", ".join(names) if len(names) <= most else f"{names[0]} to {names[-1]}"


def _located(recipe: Recipe, directory: Pathlike | None) -> list[Path]:
    """Return a path for each file: in the directory, if there is one; else wherever it is, or downloaded."""
    if directory is not None:
        return _in_named(recipe, directory)
    cache = Path(pooch.os_cache("askone"))
    places = [*_from_environment(), cache]
    # Each file by itself: its content is checked, so files from two places belong together.
    return [_find(file, *places) or _fetched(recipe, file, cache) for file in recipe.files]


def _in_named(recipe: Recipe, directory: Pathlike) -> list[Path]:
    if not isinstance(directory, str | os.PathLike):
        raise WrongType("directory", "a path or None", directory)
    paths = [_find(file, Path(directory).expanduser()) for file in recipe.files]
    missing = [" or ".join(file.names) for file, path in zip(recipe.files, paths, strict=True) if path is None]
    if missing:
        wanted = f"{', and '.join(missing)} ({recipe.by_hand or 'from ' + recipe.home})"
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


def _fetched(recipe: Recipe, file: File, cache: Path) -> Path:
    put = f"put what you fetched into {cache}, or into a directory named by {ENVIRONMENT} or by the argument directory"
    if recipe.by_hand:
        names = " nor ".join(file.names)
        raise DownloadFailed(f"neither {names} was found, and askone cannot download it: {recipe.by_hand}; {put}")

    def fetch(url: str, target: str, registry: object) -> None:
        # Checked before pooch moves it into the cache: what the cache holds was good when it came.
        pooch.HTTPDownloader()(url, target, registry)
        checked(Path(target).read_bytes(), file, recipe, url)

    url = recipe.home + file.original
    try:
        return Path(pooch.retrieve(url, file.sha256, fname=file.original, path=cache, downloader=fetch))
    except OSError as error:  # the errors of requests are OSErrors
        urls = " and ".join(recipe.home + one.original for one in recipe.files)
        raise DownloadFailed(f"{url} could not be downloaded ({error}); download {urls} by hand; {put}") from error
    except ValueError as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{url} is not the file it was, with the sha256 {file.sha256}: {error}") from error
