"""A bank of one-bit Kalman filters: regression by Bayes' rule, with nothing to tune.

One filter has the working model <Y, u> = <x, w> + N(0, s^2), x = phi(row), w ~ N(mu, S).  Asked whether
Y > c, with e = 1 for yes and -1 for no, it matches the moments of the posterior:

    v = x^T S x + s^2 ,   z = e (x^T mu - c) / sqrt(v) ,   Z = pi + (1 - 2 pi) Phi(z)
    h = (1 - 2 pi) N(z) / Z ,   a = e h / sqrt(v) ,   b = h (h + z) / v
    mu <- mu + a S x ,   S <- S - b (S x)(S x)^T ,   log evidence <- log evidence + log Z

where pi is how often answers are flipped.  Where a yes comes with the chance ``guess`` and a no with ``lapse`` whatever
is true, Z = guess + (1 - guess - lapse) Phi(z) for a yes, and the question goes where it should take most variance
(``most_telling``).  Asked at its own median it is stochastic Newton for the
median of Y given x, whatever the noise: s only sets the gain.  For another quantile tau the working
model is shifted, <x, w> = quantile: z = e (x^T mu - s Phi^-1(tau) - c) / sqrt(v), and at rest
P(Y <= c) = tau, again for any noise.

The bank has filters of all noise scales s, prior scales (S = tau^2 I at first) and feature maps (bandwidths of a
kernel), and some that reckon with flips (pi = 0.2).  Before any answer a noise of a twentieth of half the range, and
the middle prior scale, are likelier than others (see ``_grid``).  All learn from every answer; questions are asked at
their mean, weighted by evidence.  Those that the answers speak against are dropped; beside the best one others begin.

Several outputs have a bank each: a question is about one of them, or one of the bundles that may be asked,
drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_choice, as_number, as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import FeatureMap
from askone.labels.number import Real
from askone.learners import abilities
from askone.learners.base import as_uniform
from askone.learners.kalman import _forecasts
from askone.learners.kalman._answers import AnswerBlock, SealedStream
from askone.learners.kalman._bank import ALONE, Judging
from askone.learners.kalman._compiled import PENDING
from askone.learners.kalman._grid import NOISES as NOISES
from askone.learners.kalman._grid import PRIORS as PRIORS
from askone.learners.kalman._grid import FilterGrid
from askone.learners.kalman._predictive import Predictive
from askone.learners.kalman._questions import Questions, most_telling
from askone.learners.kalman._state import BankState
from askone.learners.kalman._updates import OutputUpdates
from askone.learners.kalman._watch import beside
from askone.learners.kalman.pricing import UNIFORMS, Prices
from askone.learners.streaming import Beside, StreamTask
from askone.questions.base import Answer, ErrorRates, Question, known_rates

GOALS = ("value", "revenue")


@final
@dataclass(frozen=True, eq=False)
class FilterLearner(
    abilities.HasDeviation[BankState],
    abilities.HasInterval[BankState],
    abilities.HasThresholds[BankState],
    abilities.HasPrices[BankState],
    abilities.TakesRanges[BankState],
    abilities.Hindsight[BankState],
    abilities.TellsJudged[BankState],
    abilities.AsksMany[BankState],
    abilities.Forgets[BankState],
    abilities.TellsMany[BankState],
    abilities.Streams[BankState],
    abilities.TakesSlopes[BankState],
    abilities.HasRange[BankState],
):
    """Regression to the median, or a quantile, by a bank of one-bit Kalman filters.

    ``diagonal`` keeps only the diagonals of their covariances, for very many features.  ``wary`` is how often answers
    are flipped by what some filters reckon with, whatever is declared: they may have been mixed up for a while.
    ``forgets``: it begins anew when young filters say that the concept has changed (see ``_watch``).
    ``guess`` and ``lapse`` are how often the answer is yes, and no, whatever is true.
    The goal "revenue" asks at the price that earns most instead of the median (see ``pricing``).

    >>> from askone.features.maps import Linear, Scaler
    >>> learner = FilterLearner(Real(0, 100), (Linear(Scaler.identity(1)),))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.empty(0))
    >>> str(question), round(learner.chance(state, [0.0], question), 9)
    ('Is the value above 50?', 0.5)
    >>> state = learner.tell(state, [0.0], question, True)
    >>> learner.predict(state, [[0.0]]).item() > 50
    True
    """

    space: Real
    maps: tuple[FeatureMap, ...]
    noises: tuple[float, ...] = NOISES
    priors: tuple[float, ...] = PRIORS
    quantile: float = 0.5
    flip: float = 0.0
    diagonal: bool = False
    wary: float = 0.0
    forgets: bool = False
    guess: float = 0.0
    lapse: float = 0.0
    goal: str = "value"

    def __post_init__(self) -> None:
        if not self.maps or len({one.columns for one in self.maps}) > 1:
            raise InvalidArgument("maps", "one or more feature maps of rows of one width", len(self.maps))
        for argument, grid in (("noises", self.noises), ("priors", self.priors)):
            if not grid:
                raise InvalidArgument(argument, "at least one positive number", grid)
            for value in grid:
                as_number(value, argument, 0.0, strict=True)
        as_number(self.quantile, "quantile", 0.0, 1.0, strict=True)
        for argument, value in (("flip", self.flip), ("wary", self.wary)):
            if not 0 <= as_number(value, argument, 0.0) < 0.5:
                raise InvalidArgument(argument, "a chance below 1/2", value)
        known_rates(self.guess, self.lapse)
        self._check_goal()
        if self.space.bundles and self.quantile != 0.5:
            # The quantile of a sum is not the sum of the quantiles.
            raise IncompatibleParts("bundles", f"left out for the quantile {self.quantile}, output by output", "some")
        if self.space.bundles and not tell_apart(self.space):
            allowed = (
                "such that most say much of one output: filters keep a variance for each (learner='sgd' takes any)"
            )
            raise IncompatibleParts("bundles", allowed, self.space.bundles)

    def _check_goal(self) -> None:
        if as_choice(self.goal, "goal", GOALS) == "value":
            return
        if self.space.m > 1 or self.quantile != 0.5:
            allowed = "'value' for several outputs, or another quantile than the median"
            raise IncompatibleParts("goal", allowed, self.goal)
        if self.space.lows[0] < 0.0:
            raise InvalidArgument("low", "at least 0 with goal 'revenue': prices are paid", self.space.lows[0])
        if not len(self._prices.offers[0]):
            raise InvalidArgument("decimals", "such that the range holds a price above 0", self.space.decimals)

    # -- configuration, laid out once ---------------------------------------------------------

    @cached_property
    def columns(self) -> int:
        return self.maps[0].columns

    @property
    def width(self) -> int:
        return UNIFORMS if self.goal == "revenue" else self._questions.width

    @cached_property
    def filters(self) -> FilterGrid:
        """The filters that there may be."""
        return FilterGrid(self.maps, self.noises, self.priors, self.quantile, self.flip, self.wary, self.diagonal)

    @property
    def grid(self) -> Array:
        """Feature map, prior scale, noise scale and flip probability of each filter, K x 4."""
        return self.filters.table

    @property
    def size(self) -> int:
        """Features p of the largest map; the others are filled up with zeros."""
        return self.filters.size

    @cached_property
    def _questions(self) -> Questions:
        return Questions(self.space, ErrorRates(self.guess, self.lapse))

    @cached_property
    def _prices(self) -> Prices:
        return Prices(self.filters, self.space)

    @cached_property
    def _outputs(self) -> list[OutputUpdates]:
        return [OutputUpdates(self.filters, self.space, j, self.forgets) for j in range(self.space.m)]

    @cached_property
    def _aside(self) -> float:
        """How many deviations from the median it asks; other quantiles are asked where they are."""
        return most_telling(self._questions.known) if self.quantile == 0.5 else 0.0

    @property
    def local(self) -> bool:
        """See ``TakesSlopes.local``: another quantile than the median trusts its noise further from where it asks."""
        return self.quantile != 0.5

    def within(self, space: Real) -> FilterLearner:
        return replace(self, space=space)

    # -- the four functions ---------------------------------------------------------------------

    def init(self) -> BankState:
        """Return mu = 0 and S = prior^2 I: the middle of the range."""
        return BankState((self.filters.first(),) * self.space.m, 0, (None,) * self.space.m)

    def ask(self, state: BankState, x: ArrayLike, uniform: Array) -> Question:
        """Is the value above the filters' mean?  For one output or bundle, drawn at random."""
        return self._asked(state, as_row(x, self.columns), as_uniform(uniform, self.width)[None])[0]

    def ask_many(self, state: BankState, X: ArrayLike, uniform: Array) -> list[Question]:
        return self._asked(state, as_rows(X, self.columns), np.asarray(uniform))

    def _asked(self, state: BankState, rows: Array, uniform: Array) -> list[Question]:
        if self.goal == "revenue":
            drawn = as_uniform(uniform, len(rows), self.width)
            prices = [self._prices.offer(state.banks[0], rows[i : i + 1], drawn[i]) for i in range(len(rows))]
            return self._questions.priced(np.array(prices), self.count(state))
        believed = self._at(state).mean(rows)
        if self._aside:
            believed = self.space.clipped(believed - self._aside * self._at(state).doubt(rows) * self.space.scale)
        return self.ask_at(believed, uniform, self.count(state))

    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        return self._questions.at(believed, uniform, learnt)

    def tell(self, state: BankState, x: ArrayLike, question: Question, answer: Answer) -> BankState:
        """Return every filter's posterior; any half-space or ``Between`` will do, whoever asked it."""
        return self._posterior(state, x, question, answer, ALONE)

    def tell_asked(self, state: BankState, x: ArrayLike, question: Question, answer: Answer) -> BankState:
        """See ``AsksAt.tell_asked``: the evidence stays.

        Who asks where it knows the label better than the filters gets as many yes as no, where they were sure: by
        their evidence there would be no end of noise.
        """
        return self._posterior(state, x, question, answer, Judging(np.ones(1, np.bool_), ALONE.said))

    def _posterior(
        self, state: BankState, x: ArrayLike, question: Question, answer: Answer, judged: Judging
    ) -> BankState:
        row, bit = as_row(x, self.columns), bool(question.accept(answer))
        banks, watches = list(state.banks), list(state.watches)
        others = [bank for watch in watches for bank in beside(watch)]
        features = self.filters.features(row, self.filters.in_use(*banks, *others))
        slips = self._questions.slips(question)
        shares = self._questions.shares(question, lambda j: _forecasts.moments(self.filters, state.banks[j], features))
        for share in shares:
            j, block = share.output, AnswerBlock.told(np.array([share.told(bit, slips)]), judged)
            bank = self._outputs[j].advanced(banks[j].opened(1), features, block)
            banks[j], watches[j] = self._outputs[j].watched(bank, watches[j], row, features, block)
        return BankState(tuple(banks), state.answers + 1, tuple(watches))

    def tell_many(
        self, state: BankState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> BankState:
        """See ``TellsMany.tell_many``: in blocks, where there is one output."""
        rows = as_rows(X, self.columns)
        if self.space.m > 1:
            for x, question, answer in zip(rows, questions, answers, strict=True):
                state = self.tell(state, x, question, answer)
            return state
        return self._learnt(state, rows, self._told(questions, answers))

    def tell_judged(
        self, state: BankState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer], quiet: Array
    ) -> abilities.Judgement[BankState]:
        """See ``TellsJudged.tell_judged``: in blocks, where there is one output and S is not diagonal."""
        rows = as_rows(X, self.columns)
        if self.space.m > 1 or self.diagonal:
            states = [state]
            for x, question, answer, asked in zip(rows, questions, answers, quiet, strict=True):
                states.append((self.tell_asked if asked else self.tell)(states[-1], x, question, answer))
            before = states[:-1]
            each = np.array([self.predict(one, x[None])[0] for one, x in zip(before, rows, strict=True)])
            return abilities.Judgement(states[-1], each, np.array([self.known(one) for one in before]))
        said, known = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
        judged = Judging(np.ascontiguousarray(quiet), said)
        after = self._learnt(state, rows, self._told(questions, answers), judged, known)
        return abilities.Judgement(after, self.space.clipped(self.space.from_unit(said[:, None])), known)

    def _told(self, questions: Sequence[Question], answers: Sequence[Answer]) -> Array:
        """Return answers about the only output as ``Watch`` keeps them, n x 6."""
        bits = [bool(question.accept(answer)) for question, answer in zip(questions, answers, strict=True)]
        if len(bits) == 1:  # somebody waits
            share = self._questions.share(questions[0])
            assert share is not None
            return np.array([share.told(bits[0], self._questions.slips(questions[0]))])
        sign, low, high, yes, no = self._questions.told(questions).T
        above, turned = np.array(bits, dtype=bool) == (sign > 0), sign < 0
        slips = np.where(turned, no, yes), np.where(turned, yes, no)
        return np.column_stack([low, above, np.zeros(len(bits)), high, *slips])

    def _learnt(
        self, state: BankState, rows: Array, told: Array, judged: Judging = ALONE, known: Array | None = None
    ) -> BankState:
        """Return the state of one output after some answers."""
        (bank,), (watch,) = state.banks, state.watches
        bank, watch = self._outputs[0].learnt(bank, watch, rows, told, judged, known)
        return BankState((bank,), state.answers + len(rows), (watch,))

    # -- what the filters say -------------------------------------------------------------------

    def _at(self, state: BankState) -> Predictive:
        return Predictive(self.filters, self.space, state.banks)

    def predict(self, state: BankState, X: ArrayLike) -> Array:
        return self._at(state).mean(as_rows(X, self.columns))

    def std(self, state: BankState, X: ArrayLike) -> Array:
        return self._at(state).std(as_rows(X, self.columns))

    def forecast(self, state: BankState, X: ArrayLike) -> Array:
        """Return the quantile of a label as far as it is known, n x m (see ``Predictive.forecast``)."""
        return self._at(state).forecast(as_rows(X, self.columns))

    def interval(self, state: BankState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array]:
        """Return ends that hold ``level`` (0.9) of the labels (see ``Predictive.interval``)."""
        wanted = 0.9 if level is None else as_number(level, "level", 0.0, 1.0, strict=True)
        return self._at(state).interval(as_rows(X, self.columns), wanted)

    def thresholds(self, state: BankState, X: ArrayLike, level: float | None, held: float) -> Array:
        """See ``HasThresholds.thresholds``: where P(Y > t) = (level - guess) / (1 - guess - lapse)."""
        trust = self._questions.known.trust
        p = 0.5 if level is None else (as_number(level, "level", 0.0, 1.0, strict=True) - self.guess) / trust
        if not 0.0 < p < 1.0:
            raise InvalidArgument("level", f"between {self.guess:g} and {1.0 - self.lapse:g}, guess and lapse", level)
        return self._at(state).thresholds(as_rows(X, self.columns), p, held)

    def noise(self, state: BankState, held: float) -> Array:
        return self._at(state).noise(held)

    def prices(self, state: BankState, X: ArrayLike) -> Array:
        """See ``HasPrices.prices``: by the filters' forecasts of the value at each row."""
        if self.space.m > 1 or not len(self._prices.offers[0]):
            allowed = "rows whose label is one number above 0, for prices"
            raise InvalidArgument("X", allowed, f"{self.space.m} up to {self.space.highs[0]:g}")
        return self._at(state).prices(as_rows(X, self.columns), self._prices)

    def count(self, state: BankState) -> int:
        return state.answers

    def known(self, state: BankState) -> int:
        return min(bank.count for bank in state.banks)

    def chance(self, state: BankState, x: ArrayLike, question: Question) -> float:
        """Return P(yes): the filters' word, by weight."""
        row, banks = as_row(x, self.columns), state.banks
        features = self.filters.features(row, self.filters.in_use(*banks)) if len(banks) > 1 else np.empty(0)
        share = self._questions.shares(question, lambda j: _forecasts.moments(self.filters, banks[j], features))[0]
        slips = self._questions.slips(question)
        return _forecasts.chance(self.filters, banks[share.output], row, share, slips)

    def worth(self, state: BankState, X: ArrayLike) -> Array:
        """Return what the answer about each row tells of all these rows, in nats (see ``_forecasts.worth``).

        With the goal "revenue" rows are customers, who come as they come: all are equal.
        """
        if self.goal == "revenue":
            return np.zeros(len(as_rows(X, self.columns)))
        return _forecasts.worth(self.filters, state.banks, as_rows(X, self.columns))

    def hindsight(
        self, state: BankState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """See ``Hindsight.hindsight``: questions about several outputs are left at 1/2."""
        rows, out = as_rows(X, self.columns), np.full(len(questions), 0.5)
        if self.space.m == 1 and len(rows):
            asked = np.insert(self._questions.told(questions), 3, answers, axis=1)
            said = _forecasts.hindsight(self.filters, state.banks[0], rows, asked)
            return np.asarray(self.guess + self._questions.known.trust * said)
        told: list[dict[int, tuple[float, ...]]] = [{} for _ in state.banks]
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            share = self._questions.share(question)
            if share is not None:
                slips = self._questions.slips(question)
                told[share.output][i] = (share.sign, share.low, share.high, answer, *slips)
        for bank, mine in zip(state.banks, told, strict=True):
            if mine:
                places = list(mine)
                said = _forecasts.hindsight(self.filters, bank, rows[places], np.array(list(mine.values())))
                # What comes of guesses and lapses is nobody's slip.
                out[places] = self.guess + self._questions.known.trust * said
        return out

    def relearnt(self, state: BankState, X: Array, questions: Sequence[Question], answers: Sequence[bool]) -> BankState:
        """See ``Hindsight.relearnt``: by filters near those that are left: another one of them may be right."""
        return self.relearnt_judged(state, X, questions, answers, np.zeros(len(X), np.bool_))

    def relearnt_judged(
        self, state: BankState, X: Array, questions: Sequence[Question], answers: Sequence[bool], quiet: Array
    ) -> BankState:
        """See ``TellsJudged.relearnt_judged``."""
        if self.space.m > 1:
            return state
        (before,), (watch,) = state.banks, state.watches
        if before.count < state.answers == len(X):  # slips may have looked like a change: it is judged anew
            return self.tell_judged(self.init(), X, questions, answers, quiet).state
        told = self._told(questions, answers)
        last = slice(len(X) - before.count, None)  # since the concept is what it is
        judged = Judging(np.ascontiguousarray(quiet[last]), ALONE.said)
        bank, _ = self._outputs[0].learnt(
            self.filters.first_near(before), None, X[last], told[last], judged, watched=False
        )
        # Whoever watches compares evidence with that of before, which was of other chances.
        by = float(bank.evidence.max() - before.evidence.max())
        return replace(state, banks=(bank,), watches=(None if watch is None else watch.raised(by),))

    # -- streams, and the state as a value --------------------------------------------------------

    def stream(self, state: BankState, X: Array, task: StreamTask) -> BankState:
        """See ``Streams.stream``: an output at a time, in blocks, where questions are about one output."""
        if self.space.bundles or self._questions.known.trust < 1.0 or self.goal == "revenue":
            return cast(BankState, abilities.row_by_row(self, state, X, task))
        exam = self.exam(X, task, task.draw(task.first, len(X)))
        state = self.examined(state, exam, np.arange(len(X)))
        exam.heard(task)
        return state

    def stream_beside(
        self, state: BankState, X: Array, task: StreamTask, beside: Beside
    ) -> tuple[int, BankState] | None:
        """See ``TellsJudged.stream_beside``: of one output, where S is not diagonal and answers are honest."""
        if self.space.m > 1 or self.diagonal or self._questions.known.trust < 1.0 or self.goal == "revenue":
            return None
        (bank,), (watch,) = state.banks, state.watches
        bank, done, heard, same = bank.opened(PENDING), 0, 0, True
        while done < len(X) and same:
            known, part = bank.count, slice(done, done + PENDING - bank.pending)
            rows, some = X[part], task.part(part.start, part.stop)
            n, others = len(rows), beside.later(part, heard, known, state.answers + heard)
            judged = Judging(np.zeros(n, np.bool_), ALONE.said, others)
            block = AnswerBlock.sealed(n, some, np.ones((n, 1)), judged)
            exam = SealedStream(self.space, rows, np.zeros(n, np.int64), block)
            bank, watch = self._outputs[0].after(bank, watch, rows, exam.asked)
            exam.heard(some)
            more = int(np.count_nonzero(exam.asked.heard))
            done, heard, same = done + n, heard + more, bank.count == known + more
        return done, BankState((bank,), state.answers + heard, (watch,))

    def exam(self, X: Array, task: StreamTask, uniform: Array) -> SealedStream:
        """Return the respondent's sealed answers to a question about each row, of the output that the uniforms say."""
        chosen = self._questions.chosen(uniform)
        return SealedStream(self.space, X, chosen, AnswerBlock.sealed(len(X), task, np.eye(self.space.m)[chosen]))

    def examined(self, state: BankState, exam: SealedStream, places: Array) -> BankState:
        """Return the state after asking about some rows; what was asked and answered is written into the stream."""
        banks, watches = list(state.banks), list(state.watches)
        for j, output in enumerate(self._outputs):
            mine = places[exam.chosen[places] == j]
            banks[j], watches[j] = output.streamed(banks[j], watches[j], exam.X, mine, exam.asked)
        told = int(np.count_nonzero(exam.asked.heard[places]))
        return BankState(tuple(banks), state.answers + told, tuple(watches))

    def to_arrays(self, state: BankState) -> dict[str, Array]:
        return state.to_arrays()

    def from_arrays(self, arrays: dict[str, Array]) -> BankState:
        return BankState.from_arrays(self.filters.kind, arrays)


def tell_apart(space: Real) -> bool:
    """Return whether bundles say enough of each output by itself for a bank each, which knows no covariances.

    With H the mean of u u^T over the bundles and D its diagonal, the banks take steps of D^-1 / t where
    H^-1 / t would be right: that is as fast, up to a constant, where the eigenvalues of D^-1 H exceed 1/2.

    >>> [tell_apart(Real(0, [9, 9], bundles=b)) for b in (((1, 0), (2, 1), (0, 1)), ((2, 1), (1, 2)))]
    [True, False]
    """
    bundles = np.array(space.unit_bundles)
    u = bundles / np.linalg.norm(bundles, axis=1, keepdims=True)
    H = u.T @ u
    return float(np.linalg.eigvalsh(H / np.sqrt(np.outer(H.diagonal(), H.diagonal())))[0]) > 0.5
