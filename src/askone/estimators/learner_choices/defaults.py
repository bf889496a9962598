"""Learners by likelihood, with nothing to tune: the defaults for numbers, classes and orders."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from askone._common.validate import as_choice, as_number
from askone.errors import InvalidArgument, incompatible
from askone.estimators.learner_choices.base import FeatureChoice, Setup, calibrated, need_range
from askone.features.graph import FEWEST, NODES, NeighbourGraph, distinct
from askone.features.kernels import median_distance
from askone.features.maps import FeatureMap, Front, Intercept, Nystroem
from askone.learners.base import Learner
from askone.learners.contest import Contest
from askone.learners.forgetting import Forgetting
from askone.learners.kalman.prediction_intervals import Intervals
from askone.learners.kalman.regressor import GOALS, NOISES, PRIORS, FilterLearner
from askone.learners.mixture.classes import ClassMixture
from askone.learners.mixture.discriminant import DiscriminantMember
from askone.learners.mixture.kernel import KernelMember
from askone.learners.mixture.members import FittedMember, LinearMember
from askone.learners.mixture.number import NumberMixture
from askone.learners.mixture.trees import TreeMember
from askone.learners.people.crowd import CrowdLearner
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.learners.thurstone.banks import default_bank
from askone.learners.thurstone.base import MANY
from askone.learners.thurstone.many import ManyItemsLearner
from askone.learners.thurstone.ranker import ThurstoneLearner
from askone.questions.base import known_rates

COVARIANCES = ("auto", "full", "diagonal")
_ROOM = (20_000_000, 40_000_000)  # numbers beyond which banks have one prior scale, and diagonal covariances

# Bandwidths, as parts of the median distance; for numbers they cost least.
_NUMBERS = (0.25, 0.5, 1.0, 2.0, 4.0)
_CLASSES = (0.4, 0.8, 0.15)
_JUDGED, _PLENTY = 256, 10  # answers before features are judged, of so many classes; more classes want more
_ORDERS = (0.35, 0.7, 1.4)
_BESIDE = 100  # components of the kernel beside the features of a graph

_TABLE = (2, 512)  # columns beside which trees are fitted: beyond, they take long, and rows are mostly vectors
_MANY = 10  # from so many columns on a kernel of more rows than the bank's is fitted beside
_NORMAL = (1024, 100)  # most columns, and most classes, beside which normal distributions are fitted
_WIDE = 33  # from so many columns on linear models are fitted beside; a bank has a linear map of its own
_CAREFUL = 0.1  # error rates below this are taken for 0: they are known too roughly to be of use
_AGAIN = 1.5  # growth of the answers after which classes are learnt anew with what is known of people: that is quick
_SUSPECTS = 8  # people of whom it is tried early whether they look at all
_STEEPEST = 0.03  # the least noise where answers are guessed, in halves of the range
_LINES = (2.0, 5.0, 12.0)  # prior scales of their weights
# Cells of classes are so little curved that more, or longer, steps only make forecasts too sure.
_CLASS_TREES: dict[str, Any] = {"depth": 5, "rounds": 40, "rate": 0.2, "penalty": 2.0, "least": 20, "part": 0.8,
                                "wide": 32}  # fmt: skip


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Filters(FeatureChoice):
    """Learn the median, or a quantile, of numbers by a bank of one-bit Kalman filters: nothing to tune.

    Parameters
    ----------
    quantile : float
        What is learnt: 0.5 is the median.
    covariance : "auto", "full", "diagonal"
        "diagonal" keeps p numbers a filter instead of p^2, for very many features, at the price of questions;
        "auto" turns to it where full ones would take more than 300 MB.
    wary : float
        How often answers may be wrong for a while: filters that reckon with it stand beside the others.  It overcomes
        a bad start, and costs where rows come in no random order.
    forgets : bool
        Begin anew when forecasts say that the concept has changed; what was learnt before comes back if it forecasts
        better again.
    goal : "value", "revenue"
        "revenue" asks at the price that earns most, where labels are what an offer is worth to people: most offers at
        the best price by what is known, one in four to find out (see ``kalman.pricing``).  A range from 0 on is needed.
    guess, lapse : float
        How often the answer is yes, and how often no, whatever is true, where that is known:
        P(yes) = guess + (1 - guess - lapse) P(the value is above).  The estimator's ``flip`` comes on top.  A range is
        needed.
    calibration : int
        Questions per output spent on the range where none is declared.
    fitted : bool
        Whether trees and lines learn beside the bank (see ``NumberMixture``): of one number, its median, where model,
        kernel and bandwidth are left to it, rows have two columns or more, and nothing is guessed or lapses.
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features.  "auto" is linear and whitened Nyström features at a quarter, half, once,
        twice and four times the median distance, weighted by the answers.
    """

    quantile: float = 0.5
    covariance: str = "auto"
    wary: float = 0.0
    forgets: bool = True
    goal: str = "value"
    guess: float = 0.0
    lapse: float = 0.0
    calibration: int = 60
    fitted: bool = True
    forecasts: ClassVar[bool] = True

    def _learner(self, setup: Setup) -> Learner[Any]:
        return CrowdLearner(self._alone(setup), careful=_CAREFUL, flip=setup.flip)

    def _alone(self, setup: Setup) -> Learner[Any]:
        """Return the learner of answers that nobody is named with."""
        quantile = as_number(self.quantile, "quantile", 0.0, 1.0, strict=True)
        offers = as_choice(self.goal, "goal", GOALS) == "revenue"
        chance = sum(known_rates(self.guess, self.lapse)) > 0.0
        if chance:
            need_range(setup, "with guess or lapse a range cannot be sought")
        if offers:
            self._check_offers(setup, quantile)
        plain = setup.space.m == 1 and quantile == 0.5 and setup.interval is None and not (chance or offers)
        beside = members(self, setup) if plain else ()
        inner = setup.front() if beside else setup
        maps = self._maps(inner, _NUMBERS)
        # A full covariance is p^2 numbers for each filter and output: then there is room for fewer filters.
        numbers = setup.space.m * len(maps) * len(NOISES) // 2 * max(one.size for one in maps) ** 2
        covariance = as_choice(self.covariance, "covariance", COVARIANCES)
        diagonal = covariance == "diagonal" or (covariance == "auto" and numbers > _ROOM[1])
        priors = PRIORS if diagonal or len(PRIORS) * numbers <= _ROOM[0] else (1.0,)
        options: dict[str, Any] = {"priors": priors, "quantile": quantile, "flip": setup.flip, "diagonal": diagonal}
        options |= {"wary": self.wary, "forgets": self.forgets, "guess": self.guess, "lapse": self.lapse}
        options["goal"] = self.goal
        if chance:  # filters of next to no noise would take most surprises for guesses, and stay where they are
            options["noises"] = tuple(s for s in NOISES if s >= _STEEPEST)
        bank = FilterLearner(setup.space, maps, **options)
        if beside:
            return calibrated(NumberMixture(bank, beside, setup.row_layout, setup.flip), self.calibration, setup)
        if setup.interval is None:
            return calibrated(bank, self.calibration, setup)
        if quantile != 0.5:
            raise incompatible("interval", setup.interval, f"the quantile {quantile}", [None])
        level = as_number(setup.interval, "interval", 0.0, 1.0, strict=True)
        return calibrated(Intervals(bank, level), self.calibration, setup)

    def _check_offers(self, setup: Setup, quantile: float) -> None:
        """Refuse what says how else to ask than by prices."""
        need_range(setup, "with goal='revenue' a range cannot be sought")
        if setup.interval is not None:
            raise incompatible("interval", setup.interval, "goal='revenue'", [None])
        if quantile != 0.5:
            raise incompatible("quantile", quantile, "goal='revenue'", [0.5])
        if sum(known_rates(self.guess, self.lapse)) > 0.0:
            raise incompatible("guess or lapse", (self.guess, self.lapse), "goal='revenue'", [0.0])
        if setup.space.m > 1 or setup.space.bundles:
            raise incompatible("goal", self.goal, "several outputs", ["value"])


@final
class MissingExtraWarning(UserWarning):
    """A library is not installed with which more would be learnt."""


def members(choice: Filters | SetLikelihood, setup: Setup) -> tuple[FittedMember, ...]:
    """Return the models that are fitted beside a learner: none where rows have one column."""
    if not isinstance(choice.fitted, bool):
        raise InvalidArgument("fitted", "True or False", repr(choice.fitted))
    layout = setup.row_layout
    if not choice.fitted or choice.model != "auto" or choice.kernel != "gaussian" or choice.bandwidth is not None:
        return ()
    found: list[FittedMember] = []
    trees = TreeMember(layout, seed=setup.seed, **(_CLASS_TREES if isinstance(choice, SetLikelihood) else {}))
    if _TABLE[0] <= trees.columns <= _TABLE[1]:
        found.append(trees)
        if not trees.ready:
            warnings.warn(
                "LightGBM, or libgomp, which it needs, is not installed: no trees learn beside the default learner. "
                "pip install 'askone[trees]' has LightGBM, the system's packages have libgomp",
                MissingExtraWarning,
                stacklevel=2,
            )
    if layout.pairs or layout.dense >= _WIDE:
        found += [LinearMember(layout, setup.front().scaler, tau) for tau in _LINES]
    if isinstance(choice, SetLikelihood) and 2 <= layout.dense <= _NORMAL[0] and setup.space.size <= _NORMAL[1]:
        found.append(DiscriminantMember(layout, setup.front().scaler, seed=setup.seed))
    if isinstance(choice, Filters) and layout.dense >= _MANY:
        found.append(KernelMember(layout, setup.front().scaler, seed=setup.seed))
    return tuple(found)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SetLikelihood(FeatureChoice):
    """Learn classes by softmax regression that makes the answers most likely: nothing to tune.

    Parameters
    ----------
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features.  With neither bandwidth nor model there are several bandwidths and
        linear features, and the answers choose (see ``Contest``); when the concept changes, it begins anew (see
        ``Forgetting``).
    fitted : bool
        Whether trees, normal distributions and lines learn beside (see ``ClassMixture``), where model, kernel and
        bandwidth are left to it, and rows have two columns or more.
    graph : bool
        Whether the graph of the rows that are shown is among them, too (see ``NeighbourGraph``): of 60 different rows
        or more; of more than 4,000, so many, drawn at random, are its nodes.
    """

    fitted: bool = True
    graph: bool = True
    forecasts: ClassVar[bool] = True
    small_sets: ClassVar[bool] = True

    def _learner(self, setup: Setup) -> Learner[Any]:
        return CrowdLearner(self._alone(setup), again=_AGAIN, flip=setup.flip, suspects=_SUSPECTS)

    def _alone(self, setup: Setup) -> Learner[Any]:
        """Return the learner of answers that nobody is named with."""
        if self.model == "auto" and self.kernel != "linear":
            if self.bandwidth is None:
                beside = members(self, setup)
                inner = setup.front() if beside else setup
                linear, *kernels = self._maps(inner, _CLASSES)
                soon = (*self._graph(inner), linear)
                each = [SetLikelihoodLearner(setup.space, features, setup.flip) for features in (*kernels, *soon)]
                # Weights grow with the number of classes, and what an answer says of each of them falls with it.
                first = round(_JUDGED * min(max(1.0, (setup.space.size / _PLENTY) ** 2), 4.0))
                quick = tuple(range(len(kernels), len(each)))
                base = Forgetting(Contest(tuple(each), quick=quick, first=first, last=8 * first))
                return ClassMixture(base, beside, setup.row_layout, setup.flip) if beside else base
            if setup.rows is None:
                return replace(self, model="fourier")._alone(setup)
        features = self._features(setup, linear=setup.rows is None)
        return Forgetting(SetLikelihoodLearner(setup.space, features, setup.flip))

    def _graph(self, setup: Setup) -> list[FeatureMap]:
        """Return the features of the graph of rows, if they were shown and are enough."""
        if not isinstance(self.graph, bool):
            raise InvalidArgument("graph", "True or False", repr(self.graph))
        front = setup.front()
        rows, scaler = front.rows, front.scaler
        if not self.graph or rows is None or front.columns < 2 or len(distinct(scaler, rows[: 4 * NODES])) < FEWEST:
            return []
        width = _CLASSES[0] * median_distance(scaler(rows), self.kernel)
        beside = Nystroem.from_rows(rows, _BESIDE, self.kernel, width, scaler=scaler, seed=setup.seed)
        graph = NeighbourGraph.from_rows(rows, beside, scaler=scaler, seed=setup.seed)
        return [graph if front is setup else Front(graph, setup.columns)]


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Thurstone(FeatureChoice):
    """Learn orders by Gaussian utilities of the items, asking the pair that should tell most: nothing to tune.

    Parameters
    ----------
    model, kernel, bandwidth, n_components
        As for ``SGD``, with fixed features.  "auto" is linear and Nyström features of three bandwidths, each
        weighted by how well it forecast the answers; without rows, one constant per item (of more than 200 items:
        ``ManyItemsLearner``).
    ties : bool
        Whether "about equal" is an answer, too (``PreferOrTie``): how near items then are is learnt from the answers.
    side : float
        Prior standard deviation of a liking for whatever is named first, in units of the noise, which is then learnt
        from answers of people who are not known.  0: there is none, and lots of who comes first even it out.
    """

    ties: bool = False
    side: float = 0.0
    forecasts: ClassVar[bool] = True

    def _learner(self, setup: Setup) -> Learner[Any]:
        space = replace(setup.space, embedding="items")
        alone = not setup.context and self.model == "auto"
        maps = (Intercept(setup.columns),) if alone else self._maps(setup, _ORDERS, space.size)
        banks = tuple(default_bank(features, setup.flip) for features in maps)
        kind = ManyItemsLearner if alone and space.size > MANY else ThurstoneLearner
        return CrowdLearner(kind(space, banks, side=self.side, ties=self.ties), flip=setup.flip)
