"""Estimates of a campaign's table: its rows, predictions and exams brought together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from askone.campaign.kinds.estimates import Estimate, ExamAnswer
from askone.errors import InvalidArgument
from askone.store.entries import Row

if TYPE_CHECKING:
    from askone.campaign.campaign import Campaign

MOST_GROUPS = 200
_PAGE = 10_000


def estimated(campaign: Campaign, what: str) -> Estimate:
    """Return an estimate of the whole table."""
    predicted = [value for page in _pages(campaign) for value in campaign.predict(_features(page))]
    return campaign.settings.labels.estimate(what, predicted, list(_exams(campaign, predicted).values()))


def estimated_by(campaign: Campaign, what: str, by: str) -> dict[str, Estimate]:
    """Return an estimate of each group of rows that have the same value in a column, the largest group first."""
    predicted, groups = list[Any](), dict[str, list[int]]()
    for page in _pages(campaign):
        predicted += campaign.predict(_features(page))
        for row in page:
            if by not in row.content:
                raise InvalidArgument("by", f"one of the columns {', '.join(row.content)}", repr(by)[:60])
            groups.setdefault(str(row.content[by]), []).append(row.position)
        if len(groups) > MOST_GROUPS:
            raise InvalidArgument("by", f"a column with at most {MOST_GROUPS} different values", repr(by))
    exams, labels = _exams(campaign, predicted), campaign.settings.labels
    largest = sorted(groups.items(), key=lambda group: -len(group[1]))
    return {
        name: labels.estimate(
            what, [predicted[place] for place in places], [exams[place] for place in exams if place in set(places)]
        )
        for name, places in largest
    }


def _pages(campaign: Campaign) -> Iterator[list[Row]]:
    return campaign.store.row_pages(campaign.name, _PAGE)


def _features(page: list[Row]) -> Any:
    return np.array([row.features for row in page], dtype=np.float64)


def _exams(campaign: Campaign, predicted: list[Any]) -> dict[int, ExamAnswer]:
    """Return the exams that were answered, in the order of their answers, by row: a row is asked once."""
    projection, found = campaign.projection, dict[int, ExamAnswer]()
    for lesson in projection.lessons.all:
        asking = projection.asked[lesson.number]
        if asking.score is not None:
            score = asking.score[lesson.answer]
            found[asking.position] = ExamAnswer(asking.question, lesson.answer, score, predicted[asking.position])
    return found
