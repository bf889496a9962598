"""Memory that a long-running process gives back: GNU's allocator keeps large arrays that were freed unless told not to.

A model's state is a few arrays of megabytes, copied whenever some answers were learnt.  Left alone, the allocator takes
them from its heap, where small things that live on hold the rest; a quarter of the process was of no use to anybody.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

_MMAP_THRESHOLD: Final = -3
_LARGE: Final = 2 << 20


def give_back_large() -> None:
    """From here on, arrays of megabytes go back to the system as soon as they are freed."""
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def give_back_rest() -> None:
    """Give back what is free at this moment: some milliseconds."""
    _call("malloc_trim", 0)


def _call(name: str, *values: int) -> None:
    """A function of the C library, where it has it: others than GNU's do not."""
    try:
        function: Any = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return
    function(*values)
