"""What the default is measured against, each at its best setting: Algorithm 1, passive questions, all labels.

Built from the learners, never from an estimator's defaults.  A job tries every step (or ridge) at one
kernel width; the best of all in each column, by the test error, is what is shown: more than a user
could choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from efficiency_tasks import (
    ALGORITHM,
    BY_NAME,
    CLASSES,
    FULL,
    NUMBERS,
    ORDERS,
    PASSIVE,
    Problem,
    Task,
    best_orders,
    problem_of,
    ranking_of,
)

from askone import Classes, Oracle, Real, simulate
from askone._common.types import Array
from askone.errors import Diverged
from askone.features.maps import FeatureMap
from askone.labels.losses import Squared
from askone.learners.base import Learner
from askone.learners.gradients import MedianSphere, RandomThreshold
from askone.learners.gradients import ranking as rankings
from askone.learners.gradients.subset import Passive
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import InverseSqrt, Polynomial

Curves = dict[str, dict[str, list[float | None]]]
"""By curve and setting: an error at every point; None where the steps ran away."""

RIDGES = (1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
_SPREAD = 1 / 3  # of passive thresholds, in half ranges


@final
@dataclass(frozen=True, eq=False)
class GivenAnswer(FeatureMap):
    """Features that were computed before: a row is its own."""

    many: int
    name: ClassVar[str] = "given"

    @property
    def columns(self) -> int:
        return self.many

    @property
    def size(self) -> int:
        return self.many

    def __call__(self, X: Array) -> Array:
        return np.ascontiguousarray(X)


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """A draw of a task with the features of all its rows, at one kernel width: computed once for all steps."""

    task: Task
    problem: Problem
    train: Array
    test: Array
    seed: int

    @property
    def model(self) -> FeatureModel:
        return FeatureModel(GivenAnswer(self.train.shape[1]))


def baseline_curves(name: str, quick: bool, seed: int, width: float) -> Curves:
    """Every baseline of a task at one kernel width, with each of its steps."""
    task = BY_NAME[name].quick() if quick else BY_NAME[name]
    problem = problem_of(task, seed)
    features = problem.features(width, task.components, seed)
    train, test = (features(np.ascontiguousarray(X)) for X in (problem.X, problem.X_test))
    prepared = Prepared(task, problem, train, test, seed)
    curves: Curves = {FULL: _ridges(prepared)}
    unused = task.passive_widths and width not in task.passive_widths
    for curve, setting, learner, hidden, judged in _CONTENDERS[task.kind](prepared):
        if curve == PASSIVE and unused:
            continue
        curves.setdefault(curve, {})[setting] = _curve(prepared, learner, hidden, judged)
    return curves


def _curve(
    prepared: Prepared, learner: Learner[Any], hidden: Array, judged: Callable[[Array], float]
) -> list[float | None]:
    at = prepared.task.at
    look: dict[str, Any] = {"at": at, "test": prepared.test, "evaluate": judged}
    try:
        return [e for _, e in simulate(learner, prepared.train, Oracle(hidden), seed=prepared.seed, **look).curve]
    except Diverged:
        return [None] * len(at)


Contender = tuple[str, str, Learner[Any], Array, Callable[[Array], float]]


def _numbers(prepared: Prepared) -> Iterator[Contender]:
    task, problem = prepared.task, prepared.problem
    m = task.outputs
    space = Real((task.low,) * m, (task.high,) * m, decimals=None)
    for curve, gradient, gammas in (
        (ALGORITHM, MedianSphere(), task.gammas),
        (PASSIVE, RandomThreshold(spread=_SPREAD if task.data else 1.0), task.passive),
    ):
        for gamma in gammas:
            learner = SGDLearner(space, prepared.model, gradient, InverseSqrt(gamma))
            yield curve, f"γ {gamma:g}", learner, problem.hidden, problem.error


def _classes(prepared: Prepared) -> Iterator[Contender]:
    """Algorithm 1 cuts one-hot labels by half-spaces; passive are balanced random sets and the infimum loss."""
    task, problem, m = prepared.task, prepared.problem, prepared.task.outputs
    space, judged = Real((-1.0,) * m, (1.0,) * m, decimals=None), partial(_judged, prepared)
    for gamma in task.gammas:
        learner = SGDLearner(space, prepared.model, MedianSphere(), InverseSqrt(gamma))
        yield ALGORITHM, f"γ {gamma:g}", learner, problem.targets, judged
    for gamma in task.passive:
        passive = Surrogate(Passive(Classes(tuple(range(m)))), prepared.model, InverseSqrt(gamma))
        yield PASSIVE, f"γ {gamma:g}", passive, problem.hidden, judged


def _orders(prepared: Prepared) -> Iterator[Contender]:
    """The paper's: thresholded least squares on pairs; passive: Borda scores from random pairs."""
    task, problem = prepared.task, prepared.problem
    for curve, family, gammas in ((ALGORITHM, "thresholded", task.gammas), (PASSIVE, "borda", task.passive)):
        strategy = rankings.rank_strategy(ranking_of(task), Squared(), family)

        def judged(scores: Array, space: Any = strategy.space) -> float:
            decoded = best_orders(space, scores) if space.embedding == "pairs" else space.from_scores(scores)
            return problem.error(decoded)

        for gamma in gammas:
            learner = Surrogate(strategy, prepared.model, InverseSqrt(gamma), Polynomial())
            yield curve, f"γ {gamma:g}", learner, problem.hidden, judged


_CONTENDERS: dict[str, Callable[[Prepared], Iterator[Contender]]] = {
    NUMBERS: _numbers,
    CLASSES: _classes,
    ORDERS: _orders,
}


# -- all labels ----------------------------------------------------------------------------------------


def _ridges(prepared: Prepared) -> dict[str, list[float | None]]:
    """Least squares with a ridge on the labels themselves, anew at each point of the curve."""
    task, problem = prepared.task, prepared.problem
    p = prepared.train.shape[1]
    center = 0.5 * (task.low + task.high) if task.kind == NUMBERS else 0.0
    gram, moment, done = np.zeros((p, p)), np.zeros((p, problem.targets.shape[1])), 0
    found: dict[str, list[float | None]] = {f"λ {ridge:g}": [] for ridge in RIDGES}
    for stop in task.at:
        phi, targets = prepared.train[done:stop], problem.targets[done:stop]
        gram, moment, done = gram + phi.T @ phi, moment + phi.T @ (targets - center), stop
        values, vectors = np.linalg.eigh(gram)
        turned, rotated = vectors.T @ moment, prepared.test @ vectors
        for ridge in RIDGES:
            scores = rotated @ (turned / (np.maximum(values, 0) + ridge)[:, None])
            found[f"λ {ridge:g}"].append(_judged(prepared, scores + center))
    return found


def _judged(prepared: Prepared, scores: Array) -> float:
    task, problem = prepared.task, prepared.problem
    if task.kind == CLASSES:
        return problem.error(Classes(tuple(range(task.outputs))).best(scores, problem.X_test, prepared.seed))
    return problem.error(ranking_of(task).from_scores(scores, problem.X_test) if task.kind == ORDERS else scores)
