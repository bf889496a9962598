"""Classification from one yes/no answer per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, Self, cast, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from askone._common.types import Array
from askone._common.validate import as_choice, as_rows
from askone.errors import InvalidArgument, WrongType, incompatible
from askone.estimators._recipe import fixed_features, make_average, make_maps, make_model, make_step, refuse_steps
from askone.estimators.base import OneBitEstimator
from askone.labels.base import Name, Space, as_names
from askone.labels.classes import Classes, Finite, FiniteSpace, Sets
from askone.labels.losses import SURROGATES, Loss
from askone.learners import registry, step_rules
from askone.learners.abilities import Forecasts, HasProbabilities, able, probabilities
from askone.learners.base import Learner
from askone.learners.contest import Contest
from askone.learners.gradients.subset import SET_FAMILIES, set_strategy
from askone.learners.models.base import Model
from askone.learners.models.linear import FeatureModel
from askone.learners.paper.game import Game
from askone.learners.repeated.bisection import BisectedClasses
from askone.learners.repeated.memory import RememberedClasses
from askone.learners.rls.pseudo_labels import PseudoLabels
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.softmax.set_likelihood import SetLikelihood
from askone.session.oracle import Oracle
from askone.session.stream import Budget

LEARNERS = ("auto", "likelihood", "sgd", "rls")
CLASS_QUESTIONS = ("auto", *SET_FAMILIES, "game", "bisection")
_READABLE, _MANY = 3, 20  # as many classes as a person takes in at a glance; of up to 20, larger sets teach no more
_PART, _MOST = (
    4,
    25,
)  # of more, three say little before a class is met: a quarter of them, if that is not too long a list
_MEDIAN_ONLY = ("sphere", "coordinates", "passive")
_NEARER = 0.4  # classes are told apart at a smaller scale than smooth functions vary on
_CONTEST = (0.4, 0.8, 0.15)  # bandwidths that the answers choose from, as parts of the median distance


def _has_probabilities(estimator: Any) -> bool:
    if estimator._likelihood():
        return True
    if registry.registered(estimator.learner) is not None:
        return estimator._stream() is None or able(estimator.stream_.learner, HasProbabilities)
    return bool(estimator._loss().name != "median" and estimator.cost is None and estimator.questions != "game")


def _given(sets: Any, argument: str, one: str) -> Any:
    """Sets as given, none where nothing was; an empty list is more likely a mistake than a wish."""
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
        cost[predicted][true] of each mistake, in the order of the classes; None: all alike.
    wording : str
        A sentence with {set} in place of "Is it one of: {set}?".
    learner : "auto", "likelihood", "sgd", "rls"
        "likelihood": softmax regression by the likelihood of the answers, with nothing to tune (see
        ``SetLikelihood``); "sgd": stochastic gradients of a surrogate, which ``questions``, ``loss``, ``step``,
        ``gamma``, ``average``, ``ridge``, ``resample="memory"`` and models without finite features are about.
        "rls": recursive least squares on unbiased pseudo-labels, for the squared loss and fixed features, with
        nothing to tune.  "auto" is "likelihood" unless one of the arguments of "sgd" is given.
    flip : float
        The known probability that an answer is wrong, for the likelihood.
    questions : "auto", "designed", "singletons", "sphere", "coordinates", "passive", "game",
        "bisection", "full"
        Which strategy: sets by the design of least variance ("auto" is this one), single classes by
        importance, random half-spaces (Algorithm 1), a random class (the paper's, not consistent),
        balanced random sets with the infimum loss, the min-max game, several questions until the label
        is known (Huffman), or the label itself.
    loss : "auto", "squared", "logistic", "median", or one of these losses
        The surrogate.  "auto" is "squared" where it fits, else "median".
    model, kernel, bandwidth, n_components, step, gamma, average, ridge
        As for ``OneBitRegressor``.  With neither bandwidth nor model, the likelihood has several bandwidths and
        linear features, and the answers choose (see ``Contest``); else it is 0.4 times the median distance.  The
        step "auto" is "dog" starting at distance 1, and for the game "sqrt" with gamma 10.
    resample : False, True or "memory"
        Whether rows may be asked again; "memory" never asks what earlier answers imply (it goes with
        the questions "sphere", to which "auto" then turns).
    budget, select, keep_log, random_state
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

    def __init__(
        self,
        classes: Sequence[Name] | None = None,
        *,
        attributes: Mapping[str, Sequence[Name]] | None = None,
        sets: Sets | None = None,
        max_set_size: int | None = None,
        cost: Any = None,
        wording: str = "",
        learner: str = "auto",
        flip: float = 0.0,
        questions: str = "auto",
        loss: str | Loss = "auto",
        model: str | Model[Any] = "auto",
        kernel: str = "gaussian",
        bandwidth: float | None = None,
        n_components: int = 500,
        step: str | step_rules.StepRule = "auto",
        gamma: float | None = None,
        average: str | step_rules.Average = "polynomial",
        ridge: float = 0.0,
        budget: int | Budget | None = None,
        resample: bool | str = False,
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
        self.learner = learner
        self.flip = flip
        self.questions = questions
        self.loss = loss
        self.model = model
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.step = step
        self.gamma = gamma
        self.average = average
        self.ridge = ridge
        self.budget = budget
        self.resample = resample
        self.select = select
        self.keep_log = keep_log
        self.random_state = random_state

    # -- prediction -------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> Array:
        """The class of each row; ties are broken at random, alike for equal rows."""
        rows, space, merits = self._scored(X)
        return np.asarray(self._class_array(space)[space.best(merits, rows)])

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the classes, n x K; for two classes how far the second is ahead."""
        _, space, merits = self._scored(X)
        return np.asarray(merits[:, 1] - merits[:, 0]) if space.size == 2 else np.asarray(merits)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: ArrayLike) -> Array:
        """Estimates of p(y|x), n x K: by the likelihood, or for the losses "squared" and "logistic"."""
        stream = self._stream()
        if stream is None:  # nothing is known
            return np.full((len(as_rows(X)), self._space().size), 1 / self._space().size)
        found = probabilities(stream.learner, stream.state, self._validated(X, reset=False))
        if found is None:
            raise InvalidArgument("attributes", "sets that span, for p(y|x) to follow from them", "fewer")
        return found

    def _scored(self, X: ArrayLike) -> tuple[Array, FiniteSpace, Array]:
        """Rows, space, and the merit of each class (of plain classes p(y|x) itself, where there is a likelihood)."""
        stream = self._stream()
        if stream is None:  # nothing is known
            return as_rows(X), self._space(), np.full((len(as_rows(X)), self._space().size), 1 / self._space().size)
        space, rows = cast(FiniteSpace, stream.learner.space), self._validated(X, reset=False)
        likely = isinstance(space, Classes) and able(stream.learner, Forecasts)
        merits = probabilities(stream.learner, stream.state, rows) if likely else None
        return rows, space, space.merits(stream.predict(rows)) if merits is None else merits

    # -- parts ------------------------------------------------------------------------------------

    def _space(self) -> FiniteSpace:
        if self.classes is None:
            raise InvalidArgument("classes", "a list of class names (fit alone can find them in y)", None)
        return self._space_of(self.classes)

    def _space_of(self, names: Any) -> FiniteSpace:
        given, most = as_names(names, "classes", "classes"), self.max_set_size
        restricted = self.attributes is not None or self.sets is not None or most is not None
        if self.resample == "memory" and restricted:
            raise incompatible("resample", "memory", "only some sets may be asked", [False, True])
        attributes, sets = _given(self.attributes, "attributes", "attribute"), _given(self.sets, "sets", "set")
        readable = self._likelihood() or self._questions() == "designed"
        if most is None and readable and not (len(attributes) or len(sets)):
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
        """Whether the likelihood learns: "auto" leaves it where an argument of stochastic gradients is given."""
        name = as_choice(self.learner, "learner", (*LEARNERS, *registry.names()))
        if name not in ("auto", "likelihood"):
            return False
        given = self._gradient_argument()
        if name == "likelihood" and given is not None:
            raise InvalidArgument(given, "left alone for learner='likelihood'", getattr(self, given))
        return given is None

    def _gradient_argument(self) -> str | None:
        """The first argument that only stochastic gradients read and that is not at its default."""
        idle = {
            "questions": self.questions == "auto",
            "loss": isinstance(self.loss, str) and self.loss == "auto",
            "step": isinstance(self.step, str) and self.step == "auto",
            "gamma": self.gamma is None,
            "average": isinstance(self.average, str) and self.average == "polynomial",
            "ridge": isinstance(self.ridge, int | float) and self.ridge == 0,
            "resample": self.resample != "memory",
            "model": isinstance(self.model, FeatureModel) if isinstance(self.model, Model) else self.model != "kernel",
        }
        return next((name for name, left in idle.items() if not left), None)

    def _questions(self) -> str:
        name = as_choice(self.questions, "questions", CLASS_QUESTIONS)
        auto = "sphere" if self.resample == "memory" else "designed"
        return auto if name == "auto" else name

    def _loss(self) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        name = as_choice(self.loss, "loss", ("auto", *SURROGATES))
        if name == "auto":
            name = "median" if self._questions() in _MEDIAN_ONLY else "squared"
        return SURROGATES[name]()

    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        space = cast(FiniteSpace, space)
        self.classes_ = self._class_array(space)
        shape = (self.kernel, self.bandwidth, self.n_components)
        if self._likelihood():
            if (
                isinstance(self.model, str)
                and self.model == "auto"
                and self.bandwidth is None
                and self.kernel != "linear"
            ):
                return self._contest(space, rows, seed)
            unseen = "fourier" if rows is None and self.kernel != "linear" else "auto"
            wanted = unseen if self.model == "auto" else self.model
            model = make_model(wanted, *shape, rows, int(self.n_features_in_), seed, rows is None, nearer=_NEARER)
            return SetLikelihood(space, cast(FeatureModel, model).features, self.flip)
        if self.flip != 0:
            raise InvalidArgument("flip", "0 for stochastic gradients: learner='likelihood' reads it", self.flip)
        if self.learner == "rls":
            generic = rows is None
            model = make_model(self.model, *shape, rows, int(self.n_features_in_), seed, generic, _NEARER)
            return self._recursive(space, model)
        model = make_model(self.model, *shape, rows, int(self.n_features_in_), seed, nearer=_NEARER)
        parts = (model, self._step(horizon), make_average(self.average), self.ridge)
        if self._questions() == "game":
            self._refuse_for_game()
            return Game(cast(Classes, space), *parts)
        bisecting = self._questions() == "bisection"
        if bisecting and self.resample:
            raise incompatible("resample", self.resample, "bisection asks again by itself", [False])
        strategy = set_strategy(space, self._loss(), "full" if bisecting else self._questions())
        learner = Surrogate(strategy, *parts)
        if bisecting:
            return BisectedClasses(learner)
        return RememberedClasses(learner) if self.resample == "memory" else learner

    def _contest(self, space: FiniteSpace, rows: Array | None, seed: int) -> Contest:
        """Kernels of some bandwidths, and no kernel: the answers choose."""
        shape = (self.kernel, None, self.n_components, rows, int(self.n_features_in_), 1, seed)
        linear, *kernels = make_maps("auto", *shape, _CONTEST)
        members = tuple(SetLikelihood(space, features, self.flip) for features in (*kernels, linear))
        return Contest(members, quick=(len(kernels),))

    def _recursive(self, space: FiniteSpace, model: Model[Any]) -> PseudoLabels:
        if self.resample == "memory":
            raise incompatible("resample", "memory", "learner='rls'", [False, True])
        fits = ["designed", "singletons", "full"]
        if self._questions() not in fits:
            raise incompatible("questions", self._questions(), "learner='rls'", fits)
        refuse_steps("rls", step=(self.step, "auto"), gamma=(self.gamma, None),
                     average=(self.average, "polynomial"), ridge=(self.ridge, 0.0))  # fmt: skip
        return PseudoLabels(set_strategy(space, self._loss(), self._questions()), fixed_features(model, "rls"))

    def _step(self, horizon: int | None) -> step_rules.StepRule:
        if self.step != "auto":
            return make_step(self.step, self.gamma, horizon)
        if self.gamma is not None:
            raise InvalidArgument("gamma", "None: step='auto' has none", self.gamma)
        # Scores live in a simplex of size 1: that is the distance to go.
        return step_rules.InverseSqrt(10.0) if self._questions() == "game" else step_rules.DoG(1.0)

    def _refuse_for_game(self) -> None:
        if self.resample == "memory":
            raise incompatible("resample", "memory", "the game", [False, True])
        if self.loss != "auto" or self.cost is not None:
            argument = "loss" if self.loss != "auto" else "cost"
            raise InvalidArgument(argument, "left alone: the game has its own", getattr(self, argument))

    def _hidden(self, X: ArrayLike, y: Any) -> tuple[Array, Oracle, Space]:
        if isinstance(y, Oracle):
            return self._validated(X), y, self._space()
        rows, labels = self._validated(X, y)
        try:
            check_classification_targets(labels)
        except (ValueError, TypeError) as error:
            raise InvalidArgument("y", "classes", str(error)) from error
        space = self._space() if self.classes is not None else self._space_of(_found(labels))
        again = bool(self.resample) or self._questions() == "bisection"
        return rows, Oracle(space.labels(labels), resample=again), space

    def _class_array(self, space: FiniteSpace) -> Array:
        names = np.array(space.names)
        mixed = len({type(name) for name in space.names}) > 1
        return np.array(space.names, dtype=object) if mixed else names

    def _restored(self, document: dict[str, Any], arrays: dict[str, Array], given: Model[Any] | None) -> Self:
        super()._restored(document, arrays, given)
        self.classes_ = self._class_array(cast(FiniteSpace, self.stream_.learner.space))
        return self
