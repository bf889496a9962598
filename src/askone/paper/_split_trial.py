"""One random split of a data set with classes: test error against questions, by strategy.

All strategies learn the paper's model, a Gaussian kernel expansion that grows with every answer.  Its
features are scaled over all rows before they are split, as in the paper, so the kernel matrix is the
same for every split: it is computed once, and the streams look it up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from askone import datasets
from askone._common import random_table
from askone._common.types import Array
from askone.features.kernels import Gaussian, Kernel, Points
from askone.features.scaling import Scaler
from askone.labels.classes import Classes
from askone.labels.losses import Squared
from askone.labels.number import Real
from askone.learners.base import Learner
from askone.learners.gradients import MedianSphere
from askone.learners.gradients.subset import Designed, Passive
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import DoG, InverseSqrt
from askone.paper._many_trials import StreamTrial, errors

ACTIVE, PASSIVE, DESIGNED = "active", "passive", "designed"
_READABLE = 3  # classes in one question: as the classifier asks


@final
@dataclass(frozen=True, eq=False)
class Looked(Kernel):
    """A kernel matrix that is known: a row is its own number, and k(i, j) = table[i, j].

    Rows that are compared must follow each other, as those of a stream without skips do: then nothing
    is copied.

    >>> Looked(np.eye(3)).matrix(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    table: Array
    bandwidth: float = 1.0
    name: ClassVar[str] = "looked"

    def _matrix(self, X: Array, Z: Points) -> Array:
        return self.table[_run(X), _run(Z.rows)]


def _run(rows: Array) -> slice:
    first, last = int(rows[0, 0]), int(rows[-1, 0])
    if last - first + 1 != len(rows):
        raise ValueError(f"rows {first} to {last} are not {len(rows)} rows that follow each other")
    return slice(first, last + 1)


def two_thirds(rows: int) -> int:
    """Return how many rows of a split train."""
    return 2 * rows // 3


def split_errors(
    data: str, bandwidth: float, steps: dict[str, float], splits: list[int], rows: int, at: list[int],
    device: str | None = None,
) -> dict[str, list[list[float]]]:  # fmt: skip
    """Test errors, splits x checkpoints, of every strategy in ``steps`` (gamma_0; ignored by "designed").

    Of the first ``rows`` rows two thirds, at random, are asked about, one question each, in a random order.  With a
    device all splits are computed at once on it, the kernel as it is needed.
    """
    loaded, kernel = datasets.load(data), Gaussian(bandwidth)
    X, y = loaded.X[:rows], loaded.y[:rows]
    scaled = Scaler.from_rows(X)(X)
    orders = [_order(split, len(X)) for split in splits]
    if device is not None:
        model = KernelExpansion(kernel, Scaler.identity(X.shape[1]))
        learners = {family: _learner(family, gamma, model) for family, gamma in steps.items()}
        places = list(zip(splits, orders, strict=True))
        return {
            family: errors(one, [_trial(one, scaled[order], y[order], split) for split, order in places], at, device)
            for family, one in learners.items()
        }
    gram, table = kernel.matrix(scaled, scaled), np.empty((len(X), two_thirds(len(X))))
    model = KernelExpansion(Looked(table), Scaler.identity(1))
    found: dict[str, list[list[float]]] = {family: [] for family in steps}
    for split, order in zip(splits, orders, strict=True):
        for row, number in zip(table, order, strict=True):
            np.take(gram[number], order[: table.shape[1]], out=row, mode="clip")
        for family, gamma in steps.items():
            learner = _learner(family, gamma, model)
            found[family] += errors(learner, [_trial(learner, _numbers(len(X)), y[order], split)], at)
    return found


def _order(split: int, rows: int) -> Array:
    return np.argsort(random_table.uniforms(split, 0, 1, rows, random_table.ORDER)[0], kind="stable")


def _numbers(rows: int) -> Array:
    return np.arange(rows, dtype=float)[:, None]


def _learner(family: str, gamma: float, model: KernelExpansion) -> Learner[Any]:
    names = tuple(range(10))
    if family == ACTIVE:  # one-hot labels as they are: [-1, 1] is their own unit
        return SGDLearner(Real((-1.0,) * 10, (1.0,) * 10), model, MedianSphere(), InverseSqrt(gamma))
    if family == PASSIVE:
        return Surrogate(Passive(Classes(names)), model, InverseSqrt(gamma))
    return Surrogate(Designed(Classes(names, max_set_size=_READABLE), Squared()), model, DoG(1.0))


def _trial(learner: Learner[Any], X: Array, y: Array, split: int) -> StreamTrial:
    """Ask about the first two thirds of rows that are in their order, and measure on the others."""
    asked, classes = two_thirds(len(X)), Classes(tuple(range(10)))
    hidden = np.eye(10)[y[:asked]] if isinstance(learner, SGDLearner) else y[:asked]

    def error(scores: Array) -> float:
        return float(np.mean(classes.best(scores, _numbers(len(X))[asked:], split) != y[asked:]))

    return StreamTrial(split, X[:asked], hidden, X[asked:], error)
