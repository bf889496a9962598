"""Telling other programs: signed, from a queue that outlives the server, tried again until it works or is given up.

What is told comes out of the logs.  The store notes how far each webhook was told together with what is queued for it:
whatever the log has is queued once, also if the server dies after an answer was kept and before anybody was told.

A delivery is a POST of JSON with the headers

    webhook-id: its id, the same at every try      webhook-timestamp: seconds since the epoch
    webhook-signature: v1,<base64 of HMAC-SHA256(secret, "id.timestamp.body")>

Redirects are not followed, and nothing of a response but its status is looked at.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

from askone._common.lazy_import import lazy_import
from askone.errors import InvalidArgument, StoreUnavailable
from askone.server.config import ServerConfig
from askone.server.ops.metrics import Metrics
from askone.server.ops.threads import Threads
from askone.server.security.webhook_addresses import Resolver, Target, look_up, resolve
from askone.session.log import Answered
from askone.store.accounts.accounts import Accounts
from askone.store.accounts.webhooks import Delivery, WebhookCursor
from askone.store.entries import Entry
from askone.store.notices import Limited, StatusChanged

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazy_import("httpx")

KINDS = ("answered", "turned", "limited")
"""Entries of a log that something is told of, or that change what is told."""
MOST = 200
"""Entries that are told of at once."""
ROUND = 20
"""Deliveries that are tried at the same time."""
PAUSES = (5.0, 30.0, 120.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0)
"""How long to wait after each failed try; after the last one a delivery is given up."""
log = logging.getLogger("askone.webhooks")


def sign(secret: str, delivery: str, at: int, body: str) -> str:
    """Return the signature of a delivery.

    >>> sign("s", "d1", 0, "{}")[:8]
    'v1,zRvwG'
    """
    mark = hmac.new(secret.encode(), f"{delivery}.{at}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(mark).decode()


def _events(news: Sequence[Entry]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return what entries of a log are told as."""
    answers = [
        {"id": entry.id, "person": entry.who, "answer": entry.event.answer}
        for entry in news
        if isinstance(entry.event, Answered)
    ]
    if answers:
        yield "answer", {"answers": answers}
    for entry in news:
        if isinstance(entry.event, StatusChanged) and entry.event.status == "closed":
            yield "closed", {"id": entry.id}


@final
class Webhooks:
    """The queue's two ends."""

    def __init__(
        self,
        accounts: Accounts,
        config: ServerConfig,
        metrics: Metrics,
        resolver: Resolver = look_up,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._accounts, self._config, self._metrics = accounts, config, metrics
        self._resolver, self._clock = resolver, clock
        self._threads, self._names = Threads("webhooks", 2), Threads("names", 8)

    def close(self) -> None:
        """End the threads."""
        self._threads.close()
        self._names.close()

    async def check(self, url: str) -> None:
        """Refuse an address that nothing would be sent to."""
        if not self._config.webhooks:
            raise InvalidArgument("url", "left out: webhooks are turned off on this server", "an address")
        await self._resolved(url)

    async def _resolved(self, url: str) -> Target:
        """Return where to send to; a name that nobody answers to is given up, though its thread waits on."""
        try:
            async with asyncio.timeout(self._config.webhook_seconds):
                return await self._names.run(resolve, url, self._config, self._resolver)
        except TimeoutError as error:
            raise InvalidArgument("url", "an address whose host is known", "one that is not found in time") from error

    def catch_up(self) -> int:
        """Queue what logs have and webhooks were not told of; return how many deliveries."""
        return sum(self._catch_up(place) for place in self._accounts.places()) if self._config.webhooks else 0

    def _catch_up(self, place: WebhookCursor) -> int:
        if place.seq is None:
            self._accounts.tell(place, place.head, False, [], 0.0)
            return 0
        if place.seq >= place.head:
            return 0
        news = self._accounts.news(place, KINDS, MOST)
        seq = news[-1].seq if len(news) == MOST else place.head
        spent = place.spent and not any(isinstance(entry.event, Limited) for entry in news)
        told = [self._delivery(place, seq, event, what) for event, what in _events(news) if event in place.events]
        return len(told) * self._accounts.tell(place, seq, spent, told, self._clock())

    def spent(self, campaign: str) -> None:
        """Tell, once until there is another budget, that the budget is spent."""
        if not self._config.webhooks:
            return
        for place in self._accounts.places():
            if place.campaign == campaign and "spent" in place.events and not place.spent and place.seq is not None:
                told = self._delivery(place, place.head, "spent", {})
                self._accounts.tell(place, place.seq, True, [told], self._clock())

    def _delivery(self, place: WebhookCursor, seq: int, event: str, what: dict[str, Any]) -> tuple[str, str]:
        """Return the id, which is the same whoever makes it, and the body."""
        mark = hashlib.sha256(f"{place.webhook}/{seq}/{event}/{what.get('id', '')}".encode()).hexdigest()[:24]
        body = {"campaign": place.campaign, "event": event, "at": self._clock(), **what}
        return mark, json.dumps(body, allow_nan=False)

    async def run(self) -> None:
        """Send what is due, for as long as the server runs."""
        while True:
            sent = 0
            with contextlib.suppress(StoreUnavailable):
                await self._threads.run(self.catch_up)
                sent = await self.send_due()
            if sent < ROUND:
                await asyncio.sleep(1.0)

    async def send_due(self, limit: int = ROUND) -> int:
        """Send one round; return how many deliveries were tried."""
        due = await self._threads.run(self._accounts.due_deliveries, self._clock(), limit)
        await asyncio.gather(*(self._try(delivery) for delivery in due))
        return len(due)

    async def _try(self, delivery: Delivery) -> None:
        try:
            target = await self._resolved(delivery.url)
            status = await self._post(target, delivery)
        except (InvalidArgument, httpx.HTTPError, OSError, TimeoutError):
            status = 0
        fine = 200 <= status < 300
        self._metrics.deliveries.labels("delivered" if fine else "failed").inc()
        if fine or delivery.tries >= len(PAUSES):
            await self._threads.run(self._accounts.delivered, delivery.id, str(status))
            if not fine:
                log.warning("a webhook delivery was given up after %d tries", delivery.tries + 1)
        else:
            again = self._clock() + PAUSES[delivery.tries]
            await self._threads.run(self._accounts.retry_delivery, delivery.id, again)

    async def _post(self, target: Target, delivery: Delivery) -> int:
        at = int(self._clock())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "askone",
            "Host": target.host if target.port in (80, 443) else f"{target.host}:{target.port}",
            "webhook-id": delivery.id,
            "webhook-timestamp": str(at),
            "webhook-signature": sign(delivery.secret, delivery.id, at, delivery.body),
        }
        address = f"[{target.address}]" if ":" in target.address else target.address
        url = f"{target.scheme}://{address}:{target.port}{target.path}"
        extensions = {"sni_hostname": target.host} if target.scheme == "https" else {}
        seconds = self._config.webhook_seconds
        async with (
            asyncio.timeout(2 * seconds),
            httpx.AsyncClient(timeout=seconds, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", url, content=delivery.body, headers=headers, extensions=extensions) as response,
        ):
            return response.status_code
