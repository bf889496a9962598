"""A way to a server that can go silent: connections stay open, and nothing comes through them."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable
from typing import Self


class SilentProxy:
    """Listens at a port of this machine and passes everything on, both ways, until ``silent`` is set."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect, self.silent, self._ending = connect, threading.Event(), False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._peers: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self._thread.join()
        for one in list(self._peers):
            one.close()
        self._listening.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._ending:
            for key, _ in self._selector.select(0.05):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if one is self._listening:
                    self._pair(one.accept()[0])
                elif one in self._peers:
                    self._pass_on(one)

    def _pair(self, here: socket.socket) -> None:
        there = self._connect()
        for one, other in ((here, there), (there, here)):
            self._peers[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = one.recv(1 << 16)
            if data and not self.silent.is_set():
                self._peers[one].sendall(data)
        if not data:
            for end in (one, self._peers[one]):
                self._selector.unregister(end)
                del self._peers[end]
                end.close()
