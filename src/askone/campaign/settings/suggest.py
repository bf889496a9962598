"""Settings to begin with, read off a table's columns: nothing is guessed that its name or its cells speak against."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from askone.campaign.kinds.registry import KINDS, UNSURE
from askone.campaign.settings.settings import AskSettings, RowSettings, Settings
from askone.campaign.tables.base import Column, Table
from askone.campaign.tables.image_tables import FOLDER, IMAGE, ImageTable

_IDENTIFIERS: Final = ("id", "key", "uuid", "guid", "index", "nr", "no", "no.", "#", "row")
_FILES: Final = ("file", "filename")
_KEYS: Final = (*_IDENTIFIERS, *_FILES, "sku", "isbn", "ean", "name")
_LABELS: Final = frozenset({"gold", "label", "labels", "target", "truth", "known", "answer", "answers"})
_WHOLE: Final = ("y", "class")  # these are names of labels only if nothing stands beside them
GOLD_SHARE: Final = 0.05
"""The share of questions about rows whose label is known, where there are some: with 0 they would measure nobody."""
_EMPTY: Final = 0.25  # share of rows that known labels leave to be asked about, at least
_LONGEST: Final = 80  # characters of a label, or of a code
_CODE: Final = re.compile(r"[!-~]+")
_ID: Final = re.compile(r"[_ -]([iI][dD]|[nN][oOrR]\.?)$|[a-z]I[dD]$")  # order_id, Offer no., customerID
_UNNAMED: Final = re.compile(r"(column|unnamed:?) \d+", re.IGNORECASE)
_ROWS: Final = 20  # that show whether texts come again


def suggest(table: Table, key: str | None = None, gold: str | None = None) -> Settings:
    """Return what to begin with: a title from the file's name, a key, known labels, the columns to show and learn.

    ``key`` and ``gold`` are columns, "" for none, or None: then a column is taken only if both its name and its cells
    say so.  A key's cells are codes that all differ; known labels are short, and a quarter of the rows lack them.
    """
    if isinstance(table, ImageTable):
        return _of_images(table, gold)
    if key is None:
        others = (one for one in table.columns if one.name != gold and looks_like_keys(table, one))
        key = next((one.name for one in others if doubled(_cells(table, one.name)) is None), "")
    if gold is None:
        gold = next((one.name for one in table.columns if one.name != key and _has_labels(table, one)), "")
    columns = RowSettings(
        key or None, shown_columns(table, key, gold), learnt_columns(table, key, gold), gold or None
    )  # fmt: skip
    return _settings(table, gold, columns)


def _of_images(table: ImageTable, gold: str | None) -> Settings:
    """Return settings for images: the folders that they lie in name classes, and labels if some lie in none."""
    folders = table.column(FOLDER)
    if gold is None:
        gold = FOLDER if folders is not None and any(row[FOLDER] is None for row in table.sample) else ""
    columns = RowSettings(IMAGE, (IMAGE,), learnt_columns(table, IMAGE, gold), gold or None)
    return _settings(table, gold or FOLDER, columns)


def _settings(table: Table, labels: str, columns: RowSettings) -> Settings:
    """Return settings of the kind that a column's labels speak for."""
    column = table.column(labels)
    offers = [] if column is None else [kind.suggested(table, column) for kind in KINDS.values()]
    ask = AskSettings(gold_share=0.0 if columns.gold is None else GOLD_SHARE)
    return Settings(table.title, next(filter(None, offers), UNSURE()), columns, ask=ask)


def shown_columns(table: Table, key: str | None, gold: str | None) -> tuple[str, ...]:
    """Return the columns that people see unless others are chosen: all but the gold, and but a key such as "id".

    Such a key says nothing of its row but where it stands, by which people could tell rows whose label is known.
    The folder of an image says what it is.
    """
    if isinstance(table, ImageTable):
        return (IMAGE,)
    names = [one.name for one in table.columns if one.name != gold and one.kind != "vector" and not _is_empty(one)]
    telling = [name for name in names if not (name == key and _is_identifier(name))]
    return tuple(telling or names)


def learnt_columns(table: Table, key: str | None, gold: str | None) -> tuple[str, ...]:
    """Return the columns that the model sees unless others are chosen: nothing that only tells rows apart."""
    vectors = tuple(one.name for one in table.columns if one.kind == "vector")
    if isinstance(table, ImageTable):
        return vectors or (IMAGE,)  # who brings vectors of pictures knows better ones
    open_to_all = [one for one in table.columns if one.name not in (key, gold) and one.kind != "url"]
    return tuple(one.name for one in open_to_all if not _is_empty(one) and not tells_rows_apart(table, one))


def _is_empty(column: Column) -> bool:
    return column.kind == "text" and not column.examples


def tells_rows_apart(table: Table, column: Column) -> bool:
    """Return whether a column only tells rows apart: numbers of rows, or codes that nearly all differ.

    Whole numbers are codes only if the column is called so: they may be amounts.
    """
    cells = _cells(table, column.name)
    if not cells or not all(map(_is_code, cells)):
        return False
    differing = len({str(cell) for cell in cells}) / len(cells)
    if _is_identifier(column.name):
        return differing > 0.5
    if column.kind in ("amount", "date"):
        return False  # they differ, but what is near in time may be alike
    if column.kind == "number":
        return _UNNAMED.fullmatch(column.name) is not None and _counts(cells)
    return len(cells) >= _ROWS and differing >= 0.95


def _counts(cells: Sequence[int]) -> bool:
    """Return whether cells count rows, from 0 or 1 on; of many rows every so-many-th is looked at."""
    steps = {after - before for before, after in pairwise(cells)}
    return len(steps) == 1 and min(steps) > 0 and cells[0] in (0, 1)


def _is_identifier(name: str) -> bool:
    return name.lower() in _IDENTIFIERS or _ID.search(name) is not None


def looks_like_keys(table: Table, column: Column) -> bool:
    """Return whether a column is called as keys are, and holds one in each row; some may come twice."""
    name, cells = column.name.lower(), _cells(table, column.name)
    named = (name in _KEYS or _is_identifier(column.name)) and column.kind != "vector"
    if not named or len(cells) < len(table.sample):
        return False
    return name in _FILES or all(map(_is_code, cells))


def doubled(cells: Sequence[Any]) -> tuple[str, int, int] | None:
    """Return the first cell that comes twice, and its two places, from 1 on.

    >>> doubled(["a", "b", "a"])
    ('a', 1, 3)
    """
    seen: dict[str, int] = {}
    for place, cell in enumerate(map(str, cells), start=1):
        if cell in seen:
            return cell, seen[cell], place
        seen[cell] = place
    return None


def _has_labels(table: Table, column: Column) -> bool:
    """Return whether a column is called as known labels are, and holds labels of some rows."""
    if not is_called_label(column.name) or column.kind in ("url", "vector"):
        return False
    cells = [cell for cell in _cells(table, column.name) if str(cell).strip()]
    short = all(len(str(cell)) <= _LONGEST for cell in cells)
    return bool(cells) and short and len(cells) <= (1 - _EMPTY) * len(table.sample)


def is_called_label(name: str) -> bool:
    """Return whether a column is called as known labels are.

    >>> [is_called_label(name) for name in ("Price (known)", "true_label", "y", "y position", "unknown")]
    [True, True, True, False, False]
    """
    return name.lower() in _WHOLE or not _LABELS.isdisjoint(re.split(r"[\W_]+", name.lower()))


def _cells(table: Table, name: str) -> list[Any]:
    return [row[name] for row in table.sample if row[name] is not None]


def _is_code(cell: Any) -> bool:
    if isinstance(cell, str):
        return len(cell) <= _LONGEST and _CODE.fullmatch(cell) is not None
    return isinstance(cell, int) or (isinstance(cell, float) and cell.is_integer())
