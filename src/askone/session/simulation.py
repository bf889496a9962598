"""A learner against an oracle: the same functions as in a live campaign, in compiled blocks.

``in_order`` and ``from_pool`` do it question by question, by a stream: logged as a live one, or choosing rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import ThreadpoolController

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_count, as_rows, as_seed
from askone.errors import InvalidArgument
from askone.learners.abilities import AsksAgain, KnowsPeople, is_patient, refitted, stream, tell_row, wants
from askone.learners.base import Learner
from askone.learners.streaming import Exchange, Respondent, StreamBlock, StreamTask, heard
from askone.people import People, SimulatedCrowd, as_crowd, majority
from askone.session.log import Answered, Asked, Event, Skipped
from askone.session.oracle import Oracle
from askone.session.row_selection import chosen
from askone.session.stream import Stream

Look = Callable[[Stream, int], None]


@final
@dataclass(frozen=True, eq=False)
class Simulation:
    """The outcome of a simulation: last state, curve (questions asked, error), if kept the questions, their number."""

    state: Any
    curve: list[tuple[int, float]] = field(default_factory=list)
    blocks: list[StreamBlock | Exchange] = field(default_factory=list)
    asked: int = 0


def checkpoints(questions: int, per_decade: int = 10) -> list[int]:
    """Return numbers of questions, evenly spaced on a logarithmic scale, the last being all of them.

    >>> checkpoints(1000, 3)
    [1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    """
    as_count(questions, "questions", 1)
    points = np.round(np.logspace(0, np.log10(questions), int(np.log10(questions) * per_decade) + 1)).astype(int)
    return sorted({*points.tolist(), questions})


def resampled(rows: int, questions: int, seed: int = 0) -> Array:
    """Return rows drawn with replacement, as in the paper's variant with several questions per row.

    >>> resampled(3, 8).tolist()
    [1, 1, 1, 2, 1, 0, 1, 2]
    """
    uniform = random_table.uniforms(seed, 0, as_count(questions, "questions", 1), 1, random_table.ORDER)[:, 0]
    return np.asarray(np.floor(uniform * as_count(rows, "rows", 1)), dtype=np.int64)


def simulate(
    learner: Learner[Any],
    X: ArrayLike,
    oracle: Oracle,
    *,
    seed: int = 0,
    state: Any = None,
    order: ArrayLike | None = None,
    evaluate: Callable[[Array], float] | None = None,
    test: ArrayLike | None = None,
    at: Sequence[int] | None = None,
    keep: bool = False,
    questions: int | None = None,
    progress: Callable[[int], None] | None = None,
    people: People | None = None,
) -> Simulation:
    """Simulate one question after the other, answered by the oracle, or by people who know what it knows.

    ``order`` lists the rows to ask about (default: each row of X once, in order; see ``resampled``).
    ``evaluate`` turns predictions on the rows ``test`` into an error, at the numbers of questions
    ``at`` (default: logarithmically spaced; those never reached are ignored).  ``progress`` is called
    with questions asked so far; ``keep`` keeps every question and answer.  ``questions`` is the most
    that may be asked: of use for learners that ask several about a row, which go on with a row until it
    is known (or, if they are not patient, when it comes again).  ``people`` are made up and come at random (see
    ``askone.people``): the learner is told who answers.
    """
    rows, held_out = _checked(learner, X, oracle, evaluate, test)
    numbers = _order(order, len(rows))
    oracle.check(numbers)
    again = isinstance(learner, AsksAgain)
    limit = None if questions is None else as_count(questions, "questions", 1)
    numbers = numbers if again else numbers[:limit]
    most = limit if again and limit else len(numbers)
    wanted = checkpoints(most) if at is None else [as_count(n, "at", 1) for n in at]
    crowd = as_crowd(people, as_seed(seed))
    curve: list[tuple[int, float]] = []
    blocks: list[StreamBlock | Exchange] = []

    def look(now: Any, asked: int) -> None:
        if evaluate is not None and held_out is not None:
            curve.append((asked, evaluate(learner.predict(now, held_out))))
        if progress is not None:
            progress(asked)

    def look_where_wanted(live: Stream, asked: int) -> None:
        if asked in wanted:
            look(live.state, asked)

    # A stream is many small matrix products: threads would slow them down, and change their last digits.
    with _libraries().limit(limits=1, user_api="blas"):
        if again:
            oracle.require_resampling()
            log = _listening(blocks) if keep else None
            live = Stream(learner, seed=seed, state=state, resample=True, history=False, log=log)
            in_order(live, rows, oracle, numbers.tolist(), limit, look_where_wanted, crowd)
            if live.asked not in wanted:
                look(live.state, live.asked)
            return Simulation(live.state, curve, blocks, live.asked)
        now, done = learner.init() if state is None else state, 0
        draw = partial(random_table.uniforms, as_seed(seed), width=learner.width)
        task = StreamTask(numbers, oracle, draw, listen=blocks.append if keep else None)
        for stop in sorted({*(n for n in wanted if n <= len(numbers)), len(numbers)}):
            part = rows[done:stop] if order is None else rows[numbers[done:stop]]
            some = task.part(done, stop)
            now = stream(learner, now, part, some) if crowd is None else _by_people(learner, now, part, some, crowd)
            done = stop
            look(now, done)
    return Simulation(now, curve, blocks, done)


def _listening(blocks: list[StreamBlock | Exchange]) -> Callable[[Event], None]:
    """Return a log that keeps each question, as the learner asked it, with its answer."""
    asked: dict[str, Asked] = {}

    def note(event: Event) -> None:
        if isinstance(event, Asked):
            asked[event.id] = event
        elif isinstance(event, Answered | Skipped):
            one = asked.pop(event.asked)
            answer = event.answer if isinstance(event, Answered) else None
            blocks.append(heard(int(one.row), one.question.like(number=None), answer))

    return note


def _by_people(learner: Learner[Any], state: Any, X: Array, task: StreamTask, crowd: SimulatedCrowd) -> Any:
    """Return what ``stream`` does, with the names of those who answer."""
    for i, (x, row) in enumerate(zip(X, task.rows.tolist(), strict=True)):
        question = learner.ask(state, x, task.draw(task.first + i, 1)[0])
        truth = task.respondent.respond(row, question)
        said = [] if truth is None else crowd.opinions(row, truth)
        answer = majority(said)
        if task.listen is not None:
            task.listen(heard(row, question, answer))
        if len(said) > 1 and isinstance(learner, KnowsPeople):
            state = refitted(learner, learner.tell_opinions(state, x, question, said))
        elif answer is not None:
            person = said[0][0] if len(said) == 1 else None
            state = refitted(learner, tell_row(learner, state, x, question, answer, None, person))
    return state


def in_order(
    live: Stream, rows: Array, oracle: Respondent, order: Iterable[int], most: int | None, look: Look = lambda *_: None,
    crowd: SimulatedCrowd | None = None,
) -> None:  # fmt: skip
    """Ask about rows as they come, at most so many questions; a row's key is its number.

    ``look`` is called after each with the stream and the number of questions; ``crowd`` answers, if there is one.
    """
    learner, left, numbers = live.learner, math.inf if most is None else most, list(order)
    unknown = set(numbers)
    for number in numbers:
        x, again = rows[number], True
        if not wants(learner, live.state, x, number):
            live.revisit(x, number)
            unknown.discard(number)
        while again and left > 0 and wants(learner, live.state, x, number):
            again = _exchange(live, oracle, crowd, x, number) and is_patient(learner)
            left -= 1
            look(live, live.asked)
        if left <= 0 or not unknown:
            break


def from_pool(
    live: Stream, rows: Array, oracle: Respondent, rule: str, most: int, look: Look = lambda *_: None,
    crowd: SimulatedCrowd | None = None,
) -> None:  # fmt: skip
    """Ask about the row of greatest worth, each at most once unless the stream allows more; the rest is as above."""
    free = np.ones(len(rows), dtype=np.bool_)
    for _ in range(most if live.resample else min(most, len(rows))):
        place, choice = chosen(live, rows, np.flatnonzero(free), rule)
        _exchange(live, oracle, crowd, rows[place], place, choice)
        free[place] = live.resample
        look(live, live.asked)


def _exchange(
    live: Stream, oracle: Respondent, crowd: SimulatedCrowd | None, x: Array, number: int, choice: Any = None
) -> bool:
    question = live.ask(x, number, choice)
    answer = oracle.respond(number, question)
    person, answer = (None, answer) if crowd is None or answer is None else crowd.say(number, answer)
    if answer is None:
        live.skip(question)
        return False
    live.tell(question, answer, person)
    return True


def _checked(
    learner: Learner[Any], X: ArrayLike, oracle: Oracle, evaluate: object, test: ArrayLike | None
) -> tuple[Array, Array | None]:
    if not isinstance(learner, Learner):
        raise InvalidArgument("learner", "a Learner (an estimator's is stream_.learner)", type(learner).__name__)
    if not isinstance(oracle, Oracle):
        raise InvalidArgument("oracle", "an Oracle, which hides the labels", type(oracle).__name__)
    rows = as_rows(X, learner.columns)
    oracle.fits(learner.space)
    if len(rows) > len(oracle):
        raise InvalidArgument("X", f"at most {len(oracle)} rows, as the oracle has labels", f"{len(rows)} rows")
    if evaluate is not None and test is None:
        raise InvalidArgument("test", "rows to evaluate on", None)
    return rows, None if test is None else as_rows(test, learner.columns, "test")


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: milliseconds, once


def _order(order: ArrayLike | None, rows: int) -> Array:
    if order is None:
        return np.arange(rows)
    try:
        numbers = np.asarray(order)
    except ValueError as error:
        raise InvalidArgument("order", "a list of row numbers", order) from error
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or len(numbers) == 0:
        raise InvalidArgument("order", "a list of row numbers", order)
    if numbers.min() < 0 or numbers.max() >= rows:
        raise InvalidArgument("order", f"row numbers from 0 to {rows - 1}", f"{numbers.min()} to {numbers.max()}")
    return numbers
