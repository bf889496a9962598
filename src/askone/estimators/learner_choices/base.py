"""What all choices of a learner share: scikit-learn's parameters, what they are told, features of rows.

A choice is in the user's units and words; the learner it makes is in unit labels and objects.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_choice, as_count, as_number
from askone.errors import InvalidArgument, incompatible
from askone.features.kernels import KERNELS, kernel_named, median_distance
from askone.features.layout import RowLayout
from askone.features.maps import FeatureMap, Fourier, Front, Linear, Nystroem
from askone.features.scaling import Scaler
from askone.labels.classes import FiniteSpace
from askone.labels.losses import Loss, Squared
from askone.learners import registry
from askone.learners.base import Learner
from askone.learners.models.base import Model
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.models.linear import FeatureModel
from askone.learners.range_search import Calibrated

MODELS = ("auto", "linear", "nystroem", "fourier", "kernel")

_NEARER = 0.4  # classes are told apart at a smaller scale than smooth functions vary on
_FEW, _MANY = 100, 500  # components: of numbers and orders, of classes
_ENTRIES = 2_000_000  # numbers in one filter, at most


@final
@dataclass(frozen=True, eq=False)
class Setup:
    """What an estimator knows when its learner is made.

    ``rows`` are unlabelled ones that were shown, ``horizon`` is how many questions will come, where that is known.
    For numbers, ``ranged`` says whether a range was declared, and ``decimals`` how to round once one is found;
    for orders, ``context`` whether there are rows at all.  ``layout`` says what the columns are (None: numbers).
    """

    space: Any
    rows: Array | None
    columns: int
    horizon: int | None = None
    seed: int = 0
    flip: float = 0.0
    interval: float | None = None
    resample: bool = False
    ranged: bool = True
    decimals: int | str | None = None
    context: bool = True
    layout: RowLayout | None = None

    @property
    def row_layout(self) -> RowLayout:
        """What the columns are."""
        return RowLayout.plain(self.columns) if self.layout is None else self.layout

    @property
    def scaler(self) -> Scaler:
        """The scale of the columns, as far as rows were shown."""
        if self.rows is None:
            return Scaler.identity(self.columns)
        return Scaler.by_range(self.rows) if isinstance(self.space, FiniteSpace) else Scaler.from_rows(self.rows)

    def front(self) -> Setup:
        """Return the setup of the dense columns alone, which kernels and lines see."""
        dense = self.columns if self.layout is None else self.layout.dense
        if dense == self.columns:
            return self
        return replace(self, rows=None if self.rows is None else self.rows[:, :dense], columns=dense, layout=None)


@dataclass(frozen=True, repr=False)
class LearnerChoice(ABC):
    """A learner as a user chooses it, checked when the learner is made.

    It has scikit-learn's parameters without scikit-learn, which whoever reads a saved learner does not need.
    """

    forecasts: ClassVar[bool] = False  # by a likelihood, which reads flip and interval
    corrects: ClassVar[bool] = False  # gradients for flips
    several: ClassVar[bool] = False  # questions about one row
    revisits: ClassVar[bool] = False  # rows that come again, each time for one question

    def make(self, setup: Setup) -> Learner[Any]:
        """Make the learner, or refuse what it would not read."""
        as_number(setup.flip, "flip", 0.0, 0.49)
        for argument, default in {"flip": 0.0, "interval": None}.items():
            value = getattr(setup, argument)
            read = self.forecasts or (argument == "flip" and self.corrects)
            if value != default and not read:
                raise incompatible(argument, value, f"{type(self).__name__} does not read it", [default])
        return self._learner(setup)

    @abstractmethod
    def _learner(self, setup: Setup) -> Learner[Any]:
        """Make the learner."""

    @property
    def own_model(self) -> bool:
        """Whether the model is the user's own, which needs no look at rows."""
        return False

    @property
    def small_sets(self) -> bool:
        """Whether questions about classes are sets that a person takes in at a glance."""
        return False

    def class_loss(self) -> Loss:
        """Return the surrogate whose minimiser is decoded into classes."""
        return Squared()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments; ``deep`` adds those of a choice inside, as ``learner__step``."""
        params = {field.name: getattr(self, field.name) for field in fields(self)}
        inner = {name: value for name, value in params.items() if deep and isinstance(value, LearnerChoice)}
        return params | {
            f"{name}__{key}": one for name, value in inner.items() for key, one in value.get_params().items()
        }

    def set_params(self, **params: Any) -> Self:
        """Set arguments in place: scikit-learn's way to change one of a clone."""
        for name, value in params.items():
            part, _, rest = name.partition("__")
            own = self.get_params(deep=False)
            if part not in own:
                raise InvalidArgument(
                    name, f"one of: {', '.join(own)} (arguments of {type(self).__name__})", repr(value)
                )
            if rest:
                own[part].set_params(**{rest: value})
            else:
                object.__setattr__(self, name, value)
        return self

    def __repr__(self) -> str:
        """Return the call that makes it, without defaults."""
        usual = type(self)().get_params(deep=False)
        given = [f"{name}={value!r}" for name, value in self.get_params(deep=False).items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class FeatureChoice(LearnerChoice):
    """A choice with a model of the rows: see ``SGD`` for its arguments."""

    model: str | Model[Any] = "auto"
    kernel: str = "gaussian"
    bandwidth: float | None = None
    n_components: int | None = None

    @property
    def own_model(self) -> bool:
        return isinstance(self.model, Model)

    def _model(self, setup: Setup, linear: bool = False) -> Model[Any]:
        """Make the model; ``linear``: "auto" is linear, for learners that need fixed features."""
        if isinstance(self.model, Model):
            return self.model
        front = setup.front()
        if front is not setup:
            return _widened(self._model(front, linear), setup.columns)
        choice = as_choice(self.model, "model", MODELS)
        if choice == "auto":
            by_rows = "kernel" if setup.rows is None else "nystroem"
            choice = "linear" if linear or not setup.context else by_rows
        size, scaler = self._size(setup), setup.scaler
        if choice == "linear":
            return FeatureModel(Linear(scaler))
        width = self.bandwidth
        if width is None:
            near = _NEARER if isinstance(setup.space, FiniteSpace) else 1.0
            width = near * median_distance(scaler(_shown(setup)), self.kernel)
        if choice == "kernel":
            return KernelExpansion(kernel_named(self.kernel, width), scaler)
        maker = Nystroem if choice == "nystroem" else Fourier
        return FeatureModel(maker.from_rows(_shown(setup), size, self.kernel, width, scaler=scaler, seed=setup.seed))

    def _features(self, setup: Setup, linear: bool = False) -> FeatureMap:
        """Make the features of a model that has fixed ones."""
        model = self._model(setup, linear)
        if not isinstance(model, FeatureModel):
            fits = ["linear", "nystroem", "fourier", "a FeatureModel"]
            raise incompatible("model", type(model).__name__, f"{type(self).__name__} needs fixed features", fits)
        return model.features

    def _maps(self, setup: Setup, parts: Sequence[float], outputs: int = 1) -> tuple[FeatureMap, ...]:
        """Make feature maps for a bank: of a model, of a name, or ("auto") linear and kernels of some bandwidths.

        The bandwidths are ``parts`` of the median distance.  A filter keeps up to ``outputs`` p^2 numbers: for very
        many outputs, "auto" takes fewer components.
        """
        if isinstance(self.model, Model) or as_choice(self.model, "model", MODELS) == "kernel":
            return (self._features(setup),)
        front = setup.front()
        if front is not setup:
            return tuple(Front(one, setup.columns) for one in self._maps(front, parts, outputs))
        choice, size, scaler = self.model, self._size(setup), setup.scaler
        as_choice(self.kernel, "kernel", KERNELS)
        linear = (Linear(scaler),) if choice in ("auto", "linear") else ()
        if choice == "linear" or (choice == "auto" and self.kernel == "linear"):
            return linear
        if choice == "auto":
            size = min(size, max(10, math.isqrt(_ENTRIES // outputs)))
        # Without rows there are no representers to draw: random frequencies need none.
        maker = Fourier if choice == "fourier" or (choice == "auto" and setup.rows is None) else Nystroem
        shown = _shown(setup)
        middle = median_distance(scaler(shown), self.kernel)
        widths = [part * middle for part in parts] if self.bandwidth is None else [self.bandwidth]
        options: dict[str, Any] = {"scaler": scaler, "seed": setup.seed}
        return linear + tuple(maker.from_rows(shown, size, self.kernel, width, **options) for width in widths)

    def _size(self, setup: Setup) -> int:
        if self.n_components is None:
            return _MANY if isinstance(setup.space, FiniteSpace) else _FEW
        return as_count(self.n_components, "n_components", 1)


def need_range(setup: Setup, reason: str) -> None:
    """Raise unless a range is declared."""
    if not setup.ranged:
        raise InvalidArgument("low", f"given: {reason}", None)


def calibrated(learner: Any, calibration: int, setup: Setup) -> Learner[Any]:
    """Return a learner of numbers, or, without a declared range, one that finds it first."""
    wanted = as_count(calibration, "calibration", 1) * setup.space.m
    if setup.ranged:
        return learner  # type: ignore[no-any-return]  # of one of the kinds that Calibrated takes
    if setup.horizon is None:
        return Calibrated(learner, wanted, setup.decimals)
    quarter = max(setup.space.m, setup.horizon // 4)
    return Calibrated(learner, min(wanted, quarter), setup.decimals, min(20 * wanted, quarter))


def _widened(model: Model[Any], columns: int) -> Model[Any]:
    """Return a model of the first columns as one of all."""
    if isinstance(model, FeatureModel):
        return FeatureModel(Front(model.features, columns))
    assert isinstance(model, KernelExpansion)
    rest, scaler = columns - model.columns, model.scaler  # divided by infinity, the others are 0
    wide = Scaler(np.append(scaler.center, np.zeros(rest)), np.append(scaler.scale, np.full(rest, np.inf)))
    return replace(model, scaler=wide)


def _shown(setup: Setup) -> Array:
    """Return rows that were shown; stand-ins for them are a step from the origin along each axis."""
    axes = np.eye(setup.columns)
    return np.vstack([-axes, axes]) if setup.rows is None else setup.rows


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
