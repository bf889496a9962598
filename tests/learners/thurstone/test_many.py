"""Very many items: the contract, the graph of comparisons beside a dense posterior, candidates, the figure to reach."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import kendalltau

from askone import checks
from askone._common import random_table
from askone.errors import InvalidArgument
from askone.estimators import OneBitRanker
from askone.features.maps import Intercept, Linear
from askone.features.scaling import Scaler
from askone.labels.ranking import Ranking
from askone.learners.abilities import ask_many
from askone.learners.thurstone import _candidates
from askone.learners.thurstone.banks import PairBank, default_bank
from askone.learners.thurstone.many import ManyItemsLearner
from askone.learners.thurstone.ranker import ThurstoneLearner
from askone.questions.comparison import Prefer
from samples import reloaded, small_rows

NOWHERE = np.zeros(1)


def learner(m, scales=None, columns=1, **options):
    bank = (
        default_bank(Intercept(columns))
        if scales is None
        else PairBank(Intercept(columns), scales, (0.0,) * len(scales))
    )
    return ManyItemsLearner(Ranking(tuple(range(m)), embedding="items"), (bank,), **options)


def told(one, utilities, T, noise, seed=0, state=None):
    """Ask and tell T times; people compare with logistic noise."""
    rng, state = np.random.default_rng(seed), one.init() if state is None else state
    for uniform in random_table.uniforms(seed, 0, T, one.width):
        question = one.ask(state, NOWHERE, uniform)
        gap = utilities[question.first] - utilities[question.second]
        state = one.tell(state, NOWHERE, question, bool(gap + noise * rng.logistic() > 0))
    return state


@pytest.mark.parametrize("m", [4, 230])
def test_the_learner_keeps_the_contract(m):
    rng = np.random.default_rng(0)
    orders = [rng.permutation(m) for _ in range(15)]
    checks.check_learner(learner(m, columns=2), small_rows(15), orders)


def test_nearly_what_a_whole_covariance_says():
    """Means and deviations after 400 answers about 60 items, beside the filter with all covariances."""
    utilities = np.random.default_rng(1).normal(size=60) * 2
    local, whole = (
        kind(Ranking(tuple(range(60)), embedding="items"), (PairBank(Intercept(1), (2.0,), (0.0,)),))
        for kind in (ManyItemsLearner, ThurstoneLearner)
    )
    here, there, rng = local.init(), whole.init(), np.random.default_rng(2)
    for _ in range(400):
        i, j = (int(one) for one in rng.choice(60, 2, replace=False))
        yes = bool(utilities[i] - utilities[j] + rng.normal() > 0)
        here, there = (one.tell(s, NOWHERE, Prefer(i, j), yes) for one, s in ((local, here), (whole, there)))
    u, v = (one.predict(s, [NOWHERE])[0] for one, s in ((local, here), (whole, there)))
    assert np.corrcoef(u, v)[0, 1] > 0.98
    assert 0.95 < u.std() / v.std() < 1.05
    ratio = local.std(here, [NOWHERE]) / whole.std(there, [NOWHERE])
    assert 0.9 < ratio.mean() < 1.1


def test_an_answer_moves_what_is_near():
    one = learner(300, (3.0,))
    state = one.init()
    for i in range(20):
        state = one.tell(state, NOWHERE, Prefer(i, i + 1), True)
    before = one.predict(state, [NOWHERE])[0]
    after = one.predict(one.tell(state, NOWHERE, Prefer(50, 0), True), [NOWHERE])[0]
    assert after[50] > after[0]
    assert before[0] > after[0]
    assert after[1] < before[1]  # it lost to one that is worse than was thought
    assert (after[100:] == 0).all()
    assert after[1] > after[5] > after[15] > after[19]


def test_candidates_come_as_often_as_they_say():
    """Every pair, over a fine grid of uniforms: by its expected number of times."""
    m, n = 7, 300
    found, said = Counter(), {}
    order = np.arange(m)[::-1].copy()
    for u in (np.arange(n) + 0.5) / n:
        for w in (np.arange(n) + 0.5) / n:
            first, second, often = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3)
            _candidates.candidates(order, u, w, first, second, often)
            for i, j, times in zip(first.tolist(), second.tolist(), often.tolist(), strict=True):
                assert i != j
                found[frozenset((i, j))] += 1 / n**2
                said[frozenset((i, j))] = times
    assert len(said) == 21
    assert math.isclose(sum(said.values()), 3.0, rel_tol=1e-9)
    assert all(abs(found[pair] - times) < 0.01 for pair, times in said.items())


def test_what_was_drawn_over_its_probability_is_unbiased():
    """The number of all pairs, from one pair a question."""
    one = learner(250)
    state = told(one, np.random.default_rng(0).normal(size=250), 200, 0.3)
    asked = ask_many(one, state, np.zeros((20_000, 1)), random_table.uniforms(1, 0, 20_000, one.width))
    weights = np.array([1 / question.probability for question in asked])
    assert abs(weights.mean() - one.space.P) < 5 * weights.std() / math.sqrt(len(weights))
    assert weights.std() / math.sqrt(len(weights)) < 0.1 * one.space.P


def test_sides_are_even_and_batches_vary():
    one = learner(400)
    asked = ask_many(one, one.init(), np.zeros((1000, 1)), random_table.uniforms(0, 0, 1000, one.width))
    turned = sum(question.first < question.second for question in asked)
    assert abs(turned - 500) < 5 * math.sqrt(250)
    assert len({frozenset((q.first, q.second)) for q in asked}) > 950


def test_a_thousand_items_after_three_thousand_answers():
    """Kendall's tau is at least .05 above the best Bradley-Terry fit (choix, any regularisation) of random pairs.

    That has .682 at these utilities and noise (benchmarks/rankings.py).
    """
    utilities = np.random.default_rng(0).normal(size=1000)
    one = learner(1000)
    state = told(one, utilities, 3000, 0.3)
    assert kendalltau(one.predict(state, [NOWHERE])[0], utilities).statistic > 0.682 + 0.05


def test_the_default_for_many_items():
    model = OneBitRanker(list(range(300)), random_state=0)
    for _ in range(150):
        question = model.ask()
        model.tell(question, question.first < question.second, person="ann" if question.number % 2 else "bob")
    assert isinstance(model.stream_.learner.base, ManyItemsLearner)
    back = reloaded(model)
    assert (back.decision_function() == model.decision_function()).all()
    assert (back.predict_std() == model.predict_std()).all()
    assert back.ask() == model.ask()
    assert np.corrcoef(model.decision_function()[0], -np.arange(300))[0, 1] > 0.2


def test_with_rows_candidates_are_taken_too():
    items = Ranking(tuple(range(250)), embedding="items")
    one = ThurstoneLearner(items, (default_bank(Linear(Scaler.from_rows(small_rows()))),))
    rng = np.random.default_rng(0)
    checks.check_learner(one, small_rows(6), [rng.permutation(250) for _ in range(6)])
    asked = ask_many(one, one.init(), small_rows(50), random_table.uniforms(0, 0, 50, one.width))
    assert one.width == 4
    assert len({frozenset((q.first, q.second)) for q in asked}) > 45


def test_what_has_no_place_here_is_refused():
    with pytest.raises(InvalidArgument, match="banks must be one"):
        ManyItemsLearner(Ranking((1, 2, 3), embedding="items"), (default_bank(Linear(Scaler.from_rows(small_rows()))),))
    with pytest.raises(InvalidArgument, match="side must be"):
        learner(5, side=-1.0)
    with pytest.raises(InvalidArgument, match="ties must be"):
        learner(5, ties=2)
