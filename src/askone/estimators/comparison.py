"""Stored answers put to use again: other models learn from them, and are judged by them.

An answer stays true whoever asked.  ``refit`` teaches another model by a log, ``compare`` says which
of several models would have forecast its answers best.  Neither asks anybody, neither reads a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.base import clone

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.learners.abilities import AsksAgain, Forecasts, able
from askone.learners.base import Learner
from askone.session.checkpoints import Example, Fold
from askone.session.log import Event
from askone.session.replay import Rows, as_table, lessons, stacked, teach
from askone.session.stream import Stream

_SUREST = 2.0**-30  # a forecast that was sure and wrong costs 30 bits, and not infinitely many


def refit(log: Iterable[Event], rows: Rows, learner: Any, *, seed: int = 0, own: bool = False) -> Any:
    """Return another model, taught by the answers of a log: nobody is asked again.

    ``rows`` are the rows by key: a mapping, a data frame whose index holds the keys, or an array if
    the keys are row numbers; their columns may be others than those that were there when it was asked.
    A learner gives a ``Stream`` (with ``seed``) and an estimator itself, both ready to go on asking; an
    estimator that has not begun is shown all ``rows`` first.

    A learner with a likelihood learns from any question of its family, and so do the infimum loss
    (``questions="passive"``) and designed sets.  Others take slopes at their own prediction, and questions
    that another model asked mislead them: a ``RefitWarning`` says so, unless ``own`` says that the same
    learner asked them.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.learners.gradients import pair
    >>> from askone.learners.sgd.sgd import SGDLearner
    >>> from askone.labels.losses import Median
    >>> from askone.learners.models.linear import FeatureModel
    >>> from askone.labels.number import Real
    >>> model, log = FeatureModel(Linear(Scaler.identity(1))), []
    >>> stream = Stream(SGDLearner(Real(0, 100), model), log=log.append)
    >>> stream.tell(stream.ask([0.0], key="ann"), True)
    >>> again = refit(log, {"ann": [0.0]}, SGDLearner(Real(0, 100), model, pair(Median(), "passive")))
    >>> again.answered, again.asked
    (1, 1)
    """
    if isinstance(learner, OneBitEstimator):
        return learner.learn_from(list(log), rows, own)
    if not isinstance(learner, Learner):
        raise InvalidArgument("learner", "a Learner or an estimator", type(learner).__name__)
    return teach(Stream(learner, seed=seed, resample=isinstance(learner, AsksAgain)), rows, log, own)


@final
@dataclass(frozen=True)
class Judged:
    """A candidate: its mean log loss in bits per answer, and how far that is behind the best, with standard errors."""

    name: str
    bits: float
    error: float
    behind: float
    behind_error: float
    accuracy: float


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Progressive validation: what each candidate's forecasts of the answers cost, before it learnt them.

    ``losses`` has -log2 P(what was answered) for each answer, ``hits`` whether the likelier answer came
    (a half where neither was).  A coin that knows nothing costs 1 bit per answer.
    """

    losses: dict[str, Array]
    hits: dict[str, Array]

    @cached_property
    def best(self) -> str:
        """The name of the candidate with the least loss."""
        return min(self.losses, key=lambda name: float(self.losses[name].mean()))

    @cached_property
    def table(self) -> list[Judged]:
        """All candidates, the best first; differences are paired, answer by answer."""
        ahead = self.losses[self.best]
        judged = [
            Judged(name, *_mean(loss), *_mean(loss - ahead), float(self.hits[name].mean()))
            for name, loss in self.losses.items()
        ]
        return sorted(judged, key=lambda one: one.bits)

    def curve(self, name: str) -> tuple[Array, Array]:
        """Return mean loss in bits, and accuracy of the forecasts, over the first 1, 2, ... answers."""
        if name not in self.losses:
            raise InvalidArgument("name", f"one of: {', '.join(self.losses)}", name)
        counts = np.arange(1, len(self.losses[name]) + 1)
        return np.cumsum(self.losses[name]) / counts, np.cumsum(self.hits[name]) / counts

    def __str__(self) -> str:
        width = max(len("candidate"), *(len(one.name) for one in self.table))
        lines = [f"{'candidate':{width}}  bits per answer   behind the best   right"]
        lines += [
            f"{one.name:{width}}  {one.bits:6.4f} ± {one.error:6.4f}   {one.behind:6.4f} ± {one.behind_error:6.4f}"
            f"   {one.accuracy:5.1%}"
            for one in self.table
        ]
        return "\n".join(lines)


def compare(log: Iterable[Event], rows: Rows, candidates: Mapping[str, Any]) -> Comparison:
    """Compare how well several learners (or estimators) forecast the answers of a log.

    For every answer in the log's order: the mean of -log2 chance(what was answered) before it is
    learnt.  No label is needed, nothing is asked, and no candidate is changed: each begins anew (an
    estimator that has not begun is copied and shown ``rows``).  Candidates must forecast
    (``Forecasts.chance``).  The questions were asked where one model was unsure, so all losses are
    near 1 bit; it is their differences that count.
    """
    if not isinstance(candidates, Mapping) or not candidates:
        raise InvalidArgument("candidates", "a dictionary of learners or estimators by name", candidates)
    table, events = as_table(rows), list(log)
    learners = {name: _learner(name, candidate, table) for name, candidate in candidates.items()}
    steps = list(lessons(table, events))
    if not any(isinstance(step, Example) for step in steps):
        raise InvalidArgument("log", "one with at least one answer", f"{len(events)} events")
    judged = {name: _forecast(learner, steps) for name, learner in learners.items()}
    return Comparison({name: one[0] for name, one in judged.items()}, {name: one[1] for name, one in judged.items()})


def _learner(name: str, candidate: Any, rows: Any) -> Forecasts[Any]:
    learner = candidate
    if isinstance(candidate, OneBitEstimator):
        begun = candidate
        if "stream_" not in candidate.__dict__:
            begun = clone(candidate)
            begun.begin_with(stacked(rows))
        learner = begun.stream_.learner
    if not isinstance(learner, Learner):
        raise InvalidArgument(f"candidates[{name!r}]", "a Learner or an estimator", type(learner).__name__)
    if not able(learner, Forecasts):
        raise InvalidArgument(f"candidates[{name!r}]", "a learner that forecasts answers", type(learner).__name__)
    return learner


def _forecast(learner: Forecasts[Any], steps: list[Any]) -> tuple[Array, Array]:
    fold, losses, hits = Fold(learner, keep=False), [], []
    for step in steps:
        if isinstance(step, Example):
            if not isinstance(step.answer, bool):
                raise InvalidArgument("log", "one whose answers are yes or no", f"{step.answer!r}")
            yes = learner.chance(fold.state, step.x, step.question)
            said = yes if step.answer else 1.0 - yes
            losses.append(-np.log2(max(said, _SUREST)))
            hits.append(0.5 if said == 0.5 else float(said > 0.5))
        fold.learn(step)
    return np.array(losses), np.array(hits)


def _mean(values: Array) -> tuple[float, float]:
    """Return mean and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)
