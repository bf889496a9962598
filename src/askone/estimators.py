"""Estimators with scikit-learn's manners over the four pure functions."""

from __future__ import annotations

import dataclasses
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from askone import saving, schedules
from askone.errors import BudgetSpent, InvalidArgument, InvalidFile, UnknownQuestion, WrongType
from askone.inputs import as_rows, dimensions
from askone.learners.base import Learner
from askone.learners.calibrated import Calibrated
from askone.losses import Loss
from askone.models.base import Model
from askone.oracles import Oracle
from askone.questions import Question, question_from_json
from askone.recipes import Recipe
from askone.simulation import resampled, simulate
from askone.streams import Budget, Stream, as_budget

Array = NDArray[Any]


class InputScaleWarning(UserWarning):
    """A model was built without having seen any unlabelled rows."""


@final
class OneBitRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Regression from one yes/no answer per row.

    Parameters
    ----------
    low, high : number, or one number per output, or None
        A plausible range of the labels, instead of labels.  Without it the first ``calibration``
        questions of each output find location and scale.
    unit, names, wording : str, list of str, str
        For the sentences: "°C"; names of the outputs; a template with {threshold}, {amount}, {side}.
    decimals : "auto", int or None
        How finely thresholds are shown and asked; "auto" cuts the range into 100 to 1000 steps.
    loss : "median", "squared", "quantile", "huber", "logcosh", or a ``Loss``
        What is learnt: the median, the mean, a quantile (``quantile``), or between median and mean
        (``delta``, in the labels' units; default a tenth of half the range).
    limit : number or None
        For the squared loss: a bound on labels' distance from the middle of the range, which makes
        its thresholds uniform; None weights them instead and needs no bound.
    questions : "active", "passive", "full", "generic"
        At the prediction (Algorithm 1), at random (the passive baseline), the label itself (full
        supervision), or slopes in parameter space (appendix B).
    model : "auto", "linear", "nystroem", "fourier", "kernel", or a ``Model``
        "auto" is whitened Nyström features where unlabelled rows were shown, else "kernel", the
        exact kernel expansion that grows with every answer.
    kernel, bandwidth, n_components
        Of the feature maps; the default bandwidth is the median distance of the scaled rows.
    step : "sqrt", "constant", "theorem", "adagrad", "adagrad-diagonal", "dog", "coin", or a ``StepRule``
        With ``gamma``, its size, where it has one (None: its default).
    average : "uniform", "tail", "polynomial", "none", or an ``Average``
    ridge : number
        lambda of lambda |theta|^2, in true gradient units.
    calibration : int
        Questions per output spent on the range where none is declared.
    budget : int, ``Budget`` or None
        How many questions may be asked.
    resample : bool
        Whether a row may be asked more than once.
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
        decimals: int | str | None = "auto",
        loss: str | Loss = "median",
        quantile: float = 0.5,
        delta: float | None = None,
        limit: float | None = None,
        questions: str = "active",
        model: str | Model[Any] = "auto",
        kernel: str = "gaussian",
        bandwidth: float | None = None,
        n_components: int = 100,
        step: str | schedules.StepRule = "sqrt",
        gamma: float | None = None,
        average: str | schedules.Average = "uniform",
        ridge: float = 0.0,
        calibration: int = 60,
        budget: int | Budget | None = None,
        resample: bool = False,
        random_state: Any = None,
    ) -> None:
        self.low = low
        self.high = high
        self.unit = unit
        self.names = names
        self.wording = wording
        self.decimals = decimals
        self.loss = loss
        self.quantile = quantile
        self.delta = delta
        self.limit = limit
        self.questions = questions
        self.model = model
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.step = step
        self.gamma = gamma
        self.average = average
        self.ridge = ridge
        self.calibration = calibration
        self.budget = budget
        self.resample = resample
        self.random_state = random_state

    # -- live: ask and tell -----------------------------------------------------------------------

    def start(self, X: ArrayLike) -> Self:
        """Begin anew, with a look at unlabelled rows: their scale, the bandwidth, the representers."""
        with self._all_or_nothing():
            self._begin(self._validated(X), self._recipe().outputs, None)
        return self

    def ask(self, x: ArrayLike, key: Any = None) -> Any:
        """A question about a row (one dimension), or a list of them about rows (two), at one state.

        ``key``, a text or a whole number, names the row (or lists one for each row): a named row is
        asked only once.
        """
        with self._all_or_nothing():
            stream = self._running(x)
            if _is_series(x):
                return stream.ask(self._validated(_as_frame(x), reset=False)[0], key)
            if dimensions(x, "x") == 1:
                return stream.ask(x, key)
            return stream.ask_many(self._validated(x, reset=False), key)

    def tell(self, question: Question | int, answer: Any) -> Self:
        """Learn from the answer to a question (True or False), or to its number."""
        self._started().tell(question, answer)
        return self

    @property
    def range_(self) -> tuple[list[float], list[float]] | None:
        """Lower and upper ends of the range in use, one per output; None while it is sought."""
        stream = self._started()
        space = stream.state.space if isinstance(stream.learner, Calibrated) else stream.learner.space
        return None if space is None else (list(space.lows), list(space.highs))

    def skip(self, question: Question | int) -> Self:
        """Close a question that nobody will answer."""
        self._started().skip(question)
        return self

    # -- simulation and prediction ----------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike | Oracle) -> Self:
        """Simulate: y is hidden behind an oracle, which answers one question per row, in order.

        y may be an ``Oracle`` itself: one that flips, or skips, or has counted before.
        """
        if y is None:
            raise InvalidArgument("y", "labels or an Oracle (requires y to be passed, but the target y is None)", y)
        with self._all_or_nothing():
            self._simulate(X, y)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predictions in the labels' units: n numbers, or n x m for several outputs."""
        if self._stream() is None:
            recipe = self._recipe()
            predictions = np.tile(recipe.space(recipe.outputs).center, (len(as_rows(X)), 1))
        else:
            predictions = self._started().predict(self._validated(X, reset=False))
        flat = predictions.shape[1] == 1 and self.__dict__.get("flat_", True)
        return predictions[:, 0] if flat else predictions

    # -- on disk ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all there is, without pickle: configuration, state, keys, budget, open questions.

        ``askone.load`` reads it back.
        """
        stream = self._started()
        arrays: dict[str, Array] = {}
        seeded = self.random_state is None or isinstance(self.random_state, int | np.integer)
        plain = {k: v for k, v in self.get_params(deep=False).items() if k != "budget"}
        if not seeded:
            plain["random_state"] = None  # a RandomState cannot be written; the stream keeps its seed
        document = {
            "estimator": type(self).__name__,
            "params": {name: saving.encode(_plain(value), arrays) for name, value in plain.items()},
            "learner": saving.encode(stream.learner, arrays),
            "columns": int(self.n_features_in_),
            "feature_names": [str(name) for name in self.__dict__.get("feature_names_in_", [])],
            "seed": stream.seed,
            "asked": stream.asked,
            "keys": sorted(stream.keys, key=lambda key: (str(type(key)), key)),
            "open": [[n, row.tolist(), question.to_json()] for n, row, question in stream.open_questions()],
            "budget": None if stream.budget is None else [stream.budget.questions, stream.budget.spent],
            "flat": self.__dict__.get("flat_", True),
        }
        state = stream.learner.to_arrays(stream.state)
        saving.save(path, document, arrays | {f"state-{name}": array for name, array in state.items()})

    def _restored(self, document: dict[str, Any], arrays: dict[str, Array], given: Model[Any] | None) -> Self:
        learner: Learner[Any] = saving.decode(document["learner"], arrays, given)
        state = {name[6:]: array for name, array in arrays.items() if name.startswith("state-")}
        self.stream_ = Stream(
            learner,
            seed=document["seed"],
            resample=self.resample,
            budget=None if document["budget"] is None else Budget(*document["budget"]),
            state=learner.from_arrays(state),
            asked=document["asked"],
        )
        self.budget = self.stream_.budget
        self.stream_.keys.update(document["keys"])
        for number, row, question in document["open"]:
            self.stream_.reopen(number, np.array(row), question_from_json(question))
        self.n_features_in_, self.flat_ = document["columns"], document["flat"]
        if document["feature_names"]:
            self.feature_names_in_ = np.array(document["feature_names"], dtype=object)
        return self

    def _simulate(self, X: ArrayLike, y: ArrayLike | Oracle) -> None:
        if isinstance(y, Oracle):
            rows, oracle, flat = self._validated(X), y, True
        else:
            rows, labels = self._validated(X, y)
            oracle, flat = Oracle(labels, resample=self.resample), labels.ndim == 1
        stream = self._begin(rows, oracle.outputs, len(rows))
        self.flat_ = flat
        left = len(rows) if stream.budget is None else stream.budget.left
        if left == 0:
            raise BudgetSpent("the budget holds no question for fit")
        order = resampled(len(rows), left, stream.seed) if self.resample else None
        rows = rows if self.resample else rows[:left]
        simulation = simulate(stream.learner, rows, oracle, seed=stream.seed, at=[], order=order)
        stream.state, stream.asked = simulation.state, len(rows if order is None else order)
        if stream.budget is not None:
            stream.budget.spend(stream.asked)

    # -- parts ------------------------------------------------------------------------------------

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Whatever is refused inside leaves the model as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _stream(self) -> Stream | None:
        return self.__dict__.get("stream_")

    def _started(self) -> Stream:
        stream = self._stream()
        if stream is None:
            raise UnknownQuestion("no question was asked yet: call start, ask or fit first")
        return stream

    def _running(self, x: ArrayLike) -> Stream:
        stream = self._stream()
        if stream is not None:
            return stream
        shown = _as_frame(x) if _is_series(x) else np.asarray(x)[None] if dimensions(x, "x") == 1 else x
        rows = self._validated(shown)
        alone = len(rows) < 3
        if alone and not isinstance(self.model, Model):
            warnings.warn(
                "no unlabelled rows were shown, so inputs are taken as they come, at scale 1: "
                "call start(X) first, or ask about several rows at once",
                InputScaleWarning,
                stacklevel=3,
            )
        return self._begin(None if alone else rows, self._recipe().outputs, None)

    def _begin(self, rows: Array | None, outputs: int, horizon: int | None) -> Stream:
        budget = as_budget(self.budget)
        if budget is not None:
            horizon = budget.left if horizon is None or self.resample else min(horizon, budget.left)
        try:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            allowed = "None, a whole number or a RandomState"
            raise InvalidArgument("random_state", allowed, repr(self.random_state)) from error
        learner = self._recipe().learner(rows, int(self.n_features_in_), outputs, horizon, seed)
        self.stream_ = Stream(learner, seed=seed, budget=budget, resample=self.resample)
        return self.stream_

    def _recipe(self) -> Recipe:
        return Recipe(**{field.name: self.__dict__[field.name] for field in dataclasses.fields(Recipe)})

    # -- scikit-learn -----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.target_tags.multi_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._stream() is not None

    def _validated(self, X: ArrayLike, y: Any = "no_validation", reset: bool = True) -> Any:
        try:
            if isinstance(y, str):
                return validate_data(self, X, reset=reset, dtype=np.float64)
            return validate_data(self, X, y, reset=reset, dtype=np.float64, multi_output=True, y_numeric=True)
        except (ValueError, TypeError) as error:
            if isinstance(error, InvalidArgument):
                raise
            kind = WrongType if isinstance(error, TypeError) else InvalidArgument
            raise kind("X" if isinstance(y, str) else "X and y", "rows of numbers that fit", str(error)) from error


def _is_series(x: Any) -> bool:
    pandas = sys.modules.get("pandas")  # nobody holds a Series who has not imported pandas
    return pandas is not None and isinstance(x, pandas.Series)


def _as_frame(series: Any) -> Any:
    """One row of a table, with its column names, as a table of one row."""
    return series.to_frame().T.astype(float)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, also within a list."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def load(path: str | os.PathLike[str], model: Model[Any] | None = None) -> OneBitRegressor:
    """A model saved by ``save``; a network is handed in again as ``model``."""
    document, arrays = saving.read(path)
    if document.get("estimator") != OneBitRegressor.__name__:
        raise InvalidArgument("path", "a saved OneBitRegressor", document.get("estimator"))
    try:
        params = {name: saving.decode(value, arrays, model) for name, value in document["params"].items()}
        return OneBitRegressor(**params)._restored(document, arrays, model)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidFile(f"{os.fspath(path)} is damaged: {error!r}") from error
