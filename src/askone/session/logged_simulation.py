"""A stream against an oracle, question by question: a simulation that is logged as a live one, or chooses rows.

``simulation`` does the same in compiled blocks, many times faster, and keeps no log.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from askone._common.types import Array
from askone.learners.abilities import is_patient, wants
from askone.learners.streaming import Respondent
from askone.session.row_selection import chosen
from askone.session.stream import Stream


def in_order(stream: Stream, rows: Array, oracle: Respondent, order: Iterable[int], most: int | None) -> None:
    """Ask about rows as they come, at most so many questions; a row's key is its number."""
    learner, left, numbers = stream.learner, math.inf if most is None else most, list(order)
    unknown = set(numbers)
    for number in numbers:
        x, again = rows[number], True
        if not wants(learner, stream.state, x, number):
            stream.revisit(x, number)
            unknown.discard(number)
        while again and left > 0 and wants(learner, stream.state, x, number):
            again = _exchange(stream, oracle, x, number) and is_patient(learner)
            left -= 1
        if left <= 0 or not unknown:
            break


def from_pool(stream: Stream, rows: Array, oracle: Respondent, rule: str, most: int) -> None:
    """Ask about the row of greatest worth, each at most once unless the stream allows more."""
    free = np.ones(len(rows), dtype=np.bool_)
    for _ in range(most if stream.resample else min(most, len(rows))):
        place, choice = chosen(stream, rows, np.flatnonzero(free), rule)
        _exchange(stream, oracle, rows[place], place, choice)
        free[place] = stream.resample


def _exchange(stream: Stream, oracle: Respondent, x: Array, number: int, choice: Any = None) -> bool:
    question = stream.ask(x, number, choice)
    answer = oracle.respond(number, question)
    if answer is None:
        stream.skip(question)
        return False
    stream.tell(question, answer)
    return True
