"""Labels that are numbers in a range: is it above a threshold?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.campaign.kinds.base import (
    LEVEL,
    SCATTER,
    Check,
    Columns,
    Exam,
    ExamPlan,
    IntervalQuestion,
    Kind,
    Smooth,
    Truth,
    View,
)
from askone.campaign.kinds.consistency import Said, by_numbers
from askone.campaign.kinds.number_exam import Above, Late, far_exam, laplace, number_exam, rounded, usual_error
from askone.campaign.settings.section import Words, section, setting
from askone.encoding.amounts import Reading, reading_of
from askone.errors import InvalidArgument
from askone.labels.number import Real
from askone.labels.wording import YES_NO, Wording, number_text
from askone.learners.abilities import Forecasts, HasPrices, able, deviation, interval, predict_within, space_at
from askone.learners.base import Learner
from askone.questions.base import Question, known_rates
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace

if TYPE_CHECKING:
    from askone.campaign.kinds import estimates
    from askone.campaign.kinds.estimates import Estimate, ExamAnswer
    from askone.campaign.settings.settings import LearnerSettings, QuestionSettings, Settings
    from askone.estimators import regressor
    from askone.estimators.learner_choices import defaults, gradients
    from askone.estimators.learner_choices.base import LearnerChoice
else:
    estimates = lazy_import("askone.campaign.kinds.estimates")
    regressor = lazy_import("askone.estimators.regressor")
    defaults = lazy_import("askone.estimators.learner_choices.defaults")
    gradients = lazy_import("askone.estimators.learner_choices.gradients")

_EDGE = 0.01  # of the range, next to its ends, is not asked about
_BEYOND = 20.0  # ranges: nothing lies so far off


@final
@section("labels")
class Numbers(Kind):
    """Labels are numbers in a plausible range (None: it is found by the first questions)."""

    low: float | None = setting(
        None, "the range in which labels plausibly lie (none: the first questions find it)", 0.0
    )
    high: float | None = setting(None, "", 100.0)
    unit: Words = setting("", "stands behind thresholds")
    decimals: int | None = setting(None, "decimals of thresholds; negative: tens, hundreds, ...", 0, ge=-15, le=15)
    name: Words = setting("", "what the number is: the price")
    quantile: float = setting(
        0.5, "what is predicted: 0.5 is the median; 0.9: nine in ten labels lie below", gt=0, lt=1
    )
    goal: Literal["value", "revenue"] = setting(
        "value", '"revenue": numbers are what an offer is worth to people, who are asked at the price that earns most'
    )

    kind: ClassVar[str] = "number"
    learners: ClassVar[tuple[str, ...]] = ("auto", "filters", "sgd", "rls")
    tuned: ClassVar[tuple[str, ...]] = ("loss", "interval", "guess", "lapse")
    measure: ClassVar[str] = "mean error"
    is_share: ClassVar[bool] = False
    view_kind: ClassVar[str] = "threshold"
    is_drawn_by_rows: ClassVar[bool] = True
    has_far_exams: ClassVar[bool] = True
    estimable: ClassVar[tuple[str, ...]] = ("mean", "median", "share above 30")
    usage: ClassVar[str] = "number (with --low and --high)"
    places: ClassVar[Mapping[str, str]] = {"names": "name"}
    options: ClassVar[Mapping[str, str]] = {
        "low": "low", "high": "high", "unit": "unit", "decimals": "decimals", "label": "name",
        "quantile": "quantile", "goal": "goal",
    }  # fmt: skip

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InvalidArgument(f"labels.{'low' if self.low is None else 'high'}", "given, as the other end is", None)
        if self.goal != "revenue":
            return
        if self.low is None or self.low < 0.0:
            raise InvalidArgument("labels.low", 'given, and at least 0 with labels.goal "revenue"', self.low)
        if self.quantile != 0.5:
            raise InvalidArgument("labels.quantile", '0.5 with labels.goal "revenue"', self.quantile)
        if self.decimals is not None and round(float(self.high or 0.0), self.decimals) <= 0.0:
            raise InvalidArgument("labels.decimals", "such that the range holds a price above 0", self.decimals)

    @property
    def noun(self) -> str:
        """The name without its article, which questions have already.

        >>> Numbers(0, 9, name="the price").noun
        'price'
        """
        name = self.name.strip()
        return name[4:].lstrip() if name[:4].lower() == "the " else name

    @property
    def error_unit(self) -> str:
        return self.unit

    def space(self, question: QuestionSettings) -> Real:
        """Return the range; [-1, 1] stands for one that is not known."""
        ends = (-1.0, 1.0) if self.low is None or self.high is None else (self.low, self.high)
        names = (self.noun,) if self.noun else ()
        return Real(*ends, names, self.unit, self.decimals, question.wording, question.answers)

    def described(self) -> str:
        if self.low is None or self.high is None:
            return "numbers; their range is unknown, so the first questions are spent on it (--low, --high)"
        return f"numbers from {number_text(self.low)} to {number_text(self.high)} {self.unit}".rstrip()

    def check(self, learner: LearnerSettings) -> None:
        super().check(learner)
        other = learner.learner not in ("auto", "filters") or learner.loss != "median"
        for name, default in (("interval", None), ("guess", 0.0), ("lapse", 0.0)):
            if other and getattr(learner, name) != default:
                allowed = "left alone, but for learner 'filters' without learner.loss"
                raise InvalidArgument(f"learner.{name}", allowed, getattr(learner, name))
        for name, usual in (("quantile", 0.5), ("goal", "value")):
            if getattr(self, name) != usual and (other or learner.interval is not None):
                allowed = f"{usual!r}, but for learner 'filters' without learner.loss and learner.interval"
                raise InvalidArgument(f"labels.{name}", allowed, getattr(self, name))
        if learner.learner == "filters" and learner.loss != "median":
            raise InvalidArgument("learner.loss", "'median' with learner 'filters'", repr(learner.loss))
        if learner.learner == "rls" and learner.loss != "squared":
            raise InvalidArgument("learner.loss", "'squared' with learner 'rls'", repr(learner.loss))
        if sum(known_rates(learner.guess, learner.lapse)) > 0.0 and self.low is None:
            raise InvalidArgument("labels.low", "given, with learner.guess or learner.lapse", None)
        if self.low is None and (learner.learner == "rls" or learner.loss in ("huber", "logcosh")):
            raise InvalidArgument("labels.low", f"given, for learner.loss {learner.loss!r}", None)

    def as_label(self, value: Any) -> float:
        return self._as_number(value, reading_of([value]) if isinstance(value, str) else None)

    def label_reader(self, cells: Sequence[Any]) -> Callable[[Any], float]:
        reading = reading_of(cells)

        def read(value: Any) -> float:
            number = self._as_number(value, reading)
            if self.low is not None and self.high is not None and not self.low <= number <= self.high:
                allowed = f"a number from {number_text(self.low)} to {number_text(self.high)}, the range of labels"
                raise InvalidArgument("label", allowed, repr(value)[:60])
            return number

        return read

    def _as_number(self, value: Any, reading: Reading | None) -> float:
        try:
            number = float(value) if reading is None else reading.number(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or isinstance(value, bool):
            raise InvalidArgument("label", "a number", repr(value)[:60])
        return number

    def estimator(self, settings: Settings, **shared: Any) -> regressor.OneBitRegressor:
        question = settings.question
        return regressor.OneBitRegressor(
            self.low,
            self.high,
            wording=Wording((self.noun,) if self.noun else (), self.unit, question.wording, question.answers),
            decimals="auto" if self.decimals is None else self.decimals,
            interval=settings.learner.interval,
            **shared,
        )

    def likelihood(self, settings: Settings, features: int | None) -> LearnerChoice:
        return defaults.Filters(**self._filters(settings.learner), n_components=features)

    def rivals(self, settings: Settings, columns: int, mixed: bool) -> Mapping[str, LearnerChoice]:
        """Return the bank without what is fitted beside, lines, and slopes: these where exams cover the whole range."""
        named = self._filters(settings.learner)
        alone: dict[str, LearnerChoice] = {"Filters alone": defaults.Filters(fitted=False, **named)} if mixed else {}
        found = {**alone, "Linear": defaults.Filters(model="linear", **named)}
        learner = settings.learner
        plain = learner.interval is None and sum(known_rates(learner.guess, learner.lapse)) == 0.0
        if plain and self.has_error and self.low is not None and settings.ask.exams != "error":
            found["Stochastic gradients"] = gradients.SGD(questions="passive")
        return found

    def _filters(self, learner: LearnerSettings) -> dict[str, Any]:
        return {"quantile": self.quantile, "goal": self.goal, "guess": learner.guess, "lapse": learner.lapse}

    # -- questions --------------------------------------------------------------------------------

    def view(self, question: Question) -> View:
        if isinstance(question, Between):
            low, high, words = question.low, question.high, question.wording
            ends = {
                "low": number_text(low),
                "high": number_text(high),
                "unit": words.unit,
                "name": words.amount((1.0,)),
            }
            mark = {"y": (low + high) / 2, "low": low, "high": high}
            return View("range", {"range": ends}, mark=mark, density=question.density, template=words.range_template)
        if not isinstance(question, HalfSpace):
            return super().view(question)
        sign = 1.0 if question.direction[0] > 0 else -1.0
        return View(
            "threshold",
            {"threshold": _threshold(question)},
            None if question.answers == YES_NO else question.answers,
            {"y": sign * question.threshold},
            mirrored=sign < 0,
            density=question.density,
            template=question.wording.said(question.weights)[0],
        )

    def reworded(self, question: Question, wording: str) -> Question:
        told: Any = question
        return super().reworded(question, replace(told.wording, template=wording))

    def plausible(self, question: Question, learner: Learner[Any], state: Any) -> Question:
        """Return a threshold within the range: a person who is asked about another loses trust."""
        space = _known_range(learner, state)
        if space is None or self.goal == "revenue" or not isinstance(question, HalfSpace):
            return question
        # A learner with a likelihood takes any threshold; a slope must be asked for where it is.
        if not able(learner, Forecasts) or len(question.direction) > 1 or question.quantities or question.purpose:
            return question
        sign, low, high = question.direction[0], space.lows[0], space.highs[0]
        inside = sign * min(max(sign * question.threshold, low + _EDGE * (high - low)), high - _EDGE * (high - low))
        return question if inside == question.threshold else replace(question, threshold=rounded(space, inside))

    def exam(self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan) -> Exam | None:
        """Return a range or a threshold near the prediction, see ``number_exam``; None before the range is known.

        Its score is the error of a median: other quantiles are not to be near the labels.  Whoever is offered a price
        is asked nothing else.
        """
        found = self._exam_parts(learner, state, x, plan)
        if found is None:
            return None
        space, f, above, late = found
        return number_exam(space, f, above, plan, float(uniform[0]), learner.count(state), late)

    def sure_question(
        self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan
    ) -> Check | None:
        """Return whether the label lies beyond what exams ask about, see ``number_exam``."""
        found = self._exam_parts(learner, state, x, plan)
        if found is None:
            return None
        space, f, above, late = found
        return far_exam(space, f, above, plan, float(uniform[0]), learner.count(state), late)

    def _exam_parts(
        self, learner: Learner[Any], state: Any, x: Array, plan: ExamPlan
    ) -> tuple[Real, float, Above, Late] | None:
        """Return the range, what is predicted of a row, its chances, and the error of late; None: no exams."""
        space = _known_range(learner, state)
        if space is None or space.m > 1 or not self.has_error:
            return None
        f = min(max(float(learner.predict(state, x[None])[0, 0]), space.lows[0]), space.highs[0])
        late = usual_error(space, plan, able(learner, Forecasts))
        above = _foretold(learner, state, x, space) if able(learner, Forecasts) else laplace(f, late.error)
        return space, f, above, late

    # -- predictions and forecasts ----------------------------------------------------------------

    def interval_question(
        self, learner: Learner[Any], state: Any, x: Array, level: float, stretch: float
    ) -> IntervalQuestion | None:
        """Return whether it lies between the ends, or on the right side of the one that is within the range."""
        space, ends = _known_range(learner, state), interval(learner, state, x[None], level)
        if space is None or ends is None or space.m > 1 or not self.has_error:
            return None
        low, high = (
            rounded(space, float(end[0, 0])) for end in _stretched(learner.predict(state, x[None]), *ends, stretch)
        )
        words: dict[str, Any] = {"wording": space.words, "learnt": learner.count(state)}
        bounded, reaching = low > space.lows[0], high < space.highs[0]
        if bounded and reaching and low < high:
            return IntervalQuestion(Between(low, high, **words), False)
        if bounded != reaching:
            return IntervalQuestion(HalfSpace((1.0,), low if bounded else high, **words), reaching)
        return None

    def compatible(self, said: Said) -> int:
        return by_numbers(said)

    @property
    def columns(self) -> Columns:
        names = ["prediction", "std", "low", "high", "prediction_low", "prediction_high"]
        return tuple((name, "float") for name in (*names, *(("price", "paid") if self.goal == "revenue" else ())))

    def predicted(
        self, estimator: regressor.OneBitRegressor, X: Array, rowless: bool = False, stretch: float = 1.0
    ) -> dict[str, list[Any]]:
        """Return predictions within the range that was declared: what cannot be is not said, however unsure it is.

        ``low`` and ``high`` are the ends of an interval for the label, ``prediction_low`` and ``prediction_high`` of
        one for what is predicted, the median: two of its deviations.  For revenue there are the best ``price`` and the
        chance that it is ``paid``.
        """
        learner, state = estimator.stream_.learner, estimator.stream_.state
        level = LEVEL if estimator.interval is None else estimator.interval
        middle, ends = predict_within(learner, state, X, level)
        spread, values = deviation(learner, state, X), middle[:, 0]
        columns: dict[str, Array | None] = {"std": spread, **dict.fromkeys(("low", "high"))}
        if ends is not None and self.has_error:
            columns["low"], columns["high"] = map(self._within, _stretched(middle, *ends, stretch))
        for name, side in (("prediction_low", -2), ("prediction_high", 2)):
            columns[name] = None if spread is None else self._within(middle + side * spread)
        told = {name: [None] * len(X) if one is None else one[:, 0].tolist() for name, one in columns.items()}
        if able(learner, HasPrices) and self.goal == "revenue":
            told |= dict(zip(("price", "paid"), learner.prices(state, X).tolist(), strict=True))
        return {"prediction": self._within(values).tolist(), **told}

    def doubts(self, predicted: Mapping[str, Sequence[Any]]) -> list[float]:
        """Return the deviations."""
        return [spread or 0.0 for spread in predicted["std"]]

    def doubt(self, learner: Learner[Any], state: Any, X: Array) -> Array | None:
        """Return the deviation of each prediction, as a share of the range."""
        space, spread = _known_range(learner, state), deviation(learner, state, X)
        return None if space is None or spread is None else np.asarray(spread[:, 0] / (space.highs[0] - space.lows[0]))

    def estimate(self, what: str, predicted: Sequence[Any], exams: Sequence[ExamAnswer]) -> Estimate:
        """Return the mean, the median or the share above a threshold (see ``kinds.estimates``)."""
        if not self.has_error:
            raise InvalidArgument("what", 'asked where labels.quantile is 0.5 and labels.goal "value"', repr(what)[:60])
        return estimates.estimate_number(what, predicted, exams, self.low, self.high)

    @property
    def has_error(self) -> bool:
        return self.quantile == 0.5 and self.goal == "value"

    def _within(self, values: Array) -> Array:
        return values if self.low is None else np.clip(values, self.low, self.high)

    @property
    def forecast_measure(self) -> str:
        if self.low is None:
            return "mean error in parts of the labels' spread"
        return f"mean error in {self.unit}" if self.unit else "mean error"

    def truth(self, smooth: Smooth, X: Array, order: Array, test: Array, random: np.random.Generator) -> Truth:
        """Make up numbers in the middle of the range; how wrong predictions are is their mean absolute error."""
        low, high = (-2.5, 2.5) if self.low is None or self.high is None else (self.low, self.high)
        middle, spread = (low + high) / 2, (high - low) / 5
        f = middle + spread * smooth(1)[:, 0]
        labels = np.clip(f[order] + SCATTER * spread * random.standard_normal(len(order)), low, high)
        return labels, lambda _, z: float(np.mean(np.abs(z[:, 0] - f[test])))


def _threshold(question: HalfSpace) -> dict[str, str]:
    words, (_, side) = question.wording, question.wording.said(question.weights)
    sign = -1.0 if side == "below" else 1.0
    name = words.amount(tuple(sign * w for w in question.weights))
    return {"shown": number_text(sign * question.shown), "unit": words.unit, "name": name, "side": side}


def _known_range(learner: Learner[Any], state: Any) -> Real | None:
    """Return the space, with the range that was declared or, if one is sought, found by now."""
    space = space_at(learner, state)
    return space if isinstance(space, Real) else None


def _stretched(middle: Array, low: Array, high: Array, by: float) -> tuple[Array, Array]:
    """Return intervals stretched around what is predicted."""
    return middle - by * np.maximum(middle - low, 0.0), middle + by * np.maximum(high - middle, 0.0)


def _foretold(learner: Forecasts[Any], state: Any, x: Array, space: Real) -> Above:
    """Return the model's chance that the label is above a threshold, apart from slips that it reckons with."""

    def said(c: float) -> float:
        return learner.chance(state, x, HalfSpace((1.0,), c))

    slip = min(said(space.highs[0] + _BEYOND * (space.highs[0] - space.lows[0])), 0.45)
    return lambda c: (said(c) - slip) / (1 - 2 * slip)
