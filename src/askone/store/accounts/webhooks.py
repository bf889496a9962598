"""Webhooks, how far in a log each has been told, and what waits to be delivered to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from askone.store._codec import Line
from askone.store._database import ENTRY_COLUMNS
from askone.store.accounts.users import Repository, keepable
from askone.store.entries import Entry


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
    """A delivery to a webhook, after so many tries."""

    id: str
    webhook: str
    url: str
    secret: str = field(repr=False)
    body: str
    tries: int


@final
@dataclass(frozen=True)
class WebhookCursor:
    """How far in its campaign's log, which ends at ``head``, a webhook was told (None: nobody noted it), and whether it
    knows that the budget is spent."""

    webhook: str
    campaign: str
    number: int
    events: tuple[str, ...]
    seq: int | None
    spent: bool
    head: int


_WEBHOOK = "SELECT id, url, secret, events, status FROM webhooks WHERE campaign = ? ORDER BY id"
_DUE = """SELECT d.id, d.webhook, w.url, w.secret, d.body, d.tries FROM deliveries d JOIN webhooks w ON w.id = d.webhook
    WHERE d.due <= ? ORDER BY d.due, d.id LIMIT ?"""
_PLACES = """SELECT w.id, c.name, c.id, w.events, s.value, (SELECT max(e.seq) FROM entries e WHERE e.campaign = c.id)
    FROM webhooks w JOIN campaigns c ON c.id = w.campaign LEFT JOIN settings s ON s.name = 'told ' || w.id
    WHERE c.name IS NOT NULL ORDER BY w.id"""
_BEGIN = """INSERT INTO settings SELECT ?, coalesce(max(seq), 0) || ' 0' FROM entries WHERE campaign = ?
    ON CONFLICT (name) DO NOTHING"""
PUT_SETTING = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_QUEUE = "INSERT INTO deliveries (id, webhook, body, due, tries) VALUES (?, ?, ?, ?, 0) ON CONFLICT (id) DO NOTHING"
_ORPHANS = """DELETE FROM settings
    WHERE substr(name, 1, 5) = 'told ' AND substr(name, 6) NOT IN (SELECT id FROM webhooks)"""
HOLD = 60.0
"""Seconds for which whoever takes a delivery has it; after that somebody else may try."""


class WebhookRepository(Repository):
    """Webhooks and deliveries."""

    def add_webhook(self, id: str, campaign: str, url: str, secret: str, events: Sequence[str]) -> None:
        """Tell an address of some kinds of events of a campaign, from now on."""
        number = self._campaign(campaign)
        self._run(_BEGIN, f"told {id}", number)
        hook = {"id": id, "campaign": number, "url": url, "secret": secret, "status": ""}
        self._add("webhooks", "the id of the webhook", {**hook, "events": " ".join(events)})

    def webhooks(self, campaign: str) -> list[Webhook]:
        """Return all webhooks of a campaign."""
        found = self._read(_WEBHOOK, self._campaign(campaign))
        return [
            Webhook(id, campaign, url, secret, tuple(events.split()), status)
            for id, url, secret, events, status in found
        ]

    def remove_webhook(self, id: str, campaign: str) -> bool:
        """Remove a webhook of this campaign and what waits for it; whether there was one."""
        gone = self._run("DELETE FROM webhooks WHERE id = ? AND campaign = ?", id, self._campaign(campaign)) > 0
        if gone:
            self._run("DELETE FROM settings WHERE name = ?", f"told {id}")
        return gone

    def places(self) -> list[WebhookCursor]:
        """Return how far each webhook was told."""
        found = []
        for id, campaign, number, events, kept, head in self._read(_PLACES):
            seq, spent = (None, "0") if kept is None else kept.split()
            place = None if seq is None else int(seq)
            found.append(WebhookCursor(id, campaign, number, tuple(events.split()), place, spent == "1", head or 0))
        return found

    def news(self, place: WebhookCursor, kinds: Sequence[str], limit: int) -> list[Entry]:
        """Return the first entries of these kinds that a webhook was not told of."""
        among = ", ".join("?" for _ in kinds)
        query = f"""SELECT {ENTRY_COLUMNS} FROM entries
            WHERE campaign = ? AND seq > ? AND seq <= ? AND kind IN ({among}) ORDER BY seq LIMIT ?"""
        found = self._read(query, place.number, place.seq or 0, place.head, *kinds, limit)
        return [Line(*record).entry() for record in found]

    def tell(self, place: WebhookCursor, seq: int, spent: bool, told: Sequence[tuple[str, str]], at: float) -> bool:
        """Queue deliveries (id, body) and note how far they go, both or neither; False if somebody else was faster."""
        name, before = f"told {place.webhook}", None if place.seq is None else f"{place.seq} {int(place.spent)}"
        with self._database.transaction(lock="deliveries") as session:
            kept = session.fetch("SELECT value FROM settings WHERE name = ?", (name,))
            there = session.fetch("SELECT 1 FROM webhooks WHERE id = ?", (place.webhook,))
            if not there or (kept[0][0] if kept else None) != before:
                return False
            session.run(PUT_SETTING, (name, f"{seq} {int(spent)}"))
            session.many(_QUEUE, [(id, place.webhook, body, at) for id, body in told])
        return True

    def drop_old(self, before: float) -> int:
        """Give up deliveries that have been due since before this time; how many."""
        self._run(_ORPHANS)
        return self._run("DELETE FROM deliveries WHERE due < ?", before)

    def queue_delivery(self, id: str, webhook: str, body: str, at: float) -> None:
        """Queue a delivery, to be sent from ``at`` on; not if it is queued already or the webhook is gone."""
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
