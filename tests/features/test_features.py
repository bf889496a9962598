import numpy as np
import pytest

from askone.errors import IncompatibleParts, InvalidArgument
from askone.features.kernels import KERNELS, Dot, Gaussian, Laplacian, kernel_named, median_distance
from askone.features.maps import Fourier, Linear, Nystroem
from askone.features.scaling import Scaler
from samples import small_rows


def test_whitened_features_reproduce_the_kernel():
    # <phi(x), phi(z)> = k(x, z) for representers: |theta| is the function's norm, as Theorem 1 wants.
    X = small_rows(30)
    phi = Nystroem.from_rows(X, 30)
    gram = phi.kernel.matrix(phi.scaler(X), phi.scaler(X))
    assert np.allclose(phi(X) @ phi(X).T, gram, atol=1e-7)
    assert (np.linalg.norm(phi(X), axis=1) <= 1 + 1e-9).all()


def test_duplicated_rows_do_no_harm():
    X = np.repeat(small_rows(10), 5, axis=0)
    phi = Nystroem.from_rows(X, 50)
    assert phi.size <= 10
    assert np.isfinite(phi(X)).all()


def test_constant_and_collinear_columns():
    base = small_rows(50)
    X = np.column_stack([base, base[:, 0] * 2, np.full(50, 1e6)])
    for phi in (Nystroem.from_rows(X, 20), Fourier.from_rows(X, 20), Linear(Scaler.from_rows(X))):
        assert np.isfinite(phi(X)).all()
        assert np.abs(phi(X)).max() < 10


def test_large_offsets_do_not_cancel():
    X = small_rows(40, 30)
    plain, shifted = Nystroem.from_rows(X, 20), Nystroem.from_rows(X + 1e6, 20)
    assert np.allclose(plain(X), shifted(X + 1e6), atol=1e-4)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(3.0)])
def test_random_fourier_features_average_to_the_kernel(kernel):
    X, p = small_rows(12), 40_000
    phi = Fourier.from_rows(X, p, kernel.name, kernel.bandwidth, scaler=Scaler.identity(2))
    # An entry is a mean of p products within [-2, 2]: its standard deviation is below sqrt(2/p).
    assert np.abs(phi(X) @ phi(X).T - kernel.matrix(X, X)).max() < 5 * np.sqrt(2 / p)


def test_the_linear_kernel_has_no_fourier_features():
    with pytest.raises(IncompatibleParts, match="'gaussian', 'laplacian'"):
        Fourier.from_rows(small_rows(), 10, "linear")


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(0.7), Dot(0.7)])
def test_kernels_are_symmetric_and_positive(kernel):
    X = small_rows(20)
    K = kernel.matrix(X, X)
    assert np.allclose(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10


def test_the_bandwidth_rule_follows_the_rows_scale():
    X = small_rows(300, 5)
    for name in KERNELS:
        assert median_distance(10 * X, name) == pytest.approx(10 * median_distance(X, name))
    assert median_distance(np.zeros((5, 2))) == 1.0
    assert median_distance(small_rows(5000, 2)) == pytest.approx(1.67, abs=0.15)  # sqrt(2 * chi2_2 median)


def test_no_label_is_needed_and_the_seed_decides():
    X = small_rows()
    same = [Nystroem.from_rows(X, 10, seed=4).representers for _ in range(2)]
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], Nystroem.from_rows(X, 10, seed=5).representers)


@pytest.mark.parametrize("bandwidth", [0, -1, np.nan])
def test_bad_bandwidths(bandwidth):
    for name in KERNELS:
        with pytest.raises(InvalidArgument, match="bandwidth must be"):
            kernel_named(name, bandwidth)
    with pytest.raises(InvalidArgument, match="kernel must be one of"):
        kernel_named("cosine", 1.0)


def test_more_features_than_rows():
    assert Nystroem.from_rows(small_rows(5), 100).size <= 5


def test_parts_of_other_shapes_are_refused():
    """Compiled loops trust them, and files of strangers have them."""
    phi, waves = Nystroem.from_rows(small_rows(20), 10), Fourier.from_rows(small_rows(20), 10)
    Z, W = phi.representers, phi.whitener
    for representers, whitener in ((Z[:5], W), (Z[:, :1], W), (Z, W[:5]), (Z, W[0]), (Z * np.nan, W), (Z, W > 0)):
        with pytest.raises(InvalidArgument, match="must be floats"):
            Nystroem(phi.kernel, phi.scaler, representers, whitener)
    for frequencies, phases in ((waves.frequencies[:5], waves.phases), (waves.frequencies[:, :1], waves.phases)):
        with pytest.raises(InvalidArgument, match="frequencies"):
            Fourier(waves.scaler, frequencies, phases)
    with pytest.raises(InvalidArgument, match="scale must be"):
        Scaler(np.zeros(2), np.ones(3))


def test_columns_of_one_unit_are_scaled_by_their_ranges():
    rng = np.random.default_rng(0)
    middle, border = 255 * rng.random((400, 9)), 255.0 * (rng.random((400, 3)) < 0.01)
    X = np.hstack([middle, border, rng.random((400, 1)), np.full((400, 1), 7.0)])
    scaled = Scaler.by_range(X)(X)
    assert np.allclose(np.ptp(scaled[:, :13], axis=0), np.ptp(scaled[:, 0]))
    assert np.isclose((scaled[:, :13] ** 2).mean(), 1.0)
    assert (scaled[:, 13] == 0.0).all()


def test_columns_of_other_units_have_scales_of_their_own():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((400, 2)), rng.random((400, 2)) < 0.5, 40.0 * rng.random(400), rng.random(400) / 9])
    several = np.hstack([X, X])
    for rows in (several, X[:, :2], np.ones((3, 9)), several[:1]):
        assert (Scaler.by_range(rows).scale == Scaler.from_rows(rows).scale).all()
