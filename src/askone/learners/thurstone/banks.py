"""Filters of Thurstone's model that learn side by side: their features, prior scales and flips."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_number
from askone.errors import InvalidArgument
from askone.features.maps import FeatureMap

_LARGEST = 1e6  # entries of phi: a row far out of all proportion is brought back
_FEW = 40  # features: with more, fewer filters


@final
@dataclass(frozen=True, eq=False)
class PairBank:
    """Filters with one feature map: for each, tau and pi."""

    features: FeatureMap
    scales: tuple[float, ...]
    flips: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.features, FeatureMap):
            raise InvalidArgument("features", "a FeatureMap", type(self.features).__name__)
        object.__setattr__(self, "scales", tuple(as_number(s, "scales", 0.0, strict=True) for s in self.scales))
        object.__setattr__(self, "flips", tuple(as_number(f, "flips", 0.0, 0.49) for f in self.flips))
        if not self.scales or len(self.scales) != len(self.flips):
            raise InvalidArgument("flips", f"{len(self.scales)} numbers, one for each of the scales", self.flips)

    @cached_property
    def rates(self) -> Array:
        """The flips as an array."""
        return np.array(self.flips)

    def __call__(self, rows: Array) -> Array:
        """Return phi(x_i), n x p."""
        phi = self.features(rows)
        largest = np.abs(phi).max(axis=1, keepdims=True, initial=0.0)
        return phi if largest.max(initial=0.0) <= _LARGEST else phi * (_LARGEST / np.maximum(largest, _LARGEST))


def default_bank(features: FeatureMap, flip: float = 0.0) -> PairBank:
    """Return the filters that suit nearly anything: noise of a tenth to three times utilities' spread; odd answers.

    For many features fewer of them, as each costs p^2 an answer.  ``flip`` is what is known of flips; more of them are
    thought possible.

    >>> from askone.features.maps import Intercept
    >>> default_bank(Intercept(1), 0.2).flips
    (0.2, 0.2, 0.2, 0.2, 0.2, 0.25, 0.25)
    """
    few = features.size > _FEW
    scales = (1.0, 3.0, 10.0) if few else (1.0, 3.0, 0.3, 10.0, 30.0)
    grid = [(scale, flip) for scale in scales]
    grid += [(scale, rate) for rate in (0.1, 0.25) if rate > flip for scale in ((3.0,) if few else (3.0, 10.0))]
    return PairBank(features, tuple(s for s, _ in grid), tuple(f for _, f in grid))
