"""What handlers work with: the services of a process, the context of a request, JSON responses."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast, final

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from askone.server._errors import unauthorized
from askone.server._upload_folder import Uploads
from askone.server.config import ServerConfig
from askone.server.ops.metrics import Metrics
from askone.server.ops.webhooks import Webhooks
from askone.server.security.access import CurrentUser
from askone.server.security.authentication import Auth
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import RateLimiter
from askone.server.worker import Worker, Workers
from askone.store.accounts.accounts import Accounts
from askone.store.store import Store

T = TypeVar("T", covariant=True)


def _fields(model: BaseModel) -> dict[str, Any]:
    return model.model_dump()


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_fields)


@final
@dataclass(frozen=True, eq=False)
class Services:
    """The parts of one server process, shared by its requests."""

    store: Store
    config: ServerConfig
    auth: Auth
    passwords: Passwords
    workers: Workers
    uploads: Uploads
    webhooks: Webhooks
    metrics: Metrics
    login_limiter: RateLimiter
    limiters: dict[str, RateLimiter]
    heavy_slots: asyncio.Semaphore
    """SampleTable may compute for long at the same time: people who answer go first."""
    ready: asyncio.Event
    """Set unless what asks is still being loaded, when a server has just started."""


@final
@dataclass(frozen=True, eq=False)
class RequestContext:
    """A request that was admitted: who sends it, what it says, and the services to handle it with."""

    request: Request
    services: Services
    optional_user: CurrentUser | None
    role: str | None = None

    @property
    def user(self) -> CurrentUser:
        """Who is signed in; the route's rule has seen to it that somebody is."""
        if self.optional_user is None:
            raise unauthorized()
        return self.optional_user

    @property
    def store(self) -> Store:
        """The store."""
        return self.services.store

    @property
    def accounts(self) -> Accounts:
        """The store's accounts."""
        return self.services.store.accounts

    @property
    def campaign_name(self) -> str:
        """The campaign that the path names."""
        return self.path_param("c")

    @property
    def worker(self) -> Worker:
        """The worker of that campaign."""
        return self.services.workers[self.campaign_name]

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def path_param(self, name: str) -> str:
        """Return a part of the path."""
        return cast(str, self.request.path_params[name])


@final
class JsonResponse(Response, Generic[T]):
    """A response whose body is a model, or plain JSON values; handlers that need no header return the body itself."""

    media_type = "application/json"

    def __init__(self, body: T, status: int = 200, known_tag: str | None = None) -> None:
        """``known_tag`` is the tag of what a page that polls has already: the same content is not sent again."""
        content, headers = _ENCODER.encode(body).encode("utf-8", "replace"), {}
        if known_tag is not None:
            headers["ETag"] = tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
            if known_tag.removeprefix("W/") == tag:  # a proxy that compresses makes the tag a weak one
                content, status = b"", 304
        super().__init__(content, status, headers)
