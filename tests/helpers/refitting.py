"""A small learner that is fitted now and then: for tests of fits as entries of a log."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import askone
from askone._common.validate import as_row, as_rows
from askone.learners import registry
from askone.learners.abilities import Forecasts, HasRange, Refits
from askone.learners.base import of_family
from askone.questions.half_space import HalfSpace, half_space, in_unit_labels


@dataclass(frozen=True, eq=False)
class FittedState:
    """Thresholds and answers so far, a running guess, and the fit: the slope of its steps, after how many answers."""

    bits: np.ndarray
    level: float
    slope: np.ndarray
    at: int


@dataclass(frozen=True, eq=False)
class FittedMean(Forecasts, HasRange, Refits):
    """The mean of thresholds; how long its steps are is fitted when there are 6 answers, and each time a fifth more.

    So its state depends on which fit took effect, and where.
    """

    space: askone.Real
    inputs: int
    first: int = 6
    width = 1

    @property
    def columns(self):
        return self.inputs

    def within(self, space):
        return replace(self, space=space)

    def init(self):
        return FittedState(np.zeros((0, 2)), 0.0, np.ones(1), 0)

    def ask(self, state, x, uniform):
        as_row(x, self.columns)
        return half_space(self.space, (1.0,), state.level + 0.2 * (float(uniform[0]) - 0.5), 1.0, self.count(state))

    def tell(self, state, x, question, answer):
        as_row(x, self.columns)
        answer, c = of_family(question, HalfSpace).accept(answer), in_unit_labels(self.space, question)[1]
        step = 0.5 * float(state.slope[0]) / (len(state.bits) + 2)
        bits = np.vstack([state.bits, [c, answer]])
        return replace(state, bits=bits, level=state.level + (step if answer else -step))

    def predict(self, state, X):
        return self.space.from_unit(np.full((len(as_rows(X, self.columns)), 1), state.level))

    def chance(self, state, x, question):
        as_row(x, self.columns)
        c = in_unit_labels(self.space, of_family(question, HalfSpace))[1]
        return 0.05 + 0.9 / (1.0 + float(np.exp(c - state.level)))

    def worth(self, state, X):
        return np.ones(len(as_rows(X, self.columns)))

    def count(self, state):
        return len(state.bits)

    def due(self, state):
        return len(state.bits) >= max(self.first, 1.2 * state.at)

    def fit(self, state):
        yes, c = state.bits[:, 1], state.bits[:, 0]
        return {"slope": np.array([0.5 + abs(np.mean(yes - 0.5)) + np.std(c)]), "at": np.array(len(state.bits))}

    def adopt(self, state, fit):
        return replace(state, slope=fit["slope"], at=len(state.bits))


@pytest.fixture
def fitted(monkeypatch):
    """The learner is known by its name, as the only one of a test's own."""
    monkeypatch.setattr(registry, "_OWN", {})
    register()


def register(first=6):
    """Let estimators and campaigns have it by the name ``fitted``."""
    registry.register("fitted", FittedMean, lambda space, rows, columns, seed: FittedMean(space, columns, first))
