"""Numbers for Prometheus, of this process; nothing in them names a person or a campaign."""

from __future__ import annotations

from typing import final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CONTENT_TYPE = CONTENT_TYPE_LATEST


@final
class Metrics:
    """A registry of its own, so that several apps in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        names = ("method", "route", "status")
        self._requests = Counter("askone_requests", "Requests served", names, registry=self.registry)
        self._seconds = Histogram(
            "askone_request_seconds", "Time to serve a request", ("route",), buckets=_FAST, registry=self.registry
        )
        self._turns = Histogram("askone_turn_seconds", "Time of a durable turn", buckets=_FAST, registry=self.registry)
        self._commands = Counter("askone_turn_commands", "Commands in turns", registry=self.registry)
        self.answers = Counter("askone_answers", "Answers taken in", registry=self.registry)
        self.unavailable = Counter("askone_store_unavailable", "Requests answered with 503", registry=self.registry)
        self.deliveries = Counter(
            "askone_webhook_deliveries", "Webhook deliveries tried", ("outcome",), registry=self.registry
        )
        self.campaigns = Gauge("askone_open_campaigns", "Campaigns in use", registry=self.registry)
        # Looking up a child by its labels takes longer than counting.
        self._counters: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        pair = self._counters.get((method, route, status))
        if pair is None:
            pair = (self._requests.labels(method, route, str(status)), self._seconds.labels(route))
            self._counters[method, route, status] = pair
        pair[0].inc()
        pair[1].observe(seconds)
        if status == 503:
            self.unavailable.inc()

    def batch(self, commands: int, seconds: float) -> None:
        """Count a batch of commands."""
        self._turns.observe(seconds)
        self._commands.inc(commands)

    def text(self) -> bytes:
        """Return all numbers, as Prometheus reads them."""
        return generate_latest(self.registry)
