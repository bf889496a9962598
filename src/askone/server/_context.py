"""What handlers work with: the services of a process, and the context of a request."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import cast, final

from starlette.requests import Request

from askone.server._campaign_service import CampaignService
from askone.server._errors import ApiError, unauthorized
from askone.server._upload_folder import Uploads
from askone.server.config import ServerConfig
from askone.server.heavy.comparisons import KeptComparisons
from askone.server.heavy.fits_beside import FitsBeside
from askone.server.heavy.work import HeavyWork
from askone.server.ops.background import BackgroundLoops
from askone.server.ops.metrics import Metrics
from askone.server.ops.webhooks import Webhooks
from askone.server.ops.write_probe import WriteProbe
from askone.server.security.access import CurrentUser
from askone.server.security.authentication import Auth
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import RateLimiter
from askone.server.worker import Worker, Workers
from askone.store.accounts.accounts import Accounts
from askone.store.store import Store

_FOR_FILES, _PATIENT, _AGAIN, _LOOK = 300.0, 20.0, 5.0, 0.2
"""Seconds for which a request for a file waits for a model that is made anew, and another one; when to come again, and
from one look to the next."""


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
    heavy: HeavyWork
    """What takes long: few at the same time, as people who answer go first."""
    fits: FitsBeside
    comparisons: KeptComparisons
    background: BackgroundLoops
    write_probe: WriteProbe
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

    async def whole_model(self, for_file: bool = False) -> None:
        """Wait, while the campaign's model is made anew, until it is: what is handed out rests on the new one."""
        until = time.monotonic() + (_FOR_FILES if for_file else _PATIENT)
        await self.worker.run(CampaignService.refreshed)
        while (anew := await self.worker.run(CampaignService.anew)) is not None:
            if time.monotonic() > until:
                learnt, of = anew
                told = "The model is being made anew, as answers were left out or changed"
                raise ApiError(503, "made_anew", f"{told}: {learnt} of {of} steps are learnt.", wait=_AGAIN)
            await asyncio.sleep(_LOOK)

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def path_param(self, name: str) -> str:
        """Return a part of the path."""
        return cast(str, self.request.path_params[name])
