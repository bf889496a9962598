"""Estimates of a campaign's table: its rows, predictions and exams brought together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from askone.campaign.engine.measurement import corrected
from askone.campaign.engine.training_set import AskedQuestion, questions_of
from askone.campaign.kinds.estimates import Estimate, ExamAnswer
from askone.errors import InvalidArgument
from askone.questions.base import Question
from askone.store.entries import Row

if TYPE_CHECKING:
    from askone.campaign.campaign import Campaign

Scored = tuple[AskedQuestion, Question, bool]
"""An exam that was answered."""
MOST_GROUPS = 200
_PAGE = 10_000


def estimated(campaign: Campaign, what: str) -> Estimate:
    """Return an estimate of the whole table."""
    predicted = [value for page in _pages(campaign) for value in campaign.predict(_features(page))]
    return _estimate(campaign, what, predicted, _scored(campaign), range(len(predicted)))


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
    largest = sorted(groups.items(), key=lambda group: -len(group[1]))
    scored = _scored(campaign)
    return {name: _estimate(campaign, what, predicted, scored, places) for name, places in largest}


def _estimate(
    campaign: Campaign, what: str, predicted: list[Any], scored: Sequence[Scored], places: Sequence[int]
) -> Estimate:
    """Return an estimate of some rows; what is not known of people's slips makes its interval wider."""
    projection, rows, those = campaign.projection, [predicted[place] for place in places], set(places)
    among = [one for one in scored if one[0].position in those]
    slips = projection.slips.of_majority(projection.overlap)

    def at(slip: float) -> Estimate:
        return campaign.settings.labels.estimate(what, rows, _exams(among, predicted, slip))

    found = at(slips.rate)
    return found.widened(*(at(end).value - found.value for end in (slips.low, slips.high)))


def _pages(campaign: Campaign) -> Iterator[list[Row]]:
    return campaign.store.row_pages(campaign.name, _PAGE)


def _features(page: list[Row]) -> Any:
    return np.array([row.features for row in page], dtype=np.float64)


def _scored(campaign: Campaign) -> list[Scored]:
    """Return the exams that were answered, in the order of their answers."""
    projection = campaign.projection
    lessons = ((projection.asked[lesson.number], lesson.answer) for lesson in projection.lessons.all)
    exams = [(asking, answer) for asking, answer in lessons if asking.score is not None and asking.role != "check"]
    questions = questions_of([asking for asking, _ in exams])
    return [(asking, question, answer) for (asking, answer), question in zip(exams, questions, strict=True)]


def _exams(scored: Sequence[Scored], predicted: list[Any], slip: float) -> list[ExamAnswer]:
    """Return exams with what is predicted of their rows, corrected for slips."""
    found = []
    for asking, question, answer in scored:
        assert asking.score is not None
        score = corrected(asking.score[answer], asking.score[not answer], slip)
        bit = corrected(float(answer), float(not answer), slip)
        found.append(ExamAnswer(question, asking.aim, bit, score, predicted[asking.position]))
    return found
