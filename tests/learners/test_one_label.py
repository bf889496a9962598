"""Several answers about one row share one unknown label: exactly, by Bayes' rule."""

import numpy as np
import pytest

import askone
from askone.features.maps import Linear, Scaler
from askone.labels.classes import Classes
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.one_label import are_last, in_turn, joined, said_before, together
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.questions.base import ErrorRates
from askone.questions.subset import Subset
from samples import reloaded

NAMES = ("ant", "bee", "cow")


def cells(n, seed=0):
    return np.random.default_rng(seed).uniform(0.05, 0.95, (n, 3))


def test_each_is_kept_with_those_before_it():
    each, rows = cells(6), np.array([5.0, 0.0, 7.0, 5.0, 0.0, 5.0])
    kept = in_turn(each, rows)
    assert kept[[0, 1, 2, 4]].tolist() == each[[0, 1, 2, 4]].tolist()  # they stand alone, or come first
    for place, mine in ((3, [0, 3]), (5, [0, 3, 5])):
        product = each[mine].prod(axis=0)
        assert kept[place] == pytest.approx(product / product.max())
    assert are_last(rows).tolist() == [False, True, True, False, True, True]
    store = Buffer(6).extended(0, np.column_stack([np.zeros((6, 2)), kept, rows]))  # columns of the row come first
    assert said_before(store.view(6)[:, 2:], store.last(6, 5)).tolist() == kept[5].tolist()
    assert said_before(store.view(6)[:, 2:], store.last(6, 6)) is None
    before = said_before(store.view(5)[:, 2:], store.last(5, 5))  # by an older state, which shares the store
    assert before.tolist() == kept[3].tolist()


def test_what_was_said_before_is_found_as_by_looking_through_all():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 40, 300).astype(float)
    store, kept = Buffer(2), 0
    for start, stop in ((0, 1), (1, 130), (130, 131), (131, 300)):
        store, kept = store.extended(kept, np.column_stack([np.arange(start, stop), rows[start:stop]])), stop
        for n in (kept, kept // 2, kept):
            for row in range(41):
                found = np.flatnonzero(rows[:n] == row)
                assert store.last(n, row) == (found[-1] if len(found) else None)
    branch = store.extended(100, np.array([[0.0, 77.0]]))  # from an older state on another way
    assert (branch.last(101, 77.0), branch.last(100, 77.0), store.last(300, 77.0)) == (100, None, None)


def test_of_all_about_a_row_and_of_the_others():
    each, rows = cells(5, 1), np.array([3.0, 3.0, 0.0, 3.0, 0.0])
    whole, others = together(each, rows)
    product = each[[0, 1, 3]].prod(axis=0)
    for place in (0, 1, 3):
        assert whole[place] == pytest.approx(product / product.max())
        rest = product / each[place]
        assert others[place] == pytest.approx(rest / rest.max())
    assert whole[2].tolist() == each[2].tolist()
    assert others[4].tolist() == [1.0, 1.0, 1.0]


def test_people_who_exclude_every_class_leave_something():
    both = joined(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.0]))
    assert np.isfinite(both).all()
    assert both.max() == 1.0


@pytest.fixture
def learner():
    return SetLikelihoodLearner(Classes(NAMES), Linear(Scaler.identity(1)), scales=(1.0,), temperatures=(1.0,))


def asked(members, slips, row="photo"):
    return Subset(members).put_to(slips).of_row(row)


def test_a_second_answer_is_foretold_by_what_the_first_left(learner):
    """P(b2 | b1) = sum of p A1 A2 / sum of p A1, with p that of the model after b1."""
    first, second = asked(("ant",), ErrorRates(0.1, 0.2)), asked(("ant", "bee"), ErrorRates(0.05, 0.1))
    state = learner.tell(learner.init(), [1.0], first, True)
    p = learner.probabilities(state, [[1.0]])[0]
    one, two = np.array([0.8, 0.1, 0.1]), np.array([0.9, 0.9, 0.05])
    assert learner.chance(state, [1.0], second) == pytest.approx((p * one * two).sum() / (p * one).sum())
    apart = learner.chance(state, [1.0], Subset(("ant", "bee")).put_to(ErrorRates(0.05, 0.1)))
    assert apart == pytest.approx((p * two).sum())


def test_the_order_of_answers_about_a_row_does_not_matter(learner):
    each = [(asked(("ant",), ErrorRates(0.1, 0.2)), True), (asked(("bee", "cow"), ErrorRates(0.3, 0.1)), True)]
    fitted = []
    for order in (each, each[::-1]):
        state = learner.init()
        for question, answer in order:
            state = learner.tell(state, [1.0], question, answer)
        for _ in range(10):  # each is a step or two towards the best fit
            state = learner.relearnt(state, np.ones((2, 1)), *map(list, zip(*order, strict=True)))
        fitted.append(state)
    one, other = fitted
    np.testing.assert_allclose(one.W, other.W, atol=1e-4)


def test_the_same_answer_ten_times_about_one_row_is_about_one_label(learner):
    """Ten people who err agree about one photo: it is one photo, while ten photos are ten."""
    together, apart = learner.init(), learner.init()
    for n in range(10):
        together = learner.tell(together, [1.0], asked(("ant",), ErrorRates(0.3, 0.3)), True)
        apart = learner.tell(apart, [1.0], asked(("ant",), ErrorRates(0.3, 0.3), n), True)
    once = learner.tell(learner.init(), [1.0], Subset(("ant",)), True)
    chances = [learner.probabilities(state, [[1.0]])[0, 0] for state in (once, together, apart)]
    assert chances[1] == pytest.approx(chances[0], abs=0.02)  # all but sure of the label, and of nothing else
    assert chances[2] > chances[1] + 0.1


def test_a_key_makes_answers_of_several_people_one_label():
    X = np.random.default_rng(3).normal(size=(30, 2))
    model = askone.OneBitClassifier(NAMES, random_state=0, resample=True).start(X)
    for who in ("ann", "bob"):
        for i, x in enumerate(X):
            question = model.ask(x, key=f"photo {i}")
            model.tell(question, question.holds(NAMES[int(x[0] > 0)]), person=who)
    kept = model.stream_.state.base.store.view(60)[:, -1]
    assert len(set(kept.tolist())) == 30
    assert 0 not in kept
    again = reloaded(model)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.stream_.state.told[-1][1].row == model.stream_.state.told[-1][1].row != 0
