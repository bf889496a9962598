"""A concept that changes halfway, one that does not, and rows that come sorted: what is forgotten, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from page import grid, spread
from sklearn.datasets import load_digits

from askone import Classes, Filters, Oracle, Real, SetLikelihood
from askone._common.types import Array
from askone.estimators.learner_choices.base import Setup
from askone.learners.abilities import known
from askone.learners.base import Learner
from askone.learners.forgetting import Forgetting
from askone.learners.mixture.classes import ClassMixture
from askone.session.simulation import simulate

TESTED = 1000
DIGITS, BLOBS = (Classes(tuple(f"{i}" for i in range(m))) for m in (10, 6))
Made = tuple[Array, Array]
"""Rows and labels (of numbers: without noise)."""


# -- what is learnt, and what it changes to ------------------------------------------------------------


def digits(seed: int, n: int) -> Made:
    data = load_digits()
    chosen = np.random.default_rng(seed).permutation(len(data.data))[np.arange(n) % len(data.data)]
    return data.data[chosen] / 16, data.target[chosen]


def blobs(seed: int, n: int) -> Made:
    """Six classes of which two fifths are mistaken whatever one learns."""
    rng, centers = np.random.default_rng(seed), 1.2 * np.random.default_rng(1).normal(size=(6, 4))
    y = rng.integers(6, size=n)
    return centers[y] + rng.normal(size=(n, 4)), y


def sine(seed: int, n: int) -> Made:
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 1))
    return X, np.sin(3 * X[:, 0])


def six_inputs(seed: int, n: int) -> Made:
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 6))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * X[:, 2] - 0.2 * X[:, 3] * X[:, 4]


def steps(seed: int, n: int) -> Made:
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 1))
    return X, np.sign(np.sin(7 * X[:, 0]))


TASKS: dict[str, Callable[[int, int], Made]] = {
    "digits": digits, "blobs": blobs, "sine": sine, "six inputs": six_inputs, "steps": steps,
}  # fmt: skip
CHANGES: dict[str, Callable[[Array], Array]] = {
    "all classes permuted": lambda y: (y + 1) % (y.max() + 1),
    "two classes swapped": lambda y: np.where(y < 2, 1 - y, y),
    "f to -f": lambda f: -f,
    "f to f + 0.5": lambda f: f + 0.5,
    "f to f + 0.2": lambda f: f + 0.2,
    "nothing": lambda y: y,
}


def made(task: str, X: Array, seed: int) -> Learner[Any]:
    """The default learner, which has seen the rows."""
    if task in ("digits", "blobs"):
        space = DIGITS if task == "digits" else BLOBS
        return SetLikelihood(n_components=300).make(Setup(space, X, X.shape[1], seed=seed))
    return Filters().make(Setup(Real(-2, 2, decimals=None), X, X.shape[1], seed=seed))


def learnt(task: str, noise: float, change: str, before: int, after: int, seed: int) -> tuple[Array, Array, Array]:
    """Rows and truth, of which the last ``TESTED`` are for testing, and labels."""
    X, truth = TASKS[task](seed, before + after + TESTED)
    truth = np.concatenate([truth[:before], CHANGES[change](truth)[before:]])
    if task in ("digits", "blobs"):
        return X, truth, truth.astype(str)
    return X, truth, (truth + noise * np.random.default_rng(seed + 1).standard_normal(len(X)))[:, None]


def wrong(learner: Learner[Any], state: Any, X: Array, truth: Array) -> float:
    said = learner.predict(state, X)
    return float(np.mean(said.argmax(axis=1) != truth) if said.shape[1] > 1 else np.abs(said[:, 0] - truth).mean())


def steady(learner: Any) -> list[Learner[Any]]:
    """The learner of classes that never forgets."""
    if isinstance(learner, ClassMixture):
        return [replace(learner, base=one) for one in steady(learner.base)]
    return [learner.learner] if isinstance(learner, Forgetting) else []


# -- what is found -------------------------------------------------------------------------------------


def compared(task: str, noise: float, change: str, before: int, marks: list[int], seed: int) -> list[list[float]]:
    """Errors after the change: of the default, of one started then, and (classes) of one that never forgets."""
    X, truth, labels = learnt(task, noise, change, before, marks[-1], seed)
    learner, n = made(task, X[:-TESTED], seed), len(X) - TESTED
    who = [(learner, 0), (learner, before)]
    who += [(one, 0) for one in steady(learner)]
    errors = []
    for one, start in who:
        oracle, state, found, done = Oracle(labels), None, [], start
        for stop in [before + mark for mark in marks]:
            order = np.arange(done, stop)
            state, done = simulate(one, X[:n], oracle, order=order, state=state, at=[], seed=seed + done).state, stop
            found.append(wrong(one, state, X[n:], truth[n:]))
        errors.append(found)
    return errors


def changes(quick: bool) -> str:
    seeds = 1 if quick else 4
    cases = [("blobs", 0.0, "all classes permuted", 100)] if quick else [
        *[("digits", 0.0, "all classes permuted", T) for T in (300, 1000, 3000)],
        *[("digits", 0.0, "two classes swapped", T) for T in (1000, 3000)],
        *[("blobs", 0.0, "all classes permuted", T) for T in (300, 1000, 3000)],
    ]  # fmt: skip
    numbers = [("sine", 0.1, "f to -f", 200)] if quick else [
        (task, noise, change, T)
        for task in ("sine", "six inputs") for noise in (0.1, 0.5)
        for change in ("f to -f", "f to f + 0.5", "f to f + 0.2") for T in (1000, 3500)
    ]  # fmt: skip
    rows = []
    for case in cases + numbers:
        marks = sorted({300, 1000, min(case[3], 3000)}) if not quick else [100]
        each = np.array(spread(quick, partial(compared, *case, marks), range(seeds))).transpose(1, 2, 0)
        for i, mark in enumerate(marks):
            found, fresh = each[0, i], each[1, i]
            ratio = found.mean() / fresh.mean()
            error = np.std(found - ratio * fresh, ddof=1) / np.sqrt(seeds) / fresh.mean()
            never = float(each[2, i].mean()) if len(each) > 2 else None
            name = case[0] if case[0] in ("digits", "blobs") else f"{case[0]}, noise {case[1]}"
            rows.append((name, case[2], case[3], mark, float(found.mean()), float(fresh.mean()),
                         f"{ratio:.2f} ± {error:.2f}", never))  # fmt: skip
    head = ("learnt", "change", "after", "answers since", "error", "started then", "ratio", "never forgetting")
    return grid(head, rows)


def unchanged(task: str, noise: float, answers: int, ordered: bool, seed: int) -> tuple[float, float]:
    """Whether anything was forgotten though nothing changed, and the error."""
    X, truth, labels = learnt(task, noise, "nothing", answers, 0, seed)
    n, order = len(X) - TESTED, None
    learner = made(task, X[:n], seed)
    if ordered:
        order = np.argsort(truth[:n] if task in ("digits", "blobs") else X[:n, 0], kind="stable")
    state = simulate(learner, X[:n], Oracle(labels), order=order, at=[], seed=seed).state
    return float(known(learner, state) < n), wrong(learner, state, X[n:], truth[n:])


def still(quick: bool) -> str:
    cases = [("digits", 0.0, 1700), ("blobs", 0.0, 3000)]
    cases += [(task, noise, 10_000) for task in ("sine", "six inputs", "steps") for noise in (0.0, 0.1, 0.5)]
    rows, seeds = [], 1 if quick else 4
    for task, noise, answers in cases[1:3] if quick else cases:
        many = 300 if quick else answers
        both = [
            np.array(spread(quick, partial(unchanged, task, noise, many, ordered), range(seeds)))
            for ordered in (False, True)
        ]
        name = task if task in ("digits", "blobs") else f"{task}, noise {noise}"
        counts = [f"{int(one[:, 0].sum())} of {seeds}" for one in both]
        rows.append((name, many, *counts, float(both[1][:, 1].mean()), float(both[0][:, 1].mean())))
    head = ("learnt", "answers", "forgot", "forgot when sorted", "error when sorted", "error")
    return grid(head, rows)


def section(quick: bool) -> str:
    return f"""## A concept that changes

Default learners begin anew when their forecasts say that the concept has changed. Claimed: after a change the error is
within 1.3 times that of a learner started then, on as many answers (300, 1000, and as many as before, at most 3000).
Errors are shares of wrong classes, and mean absolute errors of numbers between -1 and 1; ± is one standard error.

{changes(quick)}

Where nothing changes, nothing is to be lost: a run in which nothing is forgotten is, of numbers, bit for bit the one
without this. Sorted (by class, or by the first column) rows are others all the time, but old answers stay true.

{still(quick)}
"""
