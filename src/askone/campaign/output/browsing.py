"""Rows as a manager looks through them: those that have a word, the least sure first, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from askone.campaign.output.views import field
from askone.store.entries import Row
from askone.store.store import Store

MOST_READ: Final = 100_000
"""Rows that are searched at most."""
MOST_WEIGHED: Final = 5_000
"""Rows whose doubts are compared at most: of more, so many that lie evenly among them."""
_PAGE = 2_000


def found_rows(store: Store, name: str, search: str) -> list[int]:
    """Return the places of the rows whose key or cells have this text in them, in any case of letters."""
    wanted, found = search.casefold(), list[int]()
    for page in store.row_pages(name, _PAGE):
        if page[0].position >= MOST_READ:
            break
        found += [row.position for row in page if wanted in _text(row)]
    return found


def _text(row: Row) -> str:
    cells = (field(column, value)["value"] for column, value in row.content.items())
    return "\0".join([row.key, *cells]).casefold()


def thinned(places: Sequence[int]) -> list[int]:
    """Return the places whose doubts are compared.

    >>> len(thinned(range(12_345))), thinned([3, 9])
    (4115, [3, 9])
    """
    return list(places[:: max(1, -(-len(places) // MOST_WEIGHED))])
