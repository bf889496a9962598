import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from askone import Between, HalfSpace, Subset
from askone.labels.classes import Classes
from askone.labels.number import Real
from askone.learners.mixture.bits import ClassBits, NumberBits
from askone.questions.base import ErrorRates

NUMBERS, CLASSES = NumberBits(Real(0, 10)), ClassBits(Classes(("ant", "bee", "cow", "dog")))
BITS = {
    "above": (NUMBERS, [0.3, math.inf, 1.0, 0.0, 1.0]),
    "not above": (NUMBERS, [0.3, math.inf, 0.0, 0.0, 1.0]),
    "above, by somebody who errs": (NUMBERS, [0.3, math.inf, 1.0, 0.1, 0.6]),
    "between": (NUMBERS, [-0.4, 0.9, 1.0, 0.0, 1.0]),
    "not between": (NUMBERS, [-0.4, 0.9, 0.0, 0.0, 1.0]),
    "one of two": (CLASSES, [1.0, 0.0, 1.0, 0.0, 0.0]),
    "not the first": (CLASSES, [0.0, 1.0, 1.0, 1.0, 0.0]),
    "one of two, by somebody who errs": (CLASSES, [0.9, 0.2, 0.9, 0.2, 0.0]),
}


@pytest.mark.parametrize("flip", [0.0, 0.1])
@pytest.mark.parametrize("name", list(BITS))
def test_slopes_are_those_of_the_loss(name, flip):
    likelihood, bit = BITS[name]
    bits = np.array([bit])
    for seed in range(5):
        f = np.random.default_rng(seed).normal(size=likelihood.outputs)

        def loss(at, bits=bits):
            return float(likelihood.slopes(at[None], bits, flip).losses[0])

        slopes = likelihood.slopes(f[None], bits, flip)
        assert slopes.gradient[0] == pytest.approx(approx_fprime(f, loss, 1e-7), abs=1e-5)
        assert (slopes.hessian >= 0).all()


@pytest.mark.parametrize("name", ["above", "between"])
def test_the_hessian_of_numbers_is_fishers_information(name):
    """The mean of the squared slope over yes and no, each as likely as it is; far away a little more."""
    likelihood, bit = BITS[name]
    for f in (-2.0, 0.1, 1.5, 50.0):
        yes, no = (
            likelihood.slopes(np.array([[f]]), np.array([[*bit[:2], told, *bit[3:]]]), 0.05) for told in (1.0, 0.0)
        )
        chance = math.exp(-yes.losses[0])
        information = chance * yes.gradient[0, 0] ** 2 + (1 - chance) * no.gradient[0, 0] ** 2
        assert yes.hessian[0, 0] == pytest.approx(max(information, 0.02 * (1 - 2 * 0.05) ** 2))


def test_honest_answers_about_one_end_are_logistic():
    bits = np.array([BITS["above"][1], BITS["not above"][1]])
    labels, places = NUMBERS.logistic(bits, 0.0)
    F = np.array([0.1, 0.7])
    above = 1.0 / (1.0 + np.exp(places - F))
    assert NUMBERS.slopes(F[:, None], bits, 0.0).gradient[:, 0] == pytest.approx(above - labels)
    assert NUMBERS.logistic(bits, 0.1) is None
    assert CLASSES.logistic(np.array([BITS["one of two"][1]]), 0.0) is None
    for name in ("above, by somebody who errs", "between", "not between"):
        assert NUMBERS.logistic(np.array([BITS["above"][1], BITS[name][1]]), 0.0) is None


def test_what_is_said_of_an_answer_and_of_its_opposite_adds_up():
    for likelihood, bit in BITS.values():
        heard = [1.0 - sum(bit[3:]), *bit[4:]]  # of the other answer: what is left of the first one
        other = [*bit[:2], 1.0 - bit[2], *heard] if likelihood is NUMBERS else [1.0 - one for one in bit]
        scores = np.random.default_rng(1).normal(size=likelihood.outputs)
        said = [likelihood.chances(scores, 0.7, np.array(one)) for one in (bit, other)]
        assert sum(said) == pytest.approx(np.ones(len(likelihood.temperatures)))


def test_chances_are_the_losses_at_temperature_one():
    for likelihood, bit in BITS.values():
        scores = np.random.default_rng(2).normal(size=likelihood.outputs)
        place = likelihood.temperatures.index(1.0)
        said = likelihood.chances(scores * 0.5 if likelihood is NUMBERS else scores, 0.5, np.array(bit))[place]
        scaled = likelihood.scaled(np.array([bit]), 0.5)
        assert -math.log(said) == pytest.approx(likelihood.slopes(scores[None], scaled, 0.0).losses[0])


def test_questions_become_bits():
    assert NUMBERS.bit(HalfSpace((1.0,), 7.5), True).tolist() == [0.5, math.inf, 1.0, 0.0, 1.0]
    assert NUMBERS.bit(HalfSpace((-1.0,), -7.5), True).tolist() == [0.5, math.inf, 0.0, 0.0, 1.0]
    assert NUMBERS.bit(Between(2.5, 7.5), False).tolist() == [-0.5, 0.5, 0.0, 0.0, 1.0]
    assert CLASSES.bit(Subset(("bee", "dog")), False).tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]
    errs = ErrorRates(0.25, 0.5)
    assert NUMBERS.bit(HalfSpace((-1.0,), -7.5).put_to(errs), True).tolist() == [0.5, math.inf, 0.0, 0.25, 0.25]
    assert CLASSES.bit(Subset(("bee", "dog")).put_to(errs), False).tolist() == [0.75, 0.5, 0.75, 0.5, 0.0]
