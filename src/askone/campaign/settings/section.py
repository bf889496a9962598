"""Sections of the settings: models whose refusals name the place in the file, what is allowed and what came.

>>> @section("pets")
... class Pets:
...     count: int = setting(1, "how many there are", ge=0, le=9)
>>> Pets(count=12)
Traceback (most recent call last):
askone.errors.InvalidArgument: pets.count must be a whole number from 0 to 9; got 12
>>> Pets(cuont=2)
Traceback (most recent call last):
askone.errors.InvalidArgument: pets.cuont must be a known name (did you mean 'count'?); got 'cuont'
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, dataclass_transform

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from askone._common.validate import as_number, as_text
from askone.errors import InvalidArgument
from askone.labels.base import Name

_LONGEST_PROSE: Final = 20_000  # characters of instructions
_LONGEST_LINE: Final = 1_000  # of anything else that people read
_MOST_PEOPLE: Final = 100  # who answer one question
_MOST_NAMES: Final = 2_000  # classes, items, columns
_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
_BOUNDS: Final = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "and below {}"}
_SECTION = TypeVar("_SECTION", bound=type[Any])


@dataclass_transform(frozen_default=True)
def section(place: str = "") -> Callable[[_SECTION], _SECTION]:
    """Make a frozen pydantic dataclass of a class, which is the table ``place`` of the file."""

    def decorate(cls: _SECTION) -> _SECTION:
        made: Any = dataclass(frozen=True, config=_CONFIG)(cls)
        check, names = made.__init__, list(made.__pydantic_fields__)

        def init(self: Any, *values: Any, **named: Any) -> None:
            try:
                check(self, **dict(zip(names, values, strict=False)), **named)
            except ValidationError as error:
                raise _refusal(error, made, f"{place}." if place else "") from None

        made.__init__ = init
        decorated: _SECTION = made
        return decorated

    return decorate


def setting(default: Any, note: str, example: Any = None, **bounds: Any) -> Any:
    """Return a setting's default and what it is, an example for those that have no value, and pydantic's bounds."""
    return about(note, example, default=default, **bounds)


def about(note: str, example: Any = None, **options: Any) -> Any:
    """Return what a setting is, as ``setting`` does, of one that must be given: ``Annotated[int, about("...")]``."""
    return Field(description=note, examples=None if example is None else [example], **options)


def _refusal(error: ValidationError, cls: Any, place: str) -> InvalidArgument:
    """Return the first thing that is wrong, as askone says it."""
    [first, *_] = error.errors(include_url=False)
    name = str(first["loc"][0])[:100] if first["loc"] else ""
    inner, got = first.get("ctx", {}).get("error"), first["input"]
    if isinstance(inner, InvalidArgument):
        return InvalidArgument(inner.argument or f"{place}{name}", inner.allowed, inner.got)
    if first["type"] == "missing":
        return InvalidArgument(f"{place}{name}", "given", None)
    if first["type"] == "unexpected_keyword_argument":
        return unknown(name, list(cls.__pydantic_fields__), place)
    allowed = _allowed(cls.__pydantic_fields__[name], str(first["msg"]))
    return InvalidArgument(f"{place}{name}", allowed, repr(got) if isinstance(got, str) else got)


def _allowed(info: FieldInfo, message: str) -> str:
    """Return what a number may be, from its bounds; of anything else what pydantic says."""
    bounds = {name: getattr(one, name) for one in info.metadata for name in _BOUNDS if name in dir(one)}
    kinds = ((int, "whole number"), (float, "number" if bounds else "finite number"))
    what = next((word for of, word in kinds if info.annotation in (of, of | None)), None)
    if what is not None:
        return " ".join([f"a {what}", *(_BOUNDS[name].format(bound) for name, bound in bounds.items())])
    return (
        message.removeprefix("Input should be ")
        .replace("String should have", "a text of")
        .replace("valid string", "text")
    )


def plain(part: Any) -> dict[str, Any]:
    """Return the settings of a section as JSON values."""
    values = {name: getattr(part, name) for name in part.__pydantic_fields__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def unknown(name: str, names: Iterable[str], place: str) -> InvalidArgument:
    """Return the refusal of a name that a table does not have."""
    near = difflib.get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(names)}"
    return InvalidArgument(f"{place}{name}", f"a known name ({hint})", repr(name))


def _prose(value: str, most: int = _LONGEST_PROSE) -> str:
    if len(value) > most:
        raise InvalidArgument("", f"a text of at most {most} characters", f"{len(value)}")
    odd = next((c for c in value if (c < " " and c not in "\n\t") or c == "\x7f" or "\ud800" <= c <= "\udfff"), None)
    if odd is not None:  # nothing that people read has these, and databases refuse some of them
        raise InvalidArgument("", "a text without control characters", f"{odd!r}")
    return value


def _words(value: str) -> str:
    text = _prose(value, _LONGEST_LINE)
    if "\n" in text or "\t" in text:
        raise InvalidArgument("", "one line of text", repr(text))
    return text


def _line(value: str) -> str:
    if not value.strip():
        raise InvalidArgument("", "one line of text, not blank", repr(value))
    return _words(value)


def _people(value: object) -> object:
    if value != "auto" and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_PEOPLE):
        raise InvalidArgument("", f'a whole number from 1 to {_MOST_PEOPLE}, or "auto"', repr(value))
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, tuple | list):
        raise InvalidArgument("", what, repr(value))
    if len(value) > _MOST_NAMES:
        raise InvalidArgument("", f"at most {_MOST_NAMES}", len(value))
    return list(value)


def _columns(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = [_line(as_text(name, "")) for name in _list(value, "a list of columns")]
    if len(set(names)) < len(names):
        raise InvalidArgument("", "different columns", names)
    return tuple(names)


def _names(value: object) -> tuple[Name, ...]:
    """Return names of classes or items; their space checks that they differ."""
    names = _list(value, "a list of names")
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int | float):
            raise InvalidArgument("", "texts or numbers", repr(name))
        if isinstance(name, str):
            _line(name)
        else:
            as_number(name, "", -1e15, 1e15)
    return tuple(names)


def _attributes(value: object) -> tuple[tuple[str, tuple[Name, ...]], ...] | None:
    if value is None:
        return None
    titled = _list(list(value.items()) if isinstance(value, Mapping) else value, "a table of lists of classes")
    if not titled or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in titled):
        raise InvalidArgument("", "a table of lists of classes, not empty", repr(value))
    return tuple((_line(as_text(title, "")), _names(members)) for title, members in titled)


def _answers(value: object) -> tuple[str, str]:
    words = [_line(as_text(word, "")) for word in _list(value, "two different words, for yes and for no")]
    if len({word.strip() for word in words}) != 2 or len(words) != 2 or max(map(len, words)) > 100:
        raise InvalidArgument("", "two different words, for yes and for no", words)
    return words[0], words[1]


Prose = Annotated[str, AfterValidator(_prose)]
"""A text that people read: bounded, without control characters other than line breaks and tabs."""
Words = Annotated[str, AfterValidator(_words)]
"""One line of such a text, or nothing."""
Line = Annotated[str, AfterValidator(_line)]
"""One line, not blank."""
ColumnNames = Annotated[tuple[str, ...] | None, PlainValidator(_columns)]
"""Different names of columns, or None."""
Names = Annotated[tuple[Name, ...], PlainValidator(_names)]
"""Names of classes or items."""
Attributes = Annotated[tuple[tuple[str, tuple[Name, ...]], ...] | None, PlainValidator(_attributes)]
"""Titles, each with the classes that have it; from a table or a list of pairs."""
_FORMER = {"stream": "file", "uncertain": "auto"}
RowOrder = Annotated[
    Literal["auto", "random", "file"],
    BeforeValidator(lambda order: _FORMER.get(order, order) if isinstance(order, str) else order),
]
"""In which order rows are asked about; version 0.1 called "file" "stream", and chose rows by another rule."""
PeoplePerQuestion = Annotated[int | Literal["auto"], PlainValidator(_people)]
"""How many people answer each question, or "auto"."""
Answers = Annotated[tuple[str, str], PlainValidator(_answers)]
"""The words for yes and for no."""
