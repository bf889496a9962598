"""Questions that measure the error of predicted numbers, from one bit each.

The error is |y - f| = ∫ 1{|y - f| > d} dd over all distances d.  So one distance is drawn, with a density q, and
"is it between f - d and f + d?" is asked; with B = 1 for a no, S the model's own chance of that and I = ∫ S,

    score = I + (B - S(d)) / q(d) ,        E score = E min(|y - f|, W) ,  d from 0 to W .

That holds for every S and q: S takes away what was to be expected, and q near sqrt(S (1 - S)) has the least variance.
Where answers are wrong with a probability e, (B - e) / (1 - 2 e) stands for B: see ``measurement.corrected``.

W is four times the error of late, or that the model expects, and at least twice the target.  What is beyond W is asked
about by exams of their own, a part p of all, drawn by lot before anything is known of the row.  With w the way that is
left from W to the end of the range, where d is uniform,

    score = w B ,        E score = E (|y - f| - W)+ ,        E |y - f| = E min(|y - f|, W) + E (|y - f| - W)+ .

A uniform d makes B one trial of the same sort for all: whatever labels there are beyond W, they add at most w times the
chance of B, so that of n such answers the number of those outside bounds what they add (``measurement``).  Mixed into
one score, a label out there would weigh w / p, and a band without one would claim what nobody has looked at.  One bit
cannot tell such a label from a slip: these exams are the checks that show how often people err, where nothing else
does.

A model that forecasts answers says which error it expects of each row; late exams say how many times as large errors
are, and S, W and q are stretched by that.  So a model that learns fast is not measured as if it still made its first
errors: scores would scatter several times as much.  An end that is rounded to be shown moves the mean by half a step at
most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.lazy import compiled
from askone._common.types import Array
from askone.campaign.kinds.base import UNSURE, Check, Exam, ExamPlan, Sat
from askone.labels.number import Real
from askone.questions.base import Question
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace

Above = Callable[[float], float]
"""The model's chance that the label is above a threshold."""

_USUAL_ERROR = 0.05  # to expect before anything was measured, as a part of the range
_SCALES = np.geomspace(1 / 25, 125.0, 41)  # of the error, in what is to be expected: a model may be far too sure
_OF_USUAL = 5.1  # times the usual error, a quarter of the range, is the most that is tried without a model's own word
_USUAL_SPREAD = 1.2  # prior standard deviation of their logarithm
_LEAST_SLIP = 0.03  # that is reckoned with, so that one answer does not make it large
_LATEST = 16  # exams whose expected errors are those of now
_WIDE = 4.0  # W in errors
_PIECES = 16  # of S and q; they are finest near the prediction
_UNIFORM = 0.1  # of the density q: no distance is left out
_LEAST_VARIANCE = 0.05  # that q reckons with: it bounds scores, so that a target is proved by fewer


@final
class Piece(NamedTuple):
    """Distances on one side of the prediction (0: both) on which S is linear and q constant."""

    side: int
    start: float
    end: float
    first: float
    last: float

    @property
    def area(self) -> float:
        """The integral of S."""
        return (self.end - self.start) * (self.first + self.last) / 2

    def until(self, end: float) -> Piece:
        """Return the part before some distance."""
        if end >= self.end:
            return self
        return self._replace(end=end, last=self.at(end))

    def at(self, d: float) -> float:
        """Return S(d)."""
        return self.first + (self.last - self.first) * (d - self.start) / (self.end - self.start)


@final
class Drawn(NamedTuple):
    """A distance, the density that it was drawn with, and what B = 0 and B = 1 score.

    No distance could have scored more than ``most`` nor weighed more than ``heaviest``.
    """

    side: int
    distance: float
    density: float
    score: tuple[float, float]
    most: float
    heaviest: float


@final
class Late(NamedTuple):
    """The error of late, roughly, and how many times that is what the model expected (None: it expects nothing)."""

    error: float
    times: float | None = None


@final
class _Layout(NamedTuple):
    """The distances of one row: S in pieces on each side, W, what of the error is known, and the model's own word."""

    pieces: Sequence[Piece]
    window: float
    known: float
    times: float
    tail: Callable[[float, int], float]

    @property
    def expected(self) -> float:
        """The error of a label, with S for its chances."""
        return self.known + sum(piece.area for piece in self.pieces)

    def beyond(self) -> list[tuple[int, float, float]]:
        """Return the sides on which distances are left beyond W, from where to where."""
        ends = {piece.side: piece.end for piece in self.pieces}
        return [(side, self.window, end) for side, end in ends.items() if end > self.window]


def _laid_out(space: Real, f: float, above: Above, plan: ExamPlan, late: Late) -> _Layout:
    low, high = space.lows[0], space.highs[0]
    two_sided = space.words.says_ranges and plan.aim != "mean"
    # Up to this distance both ends are shown as one number, and nothing lies between them.
    known = _to_the_next_step(space, f) if two_sided else 0.0
    times = late.times or 1.0

    def tail(d: float, side: int) -> float:
        over = above(f + d / times) if side >= 0 and f + d < high else 0.0
        return over + (1 - above(f - d / times) if side <= 0 and f - d > low else 0.0)

    sides = (0,) if two_sided else (-1, 1)
    pieces = [piece for side in sides for piece in _pieces(side, known, _far(f, low, high, side), tail)]
    layout = _Layout(pieces, 0.0, known, times, tail)
    # Never narrower than by what the model expects: late exams may have missed the few rows that err most.
    most = max(late.error, layout.expected, layout.expected / times)
    return layout._replace(window=max(_WIDE * most, 2 * known, 2 * (plan.target or 0.0)))


def number_exam(
    space: Real, f: float, above: Above, plan: ExamPlan, u: float, learnt: int, late: Late | None = None
) -> Exam | None:
    """Return the question and its score; f lies within the range.  None: rounded, all of it would be shown as one.

    Thresholds lie within the range: where f - d or f + d does not, the other alone is asked about.  Words that cannot
    say "between" have one threshold always, and so has the aim "mean": c from the whole range, such that
    f + (1{y > c} - 1{f > c}) / q(c) has the mean y.  That takes three times the answers for the same band of errors.
    """
    late = usual_error(space, plan) if late is None else late
    layout = _laid_out(space, f, above, plan, late)
    pieces, window, spread = layout.pieces, layout.window, plan.aim == "mean"
    if not pieces:
        return None
    if not spread:
        pieces = [piece.until(window) for piece in pieces if piece.start < window]
    side, d, density, (no, yes), most, heaviest = drawn(pieces, plan.slip, u, layout.known, window if spread else None)
    question, outside = _asked(space, f, side, d, learnt, density)
    expected = None if late.times is None else layout.expected / layout.times
    return Exam(question, (no, yes) if outside else (yes, no), most, heaviest, f, expected, window)


def far_exam(space: Real, f: float, above: Above, plan: ExamPlan, u: float, learnt: int, late: Late) -> Check:
    """Return whether the label lies further off than a distance beyond W, uniform on what is left of the range.

    There is nothing to ask where nothing is left.
    """
    layout = _laid_out(space, f, above, plan, late)
    rest = [end - start for _, start, end in layout.beyond()]
    if not rest:
        return Check(None, UNSURE, (0.0, 0.0), layout.window)
    chosen = min(int(np.searchsorted(np.cumsum(rest), u * sum(rest), side="right")), len(rest) - 1)
    side, start, end = layout.beyond()[chosen]
    d = min(start + u * sum(rest) - sum(rest[:chosen]), end)
    question, outside = _asked(space, f, side, d, learnt)
    chance = min(max(layout.tail(d, side), UNSURE / 2), 1 - UNSURE / 2)
    score = (0.0, sum(rest)) if outside else (sum(rest), 0.0)
    return Check(question, chance if outside else 1 - chance, score, layout.window)


def _asked(space: Real, f: float, side: int, d: float, learnt: int, density: float = 1.0) -> tuple[Question, bool]:
    """Return a question about a distance from f, and the answer that says "outside"."""
    fields: dict[str, Any] = {"wording": space.words, "learnt": learnt, "density": density}
    low, high = space.lows[0], space.highs[0]
    ends = rounded(space, f - d), rounded(space, f + d)
    if side == 0 and low < f - d and f + d < high and ends[0] < ends[1]:
        return Between(*ends, **fields), False
    over = side > 0 or (side == 0 and f + d < high)
    return HalfSpace((1.0,), ends[over], **fields), over


def drawn(pieces: Sequence[Piece], slip: float, u: float, known: float = 0.0, window: float | None = None) -> Drawn:
    """Draw a distance by the uniform u; ``known`` is what all distances before the first piece add to the error.

    With P = e + (1 - 2 e) S, q is .9 sqrt(P (1 - P)), normalised, and .1 uniform.  Where pieces lie in the whole range
    and distances up to a ``window`` alone score, a variance of 0 is none.
    """
    least = _LEAST_VARIANCE if window is None else 0.0
    lengths = [piece.end - piece.start for piece in pieces]
    chances = [slip + (1 - 2 * slip) * piece.area / length for piece, length in zip(pieces, lengths, strict=True)]
    roots = [math.sqrt(max(P * (1 - P), least)) for P in chances]
    total, mass = sum(lengths), sum(root * length for root, length in zip(roots, lengths, strict=True))
    even = _UNIFORM if mass > 0 else 1.0
    densities = [(1 - even) * root / (mass or 1.0) + even / total for root in roots]
    scored = [piece if window is None else piece.until(window) for piece in pieces]
    inner = [piece.start < piece.end for piece in scored]
    expected = known + sum(piece.area for piece, counts in zip(scored, inner, strict=True) if counts)
    left, chosen = u, len(pieces) - 1
    for j, (q, length) in enumerate(zip(densities, lengths, strict=True)):
        if left < q * length:
            chosen = j
            break
        left -= q * length
    piece, q = pieces[chosen], densities[chosen]
    d = min(piece.start + left / q, piece.end)
    no = expected - piece.at(d) / q
    score = (no, no + 1 / q) if window is None or d <= window else (expected, expected)
    # S is linear within a piece, so that the least of it is at an end.
    bounds = [(one, q) for one, q, counts in zip(scored, densities, inner, strict=True) if counts]
    most = max(expected + (1 - min(one.first, one.last)) / density for one, density in bounds)
    return Drawn(piece.side, d, q, score, most, 1 / min(density for _, density in bounds))


def usual_error(space: Real, plan: ExamPlan, forecasts: bool = False) -> Late:
    """Return the error of late, roughly: the scale b of Laplace's distribution that best explains the latest exams.

    A label lies further than d from the prediction with the probability exp(-d/b), on one side with half of that.  The
    mean of scores would not do: it may be negative, and a window that is too narrow would stay so.  Of a model that
    ``forecasts``, b is a multiple of the error that it expected at each exam; it is now that of what it expects now,
    and no less than the last few exams say by themselves: a model may all at once be sure without reason.
    """
    usual = _USUAL_ERROR * (space.highs[0] - space.lows[0])
    seen = [found for found in map(_seen, plan.lately) if found is not None]
    told = [found for found in seen if found.expected] if forecasts else []
    latest = seen[-_LATEST:] if told else seen
    error = usual * _scale(latest, np.full(len(latest), usual), plan.slip, _SCALES[_SCALES < _OF_USUAL])
    if not told:
        return Late(error, 1.0 if forecasts else None)
    expected = np.array([found.expected for found in told])
    times = _scale(told, expected, plan.slip, _SCALES)
    return Late(max(error, times * float(expected[-_LATEST:].mean())), times)


def _scale(seen: Sequence[_Seen], units: Array, slip: float, scales: Array) -> float:
    """Return how many of these units the errors were, most probably."""
    said = -0.5 * (np.log(scales) / _USUAL_SPREAD) ** 2
    if seen:
        d, sides, outside = (np.array(column) for column in list(zip(*seen, strict=True))[:3])
        e = max(slip, _LEAST_SLIP)
        P = e + (1 - 2 * e) * sides / 2 * np.exp(-d / (units * scales[:, None]))
        said = said + np.log(np.where(outside, P, 1 - P)).sum(axis=1)
    return float(scales[np.argmax(said)])


@final
class _Seen(NamedTuple):
    """How far away an exam asked, on how many sides, whether the label was outside, and the error that was expected."""

    distance: float
    sides: int
    outside: bool
    expected: float | None


def _seen(sat: Sat) -> _Seen | None:
    question = sat.question
    if isinstance(question, Between):
        return _Seen((question.high - question.low) / 2, 2, not sat.answer, sat.expected)
    if not isinstance(question, HalfSpace) or sat.predicted is None:
        return None  # older logs do not say what was predicted
    away = question.threshold - float(sat.predicted)
    return _Seen(abs(away), 1, sat.answer == (away >= 0), sat.expected)


def laplace(f: float, error: float) -> Above:
    """Return the chances for a model that does not forecast answers: Laplace's distribution around its prediction."""

    def above(c: float) -> float:
        tail = 0.5 * math.exp(-abs(c - f) / error)
        return tail if c >= f else 1 - tail

    return above


def _pieces(side: int, start: float, far: float, tail: Callable[[float, int], float]) -> list[Piece]:
    if not start < far:
        return []
    knots = [start + (far - start) * (j / _PIECES) ** 3 for j in range(_PIECES + 1)]
    values = [min(max(tail(d, side), 0.0), 1.0) for d in knots]
    return [Piece(side, *two, *values[j : j + 2]) for j, two in enumerate(pairwise(knots))]


def _far(f: float, low: float, high: float, side: int) -> float:
    """Return the largest distance that a label in the range can have."""
    return f - low if side < 0 else high - f if side > 0 else max(f - low, high - f)


def _to_the_next_step(space: Real, f: float) -> float:
    """Return up to which distance f - d and f + d are shown as the same number."""
    if space.decimals is None:
        return 0.0
    step = 10.0**-space.decimals
    part = f / step - math.floor(f / step)
    return abs(part - 0.5) * step


def rounded(space: Real, threshold: float) -> float:
    """Return a threshold as it is shown."""
    return threshold if space.decimals is None else float(compiled.rounded(threshold, space.decimals))
