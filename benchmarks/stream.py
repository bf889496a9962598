"""What one streamed example of Algorithm 1 costs: askone, a C loop and a NumPy loop side by side.

    python benchmarks/stream.py            two to four minutes; rewrites benchmarks/results/stream.json
                                           and the tables of docs/benchmarks.md
    python benchmarks/stream.py --quick    some seconds; prints the same, roughly, and writes nothing

Median loss, Gaussian kernel, float64, one core, made-up data of the sizes that matter.  The C loop is
compiled here and timed in turn with askone, so that their ratio means the same on any machine; without a C
compiler it is left out, and a line says so.  All three must end at the same predictions.
"""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

# Read once, when the libraries below are loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from page import arguments, grid, keep, machine, taken_with
from sklearn.base import clone

from askone import OneBitRegressor, Oracle, Real, Stream, simulate
from askone._common import random_table
from askone.features.kernels import Gaussian
from askone.features.maps import Nystroem
from askone.features.scaling import Scaler
from askone.learners.gradients import MedianSphere
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import InverseSqrt

SOURCE = Path(__file__).resolve().parent / "stream.c"
FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")
COMPILERS = ("cc", "gcc", "clang")
ASK_TELL_LIMIT = 30  # microseconds
AGREEMENT = 1e-6


@dataclass(frozen=True)
class Size:
    """One size: p representers (0: a support that grows by every row), d inputs, m outputs.

    ``reference`` is the ratio to C that blocks of matrix products reach; twice that is allowed.
    """

    name: str
    p: int
    d: int
    m: int
    rows: int
    reference: float

    @property
    def shape(self) -> str:
        support = f"p={self.p}" if self.p else f"growing, T={self.rows}"
        return f"{support} d={self.d} m={self.m}"


SIZES = (
    Size("weather", 100, 6, 1, 200_000, 3.8),
    Size("p=1000", 1000, 6, 1, 40_000, 2.3),
    Size("calcofi", 100, 5, 2, 200_000, 3.8),
    Size("usps", 2000, 256, 10, 4_000, 0.5),
    Size("p=10^4", 10_000, 16, 10, 3_000, 1.1),
    Size("sine", 0, 1, 1, 10_000, 1.7),
    Size("class100", 0, 1, 100, 10_000, 0.6),
)


class Problem:
    """Rows, labels, representers and directions of one size, and its learner."""

    def __init__(self, size: Size, rows: int) -> None:
        rng = np.random.default_rng(20)
        d, m, p = size.d, size.m, size.p
        self.size, self.rows = size, rows
        self.X = rng.uniform(-1, 1, (rows, d))
        self.Y = np.sin(self.X @ rng.normal(0, 3 / math.sqrt(d), (d, m))) + rng.normal(0, 0.1, (rows, m))
        self.Z = rng.uniform(-1, 1, (p, d))
        self.test = rng.uniform(-1, 1, (50, d))
        self.kernel = Gaussian(0.7 * math.sqrt(d))
        self.gamma = 1 / max(p, 1)  # |k(x)|^2 <= p: no step moves a prediction by more than 1
        self.U = MedianSphere().plan(m, random_table.uniforms(0, 0, rows, m if m > 1 else 0)).directions
        identity = Scaler.identity(d)
        plain = FeatureModel(Nystroem(self.kernel, identity, self.Z, None))
        model = plain if p else KernelExpansion(self.kernel, identity)
        self.learner = SGDLearner(Real([-1.0] * m, [1.0] * m, decimals=None), model, step=InverseSqrt(self.gamma))

    @property
    def factor(self) -> float:
        return -0.5 / self.kernel.bandwidth**2

    @cached_property
    def sections(self) -> Any:
        """k(test rows, points): the growing support is all of X in the end."""
        points = self.Z if self.size.p else self.X
        return np.exp(self.factor * ((self.test[:, None] - points) ** 2).sum(2))

    def predictions(self, A: Any, B: Any) -> Any:
        """Of the average A - B / T, in either layout."""
        mean = A - B / self.rows
        return self.sections @ (mean.T if self.size.p else mean)


Timed = tuple[float, Any]  # seconds, predictions on the test rows


def run_askone(problem: Problem) -> Timed:
    """Through the public functions, checks and draws included."""
    oracle = Oracle(problem.Y)
    begin = time.perf_counter()
    state = simulate(problem.learner, problem.X, oracle, at=[]).state
    return time.perf_counter() - begin, problem.learner.predict(state, problem.test)


def run_c(library: ctypes.CDLL, problem: Problem) -> Timed:
    """The loop alone: its directions are drawn, its memory is there."""
    T, d, p, m = problem.rows, problem.size.d, problem.size.p, problem.size.m
    shape = (m, p) if p else (T, m)
    A, B, k = np.zeros(shape), np.zeros(shape), np.zeros(p or T)
    points = np.ascontiguousarray(problem.Z.T) if p else np.zeros((d, T))
    data = [array.ctypes.data_as(ctypes.c_void_p) for array in (problem.X, problem.Y, problem.U)]
    z, *out = (array.ctypes.data_as(ctypes.c_void_p) for array in (points, A, B, k))
    f, gamma = ctypes.c_double(problem.factor), ctypes.c_double(problem.gamma)
    counts = [ctypes.c_long(n) for n in ((T, d, p, m) if p else (T, d, m))]
    begin = time.perf_counter()
    if p:
        library.features(*counts, *data, z, f, gamma, *out)
    else:
        library.growing(*counts, *data, f, gamma, z, *out)
    return time.perf_counter() - begin, problem.predictions(A, B)


def run_numpy(problem: Problem) -> Timed:
    """What one would write first: a few NumPy calls a row."""
    X, Y, U, Z = problem.X, problem.Y, problem.U, problem.Z
    T, p, m = problem.rows, problem.size.p, problem.size.m
    A, B = (np.zeros((m, p) if p else (T, m)) for _ in range(2))
    squares = np.einsum("ij,ij->i", Z, Z)
    begin = time.perf_counter()
    for t in range(T):
        x, y, u = X[t], Y[t], U[t]
        if p:
            k = np.exp(problem.factor * (squares - 2.0 * (Z @ x) + x @ x))
            value = A @ k
        else:
            k = np.exp(problem.factor * ((X[:t] - x) ** 2).sum(1))
            value = k @ A[:t]
        step = (problem.gamma / math.sqrt(t + 1) * (1.0 if (y - value) @ u > 0 else -1.0)) * u
        if p:
            increment = np.outer(step, k)
            A += increment
            increment *= t
            B += increment
        else:
            A[t], B[t] = step, t * step
    return time.perf_counter() - begin, problem.predictions(A, B)


def compiled(directory: Path) -> tuple[dict[str, ctypes.CDLL], str]:
    """The C loop with the library's exp, where that became a vector function, and with its own."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return {}, f"no compiler ({', '.join(COMPILERS)}) found, so no C loop and no ratios"
    libraries = {}
    for name, options in (("libmvec", []), ("polynomial", ["-DPOLYNOMIAL"])):
        target = directory / f"{name}.so"
        done = subprocess.run([compiler, *FLAGS, *options, str(SOURCE), "-o", str(target), "-lm"])
        if done.returncode == 0 and (name == "polynomial" or b"_ZGV" in target.read_bytes()):
            libraries[name] = ctypes.CDLL(str(target))
    if not libraries:
        return {}, f"{compiler} could not compile {SOURCE.name}, so no C loop and no ratios"
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[:1]
    return libraries, " ".join([*version, *FLAGS])


def compare(quick: bool, libraries: dict[str, ctypes.CDLL]) -> list[dict[str, Any]]:
    """Every size in every round, askone and C in turn, so that a busy moment spoils no ratio."""
    problems = [Problem(size, size.rows // 10 if quick else size.rows) for size in SIZES]
    contenders: dict[str, Callable[[Problem], Timed]] = {"askone": run_askone}
    for name, library in libraries.items():
        contenders[f"c-{name}"] = lambda problem, library=library: run_c(library, problem)
    times: dict[tuple[str, str], list[float]] = {}
    for round_ in range(4 if quick else 15):
        once = {"numpy": run_numpy} if round_ < (1 if quick else 2) else {}
        for problem in problems:
            expected = None
            for name, run in (contenders | once).items():
                seconds, found = run(problem)
                expected = found if expected is None else expected
                agree(problem.size.name, name, found, expected)
                if round_ > 0 or name == "numpy":  # the first round compiles and warms up
                    times.setdefault((problem.size.name, name), []).append(1e6 * seconds / problem.rows)
    return [row_of(problem, times) for problem in problems]


def agree(size: str, name: str, found: Any, expected: Any) -> None:
    """Stop unless the same algorithm was timed."""
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= AGREEMENT:
        raise SystemExit(f"{size}: {name} ends elsewhere than askone (relative difference {error:.1e})")


def row_of(problem: Problem, times: dict[tuple[str, str], list[float]]) -> dict[str, Any]:
    """The best times of one size; C is the faster of its builds."""
    size = problem.size
    found = {name: values for (of, name), values in times.items() if of == size.name}
    best = {name: min(values) for name, values in found.items()}
    c = min((value for name, value in best.items() if name.startswith("c-")), default=None)
    ratio, allowed = None if c is None else best["askone"] / c, round(2 * size.reference, 1)
    short = not size.p and problem.rows < size.rows  # a row's cost grows with T, and the ratio was set for all rows
    return {
        "size": size.name, "shape": replace(size, rows=problem.rows).shape, "rows": problem.rows,
        "askone": best["askone"], "c": c, "numpy": best["numpy"], "ratio": ratio, "allowed": allowed,
        "verdict": "no compiler" if ratio is None else "too short" if short else verdict(ratio <= allowed),
        "best": best, "median": {name: float(np.median(values)) for name, values in found.items()},
    }  # fmt: skip


def verdict(good: bool) -> str:
    return "holds" if good else "fails"


def interactive(quick: bool) -> list[dict[str, Any]]:
    """Ask and tell for one row at p=100, d=6, m=1, from the bottom layer up: the best round's median."""
    rng = np.random.default_rng(21)
    X, bits = rng.normal(size=(1000, 6)), (rng.random(1000) < 0.5).tolist()
    plain, white = (
        SGDLearner(Real(-1, 1, decimals=None), FeatureModel(Nystroem.from_rows(X, 100, whiten=whiten)))
        for whiten in (False, True)
    )
    model = OneBitRegressor(-1, 1, learner="sgd", random_state=0)
    ways: list[tuple[str, int | None, Callable[[], float]]] = [
        ("learner.ask + learner.tell, plain features", ASK_TELL_LIMIT, lambda: pure_pairs(plain, X, bits)),
        ("learner.ask + learner.tell, whitened features", ASK_TELL_LIMIT, lambda: pure_pairs(white, X, bits)),
        ("Stream, whitened features", None, lambda: held_pairs(Stream(white), X, bits)),
        ("OneBitRegressor, learner='sgd'", None, lambda: held_pairs(clone(model).start(X), X, bits)),
    ]
    rounds = [[way() for _, _, way in ways] for _ in range(3 if quick else 12)]
    found = [(*way[:2], min(times)) for way, times in zip(ways, zip(*rounds, strict=True), strict=True)]
    return [
        {"what": what, "us": us, "limit": limit, "verdict": "" if limit is None else verdict(us <= limit)}
        for what, limit, us in found
    ]


def pure_pairs(learner: SGDLearner, X: Any, bits: list[bool]) -> float:
    """Median microseconds of an ask and a tell through the pure functions."""
    state, uniform, times = learner.init(), np.empty(learner.width), []
    for x, bit in zip(X, bits, strict=True):
        begin = time.perf_counter_ns()
        question = learner.ask(state, x, uniform)
        state = learner.tell(state, x, question, bit)
        times.append(time.perf_counter_ns() - begin)
    return float(np.median(times)) / 1000


def held_pairs(holder: Stream | OneBitRegressor, X: Any, bits: list[bool]) -> float:
    """The same through an object that holds the state."""
    times = []
    for x, bit in zip(X, bits, strict=True):
        begin = time.perf_counter_ns()
        holder.tell(holder.ask(x), bit)
        times.append(time.perf_counter_ns() - begin)
    return float(np.median(times)) / 1000


def whitened(quick: bool) -> list[dict[str, Any]]:
    """Streaming with whitened features, which cost a p x p product more a row: no limit."""
    found = []
    for p, rows in ((100, 100_000), (1000, 10_000)):
        problem = Problem(Size(f"whitened p={p}", p, 6, 1, rows, 0.0), rows // 5 if quick else rows)
        features = Nystroem.from_rows(problem.X, p, scaler=Scaler.identity(6), bandwidth=problem.kernel.bandwidth)
        problem.learner = SGDLearner(Real(-1, 1, decimals=None), FeatureModel(features))
        us = min(run_askone(problem)[0] for _ in range(3 if quick else 7)) / problem.rows * 1e6
        found.append({"p": p, "kept": features.size, "us": us})
    return found


def memory() -> dict[str, Any]:
    """Bytes of the state, and the most that a stream held beside its rows, as T grows tenfold."""
    found: dict[str, Any] = {}
    for rows in (10_000, 100_000):
        problem = Problem(SIZES[0], rows)
        oracle = Oracle(problem.Y)
        simulate(problem.learner, problem.X[:300], Oracle(problem.Y), at=[])
        tracemalloc.start()
        state = simulate(problem.learner, problem.X, oracle, at=[]).state
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        state_bytes = sum(np.asarray(array).nbytes for array in problem.learner.to_arrays(state).values())
        found[f"T={rows}"] = {"state": state_bytes, "peak": peak}
    found["verdict"] = verdict(found["T=10000"]["state"] == found["T=100000"]["state"])
    return found


def report(results: dict[str, Any]) -> str:
    """The tables, with a sentence for each column."""
    of, names = results["machine"], ("size", "shape", "askone", "c", "numpy", "ratio", "allowed", "verdict")
    head = ("size", "shape", "askone µs", "C µs", "NumPy µs", "askone / C", "allowed", "verdict")
    sizes = [tuple(row[name] for name in names) for row in results["stream"]]
    live = [(row["what"], row["us"], row["limit"], row["verdict"]) for row in results["interactive"]]
    white = [(row["p"], row["kept"], row["us"]) for row in results["whitened"]]
    small, large = (results["memory"][f"T={rows}"] for rows in (10_000, 100_000))
    kept = [("state", small["state"], large["state"], results["memory"]["verdict"])]
    kept.append(("peak of a stream beside its rows", small["peak"], large["peak"], ""))
    return f"""## Streaming Algorithm 1

{grid(head, sizes)}

- *shape*: p representers (or a support that grows to T rows), d inputs, m outputs.
- *askone µs*: microseconds per streamed example through `askone.simulate`, best of several runs.
- *C µs*: the same algorithm one example at a time in C (`benchmarks/stream.c`), directions drawn beforehand, the
  faster of two builds (libmvec's exp, an inlined polynomial), timed in turn with askone.
- *NumPy µs*: a plain NumPy loop, one example at a time.
- *askone / C*: the ratio of the two best times.
- *allowed*: the ratio it is held to; *verdict*: whether it keeps to it.

## One question, one answer (p=100, d=6, m=1)

{grid(("through", "median µs", "limit µs", "verdict"), live)}

- *median µs*: one ask and one tell together, over a thousand rows, in the best of several rounds.
- *limit µs*: what that may take; *verdict*: whether it keeps to it.

## Streaming with whitened Nyström features (d=6, m=1)

{grid(("representers", "features kept", "µs per example"), white)}

- *features kept*: eigenvalues above 1e-10 of the largest; *µs per example*: as above, a p x p product a row dearer.

## Memory of a feature model (p=100, d=6, m=1)

{grid(("bytes", "T=10^4", "T=10^5", "verdict"), kept)}

- *T=10^4*, *T=10^5*: after so many questions; *verdict*: whether the state kept its size.

{taken_with(of, " (one used)")}; C: {of["compiler"]}."""


def main() -> None:
    quick = arguments(__doc__, quick=False).parse_args().quick
    with tempfile.TemporaryDirectory() as directory:
        libraries, compiler = compiled(Path(directory))
        print(f"C: {compiler}; exp: {', '.join(libraries) or '-'}")
        results = {"machine": machine(compiler=compiler), "stream": compare(quick, libraries)}
    results |= {"interactive": interactive(quick), "whitened": whitened(quick), "memory": memory()}
    tables = report(results)
    print(tables)
    if not quick:
        keep("stream", results, tables)


if __name__ == "__main__":
    main()
