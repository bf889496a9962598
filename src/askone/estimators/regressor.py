"""Regression from one yes/no answer per row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from askone._common.types import Array
from askone._common.validate import as_flag, as_rows
from askone.errors import InvalidArgument
from askone.estimators._recipe import Recipe
from askone.estimators.base import OneBitEstimator
from askone.labels.base import Space
from askone.labels.losses import Loss
from askone.labels.number import Real
from askone.learners import abilities, registry, step_rules
from askone.learners.base import Learner
from askone.learners.models.base import Model
from askone.session.oracle import Oracle
from askone.session.stream import Budget


@final
class OneBitRegressor(RegressorMixin, OneBitEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Regression from one yes/no answer per row.

    Parameters
    ----------
    low, high : number, or one number per output, or None
        A plausible range of the labels, instead of labels.  Without it the first ``calibration``
        questions of each output find location and scale.
    unit, names, wording : str, list of str, str
        For the sentences: "°C"; names of the outputs; a template with {threshold}, {amount}, {side}.
    answers : two words
        For yes and no, such as ("bought", "did not buy"); ``tell`` takes words of your own as well as True and False.
    bundles : list of bundles, or None
        What alone may be asked about: quantities of each output, such as [(1, 0), (2, 1), (0, 1)].
        Enough of them to tell every output; for the median and the squared loss.
    decimals : "auto", int or None
        How finely thresholds are shown and asked; "auto" cuts the range into 100 to 1000 steps.
    loss : "median", "squared", "quantile", "huber", "logcosh", or a ``Loss``
        What is learnt: the median, the mean, a quantile (``quantile``), or between median and mean
        (``delta``, in the labels' units; default a tenth of half the range).
    limit : number or None
        For the squared loss: a bound on labels' distance from the middle of the range, which makes
        its thresholds uniform; None weights them instead and needs no bound.
    questions : "active", "passive", "full", "generic", "ellipsoid", "bisection"
        At the prediction (Algorithm 1), at random (the passive baseline), the label itself (full
        supervision), slopes in parameter space (appendix B), prices that halve what is possible
        for answers without noise (see ``askone.learners.paper.ellipsoid``), or several questions about a
        row until its label is known to the ``precision``.
    learner : "auto", "filters", "sgd", "rls"
        Who learns: "filters", a bank of one-bit Kalman filters for the median or a quantile, with nothing to
        tune (see ``Filters``); "sgd", stochastic gradients (Algorithm 1); "rls", recursive least squares on
        unbiased pseudo-labels, for the squared loss, a declared range and fixed features.  "auto" is
        "filters", unless another loss, ``questions``, ``limit``, ``step``, ``gamma``, ``average``, ``ridge``,
        ``resample="memory"``, a model without fixed features, or bundles that tell outputs only together ask for
        gradients.
    model : "auto", "linear", "nystroem", "fourier", "kernel", or a ``Model``
        "auto" is, for filters, linear and whitened Nyström features of five bandwidths, weighted by the
        answers; for gradients Nyström features where unlabelled rows were shown, else "kernel", the exact
        kernel expansion that grows with every answer.
    kernel, bandwidth, n_components
        Of the feature maps.  Without a bandwidth it is the median distance of the scaled rows; for filters
        a quarter, half, once, twice and four times that.
    step : "auto", "sqrt", "constant", "theorem", "adagrad", "adagrad-diagonal", "dog", "dowg", "coin", or a
        ``StepRule``
        Of "sgd", with ``gamma``, its size, where it has one (None: its default); "auto" is "sqrt".
    average : "auto", "uniform", "tail", "polynomial", "none", or an ``Average``
        Of "sgd"; "auto" is "uniform".
    ridge : number
        lambda of lambda |theta|^2, in true gradient units.
    calibration : int
        Questions per output spent on the range where none is declared.
    budget : int, ``Budget`` or None
        How many questions may be asked.
    precision : number or None
        How well a label is to be known, in its units: for ``questions="bisection"`` (None: within a
        fortieth of the range) and ``resample="memory"`` (a two-hundredth).
    flip : float
        For filters: how often an answer is the wrong one, where that is known.
    interval : float or None
        For filters: the part of labels that ``predict_interval`` is to hold, such as 0.9.  Half of the
        questions then go to the ends of the interval.
    covariance : "auto", "full", "diagonal"
        For filters: "diagonal" keeps p numbers a filter instead of p^2, for very many features, at the price
        of questions; "auto" turns to it where full ones would take more than 300 MB.
    resample : False, True or "memory"
        Whether a row may be asked more than once; "memory" never asks what earlier answers imply.
    select : None or "uncertain"
        Which row of a pool is asked about (``ask_from``, and ``fit`` with X as the pool): those whose
        answers should tell most, for learners that forecast; None: rows as they come, as in the paper.
    keep_log : None, True or False
        Whether ``log_`` and ``rows_`` hold every question, answer and row, for ``refit`` and ``compare``.
        None: those of ask and tell, not of ``fit``, which True makes go question by question.
    random_state : int, RandomState or None

    Examples
    --------
    >>> model = OneBitRegressor(low=0, high=100, random_state=0)
    >>> model = model.start([[0.0], [0.5], [1.0]])     # unlabelled rows, for the kernel's scale
    >>> question = model.ask([0.5])
    >>> str(question)
    'Is the value above 50?'
    >>> model = model.tell(question, True)
    >>> bool(model.predict([[0.5]])[0] > 50)
    True
    """

    def __init__(
        self,
        low: float | Sequence[float] | None = None,
        high: float | Sequence[float] | None = None,
        *,
        unit: str = "",
        names: Sequence[str] | None = None,
        wording: str = "",
        answers: Sequence[str] = ("yes", "no"),
        bundles: Sequence[Sequence[float]] | None = None,
        decimals: int | str | None = "auto",
        loss: str | Loss = "median",
        quantile: float = 0.5,
        delta: float | None = None,
        limit: float | None = None,
        questions: str = "active",
        learner: str = "auto",
        model: str | Model[Any] = "auto",
        kernel: str = "gaussian",
        bandwidth: float | None = None,
        n_components: int = 100,
        step: str | step_rules.StepRule = "auto",
        gamma: float | None = None,
        average: str | step_rules.Average = "auto",
        ridge: float = 0.0,
        calibration: int = 60,
        precision: float | None = None,
        flip: float = 0.0,
        interval: float | None = None,
        covariance: str = "auto",
        budget: int | Budget | None = None,
        resample: bool | str = False,
        select: str | None = None,
        keep_log: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.low = low
        self.high = high
        self.unit = unit
        self.names = names
        self.wording = wording
        self.answers = answers
        self.bundles = bundles
        self.decimals = decimals
        self.loss = loss
        self.quantile = quantile
        self.delta = delta
        self.limit = limit
        self.questions = questions
        self.learner = learner
        self.model = model
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.step = step
        self.gamma = gamma
        self.average = average
        self.ridge = ridge
        self.calibration = calibration
        self.precision = precision
        self.flip = flip
        self.interval = interval
        self.covariance = covariance
        self.budget = budget
        self.resample = resample
        self.select = select
        self.keep_log = keep_log
        self.random_state = random_state

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Predictions in the labels' units: n numbers, or n x m for several outputs.

        ``return_std`` adds their standard deviation, for learners that have one: of what is predicted, not of labels.
        """
        before = self._stream() is None
        predictions = np.tile(self._space().center, (len(as_rows(X)), 1)) if before else self._scores(X)
        if not as_flag(return_std, "return_std"):
            return self._flat(predictions)
        stream = self._started()
        spread = abilities.deviation(stream.learner, stream.state, self._validated(X, reset=False))
        if spread is None:
            raise InvalidArgument("return_std", "False: this learner keeps no deviation, or not yet", True)
        return self._flat(predictions), self._flat(spread)

    def predict_interval(self, X: ArrayLike, level: float | None = None) -> tuple[Array, Array]:
        """Lower and upper ends that hold ``interval`` of the labels at each row.

        Another ``level`` stretches them as it would for normal labels.
        """
        stream = self._started()
        if not abilities.able(stream.learner, abilities.HasInterval):
            reason = "a level such as 0.9 from the start: questions at the median do not tell how far labels spread"
            raise InvalidArgument("interval", reason, self.interval)
        rows = self._validated(X, reset=False)
        ends = stream.learner.interval(stream.state, rows, level)
        if ends is None:
            raise InvalidArgument("X", "asked about after the range is found; range_ tells", f"{len(rows)} row(s)")
        return self._flat(ends[0]), self._flat(ends[1])

    def _flat(self, values: Array) -> Array:
        return values[:, 0] if values.shape[1] == 1 and self.__dict__.get("flat_", True) else values

    @property
    def range_(self) -> tuple[list[float], list[float]] | None:
        """Lower and upper ends of the range in use, one per output; None while it is sought."""
        stream = self._started()
        space = abilities.space_at(stream.learner, stream.state)
        assert space is None or isinstance(space, Real)
        return None if space is None else (list(space.lows), list(space.highs))

    def _space(self) -> Real:
        recipe = self._recipe()
        return recipe.space(recipe.outputs)

    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        return self._recipe().make_learner(rows, int(self.n_features_in_), space.m, horizon, seed)

    def _own(
        self, make: registry.Make, rows: Array | None, space: Space, horizon: int | None, seed: int
    ) -> Learner[Any]:
        if self.low is None:
            raise InvalidArgument("low", f"given: learner={self.learner!r} needs a range", None)
        return super()._own(make, rows, space, horizon, seed)

    def _hidden(self, X: ArrayLike, y: Any) -> tuple[Array, Oracle, Space]:
        if isinstance(y, Oracle):
            rows, oracle, self.flat_ = self._validated(X), y, True
        else:
            again = bool(self.resample) or self.questions == "bisection"
            rows, labels = self._validated(X, y, multi_output=True, y_numeric=True)
            oracle, self.flat_ = Oracle(labels, resample=again), labels.ndim == 1
        return rows, oracle, self._recipe().space(oracle.outputs)

    def _recipe(self) -> Recipe:
        return Recipe(**{field.name: self.__dict__[field.name] for field in dataclasses.fields(Recipe)})

    def _extras(self) -> dict[str, Any]:
        return {"flat": self.__dict__.get("flat_", True)}

    def _restored(self, document: dict[str, Any], arrays: dict[str, Array], given: Model[Any] | None) -> Self:
        self.flat_ = document["flat"]
        return super()._restored(document, arrays, given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
