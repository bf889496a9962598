"""Telling other programs: signed, from a queue that outlives the server, tried again until it works or is given up.

A delivery is a POST of JSON with the headers

    webhook-id: its id, the same at every try      webhook-timestamp: seconds since the epoch
    webhook-signature: v1,<base64 of HMAC-SHA256(secret, "id.timestamp.body")>

Redirects are not followed, and nothing of a response but its status is looked at.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from askone.errors import InvalidArgument, StoreUnavailable
from askone.later import later
from askone.server.addresses import Resolver, Target, look_up, resolve
from askone.server.config import ServerConfig
from askone.server.metrics import Metrics
from askone.server.secrets import fresh_id
from askone.store.accounts import Accounts
from askone.store.hooks import Delivery, Webhook

if TYPE_CHECKING:
    import httpx
else:
    httpx = later("httpx")

EVENTS = ("answer", "closed", "spent")
PAUSES = (5.0, 30.0, 120.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0)
"""How long to wait after each failed try; after the last one a delivery is given up."""
log = logging.getLogger("askone.webhooks")


def sign(secret: str, delivery: str, at: int, body: str) -> str:
    """The signature of a delivery.

    >>> sign("s", "d1", 0, "{}")[:8]
    'v1,zRvwG'
    """
    mark = hmac.new(secret.encode(), f"{delivery}.{at}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(mark).decode()


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
        self._known: dict[str, tuple[float, list[Webhook]]] = {}

    def check(self, url: str) -> None:
        """Refuses an address that nothing would be sent to."""
        if not self._config.webhooks:
            raise InvalidArgument("url", "left out: webhooks are turned off on this server", "an address")
        resolve(url, self._config, self._resolver)

    def forget(self) -> None:
        """The list of webhooks changed."""
        self._known.clear()

    def queue(self, campaign: str, event: str, what: dict[str, Any], once: str | None = None) -> None:
        """Puts an event into the queue for whoever wants it; ``once`` names what is to be told one time only."""
        if not self._config.webhooks:
            return
        for hook in self._hooks(campaign):
            if event in hook.events:
                body = json.dumps({"campaign": campaign, "event": event, "at": self._clock(), **what}, allow_nan=False)
                mark = None if once is None else hashlib.sha256(f"{hook.id}/{once}".encode()).hexdigest()[:24]
                self._accounts.queue_delivery(mark or fresh_id("d"), hook.id, body, self._clock())

    def _hooks(self, campaign: str) -> Sequence[Webhook]:
        kept = self._known.get(campaign)
        if kept is None or kept[0] < time.monotonic():
            kept = (time.monotonic() + self._config.remember_seconds, list(self._accounts.webhooks(campaign)))
            self._known[campaign] = kept
        return kept[1]

    async def run(self) -> None:
        """Sends what is due, for as long as the server runs."""
        while True:
            try:
                sent = await self.send_due()
            except StoreUnavailable:
                sent = 0
            if not sent:
                await asyncio.sleep(1.0)

    async def send_due(self, limit: int = 20) -> int:
        """One round; how many deliveries were tried."""
        due = await asyncio.to_thread(self._accounts.due_deliveries, self._clock(), limit)
        await asyncio.gather(*(self._try(delivery) for delivery in due))
        return len(due)

    async def _try(self, delivery: Delivery) -> None:
        try:
            target = await asyncio.to_thread(resolve, delivery.url, self._config, self._resolver)
            status = await self._post(target, delivery)
        except (InvalidArgument, httpx.HTTPError, OSError, TimeoutError):
            status = 0
        fine = 200 <= status < 300
        self._metrics.deliveries.labels("delivered" if fine else "failed").inc()
        if fine or delivery.tries >= len(PAUSES):
            await asyncio.to_thread(self._accounts.delivered, delivery.id, str(status))
            if not fine:
                log.warning("a webhook delivery was given up after %d tries", delivery.tries + 1)
        else:
            again = self._clock() + PAUSES[delivery.tries]
            await asyncio.to_thread(self._accounts.retry_delivery, delivery.id, again)

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
