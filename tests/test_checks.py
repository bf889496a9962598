"""The shipped checks find what they are there to find."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from askone import checks
from askone.labels.number import Real
from askone.learners.base import Learner
from askone.learners.sgd.sgd import SGDLearner
from samples import models, small_labels, small_rows

GOOD = SGDLearner(Real(-2, 2), models()["linear"])
X, Y = small_rows(), small_labels(1)


@dataclass(frozen=True, eq=False)
class Broken(Learner):
    """A good learner with one method replaced."""

    inner: SGDLearner
    tricks: dict

    space = property(lambda self: self.inner.space)
    columns = property(lambda self: self.inner.columns)
    width = property(lambda self: self.inner.width)

    def _do(self, name, *arguments):
        return self.tricks.get(name, getattr(self.inner, name))(*arguments)

    def init(self):
        return self._do("init")

    def ask(self, state, x, uniform):
        return self._do("ask", state, x, uniform)

    def ask_many(self, state, X, uniform):
        return self._do("ask_many", state, X, uniform)

    def tell(self, state, x, question, answer):
        return self._do("tell", state, x, question, answer)

    def predict(self, state, X):
        return self._do("predict", state, X)

    def count(self, state):
        return self._do("count", state)

    def to_arrays(self, state):
        return self._do("to_arrays", state)

    def from_arrays(self, arrays):
        return self._do("from_arrays", arrays)


def impure_tell(state, x, question, answer):
    following = GOOD.tell(state, x, question, answer)
    state.params.arrays[:] = following.params.arrays
    return following


_CALLS = iter(range(10**9))


def moody_ask(state, x, uniform):
    question = GOOD.ask(state, x, uniform)
    return replace(question, threshold=question.threshold + 1e-3 * next(_CALLS))


def gullible_tell(state, x, question, answer):
    return GOOD.tell(state, np.zeros(2), question, bool(answer))


@pytest.mark.parametrize(
    ("tricks", "message"),
    [
        ({"tell": impure_tell}, "tell changed the state"),
        ({"ask": moody_ask}, "two questions for one draw"),
        ({"tell": gullible_tell}, "tell took the answer"),
        ({"count": lambda state: 7}, "count does not count"),
        ({"predict": lambda state, X: np.zeros(3)}, "have shape"),
        ({"from_arrays": lambda arrays: GOOD.init()}, "changes through arrays"),
        ({"ask_many": lambda s, X, u: [replace(q, threshold=9.0) for q in GOOD.ask_many(s, X, u)]}, "ask_many differs"),
    ],
)
def test_a_broken_learner_is_found(tricks, message):
    checks.check_learner(Broken(GOOD, {}), X, Y)
    with pytest.raises(AssertionError, match=message):
        checks.check_learner(Broken(GOOD, tricks), X, Y)
