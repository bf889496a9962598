"""Classes by the likelihood of the bits: a softmax model, a bank of priors, and every stored bit used again.

A bit says Y in A (the set asked, or its complement); the model is p(y|x) = softmax(W^T phi(x)).  Each member of
the bank has its own prior, W ~ N(0, s I), and keeps the most likely W:

- an answer is one damped natural-gradient step, W -= variance phi g, g = p - p(.|A);
- when the number of answers has grown by a fifth, all stored bits are fitted again (``_compiled.refit``);
- when the store is full, its older half becomes a normal prior (mean and precision, so that the fit stays where it
  is) and is forgotten: memory and time are bounded.

Nothing is tuned.  Every member, at several temperatures, forecasts each answer before it learns it; questions
come from the mixture weighted by these likelihoods.  Predictions come from the strongest prior that forecasts
nearly as well as the best one (by a twentieth of its loss, without what slips cost any model, and a fifth of its lead
on no model at all): where classes are noisy, decisions profit from more smoothing than probabilities do.  The
likelihood of sets is consistent if the sets tell all classes apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.arithmetic import log, logs, softmax
from askone._common.compiled import dot, product, times
from askone._common.types import Array
from askone._common.validate import as_number, as_row, as_rows
from askone.errors import InvalidArgument
from askone.features.maps import FeatureMap
from askone.labels.classes import FiniteSpace
from askone.learners.abilities import AsksAt, AsksMany, Expects, HasProbabilities, Hindsight, LooksAhead
from askone.learners.base import as_uniform, of_family
from askone.learners.margins import doubts
from askone.learners.models.kernel_expansion import Buffer
from askone.learners.one_label import are_last, in_turn, joined, said_before, together
from askone.learners.softmax import _compiled
from askone.learners.softmax._compiled import Prior
from askone.learners.streaming import StreamTask
from askone.questions.base import Answer, Question
from askone.questions.subset import Subset

SCALES = (0.1, 0.6, 3.0, 15.0, 80.0)
TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0)
_TOLERANCE, _SHARE = 0.05, 0.2  # a stronger prior may forecast worse by so much of the loss, and of what was learnt
_LAPSE = 0.01  # an answer may be a slip: no forecast is ever quite wrong
_MEMORY = 0.2  # of all answers: forecasts older than these count little, as members improve
_FLOOR, _DOUBT = 1e-3, 0.5  # of the questions' class probabilities is uniform, so that no class is starved: and more
# of it at first, 1/2 / sqrt(answers), as a class that was never met looks as unlikely as one that is not there
_MANY = 20
_TINY = 1e-12
_FADED = 0.25  # of what forecasts counted for before all was learnt anew
_GROWTH, _EARLY = 0.2, 100
_BEHIND, _ALL = 1.3, 4  # members so much worse than the best rest, but for every fourth refit
_STORED = 1 << 22  # numbers kept of old rows
_BLOCK = 64
_LAST_CELL: list[tuple[tuple[Any, ...], Array]] = [((None, None, False, 0.0), np.empty(0))]


@final
class Seen(NamedTuple):
    """One row at one state: features, every member's scores (K x m), and p(y|x) at every temperature."""

    phi: Array
    Z: Array
    members: Array


@final
@dataclass(frozen=True, eq=False)
class LikelihoodState:
    """Weights p x K x m, their prior and variance, discounted log-likelihoods K x temperatures, the stored bits.

    ``counts``: answers learnt, answers at which the next refit is due, refits, rows stored; ``heard``: the
    discounted number of answers behind the likelihoods, the log-likelihood of all classes being alike, and what slips
    would cost who knew the class.
    """

    W: Array
    prior: Prior
    variance: Array
    damping: Array
    evidence: Array
    heard: tuple[float, float, float]
    counts: tuple[int, int, int, int]
    store: Buffer


@final
@dataclass(frozen=True, eq=False)
class SetLikelihoodLearner(
    HasProbabilities[LikelihoodState],
    Hindsight[LikelihoodState],
    AsksAt[LikelihoodState],
    AsksMany[LikelihoodState],
    LooksAhead[LikelihoodState],
    Expects[LikelihoodState],
):
    """Softmax regression from one bit per row, with nothing to tune.

    ``flip`` is the known probability that an answer is wrong.

    >>> from askone.features.maps import Linear, Scaler
    >>> from askone.labels.classes import Classes
    >>> learner = SetLikelihoodLearner(Classes(("cat", "lion", "caracal", "owl")), Linear(Scaler.identity(1)))
    >>> state = learner.init()
    >>> question = learner.ask(state, [0.0], np.full(4, 0.5))
    >>> str(question), round(learner.chance(state, [0.0], question), 9)
    ('Is it one of: cat, lion?', 0.5)
    >>> state = learner.tell(state, [0.0], question, True)
    >>> bool(learner.chance(state, [0.0], question) > 0.5)
    True
    """

    space: FiniteSpace
    features: FeatureMap
    flip: float = 0.0
    scales: tuple[float, ...] = SCALES
    temperatures: tuple[float, ...] = TEMPERATURES

    def __post_init__(self) -> None:
        if not isinstance(self.space, FiniteSpace):
            raise InvalidArgument("space", "Classes or Finite", type(self.space).__name__)
        if not isinstance(self.features, FeatureMap):
            raise InvalidArgument("features", "a finite feature map", type(self.features).__name__)
        if not 0.0 <= as_number(self.flip, "flip") < 0.5:
            raise InvalidArgument("flip", "a probability below 1/2", self.flip)
        for field in ("scales", "temperatures"):
            given = getattr(self, field)
            if not isinstance(given, tuple | list) or not given:
                raise InvalidArgument(field, "a list of positive numbers", repr(given))
            object.__setattr__(self, field, tuple(as_number(one, field, 0.0, strict=True) for one in given))
        object.__setattr__(self, "scales", tuple(sorted(self.scales)))

    # -- shape ------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        return self.features.columns

    @cached_property
    def width(self) -> int:
        """A uniform for each class, or one where the sets are listed."""
        return 1 if self._listed is not None else self.space.size

    @cached_property
    def _listed(self) -> Array | None:
        """The sets that alone may be asked, one row of 0 and 1 each."""
        named = self.space.attributes or self.space.sets
        return self.space.allowed.inside if named and self.space.allowed is not None else None

    @cached_property
    def _most(self) -> int:
        half = max(1, self.space.size // 2)
        return half if self.space.max_set_size is None else min(half, self.space.max_set_size)

    @cached_property
    def _power(self) -> float:
        """sqrt(p) is the draw of least variance, but of many classes it would seldom name the likely one."""
        return 0.5 if self.space.size <= _MANY else 1.0

    @cached_property
    def _temperatures(self) -> Array:
        return np.array(self.temperatures)

    @cached_property
    def capacity(self) -> int:
        """How many bits are stored at most."""
        widest = max(self.features.size + self.space.size, len(self.scales) * self.space.size)
        return max(256, _STORED // widest)

    def init(self) -> LikelihoodState:
        p, K, m = self.features.size, len(self.scales), self.space.size
        W = np.zeros((p, K, m))
        precision = np.broadcast_to(1.0 / np.array(self.scales)[:, None], (p, K, m)).copy()
        evidence = np.zeros((K, len(self.temperatures)))
        prior, store = Prior(precision, W), Buffer(p + m + 1)
        return LikelihoodState(W, prior, 1.0 / precision, np.ones(K), evidence, (0.0, 0.0, 0.0), (0, 1, 0, 0), store)

    # -- questions --------------------------------------------------------------------------------

    def ask(self, state: LikelihoodState, x: ArrayLike, uniform: Array) -> Subset:
        """Return a set of about half of the mass, by chance: see ``_draw``."""
        return self.ask_ahead(state, self._phi(as_row(x, self.columns)), uniform)

    def ask_many(self, state: LikelihoodState, X: ArrayLike, uniform: Array) -> list[Question]:
        Phi = self.features(as_rows(X, self.columns))
        return [self.ask_ahead(state, phi, u) for phi, u in zip(Phi, uniform, strict=True)]

    def ahead(self, X: Array) -> Array:
        """Return the features of rows."""
        return self.features(np.ascontiguousarray(X))

    def ask_ahead(self, state: LikelihoodState, known: Array, uniform: Array) -> Subset:
        p = self._mixture(state, self._seen(state, known))
        return self._question(p, as_uniform(uniform, self.width), self.count(state))

    def ask_at(self, believed: Array, uniform: Array, learnt: int) -> list[Question]:
        return [self._question(p, as_uniform(u, self.width), learnt) for p, u in zip(believed, uniform, strict=True)]

    def _question(self, p: Array, uniform: Array, learnt: int) -> Subset:
        """Return a listed set by the variance of its answer; else classes by sqrt(p) (many: p), of half the mass."""
        if self._listed is not None:
            return self._from_list(self._listed, p, float(uniform[0]), learnt)
        order = np.empty(self._most, dtype=np.int64)
        floor = max(_FLOOR, _DOUBT / math.sqrt(learnt + 4.0))
        size = _compiled.half_set(p, uniform, self._most, floor, self._power, order)
        members = tuple(self.space.names[i] for i in sorted(order[:size].tolist()))
        return self._any.like(members=members, learnt=learnt)

    @cached_property
    def _any(self) -> Subset:
        """A question as this learner asks them, checked once."""
        return Subset(self.space.names[:1], wording=self.space.wording)

    def _from_list(self, listed: Array, p: Array, uniform: float, learnt: int) -> Subset:
        masses = times(listed, (1.0 - _FLOOR) * p + _FLOOR / len(p))
        odds = masses * (1.0 - masses)
        total = np.cumsum(odds)
        which = min(int(np.searchsorted(total, uniform * total[-1], side="right")), len(odds) - 1)
        members = tuple(self.space.names[i] for i in np.flatnonzero(listed[which]))
        title = self.space.allowed.titles[which] if self.space.allowed is not None else ""
        drawn = float(odds[which] / total[-1])
        return Subset(members, title=title, probability=drawn, learnt=learnt, wording=self.space.wording)

    # -- answers ----------------------------------------------------------------------------------

    def tell(self, state: LikelihoodState, x: ArrayLike, question: Question, answer: Answer) -> LikelihoodState:
        """Return a step for this bit, and a refit if one is due.  Questions may be anybody's, and late."""
        return self.learnt_and_said(state, x, question, answer)[1]

    def learnt_and_said(
        self, state: LikelihoodState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, LikelihoodState]:
        """See ``Forecasts.learnt_and_said``: the features and scores of the row are computed once."""
        return self.learnt_into(self.opened(state), x, question, answer)

    def opened(self, state: LikelihoodState) -> LikelihoodState:
        return replace(state, W=state.W.copy())

    def learnt_into(
        self, state: LikelihoodState, x: ArrayLike, question: Question, answer: Answer
    ) -> tuple[float, LikelihoodState]:
        return self.learnt_ahead(state, self._phi(as_row(x, self.columns)), question, answer)

    def learnt_ahead(
        self, state: LikelihoodState, known: Array, question: Question, answer: Answer
    ) -> tuple[float, LikelihoodState]:
        cell = self._cell(question, question.accept(answer))
        before = self._before(state, question)
        seen = self._seen(state, known, before)
        said = self._said(self._mixture(state, seen), cell)
        return said, self._learnt(state, seen, cell, before, of_family(question, Subset).row)

    def _phi(self, row: Array) -> Array:
        """Return the features of one row, kept until there are others: who is asked about a row is told of it next."""
        key = row.tobytes()
        found = self._last[0].get(key)
        if found is None:
            found = self.features(row)[0]
            self._last[0] = {key: found}  # another thread may put another row there
        return found

    def expect(self, X: Array) -> None:
        """Compute the features of rows that come next, at once."""
        rows = np.ascontiguousarray(X)
        self._last[0] = dict(zip((row.tobytes() for row in rows), self.features(rows), strict=True))

    @cached_property
    def _last(self) -> list[dict[bytes, Array]]:
        return [{}]

    def _said(self, p: Array, cell: Array) -> float:
        return float(dot(p, cell))

    def stream(self, state: LikelihoodState, X: Array, task: StreamTask) -> LikelihoodState:
        """Return the same for many rows: features in blocks, one copy of the state."""
        return self.stream_while(state, X, task, lambda *_: True)[1]

    def stream_while(
        self, state: LikelihoodState, X: Array, task: StreamTask, go_on: Callable[[int, float], bool]
    ) -> tuple[int, LikelihoodState]:
        """See ``StreamsForecasts.stream_while``."""
        state = self.opened(state)
        for start in range(0, len(X), _BLOCK):
            Phi = self.features(np.ascontiguousarray(X[start : start + _BLOCK]))
            uniform = task.draw(task.first + start, len(Phi))
            for i, phi in enumerate(Phi):
                seen = self._seen(state, phi)
                p = self._mixture(state, seen)
                question = self._question(p, uniform[i], self.count(state))
                answer = task.answer(start + i, question)
                if answer is not None:
                    cell = self._cell(question, question.accept(answer))
                    state = self._learnt(state, seen, cell)
                    if not go_on(start + i, self._said(p, cell)):
                        return start + i + 1, state
        return len(X), state

    def _cell(self, question: Question, answer: Answer) -> Array:
        """Return the chance of the answer by each class: without slips, 1 for each that it leaves.

        The last one is kept: every member of a contest is told the same.
        """
        told, cell = _LAST_CELL[0]
        if told[0] is question and told[1] is self.space and told[2:] == (bool(answer), self.flip):
            return cell
        inside = self._inside(question)
        cell = inside if answer else 1.0 - inside
        if not 0 < cell.sum() < len(cell):
            raise InvalidArgument("question", "about some, not all labels", str(question))
        cell = of_family(question, Subset).heard(inside, bool(answer), self.flip)
        _LAST_CELL[0] = (question, self.space, bool(answer), self.flip), cell
        return cell

    def _before(self, state: LikelihoodState, question: Question) -> Array | None:
        """Return the chances, by each class, of what was said before about the question's row; None: nothing was."""
        row, stored = of_family(question, Subset).row, state.counts[3]
        cells = state.store.view(stored)[:, self.features.size :]
        return said_before(cells, state.store.last(stored, row)) if row else None

    def _inside(self, question: Question) -> Array:
        return self.space.inside(of_family(question, Subset).members, "question")

    def _learnt(
        self, state: LikelihoodState, seen: Seen, cell: Array, before: Array | None = None, row: int = 0
    ) -> LikelihoodState:
        """Return the state after a bit; its own arrays may be written."""
        answers, due, refits, stored = state.counts
        evidence, known = self._judged(state, seen, cell)
        if answers + 1 < due:
            flat = (len(seen.phi), -1)
            parts = (state.W.reshape(flat), state.variance.reshape(flat), seen.phi, cell, state.damping)
            _compiled.step_once(*parts, seen.Z[None])
        kept = cell if before is None else joined(before, cell)
        store = state.store.extended(stored, np.concatenate([seen.phi, kept, [row]])[None])
        counts = (answers + 1, due, refits, stored + 1)
        same = state.W, state.prior, state.variance, state.damping
        state = LikelihoodState(*same, evidence, known, counts, store)
        if answers + 1 >= due or stored + 1 >= self.capacity:
            state = self._refitted(state)
        return state

    def _judged(self, state: LikelihoodState, seen: Seen, cell: Array) -> tuple[Array, tuple[float, float, float]]:
        """Return the discounted log-likelihoods after one more answer, forecast before it is learnt."""
        keep = 1.0 - 1.0 / max(_MEMORY * state.counts[0], 50.0)
        count, blank, slipped = state.heard
        plain = log((1.0 - _LAPSE) * (float(cell.sum()) / len(cell)) + 0.5 * _LAPSE)
        heard = (keep * count + 1.0, keep * blank + plain, keep * slipped + self._slipped(state, seen, cell))
        return _compiled.judged(seen.members, cell, state.evidence, keep, _LAPSE), heard

    def _slipped(self, state: LikelihoodState, seen: Seen, cell: Array) -> float:
        """Return what an answer is expected to cost who knows the class: sum of p(y) H(A_y), H the entropy of a bit."""
        return 0.0 if _compiled.is_sure(cell) else float(dot(self._mixture(state, seen), _entropy(cell)))

    def _refitted(self, state: LikelihoodState) -> LikelihoodState:
        answers, _, refits, stored = state.counts
        full = stored >= self.capacity
        chosen = np.ones(len(self.scales), dtype=np.bool_)
        if not full and answers > _EARLY and refits % _ALL:
            losses = self._losses(state)
            chosen = losses <= _BEHIND * losses.min()
        Phi, cells = self._bits(state.store.view(stored))
        prior = Prior(state.prior.precision[:, chosen], state.prior.anchor[:, chosen])
        found = _compiled.refit(Phi, cells, np.ascontiguousarray(state.W[:, chosen]), prior)
        W, variance, damping = state.W.copy(), state.variance.copy(), state.damping.copy()
        W[:, chosen], variance[:, chosen], damping[chosen] = found.W, found.variance, found.damping
        due = answers + max(1, min(int(_GROWTH * answers), self.capacity // 4))
        state = replace(state, W=W, variance=variance, damping=damping, counts=(answers, due, refits + 1, stored))
        return self._forgotten(state) if full else state

    def _bits(self, rows: Array) -> tuple[Array, Array]:
        """Return the features and cells of stored bits; of several about one row the last, which has all in it."""
        kept, p = rows[are_last(rows[:, -1])], self.features.size
        return np.ascontiguousarray(kept[:, :p]), np.ascontiguousarray(kept[:, p:-1])

    def _forgotten(self, state: LikelihoodState) -> LikelihoodState:
        """Return the older half of the bits as a normal prior whose gradient at W is theirs: W stays the best fit."""
        answers, due, refits, stored = state.counts
        half, rows = stored // 2, state.store.view(stored)
        Phi, cells = self._bits(rows[:half][~np.isin(rows[:half, -1], rows[half:, -1]) | (rows[:half, -1] == 0)])
        across = np.ascontiguousarray(Phi.T)
        old = _compiled.terms_of(Phi, cells, state.W, state.prior, across)
        precision = state.prior.precision + _compiled.information(across, old.F, old.D)
        prior = Prior(precision, state.W - old.gradient / precision)
        store = Buffer(rows.shape[1]).extended(0, rows[half:])
        return replace(state, prior=prior, store=store, counts=(answers, due, refits, stored - half))

    # -- forecasts --------------------------------------------------------------------------------

    def _seen(self, state: LikelihoodState, phi: Array, before: Array | None = None) -> Seen:
        """Return a row, of which something may have been said before: p(y|x) is then by Bayes' rule."""
        Z, members = _compiled.seen(phi, state.W, self._temperatures)
        if before is not None:
            _compiled.given(members, before)
            Z = Z + logs(before)
        return Seen(phi, Z, members)

    def _mixture(self, state: LikelihoodState, seen: Seen) -> Array:
        return np.asarray(_compiled.mixture(state.evidence, seen.members))

    def _losses(self, state: LikelihoodState) -> Array:
        """Return mean -log forecast of each member at its best temperature."""
        return np.asarray(-state.evidence.max(axis=1) / max(state.heard[0], 1.0))

    def _preferred(self, state: LikelihoodState) -> int:
        """Return the strongest prior that forecasts nearly as well as the best."""
        losses, count = self._losses(state), max(state.heard[0], 1.0)
        best, blank, slipped = float(losses.min()), -state.heard[1] / count, state.heard[2] / count
        slack = max(0.0, min(_TOLERANCE * (best - slipped), _SHARE * (blank - best)))
        return int(np.argmax(losses <= best + slack + 1e-12))

    def probabilities(self, state: LikelihoodState, X: ArrayLike) -> Array:
        """Return p(y|x), n x K: the preferred member at its temperatures."""
        rows, k = as_rows(X, self.columns), self._preferred(state)
        if len(rows) == 1:  # in compiled code: somebody is waiting for the question
            seen = self._seen(state, self._phi(rows))
            return np.asarray(_compiled.weighed(seen.members[k : k + 1], softmax(state.evidence[k])))
        return self._tempered(state, k, self.features(rows) @ state.W[:, k])

    def _tempered(self, state: LikelihoodState, k: int, Z: Array) -> Array:
        """Return p(y|x) of a member's scores, mixed over its temperatures."""
        weights = np.exp(state.evidence[k] - state.evidence[k].max())
        total = np.zeros_like(Z)
        for weight, temperature in zip(weights / weights.sum(), self.temperatures, strict=True):
            if weight > 1e-6:
                e = np.exp(temperature * (Z - Z.max(axis=1, keepdims=True)))
                total += weight * e / e.sum(axis=1, keepdims=True)
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def predict(self, state: LikelihoodState, X: ArrayLike) -> Array:
        """Return E[phi(Y) | x] in the space's embedding: the most likely label, or the least expected cost."""
        return np.asarray(self.probabilities(state, X) @ self.space.embedding)

    def chance(self, state: LikelihoodState, x: ArrayLike, question: Question) -> float:
        """Return p(yes) under the mixture, flips included."""
        phi = self._phi(as_row(x, self.columns))
        p = self._mixture(state, self._seen(state, phi, self._before(state, question)))
        return self._said(p, of_family(question, Subset).heard(self._inside(question), True, self.flip))

    def hindsight(
        self, state: LikelihoodState, X: ArrayLike, questions: Sequence[Question], answers: Sequence[bool]
    ) -> Array | None:
        """See ``Hindsight.hindsight``: of the preferred member."""
        k = self._preferred(state)
        cells = np.array([self._cell(*one) for one in zip(questions, answers, strict=True)])
        rows = np.array([of_family(question, Subset).row for question in questions])
        p = self._without_row(state, slice(k, k + 1), self.features(as_rows(X, self.columns)), cells, rows)
        return np.asarray(_compiled.weighed(p[:, 0], softmax(state.evidence[k])))

    def _without_row(self, state: LikelihoodState, some: slice, Phi: Array, cells: Array, rows: Array) -> Array:
        """Return p(y|x), n x members x temperatures x m, by all answers but those of ``cells``, one by one."""
        m = self.space.size
        W, variance = (np.ascontiguousarray(one[:, some]).reshape(len(one), -1) for one in (state.W, state.variance))
        Z, v = (product(*pair).reshape(len(Phi), -1, m) for pair in ((Phi, W), (Phi * Phi, variance)))
        out = np.empty((len(Phi), Z.shape[1], len(self.temperatures), m))
        _compiled.without_row(Z, v, *together(cells, rows), self._temperatures, out)
        return out

    def relearnt(
        self, state: LikelihoodState, X: Array, questions: Sequence[Question], answers: Sequence[bool]
    ) -> LikelihoodState:
        """See ``Hindsight.relearnt``: the bits that are stored are fitted again, the others stay as they are.

        How well members forecast while less was known of who answered counts little from then on.
        """
        stored, p = state.counts[3], self.features.size
        if not stored:
            return state
        cells = np.array([self._cell(*one) for one in zip(questions[-stored:], answers[-stored:], strict=True)])
        rows = state.store.view(stored).copy()
        rows[:, p:-1] = in_turn(cells, rows[:, -1])
        state = self._refitted(replace(state, store=Buffer(rows.shape[1]).extended(0, rows)))
        count, blank, slipped = state.heard
        heard = (_FADED * count, _FADED * blank, _FADED * slipped)
        return replace(state, evidence=_FADED * state.evidence, heard=heard)

    def worth(self, state: LikelihoodState, X: ArrayLike) -> Array:
        """Return how small the margin between the two likeliest classes is (see ``margins``), by the preferred member.

        What an answer tells of the scores, 1/2 log(1 + f d^T V d), is a poor guide: it has no bound, and a bit has.
        """
        k = self._preferred(state)
        Z = self.features.times(as_rows(X, self.columns), np.ascontiguousarray(state.W[:, k]))
        return doubts(self._tempered(state, k, Z))

    # -- the state as a value ---------------------------------------------------------------------

    def count(self, state: LikelihoodState) -> int:
        return state.counts[0]

    def to_arrays(self, state: LikelihoodState) -> dict[str, Array]:
        plain = ("W", "variance", "damping", "evidence", "heard", "counts")
        own = {name: np.asarray(getattr(state, name)) for name in plain}
        return {**own, **state.prior._asdict(), "store": state.store.view(state.counts[3]).copy()}

    def from_arrays(self, arrays: dict[str, Array]) -> LikelihoodState:
        prior = Prior(arrays["precision"], arrays["anchor"])
        rows = arrays["store"]
        lacking = self.features.size + self.space.size + 1 - rows.shape[1]  # files of before rows had keys
        rows = np.hstack([rows, np.zeros((len(rows), lacking))])
        if self.flip and np.isin(rows[:, self.features.size : -1], (0.0, 1.0)).all():  # of before chances were stored
            rows = rows.copy()
            rows[:, self.features.size : -1] = self.flip + (1.0 - 2.0 * self.flip) * rows[:, self.features.size : -1]
        store = Buffer(rows.shape[1]).extended(0, rows)
        plain: dict[str, Any] = {name: arrays[name] for name in ("W", "variance", "damping", "evidence")}
        plain |= {name: tuple(arrays[name].tolist()) for name in ("heard", "counts")}
        plain["heard"] = (*plain["heard"], 0.0)[:3]  # in older files without what slips cost
        return LikelihoodState(prior=prior, store=store, **plain)


def _entropy(p: Array) -> Array:
    """Return H(p) of a bit, in nats."""
    within = np.clip(p, _TINY, 1.0 - _TINY).ravel()
    return np.asarray(-within * logs(within) - (1.0 - within) * logs(1.0 - within)).reshape(p.shape)
