"""What routes work with: the parts of a server, and the call that is being served."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast, final

from starlette.requests import Request
from starlette.responses import Response

from askone.server._errors import unauthorized
from askone.server._uploaded_files import Uploads
from askone.server.config import ServerConfig
from askone.server.ops.metrics import Metrics
from askone.server.ops.webhooks import Webhooks
from askone.server.security.access import Person
from askone.server.security.authentication import Auth
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import Buckets
from askone.server.worker import Worker, Workers
from askone.store.accounts.accounts import Accounts
from askone.store.store import Store

P = ParamSpec("P")
T = TypeVar("T")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@final
@dataclass(frozen=True, eq=False)
class Services:
    """The parts of one server process."""

    store: Store
    config: ServerConfig
    auth: Auth
    passwords: Passwords
    workers: Workers
    uploads: Uploads
    webhooks: Webhooks
    metrics: Metrics
    logins: Buckets
    rates: dict[str, Buckets]
    room: asyncio.Semaphore
    """Few may compute for long at the same time: people who answer go first."""
    able: asyncio.Event
    """Set unless what asks is still being loaded, when a server has just started."""


@final
@dataclass(frozen=True, eq=False)
class Call:
    """A request that was let in: who sends it, what it says, and the parts to serve it with."""

    request: Request
    services: Services
    somebody: Person | None
    body: Any = None
    query: Any = None
    role: str | None = None

    @property
    def person(self) -> Person:
        """Who is signed in; the route's rule has seen to it that somebody is."""
        if self.somebody is None:
            raise unauthorized()
        return self.somebody

    @property
    def store(self) -> Store:
        """The store."""
        return self.services.store

    @property
    def accounts(self) -> Accounts:
        """The store's accounts."""
        return self.services.store.accounts

    @property
    def campaign(self) -> str:
        """The campaign that the path names."""
        return self.part("c")

    @property
    def worker(self) -> Worker:
        """The worker of that campaign."""
        return self.services.workers[self.part("c")]

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def part(self, name: str) -> str:
        """A part of the path."""
        return cast(str, self.request.path_params[name])


async def away(step: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """A step that waits for the store or computes for long, off the event loop."""
    return await asyncio.to_thread(step, *args, **named)


def reply(value: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(_ENCODER.encode(value).encode("utf-8", "replace"), status, media_type="application/json")


def unless_known(call: Call, value: Any) -> Response:
    """A JSON response with a mark of its content; 304 and nothing for whoever has it already: a page that polls."""
    response = reply(value)
    mark = f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
    # A proxy that compresses makes the mark a weak one.
    known = call.request.headers.get("if-none-match", "").removeprefix("W/") == mark
    response.headers["ETag"] = mark
    return Response(status_code=304, headers={"ETag": mark}) if known else response
