"""Estimates of a whole table: unbiased by integration, and their intervals cover."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from askone.campaign.kinds.estimates import (
    FEWEST,
    Bits,
    ExamAnswer,
    Laplace,
    estimate_number,
    mean,
    median,
    proportion,
    share_above,
)
from askone.errors import InvalidArgument
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace


@pytest.mark.parametrize("y", [0.07, 0.5, 0.93])
@pytest.mark.parametrize("f", [0.0, 0.3, 0.98])
@pytest.mark.parametrize("shift", [0.0, 0.05])
def test_an_answer_corrects_a_prediction_without_bias(y, f, shift):
    law = Laplace(0.0, 1.0, 0.08, shift)
    q = 1.0  # the density cancels: r q = 1{y > c} - S(c)
    parts = sorted({0.0, 1.0, y, min(max(f + shift, 0.0), 1.0)})
    integral = sum(
        quad(lambda c: ((y > c) - law.tail(np.array(f), np.array(c)).item()) / q, a, b, epsabs=1e-12)[0]
        for a, b in pairwise(parts)
    )
    assert law.mean(np.array([f])).item() + integral == pytest.approx(y, abs=1e-9)


def table(rng, rows=4000, bias=0.03):
    """Labels and predictions of a table; the model is biased."""
    f = np.clip(0.5 + 0.15 * rng.standard_normal(rows), 0.05, 0.95)
    y = np.clip(f - bias + 0.05 * rng.laplace(size=rows), 0.0, 1.0)
    return f, y


def asked(rng, f, y, n):
    """Bits about n rows drawn at random: most thresholds near the prediction, by Laplace's law, a tenth anywhere."""
    rows = rng.permutation(len(f))[:n]
    near = laplace(f[rows], 0.1, 0.0, 1.0)
    c = np.where(rng.random(n) < 0.1, rng.random(n), near.ppf(rng.random(n)))
    return Bits(f[rows], c, 0.1 + 0.9 * near.pdf(c), (y[rows] > c).astype(float))


class laplace:
    """Laplace's law around f, within [low, high]."""

    def __init__(self, f, s, low, high):
        self.law = stats.laplace(f, s)
        self.below, self.mass = self.law.cdf(low), self.law.cdf(high) - self.law.cdf(low)

    def ppf(self, u):
        return self.law.ppf(self.below + u * self.mass)

    def pdf(self, c):
        return self.law.pdf(c) / self.mass


TRUE = {
    "mean": (mean, np.mean),
    "median": (median, np.median),
    "share": (lambda *a: share_above(*a, 0.6), lambda y: np.mean(y > 0.6)),
}


@pytest.mark.parametrize("what", list(TRUE))
def test_intervals_cover_though_the_model_is_biased(what):
    estimate, true = TRUE[what]
    inside, always, errors, times = 0, 0, [], 200
    for seed in range(times):
        rng = np.random.default_rng(seed)
        f, y = table(rng)
        bits = asked(rng, f, y, 300)
        found, truth = estimate(f, bits, Laplace.fitted(0.0, 1.0, bits)), float(true(y))
        inside += found.low <= truth <= found.high
        always += found.always_low <= truth <= found.always_high
        errors.append(found.value - truth)
    # Three standard errors of a share of .95 among 200: an interval that covers .90 fails.
    assert inside / times >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / times)
    assert always / times >= 0.97
    # The model alone is off by .03, which is four deviations of this mean.
    assert abs(np.mean(errors)) <= 4 * np.std(errors) / math.sqrt(times) + 0.002


def test_bits_are_worth_more_than_labels_without_a_model():
    rng = np.random.default_rng(0)
    f, y = table(rng)
    bits = asked(rng, f, y, 500)
    found = mean(f, bits, Laplace.fitted(0.0, 1.0, bits))
    labels = 2 * 1.96 * np.std(y) / math.sqrt(500)
    assert found.high - found.low < labels
    assert found.labels > 500


def test_whoever_looks_always_is_wrong_at_most_once_in_twenty():
    wrong, times = 0, 200
    for seed in range(times):
        rng = np.random.default_rng(seed)
        f, y = table(rng, 1000)
        bits, truth = asked(rng, f, y, 400), float(y.mean())
        looks = [Bits(*(column[:n] for column in bits)) for n in range(20, 400, 20)]
        found = [mean(f, part, Laplace(0.0, 1.0, 0.06)) for part in looks]
        wrong += any(not one.always_low <= truth <= one.always_high for one in found)
    assert wrong / times <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / times)


def test_too_few_bits_have_no_interval():
    f, y = table(np.random.default_rng(0))
    for n in (0, FEWEST - 1):
        bits = asked(np.random.default_rng(1), f, y, n)
        for estimate, _ in TRUE.values():
            found = estimate(f, bits, Laplace.fitted(0.0, 1.0, bits))
            assert (found.low, found.high, found.bits) == (None, None, n)


def test_a_proportion_of_slips_and_of_nothing():
    assert proportion(np.ones(50), 9).low < 0.95
    assert proportion(np.array([]), 9).to_json()["value"] is None


def test_what_is_estimated_is_checked_and_two_ended_questions_are_left_out():
    threshold = HalfSpace((1.0,), 3.0)
    asked = [(Between(1, 2), "error"), (threshold, "error"), (threshold, "mean")]
    exams = [ExamAnswer(*one, 1.0, 0.0, 1.5) for one in asked]
    assert estimate_number("mean", [1.0, 2.0], exams, 0.0, 9.0).bits == 1
    for what in ("average", "share above", "share above x", "share above 1e999"):
        with pytest.raises(InvalidArgument, match="mean"):
            estimate_number(what, [1.0], exams, 0.0, 9.0)
