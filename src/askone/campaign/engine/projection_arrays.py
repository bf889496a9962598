"""A projection as arrays and back: the same, whatever happened, without reading the log again.

What there is of every answer is in columns, which are read in a few microseconds each; the rest is JSON.  Questions
themselves stay in the log, and are read from it when they are wanted.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Final

import numpy as np

from askone._common.types import Array
from askone.campaign.engine._annotator_statistics import Annotator, Undoable
from askone.campaign.engine.projection import PlannedQuestion, Projection
from askone.campaign.engine.training_set import (
    AskedQuestion,
    FitLesson,
    GivenAnswer,
    LateLesson,
    Lesson,
    QuestionReader,
)
from askone.campaign.kinds.base import ErrorPart, Sat
from askone.questions.registry import question_from_json
from askone.session.bags import Pace
from askone.store.entries import entry_from_json

FORMAT: Final = 9
_NUMBERS = (
    *("seq", "status", "stopped", "budget", "numbers", "seats_asked", "answers", "skips", "retractions"),
    *("stale_count", "stale_sum", "stale_most"),
)
_COUNTS = (
    *("answers", "yes", "skips", "flags", "fast", "gold_asked", "gold_right", "last_seen", "before"),
    *("program", "cost", "priced"),
)
_PLAIN = ("per_minute", "outside", "lost", "reasked")  # dictionaries of plain values
_SETS = ("excluded", "resolved")
_RARE = ("role", "score", "truth", "most", "heaviest", "predicted", "aim", "chance", "bag", "expected", "part")


def to_arrays(projection: Projection) -> dict[str, Array]:
    """Return all of a projection but the model's state."""
    asked, people, lessons = projection.asked.values(), projection.people.values(), projection.lessons.all
    done = [one for person in people for one in person.done]
    place = {one.id: n for n, one in enumerate(done)}
    given = [one for asking in asked for one in asking.given]
    return {
        "asked": _table(4, (n for one in asked for n in (one.number, one.position, one.learnt, len(one.given)))),
        "given": _table(3, (n for one in given for n in (one.seq, place[one.id], one.answer))),
        "done": _table(2, (n for one in done for n in one[1:])),
        "done_ids": _bytes("\0".join(one.id for one in done)),
        "people": _table(2, (n for person in people for n in (len(person.done), len(person.seconds)))),
        "seconds": np.fromiter(chain.from_iterable(person.seconds for person in people), np.float32),
        "lessons": _table(3, (n for one in lessons for n in one[:3])),
        **projection.pool.to_arrays(),
        "rest": _bytes(json.dumps(_rest(projection), ensure_ascii=False)),
    }


def _rest(projection: Projection) -> dict[str, Any]:
    rare = ((n, one) for n, one in enumerate(projection.asked.values()) if not _is_plain(one))
    return {
        "numbers": [getattr(projection, name) for name in _NUMBERS],
        **{name: list(getattr(projection, name).items()) for name in _PLAIN},
        **{name: sorted(getattr(projection, name)) for name in _SETS},
        "rare": [[n, *(getattr(one, name) for name in _RARE)] for n, one in rare],
        "people": [
            [who, [getattr(person, name) for name in _COUNTS], sorted(person.gold_seen)]
            for who, person in projection.people.items()
        ],
        "reserved": [[number, plan.to_json()] for number, plan in projection.reserved.items()],
        "touched": [[number, sorted(who)] for number, who in projection.touched.items()],
        "paused": [[who, entry.to_json()] for who, entry in projection.paused.items()],
        "returns": list(projection.trainer.returns.items()),
        "flags": [entry.to_json() for entry in projection.flags],
        "lately": [[one.question.to_json(), *one[1:]] for one in projection.lately],
        "checks": projection.checks,
        "skipped": [[number, list(skips.items())] for number, skips in projection.skipped_by.items()],
        "fits": projection.lessons.fits,
        "gap": projection.lessons.gap,
        "said": [[n, one.said] for n, one in enumerate(projection.lessons.all) if one.said is not None],
        "late": list(chain.from_iterable(projection.lessons.late.values())),
        "overlaps": projection.overlaps,
        "rulings": list(projection.rulings.items()),
        "changes": projection.changes,
        "pace": projection.pace.sums,
    }


def _is_plain(one: AskedQuestion) -> bool:
    """Return whether a question only teaches, as most do."""
    bare = one.score is None and one.truth is None and one.predicted is None and one.chance is None
    return bare and not one.role and one.aim == "error" and one.bag is None


def adopt(projection: Projection, arrays: dict[str, Array], reader: QuestionReader) -> None:
    """Bring a projection that has noted nothing to where ``to_arrays`` was called."""
    rest: dict[str, Any] = json.loads(arrays["rest"].tobytes())
    for name, value in zip(_NUMBERS, rest["numbers"], strict=True):
        setattr(projection, name, value)
    for name in _PLAIN:
        getattr(projection, name).update(dict(rest[name]))
    for name in _SETS:
        getattr(projection, name).update(rest[name])
    projection.pool.adopt(arrays)
    projection.overlaps[:] = [(first, overlap) for first, overlap in rest["overlaps"]]
    projection.changes = rest["changes"]
    projection.pace = Pace(tuple(rest["pace"]))
    names = [who for who, _, _ in rest["people"]]
    done = _done(arrays)
    _adopt_people(projection, arrays, rest["people"], done)
    _adopt_asked(projection, arrays, rest["rare"], names, done, reader)
    lessons = list(map(Lesson, *_columns(arrays["lessons"], 2), _flags(arrays["lessons"], 2)))
    for n, said in rest["said"]:
        lessons[n] = lessons[n]._replace(said=tuple(said))
    late = [LateLesson(seq, number, bit, tuple(said), known) for seq, number, bit, said, known in rest["late"]]
    gap = None if rest["gap"] is None else tuple(rest["gap"])
    projection.lessons.adopt(lessons, [FitLesson(*fit) for fit in rest["fits"]], late, gap)
    projection.reserved.update((number, PlannedQuestion.from_json(plan)) for number, plan in rest["reserved"])
    projection.touched.update((number, set(who)) for number, who in rest["touched"])
    projection.closed.update(projection.asked.keys() - projection.touched.keys())
    projection.paused.update((who, entry_from_json(entry)) for who, entry in rest["paused"])
    projection.trainer.returns.update(rest["returns"])
    projection.rulings.update((number, (seq, answer)) for number, (seq, answer) in rest["rulings"])
    projection.flags.extend(map(entry_from_json, rest["flags"]))
    projection.lately.extend(Sat(question_from_json(one), *more) for one, *more in rest["lately"])
    projection.checks.extend(rest["checks"])
    for number, skips in rest["skipped"]:
        projection.skipped_by[number] = {event: (who, reason) for event, (who, reason) in skips}


def _done(arrays: dict[str, Array]) -> list[Undoable]:
    text = arrays["done_ids"].tobytes().decode()
    ids = text.split("\0") if len(arrays["done"]) else []
    return list(map(Undoable, ids, *_columns(arrays["done"], 1), _flags(arrays["done"], 1)))


def _adopt_people(
    projection: Projection, arrays: dict[str, Array], people: list[Any], done: Sequence[Undoable]
) -> None:
    own, timed = (_runs(counts) for counts in arrays["people"].T) if people else ((), ())
    seconds = arrays["seconds"].astype("f", copy=False)
    for (who, counts, gold_seen), one, times in zip(people, own, timed, strict=True):
        person = projection.people[who] = Annotator(**dict(zip(_COUNTS, counts, strict=True)))
        person.done.extend(done[one])
        person.seconds = array("f", seconds[times].tobytes())
        person.gold_seen.update(gold_seen)


def _adopt_asked(
    projection: Projection,
    arrays: dict[str, Array],
    rare: list[Any],
    names: Sequence[str],
    done: Sequence[Undoable],
    reader: QuestionReader,
) -> None:
    numbers, positions, learnt, counts = _columns(arrays["asked"], 4)
    asked = [AskedQuestion(n, position, reader, k) for n, position, k in zip(numbers, positions, learnt, strict=True)]
    projection.asked.update(zip(numbers, asked, strict=True))
    for n, *values in rare:
        for name, value in zip(_RARE, values, strict=True):
            setattr(asked[n], name, value)
        if asked[n].score is not None:
            asked[n].score = tuple(asked[n].score)
        if asked[n].part is not None:
            asked[n].part = ErrorPart(*asked[n].part)
    # Who said it, and its id, stand where it can be taken back.
    who = np.repeat(np.arange(len(names)), arrays["people"][:, 0]) if names else np.zeros(0, dtype=np.int64)
    seqs, places = _columns(arrays["given"], 2)
    whose = [names[n] for n in who[places].tolist()] if places else []
    ids = [done[place].id for place in places]
    given = list(map(GivenAnswer, seqs, ids, whose, _flags(arrays["given"], 2)))
    for asking, run in zip(asked, _runs(np.array(counts, dtype=np.int64)), strict=True):
        asking.given = given[run]
    projection.several.update(n for n, count in zip(numbers, counts, strict=True) if count > 1)


def _table(columns: int, values: Iterable[int]) -> Array:
    """Return whole numbers that come line by line."""
    return np.fromiter(values, np.int64).reshape(-1, columns)


def _columns(table: Array, count: int) -> list[list[int]]:
    return [column.tolist() for column in table.T[:count]]


def _flags(table: Array, column: int) -> list[bool]:
    return [one == 1 for one in table[:, column].tolist()]


def _runs(counts: Array) -> list[slice]:
    """Return where each of these many lies among all."""
    return [slice(first, last) for first, last in pairwise(accumulate(counts.tolist(), initial=0))]


def _bytes(text: str) -> Array:
    return np.frombuffer(text.encode(), dtype=np.uint8)
