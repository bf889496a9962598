"""Microseconds per answer of the learners, beside a plain NumPy step of the same size; the slowest; the first use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from askone import OneBitClassifier, OneBitRanker, OneBitRegressor, Oracle, Ranking, Real, SetLikelihood, simulate
from askone.features.maps import Nystroem
from askone.learners.kalman.regressor import FilterLearner
from askone.session.simulation import in_order
from askone.session.stream import Stream

FILTERS = 7  # of a bank that is timed
FIRST_USES = {
    "OneBitRegressor(0, 1)": "OneBitRegressor(0, 1)",
    "OneBitClassifier(), m=4": "OneBitClassifier(list('abcd'))",
    "OneBitRanker(), m=4": "OneBitRanker(list('abcd'))",
}
FIRST_USE = """
import time
clock, worked = time.perf_counter(), time.process_time()
import numpy as np
import askone
X = np.random.default_rng(0).normal(size=(300, 6))
model = askone.{model}
model.start(X)
model.tell(model.ask(X[0]), True)
model.predict(X[:5])
print([time.process_time() - worked, time.perf_counter() - clock])
"""


@dataclass(frozen=True)
class Timed:
    """A learner on made-up rows, and a NumPy step to compare with (one call: one answer)."""

    what: str
    learner: Any
    X: Any
    hidden: Any
    step: Callable[[], None]
    rows: int


def filter_step(p: int, filters: int) -> Callable[[], None]:
    """mu += a S x, S -= b (S x)(S x)^T for each of some filters."""
    rng = np.random.default_rng(0)
    x, S, mu = rng.normal(size=p) / np.sqrt(p), np.stack([np.eye(p)] * filters), np.zeros((filters, p))

    def step() -> None:
        for k in range(filters):
            Sx = S[k] @ x
            v = x @ Sx + 0.01
            mu[k] += 1e-3 / np.sqrt(v) * Sx
            S[k] -= (1e-3 / v) * np.outer(Sx, Sx)

    return step


def scores_step(p: int, m: int) -> Callable[[], None]:
    """The same for one covariance and m scores: W -= (S x) g^T."""
    rng = np.random.default_rng(0)
    x, S, W, g = rng.normal(size=p) / np.sqrt(p), np.eye(p), np.zeros((p, m)), rng.normal(size=m)

    def step() -> None:
        z = x @ W
        np.exp(z - z.max())
        Sx = S @ x
        h = 1e-3 / (1 + x @ Sx)
        S[...] -= h * np.outer(Sx, Sx)
        W[...] -= 1e-3 * np.outer(S @ x, g)

    return step


def learners_to_time(quick: bool = False) -> list[Timed]:
    """What is timed: add a learner here."""
    rng = np.random.default_rng(22)
    n = 300 if quick else 3000
    X = rng.normal(size=(n, 6))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    digits = rng.normal(size=(n, 16))
    classes = np.argmax(digits @ rng.normal(size=(16, 10)) + 0.1 * rng.normal(size=(n, 10)), axis=1)
    space = Ranking(tuple(f"item {i}" for i in range(10)))
    orders = space.from_scores(X @ rng.normal(size=(6, 10)))
    regressor = OneBitRegressor(-2, 2, random_state=0)
    classifier = OneBitClassifier(range(10), random_state=0)
    lone = OneBitClassifier(range(10), learner=SetLikelihood(bandwidth=3.0), random_state=0)
    ranker = OneBitRanker(space.items, random_state=0)
    few = min(n, 1000)  # as long as a bank has every second of its noise scales
    return [
        *(
            Timed(f"bank of {FILTERS} filters, p={p}", _bank(X, p), X, y, filter_step(p, FILTERS), few)
            for p in (100, 500)
        ),
        Timed("set likelihood, p=500, m=10", _of(lone, digits), digits, classes, scores_step(500, 10), n),
        Timed("OneBitRegressor()", _of(regressor, X), X, y, filter_step(100, FILTERS), n),
        Timed("OneBitClassifier(), m=10", _of(classifier, digits), digits, classes, scores_step(500, 10), n),
        Timed("OneBitRanker(), m=10", _of(ranker, X), X, orders, scores_step(100, 10), n),
    ]


def _of(model: Any, X: Any) -> Any:
    return model.start(X).stream_.learner


def _bank(X: Any, p: int) -> FilterLearner:
    """Noise scales so close that none is dropped; a bank begins with every second one."""
    noises = tuple(np.geomspace(0.08, 0.12, 2 * FILTERS - 1).tolist())
    return FilterLearner(Real(-2, 2), (Nystroem.from_rows(X, p, "gaussian", 2.0),), noises, (1.0,))


def _streamed(one: Timed, rows: int) -> float:
    begin = time.process_time()
    simulate(one.learner, one.X[:rows], Oracle(one.hidden[:rows]), at=[])
    return (time.process_time() - begin) / rows * 1e6


def _stepped(one: Timed, times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        one.step()
    return (time.process_time() - begin) / times * 1e6


def speeds(quick: bool = False) -> dict[str, Any]:
    """Processor time, the best of several rounds of each, in turn, so that a busy moment spoils no ratio."""
    found = []
    for one in learners_to_time(quick):
        rows, rounds = min(one.rows, 200 if quick else 3000), 2 if quick else 5
        _streamed(one, min(rows, 100))  # compiles
        _each(one, min(rows, 100))
        times = [(_streamed(one, rows), _stepped(one, 20 if quick else 200)) for _ in range(rounds)]
        us, numpy = (min(column) for column in zip(*times, strict=True))
        each = _each(one, rows)
        slow = {"median": float(np.median(each)), "p99": float(np.quantile(each, 0.99)), "most": max(each)}
        found.append({"what": one.what, "us": us, "numpy": numpy, "ratio": numpy / us, **slow})
    return {"learners": found, "filters": FILTERS, "first": first_uses(list(FIRST_USES)[-1:] if quick else FIRST_USES)}


def _each(one: Timed, rows: int) -> list[float]:
    """Milliseconds of processor time of each question and its answer, one by one as with a person."""
    stamps = [time.process_time()]
    live, respondent = Stream(one.learner, history=False), Oracle(one.hidden[:rows])
    in_order(live, one.X[:rows], respondent, range(rows), None, lambda *_: stamps.append(time.process_time()))
    each: list[float] = (np.diff(stamps) * 1e3).tolist()
    return each


def first_uses(models: Iterable[str]) -> list[dict[str, Any]]:
    """Seconds from a new process to the first prediction, where numba has kept nothing and where it has kept all.

    Python's own bytecode is there, as an installation leaves it: the first process of all makes it, and is not counted.
    """
    with tempfile.TemporaryDirectory(prefix="askone-first-use-") as folder:
        _first_use(folder, "before", next(iter(FIRST_USES.values())))
        found = []
        for place, what in enumerate(models):
            (cold, cold_clock), (kept, kept_clock) = (
                _first_use(folder, str(place), FIRST_USES[what]) for _ in range(2)
            )
            seconds = {"cold": cold, "cold clock": cold_clock, "kept": kept, "kept clock": kept_clock}
            found.append({"what": what, **seconds})
    return found


def _first_use(folder: str, kept: str, model: str) -> list[float]:
    """Seconds of processor time, and by the clock."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"NUMBA_CACHE_DIR": f"{folder}/{kept}", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    command = [sys.executable, "-c", FIRST_USE.format(model=model)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(one) for one in json.loads(done.stdout)]
