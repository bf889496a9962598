"""States of a campaign's model that were kept, so that opening is quick: a cache, which may be deleted at any time.

What is damaged, or belongs to other lessons, another learner or another version, is as good as not there.
"""

from __future__ import annotations

import hashlib
import io
import logging
from typing import final

import numpy as np

from askone.campaign.engine.projection import Projection
from askone.errors import StoreUnavailable
from askone.estimators.model_file import UNREADABLE
from askone.store.entries import Snapshot
from askone.store.store import Store
from askone.version import __version__

log = logging.getLogger("askone.campaign")


@final
class KeptStates:
    """Those of one campaign, whose learner is packed in ``learner``."""

    def __init__(self, store: Store, name: str, learner: bytes) -> None:
        self._store, self._name = store, name
        self._learner = hashlib.sha256(learner).hexdigest()
        self.count = 0
        """Lessons of the state that was last kept or adopted."""

    def adopt(self, projection: Projection) -> None:
        """Adopt all that fit, from the older to the newer: an answer taken back may have spoilt the last."""
        for kept in self._store.snapshots(self._name):
            if kept.data is None:
                self._drop(kept, "its bytes are not those that were kept")
            elif kept.seq <= len(projection.lessons.all) and kept.fingerprint == self._mark(projection, kept.seq):
                self._adopt(projection, kept, kept.data)

    def _adopt(self, projection: Projection, kept: Snapshot, data: bytes) -> None:
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                state = projection.learner.from_arrays({name: arrays[name] for name in arrays.files})
        except UNREADABLE as error:
            self._drop(kept, repr(error))
        else:
            projection.trainer.adopt(state, kept.seq)
            self.count = kept.seq

    def _drop(self, kept: Snapshot, why: str) -> None:
        log.error(
            "campaign %s: the state kept after %d lessons is damaged (%s); it is dropped and folded anew",
            *(self._name, kept.seq, why),
        )
        try:
            self._store.drop_snapshot(self._name, kept.seq)
        except StoreUnavailable as error:  # such as a database that can only be read
            log.warning("campaign %s: a damaged state could not be dropped: %s", self._name, error)

    def keep(self, projection: Projection) -> None:
        """Keep the state after as many lessons as it has."""
        count = projection.trainer.learnt
        if count == self.count:
            return
        buffer = io.BytesIO()
        np.savez(buffer, **projection.learner.to_arrays(projection.state))  # type: ignore[arg-type]  # its stubs
        self._store.keep_snapshot(self._name, count, self._mark(projection, count), buffer.getvalue())
        self.count = count

    def _mark(self, projection: Projection, count: int) -> str:
        """Return what a kept state belongs to: this version, this learner, these lessons."""
        text = f"{__version__} {self._learner} {projection.lessons.digest(count)}"
        return hashlib.sha256(text.encode()).hexdigest()
