"""Locate the files of a data set: in a directory, in the user's cache, or at their home.

The one door to pooch.
"""

from __future__ import annotations

import os
from pathlib import Path

import pooch

from askone.datasets._base import File, Recipe
from askone.datasets._formats import checked
from askone.errors import DownloadFailed, InvalidArgument, InvalidFile, WrongType

Pathlike = str | os.PathLike[str]

ENVIRONMENT = "ASKONE_DATA"


def located(recipe: Recipe, directory: Pathlike | None) -> list[Path]:
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
