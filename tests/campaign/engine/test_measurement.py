"""Exams measure the model's error from bits: the mean score is the error, exactly."""

import itertools

import numpy as np
import pytest

from askone import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.campaign.engine import measurement
from askone.campaign.engine.measurement import Measured, continued, curve
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.kinds.number import Numbers, threshold_exam
from askone.campaign.kinds.order import Items
from askone.labels.number import Real
from askone.questions.subset import Subset


def taught(model, rows, label, questions):
    model.start(rows)
    for x in rows[:questions]:
        question = model.ask(x)
        model.tell(question, question.answer(label))
    return model.stream_.learner, model.stream_.state


@pytest.mark.parametrize("error", [None, 0.01, 3.0, 80.0])
@pytest.mark.parametrize("y", [0.0, 12.0, 50.0, 55.5, 99.0, 100.0])
def test_the_mean_score_of_thresholds_is_the_absolute_error(y, error):
    rows = np.random.default_rng(0).normal(size=(40, 2))
    learner, state = taught(OneBitRegressor(0, 100, decimals=None, random_state=0), rows, 40.0, 10)
    f = float(np.clip(learner.predict(state, rows[:1])[0, 0], 0, 100))
    grid = (np.arange(4000) + 0.5) / 4000
    scores = [
        found.score[found.question.holds(y)]
        for half, u in itertools.product((0.25, 0.75), grid)
        if (found := threshold_exam(learner.space, f, np.array([half, u, 0.5]), 10, error)) is not None
    ]
    wide = 5 * (5.0 if error is None else min(max(error, 0.2), 25.0))
    # Quadrature of a bounded function with two jumps: the error is at most a few cells of weight 4 W.
    assert np.mean(scores) == pytest.approx(min(abs(y - f), wide), abs=4 * wide * 3 / 4000)


def test_thresholds_are_within_the_range_and_rounded():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    learner, state = taught(OneBitRegressor(0, 100, random_state=0), rows, 99.0, 30)
    for a, b in itertools.product((0.1, 0.9), np.linspace(1e-9, 1 - 1e-9, 101)):
        question = Numbers().exam(learner, state, rows[0], np.array([a, b, 0.5])).question
        assert 0 <= question.threshold <= 100
        assert round(question.threshold, 1) == question.threshold


def test_the_predicted_class_is_asked_about():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    learner, state = taught(OneBitClassifier(["a", "b", "c"], random_state=0), rows, "b", 40)
    found = ClassNames(("a", "b", "c")).exam(learner, state, rows[0], np.full(3, 0.5))
    assert found.question.members == ("b",)
    assert found.score == (0.0, 1.0)


def test_attributes_are_asked_where_they_alone_may_be():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    known = {"feline": ["cat", "caracal"], "tufted ears": ["caracal", "owl"]}
    learner, state = taught(
        OneBitClassifier(["cat", "caracal", "owl"], attributes=known, random_state=0), rows, "owl", 60
    )
    for u, title, right in ((0.2, "feline", False), (0.8, "tufted ears", True)):
        found = ClassNames(("cat", "caracal", "owl")).exam(learner, state, rows[0], np.array([u, 0.5, 0.5]))
        assert isinstance(found.question, Subset)
        assert found.question.title == title
        assert found.score[right] == 1.0
        assert found.score[not right] == 0.0


def test_pairs_agree_with_the_order_as_often_as_tau_says():
    items = ["a", "b", "c", "d"]
    model = OneBitRanker(items, random_state=0)
    for _ in range(30):
        question = model.ask()
        model.tell(question, question.answer(["d", "c", "b", "a"]))
    learner, state, x = model.stream_.learner, model.stream_.state, np.zeros(1)
    truth = ["d", "b", "c", "a"]
    pairs = [(k + 0.5) / 6 for k in range(6)]
    scores = [
        found.score[found.question.answer(truth)]
        for u, side in itertools.product(pairs, (0.2, 0.8))
        if (found := Items(items).exam(learner, state, x, np.array([u, side, 0.5]))) is not None
    ]
    tau = model.score(None, [truth])
    assert np.mean(scores) == pytest.approx((1 + tau) / 2)


def test_no_exam_before_a_range_is_known_nor_for_several_outputs():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    seeking = OneBitRegressor(random_state=0).start(rows).stream_
    assert Numbers().exam(seeking.learner, seeking.state, rows[0], np.full(3, 0.5)) is None
    two = OneBitRegressor([0, 0], [1, 1], random_state=0).start(rows).stream_
    assert Numbers().exam(two.learner, two.state, rows[0], np.full(3, 0.5)) is None


def test_the_curve_covers_the_truth_and_needs_a_few_scores():
    assert curve([(n, 1.0, 1.0) for n in range(9)]) == []
    rng = np.random.default_rng(0)
    scores = [(n, float(rng.random() < 0.7), 1.0) for n in range(1, 401)]
    points = curve(scores, share=True)
    assert [p.n for p in points] == sorted({p.n for p in points})
    assert points[-1].n == 400
    assert points[-1].low < 0.7 < points[-1].high
    assert Numbers().measure == "mean error"


def test_a_power_law_is_continued():
    points = [Measured(n, 50 / n**0.5, 0.0, 100 / n**0.5) for n in (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120)]
    ahead = continued(points, share=False)
    assert ahead[-1].n == 4 * 5120
    assert ahead[-1].value == pytest.approx(50 / (4 * 5120) ** 0.5, rel=1e-6)
    assert continued(points[:4], share=False) is None
    shares = [Measured(n, 1 - 0.5 / n**0.5, 0.0, 1.0) for n in (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120)]
    assert continued(shares, share=True)[-1].value == pytest.approx(1 - 0.5 / (4 * 5120) ** 0.5, rel=1e-6)


def test_the_interval_of_a_mean_error_covers_it_and_a_run_of_zeros_is_not_exact():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):  # errors of 10, seen through weights of 40: a quarter of the answers disagree
        scores = [(n, 40.0 * (rng.random() < 0.25), 40.0) for n in range(1, 101)]
        last = curve(scores)[-1]
        covered += last.low <= 10.0 <= last.high
    # 95 % nominal: below 90 % of 200 has a chance of less than 2e-3 under it.
    assert covered >= 180
    assert curve([(n, 0.0, 40.0) for n in range(1, 20)])[-1].high > 0


@pytest.mark.parametrize("error", [None, 0.5, 40.0, 4000.0])
def test_no_score_is_larger_than_the_most_that_was_said(error):
    rng = np.random.default_rng(3)
    space = Real(0, 1000, decimals=0)
    for f in (0.0, 3.0, 500.0, 1000.0):
        for _ in range(200):
            found = threshold_exam(space, f, rng.random(3), 0, error)
            assert max(found.score) <= found.most * (1 + 1e-12)


def stopped(errors, most, target):
    """Whether somebody who looks after every third score would ever have stopped."""
    pairs = list(zip(errors, most, strict=True))
    return any(measurement.reached(pairs[:n], target) for n in range(1, len(pairs) + 1, 3))


@pytest.mark.parametrize("kind", ["share", "rare and large"])
def test_a_target_that_is_not_reached_is_taken_for_reached_in_one_of_twenty_campaigns_at_most(kind):
    rng = np.random.default_rng(4)
    runs, scores, target = 120, 150, 0.1
    high = 1.0 if kind == "share" else 2.0
    wrong = sum(
        stopped(high * (rng.random(scores) < target / high), np.full(scores, high), target) for _ in range(runs)
    )
    assert wrong / runs <= measurement.ALPHA + 3 * np.sqrt(measurement.ALPHA * (1 - measurement.ALPHA) / runs)


def test_a_target_is_found_to_be_reached_though_the_error_was_large_at_first():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(20):
        rate = np.maximum(0.02, 1.0 / np.sqrt(1 + np.arange(900)))
        errors = (rng.random(900) < rate).astype(float)
        found += measurement.reached([(value, 1.0) for value in errors], 0.1)
    assert found >= 15


@pytest.mark.parametrize(("high", "most", "target"), [(1.0, 1.0, 0.1), (1.0, 1.0, 0.5), (3.0, 8.0, 0.7)])
def test_bets_on_a_target_gain_nothing_while_the_error_is_at_it(high, most, target):
    """Exactly, over all runs of nine errors that are 0 or ``high`` and have the target as their mean."""
    chance = target / high
    mean = 0.0
    for run in itertools.product((0.0, high), repeat=9):
        hits = sum(value > 0 for value in run)
        probability = chance**hits * (1 - chance) ** (9 - hits)
        wealth = measurement._wealth([(value, most) for value in run], target)
        assert wealth > 0  # nobody loses all
        mean += probability * wealth
    assert 0.8 < mean <= 1 + 1e-12
