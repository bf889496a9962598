"""The paper's other schemes, and prices without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from askone.errors import InvalidArgument
from askone.estimators.choices.base import FeatureChoice, Setup, need_range
from askone.estimators.choices.gradients import GradientChoice, make_step, number_loss
from askone.labels.classes import Classes
from askone.labels.losses import Loss
from askone.learners import step_rules
from askone.learners.base import Learner
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.game import GameLearner
from askone.learners.paper.generic import GenericSGD


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Game(GradientChoice):
    """Learn classes by the min-max game of proposition 3.

    Parameters
    ----------
    step, gamma, average, ridge, model, kernel, bandwidth, n_components
        As for ``SGD`` of classes; the step "auto" is "sqrt" with gamma 10.
    """

    def _learner(self, setup: Setup) -> Learner[Any]:
        if not isinstance(setup.space, Classes):
            raise InvalidArgument("cost", "left alone: the game has its own", "some")
        return GameLearner(setup.space, *self._parts(setup, step_rules.InverseSqrt(10.0), "polynomial"))


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Generic(FeatureChoice):
    """Learn numbers by slopes of the loss in parameter space (appendix B), for any loss with a bounded gradient.

    Parameters
    ----------
    loss, step, gamma
        As for ``SGD`` of numbers; the average is uniform.
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features; "auto" is linear.
    """

    loss: str | Loss = "auto"
    step: str | step_rules.StepRule = "sqrt"
    gamma: float | None = None

    def _learner(self, setup: Setup) -> Learner[Any]:
        need_range(setup, "generic questions need a range")
        step, loss = make_step(self.step, self.gamma, setup.horizon), number_loss(self.loss, setup, unit=False)
        return GenericSGD(setup.space, FeatureModel(self._features(setup, linear=True)), loss, step)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Ellipsoid(FeatureChoice):
    """Learn prices by halving what earlier answers leave possible: for answers without noise.

    Parameters
    ----------
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features; "auto" is linear.
    """

    def _learner(self, setup: Setup) -> Learner[Any]:
        need_range(setup, "ellipsoid pricing needs a range")
        return EllipsoidLearner(setup.space, self._features(setup, linear=True))
