"""Regression from one yes/no answer per row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, cast, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from askone._common.types import Array
from askone._common.validate import as_choice, as_flag, as_number
from askone.errors import InvalidArgument
from askone.estimators.base import OneBitEstimator
from askone.estimators.learner_choices.base import LearnerChoice
from askone.estimators.learner_choices.defaults import Filters
from askone.estimators.learner_choices.gradients import SGD, Ellipsoid, GenericScheme, RecursiveLeastSquares
from askone.estimators.learner_choices.repeated import Bisection, Remembering
from askone.estimators.row_order import warn_of_labels
from askone.labels.base import Space
from askone.labels.number import Real, sensible_decimals
from askone.labels.wording import Wording
from askone.learners import abilities
from askone.learners.base import Learner
from askone.learners.kalman.regressor import tell_apart
from askone.session.budget import Budget
from askone.session.oracle import Oracle


@final
class OneBitRegressor(RegressorMixin, OneBitEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Regression from one yes/no answer per row.

    Parameters
    ----------
    low, high : number, or one number per output, or None
        A plausible range of the labels, instead of labels.  Without it the first questions of each output find
        location and scale.
    unit : str
        For the sentences: "°C".
    wording : str or ``Wording``
        A template with {threshold}, {amount}, {side}; or, with names of the outputs and words for yes and no,
        ``Wording(names, unit, template, answers)``: ``tell`` takes these words as well as True and False.
    bundles : list of bundles, or None
        What alone may be asked about: quantities of each output, such as [(1, 0), (2, 1), (0, 1)].
        Enough of them to tell every output; for the median and the squared loss.
    decimals : "auto", int or None
        How finely thresholds are shown and asked; "auto" cuts the range into 100 to 1000 steps.
    learner : a name, or an object with arguments of its own
        "filters", ``Filters()``: a bank of one-bit Kalman filters for the median or a quantile, with nothing to tune.
        "sgd", ``SGD()``: stochastic gradients (Algorithm 1), for any loss and model.
        "rls", ``RecursiveLeastSquares()``: the mean by unbiased pseudo-labels, within a declared range.
        "generic", "ellipsoid", ``GenericScheme()``, ``Ellipsoid()``: slopes in parameter space; prices without noise.
        "bisection", "memory", ``Bisection()``, ``Remembering()``: several questions about a row.
        "auto" is "filters", unless bundles tell outputs only together, which takes gradients.
    flip : float
        For filters: how often an answer is the wrong one, where that is known.
    interval : float or None
        For filters: the part of labels that ``predict_interval`` is to hold, such as 0.9.  Half of the
        questions then go to the ends of the interval.
    budget : int, ``Budget`` or None
        How many questions may be asked.
    resample : bool
        Whether a row may be asked more than once.
    select : None, "auto" or "stream"
        Which row of a pool is asked about.  "auto": of some that are drawn the one whose answer should help most, for
        learners that forecast; "stream": rows as they come, as in the paper.  None is "auto" for ``ask_from``, if the
        learner can tell, and "stream" for ``fit``; with "auto" ``fit`` takes X as the pool.
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

    flat_ = True
    _flags: ClassVar[tuple[str, ...]] = ("flat",)
    _learners: ClassVar[dict[str, type[LearnerChoice]]] = {
        "auto": Filters, "filters": Filters, "sgd": SGD, "rls": RecursiveLeastSquares, "generic": GenericScheme,
        "ellipsoid": Ellipsoid, "bisection": Bisection, "memory": Remembering,
    }  # fmt: skip

    def __init__(
        self,
        low: float | Sequence[float] | None = None,
        high: float | Sequence[float] | None = None,
        *,
        unit: str = "",
        wording: str | Wording = "",
        bundles: Sequence[Sequence[float]] | None = None,
        decimals: int | str | None = "auto",
        learner: str | LearnerChoice = "auto",
        flip: float = 0.0,
        interval: float | None = None,
        budget: int | Budget | None = None,
        resample: bool = False,
        select: str | None = None,
        keep_log: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.low = low
        self.high = high
        self.unit = unit
        self.wording = wording
        self.bundles = bundles
        self.decimals = decimals
        super().__init__(learner, flip, budget, resample, select, keep_log, random_state)
        self.interval = interval

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Return predictions in the labels' units, within the range if one was declared: n numbers, or n x m.

        ``return_std`` adds their standard deviation, for learners that have one: of what is predicted, not of labels.
        """
        before = self._stream() is None
        predictions = np.tile(self._space().center, (len(self._unseen(X)), 1)) if before else self._scores(X)
        if self._declared():
            predictions = self._space_of(predictions.shape[1]).clipped(predictions)
        if not as_flag(return_std, "return_std"):
            return self._flat(predictions)
        stream = self._started()
        spread = abilities.deviation(stream.learner, stream.state, self._validated(X, reset=False))
        if spread is None:
            raise InvalidArgument("return_std", "False: this learner keeps no deviation, or not yet", True)
        return self._flat(predictions), self._flat(spread)

    def predict_interval(self, X: ArrayLike, level: float | None = None) -> tuple[Array, Array]:
        """Return lower and upper ends that hold ``interval`` of the labels at each row.

        Another ``level`` stretches them as it would for normal labels.
        """
        stream = self._started()
        unasked = self.interval is None and isinstance(self._choice(), Filters)
        if unasked or not abilities.able(stream.learner, abilities.HasInterval):
            reason = "a level such as 0.9 from the start: questions at the median do not tell how far labels spread"
            raise InvalidArgument("interval", reason, self.interval)
        rows = self._validated(X, reset=False)
        ends = stream.learner.interval(stream.state, rows, level)
        if ends is None:
            raise InvalidArgument("X", "asked about after the range is found; range_ tells", f"{len(rows)} row(s)")
        return self._flat(ends[0]), self._flat(ends[1])

    def threshold(self, X: ArrayLike, level: float | None = None, interval: float | None = None) -> Any:
        """Return the number at which the answer to "is it above?" is yes in ``level`` of all cases, at each row.

        ``level`` lies between the ``guess`` and 1 - the ``lapse`` of ``Filters``, which count; None: halfway, the
        median.  Noise is taken as normal.  ``interval``, such as 0.9, adds lower and upper ends that hold it with this
        chance.  For filters without trees beside them: of one column, with ``guess`` or ``lapse``, or
        ``Filters(fitted=False)``.

        >>> model = OneBitRegressor(0, 100, learner=Filters(guess=0.5), random_state=0).start([[0.0], [0.5], [1.0]])
        >>> model.threshold([[0.5]], level=0.9) < model.threshold([[0.5]], level=0.75)
        array([ True])
        """
        stream = self._able(abilities.HasThresholds)
        rows = self._validated(X, reset=False)
        held = 0.9 if interval is None else interval
        found = [self._flat(one) for one in stream.learner.thresholds(stream.state, rows, level, held)]
        return found[0] if interval is None else tuple(found)

    def best_price(self, X: ArrayLike, return_chance: bool = False) -> Any:
        """Return the price that should earn most at each row, where labels are what an offer is worth to people.

        ``return_chance`` adds the chance that it is paid: their product is what an offer should earn, a little too
        much on average, as it is told of the price that looks best.  For the same learners as ``threshold``;
        ``Filters(goal="revenue")`` asks at such prices.

        >>> shop = OneBitRegressor(0, 100, learner=Filters(goal="revenue"), random_state=0).start([[0.0], [1.0]])
        >>> offer = shop.ask([0.5])
        >>> price, chance = shop.tell(offer, False).best_price([[0.5]], return_chance=True)
        >>> bool(0 < price[0] < offer.threshold), bool(0 < chance[0] < 1)
        (True, True)
        """
        stream = self._able(abilities.HasPrices)
        price, chance = stream.learner.prices(stream.state, self._validated(X, reset=False))
        return (price, chance) if as_flag(return_chance, "return_chance") else price

    def noise(self, interval: float | None = None) -> Any:
        """Return the noise of answers as a standard deviation, in the labels' units: a number, or one per output.

        The slope of the psychometric function, P(yes) against the number asked about, is steepest at the median:
        (1 - guess - lapse) / (sqrt(2 pi) noise).  ``interval`` is as in ``threshold``.  Questions at the median tell
        little of noise: expect wide ones.
        """
        stream = self._able(abilities.HasThresholds)
        found = stream.learner.noise(stream.state, 0.9 if interval is None else interval)
        each = [one.item() if one.size == 1 else one for one in found]
        return each[0] if interval is None else tuple(each)

    def _able(self, ability: type[Learner[Any]]) -> Any:
        stream = self._started()
        if not abilities.able(stream.learner, ability):
            allowed = "filters alone: no interval, and of several columns Filters with fitted=False, guess or lapse"
            raise InvalidArgument("learner", allowed, repr(self.learner))
        return stream

    def _flat(self, values: Array) -> Array:
        return values[:, 0] if values.shape[1] == 1 and self.flat_ else values

    @property
    def range_(self) -> tuple[list[float], list[float]] | None:
        """Lower and upper ends of the range in use, one per output; None while it is sought."""
        stream = self._started()
        space = abilities.space_at(stream.learner, stream.state)
        assert space is None or isinstance(space, Real)
        return None if space is None else (list(space.lows), list(space.highs))

    def _space(self) -> Real:
        ends = (self.low, self.high, self._words().names, *self._bundles())
        return self._space_of(max(1 if part is None else np.size(part) for part in ends))

    def _space_of(self, outputs: int) -> Real:
        """Return the labels; without a declared range [-1, 1] stands for it."""
        if (self.low is None) != (self.high is None):
            raise InvalidArgument("low" if self.low is None else "high", "given, as the other end is", None)
        if self._bundles() and not self._declared():
            raise InvalidArgument("low", "given: a range cannot be sought through bundles", None)
        low, high = (self.low, self.high) if self._declared() else (-1.0, 1.0)
        ends, words = (_per_output(low, "low", outputs), _per_output(high, "high", outputs)), self._words()
        sentence: dict[str, Any] = {"wording": words.template, "answers": words.answers, "bundles": self._bundles()}
        space = Real(*ends, words.names, words.unit, **sentence)
        if not self._declared() or self.decimals is None:
            return space
        if isinstance(self.decimals, str):
            as_choice(self.decimals, "decimals", ("auto",))
            return dataclasses.replace(space, decimals=sensible_decimals(space.lows, space.highs))
        return dataclasses.replace(space, decimals=self.decimals)

    def _declared(self) -> bool:
        return self.low is not None

    def _words(self) -> Wording:
        if not isinstance(self.wording, Wording):
            return Wording(unit=self.unit, template=self.wording)
        if self.unit and self.unit != self.wording.unit:
            raise InvalidArgument("unit", f"{self.wording.unit!r}, as in wording, or left out", repr(self.unit))
        return self.wording

    def _bundles(self) -> tuple[Any, ...]:
        if self.bundles is not None and not np.iterable(self.bundles):
            raise InvalidArgument("bundles", "a list of bundles, each a quantity per output", repr(self.bundles))
        return () if self.bundles is None else tuple(self.bundles)

    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        together = bool(self._bundles()) and not tell_apart(cast(Real, space))
        choice = SGD() if together and self.learner == "auto" else self._choice()
        numbers: dict[str, Any] = {"interval": self.interval, "ranged": self._declared(), "decimals": self.decimals}
        return choice.make(dataclasses.replace(self._setup(rows, space, horizon, seed), **numbers))

    def _hidden(self, X: ArrayLike, y: Any) -> tuple[Array, Oracle, Space]:
        if isinstance(y, Oracle):
            rows, oracle, self.flat_ = self._validated(X), y, True
        else:
            again = bool(self.resample) or self._choice().several
            rows, labels = self._validated(X, y, multi_output=True, y_numeric=True)
            try:
                labels = labels.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise InvalidArgument("y", "numbers (OneBitClassifier learns classes)", str(error)) from error
            oracle, self.flat_ = Oracle(labels, resample=again), labels.ndim == 1
        return rows, oracle, self._space_of(oracle.outputs)

    def _look_at(self, y: Any, space: Space) -> None:
        if self._declared() and not isinstance(y, Oracle):
            labels = np.asarray(y, dtype=np.float64)
            warn_of_labels(labels.reshape(len(labels), -1), cast(Real, space))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _per_output(value: Any, argument: str, outputs: int) -> tuple[float, ...]:
    numbers = [value] if np.ndim(value) == 0 else list(value)
    if len(numbers) not in (1, outputs):
        raise InvalidArgument(argument, f"a number or {outputs} number(s), one per output", f"{len(numbers)} number(s)")
    checked = [as_number(v.item() if isinstance(v, np.generic) else v, argument) for v in numbers]
    return tuple(checked * outputs if len(checked) == 1 else checked)
