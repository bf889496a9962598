"""Configuration of a server: one frozen value, with safe defaults."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

from askone._common.validate import as_count
from askone.errors import InvalidArgument

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_MIB = 1 << 20


@final
@dataclass(frozen=True)
class Rates:
    """A rate limit: so many at once, then so many per second."""

    burst: int
    per_second: float


@final
@dataclass(frozen=True)
class ServerConfig:
    """The configuration of a server: where it listens, what it calls itself, and its limits.

    ``public_url`` is how people reach it if that is not http://host:port, such as behind a proxy that speaks TLS;
    ``hosts`` are further names it answers to ("*": any).  ``directory`` is where uploads wait (None: a new
    temporary directory).  ``trusted_proxies`` are addresses whose X-Forwarded headers are believed.  ``webhook_local``
    are ports of programs on this machine that webhooks may go to, by http as well.  Work on files has
    ``heavy_processes`` processes, each of ``heavy_bytes`` of memory at most, and ``heavy_seconds`` for one file.
    ``connections`` of a process are at most three quarters of the files that it may open; a room of 100 people whose
    browsers have six each fits into ``connections_per_address``.  Of the rates, ``logins`` and ``failures`` count what
    fails, by address and account: passwords, invitations, tokens and sessions; the others count all that is asked, and
    ``joins`` what a page asks before somebody is known: a thousand people may come from the address of one hall.
    ``embedders`` are what rows are added with (``encoding.embedders.name_embedder``): code that nobody else names.

    >>> ServerConfig().loopback, ServerConfig(host="0.0.0.0").loopback
    (True, False)
    >>> ServerConfig(public_url="https://ask.example").tls
    True
    """

    host: str = "127.0.0.1"
    port: int = 8000
    processes: int = 1
    public_url: str = ""
    hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    certificate_key: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    directory: Path | None = None
    access_log: bool = True
    session_days: float = 14.0
    remember_seconds: float = 2.0
    body_bytes: int = 256 * 1024
    body_seconds: float = 20.0
    header_seconds: float = 15.0
    write_seconds: float = 30.0
    connections: int = 4000
    connections_per_address: int = 1000
    upload_bytes: int = 512 * _MIB
    upload_seconds: float = 900.0
    uploads_per_person: int = 20
    upload_hours: float = 24.0
    joins: Rates = Rates(4000, 100.0)
    sign_ins: Rates = Rates(1000, 20.0)
    logins: Rates = Rates(10, 0.1)
    failures: Rates = Rates(40, 1.0)
    answers: Rates = Rates(200, 50.0)
    calls: Rates = Rates(120, 20.0)
    heavy: Rates = Rates(20, 0.5)
    heavy_processes: int = 2
    heavy_seconds: float = 600.0
    heavy_bytes: int = 2048 * _MIB
    upload_cells: int = 50_000_000
    idle_seconds: float = 900.0
    store_patience: float = 2.0
    batch: int = 256
    webhooks: bool = False
    webhook_ports: tuple[int, ...] = (443,)
    webhook_schemes: tuple[str, ...] = ("https",)
    webhook_loopback: bool = False
    webhook_local: tuple[int, ...] = ()
    webhook_seconds: float = 5.0
    embedders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        as_count(self.processes, "processes", 1)
        as_count(self.heavy_processes, "heavy_processes", 1)
        as_count(self.port, "port", 0, 65535)
        as_count(self.connections, "connections", 1)
        as_count(self.connections_per_address, "connections_per_address", 1)
        for port in self.webhook_local:
            as_count(port, "webhook_local", 1, 65535)
        if self.public_url and urlsplit(self.public_url).scheme not in ("http", "https"):
            raise InvalidArgument("public_url", "an http:// or https:// address", self.public_url)
        if (self.certificate is None) != (self.certificate_key is None):
            raise InvalidArgument("certificate_key", "given together with certificate", self.certificate_key)

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def tls(self) -> bool:
        """Whether browsers reach it by https."""
        return self.certificate is not None or self.public_url.startswith("https:")

    @property
    def names(self) -> frozenset[str]:
        """The hosts it answers to, without ports; others may be somebody's domain pointed here."""
        own = urlsplit(self.public_url).hostname if self.public_url else None
        every = {"*"} if self.host in ("0.0.0.0", "::", "[::]") and not (own or self.hosts) else set()
        return frozenset({*LOOPBACK, *self.hosts, self.host, *((own,) if own else ()), *every})
