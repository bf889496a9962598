"""The paper's appendix on surrogates: its quick runs, their verdicts, and the solvers they stand on."""

import numpy as np
import pytest
from scipy.optimize import minimize

from askone.paper._base import CORRECTED, FAILS, HOLDS, IN_PART, VERDICTS
from askone.paper._catalogue import RUNS
from askone.paper.figures.median_vs_ls import design, duality_gap, eta, median_fit, squares_fit, unsquared
from askone.paper.figures.simplex import cuts, geometric_median, margin

WANTED = {
    "median-vs-ls": [HOLDS, HOLDS, IN_PART],
    "simplex": [HOLDS, HOLDS, FAILS],
    "query-strategy": [HOLDS, CORRECTED],
    "minmax": [HOLDS, CORRECTED, HOLDS],
}


@pytest.fixture(scope="module")
def quick():
    runs = [RUNS[name] for name in WANTED]
    return {run.name: (run, run.numbers(True, [job() for job in run.jobs(True)])) for run in runs}


@pytest.mark.parametrize("name", WANTED)
def test_verdicts_and_figures(quick, name):
    run, numbers = quick[name]
    claims = run.claims(numbers)
    assert [claim.verdict for claim in claims] == WANTED[name]
    assert set(WANTED[name]) <= set(VERDICTS)
    assert run.draw(numbers).axes


def test_the_margins_of_these_verdicts(quick):
    """Far from where they would turn."""
    fits = {key: fit["error"] for key, fit in quick["median-vs-ls"][1]["fits"].items()}
    assert all(error > 0.05 for key, error in fits.items() if "least squares" in key)
    assert all(error == 0 for key, error in fits.items() if "median" in key)
    game = quick["minmax"][1]["play"]
    assert np.mean(game["gap"], axis=0)[-1] < np.mean(game["gap"], axis=0)[0] / 2.5
    assert np.mean(game["value"], axis=0)[-1] == pytest.approx(-0.1, abs=0.03)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(30, 4))
    return phi, np.full(30, 1 / 30), np.clip(phi[:, 0] / 2, -1, 1)


@pytest.mark.parametrize("ridge", [1e-4, 1e-2, 1.0])
def test_the_median_is_fitted_to_its_dual(ridge):
    """Primal and dual meet, and no point found otherwise is better."""
    phi, weights, mean = problem()
    theta = median_fit(phi, weights, mean, ridge)
    assert 0 <= duality_gap(phi, weights, mean, ridge, theta) < 1e-5

    def value(t):
        up, g = (1 + mean) / 2, phi @ t
        return weights @ (up * np.abs(g - 1) + (1 - up) * np.abs(g + 1)) + ridge * t @ t

    other = minimize(value, theta + 0.1, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12})
    assert value(theta) < other.fun + 1e-5


@pytest.mark.parametrize("fit", [squares_fit, median_fit])
def test_the_unsquared_penalty(fit):
    """The ridge of the squared penalty that it stands for has the same gradient."""
    phi, weights, mean = problem(1)
    theta = unsquared(fit, phi, weights, mean, 0.05)
    assert theta == pytest.approx(fit(phi, weights, mean, 0.05 / (2 * np.linalg.norm(theta))), abs=1e-4)


def test_the_noise_changes_where_the_text_says():
    x = design()[:, 0]
    assert ((x <= 1) | (x >= 2)).all()
    assert (np.sign(eta(x)) == np.where(x <= 1, 1, -1)).all()


def test_geometric_medians():
    assert geometric_median(np.array([1, 1, 2 * np.cos(np.pi / 6)]) / (2 + np.sqrt(3))) == pytest.approx([0, 0, 1])
    rng = np.random.default_rng(0)
    for p in rng.dirichlet(np.ones(4), 20):
        z = geometric_median(p)
        best = minimize(lambda z, p=p: p @ np.linalg.norm(z - np.eye(4), axis=1), p, tol=1e-12).fun
        assert p @ np.linalg.norm(z - np.eye(4), axis=1) < best + 1e-8
        assert (np.argsort(z)[-1], margin(z) >= margin(p)) == (p.argmax(), True)


def test_one_third_is_the_solid_angle():
    """The share of cuts that split the other two classes is 1/3, of useful ones 2/3; 2/m for m classes."""
    for classes in (3, 6):
        found = cuts(classes, 3000, seed=5)
        assert found["useful"] + found["splitting"] == 3000
        p = 2 / classes
        assert abs(found["useful"] / 3000 - p) < 4.5 * np.sqrt(p * (1 - p) / 3000)
