"""Data that nothing here was tuned on: one bit per row by the defaults, against all labels.

    python benchmarks/untuned.py [--seeds N]
    python benchmarks/untuned.py --quick      some seconds: few and short tasks; prints and writes nothing

Data sets that come with scikit-learn and simulations with awkward noise or inputs; a quarter of the rows
is held out.  Numbers: mean absolute error over that of the median of all labels (1: nothing learnt);
classes: error.  One question about each training row, in random order.  With all labels: the best of
ridge, kernel ridge (linear and kernel logistic regression for classes), cross-validated, and boosted trees;
Algorithm 1 at its best of five steps, chosen on the held-out rows.  Writes docs/untuned.md and results/untuned.json.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from page import Array, arguments, keep_page, machine, taken_with
from rich.progress import track
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from askone import SGD, OneBitClassifier, OneBitRegressor

Rows = tuple[Array, Array]
_STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
_MOST = 1500  # rows that kernel ridge takes in reasonable time
_QUICK = ("iris: petal width", "a step", "iris", "two moons")


def numbers(seed: int) -> dict[str, Rows]:
    """Regression: real data, then simulations."""
    rng = np.random.default_rng(seed)
    diabetes, iris, wine, cancer, digits = (
        load() for load in (datasets.load_diabetes, datasets.load_iris, datasets.load_wine,
                            datasets.load_breast_cancer, datasets.load_digits)
    )  # fmt: skip
    X = rng.standard_normal((2000, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    wild = rng.random(2000) < 0.1
    line, wide = rng.random((3000, 1)), rng.standard_normal((60, 100))
    return {
        "diabetes": (diabetes.data, diabetes.target),
        "iris: petal width": (iris.data[:, :3], iris.data[:, 3]),
        "wine: alcohol": (wine.data[:, 1:], wine.data[:, 0]),
        "breast cancer: radius": (cancer.data[:, 4:], cancer.data[:, 0]),
        "digits: ink of the lower quarter": (digits.data[:, :48], digits.data[:, 48:].sum(axis=1)),
        "Friedman 1": datasets.make_friedman1(3000, noise=1.0, random_state=seed),
        "Friedman 2": datasets.make_friedman2(3000, noise=30.0, random_state=seed),
        "Friedman 3": datasets.make_friedman3(3000, noise=0.1, random_state=seed),
        "linear, 20 inputs": datasets.make_regression(1500, 20, n_informative=10, noise=10, random_state=seed),
        "uneven noise": (X, f + 0.5 * np.abs(X[:, 0]) * rng.standard_normal(2000)),
        "a tenth is Cauchy": (X, f + np.where(wild, 20 * rng.standard_cauchy(2000), 0.1 * rng.standard_normal(2000))),
        "collinear, duplicated inputs": (
            np.hstack([X, X, X @ rng.standard_normal((3, 5))]), f + 0.1 * rng.standard_normal(2000)
        ),
        "a step": (line, (line[:, 0] > 0.37) + 0.05 * rng.standard_normal(3000)),
        "six waves": (line, np.sin(40 * line[:, 0]) + 0.1 * rng.standard_normal(3000)),
        "60 rows, 100 inputs": (wide, wide[:, 0] + 0.1 * rng.standard_normal(60)),
    }  # fmt: skip


def classes(seed: int) -> dict[str, Rows]:
    """Classification: real data, then simulations."""
    rng = np.random.default_rng(seed)
    found = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("digits", "wine", "iris")}
    found["breast cancer"] = datasets.load_breast_cancer(return_X_y=True)

    def made(n: int, k: int, **more: Any) -> Rows:
        X, y = datasets.make_classification(
            n, 20, n_informative=10, n_classes=k, n_clusters_per_class=1, class_sep=1.5, random_state=seed, **more
        )
        return X, y

    X, y = made(2000, 5)
    noisy = np.where(rng.random(2000) < 0.2, rng.integers(5, size=2000), y)
    return found | {
        "5 classes": (X, y),
        "20 classes": made(4000, 20),
        "5 classes, a fifth of labels at random": (X, noisy),
        "90, 6, 3 and 1 %": made(3000, 4, weights=[0.90, 0.06, 0.03, 0.01]),
        "two moons": datasets.make_moons(1500, noise=0.15, random_state=seed),
    }


def halves(data: Rows, seed: int) -> tuple[Array, Array, Array, Array]:
    """Training rows and labels, then those held out."""
    X, y = data
    order = np.random.default_rng(seed + 100).permutation(len(X))
    test, train = order[: len(X) // 4], order[len(X) // 4 :]
    return X[train], y[train], X[test], y[test]


def plausible(y: Array) -> tuple[float, float]:
    """A range that somebody might declare: a quarter more than most labels need, off centre."""
    low, high = np.quantile(y, [0.02, 0.98])
    half = 0.75 * (high - low) + 1e-3
    return float((low + high) / 2 - 0.9 * half), float((low + high) / 2 + 1.1 * half)


def numbers_row(data: Rows, seed: int) -> dict[str, float]:
    X, y, X_test, y_test = halves(data, seed)
    ends, scale = plausible(y), float(np.abs(y_test - np.median(y)).mean())

    def error(model: Any) -> float:
        return float(np.abs(model.predict(X_test) - y_test).mean()) / scale

    few, inner = slice(_MOST), StandardScaler()
    ridge = make_pipeline(inner, RidgeCV(np.logspace(-3, 4, 15))).fit(X[few], y[few])
    grid = {"kernelridge__alpha": [0.01, 0.1, 1], "kernelridge__gamma": np.array([0.1, 0.3, 1, 3]) / X.shape[1]}
    middle = y[few].mean()
    kernel = GridSearchCV(make_pipeline(inner, KernelRidge(kernel="rbf")), grid, cv=3).fit(X[few], y[few] - middle)
    smooth = float(np.abs(kernel.predict(X_test) + middle - y_test).mean()) / scale
    boosted = HistGradientBoostingRegressor(loss="absolute_error", random_state=seed).fit(X, y)
    sgd = [OneBitRegressor(*ends, learner=SGD(gamma=g), random_state=seed).fit(X, y) for g in _STEPS]
    return {
        "default": error(OneBitRegressor(*ends, random_state=seed).fit(X, y)),
        "algorithm 1": min(error(model) for model in sgd),
        "all labels": min(error(ridge), smooth, error(boosted)),
    }


def classes_row(data: Rows, seed: int) -> dict[str, float]:
    X, y, X_test, y_test = halves(data, seed)

    def error(model: Any) -> float:
        return 1.0 - float(model.score(X_test, y_test))

    linear = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=5, cv=3, max_iter=500))
    lifted = Nystroem(gamma=0.5 / X.shape[1], n_components=min(300, len(X) // 2), random_state=seed)
    curved = make_pipeline(StandardScaler(), lifted, LogisticRegressionCV(Cs=5, cv=3, max_iter=500))
    boosted = HistGradientBoostingClassifier(random_state=seed)
    steps = [SGD(questions="sphere", step="sqrt", gamma=g) for g in _STEPS]
    sphere = [OneBitClassifier(learner=learner, random_state=seed).fit(X, y) for learner in steps]
    return {
        "default": error(OneBitClassifier(random_state=seed).fit(X, y)),
        "algorithm 1": min(error(model) for model in sphere),
        "all labels": min(error(model.fit(X, y)) for model in (linear, curved, boosted)),
    }


def table(results: dict[str, dict[str, list[float]]], title: str) -> str:
    names = ("default", "algorithm 1", "all labels")
    lines = [f"| {title} | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for name, row in results.items():
        means = [f"{np.mean(row[key]):.3f}" for key in names]
        spread = np.std(row["default"]) / np.sqrt(max(len(row["default"]) - 1, 1))
        lines.append(f"| {name} | {means[0]} ± {spread:.3f} | " + " | ".join(means[1:]) + " |")
    return "\n".join(lines)


def shortened(tasks: Callable[[int], dict[str, Rows]]) -> Callable[[int], dict[str, Rows]]:
    """A few tasks, of 300 rows at most."""

    def few(seed: int) -> dict[str, Rows]:
        return {name: (X[:300], y[:300]) for name, (X, y) in tasks(seed).items() if name in _QUICK}

    return few


def measured(tasks: Any, row: Any, seeds: int, what: str, jobs: int) -> dict[str, dict[str, list[float]]]:
    each = [(name, data, seed) for seed in range(seeds) for name, data in tasks(seed).items()]
    rows = Parallel(n_jobs=jobs, return_as="generator")(delayed(quietly)(row, data, seed) for _, data, seed in each)
    found: dict[str, dict[str, list[float]]] = {}
    for (name, _, _), values in track(zip(each, rows, strict=True), what, total=len(each)):
        for key, value in values.items():
            found.setdefault(name, {}).setdefault(key, []).append(value)
    return found


def quietly(row: Callable[[Rows, int], dict[str, float]], data: Rows, seed: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn's solvers
        return row(data, seed)


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(__doc__, seeds=8, jobs=1, quick=False).parse_args(given)
    quick, seeds = chosen.quick, 1 if chosen.quick else chosen.seeds
    regression, classification = (shortened(numbers), shortened(classes)) if quick else (numbers, classes)
    results = {"numbers": measured(regression, numbers_row, seeds, "numbers", chosen.jobs),
               "classes": measured(classification, classes_row, seeds, "classes", chosen.jobs)}  # fmt: skip
    of = machine()
    text = "\n\n".join([
        "# Data that nothing was tuned on",
        "One yes/no question about each training row, with every default, against all labels of the same rows "
        "(`make bench-untuned`; the script says what is compared with what). A quarter of the rows is held out; "
        f"means of {seeds} seeds, of the default with their standard error: {taken_with(of)}.",
        "Numbers: mean absolute error over that of the median of all labels, so that 1 is nothing learnt.",
        table(results["numbers"], "numbers"),
        "Classes: error on held-out rows.",
        table(results["classes"], "classes") + "\n",
    ])  # fmt: skip
    print(text)
    if not quick:
        keep_page("untuned", {"machine": of, **results}, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
