import numpy as np
from scipy import stats

from askone._common import random_table


def test_a_row_depends_on_seed_and_number_alone():
    table = random_table.uniforms(3, 0, 5000, 5)
    for first, count in ((0, 1), (17, 1), (4999, 1), (100, 333)):
        assert np.array_equal(random_table.uniforms(3, first, count, 5), table[first : first + count])
    assert not np.array_equal(table[:10], random_table.uniforms(4, 0, 10, 5))
    assert not np.array_equal(table[:10], random_table.uniforms(3, 0, 10, 5, random_table.FLIP))


def test_uniform_and_independent():
    table = random_table.uniforms(0, 0, 20000, 6)
    assert (table > 0).all()
    assert (table < 1).all()
    assert stats.kstest(table.ravel(), "uniform").pvalue > 1e-3
    correlation = np.corrcoef(table.T) - np.eye(6)
    assert np.abs(correlation).max() < 5 / np.sqrt(20000)


def test_directions_are_uniform_on_the_sphere():
    n, m = 50000, 3
    u = random_table.sphere(random_table.uniforms(1, 0, n, m))
    assert np.allclose(np.linalg.norm(u, axis=1), 1)
    # In R^3 every coordinate of a uniform direction is uniform on [-1, 1] (Archimedes).
    for j in range(m):
        assert stats.kstest(u[:, j], "uniform", (-1, 2)).pvalue > 1e-3


def test_one_output_is_plus_or_minus_one():
    u = random_table.sphere(random_table.uniforms(1, 0, 1000, 1))
    assert set(u.ravel()) == {1.0, -1.0}


def test_nothing_to_draw():
    assert random_table.uniforms(0, 5, 1, 0).shape == (1, 0)
    assert random_table.uniforms(0, 5, 3, 0).shape == (3, 0)
