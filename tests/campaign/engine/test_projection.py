"""The projection of a campaign: what the fold costs."""

import numpy as np
import pytest

from askone.campaign.engine.projection import Projection
from askone.questions.half_space import HalfSpace
from askone.session.checkpoints import Fold
from askone.session.log import Answered, Asked, Retracted
from askone.store.entries import Entry
from askone.store.notices import Began
from staged import PRICES


class Counting:
    """A learner whose state is how much it was told."""

    def __init__(self):
        self.told = 0

    def init(self):
        return 0

    def count(self, state):
        return state

    def to_arrays(self, state):
        return {"told": np.array(state)}

    def tell(self, state, x, question, answer):
        self.told += 1
        return state + 1


def projection_of(answers):
    projection = Projection(Counting(), lambda places: np.zeros((len(places), 1)))
    projection.note(Entry(Began("b", PRICES.to_json(), answers, ""), seq=1))
    for i in range(answers):
        question = HalfSpace((1.0,), 5.0, number=i)
        projection.note(Entry(Asked(f"ask-{i}", f"r{i}", question, i), "ann", aside={"position": i}, seq=2 * i + 2))
        projection.note(Entry(Answered(f"a{i}", f"ask-{i}", True), "ann", seq=2 * i + 3))
    projection.trainer.settle()
    return projection


@pytest.mark.parametrize("adopted", [False, True])
def test_to_take_back_an_answer_is_to_learn_about_twice_what_came_after_it(adopted):
    for back in (1, 5, 30, 100, 250):
        projection = projection_of(2000)
        if adopted:
            projection.trainer.fold = Fold(projection.learner)
            projection.trainer.adopt(1500, 1500)
            projection.trainer.settle()
        assert len(projection.trainer.fold._states) < 45
        projection.learner.told = 0
        projection.apply([Entry(Retracted("u", f"a{2000 - back}"), "ann", seq=projection.seq + 1)])
        assert projection.learner.told <= 2 * back + 8
        assert projection.state == 1999
