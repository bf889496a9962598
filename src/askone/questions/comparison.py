"""Questions about an order of items: pairs, the best of a few, weighted pairs."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.validate import as_number
from askone.errors import InvalidAnswer, InvalidArgument
from askone.labels.base import Name, as_names, check_template
from askone.labels.wording import USUAL, number_text
from askone.questions.base import HONEST, Answer, ErrorRates, Question, YesNo, listed, yes_or_no

EQUAL = "about equal"
"""What is said of two items of which neither is better."""
_LONGEST, _SHOWN = 12, 6  # more pairs than the first are not read in a sentence


@final
@dataclass(frozen=True)
class Prefer(YesNo):
    """Do you prefer ``first`` or ``second``?  True: the first.

    ``probability`` is the one the pair was drawn with; ``yes`` and ``no`` are what each answer
    teaches, where that was fixed when it was asked.

    >>> question = Prefer("tea", "coffee")
    >>> str(question), question.answer(["milk", "coffee", "tea"]), question.answers
    ('Do you prefer tea or coffee?', False, ('tea', 'coffee'))
    >>> Prefer("tea", "tea")
    Traceback (most recent call last):
    askone.errors.InvalidArgument: second must be another item than the first; got 'tea'
    """

    first: Name
    second: Name
    probability: float = 1.0
    yes: float | None = None
    no: float | None = None
    number: int | None = None
    learnt: int | None = None
    wording: str = ""
    slips: ErrorRates = field(default=HONEST, compare=False, repr=False)
    kind: ClassVar[str] = "prefer"

    def __post_init__(self) -> None:
        if self.first == self.second or str(self.first) == str(self.second):
            raise InvalidArgument("second", "another item than the first", repr(self.second))
        as_probability(self.probability)
        if (self.yes is None) != (self.no is None):
            raise InvalidArgument("no", "given where yes is", self.no)
        for lesson in (self.yes, self.no):
            if lesson is not None:
                as_number(lesson, "yes")
        check_template(self.wording, "{first}", "{second}")

    def __str__(self) -> str:
        return self.template.format(first=listed([self.first]), second=listed([self.second]))

    @property
    def template(self) -> str:
        """The sentence with places for the items."""
        return self.wording or USUAL["pair"]

    @property
    def answers(self) -> tuple[Name, Name]:
        """What True and False stand for."""
        return self.first, self.second

    def holds(self, label: ArrayLike) -> bool:
        """Return whether an order puts the first above the second."""
        order = order_of(label)
        return place(order, self.first) < place(order, self.second)

    def accept(self, answer: object) -> bool:
        """Return a bool (True: the first), or the name of the preferred item."""
        if isinstance(answer, str) and answer in (self.first, self.second):
            return answer == self.first
        return yes_or_no(answer)


@final
@dataclass(frozen=True)
class PreferOrTie(Question):
    """Do you prefer ``first`` or ``second``, or are they about equal?  True: the first; both names: about equal.

    >>> question = PreferOrTie("tea", "coffee")
    >>> str(question), question.accept("coffee"), question.accept("about equal")
    ('Do you prefer tea or coffee, or are they about equal?', False, ('tea', 'coffee'))
    """

    first: Name
    second: Name
    probability: float = 1.0
    number: int | None = None
    learnt: int | None = None
    wording: str = ""
    slips: ErrorRates = field(default=HONEST, compare=False, repr=False)
    kind: ClassVar[str] = "prefer-or-tie"

    def __post_init__(self) -> None:
        self._pair()  # checked as one is

    def _pair(self) -> Prefer:
        return Prefer(self.first, self.second, self.probability, wording=self.wording)

    def __str__(self) -> str:
        return f"{str(self._pair()).rstrip(' ?')}, or are they {EQUAL}?"

    @property
    def answers(self) -> tuple[Name, Name, Name]:
        """What may be said."""
        return self.first, self.second, EQUAL

    def answer(self, label: ArrayLike) -> bool:
        """Return whether an order puts the first above the second: it has no ties."""
        return self._pair().holds(label)

    def accept(self, answer: object) -> Answer:
        """Return a bool (True: the first), or both names; taken are these, a name, and "about equal"."""
        both = (self.first, self.second)
        if isinstance(answer, tuple | list) and set(answer) == set(both) and len(answer) == 2:
            return both
        if isinstance(answer, str) and answer == EQUAL and EQUAL not in both:
            return both
        return self._pair().accept(answer)


@final
@dataclass(frozen=True)
class BestOf(Question):
    """Which of these do you like best?  One answer that implies k - 1 comparisons.

    ``probability`` is what each of them is taken to be drawn with (1/P for P pairs).  Which ones it
    implies depends on the answer, so they are not unbiased as drawn pairs are.  Under Luce's axiom (an
    item is chosen in proportion to a weight of its own, whatever the company) every comparison of the
    winner is a fair draw from its pair, given that one of the two won: so Bradley-Terry and the
    logistic loss of pairs still learn the right odds.  Borda scores come out skewed towards the better
    items, which are compared more often.  And whoever never wavers never compares the k - 1 items he
    likes least with each other: mix in pairs.

    >>> question = BestOf(("tea", "coffee", "milk"))
    >>> str(question), question.accept("milk")
    ('Which of these do you like best: tea, coffee, milk?', ('milk',))
    >>> [(str(pair), answer) for pair, answer in question.comparisons("coffee")]
    [('Do you prefer tea or coffee?', False), ('Do you prefer coffee or milk?', True)]
    """

    items: tuple[Name, ...]
    probability: float = 1.0
    number: int | None = None
    learnt: int | None = None
    kind: ClassVar[str] = "best-of"

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", as_names(self.items, "items", "items"))
        as_probability(self.probability)

    def __str__(self) -> str:
        return f"Which of these do you like best: {listed(self.items)}?"

    @property
    def answers(self) -> tuple[Name, ...]:
        """What may be said."""
        return self.items

    def answer(self, label: ArrayLike) -> tuple[Name, ...]:
        """Return the one that the order has highest."""
        order = order_of(label)
        return (min(self.items, key=lambda item: place(order, item)),)

    def accept(self, answer: object) -> tuple[Name, ...]:
        """Return one of the items, alone or as a list of one."""
        alone = answer if isinstance(answer, tuple | list) else (answer,)
        named = len(alone) == 1 and isinstance(alone[0], str | int | float | np.generic)
        if not named or isinstance(alone[0], bool | np.bool_) or alone[0] not in self.items:
            raise InvalidAnswer("answer", f"one of: {listed(self.items)}", repr(answer))
        return (self.items[self.items.index(alone[0])],)

    def comparisons(self, winner: object) -> list[tuple[Prefer, bool]]:
        """Return the pairs that the answer decides, listed as the items are; each counts as one answer."""
        won = self.items.index(self.accept(winner)[0])
        carried: dict[str, Any] = {"probability": self.probability, "number": self.number, "learnt": self.learnt}
        pairs = [(min(won, other), max(won, other)) for other in range(len(self.items)) if other != won]
        return [(Prefer(self.items[a], self.items[b], **carried), a == won) for a, b in pairs]


@final
@dataclass(frozen=True)
class PairSum(YesNo):
    """Is sum_{i<j} w_ij phi_ij(y) above the threshold?  phi_ij(y) = 1 if y has i above j, else -1.

    It reads as statements with weights: those that hold must outweigh
    (threshold + sum |w|) / 2.  ``weights`` has one number for each pair of ``items``, in the order
    (0, 1), (0, 2), ...; people are shown three digits of each, the log has all of them.

    >>> question = PairSum(("tea", "coffee", "milk"), (0.6, 0.0, -0.8), 0.2)
    >>> str(question)
    'Of "milk above coffee" (0.8), "tea above coffee" (0.6): do those that hold weigh more than 0.8 in all?'
    >>> question.answer(["tea", "milk", "coffee"]), question.answer(["tea", "coffee", "milk"])
    (True, False)
    """

    items: tuple[Name, ...]
    weights: tuple[float, ...]
    threshold: float
    number: int | None = None
    learnt: int | None = None
    kind: ClassVar[str] = "pair-sum"

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", as_names(self.items, "items", "items"))
        object.__setattr__(self, "weights", tuple(self.weights))
        P = len(self.items) * (len(self.items) - 1) // 2
        if len(self.weights) != P or not all(map(math.isfinite, self.weights)) or not any(self.weights):
            raise InvalidArgument("weights", f"{P} finite numbers, one per pair, not all 0", self.weights)
        as_number(self.threshold, "threshold")

    @cached_property
    def _statements(self) -> list[tuple[float, Name, Name]]:
        """(weight, above, below), the weightiest first."""
        pairs = zip(self.weights, combinations(self.items, 2), strict=True)
        turned = [(abs(w), a, b) if w > 0 else (abs(w), b, a) for w, (a, b) in pairs if w != 0]
        return sorted(turned, key=lambda statement: -statement[0])

    def __str__(self) -> str:
        said = [f'"{above} above {below}" ({_short(w)})' for w, above, below in self._statements]
        if len(said) > _LONGEST:
            mark = hashlib.blake2b(json.dumps([self.items, self.weights]).encode(), digest_size=6).hexdigest()
            said = [*said[:_SHOWN], f"… ({len(said) - _SHOWN} more, list {mark})"]
        half = (self.threshold + sum(abs(w) for w in self.weights)) / 2
        return f"Of {', '.join(said)}: do those that hold weigh more than {_short(half)} in all?"

    def holds(self, label: ArrayLike) -> bool:
        """Return whether the weighted sum is above the threshold."""
        order = order_of(label)
        ranks = [place(order, item) for item in self.items]
        signs = [1.0 if a < b else -1.0 for a, b in combinations(ranks, 2)]
        return math.fsum(w * s for w, s in zip(self.weights, signs, strict=True)) > self.threshold


def as_probability(value: object) -> None:
    """A number above 0, at most 1."""
    if as_number(value, "probability", 0.0, 1.0) == 0.0:
        raise InvalidArgument("probability", "a number above 0", value)


def order_of(label: ArrayLike) -> list[Any]:
    """Return an order as a list of names."""
    names: list[Any] = np.asarray(label, dtype=object).reshape(-1).tolist()
    return names


def place(order: list[Any], item: Name) -> int:
    """Return where an item stands in an order."""
    if item not in order:
        raise InvalidArgument("label", f"an order that holds {item!r}", f"[{listed(order)}]")
    return order.index(item)


def _short(weight: float) -> str:
    return number_text(float(f"{weight:.3g}"))
