"""Contract checks for whoever adds a loss, a gradient or a learner.  Each raises AssertionError.

>>> from askone.learners.gradients import MedianSphere
>>> from askone.labels.losses import Huber
>>> check_loss_gradient(Huber(0.5))
>>> check_gradient_unbiased(MedianSphere(), outputs=3)
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from askone._common import random_table
from askone._common.packed_arrays import pack, unpack
from askone._common.types import Array
from askone._common.validate import as_count, as_number, as_rows
from askone.errors import InvalidArgument
from askone.labels.classes import FiniteSpace
from askone.labels.losses import Loss
from askone.learners import abilities
from askone.learners.base import Learner
from askone.learners.gradients import WeakGradient, draws_of
from askone.questions.base import Question
from askone.questions.half_space import HalfSpace
from askone.questions.registry import question_from_json
from askone.questions.subset import Subset
from askone.session.oracle import Oracle
from askone.session.simulation import simulate

_SIGMAS = 5.0
_RARE = 0.001 / 8  # of each of the eight bounds of an audit
_AGAIN = 60  # answers about a row, after which a deviation must not be larger
_SLACK = 1e-6  # a likelihood that is fitted anew moves a little
_MOST = 1000  # questions about a row
_LAST, _PART = 5, 0.95  # answers that are looked back at; what they may move of what they moved at sight
_KEY = "a row"
_R = TypeVar("_R")


def check_loss_gradient(loss: Loss, outputs: int = 2, seed: int = 0) -> None:
    """Check that the gradient equals finite differences of the value, and keeps its Lipschitz bound.

    Points within 1e-3 of a kink are moved off it: there a subgradient need not match.
    """
    z, y = (3 * random_table.uniforms(seed, k * 1000, 200, outputs, random_table.DESIGN) - 1.5 for k in (0, 1))
    z = np.where(np.abs(z - y) < 1e-3, y + 0.01, z)
    gradient, step = loss.gradient(z, y), 1e-6
    for j in range(outputs):
        nudge = step * np.eye(outputs)[j]
        numeric = (loss.value(z + nudge, y) - loss.value(z - nudge, y)) / (2 * step)
        near_kink = np.abs(np.abs(z - y)[:, j] - loss.parameter) < 10 * step
        worst = np.abs(numeric - gradient[:, j])[~near_kink].max()
        _require(worst < 1e-5, f"{loss}: gradient off by {worst:.2g} from finite differences in output {j}")
    limit = loss.lipschitz(outputs)
    longest = np.linalg.norm(gradient, axis=1).max()
    _require(
        limit is None or bool(longest <= limit * (1 + 1e-12)), f"{loss}: gradient of length {longest} over {limit}"
    )


def check_gradient_unbiased(gradient: WeakGradient, outputs: int = 1, draws_: int = 400_000, seed: int = 0) -> None:
    """Check that E[G | Y = y] is the loss's gradient at y: exactly for one output or bundles, else by Monte Carlo.

    One output, or bundles: V is integrated exactly, up to 1e-9.  More: seeded draws, and the mean
    must lie within five standard errors, which must themselves be below a tenth of the gradient's
    scale, so that the check has power.
    """
    if not isinstance(gradient, WeakGradient):
        raise InvalidArgument("gradient", "a WeakGradient", type(gradient).__name__)
    if gradient.single_output:
        as_count(outputs, "outputs", 1, 1)
    if not gradient.unbiased:
        raise InvalidArgument("gradient", "one that claims to be unbiased", type(gradient).__name__)
    points = 1.6 * random_table.uniforms(seed, 0, 12, outputs, random_table.DESIGN) - 0.8
    for z, y in zip(points[::2], points[1::2], strict=True):
        target = gradient.declared(outputs).gradient(z[None, :], y[None, :])[0]
        atoms = gradient.atoms(outputs)
        if atoms is not None:
            mean, error = _integrated(gradient, z, y, atoms), np.full(outputs, 1e-9)
        else:
            sample = draws_of(gradient, z, y, random_table.uniforms(seed, 1, draws_, gradient.width(outputs)))
            mean, error = sample.mean(axis=0), _SIGMAS * sample.std(axis=0) / np.sqrt(draws_)
            scale = max(float(np.linalg.norm(target)), 0.1)
            _require(bool((error < 0.1 * scale).all()), f"{gradient}: {draws_} draws are too few to tell")
        off = np.abs(mean - target)
        _require(bool((off <= error).all()), f"{gradient}: mean {mean} at z={z}, y={y}, but the gradient is {target}")


def check_private(mechanism: Callable[[bool], bool], epsilon: float, trials: int = 100_000) -> None:
    """Raise unless a mechanism that makes an answer fit to be sent is epsilon-private, as far as trials can tell.

    For each answer that may be sent, P(sent | true) / P(sent | false) is at most e^epsilon, and so is its inverse.
    Clopper and Pearson's bounds of both chances say by how much it is exceeded at least; all four hold at once in
    999 of 1000 cases.

    >>> from askone.privacy import randomized
    >>> check_private(lambda answer: randomized(answer, 2.0), 2.0, trials=2000)
    """
    trials, wanted = as_count(trials, "trials", 1), as_number(epsilon, "epsilon", 0.0)
    yes = {truth: sum(bool(mechanism(truth)) for _ in range(trials)) for truth in (True, False)}
    for sent in (True, False):
        counts = {truth: yes[truth] if sent else trials - yes[truth] for truth in yes}
        for truth in (True, False):
            least = beta.ppf(_RARE, counts[truth], trials - counts[truth] + 1) if counts[truth] else 0.0
            other = counts[not truth]
            most = beta.ppf(1 - _RARE, other + 1, trials - other) if other < trials else 1.0
            found = math.log(least / most) if least > 0 else -math.inf
            _require(found <= wanted, f"the mechanism is not {wanted:g}-private: epsilon is at least {found:.3g}")


def check_learner(learner: Learner[Any], X: ArrayLike, y: ArrayLike, seed: int = 0) -> None:
    """Check the contract of ``Learner`` on some rows with labels (hidden behind an oracle).

    Predict before any answer; ask gives the same for the same draw; every question survives JSON
    and says the same of every label; tell is pure; a wrong answer or row is refused; the state
    survives a trip through arrays; many rows at once are the same as one after the other.  Whatever it claims of
    ``learners.abilities`` is checked, too: deviations, intervals, probabilities, forecasts, questions about a row
    again, a range that is found, answers told at once, fits, chances in hindsight, people, shares of models.
    """
    rows, labels = as_rows(X, learner.columns), learner.space.labels(y)
    as_count(len(rows), "number of rows", 1)
    state = learner.init()
    shape, expected = learner.predict(state, rows).shape, (len(rows), learner.space.m)
    _require(shape == expected, f"predictions before any answer have shape {shape}, not {expected}")
    oracle = Oracle(labels)
    for i, x in enumerate(rows):
        uniform = random_table.uniforms(seed, i, 1, learner.width)[0]
        question = learner.ask(state, x, uniform)
        _require(question == learner.ask(state, x, uniform), "ask gave two questions for one draw")
        _check_question(question, labels[:5])
        answer = oracle.respond(i, question)
        assert answer is not None
        before = _copied(learner, state)
        _refuses(learner, state, x, question)
        following = learner.tell(state, x, question, answer)
        _require(_same(before, learner.to_arrays(state)), "tell changed the state it was given")
        _require(learner.count(following) == i + 1, "count does not count the answers")
        if abilities.able(learner, abilities.Refits):
            _check_fits(learner, following, _Case(rows, labels, seed))
        state = abilities.refitted(learner, following)
    returned = learner.from_arrays(_copied(learner, state))
    _require(_close(learner.predict(returned, rows), learner.predict(state, rows)), "a state changes through arrays")
    for ability, check in _ABILITIES.items():
        if abilities.able(learner, ability):
            for at in (learner.init(), state):
                check(learner, at, _Case(rows, labels, seed))
    _check_stream(learner, rows, labels, state, seed)


def _check_stream(learner: Learner[Any], rows: Array, labels: Array, state: Any, seed: int) -> None:
    at_once, again = (
        simulate(learner, rows, Oracle(labels, resample=isinstance(learner, abilities.AsksAgain)), seed=seed, at=[])
        for _ in "ab"
    )
    alone, together = learner.predict(state, rows), learner.predict(at_once.state, rows)
    same = abilities.is_patient(learner) or _close(alone, together)  # who is patient asked more than once above
    _require(same, f"a stream differs from ask and tell by {np.abs(alone - together).max():.2g}")
    _require_same(learner, at_once.state, again.state, "the same seed gave two different states")
    if isinstance(learner, abilities.AsksMany) and learner.spreads_batches:
        rows = rows[:1]
    batch = abilities.ask_many(learner, learner.init(), rows, random_table.uniforms(seed, 0, len(rows), learner.width))
    single = [
        learner.ask(learner.init(), x, random_table.uniforms(seed, i, 1, learner.width)[0]) for i, x in enumerate(rows)
    ]
    _require(all(_alike(a, b) for a, b in zip(batch, single, strict=True)), "ask_many differs from ask")


@final
@dataclass(frozen=True, eq=False)
class _Case:
    """Rows, their labels, and the seed of questions about them."""

    rows: Array
    labels: Array
    seed: int

    def drawn(self, learner: Learner[Any], number: int) -> Array:
        """Return the uniforms of a question."""
        return np.asarray(random_table.uniforms(self.seed, number, 1, learner.width)[0])


def _check_deviation(learner: abilities.HasDeviation[Any], state: Any, case: _Case) -> None:
    """Finite and not negative; no larger at a row after many answers about it.

    Answers are drawn at random: then there is nothing more to find at this row, such as larger effects than expected.
    """
    found = _pure(learner, state, lambda: learner.std(state, case.rows), "std")
    if found is None:
        return
    _require_numbers(found, (len(case.rows), learner.space.m), "std")
    _require(bool((found >= 0).all()), f"std is negative: {found.min():.3g}")
    if learner.count(state):
        return
    for i, lot in enumerate(random_table.uniforms(case.seed, 0, _AGAIN, 1, random_table.FLIP)[:, 0]):
        question = learner.ask(state, case.rows[0], case.drawn(learner, i))
        state = learner.tell(state, case.rows[0], question, bool(lot < 0.5))
    later = learner.std(state, case.rows[:1])
    wider = 0.0 if later is None else float(np.mean(later) - np.mean(found[0]))
    _require(wider <= _SLACK * float(found[0].max()), f"std grew by {wider:.3g} with {_AGAIN} answers about a row")


def _check_interval(learner: abilities.HasInterval[Any], state: Any, case: _Case) -> None:
    ends = _pure(learner, state, lambda: learner.interval(state, case.rows), "interval")
    narrow, wide = (learner.interval(state, case.rows, level) for level in (0.01, 0.99))
    known = {one is not None for one in (ends, narrow, wide)}
    _require(len(known) == 1, "an interval is known at one level, and not at another")
    if ends is None or narrow is None or wide is None:
        return
    for low, high in (ends, narrow, wide):
        for end in (low, high):
            _require_numbers(end, (len(case.rows), learner.space.m), "an end of an interval")
        _require(bool((low <= high).all()), "an interval ends before it begins")
    inside = (wide[0] <= narrow[0]).all() and (narrow[1] <= wide[1]).all()
    _require(bool(inside), "an interval of level 0.99 does not hold that of level 0.01")


def _check_probabilities(learner: abilities.HasProbabilities[Any], state: Any, case: _Case) -> None:
    found = _pure(learner, state, lambda: learner.probabilities(state, case.rows), "probabilities")
    if found is None:
        return
    space = learner.space
    _require_numbers(
        found, (len(case.rows), space.size if isinstance(space, FiniteSpace) else space.m), "probabilities"
    )
    _require(bool((found >= 0).all()), f"a probability is negative: {found.min():.3g}")
    off = float(np.abs(found.sum(axis=1) - 1).max())
    _require(off < 1e-9, f"probabilities of a row do not sum to 1, but to 1 +- {off:.3g}")


def _check_forecasts(learner: abilities.Forecasts[Any], state: Any, case: _Case) -> None:
    """Chances are chances; ``learnt_and_said`` is both; to hear an answer makes it no less likely the next time."""
    for i, x in enumerate(case.rows[:5]):
        question = learner.ask(state, x, case.drawn(learner, i))
        yes = _pure(learner, state, partial(learner.chance, state, x, question), "chance")
        _require(0.0 <= yes <= 1.0, f"a chance of {yes} is none")
        for answer, said in ((True, yes), (False, 1.0 - yes)):
            found, following = learner.learnt_and_said(state, x, question, answer)
            _require(abs(found - said) < 1e-9, f"learnt_and_said says {found} of what has a chance of {said}")
            told = learner.tell(state, x, question, answer)
            _require_same(learner, told, following, "learnt_and_said does not learn as tell does")
            after = learner.chance(following, x, question)
            likelier = after >= yes - _SLACK if answer else after <= yes + _SLACK
            _require(likelier, f"after the answer {answer} its chance of yes went from {yes:.3g} to {after:.3g}")
    worth = _pure(learner, state, lambda: learner.worth(state, case.rows), "worth")
    _require_numbers(worth, (len(case.rows),), "worth")
    _require(bool((worth >= 0).all()), f"worth is negative: {worth.min():.3g}")


def _check_again(learner: abilities.AsksAgain[Any], state: Any, case: _Case) -> None:
    """A row is wanted until it is known; then it is not asked about, and comes again at no cost."""
    x, asked = case.rows[0], 0
    while _pure(learner, state, partial(learner.wants, state, x, _KEY), "wants"):
        _require(asked < _MOST, f"a row is still wanted after {_MOST} questions about it")
        question = _asked_again(learner, state, x, case.drawn(learner, asked))
        _require(question is not None, "a row that is wanted was not asked about")
        assert question is not None
        state, asked = learner.tell(state, x, question, question.answer(case.labels[0]), _KEY), asked + 1
    _require(asked > 0, "a row is not wanted that was never asked about")
    _require(learner.wants(state, x, f"not {_KEY}"), "a row is known that goes by another key")
    refused = _asked_again(learner, state, x, case.drawn(learner, asked)) is None
    _require(refused, "a row that is not wanted was asked about")
    following = _pure(learner, state, partial(learner.revisit, state, x, _KEY), "revisit")
    _require(learner.count(following) == learner.count(state), "revisit counts as an answer")
    _require(not learner.wants(following, x, _KEY), "a known row is wanted after it came again")


def _asked_again(learner: abilities.AsksAgain[Any], state: Any, x: Array, uniform: Array) -> Question | None:
    try:
        return learner.ask(state, x, uniform, _KEY)
    except InvalidArgument:
        return None


def _check_range(learner: abilities.FindsRange[Any], state: Any, case: _Case) -> None:
    found = _pure(learner, state, partial(learner.range_at, state), "range_at")
    if found is None:
        return
    _require(found.m == learner.space.m, "the range that was found has other outputs than the labels")
    question = learner.ask(state, case.rows[0], case.drawn(learner, 0))
    answer = question.answer(case.labels[0])
    later = learner.range_at(learner.tell(state, case.rows[0], question, answer))
    _require(later == found, "a range that was found has changed")


def _check_many(learner: abilities.TellsMany[Any], state: Any, case: _Case) -> None:
    """What is told at once, in blocks of several sizes, is what is told one by one."""
    alone, questions, answers = _asked_in_turn(learner, state, case)
    for size in (len(case.rows), 3):
        together = state
        for first in range(0, len(case.rows), size):
            part = slice(first, first + size)
            told = partial(learner.tell_many, together, case.rows[part], questions[part], answers[part])
            together = _pure(learner, together, told, "tell_many")
        _require_same(learner, alone, together, "tell_many gives another state than tell, one by one")


def _asked_in_turn(learner: Learner[Any], state: Any, case: _Case) -> tuple[Any, list[Question], list[Any]]:
    """Return the state after an answer about each row, and the questions and answers."""
    questions: list[Question] = []
    answers = []
    for i, x in enumerate(case.rows):
        questions.append(learner.ask(state, x, case.drawn(learner, i)))
        answers.append(questions[-1].answer(case.labels[i]))
        state = learner.tell(state, x, questions[-1], answers[-1])
    return state, questions, answers


def _check_hindsight(learner: abilities.Hindsight[Any], state: Any, case: _Case) -> None:
    """Chances are chances, and an answer says less of itself than after it was learnt; all can be learnt anew."""
    if learner.count(state):  # all its answers are wanted
        return
    first = max(1, len(case.rows) - _LAST)
    before, asked, bits = _asked_in_turn(learner, state, _Case(case.rows[:first], case.labels, case.seed))
    moved = np.zeros(2)
    for n, x in enumerate(case.rows[first:], start=first):
        questions = [*asked, learner.ask(before, x, case.drawn(learner, n))]
        told = np.vstack([case.rows[:first], x[None]])
        yes, no = (_looked_back(learner, before, told, questions, [*bits, bit]) for bit in (True, False))
        if yes is not None and no is not None:
            moved += np.abs(np.subtract(yes, no))
    if not moved.any():
        return
    sight = moved[1] / _surest(learner, before, x, questions[-1])
    _require(moved[0] <= _PART * sight + _SLACK, "an answer has a part in its own chance in hindsight")


def _looked_back(
    learner: abilities.Hindsight[Any], state: Any, X: Array, questions: list[Question], bits: list[bool]
) -> tuple[float, float] | None:
    """Tell the last answer; return its chance in hindsight and that after it was learnt, unless it is of classes."""
    state = learner.tell(state, X[-1], questions[-1], bits[-1])
    found = _pure(learner, state, partial(learner.hindsight, state, X, questions, bits), "hindsight")
    again = _pure(learner, state, partial(learner.relearnt, state, X, questions, bits), "relearnt")
    _require(learner.count(again) == len(X), "relearnt counts other answers")
    _require_numbers(learner.predict(again, X), (len(X), learner.space.m), "what was learnt anew")
    if found is None:
        return None
    _require_numbers(found, (len(X), *found.shape[1:]), "hindsight")
    outside = found[(found < 0) | (found > 1 + 1e-9)]
    _require(not len(outside), f"a chance of {outside[:1]} in hindsight is none")
    if found.ndim == 1:
        return float(found[-1]), learner.chance(state, X[-1], questions[-1])
    _require(_close(found.sum(axis=1), np.ones(len(X))), "chances of classes in hindsight do not sum to 1")
    return None


def _surest(learner: abilities.Forecasts[Any], state: Any, x: Array, question: Question) -> float:
    """Return how far a chance gets from even, twice: less than 1 where answers may be flipped."""
    for _ in range(_MOST // 2):
        state = learner.tell(state, x, question, True)
    return 2 * learner.chance(state, x, question) - 1


def _check_people(learner: abilities.KnowsPeople[Any], state: Any, case: _Case) -> None:
    """One person is learnt from as nobody is; many at once as one by one; names can be taken out of a state."""
    if learner.count(state):
        return
    nobody, questions, bits = _asked_in_turn(learner, state, case)
    names: list[str | None] = ["ann", "bob", None]
    people = [names[i % 3] for i in range(len(bits))]
    alone = several = state
    for x, question, bit, who in zip(case.rows, questions, bits, people, strict=True):
        alone = _pure(learner, alone, partial(learner.tell_by, alone, x, question, bit, "ann"), "tell_by")
        several = (
            learner.tell(several, x, question, bit) if who is None else learner.tell_by(several, x, question, bit, who)
        )
    same = np.array_equal(learner.predict(alone, case.rows), learner.predict(nobody, case.rows))
    _require(same, "one person's answers teach other things than nobody's")
    together = learner.tell_many_by(state, case.rows, questions, bits, people)
    _require_same(learner, several, together, "tell_many_by gives another state than tell_by, one by one")
    answers = {one.name: one.answers for one in _pure(learner, several, partial(learner.people, several), "people")}
    wanted = {who: people.count(who) for who in dict.fromkeys(people) if who is not None}
    _require(list(answers.items()) == list(wanted.items()), f"people gave {wanted}, not {answers}")
    for who in (*wanted, "somebody new"):
        slips = learner.slips(several, who)
        _require(min(slips) >= 0 and slips.trust >= 0, f"{slips} are no rates of errors")
    returned = learner.from_arrays(_copied(learner, several))
    _require(learner.people(returned) == learner.people(several), "people change through arrays")
    bare = _pure(learner, several, partial(learner.unnamed, several), "unnamed")
    same = np.array_equal(learner.predict(bare, case.rows), learner.predict(several, case.rows))
    _require(same and learner.people(bare) == [], "a state without names predicts otherwise, or has some")


def _check_blend(learner: abilities.Blends[Any], state: Any, _: _Case) -> None:
    shares = [share for _, share in _pure(learner, state, partial(learner.blend, state), "blend")]
    fine = min(shares) >= 0 and abs(sum(shares) - 1) < 1e-9
    _require(fine, f"shares of models must not be negative and sum to 1, not {shares}")


def _check_judged(learner: abilities.TellsJudged[Any], state: Any, case: _Case) -> None:
    """What is told at once is what ``tell`` and ``tell_asked`` give in turn, with what was predicted before each."""
    _, questions, bits = _asked_in_turn(learner, state, case)
    quiet, alone = np.arange(len(bits)) % 3 == 1, state
    said, knew = [], []
    for x, question, bit, asked in zip(case.rows, questions, bits, quiet, strict=True):
        said.append(learner.predict(alone, x[None])[0])
        knew.append(abilities.known(learner, alone))
        alone = (learner.tell_asked if asked else learner.tell)(alone, x, question, bit)
    look = partial(learner.tell_judged, state, case.rows, questions, bits, quiet)
    found = _pure(learner, state, look, "tell_judged")
    _require_same(learner, alone, found.state, "tell_judged gives another state than tell and tell_asked, one by one")
    _require(_close(found.said[quiet], np.array(said)[quiet]), "tell_judged says otherwise what was predicted")
    _require(np.array_equal(found.known, knew), "tell_judged says otherwise how many answers were known")


def _check_fits(learner: abilities.Refits[Any], state: Any, case: _Case) -> None:
    """A fit is pure, survives its bytes and may come late; with it a state is due no more, and goes through arrays."""
    if not _pure(learner, state, partial(learner.due, state), "due"):
        return
    packed = pack(_pure(learner, state, partial(learner.fit, state), "fit"))
    _require(packed == pack(learner.fit(state)), "fit gave two different fits of one state")
    question = learner.ask(state, case.rows[0], case.drawn(learner, 0))
    later = learner.tell(state, case.rows[0], question, question.answer(case.labels[0]))
    for at in (state, later):
        fit = unpack(packed)
        fitted = _pure(learner, at, partial(learner.adopt, at, fit), "adopt")
        _require(pack(fit) == packed, "adopt changed the fit it was given")
        _require(not learner.due(fitted), "a fit is due although one was taken over just now")
        _require(learner.count(fitted) == learner.count(at), "adopt counts as an answer")
        _require_numbers(learner.predict(fitted, case.rows), (len(case.rows), learner.space.m), "what a fit predicts")
        returned = learner.from_arrays(_copied(learner, fitted))
        _require_same(learner, returned, fitted, "a state with a fit changes through arrays")
        alike = np.array_equal(learner.predict(returned, case.rows), learner.predict(fitted, case.rows))
        _require(alike, "a state with a fit predicts otherwise after a trip through arrays")


_ABILITIES: dict[type[Learner[Any]], Callable[[Any, Any, _Case], None]] = {
    abilities.HasDeviation: _check_deviation,
    abilities.HasInterval: _check_interval,
    abilities.HasProbabilities: _check_probabilities,
    abilities.Forecasts: _check_forecasts,
    abilities.AsksAgain: _check_again,
    abilities.FindsRange: _check_range,
    abilities.TellsMany: _check_many,
    abilities.Hindsight: _check_hindsight,
    abilities.KnowsPeople: _check_people,
    abilities.Blends: _check_blend,
    abilities.TellsJudged: _check_judged,
}


def _pure(learner: Learner[Any], state: Any, call: Callable[[], _R], name: str) -> _R:
    """Return what a call returns, twice the same, with the state as it was."""
    before, found = _copied(learner, state), call()
    _require(_same(before, learner.to_arrays(state)), f"{name} changed the state it was given")
    return found


def _require_numbers(found: Array, shape: tuple[int, ...], what: str) -> None:
    _require(np.shape(found) == shape, f"{what} has shape {np.shape(found)}, not {shape}")
    _require(bool(np.isfinite(found).all()), f"{what} is not finite")


def _check_question(question: Question, labels: Array) -> None:
    back = question_from_json(json.dumps(question.to_json(), allow_nan=False))
    _require(back == question and hash(back) == hash(question), f"{question} does not survive JSON")
    same = all(back.answer(label) == question.answer(label) for label in labels)
    _require(same and len(str(question)) > 0, f"{question} answers differently after JSON")


def _refuses(learner: Learner[Any], state: Any, x: Array, question: Question) -> None:
    for bad_row, answer in ((x * np.nan, True), (x[:0], True), (x, "yes"), (x, None)):
        before = _copied(learner, state)
        try:
            learner.tell(state, bad_row, question, answer)  # type: ignore[arg-type]  # that is the point
        except InvalidArgument:
            _require(_same(before, learner.to_arrays(state)), "a refused call changed the state")
        else:
            raise AssertionError(f"tell took the answer {answer!r} about the row {bad_row}")


def _integrated(gradient: WeakGradient, z: Array, y: Array, atoms: Array) -> Array:
    """Return E[G]: every discrete draw in turn, and V by quadrature on each side of the bit's jump."""
    if atoms.shape[1] == gradient.width(len(z)):
        return np.asarray(draws_of(gradient, z, y, atoms).mean(axis=0))
    return np.asarray(np.mean([_over_v(gradient, z, y, lead) for lead in atoms], axis=0))


def _over_v(gradient: WeakGradient, z: Array, y: Array, lead: Array) -> Array:
    nodes, weights = _quadrature()
    jump, total = _jump(gradient, z, y, lead), np.zeros(len(z))
    for a, b in ((0.0, jump), (jump, 1.0)):
        v = a + (b - a) * (nodes + 1) / 2
        uniform = np.column_stack([np.tile(lead, (len(v), 1)), v])
        total += (b - a) / 2 * weights @ draws_of(gradient, z, y, uniform)
    return total


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(400)  # a tenth of a second each time


def _jump(gradient: WeakGradient, z: Array, y: Array, lead: Array) -> float:
    """Return the v in (0, 1) where the answer changes, by bisection (an end where it does not)."""

    def bit(v: float) -> bool:
        plan = gradient.plan(len(z), np.array([[*lead, v]]))
        return bool(((y - z) @ plan.directions[0] > -plan.offset[0]) != (plan.turned is not None and plan.turned[0]))

    low, high = 1e-15, 1 - 1e-15
    if bit(low) == bit(high):
        return 0.0 if bit(low) else 1.0
    first = bit(low)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if bit(middle) == first else (low, middle)
    return high


def _alike(a: Question, b: Question) -> bool:
    if isinstance(a, HalfSpace) and isinstance(b, HalfSpace):
        close = np.allclose([*a.direction, a.threshold], [*b.direction, b.threshold], rtol=1e-9, atol=1e-9)
        return bool(close and np.isclose(a.density, b.density))
    if isinstance(a, Subset) and isinstance(b, Subset):
        drawn = np.allclose([a.probability, *a.yes, *a.no], [b.probability, *b.yes, *b.no], rtol=1e-9, atol=1e-9)
        return bool(a.members == b.members and drawn)
    return a == b


def _copied(learner: Learner[Any], state: Any) -> dict[str, Array]:
    return {name: np.array(array) for name, array in learner.to_arrays(state).items()}


def _same(a: dict[str, Array], b: dict[str, Array]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def _require_same(learner: Learner[Any], a: Any, b: Any, message: str) -> None:
    """Raise unless two states are the same, bit for bit."""
    _require(_same(learner.to_arrays(a), learner.to_arrays(b)), message)


def _close(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=1e-7, atol=1e-7 * float(np.abs(b).max() + 1e-300)))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
