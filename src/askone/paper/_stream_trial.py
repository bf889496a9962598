"""One pass through a real regression stream with p = 100 representers: test error against questions.

No label is used but through answers: a learner starts at zero and knows a declared range of outputs.
What the published scripts do instead (start near a kernel ridge fit of the representers' labels, outputs
scaled by the mean and deviation of all training labels) is here by the name of ``leak``, to be compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from scipy.special import ndtri

from askone import datasets
from askone._common import random_table
from askone._common.types import Array
from askone.errors import Diverged
from askone.features.maps import Nystroem
from askone.labels.number import Real
from askone.learners.gradients import MedianSphere, RandomThreshold
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.step_rules import InverseSqrt
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

REPRESENTERS, RIDGE = 100, 1e-6
NO_LEAK, LEAK, SHRUNK = "no", "labels", "labels, shrunk average"
_SPREAD = 1 / 3  # of passive thresholds, in half ranges
_LEAK_SPREAD = 0.3  # of passive thresholds, in standard deviations of the labels: the script's
_FIRST = 100  # the script averages from this step on, with weights that forget it


@final
@dataclass(frozen=True)
class Setting:
    """Settings of one learner: parametrisation, kernel width, step (None: tuned), family of questions, what leaks.

    ``whiten`` False is the paper's parametrisation, f(x) = sum_i a_i k(x, x_i) with Euclidean steps on a.
    """

    bandwidth: float
    whiten: bool
    family: str
    gamma: float | None
    leak: str = NO_LEAK


@final
@dataclass(frozen=True, eq=False)
class RealStream:
    """Rows to ask about in order, rows to measure with, rows kept apart for tuning, the declared range."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    tuning: slice
    low: float
    high: float


# A range that somebody who never saw a label would declare: Hungary's records are -35 and 42 degrees;
# oxygen saturation is a percentage, and warm surface water is somewhat supersaturated.
RANGES = {"weather": (-35.0, 45.0), "calcofi": (0.0, 120.0)}
_TUNING = {"weather": 20_000, "calcofi": 50_000}
_TESTED = {"weather": 26_453, "calcofi": 10_000}
GRID = tuple(float(f"{10.0**e:.3g}") for e in np.arange(-3, 3.1, 0.5))


@lru_cache(maxsize=1)
def stream_of(data: str, rows: int) -> RealStream:
    """Return the first rows of a data set in file order; the last of its training rows are for tuning."""
    loaded = datasets.load(data)
    held = _TUNING[data]
    # In a quick look the stream is short, and so is what it is tuned on: as long as the stream, at most.
    tuning = slice(len(loaded.X) - held, len(loaded.X) - held + min(held, rows))
    chosen = np.argsort(random_table.uniforms(0, 0, 1, len(loaded.X_test), random_table.DESIGN)[0], kind="stable")
    tested = np.sort(chosen[: _TESTED[data]])
    return RealStream(loaded.X, loaded.y, loaded.X_test[tested], loaded.y_test[tested], tuning, *RANGES[data])


def stream_trial(data: str, rows: int, seed: int, at: list[int], setting: dict[str, Any]) -> dict[str, Any]:
    """Return mean absolute test errors (in the labels' units) at the checkpoints, and the step that was used.

    A tuned step is the best of ``GRID`` on rows of the training stream kept apart for it: the tuned stream
    ends before them.
    """
    how, stream = Setting(**setting), stream_of(data, rows)
    gamma = tuned(stream, how, seed) if how.gamma is None else how.gamma
    last = min(rows, stream.tuning.start) if how.gamma is None else rows
    errors = _errors(stream, np.arange(last), how, gamma, seed, at, (stream.X_test, stream.y_test))
    return {"at": [t for t in at if t < last] + [last], "errors": errors, "gamma": gamma}


def tuned(stream: RealStream, how: Setting, seed: int) -> float:
    """Return the gamma_0 of ``GRID`` with the least error: every third tuning row measures, the others are asked."""
    numbers = np.arange(stream.tuning.start, stream.tuning.stop)
    asked, held = numbers[numbers % 3 > 0], numbers[numbers % 3 == 0]
    measured = (stream.X[held], stream.y[held])

    def error(gamma: float) -> float:
        try:
            return _errors(stream, asked, how, gamma, seed, [], measured)[-1]
        except Diverged:
            return float("inf")

    return min(GRID, key=error)


def _errors(
    stream: RealStream, part: Array, how: Setting, gamma: float, seed: int, at: list[int], measured: tuple[Array, Array]
) -> list[float]:
    X, y = stream.X[part], stream.y[part]
    learner, state = _prepared(stream, how, gamma, seed)
    X_test, y_test = measured
    shrunk, center = how.leak == SHRUNK, float(np.mean(stream.y))
    # What the script's average keeps of the mean of t iterates, since it divides by i + 1; the last checkpoint is the
    # end of the stream, as ``simulate`` has it.
    shares = iter([t / (t + _FIRST) for t in at if t < len(X)] + [len(X) / (len(X) + _FIRST)])

    def error(predicted: Array) -> float:
        shown = center + next(shares) * (predicted[:, 0] - center) if shrunk else predicted[:, 0]
        return float(np.abs(shown - y_test).mean())

    at = at or [len(X)]
    outcome = simulate(learner, X, Oracle(y), seed=seed, state=state, at=at, test=X_test, evaluate=error)
    return [value for _, value in outcome.curve]


def _prepared(stream: RealStream, how: Setting, gamma: float, seed: int) -> tuple[SGDLearner, SGDState]:
    features, leaking = _features(stream, how.bandwidth, how.whiten, seed), how.leak != NO_LEAK
    # Mean plus and minus one standard deviation of all labels: nobody should know them.
    mean, deviation = stream.y.mean(), stream.y.std()
    low, high = (float(mean - deviation), float(mean + deviation)) if leaking else (stream.low, stream.high)
    spread = _LEAK_SPREAD if leaking else _SPREAD
    gradient = MedianSphere() if how.family == "active" else RandomThreshold(spread=spread)
    learner = SGDLearner(Real(low, high), FeatureModel(features), gradient, InverseSqrt(gamma), ridge=RIDGE)
    state = learner.init()
    return learner, _near_labels(learner, state, features, stream, seed) if leaking else state


@lru_cache(maxsize=4)
def _features(stream: RealStream, bandwidth: float, whiten: bool, seed: int) -> Nystroem:
    """Return representers among the training rows, which bear no label here."""
    return Nystroem.from_rows(stream.X, REPRESENTERS, "gaussian", bandwidth, whiten=whiten, seed=seed)


def _near_labels(learner: SGDLearner, state: SGDState, features: Nystroem, stream: RealStream, seed: int) -> SGDState:
    """Return the script's start: kernel ridge on the labels of the representers, plus some noise."""
    Z = features.representers
    gram = features.kernel.matrix(Z, Z) + RIDGE * len(Z) * np.eye(len(Z))
    labels = learner.space.to_unit(_labels_of(Z, features, stream)[:, None])
    noise = ndtri(random_table.uniforms(seed, 7, 1, len(Z), random_table.DESIGN)[0])
    arrays = learner.to_arrays(state)
    accumulators = arrays["arrays"].copy()
    accumulators[0, 0] = np.linalg.solve(gram, labels[:, 0]) + 0.1 * noise
    return learner.from_arrays({**arrays, "arrays": accumulators})


def _labels_of(Z: Array, features: Nystroem, stream: RealStream) -> Array:
    rows = features.scaler(stream.X)
    candidates = (np.flatnonzero(rows[:, 0] == z[0]) for z in Z)
    return np.array([stream.y[c[(rows[c] == z).all(axis=1)][0]] for c, z in zip(candidates, Z, strict=True)])


def baseline(data: str, rows: int) -> float:
    """Return the paper's dashed line: apparent = real temperature; linear regression on all training labels."""
    stream = stream_of(data, rows)
    if data == "weather":
        predicted = stream.X_test[:, 0]
    else:
        weights = np.linalg.lstsq(np.column_stack([np.ones(len(stream.X)), stream.X]), stream.y, rcond=None)[0]
        predicted = weights[0] + stream.X_test @ weights[1:]
    return float(np.abs(predicted - stream.y_test).mean())
