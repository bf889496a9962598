"""Learners of one's own, by name: what an estimator, the settings of a campaign and a saved model may then call them.

A name stands for what this program has registered and for nothing else, so that settings from strangers load no code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NamedTuple, final

from askone._common.types import Array
from askone._common.validate import as_text
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.learners.base import Learner

Make = Callable[[Space, Array | None, int, int], Learner[Any]]
"""(labels, some unlabelled rows or None, width of a row, seed) -> a learner."""


@final
class Registered(NamedTuple):
    """A class of learners, and what makes one of them."""

    kind: type[Learner[Any]]
    make: Make


_OWN: dict[str, Registered] = {}


def register(name: str, kind: type[Any], make: Make) -> None:
    """Let ``name`` stand for a learner of your own: in ``OneBitRegressor(learner=name)``, in a campaign's settings.

    ``make`` has the labels, some unlabelled rows (or None), the width of a row and a seed.  ``kind`` is a frozen
    dataclass whose fields are numbers, texts, arrays, labels and askone's own parts: these are what is saved.  Whoever
    loads such a model, or opens such a campaign, registers the name first.
    """
    if not as_text(name, "name") or not name.isidentifier():
        raise InvalidArgument("name", "a word of letters, digits and _", name)
    if not (is_dataclass(kind) and issubclass(kind, Learner)):
        raise InvalidArgument("kind", "a dataclass that is a Learner", repr(kind))
    if not callable(make):
        raise InvalidArgument("make", "a function of labels, rows, width and seed", repr(make))
    if name in _OWN and _OWN[name].kind is not kind:
        raise InvalidArgument("name", "one that is not taken", name)
    _OWN[name] = Registered(kind, make)


def registered(name: object) -> Registered | None:
    """Return what a name stands for, if anything."""
    return _OWN.get(name) if isinstance(name, str) else None


def names() -> tuple[str, ...]:
    """Return the names that stand for something."""
    return tuple(_OWN)


def name_of(kind: type) -> str | None:
    """Return the name under which a class was registered, if it was."""
    return next((name for name, own in _OWN.items() if own.kind is kind), None)
