import numpy as np
import pytest

from askone._common import random_table
from askone.checks import check_gradient_unbiased
from askone.errors import IncompatibleParts, InvalidArgument
from askone.labels.losses import LOSSES, Huber, LogCosh, Median, Quantile, Squared
from askone.learners import step_loops
from askone.learners.gradients import (
    PAIRS,
    DitheredSign,
    FullGradient,
    MedianSphere,
    QuantileThreshold,
    RandomThreshold,
    SquaredThreshold,
    WeakGradient,
    draws_of,
    pair,
)

WEAK = [key for key, cls in PAIRS.items() if issubclass(cls, WeakGradient) and cls.unbiased]


@pytest.mark.seeded
@pytest.mark.parametrize("outputs", [1, 2, 3, 10])
@pytest.mark.parametrize(("loss", "family"), WEAK)
def test_every_pair_in_the_registry_is_unbiased(loss, family, outputs):
    if PAIRS[loss, family].single_output and outputs > 1:
        with pytest.raises(IncompatibleParts):
            pair(LOSSES[loss](), family, outputs)
        return
    check_gradient_unbiased(pair(LOSSES[loss](), family, outputs), outputs)


@pytest.mark.seeded
@pytest.mark.parametrize(
    ("gradient", "outputs"),
    [
        (SquaredThreshold(limit=1.0), 1),
        (SquaredThreshold(limit=2.5), 3),
        (SquaredThreshold(spread=0.2), 1),
        (SquaredThreshold(spread=3.0), 2),
        (QuantileThreshold(Quantile(0.03)), 1),
        (DitheredSign(Huber(2.0)), 1),
        (DitheredSign(LogCosh(0.5)), 1),
    ],
)
def test_parameters(gradient, outputs):
    check_gradient_unbiased(gradient, outputs)


def test_a_biased_gradient_is_found():
    class Biased(WeakGradient):
        family, loss, single_output = "active", Squared(), False

        def width(self, m):
            return m + 1

        def plan(self, m, uniform):
            # The appendix's V on [0, M] in place of [0, 2M]: saturates for far labels.
            return SquaredThreshold(limit=0.25).plan(m, uniform)

        def values(self, m, density):
            return SquaredThreshold(limit=0.25).values(m, density)

        def bound(self, m):
            return 1.0

    for outputs in (1, 2):
        with pytest.raises(AssertionError, match="but the gradient is"):
            check_gradient_unbiased(Biased(), outputs)


def test_the_passive_baseline_does_not_claim_to_be_unbiased():
    with pytest.raises(InvalidArgument, match="claims to be unbiased"):
        check_gradient_unbiased(RandomThreshold())


def test_without_a_bound_even_far_labels_are_unbiased():
    z, y = np.array([0.3]), np.array([40.0])
    n = 400_000
    sample = draws_of(SquaredThreshold(), z, y, random_table.uniforms(5, 0, n, 2))[:, 0]
    assert abs(sample.mean() - (z - y)[0]) < 5 * sample.std() / np.sqrt(n)
    bounded = draws_of(SquaredThreshold(limit=1.0), z, y, random_table.uniforms(5, 0, n, 2))[:, 0]
    assert bounded.mean() > -3  # the threshold on [0, 2M] cannot see that far


@pytest.mark.parametrize("m", [1, 2, 7])
@pytest.mark.parametrize("gradient", [MedianSphere(), SquaredThreshold(limit=1.0), RandomThreshold()])
def test_bounds_hold(gradient, m):
    plan = gradient.plan(m, random_table.uniforms(0, 0, 500, gradient.width(m)))
    yes, no = gradient.values(m, plan.density)
    assert np.maximum(np.abs(yes), np.abs(no)).max() <= gradient.bound(m) * (1 + 1e-12)
    assert np.allclose(np.linalg.norm(plan.directions, axis=1), 1)


def test_refusals_name_what_fits():
    with pytest.raises(IncompatibleParts, match=r"one of: 'median', 'squared' \('active' questions about 2"):
        pair(Huber(), "active", 2)
    with pytest.raises(IncompatibleParts, match=r"'passive' questions about 1 output\); got huber"):
        pair(Huber(), "passive")
    with pytest.raises(InvalidArgument, match="questions must be one of: 'active', 'passive', 'full'; got 'nosy'"):
        pair(Median(), "nosy")


def test_every_loss_has_its_supervised_baseline():
    for name, loss in LOSSES.items():
        assert isinstance(pair(loss(), "full", 3), FullGradient), name


def _expected_infimum_slope(z, labels, probabilities, offsets):
    """E of the infimum loss's slope at z over labels and thresholds, through the compiled function."""
    total = 0.0
    one, minus = np.ones(1), -np.ones(1)
    for y, p in zip(labels, probabilities, strict=True):
        slopes = [
            step_loops.slope(0, z, step_loops.INFIMUM_MEDIAN, minus, one, np.array([c]), np.array([int(y > c)]))
            for c in offsets
        ]
        total += p * np.mean(slopes)
    return total


def test_the_infimum_loss_aims_at_the_mean_of_f_not_at_the_median():
    # Thresholds uniform on [-1, 1]: F(y) = (y+1)/2, so the target is F^-1(E F(Y)) = E Y.
    labels, probabilities = np.array([-0.8, -0.7, 0.9]), np.array([0.3, 0.3, 0.4])
    mean = float(labels @ probabilities)
    offsets = RandomThreshold(law="uniform").plan(1, (np.arange(4000)[:, None] + 0.5) / 4000).offset
    at_mean = _expected_infimum_slope(mean, labels, probabilities, offsets)
    at_median = _expected_infimum_slope(-0.7, labels, probabilities, offsets)
    assert abs(at_mean) < 2e-3
    assert at_median < -0.1
