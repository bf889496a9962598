"""Settings to begin with, read off a table's columns."""

from __future__ import annotations

from typing import Final

from askone.campaign.settings.settings import ClassNames, Labels, Numbers, RowSettings, Settings
from askone.campaign.tables.base import Column, Table
from askone.campaign.tables.image_folder import IMAGE, Images

_KEYS: Final = ("id", "key", "uuid", "guid", "index", "sku", "isbn", "ean", "name", "file", "filename")
_GOLD: Final = ("gold", "label", "target", "truth", "y", "answer", "class")
_MOST: Final = 30


def suggest(table: Table) -> Settings:
    """Return what to begin with: a title from the file's name, a key and known labels where a column's name says so.

    The key is a column like "id" whose sampled cells all differ.  A column like "label" is taken for known labels:
    it is neither shown nor learnt, and its values are the classes if there are few.  Web addresses are shown, but not
    learnt.
    """
    if isinstance(table, Images):
        return Settings(table.title, Numbers(), RowSettings(key=IMAGE, show=(IMAGE,), learn=(IMAGE,)))
    key = next((one.name for one in table.columns if _is_key(one.name) and _differs(table, one.name)), None)
    gold = next((one for one in table.columns if one.name.lower() in _GOLD and one.name != key), None)
    known = None if gold is None else gold.name
    show = tuple(one.name for one in table.columns if one.name != known)
    learn = tuple(one.name for one in table.columns if one.name not in (key, known) and one.kind != "url")
    labels = Numbers() if gold is None else _labels(table, gold)
    return Settings(table.title, labels, RowSettings(key, show, learn, known))


def _is_key(name: str) -> bool:
    plain = name.lower()
    return plain in _KEYS or plain.endswith(("_id", " id", "-id"))


def _differs(table: Table, name: str) -> bool:
    values = [row[name] for row in table.sample]
    return None not in values and len({str(value) for value in values}) == len(values)


def _labels(table: Table, gold: Column) -> Labels:
    """Return classes that the known labels name; of numbers only that they are numbers, for a range is declared."""
    levels = sorted({row[gold.name].strip() for row in table.sample if isinstance(row[gold.name], str)} - {""})
    if gold.kind == "number" or not 2 <= len(levels) <= _MOST or max(map(len, levels)) > 100:
        return Numbers()
    return ClassNames(tuple(levels))
