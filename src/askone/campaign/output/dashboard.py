"""The dashboard of a running campaign: plain JSON values, from the log and the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from askone.campaign.engine.measurement import FIRST, Measured, continued, curve
from askone.campaign.engine.projection import Projection
from askone.campaign.kinds.base import Kind
from askone.campaign.settings.settings import Settings
from askone.store.entries import Row

_MOST_POINTS = 400  # of the cloud
_MINUTES = 60  # of activity
Rows = Callable[[Sequence[int]], list[Row]]


def counts(book: Projection, now: float) -> dict[str, Any]:
    """Return how far the campaign is."""
    minute = int(now // 60)
    lately = sum(book.per_minute.get(minute - back, 0) for back in range(1, 6))
    rows = 0 if book.rowless else book.rows
    return {
        "status": book.status,
        "finished": finished(book),
        "answers": book.answers,
        "learnt": len(book.lessons.all),
        "asked": len(book.asked),
        "open": len(book.touched),
        "skipped": book.skips,
        "retracted": book.retractions,
        "flags": len(book.flags),
        "rows": rows,
        "budget": book.budget,
        "left": None if book.budget is None else max(0, book.budget - book.answers),
        "stale": {
            "count": book.stale_count,
            "mean": book.stale_sum / book.stale_count if book.stale_count else 0.0,
            "most": book.stale_most,
        },
        "rate_per_minute": max(lately / 5, float(book.per_minute.get(minute, 0))),
        "people_active": book.active(now),
        "progress_rows": {"asked": min(len(book.asked), rows) if rows else len(book.asked), "rows": rows},
        "activity": [[60 * m, book.per_minute.get(m, 0)] for m in range(minute - _MINUTES + 1, minute + 1)],
    }


def finished(book: Projection) -> str | None:
    """Return why nobody will be asked any more, though the campaign is not closed: "target", "budget" or "rows".

    Questions that are out, or set aside to follow one, may still be answered: then it goes on.
    """
    if book.status == "paused":
        return "target" if book.stopped else None
    if book.status != "running" or book.touched or book.reserved:
        return None
    if book.budget is not None and book.seats_asked + book.overlap > book.budget:
        return "budget"
    return None if book.rowless or book.next_rows(1) else "rows"


def said(book: Projection) -> dict[str, int]:
    """Return how often people said yes and no: one alone says little of where the truth lies."""
    yes = sum(lesson.answer for lesson in book.lessons.all)
    return {"yes": yes, "no": len(book.lessons.all) - yes}


def points(book: Projection, labels: Kind) -> list[Measured]:
    """Return the measured error along the campaign, from answers alone (see ``exams``)."""
    scores = [(place, score[answer], max(score)) for place, score, answer, _ in _scored(book)]
    return curve(scores, share=labels.is_share)


def _scored(book: Projection) -> Iterator[tuple[int, tuple[float, float], bool, float | None]]:
    """Of each exam: after how many answers, what a no and a yes score, the answer, and the most it could be."""
    for place, lesson in enumerate(book.lessons.all, start=1):
        asking = book.asked[lesson.number]
        if asking.score is not None:
            yield place, asking.score, lesson.answer, asking.most


def errors(book: Projection, labels: Kind) -> list[tuple[float, float]]:
    """Return what each exam says of the error, and the most that it could have said; of a share, what lacks to 1."""
    found = ((score[answer], most) for _, score, answer, most in _scored(book) if most is not None)
    return [(1 - value if labels.is_share else value, most) for value, most in found]


def measured(book: Projection, settings: Settings) -> dict[str, Any]:
    """Return the learning curve, and where it is heading."""
    labels = settings.labels
    found = points(book, labels)
    plain = [point._asdict() for point in found]
    ahead = continued(found, labels.is_share)
    learning = {
        "measure": labels.measure,
        "unit": labels.error_unit,
        "points": plain,
        "latest": plain[-1] if plain else None,
        "target": settings.ask.target,
        "waiting": None if found else {"have": sum(1 for _ in _scored(book)), "need": FIRST},
    }
    forecast = None if ahead is None else {"points": [[p.n, p.low, p.value, p.high] for p in ahead]}
    return {"curve": learning, "forecast": forecast}


def spent(book: Projection, settings: Settings) -> dict[str, Any]:
    """Return what the answers so far have cost."""
    price = settings.ask.price
    seconds = sum(sum(person.seconds) for person in book.people.values())
    return {
        "answers": book.answers,
        "money": None if price is None else price * book.answers,
        "currency": settings.ask.currency,
        "hours": seconds / 3600,
    }


def cloud(book: Projection, labels: Kind, rows: Rows, column: str | None) -> dict[str, Any]:
    """Return the questions and their answers, as in the paper's figure 1: up to some hundred of them, evenly spaced."""
    lessons = book.lessons.all
    step = max(1, -(-len(lessons) // _MOST_POINTS))
    chosen = [(place, lesson) for place, lesson in enumerate(lessons, start=1) if (len(lessons) - place) % step == 0]
    asked = [book.asked[lesson.number] for _, lesson in chosen]
    marks = []
    for (place, lesson), one in zip(chosen, asked, strict=True):
        view = labels.view(one.question)
        marks.append({"n": place, "answer": lesson.answer != view.mirrored, "exam": one.role == "exam", **view.mark})
    order = {"name": "question", "kind": "order"}
    if not labels.is_drawn_by_rows or book.rowless:
        return {"kind": labels.view_kind, "x": order, "columns": [], "points": marks}
    contents = {row.position: row.content for row in rows(sorted({one.position for one in asked}))}
    columns = _columns(list(contents.values()))
    name = column if column in columns else (columns[0] if columns else None)
    places = [one.position for one in asked]
    values = [mark["n"] if name is None else contents[p].get(name) for mark, p in zip(marks, places, strict=True)]
    drawn = [mark | {"x": x, "position": p} for mark, x, p in zip(marks, values, places, strict=True) if x is not None]
    axis = order if name is None else {"name": name, "kind": "number"}
    return {"kind": labels.view_kind, "x": axis, "columns": columns, "points": drawn}


def _columns(contents: Sequence[Any]) -> list[str]:
    """Return columns that hold numbers in every row that has them."""
    names = list(dict.fromkeys(name for content in contents for name in content))
    return [name for name in names if all(_is_number(content.get(name)) for content in contents)]


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
