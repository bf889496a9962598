"""Answers as a manager looks through them: by person, where people disagree, slow or surprising ones, by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from askone.campaign.engine.training_set import AskedQuestion, number_of, questions_of
from askone.campaign.output.views import managed
from askone.learners.abilities import Forecasts, able
from askone.session.log import Answered
from askone.store.notices import Flagged

if TYPE_CHECKING:
    from askone.campaign.campaign import Campaign

Which = Literal["all", "undecided", "disagreement", "flagged", "wrong", "slow", "surprising"]
MOST_TIMED: Final = 5_000
"""Answers whose time is looked at, the latest."""
MOST_FORETOLD: Final = 1_000
"""Questions whose answers the model is asked about, the latest."""
DOUBTFUL: Final = 0.05
"""An answer that the model, as it is now, gives a smaller chance is for a manager to decide."""


def answer_page(campaign: Campaign, which: Which, person: str | None, first: int, skip: int) -> dict[str, Any]:
    """Return a page of questions that were answered, the latest first; the slowest or most surprising first."""
    projection = campaign.projection
    answered = (one for one in projection.asked.values() if one.given)
    found = sorted(answered, key=lambda one: -one.given[-1].seq)
    if person is not None:
        found = [one for one in found if any(given.who == person for given in one.given)]
    narrow: dict[str, Callable[[Campaign, list[AskedQuestion]], list[AskedQuestion]]] = {
        "undecided": _undecided,
        "disagreement": lambda _, many: [one for one in many if _is_disputed(one)],
        "wrong": lambda _, many: [one for one in many if _is_wrong(one)],
        "flagged": lambda at, many: [one for one in many if one.number in _flagged(at)],
        "slow": _slowest,
        "surprising": _surprising,
    }
    found = narrow[which](campaign, found) if which in narrow else found
    return {"total": len(found), "answers": told(campaign, found[skip : skip + first])}


def row_history(campaign: Campaign, position: int) -> dict[str, Any]:
    """Return a row, what is predicted of it, and all that was asked about it."""
    asked = [one for one in campaign.projection.asked.values() if one.position == position]
    return {**campaign.predictions([position])[0], "asked": told(campaign, asked)}


def flags(campaign: Campaign) -> list[dict[str, Any]]:
    """Return what people found wrong, with the question that it is about."""
    projection = campaign.projection
    entries = [(entry, entry.event) for entry in projection.flags if isinstance(entry.event, Flagged)]
    found = [(entry, event, projection.asked[number_of(event.asked)]) for entry, event in entries]
    keys = {row.position: row.key for row in campaign.store.rows(campaign.name, [one.position for _, _, one in found])}
    return [
        {
            "id": entry.id,
            "resolved": entry.id in projection.resolved,
            "number": asking.number,
            "position": asking.position,
            "key": keys.get(asking.position, ""),
            "sentence": str(asking.question),
            "reason": event.reason,
            "who": entry.who,
            "at": entry.at,
        }
        for entry, event, asking in found
    ]


def _is_disputed(one: AskedQuestion) -> bool:
    return len({given.answer for given in one.given}) > 1


def _is_wrong(one: AskedQuestion) -> bool:
    return one.truth is not None and any(given.answer != one.truth for given in one.given)


def _undecided(campaign: Campaign, found: list[AskedQuestion]) -> list[AskedQuestion]:
    """Return those for a manager to decide: people disagree, or the model would hardly have expected the answer."""
    open_ones = [one for one in found if one.truth is None]
    disputed = [one for one in open_ones if _is_disputed(one)]
    return disputed + _surprising(campaign, [one for one in open_ones if not _is_disputed(one)], DOUBTFUL)


def _flagged(campaign: Campaign) -> Counter[int]:
    """Return how many open flags each question has."""
    projection = campaign.projection
    events = [one.event for one in projection.flags if one.id not in projection.resolved]
    return Counter(number_of(event.asked) for event in events if isinstance(event, Flagged))


def _slowest(campaign: Campaign, found: list[AskedQuestion]) -> list[AskedQuestion]:
    """Return those whose answers took longest."""
    latest = dict(islice(((given.id, one) for one in found for given in one.given), MOST_TIMED))
    took = campaign.store.times(campaign.name, list(latest))
    longest = dict[int, float]()
    for event, one in latest.items():
        longest[one.number] = max(longest.get(one.number, 0.0), took.get(event, 0.0))
    timed = {one.number: one for one in latest.values() if longest[one.number] > 0}
    return sorted(timed.values(), key=lambda one: -longest[one.number])


def _surprising(campaign: Campaign, found: list[AskedQuestion], below: float = 0.5) -> list[AskedQuestion]:
    """Return those to which the model, as it is now, would have expected the other answer."""
    projection = campaign.projection
    latest = [one for one in found if projection.lessons.answer_to(one.number) is not None][:MOST_FORETOLD]
    chances = zip(_chances(campaign, latest), latest, strict=True)
    return [one for chance, one in sorted(chances, key=lambda pair: pair[0]) if chance < below]


def _chances(campaign: Campaign, asked: Sequence[AskedQuestion]) -> list[float]:
    """Return the probability, by the model as it is now, of what each question teaches (1: none is known)."""
    projection = campaign.projection
    learner, state = projection.learner, projection.state
    if not asked or not able(learner, Forecasts):
        return [1.0] * len(asked)
    rows = {row.position: row for row in campaign.store.rows(campaign.name, sorted({one.position for one in asked}))}
    found = []
    for one, question in zip(asked, questions_of(asked), strict=True):
        answer = projection.lessons.answer_to(one.number)
        x = np.asarray(rows[one.position].features, dtype=np.float64)
        yes = 1.0 if answer is None else learner.chance(state, x, question)
        found.append(yes if answer is not False else 1.0 - yes)
    return found


def told(campaign: Campaign, asked: Sequence[AskedQuestion]) -> list[dict[str, Any]]:
    """Return questions with their answers, in plain JSON values."""
    projection, labels = campaign.projection, campaign.settings.labels
    ids = [given.id for one in asked for given in one.given]
    entries = campaign.store.known(campaign.name, ids)
    rows = {row.position: row for row in campaign.store.rows(campaign.name, sorted({one.position for one in asked}))}
    flags, chances, found = _flagged(campaign), _chances(campaign, asked), []
    for one, question, chance in zip(asked, questions_of(asked), chances, strict=True):
        row, ruling = rows[one.position], projection.rulings.get(one.number)
        words = list(labels.view(question).answers or campaign.settings.question.answers)
        given = [
            {"who": mine.who, "answer": mine.answer, "at": entry.at, "took": entry.took,
             "excluded": mine.who in projection.excluded}
            for mine in one.given if isinstance((entry := entries[mine.id]).event, Answered)
        ]  # fmt: skip
        found.append({
            "number": one.number, "sentence": str(question), "words": words,
            **managed(campaign.name, row, campaign.settings.rows.show),
            "gold": one.truth if one.role == "gold" else None, "given": given,
            "decided": projection.lessons.answer_to(one.number),
            "ruling": None if ruling is None else ruling[1], "flags": flags[one.number], "chance": chance,
        })  # fmt: skip
    return found
