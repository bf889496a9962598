"""Which row of a pool to ask about: the one whose answer should help most.

A forecasting learner says what an answer about a row is worth to it (``Forecasts.worth``): of classes how close the
two likeliest are, of numbers how far predictions at all rows narrow.  Some rows are drawn, and of these the best is
asked, other than neighbours of rows whose questions are open; every few questions are about a row by lot, so that the
model meets what it does not expect.  This is active learning in the older sense, beside the paper's, which chooses the
question about a row that comes by itself.  It changes how rows are distributed: averages over the chosen rows are not
those over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, TypeGuard, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array, Key
from askone._common.validate import as_choice
from askone.errors import AlreadyAsked, InvalidArgument, incompatible
from askone.labels.number import Real
from askone.learners.abilities import AsksAgain, Forecasts, able
from askone.learners.base import Learner
from askone.session.log import Choice
from askone.session.stream import Stream, plain_key

RULES = ("auto", "stream")
CANDIDATES = 150
"""Rows looked at for one question: the best of these is among the best 2 % nineteen times in twenty."""
BY_LOT = 0.2
"""The share of rows by lot, where labels are numbers: a function may bend where the model believes to know it."""


def as_rule(select: object) -> str | None:
    """Return none, or the name of a rule."""
    return None if select is None else as_choice(select, "select", RULES)


def as_forecasting(learner: Learner[Any]) -> Forecasts[Any]:
    """Return a learner that can say what an answer would tell; another is refused."""
    if not chooses(learner):
        again = isinstance(learner, AsksAgain)
        reason = "asks several questions about a row" if again else "does not forecast answers"
        raise incompatible("select", "auto", f"{type(learner).__name__} {reason}", [None, "stream"])
    return learner


def chooses(learner: Learner[Any]) -> TypeGuard[Forecasts[Any]]:
    """Return whether a learner can choose rows."""
    return able(learner, Forecasts) and not isinstance(learner, AsksAgain)


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

    Without a rule the best row is asked about, if the learner can tell.
    """
    if len(free) == 0:
        raise AlreadyAsked("every row of the pool had its question")
    if rule == "stream" or (rule is None and not chooses(stream.learner)):
        return int(free[0]), None
    uniform = uniforms(stream.seed, stream.asked)
    looked = free if len(free) <= CANDIDATES else free[sampled(uniform[1:], len(free))]
    waiting = np.array([row for _, row, _, _ in stream.open_questions()]).reshape(-1, rows.shape[1])
    candidates = Candidates(as_forecasting(stream.learner), stream.state, rows[looked])
    at, choice = best(candidates, waiting, len(free), float(uniform[0]))
    return int(looked[at]), choice


def uniforms(seed: int, number: int) -> Array:
    """Return the random numbers by which a question's row is chosen: whether by lot and which, and candidates."""
    return np.asarray(random_table.uniforms(seed, number, 1, CANDIDATES + 1, random_table.POOL)[0])


@final
class Candidates:
    """Rows drawn from a pool, and what answers about them are worth, once somebody wants to know."""

    def __init__(self, learner: Forecasts[Any], state: Any, rows: Array) -> None:
        self.rows, self.known = rows, learner.count(state)
        self.share = BY_LOT if isinstance(learner.space, Real) else 0.0
        self._worth = partial(learner.worth, state, rows)

    @cached_property
    def worth(self) -> Array:
        return self._worth()


def best(
    candidates: Candidates, waiting: Array, pool: int, lot: float, free: Array | None = None, spared: bool = False
) -> tuple[int, Choice]:
    """Return which of the candidates, or of those that are still free, to ask about, and how it was chosen.

    ``waiting`` are rows whose questions are open: their neighbours would tell the same.  A row by ``lot`` is asked
    with the probability ``Choice.share``, and while every row is as good as another.  ``spared``: good rows are for
    others than whoever is asked, who gets the one that is worth least (rule "least").
    """
    places = np.arange(len(candidates.rows)) if free is None else np.flatnonzero(free)
    looked, share = len(places), candidates.share
    if lot < share:
        return int(places[int(lot / share * looked)]), Choice("random", pool, looked, 0.0, share)
    worth = candidates.worth[places]
    if worth.max() <= worth.min():
        at = int((lot - share) / (1.0 - share) * looked)
        return int(places[at]), Choice("random", pool, looked, float(worth[at]), 1.0)
    if spared:
        at = int(np.argmin(worth))
        return int(places[at]), Choice("least", pool, looked, float(worth[at]), share)
    near = _near(candidates.rows[places], waiting)
    at = int(np.argmax(np.where(near, -np.inf, worth) if not near.all() else worth))
    return int(places[at]), Choice("auto", pool, looked, float(worth[at]), share)


def _near(rows: Array, waiting: Array) -> Array:
    """Return which rows are as near to one that waits as they are, half of them, to the next candidate."""
    if not len(waiting) or len(rows) < 3:
        return np.zeros(len(rows), np.bool_)
    scale = np.maximum(rows.std(axis=0), 1e-12)
    rows, waiting = rows / scale, waiting / scale
    among, aside = _squares(rows, rows), _squares(rows, waiting).min(axis=1)
    np.fill_diagonal(among, np.inf)
    return np.asarray(aside < np.median(among.min(axis=1)))


def _squares(rows: Array, others: Array) -> Array:
    """Return |x_i - z_j|^2."""
    return np.asarray((rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * rows @ others.T)


def sampled(uniform: Array, rows: int) -> Array:
    """Return as many different places of ``rows`` as there are uniforms, ascending: by Floyd's algorithm.

    Each set of places is equally likely, at a cost that does not depend on ``rows``.

    >>> sampled(np.array([0.1, 0.9, 0.1]), 1000).tolist()
    [99, 100, 899]
    """
    found: set[int] = set()
    for j, u in enumerate(uniform.tolist(), start=rows - len(uniform)):
        place = int(u * (j + 1))
        found.add(j if place in found else place)
    return np.array(sorted(found), dtype=np.int64)
