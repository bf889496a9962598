"""Many trials of one stream: one after the other, or all at once by torch (``askone reproduce --device cuda``).

At once, the steps are those of ``step_loops.stream_block`` with an axis for trials in front, for the model of the
paper's figures, a Gaussian kernel expansion that grows:

    z_i = sum_{j<i} k(x_i, x_j) v_j,     v_i = -eta_i G_i(z_i),     eta_i = gamma_0 i^-a / B,

and the mean of theta_1 .. theta_T has the coefficients v_i (1 - (i - 1) / T).  Questions are made by the gradients that
make them everywhere else, from the same uniforms, so that the numbers are those of a CPU but for rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from askone._common import random_table
from askone._common.compiled import paired_dots
from askone._common.lazy_import import lazy_import
from askone._common.types import Array
from askone.errors import InvalidArgument, incompatible
from askone.features.kernels import Gaussian
from askone.learners import step_loops
from askone.learners.gradients import WeakGradient
from askone.learners.gradients.subset import Passive
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.sgd.surrogate import Surrogate
from askone.learners.step_rules import Uniform
from askone.paper._trials import errors_at

if TYPE_CHECKING:
    from askone.learners.models import neural
else:
    neural = lazy_import("askone.learners.models.neural")

Tensor = Any  # torch.Tensor; torch is an extra

_BLOCK = 64  # rows whose kernel with all earlier ones is computed at once
_LEVEL = 1e-10  # squared distances so close are the same but for rounding: classes that no answer told apart yet
_DECIMALS = 9  # of predictions: scores that tie on a CPU, where each is summed in the same order, tie here too
_ROOM = 1 << 27  # kernel values held at a time


@final
@dataclass(frozen=True, eq=False)
class StreamTrial:
    """Rows to ask about with their hidden labels, and an error of predictions on the rows ``test``."""

    seed: int
    X: Array
    labels: Array
    test: Array
    error: Callable[[Array], float]


def as_device(device: str) -> str:
    """Return the name of a device that torch has, checked."""
    torch = neural.torch
    try:
        torch.zeros(1, device=torch.device(device))
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA fails an assertion
        raise InvalidArgument("device", "one that torch has, such as 'cuda' or 'cpu'", device) from error
    return device


def errors(learner: Any, trials: Sequence[StreamTrial], at: list[int], device: str | None = None) -> list[list[float]]:
    """Return the errors of each trial at the checkpoints and the end; with a device all trials at once, on it."""
    if device is None:
        return [errors_at(at, learner, one.X, one.labels, one.seed, one.test, one.error) for one in trials]
    model, asked = _understood(learner, trials, device)
    count = len(trials[0].X)
    steps = learner.step.gamma * np.arange(1, count + 1.0) ** -learner.step.power / asked.bound
    X, tests = (_moved([model.scaler(getattr(one, part)) for one in trials], device) for part in ("X", "test"))
    V = _steps(X, model.kernel.bandwidth, asked, steps.tolist())
    found: list[list[float]] = [[] for _ in trials]
    for predicted in _predictions(tests, X, V, model.kernel.bandwidth, sorted({*(n for n in at if n <= count), count})):
        for curve, trial, values in zip(found, trials, predicted.cpu().numpy(), strict=True):
            curve.append(trial.error(asked.labels(values.round(_DECIMALS))))
    return found


class _TrialQuestions(ABC):
    """The questions of all trials with their answers, as far as these are known beforehand."""

    outputs: int
    bound: float

    @abstractmethod
    def gradient(self, i: int, z: Tensor) -> Tensor:
        """Return G_i at the predictions z, trials x outputs."""

    @abstractmethod
    def labels(self, values: Array) -> Array:
        """Return predictions in the user's units."""


@final
class _SignQuestions(_TrialQuestions):
    """Half-spaces: G = g u, and the answer chooses g (see ``gradients.half_space``)."""

    def __init__(self, learner: SGDLearner, gradient: WeakGradient, trials: Sequence[StreamTrial], device: str) -> None:
        m, space = learner.space.m, learner.space
        parts: list[tuple[Array, ...]] = []
        for trial in trials:
            plan = gradient.plan(m, random_table.uniforms(trial.seed, 0, len(trial.X), learner.width))
            hidden = paired_dots(space.to_unit(trial.labels), plan.directions)
            parts.append((plan.directions, plan.offset, hidden, *gradient.slopes(m, plan.density, plan.turned)))
        self.U, self.offset, self.hidden, self.yes, self.no = (
            _moved(part, device) for part in zip(*parts, strict=True)
        )
        self.space, self.mode, self.outputs, self.bound = space, gradient.mode, m, gradient.bound(m)

    def gradient(self, i: int, z: Tensor) -> Tensor:
        u, offset = self.U[:, i], self.offset[:, i]
        at = (z * u).sum(1)
        cut = at - offset if self.mode == step_loops.AT_PREDICTION else offset
        answer = self.hidden[:, i] > cut
        g = answer * self.yes[:, i] + ~answer * self.no[:, i]
        if self.mode != step_loops.AT_PREDICTION:  # the infimum loss: nothing to learn where z agrees with the answer
            distance = at - cut
            outside = (answer & (distance < 0)) | (~answer & (distance > 0))
            g = outside * (distance if self.mode == step_loops.INFIMUM_SQUARED else g)
        return g[:, None] * u

    def labels(self, values: Array) -> Array:
        return self.space.from_unit(values)


@final
class _SetQuestions(_TrialQuestions):
    """Sets that do not look at z: the infimum loss of the labels that the answer leaves (``Passive``)."""

    def __init__(self, learner: Surrogate, strategy: Passive, trials: Sequence[StreamTrial], device: str) -> None:
        self.origin, self.outputs, self.bound = strategy.origin, learner.space.m, strategy.bound(learner.space.m)
        self.left = _moved([_left(strategy, trial, learner.width) for trial in trials], device)
        self.embedding = _moved(strategy.space.embedding, device)
        self.start = _moved(self.origin, device)

    def gradient(self, i: int, z: Tensor) -> Tensor:
        apart = (z + self.start)[:, None, :] - self.embedding
        distance = (apart * apart).sum(2) + (1 - self.left[:, i]) * 1e300
        nearest = distance <= distance.min(1, keepdim=True).values + _LEVEL
        first = nearest & (nearest.cumsum(1) == 1)  # of labels that are as near the first, as everywhere else
        chosen = (apart * first[:, :, None]).sum(1)
        length = (chosen * chosen).sum(1, keepdim=True).sqrt()
        return chosen / length.clamp_min(1e-300)

    def labels(self, values: Array) -> Array:
        return values + self.origin


def _left(strategy: Passive, trial: StreamTrial, width: int) -> Array:
    """Return which labels each answer leaves, questions x labels."""
    uniforms = random_table.uniforms(trial.seed, 0, len(trial.X), width)
    left = np.empty((len(trial.X), strategy.space.size))
    for row, uniform, label in zip(left, uniforms, trial.labels.tolist(), strict=True):
        question = strategy.ask(strategy.origin, uniform, 0)
        inside = strategy.space.inside(question.members, "question") > 0
        row[:] = inside if question.holds(label) else ~inside
    return left


def _understood(learner: Any, trials: Sequence[StreamTrial], device: str) -> tuple[KernelExpansion, _TrialQuestions]:
    """Return kernel and questions of a learner whose steps are those above."""
    if not isinstance(learner, SGDLearner | Surrogate):
        raise InvalidArgument("learner", "SGDLearner or Surrogate", type(learner).__name__)
    model, plain = learner.model, learner.step.code == step_loops.SCHEDULE and not (learner.ridge or learner.flip)
    if not plain or learner.average != Uniform():
        raise incompatible("device", device, "other steps than gamma / sqrt(t) and their mean", ["cpu"])
    if not isinstance(model, KernelExpansion) or not isinstance(model.kernel, Gaussian):
        raise incompatible("device", device, "a model that is no Gaussian kernel expansion", ["cpu"])
    if isinstance(learner, SGDLearner) and isinstance(learner.gradient, WeakGradient):
        return model, _SignQuestions(learner, learner.gradient, trials, device)
    if isinstance(learner, Surrogate) and isinstance(learner.strategy, Passive):
        return model, _SetQuestions(learner, learner.strategy, trials, device)
    raise incompatible("device", device, "questions that are neither half-spaces nor passive sets", ["cpu"])


def _steps(X: Tensor, bandwidth: float, asked: _TrialQuestions, steps: list[float]) -> Tensor:
    """Return all v_i, trials x rows x m."""
    V = X.new_zeros((*X.shape[:2], asked.outputs))
    for first in range(0, X.shape[1], _BLOCK):
        rows = X[:, first : first + _BLOCK]
        base = _product(rows, X[:, :first], V[:, :first], bandwidth)
        near = _gaussian(rows, rows, bandwidth)
        for i in range(rows.shape[1]):
            z = base[:, i] + (near[:, i, None, :i] @ V[:, first : first + i])[:, 0]
            V[:, first + i] = -steps[first + i] * asked.gradient(first + i, z)
    return V


def _predictions(tests: Tensor, X: Tensor, V: Tensor, bandwidth: float, stops: list[int]) -> Any:
    """Yield the mean iterate at the test rows, after so many answers each."""
    total = weighted = X.new_zeros((X.shape[0], tests.shape[1], V.shape[2]))
    done = 0
    for stop in stops:
        number = neural.torch.arange(done, stop, dtype=X.dtype, device=X.device)[:, None]
        some = V[:, done:stop]
        both = neural.torch.cat([some, number * some], dim=2)
        added = _product(tests, X[:, done:stop], both, bandwidth)
        total, weighted, done = total + added[..., : V.shape[2]], weighted + added[..., V.shape[2] :], stop
        yield total - weighted / stop


def _product(rows: Tensor, support: Tensor, coefficients: Tensor, bandwidth: float) -> Tensor:
    """Return K(rows, support) coefficients, as many of the support at a time as there is room for."""
    found = rows.new_zeros((*rows.shape[:2], coefficients.shape[2]))
    width = max(1, _ROOM // (rows.shape[0] * rows.shape[1]))
    for i in range(0, support.shape[1], width):
        found += _gaussian(rows, support[:, i : i + width], bandwidth) @ coefficients[:, i : i + width]
    return found


def _gaussian(rows: Tensor, support: Tensor, bandwidth: float) -> Tensor:
    squares = (rows * rows).sum(2)[:, :, None] + (support * support).sum(2)[:, None, :]
    return ((squares - 2 * rows @ support.mT).clamp_min(0) / (-2 * bandwidth * bandwidth)).exp()


def _moved(parts: Any, device: str) -> Tensor:
    """Return arrays, one for each trial, as one tensor on the device."""
    torch = neural.torch
    return torch.from_numpy(np.ascontiguousarray(np.asarray(parts, dtype=np.float64))).to(device)
