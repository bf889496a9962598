"""Learners by gradients: stochastic ones, least squares on pseudo-labels, the paper's other schemes, and prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from askone._common.validate import as_choice, as_number
from askone.errors import InvalidArgument, incompatible
from askone.estimators.learner_choices.base import FeatureChoice, Setup, calibrated, need_range
from askone.labels.classes import Classes
from askone.labels.losses import LOSSES, SURROGATES, Huber, LogCosh, Loss
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners import step_rules
from askone.learners.base import Learner
from askone.learners.gradients.base import Gradient, Strategy
from askone.learners.gradients.half_space import FAMILY_NAMES, WeakGradient, pair
from askone.learners.gradients.ranking import RANK_FAMILIES, RANK_LOSSES, rank_strategy
from askone.learners.gradients.subset import SET_FAMILIES, set_strategy
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.ellipsoid import EllipsoidLearner
from askone.learners.paper.game import GameLearner
from askone.learners.paper.generic import GenericSGD
from askone.learners.rls.pseudo_labels import PseudoLabels, PseudoMeans
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.step_search import StepSearch
from askone.learners.sgd.surrogate import Surrogate

_Parts = tuple[Any, step_rules.StepRule, step_rules.Average, float]
_MEDIAN_ONLY = ("sphere", "coordinates", "passive")
_FACTORS = tuple(3.0**k for k in range(-3, 4))  # of the default step
_BITS, _MOST_BITS = 600, 2000  # answers that choose among them


@dataclass(frozen=True, kw_only=True, repr=False)
class GradientChoice(FeatureChoice):
    """A choice that takes steps against gradients: see ``SGD`` for its arguments."""

    step: str | step_rules.StepRule = "auto"
    gamma: float | str | None = None
    average: str | step_rules.Average = "auto"
    ridge: float = 0.0

    def _parts(self, setup: Setup, step: str | step_rules.StepRule, average: str) -> _Parts:
        """Make the model, the step rule and the average; ``step`` and ``average`` are what "auto" means."""
        if isinstance(self.gamma, str):
            raise incompatible("gamma", self.gamma, "it is chosen for SGD of numbers alone", [None])
        rule = make_step(step if _auto(self.step) else self.step, self.gamma, setup.horizon)
        return self._model(setup), rule, make_average(average if _auto(self.average) else self.average), self.ridge


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SGD(GradientChoice):
    """Learn by stochastic gradients (Algorithm 1): any loss, model, step rule and average that fit together.

    Parameters
    ----------
    loss : "auto", a name, or a ``Loss``
        Of numbers: "median" ("auto"), "squared" (the mean), "quantile", "huber", "logcosh", or ``Quantile(0.9)``,
        ``Huber(delta)``, ``LogCosh(scale)`` in the labels' units (by name: a tenth of half the range).
        Of classes: "squared" ("auto" where it fits), "logistic", "median".  Of orders: "squared", "logistic" (for
        "bradley-terry", "pairs", "full"), "median" (for "sphere"); "auto" is what the questions take.
    questions : "auto" or a name
        About numbers: at the prediction ("active", "auto"), at random ("passive", the baseline), or for the label
        itself ("full").  About classes: sets by the design of least variance ("designed", "auto"), single classes by
        importance ("singletons"), random half-spaces ("sphere", Algorithm 1), a random class ("coordinates", the
        paper's, not consistent), balanced random sets ("passive"), the label ("full").  About orders: random pairs,
        for scores of items ("borda", "auto", "bradley-terry") or of pairs ("pairs", "thresholded"), weighted pairs
        ("sphere", Algorithm 1, simulations only), whole orders ("full").
    limit : number or None
        For the squared loss of numbers: a bound on labels' distance from the middle of the range, which makes
        its thresholds uniform; None weights them instead and needs no bound.
    calibration : int
        Questions per output spent on the range of numbers where none is declared.
    model : "auto", "linear", "nystroem", "fourier", "kernel", or a ``Model``
        "auto" is Nyström features where unlabelled rows were shown, else "kernel", the exact kernel expansion that
        grows with every answer; for orders without rows one constant per score.
    kernel, bandwidth, n_components
        Of the feature maps: "gaussian", "laplacian" or "linear"; without a bandwidth the median distance of the scaled
        rows (for classes 0.4 times that); 100 components (for classes 500).
    step : "auto", "sqrt", "constant", "theorem", "adagrad", "adagrad-diagonal", "dog", "dowg", "coin", or a
        ``StepRule``
        "auto" is "sqrt", and for classes "dog" starting at distance 1.
    gamma : number, "auto" or None
        The step's size, where it has one (None: its default).  "auto", for numbers: the best of seven from 1/27 to 27
        times the default, chosen from a fifth of the questions (up to 2,000; 600 where their number is not known)
        without a label (see ``StepSearch``).
    average : "auto", "uniform", "tail", "polynomial", "none", or an ``Average``
        "auto" is "uniform" for numbers (with gamma="auto" ``Polynomial(2)``), else "polynomial".
    ridge : number
        lambda of lambda |theta|^2, in true gradient units.
    """

    loss: str | Loss = "auto"
    questions: str = "auto"
    limit: float | None = None
    calibration: int = 60
    corrects: ClassVar[bool] = True

    @property
    def small_sets(self) -> bool:
        return self.questions in ("auto", "designed")

    def class_loss(self) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        name = as_choice(self.loss, "loss", ("auto", *SURROGATES))
        auto = "median" if self.questions in _MEDIAN_ONLY else "squared"
        return SURROGATES[auto if name == "auto" else name]()

    def _learner(self, setup: Setup) -> Learner[Any]:
        if isinstance(setup.space, Real):
            return self._of_numbers(setup)
        for argument, value, default in (("limit", self.limit, None), ("calibration", self.calibration, 60)):
            if value != default:
                raise incompatible(argument, value, "it is for numbers", [default])
        if isinstance(setup.space, Ranking):
            return self._of_orders(setup)
        family = as_choice(self.questions, "questions", ("auto", *SET_FAMILIES))
        strategy = set_strategy(setup.space, self.class_loss(), "designed" if family == "auto" else family)
        # Scores live in a simplex of size 1: that is the distance to go.
        return self._surrogate(strategy, self._parts(setup, step_rules.DoG(1.0), "polynomial"), setup)

    def _surrogate(self, strategy: Strategy, parts: _Parts, setup: Setup) -> Learner[Any]:
        if setup.flip and strategy.family == "full":
            raise incompatible("flip", setup.flip, "labels are asked for, not bits", [0.0])
        return Surrogate(strategy, *parts, setup.flip)

    def _of_orders(self, setup: Setup) -> Learner[Any]:
        loss: Any = self.loss
        if not isinstance(loss, Loss):
            name = as_choice(loss, "loss", ("auto", *RANK_LOSSES))
            loss = None if name == "auto" else RANK_LOSSES[name]()
        family = as_choice(self.questions, "questions", ("auto", *RANK_FAMILIES))
        strategy = rank_strategy(setup.space, loss, "borda" if family == "auto" else family)
        return self._surrogate(strategy, self._parts(setup, "sqrt", "polynomial"), setup)

    def _of_numbers(self, setup: Setup) -> Learner[Any]:
        if _auto(self.gamma):
            return self._searching(setup)
        model, step, average, ridge = self._parts(setup, "sqrt", "uniform")
        gradient = self._gradient(number_loss(self.loss, setup), setup)
        if setup.flip and not isinstance(gradient, WeakGradient):
            raise incompatible("flip", setup.flip, "labels are asked for, not bits", [0.0])
        learner = SGDLearner(setup.space, model, gradient, step, average, ridge, setup.flip)
        return calibrated(learner, self.calibration, setup)

    def _searching(self, setup: Setup) -> Learner[Any]:
        gradient = self._gradient(number_loss(self.loss, setup), setup)
        if isinstance(self.step, step_rules.StepRule) or not isinstance(gradient, WeakGradient) or setup.space.bundles:
            raise incompatible("gamma", "auto", "a step of one's own, full labels or bundles", [None])
        name = "sqrt" if _auto(self.step) else self.step
        # Long steps start badly and end well: an average that forgets the start shows early which will be best.
        average = step_rules.Polynomial(2.0) if _auto(self.average) else make_average(self.average)
        model = self._model(setup)
        usual = 1.0 if name == "theorem" else make_step(name, None, setup.horizon).gamma
        steps = [make_step(name, factor * usual, setup.horizon) for factor in _FACTORS]
        rest = average, self.ridge, setup.flip
        members = tuple(SGDLearner(setup.space, model, gradient, step, *rest) for step in steps)
        bits = _BITS if setup.horizon is None else max(1, min(setup.horizon // 5, _MOST_BITS))
        search = StepSearch(members, favourite=len(members) // 2, bits=bits)
        return calibrated(search, self.calibration, setup)

    def _gradient(self, loss: Loss, setup: Setup) -> Gradient:
        space: Real = setup.space
        options: dict[str, Any] = {}
        asked = as_choice(self.questions, "questions", ("auto", *FAMILY_NAMES))
        family = asked = "active" if asked == "auto" else asked
        if space.bundles and asked == "passive":
            raise incompatible("questions", asked, "bundles", ["active", "full"])
        if space.bundles and asked == "active":
            family, options = "bundles", {"bundles": space.unit_bundles}
        if self.limit is not None:
            need_range(setup, "limit is in the labels' units")
            if (loss.name, asked) != ("squared", "active"):
                raise incompatible("limit", self.limit, f"loss {loss.name!r}, {asked!r} questions", [None])
            options["limit"] = as_number(self.limit, "limit", 0.0, strict=True) / float(space.scale.min())
        return pair(loss, family, space.m, **options)


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
class GenericScheme(FeatureChoice):
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


def number_loss(given: str | Loss, setup: Setup, unit: bool = True) -> Loss:
    """Return the loss of numbers that a user named or gave: in unit labels, or as given."""
    space: Real = setup.space
    largest = float(space.scale.max())
    if isinstance(given, Loss):
        loss = given
    else:
        name = as_choice("median" if _auto(given) else given, "loss", LOSSES)
        scaled = {"huber": Huber, "logcosh": LogCosh}
        loss = scaled[name](0.1 * largest) if name in scaled else LOSSES[name]()
    if not isinstance(loss, Huber | LogCosh):
        return loss
    if loss is given:
        need_range(setup, "the loss is in the labels' units")
    if not unit:
        return loss
    if np.ptp(space.scale) > 0:
        raise InvalidArgument("loss", f"another than {loss.name!r}, whose delta needs one range for all outputs", loss)
    return Huber(loss.delta / largest) if isinstance(loss, Huber) else LogCosh(loss.scale / largest)


def make_step(step: str | step_rules.StepRule, gamma: float | None, horizon: int | None) -> step_rules.StepRule:
    """Return the step rule of that name and size, for so many questions where that is known."""
    if isinstance(step, step_rules.StepRule):
        if gamma is not None:
            raise InvalidArgument("gamma", f"None: this {step.name!r} step has its own", gamma)
        return step
    name = as_choice(step, "step", step_rules.STEP_RULES)
    if name == "theorem":
        if horizon is None:
            raise InvalidArgument("budget", "given: step='theorem' needs to know how many questions come", None)
        return step_rules.Theorem(horizon, 1.0 if gamma is None else gamma)
    if gamma is None:
        return step_rules.STEP_RULES[name]()
    if name in ("dog", "dowg", "coin"):
        raise InvalidArgument("gamma", f"None: step={name!r} has none", gamma)
    return step_rules.STEP_RULES[name](gamma=gamma)  # type: ignore[call-arg]  # those have one


def make_average(average: str | step_rules.Average) -> step_rules.Average:
    """Return the average of that name."""
    if isinstance(average, step_rules.Average):
        return average
    return step_rules.AVERAGES[as_choice(average, "average", step_rules.AVERAGES)]()


def _auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"
