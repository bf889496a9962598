"""The server as a value: one route table, one error table, and the parts that serve them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from askone._common.lazy_import import lazy_import
from askone.errors import AskoneError
from askone.server import _requests as shape
from askone.server import _responses as given
from askone.server._campaign_view import Front
from askone.server._errors import handle
from askone.server._routing import Row, endpoint
from askone.server._services import Services
from askone.server._uploaded_files import Uploads
from askone.server.config import ServerConfig
from askone.server.openapi import describe
from askone.server.ops import memory
from askone.server.ops.access_log import Watching
from askone.server.ops.metrics import Metrics
from askone.server.ops.warm_up import one_thread, warm
from askone.server.ops.webhooks import Webhooks
from askone.server.routes import accounts, annotators, exports, health, pages
from askone.server.routes import managers as managers
from askone.server.routes import uploads as uploads
from askone.server.routes.pages import lost
from askone.server.security.access import (
    ANSWERING,
    ANYBODY,
    IN_PERSON,
    LISTING,
    MAKING,
    MANAGING,
    MEASURING,
    RULING,
    SIGNED_IN,
    WATCHING,
)
from askone.server.security.authentication import Auth
from askone.server.security.headers import Headers
from askone.server.security.passwords import Passwords
from askone.server.security.rate_limits import Buckets
from askone.server.worker import Worker, Workers
from askone.store.store import Store

if TYPE_CHECKING:
    from askone.campaign import campaign
else:
    campaign = lazy_import("askone.campaign.campaign")

_API, _C, _OUT = "/api/v1", "/api/v1/campaigns/{c}", "/api/v1/campaigns/{c}/export"
log = logging.getLogger("askone.server")
accounts, annotators, exports, health = accounts, annotators, exports, health

# fmt: off
ROUTES: tuple[Row, ...] = (
    # people who answer: first, since paths are tried in this order
    Row("POST", f"{_C}/answers", ANSWERING, annotators.answer, shape.AnswerBody, gives=given.Serving, pace="answers"),
    Row("POST", f"{_C}/next", ANSWERING, annotators.next_question, shape.Nothing, gives=given.Serving, pace="answers"),
    Row("POST", f"{_C}/skips", ANSWERING, annotators.skip, shape.SkipBody, gives=given.Serving, pace="answers"),
    Row("POST", f"{_C}/flags", ANSWERING, annotators.flag, shape.FlagBody, gives=given.Serving, pace="answers"),
    Row("POST", f"{_C}/undo", ANSWERING, annotators.undo, shape.UndoBody, gives=given.Serving, pace="answers"),
    Row("POST", f"{_C}/leases/renew", ANSWERING, annotators.renew, shape.LeasesBody, pace="answers"),
    Row("POST", f"{_C}/leases/release", ANSWERING, annotators.release, shape.LeasesBody, pace="answers"),
    Row("GET", f"{_C}/brief", ANSWERING, annotators.brief),
    Row("GET", f"{_C}/rows/{{position}}/image", ANSWERING, annotators.image, gives=None, pace="answers"),

    # signing in and out
    Row("GET", f"{_API}/me", ANYBODY, accounts.me, gives=given.Me, optional=True),
    Row("POST", f"{_API}/setup", ANYBODY, accounts.set_up, shape.SetUp, gives=given.Me, pace="logins"),
    Row("POST", f"{_API}/login", ANYBODY, accounts.log_in, shape.Login, gives=given.Me, pace="logins"),
    Row("POST", f"{_API}/join", ANYBODY, accounts.join, shape.Join, gives=given.Me, pace="logins", optional=True),
    Row("POST", f"{_API}/logout", IN_PERSON, accounts.log_out, shape.Nothing, gives=given.Ok),
    Row("POST", f"{_API}/me/password", IN_PERSON, accounts.change_password, shape.NewPassword, gives=given.Me),
    Row("DELETE", f"{_API}/me", IN_PERSON, accounts.forget_me, gives=given.Ok),

    # one's own tokens, everybody's accounts
    Row("GET", f"{_API}/tokens", LISTING, accounts.list_tokens, gives=given.Objects),
    Row("POST", f"{_API}/tokens", SIGNED_IN, accounts.add_token, shape.NewToken, gives=given.Secret, status=201),
    Row("DELETE", f"{_API}/tokens/{{id}}", SIGNED_IN, accounts.revoke_token, gives=given.Ok),
    Row("GET", f"{_API}/users", RULING, accounts.list_users, gives=given.Objects),
    Row("POST", f"{_API}/users", RULING, accounts.add_user, shape.NewUser, gives=given.User, status=201),
    Row("PATCH", f"{_API}/users/{{id}}", RULING, accounts.change_user, shape.UserChange, gives=given.User),
    Row("DELETE", f"{_API}/users/{{id}}", RULING, accounts.delete_user, gives=given.Ok),

    # files on their way to become campaigns
    Row("POST", f"{_API}/uploads", MAKING, uploads.receive, status=201, pace="heavy", raw=True),
    Row("POST", f"{_API}/uploads/{{u}}/preview", MAKING, uploads.preview, shape.SettingsBody, pace="heavy"),
    Row("POST", f"{_API}/uploads/{{u}}/forecast", MAKING, uploads.forecast, shape.ForecastBody, pace="heavy"),
    Row("POST", f"{_API}/campaigns", MAKING, uploads.create, shape.NewCampaign, status=201, pace="heavy"),
    Row("POST", f"{_API}/restore", MAKING, exports.restore, query=shape.Restoring, status=201, pace="heavy", raw=True),

    # campaigns
    Row("GET", f"{_API}/campaigns", LISTING, managers.list_campaigns, gives=given.Objects),
    Row("GET", _C, WATCHING, managers.show),
    Row("PATCH", _C, MANAGING, managers.change, shape.CampaignChange),
    Row("DELETE", _C, MANAGING, managers.delete, gives=given.Ok),
    Row("POST", f"{_C}/rows", MANAGING, uploads.add_rows, shape.MoreRows, pace="heavy"),
    Row("GET", f"{_C}/dashboard", WATCHING, managers.dashboard, query=shape.DashboardQuery),
    Row("GET", f"{_C}/predictions", WATCHING, managers.predictions, query=shape.PredictionsQuery, gives=given.Objects),
    Row("GET", f"{_C}/people", WATCHING, managers.people, gives=given.Objects),
    Row("POST", f"{_C}/people/{{id}}/exclude", MANAGING, managers.exclude, shape.Nothing),
    Row("POST", f"{_C}/people/{{id}}/include", MANAGING, managers.include, shape.Nothing),
    Row("GET", f"{_C}/flags", WATCHING, managers.flags, gives=given.Objects),
    Row("GET", f"{_C}/invitations", WATCHING, managers.list_invitations, gives=given.Objects),
    Row("POST", f"{_C}/invitations", MANAGING, managers.invite, shape.NewInvitation, gives=given.Secret, status=201),
    Row("DELETE", f"{_C}/invitations/{{id}}", MANAGING, managers.uninvite, gives=given.Ok),
    Row("GET", f"{_C}/webhooks", WATCHING, managers.list_webhooks, gives=given.Objects),
    Row("POST", f"{_C}/webhooks", MANAGING, managers.add_webhook, shape.NewWebhook, gives=given.Secret, status=201),
    Row("DELETE", f"{_C}/webhooks/{{id}}", MANAGING, managers.remove_webhook, gives=given.Ok),

    # everything to take away
    Row("GET", f"{_OUT}/answers", WATCHING, exports.answers, None, shape.AnswersFormat, None, pace="heavy"),
    Row("GET", f"{_OUT}/predictions", WATCHING, exports.predictions, None, shape.PredictionsFormat, None, pace="heavy"),
    Row("GET", f"{_OUT}/model", WATCHING, exports.model, gives=None, pace="heavy"),
    Row("GET", f"{_OUT}/log", WATCHING, exports.log, gives=None, pace="heavy"),
    Row("GET", f"{_OUT}/backup", WATCHING, exports.whole, gives=None, pace="heavy"),
    Row("POST", f"{_C}/import/label-studio", MANAGING, exports.import_tasks, pace="heavy", raw=True),

    # machines
    Row("GET", "/health/live", ANYBODY, health.live, pace="free"),
    Row("GET", "/health/ready", ANYBODY, health.ready),
    Row("GET", "/metrics", MEASURING, health.metrics, gives=None),
    Row("GET", f"{_API}/openapi.json", SIGNED_IN, health.description),

    # pages
    *(Row("GET", path, ANYBODY, pages.page, gives=None, pace="free") for path in pages.HTML),
    Row("GET", "/static/{path:path}", ANYBODY, pages.static, gives=None, pace="free"),
)
# fmt: on


@final
class Application(Starlette):
    """Starlette with the table's description, and with what is around every response outside of everything."""

    @cached_property
    def description(self) -> dict[str, Any]:
        """See ``openapi.describe``."""
        return describe(ROUTES)

    def build_middleware_stack(self) -> ASGIApp:
        """Headers, the log and metrics see errors of the innermost kind as well."""
        services: Services = self.state.services
        inner = super().build_middleware_stack()
        return Headers(Watching(inner, services.config, services.metrics), services.config)


_OLD = 30  # days after which deliveries that wait are given up, such as those of a time with webhooks


def create_app(store: Store, config: ServerConfig | None = None, owned: bool = False) -> Application:
    """The server of a store, for ``serving.serve`` or any ASGI server; it closes the store in the end if it owns it."""
    services = _services(store, config or ServerConfig())
    app = Application(
        lifespan=_lifespan,
        exception_handlers={AskoneError: lost, HTTPException: lost, TimeoutError: handle, Exception: handle},
    )
    app.router.redirect_slashes = False
    app.state.services, app.state.owned = services, owned
    for row in ROUTES:
        app.router.add_route(row.path, endpoint(row, services), methods=[row.method], include_in_schema=False)
    return app


def _services(store: Store, config: ServerConfig) -> Services:
    metrics, able = Metrics(), asyncio.Event()
    able.set()
    webhooks = Webhooks(store.accounts, config, metrics)

    def opened(name: str) -> Front:
        return Front(campaign.Campaign.open(store, name))

    def worker(name: str) -> Worker:
        return Worker(name, opened, config.store_patience, config.batch, _teller(webhooks, name), metrics.turn)

    paces = {"answers": config.answers, "calls": config.calls, "heavy": config.heavy, "logins": config.logins}
    return Services(
        store=store,
        config=config,
        auth=Auth(store, config),
        passwords=Passwords(),
        workers=Workers(worker, config.idle_seconds),
        uploads=Uploads(config),
        webhooks=webhooks,
        metrics=metrics,
        logins=Buckets(config.logins),
        rates={name: Buckets(rates) for name, rates in paces.items()},
        room=asyncio.Semaphore(2),
        able=able,
    )


def _teller(webhooks: Webhooks, name: str) -> Any:
    """What a turn showed, told to the webhooks."""

    def tell(_: Sequence[Any], results: Sequence[Any]) -> None:
        # Answers and ends are told out of the log; that the budget is spent is not in it.
        if any(isinstance(result, dict) and result["state"] == "spent" for result in results):
            webhooks.spent(name)

    return tell


@final
class _Running:
    """What the servers of a process set for all of it: the first sets it, the last puts it back."""

    def __init__(self) -> None:
        self._lock, self._servers, self._limits = threading.Lock(), 0, contextlib.ExitStack()

    def begin(self) -> contextlib.ExitStack:
        """A server begins; what more it sets goes onto the stack."""
        with self._lock:
            self._servers += 1
            if self._servers == 1:
                # A campaign's thread computes: with the usual 5 ms until it lets the event loop in, requests queue.
                self._limits.callback(sys.setswitchinterval, sys.getswitchinterval())
                sys.setswitchinterval(0.0005)
                one_thread(self._limits)
                self._limits.enter_context(memory.Garbage.seldom())
            return self._limits

    def end(self) -> None:
        """A server ends."""
        with self._lock:
            self._servers -= 1
            if not self._servers:
                self._limits.close()


_RUNNING: Final = _Running()


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    services: Services = app.state.services
    limits, garbage = _RUNNING.begin(), memory.Garbage()
    services.able.clear()
    tasks = [asyncio.create_task(_sweeping(services, garbage)), asyncio.create_task(warm(services, limits, garbage))]
    if services.config.webhooks:
        tasks.append(asyncio.create_task(services.webhooks.run()))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await services.workers.close()
        if app.state.owned:
            services.store.close()
        _RUNNING.end()


async def _sweeping(services: Services, garbage: memory.Garbage) -> None:
    while True:
        services.workers.sweep()
        try:
            await asyncio.to_thread(services.uploads.sweep)
            await asyncio.to_thread(services.store.accounts.end_expired, time.time())
            await asyncio.to_thread(services.store.accounts.drop_old, time.time() - 86400 * _OLD)
            if await asyncio.to_thread(garbage.look, services.workers.busy):
                await asyncio.to_thread(memory.give_back_rest)
        except OSError:  # the store is away, or another process swept the same file: next time
            log.warning("sweeping was put off")
        await asyncio.sleep(60)
