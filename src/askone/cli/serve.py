"""askone serve: campaigns for browsers."""

from __future__ import annotations

import argparse
from functools import partial
from ipaddress import ip_network
from pathlib import Path

from rich.console import Console

from askone.cli.compile import compiling
from askone.cli.console import say
from askone.cli.files import store_url
from askone.encoding.embedders import name_embedder
from askone.errors import InvalidArgument
from askone.server.config import ServerConfig
from askone.server.runner import serve


def _proxy(text: str) -> str:
    """Return the address, or the network, of a proxy that is believed; "*" is every one."""
    try:
        return text if text == "*" else str(ip_network(text)).removesuffix("/32").removesuffix("/128")
    except ValueError as error:
        raise InvalidArgument(
            "--trust-proxy", "an IP address or network, such as 10.0.0.5 or 10.0.0.0/8", text
        ) from error


def run_serve(chosen: argparse.Namespace, console: Console) -> int:
    """Serve until stopped."""
    for embedder in chosen.embedder:
        name_embedder(embedder)  # now, so that what is wrong with it is said before anybody is served
    config = ServerConfig(
        host=chosen.host,
        port=chosen.port,
        processes=chosen.processes,
        public_url=chosen.public_url,
        trusted_proxies=tuple(map(_proxy, chosen.trust_proxy)),
        certificate=None if chosen.certificate is None else Path(chosen.certificate),
        certificate_key=None if chosen.certificate_key is None else Path(chosen.certificate_key),
        webhooks=chosen.webhooks or bool(chosen.webhook_local),
        webhook_local=tuple(chosen.webhook_local),
        access_log=chosen.access_log,
        embedders=tuple(chosen.embedder),
    )
    with compiling():
        return serve(store_url(chosen.store), config, partial(say, console))
