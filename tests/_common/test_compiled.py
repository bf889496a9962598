import gc

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from askone._common import arithmetic, compiled
from askone.features import compiled as sections


def test_exp_is_exp():
    x = -np.concatenate([np.linspace(0, 700, 20001), np.geomspace(1e-12, 1, 2000)])
    ours = np.array([arithmetic.exp(v) for v in x])
    assert np.max(np.abs(ours / np.exp(x) - 1)) < 4e-16
    assert arithmetic.exp(-1e4) < 1e-300


@pytest.mark.parametrize("d", [1, 3, 24, 25, 60])
def test_gaussian_matrix_is_the_squared_distance(d):
    rng = np.random.default_rng(d)
    X, Z = rng.normal(size=(7, d)), rng.normal(size=(5, d))
    from_coordinates, from_products = np.empty((7, 5)), X @ Z.T
    sections.gaussian(X, np.ascontiguousarray(Z.T), 1.7, from_coordinates)
    sections.gaussian_from_products(from_products, (X**2).sum(1), (Z**2).sum(1), 1.7)
    exact = np.exp(-((X[:, None] - Z) ** 2).sum(2) / (2 * 1.7**2))
    assert np.allclose(from_coordinates, exact, rtol=1e-13)
    assert np.allclose(from_products, exact, rtol=1e-11)


def test_laplacian_matrix():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    out = np.empty((7, 5))
    sections.laplacian(X, np.ascontiguousarray(Z.T), 2.5, out)
    assert np.allclose(out, np.exp(-np.abs(X[:, None] - Z).sum(2) / 2.5), rtol=1e-13)


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [(21.38, 1, "21.4"), (0.1 + 0.2, 1, "0.3"), (1234.0, -2, "1200"), (-2.5, 0, "-2"), (1e-7, 3, "0")],
)
def test_a_rounded_number_is_the_one_a_person_reads(value, decimals, shown):
    assert compiled.rounded(value, decimals) == float(shown)


@pytest.mark.parametrize(("kind", "mixed_up"), [(compiled.FileOfEachSignature, False), (IndexDataCacheFile, True)])
def test_processes_that_compile_at_once_never_take_the_others_code(kind, mixed_up, tmp_path, monkeypatch):
    """Numba's own files may be mixed up: once they are not, ours are no longer needed."""
    one, other = (kind(str(tmp_path), "square", "stamp") for _ in range(2))
    monkeypatch.setattr(other, "_load_index", dict)  # it was read before the first one wrote
    write = one._save_data

    def after_the_other(name, data):
        other.save(("float64",), "of floats")
        write(name, data)

    monkeypatch.setattr(one, "_save_data", after_the_other)
    one.save(("int64",), "of integers")
    assert kind(str(tmp_path), "square", "stamp").load(("float64",)) == ("of integers" if mixed_up else "of floats")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_product_adds_in_the_order_of_rows_whatever_its_shape(kind):
    """Rows and columns beyond whole tiles, too, to the last bit."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(13, 19)).astype(kind), rng.normal(size=(19, 23)).astype(kind)
    plain = np.zeros((13, 23), kind)
    for j in range(19):
        plain += X[:, j, None] * W[j]
    for n in range(1, 14):
        for q in range(1, 24):
            found = compiled.product(np.ascontiguousarray(X[:n]), np.ascontiguousarray(W[:, :q]))
            assert np.array_equal(found, plain[:n, :q])


def test_tiles_are_told_apart_by_name():
    """Kept code is linked by name, and numba counts names anew in each process: each shape has a name of its own."""
    tiles = (compiled._tall, compiled._wide, compiled._half, compiled._quarter, compiled._single)
    assert len({tile.__qualname__ for tile in tiles}) == len(tiles)


def test_nobody_looks_for_garbage_while_something_is_compiled():
    collecting = []

    class Watch(event.Listener):
        def on_start(self, _):
            collecting.append(gc.isenabled())

        def on_end(self, _):
            pass

    @numba.njit
    def inner(x):
        return x + 1.0

    @numba.njit
    def outer(x):
        return 2.0 * inner(x)

    with event.install_listener("numba:compile", Watch()):
        assert outer(1.0) == 4.0
    assert len(collecting) >= 2
    assert not any(collecting)
    assert gc.isenabled()
