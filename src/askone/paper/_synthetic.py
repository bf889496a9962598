"""The paper's synthetic problems, and the learner of its figures on them."""

from __future__ import annotations

import numpy as np

from askone._common import random_table
from askone._common.types import Array
from askone.features.kernels import Gaussian
from askone.features.scaling import Scaler
from askone.labels.losses import Median
from askone.labels.number import Real
from askone.learners.gradients import pair
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import Average, InverseSqrt, StepRule, Uniform


def sine(x: Array) -> Array:
    """Return f*(x) = sin(2 pi x) on [0, 1]."""
    return np.asarray(np.sin(2 * np.pi * x))


def uniform_rows(seed: int, count: int) -> Array:
    """Return X uniform on [0, 1], count x 1."""
    return random_table.uniforms(seed, 0, count, 1, random_table.DESIGN)


def kernel_learner(
    outputs: int,
    family: str,
    step: StepRule | float,
    bandwidth: float,
    average: Average | None = None,
    half_range: float = 1.0,
) -> SGDLearner:
    """Return Algorithm 1 (or a baseline) as in the paper's synthetic figures: a growing Gaussian kernel expansion."""
    rule = InverseSqrt(step) if isinstance(step, float | int) else step
    space = Real((-half_range,) * outputs, (half_range,) * outputs)
    model = KernelExpansion(Gaussian(bandwidth), Scaler.identity(1))
    gradient = pair(Median(), family, outputs)
    return SGDLearner(space, model, gradient, rule, average or Uniform())


def class_probabilities(x: Array, classes: int) -> Array:
    """Return linear interpolation: y1 at x=0, uniform at 1/4, y2 at 1/2, uniform at 3/4, y3 at x=1 (n x m)."""
    place = 4 * np.asarray(x).reshape(-1)
    corners = [np.eye(classes)[0], None, np.eye(classes)[1], None, np.eye(classes)[2]]
    knots = np.array([np.full(classes, 1 / classes) if corner is None else corner for corner in corners])
    left = np.minimum(place.astype(int), 3)
    share = (place - left)[:, None]
    return np.asarray((1 - share) * knots[left] + share * knots[left + 1])


def class_rows(seed: int, count: int, gap: float) -> Array:
    """Return X uniform on [0, 1] without the eps-neighbourhoods of 1/4 and 3/4, count x 1."""
    return _with_gaps(uniform_rows(seed, count), gap)


def class_grid(count: int, gap: float) -> Array:
    """Return evenly spaced inputs of ``class_rows``' law, count x 1."""
    return _with_gaps(((np.arange(count) + 0.5) / count)[:, None], gap)


def _with_gaps(uniform: Array, gap: float) -> Array:
    u = uniform * (1 - 4 * gap)
    return np.asarray(u + 2 * gap * (u > 0.25 - gap) + 2 * gap * (u > 0.75 - 3 * gap))


def class_draws(seed: int, X: Array, classes: int) -> Array:
    """Return Y | X, as numbers of classes."""
    p = class_probabilities(X, classes)
    u = random_table.uniforms(seed, 1 << 40, len(X), 1, random_table.DESIGN)
    return np.asarray((u > np.cumsum(p, axis=1)).sum(axis=1).clip(0, classes - 1))
