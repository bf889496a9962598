"""A step size without labels: several are tried on a stated number of answers, and exam bits choose among them.

Every member has a step size of its own and learns from its own questions; a share of the questions are exams
(``exams``), drawn between the members' predictions, whose bits say without bias by how much the risk of one is above
that of another.  After each part of the ``bits`` half of them is out, until the best is left and goes on alone.
Members stand in the order of their steps, and as long steps start badly and end well, it is longer ones that stay
beside the best.

The favourite (the default step) is out only if it is more than one standard error of the paired difference behind
the best: where answers are too few to tell, it stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_count, as_number, as_row, as_rows
from askone.errors import InvalidArgument
from askone.labels.number import Real
from askone.learners.abilities import HasRange, Streams, TakesSlopes, Wraps, row_by_row
from askone.learners.base import as_uniform, marked, of_family, unmarked
from askone.learners.exams import PURPOSE, exam, exam_width, local, scores
from askone.learners.sgd.sgd import SGDLearner, SGDState
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question
from askone.questions.half_space import HalfSpace

_WELL_TRIED = 300  # bits: below, a choice is not sure enough to go beyond it
_MARK = "step "  # and the member's place: whose question it is


@final
@dataclass(frozen=True, eq=False)
class SearchState:
    """The states of the members (None: out), sums of their exam scores and of squared differences, and counts."""

    parts: tuple[SGDState | None, ...]
    totals: Array
    squares: Array
    exams: float
    count: int


@final
@dataclass(frozen=True, eq=False)
class StepSearch(Streams[SearchState], TakesSlopes[SearchState], HasRange[SearchState], Wraps[SearchState]):
    """The best of several step sizes, chosen from ``bits`` answers without a label.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.learners.models.linear import FeatureModel
    >>> from askone.learners.step_rules import InverseSqrt
    >>> model = FeatureModel(Linear(Scaler.identity(1)))
    >>> steps = tuple(SGDLearner(Real(0, 100), model, step=InverseSqrt(gamma)) for gamma in (0.01, 1.0))
    >>> learner, draws = StepSearch(steps, favourite=0, bits=60), np.random.default_rng(0)
    >>> state = learner.init()
    >>> for uniform in draws.random((60, 2)):
    ...     question = learner.ask(state, [0.0], uniform)
    ...     state = learner.tell(state, [0.0], question, question.holds(80.0))
    >>> learner.alive(state)
    (1,)
    """

    members: tuple[SGDLearner, ...]
    favourite: int
    bits: int = 600
    exams: float = 0.3

    def __post_init__(self) -> None:
        front = self.members[0]
        if any(one.space != front.space or one.columns != front.columns for one in self.members):
            raise InvalidArgument("members", "learners of the same labels and rows", "different ones")
        as_count(self.favourite, "favourite", 0, len(self.members) - 1)
        as_count(self.bits, "bits", 1)
        as_number(self.exams, "exams", 0.0, 1.0, strict=True)

    # -- shape ------------------------------------------------------------------------------------

    @property
    def space(self) -> Real:  # type: ignore[override]  # the members'
        return self.members[0].space

    @cached_property
    def width(self) -> int:
        """A member's draws or an exam's, and whose question it is."""
        return max(self.members[0].width, exam_width(self.space)) + 1

    @property
    def local(self) -> bool:
        """As its members."""
        return self.members[0].local

    @property
    def wrapped(self) -> tuple[SGDLearner, ...]:
        return self.members

    def within(self, space: Real) -> StepSearch:
        return replace(self, members=tuple(one.within(space) for one in self.members))

    def init(self) -> SearchState:
        K = len(self.members)
        return SearchState(tuple(one.init() for one in self.members), np.zeros(K), np.zeros((K, K)), 0.0, 0)

    def alive(self, state: SearchState) -> tuple[int, ...]:
        """Return the places of the members that are in."""
        return tuple(i for i, part in enumerate(state.parts) if part is not None)

    def leading(self, state: SearchState) -> int:
        """Return the place of the member with the least risk so far; the favourite, if it is not clearly behind."""
        alive = self.alive(state)
        best = min(alive, key=lambda i: float(state.totals[i]))
        return self.favourite if self.favourite in alive and not self._behind(state, self.favourite, best) else best

    def count(self, state: SearchState) -> int:
        return state.count

    def predict(self, state: SearchState, X: ArrayLike) -> Array:
        """Return the leader's prediction."""
        place = self.leading(state)
        return self.members[place].predict(self._part(state, place), X)

    # -- questions and answers --------------------------------------------------------------------

    def ask(self, state: SearchState, x: ArrayLike, uniform: Array) -> Question:
        """Return a member's question, by lot, or an exam for all."""
        alive, drawn = self.alive(state), as_uniform(uniform, self.width)
        whose = float(drawn[-1])
        if len(alive) > 1 and whose < self.exams:
            wide = 0.0 if local(self.members[0].gradient.loss) else 1.0
            draws = drawn[: exam_width(self.space)]
            return exam(self.space, self._predictions(state, x)[list(alive)], draws, wide, state.count)
        place = alive[min(int((whose - self.exams) / (1.0 - self.exams) * len(alive)), len(alive) - 1)]
        member = self.members[place]
        question = of_family(member.ask(self._part(state, place), x, drawn[: member.width]), HalfSpace)
        return question if len(alive) == 1 else replace(question, purpose=f"{_MARK}{place}")

    def tell(self, state: SearchState, x: ArrayLike, question: Question, answer: Answer) -> SearchState:
        """Let the member that asked learn, or all be judged; when it is time the worse half is out."""
        asked, alive = of_family(question, HalfSpace), self.alive(state)
        if asked.purpose == PURPOSE:
            state = self._judged(state, x, asked, asked.accept(answer)) if len(alive) > 1 else state
        else:
            # A question of somebody else, without a mark, is everybody's.
            own = asked.purpose.startswith(_MARK)
            learns = {int(asked.purpose.removeprefix(_MARK))} if own else set(alive)
            parts = [
                self.members[i].tell(part, x, asked, answer) if part is not None and i in learns else part
                for i, part in enumerate(state.parts)
            ]
            state = replace(state, parts=tuple(parts))
        state = replace(state, count=state.count + 1)
        return self._thinned(state) if len(alive) > 1 and state.count in self._ends else state

    def stream(self, state: SearchState, X: Array, task: StreamTask) -> SearchState:
        """Row by row while there is a choice, then as the member does."""
        done = 0
        while done < len(X) and len(self.alive(state)) > 1:
            state = row_by_row(self, state, X[done : done + 1], task.part(done, done + 1))
            done += 1
        if done == len(X):
            return state
        (place,) = self.alive(state)
        member, parts = self.members[place], list(state.parts)
        before = self._part(state, place)
        parts[place] = member.stream(before, X[done:], task.part(done).narrowed(member.width))
        learnt = member.count(self._part(replace(state, parts=tuple(parts)), place)) - member.count(before)
        return replace(state, parts=tuple(parts), count=state.count + learnt)

    @cached_property
    def _ends(self) -> frozenset[int]:
        """After how many answers some are out: as many times as it takes to halve them to one."""
        times = max(1, math.ceil(math.log2(len(self.members))))
        return frozenset(-(-self.bits * (i + 1) // times) for i in range(times))

    def _judged(self, state: SearchState, x: ArrayLike, asked: HalfSpace, yes: bool) -> SearchState:
        loss, said = self.members[0].gradient.loss, self._predictions(state, x)
        each = (scores(self.space, loss, said, asked, bit) for bit in (True, False))
        found = asked.slips.flipped(self.members[0].flip).unbiased(*each)[0 if yes else 1]
        apart = found[:, None] - found[None, :]
        return replace(
            state, totals=state.totals + found, squares=state.squares + apart * apart, exams=state.exams + 1.0
        )

    def _predictions(self, state: SearchState, x: ArrayLike) -> Array:
        """Return what each member predicts (0 of one that is out), members x outputs."""
        row = as_rows(as_row(x, self.columns), self.columns)
        return np.array(
            [
                np.zeros(self.space.m) if part is None else one.predict(part, row)[0]
                for one, part in zip(self.members, state.parts, strict=True)
            ]
        )

    def _behind(self, state: SearchState, one: int, other: int) -> bool:
        """Return whether one is more than a standard error of the paired difference behind another."""
        n = state.exams
        gap = float(state.totals[one] - state.totals[other])
        return n > 1.0 and gap * gap * (1.0 + 1.0 / n) > float(state.squares[one, other]) and gap > 0.0

    def _thinned(self, state: SearchState) -> SearchState:
        """Keep half of the members, next to each other: the best, one below it where there is room, and longer ones."""
        alive = self.alive(state)
        keep = (len(alive) + 1) // 2
        best = min(alive, key=lambda i: float(state.totals[i]))
        start = max(0, min(alive.index(best) - (keep > 2), len(alive) - keep))
        left = set(alive[start : start + keep])
        if state.count >= self.bits:
            return self._decided(state)
        if self.favourite in alive and not self._behind(state, self.favourite, best):
            left.add(self.favourite)
        # Members improve: exams of before count half.
        return replace(
            state,
            parts=tuple(part if i in left else None for i, part in enumerate(state.parts)),
            totals=0.5 * state.totals,
            squares=0.5 * state.squares,
            exams=0.5 * state.exams,
        )

    def _decided(self, state: SearchState) -> SearchState:
        """Let the leader's state go on, if it was well tried with the next longer step.

        What is best for few answers is too short for many: found on simulations, where it is worth a fifth.
        """
        place = self.leading(state)
        part = state.parts[place]
        longer = min(place + (self.bits >= _WELL_TRIED), len(self.members) - 1)
        return replace(state, parts=tuple(part if i == longer else None for i in range(len(state.parts))))

    def _part(self, state: SearchState, place: int) -> SGDState:
        part = state.parts[place]
        assert part is not None
        return part

    # -- the state as a value ---------------------------------------------------------------------

    def to_arrays(self, state: SearchState) -> dict[str, Array]:
        alive = self.alive(state)
        counts = np.array([state.exams, float(state.count)])
        arrays = {"alive": np.array(alive), "totals": state.totals, "squares": state.squares, "counts": counts}
        for i in alive:
            arrays |= marked(f"{i}-", self.members[i].to_arrays(self._part(state, i)))
        return arrays

    def from_arrays(self, arrays: dict[str, Array]) -> SearchState:
        alive = set(arrays["alive"].tolist())
        each = enumerate(self.members)
        parts = tuple(one.from_arrays(unmarked(f"{i}-", arrays)) if i in alive else None for i, one in each)
        exams, count = arrays["counts"].tolist()
        return SearchState(parts, arrays["totals"], arrays["squares"], exams, int(count))
