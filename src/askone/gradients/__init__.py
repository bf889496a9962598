"""Where a loss and a question family meet: what to ask at the prediction z, what the bit teaches.

``half_spaces`` for real labels; each pair is a class, ``pair`` finds it by name.
"""

from askone.gradients.base import Gradient
from askone.gradients.half_spaces import (
    FAMILY_NAMES,
    PAIRS,
    DitheredSign,
    FullGradient,
    MedianSphere,
    Plan,
    QuantileThreshold,
    RandomThreshold,
    SquaredThreshold,
    WeakGradient,
    draws_of,
    pair,
)

__all__ = [
    "FAMILY_NAMES",
    "PAIRS",
    "DitheredSign",
    "FullGradient",
    "Gradient",
    "MedianSphere",
    "Plan",
    "QuantileThreshold",
    "RandomThreshold",
    "SquaredThreshold",
    "WeakGradient",
    "draws_of",
    "pair",
]
