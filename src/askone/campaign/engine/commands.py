"""Commands of people and managers to a campaign, and their results: frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

from askone._common.types import Record
from askone.campaign.engine.training_set import DueFit
from askone.learners.person import is_person
from askone.questions.base import Question
from askone.session.checkpoints import Fit
from askone.store.entries import Row
from askone.store.notices import Status

SKIP, CANNOT_TELL = "skip", "cannot tell"
REASONS = (SKIP, CANNOT_TELL)
"""Why a question is left: for somebody else, or for good."""


PERSON, PROGRAM = "person", "program"
ANNOTATORS = (PERSON, PROGRAM)
"""Who answers: the rates of programs are found like everybody's, but they are no people at work and have no speed."""
MOST_COST = 1e9
"""Of one answer, in the campaign's currency."""


@final
@dataclass(frozen=True)
class Next:
    """A question, please; ``ahead``: and what comes after it."""

    person: str
    ahead: bool = True


@final
@dataclass(frozen=True)
class Answer:
    """Yes or no to the question held under ``lease``; ``id`` is new for each: sent again, the answer counts once.

    ``epsilon`` is by which it was made private before it was sent: the campaign's own, or None where it has none.
    ``kind`` says whether a program answers (see ``ANNOTATORS``), ``cost`` what the answer did.
    """

    person: str
    lease: str
    answer: bool
    id: str
    took: float | None = None
    epsilon: float | None = None
    kind: str = PERSON
    cost: float | None = None


@final
@dataclass(frozen=True)
class AnswerBag:
    """Yes or no to each question of a bag, held under these leases.

    Sent again under the same ``id``, the answers count once (see ``session.bags``).
    """

    person: str
    leases: tuple[str, ...]
    answers: tuple[bool, ...]
    id: str
    took: float | None = None
    kind: str = PERSON

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each answer: with a sign that nobody's own id has."""
        return tuple(f"{self.id}/{place}" for place in range(len(self.leases)))


@final
@dataclass(frozen=True)
class Skip:
    """No answer: ``reason`` says whether somebody else may know (see ``REASONS``)."""

    person: str
    lease: str
    id: str
    reason: str = SKIP
    kind: str = PERSON


@final
@dataclass(frozen=True)
class Flag:
    """Say that something is wrong with this question or its row; it stays."""

    person: str
    lease: str
    id: str
    reason: str


@final
@dataclass(frozen=True)
class Undo:
    """Take back this person's last answer or skip, and have the question again."""

    person: str
    id: str


@final
@dataclass(frozen=True)
class Renew:
    """These leases are still in use."""

    person: str
    leases: tuple[str, ...]


@final
@dataclass(frozen=True)
class Release:
    """These questions may go to somebody else."""

    person: str
    leases: tuple[str, ...]


@dataclass(frozen=True)
class ManagerCommand:
    """What a manager says; ``id`` is new for each: sent again, it counts once."""

    who: str
    id: str


@final
@dataclass(frozen=True)
class SetStatus(ManagerCommand):
    """Run, pause or close."""

    status: Status


@final
@dataclass(frozen=True)
class SetBudget(ManagerCommand):
    """Set the budget: the number of answers in all (None: no limit)."""

    budget: int | None


@final
@dataclass(frozen=True)
class ChangeSettings(ManagerCommand):
    """Have other settings from here on: those named, as in the settings' JSON (see ``Settings.changed``)."""

    settings: Record


@final
@dataclass(frozen=True)
class Exclude(ManagerCommand):
    """Nothing that this person said counts; others are asked instead."""

    person: str


@final
@dataclass(frozen=True)
class Include(ManagerCommand):
    """Let a person's answers count again."""

    person: str


@final
@dataclass(frozen=True)
class ResumePerson(ManagerCommand):
    """Ask a person again who was paused, as somebody new: for what they said before they are not paused again."""

    person: str


@final
@dataclass(frozen=True)
class Rule(ManagerCommand):
    """Decide a question, whatever people said; with None as the answer, what they said counts again."""

    number: int
    answer: bool | None


@final
@dataclass(frozen=True)
class Resolve(ManagerCommand):
    """A flag was seen to."""

    flag: str


@final
@dataclass(frozen=True, eq=False)
class TakeFit:
    """Let a fit take effect from here on; not if its lessons changed meanwhile, or another process was first."""

    due: DueFit
    fit: Fit


Said = Next | Answer | AnswerBag | Skip | Flag | Undo | Renew | Release
"""What people who answer say."""
Request = Said | SetStatus | SetBudget | ChangeSettings | Exclude | Include | ResumePerson | Rule | Resolve | TakeFit
State = Literal["question", "waiting", "paused", "closed", "spent", "resting", "done"]
"""Waiting for questions that others hold; spent is the budget; resting: this person is paused (``pause_below``);
done: there is no more for this person."""


@final
@dataclass(frozen=True)
class Served:
    """A question for one person, theirs until ``expires``."""

    lease: str
    number: int
    question: Question
    row: Row
    expires: float


@final
@dataclass(frozen=True)
class Ahead:
    """The next question after a yes and after a no: the same row and lease."""

    yes: Served
    no: Served


@final
@dataclass(frozen=True)
class Serving:
    """The question that a person has before them, or in ``state`` the reason why there is none."""

    state: State
    question: Served | None = None
    ahead: Ahead | None = None
    mine: int = 0
    left: int | None = None
    undoable: int = 0
    duplicate: bool = False
    bag: tuple[Served, ...] = ()
    """The same about other rows, to be answered at once (``AnswerBag``) or one after the other."""


@final
@dataclass(frozen=True)
class Done:
    """Done.  ``count`` is how many things it concerned, where they were counted."""

    count: int = 0


Result = Serving | Done


def people_of(requests: Sequence[Request]) -> list[str]:
    """Return who is to be served."""
    return [one.person for one in requests if isinstance(one, Said) and is_person(one.person)]


def leases_of(requests: Sequence[Request]) -> list[str]:
    """Return which leases are spoken of."""
    single = [one.lease for one in requests if isinstance(one, Answer | Skip | Flag)]
    return single + [lease for one in requests if isinstance(one, Renew | Release | AnswerBag) for lease in one.leases]


def ids_of(requests: Sequence[Request]) -> list[str]:
    """Return events that may have happened already."""
    bags = [name for one in requests if isinstance(one, AnswerBag) for name in one.ids]
    return bags + [one.id for one in requests if not isinstance(one, Next | Renew | Release | TakeFit | AnswerBag)]
