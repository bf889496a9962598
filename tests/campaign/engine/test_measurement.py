"""Exams measure the model's error from bits: the mean score is the error, exactly."""

import itertools
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from askone import OneBitClassifier, OneBitRanker, OneBitRegressor
from askone.campaign.engine import measurement
from askone.campaign.engine.measurement import Measured, Scored, continued, corrected, curve
from askone.campaign.engine.slips import NONE, Slips
from askone.campaign.kinds.base import ErrorPart, ExamPlan, Sat
from askone.campaign.kinds.classes import ClassNames
from askone.campaign.kinds.number import Numbers
from askone.campaign.kinds.number_exam import Late, Piece, drawn, far_exam, laplace, number_exam, usual_error
from askone.campaign.kinds.order import Items
from askone.errors import InvalidArgument
from askone.labels.number import Real
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset
from samples import taught

PLAN = ExamPlan()


def mean_score(pieces, label, slip, known=0.0):
    """The mean score of all draws, exactly: a draw's score is linear within a piece, on either side of the label."""
    total, u = 0.0, 0.0
    for piece in pieces:
        density = drawn(pieces, slip, u + 1e-9, known).density
        ends = [piece.start, min(max(label, piece.start), piece.end), piece.end]
        for start, end in itertools.pairwise(sorted(set(ends))):
            for point in (0.5 - 0.75**0.5 / 3, 0.5 + 0.75**0.5 / 3):  # Gauss
                d = start + point * (end - start)
                found = drawn(pieces, slip, u + density * (d - piece.start), known)
                assert found.distance == pytest.approx(d, abs=1e-6)
                assert found.score[1] <= found.most + 1e-9
                assert found.score[1] - found.score[0] <= found.heaviest * (1 + 1e-12)
                e, B = slip, found.score if d < label else found.score[::-1]
                right = (1 - e) * corrected(B[1], B[0], e) + e * corrected(B[0], B[1], e)
                total += density * (end - start) / 2 * right
        u += density * (piece.end - piece.start)
    assert u == pytest.approx(1)
    return total


@pytest.mark.parametrize("slip", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("tail", [(1.0, 0.6, 0.3, 0.05, 0.0), (0.1, 0.9, 0.2, 0.4, 1.0), (0.0,) * 5, (1.0,) * 5])
def test_the_mean_score_is_the_error_up_to_the_window_whatever_the_model_says_and_however_often_people_err(tail, slip):
    knots = (0.5, 1.0, 2.5, 2.6, 7.0)
    pieces = [Piece(0, *ends, *tail[j : j + 2]) for j, ends in enumerate(itertools.pairwise(knots))]
    for label in (0.5, 0.9, 2.0, 2.55, 6.99, 20.0):  # how far it is from the prediction
        assert mean_score(pieces, label, slip, known=0.5) == pytest.approx(min(label, 7.0), abs=1e-9)


def lately(error, f=37.3):
    """Exams of late that speak for an error: as many said "outside" at each distance as would."""
    far = [4 * error * (j + 0.5) / 8 for j in range(8)]
    return [Sat(Between(f - d, f + d), f, (k + 0.5) / 8 > np.exp(-d / error)) for d in far for k in range(8)]


@pytest.mark.parametrize("error", [0.3, 2.0, 9.0])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_error_of_late_is_found_from_exams_whatever_their_windows(error, sides):
    random, space, found = np.random.default_rng(2), Real(0, 100), []
    for _ in range(25):
        far, slips = random.exponential(size=64) * error * 3, random.random(64) < 0.05
        outside = (random.random(64) < np.exp(-far / error) * sides / 2) != slips
        sat = [
            Sat(Between(50 - d, 50 + d) if sides == 2 else HalfSpace((1.0,), 50 + d), 50.0, bool(out) == (sides == 1))
            for d, out in zip(far.tolist(), outside, strict=True)
        ]
        found.append(usual_error(space, ExamPlan(sat, 0.05)).error)
    assert np.median(found) == pytest.approx(error, rel=0.3)
    assert usual_error(space, ExamPlan()).error == pytest.approx(5.0, rel=0.15)


@pytest.mark.parametrize("times", [0.4, 1.0, 2.5])
def test_errors_of_a_model_that_learns_fast_are_in_proportion_to_what_it_expects(times):
    """It expected 60 at first and expects 2 now: the errors of long ago do not count as those of today."""
    random, space, found = np.random.default_rng(3), Real(0, 1000), []
    expected = np.geomspace(60.0, 2.0, 64)
    for _ in range(25):
        far = random.exponential(size=64) * expected * 3
        outside = (random.random(64) < np.exp(-far / (times * expected))) != (random.random(64) < 0.03)
        columns = (far.tolist(), outside.tolist(), expected.tolist())
        sat = [Sat(Between(500 - d, 500 + d), 500.0, not out, e) for d, out, e in zip(*columns, strict=True)]
        found.append(usual_error(space, ExamPlan(sat, 0.03), forecasts=True))
    assert np.median([late.times for late in found]) == pytest.approx(times, rel=0.3)
    # The last exams by themselves are few, and know the usual error of the range: they may say somewhat more.
    assert 0.7 < np.median([late.error for late in found]) / (times * expected[-16:].mean()) < 3.0


def test_a_model_that_is_sure_all_at_once_is_not_taken_at_its_word():
    """It expected 20 and erred by 20; of the last sixteen exams it expected 2, and erred by 20 as before."""
    random, space = np.random.default_rng(4), Real(0, 1000)
    expected = np.repeat([20.0, 2.0], [48, 16])
    far = random.exponential(size=64) * 60
    outside = random.random(64) < np.exp(-far / 20)
    columns = (far.tolist(), outside.tolist(), expected.tolist())
    sat = [Sat(Between(500 - d, 500 + d), 500.0, not out, e) for d, out, e in zip(*columns, strict=True)]
    assert usual_error(space, ExamPlan(sat, 0.0), forecasts=True).error > 10


GRID = ((np.arange(400) + 0.5) / 400).tolist()


@pytest.mark.seeded
@pytest.mark.parametrize(("words", "aim"), [("", "error"), ("More than {threshold}?", "error"), ("", "mean")])
@pytest.mark.parametrize("late", [None, 0.3, 20.0])
@pytest.mark.parametrize("y", [0.0, 12.0, 50.0, 55.5, 99.0, 100.0])
def test_the_mean_score_of_questions_about_numbers_is_the_absolute_error(y, late, words, aim):
    f, space, plan = 37.3, Real(0, 100, wording=words), ExamPlan(lately(late) if late else (), 0.03, aim)
    error = usual_error(space, plan).error
    found = [number_exam(space, f, laplace(f, error), plan, u, 10) for u in GRID]
    # Quadrature of a bounded function with two jumps: the error is at most a few cells of the largest weight.
    cells = 3 * found[0].heaviest / len(GRID)
    mean = np.mean([one.score[one.question.holds(y)] for one in found])
    if abs(y - f) <= 4 * error:
        assert mean == pytest.approx(abs(y - f), abs=cells)
    else:  # four times the error of late, or that the model expects: it may say a little more
        assert 4 * error - cells <= mean <= min(abs(y - f), 4.6 * error) + cells
    assert {type(one.question) for one in found} <= ({HalfSpace} if words or aim == "mean" else {HalfSpace, Between})
    assert all(one.predicted == f for one in found)
    if aim == "mean":  # what estimates of the whole take from it
        shifts = [(one.question.holds(y) - (f > one.question.threshold)) / one.question.density for one in found]
        assert f + np.mean(shifts) == pytest.approx(y, abs=cells)


@pytest.mark.seeded
@pytest.mark.parametrize("times", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("y", [30.0, 37.5, 41.0])
def test_the_mean_score_is_the_error_however_wrong_the_model_is_about_its_own(times, y):
    f, space, late = 37.3, Real(0, 100), Late(6.0, times)
    found = [number_exam(space, f, laplace(f, 2.0), ExamPlan(), u, 10, late) for u in GRID]
    mean, cells = np.mean([one.score[one.question.holds(y)] for one in found]), 3 * found[0].heaviest / len(GRID)
    assert mean == pytest.approx(abs(y - f), abs=cells)
    assert all(one.expected == pytest.approx(2.0, rel=0.1) for one in found)


@pytest.mark.seeded
@pytest.mark.parametrize("words", ["", "More than {threshold}?"])
@pytest.mark.parametrize("y", [0.0, 12.0, 36.0, 37.5, 55.5, 99.0, 100.0])
def test_both_parts_of_the_score_are_the_whole_error(y, words):
    f, space, late = 37.3, Real(0, 100, wording=words), Late(2.0, 1.0)
    found = [number_exam(space, f, laplace(f, 2.0), ExamPlan(), u, 10, late) for u in GRID]
    far = [far_exam(space, f, laplace(f, 2.0), ExamPlan(), u, 10, late) for u in GRID]
    near, beyond = (np.mean([one.score[one.question.holds(y)] for one in asked]) for asked in (found, far))
    cells = 3 * max(found[0].heaviest, max(far[0].score)) / len(GRID)
    assert found[0].window == far[0].window == pytest.approx(8.0, rel=0.1)
    assert near == pytest.approx(min(abs(y - f), far[0].window), abs=cells)
    assert beyond == pytest.approx(max(abs(y - f) - far[0].window, 0.0), abs=cells)
    for one in far:  # the model is sure of what a label near its prediction would have
        assert (one.chance > 0.5) == one.question.holds(f)


def test_nothing_is_asked_where_nothing_is_left_beyond_the_window():
    found = far_exam(Real(0, 100), 50.0, laplace(50.0, 2.0), ExamPlan(target=25.0), 0.5, 10, Late(2.0, 1.0))
    assert found.question is None
    assert found.score == (0.0, 0.0)


def test_ends_are_within_the_range_rounded_and_never_alike():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    learner, state = taught(OneBitRegressor(0, 100, decimals=0, random_state=0), rows, 97.0, 30)
    plans = [ExamPlan(lately(error), 0.03) for error in (0.5, 8.0)]
    kinds = set()
    for plan, u in product(plans, np.linspace(1e-9, 1 - 1e-9, 101)):
        question = Numbers().exam(learner, state, rows[0], np.array([u, 0.5, 0.5]), plan).question
        ends = (question.low, question.high) if isinstance(question, Between) else (question.threshold,)
        assert all(0 <= end <= 100 and round(end) == end for end in ends)
        kinds.add(type(question))
    assert kinds == {Between, HalfSpace}


@pytest.mark.seeded
def test_a_rounded_question_measures_the_distance_to_the_middle_of_what_it_cannot_tell_apart():
    space, f = Real(0, 100, decimals=0), 37.3
    for y in (36.7, 37.0, 38.0, 41.5):
        found = [number_exam(space, f, laplace(f, 2.0), ExamPlan(lately(2.0)), u, 0) for u in GRID]
        mean, cells = np.mean([one.score[one.question.holds(y)] for one in found]), 3 * found[0].heaviest / len(GRID)
        assert mean == pytest.approx(abs(np.ceil(y) - 0.5 - f), abs=cells)


def test_errors_up_to_twice_the_target_are_told_apart():
    space, f = Real(0, 100), 37.3
    found = [number_exam(space, f, laplace(f, 1.0), ExamPlan(lately(1.0), target=15.0), u, 0) for u in GRID]
    mean, cells = np.mean([one.score[one.question.holds(f + 27.0)] for one in found]), 3 * found[0].heaviest / len(GRID)
    assert mean == pytest.approx(27.0, abs=cells)


def test_a_learner_that_foretells_nothing_is_measured_too():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    learner, state = taught(OneBitRegressor(0, 100, learner="sgd", random_state=0), rows, 40.0, 20)
    found = Numbers().exam(learner, state, rows[0], np.full(3, 0.4), PLAN)
    assert isinstance(found.question, Between)


def test_slips_that_a_model_reckons_with_are_not_in_what_it_expects_of_labels():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    plain, careless = (
        Numbers().exam(
            *taught(OneBitRegressor(0, 100, flip=flip, random_state=0), rows, 40.0, 40), rows[0], np.full(3, 0.7), PLAN
        )
        for flip in (0.0, 0.2)
    )
    assert careless.most < 3 * plain.most


def test_the_predicted_class_is_asked_about():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    learner, state = taught(OneBitClassifier(["a", "b", "c"], random_state=0), rows, "b", 40)
    found = ClassNames(("a", "b", "c")).exam(learner, state, rows[0], np.full(3, 0.5), PLAN)
    assert found.question.members == ("b",)
    assert found.score == (0.0, 1.0)


def test_attributes_are_asked_where_they_alone_may_be():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    known = {"feline": ["cat", "caracal"], "tufted ears": ["caracal", "owl"]}
    learner, state = taught(
        OneBitClassifier(["cat", "caracal", "owl"], attributes=known, random_state=0), rows, "owl", 60
    )
    for u, title, right in ((0.2, "feline", False), (0.8, "tufted ears", True)):
        found = ClassNames(("cat", "caracal", "owl")).exam(learner, state, rows[0], np.array([u, 0.5, 0.5]), PLAN)
        assert isinstance(found.question, Subset)
        assert found.question.title == title
        assert found.score[right] == 1.0
        assert found.score[not right] == 0.0


def test_attributes_that_are_right_are_not_called_classes():
    """Of 8 classes that three attributes tell apart, one predicted for all is right in 1/8, its attributes in 1/2."""
    names = tuple(f"{n:03b}" for n in range(8))
    attributes = tuple((f"bit {k}", tuple(name for name in names if name[k] == "1")) for k in range(3))
    labels = ClassNames(names, attributes)
    rows = np.random.default_rng(0).normal(size=(40, 2))
    model = OneBitClassifier(names, attributes=dict(attributes), random_state=0)
    learner, state = taught(model, rows, "000", 40)
    scores = []
    for k in range(3):
        found = labels.exam(learner, state, rows[0], np.array([(k + 0.5) / 3, 0.5, 0.5]), PLAN)
        scores += [found.score[found.question.answer(name)] for name in names]
    assert np.mean(scores) == 0.5
    assert labels.exam_measure == "share of attributes right"
    assert ClassNames(names).exam_measure == labels.measure == "share right"
    with pytest.raises(InvalidArgument, match="not of classes"):
        labels.estimate("accuracy", ["000"] * 40, [])


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
        if (found := Items(items).exam(learner, state, x, np.array([u, side, 0.5]), PLAN)) is not None
    ]
    tau = model.score(None, [truth])
    assert np.mean(scores) == pytest.approx((1 + tau) / 2)


def test_no_exam_before_a_range_is_known_nor_for_several_outputs():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    seeking = OneBitRegressor(random_state=0).start(rows).stream_
    assert Numbers().exam(seeking.learner, seeking.state, rows[0], np.full(3, 0.5), PLAN) is None
    two = OneBitRegressor([0, 0], [1, 1], random_state=0).start(rows).stream_
    assert Numbers().exam(two.learner, two.state, rows[0], np.full(3, 0.5), PLAN) is None


def test_the_curve_needs_a_few_scores():
    assert curve([Scored(n, 1.0, 0.0) for n in range(9)]) == []
    rng = np.random.default_rng(0)
    scores = [Scored(n, *((1.0, 0.0) if rng.random() < 0.7 else (0.0, 1.0))) for n in range(1, 401)]
    points = curve(scores, share=True)
    assert [p.n for p in points] == sorted({p.n for p in points})
    assert points[-1].n == 400
    assert points[-1].low < 0.7 < points[-1].high
    assert Numbers().measure == "mean error"
    wider = curve(scores, Slips(0.05, 0.02, 0.08), share=True)[-1]
    assert wider.value > points[-1].value  # some that seemed wrong were slips
    assert wider.high - wider.low > points[-1].high - points[-1].low


WAY, NEAR = 50.0, [Scored(n, 2.0, 4.0, 4.0, 4.0, ErrorPart(False, 0.8, 10.0)) for n in range(40)]


def with_far(hits, count, slips=NONE):
    """The last point of a curve of equal errors up to 10, with so many hits beyond."""
    far = [Scored(0, WAY * (n < hits), WAY * (n >= hits), WAY, WAY, ErrorPart(True, 0.2, 10.0)) for n in range(count)]
    return curve([*far, *NEAR], slips, most=2)[-1]


@pytest.mark.parametrize("count", [5, 30, 100])
@pytest.mark.parametrize("slip", [0.0, 0.05])
def test_what_larger_errors_add_is_within_what_is_said(count, slip):
    """Exactly, over all numbers of answers that were outside: in 97.5 of 100 campaigns, however often labels are so."""
    slips = Slips(slip, slip, slip, slip, slip)
    points = [with_far(hits, count, slips) for hits in range(count + 1)]
    for chance in (0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 0.9):
        weights = binom.pmf(np.arange(count + 1), count, slip + (1 - 2 * slip) * chance)
        # All errors are those up to the window, 2, and the part beyond it.
        held = sum(w for w, one in zip(weights, points, strict=True) if 2 + WAY * chance <= one.high + one.beyond)
        assert held >= 0.975
        too_much = sum(w for w, one in zip(weights, points, strict=True) if one.low > 2 + WAY * chance)
        assert too_much <= 0.025


def test_labels_that_are_surely_far_are_in_the_measured_error():
    unseen, sure = with_far(0, 40), with_far(8, 40)
    assert unseen.window == 10.0
    assert 0 < unseen.beyond < 0.1 * WAY
    assert sure.window is None
    assert sure.beyond == 0
    assert sure.value == pytest.approx(2 + WAY * 8 / 40)
    assert sure.low < sure.value - 0.08 * WAY < sure.value + 0.12 * WAY < sure.high
    unknown = with_far(8, 40, Slips(0.2, 0.0, 0.4))  # they may all be slips
    assert unknown.window == 10.0
    assert unknown.beyond > 0.2 * WAY
    assert with_far(0, 0).beyond is None


def test_a_run_of_equal_scores_is_not_exact():
    assert curve([Scored(n, 0.0, 40.0) for n in range(1, 20)])[-1].high > 0


def test_a_power_law_is_continued():
    points = [Measured(n, 50 / n**0.5, 0.0, 100 / n**0.5) for n in (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120)]
    ahead = continued(points, share=False)
    assert ahead[-1].n == 4 * 5120
    assert ahead[-1].value == pytest.approx(50 / (4 * 5120) ** 0.5, rel=1e-6)
    assert continued(points[:4], share=False) is None
    shares = [Measured(n, 1 - 0.5 / n**0.5, 0.0, 1.0) for n in (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120)]
    assert continued(shares, share=True)[-1].value == pytest.approx(1 - 0.5 / (4 * 5120) ** 0.5, rel=1e-6)


def stopped(errors, target, slip=0.0):
    """Whether somebody who looks after every third score would ever have stopped."""
    return any(measurement.reached(errors[:n], target, slip) for n in range(1, len(errors) + 1, 3))


@pytest.mark.seeded
@pytest.mark.parametrize("high", [1.0, 2.0])
@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_a_target_that_is_not_reached_is_taken_for_reached_in_one_of_twenty_campaigns_at_most(high, slip):
    rng = np.random.default_rng(4)
    runs, count, target = 120, 150, 0.1
    wrong = 0
    for _ in range(runs):
        seen = (rng.random(count) < target / high) ^ (rng.random(count) < slip)
        wrong += stopped([Scored(0, high * one, high * (1 - one), high, high) for one in seen], target, slip)
    assert wrong / runs <= measurement.ALPHA + 3 * np.sqrt(measurement.ALPHA * (1 - measurement.ALPHA) / runs)


@pytest.mark.seeded
def test_rows_that_may_score_more_count_as_much_as_others():
    """Half of the rows are right and can score 1; the others score 10 in one of ten cases: 0.5 in the mean."""
    rng = np.random.default_rng(6)
    runs, count, target, wrong = 120, 150, 0.5, 0
    for _ in range(runs):
        hard, hit = rng.random(count) < 0.5, rng.random(count) < 0.1
        rows = zip(hard.tolist(), (hard & hit).tolist(), strict=True)
        wrong += stopped([Scored(0, 10.0 * bad, 10.0 - 10.0 * bad, 1 + 9.0 * row, 10.0) for row, bad in rows], target)
    assert wrong / runs <= measurement.ALPHA + 3 * np.sqrt(measurement.ALPHA * (1 - measurement.ALPHA) / runs)


@pytest.mark.seeded
def test_a_target_is_one_of_all_errors():
    """Errors are 1 up to the window, and one label in 25 is 50 beyond it: 3 in the mean."""
    rng = np.random.default_rng(7)
    runs, count, wrong, right = 60, 400, 0, 0
    for _ in range(runs):
        far, hit, bit = rng.random((3, count))
        scores = [
            Scored(0, WAY * hit, WAY * (1 - hit), WAY, WAY, ErrorPart(True, 0.5, 10.0)) if is_far
            else Scored(0, 4.0 * bit, 4.0 * (1 - bit), 4.0, 4.0, ErrorPart(False, 0.5, 10.0))
            for is_far, hit, bit in zip(far < 0.5, hit < 0.04, bit < 0.25, strict=True)
        ]  # fmt: skip
        wrong += stopped(scores[:150], 2.9)
        right += measurement.reached(scores, 8.0)
    assert wrong / runs <= measurement.ALPHA + 3 * np.sqrt(measurement.ALPHA * (1 - measurement.ALPHA) / runs)
    assert right / runs > 0.8


def test_a_target_is_found_to_be_reached_though_the_error_was_large_at_first():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(20):
        rate = np.maximum(0.02, 1.0 / np.sqrt(1 + np.arange(900)))
        errors = (rng.random(900) < rate).astype(float)
        found += measurement.reached([Scored(0, value, 1 - value) for value in errors], 0.1)
    assert found >= 15


@pytest.mark.parametrize("slip", [0.0, 0.2])
@pytest.mark.parametrize(("high", "target"), [(1.0, 0.1), (1.0, 0.5), (3.0, 0.7)])
def test_bets_on_a_target_gain_nothing_while_the_error_is_at_it(high, target, slip):
    """Exactly, over all runs of nine errors that are 0 or ``high``, and seem the other with a probability."""
    chance = target / high
    seen = chance * (1 - slip) + (1 - chance) * slip
    mean = 0.0
    most = high + high * slip / (1 - 2 * slip)
    for run in itertools.product((0.0, high), repeat=9):
        hits = sum(value > 0 for value in run)
        values = np.array([corrected(value, high - value, slip) for value in run])
        wealth = measurement._wealth(values, np.full(9, most), target)
        assert wealth > 0  # nobody loses all
        mean += seen**hits * (1 - seen) ** (9 - hits) * wealth
    assert 0.8 < mean <= 1 + 1e-12
