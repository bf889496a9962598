"""Exam questions: drawn with a known density, their answers tell the risk of every model, whoever learnt from what.

Numbers: for a loss l of the distance, with slope l', and a threshold c of density q that was drawn without a look
at the label y,

    l(f, y) = int |l'(f, c)| 1{c between f and y} dc,     score = |l'(f, c)| 1{c between f and y} / q(c),

so that the score, which the bit "is y above c?" tells, is unbiased where q covers the way from f to y.  For the median
and for quantiles the slopes do not depend on the distance, and the scores of two models differ only where c lies
between their predictions: to compare them, q need not cover more.  For m outputs c lies along a random direction u,
as |z| = E|<z, u>| / c2 and |z|^2 = m E<z, u>^2.

Classes: "is it k?", k drawn with probability pi_k, scores 1 - 1{y = k} 1{f = k} / pi_k for the share of errors.
Orders: a pair drawn with probability pi scores 1{f has it the other way round} / (P pi) for the share of wrong pairs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from askone import theory
from askone._common.random_table import sphere
from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.labels.classes import FiniteSpace
from askone.labels.losses import Loss, Median, Quantile, Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.questions.base import Question
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace, half_space, in_unit_labels
from askone.questions.subset import Subset

PURPOSE = "exam"
_ROOM = 0.1  # of the way between predictions, on both sides, in case they move before the answer comes
_LEAST = 0.01


def exam_width(space: Any) -> int:
    """Return how many uniforms an exam question takes."""
    return space.m + 1 if isinstance(space, Real) and space.m > 1 else 1


def local(loss: Loss) -> bool:
    """Return whether scores of two models differ only between their predictions."""
    return isinstance(loss, Median | Quantile)


def exam(space: Any, predicted: Any, uniform: Array, wide: float, learnt: int | None = None) -> Question:
    """Return an exam question for several models' predictions (a row each) of one row.

    With probability ``wide`` it is drawn from all that may be asked (the declared range, all classes, all pairs), which
    an absolute risk needs; else between the predictions, which is where models differ.

    >>> str(exam(Real(0, 100), np.array([[20.0], [40.0]]), np.array([0.25]), wide=0.0))
    'Is the value above 23.75?'
    """
    if isinstance(space, Real):
        return _about_number(space, space.to_unit(np.asarray(predicted)), uniform, wide, learnt)
    if isinstance(space, Ranking):
        pair = min(int(uniform[0] * space.P), space.P - 1)
        first, second = (space.items[int(places[pair])] for places in space.pairs)
        return Prefer(first, second, probability=1.0 / space.P, learnt=learnt, wording=space.wording)
    if not isinstance(space, FiniteSpace):
        raise InvalidArgument("space", "numbers, classes or orders", type(space).__name__)
    said = list(dict.fromkeys(predicted))
    names = list(space.names)
    chance = {k: wide / len(names) + (1.0 - wide) * (k in said) / len(said) for k in names}
    above = np.cumsum([chance[k] for k in names])
    chosen = names[min(int(np.searchsorted(above, uniform[0], side="right")), len(names) - 1)]
    return Subset((chosen,), probability=chance[chosen], learnt=learnt)


def _about_number(space: Real, z: Array, uniform: Array, wide: float, learnt: int | None) -> HalfSpace:
    u = np.ones(1) if space.m == 1 else sphere(uniform[None, : space.m])[0]
    v, reach = float(uniform[-1]), float(np.abs(u).sum())
    at = inside(z, u)
    low, high = min(at), max(at)
    room = _ROOM * (high - low) + _LEAST
    low, high = low - room, high + room
    c = reach * (2.0 * v / wide - 1.0) if v < wide else low + (high - low) * (v - wide) / (1.0 - wide)
    density = (1.0 - wide) * (low <= c <= high) / (high - low) + wide * (abs(c) <= reach) / (2.0 * reach)
    return replace(half_space(space, u.tolist(), c, density, learnt), purpose=PURPOSE)


def inside(z: Array, u: Array) -> list[float]:
    """Return <z, u> of unit predictions z, clipped to the declared range first."""
    return [sum(min(max(a, -1.0), 1.0) * b for a, b in zip(one, u, strict=True)) for one in z.tolist()]


def tells_risk(question: Question) -> bool:
    """Return whether a question was drawn with a known density, so that its answer tells the risk of any model."""
    if isinstance(question, HalfSpace):
        return question.purpose == PURPOSE
    if isinstance(question, Subset):
        return len(question.members) == 1 and question.probability < 1.0
    return isinstance(question, Prefer) and question.probability < 1.0


def scores(space: Any, loss: Loss, predicted: Any, question: Question, yes: bool) -> Array:
    """Return an unbiased score of each model's risk (a row of ``predicted`` each) from one answer.

    Numbers: the loss in unit labels (half ranges).  Classes and orders: the share of errors, or of wrong pairs.

    >>> asked = HalfSpace((1.0,), 60.0, density=0.5, purpose="exam")
    >>> scores(Real(0, 100), Median(), [[50.0], [70.0]], asked, True).tolist()
    [2.0, 0.0]
    """
    if isinstance(question, HalfSpace):
        u, c = in_unit_labels(space, question)
        at = inside(space.to_unit(np.asarray(predicted, dtype=float)), np.array(u))
        slopes = np.abs(loss.gradient(np.array(at)[:, None], np.full((len(at), 1), c))[:, 0])
        beyond = np.array([(one > c) != yes for one in at])
        factor = 1.0 if space.m == 1 else _factor(loss, space.m)
        return np.asarray(factor * slopes * beyond / question.density)
    if isinstance(question, Subset):
        (asked,) = question.members
        return np.array([1.0 - yes * (one == asked) / question.probability for one in predicted])
    if isinstance(question, Prefer):
        ahead = [list(one).index(question.first) < list(one).index(question.second) for one in predicted]
        return np.array([(one != yes) / (space.P * question.probability) for one in ahead])
    raise InvalidArgument("question", "an exam question", type(question).__name__)


def _factor(loss: Loss, m: int) -> float:
    if isinstance(loss, Median):
        return 1.0 / theory.c2(m)
    if isinstance(loss, Squared):
        return float(m)
    raise InvalidArgument("loss", "the median or the squared one for several outputs", loss.name)
