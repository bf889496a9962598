"""Which row of a pool to ask about: the one whose answer is expected to tell most.

A forecasting learner says what an answer about a row is worth (``Forecasts.worth``).  Choosing the
rows of greatest worth is active learning in the older sense, beside the paper's, which chooses the
question about a row that comes by itself.  It changes how rows are distributed: what is learnt is
right where the model is right, and the average over the chosen rows is not that over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askone._common import random_table
from askone._common.types import Array, Key
from askone._common.validate import as_choice
from askone.errors import AlreadyAsked, InvalidArgument, incompatible
from askone.learners.abilities import AsksAgain, Forecasts, able
from askone.learners.base import Learner
from askone.session.log import Choice
from askone.session.stream import Stream, plain_key

RULES = ("uncertain",)
CANDIDATES = 200  # rows looked at for one question: the best of 200 is among the best 1.5 % nineteen times in twenty


def as_rule(select: object) -> str | None:
    """Return none, or the name of a rule."""
    return None if select is None else as_choice(select, "select", RULES)


def as_forecasting(learner: Learner[Any]) -> Forecasts[Any]:
    """Return a learner that can say what an answer would tell; another is refused."""
    if not able(learner, Forecasts) or isinstance(learner, AsksAgain):
        again = isinstance(learner, AsksAgain)
        reason = "asks several questions about a row" if again else "does not forecast answers"
        raise incompatible("select", "uncertain", f"{type(learner).__name__} {reason}", [None])
    return learner


def as_keys(keys: Any, rows: int) -> list[Key]:
    """Return one key per row, its place where none are given."""
    names = list(range(rows)) if keys is None else [plain_key(key) for key in keys]
    if len(names) != rows or len(set(names)) < len(names):
        raise InvalidArgument("keys", f"{rows} different keys, one per row", f"{len(set(names))} different keys")
    return names


def require_same(known: Mapping[Key, Array], rows: Array) -> None:
    """Raise if rows that go by their place are others than those that were asked about."""
    for name, row in known.items():
        if isinstance(name, int) and not (name < len(rows) and np.array_equal(rows[name], row)):
            raise InvalidArgument("keys", "given where the pool changes: rows go by their place without", None)


def free(stream: Stream, names: list[Key], rows: Array) -> Array:
    """Return places of the rows that may be asked about: that had no question, or where that is allowed none open."""
    taken = {name for _, _, _, name in stream.open_questions()} if stream.resample else stream.keys
    left = [place for place, name in enumerate(names) if name not in taken]
    if isinstance(stream.learner, AsksAgain):
        left = [place for place in left if stream.wants(rows[place], names[place])]
    return np.array(left, dtype=np.int64)


def chosen(stream: Stream, rows: Array, free: Array, rule: str | None) -> tuple[int, Choice | None]:
    """Return the place of the row to ask about next, among the ``free`` places of ``rows``, and how it was chosen.

    Without a rule it is the first.  Of more than ``CANDIDATES`` free rows so many are drawn and
    looked at; the draw belongs to the number of the question, as every other does.
    """
    if len(free) == 0:
        raise AlreadyAsked("every row of the pool had its question")
    if rule is None:
        return int(free[0]), None
    learner = as_forecasting(stream.learner)
    looked = free
    if len(free) > CANDIDATES:
        looked = free[
            sampled(random_table.uniforms(stream.seed, stream.asked, 1, CANDIDATES, random_table.POOL)[0], len(free))
        ]
    worth = learner.worth(stream.state, rows[looked])
    best = int(np.argmax(worth))
    return int(looked[best]), Choice(rule, len(free), len(looked), float(worth[best]))


def sampled(uniform: Array, rows: int) -> Array:
    """As many different places of ``rows`` as there are uniforms, in ascending order: Floyd's way.

    Each set of places is equally likely, at a cost that does not depend on ``rows``.

    >>> sampled(np.array([0.1, 0.9, 0.1]), 1000).tolist()
    [99, 100, 899]
    """
    found: set[int] = set()
    for j, u in enumerate(uniform.tolist(), start=rows - len(uniform)):
        place = int(u * (j + 1))
        found.add(j if place in found else place)
    return np.array(sorted(found), dtype=np.int64)
