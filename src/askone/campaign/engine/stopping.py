"""When a campaign has reached its target: it pauses, once; whoever goes on after that wants to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import attrgetter
from typing import final

from askone.campaign.engine.measurement import Scored, reached
from askone.campaign.engine.projection import STOPPED, Projection
from askone.campaign.kinds.base import Kind
from askone.campaign.settings.settings import Settings
from askone.store.notices import StatusChanged

_PATIENCE = 200
"""Whether the target is reached is looked at again after so small a part more answers: all scores are read for it."""
_NUMBER = attrgetter("number")


def scored(projection: Projection, as_asked: bool = False) -> Iterator[Scored]:
    """Yield what the exams scored, in the order of their answers; ``as_asked``: in that of their questions.

    A question that is asked again, as after somebody was excluded, measures the model that asked it first.
    """
    lessons = projection.lessons.all
    for place, lesson in enumerate(sorted(lessons, key=_NUMBER) if as_asked else lessons, start=1):
        asking = projection.asked[lesson.number]
        if asking.score is not None:
            most, heaviest = (math.inf if bound is None else bound for bound in (asking.most, asking.heaviest))
            score, other = asking.score[lesson.answer], asking.score[not lesson.answer]
            yield Scored(place, score, other, most, heaviest, asking.part)


def is_reached(projection: Projection, labels: Kind, target: float) -> bool:
    """Return whether the exams say that the error, of a share what lacks to 1, is below a target."""
    found = [one for one in scored(projection) if math.isfinite(one.most)]
    if labels.has_far_exams:  # those of older versions asked about a part alone
        found = [one for one in found if one.part is not None]
    if labels.is_share:
        found = [one._replace(score=1 - one.score, other=1 - one.other) for one in found]
    return reached(found, target, projection.slips.of_majority(projection.overlap).least)


@final
class Stopping:
    """Remembers at how many answers the target was looked at last."""

    def __init__(self) -> None:
        self._judged = 0

    def due(self, projection: Projection, settings: Settings) -> StatusChanged | None:
        """Return the pause of a campaign whose measured error is below its target, if it is to be paused now."""
        target = settings.ask.target
        if target is None or projection.stopped or projection.status != "running":
            return None
        lessons = len(projection.lessons.all)
        if abs(lessons - self._judged) * _PATIENCE < lessons:
            return None
        self._judged = lessons
        if not is_reached(projection, settings.labels, target):
            return None
        return StatusChanged(f"{STOPPED}{projection.seq + 1}", "paused")
