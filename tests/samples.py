"""Small rows, labels and one model of each kind, for registries x checks."""

import numpy as np

from askone.features import Fourier, Gaussian, Laplacian, Linear, Nystroem, Scaler
from askone.models.expansion import KernelExpansion
from askone.models.linear import FeatureModel


def small_rows(n: int = 40, d: int = 2) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(n, d))


def small_labels(m: int, n: int = 40) -> np.ndarray:
    X = small_rows(n)
    return np.column_stack([np.sin(X[:, 0] + j) + 0.2 * X[:, 1] for j in range(m)])


def models() -> dict[str, object]:
    X = small_rows()
    return {
        "linear": FeatureModel(Linear(Scaler.from_rows(X))),
        "nystroem": FeatureModel(Nystroem.from_rows(X, 12)),
        "sections": FeatureModel(Nystroem.from_rows(X, 12, whiten=False)),
        "fourier": FeatureModel(Fourier.from_rows(X, 16)),
        "kernel": KernelExpansion(Gaussian(1.0), Scaler.identity(2)),
        "laplacian": KernelExpansion(Laplacian(2.0), Scaler.from_rows(X)),
    }


def constant_model() -> FeatureModel:
    """For rows (0,): no context, phi = (1, 0) / sqrt(2)."""
    return FeatureModel(Linear(Scaler.identity(1)))
