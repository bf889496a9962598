"""Rows as people see them: plain JSON values, and nothing that a person should not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from askone.labels.wording import number_text
from askone.store.entries import Row

IMAGE = "image"
_MAX_CHARACTERS = 20_000  # of a cell that are sent to a page


def picture_of(campaign: str, row: Row) -> str | None:
    """Return where the picture of a row can be had, if it has one: rows of images go by the name of theirs."""
    return f"/api/v1/campaigns/{campaign}/rows/{row.position}/image" if row.content.get(IMAGE) == row.key else None


def shown_row(row: Row, show: Sequence[str] | None, image: str | None) -> dict[str, Any]:
    """Return the cells that people see, in order; ``image`` is where its picture can be had."""
    names = list(row.content) if show is None else [name for name in show if name in row.content]
    fields = [field(name, row.content[name]) for name in names if not (image and name == IMAGE)]
    return {"key": row.key, "position": row.position, "fields": fields, "image": image}


def field(name: str, value: Any) -> dict[str, Any]:
    """Return a cell: its text, and what kind of thing it is.

    >>> field("size", 37.0), field("page", "https://example.org")["kind"]
    ({'name': 'size', 'value': '37', 'kind': 'number'}, 'url')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"name": name, "value": number_text(value), "kind": "number"}
    text = "" if value is None else value if isinstance(value, str) else _text(value)
    kind = "url" if text.startswith(("http://", "https://")) and " " not in text else "text"
    return {"name": name, "value": text[:_MAX_CHARACTERS], "kind": kind}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(part)}" for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_text(part) for part in value)
    return "" if value is None else str(value)
