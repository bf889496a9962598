"""Forecast a campaign's cost and error with made-up answers, before anybody answers.

The answers are synthetic: nothing is known of the true labels yet.  A truth is made up over the real rows, smooth at
the scale of the distances between them,

    f(x) = sqrt(2/D) sum_k a_k cos(<w_k, x> + b_k),   w_k ~ N(0, I / h^2), a_k ~ N(0, 1), b_k uniform,

h being the median distance; labels scatter about it; and the campaign's own learner asks and learns (to be quick,
from the 24 directions in which the rows differ most, and with fewer features).  This tells how errors shrink with
answers where the columns say as much of the labels as f does.  If they say less, the campaign does worse than this;
a simple truth is learnt sooner.

>>> from askone.campaign.settings.settings import Items, Settings
>>> found = forecast(Settings("Drinks", Items(("tea", "coffee", "milk"))), None, 60)
>>> found.measure, [point[0] for point in found.points][-1], found.cost
('share of pairs in the right order', 60, Cost(price=None, currency='', hours=0.06666666666666667))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_choice, as_count, as_number
from askone.campaign.create import encoded_sample, with_columns
from askone.campaign.engine.model_builder import make_estimator
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.base import Table
from askone.features.kernels import median_distance
from askone.features.layout import RowLayout
from askone.features.scaling import Scaler
from askone.learners.person import Person
from askone.people import People, SimulatedCrowd, as_people
from askone.privacy import answers_needed, with_slips
from askone.session.oracle import Oracle
from askone.session.simulation import checkpoints, simulate

TRUTHS: Final = 3
"""How many truths are made up."""
_MOST_ROWS: Final = 1_000
_MOST_COLUMNS: Final = 24
_TEST_ROWS: Final = 200
_WAVES: Final = 64  # of a made-up function
_SIGNS: Final = 64
_FEATURES: Final = 40  # of the learner
_FIRST_POINT: Final = 10  # answers at which the curve begins


@final
@dataclass(frozen=True)
class Cost:
    """Money (None: no price was given) and people's time for all answers."""

    price: float | None
    currency: str
    hours: float


@final
@dataclass(frozen=True)
class RehearsedPerson:
    """How often somebody was right where yes was true and where no was, beside what was found; means of all truths.

    ``found`` is None where the learner knows nobody.
    """

    name: str
    answers: int
    true: tuple[float, float]
    found: tuple[float, float] | None


@final
@dataclass(frozen=True)
class Forecast:
    """Errors (or shares) against answers: (answers, lowest, middle, highest) of a few made-up truths."""

    points: tuple[tuple[int, float, float, float], ...]
    measure: str
    cost: Cost
    answers: int
    """How many there will be: not more than the rows give."""
    people: tuple[RehearsedPerson, ...] = ()
    times: float = 1.0
    """How many times the answers it takes that they are private."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        points, people = [list(point) for point in self.points], [_plain(one) for one in self.people]
        plain = {"measure": self.measure, "cost": asdict(self.cost), "answers": self.answers, "times": self.times}
        return {"points": points, "people": people, **plain}


def _plain(one: RehearsedPerson) -> dict[str, Any]:
    return asdict(one) | {"true": list(one.true), "found": None if one.found is None else list(one.found)}


def forecast(
    settings: Settings, table: Table | None, answers: int, flip: float = 0.0, truth: str = "synthetic",
    people: People | None = None,
) -> Forecast:  # fmt: skip
    """Rehearse a campaign of so many answers, of which a share ``flip`` is wrong; see the module.

    Instead of ``flip``, ``people`` may say who answers (see ``askone.people``); each question goes to ``ask.overlap``
    of them, drawn at random.
    """
    as_choice(truth, "truth", ("synthetic",))
    as_count(answers, "answers", 1)
    as_number(flip, "flip", 0.0, 0.49 if people is None else 0.0)
    habits = None if people is None else as_people(people)
    rows, ask = None, settings.ask
    if table is not None:
        if not settings.is_rowless(table.rows):
            answers = min(answers, _most_answers(settings, table, 2 if ask.overlap == "auto" else ask.people))
        sample, encoder = encoded_sample(with_columns(settings, table), table, whole=False)
        rows = _main_directions(_in_numbers(sample.astype(np.float64)[:_MOST_ROWS], encoder.layout))
    each = float(ask.people)
    if table is not None and ask.overlap == "auto":  # second opinions, when all rows have had a first
        each = max(1.0, answers / _most_answers(settings, table, 1))
    # Questions from gold teach nothing, and several answers to one question are one lesson, less often wrong.
    per_lesson = each / (1.0 - ask.gold_share)
    rehearsed = min(answers, settings.labels.rehearsed)
    lessons = max(1, int(rehearsed / per_lesson))
    epsilon = settings.privacy.epsilon
    times, wrong = (1.0, flip) if epsilon is None else (answers_needed(epsilon), with_slips(epsilon, flip))
    once, wrong = wrong, _wrong_together(wrong, ask.people)
    if ask.overlap == "auto":  # where somebody erred, two others are asked
        wrong += (each - 1.0) * (_wrong_together(once, 3) - once)
    crowds = [None if habits is None else SimulatedCrowd(habits, seed, ask.people) for seed in range(TRUTHS)]
    runs = [_rehearsed(settings, rows, lessons, wrong, crowd, seed) for seed, crowd in enumerate(crowds)]
    curves = [curve for curve, _ in runs]
    points = []
    for place, (count, _) in enumerate(curves[0]):
        values = sorted(curve[place][1] for curve in curves)
        asked = min(answers, round(count * per_lesson)) if count < lessons else rehearsed
        points.append((asked, values[0], values[len(values) // 2], values[-1]))
    price = None if ask.price is None else ask.price * answers
    cost = Cost(price, ask.currency, ask.seconds * answers / 3600)
    met = [(crowd.people(), found) for crowd, (_, found) in zip(crowds, runs, strict=True) if crowd is not None]
    return Forecast(tuple(points), settings.labels.forecast_measure, cost, answers, _met(met), times)


def _met(runs: list[tuple[list[Person], dict[str, Person]]]) -> tuple[RehearsedPerson, ...]:
    """Return each person's true rates beside those that were found, as means of some runs."""
    met = []
    for each in zip(*(true for true, _ in runs), strict=True):
        name, answers = each[0].name, round(np.mean([one.answers for one in each]))
        found = [found[name] for _, found in runs if name in found and found[name].known]
        met.append(RehearsedPerson(name, answers, _right(each), _right(found) if found else None))
    return tuple(met)


def _right(people: Sequence[Person]) -> tuple[float, float]:
    right = [(one.sensitivity, one.specificity) for one in people]
    sensitivity, specificity = np.array(right, dtype=np.float64).mean(axis=0).tolist()
    return sensitivity, specificity


def _most_answers(settings: Settings, table: Table, people: int) -> int:
    """Return how many answers the rows give: each question of a row goes to so many, and none where it is known."""
    ask, gold = settings.ask, settings.rows.gold
    cells = [] if gold is None else [row.get(gold) for row in table.sample]
    known = sum(cell is not None and bool(str(cell).strip()) for cell in cells) / max(len(cells), 1)
    return max(1, int(round(table.rows * (1 - known)) * ask.per_row * people / (1 - ask.gold_share)))


def _in_numbers(rows: Array, layout: RowLayout) -> Array:
    """Return dense columns and, if there are terms, 64 sums of their weights with random signs: products are kept."""
    if not layout.pairs:
        return rows[:, : layout.dense]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (layout.terms + 1, _SIGNS)) / math.sqrt(_SIGNS)
    places, weights = np.split(rows[:, -2 * layout.pairs :], 2, axis=1)
    texts = sum(weights[:, [k]] * signs[places[:, k].astype(np.int64)] for k in range(layout.pairs))
    return np.column_stack([rows[:, : layout.dense], texts])


def _main_directions(rows: Array) -> Array:
    """Return rows in the directions in which they differ most, once their columns are scaled."""
    if rows.shape[1] <= _MOST_COLUMNS:
        return rows
    scaled = Scaler.from_rows(rows)(rows)
    return np.asarray(scaled @ np.linalg.svd(scaled, full_matrices=False)[2][:_MOST_COLUMNS].T)


def _wrong_together(flip: float, people: int) -> float:
    """Return how often the majority of some people is wrong; a tie is broken at random."""
    terms = [math.comb(people, k) * flip**k * (1 - flip) ** (people - k) for k in range(people + 1)]
    return sum(term * (1.0 if 2 * k > people else 0.5 if 2 * k == people else 0.0) for k, term in enumerate(terms))


def _rehearsed(
    settings: Settings, rows: Array | None, lessons: int, flip: float, crowd: SimulatedCrowd | None, seed: int
) -> tuple[list[tuple[int, float]], dict[str, Person]]:
    """Return errors at some numbers of answers, for one truth, and what was found of people."""
    random = np.random.default_rng([seed, 7])
    lively = replace(settings, learner=replace(settings.learner, seed=seed))
    estimator = make_estimator(lively, rows, _FEATURES)
    learner = estimator.stream_.learner
    X = np.zeros((1, 1)) if rows is None else rows
    order = np.concatenate([random.permutation(len(X)) for _ in range(-(-lessons // len(X)))])[:lessons]
    test = random.permutation(len(X))[:_TEST_ROWS]
    labels, error = settings.labels.truth(lambda outputs: smooth(X, outputs, random), X, order, test, random)
    at = [n for n in checkpoints(lessons, 6) if n >= _FIRST_POINT or n == lessons]
    oracle, evaluate = Oracle(labels, flip=flip, seed=seed), lambda z: error(learner.space, z)
    run = simulate(learner, X[order], oracle, seed=seed, at=at, test=X[test], evaluate=evaluate, people=crowd)
    estimator.stream_.state = run.state
    return run.curve, estimator.people_


def smooth(X: Array, outputs: int, random: np.random.Generator) -> Array:
    """Return made-up functions of rows (see the module), each with mean 0 and deviation 1 over them, n x outputs.

    >>> f = smooth(np.linspace(0, 1, 50)[:, None], 2, np.random.default_rng(0))
    >>> f.shape, bool(np.allclose(f.std(axis=0), 1)), bool(np.abs(np.diff(f, axis=0)).max() < 0.5)
    ((50, 2), True, True)
    """
    scaled = Scaler.from_rows(X)(X)
    width = median_distance(scaled) if len(scaled) > 1 else 1.0
    W = random.standard_normal((X.shape[1], _WAVES)) / max(width, 1e-9)
    waves = np.cos(scaled @ W + random.uniform(0, 2 * np.pi, _WAVES))
    f = waves @ random.standard_normal((_WAVES, outputs)) * math.sqrt(2 / _WAVES)
    spread = f.std(axis=0)
    if (spread < 1e-9).any():  # rows that are all alike: only a constant can be told of them
        return np.asarray(f)
    return np.asarray((f - f.mean(axis=0)) / spread)
