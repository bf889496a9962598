"""Memory of a long-running process: what is given back, and when garbage is looked for.

GNU's allocator keeps large arrays that were freed unless told not to.

A model's state is a few arrays of megabytes, copied whenever some answers were learnt.  Left alone, the allocator takes
them from its heap, where small things that live on hold the rest; a quarter of the process was of no use to anybody.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import time
from collections.abc import Iterator
from typing import Any, Final, final

_MMAP_THRESHOLD: Final = -3
_LARGE: Final = 2 << 20
_NEVER: Final = 1_000_000
_LONGEST: Final = 600.0  # seconds without a look at all that there is


def give_back_large() -> None:
    """Let arrays of megabytes go back to the system as soon as they are freed, from here on."""
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def give_back_rest() -> None:
    """Give back what is free at this moment: some milliseconds."""
    _call("malloc_trim", 0)


def _call(name: str, *values: int) -> None:
    """Call a function of the C library, where it has it: others than GNU's do not."""
    try:
        function: Any = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return
    function(*values)


@final
class GarbageCollector:
    """Python looks for garbage among everything when a quarter has come since: for a tenth of a second and more.

    Nobody should wait for that with a question.  A projection holds no circles, and what does is young when it dies; so
    only young things are looked through, and all of them when nobody is there, or it was long ago.
    """

    def __init__(self) -> None:
        self._looked = time.monotonic()

    @staticmethod
    @contextlib.contextmanager
    def rarely() -> Iterator[None]:
        """While this lasts, look through all that there is by ``collect`` alone."""
        before = gc.get_threshold()
        gc.set_threshold(before[0], before[1], _NEVER)
        try:
            yield
        finally:
            gc.unfreeze()
            gc.set_threshold(*before)

    def freeze(self) -> None:
        """Spare what is there now, such as modules: it stays, and need not be looked through."""
        gc.freeze()

    def collect(self, busy: bool) -> bool:
        """Look through everything, unless people wait and it was done lately; whether it was done."""
        if busy and time.monotonic() < self._looked + _LONGEST:
            return False
        gc.collect()
        self._looked = time.monotonic()
        return True
