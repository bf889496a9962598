"""A kernel model of more rows than a learner can afford that learns with each answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import InvalidArgument
from askone.features.kernels import Gaussian, median_distance
from askone.features.layout import RowLayout
from askone.features.scaling import Scaler
from askone.learners.mixture.bits import BitLikelihood
from askone.learners.mixture.members import Fit, FittedMember, likeliest, require_array, require_scaler

_TINY = 1e-8  # eigenvalues below this part of the largest are rounding
_LARGEST = 10_000  # representers, whatever is chosen
_ROOM = 60_000  # numbers of representers that are kept with a fit: of wide rows there are fewer


@final
@dataclass(frozen=True, eq=False)
class KernelMember(FittedMember):
    """F = sum_j a_j k(x, z_j) + b, a Gaussian kernel at ``size`` representers z: the penalised likelihood, by L-BFGS.

    F - b has the prior deviation ``tau``, in units of the scale; the bandwidth is ``width`` times the median distance.
    Of many columns a learner's hundred representers say little: the ink of a digit's lower quarter, by the upper
    ones, has an error of .50 with all labels and a hundred, .42 with three hundred and .36 with all rows.
    """

    layout: RowLayout
    scaler: Scaler
    tau: float = 5.0
    width: float = 0.5
    size: int = 800
    seed: int = 0
    first: ClassVar[int] = 128

    def __post_init__(self) -> None:
        require_scaler(self.scaler, self.layout)
        as_count(self.size, "size", 1, _LARGEST)

    @property
    def most(self) -> int:
        """Representers at most."""
        return max(min(self.size, _ROOM // max(self.layout.dense, 1)), 1)

    def fit(self, likelihood: BitLikelihood, X: Array, bits: Array, flip: float, before: Fit | None) -> Fit:
        rows = self._scaled(X)
        lots = random_table.uniforms(self.seed, 0, 1, len(rows), random_table.DESIGN)[0]
        Z = np.unique(rows[np.sort(np.argsort(lots, kind="stable")[: self.most])], axis=0)
        kernel = Gaussian(self.width * median_distance(rows))
        eigenvalues, vectors = np.linalg.eigh(kernel.matrix(Z, Z))
        kept = eigenvalues > _TINY * eigenvalues[-1]
        whitener = vectors[:, kept] / np.sqrt(eigenvalues[kept])
        W = likeliest(likelihood, kernel.matrix(rows, Z) @ whitener, bits, flip, self.tau)
        return {"Z": Z, "bandwidth": np.array(kernel.bandwidth), "a": whitener @ W[:-1], "b": W[-1]}

    def _scaled(self, X: Array) -> Array:
        dense = np.ascontiguousarray(X[:, : self.layout.dense], dtype=np.float64)
        return np.ascontiguousarray(np.clip(self.scaler(dense), -10.0, 10.0))

    def check(self, fit: Fit, outputs: int) -> None:
        n = len(require_array(fit, "Z", "f8", None, self.layout.dense))
        if n > self.most:  # every row that is predicted is compared with all of them
            raise InvalidArgument("fit['Z']", f"at most {self.most} representers", n)
        require_array(fit, "a", "f8", n, outputs)
        require_array(fit, "b", "f8", outputs)
        if require_array(fit, "bandwidth", "f8") <= 0.0:
            raise InvalidArgument("fit['bandwidth']", "a positive number", fit["bandwidth"])

    def scores(self, fit: Fit, X: Array) -> Array:
        kernel = Gaussian(fit["bandwidth"].item())
        return kernel.dot(self._scaled(X), fit["Z"], fit["a"]) + fit["b"]
