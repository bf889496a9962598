"""Stored answers put to use again: other models learn from them, and are judged by them.

An answer stays true whoever asked.  ``refit`` teaches another model by a log, ``compare`` says which
of several models would have forecast its answers best, or has the least risk by exam bits, which ``examine`` asks for.
No model is judged by a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.base import clone

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_number, as_rows, as_seed
from askone.encoding.frames import is_frame
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.labels.losses import Loss, Median, Quantile, Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.labels.wording import percent_text
from askone.learners.abilities import AsksAgain, Forecasts, able, is_local, space_at
from askone.learners.base import Learner
from askone.learners.exams import exam, exam_width, scores, tells_risk
from askone.questions.base import Question
from askone.session.checkpoints import Example, Fold, Visit, due_fit
from askone.session.log import Answered, Asked, Event, Fits, Skipped
from askone.session.oracle import Oracle
from askone.session.replay import Rows, as_table, lessons, stacked, teach
from askone.session.stream import Stream

RISK = "risk"
_SUREST = 2.0**-30  # a forecast that was sure and wrong costs 30 bits, and not infinitely many


def refit(
    log: Iterable[Event], rows: Rows, learner: Any, *, seed: int = 0, own: bool = False, fits: Fits | None = None
) -> Any:
    """Return another model, taught by the answers of a log: nobody is asked again.

    ``rows`` are the rows by key: a mapping, a data frame whose index holds the keys, or an array if
    the keys are row numbers; their columns may be others than those that were there when it was asked.
    A learner gives a ``Stream`` (with ``seed``) and an estimator itself, both ready to go on asking; an
    estimator that has not begun is shown all ``rows`` first.

    A learner with a likelihood learns from any question of its family, and so do the infimum loss
    (``questions="passive"``) and designed sets.  Others take slopes at their own prediction, and questions
    that another model asked mislead them: a ``RefitWarning`` says so, unless ``own`` says that the same
    learner asked them.  ``fits`` (``model.fits_``, ``askone.read_fits``) are then its own, too: they are taken over
    where the log names them, and computed there where they are not given.

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
        return learner.learn_from(list(log), rows, own, fits)
    if not isinstance(learner, Learner):
        raise InvalidArgument("learner", "a Learner or an estimator", type(learner).__name__)
    return teach(Stream(learner, seed=seed, resample=isinstance(learner, AsksAgain)), rows, log, own, fits)


def _everybody(_: Learner[Any]) -> bool:
    return True


@final
class Step(NamedTuple):
    """What a log teaches next, and the question to whose answer forecasts are held before that; None: none are.

    Those learn from it of whom ``teaches`` says so.
    """

    lesson: Example | Visit
    asked: Question | None
    teaches: Callable[[Learner[Any]], bool] = _everybody


@final
@dataclass(frozen=True)
class Judged:
    """A candidate: its mean loss, and how far that is behind the best, with standard errors.

    ``bits`` is the log loss in bits per answer, or, of models that do not forecast, the risk (see ``compare``);
    ``accuracy`` then is nan.
    """

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
    (a half where neither was).  A coin that knows nothing costs 1 bit per answer.  Where models are judged by
    their ``risk``, losses are unbiased scores of it, one for each exam bit, and hits are nan.
    """

    losses: dict[str, Array]
    hits: dict[str, Array]
    measure: str = "bits per answer"

    @cached_property
    def best(self) -> str:
        """The name of the candidate with the least loss."""
        return min(self.losses, key=lambda name: float(self.losses[name].mean()))

    @cached_property
    def table(self) -> list[Judged]:
        """All candidates, the best first; differences are paired, answer by answer."""
        lines = [
            Judged(name, *_mean(loss), *self.behind(name, self.best), float(self.hits[name].mean()))
            for name, loss in self.losses.items()
        ]
        return sorted(lines, key=lambda one: one.bits)

    def behind(self, name: str, other: str) -> tuple[float, float]:
        """Return by how much the loss of one is above that of another, and its standard error, paired."""
        return _mean(self.losses[name] - self.losses[other])

    def curve(self, name: str) -> tuple[Array, Array]:
        """Return mean loss in bits, and accuracy of the forecasts, over the first 1, 2, ... answers."""
        if name not in self.losses:
            raise InvalidArgument("name", f"one of: {', '.join(self.losses)}", name)
        counts = np.arange(1, len(self.losses[name]) + 1)
        return np.cumsum(self.losses[name]) / counts, np.cumsum(self.hits[name]) / counts

    def __str__(self) -> str:
        width = max(len("candidate"), *(len(one.name) for one in self.table))
        forecasts = self.measure != RISK
        lines = [f"{'candidate':{width}}  {self.measure:15}   behind the best" + "     right" * forecasts]
        lines += [
            f"{one.name:{width}}  {one.bits:6.4f} ± {one.error:6.4f}   {one.behind:6.4f} ± {one.behind_error:6.4f}"
            + f"   {percent_text(one.accuracy, '5.1f')}" * forecasts
            for one in self.table
        ]
        return "\n".join(lines)


def compare(log: Iterable[Event], rows: Rows, candidates: Mapping[str, Any], *, loss: Loss | None = None) -> Comparison:
    """Compare how well several learners (or estimators) forecast the answers of a log, or what their risk is.

    If all forecast (``Forecasts.chance``): for every answer in the log's order, the mean of -log2 chance(what was
    answered) before it is learnt; each begins anew (an estimator that has not begun is copied and shown ``rows``).
    The questions were asked where one model was unsure, so all losses are near 1 bit; their differences count.

    If one does not forecast, as ``SGD``: the risk of all, by the log's exam bits, which were drawn with a known density
    (``examine``, random pairs, random single classes).  Their scores are unbiased for the ``loss`` of numbers (default
    the absolute one, in the labels' units; labels beyond the declared range count as on its edge), for the share of
    errors of classes and for that of wrong pairs of orders.  An estimator or stream that has learnt is judged as it is;
    the others learn from the log as it goes, and are judged before they learn.

    No label is needed, nothing is asked, and no candidate is changed.

    >>> from askone.estimators.learner_choices.gradients import SGD
    >>> from askone.estimators.regressor import OneBitRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(600, 1))
    >>> y = 20 + 60 * X[:, 0]
    >>> short, usual = (OneBitRegressor(0, 100, learner=SGD(gamma=g), random_state=0) for g in (0.01, 1))
    >>> models = {"short": short.fit(X[:300], y[:300]), "usual": usual.fit(X[:300], y[:300])}
    >>> compare(examine(models, X[300:], Oracle(y[300:])), X[300:], models).best
    'usual'
    """
    if not isinstance(candidates, Mapping) or not candidates:
        raise InvalidArgument("candidates", "a dictionary of learners or estimators by name", candidates)
    if isinstance(log, OneBitEstimator):
        raise InvalidArgument("log", "the events of a log, such as model.log_", type(log).__name__)
    if is_frame(rows):
        allowed = "rows as the model saw them, such as model.rows_ beside model.log_"
        raise InvalidArgument("rows", allowed, f"a {type(rows).__name__} with columns by name")
    table, events = as_table(rows), list(log)
    begun = {name: _begun(name, candidate, table) for name, candidate in candidates.items()}
    steps = [Step(one, one.question if isinstance(one, Example) else None) for one in lessons(table, events)]
    if not any(step.asked is not None for step in steps):
        raise InvalidArgument("log", "one with at least one answer", f"{len(events)} events")
    if forecast(begun):
        if loss is not None:
            raise InvalidArgument("loss", "None: all candidates forecast, and are judged by that", loss)
        return judged(begun, steps)
    for name, (learner, state) in begun.items():
        if state is None and is_local(learner):
            allowed = (
                "one that has learnt, forecasts, or learns from any question (exams judge it, and do not teach it)"
            )
            raise InvalidArgument(f"candidates[{name!r}]", allowed, type(learner).__name__)
    return judged(begun, steps, loss)


Begun = Mapping[str, tuple[Learner[Any], Any]]
"""Learners by name, each with its state if it has learnt and is judged as it is, or None."""


def forecast(begun: Begun) -> bool:
    """Return whether all of these forecast, so that they are judged by bits per answer."""
    return all(able(learner, Forecasts) for learner, _ in begun.values())


def judged(begun: Begun, steps: Sequence[Step], loss: Loss | None = None, surest: float = _SUREST) -> Comparison:
    """Return what ``compare`` does, of learners that have been made and of lessons that have been read.

    Forecasts that were wrong are taken for no surer than ``surest``.
    """
    if not forecast(begun):
        return _by_risk(begun, steps, loss or Median())
    found = {name: _forecast(learner, steps, surest) for name, (learner, _) in begun.items()}  # type: ignore[arg-type]
    return Comparison({name: one[0] for name, one in found.items()}, {name: one[1] for name, one in found.items()})


def examine(
    candidates: Mapping[Any, Any], rows: Any, oracle: Oracle, *, seed: int = 0, wide: float = 0.5
) -> list[Event]:
    """Ask one exam question about each row, and return the log: what ``compare`` judges any model by.

    Half of the questions (``wide``) are drawn from all that may be asked, which tells risks; the others between the
    candidates' predictions, which tells how they differ.  ``oracle`` answers, and may skip; candidates have learnt from
    other rows.
    """
    as_number(wide, "wide", 0.0, 1.0)
    X = as_rows(rows)
    begun = [_begun(str(name), candidate, as_table(X)) for name, candidate in candidates.items()]
    if not begun:
        raise InvalidArgument("candidates", "a dictionary of models that have learnt", candidates)
    space = begun[0][0].space
    predicted = [_predicted(learner, learner.init() if state is None else state, X) for learner, state in begun]
    uniform = random_table.uniforms(as_seed(seed), 0, len(X), exam_width(space))
    log: list[Event] = []
    for i in range(len(X)):
        question = exam(space, [one[i] for one in predicted], uniform[i], wide)
        answer = oracle.respond(i, question)
        log.append(Asked(f"exam-{i}", i, question, i))
        log.append(Skipped(f"skip-{i}", f"exam-{i}") if answer is None else Answered(f"bit-{i}", f"exam-{i}", answer))
    return log


def _begun(name: str, candidate: Any, rows: Any) -> tuple[Learner[Any], Any]:
    """Return a candidate's learner, and its state if it has learnt already."""
    learner, state = candidate, None
    if isinstance(candidate, OneBitEstimator):
        begun = candidate
        if "stream_" not in candidate.__dict__:
            begun = clone(candidate)
            begun.begin_with(stacked(rows))
        candidate = begun.stream_
    if isinstance(candidate, Stream):
        learner, state = candidate.learner, candidate.state if candidate.answered else None
    if not isinstance(learner, Learner):
        raise InvalidArgument(f"candidates[{name!r}]", "a Learner or an estimator", type(learner).__name__)
    return learner, state


def _by_risk(begun: Begun, steps: Sequence[Step], loss: Loss) -> Comparison:
    exams = [None if step.asked is None or not tells_risk(step.asked) else step.asked for step in steps]
    if not any(exams):
        raise InvalidArgument("log", "one with exam bits, drawn with a known density: see examine", "none")
    losses = {}
    for name, (learner, state) in begun.items():
        fold, found = Fold(learner, keep=False), []
        for step, asked in zip(steps, exams, strict=True):
            if asked is not None:
                now = fold.state if state is None else state
                found.append(_score(learner, now, step.lesson, asked, loss))
            if state is None:
                _learn(fold, step)
        losses[name] = np.array(found)
    return Comparison(losses, {name: np.full(len(found), np.nan) for name, found in losses.items()}, RISK)


def _score(learner: Learner[Any], state: Any, lesson: Example | Visit, asked: Question, loss: Loss) -> float:
    assert isinstance(lesson, Example)
    space = space_at(learner, state)
    predicted = _predicted(learner, state, np.asarray(lesson.x)[None])
    unit = 1.0
    if isinstance(space, Real) and isinstance(loss, Median | Quantile | Squared) and np.ptp(space.scale) == 0:
        unit = float(space.scale[0]) ** (2 if isinstance(loss, Squared) else 1)
    return unit * float(scores(space, loss, predicted, asked, bool(asked.accept(lesson.answer)))[0])


def _predicted(learner: Learner[Any], state: Any, X: Array) -> Any:
    """Return numbers (n x outputs), classes, or orders."""
    values, space = learner.predict(state, X), space_at(learner, state)
    if isinstance(space, Real):
        return values
    decoded = space.decode(values, X)  # type: ignore[union-attr]  # whatever is not a number decodes
    return list(decoded) if isinstance(space, Ranking) else decoded[:, 0].tolist()


def _forecast(learner: Forecasts[Any], steps: Sequence[Step], surest: float) -> tuple[Array, Array]:
    fold, losses, hits = Fold(learner, keep=False), [], []
    for step in steps:
        if step.asked is not None:
            assert isinstance(step.lesson, Example)
            if not isinstance(step.lesson.answer, bool):
                raise InvalidArgument("log", "one whose answers are yes or no", f"{step.lesson.answer!r}")
            yes = learner.chance(fold.state, step.lesson.x, step.asked)
            said = yes if step.lesson.answer else 1.0 - yes
            losses.append(-np.log2(max(said, surest)))
            hits.append(0.5 if said == 0.5 else float(said > 0.5))
        _learn(fold, step)
    return np.array(losses), np.array(hits)


def _learn(fold: Fold, step: Step) -> None:
    """Learn a lesson that another's question taught, and take over a fit if one is due then."""
    if not step.teaches(fold.learner):
        return
    fold.learn(step.lesson)
    fit = due_fit(fold.learner, fold.state)
    if fit is not None:
        fold.learn(fit)


def _mean(values: Array) -> tuple[float, float]:
    """Return mean and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)
