"""Models linear in a finite feature map: f(x) = theta phi(x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from askone._common.compiled import paired_dots, row_dots, times
from askone._common.types import Array
from askone.features.maps import FeatureMap
from askone.learners.models.base import Model, Point


@final
@dataclass(frozen=True, eq=False)
class FeatureParams:
    """Accumulators (copies x m x p) and, for diagonal steps, summed squared gradients (m x p)."""

    arrays: Array
    squares: Array | None


@final
@dataclass(frozen=True, eq=False)
class FeatureModel(Model[FeatureParams]):
    """f(x) = theta phi(x) for a feature map phi; constant memory."""

    features: FeatureMap
    linear: ClassVar[bool] = True
    has_coordinates: ClassVar[bool] = True

    @property
    def columns(self) -> int:
        return self.features.columns

    def init(self, outputs: int, copies: int, diagonal: bool = False) -> FeatureParams:
        shape = (outputs, self.features.size)
        return FeatureParams(np.zeros((copies, *shape)), np.zeros(shape) if diagonal else None)

    def evaluate(self, params: FeatureParams, X: Array, mix: Array) -> Array:
        """Return Phi (sum_k mix_k array_k)^T."""
        return np.asarray(self.features(X) @ _mixed(params.arrays, mix).T)

    def at(self, params: FeatureParams, X: Array) -> FeaturePoint:
        return FeaturePoint(params, self.features(X))

    def marked(self, params: FeatureParams, mix: Array) -> FeatureParams:
        arrays = params.arrays.copy()
        arrays[2] = arrays[3]
        arrays[3] = _mixed(params.arrays, mix)
        return FeatureParams(arrays, params.squares)

    def rescaled(self, params: FeatureParams, scale: float, cumulated: float) -> FeatureParams:
        arrays = params.arrays.copy()
        arrays[1:2] -= cumulated * arrays[0]
        arrays[0] *= scale
        return FeatureParams(arrays, params.squares)

    def to_arrays(self, params: FeatureParams) -> dict[str, Array]:
        squares = {} if params.squares is None else {"squares": params.squares}
        return {"arrays": params.arrays, **squares}

    def from_arrays(self, arrays: dict[str, Array]) -> FeatureParams:
        return FeatureParams(arrays["arrays"], arrays.get("squares"))


@final
@dataclass(frozen=True, eq=False)
class FeaturePoint(Point[FeatureParams]):
    """A feature model around b rows."""

    params: FeatureParams
    features: Array

    def values(self, scale: float) -> Array:
        values = row_dots(self.features, self.params.arrays[0])
        return values if scale == 1.0 else scale * values

    def gram(self) -> Array:
        return row_dots(self.features, self.features)

    def squares(self, U: Array) -> Array:
        return np.asarray(paired_dots(self.features, self.features) * paired_dots(U, U))

    def stepped(self, V: Array, weights: Array) -> FeatureParams:
        return FeatureParams(self.params.arrays + self._increments(V, weights), self.params.squares)

    def stepped_diagonally(self, v: Array, scale: float, gamma: float, weights: Array) -> FeatureParams:
        """Return each coordinate divided by the root of its summed squares."""
        gradient = v[0][:, None] * self.features
        squares = np.zeros_like(gradient) if self.params.squares is None else self.params.squares
        squares = squares + gradient * gradient
        step = np.divide(-gamma * gradient, np.sqrt(squares), out=np.zeros_like(gradient), where=squares > 0)
        return FeatureParams(self.params.arrays + weights[0][:, None, None] * step / scale, squares)

    def distance2(self, scale: float) -> float:
        return float(scale * scale * np.sum(self.params.arrays[0] ** 2))

    def _increments(self, V: Array, weights: Array) -> Array:
        stacked = (weights[:, :, None] * V[:, None, :]).reshape(len(V), -1)  # one product for all accumulators
        return times(stacked.T, self.features).reshape(weights.shape[1], V.shape[1], -1)


def _mixed(arrays: Array, mix: Array) -> Array:
    """Return sum_k mix_k array_k."""
    theta = arrays[0] * mix[0]
    for array, weight in zip(arrays[1:], mix[1:], strict=True):
        theta += array * weight
    return np.asarray(theta)
