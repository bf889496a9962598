"""A data set by name, or its card."""

from __future__ import annotations

from textwrap import TextWrapper

import numpy as np

from askone._common.validate import as_choice
from askone.datasets._base import Dataset, Names
from askone.datasets._formats import checked
from askone.datasets._locate import Pathlike, located
from askone.datasets._registry import DATASETS
from askone.errors import InvalidFile


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
    paths = located(recipe, directory)
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
