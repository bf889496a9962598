"""Fits come with the backups and models of strangers: what compiled loops could not walk through is refused."""

import numpy as np
import pytest

import askone
from askone.errors import InvalidArgument
from askone.features.layout import RowLayout
from askone.features.scaling import Scaler
from askone.learners.mixture.members import LinearMember
from samples import small_labels, small_rows

pytest.importorskip("lightgbm")
X, y = small_rows(200), small_labels(1, 200)[:, 0]


@pytest.fixture(scope="module")
def fitted():
    """A mixture, its state after 130 answers, and the fit of all its members."""
    choice = askone.Filters(fitted=True)
    learner = askone.OneBitRegressor(-2, 2, learner=choice, random_state=0).start(X).stream_.learner.base
    state = learner.init()
    for i in range(130):
        question = learner.ask(state, X[i], np.full(learner.width, 0.5))
        state = learner.tell(state, X[i], question, bool(question.answer(y[i])))
    return learner, state, learner.fit(state)


def test_a_fit_of_ones_own_is_taken(fitted):
    learner, state, fit = fitted
    after = learner.adopt(state, fit)
    again = learner.from_arrays(learner.to_arrays(after))
    assert np.array_equal(learner.predict(again, X), learner.predict(after, X))


def place(fit, ending):
    return next(name for name in fit if name.endswith(f"-{ending}"))


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("scale", lambda a: np.array(np.inf)),
        ("middle", lambda a: a[:0]),
        ("value", lambda a: a[:1]),
        ("value", lambda a: a.astype(np.float32)),
        ("feature", lambda a: a + 1000),
        ("feature", lambda a: a - 1000),
        ("left", lambda a: np.zeros_like(a)),  # round and round
        ("right", lambda a: a + 100_000),
        ("right", lambda a: a[:-1]),
        ("roots", lambda a: a - 100_000),
        ("roots", lambda a: a.astype(np.int64)),
        ("words", lambda a: a[:-1]),
        ("threshold", lambda a: a[:-1]),
        ("threshold", None),
    ],
)
def test_what_nobody_fitted_is_refused(fitted, name, spoil):
    learner, state, fit = fitted
    odd, found = dict(fit), place(fit, name)
    if spoil is None:
        del odd[found]
    else:
        odd[found] = spoil(odd[found])
    with pytest.raises(InvalidArgument, match="fit"):
        learner.adopt(state, odd)


@pytest.mark.parametrize(
    "W", [np.zeros((5, 1)), np.zeros((6, 2)), np.full((6, 1), np.nan), np.zeros(6), np.zeros((6, 1), int)]
)
def test_weights_are_those_of_columns_and_terms(W):
    member = LinearMember(RowLayout(2, (), (), 2, 3), Scaler.identity(2), 1.0)
    member.check({"W": np.zeros((6, 1))}, 1)
    with pytest.raises(InvalidArgument, match="W"):
        member.check({"W": W}, 1)
    # A row's terms are in the backup of a stranger, too.
    row = np.array([[0.0, 0.0, 3.0, 4.0, 1.0, 1.0], [0.0, 0.0, -1.0, 2.0**40, 1.0, 1.0]])
    assert member.scores({"W": np.arange(6.0)[:, None]}, row).ravel().tolist() == [9.0, 5.0]


def test_a_fit_says_of_how_many_answers_it_is(fitted):
    learner, state, fit = fitted
    with pytest.raises(InvalidArgument, match="told"):
        learner.adopt(state, {**fit, "told": np.array([1, 2])})
