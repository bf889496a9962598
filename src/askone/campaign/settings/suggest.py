"""Settings to begin with, read off a table's columns."""

from __future__ import annotations

from typing import Final

from askone.campaign.kinds.registry import KINDS, UNSURE
from askone.campaign.settings.settings import RowSettings, Settings
from askone.campaign.tables.base import Table
from askone.campaign.tables.image_tables import IMAGE, ImageTable

_IDENTIFIERS: Final = ("id", "key", "uuid", "guid", "index")
_KEYS: Final = (*_IDENTIFIERS, "sku", "isbn", "ean", "name", "file", "filename")
_GOLD: Final = ("gold", "label", "target", "truth", "y", "answer", "class")


def suggest(table: Table) -> Settings:
    """Return what to begin with: a title from the file's name, a key and known labels where a column's name says so.

    The key's sampled cells all differ; known labels are neither shown nor learnt, web addresses are shown alone, and a
    key that only tells rows apart is not shown.
    """
    if isinstance(table, ImageTable):
        return Settings(table.title, UNSURE(), RowSettings(key=IMAGE, show=(IMAGE,), learn=(IMAGE,)))
    key = next((one.name for one in table.columns if _is_key(one.name) and _differs(table, one.name)), None)
    gold = next((one for one in table.columns if one.name.lower() in _GOLD and one.name != key), None)
    known = None if gold is None else gold.name
    show = shown_columns(table, key, known)
    learn = tuple(one.name for one in table.columns if one.name not in (key, known) and one.kind != "url")
    offers = [] if gold is None else [kind.suggested(table, gold) for kind in KINDS.values()]
    return Settings(table.title, next(filter(None, offers), UNSURE()), RowSettings(key, show, learn, known))


def shown_columns(table: Table, key: str | None, gold: str | None) -> tuple[str, ...]:
    """Return the columns that people see unless others are chosen: all but the gold, and but a key such as "id".

    Such a key says nothing of its row but where it stands, by which people could tell rows whose label is known.
    """
    names = [one.name for one in table.columns if one.name != gold]
    telling = [name for name in names if not (name == key and _is_identifier(name))]
    return tuple(telling or names)


def _is_identifier(name: str) -> bool:
    return name.lower() in _IDENTIFIERS or name.lower().endswith(("_id", " id", "-id"))


def _is_key(name: str) -> bool:
    return name.lower() in _KEYS or _is_identifier(name)


def _differs(table: Table, name: str) -> bool:
    values = [row[name] for row in table.sample]
    return None not in values and len({str(value) for value in values}) == len(values)
