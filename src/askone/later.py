"""Modules that are loaded when they are first used: the one door for whatever takes long and may not be needed.

A module that is wanted later is imported for the type checker, and so for the rule that imports go downward;
at run time its name stands for it until somebody looks inside:

    if TYPE_CHECKING:
        from scipy import optimize
    else:
        optimize = later("scipy.optimize")
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, final


@final
class Later(ModuleType):
    """Stands for a module.  Any thread may be the first to look: the others wait until it is loaded."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def later(module: str) -> Any:
    """The module of this name, loaded when it is first looked into.

    >>> colours = later("colorsys")
    >>> colours.rgb_to_hsv(0.0, 0.0, 1.0)
    (0.0, 0.0, 1.0)
    >>> later("no.such.module").anything
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'no'
    """
    return Later(module)
