"""Rate limits by address and account."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import final

from starlette.requests import Request

from askone.server._errors import too_many_requests
from askone.server.config import Rates


@final
class RateLimiter:
    """Token buckets: each key may do ``burst`` at once and ``per_second`` in the long run.

    A bucket is one number, the time at which it will be full again; what is full is forgotten.

    >>> clock = iter([0.0, 0.0, 0.0, 10.0]).__next__
    >>> two = RateLimiter(Rates(2, 0.1), clock)
    >>> two.wait("a"), two.wait("a"), two.wait("a"), two.wait("a")
    (0.0, 0.0, 10.0, 0.0)
    """

    def __init__(self, rates: Rates, clock: Callable[[], float] = time.monotonic, most: int = 50_000) -> None:
        self._cost, self._room = 1.0 / rates.per_second, rates.burst / rates.per_second
        self._clock, self._most = clock, most
        self._full: dict[Hashable, float] = {}

    def wait(self, key: Hashable) -> float:
        """Take one and return 0, or the seconds to wait if there is none left."""
        now = self._clock()
        full = max(self._full.get(key, now), now) + self._cost
        over = full - now - self._room
        if over > 1e-9:
            return over
        if len(self._full) >= self._most:
            self._forget(now)
        self._full[key] = full
        return 0.0

    def spend(self, key: Hashable) -> None:
        """Take one, or raise the refusal that says how long to wait."""
        over = self.wait(key)
        if over:
            raise too_many_requests(over)

    def check(self, key: Hashable) -> None:
        """Raise if nothing is left, without taking any."""
        now = self._clock()
        over = max(self._full.get(key, now), now) + self._cost - now - self._room
        if over > 1e-9:
            raise too_many_requests(over)

    def _forget(self, now: float) -> None:
        self._full = {key: full for key, full in self._full.items() if full > now}
        if len(self._full) >= self._most:
            # Somebody makes up addresses: the longest-standing half starts anew.
            kept = sorted(self._full.items(), key=lambda pair: pair[1])[len(self._full) // 2 :]
            self._full = dict(kept)


def network_of(host: str) -> str:
    """Return who has an address, as far as limits are concerned: an IPv4 address, or the /64 of an IPv6 one.

    >>> network_of("2001:db8::1") == network_of("2001:0db8:0:0:ffff::2"), network_of("2001:db8::1")
    (True, '2001:db8::')
    >>> network_of("::ffff:192.0.2.7"), network_of("unknown")
    ('192.0.2.7', 'unknown')
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


def client_address(request: Request) -> str:
    """Return the network of the address that a request comes from."""
    return network_of(request.client.host if request.client else "unknown")
