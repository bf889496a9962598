"""The elements of a JSON list in a file, one at a time: memory is for one of them, however long the list is."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO, Final

from askone.errors import InvalidFile

_PIECE: Final = 1 << 16
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(r"[-+.0-9eE]*\Z")  # with this behind it a value may go on in what was not read yet


def list_elements(file: BinaryIO, refusal: Callable[[str], InvalidFile], most: int) -> Iterator[tuple[int, str]]:
    """Yield the text of each element, of so many characters at most, and the line on which it begins.

    The file is read in pieces that grow until an element is whole.  ``refusal`` makes an error of what is wrong.

    >>> import io
    >>> list(list_elements(io.BytesIO(b'[{"a": 1},\\n [2], "3"] '), InvalidFile, 100))
    [(1, '{"a": 1}'), (2, '[2]'), (2, '"3"')]
    >>> list(list_elements(io.BytesIO(b'[1, 2'), InvalidFile, 100))
    Traceback (most recent call last):
    askone.errors.InvalidFile: line 1: the list is not closed: the file was cut off
    """
    pieces, line = _pieces(file, refusal), 1
    text, at = next(pieces, ""), 0

    def following(sign: str) -> str:
        """Pass over blanks, and this sign if it is next; return what comes then, or nothing at the end."""
        nonlocal text, at, line
        while True:
            blanks = _BLANKS.match(text, at)
            end = at if blanks is None else blanks.end()
            line += text.count("\n", at, end)
            at = end
            if sign and text.startswith(sign, at):
                at, sign = at + 1, ""
            elif at < len(text):
                return text[at]
            else:
                text, at = next(pieces, ""), 0
                if not text:
                    return ""

    if following("") != "[":
        raise refusal(f"line {line}: a list is needed")
    sign, is_first = following("["), True
    while sign and sign != "]":
        if not is_first:
            if sign != ",":
                raise refusal(f"line {line}: a comma or the end of the list is needed; got {sign}")
            following(",")
        is_first, end = False, _end_of_value(text, at)
        while end is None:
            if len(text) - at > most:
                raise refusal(f"line {line}: at most {most} characters are allowed")
            text, at = text[at:], 0
            longer = text + "".join(islice(pieces, 1 + len(text) // _PIECE))
            end, text = len(text) if len(longer) == len(text) else _end_of_value(longer, 0), longer
        yield line, text[at:end]
        line, at = line + text.count("\n", at, end), end
        sign = following("")
    if not sign:
        raise refusal(f"line {line}: the list is not closed: the file was cut off")
    at += 1
    if sign := following(""):
        raise refusal(f"line {line}: nothing may come after the list; got {sign}")


def _pieces(file: BinaryIO, refusal: Callable[[str], InvalidFile]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        while data := file.read(_PIECE):
            if text := decoder.decode(data):
                yield text
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise refusal("UTF-8 is needed") from error


def _end_of_value(text: str, at: int) -> int | None:
    """Return where the value that begins here ends, or None if there is, or may be, more of it to be read."""
    try:
        end = json.JSONDecoder().raw_decode(text, at)[1]
    except ValueError:
        return None
    except RecursionError:
        return len(text)  # which is refused for it when it is read
    return None if _NUMBER.match(text, end) else end
