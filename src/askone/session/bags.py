"""Bags: one question about several rows at once, "Are all of these cats?", and halves of them after a no.

A bag puts single questions together, each about a row of its own, where a yes to all is likely.  A yes to the bag is a
yes to each.  A no is split in two, and what the halves imply is not asked: where something is wrong with a bag and
nothing with its first half, it is in the second.  In the end each single question has its answer, the same as if it
had been asked alone by somebody who does not err: whatever learns from single answers by likelihood learns the same.  A
no by mistake, and then a yes to all that is asked, ends as a no to the last row, which nobody looked at by itself.

With p_i the chance of a yes to question i, and answers that do not depend on each other, a bag tells sum_i h(p_i) nats,
h(p) = -p log p - (1 - p) log(1 - p).  It takes E(G) seconds,

    E(G) = s(G) + (1 - P(G)) F(G),   P(G) = prod_G p_i,
    F(G) = s(H) + a F(R) + (1 - a) (F(H) + E(R)),   a = P(H) (1 - P(R)) / (1 - P(G)),   F of one row = 0,

where H and R are its halves, s(G) = press + look |G| the time of one question about |G| rows, and F(G) what is still to
come when something is known to be wrong.  The bag that tells most per second is asked, if that is more than the best
single question tells, of rows of which the model is nearly sure (p_i >= 0.9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import AlreadyAnswered
from askone.labels.classes import FiniteSpace
from askone.learners.abilities import probabilities
from askone.learners.base import Learner
from askone.questions.base import Question, yes_or_no
from askone.questions.subset import Subset

LARGEST = 9
"""Rows of a bag at most: more are not seen at a glance."""
SURE = 0.9
"""The least chance of a yes to each question of a bag: others would be split more often than not."""
EARLY = 10
"""Answers for each class before there are bags: what a model that knows little is sure of, is often wrong."""
_TINY = 1e-9
_CAREFUL = 25.0  # answers: what is believed of a person's time before any is measured counts as so many


@final
@dataclass(frozen=True)
class Pace:
    """How long people take: seconds for a question, and for each row that they look at.

    Measured by least squares with a prior that counts as a few answers; ``sums`` are those of
    1, rows, rows^2, seconds and rows x seconds over all questions whose time is known.

    >>> Pace().seconds(1), Pace().told(9, 12.0).told(9, 12.0).seconds(9) > Pace().seconds(9)
    (2.0, True)
    """

    sums: tuple[float, ...] = (0.0,) * 5

    def told(self, rows: float, seconds: float, questions: int = 1) -> Pace:
        """Return what is known after so many questions, each about so many rows, took so long each."""
        capped = min(seconds, 15.0 + 5.0 * rows)  # whoever left the screen did not look at it
        news = (1.0, rows, rows * rows, capped, rows * capped)
        return Pace(tuple(old + questions * new for old, new in zip(self.sums, news, strict=True)))

    @property
    def rates(self) -> tuple[float, float]:
        """Seconds for a question, and for a row of it."""
        press, look = 1.6, 0.4
        ones, rows, squares, seconds, both = self.sums
        # The prior is worth _CAREFUL questions of one row and as many of nine.
        ones, rows, squares = ones + 2 * _CAREFUL, rows + 10 * _CAREFUL, squares + 82 * _CAREFUL
        seconds, both = seconds + _CAREFUL * (2 * press + 10 * look), both + _CAREFUL * (10 * press + 82 * look)
        slope = (ones * both - rows * seconds) / (ones * squares - rows * rows)
        slope = min(max(slope, 0.02), seconds / rows)
        return max((seconds - slope * rows) / ones, 0.05), slope

    def seconds(self, rows: int) -> float:
        """Return the time of one question about so many rows."""
        press, look = self.rates
        return round(press + look * rows, 9)


def entropy(p: Array) -> Array:
    """Return h(p) in nats.

    >>> entropy(np.array([0.5, 1.0])).round(6).tolist()
    [0.693147, 0.0]
    """
    p = np.clip(p, _TINY, 1.0 - _TINY)
    return np.asarray(-p * np.log(p) - (1.0 - p) * np.log1p(-p)) * (np.minimum(p, 1.0 - p) > _TINY)


def expected(p: Array, cost: Callable[[int], float]) -> Array:
    """Return what bags cost until all is known: E(G) of the module, for each line of chances.

    ``cost`` is that of one question about so many rows; with 1 for each, questions are counted.

    >>> expected(np.array([[0.5, 0.5], [1.0, 1.0]]), lambda rows: 1.0).tolist()
    [2.25, 1.0]
    """
    wrong = 1.0 - p.prod(axis=1)
    return np.asarray(cost(p.shape[1]) + wrong * _further(p, cost))


def _further(p: Array, cost: Callable[[int], float]) -> Array:
    """Return F(G) of the module."""
    if p.shape[1] == 1:
        return np.zeros(len(p))
    first, rest = p[:, : _half(p.shape[1])], p[:, _half(p.shape[1]) :]
    wrong = np.maximum(1.0 - p.prod(axis=1), _TINY)
    right = first.prod(axis=1) * (1.0 - rest.prod(axis=1)) / wrong
    halves = right * _further(rest, cost) + (1.0 - right) * (_further(first, cost) + expected(rest, cost))
    return np.asarray(cost(first.shape[1]) + halves)


def _half(rows: int) -> int:
    return (rows + 1) // 2


@final
class ChosenBag(NamedTuple):
    """Places of the rows, and what the bag tells in nats per second."""

    places: tuple[int, ...]
    rate: float


def best(p: Array, pace: Pace, most: int = LARGEST) -> ChosenBag | None:
    """Return the bag that tells most per second of rows with these chances of a yes; None: there are too few.

    Rows as likely as each other belong together, so that bags are runs of the rows in order of their chances; a row
    whose chance is below 0.9 belongs to none.

    >>> best(np.array([0.99, 0.2, 0.98, 0.97]), Pace(), most=3).places
    (0, 2, 3)
    """
    order = np.argsort(-p, kind="stable")[: int((p >= SURE).sum())]
    ranked, told = p[order], entropy(p[order])
    found: ChosenBag | None = None
    for rows in range(2, min(as_count(most, "most", 2, LARGEST), len(order)) + 1):
        runs = np.lib.stride_tricks.sliding_window_view(ranked, rows)
        rates = np.lib.stride_tricks.sliding_window_view(told, rows).sum(axis=1) / expected(runs, pace.seconds)
        at = int(np.argmax(rates))
        if found is None or rates[at] > found.rate * (1.0 + _TINY):
            found = ChosenBag(tuple(sorted(order[at : at + rows].tolist())), float(rates[at]))
    return found


def best_single(chances: Array, pace: Pace) -> float:
    """Return what the best question about one of these rows tells in nats per second, by the classes' chances.

    A set of about half of the chances tells most; where one class has more than that, the question about it.
    """
    return float(entropy(np.maximum(chances.max(axis=1), 0.5)).max()) / pace.seconds(1)


def best_of_class(chances: Array, pace: Pace, most: int = LARGEST) -> tuple[ChosenBag, int] | None:
    """Return the bag that tells most per second, by the classes' chances n x K, and of which class its rows are.

    None, if a question about one row tells more.

    >>> best_of_class(np.array([[0.98, 0.02], [0.01, 0.99], [0.99, 0.01]]), Pace())
    (ChosenBag(places=(0, 2), rate=...), 0)
    """
    found, least, likeliest = None, best_single(chances, pace), chances.argmax(axis=1)
    for place in np.unique(likeliest).tolist():
        rows = np.flatnonzero(likeliest == place)
        bag = best(chances[rows, place], pace, most)
        if bag is not None and bag.rate > least:
            found, least = (ChosenBag(tuple(rows[list(bag.places)].tolist()), bag.rate), place), bag.rate
    return found


def best_question(
    learner: Learner[Any], state: Any, X: Array, pace: Pace, most: int = LARGEST
) -> tuple[ChosenBag, Subset] | None:
    """Return the bag of these rows to ask about, and the question about each; None: one row tells more.

    There is none early, nor where attributes or sets of classes alone are asked about.
    """
    space, learnt = learner.space, learner.count(state)
    if not isinstance(space, FiniteSpace) or space.attributes or space.sets or learnt < EARLY * space.size:
        return None
    chances = probabilities(learner, state, X) if len(X) else None
    found = None if chances is None else best_of_class(chances, pace, most)
    if found is None:
        return None
    bag, place = found
    return bag, Subset((space.names[place],), wording=space.wording, learnt=learnt)


@final
@dataclass(frozen=True)
class Bag:
    """Some questions that are asked together, by their places, and what is known of their answers by now.

    ``asked`` are the places that are asked about now, ``questions`` counts those that were answered, ``looks`` the rows
    that were looked at for them.

    >>> bag = Bag.of(4)
    >>> bag.asked, bag.told(False).asked, bag.told(False).told(True).asked
    ((0, 1, 2, 3), (0, 1), (2,))
    >>> done = bag.told(False).told(True).told(True)     # so the last one is wrong, which nobody has to say
    >>> done.asked, done.answers, done.questions, done.looks
    ((), (True, True, True, False), 3, 7)
    """

    answers: tuple[bool | None, ...]
    waiting: tuple[tuple[tuple[int, ...], bool], ...]
    """Groups to come, the next one last; whether something is known to be wrong in it."""
    questions: int = 0
    looks: int = 0

    @classmethod
    def of(cls, rows: int) -> Bag:
        """Return a bag of so many rows that nobody was asked about."""
        return cls((None,) * rows, ((tuple(range(rows)), False),))

    @property
    def asked(self) -> tuple[int, ...]:
        """Places of the rows that are asked about now; none when all is known."""
        if not self.waiting:
            return ()
        group, wrong = self.waiting[-1]
        return group[: _half(len(group))] if wrong else group

    def told(self, answer: object) -> Bag:
        """Return the bag after an answer to whether all that is asked about is right."""
        right, asked, (group, wrong) = yes_or_no(answer), self.asked, self.waiting[-1]
        rest = group[len(asked) :]
        later = replace(self, waiting=self.waiting[:-1], questions=self.questions + 1, looks=self.looks + len(asked))
        if rest:  # a half of what is not all right: if the one is, the other is not
            later = later._with(rest, wrong and right)
        return later._known(asked, True) if right else later._with(asked, True)

    def _with(self, group: tuple[int, ...], wrong: bool) -> Bag:
        if wrong and len(group) == 1:
            return self._known(group, False)
        return replace(self, waiting=(*self.waiting, (group, wrong)))

    def _known(self, group: Sequence[int], answer: bool) -> Bag:
        return replace(self, answers=tuple(answer if i in group else old for i, old in enumerate(self.answers)))


@final
@dataclass(frozen=True)
class AskedBag:
    """A bag of questions about rows of a pool: their places in it, and how far it was answered.

    >>> from askone.questions.subset import Subset
    >>> bag = AskedBag((Subset(("cat",)), Subset(("cat",))), (7, 9), Bag.of(2))
    >>> str(bag), bag.asked, bag.told(False).asked, bag.told(False).told(False).answers
    ('Are all of these so? Is it cat?', (7, 9), (7,), (False, None))
    """

    questions: tuple[Question, ...]
    places: tuple[int, ...]
    bag: Bag

    def __str__(self) -> str:
        return f"Are all of these so? {self.questions[0]}"

    @property
    def asked(self) -> tuple[int, ...]:
        """Places of the rows that are asked about now; none when all is known."""
        return tuple(self.places[i] for i in self.bag.asked)

    @property
    def answers(self) -> tuple[bool | None, ...]:
        """The answer to each question, as far as it is known."""
        return self.bag.answers

    def told(self, answer: object) -> AskedBag:
        """Return the bag after the answer about all rows that it asks about now."""
        if not self.bag.asked:
            raise AlreadyAnswered("all rows of this bag are known")
        return replace(self, bag=self.bag.told(answer))
