"""The generic scheme of appendix B: questions about the slope of a loss in parameter space.

With |grad_theta l| <= B, U uniform on the sphere of R^d (d parameters) and V uniform on [0, B],

    E[ 2 B d 1{<U, grad_theta l(f_theta(x), Y)> >= V} U ] = grad_theta l(f_theta(x), Y),

for any loss.  The question is a set of labels, {y : <J U, grad_z l(z, y)> >= V} with J the
model's Jacobian; for people it is rarely the right one (the paper says so too).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Record
from askone._common.validate import as_label, as_number
from askone.errors import InvalidArgument, InvalidFile
from askone.labels.losses import LOSSES, Loss
from askone.labels.wording import number_text
from askone.questions.base import FORMAT, YesNo


@final
@dataclass(frozen=True)
class Slope(YesNo):
    """Is <weights, gradient of the loss at ``at``> at least ``level``?  All in the user's units.

    ``direction`` is U, the direction in parameter space that a yes is a step against; ``bound`` is B,
    what the level was drawn below.

    >>> from askone.labels.losses import Median
    >>> q = Slope(Median(), at=(0.0,), weights=(1.0,), level=0.5, direction=(1.0,))
    >>> q.holds(-3.0), q.holds(3.0)
    (True, False)
    """

    loss: Loss
    at: tuple[float, ...]
    weights: tuple[float, ...]
    level: float
    direction: tuple[float, ...]
    bound: float = 1.0
    number: int | None = None
    kind: ClassVar[str] = "slope"

    def __post_init__(self) -> None:
        as_number(self.level, "level")
        as_number(self.bound, "bound", 0.0, strict=True)
        if len(self.at) != len(self.weights) or not np.isfinite([*self.at, *self.weights]).all():
            raise InvalidArgument("weights", "finite, one per output", self.weights)
        if not abs(float(np.linalg.norm(self.direction)) - 1.0) <= 1e-6:
            raise InvalidArgument("direction", "a unit vector", "another length")

    def __str__(self) -> str:
        weights = ", ".join(number_text(round(w, 4)) for w in self.weights)
        at = ", ".join(number_text(round(z, 4)) for z in self.at)
        return f"Is the slope of the {self.loss.name} loss at ({at}) along ({weights}) at least {self.level:.4g}?"

    def holds(self, label: ArrayLike) -> bool:
        """Return whether the slope is that steep for this label."""
        y = as_label(label, len(self.at))
        slope = self.loss.gradient(np.array([self.at]), y[None, :])[0]
        return bool(np.dot(self.weights, slope) >= self.level)

    def to_json(self) -> Record:
        if type(self.loss) is not LOSSES.get(self.loss.name):
            raise InvalidArgument("loss", f"one of {', '.join(LOSSES)}, to be written as JSON", self.loss.name)
        fields: Record = {"format": FORMAT, "kind": self.kind, "loss": {"name": self.loss.name, **asdict(self.loss)}}  # type: ignore[call-overload]  # every loss is a dataclass
        vectors: dict[str, Any] = {"at": self.at, "weights": self.weights, "direction": self.direction}
        numbers = {"level": self.level, "bound": self.bound, "number": self.number}
        return fields | {k: list(v) for k, v in vectors.items()} | numbers

    @classmethod
    def from_json(cls, record: Record) -> Slope:
        loss = dict(record["loss"])
        name = loss.pop("name")
        if name not in LOSSES:
            raise InvalidFile(f"loss {name!r} is unknown; known: {', '.join(LOSSES)}; in {json.dumps(record)[:80]}")
        at, weights, direction = (tuple(record[k]) for k in ("at", "weights", "direction"))
        return cls(LOSSES[name](**loss), at, weights, record["level"], direction, record["bound"], record["number"])
