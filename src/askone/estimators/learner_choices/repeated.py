"""Learners that ask about a row again, around stochastic gradients."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

from askone._common.validate import as_number
from askone.errors import InvalidArgument, incompatible
from askone.estimators.learner_choices.base import LearnerChoice, Setup, need_range
from askone.estimators.learner_choices.gradients import SGD
from askone.labels.classes import FiniteSpace
from askone.labels.losses import Loss
from askone.labels.number import Real
from askone.learners.base import Learner
from askone.learners.repeated.bisection import BisectedClasses, BisectedReal
from askone.learners.repeated.memory import RememberedClasses, RememberedReal


@dataclass(frozen=True, repr=False)
class RepeatedChoice(LearnerChoice):
    """A choice around ``SGD`` that asks about a row until its label is known."""

    learner: SGD = field(default_factory=SGD)
    precision: float | None = None
    several: ClassVar[bool] = True
    numbers: ClassVar[type[BisectedReal] | type[RememberedReal]]
    classes: ClassVar[type[BisectedClasses] | type[RememberedClasses]]

    @property
    def own_model(self) -> bool:
        return self.learner.own_model

    @abstractmethod
    def _inner(self, classes: bool) -> SGD:
        """Return the gradients, with questions that fit."""

    def class_loss(self) -> Loss:
        return self._inner(True).class_loss()

    def _learner(self, setup: Setup) -> Learner[Any]:
        if not isinstance(self.learner, SGD):
            raise InvalidArgument("learner", f"{type(self).__name__}(SGD(...))", repr(self.learner))
        if isinstance(setup.space, FiniteSpace):
            if self.precision is not None:
                raise incompatible("precision", self.precision, "it is for numbers", [None])
            return self.classes(self._inner(True).make(setup))  # type: ignore[arg-type]  # a Surrogate, of classes
        space: Real = setup.space
        need_range(setup, "labels are sought within a range")
        if space.bundles:
            raise InvalidArgument("bundles", f"left out: {type(self).__name__} asks about one output", "some")
        inner: Any = self._inner(False).make(setup)
        if self.precision is None:
            return self.numbers(inner)
        return self.numbers(inner, as_number(self.precision, "precision", 0.0, strict=True) / max(space.scales))


@final
@dataclass(frozen=True, repr=False)
class Bisection(RepeatedChoice):
    """Ask several questions about a row until its label is known: halves of the range, or a Huffman code.

    Parameters
    ----------
    learner : ``SGD``
        What learns from the labels found.
    precision : number or None
        How well numbers are to be known, in their units (None: within a fortieth of the range).
    """

    numbers = BisectedReal
    classes = BisectedClasses

    def _inner(self, classes: bool) -> SGD:
        if self.learner.questions not in ("auto", "full"):
            raise incompatible("questions", self.learner.questions, "labels found by bisection", ["auto", "full"])
        return replace(self.learner, questions="full")

    def _learner(self, setup: Setup) -> Learner[Any]:
        if setup.resample and isinstance(setup.space, FiniteSpace):
            raise incompatible("resample", setup.resample, "bisection asks again by itself", [False])
        return super()._learner(setup)


@final
@dataclass(frozen=True, repr=False)
class Remembering(RepeatedChoice):
    """Ask about rows that come again, but never what earlier answers imply (Algorithm 1 with memory).

    Parameters
    ----------
    learner : ``SGD``
        What learns: of numbers the median or a quantile, of classes the median by the questions "sphere" ("auto").
    precision : number or None
        How well numbers are to be known, in their units (None: within a two-hundredth of the range).
    """

    revisits: ClassVar[bool] = True
    numbers = RememberedReal
    classes = RememberedClasses

    def _inner(self, classes: bool) -> SGD:
        auto = classes and self.learner.questions == "auto"
        return replace(self.learner, questions="sphere") if auto else self.learner

    def _learner(self, setup: Setup) -> Learner[Any]:
        space = setup.space
        if isinstance(space, FiniteSpace) and (space.allowed is not None or space.drawn_size is not None):
            raise incompatible("learner", "Remembering", "only some sets may be asked", ["SGD", "SetLikelihood"])
        return super()._learner(setup)
