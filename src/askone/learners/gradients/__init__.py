"""Gradients from one bit: what to ask at the prediction z, what the answer teaches.

``half_spaces`` for real labels, ``bundles`` where only some bundles of outputs may be asked about;
each pair is a class, ``pair`` finds it by name.
"""

from askone.learners.gradients._bundle import BundleGradient, BundleSign, BundleThreshold
from askone.learners.gradients.base import Gradient
from askone.learners.gradients.half_cauchy import HalfCauchy
from askone.learners.gradients.half_space import (
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
    "BundleGradient",
    "BundleSign",
    "BundleThreshold",
    "DitheredSign",
    "FullGradient",
    "Gradient",
    "HalfCauchy",
    "MedianSphere",
    "Plan",
    "QuantileThreshold",
    "RandomThreshold",
    "SquaredThreshold",
    "WeakGradient",
    "draws_of",
    "pair",
]
