"""Exam questions: their scores are unbiased, by integration over thresholds and by counting."""

import numpy as np
import pytest
from scipy.integrate import quad

from askone.labels.classes import Classes
from askone.labels.losses import Huber, LogCosh, Median, Quantile, Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.exams import exam, exam_width, local, scores, tells_risk

LINE = Real(-1.0, 1.0, decimals=None)


def mean_score(loss, predicted, y, wide):
    """The scores' exact mean over the uniform that draws the threshold, piece by piece."""

    def score(v, k):
        question = exam(LINE, predicted, np.array([v]), wide)
        return scores(LINE, loss, predicted, question, question.holds([y]))[k]

    # Every place where a score jumps, as a fine grid: midpoints are exact between jumps up to one cell each.
    v = (np.arange(1500) + 0.5) / 1500
    return np.array([np.mean([score(one, k) for one in v]) for k in range(len(predicted))])


@pytest.mark.seeded
@pytest.mark.parametrize("loss", [Median(), Squared(), Quantile(0.8), Huber(0.3), LogCosh(0.2)])
@pytest.mark.parametrize("y", [-0.63, 0.41])
def test_scores_of_numbers_are_unbiased(loss, y):
    predicted = np.array([[-0.2], [0.15], [0.7]])
    expected = loss.value(predicted, np.full((3, 1), y))
    assert mean_score(loss, predicted, y, 0.5) == pytest.approx(expected, abs=8e-3)
    alone = mean_score(loss, predicted, y, 1.0)
    assert alone == pytest.approx(expected, abs=8e-3)


@pytest.mark.parametrize("loss", [Median(), Quantile(0.8)])
def test_between_the_predictions_differences_are_unbiased_wherever_the_label_is(loss):
    predicted = np.array([[-0.2], [0.15]])
    for y in (-3.0, 0.0, 0.5, 40.0):
        value = loss.value(predicted, np.full((2, 1), y))
        found = mean_score(loss, predicted, y, 0.0)
        assert found[1] - found[0] == pytest.approx(value[1] - value[0], abs=4e-3)
    assert local(loss)
    assert not local(Squared())


def test_the_density_is_that_of_the_thresholds():
    predicted = np.array([[-0.5], [0.1]])
    drawn = [exam(LINE, predicted, np.array([v]), 0.3) for v in (np.arange(8000) + 0.5) / 8000]
    for low, high in ((-1.0, -0.6), (-0.4, 0.0), (0.3, 0.9)):
        share = np.mean([low < q.threshold < high for q in drawn])
        inside = [q for q in drawn if low < q.threshold < high]
        assert share == pytest.approx(inside[0].density * (high - low), rel=0.01)
    assert all(tells_risk(q) for q in drawn[:3])


@pytest.mark.parametrize(("loss", "m"), [(Median(), 3), (Squared(), 3), (Median(), 2)])
def test_several_outputs_by_monte_carlo(loss, m):
    space = Real((-1.0,) * m, (1.0,) * m, decimals=None)
    rng = np.random.default_rng(m)
    predicted, y = rng.uniform(-0.8, 0.8, size=(2, m)), rng.uniform(-0.8, 0.8, size=m)
    found = []
    for uniform in rng.random((4000, exam_width(space))):
        question = exam(space, predicted, uniform, 0.5)
        found.append(scores(space, loss, predicted, question, question.holds(y)))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - loss.value(predicted, np.tile(y, (2, 1)))) < 4 * error).all()


@pytest.mark.parametrize("wide", [0.5, 1.0])
def test_classes_by_counting(wide):
    space, predicted = Classes(("a", "b", "c", "d")), ["a", "b", "a"]
    for y in space.names:
        drawn = {}
        for v in (np.arange(64) + 0.5) / 64:
            question = exam(space, predicted, np.array([v]), wide)
            drawn[question.members[0]] = question
        total = sum(q.probability * scores(space, Median(), predicted, q, q.holds(y)) for q in drawn.values())
        assert sum(q.probability for q in drawn.values()) == pytest.approx(1.0)
        assert total == pytest.approx([float(one != y) for one in predicted])


def test_orders_by_counting():
    space = Ranking(("a", "b", "c"))
    predicted, y = [["a", "b", "c"], ["c", "b", "a"]], ["b", "a", "c"]
    questions = [exam(space, predicted, np.array([(k + 0.5) / 3]), 0.5) for k in range(3)]
    mean = np.mean([scores(space, Median(), predicted, q, q.holds(y)) for q in questions], axis=0)
    assert mean == pytest.approx((space.embed(predicted) != space.embed([y])).mean(axis=1))


@pytest.mark.seeded
def test_intervals_of_exam_bits_cover():
    """95 % of intervals hold the risk and the difference: 200 repetitions of 150 bits, bound of four errors."""
    rng, hits = np.random.default_rng(0), np.zeros(3)
    for _ in range(200):
        y = np.clip(0.4 * rng.normal(size=150), -1, 1)
        predicted = np.stack([np.full(150, 0.1), 0.3 * rng.normal(size=150)], axis=1)[:, :, None].clip(-1, 1)
        found = np.empty((150, 3))
        for i in range(150):
            question = exam(LINE, predicted[i], rng.random(1), 0.5)
            found[i, :2] = scores(LINE, Median(), predicted[i], question, question.holds([y[i]]))
        found[:, 2] = found[:, 0] - found[:, 1]
        true = np.abs(predicted[:, :, 0] - y[:, None]).mean(axis=0)
        true = np.append(true, true[0] - true[1])
        hits += np.abs(found.mean(axis=0) - true) <= 1.96 * found.std(axis=0, ddof=1) / np.sqrt(150)
    assert (hits / 200 > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)).all()


def test_a_quadrature_agrees_with_the_formula():
    """int |l'(f - c)| 1{c between} dc is the loss, for every loss of the distance."""
    f, y = -0.35, 0.6
    for loss in (Median(), Squared(), Huber(0.3), LogCosh(0.2)):
        area = quad(lambda c, loss=loss: abs(loss.gradient(np.array([[f]]), np.array([[c]])).item()), f, y)[0]
        assert area == pytest.approx(loss.value(np.array([[f]]), np.array([[y]])).item(), rel=1e-6)
