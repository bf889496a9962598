"""Questions about numbers: is the value above a threshold?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.lazy import compiled
from askone._common.types import Record
from askone._common.validate import as_flag, as_label, as_labels, as_number
from askone.errors import Diverged, InvalidAnswer, InvalidArgument
from askone.labels.number import Real
from askone.labels.wording import YES_NO, Wording, shared_wording
from askone.questions.base import FORMAT, HONEST, ErrorRates, YesNo, yes_or_no

_UNIT_TOLERANCE = 1e-6


def _length(vector: Sequence[float]) -> float:
    return math.sqrt(sum([v * v for v in vector]))


@final
@dataclass(frozen=True)
class HalfSpace(YesNo):
    """Is <y, direction> above the threshold?

    ``direction`` is a unit vector; ``density`` is the density the threshold was drawn with, which
    an importance-weighted gradient divides by (1 where nothing was drawn; for a bundle, over its
    weight in the loss); ``number`` says which ask it came from; ``purpose`` is "range" for a question
    spent on location and scale; ``learnt`` is how many answers the asker had learnt from, so that a
    late answer is known for one.

    ``quantities``, where given, are what is shown and compared: a bundle that somebody chose, along
    the direction.  Then <y, quantities> is compared with ``shown``, the threshold times their length.
    ``turned`` says that the question stands for its mirror image, along -direction from the other
    side: quantities are never negative (see ``gradients``).

    >>> q = HalfSpace((1.0,), 21.4, wording=Wording(unit="°C"))
    >>> str(q), q.holds(25), q.holds(21.4)
    ('Is the value above 21.4 °C?', True, False)
    >>> basket = HalfSpace((0.6, 0.8), 37, wording=Wording(("apples", "pears")))
    >>> str(basket), basket.holds([30, 30])
    ('Is 0.6 apples + 0.8 pears above 37?', True)
    >>> HalfSpace.from_json(basket.to_json()) == basket
    True
    >>> bundle = HalfSpace((0.6, 0.8), 7.4, wording=Wording(("apples", "pears")), quantities=(3, 4))
    >>> str(bundle), bundle.shown, bundle.holds([8, 3.5])
    ('Is 3 apples + 4 pears above 37?', 37.0, True)
    >>> HalfSpace((1.0,), 37, wording=Wording(answers=("bought", "did not buy"))).accept("bought")
    True
    """

    direction: tuple[float, ...]
    threshold: float
    density: float = 1.0
    number: int | None = None
    wording: Wording = Wording()
    purpose: str = ""
    learnt: int | None = None
    quantities: tuple[float, ...] = ()
    turned: bool = False
    slips: ErrorRates = field(default=HONEST, compare=False, repr=False)
    kind: ClassVar[str] = "half-space"

    def __post_init__(self) -> None:
        direction = self.direction
        if type(self.threshold) is not float or type(direction) is not tuple or {*map(type, direction)} - {float}:
            direction = tuple(as_labels([self.direction], argument="direction")[0].tolist())
            object.__setattr__(self, "direction", direction)
            object.__setattr__(self, "threshold", as_number(self.threshold, "threshold"))
        square = sum([u * u for u in direction])
        if not abs(square - 1.0) <= 2 * _UNIT_TOLERANCE:
            raise InvalidArgument("direction", "a unit vector", f"{direction} of length {math.sqrt(square):.6g}")
        if not math.isfinite(self.threshold):
            raise InvalidArgument("threshold", "a finite number", self.threshold)
        if not (math.isfinite(self.density) and self.density > 0):
            raise InvalidArgument("density", "a finite number above 0", self.density)
        if self.wording.names and len(self.wording.names) != len(direction):
            raise InvalidArgument("names", f"{len(direction)} name(s)", self.wording.names)
        object.__setattr__(self, "turned", as_flag(self.turned, "turned"))
        object.__setattr__(self, "quantities", self._along_the_direction())

    def _along_the_direction(self) -> tuple[float, ...]:
        if not len(self.quantities):
            return ()
        quantities = as_label(self.quantities, len(self.direction), "quantities")
        length = float(np.linalg.norm(quantities))
        if not length > 0 or not np.allclose(quantities / length, self.direction, rtol=0, atol=_UNIT_TOLERANCE):
            raise InvalidArgument("quantities", f"along the direction {self.direction}", self.quantities)
        return tuple(quantities.tolist())

    def __str__(self) -> str:
        return self.wording.sentence(self.weights, self.shown, exact=bool(self.quantities))

    @property
    def weights(self) -> tuple[float, ...]:
        """What is multiplied with a label to be compared: the quantities, or the direction."""
        return self.quantities or self.direction

    @property
    def shown(self) -> float:
        """What <y, weights> is compared with, as it is shown."""
        if not self.quantities:
            return self.threshold
        # A decimal of up to 15 digits survives the division by the length and this product.
        return float(f"{self.threshold * _length(self.quantities):.15g}")

    @property
    def answers(self) -> tuple[str, str]:
        """The words for yes and for no."""
        return self.wording.answers

    def holds(self, label: ArrayLike) -> bool:
        """Return whether the label lies in the half-space (strictly)."""
        y = as_label(label, len(self.direction))
        return bool(np.dot(self.weights, y) > self.shown)

    def accept(self, answer: object) -> bool:
        """Return a bool, or one of the words for it where they are not plain yes and no."""
        if not isinstance(answer, str) or self.answers == YES_NO:
            return yes_or_no(answer)
        if answer not in self.answers:
            raise InvalidAnswer("answer", f"{self.answers[0]!r}, {self.answers[1]!r}, True or False", repr(answer))
        return answer == self.answers[0]

    def to_json(self) -> Record:
        return {
            "format": FORMAT,
            "kind": self.kind,
            "direction": list(self.direction),
            "threshold": self.threshold,
            "density": self.density,
            "number": self.number,
            "names": list(self.wording.names),
            "unit": self.wording.unit,
            "wording": self.wording.template,
            "answers": list(self.answers),
            "purpose": self.purpose,
            "learnt": self.learnt,
            "quantities": list(self.quantities),
            "turned": self.turned,
        }

    @classmethod
    def from_json(cls, record: Record) -> HalfSpace:
        """See ``question_from_json``; records of before there were bundles lack the last fields."""
        names, answers = tuple(record["names"]), tuple(record.get("answers", YES_NO))
        wording = shared_wording(names, record["unit"], record["wording"], answers)
        threshold, density, number = record["threshold"], record["density"], record["number"]
        fields: Record = {"wording": wording, "purpose": record["purpose"], "learnt": record["learnt"]}
        later: Record = {"quantities": tuple(record.get("quantities", ())), "turned": record.get("turned", False)}
        return cls(tuple(record["direction"]), threshold, density, number, **fields, **later)


def half_space(
    space: Real, u: Sequence[float], c: float, density: float = 1.0, learnt: int | None = None, turned: bool = False
) -> HalfSpace:
    """Return the question <unit label, u> > c in the user's units, its threshold rounded as shown.

    With y = center + scale * z: <z, u> > c  iff  <y, u/scale> > c + <center, u/scale>.
    """
    # Plain floats: for the few outputs that questions have they beat arrays several times over.
    direction: tuple[float, ...]
    if space.m == 1:
        direction, threshold = (math.copysign(1.0, u[0]),), c * space.scales[0] + u[0] * space.centers[0]
    else:
        weights = [a / s for a, s in zip(u, space.scales, strict=True)]
        stretch = 1.0 / _length(weights)
        threshold = (c + sum([w * b for w, b in zip(weights, space.centers, strict=True)])) * stretch
        direction = tuple([w * stretch for w in weights])
    if space.decimals is not None:
        threshold = compiled.rounded(threshold, space.decimals)
    return _put(space, direction, threshold, density, learnt, turned=turned)


def bundle_question(
    space: Real, k: int, c: float, density: float = 1.0, learnt: int | None = None, turned: bool = False
) -> HalfSpace:
    """Return the question <unit label, u> > c for u along bundle k of the space, rounded as shown.

    With B = b scale and u = B/|B|: <z, u> > c  iff  <y, b> > (c + <center, b>/|B|) |B|.
    """
    bundle = space.askable[k]
    stretch = _length([q * s for q, s in zip(bundle, space.scales, strict=True)])
    shown = (c + sum([q * b for q, b in zip(bundle, space.centers, strict=True)]) / stretch) * stretch
    if space.decimals is not None:
        shown = compiled.rounded(shown, space.decimals)
    size = _length(bundle)
    return _put(space, tuple([q / size for q in bundle]), shown / size, density, learnt, bundle, turned)


def _put(
    space: Real, direction: tuple[float, ...], threshold: float, density: float, learnt: int | None,
    quantities: tuple[float, ...] = (), turned: bool = False,
) -> HalfSpace:  # fmt: skip
    if not math.isfinite(threshold):
        raise Diverged(f"the model predicts {threshold}: take shorter steps (gamma, or step='dog')")
    # What was just computed need not be checked again: a third of the time of asking one question.
    question = object.__new__(HalfSpace)
    asked = {"direction": direction, "threshold": threshold, "density": density, "number": None, "learnt": learnt}
    question.__dict__.update(asked, wording=space.words, purpose="", quantities=quantities, turned=turned)
    return question


def in_unit_labels(space: Real, question: HalfSpace) -> tuple[list[float], float]:
    """Return the inverse of ``half_space``: direction and threshold for unit labels."""
    direction = question.direction
    if len(direction) != space.m:
        raise InvalidArgument("question", f"about {space.m} output(s)", f"{len(direction)} output(s)")
    if space.m == 1:
        return [direction[0]], (question.threshold - direction[0] * space.centers[0]) / space.scales[0]
    u = [a * s for a, s in zip(direction, space.scales, strict=True)]
    length = math.sqrt(sum([a * a for a in u]))
    middle = sum([a * b for a, b in zip(direction, space.centers, strict=True)])
    return [a / length for a in u], (question.threshold - middle) / length
