"""Accuracy against arithmetic of forty digits; that the bits are the same everywhere is tested on whole learners."""

import math

import mpmath
import numpy as np
import pytest

from askone._common import arithmetic, compiled

RANDOM = np.random.default_rng(0)


def below(z):
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def log_below(z):
    return mpmath.log(below(z)) if z < 0 else mpmath.log1p(-below(-z))


def density(z):
    return mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)


def uniform(low, high):
    return RANDOM.uniform(low, high, 300)


CASES = {
    "exp": (arithmetic.exp, mpmath.exp, [*uniform(-700, 700), *uniform(-2, 2)], 2),
    "expm1": (arithmetic.expm1, mpmath.expm1, [*uniform(-5, 5), *uniform(-1e-3, 1e-3)], 3),
    "log": (arithmetic.log, mpmath.log, [*np.exp(uniform(-700, 700)), *uniform(0.9, 1.1), 5e-324, 1e-310], 2),
    "log1p": (arithmetic.log1p, mpmath.log1p, [*uniform(-0.99, 2), *uniform(-1e-6, 1e-6)], 3),
    "tanh": (arithmetic.tanh, mpmath.tanh, [*uniform(-9, 9), *uniform(-1e-3, 1e-3)], 4),
    "power": (lambda x: arithmetic.power(x, -0.75), lambda x: x ** mpmath.mpf(-0.75), uniform(1, 1e6), 20),
    "density": (arithmetic.normal_density, density, uniform(-37, 37), 4),
    "distribution": (arithmetic.normal_cdf, below, [*uniform(-37, 0), *uniform(-7, 8)], 6),
    "log of it": (lambda z: arithmetic.hazard(z)[0], log_below, uniform(-50, 30), 6),
    "hazard": (lambda z: arithmetic.hazard(z)[1], lambda z: density(z) / below(z), uniform(-50, 30), 6),
    "excess": (lambda z: arithmetic.hazard(z)[2], lambda z: density(z) / below(z) + z, uniform(-50, 30), 120),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_are_exact_to_a_few_units_in_the_last_place(name):
    ours, exact, places, units = CASES[name]
    with mpmath.workdps(40):
        for x in map(float, places):
            truth = exact(mpmath.mpf(x))
            assert abs(mpmath.mpf(ours(x)) - truth) <= units * mpmath.mpf(math.ulp(float(truth))), x


def test_sine_and_cosine_are_exact_to_a_unit_of_one():
    with mpmath.workdps(40):
        for x in uniform(-1e4, 1e4).tolist():
            exact = float(mpmath.sin(x)), float(mpmath.cos(x))
            assert arithmetic.sine_and_cosine(x) == pytest.approx(exact, rel=0, abs=3e-16)


def test_the_quantile_is_the_inverse_of_the_distribution():
    for p in [*uniform(0, 1), *10.0 ** uniform(-300, -1), 0.5, 1 - 1e-12]:
        z = arithmetic.normal_quantile(p)
        q, slope = min(p, 1 - p), arithmetic.normal_density(z)
        assert abs(arithmetic.normal_cdf(-abs(z)) - q) <= 1e-15 * (q + abs(z) * slope), p


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64, 101])
def test_a_dot_product_has_eight_lanes_however_it_is_laid_out(n):
    a, b = RANDOM.normal(size=(2, n))
    spaced = np.repeat(a, 3)[::3]
    assert compiled.dot(a, b) == compiled.dot(spaced, b) == compiled._lanes(a, b)
    assert compiled.dot(a, b) == pytest.approx(a @ b, abs=1e-13)


@pytest.mark.parametrize("p", [1, 7, 8, 21])
def test_a_row_of_a_product_is_the_same_whatever_other_rows_there_are(p):
    X, W = RANDOM.normal(size=(9, p)), RANDOM.normal(size=(p, 11))
    whole, row = compiled.product(X, W), np.zeros(11)
    for j in range(p):
        row += X[4, j] * W[j]
    assert whole[4].tolist() == compiled.product(X[4:5], W)[0].tolist() == row.tolist()
    assert np.allclose(compiled.row_dots(X, np.ascontiguousarray(W.T)), whole)
    assert compiled.paired_dots(X, X)[3] == compiled.dot(X[3], X[3])
