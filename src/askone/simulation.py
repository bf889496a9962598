"""A learner against an oracle: the same functions as in a live campaign, in compiled blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from askone import draws
from askone.errors import InvalidArgument
from askone.inputs import as_count, as_rows
from askone.learners.base import Block, Learner
from askone.oracles import Oracle

Array = NDArray[Any]


@final
@dataclass(frozen=True, eq=False)
class Simulation:
    """What came out: the last state, a curve (questions asked, error) and, if kept, the questions."""

    state: Any
    curve: list[tuple[int, float]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def checkpoints(questions: int, per_decade: int = 10) -> list[int]:
    """Numbers of questions, evenly spaced on a logarithmic scale, the last being all of them.

    >>> checkpoints(1000, 3)
    [1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    """
    as_count(questions, "questions", 1)
    points = np.round(np.logspace(0, np.log10(questions), int(np.log10(questions) * per_decade) + 1)).astype(int)
    return sorted({*points.tolist(), questions})


def simulate(
    learner: Learner[Any],
    X: ArrayLike,
    oracle: Oracle,
    *,
    seed: int = 0,
    state: Any = None,
    evaluate: Callable[[Array], float] | None = None,
    test: ArrayLike | None = None,
    at: Sequence[int] | None = None,
    keep: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Simulation:
    """One question for each row of X, in order, answered by the oracle.

    ``evaluate`` turns predictions on the rows ``test`` into an error, at the numbers of questions
    ``at`` (default: logarithmically spaced).  ``progress`` is called with questions asked so far.
    ``keep`` keeps every question and answer.
    """
    rows = as_rows(X, learner.columns)
    if len(rows) > len(oracle):
        raise InvalidArgument("X", f"at most {len(oracle)} rows, as the oracle has labels", f"{len(rows)} rows")
    if evaluate is not None and test is None:
        raise InvalidArgument("test", "rows to evaluate on", None)
    held_out = None if test is None else as_rows(test, learner.columns, "test")
    stops = sorted({*(at if at is not None else checkpoints(len(rows))), len(rows)})
    outcome = Simulation(learner.init() if state is None else state)
    done, now = 0, outcome.state
    # A stream is many small matrix products: threads would slow them down, and change their last digits.
    with threadpool_limits(limits=1, user_api="blas"):
        for stop in (s for s in stops if 0 < s <= len(rows)):
            now = learner.stream(
                now,
                rows[done:stop],
                lambda first, count: draws.uniforms(seed, first, count, learner.width),
                oracle,
                done,
                outcome.blocks.append if keep else None,
            )
            done = stop
            if evaluate is not None and held_out is not None:
                outcome.curve.append((done, evaluate(learner.predict(now, held_out))))
            if progress is not None:
                progress(done)
    return Simulation(now, outcome.curve, outcome.blocks)
