"""Classification from one yes/no answer per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import InvalidArgument, WrongType
from askone.estimators.base import OneBitEstimator
from askone.estimators.learner_choices.base import LearnerChoice, OwnLearner
from askone.estimators.learner_choices.defaults import SetLikelihood
from askone.estimators.learner_choices.gradients import SGD, Game, RecursiveLeastSquares
from askone.estimators.learner_choices.repeated import Bisection, Remembering
from askone.labels.base import Name, Space, as_names
from askone.labels.classes import Classes, Finite, FiniteSpace, Sets
from askone.labels.losses import Loss
from askone.learners.abilities import Forecasts, HasProbabilities, able, probabilities
from askone.learners.base import Learner
from askone.learners.models.base import Model
from askone.session import bags, row_selection
from askone.session.budget import Budget
from askone.session.oracle import Oracle

_READABLE, _MANY = 3, 20  # as many classes as a person takes in at a glance; of up to 20, larger sets teach no more
# Of more, three say little before a class is met: a quarter of them, if that is not too long a list.
_PART, _MOST = 4, 25


def _has_probabilities(estimator: Any) -> bool:
    if estimator._likelihood():
        return True
    choice = estimator._choice()
    if isinstance(choice, OwnLearner):
        return estimator._stream() is None or able(estimator.stream_.learner, HasProbabilities)
    return bool(estimator._loss().name != "median" and estimator.cost is None and not isinstance(choice, Game))


def _given(sets: Any, argument: str, one: str) -> Any:
    """Return sets as given, none where nothing was; an empty list is more likely a mistake than a wish."""
    if sets is None:
        return ()
    plain = sets.tolist() if isinstance(sets, np.ndarray) else sets
    if isinstance(plain, Sized) and len(plain) == 0:
        raise InvalidArgument(argument, f"None, or at least one {one}", plain)
    return plain


def _found(labels: Array) -> list[Name]:
    try:
        return cast(list[Name], np.unique(labels).tolist())
    except TypeError as error:
        raise WrongType("y", "classes that can be sorted", str(error)) from error


@final
class OneBitClassifier(ClassifierMixin, OneBitEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classification from one yes/no answer per row.

    Parameters
    ----------
    classes : list of names, or None
        What labels there are.  None: what ``fit`` finds in y; asking people needs them.
    attributes : dict of lists, or None
        Attributes and the classes that have them: then only these are asked, by their names.
    sets : list of lists, or dict, or None
        The only sets of classes that may be asked about.
    max_set_size : int or None
        The most classes in one question; None: 3 for the likelihood (of more than 20 classes a quarter, and at
        most 25; fewer once they are known) and for questions that are designed, else no limit.
    cost : matrix or None
        ``cost[predicted][true]`` of each mistake, in the order of the classes; None: all alike.
    wording : str
        A sentence with {set} in place of "Is it one of: {set}?".
    learner : a name, or an object with arguments of its own
        "likelihood", ``SetLikelihood()``: softmax regression by the likelihood of the answers, with nothing to tune.
        "sgd", ``SGD()``: stochastic gradients of a surrogate, by designed or other sets.
        "rls", ``RecursiveLeastSquares()``: p(y|x) by unbiased pseudo-labels, with nothing to tune.
        "game", ``Game()``: the min-max game.
        "bisection", "memory", ``Bisection()``, ``Remembering()``: several questions about a row.
        "auto" is "likelihood".
    flip : float
        The known probability that an answer is wrong, for the likelihood.
    budget, resample, select, keep_log, random_state
        As for ``OneBitRegressor``.

    Examples
    --------
    >>> model = OneBitClassifier(["cat", "lion", "caracal", "owl"], random_state=0)
    >>> model = model.start([[0.0], [0.5], [1.0]])     # unlabelled rows, for the kernel's scale
    >>> question = model.ask([0.5])
    >>> str(question)
    'Is it one of: cat, owl?'
    >>> model = model.tell(question, True)
    >>> model.predict_proba([[0.5]]).round(3).tolist()
    [[0.267, 0.233, 0.233, 0.267]]
    """

    _learners: ClassVar[dict[str, type[LearnerChoice]]] = {
        "auto": SetLikelihood, "likelihood": SetLikelihood, "sgd": SGD, "rls": RecursiveLeastSquares, "game": Game,
        "bisection": Bisection, "memory": Remembering,
    }  # fmt: skip

    def __init__(
        self,
        classes: Sequence[Name] | None = None,
        *,
        attributes: Mapping[str, Sequence[Name]] | None = None,
        sets: Sets | None = None,
        max_set_size: int | None = None,
        cost: Any = None,
        wording: str = "",
        learner: str | LearnerChoice = "auto",
        flip: float = 0.0,
        budget: int | Budget | None = None,
        resample: bool = False,
        select: str | None = None,
        keep_log: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.classes = classes
        self.attributes = attributes
        self.sets = sets
        self.max_set_size = max_set_size
        self.cost = cost
        self.wording = wording
        super().__init__(learner, flip, budget, resample, select, keep_log, random_state)

    # -- prediction -------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> Array:
        """Return the class of each row; ties are broken at random, alike for equal rows."""
        rows, space, merits = self._scored(X)
        return np.asarray(self._class_array(space)[space.best(merits, rows)])

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores of the classes, n x K; for two classes how far the second is ahead."""
        _, space, merits = self._scored(X)
        return np.asarray(merits[:, 1] - merits[:, 0]) if space.size == 2 else np.asarray(merits)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return estimates of p(y|x), n x K: by the likelihood, or for the losses "squared" and "logistic"."""
        stream = self._stream()
        if stream is None:  # nothing is known
            return np.full((len(self._unseen(X)), self._space().size), 1 / self._space().size)
        found = probabilities(stream.learner, stream.state, self._validated(X, reset=False))
        if found is None:
            raise InvalidArgument("attributes", "sets that span, for p(y|x) to follow from them", "fewer")
        return found

    def _scored(self, X: ArrayLike) -> tuple[Array, FiniteSpace, Array]:
        """Return rows, space, and the merit of each class (by a likelihood of plain classes, p(y|x) itself)."""
        stream = self._stream()
        if stream is None:  # nothing is known
            rows, size = self._unseen(X), self._space().size
            return rows, self._space(), np.full((len(rows), size), 1 / size)
        space, rows = cast(FiniteSpace, stream.learner.space), self._validated(X, reset=False)
        likely = isinstance(space, Classes) and able(stream.learner, Forecasts)
        merits = probabilities(stream.learner, stream.state, rows) if likely else None
        return rows, space, space.merits(stream.predict(rows)) if merits is None else merits

    # -- several rows at once ---------------------------------------------------------------------

    def ask_bag(self, X: ArrayLike, keys: Any = None, most: int = bags.LARGEST, pace: bags.Pace | None = None) -> Any:
        """Return one question about several rows of a pool, "Are all of these cats?", or None where one row tells more.

        The rows are those of which the model is so sure that one answer about all of them tells most per second of a
        person's time (``pace``; see ``askone.session.bags``); ``keys`` are as in ``ask_from``.  A no is followed by a
        question about the first half, until all rows are known; ``tell_bag`` then learns from them.

        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]] * 4
        >>> model = OneBitClassifier(["a", "b"], random_state=0).fit(X, ["a", "a", "a", "b", "b", "b"] * 4)
        >>> bag = model.ask_bag([[0.05], [0.15], [5.05]], keys=["r", "s", "t"])
        >>> str(bag), bag.asked
        ('Are all of these so? Is it a?', (0, 1))
        >>> bag = bag.told(True)
        >>> bag.asked, bag.answers
        ((), (True, True))
        >>> model = model.tell_bag(bag)
        """
        with self._all_or_nothing():
            stream, most = self._running(X), as_count(most, "most", 2, bags.LARGEST)
            rows, space = self._validated(X, reset=False), cast(FiniteSpace, stream.learner.space)
            if space.attributes or space.sets:
                raise InvalidArgument("attributes", "none, for questions about several rows", "some")
            if not row_selection.chooses(stream.learner):
                raise InvalidArgument(
                    "learner", "one with a likelihood, for questions about several rows", repr(self.learner)
                )
            names = row_selection.as_keys(keys, len(rows))
            free = row_selection.free(stream, names, rows)
            found = bags.best_question(stream.learner, stream.state, rows[free], pace or bags.Pace(), most)
            if found is None:
                return None
            (places, _), asked = found
            chosen = tuple(int(free[one]) for one in places)
            if stream.budget is not None:
                stream.budget.require(len(chosen))
            questions = tuple(stream.put(rows[one], asked, names[one]) for one in chosen)
            return bags.AskedBag(questions, chosen, bags.Bag.of(len(chosen)))

    def tell_bag(self, bag: bags.AskedBag, person: str | None = None) -> Self:
        """Learn from the answers to a bag, as far as they are known; the questions that are not stay open.

        The same bag may be told again when more of it is known.
        """
        if not isinstance(bag, bags.AskedBag):
            raise InvalidArgument("bag", "what ask_bag gave, told its answers", type(bag).__name__)
        with self._all_or_nothing():
            unanswered = {found[2].number for found in self._started().open_questions()}
            for question, answer in zip(bag.questions, bag.answers, strict=True):
                if answer is not None and question.number in unanswered:
                    self.tell(question, answer, person)
        return self

    # -- parts ------------------------------------------------------------------------------------

    def _space(self) -> FiniteSpace:
        if self.classes is None:
            raise InvalidArgument("classes", "a list of class names (fit alone can find them in y)", None)
        return self._space_of(self.classes)

    def _space_of(self, names: Any) -> FiniteSpace:
        given, most = as_names(names, "classes", "classes"), self.max_set_size
        attributes, sets = _given(self.attributes, "attributes", "attribute"), _given(self.sets, "sets", "set")
        if most is None and self._choice().small_sets and not (len(attributes) or len(sets)):
            many = self._likelihood() and len(given) > _MANY
            most = min(_MOST, len(given) // _PART) if many else min(_READABLE, len(given) - 1)
        options: dict[str, Any] = {"attributes": attributes, "sets": sets, "max_set_size": most}
        if self.cost is None:
            return Classes(given, **options, wording=self.wording)
        try:
            return Finite(given, **options, wording=self.wording, loss=self.cost)
        except InvalidArgument as error:  # the space calls it a loss, this class a cost
            if error.argument != "loss":
                raise
            raise InvalidArgument("cost", error.allowed.replace("loss[", "cost["), error.got) from None

    def _likelihood(self) -> bool:
        """Return whether the likelihood learns."""
        return isinstance(self._choice(), SetLikelihood)

    def _loss(self) -> Loss:
        return self._choice().class_loss()

    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        self.classes_ = self._class_array(cast(FiniteSpace, space))
        return self._choice().make(self._setup(rows, space, horizon, seed))

    def _hidden(self, X: ArrayLike, y: Any) -> tuple[Array, Oracle, Space]:
        if isinstance(y, Oracle):
            return self._validated(X), y, self._space()
        given = [] if y is None else np.asarray(y, dtype=object).ravel().tolist()  # arrays of texts hold "nan"
        missing = [i for i, one in enumerate(given) if one is None or (isinstance(one, float) and np.isnan(one))]
        if missing:
            came = f"{given[missing[0]]!r} in row {missing[0]} (from 0)"
            raise InvalidArgument("y", "classes, one for each row; leave out rows without one", came)
        rows, labels = self._validated(X, y)
        try:
            check_classification_targets(labels)
        except (ValueError, TypeError) as error:
            raise InvalidArgument("y", "classes", str(error)) from error
        space = self._space() if self.classes is not None else self._space_of(_found(labels))
        again = bool(self.resample) or self._choice().several
        return rows, Oracle(space.labels(labels), resample=again), space

    def _class_array(self, space: FiniteSpace) -> Array:
        names = np.array(space.names)
        mixed = len({type(name) for name in space.names}) > 1
        return np.array(space.names, dtype=object) if mixed else names

    def _restored(self, document: dict[str, Any], arrays: dict[str, Array], given: Model[Any] | None) -> Self:
        super()._restored(document, arrays, given)
        self.classes_ = self._class_array(cast(FiniteSpace, self.stream_.learner.space))
        return self
