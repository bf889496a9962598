"""Whether people agree with themselves: answers about one row that cannot all be right."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import Final

from askone.campaign.engine.projection import Projection
from askone.campaign.engine.training_set import questions_of
from askone.campaign.kinds.base import Kind
from askone.questions.base import Question

MOST: Final = 5_000
"""Questions that are looked at, the latest."""


def contradictions(projection: Projection, labels: Kind) -> tuple[Counter[str], Counter[str]]:
    """Return how many answers of each person contradict others of theirs, and how many could have.

    These are about rows of which they were asked several times; the first is as few as have to be wrong.
    """
    at_odds, compared = Counter[str](), Counter[str]()
    if projection.flip or (projection.pool.per_row == 1 and not projection.rowless):  # flips contradict by themselves
        return at_odds, compared
    asked = list(islice(reversed(projection.asked.values()), MOST))
    said: dict[tuple[str, int], list[tuple[Question, bool]]] = defaultdict(list)
    for one, question in zip(asked, questions_of(asked), strict=True):
        for given in one.given:
            said[given.who, one.position].append((question, given.answer))
    for (who, _), answers in said.items():
        if len(answers) > 1:
            compared[who] += len(answers)
            at_odds[who] += len(answers) - labels.compatible(answers)
    return at_odds, compared
