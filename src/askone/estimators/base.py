"""The base of the estimators: ask, tell, skip, fit against an oracle, save; all or nothing."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.validation import validate_data

from askone._common.types import Array, Key
from askone._common.validate import as_choice, as_flag, as_rows
from askone.encoding.encoder import Encoder
from askone.errors import AlreadyStarted, AskoneError, BudgetSpent, InvalidArgument, NotYet, WrongType, incompatible
from askone.estimators import _saved_stream, inputs, model_file
from askone.estimators.inputs import FrameInputs, Inputs, SparseInputs
from askone.estimators.learner_choices.base import LearnerChoice, OwnLearner, Setup
from askone.estimators.notebook import plots
from askone.estimators.notebook.card import card, described
from askone.estimators.notebook.curve import FitWatch, LearningCurve, bar, judge_of, own_account
from askone.estimators.notebook.log_frame import log_frame
from askone.estimators.row_order import warn_of_sorted
from askone.features.layout import RowLayout
from askone.labels.base import Space
from askone.learners import registry
from askone.learners.abilities import AsksAgain, KnowsPeople, is_patient, space_at
from askone.learners.base import Learner
from askone.learners.models.base import Model
from askone.learners.person import Person
from askone.people import People, SimulatedCrowd, as_crowd
from askone.questions.base import Question
from askone.session import replay, row_selection
from askone.session.budget import Budget, as_budget
from askone.session.log import Event, Fits, Kept, require_whole
from askone.session.oracle import Oracle
from askone.session.simulation import from_pool, in_order, resampled, simulate
from askone.session.stream import Stream

_PASSES = 8
_ALLOWED = "rows of numbers that fit (or texts: a list of them, dictionaries or a DataFrame)"


class InputScaleWarning(UserWarning):
    """A model was built without having seen any unlabelled rows."""


class OneBitEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A learner with memory and scikit-learn's manners; subclasses say what labels are."""

    learner: str | LearnerChoice = "auto"
    _inputs: Inputs | None = None
    _curve: LearningCurve | None = None
    """Of a simulation, against its labels."""
    _memory: Kept | None
    layout_: RowLayout | None
    _flags: ClassVar[tuple[str, ...]] = ()  # attributes that a saved model keeps, too, without their last _
    _learners: ClassVar[dict[str, type[LearnerChoice]]] = {}  # by name; none: it makes its one learner itself

    def __init__(
        self, learner: str | LearnerChoice, flip: float, budget: int | Budget | None, resample: bool,
        select: str | None, keep_log: bool | None, random_state: Any,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.flip = flip
        self.budget = budget
        self.resample = resample
        self.select = select
        self.keep_log = keep_log
        self.random_state = random_state

    @abstractmethod
    def _space(self) -> Space:
        """Return the labels that were declared."""

    def _declared(self) -> bool:
        """Return whether it was said what labels are, their range included."""
        return True

    @abstractmethod
    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        """Return the learner, for rows of which some may be shown."""

    @abstractmethod
    def _hidden(self, X: ArrayLike, y: Any) -> tuple[Array, Oracle, Space]:
        """Return rows, labels behind an oracle, and what labels they are."""

    # -- live: ask and tell -----------------------------------------------------------------------

    def start(self, X: ArrayLike, *, layout: RowLayout | None = None) -> Self:
        """Begin anew, with a look at unlabelled rows: their scale, the bandwidth, the representers.

        ``layout`` says what the columns of encoded rows are (None: numbers).
        """
        with self._all_or_nothing():
            self._refuse_to_forget()
            rows = self._validated(X)
            if layout is not None and layout.columns != rows.shape[1]:
                allowed = f"rows of {layout.columns} columns, as in layout"
                raise InvalidArgument("X", allowed, f"{rows.shape[1]} columns")
            self.layout_ = layout or self.layout_
            self._begin(rows, self._space(), None)
        return self

    def _refuse_to_forget(self) -> None:
        """Answers were paid for: a call that would drop them is more likely a mistake than a wish."""
        stream = self._stream()
        if stream is None or not (stream.answered or stream.open):
            return
        waits = f" and waits for {len(stream.open)}" if stream.open else ""
        raise AlreadyStarted(
            f"this model has learnt from {stream.answered} answer(s){waits}: go on with ask and tell, "
            "or begin anew with sklearn.base.clone(model).start(X)"
        )

    def ask(self, x: ArrayLike, key: Any = None) -> Any:
        """Return a question about a row (one dimension), or a list of them about rows (two), at one state.

        ``key``, a text or a whole number, names the row (or lists one for each row): a named row is
        asked only once.
        """
        with self._all_or_nothing():
            stream = self._running(x)
            if inputs.is_one(x):
                return stream.ask(self._row(x), key)
            return stream.ask_many(self._validated(x, reset=False), key)

    def ask_from(self, X: ArrayLike, keys: Any = None) -> tuple[Any, int]:
        """Return a question about one row of a pool, and the row's place in it.

        It is the row whose answer should help most, where the learner can tell (see ``select``); with
        ``select="stream"`` the first that was not asked about.  Rows without ``keys`` go by their place: then the pool
        must stay as it is from call to call.
        """
        with self._all_or_nothing():
            rule, stream = row_selection.as_rule(self.select), self._running(X)
            rows = self._validated(X, reset=False)
            names = row_selection.as_keys(keys, len(rows))
            if keys is None:
                row_selection.require_same({} if self._memory is None else self._memory.rows, rows)
            place, choice = row_selection.chosen(stream, rows, row_selection.free(stream, names, rows), rule)
            return stream.ask(rows[place], names[place], choice), place

    def tell(self, question: Question | int, answer: Any, person: str | None = None) -> Self:
        """Learn from the answer to a question (True or False), or to its number.

        ``person`` says who gave it.  Where there are several, a default learner finds out how often each of them errs,
        and believes them accordingly (see ``people_``).
        """
        self._started().tell(question, answer, person)
        return self

    @property
    def people_(self) -> dict[str, Person]:
        """What is known of each person who was named with an answer."""
        stream = self._started()
        learner = stream.learner
        if not isinstance(learner, KnowsPeople):
            return {}
        return {one.name: one for one in learner.people_now(stream.state)}

    def wants(self, x: ArrayLike, key: Any = None) -> bool:
        """Return whether another question about a row is of use: with memory or bisection, until its label is known.

        A row is known by its ``key``, or by its content where it was asked without one.
        """
        return self._started().wants(self._row(x), key)

    def skip(self, question: Question | int) -> Self:
        """Close a question that nobody will answer."""
        self._started().skip(question)
        return self

    def retract(self, question: Question | int) -> Self:
        """Take back the answer to a question: it is open again, and the model what the other answers make of it.

        Answers of ``fit`` (unless ``keep_log=True``), or of before the model was saved, cannot be taken back.
        """
        self._started().retract(question)
        return self

    # -- what was answered ------------------------------------------------------------------------

    @property
    def log_(self) -> list[Event]:
        """Every question and answer since this model began, as events (see ``keep_log``)."""
        return list(self._kept().events)

    @property
    def rows_(self) -> dict[Key, Array]:
        """The rows that were asked about, by what the log calls them."""
        return dict(self._kept().rows)

    @property
    def fits_(self) -> dict[str, bytes]:
        """The fits that the log names, packed, by their hashes: with them another processor folds the same state."""
        return dict(self._kept().fits)

    def refit(self, other: OneBitEstimator) -> Any:
        """Return another estimator, taught by the same answers without asking again; it can go on asking.

        One that has not begun is shown the rows of the log first.
        """
        if not isinstance(other, OneBitEstimator):
            raise InvalidArgument("other", "an estimator, such as OneBitRegressor(...)", type(other).__name__)
        alike = type(other) is type(self) and other._character() == self._character()
        taught = other.learn_from(self.log_, self.rows_, own=alike, layout=self._layout())
        taught._inputs = self._inputs
        return taught

    def _character(self) -> dict[str, str]:
        """Return what decides where a model asks."""
        apart = ("budget", "select", "keep_log", "random_state")
        params = self.get_params(deep=False) | ({"learner": self._choice()} if self._learners else {})
        return {name: repr(value) for name, value in params.items() if name not in apart}

    def learn_from(
        self, log: Sequence[Event], rows: replay.Rows, own: bool = False, fits: Fits | None = None, *,
        layout: RowLayout | None = None,
    ) -> Self:  # fmt: skip
        """Learn from the answers of a log; a model that has not begun is shown its rows first.

        ``own`` says that a model like this asked its questions, and ``fits`` are its own (see ``askone.refit``);
        ``layout`` is as in ``start``.
        """
        with self._all_or_nothing():
            self._refuse_to_forget()
            if self._stream() is None:
                self.begin_with(replay.stacked(rows), layout)
            stream = self._started()
            if stream.asked:
                raise AlreadyStarted(f"this model has asked {stream.asked} question(s): a log is learnt from first")
            replay.teach(stream, rows, log, own, fits)
        return self

    def begin_with(self, rows: Array, layout: RowLayout | None = None) -> None:
        """Begin with the rows of a log."""
        self.start(rows, layout=layout)

    def _kept(self) -> Kept:
        self._started()
        if self._memory is None:
            raise NotYet("this model kept no log: keep_log=True keeps it (fit by itself keeps none)")
        return self._memory

    # -- simulation -------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: Any, *, progress: bool = False, people: People | None = None) -> Self:
        """Simulate: y is hidden behind an oracle, which answers one question per row, in order.

        y may be an ``Oracle`` itself: one that flips, or skips, or has counted before.  ``progress`` shows a bar.
        ``people`` answer in its stead, "4 careful, 1 spammer" for instance, by their names (see ``askone.people``).
        """
        if y is None:
            raise InvalidArgument("y", "labels or an Oracle (requires y to be passed, but the target y is None)", y)
        with self._all_or_nothing():
            self._simulate(X, y, as_flag(progress, "progress"), people)
        return self

    def _look_at(self, y: Any, space: Space) -> None:
        """Warn of labels that cannot be learnt."""

    def _simulate(self, X: ArrayLike, y: Any, shown: bool, people: People | None) -> None:
        rows, oracle, space = self._hidden(X, y)
        stream = self._begin(rows, space, len(rows), keep=self.keep_log is True)
        left = None if stream.budget is None else stream.budget.left
        if left == 0:
            raise BudgetSpent("the budget holds no question for fit")
        self._look_at(y, space)
        # A learner that is patient stays with a row until it is known, at no matter how many questions.
        most = left if is_patient(stream.learner) else left or len(rows)
        judge = None if isinstance(y, Oracle) else judge_of(space, self._declared(), rows, y)
        with bar(shown, most) as advance:
            watch = FitWatch(judge, most or len(rows), advance)
            labels = None if isinstance(y, Oracle) else np.asarray(y)
            self._ask_all(stream, rows, oracle, most, watch, as_crowd(people, stream.seed), labels)
        self._curve = watch.curve()

    def _ask_all(
        self, stream: Stream, rows: Array, oracle: Oracle, most: int | None, watch: FitWatch,
        crowd: SimulatedCrowd | None, labels: Array | None,
    ) -> None:  # fmt: skip
        rule = row_selection.as_rule(self.select)
        if rule == "auto":
            row_selection.as_forecasting(stream.learner)
            from_pool(stream, rows, oracle, rule, most or len(rows), watch.look, crowd)
            return
        again = self.resample or self._revisits()
        # Rows that are known already are passed over: draw more of them than there are questions.
        passes = _PASSES if self._revisits() else 1
        order = resampled(len(rows), passes * most, stream.seed) if again and most else None
        if order is None:
            warn_of_sorted(rows, labels)
        if self.keep_log:  # question by question: compiled blocks keep less of a question than a log must
            numbers = range(len(rows)) if order is None else order.tolist()
            in_order(stream, rows, oracle, numbers, most, watch.look, crowd)
            return
        simulation = simulate(
            stream.learner, rows, oracle, seed=stream.seed, order=order, questions=most, people=crowd, **watch.judging
        )
        stream.state, stream.asked, watch.points = simulation.state, simulation.asked, simulation.curve
        if stream.budget is not None:
            stream.budget.spend(stream.asked)

    # -- on disk ----------------------------------------------------------------------------------

    def save(self, path: model_file.Place) -> None:
        """Write all there is, without pickle, to a path or an open binary file.

        That is configuration, state, keys, budget, open questions; ``askone.load`` reads it back.
        """
        stream = self._started()
        arrays: dict[str, Array] = {}
        seeded = self.random_state is None or isinstance(self.random_state, int | np.integer)
        plain = {k: v for k, v in self.get_params(deep=False).items() if k != "budget"}
        if not seeded:
            plain["random_state"] = None  # a RandomState cannot be written; the stream keeps its seed
        document = {
            "estimator": type(self).__name__,
            "params": {name: model_file.encode(_saved_stream.plain(value), arrays) for name, value in plain.items()},
            "learner": model_file.encode(stream.learner, arrays),
            "columns": int(self.n_features_in_),
            "layout": model_file.encode(self._layout(), arrays),
            "inputs": [self._inputs.columns, self._inputs.pairs] if isinstance(self._inputs, SparseInputs) else None,
            "feature_names": [str(name) for name in self.__dict__.get("feature_names_in_", [])],
            **_saved_stream.to_record(stream),
            "log": None if self._memory is None else self._memory.to_json(),
            **{name: getattr(self, f"{name}_") for name in self._flags},
        }
        encoder = None if self.encoder is None else self.encoder.to_json()
        state = stream.learner.to_arrays(stream.state)
        arrays |= {f"state-{name}": array for name, array in state.items()}
        if self._memory is not None:
            arrays |= {f"fit-{name}": np.frombuffer(fit, np.uint8) for name, fit in self._memory.fits.items()}
        model_file.save(path, document, arrays, encoder)

    def _restored(self, document: dict[str, Any], arrays: dict[str, Array], given: Model[Any] | None) -> Self:
        learner: Learner[Any] = model_file.decode(document["learner"], arrays, given)
        state = {name[6:]: array for name, array in arrays.items() if name.startswith("state-")}
        log = document.get("log")  # models saved before there were logs lack it
        self._memory = None if log is None else Kept.from_json(log)
        if self._memory is not None:
            fits = {name[4:]: array.tobytes() for name, array in arrays.items() if name.startswith("fit-")}
            require_whole(fits)
            self._memory.fits = fits
        again = isinstance(learner, AsksAgain) or bool(self.resample)
        self.stream_ = _saved_stream.from_record(document, learner, learner.from_arrays(state), again, self._notes())
        self.budget = self.stream_.budget
        self.n_features_in_ = document["columns"]
        for name in self._flags:
            setattr(self, f"{name}_", bool(document[name]))
        self.layout_ = model_file.decode(document.get("layout"), arrays, None)
        if document["feature_names"]:
            self.feature_names_in_ = np.array(document["feature_names"], dtype=object)
        if document.get("inputs"):
            self._inputs = SparseInputs(*document["inputs"])
        if document.get(model_file.ENCODER):
            self.read_tables(Encoder.from_json(document[model_file.ENCODER]))
        return self

    @property
    def encoder(self) -> Encoder | None:
        """What makes rows of tables; None: rows are numbers."""
        return self._inputs.encoder if isinstance(self._inputs, FrameInputs) else None

    def read_tables(self, encoder: Encoder) -> Self:
        """Take tables from now on, by the encoder that made the rows of which this model has learnt."""
        if encoder.layout.columns != self._started().learner.columns:
            came = f"one of {encoder.layout.columns}"
            raise InvalidArgument("encoder", f"one that makes rows of {self.stream_.learner.columns} columns", came)
        self._take(FrameInputs(encoder))
        return self

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
            raise NotYet("no question was asked yet: call start, ask or fit first")
        return stream

    def _row(self, x: Any) -> Any:
        """Return one row; a row of a table is checked for its names."""
        named = type(x) is not np.ndarray and inputs.is_named(x)
        return self._validated(inputs.as_table(x), reset=False)[0] if named or self._inputs is not None else x

    def _running(self, x: ArrayLike) -> Stream:
        stream = self._stream()
        if stream is not None:
            return stream
        rows = self._validated(inputs.as_table(x) if inputs.is_one(x) else x)
        alone = len(rows) < 3
        if alone and not (self._learners and self._choice().own_model):
            warnings.warn(
                "no unlabelled rows were shown, so inputs are taken as they come, at scale 1: "
                "call start(X) first, or ask about several rows at once",
                InputScaleWarning,
                stacklevel=3,
            )
        return self._begin(None if alone else rows, self._space(), None)

    def _begin(self, rows: Array | None, space: Space, horizon: int | None, keep: bool | None = None) -> Stream:
        budget = as_budget(self.budget)
        if budget is not None:
            again = self.resample or self._revisits()
            horizon = budget.left if horizon is None or again else min(horizon, budget.left)
        try:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            allowed = "None, a whole number or a RandomState"
            raise InvalidArgument("random_state", allowed, repr(self.random_state)) from error
        learner = self._learner(rows, space, horizon, seed)
        self._curve = None
        again = isinstance(learner, AsksAgain) or as_flag(self.resample, "resample")
        if self.keep_log is not None:
            as_flag(self.keep_log, "keep_log")
        self._memory = Kept() if (self.keep_log is not False if keep is None else keep) else None
        self.stream_ = Stream(learner, seed=seed, budget=budget, resample=again, **self._notes())
        return self.stream_

    def _notes(self) -> dict[str, Any]:
        kept = self._memory
        return {} if kept is None else {"log": kept.note, "rows": kept.rows, "fits": kept.fits}

    def _scores(self, X: ArrayLike) -> Array:
        """Return predictions of the learner, n x m."""
        return self._started().predict(self._validated(X, reset=False))

    def _choice(self) -> LearnerChoice:
        """Return the learner as an object."""
        kinds = self._learners
        if registry.registered(self.learner) is not None:
            return OwnLearner(self.learner)  # type: ignore[arg-type]  # a name, if it is registered
        if isinstance(self.learner, LearnerChoice):
            if type(self.learner) not in (*kinds.values(), OwnLearner):
                fits = dict.fromkeys(kind.__name__ for kind in kinds.values())
                raise incompatible("learner", type(self.learner).__name__, type(self).__name__, fits)
            return self.learner
        return kinds[as_choice(self.learner, "learner", (*kinds, *registry.names()))]()

    def _revisits(self) -> bool:
        return bool(self._learners) and self._choice().revisits

    def _setup(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Setup:
        layout, again = self._layout(), bool(self.resample)
        columns = int(self.n_features_in_) if layout is None else layout.columns
        return Setup(space, rows, columns, horizon, seed, flip=self.flip, resample=again, layout=layout)

    def _layout(self) -> RowLayout | None:
        return self.__dict__.get("layout_")

    # -- in a notebook ----------------------------------------------------------------------------

    def learning_curve(self) -> LearningCurve:
        """Return how the error fell: against y in ``fit``, else as the model itself expects it at rows asked about.

        Only a learner that says how sure it is has the latter.
        """
        stream = self._started()
        if self._curve is not None:
            return self._curve
        rows = [] if self._memory is None else list(self._memory.rows.values())
        found = own_account(stream, np.array(rows)) if rows else None
        if found is None:
            raise NotYet("this model has no learning curve: fit it to labels, or ask and tell with a default learner")
        return found

    def plot_curve(self, ax: Any = None) -> Any:
        """Draw ``learning_curve``, on axes of matplotlib or on new ones; returns the axes."""
        return plots.plot_curve(self.learning_curve(), ax)

    def plot_questions(self, ax: Any = None) -> Any:
        """Draw what was asked and answered (see ``keep_log``), on axes of matplotlib or on new ones; returns them."""
        return plots.plot_questions(self.log_, self.rows_, ax)

    def log_frame(self) -> Any:
        """Return the log as a data frame of pandas, a line for each question."""
        return log_frame(self.log_)

    def _repr_html_(self) -> str:
        curve = None
        with suppress(NotYet):
            curve = self.learning_curve()
        return card(type(self).__name__, [*self._facts(), *([] if curve is None else [("error", str(curve))])], curve)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _facts(self) -> Iterator[tuple[str, str]]:
        """Yield what a card says."""
        stream = self._stream()
        if stream is None:
            try:
                yield "learns", described(self._space() if self._declared() else None)
            except AskoneError as error:
                yield "learns", f"nothing yet: {error}"
            yield "answers", "none yet: start(X), ask and tell; or fit(X, y) to simulate"
            return
        yield "learns", described(space_at(stream.learner, stream.state))
        yield "by", repr(self._choice())
        waiting = f", {len(stream.open):,} open" if stream.open else ""
        yield "answers", f"{stream.answered:,} of {stream.asked:,} questions{waiting}"
        if stream.budget is not None:
            yield "budget", f"{stream.budget.left:,} of {stream.budget.questions:,} questions left"

    # -- scikit-learn -----------------------------------------------------------------------------

    def set_params(self, **params: Any) -> Self:
        """Set arguments; ``learner__step`` is the learner's, which may have been chosen by name."""
        if "learner" in params:
            self.learner = params.pop("learner")
        if isinstance(self.learner, str) and any(name.startswith("learner__") for name in params):
            self.learner = self._choice()
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._stream() is not None

    def _validated(self, X: ArrayLike, y: Any = "no_validation", reset: bool = True, **options: Any) -> Any:
        if reset:
            self._take(inputs.inputs_for(X))
        elif self._inputs is None:
            inputs.require_plain(X)
        try:
            if self._inputs is not None:
                rows = self._inputs.rows(X)
                return rows if isinstance(y, str) else check_X_y(rows, y, dtype=np.float64, **options)
            X = inputs.as_matrix(X)
            if isinstance(y, str):
                return validate_data(self, X, reset=reset, dtype=np.float64)
            return validate_data(self, X, y, reset=reset, dtype=np.float64, **options)
        except (ValueError, TypeError) as error:
            if isinstance(error, InvalidArgument):
                raise
            kind = WrongType if isinstance(error, TypeError) else InvalidArgument
            raise kind("X" if isinstance(y, str) else "X and y", _ALLOWED, str(error)) from error

    def _take(self, found: Inputs | None) -> None:
        """Make rows of whatever comes in this way from now on."""
        self._inputs, self.layout_ = found, None if found is None else found.layout
        if found is None:
            return
        self.n_features_in_ = found.columns
        self.__dict__.pop("feature_names_in_", None)
        if found.names is not None:
            self.feature_names_in_ = np.array(found.names, dtype=object)

    def _unseen(self, X: Any) -> Array:
        """Return rows for a model that knows nothing yet."""
        found = inputs.inputs_for(X)
        return as_rows(inputs.as_matrix(X)) if found is None else found.rows(X)
