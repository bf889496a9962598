"""Rankings from one comparison per row, or per person where there are no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_count, as_flag, as_number
from askone.errors import InvalidArgument, incompatible
from askone.estimators.base import OneBitEstimator
from askone.estimators.learner_choices.base import LearnerChoice
from askone.estimators.learner_choices.defaults import Thurstone
from askone.estimators.learner_choices.gradients import SGD, RecursiveLeastSquares
from askone.features.layout import RowLayout
from askone.labels.base import Name, Space
from askone.labels.ranking import Ranking
from askone.learners.abilities import deviation, score_draws
from askone.learners.base import Learner
from askone.learners.gradients.ranking import RANK_PAIRS
from askone.questions.comparison import BestOf, Prefer
from askone.session.budget import Budget
from askone.session.oracle import Oracle
from askone.session.stream import Stream

_NOWHERE = np.zeros(1)  # the row of whoever has none
_DRAWS = 400  # of the scores, by which ranks are known


@final
class RankIntervals(NamedTuple):
    """Between which ranks each item is, from 1 for the best, and the rank that it shares; as the items are listed.

    ``shared`` is 1 more than the number of items that are surely better: whose worst rank is before the item's best.

    >>> RankIntervals.of(np.array([[3.0, 1.0, 0.9], [3.1, 0.8, 1.2]]), 0.9)
    RankIntervals(best=array([1, 2, 2]), worst=array([1, 3, 3]), shared=array([1, 2, 2]))
    """

    best: Array
    worst: Array
    shared: Array

    @classmethod
    def of(cls, scores: Array, level: float) -> RankIntervals:
        """Return the intervals of so many draws of the scores, draws x items."""
        ranks = 1 + np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        tail = (1.0 - level) / 2
        best = np.quantile(ranks, tail, axis=0, method="lower")
        worst = np.quantile(ranks, 1.0 - tail, axis=0, method="higher")
        return cls(best, worst, 1 + np.searchsorted(np.sort(worst), best))


@final
class OneBitRanker(OneBitEstimator):
    """Rankings from one comparison per row: "Do you prefer tea or coffee?".

    Rows say who is asked, or in which situation.  Without rows (``ask()``, ``fit(None, y)``,
    ``predict()``) one order is learnt for all.

    Parameters
    ----------
    items : list of names
        What is ranked: at least two.
    learner : a name, or an object with arguments of its own
        "thurstone", ``Thurstone()``: Gaussian utilities of the items, asking the pair that should tell most of them,
        with nothing to tune.  "sgd", ``SGD()``: stochastic gradients from random pairs.  "rls",
        ``RecursiveLeastSquares()``: scores by unbiased pseudo-labels.  "auto" is "thurstone".
    flip : float
        For "thurstone": the probability that an answer is the wrong one, where that is known.
    wording : str
        A template with {first} and {second}, in place of "Do you prefer {first} or {second}?".
    budget, resample, select, keep_log, random_state
        As for ``OneBitRegressor``.

    Examples
    --------
    >>> model = OneBitRanker(["tea", "coffee", "milk"], random_state=0)
    >>> question = model.ask()
    >>> str(question), question.answers
    ('Do you prefer milk or coffee?', ('milk', 'coffee'))
    >>> model = model.tell(question, False)           # coffee
    >>> model.predict().tolist()
    ['coffee', 'tea', 'milk']
    """

    context_: bool
    _flags: ClassVar[tuple[str, ...]] = ("context",)
    _learners: ClassVar[dict[str, type[LearnerChoice]]] = {
        "auto": Thurstone, "thurstone": Thurstone, "sgd": SGD, "rls": RecursiveLeastSquares,
    }  # fmt: skip

    def __init__(
        self,
        items: Sequence[Name],
        *,
        wording: str = "",
        learner: str | LearnerChoice = "auto",
        flip: float = 0.0,
        budget: int | Budget | None = None,
        resample: bool = False,
        select: str | None = None,
        keep_log: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.items = items
        self.wording = wording
        super().__init__(learner, flip, budget, resample, select, keep_log, random_state)

    # -- live -------------------------------------------------------------------------------------

    def start(self, X: ArrayLike | None = None, *, layout: RowLayout | None = None) -> Self:
        """Begin anew, with a look at unlabelled rows, or for one order without any."""
        with self._all_or_nothing():
            self._refuse_to_forget()
            self.__dict__.pop("stream_", None)
            return super().start(self._given(X), layout=layout)

    def ask(self, x: ArrayLike | None = None, key: Any = None) -> Any:
        """Return a question about a row, a list of them about rows, or one about no row in particular."""
        with self._all_or_nothing():
            return super().ask(self._given(x, live=True), key)

    def ask_from(self, X: ArrayLike, keys: Any = None) -> tuple[Any, int]:
        with self._all_or_nothing():
            return super().ask_from(self._given(X), keys)

    def ask_best(self, x: ArrayLike | None = None, k: int = 3, key: Any = None) -> BestOf:
        """Ask which of k items, drawn and listed at random, is liked best.  Tell the name of one."""
        with self._all_or_nothing():
            given = self._given(x, live=True)
            stream = self._running(given)
            space = self._space()
            self._require_comparing(stream, self._row(given))
            lots = random_table.uniforms(stream.seed, stream.asked, 1, space.size, random_table.CHOICE)[0]
            listed = np.argsort(lots)[: as_count(k, "k", 2, space.size)]
            chosen = tuple(space.items[i] for i in listed)
            question = BestOf(chosen, 1.0 / space.P, learnt=stream.answered)
            return stream.put(self._row(given), question, key)  # type: ignore[return-value]  # numbered, the same

    def _require_comparing(self, stream: Stream, x: Any) -> None:
        """Raise unless comparisons that the learner did not draw teach it: telling is pure, so one is tried."""
        first, second, *_ = self._space().items
        try:
            stream.learner.tell(stream.state, x, Prefer(first, second, 1.0 / self._space().P), True)
        except InvalidArgument as error:
            if error.argument != "question":
                raise
            fits = [family for (_, family), one in RANK_PAIRS.items() if one.compares]
            raise incompatible(
                "learner",
                repr(self._choice()),
                "the best of several",
                [f"SGD(questions={one!r})" for one in dict.fromkeys(fits)],
            ) from error

    # -- predictions ------------------------------------------------------------------------------

    def predict(self, X: ArrayLike | None = None) -> Array:
        """Return orders, best first: n x items, or one of them where there are no rows."""
        if self._stream() is None:  # nothing is known: any order, alike for equal rows
            rows = np.zeros((1, 1)) if X is None else self._unseen(X)
            orders = self._space().from_scores(np.zeros((len(rows), self._space().size)), rows)
            return orders[0] if X is None else orders
        stream, rows = self._started(), self._predictable(X)
        space: Ranking = stream.learner.space  # type: ignore[assignment]  # a Surrogate's
        orders = space.decode(stream.predict(rows), rows, stream.seed)
        return orders[0] if X is None else orders

    def decision_function(self, X: ArrayLike | None = None) -> Array:
        """Return scores of the items, or of the pairs (see ``Ranking.pairs``), n x m."""
        return self._started().predict(self._predictable(X))

    def predict_std(self, X: ArrayLike | None = None) -> Array:
        """Return standard deviations of "thurstone"'s scores, each item against the mean of all, n x items."""
        stream = self._started()
        spread = deviation(stream.learner, stream.state, self._predictable(X))
        if spread is None:
            raise incompatible("learner", self.learner, "standard deviations", ["thurstone"])
        return spread

    def ranks(self, X: ArrayLike | None = None, level: float = 0.9) -> RankIntervals | list[RankIntervals]:
        """Return intervals that hold each item's rank with this probability, by "thurstone": one, or one for each row.

        Ranks of 400 draws of all utilities at once, from what is known of them; the same for the same answers.

        >>> poll = OneBitRanker(["tea", "coffee", "milk"], random_state=0)
        >>> for _ in range(60):
        ...     question = poll.ask()
        ...     poll = poll.tell(question, question.answer(["milk", "tea", "coffee"]))
        >>> poll.ranks().shared.tolist()
        [2, 3, 1]
        """
        level = as_number(level, "level", 0.0, 1.0, strict=True)
        stream = self._started()
        scores = score_draws(stream.learner, stream.state, self._predictable(X), _DRAWS)
        if scores is None:
            raise incompatible("learner", self.learner, "intervals of ranks", ["thurstone"])
        found = [RankIntervals.of(scores[:, n], level) for n in range(scores.shape[1])]
        return found[0] if X is None else found

    def score(self, X: ArrayLike | None, y: ArrayLike) -> float:
        """Return Kendall's tau between predicted and true orders, mean over the rows of y: from -1 to 1."""
        space = self._space()
        truth = space.embed(space.labels(y))
        predicted = space.embed(np.atleast_2d(self.predict(X)))
        if X is not None and len(predicted) != len(truth):
            raise InvalidArgument("y", f"{len(predicted)} orders, as X has rows", f"{len(truth)}")
        return float(np.mean(predicted * truth))

    # -- parts ------------------------------------------------------------------------------------

    def _space(self) -> Ranking:
        return Ranking(self.items, self.wording)  # type: ignore[arg-type]  # checked there

    def _learner(self, rows: Array | None, space: Space, horizon: int | None, seed: int) -> Learner[Any]:
        setup = self._setup(rows if self.context_ else None, space, horizon, seed)
        return self._choice().make(replace(setup, context=self.context_))

    def _hidden(self, X: ArrayLike | None, y: Any) -> tuple[Array, Oracle, Space]:
        space = self._space()
        oracle = y if isinstance(y, Oracle) else Oracle(space.labels(y), resample=as_flag(self.resample, "resample"))
        self.__dict__.pop("stream_", None)
        given = self._given(X)
        rows = self._validated(np.repeat(given, len(oracle), axis=0) if X is None else given)
        if len(rows) != len(oracle) and not isinstance(y, Oracle):
            raise InvalidArgument("y", f"{len(rows)} orders, as X has rows", f"{len(oracle)}")
        return rows, oracle, space

    def _given(self, X: ArrayLike | None, live: bool = False) -> Any:
        """Return X, or a constant row where there are none; all calls must agree on whether there are."""
        if self._stream() is not None and self.context_ != (X is not None):
            allowed = "given: this model ranks by rows" if self.context_ else "None: this model has no rows"
            raise InvalidArgument("x" if live else "X", allowed, None if X is None else "rows")
        self.context_ = X is not None
        if X is not None:
            return X
        return _NOWHERE if live else _NOWHERE[None, :]

    def _predictable(self, X: ArrayLike | None) -> Array:
        return np.asarray(self._validated(self._given(X), reset=False))

    def begin_with(self, rows: Array, layout: RowLayout | None = None) -> None:
        self.start(None if rows.shape[1] == 1 and not rows.any() else rows, layout=layout)  # nobody's row is 0

    def _running(self, x: ArrayLike) -> Stream:
        stream = self._stream()
        if stream is None and not self.context_:
            self._validated(_NOWHERE[None, :])
            return self._begin(None, self._space(), None)
        return super()._running(x)
