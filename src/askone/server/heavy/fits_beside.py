"""Fits of campaigns' models, made beside: nobody who answers waits for one.

A process of its own makes them, one after the other; it gives way to everybody else.  A learner that this program has
registered is not known to another process, and is fitted in a thread.  A fit that is made goes into the campaign's log,
and takes effect there.

The thread here does not give way: it holds the interpreter now and then, and whoever serves would wait until it gets a
processor again.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import final

from askone._common.packed_arrays import digest, packed_parts
from askone.campaign.engine.commands import TakeFit
from askone.campaign.engine.training_set import DueFit
from askone.campaign.lazy import campaign as campaigns
from askone.errors import InvalidFile, UnknownCampaign
from askone.learners import registry
from askone.server._upload_folder import FIT
from askone.server.config import ServerConfig
from askone.server.heavy.work import Child
from askone.session.checkpoints import Fit, fit_of

_IDLE = 120.0  # seconds
_NEXT, _PAUSE = 1.0, 0.05
"""Seconds to take a fit over, then it is seen whether another is due; and to wait where others learn already."""


@final
class FitsBeside:
    """Makes the fits of one server process's campaigns in the background."""

    def __init__(self, config: ServerConfig) -> None:
        self._config, self._closed = config, False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fits")
        self._begun: set[str] = set()
        self._child: Child | None = None
        """Of use to the one thread; others may kill it."""

    def consider(self, campaign: campaigns.Campaign) -> None:
        """Begin the fit that is due, unless one of this campaign is being made; returns at once."""
        if self._closed or campaign.name in self._begun:
            return
        due = campaign.due_fit()
        if due is not None or campaign.anew is not None:
            self._begun.add(campaign.name)
            self._thread.submit(self._make, campaign, due).add_done_callback(partial(self._made, campaign))

    def _make(self, campaign: campaigns.Campaign, due: DueFit | None) -> None:
        """Make a fit if one is due, and learn what comes after it: perhaps nobody comes any more who would."""
        if due is None:
            time.sleep(_PAUSE)
        else:
            fit = fit_of(due.learner, due.state) if registry.names() else self._in_child(campaign, due)
            campaign.serve([TakeFit(due, fit)], time.time(), learn=False)
        end = time.monotonic() + _NEXT
        campaign.learn(lambda: not self._closed and time.monotonic() < end)

    def _made(self, campaign: campaigns.Campaign, made: Future[None]) -> None:
        self._begun.discard(campaign.name)
        error = None if made.cancelled() else made.exception()
        if error is not None and not self._closed and not isinstance(error, UnknownCampaign):
            campaign.put_off_fit(error)
        elif error is None and not made.cancelled():
            # Where somebody was left out several are due, one after the other, and perhaps nobody comes any more.
            self.consider(campaign)

    def _in_child(self, campaign: campaigns.Campaign, due: DueFit) -> Fit:
        # Where a server that is killed leaves it to be swept.
        with TemporaryDirectory(prefix=FIT, dir=self._config.directory) as folder:
            place = Path(folder)
            (place / "learner").write_bytes(campaign.store.learner(campaign.name))
            with (place / "state").open("wb") as out:
                out.writelines(packed_parts(due.learner.to_arrays(due.state)))
            self._call(folder)
            packed = (place / "fit").read_bytes()
        return Fit(digest(packed), packed)

    def _call(self, folder: str) -> None:
        if self._child is None:
            self._child = Child(self._config.heavy_bytes)
        child = self._child
        late = threading.Timer(self._config.heavy_seconds, child.kill)
        late.start()
        try:
            if not self._closed:
                child.call("fit", None, {"folder": folder})
        except InvalidFile as error:  # what is said of files is not so here
            raise RuntimeError("a fit took more memory or time than heavy_bytes, heavy_seconds allow") from error
        finally:
            late.cancel()
            if child.last or not child.alive:
                self._let_go()

    def _let_go(self, idle: float = 0.0) -> None:
        if self._child is not None and self._child.used <= time.monotonic() - idle:
            self._child.close()
            self._child = None

    def sweep(self) -> None:
        """Let go of the process if it had nothing to do for a while: it takes seconds to start, and memory to keep."""
        self._thread.submit(self._let_go, _IDLE)

    def close(self) -> None:
        """End what is under way: it is due again when the campaign is next in use."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._let_go()
