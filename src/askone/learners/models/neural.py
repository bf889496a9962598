"""Any torch network as a model: the door to torch for models (``pip install 'askone[torch]'``).

>>> import torch
>>> _ = torch.manual_seed(0)
>>> net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
>>> Neural(net, columns=2).linear
False
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from askone._common.types import Array
from askone._common.validate import as_count
from askone.errors import InvalidArgument, MissingExtra
from askone.learners.models.base import Model, Point

try:
    import torch as torch  # so named, it may be imported from here: no other module opens the door
except ImportError as error:
    raise MissingExtra("neural models need torch: pip install 'askone[torch]'") from error


@final
@dataclass(frozen=True, eq=False)
class NeuralParams:
    """Accumulators (copies x parameters), theta_0, and summed squares for diagonal steps."""

    vectors: torch.Tensor
    start: torch.Tensor
    squares: torch.Tensor | None


@final
class Neural(Model[NeuralParams]):
    """f_theta(x) for a module taking (n x columns) and giving (n x m); in unit labels.

    Runs on the GPU if there is one (``device`` says otherwise), in the module's own precision.
    The module is copied at once and called in evaluation mode.
    """

    linear: ClassVar[bool] = False
    has_coordinates: ClassVar[bool] = True

    def __init__(self, module: torch.nn.Module, columns: int, device: str | None = None) -> None:
        if not isinstance(module, torch.nn.Module):
            raise InvalidArgument("module", "a torch.nn.Module", type(module).__name__)
        if not any(p.requires_grad for p in module.parameters()):
            raise InvalidArgument("module", "a module with parameters to learn", "none")
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.module = copy.deepcopy(module).to(self.device).eval()
        self._columns = as_count(columns, "columns", 1)

    @property
    def columns(self) -> int:
        return self._columns

    @property
    def dtype(self) -> torch.dtype:
        """The module's precision."""
        return next(p.dtype for p in self.module.parameters())

    def init(self, outputs: int, copies: int, diagonal: bool = False) -> NeuralParams:
        """Return the module's own weights."""
        with torch.no_grad():
            start = torch.nn.utils.parameters_to_vector(self._learnable().values()).detach().clone()
            width = self._call(start, np.zeros((1, self.columns))).shape
        if tuple(width) != (1, outputs):
            raise InvalidArgument("module", f"one that maps (1 x {self.columns}) to (1 x {outputs})", f"{tuple(width)}")
        vectors = torch.zeros((copies, len(start)), dtype=start.dtype, device=start.device)
        vectors[0] = start
        return NeuralParams(vectors, start, torch.zeros_like(start) if diagonal else None)

    def evaluate(self, params: NeuralParams, X: Array, mix: Array) -> Array:
        with torch.no_grad():
            theta = torch.as_tensor(mix, dtype=params.start.dtype, device=params.start.device) @ params.vectors
            return np.asarray(self._call(theta, X).double().cpu().numpy())

    def at(self, params: NeuralParams, X: Array) -> NeuralPoint:
        return NeuralPoint(self, params, X)

    def marked(self, params: NeuralParams, mix: Array) -> NeuralParams:
        vectors = params.vectors.clone()
        vectors[2] = vectors[3]
        vectors[3] = torch.as_tensor(mix, dtype=vectors.dtype, device=vectors.device) @ params.vectors
        return NeuralParams(vectors, params.start, params.squares)

    def rescaled(self, params: NeuralParams, scale: float, cumulated: float) -> NeuralParams:
        vectors = params.vectors.clone()
        vectors[1:2] -= cumulated * vectors[0]
        vectors[0] *= scale
        return NeuralParams(vectors, params.start, params.squares)

    def to_arrays(self, params: NeuralParams) -> dict[str, Array]:
        tensors = {"vectors": params.vectors, "start": params.start}
        if params.squares is not None:
            tensors["squares"] = params.squares
        return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}

    def from_arrays(self, arrays: dict[str, Array]) -> NeuralParams:
        vectors, start = (self._tensor(arrays[name]) for name in ("vectors", "start"))
        size = sum(p.numel() for p in self._learnable().values())
        if len(start) != size:
            raise InvalidArgument(
                "model", f"a network with {len(start)} parameters, as was saved", f"{size} parameters"
            )
        return NeuralParams(vectors, start, self._tensor(arrays["squares"]) if "squares" in arrays else None)

    def _learnable(self) -> dict[str, torch.nn.Parameter]:
        return {name: p for name, p in self.module.named_parameters() if p.requires_grad}

    def _tensor(self, array: Array) -> torch.Tensor:
        return torch.as_tensor(np.array(array), dtype=self.dtype, device=self.device)

    def _call(self, theta: torch.Tensor, X: Array) -> torch.Tensor:
        weights, used = {}, 0
        for name, parameter in self._learnable().items():
            size = parameter.numel()
            weights[name] = theta[used : used + size].view_as(parameter)
            used += size
        out: torch.Tensor = torch.func.functional_call(self.module, weights, (self._tensor(X),))
        return out


@final
@dataclass(frozen=True, eq=False)
class NeuralPoint(Point[NeuralParams]):
    """A network around one row; J^T v comes from one backward pass."""

    model: Neural
    params: NeuralParams
    X: Array

    def values(self, scale: float) -> Array:
        mix = np.zeros(len(self.params.vectors))
        mix[0] = scale
        return self.model.evaluate(self.params, self.X, mix)

    def gram(self) -> Array:
        raise TypeError("a network has no fixed features")

    def squares(self, U: Array) -> Array:
        pulled = self._pulled(U)
        return np.array([float(pulled @ pulled)])

    def stepped(self, V: Array, weights: Array) -> NeuralParams:
        pulled = self._pulled(V)
        vectors = self.params.vectors + self._column(weights) * pulled
        return NeuralParams(vectors, self.params.start, self.params.squares)

    def stepped_diagonally(self, v: Array, scale: float, gamma: float, weights: Array) -> NeuralParams:
        """Return each coordinate divided by the root of its summed squares."""
        gradient = self._pulled(v)
        squares = gradient**2 if self.params.squares is None else self.params.squares + gradient**2
        step = torch.where(squares > 0, -gamma * gradient / torch.sqrt(squares.clamp_min(1e-30)), 0.0)
        vectors = self.params.vectors + self._column(weights) * step / scale
        return NeuralParams(vectors, self.params.start, squares)

    def distance2(self, scale: float) -> float:
        return float(torch.sum((scale * self.params.vectors[0] - self.params.start) ** 2))

    def _column(self, weights: Array) -> torch.Tensor:
        return self.model._tensor(weights[0])[:, None]

    def _pulled(self, V: Array) -> torch.Tensor:
        # The Jacobian is taken at A: the learner keeps s = 1 for models that are not linear.
        theta = self.params.vectors[0].detach().clone().requires_grad_(True)
        value = self.model._call(theta, self.X)
        (gradient,) = torch.autograd.grad(torch.sum(value * self.model._tensor(V)), theta)
        return gradient.detach()
