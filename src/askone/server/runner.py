"""Runs the server: on this machine only unless it is told otherwise, in one process or several on one port."""

from __future__ import annotations

import logging
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from askone.errors import InvalidArgument
from askone.server.app import Application, create_app
from askone.server.config import ServerConfig
from askone.server.ops.http_protocol import Connections, allow_files
from askone.server.ops.memory import give_back_large
from askone.server.routes.accounts import SETUP_TOKEN, has_admin
from askone.server.security.tokens import digest, new_secret
from askone.store.open import open_store
from askone.store.store import Store


def make_app(url: str, config: ServerConfig) -> Application:
    """Make the app in each process, which opens the store for itself."""
    _configure_access_log()
    give_back_large()
    return create_app(open_store(url), config, owned=True)


def serve(
    url: str,
    config: ServerConfig | None = None,
    say: Callable[[str], None] = print,
    on_listening: Callable[[str], None] | None = None,
) -> int:
    """Serve the store at an address until it is stopped; ``on_listening`` is told where it listens."""
    config = _with_directory(url, config or ServerConfig())
    require_free(config)
    with open_store(url) as store:
        require_admin(store, config)
        link = setup_link(store)
    # Whoever comes by the network finds nothing to log in to before somebody administers the server.
    config = replace(config, connections=allow_files(config.connections))
    settings = uvicorn_config(partial(make_app, url, config), config)
    listening = settings.bind_socket()
    port = listening.getsockname()[1]
    address = config.public_url.rstrip("/") or f"http{'s' if config.tls else ''}://{config.host}:{port}"
    say(f"askone serves {address}")
    if link is not None:
        say(f"Set it up, once, at {address}{link}")
    if on_listening is not None:
        on_listening(address)
    if config.processes > 1:
        Multiprocess(settings, sockets=[listening]).run()
    else:
        uvicorn.Server(settings).run(sockets=[listening])
    return 0


def require_free(config: ServerConfig) -> None:
    """Raise unless the port can be listened at: before any work is done, and in words."""
    host = config.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, config.port))
        except OSError as error:
            allowed = f"one that can be listened at on {host} (choose another with --port)"
            raise InvalidArgument("port", allowed, f"{config.port}: {error.strerror}") from error


def require_admin(store: Store, config: ServerConfig) -> None:
    """Refuse a server that others can reach before somebody administers it."""
    if not config.loopback and not has_admin(store.accounts):
        raise InvalidArgument(
            "host",
            "an address of this machine alone, such as 127.0.0.1, until there is an administrator "
            "(make one with `askone users add NAME --role admin`, or set up on 127.0.0.1 first)",
            config.host,
        )


def setup_link(store: Store) -> str | None:
    """Return where the first administrator is made, with a new token each time; None once there is one."""
    if has_admin(store.accounts):
        return None
    token = new_secret()
    store.accounts.put(SETUP_TOKEN, digest(token))
    return f"/setup#{token}"


def uvicorn_config(app: Callable[..., Any], config: ServerConfig) -> uvicorn.Config:
    """Return how uvicorn is to serve an app, or what makes one in each process."""
    tls = {}
    if config.certificate is not None and config.certificate_key is not None:
        tls = {"ssl_certfile": str(config.certificate), "ssl_keyfile": str(config.certificate_key)}
    return uvicorn.Config(
        app,
        factory=isinstance(app, partial),
        host=config.host.strip("[]"),
        port=config.port,
        workers=config.processes,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        http=Connections(config),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=list(config.trusted_proxies),
        timeout_keep_alive=65,
        timeout_graceful_shutdown=15,
        # A process first reports after its imports, which take seconds where the machine is busy.
        timeout_worker_healthcheck=60,
        **tls,  # type: ignore[arg-type]
    )


def _with_directory(url: str, config: ServerConfig) -> ServerConfig:
    """Let uploads wait beside the database, where all processes find them."""
    if url == "memory:" and config.processes > 1:
        raise InvalidArgument("processes", "1 where the store is in memory", config.processes)
    if config.directory is not None:
        return config
    if url == "memory:" or url.startswith("postgres"):
        return replace(config, directory=Path(tempfile.mkdtemp(prefix="askone-")))
    path = Path(url.removeprefix("sqlite:///")).absolute()
    return replace(config, directory=path.with_name(f"{path.name}-uploads"))


def _configure_access_log() -> None:
    """Send access lines to standard error as they are: each is a JSON object."""
    lines = logging.getLogger("askone.access")
    if not lines.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        lines.addHandler(handler)
        lines.setLevel(logging.INFO)
        lines.propagate = False
