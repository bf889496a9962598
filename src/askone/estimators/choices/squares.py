"""Recursive least squares on unbiased pseudo-labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from askone._common.validate import as_choice
from askone.estimators.choices.base import FeatureChoice, Setup, need_range
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.base import Learner
from askone.learners.gradients.ranking import RANK_FAMILIES, rank_strategy
from askone.learners.gradients.subset import set_strategy
from askone.learners.rls.pseudo_labels import PseudoLabels, PseudoMeans


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class RecursiveLeastSquares(FeatureChoice):
    """Learn the mean of numbers, p(y|x) or scores of items by least squares on pseudo-labels: nothing to tune.

    Parameters
    ----------
    questions : "auto" or a name
        About classes "designed" ("auto"), "singletons" or "full"; about orders "borda" ("auto"), "pairs" or "full":
        see ``SGD``.  About numbers there is one kind.
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features; "auto" is linear where no rows were shown.
    """

    questions: str = "auto"

    @property
    def small_sets(self) -> bool:
        """See ``LearnerChoice.small_sets``."""
        return self.questions in ("auto", "designed")

    def _learner(self, setup: Setup) -> Learner[Any]:
        if isinstance(setup.space, Real):
            need_range(setup, "recursive least squares need a range")
            as_choice(self.questions, "questions", ("auto", "active"))
            return PseudoMeans(setup.space, self._features(setup, setup.rows is None))
        families = RANK_FAMILIES if isinstance(setup.space, Ranking) else ("designed", "singletons", "full")
        family = as_choice(self.questions, "questions", ("auto", *families))
        strategy: Any
        if isinstance(setup.space, Ranking):
            strategy = rank_strategy(setup.space, None, "borda" if family == "auto" else family)
        else:
            strategy = set_strategy(setup.space, self.class_loss(), "designed" if family == "auto" else family)
        return PseudoLabels(strategy, self._features(setup, setup.rows is None))
