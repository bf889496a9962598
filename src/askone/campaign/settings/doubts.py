"""Doubts about settings: what to look at before people are asked, such as a column that tells the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, final

from askone.campaign.kinds.base import listed
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.settings.settings import Settings
from askone.campaign.settings.suggest import doubled, is_called_label, looks_like_keys, tells_rows_apart
from askone.campaign.tables.base import Column, Table
from askone.campaign.tables.image_tables import SUFFIXES, ImageTable, folder_of
from askone.encoding.amounts import mixed, reading_of
from askone.encoding.encoder import fit_encoder
from askone.encoding.unread import told
from askone.labels.wording import number_text

_LOOKED_AT: Final = 1_000  # rows with a label, of so many
_KNOWN: Final = 20  # rows with a label that show whether a column tells it
_MOSTLY: Final = 0.9  # share of cells that differ in a column that was meant for a key
_OFTEN: Final = 5  # rows of a label, or different numbers, without which they show nothing


@final
@dataclass(frozen=True)
class Doubt:
    """A sentence; the column that it is about, and the option of ``askone new`` that acts on it, if there is one."""

    text: str
    column: str = ""
    option: str = ""


def doubts(settings: Settings, table: Table | None) -> list[Doubt]:
    """Return what to look at: labels that measure nobody, columns that may tell the label, ids that are learnt."""
    rows, found = settings.rows, list[Doubt]()
    if rows.gold is not None and not settings.ask.gold_share:
        found.append(Doubt(f"Nobody is measured by the known labels in {rows.gold!r}: ask.gold_share is 0."))
    if table is None:
        return found
    seen = dict.fromkeys([*(rows.show or ()), *(rows.learn or ())])
    known = filter(None, map(table.column, seen))
    columns = [column for column in known if column.kind not in ("image", "vector")]
    found += filter(None, (_doubt(settings, table, column) for column in columns))
    learnt = [column for column in columns if column.name in (rows.learn or ()) and column.kind in ("amount", "date")]
    encoder = fit_encoder(learnt, table.sample)
    lost = encoder.unread({column.name: [row[column.name] for row in table.sample] for column in learnt})
    if lost:
        some = "" if len(table.sample) == table.rows else f"Of {len(table.sample):,} rows that were looked at, "
        found.append(Doubt(f"{some}{told(lost)}."))
    if isinstance(table, ImageTable):
        found += _doubts_of_images(settings, table)
    if rows.key is None:
        found += filter(None, (_double(table, column) for column in table.columns))
    return found


def _doubt(settings: Settings, table: Table, column: Column) -> Doubt | None:
    rows, name = settings.rows, column.name
    cells = [row[name] for row in table.sample]
    audience = (("people", rows.show), ("the model", rows.learn))
    whom = " and ".join(who for who, names in audience if name in (names or ()))
    see = "sees" if whom == "the model" else "see"
    known = [] if rows.gold is None else [row for row in table.sample if row[rows.gold] is not None][:_LOOKED_AT]
    if tells([row[name] for row in known], [row[rows.gold or ""] for row in known]):
        return Doubt(f"The labels in {rows.gold!r} follow exactly from {name!r}, which {whom} {see}.", name, "hide")
    if isinstance(settings.labels, ClassNames) and _names_classes(cells, settings.labels):
        return Doubt(f"The column {name!r}, which {whom} {see}, holds the classes: it may be the answer.", name, "hide")
    if name.casefold() in _words(settings) or (rows.gold is None and is_called_label(name)):
        some = any(cell is None for cell in cells)
        text = f"The column {name!r} is called as labels are, and {whom} {see} it: it may be the answer."
        return Doubt(text, name, "gold" if some else "hide")
    if column.kind == "amount" and (told := _how_read(column, cells)):
        return Doubt(told)
    if name in (rows.learn or ()) and tells_rows_apart(table, column):
        return Doubt(f"The column {name!r} only tells rows apart, and the model learns from it.", name, "hide")
    return None


def _how_read(column: Column, cells: Sequence[Any]) -> str:
    """Return what may be read wrongly of a column of amounts."""
    reading = reading_of(cells)
    pair = None if reading is None else mixed(cells, reading)
    if reading is None or pair is None:
        return ""
    one, two = (f"{cell!r} as {number_text(reading.number(cell))}" for cell in pair)
    return f"{column.name!r} mixes points and commas: {one} and {two} are read; write them alike if that is wrong."


def _doubts_of_images(settings: Settings, table: ImageTable) -> list[Doubt]:
    """Return that pictures were passed over, and that folders name other classes than there are."""
    found = list[Doubt]()
    if table.passed:
        names = listed([repr(name) for name in table.passed])
        found.append(Doubt(f"Passed over, since only {listed(SUFFIXES)} are read: {names}."))
    if isinstance(settings.labels, ClassNames):
        classes = {str(name).casefold() for name in settings.labels.classes}
        folders = dict.fromkeys(filter(None, map(folder_of, table.names)))
        others = [repr(name) for name in folders if name.casefold() not in classes]
        if others and len(others) < len(folders):  # where none is a class, folders name something else
            found.append(Doubt(f"Folders that are called as no class is: {listed(others)}. Their rows are asked, too."))
    return found


def _double(table: Table, column: Column) -> Doubt | None:
    """Return that a column would be a key, but for a few that come twice."""
    cells = [row[column.name] for row in table.sample] if looks_like_keys(table, column) else []
    twice = doubled(cells)
    if twice is None or len({*map(str, cells)}) < _MOSTLY * len(cells):
        return None
    where = f"in rows {twice[1]} and {twice[2]}" if len(cells) == table.rows else "twice"
    return Doubt(f"The column {column.name!r} is no key: {twice[0]!r} comes {where}. Rows are numbered.")


def _words(settings: Settings) -> set[str]:
    """Return what labels are called: what they are, or the names of classes."""
    classes = settings.labels.classes if isinstance(settings.labels, ClassNames) else ()
    return {settings.labels.noun.casefold(), *(str(one).casefold() for one in classes)}


def _names_classes(cells: Sequence[Any], labels: ClassNames) -> bool:
    """Return whether a column's cells are names of classes, two of them or more."""
    names = {str(name).strip().casefold() for name in labels.classes}
    found = {str(cell).strip().casefold() for cell in cells if cell is not None}
    return len(found) > 1 and found <= names


def tells(cells: Sequence[Any], labels: Sequence[Any]) -> bool:
    """Return whether labels follow exactly from cells: the same cell has the same label, or one rises with the other.

    Some known rows are needed, and cells that come again or numbers in order: chance does not give these.

    >>> tells([10 * n for n in range(20)], list(range(20))), tells(list("ab") * 10, list("xy") * 10)
    (True, True)
    >>> tells(list("abcd") * 5, list("xy") * 9 + ["y", "y"]), tells(list("ab") * 4, list("xy") * 4)
    (False, False)
    """
    pairs = [(one, label) for one, label in zip(cells, labels, strict=True) if one is not None]
    often = Counter(label for _, label in pairs).most_common()
    if len(pairs) < _KNOWN or len(often) < 2 or max(often[1][1], len(often)) < _OFTEN:
        return False
    groups: dict[Any, Any] = {}
    if any(groups.setdefault(one, label) != label for one, label in pairs):
        return False
    numbers = not any(isinstance(label, str) for _, label in pairs)
    if len(groups) <= len(pairs) / 2:
        return True
    if any(isinstance(one, str) for one in groups):
        return False
    ordered = [label for _, label in sorted(groups.items())]
    changes = [(one, two) for one, two in pairwise(ordered) if one != two]
    if numbers:
        return len(changes) >= _OFTEN and (all(a < b for a, b in changes) or all(a > b for a, b in changes))
    return len(changes) == len(set(ordered)) - 1
