"""How often each person errs, from answers whose honest chances are known.

    P(yes | person a) = pi + (1 - 2 pi) (g_a + (1 - g_a - l_a) p) ,     logit p_s = s logit p_model ,
    p = d + (1 - d - e) p_s ,

with p_model the chance of an honest yes by a model, g how often a says yes whatever is true, and l how often no; pi is
how often answers are flipped after that, as they are where they are private: people's rates are without it.  The
posterior of (g, l) is computed on a grid.  Of the prior's weight a tenth is on people who do not look, g + l ~ 1; half
of the rest is on people who err alike on both sides, g = l, half on people who lean to one, and its mean is the
crowd's, which is found from all of them.

Answers to one question share its truth: p is then the chance after what the others said, by their own rates.

The doubts d, of its no, and e, of its yes, are the model's own share in what looks like slips of everybody.  They are
those that explain all answers best: without them, everybody would be suspected while the model knows little, and it
would go on to know little.  Of numbers both are the same.  A model of classes may have no idea of a part of one, and
all who say yes there seem to say so regardless: then d is larger.  The sharpness s is 1 or more, as a model that has
learnt from people who err, or from some of the answers alone, is less sure than it could be: everybody would seem to be
more careful than they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc, expit, logit

from askone._common.types import Array
from askone.learners.people.habits import KnownHabits

_LOGITS = np.linspace(logit(0.002), logit(0.95), 30)
_GRID = expit(_LOGITS)
_EDGES = expit(_LOGITS[:, None] + np.array([-0.5, 0.5]) * (_LOGITS[1] - _LOGITS[0]))
_STRENGTH = 4.0  # answers that the prior counts for
_BLIND, _NEARLY = 0.1, 0.15  # of its weight, on people who do not look; and how near g + l is to 1 there
_FIRST, _WEIGHT = 0.03, 2.0  # the mean of a crowd that nobody knows, and the people that it counts for
_KNOWN = 20.0  # answers by which a person has half a say in that mean
_ROUNDS = 3
_DOUBTS = (0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
_SHARPER = (1.3, 1.7, 2.2)
_BINS = 60  # of chances, on the logistic scale
_TINY = 1e-6
_SURE = 7.0  # the logit beyond which a chance is as good as certain
_CONTRARY = 1.2  # the most that g and l can come to
_LEVEL = 0.95


@final
class CrowdRates(NamedTuple):
    """How people answer, by the means of g and l, with their intervals (n x 2 x 2); the crowd's mean.

    ``evidence`` is the log-likelihood of all answers, by which models that give chances can be compared; ``foretold``
    has for each person the sum of the log-chances of their answers, each by the others; ``sharpness`` is s.
    """

    habits: KnownHabits
    intervals: Array
    common: float
    evidence: float
    foretold: Array
    sharpness: float


def rates_of(
    places: Array, bits: Array, chances: Array, people: int, questions: Array | None = None, flip: float = 0.0,
    rounds: int = _ROUNDS, doubts: tuple[float, ...] = _DOUBTS, sharper: tuple[float, ...] = _SHARPER,
    uneven: bool = False,
) -> CrowdRates:  # fmt: skip
    """Return the rates of so many people by answers: whose each is, what it says, and the chance of an honest yes.

    ``questions`` says which answers are to one question; None: each is to its own.  ``flip`` is how often what people
    said was flipped.  ``uneven``: a no of the model may be doubted more or less than a yes.

    >>> sure = np.tile([0.99, 0.01], 60)
    >>> ann, bob = sure[:80] > 0.5, np.ones(40, bool)
    >>> found = rates_of(np.repeat([0, 1], [80, 40]), np.append(ann, bob), sure, 2)
    >>> found.habits.rates.round(1).tolist()
    [[0.0, 0.0], [0.9, 0.0]]
    """
    several = np.zeros(len(places), bool) if questions is None else np.bincount(questions)[questions] > 1
    alone = _Alone(places[~several], bits[~several], chances[~several], people)
    shared = None
    if questions is not None and several.any():
        shared = _Shared(places[several], bits[several], chances[several], questions[several])

    def best(sights: Iterable[Sight]) -> _Found:
        return max((_found_at(alone, sight, shared, flip, rounds) for sight in sights), key=_evidence)

    found = best(Sight(d, d) for d in doubts)
    s = best(found.sight._replace(sharpness=s) for s in (1.0, *sharper)).sight.sharpness
    if s != 1.0:
        found = best(Sight(d, d, s) for d in doubts)
    for side in ("no", "yes") if uneven else ():
        found = max(found, best(found.sight._replace(**{side: d}) for d in doubts), key=_evidence)
    # P(b_i | others) = 1 / E[1 / P(b_i | g, l)], by the posterior with b_i in it.
    without = -np.log(np.tensordot(found.posterior, np.exp(-_logs(flip)), axes=((1, 2), (2, 3))))
    foretold = (found.counts * without).sum(axis=(1, 2))
    ends, sharpness = _ends(found.sides), found.sight.sharpness
    return CrowdRates(KnownHabits(found.means), ends, found.common, found.evidence, foretold, sharpness)


@final
class Sight(NamedTuple):
    """The doubts in a model's no and in its yes, and how much surer it could be."""

    no: float
    yes: float
    sharpness: float = 1.0

    def of(self, chances: Array) -> Array:
        """Return p by what the model says."""
        if self.sharpness != 1.0:
            chances = expit(self.sharpness * logit(np.clip(chances, _TINY, 1.0 - _TINY)))
        return np.asarray(self.no + (1.0 - self.no - self.yes) * chances)


@final
class _Alone(NamedTuple):
    """Answers to questions that one person answered each, and how many people there are."""

    places: Array
    bits: Array
    chances: Array
    people: int

    def counted(self, sight: Sight) -> Array:
        """Return how many answers of each person there are in each bin of chances."""
        return _counted(self.places, self.bits, sight.of(self.chances), self.people)


@final
class _Shared(NamedTuple):
    """Answers to questions that several people answered."""

    places: Array
    bits: Array
    chances: Array
    questions: Array

    def logs(self, sight: Sight, means: Array, flip: float) -> Array:
        """Return the log-likelihood of each (g, l) by the chances after what others with these rates said."""
        g, no = (flip + (1.0 - 2.0 * flip) * means[self.places]).T
        says = np.where(self.bits, np.log((1.0 - no) / g), np.log(no / (1.0 - g)))
        others = np.bincount(self.questions, says)[self.questions] - says
        chances = expit(logit(sight.of(self.chances)) + others)
        counts = _counted(self.places, self.bits, chances, len(means))
        return np.tensordot(counts, _logs(flip), axes=((1, 2), (0, 1)))


def _counted(places: Array, bits: Array, chances: Array, people: int) -> Array:
    """Return how many answers of each person there are in each bin of chances, people x 2 x bins."""
    at = np.clip(logit(np.clip(chances, _TINY, 1.0 - _TINY)), -_SURE, _SURE)
    bins = np.minimum(((at + _SURE) / (2 * _SURE) * _BINS).astype(np.int64), _BINS - 1)
    cells = (2 * places + bits.astype(np.int64)) * _BINS + bins
    return np.bincount(cells, minlength=2 * people * _BINS).reshape(people, 2, _BINS).astype(np.float64)


@lru_cache(maxsize=4)
def _logs(flip: float) -> Array:
    """Return log P(answer) of no and yes, in each bin of chances, at each (g, l): 2 x bins x grid x grid."""
    p = expit((np.arange(_BINS) + 0.5) / _BINS * 2 * _SURE - _SURE)[:, None, None]
    said = _GRID[:, None] + (1.0 - _GRID[:, None] - _GRID[None, :]) * p
    yes = np.clip(flip + (1.0 - 2.0 * flip) * said, 1e-12, 1.0 - 1e-12)
    return np.asarray(np.log(np.stack([1.0 - yes, yes])))


@final
class _Found(NamedTuple):
    """What is found at some sight: the posterior of each person on the grid, and its two sides."""

    sight: Sight
    counts: Array
    posterior: Array
    sides: Array
    common: float
    evidence: float

    @property
    def means(self) -> Array:
        return np.asarray(self.sides @ _GRID)


def _evidence(found: _Found) -> float:
    return found.evidence


def _found_at(alone: _Alone, sight: Sight, shared: _Shared | None, flip: float, rounds: int) -> _Found:
    """Return what is found by chances that are taken so."""
    counts = alone.counted(sight)
    said = np.tensordot(counts, _logs(flip), axes=((1, 2), (0, 1)))
    answers = counts.sum(axis=(1, 2)) + (0 if shared is None else np.bincount(shared.places, minlength=len(counts)))
    say, common, means = answers / (answers + _KNOWN), _FIRST, np.full((len(counts), 2), _FIRST)
    for _ in range(rounds):
        logs = said + (0.0 if shared is None else shared.logs(sight, means, flip)) + _log_prior(round(common, 2))
        top = logs.max(axis=(1, 2))
        posterior = np.exp(logs - top[:, None, None])
        total = posterior.sum(axis=(1, 2))
        posterior /= total[:, None, None]
        sides = np.stack([posterior.sum(axis=2), posterior.sum(axis=1)], axis=1)
        means = sides @ _GRID
        common = float((say @ means.mean(axis=1) + _WEIGHT * _FIRST) / (say.sum() + _WEIGHT))
    return _Found(sight, counts, posterior, sides, common, float((top + np.log(total)).sum()))


def _blind() -> Array:
    """Return the chance of each (g, l) among people who do not look: all are alike where l is nearly 1 - g."""
    width = np.diff(_EDGES, axis=1)[:, 0]
    near = np.where(np.abs(np.add.outer(_GRID, _GRID) - 1.0) < _NEARLY, np.outer(width, width), 0.0)
    return np.asarray(near / near.sum())


@cache
def _log_prior(mean: float) -> Array:
    """Return the log of the prior at each (g, l)."""
    alone = np.diff(betainc(_STRENGTH * mean, _STRENGTH * (1 - mean), _EDGES), axis=1)[:, 0]
    alone = np.maximum(alone / alone.sum(), 1e-12)
    both = (1.0 - _BLIND) * (0.5 * np.diag(alone) + 0.5 * np.outer(alone, alone)) + _BLIND * _blind()
    # Nobody says the contrary of the truth more often than not: else a model and its crowd could be upside down.
    both[np.add.outer(_GRID, _GRID) > _CONTRARY] = 1e-300
    return np.asarray(np.log(both / both.sum()))


def _ends(sides: Array) -> Array:
    """Return the ends that hold 95 % of each distribution over the grid's cells."""
    below, last = np.cumsum(sides, axis=-1), len(_GRID) - 1
    low, high = ((below < tail).sum(axis=-1) for tail in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
    high = np.minimum(high, last)
    # The cells at the ends stand for all beyond: there are people who never err, and some who always say the same.
    return np.stack([np.where(low == 0, 0.0, _EDGES[low, 0]), np.where(high == last, 1.0, _EDGES[high, 1])], axis=-1)
