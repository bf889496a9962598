"""The contract of models: evaluate, and pull a step in label space back.

The parameters of a model are a few *accumulators* of one shape (see ``step_loops``): A, with
theta = s A, and for an average one or three more.  A model evaluates any combination of them and
adds J(x)^T v to each with its own weight; linear features, a growing kernel expansion and a neural
network differ in nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from askone._common.types import Array

P = TypeVar("P")


class Model(ABC, Generic[P]):
    """A map from rows to R^m with parameters of type P; all methods are pure."""

    linear: ClassVar[bool]
    """Whether f is linear in its parameters, so that a block of rows can be learnt at once."""
    has_coordinates: ClassVar[bool]
    """Whether the parameters are a vector of fixed length (a step size for each needs that)."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Width of a row."""

    @abstractmethod
    def init(self, outputs: int, copies: int, diagonal: bool = False) -> P:
        """Return parameters before any answer; ``diagonal`` makes room for squared gradients."""

    @abstractmethod
    def evaluate(self, params: P, X: Array, mix: Array) -> Array:
        """Return f at the combination ``mix`` of the accumulators, n x m."""

    @abstractmethod
    def at(self, params: P, X: Array) -> Point[P]:
        """Return the model around some rows."""

    @abstractmethod
    def marked(self, params: P, mix: Array) -> P:
        """Return accumulator 2 <- accumulator 3 <- the combination ``mix`` (a tail's marks)."""

    @abstractmethod
    def rescaled(self, params: P, scale: float, cumulated: float) -> P:
        """Return B <- B - cumulated A, A <- scale A (see ``step_loops``)."""

    @abstractmethod
    def to_arrays(self, params: P) -> dict[str, Array]:
        """Return the parameters as plain arrays, for saving."""

    @abstractmethod
    def from_arrays(self, arrays: dict[str, Array]) -> P:
        """Return the inverse of ``to_arrays``."""


class Point(ABC, Generic[P]):
    """A model around b rows: values, inner products of pulled-back directions, and the step."""

    @abstractmethod
    def values(self, scale: float) -> Array:
        """Return f(x_i) at theta = scale A, b x m."""

    @abstractmethod
    def gram(self) -> Array:
        """Return <phi(x_i), phi(x_j)>, b x b (models that are linear)."""

    @abstractmethod
    def squares(self, U: Array) -> Array:
        """Return |J_i^T u_i|^2 for each row."""

    @abstractmethod
    def stepped(self, V: Array, weights: Array) -> P:
        """Return accumulator k plus sum_i weights[i, k] J_i^T v_i."""

    @abstractmethod
    def stepped_diagonally(self, v: Array, scale: float, gamma: float, weights: Array) -> P:
        """Return a step against J^T v with a size for each coordinate, for one row."""

    @abstractmethod
    def distance2(self, scale: float) -> float:
        """Return |theta - theta_0|^2 (models that are not linear; the others keep track of it)."""
