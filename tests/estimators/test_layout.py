"""Rows with a layout: learners see the dense columns, saved models keep what the others are."""

import numpy as np
import pytest

import askone
from askone.errors import InvalidArgument
from askone.estimators.learner_choices.defaults import Filters, SetLikelihood
from askone.estimators.learner_choices.gradients import SGD
from askone.features.layout import RowLayout
from samples import reloaded

LAYOUT = RowLayout(dense=2, hidden=(1,), levels=(4,), pairs=2, terms=9)
RANDOM = np.random.default_rng(0)
X = np.column_stack([RANDOM.normal(size=(60, 2)), RANDOM.integers(-1, 4, (60, 1)), RANDOM.integers(0, 9, (60, 4))])


@pytest.mark.parametrize(
    "model",
    [
        askone.OneBitRegressor(-3, 3, learner=Filters(fitted=False), random_state=0),
        askone.OneBitRegressor(-3, 3, learner=Filters(model="linear"), random_state=0),
        askone.OneBitRegressor(-3, 3, learner=SGD(model="kernel"), random_state=0),
        askone.OneBitRegressor(-3, 3, learner="rls", random_state=0),
        askone.OneBitClassifier(["a", "b", "c"], learner=SetLikelihood(fitted=False), random_state=0),
        askone.OneBitClassifier(["a", "b", "c"], learner=SetLikelihood(model="fourier"), random_state=0),
    ],
)
def test_a_learner_without_use_for_terms_sees_the_dense_columns(model):
    model.start(X, layout=LAYOUT)
    for x in X[:20]:
        model.tell(model.ask(x), bool(x[0] > 0))
    again = reloaded(model)
    assert again.layout_ == LAYOUT
    other = X.copy()
    other[:, 2:] = 3
    assert (model.predict(X) == again.predict(other)).all()


def test_a_layout_of_another_width_is_refused():
    with pytest.raises(InvalidArgument, match="X must be rows of 7 columns, as in layout; got 3 columns"):
        askone.OneBitRegressor(0, 1).start(X[:, :3], layout=LAYOUT)
