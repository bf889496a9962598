import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

from askone import theory
from askone._common import random_table
from askone.errors import InvalidArgument


@pytest.mark.parametrize("m", [1, 2, 3, 10, 50, 100])
def test_c2_by_monte_carlo(m):
    n = 200_000
    sample = np.abs(random_table.sphere(random_table.uniforms(m, 0, n, m))[:, 0])
    assert abs(sample.mean() - theory.c2(m)) <= 5 * sample.std() / math.sqrt(n) + 1e-12


def test_c2_values_and_bracket():
    assert theory.c2(1) == 1.0
    assert theory.c2(2) == pytest.approx(2 / math.pi, rel=1e-14)
    assert theory.c2(3) == pytest.approx(0.5, rel=1e-14)
    for m, value in ((10, 0.25869), (50, 0.11340), (100, 0.07999)):
        assert theory.c2(m) == pytest.approx(value, abs=6e-6)
    for m in (1, 2, 5, 299, 300, 301, 10**4, 10**6):
        assert math.sqrt(2 / (math.pi * m)) < theory.c2(m) < math.sqrt(2 / (math.pi * (m - 0.5)))


@pytest.mark.parametrize("m", [2, 3, 4, 10, 25])
def test_slices_of_the_sphere_have_the_exponent_m_minus_3_over_2(m):
    """With t = sin a, (1 - t^2)^((m-3)/2) dt is cos(a)^(m-2) da; the paper's (m-2)/2 has m-1, and another mean."""

    def mean(power):
        top, bottom = (quad(lambda a, k=k: np.sin(a) ** k * np.cos(a) ** power, 0, np.pi / 2)[0] for k in (1, 0))
        return top / bottom

    assert mean(m - 2) == pytest.approx(theory.c2(m), rel=1e-9)
    assert mean(m - 1) < 0.99 * theory.c2(m)


@pytest.mark.parametrize(("d", "sigma"), [(0.0, 1.0), (0.3, 0.5), (-2.0, 1.5)])
def test_the_mean_distance_of_a_gaussian_has_a_plus(d, sigma):
    """The one-dimensional lemma: by quadrature, d erf(d / (sqrt(2) s)) + s sqrt(2 / pi) exp(-d^2 / (2 s^2))."""

    def distance(y):
        return abs(d - sigma * y) * math.exp(-y * y / 2) / math.sqrt(2 * math.pi)

    exact = sum(quad(distance, *ends)[0] for ends in ((-12, d / sigma), (d / sigma, 12)))
    first, second = (
        d * erf(d / (math.sqrt(2) * sigma)),
        sigma * math.sqrt(2 / math.pi) * math.exp(-(d**2) / 2 / sigma**2),
    )
    assert first + second == pytest.approx(exact, rel=1e-9)
    assert first - second < exact - second


@pytest.mark.parametrize(("m", "M"), [(1, 1.0), (2, 0.5), (5, 2.0)])
def test_c1_by_monte_carlo(m, M):
    n = 400_000
    uniform = random_table.uniforms(m, 0, n, m + 1)
    u, v = random_table.sphere(uniform[:, :m]), 2 * M * uniform[:, m]
    z = np.zeros(m)
    z[0] = 1.9 * M  # within the promise |z| <= 2M
    sample = (u @ z >= v)[:, None] * u / theory.c1(m, M)
    error = 5 * sample.std(axis=0) / math.sqrt(n)
    assert (np.abs(sample.mean(axis=0) - z) <= error).all()


def test_thresholds_on_0_m_saturate():
    """The appendix's V on [0, M] at m = 1, |z| = 1.9 M: 47 % too small; on [0, 2M] exact."""
    M, z = 2.0, 3.8
    for top, expected in ((M, M), (2 * M, z)):
        v = (np.arange(100_000) + 0.5) / 100_000 * top
        mean = np.mean([2 * top * np.mean(u * z >= v) * u for u in (1.0, -1.0)])
        assert mean == pytest.approx(expected, rel=1e-4)
    assert M / z - 1 == pytest.approx(-0.47, abs=0.005)


def test_the_generic_factor_is_for_the_sphere_and_d_plus_2_for_the_ball():
    n, d, bound = 400_000, 4, 1.5
    uniform = random_table.uniforms(9, 0, n, d + 2)
    u, v = random_table.sphere(uniform[:, :d]), bound * uniform[:, d]
    gradient = np.array([0.9, -0.4, 0.2, 0.0])
    sphere = theory.generic_factor(d, bound) * (u @ gradient >= v)[:, None] * u
    inside = u * uniform[:, d + 1 :] ** (1 / d)
    ball = 2 * bound * (d + 2) * (inside @ gradient >= v)[:, None] * inside
    for sample in (sphere, ball):
        assert (np.abs(sample.mean(axis=0) - gradient) <= 5 * sample.std(axis=0) / math.sqrt(n)).all()
    assert (sphere**2).sum(axis=1).mean() < (ball**2).sum(axis=1).mean()


def test_theorem_1():
    assert theory.bound(2.0, 3.0, 1, 400) == pytest.approx(0.3)
    assert theory.step(2.0, 3.0, 400) == pytest.approx(0.075)
    for m in (1, 4, 100):  # sqrt(m), not m^{3/2}
        assert theory.bound(1, 1, m, 100) <= math.sqrt(math.pi * m / 2) / 10


@pytest.mark.parametrize(
    "call",
    [lambda: theory.c2(0), lambda: theory.c2(1.5), lambda: theory.c1(1, 0), lambda: theory.bound(0, 1, 1, 1),
     lambda: theory.bound(1, 1, 1, 0), lambda: theory.step(1, -1, 1), lambda: theory.generic_factor(0, 1)],
)  # fmt: skip
def test_bad_arguments(call):
    with pytest.raises(InvalidArgument):
        call()


def test_c2_keeps_its_digits_for_many_outputs():
    # Gamma(x+1/2)/Gamma(x) by the recurrence r(x+1) = r(x) (x+1/2)/x, from x = 1/2.
    ratio = 1 / math.sqrt(math.pi)
    for k in range(1, 2000):
        x = k - 0.5
        ratio *= (x + 0.5) / x
        assert theory.c2(2 * k + 1) == pytest.approx(1 / (math.sqrt(math.pi) * ratio), rel=1e-11)
