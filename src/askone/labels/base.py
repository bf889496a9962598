"""Label spaces: what a label is, in the user's units and in the learner's."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_text
from askone.errors import InvalidArgument

Name = str | int | float
"""What a class or an item is called."""


class Space(ABC):
    """A label space: the user's units and the learner's."""

    @property
    @abstractmethod
    def m(self) -> int:
        """How many numbers a model predicts."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many numbers or names one label has."""

    @abstractmethod
    def labels(self, y: ArrayLike, argument: str = "y") -> Array:
        """Return labels of this space, checked, n x entries."""


class Discrete(Space):
    """Labels that are names, or tuples of names; a model predicts scores, ``decode`` reads them."""

    @abstractmethod
    def decode(self, scores: Array, rows: Array, seed: int = 0) -> Array:
        """Return the label (n x entries, objects) for each row of scores; ties at random, alike for equal rows."""


def as_names(given: Any, argument: str, what: str) -> tuple[Name, ...]:
    """Return names of classes or items: at least two, all different, none blank.

    >>> as_names(["cat", "cat"], "items", "items")
    Traceback (most recent call last):
    askone.errors.InvalidArgument: items must be different items; got 'cat' twice
    """
    if isinstance(given, str | set | frozenset | Mapping) or not np.iterable(given):  # a set has no order to draw by
        raise InvalidArgument(argument, f"a list of {what}", repr(given))
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in given)
    if not all(isinstance(name, str | int | float) and str(name).strip() for name in names):
        raise InvalidArgument(argument, "texts or numbers, none of them blank", list(names))
    if any(isinstance(name, float) and not math.isfinite(name) for name in names):
        raise InvalidArgument(argument, "texts or finite numbers", list(names))
    if min(len({str(name) for name in names}), len(set(names))) < len(names):
        twice = sorted({str(a) for i, a in enumerate(names) for b in names[:i] if a == b or str(a) == str(b)})
        raise InvalidArgument(argument, f"different {what}", f"{', '.join(map(repr, twice))} twice")
    if len(names) < 2:
        raise InvalidArgument(argument, f"at least two {what} (one class or item needs no question)", list(names))
    return names


def check_template(template: str, *places: str) -> None:
    """Raise unless a template is empty, or has each of these places, once, and no other."""
    rest = as_text(template, "wording")
    for place in places:
        rest = rest.replace(place, "", 1)
    if template and (any(place not in template for place in places) or "{" in rest or "}" in rest):
        raise InvalidArgument("wording", f"a text with {' and '.join(places)}", repr(template))


def place_of(name: Any, places: Mapping[Name, int], argument: str) -> int:
    """Return which place a name has among some."""
    try:
        return places[name.item() if isinstance(name, np.generic) else name]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, list(places)[:10])) + (", …" if len(places) > 10 else "")
        raise InvalidArgument(argument, f"one of: {known}", repr(name)) from None
