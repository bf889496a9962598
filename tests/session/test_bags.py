"""Bags: splitting finds every answer, and costs what is expected, by enumeration."""

from itertools import product

import numpy as np
import pytest

from askone import OneBitClassifier
from askone.errors import InvalidAnswer, InvalidArgument
from askone.session import bags
from askone.session.bags import Bag, Pace


def _resolved(truth: tuple[bool, ...]) -> Bag:
    bag = Bag.of(len(truth))
    while bag.asked:
        bag = bag.told(all(truth[i] for i in bag.asked))
    return bag


@pytest.mark.parametrize("rows", range(1, 10))
def test_splitting_finds_every_answer(rows: int) -> None:
    for truth in product((False, True), repeat=rows):
        assert _resolved(truth).answers == truth


@pytest.mark.parametrize("rows", range(1, 10))
def test_questions_and_looks_are_as_many_as_expected(rows: int) -> None:
    p = np.random.default_rng(rows).uniform(0.3, 1.0, size=rows)
    questions = looks = 0.0
    for truth in product((False, True), repeat=rows):
        chance = float(np.prod(np.where(truth, p, 1 - p)))
        bag = _resolved(truth)
        questions, looks = questions + chance * bag.questions, looks + chance * bag.looks
    assert bags.expected(p[None], lambda n: 1.0)[0] == pytest.approx(questions, rel=1e-12)
    assert bags.expected(p[None], lambda n: float(n))[0] == pytest.approx(looks, rel=1e-12)


def test_no_more_questions_than_twice_the_rows() -> None:
    for truth in product((False, True), repeat=9):
        assert _resolved(truth).questions <= 2 * 9 - 1


def test_the_best_bag_is_the_best_of_all() -> None:
    p = np.random.default_rng(3).uniform(bags.SURE, 1.0, size=7)
    pace, found = Pace(), bags.best(p, Pace(), most=4)
    assert found is not None
    rates = []
    for chosen in product((False, True), repeat=7):
        if 2 <= sum(chosen) <= 4:
            some = -np.sort(-p[list(chosen)])
            rates.append(float(bags.entropy(some).sum() / bags.expected(some[None], pace.seconds)[0]))
    # Bags are runs in order of their chances: of all sets at most a little better than those.
    assert max(rates) * 0.97 <= found.rate <= max(rates) * (1 + 1e-9)


def test_nearly_sure_rows_go_together_and_unsure_ones_alone() -> None:
    pace = Pace()
    sure = bags.best(np.full(20, 0.98), pace)
    assert sure is not None
    assert len(sure.places) >= 8
    assert sure.rate > bags.best_single(np.tile([0.98, 0.02], (20, 1)), pace)
    assert bags.best(np.full(20, 0.89), pace) is None
    assert bags.best(np.array([0.95]), pace) is None


def test_a_model_that_knows_little_asks_about_single_rows() -> None:
    X = np.repeat([[0.0], [5.0]], 60, axis=0) + np.random.default_rng(0).normal(size=(120, 1))
    model = OneBitClassifier(["a", "b"], random_state=0).start(X)
    bag, answers = None, 0
    while bag is None and answers < 100:
        place = 61 * answers % 120
        question = model.ask(X[place], key=answers)
        model.tell(question, question.holds("b" if X[place, 0] > 2.5 else "a"))
        bag, answers = model.ask_bag(X), answers + 1
    assert bag is not None
    assert answers >= 2 * bags.EARLY


def test_pace_is_measured() -> None:
    chance, pace = np.random.default_rng(0), Pace()
    for _ in range(4000):
        rows = int(chance.choice([1, 1, 4, 9]))
        pace = pace.told(rows, 0.9 + 0.25 * rows + float(chance.exponential(0.5)))
    press, look = pace.rates
    # Least squares: the deviation of each is below .03 with 4,000 answers of deviation .5, and the prior pulls as much.
    assert press == pytest.approx(1.4, abs=0.06)
    assert look == pytest.approx(0.25, abs=0.015)


def test_who_leaves_the_screen_does_not_count_as_looking() -> None:
    assert Pace().told(1, 86_400.0).seconds(1) < 3.0


def test_bad_input() -> None:
    with pytest.raises(InvalidAnswer, match="answer must be True or False; got 'yes'"):
        Bag.of(3).told("yes")
    with pytest.raises(InvalidArgument, match="most"):
        bags.best(np.full(3, 0.9), Pace(), most=1)
