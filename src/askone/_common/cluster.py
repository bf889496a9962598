"""Many machines: the door to Dask, an extra that takes seconds to load and that only a cluster needs."""

from __future__ import annotations

from typing import Any

from askone._common.lazy_import import import_now
from askone.errors import MissingExtra


def distributed() -> Any:
    """Return Dask's library for clusters."""
    try:
        return import_now("distributed")
    except ImportError as error:
        raise MissingExtra("a cluster needs Dask: pip install 'askone[cluster]'") from error
