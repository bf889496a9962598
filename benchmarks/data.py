"""Data as people have it: tables with categories, texts, photographs, one bit per row by the defaults.

    python benchmarks/data.py [--seeds N]
    python benchmarks/data.py --quick      some seconds: a small table of each kind; prints and writes nothing

Made tables (``made_numbers``, ``made_classes``): numbers and categories, a label that depends on products and on
categories, noise.  With all labels: boosted trees (LightGBM) for tables, ridge on TF-IDF for texts, logistic regression
for photographs, each at the best of a grid by the test error itself: better than anybody could choose.  Real data is
read from ASKONE_DATA and left out without.
Writes docs/data.md and results/data.json.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from page import DATA, Array, arguments, grid, keep_page, machine, taken_with
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from askone import Filters, OneBitClassifier, OneBitRegressor, SetLikelihood


def made_numbers(seed: int, n: int) -> tuple[pd.DataFrame, Array]:
    """Homes: six numbers, a district of 25 and a kind of 4, prices with products and jumps, a tenth of noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 6))
    district, kind = rng.integers(25, size=n), rng.integers(4, size=n)
    by_district, by_kind = rng.normal(size=25), rng.normal(size=(4, 6))
    price = by_district[district] + 4 * X[:, 0] * X[:, 1] + 1.5 * ((X[:, 2] > 0.6) & (kind == 1))
    price = price + (X * by_kind[kind]).sum(axis=1) + 0.3 * rng.standard_normal(n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    frame["district"], frame["kind"] = [f"d{k}" for k in district], [f"k{k}" for k in kind]
    frame.loc[rng.random(n) < 0.05, "x3"] = np.nan
    return frame, price


def made_classes(seed: int, n: int) -> tuple[pd.DataFrame, Array]:
    """Seven classes by signs, a product and a category, of nine numbers and one category; a twentieth at random."""
    rng = np.random.default_rng(seed)
    X, group = rng.normal(size=(n, 9)), rng.integers(5, size=n)
    y = (2 * (X[:, 0] > 0) + (X[:, 1] * X[:, 2] > 0) + 3 * (X[:, 3] > 0.5) * (group > 2)) % 7
    y = np.where(rng.random(n) < 0.05, rng.integers(7, size=n), y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(9)])
    frame["group"] = [f"g{k}" for k in group]
    return frame, y


def trees(X: pd.DataFrame, y: Array, X_test: pd.DataFrame, classes: bool) -> list[Array]:
    """What boosted trees of some sizes say, with all labels."""
    typed = [one.astype({c: "category" for c in one.columns if one[c].dtype.kind not in "fiub"}) for one in (X, X_test)]
    for name in typed[0].select_dtypes("category"):
        typed[1][name] = typed[1][name].cat.set_categories(typed[0][name].cat.categories)
    said = []
    for rounds, depth, objective in itertools.product((100, 300, 1000), (3, 5), ("l1", "l2")):
        options: dict[str, Any] = {"n_estimators": rounds, "learning_rate": 0.05, "max_depth": depth, "verbosity": -1,
                                   "n_jobs": 1, "random_state": 0}  # fmt: skip
        if classes and objective == "l1":
            continue
        kind = lightgbm.LGBMClassifier(**options) if classes else lightgbm.LGBMRegressor(objective=objective, **options)
        said.append(np.asarray(kind.fit(typed[0], y).predict(typed[1])))
    return said


def estimator(ends: tuple[float, float] | None, seed: int, alone: bool) -> Any:
    """A default estimator, or the learner that it has without models beside it."""
    if ends is None:
        learner: Any = {"learner": SetLikelihood(fitted=False)} if alone else {}
        return OneBitClassifier(random_state=seed, **learner)
    return OneBitRegressor(*ends, random_state=seed, **({"learner": Filters(fitted=False)} if alone else {}))


def timed(model: Any, X: Any, y: Array) -> tuple[Any, float]:
    """A model after one bit per row, and the milliseconds that an answer took."""
    began = time.process_time()
    return model.fit(X, y), 1000 * (time.process_time() - began) / len(y)


@dataclass(frozen=True)
class Task:
    """Rows of which the first ``bits`` are asked about, and predictions of the ``tested`` ones with all labels.

    ``ends`` is the range that is declared, of numbers.
    """

    name: str
    bits: int
    X: Any
    y: Array
    tested: slice
    ends: tuple[float, float] | None
    labelled: Callable[[], list[Array]]


def tasks(seed: int, quick: bool) -> Iterator[Task]:
    """All tasks of a seed."""
    for bits in (300,) if quick else (1000, 3000, 10_000):
        X, y = made_numbers(seed, bits + 2000)
        low, high = np.quantile(y, [0.01, 0.99])
        yield _made("homes (made)", bits, X, y, (float(low - 1), float(high + 1)))
    for bits in (300,) if quick else (600, 1700, 5000):
        yield _made("seven classes (made)", bits, *made_classes(seed, bits + 2000), None)
    if quick or not DATA.exists():
        return
    tweets = pd.read_parquet(DATA / "tweets.parquet")
    order = np.random.default_rng(seed).permutation(len(tweets))
    text, rating = tweets[["text"]].iloc[order].reset_index(drop=True), tweets["rating"].to_numpy()[order]
    for bits in (1000, 3360):
        yield Task("tweets", bits, text, rating, slice(3360, None), (-4.0, 4.0), partial(ridge, text, rating, bits))
    photos = pd.read_parquet(DATA / "labelme.parquet")
    vectors, label = np.array(photos["features"].tolist()), photos["label"].to_numpy()
    train, test = (np.flatnonzero(photos["split"] == part) for part in ("train", "test"))
    order = np.concatenate([np.random.default_rng(seed).permutation(train), test])
    X, y, cut = vectors[order], label[order], len(train)
    yield Task("labelme, 512 columns", cut, X, y, slice(cut, None), None, partial(logistic, X[:cut], y[:cut], X[cut:]))


def _made(name: str, bits: int, X: pd.DataFrame, y: Array, ends: tuple[float, float] | None) -> Task:
    labelled = partial(trees, X[:bits], y[:bits], X[bits:], ends is None)
    return Task(name, bits, X, y, slice(bits, None), ends, labelled)


def ridge(text: pd.DataFrame, rating: Array, n: int) -> list[Array]:
    """What ridge on TF-IDF says, with all labels: words and pairs of words, with signs and without."""
    said = []
    for pattern in (r"(?u)\b\w\w+\b", r"(?u)\w+|[^\w\s]"):
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=20_000, token_pattern=pattern)
        seen = words.fit_transform(text["text"])
        said += [
            np.asarray(Ridge(a).fit(seen[:n], rating[:n]).predict(seen[3360:])) for a in (0.1, 0.3, 1.0, 3.0, 10.0)
        ]
    return said


def logistic(X: Array, y: Array, X_test: Array) -> list[Array]:
    """What logistic regression says, with all labels."""
    grid = [make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=500)) for C in (1e-3, 1e-2, 1e-1, 1.0)]
    return [np.asarray(one.fit(X, y).predict(X_test)) for one in grid]


def measured(seeds: int, quick: bool, jobs: int) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for rows in Parallel(n_jobs=jobs)(delayed(of_seed)(seed, quick) for seed in range(seeds)):
        for name, values in rows.items():
            for key, value in values.items():
                found.setdefault(name, {}).setdefault(key, []).append(value)
    return found


def of_seed(seed: int, quick: bool) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for task in tasks(seed, quick):
        X, y, tested, truth = task.X[: task.bits], task.y[: task.bits], task.X[task.tested], task.y[task.tested]

        def error(said: Array, truth: Array = truth, numbers: bool = task.ends is not None) -> float:
            return float(np.abs(said - truth).mean() if numbers else (said != truth).mean())

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn's solvers
            alone, _ = timed(estimator(task.ends, seed, True), X, y)
            model, cost = timed(estimator(task.ends, seed, False), X, y)
            values = {"alone": error(alone.predict(tested)), "default": error(model.predict(tested)),
                      "labels": min(map(error, task.labelled())), "ms": cost}  # fmt: skip
        found[f"{task.name} | {task.bits}"] = values
        said = ", ".join(f"{key} {value:.3f}" for key, value in values.items())
        print(f"seed {seed}: {task.name}, {task.bits} bits: {said}", flush=True)
    return found


def page(results: dict[str, dict[str, list[float]]], seeds: int, of: dict[str, Any]) -> str:
    rows = []
    for name, row in results.items():
        mean = {key: float(np.mean(values)) for key, values in row.items()}
        spread = float(np.std(row["default"]) / max(len(row["default"]) - 1, 1) ** 0.5)
        data, bits = name.split(" | ")
        rows.append((data, bits, mean["alone"], f"{mean['default']:.3f} ± {spread:.3f}", mean["labels"],
                     mean["default"] / mean["labels"], mean["ms"]))  # fmt: skip
    head = ("data", "bits", "learner alone", "default", "all labels", "default / all labels", "ms an answer")
    return f"""# Data as people have it

Written by `make bench-data` (`benchmarks/data.py`): {taken_with(of)}. Means of {seeds} seeds.

One yes/no question about each training row, with every default. Numbers: mean absolute error; classes: error on other
rows. *Learner alone*: the bank of filters or the set likelihood, without fitted models beside it, which sees no
texts. *All labels*: boosted trees for tables, ridge on TF-IDF for texts, logistic regression for photographs, with the
labels of the same rows and the best settings of a grid by the test error itself. *Made* tables are described in the
script. Milliseconds are of processor time, fits included.

{grid(head, rows)}
"""


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(__doc__, seeds=3, jobs=1, quick=False).parse_args(given)
    seeds, of = 1 if chosen.quick else chosen.seeds, machine()
    results = measured(seeds, chosen.quick, chosen.jobs)
    text = page(results, seeds, of)
    print(text)
    if not chosen.quick:
        keep_page("data", {"machine": of, **results}, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
