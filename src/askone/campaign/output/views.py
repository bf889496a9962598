"""Rows as people see them: plain JSON values, and nothing that a person should not see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from askone.labels.wording import number_text
from askone.store.entries import Row, Seat
from askone.store.store import Store

IMAGE = "image"
_MAX_CHARACTERS = 20_000  # of a cell that are sent to a page
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9.]+)?)?")


def has_picture(row: Row) -> bool:
    """Return whether a row has a picture: rows of images go by the name of theirs."""
    return bool(row.content.get(IMAGE) == row.key)


def shown_fields(row: Row, show: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the cells that people see, in order; not the name of a picture, which they see instead."""
    names = list(row.content) if show is None else [name for name in show if name in row.content]
    return [field(name, row.content[name]) for name in names if not (name == IMAGE and has_picture(row))]


def managed(campaign: str, row: Row, show: Sequence[str] | None) -> dict[str, Any]:
    """Return a row as managers see it: its name and place, what people see of it, and where its picture is."""
    image = f"/api/v1/campaigns/{campaign}/rows/{row.position}/image" if has_picture(row) else None
    return {"key": row.key, "position": row.position, "row": shown_fields(row, show), "image": image}


def held_position(seats: Sequence[Seat], lease: str) -> int | None:
    """Return the row that somebody holds under a lease, or will hold next, of these seats of theirs."""
    for seat in seats:
        if seat.lease == lease:
            return seat.position
        if seat.ahead is not None and seat.ahead["lease"] == lease:
            return int(seat.ahead["yes"]["plan"][1])  # either answer leads to the same row
    return None


def picture_of(store: Store, campaign: str, position: int) -> tuple[str, bytes] | None:
    """Return the type and the bytes of a row's picture, if it has one."""
    if position >= store.campaign(campaign).rows:
        return None
    key = store.rows(campaign, [position])[0].content.get(IMAGE)
    return None if key is None else store.media(campaign, str(key))


def field(name: str, value: Any) -> dict[str, Any]:
    """Return a cell: its text, and what kind of thing it is.

    >>> field("size", 37.0), field("page", "https://example.org")["kind"], field("sold", "2026-03-01")["kind"]
    ({'name': 'size', 'value': '37', 'kind': 'number'}, 'url', 'date')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"name": name, "value": number_text(value), "kind": "number"}
    text = "" if value is None else value if isinstance(value, str) else _text(value)
    kind = "url" if text.startswith(("http://", "https://")) and " " not in text else "text"
    return {"name": name, "value": text[:_MAX_CHARACTERS], "kind": "date" if _DATE.fullmatch(text) else kind}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(part)}" for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_text(part) for part in value)
    return "" if value is None else str(value)
