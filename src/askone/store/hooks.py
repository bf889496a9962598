"""Webhooks, and what waits to be delivered to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from askone.store.people import Keeper, keepable


@final
@dataclass(frozen=True)
class Webhook:
    """An address that is told of events; ``secret`` signs what it is told, ``status`` is how the last delivery went."""

    id: str
    campaign: str
    url: str
    secret: str = field(repr=False)
    events: tuple[str, ...]
    status: str = ""


@final
@dataclass(frozen=True)
class Delivery:
    """Something to deliver, after so many tries."""

    id: str
    webhook: str
    url: str
    secret: str = field(repr=False)
    body: str
    tries: int


_WEBHOOK = "SELECT id, url, secret, events, status FROM webhooks WHERE campaign = ? ORDER BY id"
_DUE = """SELECT d.id, d.webhook, w.url, w.secret, d.body, d.tries FROM deliveries d JOIN webhooks w ON w.id = d.webhook
    WHERE d.due <= ? ORDER BY d.due, d.id LIMIT ?"""
HOLD = 60.0
"""Seconds for which whoever takes a delivery has it; after that somebody else may try."""


class Hooks(Keeper):
    """Webhooks and deliveries."""

    def add_webhook(self, id: str, campaign: str, url: str, secret: str, events: Sequence[str]) -> None:
        """Tell an address of some kinds of events of a campaign."""
        hook = {"id": id, "campaign": self._campaign(campaign), "url": url, "secret": secret, "status": ""}
        self._add("webhooks", "the id of the webhook", {**hook, "events": " ".join(events)})

    def webhooks(self, campaign: str) -> list[Webhook]:
        """All webhooks of a campaign."""
        found = self._read(_WEBHOOK, self._campaign(campaign))
        return [
            Webhook(id, campaign, url, secret, tuple(events.split()), status)
            for id, url, secret, events, status in found
        ]

    def remove_webhook(self, id: str, campaign: str) -> bool:
        """Remove a webhook of this campaign and what waits for it; whether there was one."""
        return self._run("DELETE FROM webhooks WHERE id = ? AND campaign = ?", id, self._campaign(campaign)) > 0

    def queue_delivery(self, id: str, webhook: str, body: str, at: float) -> None:
        """Let something be delivered from ``at`` on; nothing where it waits already or the webhook is gone."""
        self._run(
            """INSERT INTO deliveries (id, webhook, body, due, tries)
            SELECT ?, id, ?, ?, 0 FROM webhooks WHERE id = ? ON CONFLICT (id) DO NOTHING""",
            *(id, body, at, webhook),
        )

    def due_deliveries(self, now: float, limit: int) -> list[Delivery]:
        """Take what is due; nobody else gets it for a minute, nor afterwards if its end is noted."""
        with self._database.transaction(lock="deliveries") as session:
            found = session.fetch(_DUE, (now, limit))
            for record in found:
                session.run("UPDATE deliveries SET due = ? WHERE id = ?", (now + HOLD, record[0]))
        return [Delivery(*record) for record in found]

    def delivered(self, id: str, status: str) -> None:
        """Note the end of a delivery, good or bad: it is not tried again."""
        keepable((id, status))
        with self._database.transaction() as session:
            query = "UPDATE webhooks SET status = ? WHERE id = (SELECT webhook FROM deliveries WHERE id = ?)"
            session.run(query, (status, id))
            session.run("DELETE FROM deliveries WHERE id = ?", (id,))

    def retry_delivery(self, id: str, at: float) -> None:
        """Try once more, at this time."""
        self._run("UPDATE deliveries SET due = ?, tries = tries + 1 WHERE id = ?", at, id)
