"""Several learners, one answer at a time for all of them, and the forecasts decide who stays.

Which bandwidth, which features? The answers say: every member forecasts each answer before it learns it.  Questions
come from the leader, the member of least loss; predictions from all, with the shares of ``Scores``.  After 256, 512,
1024, ...  answers a member is out if it is more than ``errors`` standard errors behind the best one, and after
``last`` answers all but the leader are: from then on an answer costs what it costs the leader alone.  Some members are
``quick``: a line is soon as good as it will ever be, while finer models are still behind.  These may lead, but do not
put the best of the others out before it is clearly behind them; after half of ``last`` it and the leader are all that
is left, and after ``last`` both stay until it leads, or is clearly behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log
from askone._common.types import Array
from askone._common.validate import as_count, as_number
from askone.errors import InvalidArgument
from askone.learners.abilities import (
    AsksAgain,
    AsksAt,
    AsksMany,
    Forecasts,
    HasDeviation,
    HasProbabilities,
    Hindsight,
    Opens,
    StreamsForecasts,
    Wraps,
    able,
    ahead,
    ask_ahead,
    ask_at,
    ask_many,
    deviation,
    hindsight,
    learnt_ahead,
    learnt_into,
    opened,
    probabilities,
    relearnt,
    stream_while,
)
from askone.learners.base import as_uniform, marked, unmarked
from askone.learners.scores import Scores, slipped
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question

_BLOCK = 64  # rows that members look at together
_FADED = 0.25  # of what forecasts counted for before all was learnt anew


@final
@dataclass(frozen=True, eq=False)
class ContestState:
    """The states of the members (None: out), and how well they forecast."""

    parts: tuple[Any, ...]
    scores: Scores


@final
@dataclass(frozen=True, eq=False)
class Contest(
    HasDeviation[ContestState],
    HasProbabilities[ContestState],
    Hindsight[ContestState],
    AsksAt[ContestState],
    AsksMany[ContestState],
    Opens[ContestState],
    StreamsForecasts[ContestState],
    Wraps[ContestState],
):
    """The best of several learners that forecast, found while they learn.  Ties are the first one's.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> from askone.learners.softmax.classifier import SetLikelihoodLearner
    >>> animals = Classes(("cat", "lion", "owl"))
    >>> near, far = (SetLikelihoodLearner(animals, Linear(Scaler.identity(1)), scales=(s,)) for s in (1e-6, 1.0))
    >>> learner = Contest((near, far), first=8, last=16)
    >>> state = learner.init()
    >>> for i in range(16):
    ...     question = learner.ask(state, [1.0], np.full(3, (i + 0.5) / 16))
    ...     state = learner.tell(state, [1.0], question, "owl" in question.members)
    >>> learner.alive(state), learner.leading(state)[0] is far
    ((1,), True)
    """

    members: tuple[Forecasts[Any], ...]
    quick: tuple[int, ...] = ()
    errors: float = 2.0
    first: int = 256
    last: int = 2048

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple | list) or not self.members:
            raise InvalidArgument("members", "a list of learners", self.members)
        object.__setattr__(self, "members", tuple(self.members))
        for member in self.members:
            if not able(member, Forecasts) or isinstance(member, AsksAgain):
                raise InvalidArgument("members", "learners that forecast answers", type(member).__name__)
        front = self.members[0]
        if any(member.space != front.space or member.columns != front.columns for member in self.members):
            raise InvalidArgument("members", "learners of the same labels and rows", "different ones")
        object.__setattr__(self, "quick", tuple(self.quick))
        for place in self.quick:
            as_count(place, "quick", 0, len(self.members) - 1)
        as_number(self.errors, "errors", 0.0)
        as_count(self.first, "first", 1)
        as_count(self.last, "last", self.first)

    # -- shape ------------------------------------------------------------------------------------

    @cached_property
    def width(self) -> int:
        """As many uniforms as any member wants; each takes the first of them."""
        return max(member.width for member in self.members)

    @property
    def wrapped(self) -> tuple[Forecasts[Any], ...]:
        return self.members

    def init(self) -> ContestState:
        return ContestState(tuple(one.init() for one in self.members), Scores.none(len(self.members)))

    def alive(self, state: ContestState) -> tuple[int, ...]:
        """Return the places of the members that are in."""
        return tuple(i for i, part in enumerate(state.parts) if part is not None)

    def leading(self, state: ContestState) -> tuple[Forecasts[Any], Any]:
        """Return the leader and its state."""
        place = self._leader(state)
        return self.members[place], state.parts[place]

    def _leader(self, state: ContestState) -> int:
        return state.scores.best(self.alive(state))

    # -- what the leader says ---------------------------------------------------------------------

    def ask(self, state: ContestState, x: ArrayLike, uniform: Array) -> Question:
        leader, part = self.leading(state)
        return leader.ask(part, x, as_uniform(uniform, self.width)[: leader.width])

    def ask_many(self, state: ContestState, X: ArrayLike, uniform: Array) -> list[Question]:
        leader, part = self.leading(state)
        return ask_many(leader, part, X, np.asarray(uniform)[:, : leader.width])

    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        return ask_at(self.members[0], believed, np.asarray(uniform)[:, : self.members[0].width], learnt)

    def predict(self, state: ContestState, X: ArrayLike) -> Array:
        """Return the weighted mean of the predictions."""
        return np.asarray(sum(weight * one.predict(part, X) for weight, one, part in self.weighted(state)))

    def probabilities(self, state: ContestState, X: ArrayLike) -> Array | None:
        """Return p(y|x), the weighted mean."""
        said = [(weight, probabilities(one, part, X)) for weight, one, part in self.weighted(state)]
        return None if any(p is None for _, p in said) else np.asarray(sum(w * p for w, p in said if p is not None))

    def std(self, state: ContestState, X: ArrayLike) -> Array | None:
        """Return the deviation of the mixture: sum of w_i (s_i^2 + (f_i - f)^2), with f the weighted mean."""
        square, middle = np.zeros(()), self.predict(state, X)
        for weight, one, part in self.weighted(state):
            s = deviation(one, part, X)
            if s is None:
                return None
            square = square + weight * (s**2 + (one.predict(part, X) - middle) ** 2)
        return np.sqrt(square)

    def chance(self, state: ContestState, x: ArrayLike, question: Question) -> float:
        """Return p(yes), the weighted mean."""
        return sum(weight * one.chance(part, x, question) for weight, one, part in self.weighted(state))

    def hindsight(
        self, state: ContestState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return what the leader says."""
        leader, part = self.leading(state)
        return hindsight(leader, part, X, questions, answers)

    def relearnt(
        self, state: ContestState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> ContestState:
        """See ``Hindsight.relearnt``: all that are in; how well they forecast before counts little from then on."""
        each = zip(self.members, state.parts, strict=True)
        parts = [None if part is None else relearnt(one, part, X, questions, answers) for one, part in each]
        return ContestState(tuple(parts), state.scores.faded(_FADED))

    def worth(self, state: ContestState, X: ArrayLike) -> Array:
        """Return what an answer should tell the leader."""
        leader, part = self.leading(state)
        return leader.worth(part, X)

    def count(self, state: ContestState) -> int:
        """Return answers learnt: members that are in have learnt all."""
        place = next(i for i, part in enumerate(state.parts) if part is not None)
        return self.members[place].count(state.parts[place])

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: ContestState, x: ArrayLike, question: Question, answer: Answer) -> ContestState:
        """Let all that are in forecast the answer and learn it; when it is time, those clearly behind are out."""
        return self.learnt_and_said(state, x, question, answer)[1]

    def learnt_and_said(
        self, state: ContestState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, ContestState]:
        """See ``Forecasts.learnt_and_said``: the members' forecasts, by weight."""
        return self._learnt(state, lambda i, part: self.members[i].learnt_and_said(part, x, question, answer))

    def learnt_into(
        self, state: ContestState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, ContestState]:
        return self._learnt(state, lambda i, part: learnt_into(self.members[i], part, x, question, answer))

    def _learnt(
        self, state: ContestState, learn: Callable[[int, Any], tuple[float, Any]]
    ) -> tuple[float, ContestState]:
        """Return the forecast of an answer and the state after it, where member i learns it by ``learn(i, part)``."""
        alive, parts = self.alive(state), list(state.parts)
        if len(alive) == 1:
            said, parts[alive[0]] = learn(alive[0], parts[alive[0]])
            return said, replace(state, parts=tuple(parts))
        losses, total = np.zeros(len(state.parts)), 0.0
        for i, weight in zip(alive, state.scores.shares(alive), strict=True):
            said, parts[i] = learn(i, parts[i])
            losses[i] = -log(slipped(said))
            total += weight * said
        state = ContestState(tuple(parts), state.scores.after(losses, self.count(state)))
        return total, self._thinned(state) if self._due(self.count(state)) else state

    def stream(self, state: ContestState, X: Array, task: StreamTask) -> ContestState:
        """Ask and learn about many rows; once one learner is left, by its own stream."""
        return self.stream_while(state, X, task, lambda *_: True)[1]

    def stream_while(
        self, state: ContestState, X: Array, task: StreamTask, go_on: Callable[[int, float], bool]
    ) -> tuple[int, ContestState]:
        """See ``StreamsForecasts.stream_while``: of some rows at a time, what members can know ahead."""
        known: dict[int, Array] = {}
        state = self.opened(state)
        for i in range(len(X)):
            if len(self.alive(state)) == 1:
                return self._alone(state, X, task, i, go_on)
            if i % _BLOCK == 0:
                known = {one: ahead(self.members[one], X[i : i + _BLOCK]) for one in self.alive(state)}
            row, leader = {one: F[i % _BLOCK] for one, F in known.items()}, self._leader(state)
            uniform = task.draw(task.first + i, 1)[0, : self.members[leader].width]
            question = ask_ahead(self.members[leader], state.parts[leader], row[leader], uniform)
            answer = task.answer(i, question)
            if answer is not None:
                said, state = self._learnt_ahead(state, row, question, answer)
                if not go_on(i, said):
                    return i + 1, state
        return len(X), state

    def opened(self, state: ContestState) -> ContestState:
        each = zip(self.members, state.parts, strict=True)
        return replace(state, parts=tuple(None if part is None else opened(one, part) for one, part in each))

    def _learnt_ahead(
        self, state: ContestState, known: dict[int, Array], question: Question, answer: Answer
    ) -> tuple[float, ContestState]:
        """Return what ``learnt_and_said`` does, from what members know of the row."""
        return self._learnt(state, lambda i, part: learnt_ahead(self.members[i], part, known[i], question, answer))

    def _alone(
        self, state: ContestState, X: Array, task: StreamTask, first: int, go_on: Callable[[int, float], bool]
    ) -> tuple[int, ContestState]:
        """Return the stream from a row on, of the one member that is left."""
        (place,), parts = self.alive(state), list(state.parts)
        member = self.members[place]
        rest = task.part(first).narrowed(member.width)
        met, parts[place] = stream_while(member, parts[place], X[first:], rest, lambda i, said: go_on(first + i, said))
        return first + met, replace(state, parts=tuple(parts))

    def _due(self, count: int) -> bool:
        """At ``first`` times a power of two, and at the last."""
        times, rest = divmod(count, self.first)
        return count >= self.last or (rest == 0 and times & (times - 1) == 0)

    def _thinned(self, state: ContestState) -> ContestState:
        """Without those clearly behind, or in the end without all but the leader, and who may yet overtake it."""
        alive, told = self.alive(state), self.count(state)
        steady = [i for i in alive if i not in self.quick] or list(alive)
        best = state.scores.best(steady)
        behind = state.scores.behind(best)
        left = {i for i in alive if behind[i] <= self.errors}
        if 2 * told >= self.last:
            left &= {best, self._leader(state)}
        if told >= self.last:
            leader = self._leader(state)
            left = {leader}
            if leader in self.quick and state.scores.behind(leader)[best] <= self.errors:
                left.add(best)
        return replace(state, parts=tuple(part if i in left else None for i, part in enumerate(state.parts)))

    def weighted(self, state: ContestState) -> list[tuple[float, Forecasts[Any], Any]]:
        """Return the members that are in, with their states, and the weights of their predictions."""
        alive = self.alive(state)
        shares = zip(state.scores.shares(alive), alive, strict=True)
        return [(w, self.members[i], state.parts[i]) for w, i in shares]

    # -- the state as a value ---------------------------------------------------------------------

    def to_arrays(self, state: ContestState) -> dict[str, Array]:
        alive = self.alive(state)
        arrays = {"alive": np.array(alive), "losses": state.scores.losses, "squares": state.scores.squares}
        for i in alive:
            arrays |= marked(f"{i}-", self.members[i].to_arrays(state.parts[i]))
        return {**arrays, "weights": np.array(state.scores.weights)}

    def from_arrays(self, arrays: dict[str, Array]) -> ContestState:
        alive = set(arrays["alive"].tolist())
        each = enumerate(self.members)
        parts = tuple(one.from_arrays(unmarked(f"{i}-", arrays)) if i in alive else None for i, one in each)
        total, squared = arrays["weights"].tolist()
        return ContestState(parts, Scores(arrays["losses"], arrays["squares"], (total, squared)))
