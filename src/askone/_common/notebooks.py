"""Libraries of notebooks: the doors to matplotlib with its windows, and to pandas; extras that take long to load."""

from __future__ import annotations

from typing import Any

from askone._common.lazy_import import import_now
from askone.errors import MissingExtra


def pyplot() -> Any:
    """Return matplotlib's figures that a notebook shows by itself."""
    return _extra("matplotlib.pyplot", "plots need matplotlib")


def pandas() -> Any:
    """Return the library of data frames."""
    return _extra("pandas", "data frames need pandas")


def _extra(module: str, wanted: str) -> Any:
    try:
        return import_now(module)
    except ImportError as error:
        raise MissingExtra(f"{wanted}: pip install 'askone[notebook]'") from error
