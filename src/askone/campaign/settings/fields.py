"""Checks of single settings: lines of text, lists of names; errors name the place in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from askone._common.validate import as_number, as_text
from askone.errors import InvalidArgument
from askone.labels.base import Name

Attributes = tuple[tuple[str, tuple[Name, ...]], ...]

_LONG: Final = 20_000  # characters of instructions
_LINE: Final = 1_000  # of anything else that people read
_MANY: Final = 2_000  # classes, items, columns


def put(settings: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass, in its ``__post_init__``."""
    object.__setattr__(settings, name, value)


def as_prose(value: object, place: str, most: int = _LONG) -> str:
    """Return a text that people read: bounded, without control characters other than line breaks and tabs."""
    text = as_text(value, place)
    if len(text) > most:
        raise InvalidArgument(place, f"a text of at most {most} characters", f"{len(text)}")
    odd = next((c for c in text if (c < " " and c not in "\n\t") or c == "\x7f" or "\ud800" <= c <= "\udfff"), None)
    if odd is not None:  # nothing that people read has these, and databases refuse some of them
        raise InvalidArgument(place, "a text without control characters", f"{odd!r}")
    return text


def as_line(value: object, place: str, empty: bool = False, most: int = _LINE) -> str:
    """Return one line of such a text."""
    text = as_prose(value, place, most)
    if "\n" in text or "\t" in text or not (empty or text.strip()):
        raise InvalidArgument(place, "one line of text" + ("" if empty else ", not blank"), repr(text))
    return text


def as_listed(value: object, place: str, what: str) -> list[Any]:
    """Return a list of bounded length."""
    if not isinstance(value, tuple | list):
        raise InvalidArgument(place, what, repr(value))
    if len(value) > _MANY:
        raise InvalidArgument(place, f"at most {_MANY}", len(value))
    return list(value)


def as_columns(value: object, place: str) -> tuple[str, ...] | None:
    """Return different names of columns, or None."""
    if value is None:
        return None
    names = [as_line(name, place) for name in as_listed(value, place, "a list of columns")]
    if len(set(names)) < len(names):
        raise InvalidArgument(place, "different columns", names)
    return tuple(names)


def as_class_names(value: object, place: str) -> tuple[Name, ...]:
    """Return names of classes or items; their space checks that they differ."""
    names = as_listed(value, place, "a list of names")
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int | float):
            raise InvalidArgument(place, "texts or numbers", repr(name))
        if isinstance(name, str):
            as_line(name, place)
        else:
            as_number(name, place, -1e15, 1e15)
    return tuple(names)


def as_attributes(value: object) -> Attributes:
    """Return titles, each with the classes that have it; a table or a list of pairs."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    place, what = "labels.attributes", "a table of lists of classes"
    titled = as_listed(pairs, place, what)
    if not titled or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in titled):
        raise InvalidArgument(place, f"{what}, not empty", repr(value))
    return tuple((as_line(title, place), as_class_names(members, f"{place}[{title!r}]")) for title, members in titled)
