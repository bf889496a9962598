"""The shipped checks find what they are there to find."""

from dataclasses import replace

import numpy as np
import pytest

from askone import checks
from askone.labels.classes import Classes
from askone.labels.losses import Squared
from askone.labels.number import Real
from askone.learners.abilities import (
    AsksAgain,
    AsksMany,
    Blends,
    FindsRange,
    Forecasts,
    HasDeviation,
    HasInterval,
    HasProbabilities,
    Hindsight,
    KnowsPeople,
    Refits,
    TellsJudged,
    TellsMany,
    is_patient,
)
from askone.learners.gradients import FullGradient
from askone.learners.kalman.prediction_intervals import Intervals
from askone.learners.kalman.regressor import FilterLearner
from askone.learners.people.crowd import CrowdLearner
from askone.learners.range_search import Calibrated
from askone.learners.repeated.bisection import BisectedReal
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.softmax.classifier import SetLikelihoodLearner
from askone.questions.base import ErrorRates
from learner_samples import NAMES, five
from refitting import FittedMean
from samples import models, small_labels, small_rows

GOOD = SGDLearner(Real(-2, 2), models()["linear"])
X, Y = small_rows(), small_labels(1)


def claiming(inner, *abilities, **tricks):
    """A learner that does what another does, claims some abilities, and breaks what it is told to."""

    def passed(name):
        def method(self, *arguments):
            return tricks.get(name, getattr(inner, name))(*arguments)

        return method

    wanted = {name for ability in abilities for name in ability.__abstractmethods__}
    wanted |= {"count", "to_arrays", "from_arrays"} | ({"tell_asked"} if TellsJudged in abilities else set())
    names = (wanted | tricks.keys()) - {"columns", "width"}
    members = {name: passed(name) for name in names} | {name: getattr(inner, name) for name in wanted - names}
    kind = type("Claiming", abilities, {**members, "space": inner.space, "patient": is_patient(inner)})
    return kind()


def impure_tell(state, x, question, answer):
    following = GOOD.tell(state, x, question, answer)
    state.params.arrays[:] = following.params.arrays
    return following


_CALLS = iter(range(10**9))


def moody_ask(state, x, uniform):
    question = GOOD.ask(state, x, uniform)
    return replace(question, threshold=question.threshold + 1e-3 * next(_CALLS))


def gullible_tell(state, x, question, answer):
    return GOOD.tell(state, np.zeros(2), question, bool(answer))


@pytest.mark.parametrize(
    ("tricks", "message"),
    [
        ({"tell": impure_tell}, "tell changed the state"),
        ({"ask": moody_ask}, "two questions for one draw"),
        ({"tell": gullible_tell}, "tell took the answer"),
        ({"count": lambda state: 7}, "count does not count"),
        ({"predict": lambda state, X: np.zeros(3)}, "have shape"),
        ({"from_arrays": lambda arrays: GOOD.init()}, "changes through arrays"),
        ({"ask_many": lambda s, X, u: [replace(q, threshold=9.0) for q in GOOD.ask_many(s, X, u)]}, "ask_many differs"),
    ],
)
def test_a_broken_learner_is_found(tricks, message):
    checks.check_learner(claiming(GOOD, AsksMany), X, Y)
    with pytest.raises(AssertionError, match=message):
        checks.check_learner(claiming(GOOD, AsksMany, **tricks), X, Y)


# -- abilities --------------------------------------------------------------------------------------------


SURE = FilterLearner(Real(-2, 2), (models()["linear"].features,), noises=(0.1, 0.3), priors=(1.0,))
ENDS = Intervals(SURE, 0.8)
LIKELY = SetLikelihoodLearner(Classes(NAMES), models()["linear"].features, scales=(1.0,), temperatures=(1.0,))
AGAIN = BisectedReal(SGDLearner(Real(-2, 2), models()["linear"], FullGradient(Squared())), 0.2)
RANGED = Calibrated(SGDLearner(Real(-1, 1), models()["linear"]), 5, at_most=5)
FITS = FittedMean(Real(-2, 2), 2)
CROWD = CrowdLearner(SURE)
CLASSES = five(40)[1]


def forgetful(state, X):
    return 1.0 + SURE.count(state) * np.ones((len(X), 1))


def writing(call):
    def broken(state, *arguments):
        found = call(state, *arguments)
        for array in LIKELY.to_arrays(state).values():
            if array.flags.writeable:
                array += 1
        return found

    return broken


def counting_revisit(state, x, key=None):
    return replace(AGAIN.revisit(state, x, key), answers=state.answers + 1)


def moving_range(state):
    return (
        None
        if state.space is None
        else replace(state.space, high=state.space.highs[0] + len(state.bits) + RANGED.count(state))
    )


def tireless_ask(state, x, uniform, key=None):
    return AGAIN.ask(state if AGAIN.wants(state, x, key) else AGAIN.init(), x, uniform, key)


def one_key(state, x, key=None):
    return AGAIN.wants(state, x, "a row")


def unfitted(arrays):
    return replace(FITS.init(), bits=arrays["bits"])


def in_sample(state, X, questions, answers):
    return np.array([SURE.chance(state, x, question) for x, question in zip(X, questions, strict=True)])


def misjudged(state, X, questions, answers, quiet):
    return SURE.tell_judged(state, X, questions, answers, ~quiet)


def double(state, x, question, answer, person):
    return CROWD.tell_by(CROWD.tell(state, x, question, answer), x, question, answer, person)


def unlike(state, x, question, answer):
    said, following = SURE.learnt_and_said(state, x, question, answer)
    return 1 - said + 0.1, following


@pytest.mark.parametrize(
    ("inner", "ability", "tricks", "message"),
    [
        (SURE, HasDeviation, {"std": lambda s, X: -SURE.std(s, X)}, "std is negative"),
        (SURE, HasDeviation, {"std": lambda s, X: SURE.std(s, X)[:, 0]}, "std has shape"),
        (SURE, HasDeviation, {"std": lambda s, X: SURE.std(s, X) * np.nan}, "std is not finite"),
        (SURE, HasDeviation, {"std": forgetful}, "std grew by 60"),
        (ENDS, HasInterval, {"interval": lambda s, X, level=None: ENDS.interval(s, X, level)[::-1]}, "ends before it"),
        (ENDS, HasInterval, {"interval": lambda s, X, level=None: ENDS.interval(s, X, 1 - (level or 0.5))}, "0.99"),
        (ENDS, HasInterval, {"interval": lambda s, X, level=None: level and ENDS.interval(s, X)}, "one level"),
        (LIKELY, HasProbabilities, {"probabilities": lambda s, X: 2 * LIKELY.probabilities(s, X)}, "sum to 1"),
        (LIKELY, HasProbabilities, {"probabilities": lambda s, X: LIKELY.probabilities(s, X)[:, 1:]}, "has shape"),
        (LIKELY, HasProbabilities, {"probabilities": lambda s, X: 1 - 4 * LIKELY.probabilities(s, X)}, "negative"),
        (LIKELY, HasProbabilities, {"probabilities": writing(LIKELY.probabilities)}, "probabilities changed the state"),
        (SURE, Forecasts, {"chance": lambda s, x, q: SURE.chance(s, x, q) + 0.7}, "is none"),
        (SURE, Forecasts, {"learnt_and_said": unlike}, "learnt_and_said says"),
        (SURE, Forecasts, {"learnt_and_said": lambda s, x, q, a: (SURE.learnt_and_said(s, x, q, a)[0], s)}, "as tell"),
        (SURE, Forecasts, {"chance": lambda s, x, q: 1 - SURE.chance(s, x, q)}, "its chance of yes went"),
        (SURE, Forecasts, {"worth": lambda s, X: -1 - SURE.worth(s, X)}, "worth is negative"),
        (SURE, Forecasts, {"worth": lambda s, X: SURE.worth(s, X)[1:]}, "worth has shape"),
        (AGAIN, AsksAgain, {"wants": lambda s, x, key=None: True}, "that is wanted was not"),
        (AGAIN, AsksAgain, {"wants": lambda s, x, key=None: False}, "never asked about"),
        (AGAIN, AsksAgain, {"wants": one_key}, "goes by another key"),
        (AGAIN, AsksAgain, {"ask": tireless_ask}, "not wanted was"),
        (AGAIN, AsksAgain, {"revisit": counting_revisit}, "revisit counts"),
        (RANGED, FindsRange, {"range_at": moving_range}, "a range that was found has changed"),
        (SURE, TellsMany, {"tell_many": lambda s, X, q, a: SURE.tell_many(s, X, q, a[::-1])}, "another state"),
        (SURE, Hindsight, {"hindsight": lambda s, X, q, a: np.full(len(X), 1.1)}, "a chance of"),
        (SURE, Hindsight, {"hindsight": lambda s, X, q, a: np.full(len(X) - 1, 0.5)}, "hindsight has shape"),
        (SURE, Hindsight, {"hindsight": in_sample}, "a part in its own"),
        (SURE, Hindsight, {"relearnt": lambda s, X, q, a: SURE.init()}, "relearnt counts"),
        (SURE, TellsJudged, {"tell_judged": misjudged}, "tell_judged gives another state"),
        (CROWD, Blends, {"blend": lambda s: [("", 0.7)]}, "sum to 1, not"),
        (CROWD, KnowsPeople, {"tell_by": double}, "than nobody's"),
        (CROWD, KnowsPeople, {"people": lambda s: CROWD.people(s)[::-1]}, "people gave"),
        (CROWD, KnowsPeople, {"slips": lambda s, who: ErrorRates(0.7, 0.7)}, "no rates of errors"),
        (CROWD, KnowsPeople, {"unnamed": lambda s: s}, "a state without names"),
        (FITS, Refits, {"due": lambda s: FITS.count(s) > 5}, "just now"),
        (FITS, Refits, {"fit": lambda s: {"slope": np.array([float(next(_CALLS))])}}, "two different fits"),
        (FITS, Refits, {"adopt": lambda s, fit: FITS.adopt(s, {"slope": fit["slope"].__iadd__(1)})}, "changed the fit"),
        (FITS, Refits, {"adopt": lambda s, fit: replace(FITS.init(), at=9)}, "counts as an answer"),
        (FITS, Refits, {"to_arrays": lambda s: {"bits": s.bits}, "from_arrays": unfitted}, "otherwise after a trip"),
    ],
)  # fmt: skip
def test_whoever_claims_an_ability_is_held_to_it(inner, ability, tricks, message):
    labels = CLASSES if inner is LIKELY else Y
    checks.check_learner(claiming(inner, ability), X, labels)
    with pytest.raises(AssertionError, match=message):
        checks.check_learner(claiming(inner, ability, **tricks), X, labels)
