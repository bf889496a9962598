"""What is kept of a campaign so that opening is quick: states of its model, and what its log says up to an entry.

A cache, which may be deleted at any time.  What is damaged, or belongs to other lessons, another log, another learner
or another version, is as good as not there.
"""

from __future__ import annotations

import gc
import hashlib
import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.campaign.engine import projection_arrays
from askone.campaign.engine.projection import Projection
from askone.errors import AskoneError, InvalidFile, StoreUnavailable
from askone.estimators.model_file import UNREADABLE
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.session.log import Asked
from askone.store.entries import Snapshot
from askone.store.store import Store
from askone.version import __version__

log = logging.getLogger("askone.campaign")
SPARSE = 8
"""What the log says is kept again when it has grown by one part in so many: it is large, and a tail is soon read."""
_FEW = 4000  # entries


@final
class MarkedState(NamedTuple):
    """A state after the first ``learnt`` lessons, and the mark of what it belongs to."""

    learnt: int
    mark: str
    learner: Learner[Any]
    state: Any


@final
class KeptStates:
    """Those of one campaign, whose learner is packed in ``learner``."""

    def __init__(self, store: Store, name: str, learner: bytes) -> None:
        self._store, self._name = store, name
        self._maker = hashlib.sha256(f"{__version__} {hashlib.sha256(learner).hexdigest()}".encode()).hexdigest()
        """What only a state belongs to that was made by this version, for this learner."""
        self.count = 0
        """Lessons of the state that was last kept or adopted."""
        self.seq = 0
        """The last entry of what was kept or adopted of the log."""

    # -- what the log says ------------------------------------------------------------------------

    def projection(self, make: Callable[[], Projection]) -> Projection:
        """Return a projection as it was kept, or where there is none as it is made: with nothing noted."""
        kept, projection = self._store.projection(self._name), make()
        if kept is None:
            return projection
        if kept.data is None:
            self._drop(kept, "its bytes are not those that were kept")
        elif kept.fingerprint == self._log_mark(-kept.seq):
            try:
                projection_arrays.adopt(projection, _arrays(kept.data), self._questions)
            except UNREADABLE as error:
                self._drop(kept, repr(error))
                return make()
            self.seq = projection.seq
        return projection

    def far(self, projection: Projection, lessons: int) -> MarkedState | None:
        """Return the state if it is to be kept again, as it has learnt so many lessons more."""
        trainer = projection.trainer
        # Among many people some answers always wait: what was learnt before them is kept.
        far = trainer.valid and abs(trainer.learnt - self.count) >= lessons
        return self._marked(projection) if far else None

    def keep_marked(self, one: MarkedState) -> None:
        """Keep a state, while others go on; one that cannot be kept is warned of, and not tried again at once."""
        try:
            self._keep(one)
        except (AskoneError, OSError) as error:
            self._warn(error)
            self.count = one.learnt

    def keep_grown(self, projection: Projection, idle: bool) -> bool:
        """Keep what the log says if it has grown; return whether it had.

        Where nobody waits (``idle``): that takes a second or two with a million answers.
        """
        grown = idle and projection.seq - self.seq >= max(_FEW, projection.seq // SPARSE)
        try:
            if grown:
                self.keep_projection(projection)
        except (AskoneError, OSError) as error:
            self._warn(error)
            self.seq = projection.seq
        return grown

    def _warn(self, error: Exception) -> None:
        """Say that something could not be kept: what was served is in the log, and it is well without."""
        log.warning("the state of campaign %s could not be kept: %s", self._name, error)

    def keep_projection(self, projection: Projection) -> None:
        """Keep what the log says; all that was noted is in it."""
        if projection.seq != self.seq:
            with without_collections():
                blob = _packed(projection_arrays.to_arrays(projection))
            self._store.keep_projection(self._name, projection.seq, self._log_mark(projection.seq), blob)
            self.seq = projection.seq

    def _log_mark(self, seq: int) -> str:
        """Return what it belongs to: this version, and the log whose hashes end in that of this entry."""
        line = next(self._store.lines(self._name, after=seq - 1, limit=1), None)
        text = f"{__version__} {projection_arrays.FORMAT} {seq} {'' if line is None else line.hash}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _questions(self, numbers: Sequence[int]) -> list[Question]:
        """Return questions by their numbers, from the log."""
        ids = [f"ask-{number}" for number in numbers]
        known = self._store.known(self._name, ids)
        events = [known[name].event for name in ids if name in known]
        found = [event.question for event in events if isinstance(event, Asked)]
        if len(found) < len(ids):
            raise InvalidFile(f"the log of campaign {self._name!r} lacks a question that it had")
        return found

    # -- states of the model ----------------------------------------------------------------------

    def adopt(self, projection: Projection) -> None:
        """Adopt all that fit, from the older to the newer: an answer taken back may have spoilt the last.

        That one stands in until all is learnt anew.
        """
        for kept in self._store.snapshots(self._name):
            if kept.data is None:
                self._drop(kept, "its bytes are not those that were kept")
            elif kept.fingerprint.startswith(self._maker):
                self._adopt(projection, kept, kept.data)

    def _adopt(self, projection: Projection, kept: Snapshot, data: bytes) -> None:
        try:
            state = projection.learner.from_arrays(_arrays(data))
        except UNREADABLE as error:
            self._drop(kept, repr(error))
            return
        fits = kept.seq <= len(projection.lessons.steps) and kept.fingerprint == self._mark(projection, kept.seq)
        if not fits:
            projection.trainer.stand_in(state, kept.seq)
            return
        projection.trainer.adopt(state, kept.seq)
        self.count = kept.seq

    def _drop(self, kept: Snapshot, why: str) -> None:
        log.error(
            "campaign %s: what was kept of its %s is damaged (%s); it is dropped and folded anew",
            *(self._name, f"first {kept.seq} lessons" if kept.seq >= 0 else "log", why),
        )
        try:
            self._store.drop_snapshot(self._name, kept.seq)
        except StoreUnavailable as error:  # such as a database that can only be read
            log.warning("campaign %s: a damaged state could not be dropped: %s", self._name, error)

    def keep(self, projection: Projection) -> None:
        """Keep the state after as many lessons as it has."""
        one = self._marked(projection)
        if one is not None:
            self._keep(one)

    def _marked(self, projection: Projection) -> MarkedState | None:
        """Return the state with what it belongs to, unless it was kept or is not to be."""
        trainer, count = projection.trainer, projection.trainer.learnt
        # What lacks a fit, or is not learnt anew yet, is not what the log says.
        if count == self.count or trainer.lost or not trainer.valid:
            return None
        return MarkedState(count, self._mark(projection, count), projection.learner, projection.state)

    def _keep(self, one: MarkedState) -> None:
        blob = _packed(one.learner.to_arrays(one.state))
        self._store.keep_snapshot(self._name, one.learnt, one.mark, blob)
        self.count = one.learnt

    def _mark(self, projection: Projection, count: int) -> str:
        """Return what a kept state belongs to: this version, this learner, these lessons."""
        return f"{self._maker}:{projection.lessons.digest(count)}"


@contextmanager
def without_collections() -> Iterator[None]:
    """Make very many objects, none of which is garbage: to look for some again and again takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _packed(arrays: Mapping[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stubs
    return buffer.getvalue()


def _arrays(blob: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
