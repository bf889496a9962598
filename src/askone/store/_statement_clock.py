"""A clock for statements that no answer comes to.

A connection can go silent without being closed: a firewall forgets it, a machine freezes, a proxy stalls.  Who waits
for an answer then waits for ever, as the driver has no clock of its own.  So each statement is entered here with the
time it has, and one thread shuts the sockets of those that are over: the driver sees a connection that was lost.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final


@final
class StatementClock:
    """The statements that wait, and the thread that ends those which waited too long; ``close`` ends the thread."""

    def __init__(self, tick: float = 0.5) -> None:
        self._tick, self._lock, self._closed = tick, threading.Lock(), threading.Event()
        self._waiting: dict[int, float] = {}
        """File of a connection: when its statement is over time."""
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, fileno: Callable[[], int], seconds: float) -> Iterator[None]:
        """So many seconds for what is done inside, on the connection of this file."""
        file = self.begin(fileno(), seconds)
        try:
            yield
        finally:
            self.end(file)

    def begin(self, file: int, seconds: float) -> int:
        """Start the clock of a connection."""
        with self._lock:
            self._waiting[file] = time.monotonic() + seconds
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="statements", daemon=True)
                self._thread.start()
        return file

    def end(self, file: int) -> None:
        """Stop it.  Until then the file is this connection's, and nobody else's."""
        with self._lock:
            self._waiting.pop(file, None)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._tick):
            now = time.monotonic()
            with self._lock:
                for file in [file for file, until in self._waiting.items() if until < now]:
                    del self._waiting[file]
                    _shut(file)


def _shut(file: int) -> None:
    """End the connection of a file under whoever reads from it; closing it is theirs."""
    try:
        with socket.socket(fileno=os.dup(file)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # it ended by itself
        pass
