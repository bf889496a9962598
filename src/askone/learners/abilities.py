"""What some learners can do beside the contract: each ability is a small interface, which a learner claims by name.

Whoever wants one asks ``able(learner, HasDeviation)`` and never which learner it is, so that one of your own takes
part everywhere.  The functions below do what an ability does for any learner, in the plain way where it has none;
``checks.check_learner`` holds every learner to what it claims.

>>> from askone.features.maps import Linear, Scaler
>>> from askone.labels.number import Real
>>> from askone.learners.kalman.regressor import FilterLearner
>>> learner = FilterLearner(Real(0, 100), (Linear(Scaler.identity(1)),))
>>> able(learner, HasDeviation), able(learner, AsksAgain)
(True, False)
>>> deviation(learner, learner.init(), [[0.0]]).shape
(1, 1)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeGuard, TypeVar, final

from numpy.typing import ArrayLike

from askone._common.types import Array, Key
from askone._common.validate import as_rows
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.number import Real
from askone.learners.base import Learner, S
from askone.learners.person import Person
from askone.learners.streaming import Beside, StreamTask
from askone.questions.base import Answer, ErrorRates, Question

Within = tuple[Array, tuple[Array, Array] | None]
"""Predictions, n x m, and the ends of intervals for labels."""
Opinions = Sequence[tuple[str, bool]]
"""Who said what, of several people who answered one question."""

# -- what is known of a prediction --------------------------------------------------------------------


class HasDeviation(Learner[S]):
    """Says how sure it is of a prediction."""

    @abstractmethod
    def std(self, state: S, X: ArrayLike) -> Array | None:
        """Return the standard deviation of what is predicted (not of labels), n x m; None while there is none."""


class HasInterval(Learner[S]):
    """Says between which ends labels lie."""

    @abstractmethod
    def interval(self, state: S, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
        """Return ends that hold ``level`` of the labels (None: as it was made for), n x m each; None while unknown."""


class HasThresholds(Learner[S]):
    """Says at which number yes has a given chance, and how much noise answers have."""

    @abstractmethod
    def thresholds(self, state: S, X: ArrayLike, level: float | None, held: float) -> Array:
        """Return t with P(yes to "above t?") = level, and ends that hold it with the chance ``held``, 3 x n x m.

        None: halfway between how often yes and no are said whatever is true, the median.
        """

    @abstractmethod
    def noise(self, state: S, held: float) -> Array:
        """Return the standard deviation of what answers go by, and ends that hold it with that chance, 3 x m."""


class HasPrices(Learner[S]):
    """Says which price of an offer earns most, where labels are what it is worth to people."""

    @abstractmethod
    def prices(self, state: S, X: ArrayLike) -> Array:
        """Return the price that should earn most at each row, and the chance that it is paid, 2 x n."""


class PredictsWithin(HasInterval[S]):
    """Predicts and says an interval at the cost of one of them."""

    @abstractmethod
    def predict_within(self, state: S, X: ArrayLike, level: float | None = None) -> Within:
        """Return ``predict`` and ``interval``."""


class DrawsScores(Learner[S]):
    """Draws scores as they may be, by what is known: what depends on several at once, as a rank does, follows."""

    @abstractmethod
    def score_draws(self, state: S, X: ArrayLike, count: int) -> Array | None:
        """Return so many draws of ``predict``, the same for the same state, count x n x m; None where unknown."""


class HasProbabilities(Learner[S]):
    """Says how likely each class is."""

    @abstractmethod
    def probabilities(self, state: S, X: ArrayLike) -> Array | None:
        """Return p(y|x), n x classes; None where they do not follow from what it learns."""


class Forecasts(Learner[S]):
    """Has a likelihood: it learns from any question of its family, and forecasts the answer."""

    @abstractmethod
    def chance(self, state: S, x: ArrayLike, question: Question) -> float:
        """Return P(yes) as the state has it, for any question of its family, whoever asked it.

        Said before the answer is learnt, it is what a model can be judged by without a label:
        progressive validation is the mean of -log chance(what was answered).
        """

    @abstractmethod
    def worth(self, state: S, X: ArrayLike) -> Array:
        """Return what the answer about each of these rows, drawn from all, is worth to the model, to compare them.

        All are equal while nothing is known by which to choose.
        """

    def learnt_and_said(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> tuple[float, S]:
        """Return ``chance`` of what was answered, before it is learnt, and ``tell``: at once, where that is cheaper."""
        bit = bool(question.accept(answer))
        yes = self.chance(state, x, question)
        return (yes if bit else 1.0 - yes), self.tell(state, x, question, answer)


class Hindsight(Forecasts[S]):
    """Says of answers that it has learnt how likely they were."""

    @abstractmethod
    def hindsight(self, state: S, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]) -> Array | None:
        """Return the chance of an honest yes to each question, by all answers but its own; None: nothing is known.

        Of classes it is the probability of each, n x m.

        With its own answer in it, a chance would excuse whoever erred: rates found that way are half of the true ones.
        """

    def full_hindsight(
        self, state: S, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """Return the same by all that was learnt, which may take as long as a fit."""
        return self.hindsight(state, X, questions, answers)

    @abstractmethod
    def relearnt(self, state: S, X: Array, questions: Sequence[Question], answers: Sequence[bool]) -> S:
        """Return the state after all its answers were learnt anew, as more is known now of who gave them.

        These are all that it was told, in this order; questions say what is known (``Question.slips``).
        """


class TakesRanges(Forecasts[S]):
    """Has a likelihood of ``Between``, too: it learns from a question with two ends, and forecasts its answer."""


# -- what is fitted now and then -----------------------------------------------------------------------


class Refits(Learner[S]):
    """Has parts that are fitted to all its answers now and then, which may take seconds.

    ``tell`` never fits.  Whoever holds the state asks after each answer whether a fit is ``due``, has it computed, here
    or beside, and writes into the log where it is taken over: its rounding may depend on the processor, so that replay
    takes the fit that was kept.
    """

    @abstractmethod
    def due(self, state: S) -> bool:
        """Return whether a fit is due."""

    @abstractmethod
    def fit(self, state: S) -> dict[str, Array]:
        """Return the parts that best explain the answers of a state, as plain arrays."""

    @abstractmethod
    def adopt(self, state: S, fit: dict[str, Array]) -> S:
        """Return the state with a fit, which may have been made some answers ago; it is due no more."""


class Blends(Learner[S]):
    """Predicts by several models, each with a share."""

    @abstractmethod
    def blend(self, state: S) -> list[tuple[str, float]]:
        """Return what each model that takes part now is called, and its share; "": the one that learns each answer."""


class Forgets(Learner[S]):
    """May begin anew when the concept changes."""

    @abstractmethod
    def known(self, state: S) -> int:
        """Return answers that predictions rest on, the last ones: those since the last change that was found."""


# -- who answers -------------------------------------------------------------------------------------


class KnowsPeople(Learner[S]):
    """Learns who errs how often, and believes people accordingly."""

    @abstractmethod
    def tell_by(self, state: S, x: ArrayLike, question: Question, answer: Answer, person: str) -> S:
        """Return the state after somebody's answer."""

    @abstractmethod
    def tell_many_by(
        self, state: S, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer],
        people: Sequence[str | None],
    ) -> S:  # fmt: skip
        """Return the state after an answer about each row, by somebody or nobody in particular: as ``tell_by`` does."""

    @abstractmethod
    def tell_opinions(self, state: S, x: ArrayLike, question: Question, opinions: Opinions, known: int = 0) -> S:
        """Return the state after several people answered one question: all teach together, as they share its truth.

        Of the first so many (``known``) it was told before: what the others add is learnt with the next fit.
        """

    @abstractmethod
    def revises(self, state: S) -> bool:
        """Return whether it can still learn opinions that are added to others."""

    @abstractmethod
    def truths(
        self, state: S, X: ArrayLike, questions: Sequence[Question], opinions: Sequence[Opinions]
    ) -> tuple[Array, Array]:
        """Return the chance that yes is true of each question, before what people said to it and after."""

    @abstractmethod
    def slips(self, state: S, person: str) -> ErrorRates:
        """Return how the answers of somebody are taken now."""

    @abstractmethod
    def people(self, state: S) -> list[Person]:
        """Return what is known of each person, in the order in which they came: what their answers are taken by."""

    def people_now(self, state: S) -> list[Person]:
        """Return the same for whoever looks at it, by all answers so far, where the learner looks now and then."""
        return self.people(state)

    @abstractmethod
    def unnamed(self, state: S) -> S:
        """Return a state that predicts the same and knows of nobody: neither who they are, nor who answered what."""


# -- how it asks --------------------------------------------------------------------------------------


class AsksAgain(Learner[S]):
    """Asks about a row, known by its key or else by its content, until it ``wants`` no more."""

    patient: ClassVar[bool] = False
    """Whether the questions about a row should follow each other."""

    @abstractmethod
    def ask(self, state: S, x: ArrayLike, uniform: Array, key: Key | None = None) -> Question:
        """Return the next question about a row."""

    @abstractmethod
    def tell(self, state: S, x: ArrayLike, question: Question, answer: Answer, key: Key | None = None) -> S:
        """Return the state after an answer."""

    @abstractmethod
    def wants(self, state: S, x: ArrayLike, key: Key | None = None) -> bool:
        """Return whether another question about a row is of use."""

    @abstractmethod
    def revisit(self, state: S, x: ArrayLike, key: Key | None = None) -> S:
        """Return the state after a row came again that has no question left: a step that costs none."""


class AsksMany(Learner[S]):
    """Asks about many rows at once."""

    spreads_batches: ClassVar[bool] = False
    """Whether questions of one batch are told apart by their place in it, beside their draw."""

    @abstractmethod
    def ask_many(self, state: S, X: ArrayLike, uniform: Array) -> list[Question]:
        """Return one question for each row, all at this state (uniform: n x width)."""


class AsksAt(Forecasts[S]):
    """Asks the best question for a belief, which may be another model's."""

    @abstractmethod
    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        """Return one question for each row of a belief: its prediction, in the user's units, or its probabilities."""

    def tell_asked(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> S:
        """Return the state after an answer to a question that another model's belief asked, which may know more."""
        return self.tell(state, x, question, answer)


@final
class Judgement(NamedTuple, Generic[S]):
    """The state after some answers; what was predicted of each row, and how many answers were known, before its own."""

    state: S
    said: Array
    known: Array


class TellsJudged(AsksAt[S]):
    """Learns many answers of its own and of others' questions at once: bit for bit as one after the other."""

    @abstractmethod
    def tell_judged(
        self, state: S, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer], quiet: Array
    ) -> Judgement[S]:
        """Return the state after an answer about each row, by ``tell_asked`` where ``quiet``: those are predicted."""

    @abstractmethod
    def relearnt_judged(
        self, state: S, X: Array, questions: Sequence[Question], answers: Sequence[bool], quiet: Array
    ) -> S:
        """Return what ``Hindsight.relearnt`` does, by ``tell_asked`` where ``quiet``."""

    def stream_beside(self, state: S, X: Array, task: StreamTask, beside: Beside) -> tuple[int, S] | None:
        """Return how many rows were asked about together with models beside, and the state; None: it cannot.

        Those before the concept changed, if it did, with the number of them.  Scores are written into ``beside``.
        """
        return None


class TellsMany(Learner[S]):
    """Learns many answers at once, in less time: bit for bit what ``tell`` gives, one after the other."""

    @abstractmethod
    def tell_many(self, state: S, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]) -> S:
        """Return the state after an answer about each row."""


class Streams(Learner[S]):
    """Asks, hears and learns in blocks, as a simulation wants it: the same mathematics."""

    @abstractmethod
    def stream(self, state: S, X: Array, task: StreamTask) -> S:
        """Return the state after asking about rows X, one after the other."""


class StreamsForecasts(Forecasts[S], Streams[S]):
    """Says in a stream what it forecast, as ``learnt_and_said`` does for one answer."""

    @abstractmethod
    def stream_while(self, state: S, X: Array, task: StreamTask, go_on: Callable[[int, float], bool]) -> tuple[int, S]:
        """Return ``stream`` and how many rows there were until ``go_on`` said no.

        It is asked after each answer, with the place of the row and ``chance`` of what was answered.
        """


class Opens(Forecasts[S]):
    """Learns into a state that nobody else has: one copy for many answers."""

    @abstractmethod
    def opened(self, state: S) -> S:
        """Return a state that ``learnt_into`` may write into."""

    @abstractmethod
    def learnt_into(self, state: S, x: ArrayLike, question: Question, answer: Answer) -> tuple[float, S]:
        """Return what ``learnt_and_said`` does; a state that was opened is used up."""


class LearnsBeside(Opens[S]):
    """Learns answers to questions of others, which know more or less than itself."""

    @abstractmethod
    def learnt_beside(
        self, state: S, x: ArrayLike, question: Question, answer: Answer, share: float, others: float
    ) -> tuple[float, S]:
        """Return what ``learnt_into`` does, where share times its own forecast and ``others`` are that of all."""


class LooksAhead(Opens[S], StreamsForecasts[S]):
    """Computes of many rows at once what no answer changes: bit for bit the same, in less time."""

    @abstractmethod
    def ahead(self, X: Array) -> Array:
        """Return what is known of each row before any answer, as features."""

    @abstractmethod
    def ask_ahead(self, state: S, known: Array, uniform: Array) -> Question:
        """Return what ``ask`` does, from what is known of the row."""

    @abstractmethod
    def learnt_ahead(self, state: S, known: Array, question: Question, answer: Answer) -> tuple[float, S]:
        """Return what ``learnt_and_said`` does, from what is known of the row; a state that was opened is used up."""


class Expects(Learner[S]):
    """Computes of rows that come next what no answer changes, at once: bit for bit the same, in less time."""

    @abstractmethod
    def expect(self, X: Array) -> None:
        """Compute it, and keep it until others come."""


class TakesSlopes(Learner[S]):
    """May take an answer as a slope at its own prediction."""

    @property
    @abstractmethod
    def local(self) -> bool:
        """Whether it does: then another model's questions teach it falsely."""


# -- learners around learners -------------------------------------------------------------------------


class FindsRange(Learner[S]):
    """Learns within which range labels lie."""

    @abstractmethod
    def range_at(self, state: S) -> Real | None:
        """Return the labels with the range that was found; None while it is sought."""


class HasRange(Learner[S]):
    """Can be made anew for another range of labels."""

    space: Real

    @abstractmethod
    def within(self, space: Real) -> Self:
        """Return the same for labels of another range."""


class Wraps(Learner[S]):
    """Stands for other learners, and can no more than all of them but for what it ``adds``."""

    adds: ClassVar[tuple[type[Learner[Any]], ...]] = ()
    """Abilities of its own, whatever the others can do."""

    @property
    @abstractmethod
    def wrapped(self) -> tuple[Learner[Any], ...]:
        """The others, of the same labels and rows."""

    @property
    def space(self) -> Space:  # type: ignore[override]  # theirs
        return self.wrapped[0].space

    @property
    def columns(self) -> int:
        return self.wrapped[0].columns


A = TypeVar("A", bound=Learner[Any])


def able(learner: Learner[Any], ability: type[A]) -> TypeGuard[A]:
    """Return whether a learner has an ability, and so has whatever it stands for."""
    if not _is_a(type(learner), ability):
        return False
    if not _is_a(type(learner), Wraps):
        return True
    wrapper: Any = learner
    return ability in wrapper.adds or all(able(one, ability) for one in wrapper.wrapped)


@cache
def _is_a(kind: type[Any], ability: type[Any]) -> bool:
    return issubclass(kind, ability)  # asked of every learner at every answer: abstract classes take long to say it


def expect(learner: Learner[Any], X: Array) -> None:
    """Tell whoever can make use of it which rows come next (see ``Expects``)."""
    for one in learner.wrapped if isinstance(learner, Wraps) else ():
        expect(one, X)
    if isinstance(learner, Expects):
        learner.expect(X)


# -- the same for any learner -------------------------------------------------------------------------


def deviation(learner: Learner[Any], state: Any, X: ArrayLike) -> Array | None:
    """Return the standard deviations of predictions, where there are some (see ``HasDeviation``)."""
    return learner.std(state, X) if able(learner, HasDeviation) else None


def interval(learner: Learner[Any], state: Any, X: ArrayLike, level: float | None = None) -> tuple[Array, Array] | None:
    """Return the ends of intervals, where there are some (see ``HasInterval``)."""
    return learner.interval(state, X, level) if able(learner, HasInterval) else None


def predict_within(learner: Learner[Any], state: Any, X: ArrayLike, level: float | None = None) -> Within:
    """Return predictions, and the ends of intervals where there are some."""
    if able(learner, HasInterval) and isinstance(learner, PredictsWithin):
        return learner.predict_within(state, X, level)
    return learner.predict(state, X), interval(learner, state, X, level)


def probabilities(learner: Learner[Any], state: Any, X: ArrayLike) -> Array | None:
    """Return p(y|x), where there is such a thing (see ``HasProbabilities``)."""
    return learner.probabilities(state, X) if able(learner, HasProbabilities) else None


def score_draws(learner: Learner[Any], state: Any, X: ArrayLike, count: int) -> Array | None:
    """Return draws of the scores, where there are some (see ``DrawsScores``)."""
    return learner.score_draws(state, X, count) if able(learner, DrawsScores) else None


def known(learner: Learner[Any], state: Any) -> int:
    """Return how many answers, the last ones, predictions rest on (see ``Forgets``)."""
    return learner.known(state) if isinstance(learner, Forgets) else learner.count(state)


def blend(learner: Learner[Any], state: Any) -> list[tuple[str, float]]:
    """Return the models of a prediction and their shares (see ``Blends``)."""
    return learner.blend(state) if able(learner, Blends) else [("", 1.0)]


def hindsight(
    learner: Learner[Any], state: Any, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
) -> Array | None:
    """Return the chances of honest yes, where a learner can say (see ``Hindsight``)."""
    return learner.hindsight(state, X, questions, answers) if able(learner, Hindsight) else None


def relearnt(
    learner: Learner[Any], state: Any, X: Array, questions: Sequence[Question], answers: Sequence[bool]
) -> Any:
    """Return the state after all was learnt anew, where a learner can (see ``Hindsight``)."""
    return learner.relearnt(state, X, questions, answers) if able(learner, Hindsight) else state


def space_at(learner: Learner[Any], state: Any) -> Space | None:
    """Return the labels as they are known at a state; None while their range is sought."""
    return learner.range_at(state) if able(learner, FindsRange) else learner.space


def is_local(learner: Learner[Any]) -> bool:
    """Return whether questions of other models teach a learner, or one that it stands for, falsely."""
    inner = learner.wrapped if isinstance(learner, Wraps) else ()
    return any(is_local(one) for one in inner) or (isinstance(learner, TakesSlopes) and learner.local)


def is_patient(learner: Learner[Any]) -> bool:
    """Return whether a learner's questions about a row should follow each other."""
    return isinstance(learner, AsksAgain) and learner.patient


def ask_row(learner: Learner[Any], state: Any, x: ArrayLike, uniform: Array, key: Key | None) -> Question:
    """Ask about a row that may have a key."""
    if isinstance(learner, AsksAgain):
        return learner.ask(state, x, uniform, key)
    return learner.ask(state, x, uniform)


def tell_row(
    learner: Learner[Any], state: Any, x: ArrayLike, question: Question, answer: Answer, key: Key | None,
    person: str | None = None,
) -> Any:  # fmt: skip
    """Learn an answer about a row that may have a key, given by somebody who may be known."""
    question = question if key is None else question.of_row(key)
    if person is not None and isinstance(learner, KnowsPeople):
        return learner.tell_by(state, x, question, answer, person)
    if isinstance(learner, AsksAgain):
        return learner.tell(state, x, question, answer, key)
    return learner.tell(state, x, question, answer)


def unnamed(learner: Learner[Any], state: Any) -> Any:
    """Return a state that predicts the same and knows of nobody (see ``KnowsPeople``)."""
    return learner.unnamed(state) if isinstance(learner, KnowsPeople) else state


def wants(learner: Learner[Any], state: Any, x: ArrayLike, key: Key | None) -> bool:
    """Return whether there is another question about a row: always, for a learner that does not count them."""
    return not isinstance(learner, AsksAgain) or learner.wants(state, x, key)


def revisit(learner: Learner[Any], state: Any, x: ArrayLike, key: Key | None) -> Any:
    """Return the state after a row came again that has no question left."""
    return learner.revisit(state, x, key) if isinstance(learner, AsksAgain) else state


def ask_many(learner: Learner[Any], state: Any, X: ArrayLike, uniform: Array) -> list[Question]:
    """Return one question for each row, all at this state."""
    if isinstance(learner, AsksMany):
        return learner.ask_many(state, X, uniform)
    return [learner.ask(state, x, u) for x, u in zip(as_rows(X, learner.columns), uniform, strict=True)]


def ask_at(learner: Learner[Any], believed: Array, uniform: Array, learnt: int) -> list[Question]:
    """Return one question for each row of a belief (see ``AsksAt``)."""
    if not able(learner, AsksAt):
        raise InvalidArgument("learner", "one that asks at the beliefs of others", type(learner).__name__)
    return learner.ask_at(believed, uniform, learnt)


def tell_many(
    learner: Learner[Any], state: Any, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
) -> Any:
    """Return the state after an answer about each row, in this order (not for learners that ask again)."""
    if able(learner, TellsMany):
        return learner.tell_many(state, X, questions, answers)
    for x, question, answer in zip(as_rows(X, learner.columns), questions, answers, strict=True):
        state = learner.tell(state, x, question, answer)
    return state


def refitted(learner: Learner[Any], state: Any) -> Any:
    """Return the state with a fit where one is due, computed here and now."""
    if able(learner, Refits) and learner.due(state):
        return learner.adopt(state, learner.fit(state))
    return state


def stream(learner: Learner[Any], state: Any, X: Array, task: StreamTask) -> Any:
    """Ask and tell about rows X, one after the other."""
    return learner.stream(state, X, task) if isinstance(learner, Streams) else row_by_row(learner, state, X, task)


def stream_while(
    learner: Forecasts[Any], state: Any, X: Array, task: StreamTask, go_on: Callable[[int, float], bool]
) -> tuple[int, Any]:
    """Stream until ``go_on`` says no (see ``StreamsForecasts``)."""
    if isinstance(learner, StreamsForecasts):
        return learner.stream_while(state, X, task, go_on)
    for i, x in enumerate(X):
        question = learner.ask(state, x, task.draw(task.first + i, 1)[0])
        answer = task.answer(i, question)
        if answer is not None:
            said, state = learner.learnt_and_said(state, x, question, answer)
            if not go_on(i, said):
                return i + 1, state
    return len(X), state


def ahead(learner: Learner[Any], X: Array) -> Array:
    """Return what is known of rows before any answer (see ``LooksAhead``): of other learners, the rows."""
    return learner.ahead(X) if isinstance(learner, LooksAhead) else X


def opened(learner: Learner[Any], state: Any) -> Any:
    """Return a state that ``learnt_into`` and ``learnt_ahead`` may write into."""
    return learner.opened(state) if isinstance(learner, Opens) else state


def learnt_into(
    learner: Forecasts[Any], state: Any, x: ArrayLike, question: Question, answer: Answer
) -> tuple[float, Any]:
    """Learn an answer into a state that was ``opened``."""
    return (learner.learnt_into if isinstance(learner, Opens) else learner.learnt_and_said)(state, x, question, answer)


def ask_ahead(learner: Learner[Any], state: Any, known: Array, uniform: Array) -> Question:
    """Ask about a row by what ``ahead`` found of it."""
    return (learner.ask_ahead if isinstance(learner, LooksAhead) else learner.ask)(state, known, uniform)


def learnt_ahead(
    learner: Forecasts[Any], state: Any, known: Array, question: Question, answer: Answer
) -> tuple[float, Any]:
    """Learn an answer about a row by what ``ahead`` found of it, into a state that was ``opened``."""
    learn = learner.learnt_ahead if isinstance(learner, LooksAhead) else learner.learnt_and_said
    return learn(state, known, question, answer)


def learnt_beside(
    learner: Forecasts[Any], state: Any, x: ArrayLike, question: Question, answer: Answer, share: float, others: float
) -> tuple[float, Any]:
    """Learn an answer that others forecast, too, into a state that was ``opened`` (see ``LearnsBeside``)."""
    if isinstance(learner, LearnsBeside):
        return learner.learnt_beside(state, x, question, answer, share, others)
    return learnt_into(learner, state, x, question, answer)


def row_by_row(learner: Learner[Any], state: Any, X: Array, task: StreamTask) -> Any:
    """Return ask, hear, tell and refit about each row: what every ``Streams.stream`` must come to."""
    for i, x in enumerate(X):
        question = learner.ask(state, x, task.draw(task.first + i, 1)[0])
        answer = task.answer(i, question)
        if answer is not None:
            state = refitted(learner, learner.tell(state, x, question, answer))
    return state
