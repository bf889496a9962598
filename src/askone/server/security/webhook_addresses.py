"""Addresses of webhooks: public ones alone, looked up once and connected to as looked up.

A name that leads to a private network, or leads elsewhere at the second look-up, would make this server a way
into that network.  So the address is resolved here, every answer of the resolver must be public, and the
connection goes to that address under the name's certificate.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import final
from urllib.parse import urlsplit

from askone.errors import InvalidArgument
from askone.server.config import ServerConfig

Resolver = Callable[[str, int], Sequence[str]]
# All of IPv6 that is public; NAT64, unique local, site-local and IPv4-compatible addresses lie outside.
_GLOBAL_UNICAST = ip_network("2000::/3")
# What some versions of ``is_global`` take for public.  IPv4: protocol assignments, relays of 6to4.  IPv6: protocol
# assignments (Teredo and ORCHID among them), 6to4, documentation.
_SPECIAL = tuple(
    ip_network(prefix) for prefix in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")
)
_METADATA = frozenset({"metadata", "metadata.google.internal", "instance-data"})


@final
@dataclass(frozen=True)
class Target:
    """An address to connect to, and the host name to use there."""

    scheme: str
    host: str
    port: int
    address: str
    path: str


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a name, from the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(text: str) -> bool:
    """Return whether an address belongs to the public internet.

    >>> [is_public(a) for a in ("93.184.215.14", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1%eth0")]
    [True, False, False, False, False]
    """
    try:
        address = ip_address(text.split("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if any(address in network for network in _SPECIAL) or (address.version == 6 and address not in _GLOBAL_UNICAST):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def resolve(url: str, config: ServerConfig, resolver: Resolver = look_up) -> Target:
    """Return the one address to connect to; refuse what is not allowed.

    >>> resolve("http://example.org/", ServerConfig())
    Traceback (most recent call last):
    ...
    askone.errors.InvalidArgument: url must be an address with one of the schemes https; got http
    """
    scheme, host, port, path = _parts(url, config)
    try:
        addresses = list(resolver(host, port))
    except (OSError, UnicodeError) as error:
        raise InvalidArgument("url", "an address whose host is known", "a host that cannot be found") from error
    allowed = config.webhook_loopback or _is_local(host, port, config)
    here = allowed and all(_is_loopback(address) for address in addresses)
    if not addresses or not (here or all(is_public(address) for address in addresses)):
        raise InvalidArgument("url", "an address in the public internet", "another")
    return Target(scheme, host, port, addresses[0], path)


def _parts(url: str, config: ServerConfig) -> tuple[str, str, int, str]:
    if not url.isascii() or any(ord(char) <= 32 or ord(char) == 127 for char in url) or "\\" in url:
        raise InvalidArgument("url", "plain ASCII without spaces", "other characters")
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError as error:
        raise InvalidArgument("url", "an address", "something that cannot be read") from error
    port = port or (443 if parts.scheme == "https" else 80)
    local = _is_local(host, port, config)
    schemes = ("http", "https") if local else config.webhook_schemes
    if parts.scheme not in schemes:
        raise InvalidArgument("url", f"an address with one of the schemes {', '.join(schemes)}", parts.scheme)
    if not host or parts.username is not None or parts.password is not None or host in _METADATA:
        raise InvalidArgument("url", "an address with a host, and without a name and password", "another")
    if not local and port not in config.webhook_ports:
        raise InvalidArgument("url", f"an address with one of the ports {config.webhook_ports}", port)
    return parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _is_local(host: str, port: int, config: ServerConfig) -> bool:
    """Return whether this is a program on this machine that was allowed by its port."""
    return port in config.webhook_local and host in ("localhost", "127.0.0.1", "::1")


def _is_loopback(text: str) -> bool:
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False
