"""Gradients from one bit: what to ask at the prediction z, what the answer teaches.

``half_space`` for real labels, ``_bundle`` where only some bundles of outputs may be asked about;
each pair is a class, ``pair`` finds it by name.
"""

from askone.learners.gradients._bundle import BundleGradient as BundleGradient
from askone.learners.gradients._bundle import BundleSign as BundleSign
from askone.learners.gradients._bundle import BundleThreshold as BundleThreshold
from askone.learners.gradients.base import Gradient as Gradient
from askone.learners.gradients.half_space import FAMILY_NAMES as FAMILY_NAMES
from askone.learners.gradients.half_space import PAIRS as PAIRS
from askone.learners.gradients.half_space import DitheredSign as DitheredSign
from askone.learners.gradients.half_space import FullGradient as FullGradient
from askone.learners.gradients.half_space import HalfCauchy as HalfCauchy
from askone.learners.gradients.half_space import MedianSphere as MedianSphere
from askone.learners.gradients.half_space import Plan as Plan
from askone.learners.gradients.half_space import QuantileThreshold as QuantileThreshold
from askone.learners.gradients.half_space import RandomThreshold as RandomThreshold
from askone.learners.gradients.half_space import SquaredThreshold as SquaredThreshold
from askone.learners.gradients.half_space import WeakGradient as WeakGradient
from askone.learners.gradients.half_space import draws_of as draws_of
from askone.learners.gradients.half_space import pair as pair
