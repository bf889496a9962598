"""The model's state after a campaign's lessons: brought up to date when there is time for it.

The state after the first k lessons is a fold and depends on nothing else; how large k is at a moment depends on how
much time there was.  So people are served while a few answers are still being learnt from, and what a question
was made at stands in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from askone._common.types import Array
from askone.campaign.engine.training_set import Asking, Lessons
from askone.learners.abilities import Forecasts, able
from askone.learners.base import Learner

Features = Callable[[Sequence[int]], Array]
"""Rows as the model sees them, by position."""
_RECENT, _DENSE, _CHUNK = 8, 3, 500


@final
class Learning:
    """See the module.  States on the way are kept, the further back the fewer: lessons may be taken back."""

    def __init__(
        self, learner: Learner[Any], features: Features, asked: Mapping[int, Asking], lessons: Lessons
    ) -> None:
        self.learner, self._features, self._asked, self.lessons = learner, features, asked, lessons
        self.state = learner.init()
        self._learnt = 0
        self._states: dict[int, Any] = {0: self.state}
        self._first = {0}

    @property
    def pending(self) -> int:
        """Lessons that the state does not have yet, or has from before they changed."""
        return len(self.lessons.all) - min(self._learnt, self.lessons.changed)

    @property
    def learnt(self) -> int:
        """Lessons that the state has."""
        return self._learnt

    @property
    def valid(self) -> bool:
        """Whether the state's lessons are still as they were."""
        return self.lessons.changed >= self._learnt

    def settle(self, go_on: Callable[[], bool] | None = None) -> None:
        """Learn what the lessons teach, from where they changed if they did; ``go_on`` is asked before each."""
        lessons = self.lessons
        if lessons.changed < self._learnt:
            self._rewind(lessons.changed)
        for start in range(self._learnt, len(lessons.all), _CHUNK):
            if not self._learn(start, start + _CHUNK, go_on):
                break

    def _rewind(self, changed: int) -> None:
        kept = max(count for count in self._states if count <= changed)
        self._states = {count: state for count, state in self._states.items() if count <= kept}
        self._learnt, self.state = kept, self._states[kept]
        self.lessons.changed = kept

    def _learn(self, start: int, end: int, go_on: Callable[[], bool] | None) -> bool:
        """Lessons from ``start`` on, up to ``end``; whether there is time for more."""
        chunk = self.lessons.all[start:end]
        if go_on is not None and not go_on():
            return False
        asked = [self._asked[lesson.number] for lesson in chunk]
        rows = self._features([asking.position for asking in asked])
        for place, (lesson, asking, x) in enumerate(zip(chunk, asked, rows, strict=True)):
            if place and go_on is not None and not go_on():
                return False
            if asking.role != "exam" or able(self.learner, Forecasts):  # a slope must be asked for at the prediction
                self.state = self.learner.tell(self.state, x, asking.question, lesson.answer)
            self._learnt += 1
            self.lessons.changed = self._learnt
            self._keep()
        return True

    def _keep(self) -> None:
        self._states[self._learnt] = self.state
        if self._learnt % _RECENT == 0:
            for count in [count for count in self._states if not self._is_kept(count)]:
                del self._states[count]

    def _is_kept(self, count: int) -> bool:
        """Whether the state after so many lessons stays: the further back, the fewer, by powers of two.

        So there are about log n of them, and to take back what was learnt k lessons ago takes fewer than 2k.
        """
        back = self._learnt - count
        return back <= _RECENT or back <= _DENSE * (count & -count) or count in self._first

    def adopt(self, state: Any, count: int) -> None:
        """A state that was kept after the first ``count`` lessons (see ``Lessons.digest``)."""
        self.state, self._learnt = state, count
        self._states[count] = state
        self._first.add(count)
        self.lessons.changed = count
