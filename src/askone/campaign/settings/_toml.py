"""TOML written, for tables of plain values; the standard library reads it back.

>>> print(to_toml({"title": "Prices", "labels": {"low": 0, "unit": "€", "few": ["a", "b"]}}), end="")
title = "Prices"
<BLANKLINE>
[labels]
low = 0
unit = "€"
few = ["a", "b"]
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from askone.errors import InvalidArgument

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(table: Mapping[str, Any], notes: Mapping[str, tuple[str, Any]] = MappingProxyType({})) -> str:
    """Return a document: texts, numbers, flags, lists of them, and tables within tables; what is None is left out.

    ``notes`` has a word on values by their place, such as "labels.low", and an example of those that are None.
    """
    return "\n".join(_lines(table, (), notes)) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...], notes: Mapping[str, tuple[str, Any]]) -> list[str]:
    lines = [f"[{'.'.join(map(_key, path))}]"] if path else []
    examples, inner = [], {name: value for name, value in table.items() if isinstance(value, Mapping)}
    for name, value in table.items():
        note, example = notes.get(".".join((*path, name)), ("", None))
        if value is None and example is not None:
            examples.append(f"# {_key(name)} = {_value(example)}{f'  # {note}' if note else ''}")
        elif value is not None and name not in inner:
            lines += [*([f"# {note}"] if note else []), f"{_key(name)} = {_value(value)}"]
    lines += examples
    for name, value in inner.items():  # after the plain values: a table's header takes all that follows it
        lines += ([""] if lines else []) + _lines(value, (*path, name), notes)
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    raise InvalidArgument("value", "a text, a finite number, a flag, or a list of them", type(value).__name__)
