"""Intervals hold as many labels as they say, after some bits, whatever the labels are."""

import math

import numpy as np
import pytest

from askone.campaign.engine.coverage import LEAST, step, stretched

ALPHA = 0.1


def covered(sizes, slip=0.0, seed=0):
    """Of each label whether it lay inside, and log k before it: sizes are |y - f| over half of the model's interval."""
    wrong, bits, at = np.random.default_rng(seed).random(len(sizes)) < slip, [], [0.0]
    for i, size in enumerate(sizes, start=1):
        bits.append(bool((size > math.exp(at[-1])) != wrong[i - 1]))
        at.append(at[-1] + step(i) * ((bits[-1] - slip) / (1 - 2 * slip) - ALPHA))
    assert stretched(bits, ALPHA, slip) == pytest.approx(math.exp(at[-1]))
    return np.asarray(sizes) <= np.exp(at[:-1]), np.array(at)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_coverage_after_300_bits(scale, slip):
    """The true coverage after 200 to 300 bits, mean of 60 campaigns: .9, by four standard errors and .01."""
    rng, last = np.random.default_rng(1), []
    far = np.sort(np.abs(rng.normal(size=20_000))) * scale / 1.645
    for seed in range(60):
        _, at = covered(rng.choice(far, 300), slip, seed)
        last.append(np.mean(np.searchsorted(far, np.exp(at[200:])) / len(far)))
    assert abs(np.mean(last) - 0.9) < 0.01 + 4 * np.std(last) / np.sqrt(60)


def test_the_long_run_holds_for_any_sequence():
    """Exactly: by how much the share outside differs from alpha is how far k has gone."""
    rng = np.random.default_rng(2)
    normal = np.abs(rng.normal(size=3000)) / 1.645
    for sizes in (
        normal,
        normal * np.linspace(1, 4, 3000),
        np.sort(normal),
        np.where(np.arange(3000) < 900, 1, 3) * normal,
    ):
        inside, at = covered(sizes)
        gone = at[3000] - at[145]
        assert (1 - inside[145:].mean()) - ALPHA == pytest.approx(gone / (LEAST * 2855), abs=1e-9)
        assert abs(inside.mean() - 0.9) < 0.02
