"""Estimates of a whole table from its predictions and a few exams: a mean, a median, a share.

Predictions alone are biased, exams alone are few.  Together (prediction-powered inference) they are right whatever the
model is worth, and precise where it is good.  With f the predictions of all N rows and one answer 1{y > c} about each
of n rows that were drawn at random, c of density q,

    y = m(f) + E r ,      r = (1{y > c} - S(c)) / q(c) ,      mean = 1/N sum_i m(f_i) + 1/n sum_j r_j

for any function S of c with the integral m: here the tail of Laplace's law around f, so that an answer which the model
foresees moves nothing.  The share above c0 is the mean of S_i(c0) plus that of r_j K(c_j), K uniform around c0; the
median is where this share is 1/2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import stdtrit

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.questions.base import Question
from askone.questions.half_space import HalfSpace

Ends = tuple[float | None, float | None, float | None, float | None]
"""low, high, always_low, always_high of an estimate."""
LEVEL = 0.95
_LOOKED = 300  # bits at which an interval that always holds is narrowest
_WINDOW = 30  # earlier corrections that say how much the next one counts
_SCALES = np.geomspace(1e-3, 0.5, 40)  # of Laplace's law, in parts of the range
_SHIFTS = np.linspace(-2.0, 2.0, 41)  # of all predictions, in scales
_GRID = 80  # places at which the median is sought
_REACH = 2.0  # of a share's window to either side, in scales
_UNKNOWN: Ends = (None, None, None, None)
FEWEST = 10
"""Bits without which an interval is not given."""


@final
@dataclass(frozen=True)
class Estimate:
    """A value for the whole table or a group of it, and what it rests on.

    ``low`` and ``high`` hold the truth in 95 of 100 cases for whoever looks once, ``always_low`` and ``always_high``
    for whoever looks as often as they like and stops when they like; None: too few bits.  ``model``: what the
    predictions alone would say.  ``labels``: so many full labels without a model would be as precise.
    """

    value: float
    low: float | None
    high: float | None
    always_low: float | None
    always_high: float | None
    bits: int
    rows: int
    model: float | None = None
    labels: float | None = None

    def widened(self, *moves: float) -> Estimate:
        """Return the estimate with wider intervals: moving the value by any of ``moves`` stays inside them."""
        down, up = min(0.0, *moves), max(0.0, *moves)
        ends = {"low": down, "high": up, "always_low": down, "always_high": up}
        moved = {name: getattr(self, name) + step for name, step in ends.items()} if self.low is not None else {}
        return replace(self, **moved)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values: None for what is not known."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


@final
class ExamAnswer(NamedTuple):
    """An exam that was answered: question, aim, answer and score, and what the model predicts of its row now.

    The answer (1 for yes) and the score are corrected for slips.
    """

    question: Question
    aim: str
    answer: float
    score: float
    predicted: Any


@final
class Bits(NamedTuple):
    """Answers about thresholds at rows drawn at random: prediction now, threshold, its density, 1 for yes.

    An answer that was corrected for slips, (answer - e) / (1 - 2 e), lies outside [0, 1].
    """

    predicted: Array
    thresholds: Array
    densities: Array
    answers: Array


@final
class Laplace(NamedTuple):
    """Labels in a range, spread around a prediction and a shift, f + d, by Laplace's law of a scale b."""

    low: float
    high: float
    scale: float
    shift: float = 0.0

    def tail(self, f: Array, c: Array) -> Array:
        """Return S(c) = P(y > c).

        >>> Laplace(0, 9, 1.0).tail(np.array([5.0, 5.0]), np.array([5.0, 40.0])).round(9).tolist()
        [0.5, 0.0]
        """
        apart = c - np.clip(f + self.shift, self.low, self.high)
        away = 0.5 * np.exp(-np.abs(apart) / self.scale)
        return np.asarray(np.where(apart >= 0, away, 1.0 - away))

    def mean(self, f: Array) -> Array:
        """Return low + the integral of S over the range, m(f)."""
        middle = np.clip(f + self.shift, self.low, self.high)
        below, above = np.exp((self.low - middle) / self.scale), np.exp((middle - self.high) / self.scale)
        return np.asarray(middle + 0.5 * self.scale * (below - above))

    @classmethod
    def fitted(cls, low: float, high: float, bits: Bits) -> Laplace:
        """Return the scale and shift that foresee the answers best, one after the other."""

        def surprise(law: Laplace) -> float:
            p = np.clip(law.tail(bits.predicted, bits.thresholds), 0.01, 0.99)
            return float(-np.sum(bits.answers * np.log(p) + (1.0 - bits.answers) * np.log1p(-p)))

        found = min((cls(low, high, float(part * (high - low))) for part in _SCALES), key=surprise)
        return min((found._replace(shift=float(part * found.scale)) for part in _SHIFTS), key=surprise)


def estimate_number(
    what: str, predicted: Sequence[float], exams: Sequence[ExamAnswer], low: float | None, high: float | None
) -> Estimate:
    """Return the "mean", the "median" or the "share above 30" of numbers in a range (None: that of the predictions)."""
    threshold = re.fullmatch(r"share above (-?[0-9]+(?:\.[0-9]*)?(?:e-?[0-9]{1,2})?)", what)
    if what not in ("mean", "median") and threshold is None:
        raise InvalidArgument("what", "'mean', 'median', or 'share above 30' with a number", repr(what)[:60])
    # Exams that measure the error say how far labels are from predictions, but not on which side.
    asked = [(exam, exam.question) for exam in exams if exam.aim == "mean" and isinstance(exam.question, HalfSpace)]
    columns = [(exam.predicted, one.threshold, one.density, exam.answer) for exam, one in asked]
    bits, rows = Bits(*np.array(columns, dtype=np.float64).reshape(-1, 4).T), np.array(predicted, dtype=np.float64)
    ends = (float(rows.min()), float(rows.max()) + 1e-9) if low is None or high is None else (low, high)
    law = Laplace.fitted(*ends, bits)
    if threshold is not None:
        return share_above(rows, bits, law, float(threshold[1]))
    return (mean if what == "mean" else median)(rows, bits, law)


def mean(predicted: Array, bits: Bits, law: Laplace) -> Estimate:
    """Return the mean label of the rows with these predictions."""
    weights = (bits.answers - law.tail(bits.predicted, bits.thresholds)) / bits.densities
    spread = float(np.var(predicted)) + 2.0 * law.scale**2
    found = _corrected(float(law.mean(predicted).mean()), weights, len(predicted), spread)
    return replace(found, model=float(np.mean(predicted)))


def share_above(predicted: Array, bits: Bits, law: Laplace, c: float) -> Estimate:
    """Return the share of rows whose label is above c."""
    model = float(law.tail(predicted, np.full(len(predicted), c)).mean())
    # The window has some thresholds in it; beyond the range none is asked.
    distances = np.sort(np.abs(bits.thresholds - c))[: 2 * FEWEST]
    reach = max(_REACH * law.scale, float(distances.max(initial=0.0)))
    first, last = max(c - reach, law.low), min(c + reach, law.high)
    near = (bits.thresholds >= first) & (bits.thresholds <= last)
    surprise = bits.answers - law.tail(bits.predicted, bits.thresholds)
    corrections = np.where(near, surprise / bits.densities / max(last - first, 1e-300), 0.0)
    spread = model * (1.0 - model)
    return _within(_corrected(model, corrections, len(predicted), spread, int(near.sum())), 0.0, 1.0)


def median(predicted: Array, bits: Bits, law: Laplace) -> Estimate:
    """Return the median label: where the share above is 1/2, and from where to where it may be."""
    low, high = np.quantile(predicted, [0.02, 0.98]) + law.scale * np.array([-1.0, 1.0])
    places = np.linspace(max(low, law.low), min(high, law.high), _GRID)
    rows = np.quantile(predicted, (np.arange(5 * _GRID) + 0.5) / (5 * _GRID))  # as good as all of them, and quicker
    found = [share_above(rows, bits, law, float(c)) for c in places]

    middle = int(np.argmin([abs(one.value - 0.5) for one in found]))

    def end(name: str, step: int) -> float:
        """Return the first place from the middle on where the share is surely not 1/2 any more."""
        at = middle
        while 0 < at < _GRID - 1 and not ((share := getattr(found[at], name)) is not None and step * (0.5 - share) > 0):
            at += step
        return float(places[at])

    known = len(bits.answers) >= FEWEST
    ends = (end("low", -1), end("high", 1), end("always_low", -1), end("always_high", 1)) if known else _UNKNOWN
    return Estimate(float(places[middle]), *ends, len(bits.answers), len(predicted), float(np.median(predicted)))


def proportion(successes: Array, rows: int) -> Estimate:
    """Return the mean of scores that are 0 or 1 (or were, before slips were corrected): an accuracy, without a model.

    >>> found = proportion(np.array([1.0] * 90 + [0.0] * 10), 5000)
    >>> found.value, round(found.low, 2), round(found.high, 2), round(found.always_low, 2)
    (0.9, 0.82, 0.95, 0.79)
    """
    n = len(successes)
    value = float(np.mean(successes)) if n else math.nan
    # Two of each kind more (Agresti and Coull): a run of successes is no proof of perfection.
    more = np.concatenate([successes, [0.0, 0.0, 1.0, 1.0]])
    ends = _interval(float(more.mean()), float(more.std()), len(more)) if n >= FEWEST else _UNKNOWN
    return _within(Estimate(value, *ends, n, rows, labels=float(n)), 0.0, 1.0)


def _corrected(model: float, corrections: Array, rows: int, spread: float, telling: int | None = None) -> Estimate:
    """Return what the model says plus the mean of the corrections, those weighed more that scatter less.

    Early in a campaign thresholds were drawn around worse predictions, so that their corrections scatter more: one
    counts by the squares of those before it, never by its own.  ``telling``: so many can be other than 0.
    """
    n = len(corrections)
    if min(n, n if telling is None else telling) < FEWEST:
        return Estimate(model, *_UNKNOWN, n, rows, model)
    weights = _weights(corrections)
    value = float(weights @ corrections)
    effective = 1.0 / float(weights @ weights)
    deviation = math.sqrt(float(weights**2 @ (corrections - value) ** 2) * effective * effective / (effective - 1.0))
    error = deviation / math.sqrt(effective)
    ends = _interval(model + value, deviation, effective, telling)
    return Estimate(model + value, *ends, n, rows, model, spread / error**2 if error else None)


def _weights(corrections: Array) -> Array:
    squares = np.concatenate([[0.0], np.cumsum(corrections**2)])
    last = np.maximum(np.arange(len(corrections)), _WINDOW).clip(max=len(corrections))
    first = np.maximum(last - _WINDOW, last // 2)
    usual = float(squares[-1]) / len(corrections)
    scatter = (squares[last] - squares[first] + 3.0 * usual) / (last - first + 3.0)
    weights = 1.0 / np.maximum(scatter, 1e-300)
    return np.asarray(weights / weights.sum())


def _interval(
    value: float, deviation: float, n: float, telling: int | None = None
) -> tuple[float, float, float, float]:
    """Return the ends for whoever looks once (Student's), and for whoever looks always.

    The latter is an asymptotic confidence sequence: a normal mixture's boundary with the estimated deviation,
    sqrt(2 (n r + 1) / (n^2 r) log(sqrt(n r + 1) / alpha)), where r makes it narrowest at a certain n.
    """
    alpha = 1.0 - LEVEL
    once = float(stdtrit((n if telling is None else telling) - 1.0, 1.0 - alpha / 2)) * deviation / math.sqrt(n)
    r = (-2.0 * math.log(alpha) + math.log(1.0 - 2.0 * math.log(alpha))) / _LOOKED
    always = deviation * math.sqrt(2.0 * (n * r + 1.0) / (n * n * r) * math.log(math.sqrt(n * r + 1.0) / alpha))
    always = max(always, once)
    return value - once, value + once, value - always, value + always


def _within(found: Estimate, low: float, high: float) -> Estimate:
    """Return the estimate with its value and its intervals cut off at a range."""
    names = ("value", "low", "high", "always_low", "always_high")
    ends = {name: getattr(found, name) for name in names}
    inside = {name: one if one is None or math.isnan(one) else min(max(one, low), high) for name, one in ends.items()}
    return replace(found, **inside)
