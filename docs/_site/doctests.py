"""Docstrings as Markdown: tried examples are code, and formulas stay as they are written."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = r"^(?P<indent> *)>>> .*\n?(?:(?P=indent)\S.*\n?)*"
CODE = r"``[^`]+``|`[^`]+`|::\n\n(?:(?: {4}.*)?\n)+"
PARTS = re.compile(f"(?P<example>{EXAMPLE})|(?P<code>{CODE})|(?P<sign><|(?<=\\w)\\*)", re.MULTILINE)


class Doctests(Extension):
    """Puts fences around examples, and takes their meaning from signs: <e, U> is no tag, theta* begins no emphasis."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object when all of it is known."""
        if obj.docstring is not None:
            # Sections called Examples are code by themselves.
            fences = not re.search(r"^Examples\n-+$", obj.docstring.value, re.MULTILINE)
            obj.docstring.value = PARTS.sub(lambda part: written(part, fences), obj.docstring.value)


def written(part: re.Match[str], fences: bool) -> str:
    """Return a part of a docstring as Markdown has it."""
    if part["sign"]:
        return "&lt;" if part["sign"] == "<" else "\\*"
    if part["example"] and fences:
        indent = part["indent"]
        return f"{indent}```pycon\n{part[0].rstrip()}\n{indent}```\n"
    return part[0]
