"""Fits that are due, made here and now, and tried again later where they failed."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import final

from askone.campaign.engine.projection import Projection
from askone.campaign.engine.training_set import DueFit
from askone.session.checkpoints import Fit, fit_of

_MORE = 1.1  # times as many answers before a fit that failed is tried again
log = logging.getLogger("askone.campaign")


def attempted(due: DueFit) -> Fit | BaseException:
    """Return a fit, or whatever went wrong: a thread of its own hands that over."""
    with ThreadPoolExecutor(1) as alone:
        made = alone.submit(fit_of, due.learner, due.state)
        return made.exception() or made.result()


@final
class FitAttempts:
    """Remembers which fit of a campaign failed, so that it is tried again only some answers later."""

    def __init__(self, name: str) -> None:
        self._name, self._error, self._least = name, "", 0.0

    def due(self, projection: Projection) -> DueFit | None:
        """Return the fit that is due, unless one failed a few answers ago."""
        return projection.trainer.due() if len(projection.lessons.all) >= self._least else None

    def put_off(self, projection: Projection, error: BaseException) -> None:
        """Note that a fit failed; of several alike the first is logged."""
        if repr(error) != self._error:
            log.error("a fit of campaign %s failed, and is tried again later", self._name, exc_info=error)
        self._error, self._least = repr(error), _MORE * len(projection.lessons.all)
