"""Weak gradients of answers that are flipped, and given by people who err: unbiased, by enumeration of both bits."""

from dataclasses import replace

import numpy as np
import pytest

import askone
from askone import privacy, theory
from askone.checks import check_learner
from askone.errors import IncompatibleParts, InvalidArgument
from askone.labels.classes import Classes
from askone.labels.losses import Huber, LogCosh, Logistic, Median, Quantile, Squared
from askone.labels.number import Real
from askone.labels.ranking import Ranking
from askone.learners.gradients.half_space import (
    DitheredSign,
    HalfCauchy,
    MedianSphere,
    QuantileThreshold,
    SquaredThreshold,
    pair,
)
from askone.learners.gradients.ranking import rank_strategy
from askone.learners.gradients.subset import set_strategy
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.step_search import StepSearch
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import Constant, InverseSqrt
from askone.questions.base import HONEST, ErrorRates
from samples import constant_model, small_labels, small_rows

CASES = [(privacy.flip_probability(one), slips) for one in (1.0, 3.0) for slips in (HONEST, ErrorRates(0.3, 0.1))]
CASES += [(0.0, ErrorRates(0.05, 0.6)), (0.25, ErrorRates(0.1, 0.1))]
WEAK = {
    "median": MedianSphere(),
    "squared": SquaredThreshold(),
    "within a limit": SquaredThreshold(limit=1.0),
    "half-Cauchy": HalfCauchy(),
    "quantile": QuantileThreshold(Quantile(0.9)),
    "huber": DitheredSign(Huber(0.25)),
    "logcosh": DitheredSign(LogCosh(0.25)),
}
STRATEGIES = {
    "designed": set_strategy(Classes(tuple("abcd")), Squared(), "designed"),
    "singletons": set_strategy(Classes(tuple("abcd")), Logistic(), "singletons"),
    "sphere": set_strategy(Classes(tuple("abcd")), Median(), "sphere"),
    "borda": rank_strategy(Ranking(tuple("abc")), None, "borda"),
    "bradley-terry": rank_strategy(Ranking(tuple("abc")), None, "bradley-terry"),
}


def chances(truth, pi, slips):
    """How often no and yes arrive where this is true: slips first, then flips."""
    said = slips.heard(True, float(truth))
    yes = pi * (1 - said) + (1 - pi) * said
    return {False: 1 - yes, True: yes}


@pytest.mark.parametrize(("pi", "slips"), CASES)
@pytest.mark.parametrize(
    ("name", "outputs"), [(name, m) for name, one in WEAK.items() for m in (1, 2) if m == 1 or not one.single_output]
)
def test_numbers(name, outputs, pi, slips):
    """The mean step over what arrives is that of the honest answer, shorter as gradients may be longer."""
    gradient = WEAK[name]
    space = Real((-1.0,) * outputs, (1.0,) * outputs)
    honest = SGDLearner(space, constant_model(), gradient, Constant(0.1))
    flipped = replace(honest, flip=pi)
    rng, x = np.random.default_rng(0), np.zeros(1)
    for _ in range(4):
        question = honest.ask(honest.init(), x, rng.uniform(size=honest.width))
        for truth in (True, False):

            def step(learner, bit, asked=question):
                return learner.iterate(learner.tell(learner.init(), x, asked, bit), x[None])[0]

            told = [(p, step(flipped, bit, question.put_to(slips))) for bit, p in chances(truth, pi, slips).items()]
            mean = sum(p * moved for p, moved in told)
            assert np.allclose(mean, (1 - 2 * pi) * step(honest, truth), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("pi", "slips"), CASES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_classes_and_orders(name, pi, slips):
    strategy = STRATEGIES[name]
    learner = Surrogate(strategy, constant_model(), flip=pi)
    rng, z = np.random.default_rng(0), strategy.origin + 0.1
    for _ in range(4):
        question = strategy.ask(z, rng.uniform(size=strategy.width), 0)
        for truth in (True, False):
            told = [
                (p, learner._taught(question.put_to(slips), bit, z)) for bit, p in chances(truth, pi, slips).items()
            ]
            mean = sum(p * gradient for p, gradient in told)
            assert np.allclose(mean, strategy.teach(question, truth, z), rtol=1e-9, atol=1e-12)


def test_exams_of_steps_are_judged_by_what_is_left_of_answers():
    pi, slips = 0.25, ErrorRates(0.2, 0.1)
    steps = tuple(SGDLearner(Real(-1, 1), constant_model(), step=InverseSqrt(gamma)) for gamma in (0.1, 1.0))
    honest = StepSearch(steps, 0, 60)
    flipped = StepSearch(tuple(replace(one, flip=pi) for one in steps), 0, 60)
    state, x = honest.init(), np.zeros(1)
    question = honest.ask(state, x, np.array([0.3, 0.0]))
    assert question.purpose == "exam"
    for truth in (True, False):
        told = chances(truth, pi, slips).items()
        mean = sum(p * flipped.tell(state, x, question.put_to(slips), bit).totals for bit, p in told)
        assert np.allclose(mean, honest.tell(state, x, question, truth).totals, atol=1e-12)


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_learner_of_flipped_answers_keeps_the_contract(outputs):
    space = Real((-1.0,) * outputs, (1.0,) * outputs)
    learner = SGDLearner(space, constant_model(), flip=0.2)
    check_learner(learner, small_rows(30, 1), small_labels(outputs, 30))


def test_what_cannot_be_corrected_is_refused():
    space, model = Real(-1, 1), constant_model()
    passive = pair(Median(), "passive")
    with pytest.raises(IncompatibleParts, match="flip"):
        SGDLearner(space, model, passive, flip=0.1)
    for flip in (-0.1, 0.5, float("nan")):
        with pytest.raises(InvalidArgument, match="flip"):
            SGDLearner(space, model, flip=flip)
    for learner in (SGDLearner(space, model), SGDLearner(space, model, passive)):
        question = learner.ask(learner.init(), [0.0], np.full(learner.width, 0.5))
        rates = ErrorRates(0.5, 0.5) if learner.gradient is not passive else ErrorRates(0.1, 0.1)
        with pytest.raises(InvalidArgument, match=r"slips|question"):
            learner.tell(learner.init(), [0.0], question.put_to(rates), True)
    for learner in (askone.SGD(questions="full"), askone.SGD(questions="passive"), askone.RecursiveLeastSquares()):
        with pytest.raises(IncompatibleParts, match="flip"):
            askone.OneBitRegressor(-1, 1, learner=learner, flip=0.1).start([[0.0], [1.0]])


@pytest.mark.parametrize("pi", [0.1, 0.25])
def test_theorem_1_holds_with_flips(pi):
    """The excess risk of a median, mean over 40 runs of Algorithm 1 with the theorem's step, is below its bound."""
    T, M, excess = 400, 0.5, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.clip(0.5 + 0.2 * rng.standard_normal(T), -1, 1)
        learner = SGDLearner(Real(-1, 1), constant_model(), step=Constant(theory.step(1.0, M, T)), flip=pi)
        state = learner.init()
        for label, u in zip(y, rng.uniform(size=T), strict=True):
            question = learner.ask(state, [0.0], np.empty(0))
            state = learner.tell(state, [0.0], question, bool(question.holds(label)) != (u < pi))
        found = float(learner.predict(state, [[0.0]])[0, 0])
        fresh = np.clip(0.5 + 0.2 * np.random.default_rng(1000).standard_normal(20_000), -1, 1)
        excess.append(float(np.abs(fresh - found).mean() - np.abs(fresh - np.median(fresh)).mean()))
    assert np.mean(excess) <= theory.bound(1.0, M, 1, T, flip=pi)
    assert theory.bound(1.0, M, 1, T, flip=pi) == pytest.approx(theory.bound(1.0, M, 1, T) / (1 - 2 * pi))
