"""From names and numbers to a learner: what an estimator's arguments mean.

A recipe is in the user's units and words; the learner it makes is in unit labels and objects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_choice, as_count, as_flag, as_number
from askone.errors import InvalidArgument, incompatible
from askone.features.kernels import KERNELS, kernel_named, median_distance
from askone.features.maps import FeatureMap, Fourier, Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.losses import LOSSES, Huber, LogCosh, Loss, Median, Quantile
from askone.labels.number import Real, sensible_decimals
from askone.learners import gradients, step_rules
from askone.learners.base import Learner
from askone.learners.kalman.filters import NOISES, PRIORS, Filters, tell_apart
from askone.learners.kalman.intervals import Intervals
from askone.learners.models.base import Model
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.ellipsoid import Ellipsoid
from askone.learners.paper.generic import GenericSGD
from askone.learners.range_search import Calibrated
from askone.learners.repeated.bisection import BisectedReal
from askone.learners.repeated.memory import RememberedReal
from askone.learners.rls.pseudo_labels import PseudoMeans
from askone.learners.sgd.sgd import SGD

MODELS = ("auto", "linear", "nystroem", "fourier", "kernel")
LEARNERS = ("auto", "filters", "sgd", "rls")
QUESTIONS = (*gradients.FAMILY_NAMES, "generic", "ellipsoid", "bisection")

_NEARER = (0.35, 0.7, 1.4)  # bandwidths of a bank, as parts of the median distance
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # and for regression, where they cost less
_ENTRIES = 2_000_000  # numbers in one filter, at most
COVARIANCES = ("auto", "full", "diagonal")
_ROOM = (20_000_000, 40_000_000)  # numbers beyond which banks have one prior scale, and diagonal covariances
_UNIT = Real()
_OF_GRADIENTS: dict[str, Any] = {
    "questions": "active", "limit": None, "step": "auto", "gamma": None, "average": "auto", "ridge": 0.0,
}  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of ``OneBitRegressor`` that make a learner (see there)."""

    low: float | Sequence[float] | None
    high: float | Sequence[float] | None
    unit: str
    names: Sequence[str] | None
    wording: str
    answers: Sequence[str]
    bundles: Sequence[Sequence[float]] | None
    decimals: int | str | None
    loss: str | Loss
    quantile: float
    delta: float | None
    limit: float | None
    questions: str
    learner: str
    model: str | Model[Any]
    kernel: str
    bandwidth: float | None
    n_components: int
    step: str | step_rules.StepRule
    gamma: float | None
    average: str | step_rules.Average
    ridge: float
    calibration: int
    precision: float | None
    resample: bool | str
    flip: float
    interval: float | None
    covariance: str

    @property
    def outputs(self) -> int:
        """How many outputs the range, the names and the bundles speak of."""
        widest = max((np.size(bundle) for bundle in self._bundles), default=1)
        return max(*(1 if end is None else np.size(end) for end in (self.low, self.high)), len(self._names), widest)

    @property
    def _bundles(self) -> Sequence[Any]:
        if self.bundles is not None and not np.iterable(self.bundles):
            raise InvalidArgument("bundles", "a list of bundles, each a quantity per output", repr(self.bundles))
        return () if self.bundles is None else tuple(self.bundles)

    @property
    def _names(self) -> tuple[str, ...]:
        if self.names is not None and (isinstance(self.names, str) or not np.iterable(self.names)):
            raise InvalidArgument("names", "a list of texts, one per output", repr(self.names))
        return tuple(self.names or ())

    @property
    def ranged(self) -> bool:
        """Whether a range is declared."""
        if (self.low is None) != (self.high is None):
            raise InvalidArgument("low" if self.low is None else "high", "given, as the other end is", None)
        return self.low is not None

    def space(self, outputs: int) -> Real:
        """The label space; without a declared range [-1, 1] stands for it."""
        low, high = (self.low, self.high) if self.ranged else (-1.0, 1.0)
        ends = [_per_output(low, "low", outputs), _per_output(high, "high", outputs)]
        words: dict[str, Any] = {"wording": self.wording, "answers": self.answers}
        space = Real(ends[0], ends[1], self._names, self.unit, None, **words, bundles=tuple(self._bundles))
        return replace(space, decimals=self._decimals(space))

    def make_learner(
        self, rows: Array | None, columns: int, outputs: int, horizon: int | None, seed: int = 0
    ) -> Learner[Any]:
        """The learner for rows of so many columns, some of which may be shown, and so many questions."""
        self._refuse_idle_arguments()
        fixed = as_choice(self.questions, "questions", QUESTIONS) in ("generic", "ellipsoid")
        parts = (self.model, self.kernel, self.bandwidth, self.n_components)
        if self._filters(outputs):
            return self._calibrated(self._bank(rows, columns, outputs, seed), horizon)
        self._refuse_for_gradients()
        if self.learner == "rls":
            return self._recursive(outputs, make_model(*parts, rows, columns, seed, generic=rows is None))
        model = make_model(*parts, rows, columns, seed, generic=fixed)
        space, step = self.space(outputs), make_step(self._step, self.gamma, horizon)
        loss = self._loss(space)
        if self.questions == "ellipsoid":
            return self._ellipsoid(space, model)
        if self.questions == "generic":
            return self._generic(space, model, loss, step)
        learner = SGD(space, model, self._gradient(loss, space), step, make_average(self._average), self.ridge)
        if self.questions == "bisection" or self.resample == "memory":
            return self._again(learner)
        return self._calibrated(learner, horizon)

    @property
    def _step(self) -> str | step_rules.StepRule:
        return "sqrt" if isinstance(self.step, str) and self.step == "auto" else self.step

    @property
    def _average(self) -> str | step_rules.Average:
        return "uniform" if isinstance(self.average, str) and self.average == "auto" else self.average

    def _refuse_for_gradients(self) -> None:
        """What only filters read."""
        idle = (("flip", self.flip, 0.0), ("interval", self.interval, None), ("covariance", self.covariance, "auto"))
        for argument, value, default in idle:
            if value != default:
                against = [*self._against(), "bundles"]
                named = self.learner in ("sgd", "rls")
                asked = f"learner={self.learner!r}" if named else f"{against[0]}= asks for gradients"
                raise incompatible(argument, value, asked, [default])

    def _against(self) -> list[str]:
        """Arguments that ask for gradients."""
        against = [name for name, default in _OF_GRADIENTS.items() if not _is(getattr(self, name), default)]
        fixed = isinstance(self.model, FeatureModel) or (isinstance(self.model, str) and self.model != "kernel")
        against += [] if fixed else ["model"]
        against += [] if self._quantile() is not None else ["loss"]
        return against + (["resample"] if self.resample == "memory" else [])

    def _filters(self, outputs: int) -> bool:
        """Whether a bank of filters is meant; raises where arguments contradict it."""
        choice = as_choice(self.learner, "learner", LEARNERS)
        if choice in ("sgd", "rls") or (choice == "auto" and self._bundles and not tell_apart(self.space(outputs))):
            return False
        against = self._against()
        if against and choice == "filters":
            allowed = {
                "model": "one with fixed features",
                "loss": "'median' or 'quantile'",
                "resample": "True or False",
            }
            said = allowed.get(against[0], f"{_OF_GRADIENTS.get(against[0])!r}, its default,")
            raise InvalidArgument(against[0], f"{said} with learner='filters'", repr(getattr(self, against[0])))
        return not against

    def _quantile(self) -> float | None:
        """The quantile that the loss learns, if it is one."""
        loss = self.loss if isinstance(self.loss, Loss) else self._named_loss(_UNIT)
        if isinstance(loss, Quantile):
            return loss.tau
        return 0.5 if isinstance(loss, Median) else None

    def _bank(self, rows: Array | None, columns: int, outputs: int, seed: int) -> Filters | Intervals:
        quantile, space = self._quantile(), self.space(outputs)
        assert quantile is not None
        parts = (self.model, self.kernel, self.bandwidth, self.n_components)
        maps = make_maps(*parts, rows, columns, 1, seed, _WIDTHS)
        flip = as_number(self.flip, "flip", 0.0, 0.49)
        covariance = as_choice(self.covariance, "covariance", COVARIANCES)
        # A full covariance is p^2 numbers for each filter and output: then there is room for fewer filters.
        numbers = outputs * len(maps) * len(NOISES) // 2 * max(one.size for one in maps) ** 2
        diagonal = covariance == "diagonal" or (covariance == "auto" and numbers > _ROOM[1])
        priors = PRIORS if diagonal or len(PRIORS) * numbers <= _ROOM[0] else (1.0,)
        bank = Filters(space, maps, priors=priors, quantile=quantile, flip=flip, diagonal=diagonal)
        if self.interval is None:
            return bank
        if quantile != 0.5:
            raise incompatible("interval", self.interval, f"the quantile {quantile}", [None])
        return Intervals(bank, as_number(self.interval, "interval", 0.0, 1.0, strict=True))

    def _calibrated(self, learner: SGD | Filters | Intervals, horizon: int | None) -> Learner[Any]:
        """The learner, or, without a declared range, one that finds it first."""
        space = learner.space
        if self.ranged:
            return learner
        wanted = as_count(self.calibration, "calibration", 1) * space.m
        if horizon is None:
            return Calibrated(learner, wanted, self.decimals)
        quarter = max(space.m, horizon // 4)
        return Calibrated(learner, min(wanted, quarter), self.decimals, min(20 * wanted, quarter))

    def _refuse_idle_arguments(self) -> None:
        """An argument that nothing would read is more likely a mistake than a wish."""
        as_count(self.calibration, "calibration", 1)
        name = self.loss if isinstance(self.loss, str) else None
        if self.quantile != 0.5 and name != "quantile":
            raise InvalidArgument("quantile", "0.5, its default, unless loss='quantile'", self.quantile)
        if self.delta is not None and name not in ("huber", "logcosh"):
            raise InvalidArgument("delta", "None unless loss='huber' or 'logcosh'", self.delta)
        scaled = self.delta is not None or self.limit is not None or isinstance(self.loss, Huber | LogCosh)
        if scaled and not self.ranged:
            raise InvalidArgument("low", "given: delta and limit are in the labels' units", None)
        again = self.questions == "bisection" or self.resample == "memory"
        if self.precision is not None and not again:
            raise InvalidArgument("precision", "None unless questions='bisection' or resample='memory'", self.precision)
        if self._bundles and not self.ranged:
            raise InvalidArgument("low", "given: a range cannot be sought through bundles", None)
        if self._bundles and self.questions not in ("active", "full"):
            raise incompatible("questions", self.questions, "bundles", ["active", "full"])

    def _decimals(self, space: Real) -> int | None:
        if self.decimals is None or not self.ranged:
            return None
        if not isinstance(self.decimals, str):
            return self.decimals
        as_choice(self.decimals, "decimals", ("auto",))
        return sensible_decimals(space.lows, space.highs)

    def _again(self, learner: SGD) -> BisectedReal | RememberedReal:
        """The learner that asks about a row until it knows its label to the precision."""
        if not self.ranged:
            raise InvalidArgument("low", "given: labels are sought within a range", None)
        kind = BisectedReal if self.questions == "bisection" else RememberedReal
        if self.precision is None:
            return kind(learner)
        return kind(learner, as_number(self.precision, "precision", 0.0, strict=True) / max(learner.space.scales))

    def _generic(self, space: Real, model: Model[Any], loss: Loss, step: step_rules.StepRule) -> GenericSGD:
        if not isinstance(model, FeatureModel):
            raise incompatible("model", str(self.model), "generic questions", ["linear", "nystroem", "fourier"])
        if not self.ranged:
            raise InvalidArgument("low", "given: generic questions need a range", None)
        if self.ridge or not isinstance(make_average(self._average), step_rules.Uniform):
            raise InvalidArgument("ridge" if self.ridge else "average", "left alone: generic questions", "another")
        return GenericSGD(space, model, loss, step)

    def _ellipsoid(self, space: Real, model: Model[Any]) -> Ellipsoid:
        if not isinstance(model, FeatureModel):
            raise incompatible("model", str(self.model), "ellipsoid pricing", ["linear", "nystroem", "fourier"])
        if not self.ranged:
            raise InvalidArgument("low", "given: ellipsoid pricing needs a range", None)
        for argument, value, default in (
            ("loss", self.loss, "median"), ("limit", self.limit, None), ("step", self.step, "auto"),
            ("gamma", self.gamma, None), ("average", self.average, "auto"), ("ridge", self.ridge, 0.0),
        ):  # fmt: skip
            if value != default:
                raise incompatible(argument, value, "ellipsoid pricing", [default])
        return Ellipsoid(space, model.features)

    def _recursive(self, outputs: int, model: Model[Any]) -> PseudoMeans:
        as_flag(self.resample, "resample")
        if self._loss(self.space(outputs)).name != "squared":
            raise incompatible("loss", self.loss, "learner='rls'", ["squared"])
        if self.questions != "active" or self._bundles:
            argument, value = ("bundles", "some") if self._bundles else ("questions", self.questions)
            raise incompatible(argument, value, "learner='rls'", [None if self._bundles else "active"])
        if not self.ranged:
            raise InvalidArgument("low", "given: learner='rls' needs a range", None)
        refuse_steps("rls", limit=(self.limit, None), step=(self.step, "auto"), gamma=(self.gamma, None),
                     average=(self.average, "auto"), ridge=(self.ridge, 0.0))  # fmt: skip
        return PseudoMeans(self.space(outputs), fixed_features(model, "rls"))

    def _loss(self, space: Real) -> Loss:
        # The generic scheme alone keeps the loss in the user's units.
        unit = 1.0 if self.questions == "generic" else float(space.scale.max())
        loss = self.loss if isinstance(self.loss, Loss) else self._named_loss(space)
        if isinstance(loss, Huber | LogCosh) and self.questions != "generic" and np.ptp(space.scale) > 0:
            raise InvalidArgument(
                "loss", f"another than {loss.name!r}, whose delta needs one range for all outputs", loss
            )
        if isinstance(loss, Huber):
            return Huber(loss.delta / unit)
        return LogCosh(loss.scale / unit) if isinstance(loss, LogCosh) else loss

    def _named_loss(self, space: Real) -> Loss:
        name = as_choice(self.loss, "loss", LOSSES)
        if name == "quantile":
            as_number(self.quantile, "quantile", 0.0, 1.0, strict=True)
        delta = 0.1 * float(space.scale.max())
        if self.delta is not None:
            delta = as_number(self.delta, "delta", 0.0, strict=True)
        options: dict[str, tuple[float, ...]] = {"quantile": (self.quantile,), "huber": (delta,), "logcosh": (delta,)}
        return LOSSES[name](*options.get(name, ()))

    def _gradient(self, loss: Loss, space: Real) -> gradients.Gradient:
        family, options = "full" if self.questions == "bisection" else self.questions, {}
        if space.bundles and family == "active":
            family, options = "bundles", {"bundles": space.unit_bundles}
        if self.limit is None:
            return gradients.pair(loss, family, space.m, **options)
        if (loss.name, self.questions) != ("squared", "active"):
            raise incompatible("limit", self.limit, f"loss {loss.name!r}, {self.questions!r} questions", [None])
        limit = as_number(self.limit, "limit", 0.0, strict=True) / float(space.scale.min())
        return gradients.pair(loss, family, space.m, limit=limit, **options)


def make_model(
    model: str | Model[Any],
    kernel: str,
    bandwidth: float | None,
    n_components: int,
    rows: Array | None,
    columns: int,
    seed: int,
    generic: bool = False,
    nearer: float = 1.0,
) -> Model[Any]:
    """The model of that name for rows of so many columns, some of which may be shown.

    ``generic`` questions and the like need fixed features: "auto" is linear for them.  ``nearer`` is the part of
    the median distance that is the bandwidth where none is given.
    """
    if isinstance(model, Model):
        return model
    choice = as_choice(model, "model", MODELS)
    if choice == "auto":
        by_rows = "kernel" if rows is None else "nystroem"
        choice = "linear" if generic else by_rows
    size = as_count(n_components, "n_components", 1)
    # Stand-ins for rows that nobody has shown: a step from the origin along each axis.
    shown = rows if rows is not None else np.vstack([-np.eye(columns), np.eye(columns)])
    scaler = Scaler.identity(columns) if rows is None else Scaler.from_rows(rows)
    if choice == "linear":
        return FeatureModel(Linear(scaler))
    width = nearer * median_distance(scaler(shown), kernel) if bandwidth is None else bandwidth
    if choice == "kernel":
        return KernelExpansion(kernel_named(kernel, width), scaler)
    maker = Nystroem if choice == "nystroem" else Fourier
    return FeatureModel(maker.from_rows(shown, size, kernel, width, scaler=scaler, seed=seed))


def make_maps(
    model: str | Model[Any], kernel: str, bandwidth: float | None, n_components: int, rows: Array | None,
    columns: int, outputs: int, seed: int, parts: Sequence[float] = _NEARER,
) -> tuple[FeatureMap, ...]:  # fmt: skip
    """Feature maps for a bank of filters: of a model, of a name, or ("auto") linear and kernels of some bandwidths.

    The bandwidths are ``parts`` of the median distance.  A filter keeps up to ``outputs`` p^2 numbers: for very
    many outputs, "auto" takes fewer components.
    """
    if isinstance(model, FeatureModel):
        return (model.features,)
    if isinstance(model, Model) or as_choice(model, "model", MODELS) == "kernel":
        raise incompatible("model", model, "a filter", ["auto", "linear", "nystroem", "fourier", "a FeatureModel"])
    choice, size = model, as_count(n_components, "n_components", 1)
    as_choice(kernel, "kernel", KERNELS)
    scaler = Scaler.identity(columns) if rows is None else Scaler.from_rows(rows)
    linear = (Linear(scaler),) if choice in ("auto", "linear") else ()
    if choice == "linear" or (choice == "auto" and kernel == "linear"):
        return linear
    if choice == "auto":
        size = min(size, max(10, math.isqrt(_ENTRIES // outputs)))
    # Without rows there are no representers to draw: random frequencies need none.
    shown = rows if rows is not None else np.vstack([-np.eye(columns), np.eye(columns)])
    maker = Fourier if choice == "fourier" or (choice == "auto" and rows is None) else Nystroem
    middle = median_distance(scaler(shown), kernel)
    widths = [part * middle for part in parts] if bandwidth is None else [bandwidth]
    return linear + tuple(maker.from_rows(shown, size, kernel, w, scaler=scaler, seed=seed) for w in widths)


def make_step(step: str | step_rules.StepRule, gamma: float | None, horizon: int | None) -> step_rules.StepRule:
    """The step rule of that name and size, for so many questions where that is known."""
    if isinstance(step, step_rules.StepRule):
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


def refuse_steps(learner: str, **given: tuple[Any, Any]) -> None:
    """Refuse arguments, each a value and its default, that this learner would not read."""
    for argument, (value, default) in given.items():
        if value != default:
            raise incompatible(argument, value, f"learner={learner!r} has none", [default])


def fixed_features(model: Model[Any], learner: str) -> FeatureMap:
    """The features of a model that has them."""
    if not isinstance(model, FeatureModel):
        raise incompatible("model", type(model).__name__, f"learner={learner!r}", ["linear", "nystroem", "fourier"])
    return model.features


def make_average(average: str | step_rules.Average) -> step_rules.Average:
    """The average of that name."""
    if isinstance(average, step_rules.Average):
        return average
    return step_rules.AVERAGES[as_choice(average, "average", step_rules.AVERAGES)]()


def _is(value: Any, default: Any) -> bool:
    """Whether a value is this plain one (arguments may be objects, or arrays by mistake)."""
    kinds = (int, float, np.number) if isinstance(default, float) else type(default)
    return isinstance(value, kinds) and not isinstance(value, bool) and bool(value == default)


def _per_output(value: Any, argument: str, outputs: int) -> tuple[float, ...]:
    numbers = [value] if np.ndim(value) == 0 else list(value)
    if len(numbers) not in (1, outputs):
        raise InvalidArgument(argument, f"a number or {outputs} number(s), one per output", f"{len(numbers)} number(s)")
    checked = [as_number(v.item() if isinstance(v, np.generic) else v, argument) for v in numbers]
    return tuple(checked * outputs if len(checked) == 1 else checked)
