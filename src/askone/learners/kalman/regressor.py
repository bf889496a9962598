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
kernel), and some that reckon with flips (pi = 0.2).  All learn from every answer; questions are asked at their mean,
weighted by evidence.  Those that the answers speak against are dropped; beside the best one others begin.

Several outputs have a bank each: a question is about one of them, or one of the bundles that may be asked,
drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from askone._common.arithmetic import log, normal_cdf, normal_quantile
from askone._common.compiled import dot, paired_dots, times
from askone._common.types import Array
from askone._common.validate import as_choice, as_number, as_row, as_rows
from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.maps import FeatureMap
from askone.labels.number import Real
from askone.learners import step_loops
from askone.learners.abilities import (
    AsksMany,
    Forgets,
    HasDeviation,
    HasInterval,
    HasPrices,
    HasRange,
    HasThresholds,
    Hindsight,
    Judgement,
    Streams,
    TakesRanges,
    TakesSlopes,
    TellsJudged,
    TellsMany,
    row_by_row,
)
from askone.learners.base import as_uniform, marked, of_family, unmarked
from askone.learners.cavity import without
from askone.learners.kalman import _compiled, _watch, pricing
from askone.learners.kalman._bank import MANY, Bank, DiagonalBank, FullBank, Judged
from askone.learners.kalman._watch import SHORT, Trial, Watch
from askone.learners.row_shift import RowMoments
from askone.learners.streaming import StreamBlock, StreamTask
from askone.questions.base import Answer, ErrorRates, Question, known_rates
from askone.questions.between import Between
from askone.questions.half_space import HalfSpace, bundle_question, half_space, in_unit_labels

NOISES = tuple(float(f"{10 ** (k / 4 - 4):.3g}") for k in range(19))
PRIORS = (0.1, 0.5, 2.5)
GOALS = ("value", "revenue")
_LAPSE = 0.12  # of the rarer answer, in the weights alone: a surprise or two is no proof against a filter
_UNLIKELY = 4.0  # nats, of evidence against flips that nobody declared, and against noise beyond the range
_RARE = 0.43  # how many nats e times as much noise is likelier where the rarer answer is e times as rare as the other
_YOUNG = 1.0  # nats that a filter is behind the one that it begins as
_UNROUNDED = 99
_CHUNK = 4096  # rows looked at in one go
_OTHERS = 64  # rows that stand for all
_HEARD = 0.5  # of the largest weight: filters below it have no say in which row to ask about, as somebody waits
_FIRST_LOOK = 64  # answers before any filter is dropped
_SECOND_LOOK = 1024  # answers before noise scales between the others come in
_BEHIND = 30.0  # in nats of evidence: such a filter has no weight, nor hope of any
_GROUPS = 2  # pairs of feature map and prior scale that are kept to the end
_LEVEL, _MOST_LEVEL = 3.0, 8  # nats behind the best: of such pairs more are kept, where answers say little
_FAINT = 1e-5  # of the largest weight: filters below it have no say in deviations and intervals of many rows
_WIDER = 1.4  # for the variance that a filter claims of a quantile: chosen by coverage in simulations
_HALVINGS = 45
_NEAR = 1e-11  # of a quantile, in unit labels
_ROOT = math.sqrt(2 * math.pi)
_HEAVY = 0.05  # of the largest weight: other filters have no say in hindsight
_FAR = 10.0  # deviations from a filter's mean that no quantile is asked for


@final
@dataclass(frozen=True, eq=False)
class BankState:
    """A bank for each output, how many answers were told, and who watches for a change of the concept, later on."""

    banks: tuple[Bank, ...]
    answers: int
    watches: tuple[Watch | Trial | None, ...]


@final
@dataclass(frozen=True, eq=False)
class FilterLearner(
    HasDeviation[BankState],
    HasInterval[BankState],
    HasThresholds[BankState],
    HasPrices[BankState],
    TakesRanges[BankState],
    Hindsight[BankState],
    TellsJudged[BankState],
    AsksMany[BankState],
    Forgets[BankState],
    TellsMany[BankState],
    Streams[BankState],
    TakesSlopes[BankState],
    HasRange[BankState],
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
            raise IncompatibleParts(
                "goal", "'value' for several outputs, or another quantile than the median", self.goal
            )
        if self.space.lows[0] < 0.0:
            raise InvalidArgument("low", "at least 0 with goal 'revenue': prices are paid", self.space.lows[0])

    # -- configuration, laid out once ---------------------------------------------------------

    @cached_property
    def columns(self) -> int:
        return self.maps[0].columns

    @cached_property
    def width(self) -> int:
        """Uniforms per question: one, to choose the output, where there are several; an offer takes others."""
        if self.goal == "revenue":
            return pricing.UNIFORMS
        return 0 if len(self.space.askable) == 1 else 1

    @cached_property
    def size(self) -> int:
        """Features p of the largest map; the others are filled up with zeros."""
        return max(one.size for one in self.maps)

    @cached_property
    def grid(self) -> Array:
        """Feature map, prior scale, noise scale and flip probability of each filter, K x 4."""
        flips, places = sorted({self.flip, max(self.flip, self.wary)}), range(len(self.maps))
        return np.array([(g, t, s, pi) for pi in flips for g in places for t in self.priors for s in self.noises])

    @cached_property
    def _ends(self) -> list[tuple[float, float]]:
        """Between which thresholds each output is asked."""
        low, high = self.space.clipped([[-math.inf] * self.space.m, [math.inf] * self.space.m]).tolist()
        return list(zip(low, high, strict=True))

    @cached_property
    def _lean(self) -> float:
        return float(normal_quantile(self.quantile))

    @cached_property
    def _known(self) -> ErrorRates:
        return ErrorRates(self.guess, self.lapse)

    @cached_property
    def _aside(self) -> float:
        """How many deviations from the median it asks; other quantiles are asked where they are."""
        return most_telling(self._known) if self.quantile == 0.5 else 0.0

    def _slips(self, question: Question) -> ErrorRates:
        """Return how an honest answer comes out: by what is known of all answers, then of whoever gives this one."""
        return self._known.then(question.slips) if self._known.trust < 1.0 else question.slips

    # -- the four functions ---------------------------------------------------------------------

    def init(self) -> BankState:
        """Return mu = 0 and S = prior^2 I: the middle of the range."""
        return BankState((self._first(),) * self.space.m, 0, (None,) * self.space.m)

    def _first(self) -> Bank:
        """Return every second noise scale; of wary filters every fourth, from the noisiest on, at the middle prior."""
        place = np.arange(len(self.grid))
        noisier = len(self.noises) - 1 - place % len(self.noises)
        prior = place // len(self.noises) % len(self.priors)
        spare = (noisier % 4 == 0) & (prior == len(self.priors) // 2)
        alive = np.flatnonzero(np.where(self.grid[:, 3] == self.flip, place % len(self.noises) % 2 == 0, spare))
        doubts = (self.grid[alive, 3] > self.flip) + (self.grid[alive, 2] > 1.0)
        rarer = _RARE * log(0.5 / min(self.quantile, 1 - self.quantile))
        noisier = np.array([rarer * log(s) for s in self.grid[alive, 2].tolist()])
        return replace(self._begun(alive), evidence=noisier - _UNLIKELY * doubts)

    def _begun(self, alive: Array) -> Bank:
        """Return filters that know nothing."""
        return self._kind.begun(alive, self.grid[alive, 1], self.size)

    @property
    def _kind(self) -> type[Bank]:
        return DiagonalBank if self.diagonal else FullBank

    @property
    def local(self) -> bool:
        """See ``TakesSlopes.local``: another quantile than the median trusts its noise further from where it asks."""
        return self.quantile != 0.5

    def within(self, space: Real) -> FilterLearner:
        return replace(self, space=space)

    def ask(self, state: BankState, x: ArrayLike, uniform: Array) -> Question:
        """Is the value above the filters' mean?  For one output or bundle, drawn at random."""
        return self._questions(state, as_row(x, self.columns), as_uniform(uniform, self.width)[None])[0]

    def ask_many(self, state: BankState, X: ArrayLike, uniform: Array) -> list[Question]:
        return self._questions(state, as_rows(X, self.columns), np.asarray(uniform))

    def tell(self, state: BankState, x: ArrayLike, question: Question, answer: Answer) -> BankState:
        """Return every filter's posterior; any half-space or ``Between`` will do, whoever asked it."""
        return self._posterior(state, x, question, answer, None)

    def tell_asked(self, state: BankState, x: ArrayLike, question: Question, answer: Answer) -> BankState:
        """See ``AsksAt.tell_asked``: the evidence stays.

        Who asks where it knows the label better than the filters gets as many yes as no, where they were sure: by
        their evidence there would be no end of noise.
        """
        return self._posterior(state, x, question, answer, (np.ones(1, np.bool_), np.empty(0)))

    def _posterior(
        self, state: BankState, x: ArrayLike, question: Question, answer: Answer, judged: Judged
    ) -> BankState:
        row, bit = as_row(x, self.columns), bool(question.accept(answer))
        features = self._features(row, self._in_use(*state.banks, *_beside(*state.watches)))
        banks, watches = list(state.banks), list(state.watches)
        if isinstance(question, Between):
            low, high = self._between(question)
            shares = {0: (True, low, 0.0)}
        else:
            shares, high = self._shares(state, features, *self._told(question)), math.inf
        for j, (side, threshold, extra) in shares.items():
            slips = self._slips(question)[:: 1 if side else -1]
            told = _Asked.told(np.array([threshold]), np.array([bit == side]), np.array([slips]))
            banks[j] = self._advanced(banks[j].opened(1), j, features, told, extra, high, judged=judged)
            banks[j], watches[j] = self._watched(banks[j], watches[j], j, row, features, told, extra, high, judged)
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
        told = np.array([self._as_told(*one) for one in zip(questions, answers, strict=True)]).reshape(-1, 6)
        bank, watch = self._learnt(state.banks[0], state.watches[0], 0, rows, told, watched=True)
        return BankState((bank,), state.answers + len(rows), (watch,))

    def tell_judged(
        self, state: BankState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[Answer], quiet: Array
    ) -> Judgement[BankState]:
        """See ``TellsJudged.tell_judged``: in blocks, where there is one output and S is not diagonal."""
        rows = as_rows(X, self.columns)
        if self.space.m > 1 or self.diagonal:
            states = [state]
            for x, question, answer, asked in zip(rows, questions, answers, quiet, strict=True):
                states.append((self.tell_asked if asked else self.tell)(states[-1], x, question, answer))
            before = states[:-1]
            each = np.array([self.predict(one, x[None])[0] for one, x in zip(before, rows, strict=True)])
            return Judgement(states[-1], each, np.array([self.known(one) for one in before]))
        told = np.array([self._as_told(*one) for one in zip(questions, answers, strict=True)]).reshape(-1, 6)
        said, known = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
        judged = (np.ascontiguousarray(quiet), said)
        bank, watch = self._learnt(state.banks[0], state.watches[0], 0, rows, told, True, judged, known)
        after = BankState((bank,), state.answers + len(rows), (watch,))
        return Judgement(after, self.space.clipped(self.space.from_unit(said[:, None])), known)

    def _as_told(self, question: Question, answer: Answer) -> tuple[float, ...]:
        """Return an answer about the only output as ``Watch`` keeps it."""
        bit = bool(question.accept(answer))
        if isinstance(question, Between):
            low, high = self._between(question)
            return low, bit, 0.0, high, *self._slips(question)
        (weight,), c = self._told(question)
        slips = self._slips(question)[:: 1 if weight > 0 else -1]
        return c / weight, bit == (weight > 0), 0.0, math.inf, *slips

    def predict(self, state: BankState, X: ArrayLike) -> Array:
        """Return the mean of the filters, in the user's units."""
        rows = as_rows(X, self.columns)
        values = np.zeros((len(rows), self.space.m))
        thetas = [bank.blended(self._places(bank), len(self.maps)) for bank in state.banks]
        for g in self._in_use(*state.banks):
            features = self.maps[g](rows)
            for j, theta in enumerate(thetas):
                values[:, j] += times(features, theta[g, : features.shape[1]])
        return self.space.clipped(self.space.from_unit(values))

    def std(self, state: BankState, X: ArrayLike) -> Array:
        """Return the standard deviation of what is predicted (not of the labels), in the user's units, n x m."""

        def spread_of(bank: Bank, at: Array, spread: Array) -> Array:
            return np.asarray(np.sqrt(bank.weights @ (spread + (at - bank.weights @ at) ** 2)))

        return np.asarray(self._each(state, X, spread_of) * self.space.scale)

    def forecast(self, state: BankState, X: ArrayLike) -> Array:
        """Return the quantile of a label as far as it is known, n x m: t with P(Y <= t) = tau by weighted filters.

        Filter k says N(mu - s Phi^-1(tau), s^2 + 1.4 q).  More than q, its variance, is a rule of thumb: which filter
        is right, and that no feature map quite is, is not in q, and simulated intervals of q alone were too narrow.
        """

        def end_of(bank: Bank, at: Array, spread: Array) -> Array:
            return self._quantile_of(bank, at, _WIDER * spread, self.quantile, math.inf)

        return self.space.clipped(self.space.from_unit(self._each(state, X, end_of)))

    def interval(self, state: BankState, X: ArrayLike, level: float | None = None) -> tuple[Array, Array]:
        """Return ends that hold ``level`` (0.9) of the labels by the filters' forecasts, n x m each.

        Filter k says N(mu - s Phi^-1(tau), s^2 + q), of which only what is within a declared range can be.  The noise
        s is what fits where it was asked: intervals that hold for any law of labels ask about their ends (see
        ``Intervals``).
        """
        wanted = 0.9 if level is None else as_number(level, "level", 0.0, 1.0, strict=True)
        end = math.inf if self.space.is_found else 1.0

        def ends_of(bank: Bank, at: Array, spread: Array) -> Array:
            return np.array([self._quantile_of(bank, at, spread, 0.5 + side * wanted / 2, end) for side in (-1, 1)])

        low, high = (self.space.clipped(self.space.from_unit(end)) for end in self._each(state, X, ends_of, 2))
        return low, high

    def thresholds(self, state: BankState, X: ArrayLike, level: float, held: float) -> Array:
        """See ``HasThresholds.thresholds``.

        With p = (level - guess) / (1 - guess - lapse), filter k says N(mu - s (Phi^-1(tau) + Phi^-1(p)), 1.4 q) of it
        (1.4 as in ``forecast``), and all of them by weight.
        """
        p = (as_number(level, "level", 0.0, 1.0, strict=True) - self.guess) / self._known.trust
        if not 0.0 < p < 1.0:
            raise InvalidArgument("level", f"between {self.guess:g} and {1.0 - self.lapse:g}, guess and lapse", level)
        aside, ends = self._lean + normal_quantile(p), _tails(held)

        def ends_of(bank: Bank, at: Array, spread: Array) -> Array:
            noise, deviation = self.grid[bank.alive, 2, None], np.sqrt(_WIDER * spread)
            return np.array([_mixed(bank.weights, at - aside * noise, deviation, tau, math.inf) for tau in ends])

        return self.space.from_unit(self._each(state, X, ends_of, 3))

    def noise(self, state: BankState, held: float) -> Array:
        """See ``HasThresholds.noise``: quantiles of the weights, each spread evenly in log s towards its neighbours."""
        found, tails = np.empty((3, self.space.m)), _tails(held)
        for j, bank in enumerate(state.banks):
            logs, which = np.unique(np.log(self.grid[bank.alive, 2]), return_inverse=True)
            between = (logs[1:] + logs[:-1]) / 2
            reach = math.log(self.noises[-1] / self.noises[0]) / max(len(self.noises) - 1, 1)  # half of a first step
            edges = np.concatenate([[logs[0] - reach], between, [logs[-1] + reach]])
            below = np.append(0.0, np.cumsum(np.bincount(which, bank.weights)))
            found[:, j] = np.exp(np.interp(tails, below, edges)) * self.space.scales[j]
        return found

    def _quantile_of(self, bank: Bank, at: Array, spread: Array, tau: float, end: float) -> Array:
        """Return t with P(Y <= t | -end <= Y <= end) = tau by weighted filters, in unit labels, for each row."""
        noise = self.grid[bank.alive, 2, None]
        return _mixed(bank.weights, at - self._lean * noise, np.sqrt(spread + noise**2), tau, end)

    def count(self, state: BankState) -> int:
        return state.answers

    def known(self, state: BankState) -> int:
        return min(bank.count for bank in state.banks)

    def chance(self, state: BankState, x: ArrayLike, question: Question) -> float:
        """Return p(yes): the filters' word, by weight."""
        row, (bank, *_) = as_row(x, self.columns), state.banks
        if isinstance(question, Between):
            low, high = self._between(question)
            return self._said(bank, self._above(bank, row, low) - self._above(bank, row, high), question)
        features = self._features(row, self._in_use(*state.banks)) if len(state.banks) > 1 else np.empty(0)
        ((j, (side, threshold, extra)), *_) = self._shares(state, features, *self._told(question)).items()
        above = self._above(state.banks[j], row, threshold, extra)
        return self._said(state.banks[j], above if side else 1 - above, question)

    def _above(self, bank: Bank, row: Array, c: float, extra: float = 0.0) -> Array:
        """Return P(label > c) of each filter, at one row."""
        at, spread = bank.seen_at(row, lambda: self._features(row, self._in_use(bank)), self._places(bank))
        noise = self.grid[bank.alive, 2]
        z = (at[:, 0] - self._lean * noise - c) / np.sqrt(spread[:, 0] + noise * noise + extra)
        return np.array([normal_cdf(one) for one in z.tolist()])

    def _said(self, bank: Bank, chances: Array, question: Question) -> float:
        """Return how likely "yes" is where it is right with these chances: answers may be flipped."""
        flip, slips = self.grid[bank.alive, 3], self._slips(question)
        heard = flip + (1 - 2 * flip) * (slips.yes + slips.trust * chances)
        return float(dot(bank.weights, heard))

    def hindsight(
        self, state: BankState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """See ``Hindsight.hindsight``: by the filters of most weight, each without the answer (see ``without``)."""
        rows, out = as_rows(X, self.columns), np.full(len(questions), 0.5)
        sides = [self._side(question) for question in questions]
        for j, bank in enumerate(state.banks):
            mine = np.array([i for i, side in enumerate(sides) if side is not None and side[0] == j], dtype=np.int64)
            heavy = np.flatnonzero(bank.weights > _HEAVY * bank.weights.max())
            if not len(mine):
                continue
            bank = bank.taken(heavy)
            seen = bank.seen(self._features(rows[mine], self._in_use(bank)), self._places(bank))
            told = np.array([(*sides[i][1:], answers[i], *self._slips(questions[i])) for i in mine.tolist()])
            noise, flip = self.grid[bank.alive, 2:].T
            said = [
                self._honest(at - self._lean * s, q, s, pi, *told.T)
                for at, q, s, pi in zip(*seen, noise.tolist(), flip.tolist(), strict=True)
            ]
            # What comes of guesses and lapses is nobody's slip.
            out[mine] = self.guess + self._known.trust * (bank.weights @ np.array(said))
        return out

    def relearnt(self, state: BankState, X: Array, questions: Sequence[Question], answers: Sequence[bool]) -> BankState:
        """See ``Hindsight.relearnt``: by all filters, as it may be another one that is right."""
        return self.relearnt_judged(state, X, questions, answers, np.zeros(len(X), np.bool_))

    def relearnt_judged(
        self, state: BankState, X: Array, questions: Sequence[Question], answers: Sequence[bool], quiet: Array
    ) -> BankState:
        """See ``TellsJudged.relearnt_judged``."""
        if self.space.m > 1:
            return state
        if state.banks[0].count < state.answers == len(X):  # slips may have looked like a change: it is judged anew
            return self.tell_judged(self.init(), X, questions, answers, quiet).state
        told = np.array([self._as_told(*one) for one in zip(questions, answers, strict=True)]).reshape(-1, 6)
        last = slice(len(X) - state.banks[0].count, None)  # since the concept is what it is
        judged = (np.ascontiguousarray(quiet[last]), np.zeros(state.banks[0].count)) if quiet.any() else None
        bank, _ = self._learnt(self._first(), None, 0, X[last], told[last], watched=False, judged=judged)
        # Whoever watches compares evidence with that of before, which was of other chances.
        by, watch = float(bank.evidence.max() - state.banks[0].evidence.max()), state.watches[0]
        return replace(state, banks=(bank,), watches=(None if watch is None else watch.raised(by),))

    def _side(self, question: Question) -> tuple[int, float, float, float] | None:
        """Return which output a question is about, the sign of "above", and the ends; None: several."""
        if isinstance(question, Between):
            return 0, 1.0, *self._between(question)
        u, c = self._told(question)
        inside = [j for j, weight in enumerate(u) if weight != 0.0]
        j = inside[0]
        return (j, math.copysign(1.0, u[j]), c / u[j], math.inf) if len(inside) == 1 else None

    def _honest(
        self, m: Array, q: Array, s: float, flip: float, sign: Array, low: Array, high: Array, bit: Array, yes: Array,
        no: Array,
    ) -> Array:  # fmt: skip
        """Return P(yes) by one filter that says N(m, q) of the value at each row, its answer in it."""
        left = 1.0 - yes - no
        floor, trust = flip + (1.0 - 2.0 * flip) * np.where(bit > 0, yes, no), left * (1.0 - 2.0 * flip)
        ends = np.isfinite(high)  # of a range its own answer stays in: such questions are few
        m_c, q_c = without(m, q, s * s, low, np.where(bit > 0, sign, -sign), floor, trust)
        m_c, q_c = np.where(ends, m, m_c), np.where(ends, q, q_c)
        root = np.sqrt(q_c + s * s)
        above = ndtr(sign * (m_c - low) / root)
        return np.asarray(np.where(ends, above - ndtr((m_c - high) / root), above))

    def worth(self, state: BankState, X: ArrayLike) -> Array:
        """Return what the answer about each row tells of the predictions at all these rows, in nats, mean over them.

        With C the covariance of predictions at rows i and j, q_i = C_ii and noise s, a bit at the median of
        row i takes (2/pi) C_ij^2 / (q_i + s^2) from the variance at j, so it tells

            -log(1 - (2/pi) C_ij^2 / (q_j (q_i + s^2))) / 2

        of it.  The variance at the row itself would be a poor guide: it is largest far from all others.  Of
        many rows some, evenly spaced, stand for all.  With the goal "revenue" rows are customers, who come as they
        come: all are equal.
        """
        if self.goal == "revenue":
            return np.zeros(len(as_rows(X, self.columns)))
        rows, wanted = as_rows(X, self.columns), self._in_use(*state.banks)
        some = -(-len(rows) // _OTHERS)
        if len(rows) <= _CHUNK:
            features = self._features(rows, wanted)
            return self._told_of(state, features, np.ascontiguousarray(features[:, ::some]))
        others = self._features(rows[::some], wanted)
        chunks = [rows[first : first + _CHUNK] for first in range(0, len(rows), _CHUNK)]
        return np.concatenate([self._told_of(state, self._features(chunk, wanted), others) for chunk in chunks])

    def _told_of(self, state: BankState, features: Array, others: Array) -> Array:
        """Return what an answer about each row tells of the predictions at others, by the filters that lead."""
        told = np.zeros(features.shape[1])
        for bank in state.banks:
            weights, noise, places = bank.weights, self.grid[bank.alive, 2], self._places(bank)
            for k in np.flatnonzero(weights >= _HEARD * weights.max()):
                Y, Z = (bank.roots(int(k), one[places[k]]) for one in (features, others))
                told += weights[k] * _compiled.told_of(Y, Z, noise[k])
        return told / self.space.m

    def to_arrays(self, state: BankState) -> dict[str, Array]:
        counts = [state.answers, *(bank.count for bank in state.banks)]
        arrays: dict[str, Array] = {"counts": np.array(counts)}
        for j, bank in enumerate(state.banks):
            arrays |= {f"{name}-{j}": array for name, array in bank.arrays().items()}
        for j, watch in enumerate(state.watches):
            arrays |= {} if watch is None else marked(f"watch-{j}-", watch.to_arrays())
        return arrays

    def from_arrays(self, arrays: dict[str, Array]) -> BankState:
        answers, *counts = arrays["counts"].tolist()
        kind = self._kind
        banks = [kind(n, **{name: arrays[f"{name}-{j}"] for name in kind.parts}) for j, n in enumerate(counts)]
        kept = [unmarked(f"watch-{j}-", arrays) for j in range(len(banks))]
        watches = tuple(_watch.from_arrays(kind, one) for one in kept)
        return BankState(tuple(banks), answers, watches)

    def stream(self, state: BankState, X: Array, task: StreamTask) -> BankState:
        """See ``Streams.stream``: an output at a time, in blocks, where questions are about one output."""
        if self.space.bundles or self._known.trust < 1.0 or self.goal == "revenue":
            return cast(BankState, row_by_row(self, state, X, task))
        exam = self.exam(X, task, task.draw(task.first, len(X)))
        state = self.examined(state, exam, np.arange(len(X)))
        exam.heard(task)
        return state

    def exam(self, X: Array, task: StreamTask, uniform: Array) -> Exam:
        """Return the respondent's sealed answers to a question about each row, of the output that the uniforms say."""
        chosen = self._chosen(uniform)
        return Exam(self.space, X, chosen, _Asked.of(len(X), task, np.eye(self.space.m)[chosen]))

    def examined(self, state: BankState, exam: Exam, places: Array) -> BankState:
        """Return the state after asking about some rows; what was asked and answered is written into the exam."""
        banks, watches = list(state.banks), list(state.watches)
        for j in range(self.space.m):
            mine = places[exam.chosen[places] == j]
            banks[j], watches[j] = self._streamed(banks[j], watches[j], j, exam.X, mine, exam.asked)
        told = int(np.count_nonzero(exam.asked.answers[places] != step_loops.SKIPPED))
        return BankState(tuple(banks), state.answers + told, tuple(watches))

    # -- parts ----------------------------------------------------------------------------------

    def _streamed(
        self, bank: Bank, watch: Watch | Trial | None, j: int, X: Array, mine: Array, asked: _Asked
    ) -> tuple[Bank, Watch | Trial | None]:
        bank, done = bank.opened(_compiled.PENDING), 0
        while done < len(mine):
            rows = mine[done : done + _compiled.PENDING - bank.pending]
            features = self._features(X[rows], self._in_use(bank, *_beside(watch)))
            part = asked.part(rows)
            bank = self._advanced(bank, j, features, part, 0.0, math.inf)
            bank, watch = self._watched(bank, watch, j, X[rows], features, part, 0.0, math.inf)
            asked.thresholds[rows], asked.answers[rows] = part.thresholds, part.answers
            done += len(rows)
        return bank, watch

    def _watched(
        self, bank: Bank, watch: Watch | Trial | None, j: int, X: Array, features: Array, asked: _Asked,
        extra: float, upper: float, judged: Judged = None,
    ) -> tuple[Bank, Watch | Trial | None]:  # fmt: skip
        """Return the bank after some answers, or one begun anew if the concept has changed, and who watches."""
        heard = asked.answers != step_loops.SKIPPED
        if not self.forgets or not heard.any():
            return bank, watch
        beside = None if judged is None else (judged[0], np.empty(0))
        if isinstance(watch, Trial):
            former = self._advanced(watch.former.opened(len(X)), j, features, asked, extra, upper, judged=beside)
            watch = replace(watch, former=former)
            return (bank, watch) if bank.pending else watch.judged(bank)
        if watch is not None:
            young = self._advanced(watch.young.opened(len(X)), j, features, asked, extra, upper, False, beside)
            watch = watch.heard(
                young, X[heard], asked.thresholds[heard], asked.answers[heard], extra, upper, asked.slips[heard]
            )
        if bank.pending:
            return bank, watch
        most = float(bank.evidence.max())
        if watch is not None:
            watch, change = watch.judged(most, bank.count)
            if change is not None:
                new, _ = self._learnt(self._first(), None, j, *watch.since(change), watched=False)
                return new, Trial.begun(bank, new)
        if bank.count % SHORT == 0:
            young = self._begun(bank.alive[[int(np.argmax(bank.evidence))]])
            if watch is None:
                watch = Watch.begun(young.joined(young), most, RowMoments.none(self.columns))
            else:
                watch = watch.renewed(young, most)
        return bank, watch

    def _learnt(
        self, bank: Bank, watch: Watch | Trial | None, j: int, X: Array, told: Array, watched: bool,
        judged: Judged = None, known: Array | None = None,
    ) -> tuple[Bank, Watch | Trial | None]:  # fmt: skip
        """Return a bank after some answers (told: see ``Watch``), in blocks of those alike, and who watches.

        ``known`` gets how many answers the bank knew before each.
        """
        bank, done = bank.opened(_compiled.PENDING), 0
        # Where answers of another kind begin: those of a block have one variance and one upper end.
        others = np.flatnonzero((told[1:, 2:4] != told[:-1, 2:4]).any(axis=1)) + 1
        while done < len(X):
            ahead = others[np.searchsorted(others, done, side="right") :]
            end = min(int(ahead[0]) if len(ahead) else len(X), done + _compiled.PENDING - bank.pending)
            rows, (extra, upper) = X[done:end], told[done, 2:4].tolist()
            features = self._features(rows, self._in_use(bank, *_beside(watch)))
            part = _Asked.told(told[done:end, 0], told[done:end, 1], told[done:end, 4:])
            if known is not None:
                known[done:end] = bank.count + np.arange(end - done)
            heard = None if judged is None else (judged[0][done:end], judged[1][done:end])
            bank = self._advanced(bank, j, features, part, extra, upper, judged=heard)
            if watched:
                bank, watch = self._watched(bank, watch, j, rows, features, part, extra, upper, heard)
            done = end
        return bank, watch

    def _advanced(
        self, bank: Bank, j: int, features: Array, asked: _Asked, extra: float, upper: float, thin: bool = True,
        judged: Judged = None,
    ) -> Bank:  # fmt: skip
        """Return the bank, written into, after a block of rows that does not go beyond what may be pending."""
        noise, flip = self.grid[bank.alive, 2:].T.copy()
        law = noise, flip, self._lean, _LAPSE * min(self.quantile, 1 - self.quantile)
        decimals = _UNROUNDED if self.space.decimals is None else self.space.decimals
        about = (upper, extra, self.space.centers[j], self.space.scales[j], *self._ends[j], decimals)
        after = bank.learnt(features, self._places(bank), law, about, asked.arrays, judged)
        return self._thinned(after) if thin and after.count > bank.count and after.pending == 0 else after

    def _places(self, bank: Bank) -> Array:
        """Return the map of each filter."""
        return np.asarray(self.grid[bank.alive, 0].astype(np.int64))

    def _thinned(self, bank: Bank) -> Bank:
        """At powers of two, the filters that the answers do not speak against; fewer groups each time."""
        if bank.count < _FIRST_LOOK or bank.count & (bank.count - 1):
            return bank
        groups = bank.alive // len(self.noises)
        best = {int(g): bank.evidence[groups == g].max() for g in np.unique(groups)}
        halvings = (bank.count // _FIRST_LOOK).bit_length() - 1
        ranked, plain = sorted(best, key=lambda g: (-best[g], g)), len(self.maps) * len(self.priors)
        level = [g for g in ranked if g < plain and best[g] > best[ranked[0]] - _LEVEL][:_MOST_LEVEL]
        kept = [*level, *[g for g in ranked if g < plain][: max(_GROUPS, plain >> halvings)]]
        kept += [g for g in ranked if g >= plain][: max(_GROUPS, len(self.maps) >> halvings)]
        hopeful = bank.evidence > bank.evidence.max() - _BEHIND
        # One that forgives stays whatever it forecasts: after a change the sure ones would never come round.
        hopeful |= bank.alive == bank.alive[groups == ranked[0]].max()
        stay = np.flatnonzero(np.isin(groups, kept) & hopeful)
        if len(stay) < len(groups):
            bank = bank.taken(stay)
        return self._with_neighbours(bank)

    def _with_neighbours(self, bank: Bank) -> Bank:
        """Return the bank with filters next to the one that foretold best: of more and less noise, more and no doubt.

        Each begins as that one, with S as s^2, which it is about proportional to; it pays for not having been there.
        So no scale is lost for good to answers that were mixed up for a while, or to an early chance.  A gain of
        twice too much or too little costs questions in the end: the steps become smaller.
        """
        leader = int(np.argmax(bank.evidence))
        k, scales = int(bank.alive[leader]), len(self.noises)
        step, half = (2 if bank.count < _SECOND_LOOK else 1), len(self.grid) // 2
        near = [k + side * step for side in (-1, 1) if 0 <= k % scales + side * step < scales]
        if self.grid[-1, 3] > self.flip:
            near.append((k + half) % len(self.grid))
        new = np.setdiff1d(near, bank.alive)
        if not len(new):
            return bank
        ratio = self.grid[new, 2] / self.grid[k, 2]
        born = bank.taken(np.full(len(new), leader)).sharpened(ratio)
        return bank.joined(replace(born, alive=new, evidence=born.evidence - _YOUNG))

    def _questions(self, state: BankState, rows: Array, uniform: Array) -> list[Question]:
        if self.goal == "revenue":
            prices = [self._offer(state.banks[0], rows[i : i + 1], one) for i, one in enumerate(uniform)]
            units = self.space.to_unit(np.array(prices)[:, None])[:, 0].tolist()
            return [half_space(self.space, [1.0], one, 1.0, self.count(state)) for one in units]
        believed = self.predict(state, rows)
        if self._aside:
            believed = self.space.clipped(
                believed - self._aside * self._each(state, rows, self._doubt) * self.space.scale
            )
        return self.ask_at(believed, uniform, self.count(state))

    def prices(self, state: BankState, X: ArrayLike) -> Array:
        """See ``HasPrices.prices``: by the filters' forecasts of the value at each row."""
        if self.space.m > 1 or self.space.highs[0] <= 0.0:
            allowed = "rows whose label is one number above 0, for prices"
            raise InvalidArgument("X", allowed, f"{self.space.m} up to {self.space.highs[0]:g}")

        def best_at(bank: Bank, at: Array, spread: Array) -> Array:
            out = np.empty((2, at.shape[1]))
            noise = self.grid[bank.alive, 2, None]
            pricing.best_of(*self._offers, bank.weights, at - self._lean * noise, np.sqrt(spread + noise**2), out)
            return out

        return self._each(state, X, best_at, 2)[:, :, 0]

    @cached_property
    def _offers(self) -> tuple[Array, Array]:
        """Prices in the user's units, and in unit labels."""
        prices = pricing.offered(self.space)
        return prices, self.space.to_unit(prices[:, None])[:, 0].copy()

    def _offer(self, bank: Bank, row: Array, uniform: Array) -> float:
        """Return the price to offer to whom a row describes."""
        at, spread = bank.seen_at(row, lambda: self._features(row, self._in_use(bank)), self._places(bank))
        noise, out = self.grid[bank.alive, 2], np.empty((2, 1))
        tried = pricing.imagined(uniform, bank.weights, at[:, 0], spread[:, 0], noise)
        if tried is None:
            pricing.best_of(*self._offers, bank.weights, at, np.sqrt(spread + noise[:, None] ** 2), out)
        else:
            pricing.best_of(*self._offers, np.ones(1), *tried, out)
        return float(out[0, 0])

    def _doubt(self, bank: Bank, at: Array, spread: Array) -> Array:
        """Return sqrt(x^T S x + s^2), the mean of the filters."""
        return np.asarray(bank.weights @ np.sqrt(spread + self.grid[bank.alive, 2, None] ** 2))

    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        chosen = self._chosen(as_uniform(uniform, len(believed), self.width))
        values = self.space.to_unit(believed)
        if self.space.bundles:
            at = paired_dots(values, self._directions[chosen]).tolist()
            return [bundle_question(self.space, k, at[i], 1.0, learnt) for i, k in enumerate(chosen.tolist())]
        axes = np.eye(self.space.m).tolist()
        return [half_space(self.space, axes[k], values[i, k], 1.0, learnt) for i, k in enumerate(chosen.tolist())]

    @cached_property
    def _directions(self) -> Array:
        bundles = np.array(self.space.unit_bundles)
        return np.asarray(bundles / np.linalg.norm(bundles, axis=1, keepdims=True))

    def _chosen(self, uniform: Array) -> Array:
        """Return which output, or bundle, each question is about."""
        if self.width == 0:
            return np.zeros(len(uniform), dtype=np.int64)
        return (uniform[:, 0] * len(self.space.askable)).astype(np.int64)

    def _between(self, question: Between) -> tuple[float, float]:
        if self.space.m > 1:
            raise InvalidArgument("question", "a HalfSpace where there are several outputs", str(question))
        low, high = self.space.to_unit([[question.low], [question.high]])[:, 0].tolist()
        return low, high

    def _told(self, question: Question) -> tuple[list[float], float]:
        return in_unit_labels(self.space, of_family(question, HalfSpace))

    def _shares(
        self, state: BankState, features: Array, u: Sequence[float], c: float
    ) -> dict[int, tuple[bool, float, float]]:
        """Return what <z, u> > c says about each output in it: (above?, threshold, variance of all the rest).

        The other outputs are taken at the mean and variance that their banks give them.
        """
        inside = [j for j, weight in enumerate(u) if weight != 0.0]
        if len(inside) == 1:
            j = inside[0]
            return {j: (u[j] > 0, c / u[j], 0.0)}
        moments = {j: self._mixture(state.banks[j], features) for j in inside}
        middle = sum(u[j] * moments[j][0] for j in inside)
        variance = sum(u[j] * u[j] * moments[j][1] for j in inside)
        out = {}
        for j in inside:
            rest = middle - u[j] * moments[j][0]
            out[j] = (u[j] > 0, (c - rest) / u[j], variance / (u[j] * u[j]) - moments[j][1])
        return out

    def _each(self, state: BankState, X: ArrayLike, value: Callable[[Bank, Array, Array], Array], *more: int) -> Array:
        """Return a function of the filters' means and variances at each row, for each output, (more x) n x m."""
        rows, banks = as_rows(X, self.columns), state.banks
        if len(rows) >= MANY:  # filters that nobody hears would take most of the time
            banks = tuple(bank.taken(np.flatnonzero(bank.weights > _FAINT * bank.weights.max())) for bank in banks)
        wanted = self._in_use(*banks)
        out = np.empty((*more, len(rows), self.space.m))
        for first in range(0, len(rows), _CHUNK):
            features = self._features(rows[first : first + _CHUNK], wanted)
            for j, bank in enumerate(banks):
                out[..., first : first + _CHUNK, j] = value(bank, *bank.seen(features, self._places(bank)))
        return out

    def _mixture(self, bank: Bank, features: Array) -> tuple[float, float]:
        """Return mean and variance of a label of one output at a row."""
        at, spread = bank.seen(features, self._places(bank))
        mean = float(dot(bank.weights, at[:, 0].copy()))
        noise = self.grid[bank.alive, 2]
        return mean, float(dot(bank.weights, spread[:, 0] + noise**2 + (at[:, 0] - mean) ** 2))

    def _in_use(self, *banks: Bank) -> list[int]:
        return sorted({int(g) for bank in banks for g in self.grid[bank.alive, 0].tolist()})

    def _features(self, rows: Array, wanted: Sequence[int]) -> Array:
        """Return phi(row) of the maps in use, filled up with zeros: maps x n x p."""
        out = np.zeros((len(self.maps), len(rows), self.size))
        for g in wanted:
            out[g, :, : self.maps[g].size] = self.maps[g](rows)
        return out


def _tails(held: float) -> tuple[float, float, float]:
    """Return the quantiles of the middle and of both ends of an interval."""
    tail = (1.0 - as_number(held, "interval", 0.0, 1.0, strict=True)) / 2
    return 0.5, tail, 1.0 - tail


def _mixed(weights: Array, middle: Array, deviation: Array, tau: float, end: float) -> Array:
    """Return t with P(Y <= t | -end <= Y <= end) = tau by weighted normal laws, K x n, for each row."""
    side = np.where(weights @ middle < 0, -1.0, 1.0)  # turned, so that small tails are those with digits
    middle = middle * side

    def below(t: Array | float) -> Array:
        return np.asarray(weights @ ndtr((t - middle) / deviation))

    share = np.where(side < 0, 1 - tau, tau)
    wanted = below(-end) * (1 - share) + below(end) * share
    low, high = np.full((2, middle.shape[1]), [[-end], [end]])
    if math.isinf(end):
        low, high = (middle - _FAR * deviation).min(axis=0), (middle + _FAR * deviation).max(axis=0)
    t = np.clip(weights @ middle, low, high)
    for _ in range(_HALVINGS):  # Newton's steps, or halves where these lead out of what is known
        z = (t - middle) / deviation
        excess = weights @ ndtr(z) - wanted
        low, high = np.where(excess <= 0, t, low), np.where(excess > 0, t, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = excess / (weights @ (np.exp(-0.5 * z * z) / (deviation * _ROOT)))
        near = np.abs(step) <= _NEAR  # whatever the other rows need
        inside = (t - step > low) & (t - step < high)
        after = np.where(near, t, np.where(inside, t - step, (low + high) / 2))
        if near.all() or (after == t).all():
            break
        t = after
    return np.asarray(side * t)


def _beside(*watches: Watch | Trial | None) -> list[Bank]:
    """Return the banks that learn beside those in charge."""
    return [one.young if isinstance(one, Watch) else one.former for one in watches if one is not None]


@cache
def most_telling(rates: ErrorRates) -> float:
    """Return how many deviations below its mean a normal value is best asked about.

    An answer with P(yes) = g + t Phi(z), t = 1 - g - l, takes from the variance q of the mean in expectation

        (q^2 / v) t^2 N(z)^2 / (P(yes) (1 - P(yes))) ,

    at most where z = 0 if g = l; where a yes may be a guess, at a threshold so low that yes is likely.

    >>> most_telling(ErrorRates(0.1, 0.1)), round(most_telling(ErrorRates(0.5, 0.0)), 2)
    (0.0, 0.44)
    """
    if rates.yes == rates.no:
        return 0.0
    z = np.arange(-4000, 4001) / 1000.0
    yes = rates.yes + rates.trust * ndtr(z)
    return float(z[np.argmax(np.exp(-z * z) / (yes * (1.0 - yes)))])


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


@final
@dataclass(frozen=True, eq=False)
class _Asked:
    """Some questions about one output as the compiled loop wants them."""

    hidden: Array
    flips: Array
    thresholds: Array
    answers: Array
    slips: Array

    @classmethod
    def of(cls, n: int, task: StreamTask, directions: Array) -> _Asked:
        sealed = task.respondent.seal(task.rows, directions)
        answers = np.where(sealed.skipped, step_loops.SKIPPED, step_loops.UNKNOWN).astype(np.int8)
        return cls(np.ascontiguousarray(sealed.projections), sealed.flips, np.zeros(n), answers, np.zeros((n, 2)))

    @classmethod
    def told(cls, thresholds: Array, above: Array, slips: Array) -> _Asked:
        """Return those that have been answered."""
        n = len(above)
        return cls(np.zeros(n), np.zeros(n, np.bool_), np.ascontiguousarray(thresholds), above.astype(np.int8), slips)

    def part(self, rows: Array) -> _Asked:
        """Those about some rows: copies."""
        each = self.hidden, self.flips, self.thresholds, self.answers, self.slips
        return _Asked(*[array[rows] for array in each])

    @property
    def arrays(self) -> tuple[Array, ...]:
        """In the order of the compiled loop."""
        yes, no = np.ascontiguousarray(self.slips.T)
        return self.hidden, self.flips, self.thresholds, self.answers, yes, no


@final
@dataclass(frozen=True, eq=False)
class Exam:
    """Questions of a stream, one about each row: which output, and the sealed answers."""

    space: Real
    X: Array
    chosen: Array
    asked: _Asked

    def heard(self, task: StreamTask) -> None:
        """Tell whoever listens what was asked and answered."""
        if task.listen is not None:
            shown = self.space.scale[self.chosen] * self.asked.thresholds + self.space.center[self.chosen]
            along, asked = np.eye(self.space.m)[self.chosen], self.asked
            task.listen(StreamBlock(task.rows, along, shown, asked.answers, asked.thresholds))
