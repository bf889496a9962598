"""Warm up a server: load what asks, then open the latest campaigns, then load the rest.

The server answers meanwhile, and rightly, since a module that is not there yet is loaded by whoever needs it.
It is ready when what asks is loaded: the first question then takes as long as its campaign takes to open.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from askone._common.lazy_import import import_now
from askone.campaign import lazy
from askone.server._campaign_service import CampaignService
from askone.server._context import Services
from askone.server.ops.memory import GarbageCollector
from askone.server.worker import Worker
from askone.store.store import Store

CAMPAIGNS = 4
"""How many are opened when a server starts."""
_PAUSE = 1.0  # seconds: whoever has waited for the server gets a first question undisturbed
_ASKING = ("askone.campaign.campaign",)
_REST = tuple(vars(lazy)[name].__name__ for name in lazy.__all__)


async def warm_up(services: Services, limits: contextlib.ExitStack, garbage: GarbageCollector) -> None:
    """Load and open all of it, in the background.  ``limits`` keeps BLAS to one thread, also in later libraries."""
    try:
        latest = await asyncio.to_thread(_latest, services.store)
        if latest:
            await _import_all(_ASKING, limits)
            # What numba loads before the first compiled call, whichever it is.
            await asyncio.to_thread(lambda: import_now("askone.learners.step_loops").rounded(0.5, 0))
    finally:
        services.ready.set()
    for name in latest:  # one that cannot be opened says so to whoever wants it
        await asyncio.gather(_opened(services.workers[name]), return_exceptions=True)
    await asyncio.sleep(_PAUSE)
    await _import_all(_REST, limits)
    garbage.freeze()


async def _opened(worker: Worker) -> None:
    """Open a campaign, and load what its questions need beside: people may wait for it already."""
    service: CampaignService = await worker.run(lambda service: service)
    await asyncio.to_thread(service.warm_up)


def limit_blas_threads(limits: contextlib.ExitStack) -> None:
    """Small products, one after the other: BLAS's own threads would only wait for each other."""
    limits.enter_context(threadpool_limits(1))


def _latest(store: Store) -> list[str]:
    return [record.name for record in sorted(store.campaigns(), key=lambda one: -one.created)[:CAMPAIGNS]]


async def _import_all(modules: Sequence[str], limits: contextlib.ExitStack) -> None:
    for module in modules:
        await asyncio.to_thread(import_now, module)
    limit_blas_threads(limits)
