"""Guidelines for people who answer: Markdown as a tree of plain parts, of which a page makes elements.

HTML is text like any other, links lead to the web alone, and a picture is one of the campaign's rows or is written
into the text itself: nothing else can come out, whatever was written.

>>> parts("A **circle** is <b>round</b>.")
[{'tag': 'p', 'children': ['A ', {'tag': 'strong', 'children': ['circle']}, ' is <b>round</b>.']}]
>>> parts("[more](javascript:alert(1)) ![round](c.png)", {"c.png": "/pictures/7"})[0]["children"]
['[more](javascript:alert(1)) ', {'tag': 'img', 'src': '/pictures/7', 'alt': 'round'}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

Part = str | dict[str, Any]

_TAGS = {"h1": "h3", "h2": "h4", "h5": "h4", "h6": "h4", "h3": "h4"} | {
    tag: tag
    for tag in ("p", "h4", "ul", "ol", "li", "strong", "em", "blockquote", "table", "thead", "tbody", "tr", "th", "td")
}
"""What is written, and what it becomes: the page has headings of its own above these."""
_DRAWN = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")
_DEEPEST = 50  # tags in each other
_PICTURES = 100
_WEB = re.compile(r"https?://", re.IGNORECASE)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")


@lru_cache(maxsize=64)
def picture_names(text: str) -> tuple[str, ...]:
    """Return the names of the rows whose pictures a text shows, the first hundred at most.

    >>> picture_names("![round](c.png) and ![drawn](data:image/png;base64,AA==)")
    ('c.png',)
    """
    tokens = [child for token in _markdown().parse(text) for child in token.children or ()]
    found = [_source(token) for token in tokens if token.type == "image"]
    rows = [name for name in dict.fromkeys(found) if not _DRAWN.fullmatch(name) and not _WEB.match(name)]
    return tuple(rows[:_PICTURES])


def parts(text: str, pictures: Mapping[str, str] | None = None) -> list[Part]:
    """Return the parts of a Markdown text: texts, and tags with their children; ``pictures``: name to address."""
    return _tree(iter(_flat(_markdown().parse(text))), pictures or {}, 0)


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens with those inside lines in their place."""
    for token in tokens:
        if token.type == "inline":
            yield from token.children or ()
        else:
            yield token


def _tree(tokens: Iterator[Token], pictures: Mapping[str, str], depth: int) -> list[Part]:
    """Return the parts up to the end of the tag that is open; so deep down tags are left out, and texts stay."""
    found: list[Part] = []
    left_out = 0
    for token in tokens:
        if token.nesting > 0 and depth < _DEEPEST:
            children = _tree(tokens, pictures, depth + 1)
            found += children if token.hidden else [_tagged(token, children)]
        elif token.nesting == 0:
            found += _leaf(token, pictures)
        elif token.nesting < 0 and not left_out:
            break
        else:
            left_out += token.nesting
    return _joined(found)


def _tagged(token: Token, children: list[Part]) -> Part:
    if token.type == "link_open":
        address = str(token.attrGet("href"))
        return {"tag": "a", "href": address, "children": children} if _WEB.match(address) else _span(children)
    tag = _TAGS.get(token.tag)
    return _span(children) if tag is None else {"tag": tag, "children": children}


def _span(children: list[Part]) -> Part:
    return {"tag": "span", "children": children}


def _leaf(token: Token, pictures: Mapping[str, str]) -> list[Part]:
    if token.type == "image":
        return [_picture(_source(token), token.content, pictures)]
    if token.type in ("code_inline", "fence", "code_block"):
        return [{"tag": "code" if token.type == "code_inline" else "pre", "children": [token.content]}]
    if token.type in ("hardbreak", "softbreak", "hr"):
        return [{"tag": "hr" if token.type == "hr" else "br"}]
    return [token.content] if token.content else []


def _picture(source: str, alt: str, pictures: Mapping[str, str]) -> Part:
    address = source if _DRAWN.fullmatch(source) else pictures.get(source)
    if address is not None:
        return {"tag": "img", "src": address, "alt": alt}
    return {"tag": "a", "href": source, "children": [alt or source]} if _WEB.match(source) else alt or source


def _source(token: Token) -> str:
    return unquote(str(token.attrGet("src")))


def _joined(found: list[Part]) -> list[Part]:
    """Return the parts with texts that follow each other in one."""
    out: list[Part] = []
    for part in found:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        else:
            out.append(part)
    return out
