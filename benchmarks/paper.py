"""What the streams of the paper's runs cost: askone against straightforward NumPy loops, measured in turn.

    python benchmarks/paper.py            two minutes; rewrites benchmarks/results/paper.json and its
                                          part of docs/benchmarks.md
    python benchmarks/paper.py --quick    under half a minute; prints the same and writes nothing

Algorithm 1 on made-up data of the runs' sizes, without evaluation.  The plain loop does what the algorithm
says, step by step: predict, ask, move theta, move its average.  The lean one keeps the average by a second
sum instead (``stream.py``).  All three must end at the same predictions.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from typing import Any

# Read once, when the libraries below are loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from page import arguments, grid, keep, machine, taken_with
from stream import Problem, Size, Timed, agree, run_askone, run_numpy, verdict

WANTED = 5.0


@dataclass(frozen=True)
class Streams:
    """A run's streams: their size, how many there are, and what the published scripts take for the run."""

    size: Size
    count: int
    published: str
    quick: int


RUNS = (
    Streams(Size("fig2-left", 0, 1, 1, 10_000, 0.0), 200, "263 s", 3000),
    Streams(Size("fig2-right", 0, 1, 100, 10_000, 0.0), 200, "80 min", 2000),
    Streams(Size("weather", 100, 6, 1, 90_000, 0.0), 2, "4 min", 20_000),
    Streams(Size("calcofi", 100, 5, 2, 200_000, 0.0), 2, "19 min", 20_000),
    Streams(Size("libsvm-usps", 2000, 256, 10, 6_198, 0.0), 200, "3.9 h", 1500),
)


def run_plain(problem: Problem) -> Timed:
    """Algorithm 1 as it is written: a few NumPy calls for each of its lines."""
    X, Y, U, Z = problem.X, problem.Y, problem.U, problem.Z
    T, p, m = problem.rows, problem.size.p, problem.size.m
    theta, mean = (np.zeros((m, p) if p else (T, m)) for _ in range(2))
    begin = time.perf_counter()
    for t in range(T):
        x, y, u = X[t], Y[t], U[t]
        k = np.exp(problem.factor * (((Z if p else X[:t]) - x) ** 2).sum(1))
        value = theta @ k if p else k @ theta[:t]
        step = problem.gamma / math.sqrt(t + 1) * (1.0 if (y - value) @ u > 0 else -1.0)
        if p:
            theta += step * np.outer(u, k)
            mean += (theta - mean) / (t + 1)
        else:
            theta[t] = step * u
            mean[: t + 1] += (theta[: t + 1] - mean[: t + 1]) / (t + 1)
    return time.perf_counter() - begin, problem.sections @ (mean.T if p else mean)


def measure(streams: Streams, quick: bool) -> dict[str, Any]:
    """The best of some rounds of each, in turn; the loops once or twice."""
    problem = Problem(streams.size, streams.quick if quick else streams.size.rows)
    ways = {"askone": run_askone, "lean": run_numpy, "plain": run_plain}
    best = dict.fromkeys(ways, math.inf)
    for round_ in range(3 if quick else 6):
        expected = None
        for name, way in ways.items():
            if name != "askone" and round_ > (0 if quick else 1):
                continue
            seconds, found = way(problem)
            expected = found if expected is None else expected
            agree(streams.size.name, name, found, expected)
            best[name] = min(best[name], seconds) if name != "askone" or round_ > 0 else math.inf  # the first compiles
    return row(streams, problem.rows, best)


def row(streams: Streams, rows: int, best: dict[str, float]) -> dict[str, Any]:
    ratio = best["plain"] / best["askone"]
    return {
        "run": streams.size.name, "shape": streams.size.shape, "rows": rows, "streams": streams.count,
        "us": {name: 1e6 * seconds / rows for name, seconds in best.items()},
        "one": best["askone"], "all": best["askone"] * streams.count, "ratio": ratio,
        "lean": best["lean"] / best["askone"], "published": streams.published, "verdict": verdict(ratio >= WANTED),
    }  # fmt: skip


def report(results: dict[str, Any]) -> str:
    """One table, with a sentence for each column."""
    head = ("run", "shape", "rows", "askone µs", "one stream s", "all streams s", "plain NumPy µs", "plain / askone",
            "lean NumPy µs", "lean / askone", "verdict", "published")  # fmt: skip
    lines = [
        (one["run"], one["shape"], one["rows"], one["us"]["askone"], one["one"], one["all"], one["us"]["plain"],
         one["ratio"], one["us"]["lean"], one["lean"], one["verdict"], one["published"])
        for one in results["runs"]
    ]  # fmt: skip
    return f"""## The streams of the paper's runs

{grid(head, lines)}

- *rows*: of the stream that was timed; *askone µs*: per row, best of several, through `askone.simulate`.
- *one stream s*, *all streams s*: seconds of one such stream, and of as many as the run has, on one core.
- *plain NumPy*: Algorithm 1 line by line, with its average; *lean NumPy*: the average by a second sum.
- *verdict*: whether askone is at least {WANTED:g} times as fast as the plain loop.
- *published*: what the reference scripts take for the run, evaluation at each step included.

{taken_with(results["machine"], " (one used)")}."""


def main() -> None:
    quick = arguments(__doc__, quick=False).parse_args().quick
    results = {"machine": machine(), "runs": [measure(streams, quick) for streams in RUNS]}
    tables = report(results)
    print(tables)
    if not quick:
        keep("paper", results, tables)


if __name__ == "__main__":
    main()
