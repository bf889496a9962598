"""askone compile: what learns numbers, classes and orders, compiled before somebody waits for it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from askone._common.lazy_import import import_now, lazy_import

if TYPE_CHECKING:
    from askone._common import compiled
    from askone.cli.demo import annotators, tasks
    from askone.store import open as stores
else:
    annotators = lazy_import("askone.cli.demo.annotators")
    compiled = lazy_import("askone._common.compiled")
    stores = lazy_import("askone.store.open")
    tasks = lazy_import("askone.cli.demo.tasks")

_LARGEST = {"kalman": ("advance", "settle"), "softmax": ("step_once", "half_set"), "thurstone": ("tell_joint", "worth")}
_NICE = 10


def run_compile(_: argparse.Namespace, console: Console) -> int:
    """Compile what is not compiled yet: what is, is only read."""
    begun = time.monotonic()
    compile_ahead()
    console.print(f"All is compiled, after {time.monotonic() - begun:.0f} s, and kept for later runs.")
    return 0


def is_compiled() -> bool:
    """Return whether the largest functions of each kind of learner are kept for this processor.

    Then little is left to compile, if anything, and no server that starts has to play campaigns to find out.
    """
    for learner, names in _LARGEST.items():
        functions = vars(import_now(f"askone.learners.{learner}._compiled"))
        if not all(compiled.is_kept(functions[name]) for name in names):
            return False
    return True


def compile_ahead() -> None:
    """Answer a little in small campaigns of each kind: what a question needs is then compiled."""
    with tempfile.TemporaryDirectory(prefix="askone-compile-") as folder:
        for task in (tasks.digits(Path(folder), 80), tasks.flats(Path(folder), 60), tasks.drinks()):
            with stores.open_store("memory:") as store:
                campaign = annotators.make(store, task, 0.0)
                for _ in annotators.play(campaign, task.knowledge, ("ann", "bob", "cid", "dan"), 24):
                    pass


@contextmanager
def compiling() -> Iterator[None]:
    """Compile in a process beside, which gives way to others: pages are there at once, and soon the first question."""
    beside = get_context("spawn").Process(target=_compile_beside, daemon=True, name="askone compile")
    beside.start()
    try:
        yield
    finally:
        beside.terminate()
        beside.join()


def _compile_beside() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it ends it
    if sys.platform != "win32":
        os.nice(_NICE)
    if not is_compiled():
        compile_ahead()
