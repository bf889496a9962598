"""Who is asked no more, because their answers surely tell too little.

    I(a) = H(answer) - H(answer | truth) , at the upper ends of a's sensitivity and specificity, below ``pause_below``:

so that nobody is paused whose answers may be worth more, such as somebody who gave few.  Whoever was paused and is
asked again is somebody new in this: what counts are their answers since.
"""

from __future__ import annotations

from collections.abc import Iterator

from askone.campaign.engine.projection import PAUSED, Projection
from askone.campaign.settings.settings import PeopleSettings
from askone.learners.abilities import KnowsPeople, able
from askone.learners.person import Person
from askone.store.notices import PausedPerson


def known_people(projection: Projection, now: bool = False) -> dict[str, Person]:
    """Return what is known of how people answer, by the learner's names; of some, or of one alone, nothing is.

    ``now``: by all answers so far, for a page; else as the learner takes them.
    """
    learner, known = projection.learner, list[Person]()
    if able(learner, KnowsPeople):
        known = learner.people_now(projection.state) if now else learner.people(projection.state)
    return {one.name: one for one in known if one.known} if len(known) > 1 else {}


def to_pause(projection: Projection, settings: PeopleSettings) -> Iterator[PausedPerson]:
    """Yield the pause of everybody who is to be paused now; it is to be noted before the next one."""
    if settings.pause_below is None:
        return
    known = known_people(projection)
    for who, person in list(projection.people.items()):
        rates, answers = known.get(projection.trainer.name_now(who)), person.answers - person.before
        if rates is None or answers < settings.pause_after or who in projection.excluded or who in projection.paused:
            continue
        bits = rates.bits_interval[1]
        if bits < settings.pause_below:
            yield PausedPerson(f"{PAUSED}{projection.seq + 1}", who, round(bits, 4), settings.pause_below, answers)
