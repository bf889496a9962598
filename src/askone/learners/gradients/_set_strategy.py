"""The base of strategies for classes: gradients of all classes at z, a working model, what fits together."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np

from askone._common.arithmetic import softmax
from askone._common.types import Array
from askone.errors import IncompatibleParts, InvalidArgument, incompatible
from askone.labels.classes import Allowed, Classes, FiniteSpace
from askone.labels.losses import Logistic, Loss, Median, Squared
from askone.learners.gradients.base import Strategy
from askone.questions.subset import Subset

EXPLORE = 0.1


class SetStrategy(Strategy):
    """Base of strategies for classes: gradients of all classes at z, a working model, the origin."""

    space: FiniteSpace
    loss: Loss

    def __post_init__(self) -> None:
        need_surrogate(self.loss, self.space)

    @cached_property
    def origin(self) -> Array:
        """The middle of the embedding (no class ahead); zero for the logistic loss."""
        if isinstance(self.loss, Logistic):
            return np.zeros(self.space.m)
        return np.asarray(self.space.embedding.mean(axis=0))

    def probabilities(self, scores: Array) -> Array | None:
        """Return softmax(z) for the logistic loss, z itself for least squares; the median has none."""
        if isinstance(self.loss, Logistic):
            return np.array([softmax(z) for z in scores]).reshape(scores.shape)
        if isinstance(self.loss, Squared) and isinstance(self.space, Classes) and spanning(self.space):
            return np.array([on_simplex(z) for z in scores]).reshape(scores.shape)
        return None

    def gradients(self, z: Array) -> Array:
        """Return g_y(z) for every label, K x m."""
        K = self.space.size
        return self.loss.gradient(np.broadcast_to(z, (K, len(z))), self.space.embedding)

    def working_model(self, z: Array) -> Array:
        """Return probabilities to spend questions by, kept off zero; a bad guess costs variance, never bias."""
        if isinstance(self.loss, Logistic):
            guess = softmax(z)
        elif isinstance(self.space, Classes) and spanning(self.space):
            guess = on_simplex(z)
        else:
            distance = np.sum((self.space.embedding - z) ** 2, axis=1)
            guess = 1.0 / (0.05 + distance)
            guess /= guess.sum()
        return np.asarray((1 - EXPLORE) * guess + EXPLORE / self.space.size)

    def about(self, inside: Array, **fields: Any) -> Subset:
        """Return the question about a set given by 0 and 1."""
        names = self.space.names
        members = tuple(names[i] for i in np.flatnonzero(inside))
        return Subset(members, wording=self.space.wording, **fields)

    def place(self, question: Subset) -> int:
        """Return the place of the class that a question about one class names."""
        if len(question.members) != 1:
            raise InvalidArgument("question", "about one class", str(question))
        return self.space.index(question.members[0], "question")


def spanning(space: FiniteSpace) -> bool:
    """Return whether answers determine p(y|x)."""
    return space.allowed is None or space.allowed.spans


def on_simplex(z: Array) -> Array:
    """Return the nearest point of the simplex.

    >>> on_simplex(np.array([0.9, 0.5, -3.0])).tolist()
    [0.7, 0.3, 0.0]
    """
    z = z - z.max()  # the same point; keeps large scores exact
    ordered = np.sort(z)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(z) + 1)
    level = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.asarray(np.maximum(z - level, 0.0).round(15))


def need_singletons(space: FiniteSpace, family: str) -> None:
    """Refuse a space in which some class may not be asked alone."""
    allowed = space.allowed
    if allowed is None or space.max_set_size is not None:
        return
    alone = {int(row.argmax()) for row in allowed.inside if row.sum() == 1}
    missing = [space.names[k] for k in range(space.size) if k not in alone]
    if missing:
        raise incompatible(
            "questions", family, f"{missing[0]!r} may not be asked alone", ["designed", "passive", "full"]
        )


def need_surrogate(loss: Loss, space: FiniteSpace) -> None:
    """Refuse a loss that is no surrogate on this space."""
    if not isinstance(space, FiniteSpace):
        raise InvalidArgument("space", "Classes or Finite", type(space).__name__)
    if not isinstance(loss, Median | Squared | Logistic):
        raise IncompatibleParts("loss", "one of: 'median', 'squared', 'logistic' (classes)", loss)
    if isinstance(loss, Squared):
        return
    if not isinstance(space, Classes):
        raise incompatible("loss", loss.name, "a loss matrix", ["squared"])
    if not spanning(space):
        K, r = space.size, cast(Allowed, space.allowed).span.shape[1]
        reason = f"the allowed sets span {r} of {K} dimensions: p(y|x) does not follow from the answers"
        raise incompatible("loss", loss.name, reason, ["squared"])
