"""The server as a value: one route table, one error table, and the parts that serve them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any, Final, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from askone.campaign.lazy import campaign
from askone.errors import AskoneError
from askone.server._campaign_service import PATIENCE, CampaignService
from askone.server._context import Services
from askone.server._responses import ServingResponse
from askone.server._routing import Route, endpoint, handle_error
from askone.server._upload_folder import Uploads
from askone.server.config import ServerConfig
from askone.server.heavy.comparisons import KeptComparisons
from askone.server.heavy.fits_beside import FitsBeside
from askone.server.heavy.work import HeavyWork
from askone.server.openapi import describe
from askone.server.ops import memory
from askone.server.ops.access_log import AccessLogMiddleware
from askone.server.ops.background import BackgroundLoops
from askone.server.ops.metrics import Metrics
from askone.server.ops.steady_clock import SteadyClock
from askone.server.ops.threads import make_room_for_look_ups
from askone.server.ops.warm_up import limit_blas_threads, warm_up
from askone.server.ops.webhooks import Webhooks
from askone.server.ops.write_probe import WriteProbe
from askone.server.routes import accounts, annotators, exports, health, managers, pages, pictures, reviews, uploads
from askone.server.routes.pages import error_page
from askone.server.security import access
from askone.server.security.authentication import Auth
from askone.server.security.headers import SecurityHeadersMiddleware
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import RateLimiter
from askone.server.worker import Worker, Workers
from askone.store.store import Store

_API, _C, _OUT = "/api/v1", "/api/v1/campaigns/{c}", "/api/v1/campaigns/{c}/export"
log = logging.getLogger("askone.server")

# fmt: off
ROUTES: tuple[Route, ...] = (
    # people who answer: first, since paths are tried in this order
    Route("POST", f"{_C}/answers", access.ANNOTATE, annotators.answer, limit="answers"),
    Route("POST", f"{_C}/bags", access.ANNOTATE, annotators.answer_bag, limit="answers"),
    Route("POST", f"{_C}/next", access.ANNOTATE, annotators.next_question, limit="answers"),
    Route("POST", f"{_C}/skips", access.ANNOTATE, annotators.skip, limit="answers"),
    Route("POST", f"{_C}/flags", access.ANNOTATE, annotators.flag, limit="answers"),
    Route("POST", f"{_C}/undo", access.ANNOTATE, annotators.undo, limit="answers"),
    Route("POST", f"{_C}/leases/renew", access.ANNOTATE, annotators.renew, limit="answers"),
    Route("POST", f"{_C}/leases/release", access.ANNOTATE, annotators.release, limit="answers"),
    Route("GET", f"{_C}/brief", access.ANNOTATE, annotators.brief),
    Route("GET", f"{_C}/leases/{{lease}}/image", access.ANNOTATE, pictures.image, limit="answers"),
    Route("GET", f"{_C}/examples/{{position}}/image", access.ANNOTATE, pictures.example_image, limit="answers"),

    # signing in and out
    Route("GET", f"{_API}/me", access.PUBLIC, accounts.me, limit="joins", optional=True),
    Route("POST", f"{_API}/setup", access.PUBLIC, accounts.set_up, limit="sign_ins"),
    Route("POST", f"{_API}/login", access.PUBLIC, accounts.log_in, limit="sign_ins"),
    Route("POST", f"{_API}/join", access.PUBLIC, accounts.join, limit="joins", optional=True),
    Route("POST", f"{_API}/invited", access.PUBLIC, accounts.invited, limit="joins", optional=True),
    Route("POST", f"{_API}/logout", access.SESSION_ONLY, accounts.log_out),
    Route("POST", f"{_API}/me/password", access.SESSION_ONLY, accounts.change_password),
    Route("DELETE", f"{_API}/me", access.SESSION_ONLY, accounts.forget_me),

    # one's own tokens, everybody's accounts
    Route("GET", f"{_API}/tokens", access.READ_OWN, accounts.list_tokens),
    Route("POST", f"{_API}/tokens", access.SESSION_ONLY, accounts.add_token, status=201),
    Route("DELETE", f"{_API}/tokens/{{id}}", access.SESSION_ONLY, accounts.revoke_token),
    Route("GET", f"{_API}/users", access.ADMINISTER, accounts.list_users),
    Route("POST", f"{_API}/users", access.ADMIT, accounts.add_user, status=201),
    Route("PATCH", f"{_API}/users/{{id}}", access.ADMIT, accounts.change_user),
    Route("DELETE", f"{_API}/users/{{id}}", access.ADMIT, accounts.delete_user),
    Route("DELETE", f"{_API}/users/{{id}}/tokens", access.ADMIT, accounts.revoke_access),

    # files on their way to become campaigns
    Route("POST", f"{_API}/uploads", access.CREATE, uploads.receive, status=201, limit="heavy", raw=True),
    Route("POST", f"{_API}/uploads/{{u}}/preview", access.CREATE, uploads.preview, limit="heavy"),
    Route("POST", f"{_API}/uploads/{{u}}/forecast", access.CREATE, uploads.forecast, limit="heavy"),
    Route("POST", f"{_API}/campaigns", access.CREATE, uploads.create, status=201, limit="heavy"),
    Route("POST", f"{_API}/restore", access.CREATE, exports.restore, status=201, limit="heavy", raw=True),

    # campaigns
    Route("GET", f"{_API}/campaigns", access.READ_OWN, managers.list_campaigns),
    Route("GET", _C, access.READ, managers.show),
    Route("PATCH", _C, access.MANAGE, managers.change),
    Route("DELETE", _C, access.MANAGE, managers.delete),
    Route("POST", f"{_C}/rows", access.MANAGE, uploads.add_rows, limit="heavy"),
    Route("GET", f"{_C}/dashboard", access.READ, managers.dashboard),
    Route("GET", f"{_C}/predictions", access.READ, managers.predictions),
    Route("GET", f"{_C}/rows", access.READ, managers.browse),
    Route("GET", f"{_C}/rows/{{position}}/image", access.READ, pictures.row_image, limit="answers"),
    Route("GET", f"{_C}/estimate", access.READ, exports.estimate, limit="heavy"),
    Route("GET", f"{_C}/comparison", access.READ, exports.compare, limit="heavy"),
    Route("GET", f"{_C}/people", access.READ, managers.people),
    Route("POST", f"{_C}/people/{{id}}/exclude", access.MANAGE, managers.exclude),
    Route("POST", f"{_C}/people/{{id}}/include", access.MANAGE, managers.include),
    Route("POST", f"{_C}/people/{{id}}/resume", access.MANAGE, managers.resume),
    Route("GET", f"{_C}/members", access.READ, managers.list_members),
    Route("DELETE", f"{_C}/members/{{id}}", access.MANAGE, managers.remove_member),
    Route("GET", f"{_C}/answers", access.READ, reviews.answers),
    Route("GET", f"{_C}/rows/{{position}}/history", access.READ, reviews.history),
    Route("POST", f"{_C}/questions/{{number}}/ruling", access.MANAGE, reviews.rule),
    Route("GET", f"{_C}/flags", access.READ, reviews.flags),
    Route("POST", f"{_C}/flags/{{id}}/resolve", access.MANAGE, reviews.resolve),
    Route("GET", f"{_C}/invitations", access.READ, managers.list_invitations),
    Route("POST", f"{_C}/invitations", access.MANAGE, managers.invite, status=201),
    Route("DELETE", f"{_C}/invitations/{{id}}", access.MANAGE, managers.uninvite),
    Route("GET", f"{_C}/webhooks", access.READ, managers.list_webhooks),
    Route("POST", f"{_C}/webhooks", access.MANAGE, managers.add_webhook, status=201),
    Route("DELETE", f"{_C}/webhooks/{{id}}", access.MANAGE, managers.remove_webhook),

    # everything to take away
    Route("GET", f"{_OUT}/answers", access.READ, exports.answers, limit="heavy"),
    Route("GET", f"{_OUT}/predictions", access.READ, exports.predictions, limit="heavy"),
    Route("GET", f"{_OUT}/model", access.READ, exports.model, limit="heavy"),
    Route("GET", f"{_OUT}/log", access.READ, exports.log, limit="heavy"),
    Route("GET", f"{_OUT}/backup", access.READ, exports.whole, limit="heavy"),
    Route("POST", f"{_C}/import/label-studio", access.MANAGE, exports.import_tasks, limit="heavy", raw=True),

    # machines
    Route("GET", "/health/live", access.PUBLIC, health.live, limit="free"),
    Route("GET", "/health/ready", access.PUBLIC, health.ready),
    Route("GET", "/metrics", access.READ_METRICS, health.metrics),
    Route("GET", f"{_API}/openapi.json", access.SIGNED_IN, health.description),

    # pages
    *(Route("GET", path, access.PUBLIC, pages.page, limit="free") for path in (pages.ANSWER, *pages.SCRIPTED)),
    Route("GET", "/static/{path:path}", access.PUBLIC, pages.static, limit="free"),
)
# fmt: on


@final
class Application(Starlette):
    """Starlette with the table's description, and with middleware outside of everything."""

    @cached_property
    def description(self) -> dict[str, Any]:
        return describe(ROUTES)

    def build_middleware_stack(self) -> ASGIApp:
        """Put headers, the log and metrics outside, where they see errors of the innermost kind as well."""
        services: Services = self.state.services
        inner = super().build_middleware_stack()
        return SecurityHeadersMiddleware(AccessLogMiddleware(inner, services.config, services.metrics), services.config)


_CHECKPOINT = 1.0  # seconds between two: at 300 answers a second a thousand pages or two are written meanwhile
_MAX_DELIVERY_DAYS = 30  # days after which deliveries that wait are given up, such as those of a time with webhooks


def create_app(store: Store, config: ServerConfig | None = None, owned: bool = False) -> Application:
    """Return the server of a store, for any ASGI server; it closes the store in the end if it owns it."""
    services = _services(store, config or ServerConfig())
    app = Application(
        lifespan=_lifespan,
        exception_handlers={
            AskoneError: error_page,
            HTTPException: error_page,
            TimeoutError: handle_error,
            Exception: handle_error,
        },
    )
    app.router.redirect_slashes = False
    app.state.services, app.state.owned = services, owned
    for route in ROUTES:
        app.router.add_route(route.path, endpoint(route, services), methods=[route.method], include_in_schema=False)
    return app


def _services(store: Store, config: ServerConfig) -> Services:
    metrics, ready, folder = Metrics(), asyncio.Event(), Uploads(config)
    ready.set()
    webhooks, fits = Webhooks(store.accounts, config, metrics), FitsBeside(config)

    def open_campaign(name: str) -> CampaignService:
        return CampaignService(campaign.Campaign.open(store, name, patience=PATIENCE), fits.consider)

    def worker(name: str) -> Worker:
        def tell(_: Sequence[Any], results: Sequence[Any]) -> None:
            # Answers and ends are told out of the log; that the budget is spent is not in it.
            if any(isinstance(result, ServingResponse) and result.state == "spent" for result in results):
                webhooks.spent(name)

        return Worker(name, open_campaign, config.store_patience, config.batch, tell, metrics.batch)

    rates = {"answers": config.answers, "calls": config.calls, "heavy": config.heavy}
    rates |= {"joins": config.joins, "sign_ins": config.sign_ins, "logins": config.logins}
    return Services(
        store=store,
        config=config,
        auth=Auth(store, config),
        passwords=Passwords(),
        workers=Workers(worker, config.idle_seconds),
        uploads=folder,
        webhooks=webhooks,
        metrics=metrics,
        login_limiter=RateLimiter(config.logins),
        limiters={name: RateLimiter(rate) for name, rate in rates.items()},
        heavy=HeavyWork(store, config),
        fits=fits,
        comparisons=KeptComparisons(),
        background=BackgroundLoops(),
        write_probe=WriteProbe(store, folder),
        ready=ready,
    )


@final
class _ProcessSettings:
    """Settings of the whole process: the first server makes them, the last one undoes them."""

    def __init__(self) -> None:
        self._lock, self._servers, self._limits = threading.Lock(), 0, contextlib.ExitStack()

    def begin(self) -> contextlib.ExitStack:
        """Note that a server begins; what more it sets goes onto the stack."""
        with self._lock:
            self._servers += 1
            if self._servers == 1:
                # A campaign's thread computes: with the usual 5 ms until it lets the event loop in, requests queue.
                self._limits.callback(sys.setswitchinterval, sys.getswitchinterval())
                sys.setswitchinterval(0.0005)
                limit_blas_threads(self._limits)
                self._limits.enter_context(memory.GarbageCollector.rarely())
            return self._limits

    def end(self) -> None:
        """Note that a server ends."""
        with self._lock:
            self._servers -= 1
            if not self._servers:
                self._limits.close()


_PROCESS: Final = _ProcessSettings()


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    services: Services = app.state.services
    limits, garbage = _PROCESS.begin(), memory.GarbageCollector()
    services.ready.clear()
    make_room_for_look_ups()
    loops: dict[str, Callable[[], Awaitable[None]]] = {
        "sweep": lambda: _sweep(services, garbage),
        "checkpoints": lambda: _checkpoints(services),
    }
    if services.config.webhooks:
        loops["webhooks"] = services.webhooks.run
    tasks = [asyncio.create_task(services.background.keep_running(name, loop)) for name, loop in loops.items()]
    tasks.append(asyncio.create_task(warm_up(services, limits, garbage)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await services.workers.close()
        services.heavy.close()
        await asyncio.to_thread(services.fits.close)
        services.webhooks.close()
        services.uploads.close()
        if app.state.owned:
            services.store.close()
        _PROCESS.end()


async def _sweep(services: Services, garbage: memory.GarbageCollector) -> None:
    clock = SteadyClock()
    while True:
        services.workers.sweep()
        await services.heavy.sweep()
        services.fits.sweep()
        try:
            await _delete_old(services, clock)
            if await asyncio.to_thread(garbage.collect, services.workers.busy):
                await asyncio.to_thread(memory.give_back_rest)
        except OSError:  # the store is away, or another process swept the same file: next time
            log.warning("sweeping was put off")
        await asyncio.sleep(60)


async def _checkpoints(services: Services) -> None:
    while True:
        await asyncio.sleep(_CHECKPOINT)
        call = asyncio.ensure_future(asyncio.to_thread(services.store.checkpoint))
        try:
            await asyncio.shield(call)
        except OSError:  # the store is away: next time
            log.debug("a checkpoint was put off")
        finally:
            await asyncio.wait({call})  # the store is closed after this


async def _delete_old(services: Services, clock: SteadyClock) -> None:
    now = clock.now()
    if now is not None:
        await asyncio.to_thread(services.uploads.sweep)
        await asyncio.to_thread(services.store.accounts.end_expired, now)
        await asyncio.to_thread(services.store.accounts.drop_old, now - 86400 * _MAX_DELIVERY_DAYS)
