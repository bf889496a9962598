"""Numbers as labels: a range, a unit, names of the outputs, and what may be asked about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from askone._common.types import Array
from askone._common.validate import as_count, as_labels, as_number
from askone.errors import InvalidArgument
from askone.labels.base import Space
from askone.labels.wording import YES_NO, Wording

Numbers = float | Sequence[float]
Bundles = tuple[tuple[float, ...], ...]

_NARROWEST = 1e-300  # a range: a part of a narrower one is 0


@final
@dataclass(frozen=True)
class Real(Space):
    """Real vectors with m >= 1 outputs, each with a plausible range.

    ``decimals`` is how finely a threshold is shown and asked (None: not rounded); ``names`` and
    ``unit`` are for the sentences; ``wording`` replaces the sentence and ``answers`` the words "yes"
    and "no" (see ``Wording``).  ``bundles`` lists what may be asked about where that is not for the
    learner to choose: quantities of each output, such as ((1, 0), (2, 1)) for "1 apple" and "2 apples
    and 1 pear".  ``is_found`` says that the range is only estimated: labels may lie beyond it.

    >>> celsius = Real(-30, 45, unit="°C")
    >>> celsius.m, celsius.to_unit([[7.5]]).tolist(), celsius.from_unit([[1.0]]).tolist()
    (1, [[0.0]], [[45.0]])
    >>> Real(5, 5)
    Traceback (most recent call last):
    askone.errors.InvalidArgument: high must be above low (5.0), at a finite distance; got 5.0
    >>> Real(0, [5, 9], ("apples", "pears"), bundles=((1, 1), (2, 2)))
    Traceback (most recent call last):
    askone.errors.InvalidArgument: bundles must be enough to tell every output (they say nothing of 1 apples ...
    """

    low: Numbers = -1.0
    high: Numbers = 1.0
    names: tuple[str, ...] = ()
    unit: str = ""
    decimals: int | None = None
    wording: str = ""
    answers: tuple[str, str] = YES_NO
    bundles: Bundles = ()
    is_found: bool = False

    def __post_init__(self) -> None:
        low, high = _vector(self.low, "low"), _vector(self.high, "high")
        low, high = _same_length(low, high)
        for a, b in zip(low, high, strict=True):
            if not b > a or not math.isfinite(b - a):
                raise InvalidArgument("high", f"above low ({a}), at a finite distance", b)
            if b - a < _NARROWEST:
                raise InvalidArgument("high", f"at least {_NARROWEST} above low ({a})", b)
        names = tuple(self.names)
        if names and (len(names) != len(low) or len(set(names)) != len(names)):
            raise InvalidArgument("names", f"{len(low)} different name(s), one per output", names)
        if self.decimals is not None:
            as_count(self.decimals, "decimals", -15, 15)
        for field, value in (("low", low), ("high", high), ("names", names)):
            object.__setattr__(self, field, value)
        _ = self.words  # a wording with unknown placeholders is refused here
        object.__setattr__(self, "answers", self.words.answers)
        object.__setattr__(self, "bundles", _quantities(self.bundles, len(low)))
        if self.bundles:
            self._refuse_blind_spots()

    @cached_property
    def words(self) -> Wording:
        """Names, unit and wording as questions carry them."""
        return Wording(self.names, self.unit, self.wording, self.answers)

    @cached_property
    def askable(self) -> Bundles:
        """The bundles; where none are listed, one of each output."""
        return self.bundles or tuple(tuple(float(j == k) for j in range(self.m)) for k in range(self.m))

    @cached_property
    def unit_bundles(self) -> Bundles:
        """The bundles in unit labels, b scale: <y, b> = <z, b scale> + <center, b>."""
        return tuple(tuple(q * s for q, s in zip(bundle, self.scales, strict=True)) for bundle in self.bundles)

    def _refuse_blind_spots(self) -> None:
        """Bundles that do not span leave a combination of outputs that no answer tells anything about."""
        matrix = np.array(self.unit_bundles)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise InvalidArgument("bundles", "of quantities that fit the range", self.bundles)
        _, sizes, vectors = np.linalg.svd(matrix / lengths)
        if len(sizes) == self.m and sizes[-1] > 1e-9 * sizes[0]:
            return
        unseen = np.flatnonzero((matrix == 0).all(axis=0))
        blind = np.eye(self.m)[unseen[0]] if len(unseen) else vectors[-1] * self.scale
        blind = np.where(np.abs(blind) > 1e-9 * np.abs(blind).max(), blind, 0.0)
        blind = blind / blind[np.flatnonzero(blind)[0]]
        reason = f"they say nothing of {self.words.amount(tuple(blind.tolist()))}"
        raise InvalidArgument("bundles", f"enough to tell every output ({reason})", self.bundles)

    @cached_property
    def m(self) -> int:
        """Number of outputs."""
        return len(self.lows)

    @property
    def entries(self) -> int:
        return self.m

    def labels(self, y: ArrayLike, argument: str = "y") -> Array:
        return as_labels(y, self.m, argument)

    @property
    def lows(self) -> tuple[float, ...]:
        """The lower ends, one per output."""
        return self.low  # type: ignore[return-value]  # __post_init__ made it a tuple

    @property
    def highs(self) -> tuple[float, ...]:
        """The upper ends, one per output."""
        return self.high  # type: ignore[return-value]  # __post_init__ made it a tuple

    @cached_property
    def center(self) -> Array:
        """Middle of each range."""
        return np.asarray((np.array(self.lows) + np.array(self.highs)) / 2)

    @cached_property
    def scale(self) -> Array:
        """Half the length of each range."""
        return np.asarray((np.array(self.highs) - np.array(self.lows)) / 2)

    @cached_property
    def centers(self) -> list[float]:
        """``center`` as plain floats."""
        return [float(v) for v in self.center]

    @cached_property
    def scales(self) -> list[float]:
        """``scale`` as plain floats."""
        return [float(v) for v in self.scale]

    def to_unit(self, y: ArrayLike) -> Array:
        """Return labels from the user's units."""
        return np.asarray((np.asarray(y, dtype=np.float64) - self.center) / self.scale)

    def from_unit(self, z: ArrayLike) -> Array:
        """Return labels or predictions into the user's units."""
        return np.asarray(np.asarray(z, dtype=np.float64) * self.scale + self.center)

    def clipped(self, y: ArrayLike) -> Array:
        """Return predictions within the range, in the user's units, where it was declared.

        >>> Real(0, 9).clipped([[-1.0], [5.0]]).tolist()
        [[0.0], [5.0]]
        """
        return np.asarray(y) if self.is_found else np.clip(y, self.lows, self.highs)


def sensible_decimals(low: Numbers, high: Numbers) -> int:
    """Return decimals that cut the (shortest) range into between a hundred and a thousand steps.

    >>> sensible_decimals(-30, 45), sensible_decimals(0, 1), sensible_decimals(0, 250_000)
    (1, 3, -3)
    """
    ranges = np.subtract(_vector(high, "high"), _vector(low, "low"))
    steps = int(-math.ceil(math.log10(float(ranges.min()) / 1000) - 1e-9))
    return max(-15, min(15, steps))


def _quantities(bundles: object, m: int) -> Bundles:
    """Return bundles as given by a user, checked."""
    if isinstance(bundles, str) or not isinstance(bundles, Iterable):
        raise InvalidArgument("bundles", "a list of bundles, each a quantity per output", bundles)
    checked = []
    for bundle in bundles:
        if isinstance(bundle, str) or not isinstance(bundle, Iterable):
            raise InvalidArgument("bundles", f"bundles of {m} quantities, one per output", bundle)
        items = [q.item() if isinstance(q, np.generic) else q for q in bundle]
        checked.append(tuple(as_number(q, "bundles", 0.0) for q in items))
        if len(items) != m or not any(checked[-1]):
            raise InvalidArgument("bundles", f"bundles of {m} quantities, one per output and not all 0", items)
    if len(set(checked)) < len(checked):
        raise InvalidArgument("bundles", "different from each other", checked)
    return tuple(checked)


def _vector(values: Numbers, argument: str) -> tuple[float, ...]:
    items = [values] if np.ndim(values) == 0 else list(values)  # type: ignore[arg-type]  # ndim 0 is a number
    if not items:
        raise InvalidArgument(argument, "a number or one number per output", "nothing")
    return tuple(as_number(float(v) if isinstance(v, np.generic) else v, argument) for v in items)


def _same_length(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    m = max(len(low), len(high))
    low, high = (low * m if len(low) == 1 else low), (high * m if len(high) == 1 else high)
    if len(low) != len(high):
        raise InvalidArgument("high", f"a number or {len(low)} numbers, as low", f"{len(high)} numbers")
    return low, high
