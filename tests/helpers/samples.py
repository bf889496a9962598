"""Small rows, labels and one model of each kind, for registries x checks; a learner that forecasts."""

import io
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

from askone import load
from askone._common.validate import as_row, as_rows
from askone.estimators.base import OneBitEstimator
from askone.features.kernels import Gaussian, Laplacian
from askone.features.maps import Fourier, Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.abilities import Forecasts
from askone.learners.base import wrong_family
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.questions.half_space import HalfSpace, half_space
from askone.session.oracle import Oracle
from askone.session.simulation import simulate


def small_rows(n: int = 40, d: int = 2) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(n, d))


def small_labels(m: int, n: int = 40) -> np.ndarray:
    X = small_rows(n)
    return np.column_stack([np.sin(X[:, 0] + j) + 0.2 * X[:, 1] for j in range(m)])


def any_labels(learner, n: int = 40) -> np.ndarray:
    """Labels of a learner's space, whatever it is."""
    if isinstance(learner.space, Real):
        return small_labels(learner.space.m, n)
    if isinstance(learner.space, Ranking):
        return np.array([np.random.default_rng(i).permutation(learner.space.items) for i in range(n)])
    return np.array(learner.space.names)[np.arange(n) % learner.space.size]


def models() -> dict[str, object]:
    X = small_rows()
    return {
        "linear": FeatureModel(Linear(Scaler.from_rows(X))),
        "nystroem": FeatureModel(Nystroem.from_rows(X, 12)),
        "sections": FeatureModel(Nystroem.from_rows(X, 12, whiten=False)),
        "fourier": FeatureModel(Fourier.from_rows(X, 16)),
        "kernel": KernelExpansion(Gaussian(1.0), Scaler.identity(2)),
        "laplacian": KernelExpansion(Laplacian(2.0), Scaler.from_rows(X)),
    }


def constant_model() -> FeatureModel:
    """For rows (0,): no context, phi = (1, 0) / sqrt(2)."""
    return FeatureModel(Linear(Scaler.identity(1)))


class Beliefs(NamedTuple):
    logs: np.ndarray
    count: int


@dataclass(frozen=True, eq=False)
class Grid(Forecasts[Beliefs]):
    """y = slope x^power + noise, the slope one of a few: Bayes' rule, exactly.  A small honest forecaster."""

    space: Real
    slopes: tuple[float, ...] = (-1.0, -0.5, 0.0, 0.5, 1.0)
    power: int = 1
    noise: float = 0.3

    @property
    def columns(self):
        return 1

    @property
    def width(self):
        return 1

    def init(self):
        return Beliefs(np.full(len(self.slopes), -np.log(len(self.slopes))), 0)

    def ask(self, state, x, uniform):
        return half_space(self.space, [1.0], float(self.space.to_unit(self.predict(state, as_row(x, 1)))[0, 0]))

    def tell(self, state, x, question, answer):
        yes = self.chances(x, question)
        logs = state.logs + np.log(yes if question.accept(answer) else 1 - yes)
        return Beliefs(logs - np.logaddexp.reduce(logs), state.count + 1)

    def chances(self, x, question):
        """P(yes) for each slope."""
        if not isinstance(question, HalfSpace):
            raise wrong_family(HalfSpace, question)
        means = as_row(x, 1)[0, 0] ** self.power * np.array(self.slopes)
        return ndtr((question.direction[0] * means - question.threshold) / self.noise)

    def predict(self, state, X):
        return as_rows(X, 1) ** self.power * (np.exp(state.logs) @ np.array(self.slopes))

    def count(self, state):
        return state.count

    def to_arrays(self, state):
        return {"logs": state.logs, "count": np.array(state.count)}

    def from_arrays(self, arrays):
        return Beliefs(arrays["logs"], int(arrays["count"]))

    def chance(self, state, x, question):
        return float(np.exp(state.logs) @ self.chances(x, question))

    def worth(self, state, X):
        def entropy(p):
            return -p * np.log(p) - (1 - p) * np.log(1 - p)

        weights = np.exp(state.logs)
        yes = np.array([self.chances(x, self.ask(state, x, np.zeros(1))) for x in as_rows(X, 1)])
        return entropy(yes @ weights) - entropy(yes) @ weights


class GridRegressor(OneBitEstimator):
    """The grid as an estimator."""

    def __init__(self, power=1, *, budget=None, resample=False, select=None, keep_log=None, random_state=None):
        self.power = power
        self.budget = budget
        self.resample = resample
        self.select = select
        self.keep_log = keep_log
        self.random_state = random_state

    def predict(self, X):
        return self._scores(X)[:, 0]

    def _space(self):
        return Real(-1, 1, decimals=None)

    def _learner(self, rows, space, horizon, seed):
        return Grid(space, power=self.power)

    def _hidden(self, X, y):
        return (
            self._validated(X),
            y if isinstance(y, Oracle) else Oracle(y, resample=bool(self.resample)),
            self._space(),
        )


def other_labels(blocks, rng):
    """New labels, as far as can be from the old ones, that answer every question as before."""
    rows = []
    for block in blocks:
        for u, c, answer in zip(block.directions, block.thresholds, block.answers, strict=True):
            side = 1.0 if answer else -1.0
            across = rng.normal(size=len(u)) * 100
            across -= (across @ u) * u
            rows.append(u * (c + side * (1e-6 + rng.exponential(1000.0))) + across)
    return np.array(rows)


def other_names(blocks, names):
    """Names of classes by lot that answer every question as before."""
    rng = np.random.default_rng(1)
    members = ((set(block.question.members), block.answer) for block in blocks)
    return np.array([rng.choice(sorted(said if yes else set(names) - said)) for said, yes in members])


def same(learner, one, other):
    """Whether two states are the same, number by number."""
    a, b = learner.to_arrays(one), learner.to_arrays(other)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def assert_sees_bits_only(learner, X, y, names=None):
    """Other labels (or ``names`` of classes) that answer every question as before leave the same state, bit for bit."""
    first = simulate(learner, X, Oracle(y), at=[], keep=True)
    if names is None:
        others = other_labels(first.blocks, np.random.default_rng(0))
        assert np.abs(others - y).mean() > 50
    else:
        others = other_names(first.blocks, names)
        assert np.mean(others != y) > 0.3
    assert same(learner, first.state, simulate(learner, X, Oracle(others), at=[]).state)


def taught(model, rows, label, questions):
    """The learner and the state of a model that asked about so many rows somebody who knows the label of all."""
    model.start(rows)
    for x in rows[:questions]:
        question = model.ask(x)
        model.tell(question, question.answer(label))
    return model.stream_.learner, model.stream_.state


def reloaded(model):
    """A model, as it comes back from a file."""
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    return load(file)


def real_file(directory, name):
    """A file of real data; where it is not the test is skipped."""
    if not (directory / name).is_file():
        pytest.skip(f"real data: {name} is not in {directory}")
    return directory / name
