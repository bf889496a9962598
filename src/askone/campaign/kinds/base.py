"""A kind of label: what a campaign does differently for numbers, classes and orders, in one object each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, final

import numpy as np

from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.campaign.settings.section import plain
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.wording import number_text
from askone.learners.base import Learner
from askone.questions.base import Question
from askone.session.bags import ChosenBag, Pace

if TYPE_CHECKING:  # settings hold a kind; what learns and predicts is loaded when it is used
    from askone.campaign.kinds import estimates
    from askone.campaign.kinds.estimates import Estimate, ExamAnswer
    from askone.campaign.settings.settings import LearnerSettings, QuestionSettings, Settings
    from askone.campaign.tables.base import Column, Table
    from askone.estimators.base import OneBitEstimator
    from askone.estimators.learner_choices.base import LearnerChoice
else:
    estimates = lazy_import("askone.campaign.kinds.estimates")

CellType = Literal["int", "float", "bool", "text", "json"]
Columns = tuple[tuple[str, CellType], ...]
"""Columns of a file: their names, and what they hold."""

EXAM_UNIFORMS = 3
"""Uniforms that an exam takes."""
LEVEL = 0.9
"""The share of labels that predicted intervals are to hold, where no other was asked for."""
SCATTER = 0.15
"""How far made-up labels lie from their function, in parts of its spread."""
_MOST_LISTED = 12  # names in a line


@final
class Exam(NamedTuple):
    """A question, the score of a no and of a yes, what was predicted, and how large an error the model ``expected``.

    No question drawn instead could have scored more than ``most``, nor had its two scores further apart than
    ``heaviest`` (None: than ``most``).  ``expected`` is None where the model expects nothing, or nobody needs it.
    Errors count up to the ``window`` (None: all of them).
    """

    question: Question
    score: tuple[float, float]
    most: float = 1.0
    heaviest: float | None = None
    predicted: Any = None
    expected: float | None = None
    window: float | None = None


@final
class Check(NamedTuple):
    """A question whose answer the model is sure of, and the chance of a yes, said with caution.

    It may measure as well, what exams leave out: the error beyond their ``window``.  Then a no and a yes have a
    ``score``; without a question it is 0 anyway.
    """

    question: Question | None
    chance: float
    score: tuple[float, float] | None = None
    window: float = 0.0


@final
class ErrorPart(NamedTuple):
    """Which part of the error an exam measured: up to the window or, ``far``, beyond it; the ``share`` of exams for it.

    It is drawn by lot which part, so that the score over the share has the whole error for its mean.
    """

    far: bool
    share: float
    window: float


UNSURE = 0.01
"""The least chance that a check reckons with: whoever is sure may still be wrong."""


@final
class Sat(NamedTuple):
    """An exam of late: its question, what was predicted then, the answer, and the error that was expected."""

    question: Question
    predicted: Any
    answer: bool
    expected: float | None = None


@final
class ExamPlan(NamedTuple):
    """What an exam is made by: exams of late, how often answers are wrong, and what is to be measured.

    The aim "mean" serves estimates of the labels' mean (see ``number_exam``); it is "error" for all but numbers.
    Errors up to twice the ``target`` are told from larger ones.
    """

    lately: Sequence[Sat] = ()
    slip: float = 0.0
    aim: str = "error"
    target: float | None = None


@final
class IntervalQuestion(NamedTuple):
    """A question whether the label lies in an interval, and the answer that says no."""

    question: Question
    outside: bool


@final
class View(NamedTuple):
    """A question in parts: what a page shows of it, and its own words for yes and no.

    Its sort is "threshold", "range", "set" or "pair"; ``template`` is its sentence with places for these parts (empty:
    the sentence is all there is).  A dashboard draws its ``mark``;
    ``mirrored``: a yes to the question is a no to what is drawn.  The question was drawn with a ``probability``, or
    its threshold or half-width with a ``density``.
    """

    kind: str
    parts: Mapping[str, Any] = {}
    answers: tuple[str, str] | None = None
    mark: Mapping[str, Any] = {}
    mirrored: bool = False
    probability: float | None = None
    density: float | None = None
    template: str = ""


Smooth = Callable[[int], Array]
"""Makes so many functions of the rows, each with mean 0 and deviation 1 over them."""
Truth = tuple[Array, Callable[[Any, Array], float]]
"""Made-up labels of the rows asked about, and how good predictions of the test rows are, by the learner's space."""


class Kind(ABC):
    """The section ``[labels]`` of the settings, and all that a campaign does with such labels.

    A kind of one's own has ``@section("labels")``, fills in what is abstract, and is known by ``registry.register``.
    """

    __pydantic_fields__: ClassVar[dict[str, Any]]
    kind: ClassVar[str]
    """Its name in settings."""
    learners: ClassVar[tuple[str, ...]]
    """What ``learner.learner`` may be."""
    tuned: ClassVar[tuple[str, ...]] = ()
    """Settings of the learner that not every kind has: "loss", "interval", "guess", "lapse"."""
    measure: ClassVar[str]
    """How good or bad predictions are, in words."""
    is_share: ClassVar[bool] = True
    """Whether that lies between 0 and 1, and more is better."""
    view_kind: ClassVar[str]
    """The sort of question that is asked; dashboards draw by it."""
    is_drawn_by_rows: ClassVar[bool] = False
    """Whether dashboards draw questions over a column of their rows, with the predictions."""
    has_far_exams: ClassVar[bool] = False
    """Whether checks measure the part of the error that the other exams leave out."""
    needs_rows: ClassVar[bool] = True
    """Whether there must be a table."""
    rehearsed: ClassVar[int] = 2_000
    """Answers that a forecast rehearses at most: its curve ends there, its cost does not."""
    estimable: ClassVar[tuple[str, ...]] = ("accuracy",)
    """What may be estimated of the whole table: see ``estimate``."""
    options: ClassVar[Mapping[str, str]] = {}
    """Options of ``askone new``, and the settings that they give."""
    usage: ClassVar[str]
    """Its name, and the options that it takes."""
    places: ClassVar[Mapping[str, str]] = {}
    """Arguments of its space and estimator that have another name in the settings."""

    # -- settings ---------------------------------------------------------------------------------

    @classmethod
    def required(cls) -> list[str]:
        """Return the names of settings without a default."""
        return [name for name, info in cls.__pydantic_fields__.items() if info.is_required()]

    @classmethod
    def suggested(cls, table: Table, gold: Column) -> Self | None:  # noqa: ARG003
        """Return settings that known labels speak for, or None."""
        return None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, the name of the kind first."""
        return {"kind": self.kind, **plain(self)}

    @abstractmethod
    def space(self, question: QuestionSettings) -> Space:
        """Return the label space, with the wording of questions."""

    @abstractmethod
    def described(self) -> str:
        """Return a line that says what labels are."""

    @property
    def noun(self) -> str:
        """The word for a label, if it has one."""
        return ""

    @property
    def error_unit(self) -> str:
        """The unit of what is measured."""
        return ""

    def check(self, learner: LearnerSettings) -> None:
        """Refuse what the estimator would refuse, before there are rows."""
        for name, default in {"loss": "median", "interval": None, "guess": 0.0, "lapse": 0.0}.items():
            if name not in self.tuned and getattr(learner, name) != default:
                raise InvalidArgument(f"learner.{name}", "left alone: it is for numbers", getattr(learner, name))
        if learner.flip and learner.learner == "rls":
            raise InvalidArgument("learner.flip", "left alone with learner 'rls'", learner.flip)

    @abstractmethod
    def as_label(self, value: Any) -> Any:
        """Return a known label, from a cell of a table, as JSON."""

    def label_reader(self, cells: Sequence[Any]) -> Callable[[Any], Any]:
        """Return what reads known labels of a column with cells such as these, and refuses those that cannot be."""
        return self.as_label

    # -- questions --------------------------------------------------------------------------------

    @abstractmethod
    def estimator(self, settings: Settings, **shared: Any) -> OneBitEstimator:
        """Return the model to begin with; ``shared`` are arguments that all estimators have."""

    @abstractmethod
    def likelihood(self, settings: Settings, features: int | None) -> LearnerChoice:
        """Return the learner that it has if no other is chosen, with so many features at most."""

    def rivals(self, settings: Settings, columns: int, mixed: bool) -> Mapping[str, LearnerChoice]:
        """Return the learners that a campaign's own is compared with, beside the default, by what they are called.

        They can be taught by questions that others asked.  Rows have so many ``columns``; ``mixed``: the default is a
        mixture of several models.
        """
        return {}

    def view(self, question: Question) -> View:
        """Return the parts of a question."""
        return View(question.kind)

    def reworded(self, question: Question, wording: Any) -> Question:
        """Return a question in other words."""
        told: Any = question  # questions are dataclasses
        reworded: Question = replace(told, wording=wording)
        return reworded

    def plausible(self, question: Question, learner: Learner[Any], state: Any) -> Question:
        """Return the question, or one like it that a person does not wonder about."""
        return question

    @abstractmethod
    def exam(self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan) -> Exam | None:
        """Return a question that measures the model at its present state, or None if there is none yet.

        The mean of its score is the error (or the share), as long as answers are right (see ``measurement``).
        """

    def sure_question(
        self, learner: Learner[Any], state: Any, x: Array, uniform: Array, plan: ExamPlan
    ) -> Check | None:
        """Return a question that shows slips, as its answer is all but known; None where nothing is so sure.

        With ``has_far_exams`` it is one for each row, and measures what the other exams leave out.
        """
        return None

    @property
    def has_error(self) -> bool:
        """Whether exams measure how wrong predictions are."""
        return True

    @property
    def exam_measure(self) -> str:
        """What the mean score of exams is: mostly how good predictions are."""
        return self.measure

    @property
    def has_bags(self) -> bool:
        """Whether one question can be about several rows at once."""
        return False

    def best_bag(
        self, learner: Learner[Any], state: Any, X: Array, pace: Pace, most: int
    ) -> tuple[ChosenBag, Question] | None:
        """Return which of some rows to ask about at once, and the question about each; None: one row tells more.

        See ``session.bags``; ``pace`` is how long people take.
        """
        return None

    def interval_question(
        self, learner: Learner[Any], state: Any, x: Array, level: float, stretch: float
    ) -> IntervalQuestion | None:
        """Return whether the label lies in the interval that is predicted at this level; None: there is none."""
        return None

    def compatible(self, said: Sequence[tuple[Question, bool]]) -> int:
        """Return how many of somebody's answers about one row can be right together (see ``consistency``)."""
        return len(said)

    # -- predictions ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """The columns of predictions, the first of them "prediction"."""

    @abstractmethod
    def predicted(self, estimator: Any, X: Array, rowless: bool = False, stretch: float = 1.0) -> dict[str, list[Any]]:
        """Return predictions for rows, or for everybody: a list for each column; intervals are stretched by so much."""

    def doubts(self, predicted: Mapping[str, Sequence[Any]]) -> list[float]:
        """Return how unsure each of these predictions is, in any unit."""
        return [0.0] * len(predicted["prediction"])

    def doubt(self, learner: Learner[Any], state: Any, X: Array) -> Array | None:
        """Return how much is unknown of each row's label, from 0 to 1 (see ``ask.tolerance``); None: no telling."""
        return None

    def estimate(self, what: str, predicted: Sequence[Any], exams: Sequence[ExamAnswer]) -> Estimate:
        """Return what exams and predictions say of rows: here the share of the latest half of exams that was right."""
        if what not in self.estimable:
            raise InvalidArgument("what", " or ".join(map(repr, self.estimable)), repr(what)[:60])
        latest = np.array([exam.score for exam in exams[len(exams) // 2 :]], dtype=np.float64)
        return estimates.proportion(latest, len(predicted))

    # -- forecasts --------------------------------------------------------------------------------

    @property
    def forecast_measure(self) -> str:
        """What a forecast's numbers are."""
        return self.measure

    @abstractmethod
    def truth(self, smooth: Smooth, X: Array, order: Array, test: Array, random: np.random.Generator) -> Truth:
        """Make up labels of the rows X[order]."""


def listed(names: Sequence[object]) -> str:
    """Return the first names of many in a line.

    >>> listed(range(14))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 2 more'
    """
    more = f", and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(str(name) for name in names[:_MOST_LISTED]) + more


def named(names: Sequence[Any], value: Any) -> Any:
    """Return the class or item that reads the same: cells of numbers are told from texts by their file alone."""
    text = value.strip() if isinstance(value, str) else number_text(value)
    for name in names:
        if text == (name if isinstance(name, str) else number_text(name)):
            return name
    known = ", ".join(str(name) for name in names[:10])
    raise InvalidArgument("label", f"one of: {known}", repr(value)[:60])


def objects(names: Sequence[Any]) -> Array:
    """Return names as an array of objects."""
    out = np.empty(len(names), dtype=object)
    out[:] = names
    return out
