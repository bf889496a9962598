"""How many answers about one row can be right together: the most that any label agrees with.

Those beyond it are wrong, whatever is true: "above 37" and "not above 30" cannot both be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from askone._common.types import Array
from askone.labels.linear_ordering import best_order
from askone.questions.base import Question
from askone.questions.between import Between
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset

Said = Sequence[tuple[Question, bool]]
"""Questions about one row, and what one person answered."""


def by_numbers(said: Said) -> int:
    """Return the most answers that a number agrees with.

    >>> above = lambda t: HalfSpace((1.0,), t)
    >>> by_numbers([(above(37), True), (above(30), False), (above(20), True), (Between(40, 50), False)])
    3
    """
    edges = [edge for question, _ in said for edge in _edges(question)]
    if not edges:
        return len(said)
    at = np.unique(edges)
    y = np.concatenate([at, (at[1:] + at[:-1]) / 2, [at[0] - 1, at[-1] + 1]])
    return int(np.sum([_holds(question, y) == answer for question, answer in said], axis=0).max())


def _edges(question: Question) -> tuple[float, ...]:
    if isinstance(question, Between):
        return question.low, question.high
    return (question.shown / question.weights[0],) if isinstance(question, HalfSpace) else ()


def _holds(question: Question, y: Array) -> Array:
    """Return whether a question holds of each of these numbers."""
    if isinstance(question, Between):
        return (y > question.low) & (y <= question.high)
    return np.asarray(y * question.weights[0] > question.shown) if isinstance(question, HalfSpace) else np.isnan(y)


def by_classes(said: Said, classes: Sequence[Any]) -> int:
    """Return the most answers that a class agrees with.

    >>> cat, dog = Subset(("cat",)), Subset(("dog",))
    >>> by_classes([(cat, True), (dog, True), (cat, True)], ("cat", "dog", "owl"))
    2
    """
    sets = [(set(question.members), answer) for question, answer in said if isinstance(question, Subset)]
    return max(sum((name in members) == answer for members, answer in sets) for name in classes)


def by_orders(said: Said, items: Sequence[Any]) -> int:
    """Return the most answers that an order agrees with: one of each cycle is wrong.

    >>> pairs = [Prefer("a", "b"), Prefer("b", "c"), Prefer("c", "a")]
    >>> by_orders([(pair, True) for pair in pairs], ("a", "b", "c"))
    2
    """
    place = {item: n for n, item in enumerate(items)}
    wins: Counter[tuple[int, int]] = Counter(
        (place[question.first], place[question.second]) if answer else (place[question.second], place[question.first])
        for question, answer in said
        if isinstance(question, Prefer)
    )
    W = np.zeros((len(items), len(items)))
    for (winner, loser), times in wins.items():
        W[winner, loser] += times
        W[loser, winner] -= times
    return round((wins.total() + best_order(W).value) / 2)
