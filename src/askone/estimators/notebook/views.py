"""What a model shows of itself in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from askone._common.types import Array, Key
from askone.errors import AskoneError, NotYet
from askone.estimators.notebook import plots
from askone.estimators.notebook.card import card, described
from askone.estimators.notebook.curve import LearningCurve, own_account
from askone.estimators.notebook.log_frame import log_frame
from askone.labels.base import Space
from askone.learners.abilities import space_at
from askone.session.log import Event, Kept
from askone.session.stream import Stream


class NotebookViews(ABC):
    """Learning curve, plots, the log as a data frame, and a card in place of scikit-learn's diagram."""

    _curve: LearningCurve | None = None
    """Of a simulation, against its labels."""
    _memory: Kept | None

    @property
    @abstractmethod
    def log_(self) -> list[Event]:
        """Every question and answer."""

    @property
    @abstractmethod
    def rows_(self) -> dict[Key, Array]:
        """The rows that were asked about."""

    @abstractmethod
    def _stream(self) -> Stream | None:
        """Return what asks and learns, once there is one."""

    @abstractmethod
    def _started(self) -> Stream:
        """Return what asks and learns; raise if there is none yet."""

    @abstractmethod
    def _space(self) -> Space:
        """Return the labels that were declared."""

    @abstractmethod
    def _choice(self) -> Any:
        """Return the learner as an object."""

    def _declared(self) -> bool:
        """Return whether it was said what labels are, their range included."""
        return True

    def learning_curve(self) -> LearningCurve:
        """Return how the error fell: against y in ``fit``, else as the model itself expects it at rows asked about.

        Only a learner that says how sure it is has the latter.
        """
        stream = self._started()
        if self._curve is not None:
            return self._curve
        rows = [] if self._memory is None else list(self._memory.rows.values())
        found = own_account(stream, np.array(rows)) if rows else None
        if found is None:
            raise NotYet("this model has no learning curve: fit it to labels, or ask and tell with a default learner")
        return found

    def plot_curve(self, ax: Any = None) -> Any:
        """Draw ``learning_curve``, on axes of matplotlib or on new ones; returns the axes."""
        return plots.plot_curve(self.learning_curve(), ax)

    def plot_questions(self, ax: Any = None) -> Any:
        """Draw what was asked and answered (see ``keep_log``), on axes of matplotlib or on new ones; returns them."""
        return plots.plot_questions(self.log_, self.rows_, ax)

    def log_frame(self) -> Any:
        """Return the log as a data frame of pandas, a line for each question."""
        return log_frame(self.log_)

    def _repr_html_(self) -> str:
        curve = None
        with suppress(NotYet):
            curve = self.learning_curve()
        return card(type(self).__name__, [*self._facts(), *([] if curve is None else [("error", str(curve))])], curve)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _facts(self) -> Iterator[tuple[str, str]]:
        """Yield what a card says."""
        stream = self._stream()
        if stream is None:
            try:
                yield "learns", described(self._space() if self._declared() else None)
            except AskoneError as error:
                yield "learns", f"nothing yet: {error}"
            yield "answers", "none yet: start(X), ask and tell; or fit(X, y) to simulate"
            return
        yield "learns", described(space_at(stream.learner, stream.state))
        yield "by", repr(self._choice())
        waiting = f", {len(stream.open):,} open" if stream.open else ""
        yield "answers", f"{stream.answered:,} of {stream.asked:,} questions{waiting}"
        if stream.budget is not None:
            yield "budget", f"{stream.budget.left:,} of {stream.budget.questions:,} questions left"
