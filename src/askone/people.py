"""Many people: what they say together (``aggregate``), and made-up ones who answer in simulations.

Of the made-up ones, careful, sloppy, tired and worse, each is a small value that says how often somebody answers yes
where no is true, g(n), and no where yes is true, l(n), n being how many answers they gave before:

    P(yes) = g(n) + (1 - g(n) - l(n)) p ,    p = 1 where yes is true, else 0.

One uniform u decides: they say yes if u < g where no is true, and if u < 1 - l where yes is.  It depends on the seed,
the person and n alone; for people who collude on the seed, their group and the row: they make the same slips.

>>> import numpy as np
>>> import askone
>>> from askone import people
>>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 1))
>>> model = askone.OneBitRegressor(-2, 2, random_state=0)
>>> model = model.fit(X, np.sin(4 * X[:, 0]), people={"ann": people.careful(), "bob": "careful", "eve": "spammer"})
>>> min(model.people_.values(), key=lambda one: one.bits).name
'eve'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from askone._common import random_table
from askone._common.validate import as_count, as_number, as_seed
from askone.errors import InvalidArgument
from askone.learners.abilities import Opinions
from askone.learners.people.aggregation import Aggregated as Aggregated
from askone.learners.people.aggregation import aggregate as aggregate
from askone.learners.person import Person, as_person
from askone.questions.base import Answer

_MOST = 1000  # people
_HOUR = 900  # answers, at 4 seconds each


@final
@dataclass(frozen=True)
class Behaviour:
    """How somebody answers: see the module, and the functions that make one.

    ``yes`` and ``no`` are g and l at first.  From answer ``swapped[0]`` on, up to ``swapped[1]``, their keys are
    swapped.  After ``tires`` answers they err ever more, and after as many again they answer at random.  Those of one
    ``group`` make the same slips about a row.

    >>> [tired(after=100, error=0.25).rates(n) for n in (0, 100, 150, 500)]
    [(0.25, 0.25), (0.25, 0.25), (0.375, 0.375), (0.5, 0.5)]
    >>> swapped(30).rates(29), swapped(30).rates(30)
    ((0.98, 0.98), (0.02, 0.02))
    """

    kind: str
    yes: float = 0.0
    no: float = 0.0
    swapped: tuple[int, int] = (0, 0)
    tires: int | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        as_number(self.yes, "yes", 0.0, 1.0)
        as_number(self.no, "no", 0.0, 1.0)
        for answers in self.swapped:
            as_count(answers, "swapped")
        if self.tires is not None:
            as_count(self.tires, "tires", 1)

    def rates(self, given: int) -> tuple[float, float]:
        """Return g and l after so many answers."""
        yes, no = self.yes, self.no
        if self.tires is not None:
            worn = min(max(given / self.tires - 1.0, 0.0), 1.0)
            yes, no = yes + worn * (0.5 - yes), no + worn * (0.5 - no)
        return (1.0 - yes, 1.0 - no) if self.swapped[0] <= given < self.swapped[1] else (yes, no)


def careful(error: float = 0.02) -> Behaviour:
    """Return somebody who errs seldom."""
    return Behaviour("careful", error, error)


def sloppy(error: float = 0.15) -> Behaviour:
    """Return somebody who errs often."""
    return Behaviour("sloppy", error, error)


def yes_sayer(yes: float = 0.35) -> Behaviour:
    """Return somebody who often says yes where no is true, and never the contrary."""
    return Behaviour("yes-sayer", yes, 0.0)


def spammer(yes: float = 0.5) -> Behaviour:
    """Return somebody who does not look, and says yes so often."""
    return Behaviour("spammer", yes, 1.0 - yes)


def swapped(answers: int = 50, first: int = 0, error: float = 0.02) -> Behaviour:
    """Return somebody careful who takes yes for no in so many answers, from their answer number ``first`` on."""
    return Behaviour("swapped", error, error, swapped=(first, first + answers))


def tired(after: int = _HOUR, error: float = 0.02) -> Behaviour:
    """Return somebody careful who errs ever more after so many answers (an hour's, at 4 seconds each)."""
    return Behaviour("tired", error, error, tires=after)


def colluding(error: float = 0.15, group: str = "they") -> Behaviour:
    """Return somebody who says what the others of their group say: of each row, all of them err or none."""
    return Behaviour("colluding", error, error, group=group)


KINDS: Final[dict[str, Callable[..., Behaviour]]] = {
    "careful": careful, "sloppy": sloppy, "yes-sayer": yes_sayer, "spammer": spammer, "swapped": swapped,
    "tired": tired, "colluding": colluding,
}  # fmt: skip
"""All kinds by their names."""
_PART = re.compile(r"(?:(\d+)\s+)?([a-z-]+?)s?(?:\s+(\d*\.?\d+))?")


def as_people(people: object) -> dict[str, Behaviour]:
    """Return people by their names: a dictionary of behaviours or kinds, a list of them, or a text.

    In a text, a number before a kind says how many, and one after it is the first argument of its function.

    >>> list(as_people("2 careful, 1 sloppy 0.2, 1 spammer"))
    ['careful 1', 'careful 2', 'sloppy 1', 'spammer 1']
    >>> as_people({"ann": "careful", "bob": sloppy(0.2)})["bob"].yes
    0.2
    """
    if isinstance(people, Mapping):
        named = {as_person(name): _as_behaviour(one) for name, one in people.items()}
    elif isinstance(people, str):
        named = _numbered(one for part in people.split(",") for one in _parsed(part.strip()))
    elif isinstance(people, Iterable):
        named = _numbered(_as_behaviour(one) for one in people)
    else:
        raise _refused(people)
    if not 1 <= len(named) <= _MOST:
        raise InvalidArgument("people", f"1 to {_MOST} of them", len(named))
    return named


def _numbered(habits: Iterable[Behaviour]) -> dict[str, Behaviour]:
    """Return people named by their kind, the first of each with a 1."""
    seen: Counter[str] = Counter()
    named = {}
    for one in habits:
        seen[one.kind] += 1
        named[f"{one.kind} {seen[one.kind]}"] = one
    return named


def _parsed(part: str) -> list[Behaviour]:
    match = _PART.fullmatch(part)
    if match is None or match[2] not in KINDS:
        raise _refused(part)
    count = as_count(int(match[1] or 1), "people", 1, _MOST)
    first = [] if match[3] is None else [float(match[3]) if "." in match[3] else int(match[3])]
    try:
        return [KINDS[match[2]](*first)] * count
    except InvalidArgument as error:
        raise InvalidArgument("people", f"{match[2]} with {error.allowed}", part) from error


def _as_behaviour(one: object) -> Behaviour:
    if isinstance(one, str) and one in KINDS:
        return KINDS[one]()
    if not isinstance(one, Behaviour):
        raise _refused(one)
    return one


def _refused(got: object) -> InvalidArgument:
    allowed = f'such as "4 careful, 1 spammer", or behaviours by names; kinds are {", ".join(KINDS)}'
    return InvalidArgument("people", allowed, repr(got))


@final
class SimulatedCrowd:
    """People of whom one, drawn at random, answers each question, or ``overlap`` of them.

    >>> crowd = SimulatedCrowd({"eve": spammer(yes=1.0)})
    >>> crowd.say(0, False), [(one.name, one.answers, one.specificity) for one in crowd.people()]
    (('eve', True), [('eve', 1, 0.0)])
    """

    def __init__(self, people: object, seed: int = 0, overlap: int = 1) -> None:
        self.habits = as_people(people)
        self._names, self._seed, self._asked = list(self.habits), as_seed(seed), 0
        self._overlap = as_count(overlap, "overlap", 1)
        if self._overlap > len(self._names):
            raise InvalidArgument("people", f"at least {overlap}, as overlap is", len(self._names))
        self._rates: dict[str, list[tuple[float, float]]] = {name: [] for name in self._names}

    def say(self, row: int, truth: Answer) -> tuple[str | None, bool | None]:
        """Return who answers, and what, where this is true of a row; the majority of several, which is nobody's.

        A tie is no answer.
        """
        said = self.opinions(row, truth)
        return said[0][0] if len(said) == 1 else None, majority(said)

    def opinions(self, row: int, truth: Answer) -> list[tuple[str, bool]]:
        """Return who comes next, and what each of them says where this is true of a row."""
        if not isinstance(truth, bool):
            raise InvalidArgument("people", "None: they answer yes or no, and this is another question", truth)
        return [(name, self.answer(name, row, truth)) for name in self.coming()]

    def coming(self) -> list[str]:
        """Return who comes next."""
        lots = random_table.uniforms(self._seed, self._asked, 1, len(self._names), random_table.PERSON)[0]
        self._asked += 1
        return [self._names[place] for place in np.argsort(lots)[: self._overlap]]

    def answer(self, name: str, row: int, truth: bool) -> bool:
        """Return what somebody says where this is true of a row."""
        habits, before = self.habits[name], self._rates[name]
        yes, no = habits.rates(len(before))
        secret = f"{name} {len(before)}" if habits.group is None else f"{habits.group} about {row}"
        before.append((yes, no))
        [u] = random_table.by_name(secret, 1, self._seed)
        return u < (1.0 - no if truth else yes)

    def people(self) -> list[Person]:
        """Return how each of them answered so far, by the means of their true rates, which need no intervals."""
        found = []
        for name, given in self._rates.items():
            rates = np.mean(given or [self.habits[name].rates(0)], axis=0)
            found.append(Person.of(name, len(given), rates, np.stack([rates, rates], axis=1)))
        return found


def majority(opinions: Opinions) -> bool | None:
    """Return what most people said; None: as many said the contrary.

    >>> majority([("ann", True), ("bob", False), ("cid", True)])
    True
    """
    yes = sum(bit for _, bit in opinions)
    return None if 2 * yes == len(opinions) else 2 * yes > len(opinions)


People = str | Mapping[str, Behaviour | str] | Iterable[Behaviour | str] | SimulatedCrowd
"""People as a simulation takes them: see ``as_people``."""


def as_crowd(people: People | None, seed: int) -> SimulatedCrowd | None:
    """Return people as a crowd, unless they are one or nobody."""
    return people if people is None or isinstance(people, SimulatedCrowd) else SimulatedCrowd(people, seed)
