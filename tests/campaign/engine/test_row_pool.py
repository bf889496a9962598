"""Which rows are free, which are kept for exams, and that lots are fair."""

import time

import numpy as np
import pytest
from scipy import stats

from askone.campaign.engine.row_pool import RowPool


def pool_of(rows, share=0.15, seed=0):
    pool = RowPool(seed, share)
    pool.grow(rows)
    return pool


def test_each_row_is_kept_for_exams_with_the_same_chance():
    kept = np.zeros(50)
    for seed in range(400):
        kept[pool_of(50, 0.3, seed).free(exams=True)] += 1
    assert stats.chisquare(np.stack([kept, 400 - kept]).ravel(), [120] * 50 + [280] * 50, ddof=50).pvalue > 1e-4
    assert not len(pool_of(1000, 0.0).free(exams=True))


def test_rows_that_come_later_change_nothing_for_those_before():
    """Whether rows come at once, in parts or one by one, and whether one was taken before it came."""
    at_once, in_parts, one_by_one = pool_of(300), pool_of(0), pool_of(0)
    for part in (1, 99, 150, 50):
        in_parts.grow(part)
    one_by_one.take(250)
    for _ in range(300):
        one_by_one.grow(1)
    at_once.take(250)
    in_parts.take(250)
    for exams in (False, True):
        found = [pool.free(exams).tolist() for pool in (at_once, in_parts, one_by_one)]
        assert found[0] == found[1] == found[2]
        drawn = [[pool.drawn(n, exams) for n in range(50)] for pool in (at_once, in_parts, one_by_one)]
        assert drawn[0] == drawn[1] == drawn[2]
    assert at_once._left == in_parts._left == one_by_one._left


@pytest.mark.parametrize("exams", [False, True])
def test_a_lot_is_fair_however_few_rows_are_free(exams):
    pool = pool_of(2000, 0.5)
    free = pool.free(exams)
    for position in free[7:]:
        pool.take(int(position))
    drawn = [pool.drawn(number, exams) for number in range(3000)]  # nearly always all rows must be looked at
    counts = np.array([drawn.count(position) for position in free[:7]])
    assert counts.sum() == 3000
    assert stats.chisquare(counts).pvalue > 1e-4
    assert pool.drawn(5, exams, besides=drawn[5]) != drawn[5]


def test_all_rows_are_drawn_once_and_then_none_is_left():
    pool, drawn = pool_of(200), []
    for number in range(200):
        exams = not pool.any_left(exams=False)
        drawn.append(pool.drawn(number, exams))
        pool.take(drawn[-1])
    assert sorted(drawn) == list(range(200))
    assert drawn != sorted(drawn)
    assert not pool.any_left()
    assert [pool.drawn(200, False), pool.drawn(200, True), pool.next_in_file()] == [None] * 3


def test_in_file_order_rows_for_exams_are_passed_over():
    pool = pool_of(100)
    expected = pool.free().tolist()
    assert pool.next_in_file(besides=expected[0]) == expected[1]
    found = []
    while (position := pool.next_in_file()) is not None:
        found.append(position)
        pool.take(position)
    assert found == expected


def test_a_question_does_not_cost_more_with_a_million_rows():
    pool = pool_of(1_000_000)
    pool.drawn(0, False)
    began = time.thread_time()
    for number in range(2000):
        pool.take(pool.drawn(number, number % 7 == 0))
    assert time.thread_time() - began < 1.0  # 20 µs each; to look at all rows takes a millisecond
