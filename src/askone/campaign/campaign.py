"""A campaign: learner, rows and log joined.  What a server, a command or a simulation holds.

>>> from askone.campaign.engine.commands import Answer, Next
>>> from askone.campaign.settings.settings import Items, Settings
>>> from askone.campaign.create import create_campaign
>>> from askone.store.open import open_store
>>> store = open_store("memory:")
>>> create_campaign(store, "drinks", Settings("Drinks", Items(("tea", "coffee", "milk"))), None, owner="", at=0.0)
>>> campaign = Campaign.open(store, "drinks")
>>> [serving] = campaign.serve([Next("ann")], now=1.0)
>>> str(serving.question.question)
'Do you prefer milk or coffee?'
>>> [serving] = campaign.serve([Answer("ann", serving.question.lease, True, "a-1")], now=3.0)
>>> campaign.status(now=3.0)["answers"], serving.state
(1, 'question')
>>> store.close()
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.campaign.engine.batch import Batch, looked_up
from askone.campaign.engine.commands import Request, Result, Served, TakeFit
from askone.campaign.engine.fit_attempts import FitAttempts, attempted
from askone.campaign.engine.handlers import decide
from askone.campaign.engine.kept_states import KeptStates, without_collections
from askone.campaign.engine.packed_model import beginning
from askone.campaign.engine.pausing import to_pause
from askone.campaign.engine.planner import Planner
from askone.campaign.engine.projection import PlannedQuestion, Projection
from askone.campaign.engine.row_cache import RowCache
from askone.campaign.engine.row_pool import RowPool
from askone.campaign.engine.stopping import Stopping
from askone.campaign.engine.training_set import DueFit
from askone.campaign.kinds.estimates import Estimate
from askone.campaign.output import answer_list, dashboard, people_list
from askone.campaign.output.answer_list import Which
from askone.campaign.output.estimation import estimated, estimated_by
from askone.campaign.output.predicted_pages import predicted_pages
from askone.campaign.output.views import managed
from askone.campaign.settings.settings import Settings
from askone.errors import AskoneError, InvalidFile, UnknownCampaign
from askone.learners.abilities import unnamed
from askone.privacy import flip_probability
from askone.questions.base import Question
from askone.session.checkpoints import Fit
from askone.store.entries import Entry
from askone.store.notices import Began, Changed
from askone.store.store import Store

if TYPE_CHECKING:
    from askone.campaign.engine import model_builder as building
    from askone.estimators.base import OneBitEstimator
else:
    building = lazy_import("askone.campaign.engine.model_builder")

KEEP, PAUSE = 500, 60.0
"""After so many lessons and seconds the state is kept, so that opening is quick: megabytes, so not too often."""
LATE = 200
"""Answers that may wait to be learnt from, where nobody learns beside those who serve (see ``Campaign.late``).

But for those that are learnt anew, as when somebody is excluded: people are served by the state from before."""
_WARM = 20  # answers: more than any learner puts off


@final
class Campaign:
    """A campaign: learner, rows and log joined.  Safe for several threads: one is served at a time."""

    def __init__(self, store: Store, name: str, fresh: bool = False, patience: float | None = None) -> None:
        self.store, self.name, self._fresh = store, name, fresh
        self._lock = threading.RLock()
        self.patience = patience
        """Seconds for which whoever looks waits until all answers are learnt from; None: as long as it takes."""
        self.late = LATE
        """So many answers may wait to be learnt from while people are served; with more, nobody is before them."""
        self._learning = threading.Lock()
        self._number = store.number(name)
        self._packed = store.learner(name)
        self._begun = beginning(self._packed)
        first = next(store.entries(name, limit=1), None)
        if first is None or not isinstance(first.event, Began):
            raise InvalidFile(f"the log of campaign {name!r} does not begin with its settings")
        self.settings = self._first_settings = Settings.from_json(first.event.settings)
        self.title = store.campaign(name).title
        """What it is called here: a restored copy has another title than its log."""
        self.rowless = self.settings.is_rowless(first.event.rows)
        self._row_cache = RowCache(store, name, in_runs=self.settings.ask.order == "file")
        self._spoilt, self._gold = True, list[int]()
        self.practice_rows: list[int] = []
        """Rows of the training round: whoever had it knows their answers, so they measure nobody."""
        self._states = KeptStates(store, name, self._packed)
        self._fits = FitAttempts(name)
        self._kept_at = self._now = 0.0
        self._written = 0
        """The last entry that is certainly in the log as it is here."""
        self._reload()

    @classmethod
    def open(cls, store: Store, name: str, fresh: bool = False, patience: float | None = None) -> Campaign:
        """Return a campaign as its log has it; ``fresh``: folded from the beginning, whatever was kept.

        With ``patience`` people are served by what was kept; what came after it is learnt beside (``learn``).
        """
        return cls(store, name, fresh, patience)

    # -- the fold ---------------------------------------------------------------------------------

    def _reload(self, before: Projection | None = None) -> None:
        """Read the log, and learn from it; of both only what came after what was kept, or is known from before."""
        self._check(self.store.number(self.name))
        with without_collections():
            projection = self._empty() if self._fresh else self._states.projection(self._empty)
            if projection.seq:
                self._note_rows(projection)
            self._note(projection, self.store.entries(self.name, after=projection.seq))
            if not self._fresh:
                self._states.adopt(projection)
                if before is not None:
                    projection.trainer.take_over(before.trainer, self._written)
            if self.patience is None:
                projection.trainer.settle()
        self.projection, self._spoilt, self._written = projection, False, projection.seq
        # What was seen in a transaction that failed is to be seen again.
        self._stopping, self._looked = Stopping(), -1
        self._planner = Planner(projection, self._row_cache, self._first_settings, self._begun.seed, self._gold)
        self._followed: dict[str, Any] | None = None
        self._follow(projection)

    def _follow(self, projection: Projection) -> None:
        """Go by the settings as they are by now."""
        changes = projection.changes
        if changes is not self._followed:
            if self._followed is not None and changes.get("title") != self._followed.get("title"):
                self.title = changes["title"]
            self._followed, self.settings, self._looked = changes, self._first_settings.changed(changes), -1
            self._planner.use(self.settings, "wording" in changes.get("question", {}))

    def _empty(self) -> Projection:
        """Return a projection that has noted nothing."""
        ask = self._first_settings.ask
        pool = RowPool(self._begun.seed, ask.exam_share, ask.per_row)
        fits = partial(self.store.fit, self.name)
        epsilon = self._first_settings.privacy.epsilon
        flip = 0.0 if epsilon is None else flip_probability(epsilon)
        return Projection(self._begun.learner, self._row_cache.features, ask.overlap, self.rowless, pool, fits, flip)

    def _check(self, number: int) -> None:
        """Refuse another campaign that was made under the name of this one after it was deleted."""
        if number != self._number:
            raise UnknownCampaign(self.name)

    def keep(self) -> None:
        """Keep the model's state: a cache, which may be deleted at any time."""
        with self._lock:
            self.projection.trainer.settle()
            self._states.keep(self.projection)
            self._states.keep_projection(self.projection)

    def warm(self) -> None:
        """Ask and learn a little for nothing: compiled functions are then loaded before anybody waits for them.

        People are served meanwhile, but for a question's time.
        """
        with self._lock:
            projection, plan = self.projection, self._planner.plan("", self.projection.numbers)
            if plan is None:
                return
            drafts = [self._planner.draft(plan._replace(role=role), projection.state) for role in ("exam", "")]
            learner, state, X = projection.learner, projection.state, self._row_cache.features([plan.position])
        for i in range(_WARM):
            state = learner.tell(state, X[0], drafts[1].question, i % 3 == 0)
        learner.predict(state, X)

    def refresh(self) -> None:
        """Catch up with what other processes wrote."""
        with self._lock:
            if self._spoilt:
                self._reload(self.projection)
            self._check(self.store.number(self.name))
            entries = list(self.store.entries(self.name, after=self.projection.seq - 1))
            self._spoilt = True  # until it has caught up with the rows, too
            if entries:
                self._note(self.projection, entries[1:])
                self._follow(self.projection)
            else:  # the store was put back to an earlier time
                self._reload()
            self._spoilt, self._written = False, self.projection.seq
            self._catch_up()

    def _catch_up(self) -> None:
        """Bring the model up to date before somebody looks, as far as they are patient.

        Where others learn beside, they keep the state as well: that takes longer than a look.
        """
        if self.patience is None:
            self.complete()
        else:
            until = time.monotonic() + self.patience
            self._learn_beside(lambda: time.monotonic() < until)

    @property
    def anew(self) -> tuple[int, int] | None:
        """How many lessons are learnt of how many, while the model is made anew as answers were left out or changed.

        Until then people are asked by the model from before; nobody should take that away.
        """
        with self._lock:
            return self.projection.trainer.anew

    def complete(self, tell: Callable[[int, int], None] | None = None) -> None:
        """Bring the model up to date, however long it takes, and make the fits that fell out.

        ``tell`` is called with the lessons that are learnt, and all, while the model is made anew.
        """
        with self._lock:
            self.learn()
            while (anew := self.anew) is not None:
                if tell is not None:
                    tell(*anew)
                due = self.projection.trainer.due()
                if due is None:
                    raise RuntimeError("the model is not learnt, and lacks no fit")
                self._take(due, time.time())

    def learn(self, go_on: Callable[[], bool] | None = None) -> None:
        """Bring the model up to date, as long as ``go_on`` says so before each lesson; keep it now and then.

        With ``go_on`` people are served while a lesson is learnt, however long that takes; if another thread learns
        already, this returns at once.
        """
        if go_on is None:
            with self._lock:
                self.projection.trainer.settle()
        elif not self._learn_beside(go_on):
            return
        with self._lock:
            due = not self._spoilt and self._now >= self._kept_at + PAUSE
            kept = self._states.far(self.projection, KEEP) if due else None
            grown = due and self._states.keep_grown(self.projection, idle=go_on is None or go_on())
            if kept is not None or grown:
                self._kept_at = self._now
        if kept is not None:  # a state is a value of megabytes: nobody waits until it is written
            self._states.keep_marked(kept)

    def _learn_beside(self, go_on: Callable[[], bool]) -> bool:
        """Learn in slices, of which the learning itself holds nobody up; return whether no other thread was at it."""
        if not self._learning.acquire(blocking=False):
            return False
        try:
            while go_on() and self._learn_slice(go_on):
                pass
        finally:
            self._learning.release()
        return True

    def _learn_slice(self, go_on: Callable[[], bool]) -> bool:
        """Learn the next few lessons; return whether there may be more."""
        with self._lock:
            trainer = self.projection.trainer
            part = trainer.next_slice()
        if part is None:
            return False
        state = part.fold.state
        for place in range(len(part.taught)):
            if place and not go_on():
                break
            state = part.after(place, state)
            with self._lock:
                if not trainer.take(part, place, state):
                    break
        return True

    def _note(self, projection: Projection, entries: Iterable[Entry]) -> None:
        """Note entries, and the rows with known labels that come with them."""
        rows = projection.rows
        for entry in entries:
            projection.note(entry)
        if projection.rows != rows:
            self._note_rows(projection)

    def _note_rows(self, projection: Projection) -> None:
        """Note how many rows there are, and which of them have known labels."""
        self._row_cache.count = projection.rows
        if not self.rowless:
            known, training = self.store.gold(self.name), self.settings.ask.training
            for position in known:
                projection.pool.withhold(position)
            self.practice_rows, self._gold[:] = known[:training], known[training:]

    # -- serving ----------------------------------------------------------------------------------

    def serve(self, requests: Sequence[Request], now: float, learn: bool = True) -> list[Result | AskoneError]:
        """Decide a batch of requests in one transaction; it is durable when this returns.

        A refused request has its error as its result.  If the store fails, nothing has happened.  Without ``learn``
        what the answers teach is left for later, up to a bound: call ``learn`` when those who wait have their results.
        """
        with self._lock:
            if self._spoilt:
                self._reload(self.projection)
            # Before the transaction, in which others could not write.
            trainer = self.projection.trainer
            if trainer.valid and trainer.pending > self.late:
                self._learn_beside(lambda: trainer.pending > self.late)
            with self.store.transaction(self.name) as transaction:
                self._check(transaction.campaign)
                if transaction.head[0] < self.projection.seq:  # the store was put back to an earlier time
                    self._reload()
                self._spoilt = True  # until it is written the projection may be ahead of the log
                looked = looked_up(transaction, self.projection.seq, requests, now)
                self._note(self.projection, looked.tail)
                if looked.tail:
                    self._follow(self.projection)
                batch = Batch(self._planner, transaction, looked, requests, now)
                self._pause_people(batch, now)
                results = [decide(batch, request) for request in requests]
                self._stop_at_target(batch, now)
                seats = batch.seats
                if batch.entries or seats.changed or seats.dropped:
                    transaction.write(batch.entries, list(seats.changed.values()), sorted(seats.dropped))
                for fit in batch.fits:
                    transaction.keep_fit(fit.hash, fit.packed)
                for entry in batch.entries:
                    if isinstance(entry.event, Changed) and "title" in entry.event.settings:
                        transaction.retitle(entry.event.settings["title"])
            self._spoilt, self._written, self._now = False, self.projection.seq, now
            self._follow(self.projection)
            if learn:
                self.learn()
                self._fit(now)
            return results

    def _pause_people(self, batch: Batch, now: float) -> None:
        """Pause whoever's answers surely tell too little; that is looked at when rates were found anew."""
        fits = self.projection.trainer.fits_learnt
        if fits != self._looked and self.settings.people.pause_below is not None:
            self._looked = fits
            for pause in to_pause(self.projection, self.settings.people):
                batch.note(Entry(pause, at=now))

    def _stop_at_target(self, batch: Batch, now: float) -> None:
        """Pause when the target is reached; that is looked at when an exam was answered."""
        stop = self._stopping.due(self.projection, self.settings) if batch.measured else None
        if stop is not None:
            batch.note(Entry(stop, at=now))

    # -- fits -------------------------------------------------------------------------------------

    def due_fit(self) -> DueFit | None:
        """Return the fit that is due, if any: to be made here or elsewhere, and served as ``TakeFit``."""
        with self._lock:
            return None if self._spoilt else self._fits.due(self.projection)

    def put_off_fit(self, error: BaseException) -> None:
        """Note that a fit failed."""
        with self._lock:
            self._fits.put_off(self.projection, error)
            self.projection.trainer.pass_over()

    def _fit(self, now: float) -> None:
        """Make the fits that are due, here and now."""
        while (due := self.due_fit()) is not None:
            self._take(due, now)

    def _take(self, due: DueFit, now: float) -> None:
        """Make a fit that is due, and learn what comes after it."""
        made = attempted(due)
        if isinstance(made, Fit):
            self.serve([TakeFit(due, made)], now, learn=False)
        else:
            self.put_off_fit(made)
        self.learn()

    # -- before the first question ----------------------------------------------------------------

    def goal(self) -> int | None:
        """Return how many answers the campaign is after: its budget, or what all its rows take; None: no end."""
        projection = self.projection
        if projection.budget is not None or self.rowless:
            return projection.budget
        rows = projection.rows - len(self._gold) - len(self.practice_rows)
        return (rows * projection.pool.per_row - projection.pool.spared) * projection.overlap

    def may_ask(self, person: str) -> bool:
        """Return whether there may be a question for somebody."""
        projection, most = self.projection, self.settings.per_person
        out = person in projection.excluded or person in projection.paused
        if projection.status != "running" or out or dashboard.finished(projection):
            return False
        return most is None or projection.person(person).answers < most

    def example(self) -> Question | None:
        """Return a question as it would be asked now, or as one was; asking for it changes nothing."""
        with self._lock:
            projection = self.projection
            plan = self._planner.plan("", projection.numbers)
            if plan is not None:
                return self._planner.draft(plan, projection.state).question
            return next((asking.question for asking in projection.asked.values()), None)

    def practice(self) -> list[tuple[Served, bool]]:
        """Return the training round: questions about rows whose label is known, each with its answer."""
        with self._lock:
            plans = [PlannedQuestion(n, position, "gold") for n, position in enumerate(self.practice_rows)]
            drafts = [self._planner.draft(plan, self.projection.state) for plan in plans]
            rows = [self._row_cache.row(plan.position) for plan in plans]
        return [
            (Served("", draft.plan.number, draft.question, row, 0.0), draft.aside["truth"])
            for draft, row in zip(drafts, rows, strict=True)
        ]

    # -- looking ----------------------------------------------------------------------------------

    def model(self) -> OneBitEstimator:
        """Return the model as it is now: predict with it (from raw columns), save it, go on asking elsewhere.

        It knows of nobody who answered, so that it can be given away.
        """
        estimator, encoder = building.unpack(self._packed)
        if encoder is not None:
            estimator.read_tables(encoder)
        with self._lock:
            self._catch_up()
            stream, projection = estimator.stream_, self.projection
            stream.state, stream.asked = unnamed(projection.learner, projection.state), projection.numbers
            keys = {asking.position for asking in projection.asked.values()}
        if not self.rowless:
            for start in range(0, len(keys), 1000):
                rows = self.store.rows(self.name, sorted(keys)[start : start + 1000])
                stream.keys.update(row.key for row in rows)
        return estimator

    @cached_property
    def _estimator(self) -> OneBitEstimator:
        """What predicts; made when that is first wanted, since asking does without."""
        return building.unpack(self._packed).estimator

    def _predicted(self, X: Array) -> dict[str, list[Any]]:
        self._estimator.stream_.state = self.projection.state
        stretch = self.projection.stretch(1 - self.settings.level)
        return self.settings.labels.predicted(self._estimator, X, self.rowless, stretch)

    def predictions(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return, for each row, its key, what people see of it, the prediction and how sure it is."""
        rows = self.store.rows(self.name, list(positions))
        if not rows:
            return []
        with self._lock:
            self._catch_up()
            columns = self._predicted(np.array([row.features for row in rows], dtype=np.float64))
        records = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        show = self.settings.rows.show
        return [managed(self.name, row, show) | record for row, record in zip(rows, records, strict=True)]

    def doubts(self, positions: Sequence[int]) -> list[float]:
        """Return how unsure the model is of each of these rows."""
        with self._lock:
            self._catch_up()
            return self.settings.labels.doubts(self._predicted(self._row_cache.features(list(positions))))

    def predict(self, X: Array) -> list[Any]:
        """Return what the model predicts of rows as it sees them."""
        with self._lock:
            self._catch_up()
            self._estimator.stream_.state = self.projection.state
            return list(self._estimator.predict(None if self.rowless else X))

    def prediction_pages(self, size: int) -> Iterator[tuple[list[str], dict[str, list[Any]]]]:
        """Return the same of all rows, without what people see of them: keys and columns, page by page.

        All are those of the state when the first is asked for.
        """
        with self._lock:
            self._catch_up()
            estimator = building.unpack(self._packed).estimator
            estimator.stream_.state, labels = self.projection.state, self.settings.labels
            stretch = self.projection.stretch(1 - self.settings.level)
        return predicted_pages(
            self.store.feature_pages(self.name, size),
            lambda X: labels.predicted(estimator, X.astype(np.float64), self.rowless, stretch),
        )

    @overload
    def estimate(self, what: str, by: None = None) -> Estimate: ...
    @overload
    def estimate(self, what: str, by: str) -> dict[str, Estimate]: ...
    def estimate(self, what: str, by: str | None = None) -> Estimate | dict[str, Estimate]:
        """Estimate something of the whole table, or of each group of rows that have the same value in a column.

        Of numbers the "mean", the "median" or a "share above 30"; of classes and orders the "accuracy".  Right whatever
        the model is worth: see ``kinds.estimates``.
        """
        return estimated(self, what) if by is None else estimated_by(self, what, by)

    def status(self, now: float) -> dict[str, Any]:
        """Return how far it is."""
        with self._lock:
            return {"name": self.name, "title": self.title, **dashboard.counts(self.projection, now)}

    def measured(self) -> dict[str, Any]:
        """Return the learning curve, where it is heading, and whether later rows are predicted worse."""
        with self._lock:
            return dashboard.measured(self.projection, self.settings)

    def dashboard(self, now: float, column: str | None = None) -> dict[str, Any]:
        """Return all that a manager sees."""
        with self._lock:
            self._catch_up()
            projection, labels = self.projection, self.settings.labels
            found = {**dashboard.counts(projection, now), **dashboard.measured(projection, self.settings)}
            found |= {"spent": dashboard.spent(projection, self.settings), "said": dashboard.said(projection)}
            points = dashboard.cloud(
                projection,
                labels,
                lambda places: self.store.rows(self.name, list(places)),
                lambda places: self._predicted(self._row_cache.features(places))["prediction"] if places else [],
                column,
            )
            if self.rowless:  # a chart of pairs has the items in the order that is predicted
                points["order"] = self._predicted(self._row_cache.features([0]))["prediction"][0]
            return {**found, "cloud": points, "models": dashboard.models(projection)}

    def people(self) -> list[dict[str, Any]]:
        """Return everybody who answered, with what is known of their answers."""
        with self._lock:
            self._catch_up()
            return people_list.people(self.projection, self.settings)

    def answers(self, which: Which, person: str | None, first: int, skip: int) -> dict[str, Any]:
        """Return a page of answered questions (see ``answer_list``)."""
        with self._lock:
            self._catch_up()
            return answer_list.answer_page(self, which, person, first, skip)

    def history(self, position: int) -> dict[str, Any]:
        """Return a row with all that was asked about it."""
        with self._lock:
            return answer_list.row_history(self, position)

    def flags(self) -> list[dict[str, Any]]:
        """Return what people found wrong."""
        with self._lock:
            return answer_list.flags(self)
