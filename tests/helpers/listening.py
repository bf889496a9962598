"""Small servers on loopback: a handler of the standard library, served while it is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """A handler that writes no log of its own."""

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""

    def body(self) -> bytes:
        """What was sent with the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Whoever hangs up is no error."""


@contextmanager
def listening(handler: Callable[..., Any]) -> Iterator[int]:
    """The port of a server whose requests the handler answers."""
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
