"""Every strategy for classes on the same rows: test error against number of questions.

All are ``OneBitClassifier`` with another learner; the rows' order and the seed of the questions
change with the repeat.  The step rule of each was chosen once (see ``docs/strategies.md``), on
training rows that were held out for it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

import numpy as np
from sklearn.datasets import load_digits

from askone import datasets
from askone._common import random_table
from askone._common.atomic_write import write_text
from askone._common.types import Array
from askone._common.validate import as_choice, as_count
from askone.estimators.classifier import OneBitClassifier
from askone.estimators.learner_choices.base import LearnerChoice
from askone.estimators.learner_choices.defaults import SetLikelihood
from askone.estimators.learner_choices.gradients import SGD, Game, RecursiveLeastSquares
from askone.estimators.learner_choices.repeated import Bisection, Remembering
from askone.labels.classes import FiniteSpace
from askone.learners.abilities import AsksAgain
from askone.session.oracle import Oracle
from askone.session.simulation import resampled, simulate

BUNDLED = "digits"
SOURCES = (*(name for name, recipe in datasets.DATASETS.items() if recipe.classes), BUNDLED)
STOPS = (500, 1000, 2000, 4996, 7494)
_PASSES = 8

# What a child would say of a digit: five attributes that tell all ten apart (they do not span).
DIGIT_ATTRIBUTES = {
    "a closed loop": (0, 6, 8, 9),
    "Is it even?": (0, 2, 4, 6, 8),
    "Is it above four?": (5, 6, 7, 8, 9),
    "straight strokes only": (1, 4, 7),
    "Does it look the same upside down?": (0, 1, 8),
}


@final
@dataclass(frozen=True)
class Contender:
    """A strategy: its name in the table, what it asks per row, who learns, and attributes of the classes."""

    name: str
    asks: str
    learner: LearnerChoice
    attributes: dict[str, tuple[int, ...]] | None = None


_ONE, _SEVERAL, _LABEL = "one bit", "bits until known", "the label"
CONTENDERS = (
    Contender("likelihood (default)", _ONE, SetLikelihood()),
    Contender("designed sets, squared", _ONE, SGD()),
    Contender("designed sets, median", _ONE, SGD(loss="median")),
    Contender("designed sets, logistic", _ONE, SGD(loss="logistic")),
    Contender("five attributes, squared", _ONE, SGD(), DIGIT_ATTRIBUTES),
    Contender("singletons, squared", _ONE, SGD(questions="singletons")),
    Contender("singletons, median", _ONE, SGD(questions="singletons", loss="median")),
    Contender("singletons, logistic", _ONE, SGD(questions="singletons", loss="logistic")),
    Contender("sphere (Algorithm 1), median", _ONE, SGD(questions="sphere")),
    Contender("coordinates, l1", _ONE, SGD(questions="coordinates")),
    Contender("passive sets, infimum loss", _ONE, SGD(questions="passive")),
    Contender("min-max game", _ONE, Game()),
    Contender("sphere with memory, median", _SEVERAL, Remembering()),
    Contender("bisection (Huffman), squared", _SEVERAL, Bisection()),
    Contender("full labels, squared", _LABEL, SGD(questions="full")),
    Contender("full labels, median", _LABEL, SGD(questions="full", loss="median")),
    Contender("full labels, logistic", _LABEL, SGD(questions="full", loss="logistic")),
    Contender("designed sets, recursive least squares", _ONE, RecursiveLeastSquares()),
    Contender("full labels, recursive least squares", _LABEL, RecursiveLeastSquares(questions="full")),
)


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to ask about and rows to measure with."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


@final
@dataclass(frozen=True)
class Outcome:
    """A contender's test errors: one list per repeat, one number per stop."""

    contender: Contender
    stops: tuple[int, ...]
    errors: tuple[tuple[float, ...], ...]


def rows_of(name: str, directory: str | None = None) -> Rows:
    """Return real data by name; "digits" comes with scikit-learn (a third of it, drawn once, measures).

    >>> rows_of("digits").X.shape
    (1198, 64)
    """
    if as_choice(name, "data", SOURCES) == BUNDLED:
        X, y = load_digits(return_X_y=True)
        order = np.argsort(random_table.uniforms(0, 0, 1, len(X), random_table.ORDER)[0], kind="stable")
        X, y = X[order], y[order]
        return Rows(X[:1198], y[:1198], X[1198:], y[1198:])
    data = datasets.load(name, directory)
    return Rows(data.X, data.y.astype(int), data.X_test, data.y_test.astype(int))


def measured(contender: Contender, rows: Rows, stops: tuple[int, ...], repeat: int) -> tuple[float, ...]:
    """Test errors of one run: rows in an order of its own, questions with a seed of its own."""
    order = np.argsort(random_table.uniforms(repeat, 0, 1, len(rows.X), random_table.ORDER)[0], kind="stable")
    X, y = rows.X[order], rows.y[order]
    options: dict[str, Any] = {"learner": contender.learner, "attributes": contender.attributes}
    model = OneBitClassifier(np.unique(rows.y).tolist(), random_state=repeat, **options).start(X)
    learner, space = model.stream_.learner, cast(FiniteSpace, model.stream_.learner.space)
    again = resampled(len(X), _PASSES * stops[-1], repeat) if contender.learner.revisits else None

    def error(scores: Array) -> float:
        return float(np.mean(space.decode(scores, rows.X_test)[:, 0] != rows.y_test))

    oracle = Oracle(y, resample=isinstance(learner, AsksAgain))
    look: dict[str, Any] = {"evaluate": error, "test": rows.X_test, "at": stops}
    curve = dict(simulate(learner, X, oracle, seed=repeat, order=again, questions=stops[-1], **look).curve)
    last = list(curve.values())[-1]  # who knows all rows early has no more to ask
    return tuple(curve.get(stop, last) for stop in stops)


def compared(rows: Rows, repeats: int, questions: int | None = None) -> Iterator[Outcome]:
    """Yield the outcome of every contender, one after the other."""
    most = min(STOPS[-1] if questions is None else as_count(questions, "questions", 10), len(rows.X))
    stops = (*(stop for stop in STOPS if stop < most), most)
    as_count(repeats, "repeats", 1)
    for contender in CONTENDERS:
        runs = (measured(contender, rows, stops, repeat) for repeat in range(repeats))
        yield Outcome(contender, stops, tuple(runs))


def as_markdown(outcomes: list[Outcome], title: str) -> str:
    """Return the table for people: mean test error in percent, and its standard error over the repeats."""
    stops = outcomes[0].stops
    lines = [f"# {title}", "", "| strategy | asks | " + " | ".join(map(str, stops)) + " |"]
    lines.append("|---|---|" + "---:|" * len(stops))
    for outcome in outcomes:
        cells = [_cell([run[i] for run in outcome.errors]) for i in range(len(stops))]
        lines.append(f"| {outcome.contender.name} | {outcome.contender.asks} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_csv(outcomes: list[Outcome]) -> str:
    """Return all runs as CSV, one in each line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["strategy", "asks", "repeat", "questions", "test_error"])
    for one in outcomes:
        for repeat, run in enumerate(one.errors):
            writer.writerows(
                [one.contender.name, one.contender.asks, repeat, *pair] for pair in zip(one.stops, run, strict=True)
            )
    return text.getvalue()


def write(outcomes: list[Outcome], title: str, directory: Path) -> list[Path]:
    """Return both tables into a directory; each file appears whole or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {"md": as_markdown(outcomes, title), "csv": as_csv(outcomes)}
    for ending, text in texts.items():
        write_text(directory / f"strategies.{ending}", text)
    return [directory / f"strategies.{ending}" for ending in texts]


def _cell(values: list[float]) -> str:
    mean = f"{100 * float(np.mean(values)):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {100 * float(np.std(values, ddof=1)) / len(values) ** 0.5:.1f}"
