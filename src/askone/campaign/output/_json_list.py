"""The items of a JSON list in a file, one at a time: memory is for one item, however long the list is."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, final

from askone.errors import InvalidFile

_PIECE: Final = 1 << 20  # bytes that are read at once
_MOST: Final = 4 << 20  # characters of an item
_ENDS: Final = tuple(",] \t\r\n")
_DECODER: Final = json.JSONDecoder()


@final
class JsonList:
    """See the module.

    >>> import io
    >>> list(JsonList(io.BytesIO(b'[{"a": 1}, [2], "3"] '), "a list"))
    [{'a': 1}, [2], '3']
    >>> list(JsonList(io.BytesIO(b'[1, 2'), "a list"))
    Traceback (most recent call last):
    askone.errors.InvalidFile: a list must be JSON: it ends within the list
    """

    def __init__(self, file: BinaryIO, what: str) -> None:
        self._file, self._what = file, what
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._place, self._ended = "", 0, False

    def __iter__(self) -> Iterator[Any]:
        if self._next_sign() != "[":
            raise InvalidFile(f"{self._what} must be a JSON list")
        self._place += 1
        before = "["
        while (sign := self._next_sign()) != "]":
            if before != "[":
                if sign != ",":
                    raise self._refusal("a comma is missing" if sign else "it ends within the list")
                self._place += 1
            before = ","
            yield self._item()
        self._place += 1
        if self._next_sign():
            raise self._refusal("something follows the list")

    def _refusal(self, reason: str) -> InvalidFile:
        return InvalidFile(f"{self._what} must be JSON: {reason}")

    def _next_sign(self) -> str:
        """Return the next character that is no blank; none at the end."""
        while True:
            while self._place < len(self._text):
                if self._text[self._place] not in " \t\r\n":
                    return self._text[self._place]
                self._place += 1
            if not self._read_more():
                return ""

    def _item(self) -> Any:
        while True:
            reason = "it ends within the list"
            try:
                # Blanks before it are passed over here alone.
                self._next_sign()
                value, end = _DECODER.raw_decode(self._text, self._place)
                if self._text[end : end + 1] in _ENDS:  # otherwise it may go on in what was not read yet
                    self._place = end
                    return value
            except RecursionError as error:
                raise self._refusal("nested too deeply") from error
            except ValueError as error:
                reason = str(error)
            if len(self._text) - self._place > _MOST:
                raise self._refusal(f"an item may have at most {_MOST} characters ({reason})")
            if not self._read_more():
                raise self._refusal(reason)

    def _read_more(self) -> bool:
        """Append a piece; return whether there was one."""
        if self._ended:
            return False
        data = self._file.read(_PIECE)
        self._ended = not data
        try:
            self._text = self._text[self._place :] + self._decode(data, not data)
        except UnicodeDecodeError as error:
            raise self._refusal("UTF-8 is needed") from error
        self._place = 0
        return True
