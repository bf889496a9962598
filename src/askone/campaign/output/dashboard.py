"""The dashboard of a running campaign: plain JSON values, from the log and the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from askone.campaign.engine.drift import drift
from askone.campaign.engine.measurement import FIRST, Measured, continued, curve
from askone.campaign.engine.projection import Projection
from askone.campaign.engine.stopping import scored
from askone.campaign.engine.training_set import questions_of
from askone.campaign.kinds.base import Kind
from askone.campaign.settings.settings import Settings
from askone.encoding.amounts import reading_of
from askone.learners.abilities import blend
from askone.store.entries import Row

_MOST_POINTS = 400  # of the cloud
_TITLES = {
    "": "learnt with every answer",
    "TreeMember": "boosted trees",
    "LinearMember": "a line",
    "KernelMember": "a kernel of many rows",
    "DiscriminantMember": "a normal distribution by class",
}
_MINUTES = 60  # of activity
_GROUPS = 8  # of rows that are alike in a column
Rows = Callable[[Sequence[int]], list[Row]]
Predicted = Callable[[Sequence[int]], Sequence[float]]
"""What is predicted at rows, by their positions."""


def counts(projection: Projection, now: float) -> dict[str, Any]:
    """Return how far the campaign is."""
    minute = int(now // 60)
    lately = sum(projection.per_minute.get(minute - back, 0) for back in range(1, 6))
    rows = 0 if projection.rowless else projection.rows
    wanted = rows * projection.pool.per_row - projection.pool.spared
    anew = projection.trainer.anew
    return {
        "status": projection.status,
        "finished": finished(projection),
        "answers": projection.answers,
        "learnt": len(projection.lessons.all),
        "pending": projection.trainer.pending,
        "anew": None if anew is None else {"learnt": anew[0], "of": anew[1]},
        "asked": len(projection.asked),
        "open": len(projection.touched),
        "skipped": projection.skips,
        "retracted": projection.retractions,
        "flags": len(projection.flags) - len(projection.resolved),
        "rows": rows,
        "budget": projection.budget,
        "left": None if projection.budget is None else max(0, projection.budget - projection.answers),
        "stale": {
            "count": projection.stale_count,
            "mean": projection.stale_sum / projection.stale_count if projection.stale_count else 0.0,
            "most": projection.stale_most,
        },
        "rate_per_minute": max(lately / 5, float(projection.per_minute.get(minute, 0))),
        "people_active": projection.active(now),
        "per_row": projection.pool.per_row,
        "progress_rows": {
            "asked": min(len(projection.asked), wanted) if rows else len(projection.asked),
            "rows": wanted,
        },
        "activity": [[60 * m, projection.per_minute.get(m, 0)] for m in range(minute - _MINUTES + 1, minute + 1)],
    }


def finished(projection: Projection) -> str | None:
    """Return why nobody will be asked any more, though the campaign is not closed: "target", "budget" or "rows".

    Questions that are out, or set aside to follow one, may still be answered: then it goes on.
    """
    if projection.status == "paused":
        return "target" if projection.stopped else None
    if projection.status != "running" or projection.touched or projection.reserved:
        return None
    if projection.budget is not None and projection.seats_asked + projection.overlap > projection.budget:
        return "budget"
    if projection.rowless or projection.pool.any_left() or (projection.is_auto and projection.opinions_left):
        return None
    return "rows"


def said(projection: Projection) -> dict[str, int]:
    """Return how often people said yes and no: one alone says little of where the truth lies."""
    yes = sum(lesson.answer for lesson in projection.lessons.all)
    return {"yes": yes, "no": len(projection.lessons.all) - yes}


def points(projection: Projection, labels: Kind) -> list[Measured]:
    """Return the measured error along the campaign, from answers alone (see ``measurement``)."""
    found = list(scored(projection, as_asked=True))
    return curve(found, projection.slips.of_majority(projection.overlap), labels.is_share)


def drifting(projection: Projection, settings: Settings) -> dict[str, float] | None:
    """Return the errors at earlier and at later rows, where rows come in file order and the later are clearly worse."""
    if settings.ask.order != "file":
        return None
    asked = ((projection.asked[lesson.number], lesson.answer) for lesson in projection.lessons.all)
    scores = [(one.position, one.score[answer]) for one, answer in asked if one.score is not None and not one.is_far]
    is_share = settings.labels.is_share
    found = drift([(position, 1 - score if is_share else score) for position, score in scores])
    return None if found is None else found._asdict()


def measured(projection: Projection, settings: Settings) -> dict[str, Any]:
    """Return the learning curve, and where it is heading."""
    labels = settings.labels
    found = points(projection, labels)
    plain = [point._asdict() for point in found]
    ahead = continued(found, labels.is_share)
    slips = projection.slips
    learning = {
        "measure": labels.exam_measure,
        "unit": labels.error_unit,
        "points": plain,
        "latest": plain[-1] if plain else None,
        "target": settings.ask.target,
        "slips": {"rate": slips.rate, "low": slips.low, "high": slips.high},
        "waiting": None if found else {"have": sum(not one.is_far for one in scored(projection)), "need": FIRST},
    }
    forecast = None if ahead is None else {"points": [[p.n, p.low, p.value, p.high] for p in ahead]}
    return {"curve": learning, "forecast": forecast, "drift": drifting(projection, settings)}


def spent(projection: Projection, settings: Settings) -> dict[str, Any]:
    """Return what the answers so far have cost."""
    people, price = projection.people.values(), settings.ask.price
    paid = sum(one.answers for one in people if not one.program) * (price or 0.0)
    costs = sum(one.cost for one in people)
    return {
        "answers": projection.answers,
        "money": None if price is None and not any(one.priced for one in people) else paid + costs,
        "currency": settings.ask.currency,
        "hours": sum(sum(one.seconds) for one in people) / 3600,
    }


def models(projection: Projection) -> list[dict[str, Any]] | None:
    """Return the models of a mixture, the leader first, each with its share of what is predicted; None: one learns.

    Shares are earned by how well each forecast the answers before it learnt them.  Lines that differ only in how much
    of the rows they take read alike, and have one share together.
    """
    shares = dict[str, float]()
    for name, share in blend(projection.learner, projection.state):
        title = _TITLES.get(name, "another model")
        shares[title] = shares.get(title, 0.0) + share
    found = [{"name": name, "share": share} for name, share in shares.items()]
    return sorted(found, key=lambda one: -one["share"]) if len(found) > 1 else None


def cloud(projection: Projection, labels: Kind, rows: Rows, predicted: Predicted, column: str | None) -> dict[str, Any]:
    """Return the questions and their answers, as in the paper's figure 1: up to some hundred of them, evenly spaced.

    Beside them stand the predictions at their rows, along a ``column``; none is named: the one that tells most of them.
    """
    lessons = projection.lessons.all
    step = max(1, -(-len(lessons) // _MOST_POINTS))
    chosen = [(place, lesson) for place, lesson in enumerate(lessons, start=1) if (len(lessons) - place) % step == 0]
    asked = [projection.asked[lesson.number] for _, lesson in chosen]
    marks = []
    for (place, lesson), one, question in zip(chosen, asked, questions_of(asked), strict=True):
        view = labels.view(question)
        marks.append({"n": place, "answer": lesson.answer != view.mirrored, "exam": one.role == "exam", **view.mark})
    order = {"name": "question", "kind": "order"}
    if not labels.is_drawn_by_rows or projection.rowless:
        return {"kind": labels.view_kind, "x": order, "columns": [], "points": marks, "prediction": None}
    contents = {row.position: row.content for row in rows(sorted({one.position for one in asked}))}
    columns = _columns(list(contents.values()))
    cells = {one: dict(zip(contents, values, strict=True)) for one, values in columns.items()}
    said = dict(zip(contents, predicted(list(contents)), strict=True))
    telling = {one: _telling([(x, said[place]) for place, x in known.items()]) for one, known in cells.items()}
    name = column if column in columns else max(columns, key=lambda one: telling[one], default=None)
    places = [one.position for one in asked]
    values = [mark["n"] if name is None else cells[name][p] for mark, p in zip(marks, places, strict=True)]
    drawn = [mark | {"x": x, "position": p} for mark, x, p in zip(marks, values, places, strict=True) if x is not None]
    axis = order if name is None else {"name": name, "kind": "number"}
    line = sorted({mark["position"]: [float(mark["x"]), float(said[mark["position"]])] for mark in drawn}.values())
    return {"kind": labels.view_kind, "x": axis, "columns": list(columns), "points": drawn, "prediction": line or None}


def _telling(pairs: Sequence[tuple[float | None, float]]) -> float:
    """Return how much of what is predicted a column tells: the variance between groups of rows that are alike in it.

    >>> line = [(x, 2.0 * x) for x in range(40)]
    >>> _telling(line) > 5 * _telling([(x % 7, y) for x, y in line])
    True
    >>> _telling([(None, 1.0), (2.0, 1.0)])
    0.0
    """
    known = np.array([pair for pair in pairs if pair[0] is not None], dtype=np.float64).reshape(-1, 2)
    if not len(known):
        return 0.0
    x, y = known.T
    group = np.searchsorted(np.unique(np.quantile(x, np.linspace(0.0, 1.0, _GROUPS + 1)[1:-1])), x)
    sums, counts = np.bincount(group, y - y.mean()), np.bincount(group)
    return float((sums[counts > 0] ** 2 / counts[counts > 0]).sum() / len(pairs))


def _columns(contents: Sequence[Any]) -> dict[str, list[float | None]]:
    """Return columns of numbers and amounts, None where there is none.

    >>> _columns([{"size": 3, "price": "1,200 €", "name": "a"}, {"size": None, "price": "900 €", "name": "b"}])
    {'size': [3, None], 'price': [1200.0, 900.0]}
    """
    found = dict[str, list[float | None]]()
    for name in dict.fromkeys(name for content in contents for name in content):
        cells = [content.get(name) for content in contents]
        reading = None if all(map(_is_number, cells)) else reading_of(cells)
        if reading is not None:
            found[name] = [None if math.isnan(x) else x for x in reading.numbers(cells).tolist()]
        elif all(map(_is_number, cells)):
            found[name] = cells
    return found


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
