"""A fold by blocks is the fold by single lessons, and can be taken back as far."""

import numpy as np

import askone
from askone.session.checkpoints import Example, Fold
from askone.session.log import AUTOMATIC


def lessons(learner, X, y):
    state, found = learner.init(), []
    for i, x in enumerate(X):
        question = learner.ask(state, x, np.empty(0))
        answer = bool(question.answer(y[i]))
        state = learner.tell(state, x, question, answer)
        found += [Example(AUTOMATIC, x, question, answer)] + ([None] if i % 10 == 0 else [])
    return found


def test_blocks_are_single_lessons():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    learner = askone.OneBitRegressor(-2, 2, random_state=0).start(X).stream_.learner
    told = lessons(learner, X, np.sin(X[:, 0]))
    single, blocks = Fold(learner), Fold(learner)
    for lesson in told:
        single.learn(lesson)
    for first in range(0, len(told), 16):
        blocks.learn_many(told[first : first + 16])
    assert single.count == blocks.count == len(told) == 330
    assert np.array_equal(learner.predict(single.state, X), learner.predict(blocks.state, X))
    for count in (320, 200, 40, 3):
        past = blocks.back_to(count)
        assert count - (len(told) - count) - 16 <= past.count <= count
        for lesson in told[past.count : count]:
            past.learn(lesson)
        again = Fold(learner)
        for lesson in told[:count]:
            again.learn(lesson)
        assert np.array_equal(learner.predict(past.state, X), learner.predict(again.state, X))
