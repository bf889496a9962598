"""A learner of one's own, by the name that it was registered under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from askone.errors import InvalidArgument
from askone.estimators.choices.base import LearnerChoice, Setup, need_range
from askone.learners import registry
from askone.learners.base import Learner


@final
@dataclass(frozen=True, repr=False)
class OwnLearner(LearnerChoice):
    """What ``askone.learners.register`` was told under this name."""

    name: str = ""

    def _learner(self, setup: Setup) -> Learner[Any]:
        need_range(setup, f"learner={self.name!r} needs a range")
        own = registry.registered(self.name)
        if own is None:
            raise InvalidArgument("learner", f"registered: {', '.join(registry.names()) or 'none is'}", self.name)
        learner = own.make(setup.space, setup.rows, setup.columns, setup.seed)
        fits = isinstance(learner, Learner) and type(learner.space) is type(setup.space)
        if not fits or learner.columns != setup.columns:
            raise InvalidArgument("learner", "a Learner of these labels and rows", repr(learner))
        return learner
