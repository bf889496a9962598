"""What a mixture does when the concept changes, and when only the learner thinks so."""

from dataclasses import replace

import numpy as np
import pytest

import askone
from askone import Filters, SetLikelihood

pytest.importorskip("lightgbm")

CHANGE, ROWS = 1200, 2600
X = np.random.default_rng(0).uniform(-1, 1, size=(ROWS, 4))
NEW = np.random.default_rng(1).uniform(-1, 1, size=(800, 4))
NEXT = {"a": "b", "b": "c", "c": "a"}


def number(X):
    return 0.6 * (X[:, 0] > 0) * np.sign(X[:, 1]) + 0.3 * X[:, 2]


def animal(X):
    return np.where((X[:, 0] > 0) & (X[:, 1] > 0), "a", np.where(X[:, 2] * X[:, 3] > 0, "b", "c"))


def fitted_to(model, labels):
    model.fit(X, labels)
    return model.stream_.learner.base, model.stream_.state.base


@pytest.mark.parametrize("fitted", [True, False])
def test_numbers_that_turn_round(fitted):
    """Corners, which trees know and kernels do not: alone the bank errs by .13 or so, before the change and after."""
    noise = 0.02 * np.random.default_rng(2).normal(size=ROWS)
    labels = number(X) * np.where(np.arange(ROWS) < CHANGE, 1, -1) + noise
    model = askone.OneBitRegressor(-1.2, 1.2, learner=Filters(fitted=fitted), random_state=0)
    learner, state = fitted_to(model, labels)
    error = np.abs(model.predict(NEW) + number(NEW)).mean()
    if not fitted:
        assert 0.1 < error < 0.2
        return
    assert error < 0.08
    assert CHANGE - 150 < learner._since(state) < CHANGE + 150


def test_classes_that_take_turns():
    labels = animal(X)
    labels[CHANGE:] = [NEXT[one] for one in labels[CHANGE:]]
    model = askone.OneBitClassifier(["a", "b", "c"], random_state=0)
    learner, state = fitted_to(model, labels)
    assert (model.predict(NEW) != [NEXT[one] for one in animal(NEW)]).mean() < 0.02
    assert CHANGE - 150 < learner._since(state) < CHANGE + 150


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_learner_that_begins_anew_for_nothing(kind):
    """The models that know more stay what they are: they are fitted to all answers, and judged anew beside it."""
    if kind == "numbers":
        model = askone.OneBitRegressor(-1.2, 1.2, learner=Filters(), random_state=0).fit(X[:700], number(X[:700]))
    else:
        model = askone.OneBitClassifier(["a", "b", "c"], learner=SetLikelihood(), random_state=0)
        model.fit(X[:700], animal(X[:700]))
    learner, state = model.stream_.learner.base, model.stream_.state.base
    assert learner.shares(state)[1][0] < 0.7
    anew = replace(state, base=learner.base.init())
    assert (learner._began(anew), learner._since(anew)) == (700, 0)
    assert learner.shares(anew)[1][0] > learner.shares(state)[1][0]
    late = replace(anew, turns=np.where(np.arange(4)[:, None] == 1, 700, anew.turns))
    fit = learner.fit(late)
    assert (fit["told"], fit["since"]) == (700, 0)
    assert learner._since(replace(anew, awake=-1)) == 700
