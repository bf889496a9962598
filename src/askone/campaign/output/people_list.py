"""People as a manager looks at them: what each answered, how well, and what an answer of theirs tells."""

from __future__ import annotations

from typing import Any

from askone.campaign.engine.commands import PERSON, PROGRAM
from askone.campaign.engine.pausing import known_people
from askone.campaign.engine.projection import Projection
from askone.campaign.output.consistency import contradictions
from askone.campaign.settings.settings import Settings
from askone.learners.person import rates_to_json
from askone.store.entries import Entry

_NOTHING = 0.01  # bits: what tells less has no price that means anything


def people(projection: Projection, settings: Settings) -> list[dict[str, Any]]:
    """Return everybody who answered, in plain JSON values."""
    agreement, known = projection.agreement(), known_people(projection, now=True)
    at_odds, compared = contradictions(projection, settings.labels)
    found = []
    for who, person in projection.people.items():
        rates, (alike, of) = known.get(projection.trainer.name_now(who)), agreement.get(who, (0, 0))
        cost = person.cost_of_answer(settings.ask.price)
        tells = None if rates is None else rates.bits
        worth = None if tells is None or cost is None or tells < _NOTHING else cost / tells
        found.append({
            "id": who, "kind": PROGRAM if person.program else PERSON, **person.to_json(),
            "cost": cost, "cost_per_bit": worth,
            "agreement": alike / of if of else None, "agreement_of": of,
            "contradictions": at_odds[who], "contradictions_of": compared[who],
            "rates": None if rates is None else rates_to_json(rates),
            "excluded": who in projection.excluded, "paused": _pause(projection.paused.get(who)),
            "privacy": settings.privacy.spent(person.answers),
        })  # fmt: skip
    return found


def _pause(entry: Entry | None) -> dict[str, Any] | None:
    """Return since when somebody is paused, and why."""
    if entry is None:
        return None
    event = entry.event.to_json()
    return {"at": entry.at, **{name: event[name] for name in ("bits", "below", "answers")}}
