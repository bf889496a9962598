"""Modules that are loaded when they are first used: the one door for whatever takes long and may not be needed.

A module that is wanted later is imported for the type checker, and so for the rule that imports go downward;
at run time its name stands for it until somebody looks inside:

    if TYPE_CHECKING:
        from scipy import optimize
    else:
        optimize = lazy_import("scipy.optimize")
"""

from __future__ import annotations

import gc
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, final

# Libraries import each other in circles: two threads that come from two sides would see one half made.
_LOADING = RLock()


@final
class LazyModule(ModuleType):
    """Stands for a module.  Any thread may be the first to look inside; the others wait until it is loaded."""

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__.get(_HELD)
        if module is None:
            module = self.__dict__[_HELD] = import_now(self.__name__)
        return getattr(module, name)


_HELD = "module that this one stands for"


def lazy_import(module: str) -> Any:
    """Return the module of this name, loaded when it is first looked into.

    >>> colours = lazy_import("colorsys")
    >>> colours.rgb_to_hsv(0.0, 0.0, 1.0)
    (0.6666666666666666, 1.0, 1.0)
    >>> lazy_import("no.such.module").anything
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'no'
    """
    return LazyModule(module)


def import_now(module: str) -> ModuleType:
    """Return the module of this name, now.

    >>> import_now("colorsys").__name__
    'colorsys'
    """
    with _LOADING:
        collecting = gc.isenabled()
        gc.disable()  # what a module makes stays: looking for garbage in it costs a tenth of the time
        try:
            return import_module(module)
        finally:
            if collecting:
                gc.enable()
