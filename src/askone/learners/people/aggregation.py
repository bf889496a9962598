"""What many people say together about things of which nothing else is known.

Each thing has one truth t, yes in a share s of them.  People's rates (g, l) are found as those of a crowd that answers
to a model (see ``rates``), which here knows s alone; then

    logit P(t | all answers) = logit s + sum_i log P(b_i | yes) / P(b_i | no) .
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, final

import numpy as np
from scipy.special import expit, logit

from askone._common.types import Array
from askone.errors import InvalidArgument
from askone.learners.people.rates import rates_of
from askone.learners.person import Person, as_person

_ROUNDS, _EACH = 4, 20
_LEAST = 0.01  # the share of yes, or of no, at least


@final
class Aggregated(NamedTuple):
    """The chance of yes for each thing, and what is known of each person."""

    chances: dict[Hashable, float]
    people: dict[str, Person]


def aggregate(items: Sequence[Hashable], people: Sequence[str], answers: Sequence[bool]) -> Aggregated:
    """Return what people's answers about things say together: the n-th is about items[n], by people[n].

    Nobody's rate of error is known before; whoever agrees with those who agree with others is believed more.

    >>> items = [thing for thing in range(40) for _ in range(5)]
    >>> truths = np.random.default_rng(0).uniform(size=40) < 0.5
    >>> said = [truths[n] if k < 3 else k == 3 for n in range(40) for k in range(5)]  # the last two say yes, and no
    >>> found = aggregate(items, ["ann", "bob", "cid", "dee", "eve"] * 40, said)
    >>> all((found.chances[n] > 0.5) == truths[n] for n in range(40))
    True
    >>> found.people["ann"].bits > 0.5 > 0.1 > found.people["eve"].bits
    True
    """
    if not len(items) == len(people) == len(answers):
        raise InvalidArgument("answers", f"one for each of {len(items)} items and {len(people)} people", len(answers))
    if not len(items):
        raise InvalidArgument("items", "at least one", "none")
    things, item = _places(items)
    names, place = _places([as_person(one) for one in people])
    bits = np.array([_bit(one) for one in answers])
    share = float(np.clip(bits.mean(), _LEAST, 1.0 - _LEAST))
    for _ in range(_ROUNDS):
        known = np.full(len(bits), share)
        found = rates_of(place, bits, known, len(names), item, rounds=_EACH, doubts=(0.0,), sharper=())
        yes, no = found.habits.rates[place].T
        says = np.where(bits, np.log((1.0 - no) / yes), np.log(no / (1.0 - yes)))
        chances = expit(logit(share) + np.bincount(item, says))
        share = float(np.clip(chances.mean(), _LEAST, 1.0 - _LEAST))
    counts = np.bincount(place).tolist()
    each = zip(names, counts, found.habits.rates, found.intervals, strict=True)
    crowd = {str(name): Person.of(str(name), count, rates, ends) for name, count, rates, ends in each}
    return Aggregated(dict(zip(things, chances.tolist(), strict=True)), crowd)


def _places(values: Sequence[Hashable]) -> tuple[list[Hashable], Array]:
    """Return the values that there are, in the order in which they came, and the place of each among them."""
    known = {one: n for n, one in enumerate(dict.fromkeys(values))}
    return list(known), np.array([known[one] for one in values])


def _bit(answer: object) -> bool:
    if isinstance(answer, bool | np.bool_) or answer in (0, 1):
        return bool(answer)
    raise InvalidArgument("answers", "True or False, each", repr(answer))
