"""How a model's error fell: against labels where it was simulated, by its own account where people answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from scipy import special

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.labels.base import Space
from askone.labels.classes import FiniteSpace
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.labels.wording import percent_text, rounded_text
from askone.learners import abilities
from askone.learners.base import Learner
from askone.session.simulation import checkpoints
from askone.session.stream import Stream

if TYPE_CHECKING:
    from rich import progress as bars
else:
    bars = lazy_import("rich.progress")

_ROWS: Final = 200  # that errors are taken over
_PER_DECADE: Final = 5
_STEPS: Final = 100  # of a bar
_NORMAL: Final = float(np.sqrt(2 / np.pi))  # E|e| of a normal error of deviation 1


@final
@dataclass(frozen=True)
class LearningCurve:
    """Errors against the number of questions: ``points``; ``measure`` and ``unit`` say what an error is."""

    measure: str
    unit: str
    points: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        count, error = self.points[-1]
        shown = percent_text(error, ".1f") if self.unit == "%" else f"{rounded_text(error)} {self.unit}".rstrip()
        return f"{self.measure}: {shown} after {count:,} questions"


@final
@dataclass(frozen=True, eq=False)
class Judge:
    """Rows whose labels are known to whoever simulates, and the mean error of predictions there."""

    space: Real | FiniteSpace | Ranking
    rows: Array
    labels: Array
    clip: bool

    def error(self, values: Array) -> float:
        """Return the mean absolute error, the share of wrong classes, or that of pairs in the wrong order."""
        if isinstance(self.space, Real):
            values = self.space.clipped(values) if self.clip else values
            return float(np.abs(values - self.labels).mean())
        found = self.space.decode(values, self.rows)
        if isinstance(self.space, Ranking):
            return float((1 - self.space.embed(found) * self.space.embed(self.labels)).mean() / 2)
        return float(np.mean(found[:, 0] != self.labels[:, 0]))

    def curve(self, points: list[tuple[int, float]]) -> LearningCurve:
        """Return points with what they measure."""
        return _curve(self.space, points)


def judge_of(space: Space, clip: bool, rows: Array, y: Any) -> Judge | None:
    """Return who takes errors over some of the rows; None where to decode predictions takes long."""
    slow = isinstance(space, Ranking) and space.embedding != "items"
    if slow or not isinstance(space, Real | FiniteSpace | Ranking):
        return None
    places = _some(len(rows))
    return Judge(space, rows[places], space.labels(np.asarray(y)[places]), clip)


def _some(count: int) -> Array:
    return np.unique(np.linspace(0, count - 1, min(count, _ROWS)).astype(np.int64))


def own_account(stream: Stream, rows: Array) -> LearningCurve | None:
    """Return the errors that the model itself expects, at the states that its stream still has.

    By its deviations s: of numbers E|e| = sqrt(2/pi) s for normal errors, of orders the mean over pairs of
    Phi(-|f_i - f_j| / sqrt(s_i^2 + s_j^2)); of classes 1 - max_y p(y|x).
    """
    learner, X = stream.learner, rows[_some(len(rows))]
    states = [state for state in stream.past() if learner.count(state)]
    found = [(learner.count(state), _expected(learner, state, X)) for state in states]
    points = [(count, float(errors.mean())) for count, errors in found if errors is not None]
    return _curve(learner.space, points, ", as the model expects") if points else None


def _curve(space: Space, points: list[tuple[int, float]], by: str = "") -> LearningCurve:
    """Return points with what an error is for these labels, and by whose account."""
    if isinstance(space, Real):
        return LearningCurve(f"mean absolute error{by}", space.unit, tuple(points))
    what = "pairs in the wrong order" if isinstance(space, Ranking) else "wrong classes"
    return LearningCurve(f"share of {what}{by}", "%", tuple(points))


def _expected(learner: Learner[Any], state: Any, X: Array) -> Array | None:
    if isinstance(learner.space, FiniteSpace):
        chances = abilities.probabilities(learner, state, X)
        return None if chances is None else 1 - chances.max(axis=1)
    spread = abilities.deviation(learner, state, X)
    if spread is None or isinstance(learner.space, Real):
        return None if spread is None else _NORMAL * spread
    scores = learner.predict(state, X)
    i, j = np.triu_indices(scores.shape[1], 1)
    apart = np.abs(scores[:, i] - scores[:, j])
    return np.asarray(special.ndtr(-apart / np.hypot(spread[:, i], spread[:, j])))


@final
class FitWatch:
    """What a simulation is looked at for: errors at some numbers of questions, and how far it is."""

    def __init__(self, judge: Judge | None, most: int, advance: Callable[[int], None] | None) -> None:
        self._judge, self.advance = judge, advance
        even = range(most // _STEPS, most, max(1, most // _STEPS)) if advance is not None and most >= _STEPS else ()
        self.at = sorted({*checkpoints(most, _PER_DECADE), *even}) if judge is not None or even else []
        self.points: list[tuple[int, float]] = []

    @property
    def judging(self) -> dict[str, Any]:
        """What ``simulate`` is told."""
        errors = {} if self._judge is None else {"evaluate": self._judge.error, "test": self._judge.rows}
        return {"at": self.at, "progress": self.advance, **errors}

    def look(self, stream: Stream, asked: int) -> None:
        """Look after so many questions."""
        if asked in self.at and self._judge is not None:
            self.points.append((asked, self._judge.error(stream.predict(self._judge.rows))))
        if self.advance is not None:
            self.advance(asked)

    def curve(self) -> LearningCurve | None:
        """Return what was seen."""
        return None if self._judge is None or not self.points else self._judge.curve(self.points)


@contextmanager
def bar(shown: bool, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """A bar of questions, in a terminal or a notebook, where one is wanted."""
    if not shown:
        yield None
        return
    columns = (bars.TextColumn("questions"), bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn())
    with bars.Progress(*columns) as progress:
        task = progress.add_task("", total=total)
        yield lambda asked: progress.update(task, completed=asked)
