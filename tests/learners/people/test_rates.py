"""Rates are those of the people who answered, and intervals hold them."""

import numpy as np
import pytest
from scipy.stats import binom

from askone.learners.people.rates import rates_of

TRUE = np.array([[0.02, 0.02], [0.15, 0.15], [0.35, 0.0], [0.5, 0.5], [0.02, 0.3]])


def answered(seed, each, sure=3.0):
    """Who answered, what, and the chance of an honest yes, drawn from the working model itself."""
    rng = np.random.default_rng(seed)
    places = np.repeat(np.arange(len(TRUE)), each)
    p = 1 / (1 + np.exp(-sure * rng.normal(size=len(places))))
    g, no = TRUE[places].T
    return places, rng.uniform(size=len(places)) < g + (1 - g - no) * p, p


def test_rates_are_found():
    """The mean over 40 crowds is off by no more than the prior, which counts for four answers, draws it."""
    found = np.mean([rates_of(*answered(seed, 400), len(TRUE)).habits.rates for seed in range(40)], axis=0)
    assert np.abs(found - TRUE).max() < 0.03


@pytest.mark.parametrize("each", [40, 400])
def test_intervals_hold_the_rates(each):
    """Of 400 intervals of 95 % at least as many hold them as of 90 % would in all but one of 1000 cases.

    (The grid is coarse and the prior expects careful people: so they are not quite 95 %.)
    """
    inside = []
    for seed in range(40):
        ends = rates_of(*answered(seed, each), len(TRUE)).intervals
        inside += ((ends[..., 0] <= TRUE) & (ends[..., 1] >= TRUE)).ravel().tolist()
    assert sum(inside) >= binom.ppf(0.001, len(inside), 0.9)


def test_whoever_never_errs_and_whoever_never_looks_may_do_so():
    """Rates of 0 and of 1 are among those that people have, and are in the intervals of those who have them."""
    places, _, p = answered(0, 200)
    truth = p > 0.5
    bits = np.where(places == 1, True, truth)  # one says yes whatever is asked, the others are always right
    p = np.where(truth, 0.99, 0.01)
    ends = rates_of(places, bits, p, len(TRUE)).intervals
    assert (np.delete(ends, 1, axis=0)[..., 0] == 0.0).all()
    assert (ends[1, :, 0].item(1), ends[1, 0, 1]) == (0.0, 1.0)
    assert ends[1, 0, 0] > 0.5


def test_what_a_model_knows_nothing_of_is_nobodys_slip():
    """Where it says no it is wrong in one case of four, as of a class of which it knows a part; it is right in yes."""
    rng, even, uneven = np.random.default_rng(0), [], []
    for _ in range(20):
        places, p = np.repeat(np.arange(6), 120), np.where(rng.uniform(size=720) < 0.3, 0.98, 0.02)
        truth = rng.uniform(size=720) < np.where(p > 0.5, 0.98, 0.25)
        bits = np.where(places == 5, rng.uniform(size=720) < 0.5, truth)
        even.append(rates_of(places, bits, p, 6).habits.rates)
        uneven.append(rates_of(places, bits, p, 6, uneven=True).habits.rates)
    assert np.mean(uneven, axis=0)[:5].max() < 0.08 < 0.1 < np.mean(even, axis=0)[:5].max()
    assert np.mean(uneven, axis=0)[5].min() > 0.35


def test_what_all_err_in_is_the_models_doubt():
    """A model that is wrong in one case of five, and a crowd that is not: nobody is suspected but the spammer."""
    rng, means = np.random.default_rng(0), []
    for _ in range(20):
        places, truth = np.repeat(np.arange(6), 60), rng.uniform(size=360) < 0.5
        p = np.where(truth ^ (rng.uniform(size=360) < 0.2), 0.99, 0.01)
        bits = np.where(places == 5, rng.uniform(size=360) < 0.5, truth)
        means.append(rates_of(places, bits, p, 6).habits.rates)
    careful, spammer = np.mean(means, axis=0)[:5], np.mean(means, axis=0)[5]
    assert careful.max() < 0.1  # below that, answers about numbers are taken as they are
    assert spammer.min() > 0.25


def test_nobody_is_taken_for_the_contrary_of_the_truth():
    p = np.tile([0.99, 0.01], 100)
    found = rates_of(np.repeat([0, 1], [150, 50]), np.append(p[:150] > 0.5, p[:50] < 0.5), p, 2)
    assert found.habits.rates[1].sum() <= 1.2
    assert found.habits.rates[0].max() < 0.05


def test_rates_are_those_of_people_and_not_of_flips_after_them():
    """Answers that are flipped at epsilon = 1 (pi = .27) leave the same rates, from more of them."""
    found = []
    for seed in range(20):
        places, bits, p = answered(seed, 1500)
        flipped = bits ^ (np.random.default_rng([seed, 1]).uniform(size=len(bits)) < 0.269)
        found.append(rates_of(places, flipped, p, len(TRUE), flip=0.269).habits.rates)
    assert np.abs(np.mean(found, axis=0) - TRUE).max() < 0.05
