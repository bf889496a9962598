"""The tasks of ``efficiency.py``: rows, hidden labels, what an error is, and what is to be reached.

A task is drawn anew for every seed (real data: in file order or by a split of its own), from plain
arguments, so that any process can do it.  Nothing that a learner is given comes from labels: ranges are
what somebody would declare who knows the subject.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from askone import Ranking, datasets
from askone._common import random_table
from askone._common.types import Array
from askone.features.maps import Linear, Nystroem
from askone.features.scaling import Scaler
from askone.paper._split_trial import two_thirds
from askone.paper._stream_trial import stream_of
from askone.paper._synthetic import class_draws, class_grid, class_probabilities, class_rows, sine, uniform_rows
from askone.paper.figures.plain_sgd import shifted_sines

NUMBERS, CLASSES, ORDERS = "numbers", "classes", "orders"
DEFAULT, ALGORITHM, PASSIVE, FULL = "default", "algorithm 1", "passive", "full labels"
CHOSEN = "rows chosen"
_LOOKS = (100, 200, 300, 500, 1000)  # questions of the table with rows chosen
_NOISE = 1 << 42  # a part of the table of draws that no input uses
_GRID = np.linspace(0, 1, 200)[:, None]
_FIRST = 30  # questions at the first point of a curve


@dataclass(frozen=True)
class Goal:
    """What the default is to reach after so many questions: an error, or a multiple of another curve's.

    ``errors``: so many standard errors of the difference are forgiven.
    """

    questions: int
    limit: float | None = None
    times: float = 1.0
    of: str = ""
    errors: float = 0.0

    @property
    def words(self) -> str:
        if self.limit is not None:
            return f"{self.limit:g}"
        what = self.of if self.times == 1 else f"{self.times:.3g} × {self.of}"
        return what + (f" + {self.errors:g} s.e." if self.errors else "")


@dataclass(frozen=True)
class Task:
    """A row of the table.  (For 10 classes without margin the width is the paper's alone: a goal refers to it.)

    ``widths`` are the kernel widths that the baselines may choose from, in standard deviations of an
    input times sqrt(d) (0: no kernel, linear in the inputs); ``gammas`` likewise their steps.
    """

    name: str
    title: str
    kind: str
    questions: int
    goals: tuple[Goal, ...]
    error: str
    seeds: int = 20
    data: str | None = None
    widths: tuple[float, ...] = (0.35, 0.7, 1.0)
    gammas: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    passive: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    passive_widths: tuple[float, ...] = ()
    """Where passive learners, which are slow, are tried at fewer widths: those that did best."""
    components: int = 100
    outputs: int = 1
    noise: tuple[str, float] = ("gaussian", 0.0)
    gap: float = 0.0
    low: float = -1.5
    high: float = 1.5
    shown: tuple[int, ...] = ()
    """Questions of the table's columns where they are not the goals'."""
    chosen: int = 0
    """How long rows are also chosen; 0: there is no pool to choose from."""

    @property
    def looks(self) -> tuple[int, ...]:
        """Questions of the table with rows chosen."""
        return tuple(look for look in _LOOKS if look <= min(self.chosen, self.questions))

    @property
    def group(self) -> str:
        """What ``--only`` calls it and those like it."""
        return self.name.split("-")[0]

    @property
    def columns(self) -> tuple[int, ...]:
        return self.shown or tuple(dict.fromkeys(goal.questions for goal in self.goals))

    @property
    def at(self) -> list[int]:
        """About twelve numbers of questions, evenly on a logarithmic scale, with those of the goals."""
        spaced = np.round(np.geomspace(min(_FIRST, self.questions), self.questions, 12)).astype(int).tolist()
        wanted = [goal.questions for goal in self.goals] + list(self.columns) + list(self.looks)
        near = [t for t in spaced[:-1] if all(abs(math.log(t / w)) > 0.15 for w in wanted)]
        return sorted({*near, *(w for w in wanted if w <= self.questions), self.questions})

    def quick(self) -> Task:
        """A short version, to see that all works: few questions, two seeds, small grids, nothing to reach."""
        T = min(self.questions, 300)
        return replace(
            self, questions=T, goals=(), shown=(T,), seeds=2, widths=self.widths[-2:], gammas=self.gammas[1:4],
            passive=self.passive[:1], passive_widths=(), components=min(self.components, 200),
            chosen=min(self.chosen, 100),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Problem:
    """One draw of a task: rows to ask about, what the oracle hides, rows to measure with.

    ``error`` judges what is predicted on the test rows: numbers, numbers of classes, or orders.
    """

    X: Array
    hidden: Array
    X_test: Array
    error: Callable[[Array], float]
    targets: Array
    """Labels as points, for learners that see them: numbers, one-hot vectors, or Borda vectors."""

    @cached_property
    def scaler(self) -> Scaler:
        return Scaler.from_rows(self.X)

    def features(self, width: float, components: int, seed: int) -> Nystroem | Linear:
        """Whitened features of the baselines, from unlabelled rows."""
        if width == 0:
            return Linear(self.scaler)
        sigma = width * math.sqrt(self.X.shape[1])
        return Nystroem.from_rows(self.X, components, "gaussian", sigma, scaler=self.scaler, seed=seed)


def problem_of(task: Task, seed: int) -> Problem:
    """The task's rows and labels for this seed."""
    if task.kind == ORDERS:
        return _orders(task, seed)
    if task.kind == CLASSES:
        return _classes(task, seed) if task.data is None else _split(task, seed)
    return _sines(task, seed) if task.data is None else _stream(task)


# -- numbers -------------------------------------------------------------------------------------------


def noise_of(law: str, scale: float, seed: int, shape: tuple[int, int]) -> Array:
    """Noise of a law, by its inverse distribution function."""
    if scale == 0:
        return np.zeros(shape)
    u = random_table.uniforms(seed, _NOISE, *shape, random_table.DESIGN)
    laws: dict[str, Callable[[Array], Array]] = {
        "gaussian": ndtri,
        "laplace": lambda v: -np.sign(v - 0.5) * np.log1p(-2 * np.abs(v - 0.5)),
        "cauchy": lambda v: np.tan(np.pi * (v - 0.5)),
        "gumbel": lambda v: -np.log(-np.log(v)),
    }
    return np.asarray(scale * laws[law](u))


def _sines(task: Task, seed: int) -> Problem:
    X, m = uniform_rows(seed, task.questions), task.outputs
    clean, truth = (sine(X), sine(_GRID)) if m == 1 else (shifted_sines(seed, X, m), shifted_sines(seed, _GRID, m))
    labels = clean + noise_of(*task.noise, seed, clean.shape)

    def error(predicted: Array) -> float:
        return float(np.linalg.norm(predicted.reshape(truth.shape) - truth, axis=1).mean())

    return Problem(X, labels, _GRID, error, labels)


def _stream(task: Task) -> Problem:
    """A real stream in file order; errors in standard deviations of the label."""
    assert task.data is not None
    stream = stream_of(task.data, task.questions)
    X, y = stream.X[: task.questions], stream.y[: task.questions]
    spread = float(stream.y.std())

    def error(predicted: Array) -> float:
        return float(np.abs(predicted.reshape(-1) - stream.y_test).mean()) / spread

    return Problem(X, y, stream.X_test, error, y[:, None])


# -- classes -------------------------------------------------------------------------------------------


def _classes(task: Task, seed: int) -> Problem:
    """The paper's law on [0, 1]; the exact excess of the zero-one risk."""
    m, grid = task.outputs, class_grid(400, task.gap)
    X, p = class_rows(seed, task.questions, task.gap), class_probabilities(grid, m)
    y = class_draws(seed, X, m)

    def error(predicted: Array) -> float:
        return float((p.max(axis=1) - p[np.arange(len(p)), predicted]).mean())

    return Problem(X, y, grid, error, np.eye(m)[y])


def _split(task: Task, seed: int) -> Problem:
    """Two thirds of the rows, at random, to learn from; the zero-one error on the others."""
    assert task.data is not None
    loaded = datasets.load(task.data)
    order = np.argsort(random_table.uniforms(seed, 0, 1, len(loaded.X), random_table.ORDER)[0], kind="stable")
    train, test = order[: two_thirds(len(order))][: task.questions], order[two_thirds(len(order)) :]
    y, y_test = loaded.y[train].astype(int), loaded.y[test].astype(int)

    def error(predicted: Array) -> float:
        return float(np.mean(predicted != y_test))

    return Problem(loaded.X[train], y, loaded.X[test], error, np.eye(task.outputs)[y])


# -- orders --------------------------------------------------------------------------------------------

_ABOUT = 3  # numbers that are known about a person


def ranking_of(task: Task) -> Ranking:
    return Ranking(tuple(f"item {i}" for i in range(task.outputs)))


def best_orders(space: Ranking, scores: Array) -> Array:
    """Orders of greatest <scores of pairs, phi>, exactly, for all rows at once: over sets of the first places."""
    m, n, (i, j) = space.size, len(scores), space.pairs
    W = np.zeros((n, m, m))
    W[:, i, j] = scores
    W -= W.transpose(0, 2, 1)
    members = (np.arange(1 << m)[:, None] >> np.arange(m)) & 1
    gains = np.einsum("si,nij->snj", members.astype(float), W)  # of j after all of s
    best, last = np.zeros((1 << m, n)), np.zeros((1 << m, n), dtype=np.int64)
    for s in range(1, 1 << m):
        inside = np.flatnonzero(members[s])
        before = s - (1 << inside)
        values = best[before] + gains[before, :, inside]
        chosen = values.argmax(axis=0)
        best[s], last[s] = values[chosen, np.arange(n)], inside[chosen]
    left, places = np.full(n, (1 << m) - 1), np.empty((n, m), dtype=np.int64)
    for place in range(m - 1, -1, -1):
        places[:, place] = last[left, np.arange(n)]
        left = left - (1 << places[:, place])
    return np.array(space.items, dtype=object)[places]


def _orders(task: Task, seed: int) -> Problem:
    """Utilities linear in what is known, plus noise of each day; 1 - Kendall's tau to the order without noise."""
    space, m, tested = ranking_of(task), task.outputs, 200
    normal = ndtri(random_table.uniforms(seed, 0, task.questions + tested, _ABOUT, random_table.DESIGN))
    taste = ndtri(random_table.uniforms(seed, _NOISE << 1, m, _ABOUT, random_table.DESIGN))
    usual = normal @ taste.T
    noisy = usual[: task.questions] + noise_of(*task.noise, seed, (task.questions, m))
    orders, truth = space.from_scores(noisy), space.embed(space.from_scores(usual[task.questions :]))

    def error(predicted: Array) -> float:
        return 1.0 - float(np.mean(space.embed(predicted) * truth))

    X, X_test = normal[: task.questions], normal[task.questions :]
    return Problem(X, orders, X_test, error, space.borda(orders))


# -- the table -----------------------------------------------------------------------------------------

_TO_TRUTH = "mean |f − f*|"
_STEPS = (0.3, 1.0, 3.0, 10.0, 30.0)


def _sine(name: str, title: str, noise: tuple[str, float], *goals: Goal, **more: Any) -> Task:
    return Task(f"sine-{name}", f"sine, {title}", NUMBERS, 10_000, goals, _TO_TRUTH, noise=noise, **more)


def _digits(name: str, title: str, data: str, last: int, first_limit: float, last_limit: float) -> Task:
    goals = (Goal(1000, first_limit), Goal(last, last_limit))
    return Task(
        name, title, CLASSES, last, goals, "test error", seeds=5, data=data, outputs=10, components=1000,
        widths=(0.3, 0.5, 0.8), gammas=(0.3, 1.0, 3.0, 6.0, 15.0), passive=(10.0, 30.0), passive_widths=(0.5, 0.8),
        chosen=1000,
    )  # fmt: skip


TASKS: tuple[Task, ...] = (
    _sine("clean", "no noise", ("gaussian", 0.0), Goal(300, 5e-4), Goal(1000, 1e-4)),
    _sine("gaussian-small", "Gaussian noise .1", ("gaussian", 0.1), Goal(10_000, times=1.3, of=FULL)),
    _sine("gaussian-large", "Gaussian noise .5", ("gaussian", 0.5), Goal(10_000, times=1.3, of=FULL)),
    _sine("laplace", "Laplace noise .3", ("laplace", 0.3), *(Goal(t, of=FULL) for t in (1000, 3000, 10_000))),
    _sine("cauchy", "Cauchy noise .2", ("cauchy", 0.2), Goal(10_000, 0.010)),
    _sine(
        "outputs", "10 outputs, noise .3", ("gaussian", 0.3),
        Goal(10_000, times=1.1 * math.sqrt(math.pi * 10 / 2), of=FULL), outputs=10,
        gammas=(0.3, 1.0, 3.0, 10.0), passive=(0.3, 1.0, 3.0, 10.0),
    ),
    Task(
        "weather", "Weather in Szeged", NUMBERS, 70_000, (Goal(1000, 0.080), Goal(70_000, 0.033)),
        "mean absolute error / standard deviation", seeds=5, data="weather", low=-35.0, high=45.0,
        widths=tuple(s / math.sqrt(6) for s in (2.0, 3.0, 5.0, 10.0)), gammas=_STEPS, passive=_STEPS, chosen=1000,
    ),
    Task(
        "calcofi", "CalCOFI, oxygen saturation", NUMBERS, 500_000, (Goal(1000, 0.19), Goal(500_000, 0.110)),
        "mean absolute error / standard deviation", seeds=5, data="calcofi", low=0.0, high=120.0,
        widths=tuple(s / math.sqrt(5) for s in (1.0, 3.0)), gammas=(0.1, *_STEPS[:4]), passive=_STEPS[:4], chosen=1000,
    ),
    _digits("usps", "USPS digits", "usps-libsvm", 4860, 0.12, 0.058),
    _digits("pendigits", "pendigits", "pendigits", 4996, 0.040, 0.010),
    Task(
        "classes-100", "100 classes, margin 1/20", CLASSES, 2000, (Goal(300, 0.003),), "excess risk",
        outputs=100, gap=0.05, widths=(0.35, 0.7), gammas=(0.1, 0.3, 1.0, 3.0), passive=(10.0,), passive_widths=(0.7,),
    ),
    Task(
        "classes-10", "10 classes, no margin", CLASSES, 10_000,
        tuple(Goal(t, of=ALGORITHM, errors=2.0) for t in (100, 300, 1000, 3000, 10_000)), "excess risk",
        outputs=10, widths=(0.7,), gammas=(0.1, 0.3, 1.0, 3.0, 7.5), passive=(5.0, 15.0), passive_widths=(0.7,),
    ),
    Task(
        "ranking", "ranking 10 items, Gumbel noise .3", ORDERS, 2000, (Goal(2000, 0.08),),
        "1 − Kendall's tau", outputs=10, noise=("gumbel", 0.3), widths=(0.0,),
        gammas=(0.3, 1.0, 3.0), passive=(0.3, 1.0, 3.0),
    ),
)  # fmt: skip
BY_NAME = {task.name: task for task in TASKS}
